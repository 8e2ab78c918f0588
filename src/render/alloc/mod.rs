//! Allocation reports: the story of one kernel, a table of many, JSON, CSV, and lines in the style of ptxas.

mod csv;
mod json;
mod ptxas;
mod story;
mod summary;

pub use csv::to_csv;
pub use json::document;
pub use ptxas::lines;
pub use story::story;
pub use summary::summary;

use crate::driver::AllocReport;

/// A report with the name of its source, and the grid that waves are counted for.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Where the kernel came from.
    pub source: &'a str,
    /// The report.
    pub report: &'a AllocReport,
}

/// Blocks of a grid and the SMs that run them.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Blocks of the grid.
    pub blocks: u64,
    /// SMs of the machine.
    pub sms: u32,
}

/// `6 waves (5.33)`: waves begun and their exact number; `None` where nothing is resident.
fn waves(grid: Grid, report: &AllocReport) -> Option<(u64, f64)> {
    let w = fatpoint_targets::waves(grid.blocks, grid.sms, report.occupancy.blocks_per_sm)?;
    Some((w.count, w.exact.to_f64()))
}

/// The allocator's name, as `--allocator` takes it.
pub const ALLOCATOR: &str = "ssa-scan";
/// The schedule's name, as `--schedule` takes it.
pub const SCHEDULE: &str = "source";
