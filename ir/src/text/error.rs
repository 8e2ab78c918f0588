//! Errors that point into the text: collected with byte spans while parsing, given line and column in one pass at the
//! end, so that a long line or many errors cost no more than one scan.

use std::fmt;
use std::ops::Range;
use thiserror::Error;

/// Errors kept for one text; reading stops when there are this many.
pub const MAX_ERRORS: usize = 50;

/// What is wrong with a text, and where.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{line}:{column}: {message}")]
pub struct TextError {
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The offending bytes of the text.
    pub span: Range<usize>,
    /// Line of the first offending byte, from 1.
    pub line: usize,
    /// Column of the first offending byte in characters, from 1.
    pub column: usize,
    /// What may help.
    pub hint: Option<String>,
}

impl TextError {
    /// The error with the line it points at and a marker below the offending text, at most 100 characters of it.
    pub fn render(&self, source: &str, text: &str) -> String {
        let mut out = format!("{source}:{}:{}: error: {}\n", self.line, self.column, self.message);
        let start = floor_boundary(text, self.span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |p| p + 1);
        let from = text[line_start..start].char_indices().rev().nth(59).map_or(line_start, |(p, _)| line_start + p);
        let line: String = text[from..].chars().take_while(|&c| c != '\n').take(100).collect();
        let before = text[from..start].chars().count();
        let marked = text[start..].chars().zip(text[start..].char_indices()).take(100 - before.min(99));
        let marks = marked.take_while(|(c, (p, _))| *c != '\n' && start + p < self.span.end).count().max(1);
        let show: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let _ = fmt::Write::write_fmt(
            &mut out,
            format_args!("  {}\n  {}{}\n", show.trim_end(), " ".repeat(before), "^".repeat(marks)),
        );
        if let Some(h) = &self.hint {
            out.push_str("  help: ");
            out.push_str(h);
            out.push('\n');
        }
        out
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Bytes of the text from `start` up to `end`; texts are shorter than 4 GiB.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }
}

/// An error before it has a line number.
#[derive(Debug)]
pub(super) struct Fail {
    pub span: Span,
    pub message: String,
    pub hint: Option<String>,
    /// A place that the hint speaks of; its line number is appended to the hint.
    pub related: Option<Span>,
}

impl Fail {
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), hint: None, related: None }
    }
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
    pub fn see(mut self, related: Span, hint: impl Into<String>) -> Self {
        self.related = Some(related);
        self.hint(hint)
    }
}

pub(super) type Parsed<T> = Result<T, Fail>;

/// The errors of one text so far.
#[derive(Default)]
pub(super) struct Errors {
    list: Vec<Fail>,
}

impl Errors {
    pub fn push(&mut self, fail: Fail) {
        if !self.full() {
            self.list.push(fail);
        }
    }
    pub fn full(&self) -> bool {
        self.list.len() >= MAX_ERRORS
    }
    pub fn len(&self) -> usize {
        self.list.len()
    }
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All errors in text order with lines and columns, found in one scan.
    pub fn locate(mut self, text: &str) -> Vec<TextError> {
        self.list.sort_by_key(|f| (f.span.start, f.span.end));
        let mut wanted: Vec<u32> =
            self.list.iter().flat_map(|f| [Some(f.span.start), f.related.map(|r| r.start)]).flatten().collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut places = Vec::with_capacity(wanted.len());
        let (mut line, mut column, mut pos) = (1usize, 1usize, 0usize);
        for &w in &wanted {
            for &b in &text.as_bytes()[pos..w as usize] {
                if b == b'\n' {
                    line += 1;
                    column = 1;
                } else if b & 0xc0 != 0x80 {
                    column += 1;
                }
            }
            pos = w as usize;
            places.push((line, column));
        }
        let place = |at: u32| places[wanted.binary_search(&at).expect("every offset was located")];
        self.list
            .into_iter()
            .map(|f| {
                let (line, column) = place(f.span.start);
                let hint = match (f.hint, f.related) {
                    (Some(h), Some(r)) => Some(format!("{h} on line {}", place(r.start).0)),
                    (h, _) => h,
                };
                let span = f.span.start as usize..f.span.end as usize;
                TextError { message: f.message, span, line, column, hint }
            })
            .collect()
    }
}
