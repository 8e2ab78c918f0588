//! How often a grid fills the machine.
//!
//! One wave is a block in every place that the SMs have. This is the arithmetic of full waves;
//! blocks of unequal duration do not run in lock step, which only a simulation in time shows.

use crate::units::{Blocks, Ratio};

/// The waves of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Waves {
    /// Waves begun, the last one perhaps in part.
    pub count: u64,
    /// Blocks of the grid over blocks of a full wave.
    pub exact: Ratio,
}

impl Waves {
    /// The part of all places, over all waves, that holds a block: `exact / count`. `None` for an
    /// empty grid, or beyond 64 bits.
    pub fn efficiency(&self) -> Option<Ratio> {
        Ratio::new(self.exact.num, self.exact.den.checked_mul(self.count)?)
    }
}

/// The waves of a grid of `grid` blocks on `sms` SMs that hold `blocks_per_sm` each. `None` where
/// nothing is ever resident.
pub fn waves(grid: u64, sms: u32, blocks_per_sm: Blocks) -> Option<Waves> {
    let exact = Ratio::new(grid, u64::from(sms) * u64::from(blocks_per_sm.0))?;
    Some(Waves { count: exact.num.div_ceil(exact.den), exact })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_wave_counts_whole() {
        let w = waves(4096, 128, Blocks(6)).unwrap();
        assert_eq!(w.count, 6);
        assert_eq!(w.exact, Ratio { num: 4096, den: 768 });
        assert_eq!(format!("{:.2}", w.exact.to_f64()), "5.33");
        assert_eq!(w.efficiency(), Ratio::new(4096, 768 * 6));
    }

    #[test]
    fn edges() {
        assert_eq!(waves(768, 128, Blocks(6)).unwrap().count, 1);
        assert_eq!(waves(769, 128, Blocks(6)).unwrap().count, 2);
        assert_eq!(waves(0, 128, Blocks(6)).unwrap().count, 0);
        assert_eq!(waves(0, 128, Blocks(6)).unwrap().efficiency(), None);
        assert_eq!(waves(1, 0, Blocks(6)), None);
        assert_eq!(waves(1, 128, Blocks(0)), None);
        assert_eq!(waves(u64::MAX, u32::MAX, Blocks(u32::MAX)).unwrap().count, 2);
        assert_eq!(waves(u64::MAX, 1, Blocks(1)).unwrap().count, u64::MAX);
    }
}
