//! `fatpoint alloc`

use super::session::{Exit, Files, Session};
use super::values::{arch, bytes, reg_count_flag};
use super::Format;
use crate::driver::{alloc, AllocOptions, AllocReport, BudgetRequest, CheckLevel, Emit, Failure, LaunchOptions};
use crate::render::alloc::{self as render, Entry, Grid, ALLOCATOR, SCHEDULE};
use clap::{Args, ValueEnum};
use fatpoint_targets::launch_bounds::RegCountFlag;
use fatpoint_targets::{Arch, Bytes, Threads};

pub(super) const EXAMPLES: &str = "\
Examples: the most warps without spills; 40 registers, proved on runs as well
  fatpoint alloc kernel.ptx --arch sm_89 --threads 256 --grid 4096 --sms 128
  fatpoint alloc kernel.ptx --budget 40 --check full --json";

/// How much is proved of the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Level {
    /// Symbolically, and by the interpreter under several seeds.
    Full,
    /// Symbolically: every use finds its value, all constraints hold, the figures are counted again.
    Symbolic,
    /// Nothing; for timing.
    None,
}

/// Which text of the program is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum EmitArg {
    /// The program with its registers.
    Text,
    /// The program as it was understood.
    Ir,
}

#[derive(Args, Debug)]
pub(super) struct AllocArgs {
    #[command(flatten)]
    files: Files,
    /// Architecture [default: the file's target, else sm_80]
    #[arg(long, value_parser = arch, help_heading = "Launch")]
    arch: Option<&'static Arch>,
    /// Threads a block [default: .reqntid, else .maxntid, else 256]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Launch")]
    threads: Option<u32>,
    /// -maxrregcount of the assembler: a number, archmin or archmax
    #[arg(long, value_name = "N", value_parser = reg_count_flag, allow_negative_numbers = true, help_heading = "Launch")]
    maxrregcount: Option<RegCountFlag>,
    /// Shared memory given at launch, in bytes or as 48K
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "0", help_heading = "Launch")]
    dynamic_smem: Bytes,
    /// Blocks of the grid, to count waves
    #[arg(long, value_name = "N", requires = "sms", help_heading = "Launch")]
    grid: Option<u64>,
    /// SMs of the machine, to count waves
    #[arg(long, value_name = "N", requires = "grid", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Launch")]
    sms: Option<u32>,
    /// Registers: auto (most warps without spills), min (least without), floor (least at all), N, warps:W
    #[arg(long, value_name = "BUDGET", default_value = "auto")]
    budget: BudgetRequest,
    /// Allocator; there is ssa-scan
    #[arg(long, value_name = "NAME", default_value = ALLOCATOR, value_parser = allocator)]
    allocator: String,
    /// Order of instructions; there is source
    #[arg(long, value_name = "NAME", default_value = SCHEDULE, value_parser = schedule)]
    schedule: String,
    /// Choose a heuristic; there are none to choose from
    #[arg(long, value_name = "KIND=NAME", value_parser = policy, hide = true)]
    policy: Vec<String>,
    /// How much is proved before anything is reported
    #[arg(long, value_enum, default_value = "symbolic")]
    check: Level,
    /// First seed of --check full
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print the program in place of the report
    #[arg(long, value_enum)]
    emit: Option<EmitArg>,
    /// Tell the story of each kernel, also of many
    #[arg(long)]
    explain: bool,
}

fn only(name: &str, is: &str, what: &str) -> Result<String, String> {
    if name == is {
        Ok(name.to_string())
    } else {
        Err(format!("there is no such {what}; there is {is}"))
    }
}

fn allocator(name: &str) -> Result<String, String> {
    only(name, ALLOCATOR, "allocator")
}

fn schedule(name: &str) -> Result<String, String> {
    only(name, SCHEDULE, "schedule")
}

fn policy(_: &str) -> Result<String, String> {
    Err("there are no policies to choose from".into())
}

pub(super) fn run(args: &AllocArgs, session: &mut Session) {
    if !session.accepts(&[Format::Text, Format::Json, Format::Csv, Format::Ptxas]) {
        return;
    }
    if args.emit.is_some() && !matches!(session.format, Format::Text | Format::Json) {
        session.usage("--emit prints a program, which has no such format", "use --format text or json");
        return;
    }
    let options = AllocOptions {
        launch: LaunchOptions {
            arch: args.arch,
            threads: args.threads.map(Threads),
            maxrregcount: args.maxrregcount,
            dynamic_smem: args.dynamic_smem,
        },
        budget: args.budget,
        check: match args.check {
            Level::Full => CheckLevel::Full,
            Level::Symbolic => CheckLevel::Symbolic,
            Level::None => CheckLevel::None,
        },
        seed: args.seed,
        emit: args.emit.map(|e| match e {
            EmitArg::Text => Emit::Text,
            EmitArg::Ir => Emit::Ir,
        }),
    };
    let mut reports: Vec<(String, AllocReport)> = Vec::new();
    for item in session.items(&args.files, args.arch) {
        let name = &item.kernel.func.name;
        match alloc(&item.kernel, &options) {
            Ok(r) => {
                session.remarks(&item.source, name, &r.launch.remarks);
                for (stage, time) in &r.timings {
                    session.timing(&format!("{stage} of {name}"), *time);
                }
                reports.push((item.source, r));
            }
            Err(f) => {
                let exit = match f {
                    Failure::Input(_) => Exit::BadInput,
                    Failure::Infeasible(_) => Exit::Infeasible,
                    Failure::Check(_) => Exit::CheckFailed,
                };
                session.fail(&item.source, name, f.diagnostic(), exit);
            }
        }
    }
    let grid = args.grid.zip(args.sms).map(|(blocks, sms)| Grid { blocks, sms });
    let entries: Vec<Entry<'_>> = reports.iter().map(|(source, report)| Entry { source, report }).collect();
    let text = print(args, session, &entries, grid);
    session.print(&text);
}

fn print(args: &AllocArgs, session: &Session, entries: &[Entry<'_>], grid: Option<Grid>) -> String {
    match session.format {
        Format::Json => render::document(entries, &session.failures, grid),
        Format::Csv => render::to_csv(entries, grid),
        Format::Ptxas => render::lines(entries),
        Format::Text if args.emit.is_some() => entries.iter().filter_map(|e| e.report.text.as_deref()).collect(),
        Format::Text if args.explain || entries.len() == 1 => {
            let each: Vec<String> = entries.iter().map(|e| render::story(e, grid, session.style)).collect();
            each.join("\n")
        }
        Format::Text if entries.is_empty() => String::new(),
        Format::Text => render::summary(entries, grid),
    }
}
