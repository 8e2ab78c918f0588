//! One record for each kernel.

use super::{waves, Entry, Grid, ALLOCATOR, SCHEDULE};
use crate::render::csv::record;

/// Records with a header.
pub fn to_csv(entries: &[Entry<'_>], grid: Option<Grid>) -> String {
    let mut header = vec![
        "kernel",
        "source",
        "arch",
        "threads",
        "ceiling",
        "budget",
        "allocator",
        "schedule",
        "instructions",
        "max_live",
        "used_regs",
        "blocks_per_sm",
        "warps_per_sm",
        "max_warps_per_sm",
        "occupancy",
        "spill_store_bytes",
        "spill_load_bytes",
        "weighted_spill_cost",
        "copies",
        "swaps",
        "remats",
        "check",
    ];
    if grid.is_some() {
        header.push("waves");
    }
    let mut out = String::new();
    record(&mut out, &header);
    for e in entries {
        let (r, f, o) = (e.report, &e.report.figures, &e.report.occupancy);
        let mut row = vec![
            r.name.clone(),
            e.source.to_string(),
            r.launch.arch.name().to_string(),
            r.launch.threads.0.to_string(),
            r.launch.ceiling.ceiling.0.to_string(),
            r.choice.budget.0.to_string(),
            ALLOCATOR.to_string(),
            SCHEDULE.to_string(),
            r.instructions.to_string(),
            r.max_live.to_string(),
            f.used.0.to_string(),
            o.blocks_per_sm.0.to_string(),
            o.warps_per_sm.0.to_string(),
            o.max_warps_per_sm.0.to_string(),
            o.ratio().to_f64().to_string(),
            f.spill_store_bytes.0.to_string(),
            f.spill_load_bytes.0.to_string(),
            f.weighted_spill_cost.to_string(),
            f.copies.to_string(),
            f.swaps.to_string(),
            f.remats.to_string(),
            r.check.name().to_string(),
        ];
        if let Some(g) = grid {
            row.push(waves(g, r).map(|w| w.0.to_string()).unwrap_or_default());
        }
        record(&mut out, &row);
    }
    out
}
