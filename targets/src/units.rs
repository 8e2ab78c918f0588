//! Quantities with units, so that a register count never passes for a warp count.
//!
//! Each is a `u32` in a newtype. Addition and subtraction of like units saturate: a quantity
//! beyond `u32` is beyond every machine, and the limit it is compared with is then missed anyway.

use std::fmt;
use std::ops::{Add, Sub};

/// Threads in a warp, on every architecture covered here.
pub const WARP_SIZE: u32 = 32;

macro_rules! unit {
    ($(#[$doc:meta])* $name:ident, $one:literal, $many:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The bare number.
            pub const fn get(self) -> u32 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} {}", self.0, if self.0 == 1 { $one } else { $many })
            }
        }

        impl Add for $name {
            type Output = Self;
            /// Saturates.
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl Sub for $name {
            type Output = Self;
            /// Saturates at zero.
            fn sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }
    };
}

unit! {
    /// 32-bit registers; per thread unless the name says otherwise.
    Regs, "register", "registers"
}
unit! {
    /// Warps of [`WARP_SIZE`] threads.
    Warps, "warp", "warps"
}
unit! {
    /// Thread blocks (CTAs).
    Blocks, "block", "blocks"
}
unit! {
    /// Threads.
    Threads, "thread", "threads"
}
unit! {
    /// Bytes.
    Bytes, "byte", "bytes"
}

impl Threads {
    /// Warps that these threads fill, the last one perhaps in part.
    pub const fn warps(self) -> Warps {
        Warps(self.0.div_ceil(WARP_SIZE))
    }
}

/// An exact fraction, kept as given (not reduced), for ratios that are printed and compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    /// Numerator.
    pub num: u64,
    /// Denominator, never zero.
    pub den: u64,
}

impl Ratio {
    /// `num / den`. A denominator of zero stands for "no such ratio" and gives `None`.
    pub const fn new(num: u64, den: u64) -> Option<Self> {
        if den == 0 {
            None
        } else {
            Some(Self { num, den })
        }
    }

    /// The nearest double. For printing; decisions use [`Ratio::num`] and [`Ratio::den`].
    pub fn to_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.num, self.den)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_printed() {
        assert_eq!(Regs(32).to_string(), "32 registers");
        assert_eq!(Warps(1).to_string(), "1 warp");
        assert_eq!(Bytes(0).to_string(), "0 bytes");
    }

    #[test]
    fn threads_fill_whole_warps() {
        for (threads, warps) in [(0, 0), (1, 1), (32, 1), (33, 2), (u32::MAX, 1 << 27)] {
            assert_eq!(Threads(threads).warps(), Warps(warps));
        }
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Regs(u32::MAX) + Regs(1), Regs(u32::MAX));
        assert_eq!(Regs(1) - Regs(2), Regs(0));
    }

    #[test]
    fn no_ratio_over_zero() {
        assert_eq!(Ratio::new(1, 0), None);
        assert_eq!(Ratio::new(1, 4).map(Ratio::to_f64), Some(0.25));
    }
}
