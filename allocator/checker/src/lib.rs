//! The symbolic checker: proves that an [`AllocatedFunction`] computes what its input computes.
//!
//! It shares no code with the allocator (imports the IR and the targets alone) and keeps its own, simpler analyses: what
//! it checks must not be what it trusts. [`check`] needs an input that the IR's verifier accepts; the allocation may be
//! anything, and no allocation makes it panic.
//!
//! Steps, each a file that states its rules at the head: `structure` (shape, order, edits), `constraints` (registers,
//! runs, opcode constraints, budget), `effects` (a new order), `regions` (calls), `dataflow` (every use finds its
//! value), `flight` (registers that the machine still uses), `report` (figures, counted and not read).
//!
//! Departures from the checkers it is modelled on (regalloc2, regalloc3): sets are kept per register unit and slot unit;
//! block parameters are taken in place at the end of an edge; a rematerialization is a definition of the same value,
//! checked for its inputs; undefined arguments; regions with calls; operands in flight; instruction order.
//!
//! Not checked: that edits of warp-wide registers (UR, UP, B) stay out of divergent regions.
//!
//! ```
//! use fatpoint_checker::{check, CheckOptions};
//! use fatpoint_ir::assigned::{AllocatedFunction, Loc};
//! use fatpoint_ir::{builder::FunctionBuilder, Inst, Operand, PhysReg, RegClass};
//!
//! let mut b = FunctionBuilder::new("k");
//! let entry = b.block("entry");
//! b.switch_to(entry);
//! let mov = b.op("MOV");
//! let x = b.inst1(mov, RegClass::R, 1, &[Operand::imm(1)]);
//! b.inst1(mov, RegClass::R, 1, &[Operand::value(x.first)]);
//! b.exit();
//! let func = b.finish()?;
//!
//! let mut alloc = AllocatedFunction::empty(&func);
//! let r = |n| Loc::reg(PhysReg::r(n));
//! alloc.inst_locs_mut(Inst(0)).copy_from_slice(&[r(4)]);
//! alloc.inst_locs_mut(Inst(1)).copy_from_slice(&[r(0), r(4)]);
//! assert_eq!(check(&alloc, &CheckOptions::default()).unwrap().used.get(), 7);
//!
//! alloc.inst_locs_mut(Inst(1))[1] = r(5);
//! let errors = check(&alloc, &CheckOptions::default()).unwrap_err();
//! let text = errors[0].to_string();
//! assert!(text.ends_with("it reads %v0 from R5, which holds nothing that is known; %v0 is in R4"), "{text}");
//! # Ok::<(), fatpoint_ir::builder::BuildError>(())
//! ```

mod constraints;
mod dataflow;
mod effects;
mod error;
mod flight;
mod places;
mod ranges;
mod regions;
mod report;
mod sets;
mod state;
mod structure;

use constraints::Constraints;
use error::Errors;
use fatpoint_ir::assigned::AllocatedFunction;
use fatpoint_targets::Regs;
use places::Places;
use regions::Regions;

pub use error::{CheckError, CheckErrorKind, Site};
pub use places::{file_limit, MAX_LOCAL_SLOTS, MAX_SHARED_SLOTS};
pub use report::{check_claims, CheckReport, ClaimError, Claims, SpillsByPlace};

/// What an allocation is checked against.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Budget in registers as the assembler counts them: T allows R0 to R(T - 3). `None` is the file's limit.
    pub budget: Option<Regs>,
    /// R1, the stack pointer, is a register like any other.
    pub free_r1: bool,
    /// No more errors than these are collected; at least 1.
    pub max_errors: usize,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { budget: None, free_r1: false, max_errors: 100 }
    }
}

/// Checks an allocation and counts what it uses.
///
/// # Errors
/// All faults found, by step and then by place, up to [`CheckOptions::max_errors`]. When the shape is wrong
/// ([`CheckErrorKind::Shape`], [`CheckErrorKind::Order`], [`CheckErrorKind::EditPoint`]) nothing else is looked at.
pub fn check(alloc: &AllocatedFunction<'_>, opts: &CheckOptions) -> Result<CheckReport, Vec<CheckError>> {
    let mut errors = Errors::new(alloc, opts.max_errors);
    structure::check(alloc, &mut errors);
    if !errors.is_empty() {
        return Err(errors.into_list());
    }
    let mut constraints = Constraints::new(alloc, opts, &mut errors);
    constraints.check();
    let highest = constraints.highest;
    effects::check(alloc, &mut errors);
    let places = Places::of(alloc);
    let regions = Regions::of(alloc, &places, &mut errors);
    dataflow::check(alloc, &places, &regions, &mut errors);
    flight::check(alloc, &places, &regions, &mut errors);
    if errors.is_empty() {
        Ok(report::report(alloc, highest, (places.local, places.shared), opts.free_r1))
    } else {
        Err(errors.into_list())
    }
}
