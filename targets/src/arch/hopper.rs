//! Hopper: sm_90. The first with a barrier term, and with its own constant bank layout.

use std::borrow::Cow;

use super::data::{documented, header, kb, measured, product, uncertain};
use super::{Arch, ArchSpec, ComputeCapability};
use crate::units::{Blocks, Bytes, Regs, Threads, Warps};

/// Shared memory capacities of the large SMs; `blackwell` has them too.
pub(super) const CARVEOUTS_228: &[Bytes] =
    &[kb(0), kb(8), kb(16), kb(32), kb(64), kb(100), kb(132), kb(164), kb(196), kb(228)];

pub(super) const SM_90: Arch = Arch {
    name: Cow::Borrowed("sm_90"),
    aliases: &["sm_90a"],
    spec: ArchSpec {
        compute_capability: header(ComputeCapability { major: 9, minor: 0 }),
        // Warps, threads and blocks per SM: ptxas's range checks use the same numbers.
        max_warps_per_sm: documented(Warps(64)),
        max_threads_per_sm: documented(Threads(2048)),
        max_blocks_per_sm: header(Blocks(32)),
        max_threads_per_block: documented(Threads(1024)),
        registers_per_sm: documented(Regs(65_536)),
        registers_per_block: documented(Regs(65_536)),
        max_regs_per_thread: documented(Regs(255)),
        max_regs_accepted: header(Regs(256)),
        reg_alloc_unit_per_warp: header(Regs(256)),
        reserved_regs: measured(Regs(2)),
        reg_count_lower_clamp: measured(Some(Regs(24))),
        sub_partitions: header(4),
        smem_per_sm: documented(Some(kb(228))),
        smem_per_block_default: documented(kb(48)),
        smem_per_block_optin: documented(Some(kb(227))),
        reserved_smem_per_block: documented(kb(1)),
        smem_alloc_granularity: header(Bytes(128)),
        // Twice the blocks.
        barrier_slots_per_sm: header(Some(64)),
        barriers_per_block: documented(16),
        virtual_resources_per_sm: header(None),
        general_registers: documented(255),
        uniform_registers: documented(63),
        predicates: documented(7),
        uniform_predicates: documented(7),
        barrier_registers: uncertain(16),
        param_base: measured(Bytes(0x210)),
        ntid_offset: measured(Bytes(0x0)),
        stack_base_offset: measured(Bytes(0x28)),
    },
    smem_carveouts: CARVEOUTS_228,
    products: &[product("H100 SXM", 132), product("H100 PCIe", 114), product("H200", 132)],
};
