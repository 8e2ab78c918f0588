//! The PTX parser: text to [`Module`], names resolved, errors collected.
//!
//! Recursive descent over an on-demand lexer, without recursion for anything that the text can nest:
//! scopes are an explicit stack, initializers count braces, and only constant expressions recurse, to a
//! fixed depth. After an error in a body parsing goes on at the next `;` or brace, so one run reports
//! several errors, at most [`MAX_ERRORS`]. Time is linear in the text.

mod body;
mod decl;
mod expr;
mod module;
mod operand;
mod scope;

use super::ast::{Module, SymbolRef};
use super::error::{Note, PtxError, Span};
use super::lex::{Lexer, Token, TokenKind};
use super::mnemonic::Mnemonic;
use foldhash::{HashMap, HashSet};
use scope::Body;
use std::sync::Arc;

/// The number of errors after which the parser gives up.
pub const MAX_ERRORS: usize = 20;

/// The deepest nesting of `{ }` scopes in a body.
pub const MAX_SCOPES: usize = 256;

/// Reads PTX text.
///
/// # Errors
/// All errors found, in text order, at most [`MAX_ERRORS`].
pub fn parse(text: &str) -> Result<Module, Vec<PtxError>> {
    let (module, errors) = parse_lossy(text);
    if errors.is_empty() {
        Ok(module)
    } else {
        Err(errors)
    }
}

/// Reads PTX text given as bytes, which may not be UTF-8.
///
/// # Errors
/// As [`parse`]; bytes that are not UTF-8 are one error with their position (columns then count bytes).
pub fn parse_bytes(bytes: &[u8]) -> Result<Module, Vec<PtxError>> {
    let bad = match std::str::from_utf8(bytes) {
        Ok(text) => return parse(text),
        Err(e) => e,
    };
    let at = bad.valid_up_to();
    let before = &bytes[..at];
    let line_start = before.iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1);
    Err(vec![PtxError {
        message: "the text is not UTF-8".into(),
        span: Span { start: at as u32, end: (at + bad.error_len().unwrap_or(bytes.len() - at)) as u32 },
        line: before.iter().filter(|b| **b == b'\n').count() as u32 + 1,
        column: (at - line_start) as u32 + 1,
        hint: Some("PTX is ASCII text; this may be a cubin or another binary file".into()),
    }])
}

/// Reads PTX text; gives what could be read beside the errors. A function with an error in its body keeps
/// the statements that were understood, so only look at it, do not compile it.
#[must_use]
pub fn parse_lossy(text: &str) -> (Module, Vec<PtxError>) {
    if u32::try_from(text.len()).is_err() {
        let message = "the file is larger than 4 GiB".to_string();
        return (Module::default(), vec![PtxError { message, span: Span::default(), line: 1, column: 1, hint: None }]);
    }
    let mut lexer = Lexer::new(text);
    let token = lexer.next_token();
    let mut parser = Parser {
        text,
        lexer,
        token,
        last: token,
        vectors: 0,
        errors: Vec::new(),
        module: Module { address_size: 64, ..Module::default() },
        symbols: HashMap::default(),
        mnemonics: HashMap::default(),
        noted: HashSet::default(),
        body: Body::default(),
    };
    parser.module();
    parser.errors.sort_by_key(|e| e.span.start);
    (parser.module, parser.errors)
}

/// Why a parsing function stopped; the error is already recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stop {
    /// Skip to the next statement.
    Statement,
    /// Too many errors, or the end of the text.
    Fatal,
}

type Parsed<T> = Result<T, Stop>;

struct Parser<'t> {
    text: &'t str,
    lexer: Lexer<'t>,
    /// The token to look at.
    token: Token,
    /// The token before it.
    last: Token,
    /// Vector braces that are open, for the recovery from an error inside them.
    vectors: u32,
    errors: Vec<PtxError>,
    module: Module,
    /// Names at file scope.
    symbols: HashMap<&'t str, SymbolRef>,
    mnemonics: HashMap<&'t str, Arc<Mnemonic>>,
    /// Unknown things that have a note already.
    noted: HashSet<&'t str>,
    /// The function being read.
    body: Body<'t>,
}

impl<'t> Parser<'t> {
    fn bump(&mut self) -> Token {
        let token = self.token;
        self.last = token;
        self.token = self.lexer.next_token();
        token
    }

    fn str_of(&self, span: Span) -> &'t str {
        span.of(self.text)
    }

    fn at(&self, byte: u8) -> bool {
        self.token.kind == TokenKind::Punct(byte)
    }

    fn at_end(&self) -> bool {
        self.token.kind == TokenKind::End
    }

    /// Takes the punctuation if it is there.
    fn eat(&mut self, byte: u8) -> bool {
        let there = self.at(byte);
        if there {
            self.bump();
        }
        there
    }

    fn expect(&mut self, byte: u8) -> Parsed<Token> {
        if self.at(byte) {
            return Ok(self.bump());
        }
        Err(self.expected(&format!("`{}`", byte as char)))
    }

    /// A word.
    fn word(&mut self, what: &str) -> Parsed<(&'t str, Token)> {
        if self.token.kind != TokenKind::Word {
            return Err(self.expected(what));
        }
        let token = self.bump();
        Ok((self.str_of(token.span), token))
    }

    /// Records an error at a token.
    fn error_at(&mut self, token: Token, message: impl Into<String>, hint: Option<String>) -> Stop {
        let before = self.text.get(..token.span.start as usize).unwrap_or("");
        let before = &before[before.rfind('\n').map_or(0, |n| n + 1)..];
        self.errors.push(PtxError {
            message: message.into(),
            span: token.span,
            line: token.line,
            column: before.chars().count() as u32 + 1,
            hint,
        });
        if self.errors.len() >= MAX_ERRORS {
            Stop::Fatal
        } else {
            Stop::Statement
        }
    }

    /// Records that the current token is not what the grammar wants; a bad token speaks for itself.
    fn expected(&mut self, what: &str) -> Stop {
        let token = self.token;
        let hint = (token.line > self.last.line && !self.at_end())
            .then(|| format!("line {} may lack its semicolon", self.last.line));
        match token.kind {
            TokenKind::Bad(bad) => {
                let stop = self.error_at(token, bad.message(), None);
                self.bump();
                stop
            }
            TokenKind::End => self.error_at(token, format!("the file ends where {what} is expected"), None),
            _ => {
                let found = self.str_of(token.span);
                // A hostile token may be megabytes long.
                let found: String = found.chars().take(60).collect();
                self.error_at(token, format!("expected {what}, found `{found}`"), hint)
            }
        }
    }

    /// Adds a note for something unknown, once for each name.
    fn note_once(&mut self, name: &'t str, token: Token, message: impl FnOnce() -> String) {
        if self.noted.insert(name) {
            self.module.notes.push(Note { message: message(), span: token.span, line: token.line });
        }
    }

    /// Skips to just after the next `;`, or to a brace of a scope or the end. A brace after a comma or
    /// inside a vector belongs to a vector operand.
    fn skip_statement(&mut self) {
        let mut vectors = std::mem::take(&mut self.vectors);
        loop {
            match self.token.kind {
                TokenKind::Punct(b';') => {
                    self.bump();
                    return;
                }
                TokenKind::Punct(b'{') if vectors > 0 || self.last.kind == TokenKind::Punct(b',') => vectors += 1,
                TokenKind::Punct(b'}') if vectors > 0 => vectors -= 1,
                TokenKind::Punct(b'{' | b'}') | TokenKind::End => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Skips the rest of the line of `token`, then a semicolon if one stands there: how an unknown
    /// directive is passed over, since not all end in a semicolon.
    fn skip_line_of(&mut self, token: Token) {
        while self.token.line == token.line && !self.at_end() {
            match self.token.kind {
                TokenKind::Punct(b';') => {
                    self.bump();
                    return;
                }
                TokenKind::Punct(b'{' | b'}') => return,
                _ => {
                    self.bump();
                }
            }
        }
    }

    /// The shared mnemonic of a spelling.
    fn mnemonic(&mut self, token: Token) -> Arc<Mnemonic> {
        let text = self.str_of(token.span);
        if let Some(op) = self.mnemonics.get(text) {
            return Arc::clone(op);
        }
        let op = Arc::new(Mnemonic::new(text));
        self.mnemonics.insert(text, Arc::clone(&op));
        if op.rule().is_none() && op.opcode() != "call" {
            self.note_once(text, token, || super::roles::unknown_note(&op));
        }
        op
    }
}
