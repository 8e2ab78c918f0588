//! Inputs that nobody meant: each ends with a diagnostic and its exit code, none with a panic or a hang.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Runs the command on a text given by standard input.
fn feed(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fatpoint"))
        .args(args)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().expect("the command ends")
}

/// The exit code of every verb that reads a program, which must be the same; none panics.
#[track_caller]
fn refused(input: &[u8], expected: i32, message: &str) {
    for verb in ["alloc", "pressure", "verify", "run"] {
        let o = feed(&[verb, "-"], input);
        let error = String::from_utf8_lossy(&o.stderr).into_owned();
        assert!(!error.contains("panicked"), "{verb}: {error}");
        assert_eq!(o.status.code(), Some(expected), "{verb}: {error}");
        assert!(error.contains(message), "{verb}: {error}");
        assert!(error.lines().all(|l| l.len() < 1000), "{verb}: a line of the message is very long");
    }
}

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

#[test]
fn nothing_at_all() {
    refused(b"", 2, "the file is empty");
    refused(b" \n\t// only a comment\n", 2, "the file has no code");
    refused(HEAD.as_bytes(), 2, "there is no kernel in it");
}

#[test]
fn binary() {
    refused(b"\x7fELF\x02\x01\x01\0\0\0\0\0", 2, "ELF");
    refused(b"\0\0\0\0\0\0", 2, "neither PTX nor");
    refused(b".version 8.0\n\xff\xfe", 2, "not UTF-8");
    refused(b"\xef\xbb\xbfkernel @k {\xc0", 2, "not UTF-8");
}

#[test]
fn something_else() {
    refused(b"int main() {}\n", 2, "neither PTX nor");
    refused("\u{202e}\u{0}evil\u{1b}[31m".as_bytes(), 2, "neither PTX nor");
}

#[test]
fn truncated_at_every_place() {
    for file in ["vadd.ptx", "loop.fp"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(file);
        let text = std::fs::read(path).expect("a case");
        for n in (0..text.len()).step_by(97) {
            let o = feed(&["alloc", "-", "--json"], &text[..n]);
            let error = String::from_utf8_lossy(&o.stderr).into_owned();
            assert!(!error.contains("panicked"), "{file} cut at {n}: {error}");
            assert!(matches!(o.status.code(), Some(0..=3)), "{file} cut at {n}: {:?}", o.status);
            let v: serde_json::Value = serde_json::from_slice(&o.stdout).expect("a document in any case");
            let done = v["kernels"].as_array().map_or(0, Vec::len) + v["failures"].as_array().map_or(0, Vec::len);
            assert!(done > 0, "{file} cut at {n}: neither a kernel nor a failure");
        }
    }
}

#[test]
fn an_unknown_target() {
    let text = HEAD.replace("sm_80", "sm_52") + ".entry k()\n{\nret;\n}\n";
    let o = feed(&["alloc", "-"], text.as_bytes());
    let error = String::from_utf8_lossy(&o.stderr).into_owned();
    assert_eq!(o.status.code(), Some(2), "{error}");
    assert!(error.contains("unknown architecture 'sm_52'") && error.contains("--arch"), "{error}");
    assert_eq!(feed(&["alloc", "-", "--arch", "sm_80"], text.as_bytes()).status.code(), Some(0));
    let text = "kernel @k .target sm_1 {\ne:\n EXIT\n}\n";
    assert_eq!(feed(&["alloc", "-"], text.as_bytes()).status.code(), Some(2));
}

#[test]
fn deep_nesting() {
    let n = 100_000;
    let scopes = format!("{HEAD}.entry k()\n{{\n{}{}ret;\n}}\n", "{".repeat(n), "}".repeat(n));
    refused(scopes.as_bytes(), 2, "nested");
    let parens = format!("kernel @k {{\ne:\n %x: R = MOV {}\n EXIT\n}}\n", "(".repeat(n));
    refused(parens.as_bytes(), 2, "error");
    let expr = format!("{HEAD}.entry k()\n{{\n.reg .b32 %r<2>;\nmov.b32 %r1, {}1;\nret;\n}}\n", "(".repeat(n));
    refused(expr.as_bytes(), 2, "error");
}

#[test]
fn one_very_long_line() {
    let start = Instant::now();
    let mut text = HEAD.replace('\n', " ");
    text.push_str(&"x".repeat(100_000_000));
    let o = feed(&["alloc", "-"], text.as_bytes());
    assert_eq!(o.status.code(), Some(2));
    let error = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(error.lines().count() < 300 && error.len() < 100_000, "the message is {} bytes", error.len());
    assert!(start.elapsed() < Duration::from_secs(60), "took {:?}", start.elapsed());
}

#[test]
fn missing_files_and_directories() {
    for (file, message) in [("no/such/file", "no such file"), (".", "is a directory")] {
        let o = feed(&["alloc", file], b"");
        assert_eq!(o.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&o.stderr).contains(message));
    }
}

#[test]
fn numbers_at_the_edge() {
    let max = u32::MAX.to_string();
    for args in [
        vec!["occupancy", "--arch", "sm_80", "--threads", &max, "--regs", &max, "--smem", &max, "--dynamic-smem", &max],
        vec!["cliffs", "--arch", "sm_90", "--threads", &max, "--barriers", &max],
        vec!["bounds", "--arch", "sm_90", "--maxntid", "4294967295,4294967295,4294967295", "--minnctapersm", &max],
        vec!["bounds", "--arch", "sm_90", "--cli-maxntid", &max, "--maxnreg", &max, "--explain"],
        vec!["alloc", "vadd.fp", "--threads", &max, "--grid", "18446744073709551615", "--sms", &max],
        vec!["run", "loop.fp", "--fuel", "0", "--lanes", "32"],
        vec!["pressure", "loop.fp", "--points", "18446744073709551615"],
    ] {
        let o = feed(&args, b"");
        let error = String::from_utf8_lossy(&o.stderr).into_owned();
        assert!(!error.contains("panicked"), "{args:?}: {error}");
        assert_eq!(o.status.code(), Some(0), "{args:?}: {error}");
    }
}

#[test]
fn hostile_names_do_not_reach_the_terminal() {
    let text = "kernel @\"a\\u{1b}[31m\" {\ne:\n %x: R = MOV 1\n STG.E [%x], %x\n EXIT\n}\n";
    for verb in ["alloc", "pressure", "verify", "run"] {
        let o = feed(&[verb, "-"], text.as_bytes());
        assert_eq!(o.status.code(), Some(0), "{verb}: {}", String::from_utf8_lossy(&o.stderr));
        assert!(!o.stdout.contains(&0x1b) && !o.stderr.contains(&0x1b), "{verb}");
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fatpoint"))
        .args(["archs", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let mut error = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut error).expect("text");
    assert_eq!(child.wait().expect("the command ends").code(), Some(0), "{error}");
    assert_eq!(error, "");
}

#[test]
fn allocated_text_that_makes_no_sense_is_checked_not_trusted() {
    for text in [
        "allocated kernel @k {\ne:\n [i0] %x: R@R300 = MOV 1\n [i1] EXIT\n}\n",
        "allocated kernel @k {\ne:\n copy R9 <- R300\n [i0] EXIT\n}\n",
        "allocated kernel @k .local_slots 4000000000 {\ne:\n reload R4 <- local[9]\n [i0] EXIT\n}\n",
        "allocated kernel @k {\ne:\n [i1] %x: R@R2 = MOV 1\n [i0] EXIT\n}\n",
    ] {
        let o = feed(&["check", "-", "--check", "full"], text.as_bytes());
        let error = String::from_utf8_lossy(&o.stderr).into_owned();
        assert!(!error.contains("panicked"), "{text}: {error}");
        assert!(matches!(o.status.code(), Some(0..=2)), "{text}: {:?}", o.status);
    }
}
