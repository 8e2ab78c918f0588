//! A naive interpreter of PTX over its mutable registers: the oracle of the reader.
//!
//! It runs one thread of one kernel on the syntax tree, before SSA and selection. Integer, bit, predicate and
//! move instructions, loads and stores have their real meaning ([`semantics`]); every other instruction is
//! *unmodelled*: the [`Host`] says what it yields. The host also owns memory, special registers, kernel
//! parameters and symbol addresses, so that a comparison with another form of the program can make both
//! sides answer alike.
//!
//! Conventions, where PTX leaves room:
//! * A register that was never written reads 0. `cvta` keeps the bits: generic and windowed addresses are equal.
//! * `.param` memory of a call belongs to the activation and starts as 0. The address of a kernel parameter
//!   is its offset in the parameter block.
//! * A `brx.idx` whose index has no label ends the run with [`Outcome::BranchIndex`].
//! * Running past the end of a body returns.
//! * Registers wider than 64 bits keep their low 64 bits, and what works on them is unmodelled.

mod calls;
mod eval;
mod machine;
pub mod semantics;

pub use eval::{evaluate, is_modelled, Evaluated};
pub use machine::run;

use super::ast::{Function, Inst, Module, SymbolRef, Variable};
use super::types::{Space, SpecialReg};

/// One access to memory of one lane.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// State space as written.
    pub space: Space,
    /// Byte address.
    pub address: u64,
    /// Bytes moved: 1, 2, 4 or 8.
    pub bytes: u32,
    /// Whether the memory cannot change while the kernel runs (`.nc`, `.const`).
    pub immutable: bool,
    /// The instruction.
    pub inst: &'a Inst,
}

/// What the interpreter asks of its caller. All values are zero-extended bits.
pub trait Host {
    /// A read of a special register.
    fn special(&mut self, register: SpecialReg) -> u64;

    /// A read of the kernel's parameters: `bytes` bytes at `offset` of the parameter block.
    fn param(&mut self, offset: u64, bytes: u32) -> u64;

    /// The address of a variable of the file ([`SymbolRef::Module`]) or of a function ([`SymbolRef::Local`]).
    /// Must be the same for the same symbol each time.
    fn symbol(&mut self, function: &Function, symbol: SymbolRef, variable: &Variable) -> u64;

    /// A load.
    fn load(&mut self, access: Access<'_>) -> u64;

    /// A store; `value` has `8 * access.bytes` bits.
    fn store(&mut self, access: Access<'_>, value: u64);

    /// An unmodelled instruction is executed; its results are asked for by [`Host::unmodelled`] after this.
    /// `inputs` are the values of all operands that are read, in operand order, vectors by element, an address
    /// as base plus offset; labels and `_` are left out.
    fn effect(&mut self, inst: &Inst, inputs: &[u64]);

    /// Result number `index` (by defined register, in operand order) of an unmodelled instruction, `bits` wide.
    fn unmodelled(&mut self, inst: &Inst, inputs: &[u64], index: usize, bits: u32) -> u64;

    /// A barrier or fence without results.
    fn barrier(&mut self, inst: &Inst, inputs: &[u64]);

    /// A call of a function without a body (`None`: of an unknown address). `args` are the low 64 bits of each argument.
    fn call_external(&mut self, callee: Option<&Function>, args: &[u64]);

    /// The 64-bit word `word` of result `index` of the external call just made.
    fn external_result(&mut self, callee: Option<&Function>, index: usize, word: usize) -> u64;
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The thread ended by `exit` or by returning from the kernel.
    Exit,
    /// `trap` or `brkpt` was executed.
    Trap,
    /// The fuel is used up.
    OutOfFuel,
    /// `brx.idx` with an index that its table lacks.
    BranchIndex {
        /// The index.
        index: u64,
        /// Entries of the table.
        entries: usize,
    },
    /// Calls nested deeper than [`MAX_CALL_DEPTH`].
    CallDepth,
}

/// The deepest nesting of calls.
pub const MAX_CALL_DEPTH: usize = 64;

/// A finished run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// How it ended.
    pub outcome: Outcome,
    /// Instructions executed, those with a false guard included.
    pub steps: u64,
}

/// How much of a module the interpreter models.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// Instructions whose effect is modelled.
    pub modelled: usize,
    /// All instructions.
    pub total: usize,
}

/// Whether an instruction has its real meaning in the interpreter: evaluated, memory, control or barrier.
#[must_use]
pub fn models(inst: &Inst) -> bool {
    let op = &inst.op;
    inst.call.is_some()
        || machine::is_control(op.opcode())
        || machine::is_barrier(op)
        || machine::is_plain_memory(op)
        || is_modelled(op)
}

/// The share of instructions that is modelled, over all bodies.
#[must_use]
pub fn coverage(module: &Module) -> Coverage {
    let mut out = Coverage::default();
    for inst in module.functions.iter().flat_map(Function::insts) {
        out.total += 1;
        out.modelled += usize::from(models(inst));
    }
    out
}
