//! The cliff table.

use super::table::{Align, Table};
use super::{csv, json};
use fatpoint_targets::{Arch, CliffRow, CliffTable, Request};
use serde::Serialize;
use std::fmt::Write;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    arch: &'a str,
    threads: u32,
    static_smem: u32,
    dynamic_smem: u32,
    barriers: u32,
    max_warps_per_sm: u32,
    rows: Vec<RowJson>,
}

/// A row as JSON documents state it.
#[derive(Serialize, Clone, Debug)]
pub struct RowJson {
    max_regs: u32,
    blocks_per_sm: u32,
    warps_per_sm: u32,
    occupancy: f64,
}

impl From<&CliffRow> for RowJson {
    fn from(r: &CliffRow) -> Self {
        Self {
            max_regs: r.max_regs.0,
            blocks_per_sm: r.blocks_per_sm.0,
            warps_per_sm: r.warps_per_sm.0,
            occupancy: r.occupancy.to_f64(),
        }
    }
}

/// The JSON document of `cliffs`; the register count of `r` is not read.
pub fn document(arch: &Arch, r: &Request, table: &CliffTable) -> String {
    json(&Document {
        schema: "fatpoint.cliffs/1",
        arch: arch.name(),
        threads: r.threads.0,
        static_smem: r.static_smem.0,
        dynamic_smem: r.dynamic_smem.0,
        barriers: r.barriers,
        max_warps_per_sm: arch.max_warps_per_sm().0,
        rows: table.rows().iter().map(RowJson::from).collect(),
    })
}

/// One record for each row.
pub fn to_csv(arch: &Arch, r: &Request, table: &CliffTable) -> String {
    let mut out = String::new();
    csv::record(&mut out, &["arch", "threads", "max_regs", "blocks_per_sm", "warps_per_sm", "occupancy"]);
    for row in table.rows() {
        csv::record(
            &mut out,
            &[
                arch.name().to_string(),
                r.threads.0.to_string(),
                row.max_regs.0.to_string(),
                row.blocks_per_sm.0.to_string(),
                row.warps_per_sm.0.to_string(),
                row.occupancy.to_f64().to_string(),
            ],
        );
    }
    out
}

/// Rows of a table, each with a mark or an empty text.
pub fn rows<'a>(rows: impl Iterator<Item = (&'a CliffRow, String)>, indent: usize) -> String {
    let columns = [
        ("registers", Align::Right),
        ("blocks/SM", Align::Right),
        ("warps/SM", Align::Right),
        ("occupancy", Align::Right),
        ("", Align::Left),
    ];
    let mut t = Table::new(indent, &columns);
    for (row, mark) in rows {
        t.row([
            format!("<= {}", row.max_regs.0),
            row.blocks_per_sm.0.to_string(),
            row.warps_per_sm.0.to_string(),
            format!("{:.1} %", row.occupancy.to_f64() * 100.0),
            mark,
        ]);
    }
    t.print()
}

/// The text of `cliffs`.
pub fn text(arch: &Arch, r: &Request, table: &CliffTable) -> String {
    let mut s = String::new();
    let _ = writeln!(
        s,
        "{}: {} a block ({}), {} of shared memory a block",
        arch.name(),
        r.threads,
        r.threads.warps(),
        r.static_smem + r.dynamic_smem
    );
    if table.rows().is_empty() {
        s.push_str("  no block is resident at any register count\n");
    } else {
        s.push_str(&rows(table.rows().iter().map(|r| (r, String::new())), 2));
    }
    s
}
