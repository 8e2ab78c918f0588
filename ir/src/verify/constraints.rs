//! V14 and V15: guards and what opcodes ask of single operands.

use super::error::{Errors, Place, Rule};
use super::operands::{class_of, is_one_lane};
use crate::class::{PhysReg, RegClass};
use crate::entity::EntityId;
use crate::function::{Function, Inst};
use crate::op::{Constraint, Flight, OpSig};
use crate::operand::OperandFlags;

/// Checks the rules.
pub(super) fn check(f: &Function, errors: &mut Errors<'_>) {
    let constrained: Vec<bool> = f.ops().iter().map(|(_, s)| !s.constraints.is_empty()).collect();
    for i in f.insts() {
        guard(f, i, errors);
        if constrained[f.op(i).index()] {
            constraints(f, i, f.sig(i), errors);
        }
    }
}

/// V14.
fn guard(f: &Function, i: Inst, errors: &mut Errors<'_>) {
    let defs = f.num_defs(i);
    let mut guarded = false;
    for (k, &o) in f.operands(i).iter().enumerate() {
        if !o.is_guard() {
            continue;
        }
        guarded = true;
        let why = if k != defs {
            "a guard is not the first use"
        } else if f.kind(i).is_terminator() {
            "a terminator has a guard"
        } else if !is_one_lane(o) || !class_of(f, o).is_none_or(RegClass::is_predicate) {
            "a guard is not one predicate lane"
        } else if o.flags().0 & !(OperandFlags::GUARD.0 | OperandFlags::NOT.0) != 0 {
            "a guard has flags besides NOT"
        } else {
            continue;
        };
        errors.push(Rule::V14, Place::Inst(i), |_| format!("operand {k}: {why}"));
    }
    if guarded && defs > 0 {
        let sig = f.sig(i);
        let mut old = vec![false; defs];
        for &(_, c) in &sig.constraints {
            if let Constraint::Tied(d) = c {
                old.get_mut(d as usize).into_iter().for_each(|x| *x = true);
            }
        }
        for d in (0..defs).filter(|&d| !old[d]) {
            errors.push(Rule::V14, Place::Inst(i), |_| {
                format!("definition {d} is guarded, and no use tied to it gives its old value")
            });
        }
    }
}

/// V15.
fn constraints(f: &Function, i: Inst, sig: &OpSig, errors: &mut Errors<'_>) {
    let defs = f.num_defs(i);
    let operands = f.operands(i);
    let mut tied_by: Vec<Option<usize>> = vec![None; defs];
    // Registers of fixed definitions: class, first, end, operand.
    let mut fixed_defs: Vec<(RegClass, u32, u32, usize)> = Vec::new();
    let mut last_fixed: Option<usize> = None;
    let mut last_tied: Option<usize> = None;
    for &(k, c) in &sig.constraints {
        let k = k as usize;
        let mut bad = |why: String| {
            errors.push(Rule::V15, Place::Inst(i), |_| format!("operand {k}: {why}"));
        };
        let Some(&o) = operands.get(k) else {
            bad(format!("{c:?} is asked of it, but there are only {}", operands.len()));
            continue;
        };
        if !o.is_register() {
            bad(format!("{c:?} is asked of what is no register"));
            continue;
        }
        let class = class_of(f, o);
        match c {
            Constraint::Fixed(r) => {
                if class.is_some_and(|c| c != r.class) {
                    bad(format!("{r} is not of class {}", class.unwrap_or(r.class)));
                }
                if r.num as u32 % o.align() != 0 {
                    bad(format!("{r} is not aligned to {}", o.align()));
                }
                let end = r.num as u32 + o.len() as u32;
                if end > u16::MAX as u32 + 1 {
                    bad(format!("{} registers from {r} are more than there can be", o.len()));
                }
                if last_fixed.replace(k) == Some(k) {
                    bad("it is fixed to two registers".into());
                } else if k < defs {
                    let other = fixed_defs.iter().find(|d| d.0 == r.class && d.1 < end && (r.num as u32) < d.2);
                    if let Some(other) = other {
                        bad(format!("it is fixed to registers that definition {} has", other.3));
                    }
                    fixed_defs.push((r.class, r.num as u32, end, k));
                }
            }
            Constraint::Tied(d) => {
                let d = d as usize;
                if last_tied.replace(k) == Some(k) {
                    bad("it is tied to two definitions".into());
                }
                if k < defs {
                    bad("a definition is tied".into());
                    continue;
                }
                if d >= defs {
                    bad(format!("it is tied to definition {d}, but there are only {defs}"));
                    continue;
                }
                let def = operands[d];
                if let Some(other) = tied_by[d].replace(k).filter(|&x| x != k) {
                    bad(format!("operand {other} is tied to definition {d} as well"));
                }
                if def.len() != o.len() || class.is_some_and(|c| class_of(f, def) != Some(c)) {
                    bad(format!("it has another length or class than definition {d}, which it is tied to"));
                }
                if let (Some(a), Some(b)) = (sig.fixed(k), sig.fixed(d)) {
                    contradiction(a, b, d, &mut bad);
                }
            }
            Constraint::EarlyClobber => {
                if k >= defs {
                    bad("a use cannot be an early clobber".into());
                }
            }
            Constraint::InFlight => {
                if sig.props.flight != Flight::Starts {
                    bad("it is in flight, but the opcode starts no flight".into());
                }
            }
        }
    }
}

fn contradiction(a: PhysReg, b: PhysReg, d: usize, bad: &mut impl FnMut(String)) {
    if a != b {
        bad(format!("it is fixed to {a} and tied to definition {d}, which is fixed to {b}"));
    }
}
