//! Calls of regions.

use super::*;

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
