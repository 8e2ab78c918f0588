//! The architectures that are known.

use super::table::{Align, Table};
use super::{csv, json, paragraph};
use fatpoint_targets::Arch;
use serde::Serialize;
use std::fmt::Write;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    archs: Vec<ArchJson<'a>>,
}

#[derive(Serialize)]
struct ArchJson<'a> {
    name: &'a str,
    aliases: &'a [&'a str],
    max_warps_per_sm: u32,
    max_blocks_per_sm: u32,
    max_threads_per_block: u32,
    registers_per_sm: u32,
    max_regs_per_thread: u32,
    smem_bytes_per_sm: Option<u32>,
    sub_partitions: u32,
    products: Vec<ProductJson<'a>>,
    constants: Vec<ConstantJson>,
}

#[derive(Serialize)]
struct ProductJson<'a> {
    name: &'a str,
    sms: u32,
    source: &'static str,
}

#[derive(Serialize)]
struct ConstantJson {
    name: &'static str,
    value: Option<String>,
    source: &'static str,
}

/// The JSON document of `archs`.
pub fn document(archs: &[&'static Arch]) -> String {
    let one = |a: &&'static Arch| ArchJson {
        name: a.name(),
        aliases: a.aliases(),
        max_warps_per_sm: a.max_warps_per_sm().0,
        max_blocks_per_sm: a.max_blocks_per_sm().0,
        max_threads_per_block: a.max_threads_per_block().0,
        registers_per_sm: a.registers_per_sm().0,
        max_regs_per_thread: a.max_regs_per_thread().0,
        smem_bytes_per_sm: a.smem_per_sm().map(|b| b.0),
        sub_partitions: a.sub_partitions(),
        products: a
            .products()
            .iter()
            .map(|p| ProductJson { name: p.name, sms: p.sms, source: p.source.name() })
            .collect(),
        constants: a
            .spec()
            .constants()
            .into_iter()
            .map(|c| ConstantJson { name: c.name, value: c.value, source: c.source.name() })
            .collect(),
    };
    json(&Document { schema: "fatpoint.archs/1", archs: archs.iter().map(one).collect() })
}

fn summary(a: &Arch) -> [String; 7] {
    [
        a.name().to_string(),
        a.max_warps_per_sm().0.to_string(),
        a.max_blocks_per_sm().0.to_string(),
        a.registers_per_sm().0.to_string(),
        a.max_regs_per_thread().0.to_string(),
        a.smem_per_sm().map_or("unknown".into(), |b| (b.0 / 1024).to_string()),
        a.aliases().join(" "),
    ]
}

/// One record for each architecture.
pub fn to_csv(archs: &[&Arch]) -> String {
    let mut out = String::new();
    csv::record(
        &mut out,
        &[
            "arch",
            "max_warps_per_sm",
            "max_blocks_per_sm",
            "registers_per_sm",
            "max_regs_per_thread",
            "smem_kib_per_sm",
            "aliases",
        ],
    );
    archs.iter().for_each(|a| csv::record(&mut out, &summary(a)));
    out
}

/// The text of `archs`: one line each.
pub fn list(archs: &[&Arch]) -> String {
    let columns = [
        ("arch", Align::Left),
        ("warps/SM", Align::Right),
        ("blocks/SM", Align::Right),
        ("registers/SM", Align::Right),
        ("a thread", Align::Right),
        ("smem KiB/SM", Align::Right),
        ("also called", Align::Left),
    ];
    let mut t = Table::new(0, &columns);
    archs.iter().for_each(|a| t.row(summary(a)));
    t.print()
}

/// The text of `archs NAME`: every number with its source.
pub fn one(a: &Arch) -> String {
    let mut s = String::new();
    let _ = writeln!(s, "{}", a.name());
    if !a.aliases().is_empty() {
        paragraph(&mut s, "  also called  ", &a.aliases().join(", "));
    }
    let products: Vec<String> =
        a.products().iter().map(|p| format!("{} ({} SMs, {})", p.name, p.sms, p.source.name())).collect();
    if !products.is_empty() {
        paragraph(&mut s, "  products     ", &products.join(", "));
    }
    s.push('\n');
    let mut t = Table::new(2, &[("constant", Align::Left), ("value", Align::Right), ("source", Align::Left)]);
    for c in a.spec().constants() {
        t.row([c.name.to_string(), c.value.unwrap_or_else(|| "unknown".into()), c.source.name().to_string()]);
    }
    s.push_str(&t.print());
    s
}
