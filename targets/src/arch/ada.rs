//! Ada: sm_89. The SM of sm_86 with 24 blocks.

use std::borrow::Cow;

use super::ampere::AMPERE;
use super::data::{documented, header, kb, product};
use super::{Arch, ArchSpec, ComputeCapability};
use crate::units::{Blocks, Threads, Warps};

pub(super) const SM_89: Arch = Arch {
    name: Cow::Borrowed("sm_89"),
    aliases: &[],
    spec: ArchSpec {
        compute_capability: header(ComputeCapability { major: 8, minor: 9 }),
        max_warps_per_sm: documented(Warps(48)),
        max_threads_per_sm: documented(Threads(1536)),
        max_blocks_per_sm: header(Blocks(24)),
        smem_per_sm: documented(Some(kb(100))),
        smem_per_block_optin: documented(Some(kb(99))),
        ..AMPERE
    },
    smem_carveouts: &[kb(0), kb(8), kb(16), kb(32), kb(64), kb(100)],
    products: &[product("RTX 4090", 128), product("L40S", 142), product("L4", 58)],
};
