//! What the PTX parser makes of particular texts: resolved names, operands, and errors that point at the text.

mod common;

use fatpoint_frontends::ptx::ast::{
    AddressBase, CallTarget, Imm, ImmKind, Linkage, Module, Operand, Part, RegId, SourceLoc, Stmt, SymbolRef,
};
use fatpoint_frontends::ptx::roles::{defs_and_uses, roles, MemAccess, Role};
use fatpoint_frontends::ptx::types::{ScalarType, Space};
use fatpoint_frontends::ptx::{parse, parse_bytes, parse_lossy, PtxError};

const HEADER: &str = ".version 8.7\n.target sm_90a\n.address_size 64\n";

fn kernel(body: &str) -> String {
    format!("{HEADER}.visible .entry k(.param .u64 k_param_0, .param .u32 n)\n{{\n{body}\n\tret;\n}}\n")
}

fn module(body: &str) -> Module {
    let text = kernel(body);
    parse(&text).unwrap_or_else(|e| panic!("{}", e[0]))
}

fn errors(text: &str) -> Vec<PtxError> {
    parse(text).expect_err("an error is expected")
}

/// The one error of a kernel body: its message and the text it points at.
fn error(body: &str) -> (String, String) {
    let text = kernel(body);
    let errors = errors(&text);
    assert_eq!(errors.len(), 1, "{errors:?}");
    (errors[0].message.clone(), errors[0].span.of(&text).to_string())
}

#[test]
fn header_params_and_directives() {
    let m = parse(
        ".version 8.7\n.target sm_90a, debug\n.address_size 64\n\
         .extern .shared .align 16 .b8 smem[];\n\
         .global .align 4 .u32 table[2][3] = {{1, 2, 3}, {0xff(smem), -5}}, one = 7;\n\
         .const .v4 .f32 c[8];\n\
         .visible .entry k(.param .u64 .ptr .global .align 16 a, .param .u8 b, .param .align 8 .b8 s[24], .param .f32 f)\n\
         .maxntid 128, 2\n.reqntid 64\n.minnctapersm 3\n.maxnreg 80\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n\
         .maxclusterrank 8\n{ ret; }\n.alias q, k;\n",
    )
    .unwrap();
    assert_eq!((m.version.as_str(), m.target.join(" ").as_str(), m.address_size), ("8.7", "sm_90a debug", 64));
    let smem = &m.variables[0];
    assert!(smem.is_unsized && smem.linkage == Linkage::Extern && smem.align == 16 && smem.space == Space::Shared);
    let table = &m.variables[1];
    assert_eq!((table.bytes, table.init.is_some(), table.ty), (24, true, ScalarType::U32));
    assert_eq!((m.variables[2].bytes, m.variables[3].bytes, m.variables[3].align), (4, 128, 16));
    let k = &m.functions[0];
    assert!(k.is_entry && k.linkage == Linkage::Visible);
    let offsets: Vec<_> = k.params.iter().map(|p| (p.offset, p.bytes, p.align)).collect();
    assert_eq!(offsets, [(0, 8, 8), (8, 1, 1), (16, 24, 8), (40, 4, 4)]);
    let pointer = k.params[0].pointer.unwrap();
    assert_eq!((pointer.space, pointer.align), (Space::Global, Some(16)));
    let d = &k.directives;
    assert_eq!((d.maxntid, d.reqntid), (Some([128, 2, 1]), Some([64, 1, 1])));
    assert_eq!((d.minnctapersm, d.maxnreg, d.maxclusterrank), (Some(3), Some(80), Some(8)));
    assert_eq!(d.reqnctapercluster, Some([2, 1, 1]));
    assert_eq!(d.other, [("explicitcluster".to_string(), String::new())]);
    assert_eq!(m.aliases, [("q".to_string(), "k".to_string())]);
    assert!(m.notes.is_empty());
}

#[test]
fn empty_files_have_no_kernels() {
    for text in ["", "// nothing\n", HEADER] {
        let m = parse(text).unwrap();
        assert!(m.functions.is_empty() && m.kernels().count() == 0);
    }
}

#[test]
fn registers_get_dense_ids_when_first_named() {
    let m = module(".reg .b32 %r<1000000000>;\n.reg .pred p, q;\n mov.u32 %r7, 1;\n mov.u32 %r999999999, %r7;");
    let names: Vec<_> = m.functions[0].regs.iter().map(|r| (&*r.name, r.bits())).collect();
    assert_eq!(names, [("p", 1), ("q", 1), ("%r7", 32), ("%r999999999", 32)]);
}

#[test]
fn scopes_shadow_registers_labels_and_variables() {
    let m = module(
        ".reg .b32 %r<4>; .reg .pred %p;\n mov.u32 %r1, 1;\n\
         { .reg .b64 %r<2>; .reg .b16 x; L: mov.u64 %r1, 2; @%p bra L; mov.u32 %r2, 3; }\n\
         { .reg .b32 x; mov.u32 x, 9; @%p bra L; L: }\n L: mov.u32 %r1, 4;\n bra L;",
    );
    let f = &m.functions[0];
    let defs: Vec<RegId> = f.insts().flat_map(|i| defs_and_uses(i, f).defs.into_vec()).collect();
    let decl: Vec<_> = defs.iter().map(|r| (&*f.reg(*r).name, f.reg(*r).bits())).collect();
    assert_eq!(decl, [("%r1", 32), ("%r1", 64), ("%r2", 32), ("x", 32), ("%r1", 32)]);
    assert_eq!(defs[0], defs[4]);
    assert_ne!(defs[0], defs[1]);
    // Three labels L; each branch goes to the one of its own scope, forward references too.
    let targets: Vec<_> = f
        .insts()
        .filter_map(|i| match i.operands.first() {
            Some(Operand::Label(l)) => Some(f.labels[l.index()].stmt),
            _ => None,
        })
        .collect();
    let body = f.body.as_ref().unwrap();
    let stmts: Vec<_> = (0..body.len()).filter(|i| matches!(body[*i], Stmt::Label(_))).map(|i| i as u32).collect();
    assert_eq!(targets, stmts);
    assert_eq!(f.labels.len(), 3);
}

#[test]
fn operands_of_every_kind() {
    let m = module(
        ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>; .reg .f32 %f<5>; .reg .v4 .f32 %v; .shared .b32 s[4];\n\
         ld.shared.u32 %r1, [s+8]; ld.shared.u32 %r1, s[2]; ld.global.u32 %r1, [%rd1+-4]; ld.global.u32 %r1, [%rd1 - 8];\n\
         ld.global.u32 %r1, [4096]; setp.lt.s32 %p1|%p2, %r1, 0x10U; mov.f32 %f1, 0fBF800000; mov.f32 %f1, -1.5;\n\
         mov.u64 %rd1, s+4*2; mov.b64 {_, %r2}, %rd1; add.f32 %f1, %v.y, %f1; mov.pred %p1, -1; mov.u32 %r1, %laneid;\n\
         vadd.s32.u32.s32 %r1, %r2.b1, -%r3.h0; mov.b32 %r1, (3 + 4) << 2 | 1; ld.global.v4.f32 %v, [%rd1].unified;\n\
         tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%rd1, %rd2, {%f1, %f2}];\n\
         and.pred %p1, %p2, !%p1;",
    );
    let f = &m.functions[0];
    let insts: Vec<_> = f.insts().collect();
    let address = |i: usize| match insts[i].operands[1] {
        Operand::Address { base, offset } => (base, offset),
        Operand::Symbol { symbol, offset } => (AddressBase::Symbol(symbol), offset),
        ref o => panic!("{o:?}"),
    };
    let s = AddressBase::Symbol(SymbolRef::Local(fatpoint_frontends::ptx::ast::VarId(0)));
    assert_eq!((address(0), address(1)), ((s, 8), (s, 8)));
    assert!(matches!((address(2), address(3)), ((AddressBase::Reg(_), -4), (AddressBase::Reg(_), -8))));
    assert_eq!(address(4), (AddressBase::Absolute, 4096));
    assert!(matches!(insts[5].operands[0], Operand::Pair(_)));
    assert!(matches!(insts[5].operands[2], Operand::Imm(Imm { bits: 16, kind: ImmKind::Int })));
    assert!(matches!(insts[6].operands[1], Operand::Imm(Imm { bits: 0xbf80_0000, kind: ImmKind::F32 })));
    let Operand::Imm(imm) = insts[7].operands[1] else { panic!() };
    assert_eq!(imm.bits_for(Some(ScalarType::F32)), u64::from((-1.5f32).to_bits()));
    assert_eq!(address(8), (s, 8));
    assert!(matches!(&insts[9].operands[0], Operand::Vector(v) if matches!(v[..], [Operand::Sink, Operand::Reg(_)])));
    assert!(matches!(insts[10].operands[1], Operand::RegPart { part: Part::Lane(1), negated: false, .. }));
    assert!(matches!(insts[12].operands[1], Operand::Special(s) if s.name() == "%laneid"));
    assert!(matches!(insts[13].operands[1], Operand::RegPart { part: Part::Bytes(1, [1, ..]), .. }));
    assert!(matches!(insts[13].operands[2], Operand::RegPart { part: Part::Halves(1, [0, _]), negated: true, .. }));
    assert!(matches!(insts[14].operands[1], Operand::Imm(Imm { bits: 29, .. })));
    let Operand::Texture(t) = &insts[16].operands[1] else { panic!() };
    assert!(t.sampler.is_some() && t.coords.len() == 2);
    assert_eq!(defs_and_uses(insts[16], f).defs.len(), 5);
    assert!(matches!(insts[17].operands[2], Operand::NotPred(_)));
}

#[test]
fn calls_direct_and_indirect() {
    let text = format!(
        "{HEADER}.func (.param .b32 r) f(.param .b64 a, .param .b32 b);\n.func g() {{ ret; }}\n\
         .visible .entry k() {{ .reg .b64 %rd<3>; .reg .b32 %r<3>;\n\
         {{ .param .b64 p0; .param .b32 p1; .param .b32 r0; st.param.b64 [p0+0], %rd1; st.param.b32 [p1], 3;\n\
         call.uni (r0),\n f,\n (\n p0,\n p1\n );\n ld.param.b32 %r1, [r0+0]; }}\n\
         call g;\n\
         P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);\n\
         {{ .param .b64 p0; .param .b32 p1; .param .b32 r0; call (r0), %rd2, (p0, p1), P; }}\n ret; }}\n"
    );
    let m = parse(&text).unwrap();
    let k = m.function("k").unwrap();
    let calls: Vec<_> = k.insts().filter_map(|i| i.call.as_ref()).collect();
    assert_eq!(calls.len(), 3);
    assert!(matches!(calls[0].target, CallTarget::Function(id) if m.functions[id.index()].name == "f"));
    assert_eq!((calls[0].returns.len(), calls[0].args.len()), (1, 2));
    assert!(matches!(calls[1].target, CallTarget::Function(id) if m.functions[id.index()].body.is_some()));
    assert!(matches!(calls[2].target, CallTarget::Register(_)) && calls[2].prototype.is_some());
    assert_eq!(k.prototypes[0].params.len(), 2);
    assert_eq!(k.variables.len(), 6, "the same slot name in two scopes is two variables");
}

#[test]
fn locations_files_sections_and_pragmas() {
    let (_, text) = common::kernels().into_iter().find(|(n, _)| n.contains("reduce_sum")).unwrap();
    let m = parse(&text).unwrap();
    assert_eq!(m.files.len(), 3);
    let last = m.functions[0].insts().last().unwrap();
    assert_eq!((last.opcode(), last.source_loc), ("ret", Some(SourceLoc { file: 1, line: 18, column: 1 })));
    let m = module("L:\n .pragma \"nounroll\";\n bra L;");
    assert!(matches!(&m.functions[0].body.as_ref().unwrap()[1], Stmt::Pragma(p) if p[..] == ["nounroll"]));
}

#[test]
fn unknown_things_are_notes() {
    let m =
        module(".reg .b32 %r<4>;\n .newdirective 1, 2\n frobnicate.b32 %r1, %r2, [%r3];\n frobnicate.b32 %r1, %r2;");
    assert_eq!(m.notes.len(), 2, "{:?}", m.notes);
    assert_eq!((m.notes[0].line, m.notes[1].line), (7, 8));
    let f = &m.functions[0];
    let inst = f.insts().next().unwrap();
    let r = roles(inst, f);
    assert!(r.note.unwrap().contains("frobnicate"));
    assert_eq!((r.operands[0].role, r.operands[1].role), (Role::Def, Role::Use));
    assert!(matches!(r.operands[2].role, Role::Address { access: MemAccess::ReadWrite, .. }));
}

#[test]
fn roles_of_chosen_forms() {
    let m = module(
        ".reg .b16 %rs<4>; .reg .b32 %r<99>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<4>;\n\
         mul.wide.s32 %rd1, %r1, 4; ld.global.u8 %rs1, [%rd1]; st.shared.v2.f32 [%r1], {%f1, %f2};\n\
         wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 1;\n\
         cp.async.cg.shared.global [%r1], [%rd1], 16, %r2; shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;\n\
         bar.red.popc.u32 %r1, 0, %p1; bar.red.popc.u32 %r1, 0, %r2, %p1;\n\
         atom.global.cas.b32 _, [%rd1], %r1, %r2; tcgen05.mma.cta_group::1.kind::f16 [%r1], [%r2], %rd1, %r3, %p1;\n\
         cvt.rn.f16x2.f32 %r1, %f1, %f2; selp.b32 %r1, %r2, 0, %p1; mbarrier.arrive.shared.b64 _, [%r1];",
    );
    let f = &m.functions[0];
    let all: Vec<_> = f.insts().map(|i| roles(i, f)).collect();
    let brief = |i: usize| all[i].operands.iter().map(|o| (o.role, o.bits, o.lanes)).collect::<Vec<_>>();
    let address = |space, access, bytes| Role::Address { space, access, bytes };
    assert_eq!(brief(0), [(Role::Def, 64, 1), (Role::Use, 32, 1), (Role::Use, 32, 1)]);
    assert_eq!(brief(1), [(Role::Def, 16, 1), (address(Space::Global, MemAccess::Read, 1), 64, 1)]);
    assert_eq!(brief(2), [(address(Space::Shared, MemAccess::Write, 8), 32, 1), (Role::Use, 32, 2)]);
    assert_eq!(brief(3)[0], (Role::Both, 32, 4));
    assert_eq!(brief(3)[3], (Role::Use, 1, 1));
    assert_eq!(brief(3)[4].0, Role::Immediate);
    assert_eq!(brief(4)[0].0, address(Space::Shared, MemAccess::Write, 0));
    assert_eq!(brief(4)[1].0, address(Space::Global, MemAccess::Read, 0));
    assert_eq!(brief(5)[0].0, Role::Def);
    assert_eq!((all[6].operands[2].ty, all[7].operands[2].ty), (Some(ScalarType::Pred), Some(ScalarType::B32)));
    assert_eq!(brief(8)[1].0, address(Space::Global, MemAccess::ReadWrite, 4));
    assert_eq!(brief(9)[0].0, address(Space::Tensor, MemAccess::ReadWrite, 0));
    assert_eq!(brief(9)[1].0, address(Space::Tensor, MemAccess::Read, 0));
    assert_eq!(all[10].operands[2].ty, Some(ScalarType::F32));
    assert_eq!(brief(11)[3], (Role::Use, 1, 1));
    let inst = f.insts().nth(5).unwrap();
    let du = defs_and_uses(inst, f);
    assert_eq!((du.defs.len(), du.uses.len()), (2, 1));
}

#[test]
fn errors_point_at_the_text() {
    let regs = ".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n";
    let e = |body: &str| error(&format!("{regs}{body}"));
    let cases = [
        ("add.s32 %r1, %r2, %r9;", "undeclared register `%r9`", "%r9"),
        ("add.s32 %r1, %r2;", "`add.s32` takes 3 operands, here are 2", "add.s32"),
        ("add.s64 %rd1, %rd2, %r1;", "operand 3 of `add.s64` is %r1 of type .b32, 64 bits are expected", "add.s64"),
        (
            "selp.b32 %r1, %r2, %r3, %r1;",
            "operand 4 of `selp.b32` is %r1 of type .b32, a predicate is expected",
            "selp.b32",
        ),
        ("bra NOWHERE;", "undeclared label `NOWHERE`", "NOWHERE"),
        ("brx.idx %r1, T;", "undeclared branch table `T`", "T"),
        ("@%r1 bra L; L:", "the guard `%r1` is not a predicate", "%r1"),
        (".reg .b32 %r2;", "redefinition of register `%r2`", "%r2"),
        (".reg .b32 %r<9>;", "redefinition of register `%r`", "%r"),
        ("L: L:", "redefinition of label `L`", "L"),
        (
            "ld.global.v2.b32 {%r1}, [%rd1];",
            "operand 1 of `ld.global.v2.b32` has 1 elements, 2 are expected",
            "ld.global.v2.b32",
        ),
        (
            "mov.b64 {%r1, %rd1}, %rd2;",
            "operand 1 of `mov.b64` must have elements of one width, 64 bits in all",
            "mov.b64",
        ),
        ("ld.global.b32 %r1, %rd1;", "operand 2 of `ld.global.b32` must be an address in brackets", "ld.global.b32"),
        ("mov.u32 %r1, 99999999999999999999;", "integer literal does not fit 64 bits", "99999999999999999999"),
        ("mov.u32 %r1, 1/0;", "division by zero in a constant", "/"),
        ("mov.u32 %r1, nope;", "undeclared name `nope`", "nope"),
        ("call nope;", "undeclared function `nope`", "nope"),
        (".local .align 3 .b8 x[4];", "an alignment must be a power of two", "3"),
        ("add.s32 %r1, %r2, {%r1, {%r2}};", "expected a register or constant, found `{`", "{"),
    ];
    for (body, message, at) in cases {
        assert_eq!(e(body), (message.to_string(), at.to_string()), "{body}");
    }
}

#[test]
fn several_errors_with_lines_and_columns() {
    let text = kernel("\t.reg .b32 %r<4>;\n\tadd.s32 %r1, %r9, 1;\n\tmov.u32 %r1, 2\n\tmov.u32 %r2, 3;\n\tbra X;");
    let errors = errors(&text);
    let at: Vec<_> = errors.iter().map(|e| (e.line, e.column)).collect();
    assert_eq!(at, [(7, 15), (9, 2), (10, 6)]);
    assert_eq!(errors[1].hint.as_deref(), Some("line 8 may lack its semicolon"));
    assert!(errors[0].to_string().starts_with("7:15: undeclared register"));
    // What could be read is still there.
    let (m, _) = parse_lossy(&text);
    assert!(m.functions[0].body.is_some());
    let many = kernel(&"frob %x;\n".repeat(100));
    assert_eq!(parse(&many).unwrap_err().len(), fatpoint_frontends::ptx::parse::MAX_ERRORS);
}

#[test]
fn one_bad_function_does_not_hide_the_next() {
    let text = format!(
        "{HEADER}.entry a() {{ bra X; }}\n.entry b( {{ ret; }}\n.entry c() {{ mov.u32 %q, 1; }}\n.entry d() {{ ret; }}"
    );
    let (m, errors) = parse_lossy(&text);
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert!(m.function("d").unwrap().body.is_some());
}

#[test]
fn text_that_is_not_ptx() {
    assert_eq!(errors("hello")[0].hint.as_deref(), Some("a PTX file starts with `.version`"));
    let e = parse_bytes(b".version 8.0\n  \xff\xfe").unwrap_err();
    assert_eq!((e[0].line, e[0].column, e[0].span.start), (2, 3, 15));
    let bad = |t: &str| errors(&kernel(t))[0].message.clone();
    assert_eq!(bad("a\0b;"), "NUL byte in the text");
    assert_eq!(bad("/* never closed"), "unterminated comment");
    assert_eq!(bad(".pragma \"x;"), "unterminated string");
    assert!(errors(&format!("{HEADER}.entry k() {{ {{"))[0].message.starts_with("the file ends inside the body"));
    assert!(errors(&format!("{HEADER}.section .debug_info {{ {{"))[0]
        .message
        .contains("the file ends inside this section"));
}
