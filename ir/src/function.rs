//! A function in SSA form, in canonical order.
//!
//! Invariants that [`crate::builder::FunctionBuilder::finish`] establishes and every analysis relies on:
//! * **Linear order is numeric order.** Blocks are numbered in linear order (reverse post-order with loops, and
//!   irreducible regions, contiguous; blocks that cannot be reached come last within their region), instructions are
//!   numbered block by block, values in the order of their definitions: block parameters before the block's
//!   instructions, lanes in operand order. So "earlier in the program" is an integer comparison.
//! * **Layout order** (text, emission, fall-through) is the separate list [`Function::layout`].
//! * Every instruction lists its definition operands first, then its uses.
//! * The last instruction of a block is its only terminator; the block's edges are its terminator's successors.
//! * Blocks of a region are contiguous; region 0 is the kernel itself.
//!
//! A function is not edited after it is finished: allocation results refer to it and hold what they add.

use crate::class::RegClass;
use crate::entity::{EntityId, EntityVec};
use crate::entity_id;
use crate::op::{OpId, OpKind, OpSig, OpTable};
use crate::operand::{Lane, Operand, OperandKind};
use std::ops::Range;

entity_id!(
    /// A value: one register unit of one class.
    Value,
    "v"
);
entity_id!(
    /// An instruction; its number is its place in linear order.
    Inst,
    "i"
);
entity_id!(
    /// A basic block; its number is its place in linear order.
    Block,
    "b"
);
entity_id!(
    /// A control-flow edge; edges are numbered by source block, then by successor position.
    Edge,
    "e"
);
entity_id!(
    /// A subroutine region; 0 is the kernel itself.
    Region,
    "region"
);
entity_id!(
    /// An interned string: a name, a special register, a variable.
    Symbol,
    "sym"
);

/// An instruction: 16 bytes, operands in the arena.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InstData {
    /// Opcode.
    pub op: OpId,
    pub(crate) first_operand: u32,
    pub(crate) first_value: Value,
    pub(crate) num_operands: u16,
    pub(crate) num_defs: u16,
}

/// Where a value is defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueDef {
    /// By an instruction.
    Inst(Inst),
    /// As a parameter of a block.
    Param(Block),
}

/// A value: class, definition, name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValueData {
    pub(crate) class: RegClass,
    /// Instruction number, or block number with the top bit set.
    pub(crate) def: u32,
}

/// Marks a block in [`ValueData::def`].
pub(crate) const PARAM_BIT: u32 = 1 << 31;

/// A basic block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockData {
    /// Its name in text.
    pub name: Symbol,
    /// The region it belongs to.
    pub region: Region,
    /// Expected trips of the loop that this block heads, when the text says so.
    pub trip: Option<u32>,
    pub(crate) first_param_operand: u32,
    pub(crate) num_param_operands: u32,
    pub(crate) first_param: Value,
    pub(crate) num_params: u32,
    pub(crate) first_inst: u32,
    pub(crate) end_inst: u32,
    pub(crate) first_edge: u32,
    pub(crate) end_edge: u32,
}

/// An edge with the arguments for its target's parameters, one lane a parameter unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EdgeData {
    /// Source block.
    pub from: Block,
    /// Target block.
    pub to: Block,
    pub(crate) first_arg: u32,
    pub(crate) num_args: u32,
}

/// A subroutine region: entered by `call`, left by `RET`; its parameters are those of its entry block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegionData {
    /// Its name; the kernel's own for region 0.
    pub name: Symbol,
    /// First block.
    pub entry: Block,
    pub(crate) end_block: u32,
    /// Class and length of each result run.
    pub results: Vec<(RegClass, u16)>,
}

/// What a kernel declares about itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KernelAttrs {
    /// `.maxntid` dimensions.
    pub maxntid: Option<[u32; 3]>,
    /// `.reqntid` dimensions.
    pub reqntid: Option<[u32; 3]>,
    /// `.minnctapersm`.
    pub minnctapersm: Option<u32>,
    /// `.maxnreg`.
    pub maxnreg: Option<u32>,
    /// Static shared memory in bytes.
    pub static_smem: u32,
    /// Named barriers used.
    pub barriers: u32,
    /// Bytes of local memory that the input itself uses (arrays); spill slots come above it.
    pub stack_frame: u32,
    /// Architecture that the input names (`sm_80`).
    pub target: Option<String>,
}

/// Lines of instructions: 0 means not known.
pub type Line = u32;

/// An SSA function in canonical order; see the head of the file.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Declared attributes.
    pub attrs: KernelAttrs,
    pub(crate) ops: OpTable,
    pub(crate) insts: EntityVec<Inst, InstData>,
    pub(crate) lines: EntityVec<Inst, Line>,
    pub(crate) operands: Vec<Operand>,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) wide_imms: Vec<u64>,
    pub(crate) values: EntityVec<Value, ValueData>,
    /// Name of the run that a value is a lane of; empty when nothing is named.
    pub(crate) names: EntityVec<Value, Symbol>,
    pub(crate) blocks: EntityVec<Block, BlockData>,
    pub(crate) edges: EntityVec<Edge, EdgeData>,
    pub(crate) pred_start: Vec<u32>,
    pub(crate) preds: Vec<Edge>,
    pub(crate) regions: EntityVec<Region, RegionData>,
    pub(crate) layout: Vec<Block>,
    pub(crate) symbols: Vec<Box<str>>,
}

impl Function {
    /// Number of instructions, terminators included.
    pub fn num_insts(&self) -> usize {
        self.insts.len()
    }
    /// Number of values.
    pub fn num_values(&self) -> usize {
        self.values.len()
    }
    /// Number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.blocks.len()
    }
    /// Number of edges.
    pub fn num_edges(&self) -> usize {
        self.edges.len()
    }
    /// All blocks in linear order.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = Block> + ExactSizeIterator + Clone + use<> {
        (0..self.blocks.len()).map(Block::new)
    }
    /// All instructions in linear order.
    pub fn insts(&self) -> impl DoubleEndedIterator<Item = Inst> + ExactSizeIterator + Clone + use<> {
        (0..self.insts.len()).map(Inst::new)
    }
    /// All values in order of definition.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = Value> + ExactSizeIterator + Clone + use<> {
        (0..self.values.len()).map(Value::new)
    }
    /// All edges.
    pub fn edges(&self) -> impl DoubleEndedIterator<Item = Edge> + ExactSizeIterator + Clone + use<> {
        (0..self.edges.len()).map(Edge::new)
    }
    /// All regions; 0 is the kernel.
    pub fn regions(&self) -> impl DoubleEndedIterator<Item = Region> + ExactSizeIterator + Clone + use<> {
        (0..self.regions.len()).map(Region::new)
    }
    /// The data of a block.
    #[inline]
    pub fn block(&self, b: Block) -> &BlockData {
        &self.blocks[b]
    }
    /// The data of a region.
    pub fn region(&self, r: Region) -> &RegionData {
        &self.regions[r]
    }
    /// Blocks of a region, in linear order.
    pub fn region_blocks(
        &self,
        r: Region,
    ) -> impl DoubleEndedIterator<Item = Block> + ExactSizeIterator + Clone + use<> {
        let d = &self.regions[r];
        (d.entry.0..d.end_block).map(Block)
    }
    /// Text order of the blocks.
    pub fn layout(&self) -> &[Block] {
        &self.layout
    }
    /// The entry block of the kernel.
    pub fn entry(&self) -> Block {
        self.regions[Region(0)].entry
    }

    /// Instructions of a block, terminator last.
    #[inline]
    pub fn block_insts(&self, b: Block) -> impl DoubleEndedIterator<Item = Inst> + ExactSizeIterator + Clone + use<> {
        let d = &self.blocks[b];
        (d.first_inst..d.end_inst).map(Inst)
    }
    /// The block's instruction numbers as a range.
    #[inline]
    pub fn block_range(&self, b: Block) -> Range<u32> {
        self.blocks[b].first_inst..self.blocks[b].end_inst
    }
    /// The last instruction of a block.
    pub fn terminator(&self, b: Block) -> Inst {
        Inst(self.blocks[b].end_inst - 1)
    }
    /// The block of an instruction, by binary search.
    pub fn block_of(&self, i: Inst) -> Block {
        let n = self.blocks.as_slice().partition_point(|d| d.end_inst <= i.0);
        Block::new(n)
    }
    /// Parameters of a block, in order.
    #[inline]
    pub fn params(&self, b: Block) -> impl DoubleEndedIterator<Item = Value> + ExactSizeIterator + Clone + use<> {
        let d = &self.blocks[b];
        (d.first_param.0..d.first_param.0 + d.num_params).map(Value)
    }
    /// Parameters of a block as the runs that its text declares.
    pub fn param_operands(&self, b: Block) -> &[Operand] {
        let d = &self.blocks[b];
        let s = d.first_param_operand as usize;
        &self.operands[s..s + d.num_param_operands as usize]
    }
    /// Outgoing edges of a block, in the order of its terminator's successors.
    #[inline]
    pub fn succ_edges(&self, b: Block) -> impl DoubleEndedIterator<Item = Edge> + ExactSizeIterator + Clone + use<> {
        let d = &self.blocks[b];
        (d.first_edge..d.end_edge).map(Edge)
    }
    /// Incoming edges of a block, by number.
    #[inline]
    pub fn pred_edges(&self, b: Block) -> &[Edge] {
        &self.preds[self.pred_start[b.index()] as usize..self.pred_start[b.index() + 1] as usize]
    }
    /// Successor blocks, with repetitions.
    pub fn succs(&self, b: Block) -> impl Iterator<Item = Block> + '_ {
        self.succ_edges(b).map(|e| self.edges[e].to)
    }
    /// Predecessor blocks, with repetitions.
    pub fn preds(&self, b: Block) -> impl Iterator<Item = Block> + '_ {
        self.pred_edges(b).iter().map(|&e| self.edges[e].from)
    }
    /// An edge's ends.
    #[inline]
    pub fn edge(&self, e: Edge) -> EdgeData {
        self.edges[e]
    }
    /// An edge's arguments: one lane for each parameter unit of the target.
    #[inline]
    pub fn edge_args(&self, e: Edge) -> &[Lane] {
        let d = &self.edges[e];
        &self.lanes[d.first_arg as usize..(d.first_arg + d.num_args) as usize]
    }

    /// Opcode signature of an instruction.
    #[inline]
    pub fn sig(&self, i: Inst) -> &OpSig {
        self.ops.get(self.insts[i].op)
    }
    /// Opcode number of an instruction.
    #[inline]
    pub fn op(&self, i: Inst) -> OpId {
        self.insts[i].op
    }
    /// The opcode table.
    pub fn ops(&self) -> &OpTable {
        &self.ops
    }
    /// Control shape of an instruction.
    #[inline]
    pub fn kind(&self, i: Inst) -> OpKind {
        self.sig(i).props.kind
    }
    /// All operands of an instruction: definitions, then uses.
    #[inline]
    pub fn operands(&self, i: Inst) -> &[Operand] {
        let d = &self.insts[i];
        &self.operands[d.first_operand as usize..d.first_operand as usize + d.num_operands as usize]
    }
    /// Number of definition operands of an instruction.
    #[inline]
    pub fn num_defs(&self, i: Inst) -> usize {
        self.insts[i].num_defs as usize
    }
    /// Definition operands.
    #[inline]
    pub fn defs(&self, i: Inst) -> &[Operand] {
        &self.operands(i)[..self.num_defs(i)]
    }
    /// Use operands; operand index = position + [`Function::num_defs`].
    #[inline]
    pub fn uses(&self, i: Inst) -> &[Operand] {
        &self.operands(i)[self.num_defs(i)..]
    }
    /// The values that an instruction defines, all lanes of all definitions, consecutive.
    #[inline]
    pub fn def_values(&self, i: Inst) -> impl DoubleEndedIterator<Item = Value> + ExactSizeIterator + Clone + use<> {
        let first = self.insts[i].first_value.0;
        let n: usize = self.defs(i).iter().map(|o| o.len()).sum();
        (first..first + n as u32).map(Value)
    }
    /// Lane `k` of an operand.
    #[inline]
    pub fn lane(&self, o: Operand, k: usize) -> Lane {
        debug_assert!(k < o.len());
        match o.kind() {
            OperandKind::Run => Lane(Value(o.payload() + k as u32)),
            OperandKind::Lanes => self.lanes[o.payload() as usize + k],
            _ => Lane::UNDEF,
        }
    }
    /// All lanes of an operand; empty for anything but a run.
    #[inline]
    pub fn lanes(&self, o: Operand) -> impl DoubleEndedIterator<Item = Lane> + ExactSizeIterator + Clone + '_ {
        (0..o.len()).map(move |k| self.lane(o, k))
    }
    /// The values that an instruction reads, with repetitions, in operand order; undefined lanes are left out.
    #[inline]
    pub fn use_values(&self, i: Inst) -> impl Iterator<Item = Value> + Clone + '_ {
        self.uses(i).iter().flat_map(move |&o| self.lanes(o)).filter_map(Lane::value)
    }
    /// Number of operand lanes of an instruction, definitions and uses together.
    pub fn num_lanes(&self, i: Inst) -> usize {
        self.operands(i).iter().map(|o| o.len()).sum()
    }
    /// The bits of an immediate operand, 32-bit ones zero-extended.
    pub fn imm(&self, o: Operand) -> Option<u64> {
        match o.kind() {
            OperandKind::Imm => Some(o.payload() as u64),
            OperandKind::WideImm => Some(self.wide_imms[o.payload() as usize]),
            _ => None,
        }
    }
    /// Source line of an instruction, 0 when not known.
    pub fn line(&self, i: Inst) -> Line {
        self.lines[i]
    }

    /// Class of a value.
    #[inline]
    pub fn class(&self, v: Value) -> RegClass {
        self.values[v].class
    }
    /// Where a value is defined.
    #[inline]
    pub fn def(&self, v: Value) -> ValueDef {
        let d = self.values[v].def;
        if d & PARAM_BIT == 0 {
            ValueDef::Inst(Inst(d))
        } else {
            ValueDef::Param(Block(d & !PARAM_BIT))
        }
    }
    /// The block that a value is defined in.
    pub fn def_block(&self, v: Value) -> Block {
        match self.def(v) {
            ValueDef::Inst(i) => self.block_of(i),
            ValueDef::Param(b) => b,
        }
    }
    /// The definition operand that a value is a lane of, and its lane.
    pub fn def_operand(&self, v: Value) -> (Operand, usize) {
        let list = match self.def(v) {
            ValueDef::Inst(i) => self.defs(i),
            ValueDef::Param(b) => self.param_operands(b),
        };
        let o = list
            .iter()
            .copied()
            .find(|o| (o.payload()..o.payload() + o.len() as u32).contains(&v.0))
            .expect("a value is a lane of a definition operand");
        (o, (v.0 - o.payload()) as usize)
    }
    /// Name of the run that a value belongs to, when it has one.
    pub fn run_name(&self, v: Value) -> Option<&str> {
        self.names.get(v).and_then(|s| s.some()).map(|s| self.symbol(s))
    }
    /// A value as its text writes it: `%name`, `%name.lane` for a lane of a wider run, `%v7` when it has no name.
    pub fn value_name(&self, v: Value) -> String {
        let (o, lane) = self.def_operand(v);
        match (self.run_name(v), o.len()) {
            (Some(n), 1) => format!("%{n}"),
            (Some(n), _) => format!("%{n}.{lane}"),
            (None, 1) => format!("%v{}", v.0),
            (None, _) => format!("%v{}.{lane}", o.payload()),
        }
    }
    /// The text of a symbol.
    pub fn symbol(&self, s: Symbol) -> &str {
        &self.symbols[s.index()]
    }
    /// The name of a block.
    pub fn block_name(&self, b: Block) -> &str {
        self.symbol(self.blocks[b].name)
    }
    /// The name behind a `Special` or `Symbol` operand.
    pub fn operand_symbol(&self, o: Operand) -> Option<&str> {
        matches!(o.kind(), OperandKind::Special | OperandKind::Symbol).then(|| self.symbol(Symbol(o.payload())))
    }
    /// The region that a `Region` operand names.
    pub fn operand_region(&self, o: Operand) -> Option<Region> {
        (o.kind() == OperandKind::Region).then(|| Region(o.payload()))
    }
    /// The region that a call instruction enters.
    pub fn callee(&self, i: Inst) -> Option<Region> {
        self.uses(i).iter().find_map(|&o| self.operand_region(o))
    }
}
