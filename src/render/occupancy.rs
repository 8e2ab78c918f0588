//! Occupancy: the limits by resource, what binds, the next step.

use super::table::{Align, Table};
use super::{csv, json, paragraph};
use fatpoint_targets::{Arch, Blocks, Limiter, Occupancy, Request, WARP_SIZE};
use serde::Serialize;
use std::fmt::Write;

/// Occupancy as JSON documents state it.
#[derive(Serialize, Clone, Debug)]
pub struct OccupancyJson {
    arch: String,
    threads: u32,
    regs: u32,
    static_smem: u32,
    dynamic_smem: u32,
    barriers: u32,
    blocks_per_sm: u32,
    warps_per_sm: u32,
    max_warps_per_sm: u32,
    occupancy: f64,
    limiters: Vec<&'static str>,
    binding: Vec<&'static str>,
    limits: LimitsJson,
    allocated: AllocatedJson,
    warps_per_scheduler: f64,
    next_step: Option<StepJson>,
    slack_regs: u32,
}

#[derive(Serialize, Clone, Debug)]
struct LimitsJson {
    registers: Option<u32>,
    warps: Option<u32>,
    blocks: Option<u32>,
    shared_memory: Option<u32>,
    barriers: Option<u32>,
}

#[derive(Serialize, Clone, Debug)]
struct AllocatedJson {
    regs_per_thread: u32,
    regs_per_warp: u64,
    regs_per_block: u32,
    smem_bytes_per_block: u32,
}

#[derive(Serialize, Clone, Debug)]
struct StepJson {
    regs: u32,
    warps_per_sm: u32,
}

impl OccupancyJson {
    /// The occupancy of a request.
    pub fn new(arch: &Arch, r: &Request, o: &Occupancy) -> Self {
        let n = |b: Option<Blocks>| b.map(|b| b.0);
        Self {
            arch: arch.name().to_string(),
            threads: r.threads.0,
            regs: r.regs.0,
            static_smem: r.static_smem.0,
            dynamic_smem: r.dynamic_smem.0,
            barriers: r.barriers,
            blocks_per_sm: o.blocks_per_sm.0,
            warps_per_sm: o.warps_per_sm.0,
            max_warps_per_sm: o.max_warps_per_sm.0,
            occupancy: o.ratio().to_f64(),
            limiters: o.limiters.iter().map(Limiter::name).collect(),
            binding: o.binding().iter().map(Limiter::name).collect(),
            limits: LimitsJson {
                registers: n(o.limits.registers),
                warps: n(o.limits.warps),
                blocks: n(o.limits.blocks),
                shared_memory: n(o.limits.shared_memory),
                barriers: n(o.limits.barriers),
            },
            allocated: AllocatedJson {
                regs_per_thread: o.allocated_regs_per_thread.0,
                regs_per_warp: u64::from(o.allocated_regs_per_thread.0) * u64::from(WARP_SIZE),
                regs_per_block: o.allocated_regs_per_block.0,
                smem_bytes_per_block: o.allocated_smem_per_block.0,
            },
            warps_per_scheduler: o.warps_per_scheduler().to_f64(),
            next_step: o.next_step.map(|s| StepJson { regs: s.regs.0, warps_per_sm: s.warps_per_sm.0 }),
            slack_regs: o.slack_regs.0,
        }
    }
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    #[serde(flatten)]
    occupancy: OccupancyJson,
}

/// The JSON document of `occupancy`.
pub fn document(arch: &Arch, r: &Request, o: &Occupancy) -> String {
    json(&Document { schema: "fatpoint.occupancy/1", occupancy: OccupancyJson::new(arch, r, o) })
}

/// One record with its header.
pub fn to_csv(arch: &Arch, r: &Request, o: &Occupancy) -> String {
    let mut out = String::new();
    csv::record(
        &mut out,
        &[
            "arch",
            "threads",
            "regs",
            "static_smem",
            "dynamic_smem",
            "barriers",
            "blocks_per_sm",
            "warps_per_sm",
            "max_warps_per_sm",
            "occupancy",
            "limiters",
            "slack_regs",
        ],
    );
    let limiters: Vec<&str> = o.limiters.iter().map(Limiter::name).collect();
    csv::record(
        &mut out,
        &[
            arch.name().to_string(),
            r.threads.0.to_string(),
            r.regs.0.to_string(),
            r.static_smem.0.to_string(),
            r.dynamic_smem.0.to_string(),
            r.barriers.to_string(),
            o.blocks_per_sm.0.to_string(),
            o.warps_per_sm.0.to_string(),
            o.max_warps_per_sm.0.to_string(),
            o.ratio().to_f64().to_string(),
            limiters.join(" "),
            o.slack_regs.0.to_string(),
        ],
    );
    out
}

/// A limiter in words.
pub fn words(l: Limiter) -> &'static str {
    match l {
        Limiter::SharedMemory => "shared memory",
        l => l.name(),
    }
}

/// What fewer registers would buy, or more would cost.
pub fn next_step_line(r: &Request, o: &Occupancy) -> String {
    if o.blocks_per_sm.0 == 0 && o.next_step.is_none() {
        return "no register count lets a block launch".into();
    }
    let step = match o.next_step {
        Some(s) => format!(
            "{} ({} fewer) would give {} of {} warps",
            s.regs,
            r.regs.0 - s.regs.0,
            s.warps_per_sm.0,
            o.max_warps_per_sm.0
        ),
        None if o.warps_per_sm >= o.max_warps_per_sm => "none, occupancy is full".to_string(),
        None => "fewer registers change nothing, they do not bind".to_string(),
    };
    match o.slack_regs.0 {
        0 => step,
        n => format!("{step}; up to {n} more cost no warp"),
    }
}

/// A number with at most two decimals.
pub fn decimal(x: f64) -> String {
    let s = format!("{x:.2}");
    s.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// The text of `occupancy`.
pub fn text(arch: &Arch, r: &Request, o: &Occupancy) -> String {
    let mut s = String::new();
    let _ = writeln!(s, "{}: {} a block ({}), {} a thread", arch.name(), r.threads, o.warps_per_block, r.regs);
    let allocated = format!(
        "{} registers a thread, {} a warp, {} a block; {} of shared memory a block",
        o.allocated_regs_per_thread.0,
        u64::from(o.allocated_regs_per_thread.0) * u64::from(WARP_SIZE),
        o.allocated_regs_per_block.0,
        o.allocated_smem_per_block
    );
    paragraph(&mut s, "  allocated  ", &allocated);
    s.push('\n');
    let mut t = Table::new(2, &[("limit", Align::Left), ("blocks/SM", Align::Right), ("", Align::Left)]);
    for l in Limiter::ALL {
        let blocks = o.limits.get(l).map_or("any".to_string(), |b| b.0.to_string());
        t.row([words(l).to_string(), blocks, if o.binding().contains(l) { "<- binds".into() } else { String::new() }]);
    }
    s.push_str(&t.print());
    s.push('\n');
    let _ = writeln!(
        s,
        "  resident   {}, {} of {} warps ({:.1} %), {} a scheduler",
        o.blocks_per_sm,
        o.warps_per_sm.0,
        o.max_warps_per_sm.0,
        o.ratio().to_f64() * 100.0,
        decimal(o.warps_per_scheduler().to_f64())
    );
    let _ = writeln!(s, "  next step  {}", next_step_line(r, o));
    s
}
