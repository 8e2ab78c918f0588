//! The PTX reader.
//!
//! [`parse`](fn@parse) turns text into an [`ast::Module`] with names resolved; [`roles`](mod@roles) says what each
//! operand of each instruction is for; [`exec`] runs a kernel over its mutable registers, naively: the oracle
//! against which the translation to SSA is tested.

pub mod ast;
mod error;
pub mod exec;
pub mod lex;
pub mod lower;
mod mnemonic;
pub mod parse;
pub mod roles;
pub mod types;

pub use error::{Note, PtxError, Span};
pub use lower::{lower, LowerFailure, LowerOptions, LoweredKernel};
pub use mnemonic::Mnemonic;
pub use parse::{parse, parse_bytes, parse_lossy};
