//! Sources of one instruction as words: what is gathered before anything is evaluated, and what modifiers do to it.

use super::integer as int;
use super::word::{Uninterpreted, Word};
use super::Operation;
use crate::operand::OperandFlags;
use smallvec::SmallVec;

/// What a source operand is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceKind {
    /// A run of 32-bit registers.
    Register,
    /// A predicate.
    Predicate,
    /// A 32-bit immediate; its second word is zero.
    Immediate,
    /// A 64-bit immediate.
    Wide,
    /// A constant-bank reference; its second word is what follows it there.
    Constant,
    /// A special register, or the address of a symbol; the second word is its high half.
    Named,
}

/// One source operand: a slice of the words of [`Inputs`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source {
    /// What it is.
    pub kind: SourceKind,
    /// Its modifiers.
    pub flags: OperandFlags,
    start: u32,
    pub(super) words: u32,
}

/// The sources of one instruction, without guard and addresses; made to be filled again and again.
#[derive(Clone, Default, Debug)]
pub struct Inputs {
    pub(super) sources: Vec<Source>,
    words: Vec<Word>,
}

impl Inputs {
    /// Forgets all sources.
    pub fn clear(&mut self) {
        self.sources.clear();
        self.words.clear();
    }
    /// Appends a source.
    pub fn push(&mut self, kind: SourceKind, flags: OperandFlags, words: impl IntoIterator<Item = Word>) {
        let start = self.words.len() as u32;
        self.words.extend(words);
        self.sources.push(Source { kind, flags, start, words: self.words.len() as u32 - start });
    }
    /// Number of sources.
    pub fn len(&self) -> usize {
        self.sources.len()
    }
    /// True when there is no source.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }
    pub(super) fn raw(&self, i: usize) -> &[Word] {
        let s = self.sources[i];
        &self.words[s.start as usize..(s.start + s.words) as usize]
    }
    /// The words that an uninterpreted operation sees of source `i`, after modifiers.
    fn opaque_words(&self, i: usize, op: &Operation, out: &mut SmallVec<[Word; 8]>) {
        let s = self.sources[i];
        let n = match s.kind {
            SourceKind::Register | SourceKind::Predicate | SourceKind::Wide => s.words as usize,
            SourceKind::Immediate | SourceKind::Constant if op.wide => s.words as usize,
            _ => 1,
        };
        out.clear();
        out.extend_from_slice(&self.raw(i)[..n]);
        if s.kind == SourceKind::Predicate {
            out.iter_mut().for_each(|w| *w = modify_predicate(*w, s.flags));
        } else if op.float {
            if let Some(w) = out.last_mut() {
                *w = modify_float(*w, s.flags);
            }
        } else if n == 2 {
            let x = modify_long(out[0].bits as u64 | (out[1].bits as u64) << 32, s.flags);
            let t = if s.flags == OperandFlags::NONE { 0 } else { spread(out[0].taint | out[1].taint) };
            out[0] = Word { bits: x as u32, taint: out[0].taint | t };
            out[1] = Word { bits: (x >> 32) as u32, taint: out[1].taint | t };
        } else {
            out.iter_mut().for_each(|w| *w = modify_integer(*w, s.flags));
        }
    }
    /// Everything that an uninterpreted operation of this name makes of the inputs, and their taint.
    pub fn uninterpreted(&self, op: &Operation) -> (Uninterpreted, u32) {
        let mut hash = Uninterpreted::from_hash(op.name);
        let mut taint = 0;
        let mut words = SmallVec::new();
        for i in 0..self.len() {
            self.opaque_words(i, op, &mut words);
            taint |= words.iter().fold(0, |t, w| t | w.taint);
            let bits: SmallVec<[u32; 8]> = words.iter().map(|w| w.bits).collect();
            hash.operand(&bits);
        }
        (hash, spread(taint))
    }
    /// The words of all sources as they are stored to memory: modifiers applied, immediates and constants one word,
    /// except that a lone one fills `at_least` words.
    pub fn data(&self, at_least: usize, out: &mut Vec<Word>) {
        out.clear();
        for i in 0..self.len() {
            let s = self.sources[i];
            let n = match s.kind {
                SourceKind::Register | SourceKind::Predicate | SourceKind::Wide => s.words as usize,
                _ if self.len() == 1 => (s.words as usize).min(at_least.max(1)),
                _ => 1,
            };
            for &w in &self.raw(i)[..n] {
                out.push(match s.kind {
                    SourceKind::Predicate => modify_predicate(w, s.flags),
                    _ => modify_integer(w, s.flags),
                });
            }
        }
        if out.len() < at_least {
            out.resize(at_least, Word::new(0));
        }
    }
}

/// Shape of a definition operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DefShape {
    /// Lanes.
    pub lanes: u32,
    /// Of a predicate class.
    pub predicate: bool,
}

pub(super) fn spread(taint: u32) -> u32 {
    if taint == 0 {
        0
    } else {
        u32::MAX
    }
}

pub(super) fn modify_integer(w: Word, flags: OperandFlags) -> Word {
    let mut w = w;
    if flags.has(OperandFlags::ABS) {
        w = Word { bits: (w.bits as i32).unsigned_abs(), taint: spread(w.taint) };
    }
    if flags.has(OperandFlags::NEG) {
        w = Word { bits: w.bits.wrapping_neg(), taint: spread(w.taint) };
    }
    if flags.has(OperandFlags::NOT) {
        w.bits = !w.bits;
    }
    w
}

pub(super) fn modify_long(x: u64, flags: OperandFlags) -> u64 {
    let x = if flags.has(OperandFlags::ABS) { int::abs(x, 64) } else { x };
    let x = if flags.has(OperandFlags::NEG) { x.wrapping_neg() } else { x };
    if flags.has(OperandFlags::NOT) {
        !x
    } else {
        x
    }
}

pub(super) fn modify_float(w: Word, flags: OperandFlags) -> Word {
    let mut w = w;
    if flags.has(OperandFlags::ABS) {
        w = Word { bits: w.bits & !(1 << 31), taint: w.taint & !(1 << 31) };
    }
    if flags.has(OperandFlags::NEG) {
        w.bits ^= 1 << 31;
    }
    if flags.has(OperandFlags::NOT) {
        w.bits = !w.bits;
    }
    w
}

pub(super) fn modify_predicate(w: Word, flags: OperandFlags) -> Word {
    Word { bits: (w.bits ^ flags.has(OperandFlags::NOT) as u32) & 1, taint: w.taint & 1 }
}
