//! Interpreter traces.

use super::{clean, count, json, FailureJson};
use crate::driver::RunReport;
use fatpoint_ir::interp::class_name;
use serde::Serialize;
use std::fmt::Write;

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
    allocated: bool,
    seed: u64,
    lanes: u32,
    fuel: u64,
    alias_mod16: bool,
    stop: &'static str,
    executed: u64,
    wildcards: usize,
    events: Vec<EventJson>,
}

#[derive(Serialize)]
struct EventJson {
    sequence: String,
    inst: u32,
    mnemonic: String,
    line: Option<u32>,
    thread: u8,
    text: String,
}

/// The JSON document of `run`.
pub fn document(list: &[(String, RunReport)], failures: &[FailureJson]) -> String {
    let kernels = list
        .iter()
        .map(|(source, r)| KernelJson {
            name: &r.name,
            source,
            allocated: r.allocated,
            seed: r.options.seed,
            lanes: r.options.lanes,
            fuel: r.options.fuel,
            alias_mod16: r.options.alias_mod16,
            stop: r.stop_kind(),
            executed: r.result.executed,
            wildcards: r.result.wildcards(),
            events: events(r),
        })
        .collect();
    json(&Document { schema: "fatpoint.run/1", kernels, failures })
}

fn events(r: &RunReport) -> Vec<EventJson> {
    let mut out = Vec::with_capacity(r.result.trace.len());
    for (class, list) in r.result.trace.classes() {
        for e in list {
            out.push(EventJson {
                sequence: class_name(class),
                inst: e.inst.0,
                mnemonic: r.func.sig(e.inst).mnemonic.to_string(),
                line: super::line(r.func.line(e.inst)),
                thread: e.thread,
                text: e.describe(),
            });
        }
    }
    out
}

/// The text: the trace of each kernel, one event a line.
pub fn text(list: &[(String, RunReport)]) -> String {
    let mut s = String::new();
    for (source, r) in list {
        let on = if r.allocated { "on its registers" } else { "on its values" };
        let _ = writeln!(
            s,
            "{}  ({}), {on}: {}, seed {}: {}, {}, {}",
            clean(&r.name),
            clean(source),
            count(r.options.lanes as usize, "thread", "threads"),
            r.options.seed,
            r.stop(),
            count(r.result.executed as usize, "instruction", "instructions"),
            count(r.result.trace.len(), "event", "events")
        );
        s.push_str(&r.result.trace.to_text(&r.func));
        for (lane, loc) in &r.result.stale {
            let _ = writeln!(s, "  stale read of {loc} at operand lane {lane}");
        }
    }
    s
}
