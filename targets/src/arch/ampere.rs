//! Ampere: sm_80, and the smaller SMs of sm_86, sm_87 and sm_88.

use std::borrow::Cow;

use super::data::{documented, header, kb, measured, product, uncertain};
use super::{Arch, ArchSpec, ComputeCapability};
use crate::units::{Blocks, Bytes, Regs, Threads, Warps};

const CARVEOUTS_100: &[Bytes] = &[kb(0), kb(8), kb(16), kb(32), kb(64), kb(100)];
const CARVEOUTS_164: &[Bytes] = &[kb(0), kb(8), kb(16), kb(32), kb(64), kb(100), kb(132), kb(164)];

/// What sm_80 shares with all of compute capability 8.x; `ada` starts from it too.
pub(super) const AMPERE: ArchSpec = ArchSpec {
    compute_capability: header(ComputeCapability { major: 8, minor: 0 }),
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
    smem_per_sm: documented(Some(kb(164))),
    smem_per_block_default: documented(kb(48)),
    smem_per_block_optin: documented(Some(kb(163))),
    // Device property reservedSharedMemPerBlock; smem_per_sm - smem_per_block_optin.
    reserved_smem_per_block: documented(kb(1)),
    smem_alloc_granularity: header(Bytes(128)),
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
};

pub(super) const SM_80: Arch = Arch {
    name: Cow::Borrowed("sm_80"),
    aliases: &[],
    spec: AMPERE,
    smem_carveouts: CARVEOUTS_164,
    products: &[product("A100", 108), product("A30", 56)],
};

pub(super) const SM_86: Arch = Arch {
    name: Cow::Borrowed("sm_86"),
    aliases: &[],
    spec: ArchSpec {
        compute_capability: header(ComputeCapability { major: 8, minor: 6 }),
        max_warps_per_sm: documented(Warps(48)),
        max_threads_per_sm: documented(Threads(1536)),
        max_blocks_per_sm: header(Blocks(16)),
        smem_per_sm: documented(Some(kb(100))),
        smem_per_block_optin: documented(Some(kb(99))),
        ..AMPERE
    },
    smem_carveouts: CARVEOUTS_100,
    products: &[product("RTX 3090", 82), product("A40", 84), product("A10", 72)],
};

pub(super) const SM_87: Arch = Arch {
    name: Cow::Borrowed("sm_87"),
    aliases: &[],
    spec: ArchSpec {
        compute_capability: header(ComputeCapability { major: 8, minor: 7 }),
        max_warps_per_sm: documented(Warps(48)),
        max_threads_per_sm: documented(Threads(1536)),
        max_blocks_per_sm: header(Blocks(16)),
        // Not among the targets whose constant bank was read.
        param_base: uncertain(Bytes(0x160)),
        ntid_offset: uncertain(Bytes(0x0)),
        stack_base_offset: uncertain(Bytes(0x28)),
        ..AMPERE
    },
    smem_carveouts: CARVEOUTS_164,
    products: &[product("Orin AGX 64GB", 16)],
};

/// Not in the public table: ptxas accepts it and its range checks give warps and blocks. Its
/// shared memory is not known.
pub(super) const SM_88: Arch = Arch {
    name: Cow::Borrowed("sm_88"),
    aliases: &[],
    spec: ArchSpec {
        compute_capability: header(ComputeCapability { major: 8, minor: 8 }),
        max_warps_per_sm: measured(Warps(48)),
        max_threads_per_sm: measured(Threads(1536)),
        max_blocks_per_sm: header(Blocks(16)),
        max_threads_per_block: uncertain(Threads(1024)),
        registers_per_sm: uncertain(Regs(65_536)),
        registers_per_block: uncertain(Regs(65_536)),
        max_regs_per_thread: uncertain(Regs(255)),
        reserved_regs: uncertain(Regs(2)),
        smem_per_sm: uncertain(None),
        smem_per_block_default: uncertain(kb(48)),
        smem_per_block_optin: uncertain(None),
        reserved_smem_per_block: uncertain(kb(1)),
        barriers_per_block: uncertain(16),
        general_registers: uncertain(255),
        uniform_registers: uncertain(63),
        predicates: uncertain(7),
        uniform_predicates: uncertain(7),
        param_base: uncertain(Bytes(0x160)),
        ntid_offset: uncertain(Bytes(0x0)),
        stack_base_offset: uncertain(Bytes(0x28)),
        ..AMPERE
    },
    // The header's branch for any 8.x that it does not name.
    smem_carveouts: CARVEOUTS_100,
    products: &[],
};
