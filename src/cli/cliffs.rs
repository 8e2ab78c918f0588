//! `fatpoint cliffs`

use super::occupancy::request;
use super::session::Session;
use super::values::BlockArgs;
use super::Format;
use crate::render::cliffs as render;
use clap::Args;
use fatpoint_targets::cliffs;

pub(super) const EXAMPLES: &str = "\
Example: which register counts matter for blocks of 256 threads?
  fatpoint cliffs --arch sm_90 --threads 256 --smem 16K";

#[derive(Args, Debug)]
pub(super) struct CliffsArgs {
    #[command(flatten)]
    block: BlockArgs,
}

pub(super) fn run(args: &CliffsArgs, session: &mut Session) {
    if !session.accepts(&[Format::Text, Format::Json, Format::Csv]) {
        return;
    }
    let b = &args.block;
    let request = request(b, 1);
    match cliffs(b.arch, request.threads, b.smem, b.dynamic_smem, b.barriers) {
        Ok(table) => {
            let text = match session.format {
                Format::Json => render::document(b.arch, &request, &table),
                Format::Csv => render::to_csv(b.arch, &request, &table),
                _ => render::text(b.arch, &request, &table),
            };
            session.print(&text);
        }
        Err(e) => session.usage(e.to_string(), "see `fatpoint cliffs --help`"),
    }
}
