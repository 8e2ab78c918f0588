//! Writing a function: blocks in layout order, one instruction a line. What it writes, the reader takes back exactly.

use super::lex::NameKind;
use super::names::{push, push_u32, write_name, write_quoted, Names};
use crate::assigned::Loc;
use crate::class::{PhysReg, RegClass};
use crate::entity::EntityId;
use crate::function::{Block, Function, Inst, Region, Value};
use crate::op::{Constraint, OpSig};
use crate::operand::{default_align, Lane, Operand, OperandFlags, OperandKind};

/// Flags that every operand shows by itself; the others say where it stands.
const SHOWN: u8 = OperandFlags::NEG.0 | OperandFlags::ABS.0 | OperandFlags::NOT.0 | OperandFlags::GUARD.0;
const ADDR: u8 = OperandFlags::ADDR.0;
const ADDR_START: u8 = OperandFlags::ADDR.0 | OperandFlags::ADDR_START.0;

/// Column of the `=` behind short definitions.
const EQUALS_COLUMN: usize = 16;

/// A function as text.
pub fn print(f: &Function) -> String {
    let mut p = Printer::new(f);
    p.header("kernel");
    p.out.push_str(" {\n");
    p.sections(|p, b| {
        p.block_head(b, None);
        for i in p.f.block_insts(b) {
            p.out.push_str("  ");
            p.instruction(i, None);
            p.out.push('\n');
        }
    });
    p.out.push_str("}\n");
    p.out
}

/// The text so far, and what is needed to go on.
pub(super) struct Printer<'f> {
    pub f: &'f Function,
    pub names: Names<'f>,
    pub out: String,
}

impl<'f> Printer<'f> {
    pub fn new(f: &'f Function) -> Self {
        Self { f, names: Names::new(f), out: String::with_capacity(64 * f.num_insts() + 256) }
    }

    /// `kernel @name` and the attributes.
    pub fn header(&mut self, word: &str) {
        let (f, out) = (self.f, &mut self.out);
        out.push_str(word);
        out.push_str(" @");
        write_name(out, NameKind::Global, &f.name);
        let a = &f.attrs;
        if let Some(t) = &a.target {
            out.push_str(" .target ");
            write_name(out, NameKind::Block, t);
        }
        for (word, d) in [(".maxntid", a.maxntid), (".reqntid", a.reqntid)] {
            if let Some([x, y, z]) = d {
                push(out, format_args!(" {word} {x},{y},{z}"));
            }
        }
        for (word, n) in [(".minnctapersm", a.minnctapersm), (".maxnreg", a.maxnreg)] {
            if let Some(n) = n {
                push(out, format_args!(" {word} {n}"));
            }
        }
        for (word, n) in [(".smem", a.static_smem), (".barriers", a.barriers), (".stack", a.stack_frame)] {
            if n != 0 {
                push(out, format_args!(" {word} {n}"));
            }
        }
    }

    /// All blocks in layout order within the braces of their regions.
    pub fn sections(&mut self, mut block: impl FnMut(&mut Self, Block)) {
        let f = self.f;
        let mut declared = vec![false; f.regions().len()];
        declared[0] = true;
        // Regions are numbered as they are declared: up front, where layout meets them in another order.
        let mut next = 1;
        let mut met = declared.clone();
        let in_order = f.layout().iter().all(|&b| {
            let r = f.block(b).region.index();
            let fine = met[r] || r == next;
            next += !std::mem::replace(&mut met[r], true) as usize;
            fine
        });
        if !in_order {
            for r in f.regions().skip(1) {
                self.region_head(r, true);
                self.out.push('\n');
                declared[r.index()] = true;
            }
        }
        let mut open = Region(0);
        for &b in f.layout() {
            let r = f.block(b).region;
            if r != open {
                if open != Region(0) {
                    self.out.push_str("}\n");
                }
                if r != Region(0) {
                    self.region_head(r, !std::mem::replace(&mut declared[r.index()], true));
                    self.out.push_str(" {\n");
                }
                open = r;
            }
            block(self, b);
        }
        if open != Region(0) {
            self.out.push_str("}\n");
        }
    }

    fn region_head(&mut self, r: Region, results: bool) {
        self.out.push_str("region ");
        self.names.write_region(&mut self.out, r);
        if results {
            self.out.push_str(" -> (");
            for (k, &(class, len)) in self.f.region(r).results.iter().enumerate() {
                self.out.push_str(if k > 0 { ", " } else { "" });
                self.class_len(class, len as usize);
            }
            self.out.push(')');
        }
    }

    fn class_len(&mut self, class: RegClass, len: usize) {
        self.out.push_str(class.name());
        if len != 1 {
            push_u32(&mut self.out, len as u32);
        }
    }

    /// `name(params) .trip N:` and the end of the line; locations of the parameter units where there are any.
    pub fn block_head(&mut self, b: Block, locs: Option<&[Loc]>) {
        self.names.write_block(&mut self.out, b);
        let params = self.f.param_operands(b);
        if !params.is_empty() {
            self.out.push('(');
            let mut at = 0;
            for (k, &o) in params.iter().enumerate() {
                self.out.push_str(if k > 0 { ", " } else { "" });
                self.definition(o, 1, locs.map(|l| &l[at..at + o.len()]));
                self.names_of(o, None);
                at += o.len();
            }
            self.out.push(')');
        }
        if let Some(t) = self.f.block(b).trip {
            push(&mut self.out, format_args!(" .trip {t}"));
        }
        self.out.push_str(":\n");
    }

    /// `%x: R4:8@R0`.
    fn definition(&mut self, o: Operand, usual_align: u32, locs: Option<&[Loc]>) {
        let v = Value(o.payload());
        let run = *self.names.run(v).0;
        self.names.write_run(&mut self.out, &run);
        self.out.push_str(": ");
        self.class_len(self.f.class(v), o.len());
        self.align(o.align(), usual_align);
        self.locations(locs);
    }

    fn align(&mut self, align: u32, usual: u32) {
        if align != usual {
            self.out.push(':');
            push_u32(&mut self.out, align);
        }
    }

    /// Constraints of an operand in braces; for a definition also the names of lanes that do not share one.
    fn names_of(&mut self, o: Operand, sig: Option<(&OpSig, usize)>) {
        let mixed = self.names.run(Value(o.payload())).0.mixed;
        let mut open = false;
        if let Some((sig, index)) = sig {
            open = self.constraint_items(sig, index);
        }
        if mixed {
            self.out.push_str(if open { ", names(" } else { "{names(" });
            open = true;
            for lane in 0..o.len() as u32 {
                self.out.push_str(if lane > 0 { ", " } else { "" });
                match self.f.run_name(Value(o.payload() + lane)) {
                    Some(n) => write_name(&mut self.out, NameKind::Value, n),
                    None => self.out.push('-'),
                }
            }
            self.out.push(')');
        }
        if open {
            self.out.push('}');
        }
    }

    /// The constraints of one operand without the closing brace; true when there are any.
    fn constraint_items(&mut self, sig: &OpSig, index: usize) -> bool {
        let from = sig.constraints.partition_point(|c| (c.0 as usize) < index);
        let mine = sig.constraints[from..].iter().take_while(|c| c.0 as usize == index);
        let mut open = false;
        for &(_, c) in mine {
            self.out.push_str(if open { ", " } else { "{" });
            open = true;
            self.constraint(c);
        }
        open
    }

    fn constraint(&mut self, c: Constraint) {
        match c {
            Constraint::Fixed(r) => push(&mut self.out, format_args!("fixed {r}")),
            Constraint::Tied(d) => push(&mut self.out, format_args!("tied {d}")),
            Constraint::EarlyClobber => self.out.push_str("early"),
            Constraint::InFlight => self.out.push_str("flight"),
        }
    }

    /// An instruction with its successors, without indentation and end of line.
    pub fn instruction(&mut self, i: Inst, locs: Option<&[Loc]>) {
        let f = self.f;
        let sig = f.sig(i);
        let start = self.out.len();
        let mut at = 0;
        let mut take = |n: usize| {
            at += n;
            locs.map(|l| &l[at - n..at])
        };
        let defs = f.defs(i);
        for (k, &o) in defs.iter().enumerate() {
            self.out.push_str(if k > 0 { ", " } else { "" });
            self.definition(o, default_align(o.len()), take(o.len()));
            self.names_of(o, Some((sig, k)));
        }
        if !defs.is_empty() {
            while self.out.len() < start + EQUALS_COLUMN - 2 {
                self.out.push(' ');
            }
            self.out.push_str(" = ");
        }
        let uses = f.uses(i);
        let guarded = uses.first().is_some_and(|o| o.is_guard() && o.flags().0 & !SHOWN == 0);
        if guarded {
            self.operand(uses[0], SHOWN, take(uses[0].len()));
            self.close_constraints(sig, defs.len());
            self.out.push(' ');
        }
        write_name(&mut self.out, NameKind::Mnemonic, &sig.mnemonic);
        let mut first = true;
        let mut in_address = false;
        for (k, &o) in uses.iter().enumerate().skip(guarded as usize) {
            let place = o.flags().0 & !SHOWN;
            let goes_on = in_address && place == ADDR;
            if in_address && !goes_on {
                self.out.push(']');
            }
            if !goes_on {
                self.out.push_str(if first { " " } else { ", " });
            }
            first = false;
            in_address = goes_on || place == ADDR_START;
            if place == ADDR_START {
                self.out.push('[');
            }
            let mark = self.out.len();
            if in_address || place == 0 {
                self.operand(o, SHOWN, take(o.len()));
            } else {
                push(&mut self.out, format_args!("<0x{:x}>", o.flags().0));
                self.operand(o, 0, take(o.len()));
            }
            if goes_on && self.out.as_bytes()[mark] != b'-' {
                self.out.insert(mark, '+');
            }
            self.close_constraints(sig, defs.len() + k);
        }
        if in_address {
            self.out.push(']');
        }
        self.successors(i, first);
        self.trailer(i, sig);
    }

    fn close_constraints(&mut self, sig: &OpSig, index: usize) {
        if !sig.constraints.is_empty() && self.constraint_items(sig, index) {
            self.out.push('}');
        }
    }

    fn successors(&mut self, i: Inst, mut first: bool) {
        let f = self.f;
        if !f.kind(i).is_terminator() {
            return;
        }
        for e in f.succ_edges(f.block_of(i)) {
            self.out.push_str(if first { " " } else { ", " });
            first = false;
            self.names.write_block(&mut self.out, f.edge(e).to);
            let args = f.edge_args(e);
            if args.is_empty() {
                continue;
            }
            self.out.push('(');
            let mut k = 0;
            while k < args.len() {
                self.out.push_str(if k > 0 { ", " } else { "" });
                k += self.arguments(&args[k..]);
            }
            self.out.push(')');
        }
    }

    /// Writes the first argument of a list and as many more as go with it: a whole run, or undefined lanes.
    fn arguments(&mut self, args: &[Lane]) -> usize {
        let Some(v) = args[0].value() else {
            let n = args.iter().take_while(|l| l.value().is_none()).count().min(Operand::MAX_LANES);
            self.undef(n);
            return n;
        };
        let run = *self.names.run(v).0;
        let len = run.len as usize;
        let whole = run.first == v
            && args.len() >= len
            && args[..len].iter().enumerate().all(|(k, l)| l.value() == Some(Value(v.0 + k as u32)));
        if whole {
            self.names.write_run(&mut self.out, &run);
            return len;
        }
        self.names.write_value(&mut self.out, v);
        1
    }

    fn undef(&mut self, n: usize) {
        self.out.push_str("undef");
        if n != 1 {
            push(&mut self.out, format_args!("[{n}]"));
        }
    }

    fn trailer(&mut self, i: Inst, sig: &OpSig) {
        if !sig.clobbers.is_empty() {
            self.out.push_str(" clobbers(");
            let mut k = 0;
            while k < sig.clobbers.len() {
                self.out.push_str(if k > 0 { ", " } else { "" });
                let a = sig.clobbers[k];
                let n = sig.clobbers[k..]
                    .iter()
                    .enumerate()
                    .take_while(|&(d, r)| r.class == a.class && r.num as usize == a.num as usize + d)
                    .count();
                push(&mut self.out, format_args!("{a}"));
                if n > 1 {
                    push(&mut self.out, format_args!("..{}", PhysReg::new(a.class, a.num + (n - 1) as u16)));
                }
                k += n;
            }
            self.out.push(')');
        }
        let extra = sig.constraints.partition_point(|c| (c.0 as usize) < self.f.operands(i).len());
        if extra < sig.constraints.len() {
            self.out.push_str(" extra(");
            for (k, &(index, c)) in sig.constraints[extra..].iter().enumerate() {
                self.out.push_str(if k > 0 { ", " } else { "" });
                push(&mut self.out, format_args!("{index} "));
                self.constraint(c);
            }
            self.out.push(')');
        }
        let line = self.f.line(i);
        if line != 0 {
            self.out.push_str("  #");
            push_u32(&mut self.out, line);
        }
    }

    /// An operand with those of its flags that are in `shown`, without constraints.
    fn operand(&mut self, o: Operand, shown: u8, locs: Option<&[Loc]>) {
        let flags = OperandFlags(o.flags().0 & shown);
        let register = matches!(o.kind(), OperandKind::Run | OperandKind::Lanes);
        let number = matches!(o.kind(), OperandKind::Imm | OperandKind::WideImm);
        if flags.has(OperandFlags::GUARD) {
            self.out.push('@');
        }
        if flags.has(OperandFlags::NEG) {
            self.out.push('-');
        }
        if flags.has(OperandFlags::NOT) {
            let value = self.f.lanes(o).find_map(Lane::value);
            let predicate = value.is_some_and(|v| self.f.class(v).is_predicate());
            self.out.push(if predicate || flags.has(OperandFlags::GUARD) { '!' } else { '~' });
        }
        let bars = flags.has(OperandFlags::ABS);
        if bars {
            self.out.push('|');
        }
        // `-5` is a literal and `@name` a region: parentheses keep flags apart from them.
        let wrap = flags.has(OperandFlags::GUARD) && !register || flags.has(OperandFlags::NEG) && number;
        if wrap {
            self.out.push('(');
        }
        self.base(o, locs);
        if wrap {
            self.out.push(')');
        }
        if bars {
            self.out.push('|');
        }
    }

    fn base(&mut self, o: Operand, locs: Option<&[Loc]>) {
        match o.kind() {
            OperandKind::Run | OperandKind::Lanes => self.lanes(o),
            OperandKind::Undef => {
                self.undef(o.len());
                self.align(o.align(), default_align(o.len()));
            }
            OperandKind::Imm => self.literal(o.payload(), o.is_address()),
            OperandKind::WideImm => push(&mut self.out, format_args!("0x{:x}", self.f.imm(o).unwrap_or(0))),
            OperandKind::Const => {
                let (bank, offset) = o.const_ref();
                push(&mut self.out, format_args!("c[{bank}][0x{offset:x}]"));
            }
            OperandKind::Special => {
                let name = self.f.operand_symbol(o).unwrap_or("");
                if super::lex::is_plain(NameKind::Special, name) {
                    self.out.push_str(name);
                } else {
                    self.out.push_str("SR");
                    write_quoted(&mut self.out, name);
                }
            }
            OperandKind::Symbol => {
                self.out.push('$');
                write_name(&mut self.out, NameKind::Variable, self.f.operand_symbol(o).unwrap_or(""));
            }
            OperandKind::Region => self.names.write_region(&mut self.out, Region(o.payload())),
        }
        if !o.is_empty() {
            self.locations(locs);
        }
    }

    /// Small numbers in decimal, others as bits in hexadecimal; in an address always hexadecimal with a sign.
    fn literal(&mut self, bits: u32, address: bool) {
        let n = bits as i32;
        let small = (-4096..=4096).contains(&n);
        if n < 0 && (small || address) {
            self.out.push('-');
        }
        match (address, small) {
            (true, _) => push(&mut self.out, format_args!("0x{:x}", n.unsigned_abs())),
            (false, true) => push_u32(&mut self.out, n.unsigned_abs()),
            (false, false) => push(&mut self.out, format_args!("0x{bits:x}")),
        }
    }

    /// A whole run by its name, one lane of it, or lanes in braces with their alignment.
    fn lanes(&mut self, o: Operand) {
        let f = self.f;
        if o.kind() == OperandKind::Run {
            let v = Value(o.payload());
            let run = *self.names.run(v).0;
            if run.first == v && run.len as usize == o.len() {
                self.names.write_run(&mut self.out, &run);
                return self.align(o.align(), default_align(o.len()));
            }
            if o.len() == 1 {
                self.names.write_value(&mut self.out, v);
                return self.align(o.align(), 1);
            }
        }
        self.out.push('{');
        for (k, l) in f.lanes(o).enumerate() {
            self.out.push_str(if k > 0 { ", " } else { "" });
            match l.value() {
                Some(v) => self.names.write_value(&mut self.out, v),
                None => self.out.push_str("undef"),
            }
        }
        self.out.push_str("}:");
        push_u32(&mut self.out, o.align());
    }

    /// `@R4` for consecutive registers or a single place, `@(..)` for any other places.
    fn locations(&mut self, locs: Option<&[Loc]>) {
        let Some(locs) = locs else { return };
        self.out.push('@');
        let first = locs.first().copied().unwrap_or(Loc::NONE);
        let consecutive = first.as_reg().is_some_and(|r| {
            locs.iter().enumerate().all(|(k, l)| {
                let num = u16::try_from(r.num as usize + k);
                num.is_ok_and(|n| *l == Loc::reg(PhysReg::new(r.class, n)))
            })
        });
        if locs.len() == 1 || consecutive || (!locs.is_empty() && locs.iter().all(|l| l.is_none())) {
            return push(&mut self.out, format_args!("{first}"));
        }
        self.location_list(locs.iter().copied());
    }

    /// `(R4, -, local[2])`.
    pub fn location_list(&mut self, locs: impl Iterator<Item = Loc>) {
        self.out.push('(');
        for (k, l) in locs.enumerate() {
            self.out.push_str(if k > 0 { ", " } else { "" });
            push(&mut self.out, format_args!("{l}"));
        }
        self.out.push(')');
    }
}
