//! Predicates that do not fit: which ones live in general registers.
//!
//! The file has seven predicates. Where more are live, the one whose next use is farthest (Belady) is kept in a general
//! register for its whole life: converted after its definition (SEL), converted back into any free predicate before each
//! use (ISETP). So a spilled predicate costs one unit of the general file where it is live, and a predicate for a moment
//! at its definition and uses. Choosing whole lives keeps the general file's problem independent of the order in which
//! predicates come and go; packing several into one register is a refinement that later work may add.

use crate::analysis::{Analysis, PREDICATES};
use crate::error::AllocError;
use crate::text::describe;
use fatpoint_ir::{EntitySet, Inst, OpKind, RegClass, Value};
use fatpoint_pressure::{DistanceMap, ShapeBuilder};

/// The predicates that live in general registers.
#[derive(Clone, Debug)]
pub struct SpilledPredicates {
    set: EntitySet<Value>,
    any: bool,
}

impl SpilledPredicates {
    /// No predicate.
    pub fn none() -> Self {
        Self { set: EntitySet::with_capacity(0), any: false }
    }
    /// True when the value is a predicate that lives in a general register.
    #[inline]
    pub fn contains(&self, v: Value) -> bool {
        self.any && self.set.contains(v)
    }
    /// True when there is one.
    pub fn any(&self) -> bool {
        self.any
    }
    /// Number of them.
    pub fn count(&self) -> usize {
        self.set.count()
    }
}

/// Chooses the predicates to keep in general registers.
pub(crate) fn choose(a: &Analysis<'_>) -> Result<SpilledPredicates, AllocError> {
    let func = a.func;
    let calls = func.regions().len() > 1;
    if a.profile.class(RegClass::P).is_none_or(|p| p.demand.is_some_and(|d| d <= PREDICATES) && !calls) {
        return Ok(SpilledPredicates::none());
    }
    let mut set: EntitySet<Value> = EntitySet::with_capacity(func.num_values());
    let mut any = false;
    let next = a.next_use();
    let mut dist = DistanceMap::new(func);
    let mut shapes = ShapeBuilder::new(func, &a.live, RegClass::P);
    let is_p = |v: Value| func.class(v) == RegClass::P;
    let mut failed: Option<(Inst, u32)> = None;
    a.live.for_each_live_in(func, |b, live_in| {
        let mut now: Vec<Value> = live_in.iter().copied().filter(|&v| is_p(v) && !set.contains(v)).collect();
        now.extend(func.params(b).filter(|&v| is_p(v) && a.live.is_used(v)));
        next.at_exit(func, &a.loops, b, &mut dist);
        // Positions of uses in this block, per value, from the back.
        let range = func.block_range(b);
        let mut uses: Vec<(Value, u32)> = Vec::new();
        for i in func.block_insts(b) {
            uses.extend(func.use_values(i).filter(|&v| is_p(v)).map(|v| (v, i.0)));
        }
        uses.sort_unstable();
        let next_use = |v: Value, after: u32, dist: &DistanceMap| {
            let k = uses.partition_point(|&(x, p)| (x, p) < (v, after));
            match uses.get(k) {
                Some(&(x, p)) if x == v => p - after,
                _ => dist.get(v).saturating_add(range.end - after),
            }
        };
        let mut over = |now: &mut Vec<Value>, keep: &[Value], at: u32, room: u32| {
            while now.len() as u32 > room {
                let pick = now
                    .iter()
                    .copied()
                    .filter(|v| !keep.contains(v))
                    .max_by_key(|&v| (next_use(v, at, &dist), std::cmp::Reverse(v)));
                let Some(v) = pick else { return false };
                now.retain(|&x| x != v);
                set.insert(v);
                any = true;
            }
            true
        };
        over(&mut now, &[], range.start, PREDICATES);
        for i in func.block_insts(b) {
            let operands: Vec<Value> = func.use_values(i).filter(|&v| is_p(v)).collect();
            let shape = shapes.shape(i, 0, 0);
            // Operands and results take their room; what only lives through gives way.
            let need = (shape.read_units().max(shape.write_units()), shape.clobbers.count());
            let through: Vec<Value> = now.iter().copied().filter(|v| !operands.contains(v)).collect();
            let mut rest = through;
            // A region's predicates are not known yet: nothing stays in a predicate across its call.
            let room = if func.kind(i) == OpKind::Call { 0 } else { PREDICATES.saturating_sub(need.0 + need.1) };
            if need.0 > PREDICATES {
                failed.get_or_insert((i, need.0));
            }
            over(&mut rest, &[], i.0, room);
            let mut lane = func.defs(i).iter().map(|o| o.len()).sum::<usize>();
            let mut survivors: Vec<Value> = rest;
            for &o in func.uses(i) {
                for l in func.lanes(o) {
                    if let Some(v) = l.value() {
                        if is_p(v) && !a.live.kills(i, lane) && now.contains(&v) && !survivors.contains(&v) {
                            survivors.push(v);
                        }
                    }
                    lane += 1;
                }
            }
            now = survivors;
            now.extend(func.def_values(i).filter(|&v| is_p(v) && a.live.is_used(v)));
        }
        // `now` may hold values that another block spilled meanwhile; they are filtered at the next entry.
    });
    if let Some((inst, need)) = failed {
        return Err(AllocError::Infeasible {
            budget: PREDICATES,
            floor: need,
            inst,
            instruction: describe(func, inst),
            line: func.line(inst),
        });
    }
    Ok(SpilledPredicates { set, any })
}
