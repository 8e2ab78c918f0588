//! Coloring in dominance order, with repair by parallel copies.
//!
//! Input: the analyses, a [`SpillPlan`] whose counts fit, and the file sizes. Output: an [`AllocatedFunction`].
//! Blocks are visited in linear order; the state is which value each register holds. An operand usually finds its run in
//! place and a result an aligned hole; where not, a parallel copy before the instruction puts everything where it has to
//! be ([`place`]): since values that only live through may move, whatever fits point by point is allocated (the
//! guarantee of NAK's and ACO's allocators, on the shapes of `fatpoint_pressure::demand`). A block takes over the state
//! of one predecessor, and the edges bring the others into agreement ([`edges`]).
//!
//! For single units without constraints this is the classic result that an SSA program needs no more than its largest
//! number of live values (Hack and others 2006); runs, ties and fixed registers are what the repair is for.

mod edges;
mod entry;
mod inst;
mod place;
mod state;

use crate::analysis::{Analysis, PREDICATES};
use crate::slots::Slots;
use crate::spill::SpillPlan;
use fatpoint_ir::assigned::{AllocatedFunction, Edit, EditPoint, Loc, Side};
use fatpoint_ir::{Block, EntitySet, EntityVec, Inst, PerClass, PhysReg, RegClass, Region, Value, ValueDef};
use fatpoint_pressure::flight::{FlightUses, Groups};
use fatpoint_pressure::{universe, CallInfo, RegSet};
use state::{Held, State};

/// An instruction that found no place although its counts fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoPlace(pub Inst);

/// The files of one attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Files {
    /// General registers numbered from 0, R1 among them.
    pub general: u32,
    /// Keep R1 out.
    pub reserve_r1: bool,
}

impl Files {
    /// Registers of a class that values may take.
    pub fn universe(&self, class: RegClass) -> RegSet {
        match class {
            RegClass::R => universe(self.general.min(255), self.reserve_r1),
            RegClass::P => RegSet::below(PREDICATES),
            _ => RegSet::EMPTY,
        }
    }
}

/// The state at a block's entry or exit.
type Snapshot = Vec<Held>;

struct Scan<'a, 'p> {
    a: &'a Analysis<'a>,
    plan: &'p SpillPlan,
    slots: &'p Slots,
    calls: Vec<CallInfo>,
    universe: PerClass<RegSet>,
    out: AllocatedFunction<'a>,
    state: State,
    /// Values that may not move now: in flight.
    groups: Groups,
    /// What flies at the end of each visited block, sorted.
    flying: EntityVec<Block, Vec<Value>>,
    /// Values whose flight ends at some wait: they are stored there and not where they are defined.
    waited: EntitySet<Value>,
    /// An edge that would have to move a value in flight: the first instruction behind it.
    moved_in_flight: Option<Inst>,
    entry: EntityVec<Block, Option<Snapshot>>,
    exit: EntityVec<Block, Option<Snapshot>>,
    /// Edges of a block's exit not yet resolved.
    waiting: EntityVec<Block, u32>,
    /// Register that a value last had: a hint for parameters and their arguments.
    last: EntityVec<Value, u16>,
    scratch_slots: u32,
    /// Most registers that coloring has named, a tie-break toward few.
    pinned: RegSet,
}

/// Allocates every region, callees first.
///
/// # Errors
/// [`NoPlace`] where values that may not move are in the way of an instruction's operands.
pub fn color<'a>(
    a: &'a Analysis<'a>,
    plan: &SpillPlan,
    slots: &Slots,
    calls: &[CallInfo],
    files: Files,
    region: Region,
    into: AllocatedFunction<'a>,
) -> Result<AllocatedFunction<'a>, NoPlace> {
    let func = a.func;
    let mut universe = PerClass([RegSet::EMPTY; 5]);
    for c in RegClass::ALL {
        universe[c] = files.universe(c);
    }
    let mut scan = Scan {
        a,
        plan,
        slots,
        calls: calls.to_vec(),
        universe,
        out: into,
        state: State::new(func, universe),
        groups: Groups::new(),
        flying: EntityVec::filled(func.num_blocks(), Vec::new()),
        waited: {
            let mut set = EntitySet::with_capacity(func.num_values());
            for (_, v) in a.live.flight().iter() {
                set.insert(v);
            }
            set
        },
        moved_in_flight: None,
        entry: EntityVec::filled(func.num_blocks(), None),
        exit: EntityVec::filled(func.num_blocks(), None),
        waiting: EntityVec::filled(func.num_blocks(), 0),
        last: EntityVec::filled(func.num_values(), u16::MAX),
        scratch_slots: 0,
        pinned: RegSet::EMPTY,
    };
    for b in func.region_blocks(region) {
        scan.block(b)?;
    }
    let used = scan.slots.count() + scan.scratch_slots;
    scan.out.local_slots = scan.out.local_slots.max(used);
    Ok(scan.out)
}

impl Scan<'_, '_> {
    /// The file that a value lives in: its class's, or the general one for a spilled predicate.
    #[inline]
    fn home(&self, v: Value) -> RegClass {
        if self.a.predicates.contains(v) {
            RegClass::R
        } else {
            self.a.func.class(v)
        }
    }

    fn edit(&mut self, i: Inst, side: Side, e: Edit) {
        self.out.edits.push((EditPoint { pos: i.0, side }, e));
    }

    fn block(&mut self, b: Block) -> Result<(), NoPlace> {
        let func = self.a.func;
        self.enter(b)?;
        self.groups = self.a.live.flight().at_entry(b);
        self.update_pinned();
        let flies = !self.a.live.flight().is_empty();
        for i in func.block_insts(b) {
            self.inst(b, i)?;
            if flies {
                FlightUses::advance(func, i, &mut self.groups);
                for v in self.a.live.flight().at(i).collect::<Vec<_>>() {
                    self.store_now(i, Side::After, v);
                    if self.a.live.ends_in_flight(func, b, i, v) {
                        self.state.free(v);
                    }
                }
                self.update_pinned();
            }
        }
        if flies {
            self.flying[b] = self.groups.iter().flatten().copied().collect();
            self.flying[b].sort_unstable();
        }
        self.leave(b);
        match self.moved_in_flight {
            Some(i) => Err(NoPlace(i)),
            None => Ok(()),
        }
    }

    /// Registers of values in flight.
    fn update_pinned(&mut self) {
        self.pinned = RegSet::EMPTY;
        for g in &self.groups {
            for &v in g {
                if let Some(r) = self.state.reg(v) {
                    self.pinned.insert(r.num as u32);
                }
            }
        }
    }

    /// True when the value is one that the plan stores right after its definition.
    fn stored_at_def(&self, v: Value) -> bool {
        self.plan.spilled.contains(v) && !self.plan.memory_param.contains(v)
    }

    /// Stores a value that was just defined, if the plan wants it in memory.
    fn store(&mut self, i: Inst, side: Side, v: Value) {
        if !self.waited.contains(v) {
            self.store_now(i, side, v);
        }
    }

    fn store_now(&mut self, i: Inst, side: Side, v: Value) {
        if self.stored_at_def(v) {
            if let Some(from) = self.state.reg(v) {
                let to = self.slots.of(v);
                self.edit(i, side, Edit::Spill { from, to });
            }
        }
    }

    /// The register that a single value would like among `free`, by hints; always one of them.
    fn pick(&self, v: Value, free: RegSet) -> Option<PhysReg> {
        let class = self.home(v);
        if free.is_empty() {
            return None;
        }
        if class != RegClass::R {
            if let Some(r) = self.wish(v).filter(|&r| free.contains(r as u32)) {
                return Some(PhysReg::new(class, r));
            }
            return free.first().map(|r| PhysReg::new(class, r as u16));
        }
        // A chain of tied operands ends in a parameter: in its register there is nothing to move, and what is in flight
        // could not be moved.
        if let Some(p) = self.a.hints.goal(v) {
            let r = self.last[p];
            if r != u16::MAX && self.home(p) == RegClass::R && free.contains(r as u32) {
                return Some(PhysReg::r(r));
            }
        }
        if let Some(r) = self.wide_wish(v, free) {
            return Some(PhysReg::r(r as u16));
        }
        if let Some(r) = self.wish(v).filter(|&r| free.contains(r as u32)) {
            return Some(PhysReg::r(r));
        }
        // A register whose pair, then whose quad, is partly taken; else the lowest: whole runs stay free.
        let taken = self.universe[class].without(free).or(RegSet::one(1));
        let even = RegSet::multiples(2);
        let mates = taken.and(even).shifted(1).or(taken.without(even).shifted_down(1));
        let r = free.and(mates).first().or_else(|| {
            let quad = RegSet::multiples(4);
            let any = taken.or(taken.shifted_down(1)).or(taken.shifted_down(2)).or(taken.shifted_down(3)).and(quad);
            let wide = any.or(any.shifted(1)).or(any.shifted(2)).or(any.shifted(3));
            free.and(wide).first()
        });
        r.or_else(|| free.first()).map(|r| PhysReg::r(r as u16))
    }

    /// The register of the parameter that the value is passed to, or that an argument of this parameter had.
    fn wish(&self, v: Value) -> Option<u16> {
        let near = |r: u16| (r != u16::MAX).then_some(r);
        if let Some(p) = self.a.hints.param(v) {
            if self.home(p) == self.home(v) {
                if let Some(r) = near(self.last[p]) {
                    return Some(r);
                }
            }
        }
        if let ValueDef::Param(b) = self.a.func.def(v) {
            let at = (v.0 - self.a.func.params(b).next()?.0) as usize;
            for &e in self.a.func.pred_edges(b) {
                if let Some(x) = self.a.func.edge_args(e)[at].value() {
                    if self.home(x) == self.home(v) {
                        if let Some(r) = near(self.last[x]) {
                            return Some(r);
                        }
                    }
                }
            }
        }
        None
    }

    /// A register from which the next wide operand of the value can be built in place.
    fn wide_wish(&self, v: Value, free: RegSet) -> Option<u32> {
        let w = self.a.hints.wide_use(v)?;
        let (len, align, lane) = (w.operand.len() as u32, w.operand.align(), w.lane as u32);
        let mut wanted: Option<u32> = None;
        let mut placed = false;
        for (k, x) in crate::hints::Hints::partners(self.a.func, &w) {
            let Some(r) = self.state.reg(x).filter(|r| r.class == RegClass::R) else { continue };
            placed = true;
            let Some(base) = (r.num as u32).checked_sub(k as u32) else { continue };
            if base % align == 0 && free.contains(base + lane) {
                wanted = Some(base + lane);
                break;
            }
        }
        if wanted.is_some() || placed && len > 4 {
            return wanted;
        }
        // No partner has a place that serves: a hole for the whole run, near the parameter's place if it has one.
        let starts = free.run_starts(len, align);
        let hint = self.wish(v).and_then(|r| (r as u32).checked_sub(lane)).filter(|&b| starts.contains(b));
        hint.or_else(|| starts.first()).map(|b| b + lane)
    }

    fn set_lane(&mut self, i: Inst, lane: usize, l: Loc) {
        self.out.inst_locs_mut(i)[lane] = l;
    }
}
