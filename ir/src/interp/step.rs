//! One instruction for one thread: gather inputs, compute, touch memory, note what can be seen.

mod effects;
mod info;

use super::machine::Machine;
use super::memory::Memory;
use super::seed;
use super::trace::Trace;
use super::{Executed, InterpOptions};
use crate::assigned::Loc;
use crate::class::PhysReg;
use crate::entity::EntityId;
use crate::function::{Block, Function, Inst, Value};
use crate::op::Space;
use crate::opcodes::special_is_volatile;
use crate::operand::{Operand, OperandFlags, OperandKind};
use crate::semantics::{DefShape, Inputs, SourceKind, Word};
use info::Access;
pub(super) use info::OpInfo;

/// Where use lanes are read from.
#[derive(Clone, Copy)]
pub(super) enum Reads<'a> {
    /// The instruction's own operands.
    Own,
    /// One location for each use lane.
    At(&'a [Loc]),
}

/// State of a guard.
#[derive(Clone, Copy)]
pub(super) struct Guard {
    pub(super) holds: bool,
    pub(super) tainted: bool,
}

#[derive(Clone, Copy, Default)]
struct Address {
    value: u64,
    tainted: bool,
    /// The bank, when a constant-bank operand is its base.
    bank: Option<u32>,
}

/// The low `bytes` bytes (0 for all of them) as a 32-bit number.
fn extend(w: Word, bytes: u32, signed: bool) -> Word {
    let f = |x: u32| match (bytes, signed) {
        (1, false) => x & 0xff,
        (1, true) => x as i8 as u32,
        (2, false) => x & 0xffff,
        (2, true) => x as i16 as u32,
        _ => x,
    };
    Word { bits: f(w.bits), taint: f(w.taint) }
}

/// State that instructions of all threads share.
pub(super) struct Step<'f, M> {
    f: &'f Function,
    options: InterpOptions,
    pub(super) machine: M,
    pub(super) trace: Trace,
    pub(super) epoch: u32,
    /// Operand lanes that undefined data was read at.
    pub(super) tainted: Vec<bool>,
    /// Everything that ran, when asked for.
    pub(super) record: Option<Vec<Executed>>,
    memory: Memory,
    infos: Vec<OpInfo>,
    lane_start: Vec<u32>,
    param_start: Vec<u32>,
    specials: Vec<Option<Vec<[u32; 2]>>>,
    clocks: Vec<u32>,
    inputs: Inputs,
    addresses: Vec<Address>,
    shapes: Vec<DefShape>,
    results: Vec<Word>,
    data: Vec<Word>,
}

impl<'f, M: Machine<'f>> Step<'f, M> {
    pub(super) fn new(f: &'f Function, options: InterpOptions, machine: M, threads: usize) -> Self {
        let count = |start: &mut Vec<u32>, n: usize| {
            let last = *start.last().expect("starts at 0");
            start.push(last + n as u32);
        };
        let mut lane_start = vec![0];
        f.insts().for_each(|i| count(&mut lane_start, f.num_lanes(i)));
        let mut param_start = vec![0];
        f.blocks().for_each(|b| count(&mut param_start, f.params(b).len()));
        let lanes = *lane_start.last().expect("starts at 0") as usize;
        Self {
            f,
            options,
            machine,
            trace: Trace::default(),
            epoch: 0,
            tainted: vec![false; lanes],
            record: None,
            memory: Memory::new(options.seed, options.alias_mod16),
            infos: super::exec::infos(f),
            lane_start,
            param_start,
            specials: Vec::new(),
            clocks: vec![0; threads],
            inputs: Inputs::default(),
            addresses: Vec::new(),
            shapes: Vec::new(),
            results: Vec::new(),
            data: Vec::new(),
        }
    }

    /// Number of the first operand lane of an instruction.
    pub(super) fn lane_start(&self, inst: Inst) -> u32 {
        self.lane_start[inst.index()]
    }
    /// Number of the first parameter unit of a block.
    pub(super) fn param_start(&self, b: Block) -> u32 {
        self.param_start[b.index()]
    }
    fn info(&self, inst: Inst) -> &OpInfo {
        &self.infos[self.f.op(inst).index()]
    }
    fn def_lanes(&self, inst: Inst) -> u32 {
        self.f.defs(inst).iter().map(|o| o.len() as u32).sum()
    }

    fn read(&mut self, inst: Inst, lane: u32, value: Option<Value>, thread: usize, reads: Reads<'_>) -> Word {
        let Some(v) = value else { return Word::UNDEF };
        let w = match reads {
            Reads::Own => self.machine.read(lane, v, thread),
            Reads::At(locs) => {
                let k = lane - self.lane_start(inst) - self.def_lanes(inst);
                self.machine.read_at(lane, locs.get(k as usize).copied().unwrap_or(Loc::NONE), thread)
            }
        };
        if w.taint != 0 {
            self.tainted[lane as usize] = true;
        }
        if self.f.class(v).is_predicate() {
            Word { bits: w.bits & 1, taint: w.taint & 1 }
        } else {
            w
        }
    }

    fn guard_with(&mut self, inst: Inst, thread: usize, reads: Reads<'_>) -> Guard {
        let Some(&g) = self.f.uses(inst).first().filter(|o| o.is_guard()) else {
            return Guard { holds: true, tainted: false };
        };
        let lane = self.lane_start(inst) + self.def_lanes(inst);
        let v = if g.is_empty() { None } else { self.f.lane(g, 0).value() };
        let w = match self.f.imm(g) {
            Some(x) => Word::new(x as u32),
            None => self.read(inst, lane, v, thread, reads),
        };
        // What an undefined guard lets through is computed, and undefined: memory and results may or may not change.
        let tainted = w.truth_tainted();
        Guard { holds: tainted || w.truth() != g.flags().has(OperandFlags::NOT), tainted }
    }

    /// The guard of an instruction.
    pub(super) fn guard(&mut self, inst: Inst, thread: usize) -> Guard {
        self.guard_with(inst, thread, Reads::Own)
    }

    /// The first source of a terminator, after NOT.
    pub(super) fn condition(&mut self, inst: Inst, thread: usize) -> Word {
        let Some(&o) = self.f.uses(inst).first() else { return Word::UNDEF };
        let flip = o.flags().has(OperandFlags::NOT) as u32;
        let w = match (self.f.imm(o), o.is_register()) {
            (Some(x), _) => Word::new(x as u32),
            (None, true) => {
                let lane = self.lane_start(inst) + self.def_lanes(inst);
                self.read(inst, lane, self.f.lane(o, 0).value(), thread, Reads::Own)
            }
            (None, false) => self.plain_words(o, thread)[0],
        };
        Word { bits: w.bits ^ flip, taint: w.taint }
    }

    /// All register lanes that an instruction reads, the guard left out: what a call or return hands over.
    pub(super) fn arguments(&mut self, inst: Inst, thread: usize) -> Vec<Word> {
        let mut lane = self.lane_start(inst) + self.def_lanes(inst);
        let mut out = Vec::new();
        for &o in self.f.uses(inst) {
            for k in 0..o.len() {
                let w = self.read(inst, lane, self.f.lane(o, k).value(), thread, Reads::Own);
                lane += 1;
                if !o.is_guard() {
                    out.push(w);
                }
            }
        }
        out
    }

    /// The guard does not hold: definitions take their tied old values.
    pub(super) fn keep_old(&mut self, inst: Inst, thread: usize) {
        let words = self.old_values(inst, thread, Reads::Own);
        let first = self.lane_start(inst);
        for (k, (v, w)) in self.f.def_values(inst).zip(words).enumerate() {
            self.machine.keep(first + k as u32, v, thread, w);
        }
    }

    fn old_values(&mut self, inst: Inst, thread: usize, reads: Reads<'_>) -> Vec<Word> {
        let mut out = vec![Word::UNDEF; self.def_lanes(inst) as usize];
        let ties = std::mem::take(&mut self.infos[self.f.op(inst).index()].tied);
        let operands = self.f.operands(inst);
        let offset = |k: usize| operands[..k].iter().map(|o| o.len() as u32).sum::<u32>();
        for &(u, d) in &ties {
            if u >= operands.len() || d >= self.f.num_defs(inst) {
                continue;
            }
            for k in 0..operands[u].len().min(operands[d].len()) {
                let lane = self.lane_start(inst) + offset(u) + k as u32;
                let w = self.read(inst, lane, self.f.lane(operands[u], k).value(), thread, reads);
                out[offset(d) as usize + k] = w;
            }
        }
        self.infos[self.f.op(inst).index()].tied = ties;
        out
    }

    /// The two words of an operand that is not a register.
    fn plain_words(&mut self, o: Operand, thread: usize) -> [Word; 2] {
        let pair = |x: u64| [Word::new(x as u32), Word::new((x >> 32) as u32)];
        let seed = self.options.seed;
        match o.kind() {
            OperandKind::Imm | OperandKind::WideImm => pair(self.f.imm(o).unwrap_or(0)),
            OperandKind::Const => {
                let (bank, offset) = o.const_ref();
                let word = |k| Word::new(seed::constant_word(seed, bank, offset as u64 + k));
                [word(0), word(4)]
            }
            OperandKind::Symbol => pair(seed::symbol_address(seed, self.f.operand_symbol(o).unwrap_or(""))),
            OperandKind::Special => {
                let name = self.f.operand_symbol(o).unwrap_or("");
                if special_is_volatile(name) {
                    self.clocks[thread] += 1;
                    let n = self.clocks[thread];
                    let at = |high| Word::new(seed::volatile_special(seed, name, thread as u32, n, high));
                    return [at(false), at(true)];
                }
                let k = o.payload() as usize;
                if self.specials.len() <= k {
                    self.specials.resize(k + 1, None);
                }
                let threads = self.clocks.len() as u32;
                let words = self.specials[k].get_or_insert_with(|| {
                    (0..threads).map(|t| [false, true].map(|high| seed::special(seed, name, t, high))).collect()
                });
                words[thread].map(Word::new)
            }
            _ => [Word::UNDEF; 2],
        }
    }

    /// Reads guard and sources; false when the guard does not hold and nothing else was read.
    fn gather(&mut self, inst: Inst, thread: usize, reads: Reads<'_>) -> Guard {
        self.inputs.clear();
        self.addresses.clear();
        let guard = self.guard_with(inst, thread, reads);
        if !guard.holds {
            return guard;
        }
        let operands = self.f.operands(inst);
        let defs = self.f.num_defs(inst);
        let guarded = operands.get(defs).is_some_and(|o| o.is_guard());
        let mut lane = self.lane_start(inst) + self.def_lanes(inst);
        let mut inputs = std::mem::take(&mut self.inputs);
        for (k, &o) in operands.iter().enumerate().skip(defs) {
            let first = lane;
            lane += o.len() as u32;
            if o.is_guard() || o.kind() == OperandKind::Region {
                continue;
            }
            let info = self.info(inst);
            if guarded && !info.accumulates && info.tied.iter().any(|t| t.0 == k) {
                continue;
            }
            if o.is_address() {
                self.add_to_address(inst, o, first, thread, reads);
                continue;
            }
            if o.is_register() {
                let class = self.f.lanes(o).find_map(|l| l.value()).map(|v| self.f.class(v));
                let kind = match class {
                    Some(c) if c.is_predicate() => SourceKind::Predicate,
                    _ => SourceKind::Register,
                };
                let f = self.f;
                inputs.push(
                    kind,
                    o.flags(),
                    (0..o.len()).map(|k| self.read(inst, first + k as u32, f.lane(o, k).value(), thread, reads)),
                );
                continue;
            }
            let words = self.plain_words(o, thread);
            let kind = match o.kind() {
                OperandKind::Imm => SourceKind::Immediate,
                OperandKind::WideImm => SourceKind::Wide,
                OperandKind::Const => SourceKind::Constant,
                _ => SourceKind::Named,
            };
            inputs.push(kind, o.flags(), words);
        }
        self.inputs = inputs;
        guard
    }

    fn add_to_address(&mut self, inst: Inst, o: Operand, lane: u32, thread: usize, reads: Reads<'_>) {
        if o.flags().has(OperandFlags::ADDR_START) || self.addresses.is_empty() {
            self.addresses.push(Address::default());
        }
        let class = self.info(inst).class;
        let (mut value, mut tainted, mut bank) = (0u64, false, None);
        match o.kind() {
            OperandKind::Run | OperandKind::Lanes | OperandKind::Undef => {
                for k in 0..o.len().min(2) {
                    let w = self.read(inst, lane + k as u32, self.f.lane(o, k).value(), thread, reads);
                    value |= (w.bits as u64) << (32 * k);
                    tainted |= w.taint != 0;
                }
            }
            OperandKind::Imm => value = o.payload() as i32 as u64,
            OperandKind::Const if class.space == Space::Const => {
                let (b, offset) = o.const_ref();
                (value, bank) = (offset as u64, Some(b));
            }
            _ => {
                let [low, high] = self.plain_words(o, thread);
                value = low.bits as u64 | (high.bits as u64) << 32;
                tainted = low.taint | high.taint != 0;
            }
        }
        if o.flags().has(OperandFlags::NEG) {
            value = value.wrapping_neg();
        }
        let a = self.addresses.last_mut().expect("just made");
        a.value = a.value.wrapping_add(value);
        a.tainted |= tainted;
        a.bank = a.bank.or(bank);
    }

    /// Address number `k`, cut to the width of its space.
    fn address(&self, k: usize, space: Space) -> Option<Address> {
        let mut a = *self.addresses.get(k)?;
        if matches!(space, Space::Shared | Space::Local | Space::Const) {
            a.value &= u32::MAX as u64;
        }
        Some(a)
    }

    /// Runs an ordinary instruction for threads that are at it together.
    pub(super) fn normal(&mut self, inst: Inst, group: &[usize]) {
        let f = self.f;
        let mut defs = f.def_values(inst);
        let once = defs.len() > 0 && defs.all(|v| f.class(v).is_warp_wide());
        let mut ran = false;
        for &t in group {
            let guard = self.gather(inst, t, Reads::Own);
            if !guard.holds {
                self.note(inst, t, guard);
                self.record(inst, t, false);
                if !once {
                    self.keep_old(inst, t);
                }
                continue;
            }
            if once && ran {
                // A warp-wide result is there already; what the other threads feed to it is seen all the same.
                if self.info(inst).convergent {
                    self.note(inst, t, guard);
                }
                continue;
            }
            ran = true;
            self.machine.early_clobbers(inst, t);
            if self.info_has_early(inst) {
                self.gather(inst, t, Reads::Own);
            }
            self.note(inst, t, guard);
            self.compute(inst, t, true, guard.tainted);
            self.record(inst, t, true);
            self.machine.clobbers(inst, t);
            let first = self.lane_start(inst);
            let results = std::mem::take(&mut self.results);
            for (k, (v, &w)) in f.def_values(inst).zip(&results).enumerate() {
                let w = if guard.tainted { w.tainted() } else { w };
                let w = if f.class(v).is_predicate() { Word { bits: w.bits & 1, taint: w.taint & 1 } } else { w };
                if once {
                    group.iter().for_each(|&t| self.machine.write(first + k as u32, v, t, w));
                } else {
                    self.machine.write(first + k as u32, v, t, w);
                }
            }
            self.results = results;
        }
        if once && !ran {
            for &t in group {
                self.keep_old(inst, t);
            }
        }
    }

    /// Notes that an instruction ran, when a record is kept.
    fn record(&mut self, inst: Inst, thread: usize, ran: bool) {
        let Some(record) = &mut self.record else { return };
        let stores = ran && self.infos[self.f.op(inst).index()].access == Access::Store;
        record.push(Executed {
            inst,
            thread: thread as u32,
            ran,
            results: if ran { self.results.clone() } else { Vec::new() },
            addresses: if ran { self.addresses.iter().map(|a| a.value).collect() } else { Vec::new() },
            stored: if stores { self.data.clone() } else { Vec::new() },
        });
    }

    fn info_has_early(&self, inst: Inst) -> bool {
        let sig = self.f.sig(inst);
        !sig.constraints.is_empty() && (0..self.f.num_defs(inst)).any(|k| sig.early_clobber(k))
    }

    /// Runs a repeatable instruction again; nothing of it is seen outside.
    pub(super) fn rematerialize(&mut self, inst: Inst, from: &[Loc], to: &[Option<PhysReg>], thread: usize) {
        let reads = Reads::At(from);
        let guard = self.gather(inst, thread, reads);
        let results = if guard.holds {
            self.compute(inst, thread, false, false);
            std::mem::take(&mut self.results)
        } else {
            self.old_values(inst, thread, reads)
        };
        for ((v, &w), r) in self.f.def_values(inst).zip(&results).zip(to) {
            if let Some(r) = *r {
                let w = if guard.tainted { w.tainted() } else { w };
                self.machine.rematerialize(v, r, thread, w);
            }
        }
        self.results = results;
    }
}
