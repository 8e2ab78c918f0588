//! Sets of registers of one file as 256-bit masks.

use std::fmt;

/// A set of registers numbered below 256.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct RegSet([u64; 4]);

impl RegSet {
    /// No register.
    pub const EMPTY: RegSet = RegSet([0; 4]);

    /// Registers 0 to `n` - 1; `n` is at most 256.
    pub fn below(n: u32) -> Self {
        let mut w = [0u64; 4];
        for (i, x) in w.iter_mut().enumerate() {
            let lo = i as u32 * 64;
            *x = match n.saturating_sub(lo) {
                0 => 0,
                k if k >= 64 => u64::MAX,
                k => (1 << k) - 1,
            };
        }
        RegSet(w)
    }
    /// Registers `first` to `first + len - 1`; those from 256 on are left out.
    pub fn span(first: u32, len: u32) -> Self {
        Self::below((first + len).min(256)).without(Self::below(first.min(256)))
    }
    /// One register.
    pub fn one(r: u32) -> Self {
        let mut s = Self::EMPTY;
        s.insert(r);
        s
    }
    /// Adds a register.
    #[inline]
    pub fn insert(&mut self, r: u32) {
        self.0[(r >> 6) as usize & 3] |= 1 << (r & 63);
    }
    /// Takes a register out.
    #[inline]
    pub fn remove(&mut self, r: u32) {
        self.0[(r >> 6) as usize & 3] &= !(1 << (r & 63));
    }
    /// True when the register is in the set.
    #[inline]
    pub fn contains(&self, r: u32) -> bool {
        r < 256 && self.0[(r >> 6) as usize] >> (r & 63) & 1 != 0
    }
    /// Members of either.
    #[inline]
    pub fn or(self, o: Self) -> Self {
        RegSet([self.0[0] | o.0[0], self.0[1] | o.0[1], self.0[2] | o.0[2], self.0[3] | o.0[3]])
    }
    /// Members of both.
    #[inline]
    pub fn and(self, o: Self) -> Self {
        RegSet([self.0[0] & o.0[0], self.0[1] & o.0[1], self.0[2] & o.0[2], self.0[3] & o.0[3]])
    }
    /// Members of `self` alone.
    #[inline]
    pub fn without(self, o: Self) -> Self {
        RegSet([self.0[0] & !o.0[0], self.0[1] & !o.0[1], self.0[2] & !o.0[2], self.0[3] & !o.0[3]])
    }
    /// The set moved up by `n` registers; what passes 255 is lost.
    pub fn shifted(self, n: u32) -> Self {
        let (words, bits) = ((n / 64) as usize, n % 64);
        let mut w = [0u64; 4];
        for i in (words..4).rev() {
            w[i] = self.0[i - words] << bits;
            if bits > 0 && i > words {
                w[i] |= self.0[i - words - 1] >> (64 - bits);
            }
        }
        RegSet(w)
    }
    /// The set moved down by `n` registers.
    pub fn shifted_down(self, n: u32) -> Self {
        let (words, bits) = ((n / 64) as usize, n % 64);
        let mut w = [0u64; 4];
        for (i, x) in w.iter_mut().enumerate() {
            if i + words < 4 {
                *x = self.0[i + words] >> bits;
                if bits > 0 && i + words + 1 < 4 {
                    *x |= self.0[i + words + 1] << (64 - bits);
                }
            }
        }
        RegSet(w)
    }
    /// Number of members.
    #[inline]
    pub fn count(&self) -> u32 {
        self.0.iter().map(|w| w.count_ones()).sum()
    }
    /// True when there is no member.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }
    /// Lowest member.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        self.0.iter().enumerate().find(|(_, w)| **w != 0).map(|(i, w)| i as u32 * 64 + w.trailing_zeros())
    }
    /// Highest member.
    pub fn last(&self) -> Option<u32> {
        self.0.iter().enumerate().rev().find(|(_, w)| **w != 0).map(|(i, w)| i as u32 * 64 + 63 - w.leading_zeros())
    }
    /// Members in rising order.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let r = rest.first()?;
            rest.remove(r);
            Some(r)
        })
    }
    /// Registers that are a multiple of `align`.
    pub fn multiples(align: u32) -> Self {
        let word = match align {
            1 => u64::MAX,
            2 => 0x5555_5555_5555_5555,
            4 => 0x1111_1111_1111_1111,
            8 => 0x0101_0101_0101_0101,
            16 => 0x0001_0001_0001_0001,
            32 => 0x0000_0001_0000_0001,
            64 => 1,
            _ => return if align == 128 { RegSet([1, 0, 1, 0]) } else { RegSet([1, 0, 0, 0]) },
        };
        RegSet([word; 4])
    }
    /// The members that start a whole run: `r`, `r + 1`, .. `r + len - 1` are all in the set and `r` is aligned.
    pub fn run_starts(self, len: u32, align: u32) -> Self {
        // Doubling: starts of runs of 1, 2, 4, .. lanes, then the rest.
        let mut have = 1;
        let mut starts = self;
        while have < len {
            let step = have.min(len - have);
            starts = starts.and(starts.shifted_down(step));
            have += step;
        }
        starts.and(Self::multiples(align))
    }
}

impl fmt::Debug for RegSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl FromIterator<u32> for RegSet {
    fn from_iter<T: IntoIterator<Item = u32>>(iter: T) -> Self {
        let mut s = Self::EMPTY;
        iter.into_iter().for_each(|r| s.insert(r));
        s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_starts_agree_with_a_plain_search() {
        let mut x = 12345u64;
        for _ in 0..200 {
            let mut s = RegSet::EMPTY;
            for r in 0..256 {
                x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                if x >> 61 != 0 {
                    s.insert(r);
                }
            }
            for (len, align) in [(1, 1), (2, 2), (3, 4), (4, 4), (5, 1), (8, 8), (17, 4), (64, 8)] {
                let fast = s.run_starts(len, align);
                let slow: RegSet =
                    (0..=256 - len).filter(|&r| r % align == 0 && (r..r + len).all(|k| s.contains(k))).collect();
                assert_eq!(fast, slow, "len {len} align {align}");
            }
        }
    }

    #[test]
    fn shifts_and_spans() {
        let s = RegSet::span(60, 10);
        assert_eq!((s.count(), s.first(), s.last()), (10, Some(60), Some(69)));
        assert_eq!(s.shifted(130).first(), Some(190));
        assert_eq!(s.shifted(190).iter().collect::<Vec<_>>(), [250, 251, 252, 253, 254, 255]);
        assert_eq!(s.shifted_down(60), RegSet::below(10));
        assert_eq!(RegSet::below(256).count(), 256);
        assert_eq!(RegSet::span(250, 30).count(), 6);
        assert!(!RegSet::below(256).contains(256));
    }
}
