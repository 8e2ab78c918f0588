//! The repair: registers for an instruction whose operands are not in place, and the moves that take them there.
//!
//! Runs come first: each takes the start that needs the fewest moves, counting lanes that are elsewhere and values that
//! it displaces. If the rest does not fit around them, the runs are packed again from scratch as
//! `fatpoint_pressure::demand` counts them, so that whatever passes the demand is placed. Then single values stay where
//! they are if nothing else needs the register, or move to a free one.

use super::Scan;
use crate::spill::predicate_units;
use fatpoint_ir::{Inst, PhysReg, RegClass, Value};
use fatpoint_pressure::{pack, RegSet, Shape, ShapeBuilder};

/// Registers of one class for one instruction.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// Register of each operand lane of the class (lanes counted over all operands).
    pub lanes: Vec<(u32, PhysReg)>,
    /// Moves, meant at once, that make it so: from, to.
    pub moves: Vec<(PhysReg, PhysReg)>,
    /// Where the values of the class are after the moves, those that end here left out; `None` when nothing moves.
    pub homes: Option<Vec<(Value, PhysReg)>>,
    /// Predicate registers for spilled predicates that the instruction reads.
    pub temps: Vec<(Value, PhysReg)>,
    /// Where spilled predicates that end here stand after the moves.
    pub ghosts: Vec<(Value, PhysReg)>,
    /// Registers that hold something when operands are read.
    pub read_busy: RegSet,
}

/// A single value that needs a register beside the runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Need {
    /// Held at both points: it lives on.
    Stays,
    /// Read and then overwritten by this tied result.
    Tied(u16),
    /// An early result with no operand, by operand index.
    Early(u16),
    /// Ends here.
    Ends,
}

impl Scan<'_, '_> {
    pub(super) fn repair(&mut self, i: Inst, class: RegClass) -> Option<Placement> {
        let a = self.a;
        let (ended, results) = if class == RegClass::R { predicate_units(a, i) } else { (0, 0) };
        let calls = self.calls.clone();
        let mut builder = ShapeBuilder::new(a.func, &a.live, class).with_calls(&calls);
        let shape = builder.shape(i, ended, results).clone();
        let greedy = self.greedy_bases(i, class, &shape);
        if let Some(p) = greedy.and_then(|bases| self.finish(i, class, &shape, &bases)) {
            return Some(p);
        }
        // Registers in flight keep their values; runs that are in flight themselves keep their place.
        let own: RegSet = self
            .pinned_runs(i, class, &shape)
            .into_iter()
            .flatten()
            .map(|(b, l)| RegSet::span(b, l))
            .fold(RegSet::EMPTY, RegSet::or);
        let pinned = if class == RegClass::R { self.pinned.without(own) } else { RegSet::EMPTY };
        let regs = self.universe[class].without(pinned);
        let through = self.through(i, class).filter(|h| !pinned.contains(h.1.num as u32)).count() as u32;
        let mut packed = shape.clone();
        for (k, at) in self.pinned_runs(i, class, &shape).into_iter().enumerate() {
            if let Some((base, _)) = at {
                packed.runs[k].fixed = Some(base);
            }
        }
        let bases = pack(&packed, through, regs)?;
        self.finish(i, class, &shape, &bases)
    }

    /// Held values of the class that are no operands of the instruction.
    fn through(&self, i: Inst, class: RegClass) -> impl Iterator<Item = (Value, PhysReg)> + '_ {
        let func = self.a.func;
        let operands: Vec<Value> = func.use_values(i).collect();
        self.state.held(class).filter(move |h| !operands.contains(&h.value)).map(|h| (h.value, h.reg))
    }

    /// The value that a run holds in a lane while operands are read.
    fn run_value(&self, i: Inst, shape: &Shape, run: usize, lane: usize) -> Option<Value> {
        let func = self.a.func;
        let defs = func.num_defs(i);
        let k = shape.runs[run].operands.iter().map(|&k| k as usize).find(|&k| k >= defs)?;
        func.lane(func.operands(i)[k], lane).value()
    }

    /// For each run, where it must stay because a lane of it is in flight.
    fn pinned_runs(&self, i: Inst, class: RegClass, shape: &Shape) -> Vec<Option<(u32, u32)>> {
        (0..shape.runs.len())
            .map(|k| {
                if class != RegClass::R || self.pinned.is_empty() {
                    return None;
                }
                (0..shape.runs[k].len as usize).find_map(|l| {
                    let v = self.run_value(i, shape, k, l)?;
                    let r = self.state.reg(v)?.num as u32;
                    (self.pinned.contains(r)).then(|| (r.wrapping_sub(l as u32), shape.runs[k].len))
                })
            })
            .collect()
    }

    /// A start for each run with the fewest moves, widest alignment first.
    fn greedy_bases(&self, i: Inst, class: RegClass, shape: &Shape) -> Option<Vec<u32>> {
        let universe = self.universe[class];
        let mut bases = vec![u32::MAX; shape.runs.len()];
        let (mut read, mut write) = (RegSet::EMPTY, shape.clobbers);
        let pinned_at = self.pinned_runs(i, class, shape);
        let mut order: Vec<usize> = (0..shape.runs.len()).collect();
        order.sort_by_key(|&k| {
            let r = &shape.runs[k];
            let forced = r.fixed.is_some() || pinned_at[k].is_some();
            (!forced, std::cmp::Reverse(r.align), std::cmp::Reverse(r.len), r.read.is_empty(), k)
        });
        // Registers whose values outlive the instruction: displacing one costs a move.
        let mut lasting = RegSet::EMPTY;
        let func = self.a.func;
        let ended: Vec<Value> = self.ended(i);
        for h in self.state.held(class) {
            if !ended.contains(&h.value) {
                lasting.insert(h.reg.num as u32);
            }
        }
        let held = universe.without(self.state.free_set(class));
        for k in order {
            let r = &shape.runs[k];
            let cost = |base: u32| -> Option<u32> {
                let span = RegSet::span(base, r.len);
                if base + r.len > 256 || !span.without(universe).is_empty() {
                    return None;
                }
                let (rd, wr) = (r.read.shifted(base), r.write.shifted(base));
                if !rd.and(read).is_empty() || r.fixed.is_none() && !wr.and(write).is_empty() {
                    return None;
                }
                let mut own = RegSet::EMPTY;
                let mut moves = 0;
                for l in 0..r.len as usize {
                    if let Some(v) = self.run_value(i, shape, k, l) {
                        if self.state.reg(v).is_some_and(|x| x.num as u32 == base + l as u32) {
                            own.insert(base + l as u32);
                        } else {
                            moves += 2;
                        }
                    }
                }
                if class == RegClass::R && !rd.or(wr).without(own).and(self.pinned).is_empty() {
                    return None;
                }
                moves += 2 * rd.without(own).and(held).count();
                moves += 2 * wr.without(rd).without(own).and(lasting).count();
                Some(moves)
            };
            let base = match (r.fixed, pinned_at[k]) {
                (Some(f), _) | (None, Some((f, _))) => cost(f).map(|_| f)?,
                (None, None) => {
                    let hint = r
                        .operands
                        .iter()
                        .find(|&&o| (o as usize) < func.num_defs(i))
                        .and_then(|&o| self.wish(Value(func.operands(i)[o as usize].payload())).map(|r| r as u32));
                    let last = 256u32.checked_sub(r.len)? / r.align;
                    let best = (0..=last)
                        .map(|x| x * r.align)
                        .filter_map(|b| cost(b).map(|c| (c * 2 + u32::from(hint != Some(b)), b)))
                        .min()?;
                    best.1
                }
            };
            bases[k] = base;
            read = read.or(r.read.shifted(base));
            write = write.or(r.write.shifted(base));
        }
        Some(bases)
    }

    /// Operand values that end at the instruction.
    fn ended(&self, i: Inst) -> Vec<Value> {
        let func = self.a.func;
        let mut out = Vec::new();
        let mut lane = func.defs(i).iter().map(|o| o.len()).sum::<usize>();
        for &o in func.uses(i) {
            for l in func.lanes(o) {
                if let Some(v) = l.value() {
                    if self.a.live.kills(i, lane) && !out.contains(&v) {
                        out.push(v);
                    }
                }
                lane += 1;
            }
        }
        out
    }

    /// Places everything else around the runs.
    fn finish(&self, i: Inst, class: RegClass, shape: &Shape, bases: &[u32]) -> Option<Placement> {
        let func = self.a.func;
        let sig = func.sig(i);
        let ops = func.operands(i);
        let defs = func.num_defs(i);
        let universe = self.universe[class];
        let ended = self.ended(i);
        let mut out = Placement { homes: Some(Vec::new()), ..Placement::default() };
        let mut homes: Vec<(Value, PhysReg)> = Vec::new();
        let mut reads: Vec<(Value, u32)> = Vec::new();
        let (mut read, mut write) = (RegSet::EMPTY, shape.clobbers);
        let reg = |r: u32| PhysReg::new(class, r as u16);
        let mut lane_start = Vec::with_capacity(ops.len());
        let mut lane = 0u32;
        for o in ops {
            lane_start.push(lane);
            lane += o.len() as u32;
        }
        // Runs.
        for (k, r) in shape.runs.iter().enumerate() {
            let base = bases[k];
            let own_result = r.operands.iter().any(|&o| (o as usize) < defs);
            for l in 0..r.len {
                if let Some(v) = self.run_value(i, shape, k, l as usize) {
                    reads.push((v, base + l));
                    if !own_result && r.write.contains(l) {
                        homes.push((v, reg(base + l)));
                    }
                }
            }
            for &o in &r.operands {
                for l in 0..r.len {
                    out.lanes.push((lane_start[o as usize] + l, reg(base + l)));
                }
            }
            read = read.or(r.read.shifted(base));
            write = write.or(r.write.shifted(base));
        }
        // Single values that need a register of their own.
        let mut singles: Vec<(Need, Value)> = Vec::new();
        let in_run = |k: usize| shape.runs.iter().any(|r| r.operands.contains(&(k as u16)));
        let mut seen: Vec<Value> = homes.iter().map(|h| h.0).collect();
        for (v, _) in self.through(i, class) {
            singles.push((Need::Stays, v));
        }
        for (k, &o) in ops.iter().enumerate().skip(defs) {
            if o.len() == 1 && !in_run(k) {
                if let (Some(d), Some(v)) = (sig.tied(k), func.lane(o, 0).value()) {
                    if func.class(v) == class {
                        singles.push((Need::Tied(d as u16), v));
                    }
                }
            }
        }
        for (k, &o) in ops.iter().enumerate().skip(defs) {
            let tied = sig.tied(k).is_some();
            for v in func.lanes(o).filter_map(|l| l.value()) {
                let lasts = !ended.contains(&v);
                if func.class(v) != class {
                    // A spilled predicate that ends here still has to be read from this file first.
                    if class == RegClass::R && self.home(v) == class && !seen.contains(&v) {
                        seen.push(v);
                        singles.push((if lasts { Need::Stays } else { Need::Ends }, v));
                    }
                    continue;
                }
                if seen.contains(&v) {
                    continue;
                }
                if lasts && self.home(v) == class {
                    seen.push(v);
                    singles.push((Need::Stays, v));
                } else if !tied && o.len() == 1 && !in_run(k) && !reads.iter().any(|x| x.0 == v) {
                    let tied_elsewhere = singles.iter().any(|s| matches!(s.0, Need::Tied(_)) && s.1 == v);
                    if !tied_elsewhere {
                        seen.push(v);
                        singles.push((Need::Ends, v));
                    }
                }
            }
        }
        // Spilled predicates that live on are in `through` of their file only if they are no operands; see above.
        singles.dedup();
        for (k, o) in ops[..defs].iter().enumerate() {
            let v = Value(o.payload());
            if o.len() == 1 && !in_run(k) && func.class(v) == class && sig.early_clobber(k) {
                let tied = singles.iter().any(|s| s.0 == Need::Tied(k as u16));
                if !tied {
                    singles.push((Need::Early(k as u16), v));
                }
            }
        }
        let pinned =
            |v: Value| class == RegClass::R && self.state.reg(v).is_some_and(|r| self.pinned.contains(r.num as u32));
        let at = |v: Value| self.state.reg(v).filter(|r| r.class == class).map(|r| r.num as u32);
        let mut results: Vec<(usize, u32)> = Vec::new();
        let mut put = |need: Need, v: Value, r: u32, read: &mut RegSet, write: &mut RegSet, out: &mut Placement| {
            read.insert(r);
            match need {
                Need::Stays => {
                    write.insert(r);
                    homes.push((v, reg(r)));
                    reads.push((v, r));
                }
                Need::Tied(d) => {
                    write.insert(r);
                    results.push((d as usize, r));
                    reads.push((v, r));
                    for (k, &o) in ops.iter().enumerate().skip(defs) {
                        if sig.tied(k) == Some(d as usize) && o.len() == 1 {
                            out.lanes.push((lane_start[k], reg(r)));
                        }
                    }
                    if self.home(v) != class {
                        out.temps.push((v, reg(r)));
                    }
                }
                Need::Early(d) => {
                    write.insert(r);
                    results.push((d as usize, r));
                }
                Need::Ends => {
                    reads.push((v, r));
                    if self.home(v) != class {
                        out.temps.push((v, reg(r)));
                    }
                    if func.class(v) != class {
                        out.ghosts.push((v, reg(r)));
                    }
                }
            }
        };
        // Values in flight cannot move; then those that stay where they are; then those that must find a place.
        let mut left: Vec<(Need, Value)> = Vec::new();
        for &(need, v) in singles.iter().filter(|s| pinned(s.1)) {
            let r = at(v).expect("a pinned value has a register");
            if read.contains(r) || write.contains(r) {
                return None;
            }
            put(need, v, r, &mut read, &mut write, &mut out);
        }
        for &(need, v) in singles.iter().filter(|s| !pinned(s.1) && s.0 == Need::Stays) {
            match at(v) {
                Some(r) if !read.contains(r) && !write.contains(r) => put(need, v, r, &mut read, &mut write, &mut out),
                _ => left.push((need, v)),
            }
        }
        for &(need, v) in singles.iter().filter(|s| !pinned(s.1) && matches!(s.0, Need::Tied(_) | Need::Early(_))) {
            let dies = ended.contains(&v);
            match at(v) {
                Some(r) if dies && !read.contains(r) && !write.contains(r) => {
                    put(need, v, r, &mut read, &mut write, &mut out)
                }
                _ => left.push((need, v)),
            }
        }
        // Registers of operands that end here are taken only when there is no other.
        let soft: RegSet = singles.iter().filter(|s| s.0 == Need::Ends).filter_map(|s| at(s.1)).collect();
        for (need, v) in left {
            let free = universe.without(read.or(write));
            let calm = free.without(soft);
            let r = match need {
                Need::Tied(d) | Need::Early(d) => {
                    let result = Value(ops[d as usize].payload());
                    self.pick_result(result, calm).or_else(|| self.pick_result(result, free))?
                }
                _ => self.pick(v, calm).or_else(|| self.pick(v, free))?.num as u32,
            };
            put(need, v, r, &mut read, &mut write, &mut out);
        }
        for &(need, v) in singles.iter().filter(|s| !pinned(s.1) && s.0 == Need::Ends) {
            let r = match at(v).filter(|&r| self.home(v) == class && !read.contains(r)) {
                Some(r) => r,
                None => {
                    // Rather where a result is written anyway.
                    let free = universe.without(read);
                    free.and(write).first().or_else(|| free.first())?
                }
            };
            put(need, v, r, &mut read, &mut write, &mut out);
        }
        // Plain single results.
        for (k, o) in ops[..defs].iter().enumerate() {
            let v = Value(o.payload());
            if o.len() != 1 || in_run(k) || func.class(v) != class || results.iter().any(|x| x.0 == k) {
                continue;
            }
            let r = self.pick_result(v, universe.without(write))?;
            write.insert(r);
            results.push((k, r));
        }
        for &(k, r) in &results {
            out.lanes.push((lane_start[k], reg(r)));
        }
        // Operand lanes that share a run or a single register with what is placed.
        self.share_lanes(i, class, shape, &lane_start, &reads, &mut out)?;
        out.read_busy = read;
        for &(v, r) in &reads {
            if let Some(from) = self.state.reg(v).filter(|x| x.class == class) {
                if from.num as u32 != r && !out.moves.contains(&(from, reg(r))) {
                    out.moves.push((from, reg(r)));
                }
            }
        }
        out.homes = Some(homes);
        Some(out)
    }

    /// Registers of operands that are no run of the shape: single reads, and repeated runs.
    fn share_lanes(
        &self,
        i: Inst,
        class: RegClass,
        shape: &Shape,
        lane_start: &[u32],
        reads: &[(Value, u32)],
        out: &mut Placement,
    ) -> Option<()> {
        let func = self.a.func;
        let ops = func.operands(i);
        let defs = func.num_defs(i);
        for (k, &o) in ops.iter().enumerate().skip(defs) {
            let Some(v) = func.lanes(o).find_map(|l| l.value()) else { continue };
            if func.class(v) != class
                || shape.runs.iter().any(|r| r.operands.contains(&(k as u16)))
                || out.lanes.iter().any(|l| l.0 == lane_start[k])
            {
                continue;
            }
            if o.len() == 1 {
                let r = reads.iter().find(|x| x.0 == v)?.1;
                out.lanes.push((lane_start[k], PhysReg::new(class, r as u16)));
                continue;
            }
            // The same lanes as an earlier run, which stands in its place.
            let twin = ops.iter().enumerate().skip(defs).find(|&(u, &p)| {
                u != k
                    && p.len() == o.len()
                    && p.align() >= o.align()
                    && func.lanes(p).eq(func.lanes(o))
                    && shape.runs.iter().any(|r| r.operands.contains(&(u as u16)))
            })?;
            let base = out.lanes.iter().find(|l| l.0 == lane_start[twin.0])?.1;
            for l in 0..o.len() as u32 {
                out.lanes.push((lane_start[k] + l, PhysReg::new(class, base.num + l as u16)));
            }
        }
        Some(())
    }
}
