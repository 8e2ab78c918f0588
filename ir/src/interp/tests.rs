use super::*;
use crate::assigned::{Edit, EditPoint, Loc, Side, SlotSpace};
use crate::builder::{Def, FunctionBuilder};
use crate::class::{PhysReg, RegClass};
use crate::entity::EntityId;
use crate::function::{Block, Value};
use crate::op::{Constraint, Space};
use crate::operand::{Lane, Operand, OperandFlags};

const R: RegClass = RegClass::R;
const P: RegClass = RegClass::P;

fn v(d: Def) -> Operand {
    Operand::value(d.first)
}
fn lane(d: Def) -> Lane {
    Lane(d.first)
}
fn addr(o: Operand) -> Operand {
    o.with_flags(OperandFlags::ADDR.with(OperandFlags::ADDR_START))
}
fn offset(bytes: u32) -> Operand {
    Operand::imm(bytes).with_flags(OperandFlags::ADDR)
}
fn reg(n: u16) -> Loc {
    Loc::reg(PhysReg::r(n))
}

/// Builder with one-line instructions.
struct B(FunctionBuilder);

impl B {
    fn new() -> Self {
        Self(FunctionBuilder::new("k"))
    }
    fn one(&mut self, op: &str, class: RegClass, uses: &[Operand]) -> Def {
        let op = self.0.op(op);
        self.0.inst1(op, class, 1, uses)
    }
    fn none(&mut self, op: &str, uses: &[Operand]) {
        let op = self.0.op(op);
        self.0.inst(op, &[], uses);
    }
    fn block(&mut self, name: &str) -> Block {
        self.0.block(name)
    }
    fn done(self) -> Function {
        self.0.finish().expect("a function")
    }
}

/// A counted loop with a load, a float operation and a store at the end:
/// values 0 base, 1 n, 2 zero, 3 seed, 4 i, 5 acc (parameters), 6 x, 7 acc2, 8 i2, 9 p.
fn sum_loop() -> Function {
    let mut b = B::new();
    let (entry, head, exit) = (b.block("entry"), b.block("head"), b.block("exit"));
    b.0.switch_to(entry);
    let base = b.one("MOV", R, &[Operand::constant(0, 0x160)]);
    let n = b.one("LOP.AND", R, &[Operand::constant(0, 0x168), Operand::imm(7)]);
    let zero = b.one("MOV", R, &[Operand::imm(0)]);
    let tid = b.0.special("SR_TID.X");
    let start = b.one("S2R", R, &[tid]);
    b.0.jump(head, &[lane(zero), lane(start)]);
    let i = b.0.param(head, R, 1);
    let acc = b.0.param(head, R, 1);
    b.0.switch_to(head);
    let x = b.one("LDG.E", R, &[addr(v(base)), v(i).with_flags(OperandFlags::ADDR), offset(16)]);
    let acc2 = b.one("FFMA", R, &[v(x), v(acc), v(acc)]);
    let i2 = b.one("IADD", R, &[v(i), Operand::imm(1)]);
    let p = b.one("ISETP.LT", P, &[v(i2), v(n)]);
    b.0.branch(v(p), (head, &[lane(i2), lane(acc2)]), (exit, &[]));
    b.0.switch_to(exit);
    b.none("STG.E", &[addr(v(base)), v(acc2)]);
    b.0.exit();
    b.done()
}

/// Every value in a register of its own, parameters copied on edges through a second set of registers.
fn naive(f: &Function) -> AllocatedFunction<'_> {
    let mut a = AllocatedFunction::empty(f);
    let count = f.num_values() as u16;
    let home = |x: Value| PhysReg::new(f.class(x), 2 + x.0 as u16);
    for i in f.insts() {
        let lanes: Vec<Loc> = f
            .operands(i)
            .iter()
            .flat_map(|&o| f.lanes(o))
            .map(|l| l.value().map_or(Loc::NONE, |x| Loc::reg(home(x))))
            .collect();
        a.inst_locs_mut(i).copy_from_slice(&lanes);
    }
    for b in f.blocks() {
        for (k, p) in f.params(b).enumerate() {
            a.block_param_locs_mut(b)[k] = Loc::reg(home(p));
        }
    }
    for e in f.edges() {
        let pairs: Vec<_> = f
            .params(f.edge(e).to)
            .zip(f.edge_args(e))
            .filter_map(|(p, l)| l.value().map(|x| (home(p), home(x))))
            .collect();
        let spare = |r: PhysReg| PhysReg::new(r.class, r.num + count);
        for &(p, x) in &pairs {
            a.edge_edits.push((e, Edit::Copy { from: x, to: spare(p) }));
        }
        for &(p, _) in &pairs {
            a.edge_edits.push((e, Edit::Copy { from: spare(p), to: p }));
        }
    }
    // Arguments of calls must be where the callee finds them, and results where the caller does.
    for i in f.insts() {
        let Some(callee) = f.callee(i) else { continue };
        let entry = f.region(callee).entry;
        let defs: usize = f.defs(i).iter().map(|o| o.len()).sum();
        let args = a.inst_locs(i)[defs..].to_vec();
        let params = a.block_param_locs(entry).to_vec();
        for (k, (&from, &to)) in args.iter().zip(&params).enumerate() {
            let (from, to) = (from.as_reg().unwrap(), to.as_reg().unwrap());
            a.edits.push((EditPoint { pos: i.0, side: Side::Before }, Edit::Copy { from, to }));
            a.inst_locs_mut(i)[defs + k] = Loc::reg(to);
        }
        let ret = f.region_blocks(callee).map(|b| f.terminator(b)).find(|&t| f.sig(t).base() == "RET").unwrap();
        let results = a.inst_locs(ret).to_vec();
        for (k, &from) in results.iter().enumerate() {
            let to = a.inst_locs(i)[k].as_reg().unwrap();
            a.inst_locs_mut(i)[k] = from;
            let copy = Edit::Copy { from: from.as_reg().unwrap(), to };
            a.edits.push((EditPoint { pos: i.0, side: Side::After }, copy));
        }
    }
    a.edits.sort_by_key(|e| e.0);
    a
}

fn same(a: &AllocatedFunction<'_>) -> Summary {
    match compare_seeds(a, 0..12) {
        Ok(s) => s,
        Err((seed, m)) => panic!("seed {seed}: {}", m.describe(a.func)),
    }
}

fn differs(a: &AllocatedFunction<'_>) -> Mismatch {
    match compare_seeds(a, 0..12) {
        Ok(s) => panic!("no difference: {s:?}"),
        Err((_, m)) => {
            assert!(!m.describe(a.func).is_empty());
            m
        }
    }
}

/// The loop in six registers: i in R4, acc in R5 all the way, no copies but the first two.
fn tight(f: &Function) -> AllocatedFunction<'_> {
    let mut a = AllocatedFunction::empty(f);
    // 0 base, 1 n, 2 zero, 3 start, 4 i, 5 acc, 6 x, 7 acc2, 8 i2, 9 p.
    let home = [2, 3, 4, 5, 4, 5, 6, 5, 4, 0];
    let at = |x: Value| if x.0 == 9 { Loc::reg(PhysReg::p(0)) } else { reg(home[x.index()]) };
    for i in f.insts() {
        let lanes: Vec<Loc> = f.operands(i).iter().flat_map(|&o| f.lanes(o)).map(|l| at(l.value().unwrap())).collect();
        a.inst_locs_mut(i).copy_from_slice(&lanes);
    }
    a.block_param_locs_mut(Block(1)).copy_from_slice(&[reg(4), reg(5)]);
    a
}

/// Position of the instruction with this mnemonic.
fn find(f: &Function, mnemonic: &str) -> Inst {
    f.insts().find(|&i| &*f.sig(i).mnemonic == mnemonic).expect("it is there")
}

#[test]
fn a_run_on_values_does_what_the_program_says() {
    let f = sum_loop();
    for seed in 0..8 {
        let options = InterpOptions { seed, ..Default::default() };
        let r = interpret(&f, &options);
        assert_eq!(r.stop, Stop::Finished);
        let stores = r.trace.class(TraceClass::Memory(Space::Global, 0));
        assert_eq!((stores.len(), r.trace.class(TraceClass::Exit).len()), (2, 2));
        let n = (seed::constant_word(seed, 0, 0x168) & 7).max(1) as u64;
        assert_eq!(r.executed, 5 + 5 * n + 2);
        // The same by hand.
        let base = seed::constant_word(seed, 0, 0x160) as u64;
        let memory = Memory::new(seed, false);
        for (t, e) in stores.iter().enumerate() {
            let mut acc = seed::special(seed, "SR_TID.X", t as u32, false);
            for i in 0..n {
                let g = MemoryClass { space: Space::Global, alias: 0 };
                let x = memory.load(g, 0, base + i + 16, 0, 4).bits;
                let mut u = crate::semantics::Uninterpreted::new("FFMA");
                [x, acc, acc].iter().for_each(|w| u.operand(&[*w]));
                acc = u.word(0);
            }
            assert_eq!((e.address, e.data[0], e.bytes), (base, acc, 4), "seed {seed}");
        }
        assert_eq!(r.trace, interpret(&f, &options).trace);
    }
    let text = interpret(&f, &InterpOptions::default()).trace.to_text(&f);
    assert!(text.starts_with("global memory\n  i10 STG.E: thread 0 stores [0x"), "{text}");
}

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
fn order_within_a_class_and_across_barriers() {
    let mut b = B::new();
    let e = b.block("entry");
    b.0.switch_to(e);
    let x = b.one("MOV", R, &[Operand::constant(0, 0x160)]);
    b.none("STG.E", &[addr(Operand::imm(64)), v(x)]);
    b.none("STS", &[addr(Operand::imm(64)), v(x)]);
    b.none("BAR.SYNC", &[Operand::imm(0)]);
    b.none("STG.E", &[addr(Operand::imm(0)), v(x)]);
    b.0.exit();
    let f = b.done();
    let mut a = naive(&f);
    let order = |o: [u32; 6]| Some(o.map(Inst).to_vec());
    a.order = order([0, 2, 1, 3, 4, 5]);
    same(&a);
    a.order = order([0, 1, 3, 2, 4, 5]);
    differs(&a);
    a.order = order([0, 4, 2, 3, 1, 5]);
    differs(&a);
    a.order = order([0, 0, 2, 3, 4, 5]);
    assert!(matches!(differs(&a), Mismatch::End { .. }));
}

#[test]
fn undefined_data_is_a_wildcard_before_and_a_failure_after() {
    let mut b = B::new();
    let (entry, left, join) = (b.block("entry"), b.block("left"), b.block("join"));
    b.0.switch_to(entry);
    let tid = b.0.special("SR_LANEID");
    let t = b.one("S2R", R, &[tid]);
    let p = b.one("ISETP.EQ", P, &[v(t), Operand::imm(0)]);
    let x = b.one("MOV", R, &[Operand::constant(0, 0x160)]);
    b.0.branch(v(p), (left, &[]), (join, &[Lane::UNDEF, lane(x)]));
    b.0.switch_to(left);
    let y = b.one("IADD", R, &[v(x), Operand::imm(3)]);
    b.0.jump(join, &[lane(y), lane(y)]);
    let q = b.0.param(join, R, 1);
    let r = b.0.param(join, R, 1);
    b.0.switch_to(join);
    b.none("STG.E", &[addr(Operand::imm(64)), v(q)]);
    b.none("STG.E", &[addr(Operand::imm(128)), v(r)]);
    b.0.exit();
    let f = b.done();
    let s = same(&naive(&f));
    assert_eq!((s.wildcards, s.events), (12, 12 * (4 + 2)));
    // Both parameters in one register: they hold the same on one edge, and one is undefined on the other.
    let mut a = AllocatedFunction::empty(&f);
    let home = |x: Value| match f.class(x) {
        P => Loc::reg(PhysReg::p(0)),
        _ => reg([2, 0, 3, 3, 3, 3][x.index()]),
    };
    for i in f.insts() {
        let lanes: Vec<Loc> =
            f.operands(i).iter().flat_map(|&o| f.lanes(o)).map(|l| home(l.value().unwrap())).collect();
        a.inst_locs_mut(i).copy_from_slice(&lanes);
    }
    a.block_param_locs_mut(Block(2)).copy_from_slice(&[reg(3), reg(3)]);
    assert_eq!(same(&a).wildcards, 12);
    // The defined one from a register that nothing wrote.
    a.inst_locs_mut(Inst(7))[0] = reg(9);
    assert!(matches!(differs(&a), Mismatch::Event { how: Disagreement::Undefined, .. }));
}

#[test]
fn undefined_control_ends_the_comparison() {
    let mut b = B::new();
    let (entry, exit) = (b.block("entry"), b.block("exit"));
    b.0.switch_to(entry);
    b.none("STG.E", &[addr(Operand::imm(64)), Operand::imm(1)]);
    let p = b.one("ISETP.EQ", P, &[Operand::undef(1, 1), Operand::imm(0)]);
    b.0.branch(v(p), (exit, &[]), (exit, &[]));
    b.0.switch_to(exit);
    b.none("STG.E", &[addr(Operand::imm(64)), Operand::imm(2)]);
    b.0.exit();
    let f = b.done();
    let s = same(&naive(&f));
    assert_eq!((s.partial, s.events, s.never_reached.len()), (12, 24, 2));
}

/// `@p x = MOV 7` over an old value, then a store of it.
fn guarded() -> Function {
    let mut b = B::new();
    let e = b.block("entry");
    b.0.switch_to(e);
    let tid = b.0.special("SR_LANEID");
    let t = b.one("S2R", R, &[tid]);
    let p = b.one("ISETP.EQ", P, &[v(t), Operand::imm(0)]);
    let old = b.one("MOV", R, &[Operand::imm(5)]);
    let op = b.0.op_with("MOV", &[(3, Constraint::Tied(0))], &[]);
    let x = b.0.inst1(op, R, 1, &[v(p).with_flags(OperandFlags::GUARD), Operand::imm(7), v(old)]);
    let not = v(p).with_flags(OperandFlags::GUARD.with(OperandFlags::NOT));
    b.none("STG.E", &[not, addr(Operand::imm(64)), v(x)]);
    b.none("STG.E", &[addr(Operand::imm(64)), v(x)]);
    b.0.exit();
    b.done()
}

#[test]
fn guards_keep_the_old_value() {
    let f = guarded();
    let r = interpret(&f, &InterpOptions::default());
    let events = r.trace.class(TraceClass::Memory(Space::Global, 0));
    let seen: Vec<_> = events.iter().map(|e| (e.thread, e.kind, e.data[0])).collect();
    let (skip, store) = (EventKind::Skipped, EventKind::Store);
    assert_eq!(seen, [(0, skip, 0), (1, store, 5), (0, store, 7), (1, store, 5)]);
    assert_eq!(r.trace.clone().without_skipped().class(TraceClass::Memory(Space::Global, 0)).len(), 3);
    let mut a = naive(&f);
    // The naive one leaves the definition apart from the old value.
    differs(&a);
    let x = a.inst_locs(Inst(3))[0];
    a.inst_locs_mut(Inst(2))[0] = x;
    a.inst_locs_mut(Inst(3))[2] = x;
    same(&a);
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

/// Threads diverge; one side rewrites a uniform register that the other still needs.
fn uniform() -> Function {
    let mut b = B::new();
    let (entry, left, right, join) = (b.block("entry"), b.block("left"), b.block("right"), b.block("join"));
    b.0.switch_to(entry);
    let tid = b.0.special("SR_LANEID");
    let t = b.one("S2R", R, &[tid]);
    let u = b.one("ULDC", RegClass::UR, &[Operand::constant(0, 0x160)]);
    let p = b.one("ISETP.EQ", P, &[v(t), Operand::imm(0)]);
    b.0.branch(v(p), (left, &[]), (right, &[]));
    b.0.switch_to(left);
    let w = b.one("UIADD3", RegClass::UR, &[Operand::imm(1), Operand::imm(2), Operand::imm(3)]);
    b.none("STG.E", &[addr(Operand::imm(64)), v(w)]);
    b.0.jump(join, &[]);
    b.0.switch_to(right);
    b.none("STG.E", &[addr(Operand::imm(64)), v(u)]);
    b.0.jump(join, &[]);
    b.0.switch_to(join);
    b.none("STG.E", &[addr(Operand::imm(64)), v(t)]);
    b.0.exit();
    b.done()
}

#[test]
fn uniform_registers_are_one_for_the_warp() {
    let f = uniform();
    let mut a = naive(&f);
    same(&a);
    // On the thread's own graph u is dead in `left`, on the warp's it is not.
    let u = a.inst_locs(find(&f, "ULDC"))[0];
    let add = find(&f, "UIADD3");
    a.inst_locs_mut(add)[0] = u;
    let store = Inst(add.0 + 1);
    a.inst_locs_mut(store)[0] = u;
    differs(&a);
    // Threads meet again: the last store runs for both at once, thread 0 first.
    let r = interpret(&f, &InterpOptions::default());
    let threads: Vec<u8> = r.trace.class(TraceClass::Memory(Space::Global, 0)).iter().map(|e| e.thread).collect();
    assert_eq!(threads, [0, 1, 0, 1]);
}

#[test]
fn a_swap_of_uniform_parameters_happens_once_for_the_warp() {
    let mut b = B::new();
    let (entry, head, exit) = (b.block("entry"), b.block("head"), b.block("exit"));
    b.0.switch_to(entry);
    let x = b.one("ULDC", RegClass::UR, &[Operand::constant(0, 0x160)]);
    let y = b.one("ULDC", RegClass::UR, &[Operand::constant(0, 0x164)]);
    let zero = b.one("MOV", R, &[Operand::imm(0)]);
    b.0.jump(head, &[lane(x), lane(y), lane(zero)]);
    let p = b.0.param(head, RegClass::UR, 1);
    let q = b.0.param(head, RegClass::UR, 1);
    let i = b.0.param(head, R, 1);
    b.0.switch_to(head);
    b.none("STG.E", &[addr(Operand::imm(64)), v(p)]);
    let i2 = b.one("IADD", R, &[v(i), Operand::imm(1)]);
    let c = b.one("ISETP.LT", P, &[v(i2), Operand::imm(4)]);
    b.0.branch(v(c), (head, &[lane(q), lane(p), lane(i2)]), (exit, &[]));
    b.0.switch_to(exit);
    b.0.exit();
    let f = b.done();
    same(&naive(&f));
    let r = interpret(&f, &InterpOptions::default());
    let data: Vec<u32> = r.trace.class(TraceClass::Memory(Space::Global, 0)).iter().map(|e| e.data[0]).collect();
    let (x, y) = (seed::constant_word(0, 0, 0x160), seed::constant_word(0, 0, 0x164));
    assert_eq!(data, [x, x, y, y, x, x, y, y]);
    // In place, with a swap on the back edge.
    let mut a = naive(&f);
    let back = f.succ_edges(Block(1)).next().unwrap();
    a.edge_edits.retain(|e| e.0 != back);
    let ur = |k: usize| a.block_param_locs(Block(1))[k].as_reg().unwrap();
    let (p, q, i) = (ur(0), ur(1), ur(2));
    let i2 = a.inst_locs(find(&f, "IADD"))[0].as_reg().unwrap();
    a.edge_edits.push((back, Edit::Swap { a: p, b: q }));
    a.edge_edits.push((back, Edit::Copy { from: i2, to: i }));
    a.edge_edits.sort_by_key(|e| e.0);
    same(&a);
}

/// A region called from two sites.
fn calls() -> Function {
    let mut b = B::new();
    let entry = b.block("entry");
    let sub = b.0.region("square", &[(R, 1)]);
    let body = b.0.block_in(sub, "body");
    let a = b.0.param(body, R, 1);
    b.0.switch_to(body);
    let s = b.one("IMAD", R, &[v(a), v(a), Operand::imm(1)]);
    let ret = b.0.op("RET");
    b.0.terminate(ret, &[v(s)], &[]);
    b.0.switch_to(entry);
    let tid = b.0.special("SR_LANEID");
    let x = b.one("S2R", R, &[tid]);
    let y = b.one("call", R, &[Operand::region(sub), v(x)]);
    let z = b.one("call", R, &[Operand::region(sub), v(y)]);
    let w = b.one("IADD", R, &[v(x), v(z)]);
    b.none("STG.E", &[addr(Operand::imm(64)), v(w)]);
    b.0.exit();
    b.done()
}

#[test]
fn calls_pass_arguments_and_results() {
    let f = calls();
    let r = interpret(&f, &InterpOptions::default());
    assert_eq!((r.stop.clone(), r.executed), (Stop::Finished, 6 + 2 + 2));
    let data: Vec<u32> = r.trace.class(TraceClass::Memory(Space::Global, 0)).iter().map(|e| e.data[0]).collect();
    assert_eq!(data, [2, 6]);
    let a = naive(&f);
    same(&a);
    for k in 0..a.edits.len() {
        let mut b = a.clone();
        b.edits.remove(k);
        differs(&b);
    }
    // The callee writes where the caller keeps x.
    let mut b = a.clone();
    let x = a.inst_locs(find(&f, "S2R"))[0];
    b.inst_locs_mut(find(&f, "IMAD"))[0] = x;
    differs(&b);
}

#[test]
fn fuel_and_switches() {
    let mut b = B::new();
    let (entry, a, c) = (b.block("entry"), b.block("a"), b.block("c"));
    b.0.switch_to(entry);
    let tid = b.0.special("SR_LANEID");
    let t = b.one("S2R", R, &[tid]);
    let big = b.one("IMAD", R, &[v(t), Operand::imm(1000), Operand::imm(0)]);
    let brx = b.0.op("brx");
    b.0.terminate(brx, &[v(big)], &[(a, &[]), (c, &[])]);
    b.0.switch_to(a);
    b.none("STG.E", &[addr(Operand::imm(64)), Operand::imm(1)]);
    b.0.jump(a, &[]);
    b.0.switch_to(c);
    b.none("STG.E", &[addr(Operand::imm(64)), Operand::imm(2)]);
    b.0.exit();
    let f = b.done();
    let r = interpret(&f, &InterpOptions { fuel: 100, ..Default::default() });
    assert_eq!(r.stop, Stop::Fuel);
    assert!(r.executed > 95 && r.executed <= 100);
    same(&naive(&f));
    // The lowest block runs first, so the endless loop of thread 0 comes before thread 1's store.
    assert_eq!(r.trace.class(TraceClass::Exit).len(), (f.block_name(Block(1)) == "c") as usize);
}

#[test]
fn predicates_convergent_inputs_and_atomics_are_seen() {
    let mut b = B::new();
    let e = b.block("entry");
    b.0.switch_to(e);
    let x = b.one("MOV", R, &[Operand::constant(0, 0x160)]);
    let y = b.one("MOV", R, &[Operand::constant(0, 0x164)]);
    let s = b.one("SHFL.BFLY", R, &[v(x), Operand::imm(1)]);
    let op = b.0.op("ATOMG.E.ADD.STRONG.GPU");
    let old = b.0.inst1(op, R, 1, &[addr(Operand::imm(64)), v(y)]);
    let c = b.one("FSETP.GT", P, &[v(old), v(s)]);
    let z = b.one("SEL", R, &[v(x), v(y), v(c)]);
    b.none("STS", &[addr(Operand::imm(0)), v(z)]);
    b.0.exit();
    let f = b.done();
    let a = naive(&f);
    same(&a);
    let r = interpret(&f, &InterpOptions::default());
    assert_eq!(r.trace.class(TraceClass::Convergent(Inst(2))).len(), 2);
    assert_eq!(r.trace.class(TraceClass::Memory(Space::Global, 0)).len(), 2);
    for (i, l) in [(Inst(2), 1), (Inst(3), 1)] {
        let mut b = a.clone();
        let now = b.inst_locs(i)[l];
        b.inst_locs_mut(i)[l] = if now == reg(2) { reg(3) } else { reg(2) };
        let m = differs(&b);
        assert_eq!(m.inst(&f), Some(i), "{}", m.describe(&f));
    }
    // A predicate may rest in a general register.
    let mut b = a.clone();
    let (def, usage) = (find(&f, "FSETP.GT"), find(&f, "SEL"));
    let p = b.inst_locs(def)[0].as_reg().unwrap();
    let at = |i: Inst, side| EditPoint { pos: i.0, side };
    b.edits = vec![
        (at(def, Side::After), Edit::Copy { from: p, to: PhysReg::r(40) }),
        (at(usage, Side::Before), Edit::Copy { from: PhysReg::r(40), to: PhysReg::p(5) }),
    ];
    *b.inst_locs_mut(usage).last_mut().unwrap() = Loc::reg(PhysReg::p(5));
    same(&b);
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
