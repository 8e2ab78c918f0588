//! Undefined data: a wildcard in the input, a failure after allocation.

use super::*;

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
