//! Register allocation on SSA: from analyses and a budget to an [`AllocatedFunction`].
//!
//! Stages, each one file: [`analysis`] (shared by all trials) → [`budget`] (how many registers to try) →
//! [`predicates`] (what of the predicate file overflows into general registers) → [`spill`] (what is in registers where)
//! → [`slots`] → [`mod@color`] (registers, with repair by parallel copies) → edits in sequence ([`parallel_copy`]).
//!
//! The input is never edited and a trial copies none of it. Register accounting is that of the machine: a budget of T
//! allows R0 to R(T-3); `used` = highest register + 1 + 2.

pub mod analysis;
pub mod budget;
pub mod calls;
pub mod color;
pub mod error;
pub mod hints;
pub mod parallel_copy;
pub mod predicates;
pub mod slots;
pub mod spill;
pub mod text;

pub use analysis::Analysis;
pub use budget::{floor, least_without_spills, no_spill_budget, spills, Budget, Floor};
pub use error::AllocError;

use color::{color, Files, NoPlace};
use fatpoint_ir::assigned::AllocatedFunction;
use fatpoint_ir::{Inst, RegClass, Region};
use fatpoint_pressure::CallInfo;
use slots::Slots;
use spill::{DoesNotFit, SpillPlan};

/// Registers that every kernel's count includes and no instruction names.
pub const RESERVED_PAIR: u32 = 2;
/// Largest register count that a kernel can have.
pub const MAX_USED: u32 = 255;

/// Options of an allocation, apart from the budget.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Keep R1, the stack pointer, out of the allocation.
    pub reserve_r1: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { reserve_r1: true }
    }
}

/// Why an attempt failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attempt {
    /// An instruction does not fit with everything else spilled.
    DoesNotFit(Inst),
    /// An instruction fits by count, but values that may not move are in the way.
    NoPlace(Inst),
}

impl Attempt {
    /// The instruction.
    pub fn inst(self) -> Inst {
        match self {
            Attempt::DoesNotFit(i) | Attempt::NoPlace(i) => i,
        }
    }
}

/// Registers that an allocation uses, the reserved pair included: highest + 1 + 2, at least 4 (R1 is named always).
pub fn used_registers(alloc: &AllocatedFunction<'_>) -> u32 {
    alloc.highest(RegClass::R).unwrap_or(0).max(1) as u32 + 1 + RESERVED_PAIR
}

/// Allocates within `budget` registers (reserved pair included), spilling where it must.
///
/// # Errors
/// The instruction that stands in the way, see [`Attempt`].
pub fn allocate<'a>(a: &'a Analysis<'a>, budget: u32, options: &Options) -> Result<AllocatedFunction<'a>, Attempt> {
    let k = budget.min(MAX_USED).saturating_sub(RESERVED_PAIR);
    let func = a.func;
    let mut calls: Vec<CallInfo> = func.regions().map(|r| calls::convention(func, r)).collect();
    let mut out = AllocatedFunction::empty(func);
    if func.regions().len() == 1 {
        let plan = plan_for(a, &calls, Region(0), k, options)?;
        out = run(a, &plan, &calls, k, options, Region(0), out)?;
    } else {
        // Callees first, each in as few registers as it needs without spilling, so that callers lose the least.
        let mut local = 0;
        for &r in &a.region_order {
            let own = if r.0 == 0 { k } else { budget::region_demand(a, &calls, r, options).min(k) };
            let plan = plan_for(a, &calls, r, own, options)?;
            out = run_at(a, &plan, &calls, own, options, r, out, &mut local)?;
            calls[r.0 as usize].clobbers = calls::clobbers(&out, &calls, r);
        }
    }
    // Blocks of one region are in order already; regions were allocated callees first.
    out.edits.sort_by_key(|e| e.0);
    out.edge_edits.sort_by_key(|e| e.0);
    Ok(out)
}

/// No spilling where everything fits, else a plan.
fn plan_for(
    a: &Analysis<'_>,
    calls: &[CallInfo],
    region: Region,
    k: u32,
    options: &Options,
) -> Result<SpillPlan, Attempt> {
    if budget::fits_without_spilling(a, calls, region, k, options) {
        return Ok(SpillPlan::none());
    }
    spill::plan(a, calls, region, k, options.reserve_r1).map_err(|DoesNotFit(i)| Attempt::DoesNotFit(i))
}

fn run<'a>(
    a: &'a Analysis<'a>,
    plan: &SpillPlan,
    calls: &[CallInfo],
    k: u32,
    options: &Options,
    region: Region,
    into: AllocatedFunction<'a>,
) -> Result<AllocatedFunction<'a>, Attempt> {
    let slots = Slots::assign(a, plan, 0);
    let files = Files { general: k, reserve_r1: options.reserve_r1 };
    color(a, plan, &slots, calls, files, region, into).map_err(|NoPlace(i)| Attempt::NoPlace(i))
}

#[allow(clippy::too_many_arguments)]
fn run_at<'a>(
    a: &'a Analysis<'a>,
    plan: &SpillPlan,
    calls: &[CallInfo],
    k: u32,
    options: &Options,
    region: Region,
    into: AllocatedFunction<'a>,
    first_slot: &mut u32,
) -> Result<AllocatedFunction<'a>, Attempt> {
    let slots = Slots::assign(a, plan, *first_slot);
    let files = Files { general: k, reserve_r1: options.reserve_r1 };
    let out = color(a, plan, &slots, calls, files, region, into).map_err(|NoPlace(i)| Attempt::NoPlace(i))?;
    // Scratch slots of this region stay apart from the slots of its callers.
    *first_slot = out.local_slots;
    Ok(out)
}
