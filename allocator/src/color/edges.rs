//! Edges: bringing the state at a block's exit to what its successor expects.
//!
//! Everything that has to move (values between registers, reloads of what the predecessor does not hold, arguments into
//! parameters, stores into memory parameters) is one parallel copy on the edge.

use super::Scan;
use crate::parallel_copy::{sequentialize, Move, Scratch};
use fatpoint_ir::assigned::Loc;
use fatpoint_ir::{Edge, Inst, PhysReg, RegClass, Value, ValueDef};
use fatpoint_pressure::RegSet;

impl Scan<'_, '_> {
    /// Emits the edits of an edge whose both ends are known, once.
    pub(super) fn resolve(&mut self, e: Edge) {
        let func = self.a.func;
        let d = func.edge(e);
        let exit = self.exit[d.from].take().expect("the source was visited");
        let entry = self.entry[d.to].take().expect("the target was entered");
        let find = |v: Value| exit.iter().find(|h| h.value == v).map(|h| h.reg);
        // Lookup by value: sorted once when there is much to look up.
        let mut sorted: Vec<(Value, PhysReg)> = Vec::new();
        let many = exit.len() > 16;
        if many {
            sorted.extend(exit.iter().map(|h| (h.value, h.reg)));
            sorted.sort_unstable();
        }
        let at_exit = |v: Value| {
            if many {
                sorted.binary_search_by_key(&v, |x| x.0).ok().map(|k| sorted[k].1)
            } else {
                find(v)
            }
        };
        let place = |s: &Self, v: Value| at_exit(v).map_or_else(|| s.slots.of(v), Loc::reg);
        let args = func.edge_args(e);
        let first_param = func.params(d.to).next().map_or(u32::MAX, |p| p.0);
        let mut moves: Vec<Move> = Vec::new();
        let mut used = RegSet::EMPTY;
        let mut used_p = RegSet::EMPTY;
        let mut changes = false;
        for h in &entry {
            let to = Loc::reg(h.reg);
            let from = if h.value.0 >= first_param && func.def(h.value) == ValueDef::Param(d.to) {
                match args[(h.value.0 - first_param) as usize].value() {
                    Some(v) => place(self, v),
                    None => {
                        mark(to, &mut used, &mut used_p);
                        continue;
                    }
                }
            } else {
                place(self, h.value)
            };
            mark(from, &mut used, &mut used_p);
            mark(to, &mut used, &mut used_p);
            changes |= from != to;
            moves.push(Move { from, to });
        }
        for (k, p) in func.params(d.to).enumerate() {
            if !self.plan.memory_param.contains(p) {
                continue;
            }
            if let Some(v) = args[k].value() {
                let to = self.slots.of(p);
                let in_slot = self.plan.spilled.contains(v) && self.slots.of(v) == to;
                if !in_slot {
                    let from = place(self, v);
                    mark(from, &mut used, &mut used_p);
                    changes = true;
                    moves.push(Move { from, to });
                }
            }
        }
        if changes && !self.flying[d.from].is_empty() {
            let fixed: Vec<Loc> = self.flying[d.from].iter().filter_map(|&v| at_exit(v)).map(Loc::reg).collect();
            if moves.iter().any(|m| m.from != m.to && (fixed.contains(&m.from) || fixed.contains(&m.to))) {
                self.moved_in_flight.get_or_insert(Inst(func.block_range(d.to).start));
            }
        }
        if changes {
            let mut scratch = Scratch {
                free_r: self.universe[RegClass::R].without(used),
                free_p: self.universe[RegClass::P].without(used_p),
                any_r: self.universe[RegClass::R],
                slot: self.slots.count(),
                used_slots: 0,
            };
            let mut edits = Vec::new();
            sequentialize(&moves, &mut scratch, &mut edits);
            self.scratch_slots = self.scratch_slots.max(scratch.used_slots);
            self.out.edge_edits.extend(edits.into_iter().map(|x| (e, x)));
        }
        // The states are kept only while an edge may still ask for them.
        self.waiting[d.from] -= 1;
        self.exit[d.from] = Some(if self.waiting[d.from] == 0 { Vec::new() } else { exit });
        let open = func.pred_edges(d.to).iter().any(|&x| self.exit[func.edge(x).from].is_none());
        self.entry[d.to] = Some(if open || !self.all_resolved_after(e) { entry } else { Vec::new() });
    }

    /// True when `e` is the last edge into its target to be resolved.
    fn all_resolved_after(&self, e: Edge) -> bool {
        let to = self.a.func.edge(e).to;
        self.a.func.pred_edges(to).last() == Some(&e)
    }
}

fn mark(l: Loc, r: &mut RegSet, p: &mut RegSet) {
    match l.as_reg() {
        Some(x) if x.class == RegClass::R => r.insert(x.num as u32),
        Some(x) => p.insert(x.num as u32),
        None => {}
    }
}
