//! Registers and slots: right allocations agree, wrong ones differ.

use super::*;

#[test]
fn right_allocations_agree() {
    let f = sum_loop();
    let s = same(&naive(&f));
    assert_eq!((s.seeds, s.wildcards, s.partial, s.never_reached.len()), (12, 0, 0, 0));
    assert!(s.events >= 48);
    same(&tight(&f));
}

#[test]
fn wrong_registers_differ() {
    let f = sum_loop();
    for (mnemonic, operand_lane, wrong) in [
        ("FFMA", 1, 5),
        ("FFMA", 2, 6),
        ("LDG.E", 2, 5),
        ("STG.E", 0, 5),
        ("IADD", 0, 3),
        ("ISETP.LT", 2, 7),
        ("FFMA", 0, 4),
    ] {
        let mut a = tight(&f);
        a.inst_locs_mut(find(&f, mnemonic))[operand_lane] = reg(wrong);
        differs(&a);
    }
}

#[test]
fn missing_and_wrong_copies_differ() {
    let f = sum_loop();
    let a = naive(&f);
    for k in 0..a.edge_edits.len() {
        let mut b = a.clone();
        b.edge_edits.remove(k);
        differs(&b);
    }
    // The two parameters exchanged.
    let mut b = tight(&f);
    b.block_param_locs_mut(Block(1)).swap(0, 1);
    let back = f.succ_edges(Block(1)).next().unwrap();
    b.edge_edits.push((back, Edit::Swap { a: PhysReg::r(4), b: PhysReg::r(5) }));
    differs(&b);
}

/// The tight loop with base spilled over the loop.
fn spilled(f: &Function, slot: u32) -> AllocatedFunction<'_> {
    let mut a = tight(f);
    let local = |k| Loc::slot(SlotSpace::Local, k);
    let at = |i: Inst, side| EditPoint { pos: i.0, side };
    a.local_slots = 2;
    a.edits = vec![
        (at(find(f, "MOV"), Side::After), Edit::Spill { from: PhysReg::r(2), to: local(0) }),
        (at(find(f, "LOP.AND"), Side::After), Edit::Spill { from: PhysReg::r(3), to: local(1) }),
        (at(find(f, "LDG.E"), Side::Before), Edit::Reload { from: local(slot), to: PhysReg::r(6) }),
        (at(find(f, "STG.E"), Side::Before), Edit::Reload { from: local(0), to: PhysReg::r(2) }),
    ];
    a.inst_locs_mut(find(f, "LDG.E"))[1] = reg(6);
    a.edits.sort_by_key(|e| e.0);
    a
}

#[test]
fn spills_agree_and_wrong_slots_differ() {
    let f = sum_loop();
    same(&spilled(&f, 0));
    differs(&spilled(&f, 1));
    assert!(matches!(
        differs(&spilled(&f, 7)),
        Mismatch::Event { how: Disagreement::Undefined, .. } | Mismatch::Stale { .. }
    ));
    let mut a = spilled(&f, 0);
    a.edits.remove(0);
    differs(&a);
}

#[test]
fn a_stale_register_shows_even_with_the_right_bits() {
    // w = v + 0 holds the same bits; v dies there, so its register holds nothing of use afterwards.
    let mut b = B::new();
    let e = b.block("entry");
    b.0.switch_to(e);
    let x = b.one("MOV", R, &[Operand::constant(0, 0x160)]);
    let w = b.one("IADD", R, &[v(x), Operand::imm(0)]);
    b.none("STG.E", &[addr(Operand::imm(64)), v(w)]);
    b.0.exit();
    let f = b.done();
    let mut a = naive(&f);
    same(&a);
    a.inst_locs_mut(Inst(2))[0] = reg(2);
    assert!(matches!(differs(&a), Mismatch::Event { how: Disagreement::Undefined, .. }));
}

#[test]
fn rematerialization_is_running_it_again() {
    let f = sum_loop();
    let base = find(&f, "MOV");
    let mut a = tight(&f);
    let at = |i: Inst| EditPoint { pos: i.0, side: Side::Before };
    let remat = |inst, r| Edit::Remat { inst, from: vec![], to: vec![Some(PhysReg::r(r))] };
    a.edits = vec![(at(find(&f, "LDG.E")), remat(base, 6)), (at(find(&f, "STG.E")), remat(base, 9))];
    a.inst_locs_mut(find(&f, "LDG.E"))[1] = reg(6);
    a.inst_locs_mut(find(&f, "STG.E"))[0] = reg(9);
    same(&a);
    let mut b = a.clone();
    b.edits[1].1 = remat(Inst(2), 9);
    differs(&b);
    // An input that is dead by then.
    let mut b = a.clone();
    let x = find(&f, "IADD");
    b.edits[1].1 = Edit::Remat { inst: x, from: vec![reg(6)], to: vec![Some(PhysReg::r(9))] };
    differs(&b);
}

#[test]
fn clobbers_and_early_clobbers_destroy() {
    let make = |constraints: &[(u16, Constraint)], clobbers: &[PhysReg]| {
        let mut b = B::new();
        let e = b.block("entry");
        b.0.switch_to(e);
        let x = b.one("MOV", R, &[Operand::constant(0, 0x160)]);
        let y = b.one("MOV", R, &[Operand::constant(0, 0x164)]);
        let op = b.0.op_with("FADD", constraints, clobbers);
        let z = b.0.inst1(op, R, 1, &[v(x), v(x)]);
        b.none("STG.E", &[addr(v(y)), v(z)]);
        b.0.exit();
        b.done()
    };
    let f = make(&[], &[PhysReg::r(3)]);
    differs(&naive(&f));
    let f = make(&[], &[PhysReg::r(30)]);
    same(&naive(&f));
    let f = make(&[(0, Constraint::EarlyClobber)], &[]);
    let mut a = naive(&f);
    same(&a);
    a.inst_locs_mut(Inst(2))[0] = reg(2);
    a.inst_locs_mut(Inst(3))[1] = reg(2);
    differs(&a);
    let f = make(&[], &[]);
    let mut a = naive(&f);
    a.inst_locs_mut(Inst(2))[0] = reg(2);
    a.inst_locs_mut(Inst(3))[1] = reg(2);
    same(&a);
}

#[test]
fn malformed_allocations_are_refused() {
    let f = sum_loop();
    let mut a = tight(&f);
    a.edits.push((EditPoint { pos: 999, side: Side::Before }, Edit::Swap { a: PhysReg::r(1), b: PhysReg::r(2) }));
    assert!(matches!(differs(&a), Mismatch::End { found: (Stop::Malformed(_), _), .. }));
    let mut a = tight(&f);
    a.locs.pop();
    assert!(matches!(differs(&a), Mismatch::End { .. }));
}

/// `entry: x = MOV; jump next(x)`, `next(p): y = IADD p, 1; store y; store p`.
fn passed(class: RegClass) -> Function {
    let mut b = B::new();
    let (entry, next) = (b.block("entry"), b.block("next"));
    b.0.switch_to(entry);
    let x = b.one(if class == R { "MOV" } else { "ULDC" }, class, &[Operand::constant(0, 0x160)]);
    b.0.jump(next, &[lane(x)]);
    let p = b.0.param(next, class, 1);
    b.0.switch_to(next);
    b.none("STG.E", &[addr(Operand::imm(64)), v(p)]);
    b.none("STG.E", &[addr(Operand::imm(128)), v(p)]);
    b.0.exit();
    b.done()
}

#[test]
fn a_copy_of_an_argument_is_a_copy_of_the_parameter() {
    // The argument is spilled, and the parameter taken in place: the spill of the parameter itself is redundant.
    let f = passed(R);
    let slot = Loc::slot(SlotSpace::Local, 0);
    let (r4, r6) = (PhysReg::r(4), PhysReg::r(6));
    let at = |pos, side| EditPoint { pos, side };
    let mut a = AllocatedFunction::empty(&f);
    a.local_slots = 1;
    a.inst_locs_mut(Inst(0))[0] = reg(4);
    a.block_param_locs_mut(Block(1))[0] = reg(4);
    a.inst_locs_mut(Inst(2))[0] = reg(4);
    a.inst_locs_mut(Inst(3))[0] = reg(6);
    a.edits = vec![
        (at(0, Side::After), Edit::Spill { from: r4, to: slot }),
        (at(2, Side::Before), Edit::Spill { from: r4, to: slot }),
        (at(3, Side::Before), Edit::Reload { from: slot, to: r6 }),
    ];
    same(&a);
    let mut dropped = a.clone();
    dropped.edits.remove(1);
    same(&dropped);
    // Neither spill: nothing is in the slot.
    dropped.edits.remove(0);
    differs(&dropped);
    // A slot of another value that is dead by then.
    let g = sum_loop();
    let mut a = tight(&g);
    a.local_slots = 1;
    a.edits = vec![
        (at(2, Side::After), Edit::Spill { from: r4, to: slot }),
        (at(find(&g, "STG.E").0, Side::Before), Edit::Reload { from: slot, to: PhysReg::r(2) }),
    ];
    differs(&a);
}

#[test]
fn a_copy_of_a_uniform_argument_is_a_copy_of_the_parameter() {
    let f = passed(RegClass::UR);
    let ur = |n| PhysReg::new(RegClass::UR, n);
    let mut a = AllocatedFunction::empty(&f);
    a.inst_locs_mut(Inst(0))[0] = Loc::reg(ur(4));
    a.block_param_locs_mut(Block(1))[0] = Loc::reg(ur(4));
    a.inst_locs_mut(Inst(2))[0] = Loc::reg(ur(5));
    a.inst_locs_mut(Inst(3))[0] = Loc::reg(ur(4));
    a.edits = vec![(EditPoint { pos: 0, side: Side::After }, Edit::Copy { from: ur(4), to: ur(5) })];
    same(&a);
    a.edits.clear();
    differs(&a);
}
