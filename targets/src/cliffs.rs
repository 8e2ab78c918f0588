//! The occupancy cliffs: for every number of resident warps that a kernel can reach by its
//! register count alone, the largest such count.
//!
//! The table is the exact inverse of [`occupancy`](mod@crate::occupancy): a count `R` with
//! `row.max_regs` of the row above `< R <= row.max_regs` gives the warps of the row, and
//! `row.max_regs + 1` gives fewer. Only these few counts matter: between two cliffs a register
//! more or less changes nothing.

use crate::arch::Arch;
use crate::occupancy::{blocks_without_registers, OccupancyError, Request};
use crate::register_term::{blocks_by_registers, max_regs_for_blocks};
use crate::units::{Blocks, Bytes, Ratio, Regs, Threads, Warps};

/// One step of the staircase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CliffRow {
    /// The largest register count that gives these warps.
    pub max_regs: Regs,
    /// Resident blocks.
    pub blocks_per_sm: Blocks,
    /// Resident warps.
    pub warps_per_sm: Warps,
    /// Resident warps over the limit of the architecture.
    pub occupancy: Ratio,
}

/// The staircase from most warps (fewest registers) to least.
///
/// `max_regs` rises and `warps_per_sm` falls strictly from row to row; no row has zero blocks. A
/// kernel that cannot be resident at any register count has no rows.
///
/// The table covers 1 up to [`max_regs_per_thread`](Arch::max_regs_per_thread) registers. Larger
/// counts, which no compiler produces, are above its last row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliffTable {
    rows: Vec<CliffRow>,
}

impl CliffTable {
    /// The rows, most warps first.
    pub fn rows(&self) -> &[CliffRow] {
        &self.rows
    }

    fn index_of(&self, regs: Regs) -> usize {
        self.rows.partition_point(|row| row.max_regs < regs)
    }

    /// The row that a register count falls in. `None` if no block is resident with that many.
    pub fn row_of(&self, regs: Regs) -> Option<&CliffRow> {
        self.rows.get(self.index_of(regs))
    }

    /// The next row with more warps than `regs` registers give. `None` if there are no more to be
    /// had.
    pub fn next_up(&self, regs: Regs) -> Option<&CliffRow> {
        self.index_of(regs).checked_sub(1).map(|i| &self.rows[i])
    }

    /// The row with the most registers that still gives at least `warps`. `None` if no register
    /// count does.
    pub fn row_with_warps(&self, warps: Warps) -> Option<&CliffRow> {
        self.rows.iter().rev().find(|row| row.warps_per_sm >= warps)
    }
}

/// The cliffs of a kernel with `threads` threads per block, its shared memory per block and its
/// named barriers per block.
///
/// # Errors
/// Those of [`occupancy`](crate::occupancy()).
pub fn cliffs(
    arch: &Arch,
    threads: Threads,
    static_smem: Bytes,
    dynamic_smem: Bytes,
    barriers: u32,
) -> Result<CliffTable, OccupancyError> {
    let request = Request { threads, regs: Regs(1), static_smem, dynamic_smem, barriers };
    let reachable = blocks_without_registers(arch, &request)?;
    let warps = threads.warps();
    let blocks_at =
        |regs: Regs| blocks_by_registers(arch, warps, regs).map_or(reachable, |blocks| blocks.min(reachable));

    let mut rows = Vec::new();
    let mut regs = Regs(1);
    // Each turn jumps over one step, so there are as many turns as rows.
    while regs <= arch.max_regs_per_thread() {
        let blocks = blocks_at(regs);
        if blocks.0 == 0 {
            break;
        }
        let max_regs = max_regs_for_blocks(arch, threads, blocks);
        let warps_per_sm = Warps(blocks.0 * warps.0);
        rows.push(CliffRow {
            max_regs,
            blocks_per_sm: blocks,
            warps_per_sm,
            occupancy: Ratio { num: warps_per_sm.0.into(), den: arch.max_warps_per_sm().0.into() },
        });
        debug_assert!(max_regs >= regs, "a count is at or below its own cliff");
        if max_regs == arch.max_regs_per_thread() {
            break;
        }
        regs = max_regs + Regs(1);
    }
    Ok(CliffTable { rows })
}
