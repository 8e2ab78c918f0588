//! Architectures as data, occupancy, its cliffs, and launch bounds.
//!
//! * [`arch`]: what one architecture offers, each number with its source.
//! * [`occupancy`](mod@occupancy): how many blocks of a kernel are resident on one SM, and what
//!   limits them.
//! * [`cliffs`](mod@cliffs): the inverse, i.e. the largest register count for every number of
//!   resident warps.
//! * [`launch_bounds`](mod@launch_bounds): from a kernel's directives to the register ceiling of its
//!   compilation.
//! * [`waves`](mod@waves): how often a grid fills the machine.
//! * [`units`]: registers, warps, blocks, threads and bytes as types of their own.
//!
//! Register counts are always those that the assembler reports ("Used R registers"), so they
//! include the [reserved pair](Arch::reserved_regs). All arithmetic is exact and in integers. No
//! input makes it overflow or panic.
//!
//! ```
//! use fatpoint_targets::{cliffs, occupancy, Arch, Bytes, Regs, Request, Threads, Warps};
//!
//! let arch = Arch::find("sm_80")?;
//! let now = occupancy(arch, &Request::new(Threads(128), Regs(41)))?;
//! assert_eq!(now.warps_per_sm, Warps(40));
//! assert_eq!(now.limiters.to_string(), "registers");
//!
//! // One register less is worth two more blocks; seven more would cost nothing.
//! let step = now.next_step.unwrap();
//! assert_eq!((step.regs, step.warps_per_sm, now.slack_regs), (Regs(40), Warps(48), Regs(7)));
//!
//! let table = cliffs(arch, Threads(128), Bytes(0), Bytes(0), 1)?;
//! assert_eq!(table.row_with_warps(Warps(64)).unwrap().max_regs, Regs(32));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(missing_docs)]

pub mod arch;
pub mod cliffs;
pub mod launch_bounds;
pub mod occupancy;
mod register_term;
pub mod units;
pub mod waves;

pub use arch::{Arch, ArchSpec, InvalidArch, UnknownArch};
pub use cliffs::{cliffs, CliffRow, CliffTable};
pub use launch_bounds::{launch_bounds, Ceiling, LaunchBounds, LaunchBoundsError};
pub use occupancy::{occupancy, Limiter, Limiters, Limits, NextStep, Occupancy, OccupancyError, Request};
pub use register_term::max_regs_for_blocks;
pub use units::{Blocks, Bytes, Ratio, Regs, Threads, Warps, WARP_SIZE};
pub use waves::{waves, Waves};
