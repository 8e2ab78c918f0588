//! What can be seen of a run from outside: one sequence of events per memory class, and some more.
//!
//! Events of different sequences may change places when the program is reordered; those of one sequence may not.
//! Barriers and fences stand in a sequence of their own, and every event carries the number of barriers before it, so
//! that none can cross one. A guarded instruction that does not run leaves a [`EventKind::Skipped`], so that positions in
//! a sequence do not depend on an undefined guard.

use crate::entity::EntityId;
use crate::function::{Function, Inst};
use crate::op::Space;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A sequence of events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TraceClass {
    /// Writes to one alias class of one memory space; a generic write stands in those of global, shared and local.
    Memory(Space, u8),
    /// Ordered instructions: volatile accesses, clocks.
    Ordered,
    /// Barriers and fences.
    Barrier,
    /// Threads that end.
    Exit,
    /// Inputs of one convergent instruction.
    Convergent(Inst),
}

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// A store: address and up to 32 bytes.
    Store,
    /// An atomic or another effect: address if it has one, and a hash of its inputs.
    Effect,
    /// A convergent, ordered or barrier instruction: a hash of its inputs.
    Inputs,
    /// The thread ends.
    Exit,
    /// The guard was false.
    Skipped,
}

/// One event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// The instruction.
    pub inst: Inst,
    /// The thread.
    pub thread: u8,
    /// What happened.
    pub kind: EventKind,
    /// Bytes of `data` that count.
    pub bytes: u8,
    /// Barriers before it.
    pub epoch: u32,
    /// Address, 0 if it has none.
    pub address: u64,
    /// Bytes stored, lowest first, or the hash in the first two words.
    pub data: [u32; 8],
    /// Undefined bits of `data`.
    pub taint: [u32; 8],
    /// Whether it happened, or where, is undefined.
    pub wild: bool,
}

impl Event {
    /// True when anything of it is undefined.
    pub fn is_tainted(&self) -> bool {
        self.wild || self.taint != [0; 8]
    }

    /// Whether `other` shows the same, apart from what is undefined in `self`. The instruction does not count.
    pub fn agrees(&self, other: &Event) -> Result<(), Disagreement> {
        if self.wild {
            return Ok(());
        }
        if other.wild {
            return Err(Disagreement::Undefined);
        }
        let head = |e: &Event| (e.thread, e.kind, e.bytes, e.epoch, e.address);
        if head(self) != head(other) {
            return Err(Disagreement::Different);
        }
        for k in 0..8 {
            if (self.data[k] ^ other.data[k]) & !self.taint[k] & !other.taint[k] != 0 {
                return Err(Disagreement::Different);
            }
            if other.taint[k] & !self.taint[k] != 0 {
                return Err(Disagreement::Undefined);
            }
        }
        Ok(())
    }

    /// The event in words.
    pub fn describe(&self) -> String {
        let mut s = format!("thread {} ", self.thread);
        let bytes = || {
            let words = (self.bytes as usize).div_ceil(4).max(1);
            (0..words)
                .map(|k| {
                    let width = 2 * (self.bytes as usize - 4 * k).min(4);
                    match self.taint[k] {
                        0 => format!("{:0width$x}", self.data[k]),
                        t => format!("{:0width$x}(undef {t:x})", self.data[k]),
                    }
                })
                .collect::<Vec<_>>()
                .join(" ")
        };
        match self.kind {
            EventKind::Store => {
                let _ = write!(s, "stores [{:#x}] = {}", self.address, bytes());
            }
            EventKind::Effect => {
                let _ = write!(s, "effect [{:#x}] inputs #{}", self.address, bytes());
            }
            EventKind::Inputs => {
                let _ = write!(s, "inputs #{}", bytes());
            }
            EventKind::Exit => s.push_str("exits"),
            EventKind::Skipped => s.push_str("skipped"),
        }
        if self.epoch > 0 {
            let _ = write!(s, " after {} barriers", self.epoch);
        }
        if self.wild {
            s.push_str(" (undefined)");
        }
        s
    }
}

/// How two events differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Disagreement {
    /// They show different things.
    Different,
    /// The second is undefined where the first is not.
    Undefined,
}

/// All events of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    classes: BTreeMap<TraceClass, Vec<Event>>,
}

impl Trace {
    /// Appends an event to a sequence.
    pub fn push(&mut self, class: TraceClass, event: Event) {
        self.classes.entry(class).or_default().push(event);
    }
    /// The sequences in order.
    pub fn classes(&self) -> impl Iterator<Item = (TraceClass, &[Event])> {
        self.classes.iter().map(|(&c, e)| (c, e.as_slice()))
    }
    /// One sequence, empty when nothing happened.
    pub fn class(&self, class: TraceClass) -> &[Event] {
        self.classes.get(&class).map_or(&[], Vec::as_slice)
    }
    /// Number of events.
    pub fn len(&self) -> usize {
        self.classes.values().map(Vec::len).sum()
    }
    /// True when nothing happened.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Events with anything undefined.
    pub fn wildcards(&self) -> usize {
        self.classes.values().flatten().filter(|e| e.is_tainted()).count()
    }
    /// The trace without instructions that did not run, for comparison with an executor that does not note them.
    pub fn without_skipped(mut self) -> Self {
        for events in self.classes.values_mut() {
            events.retain(|e| e.kind != EventKind::Skipped);
        }
        self.classes.retain(|_, e| !e.is_empty());
        self
    }
    /// The trace as text: sequences in order, one event a line, with mnemonics of `func`.
    pub fn to_text(&self, func: &Function) -> String {
        let mut s = String::new();
        for (class, events) in self.classes() {
            let _ = writeln!(s, "{}", class_name(class));
            for e in events {
                let mnemonic = if e.inst.index() < func.num_insts() { &*func.sig(e.inst).mnemonic } else { "?" };
                let _ = writeln!(s, "  {} {mnemonic}: {}", e.inst, e.describe());
            }
        }
        s
    }
}

/// Name of a sequence.
pub fn class_name(class: TraceClass) -> String {
    match class {
        TraceClass::Memory(space, 0) => format!("{space:?} memory").to_lowercase(),
        TraceClass::Memory(space, a) => format!("{space:?} memory, class {a}").to_lowercase(),
        TraceClass::Ordered => "ordered".into(),
        TraceClass::Barrier => "barriers".into(),
        TraceClass::Exit => "exits".into(),
        TraceClass::Convergent(i) => format!("convergent {i}"),
    }
}
