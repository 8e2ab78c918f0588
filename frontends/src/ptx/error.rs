//! Diagnostics of the PTX reader: a byte range into the text, with line and column made once.
//!
//! Lines count from 1. Columns count characters from 1. The column is found by scanning one line
//! when an error is made, so a very long line costs linear time per error, and errors are capped.

use std::fmt;

/// A half-open byte range into the text that was parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The text that the span covers; empty if the span does not fit `text`.
    #[must_use]
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or("")
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// One error of the PTX reader.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{line}:{column}: {message}{}", .hint.as_ref().map(|h| format!(" ({h})")).unwrap_or_default())]
pub struct PtxError {
    /// What is wrong.
    pub message: String,
    /// Where, in bytes.
    pub span: Span,
    /// Where: line, from 1.
    pub line: u32,
    /// Where: column in characters, from 1.
    pub column: u32,
    /// What may help, if anything.
    pub hint: Option<String>,
}

/// Something that was read but not understood, and how it was treated instead. Never an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// What was not understood and what was assumed.
    pub message: String,
    /// Where it first occurs.
    pub span: Span,
    /// Where: line, from 1.
    pub line: u32,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.message)
    }
}
