//! The lowest layer of reading: a cursor over the bytes, spaces and comments, names, numbers.
//!
//! The cursor stands on a character boundary whenever it reports an error: it moves over whole ASCII tokens, over
//! quoted strings up to their closing quote, or over a comment up to the end of its line.
//! What a name may be without quotes is defined here once ([`plain_len`], [`is_plain`]) for reader and printer.

use super::error::{Fail, Parsed, Span};
use std::borrow::Cow;

/// What a name stands for; decides which names need quotes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NameKind {
    /// After `%`.
    Value,
    /// A block, or a word of the format.
    Block,
    /// A mnemonic.
    Mnemonic,
    /// A kernel or region, after `@`.
    Global,
    /// After `$`.
    Variable,
    /// A special register, beginning `SR_`.
    Special,
}

const WORD: u8 = 1;
const ALPHA: u8 = 2;
const DOT: u8 = 4;
const DOLLAR: u8 = 8;

const CLASS: [u8; 256] = {
    let mut t = [0u8; 256];
    let mut i = 0;
    while i < 256 {
        let b = i as u8;
        if b.is_ascii_alphabetic() || b == b'_' {
            t[i] = WORD | ALPHA;
        } else if b.is_ascii_digit() {
            t[i] = WORD;
        } else if b == b'.' {
            t[i] = DOT;
        } else if b == b'$' {
            t[i] = DOLLAR;
        }
        i += 1;
    }
    t
};

/// Words that never stand for a block or mnemonic without quotes.
const RESERVED: [&str; 7] = ["kernel", "allocated", "region", "undef", "clobbers", "extra", ".trip"];

/// Length of the unquoted name at the start of `b`, 0 when there is none.
pub(super) fn plain_len(kind: NameKind, b: &[u8]) -> usize {
    let (start, rest) = match kind {
        NameKind::Value => (WORD | DOLLAR, WORD | DOLLAR),
        NameKind::Block | NameKind::Mnemonic => (ALPHA | DOT, WORD | DOT | DOLLAR),
        NameKind::Global => (ALPHA | DOT | DOLLAR, WORD | DOT | DOLLAR),
        NameKind::Variable => (WORD | DOT | DOLLAR, WORD | DOT | DOLLAR),
        NameKind::Special => (ALPHA, WORD | DOT),
    };
    let class = |i: usize| b.get(i).map_or(0, |&x| CLASS[x as usize]);
    if class(0) & start == 0 {
        return 0;
    }
    let scoped = matches!(kind, NameKind::Block | NameKind::Mnemonic);
    let mut n = 1;
    loop {
        if class(n) & rest != 0 {
            n += 1;
        } else if scoped && b.get(n) == Some(&b':') && b.get(n + 1) == Some(&b':') && class(n + 2) & WORD != 0 {
            n += 3; // `shared::cluster`
        } else {
            return n;
        }
    }
}

/// True when the name stands without quotes.
pub(super) fn is_plain(kind: NameKind, name: &str) -> bool {
    if name.is_empty() || plain_len(kind, name.as_bytes()) != name.len() {
        return false;
    }
    match kind {
        NameKind::Block => !RESERVED.contains(&name) && !name.starts_with("SR_"),
        NameKind::Mnemonic => !RESERVED.contains(&name),
        NameKind::Special => name.starts_with("SR_"),
        _ => true,
    }
}

/// A place in the text.
pub(super) struct Cursor<'t> {
    pub text: &'t str,
    pub bytes: &'t [u8],
    pub pos: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, bytes: text.as_bytes(), pos: 0 }
    }

    /// The byte here, 0 at the end of the text (and for a NUL, which no rule of the grammar accepts either).
    #[inline]
    pub fn peek(&self) -> u8 {
        self.bytes.get(self.pos).copied().unwrap_or(0)
    }
    #[inline]
    pub fn peek_at(&self, ahead: usize) -> u8 {
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }
    pub fn at_end(&self) -> bool {
        self.pos >= self.bytes.len()
    }

    /// Skips spaces, and comments up to the end of their line, but no end of line.
    #[inline]
    pub fn space(&mut self) {
        while let Some(&b) = self.bytes.get(self.pos) {
            match b {
                b' ' | b'\t' | b'\r' => self.pos += 1,
                b';' => self.skip_line(),
                b'/' if self.peek_at(1) == b'/' => self.skip_line(),
                _ => return,
            }
        }
    }
    /// Skips spaces, comments and ends of lines.
    pub fn blank(&mut self) {
        self.space();
        while self.peek() == b'\n' {
            self.pos += 1;
            self.space();
        }
    }
    /// Goes to the end of the line.
    pub fn skip_line(&mut self) {
        let rest = &self.bytes[self.pos..];
        self.pos += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
    }

    /// Takes one byte when it is the next one.
    #[inline]
    pub fn eat(&mut self, b: u8) -> bool {
        let hit = self.bytes.get(self.pos) == Some(&b);
        self.pos += hit as usize;
        hit
    }
    /// Takes `b` after spaces, with spaces after it.
    #[inline]
    pub fn eat_token(&mut self, b: u8) -> bool {
        self.space();
        let hit = self.eat(b);
        if hit {
            self.space();
        }
        hit
    }
    /// Takes `word` after spaces, when no further word character follows it.
    pub fn eat_word(&mut self, word: &str) -> bool {
        self.space();
        let end = self.pos + word.len();
        let next = self.bytes.get(end).map_or(0, |&b| CLASS[b as usize]);
        let hit = self.bytes[self.pos..].starts_with(word.as_bytes()) && next & (WORD | DOT | DOLLAR) == 0;
        if hit {
            self.pos = end;
        }
        hit
    }

    /// Span of the token here: a word, or one character, or nothing at the end of a line.
    pub fn token(&self) -> Span {
        let rest = &self.bytes[self.pos.min(self.bytes.len())..];
        let words = rest.iter().take_while(|&&b| CLASS[b as usize] != 0).count();
        let n = match rest.first() {
            None | Some(b'\n') => 0,
            _ if words > 0 => words,
            _ => self.text[self.pos..].chars().next().map_or(0, char::len_utf8),
        };
        Span::new(self.pos, self.pos + n)
    }
    /// The token here in words, for messages.
    pub fn found(&self) -> String {
        let s = self.token();
        match (s.start == s.end, self.at_end()) {
            (true, true) => "the end of the text".into(),
            (true, false) => "the end of the line".into(),
            _ => format!("`{}`", clip(&self.text[s.start as usize..s.end as usize])),
        }
    }
    /// The error that something else was expected here.
    pub fn expected(&self, what: &str) -> Fail {
        Fail::new(self.token(), format!("expected {what}, found {}", self.found()))
    }
    /// Takes `b`, spaces before and after it allowed.
    pub fn expect(&mut self, b: u8, what: &str) -> Parsed<()> {
        if self.eat_token(b) {
            Ok(())
        } else {
            Err(self.expected(what))
        }
    }
    /// What was read since `start`, without spaces at its end.
    pub fn span_from(&self, start: usize) -> Span {
        let spaces = self.bytes[start..self.pos].iter().rev().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
        Span::new(start, self.pos - spaces)
    }

    /// A name, plain or quoted.
    pub fn name(&mut self, kind: NameKind, what: &str) -> Parsed<Cow<'t, str>> {
        if self.peek() == b'"' {
            return self.quoted();
        }
        let n = plain_len(kind, &self.bytes[self.pos..]);
        if n == 0 {
            return Err(self.expected(what));
        }
        let s = &self.text[self.pos..self.pos + n];
        self.pos += n;
        Ok(Cow::Borrowed(s))
    }
    /// The version behind a name: `'3`, or 0.
    pub fn version(&mut self) -> Parsed<u32> {
        if self.peek() != b'\'' {
            return Ok(0);
        }
        self.pos += 1;
        self.number_u32("a version")
    }

    fn quoted(&mut self) -> Parsed<Cow<'t, str>> {
        let open = self.pos;
        let unclosed = |end: usize| Fail::new(Span::new(open, end), "the quoted name has no closing quote");
        self.pos += 1;
        let start = self.pos;
        let mut owned: Option<String> = None;
        let mut from = start;
        loop {
            match self.bytes.get(self.pos) {
                None | Some(b'\n') => return Err(unclosed(self.pos)),
                Some(b'"') => break,
                Some(b'\\') => {
                    let s = owned.get_or_insert_with(String::new);
                    s.push_str(&self.text[from..self.pos]);
                    let c = self.escape()?;
                    s.push(c);
                    from = self.pos;
                }
                Some(_) => self.pos += 1,
            }
        }
        let tail = &self.text[from..self.pos];
        self.pos += 1;
        Ok(match owned {
            Some(mut s) => {
                s.push_str(tail);
                Cow::Owned(s)
            }
            None => Cow::Borrowed(tail),
        })
    }

    fn escape(&mut self) -> Parsed<char> {
        let start = self.pos;
        let c = match self.peek_at(1) {
            b'"' => '"',
            b'\\' => '\\',
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'u' if self.peek_at(2) == b'{' => {
                let digits = self.bytes[start + 3..].iter().take(8).take_while(|b| b.is_ascii_hexdigit()).count();
                let end = start + 3 + digits;
                let c = u32::from_str_radix(&self.text[start + 3..end], 16).ok().and_then(char::from_u32);
                return match (c, self.bytes.get(end)) {
                    (Some(c), Some(b'}')) => {
                        self.pos = end + 1;
                        Ok(c)
                    }
                    _ => Err(Fail::new(Span::new(start, end), "`\\u{..}` takes the hexadecimal number of a character")),
                };
            }
            _ => {
                return Err(Fail::new(Span::new(start, start + 1), "unknown escape in a quoted name")
                    .hint("`\\\"`, `\\\\`, `\\n`, `\\t`, `\\r` and `\\u{..}` are the escapes"))
            }
        };
        self.pos += 2;
        Ok(c)
    }

    /// An unsigned number, decimal or `0x` hexadecimal, of at most 64 bits.
    pub fn number(&mut self, what: &str) -> Parsed<u64> {
        let b = &self.bytes[self.pos..];
        if !b.first().is_some_and(u8::is_ascii_digit) {
            return Err(self.expected(what));
        }
        let n = b.iter().take_while(|&&b| CLASS[b as usize] & WORD != 0).count();
        let span = Span::new(self.pos, self.pos + n);
        let (radix, digits) = match b[..n] {
            [b'0', b'x' | b'X', ref d @ ..] => (16u64, d),
            ref d => (10, d),
        };
        let clipped = || clip(&self.text[span.start as usize..span.end as usize]);
        let mut value = 0u64;
        for &d in digits {
            let Some(d) = (d as char).to_digit(radix as u32) else {
                return Err(Fail::new(span, format!("`{}` is not a number", clipped())));
            };
            value = match value.checked_mul(radix).and_then(|v| v.checked_add(d as u64)) {
                Some(v) => v,
                None => return Err(Fail::new(span, format!("`{}` does not fit into 64 bits", clipped()))),
            };
        }
        if digits.is_empty() {
            return Err(Fail::new(span, format!("`{}` is not a number", clipped())));
        }
        self.pos += n;
        Ok(value)
    }
    /// A number of at most `max`.
    pub fn number_to(&mut self, what: &str, max: u64) -> Parsed<u64> {
        let start = self.pos;
        let n = self.number(what)?;
        if n > max {
            return Err(Fail::new(self.span_from(start), format!("{what} of {n} is out of range, at most {max}")));
        }
        Ok(n)
    }
    /// A number of 32 bits.
    pub fn number_u32(&mut self, what: &str) -> Parsed<u32> {
        self.number_to(what, u32::MAX as u64).map(|n| n as u32)
    }
}

/// At most 40 characters of a token.
pub(super) fn clip(s: &str) -> String {
    match s.char_indices().nth(40) {
        Some((p, _)) => format!("{}...", &s[..p]),
        None => s.to_string(),
    }
}
