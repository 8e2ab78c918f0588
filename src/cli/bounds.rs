//! `fatpoint bounds`

use super::session::Session;
use super::values::{arch, dims, reg_count_flag};
use super::Format;
use crate::driver::{bounds, BoundsRequest};
use crate::render::bounds as render;
use clap::Args;
use fatpoint_targets::launch_bounds::RegCountFlag;
use fatpoint_targets::{Arch, LaunchBounds};

pub(super) const EXAMPLES: &str = "\
Example: __launch_bounds__(256, 4)
  fatpoint bounds --arch sm_80 --maxntid 256 --minnctapersm 4 --explain";

#[derive(Args, Debug)]
pub(super) struct BoundsArgs {
    /// Architecture
    #[arg(long, value_parser = arch)]
    arch: &'static Arch,
    /// .maxntid: threads a block at most, x[,y[,z]]
    #[arg(long, value_name = "N", value_parser = dims)]
    maxntid: Option<[u32; 3]>,
    /// .reqntid: threads a block, x[,y[,z]]
    #[arg(long, value_name = "N", value_parser = dims)]
    reqntid: Option<[u32; 3]>,
    /// .minnctapersm: blocks that shall fit an SM
    #[arg(long, value_name = "N")]
    minnctapersm: Option<u32>,
    /// .maxnreg: registers a thread at most
    #[arg(long, value_name = "N")]
    maxnreg: Option<u32>,
    /// -maxrregcount of the assembler: a number, archmin or archmax
    #[arg(long, value_name = "N", value_parser = reg_count_flag, allow_negative_numbers = true)]
    maxrregcount: Option<RegCountFlag>,
    /// Options beat directives (-override-directive-values)
    #[arg(long)]
    override_directives: bool,
    /// -maxntid of the assembler
    #[arg(long, value_name = "N")]
    cli_maxntid: Option<u32>,
    /// -minnctapersm of the assembler
    #[arg(long, value_name = "N")]
    cli_minnctapersm: Option<u32>,
    /// Say what is in force and where the ceiling comes from
    #[arg(long)]
    explain: bool,
}

pub(super) fn run(args: &BoundsArgs, session: &mut Session) {
    if !session.accepts(&[Format::Text, Format::Json, Format::Csv]) {
        return;
    }
    let request = BoundsRequest {
        directives: LaunchBounds {
            maxntid: args.maxntid,
            reqntid: args.reqntid,
            minnctapersm: args.minnctapersm,
            maxnreg: args.maxnreg,
            maxrregcount: args.maxrregcount,
        },
        cli_maxntid: args.cli_maxntid,
        cli_minnctapersm: args.cli_minnctapersm,
        override_directives: args.override_directives,
    };
    match bounds(args.arch, &request) {
        Ok(report) => {
            let text = match session.format {
                Format::Json => render::document(args.arch, &report),
                Format::Csv => render::to_csv(args.arch, &report),
                _ => render::text(args.arch, &report, args.explain),
            };
            session.print(&text);
        }
        Err(e) => session.usage(e.to_string(), "the assembler refuses these bounds as well"),
    }
}
