//! `fatpoint pressure`

use super::session::{Exit, Files, Session};
use super::values::{arch, class};
use super::Format;
use crate::driver::{pressure, LaunchOptions, PressureOptions, PressureReport};
use crate::render::pressure as render;
use clap::Args;
use fatpoint_ir::RegClass;
use fatpoint_targets::{Arch, Threads};
use std::path::PathBuf;

pub(super) const EXAMPLES: &str = "\
Example: where the registers of a kernel go, as a chart and as a plot
  fatpoint pressure kernel.ptx
  fatpoint pressure kernel.ptx --kernel saxpy --plot saxpy.svg";

#[derive(Args, Debug)]
pub(super) struct PressureArgs {
    #[command(flatten)]
    files: Files,
    /// Architecture, in place of the file's target
    #[arg(long, value_parser = arch)]
    arch: Option<&'static Arch>,
    /// Threads a block, for the cliffs in the plot
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    threads: Option<u32>,
    /// This register class alone: R, UR, P, UP or B
    #[arg(long, value_parser = class)]
    class: Option<RegClass>,
    /// Fat points described, the first in program order
    #[arg(long, value_name = "N", default_value_t = 1)]
    points: usize,
    /// Write a plot of one kernel
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

pub(super) fn run(args: &PressureArgs, session: &mut Session) {
    if !session.accepts(&[Format::Text, Format::Json, Format::Csv]) {
        return;
    }
    let options = PressureOptions {
        launch: LaunchOptions { arch: args.arch, threads: args.threads.map(Threads), ..LaunchOptions::default() },
        class: args.class,
        fat_points: args.points,
    };
    let mut reports: Vec<PressureReport> = Vec::new();
    let mut sources: Vec<String> = Vec::new();
    for item in session.items(&args.files, args.arch) {
        match pressure(&item.kernel, &options) {
            Ok(r) => {
                session.remarks(&item.source, &r.name, &r.launch.remarks);
                reports.push(r);
                sources.push(item.source);
            }
            Err(d) => session.fail(&item.source, &item.kernel.func.name, d, Exit::BadInput),
        }
    }
    if let Some(path) = &args.plot {
        plot(path, args, &reports, session);
    }
    let text = match session.format {
        Format::Json => render::document(&reports, &sources, &session.failures),
        Format::Csv => render::to_csv(&reports),
        _ => {
            let each: Vec<String> =
                reports.iter().zip(&sources).map(|(r, s)| render::text(r, s, session.style)).collect();
            each.join("\n")
        }
    };
    session.print(&text);
}

fn plot(path: &std::path::Path, args: &PressureArgs, reports: &[PressureReport], session: &mut Session) {
    let [report] = reports else {
        if reports.len() > 1 {
            session.usage(
                format!("--plot takes one kernel, and there are {}", reports.len()),
                "choose one with --kernel NAME",
            );
        }
        return;
    };
    let svg = render::plot(report, args.class.unwrap_or(RegClass::R));
    if let Err(e) = std::fs::write(path, svg) {
        session.usage(format!("{} cannot be written: {e}", path.display()), "choose another file for --plot");
    }
}
