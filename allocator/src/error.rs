//! Why an allocation is not possible.

use fatpoint_ir::Inst;
use thiserror::Error;

/// Failure of an allocation; the function itself is fine.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum AllocError {
    /// The budget is below what one instruction needs with everything else spilled.
    #[error("{budget} registers are not enough: {instruction} (line {line}) needs {floor}")]
    Infeasible {
        /// Registers allowed, in the sense of "used" (the reserved pair included).
        budget: u32,
        /// Least budget that works.
        floor: u32,
        /// The instruction that sets it.
        inst: Inst,
        /// Its text.
        instruction: String,
        /// Its source line, 0 when not known.
        line: u32,
    },
    /// An operand file other than R and P overflowed; these do not spill.
    #[error("`{value}` is of class {class}, which this allocator does not place: only R and P values are allocated")]
    Class {
        /// The value.
        value: String,
        /// Its class.
        class: String,
    },
    /// Regions call each other in a circle.
    #[error("region `{0}` calls itself, directly or through others; recursion has no static frame")]
    Recursion(String),
    /// No placement was found at an instruction although the counts allow one: values that may not move (operands in
    /// flight) leave no aligned hole.
    #[error("no aligned registers for {instruction} (line {line}) within {budget} registers: values that may not move are in the way")]
    NoPlace {
        /// Registers allowed.
        budget: u32,
        /// The instruction.
        inst: Inst,
        /// Its text.
        instruction: String,
        /// Its source line, 0 when not known.
        line: u32,
    },
}
