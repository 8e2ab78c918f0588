//! Selection rule by rule: small PTX and the instructions that it becomes.

use fatpoint_frontends::ptx::{lower, parse, LowerOptions};
use fatpoint_ir::text;

const OPTIONS: LowerOptions = LowerOptions { param_base: 0x160, ntid_offset: 0 };

/// The instructions of a body, without names of results and lines.
fn selected(body: &str) -> Vec<String> {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.func (.param .b32 o) half(.param .b32 i) {{ .reg .b32 %q<3>; \
         ld.param.b32 %q1, [i]; shr.u32 %q2, %q1, 1; st.param.b32 [o], %q2; ret; }}\n\
         .entry k(.param .u64 a, .param .u32 n) {{ .reg .b16 %rs<9>; .reg .b32 %r<99>; .reg .b64 %rd<99>; .reg .f32 %f<9>; \
         .reg .f64 %fd<9>; .reg .pred %p<9>; ld.param.u64 %rd90, [a]; ld.param.u32 %r90, [n]; mov.u32 %r91, %tid.x;\n{body}\nret; }}"
    );
    let module = parse(&text).unwrap_or_else(|e| panic!("{}", e[0]));
    let kernel = lower(&module, &OPTIONS).remove(0).unwrap_or_else(|e| panic!("{}", e.errors[0]));
    let printed = text::print(&kernel.func);
    printed
        .lines()
        .filter(|l| l.starts_with("  "))
        .map(|l| l.split("  #").next().unwrap_or(l))
        .map(|l| l.split_once(" = ").map_or(l, |x| x.1).trim().to_string())
        .collect()
}

fn has(body: &str, wanted: &str) {
    let all = selected(body);
    assert!(all.iter().any(|l| l == wanted), "no `{wanted}` in\n{}", all.join("\n"));
}

#[test]
fn an_index_fuses_into_its_address() {
    has(
        "mul.wide.s32 %rd1, %r91, 4; add.s64 %rd2, %rd90, %rd1; st.global.u32 [%rd2+8], %r91;",
        "IMAD.WIDE %r91, %v1, c[0][0x160]",
    );
    has(
        "add.s64 %rd1, %rd90, 16; cvt.u64.u32 %rd3, %r91; add.s64 %rd2, %rd1, %rd3; add.s64 %rd4, %rd2, 32; \
         st.global.u32 [%rd4+-4], %r91;",
        "STG.E [{%rd2, %rd2'1}:2+0x1c], %r91",
    );
}

#[test]
fn parameters_and_block_sizes_are_constants() {
    has(
        "mov.u32 %r1, %ntid.x; mad.lo.s32 %r2, %r91, %r91, %r1; st.global.u32 [%rd90], %r2;",
        "IMAD %r91, %r91, c[0][0x0]",
    );
    has("setp.ge.s32 %p1, %r91, %r90; @%p1 st.global.u32 [%rd90], 7;", "ISETP.GE %r91, c[0][0x168]");
}

#[test]
fn signs_of_floats_become_modifiers() {
    has(
        "ld.global.f32 %f1, [%rd90]; neg.f32 %f2, %f1; abs.f32 %f3, %f1; fma.rn.f32 %f4, %f1, %f2, %f3; \
         st.global.f32 [%rd90], %f4;",
        "FFMA %f1, -%f1, |%f1|",
    );
}

#[test]
fn a_guard_keeps_the_old_value() {
    has(
        "setp.eq.s32 %p1, %r91, 3; add.s32 %r1, %r91, 5; @%p1 add.s32 %r1, %r91, 9; st.global.u32 [%rd90], %r1;",
        "@%p1 IADD %r91, 9, %r1{tied 0}",
    );
    // What became no instruction is chosen.
    has(
        "setp.eq.s32 %p1, %r91, 3; add.s32 %r1, %r91, 5; @%p1 mov.u32 %r1, %r91; st.global.u32 [%rd90], %r1;",
        "SEL %r91, %r1, %p1",
    );
}

#[test]
fn a_body_in_the_file_is_a_region() {
    has(
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r91; call (y), half, (x); ld.param.b32 %r1, [y]; } \
         st.global.u32 [%rd90], %r1;",
        "call @half, %r91",
    );
}

#[test]
fn division_takes_room_to_work() {
    let all = selected("div.rn.f64 %fd1, 0d3FF0000000000000, 0d4008000000000000; st.global.f64 [%rd90], %fd1;");
    assert!(all.iter().any(|l| l.starts_with("DDIV")), "{all:?}");
}

#[test]
fn dead_code_and_unreachable_blocks_go() {
    let all = selected("add.s32 %r1, %r91, 1; bra L; add.s32 %r2, %r91, 2; st.global.u32 [%rd90], %r2; L:");
    assert_eq!(all.iter().filter(|l| l.starts_with("IADD") || l.starts_with("STG")).count(), 0, "{all:?}");
}
