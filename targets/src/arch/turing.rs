//! Turing: sm_75. Half the warps of its neighbors on the same register file.

use std::borrow::Cow;

use super::data::{documented, header, kb, measured, product, uncertain};
use super::{Arch, ArchSpec, ComputeCapability};
use crate::units::{Blocks, Bytes, Regs, Threads, Warps};

pub(super) const SM_75: Arch = Arch {
    name: Cow::Borrowed("sm_75"),
    aliases: &[],
    spec: ArchSpec {
        compute_capability: header(ComputeCapability { major: 7, minor: 5 }),
        // Warps, threads and blocks per SM: ptxas's range checks use the same numbers.
        max_warps_per_sm: documented(Warps(32)),
        max_threads_per_sm: documented(Threads(1024)),
        max_blocks_per_sm: header(Blocks(16)),
        max_threads_per_block: documented(Threads(1024)),
        registers_per_sm: documented(Regs(65_536)),
        registers_per_block: documented(Regs(65_536)),
        max_regs_per_thread: documented(Regs(255)),
        max_regs_accepted: header(Regs(256)),
        reg_alloc_unit_per_warp: header(Regs(256)),
        reserved_regs: measured(Regs(2)),
        reg_count_lower_clamp: measured(Some(Regs(24))),
        sub_partitions: header(4),
        smem_per_sm: documented(Some(kb(64))),
        smem_per_block_default: documented(kb(48)),
        smem_per_block_optin: documented(Some(kb(64))),
        // Nothing is reserved before compute capability 8.0.
        reserved_smem_per_block: documented(Bytes(0)),
        smem_alloc_granularity: header(Bytes(256)),
        // The header has no barrier term before compute capability 9.0.
        barrier_slots_per_sm: header(None),
        barriers_per_block: documented(16),
        virtual_resources_per_sm: header(None),
        general_registers: documented(255),
        uniform_registers: documented(63),
        predicates: documented(7),
        uniform_predicates: documented(7),
        barrier_registers: uncertain(16),
        param_base: measured(Bytes(0x160)),
        ntid_offset: measured(Bytes(0x0)),
        stack_base_offset: measured(Bytes(0x28)),
    },
    smem_carveouts: &[kb(32), kb(64)],
    products: &[product("T4", 40), product("RTX 2080 Ti", 68)],
};
