//! Reading the allocated form: numbered instructions, locations, edits; and putting them onto the function.

use super::ast::*;
use super::error::{Errors, Fail, Parsed, Span};
use super::lex::NameKind;
use super::parse::Parser;
use super::resolve::Resolved;
use super::AllocatedParts;
use crate::assigned::{AllocatedFunction, Edit, EditPoint, Loc, Side};
use crate::class::PhysReg;
use crate::entity::EntityId;
use crate::function::{Edge, Inst};

/// Most operand lanes with locations of the kernels of one text together.
pub const MAX_LOCATIONS: usize = 1 << 26;

impl Parser<'_> {
    /// `[i12]`: the instruction's number in linear order.
    pub(super) fn number_mark(&mut self) -> Parsed<u32> {
        self.c.expect(b'[', "`[`")?;
        let n = self.inst_number()?;
        self.c.expect(b']', "`]`")?;
        Ok(n)
    }

    fn inst_number(&mut self) -> Parsed<u32> {
        if !self.c.eat(b'i') {
            return Err(self.c.expected("an instruction's number like `i12`"));
        }
        self.c.number_to("an instruction's number", u32::MAX as u64 - 1).map(|n| n as u32)
    }

    /// The edits read so far go before instruction `id`.
    pub(super) fn attach_pending(&mut self, id: u32) {
        for (edit, span) in self.pending.drain(..) {
            self.k.edits.push((EditPlace::Inst(id, Side::Before), edit, span));
        }
    }

    /// A line that begins with a word and is no block: an edit, `after` an instruction, or the head of an edge's edits.
    pub(super) fn edit_statement(&mut self, word: &str, span: Span) -> Parsed<()> {
        if self.lost {
            self.c.skip_line();
            return Ok(());
        }
        if !self.in_block {
            return Err(Fail::new(span, "an edit before the first block"));
        }
        let block = self.k.blocks.len() - 1;
        let insts = self.k.blocks[block].insts;
        if word == "on" {
            return self.edge_head(block);
        }
        if word == "after" {
            if insts.len() == 0 || self.edge.is_some() || !self.pending.is_empty() {
                return Err(Fail::new(span, "`after` stands right behind an instruction"));
            }
            let start = self.c.pos;
            let word = self.c.name(NameKind::Mnemonic, "an edit")?;
            let edit = self.edit(&word, self.c.span_from(start))?;
            self.k.edits.push((EditPlace::Inst(insts.end - 1, Side::After), edit, span));
        } else {
            let edit = self.edit(word, span)?;
            match self.edge {
                Some(succ) => self.k.edits.push((EditPlace::Edge(block as u32, succ), edit, span)),
                None => self.pending.push((edit, span)),
            }
        }
        self.end_of_statement()
    }

    /// `on here -> there (0):`; `on` has been read.
    fn edge_head(&mut self, block: usize) -> Parsed<()> {
        // With a wrong head the edits below still belong to an edge.
        self.edge = Some(NO);
        let start = self.c.pos;
        let name = self.c.name(NameKind::Block, "the block that the edge leaves")?;
        let version = self.c.version()?;
        let from = self.k.block_labels.intern(name, version);
        let here = self.k.blocks[block].label;
        if from != here {
            let message = format!("the edge leaves block `{}`, it stands in another", self.k.block_labels.show(from));
            return Err(Fail::new(self.c.span_from(start), message));
        }
        self.arrow("->")?;
        let start = self.c.pos;
        let name = self.c.name(NameKind::Block, "the block that the edge enters")?;
        let version = self.c.version()?;
        let to = self.k.block_labels.intern(name, version);
        let span = self.c.span_from(start);
        self.c.expect(b'(', "`(` and the position of the successor")?;
        let succ = self.c.number_u32("a position among the successors")?;
        self.c.expect(b')', "`)`")?;
        self.c.expect(b':', "`:`")?;
        let insts = self.k.blocks[block].insts.range();
        // Instructions may stand in any order but for the terminator, whose successors alone are not empty.
        let succs = self.k.insts[insts].last().map_or(Part::default(), |i| i.succs).range();
        match self.k.succs[succs].get(succ as usize) {
            Some(s) if s.block == to => {
                self.edge = Some(succ);
                Ok(())
            }
            _ => Err(Fail::new(span, format!("successor {succ} is not `{}`", self.k.block_labels.show(to)))),
        }
    }

    fn arrow(&mut self, arrow: &str) -> Parsed<()> {
        self.c.space();
        if !self.c.bytes[self.c.pos..].starts_with(arrow.as_bytes()) {
            return Err(self.c.expected(&format!("`{arrow}`")));
        }
        self.c.pos += arrow.len();
        self.c.space();
        Ok(())
    }

    /// The edit behind its word.
    fn edit(&mut self, word: &str, span: Span) -> Parsed<Edit> {
        self.c.space();
        Ok(match word {
            "copy" => {
                let to = self.register()?;
                self.arrow("<-")?;
                Edit::Copy { from: self.register()?, to }
            }
            "swap" => {
                let a = self.register()?;
                self.c.expect(b',', "`,`")?;
                Edit::Swap { a, b: self.register()? }
            }
            "spill" => {
                let to = self.location()?;
                self.arrow("<-")?;
                Edit::Spill { from: self.register()?, to }
            }
            "reload" => {
                let to = self.register()?;
                self.arrow("<-")?;
                Edit::Reload { from: self.location()?, to }
            }
            "slotcopy" => {
                let to = self.location()?;
                self.arrow("<-")?;
                Edit::SlotCopy { from: self.location()?, to }
            }
            "remat" => {
                let inst = Inst(self.inst_number()?);
                self.c.space();
                let at = self.c.pos;
                let to: Option<Vec<Option<PhysReg>>> = self
                    .location_list()?
                    .into_iter()
                    .map(|l| if l.is_none() { Some(None) } else { l.as_reg().map(Some) })
                    .collect();
                let Some(to) = to else {
                    return Err(Fail::new(self.c.span_from(at), "an instruction defines registers, not slots"));
                };
                self.arrow("<-")?;
                Edit::Remat { inst, from: self.location_list()?, to }
            }
            _ => {
                let fail = Fail::new(span, format!("unknown edit `{}`", super::lex::clip(word)));
                return Err(
                    fail.hint("edits are copy, swap, spill, reload, slotcopy and remat; instructions have `[i0]`")
                );
            }
        })
    }

    fn location_list(&mut self) -> Parsed<Vec<Loc>> {
        let mut list = Vec::new();
        self.c.expect(b'(', "`(`")?;
        if self.c.eat(b')') {
            return Ok(list);
        }
        loop {
            list.push(self.location()?);
            if !self.c.eat_token(b',') {
                break;
            }
        }
        self.c.expect(b')', "`,` or `)`")?;
        Ok(list)
    }
}

/// The allocation that the text of a resolved kernel states; errors are pushed.
pub(super) fn resolve_parts(
    k: &KernelAst<'_>,
    r: &Resolved,
    errors: &mut Errors,
    locations_left: &mut usize,
) -> Option<AllocatedParts> {
    let f = &r.func;
    let before = errors.len();
    let lanes: usize = f.insts().map(|i| f.num_lanes(i)).sum();
    match locations_left.checked_sub(lanes) {
        Some(left) => *locations_left = left,
        None => {
            errors.push(Fail::new(k.span, format!("the text has more than {MAX_LOCATIONS} lanes with locations")));
            return None;
        }
    }
    let mut a = AllocatedFunction::empty(f);
    let mut order = vec![Inst(0); f.num_insts()];
    let mut pos_of = vec![0u32; f.num_insts()];
    for (block, &b) in k.blocks.iter().zip(&r.blocks) {
        let first = f.block_range(b).start;
        let (insts, base) = (block.insts.range(), block.insts.start);
        for (at, &i) in r.sorted[insts.clone()].iter().enumerate() {
            let inst = Inst(first + at as u32);
            let ast = &k.insts[i as usize];
            if ast.number != inst.0 {
                let message = format!("this is instruction i{} in linear order, not i{}", inst.0, ast.number);
                errors.push(Fail::new(ast.span, message));
            }
            let pos = first + (i - base);
            order[pos as usize] = inst;
            pos_of[i as usize] = pos;
            let operands = ast.defs.range().map(|d| (k.defs[d].loc, k.defs[d].span));
            let operands = operands.chain(ast.operands.range().map(|o| (k.operands[o].loc, k.operands[o].span)));
            let mut out = a.inst_locs_mut(inst);
            for ((loc, span), word) in operands.zip(f.operands(inst)) {
                let (mine, rest) = out.split_at_mut(word.len());
                place(k, loc, mine, span, errors);
                out = rest;
            }
        }
        let mut out = a.block_param_locs_mut(b);
        for d in block.params.range() {
            let (mine, rest) = out.split_at_mut(k.defs[d].len as usize);
            place(k, k.defs[d].loc, mine, k.defs[d].span, errors);
            out = rest;
        }
    }
    for (place, edit, span) in &k.edits {
        if let Edit::Remat { inst, .. } = edit {
            if inst.index() >= f.num_insts() {
                errors.push(Fail::new(*span, format!("there is no instruction {inst}")));
            }
        }
        match *place {
            EditPlace::Inst(i, side) => a.edits.push((EditPoint { pos: pos_of[i as usize], side }, edit.clone())),
            EditPlace::Edge(b, succ) => {
                let first = f.succ_edges(r.blocks[b as usize]).next().expect("an edge of the text exists");
                a.edge_edits.push((Edge(first.0 + succ), edit.clone()));
            }
        }
    }
    if errors.len() != before {
        return None;
    }
    a.edits.sort_by_key(|e| e.0);
    a.edge_edits.sort_by_key(|e| e.0);
    a.order = order.iter().enumerate().any(|(p, i)| i.index() != p).then_some(order);
    a.local_slots = k.local_slots;
    a.shared_slots = k.shared_slots;
    Some(AllocatedParts::of(&a))
}

/// Fills in the locations of one operand.
fn place(k: &KernelAst<'_>, loc: u32, out: &mut [Loc], span: Span, errors: &mut Errors) {
    if loc == NO {
        return;
    }
    match k.locs[loc as usize] {
        LocsAst::From(l) if out.len() == 1 || l.is_none() => out.fill(l),
        LocsAst::From(l) => match l.as_reg() {
            Some(r) if r.num as usize + out.len() <= 1 << 16 => {
                for (lane, o) in out.iter_mut().enumerate() {
                    *o = Loc::reg(PhysReg::new(r.class, r.num + lane as u16));
                }
            }
            _ => errors.push(Fail::new(span, format!("`@{l}` does not begin {} registers", out.len()))),
        },
        LocsAst::Each(part) if part.len() == out.len() => out.copy_from_slice(&k.loc_items[part.range()]),
        LocsAst::Each(part) => {
            errors.push(Fail::new(span, format!("{} locations for {} lanes", part.len(), out.len())));
        }
    }
}
