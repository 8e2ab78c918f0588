//! Operands: 8-byte words in one arena.
//!
//! A register operand is a *run*: 1..N values that must sit in consecutive registers whose first is a multiple of the
//! alignment. A run of values numbered consecutively is stored in the word itself; any other run (lanes from different
//! definitions, or with `undef` lanes) keeps its lanes in a side pool of the function. Everything that an opcode asks
//! of an operand beyond shape (fixed register, tie, early clobber, flight) lives in the interned opcode, see
//! [`crate::op`].
//!
//! Word layout: bits 0–31 payload, 32–47 length in lanes, 48–51 kind, 52–54 log2 of the alignment, 56–63 flags.

use crate::function::Value;
use std::fmt;

/// What an operand word holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum OperandKind {
    /// Consecutively numbered values, payload = first value.
    Run = 0,
    /// Lanes in the side pool, payload = position of the first.
    Lanes = 1,
    /// A run of undefined lanes: no live range, overlaps anything.
    Undef = 2,
    /// 32-bit immediate, payload = bits.
    Imm = 3,
    /// Immediate wider than 32 bits, payload = position in the pool of wide immediates.
    WideImm = 4,
    /// Constant bank, payload = bank << 20 | byte offset.
    Const = 5,
    /// Special register, payload = symbol of its name.
    Special = 6,
    /// Address of a named variable or any other symbol, payload = symbol.
    Symbol = 7,
    /// Subroutine region, payload = region.
    Region = 8,
}

/// Flags of an operand word: how the machine modifies the source or where it stands in the text.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct OperandFlags(pub u8);

impl OperandFlags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// Arithmetic negation of the source (`-a`): sign flip for floats, two's complement for integers.
    pub const NEG: Self = Self(1);
    /// Absolute value of the source (`|a|`).
    pub const ABS: Self = Self(2);
    /// Bitwise complement (`~a`) or negated predicate (`!p`).
    pub const NOT: Self = Self(4);
    /// The guard predicate (`@p`): the instruction takes effect only where it holds.
    pub const GUARD: Self = Self(8);
    /// A component of an address (`[a+b+c]`); components of one address follow each other.
    pub const ADDR: Self = Self(16);
    /// The first component of an address.
    pub const ADDR_START: Self = Self(32);

    /// True when all flags of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
    /// Both sets of flags.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for OperandFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [(1, "NEG"), (2, "ABS"), (4, "NOT"), (8, "GUARD"), (16, "ADDR"), (32, "ADDR_START")];
        let set: Vec<&str> = names.iter().filter(|(b, _)| self.0 & b != 0).map(|&(_, n)| n).collect();
        f.write_str(&set.join("|"))
    }
}

/// One lane of a run: a value, or undefined.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane(pub Value);

impl Lane {
    /// The undefined lane.
    pub const UNDEF: Lane = Lane(Value(u32::MAX));

    /// The value of the lane, `None` when it is undefined.
    #[inline]
    pub fn value(self) -> Option<Value> {
        self.0.some()
    }
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            Some(v) => write!(f, "{v}"),
            None => f.write_str("undef"),
        }
    }
}

/// One operand, packed; see the head of the file. The lanes of a `Lanes` operand are read through the function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Operand(u64);

impl Operand {
    /// Largest number of lanes of one operand.
    pub const MAX_LANES: usize = 512;

    fn pack(kind: OperandKind, payload: u32, len: usize, align: u32) -> Self {
        assert!(len <= Self::MAX_LANES, "a run has at most {} lanes", Self::MAX_LANES);
        assert!(align.is_power_of_two() && align <= 128, "alignment is a power of two up to 128");
        Self(payload as u64 | (len as u64) << 32 | (kind as u64) << 48 | (align.trailing_zeros() as u64) << 52)
    }

    /// A run of `len` values numbered from `first`, aligned to `align` registers.
    pub fn run(first: Value, len: usize, align: u32) -> Self {
        assert!(len >= 1, "a run has a lane");
        Self::pack(OperandKind::Run, first.0, len, align)
    }
    /// One value.
    pub fn value(v: Value) -> Self {
        Self::run(v, 1, 1)
    }
    /// A run whose `len` lanes stand in the side pool from `start`.
    pub(crate) fn lanes(start: u32, len: usize, align: u32) -> Self {
        Self::pack(OperandKind::Lanes, start, len, align)
    }
    /// `len` undefined lanes.
    pub fn undef(len: usize, align: u32) -> Self {
        Self::pack(OperandKind::Undef, 0, len, align)
    }
    /// A 32-bit immediate.
    pub fn imm(bits: u32) -> Self {
        Self::pack(OperandKind::Imm, bits, 0, 1)
    }
    pub(crate) fn wide_imm(index: u32) -> Self {
        Self::pack(OperandKind::WideImm, index, 0, 1)
    }
    /// `c[bank][offset]`; the offset is in bytes, below 1 MiB.
    pub fn constant(bank: u32, offset: u32) -> Self {
        assert!(bank < 4096 && offset < 1 << 20, "constant bank {bank} offset {offset} out of range");
        Self::pack(OperandKind::Const, bank << 20 | offset, 0, 1)
    }
    pub(crate) fn special(symbol: u32) -> Self {
        Self::pack(OperandKind::Special, symbol, 0, 1)
    }
    pub(crate) fn symbol(symbol: u32) -> Self {
        Self::pack(OperandKind::Symbol, symbol, 0, 1)
    }
    /// A subroutine region.
    pub fn region(region: crate::function::Region) -> Self {
        Self::pack(OperandKind::Region, region.0, 0, 1)
    }

    /// The same operand with more flags.
    pub fn with_flags(self, flags: OperandFlags) -> Self {
        Self(self.0 | (flags.0 as u64) << 56)
    }
    /// The same operand with exactly these flags.
    pub fn set_flags(self, flags: OperandFlags) -> Self {
        Self(self.0 & !(0xff << 56) | (flags.0 as u64) << 56)
    }
    /// The same operand with another payload.
    pub(crate) fn with_payload(self, payload: u32) -> Self {
        Self(self.0 & !0xffff_ffff | payload as u64)
    }

    /// What it holds.
    #[inline]
    pub fn kind(self) -> OperandKind {
        match (self.0 >> 48) & 15 {
            0 => OperandKind::Run,
            1 => OperandKind::Lanes,
            2 => OperandKind::Undef,
            3 => OperandKind::Imm,
            4 => OperandKind::WideImm,
            5 => OperandKind::Const,
            6 => OperandKind::Special,
            7 => OperandKind::Symbol,
            _ => OperandKind::Region,
        }
    }
    /// The raw payload.
    #[inline]
    pub fn payload(self) -> u32 {
        self.0 as u32
    }
    /// Number of register lanes: 0 for anything that is not a run.
    #[inline]
    pub fn len(self) -> usize {
        ((self.0 >> 32) & 0xffff) as usize
    }
    /// True when it has no register lane.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
    /// Alignment of the run, in registers.
    #[inline]
    pub fn align(self) -> u32 {
        1 << ((self.0 >> 52) & 7)
    }
    /// Its flags.
    #[inline]
    pub fn flags(self) -> OperandFlags {
        OperandFlags((self.0 >> 56) as u8)
    }
    /// True for `Run`, `Lanes` and `Undef`.
    #[inline]
    pub fn is_register(self) -> bool {
        (self.0 >> 48) & 15 <= 2
    }
    /// True when this is the guard of its instruction.
    #[inline]
    pub fn is_guard(self) -> bool {
        self.flags().has(OperandFlags::GUARD)
    }
    /// True when this is a component of an address.
    #[inline]
    pub fn is_address(self) -> bool {
        self.flags().has(OperandFlags::ADDR)
    }
    /// Bank and byte offset of a `Const` operand.
    pub fn const_ref(self) -> (u32, u32) {
        (self.payload() >> 20, self.payload() & 0xf_ffff)
    }
}

impl fmt::Debug for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({}; len {} align {} {:?})", self.kind(), self.payload(), self.len(), self.align(), self.flags())
    }
}

/// The alignment that a run of `len` lanes has unless it says otherwise: the next power of two, at most 4.
/// On every listing seen, pairs are aligned to 2 and wider operands to 4.
pub fn default_align(len: usize) -> u32 {
    (len.max(1) as u32).next_power_of_two().min(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_pack_and_unpack() {
        let o = Operand::run(Value(77), 4, 4).with_flags(OperandFlags::NEG.with(OperandFlags::ADDR));
        assert_eq!((o.kind(), o.payload(), o.len(), o.align()), (OperandKind::Run, 77, 4, 4));
        assert!(o.flags().has(OperandFlags::NEG) && o.is_address() && !o.is_guard());
        assert_eq!(Operand::constant(3, 0x178).const_ref(), (3, 0x178));
        assert_eq!(Operand::imm(u32::MAX).payload(), u32::MAX);
        assert_eq!(Operand::undef(128, 8).len(), 128);
        assert_eq!(std::mem::size_of::<Operand>(), 8);
    }

    #[test]
    fn default_alignments() {
        assert_eq!([1, 2, 3, 4, 8, 64].map(default_align), [1, 2, 4, 4, 4, 4]);
    }
}
