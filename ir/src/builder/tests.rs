use super::*;
use crate::operand::OperandKind;

#[test]
fn blocks_and_values_are_renumbered_in_linear_order() {
    let mut b = FunctionBuilder::new("k");
    let entry = b.block("entry");
    let exit = b.block("exit");
    let body = b.block("body");
    let op = b.op("MOV");
    b.switch_to(entry);
    let x = b.inst1(op, RegClass::R, 1, &[Operand::imm(1)]);
    b.jump(body, &[Lane(x.first)]);
    b.switch_to(exit);
    b.exit();
    b.switch_to(body);
    let p = b.param(body, RegClass::R, 1);
    let q = b.inst1(op, RegClass::R, 2, &[Operand::value(p.first)]);
    let run = b.lanes(&[Lane(p.first), Lane(q.first)], 2);
    b.inst(op, &[], &[run]);
    let br = b.op("br");
    let cond = b.inst1(op, RegClass::P, 1, &[]);
    b.terminate(br, &[Operand::value(cond.first)], &[(body, &[Lane::UNDEF]), (exit, &[])]);
    let f = b.finish_mapped().unwrap();
    let func = &f.func;
    assert_eq!(func.layout(), [Block(0), Block(2), Block(1)]);
    assert_eq!(func.block_name(Block(1)), "body");
    assert_eq!(f.values[p.first], Value(1));
    // The lanes p, q.0 became consecutive numbers, so the run is a plain one.
    assert_eq!(func.uses(Inst(3))[0].kind(), OperandKind::Run);
    assert_eq!(func.pred_edges(Block(1)).len(), 2);
    assert_eq!(func.edge_args(Edge(1)), [Lane::UNDEF]);
    assert_eq!(func.def(Value(1)), ValueDef::Param(Block(1)));
    assert_eq!(func.block_of(Inst(2)), Block(1));
    assert_eq!(func.value_name(Value(3)), "%v2.1");
}

#[test]
fn what_has_no_canonical_form_is_refused() {
    let mut b = FunctionBuilder::new("k");
    let e = b.block("entry");
    b.switch_to(e);
    let v = b.fresh(RegClass::R, 1);
    let op = b.op("MOV");
    b.inst(op, &[], &[Operand::value(v.first)]);
    b.exit();
    assert_eq!(b.finish().unwrap_err(), BuildError::Undefined("%v0".into()));

    let mut b = FunctionBuilder::new("k");
    b.block("entry");
    assert_eq!(b.finish().unwrap_err(), BuildError::Unterminated("entry".into()));

    let mut b = FunctionBuilder::new("k");
    let e = b.block("entry");
    let lost = b.block("lost");
    b.switch_to(e);
    b.exit();
    b.switch_to(lost);
    b.exit();
    assert_eq!(b.prune_unreachable(), ["lost"]);
    assert_eq!(b.finish().unwrap().num_blocks(), 1);
}
