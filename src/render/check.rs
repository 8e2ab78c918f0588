//! Verdicts on allocated programs.

use super::style::Style;
use super::{clean, count, json, paragraph, FailureJson};
use crate::driver::{CheckedKernel, Proof};
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
    ok: bool,
    errors: &'a [String],
    used_regs: Option<u32>,
    spill_store_bytes: Option<u32>,
    spill_load_bytes: Option<u32>,
    copies: Option<u32>,
    swaps: Option<u32>,
    remats: Option<u32>,
    interpreter_events: Option<usize>,
}

/// The JSON document of `check`.
pub fn document(list: &[(String, CheckedKernel)], failures: &[FailureJson]) -> String {
    let kernels = list
        .iter()
        .map(|(source, k)| {
            let proof = k.verdict.as_ref().ok();
            let report = proof.and_then(|p| p.report.as_ref());
            KernelJson {
                name: &k.name,
                source,
                ok: k.verdict.is_ok(),
                errors: k.verdict.as_ref().err().map_or(&[], Vec::as_slice),
                used_regs: report.map(|r| r.used.0),
                spill_store_bytes: report.map(|r| r.spill_store_bytes.0),
                spill_load_bytes: report.map(|r| r.spill_load_bytes.0),
                copies: report.map(|r| r.copies),
                swaps: report.map(|r| r.swaps),
                remats: report.map(|r| r.remats),
                interpreter_events: proof.and_then(|p| p.runs.as_ref()).map(|r| r.events),
            }
        })
        .collect();
    json(&Document { schema: "fatpoint.check/1", kernels, failures })
}

/// The text: a line for each kernel, and its errors.
pub fn text(list: &[(String, CheckedKernel)], style: Style) -> String {
    let mut s = String::new();
    for (source, k) in list {
        let _ = write!(s, "{}  ({}): ", clean(&k.name), clean(source));
        match &k.verdict {
            Ok(proof) => passed(&mut s, proof),
            Err(errors) => {
                let _ = writeln!(s, "{}, {}", style.red("fails"), count(errors.len(), "error", "errors"));
                errors.iter().for_each(|e| paragraph(&mut s, "  - ", &clean(e)));
            }
        }
    }
    s
}

fn passed(s: &mut String, proof: &Proof) {
    let Some(r) = &proof.report else {
        s.push_str("not checked\n");
        return;
    };
    let _ = writeln!(
        s,
        "ok, used {}, {} stored and {} loaded by spills, {}, {}",
        r.used,
        r.spill_store_bytes,
        r.spill_load_bytes,
        count(r.copies as usize, "copy", "copies"),
        count(r.swaps as usize, "swap", "swaps")
    );
    if let Some(runs) = &proof.runs {
        let _ = writeln!(
            s,
            "  interpreter: {} of {} agree, {} undefined in the input, {} never reached",
            count(runs.events, "event", "events"),
            count(runs.seeds, "run", "runs"),
            runs.wildcards,
            count(runs.never_reached.len(), "instruction", "instructions")
        );
    }
}
