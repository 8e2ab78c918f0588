//! The mnemonic of an instruction with its modifiers, analyzed once and shared by all its occurrences.
//!
//! A file of a million instructions has a few hundred distinct mnemonics, so everything that only
//! depends on the spelling (types, state spaces, vector length, the row of the property table) is
//! found when a spelling is first seen.

use super::roles::{rule_for, RuleId};
use super::types::{ScalarType, Space};
use smallvec::SmallVec;

/// An opcode with its modifiers, e.g. `ld.global.nc.v4.f32`.
#[derive(Clone, Debug)]
pub struct Mnemonic {
    text: Box<str>,
    opcode_len: u32,
    types: SmallVec<[ScalarType; 4]>,
    spaces: SmallVec<[Space; 2]>,
    lanes: u16,
    rule: Option<RuleId>,
}

impl Mnemonic {
    /// Analyzes the full spelling, as it stands in the text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let opcode_len = text.find('.').unwrap_or(text.len());
        let mut this = Self {
            text: text.into(),
            opcode_len: opcode_len as u32,
            types: SmallVec::new(),
            spaces: SmallVec::new(),
            lanes: 1,
            rule: None,
        };
        for m in text[opcode_len..].split('.').skip(1) {
            if let Some(ty) = ScalarType::from_name(m) {
                this.types.push(ty);
            } else if let Some(space) = Space::from_name(m) {
                this.spaces.push(space);
            } else if let Some(n) = m.strip_prefix('v').and_then(|n| n.parse::<u16>().ok()) {
                if matches!(n, 2 | 4 | 8) {
                    this.lanes = n;
                }
            }
        }
        this.rule = rule_for(&this);
        this
    }

    /// The whole spelling.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The part before the first dot.
    #[must_use]
    pub fn opcode(&self) -> &str {
        &self.text[..self.opcode_len as usize]
    }

    /// The modifiers in order, without dots (`::` is kept inside one).
    pub fn mods(&self) -> impl Iterator<Item = &str> {
        self.text[self.opcode_len as usize..].split('.').skip(1)
    }

    /// Whether the exact modifier is present.
    #[must_use]
    pub fn has(&self, modifier: &str) -> bool {
        self.mods().any(|m| m == modifier)
    }

    /// The type modifiers in order: `cvt.rn.f16.f32` has two.
    #[must_use]
    pub fn types(&self) -> &[ScalarType] {
        &self.types
    }

    /// The last type modifier, which is the instruction type of most forms.
    #[must_use]
    pub fn ty(&self) -> Option<ScalarType> {
        self.types.last().copied()
    }

    /// The state spaces in order: `cp.async.ca.shared.global` has two.
    #[must_use]
    pub fn spaces(&self) -> &[Space] {
        &self.spaces
    }

    /// The first state space; [`Space::Generic`] if none is written.
    #[must_use]
    pub fn space(&self) -> Space {
        self.spaces.first().copied().unwrap_or(Space::Generic)
    }

    /// Vector length of `.v2`, `.v4`, `.v8`; 1 without.
    #[must_use]
    pub fn lanes(&self) -> u16 {
        self.lanes
    }

    /// The row of the property table; `None` for an opcode or form that the table lacks.
    #[must_use]
    pub fn rule(&self) -> Option<RuleId> {
        self.rule
    }
}
