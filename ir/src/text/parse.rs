//! Reading kernels, regions, blocks and instructions into the flat form of [`super::ast`].
//!
//! A statement is a line; after an error reading goes on at the next line. A kernel with an error of syntax is not
//! resolved, so that one slip does not call up a crowd of unknown names.

use super::ast::*;
use super::error::{Errors, Fail, Parsed, Span};
use super::inst::OddKey;
use super::lex::{Cursor, NameKind};
use crate::assigned::Edit;
use crate::class::RegClass;
use crate::op::Constraint;
use std::borrow::Cow;
use std::collections::HashMap;

pub(super) struct Parser<'t> {
    pub c: Cursor<'t>,
    /// The kernel at work.
    pub k: KernelAst<'t>,
    pub errors: Errors,
    /// Reads the allocated form.
    pub allocated: bool,
    /// Constraints of the instruction at work.
    pub constraints: Vec<(u16, Constraint)>,
    pub plain_ops: HashMap<Cow<'t, str>, u32>,
    pub odd_ops: HashMap<OddKey<'t>, u32>,
    pub values: usize,
    pub clobbers: usize,
    /// The region whose braces stand open, with its head; blocks go to it.
    region: Option<(u32, Span)>,
    /// Regions opened inside of a region, an error, so that their braces match.
    nested: u32,
    /// True when instructions have a block to go to.
    pub in_block: bool,
    /// True when the head of the block at work is wrong, and has been reported.
    pub lost: bool,
    /// Edits read that stand before the next instruction.
    pub pending: Vec<(Edit, Span)>,
    /// Successor of the block at work whose edits follow.
    pub edge: Option<u32>,
}

impl<'t> Parser<'t> {
    pub fn new(text: &'t str, allocated: bool) -> Self {
        Self {
            c: Cursor::new(text),
            k: KernelAst::default(),
            errors: Errors::default(),
            allocated,
            constraints: Vec::new(),
            plain_ops: HashMap::new(),
            odd_ops: HashMap::new(),
            values: 0,
            clobbers: 0,
            region: None,
            nested: 0,
            in_block: false,
            lost: false,
            pending: Vec::new(),
            edge: None,
        }
    }

    /// The next kernel without an error of syntax.
    pub fn kernel(&mut self) -> Option<KernelAst<'t>> {
        loop {
            self.c.blank();
            if self.c.at_end() || self.errors.full() {
                return None;
            }
            let before = self.errors.len();
            self.start_kernel();
            match self.header() {
                Ok(()) => self.body(),
                Err(f) => {
                    self.errors.push(f);
                    self.c.skip_line();
                    self.c.blank();
                    while !self.c.at_end() && !self.at_kernel() {
                        self.c.skip_line();
                        self.c.blank();
                    }
                }
            }
            if self.errors.len() == before {
                return Some(std::mem::take(&mut self.k));
            }
        }
    }

    fn start_kernel(&mut self) {
        self.k = KernelAst::default();
        self.plain_ops.clear();
        self.odd_ops.clear();
        self.region = None;
        self.nested = 0;
        self.in_block = false;
        self.lost = false;
        self.pending.clear();
        self.edge = None;
    }

    fn at_kernel(&self) -> bool {
        let rest = &self.c.bytes[self.c.pos..];
        let follows = |word: &[u8], next: &[u8]| {
            rest.strip_prefix(word).is_some_and(|r| {
                let spaces = r.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
                spaces > 0 && r[spaces..].starts_with(next)
            })
        };
        follows(b"kernel", b"@") || follows(b"allocated", b"kernel")
    }

    fn header(&mut self) -> Parsed<()> {
        let start = self.c.pos;
        let allocated = self.c.eat_word("allocated");
        self.c.space();
        if !self.c.eat_word("kernel") {
            return Err(self.c.expected("`kernel @name`"));
        }
        if allocated != self.allocated {
            let message = match allocated {
                true => "this is an allocated kernel, a plain one was expected",
                false => "this kernel is not allocated",
            };
            return Err(Fail::new(self.c.span_from(start), message));
        }
        self.c.space();
        if !self.c.eat(b'@') {
            return Err(self.c.expected("`@` and the kernel's name"));
        }
        self.k.name = self.c.name(NameKind::Global, "the kernel's name")?;
        self.k.span = self.c.span_from(start);
        let label = self.k.region_labels.intern(self.k.name.clone(), 0);
        self.k.region_of.push(0);
        self.k.regions.push(RegionAst { label, span: self.k.span, results: Vec::new() });
        self.attributes()?;
        self.c.expect(b'{', "an attribute or `{`")
    }

    fn attributes(&mut self) -> Parsed<()> {
        let mut seen: Vec<Cow<'t, str>> = Vec::new();
        loop {
            self.c.space();
            if self.c.peek() != b'.' {
                return Ok(());
            }
            let start = self.c.pos;
            let word = self.c.name(NameKind::Block, "an attribute")?;
            let span = self.c.span_from(start);
            self.c.space();
            match word.as_ref() {
                ".target" => self.k.attrs.target = Some(self.c.name(NameKind::Block, "an architecture")?.into_owned()),
                ".maxntid" => self.k.attrs.maxntid = Some(self.dimensions()?),
                ".reqntid" => self.k.attrs.reqntid = Some(self.dimensions()?),
                ".minnctapersm" => self.k.attrs.minnctapersm = Some(self.c.number_u32("a number of blocks")?),
                ".maxnreg" => self.k.attrs.maxnreg = Some(self.c.number_u32("a number of registers")?),
                ".smem" => self.k.attrs.static_smem = self.c.number_u32("a number of bytes")?,
                ".barriers" => self.k.attrs.barriers = self.c.number_u32("a number of barriers")?,
                ".stack" => self.k.attrs.stack_frame = self.c.number_u32("a number of bytes")?,
                ".local_slots" if self.allocated => self.k.local_slots = self.c.number_u32("a number of slots")?,
                ".shared_slots" if self.allocated => self.k.shared_slots = self.c.number_u32("a number of slots")?,
                _ => {
                    return Err(Fail::new(span, format!("unknown attribute `{}`", super::lex::clip(&word))).hint(
                        "attributes are .target, .maxntid, .reqntid, .minnctapersm, .maxnreg, .smem, .barriers, .stack",
                    ))
                }
            }
            if seen.contains(&word) {
                return Err(Fail::new(span, format!("attribute `{word}` stands twice")));
            }
            seen.push(word);
        }
    }

    /// One to three sizes; those left out are 1.
    fn dimensions(&mut self) -> Parsed<[u32; 3]> {
        let mut d = [1; 3];
        for (k, x) in d.iter_mut().enumerate() {
            if k > 0 && !self.c.eat_token(b',') {
                break;
            }
            *x = self.c.number_u32("a dimension")?;
        }
        Ok(d)
    }

    fn body(&mut self) {
        loop {
            self.c.blank();
            if self.errors.full() {
                return;
            }
            let open = self.region.map_or(self.k.span, |r| r.1);
            if self.c.at_end() {
                self.errors.push(Fail::new(open, "the `{` of this head is never closed"));
                return;
            }
            if self.at_kernel() {
                let fail = Fail::new(self.c.token(), "a kernel begins before the one above is closed");
                self.errors.push(fail.see(open, "a `}` is missing for what begins"));
                return;
            }
            match self.statement() {
                Ok(true) => {}
                Ok(false) => return,
                Err(f) => {
                    self.errors.push(f);
                    self.c.skip_line();
                }
            }
        }
    }

    /// One statement; false when it closed the kernel.
    fn statement(&mut self) -> Parsed<bool> {
        let start = self.c.pos;
        match self.c.peek() {
            b'}' => {
                self.c.pos += 1;
                return Ok(self.close());
            }
            b'%' | b'@' if !self.allocated => self.instruction(NO)?,
            b'[' if self.allocated => {
                let number = self.number_mark()?;
                self.instruction(number)?;
            }
            b'"' | b'.' | b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                if self.c.eat_word("region") {
                    self.open_region(start)?;
                    return Ok(true);
                }
                let word = self.c.name(NameKind::Mnemonic, "an instruction")?;
                let end = self.c.pos;
                let version = self.c.version()?;
                self.c.space();
                if matches!(self.c.peek(), b':' | b'(') || self.at_trip() || version != 0 {
                    self.finish_block();
                    self.lost = true;
                    self.block(word, version, Span::new(start, end))?;
                    self.lost = false;
                } else if self.allocated {
                    self.edit_statement(&word, Span::new(start, end))?;
                } else {
                    self.constraints.clear();
                    let (d, o) = (self.k.defs.len(), self.k.operands.len());
                    self.instruction_tail(word, Span::new(start, end), d, o, NO)?;
                }
            }
            b'[' => {
                return Err(self.c.expected("an instruction").hint("numbered instructions stand in allocated text"));
            }
            _ => return Err(self.c.expected("an instruction, a block or `}`")),
        }
        Ok(true)
    }

    fn at_trip(&self) -> bool {
        self.c.bytes[self.c.pos..].starts_with(b".trip") && matches!(self.c.peek_at(5), b' ' | b'\t')
    }

    fn close(&mut self) -> bool {
        self.finish_block();
        if self.nested > 0 {
            self.nested -= 1;
            return true;
        }
        self.region.take().is_some()
    }

    /// Ends the block at work.
    fn finish_block(&mut self) {
        self.in_block = false;
        self.lost = false;
        self.edge = None;
        if let Some((_, span)) = self.pending.first() {
            let fail = Fail::new(*span, "no instruction follows this edit");
            self.errors.push(fail.hint("edits behind an instruction begin `after`"));
            self.pending.clear();
        }
    }

    fn open_region(&mut self, start: usize) -> Parsed<()> {
        self.finish_block();
        let Err(fail) = self.region_head(start) else { return Ok(()) };
        // The head is wrong, but what its brace opens will be closed: go on behind the brace.
        let line = self.c.bytes[self.c.pos..].split(|&b| b == b'\n').next().unwrap_or_default();
        let Some(brace) = line.iter().position(|&b| b == b'{') else { return Err(fail) };
        self.c.pos += brace + 1;
        if self.region.is_some() {
            self.nested += 1;
        } else {
            self.region = Some((0, Span::new(start, fail.span.end as usize)));
        }
        self.errors.push(fail);
        Ok(())
    }

    /// `@name -> (R2)` and `{`, which opens the region.
    fn region_head(&mut self, start: usize) -> Parsed<()> {
        self.c.space();
        let at = self.c.pos;
        if !self.c.eat(b'@') {
            return Err(self.c.expected("`@` and the region's name"));
        }
        let label = self.region_label()?;
        let span = self.c.span_from(at);
        if let Some((_, outer)) = self.region {
            return Err(
                Fail::new(span, "a region does not stand inside of a region").see(outer, "the outer one begins")
            );
        }
        self.c.space();
        let declares = self.c.bytes[self.c.pos..].starts_with(b"->");
        let known = self.k.region_of.get(label as usize).copied().filter(|&r| r != NO);
        if declares {
            self.c.pos += 2;
            let results = self.results()?;
            if let Some(r) = known {
                let first = self.k.regions[r as usize].span;
                let message = format!("region `@{}` is declared twice", self.k.region_labels.show(label));
                return Err(Fail::new(span, message).see(first, "first declared"));
            }
            self.k.region_of.resize(self.k.region_labels.len(), NO);
            self.k.region_of[label as usize] = self.k.regions.len() as u32;
            self.k.regions.push(RegionAst { label, span, results });
        } else if known.is_none_or(|r| r == 0) {
            let fail = Fail::new(span, format!("region `@{}` has no results list", self.k.region_labels.show(label)));
            return Err(fail.hint("write `region @name -> (R2) {`; `-> ()` for none"));
        }
        if self.c.eat_token(b'{') {
            self.region = Some((self.k.region_of[label as usize], Span::new(start, span.end as usize)));
            Ok(())
        } else if declares {
            self.end_of_statement()
        } else {
            Err(self.c.expected("`{`"))
        }
    }

    fn results(&mut self) -> Parsed<Vec<(RegClass, u16)>> {
        let mut list = Vec::new();
        self.c.expect(b'(', "`(`")?;
        if self.c.eat(b')') {
            return Ok(list);
        }
        loop {
            list.push(self.class_len(u16::MAX as u64)?);
            if !self.c.eat_token(b',') {
                break;
            }
        }
        self.c.expect(b')', "`,` or `)`")?;
        Ok(list)
    }

    /// A block's head behind its name.
    fn block(&mut self, name: Cow<'t, str>, version: u32, span: Span) -> Parsed<()> {
        let label = self.k.block_labels.intern(name, version);
        let first = self.k.defs.len();
        if self.c.eat_token(b'(') && !self.c.eat(b')') {
            loop {
                self.definition(None)?;
                if !self.c.eat_token(b',') {
                    break;
                }
            }
            self.c.expect(b')', "`,` or `)`")?;
        }
        let params = Part::new(first, self.k.defs.len());
        self.c.space();
        let mut trip = None;
        if self.at_trip() {
            self.c.pos += 5;
            self.c.space();
            trip = Some(self.c.number_u32("a number of trips")?);
        }
        self.c.expect(b':', "`:` behind the block's name")?;
        let at = self.k.insts.len();
        let region = self.region.map_or(0, |r| r.0);
        self.k.blocks.push(BlockAst { label, span, region, trip, params, insts: Part::new(at, at) });
        self.in_block = true;
        Ok(())
    }

    pub(super) fn end_of_statement(&mut self) -> Parsed<()> {
        self.c.space();
        match self.c.peek() {
            b'\n' | b'}' => Ok(()),
            _ if self.c.at_end() => Ok(()),
            _ => Err(self.c.expected("the end of the line")),
        }
    }
}
