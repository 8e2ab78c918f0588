//! Calling conventions of subroutine regions, fixed before the region is allocated.
//!
//! Parameters and results take registers from R4 (and P0) upward, each run aligned as its width asks, so that the caller
//! and every return agree without iteration. What a region clobbers is known once it is allocated: every register that
//! its results, edits and callees write. Its predicates count as clobbered whole.

use crate::analysis::PREDICATES;
use fatpoint_ir::assigned::{AllocatedFunction, Edit};
use fatpoint_ir::{default_align, Function, PerClass, PhysReg, RegClass, Region, Value};
use fatpoint_pressure::{clobbered, CallInfo, RegSet};

/// First general register of parameters and results.
const FIRST: u32 = 4;

/// Registers for runs of the given classes and lengths.
fn lay_out(runs: impl Iterator<Item = (RegClass, u32)>) -> Vec<PhysReg> {
    let mut next = PerClass([FIRST, FIRST, 0, 0, 0]);
    runs.map(|(class, len)| {
        let align = if class == RegClass::R { default_align(len as usize) } else { 1 };
        let base = next[class].next_multiple_of(align);
        next[class] = base + len;
        PhysReg::new(class, base as u16)
    })
    .collect()
}

/// The convention of a region, its clobbers still open.
pub fn convention(func: &Function, region: Region) -> CallInfo {
    if region.0 == 0 {
        return CallInfo::default();
    }
    let d = func.region(region);
    let params = func.param_operands(d.entry).iter().map(|o| (func.class(Value(o.payload())), o.len() as u32));
    CallInfo {
        params: lay_out(params),
        results: lay_out(d.results.iter().map(|&(c, n)| (c, n as u32))),
        clobbers: PerClass::default(),
    }
}

/// Everything that an allocated region writes.
pub fn clobbers(alloc: &AllocatedFunction<'_>, calls: &[CallInfo], region: Region) -> PerClass<RegSet> {
    let func = alloc.func;
    let mut out = PerClass([RegSet::EMPTY; 5]);
    out[RegClass::P] = RegSet::below(PREDICATES);
    let mut see = |r: PhysReg| out[r.class].insert(r.num as u32);
    let blocks = func.region_blocks(region);
    let (Some(first), Some(last)) = (blocks.clone().next(), blocks.clone().last()) else { return out };
    let insts = func.block_range(first).start..func.block_range(last).end;
    let edit = |e: &Edit, see: &mut dyn FnMut(PhysReg)| match e {
        Edit::Copy { to, .. } | Edit::Reload { to, .. } => see(*to),
        Edit::Swap { a, b } => {
            see(*a);
            see(*b);
        }
        Edit::Spill { .. } | Edit::SlotCopy { .. } => {}
        Edit::Remat { to, .. } => to.iter().flatten().copied().for_each(see),
    };
    for (p, e) in &alloc.edits {
        if insts.contains(&p.pos) {
            edit(e, &mut see);
        }
    }
    for (x, e) in &alloc.edge_edits {
        if func.block(func.edge(*x).from).region == region {
            edit(e, &mut see);
        }
    }
    for b in blocks {
        alloc.block_param_locs(b).iter().filter_map(|l| l.as_reg()).for_each(&mut see);
        for i in func.block_insts(b) {
            let n = func.def_values(i).len();
            alloc.inst_locs(i)[..n].iter().filter_map(|l| l.as_reg()).for_each(&mut see);
        }
    }
    for b in func.region_blocks(region) {
        for i in func.block_insts(b) {
            for c in [RegClass::R, RegClass::P] {
                out[c] = out[c].or(clobbered(func, calls, i, c));
            }
        }
    }
    out
}
