//! Dense numbers for every location that an allocation can name, and the limits of the register files.
//!
//! Registers come first, one span per class, then local slots, then shared slots; so the state of the program is a
//! plain vector. A location that does not exist has no number, and everything that it would hold is unknown.

use fatpoint_ir::assigned::{AllocatedFunction, Edit, Loc, SlotSpace};
use fatpoint_ir::{PhysReg, RegClass};

/// Registers that an instruction can name in each file: R255, UR63, P7 and UP7 are the constants RZ, URZ, PT, UPT.
pub fn file_limit(class: RegClass) -> u16 {
    match class {
        RegClass::R => 255,
        RegClass::UR => 63,
        RegClass::P | RegClass::UP => 7,
        RegClass::B => 16,
    }
}

/// Largest frame of a thread in 4-byte slots: 512 KiB of local memory on every architecture.
pub const MAX_LOCAL_SLOTS: u32 = 512 * 1024 / 4;
/// Largest shared memory of a block in 4-byte slots: 228 KiB on the machine with most.
pub const MAX_SHARED_SLOTS: u32 = 228 * 1024 / 4;

/// Number of a place.
pub(crate) type Place = u32;
/// What a location that does not exist has for a number.
pub(crate) const NOWHERE: Place = u32::MAX;

const START: [u32; 6] = [0, 256, 320, 328, 336, 352];
/// Places that are registers.
pub(crate) const NUM_REGS: u32 = START[5];

/// The numbering for one allocation.
pub(crate) struct Places {
    /// Local slots named anywhere: highest + 1.
    pub(crate) local: u32,
    /// Shared slots named anywhere: highest + 1.
    pub(crate) shared: u32,
}

impl Places {
    /// Looks at every slot that the allocation names; slots beyond what a machine has are left out.
    pub(crate) fn of(alloc: &AllocatedFunction<'_>) -> Self {
        let mut p = Self { local: 0, shared: 0 };
        let mut see = |l: Loc| match l.as_slot() {
            Some((SlotSpace::Local, i)) if i < MAX_LOCAL_SLOTS => p.local = p.local.max(i + 1),
            Some((SlotSpace::Shared, i)) if i < MAX_SHARED_SLOTS => p.shared = p.shared.max(i + 1),
            _ => {}
        };
        alloc.param_locs.iter().copied().for_each(&mut see);
        for e in alloc.edits.iter().map(|(_, e)| e).chain(alloc.edge_edits.iter().map(|(_, e)| e)) {
            match e {
                Edit::Spill { to, .. } => see(*to),
                Edit::Reload { from, .. } => see(*from),
                Edit::SlotCopy { from, to } => [*from, *to].into_iter().for_each(&mut see),
                Edit::Copy { .. } | Edit::Swap { .. } | Edit::Remat { .. } => {}
            }
        }
        p
    }

    /// Number of places.
    pub(crate) fn len(&self) -> usize {
        (NUM_REGS + self.local + self.shared) as usize
    }

    /// The number of a location, [`NOWHERE`] when there is no such location.
    #[inline]
    pub(crate) fn number(&self, l: Loc) -> Place {
        if let Some(r) = l.as_reg() {
            return Self::register(r);
        }
        match l.as_slot() {
            Some((SlotSpace::Local, i)) if i < self.local => NUM_REGS + i,
            Some((SlotSpace::Shared, i)) if i < self.shared => NUM_REGS + self.local + i,
            _ => NOWHERE,
        }
    }

    /// The number of a register, [`NOWHERE`] when its file does not have it.
    #[inline]
    pub(crate) fn register(r: PhysReg) -> Place {
        if r.num < file_limit(r.class) {
            START[r.class as usize] + r.num as u32
        } else {
            NOWHERE
        }
    }

    /// The location with a number.
    pub(crate) fn loc(&self, p: Place) -> Loc {
        if p >= NUM_REGS + self.local {
            return Loc::slot(SlotSpace::Shared, p - NUM_REGS - self.local);
        }
        if p >= NUM_REGS {
            return Loc::slot(SlotSpace::Local, p - NUM_REGS);
        }
        let class =
            RegClass::ALL.into_iter().rev().find(|&c| START[c as usize] <= p).expect("the first span starts at 0");
        Loc::reg(PhysReg::new(class, (p - START[class as usize]) as u16))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_distinct_and_come_back() {
        let p = Places { local: 3, shared: 2 };
        let mut seen = vec![false; p.len()];
        for c in RegClass::ALL {
            for n in 0..file_limit(c) {
                let l = Loc::reg(PhysReg::new(c, n));
                assert!(!std::mem::replace(&mut seen[p.number(l) as usize], true));
                assert_eq!(p.loc(p.number(l)), l);
            }
            assert_eq!(Places::register(PhysReg::new(c, file_limit(c))), NOWHERE);
        }
        for l in [(SlotSpace::Local, 2), (SlotSpace::Shared, 0), (SlotSpace::Shared, 1)].map(|(s, i)| Loc::slot(s, i)) {
            assert!(!std::mem::replace(&mut seen[p.number(l) as usize], true));
            assert_eq!(p.loc(p.number(l)), l);
        }
        assert_eq!(p.number(Loc::slot(SlotSpace::Local, 3)), NOWHERE);
        assert_eq!(p.number(Loc::NONE), NOWHERE);
    }
}
