//! Constant expressions of PTX, evaluated while they are read.
//!
//! Integers are 64-bit two's complement and wrap; division and shifts treat them as signed, as PTX
//! literals without `U` are. Floating literals take unary signs and nothing else.

use super::super::ast::{Imm, ImmKind};
use super::super::lex::{number, Number, Token, TokenKind};
use super::{Parsed, Parser};

/// The deepest nesting of parentheses and unary operators.
const MAX_DEPTH: u32 = 64;

fn precedence(kind: TokenKind) -> Option<(u8, u8)> {
    Some(match kind {
        TokenKind::Punct(b @ (b'*' | b'/' | b'%')) => (6, b),
        TokenKind::Punct(b @ (b'+' | b'-')) => (5, b),
        TokenKind::Shift(b) => (4, b),
        TokenKind::Punct(b'&') => (3, b'&'),
        TokenKind::Punct(b'^') => (2, b'^'),
        TokenKind::Punct(b'|') => (1, b'|'),
        _ => return None,
    })
}

fn apply(op: u8, a: u64, b: u64) -> Option<u64> {
    Some(match op {
        b'*' => a.wrapping_mul(b),
        b'/' => (a as i64).checked_div(b as i64)? as u64,
        b'%' => (a as i64).checked_rem(b as i64)? as u64,
        b'+' => a.wrapping_add(b),
        b'-' => a.wrapping_sub(b),
        b'<' => a.checked_shl(u32::try_from(b).unwrap_or(64)).unwrap_or(0),
        b'>' => ((a as i64) >> b.min(63)) as u64,
        b'&' => a & b,
        b'^' => a ^ b,
        _ => a | b,
    })
}

impl Parser<'_> {
    /// Whether the current token can start a constant expression (a sign before a register cannot).
    pub(super) fn at_constant(&self) -> bool {
        matches!(self.token.kind, TokenKind::Number | TokenKind::Punct(b'-' | b'+' | b'~' | b'(' | b'!'))
    }

    /// A constant expression.
    pub(super) fn constant(&mut self) -> Parsed<Imm> {
        self.binary(0, 0)
    }

    /// An integer constant.
    pub(super) fn integer(&mut self, what: &str) -> Parsed<(u64, Token)> {
        let token = self.token;
        if !self.at_constant() {
            return Err(self.expected(what));
        }
        let value = self.constant()?;
        if value.kind != ImmKind::Int {
            return Err(self.error_at(token, format!("{what} must be an integer"), None));
        }
        Ok((value.bits, token))
    }

    /// An integer constant that fits `u32`.
    pub(super) fn small(&mut self, what: &str) -> Parsed<u32> {
        let (value, token) = self.integer(what)?;
        match u32::try_from(value) {
            Ok(v) => Ok(v),
            Err(_) => Err(self.error_at(token, format!("{what} does not fit 32 bits"), None)),
        }
    }

    fn binary(&mut self, least: u8, depth: u32) -> Parsed<Imm> {
        let mut left = self.unary(depth)?;
        while let Some((level, op)) = precedence(self.token.kind).filter(|(level, _)| *level > least) {
            let token = self.bump();
            let right = self.binary(level, depth + 1)?;
            if left.kind != ImmKind::Int || right.kind != ImmKind::Int {
                return Err(self.error_at(token, "floating literals cannot be combined", None));
            }
            match apply(op, left.bits, right.bits) {
                Some(bits) => left.bits = bits,
                None => return Err(self.error_at(token, "division by zero in a constant", None)),
            }
        }
        Ok(left)
    }

    fn unary(&mut self, depth: u32) -> Parsed<Imm> {
        if depth > MAX_DEPTH {
            let token = self.token;
            return Err(self.error_at(token, "constant expression nested too deeply", None));
        }
        let token = self.token;
        match token.kind {
            TokenKind::Number => {
                self.bump();
                match number(self.str_of(token.span)) {
                    Ok(Number::Int(bits)) => Ok(Imm { bits, kind: ImmKind::Int }),
                    Ok(Number::F32(bits)) => Ok(Imm { bits: u64::from(bits), kind: ImmKind::F32 }),
                    Ok(Number::F64(bits)) => Ok(Imm { bits, kind: ImmKind::F64 }),
                    Err(message) => Err(self.error_at(token, message, None)),
                }
            }
            TokenKind::Punct(b'(') => {
                self.bump();
                if self.token.kind == TokenKind::Dot {
                    self.bump(); // a cast such as `(.s64)`: values are 64-bit already
                    self.expect(b')')?;
                    return self.unary(depth + 1);
                }
                let value = self.binary(0, depth + 1)?;
                self.expect(b')')?;
                Ok(value)
            }
            TokenKind::Punct(op @ (b'-' | b'+' | b'~' | b'!')) => {
                self.bump();
                let mut value = self.unary(depth + 1)?;
                match (op, value.kind) {
                    (b'-', ImmKind::Int) => value.bits = value.bits.wrapping_neg(),
                    (b'-', ImmKind::F32) => value.bits ^= 1 << 31,
                    (b'-', ImmKind::F64) => value.bits ^= 1 << 63,
                    (b'~', ImmKind::Int) => value.bits = !value.bits,
                    (b'!', ImmKind::Int) => value.bits = u64::from(value.bits == 0),
                    (b'+', _) => {}
                    _ => return Err(self.error_at(token, "this operator needs an integer", None)),
                }
                Ok(value)
            }
            _ => Err(self.expected("a constant")),
        }
    }
}
