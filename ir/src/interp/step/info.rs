//! What running an opcode needs to know of it, worked out once for each signature.

use super::super::memory::MemoryClass;
use crate::op::{Effect, Flight, OpSig};
use crate::semantics::Operation;

/// How an opcode touches memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Access {
    /// Not at all, or in a way that only its inputs show.
    None,
    /// Reads at its address.
    Load,
    /// Writes its data at its address.
    Store,
    /// Reads and writes at its address.
    Atomic,
    /// Reads at its second address (global), writes at its first (shared).
    AsyncCopy,
    /// A function of its inputs and of everything written to its class so far.
    Opaque,
}

/// What running an opcode needs to know of it.
pub(in super::super) struct OpInfo {
    pub(super) operation: Operation,
    pub(super) access: Access,
    /// Bytes below a word, else 0; sign-extended or not.
    pub(super) narrow: u32,
    pub(super) signed: bool,
    /// Bytes that the modifiers name, 4 unless they name more.
    pub(super) bytes: u32,
    pub(super) class: MemoryClass,
    pub(super) immutable: bool,
    /// Modelled on the words at its address, but mixed with others' (matrix loads).
    pub(super) matrix: bool,
    pub(super) effect: bool,
    pub(super) ordered: bool,
    pub(super) barrier: bool,
    pub(super) convergent: bool,
    /// Ties (use operand, definition operand).
    pub(super) tied: Vec<(usize, usize)>,
    /// Guarded instances keep their tied sources as inputs (accumulators).
    pub(super) accumulates: bool,
}

impl OpInfo {
    pub(in super::super) fn new(sig: &OpSig) -> Self {
        let p = &sig.props;
        let base = sig.base();
        let load = matches!(base, "LDG" | "LD" | "LDS" | "LDL" | "LDC" | "LDCU" | "ULDC" | "LDSM");
        let access = match (p.effect, base) {
            _ if load => Access::Load,
            (_, "STG" | "ST" | "STS" | "STL" | "STSM") => Access::Store,
            (_, "ATOMG" | "ATOM" | "ATOMS" | "RED" | "REDG" | "REDS") => Access::Atomic,
            (_, "LDGSTS") => Access::AsyncCopy,
            (Effect::Pure, _) => Access::None,
            (Effect::Read, _) if p.immutable => Access::None,
            _ => Access::Opaque,
        };
        let (mut narrow, mut signed, mut bytes) = (0, false, 4);
        for m in sig.mnemonic.split('.').skip(1) {
            match m {
                "U8" | "S8" | "8" | "B8" => (narrow, signed) = (1, m == "S8"),
                "U16" | "S16" | "16" | "B16" => (narrow, signed) = (2, m == "S16"),
                "64" | "F64" | "U64" | "S64" => bytes = 8,
                "96" => bytes = 12,
                "128" => bytes = 16,
                "256" => bytes = 32,
                _ => {}
            }
        }
        if matches!(base, "LDSM" | "STSM") || access == Access::Atomic || access == Access::AsyncCopy {
            narrow = 0;
        }
        Self {
            operation: Operation::new(&sig.mnemonic),
            access,
            narrow,
            signed,
            bytes,
            class: MemoryClass { space: p.space, alias: p.alias },
            immutable: p.immutable,
            matrix: base == "LDSM",
            effect: matches!(p.effect, Effect::Write | Effect::ReadWrite),
            ordered: p.ordered,
            barrier: p.barrier,
            convergent: p.convergent,
            tied: (0..=sig.constraints.last().map_or(0, |c| c.0 as usize))
                .filter_map(|k| sig.tied(k).map(|d| (k, d)))
                .collect(),
            accumulates: p.flight == Flight::Starts,
        }
    }
    pub(super) fn is_seen(&self) -> bool {
        self.effect || self.ordered || self.barrier || self.convergent
    }
}
