//! Fragments in flight around a loop.
//!
//! A warp-group product reads the registers of its A fragment until it is waited for. A fragment that is still read when
//! its loop goes round has no name in the next iteration, so nothing there could respect its registers. Real compilers
//! serialize such products; here a wait for all of them goes before the jump back, with a note. Accumulators, which the
//! next iteration knows by name, need none.

use super::cfg::Cfg;
use super::mid::*;
use super::ssa::Lower;

impl Lower<'_> {
    /// Adds the waits; gives the line of the first product that made one necessary.
    pub(super) fn wait_for_fragments(&mut self, cfgs: &[(usize, Cfg)]) -> Option<u32> {
        let fragment = |i: &MInst| i.uses.iter().any(|o| o.in_flight && o.tied.is_none());
        if !self.insts.iter().any(fragment) {
            return None;
        }
        let mut first = None;
        for &(base, ref cfg) in cfgs {
            // The line of a product whose fragment may be in flight at the end of each block.
            let mut open: Vec<Option<u32>> = vec![None; cfg.blocks.len()];
            let mut at_entry = open.clone();
            let mut changed = true;
            while changed {
                changed = false;
                for &b in &cfg.rpo {
                    let mut state = at_entry[b as usize];
                    for &k in &self.blocks[base + b as usize].insts {
                        let inst = &self.insts[k as usize];
                        if fragment(inst) {
                            state = Some(inst.line);
                        } else if self.ops[inst.op as usize].0 == "WGWAIT.0" {
                            state = None;
                        }
                    }
                    open[b as usize] = state;
                    for t in cfg.blocks[b as usize].end.successors() {
                        let back = cfg.dominates(t, b);
                        if state.is_some() && !back && at_entry[t as usize].is_none() {
                            at_entry[t as usize] = state;
                            changed = true;
                        }
                    }
                }
            }
            for &b in &cfg.rpo {
                let back = cfg.blocks[b as usize].end.successors().iter().any(|&t| cfg.dominates(t, b));
                if let (true, Some(line)) = (back, open[b as usize]) {
                    (self.block, self.line) = (base + b as usize, line);
                    self.emit("WGWAIT.0", &[], Vec::new());
                    first = first.or(Some(line));
                }
            }
        }
        first
    }
}
