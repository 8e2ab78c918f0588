//! V11, V12, V13 and V16: operands by themselves, and addresses.

use super::error::{Errors, Place, Rule};
use crate::class::RegClass;
use crate::function::{Function, Inst};
use crate::opcodes::special_is_volatile;
use crate::operand::{Operand, OperandFlags, OperandKind};

/// The class of a register operand, by its first lane that is defined; none for undefined ones and for no register.
#[inline]
pub(super) fn class_of(f: &Function, o: Operand) -> Option<RegClass> {
    match o.kind() {
        OperandKind::Run if !o.is_empty() => Some(f.class(crate::function::Value(o.payload()))),
        OperandKind::Lanes => f.lanes(o).find_map(|l| l.value()).map(|v| f.class(v)),
        _ => None,
    }
}

/// True for a register operand of one lane.
pub(super) fn is_one_lane(o: Operand) -> bool {
    o.is_register() && o.len() == 1
}

/// Checks the rules.
pub(super) fn check(f: &Function, errors: &mut Errors<'_>) {
    for b in f.blocks() {
        for &o in f.param_operands(b) {
            if let Some(why) = form(f, o) {
                errors.push(Rule::V11, Place::Block(b), |_| format!("a parameter {why}"));
            }
            if o.align() != 1 {
                errors.push(Rule::V11, Place::Block(b), |_| "a parameter has an alignment".into());
            }
            if o.flags() != OperandFlags::NONE {
                errors.push(Rule::V13, Place::Block(b), |_| "a parameter has flags".into());
            }
        }
        for i in f.block_insts(b) {
            instruction(f, i, errors);
        }
    }
}

fn instruction(f: &Function, i: Inst, errors: &mut Errors<'_>) {
    let defs = f.num_defs(i);
    let mut any_address = false;
    for (k, &o) in f.operands(i).iter().enumerate() {
        if let Some(why) = form(f, o) {
            errors.push(Rule::V11, Place::Inst(i), |_| format!("operand {k} {why}"));
        }
        if o.kind() == OperandKind::Special
            && !f.sig(i).props.ordered
            && f.operand_symbol(o).is_some_and(special_is_volatile)
        {
            errors.push(Rule::V12, Place::Inst(i), |_| {
                let name = f.operand_symbol(o).unwrap_or("");
                format!("it reads `{name}`, which changes, but may be repeated and moved (`.VOLATILE` is missing)")
            });
        }
        if o.flags() != OperandFlags::NONE {
            any_address = true;
            if let Some(why) = flags(f, o, k < defs) {
                errors.push(Rule::V13, Place::Inst(i), |_| format!("operand {k} {why}"));
            }
        }
    }
    if any_address {
        addresses(f, i, errors);
    }
}

/// V11: what is wrong with the form of an operand.
fn form(f: &Function, o: Operand) -> Option<&'static str> {
    match o.kind() {
        OperandKind::Run => {
            if o.is_empty() {
                return Some("has no lane");
            }
            let mut classes = (1..o.len() as u32).map(|k| f.class(crate::function::Value(o.payload() + k)));
            let first = f.class(crate::function::Value(o.payload()));
            classes.any(|c| c != first).then_some("has lanes of several classes")
        }
        OperandKind::Undef => o.is_empty().then_some("has no lane"),
        OperandKind::Lanes => {
            let mut values = f.lanes(o).filter_map(|l| l.value());
            let Some(first) = values.next() else {
                return Some("lists undefined lanes, which need no list");
            };
            if values.any(|v| f.class(v) != f.class(first)) {
                return Some("has lanes of several classes");
            }
            let run = f.lanes(o).enumerate().all(|(k, l)| l.value().is_some_and(|v| v.0 == first.0 + k as u32));
            run.then_some("lists consecutive lanes, which are a run")
        }
        OperandKind::WideImm => {
            let fits = f.imm(o).is_some_and(|x| x <= u32::MAX as u64);
            fits.then_some("is a wide constant that fits into 32 bits")
        }
        _ => None,
    }
}

/// V13: what is wrong with the flags of an operand.
fn flags(f: &Function, o: Operand, is_def: bool) -> Option<String> {
    let flags = o.flags();
    if is_def {
        return Some(format!("is a definition with flags ({flags:?})"));
    }
    if flags.0 & 0xc0 != 0 {
        return Some(format!("has flags that mean nothing ({:#x})", flags.0));
    }
    let negates = flags.0 & (OperandFlags::NEG.0 | OperandFlags::ABS.0) != 0;
    let complements = flags.has(OperandFlags::NOT);
    if !negates && !complements {
        return None;
    }
    let class = class_of(f, o);
    let fine = match (o.kind(), class) {
        (OperandKind::Imm | OperandKind::WideImm | OperandKind::Const | OperandKind::Undef, _) => true,
        (OperandKind::Run | OperandKind::Lanes, Some(RegClass::R | RegClass::UR) | None) => true,
        (OperandKind::Run | OperandKind::Lanes, Some(RegClass::P | RegClass::UP)) => !negates,
        (OperandKind::Run | OperandKind::Lanes, Some(RegClass::B)) => false,
        (OperandKind::Special | OperandKind::Symbol | OperandKind::Region, _) => false,
    };
    let what = class.map_or(String::new(), |c| format!(" of class {c}"));
    (!fine).then(|| format!("has a modifier ({flags:?}) that nothing{what} of kind {:?} takes", o.kind()))
}

/// V16.
fn addresses(f: &Function, i: Inst, errors: &mut Errors<'_>) {
    let mut bad = |k: usize, why: &str| {
        errors.push(Rule::V16, Place::Inst(i), |_| format!("operand {k}: {why}"));
    };
    let (mut open, mut registers, mut numbers, mut symbols) = (false, 0, 0, 0);
    for (k, &o) in f.operands(i).iter().enumerate().skip(f.num_defs(i)) {
        let starts = o.flags().has(OperandFlags::ADDR_START);
        if !o.is_address() {
            open = false;
            if starts {
                bad(k, "it begins an address and is no component of one");
            }
            continue;
        }
        if starts {
            (open, registers, numbers, symbols) = (true, 0, 0, 0);
        } else if !open {
            bad(k, "no address begins before this component of one");
            open = true;
        }
        if o.flags().0 & !(OperandFlags::ADDR.0 | OperandFlags::ADDR_START.0) != 0 {
            bad(k, "a component of an address has other flags");
        }
        match o.kind() {
            OperandKind::Run | OperandKind::Lanes | OperandKind::Undef => {
                registers += 1;
                let general = class_of(f, o).is_none_or(|c| matches!(c, RegClass::R | RegClass::UR));
                if !(1..=2).contains(&o.len()) || !general {
                    bad(k, "an address takes runs of one or two general registers");
                } else if registers == 3 {
                    bad(k, "an address takes at most two runs");
                }
            }
            OperandKind::Imm => {
                numbers += 1;
                if numbers == 2 {
                    bad(k, "an address takes at most one number");
                }
            }
            OperandKind::Symbol | OperandKind::Const => {
                symbols += 1;
                if symbols == 2 {
                    bad(k, "an address takes at most one symbol or constant");
                }
            }
            OperandKind::WideImm | OperandKind::Special | OperandKind::Region => {
                bad(k, "an address takes registers, one 32-bit number and a symbol or constant");
            }
        }
    }
}
