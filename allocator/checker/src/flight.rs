//! Operands in flight: registers that the machine still reads or writes after the instruction that names them.
//!
//! Forward dataflow, meet = union. A register is in flight from the instruction that starts it; a commit closes the
//! group of everything started since the last one; a wait for `n` leaves the `n` latest groups in flight, and what no
//! commit has closed. Where paths meet, a register keeps the youngest group of any.
//!
//! Rules: while a register is in flight, no edit reads or writes it, no instruction writes it, but one that starts
//! flight itself on a result tied to it (a chain of accumulators), and no region returns.

use crate::error::{CheckErrorKind as Kind, Errors, Site};
use crate::places::{Place, Places, NOWHERE, NUM_REGS};
use crate::regions::{for_each_write, Regions};
use fatpoint_ir::assigned::{AllocatedFunction, Edit, Side};
use fatpoint_ir::{Block, EntityId, Flight, Inst, OpKind};

/// 0: not in flight; 1: started, not committed; `2 + k`: in a group with `k` committed after it.
type Status = u16;
/// No wait tells older groups apart.
const OLDEST: Status = 2 + u8::MAX as Status + 1;

/// Checks the rules above; nothing to do when no opcode starts flight.
pub(crate) fn check<'a>(alloc: &'a AllocatedFunction<'a>, places: &Places, regions: &Regions, errors: &mut Errors<'a>) {
    let f = alloc.func;
    if !f.ops().iter().any(|(_, s)| s.props.flight == Flight::Starts) {
        return;
    }
    let mut entry: Vec<Option<Vec<Status>>> = vec![None; f.num_blocks()];
    let mut dirty = vec![false; f.num_blocks()];
    for r in f.regions() {
        let b = f.region(r).entry.index();
        entry[b] = Some(vec![0; NUM_REGS as usize]);
        dirty[b] = true;
    }
    let mut walk = Walk { alloc, places, regions, now: Vec::new() };
    let mut next = 0;
    while next < f.num_blocks() {
        let b = Block::new(next);
        next += 1;
        if !std::mem::replace(&mut dirty[b.index()], false) {
            continue;
        }
        walk.now.clone_from(entry[b.index()].as_ref().expect("a block to do has a state"));
        walk.block(b, None);
        for to in f.succs(b) {
            if join(&mut entry[to.index()], &walk.now) {
                dirty[to.index()] = true;
                next = next.min(to.index());
            }
        }
    }
    for b in f.blocks() {
        if let Some(state) = entry[b.index()].take() {
            walk.now = state;
            walk.block(b, Some(errors));
        }
    }
}

/// Union of two states; true when the first one changed.
fn join(into: &mut Option<Vec<Status>>, new: &[Status]) -> bool {
    let Some(old) = into else {
        *into = Some(new.to_vec());
        return true;
    };
    let mut changed = false;
    for (o, &n) in old.iter_mut().zip(new) {
        if n != 0 && (*o == 0 || n < *o) {
            *o = n;
            changed = true;
        }
    }
    changed
}

struct Walk<'c, 'a> {
    alloc: &'a AllocatedFunction<'a>,
    places: &'c Places,
    regions: &'c Regions,
    now: Vec<Status>,
}

impl<'a> Walk<'_, 'a> {
    fn block(&mut self, b: Block, mut errors: Option<&mut Errors<'a>>) {
        let f = self.alloc.func;
        let range = f.block_range(b);
        let edits = &self.alloc.edits;
        let mut next = edits.partition_point(|(p, _)| p.pos < range.start);
        for pos in range {
            for side in [Side::Before, Side::After] {
                if side == Side::After {
                    let i = self.alloc.inst_at(pos);
                    if let Some(errors) = errors.as_deref_mut() {
                        self.check_inst(i, errors);
                    }
                    self.advance(i);
                }
                while let Some((_, e)) = edits.get(next).filter(|(p, _)| (p.pos, p.side) == (pos, side)) {
                    if let Some(errors) = errors.as_deref_mut() {
                        self.check_edit(e, Site::Edit(next as u32), errors);
                    }
                    next += 1;
                }
            }
        }
        let Some(errors) = errors else { return };
        for e in f.succ_edges(b) {
            let first = self.alloc.edge_edits.partition_point(|(x, _)| *x < e);
            for (k, (_, edit)) in self.alloc.edge_edits[first..].iter().take_while(|(x, _)| *x == e).enumerate() {
                self.check_edit(edit, Site::EdgeEdit((first + k) as u32), errors);
            }
        }
    }

    fn busy(&self, p: Place) -> bool {
        p < NUM_REGS && self.now[p as usize] != 0
    }

    fn check_edit(&self, e: &Edit, site: Site, errors: &mut Errors<'a>) {
        let mut touched = Vec::new();
        match e {
            Edit::Copy { from, .. } | Edit::Spill { from, .. } => touched.push(Places::register(*from)),
            Edit::Remat { from, .. } => touched.extend(from.iter().map(|&l| self.places.number(l))),
            Edit::Swap { .. } | Edit::Reload { .. } | Edit::SlotCopy { .. } => {}
        }
        for_each_write(self.alloc, self.places, e, |p| touched.push(p));
        if let Some(&p) = touched.iter().find(|&&p| self.busy(p)) {
            errors.push(Kind::InFlight, site, || format!("it touches {}, which is in flight", self.places.loc(p)));
        }
    }

    fn check_inst(&self, i: Inst, errors: &mut Errors<'a>) {
        let (f, sig) = (self.alloc.func, self.alloc.func.sig(i));
        let site = Site::Inst(i);
        let mut refuse = |p: Place| {
            if self.busy(p) {
                errors.push(Kind::InFlight, site, || format!("it writes {}, which is in flight", self.places.loc(p)));
            }
        };
        let num_defs = f.num_defs(i);
        let mut locs = self.alloc.inst_locs(i).iter();
        for (k, o) in f.defs(i).iter().enumerate() {
            let chained =
                sig.props.flight == Flight::Starts && (num_defs..f.operands(i).len()).any(|u| sig.tied(u) == Some(k));
            for &l in locs.by_ref().take(o.len()).filter(|_| !chained) {
                refuse(self.places.number(l));
            }
        }
        sig.clobbers.iter().for_each(|&r| refuse(Places::register(r)));
        match sig.props.kind {
            OpKind::Call => {
                f.callee(i).iter().flat_map(|&r| self.regions.writes(r)).for_each(|&p| refuse(p));
            }
            OpKind::Return => {
                if let Some(p) = (0..NUM_REGS).find(|&p| self.busy(p)) {
                    let l = self.places.loc(p);
                    errors.push(Kind::InFlight, site, || format!("{l} is still in flight when the region returns"));
                }
            }
            _ => {}
        }
    }

    fn advance(&mut self, i: Inst) {
        let (f, sig) = (self.alloc.func, self.alloc.func.sig(i));
        match sig.props.flight {
            Flight::No => {}
            Flight::Starts => {
                let mut locs = self.alloc.inst_locs(i).iter();
                for (k, o) in f.operands(i).iter().enumerate() {
                    let held = sig.in_flight(k);
                    for &l in locs.by_ref().take(o.len()) {
                        let p = self.places.number(l);
                        if held && p != NOWHERE && p < NUM_REGS {
                            self.now[p as usize] = 1;
                        }
                    }
                }
            }
            Flight::Commits => {
                self.now.iter_mut().filter(|s| **s != 0).for_each(|s| *s = (*s + 1).min(OLDEST));
            }
            Flight::Waits(n) => {
                self.now.iter_mut().filter(|s| **s >= 2 && **s - 2 >= n as Status).for_each(|s| *s = 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_youngest_group_of_any_path_counts() {
        let mut s = None;
        assert!(join(&mut s, &[0, 1, 3]));
        assert!(join(&mut s, &[2, 4, 2]));
        assert!(!join(&mut s, &[5, 0, 2]));
        assert_eq!(s.unwrap(), [2, 1, 2]);
    }
}
