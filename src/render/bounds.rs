//! Launch bounds and the register ceiling.

use super::table::{Align, Table};
use super::{csv, json, paragraph, RemarkJson};
use crate::driver::BoundsReport;
use fatpoint_targets::launch_bounds::Rule;
use fatpoint_targets::Arch;
use serde::Serialize;
use std::fmt::Write;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    arch: &'a str,
    ceiling: u32,
    rule: &'static str,
    accepted: AcceptedJson,
    targets: Vec<TargetJson>,
    diagnostics: Vec<RemarkJson>,
}

#[derive(Serialize)]
struct AcceptedJson {
    maxntid: Option<u32>,
    minnctapersm: Option<u32>,
    maxnreg: Option<u32>,
    maxrregcount: Option<u32>,
}

#[derive(Serialize)]
struct TargetJson {
    blocks_per_sm: u32,
    max_regs: u32,
}

/// The JSON document of `bounds`.
pub fn document(arch: &Arch, report: &BoundsReport) -> String {
    let c = &report.ceiling;
    json(&Document {
        schema: "fatpoint.bounds/1",
        arch: arch.name(),
        ceiling: c.ceiling.0,
        rule: c.rule.name(),
        accepted: AcceptedJson {
            maxntid: c.threads.map(|t| t.0),
            minnctapersm: c.min_blocks.map(|b| b.0),
            maxnreg: c.maxnreg.map(|r| r.0),
            maxrregcount: c.maxrregcount.map(|r| r.0),
        },
        targets: report
            .targets
            .iter()
            .map(|t| TargetJson { blocks_per_sm: t.blocks_per_sm.0, max_regs: t.max_regs.0 })
            .collect(),
        diagnostics: report.remarks.iter().map(RemarkJson::from).collect(),
    })
}

/// One record with its header.
pub fn to_csv(arch: &Arch, report: &BoundsReport) -> String {
    let mut out = String::new();
    csv::record(
        &mut out,
        &["arch", "ceiling", "rule", "maxntid", "minnctapersm", "maxnreg", "maxrregcount", "diagnostics"],
    );
    let c = &report.ceiling;
    let n = |x: Option<u32>| x.map(|x| x.to_string()).unwrap_or_default();
    let kinds: Vec<&str> = report.remarks.iter().map(|r| r.kind).collect();
    csv::record(
        &mut out,
        &[
            arch.name().to_string(),
            c.ceiling.0.to_string(),
            c.rule.name().to_string(),
            n(c.threads.map(|t| t.0)),
            n(c.min_blocks.map(|b| b.0)),
            n(c.maxnreg.map(|r| r.0)),
            n(c.maxrregcount.map(|r| r.0)),
            kinds.join(" "),
        ],
    );
    out
}

/// A rule in words.
pub fn rule(rule: Rule) -> &'static str {
    match rule {
        Rule::BoundsAndMaxnreg => "threads and blocks per SM, and .maxnreg, the lesser of both",
        Rule::Bounds => "threads and blocks per SM",
        Rule::Maxnreg => ".maxnreg alone, which switches the cap by threads off",
        Rule::Threads => "threads alone: one block shall fit an SM",
        Rule::Flag => "-maxrregcount",
        Rule::Unbounded => "no launch bounds: what a thread can have",
    }
}

/// The text of `bounds`; with `explain` also what was accepted and the derivation.
pub fn text(arch: &Arch, report: &BoundsReport, explain: bool) -> String {
    let c = &report.ceiling;
    let mut s = String::new();
    let _ = writeln!(s, "{}: ceiling {} a thread ({})", arch.name(), c.ceiling, rule(c.rule));
    if explain {
        let or_none = |x: Option<String>| x.unwrap_or_else(|| "not in force".into());
        let _ = writeln!(s, "  threads a block   {}", or_none(c.threads.map(|t| t.0.to_string())));
        let _ = writeln!(s, "  blocks an SM      {}", or_none(c.min_blocks.map(|b| format!("at least {}", b.0))));
        let _ = writeln!(s, "  .maxnreg          {}", or_none(c.maxnreg.map(|r| r.0.to_string())));
        let flag = c.maxrregcount.map(|r| match c.rule {
            Rule::Flag => r.0.to_string(),
            _ => format!("{}, beaten by the directives", r.0),
        });
        let _ = writeln!(s, "  -maxrregcount     {}", or_none(flag));
        if let (Some(t), Rule::Bounds | Rule::BoundsAndMaxnreg | Rule::Threads) = (c.threads, c.rule) {
            let blocks = c.min_blocks.map_or(1, |b| b.0);
            let text = format!(
                "{blocks} x {} a block share the {} of {} partitions, handed to a warp in units of {}",
                t.warps(),
                arch.registers_per_sm(),
                arch.sub_partitions(),
                arch.reg_alloc_unit_per_warp().0
            );
            paragraph(&mut s, "  register file     ", &text);
        }
    }
    if !report.targets.is_empty() {
        s.push_str("  what a compiler may aim at for this thread count:\n");
        let mut t = Table::new(2, &[("blocks/SM", Align::Right), ("registers", Align::Right), ("", Align::Left)]);
        for row in &report.targets {
            let within = row.max_regs <= c.ceiling;
            let mark = if within { "" } else { "above the ceiling" };
            t.row([row.blocks_per_sm.0.to_string(), format!("<= {}", row.max_regs.0), mark.to_string()]);
        }
        s.push_str(&t.print());
    }
    for r in &report.remarks {
        paragraph(&mut s, "  warning: ", &r.message);
    }
    s
}
