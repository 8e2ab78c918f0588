//! What the command prints: text of at most [`WIDTH`] columns, JSON, CSV, and lines in the style of ptxas.
//!
//! Every function gives a string; nothing here decides anything. JSON documents are serde structs whose first field is
//! `schema`; fields may be added to them, never renamed.

pub mod alloc;
pub mod archs;
pub mod bounds;
pub mod check;
pub mod cliffs;
pub mod csv;
pub mod diagnostics;
pub mod occupancy;
pub mod pressure;
pub mod run;
pub mod style;
pub mod table;
pub mod verify;

use serde::Serialize;
use std::fmt::Write;

/// Columns of text output.
pub const WIDTH: usize = 100;

/// A JSON document, indented, with a newline at its end.
pub fn json(document: &impl Serialize) -> String {
    let mut s = serde_json::to_string_pretty(document).expect("documents have string keys and finite numbers");
    s.push('\n');
    s
}

/// A text in one line without control characters, for names that come from a file.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// A text cut in its middle to at most `width` characters.
pub fn fit(text: &str, width: usize) -> String {
    let text = clean(text);
    let n = text.chars().count();
    if n <= width {
        return text;
    }
    let keep = width.saturating_sub(2);
    let head: String = text.chars().take(keep - keep / 2).collect();
    let tail: String = text.chars().skip(n - keep / 2).collect();
    format!("{head}..{tail}")
}

/// `1 register`, `2 registers`.
pub fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Appends words, broken into lines of at most [`WIDTH`] columns, the first one after `lead`, the others indented alike.
pub fn paragraph(out: &mut String, lead: &str, text: &str) {
    let indent = lead.chars().count();
    let mut column = indent;
    out.push_str(lead);
    for (k, word) in text.split(' ').enumerate() {
        let n = word.chars().count();
        if k > 0 && column + 1 + n > WIDTH {
            let _ = write!(out, "\n{:indent$}", "");
            column = indent;
        } else if k > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += n;
    }
    out.push('\n');
}

/// A failure as JSON documents state it.
#[derive(Serialize, Clone, Debug)]
pub struct FailureJson {
    /// The kernel, or the file where no kernel was read.
    pub name: String,
    /// Why, in one sentence.
    pub error: String,
}

/// A remark as JSON documents state it.
#[derive(Serialize, Clone, Debug)]
pub struct RemarkJson {
    /// A stable name.
    pub kind: &'static str,
    /// One sentence.
    pub message: String,
}

impl From<&crate::driver::Remark> for RemarkJson {
    fn from(r: &crate::driver::Remark) -> Self {
        Self { kind: r.kind, message: r.message.clone() }
    }
}

/// A line number, where it is known.
pub fn line(n: u32) -> Option<u32> {
    (n != 0).then_some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_in_the_middle() {
        assert_eq!(fit("short", 10), "short");
        assert_eq!(fit("abcdefghijkl", 10), "abcd..ijkl");
        assert_eq!(fit("a\x1b[31m", 10), "a?[31m");
    }

    #[test]
    fn paragraphs_stay_within_the_width() {
        let mut s = String::new();
        paragraph(&mut s, "  note: ", &"word ".repeat(60));
        assert!(s.lines().all(|l| l.chars().count() <= WIDTH), "{s}");
        assert!(s.lines().nth(1).unwrap().starts_with("        word"));
    }
}
