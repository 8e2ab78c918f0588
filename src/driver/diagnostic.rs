//! What is wrong, or worth knowing, about an input: a message, a place in its text, a hint.

use fatpoint_frontends::ptx::{Note, PtxError};
use fatpoint_ir::text::TextError;

/// How serious a diagnostic is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The input, or one kernel of it, is refused.
    Error,
    /// The result stands, but is probably not what was wanted.
    Warning,
    /// How something was understood.
    Note,
}

impl Severity {
    /// The word in front of the message.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// A place in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// One remark about an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How serious it is.
    pub severity: Severity,
    /// The kernel that it is about, where it is about one.
    pub kernel: Option<String>,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// Where in the source's text.
    pub place: Option<Place>,
    /// What may help.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// A diagnostic without a place.
    pub fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self { severity, kernel: None, message: message.into(), place: None, hint: None }
    }

    /// An error without a place.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message)
    }

    /// A warning without a place.
    pub fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message)
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says which kernel it is about.
    #[must_use]
    pub fn of_kernel(mut self, name: impl Into<String>) -> Self {
        self.kernel = Some(name.into());
        self
    }

    /// Says where, by bytes; line and column are found in the text.
    #[must_use]
    pub fn at(mut self, text: &str, start: usize, end: usize) -> Self {
        let start = start.min(text.len());
        let before = &text.as_bytes()[..start];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |p| p + 1);
        // Continuation bytes of UTF-8 are no characters of their own.
        let column = before[line_start..].iter().filter(|&&b| b & 0xc0 != 0x80).count() + 1;
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        self.place = Some(Place { start, end: end.clamp(start, text.len()), line, column });
        self
    }
}

impl From<&TextError> for Diagnostic {
    fn from(e: &TextError) -> Self {
        Self {
            severity: Severity::Error,
            kernel: None,
            message: e.message.clone(),
            place: Some(Place { start: e.span.start, end: e.span.end, line: e.line, column: e.column }),
            hint: e.hint.clone(),
        }
    }
}

impl From<&PtxError> for Diagnostic {
    fn from(e: &PtxError) -> Self {
        Self {
            severity: Severity::Error,
            kernel: None,
            message: e.message.clone(),
            place: Some(Place {
                start: e.span.start as usize,
                end: e.span.end as usize,
                line: e.line as usize,
                column: e.column as usize,
            }),
            hint: e.hint.clone(),
        }
    }
}

impl Diagnostic {
    /// A note of the PTX reader.
    pub fn note(text: &str, note: &Note) -> Self {
        let d = Self::new(Severity::Note, note.message.clone());
        // The reader counted the line already; only the column is left to find.
        let start = (note.span.start as usize).min(text.len());
        let bytes = &text.as_bytes()[..start];
        let line_start = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |p| p + 1);
        let column = bytes[line_start..].iter().filter(|&&b| b & 0xc0 != 0x80).count() + 1;
        let end = (note.span.end as usize).clamp(start, text.len());
        Self { place: Some(Place { start, end, line: note.line as usize, column }), ..d }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters() {
        let text = "a\nb\u{e9}\u{e9}c\n";
        let d = Diagnostic::error("x").at(text, 7, 8);
        assert_eq!(d.place, Some(Place { start: 7, end: 8, line: 2, column: 4 }));
        let d = Diagnostic::error("x").at(text, 1000, 2000);
        assert_eq!(d.place.unwrap().start, text.len());
    }
}
