//! The small SSA IR of fatpoint.
//!
//! One idea: **a value is one register unit of one class; a wide operand is a run of values that must sit in
//! consecutive, aligned registers.** So the largest number of live values is a plain count, half-dead pairs cost what
//! they cost, and machine code lifts without loss.
//!
//! * [`function`] the canonical form, [`builder`] how one is made, [`text`] its text format
//! * [`op`], [`opcodes`], [`operand`], [`class`], [`entity`] what it is made of
//! * [`verify`] what holds of every function that is worked on
//! * [`order`], [`dom`], [`loops`] analyses of its control flow
//! * [`semantics`] what instructions compute, [`interp`] the reference interpreter; [`assigned`] the allocated form

pub mod assigned;
pub mod builder;
pub mod class;
pub mod dom;
pub mod entity;
pub mod function;
#[cfg(any(test, feature = "gen"))]
pub mod gen;
pub mod interp;
pub mod loops;
pub mod op;
pub mod opcodes;
pub mod operand;
pub mod order;
pub mod semantics;
pub mod text;
pub mod verify;

pub use class::{PerClass, PhysReg, RegClass, STACK_POINTER};
pub use entity::{EntityId, EntitySet, EntityVec};
pub use function::{Block, Edge, Function, Inst, KernelAttrs, Region, Symbol, Value, ValueDef};
pub use op::{Constraint, Effect, Flight, OpId, OpKind, OpProps, OpSig, OpTable, Space};
pub use operand::{default_align, Lane, Operand, OperandFlags, OperandKind};
pub use verify::{VerifiedFunction, VerifyError};
