//! A unit of data with its undefined bits, and the hash behind everything that has no modelled meaning.

/// 32 bits (or one bit, for a predicate) and which of them depend on something undefined.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Word {
    /// The data.
    pub bits: u32,
    /// A one for each bit that depends on undefined data.
    pub taint: u32,
}

impl Word {
    /// A defined word.
    pub const fn new(bits: u32) -> Self {
        Self { bits, taint: 0 }
    }
    /// A defined predicate.
    pub const fn flag(b: bool) -> Self {
        Self::new(b as u32)
    }
    /// What `undef` reads as: fixed bits, all undefined.
    pub const UNDEF: Word = Word { bits: 0x5eed_0bad, taint: u32::MAX };
    /// What a register holds that nothing wrote, that was clobbered, or whose value is dead.
    pub const POISON: Word = Word { bits: 0xdead_0bad, taint: u32::MAX };

    /// The low bit.
    pub const fn truth(self) -> bool {
        self.bits & 1 != 0
    }
    /// True when the low bit is undefined.
    pub const fn truth_tainted(self) -> bool {
        self.taint & 1 != 0
    }
    /// The same with every bit undefined.
    pub const fn tainted(self) -> Self {
        Self { bits: self.bits, taint: u32::MAX }
    }
}

const K: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finalizer of MurmurHash3: every input bit reaches every output bit.
#[inline]
pub const fn mix(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^= x >> 33;
    x = x.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ x >> 33
}

/// Takes one more number into a running hash.
#[inline]
pub const fn absorb(state: u64, x: u64) -> u64 {
    (state ^ x).wrapping_mul(K).rotate_left(29)
}

/// Hash of a text; stable between runs and machines.
pub fn hash_str(s: &str) -> u64 {
    mix(s.bytes().fold(K ^ s.len() as u64, |h, b| absorb(h, b as u64)))
}

/// An uninterpreted operation: its results are hashes of its name, its inputs operand by operand, and the lane.
///
/// Two interpreters that feed the same operands get the same results.
///
/// ```
/// use fatpoint_ir::semantics::Uninterpreted;
/// let mut a = Uninterpreted::new("FADD");
/// a.operand(&[1]);
/// a.operand(&[2]);
/// let mut b = Uninterpreted::new("FADD");
/// b.operand(&[1, 2]);
/// assert_ne!(a.word(0), b.word(0));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Uninterpreted(u64);

impl Uninterpreted {
    /// The operation with this full mnemonic.
    pub fn new(mnemonic: &str) -> Self {
        Self(hash_str(mnemonic))
    }
    /// The operation whose name has this [`hash_str`].
    pub const fn from_hash(name: u64) -> Self {
        Self(name)
    }
    /// Takes the next source operand: its 32-bit words after modifiers, lowest first; a predicate is one word, 0 or 1.
    pub fn operand(&mut self, words: &[u32]) {
        self.0 = absorb(self.0, 1 << 32 | words.len() as u64);
        for &w in words {
            self.0 = absorb(self.0, w as u64);
        }
    }
    /// The running hash.
    pub const fn state(self) -> u64 {
        self.0
    }
    /// Result lane `lane`, counted over all definitions in order.
    pub const fn word(self, lane: u32) -> u32 {
        mix(absorb(self.0, lane as u64 | 2 << 32)) as u32
    }
    /// Result lane `lane` as a predicate.
    pub const fn flag(self, lane: u32) -> bool {
        self.word(lane) & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_depend_on_everything() {
        let make = |name: &str, ops: &[&[u32]]| {
            let mut u = Uninterpreted::new(name);
            ops.iter().for_each(|o| u.operand(o));
            u
        };
        let base = make("FFMA", &[&[1], &[2], &[3]]);
        let others = [
            make("FFMA.FTZ", &[&[1], &[2], &[3]]),
            make("FFMA", &[&[2], &[1], &[3]]),
            make("FFMA", &[&[1, 2], &[3]]),
            make("FFMA", &[&[1], &[2], &[3], &[]]),
        ];
        for o in others {
            assert_ne!(base.word(0), o.word(0));
        }
        assert_ne!(base.word(0), base.word(1));
        assert_eq!(base, make("FFMA", &[&[1], &[2], &[3]]));
    }

    #[test]
    fn predicates_are_balanced() {
        let ones = (0..4000).filter(|&i| {
            let mut u = Uninterpreted::new("FSETP");
            u.operand(&[i]);
            u.flag(0)
        });
        assert!((1800..2200).contains(&ones.count()));
    }
}
