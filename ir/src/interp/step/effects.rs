//! What an instruction computes and does to memory, and what of it can be seen.

use super::super::machine::Machine;
use super::super::memory::MemoryClass;
use super::super::seed;
use super::super::trace::{Event, EventKind, TraceClass};
use super::{extend, Access, Address, Guard, Step};
use crate::entity::EntityId;
use crate::function::Inst;
use crate::op::Space;
use crate::semantics::{absorb, eval, mix, DefShape, Operation, Uninterpreted, Word};

impl<'f, M: Machine<'f>> Step<'f, M> {
    /// Computes the results of gathered inputs; with `real`, memory changes and is seen.
    pub(super) fn compute(&mut self, inst: Inst, thread: usize, real: bool, wild: bool) {
        let f = self.f;
        self.shapes.clear();
        for &d in f.defs(inst) {
            let class = f.lane(d, 0).value().map(|v| f.class(v));
            self.shapes.push(DefShape { lanes: d.len() as u32, predicate: class.is_some_and(|c| c.is_predicate()) });
        }
        let op = f.op(inst).index();
        let t = thread as u32;
        match self.infos[op].access {
            Access::None => {
                if self.addresses.is_empty() {
                    eval(&self.infos[op].operation, &self.inputs, &self.shapes, &mut self.results);
                } else {
                    let (hash, taint) = self.hashed(op);
                    self.fill(hash, taint);
                }
            }
            Access::Load => self.load(op, t),
            Access::Store if real => self.store(inst, op, t, wild),
            Access::Atomic => self.atomic(inst, op, t, real, wild),
            Access::AsyncCopy if real => self.async_copy(op, t, wild),
            Access::Store | Access::AsyncCopy => self.results.clear(),
            Access::Opaque => {
                let class = self.infos[op].class;
                let (mut hash, taint) = self.hashed(op);
                let (version, spoiled) = self.memory.version(class);
                hash.operand(&[version as u32, (version >> 32) as u32]);
                self.fill(hash, if taint != 0 || spoiled { u32::MAX } else { 0 });
                if real && self.infos[op].effect {
                    self.memory.note(class, hash.state(), taint != 0 || wild);
                }
            }
        }
        // A store or copy that defines something (a flag of success): uninterpreted.
        let lanes: u32 = self.shapes.iter().map(|d| d.lanes).sum();
        if self.results.len() < lanes as usize {
            let (hash, taint) = self.hashed(op);
            self.fill(hash, taint);
        }
    }

    /// The uninterpreted operation of all inputs and addresses.
    fn hashed(&self, op: usize) -> (Uninterpreted, u32) {
        let (mut hash, mut taint) = self.inputs.uninterpreted(&self.infos[op].operation);
        for a in &self.addresses {
            hash.operand(&[a.value as u32, (a.value >> 32) as u32]);
            if a.tainted {
                taint = u32::MAX;
            }
        }
        (hash, taint)
    }

    /// Every result lane a hash.
    fn fill(&mut self, hash: Uninterpreted, taint: u32) {
        self.results.clear();
        let lanes: u32 = self.shapes.iter().map(|d| d.lanes).sum();
        self.results.extend((0..lanes).map(|k| Word { bits: hash.word(k), taint }));
    }

    fn load(&mut self, op: usize, t: u32) {
        let info = &self.infos[op];
        let lanes: u32 = self.shapes.iter().map(|d| d.lanes).sum();
        let Some(a) = self.address(0, info.class.space) else {
            // No address: a load of a constant-bank operand (`LDC R, c[0][x]`) or something else that is a move.
            let (narrow, signed) = (info.narrow, info.signed);
            eval(&Operation::new("MOV"), &self.inputs, &self.shapes, &mut self.results);
            self.results.iter_mut().for_each(|w| *w = extend(*w, narrow, signed));
            return;
        };
        let bytes = if info.narrow > 0 { info.narrow } else { 4 };
        self.results.clear();
        let words = if info.matrix { 4 } else { lanes };
        for k in 0..words as u64 {
            let w = if info.class.space == Space::Const || info.immutable {
                Word::new(self.immutable(info.class.space, &a, k, bytes))
            } else {
                self.memory.load(info.class, t, a.value, k, bytes)
            };
            let w = extend(w, info.narrow, info.signed);
            self.results.push(if a.tainted { w.tainted() } else { w });
        }
        if info.matrix {
            let mut hash = Uninterpreted::from_hash(info.operation.name);
            let taint = self.results.iter().fold(0, |x, w| x | w.taint);
            let bits: Vec<u32> = self.results.iter().map(|w| w.bits).collect();
            hash.operand(&bits);
            self.fill(hash, if taint != 0 { u32::MAX } else { 0 });
        }
    }

    /// Up to four bytes of memory that nobody writes.
    fn immutable(&self, space: Space, a: &Address, k: u64, bytes: u32) -> u32 {
        let seed = self.options.seed;
        let word = |byte: u64| match space {
            Space::Const => seed::constant_word(seed, a.bank.unwrap_or(u32::MAX), byte & u32::MAX as u64),
            _ if self.options.alias_mod16 => seed::untouched_word(seed, space, (byte >> 2) % 16),
            _ => seed::untouched_word(seed, space, byte >> 2),
        };
        let at = a.value.wrapping_add(4 * k);
        let both = word(at) as u64 | (word(at.wrapping_add(4)) as u64) << 32;
        let mask = if bytes >= 4 { u32::MAX } else { (1 << (8 * bytes)) - 1 };
        (both >> (8 * (at & 3))) as u32 & mask
    }

    fn store(&mut self, inst: Inst, op: usize, t: u32, wild: bool) {
        self.results.clear();
        let info = &self.infos[op];
        let (class, narrow) = (info.class, info.narrow);
        let at_least = if narrow > 0 { 1 } else { info.bytes as usize / 4 };
        let mut data = std::mem::take(&mut self.data);
        self.inputs.data(at_least, &mut data);
        let a = self.address(0, class.space).unwrap_or_default();
        if narrow > 0 {
            data.truncate(1);
        }
        let bytes = if narrow > 0 { narrow } else { 4 };
        let unknown = a.tainted || wild;
        if a.tainted {
            self.memory.spoil(class);
        }
        for (k, &w) in data.iter().enumerate() {
            let w = if wild { w.tainted() } else { w };
            self.memory.store(class, t, a.value, k as u64, bytes, w);
        }
        let mut e = self.event(inst, t, EventKind::Store);
        e.address = a.value;
        e.bytes = if narrow > 0 { narrow as u8 } else { 4 * data.len().min(63) as u8 };
        let mask = if narrow > 0 { (1 << (8 * narrow)) - 1 } else { u32::MAX };
        for (k, w) in data.iter().enumerate() {
            // No store is wider than 8 words; were there one, the last word would stand for the rest.
            let at = k.min(7);
            e.data[at] = if k > 7 { absorb(e.data[at] as u64, w.bits as u64) as u32 } else { w.bits & mask };
            e.taint[at] |= w.taint & mask;
        }
        e.wild = unknown;
        self.effect_event(class, e);
        self.data = data;
    }

    fn atomic(&mut self, inst: Inst, op: usize, t: u32, real: bool, wild: bool) {
        let class = self.infos[op].class;
        let (hash, taint) = self.hashed(op);
        let a = self.address(0, class.space).unwrap_or_default();
        let data: u32 = self.shapes.iter().filter(|d| !d.predicate).map(|d| d.lanes).sum();
        let words = data.max(self.infos[op].bytes / 4).min(8);
        let old: Vec<Word> = (0..words as u64).map(|k| self.memory.load(class, t, a.value, k, 4)).collect();
        self.results.clear();
        let mut next = old.iter();
        let mut lane = 0;
        for d in &self.shapes {
            for _ in 0..d.lanes {
                let hashed = Word { bits: hash.word(lane), taint };
                let w = if d.predicate { hashed } else { next.next().copied().unwrap_or(hashed) };
                self.results.push(if a.tainted { w.tainted() } else { w });
                lane += 1;
            }
        }
        if !real {
            return;
        }
        if a.tainted {
            self.memory.spoil(class);
        }
        let mut after = hash;
        let mut t_after = taint;
        for w in &old {
            after.operand(&[w.bits]);
            t_after |= w.taint;
        }
        let t_after = if t_after != 0 || wild { u32::MAX } else { 0 };
        for k in 0..words {
            let w = Word { bits: after.word(64 + k), taint: t_after };
            self.memory.store(class, t, a.value, k as u64, 4, w);
        }
        let mut e = self.event(inst, t, EventKind::Effect);
        e.address = a.value;
        (e.data[0], e.data[1], e.bytes) = (hash.state() as u32, (hash.state() >> 32) as u32, 8);
        e.wild = a.tainted || wild || taint != 0;
        self.effect_event(class, e);
    }

    fn async_copy(&mut self, op: usize, t: u32, wild: bool) {
        self.results.clear();
        let shared = MemoryClass { space: Space::Shared, alias: 0 };
        let global = MemoryClass { space: Space::Global, alias: 0 };
        let (Some(to), Some(from)) = (self.address(0, Space::Shared), self.address(1, Space::Global)) else {
            let (hash, taint) = self.hashed(op);
            self.memory.note(shared, hash.state(), taint != 0 || wild);
            return;
        };
        if to.tainted {
            self.memory.spoil(shared);
        }
        let unknown = from.tainted || wild;
        for k in 0..self.infos[op].bytes as u64 / 4 {
            let w = self.memory.load(global, t, from.value, k, 4);
            self.memory.store(shared, t, to.value, k, 4, if unknown { w.tainted() } else { w });
        }
    }

    fn event(&self, inst: Inst, thread: u32, kind: EventKind) -> Event {
        Event {
            inst,
            thread: thread as u8,
            kind,
            bytes: 0,
            epoch: self.epoch,
            address: 0,
            data: [0; 8],
            taint: [0; 8],
            wild: false,
        }
    }

    fn effect_event(&mut self, class: MemoryClass, e: Event) {
        if class.space != Space::Generic {
            return self.trace.push(TraceClass::Memory(class.space, class.alias), e);
        }
        for space in [Space::Global, Space::Shared, Space::Local] {
            self.trace.push(TraceClass::Memory(space, class.alias), e);
        }
    }

    /// Notes what can be seen of an instruction besides the data that it stores.
    pub(super) fn note(&mut self, inst: Inst, thread: usize, guard: Guard) {
        let op = self.f.op(inst).index();
        if !self.infos[op].is_seen() {
            return;
        }
        let t = thread as u32;
        let mut e = self.event(inst, t, EventKind::Skipped);
        e.wild = guard.tainted;
        let stores = matches!(self.infos[op].access, Access::Store | Access::Atomic);
        if guard.holds {
            let (hash, taint) = self.hashed(op);
            let h = mix(absorb(hash.state(), 0));
            e.kind = EventKind::Inputs;
            (e.data[0], e.data[1], e.bytes) = (h as u32, (h >> 32) as u32, 8);
            e.wild |= taint != 0;
        }
        let info = &self.infos[op];
        let (class, effect, convergent, ordered, barrier) =
            (info.class, info.effect, info.convergent, info.ordered, info.barrier);
        if effect && !(stores && guard.holds) {
            let kind = if guard.holds { EventKind::Effect } else { EventKind::Skipped };
            self.effect_event(class, Event { kind, ..e });
        }
        if convergent {
            self.trace.push(TraceClass::Convergent(inst), e);
        }
        if ordered {
            self.trace.push(TraceClass::Ordered, e);
        }
        if barrier {
            self.trace.push(TraceClass::Barrier, e);
            self.epoch += guard.holds as u32;
        }
    }
}
