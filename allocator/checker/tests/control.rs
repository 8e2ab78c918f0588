//! Allocations with control flow by hand: edges, loops, undefined arguments, regions, operands in flight.

mod common;

use common::*;
use fatpoint_checker::{check, CheckErrorKind as Kind, CheckOptions, Site};
use fatpoint_ir::assigned::{AllocatedFunction, Edit, Loc};
use fatpoint_ir::builder::FunctionBuilder;
use fatpoint_ir::{Constraint, Edge, EntityId, Function, Inst, Lane, Operand, PhysReg, RegClass};
use fatpoint_targets::Regs;

fn swap(x: u16, y: u16) -> Edit {
    Edit::Swap { a: PhysReg::r(x), b: PhysReg::r(y) }
}
fn kinds(a: &AllocatedFunction<'_>) -> Vec<Kind> {
    let mut k: Vec<Kind> = check(a, &CheckOptions::default()).unwrap_err().iter().map(|e| e.kind).collect();
    k.sort();
    k.dedup();
    k
}

/// entry: x, c; br c, left, right; left: y; jump join(y); right: jump join(x); join(p): STG p x; EXIT
fn diamond() -> Function {
    let mut b = FunctionBuilder::new("k");
    let [entry, left, right, join] = ["entry", "left", "right", "join"].map(|n| b.block(n));
    b.switch_to(entry);
    let x = mov(&mut b, "x");
    let c = def(&mut b, "c", "ISETP", RegClass::P, 1, &[use_of(x)]);
    b.branch(use_of(c), (left, &[]), (right, &[]));
    b.switch_to(left);
    let y = mov(&mut b, "y");
    b.jump(join, &[Lane(y.first)]);
    b.switch_to(right);
    b.jump(join, &[Lane(x.first)]);
    b.switch_to(join);
    let p = b.param(join, RegClass::R, 1);
    b.set_name(p, "p");
    store(&mut b, &[use_of(p), use_of(x)]);
    b.exit();
    b.finish().unwrap()
}

#[test]
fn edges_put_arguments_where_parameters_are_taken() {
    let f = diamond();
    let join = block(&f, "join");
    let right_edge = f.pred_edges(join)[1];
    let mut a = AllocatedFunction::empty(&f);
    at(&mut a, 0, &[r(0)]);
    at(&mut a, 1, &[p(0), r(0)]);
    at(&mut a, 2, &[p(0)]);
    at(&mut a, 3, &[r(2)]);
    at(&mut a, 6, &[r(2), r(0)]);
    params_at(&mut a, join, &[r(2)]);
    a.edge_edits = vec![(right_edge, copy(r(0), r(2)))];
    assert_eq!(right(&a).copies, 1);
    // Nobody must state the location of a parameter whose uses find it.
    right(&with(&a, |a| params_at(a, join, &[Loc::NONE])));
    let none = with(&a, |a| a.edge_edits.clear());
    let errors = check(&none, &CheckOptions::default()).unwrap_err();
    assert_eq!((errors[0].kind, errors[0].site), (Kind::Parameter, Site::Edge(right_edge)));
    assert!(
        errors[0].message.ends_with(
            "from `right` to `join`: parameter %p takes %x from R2, which holds nothing that is known; %x is in R0"
        ),
        "{}",
        errors[0]
    );
    // The other edge's copy does not help, and acts on its own edge only.
    let other = with(&a, |a| a.edge_edits = vec![(f.pred_edges(join)[0], copy(r(0), r(2)))]);
    assert_eq!(kinds(&other), [Kind::Value, Kind::Parameter]);
    let one_side = with(&a, |a| {
        a.edits = vec![(after(3), copy(r(0), r(4)))];
        at(a, 6, &[r(2), r(4)]);
    });
    assert!(wrong(&one_side, Kind::Value).contains("it reads %x from R4, which holds nothing that is known"));
    let predicate = with(&a, |a| params_at(a, join, &[p(1)]));
    assert!(kinds(&predicate).contains(&Kind::Class));
    // A parameter in a slot, reloaded where it is used.
    let slot = with(&a, |a| {
        a.local_slots = 1;
        params_at(a, join, &[local(0)]);
        a.edge_edits = vec![(f.pred_edges(join)[0], spill(r(2), local(0))), (right_edge, spill(r(0), local(0)))];
        a.edits = vec![(before(6), reload(local(0), r(2)))];
    });
    right(&slot);
    let stale = with(&slot, |a| a.edge_edits[1].1 = spill(r(4), local(0)));
    assert_eq!(kinds(&stale), [Kind::Value, Kind::Parameter]);
}

/// entry: x, y, n; jump loop(x, y); loop(a, b): STG a b n; c = ISETP n; br c, loop(b, a), exit; exit: STG a; EXIT
fn exchange() -> Function {
    let mut b = FunctionBuilder::new("k");
    let [entry, body, exit] = ["entry", "body", "exit"].map(|n| b.block(n));
    b.switch_to(entry);
    let [x, y, n] = ["x", "y", "n"].map(|n| mov(&mut b, n));
    b.jump(body, &[Lane(x.first), Lane(y.first)]);
    b.switch_to(body);
    let [p, q] = ["p", "q"].map(|n| {
        let d = b.param(body, RegClass::R, 1);
        b.set_name(d, n);
        d
    });
    store(&mut b, &[use_of(p), use_of(q), use_of(n)]);
    let c = def(&mut b, "c", "ISETP", RegClass::P, 1, &[use_of(n)]);
    b.branch(use_of(c), (body, &[Lane(q.first), Lane(p.first)]), (exit, &[]));
    b.switch_to(exit);
    store(&mut b, &[use_of(p)]);
    b.exit();
    b.finish().unwrap()
}

#[test]
fn a_loop_exchanges_its_values() {
    let f = exchange();
    let body = block(&f, "body");
    let back = f.pred_edges(body).iter().copied().find(|&e| f.edge(e).from == body).unwrap();
    let mut a = AllocatedFunction::empty(&f);
    for (i, n) in [(0, 0), (1, 2), (2, 3)] {
        at(&mut a, i, &[r(n)]);
    }
    params_at(&mut a, body, &[r(0), r(2)]);
    at(&mut a, 4, &[r(0), r(2), r(3)]);
    at(&mut a, 5, &[p(0), r(3)]);
    at(&mut a, 6, &[p(0)]);
    at(&mut a, 7, &[r(0)]);
    a.edge_edits = vec![(back, swap(0, 2))];
    assert_eq!(right(&a).swaps, 1);
    assert_eq!(right(&a).used, Regs(6));
    // Right in the first round, wrong from the second on.
    let none = with(&a, |a| {
        a.edge_edits.clear();
        params_at(a, body, &[Loc::NONE; 2]);
    });
    let text = wrong(&none, Kind::Value);
    assert!(text.contains("it reads %p from R0, which holds nothing that is known; %p is nowhere"), "{text}");
    assert_eq!(kinds(&with(&a, |a| a.edge_edits.clear())), [Kind::Value, Kind::Parameter]);
    // Two copies in sequence are no exchange; three with a free register are.
    let seq = |e: Vec<Edit>| with(&a, |a| a.edge_edits = e.into_iter().map(|e| (back, e)).collect());
    right(&seq(vec![copy(r(0), r(4)), copy(r(2), r(0)), copy(r(4), r(2))]));
    assert!(kinds(&seq(vec![copy(r(2), r(0)), copy(r(0), r(2))])).contains(&Kind::Parameter));
    // The edits of the back edge must not touch what the exit edge needs, and do not: p is still in R0 there.
    wrong(&with(&a, |a| at(a, 7, &[r(2)])), Kind::Value);
    // What lives through the loop is lost when the loop overwrites it, though only in the second round.
    let overwritten = with(&a, |a| a.edits = vec![(after(5), copy(r(0), r(3)))]);
    assert!(wrong(&overwritten, Kind::Value).contains("it reads %n from R3"));
}

#[test]
fn an_undefined_argument_is_everywhere_on_its_edge() {
    let mut b = FunctionBuilder::new("k");
    let [entry, left, join] = ["entry", "left", "join"].map(|n| b.block(n));
    b.switch_to(entry);
    let x = mov(&mut b, "x");
    let c = def(&mut b, "c", "ISETP", RegClass::P, 1, &[use_of(x)]);
    b.branch(use_of(c), (left, &[]), (join, &[Lane::UNDEF, Lane::UNDEF]));
    b.switch_to(left);
    let y = mov(&mut b, "y");
    b.jump(join, &[Lane(y.first), Lane::UNDEF]);
    b.switch_to(join);
    let u = b.param(join, RegClass::R, 1);
    let w = b.param(join, RegClass::R, 1);
    store(&mut b, &[use_of(u), use_of(w)]);
    b.exit();
    let f = b.finish().unwrap();
    let join = block(&f, "join");
    let mut a = AllocatedFunction::empty(&f);
    at(&mut a, 0, &[r(0)]);
    at(&mut a, 1, &[p(0), r(0)]);
    at(&mut a, 2, &[p(0)]);
    at(&mut a, 3, &[r(5)]);
    params_at(&mut a, join, &[r(5), r(9)]);
    at(&mut a, 5, &[r(5), r(7)]);
    right(&a);
    let lost = with(&a, |a| at(a, 5, &[r(0), r(7)]));
    wrong(&lost, Kind::Value);
}

/// kernel: x, y; z = call @f(x); STG z y x; region f(a): b = MOV; c = IADD a b; RET c
fn with_region(recursive: bool) -> Function {
    let mut b = FunctionBuilder::new("k");
    let entry = b.block("entry");
    let region = b.region("f", &[(RegClass::R, 1)]);
    let inner = b.block_in(region, "inner");
    let call = b.op("call");
    b.switch_to(entry);
    let [x, y] = ["x", "y"].map(|n| mov(&mut b, n));
    let z = b.inst1(call, RegClass::R, 1, &[Operand::region(region), use_of(x)]);
    b.set_name(z, "z");
    store(&mut b, &[use_of(z), use_of(y), use_of(x)]);
    b.exit();
    b.switch_to(inner);
    let a = b.param(inner, RegClass::R, 1);
    b.set_name(a, "a");
    let t = mov(&mut b, "t");
    let mut c = def(&mut b, "c", "IADD3", RegClass::R, 1, &[use_of(a), use_of(t)]);
    if recursive {
        c = b.inst1(call, RegClass::R, 1, &[Operand::region(region), use_of(c)]);
    }
    let ret = b.op("RET");
    b.terminate(ret, &[use_of(c)], &[]);
    b.finish().unwrap()
}

#[test]
fn calls_bind_arguments_and_results_and_lose_what_the_region_writes() {
    let f = with_region(false);
    let inner = block(&f, "inner");
    let mut a = AllocatedFunction::empty(&f);
    at(&mut a, 0, &[r(4)]);
    at(&mut a, 1, &[r(2)]);
    at(&mut a, 2, &[r(5), r(4)]);
    at(&mut a, 3, &[r(5), r(2), r(4)]);
    params_at(&mut a, inner, &[r(4)]);
    at(&mut a, 5, &[r(6)]);
    at(&mut a, 6, &[r(5), r(4), r(6)]);
    at(&mut a, 7, &[r(5)]);
    right(&a);
    let elsewhere = with(&a, |a| {
        a.edits = vec![(before(2), copy(r(4), r(8)))];
        at(a, 2, &[r(5), r(8)]);
    });
    assert!(wrong(&elsewhere, Kind::Call).contains("argument lane 0 is in R8, `f` takes it in R4"));
    let result = with(&a, |a| {
        at(a, 2, &[r(8), r(4)]);
        at(a, 3, &[r(8), r(2), r(4)]);
    });
    assert!(wrong(&result, Kind::Call).contains("result lane 0 is in R8, `f` leaves it in R5"));
    let through = with(&a, |a| {
        at(a, 1, &[r(6)]);
        at(a, 3, &[r(5), r(6), r(4)]);
    });
    assert!(wrong(&through, Kind::Value).contains("it reads %y from R6, which holds nothing that is known"));
    // A slot that both use is written by the region.
    let slots = |of_region: u32| {
        with(&a, |a| {
            a.local_slots = 2;
            a.edits = vec![
                (after(1), spill(r(2), local(0))),
                (after(2), reload(local(0), r(2))),
                (after(5), spill(r(6), local(of_region))),
            ]
        })
    };
    right(&slots(1));
    wrong(&slots(0), Kind::Value);
    // Edits of the region count as writes.
    let edit = with(&a, |a| a.edits = vec![(after(5), copy(r(6), r(2)))]);
    assert!(wrong(&edit, Kind::Value).contains("it reads %y from R2"));
    wrong(&with(&a, |a| at(a, 6, &[r(5), r(6), r(6)])), Kind::Value);
    // A value of the caller means nothing inside.
    let f = with_region(true);
    let mut a = AllocatedFunction::empty(&f);
    at(&mut a, 0, &[r(4)]);
    at(&mut a, 1, &[r(2)]);
    at(&mut a, 2, &[r(4), r(4)]);
    at(&mut a, 3, &[r(4), r(2), r(4)]);
    params_at(&mut a, block(&f, "inner"), &[r(4)]);
    at(&mut a, 5, &[r(6)]);
    at(&mut a, 6, &[r(4), r(4), r(6)]);
    at(&mut a, 7, &[r(4), r(4)]);
    at(&mut a, 8, &[r(4)]);
    let errors = check(&a, &CheckOptions::default()).unwrap_err();
    assert_eq!((errors[0].kind, errors[0].message.as_str()), (Kind::Call, "`k`: region `f` calls itself"));
}

#[test]
fn all_returns_leave_results_in_one_place() {
    let mut b = FunctionBuilder::new("k");
    let entry = b.block("entry");
    let region = b.region("f", &[(RegClass::R, 1)]);
    let [inner, other] = ["inner", "other"].map(|n| b.block_in(region, n));
    let (call, ret) = (b.op("call"), b.op("RET"));
    b.switch_to(entry);
    let z = b.inst1(call, RegClass::R, 1, &[Operand::region(region)]);
    store(&mut b, &[use_of(z)]);
    b.exit();
    b.switch_to(inner);
    let x = mov(&mut b, "x");
    let c = def(&mut b, "c", "ISETP", RegClass::P, 1, &[use_of(x)]);
    let third = b.block_in(region, "third");
    b.branch(use_of(c), (other, &[]), (third, &[]));
    b.switch_to(other);
    b.terminate(ret, &[use_of(x)], &[]);
    b.switch_to(third);
    b.terminate(ret, &[Operand::undef(1, 1)], &[]);
    let f = b.finish().unwrap();
    let mut a = AllocatedFunction::empty(&f);
    for i in [0, 1, 3, 6] {
        at(&mut a, i, &[r(4)]);
    }
    at(&mut a, 4, &[p(0), r(4)]);
    at(&mut a, 5, &[p(0)]);
    at(&mut a, 7, &[Loc::NONE]);
    right(&a);
    at(&mut a, 7, &[r(3)]);
    right(&a);
}

/// acc = MOV; acc2 = HGMMA acc (tied, in flight); acc3 = HGMMA acc2; WGCOMMIT; y = MOV; WGWAIT.0; STG acc3 y; EXIT
fn in_flight(wait: &str) -> Function {
    let mut b = FunctionBuilder::new("k");
    let entry = b.block("entry");
    b.switch_to(entry);
    let acc = mov(&mut b, "acc");
    let mma = b.op_with("HGMMA", &[(0, Constraint::InFlight), (1, Constraint::Tied(0))], &[]);
    let one = b.inst1(mma, RegClass::R, 1, &[use_of(acc)]);
    let two = b.inst1(mma, RegClass::R, 1, &[use_of(one)]);
    b.set_name(two, "two");
    let (commit, wait) = (b.op("WGCOMMIT"), b.op(wait));
    b.inst(commit, &[], &[]);
    let y = mov(&mut b, "y");
    b.inst(wait, &[], &[]);
    let z = mov(&mut b, "z");
    store(&mut b, &[use_of(two), use_of(y), use_of(z)]);
    b.exit();
    b.finish().unwrap()
}

#[test]
fn operands_in_flight_are_left_alone_until_the_wait() {
    let f = in_flight("WGWAIT.0");
    let mut a = AllocatedFunction::empty(&f);
    at(&mut a, 0, &[r(4)]);
    at(&mut a, 1, &[r(4), r(4)]);
    at(&mut a, 2, &[r(4), r(4)]);
    at(&mut a, 4, &[r(0)]);
    at(&mut a, 6, &[r(2)]);
    at(&mut a, 7, &[r(4), r(0), r(2)]);
    right(&a);
    let moved = |point, e: Edit| with(&a, |a| a.edits = vec![(point, e)]);
    right(&moved(after(5), copy(r(4), r(6))));
    assert!(wrong(&moved(before(5), copy(r(4), r(6))), Kind::InFlight).contains("it touches R4, which is in flight"));
    wrong(&moved(before(2), copy(r(4), r(6))), Kind::InFlight);
    right(&moved(before(1), copy(r(4), r(6))));
    assert_eq!(kinds(&moved(after(2), swap(4, 6))), [Kind::Value, Kind::InFlight]);
    let written = with(&a, |a| {
        at(a, 4, &[r(4)]);
        a.edits = vec![(after(4), copy(r(4), r(0)))];
    });
    assert!(kinds(&written).contains(&Kind::InFlight));
    // The last group may still run, so nothing is waited for.
    let g = in_flight("WGWAIT.1");
    let b = AllocatedFunction { func: &g, ..a.clone() };
    right(&b);
    let late = with(&b, |b| b.edits = vec![(after(5), copy(r(4), r(6)))]);
    wrong(&late, Kind::InFlight);
    // A reader must not pass the wait.
    let early = with(&a, |a| a.order = Some([0, 1, 2, 3, 4, 6, 7, 5, 8].map(Inst).to_vec()));
    wrong(&early, Kind::Effects);
}

#[test]
fn flight_reaches_over_edges() {
    let mut b = FunctionBuilder::new("k");
    let [entry, body, exit] = ["entry", "body", "exit"].map(|n| b.block(n));
    b.switch_to(entry);
    let acc = mov(&mut b, "acc");
    let c = def(&mut b, "c", "ISETP", RegClass::P, 1, &[use_of(acc)]);
    b.jump(body, &[Lane(acc.first)]);
    b.switch_to(body);
    let p0 = b.param(body, RegClass::R, 1);
    let mma = b.op_with("HGMMA", &[(0, Constraint::InFlight), (1, Constraint::Tied(0))], &[]);
    let next = b.inst1(mma, RegClass::R, 1, &[use_of(p0)]);
    let (commit, wait) = (b.op("WGCOMMIT"), b.op("WGWAIT.0"));
    b.inst(commit, &[], &[]);
    b.branch(use_of(c), (body, &[Lane(next.first)]), (exit, &[]));
    b.switch_to(exit);
    b.inst(wait, &[], &[]);
    store(&mut b, &[use_of(next)]);
    b.exit();
    let f = b.finish().unwrap();
    let body = block(&f, "body");
    let mut a = AllocatedFunction::empty(&f);
    at(&mut a, 0, &[r(4)]);
    at(&mut a, 1, &[p(0), r(4)]);
    params_at(&mut a, body, &[r(4)]);
    at(&mut a, 3, &[r(4), r(4)]);
    at(&mut a, 5, &[p(0)]);
    at(&mut a, 7, &[r(4)]);
    right(&a);
    let back = f.pred_edges(body).iter().copied().find(|&e| f.edge(e).from == body).unwrap();
    let exit_edge = Edge::new(back.index() + 1);
    for e in [back, exit_edge] {
        wrong(&with(&a, |a| a.edge_edits = vec![(e, copy(r(4), r(6)))]), Kind::InFlight);
    }
    // In the first round nothing is in flight here, in the second it is.
    let head = with(&a, |a| a.edits = vec![(before(3), copy(r(4), r(6)))]);
    wrong(&head, Kind::InFlight);
    let entry = with(&a, |a| a.edits = vec![(before(2), copy(r(4), r(6)))]);
    right(&entry);
}
