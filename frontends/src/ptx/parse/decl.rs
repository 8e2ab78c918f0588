//! Declarations: registers, variables, parameters.

use super::super::ast::{Linkage, Param, PointerInfo, SymbolRef, VarId, Variable};
use super::super::lex::TokenKind;
use super::super::types::{ScalarType, Space};
use super::{Parsed, Parser};

/// What stands between the state space and the names of a declaration.
struct Head {
    ty: ScalarType,
    lanes: u16,
    align: Option<u32>,
    pointer: Option<PointerInfo>,
}

/// A name's array suffix.
struct Extent {
    elements: u64,
    is_unsized: bool,
}

impl<'t> Parser<'t> {
    /// `.align 8 .v4 .f32`, `.u64 .ptr .global .align 4`, in any order that compilers use.
    fn head(&mut self) -> Parsed<Head> {
        let mut ty = None;
        let mut head = Head { ty: ScalarType::B8, lanes: 1, align: None, pointer: None };
        while self.token.kind == TokenKind::Dot {
            let token = self.token;
            let name = &self.str_of(token.span)[1..];
            self.bump();
            match name {
                "align" => {
                    let align = self.alignment()?;
                    match &mut head.pointer {
                        Some(p) => p.align = Some(align),
                        None => head.align = Some(align),
                    }
                }
                "ptr" => head.pointer = Some(PointerInfo { space: Space::Generic, align: None }),
                "v2" | "v4" | "v8" => head.lanes = u16::from(name.as_bytes()[1] - b'0'),
                "attribute" => {
                    self.expect(b'(')?;
                    self.skip_parentheses()?;
                }
                _ => {
                    if let Some(t) = ScalarType::from_name(name) {
                        ty = Some(t);
                    } else if let (Some(space), Some(p)) = (Space::from_name(name), &mut head.pointer) {
                        p.space = space;
                    } else {
                        let message = format!("`.{name}` is not a type or attribute of a declaration");
                        return Err(self.error_at(token, message, None));
                    }
                }
            }
        }
        match ty {
            Some(ty) => {
                head.ty = ty;
                Ok(head)
            }
            None => Err(self.expected("a type such as `.b32`")),
        }
    }

    fn alignment(&mut self) -> Parsed<u32> {
        let token = self.token;
        let align = self.small("an alignment")?;
        if !align.is_power_of_two() {
            return Err(self.error_at(token, "an alignment must be a power of two", None));
        }
        Ok(align)
    }

    /// Skips to just after the parenthesis that closes the one just read.
    pub(super) fn skip_parentheses(&mut self) -> Parsed<()> {
        let mut depth = 1u64;
        while depth > 0 {
            match self.token.kind {
                TokenKind::Punct(b'(') => depth += 1,
                TokenKind::Punct(b')') => depth -= 1,
                TokenKind::End | TokenKind::Bad(_) | TokenKind::Punct(b';' | b'{' | b'}') => {
                    return Err(self.expected("`)`"))
                }
                _ => {}
            }
            self.bump();
        }
        Ok(())
    }

    /// `[4][8]`, `[]`, or nothing.
    fn extent(&mut self) -> Parsed<Extent> {
        let mut extent = Extent { elements: 1, is_unsized: false };
        let mut first = true;
        while self.at(b'[') {
            self.bump();
            if first && self.at(b']') {
                extent.is_unsized = true;
            } else {
                let (n, token) = self.integer("an array size")?;
                match extent.elements.checked_mul(n).filter(|n| *n < 1 << 40) {
                    Some(n) => extent.elements = n,
                    None => return Err(self.error_at(token, "array too large", None)),
                }
            }
            self.expect(b']')?;
            first = false;
        }
        Ok(extent)
    }

    /// Skips an initializer, up to the `,` or `;` after it.
    fn initializer(&mut self) -> Parsed<super::Span> {
        let mut span = self.token.span;
        let mut depth = 0u64;
        loop {
            match self.token.kind {
                TokenKind::Punct(b'{' | b'(') => depth += 1,
                TokenKind::Punct(b'}' | b')') if depth > 0 => depth -= 1,
                TokenKind::Punct(b',' | b';') if depth == 0 => return Ok(span),
                TokenKind::End | TokenKind::Bad(_) | TokenKind::Punct(b';' | b'}' | b')') => {
                    return Err(self.expected("the rest of the initializer"))
                }
                _ => {}
            }
            span = span.to(self.token.span);
            self.bump();
        }
    }

    /// The rest of a variable declaration after its state space, with its semicolon. Variables go to the
    /// function being read if there is one, else to the module.
    pub(super) fn variables(&mut self, space: Space, linkage: Linkage) -> Parsed<()> {
        let head = self.head()?;
        let element = u64::from(head.ty.bytes()) * u64::from(head.lanes);
        loop {
            let (name, token) = self.word("a variable name")?;
            if name.contains(['.', ':']) {
                return Err(self.error_at(token, "a name cannot contain `.` or `:`", None));
            }
            let extent = self.extent()?;
            let init = if self.eat(b'=') { Some(self.initializer()?) } else { None };
            let variable = Variable {
                name: name.to_string(),
                space,
                ty: head.ty,
                lanes: head.lanes,
                align: head.align.unwrap_or(element.next_power_of_two() as u32),
                bytes: if extent.is_unsized { 0 } else { element * extent.elements },
                is_unsized: extent.is_unsized,
                init,
                linkage,
                span: token.span,
            };
            let taken = if self.body.function.is_some() {
                let symbol = SymbolRef::Local(self.body.next_variable());
                self.body.f().variables.push(variable);
                self.body.declare_symbol(name, symbol).is_err()
            } else {
                self.module_variable(name, variable)
            };
            if taken {
                self.error_at(token, format!("redefinition of `{name}`"), None);
            }
            if self.eat(b',') {
                continue;
            }
            self.expect(b';')?;
            return Ok(());
        }
    }

    /// Adds a variable at file scope; an `extern` declaration and its definition are one. True if the name is taken.
    fn module_variable(&mut self, name: &'t str, variable: Variable) -> bool {
        match self.symbols.get(name) {
            None => {
                let id = VarId(self.module.variables.len() as u32);
                self.symbols.insert(name, SymbolRef::Module(id));
                self.module.variables.push(variable);
                false
            }
            Some(SymbolRef::Module(id)) => {
                let old = &mut self.module.variables[id.index()];
                let either_extern = old.linkage == Linkage::Extern || variable.linkage == Linkage::Extern;
                if old.linkage == Linkage::Extern {
                    *old = variable;
                }
                !either_extern
            }
            Some(_) => true,
        }
    }

    /// `.reg` has been read: `.b32 %r<10>, %x;`.
    pub(super) fn registers(&mut self) -> Parsed<()> {
        let head = self.head()?;
        loop {
            let (name, token) = self.word("a register name")?;
            if name.contains(['.', ':']) {
                return Err(self.error_at(token, "a name cannot contain `.` or `:`", None));
            }
            let taken = if self.eat(b'<') {
                let (count, _) = self.integer("a register count")?;
                self.expect(b'>')?;
                self.body.declare_range(name, count, head.ty, head.lanes).is_err()
            } else {
                self.body.declare_reg(name, head.ty, head.lanes).is_err()
            };
            if taken {
                self.error_at(token, format!("redefinition of register `{name}`"), None);
            }
            if self.eat(b',') {
                continue;
            }
            self.expect(b';')?;
            return Ok(());
        }
    }

    /// A parenthesized parameter list, the opening parenthesis read.
    pub(super) fn params(&mut self) -> Parsed<Vec<Param>> {
        let mut params: Vec<Param> = Vec::new();
        let mut offset = 0u64;
        if self.eat(b')') {
            return Ok(params);
        }
        loop {
            let is_reg = match self.token.kind {
                TokenKind::Dot => match self.str_of(self.token.span) {
                    ".param" => false,
                    ".reg" => true,
                    _ => return Err(self.expected("`.param` or `.reg`")),
                },
                _ => return Err(self.expected("`.param` or `.reg`")),
            };
            self.bump();
            let head = self.head()?;
            let (name, token) = self.word("a parameter name")?;
            let extent = self.extent()?;
            let element = u64::from(head.ty.bytes()) * u64::from(head.lanes);
            let align = head.align.unwrap_or(element.next_power_of_two() as u32);
            offset = offset.next_multiple_of(u64::from(align));
            let bytes = if extent.is_unsized { 0 } else { element * extent.elements };
            params.push(Param {
                name: if name == "_" { String::new() } else { name.to_string() },
                ty: head.ty,
                align,
                bytes,
                offset,
                pointer: head.pointer,
                reg: None,
                is_reg,
                span: token.span,
            });
            offset += bytes;
            if offset > 1 << 40 {
                return Err(self.error_at(token, "the parameters are too large", None));
            }
            if self.eat(b',') {
                continue;
            }
            self.expect(b')')?;
            return Ok(params);
        }
    }
}
