//! Proofs: an allocation is checked symbolically, and on demand run against its input, before anything is said of it.

use super::diagnostic::Diagnostic;
use super::figures::Figures;
use super::read::{Input, Rejected};
use fatpoint_checker::{check, check_claims, CheckOptions, CheckReport};
use fatpoint_ir::assigned::AllocatedFunction;
use fatpoint_ir::interp::{compare_seeds, Summary};
use fatpoint_targets::Regs;

/// Seeds that the interpreter comparison runs under.
pub const FULL_SEEDS: u64 = 16;

/// How much is proved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CheckLevel {
    /// Nothing; for timing.
    None,
    /// The symbolic checker.
    #[default]
    Symbolic,
    /// The symbolic checker, and the interpreter on input and allocation.
    Full,
}

impl CheckLevel {
    /// Name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            CheckLevel::None => "none",
            CheckLevel::Symbolic => "symbolic",
            CheckLevel::Full => "full",
        }
    }
}

/// What was proved.
#[derive(Clone, Debug)]
pub struct Proof {
    /// What the checker counted; `None` when it did not run.
    pub report: Option<CheckReport>,
    /// What the interpreter compared; `None` when it did not run.
    pub runs: Option<Summary>,
}

/// Proves an allocation within `budget`, and that it costs what `figures` claim.
///
/// # Errors
/// Every fault found, one sentence each.
pub fn prove(
    alloc: &AllocatedFunction<'_>,
    budget: Option<Regs>,
    figures: Option<&Figures>,
    level: CheckLevel,
    first_seed: u64,
) -> Result<Proof, Vec<String>> {
    if level == CheckLevel::None {
        return Ok(Proof { report: None, runs: None });
    }
    let report = check(alloc, &CheckOptions { budget, ..CheckOptions::default() })
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    if let Some(figures) = figures {
        check_claims(&report, &figures.claims())
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    }
    let runs = if level == CheckLevel::Full {
        let seeds = (0..FULL_SEEDS).map(|k| first_seed.wrapping_add(k));
        let summary = compare_seeds(alloc, seeds)
            .map_err(|(seed, m)| vec![format!("interpreter, seed {seed}: {}", m.describe(alloc.func))])?;
        Some(summary)
    } else {
        None
    };
    Ok(Proof { report: Some(report), runs })
}

/// The verdict on one kernel of an allocated text.
#[derive(Clone, Debug)]
pub struct CheckedKernel {
    /// Its name.
    pub name: String,
    /// What was proved, or what is wrong.
    pub verdict: Result<Proof, Vec<String>>,
}

/// Checks the kernels of an allocated text.
///
/// # Errors
/// The outer error: the text is not in allocated form. The inner ones are kernels whose input is malformed.
pub fn check_allocated(
    input: &Input,
    budget: Option<Regs>,
    level: CheckLevel,
    first_seed: u64,
) -> Result<Vec<Result<CheckedKernel, Rejected>>, Diagnostic> {
    let Input::Allocated(kernels) = input else {
        let e = Diagnostic::error("this is a program without registers, there is nothing to check");
        return Err(
            e.hint("`check` takes what `fatpoint alloc --emit text` prints, which begins with `allocated kernel`")
        );
    };
    Ok(kernels
        .iter()
        .map(|(func, parts)| {
            super::read::check_rules(func)?;
            let verdict = prove(&parts.attach(func), budget, None, level, first_seed);
            Ok(CheckedKernel { name: func.name.clone(), verdict })
        })
        .collect())
}
