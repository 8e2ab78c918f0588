//! `fatpoint verify`

use super::session::{Files, Session};
use super::Format;
use crate::render::verify::{self as render, VerifiedJson};
use clap::Args;

pub(super) const EXAMPLES: &str = "\
Example: everything that is wrong with a program
  fatpoint verify kernel.fp";

#[derive(Args, Debug)]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    files: Files,
}

pub(super) fn run(args: &VerifyArgs, session: &mut Session) {
    if !session.accepts(&[Format::Text, Format::Json]) {
        return;
    }
    let kernels: Vec<VerifiedJson> = session
        .items(&args.files, None)
        .into_iter()
        .map(|i| VerifiedJson {
            instructions: i.kernel.func.num_insts(),
            blocks: i.kernel.func.num_blocks(),
            values: i.kernel.func.num_values(),
            name: i.kernel.func.name.clone(),
            source: i.source,
        })
        .collect();
    let text = match session.format {
        Format::Json => render::document(&kernels, &session.failures),
        _ => render::text(&kernels),
    };
    session.print(&text);
}
