//! Reading definitions and instructions: what stands on one line.

use super::ast::*;
use super::error::{Fail, Parsed, Span};
use super::lex::NameKind;
use super::parse::Parser;
use crate::class::PhysReg;
use crate::op::Constraint;
use crate::opcodes;
use crate::operand::OperandFlags;
use std::borrow::Cow;

/// Most values that the kernels of one text define together: what bounds memory on `%x: R512` over and over.
pub const MAX_VALUES: usize = 1 << 25;
/// Most clobbered registers, over all different opcodes of a text.
pub const MAX_CLOBBERS: usize = 1 << 22;

/// What makes an opcode with constraints or clobbers.
pub(super) type OddKey<'t> = (Cow<'t, str>, Vec<(u16, Constraint)>, Vec<(PhysReg, PhysReg)>);

impl<'t> Parser<'t> {
    /// `%x: R4:8@R0{..}`; the operand index of an instruction's definition, `None` for a parameter.
    pub(super) fn definition(&mut self, index: Option<usize>) -> Parsed<()> {
        let start = self.c.pos;
        let label = self.value_label()?;
        let span = self.c.span_from(start);
        self.c.expect(b':', "`:` and the register class of the definition")?;
        let class_at = self.c.pos;
        let (class, len) = self.class_len(crate::operand::Operand::MAX_LANES as u64)?;
        if len == 0 {
            return Err(Fail::new(self.c.span_from(class_at), "a definition has at least one lane"));
        }
        let align_at = self.c.pos;
        let align = self.alignment()?;
        if index.is_none() && align > 1 {
            let fail = Fail::new(self.c.span_from(align_at), "parameters have no alignment");
            return Err(fail.hint("the lanes of a parameter are single units"));
        }
        let loc = self.locations()?;
        let mut names = None;
        match index {
            Some(i) => {
                let Ok(i) = u16::try_from(i) else {
                    return Err(Fail::new(span, "an instruction has at most 65535 operands"));
                };
                self.constraints(i, Some(&mut names))?;
            }
            None => {
                let (at, before) = (self.c.pos, self.constraints.len());
                self.constraints(0, Some(&mut names))?;
                if self.constraints.len() > before {
                    return Err(Fail::new(self.c.span_from(at), "parameters have no constraints"));
                }
            }
        }
        if let Some(p) = names {
            if p.len() != len as usize {
                return Err(Fail::new(span, format!("{} names for {len} lanes", p.len())));
            }
        }
        self.values += len as usize;
        if self.values > MAX_VALUES {
            return Err(Fail::new(span, format!("the text defines more than {MAX_VALUES} values")));
        }
        self.k.defs.push(DefAst { label, span, class, len, align, loc, names });
        Ok(())
    }

    /// An instruction that begins with definitions, a guard or its mnemonic.
    pub(super) fn instruction(&mut self, number: u32) -> Parsed<()> {
        self.constraints.clear();
        let (d, o) = (self.k.defs.len(), self.k.operands.len());
        if self.c.peek() == b'%' {
            loop {
                self.definition(Some(self.k.defs.len() - d))?;
                if !self.c.eat_token(b',') {
                    break;
                }
            }
            self.c.expect(b'=', "`,` or `=`")?;
        }
        if self.c.peek() == b'@' {
            let start = self.c.pos;
            self.operand(self.k.defs.len() - d, OperandFlags::NONE)?;
            let flags = self.k.operands.last().map_or(0, |o| o.flags);
            if !OperandFlags(flags).has(OperandFlags::GUARD) {
                return Err(Fail::new(self.c.span_from(start), "a guard is a predicate").hint("like `@%p` or `@!%p`"));
            }
            self.c.space();
        }
        let start = self.c.pos;
        let mnemonic = self.c.name(NameKind::Mnemonic, "a mnemonic")?;
        self.instruction_tail(mnemonic, self.c.span_from(start), d, o, number)
    }

    /// Operands and what follows them; the mnemonic has been read, definitions and operands from `d` and `o` on too.
    pub(super) fn instruction_tail(
        &mut self,
        mnemonic: Cow<'t, str>,
        span: Span,
        d: usize,
        o: usize,
        number: u32,
    ) -> Parsed<()> {
        if self.lost {
            self.c.skip_line();
            return Ok(());
        }
        if !self.in_block {
            return Err(Fail::new(span, "an instruction before the first block").hint("a block begins `name:`"));
        }
        let num_defs = self.k.defs.len() - d;
        let first_succ = self.k.succs.len();
        self.c.space();
        let mut more = !self.at_trailer();
        while more {
            let index = num_defs + self.k.operands.len() - o;
            if self.at_successor() {
                self.successor()?;
            } else if self.k.succs.len() > first_succ {
                return Err(self.c.expected("a block").hint("operands stand before the successors"));
            } else if self.c.peek() == b'[' {
                self.address(index)?;
            } else {
                self.operand(index, OperandFlags::NONE)?;
            }
            more = self.c.eat_token(b',');
        }
        let mut clobbers = Vec::new();
        loop {
            if self.c.eat_word("clobbers") {
                self.clobber_list(&mut clobbers)?;
            } else if self.c.eat_word("extra") {
                self.extra_constraints()?;
            } else {
                break;
            }
        }
        let mut line = 0;
        if self.c.eat_token(b'#') {
            line = self.c.number_u32("a source line")?;
        }
        self.end_of_statement()?;
        let op = self.intern_op(mnemonic, span, clobbers)?;
        let kind = self.k.ops[op as usize].kind;
        let succs = Part::new(first_succ, self.k.succs.len());
        self.check_successors(op, kind, span, succs)?;
        let id = self.k.insts.len();
        self.k.insts.push(InstAst {
            op,
            span,
            defs: Part::new(d, self.k.defs.len()),
            operands: Part::new(o, self.k.operands.len()),
            succs,
            line,
            number,
        });
        self.k.blocks.last_mut().expect("in_block says that there is a block").insts.end = id as u32 + 1;
        self.attach_pending(id as u32);
        Ok(())
    }

    fn check_successors(&self, op: u32, kind: crate::op::OpKind, span: Span, succs: Part) -> Parsed<()> {
        let mnemonic = super::lex::clip(&self.k.ops[op as usize].mnemonic);
        let (want, fine) = match kind.successors() {
            Some(n) => (n.to_string(), succs.len() == n),
            None => ("at least 1".into(), succs.len() > 0),
        };
        if fine {
            return Ok(());
        }
        if !kind.is_terminator() {
            let at = self.k.succs[succs.start as usize].span;
            let message = format!("`{mnemonic}` ends no block: it has no successors");
            return Err(Fail::new(at, message).hint("a special register begins SR_, a variable $, a region @"));
        }
        Err(Fail::new(span, format!("`{mnemonic}` takes {want} successors, {} given", succs.len())))
    }

    fn at_trailer(&self) -> bool {
        let rest = &self.c.bytes[self.c.pos..];
        let word = |w: &[u8]| rest.strip_prefix(w).is_some_and(|r| r.first() == Some(&b'('));
        matches!(rest.first(), None | Some(b'\n' | b'#' | b'}')) || word(b"clobbers") || word(b"extra")
    }

    /// True at a name that stands for no operand.
    fn at_successor(&self) -> bool {
        let rest = &self.c.bytes[self.c.pos..];
        match rest.first() {
            Some(b'"' | b'.' | b'_') => true,
            Some(b'c') => rest.get(1) != Some(&b'['),
            Some(b'S') => !(rest.starts_with(b"SR_") || rest.starts_with(b"SR\"")),
            Some(b'u') => {
                let n = super::lex::plain_len(NameKind::Block, rest);
                &rest[..n] != b"undef"
            }
            Some(b) => b.is_ascii_alphabetic(),
            None => false,
        }
    }

    fn successor(&mut self) -> Parsed<()> {
        let start = self.c.pos;
        let name = self.c.name(NameKind::Block, "a block")?;
        let version = self.c.version()?;
        let span = self.c.span_from(start);
        let block = self.k.block_labels.intern(name, version);
        let first = self.k.lanes.len();
        if self.c.eat(b'(') {
            self.c.space();
            if !self.c.eat(b')') {
                loop {
                    let l = self.lane()?;
                    self.k.lanes.push(l);
                    if !self.c.eat_token(b',') {
                        break;
                    }
                }
                self.c.expect(b')', "`,` or `)`")?;
            }
        }
        self.k.succs.push(SuccAst { block, span, args: Part::new(first, self.k.lanes.len()) });
        Ok(())
    }

    /// `(R0, R3..R15)`.
    fn clobber_list(&mut self, list: &mut Vec<(PhysReg, PhysReg)>) -> Parsed<()> {
        self.c.expect(b'(', "`(`")?;
        loop {
            let start = self.c.pos;
            let a = self.register()?;
            let mut b = a;
            if self.c.bytes[self.c.pos..].starts_with(b"..") {
                self.c.pos += 2;
                b = self.register()?;
                if b.class != a.class || b.num < a.num {
                    return Err(Fail::new(self.c.span_from(start), "a range of registers runs upward in one class"));
                }
            }
            list.push((a, b));
            if !self.c.eat_token(b',') {
                break;
            }
        }
        self.c.expect(b')', "`,` or `)`")
    }

    /// `(7 fixed R4)`: constraints of operands that the instruction does not have.
    fn extra_constraints(&mut self) -> Parsed<()> {
        self.c.expect(b'(', "`(`")?;
        loop {
            let index = self.c.number_to("an operand", u16::MAX as u64)? as u16;
            self.c.space();
            let c = self.constraint()?;
            self.constraints.push((index, c));
            if !self.c.eat_token(b',') {
                break;
            }
        }
        self.c.expect(b')', "`,` or `)`")
    }

    fn intern_op(&mut self, mnemonic: Cow<'t, str>, span: Span, clobbers: Vec<(PhysReg, PhysReg)>) -> Parsed<u32> {
        let next = self.k.ops.len() as u32;
        if self.constraints.is_empty() && clobbers.is_empty() {
            if let Some(&id) = self.plain_ops.get(&mnemonic) {
                return Ok(id);
            }
            let kind = opcodes::props(&mnemonic).kind;
            self.plain_ops.insert(mnemonic.clone(), next);
            self.k.ops.push(OpAst { mnemonic, kind, constraints: Vec::new(), clobbers });
            return Ok(next);
        }
        let mut constraints = std::mem::take(&mut self.constraints);
        constraints.sort_unstable();
        constraints.dedup();
        let key = (mnemonic, constraints, merge(clobbers));
        if let Some(&id) = self.odd_ops.get(&key) {
            return Ok(id);
        }
        self.clobbers += key.2.iter().map(|(a, b)| (b.num - a.num) as usize + 1).sum::<usize>();
        if self.clobbers > MAX_CLOBBERS {
            return Err(Fail::new(span, format!("the text clobbers more than {MAX_CLOBBERS} registers")));
        }
        let kind = opcodes::props(&key.0).kind;
        self.k.ops.push(OpAst { mnemonic: key.0.clone(), kind, constraints: key.1.clone(), clobbers: key.2.clone() });
        self.odd_ops.insert(key, next);
        Ok(next)
    }
}

/// Disjoint rising ranges that cover the same registers.
fn merge(mut list: Vec<(PhysReg, PhysReg)>) -> Vec<(PhysReg, PhysReg)> {
    list.sort_unstable();
    let mut out: Vec<(PhysReg, PhysReg)> = Vec::with_capacity(list.len());
    for (a, b) in list {
        match out.last_mut() {
            Some((_, end)) if end.class == a.class && a.num as u32 <= end.num as u32 + 1 => {
                end.num = end.num.max(b.num)
            }
            _ => out.push((a, b)),
        }
    }
    out
}
