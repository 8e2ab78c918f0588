//! Subroutine regions as their call sites see them: where parameters are taken, where results are left, and every place
//! that a call may write.
//!
//! Rules: a call's argument lanes are where the region's entry has its parameters; its result lanes are where every
//! `RET` of the region has them; no region calls itself, directly or through others. Everything that the region writes
//! (results of its instructions, edits, clobbers, its own calls; registers and slots) is lost to the caller at the call,
//! which also keeps the slots of both apart.

use crate::error::{CheckErrorKind as Kind, Errors, Site};
use crate::places::{Place, Places, NOWHERE};
use fatpoint_ir::assigned::{AllocatedFunction, Edit, Loc};
use fatpoint_ir::{EntityId, Inst, OpKind, PhysReg, Region};

/// What the call sites of each region rely on.
pub(crate) struct Regions {
    /// Places that a call of the region may write, rising.
    writes: Vec<Vec<Place>>,
}

impl Regions {
    /// Gathers all regions and checks the rules above.
    pub(crate) fn of(alloc: &AllocatedFunction<'_>, places: &Places, errors: &mut Errors<'_>) -> Self {
        let f = alloc.func;
        let n = f.regions().len();
        if n == 1 {
            return Self { writes: vec![Vec::new()] };
        }
        let mut bits = vec![vec![false; places.len()]; n];
        let mut calls: Vec<Vec<Region>> = vec![Vec::new(); n];
        let mut results: Vec<Option<Vec<Loc>>> = vec![None; n];
        let mut region_of = vec![0usize; f.num_blocks()];
        for r in f.regions() {
            let k = r.index();
            for b in f.region_blocks(r) {
                region_of[b.index()] = k;
                for i in f.block_insts(b) {
                    own_writes(alloc, places, i, &mut bits[k]);
                    match f.kind(i) {
                        OpKind::Call => calls[k].extend(f.callee(i).filter(|c| c.index() < n)),
                        OpKind::Return => see_return(alloc, i, &mut results[k], errors),
                        _ => {}
                    }
                }
            }
        }
        for (point, e) in &alloc.edits {
            let own = &mut bits[region_of[f.block_of(alloc.inst_at(point.pos)).index()]];
            for_each_write(alloc, places, e, |p| mark(own, p));
        }
        for (edge, e) in &alloc.edge_edits {
            let own = &mut bits[region_of[f.edge(*edge).from.index()]];
            for_each_write(alloc, places, e, |p| mark(own, p));
        }
        close(alloc, &calls, &mut bits, errors);
        for i in f.insts().filter(|&i| f.kind(i) == OpKind::Call) {
            check_call(alloc, i, &results, errors);
        }
        let list = |b: &Vec<bool>| (0..b.len() as Place).filter(|&p| b[p as usize]).collect();
        Self { writes: bits.iter().map(list).collect() }
    }

    /// Places that a call of `r` may write.
    pub(crate) fn writes(&self, r: Region) -> &[Place] {
        self.writes.get(r.index()).map_or(&[], |w| w)
    }
}

fn mark(bits: &mut [bool], p: Place) {
    if p != NOWHERE {
        bits[p as usize] = true;
    }
}

fn own_writes(alloc: &AllocatedFunction<'_>, places: &Places, i: Inst, bits: &mut [bool]) {
    let f = alloc.func;
    let defs = f.def_values(i).len();
    alloc.inst_locs(i)[..defs].iter().for_each(|&l| mark(bits, places.number(l)));
    f.sig(i).clobbers.iter().for_each(|&r| mark(bits, Places::register(r)));
}

/// Calls `see` with every place that an edit writes: what it moves to, and for a repeated instruction its clobbers and
/// the registers of dropped lanes within a run, which the machine writes all the same.
pub(crate) fn for_each_write(alloc: &AllocatedFunction<'_>, places: &Places, e: &Edit, mut see: impl FnMut(Place)) {
    match e {
        Edit::Copy { to, .. } | Edit::Reload { to, .. } => see(Places::register(*to)),
        Edit::Swap { a, b } => [a, b].into_iter().for_each(|r| see(Places::register(*r))),
        Edit::Spill { to, .. } | Edit::SlotCopy { to, .. } => see(places.number(*to)),
        Edit::Remat { inst, to, .. } => {
            let mut rest = &to[..];
            for o in alloc.func.defs(*inst) {
                let (run, tail) = rest.split_at(o.len());
                rest = tail;
                let Some((k, r)) = run.iter().enumerate().find_map(|(k, r)| Some((k as u16, (*r)?))) else { continue };
                for (lane, l) in (0u16..).zip(run) {
                    let own = PhysReg { num: (r.num + lane).wrapping_sub(k), ..r };
                    see(Places::register(l.unwrap_or(own)));
                }
            }
            alloc.func.sig(*inst).clobbers.iter().for_each(|&r| see(Places::register(r)));
        }
    }
}

/// Locations of the use lanes of an instruction, none for undefined lanes.
fn defined_use_locs(alloc: &AllocatedFunction<'_>, i: Inst) -> Vec<Loc> {
    let f = alloc.func;
    let locs = &alloc.inst_locs(i)[f.def_values(i).len()..];
    let lanes = f.uses(i).iter().flat_map(|&o| f.lanes(o));
    lanes.zip(locs).map(|(lane, &l)| lane.value().map_or(Loc::NONE, |_| l)).collect()
}

/// Takes down where a `RET` leaves results, or compares it with the first one.
fn see_return(alloc: &AllocatedFunction<'_>, i: Inst, first: &mut Option<Vec<Loc>>, errors: &mut Errors<'_>) {
    let here = defined_use_locs(alloc, i);
    let Some(first) = first else {
        *first = Some(here);
        return;
    };
    if first.len() != here.len() {
        let what = || format!("it returns {} lanes, another return of the region {}", here.len(), first.len());
        errors.push(Kind::Call, Site::Inst(i), what);
        return;
    }
    for (k, (have, l)) in first.iter_mut().zip(here).enumerate() {
        if have.is_none() {
            *have = l;
        } else if !l.is_none() && *have != l {
            let what = || format!("result lane {k} is in {l}, another return of the region leaves it in {have}");
            errors.push(Kind::Call, Site::Inst(i), what);
        }
    }
}

/// Adds what callees write to their callers, callees first; refuses recursion.
fn close(alloc: &AllocatedFunction<'_>, calls: &[Vec<Region>], bits: &mut [Vec<bool>], errors: &mut Errors<'_>) {
    // 0 not seen, 1 on the path, 2 done; depth first with an explicit stack.
    let mut state = vec![0u8; calls.len()];
    for root in 0..calls.len() {
        let mut stack = vec![(root, 0usize)];
        while let Some(&mut (r, ref mut next)) = stack.last_mut() {
            if *next == 0 {
                if state[r] == 2 {
                    stack.pop();
                    continue;
                }
                state[r] = 1;
            }
            if let Some(c) = calls[r].get(*next).map(|c| c.index()) {
                *next += 1;
                if state[c] == 0 {
                    stack.push((c, 0));
                } else if state[c] == 1 {
                    let name = alloc.func.symbol(alloc.func.region(Region::new(c)).name);
                    errors.push(Kind::Call, Site::Function, || format!("region `{name}` calls itself"));
                }
                continue;
            }
            for c in &calls[r] {
                let callee = bits[c.index()].clone();
                bits[r].iter_mut().zip(callee).for_each(|(mine, theirs)| *mine |= theirs);
            }
            state[r] = 2;
            stack.pop();
        }
    }
}

fn check_call(alloc: &AllocatedFunction<'_>, i: Inst, results: &[Option<Vec<Loc>>], errors: &mut Errors<'_>) {
    let f = alloc.func;
    let site = Site::Inst(i);
    let Some(r) = f.callee(i).filter(|r| r.index() < results.len()) else {
        errors.push(Kind::Call, site, || "it names no region".into());
        return;
    };
    let name = || f.symbol(f.region(r).name);
    let (defs, args) = (&alloc.inst_locs(i)[..f.def_values(i).len()], defined_use_locs(alloc, i));
    let params = alloc.block_param_locs(f.region(r).entry);
    if params.len() != args.len() {
        let what = || format!("it passes {} lanes, `{}` takes {}", args.len(), name(), params.len());
        errors.push(Kind::Call, site, what);
        return;
    }
    for (k, (&p, a)) in params.iter().zip(args).enumerate() {
        if !p.is_none() && !a.is_none() && p != a {
            let what = || format!("argument lane {k} is in {a}, `{}` takes it in {p}", name());
            errors.push(Kind::Call, site, what);
        }
    }
    // A region without a return has no results to disagree about.
    let Some(left) = &results[r.index()] else { return };
    if left.len() != defs.len() {
        let what = || format!("it takes {} result lanes, `{}` returns {}", defs.len(), name(), left.len());
        errors.push(Kind::Call, site, what);
        return;
    }
    for (k, (&l, &d)) in left.iter().zip(defs).enumerate() {
        if !l.is_none() && d != l {
            errors.push(Kind::Call, site, || format!("result lane {k} is in {d}, `{}` leaves it in {l}", name()));
        }
    }
}
