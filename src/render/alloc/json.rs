//! The JSON document of `alloc`.

use super::{waves, Entry, Grid, ALLOCATOR, SCHEDULE};
use crate::driver::CheckLevel;
use crate::render::cliffs::RowJson;
use crate::render::occupancy::OccupancyJson;
use crate::render::{json, line, FailureJson, RemarkJson};
use fatpoint_checker::SpillsByPlace;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    kernels: Vec<KernelJson<'a>>,
    failures: &'a [FailureJson],
}

#[derive(Serialize)]
struct KernelJson<'a> {
    name: &'a str,
    source: &'a str,
    arch: &'a str,
    threads: u32,
    budget: u32,
    budget_reason: &'a str,
    ceiling: u32,
    allocator: &'static str,
    schedule: &'static str,
    /// Chosen policies, kind to name; there are none to choose from yet.
    policies: BTreeMap<String, String>,
    instructions: usize,
    max_live: u32,
    no_spill_regs: Option<u32>,
    fat_point: Option<FatJson<'a>>,
    used_regs: u32,
    named_regs: u32,
    spill_store_bytes: u32,
    spill_load_bytes: u32,
    weighted_spill_cost: u64,
    spills_by_place: PlacesJson,
    reexecuted_load_bytes: u32,
    remats: u32,
    copies: u32,
    swaps: u32,
    /// Not computed yet.
    bank_conflicts: Option<()>,
    occupancy: OccupancyJson,
    cliffs: Vec<RowJson>,
    waves: Option<WavesJson>,
    checked: bool,
    check: &'static str,
    interpreter: Option<RunsJson>,
    truncated: bool,
    /// What machine code that was read in had; PTX and the text have no registers.
    input: Option<()>,
    warnings: Vec<RemarkJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

#[derive(Serialize)]
struct FatJson<'a> {
    block: &'a str,
    inst: u32,
    line: Option<u32>,
    live: u32,
}

/// Bytes moved to and from each place, stores and loads together.
#[derive(Serialize)]
struct PlacesJson {
    local: u32,
    shared: u32,
    to_r: u32,
}

impl From<&SpillsByPlace> for PlacesJson {
    fn from(p: &SpillsByPlace) -> Self {
        let bytes = |units: u32| units.saturating_mul(4);
        Self {
            local: bytes(p.local_stores + p.local_loads),
            shared: bytes(p.shared_stores + p.shared_loads),
            to_r: bytes(p.to_r_stores + p.to_r_loads),
        }
    }
}

#[derive(Serialize)]
struct WavesJson {
    grid: u64,
    sms: u32,
    count: u64,
    exact: f64,
}

#[derive(Serialize)]
struct RunsJson {
    seeds: usize,
    events: usize,
    wildcards: usize,
    partial: usize,
    never_reached: usize,
}

/// The document: kernels in the order of the files, and what failed.
pub fn document(entries: &[Entry<'_>], failures: &[FailureJson], grid: Option<Grid>) -> String {
    let kernels = entries.iter().map(|e| kernel(e, grid)).collect();
    json(&Document { schema: "fatpoint.alloc/1", kernels, failures })
}

fn kernel<'a>(e: &Entry<'a>, grid: Option<Grid>) -> KernelJson<'a> {
    let (r, f, l) = (e.report, &e.report.figures, &e.report.launch);
    KernelJson {
        name: &r.name,
        source: e.source,
        arch: l.arch.name(),
        threads: l.threads.0,
        budget: r.choice.budget.0,
        budget_reason: &r.choice.why,
        ceiling: l.ceiling.ceiling.0,
        allocator: ALLOCATOR,
        schedule: SCHEDULE,
        policies: BTreeMap::new(),
        instructions: r.instructions,
        max_live: r.max_live,
        no_spill_regs: r.no_spill.map(|n| n.0),
        fat_point: r.fat_point.as_ref().map(|p| FatJson {
            block: &p.block,
            inst: p.inst.0,
            line: line(p.line),
            live: p.live,
        }),
        used_regs: f.used.0,
        named_regs: f.named.0,
        spill_store_bytes: f.spill_store_bytes.0,
        spill_load_bytes: f.spill_load_bytes.0,
        weighted_spill_cost: f.weighted_spill_cost,
        spills_by_place: PlacesJson::from(&f.by_place),
        reexecuted_load_bytes: f.reexecuted_load_bytes.0,
        remats: f.remats,
        copies: f.copies,
        swaps: f.swaps,
        bank_conflicts: None,
        occupancy: OccupancyJson::new(l.arch, &l.request(f.used), &r.occupancy),
        cliffs: l.cliffs.rows().iter().map(RowJson::from).collect(),
        waves: grid
            .and_then(|g| waves(g, r).map(|(count, exact)| WavesJson { grid: g.blocks, sms: g.sms, count, exact })),
        checked: r.check != CheckLevel::None,
        check: r.check.name(),
        interpreter: r.proof.runs.as_ref().map(|s| RunsJson {
            seeds: s.seeds,
            events: s.events,
            wildcards: s.wildcards,
            partial: s.partial,
            never_reached: s.never_reached.len(),
        }),
        truncated: false,
        input: None,
        warnings: l.remarks.iter().map(RemarkJson::from).collect(),
        text: r.text.as_deref(),
    }
}
