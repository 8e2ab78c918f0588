//! Diagnostics as a reader of compilers expects them: `file:line:column: error: message`, the line, a caret, a hint.

use super::style::Style;
use super::{clean, WIDTH};
use crate::driver::{Diagnostic, Severity, Source};
use std::fmt::Write;

/// Columns that the source line is indented by.
const INDENT: usize = 2;
/// Characters of the line shown before the place.
const BEFORE: usize = 60;

/// One diagnostic about `source`, which is its name and text; without a text only the message is printed.
pub fn diagnostic(d: &Diagnostic, name: &str, text: &str, style: Style) -> String {
    let mut out = clean(name);
    if let Some(p) = d.place {
        let _ = write!(out, ":{}:{}", p.line, p.column);
    }
    let word = match d.severity {
        Severity::Error => style.red("error"),
        Severity::Warning => style.yellow("warning"),
        Severity::Note => style.cyan("note"),
    };
    let _ = write!(out, ": {word}: ");
    if let Some(k) = &d.kernel {
        let _ = write!(out, "{}: ", clean(k));
    }
    out.push_str(&clean(&d.message));
    out.push('\n');
    if let Some(p) = d.place {
        excerpt(&mut out, text, p.start, p.end, style);
    }
    if let Some(h) = &d.hint {
        let _ = writeln!(out, "  {}: {}", style.cyan("help"), clean(h));
    }
    out
}

/// All of them, of one source.
pub fn diagnostics(list: &[Diagnostic], source: &Source, style: Style) -> String {
    list.iter().map(|d| diagnostic(d, &source.name, &source.text, style)).collect()
}

/// The line that holds a place, at most a page wide, and a mark below the place.
fn excerpt(out: &mut String, text: &str, start: usize, end: usize, style: Style) {
    let mut start = start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let line_start = text[..start].rfind('\n').map_or(0, |p| p + 1);
    let from = text[line_start..start].char_indices().rev().nth(BEFORE - 1).map_or(line_start, |(p, _)| line_start + p);
    let room = WIDTH - INDENT;
    let shown: String = text[from..].chars().take_while(|&c| c != '\n').take(room).collect();
    let before = text[from..start].chars().count();
    let marks = text[start..]
        .char_indices()
        .take_while(|&(p, c)| c != '\n' && start + p < end)
        .take(room - before)
        .count()
        .max(1);
    let blank: String = shown.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mark = style.red(&"^".repeat(marks));
    let _ = writeln!(out, "  {}\n  {}{mark}", blank.trim_end(), " ".repeat(before));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str, start: usize, end: usize) -> String {
        let d = Diagnostic::error("bad").at(text, start, end).hint("try");
        diagnostic(&d, "f", text, Style::default())
    }

    #[test]
    fn the_line_and_the_place_are_shown() {
        assert_eq!(show("one\n  two x\n", 6, 9), "f:2:3: error: bad\n    two x\n    ^^^\n  help: try\n");
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = "x".repeat(1_000_000);
        let s = show(&text, 500_000, 900_000);
        assert!(s.lines().all(|l| l.chars().count() <= WIDTH), "{s}");
        assert!(s.starts_with("f:1:500001: error"));
    }

    #[test]
    fn any_place_is_taken() {
        for text in ["", "\n", "\u{e9}\u{e9}"] {
            for start in 0..6 {
                for end in 0..6 {
                    assert!(show(text, start, end).contains('^'));
                }
            }
        }
    }
}
