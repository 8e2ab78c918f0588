//! Removal of joins that join nothing.
//!
//! A join of one value with itself vanishes, again and again until none is left. A join of a value with nothing
//! (`undef`) vanishes only where the value dominates it, or the value would live from the entry on.

use super::cfg::Cfg;
use super::mid::*;
use super::ssa::Lower;

impl Lower<'_> {
    /// What a source stands for after joins of one value were removed.
    pub(super) fn resolve(&self, mut s: Src) -> Src {
        while let Src::Val(v) = s {
            match self.forward[v.0 as usize] {
                Some(next) => s = next,
                None => break,
            }
        }
        s
    }

    /// Removes joins of one value, over all blocks from `base` on with their flow graph.
    pub(super) fn remove_trivial_joins(&mut self, cfgs: &[(usize, Cfg)]) {
        let mut incoming: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.blocks.len()];
        for (b, block) in self.blocks.iter().enumerate() {
            for (k, (t, _)) in block.succs.iter().enumerate() {
                incoming[*t].push((b, k));
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &(base, ref cfg) in cfgs {
                for &rb in &cfg.rpo {
                    let b = base + rb as usize;
                    if incoming[b].is_empty() {
                        continue;
                    }
                    for k in 0..self.blocks[b].params.len() {
                        let p = self.blocks[b].params[k];
                        if self.forward[p.0 as usize].is_none() {
                            if let Some(s) = self.only_argument(&incoming[b], k, p, cfg, base, b) {
                                self.forward[p.0 as usize] = Some(s);
                                changed = true;
                            }
                        }
                    }
                }
            }
        }
    }

    fn only_argument(
        &self,
        incoming: &[(usize, usize)],
        k: usize,
        p: Val,
        cfg: &Cfg,
        base: usize,
        b: usize,
    ) -> Option<Src> {
        let (mut one, mut undef) = (None, false);
        for &(from, edge) in incoming {
            let s = self.resolve(self.blocks[from].succs[edge].1[k]);
            if s == Src::Val(p) {
                continue;
            }
            if s == Src::Undef {
                undef = true;
                continue;
            }
            if one.is_some_and(|o| o != s) {
                return None;
            }
            one = Some(s);
        }
        let Some(one) = one else { return Some(Src::Undef) };
        if let (true, Src::Val(v)) = (undef, one) {
            let def = self.vals[v.0 as usize];
            let d = def.block as usize;
            let here = d == b;
            let before = if here {
                matches!(def.from, From::Param(_))
            } else {
                cfg.dominates((d - base) as u32, (b - base) as u32)
            };
            if !before {
                return None;
            }
        }
        Some(one)
    }
}
