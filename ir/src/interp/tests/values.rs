//! Runs on values: what the program says, order that shows, guards, switches, fuel.

use super::*;

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
