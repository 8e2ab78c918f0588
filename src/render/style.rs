//! Color, where the output can show it.

/// How to mark up text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Write ANSI sequences.
    pub color: bool,
}

impl Style {
    fn wrap(self, code: &str, text: &str) -> String {
        if self.color {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_string()
        }
    }

    /// An error.
    pub fn red(self, text: &str) -> String {
        self.wrap("1;31", text)
    }

    /// A warning.
    pub fn yellow(self, text: &str) -> String {
        self.wrap("1;33", text)
    }

    /// A note, a hint.
    pub fn cyan(self, text: &str) -> String {
        self.wrap("36", text)
    }

    /// What matters in a report.
    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }
}
