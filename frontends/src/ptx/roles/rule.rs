//! Rows of the property table in compiled form, and how operands are matched to their slots.

use super::super::mnemonic::Mnemonic;
use super::super::types::{ScalarType, Space};
use super::table::TABLE;
use super::MemAccess;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Names a row of the property table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct RuleId(u16);

/// What a slot does with its operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SlotRole {
    Def,
    Use,
    Both,
    Address(MemAccess, SpaceSpec),
    Texture,
    Immediate,
    Label,
    Table,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SpaceSpec {
    Nth(usize),
    Tensor,
}

impl SpaceSpec {
    pub(super) fn of(self, op: &Mnemonic) -> Space {
        match self {
            Self::Nth(n) => op.spaces().get(n).or(op.spaces().last()).copied().unwrap_or(Space::Generic),
            Self::Tensor => Space::Tensor,
        }
    }
}

/// The type of a slot in terms of the mnemonic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TypeSpec {
    Any,
    Fixed(ScalarType),
    /// The n-th type modifier, or the last; with vector lanes or not.
    Modifier {
        nth: Option<usize>,
        vector: bool,
    },
    /// Twice the width of the last.
    Wide,
}

impl TypeSpec {
    /// The type of one lane.
    pub(super) fn scalar(self, op: &Mnemonic) -> Option<ScalarType> {
        match self {
            Self::Any => None,
            Self::Fixed(ty) => Some(ty),
            Self::Modifier { nth: None, .. } => op.ty(),
            Self::Modifier { nth: Some(n), .. } => op.types().get(n).copied().or(op.ty()),
            Self::Wide => op.ty().map(|ty| match ty {
                ScalarType::S16 => ScalarType::S32,
                ScalarType::U16 | ScalarType::B16 => ScalarType::U32,
                ScalarType::S32 => ScalarType::S64,
                ScalarType::U32 | ScalarType::B32 => ScalarType::U64,
                _ => ScalarType::B128,
            }),
        }
    }

    pub(super) fn lanes(self, op: &Mnemonic) -> u16 {
        if matches!(self, Self::Modifier { vector: true, .. }) {
            op.lanes()
        } else {
            1
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Count {
    One,
    Optional,
    Any,
}

/// One operand position of a form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Slot {
    pub(super) role: SlotRole,
    pub(super) ty: TypeSpec,
    /// `d|p` is allowed.
    pub(super) pair: bool,
    count: Count,
}

/// One row of the table.
#[derive(Debug)]
pub(super) struct Rule {
    conditions: Vec<&'static str>,
    pub(super) strict: bool,
    least: usize,
    most: Option<usize>,
    slots: Vec<Slot>,
}

impl Rule {
    fn holds(&self, op: &Mnemonic) -> bool {
        self.conditions.iter().all(|c| match c.as_bytes()[0] {
            b'!' => !op.has(&c[1..]),
            b'#' => c[1..] == op.types().len().to_string(),
            _ => op.has(c),
        })
    }

    fn new(conditions: Vec<&'static str>, strict: bool, slots: Vec<Slot>) -> Self {
        let least = slots.iter().filter(|s| s.count == Count::One).count();
        let open = slots.iter().any(|s| s.count == Count::Any);
        Self { conditions, strict, least, most: if open { None } else { Some(slots.len()) }, slots }
    }

    /// Fewest and most operands; `None` is no limit.
    pub(super) fn counts(&self) -> (usize, Option<usize>) {
        (self.least, self.most)
    }

    /// The slot of each of `n` operands, in order; `n` must be within [`Rule::counts`].
    pub(super) fn assign(&self, n: usize) -> impl Iterator<Item = &Slot> {
        let mut extra = n - self.least;
        let mut at = 0;
        std::iter::from_fn(move || loop {
            let slot = self.slots.get(at)?;
            match slot.count {
                Count::One => at += 1,
                _ if extra == 0 => {
                    at += 1;
                    continue;
                }
                Count::Optional => {
                    at += 1;
                    extra -= 1;
                }
                Count::Any => extra -= 1,
            }
            return Some(slot);
        })
    }
}

struct Rules {
    rules: Vec<Rule>,
    by_opcode: HashMap<&'static str, Vec<u16>>,
}

fn parse_type(text: &'static str) -> TypeSpec {
    let nth = |digits: &str, vector| match digits {
        "" => Some(TypeSpec::Modifier { nth: None, vector }),
        _ => digits.parse().ok().map(|n| TypeSpec::Modifier { nth: Some(n), vector }),
    };
    match text {
        "any" => TypeSpec::Any,
        "w" => TypeSpec::Wide,
        _ => text
            .strip_prefix('t')
            .and_then(|d| nth(d, false))
            .or_else(|| text.strip_prefix('v').and_then(|d| nth(d, true)))
            .or_else(|| ScalarType::from_name(text).map(TypeSpec::Fixed))
            .unwrap_or_else(|| panic!("property table: unknown type {text}")),
    }
}

fn parse_slot(text: &'static str) -> Slot {
    let (text, count) = match (text.strip_prefix('?'), text.strip_suffix('*')) {
        (Some(rest), _) => (rest, Count::Optional),
        (_, Some(rest)) => (rest, Count::Any),
        _ => (text, Count::One),
    };
    let plain = |role| Slot { role, ty: TypeSpec::Any, pair: false, count };
    match text {
        "tex" => return plain(SlotRole::Texture),
        "#" => return plain(SlotRole::Immediate),
        "L" => return plain(SlotRole::Label),
        "X" => return plain(SlotRole::Table),
        _ => {}
    }
    if let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        let (head, ty) = inner.split_once(':').map_or((inner, TypeSpec::Any), |(h, t)| (h, parse_type(t)));
        let (access, space) = head.split_once('@').unwrap_or((head, "0"));
        let access = match access {
            "r" => MemAccess::Read,
            "w" => MemAccess::Write,
            "rw" => MemAccess::ReadWrite,
            "n" => MemAccess::None,
            _ => panic!("property table: unknown access {text}"),
        };
        let space = if space == "t" { SpaceSpec::Tensor } else { SpaceSpec::Nth(usize::from(space == "1")) };
        return Slot { role: SlotRole::Address(access, space), ty, pair: false, count };
    }
    let (text, pair) = text.strip_suffix('|').map_or((text, false), |t| (t, true));
    let (text, role) = if let Some(t) = text.strip_prefix('=') {
        (t, SlotRole::Def)
    } else if let Some(t) = text.strip_prefix('+') {
        (t, SlotRole::Both)
    } else {
        (text, SlotRole::Use)
    };
    Slot { role, ty: parse_type(text), pair, count }
}

fn rules() -> &'static Rules {
    static RULES: OnceLock<Rules> = OnceLock::new();
    RULES.get_or_init(|| {
        let mut all = Rules { rules: Vec::new(), by_opcode: HashMap::new() };
        for line in TABLE.lines().filter(|l| !l.is_empty()) {
            let mut words = line.split_whitespace();
            let opcode = words.next().expect("a row starts with its opcode");
            let mut conditions = Vec::new();
            let mut strict = None;
            for word in words.by_ref() {
                match word {
                    ":" | "~" => {
                        strict = Some(word == ":");
                        break;
                    }
                    _ => conditions.push(word),
                }
            }
            let strict = strict.expect("a row has `:` or `~`");
            all.by_opcode.entry(opcode).or_default().push(all.rules.len() as u16);
            all.rules.push(Rule::new(conditions, strict, words.map(parse_slot).collect()));
        }
        all
    })
}

/// The row that applies to a mnemonic, if the table has one. `call` has none: its operands are a
/// [`Call`](super::super::ast::Call).
#[must_use]
pub fn rule_for(op: &Mnemonic) -> Option<RuleId> {
    let all = rules();
    let candidates = all.by_opcode.get(op.opcode())?;
    candidates.iter().copied().find(|i| all.rules[usize::from(*i)].holds(op)).map(RuleId)
}

pub(super) fn rule(id: RuleId) -> &'static Rule {
    &rules().rules[usize::from(id.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_reached() {
        // A row after a more general one of the same opcode would be dead.
        for indices in rules().by_opcode.values() {
            for (k, a) in indices.iter().enumerate() {
                for b in &indices[k + 1..] {
                    let (a, b) = (&rules().rules[usize::from(*a)], &rules().rules[usize::from(*b)]);
                    assert!(!a.conditions.iter().all(|c| b.conditions.contains(c)), "{a:?} hides {b:?}");
                }
            }
        }
    }

    #[test]
    fn optional_slots_fill_from_the_left() {
        let op = Mnemonic::new("bar.red.popc.u32");
        let rule = rule(op.rule().unwrap());
        assert_eq!(rule.counts(), (3, Some(4)));
        let tys: Vec<_> = rule.assign(3).map(|s| s.ty.scalar(&op).unwrap().name()).collect();
        assert_eq!(tys, ["b32", "b32", "pred"]);
        let tys: Vec<_> = rule.assign(4).map(|s| s.ty.scalar(&op).unwrap().name()).collect();
        assert_eq!(tys, ["b32", "b32", "b32", "pred"]);
    }
}
