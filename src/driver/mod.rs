//! The pipeline, one function for each verb.
//!
//! ```text
//! Source -read-> Input -kernels-> Kernel -launch-> Launch -alloc / pressure / run-> a report
//! ```
//!
//! A report owns what it states, so that it outlives the kernel; nothing here prints. Whatever is wrong with an input
//! is a [`Diagnostic`] that points into its text, and a failure of one kernel leaves the others alone.

mod alloc;
mod bounds;
mod check;
mod choose;
mod diagnostic;
mod figures;
mod launch;
mod pressure;
mod read;
mod run;

pub use alloc::{alloc, AllocOptions, AllocReport, Emit, Failure, FatPlace};
pub use bounds::{bounds, never_launches, BoundsReport, BoundsRequest, Remark};
pub use check::{check_allocated, prove, CheckLevel, CheckedKernel, Proof, FULL_SEEDS};
pub use choose::{BudgetRequest, Choice};
pub use diagnostic::{Diagnostic, Place, Severity};
pub use figures::Figures;
pub use launch::{find_arch, launch, Launch, LaunchOptions, ThreadsFrom, DEFAULT_ARCH, DEFAULT_THREADS};
pub use pressure::{pressure, BlockPressure, ClassReport, FatReport, LiveValue, PressureOptions, PressureReport};
pub use read::{kernels, load, read, stdin, Input, Kernel, Origin, Rejected, Source};
pub use run::{run, RunReport};
