//! Files that a whole warp shares.

use super::*;

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
