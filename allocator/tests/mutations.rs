//! The checker is able to fail: good allocations are corrupted, one thing at a time. Of each kind of corruption at least
//! 30 % change what the interpreter sees, and the symbolic checker alone finds every one of those.

mod common;

use common::{differs, program, Rng, Shape};
use fatpoint_allocator::{allocate, floor, Analysis, Options};
use fatpoint_checker::{check, CheckOptions};
use fatpoint_ir::assigned::{AllocatedFunction, Edit, Loc, SlotSpace};
use fatpoint_ir::{Inst, PhysReg, RegClass};
use fatpoint_targets::Regs;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    SwapUseRegisters,
    DropCopy,
    DropReload,
    WrongSlot,
    WrongCopySource,
    MoveResult,
}

const KINDS: [Kind; 6] = [
    Kind::SwapUseRegisters,
    Kind::DropCopy,
    Kind::DropReload,
    Kind::WrongSlot,
    Kind::WrongCopySource,
    Kind::MoveResult,
];

/// Corrupts one thing; false when there is nothing of the kind.
fn mutate(kind: Kind, alloc: &mut AllocatedFunction<'_>, r: &mut Rng) -> bool {
    let func = alloc.func;
    let edits = |alloc: &AllocatedFunction<'_>, want: &dyn Fn(&Edit) -> bool| -> Vec<(bool, usize)> {
        let a = alloc.edits.iter().enumerate().filter(|(_, e)| want(&e.1)).map(|(k, _)| (false, k));
        let b = alloc.edge_edits.iter().enumerate().filter(|(_, e)| want(&e.1)).map(|(k, _)| (true, k));
        a.chain(b).collect()
    };
    let pick = |list: &[(bool, usize)], r: &mut Rng| (!list.is_empty()).then(|| list[r.below(list.len())]);
    match kind {
        Kind::SwapUseRegisters => {
            // A single use reads another value's register.
            let i = Inst(r.below(func.num_insts()) as u32);
            let n = func.def_values(i).len();
            let locs = alloc.inst_locs(i).to_vec();
            let singles: Vec<usize> =
                (n..locs.len()).filter(|&k| locs[k].as_reg().is_some_and(|x| x.class == RegClass::R)).collect();
            if singles.is_empty() || func.uses(i).iter().any(|o| o.len() > 1) || !func.sig(i).constraints.is_empty() {
                return false;
            }
            let k = singles[r.below(singles.len())];
            let other = Loc::reg(PhysReg::r([0, 2, 3, 4, 5, 6, 7][r.below(7)]));
            if other == locs[k] {
                return false;
            }
            alloc.inst_locs_mut(i)[k] = other;
        }
        Kind::DropCopy => {
            let Some((edge, k)) = pick(&edits(alloc, &|e| matches!(e, Edit::Copy { .. } | Edit::Swap { .. })), r)
            else {
                return false;
            };
            if edge {
                alloc.edge_edits.remove(k);
            } else {
                alloc.edits.remove(k);
            }
        }
        Kind::DropReload => {
            let Some((edge, k)) = pick(&edits(alloc, &|e| matches!(e, Edit::Reload { .. } | Edit::Spill { .. })), r)
            else {
                return false;
            };
            if edge {
                alloc.edge_edits.remove(k);
            } else {
                alloc.edits.remove(k);
            }
        }
        Kind::WrongSlot => {
            if alloc.local_slots < 2 {
                return false;
            }
            let Some((edge, k)) = pick(&edits(alloc, &|e| matches!(e, Edit::Reload { .. } | Edit::Spill { .. })), r)
            else {
                return false;
            };
            let slot = Loc::slot(SlotSpace::Local, r.below(alloc.local_slots as usize) as u32);
            let e = if edge { &mut alloc.edge_edits[k].1 } else { &mut alloc.edits[k].1 };
            let place = match e {
                Edit::Reload { from, .. } => from,
                Edit::Spill { to, .. } => to,
                _ => return false,
            };
            if *place == slot {
                return false;
            }
            *place = slot;
        }
        Kind::WrongCopySource => {
            let Some((edge, k)) =
                pick(&edits(alloc, &|e| matches!(e, Edit::Copy { from, to } if from.class == to.class)), r)
            else {
                return false;
            };
            let e = if edge { &mut alloc.edge_edits[k].1 } else { &mut alloc.edits[k].1 };
            let Edit::Copy { from, .. } = e else { return false };
            let other = if from.class == RegClass::R { [0, 2, 3, 4, 5, 6, 7][r.below(7)] } else { r.below(7) as u16 };
            if from.num == other {
                return false;
            }
            from.num = other;
        }
        Kind::MoveResult => {
            // A single result goes to a register that holds something else.
            let i = Inst(r.below(func.num_insts()) as u32);
            if func.defs(i).len() != 1 || func.defs(i)[0].len() != 1 || !func.sig(i).constraints.is_empty() {
                return false;
            }
            let Some(old) = alloc.inst_locs(i)[0].as_reg() else { return false };
            let n = if old.class == RegClass::R { [0, 2, 3, 4, 5, 6, 7][r.below(7)] } else { r.below(7) as u16 };
            if n == old.num {
                return false;
            }
            alloc.inst_locs_mut(i)[0] = Loc::reg(PhysReg::new(old.class, n));
        }
    }
    true
}

#[test]
fn every_corruption_that_changes_a_trace_is_found() {
    let mut counts = [(0usize, 0usize, 0usize); KINDS.len()];
    let mut r = Rng::new(7);
    for seed in 0..60u64 {
        let s = Shape {
            seed: 5000 + seed,
            blocks: 1 + seed as usize % 5,
            vars: 5 + seed as usize % 8,
            preds: 2 + seed as usize % 8,
            insts: 12,
            fancy: seed % 3 != 0,
        };
        let func = program(s);
        let a = Analysis::new(&func).expect("random programs have R and P values alone");
        let options = Options::default();
        let (f, tight) = floor(&a, &options).expect("a random program fits in 255 registers");
        let wide = allocate(&a, f.budget + 2, &options).expect("above the floor");
        for good in [&tight, &wide] {
            let opts = CheckOptions { budget: Some(Regs(255)), ..CheckOptions::default() };
            check(good, &opts).expect("a good allocation passes");
            for (k, &kind) in KINDS.iter().enumerate() {
                for _ in 0..6 {
                    let mut bad = good.clone();
                    if !mutate(kind, &mut bad, &mut r) {
                        continue;
                    }
                    let changed = (0..4).any(|seed| differs(&bad, seed).is_err());
                    let found = check(&bad, &opts).is_err();
                    counts[k].0 += 1;
                    counts[k].1 += usize::from(changed);
                    counts[k].2 += usize::from(found);
                    if changed && !found {
                        let m = (0..4).find_map(|seed| differs(&bad, seed).err()).expect("it differs");
                        let lost: Vec<_> = good.edits.iter().filter(|e| !bad.edits.contains(e)).collect();
                        let lost_edge: Vec<_> =
                            good.edge_edits.iter().filter(|e| !bad.edge_edits.contains(e)).collect();
                        eprintln!("{}", fatpoint_ir::text::print_allocated(&bad));
                        panic!("{kind:?} of {s:?} passes the checker: {} {lost:?} {lost_edge:?}", m.describe(&func));
                    }
                }
            }
        }
    }
    for (kind, (made, changed, found)) in KINDS.iter().zip(counts) {
        println!("{kind:?}: {made} made, {changed} change a trace, {found} found");
        assert!(made >= 50, "{kind:?}: only {made} made");
        assert!(changed * 100 >= made * 30, "{kind:?}: {changed} of {made} change a trace");
    }
}

#[test]
fn a_budget_below_what_is_used_and_a_misaligned_run_are_found() {
    let func = program(Shape { seed: 79, blocks: 4, vars: 12, preds: 2, insts: 14, fancy: true });
    let a = Analysis::new(&func).expect("R and P values alone");
    let good = allocate(&a, 64, &Options::default()).expect("64 registers are plenty");
    let used = fatpoint_allocator::used_registers(&good);
    let opts = |t: u32| CheckOptions { budget: Some(Regs(t)), ..CheckOptions::default() };
    check(&good, &opts(used)).expect("what it uses is enough");
    assert!(check(&good, &opts(used - 1)).is_err());
    let mut runs = 0;
    for i in func.insts() {
        let n = func.def_values(i).len();
        for (k, o) in func.operands(i).iter().enumerate() {
            if o.len() < 2 || o.align() < 2 || k < func.num_defs(i) {
                continue;
            }
            let mut bad = good.clone();
            let start: usize = func.operands(i)[..k].iter().map(|o| o.len()).sum();
            assert!(start >= n);
            for l in 0..o.len() {
                if let Some(r) = bad.inst_locs(i)[start + l].as_reg() {
                    bad.inst_locs_mut(i)[start + l] = Loc::reg(PhysReg::r(r.num + 1));
                }
            }
            runs += 1;
            assert!(check(&bad, &opts(255)).is_err(), "a run of {} one register up", i);
        }
    }
    assert!(runs > 3);
}
