//! V17: calls of regions and their returns.

use super::control::region_terminators;
use super::error::{Errors, Place, Rule};
use super::operands::class_of;
use crate::class::RegClass;
use crate::entity::EntityId;
use crate::function::{Function, Inst, Region, Value};
use crate::op::OpKind;
use crate::operand::{Operand, OperandKind};

/// Checks the rule.
pub(super) fn check(f: &Function, errors: &mut Errors<'_>) {
    // Calls by the region that makes them: callee and instruction.
    let mut calls: Vec<Vec<(Region, Inst)>> = vec![Vec::new(); f.regions().len()];
    for r in f.regions() {
        for b in f.region_blocks(r) {
            for i in f.block_insts(b) {
                if f.kind(i) == OpKind::Call {
                    if let Some(callee) = call(f, i, errors) {
                        calls[r.index()].push((callee, i));
                    }
                } else if f.uses(i).iter().any(|o| o.kind() == OperandKind::Region) {
                    errors.push(Rule::V17, Place::Inst(i), |_| "only a call names a region".into());
                }
            }
        }
        returns(f, r, errors);
    }
    recursion(&calls, errors);
}

/// Lengths and classes of runs, as far as they are known.
fn matches(f: &Function, o: Operand, class: RegClass, len: usize) -> bool {
    o.is_register() && o.len() == len && class_of(f, o).is_none_or(|c| c == class)
}

/// A call against its callee; gives the callee if there is one.
fn call(f: &Function, i: Inst, errors: &mut Errors<'_>) -> Option<Region> {
    let sig = f.sig(i);
    let defs = f.num_defs(i);
    // Old values of guarded results are tied and stand behind the arguments.
    let mut uses = f.uses(i).iter().enumerate().filter(|(k, o)| !o.is_guard() && sig.tied(defs + k).is_none());
    let callee = uses.next().and_then(|(_, &o)| f.operand_region(o));
    let Some(callee) = callee else {
        errors.push(Rule::V17, Place::Inst(i), |_| "the first operand of a call is a region".into());
        return None;
    };
    if callee == Region(0) || callee.index() >= f.regions().len() {
        errors.push(Rule::V17, Place::Inst(i), |_| format!("{callee} is no subroutine of this kernel"));
        return None;
    }
    let data = f.region(callee);
    let args: Vec<Operand> = uses.map(|u| *u.1).collect();
    let params = f.param_operands(data.entry);
    if args.len() != params.len() {
        errors.push(Rule::V17, Place::Inst(i), |n| {
            format!("it has {} arguments, region `{}` takes {}", args.len(), n.region(callee), params.len())
        });
    }
    for (k, (&a, p)) in args.iter().zip(params).enumerate() {
        let class = f.class(Value(p.payload()));
        if !matches(f, a, class, p.len()) {
            errors
                .push(Rule::V17, Place::Inst(i), |_| format!("argument {k} is not {} lanes of class {class}", p.len()));
        }
    }
    if f.num_defs(i) != data.results.len() {
        errors.push(Rule::V17, Place::Inst(i), |n| {
            let (found, want) = (f.num_defs(i), data.results.len());
            format!("it defines {found} runs, region `{}` returns {want}", n.region(callee))
        });
    }
    for (k, (&d, &(class, len))) in f.defs(i).iter().zip(&data.results).enumerate() {
        if !matches(f, d, class, len as usize) {
            errors.push(Rule::V17, Place::Inst(i), |_| format!("result {k} is not {len} lanes of class {class}"));
        }
    }
    Some(callee)
}

fn returns(f: &Function, r: Region, errors: &mut Errors<'_>) {
    let results = &f.region(r).results;
    if let Some(k) = results.iter().position(|&(_, n)| n == 0 || n as usize > Operand::MAX_LANES) {
        errors.push(Rule::V17, Place::Region(r), |_| format!("its result {k} has {} lanes", results[k].1));
    }
    if r == Region(0) && !results.is_empty() {
        errors.push(Rule::V17, Place::Region(r), |_| "the kernel has results".into());
    }
    for i in region_terminators(f, r).filter(|&i| f.kind(i) == OpKind::Return) {
        if r == Region(0) {
            errors.push(Rule::V17, Place::Inst(i), |_| "the kernel has nowhere to return to".into());
            continue;
        }
        let found: Vec<Operand> = f.uses(i).iter().copied().filter(|o| !o.is_guard()).collect();
        if found.len() != results.len() {
            errors.push(Rule::V17, Place::Inst(i), |_| {
                format!("it returns {} runs, the region has {} results", found.len(), results.len())
            });
        }
        for (k, (&o, &(class, len))) in found.iter().zip(results).enumerate() {
            if !matches(f, o, class, len as usize) {
                errors.push(Rule::V17, Place::Inst(i), |_| format!("result {k} is not {len} lanes of class {class}"));
            }
        }
    }
}

/// Calls that lead back to a region that is being left: found by depth-first search, without recursion here either.
fn recursion(calls: &[Vec<(Region, Inst)>], errors: &mut Errors<'_>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        Open,
        Done,
    }
    let mut seen = vec![Seen::No; calls.len()];
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for root in 0..calls.len() {
        if seen[root] != Seen::No {
            continue;
        }
        seen[root] = Seen::Open;
        stack.push((root, 0));
        while let Some((r, next)) = stack.last_mut() {
            let Some(&(callee, i)) = calls[*r].get(*next) else {
                seen[*r] = Seen::Done;
                stack.pop();
                continue;
            };
            *next += 1;
            match seen[callee.index()] {
                Seen::No => {
                    seen[callee.index()] = Seen::Open;
                    stack.push((callee.index(), 0));
                }
                Seen::Open => errors.push(Rule::V17, Place::Inst(i), |n| {
                    format!("region `{}` calls itself through this call", n.region(callee))
                }),
                Seen::Done => {}
            }
        }
    }
}
