//! Running a function over a [`Machine`].
//!
//! **Threads of the warp.** Each has its own place in the program; those at the same place run together, instruction by
//! instruction, thread after thread. Of several places the lowest runs first: outermost call site, then block number, and
//! a thread inside a call before one that is past it. Since linear order keeps loops together and puts joins after what
//! they join, this meets again where a machine would. An instruction all of whose definitions are warp-wide runs once,
//! with the inputs of the first thread whose guard holds; steps on warp-wide registers at an edge or edit likewise.
//! A convergent instruction is a function of its own thread's inputs: exchange between threads is not modelled, but every
//! input of it stands in the trace.
//!
//! **Fuel** is charged by whole blocks on entry, so that a run stops at the same place in every order of a block.
//!
//! **Undefined control** (branch, switch, exit or call on an undefined predicate) stops the run: what follows has no
//! meaning to compare.

use super::machine::{Handover, Machine};
use super::step::{OpInfo, Step};
use super::trace::{Event, EventKind, TraceClass};
use super::{InterpOptions, RunResult, Stop};
use crate::assigned::{Edit, EditPoint, Side};
use crate::class::RegClass;
use crate::entity::EntitySet;
use crate::function::{Block, Function, Inst};
use crate::op::OpKind;
use crate::semantics::Word;

#[derive(Clone, Copy)]
struct Frame {
    /// Where to go on: twice the position, and one if the instruction there is done.
    resume: u64,
    block: Block,
    call: Inst,
}

struct Thread {
    block: Block,
    /// Twice the position, plus one when only what follows its instruction is left to do.
    at: u64,
    frames: Vec<Frame>,
    done: bool,
}

impl Thread {
    /// Compares places in the program; see the head of the file.
    fn place_cmp(&self, other: &Thread) -> std::cmp::Ordering {
        let mine = self.frames.iter().map(|f| f.resume).chain([self.at]);
        let theirs = other.frames.iter().map(|f| f.resume).chain([other.at]);
        for (a, b) in mine.clone().zip(theirs) {
            if a != b {
                return a.cmp(&b);
            }
        }
        // The deeper one first.
        other.frames.len().cmp(&self.frames.len())
    }
}

/// Deepest nest of calls; regions do not recurse, so a deeper one is a broken function.
const MAX_FRAMES: usize = 256;

/// One run.
pub(super) struct Exec<'f, M> {
    f: &'f Function,
    options: InterpOptions,
    pub(super) step: Step<'f, M>,
    threads: Vec<Thread>,
    executed: u64,
    visited: EntitySet<Inst>,
}

enum Flow {
    Next,
    Left,
    Stop(Stop),
}

impl<'f, M: Machine<'f>> Exec<'f, M> {
    pub(super) fn new(f: &'f Function, options: InterpOptions, machine: M) -> Self {
        let count = options.lanes.clamp(1, 32) as usize;
        let start = f.block_range(f.entry()).start;
        let threads = (0..count)
            .map(|_| Thread { block: f.entry(), at: 2 * start as u64, frames: Vec::new(), done: false })
            .collect();
        Self {
            f,
            options,
            step: Step::new(f, options, machine, count),
            threads,
            executed: 0,
            visited: EntitySet::with_capacity(f.num_insts()),
        }
    }

    /// Runs to the end, or until the fuel is used up.
    pub(super) fn run(mut self) -> (RunResult, M) {
        for t in 0..self.threads.len() {
            for (k, p) in self.f.params(self.f.entry()).enumerate() {
                let w = super::seed::entry_param(self.options.seed, k as u32, t as u32);
                let w = if self.f.class(p).is_predicate() { w & 1 } else { w };
                self.step.machine.enter_kernel(k as u32, p, t, Word::new(w));
            }
        }
        let mut group = Vec::new();
        let stop = loop {
            let first = (0..self.threads.len()).filter(|&t| !self.threads[t].done).reduce(|a, b| {
                if self.threads[b].place_cmp(&self.threads[a]).is_lt() {
                    b
                } else {
                    a
                }
            });
            let Some(first) = first else { break Stop::Finished };
            group.clear();
            group.extend(
                (first..self.threads.len())
                    .filter(|&t| !self.threads[t].done && self.threads[t].place_cmp(&self.threads[first]).is_eq()),
            );
            match self.run_block(&group) {
                Flow::Stop(s) => break s,
                Flow::Next | Flow::Left => {}
            }
        };
        let Step { machine, trace, tainted, record, .. } = self.step;
        let record = record.unwrap_or_default();
        let (executed, visited) = (self.executed, self.visited);
        (RunResult { trace, executed, visited, stop, tainted, stale: Vec::new(), record }, machine)
    }

    /// Runs the threads of a group to the end of their block, or to a call.
    fn run_block(&mut self, group: &[usize]) -> Flow {
        let (block, at) = (self.threads[group[0]].block, self.threads[group[0]].at);
        let range = self.f.block_range(block);
        if at == 2 * range.start as u64 {
            let cost = range.len() as u64;
            if self.executed + cost > self.options.fuel {
                return Flow::Stop(Stop::Fuel);
            }
            self.executed += cost;
            for &t in group {
                self.step.machine.enter_block(block, t);
            }
        }
        let mut after = at & 1 == 1;
        for pos in (at / 2) as u32..range.end {
            if !after {
                self.edits(EditPoint { pos, side: Side::Before }, group);
                let inst = self.step.machine.inst_at(pos);
                self.visited.insert(inst);
                let flow = self.instruction(inst, block, pos, group);
                if !matches!(flow, Flow::Next) {
                    return flow;
                }
            }
            after = false;
            self.edits(EditPoint { pos, side: Side::After }, group);
            for &t in group {
                self.step.machine.end_position(pos, t);
            }
        }
        Flow::Stop(Stop::Malformed(format!("block `{}` runs past its end", self.f.block_name(block))))
    }

    fn edits(&mut self, point: EditPoint, group: &[usize]) {
        for (_, e) in self.step.machine.edits_at(point) {
            self.edit(e, group);
        }
    }

    /// An edit for threads that run together; once where it changes a warp-wide register.
    fn edit(&mut self, edit: &Edit, group: &[usize]) {
        let wide = |c: RegClass| c.is_warp_wide();
        let once = match edit {
            Edit::Copy { to, .. } | Edit::Reload { to, .. } => wide(to.class),
            Edit::Swap { a, .. } => wide(a.class),
            Edit::Spill { .. } | Edit::SlotCopy { .. } => false,
            Edit::Remat { to, .. } => to.iter().flatten().all(|r| wide(r.class)),
        };
        for &t in if once { &group[..1] } else { group } {
            match edit {
                Edit::Remat { inst, from, to } => self.step.rematerialize(*inst, from, to, t),
                _ => self.step.machine.edit(edit, t),
            }
        }
    }

    fn instruction(&mut self, inst: Inst, block: Block, pos: u32, group: &[usize]) -> Flow {
        match self.f.kind(inst) {
            OpKind::Normal => {
                self.step.normal(inst, group);
                Flow::Next
            }
            OpKind::Call => self.call(inst, block, pos, group),
            OpKind::Jump => self.leave(block, &group.iter().map(|&t| (t, 0)).collect::<Vec<_>>()),
            OpKind::Branch | OpKind::Switch => {
                let mut moves = Vec::with_capacity(group.len());
                for &t in group {
                    let w = self.step.condition(inst, t);
                    let (tainted, choice) = if self.f.kind(inst) == OpKind::Branch {
                        (w.truth_tainted(), !w.truth() as usize)
                    } else {
                        let n = self.f.succ_edges(block).len();
                        (w.taint != 0, (w.bits as usize).min(n.saturating_sub(1)))
                    };
                    if tainted {
                        return Flow::Stop(Stop::UndefinedControl(inst));
                    }
                    moves.push((t, choice));
                }
                self.leave(block, &moves)
            }
            OpKind::Exit => {
                group.iter().for_each(|&t| self.exit(inst, t));
                Flow::Left
            }
            OpKind::ExitIf => {
                let mut moves = Vec::with_capacity(group.len());
                for &t in group {
                    let w = self.step.condition(inst, t);
                    if w.truth_tainted() {
                        return Flow::Stop(Stop::UndefinedControl(inst));
                    }
                    if w.truth() {
                        self.exit(inst, t);
                    } else {
                        moves.push((t, 0));
                    }
                }
                self.leave(block, &moves)
            }
            OpKind::Return => self.come_back(inst, group),
        }
    }

    fn exit(&mut self, inst: Inst, t: usize) {
        self.threads[t].done = true;
        let event = Event {
            inst,
            thread: t as u8,
            kind: EventKind::Exit,
            bytes: 0,
            epoch: self.step.epoch,
            address: 0,
            data: [0; 8],
            taint: [0; 8],
            wild: false,
        };
        self.step.trace.push(TraceClass::Exit, event);
    }

    /// Threads leave a block by its edges, those of one edge together.
    fn leave(&mut self, block: Block, moves: &[(usize, usize)]) -> Flow {
        let mut together = Vec::with_capacity(moves.len());
        for (k, e) in self.f.succ_edges(block).enumerate() {
            together.clear();
            together.extend(moves.iter().filter(|m| m.1 == k).map(|m| m.0));
            if together.is_empty() {
                continue;
            }
            for (_, edit) in self.step.machine.edits_on(e) {
                self.edit(edit, &together);
            }
            let to = self.f.edge(e).to;
            for (n, &t) in together.iter().enumerate() {
                self.step.machine.take_edge(e, t, n == 0);
                self.threads[t].block = to;
                self.threads[t].at = 2 * self.f.block_range(to).start as u64;
            }
        }
        Flow::Left
    }

    fn call(&mut self, inst: Inst, block: Block, pos: u32, group: &[usize]) -> Flow {
        let Some(callee) = self.f.callee(inst) else {
            return Flow::Stop(Stop::Malformed(format!("call {inst} names no region")));
        };
        let entry = self.f.region(callee).entry;
        let resume = 2 * pos as u64 + 1;
        let params: Vec<_> = self.f.params(entry).collect();
        let base = self.step.param_start(entry);
        let mut passed: Vec<(usize, Vec<Word>)> = Vec::new();
        for &t in group {
            self.threads[t].at = resume;
            let guard = self.step.guard(inst, t);
            if guard.tainted {
                return Flow::Stop(Stop::UndefinedControl(inst));
            }
            if !guard.holds {
                self.step.keep_old(inst, t);
                continue;
            }
            if self.threads[t].frames.len() >= MAX_FRAMES {
                return Flow::Stop(Stop::Malformed(format!("calls nest deeper than {MAX_FRAMES} at {inst}")));
            }
            passed.push((t, self.step.arguments(inst, t)));
        }
        for (t, words) in passed {
            self.step.machine.clobbers(inst, t);
            self.step.machine.call(t);
            for (k, (&p, &w)) in params.iter().zip(&words).enumerate() {
                self.step.machine.hand_over(Handover::Param(base + k as u32), p, t, w);
            }
            self.threads[t].frames.push(Frame { resume, block, call: inst });
            self.threads[t].block = entry;
            self.threads[t].at = 2 * self.f.block_range(entry).start as u64;
        }
        Flow::Left
    }

    fn come_back(&mut self, inst: Inst, group: &[usize]) -> Flow {
        let passed: Vec<_> = group.iter().map(|&t| (t, self.step.arguments(inst, t))).collect();
        for (t, words) in passed {
            let Some(frame) = self.threads[t].frames.pop() else {
                return Flow::Stop(Stop::Malformed(format!("{inst} returns from the kernel")));
            };
            self.step.machine.come_back(t);
            let lane = self.step.lane_start(frame.call);
            for (k, (v, &w)) in self.f.def_values(frame.call).zip(&words).enumerate() {
                self.step.machine.hand_over(Handover::Lane(lane + k as u32), v, t, w);
            }
            self.threads[t].block = frame.block;
            self.threads[t].at = frame.resume;
        }
        Flow::Left
    }
}

/// Instruction information by opcode, for [`Step`].
pub(super) fn infos(f: &Function) -> Vec<OpInfo> {
    f.ops().iter().map(|(_, sig)| OpInfo::new(sig)).collect()
}
