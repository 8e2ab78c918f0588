//! Hand lexer for PTX: one pass over the bytes, tokens on demand, no allocation.
//!
//! Invariants: every token carries its byte span and its line; a column is found by the one who needs it, from
//! the start of the line. Time is linear in the text whatever its line lengths.
//!
//! Two departures from the letter of the PTX manual make the grammar simple: a [`TokenKind::Word`]
//! swallows dots and `::` inside it (`ld.shared::cta.v4.b32`, `%tid.x`, `%v.x`), since no space may
//! stand there; and a [`TokenKind::Dot`] directive is one dotted name (`.reg` of `.reg.b32`).

use super::error::Span;

/// What a [`Token`] is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// Identifier, register, or mnemonic with its modifiers.
    Word,
    /// A directive or a free-standing modifier: `.reg`, `.b32`; the span includes the dot.
    Dot,
    /// A number; see [`number`] for its value.
    Number,
    /// A double-quoted string; the span includes the quotes.
    Str,
    /// One or two bytes of punctuation: the byte, or the byte doubled for `<<`, `>>`, `==`, `&&`, `||`, or with `=`.
    Punct(u8),
    /// `<<`, `>>`: the byte that is doubled.
    Shift(u8),
    /// End of the text.
    End,
    /// Something that is not PTX.
    Bad(Bad),
}

/// Why a piece of text is no token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // see the messages
pub enum Bad {
    Comment,
    String,
    Dot,
    Nul,
    Control,
    NotAscii,
    Character,
}

impl Bad {
    /// What to tell the user.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Self::Comment => "unterminated comment",
            Self::String => "unterminated string",
            Self::Dot => "a directive name must follow the dot",
            Self::Nul => "NUL byte in the text",
            Self::Control => "control byte in the text",
            Self::NotAscii => "character outside ASCII",
            Self::Character => "unexpected character",
        }
    }
}

/// One token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is.
    pub span: Span,
    /// Line, from 1.
    pub line: u32,
}

/// The value of a number token.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// An integer, with or without `U`.
    Int(u64),
    /// `0f` and eight hexadecimal digits: the bits of an `f32`.
    F32(u32),
    /// `0d` and sixteen hexadecimal digits, or a decimal number with a point or exponent: the bits of an `f64`.
    F64(u64),
}

const SPACE: u8 = 1;
const START: u8 = 2; // may start a word
const CONT: u8 = 4; // may continue a word
const DIGIT: u8 = 8;

const CLASS: [u8; 256] = {
    let mut t = [0u8; 256];
    let mut i = 0;
    while i < 256 {
        let b = i as u8;
        if matches!(b, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c) {
            t[i] = SPACE;
        } else if b.is_ascii_digit() {
            t[i] = CONT | DIGIT;
        } else if b.is_ascii_alphabetic() || matches!(b, b'_' | b'$' | b'%') {
            t[i] = START | CONT;
        }
        i += 1;
    }
    t
};

/// The lexer: call [`Lexer::next_token`] until [`TokenKind::End`].
#[derive(Clone, Debug)]
pub struct Lexer<'t> {
    bytes: &'t [u8],
    at: usize,
    line: u32,
    line_start: usize,
}

impl<'t> Lexer<'t> {
    /// Starts at the first byte. The text must be shorter than 4 GiB (the parser checks).
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        Self { bytes: text.as_bytes(), at: 0, line: 1, line_start: 0 }
    }

    #[inline]
    fn byte(&self, at: usize) -> u8 {
        // 0 stands for "past the end": a real NUL is reported where a token starts.
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn newline(&mut self) {
        self.line += 1;
        self.line_start = self.at + 1;
    }

    /// Skips white space, comments and `#line` directives; a message if a comment never ends.
    fn skip(&mut self) -> Option<Token> {
        while let Some(&b) = self.bytes.get(self.at) {
            if b == b'\n' {
                self.newline();
                self.at += 1;
            } else if CLASS[usize::from(b)] & SPACE != 0 {
                self.at += 1;
            } else if b == b'/' && self.byte(self.at + 1) == b'/' {
                self.skip_line();
            } else if b == b'/' && self.byte(self.at + 1) == b'*' {
                let open = self.token(TokenKind::Bad(Bad::Comment), self.at, self.at + 2);
                self.at += 2;
                loop {
                    match self.bytes.get(self.at) {
                        None => return Some(open),
                        Some(b'\n') => self.newline(),
                        Some(b'*') if self.byte(self.at + 1) == b'/' => break,
                        Some(_) => {}
                    }
                    self.at += 1;
                }
                self.at += 2;
            } else if b == b'#' && self.bytes[self.line_start..self.at].iter().all(|b| matches!(b, b' ' | b'\t')) {
                self.skip_line(); // `#line` left by a preprocessor
            } else {
                break;
            }
        }
        None
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
    }

    fn token(&self, kind: TokenKind, start: usize, end: usize) -> Token {
        Token { kind, span: Span { start: start as u32, end: end as u32 }, line: self.line }
    }

    #[inline]
    fn word_end(&self, mut at: usize, dots: bool) -> usize {
        loop {
            let b = self.byte(at);
            if CLASS[usize::from(b)] & CONT != 0 {
                at += 1;
            } else if dots && b == b'.' && CLASS[usize::from(self.byte(at + 1))] & CONT != 0 {
                at += 2;
            } else if b == b':' && self.byte(at + 1) == b':' && CLASS[usize::from(self.byte(at + 2))] & CONT != 0 {
                at += 3;
            } else {
                return at;
            }
        }
    }

    fn number_end(&self, start: usize) -> usize {
        let mut at = start;
        let radix_prefix =
            self.byte(at) == b'0' && matches!(self.byte(at + 1), b'x' | b'X' | b'f' | b'F' | b'd' | b'D' | b'b' | b'B');
        while CLASS[usize::from(self.byte(at))] & CONT != 0
            || (!radix_prefix && self.byte(at) == b'.')
            || (!radix_prefix
                && matches!(self.byte(at), b'+' | b'-')
                && at > start
                && matches!(self.byte(at - 1), b'e' | b'E'))
        {
            at += 1;
        }
        at
    }

    /// The next token; [`TokenKind::End`] for ever once the text is used up.
    pub fn next_token(&mut self) -> Token {
        if let Some(bad) = self.skip() {
            return bad;
        }
        let start = self.at;
        let Some(&b) = self.bytes.get(start) else {
            return self.token(TokenKind::End, start, start);
        };
        let class = CLASS[usize::from(b)];
        let (kind, end) = if class & START != 0 {
            (TokenKind::Word, self.word_end(start + 1, true))
        } else if class & DIGIT != 0 {
            (TokenKind::Number, self.number_end(start))
        } else if b == b'.' && CLASS[usize::from(self.byte(start + 1))] & START != 0 {
            (TokenKind::Dot, self.word_end(start + 2, false))
        } else {
            match b {
                b'"' => {
                    let stop = self.bytes[start + 1..].iter().position(|b| matches!(b, b'"' | b'\n'));
                    match stop.map(|n| start + 1 + n) {
                        Some(end) if self.bytes[end] == b'"' => (TokenKind::Str, end + 1),
                        Some(end) => (TokenKind::Bad(Bad::String), end),
                        None => (TokenKind::Bad(Bad::String), self.bytes.len()),
                    }
                }
                b'<' | b'>' if self.byte(start + 1) == b => (TokenKind::Shift(b), start + 2),
                b',' | b';' | b':' | b'{' | b'}' | b'[' | b']' | b'(' | b')' | b'<' | b'>' | b'+' | b'-' | b'*'
                | b'/' | b'|' | b'&' | b'^' | b'~' | b'!' | b'@' | b'=' | b'?' => (TokenKind::Punct(b), start + 1),
                b'.' => (TokenKind::Bad(Bad::Dot), start + 1),
                0 => (TokenKind::Bad(Bad::Nul), start + 1),
                0x80.. => {
                    // Take the whole character, so that the span stays on character boundaries.
                    let rest = &self.bytes[start + 1..];
                    let more = rest.iter().take_while(|b| **b & 0xc0 == 0x80).count();
                    (TokenKind::Bad(Bad::NotAscii), start + 1 + more)
                }
                b if b.is_ascii_control() => (TokenKind::Bad(Bad::Control), start + 1),
                _ => (TokenKind::Bad(Bad::Character), start + 1),
            }
        };
        self.at = end;
        self.token(kind, start, end)
    }
}

/// The value of a number token's text: `12`, `0x1FU`, `0b101`, `017`, `0f3F800000`, `0d…`, `1.5e-3`.
///
/// # Errors
/// A message when the digits do not fit the form or the value does not fit 64 bits.
pub fn number(text: &str) -> Result<Number, &'static str> {
    const TOO_LARGE: &str = "integer literal does not fit 64 bits";
    let bytes = text.as_bytes();
    if !text.is_ascii() {
        return Err("malformed literal");
    }
    let hex = |digits: &str| digits.bytes().all(|b| b.is_ascii_hexdigit());
    let radix = |digits: &str, radix: u32| -> Result<Number, &'static str> {
        let digits = digits.strip_suffix(['U', 'u']).unwrap_or(digits);
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
            return Err("malformed integer literal");
        }
        u64::from_str_radix(digits, radix).map(Number::Int).map_err(|_| TOO_LARGE)
    };
    if bytes.first() == Some(&b'0') && bytes.len() > 1 {
        let rest = &text[2..];
        match bytes[1] {
            b'x' | b'X' => return radix(rest, 16),
            b'b' | b'B' => return radix(rest, 2),
            b'f' | b'F' => {
                if rest.len() != 8 || !hex(rest) {
                    return Err("0f needs exactly 8 hexadecimal digits");
                }
                return u32::from_str_radix(rest, 16).map(Number::F32).map_err(|_| "malformed 0f literal");
            }
            b'd' | b'D' => {
                if rest.len() != 16 || !hex(rest) {
                    return Err("0d needs exactly 16 hexadecimal digits");
                }
                return u64::from_str_radix(rest, 16).map(Number::F64).map_err(|_| "malformed 0d literal");
            }
            b'0'..=b'9' if bytes.iter().all(u8::is_ascii_alphanumeric) && !text.contains(['e', 'E']) => {
                return radix(&text[1..], 8)
            }
            _ => {}
        }
    }
    if text.contains(['.', 'e', 'E']) {
        return text.parse::<f64>().map(|v| Number::F64(v.to_bits())).map_err(|_| "malformed floating literal");
    }
    radix(text, 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(TokenKind, &str)> {
        let mut lexer = Lexer::new(text);
        let mut out = Vec::new();
        loop {
            let t = lexer.next_token();
            if t.kind == TokenKind::End {
                return out;
            }
            out.push((t.kind, t.span.of(text)));
        }
    }

    #[test]
    fn words_and_directives() {
        use TokenKind::{Dot, Number, Punct, Word};
        assert_eq!(
            kinds("ld.shared::cta.v2.b32 {%r1},[%rd2+-4];L: .reg.b32 a<4>;"),
            vec![
                (Word, "ld.shared::cta.v2.b32"),
                (Punct(b'{'), "{"),
                (Word, "%r1"),
                (Punct(b'}'), "}"),
                (Punct(b','), ","),
                (Punct(b'['), "["),
                (Word, "%rd2"),
                (Punct(b'+'), "+"),
                (Punct(b'-'), "-"),
                (Number, "4"),
                (Punct(b']'), "]"),
                (Punct(b';'), ";"),
                (Word, "L"),
                (Punct(b':'), ":"),
                (Dot, ".reg"),
                (Dot, ".b32"),
                (Word, "a"),
                (Punct(b'<'), "<"),
                (Number, "4"),
                (Punct(b'>'), ">"),
                (Punct(b';'), ";"),
            ]
        );
    }

    #[test]
    fn numbers() {
        assert_eq!(number("0x7770U"), Ok(Number::Int(0x7770)));
        assert_eq!(number("017"), Ok(Number::Int(15)));
        assert_eq!(number("0"), Ok(Number::Int(0)));
        assert_eq!(number("0b101"), Ok(Number::Int(5)));
        assert_eq!(number("18446744073709551615"), Ok(Number::Int(u64::MAX)));
        assert!(number("18446744073709551616").is_err());
        assert_eq!(number("0f3F800000"), Ok(Number::F32(0x3f80_0000)));
        assert!(number("0f3F8").is_err() && number("0f+1234567").is_err() && number("12q").is_err());
        assert!(number("0x").is_err() && number("08").is_err());
        assert_eq!(number("0dBFF0000000000000"), Ok(Number::F64((-1.0f64).to_bits())));
        assert_eq!(number("1.5e-3"), Ok(Number::F64(1.5e-3f64.to_bits())));
        assert_eq!(number("0.5"), Ok(Number::F64(0.5f64.to_bits())));
        assert_eq!(
            kinds("1e+5+2"),
            vec![(TokenKind::Number, "1e+5"), (TokenKind::Punct(b'+'), "+"), (TokenKind::Number, "2")]
        );
    }

    #[test]
    fn bad_text_is_a_token() {
        let bad = |t: &str| matches!(kinds(t).last().unwrap().0, TokenKind::Bad(_));
        assert!(bad("a /* b") && bad("\"abc") && bad("\"abc\n") && bad("a \0") && bad("\u{1}") && bad("é") && bad("`"));
        let mut lexer = Lexer::new("// é\n/* \n */ x");
        let t = lexer.next_token();
        assert_eq!((t.line, t.span.start, t.kind), (3, 14, TokenKind::Word));
    }
}
