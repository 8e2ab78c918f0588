//! Figures of an allocation, counted again from its locations and edits, and the comparison with what was claimed.
//!
//! All counts are static: each place in the code once, whatever its frequency.

use crate::constraints::can_hold;
use fatpoint_ir::assigned::{AllocatedFunction, Edit, SlotSpace};
use fatpoint_ir::{Effect, PerClass, RegClass, STACK_POINTER};
use fatpoint_targets::{Bytes, Regs};
use std::fmt;

/// Bytes of one slot, and of one register unit.
const UNIT: u32 = 4;

/// What an accepted allocation really uses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CheckReport {
    /// Registers as the assembler counts them: highest general register + 1 + 2 that the machine keeps. The stack
    /// pointer R1 counts as named, so at least 4, unless it is freed.
    pub used: Regs,
    /// Highest register that any operand, parameter or edit names, by class; runs count to their last lane.
    pub highest: PerClass<Option<u16>>,
    /// Bytes that spills store to memory of any place (4 for each spill and slot copy).
    pub spill_store_bytes: Bytes,
    /// Bytes that reloads load from memory of any place (4 for each reload and slot copy).
    pub spill_load_bytes: Bytes,
    /// Stores and loads among these by place.
    pub by_place: SpillsByPlace,
    /// Copies within a class.
    pub copies: u32,
    /// Swaps.
    pub swaps: u32,
    /// Instructions that run again.
    pub remats: u32,
    /// Bytes that repeated loads load again (4 for each definition lane kept).
    pub reexecuted_load_bytes: Bytes,
    /// Frame of spill slots in local memory: highest slot named + 1, in 4-byte units.
    pub local_slots: u32,
    /// Frame of spill slots in shared memory, in 4-byte units a thread.
    pub shared_slots: u32,
}

/// Spills and reloads by where they go, as numbers of units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SpillsByPlace {
    /// Units stored to local memory.
    pub local_stores: u32,
    /// Units loaded from local memory.
    pub local_loads: u32,
    /// Units stored to shared memory.
    pub shared_stores: u32,
    /// Units loaded from shared memory.
    pub shared_loads: u32,
    /// Predicates put into general registers of their width (P to R, UP to UR).
    pub to_r_stores: u32,
    /// Predicates taken back from there.
    pub to_r_loads: u32,
}

impl CheckReport {
    /// The frame of spill slots in local memory.
    pub fn local_bytes(&self) -> Bytes {
        Bytes(self.local_slots * UNIT)
    }
    /// The frame of spill slots in shared memory, a thread.
    pub fn shared_bytes(&self) -> Bytes {
        Bytes(self.shared_slots * UNIT)
    }
}

/// Counts the edits; the highest registers come from the constraints, the frame from the places.
pub(crate) fn report(
    alloc: &AllocatedFunction<'_>,
    highest: PerClass<Option<u16>>,
    frame: (u32, u32),
    free_r1: bool,
) -> CheckReport {
    let named = if free_r1 { highest[RegClass::R] } else { highest[RegClass::R].max(Some(STACK_POINTER.num)) };
    let mut r = CheckReport {
        used: Regs(named.map_or(0, |n| n as u32 + 1) + 2),
        highest,
        local_slots: frame.0,
        shared_slots: frame.1,
        ..CheckReport::default()
    };
    for e in alloc.edits.iter().map(|(_, e)| e).chain(alloc.edge_edits.iter().map(|(_, e)| e)) {
        match e {
            Edit::Copy { from, to } if from.class == to.class => r.copies += 1,
            Edit::Copy { from, to } if can_hold(to.class, from.class) => r.by_place.to_r_stores += 1,
            Edit::Copy { .. } => r.by_place.to_r_loads += 1,
            Edit::Swap { .. } => r.swaps += 1,
            Edit::Spill { to, .. } => r.store(*to),
            Edit::Reload { from, .. } => r.load(*from),
            Edit::SlotCopy { from, to } => {
                r.load(*from);
                r.store(*to);
            }
            Edit::Remat { inst, to, .. } => {
                r.remats += 1;
                if alloc.func.sig(*inst).props.effect == Effect::Read {
                    r.reexecuted_load_bytes =
                        r.reexecuted_load_bytes + Bytes(to.iter().flatten().count() as u32 * UNIT);
                }
            }
        }
    }
    r
}

impl CheckReport {
    fn store(&mut self, to: fatpoint_ir::assigned::Loc) {
        self.spill_store_bytes = self.spill_store_bytes + Bytes(UNIT);
        match to.as_slot() {
            Some((SlotSpace::Shared, _)) => self.by_place.shared_stores += 1,
            _ => self.by_place.local_stores += 1,
        }
    }
    fn load(&mut self, from: fatpoint_ir::assigned::Loc) {
        self.spill_load_bytes = self.spill_load_bytes + Bytes(UNIT);
        match from.as_slot() {
            Some((SlotSpace::Shared, _)) => self.by_place.shared_loads += 1,
            _ => self.by_place.local_loads += 1,
        }
    }
}

/// Figures that somebody states about an allocation; `None` states nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Claims {
    /// See [`CheckReport::used`].
    pub used: Option<Regs>,
    /// See [`CheckReport::spill_store_bytes`].
    pub spill_store_bytes: Option<Bytes>,
    /// See [`CheckReport::spill_load_bytes`].
    pub spill_load_bytes: Option<Bytes>,
    /// See [`CheckReport::by_place`].
    pub by_place: Option<SpillsByPlace>,
    /// See [`CheckReport::copies`].
    pub copies: Option<u32>,
    /// See [`CheckReport::swaps`].
    pub swaps: Option<u32>,
    /// See [`CheckReport::remats`].
    pub remats: Option<u32>,
    /// See [`CheckReport::reexecuted_load_bytes`].
    pub reexecuted_load_bytes: Option<Bytes>,
    /// See [`CheckReport::local_slots`].
    pub local_slots: Option<u32>,
    /// See [`CheckReport::shared_slots`].
    pub shared_slots: Option<u32>,
}

/// A claim that does not hold.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{figure} is {actual}, claimed was {claimed}")]
pub struct ClaimError {
    /// Name of the figure, as in [`CheckReport`].
    pub figure: &'static str,
    /// What was claimed.
    pub claimed: String,
    /// What the checker counted.
    pub actual: String,
}

/// Compares claims with what was counted; all that differ, in the order of the fields.
///
/// # Errors
/// One [`ClaimError`] for each claim that does not hold.
pub fn check_claims(report: &CheckReport, claims: &Claims) -> Result<(), Vec<ClaimError>> {
    let mut errors = Vec::new();
    let mut see = |figure, claimed: Option<String>, actual: String| {
        if let Some(claimed) = claimed.filter(|c| *c != actual) {
            errors.push(ClaimError { figure, claimed, actual });
        }
    };
    let (c, r) = (claims, report);
    fn text(x: impl fmt::Display) -> String {
        x.to_string()
    }
    see("used", c.used.map(text), text(r.used));
    see("spill_store_bytes", c.spill_store_bytes.map(text), text(r.spill_store_bytes));
    see("spill_load_bytes", c.spill_load_bytes.map(text), text(r.spill_load_bytes));
    see("by_place", c.by_place.map(|x| format!("{x:?}")), format!("{:?}", r.by_place));
    see("copies", c.copies.map(text), text(r.copies));
    see("swaps", c.swaps.map(text), text(r.swaps));
    see("remats", c.remats.map(text), text(r.remats));
    see("reexecuted_load_bytes", c.reexecuted_load_bytes.map(text), text(r.reexecuted_load_bytes));
    see("local_slots", c.local_slots.map(text), text(r.local_slots));
    see("shared_slots", c.shared_slots.map(text), text(r.shared_slots));
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}
