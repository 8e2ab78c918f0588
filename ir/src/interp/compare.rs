//! Comparing the run of an input with that of its allocation.

use super::trace::{class_name, Disagreement, Event, TraceClass};
use super::{interpret, interpret_allocated, InterpOptions, RunResult, Stop};
use crate::assigned::{AllocatedFunction, Loc};
use crate::entity::EntitySet;
use crate::function::{Function, Inst};
use std::collections::BTreeSet;

/// What two runs that agree have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Comparison {
    /// Events compared.
    pub events: usize,
    /// Of them, those that are undefined in the input and agree with anything.
    pub wildcards: usize,
    /// The input's control became undefined, so the runs were compared up to there.
    pub partial: bool,
}

/// The first difference between two runs.
#[derive(Clone, PartialEq, Debug)]
pub enum Mismatch {
    /// Two events differ, or the second is undefined.
    Event {
        /// The sequence.
        class: TraceClass,
        /// Place in the sequence.
        index: usize,
        /// The input's event.
        expected: Box<Event>,
        /// The allocation's event.
        found: Box<Event>,
        /// How they differ.
        how: Disagreement,
    },
    /// One run has an event that the other lacks.
    Count {
        /// The sequence.
        class: TraceClass,
        /// Events of the input.
        expected: usize,
        /// Events of the allocation.
        found: usize,
        /// The first event that only one of them has.
        first: Box<Event>,
    },
    /// A register was read that nothing wrote, that was clobbered, or whose value is dead.
    Stale {
        /// Operand lane, numbered over all lanes of the function.
        lane: u32,
        /// Where it was read from.
        loc: Loc,
    },
    /// The runs ended for different reasons or after different numbers of instructions.
    End {
        /// The input's end.
        expected: (Stop, u64),
        /// The allocation's end.
        found: (Stop, u64),
    },
}

impl Mismatch {
    /// The instruction that the difference shows at, when it shows at one.
    pub fn inst(&self, f: &Function) -> Option<Inst> {
        match self {
            Mismatch::Event { found, .. } => Some(found.inst),
            Mismatch::Count { first, .. } => Some(first.inst),
            Mismatch::Stale { lane, .. } => {
                let mut end = 0;
                f.insts().find(|&i| {
                    end += f.num_lanes(i) as u32;
                    *lane < end
                })
            }
            Mismatch::End { .. } => None,
        }
    }

    /// The difference in words.
    pub fn describe(&self, f: &Function) -> String {
        let name = |i: Option<Inst>| match i {
            Some(i) => format!("{i} {} (line {})", f.sig(i).mnemonic, f.line(i)),
            None => "?".into(),
        };
        let at = name(self.inst(f));
        match self {
            Mismatch::Event { class, index, expected, found, how } => {
                let verb = if *how == Disagreement::Undefined { "is undefined after allocation" } else { "differs" };
                format!(
                    "{at}: event {index} of {} {verb}: expected {}, found {}",
                    class_name(*class),
                    expected.describe(),
                    found.describe()
                )
            }
            Mismatch::Count { class, expected, found, first } => format!(
                "{at}: {} has {found} events in place of {expected}; the first alone is {}",
                class_name(*class),
                first.describe()
            ),
            Mismatch::Stale { lane, loc } => {
                let first: u32 =
                    self.inst(f).map_or(0, |i| f.insts().take(i.0 as usize).map(|i| f.num_lanes(i) as u32).sum());
                format!("{at}: operand lane {} reads {loc}, which holds no live value", lane - first)
            }
            Mismatch::End { expected, found } => format!(
                "runs end apart: expected {:?} after {} instructions, found {:?} after {}",
                expected.0, expected.1, found.0, found.1
            ),
        }
    }
}

/// Compares the run of an input with that of its allocation, under the same options.
///
/// # Errors
/// Of the first differences of all sequences the one with the fewest barriers before it, then with the first instruction
/// in linear order: nearest to the cause, as a rule.
pub fn compare(input: &RunResult, allocated: &RunResult) -> Result<Comparison, Mismatch> {
    let partial = matches!(input.stop, Stop::UndefinedControl(_));
    let mut result = Comparison { events: 0, wildcards: 0, partial };
    if let Stop::Malformed(_) = allocated.stop {
        return Err(ends(input, allocated));
    }
    let mut earliest: Option<(u32, Inst, Mismatch)> = None;
    let mut differ = |epoch: u32, inst: Inst, m: Mismatch| {
        if earliest.as_ref().is_none_or(|e| (epoch, inst) < (e.0, e.1)) {
            earliest = Some((epoch, inst, m));
        }
    };
    let classes: BTreeSet<TraceClass> = input.trace.classes().chain(allocated.trace.classes()).map(|c| c.0).collect();
    for class in classes {
        let (a, b) = (input.trace.class(class), allocated.trace.class(class));
        let mut agree = true;
        for (index, (x, y)) in a.iter().zip(b).enumerate() {
            if let Err(how) = x.agrees(y) {
                differ(
                    x.epoch,
                    x.inst,
                    Mismatch::Event { class, index, expected: Box::new(*x), found: Box::new(*y), how },
                );
                agree = false;
                break;
            }
            result.events += 1;
            result.wildcards += x.is_tainted() as usize;
        }
        if agree && (a.len() > b.len() || a.len() < b.len() && !partial) {
            let first = if a.len() > b.len() { a[b.len()] } else { b[a.len()] };
            let m = Mismatch::Count { class, expected: a.len(), found: b.len(), first: Box::new(first) };
            differ(first.epoch, first.inst, m);
        }
    }
    if let Some((_, _, m)) = earliest {
        return Err(m);
    }
    if partial {
        return Ok(result);
    }
    if let Some(&(lane, loc)) = allocated.stale.iter().find(|s| !input.tainted[s.0 as usize]) {
        return Err(Mismatch::Stale { lane, loc });
    }
    if (&input.stop, input.executed) != (&allocated.stop, allocated.executed) {
        return Err(ends(input, allocated));
    }
    Ok(result)
}

fn ends(a: &RunResult, b: &RunResult) -> Mismatch {
    Mismatch::End { expected: (a.stop.clone(), a.executed), found: (b.stop.clone(), b.executed) }
}

/// What comparing under many seeds covered.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Seeds run.
    pub seeds: usize,
    /// Events compared.
    pub events: usize,
    /// Events that were undefined in the input.
    pub wildcards: usize,
    /// Runs cut short because the input's control became undefined.
    pub partial: usize,
    /// Instructions that no run reached.
    pub never_reached: Vec<Inst>,
}

/// Runs input and allocation under each seed ([`InterpOptions::for_seed`]) and compares them.
///
/// # Errors
/// The first seed with a difference, and the difference.
pub fn compare_seeds(
    a: &AllocatedFunction<'_>,
    seeds: impl IntoIterator<Item = u64>,
) -> Result<Summary, (u64, Mismatch)> {
    let mut summary = Summary { seeds: 0, events: 0, wildcards: 0, partial: 0, never_reached: Vec::new() };
    let mut reached = EntitySet::<Inst>::with_capacity(a.func.num_insts());
    for seed in seeds {
        let options = InterpOptions::for_seed(seed);
        let input = interpret(a.func, &options);
        // Past undefined control there is nothing to compare.
        let fuel = if matches!(input.stop, Stop::UndefinedControl(_)) { input.executed } else { options.fuel };
        let allocated = interpret_allocated(a, &InterpOptions { fuel, ..options });
        let c = compare(&input, &allocated).map_err(|m| (seed, m))?;
        summary.seeds += 1;
        summary.events += c.events;
        summary.wildcards += c.wildcards;
        summary.partial += c.partial as usize;
        for i in input.visited.iter() {
            reached.insert(i);
        }
    }
    summary.never_reached = a.func.insts().filter(|&i| !reached.contains(i)).collect();
    Ok(summary)
}
