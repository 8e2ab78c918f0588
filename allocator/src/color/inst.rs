//! One instruction: operands, results, and what the plan does around it.
//!
//! The fast path finds every run in place and an aligned hole for every result. Where it does not, [`super::place`]
//! says which registers to use and what has to move there first.

use super::place::Placement;
use super::{NoPlace, Scan};
use crate::parallel_copy::{sequentialize, Move, Scratch};
use crate::spill::Action;
use fatpoint_ir::assigned::{Edit, Loc, Side};
use fatpoint_ir::{Block, Inst, OpKind, PhysReg, RegClass, Value};
use fatpoint_pressure::{clobbered, fixed_register, RegSet};

impl Scan<'_, '_> {
    pub(super) fn inst(&mut self, b: Block, i: Inst) -> Result<(), NoPlace> {
        let func = self.a.func;
        if self.plan.entry.is_some() {
            self.actions(i)?;
        }
        let ghosts: Vec<Value> = if self.a.predicates.any() {
            let mut g: Vec<Value> = func.use_values(i).filter(|&v| self.a.predicates.contains(v)).collect();
            g.sort_unstable();
            g.dedup();
            g
        } else {
            Vec::new()
        };
        let has_p = self.touches_predicates(i);
        let r = self.place_class(i, RegClass::R)?;
        let p = if has_p { Some(self.place_class(i, RegClass::P)?) } else { None };
        let parts = [Some(r), p];
        for (part, class) in parts.iter().zip([RegClass::R, RegClass::P]) {
            if let Some(part) = part {
                self.apply_moves(i, part, class);
            }
        }
        // Spilled predicates come back for this instruction.
        let p_temps = parts[1].as_ref().map_or(&[][..], |p| &p.temps);
        for &v in &ghosts {
            let from = parts[0]
                .as_ref()
                .and_then(|r| r.ghosts.iter().find(|g| g.0 == v).map(|g| g.1))
                .or_else(|| self.state.reg(v))
                .ok_or(NoPlace(i))?;
            for &(_, to) in p_temps.iter().filter(|t| t.0 == v) {
                self.edit(i, Side::Before, Edit::Copy { from, to });
            }
        }
        for part in parts.iter().flatten() {
            for &(lane, reg) in &part.lanes {
                self.set_lane(i, lane as usize, Loc::reg(reg));
            }
        }
        self.end_operands(i);
        self.begin_results(b, i, &parts);
        Ok(())
    }

    /// Evictions and reloads that the plan has before an instruction.
    fn actions(&mut self, i: Inst) -> Result<(), NoPlace> {
        let plan = self.plan;
        for &(_, action) in plan.actions_at(i) {
            match action {
                Action::Evict(v) => self.state.free(v),
                Action::Reload(v) => {
                    if self.state.reg(v).is_some() {
                        continue;
                    }
                    let free = self.state.free_set(RegClass::R);
                    let to = self.pick(v, free).ok_or(NoPlace(i))?;
                    let from = self.slots.of(v);
                    self.edit(i, Side::Before, Edit::Reload { from, to });
                    self.take(v, to);
                }
            }
        }
        Ok(())
    }

    fn touches_predicates(&self, i: Inst) -> bool {
        let func = self.a.func;
        if func.kind(i) == OpKind::Call {
            return true;
        }
        let sig = func.sig(i);
        func.operands(i).iter().any(|&o| {
            o.is_register()
                && func.lanes(o).filter_map(|l| l.value()).next().is_some_and(|v| func.class(v) == RegClass::P)
        }) || sig.clobbers.iter().any(|r| r.class == RegClass::P)
    }

    /// The fast path, else the repair.
    fn place_class(&mut self, i: Inst, class: RegClass) -> Result<Placement, NoPlace> {
        if let Some(p) = self.fast(i, class) {
            return Ok(p);
        }
        self.repair(i, class).ok_or(NoPlace(i))
    }

    /// Registers of all operands when nothing has to move, `None` otherwise.
    fn fast(&mut self, i: Inst, class: RegClass) -> Option<Placement> {
        let func = self.a.func;
        let sig = func.sig(i);
        let ops = func.operands(i);
        let defs = func.num_defs(i);
        let plain = sig.constraints.is_empty() && !matches!(sig.props.kind, OpKind::Call | OpKind::Return);
        let universe = self.universe[class];
        let free = self.state.free_set(class);
        let mut out = Placement { read_busy: universe.without(free), ..Placement::default() };
        let mut killed = RegSet::EMPTY;
        let first_use_lane = ops[..defs].iter().map(|o| o.len()).sum::<usize>();
        let mut lane = first_use_lane;
        // Registers of tied uses, by definition operand.
        let mut ties: Vec<(usize, u32)> = Vec::new();
        for (k, &o) in ops.iter().enumerate().skip(defs) {
            let start = lane;
            lane += o.len();
            if !o.is_register() {
                continue;
            }
            let tied = if plain { None } else { sig.tied(k) };
            if o.len() == 1 {
                let Some(v) = func.lane(o, 0).value() else { continue };
                if func.class(v) != class {
                    continue;
                }
                if self.home(v) != class {
                    // A spilled predicate: any predicate register will do, chosen with the results.
                    if tied.is_some() {
                        return None;
                    }
                    if !out.temps.iter().any(|t| t.0 == v) {
                        let r = universe.without(out.read_busy).first()?;
                        out.read_busy.insert(r);
                        out.temps.push((v, PhysReg::new(class, r as u16)));
                    }
                    let t = out.temps.iter().find(|t| t.0 == v).expect("just added").1;
                    out.lanes.push((start as u32, t));
                    continue;
                }
                let r = self.state.reg(v)?;
                if !plain && fixed_register(func, &self.calls, i, k).is_some_and(|f| f != r) {
                    return None;
                }
                let kills = self.a.live.kills(i, start);
                if kills {
                    killed.insert(r.num as u32);
                }
                if let Some(d) = tied {
                    if !kills || ties.iter().any(|t| t.1 == r.num as u32) {
                        return None;
                    }
                    ties.push((d, r.num as u32));
                }
                out.lanes.push((start as u32, r));
                continue;
            }
            let Some((k0, v0)) = func.lanes(o).enumerate().find_map(|(k, l)| l.value().map(|v| (k, v))) else {
                continue;
            };
            if func.class(v0) != class {
                continue;
            }
            let base = (self.state.reg(v0)?.num as u32).checked_sub(k0 as u32)?;
            if base % o.align() != 0 || !universe.contains(base + o.len() as u32 - 1) {
                return None;
            }
            if !plain && fixed_register(func, &self.calls, i, k).is_some_and(|f| f.num as u32 != base) {
                return None;
            }
            for (l, x) in func.lanes(o).enumerate() {
                let r = base + l as u32;
                match x.value() {
                    Some(v) => {
                        if self.state.reg(v)?.num as u32 != r {
                            return None;
                        }
                        if self.a.live.kills(i, start + l) {
                            killed.insert(r);
                        } else if tied.is_some() {
                            return None;
                        }
                    }
                    None if tied.is_some() || !universe.contains(r) => return None,
                    None => {}
                }
                out.lanes.push(((start + l) as u32, PhysReg::new(class, r as u16)));
            }
            if let Some(d) = tied {
                if ties.iter().any(|t| t.1 == base) {
                    return None;
                }
                ties.push((d, base));
            }
        }
        let clobbers =
            if plain && sig.clobbers.is_empty() { RegSet::EMPTY } else { clobbered(func, &self.calls, i, class) };
        if !clobbers.and(out.read_busy).without(killed).is_empty() {
            return None;
        }
        if defs > 0 {
            self.fast_results(i, class, plain, free, killed, &ties, &mut out)?;
        }
        Some(out)
    }

    /// Holes for all results.
    #[allow(clippy::too_many_arguments)]
    fn fast_results(
        &self,
        i: Inst,
        class: RegClass,
        plain: bool,
        free: RegSet,
        killed: RegSet,
        ties: &[(usize, u32)],
        out: &mut Placement,
    ) -> Option<()> {
        let func = self.a.func;
        let sig = func.sig(i);
        let defs = func.defs(i);
        let mine = |k: usize| func.class(Value(defs[k].payload())) == class;
        let mut lane_of = Vec::with_capacity(defs.len());
        let mut lane = 0u32;
        for o in defs {
            lane_of.push(lane);
            lane += o.len() as u32;
        }
        let mut taken = RegSet::EMPTY;
        let put = |k: usize, base: u32, taken: &mut RegSet, out: &mut Placement| {
            *taken = taken.or(RegSet::span(base, defs[k].len() as u32));
            for l in 0..defs[k].len() as u32 {
                out.lanes.push((lane_of[k] + l, PhysReg::new(class, (base + l) as u16)));
            }
        };
        // Tied and fixed ones have no choice.
        for &(k, base) in ties {
            let span = RegSet::span(base, defs[k].len() as u32);
            if base % defs[k].align() != 0 || !span.and(taken).is_empty() {
                return None;
            }
            put(k, base, &mut taken, out);
        }
        let tied = |k: usize| ties.iter().any(|t| t.0 == k);
        if !plain {
            for k in (0..defs.len()).filter(|&k| mine(k) && !tied(k)) {
                if let Some(f) = fixed_register(func, &self.calls, i, k) {
                    let span = RegSet::span(f.num as u32, defs[k].len() as u32);
                    if !span.without(free.or(killed)).is_empty() || !span.and(taken).is_empty() {
                        return None;
                    }
                    put(k, f.num as u32, &mut taken, out);
                }
            }
        }
        let mut order: Vec<usize> = (0..defs.len())
            .filter(|&k| mine(k) && !tied(k) && (plain || fixed_register(func, &self.calls, i, k).is_none()))
            .collect();
        if order.len() > 1 {
            order.sort_by_key(|&k| (std::cmp::Reverse(defs[k].len()), k));
        }
        for k in order {
            let early = !plain && sig.early_clobber(k);
            let avail = if early { free } else { free.or(killed) }.without(taken);
            let avail = if class == RegClass::P && early { avail.without(out.read_busy) } else { avail };
            let v = Value(defs[k].payload());
            let base = if defs[k].len() == 1 {
                self.pick_result(v, avail)?
            } else {
                self.pick_run(v, defs[k].len() as u32, defs[k].align(), avail)?
            };
            put(k, base, &mut taken, out);
        }
        Some(())
    }

    /// A register for a single result; a spilled predicate's passes through any predicate.
    pub(super) fn pick_result(&self, v: Value, avail: RegSet) -> Option<u32> {
        if self.home(v) != self.a.func.class(v) {
            return avail.first();
        }
        self.pick(v, avail).map(|r| r.num as u32)
    }

    /// A start for a run of results: the place of the parameters they are passed to, or of a wider operand that they
    /// are part of, else the lowest hole that no wider one needs.
    pub(super) fn pick_run(&self, first: Value, len: u32, align: u32, avail: RegSet) -> Option<u32> {
        let starts = avail.run_starts(len, align);
        if let Some(w) = self.wish(first).filter(|&r| starts.contains(r as u32)) {
            return Some(w as u32);
        }
        if let Some(w) = self.wide_wish(first, avail).filter(|&r| starts.contains(r)) {
            return Some(w);
        }
        starts.first()
    }

    /// Emits the parallel copy of a repair and moves the state along.
    fn apply_moves(&mut self, i: Inst, part: &Placement, class: RegClass) {
        let Some(homes) = &part.homes else { return };
        if !part.moves.is_empty() {
            let mut used = RegSet::EMPTY;
            for h in self.state.held(class) {
                used.insert(h.reg.num as u32);
            }
            for m in &part.moves {
                used.insert(m.1.num as u32);
            }
            let free = self.universe[class].without(used);
            let mut scratch = Scratch {
                free_r: if class == RegClass::R { free } else { self.state.free_set(RegClass::R) },
                free_p: if class == RegClass::P { free } else { RegSet::EMPTY },
                any_r: self.universe[RegClass::R],
                slot: self.slots.count(),
                used_slots: 0,
            };
            let moves: Vec<Move> =
                part.moves.iter().map(|&(from, to)| Move { from: Loc::reg(from), to: Loc::reg(to) }).collect();
            let mut edits = Vec::new();
            sequentialize(&moves, &mut scratch, &mut edits);
            self.scratch_slots = self.scratch_slots.max(scratch.used_slots);
            for e in edits {
                self.edit(i, Side::Before, e);
            }
        }
        let held: Vec<Value> = self.state.held(class).map(|h| h.value).collect();
        for v in held {
            self.state.free(v);
        }
        for &(v, r) in homes {
            self.take(v, r);
        }
    }

    /// Takes operands that end here out of their registers.
    fn end_operands(&mut self, i: Inst) {
        let func = self.a.func;
        let defs = func.num_defs(i);
        let mut lane = func.defs(i).iter().map(|o| o.len()).sum::<usize>();
        for &o in &func.operands(i)[defs..] {
            for l in func.lanes(o) {
                if let Some(v) = l.value() {
                    if self.a.live.kills(i, lane) {
                        self.state.free(v);
                    }
                }
                lane += 1;
            }
        }
    }

    /// Puts results into their registers; spilled ones are stored, spilled predicates converted.
    fn begin_results(&mut self, _b: Block, i: Inst, parts: &[Option<Placement>; 2]) {
        let func = self.a.func;
        let n = func.def_values(i).len();
        if n == 0 {
            return;
        }
        let first = func.def_values(i).next().expect("it defines something");
        let mut converted: Vec<(Value, PhysReg)> = Vec::new();
        for part in parts.iter().flatten() {
            for &(lane, reg) in part.lanes.iter().filter(|l| (l.0 as usize) < n) {
                let v = Value(first.0 + lane);
                if !self.a.live.is_used(v) {
                    continue;
                }
                if self.home(v) == reg.class {
                    self.take(v, reg);
                } else {
                    converted.push((v, reg));
                }
            }
        }
        for (v, from) in converted {
            let to = self.pick(v, self.state.free_set(RegClass::R)).expect("demand counts a register for it");
            self.edit(i, Side::After, Edit::Copy { from, to });
            self.take(v, to);
        }
        for v in func.def_values(i) {
            if self.a.live.is_used(v) {
                self.store(i, Side::After, v);
            }
        }
    }
}
