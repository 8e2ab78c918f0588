//! The allocated form: an order, a location for every operand lane, and edits, over the untouched input.
//!
//! Meaning, which checker and interpreter share: instructions run in `order`; before an instruction the edits at its
//! position with [`Side::Before`] run one after another, after it those with [`Side::After`]; on an edge, the edge's
//! edits run one after another, then the target's parameters take the arguments' values **in place**: a parameter is
//! found in its location because an edit put its argument there (or it was there already). Spill slots are 4-byte units
//! counted from 0 within their space, apart from memory that the program itself addresses.

use crate::class::{PhysReg, RegClass};
use crate::entity::EntityId;
use crate::function::{Block, Edge, Function, Inst};
use std::fmt;

/// Where spilled values go.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum SlotSpace {
    /// Local memory of the thread.
    Local = 0,
    /// Shared memory of the block.
    Shared = 1,
}

/// A place that holds one unit: a register or a 4-byte slot. Packed in 4 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Loc(u32);

impl Loc {
    /// No place: an undefined lane, or something that has no register lane.
    pub const NONE: Loc = Loc(u32::MAX);
    const SLOT: u32 = 1 << 31;

    /// A register.
    pub const fn reg(r: PhysReg) -> Self {
        Loc((r.class as u32) << 16 | r.num as u32)
    }
    /// A spill slot: 4-byte unit `index` of `space`.
    pub const fn slot(space: SlotSpace, index: u32) -> Self {
        assert!(index < 1 << 29);
        Loc(Self::SLOT | (space as u32) << 29 | index)
    }
    /// The register, when it is one.
    #[inline]
    pub fn as_reg(self) -> Option<PhysReg> {
        if self.0 & Self::SLOT != 0 {
            return None;
        }
        Some(PhysReg { class: RegClass::from_index((self.0 >> 16) as usize)?, num: self.0 as u16 })
    }
    /// The slot, when it is one.
    #[inline]
    pub fn as_slot(self) -> Option<(SlotSpace, u32)> {
        if self == Self::NONE || self.0 & Self::SLOT == 0 {
            return None;
        }
        let space = if self.0 >> 29 & 1 == 0 { SlotSpace::Local } else { SlotSpace::Shared };
        Some((space, self.0 & ((1 << 29) - 1)))
    }
    /// True for [`Loc::NONE`].
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }
}

impl fmt::Display for Loc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.as_reg(), self.as_slot()) {
            (Some(r), _) => write!(f, "{r}"),
            (_, Some((SlotSpace::Local, i))) => write!(f, "local[{i}]"),
            (_, Some((SlotSpace::Shared, i))) => write!(f, "shared[{i}]"),
            _ => f.write_str("-"),
        }
    }
}

impl fmt::Debug for Loc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One step that allocation adds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Edit {
    /// Register to register. Between predicate and general registers it is a conversion (SEL, ISETP).
    Copy {
        /// Source register.
        from: PhysReg,
        /// Target register.
        to: PhysReg,
    },
    /// Exchange of two registers of one class.
    Swap {
        /// One register.
        a: PhysReg,
        /// The other.
        b: PhysReg,
    },
    /// Register to slot.
    Spill {
        /// Source register.
        from: PhysReg,
        /// Target slot.
        to: Loc,
    },
    /// Slot to register.
    Reload {
        /// Source slot.
        from: Loc,
        /// Target register.
        to: PhysReg,
    },
    /// Slot to slot.
    SlotCopy {
        /// Source slot.
        from: Loc,
        /// Target slot.
        to: Loc,
    },
    /// Runs a repeatable instruction again; its definition lanes go to `to`, its use lanes come from `from`.
    Remat {
        /// The instruction of the input.
        inst: Inst,
        /// A location for each use lane, in operand order.
        from: Vec<Loc>,
        /// A register for each definition lane, in operand order; `None` drops the lane.
        to: Vec<Option<PhysReg>>,
    },
}

/// Before or after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    /// Before the instruction reads its operands.
    Before,
    /// After it has written its results.
    After,
}

/// A place between instructions: position in the order, and side.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EditPoint {
    /// Position in the order.
    pub pos: u32,
    /// Side of the instruction there.
    pub side: Side,
}

/// Result of an allocation; borrows the function that it allocates.
#[derive(Clone, Debug)]
pub struct AllocatedFunction<'f> {
    /// The input.
    pub func: &'f Function,
    /// Instructions in the order they run, block by block; `None` is the input's own order.
    pub order: Option<Vec<Inst>>,
    /// Where each instruction's operand lanes start in `locs`; one more entry than instructions.
    pub lane_start: Vec<u32>,
    /// A location for each operand lane of each instruction, by instruction number.
    pub locs: Vec<Loc>,
    /// Where each block's parameter units start in `param_locs`; one more entry than blocks.
    pub param_start: Vec<u32>,
    /// A location for each parameter unit of each block at its entry; [`Loc::NONE`] for a dead parameter.
    pub param_locs: Vec<Loc>,
    /// Edits at instructions, sorted by point; those of one point run in sequence.
    pub edits: Vec<(EditPoint, Edit)>,
    /// Edits on edges, sorted by edge; those of one edge run in sequence.
    pub edge_edits: Vec<(Edge, Edit)>,
    /// Spill slots used in local memory, in 4-byte units.
    pub local_slots: u32,
    /// Spill slots used in shared memory, in 4-byte units a thread.
    pub shared_slots: u32,
}

impl<'f> AllocatedFunction<'f> {
    /// An allocation of `func` with every location unset and no edit.
    pub fn empty(func: &'f Function) -> Self {
        let mut lane_start = Vec::with_capacity(func.num_insts() + 1);
        let mut n = 0u32;
        for i in func.insts() {
            lane_start.push(n);
            n += func.num_lanes(i) as u32;
        }
        lane_start.push(n);
        let mut param_start = Vec::with_capacity(func.num_blocks() + 1);
        let mut p = 0u32;
        for b in func.blocks() {
            param_start.push(p);
            p += func.params(b).len() as u32;
        }
        param_start.push(p);
        Self {
            func,
            order: None,
            locs: vec![Loc::NONE; n as usize],
            lane_start,
            param_locs: vec![Loc::NONE; p as usize],
            param_start,
            edits: Vec::new(),
            edge_edits: Vec::new(),
            local_slots: 0,
            shared_slots: 0,
        }
    }

    /// Locations of all operand lanes of an instruction: definitions, then uses.
    #[inline]
    pub fn inst_locs(&self, i: Inst) -> &[Loc] {
        &self.locs[self.lane_start[i.index()] as usize..self.lane_start[i.index() + 1] as usize]
    }
    /// The same, to fill in.
    pub fn inst_locs_mut(&mut self, i: Inst) -> &mut [Loc] {
        &mut self.locs[self.lane_start[i.index()] as usize..self.lane_start[i.index() + 1] as usize]
    }
    /// Locations of a block's parameter units at its entry.
    #[inline]
    pub fn block_param_locs(&self, b: Block) -> &[Loc] {
        &self.param_locs[self.param_start[b.index()] as usize..self.param_start[b.index() + 1] as usize]
    }
    /// The same, to fill in.
    pub fn block_param_locs_mut(&mut self, b: Block) -> &mut [Loc] {
        &mut self.param_locs[self.param_start[b.index()] as usize..self.param_start[b.index() + 1] as usize]
    }
    /// The instruction at a position of the order.
    #[inline]
    pub fn inst_at(&self, pos: u32) -> Inst {
        self.order.as_ref().map_or(Inst(pos), |o| o[pos as usize])
    }
    /// The edits at a point.
    pub fn edits_at(&self, point: EditPoint) -> &[(EditPoint, Edit)] {
        let s = self.edits.partition_point(|(p, _)| *p < point);
        let e = s + self.edits[s..].partition_point(|(p, _)| *p <= point);
        &self.edits[s..e]
    }
    /// The edits on an edge.
    pub fn edits_on(&self, edge: Edge) -> &[(Edge, Edit)] {
        let s = self.edge_edits.partition_point(|(e, _)| *e < edge);
        let e = s + self.edge_edits[s..].partition_point(|(e, _)| *e <= edge);
        &self.edge_edits[s..e]
    }
    /// Highest register of a class that any operand, parameter or edit names. Clobbers do not count: what an external
    /// callee needs is not known here and is added when it is linked.
    pub fn highest(&self, class: RegClass) -> Option<u16> {
        let mut best: Option<u16> = None;
        let mut see = |r: PhysReg| {
            if r.class == class {
                best = Some(best.map_or(r.num, |b| b.max(r.num)));
            }
        };
        self.locs.iter().chain(&self.param_locs).filter_map(|l| l.as_reg()).for_each(&mut see);
        for e in self.edits.iter().map(|(_, e)| e).chain(self.edge_edits.iter().map(|(_, e)| e)) {
            match e {
                Edit::Copy { from, to } => [*from, *to].into_iter().for_each(&mut see),
                Edit::Swap { a, b } => [*a, *b].into_iter().for_each(&mut see),
                Edit::Spill { from, .. } => see(*from),
                Edit::Reload { to, .. } => see(*to),
                Edit::SlotCopy { .. } => {}
                Edit::Remat { from, to, .. } => {
                    from.iter().filter_map(|l| l.as_reg()).for_each(&mut see);
                    to.iter().flatten().copied().for_each(&mut see);
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_pack() {
        let r = Loc::reg(PhysReg::new(RegClass::UP, 6));
        assert_eq!(r.as_reg(), Some(PhysReg::new(RegClass::UP, 6)));
        assert_eq!(r.as_slot(), None);
        let s = Loc::slot(SlotSpace::Shared, 1000);
        assert_eq!(s.as_slot(), Some((SlotSpace::Shared, 1000)));
        assert_eq!(s.as_reg(), None);
        assert!(Loc::NONE.is_none() && Loc::NONE.as_reg().is_none() && Loc::NONE.as_slot().is_none());
        assert_eq!(format!("{r} {s} {}", Loc::NONE), "UP6 shared[1000] -");
    }
}
