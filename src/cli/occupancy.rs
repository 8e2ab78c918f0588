//! `fatpoint occupancy`

use super::session::Session;
use super::values::BlockArgs;
use super::Format;
use crate::render::occupancy as render;
use clap::Args;
use fatpoint_targets::{occupancy, Regs, Request, Threads};

pub(super) const EXAMPLES: &str = "\
Example: what limits 41 registers with 128 threads?
  fatpoint occupancy --arch sm_80 --threads 128 --regs 41";

#[derive(Args, Debug)]
pub(super) struct OccupancyArgs {
    #[command(flatten)]
    block: BlockArgs,
    /// Registers a thread, as the assembler reports them
    #[arg(long, value_name = "R")]
    regs: u32,
}

/// The request of block options.
pub(super) fn request(block: &BlockArgs, regs: u32) -> Request {
    Request {
        threads: Threads(block.threads),
        regs: Regs(regs),
        static_smem: block.smem,
        dynamic_smem: block.dynamic_smem,
        barriers: block.barriers,
    }
}

pub(super) fn run(args: &OccupancyArgs, session: &mut Session) {
    if !session.accepts(&[Format::Text, Format::Json, Format::Csv]) {
        return;
    }
    let (arch, request) = (args.block.arch, request(&args.block, args.regs));
    match occupancy(arch, &request) {
        Ok(o) => {
            let text = match session.format {
                Format::Json => render::document(arch, &request, &o),
                Format::Csv => render::to_csv(arch, &request, &o),
                _ => render::text(arch, &request, &o),
            };
            session.print(&text);
        }
        Err(e) => session.usage(e.to_string(), "see `fatpoint occupancy --help`"),
    }
}
