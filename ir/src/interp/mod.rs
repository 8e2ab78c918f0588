//! The reference interpreter: any kernel runs, with uninterpreted functions where nothing is modelled.
//!
//! [`interpret`] runs a function on its values, [`interpret_allocated`] its allocated form on registers and slots; both
//! give a [`Trace`] of what can be seen from outside, and [`compare`] finds the first difference. Pure operations mean
//! what [`crate::semantics`] says; memory, special registers and constants are hashes of the seed ([`seed`]).
//!
//! **Undefined data** is followed bit by bit. What is undefined in the input's own run is a *wildcard*: it agrees with
//! anything, and is counted. What is undefined only after allocation is a failure, and so is a read of a register that
//! nothing wrote, that was clobbered, or whose value is dead, unless the input reads undefined data at that
//! same operand in some step of the run.
//!
//! Limits: threads of a warp exchange no data; asynchronous copies happen at once; atomics, matrix loads
//! and everything else that is not a plain load or store combine the old memory and the inputs by hash.

mod allocated;
mod compare;
mod exec;
mod live;
mod machine;
mod memory;
pub mod seed;
mod step;
mod trace;

pub use allocated::StaleRead;
pub use compare::{compare, compare_seeds, Comparison, Mismatch, Summary};
pub use memory::{Memory, MemoryClass};
pub use trace::{class_name, Disagreement, Event, EventKind, Trace, TraceClass};

use crate::assigned::{AllocatedFunction, Edit, Side};
use crate::entity::EntitySet;
use crate::function::{Function, Inst};
use crate::semantics::Word;
use allocated::AllocatedMachine;
use exec::Exec;
use machine::SsaMachine;

/// How to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InterpOptions {
    /// What the outside world is made of; see [`seed`].
    pub seed: u64,
    /// Threads of the warp, 1 to 32.
    pub lanes: u32,
    /// Instructions of the input that may run, counted once for threads that run together and by whole blocks.
    pub fuel: u64,
    /// Take word addresses modulo 16, so that most accesses alias.
    pub alias_mod16: bool,
}

impl Default for InterpOptions {
    fn default() -> Self {
        Self { seed: 0, lanes: 2, fuel: 20_000, alias_mod16: false }
    }
}

impl InterpOptions {
    /// The options that [`compare_seeds`] uses for a seed: every second one forces aliasing.
    pub fn for_seed(seed: u64) -> Self {
        Self { seed, alias_mod16: seed % 2 == 1, ..Self::default() }
    }
}

/// Why a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// All threads ended.
    Finished,
    /// The fuel is used up.
    Fuel,
    /// A branch, switch, exit or call depends on undefined data.
    UndefinedControl(Inst),
    /// The function or its allocation has no meaning; the text says why.
    Malformed(String),
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Everything that can be seen from outside.
    pub trace: Trace,
    /// Instructions of the input that ran, counted by whole blocks.
    pub executed: u64,
    /// Instructions that ran at least once.
    pub visited: EntitySet<Inst>,
    /// Why it ended.
    pub stop: Stop,
    /// For each operand lane of the function, whether it ever read undefined data.
    pub tainted: Vec<bool>,
    /// Reads of registers that hold nothing of use, the first at each operand lane; empty for a run on values.
    pub stale: Vec<StaleRead>,
    /// What ran, in order; empty unless [`interpret_recorded`] was asked for it.
    pub record: Vec<Executed>,
}

/// One instruction that ran for one thread, terminators and calls left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Executed {
    /// The instruction.
    pub inst: Inst,
    /// The thread.
    pub thread: u32,
    /// False when its guard did not hold; the rest is empty then.
    pub ran: bool,
    /// Result lanes of all definitions.
    pub results: Vec<Word>,
    /// Its addresses.
    pub addresses: Vec<u64>,
    /// What a store stored, by words.
    pub stored: Vec<Word>,
}

impl RunResult {
    /// Events of which something is undefined.
    pub fn wildcards(&self) -> usize {
        self.trace.wildcards()
    }
}

/// Runs a function on its values.
pub fn interpret(f: &Function, options: &InterpOptions) -> RunResult {
    let threads = options.lanes.clamp(1, 32) as usize;
    Exec::new(f, *options, SsaMachine::new(f, threads)).run().0
}

/// As [`interpret`], with a record of everything that ran: for comparison with another form of the program.
pub fn interpret_recorded(f: &Function, options: &InterpOptions) -> RunResult {
    let threads = options.lanes.clamp(1, 32) as usize;
    let mut exec = Exec::new(f, *options, SsaMachine::new(f, threads));
    exec.step.record = Some(Vec::new());
    exec.run().0
}

/// Runs an allocated function on its registers and slots.
pub fn interpret_allocated(a: &AllocatedFunction<'_>, options: &InterpOptions) -> RunResult {
    if let Some(why) = malformed(a) {
        let n = a.func.num_insts();
        return RunResult {
            trace: Trace::default(),
            executed: 0,
            visited: EntitySet::with_capacity(n),
            stop: Stop::Malformed(why),
            tainted: Vec::new(),
            stale: Vec::new(),
            record: Vec::new(),
        };
    }
    let threads = options.lanes.clamp(1, 32) as usize;
    let (mut result, machine) = Exec::new(a.func, *options, AllocatedMachine::new(a, threads)).run();
    result.stale = machine.stale;
    result
}

/// Why an allocated function cannot be run at all.
fn malformed(a: &AllocatedFunction<'_>) -> Option<String> {
    let f = a.func;
    let n = f.num_insts();
    let lanes: usize = f.insts().map(|i| f.num_lanes(i)).sum();
    let params: usize = f.blocks().map(|b| f.params(b).len()).sum();
    if a.lane_start.len() != n + 1 || a.locs.len() != lanes {
        return Some(format!("{} operand lanes have {} locations", lanes, a.locs.len()));
    }
    if a.param_start.len() != f.num_blocks() + 1 || a.param_locs.len() != params {
        return Some(format!("{} parameters have {} locations", params, a.param_locs.len()));
    }
    if let Some(order) = &a.order {
        let mut seen = vec![false; n];
        if order.len() != n
            || order.iter().any(|i| i.0 as usize >= n || std::mem::replace(&mut seen[i.0 as usize], true))
        {
            return Some("the order is not a permutation of the instructions".into());
        }
        for b in f.blocks() {
            let range = f.block_range(b);
            if range.clone().any(|p| !range.contains(&order[p as usize].0))
                || order[range.end as usize - 1].0 != range.end - 1
            {
                return Some(format!(
                    "the order takes an instruction out of block `{}`, or moves its terminator",
                    f.block_name(b)
                ));
            }
        }
    }
    if !a.edits.is_sorted_by_key(|e| e.0) || !a.edge_edits.is_sorted_by_key(|e| e.0) {
        return Some("edits are not sorted".into());
    }
    for (point, _) in &a.edits {
        let after_end = || point.side == Side::After && f.kind(a.inst_at(point.pos)).is_terminator();
        if point.pos as usize >= n || after_end() {
            return Some(format!("no edit can stand at position {}, {:?}", point.pos, point.side));
        }
    }
    let all = a.edits.iter().map(|e| &e.1).chain(a.edge_edits.iter().map(|e| &e.1));
    for e in all {
        match e {
            Edit::Remat { inst, .. } if inst.0 as usize >= n => return Some(format!("{inst} does not exist")),
            Edit::Swap { a, b } if a.class != b.class => return Some(format!("{a} and {b} cannot be exchanged")),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
