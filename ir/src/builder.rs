//! Making functions: blocks and instructions in any order, canonical form at the end.
//!
//! While building, values and blocks have provisional numbers; [`FunctionBuilder::finish`] lays the blocks out in
//! linear order, renumbers everything and returns the function with the maps from provisional to final numbers.
//! It refuses what has no canonical form (no terminator, a used value that is never defined, wrong numbers of
//! successors); everything else is the verifier's business.

use crate::class::{PhysReg, RegClass};
use crate::entity::{EntityId, EntityVec};
use crate::function::*;
use crate::op::{Constraint, OpId, OpTable};
use crate::operand::{default_align, Lane, Operand, OperandKind};
use crate::order::{linear_order, Graph};
use std::collections::HashMap;
use thiserror::Error;

/// Why a function has no canonical form.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BuildError {
    /// The function has no block.
    #[error("the function has no block")]
    NoBlock,
    /// A block does not end in a terminator.
    #[error("block `{0}` has no terminator")]
    Unterminated(String),
    /// An instruction follows a terminator.
    #[error("block `{0}` goes on after its terminator")]
    AfterTerminator(String),
    /// A terminator has the wrong number of successors.
    #[error("the terminator of block `{block}` has {found} successors, but `{mnemonic}` takes {expected}")]
    Successors {
        /// The block.
        block: String,
        /// The terminator's mnemonic.
        mnemonic: String,
        /// Successors given.
        found: usize,
        /// What the opcode takes.
        expected: String,
    },
    /// A value is used and never defined.
    #[error("value `{0}` is used but never defined")]
    Undefined(String),
    /// A value has two definitions.
    #[error("value `{0}` is defined twice")]
    Redefined(String),
    /// Control passes from one region into another without a call.
    #[error("block `{from}` branches into another region, to `{to}`")]
    CrossRegion {
        /// Source block.
        from: String,
        /// Target block.
        to: String,
    },
    /// A region has no block.
    #[error("region `{0}` has no block")]
    EmptyRegion(String),
    /// Blocks that no path from their region's entry reaches.
    #[error("block `{}` cannot be reached", .0.join("`, `"))]
    Unreachable(Vec<String>),
}

/// A definition to be made: a run of fresh values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Def {
    /// First value of the run.
    pub first: Value,
    /// Lanes.
    pub len: usize,
    /// Alignment of the run.
    pub align: u32,
}

#[derive(Clone, Copy)]
struct RawValue {
    class: RegClass,
    defined: bool,
    name: Symbol,
}

#[derive(Clone)]
struct RawBlock {
    name: Symbol,
    region: Region,
    trip: Option<u32>,
    params: Vec<Operand>,
    insts: Vec<u32>,
    succs: Vec<(Block, u32, u32)>,
    terminated: bool,
    overrun: bool,
}

struct RawRegion {
    name: Symbol,
    entry: Option<Block>,
    results: Vec<(RegClass, u16)>,
}

#[derive(Clone, Copy)]
struct RawInst {
    op: OpId,
    first_operand: u32,
    num_operands: u16,
    num_defs: u16,
    line: Line,
}

/// A finished function and where the builder's numbers went.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The function.
    pub func: Function,
    /// Final value of each provisional one; `Value::NONE` for one that was never defined.
    pub values: EntityVec<Value, Value>,
    /// Final block of each provisional one.
    pub blocks: EntityVec<Block, Block>,
}

/// Builds one [`Function`].
pub struct FunctionBuilder {
    name: String,
    /// Declared attributes of the result.
    pub attrs: KernelAttrs,
    ops: OpTable,
    values: EntityVec<Value, RawValue>,
    blocks: EntityVec<Block, RawBlock>,
    regions: Vec<RawRegion>,
    insts: Vec<RawInst>,
    operands: Vec<Operand>,
    lanes: Vec<Lane>,
    wide_imms: Vec<u64>,
    symbols: Vec<Box<str>>,
    symbol_ids: HashMap<Box<str>, Symbol>,
    current: Block,
    line: Line,
    redefined: Option<Value>,
    named: bool,
}

impl FunctionBuilder {
    /// A builder for a function called `name`, with the kernel region and no block.
    pub fn new(name: &str) -> Self {
        let mut b = Self {
            name: name.to_string(),
            attrs: KernelAttrs::default(),
            ops: OpTable::default(),
            values: EntityVec::new(),
            blocks: EntityVec::new(),
            regions: Vec::new(),
            insts: Vec::new(),
            operands: Vec::new(),
            lanes: Vec::new(),
            wide_imms: Vec::new(),
            symbols: Vec::new(),
            symbol_ids: HashMap::new(),
            current: Block::NONE,
            line: 0,
            redefined: None,
            named: false,
        };
        let sym = b.symbol(name);
        b.regions.push(RawRegion { name: sym, entry: None, results: Vec::new() });
        b
    }

    /// Interns a string.
    pub fn symbol(&mut self, s: &str) -> Symbol {
        if let Some(&id) = self.symbol_ids.get(s) {
            return id;
        }
        let id = Symbol::new(self.symbols.len());
        self.symbols.push(s.into());
        self.symbol_ids.insert(s.into(), id);
        id
    }

    /// Adds a subroutine region with these results; its first block is its entry.
    pub fn region(&mut self, name: &str, results: &[(RegClass, u16)]) -> Region {
        let sym = self.symbol(name);
        self.regions.push(RawRegion { name: sym, entry: None, results: results.to_vec() });
        Region::new(self.regions.len() - 1)
    }

    /// Adds a block to the kernel; blocks are laid out in the order they are added.
    pub fn block(&mut self, name: &str) -> Block {
        self.block_in(Region(0), name)
    }

    /// Adds a block to a region.
    pub fn block_in(&mut self, region: Region, name: &str) -> Block {
        let name = self.symbol(name);
        let id = self.blocks.push(RawBlock {
            name,
            region,
            trip: None,
            params: Vec::new(),
            insts: Vec::new(),
            succs: Vec::new(),
            terminated: false,
            overrun: false,
        });
        let entry = &mut self.regions[region.index()].entry;
        if entry.is_none() {
            *entry = Some(id);
        }
        id
    }

    /// Expected trips of the loop headed by `b`.
    pub fn set_trip(&mut self, b: Block, trip: u32) {
        self.blocks[b].trip = Some(trip);
    }

    /// Instructions that follow go to the end of `b`.
    pub fn switch_to(&mut self, b: Block) {
        self.current = b;
    }

    /// The block that instructions go to.
    pub fn current(&self) -> Block {
        self.current
    }

    /// True when `b` has its terminator.
    pub fn is_terminated(&self, b: Block) -> bool {
        self.blocks[b].terminated
    }

    /// Source line of the instructions that follow.
    pub fn set_line(&mut self, line: Line) {
        self.line = line;
    }

    /// A run of `len` values of a class, not yet defined: for forward references. Its alignment is the default one.
    pub fn fresh(&mut self, class: RegClass, len: usize) -> Def {
        let first = Value::new(self.values.len());
        for _ in 0..len {
            self.values.push(RawValue { class, defined: false, name: Symbol::NONE });
        }
        Def { first, len, align: default_align(len) }
    }

    /// Names a run of values.
    pub fn set_name(&mut self, def: Def, name: &str) {
        let s = self.symbol(name);
        self.named = true;
        for k in 0..def.len {
            self.values[Value(def.first.0 + k as u32)].name = s;
        }
    }

    /// Class of a provisional value.
    pub fn class(&self, v: Value) -> RegClass {
        self.values[v].class
    }

    fn define(&mut self, def: Def) -> Operand {
        for k in 0..def.len {
            let v = Value(def.first.0 + k as u32);
            if self.values[v].defined && self.redefined.is_none() {
                self.redefined = Some(v);
            }
            self.values[v].defined = true;
        }
        Operand::run(def.first, def.len, def.align)
    }

    /// Adds a fresh run as parameters of a block.
    pub fn param(&mut self, b: Block, class: RegClass, len: usize) -> Def {
        let def = Def { align: 1, ..self.fresh(class, len) };
        self.param_def(b, def);
        def
    }

    /// Makes an existing run parameters of a block. Parameters are single units: the run has no alignment.
    pub fn param_def(&mut self, b: Block, def: Def) {
        let o = self.define(Def { align: 1, ..def });
        self.blocks[b].params.push(o);
    }

    /// Interns an opcode without constraints.
    pub fn op(&mut self, mnemonic: &str) -> OpId {
        self.ops.intern(mnemonic)
    }

    /// Interns an opcode with constraints by operand index and clobbers.
    pub fn op_with(&mut self, mnemonic: &str, constraints: &[(u16, Constraint)], clobbers: &[PhysReg]) -> OpId {
        self.ops.intern_with(mnemonic, constraints, clobbers)
    }

    /// The opcode table so far.
    pub fn ops(&self) -> &OpTable {
        &self.ops
    }

    /// A run operand of given lanes, with an alignment.
    pub fn lanes(&mut self, lanes: &[Lane], align: u32) -> Operand {
        if lanes.iter().all(|l| l.value().is_none()) {
            return Operand::undef(lanes.len(), align);
        }
        if let Some(first) = consecutive(lanes) {
            return Operand::run(first, lanes.len(), align);
        }
        let start = self.lanes.len() as u32;
        self.lanes.extend_from_slice(lanes);
        Operand::lanes(start, lanes.len(), align)
    }

    /// A whole run as an operand, with its own alignment.
    pub fn run(&self, def: Def) -> Operand {
        Operand::run(def.first, def.len, def.align)
    }

    /// An immediate of any width.
    pub fn imm64(&mut self, bits: u64) -> Operand {
        if let Ok(b) = u32::try_from(bits) {
            return Operand::imm(b);
        }
        self.wide_imms.push(bits);
        Operand::wide_imm(self.wide_imms.len() as u32 - 1)
    }

    /// A special register by name.
    pub fn special(&mut self, name: &str) -> Operand {
        let s = self.symbol(name);
        Operand::special(s.0)
    }

    /// The address of a variable by name.
    pub fn symbol_operand(&mut self, name: &str) -> Operand {
        let s = self.symbol(name);
        Operand::symbol(s.0)
    }

    /// Appends an instruction that defines existing runs.
    pub fn inst(&mut self, op: OpId, defs: &[Def], uses: &[Operand]) {
        let first_operand = self.operands.len() as u32;
        for &d in defs {
            let o = self.define(d);
            self.operands.push(o);
        }
        self.operands.extend_from_slice(uses);
        let id = self.insts.len() as u32;
        self.insts.push(RawInst {
            op,
            first_operand,
            num_operands: u16::try_from(defs.len() + uses.len()).expect("an instruction has at most 65535 operands"),
            num_defs: defs.len() as u16,
            line: self.line,
        });
        let b = &mut self.blocks[self.current];
        b.overrun |= b.terminated;
        b.insts.push(id);
    }

    /// Appends an instruction with one fresh run as its definition.
    pub fn inst1(&mut self, op: OpId, class: RegClass, len: usize, uses: &[Operand]) -> Def {
        let d = self.fresh(class, len);
        self.inst(op, &[d], uses);
        d
    }

    /// Appends a terminator with its successors and their arguments.
    pub fn terminate(&mut self, op: OpId, uses: &[Operand], succs: &[(Block, &[Lane])]) {
        self.inst(op, &[], uses);
        let mut list = Vec::with_capacity(succs.len());
        for &(to, args) in succs {
            let start = self.lanes.len() as u32;
            self.lanes.extend_from_slice(args);
            list.push((to, start, args.len() as u32));
        }
        let b = &mut self.blocks[self.current];
        b.succs = list;
        b.terminated = true;
    }

    /// `jump to(args)`.
    pub fn jump(&mut self, to: Block, args: &[Lane]) {
        let op = self.op("jump");
        self.terminate(op, &[], &[(to, args)]);
    }

    /// `br pred, taken(args), otherwise(args)`.
    pub fn branch(&mut self, pred: Operand, taken: (Block, &[Lane]), otherwise: (Block, &[Lane])) {
        let op = self.op("br");
        self.terminate(op, &[pred], &[taken, otherwise]);
    }

    /// `EXIT`.
    pub fn exit(&mut self) {
        let op = self.op("EXIT");
        self.terminate(op, &[], &[]);
    }

    fn block_name(&self, b: Block) -> String {
        self.symbols[self.blocks[b].name.index()].to_string()
    }

    fn value_name(&self, v: Value) -> String {
        match self.values[v].name.some() {
            Some(s) => format!("%{}", self.symbols[s.index()]),
            None => format!("%v{}", v.0),
        }
    }

    fn check(&self) -> Result<(), BuildError> {
        if self.blocks.is_empty() {
            return Err(BuildError::NoBlock);
        }
        for RawRegion { name, entry, .. } in &self.regions {
            if entry.is_none() {
                return Err(BuildError::EmptyRegion(self.symbols[name.index()].to_string()));
            }
        }
        if let Some(v) = self.redefined {
            return Err(BuildError::Redefined(self.value_name(v)));
        }
        for (b, data) in self.blocks.iter() {
            if !data.terminated || data.insts.is_empty() {
                return Err(BuildError::Unterminated(self.block_name(b)));
            }
            let inner = &data.insts[..data.insts.len() - 1];
            let kind = |i: u32| self.ops.get(self.insts[i as usize].op).props.kind;
            if data.overrun || inner.iter().any(|&i| kind(i).is_terminator()) {
                return Err(BuildError::AfterTerminator(self.block_name(b)));
            }
            let last = *data.insts.last().expect("checked above");
            let sig = self.ops.get(self.insts[last as usize].op);
            if !sig.props.kind.is_terminator() {
                return Err(BuildError::Unterminated(self.block_name(b)));
            }
            let ok = match sig.props.kind.successors() {
                Some(n) => data.succs.len() == n,
                None => !data.succs.is_empty(),
            };
            if !ok {
                return Err(BuildError::Successors {
                    block: self.block_name(b),
                    mnemonic: sig.mnemonic.to_string(),
                    found: data.succs.len(),
                    expected: sig.props.kind.successors().map_or("at least 1".into(), |n| n.to_string()),
                });
            }
            for &(to, _, _) in &data.succs {
                if self.blocks[to].region != data.region {
                    return Err(BuildError::CrossRegion { from: self.block_name(b), to: self.block_name(to) });
                }
            }
        }
        Ok(())
    }

    /// Blocks in linear order, region by region.
    fn order(&self) -> Result<Vec<Block>, BuildError> {
        let n = self.blocks.len();
        let mut start = vec![0u32; n + 1];
        let mut succ = Vec::new();
        for (b, d) in self.blocks.iter() {
            succ.extend(d.succs.iter().map(|s| s.0 .0));
            start[b.index() + 1] = succ.len() as u32;
        }
        let graph = Graph { start: &start, succ: &succ };
        let mut order = Vec::with_capacity(n);
        for RawRegion { entry, .. } in &self.regions {
            let entry = entry.expect("checked before");
            order.extend(linear_order(&graph, entry.0).order.into_iter().map(Block));
        }
        if order.len() != n {
            let mut seen = vec![false; n];
            order.iter().for_each(|b| seen[b.index()] = true);
            let lost = self.blocks.ids().filter(|b| !seen[b.index()]).map(|b| self.block_name(b)).collect();
            return Err(BuildError::Unreachable(lost));
        }
        Ok(order)
    }

    /// Takes out the blocks that no path from their region's entry reaches and returns their names.
    pub fn prune_unreachable(&mut self) -> Vec<String> {
        let mut seen = vec![false; self.blocks.len()];
        let mut work: Vec<Block> = self.regions.iter().filter_map(|r| r.entry).collect();
        work.iter().for_each(|b| seen[b.index()] = true);
        while let Some(b) = work.pop() {
            for &(to, _, _) in &self.blocks[b].succs {
                if !std::mem::replace(&mut seen[to.index()], true) {
                    work.push(to);
                }
            }
        }
        if seen.iter().all(|&s| s) {
            return Vec::new();
        }
        let mut lost = Vec::new();
        let mut map = vec![Block::NONE; seen.len()];
        let mut kept = EntityVec::new();
        for (b, d) in self.blocks.iter() {
            if seen[b.index()] {
                map[b.index()] = kept.push(d.clone());
            } else {
                lost.push(self.block_name(b));
            }
        }
        for d in kept.as_mut_slice() {
            for s in &mut d.succs {
                s.0 = map[s.0.index()];
            }
        }
        for r in &mut self.regions {
            r.entry = r.entry.map(|b| map[b.index()]);
        }
        self.blocks = kept;
        lost
    }

    /// The canonical function.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn finish(self) -> Result<Function, BuildError> {
        self.finish_mapped().map(|f| f.func)
    }

    /// The canonical function, with the maps from the builder's numbers to its own.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn finish_mapped(mut self) -> Result<Finished, BuildError> {
        self.check()?;
        let order = self.order()?;
        let mut block_map = EntityVec::filled(self.blocks.len(), Block::NONE);
        for (i, &b) in order.iter().enumerate() {
            block_map[b] = Block::new(i);
        }
        let value_map = self.number_values(&order);
        let mut out = Function {
            name: std::mem::take(&mut self.name),
            attrs: std::mem::take(&mut self.attrs),
            ops: std::mem::take(&mut self.ops),
            insts: EntityVec::with_capacity(self.insts.len()),
            lines: EntityVec::with_capacity(self.insts.len()),
            operands: Vec::with_capacity(self.operands.len()),
            lanes: Vec::new(),
            wide_imms: std::mem::take(&mut self.wide_imms),
            values: EntityVec::with_capacity(self.values.len()),
            names: EntityVec::new(),
            blocks: EntityVec::with_capacity(order.len()),
            edges: EntityVec::new(),
            pred_start: Vec::new(),
            preds: Vec::new(),
            regions: EntityVec::new(),
            layout: block_map.values().copied().collect(),
            symbols: std::mem::take(&mut self.symbols),
        };
        let mut cx = Renumber { values: &value_map, old_lanes: &self.lanes, undefined: None };
        for &b in &order {
            emit_block(&mut out, &self, b, &block_map, &mut cx);
        }
        if let Some(v) = cx.undefined {
            let name = match self.values[v].name.some() {
                Some(s) => format!("%{}", out.symbols[s.index()]),
                None => format!("%v{}", v.0),
            };
            return Err(BuildError::Undefined(name));
        }
        if self.named {
            out.names = EntityVec::filled(out.values.len(), Symbol::NONE);
            for (old, &new) in value_map.iter() {
                if !new.is_none() {
                    out.names[new] = self.values[old].name;
                }
            }
        }
        link_preds(&mut out);
        for RawRegion { name, entry, results } in &self.regions {
            let entry = block_map[entry.expect("checked before")];
            let region = Region::new(out.regions.len());
            let end = (entry.index()..out.blocks.len())
                .find(|&b| out.blocks[Block::new(b)].region != region)
                .unwrap_or(out.blocks.len());
            out.regions.push(RegionData { name: *name, entry, end_block: end as u32, results: results.clone() });
        }
        Ok(Finished { func: out, values: value_map, blocks: block_map })
    }

    /// Final numbers of all defined values, in linear order.
    fn number_values(&self, order: &[Block]) -> EntityVec<Value, Value> {
        let mut map = EntityVec::filled(self.values.len(), Value::NONE);
        let mut next = 0u32;
        let mut number = |o: &Operand| {
            for k in 0..o.len() as u32 {
                map[Value(o.payload() + k)] = Value(next);
                next += 1;
            }
        };
        for &b in order {
            let d = &self.blocks[b];
            d.params.iter().for_each(&mut number);
            for &i in &d.insts {
                let inst = &self.insts[i as usize];
                let s = inst.first_operand as usize;
                self.operands[s..s + inst.num_defs as usize].iter().for_each(&mut number);
            }
        }
        map
    }
}

struct Renumber<'a> {
    values: &'a EntityVec<Value, Value>,
    old_lanes: &'a [Lane],
    undefined: Option<Value>,
}

impl Renumber<'_> {
    fn lane(&mut self, l: Lane) -> Lane {
        match l.value() {
            None => l,
            Some(v) => {
                let new = self.values[v];
                if new.is_none() && self.undefined.is_none() {
                    self.undefined = Some(v);
                }
                Lane(new)
            }
        }
    }

    fn operand(&mut self, o: Operand, lanes: &mut Vec<Lane>) -> Operand {
        match o.kind() {
            OperandKind::Run if o.len() == 1 => o.with_payload(self.lane(Lane(Value(o.payload()))).0 .0),
            OperandKind::Run | OperandKind::Lanes => {
                let start = lanes.len();
                for k in 0..o.len() {
                    let old = match o.kind() {
                        OperandKind::Run => Lane(Value(o.payload() + k as u32)),
                        _ => self.old_lanes[o.payload() as usize + k],
                    };
                    let new = self.lane(old);
                    lanes.push(new);
                }
                let fixed = match consecutive(&lanes[start..]) {
                    Some(first) => {
                        lanes.truncate(start);
                        Operand::run(first, o.len(), o.align())
                    }
                    None => Operand::lanes(start as u32, o.len(), o.align()),
                };
                fixed.set_flags(o.flags())
            }
            _ => o,
        }
    }
}

/// The first value of lanes that are numbered consecutively.
fn consecutive(lanes: &[Lane]) -> Option<Value> {
    let first = lanes.first()?.value()?;
    lanes.iter().enumerate().all(|(k, l)| l.value() == Some(Value(first.0 + k as u32))).then_some(first)
}

fn emit_block(
    out: &mut Function,
    raw: &FunctionBuilder,
    b: Block,
    block_map: &EntityVec<Block, Block>,
    cx: &mut Renumber<'_>,
) {
    let d = &raw.blocks[b];
    let id = Block::new(out.blocks.len());
    let first_param = Value::new(out.values.len());
    let first_param_operand = out.operands.len() as u32;
    for &p in &d.params {
        let o = cx.operand(p, &mut out.lanes);
        out.operands.push(o);
        for k in 0..p.len() as u32 {
            let class = raw.values[Value(p.payload() + k)].class;
            out.values.push(ValueData { class, def: id.0 | PARAM_BIT });
        }
    }
    let num_params = out.values.len() as u32 - first_param.0;
    let first_inst = out.insts.len() as u32;
    for &i in &d.insts {
        let r = raw.insts[i as usize];
        let inst = Inst::new(out.insts.len());
        let first_operand = out.operands.len() as u32;
        let first_value = Value::new(out.values.len());
        let words = &raw.operands[r.first_operand as usize..r.first_operand as usize + r.num_operands as usize];
        for (k, &w) in words.iter().enumerate() {
            let o = cx.operand(w, &mut out.lanes);
            out.operands.push(o);
            if k < r.num_defs as usize {
                for lane in 0..w.len() as u32 {
                    let class = raw.values[Value(w.payload() + lane)].class;
                    out.values.push(ValueData { class, def: inst.0 });
                }
            }
        }
        out.insts.push(InstData {
            op: r.op,
            first_operand,
            first_value,
            num_operands: r.num_operands,
            num_defs: r.num_defs,
        });
        out.lines.push(r.line);
    }
    let first_edge = out.edges.len() as u32;
    for &(to, start, len) in &d.succs {
        let first_arg = out.lanes.len() as u32;
        for k in 0..len {
            let l = cx.lane(raw.lanes[(start + k) as usize]);
            out.lanes.push(l);
        }
        out.edges.push(EdgeData { from: id, to: block_map[to], first_arg, num_args: len });
    }
    out.blocks.push(BlockData {
        name: d.name,
        region: d.region,
        trip: d.trip,
        first_param_operand,
        num_param_operands: d.params.len() as u32,
        first_param,
        num_params,
        first_inst,
        end_inst: out.insts.len() as u32,
        first_edge,
        end_edge: out.edges.len() as u32,
    });
}

fn link_preds(out: &mut Function) {
    let n = out.blocks.len();
    let mut start = vec![0u32; n + 1];
    for e in out.edges.values() {
        start[e.to.index() + 1] += 1;
    }
    for i in 0..n {
        start[i + 1] += start[i];
    }
    let mut at = start.clone();
    let mut preds = vec![Edge::NONE; out.edges.len()];
    for (id, e) in out.edges.iter() {
        preds[at[e.to.index()] as usize] = id;
        at[e.to.index()] += 1;
    }
    out.pred_start = start;
    out.preds = preds;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_values_are_renumbered_in_linear_order() {
        let mut b = FunctionBuilder::new("k");
        let entry = b.block("entry");
        let exit = b.block("exit");
        let body = b.block("body");
        let op = b.op("MOV");
        b.switch_to(entry);
        let x = b.inst1(op, RegClass::R, 1, &[Operand::imm(1)]);
        b.jump(body, &[Lane(x.first)]);
        b.switch_to(exit);
        b.exit();
        b.switch_to(body);
        let p = b.param(body, RegClass::R, 1);
        let q = b.inst1(op, RegClass::R, 2, &[Operand::value(p.first)]);
        let run = b.lanes(&[Lane(p.first), Lane(q.first)], 2);
        b.inst(op, &[], &[run]);
        let br = b.op("br");
        let cond = b.inst1(op, RegClass::P, 1, &[]);
        b.terminate(br, &[Operand::value(cond.first)], &[(body, &[Lane::UNDEF]), (exit, &[])]);
        let f = b.finish_mapped().unwrap();
        let func = &f.func;
        assert_eq!(func.layout(), [Block(0), Block(2), Block(1)]);
        assert_eq!(func.block_name(Block(1)), "body");
        assert_eq!(f.values[p.first], Value(1));
        // The lanes p, q.0 became consecutive numbers, so the run is a plain one.
        assert_eq!(func.uses(Inst(3))[0].kind(), OperandKind::Run);
        assert_eq!(func.pred_edges(Block(1)).len(), 2);
        assert_eq!(func.edge_args(Edge(1)), [Lane::UNDEF]);
        assert_eq!(func.def(Value(1)), ValueDef::Param(Block(1)));
        assert_eq!(func.block_of(Inst(2)), Block(1));
        assert_eq!(func.value_name(Value(3)), "%v2.1");
    }

    #[test]
    fn what_has_no_canonical_form_is_refused() {
        let mut b = FunctionBuilder::new("k");
        let e = b.block("entry");
        b.switch_to(e);
        let v = b.fresh(RegClass::R, 1);
        let op = b.op("MOV");
        b.inst(op, &[], &[Operand::value(v.first)]);
        b.exit();
        assert_eq!(b.finish().unwrap_err(), BuildError::Undefined("%v0".into()));

        let mut b = FunctionBuilder::new("k");
        b.block("entry");
        assert_eq!(b.finish().unwrap_err(), BuildError::Unterminated("entry".into()));

        let mut b = FunctionBuilder::new("k");
        let e = b.block("entry");
        let lost = b.block("lost");
        b.switch_to(e);
        b.exit();
        b.switch_to(lost);
        b.exit();
        assert_eq!(b.prune_unreachable(), ["lost"]);
        assert_eq!(b.finish().unwrap().num_blocks(), 1);
    }
}
