//! Where values die, by plain dataflow on the input: each use is walked back to its definition.
//!
//! Written apart from the analyses that allocators use, so that a mistake there does not hide here. The order within
//! blocks is that of the allocation, and a rematerialization uses what its instruction uses.

use crate::assigned::{AllocatedFunction, Edit};
use crate::entity::EntityId;
use crate::function::{Block, Function, Inst, Value, ValueDef};

/// Values that are live into blocks, and that die at positions.
pub struct Deaths {
    live_in: Vec<Vec<Value>>,
    start: Vec<u32>,
    dead: Vec<Value>,
}

impl Deaths {
    /// Values live into a block, parameters left out, sorted.
    pub fn live_in(&self, b: Block) -> &[Value] {
        &self.live_in[b.index()]
    }
    /// Values that nothing reads after this position.
    pub fn at(&self, pos: u32) -> &[Value] {
        &self.dead[self.start[pos as usize] as usize..self.start[pos as usize + 1] as usize]
    }

    /// Computes both.
    pub fn compute(a: &AllocatedFunction<'_>) -> Self {
        let f = a.func;
        // Uses by value, so that each value is walked once: (value, block, whether at the block's end).
        let mut uses: Vec<(Value, Block, bool)> = Vec::new();
        for b in f.blocks() {
            for pos in f.block_range(b) {
                for_uses(a, pos, |v| uses.push((v, b, false)));
            }
            for e in f.succ_edges(b) {
                uses.extend(f.edge_args(e).iter().filter_map(|l| l.value()).map(|v| (v, b, true)));
                uses.extend(a.edits_on(e).iter().flat_map(|(_, edit)| remat_uses(f, edit)).map(|v| (v, b, true)));
            }
        }
        uses.sort_unstable();
        uses.dedup();
        let none = || vec![Vec::new(); f.num_blocks()];
        let mut walk = Walk { f, home: Block::NONE, live_in: none(), live_out: none(), work: Vec::new() };
        let mut last = Value::NONE;
        for (v, b, at_end) in uses {
            if v != last {
                last = v;
                walk.home = f.def_block(v);
            }
            walk.reach(b, v, at_end);
        }
        let Walk { live_in, live_out, .. } = walk;
        let mut dead = Vec::new();
        let mut start = vec![0];
        let mut last = vec![u32::MAX; f.num_values()];
        for b in f.blocks() {
            let out = &live_out[b.index()];
            let range = f.block_range(b);
            for pos in range.clone() {
                f.def_values(a.inst_at(pos)).for_each(|v| last[v.index()] = pos);
                for_uses(a, pos, |v| last[v.index()] = pos);
            }
            for pos in range {
                let mut put = |v: Value| {
                    if last[v.index()] == pos && out.binary_search(&v).is_err() {
                        last[v.index()] = u32::MAX;
                        dead.push(v);
                    }
                };
                f.def_values(a.inst_at(pos)).for_each(&mut put);
                for_uses(a, pos, put);
                start.push(dead.len() as u32);
            }
        }
        Self { live_in, start, dead }
    }
}

fn remat_inst(edit: &Edit) -> Option<Inst> {
    match edit {
        Edit::Remat { inst, .. } => Some(*inst),
        _ => None,
    }
}

fn remat_uses<'a>(f: &'a Function, edit: &Edit) -> impl Iterator<Item = Value> + 'a {
    remat_inst(edit).into_iter().flat_map(move |i| f.use_values(i))
}

fn for_uses(a: &AllocatedFunction<'_>, pos: u32, mut f: impl FnMut(Value)) {
    use crate::assigned::{EditPoint, Side};
    a.func.use_values(a.inst_at(pos)).for_each(&mut f);
    for side in [Side::Before, Side::After] {
        for (_, edit) in a.edits_at(EditPoint { pos, side }) {
            remat_uses(a.func, edit).for_each(&mut f);
        }
    }
}

struct Walk<'f> {
    f: &'f Function,
    /// Block of the definition of the value under way.
    home: Block,
    live_in: Vec<Vec<Value>>,
    live_out: Vec<Vec<Value>>,
    work: Vec<Block>,
}

impl Walk<'_> {
    /// `v` is read in `b`, or at its end. A list that ends in `v` has it already, since values come one after another.
    fn reach(&mut self, b: Block, v: Value, at_end: bool) {
        let put = |list: &mut Vec<Value>| {
            let fresh = list.last() != Some(&v);
            if fresh {
                list.push(v);
            }
            fresh
        };
        if at_end {
            put(&mut self.live_out[b.index()]);
        }
        if b == self.home || !put(&mut self.live_in[b.index()]) {
            return;
        }
        self.work.push(b);
        while let Some(b) = self.work.pop() {
            for &e in self.f.pred_edges(b) {
                let from = self.f.edge(e).from;
                put(&mut self.live_out[from.index()]);
                if from != self.home && put(&mut self.live_in[from.index()]) {
                    self.work.push(from);
                }
            }
        }
    }
}

/// True when a value is a parameter of this block.
pub fn is_param_of(f: &Function, v: Value, b: Block) -> bool {
    f.def(v) == ValueDef::Param(b)
}
