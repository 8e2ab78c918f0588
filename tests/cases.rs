//! Transcripts of the command, compared byte for byte.
//!
//! Each `tests/cases/*.out` holds commands, as `$ fatpoint ..` lines, and what they print: standard output as it is,
//! standard error with `2> ` in front, and the exit code where it is not 0. `a | fatpoint b` feeds one into the next.
//! `UPDATE_CASES=1 cargo test --test cases` writes what is printed now; read the difference before keeping it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

fn run(args: &str, input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fatpoint"))
        .args(args.split_whitespace())
        .current_dir(cases())
        .env_remove("NO_COLOR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    // A command that reads no input may be gone already.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().expect("the command ends")
}

/// What one `$` line prints.
fn transcript(line: &str) -> String {
    let mut out = format!("{line}\n");
    let mut input = Vec::new();
    let mut errors = String::new();
    let mut codes = Vec::new();
    for command in line.trim_start_matches("$ ").split(" | ") {
        let args = command.strip_prefix("fatpoint").expect("commands are fatpoint's");
        let o = run(args, &input);
        errors.push_str(&String::from_utf8(o.stderr).expect("UTF-8"));
        codes.push(o.status.code().expect("an exit code"));
        input = o.stdout;
    }
    out.push_str(&String::from_utf8(input).expect("UTF-8"));
    for e in errors.lines() {
        out.push_str(format!("2> {e}").trim_end());
        out.push('\n');
    }
    if codes.iter().any(|&c| c != 0) {
        let codes: Vec<String> = codes.iter().map(ToString::to_string).collect();
        out.push_str(&format!("exit {}\n", codes.join(", ")));
    }
    out
}

#[test]
fn transcripts_agree() {
    let update = std::env::var_os("UPDATE_CASES").is_some();
    let mut files: Vec<PathBuf> = std::fs::read_dir(cases())
        .expect("tests/cases exists")
        .map(|e| e.expect("a directory entry").path())
        .filter(|p| p.extension().is_some_and(|x| x == "out"))
        .collect();
    files.sort();
    assert!(files.len() >= 8, "transcripts are missing: {files:?}");
    let mut different = Vec::new();
    for path in files {
        let expected = std::fs::read_to_string(&path).expect("a transcript is text");
        let commands: Vec<&str> = expected.lines().filter(|l| l.starts_with("$ fatpoint")).collect();
        assert!(!commands.is_empty(), "{} has no command", path.display());
        let found: String = commands.iter().map(|c| transcript(c)).collect();
        if found != expected {
            if update {
                std::fs::write(&path, &found).expect("transcripts can be written");
            } else {
                let line = found.lines().zip(expected.lines()).position(|(a, b)| a != b);
                let line = line.unwrap_or_else(|| found.lines().count().min(expected.lines().count()));
                different.push(format!(
                    "{}:{}\n  expected {:?}\n  found    {:?}",
                    path.display(),
                    line + 1,
                    expected.lines().nth(line),
                    found.lines().nth(line)
                ));
            }
        }
    }
    assert!(different.is_empty(), "transcripts differ (UPDATE_CASES=1 writes them):\n{}", different.join("\n"));
}

#[test]
fn text_is_at_most_a_page_wide() {
    for args in [
        "alloc vadd.fp",
        "alloc vadd.fp loop.fp wide.fp --grid 4096 --sms 128",
        "alloc live200_maxntid288.ptx --explain",
        "pressure loop.fp",
        "occupancy --arch sm_90 --threads 1024 --regs 255 --smem 227K",
        "cliffs --arch sm_120 --threads 32",
        "archs",
        "archs sm_120",
        "bounds --arch sm_80 --maxntid 1024 --maxnreg 128 --explain",
    ] {
        let out = String::from_utf8(run(args, b"").stdout).expect("UTF-8");
        let wide: Vec<&str> = out.lines().filter(|l| l.chars().count() > 100).collect();
        assert!(!out.is_empty() && wide.is_empty(), "fatpoint {args}: {wide:?}");
    }
}
