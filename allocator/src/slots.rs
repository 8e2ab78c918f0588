//! Spill slots: one 4-byte unit for each spilled value, shared by values that are never needed at the same time.
//!
//! A slot is taken from the value's definition to the last point (in linear order) that needs the value, which covers
//! every loop that it lives through. A memory parameter takes the slot of an argument, or an argument that of its
//! parameter, where these spans allow: then the edge between them costs nothing. Regions have slots apart from each
//! other, since a caller's values stay in memory during a call.

use crate::analysis::Analysis;
use crate::spill::SpillPlan;
use fatpoint_ir::assigned::{Loc, SlotSpace};
use fatpoint_ir::{EntityId, EntityVec, Value, ValueDef};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The slot of each spilled value.
#[derive(Clone, Debug)]
pub struct Slots {
    slot: EntityVec<Value, u32>,
    count: u32,
}

impl Slots {
    /// Assigns slots from number `first_slot` on.
    pub fn assign(a: &Analysis<'_>, plan: &SpillPlan, first_slot: u32) -> Self {
        if plan.spilled.count() == 0 {
            return Self { slot: EntityVec::new(), count: first_slot };
        }
        let func = a.func;
        let mut slot = EntityVec::filled(func.num_values(), u32::MAX);
        // Arguments of memory parameters, both ways.
        let mut arg_of: EntityVec<Value, Value> = EntityVec::filled(func.num_values(), Value::NONE);
        let mut args: Vec<(Value, Value)> = Vec::new();
        for e in func.edges() {
            for (p, l) in func.params(func.edge(e).to).zip(func.edge_args(e)) {
                if let Some(v) = l.value() {
                    if plan.memory_param.contains(p) && plan.spilled.contains(v) {
                        arg_of[v] = p;
                        args.push((p, v));
                    }
                }
            }
        }
        args.sort_unstable();
        let mut count = first_slot;
        for r in func.regions() {
            let first = count;
            let mut busy: Vec<u32> = Vec::new();
            let mut expiry: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
            let mut free: BTreeSet<u32> = BTreeSet::new();
            let blocks = func.region_blocks(r);
            let (Some(lo), Some(hi)) = (blocks.clone().next(), blocks.last()) else { continue };
            let (lo, hi) = (func.block_range(lo).start, func.block_range(hi).end);
            let start_of = |v: Value| match func.def(v) {
                ValueDef::Inst(i) => i.0,
                ValueDef::Param(b) => func.block_range(b).start,
            };
            for v in plan.spilled.iter().filter(|&v| (lo..hi).contains(&start_of(v))) {
                let start = start_of(v);
                while let Some(&Reverse((until, s))) = expiry.peek() {
                    if until >= start {
                        break;
                    }
                    expiry.pop();
                    if busy[s as usize] == until {
                        free.insert(s);
                    }
                }
                let wish = args[args.partition_point(|x| x.0 < v)..]
                    .iter()
                    .take_while(|x| x.0 == v)
                    .map(|x| slot[x.1])
                    .chain(arg_of[v].some().map(|p| slot[p]))
                    .filter(|&s| s != u32::MAX)
                    .map(|s| s - first)
                    .find(|s| free.contains(s));
                let s = wish.or_else(|| free.first().copied()).unwrap_or_else(|| {
                    busy.push(0);
                    busy.len() as u32 - 1
                });
                free.remove(&s);
                busy[s as usize] = a.live.last_need(v);
                expiry.push(Reverse((a.live.last_need(v), s)));
                slot[v] = first + s;
            }
            count = first + busy.len() as u32;
        }
        Self { slot, count }
    }

    /// The slot of a spilled value.
    pub fn of(&self, v: Value) -> Loc {
        Loc::slot(SlotSpace::Local, self.slot[v])
    }

    /// First number past all slots.
    pub fn count(&self) -> u32 {
        self.count
    }
}
