//! `fatpoint archs`

use super::session::Session;
use super::values::arch;
use super::Format;
use crate::render::archs as render;
use clap::Args;
use fatpoint_targets::Arch;

pub(super) const EXAMPLES: &str = "\
Example: every number known of one architecture, with its source
  fatpoint archs sm_90";

#[derive(Args, Debug)]
pub(super) struct ArchsArgs {
    /// One architecture, with all its numbers
    #[arg(value_name = "ARCH", value_parser = arch)]
    name: Option<&'static Arch>,
}

pub(super) fn run(args: &ArchsArgs, session: &mut Session) {
    if !session.accepts(&[Format::Text, Format::Json, Format::Csv]) {
        return;
    }
    let list: Vec<&'static Arch> = args.name.map_or_else(|| Arch::all().iter().collect(), |a| vec![a]);
    let text = match (session.format, args.name) {
        (Format::Json, _) => render::document(&list),
        (Format::Csv, _) => render::to_csv(&list),
        (_, Some(a)) => render::one(a),
        (_, None) => render::list(&list),
    };
    session.print(&text);
}
