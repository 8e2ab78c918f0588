//! Symbolic execution of the allocation to a fixed point: does every use find its value?
//!
//! State: location -> set of original values that it holds (George and Appel's simulation as in the checkers of the
//! regalloc2 and regalloc3 allocators, with sets from the start); top for a block not seen yet; meet = intersection.
//! Steps:
//! * an edit moves sets; a conversion between predicate and general registers keeps the predicates alone; a repeated
//!   instruction defines its values when each input location holds the input;
//! * an instruction needs each use lane's value in the lane's location; then clobbers (and what a called region writes)
//!   lose what they held; then each defined value leaves every location and its own location holds it alone;
//! * an edge runs its edits, then renames in parallel: a location that holds an argument holds the parameter, and what
//!   was called by the parameter's name before is forgotten. An undefined argument puts the parameter everywhere.
//!
//! At block entries, values out of their [`Ranges`] are forgotten. Hence in SSA no location holds a value where it is
//! defined, except through an early repetition; only then is the whole state searched for it.
//!
//! States shrink only, so an error found on the way is one at the fixed point; a block that is seen again replaces its
//! errors. Blocks are taken in linear order, the lowest first, so inner loops settle before what follows them.
//! Blocks that cannot be reached are never run and hold no errors of this kind.

use crate::constraints::can_hold;
use crate::error::{name_values, CheckError, CheckErrorKind as Kind, Errors, Site};
use crate::places::{Place, Places, NOWHERE};
use crate::ranges::Ranges;
use crate::regions::{for_each_write, Regions};
use crate::sets::{Set, Sets};
use crate::state::State;
use crate::structure::num_def_lanes;
use fatpoint_ir::assigned::{AllocatedFunction, Edit, Loc, Side};
use fatpoint_ir::{Block, Edge, EntityId, EntitySet, Inst, OpKind, PhysReg, Value};

/// Runs the allocation and reports uses, parameters, conversions and repetitions that find the wrong thing.
pub(crate) fn check<'a>(alloc: &'a AllocatedFunction<'a>, places: &Places, regions: &Regions, errors: &mut Errors<'a>) {
    let f = alloc.func;
    let mut flow = Dataflow {
        alloc,
        places,
        regions,
        ranges: Ranges::of(alloc),
        sets: Sets::new(f.num_values()),
        first_error: errors.len(),
        errors,
        entry: vec![None; f.num_blocks()],
        dirty: EntitySet::with_capacity(f.num_blocks()),
        now: vec![Set::EMPTY; places.len()],
        occupied: vec![0; places.len().div_ceil(64)],
        anywhere: Vec::new(),
        search: false,
        position: 0,
        position_of: positions(alloc),
        undo: None,
        param_of: vec![0; f.num_values()],
        next_param: Vec::new(),
    };
    flow.run();
}

struct Dataflow<'c, 'a> {
    alloc: &'a AllocatedFunction<'a>,
    places: &'c Places,
    regions: &'c Regions,
    ranges: Ranges,
    sets: Sets,
    errors: &'c mut Errors<'a>,
    /// Errors before this one belong to other checks.
    first_error: usize,
    entry: Vec<Option<State>>,
    dirty: EntitySet<Block>,
    /// What each place holds at the point under work.
    now: Vec<Set>,
    /// Places that hold something, as bits.
    occupied: Vec<u64>,
    /// Values that are anywhere at the point under work.
    anywhere: Vec<Value>,
    /// True when a value may be held where it is defined.
    search: bool,
    /// Position of the instruction under work.
    position: u32,
    /// Position of each instruction, empty in input order.
    position_of: Vec<u32>,
    /// Overwritten sets, while an edge's edits are tried.
    undo: Option<Vec<(Place, Set)>>,
    /// First parameter + 1 that takes each value on the edge under work, by position.
    param_of: Vec<u32>,
    /// Further parameters that take the same value.
    next_param: Vec<u32>,
}

impl Dataflow<'_, '_> {
    fn run(&mut self) {
        let f = self.alloc.func;
        let in_loop = blocks_in_loops(self.alloc);
        for r in f.regions() {
            let b = f.region(r).entry;
            let mut state = State::default();
            for (v, &l) in f.params(b).zip(self.alloc.block_param_locs(b)) {
                let p = self.places.number(l);
                if p != NOWHERE {
                    state.held.push((p, Set::one(v)));
                }
            }
            state.held.sort_by_key(|x| x.0);
            if let Some(w) = state.held.windows(2).find(|w| w[0].0 == w[1].0) {
                let (l, vs) = (self.places.loc(w[0].0), [w[0].1, w[1].1].map(|s| self.sets.members(s)[0]));
                let what = || format!("{} both come in in {l}", name_values(self.alloc, &vs));
                self.errors.push(Kind::Location, Site::Block(b), what);
                self.first_error = self.errors.len();
            }
            state.held.dedup_by_key(|x| x.0);
            self.entry[b.index()] = Some(state);
            self.dirty.insert(b);
        }
        let mut seen = EntitySet::<Block>::with_capacity(f.num_blocks());
        let mut next = 0;
        while next < f.num_blocks() {
            let b = Block::new(next);
            next += 1;
            if !self.dirty.remove(b) {
                continue;
            }
            if !seen.insert(b) && self.errors.len() > self.first_error {
                let alloc = self.alloc;
                self.errors.retain_from(self.first_error, |e| block_of(alloc, e) != Some(b));
            }
            let state = self.entry[b.index()].take().expect("a block to do has a state");
            self.load(&state);
            if in_loop[b.index()] {
                self.entry[b.index()] = Some(state);
            }
            self.block(b);
            if let Some(back) = f.succs(b).filter(|&t| t <= b && self.dirty.contains(t)).min() {
                next = back.index();
            }
        }
    }

    fn load(&mut self, state: &State) {
        for w in 0..self.occupied.len() {
            let mut bits = std::mem::take(&mut self.occupied[w]);
            while bits != 0 {
                self.now[w * 64 + bits.trailing_zeros() as usize] = Set::EMPTY;
                bits &= bits - 1;
            }
        }
        for &(p, s) in &state.held {
            self.set(p, s);
        }
        self.anywhere.clone_from(&state.anywhere);
        self.search = self.ranges.early;
    }

    fn block(&mut self, b: Block) {
        let alloc = self.alloc;
        let f = alloc.func;
        let range = f.block_range(b);
        let mut next = alloc.edits.partition_point(|(p, _)| p.pos < range.start);
        for pos in range {
            self.position = pos;
            while let Some((p, e)) = alloc.edits.get(next).filter(|(p, _)| (p.pos, p.side) == (pos, Side::Before)) {
                debug_assert_eq!(p.pos, pos);
                self.edit(e, Site::Edit(next as u32), b);
                next += 1;
            }
            self.instruction(alloc.inst_at(pos));
            while let Some((_, e)) = alloc.edits.get(next).filter(|(p, _)| p.pos == pos) {
                self.edit(e, Site::Edit(next as u32), b);
                next += 1;
            }
        }
        for e in f.succ_edges(b) {
            self.undo = Some(Vec::new());
            let first = alloc.edge_edits.partition_point(|(x, _)| *x < e);
            let on_edge = alloc.edge_edits[first..].iter().take_while(|(x, _)| *x == e);
            for (k, (_, edit)) in on_edge.enumerate() {
                self.edit(edit, Site::EdgeEdit((first + k) as u32), b);
            }
            self.edge(e);
            for (p, s) in self.undo.take().into_iter().flatten().rev() {
                self.set(p, s);
            }
        }
    }

    #[inline]
    fn set(&mut self, p: Place, s: Set) {
        if p == NOWHERE {
            return;
        }
        if let Some(undo) = &mut self.undo {
            undo.push((p, self.now[p as usize]));
        }
        self.now[p as usize] = s;
        let (w, bit) = (p as usize / 64, 1u64 << (p % 64));
        if s.is_empty() {
            self.occupied[w] &= !bit;
        } else {
            self.occupied[w] |= bit;
        }
    }

    #[inline]
    fn get(&self, p: Place) -> Set {
        self.now.get(p as usize).copied().unwrap_or(Set::EMPTY)
    }

    #[inline]
    fn holds(&self, p: Place, v: Value) -> bool {
        self.sets.has(self.get(p), v) || (!self.anywhere.is_empty() && self.anywhere.binary_search(&v).is_ok())
    }

    fn instruction(&mut self, i: Inst) {
        let alloc = self.alloc;
        let f = alloc.func;
        let (locs, num_defs) = (alloc.inst_locs(i), num_def_lanes(alloc, i));
        let mut at = num_defs;
        for &o in f.uses(i) {
            for k in 0..o.len() {
                // A location that does not exist has its error from the constraints.
                let p = self.places.number(locs[at + k]);
                if let Some(v) = f.lane(o, k).value().filter(|&v| p != NOWHERE && !self.holds(p, v)) {
                    self.wrong(Kind::Value, Site::Inst(i), "it reads", v, p);
                }
            }
            at += o.len();
        }
        let sig = f.sig(i);
        for &r in sig.clobbers.iter() {
            self.set(Places::register(r), Set::EMPTY);
        }
        if sig.props.kind == OpKind::Call {
            if let Some(r) = f.callee(i) {
                for &p in self.regions.writes(r) {
                    self.set(p, Set::EMPTY);
                }
            }
        }
        if self.search {
            f.def_values(i).for_each(|v| self.forget(v));
        }
        for (v, &l) in f.def_values(i).zip(locs) {
            self.set(self.places.number(l), Set::one(v));
        }
    }

    /// Takes a value out of every place.
    fn forget(&mut self, v: Value) {
        self.anywhere.retain(|&x| x != v);
        for w in 0..self.occupied.len() {
            let mut bits = self.occupied[w];
            while bits != 0 {
                let p = w as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                if self.sets.has(self.now[p as usize], v) {
                    let s = self.sets.filter(self.now[p as usize], |x| x != v);
                    self.set(p, s);
                }
            }
        }
    }

    fn edit(&mut self, e: &Edit, site: Site, b: Block) {
        match e {
            Edit::Copy { from, to } => {
                let s = self.converted(*from, *to, site);
                self.set(Places::register(*to), s);
            }
            Edit::Swap { a, b } => {
                let (pa, pb) = (Places::register(*a), Places::register(*b));
                let (sa, sb) = (self.get(pa), self.get(pb));
                self.set(pa, sb);
                self.set(pb, sa);
            }
            Edit::Spill { from, to } => self.set(self.places.number(*to), self.get(Places::register(*from))),
            Edit::Reload { from, to } => self.set(Places::register(*to), self.get(self.places.number(*from))),
            Edit::SlotCopy { from, to } => self.set(self.places.number(*to), self.get(self.places.number(*from))),
            Edit::Remat { inst, from, to } => self.remat(e, *inst, from, to, site, b),
        }
    }

    /// What a copy moves: all of it within a class, the predicates alone between classes.
    fn converted(&mut self, from: PhysReg, to: PhysReg, site: Site) -> Set {
        let s = self.get(Places::register(from));
        if from.class == to.class || s.is_empty() {
            return s;
        }
        let f = self.alloc.func;
        let kept = self.sets.filter(s, |v| can_hold(to.class, f.class(v)) && f.class(v).is_predicate());
        if kept.is_empty() {
            let (alloc, held) = (self.alloc, self.sets.members(s));
            let what = || format!("{from} holds {}, which is no predicate", name_values(alloc, held));
            self.errors.push(Kind::Conversion, site, what);
        }
        kept
    }

    fn remat(&mut self, e: &Edit, i: Inst, from: &[Loc], to: &[Option<PhysReg>], site: Site, b: Block) {
        let f = self.alloc.func;
        let mut right = true;
        for (lane, &l) in f.uses(i).iter().flat_map(|&o| f.lanes(o)).zip(from) {
            let Some(v) = lane.value() else { continue };
            let p = self.places.number(l);
            if p == NOWHERE {
                right = false;
            } else if !self.holds(p, v) {
                right = false;
                self.wrong(Kind::Remat, site, "it reads", v, p);
            }
        }
        for_each_write(self.alloc, self.places, e, |p| self.set(p, Set::EMPTY));
        let runs_at = self.position_of.get(i.index()).copied().unwrap_or(i.0);
        self.search |= f.block_range(b).contains(&i.0) && runs_at >= self.position;
        for (v, r) in f.def_values(i).zip(to) {
            if let Some(r) = r.filter(|_| right) {
                self.set(Places::register(r), Set::one(v));
            }
        }
    }

    /// Hands the state over to the target of an edge.
    fn edge(&mut self, e: Edge) {
        let f = self.alloc.func;
        let to = f.edge(e).to;
        let params = f.params(to);
        let first_param = params.clone().next().map_or(0, |v| v.0);
        let args = f.edge_args(e);
        let mut new = State::default();
        self.next_param.clear();
        self.next_param.resize(args.len(), 0);
        for (k, (param, &arg)) in params.clone().zip(args).enumerate() {
            let l = self.alloc.block_param_locs(to)[k];
            match arg.value() {
                Some(a) if self.anywhere.binary_search(&a).is_err() => {
                    let p = self.places.number(l);
                    if p != NOWHERE && !self.holds(p, a) {
                        let role = format!("parameter {} takes", f.value_name(param));
                        self.wrong(Kind::Parameter, Site::Edge(e), &role, a, p);
                    }
                    self.next_param[k] = std::mem::replace(&mut self.param_of[a.index()], k as u32 + 1);
                }
                _ => new.anywhere.push(param),
            }
        }
        let is_param = |v: Value| v.0.wrapping_sub(first_param) < params.len() as u32;
        let keeps = |ranges: &Ranges, v: Value| !is_param(v) && ranges.keeps(v, to);
        let old = self.anywhere.iter().copied().filter(|&v| keeps(&self.ranges, v));
        new.anywhere.extend(old);
        new.anywhere.sort_unstable();
        let mut list: Vec<Value> = Vec::new();
        for w in 0..self.occupied.len() {
            let mut bits = self.occupied[w];
            while bits != 0 {
                let p = w as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                let s = self.now[p as usize];
                list.clear();
                for &v in self.sets.members(s) {
                    if keeps(&self.ranges, v) {
                        list.push(v);
                    }
                    let mut k = self.param_of[v.index()];
                    while k != 0 {
                        list.push(Value(first_param + k - 1));
                        k = self.next_param[k as usize - 1];
                    }
                }
                if !list.is_empty() {
                    list.sort_unstable();
                    new.held.push((p, self.sets.make(&list, s)));
                }
            }
        }
        for a in args.iter().filter_map(|l| l.value()) {
            self.param_of[a.index()] = 0;
        }
        match &mut self.entry[to.index()] {
            Some(state) => {
                if state.meet(&new, &mut self.sets) {
                    self.dirty.insert(to);
                }
            }
            none => {
                *none = Some(new);
                self.dirty.insert(to);
            }
        }
    }

    /// Reports that `p` does not hold `v`, what it holds instead, and where `v` is.
    fn wrong(&mut self, kind: Kind, site: Site, role: &str, v: Value, p: Place) {
        if self.errors.full() {
            return;
        }
        let l = self.places.loc(p);
        let held = match self.sets.members(self.get(p)) {
            [] => "nothing that is known".to_string(),
            held => name_values(self.alloc, held),
        };
        let places = (0..self.now.len()).filter(|&p| self.sets.has(self.now[p], v));
        let names: Vec<String> = places.take(4).map(|p| self.places.loc(p as Place).to_string()).collect();
        let name = self.alloc.func.value_name(v);
        let found = if names.is_empty() { "nowhere".into() } else { format!("in {}", names.join(" and ")) };
        let what = || format!("{role} {name} from {l}, which holds {held}; {name} is {found}");
        self.errors.push(kind, site, what);
    }
}

/// Position of each instruction; empty when they run in input order.
fn positions(alloc: &AllocatedFunction<'_>) -> Vec<u32> {
    let order = alloc.order.as_deref().unwrap_or(&[]);
    let mut of = vec![0; order.len()];
    for (pos, i) in order.iter().enumerate() {
        of[i.index()] = pos as u32;
    }
    of
}

/// Blocks that a back edge spans: only these can be seen twice.
fn blocks_in_loops(alloc: &AllocatedFunction<'_>) -> Vec<bool> {
    let f = alloc.func;
    let mut open = vec![0i32; f.num_blocks() + 1];
    for e in f.edges() {
        let d = f.edge(e);
        if d.to <= d.from {
            open[d.to.index()] += 1;
            open[d.from.index() + 1] -= 1;
        }
    }
    let mut depth = 0;
    open[..f.num_blocks()]
        .iter()
        .map(|d| {
            depth += d;
            depth > 0
        })
        .collect()
}

/// The block that an error of this check was found in.
fn block_of(alloc: &AllocatedFunction<'_>, e: &CheckError) -> Option<Block> {
    let f = alloc.func;
    match e.site {
        Site::Function => None,
        Site::Block(b) => Some(b),
        Site::Inst(i) => Some(f.block_of(i)),
        Site::Edit(n) => Some(f.block_of(alloc.inst_at(alloc.edits[n as usize].0.pos))),
        Site::Edge(e) => Some(f.edge(e).from),
        Site::EdgeEdit(n) => Some(f.edge(alloc.edge_edits[n as usize].0).from),
    }
}
