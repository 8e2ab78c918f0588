//! Many kernels: one row each, and the totals.

use super::{waves, Entry, Grid};
use crate::driver::CheckLevel;
use crate::render::table::{Align, Table};
use crate::render::{count, paragraph};
use std::fmt::Write;

/// A table with one row for each kernel, and notes below it.
pub fn summary(entries: &[Entry<'_>], grid: Option<Grid>) -> String {
    let mut columns = vec![
        ("kernel", Align::Left),
        ("arch", Align::Left),
        ("threads", Align::Right),
        ("insts", Align::Right),
        ("live", Align::Right),
        ("budget", Align::Right),
        ("used", Align::Right),
        ("warps", Align::Right),
        ("occ.", Align::Right),
        ("spill st", Align::Right),
        ("ld", Align::Right),
        ("copies", Align::Right),
    ];
    if grid.is_some() {
        columns.push(("waves", Align::Right));
    }
    let several = entries.iter().any(|e| e.source != entries[0].source);
    let mut t = Table::new(0, &columns);
    for e in entries {
        let r = e.report;
        let (f, o) = (&r.figures, &r.occupancy);
        let mut row = vec![
            if several { format!("{}:{}", file_name(e.source), r.name) } else { r.name.clone() },
            r.launch.arch.name().to_string(),
            r.launch.threads.0.to_string(),
            r.instructions.to_string(),
            r.max_live.to_string(),
            r.choice.budget.0.to_string(),
            f.used.0.to_string(),
            format!("{}/{}", o.warps_per_sm.0, o.max_warps_per_sm.0),
            format!("{:.0} %", o.ratio().to_f64() * 100.0),
            f.spill_store_bytes.0.to_string(),
            f.spill_load_bytes.0.to_string(),
            (f.copies + f.swaps).to_string(),
        ];
        if let Some(g) = grid {
            row.push(waves(g, r).map_or("-".into(), |w| w.0.to_string()));
        }
        t.row(row);
    }
    let mut s = t.print();
    notes(&mut s, entries);
    s
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn notes(s: &mut String, entries: &[Entry<'_>]) {
    let spilling = entries.iter().filter(|e| e.report.figures.spills()).count();
    let level = entries.first().map_or(CheckLevel::None, |e| e.report.check);
    let checked = match level {
        CheckLevel::None => "not checked",
        CheckLevel::Symbolic => "all checked symbolically",
        CheckLevel::Full => "all checked symbolically and by the interpreter",
    };
    let mut text = format!("{}, {checked}; ", count(entries.len(), "kernel", "kernels"));
    let _ = match spilling {
        0 => write!(text, "none spills"),
        1 => write!(text, "1 spills"),
        n => write!(text, "{n} spill"),
    };
    text.push_str("; live counts R1, used counts the reserved pair, spills are static bytes, copies count swaps");
    s.push('\n');
    paragraph(s, "", &text);
}
