//! The form between PTX and the IR: SSA on 32-bit units, operands not yet legal.
//!
//! A [`Src`] is one unit: a value, or something that needs no register (a constant word, a word of the constant bank).
//! Selection works on it since a constant stays a constant through moves and joins; what must be in a register after all
//! is put there by the emission, right before its use.

use fatpoint_ir::{OperandFlags, RegClass};
use smallvec::SmallVec;

/// A value of one unit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Val(pub(super) u32);

/// One unit of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Src {
    /// A value.
    Val(Val),
    /// A constant word; of the predicate class 0 or 1.
    Imm(u32),
    /// A word of a constant bank: bank and offset, see [`bank_word`].
    Const(u32),
    /// Nothing was ever written there.
    Undef,
}

impl Src {
    pub(super) const ZERO: Src = Src::Imm(0);

    pub(super) fn val(self) -> Option<Val> {
        match self {
            Src::Val(v) => Some(v),
            _ => None,
        }
    }

    pub(super) fn is_constant(self) -> bool {
        matches!(self, Src::Imm(_) | Src::Const(_))
    }
}

/// The word at an offset below 64 KiB of a constant bank.
pub(super) fn bank_word(bank: u32, offset: u32) -> Src {
    debug_assert!(offset < 1 << 16);
    Src::Const(bank << 16 | offset)
}

/// The units of a source of any width.
pub(super) type Units = SmallVec<[Src; 4]>;

/// Low and high unit of a 64-bit source as one number, if both are immediate.
pub(super) fn imm64(u: &[Src]) -> Option<u64> {
    match u {
        [Src::Imm(lo)] => Some(u64::from(*lo)),
        [Src::Imm(lo), Src::Imm(hi)] => Some(u64::from(*lo) | u64::from(*hi) << 32),
        _ => None,
    }
}

/// The units of a 64-bit constant.
pub(super) fn pair(x: u64) -> [Src; 2] {
    [Src::Imm(x as u32), Src::Imm((x >> 32) as u32)]
}

/// What a source operand is.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Kind {
    /// Units in consecutive registers; a lone constant may take their place.
    Lanes {
        /// The units.
        lanes: Units,
        /// Alignment of the run.
        align: u32,
        /// Their class.
        class: RegClass,
    },
    /// A constant that is never in a register.
    Literal(u64),
    /// A constant-bank reference that is part of an address.
    Bank(u32, u32),
    /// A special register.
    Special(String),
    /// The address of a variable.
    Symbol(String),
    /// The callee of a call: index of the region.
    Region(usize),
}

/// A source operand.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Opnd {
    pub(super) kind: Kind,
    pub(super) flags: OperandFlags,
    /// In flight until the wait for its instruction.
    pub(super) in_flight: bool,
    /// Must be in this register.
    pub(super) fixed: Option<u8>,
    /// Tied to this definition.
    pub(super) tied: Option<u16>,
}

impl Opnd {
    pub(super) fn new(kind: Kind) -> Self {
        Self { kind, flags: OperandFlags::NONE, in_flight: false, fixed: None, tied: None }
    }

    /// A run of general registers.
    pub(super) fn run(lanes: &[Src]) -> Self {
        let align = fatpoint_ir::default_align(lanes.len());
        Self::new(Kind::Lanes { lanes: lanes.into(), align, class: RegClass::R })
    }

    /// One unit.
    pub(super) fn unit(s: Src) -> Self {
        Self::run(&[s])
    }

    /// A predicate.
    pub(super) fn pred(s: Src, negated: bool) -> Self {
        let o = Self::new(Kind::Lanes { lanes: [s].as_slice().into(), align: 1, class: RegClass::P });
        if negated {
            o.with(OperandFlags::NOT)
        } else {
            o
        }
    }

    /// A constant in the instruction.
    pub(super) fn literal(x: u64) -> Self {
        Self::new(Kind::Literal(x))
    }

    pub(super) fn with(mut self, flags: OperandFlags) -> Self {
        self.flags = self.flags.with(flags);
        self
    }
}

/// A run of values that an instruction defines.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct MDef {
    pub(super) first: Val,
    pub(super) len: u32,
    pub(super) align: u32,
    pub(super) early: bool,
    pub(super) in_flight: bool,
    pub(super) fixed: Option<u8>,
    /// Under a guard, what stays when it is false.
    pub(super) old: Option<Units>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(super) struct MInst {
    /// Index of its mnemonic.
    pub(super) op: u32,
    pub(super) guard: Option<(Src, bool)>,
    pub(super) defs: SmallVec<[MDef; 1]>,
    pub(super) uses: SmallVec<[Opnd; 3]>,
    /// Registers that a call destroys: the set of the ABI.
    pub(super) abi_clobbers: bool,
    pub(super) line: u32,
}

/// How a block ends.
#[derive(Clone, Debug)]
pub(super) enum MTerm {
    Jump,
    Branch(Src, bool),
    Switch(Src),
    ExitIf(Src, bool),
    Exit,
    /// One run for each result.
    Return(Vec<(RegClass, Units)>),
}

/// A block.
#[derive(Clone, Debug)]
pub(super) struct MBlock {
    pub(super) name: String,
    pub(super) region: usize,
    /// Values that are parameters: runs of an entry of a region first (none elsewhere), then joins.
    pub(super) params: Vec<Val>,
    pub(super) insts: Vec<u32>,
    pub(super) term: MTerm,
    /// Successors with their arguments, one for each parameter.
    pub(super) succs: Vec<(usize, Vec<Src>)>,
    pub(super) line: u32,
}

/// A subroutine: name, and class and width of each parameter and result.
#[derive(Clone, Debug)]
pub(super) struct MRegion {
    pub(super) name: String,
    pub(super) params: Vec<(RegClass, u32)>,
    pub(super) results: Vec<(RegClass, u32)>,
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum From {
    /// Lane of an instruction.
    Inst(u32, u32),
    /// Parameter of a block.
    Param(u32),
}

/// A value.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValInfo {
    pub(super) class: RegClass,
    pub(super) from: From,
    /// Block of its definition.
    pub(super) block: u32,
    /// Register that it is named after: index into the names, `u32::MAX` without.
    pub(super) name: u32,
}
