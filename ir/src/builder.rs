//! Making functions: blocks and instructions in any order, canonical form at the end.
//!
//! While building, values and blocks have provisional numbers; [`FunctionBuilder::finish`] lays the blocks out in
//! linear order, renumbers everything and returns the function with the maps from provisional to final numbers.
//! It refuses what has no canonical form (no terminator, a used value that is never defined, wrong numbers of
//! successors); everything else is the verifier's business.

mod finish;

use crate::class::{PhysReg, RegClass};
use crate::entity::{EntityId, EntityVec};
use crate::function::*;
use crate::op::{Constraint, OpId, OpTable};
use crate::operand::{default_align, Lane, Operand};
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
}

/// The first value of lanes that are numbered consecutively.
fn consecutive(lanes: &[Lane]) -> Option<Value> {
    let first = lanes.first()?.value()?;
    lanes.iter().enumerate().all(|(k, l)| l.value() == Some(Value(first.0 + k as u32))).then_some(first)
}

#[cfg(test)]
mod tests;
