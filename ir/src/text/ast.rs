//! What a text says, before names are resolved: flat arrays with spans, one kernel at a time.
//!
//! Text is in layout order, so a use may stand above its definition; the whole kernel is read into these arrays first
//! and resolved in one more pass ([`super::resolve`]). Names are interned as they are met; a [`LabelId`] says nothing
//! about whether the thing is defined.

use super::error::Span;
use crate::assigned::{Edit, Loc, Side};
use crate::class::{PhysReg, RegClass};
use crate::function::KernelAttrs;
use crate::op::{Constraint, OpKind};
use std::borrow::Cow;
use std::collections::HashMap;

/// An interned name with its version.
pub(super) type LabelId = u32;
/// No such thing.
pub(super) const NO: u32 = u32::MAX;

/// A part of one of the arrays.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    pub start: u32,
    pub end: u32,
}

impl Part {
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }
}

/// Names of one kind, in order of first mention.
#[derive(Default)]
pub(super) struct Labels<'t> {
    map: HashMap<(Cow<'t, str>, u32), LabelId>,
    list: Vec<(Cow<'t, str>, u32)>,
}

impl<'t> Labels<'t> {
    pub fn intern(&mut self, name: Cow<'t, str>, version: u32) -> LabelId {
        use std::collections::hash_map::Entry;
        match self.map.entry((name, version)) {
            Entry::Occupied(e) => *e.get(),
            Entry::Vacant(e) => {
                let id = self.list.len() as LabelId;
                self.list.push(e.key().clone());
                e.insert(id);
                id
            }
        }
    }
    pub fn len(&self) -> usize {
        self.list.len()
    }
    pub fn name(&self, id: LabelId) -> &str {
        &self.list[id as usize].0
    }
    pub fn version(&self, id: LabelId) -> u32 {
        self.list[id as usize].1
    }
    /// The name for messages.
    pub fn show(&self, id: LabelId) -> String {
        let (name, version) = &self.list[id as usize];
        let name = super::lex::clip(name);
        match version {
            0 => name,
            v => format!("{name}'{v}"),
        }
    }
}

/// A definition or parameter: `%label: CLASS len:align@loc{..}`.
pub(super) struct DefAst {
    pub label: LabelId,
    pub span: Span,
    pub class: RegClass,
    pub len: u16,
    pub align: u8,
    /// Index of a location, or [`NO`].
    pub loc: u32,
    /// Names of single lanes, `None` for no name; `names(..)` of the text.
    pub names: Option<Part>,
}

/// A lane of a run, or all its lanes, or undefined lanes.
#[derive(Clone, Copy)]
pub(super) struct LaneAst {
    /// The run, [`NO`] for undefined lanes.
    pub label: LabelId,
    /// The lane; [`NO`] for all lanes of the run. For undefined lanes their number.
    pub lane: u32,
    pub span: Span,
}

/// What an operand is.
pub(super) enum What {
    Value {
        label: LabelId,
        lane: u32,
    },
    Lanes(Part),
    Undef(u16),
    Imm(u64),
    Const(u32, u32),
    /// Index of a string.
    Special(u32),
    /// Index of a string.
    Variable(u32),
    Region(LabelId),
    RegionNumber(u32),
}

pub(super) struct OperandAst {
    pub what: What,
    pub flags: u8,
    /// 0 when the text says nothing.
    pub align: u8,
    pub loc: u32,
    pub span: Span,
}

pub(super) struct SuccAst {
    pub block: LabelId,
    pub span: Span,
    pub args: Part,
}

pub(super) struct InstAst {
    pub op: u32,
    /// The mnemonic.
    pub span: Span,
    pub defs: Part,
    pub operands: Part,
    pub succs: Part,
    pub line: u32,
    /// Number of the instruction in linear order; allocated text alone has it.
    pub number: u32,
}

pub(super) struct BlockAst {
    pub label: LabelId,
    pub span: Span,
    /// Index of the region.
    pub region: u32,
    pub trip: Option<u32>,
    pub params: Part,
    pub insts: Part,
}

/// One opcode as written, each spelling once.
pub(super) struct OpAst<'t> {
    pub mnemonic: Cow<'t, str>,
    pub kind: OpKind,
    pub constraints: Vec<(u16, Constraint)>,
    /// Disjoint rising ranges.
    pub clobbers: Vec<(PhysReg, PhysReg)>,
}

pub(super) struct RegionAst {
    pub label: LabelId,
    pub span: Span,
    pub results: Vec<(RegClass, u16)>,
}

/// Locations of the lanes of one operand.
#[derive(Clone, Copy)]
pub(super) enum LocsAst {
    /// Lane k in the register k after this one; or every lane nowhere; or a single lane anywhere.
    From(Loc),
    /// A location a lane.
    Each(Part),
}

/// Where an edit stands.
#[derive(Clone, Copy)]
pub(super) enum EditPlace {
    /// Index of the instruction.
    Inst(u32, Side),
    /// Index of the block and position of the successor.
    Edge(u32, u32),
}

#[derive(Default)]
pub(super) struct KernelAst<'t> {
    pub name: Cow<'t, str>,
    pub span: Span,
    pub attrs: KernelAttrs,
    pub local_slots: u32,
    pub shared_slots: u32,
    pub values: Labels<'t>,
    pub block_labels: Labels<'t>,
    pub region_labels: Labels<'t>,
    /// Region 0 is the kernel.
    pub regions: Vec<RegionAst>,
    /// Index of the region that a region label names, [`NO`] or missing for none.
    pub region_of: Vec<u32>,
    pub blocks: Vec<BlockAst>,
    pub insts: Vec<InstAst>,
    pub defs: Vec<DefAst>,
    pub lane_names: Vec<Option<Cow<'t, str>>>,
    pub operands: Vec<OperandAst>,
    pub lanes: Vec<LaneAst>,
    pub succs: Vec<SuccAst>,
    pub ops: Vec<OpAst<'t>>,
    pub strings: Vec<Cow<'t, str>>,
    pub locs: Vec<LocsAst>,
    pub loc_items: Vec<Loc>,
    pub edits: Vec<(EditPlace, Edit, Span)>,
}
