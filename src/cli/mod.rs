//! The command line: one file for each verb.
//!
//! A verb reads its inputs with a session, calls the driver and prints what a renderer made. Exit codes: 0
//! done, 1 a check failed, 2 bad input or usage, 3 infeasible. Where several files fail in different ways 1 goes before
//! 2 before 3; what could be done is done and printed in any case. A closed pipe ends the command quietly.

mod alloc;
mod archs;
mod bounds;
mod check;
mod cliffs;
mod occupancy;
mod pressure;
mod run;
mod session;
mod values;
mod verify;

use clap::{Args, Parser, Subcommand, ValueEnum};
use session::Session;
use std::ffi::OsString;
use std::process::ExitCode;

/// Form of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One document that starts with its schema.
    Json,
    /// One record a line.
    Csv,
    /// Lines as `ptxas -v` writes them (alloc).
    Ptxas,
}

/// When to color.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Color {
    /// When the output is a terminal and NO_COLOR is not set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Options of every verb.
#[derive(Args, Debug)]
pub(crate) struct Global {
    /// Form of the output
    #[arg(long, global = true, value_enum, default_value = "text", help_heading = "Output")]
    format: Format,
    /// Short for --format json
    #[arg(long, global = true, conflicts_with = "format", help_heading = "Output")]
    json: bool,
    /// No warnings and notes, errors alone
    #[arg(short, long, global = true, help_heading = "Output")]
    quiet: bool,
    /// When to color
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN", help_heading = "Output")]
    color: Color,
    /// Time of the stages, to standard error
    #[arg(long, global = true, help_heading = "Output")]
    timings: bool,
}

const ABOUT: &str = "GPU register pressure, occupancy cliffs, and register allocation that is checked";

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 a check failed, 2 bad input or usage, 3 infeasible.
FILE is PTX or fatpoint's own text, told apart by content; - is standard input.";

#[derive(Parser, Debug)]
#[command(name = "fatpoint", version, about = ABOUT, after_help = EXIT_CODES, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Allocate registers, check the result and say what occupancy it reaches
    #[command(after_help = alloc::EXAMPLES)]
    Alloc(Box<alloc::AllocArgs>),
    /// Show where register pressure peaks and what is live there
    #[command(after_help = pressure::EXAMPLES)]
    Pressure(pressure::PressureArgs),
    /// Blocks and warps that an SM holds for a register count, and what limits them
    #[command(after_help = occupancy::EXAMPLES)]
    Occupancy(occupancy::OccupancyArgs),
    /// The largest register count for every number of resident warps
    #[command(after_help = cliffs::EXAMPLES)]
    Cliffs(cliffs::CliffsArgs),
    /// The register ceiling that launch bounds set
    #[command(after_help = bounds::EXAMPLES)]
    Bounds(bounds::BoundsArgs),
    /// The architectures that are known
    #[command(after_help = archs::EXAMPLES)]
    Archs(archs::ArchsArgs),
    /// Read programs and report everything that is wrong with them
    #[command(after_help = verify::EXAMPLES)]
    Verify(verify::VerifyArgs),
    /// Run programs in the interpreter and print what can be seen from outside
    #[command(after_help = run::EXAMPLES)]
    Run(run::RunArgs),
    /// Check allocated programs, as `alloc --emit text` prints them
    #[command(after_help = check::EXAMPLES)]
    Check(check::CheckArgs),
}

/// Runs the command with these arguments, the first of which is its own name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(e) => {
            // Printing fails on a closed pipe, which is no reason to fail.
            let _ = e.print();
            return ExitCode::from(u8::try_from(e.exit_code()).unwrap_or(2));
        }
    };
    let mut session = Session::new(&cli.global);
    match &cli.verb {
        Verb::Alloc(a) => alloc::run(a, &mut session),
        Verb::Pressure(a) => pressure::run(a, &mut session),
        Verb::Occupancy(a) => occupancy::run(a, &mut session),
        Verb::Cliffs(a) => cliffs::run(a, &mut session),
        Verb::Bounds(a) => bounds::run(a, &mut session),
        Verb::Archs(a) => archs::run(a, &mut session),
        Verb::Verify(a) => verify::run(a, &mut session),
        Verb::Run(a) => run::run(a, &mut session),
        Verb::Check(a) => check::run(a, &mut session),
    }
    session.finish()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        super::Cli::command().debug_assert();
    }
}
