//! How far in linear order each value can still be needed: what lets the checker forget the rest at block entries.
//!
//! A value defined in block `d` and used last in block `u` can be live in a block `x > u` only when a path leads back:
//! over an edge from some `y >= x` to some `z` with `d < z <= u`. So the range ends at the smallest `end >= u` that no
//! edge `y -> z` with `d < z <= end < y` leaves. That needs no set per block. It may be wider than true liveness, which
//! costs nothing but room: forgetting less is never wrong, and what is kept in vain is still tracked rightly.
//!
//! Repeating an instruction uses its inputs where it is repeated, so those uses count too. An input that is repeated
//! before its own definition in linear order may be held at any block up to its end.

use fatpoint_ir::assigned::{AllocatedFunction, Edit};
use fatpoint_ir::{Block, EntityId, Function, Inst, Value};

/// The range of blocks at whose entry each value may be needed.
pub(crate) struct Ranges {
    first: Vec<u32>,
    end: Vec<u32>,
    /// True when some value may be needed before its definition.
    pub(crate) early: bool,
}

impl Ranges {
    /// The ranges of all values of an allocation whose shape is right.
    pub(crate) fn of(alloc: &AllocatedFunction<'_>) -> Self {
        let f = alloc.func;
        let mut first = vec![0u32; f.num_values()];
        let mut last = vec![0u32; f.num_values()];
        for b in f.blocks() {
            let defs = f.params(b).chain(f.block_insts(b).flat_map(|i| f.def_values(i)));
            for v in defs {
                first[v.index()] = b.0 + 1;
                last[v.index()] = b.0;
            }
        }
        let mut early = false;
        let mut use_at = |v: Value, b: Block| {
            let k = v.index();
            if b.0 + 1 < first[k] {
                first[k] = 0;
                early = true;
            }
            last[k] = last[k].max(b.0);
        };
        for b in f.blocks() {
            f.block_insts(b).flat_map(|i| f.use_values(i)).for_each(|v| use_at(v, b));
            f.succ_edges(b).flat_map(|e| f.edge_args(e)).filter_map(|l| l.value()).for_each(|v| use_at(v, b));
        }
        let repeated = |i: Inst| f.use_values(i);
        for (p, e) in &alloc.edits {
            if let Edit::Remat { inst, .. } = e {
                let b = f.block_of(alloc.inst_at(p.pos));
                repeated(*inst).for_each(|v| use_at(v, b));
            }
        }
        for (edge, e) in &alloc.edge_edits {
            if let Edit::Remat { inst, .. } = e {
                repeated(*inst).for_each(|v| use_at(v, f.edge(*edge).from));
            }
        }
        let back = BackEdges::of(f);
        let end = first.iter().zip(&last).map(|(&s, &u)| back.extend(s, u)).collect();
        Self { first, end, early }
    }

    /// True when `v` may be needed at the entry of `b`.
    #[inline]
    pub(crate) fn keeps(&self, v: Value, b: Block) -> bool {
        self.first[v.index()] <= b.0 && b.0 <= self.end[v.index()]
    }
}

/// Targets of back edges, rising, with a table of range maxima over the last block that jumps back.
struct BackEdges {
    targets: Vec<u32>,
    /// `max[k][i]`: furthest source of the `2^k` targets from `i` on.
    max: Vec<Vec<u32>>,
}

impl BackEdges {
    fn of(f: &Function) -> Self {
        let (mut targets, mut source) = (Vec::new(), Vec::new());
        for b in f.blocks() {
            if let Some(y) = f.preds(b).map(|p| p.0).filter(|&p| p >= b.0).max() {
                targets.push(b.0);
                source.push(y);
            }
        }
        let mut max = vec![source];
        for k in 0.. {
            let (half, prev) = (1usize << k, &max[k]);
            if 2 * half > targets.len() {
                break;
            }
            max.push((0..=targets.len() - 2 * half).map(|i| prev[i].max(prev[i + half])).collect());
        }
        Self { targets, max }
    }

    /// End of the range of a value needed from block `first` on, and used last in block `end`.
    fn extend(&self, first: u32, mut end: u32) -> u32 {
        let lo = self.targets.partition_point(|&t| t < first);
        loop {
            let hi = self.targets.partition_point(|&t| t <= end);
            if lo >= hi {
                return end;
            }
            let k = (hi - lo).ilog2() as usize;
            let y = self.max[k][lo].max(self.max[k][hi - (1 << k)]);
            if y <= end {
                return end;
            }
            end = y;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fatpoint_ir::builder::FunctionBuilder;
    use fatpoint_ir::{Operand, RegClass};

    /// entry -> h -> a -> ih -> ib -> ih, ih -> h, a -> out: the inner loop is the last thing in the outer one.
    #[test]
    fn a_value_used_in_a_loop_lives_to_its_end() {
        let mut b = FunctionBuilder::new("k");
        let [entry, h, a, ih, ib, out] = ["entry", "h", "a", "ih", "ib", "out"].map(|n| b.block(n));
        let op = b.op("MOV");
        b.switch_to(entry);
        let x = b.inst1(op, RegClass::R, 1, &[]);
        let p = b.inst1(op, RegClass::P, 1, &[]);
        let cond = Operand::value(p.first);
        b.jump(h, &[]);
        b.switch_to(h);
        b.jump(a, &[]);
        b.switch_to(a);
        let y = b.inst1(op, RegClass::R, 1, &[Operand::value(x.first)]);
        b.branch(cond, (ih, &[]), (out, &[]));
        b.switch_to(ih);
        b.branch(cond, (ib, &[]), (h, &[]));
        b.switch_to(ib);
        b.jump(ih, &[]);
        b.switch_to(out);
        b.exit();
        let f = b.finish_mapped().unwrap();
        let r = Ranges::of(&AllocatedFunction::empty(&f.func));
        let (x, y) = (f.values[x.first], f.values[y.first]);
        let kept = |v| f.func.blocks().filter(|&b| r.keeps(v, b)).map(|b| f.func.block_name(b)).collect::<Vec<_>>();
        assert_eq!(kept(x), ["h", "a", "ih", "ib"]);
        assert_eq!(kept(y), [""; 0]);
        assert!(!r.early);
    }
}
