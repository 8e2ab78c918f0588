//! Transcripts of the command, compared byte for byte.
//!
//! Each `tests/cases/*.out` holds commands, as `$ fatpoint ..` lines, and what they print: standard output as it is,
//! standard error with `2> ` in front, and the exit code where it is not 0. `a | fatpoint b` feeds one into the next.
//! The pages in `docs/` hold transcripts of the same form in their code blocks, run in `tests/cases` as well.
//!
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

/// The files of a folder with this extension, sorted.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder exists")
        .map(|e| e.expect("a directory entry").path())
        .filter(|p| p.extension().is_some_and(|x| x == extension))
        .collect();
    files.sort();
    files
}

/// All transcripts of a text made anew.
fn transcripts(commands: &str) -> String {
    commands.lines().filter(|l| l.starts_with("$ fatpoint")).map(transcript).collect()
}

/// The difference between a file and what it should be; with `UPDATE_CASES` it is written instead.
fn compare(path: &Path, expected: &str, found: &str) -> Option<String> {
    if found == expected {
        return None;
    }
    if std::env::var_os("UPDATE_CASES").is_some() {
        std::fs::write(path, found).expect("transcripts can be written");
        return None;
    }
    let line = found.lines().zip(expected.lines()).position(|(a, b)| a != b);
    let line = line.unwrap_or_else(|| found.lines().count().min(expected.lines().count()));
    let at = |text: &str| text.lines().nth(line).map(str::to_string);
    Some(format!("{}:{}\n  expected {:?}\n  found    {:?}", path.display(), line + 1, at(expected), at(found)))
}

#[track_caller]
fn agree(different: &[String]) {
    assert!(different.is_empty(), "transcripts differ (UPDATE_CASES=1 writes them):\n{}", different.join("\n"));
}

#[test]
fn transcripts_agree() {
    let list = files(&cases(), "out");
    assert!(list.len() >= 8, "transcripts are missing: {list:?}");
    let mut different = Vec::new();
    for path in list {
        let expected = std::fs::read_to_string(&path).expect("a transcript is text");
        let found = transcripts(&expected);
        assert!(!found.is_empty(), "{} has no command", path.display());
        different.extend(compare(&path, &expected, &found));
    }
    agree(&different);
}

#[test]
fn the_pages_show_real_output() {
    let mut different = Vec::new();
    let mut commands = 0;
    for path in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs"), "md") {
        let expected = std::fs::read_to_string(&path).expect("a page is text");
        let mut found = String::new();
        // Every second piece between fences is a code block; its first line is what follows the fence.
        for (k, piece) in expected.split("```").enumerate() {
            if k > 0 {
                found.push_str("```");
            }
            let run = transcripts(piece);
            match piece.split_once('\n') {
                Some((language, _)) if k % 2 == 1 && !run.is_empty() => {
                    commands += 1;
                    found.push_str(language);
                    found.push('\n');
                    found.push_str(&run);
                }
                _ => found.push_str(piece),
            }
        }
        different.extend(compare(&path, &expected, &found));
    }
    assert!(commands >= 9, "one page for each verb has output, found {commands} blocks");
    agree(&different);
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
