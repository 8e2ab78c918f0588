//! The interpreter trace of a program, with registers or without.

use super::read::{Input, Rejected};
use fatpoint_ir::interp::{interpret, interpret_allocated, InterpOptions, RunResult, Stop};
use fatpoint_ir::VerifiedFunction;

/// One run.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// The kernel.
    pub name: String,
    /// The program, for its mnemonics.
    pub func: VerifiedFunction,
    /// Whether it ran on its registers.
    pub allocated: bool,
    /// The options of the run.
    pub options: InterpOptions,
    /// What the run gave.
    pub result: RunResult,
}

impl RunReport {
    /// Why the run ended, in words.
    pub fn stop(&self) -> String {
        match &self.result.stop {
            Stop::Finished => "finished".into(),
            Stop::Fuel => "out of fuel".into(),
            Stop::UndefinedControl(i) => {
                format!("undefined control at {}", super::alloc::at(&self.func, *i))
            }
            Stop::Malformed(why) => format!("malformed: {why}"),
        }
    }

    /// A stable name for why it ended.
    pub const fn stop_kind(&self) -> &'static str {
        match self.result.stop {
            Stop::Finished => "finished",
            Stop::Fuel => "fuel",
            Stop::UndefinedControl(_) => "undefined_control",
            Stop::Malformed(_) => "malformed",
        }
    }
}

/// Runs every kernel that was read; `kernels` are those of [`super::kernels`]. An allocated text runs on its registers.
pub fn run(
    input: &Input,
    kernels: Vec<Result<super::Kernel, Rejected>>,
    options: InterpOptions,
) -> Vec<Result<RunReport, Rejected>> {
    let one = |(n, kernel): (usize, Result<super::Kernel, Rejected>)| {
        let kernel = kernel?;
        let (result, allocated) = match input {
            Input::Allocated(list) => (interpret_allocated(&list[n].1.attach(&kernel.func), &options), true),
            _ => (interpret(&kernel.func, &options), false),
        };
        Ok(RunReport { name: kernel.func.name.clone(), func: kernel.func, allocated, options, result })
    };
    kernels.into_iter().enumerate().map(one).collect()
}
