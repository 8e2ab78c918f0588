//! The notation, with the text expected.

use super::same::assert_same;
use crate::builder::FunctionBuilder;
use crate::class::{PhysReg, RegClass};
use crate::function::{Block, Function, Inst, Region, Value};
use crate::op::Constraint;
use crate::operand::{Lane, Operand, OperandFlags, OperandKind};
use crate::text::{is_allocated, parse, print, TextError};

pub fn one(text: &str) -> Function {
    let mut all = parse(text).unwrap_or_else(|e| panic!("{}", show(&e, text)));
    assert_eq!(all.len(), 1);
    all.pop().expect("one kernel")
}

pub fn show(errors: &[TextError], text: &str) -> String {
    errors.iter().map(|e| e.render("text", text)).collect()
}

/// The text in its canonical spelling, which must be a fixed point.
fn canonical(text: &str) -> String {
    let f = one(text);
    let out = print(&f);
    let g = one(&out);
    assert_same(&f, &g);
    assert_eq!(print(&g), out);
    out
}

/// The canonical spelling of the statements of one block, terminator left out.
fn body(statements: &str) -> Vec<String> {
    let decls = "%a: R = A\n%b: R = A\n%q: R4 = A\n%d: R2 = A\n%p: P = A\n%u: UR = A\n";
    let out = canonical(&format!("kernel @k {{\ne:\n{decls}{statements}\nEXIT\n}}\n"));
    let lines: Vec<String> = out.lines().map(|l| l.trim().to_string()).collect();
    lines[8..lines.len() - 2].to_vec()
}

const EXAMPLE: &str = r#"kernel @saxpy .target sm_80 .maxntid 256,1,1 .reqntid 128,1,1 .minnctapersm 2 .maxnreg 64 .smem 1024 .barriers 1 .stack 24 {
entry:
  %tid: R        = S2R SR_TID.X
  %i: R          = IMAD %tid, c[0][0x0], %tid
  %p: P          = ISETP.GE %i, c[0][0x178]
  br %p, exit, body(%i, undef[4])
body(%j: R, %acc: R4) .trip 16:
  %xa: R2        = IMAD.WIDE %j, 4, c[0][0x160]
  %q: R4         = LDG.E.128 [%xa+0x10]
  %v: R          = LDG.E [%xa]  #7
  %s: R          = FFMA -%v, |%q.2|, %v  #7
  %told: R       = MOV 1  #7
  %t: R          = @!%p FADD %s, %s, %told{tied 0}  #7
  STG.E [%xa], {%s, %v}:2  #7
  %w: R{early}, %z: P = FOO %t{fixed R4}, $variable, 0x12345, undef[2]  #7
  %r: R2         = call @pow, %xa, %q  #7
  call.abi $vprintf clobbers(R0, R3..R15)  #7
  br %z, body(%w, %acc.0, %q.1, undef, %r.0), exit  #7
exit:
  EXIT  #12
region @pow -> (R2) {
powentry(%a: R2, %b: R4):
  RET %a  #13
}
}
"#;

#[test]
fn the_example_is_canonical() {
    let f = one(EXAMPLE);
    assert_eq!(print(&f), EXAMPLE);
    assert_eq!(f.to_string(), EXAMPLE);
    assert_eq!(f.attrs.maxntid, Some([256, 1, 1]));
    assert_eq!(f.attrs.target.as_deref(), Some("sm_80"));
    assert_eq!((f.num_blocks(), f.regions().len()), (4, 2));
    assert_eq!(f.block(Block(1)).trip, Some(16));
    let fadd = f.insts().find(|&i| &*f.sig(i).mnemonic == "FADD").expect("the example has one");
    assert!(f.uses(fadd)[0].is_guard() && f.uses(fadd)[0].flags().has(OperandFlags::NOT));
    assert_eq!(f.sig(fadd).tied(4), Some(0));
    assert_eq!((f.line(fadd), f.line(Inst(0))), (7, 0));
    assert_eq!(f.callee(f.insts().find(|&i| f.callee(i).is_some()).expect("a call")), Some(Region(1)));
    assert!(!is_allocated(EXAMPLE));
}

#[test]
fn layout_order_is_text_order_and_uses_may_stand_first() {
    let text = "kernel @k {\nentry:\n  jump body\nexit(%r: R):\n  STG %r, %x\n  EXIT\nbody:\n  %x: R          = MOV 1\n  jump exit(%x)\n}\n";
    let f = one(text);
    assert_eq!(print(&f), text);
    assert_eq!(f.layout(), [Block(0), Block(2), Block(1)]);
    assert_eq!(f.block_name(Block(1)), "body");
}

#[test]
fn immediates() {
    let values = |s: &str| {
        let f = one(&format!("kernel @k {{\ne:\n X {s}\n EXIT\n}}"));
        f.uses(Inst(0)).iter().map(|&o| (o.kind() == OperandKind::WideImm, f.imm(o).unwrap_or(0))).collect::<Vec<_>>()
    };
    assert_eq!(values("0, 7, 0x10, -1, -0"), [0, 7, 16, 0xffff_ffff, 0].map(|v| (false, v)));
    assert_eq!(values("4294967295, -2147483648"), [0xffff_ffff, 0x8000_0000].map(|v| (false, v)));
    assert_eq!(values("4294967296, 0xffffffffffffffff"), [1 << 32, u64::MAX].map(|v| (true, v)));
    assert_eq!(values("-2147483649, -0x8000000000000000"), [0xffff_ffff_7fff_ffff, 1 << 63].map(|v| (true, v)));
    assert_eq!(body("X 4096, 4097, -4096, -4097, 0x100000000"), ["X 4096, 0x1001, -4096, 0xffffefff, 0x100000000"]);
    assert_eq!(body("X -(5), -(-5), ~-5, |7|, -~|(9)|"), ["X -(5), -(-5), ~-5, |7|, -~|(9)|"]);
}

#[test]
fn flags_on_every_kind() {
    assert_eq!(body("X -%a, ~%a, |%a|, -|%a|, !%p, ~%p"), ["X -%a, ~%a, |%a|, -|%a|, !%p, !%p"]);
    assert_eq!(body("X -c[0][0x4], ~SR_A, |$v|"), ["X -c[0][0x4], ~SR_A, |$v|"]);
    assert_eq!(body("X %a, @%p, @(SR_A), @(@k)"), ["X %a, @%p, @(SR_A), @(@k)"]);
    assert_eq!(body("@%p X %a"), ["@%p X %a"]);
    assert_eq!(body("X @!%p, %a"), ["@!%p X %a"]);
    assert_eq!(body("X <0x20>%a, <0xff>5, <0>%b"), ["X <0x20>%a, <0xff>0x5, %b"]);
}

#[test]
fn addresses() {
    assert_eq!(
        body("X [%d+0x10], [%a+%u-0x8], [-4], [c[0][8] + $v]"),
        ["X [%d+0x10], [%a+%u-0x8], [-0x4], [c[0][0x8]+$v]"]
    );
    assert_eq!(body("X [%a+-%b], [%a--8], [ %a-(5) ]").len(), 1);
    assert_eq!(body("X [%a+-%b-(5)], 4"), ["X [%a-%b-(0x5)], 4"]);
    let f = one("kernel @k {\ne:\n %a: R2 = A\n X [%a+4], [%a]\n EXIT\n}");
    let flags: Vec<u8> = f.uses(Inst(1)).iter().map(|o| o.flags().0).collect();
    assert_eq!(flags, [48, 16, 48]);
}

#[test]
fn runs_and_alignments() {
    assert_eq!(
        body("X %q, %q.3, %q:8, %a:2, {%a, %b}:2, {%q.0, %q.1}, {%d, %a}"),
        ["X %q, %q.3, %q:8, %a:2, {%a, %b}:2, {%q.0, %q.1}:2, {%d.0, %d.1, %a}:4"]
    );
    assert_eq!(
        body("X undef, undef[3], undef[3]:1, {undef, undef}, {%a, undef}, undef[0]"),
        ["X undef, undef[3], undef[3]:1, undef[2], {%a, undef}:2, undef[0]"]
    );
    assert_eq!(
        body("%w: R64:8{fixed R24}, %z: R3:4, %y: R3:1 = X %a{early, flight, tied 0}"),
        ["%w: R64:8{fixed R24}, %z: R3, %y: R3:1 = X %a{tied 0, early, flight}"]
    );
    assert_eq!(body("X %q{fixed UR4, fixed R3}"), ["X %q{fixed R3, fixed UR4}"]);
}

#[test]
fn trailers() {
    assert_eq!(body("X clobbers(R3, R2, UP1, R7..R9, R8..R10)"), ["X clobbers(R2..R3, R7..R10, UP1)"]);
    assert_eq!(
        body("X %a clobbers(R65535) extra(9 early, 7 fixed R4) #3"),
        ["X %a clobbers(R65535) extra(7 fixed R4, 9 early)  #3",]
    );
    // The line lasts: an EXIT without one has none.
    let f = one("kernel @k {\ne:\n X #3\n EXIT\n}");
    assert_eq!((f.line(Inst(0)), f.line(Inst(1))), (3, 0));
}

#[test]
fn odd_names_are_quoted() {
    let text = "kernel @\"a b\" {\n\"1.5\"(%\"a.b\": R):\n  %\"\\\"\\\\\\n\\u{0}é\": R = \"2 odd\" %\"a.b\", $\"x y\", SR\"clock\", SR_Q\n  %x.1: R = y\n  \"region\" @\"a b\"\n  brx %\"a.b\", \"1.5\"(undef), \"undef\", \"SR_X\", c, .L_1\n";
    let text = text.replace("%x.1: R = y\n", "%x: R          = y\n")
        + "\"undef\":\n  EXIT\n\"SR_X\":\n  EXIT\nc:\n  EXIT\n.L_1:\n  EXIT\n}\n";
    let f = one(&text);
    assert_eq!(print(&f), text);
    assert_eq!(f.name, "a b");
    assert_eq!(f.run_name(Value(1)), Some("\"\\\n\0é"));
    assert_eq!(f.operand_symbol(f.uses(Inst(0))[2]), Some("clock"));
}

#[test]
fn values_without_names_stay_without() {
    let f = one("kernel @k {\ne:\n %v0: R2 = A\n %v2: R = B %v0.1\n EXIT\n}");
    assert!(f.names.is_empty());
    assert_eq!(print(&f), "kernel @k {\ne:\n  %v0: R2        = A\n  %v2: R         = B %v0.1\n  EXIT\n}\n");
    // Numbers that do not fit are names; `v2` of value 0 must not be taken for the unnamed value 2.
    let f = one("kernel @k {\ne:\n %v2: R = A\n %v9: R = A\n %x: R = A\n EXIT\n}");
    assert_eq!(f.values().map(|v| f.run_name(v)).collect::<Vec<_>>(), [Some("v2"), Some("v9"), Some("x")]);
    let mut b = FunctionBuilder::new("k");
    let e = b.block("e");
    b.switch_to(e);
    let op = b.op("A");
    for name in ["v1", "", "v2"] {
        let d = b.inst1(op, RegClass::R, 1, &[]);
        if !name.is_empty() {
            b.set_name(d, name);
        }
    }
    b.exit();
    let f = b.finish().expect("it is whole");
    let text = print(&f);
    assert_eq!(text, "kernel @k {\ne:\n  %v1'1: R       = A\n  %v1: R         = A\n  %v2'1: R       = A\n  EXIT\n}\n");
    assert_same(&f, &one(&text));
}

#[test]
fn shared_names_get_versions() {
    let text = "kernel @k {\ne:\n  %x: R          = A\n  %x'1: R        = A %x\n  %x'2: R2       = A %x'1\n  B %x'2.1\n  jump e'1\ne'1:\n  EXIT\n}\n";
    let f = one(text);
    assert_eq!(print(&f), text);
    assert!(f.values().all(|v| f.run_name(v) == Some("x")));
    // Versions are counted afresh.
    assert_eq!(print(&one(&text.replace("x'1", "x'77"))), text);
    // Lanes with names of their own.
    let text =
        "kernel @k {\ne(%v0: R2{names(a, -)}):\n  %v2: R3{early, names(a, \"b.c\", a)} = A %v0, %v2.1\n  EXIT\n}\n";
    let f = one(text);
    assert_eq!(print(&f), text);
    assert_eq!(f.run_name(Value(3)), Some("b.c"));
}

#[test]
fn regions_in_any_layout() {
    let mut b = FunctionBuilder::new("k");
    let r1 = b.region("one", &[(RegClass::R, 2), (RegClass::P, 1)]);
    let r2 = b.region("two", &[]);
    let order = [(Region(0), "e"), (r2, "x"), (Region(0), "f"), (r1, "y"), (r2, "z")];
    let ids: Vec<Block> = order.iter().map(|&(r, n)| b.block_in(r, n)).collect();
    for (k, to) in [(0, Some(2)), (1, Some(4)), (2, None), (3, None), (4, None)] {
        b.switch_to(ids[k]);
        match to {
            Some(t) => b.jump(ids[t], &[]),
            None if order[k].0 == Region(0) => b.exit(),
            None => {
                let op = b.op("RET");
                b.terminate(op, &[], &[]);
            }
        }
    }
    let f = b.finish().expect("it is whole");
    let text = "kernel @k {\nregion @one -> (R2, P)\nregion @two -> ()\ne:\n  jump f\nregion @two {\nx:\n  jump z\n}\nf:\n  EXIT\nregion @one {\ny:\n  RET\n}\nregion @two {\nz:\n  RET\n}\n}\n";
    assert_eq!(print(&f), text);
    assert_same(&f, &one(text));
}

#[test]
fn loose_spelling_is_read() {
    let text = "; comment\r\nkernel @k .maxntid 64 // comment\n {\n";
    assert!(parse(text).is_err(), "the brace stands on the line of the head");
    let text = "//x\r\n\tkernel   @k\t.maxntid 64 { e : jump b (%z)\nb( %x : R , %y : P ) .trip 3 :\n%z : R=X %x,%y ; c\n EXIT }\n";
    let e = parse(text).unwrap_err();
    assert_eq!(e.len(), 1, "{}", show(&e, text));
    let text = text.replace("b (%z)", "b(%z, undef)");
    let out = canonical(&text);
    assert!(
        out.starts_with("kernel @k .maxntid 64,1,1 {\ne:\n  jump b(%z, undef)\nb(%x: R, %y: P) .trip 3:\n"),
        "{out}"
    );
    let one_line = "kernel @k { e: call @pow, 1\nEXIT\n region @pow -> (R2) { powentry(%a: R2, %b: R2): RET %a } }";
    assert!(canonical(one_line).contains("region @pow -> (R2) {\npowentry(%a: R2, %b: R2):\n  RET %a\n}\n}\n"));
    assert_eq!(parse("").map(|l| l.len()), Ok(0));
    assert_eq!(parse(" \n; nothing\n").map(|l| l.len()), Ok(0));
}

#[test]
fn built_functions_read_back() {
    let mut b = FunctionBuilder::new("k");
    let e = b.block("entry");
    let l = b.block("loop");
    b.set_trip(l, 0);
    b.switch_to(e);
    let mov = b.op("MOV");
    let x = b.inst1(mov, RegClass::R, 2, &[Operand::imm(1)]);
    b.jump(l, &[Lane(x.first), Lane::UNDEF]);
    let p = b.param(l, RegClass::R, 2);
    b.set_name(p, "p");
    b.switch_to(l);
    let wide = b.imm64(1 << 40);
    let mix = b.lanes(&[Lane(p.first), Lane::UNDEF, Lane(x.first)], 4);
    let hgmma =
        b.op_with("HGMMA", &[(0, Constraint::Fixed(PhysReg::r(24))), (2, Constraint::InFlight)], &[PhysReg::p(0)]);
    let mut acc = b.fresh(RegClass::R, 64);
    acc.align = 8;
    b.inst(hgmma, &[acc], &[wide, mix]);
    b.exit();
    let f = b.finish().expect("it is whole");
    let text = "kernel @k {\nentry:\n  %v0: R2        = MOV 1\n  jump loop(%v0.0, undef)\nloop(%p: R2) .trip 0:\n  %v4: R64:8{fixed R24} = HGMMA 0x10000000000, {%p.0, undef, %v0.0}:4{flight} clobbers(P0)\n  EXIT\n}\n";
    assert_eq!(print(&f), text);
    assert_same(&f, &one(text));
}
