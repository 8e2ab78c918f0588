//! The verifier: what every analysis, the allocators and the interpreter may rely on.
//!
//! A function may come from a builder, a reader or a text; [`check`] goes by nothing but its tables. All errors are
//! collected, each with the rule it breaks and where. Rules come in four groups, each checked only when the groups that
//! it rests on hold: numbering (V1–V5), control flow (V6–V10), instructions (V11–V17, which need numbering alone), and
//! dominance (V18). Linear in the function but for the nest of loops (V9, dominators).
//!
//! Numbering: the canonical form of [`crate::function`].
//! * **V1** Every index into a table is within it: operands, lanes, literals, symbols, opcodes.
//! * **V2** Blocks share the instructions out in order, each has one at least; the layout has every block once.
//! * **V3** Edges are numbered by source block; the lists of predecessors are the edges into each block by number.
//! * **V4** Regions share the blocks out in order, each has one at least and is entered at its first, which is
//!   the first of them in the layout, too.
//! * **V5** Values are numbered where they are defined: parameters of a block, then lanes of definitions in order. So
//!   each value has one definition.
//!
//! Control flow.
//! * **V6** The last instruction of a block is its only terminator; it defines nothing and has the successors and
//!   operands of its kind: `br` and `exit_if` one predicate, `brx` one index, `jump` and `EXIT` none.
//! * **V7** Edges stay within a region.
//! * **V8** Nothing leads into the kernel's entry block, and it has no parameters.
//! * **V9** Every block is reached from its region's entry; loops are contiguous, and an edge to an earlier block leads
//!   to a header of a loop around its source. So the numbers are a linear order.
//! * **V10** An edge has an argument for each parameter of its target, of the same class.
//!
//! Instructions.
//! * **V11** A register operand has a lane, all its lanes are of one class, and it is stored in its shortest form (a
//!   consecutive run is no list). Parameters have no alignment. A constant of 32 bits is no wide one.
//! * **V12** What reads a special register that changes (clocks) is an ordered opcode.
//! * **V13** Definitions have no flags. `NEG` and `ABS` stand on general registers, constants and numbers, `NOT` on
//!   these and predicates. (Zero is a number, and the machine's zero register takes modifiers.)
//! * **V14** A guard is the first use of an instruction that is no terminator, one predicate lane with no flag but
//!   `NOT`; each definition of a guarded instruction has its old value as a use tied to it.
//! * **V15** Constraints belong to operands that are there: `Fixed` on registers of that class at a multiple of the
//!   alignment, `Tied` on a use as long as the definition and of its class, one use a definition, `EarlyClobber` on
//!   definitions, `InFlight` on registers of an opcode that starts a flight. No two of them contradict each other.
//! * **V16** An address is consecutive uses, the first one marked: at most two runs of one or two general registers, at
//!   most one 32-bit number, at most one symbol or constant.
//! * **V17** A call names a region that is not the kernel, has an argument for each parameter operand of its entry and a
//!   definition for each result, of the same class and length; every `RET` of a region has its results; the kernel has
//!   no `RET`; regions do not call themselves, directly or through others.
//!
//! * **V18** The definition of a value dominates its uses; an argument of an edge is used at the end of its source.

mod calls;
mod constraints;
mod control;
mod dominance;
mod error;
mod operands;
mod tables;

#[cfg(test)]
mod tests;

pub use error::{Place, Rule, VerifyError, MAX_ERRORS};

use crate::function::Function;
use error::Errors;
use std::ops::Deref;

/// A function that keeps all rules; [`verify`] alone makes one.
#[derive(Clone, Debug)]
pub struct VerifiedFunction(Function);

impl VerifiedFunction {
    /// The function, to be edited or taken apart.
    pub fn into_inner(self) -> Function {
        self.0
    }
}

impl Deref for VerifiedFunction {
    type Target = Function;
    fn deref(&self) -> &Function {
        &self.0
    }
}

impl AsRef<Function> for VerifiedFunction {
    fn as_ref(&self) -> &Function {
        &self.0
    }
}

/// Checks all rules.
///
/// # Errors
/// See [`check`].
pub fn verify(func: Function) -> Result<VerifiedFunction, Vec<VerifyError>> {
    let errors = check(&func);
    if errors.is_empty() {
        Ok(VerifiedFunction(func))
    } else {
        Err(errors)
    }
}

/// What is wrong with a function: nothing, or up to [`MAX_ERRORS`] errors and the number of those left out, by groups of
/// rules and then in linear order.
pub fn check(func: &Function) -> Vec<VerifyError> {
    let mut errors = Errors::new(func);
    tables::check(func, &mut errors);
    if !errors.is_empty() {
        return errors.finish();
    }
    errors.numbering_holds();
    let flow_holds = control::check(func, &mut errors);
    operands::check(func, &mut errors);
    constraints::check(func, &mut errors);
    calls::check(func, &mut errors);
    if flow_holds {
        dominance::check(func, &mut errors);
    }
    errors.finish()
}
