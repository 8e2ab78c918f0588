//! Whatever the bytes, reading ends soon, with errors or with functions that round trip.

use super::arbitrary::{allocation, function, Rng};
use super::same::assert_same;
use crate::text::{parse, parse_allocated, print, print_allocated, AllocatedParts, MAX_ERRORS};
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// Reads in both forms; what is read must come back the same.
fn survive(text: &str) {
    match parse(text) {
        Ok(list) => {
            for f in list {
                let out = print(&f);
                let g = parse(&out).unwrap_or_else(|e| panic!("{}\n{out}", e[0].render("text", &out)));
                assert_same(&f, &g[0]);
                assert_eq!(print(&g[0]), out);
            }
        }
        Err(e) => check_errors(&e, text),
    }
    match parse_allocated(text) {
        Ok(list) => {
            for (f, parts) in list {
                let out = print_allocated(&parts.attach(&f));
                let g = parse_allocated(&out).unwrap_or_else(|e| panic!("{}\n{out}", e[0].render("text", &out)));
                assert_same(&f, &g[0].0);
                assert_eq!(AllocatedParts::of(&g[0].1.attach(&g[0].0)), parts);
            }
        }
        Err(e) => check_errors(&e, text),
    }
}

fn check_errors(list: &[crate::text::TextError], text: &str) {
    assert!(!list.is_empty() && list.len() <= MAX_ERRORS);
    for e in list {
        assert!(e.span.start <= e.span.end && e.span.end <= text.len(), "{e:?}");
        assert!(text.is_char_boundary(e.span.start) && text.is_char_boundary(e.span.end), "{e:?}");
        let before = &text[..e.span.start];
        assert_eq!(e.line, before.matches('\n').count() + 1);
        let line = before.rsplit('\n').next().unwrap_or("");
        assert_eq!(e.column, line.chars().count() + 1);
        assert!(!e.render("f", text).is_empty());
    }
}

/// A text with a few places changed.
fn mutate(text: &str, r: &mut Rng) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..1 + r.below(4) {
        let n = chars.len();
        let (a, len) = (r.below(n + 1), r.below(12));
        let part = a..(a + len).min(n);
        match r.below(6) {
            0 => drop(chars.drain(part)),
            1 => {
                let copy = chars[part].to_vec();
                let at = r.below(n + 1);
                chars.splice(at..at, copy);
            }
            2 => chars.truncate(a),
            3 if n > 0 => {
                let at = r.below(n);
                chars[at] =
                    r.pick(&['\0', '"', '{', '}', '(', '[', '%', '@', '\'', '.', ':', '9', '-', 'é', '\n', ' ', '|']);
            }
            4 => {
                let word =
                    r.pick(&["undef", "R512", "0xffffffff", "region @x -> () {", "kernel @k {", "%x", "clobbers(R0)"]);
                chars.splice(a..a, word.chars());
            }
            _ if n > 0 => {
                let (x, y) = (r.below(n), r.below(n));
                chars.swap(x, y);
            }
            _ => {}
        }
    }
    chars.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn any_text(text in "\\PC*") {
        survive(&text);
    }

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        survive(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_body(body in "[ %a-dR0-9{}()\\[\\]:,.=@!|~$'\"\\n#;<>+/x-]{0,60}") {
        survive(&format!("kernel @k {{\ne:\n{body}\nEXIT\n}}\n"));
        survive(&format!("allocated kernel @k {{\ne:\n{body}\n[i0] EXIT\n}}\n"));
    }

    #[test]
    fn mutated_texts(seed: u64) {
        let f = function(seed);
        survive(&mutate(&print(&f), &mut Rng::new(seed ^ 2)));
    }

    #[test]
    fn mutated_allocations(seed: u64) {
        let f = function(seed);
        survive(&mutate(&print_allocated(&allocation(&f, seed)), &mut Rng::new(seed ^ 2)));
    }
}

/// Reads a text in both forms within a bound that only more than linear work would break.
fn soon(text: &str) {
    let start = Instant::now();
    let _ = parse(text).map_err(|e| check_errors(&e, text));
    let _ = parse_allocated(text);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?} for {:.40}", start.elapsed(), text);
}

#[test]
fn long_and_deep_texts() {
    let n = 1_000_000;
    for unit in [
        "(",
        "{",
        "[",
        "-",
        "|",
        "@",
        "%",
        "\"",
        "\\",
        "'",
        "\0",
        "9",
        "a",
        "kernel @k {",
        "region @r -> () {",
        "}",
        ";",
        "é",
        "a::",
        "\n",
    ] {
        let run = unit.repeat(n / unit.len());
        soon(&run);
        soon(&format!("kernel @k {{\ne:\n{run}"));
        soon(&format!("kernel @k {{\ne:\n X {run}\nEXIT\n}}"));
        soon(&format!("kernel @k {{\ne:\n X %\"{run}\"\nEXIT\n}}"));
        soon(&format!("allocated kernel @k {{\ne:\n [i0] {run}"));
    }
    let operands = "1, ".repeat(65_534) + "1";
    assert_eq!(parse(&format!("kernel @k {{\ne:\n X {operands}\nEXIT\n}}")).map(|l| l.len()), Ok(1));
    let operands = "1, ".repeat(70_000) + "1";
    let text = format!("kernel @k {{\ne:\n X {operands}\nEXIT\n}}");
    assert_eq!(parse(&text).expect_err("too many").len(), 1);
}

#[test]
fn short_texts_do_not_ask_for_much() {
    // Each line asks for 65536 registers, values or lanes; the bounds stop it.
    let clobbers: String = (0..200).map(|k| format!("X{k} clobbers(R0..R65535)\n")).collect();
    let e = parse(&format!("kernel @k {{\ne:\n{clobbers}EXIT\n}}")).expect_err("too many");
    assert!(e[0].message.contains("registers"), "{e:?}");
    let values: String = (0..70_000).map(|k| format!("%x{k}: R512 = X\n")).collect();
    let e = parse(&format!("kernel @k {{\ne:\n{values}EXIT\n}}")).expect_err("too many");
    assert!(e[0].message.contains("values"), "{e:?}");
    let lanes = "X {%x}, {%x}, {%x}, {%x}, {%x}, {%x}, {%x}, {%x}\n".repeat(17_000);
    let e = parse(&format!("kernel @k {{\ne:\n%x: R512 = X\n{lanes}EXIT\n}}")).expect_err("too many");
    assert!(e[0].message.contains("lanes"), "{e:?}");
}

#[test]
fn truncated_anywhere() {
    let f = function(11);
    for text in [print(&f), print_allocated(&allocation(&f, 3))] {
        for (cut, _) in text.char_indices().step_by(3) {
            survive(&text[..cut]);
        }
    }
}
