//! Liveness of SSA values as ranges of blocks in linear order, with last-use marks.
//!
//! For each value the blocks that it is live into are a few ranges of block numbers: from every use the blocks up to the
//! definition are walked backward once, and a loop that the definition lies outside of is taken as one range, whatever
//! happens inside (Boissinot et al. 2011 use the same property of loop forests; here the forest also covers irreducible
//! regions, which are one pseudo-loop, see `fatpoint_ir::order`). The walk is over what is live, never over a bitset per
//! block.
//!
//! Conventions: an edge argument is used at the end of its source block; a block parameter is defined at the entry of
//! its block, so it is never live *into* it; values in flight are used at the wait that ends their flight.
//! A use lane is a *kill* when its value is not live after the instruction.

use crate::flight::FlightUses;
use fatpoint_ir::dom::DomTree;
use fatpoint_ir::loops::LoopForest;
use fatpoint_ir::{Block, EntityId, EntityVec, Function, Inst, Value, ValueDef};

/// Blocks `first` to `last`, both included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct BlockRange {
    /// First block.
    pub first: Block,
    /// Last block.
    pub last: Block,
}

/// Liveness of one function.
#[derive(Clone, Debug)]
pub struct Liveness {
    range_start: Vec<u32>,
    ranges: Vec<BlockRange>,
    /// Where each instruction's operand lanes start in the numbering of lanes (as in `AllocatedFunction`).
    lane_start: Vec<u32>,
    kills: Vec<u64>,
    /// Position after which a value is dead for good: the largest instruction number at which it is still needed,
    /// counting an edge argument as needed at its block's terminator.
    last_need: EntityVec<Value, u32>,
    used: Vec<u64>,
    flight: FlightUses,
}

impl Liveness {
    /// Computes liveness; linear in what is live into blocks, loops counted once.
    pub fn compute(func: &Function, dom: &DomTree, loops: &LoopForest) -> Self {
        let flight = FlightUses::compute(func, dom);
        let uses = UseBlocks::gather(func, &flight);
        let mut range_start = Vec::with_capacity(func.num_values() + 1);
        let mut ranges = Vec::new();
        let mut walk =
            Walk { func, loops, stamp: vec![u32::MAX; func.num_blocks()], work: Vec::new(), found: Vec::new() };
        for v in func.values() {
            range_start.push(ranges.len() as u32);
            let def = uses.def_block[v];
            walk.value(v, def, uses.of(v), &mut ranges);
        }
        range_start.push(ranges.len() as u32);
        let mut live = Self {
            range_start,
            ranges,
            lane_start: Vec::new(),
            kills: Vec::new(),
            last_need: EntityVec::filled(func.num_values(), 0),
            used: vec![0; func.num_values().div_ceil(64)],
            flight,
        };
        live.mark_kills(func);
        live
    }

    /// The block ranges that a value is live into, rising and apart.
    #[inline]
    pub fn ranges(&self, v: Value) -> &[BlockRange] {
        &self.ranges[self.range_start[v.index()] as usize..self.range_start[v.index() + 1] as usize]
    }

    /// True when the value is live into the block.
    #[inline]
    pub fn live_in(&self, b: Block, v: Value) -> bool {
        let r = self.ranges(v);
        match r {
            [] => false,
            [one] => one.first <= b && b <= one.last,
            _ => {
                let at = r.partition_point(|x| x.last < b);
                at < r.len() && r[at].first <= b
            }
        }
    }

    /// True when the value is live into a successor of the block (edge arguments do not count).
    pub fn live_out(&self, func: &Function, b: Block, v: Value) -> bool {
        !self.ranges(v).is_empty() && func.succs(b).any(|s| self.live_in(s, v))
    }

    /// True when anything uses the value.
    #[inline]
    pub fn is_used(&self, v: Value) -> bool {
        self.used[v.index() / 64] >> (v.index() % 64) & 1 != 0
    }

    /// True when use lane `lane` of the instruction (counting all operand lanes, definitions first) ends its value.
    #[inline]
    pub fn kills(&self, i: Inst, lane: usize) -> bool {
        let k = self.lane_start[i.index()] as usize + lane;
        self.kills[k / 64] >> (k % 64) & 1 != 0
    }

    /// Largest instruction number at which the value is needed (its definition when it is never used).
    #[inline]
    pub fn last_need(&self, v: Value) -> u32 {
        self.last_need[v]
    }

    /// Values whose flight ends at a waiting instruction; [`Liveness`] counts them as uses there.
    pub fn flight(&self) -> &FlightUses {
        &self.flight
    }

    /// True when a value whose flight ends at waiting instruction `i` of block `b` is not needed after it.
    pub fn ends_in_flight(&self, func: &Function, b: Block, i: Inst, v: Value) -> bool {
        let last = func.terminator(b);
        let used_later = (i.0..=last.0)
            .map(Inst)
            .any(|k| func.use_values(k).any(|x| x == v) || (k > i && self.flight.at(k).any(|x| x == v)));
        let passed_on = func.succ_edges(b).any(|e| func.edge_args(e).iter().any(|l| l.value() == Some(v)));
        !used_later && !passed_on && !self.live_out(func, b, v)
    }

    /// Number of ranges over all values.
    pub fn num_ranges(&self) -> usize {
        self.ranges.len()
    }

    /// Values live into each block, block by block in linear order; calls `visit` with the block and the values, in no
    /// particular order. Linear in the ranges and what is live.
    pub fn for_each_live_in(&self, func: &Function, mut visit: impl FnMut(Block, &[Value])) {
        let n = func.num_blocks();
        let mut starts = vec![0u32; n + 1];
        for r in &self.ranges {
            starts[r.first.index() + 1] += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut at = starts.clone();
        let mut begins = vec![(Value(0), Block(0)); self.ranges.len()];
        for v in func.values() {
            for r in self.ranges(v) {
                begins[at[r.first.index()] as usize] = (v, r.last);
                at[r.first.index()] += 1;
            }
        }
        let mut active: Vec<Value> = Vec::new();
        let mut until: Vec<Block> = Vec::new();
        for b in func.blocks() {
            let mut k = 0;
            while k < active.len() {
                if until[k] < b {
                    active.swap_remove(k);
                    until.swap_remove(k);
                } else {
                    k += 1;
                }
            }
            for &(v, last) in &begins[starts[b.index()] as usize..starts[b.index() + 1] as usize] {
                active.push(v);
                until.push(last);
            }
            visit(b, &active);
        }
    }

    /// One backward pass: last uses, where values are last needed, which are used at all.
    fn mark_kills(&mut self, func: &Function) {
        let mut lanes = 0u32;
        self.lane_start.reserve(func.num_insts() + 1);
        for i in func.insts() {
            self.lane_start.push(lanes);
            lanes += func.num_lanes(i) as u32;
        }
        self.lane_start.push(lanes);
        self.kills = vec![0; (lanes as usize).div_ceil(64)];
        // Last instruction (from the back) of the current block that needs the value; the top bit: it ends there.
        const ENDS: u32 = 1 << 31;
        let mut seen: EntityVec<Value, (Block, u32)> = EntityVec::filled(func.num_values(), (Block::NONE, 0));
        for b in func.blocks().rev() {
            let term = func.terminator(b);
            for e in func.succ_edges(b) {
                for v in func.edge_args(e).iter().filter_map(|l| l.value()) {
                    seen[v] = (b, !ENDS);
                    self.need(v, term.0);
                }
            }
            for i in func.block_insts(b).rev() {
                for v in self.flight.at(i).collect::<Vec<_>>() {
                    if seen[v].0 != b {
                        seen[v] = (b, i.0);
                    }
                    self.need(v, i.0);
                }
                let defs = func.num_defs(i);
                let mut lane = func.defs(i).iter().map(|o| o.len()).sum::<usize>();
                let base = self.lane_start[i.index()] as usize;
                for &o in &func.operands(i)[defs..] {
                    for l in func.lanes(o) {
                        if let Some(v) = l.value() {
                            let (sb, at) = seen[v];
                            let ends = if sb == b {
                                at == i.0 | ENDS
                            } else {
                                let e = !self.live_out(func, b, v);
                                seen[v] = (b, if e { i.0 | ENDS } else { i.0 });
                                self.need(v, i.0);
                                e
                            };
                            if ends {
                                self.kills[(base + lane) / 64] |= 1 << ((base + lane) % 64);
                            }
                        }
                        lane += 1;
                    }
                }
            }
        }
        for v in func.values() {
            if !self.is_used(v) {
                self.last_need[v] = match func.def(v) {
                    ValueDef::Inst(i) => i.0,
                    ValueDef::Param(b) => func.block_range(b).start,
                };
            } else if let Some(r) = self.ranges(v).last() {
                // Live through the end of the last block that it is live into and out of.
                if self.live_out(func, r.last, v) {
                    self.last_need[v] = self.last_need[v].max(func.terminator(r.last).0);
                }
            }
        }
    }

    fn need(&mut self, v: Value, at: u32) {
        self.used[v.index() / 64] |= 1 << (v.index() % 64);
        self.last_need[v] = self.last_need[v].max(at);
    }
}

/// For each value the blocks that use it, and the block that defines it.
struct UseBlocks {
    start: Vec<u32>,
    blocks: Vec<Block>,
    def_block: EntityVec<Value, Block>,
}

impl UseBlocks {
    fn gather(func: &Function, flight: &FlightUses) -> Self {
        let n = func.num_values();
        let mut def_block = EntityVec::filled(n, Block::NONE);
        for b in func.blocks() {
            func.params(b).for_each(|v| def_block[v] = b);
            for i in func.block_insts(b) {
                func.def_values(i).for_each(|v| def_block[v] = b);
            }
        }
        // Uses in the defining block make nothing live in and are left out; each block counts once.
        let each = |count: &mut dyn FnMut(Value, Block)| {
            for b in func.blocks() {
                for i in func.block_insts(b) {
                    func.use_values(i).for_each(|v| count(v, b));
                }
                for e in func.succ_edges(b) {
                    func.edge_args(e).iter().filter_map(|l| l.value()).for_each(|v| count(v, b));
                }
            }
            for (i, v) in flight.iter() {
                count(v, func.block_of(i));
            }
        };
        let mut start = vec![0u32; n + 1];
        let mut last = EntityVec::filled(n, Block::NONE);
        each(&mut |v, b| {
            if def_block[v] != b && last[v] != b {
                last[v] = b;
                start[v.index() + 1] += 1;
            }
        });
        for i in 0..n {
            start[i + 1] += start[i];
        }
        let mut at = start.clone();
        let mut blocks = vec![Block::NONE; start[n] as usize];
        let mut last = EntityVec::filled(n, Block::NONE);
        each(&mut |v, b| {
            if def_block[v] != b && last[v] != b {
                last[v] = b;
                blocks[at[v.index()] as usize] = b;
                at[v.index()] += 1;
            }
        });
        Self { start, blocks, def_block }
    }

    fn of(&self, v: Value) -> &[Block] {
        &self.blocks[self.start[v.index()] as usize..self.start[v.index() + 1] as usize]
    }
}

struct Walk<'a> {
    func: &'a Function,
    loops: &'a LoopForest,
    /// Last value that a block (or the loop that it stands for) was marked for.
    stamp: Vec<u32>,
    work: Vec<Block>,
    found: Vec<BlockRange>,
}

impl Walk<'_> {
    /// Appends the ranges of blocks that `v`, defined in `def`, is live into, given the blocks that use it.
    fn value(&mut self, v: Value, def: Block, uses: &[Block], out: &mut Vec<BlockRange>) {
        if uses.is_empty() {
            return;
        }
        self.found.clear();
        for &u in uses {
            self.work.push(u);
        }
        while let Some(b) = self.work.pop() {
            if b == def {
                continue;
            }
            match self.loops.outermost_loop_excluding(b, def) {
                None => {
                    if std::mem::replace(&mut self.stamp[b.index()], v.0) != v.0 {
                        self.found.push(BlockRange { first: b, last: b });
                        self.work.extend(self.func.preds(b));
                    }
                }
                Some(l) => {
                    let (first, last) = self.loops.span(l);
                    if std::mem::replace(&mut self.stamp[first.index()], v.0) != v.0 {
                        self.found.push(BlockRange { first, last });
                        for &h in self.loops.headers(l) {
                            self.work.extend(self.func.preds(h).filter(|&p| p < first || p > last));
                        }
                    }
                }
            }
        }
        self.found.sort_unstable();
        let from = out.len();
        for &r in &self.found {
            match out[from..].last_mut() {
                Some(prev) if prev.last.0 + 1 >= r.first.0 => prev.last = prev.last.max(r.last),
                _ => out.push(r),
            }
        }
    }
}
