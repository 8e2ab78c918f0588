//! File scope: directives, functions and their headers, debug sections.

use super::super::ast::{Directives, FuncId, Function, Linkage, Param, SymbolRef};
use super::super::lex::{number, Number, Token, TokenKind};
use super::super::types::Space;
use super::{Parsed, Parser, Stop};

impl<'t> Parser<'t> {
    /// The whole file.
    pub(super) fn module(&mut self) {
        while !self.at_end() {
            if let Err(stop) = self.item() {
                if stop == Stop::Fatal {
                    return;
                }
                self.body.function = None;
                self.skip_item();
            }
        }
    }

    /// Skips to a directive that starts an item, after an error at file scope.
    fn skip_item(&mut self) {
        loop {
            match self.token.kind {
                TokenKind::End => return,
                TokenKind::Dot => match self.str_of(self.token.span) {
                    ".visible" | ".entry" | ".func" | ".extern" | ".weak" | ".common" | ".global" | ".const"
                    | ".shared" | ".section" | ".file" | ".version" | ".target" | ".address_size" => return,
                    _ => {}
                },
                _ => {}
            }
            self.bump();
        }
    }

    fn item(&mut self) -> Parsed<()> {
        let token = self.token;
        if token.kind == TokenKind::Punct(b';') {
            self.bump();
            return Ok(());
        }
        if token.kind != TokenKind::Dot {
            let stop = self.expected("a directive such as `.version` or `.entry`");
            let first = self.module.version.is_empty() && self.module.functions.is_empty();
            if let (true, Some(error)) = (first, self.errors.last_mut()) {
                error.hint = Some("a PTX file starts with `.version`".into());
            }
            if !matches!(token.kind, TokenKind::Bad(_)) {
                self.bump();
            }
            return Err(stop);
        }
        self.bump();
        match self.str_of(token.span) {
            ".version" => {
                let version = self.token;
                if version.kind != TokenKind::Number {
                    return Err(self.expected("a version such as `8.0`"));
                }
                self.bump();
                self.module.version = self.str_of(version.span).to_string();
            }
            ".target" => loop {
                let (name, _) = self.word("a target such as `sm_80`")?;
                self.module.target.push(name.to_string());
                if !self.eat(b',') {
                    break;
                }
            },
            ".address_size" => {
                let at = self.token;
                self.module.address_size = self.small("an address size")?;
                if !matches!(self.module.address_size, 32 | 64) {
                    return Err(self.error_at(at, "the address size must be 32 or 64", None));
                }
            }
            ".file" => self.file()?,
            ".section" => self.section()?,
            ".pragma" => {
                self.pragma()?;
            }
            ".loc" => {
                self.loc()?;
            }
            ".alias" => {
                let (new, _) = self.word("a function name")?;
                self.expect(b',')?;
                let (old, _) = self.word("a function name")?;
                self.expect(b';')?;
                self.module.aliases.push((new.to_string(), old.to_string()));
            }
            _ => return self.declaration(token),
        }
        Ok(())
    }

    /// A variable or function, from its first directive (already read).
    fn declaration(&mut self, first: Token) -> Parsed<()> {
        let mut linkage = Linkage::Internal;
        let mut token = first;
        loop {
            match self.str_of(token.span) {
                ".extern" => linkage = Linkage::Extern,
                ".visible" => linkage = Linkage::Visible,
                ".weak" => linkage = Linkage::Weak,
                ".common" => linkage = Linkage::Common,
                ".entry" => return self.function(true, linkage),
                ".func" => return self.function(false, linkage),
                ".reg" => return Err(self.error_at(token, "registers at file scope are not supported", None)),
                name => match Space::from_name(&name[1..]) {
                    Some(space @ (Space::Global | Space::Const | Space::Shared | Space::Local | Space::Texture)) => {
                        return self.variables(space, linkage);
                    }
                    _ => {
                        self.note_once(name, token, || format!("unknown directive `{name}`, its line is ignored"));
                        self.skip_line_of(token);
                        return Ok(());
                    }
                },
            }
            if self.token.kind != TokenKind::Dot {
                return Err(self.expected("a declaration"));
            }
            token = self.bump();
        }
    }

    fn file(&mut self) -> Parsed<()> {
        let index = self.small("a file number")?;
        if self.token.kind != TokenKind::Str {
            return Err(self.expected("a file name in quotes"));
        }
        let token = self.bump();
        let name = self.str_of(token.span).trim_matches('"').to_string();
        while self.eat(b',') {
            self.integer("a time stamp or size")?;
        }
        self.module.files.push((index, name));
        Ok(())
    }

    fn section(&mut self) -> Parsed<()> {
        if !matches!(self.token.kind, TokenKind::Dot | TokenKind::Word) {
            return Err(self.expected("a section name"));
        }
        self.bump();
        let open = self.expect(b'{')?;
        let mut depth = 1u64;
        while depth > 0 {
            match self.token.kind {
                TokenKind::Punct(b'{') => depth += 1,
                TokenKind::Punct(b'}') => depth -= 1,
                TokenKind::End => return Err(self.error_at(open, "the file ends inside this section", None)),
                TokenKind::Bad(_) => return Err(self.expected("debug data")),
                _ => {}
            }
            self.bump();
        }
        Ok(())
    }

    fn function(&mut self, is_entry: bool, linkage: Linkage) -> Parsed<()> {
        if self.token.kind == TokenKind::Dot && self.str_of(self.token.span) == ".attribute" {
            self.bump();
            self.expect(b'(')?;
            self.skip_parentheses()?;
        }
        let returns = if self.eat(b'(') { self.params()? } else { Vec::new() };
        let (name, name_token) = self.word("a function name")?;
        let params = if self.eat(b'(') { self.params()? } else { Vec::new() };
        let directives = self.directives()?;
        let id = self.declare_function(name, name_token)?;
        let function = Function {
            name: name.to_string(),
            is_entry,
            linkage,
            returns,
            params,
            directives,
            regs: Vec::new(),
            variables: Vec::new(),
            labels: Vec::new(),
            tables: Vec::new(),
            prototypes: Vec::new(),
            body: None,
            span: name_token.span,
            line: name_token.line,
        };
        let declared_only = self.module.functions[id.index()].body.is_none();
        if self.eat(b';') {
            if declared_only {
                self.module.functions[id.index()] = function;
            }
            return Ok(());
        }
        if !self.at(b'{') {
            return Err(self.expected("`{`, `;` or a directive"));
        }
        if !declared_only {
            return Err(self.error_at(name_token, format!("redefinition of `{name}`"), None));
        }
        // Known while the body is read, so that it can call itself.
        self.module.functions[id.index()] = function.clone();
        self.body.start(function, self.text.len());
        self.declare_params(true);
        self.declare_params(false);
        let result = self.function_body();
        let result = result.and_then(|()| self.resolve_labels());
        if let Some(done) = self.body.function.take() {
            self.module.functions[id.index()] = done;
        }
        result
    }

    fn declare_function(&mut self, name: &'t str, token: Token) -> Parsed<FuncId> {
        if name.contains(['.', ':']) {
            return Err(self.error_at(token, "a name cannot contain `.` or `:`", None));
        }
        match self.symbols.get(name) {
            Some(SymbolRef::Function(id)) => Ok(*id),
            Some(_) => Err(self.error_at(token, format!("redefinition of `{name}`"), None)),
            None => {
                let id = FuncId(self.module.functions.len() as u32);
                self.symbols.insert(name, SymbolRef::Function(id));
                // Holds the place of the id; replaced by the caller.
                self.module.functions.push(Function {
                    name: name.to_string(),
                    is_entry: false,
                    linkage: Linkage::Internal,
                    returns: Vec::new(),
                    params: Vec::new(),
                    directives: Directives::default(),
                    regs: Vec::new(),
                    variables: Vec::new(),
                    labels: Vec::new(),
                    tables: Vec::new(),
                    prototypes: Vec::new(),
                    body: None,
                    span: token.span,
                    line: token.line,
                });
                Ok(id)
            }
        }
    }

    /// Makes the parameters known in the body's outermost scope.
    fn declare_params(&mut self, returns: bool) {
        let list = |f: &Function| -> Vec<Param> {
            if returns {
                f.returns.clone()
            } else {
                f.params.clone()
            }
        };
        for (i, param) in list(self.body.function()).iter().enumerate() {
            let name = self.str_of(param.span);
            if param.name.is_empty() {
                continue;
            }
            let declared = if param.is_reg {
                self.body.declare_reg(name, param.ty, 1).map(|reg| {
                    let f = self.body.f();
                    let params = if returns { &mut f.returns } else { &mut f.params };
                    params[i].reg = Some(reg);
                })
            } else {
                let n = i as u32;
                self.body.declare_symbol(name, if returns { SymbolRef::Return(n) } else { SymbolRef::Param(n) })
            };
            if declared.is_err() {
                let token = self.token_of(param.span);
                self.error_at(token, format!("redefinition of parameter `{name}`"), None);
            }
        }
    }

    /// A token for a span whose line was not kept: found by scanning, for rare errors only.
    fn token_of(&self, span: super::Span) -> Token {
        let before = &self.text[..span.start as usize];
        Token { kind: TokenKind::Word, span, line: before.bytes().filter(|b| *b == b'\n').count() as u32 + 1 }
    }

    /// Directives between a function's header and its body.
    fn directives(&mut self) -> Parsed<Directives> {
        let mut out = Directives::default();
        while self.token.kind == TokenKind::Dot {
            let token = self.bump();
            let name = &self.str_of(token.span)[1..];
            match name {
                "maxntid" => out.maxntid = Some(self.dimensions()?),
                "reqntid" => out.reqntid = Some(self.dimensions()?),
                "reqnctapercluster" => out.reqnctapercluster = Some(self.dimensions()?),
                "minnctapersm" => out.minnctapersm = Some(self.small("a count")?),
                "maxnreg" => out.maxnreg = Some(self.small("a count")?),
                "maxclusterrank" => out.maxclusterrank = Some(self.small("a count")?),
                "pragma" => {
                    let strings = self.pragma()?;
                    out.other.push((name.to_string(), strings.join(", ")));
                }
                _ => {
                    let mut args = super::Span::default();
                    while !matches!(
                        self.token.kind,
                        TokenKind::Dot | TokenKind::End | TokenKind::Bad(_) | TokenKind::Punct(b'{' | b';' | b'}')
                    ) {
                        let span = self.bump().span;
                        args = if args == super::Span::default() { span } else { args.to(span) };
                    }
                    out.other.push((name.to_string(), self.str_of(args).to_string()));
                    const KNOWN: [&str; 8] = [
                        "maxnctapersm",
                        "noreturn",
                        "explicitcluster",
                        "blocksareclusters",
                        "abi_preserve",
                        "abi_preserve_control",
                        "attribute",
                        "unified",
                    ];
                    if !KNOWN.contains(&name) {
                        let message = || format!("unknown directive `.{name}` of a function, kept as text");
                        self.note_once(name, token, message);
                    }
                }
            }
        }
        Ok(out)
    }

    /// One to three sizes, the missing ones 1.
    fn dimensions(&mut self) -> Parsed<[u32; 3]> {
        let mut out = [1; 3];
        for (i, n) in out.iter_mut().enumerate() {
            if i == 0 || self.eat(b',') {
                *n = self.small("a size")?;
            }
        }
        Ok(out)
    }

    /// The strings of a `.pragma`, with its semicolon.
    pub(super) fn pragma(&mut self) -> Parsed<Vec<String>> {
        let mut out = Vec::new();
        loop {
            if self.token.kind != TokenKind::Str {
                return Err(self.expected("a string in quotes"));
            }
            let token = self.bump();
            out.push(self.str_of(token.span).trim_matches('"').to_string());
            if self.eat(b',') {
                continue;
            }
            self.expect(b';')?;
            return Ok(out);
        }
    }

    /// `.loc file line column[, function_name L[+n], inlined_at file line column]`: its position.
    pub(super) fn loc(&mut self) -> Parsed<super::super::ast::SourceLoc> {
        let file = self.plain_number()?;
        let line = self.plain_number()?;
        let column = self.plain_number()?;
        while self.eat(b',') {
            let (word, token) = self.word("`function_name` or `inlined_at`")?;
            match word {
                "function_name" => {
                    self.word("a label")?;
                    if self.eat(b'+') {
                        self.plain_number()?;
                    }
                }
                "inlined_at" => {
                    for _ in 0..3 {
                        self.plain_number()?;
                    }
                }
                _ => return Err(self.error_at(token, format!("unknown `.loc` attribute `{word}`"), None)),
            }
        }
        Ok(super::super::ast::SourceLoc { file, line, column })
    }

    /// A number that is not part of an expression (`.loc 1 3 -1` would be three numbers otherwise).
    fn plain_number(&mut self) -> Parsed<u32> {
        if self.token.kind != TokenKind::Number {
            return Err(self.expected("a number"));
        }
        let token = self.bump();
        match number(self.str_of(token.span)) {
            Ok(Number::Int(n)) if u32::try_from(n).is_ok() => Ok(n as u32),
            _ => Err(self.error_at(token, "expected an integer that fits 32 bits", None)),
        }
    }
}
