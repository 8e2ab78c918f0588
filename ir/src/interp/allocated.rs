//! The machine of an allocated function: register files and slots, with the stale content poisoned.
//!
//! A place holds a word, the value it was last put there for, and whether another live value may share the place. A
//! place whose value is dead by [`super::live`] reads as poison, so that an allocation that relies on what happens to be
//! left in a register shows. A value is alive for a thread from its definition to its last use, within one visit of a
//! block: entering a block makes just its live-in values and parameters alive.
//!
//! Files of warp-wide classes are one for all threads, everything else is a thread's own.

use super::live::{is_param_of, Deaths};
use super::machine::{Handover, Machine};
use crate::assigned::{AllocatedFunction, Edit, EditPoint, Loc, SlotSpace};
use crate::class::{PhysReg, RegClass};
use crate::entity::EntityId;
use crate::function::{Block, Edge, Inst, Value};
use crate::semantics::Word;

/// What a place holds.
#[derive(Clone, Copy)]
struct Place {
    word: Word,
    /// The value it was put there for; none when nothing was.
    tag: Value,
    /// Another live value may be in the same place: it is not poisoned with `tag`.
    shared: bool,
}

const EMPTY: Place = Place { word: Word::POISON, tag: Value::NONE, shared: false };

/// A read of poison: operand lane (number among all lanes of the function) and where it was.
pub type StaleRead = (u32, Loc);

/// Register files and slots of all threads.
pub struct AllocatedMachine<'f> {
    a: &'f AllocatedFunction<'f>,
    deaths: Deaths,
    threads: usize,
    places: Vec<Place>,
    /// Where each register file, then each slot space, starts in `places`.
    start: [usize; 8],
    /// Visit in which a value is alive, by value and thread.
    alive: Vec<u32>,
    visit: Vec<u32>,
    next_visit: u32,
    calls: Vec<Vec<u32>>,
    stale_seen: Vec<bool>,
    /// The first read of poison at each operand lane, in the order they happened.
    pub stale: Vec<StaleRead>,
}

impl<'f> AllocatedMachine<'f> {
    /// Nothing is written yet.
    pub fn new(a: &'f AllocatedFunction<'f>, threads: usize) -> Self {
        let mut sizes = [0usize; 7];
        for c in RegClass::ALL {
            sizes[c as usize] = a.highest(c).map_or(0, |n| n as usize + 1);
        }
        for (_, sig) in a.func.ops().iter() {
            for r in &sig.clobbers {
                let s = &mut sizes[r.class as usize];
                *s = (*s).max(r.num as usize + 1);
            }
        }
        let mut see = |l: Loc| {
            if let Some((space, i)) = l.as_slot() {
                let s = &mut sizes[5 + space as usize];
                *s = (*s).max(i as usize + 1);
            }
        };
        a.locs.iter().chain(&a.param_locs).copied().for_each(&mut see);
        for e in a.edits.iter().map(|(_, e)| e).chain(a.edge_edits.iter().map(|(_, e)| e)) {
            match e {
                Edit::Spill { to, .. } => see(*to),
                Edit::Reload { from, .. } => see(*from),
                Edit::SlotCopy { from, to } => [*from, *to].into_iter().for_each(&mut see),
                Edit::Remat { from, .. } => from.iter().copied().for_each(&mut see),
                Edit::Copy { .. } | Edit::Swap { .. } => {}
            }
        }
        let mut start = [0; 8];
        for k in 0..7 {
            start[k + 1] = start[k] + sizes[k] * threads;
        }
        Self {
            a,
            deaths: Deaths::compute(a),
            threads,
            places: vec![EMPTY; start[7]],
            start,
            alive: vec![0; a.func.num_values() * threads],
            visit: vec![0; threads],
            next_visit: 0,
            calls: vec![Vec::new(); threads],
            stale_seen: vec![false; a.locs.len()],
            stale: Vec::new(),
        }
    }

    /// Position of a place, `None` for no place.
    fn at(&self, loc: Loc, thread: usize) -> Option<usize> {
        if let Some(r) = loc.as_reg() {
            let thread = if r.class.is_warp_wide() { 0 } else { thread };
            return Some(self.start[r.class as usize] + r.num as usize * self.threads + thread);
        }
        let (space, i) = loc.as_slot()?;
        let file = 5 + (space == SlotSpace::Shared) as usize;
        Some(self.start[file] + i as usize * self.threads + thread)
    }

    fn reg(&self, r: PhysReg, thread: usize) -> usize {
        self.at(Loc::reg(r), thread).expect("a register is a place")
    }

    fn is_alive(&self, v: Value, thread: usize) -> bool {
        self.alive[v.index() * self.threads + thread] == self.visit[thread]
    }

    fn revive(&mut self, v: Value, thread: usize) {
        self.alive[v.index() * self.threads + thread] = self.visit[thread];
    }

    fn look(&mut self, lane: u32, loc: Loc, thread: usize) -> Word {
        let word = match self.at(loc, thread) {
            None => Word::POISON,
            Some(at) => {
                let p = self.places[at];
                let dead = p.tag.is_none() || !p.shared && !self.is_alive(p.tag, thread);
                if dead {
                    Word::POISON
                } else {
                    p.word
                }
            }
        };
        if word == Word::POISON && !std::mem::replace(&mut self.stale_seen[lane as usize], true) {
            self.stale.push((lane, loc));
        }
        word
    }

    fn put(&mut self, loc: Loc, v: Value, thread: usize, word: Word) {
        self.revive(v, thread);
        if let Some(at) = self.at(loc, thread) {
            self.places[at] = Place { word, tag: v, shared: false };
        }
    }

    /// The word in `loc` stands for `v` from here on.
    fn retag(&mut self, loc: Loc, v: Value, thread: usize) {
        self.revive(v, thread);
        if let Some(at) = self.at(loc, thread) {
            self.places[at].tag = v;
            self.places[at].shared = false;
        }
    }

    /// Every place that holds the argument of a parameter, not just the parameter's own, holds the parameter from the
    /// edge on. Gives the places that changed hands. Warp-wide files do so with the `first` thread that takes the edge.
    fn copies_of_arguments(&mut self, edge: Edge, thread: usize, first: bool) -> Vec<usize> {
        let mut changed = Vec::new();
        let f = self.a.func;
        let to = f.edge(edge).to;
        let taken: Vec<(Value, Value)> =
            f.params(to).zip(f.edge_args(edge)).filter_map(|(p, l)| Some((l.value()?, p))).collect();
        if taken.is_empty() {
            return changed;
        }
        for file in 0..7 {
            let warp_wide = RegClass::ALL.get(file).is_some_and(|c| c.is_warp_wide());
            if warp_wide && !first {
                continue;
            }
            let thread_at = if warp_wide { 0 } else { thread };
            for at in (self.start[file] + thread_at..self.start[file + 1]).step_by(self.threads) {
                let place = self.places[at];
                if place.tag.is_none() || !place.shared && !self.is_alive(place.tag, thread) {
                    continue;
                }
                let mut takers = taken.iter().filter(|t| t.0 == place.tag).map(|t| t.1);
                let Some(p) = takers.next() else { continue };
                // Where the argument lives on, or several parameters take it, the place is for more than one.
                let stays = self.deaths.live_in(to).binary_search(&place.tag).is_ok() || is_param_of(f, place.tag, to);
                let shared = place.shared || stays || takers.next().is_some();
                self.places[at] = Place { tag: if stays { place.tag } else { p }, shared, ..place };
                changed.push(at);
            }
        }
        changed
    }

    fn lane_range(&self, inst: Inst) -> std::ops::Range<usize> {
        self.a.lane_start[inst.index()] as usize..self.a.lane_start[inst.index() + 1] as usize
    }
}

impl<'f> Machine<'f> for AllocatedMachine<'f> {
    fn inst_at(&self, pos: u32) -> Inst {
        self.a.inst_at(pos)
    }
    fn edits_at(&self, point: EditPoint) -> &'f [(EditPoint, Edit)] {
        self.a.edits_at(point)
    }
    fn edits_on(&self, edge: Edge) -> &'f [(Edge, Edit)] {
        self.a.edits_on(edge)
    }
    fn read(&mut self, lane: u32, _: Value, thread: usize) -> Word {
        self.look(lane, self.a.locs[lane as usize], thread)
    }
    fn read_at(&mut self, lane: u32, loc: Loc, thread: usize) -> Word {
        self.look(lane, loc, thread)
    }
    fn write(&mut self, lane: u32, v: Value, thread: usize, w: Word) {
        self.put(self.a.locs[lane as usize], v, thread, w);
    }
    fn keep(&mut self, lane: u32, v: Value, thread: usize, _: Word) {
        self.retag(self.a.locs[lane as usize], v, thread);
    }
    fn early_clobbers(&mut self, inst: Inst, thread: usize) {
        let sig = self.a.func.sig(inst);
        if !sig.constraints.iter().any(|c| c.1 == crate::op::Constraint::EarlyClobber) {
            return;
        }
        let locs = &self.a.locs[self.lane_range(inst)];
        let mut tied: Vec<Loc> = Vec::new();
        let mut early: Vec<Loc> = Vec::new();
        let mut lane = 0;
        for (k, o) in self.a.func.operands(inst).iter().enumerate() {
            let here = &locs[lane..lane + o.len()];
            lane += o.len();
            if sig.early_clobber(k) {
                early.extend_from_slice(here);
            } else if sig.tied(k).is_some_and(|d| sig.early_clobber(d)) {
                tied.extend_from_slice(here);
            }
        }
        for l in early.into_iter().filter(|l| !tied.contains(l)) {
            if let Some(at) = self.at(l, thread) {
                self.places[at] = EMPTY;
            }
        }
    }
    fn clobbers(&mut self, inst: Inst, thread: usize) {
        let a = self.a;
        for &r in &a.func.sig(inst).clobbers {
            let at = self.reg(r, thread);
            self.places[at] = EMPTY;
        }
    }
    fn enter_kernel(&mut self, param: u32, v: Value, thread: usize, w: Word) {
        self.put(self.a.param_locs[param as usize], v, thread, w);
    }
    fn hand_over(&mut self, to: Handover, v: Value, thread: usize, _: Word) {
        let loc = match to {
            Handover::Lane(lane) => self.a.locs[lane as usize],
            Handover::Param(param) => self.a.param_locs[param as usize],
        };
        self.retag(loc, v, thread);
    }
    fn enter_block(&mut self, b: Block, thread: usize) {
        self.next_visit += 1;
        self.visit[thread] = self.next_visit;
        for &v in self.deaths.live_in(b) {
            self.alive[v.index() * self.threads + thread] = self.next_visit;
        }
        for v in self.a.func.params(b) {
            self.alive[v.index() * self.threads + thread] = self.next_visit;
        }
    }
    fn take_edge(&mut self, edge: Edge, thread: usize, first: bool) {
        let f = self.a.func;
        let to = f.edge(edge).to;
        let args = f.edge_args(edge);
        let retagged = self.copies_of_arguments(edge, thread, first);
        for ((p, &arg), k) in f.params(to).zip(args).zip(self.a.param_start[to.index()]..) {
            if f.class(p).is_warp_wide() && !first {
                continue;
            }
            let Some(at) = self.at(self.a.param_locs[k as usize], thread) else { continue };
            let old = self.places[at];
            let taken = arg.value().is_some() && retagged.contains(&at);
            let stale = !old.shared && !taken && (old.tag.is_none() || !self.is_alive(old.tag, thread));
            let shared = old.tag.some().is_some_and(|t| {
                t != p && (self.deaths.live_in(to).binary_search(&t).is_ok() || is_param_of(f, t, to))
            });
            // A dead argument must not pass for a live parameter; an undefined one may be anything.
            let word = if stale && arg.value().is_some() { Word::POISON } else { old.word };
            self.places[at] = Place { word, tag: p, shared };
        }
    }
    fn end_position(&mut self, pos: u32, thread: usize) {
        for &v in self.deaths.at(pos) {
            self.alive[v.index() * self.threads + thread] = 0;
        }
    }
    fn call(&mut self, thread: usize) {
        self.calls[thread].push(self.visit[thread]);
    }
    fn come_back(&mut self, thread: usize) {
        self.visit[thread] = self.calls[thread].pop().expect("a call for each return");
    }
    fn edit(&mut self, edit: &Edit, thread: usize) {
        let (from, to) = match *edit {
            Edit::Copy { from, to } => (Loc::reg(from), Loc::reg(to)),
            Edit::Spill { from, to } => (Loc::reg(from), to),
            Edit::Reload { from, to } => (from, Loc::reg(to)),
            Edit::SlotCopy { from, to } => (from, to),
            Edit::Swap { a, b } => {
                let (x, y) = (self.reg(a, thread), self.reg(b, thread));
                self.places.swap(x, y);
                return;
            }
            Edit::Remat { .. } => return,
        };
        let place = self.at(from, thread).map_or(EMPTY, |at| self.places[at]);
        if let Some(at) = self.at(to, thread) {
            self.places[at] = place;
        }
    }
    fn rematerialize(&mut self, v: Value, to: PhysReg, thread: usize, w: Word) {
        let at = self.reg(to, thread);
        self.places[at] = Place { word: w, tag: v, shared: false };
    }
}
