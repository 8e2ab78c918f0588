//! The register term of occupancy, in both directions: from a register count to the blocks that
//! fit, and from blocks to the largest register count.
//!
//! A warp takes `rw = up(32 R, unit)` registers from the one sub-partition it lives in, so a
//! sub-partition holds `(file / partitions) / rw` warps, and an SM `partitions` times that many.
//! A block needs `w` of them, anywhere. The per-block check counts the warps of a block rounded
//! up to whole rows of sub-partitions.
//!
//! Occupancy, the cliff table and launch bounds all use these two functions, so they cannot
//! disagree; that each is the inverse of the other is a property test.

use crate::arch::Arch;
use crate::units::{Blocks, Regs, Threads, Warps, WARP_SIZE};

/// Registers that one warp takes, in units of the allocator of `arch`.
pub(crate) fn regs_per_warp(arch: &Arch, regs: Regs) -> u64 {
    let unit = u64::from(arch.reg_alloc_unit_per_warp().0);
    (u64::from(regs.0) * u64::from(WARP_SIZE)).next_multiple_of(unit)
}

/// Warps of a block, rounded up to a whole row of sub-partitions, as the per-block check counts.
fn warps_in_rows(arch: &Arch, warps: Warps) -> u64 {
    u64::from(warps.0).next_multiple_of(u64::from(arch.sub_partitions()))
}

/// Blocks of `warps` warps (at least one) that the register file holds; `None` = any number.
pub(crate) fn blocks_by_registers(arch: &Arch, warps: Warps, regs: Regs) -> Option<Blocks> {
    debug_assert!(warps.0 > 0, "a block has a warp");
    if regs.0 == 0 {
        return None;
    }
    if regs > arch.max_regs_accepted() {
        return Some(Blocks(0));
    }
    let rw = regs_per_warp(arch, regs);
    // Saturation keeps the comparison right: the product is then far above any register file.
    if rw.saturating_mul(warps_in_rows(arch, warps)) > u64::from(arch.registers_per_block().0) {
        return Some(Blocks(0));
    }
    let partitions = u64::from(arch.sub_partitions());
    let share = u64::from(arch.registers_per_sm().0) / partitions;
    let blocks = partitions * (share / rw) / u64::from(warps.0);
    // At most registers_per_sm / 32, so it fits.
    Some(Blocks(u32::try_from(blocks).unwrap_or(u32::MAX)))
}

/// The largest register count per thread with which the register file holds `blocks` blocks of
/// `threads` threads: `cap(T, B)` of launch bounds, and the cliff of occupancy. At most
/// [`max_regs_per_thread`](Arch::max_regs_per_thread); zero where not even one register fits.
/// Other limits (warps, blocks, shared memory) are not looked at.
pub fn max_regs_for_blocks(arch: &Arch, threads: Threads, blocks: Blocks) -> Regs {
    let warps = threads.warps();
    if warps.0 == 0 || blocks.0 == 0 {
        return arch.max_regs_per_thread();
    }
    let partitions = u64::from(arch.sub_partitions());
    let share = u64::from(arch.registers_per_sm().0) / partitions;
    let warps_per_partition = (u64::from(warps.0) * u64::from(blocks.0)).div_ceil(partitions);
    let per_warp =
        (share / warps_per_partition).min(u64::from(arch.registers_per_block().0) / warps_in_rows(arch, warps));
    let unit = u64::from(arch.reg_alloc_unit_per_warp().0);
    let regs = per_warp / unit * unit / u64::from(WARP_SIZE);
    Regs(u32::try_from(regs).unwrap_or(u32::MAX)).min(arch.max_regs_per_thread())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cap(threads: u32, blocks: u32) -> u32 {
        let arch = Arch::find("sm_80").unwrap();
        max_regs_for_blocks(arch, Threads(threads), Blocks(blocks)).0
    }

    /// Registers that the real assembler used under these launch bounds.
    #[test]
    fn caps_agree_with_the_assembler() {
        for (threads, blocks, regs) in [
            (256, 4, 64),
            (256, 8, 32),
            (1024, 2, 32),
            (1024, 1, 64),
            (768, 1, 80),
            (128, 3, 168),
            (33, 20, 48),
            (256, 1, 255),
        ] {
            assert_eq!(cap(threads, blocks), regs, "({threads}, {blocks})");
        }
    }

    #[test]
    fn extremes_do_not_overflow() {
        assert_eq!(cap(u32::MAX, u32::MAX), 0);
        assert_eq!(cap(0, 1), 255);
        assert_eq!(cap(1024, 0), 255);
    }
}
