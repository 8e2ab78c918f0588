//! What all trials on one function share: analyses that do not depend on the budget.

use crate::error::AllocError;
use crate::hints::Hints;
use crate::predicates::{self, SpilledPredicates};
use fatpoint_ir::dom::DomTree;
use fatpoint_ir::loops::LoopForest;
use fatpoint_ir::{EntityId, Function, OpKind, RegClass, Region};
use fatpoint_pressure::{Liveness, NextUse, PressureProfile};
use std::sync::OnceLock;

/// Registers of the predicate file: P0 to P6 (P7 is the constant true).
pub const PREDICATES: u32 = 7;

/// Analyses of one function, computed once.
pub struct Analysis<'f> {
    /// The function.
    pub func: &'f Function,
    /// Its dominators.
    pub dom: DomTree,
    /// Its loops.
    pub loops: LoopForest,
    /// Its liveness.
    pub live: Liveness,
    /// Its pressure, without what allocation adds.
    pub profile: PressureProfile,
    /// Where values want to go.
    pub hints: Hints,
    /// Predicates that do not fit their file and live in general registers.
    pub predicates: SpilledPredicates,
    /// Regions, callees before callers; the kernel last.
    pub region_order: Vec<Region>,
    next_use: OnceLock<NextUse>,
}

impl<'f> Analysis<'f> {
    /// Analyses a function that has passed the verifier.
    ///
    /// # Errors
    /// [`AllocError::Class`] for values outside the R and P files, [`AllocError::Recursion`], and
    /// [`AllocError::Infeasible`] when one instruction alone needs more predicates than there are.
    pub fn new(func: &'f Function) -> Result<Self, AllocError> {
        if let Some(v) = func.values().find(|&v| !matches!(func.class(v), RegClass::R | RegClass::P)) {
            return Err(AllocError::Class { value: func.value_name(v), class: func.class(v).to_string() });
        }
        let region_order = callees_first(func)?;
        let dom = DomTree::compute(func);
        let loops = LoopForest::compute(func);
        let live = Liveness::compute(func, &dom, &loops);
        let profile = PressureProfile::compute(func, &live);
        let hints = Hints::compute(func);
        let mut out = Self {
            func,
            dom,
            loops,
            live,
            profile,
            hints,
            predicates: SpilledPredicates::none(),
            region_order,
            next_use: OnceLock::new(),
        };
        out.predicates = predicates::choose(&out)?;
        Ok(out)
    }

    /// Next-use distances, computed on first need: only spilling asks for them.
    pub fn next_use(&self) -> &NextUse {
        self.next_use.get_or_init(|| NextUse::compute(self.func, &self.loops))
    }
}

/// Regions in an order that has callees first.
fn callees_first(func: &Function) -> Result<Vec<Region>, AllocError> {
    let n = func.regions().len();
    let mut callees: Vec<Vec<Region>> = vec![Vec::new(); n];
    if n > 1 {
        for i in func.insts().filter(|&i| func.kind(i) == OpKind::Call) {
            if let Some(c) = func.callee(i) {
                callees[func.block(func.block_of(i)).region.index()].push(c);
            }
        }
    }
    let mut state = vec![0u8; n];
    let mut out = Vec::with_capacity(n);
    for root in (0..n).rev() {
        let mut stack = vec![(root, 0usize)];
        while let Some(&mut (r, ref mut next)) = stack.last_mut() {
            if *next == 0 {
                if state[r] == 2 {
                    stack.pop();
                    continue;
                }
                if state[r] == 1 {
                    return Err(AllocError::Recursion(func.symbol(func.region(Region::new(r)).name).to_string()));
                }
                state[r] = 1;
            }
            if let Some(&c) = callees[r].get(*next) {
                *next += 1;
                if state[c.index()] == 1 {
                    return Err(AllocError::Recursion(func.symbol(func.region(c).name).to_string()));
                }
                if state[c.index()] == 0 {
                    stack.push((c.index(), 0));
                }
            } else {
                state[r] = 2;
                out.push(Region::new(r));
                stack.pop();
            }
        }
    }
    // The kernel last, whatever else there is.
    out.retain(|r| r.0 != 0);
    out.push(Region(0));
    Ok(out)
}
