//! Function bodies: scopes, labels, target tables, instructions, calls.

use super::super::ast::{
    Call, CallTarget, Guard, Inst, LabelId, Linkage, Operand, ProtoId, Prototype, SourceLoc, Stmt, SymbolRef, TableId,
    TargetTable,
};
use super::super::error::Span;
use super::super::lex::{Token, TokenKind};
use super::super::roles;
use super::super::types::Space;
use super::scope::{Named, Use};
use super::{Parsed, Parser, Stop, MAX_SCOPES};
use smallvec::SmallVec;

/// A label id that [`Parser::resolve_labels`] has still to fill in.
pub(super) const PENDING: u32 = u32::MAX;

impl<'t> Parser<'t> {
    /// From the opening brace to just after the closing one.
    pub(super) fn function_body(&mut self) -> Parsed<()> {
        let open = self.expect(b'{')?;
        self.body.f().body = Some(Vec::new());
        let mut source_loc = None;
        loop {
            match self.token.kind {
                TokenKind::Punct(b'{') => {
                    let token = self.bump();
                    if self.body.depth == MAX_SCOPES {
                        self.error_at(token, format!("scopes nested deeper than {MAX_SCOPES}"), None);
                        return Err(Stop::Fatal);
                    }
                    self.body.open();
                }
                TokenKind::Punct(b'}') => {
                    self.bump();
                    if self.body.depth == 0 {
                        return Ok(());
                    }
                    self.body.close();
                }
                TokenKind::End => {
                    let message = format!("the file ends inside the body of `{}`", self.body.function().name);
                    let hint = format!("the body starts on line {}", open.line);
                    self.error_at(self.token, message, Some(hint));
                    return Err(Stop::Fatal);
                }
                _ => match self.statement(&mut source_loc) {
                    Ok(()) => {}
                    Err(Stop::Statement) => self.skip_statement(),
                    Err(Stop::Fatal) => return Err(Stop::Fatal),
                },
            }
        }
    }

    fn push(&mut self, stmt: Stmt) {
        self.statements().push(stmt);
    }

    fn statements(&mut self) -> &mut Vec<Stmt> {
        self.body.f().body.as_mut().expect("a body is being read")
    }

    fn statement(&mut self, source_loc: &mut Option<SourceLoc>) -> Parsed<()> {
        match self.token.kind {
            TokenKind::Punct(b';') => {
                self.bump();
                Ok(())
            }
            TokenKind::Dot => self.body_directive(source_loc),
            TokenKind::Punct(b'@') => {
                let start = self.bump();
                let negated = self.eat(b'!');
                let (name, token) = self.word("a predicate")?;
                let Some(Named::Reg(reg)) = self.body.lookup(name) else {
                    return Err(self.error_at(token, format!("undeclared predicate `{name}`"), None));
                };
                if !self.body.function().reg(reg).is_pred() {
                    return Err(self.error_at(token, format!("the guard `{name}` is not a predicate"), None));
                }
                let (_, mnemonic) = self.word("an instruction")?;
                self.instruction(Some(Guard { reg, negated }), start.span, mnemonic, *source_loc)
            }
            TokenKind::Word => {
                let token = self.bump();
                if self.at(b':') {
                    self.bump();
                    return self.label(token);
                }
                self.instruction(None, token.span, token, *source_loc)
            }
            _ => {
                let bad = self.token;
                let stop = self.expected("an instruction, a label or a directive");
                // Always go forward, or the recovery would stand still.
                if !matches!(bad.kind, TokenKind::Bad(_)) {
                    self.bump();
                }
                Err(stop)
            }
        }
    }

    fn body_directive(&mut self, source_loc: &mut Option<SourceLoc>) -> Parsed<()> {
        let token = self.bump();
        let name = self.str_of(token.span);
        match name {
            ".reg" => self.registers(),
            ".loc" => {
                let loc = self.loc()?;
                *source_loc = Some(loc);
                self.push(Stmt::Loc(loc));
                Ok(())
            }
            ".pragma" => {
                let strings = self.pragma()?;
                self.push(Stmt::Pragma(strings));
                Ok(())
            }
            _ => match Space::from_name(&name[1..]) {
                Some(space) => self.variables(space, Linkage::Internal),
                None if name == ".extern" || name == ".visible" => {
                    let space = self.bump();
                    match Space::from_name(self.str_of(space.span).trim_start_matches('.')) {
                        Some(space) => self.variables(space, Linkage::Extern),
                        None => Err(self.error_at(space, "expected a state space", None)),
                    }
                }
                None => {
                    self.note_once(name, token, || format!("unknown directive `{name}`, its line is ignored"));
                    self.skip_line_of(token);
                    Ok(())
                }
            },
        }
    }

    /// After `name:`: a label, or a named table or prototype.
    fn label(&mut self, token: Token) -> Parsed<()> {
        let name = self.str_of(token.span);
        if name.contains(['.', ':']) {
            return Err(self.error_at(token, "a label cannot contain `.` or `:`", None));
        }
        let directive = if self.token.kind == TokenKind::Dot { self.str_of(self.token.span) } else { "" };
        let free = match directive {
            ".branchtargets" | ".calltargets" => {
                self.bump();
                let table = self.body.function().tables.len();
                self.body.f().tables.push(TargetTable { name: name.into(), labels: vec![], functions: vec![] });
                let free = self.body.define_table(name, TableId(table as u32)).is_ok();
                self.targets(table, directive == ".calltargets")?;
                free
            }
            ".callprototype" => {
                self.bump();
                let id = self.body.function().prototypes.len() as u32;
                let prototype = self.prototype(name)?;
                self.body.f().prototypes.push(prototype);
                self.body.define_prototype(name, id).is_ok()
            }
            _ => {
                let stmt = self.statements().len();
                match self.body.define_label(name, stmt) {
                    Ok(id) => {
                        self.push(Stmt::Label(id));
                        true
                    }
                    Err(()) => false,
                }
            }
        };
        if !free {
            self.error_at(token, format!("redefinition of label `{name}`"), None);
        }
        Ok(())
    }

    fn targets(&mut self, table: usize, calls: bool) -> Parsed<()> {
        loop {
            let (name, token) = self.word(if calls { "a function" } else { "a label" })?;
            if calls {
                let id = self.function_named(name, token)?;
                self.body.f().tables[table].functions.push(id);
            } else {
                let labels = &mut self.body.f().tables[table].labels;
                labels.push(LabelId(PENDING));
                let entry = labels.len() - 1;
                self.body.use_label(Use::Entry { table, entry }, name, token);
            }
            if self.eat(b',') {
                continue;
            }
            self.expect(b';')?;
            return Ok(());
        }
    }

    fn prototype(&mut self, name: &str) -> Parsed<Prototype> {
        let returns = if self.eat(b'(') { self.params()? } else { Vec::new() };
        self.word("`_`")?;
        let params = if self.eat(b'(') { self.params()? } else { Vec::new() };
        // `.noreturn`, `.abi_preserve 4` and the like say nothing that matters here.
        while self.token.kind == TokenKind::Dot {
            self.bump();
            while self.token.kind == TokenKind::Number {
                self.bump();
            }
        }
        self.expect(b';')?;
        Ok(Prototype { name: name.to_string(), returns, params })
    }

    fn function_named(&mut self, name: &str, token: Token) -> Parsed<super::super::ast::FuncId> {
        match self.symbols.get(name) {
            Some(SymbolRef::Function(id)) => Ok(*id),
            Some(_) => Err(self.error_at(token, format!("`{name}` is not a function"), None)),
            None => {
                let hint = Some("a function must be declared before it is called".into());
                Err(self.error_at(token, format!("undeclared function `{name}`"), hint))
            }
        }
    }

    /// The rest of an instruction after its mnemonic, with its semicolon.
    fn instruction(
        &mut self,
        guard: Option<Guard>,
        start: Span,
        mnemonic: Token,
        source_loc: Option<SourceLoc>,
    ) -> Parsed<()> {
        let op = self.mnemonic(mnemonic);
        let mut operands: SmallVec<[Operand; 4]> = SmallVec::new();
        let mut call = None;
        let mut end = mnemonic.span;
        if op.opcode() == "call" {
            call = Some(Box::new(self.call()?));
        } else if !self.at(b';') {
            let branch = op.opcode() == "bra";
            let indexed = op.opcode() == "brx";
            loop {
                let stmt = self.statements().len();
                let operand = operands.len();
                if branch || (indexed && operand == 1) {
                    let (name, token) = self.word(if branch { "a label" } else { "a branch table" })?;
                    let (at, pending) = if branch {
                        (Use::Branch { stmt, operand }, Operand::Label(LabelId(PENDING)))
                    } else {
                        (Use::Table { stmt, operand }, Operand::Table(TableId(PENDING)))
                    };
                    self.body.use_label(at, name, token);
                    operands.push(pending);
                } else {
                    operands.push(self.operand()?);
                }
                if !self.eat(b',') {
                    break;
                }
            }
        }
        if !self.at(b';') {
            return Err(self.expected("`,` or `;`"));
        }
        end.end = end.end.max(self.token.span.start);
        self.bump();
        let inst = Inst { guard, op, operands, call, span: start.to(end), line: mnemonic.line, source_loc };
        let violation = roles::check(&inst, self.body.function());
        self.push(Stmt::Inst(inst));
        match violation {
            Ok(()) => Ok(()),
            Err(violation) => {
                // The statement was read to its end: report and go on behind it.
                match self.error_at(mnemonic, violation.message, None) {
                    Stop::Fatal => Err(Stop::Fatal),
                    Stop::Statement => Ok(()),
                }
            }
        }
    }

    /// `(ret, …), target, (args, …), prototype`, each part but the target optional.
    fn call(&mut self) -> Parsed<Call> {
        let mut returns = Vec::new();
        if self.eat(b'(') {
            returns = self.call_list()?;
            self.expect(b',')?;
        }
        let (name, token) = self.word("a function or register")?;
        let target = match self.body.lookup(name) {
            Some(Named::Reg(reg)) => CallTarget::Register(reg),
            Some(Named::Symbol(_)) => return Err(self.error_at(token, format!("`{name}` is not a function"), None)),
            None => CallTarget::Function(self.function_named(name, token)?),
        };
        let mut call = Call { returns, target, args: Vec::new(), prototype: None, targets: None };
        let mut seen_args = false;
        while self.eat(b',') {
            if !seen_args && self.eat(b'(') {
                call.args = self.call_list()?;
                seen_args = true;
                continue;
            }
            let (name, token) = self.word("an argument list or a prototype")?;
            if let Some(id) = self.body.prototype(name) {
                call.prototype = Some(ProtoId(id));
            } else if let Some(id) = self.body.table(name) {
                call.targets = Some(id);
            } else {
                return Err(self.error_at(token, format!("undeclared prototype `{name}`"), None));
            }
        }
        if let CallTarget::Function(id) = target {
            let callee = &self.module.functions[id.index()];
            let counts = (callee.returns.len(), callee.params.len());
            if (call.returns.len(), call.args.len()) != counts {
                let message = format!(
                    "`{}` has {} results and {} parameters, the call has {} and {}",
                    callee.name,
                    counts.0,
                    counts.1,
                    call.returns.len(),
                    call.args.len()
                );
                return Err(self.error_at(token, message, None));
            }
        }
        Ok(call)
    }

    /// The operands of a call list, the opening parenthesis read.
    fn call_list(&mut self) -> Parsed<Vec<Operand>> {
        let mut out = Vec::new();
        if self.eat(b')') {
            return Ok(out);
        }
        loop {
            out.push(self.operand()?);
            if self.eat(b',') {
                continue;
            }
            self.expect(b')')?;
            return Ok(out);
        }
    }
}
