//! Memory of a run: words by space and alias class, with their undefined bits.
//!
//! Untouched words are hashes of their place. Accesses may be unaligned and narrower than a word. Local memory is a
//! thread's own. **Generic** addresses see global, shared and local memory at once: a store writes all three, a load takes
//! what those that were written there agree on (global memory's when none was), else a hash of all; so a load and a
//! store that may alias never commute without a trace of it, while accesses to different spaces do.

use super::seed::untouched_word;
use crate::op::Space;
use crate::semantics::{absorb, mix, Word};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Which memory: space, alias class, and the thread where the space is a thread's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryClass {
    /// The space.
    pub space: Space,
    /// Alias class within it.
    pub alias: u8,
}

/// A hasher for keys that are numbers; the same in every run.
#[derive(Default)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        mix(self.0)
    }
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = absorb(self.0, b as u64);
        }
    }
    fn write_u32(&mut self, x: u32) {
        self.0 = absorb(self.0, x as u64);
    }
    fn write_u64(&mut self, x: u64) {
        self.0 = absorb(self.0, x);
    }
}

/// Memory of one run.
#[derive(Clone, Debug)]
pub struct Memory {
    words: HashMap<(u32, u64), Word, BuildHasherDefault<NumberHasher>>,
    /// Hash of everything written to a class, and whether undefined data went into it: what an access reads whose
    /// address is not modelled.
    versions: [[(u64, bool); 2]; SPACES],
    /// Classes that a store through an undefined address may have changed anywhere.
    spoiled: [[bool; 2]; SPACES],
    seed: u64,
    alias_mod16: bool,
}

const SPACES: usize = Space::Other as usize + 1;
const PARTS: [Space; 3] = [Space::Global, Space::Shared, Space::Local];

impl Memory {
    /// Untouched memory. With `alias_mod16`, word addresses are taken modulo 16, so that most accesses collide.
    pub fn new(seed: u64, alias_mod16: bool) -> Self {
        Self {
            words: HashMap::default(),
            versions: [[(0, false); 2]; SPACES],
            spoiled: [[false; 2]; SPACES],
            seed,
            alias_mod16,
        }
    }

    fn key(space: Space, alias: u8, thread: u32) -> u32 {
        let thread = if space == Space::Local { thread } else { 0 };
        (space as u32) << 16 | (alias as u32) << 8 | thread
    }

    fn place(&self, byte: u64, k: u64) -> u64 {
        let word = (byte >> 2).wrapping_add(k) & (u64::MAX >> 2);
        if self.alias_mod16 {
            word % 16
        } else {
            word
        }
    }

    fn word(&self, space: Space, alias: u8, thread: u32, word: u64) -> (Word, bool) {
        match self.words.get(&(Self::key(space, alias, thread), word)) {
            Some(&w) => (w, true),
            None => (Word::new(untouched_word(self.seed, space, word)), false),
        }
    }

    /// Up to four bytes at `address + 4 * k`, from one space; and whether something wrote to any of its words.
    fn piece(&self, c: MemoryClass, thread: u32, address: u64, k: u64, bytes: u32) -> (Word, bool) {
        let offset = (address & 3) as u32;
        let (low, wrote) = self.word(c.space, c.alias, thread, self.place(address, k));
        let mut data = (low.bits as u64, low.taint as u64);
        let mut written = wrote;
        if offset + bytes > 4 {
            let (high, wrote) = self.word(c.space, c.alias, thread, self.place(address, k + 1));
            data = (data.0 | (high.bits as u64) << 32, data.1 | (high.taint as u64) << 32);
            written |= wrote;
        }
        let mask = if bytes >= 4 { u32::MAX } else { (1 << (8 * bytes)) - 1 };
        let cut = |x: u64| (x >> (8 * offset)) as u32 & mask;
        (Word { bits: cut(data.0), taint: cut(data.1) }, written)
    }

    /// Up to four bytes at `address + 4 * k`, zero-extended.
    pub fn load(&self, c: MemoryClass, thread: u32, address: u64, k: u64, bytes: u32) -> Word {
        if self.spoiled[c.space as usize][(c.alias & 1) as usize] {
            return self.piece(c, thread, address, k, bytes).0.tainted();
        }
        if c.space != Space::Generic {
            return self.piece(c, thread, address, k, bytes).0;
        }
        let parts = PARTS.map(|space| self.piece(MemoryClass { space, ..c }, thread, address, k, bytes));
        let mut seen = parts.iter().filter(|p| p.1).map(|p| p.0);
        let Some(first) = seen.next() else { return parts[0].0 };
        if seen.clone().all(|w| w == first) {
            return first;
        }
        let h = parts.iter().filter(|p| p.1).fold(0, |h, p| absorb(h, p.0.bits as u64));
        let taint = if parts.iter().any(|p| p.1 && p.0.taint != 0) { u32::MAX } else { 0 };
        let mask = if bytes >= 4 { u32::MAX } else { (1 << (8 * bytes)) - 1 };
        Word { bits: mix(h) as u32 & mask, taint: taint & mask }
    }

    /// Stores up to four bytes at `address + 4 * k`.
    pub fn store(&mut self, c: MemoryClass, thread: u32, address: u64, k: u64, bytes: u32, data: Word) {
        if c.space == Space::Generic {
            for space in PARTS {
                self.store(MemoryClass { space, ..c }, thread, address, k, bytes, data);
            }
            return;
        }
        let offset = (address & 3) as u32;
        let mask = (if bytes >= 4 { u32::MAX as u64 } else { (1 << (8 * bytes)) - 1 }) << (8 * offset);
        let (bits, taint) = ((data.bits as u64) << (8 * offset), (data.taint as u64) << (8 * offset));
        for half in 0..2u64 {
            let m = (mask >> (32 * half)) as u32;
            if m == 0 {
                continue;
            }
            let at = self.place(address, k + half);
            let old = self.word(c.space, c.alias, thread, at).0;
            let new = |old: u32, x: u64| old & !m | (x >> (32 * half)) as u32 & m;
            let word = Word { bits: new(old.bits, bits), taint: new(old.taint, taint) };
            self.words.insert((Self::key(c.space, c.alias, thread), at), word);
        }
        self.note(c, absorb(address.wrapping_add(4 * k), data.bits as u64), data.taint != 0);
    }

    /// Notes that a class changed in a way that `what` stands for.
    pub fn note(&mut self, c: MemoryClass, what: u64, tainted: bool) {
        let spaces: &[Space] = if c.space == Space::Generic { &PARTS } else { &[c.space] };
        for &s in spaces {
            let v = &mut self.versions[s as usize][(c.alias & 1) as usize];
            *v = (absorb(v.0, what), v.1 | tainted);
        }
    }

    /// Hash of everything that a class was changed by, and whether undefined data is in it.
    pub fn version(&self, c: MemoryClass) -> (u64, bool) {
        let one = |s: Space| {
            let v = self.versions[s as usize][(c.alias & 1) as usize];
            (v.0, v.1 | self.spoiled[s as usize][(c.alias & 1) as usize])
        };
        if c.space != Space::Generic {
            return one(c.space);
        }
        PARTS.iter().map(|&s| one(s)).fold((0, false), |a, v| (absorb(a.0, v.0), a.1 | v.1))
    }

    /// A store through an undefined address: from now on every load of the class is undefined.
    pub fn spoil(&mut self, c: MemoryClass) {
        let spaces: &[Space] = if c.space == Space::Generic {
            &[Space::Global, Space::Shared, Space::Local, Space::Generic]
        } else {
            &[c.space]
        };
        for &s in spaces {
            self.spoiled[s as usize][(c.alias & 1) as usize] = true;
        }
        if PARTS.contains(&c.space) {
            self.spoiled[Space::Generic as usize][(c.alias & 1) as usize] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const G: MemoryClass = MemoryClass { space: Space::Global, alias: 0 };
    const X: MemoryClass = MemoryClass { space: Space::Generic, alias: 0 };
    const S: MemoryClass = MemoryClass { space: Space::Shared, alias: 0 };
    const L: MemoryClass = MemoryClass { space: Space::Local, alias: 0 };

    #[test]
    fn bytes_and_unaligned_words() {
        let mut m = Memory::new(3, false);
        m.store(G, 0, 0x100, 0, 4, Word::new(0x4433_2211));
        m.store(G, 0, 0x103, 0, 2, Word::new(0xbbaa));
        assert_eq!(m.load(G, 0, 0x100, 0, 4).bits, 0xaa33_2211);
        assert_eq!(m.load(G, 1, 0x102, 0, 2).bits, 0xaa33);
        assert_eq!(m.load(G, 0, 0x104, 0, 1).bits, 0xbb);
        let rest = untouched_word(3, Space::Global, 0x41) & 0xffff_ff00;
        assert_eq!(m.load(G, 0, 0x104, 0, 4).bits, rest | 0xbb);
        m.store(G, 0, 0x200, 0, 1, Word::UNDEF);
        assert_eq!(m.load(G, 0, 0x200, 0, 4).taint, 0xff);
    }

    #[test]
    fn local_memory_is_a_threads_own() {
        let mut m = Memory::new(3, false);
        m.store(L, 0, 8, 0, 4, Word::new(1));
        m.store(L, 1, 8, 0, 4, Word::new(2));
        assert_eq!((m.load(L, 0, 8, 0, 4).bits, m.load(L, 1, 8, 0, 4).bits), (1, 2));
    }

    #[test]
    fn generic_addresses_see_all_spaces() {
        let mut m = Memory::new(3, false);
        assert_eq!(m.load(X, 0, 16, 0, 4), m.load(G, 0, 16, 0, 4));
        m.store(S, 0, 16, 0, 4, Word::new(5));
        assert_eq!(m.load(X, 0, 16, 0, 4).bits, 5);
        m.store(G, 0, 16, 0, 4, Word::new(6));
        let mixed = m.load(X, 0, 16, 0, 4).bits;
        assert!(mixed != 5 && mixed != 6);
        m.store(X, 0, 17, 0, 1, Word::new(9));
        assert_eq!((m.load(X, 0, 17, 0, 1).bits, m.load(L, 0, 17, 0, 1).bits), (9, 9));
    }

    #[test]
    fn forced_aliasing_and_spoiling() {
        let mut m = Memory::new(3, true);
        m.store(G, 0, 64 * 5 + 4, 0, 4, Word::new(7));
        assert_eq!(m.load(G, 0, 64 * 9 + 4, 0, 4).bits, 7);
        m.spoil(G);
        assert_eq!((m.load(G, 0, 0, 0, 4).taint, m.load(X, 0, 0, 0, 4).taint), (u32::MAX, u32::MAX));
        assert_eq!(m.load(S, 0, 0, 0, 4).taint, 0);
    }
}
