//! Small programs in the PTX interpreter, with results worked out by hand.

mod common;

use common::{kernel_ids, MapHost};
use fatpoint_frontends::ptx::exec::{run, Outcome, Run};
use fatpoint_frontends::ptx::parse;
use fatpoint_frontends::ptx::types::Space;

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

fn run_text(text: &str, host: &mut MapHost, fuel: u64) -> Run {
    let module = parse(text).unwrap_or_else(|e| panic!("{}", e[0]));
    run(&module, kernel_ids(&module)[0], host, fuel)
}

fn run_body(body: &str, params: &[u64]) -> (Run, MapHost) {
    let mut host = MapHost::new(params);
    let text = format!(
        "{HEADER}.entry k(.param .u64 a, .param .u64 b) {{ .reg .b16 %rs<9>; .reg .b32 %r<99>; .reg .b64 %rd<99>; \
         .reg .f32 %f<9>; .reg .pred %p<9>; ld.param.u64 %rd90, [a]; ld.param.u64 %rd91, [b];\n{body}\n ret; }}"
    );
    let run = run_text(&text, &mut host, 10_000);
    (run, host)
}

/// Values stored by a body, which stores with `st.global` only.
fn stored(body: &str, params: &[u64]) -> Vec<u64> {
    let (run, host) = run_body(body, params);
    assert_eq!(run.outcome, Outcome::Exit);
    host.stores.iter().map(|s| s.3).collect()
}

#[test]
fn a_loop_sums() {
    let body = "mov.u64 %rd1, 0; mov.u64 %rd2, 0;\n\
        L: add.s64 %rd1, %rd1, %rd2; add.s64 %rd2, %rd2, 1; setp.le.u64 %p1, %rd2, %rd90; @%p1 bra L;\n\
        @!%p1 st.global.u64 [%rd91+8], %rd1; @%p1 st.global.u64 [%rd91], 77;";
    let (_, host) = run_body(body, &[100, 0x4000]);
    assert_eq!(host.stores, [(Space::Global, 0x4008, 8, 5050)]);
}

#[test]
fn narrow_loads_extend_to_the_register() {
    let body = "st.global.u32 [%rd91], %rd90; ld.global.s8 %r1, [%rd91]; st.global.u32 [%rd91+8], %r1;\n\
        ld.global.u8 %r1, [%rd91]; st.global.u32 [%rd91+8], %r1; ld.global.s8 %rs1, [%rd91]; st.global.u16 [%rd91+8], %rs1;\n\
        cvt.s8.s32 %r2, %rd90; st.global.u32 [%rd91+8], %r2; st.global.u8 [%rd91+16], %r2;";
    assert_eq!(stored(body, &[0x1_2345_6780, 0x100]), [0x2345_6780, 0xffff_ff80, 0x80, 0xff80, 0xffff_ff80, 0x80]);
}

#[test]
fn vectors_pack_and_unpack() {
    let body = "mov.b64 {%r1, %r2}, %rd90; mov.b64 %rd1, {%r2, %r1}; st.global.u64 [%rd91], %rd1;\n\
        mov.b32 {%rs1, %rs2}, %r1; mov.b64 {_, %r3}, %rd90; st.global.v2.u32 [%rd91], {%r3, 5};\n\
        ld.global.v2.u32 {%r5, %r4}, [%rd91]; st.global.u16 [%rd91], %rs2; st.global.u32 [%rd91], %r4;\n\
        { .reg .v2 .b32 %v; ld.global.v2.b32 %v, [%rd91+64]; st.global.v2.b32 [%rd91+80], %v; mov.u32 %r6, %v.y; \
          ld.global.u32 %r7, [%rd91+84]; sub.s32 %r6, %r6, %r7; st.global.u32 [%rd91], %r6; }";
    let all = stored(body, &[0x1111_2222_3333_4444, 0x100]);
    assert_eq!(all[..5], [0x3333_4444_1111_2222, 0x1111_2222, 5, 0x3333, 5]);
    assert_eq!(all.last(), Some(&0));
}

#[test]
fn carries_and_predicates() {
    let body = "cvt.u32.u64 %r1, %rd90; shr.u64 %rd1, %rd90, 32; cvt.u32.u64 %r2, %rd1;\n\
        add.cc.u32 %r3, %r1, %r1; addc.u32 %r4, %r2, %r2; mov.b64 %rd2, {%r3, %r4}; st.global.u64 [%rd91], %rd2;\n\
        sub.cc.u32 %r3, 0, %r1; subc.u32 %r4, 0, %r2; mov.b64 %rd2, {%r3, %r4}; st.global.u64 [%rd91], %rd2;\n\
        setp.lt.and.s32 %p1|%p2, -1, 0, !%p3; selp.u32 %r5, 10, 20, %p1; st.global.u32 [%rd91], %r5;\n\
        selp.u32 %r5, 10, 20, %p2; st.global.u32 [%rd91], %r5; not.pred %p4, %p1; xor.pred %p4, %p4, 1;\n\
        selp.u32 %r5, 1, 2, %p4; st.global.u32 [%rd91], %r5;";
    let v = 0x8765_4321_ffff_0001u64;
    assert_eq!(stored(body, &[v, 0]), [v.wrapping_add(v), v.wrapping_neg(), 10, 20, 1]);
}

#[test]
fn functions_get_and_give_their_parameters() {
    let text = format!(
        "{HEADER}.func (.param .align 8 .b8 out[16]) pair(.param .b64 x, .param .b32 y) {{ .reg .b64 %a<3>; .reg .b32 %b;\n\
         ld.param.u64 %a1, [x]; ld.param.u32 %b, [y]; cvt.u64.u32 %a2, %b; add.s64 %a1, %a1, %a2;\n\
         st.param.b64 [out], %a1; st.param.b32 [out+8], 7; ret; }}\n\
         .func (.reg .b32 r) twice(.reg .b32 v) {{ add.s32 r, v, v; ret; }}\n\
         .extern .func (.param .b32 r) ext(.param .b64 p);\n\
         .entry k(.param .u64 a) {{ .reg .b64 %rd<9>; .reg .b32 %r<9>; ld.param.u64 %rd1, [a];\n\
         {{ .param .b64 p0; .param .b32 p1; .param .align 8 .b8 q[16]; st.param.b64 [p0], %rd1; st.param.b32 [p1+0], 5;\n\
         call.uni (q), pair, (p0, p1); ld.param.b64 %rd2, [q]; ld.param.b32 %r1, [q+8]; }}\n\
         st.global.u64 [0], %rd2; st.global.u32 [8], %r1; call (%r2), twice, (%r1); st.global.u32 [16], %r2;\n\
         mov.u64 %rd3, twice; P: .callprototype (.reg .b32 _) _ (.reg .b32 _); call (%r3), %rd3, (21), P; st.global.u32 [24], %r3;\n\
         {{ .param .b64 p0; .param .b32 q; st.param.b64 [p0], 9; call (q), ext, (p0); ld.param.b32 %r4, [q]; }} ret; }}"
    );
    let mut host = MapHost::new(&[1000]);
    assert_eq!(run_text(&text, &mut host, 1000).outcome, Outcome::Exit);
    let values: Vec<_> = host.stores.iter().map(|s| s.3).collect();
    assert_eq!(values, [1005, 7, 14, 42]);
    assert_eq!(host.external, [("ext".to_string(), vec![9])]);
}

#[test]
fn runs_end_in_documented_ways() {
    let run_of = |body: &str, a: u64| run_body(body, &[a, 0]).0;
    assert_eq!(run_of("L: bra L;", 0), Run { outcome: Outcome::OutOfFuel, steps: 10_000 });
    assert_eq!(run_of("trap;", 0).outcome, Outcome::Trap);
    assert_eq!(run_of("exit; trap;", 0).outcome, Outcome::Exit);
    let table = "T: .branchtargets A, B; cvt.u32.u64 %r1, %rd90; brx.idx %r1, T; A: trap; B: exit;";
    assert_eq!(run_of(table, 0).outcome, Outcome::Trap);
    assert_eq!(run_of(table, 1).outcome, Outcome::Exit);
    assert_eq!(run_of(table, 2).outcome, Outcome::BranchIndex { index: 2, entries: 2 });
    let text = format!("{HEADER}.func f() {{ call f; ret; }}\n.entry k() {{ call f; ret; }}");
    assert_eq!(run_text(&text, &mut MapHost::default(), 1000).outcome, Outcome::CallDepth);
}

#[test]
fn the_host_is_asked_for_what_is_not_modelled() {
    let body = "mul.f32 %f1, %f2, %f3; mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd1, %rd2}, {%rd3}, {%rd4}, {%rd1, %rd2};\n\
        bar.sync 0; membar.gl; atom.global.add.u32 %r1, [%rd91], 1; st.global.u32 [%rd91], %r1;";
    let (run, host) = run_body(body, &[0, 0]);
    assert_eq!(run.outcome, Outcome::Exit);
    assert_eq!(host.unmodelled.len(), 3);
    assert_eq!((host.barriers, host.stores.len()), (2, 1));
}
