//! Blackwell: sm_100 and sm_103 (data center), sm_110 (Thor), sm_120 and sm_121 (workstation).
//!
//! A published tuning guide gives compute capability 12.0 32 blocks and 128 KB per SM. The
//! compute-capability table and the occupancy header say 24 and 100 KB, and ptxas accepts at most
//! 24, so those numbers stand here.

use std::borrow::Cow;

use super::data::{documented, header, kb, measured, product, recalled_product, uncertain};
use super::hopper::CARVEOUTS_228;
use super::{Arch, ArchSpec, ComputeCapability};
use crate::units::{Blocks, Bytes, Regs, Threads, Warps};

const CARVEOUTS_100: &[Bytes] = &[kb(0), kb(8), kb(16), kb(32), kb(64), kb(100)];

const DATA_CENTER: ArchSpec = ArchSpec {
    compute_capability: header(ComputeCapability { major: 10, minor: 0 }),
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
    virtual_resources_per_sm: header(Some(128)),
    general_registers: documented(255),
    // As on the architectures before; not confirmed for this generation.
    uniform_registers: uncertain(63),
    predicates: documented(7),
    uniform_predicates: uncertain(7),
    barrier_registers: uncertain(16),
    param_base: measured(Bytes(0x380)),
    ntid_offset: measured(Bytes(0x360)),
    stack_base_offset: measured(Bytes(0x37c)),
};

/// `sm_110`, `sm_120` and `sm_121`: 48 warps, 24 blocks, as many barrier slots as blocks.
const SMALL: ArchSpec = ArchSpec {
    compute_capability: header(ComputeCapability { major: 12, minor: 0 }),
    max_warps_per_sm: documented(Warps(48)),
    max_threads_per_sm: documented(Threads(1536)),
    max_blocks_per_sm: header(Blocks(24)),
    smem_per_sm: documented(Some(kb(100))),
    smem_per_block_optin: documented(Some(kb(99))),
    reserved_smem_per_block: uncertain(kb(1)),
    barrier_slots_per_sm: header(Some(24)),
    ..DATA_CENTER
};

/// The constant bank was read on sm_100 and sm_120; their relatives are taken to agree.
const fn constant_bank_inferred(spec: ArchSpec) -> ArchSpec {
    ArchSpec {
        param_base: uncertain(spec.param_base.value),
        ntid_offset: uncertain(spec.ntid_offset.value),
        stack_base_offset: uncertain(spec.stack_base_offset.value),
        ..spec
    }
}

pub(super) const SM_100: Arch = Arch {
    name: Cow::Borrowed("sm_100"),
    aliases: &["sm_100a", "sm_100f"],
    spec: DATA_CENTER,
    smem_carveouts: CARVEOUTS_228,
    products: &[recalled_product("B200", 148)],
};

pub(super) const SM_103: Arch = Arch {
    name: Cow::Borrowed("sm_103"),
    aliases: &["sm_103a", "sm_103f"],
    spec: constant_bank_inferred(ArchSpec {
        compute_capability: header(ComputeCapability { major: 10, minor: 3 }),
        ..DATA_CENTER
    }),
    smem_carveouts: CARVEOUTS_228,
    // 160 is also reported.
    products: &[recalled_product("B300", 148)],
};

pub(super) const SM_110: Arch = Arch {
    name: Cow::Borrowed("sm_110"),
    aliases: &["sm_110a", "sm_110f"],
    spec: constant_bank_inferred(ArchSpec {
        compute_capability: header(ComputeCapability { major: 11, minor: 0 }),
        smem_per_sm: documented(Some(kb(228))),
        smem_per_block_optin: documented(Some(kb(227))),
        ..SMALL
    }),
    smem_carveouts: CARVEOUTS_228,
    products: &[recalled_product("Jetson Thor", 20)],
};

pub(super) const SM_120: Arch = Arch {
    name: Cow::Borrowed("sm_120"),
    aliases: &["sm_120a", "sm_120f"],
    spec: SMALL,
    smem_carveouts: CARVEOUTS_100,
    products: &[product("RTX 5090", 170), product("RTX PRO 6000", 188)],
};

pub(super) const SM_121: Arch = Arch {
    name: Cow::Borrowed("sm_121"),
    aliases: &["sm_121a", "sm_121f"],
    spec: constant_bank_inferred(ArchSpec {
        compute_capability: header(ComputeCapability { major: 12, minor: 1 }),
        ..SMALL
    }),
    smem_carveouts: CARVEOUTS_100,
    products: &[recalled_product("GB10", 48)],
};
