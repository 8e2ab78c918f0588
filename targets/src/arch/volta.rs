//! Volta: sm_70, sm_72.
//!
//! ptxas 13.0 does not accept these targets, so nothing here was measured with it.

use std::borrow::Cow;

use super::data::{documented, header, kb, product, recalled_product, uncertain};
use super::{Arch, ArchSpec, ComputeCapability};
use crate::units::{Blocks, Bytes, Regs, Threads, Warps};

const CARVEOUTS: &[Bytes] = &[kb(0), kb(8), kb(16), kb(32), kb(64), kb(96)];

const VOLTA: ArchSpec = ArchSpec {
    compute_capability: header(ComputeCapability { major: 7, minor: 0 }),
    max_warps_per_sm: documented(Warps(64)),
    max_threads_per_sm: documented(Threads(2048)),
    max_blocks_per_sm: header(Blocks(32)),
    max_threads_per_block: documented(Threads(1024)),
    registers_per_sm: documented(Regs(65_536)),
    registers_per_block: documented(Regs(65_536)),
    max_regs_per_thread: documented(Regs(255)),
    max_regs_accepted: header(Regs(256)),
    reg_alloc_unit_per_warp: header(Regs(256)),
    // Measured from sm_75 on.
    reserved_regs: uncertain(Regs(2)),
    reg_count_lower_clamp: uncertain(None),
    sub_partitions: header(4),
    smem_per_sm: documented(Some(kb(96))),
    smem_per_block_default: documented(kb(48)),
    smem_per_block_optin: documented(Some(kb(96))),
    // Nothing is reserved before compute capability 8.0.
    reserved_smem_per_block: documented(Bytes(0)),
    smem_alloc_granularity: header(Bytes(256)),
    // The header has no barrier term before compute capability 9.0.
    barrier_slots_per_sm: header(None),
    barriers_per_block: documented(16),
    virtual_resources_per_sm: header(None),
    general_registers: documented(255),
    // The uniform data path came with Turing.
    uniform_registers: documented(0),
    predicates: documented(7),
    uniform_predicates: documented(0),
    barrier_registers: uncertain(16),
    // The layout of sm_75.
    param_base: uncertain(Bytes(0x160)),
    ntid_offset: uncertain(Bytes(0x0)),
    stack_base_offset: uncertain(Bytes(0x28)),
};

pub(super) const SM_70: Arch = Arch {
    name: Cow::Borrowed("sm_70"),
    aliases: &[],
    spec: VOLTA,
    smem_carveouts: CARVEOUTS,
    products: &[product("V100", 80)],
};

pub(super) const SM_72: Arch = Arch {
    name: Cow::Borrowed("sm_72"),
    aliases: &[],
    spec: ArchSpec {
        compute_capability: header(ComputeCapability { major: 7, minor: 2 }),
        uniform_registers: uncertain(0),
        uniform_predicates: uncertain(0),
        ..VOLTA
    },
    smem_carveouts: CARVEOUTS,
    products: &[recalled_product("Xavier AGX", 8)],
};
