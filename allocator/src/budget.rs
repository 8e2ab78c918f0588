//! Budgets: how many registers an attempt may use, and the least that can work.
//!
//! * *no-spill budget* (`min`): the largest demand of any point with everything live in a register, plus the reserved
//!   pair. Coloring with repair reaches it, since it places whatever fits point by point.
//! * *floor*: the largest need of any single instruction with everything else spilled: its own runs, ties, fixed
//!   registers and clobbers, R1, and a register for each spilled predicate that it reads or writes. It is computed, then
//!   confirmed by allocating; where values in flight leave no hole it rises until an allocation succeeds.
//! * `auto`: the most warps that need no spill, see [`Budget::Auto`].

use crate::analysis::Analysis;
use crate::error::AllocError;
use crate::spill::{fits, in_r, predicate_units};
use crate::text::describe;
use crate::{allocate, calls, Attempt, Options, MAX_USED, RESERVED_PAIR};
use fatpoint_ir::assigned::{AllocatedFunction, Edit};
use fatpoint_ir::{Inst, RegClass, Region};
use fatpoint_pressure::{min_registers, CallInfo, ShapeBuilder};

/// What a user asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Budget {
    /// The occupancy cliff with the most warps that needs no spill; where none does, the largest count allowed.
    Auto,
    /// The least count without spills.
    Min,
    /// The least feasible count, with spills.
    Floor,
    /// This count.
    Registers(u32),
    /// The largest count that keeps this many warps resident.
    Warps(u32),
}

/// The least feasible budget and what sets it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Floor {
    /// Registers, the reserved pair included.
    pub budget: u32,
    /// The instruction.
    pub inst: Inst,
}

/// Visits every instruction with the general-register demand that it has when nothing is spilled.
fn for_each_demand(
    a: &Analysis<'_>,
    calls: &[CallInfo],
    options: &Options,
    mut visit: impl FnMut(Region, Inst, Option<u32>) -> bool,
) {
    let func = a.func;
    let mut shapes = ShapeBuilder::new(func, &a.live, RegClass::R).with_calls(calls);
    let mut stop = false;
    a.live.for_each_live_in(func, |b, set| {
        if stop {
            return;
        }
        let region = func.block(b).region;
        let mut n = set.iter().filter(|&&v| in_r(a, v)).count() as u32;
        n += func.params(b).filter(|&v| in_r(a, v) && a.live.is_used(v)).count() as u32;
        for i in func.block_insts(b) {
            let (ended, results) = predicate_units(a, i);
            let (mut operands, mut gone) = (0, 0);
            let mut seen: Vec<(fatpoint_ir::Value, bool)> = Vec::new();
            let mut lane = func.defs(i).iter().map(|o| o.len()).sum::<usize>();
            for &o in func.uses(i) {
                for l in func.lanes(o) {
                    if let Some(v) = l.value() {
                        if in_r(a, v) && !seen.iter().any(|s| s.0 == v) {
                            let ends = a.live.kills(i, lane);
                            seen.push((v, ends));
                            gone += u32::from(ends);
                            if func.class(v) == RegClass::R {
                                operands += 1;
                            }
                        }
                    }
                    lane += 1;
                }
            }
            let shape = shapes.shape(i, ended, results);
            let need = min_registers(shape, n - operands - ended, options.reserve_r1);
            if !visit(region, i, need) {
                stop = true;
                return;
            }
            n -= gone;
            for v in a.live.flight().at(i) {
                if in_r(a, v) && !seen.iter().any(|s| s.0 == v && s.1) && a.live.ends_in_flight(func, b, i, v) {
                    n -= 1;
                }
            }
            n += func.def_values(i).filter(|&v| in_r(a, v) && a.live.is_used(v)).count() as u32;
        }
    });
}

/// True when `k` general registers hold everything at every point of a region.
pub(crate) fn fits_without_spilling(
    a: &Analysis<'_>,
    calls: &[CallInfo],
    region: Region,
    k: u32,
    options: &Options,
) -> bool {
    let mut ok = true;
    for_each_demand(a, calls, options, |r, _, need| {
        ok = r != region || need.is_some_and(|n| n <= k);
        ok
    });
    ok
}

/// General registers that a region needs to spill nothing; 256 when no file is large enough.
pub(crate) fn region_demand(a: &Analysis<'_>, calls: &[CallInfo], region: Region, options: &Options) -> u32 {
    let mut most = 2;
    for_each_demand(a, calls, options, |r, _, need| {
        if r == region {
            most = most.max(need.unwrap_or(256));
        }
        true
    });
    most
}

/// The least budget without spills, the reserved pair included; `None` when even 255 registers spill.
pub fn no_spill_budget(a: &Analysis<'_>, options: &Options) -> Option<u32> {
    let func = a.func;
    let mut infos: Vec<CallInfo> = func.regions().map(|r| calls::convention(func, r)).collect();
    let mut k = 2;
    if func.regions().len() > 1 {
        // What a callee clobbers at its own demand is part of its callers' demand: allocate the callees to know it.
        let probe = allocate(a, MAX_USED, options).ok()?;
        for &r in &a.region_order {
            infos[r.0 as usize].clobbers = calls::clobbers(&probe, &infos, r);
        }
    }
    for_each_demand(a, &infos, options, |_, _, need| {
        k = k.max(need.unwrap_or(256));
        true
    });
    let budget = (k + RESERVED_PAIR).max(4);
    (budget <= MAX_USED).then_some(budget)
}

/// True when the allocation touches memory that the input does not.
pub fn spills(alloc: &AllocatedFunction<'_>) -> bool {
    let memory = |e: &Edit| matches!(e, Edit::Spill { .. } | Edit::Reload { .. } | Edit::SlotCopy { .. });
    alloc.edits.iter().any(|x| memory(&x.1)) || alloc.edge_edits.iter().any(|x| memory(&x.1))
}

/// The least budget that allocates without touching memory, and that allocation; `None` when even 255 registers spill.
/// It is the demand of the fattest point, or a little more where an edge has to exchange predicates with general
/// registers and no register is free to do it with.
///
/// # Errors
/// [`AllocError`] when an attempt fails outright.
pub fn least_without_spills<'a>(
    a: &'a Analysis<'a>,
    options: &Options,
) -> Result<Option<(u32, AllocatedFunction<'a>)>, AllocError> {
    let Some(first) = no_spill_budget(a, options) else { return Ok(None) };
    for budget in first..=MAX_USED {
        match allocate(a, budget, options) {
            Ok(out) if !spills(&out) => return Ok(Some((budget, out))),
            Ok(_) => {}
            Err(Attempt::NoPlace(_)) => {}
            Err(e) => return Err(explain(a, budget, e, options)),
        }
    }
    Ok(None)
}

/// The need of each instruction with everything else spilled: the largest and where it is.
fn computed_floor(a: &Analysis<'_>, options: &Options) -> Floor {
    let func = a.func;
    let infos: Vec<CallInfo> = func.regions().map(|r| calls::convention(func, r)).collect();
    let mut shapes = ShapeBuilder::new(func, &a.live, RegClass::R).with_calls(&infos);
    let mut best = Floor { budget: 4, inst: Inst(0) };
    for i in func.insts() {
        let (ended, results) = predicate_units(a, i);
        // Operands that live on must be here for this instruction, but need not survive it in a register.
        let shape = shapes.shape(i, ended, results);
        let need = min_registers(shape, 0, options.reserve_r1).unwrap_or(256) + RESERVED_PAIR;
        if need > best.budget {
            best = Floor { budget: need, inst: i };
        }
    }
    best
}

/// The least feasible budget, confirmed by an allocation, and that allocation.
///
/// # Errors
/// [`AllocError::Infeasible`] when even 255 registers are not enough.
pub fn floor<'a>(a: &'a Analysis<'a>, options: &Options) -> Result<(Floor, AllocatedFunction<'a>), AllocError> {
    let mut at = computed_floor(a, options);
    while at.budget <= MAX_USED {
        match allocate(a, at.budget, options) {
            Ok(out) => return Ok((at, out)),
            Err(e) => at = Floor { budget: at.budget + 1, inst: e.inst() },
        }
    }
    Err(AllocError::Infeasible {
        budget: MAX_USED,
        floor: at.budget,
        inst: at.inst,
        instruction: describe(a.func, at.inst),
        line: a.func.line(at.inst),
    })
}

/// Turns a failed attempt into an error that names the floor.
pub fn explain(a: &Analysis<'_>, budget: u32, attempt: Attempt, options: &Options) -> AllocError {
    match floor(a, options) {
        Ok((f, _)) if f.budget > budget => AllocError::Infeasible {
            budget,
            floor: f.budget,
            inst: f.inst,
            instruction: describe(a.func, f.inst),
            line: a.func.line(f.inst),
        },
        Err(e) => e,
        Ok(_) => AllocError::NoPlace {
            budget,
            inst: attempt.inst(),
            instruction: describe(a.func, attempt.inst()),
            line: a.func.line(attempt.inst()),
        },
    }
}

/// True when `k` registers hold an instruction's shape alone; for tests of the floor.
pub fn instruction_fits(a: &Analysis<'_>, i: Inst, k: u32, options: &Options) -> bool {
    let infos: Vec<CallInfo> = a.func.regions().map(|r| calls::convention(a.func, r)).collect();
    let (ended, results) = predicate_units(a, i);
    let mut shapes = ShapeBuilder::new(a.func, &a.live, RegClass::R).with_calls(&infos);
    fits(shapes.shape(i, ended, results), 0, k, options.reserve_r1)
}
