//! From the flat form of a text to a function: names to entities, shapes checked, the rest left to the builder.
//!
//! Everything that the builder would refuse is found here first, where the place in the text is known. What makes a
//! function wrong without making it unreadable (classes of arguments, dominance) is the verifier's business.

use super::ast::*;
use super::error::{Errors, Fail, Span};
use super::names::auto_number;
use crate::builder::{Def, FunctionBuilder};
use crate::class::{PhysReg, RegClass};
use crate::entity::{EntityId, EntityVec};
use crate::function::{Block, Function, Region, Symbol, Value};
use crate::op::OpId;
use crate::operand::{default_align, Lane, Operand, OperandFlags};
use std::collections::HashMap;

/// Most lanes of irregular runs and block arguments of one text: what bounds memory on `{%x}` over and over.
pub const MAX_LANES: usize = 1 << 26;

/// A function and where the parts of its text went.
pub(super) struct Resolved {
    pub func: Function,
    /// Final block of each block of the text.
    pub blocks: Vec<Block>,
    /// Instructions of the text, block by block, those of a block in linear order.
    pub sorted: Vec<u32>,
}

struct Resolver<'a, 't> {
    k: &'a KernelAst<'t>,
    errors: &'a mut Errors,
    lanes_left: &'a mut usize,
    b: FunctionBuilder,
    /// Definition of each value label.
    def_of: Vec<u32>,
    /// First provisional value of each definition.
    first: Vec<Value>,
    /// Block of each block label.
    block_of: Vec<u32>,
    ids: Vec<Block>,
    scratch: Vec<Lane>,
}

/// The function of a kernel; `None` when there are errors.
pub(super) fn resolve(k: &KernelAst<'_>, errors: &mut Errors, lanes_left: &mut usize) -> Option<Resolved> {
    let before = errors.len();
    let mut r = Resolver {
        k,
        errors,
        lanes_left,
        b: FunctionBuilder::new(&k.name),
        def_of: vec![NO; k.values.len()],
        first: Vec::with_capacity(k.defs.len()),
        block_of: vec![NO; k.block_labels.len()],
        ids: Vec::with_capacity(k.blocks.len()),
        scratch: Vec::new(),
    };
    r.declare();
    let sorted = r.sort();
    r.check_blocks(&sorted);
    r.fill(&sorted);
    if r.errors.len() == before {
        r.check_reachable();
    }
    if r.errors.len() != before {
        return None;
    }
    let Resolver { b, first, ids, errors, .. } = r;
    match b.finish_mapped() {
        Ok(done) => {
            let mut func = done.func;
            keep_odd_names(&mut func, k, &first, &done.values);
            Some(Resolved { func, blocks: ids.into_iter().map(|b| done.blocks[b]).collect(), sorted })
        }
        Err(e) => {
            errors.push(Fail::new(k.span, e.to_string()));
            None
        }
    }
}

/// Names of the form `v7` whose value is not number 7 are names like any other; known only when values have numbers.
fn keep_odd_names(func: &mut Function, k: &KernelAst<'_>, first: &[Value], map: &EntityVec<Value, Value>) {
    let mut ids: Option<HashMap<Box<str>, Symbol>> = None;
    for (d, &v) in k.defs.iter().zip(first) {
        let name = k.values.name(d.label);
        if d.names.is_some() || k.values.version(d.label) != 0 {
            continue;
        }
        let Some(number) = auto_number(name) else { continue };
        let v = map[v];
        if number == v.0 {
            continue;
        }
        let symbols = &mut func.symbols;
        let ids =
            ids.get_or_insert_with(|| symbols.iter().enumerate().map(|(i, s)| (s.clone(), Symbol::new(i))).collect());
        let id = *ids.entry(name.into()).or_insert_with(|| {
            symbols.push(name.into());
            Symbol::new(symbols.len() - 1)
        });
        if func.names.is_empty() {
            func.names = EntityVec::filled(func.values.len(), Symbol::NONE);
        }
        for lane in 0..d.len as u32 {
            func.names[Value(v.0 + lane)] = id;
        }
    }
}

impl Resolver<'_, '_> {
    /// Regions, blocks and values, so that uses above their definitions find them.
    fn declare(&mut self) {
        let k = self.k;
        self.b.attrs = k.attrs.clone();
        for r in &k.regions[1..] {
            self.b.region(k.region_labels.name(r.label), &r.results);
        }
        for (i, block) in k.blocks.iter().enumerate() {
            let id = self.b.block_in(Region(block.region), k.block_labels.name(block.label));
            if let Some(t) = block.trip {
                self.b.set_trip(id, t);
            }
            self.ids.push(id);
            let slot = &mut self.block_of[block.label as usize];
            if *slot == NO {
                *slot = i as u32;
            } else {
                let other = k.blocks[*slot as usize].span;
                let message = format!("block `{}` is defined twice", k.block_labels.show(block.label));
                self.errors.push(Fail::new(block.span, message).see(other, "first defined"));
            }
        }
        for (i, d) in k.defs.iter().enumerate() {
            let run = self.b.fresh(d.class, d.len as usize);
            self.first.push(run.first);
            let slot = &mut self.def_of[d.label as usize];
            if *slot == NO {
                *slot = i as u32;
            } else {
                let other = k.defs[*slot as usize].span;
                let message = format!("value `%{}` is defined twice", k.values.show(d.label));
                self.errors.push(Fail::new(d.span, message).see(other, "first defined"));
            }
            match d.names {
                Some(names) => {
                    for (lane, name) in k.lane_names[names.range()].iter().enumerate() {
                        if let Some(n) = name {
                            let def = Def { first: Value(run.first.0 + lane as u32), len: 1, align: 1 };
                            self.b.set_name(def, n);
                        }
                    }
                }
                None => {
                    let name = k.values.name(d.label);
                    if k.values.version(d.label) != 0 || auto_number(name).is_none() {
                        self.b.set_name(run, name);
                    }
                }
            }
        }
    }

    /// Instructions in linear order: as in the text, or by their numbers in allocated text.
    fn sort(&mut self) -> Vec<u32> {
        let mut sorted: Vec<u32> = (0..self.k.insts.len() as u32).collect();
        for b in &self.k.blocks {
            sorted[b.insts.range()].sort_by_key(|&i| self.k.insts[i as usize].number);
        }
        sorted
    }

    fn check_blocks(&mut self, sorted: &[u32]) {
        let k = self.k;
        let mut seen = vec![false; k.regions.len()];
        for b in &k.blocks {
            seen[b.region as usize] = true;
            let insts = &sorted[b.insts.range()];
            let ends = |i: u32| k.ops[k.insts[i as usize].op as usize].kind.is_terminator();
            let early = insts.iter().position(|&i| ends(i));
            match early {
                None => {
                    let message = format!("block `{}` has no terminator", k.block_labels.show(b.label));
                    let fail = Fail::new(b.span, message);
                    self.errors.push(fail.hint("a block ends in jump, br, brx, exit_if, EXIT or RET"));
                }
                Some(p) if p + 1 < insts.len() => {
                    let (at, end) = (&k.insts[insts[p + 1] as usize], &k.insts[insts[p] as usize]);
                    let message = format!("block `{}` goes on after its terminator", k.block_labels.show(b.label));
                    self.errors.push(Fail::new(at.span, message).see(end.span, "the terminator stands"));
                }
                _ => {}
            }
        }
        for (r, seen) in k.regions.iter().zip(seen) {
            if !seen {
                let name = k.region_labels.show(r.label);
                let what = if r.span == k.span { "kernel" } else { "region" };
                self.errors.push(Fail::new(r.span, format!("{what} `@{name}` has no block")));
            }
        }
    }

    fn fill(&mut self, sorted: &[u32]) {
        let k = self.k;
        let ops: Vec<OpId> = k
            .ops
            .iter()
            .map(|o| {
                let range = |&(a, b): &(PhysReg, PhysReg)| (a.num..=b.num).map(move |n| PhysReg::new(a.class, n));
                let clobbers: Vec<PhysReg> = o.clobbers.iter().flat_map(range).collect();
                self.b.op_with(&o.mnemonic, &o.constraints, &clobbers)
            })
            .collect();
        let mut defs: Vec<Def> = Vec::new();
        let mut uses: Vec<Operand> = Vec::new();
        let mut args: Vec<Lane> = Vec::new();
        for (bi, block) in k.blocks.iter().enumerate() {
            for p in block.params.range() {
                let def = self.def(p);
                self.b.param_def(self.ids[bi], def);
            }
            self.b.switch_to(self.ids[bi]);
            for &i in &sorted[block.insts.range()] {
                if self.errors.full() {
                    return;
                }
                let inst = &k.insts[i as usize];
                defs.clear();
                defs.extend(inst.defs.range().map(|d| self.def(d)));
                uses.clear();
                for o in &k.operands[inst.operands.range()] {
                    let o = self.operand(o);
                    uses.push(o);
                }
                self.b.set_line(inst.line);
                let op = ops[inst.op as usize];
                if !k.ops[inst.op as usize].kind.is_terminator() {
                    self.b.inst(op, &defs, &uses);
                    continue;
                }
                args.clear();
                let mut ends: Vec<(Block, usize)> = Vec::with_capacity(inst.succs.len());
                for s in &k.succs[inst.succs.range()] {
                    if let Some(to) = self.successor(s, block, &mut args) {
                        ends.push((to, args.len()));
                    }
                }
                self.terminate(op, inst, &defs, &uses, &ends, &args);
            }
        }
    }

    fn terminate(
        &mut self,
        op: OpId,
        inst: &InstAst,
        defs: &[Def],
        uses: &[Operand],
        ends: &[(Block, usize)],
        args: &[Lane],
    ) {
        if !defs.is_empty() {
            self.errors.push(Fail::new(inst.span, "a terminator defines nothing"));
        }
        let mut from = 0;
        let succs: Vec<(Block, &[Lane])> = ends
            .iter()
            .map(|&(to, end)| {
                let part = &args[from..end];
                from = end;
                (to, part)
            })
            .collect();
        self.b.terminate(op, uses, &succs);
    }

    fn def(&self, d: usize) -> Def {
        let ast = &self.k.defs[d];
        let align = if ast.align == 0 { default_align(ast.len as usize) } else { ast.align as u32 };
        Def { first: self.first[d], len: ast.len as usize, align }
    }

    /// The definition that a use names, with its class and length.
    fn find(&mut self, label: LabelId, span: Span) -> Option<(Value, u16, RegClass)> {
        let d = self.def_of[label as usize];
        if d == NO {
            let name = self.k.values.show(label);
            self.errors.push(Fail::new(span, format!("value `%{name}` is never defined")));
            return None;
        }
        let ast = &self.k.defs[d as usize];
        Some((self.first[d as usize], ast.len, ast.class))
    }

    fn find_lane(&mut self, label: LabelId, lane: u32, span: Span) -> Option<(Value, u16, RegClass)> {
        let (first, len, class) = self.find(label, span)?;
        if lane == NO {
            return Some((first, len, class));
        }
        if lane >= len as u32 {
            let name = self.k.values.show(label);
            let lanes = if len == 1 { "1 lane".to_string() } else { format!("{len} lanes") };
            self.errors.push(Fail::new(span, format!("value `%{name}` has {lanes}, there is no lane {lane}")));
            return None;
        }
        Some((Value(first.0 + lane), 1, class))
    }

    /// Appends the lanes that the text names; gives their class, when they have one.
    fn expand(&mut self, l: LaneAst, out: &mut Vec<Lane>) -> Option<RegClass> {
        if l.label == NO {
            self.charge(l.lane as usize, l.span)?;
            out.extend(std::iter::repeat_n(Lane::UNDEF, l.lane as usize));
            return None;
        }
        let (first, len, class) = self.find_lane(l.label, l.lane, l.span)?;
        self.charge(len as usize, l.span)?;
        out.extend((0..len as u32).map(|k| Lane(Value(first.0 + k))));
        Some(class)
    }

    fn charge(&mut self, lanes: usize, span: Span) -> Option<()> {
        match self.lanes_left.checked_sub(lanes) {
            Some(left) => *self.lanes_left = left,
            None => {
                self.errors.push(Fail::new(span, format!("the text has more than {MAX_LANES} lanes")));
                return None;
            }
        }
        Some(())
    }

    fn operand(&mut self, o: &OperandAst) -> Operand {
        let k = self.k;
        let align = |len: usize| if o.align == 0 { default_align(len) } else { o.align as u32 };
        let word = match o.what {
            What::Value { label, lane } => match self.find_lane(label, lane, o.span) {
                Some((first, len, _)) => Operand::run(first, len as usize, align(len as usize)),
                None => Operand::undef(1, 1),
            },
            What::Lanes(part) => {
                let mut lanes = std::mem::take(&mut self.scratch);
                lanes.clear();
                self.gather(part, o.span, &mut lanes);
                let word = self.b.lanes(&lanes, align(lanes.len()));
                self.scratch = lanes;
                word
            }
            What::Undef(n) => Operand::undef(n as usize, align(n as usize)),
            What::Imm(n) => self.b.imm64(n),
            What::Const(bank, offset) => Operand::constant(bank, offset),
            What::Special(s) => self.b.special(&k.strings[s as usize]),
            What::Variable(s) => self.b.symbol_operand(&k.strings[s as usize]),
            What::RegionNumber(n) => Operand::region(Region(n)),
            What::Region(label) => match k.region_of.get(label as usize).copied().filter(|&r| r != NO) {
                Some(r) => Operand::region(Region(r)),
                None => {
                    let name = k.region_labels.show(label);
                    self.errors.push(Fail::new(o.span, format!("no region is called `@{name}`")));
                    Operand::undef(1, 1)
                }
            },
        };
        word.set_flags(OperandFlags(o.flags))
    }

    /// The lanes between braces; a single class and at most 512 of them.
    fn gather(&mut self, part: Part, span: Span, lanes: &mut Vec<Lane>) {
        let k = self.k;
        let mut class: Option<RegClass> = None;
        for &l in &k.lanes[part.range()] {
            let c = self.expand(l, lanes);
            if let (Some(c), Some(first)) = (c, class) {
                if c != first {
                    let message = format!("a lane of class {c} in a run of class {first}");
                    self.errors.push(Fail::new(l.span, message));
                }
            }
            class = class.or(c);
            if lanes.len() > Operand::MAX_LANES {
                let message = format!("a run has at most {} lanes", Operand::MAX_LANES);
                self.errors.push(Fail::new(span, message));
                lanes.clear();
                return;
            }
        }
    }

    fn successor(&mut self, s: &SuccAst, from: &BlockAst, args: &mut Vec<Lane>) -> Option<Block> {
        let k = self.k;
        let name = || k.block_labels.show(s.block);
        let first = args.len();
        let lanes = &k.lanes[s.args.range()];
        let before = self.errors.len();
        for &l in lanes {
            self.expand(l, args);
        }
        let to = self.block_of[s.block as usize];
        if to == NO {
            self.errors.push(Fail::new(s.span, format!("no block is called `{}`", name())));
            return None;
        }
        let target = &k.blocks[to as usize];
        if target.region != from.region {
            let fail = Fail::new(s.span, format!("block `{}` belongs to another region", name()));
            self.errors.push(fail.hint("a region is entered by `call` alone"));
        }
        let want: usize = k.defs[target.params.range()].iter().map(|d| d.len as usize).sum();
        let found = args.len() - first;
        if want != found && self.errors.len() == before {
            let span = lanes.last().map_or(s.span, |l| Span { start: s.span.start, end: l.span.end });
            let message = format!("block `{}` takes {want} argument lanes, {found} given", name());
            self.errors.push(Fail::new(span, message).see(target.span, "the block begins"));
        }
        Some(self.ids[to as usize])
    }

    fn check_reachable(&mut self) {
        let k = self.k;
        let mut seen = vec![false; k.blocks.len()];
        let mut entry = vec![NO; k.regions.len()];
        let mut work = Vec::new();
        for (i, b) in k.blocks.iter().enumerate() {
            if entry[b.region as usize] == NO {
                entry[b.region as usize] = i as u32;
                seen[i] = true;
                work.push(i);
            }
        }
        while let Some(i) = work.pop() {
            for inst in &k.insts[k.blocks[i].insts.range()] {
                for s in &k.succs[inst.succs.range()] {
                    let to = self.block_of[s.block as usize] as usize;
                    if !std::mem::replace(&mut seen[to], true) {
                        work.push(to);
                    }
                }
            }
        }
        for (b, seen) in k.blocks.iter().zip(seen) {
            if !seen {
                let root = k.blocks[entry[b.region as usize] as usize].label;
                let (name, root) = (k.block_labels.show(b.label), k.block_labels.show(root));
                self.errors.push(Fail::new(b.span, format!("block `{name}` cannot be reached from `{root}`")));
            }
        }
    }
}
