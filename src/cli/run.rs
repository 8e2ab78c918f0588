//! `fatpoint run`

use super::session::{Files, Session};
use super::values::arch;
use super::Format;
use crate::driver::{self, RunReport};
use crate::render::run as render;
use clap::Args;
use fatpoint_ir::interp::InterpOptions;
use fatpoint_targets::Arch;

pub(super) const EXAMPLES: &str = "\
Example: what a kernel stores, and the same after allocation
  fatpoint run kernel.ptx --seed 3
  fatpoint alloc kernel.ptx --emit text | fatpoint run - --seed 3";

#[derive(Args, Debug)]
pub(super) struct RunArgs {
    #[command(flatten)]
    files: Files,
    /// Architecture that PTX is translated for, in place of its target
    #[arg(long, value_parser = arch)]
    arch: Option<&'static Arch>,
    /// What memory, parameters and special registers hold
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Threads of the warp that run
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=32))]
    lanes: u32,
    /// Instructions that may run
    #[arg(long, default_value_t = 20_000)]
    fuel: u64,
    /// Take word addresses modulo 16, so that most accesses meet
    #[arg(long)]
    alias: bool,
}

pub(super) fn run(args: &RunArgs, session: &mut Session) {
    if !session.accepts(&[Format::Text, Format::Json]) {
        return;
    }
    let options = InterpOptions { seed: args.seed, lanes: args.lanes, fuel: args.fuel, alias_mod16: args.alias };
    let opened = session.open(&args.files.files);
    let mut missing = args.files.kernels.clone();
    let mut reports: Vec<(String, RunReport)> = Vec::new();
    for o in &opened {
        // The allocated form keeps its registers apart from its kernels, so that all are run and then chosen from.
        let kernels = session.kernels(o, args.arch, &[]);
        for result in driver::run(&o.input, kernels, options) {
            let name = result.as_ref().map_or_else(|r| r.name.clone(), |r| r.name.clone());
            if !args.files.kernels.is_empty() && !args.files.kernels.contains(&name) {
                continue;
            }
            missing.retain(|n| *n != name);
            match result {
                Ok(r) => reports.push((o.source.name.clone(), r)),
                Err(r) => session.reject(&o.source, &r.name, &r.errors),
            }
        }
    }
    session.missing(&missing, &opened);
    let text = match session.format {
        Format::Json => render::document(&reports, &session.failures),
        _ => render::text(&reports),
    };
    session.print(&text);
}
