//! Operands.

use super::super::ast::{AddressBase, ImmKind, Operand, Part, SymbolRef, Texture};
use super::super::lex::{Token, TokenKind};
use super::super::types::SpecialReg;
use super::scope::Named;
use super::{Parsed, Parser};

/// Reads `x`, `r`, `b0`, `b3210`, `h1`, `h10` behind the dot of a register.
fn part(suffix: &str) -> Option<Part> {
    fn digits<const N: usize>(text: &str, limit: u8) -> Option<(u8, [u8; N])> {
        let mut out = [0; N];
        let n = text.len();
        if n == 0 || n > N {
            return None;
        }
        // Written highest lane first.
        for (slot, b) in out.iter_mut().zip(text.bytes().rev()) {
            *slot = b.checked_sub(b'0').filter(|d| *d < limit)?;
        }
        Some((n as u8, out))
    }
    Some(match suffix {
        "x" | "r" => Part::Lane(0),
        "y" | "g" => Part::Lane(1),
        "z" | "b" => Part::Lane(2),
        "w" | "a" => Part::Lane(3),
        _ if suffix.starts_with('b') => digits(&suffix[1..], 8).map(|(n, d)| Part::Bytes(n, d))?,
        _ if suffix.starts_with('h') => digits(&suffix[1..], 4).map(|(n, d)| Part::Halves(n, d))?,
        _ => return None,
    })
}

impl<'t> Parser<'t> {
    /// One operand of an instruction.
    pub(super) fn operand(&mut self) -> Parsed<Operand> {
        let first = self.simple()?;
        if self.at(b'|') {
            let token = self.bump();
            if !matches!(first, Operand::Reg(_) | Operand::Vector(_) | Operand::Sink) {
                return Err(self.error_at(token, "`|` must follow a destination register", None));
            }
            let token = self.token;
            let second = self.simple()?;
            if !matches!(second, Operand::Reg(_) | Operand::Sink) {
                return Err(self.error_at(token, "a predicate must follow `|`", None));
            }
            return Ok(Operand::Pair(Box::new([first, second])));
        }
        Ok(first)
    }

    fn simple(&mut self) -> Parsed<Operand> {
        match self.token.kind {
            TokenKind::Word => {
                let token = self.bump();
                self.named(token)
            }
            TokenKind::Punct(b'{') => {
                self.bump();
                Ok(Operand::Vector(self.elements()?.into()))
            }
            TokenKind::Punct(b'[') => {
                self.bump();
                self.bracket()
            }
            TokenKind::Punct(b'!') => {
                let token = self.bump();
                if self.token.kind == TokenKind::Word {
                    let name_token = self.bump();
                    return match self.named(name_token)? {
                        Operand::Reg(reg) if self.body.function().reg(reg).is_pred() => Ok(Operand::NotPred(reg)),
                        _ => Err(self.error_at(name_token, "`!` needs a predicate", None)),
                    };
                }
                let value = self.constant()?;
                if value.kind != ImmKind::Int {
                    return Err(self.error_at(token, "`!` needs a predicate or an integer", None));
                }
                Ok(Operand::Imm(super::super::ast::Imm { bits: u64::from(value.bits == 0), kind: ImmKind::Int }))
            }
            TokenKind::Punct(b'-') => {
                // `-%r1` stands in video instructions; all else is a constant.
                let mut ahead = self.lexer.clone();
                if ahead.next_token().kind != TokenKind::Word {
                    return Ok(Operand::Imm(self.constant()?));
                }
                self.bump();
                let token = self.bump();
                match self.named(token)? {
                    Operand::Reg(reg) => Ok(Operand::RegPart { reg, part: Part::Whole, negated: true }),
                    Operand::RegPart { reg, part, .. } => Ok(Operand::RegPart { reg, part, negated: true }),
                    _ => Err(self.error_at(token, "`-` needs a register or a constant", None)),
                }
            }
            _ if self.at_constant() => Ok(Operand::Imm(self.constant()?)),
            _ => Err(self.expected("an operand")),
        }
    }

    /// The elements of a vector, its opening brace read. Vectors do not nest.
    fn elements(&mut self) -> Parsed<Vec<Operand>> {
        self.vectors = 1;
        let mut out = Vec::with_capacity(4);
        loop {
            if matches!(self.token.kind, TokenKind::Punct(b'{' | b'[')) {
                return Err(self.expected("a register or constant"));
            }
            out.push(self.simple()?);
            if self.eat(b',') {
                continue;
            }
            self.expect(b'}')?;
            self.vectors = 0;
            return Ok(out);
        }
    }

    /// A name: register, special register, symbol, part of a register, `_`.
    fn named(&mut self, token: Token) -> Parsed<Operand> {
        let name = self.str_of(token.span);
        if name == "_" {
            return Ok(Operand::Sink);
        }
        match self.body.lookup(name) {
            Some(Named::Reg(reg)) => return Ok(Operand::Reg(reg)),
            Some(Named::Symbol(symbol)) => return self.symbol(symbol),
            None => {}
        }
        if let Some(symbol) = self.symbols.get(name).copied() {
            return self.symbol(symbol);
        }
        if let Some(special) = SpecialReg::from_name(name) {
            return Ok(Operand::Special(special));
        }
        if let Some((base, suffix)) = name.rsplit_once('.') {
            if let (Some(Named::Reg(reg)), Some(part)) = (self.body.lookup(base), part(suffix)) {
                return Ok(Operand::RegPart { reg, part, negated: false });
            }
        }
        let kind = if name.starts_with('%') { "register" } else { "name" };
        // A hostile name may be megabytes long.
        let shown: String = name.chars().take(60).collect();
        Err(self.error_at(token, format!("undeclared {kind} `{shown}`"), None))
    }

    /// What may follow a symbol: `+8`, `-8`, `[2]`.
    fn symbol(&mut self, symbol: SymbolRef) -> Parsed<Operand> {
        let mut offset = 0i64;
        if self.at(b'[') {
            self.bump();
            let (index, _) = self.integer("an index")?;
            self.expect(b']')?;
            offset = (index as i64).wrapping_mul(self.element_bytes(symbol));
        }
        if matches!(self.token.kind, TokenKind::Punct(b'+' | b'-')) {
            offset = offset.wrapping_add(self.offset()?);
        }
        Ok(Operand::Symbol { symbol, offset })
    }

    fn element_bytes(&self, symbol: SymbolRef) -> i64 {
        let f = self.body.function();
        let (ty, lanes) = match symbol {
            SymbolRef::Module(v) => (self.module.variables[v.index()].ty, self.module.variables[v.index()].lanes),
            SymbolRef::Local(v) => (f.variables[v.index()].ty, f.variables[v.index()].lanes),
            SymbolRef::Param(n) => (f.params[n as usize].ty, 1),
            SymbolRef::Return(n) => (f.returns[n as usize].ty, 1),
            SymbolRef::Function(_) => return 1,
        };
        i64::from(ty.bytes()) * i64::from(lanes)
    }

    /// `+8`, `+-8`, `-8`.
    fn offset(&mut self) -> Parsed<i64> {
        self.eat(b'+');
        Ok(self.integer("an offset")?.0 as i64)
    }

    fn base(&mut self) -> Parsed<(AddressBase, i64)> {
        if self.token.kind != TokenKind::Word {
            let (value, _) = self.integer("an address")?;
            return Ok((AddressBase::Absolute, value as i64));
        }
        let token = self.bump();
        match self.named(token)? {
            Operand::Reg(reg) => {
                let add = matches!(self.token.kind, TokenKind::Punct(b'+' | b'-'));
                let offset = if add { self.offset()? } else { 0 };
                Ok((AddressBase::Reg(reg), offset))
            }
            Operand::Symbol { symbol, offset } => Ok((AddressBase::Symbol(symbol), offset)),
            _ => Err(self.error_at(token, "an address needs a register or a symbol", None)),
        }
    }

    /// After `[`: an address or a texture operand, with the bracket that closes it.
    fn bracket(&mut self) -> Parsed<Operand> {
        let (base, offset) = self.base()?;
        if !self.at(b',') {
            self.expect(b']')?;
            if self.token.kind == TokenKind::Dot && self.str_of(self.token.span) == ".unified" {
                self.bump(); // `[a].unified`: a promise about the generic address
            }
            return Ok(Operand::Address { base, offset });
        }
        let mut texture = Texture { handle: base, sampler: None, coords: Vec::new() };
        self.bump();
        if !self.at(b'{') {
            let token = self.token;
            let operand = self.simple()?;
            if self.eat(b',') {
                texture.sampler = Some(match operand {
                    Operand::Reg(reg) => AddressBase::Reg(reg),
                    Operand::Symbol { symbol, .. } => AddressBase::Symbol(symbol),
                    _ => return Err(self.error_at(token, "a sampler must be a register or a symbol", None)),
                });
            } else {
                texture.coords.push(operand);
                self.expect(b']')?;
                return Ok(Operand::Texture(Box::new(texture)));
            }
        }
        if self.eat(b'{') {
            texture.coords = self.elements()?;
        } else {
            texture.coords.push(self.simple()?);
        }
        self.expect(b']')?;
        Ok(Operand::Texture(Box::new(texture)))
    }
}
