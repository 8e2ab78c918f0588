//! What an allocation costs, counted from its edits: the claims that the checker counts again for itself.

use fatpoint_allocator::{used_registers, RESERVED_PAIR};
use fatpoint_checker::{Claims, SpillsByPlace};
use fatpoint_ir::assigned::{AllocatedFunction, Edit, Loc, SlotSpace};
use fatpoint_ir::loops::LoopForest;
use fatpoint_ir::{Block, Effect, RegClass};
use fatpoint_targets::{Bytes, Regs};

/// Bytes of one spilled unit.
const UNIT: u32 = 4;

/// Counts of one allocation; all static (each place in the code once) but for the weighted one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Figures {
    /// Registers as the assembler counts them, reserved pair included.
    pub used: Regs,
    /// Registers up to the highest one named.
    pub named: Regs,
    /// Predicate registers up to the highest one named.
    pub predicates: u32,
    /// Bytes stored to memory of any place.
    pub spill_store_bytes: Bytes,
    /// Bytes loaded from memory of any place.
    pub spill_load_bytes: Bytes,
    /// Spills and reloads by where they go.
    pub by_place: SpillsByPlace,
    /// Units stored and loaded, each counted with the frequency of its block. Saturates.
    pub weighted_spill_cost: u64,
    /// Copies between registers of one class.
    pub copies: u32,
    /// Exchanges of two registers.
    pub swaps: u32,
    /// Instructions that run again.
    pub remats: u32,
    /// Bytes that repeated loads load again.
    pub reexecuted_load_bytes: Bytes,
    /// Slots in local memory, 4 bytes each.
    pub local_slots: u32,
    /// Slots in shared memory, 4 bytes each.
    pub shared_slots: u32,
}

impl Figures {
    /// Counts an allocation. Frequencies are those of `loops`.
    pub fn count(alloc: &AllocatedFunction<'_>, loops: &LoopForest) -> Self {
        let func = alloc.func;
        let used = used_registers(alloc);
        let mut f = Figures {
            used: Regs(used),
            named: Regs(used - RESERVED_PAIR),
            predicates: alloc.highest(RegClass::P).map_or(0, |n| u32::from(n) + 1),
            local_slots: alloc.local_slots,
            shared_slots: alloc.shared_slots,
            ..Figures::default()
        };
        // Edits are sorted by position, so that their blocks are found in one pass.
        let mut block = Block(0);
        for (point, edit) in &alloc.edits {
            while func.block_range(block).end <= point.pos {
                block = Block(block.0 + 1);
            }
            f.add(alloc, edit, loops.frequency(block));
        }
        for (edge, edit) in &alloc.edge_edits {
            let e = func.edge(*edge);
            f.add(alloc, edit, loops.frequency(e.from).min(loops.frequency(e.to)));
        }
        f
    }

    fn add(&mut self, alloc: &AllocatedFunction<'_>, edit: &Edit, frequency: u64) {
        match edit {
            Edit::Copy { from, to } if from.class == to.class => self.copies += 1,
            Edit::Copy { to, .. } if to.class.is_predicate() => self.by_place.to_r_loads += 1,
            Edit::Copy { .. } => self.by_place.to_r_stores += 1,
            Edit::Swap { .. } => self.swaps += 1,
            Edit::Spill { to, .. } => self.store(*to, frequency),
            Edit::Reload { from, .. } => self.load(*from, frequency),
            Edit::SlotCopy { from, to } => {
                self.load(*from, frequency);
                self.store(*to, frequency);
            }
            Edit::Remat { inst, to, .. } => {
                self.remats += 1;
                if alloc.func.sig(*inst).props.effect == Effect::Read {
                    let lanes = to.iter().flatten().count() as u32;
                    self.reexecuted_load_bytes = self.reexecuted_load_bytes + Bytes(lanes * UNIT);
                }
            }
        }
    }

    fn store(&mut self, to: Loc, frequency: u64) {
        self.spill_store_bytes = self.spill_store_bytes + Bytes(UNIT);
        self.weighted_spill_cost = self.weighted_spill_cost.saturating_add(frequency);
        match to.as_slot() {
            Some((SlotSpace::Shared, _)) => self.by_place.shared_stores += 1,
            _ => self.by_place.local_stores += 1,
        }
    }

    fn load(&mut self, from: Loc, frequency: u64) {
        self.spill_load_bytes = self.spill_load_bytes + Bytes(UNIT);
        self.weighted_spill_cost = self.weighted_spill_cost.saturating_add(frequency);
        match from.as_slot() {
            Some((SlotSpace::Shared, _)) => self.by_place.shared_loads += 1,
            _ => self.by_place.local_loads += 1,
        }
    }

    /// True when memory is touched that the input does not touch.
    pub fn spills(&self) -> bool {
        self.spill_store_bytes.0 + self.spill_load_bytes.0 > 0
    }

    /// The counts as claims for the checker.
    pub fn claims(&self) -> Claims {
        Claims {
            used: Some(self.used),
            spill_store_bytes: Some(self.spill_store_bytes),
            spill_load_bytes: Some(self.spill_load_bytes),
            by_place: Some(self.by_place),
            copies: Some(self.copies),
            swaps: Some(self.swaps),
            remats: Some(self.remats),
            reexecuted_load_bytes: Some(self.reexecuted_load_bytes),
            local_slots: Some(self.local_slots),
            shared_slots: Some(self.shared_slots),
        }
    }
}
