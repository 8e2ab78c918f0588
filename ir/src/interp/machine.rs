//! Where values live during a run: the one thing in which the two interpreters differ.

use crate::assigned::{Edit, EditPoint, Loc};
use crate::entity::EntityId;
use crate::function::{Block, Edge, Function, Inst, Value};
use crate::semantics::Word;

/// A place to put a value that is handed over rather than computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handover {
    /// A definition lane of a call, by number among all operand lanes.
    Lane(u32),
    /// A parameter unit of a region's entry block, by number among all parameter units.
    Param(u32),
}

/// Values of all threads. `lane` numbers the operand lanes of the whole function.
pub trait Machine<'f> {
    /// The instruction at a position of the order.
    fn inst_at(&self, pos: u32) -> Inst;
    /// Edits at a point.
    fn edits_at(&self, point: EditPoint) -> &'f [(EditPoint, Edit)];
    /// Edits on an edge.
    fn edits_on(&self, edge: Edge) -> &'f [(Edge, Edit)];
    /// Reads value `v` as an operand lane.
    fn read(&mut self, lane: u32, v: Value, thread: usize) -> Word;
    /// Reads a location in place of an operand lane (rematerialization).
    fn read_at(&mut self, lane: u32, loc: Loc, thread: usize) -> Word;
    /// Writes a result; called for every running thread when the file is warp-wide.
    fn write(&mut self, lane: u32, v: Value, thread: usize, w: Word);
    /// The guard was false: `v` takes its old value `old`.
    fn keep(&mut self, lane: u32, v: Value, thread: usize, old: Word);
    /// Before the instruction reads: early-clobber definitions are destroyed.
    fn early_clobbers(&mut self, inst: Inst, thread: usize);
    /// After the instruction read, before it writes: what it clobbers is destroyed.
    fn clobbers(&mut self, inst: Inst, thread: usize);
    /// A value that comes from outside the kernel.
    fn enter_kernel(&mut self, param: u32, v: Value, thread: usize, w: Word);
    /// Hands `w` over as `v` (call arguments and results).
    fn hand_over(&mut self, to: Handover, v: Value, thread: usize, w: Word);
    /// The thread starts a block.
    fn enter_block(&mut self, b: Block, thread: usize);
    /// The target's parameters take the edge's arguments; `first` of the threads that take the edge together.
    fn take_edge(&mut self, edge: Edge, thread: usize, first: bool);
    /// The position is done: values that die there are dead.
    fn end_position(&mut self, pos: u32, thread: usize);
    /// The thread calls a region.
    fn call(&mut self, thread: usize);
    /// The thread is back from a region.
    fn come_back(&mut self, thread: usize);
    /// Carries out an edit other than a rematerialization.
    fn edit(&mut self, edit: &Edit, thread: usize);
    /// Writes a rematerialized lane.
    fn rematerialize(&mut self, v: Value, to: crate::class::PhysReg, thread: usize, w: Word);
}

/// The SSA environment: one word a value and thread; values of warp-wide classes have one word for all.
pub struct SsaMachine<'f> {
    func: &'f Function,
    threads: usize,
    words: Vec<Word>,
    scratch: Vec<Word>,
}

impl<'f> SsaMachine<'f> {
    /// Nothing is defined yet.
    pub fn new(func: &'f Function, threads: usize) -> Self {
        Self { func, threads, words: vec![Word::POISON; func.num_values() * threads], scratch: Vec::new() }
    }
    fn at(&self, v: Value, thread: usize) -> usize {
        let thread = if self.func.class(v).is_warp_wide() { 0 } else { thread };
        v.index() * self.threads + thread
    }
    fn set(&mut self, v: Value, thread: usize, w: Word) {
        let at = self.at(v, thread);
        self.words[at] = w;
    }
}

impl<'f> Machine<'f> for SsaMachine<'f> {
    fn inst_at(&self, pos: u32) -> Inst {
        Inst(pos)
    }
    fn edits_at(&self, _: EditPoint) -> &'f [(EditPoint, Edit)] {
        &[]
    }
    fn edits_on(&self, _: Edge) -> &'f [(Edge, Edit)] {
        &[]
    }
    fn read(&mut self, _: u32, v: Value, thread: usize) -> Word {
        self.words[self.at(v, thread)]
    }
    fn read_at(&mut self, _: u32, _: Loc, _: usize) -> Word {
        unreachable!("a function that is not allocated has no edits")
    }
    fn write(&mut self, _: u32, v: Value, thread: usize, w: Word) {
        self.set(v, thread, w);
    }
    fn keep(&mut self, _: u32, v: Value, thread: usize, old: Word) {
        self.set(v, thread, old);
    }
    fn early_clobbers(&mut self, _: Inst, _: usize) {}
    fn clobbers(&mut self, _: Inst, _: usize) {}
    fn enter_kernel(&mut self, _: u32, v: Value, thread: usize, w: Word) {
        self.set(v, thread, w);
    }
    fn hand_over(&mut self, _: Handover, v: Value, thread: usize, w: Word) {
        self.set(v, thread, w);
    }
    fn enter_block(&mut self, _: Block, _: usize) {}
    fn take_edge(&mut self, edge: Edge, thread: usize, first: bool) {
        let mut args = std::mem::take(&mut self.scratch);
        args.clear();
        for lane in self.func.edge_args(edge) {
            args.push(match lane.value() {
                Some(v) => self.words[self.at(v, thread)],
                None => Word::UNDEF,
            });
        }
        for (p, &w) in self.func.params(self.func.edge(edge).to).zip(&args) {
            if first || !self.func.class(p).is_warp_wide() {
                // A predicate is one bit, an undefined one too.
                let w =
                    if self.func.class(p).is_predicate() { Word { bits: w.bits & 1, taint: w.taint & 1 } } else { w };
                self.set(p, thread, w);
            }
        }
        self.scratch = args;
    }
    fn end_position(&mut self, _: u32, _: usize) {}
    fn call(&mut self, _: usize) {}
    fn come_back(&mut self, _: usize) {}
    fn edit(&mut self, _: &Edit, _: usize) {}
    fn rematerialize(&mut self, _: Value, _: crate::class::PhysReg, _: usize, _: Word) {}
}
