//! Block entries and exits: where values are when a block begins.
//!
//! The state of the most frequent predecessor already visited is taken over. Parameters follow their arguments where
//! they can. At a loop header, parameters that meet in a wide operand of the loop are placed first, side by side and
//! aligned, whatever that displaces: the copies it costs are on the edge into the loop, where the repair they save would
//! be inside. The parameters of a region have the registers that its callers were told.

use super::{NoPlace, Scan};
use crate::hints::Hints;
use fatpoint_ir::assigned::{Loc, Side};
use fatpoint_ir::{Block, Edge, Inst, PhysReg, RegClass, Value, ValueDef};
use fatpoint_pressure::RegSet;

impl Scan<'_, '_> {
    /// True when the plan has the value in a register at the block's entry.
    fn enters(&self, b: Block, v: Value) -> bool {
        match &self.plan.entry {
            None => true,
            Some(e) => self.home(v) != RegClass::R || e[b].binary_search(&v).is_ok(),
        }
    }

    pub(super) fn enter(&mut self, b: Block) -> Result<(), NoPlace> {
        let func = self.a.func;
        let first = Inst(func.block_range(b).start);
        let mut base: Option<(u64, Edge)> = None;
        let mut header = false;
        for &e in func.pred_edges(b) {
            let from = func.edge(e).from;
            if self.exit[from].is_none() {
                header = true;
                continue;
            }
            let f = self.a.loops.frequency(from);
            if base.is_none_or(|(g, _)| f > g) {
                base = Some((f, e));
            }
        }
        let inherited = match base {
            Some((_, e)) => {
                let from = func.edge(e).from;
                let exit = self.exit[from].as_ref().expect("a visited block has an exit state");
                exit.iter().copied().filter(|h| self.a.live.live_in(b, h.value) && self.enters(b, h.value)).collect()
            }
            None => Vec::new(),
        };
        self.state.clear();
        let region = func.block(b).region;
        self.keep_flying(b);
        if region.0 != 0 && func.region(region).entry == b {
            self.region_params(b, first)?;
        } else if header {
            let taken: RegSet =
                inherited.iter().filter(|h| h.reg.class == RegClass::R).map(|h| h.reg.num as u32).collect();
            self.header_groups(b, base.map(|x| x.1), taken);
        }
        let mut pending: Vec<Value> = Vec::new();
        for h in inherited {
            if self.state.reg(h.value).is_some() {
                continue;
            }
            if self.state.free_set(h.reg.class).contains(h.reg.num as u32) {
                self.take(h.value, h.reg);
            } else {
                pending.push(h.value);
            }
        }
        for p in func.params(b) {
            if self.a.live.is_used(p) && self.enters(b, p) && self.state.reg(p).is_none() {
                pending.push(p);
            }
        }
        if let Some(entry) = &self.plan.entry {
            let known: Vec<Value> = entry[b].clone();
            for v in known {
                if self.state.reg(v).is_none() && !pending.contains(&v) {
                    pending.push(v);
                }
            }
        }
        for v in pending {
            let free = self.state.free_set(self.home(v));
            let r = self.pick(v, free).ok_or(NoPlace(first))?;
            self.take(v, r);
        }
        let locs: Vec<Loc> = func
            .params(b)
            .map(|p| match self.state.reg(p) {
                Some(r) => Loc::reg(r),
                None if self.plan.memory_param.contains(p) => self.slots.of(p),
                None => Loc::NONE,
            })
            .collect();
        self.out.block_param_locs_mut(b).copy_from_slice(&locs);
        for p in func.params(b) {
            self.store(first, Side::Before, p);
        }
        if !func.pred_edges(b).is_empty() {
            self.entry[b] = Some(self.state.snapshot());
            for &e in func.pred_edges(b) {
                if self.exit[func.edge(e).from].is_some() {
                    self.resolve(e);
                }
            }
        }
        Ok(())
    }

    /// Records a value's new register.
    pub(super) fn take(&mut self, v: Value, r: PhysReg) {
        self.state.put(v, r);
        self.last[v] = r.num;
    }

    /// What is in flight on an edge stays where it is, under the name that it has here.
    fn keep_flying(&mut self, b: Block) {
        let func = self.a.func;
        if self.a.live.flight().is_empty() {
            return;
        }
        let first_param = func.params(b).next().map_or(u32::MAX, |p| p.0);
        for v in self.a.live.flight().at_entry(b).into_iter().flatten() {
            let own = func.def(v) == ValueDef::Param(b);
            for &e in func.pred_edges(b) {
                let from = func.edge(e).from;
                let name = match own {
                    true => func.edge_args(e)[(v.0 - first_param) as usize].value(),
                    false => Some(v),
                };
                let Some(name) = name.filter(|n| self.flying[from].binary_search(n).is_ok()) else { continue };
                let at = self.exit[from].iter().flatten().find(|h| h.value == name).map(|h| h.reg);
                if let Some(r) = at.filter(|r| self.state.free_set(r.class).contains(r.num as u32)) {
                    if self.state.reg(v).is_none() {
                        self.take(v, r);
                    }
                }
            }
        }
    }

    fn region_params(&mut self, b: Block, first: Inst) -> Result<(), NoPlace> {
        let func = self.a.func;
        let region = func.block(b).region;
        for (k, &o) in func.param_operands(b).iter().enumerate() {
            let base = self.calls[region.0 as usize].params[k];
            for (l, lane) in func.lanes(o).enumerate() {
                let v = lane.value().expect("a parameter is a value");
                if !self.a.live.is_used(v) {
                    continue;
                }
                let r = PhysReg::new(base.class, base.num + l as u16);
                if self.home(v) != r.class || !self.state.free_set(r.class).contains(r.num as u32) {
                    return Err(NoPlace(first));
                }
                self.take(v, r);
            }
        }
        Ok(())
    }

    /// Places runs of parameters that a wide operand of the loop wants side by side.
    fn header_groups(&mut self, b: Block, base: Option<Edge>, inherited: RegSet) {
        let func = self.a.func;
        let wanted = |s: &Self, v: Value| {
            s.home(v) == RegClass::R
                && func.class(v) == RegClass::R
                && s.a.live.is_used(v)
                && s.enters(b, v)
                && s.state.reg(v).is_none()
        };
        let first_param = match func.params(b).next() {
            Some(p) => p.0,
            None => return,
        };
        let count = func.params(b).len() as u32;
        let is_param = |v: Value| (first_param..first_param + count).contains(&v.0);
        // Widest operands first, then by parameter.
        let mut groups: Vec<(usize, Value)> = func
            .params(b)
            .filter(|&p| wanted(self, p))
            .filter_map(|p| self.a.hints.wide_use(p).map(|w| (w.operand.len(), p)))
            .collect();
        groups.sort_by_key(|&(len, p)| (std::cmp::Reverse(len), p));
        for (_, p) in groups {
            if !wanted(self, p) {
                continue;
            }
            let w = self.a.hints.wide_use(p).expect("listed because it has one");
            let mut members = vec![(w.lane as usize, p)];
            members.extend(Hints::partners(func, &w).filter(|&(_, v)| is_param(v) && wanted(self, v) && v != p));
            members.sort_unstable();
            // A value in two lanes is placed for the first.
            let mut seen: Vec<Value> = Vec::new();
            members.retain(|m| {
                !seen.contains(&m.1) && {
                    seen.push(m.1);
                    true
                }
            });
            let (len, align) = (w.operand.len() as u32, w.operand.align());
            let free = self.state.free_set(RegClass::R);
            let starts = free.run_starts(len, align);
            // Where the arguments stand already, side by side.
            let from_args = base.and_then(|e| {
                let args = func.edge_args(e);
                let at = |v: Value| {
                    let x = args[(v.0 - first_param) as usize].value()?;
                    (self.last[x] != u16::MAX && self.home(x) == RegClass::R).then_some(self.last[x] as u32)
                };
                let first = at(members[0].1)?.checked_sub(members[0].0 as u32)?;
                members.iter().all(|&(k, v)| at(v) == Some(first + k as u32)).then_some(first)
            });
            let base = from_args
                .filter(|&x| starts.contains(x))
                .or_else(|| free.without(inherited).run_starts(len, align).first())
                .or_else(|| starts.first());
            if let Some(base) = base {
                for &(k, v) in &members {
                    self.take(v, PhysReg::r((base + k as u32) as u16));
                }
            }
        }
    }

    pub(super) fn leave(&mut self, b: Block) {
        let func = self.a.func;
        let edges = func.succ_edges(b);
        if edges.len() == 0 {
            // Marks the block as visited; nobody reads the state.
            self.exit[b] = Some(Vec::new());
            return;
        }
        self.waiting[b] = edges.len() as u32;
        self.exit[b] = Some(self.state.snapshot());
        for e in edges {
            if self.entry[func.edge(e).to].is_some() {
                self.resolve(e);
            }
        }
    }
}
