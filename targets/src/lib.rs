//! Architectures as data, occupancy, its cliffs, and launch bounds.
//!
//! * [`arch`]: what one architecture offers, each number with its source.
//! * [`occupancy`](mod@occupancy): how many blocks of a kernel are resident on one SM, and what
//!   limits them.
//! * [`cliffs`](mod@cliffs): the inverse, i.e. the largest register count for every number of
//!   resident warps.
//! * [`waves`](mod@waves): how often a grid fills the machine.
//! * [`units`]: registers, warps, blocks, threads and bytes as types of their own.
//!
//! Register counts are always those that the assembler reports ("Used R registers"), so they
//! include the [reserved pair](Arch::reserved_regs). All arithmetic is exact and in integers. No
//! input makes it overflow or panic.
#![warn(missing_docs)]

pub mod arch;
pub mod cliffs;
pub mod occupancy;
mod register_term;
pub mod units;
pub mod waves;

pub use arch::{Arch, ArchSpec, InvalidArch, UnknownArch};
pub use cliffs::{cliffs, CliffRow, CliffTable};
pub use occupancy::{
    occupancy, Limiter, Limiters, Limits, NextStep, Occupancy, OccupancyError, Request,
};
pub use register_term::max_regs_for_blocks;
pub use units::{Blocks, Bytes, Ratio, Regs, Threads, Warps, WARP_SIZE};
pub use waves::{waves, Waves};
