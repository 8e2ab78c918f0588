//! `fatpoint check`

use super::session::{Exit, Files, Session};
use super::Format;
use crate::driver::{check_allocated, CheckLevel, CheckedKernel};
use crate::render::check as render;
use clap::{Args, ValueEnum};
use fatpoint_targets::Regs;

pub(super) const EXAMPLES: &str = "\
Example: check what an allocator wrote
  fatpoint alloc kernel.ptx --emit text > kernel.alloc
  fatpoint check kernel.alloc";

/// How much is proved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Level {
    /// Symbolically: every use finds its value, all constraints hold.
    Symbolic,
    /// And by the interpreter, under several seeds.
    Full,
}

#[derive(Args, Debug)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    files: Files,
    /// Registers that may be used, reserved pair included
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    budget: Option<u32>,
    /// How much is proved
    #[arg(long, value_enum, default_value = "symbolic")]
    check: Level,
    /// First seed of the interpreter
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

pub(super) fn run(args: &CheckArgs, session: &mut Session) {
    if !session.accepts(&[Format::Text, Format::Json]) {
        return;
    }
    let level = match args.check {
        Level::Symbolic => CheckLevel::Symbolic,
        Level::Full => CheckLevel::Full,
    };
    let opened = session.open(&args.files.files);
    let mut missing = args.files.kernels.clone();
    let mut list: Vec<(String, CheckedKernel)> = Vec::new();
    for o in &opened {
        let checked = match check_allocated(&o.input, args.budget.map(Regs), level, args.seed) {
            Ok(checked) => checked,
            Err(d) => {
                session.reject(&o.source, &o.source.name, &[d]);
                continue;
            }
        };
        for k in checked {
            let name = k.as_ref().map_or_else(|r| r.name.clone(), |k| k.name.clone());
            if !args.files.kernels.is_empty() && !args.files.kernels.contains(&name) {
                continue;
            }
            missing.retain(|n| *n != name);
            match k {
                Ok(k) => {
                    if k.verdict.is_err() {
                        session.end(Exit::CheckFailed);
                    }
                    list.push((o.source.name.clone(), k));
                }
                Err(r) => session.reject(&o.source, &r.name, &r.errors),
            }
        }
    }
    session.missing(&missing, &opened);
    let text = match session.format {
        Format::Json => render::document(&list, &session.failures),
        _ => render::text(&list, session.style),
    };
    session.print(&text);
}
