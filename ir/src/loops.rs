//! The loop forest of a canonical function, and block frequencies.
//!
//! Loops are contiguous ranges of block numbers, outer loops before the loops inside them (see [`crate::order`]). An
//! irreducible region is one pseudo-loop with several headers. Frequencies are saturating integers: the product over the
//! loops around a block of the header's `.trip`, or 10 where the text gives none.

use crate::entity::{EntityId, EntityVec};
use crate::function::{Block, Function};
pub use crate::order::LoopId;
use crate::order::{linear_order, Graph, OrderLoop};

/// Trips of a loop that says nothing about them.
pub const DEFAULT_TRIPS: u64 = 10;

/// The loops of a function.
#[derive(Clone, Debug)]
pub struct LoopForest {
    loops: Vec<OrderLoop>,
    headers: Vec<Vec<Block>>,
    innermost: EntityVec<Block, LoopId>,
    frequency: EntityVec<Block, u64>,
}

impl LoopForest {
    /// Finds all loops.
    pub fn compute(func: &Function) -> Self {
        let n = func.num_blocks();
        let mut start = vec![0u32; n + 1];
        let mut succ = Vec::with_capacity(func.num_edges());
        for b in func.blocks() {
            succ.extend(func.succs(b).map(|s| s.0));
            start[b.index() + 1] = succ.len() as u32;
        }
        let graph = Graph { start: &start, succ: &succ };
        let mut loops: Vec<OrderLoop> = Vec::new();
        for r in func.regions() {
            let entry = func.region(r).entry;
            let o = linear_order(&graph, entry.0);
            let base = loops.len() as u32;
            loops.extend(o.loops.into_iter().map(|mut l| {
                // Positions within the region are block numbers less its first one, once the blocks are renumbered: the
                // order found again may differ from the numbering, so spans are taken from the members.
                let members = &o.order[l.first as usize..l.end as usize];
                let lo = members.iter().min().copied().unwrap_or(0);
                debug_assert_eq!(members.iter().max().copied().unwrap_or(0) - lo + 1, members.len() as u32);
                l.end = lo + members.len() as u32;
                l.first = lo;
                if !l.parent.is_none() {
                    l.parent = LoopId(l.parent.0 + base);
                }
                l
            }));
        }
        let mut innermost = EntityVec::filled(n, LoopId::NONE);
        for (k, l) in loops.iter().enumerate() {
            for b in l.first..l.end {
                innermost[Block(b)] = LoopId(k as u32);
            }
        }
        let headers = loops.iter().map(|l| l.headers.iter().map(|&h| Block(h)).collect()).collect();
        let mut forest = Self { loops, headers, innermost, frequency: EntityVec::filled(n, 1) };
        forest.count(func);
        forest
    }

    fn count(&mut self, func: &Function) {
        let mut of: Vec<u64> = Vec::with_capacity(self.loops.len());
        for (k, l) in self.loops.iter().enumerate() {
            let trips =
                self.headers[k].iter().filter_map(|&h| func.block(h).trip).max().map_or(DEFAULT_TRIPS, u64::from);
            let outer = l.parent.some().map_or(1, |p| of[p.index()]);
            of.push(outer.saturating_mul(trips.max(1)));
        }
        for b in func.blocks() {
            if let Some(l) = self.innermost(b) {
                self.frequency[b] = of[l.index()];
            }
        }
    }

    /// Number of loops.
    pub fn len(&self) -> usize {
        self.loops.len()
    }

    /// True when there is no loop.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// All loops, outer before inner.
    pub fn ids(&self) -> impl Iterator<Item = LoopId> + use<> {
        (0..self.loops.len() as u32).map(LoopId)
    }

    /// The innermost loop around a block.
    #[inline]
    pub fn innermost(&self, b: Block) -> Option<LoopId> {
        self.innermost[b].some()
    }

    /// The loop around a loop.
    pub fn parent(&self, l: LoopId) -> Option<LoopId> {
        self.loops[l.index()].parent.some()
    }

    /// First and last block of a loop.
    #[inline]
    pub fn span(&self, l: LoopId) -> (Block, Block) {
        let d = &self.loops[l.index()];
        (Block(d.first), Block(d.end - 1))
    }

    /// True when the block is in the loop.
    #[inline]
    pub fn contains(&self, l: LoopId, b: Block) -> bool {
        let d = &self.loops[l.index()];
        d.first <= b.0 && b.0 < d.end
    }

    /// Blocks that the loop is entered by from outside: one, or several for an irreducible region.
    pub fn headers(&self, l: LoopId) -> &[Block] {
        &self.headers[l.index()]
    }

    /// True for a region entered at several blocks.
    pub fn is_irreducible(&self, l: LoopId) -> bool {
        self.headers[l.index()].len() > 1
    }

    /// Number of loops around a block.
    pub fn depth(&self, b: Block) -> u32 {
        self.innermost(b).map_or(0, |l| self.loops[l.index()].depth)
    }

    /// The outermost loop that contains `b` and not `other`; costs the depth of `b`.
    #[inline]
    pub fn outermost_loop_excluding(&self, b: Block, other: Block) -> Option<LoopId> {
        let mut found = None;
        let mut at = self.innermost[b];
        while let Some(l) = at.some() {
            if self.contains(l, other) {
                break;
            }
            found = Some(l);
            at = self.loops[l.index()].parent;
        }
        found
    }

    /// Number of loops that contain `from` and not `to`: those that an edge between them leaves.
    pub fn loops_left(&self, from: Block, to: Block) -> u32 {
        let mut n = 0;
        let mut at = self.innermost[from];
        while let Some(l) = at.some() {
            if self.contains(l, to) {
                break;
            }
            n += 1;
            at = self.loops[l.index()].parent;
        }
        n
    }

    /// How often a block runs for each run of its region.
    #[inline]
    pub fn frequency(&self, b: Block) -> u64 {
        self.frequency[b]
    }
}
