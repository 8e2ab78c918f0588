//! Texts that are cut, damaged or made to hurt: an answer or a diagnostic, never a panic, and linear time.

mod common;

use common::MapHost;
use fatpoint_frontends::ptx::exec::run;
use fatpoint_frontends::ptx::{lower, parse, parse_bytes, parse_lossy, LowerOptions};
use fatpoint_ir::verify::check;
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// Parses, checks that errors lie in the text, and runs what was understood.
fn survive(bytes: &[u8]) {
    let _ = parse_bytes(bytes);
    let text = String::from_utf8_lossy(bytes);
    let (module, errors) = parse_lossy(&text);
    for e in &errors {
        assert!(e.span.start <= e.span.end && e.span.end as usize <= text.len(), "{e:?}");
        assert!(text.is_char_boundary(e.span.start as usize) && text.is_char_boundary(e.span.end as usize), "{e:?}");
        assert!(e.line >= 1 && e.column >= 1);
        let line = text.as_bytes()[..e.span.start as usize].iter().filter(|b| **b == b'\n').count() + 1;
        assert_eq!(e.line as usize, line, "{e:?}");
    }
    if errors.is_empty() {
        for id in common::kernel_ids(&module) {
            run(&module, id, &mut MapHost::default(), 300);
        }
        for kernel in lower(&module, &LowerOptions { param_base: 0x160, ntid_offset: 0 }) {
            match kernel {
                Ok(k) => {
                    let errors = check(&k.func);
                    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
                }
                Err(e) => assert!(!e.errors.is_empty()),
            }
        }
    }
}

#[test]
fn files_cut_anywhere() {
    for (name, text) in common::kernels() {
        let step = if text.len() > 12_000 { 997 } else { 97 };
        for cut in (0..text.len()).step_by(step) {
            let bytes = &text.as_bytes()[..cut];
            survive(bytes);
            // A cut inside the kernel cannot go unnoticed.
            let open = bytes.iter().filter(|b| **b == b'{').count();
            let close = bytes.iter().filter(|b| **b == b'}').count();
            if open > close {
                assert!(parse_bytes(bytes).is_err(), "{name} cut at {cut}");
            }
        }
    }
}

#[test]
fn one_byte_replaced() {
    for (_, text) in common::kernels() {
        let bytes = text.as_bytes();
        let step = if text.len() > 12_000 { 1009 } else { 101 };
        for at in (0..bytes.len()).step_by(step) {
            for b in [0, b';', b'}', b'{', b',', b'[', b'.', b'%', b'9', b'"', 0xff, b'\n', b'/'] {
                let mut copy = bytes.to_vec();
                copy[at] = b;
                survive(&copy);
            }
        }
    }
}

#[test]
fn long_and_deep_texts_take_linear_time() {
    let wrap = |body: &str| format!(".version 8.0\n.target sm_80\n.entry k() {{ .reg .b32 %r<9>; {body}\n}}\n");
    let n = 400_000;
    let texts = [
        // One line.
        wrap(&"add.s32 %r1, %r2, %r3; ".repeat(n)),
        wrap(&format!("{} add.s32 %r1, %q, 1;", "/* c */ ".repeat(n))),
        wrap(&format!("add.s32 %{}, %r1, 1;", "x".repeat(8 * n))),
        wrap(&format!("mov.u32 %r1, {}1{};", "(".repeat(n), ")".repeat(n))),
        wrap(&format!("mov.u32 %r1, {}1;", "-".repeat(n))),
        wrap(&format!("mov.u32 %r1, 1{};", "+1".repeat(n))),
        wrap(&format!("mov.u32 %r1, {};", "9".repeat(8 * n))),
        wrap(&"{".repeat(n)),
        wrap(&"}".repeat(n)),
        wrap(&"{ } ".repeat(n)),
        wrap(&"[".repeat(n)),
        wrap(&format!("mov.b64 %r1, {{{}}};", "%r1,".repeat(n))),
        wrap(&(0..n / 4).map(|i| format!(".reg .b32 %a{i}_<5>; L{i}: bra L{};\n", n / 4 - 1 - i)).collect::<String>()),
        wrap(&(0..n / 4).map(|i| format!("frob{i}.b32 %r1;\n")).collect::<String>()),
        format!(".global .b8 x[1] = {};", "{".repeat(n)),
        ".entry ".repeat(n),
        ".pragma ".repeat(n),
        "\"".repeat(n),
        "#".repeat(n),
        "\n#".repeat(n),
        "@".repeat(n),
        "é".repeat(n),
    ];
    for text in &texts {
        let start = Instant::now();
        survive(text.as_bytes());
        let took = start.elapsed();
        let head: String = text.chars().take(80).collect();
        assert!(took < Duration::from_secs(20), "{took:?} for {head}");
    }
}

#[test]
fn nesting_and_sizes_have_limits() {
    let kernel = |body: &str| parse(&format!(".entry k() {{ {body} }}"));
    let nested = |n: usize| kernel(&format!("{}{}", "{".repeat(n), "}".repeat(n)));
    assert!(nested(256).is_ok());
    assert_eq!(nested(257).unwrap_err()[0].message, "scopes nested deeper than 256");
    let e = kernel(".shared .b64 x[99999999][99999999][99999999];").unwrap_err();
    assert_eq!(e[0].message, "array too large");
    let e = kernel(&format!(".reg .b32 %r; mov.u32 %r, {}1{};", "(".repeat(100), ")".repeat(100))).unwrap_err();
    assert_eq!(e[0].message, "constant expression nested too deeply");
    assert!(kernel(".reg .b32 %r<99999999999999999999999>;").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        survive(&bytes);
    }

    #[test]
    fn random_tokens(picks in proptest::collection::vec(0usize..40, 0..120)) {
        const TOKENS: [&str; 40] = [
            ".entry k(", ".func f(", ")", "{", "}", ";", ",", "[", "]", "+", "-", "4", "0x7fU", "0f3F800000", "%r1",
            "%p1", "@%p1 ", "@!", "!", "|", "_", "L:", "bra L", "add.s32 ", "ld.global.v2.b32 ", "mov.b64 ",
            "call (%r1), f, (", ".reg .b32 %r<9>", ".reg .pred %p<9>", ".param .b64 p", ".shared .align 4 .b8 s[8]",
            "T: .branchtargets L", "brx.idx %r1, T", ".loc 1 2 3", ".pragma \"x\"", "mma.sync ", "tex.2d.v4.f32.f32 ",
            "P: .callprototype _", "=", "\n",
        ];
        let text: String = picks.iter().map(|i| TOKENS[*i]).collect();
        survive(text.as_bytes());
        survive(format!(".entry k() {{ .reg .b32 %r<9>; .reg .pred %p<9>; {text}").as_bytes());
    }
}

#[test]
fn operands_and_lines_exchanged() {
    // What a line of one kernel becomes with the operands, or in the place, of another.
    for (_, text) in common::kernels() {
        let lines: Vec<&str> = text.lines().collect();
        let step = (lines.len() / 12).max(1);
        for at in (0..lines.len()).step_by(step) {
            for from in (0..lines.len()).step_by(step + 1) {
                let mut other = lines.clone();
                other[at] = lines[from];
                survive(other.join("\n").as_bytes());
                if let (Some((a, _)), Some((_, b))) = (lines[at].rsplit_once(','), lines[from].rsplit_once(',')) {
                    let mixed = format!("{a},{b}");
                    other[at] = &mixed;
                    survive(other.join("\n").as_bytes());
                }
            }
        }
    }
}

#[test]
fn sizes_at_the_edge_of_their_types() {
    let wrap = |f: &str, body: &str| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n{f}\n.entry k(.param .u64 a) {{ .reg .b32 %r<9>; \
             .reg .b64 %rd<9>; .reg .pred %p<3>; ld.param.u64 %rd1, [a];\n{body}\n ret; }}"
        )
    };
    for n in ["9223372036854775807", "-9223372036854775808", "4294967295", "2147483648", "-1", "65535"] {
        survive(wrap("", &format!("ld.param.u32 %r1, [a+{n}]; st.global.u32 [%rd1+{n}], %r1;")).as_bytes());
        survive(
            wrap("", &format!("add.s64 %rd2, %rd1, {n}; add.s64 %rd3, %rd2, {n}; st.global.u32 [%rd3+{n}], 1;"))
                .as_bytes(),
        );
        survive(
            wrap("", &format!("shr.u32 %r1, %r2, {n}; shl.b64 %rd2, %rd1, {n}; cvt.u16.u32 %r3, %r1; bar.sync {n};"))
                .as_bytes(),
        );
        let f =
            format!(".func (.param .b8 o[{n}]) f(.param .b8 i[{n}]) {{ ret; }} .extern .func g(.param .b8 i[{n}]);");
        let body = format!(
            "{{ .param .b8 x[{n}]; .param .b8 y[{n}]; st.param.b32 [x+{n}], 1; call (y), f, (x); call g, (x); }}"
        );
        survive(wrap(&f, &body).as_bytes());
        survive(wrap(&format!(".shared .b8 s[{n}];"), "mov.u32 %r1, s; st.shared.u32 [%r1], 1;").as_bytes());
    }
}
