//! Opcodes: interned signatures with what holds on every architecture.
//!
//! An opcode is its full mnemonic with all modifiers (`IMAD.WIDE.U32`), its properties (from the table in
//! [`crate::opcodes`], by mnemonic) and what it asks of single operands (fixed register, tie, early clobber, flight).
//! Two instructions with the same mnemonic but different constraints have two signatures, so that an instruction
//! itself stays 16 bytes. Latencies, pipes and banks differ by architecture and live elsewhere.

use crate::class::PhysReg;
use crate::entity_id;
use crate::opcodes;
use std::collections::HashMap;

entity_id!(
    /// An interned opcode signature.
    OpId,
    "op"
);

/// What an opcode asks of one operand beyond its shape.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Constraint {
    /// The run starts in this register.
    Fixed(PhysReg),
    /// On a use: the run sits in the registers of the definition operand with this index, lane by lane. A guarded
    /// definition also reads the old value this way.
    Tied(u16),
    /// On a definition: written before the uses are read, so it overlaps none of them (tied ones aside).
    EarlyClobber,
    /// The machine goes on reading or writing these registers until a wait ([`Flight::Waits`]): the value stays in its
    /// place until then and no edit touches it.
    InFlight,
}

/// Memory effect of an opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Touches no memory and no hidden state.
    Pure,
    /// Reads memory.
    Read,
    /// Writes memory.
    Write,
    /// Reads and writes memory (atomics), or has an effect that is not known.
    ReadWrite,
}

/// Memory space that an opcode touches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Space {
    /// No memory.
    None = 0,
    /// Global memory.
    Global = 1,
    /// Shared memory of the block (and of the cluster).
    Shared = 2,
    /// Local memory of the thread.
    Local = 3,
    /// Constant banks.
    Const = 4,
    /// Any of global, shared and local, by address.
    Generic = 5,
    /// Textures and surfaces.
    Texture = 6,
    /// Tensor memory (sm_100).
    Tensor = 7,
    /// State that is not memory: barriers, clocks, votes' order, anything unknown.
    Other = 8,
}

/// How an opcode ends or leaves a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpKind {
    /// An ordinary instruction.
    Normal,
    /// Calls a subroutine region of the same function; control returns to the next instruction.
    Call,
    /// `jump b(args)`: one successor.
    Jump,
    /// `br p, taken(args), otherwise(args)`: two successors by the low bit of the predicate.
    Branch,
    /// `brx index, b0(args), b1(args), ..`: successor by index; out of range takes the last.
    Switch,
    /// `EXIT`: the thread ends.
    Exit,
    /// `exit_if p, next(args)`: the thread ends where the predicate holds, else goes on.
    ExitIf,
    /// `RET values`: back to the caller of the region.
    Return,
}

impl OpKind {
    /// True when the instruction ends its block.
    pub fn is_terminator(self) -> bool {
        !matches!(self, OpKind::Normal | OpKind::Call)
    }
    /// Number of successors, `None` when any number from 1 is right.
    pub fn successors(self) -> Option<usize> {
        match self {
            OpKind::Normal | OpKind::Call | OpKind::Exit | OpKind::Return => Some(0),
            OpKind::Jump | OpKind::ExitIf => Some(1),
            OpKind::Branch => Some(2),
            OpKind::Switch => None,
        }
    }
}

/// Part an opcode plays for operands in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flight {
    /// None.
    No,
    /// Its in-flight operands stay busy until a wait.
    Starts,
    /// Closes the group of everything started so far (`commit`).
    Commits,
    /// Waits until at most this many groups, the latest ones, are still in flight.
    Waits(u8),
}

/// Properties of an opcode that hold on every architecture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpProps {
    /// Shape of control.
    pub kind: OpKind,
    /// Memory effect.
    pub effect: Effect,
    /// Memory space of the effect.
    pub space: Space,
    /// Alias class within the space; different classes never overlap.
    pub alias: u8,
    /// Reads memory that nobody writes while the kernel runs.
    pub immutable: bool,
    /// Never repeated, dropped or reordered against other ordered ones (volatile, clock).
    pub ordered: bool,
    /// Orders all memory (barriers, fences).
    pub barrier: bool,
    /// Its result depends on which threads of the warp run it together: no rematerialization, no motion across
    /// branches, guards or barriers.
    pub convergent: bool,
    /// Cost of running it again in place of keeping its value, in issue slots; `None` when it must not be repeated.
    pub remat: Option<u8>,
    /// Part it plays for operands in flight.
    pub flight: Flight,
    /// False for a mnemonic that the table does not know: taken as side-effecting, convergent, not repeatable.
    pub known: bool,
}

impl OpProps {
    /// A pure, repeatable operation of one issue slot.
    pub const PURE: OpProps = OpProps {
        kind: OpKind::Normal,
        effect: Effect::Pure,
        space: Space::None,
        alias: 0,
        immutable: false,
        ordered: false,
        barrier: false,
        convergent: false,
        remat: Some(1),
        flight: Flight::No,
        known: true,
    };
    /// What an unknown mnemonic gets: every effect, never repeated, never moved.
    pub const UNKNOWN: OpProps = OpProps {
        effect: Effect::ReadWrite,
        space: Space::Other,
        ordered: true,
        convergent: true,
        remat: None,
        known: false,
        ..OpProps::PURE
    };

    /// True when running it again gives the same value and has no effect.
    pub fn repeatable(&self) -> bool {
        self.remat.is_some()
    }
}

/// An interned opcode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpSig {
    /// Full mnemonic with modifiers.
    pub mnemonic: Box<str>,
    /// Its properties.
    pub props: OpProps,
    /// Constraints by operand index, sorted; an operand has any number of them.
    pub constraints: Box<[(u16, Constraint)]>,
    /// Registers destroyed by the instruction besides its definitions.
    pub clobbers: Box<[PhysReg]>,
}

impl OpSig {
    /// Constraints of the operand with this index.
    pub fn constraints_of(&self, operand: usize) -> impl Iterator<Item = Constraint> + '_ {
        self.constraints.iter().filter(move |&&(i, _)| i as usize == operand).map(|&(_, c)| c)
    }
    /// The fixed register of an operand.
    pub fn fixed(&self, operand: usize) -> Option<PhysReg> {
        self.constraints_of(operand).find_map(|c| if let Constraint::Fixed(r) = c { Some(r) } else { None })
    }
    /// The definition that a use is tied to.
    pub fn tied(&self, operand: usize) -> Option<usize> {
        self.constraints_of(operand).find_map(|c| if let Constraint::Tied(d) = c { Some(d as usize) } else { None })
    }
    /// True for an early-clobber definition.
    pub fn early_clobber(&self, operand: usize) -> bool {
        self.constraints_of(operand).any(|c| c == Constraint::EarlyClobber)
    }
    /// True when the operand stays in flight after the instruction.
    pub fn in_flight(&self, operand: usize) -> bool {
        self.constraints_of(operand).any(|c| c == Constraint::InFlight)
    }
    /// The mnemonic up to the first dot.
    pub fn base(&self) -> &str {
        self.mnemonic.split('.').next().unwrap_or("")
    }
    /// True when the mnemonic has this modifier.
    pub fn has_modifier(&self, modifier: &str) -> bool {
        self.mnemonic.split('.').skip(1).any(|m| m == modifier)
    }
}

/// All opcodes of a function, each signature once.
#[derive(Clone, Debug, Default)]
pub struct OpTable {
    sigs: Vec<OpSig>,
    by_key: HashMap<OpKey, OpId>,
}

/// What makes a signature: mnemonic, constraints, clobbers.
type OpKey = (Box<str>, Box<[(u16, Constraint)]>, Box<[PhysReg]>);

impl OpTable {
    /// The signature with no constraints.
    pub fn intern(&mut self, mnemonic: &str) -> OpId {
        self.intern_with(mnemonic, &[], &[])
    }

    /// The signature with these constraints (sorted here) and clobbers.
    pub fn intern_with(&mut self, mnemonic: &str, constraints: &[(u16, Constraint)], clobbers: &[PhysReg]) -> OpId {
        let mut sorted = constraints.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let mut clobbers = clobbers.to_vec();
        clobbers.sort_unstable();
        clobbers.dedup();
        let key: OpKey = (mnemonic.into(), sorted.into(), clobbers.into());
        if let Some(&id) = self.by_key.get(&key) {
            return id;
        }
        let id = OpId(self.sigs.len() as u32);
        self.sigs.push(OpSig {
            mnemonic: key.0.clone(),
            props: opcodes::props(mnemonic),
            constraints: key.1.clone(),
            clobbers: key.2.clone(),
        });
        self.by_key.insert(key, id);
        id
    }

    /// The signature.
    #[inline]
    pub fn get(&self, id: OpId) -> &OpSig {
        &self.sigs[id.0 as usize]
    }

    /// All signatures in order of first use.
    pub fn iter(&self) -> impl Iterator<Item = (OpId, &OpSig)> {
        self.sigs.iter().enumerate().map(|(i, s)| (OpId(i as u32), s))
    }

    /// Number of signatures.
    pub fn len(&self) -> usize {
        self.sigs.len()
    }

    /// True when no opcode is interned.
    pub fn is_empty(&self) -> bool {
        self.sigs.is_empty()
    }
}
