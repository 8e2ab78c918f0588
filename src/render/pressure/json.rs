//! The JSON document of `pressure`.

use crate::driver::{FatReport, PressureReport};
use crate::render::{json, line, FailureJson, RemarkJson};
use fatpoint_ir::RegClass;
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
    instructions: usize,
    /// By class name; only those that occur.
    classes: BTreeMap<&'static str, ClassJson<'a>>,
    blocks: Vec<BlockJson<'a>>,
    warnings: Vec<RemarkJson>,
}

#[derive(Serialize)]
struct ClassJson<'a> {
    max_live: u32,
    demand: Option<u32>,
    num_fat_points: usize,
    fat_points: Vec<FatJson<'a>>,
}

#[derive(Serialize)]
struct FatJson<'a> {
    block: &'a str,
    inst: u32,
    line: Option<u32>,
    live: u32,
    before: bool,
    live_set: Vec<ValueJson<'a>>,
}

#[derive(Serialize)]
struct ValueJson<'a> {
    name: &'a str,
    units: u32,
    def: &'a str,
    def_line: Option<u32>,
    next_use_inst: Option<u32>,
    next_use_line: Option<u32>,
    distance: Option<u32>,
    loops_left: u32,
}

#[derive(Serialize)]
struct BlockJson<'a> {
    name: &'a str,
    first_inst: u32,
    instructions: u32,
    loop_depth: u32,
    max_live: BTreeMap<&'static str, u32>,
}

fn fat<'a>(f: &'a FatReport) -> FatJson<'a> {
    FatJson {
        block: &f.block,
        inst: f.inst.0,
        line: line(f.line),
        live: f.live,
        before: f.before,
        live_set: f
            .values
            .iter()
            .map(|v| ValueJson {
                name: &v.name,
                units: v.units,
                def: &v.def,
                def_line: line(v.def_line),
                next_use_inst: v.next_use.map(|i| i.0),
                next_use_line: line(v.next_line),
                distance: v.distance,
                loops_left: v.loops_left,
            })
            .collect(),
    }
}

/// The document: kernels with the names of their sources, and what failed.
pub fn document(reports: &[PressureReport], sources: &[String], failures: &[FailureJson]) -> String {
    let kernels = reports
        .iter()
        .zip(sources)
        .map(|(r, source)| {
            let asked: Vec<RegClass> = r.classes.iter().map(|c| c.class).collect();
            KernelJson {
                name: &r.name,
                source,
                arch: r.launch.arch.name(),
                threads: r.launch.threads.0,
                instructions: r.instructions,
                classes: r
                    .classes
                    .iter()
                    .map(|c| {
                        let class = ClassJson {
                            max_live: c.max_live,
                            demand: c.demand,
                            num_fat_points: c.num_fat_points,
                            fat_points: c.fat_points.iter().map(fat).collect(),
                        };
                        (c.class.name(), class)
                    })
                    .collect(),
                blocks: r
                    .blocks
                    .iter()
                    .map(|b| BlockJson {
                        name: &b.name,
                        first_inst: b.insts.start,
                        instructions: b.insts.end - b.insts.start,
                        loop_depth: b.depth,
                        max_live: asked.iter().map(|&c| (c.name(), b.max[c])).collect(),
                    })
                    .collect(),
                warnings: r.launch.remarks.iter().map(RemarkJson::from).collect(),
            }
        })
        .collect();
    json(&Document { schema: "fatpoint.pressure/1", kernels, failures })
}
