//! V11 to V17: mostly as a text can say them.

use super::*;
use crate::builder::FunctionBuilder;
use crate::class::RegClass;
use crate::function::{Block, Inst, Value};
use crate::operand::{Lane, Operand, OperandFlags};

/// A statement between definitions of every class and the end.
fn body(statement: &str) -> Function {
    parse(&format!(
        "kernel @k {{\ne:\n%a: R = MOV 1\n%b: R = MOV 2\n%d: R2 = MOV.64 3\n%q: R4 = LDG.E.128 [8]\n%p: P = PMOV 1\n\
         %o: P = PMOV 0\n%u: UR = UMOV 1\n%g: B = BSSY\n{statement}\nEXIT\n}}\n"
    ))
}

#[track_caller]
fn each(rule: Rule, statements: &[&str]) {
    for s in statements {
        let errors = check(&body(s));
        assert!(!errors.is_empty() && errors.iter().all(|e| e.rule == rule), "`{s}`: {errors:#?}");
    }
}

#[track_caller]
fn fine(statements: &[&str]) {
    for s in statements {
        assert_eq!(check(&body(s)), [], "`{s}`");
    }
}

#[test]
fn v11_forms() {
    let mixed = |f: &mut Function| f.values[Value(6)].class = RegClass::P;
    let mut f = good();
    // Value 6 is the second lane of `%w`, which is used as a whole.
    assert_eq!(f.value_name(Value(6)), "%w.1");
    mixed(&mut f);
    assert!(check(&f).iter().any(|e| e.rule == Rule::V11 && e.message.contains("several classes")));
    breaks(Rule::V11, &body("X undef[0]"));
    let mut f = good();
    f.wide_imms[0] = 7;
    breaks(Rule::V11, &f);
    // A list of consecutive lanes, and one of undefined ones.
    let list = f.lanes.len() as u32;
    for (lanes, why) in [([Value(0), Value(1)].map(Lane), "a run"), ([Lane::UNDEF; 2], "need no list")] {
        let mut f = good();
        f.lanes.extend(lanes);
        let store = f.insts().find(|&i| &*f.sig(i).mnemonic == "STG.E.64").unwrap();
        let last = f.insts[store].first_operand + f.insts[store].num_operands as u32 - 1;
        f.operands[last as usize] = Operand::lanes(list, 2, 2);
        assert!(breaks(Rule::V11, &f)[0].message.contains(why));
    }
    let mut f = good();
    let p = f.blocks[Block(1)].first_param_operand as usize + 1;
    f.operands[p] = Operand::run(Value(f.operands[p].payload()), 2, 2);
    assert!(breaks(Rule::V11, &f)[0].message.contains("alignment"));
    fine(&["X undef[3]", "X {%a, undef, %b}:4", "X %q, %q.1, 0x123456789"]);
}

#[test]
fn v12_clocks() {
    each(Rule::V12, &["%c: R = S2R SR_CLOCKLO", "%c: R2 = CS2R SR_CLOCKLO"]);
    fine(&["%c: R = S2R.VOLATILE SR_CLOCKLO", "%c: R = S2R SR_TID.X", "FROBNICATE SR_CLOCKLO"]);
}

#[test]
fn v13_flags() {
    each(Rule::V13, &["X -SR_TID.X", "X |$v|", "X -%p", "X |%p|", "X -%g", "X ~%g", "X <0x40>%a", "X <0x80>5"]);
    fine(&["X -%a, |%u|, ~%a, !%p, -|%d|", "X -c[0][8], ~c[0][8], -(5), ~5, -undef", "X -{%a, %b}"]);
    let mut f = good();
    f.operands[0] = f.operands[0].with_flags(OperandFlags::NEG);
    breaks(Rule::V13, &f);
    let mut f = good();
    let p = f.blocks[Block(1)].first_param_operand as usize;
    f.operands[p] = f.operands[p].with_flags(OperandFlags::NOT);
    breaks(Rule::V13, &f);
}

#[test]
fn v14_guards() {
    each(
        Rule::V14,
        &[
            "X %a, @%p",
            "X @%p, @%o",
            "@%p X @%o",
            "@-undef X",
            "%z: R = @%p MOV 1",
            "%z: R, %y: R = @%p X 1, %a{tied 1}",
        ],
    );
    fine(&["@%p X", "@!%p X %a", "@(undef) X", "%z: R = @%p MOV 1, %a{tied 0}", "%z: R = @%p MOV 1, undef{tied 0}"]);
    // Guards that the text format refuses already.
    for guard in [Operand::value(Value(0)), Operand::undef(2, 2), Operand::undef(0, 1), Operand::imm(1)] {
        let mut f = body("@%p X");
        let at = f.insts[Inst(8)].first_operand as usize;
        assert!(f.operands[at].is_guard());
        f.operands[at] = guard.with_flags(OperandFlags::GUARD);
        let rules = check(&f);
        assert!(rules.iter().any(|e| e.rule == Rule::V14 && e.message.contains("one predicate lane")), "{rules:#?}");
    }
    breaks(Rule::V14, &with("  EXIT\n", "  @%p EXIT\n"));
}

#[test]
fn v15_constraints() {
    each(
        Rule::V15,
        &[
            "X %a extra(7 fixed R4)",
            "X %a extra(7 early)",
            "X 5{fixed R4}",
            "X %a{fixed P0}",
            "X %d{fixed R5}",
            "X %a{fixed R4, fixed R5}",
            "X %d:2{fixed R65535}",
            "X %a{tied 0}",
            "%z: R{tied 0} = X",
            "%z: R = X %a{tied 1}",
            "%z: R = X %a{tied 0}, %b{tied 0}",
            "%z: R, %y: R = X %a{tied 0, tied 1}",
            "%z: R = X %d{tied 0}",
            "%z: UR = X %a{tied 0}",
            "%z: R = X undef[2]{tied 0}",
            "%z: R = X 5{tied 0}",
            "X %a{early}",
            "X %a{flight}",
            "HGMMA 5{flight}",
            "%z: R{fixed R4} = X %a{fixed R5, tied 0}",
            "%z: R2{fixed R4}, %y: R{fixed R5} = X",
        ],
    );
    fine(&[
        "%z: R{fixed R4, early}, %y: R2{fixed R6} = X %a{fixed R4, tied 0}, %q{fixed R4}",
        "%z: R2 = X undef[2]{tied 0}",
        "%z: R4{flight} = HGMMA %q{tied 0, flight}",
        "%z: R = X {%a, %b}:1{fixed R5} clobbers(R0, R4..R9)",
        "%z: R{fixed R4}, %y: UR{fixed UR4} = X undef{fixed R4}",
    ]);
}

#[test]
fn v16_addresses() {
    each(
        Rule::V16,
        &[
            "X [%q]",
            "X [%p]",
            "X [%a+%b+%u]",
            "X [%a+1+2]",
            "X [$v+c[0][8]]",
            "X [0x123456789]",
            "X [SR_TID.X]",
            "X [-%a]",
            "X [%a+~5]",
            "X <0x20>%a",
            "X %b, <0x10>%a",
        ],
    );
    fine(&[
        "X [%a]",
        "X [%d+%u+0x10]",
        "X [%d+%u-0x10+$v]",
        "X [c[0][8]+4], [5]",
        "X [undef[2]]",
        "X [%a] , [%b+1], %a",
    ]);
}

#[test]
fn v17_calls() {
    for (from, to) in [
        ("call @sub, %t, {%i, undef}", "call @sub, %t"),
        ("call @sub, %t, {%i, undef}", "call @sub, %t, {%i, undef}, 1"),
        ("call @sub, %t, {%i, undef}", "call @sub, 5, {%i, undef}"),
        ("call @sub, %t, {%i, undef}", "call @sub, %p, {%i, undef}"),
        ("call @sub, %t, {%i, undef}", "call @sub, %t, %i"),
        ("call @sub, %t, {%i, undef}", "call %t, {%i, undef}"),
        ("call @sub, %t, {%i, undef}", "call @k, %t, {%i, undef}"),
        ("call @sub, %t, {%i, undef}", "call @#7, %t, {%i, undef}"),
        ("call @sub, %t, {%i, undef}", "X @sub, %t, {%i, undef}"),
        ("%r: R2 = call", "%r: R2, %more: R = call"),
        ("-> (R2)", "-> (UR2)"),
        ("-> (R2)", "-> ()"),
        ("RET %y", "RET %x"),
        ("RET %y", "RET"),
        ("RET %y", "RET 5"),
        ("  EXIT", "  RET"),
    ] {
        breaks(Rule::V17, &with(from, to));
    }
    let mut f = good();
    f.regions.as_mut_slice()[1].results[0].1 = 0;
    breaks(Rule::V17, &f);
    let guarded = "%r: R2 = @%p call @sub, %t, {%i, undef}, undef[2]{tied 0}";
    assert_eq!(check(&with("%r: R2 = call @sub, %t, {%i, undef}", guarded)), []);
}

#[test]
fn v17_recursion() {
    let text = |inner: &str| {
        format!(
            "kernel @k {{\ne:\n call @a\n call @b\n EXIT\nregion @a -> () {{\na:\n call @b\n RET\n}}\n\
             region @b -> () {{\nb:\n{inner} RET\n}}\n}}\n"
        )
    };
    assert_eq!(check(&parse(&text(""))), []);
    for inner in [" call @b\n", " call @a\n"] {
        assert_eq!(breaks(Rule::V17, &parse(&text(inner))).len(), 1);
    }
    // A chain of many regions is walked without recursion.
    let n = 3000;
    let mut b = FunctionBuilder::new("k");
    let regions: Vec<_> = (0..n).map(|k| b.region(&format!("r{k}"), &[])).collect();
    let (call, ret) = (b.op("call"), b.op("RET"));
    let entry = b.block("e");
    b.switch_to(entry);
    b.inst(call, &[], &[Operand::region(regions[0])]);
    b.exit();
    for k in 0..n {
        let block = b.block_in(regions[k], &format!("b{k}"));
        b.switch_to(block);
        if k + 1 < n {
            b.inst(call, &[], &[Operand::region(regions[k + 1])]);
        }
        b.terminate(ret, &[], &[]);
    }
    let f = b.finish().unwrap();
    assert_eq!((check(&f), f.callee(Inst(0))), (vec![], Some(regions[0])));
}
