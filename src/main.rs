//! The `fatpoint` command.

fn main() -> std::process::ExitCode {
    fatpoint::cli::run(std::env::args_os())
}
