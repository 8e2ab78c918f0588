//! Parallel copies made sequential, with no register reserved for it.
//!
//! Input: moves between places (registers of both kinds, spill slots) that are meant to happen at once, each place being
//! written at most once. Output: edits in sequence. Moves whose target nobody still reads go first; what is left are
//! simple cycles, since every place has one writer. A cycle is broken through a free register of the right class, else,
//! among registers of one class, by swaps, else through a scratch slot. Slot-to-slot moves pass through a free register,
//! or through one that is saved to a scratch slot for that time.
//!
//! Boissinot et al. 2009 give the algorithm for registers; slots and predicate conversions as places are ours.

use fatpoint_ir::assigned::{Edit, Loc, SlotSpace};
use fatpoint_ir::{PhysReg, RegClass};
use fatpoint_pressure::RegSet;

/// One move of a parallel copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// Where the value is.
    pub from: Loc,
    /// Where it shall be.
    pub to: Loc,
}

/// What a sequentialization may use besides the places it moves.
pub struct Scratch {
    /// General registers that hold nothing of use, before and after.
    pub free_r: RegSet,
    /// Predicate registers that hold nothing of use, before and after.
    pub free_p: RegSet,
    /// Any general registers that exist: one may be saved around a move.
    pub any_r: RegSet,
    /// First slot that no value owns; two from there may be used.
    pub slot: u32,
    /// Set to the number of scratch slots used.
    pub used_slots: u32,
}

impl Scratch {
    fn take_slot(&mut self, k: u32) -> Loc {
        self.used_slots = self.used_slots.max(k + 1);
        Loc::slot(SlotSpace::Local, self.slot + k)
    }
}

/// Appends the edits that carry out `moves` to `out`.
pub fn sequentialize(moves: &[Move], scratch: &mut Scratch, out: &mut Vec<Edit>) {
    let mut pending: Vec<Move> = moves.iter().copied().filter(|m| m.from != m.to).collect();
    if pending.is_empty() {
        return;
    }
    if let [m] = pending[..] {
        single(m.from, m.to, scratch, out);
        return;
    }
    while !pending.is_empty() {
        // Moves onto places that no pending move reads.
        let mut progress = true;
        while progress {
            progress = false;
            let mut k = 0;
            while k < pending.len() {
                let m = pending[k];
                if pending.iter().any(|o| o.from == m.to) {
                    k += 1;
                } else {
                    pending.swap_remove(k);
                    single(m.from, m.to, scratch, out);
                    progress = true;
                }
            }
        }
        if pending.is_empty() {
            return;
        }
        break_cycle(&mut pending, scratch, out);
    }
}

/// Breaks one of the cycles that are left.
fn break_cycle(pending: &mut Vec<Move>, scratch: &mut Scratch, out: &mut Vec<Edit>) {
    let start = *pending.iter().min_by_key(|m| m.to).expect("a cycle has a move");
    let mut cycle = vec![start];
    loop {
        let want = cycle[cycle.len() - 1].from;
        if want == start.to {
            break;
        }
        let m = *pending.iter().find(|m| m.to == want).expect("a cycle is closed");
        cycle.push(m);
    }
    let class = |l: Loc| l.as_reg().map(|r| r.class);
    let first = class(start.to);
    let uniform = first.is_some() && cycle.iter().all(|m| class(m.to) == first);
    let free = match first {
        Some(RegClass::P) => scratch.free_p.first().map(|n| PhysReg::p(n as u16)),
        Some(RegClass::R) => scratch.free_r.first().map(|n| PhysReg::r(n as u16)),
        _ => None,
    };
    if uniform && free.is_none() {
        // start.to <- start.from <- .. : swapping along the cycle puts each value in place.
        for m in &cycle[..cycle.len() - 1] {
            let (a, b) = (m.to.as_reg().expect("uniform"), m.from.as_reg().expect("uniform"));
            out.push(Edit::Swap { a, b });
        }
        pending.retain(|m| !cycle.contains(m));
        return;
    }
    // Save the content of a place, let the cycle unwind as a chain, and read it from the saved place at the end.
    let save = if uniform {
        start
    } else {
        *cycle
            .iter()
            .find(|m| class(m.to) != Some(RegClass::P))
            .expect("a mixed cycle has a place that is no predicate")
    };
    let saved = match (free.filter(|_| uniform), class(save.to)) {
        (Some(r), _) => Loc::reg(r),
        (None, Some(RegClass::R)) => match scratch.free_r.first() {
            Some(r) => Loc::reg(PhysReg::r(r as u16)),
            None => scratch.take_slot(0),
        },
        _ => match scratch.free_r.iter().nth(1) {
            // Keep one register for slot-to-slot moves meanwhile.
            Some(r) => Loc::reg(PhysReg::r(r as u16)),
            None => scratch.take_slot(0),
        },
    };
    if let Some(r) = saved.as_reg() {
        if r.class == RegClass::R {
            scratch.free_r.remove(r.num as u32);
        }
    }
    single(save.to, saved, scratch, out);
    for m in pending.iter_mut() {
        if m.from == save.to {
            m.from = saved;
        }
    }
}

/// One move as edits.
fn single(from: Loc, to: Loc, scratch: &mut Scratch, out: &mut Vec<Edit>) {
    match (from.as_reg(), to.as_reg()) {
        (Some(a), Some(b)) => out.push(Edit::Copy { from: a, to: b }),
        (Some(a), None) if a.class == RegClass::R => out.push(Edit::Spill { from: a, to }),
        (None, Some(b)) if b.class == RegClass::R => out.push(Edit::Reload { from, to: b }),
        _ => {
            // Through a general register: slot to slot, or between a predicate and a slot.
            let place = |t: PhysReg, out: &mut Vec<Edit>| {
                match from.as_reg() {
                    Some(p) => out.push(Edit::Copy { from: p, to: t }),
                    None => out.push(Edit::Reload { from, to: t }),
                }
                match to.as_reg() {
                    Some(p) => out.push(Edit::Copy { from: t, to: p }),
                    None => out.push(Edit::Spill { from: t, to }),
                }
            };
            if let Some(r) = scratch.free_r.first() {
                place(PhysReg::r(r as u16), out);
                return;
            }
            let t = scratch.any_r.first().expect("a file has a general register");
            let t = PhysReg::r(t as u16);
            let slot = scratch.take_slot(1);
            out.push(Edit::Spill { from: t, to: slot });
            place(t, out);
            out.push(Edit::Reload { from: slot, to: t });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn run(moves: &[Move], free: &[u32], free_p: &[u32]) -> Vec<Edit> {
        let mut s = Scratch {
            free_r: free.iter().copied().collect(),
            free_p: free_p.iter().copied().collect(),
            any_r: RegSet::below(8),
            slot: 100,
            used_slots: 0,
        };
        let mut out = Vec::new();
        sequentialize(moves, &mut s, &mut out);
        // Abstract execution: every place starts with its own name.
        let places: Vec<Loc> = (0..8)
            .map(|n| Loc::reg(PhysReg::r(n)))
            .chain((0..7).map(|n| Loc::reg(PhysReg::p(n))))
            .chain((0..8).map(|n| Loc::slot(SlotSpace::Local, n)))
            .collect();
        let mut now: BTreeMap<Loc, Loc> = places.iter().map(|&p| (p, p)).collect();
        for e in &out {
            let (from, to) = match e {
                Edit::Copy { from, to } => (Loc::reg(*from), Loc::reg(*to)),
                Edit::Spill { from, to } => {
                    assert_eq!(from.class, RegClass::R);
                    (Loc::reg(*from), *to)
                }
                Edit::Reload { from, to } => {
                    assert_eq!(to.class, RegClass::R);
                    (*from, Loc::reg(*to))
                }
                Edit::Swap { a, b } => {
                    assert_eq!(a.class, b.class);
                    let (x, y) = (now[&Loc::reg(*a)], now[&Loc::reg(*b)]);
                    now.insert(Loc::reg(*a), y);
                    now.insert(Loc::reg(*b), x);
                    continue;
                }
                _ => panic!("unexpected {e:?}"),
            };
            let x = now[&from];
            now.insert(to, x);
        }
        let free: Vec<Loc> = free
            .iter()
            .map(|&n| Loc::reg(PhysReg::r(n as u16)))
            .chain(free_p.iter().map(|&n| Loc::reg(PhysReg::p(n as u16))))
            .collect();
        for &p in &places {
            let want = moves.iter().find(|m| m.to == p).map_or(p, |m| m.from);
            assert!(free.contains(&p) || now[&p] == want, "{p} holds {} not {want}: {out:?}", now[&p]);
        }
        out
    }

    fn r(n: u16) -> Loc {
        Loc::reg(PhysReg::r(n))
    }
    fn p(n: u16) -> Loc {
        Loc::reg(PhysReg::p(n))
    }
    fn s(n: u32) -> Loc {
        Loc::slot(SlotSpace::Local, n)
    }
    fn mv(from: Loc, to: Loc) -> Move {
        Move { from, to }
    }

    #[test]
    fn chains_need_no_scratch() {
        let out = run(&[mv(r(0), r(2)), mv(r(2), r(3)), mv(r(0), r(4))], &[], &[]);
        assert_eq!(out.len(), 3);
    }

    #[test]
    fn cycles_use_a_free_register_or_swaps() {
        let cycle = [mv(r(0), r(2)), mv(r(2), r(3)), mv(r(3), r(0))];
        assert_eq!(run(&cycle, &[7], &[]).len(), 4);
        let swaps = run(&cycle, &[], &[]);
        assert_eq!(swaps.len(), 2);
        assert!(swaps.iter().all(|e| matches!(e, Edit::Swap { .. })));
    }

    #[test]
    fn slots_and_conversions_without_any_free_register() {
        run(&[mv(s(0), s(1)), mv(s(1), s(0))], &[], &[]);
        run(&[mv(s(0), s(1)), mv(s(1), s(0))], &[5], &[]);
        run(&[mv(r(0), s(1)), mv(s(1), r(0))], &[], &[]);
        run(&[mv(r(2), p(1)), mv(p(1), r(2))], &[], &[]);
        run(&[mv(r(2), p(1)), mv(p(1), r(2)), mv(p(3), p(4)), mv(p(4), p(3))], &[], &[]);
        run(&[mv(s(0), p(1)), mv(p(1), s(0)), mv(s(2), r(2))], &[], &[]);
        run(&[mv(p(0), p(1)), mv(p(1), p(0))], &[6], &[5]);
    }

    #[test]
    fn random_permutations_and_fans() {
        let mut x = 99u64;
        let mut rand = |n: usize| {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (x >> 33) as usize % n
        };
        for round in 0..3000 {
            let free: Vec<u32> = if round % 3 == 0 { vec![7] } else { vec![] };
            let mut places: Vec<Loc> = (0..7).map(r).chain((0..7).map(p)).chain((0..6).map(s)).collect();
            let sources = places.clone();
            let mut moves = Vec::new();
            for _ in 0..rand(12) {
                let to = places.swap_remove(rand(places.len()));
                moves.push(mv(sources[rand(sources.len())], to));
            }
            run(&moves, &free, &[]);
        }
    }
}
