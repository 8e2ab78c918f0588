//! Dominators, region by region.
//!
//! Cooper, Harvey and Kennedy 2001 directly on block numbers: these are a reverse post-order, so one round settles a
//! reducible region and no search precedes it (the fastest variant measured for blocks that are in order already).
//! Irreducible regions take more rounds. Dominance queries are comparisons of numbers from one walk of the tree.

use crate::entity::{EntityId, EntityVec};
use crate::function::{Block, Function};

/// The dominator trees of all regions of a function.
#[derive(Clone, Debug)]
pub struct DomTree {
    idom: EntityVec<Block, Block>,
    pre: EntityVec<Block, u32>,
    last: EntityVec<Block, u32>,
}

impl DomTree {
    /// Computes the trees; every block must be reachable from its region's entry.
    pub fn compute(func: &Function) -> Self {
        let n = func.num_blocks();
        let mut idom = EntityVec::filled(n, Block::NONE);
        for r in func.regions() {
            let entry = func.region(r).entry;
            idom[entry] = entry;
            let mut again = true;
            while again {
                again = false;
                for b in func.region_blocks(r).skip(1) {
                    let mut new = Block::NONE;
                    for p in func.preds(b) {
                        if !idom[p].is_none() {
                            new = if new.is_none() { p } else { meet(&idom, p, new) };
                        }
                    }
                    if idom[b] != new {
                        idom[b] = new;
                        again = true;
                    }
                }
                // A dominator has a smaller number: a second round can only matter where a predecessor came later.
            }
        }
        let mut tree = Self { idom, pre: EntityVec::filled(n, 0), last: EntityVec::filled(n, 0) };
        tree.number(func);
        tree
    }

    /// Preorder numbers without recursion: sizes bottom-up, then positions top-down, both by block number.
    fn number(&mut self, func: &Function) {
        let n = func.num_blocks();
        let mut size: EntityVec<Block, u32> = EntityVec::filled(n, 1);
        for b in func.blocks().rev() {
            let d = self.idom[b];
            if d != b && !d.is_none() {
                let s = size[b];
                size[d] += s;
            }
        }
        let mut next: EntityVec<Block, u32> = EntityVec::filled(n, 0);
        let mut root = 0;
        for b in func.blocks() {
            let d = self.idom[b];
            let at = if d == b || d.is_none() {
                let at = root;
                root += size[b];
                at
            } else {
                let at = next[d];
                next[d] += size[b];
                at
            };
            self.pre[b] = at;
            self.last[b] = at + size[b] - 1;
            next[b] = at + 1;
        }
    }

    /// Immediate dominator; `None` for a region's entry.
    pub fn idom(&self, b: Block) -> Option<Block> {
        self.idom[b].some().filter(|&d| d != b)
    }

    /// True when every path from the region's entry to `b` passes `a`; a block dominates itself.
    #[inline]
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        self.pre[a] <= self.pre[b] && self.pre[b] <= self.last[a]
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.idom.len()
    }

    /// True for a function without blocks.
    pub fn is_empty(&self) -> bool {
        self.idom.is_empty()
    }
}

fn meet(idom: &EntityVec<Block, Block>, mut a: Block, mut b: Block) -> Block {
    while a != b {
        while a.index() > b.index() {
            a = idom[a];
        }
        while b.index() > a.index() {
            b = idom[b];
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::FunctionBuilder;
    use crate::function::Region;
    use crate::loops::LoopForest;
    use crate::operand::{Lane, Operand};
    use crate::verify::check;
    use petgraph::algo::dominators::simple_fast;
    use petgraph::graph::{DiGraph, NodeIndex};
    use proptest::prelude::*;
    use proptest::test_runner::TestRunner;
    use std::cell::Cell;

    /// Any graph: for each block its region and its successors, taken modulo what the region has.
    fn function(blocks: &[(u8, Vec<u8>)], regions: u8) -> Function {
        let mut b = FunctionBuilder::new("k");
        for r in 1..regions {
            b.region(&format!("r{r}"), &[]);
        }
        let mut members = vec![Vec::new(); regions as usize];
        let homes: Vec<u8> = (0..regions).chain(blocks.iter().map(|x| x.0 % regions)).collect();
        for (k, &home) in homes.iter().enumerate() {
            members[home as usize].push(b.block_in(Region(home as u32), &format!("b{k}")));
        }
        let ops = ["EXIT", "jump", "br", "brx"].map(|m| b.op(m));
        let mut next = vec![0; regions as usize];
        for (k, &home) in homes.iter().enumerate() {
            let mine = &members[home as usize];
            let at = next[home as usize];
            next[home as usize] += 1;
            b.switch_to(mine[at]);
            // Nothing leads to an entry; the first successor is mostly the next block, so that most are reached.
            let inner = mine.len() - 1;
            let list: &[u8] = k.checked_sub(regions as usize).map_or(&[1, 2], |k| &blocks[k].1);
            let targets: Vec<(Block, &[Lane])> = match inner {
                0 => Vec::new(),
                _ => list
                    .iter()
                    .enumerate()
                    .map(|(j, &t)| match j == 0 && t % 4 != 0 && at < inner {
                        true => (mine[at + 1], &[][..]),
                        false => (mine[1 + t as usize % inner], &[][..]),
                    })
                    .collect(),
            };
            let n = targets.len().min(3);
            let uses = if n >= 2 { vec![Operand::undef(1, 1)] } else { vec![] };
            b.terminate(ops[n], &uses, &targets);
        }
        b.prune_unreachable();
        b.finish().expect("what is left is reached")
    }

    /// The same from the library, by its own search.
    fn idoms(f: &Function, r: Region) -> Vec<Option<Block>> {
        let mut g = DiGraph::<(), ()>::new();
        f.blocks().for_each(|_| {
            g.add_node(());
        });
        let node = |b: Block| NodeIndex::new(b.index());
        for e in f.edges() {
            g.add_edge(node(f.edge(e).from), node(f.edge(e).to), ());
        }
        let dom = simple_fast(&g, node(f.region(r).entry));
        f.region_blocks(r).map(|b| dom.immediate_dominator(node(b)).map(|d| Block::new(d.index()))).collect()
    }

    #[test]
    fn agrees_with_the_library_on_random_graphs() {
        let block = (any::<u8>(), prop::collection::vec(any::<u8>(), 0..5));
        let graph = (prop::collection::vec(block, 0..24), 1..4u8);
        let (irreducible, own_loops, nests, pruned) = (Cell::new(0), Cell::new(0), Cell::new(0), Cell::new(0));
        let count = |c: &Cell<u32>, n: usize| c.set(c.get() + n as u32);
        let config = ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() };
        let mut runner = TestRunner::new(config);
        let result = runner.run(&graph, |(blocks, regions)| {
            let f = function(&blocks, regions);
            prop_assert_eq!(check(&f), []);
            let dom = DomTree::compute(&f);
            prop_assert_eq!(dom.len(), f.num_blocks());
            for r in f.regions() {
                let want = idoms(&f, r);
                let found: Vec<_> = f.region_blocks(r).map(|b| dom.idom(b)).collect();
                prop_assert_eq!(&found, &want);
                // Dominance is the chain of immediate dominators; blocks of other regions dominate nothing here.
                for b in f.region_blocks(r) {
                    let mut chain = vec![b];
                    while let Some(d) = dom.idom(*chain.last().expect("it has b")) {
                        chain.push(d);
                    }
                    for a in f.blocks() {
                        prop_assert_eq!(dom.dominates(a, b), chain.contains(&a), "{} {}", a, b);
                    }
                }
            }
            let loops = LoopForest::compute(&f);
            count(&irreducible, loops.ids().filter(|&l| loops.is_irreducible(l)).count());
            count(&own_loops, f.edges().filter(|&e| f.edge(e).from == f.edge(e).to).count());
            count(&nests, f.blocks().filter(|&b| loops.depth(b) > 1).count());
            count(&pruned, blocks.len() + regions as usize - f.num_blocks());
            Ok(())
        });
        result.unwrap_or_else(|e| panic!("{e}"));
        let seen = [irreducible.get(), own_loops.get(), nests.get(), pruned.get()];
        assert!(seen.iter().all(|&n| n > 100), "irreducible, self loops, nests, pruned: {seen:?}");
    }
}
