//! Allocations of straight-line code by hand: each right one is accepted, each wrong one refused for its own reason.

mod common;

use common::*;
use fatpoint_checker::{check, check_claims, CheckErrorKind as Kind, CheckOptions, Claims, Site, SpillsByPlace};
use fatpoint_ir::assigned::{AllocatedFunction, Edit, Loc};
use fatpoint_ir::builder::FunctionBuilder;
use fatpoint_ir::{Constraint, Function, Inst, Lane, Operand, PhysReg, RegClass, Value};
use fatpoint_targets::{Bytes, Regs};

fn builder() -> FunctionBuilder {
    let mut b = FunctionBuilder::new("k");
    let entry = b.block("entry");
    b.switch_to(entry);
    b
}

/// x = MOV; y = MOV; z = IADD3 x y; STG z x; EXIT
fn sum() -> Function {
    let mut b = builder();
    let (x, y) = (mov(&mut b, "x"), mov(&mut b, "y"));
    let z = def(&mut b, "z", "IADD3", RegClass::R, 1, &[use_of(x), use_of(y)]);
    store(&mut b, &[use_of(z), use_of(x)]);
    b.exit();
    b.finish().unwrap()
}

fn sum_allocated(f: &Function) -> AllocatedFunction<'_> {
    let mut a = AllocatedFunction::empty(f);
    at(&mut a, 0, &[r(0)]);
    at(&mut a, 1, &[r(2)]);
    at(&mut a, 2, &[r(2), r(0), r(2)]);
    at(&mut a, 3, &[r(2), r(0)]);
    a
}

#[test]
fn registers_are_counted_and_bounded() {
    let f = sum();
    let a = sum_allocated(&f);
    assert_eq!(right(&a).used, Regs(5));
    let budget = |n| CheckOptions { budget: Some(Regs(n)), ..CheckOptions::default() };
    assert_eq!(right_with(&a, &budget(5)).highest[RegClass::R], Some(2));
    assert!(wrong_with(&a, Kind::Budget, &budget(4)).contains("R2 is above the budget of 4, which ends at R1"));
    assert!(wrong_with(&a, Kind::Budget, &budget(0)).contains("no register"));

    let r1 = with(&a, |a| {
        at(a, 1, &[r(1)]);
        at(a, 2, &[r(1), r(0), r(1)]);
        at(a, 3, &[r(1), r(0)]);
    });
    assert!(wrong(&r1, Kind::Reserved).contains("R1 is the stack pointer"));
    let free = CheckOptions { free_r1: true, ..CheckOptions::default() };
    assert_eq!(right_with(&r1, &free).used, Regs(4));
    let top = with(&a, |a| {
        at(a, 0, &[r(255)]);
        at(a, 2, &[r(2), r(255), r(2)]);
        at(a, 3, &[r(2), r(255)]);
    });
    assert!(wrong(&top, Kind::FileLimit).contains("R255 does not exist, the last one is R254"));
}

#[test]
fn an_empty_kernel_uses_four() {
    let mut b = builder();
    b.exit();
    let f = b.finish().unwrap();
    let a = AllocatedFunction::empty(&f);
    assert_eq!(right(&a).used, Regs(4));
    assert_eq!(right_with(&a, &CheckOptions { free_r1: true, ..CheckOptions::default() }).used, Regs(2));
}

#[test]
fn a_use_must_find_its_value() {
    let f = sum();
    let a = sum_allocated(&f);
    let lost = with(&a, |a| at(a, 1, &[r(0)]));
    let errors = check(&lost, &CheckOptions::default()).unwrap_err();
    let sites: Vec<_> = errors.iter().map(|e| (e.kind, e.site)).collect();
    assert_eq!(
        sites,
        [(Kind::Value, Site::Inst(Inst(2))), (Kind::Value, Site::Inst(Inst(2))), (Kind::Value, Site::Inst(Inst(3)))]
    );
    assert_eq!(
        errors[0].to_string(),
        "i2 `IADD3` in block `entry`: it reads %x from R0, which holds %y; %x is nowhere"
    );
    let missing = with(&a, |a| at(a, 3, &[Loc::NONE, r(0)]));
    assert!(wrong(&missing, Kind::Location).contains("lane 0 of operand 0, %z, has no register"));
    let class = with(&a, |a| at(a, 0, &[p(0)]));
    let errors = check(&class, &CheckOptions::default()).unwrap_err();
    assert_eq!(errors[0].kind, Kind::Class);
    assert!(errors[0].message.contains("%x of class R is in P0"));
    let capped = check(&lost, &CheckOptions { max_errors: 1, ..CheckOptions::default() }).unwrap_err();
    assert_eq!(capped.len(), 1);
}

#[test]
fn tables_order_and_edits_have_their_shape() {
    let f = sum();
    let a = sum_allocated(&f);
    wrong(&with(&a, |a| a.locs.truncate(2)), Kind::Shape);
    wrong(&with(&a, |a| a.lane_start[1] = 3), Kind::Shape);
    wrong(&with(&a, |a| a.lane_start.truncate(1)), Kind::Shape);
    wrong(&with(&a, |a| a.param_locs.push(r(9))), Kind::Shape);
    wrong(&with(&a, |a| a.order = Some(vec![Inst(0)])), Kind::Shape);
    let order = |o: [u32; 5]| with(&a, |a| a.order = Some(o.map(Inst).to_vec()));
    right(&order([1, 0, 2, 3, 4]));
    wrong(&order([1, 1, 2, 3, 4]), Kind::Order);
    wrong(&order([0, 1, 2, 4, 3]), Kind::Order);
    wrong(&order([0, 1, 2, 3, 9]), Kind::Order);
    let early = order([0, 2, 1, 3, 4]);
    assert!(wrong(&early, Kind::Value).contains("it reads %y from R2"));

    let edits = |e: Vec<(_, Edit)>| with(&a, |a| a.edits = e);
    let c = || copy(r(0), r(7));
    right(&edits(vec![(after(0), c()), (before(1), c())]));
    wrong(&edits(vec![(before(1), c()), (after(0), c())]), Kind::EditPoint);
    wrong(&edits(vec![(before(5), c())]), Kind::EditPoint);
    assert!(wrong(&edits(vec![(after(4), c())]), Kind::EditPoint).contains("after a terminator"));
    wrong(&with(&a, |a| a.edge_edits = vec![(fatpoint_ir::Edge(0), c())]), Kind::EditPoint);
}

#[test]
fn spills_and_reloads_move_values_and_are_counted() {
    let f = sum();
    let mut a = AllocatedFunction::empty(&f);
    at(&mut a, 0, &[r(0)]);
    at(&mut a, 1, &[r(0)]);
    at(&mut a, 2, &[r(0), r(2), r(0)]);
    at(&mut a, 3, &[r(0), r(2)]);
    a.edits = vec![
        (after(0), spill(r(0), local(2))),
        (after(0), Edit::SlotCopy { from: local(2), to: shared(0) }),
        (before(2), reload(shared(0), r(2))),
    ];
    (a.local_slots, a.shared_slots) = (3, 1);
    let report = right(&a);
    assert_eq!((report.spill_store_bytes, report.spill_load_bytes), (Bytes(8), Bytes(8)));
    assert_eq!((report.local_slots, report.shared_slots, report.local_bytes()), (3, 1, Bytes(12)));
    let by_place =
        SpillsByPlace { local_stores: 1, local_loads: 1, shared_stores: 1, shared_loads: 1, ..Default::default() };
    assert_eq!(report.by_place, by_place);
    let claims = Claims { used: Some(Regs(5)), by_place: Some(by_place), ..Claims::default() };
    assert_eq!(check_claims(&report, &claims), Ok(()));
    let lie = Claims { spill_store_bytes: Some(Bytes(0)), copies: Some(1), ..claims };
    let errors = check_claims(&report, &lie).unwrap_err();
    assert_eq!(errors.iter().map(|e| e.figure).collect::<Vec<_>>(), ["spill_store_bytes", "copies"]);
    assert_eq!(errors[0].to_string(), "spill_store_bytes is 8 bytes, claimed was 0 bytes");

    wrong(&with(&a, |a| a.edits[2].1 = reload(local(0), r(2))), Kind::Value);
    wrong(&with(&a, |a| a.edits.truncate(2)), Kind::Value);
    assert!(wrong(&with(&a, |a| a.local_slots = 2), Kind::FileLimit).contains("local[2] is outside the frame of 2"));
    let huge = with(&a, |a| {
        a.local_slots = 1 << 28;
        a.edits.push((before(3), spill(r(0), local((1 << 28) - 1))));
    });
    wrong(&huge, Kind::FileLimit);
    let to_r = Edit::SlotCopy { from: local(2), to: r(3) };
    assert!(wrong(&with(&a, |a| a.edits.insert(1, (after(0), to_r))), Kind::Location).contains("R3 is no slot"));
}

/// pq = P2-run and so on: one instruction per constraint.
#[test]
fn runs_are_consecutive_and_aligned() {
    let mut b = builder();
    let pair = def(&mut b, "pair", "LDG.64", RegClass::R, 2, &[]);
    let x = mov(&mut b, "x");
    let run = b.lanes(&[Lane(x.first), Lane::UNDEF, Lane(Value(pair.first.0 + 1)), Lane::UNDEF], 4);
    store(&mut b, &[use_of(pair)]);
    store(&mut b, &[run]);
    b.exit();
    let f = b.finish().unwrap();
    let mut a = AllocatedFunction::empty(&f);
    at(&mut a, 0, &[r(2), r(3)]);
    at(&mut a, 1, &[r(4)]);
    at(&mut a, 2, &[r(2), r(3)]);
    a.edits = vec![(before(3), copy(r(3), r(6)))];
    at(&mut a, 3, &[r(4), Loc::NONE, r(6), Loc::NONE]);
    // The last lane is undefined, the machine still names R7.
    assert_eq!(right(&a).used, Regs(10));
    right(&with(&a, |a| at(a, 3, &[r(4), r(5), r(6), r(7)])));
    let tight = CheckOptions { budget: Some(Regs(9)), ..CheckOptions::default() };
    wrong_with(&a, Kind::Budget, &tight);
    let gap = with(&a, |a| at(a, 3, &[r(4), Loc::NONE, r(3), Loc::NONE]));
    assert!(wrong(&gap, Kind::Run).contains("lane 2 is in R3"));
    let low = with(&a, |a| {
        a.edits = vec![(before(3), copy(r(4), r(8)))];
        at(a, 3, &[Loc::NONE, Loc::NONE, r(0), Loc::NONE]);
    });
    assert!(check(&low, &CheckOptions::default()).unwrap_err().iter().any(|e| e.kind == Kind::Run));
    let odd = with(&a, |a| {
        at(a, 0, &[r(7), r(8)]);
        at(a, 2, &[r(7), r(8)]);
        a.edits[0].1 = copy(r(8), r(6));
    });
    assert!(wrong(&odd, Kind::Alignment).contains("R7, which is no multiple of 2"));
    let same = with(&a, |a| at(a, 0, &[r(2), r(2)]));
    let kinds: Vec<_> = check(&same, &CheckOptions::default()).unwrap_err().iter().map(|e| e.kind).collect();
    assert!(kinds.contains(&Kind::Overlap) && kinds.contains(&Kind::Run));
}

#[test]
fn opcode_constraints() {
    let mut b = builder();
    let (x, y) = (mov(&mut b, "x"), mov(&mut b, "y"));
    let fixed = b.op_with("FIX", &[(1, Constraint::Fixed(PhysReg::r(4)))], &[PhysReg::r(5)]);
    b.inst1(fixed, RegClass::R, 1, &[use_of(x)]);
    let tied = b.op_with("TIE", &[(1, Constraint::Tied(0))], &[]);
    let t = b.inst1(tied, RegClass::R, 1, &[use_of(x), use_of(y)]);
    let early = b.op_with("EARLY", &[(0, Constraint::EarlyClobber)], &[]);
    b.inst1(early, RegClass::R, 1, &[use_of(t), Operand::undef(1, 1)]);
    let two = [b.fresh(RegClass::R, 1), b.fresh(RegClass::R, 1)];
    let op = b.op("TWO");
    b.inst(op, &two, &[]);
    b.exit();
    let f = b.finish().unwrap();
    let mut a = AllocatedFunction::empty(&f);
    at(&mut a, 0, &[r(4)]);
    at(&mut a, 1, &[r(6)]);
    at(&mut a, 2, &[r(0), r(4)]);
    at(&mut a, 3, &[r(4), r(4), r(6)]);
    at(&mut a, 4, &[r(6), r(4), r(6)]);
    at(&mut a, 5, &[r(0), r(2)]);
    right(&a);
    let moved = with(&a, |a| {
        a.edits = vec![(before(2), copy(r(4), r(8)))];
        at(a, 2, &[r(0), r(8)]);
    });
    assert!(wrong(&moved, Kind::Fixed).contains("must be in R4 and is in R8"));
    let clobbered = with(&a, |a| {
        at(a, 1, &[r(5)]);
        at(a, 3, &[r(4), r(4), r(5)]);
    });
    assert!(wrong(&clobbered, Kind::Value).contains("it reads %y from R5, which holds nothing that is known"));
    // Written in the shadow of its own clobber: the result comes last.
    right(&with(&a, |a| at(a, 2, &[r(5), r(4)])));
    let untied = with(&a, |a| {
        at(a, 3, &[r(2), r(4), r(6)]);
        at(a, 4, &[r(6), r(2), Loc::NONE]);
    });
    wrong(&untied, Kind::Tied);
    let over = with(&a, |a| at(a, 4, &[r(4), r(4), Loc::NONE]));
    assert!(wrong(&over, Kind::EarlyClobber).contains("is written before"));
    let both = with(&a, |a| at(a, 5, &[r(2), r(2)]));
    assert!(wrong(&both, Kind::Overlap).contains("are both written to R2"));
}

#[test]
fn a_guarded_definition_reads_its_old_value() {
    let mut b = builder();
    let x = mov(&mut b, "x");
    let g = def(&mut b, "g", "ISETP", RegClass::P, 1, &[use_of(x)]);
    let op = b.op_with("MOV", &[(2, Constraint::Tied(0))], &[]);
    let guard = use_of(g).with_flags(fatpoint_ir::OperandFlags::GUARD);
    let y = b.inst1(op, RegClass::R, 1, &[guard, use_of(x)]);
    let z = b.inst1(op, RegClass::R, 1, &[guard, Operand::undef(1, 1)]);
    store(&mut b, &[use_of(y), use_of(z)]);
    b.exit();
    let f = b.finish().unwrap();
    let mut a = AllocatedFunction::empty(&f);
    at(&mut a, 0, &[r(0)]);
    at(&mut a, 1, &[p(0), r(0)]);
    at(&mut a, 2, &[r(0), p(0), r(0)]);
    at(&mut a, 3, &[r(2), p(0), Loc::NONE]);
    at(&mut a, 4, &[r(0), r(2)]);
    right(&a);
    wrong(&with(&a, |a| at(a, 3, &[r(2), p(0), r(3)])), Kind::Tied);
    let again = Edit::Remat { inst: Inst(2), from: vec![p(0), r(0)], to: vec![Some(PhysReg::r(0))] };
    let again = with(&a, |a| a.edits = vec![(after(1), again)]);
    let errors = check(&again, &CheckOptions::default()).unwrap_err();
    assert!(errors[0].kind == Kind::Remat && errors[0].message.contains("it has a guard"));
}

#[test]
fn predicates_may_wait_in_general_registers() {
    let mut b = builder();
    let x = mov(&mut b, "x");
    let g = def(&mut b, "g", "ISETP", RegClass::P, 1, &[use_of(x)]);
    let h = def(&mut b, "h", "ISETP", RegClass::P, 1, &[use_of(x)]);
    store(&mut b, &[use_of(h), use_of(g), use_of(x)]);
    b.exit();
    let f = b.finish().unwrap();
    let mut a = AllocatedFunction::empty(&f);
    at(&mut a, 0, &[r(0)]);
    at(&mut a, 1, &[p(0), r(0)]);
    at(&mut a, 2, &[p(0), r(0)]);
    at(&mut a, 3, &[p(0), p(1), r(0)]);
    a.edits = vec![
        (after(1), copy(p(0), r(2))),
        (after(1), spill(r(2), local(0))),
        (before(3), reload(local(0), r(3))),
        (before(3), copy(r(3), p(1))),
    ];
    a.local_slots = 1;
    let report = right(&a);
    assert_eq!((report.by_place.to_r_stores, report.by_place.to_r_loads, report.copies), (1, 1, 0));
    let read_in_r = with(&a, |a| at(a, 3, &[p(0), r(3), r(0)]));
    assert!(wrong(&read_in_r, Kind::Class).contains("%g of class P is in R3"));
    let general = with(&a, |a| a.edits.insert(0, (after(0), copy(r(0), p(6)))));
    assert!(wrong(&general, Kind::Conversion).contains("R0 holds %x, which is no predicate"));
    let uniform = copy(r(0), Loc::reg(PhysReg::new(RegClass::UR, 0)));
    wrong(&with(&a, |a| a.edits.insert(0, (after(0), uniform))), Kind::Conversion);
    let swap = Edit::Swap { a: PhysReg::p(5), b: PhysReg::r(9) };
    wrong(&with(&a, |a| a.edits.insert(0, (after(0), swap))), Kind::Conversion);
    wrong(&with(&a, |a| a.edits.insert(1, (after(1), spill(p(0), local(0))))), Kind::Conversion);
    wrong(&with(&a, |a| a.edits.insert(1, (after(1), copy(p(0), p(7))))), Kind::FileLimit);
}

/// x = MOV; a, b = IMAD.WIDE x; STG ab; STG x; EXIT
fn wide() -> Function {
    let mut b = builder();
    let x = mov(&mut b, "x");
    let w = def(&mut b, "w", "IMAD.WIDE", RegClass::R, 2, &[use_of(x)]);
    let l = def(&mut b, "l", "LDG.CONSTANT", RegClass::R, 1, &[use_of(x)]);
    let m = def(&mut b, "m", "LDG", RegClass::R, 1, &[use_of(x)]);
    store(&mut b, &[use_of(w), use_of(l), use_of(m)]);
    store(&mut b, &[use_of(x)]);
    b.exit();
    b.finish().unwrap()
}

#[test]
fn repeated_instructions_define_their_values_again() {
    let f = wide();
    let mut a = AllocatedFunction::empty(&f);
    at(&mut a, 0, &[r(0)]);
    at(&mut a, 1, &[r(2), r(3), r(0)]);
    at(&mut a, 2, &[r(2), r(0)]);
    at(&mut a, 3, &[r(3), r(0)]);
    at(&mut a, 4, &[r(4), r(5), r(2), r(3)]);
    at(&mut a, 5, &[r(0)]);
    let remat = |inst, from: Loc, to: &[u16]| Edit::Remat {
        inst: Inst(inst),
        from: vec![from],
        to: to.iter().map(|&n| (n != 0).then(|| PhysReg::r(n))).collect(),
    };
    a.edits = vec![(before(4), remat(1, r(0), &[4, 5])), (before(4), remat(2, r(0), &[2]))];
    let report = right(&a);
    assert_eq!((report.remats, report.reexecuted_load_bytes), (2, Bytes(4)));
    let chain = |e: Edit| with(&a, |a| a.edits[0].1 = e);
    assert!(wrong(&with(&a, |a| a.edits[1].1 = remat(3, r(0), &[3])), Kind::Remat).contains("must not be repeated"));
    let input = chain(remat(1, r(2), &[4, 5]));
    let errors = check(&input, &CheckOptions::default()).unwrap_err();
    assert_eq!(errors[0].kind, Kind::Remat);
    assert!(errors[0].message.contains("it reads %x from R2, which holds %l; %x is in R0"), "{}", errors[0]);
    wrong(&chain(remat(1, r(0), &[4, 0])), Kind::Value);
    let errors = check(&chain(remat(1, r(0), &[3, 4])), &CheckOptions::default()).unwrap_err();
    assert!(errors.iter().any(|e| e.kind == Kind::Alignment));
    wrong(&chain(remat(1, r(0), &[4])), Kind::Remat);
    wrong(&chain(remat(99, r(0), &[4])), Kind::Remat);
    // The dropped half of a pair is written all the same.
    let half = with(&a, |a| {
        a.edits.push((before(5), remat(1, r(0), &[6, 0])));
        a.edits.push((before(5), copy(r(0), r(7))));
        a.edits.push((before(5), remat(1, r(0), &[6, 0])));
        at(a, 5, &[r(7)]);
    });
    assert!(wrong(&half, Kind::Value).contains("it reads %x from R7"));
    // Repeated before its first run: the value is made twice, the second time for good.
    let early = with(&a, |a| {
        a.edits.insert(0, (after(0), remat(1, r(0), &[6, 7])));
        at(a, 4, &[r(6), r(7), r(2), r(3)]);
        a.edits.remove(1);
    });
    assert!(wrong(&early, Kind::Value).contains("it reads %w.0 from R6"));
}

#[test]
fn effects_keep_their_order() {
    let mut b = builder();
    let x = mov(&mut b, "x");
    let ops = ["LDG", "LDG", "STG", "LDS", "BAR.SYNC", "LDC", "SHFL", "VOTE", "S2R.VOLATILE"].map(|m| b.op(m));
    for op in ops {
        b.inst(op, &[], &[use_of(x)]);
    }
    b.exit();
    let f = b.finish().unwrap();
    let mut a = AllocatedFunction::empty(&f);
    for i in 0..10 {
        at(&mut a, i, &[r(0)]);
    }
    let order = |o: [u32; 11]| with(&a, |a| a.order = Some(o.map(Inst).to_vec()));
    // Loads pass loads, other spaces, and whatever is immutable passes all.
    right(&order([0, 6, 4, 2, 1, 3, 5, 7, 8, 9, 10]));
    // A load and a store; a store and a load of shared memory past a barrier; two convergent ones; a clock.
    for o in [
        [0, 1, 3, 2, 4, 5, 6, 7, 8, 9, 10],
        [0, 1, 2, 3, 5, 4, 6, 7, 8, 9, 10],
        [0, 1, 2, 3, 4, 5, 6, 8, 7, 9, 10],
        [0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 10],
        [0, 1, 2, 7, 3, 4, 5, 6, 8, 9, 10],
    ] {
        assert!(wrong(&order(o), Kind::Effects).contains("which it must follow"));
    }
}
