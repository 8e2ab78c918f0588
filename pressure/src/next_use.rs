//! Next-use distances over the whole function (Braun and Hack 2009, section 4.1).
//!
//! The distance of a value at a point is the number of instructions to its nearest use on any path; leaving a loop adds
//! [`LOOP_EXIT`] for each loop left, so that what the loop uses counts as near. An edge argument inherits the distance of
//! its parameter. Two backward passes in linear order settle reducible loops; in irreducible regions a distance may be
//! too large, which costs quality, never correctness.

use fatpoint_ir::loops::LoopForest;
use fatpoint_ir::{Block, EntityVec, Function, Value};

/// Added for each loop that an edge leaves.
pub const LOOP_EXIT: u32 = 100_000;
/// No further use.
pub const NEVER: u32 = u32::MAX;

/// Distances at the entry of each block.
#[derive(Clone, Debug)]
pub struct NextUse {
    /// Live-in values with their distances, by value.
    entry: EntityVec<Block, Vec<(Value, u32)>>,
    /// Distance from the block's entry to a parameter's first use.
    param: EntityVec<Value, u32>,
}

/// A dense map of distances with cheap clearing.
#[derive(Clone, Debug)]
pub struct DistanceMap {
    dist: EntityVec<Value, u32>,
    touched: Vec<Value>,
}

impl DistanceMap {
    /// All values at [`NEVER`].
    pub fn new(func: &Function) -> Self {
        Self { dist: EntityVec::filled(func.num_values(), NEVER), touched: Vec::new() }
    }
    /// The distance of a value.
    #[inline]
    pub fn get(&self, v: Value) -> u32 {
        self.dist[v]
    }
    /// Sets a distance.
    #[inline]
    pub fn set(&mut self, v: Value, d: u32) {
        if self.dist[v] == NEVER {
            self.touched.push(v);
        }
        self.dist[v] = d;
    }
    /// Lowers a distance.
    #[inline]
    pub fn lower(&mut self, v: Value, d: u32) {
        if d < self.dist[v] {
            self.set(v, d);
        }
    }
    /// Back to [`NEVER`] everywhere.
    pub fn clear(&mut self) {
        for v in self.touched.drain(..) {
            self.dist[v] = NEVER;
        }
    }
}

impl NextUse {
    /// Computes all distances.
    pub fn compute(func: &Function, loops: &LoopForest) -> Self {
        let mut next = Self {
            entry: EntityVec::filled(func.num_blocks(), Vec::new()),
            param: EntityVec::filled(func.num_values(), NEVER),
        };
        let mut map = DistanceMap::new(func);
        let rounds = if loops.is_empty() { 1 } else { 2 };
        for _ in 0..rounds {
            for b in func.blocks().rev() {
                next.at_exit(func, loops, b, &mut map);
                let range = func.block_range(b);
                let len = range.end - range.start;
                for &v in &map.touched {
                    map.dist[v] = map.dist[v].saturating_add(len).min(NEVER - 1);
                }
                for i in func.block_insts(b).rev() {
                    func.def_values(i).for_each(|v| map.dist[v] = NEVER);
                    for v in func.use_values(i) {
                        map.set(v, i.0 - range.start);
                    }
                }
                for p in func.params(b) {
                    next.param[p] = map.get(p);
                    map.dist[p] = NEVER;
                }
                let list = &mut next.entry[b];
                list.clear();
                list.extend(map.touched.iter().map(|&v| (v, map.dist[v])).filter(|x| x.1 != NEVER));
                list.sort_unstable();
                list.dedup();
                map.clear();
            }
        }
        next
    }

    /// Fills `map` with the distances at the end of `b`, after its terminator.
    pub fn at_exit(&self, func: &Function, loops: &LoopForest, b: Block, map: &mut DistanceMap) {
        map.clear();
        for e in func.succ_edges(b) {
            let to = func.edge(e).to;
            let penalty = LOOP_EXIT.saturating_mul(loops.loops_left(b, to));
            for &(v, d) in &self.entry[to] {
                map.lower(v, d.saturating_add(penalty).min(NEVER - 1));
            }
            for (p, a) in func.params(to).zip(func.edge_args(e)) {
                if let (Some(v), d) = (a.value(), self.param[p]) {
                    if d != NEVER {
                        map.lower(v, d.saturating_add(penalty).min(NEVER - 1));
                    }
                }
            }
        }
    }

    /// Live-in values of a block with their distances, sorted by value.
    pub fn at_entry(&self, b: Block) -> &[(Value, u32)] {
        &self.entry[b]
    }

    /// Distance of a live-in value at the entry of a block.
    pub fn entry_distance(&self, b: Block, v: Value) -> u32 {
        self.entry[b].binary_search_by_key(&v, |x| x.0).map_or(NEVER, |k| self.entry[b][k].1)
    }

    /// Distance from the entry of its block to a parameter's first use.
    pub fn param_distance(&self, p: Value) -> u32 {
        self.param[p]
    }
}
