//! V6 to V10: terminators, edges, reachability and linear order.

use super::error::{Errors, Place, Rule};
use super::operands::{class_of, is_one_lane};
use crate::class::RegClass;
use crate::entity::EntityId;
use crate::function::{Block, Function, Inst};
use crate::op::OpKind;
use crate::operand::Operand;
use crate::order::{linear_order, Graph, LinearOrder};

/// Checks the rules; true when dominators may be computed.
pub(super) fn check(f: &Function, errors: &mut Errors<'_>) -> bool {
    let before = errors.count();
    for b in f.blocks() {
        terminators(f, b, errors);
    }
    let inside = errors.count();
    for e in f.edges() {
        let (from, to) = (f.block(f.edge(e).from).region, f.block(f.edge(e).to).region);
        if from != to {
            errors.push(Rule::V7, Place::Edge(e), |n| {
                format!("it leads from region `{}` into `{}`, which only a call enters", n.region(from), n.region(to))
            });
        }
    }
    let inside = inside == errors.count();
    entry(f, errors);
    if inside {
        order(f, errors);
    }
    arguments(f, errors);
    before == errors.count()
}

/// V6.
fn terminators(f: &Function, b: Block, errors: &mut Errors<'_>) {
    let last = f.terminator(b);
    for i in f.block_insts(b) {
        let kind = f.kind(i);
        if i != last {
            if kind.is_terminator() {
                errors.push(Rule::V6, Place::Inst(i), |_| "a terminator stands in the middle of a block".into());
            }
        } else if !kind.is_terminator() {
            errors.push(Rule::V6, Place::Inst(i), |_| "the block ends in an instruction that is no terminator".into());
        }
    }
    let kind = f.kind(last);
    let found = f.succ_edges(b).len();
    match kind.successors() {
        Some(n) if n != found => {
            errors.push(Rule::V6, Place::Inst(last), |_| format!("it takes {n} successors, the block has {found}"));
        }
        None if found == 0 => {
            errors.push(Rule::V6, Place::Inst(last), |_| "it takes at least 1 successor, the block has none".into());
        }
        _ => {}
    }
    if kind.is_terminator() && f.num_defs(last) > 0 {
        errors.push(Rule::V6, Place::Inst(last), |_| "a terminator defines nothing".into());
    }
    // Guards on terminators are V14, the results of a return V17.
    let uses = || f.uses(last).iter().copied().filter(|o| !o.is_guard());
    let one = |good: fn(RegClass) -> bool| {
        let ok = |o: Operand| is_one_lane(o) && class_of(f, o).is_none_or(good);
        uses().count() == 1 && uses().all(ok)
    };
    let wants = match kind {
        OpKind::Jump | OpKind::Exit if uses().next().is_some() => "no operand",
        OpKind::Branch | OpKind::ExitIf if !one(RegClass::is_predicate) => "one predicate lane",
        OpKind::Switch if !one(|c| matches!(c, RegClass::R | RegClass::UR)) => "one general register lane",
        _ => return,
    };
    errors.push(Rule::V6, Place::Inst(last), |_| format!("it takes {wants}"));
}

/// V8.
fn entry(f: &Function, errors: &mut Errors<'_>) {
    let b = f.entry();
    let (preds, params) = (f.pred_edges(b).len(), f.params(b).len());
    if preds > 0 {
        errors.push(Rule::V8, Place::Block(b), |_| "an edge leads into the kernel's entry".into());
    }
    if params > 0 {
        errors.push(Rule::V8, Place::Block(b), |_| "the kernel's entry has parameters, which nothing gives".into());
    }
}

/// V9; edges stay within their regions.
fn order(f: &Function, errors: &mut Errors<'_>) {
    let n = f.num_blocks();
    let mut start = vec![0u32; n + 1];
    let mut succ = Vec::with_capacity(f.num_edges());
    for b in f.blocks() {
        succ.extend(f.succs(b).map(|s| s.0));
        start[b.index() + 1] = succ.len() as u32;
    }
    let graph = Graph { start: &start, succ: &succ };
    for r in f.regions() {
        let blocks = f.region_blocks(r);
        let (first, count) = (f.region(r).entry.0, blocks.len());
        let o = linear_order(&graph, first);
        let mut reached = vec![false; count];
        o.order.iter().for_each(|b| reached[(b - first) as usize] = true);
        for b in blocks.filter(|b| !reached[(b.0 - first) as usize]) {
            errors.push(Rule::V9, Place::Block(b), |n| format!("no path from `{}` reaches it", n.block(Block(first))));
        }
        loops(f, first, &reached, &o, errors);
    }
}

/// Loops contiguous, backward edges to headers alone. Which blocks form a loop, and its headers, does not depend on the
/// order that they are found in.
fn loops(f: &Function, first: u32, reached: &[bool], o: &LinearOrder, errors: &mut Errors<'_>) {
    const NONE: u32 = u32::MAX;
    // The loop that a block heads (at most one), and the blocks of that loop.
    let mut heads = vec![NONE; reached.len()];
    let mut spans = Vec::with_capacity(o.loops.len());
    for (k, l) in o.loops.iter().enumerate() {
        let members = &o.order[l.first as usize..l.end as usize];
        let low = members.iter().min().copied().unwrap_or(first);
        let high = members.iter().max().copied().unwrap_or(first);
        if (high - low + 1) as usize != members.len() {
            errors.push(Rule::V9, Place::Block(Block(low)), |n| {
                let last = n.block(Block(high));
                format!("the loop of {} blocks from here to `{last}` is not contiguous", members.len())
            });
        }
        spans.push(low..=high);
        l.headers.iter().for_each(|&h| heads[(h - first) as usize] = k as u32);
    }
    for b in (first..).zip(reached).filter(|r| *r.1).map(|r| Block(r.0)) {
        for e in f.succ_edges(b) {
            let to = f.edge(e).to;
            if to > b {
                continue;
            }
            let head = heads[(to.0 - first) as usize];
            if head == NONE || !spans[head as usize].contains(&b.0) {
                errors.push(Rule::V9, Place::Edge(e), |_| {
                    "it leads back to a block that heads no loop around its source".into()
                });
            }
        }
    }
}

/// V10.
fn arguments(f: &Function, errors: &mut Errors<'_>) {
    for e in f.edges() {
        let params = f.params(f.edge(e).to);
        let args = f.edge_args(e);
        if params.len() != args.len() {
            errors.push(Rule::V10, Place::Edge(e), |_| {
                format!("it has {} arguments for {} parameters", args.len(), params.len())
            });
            continue;
        }
        for (p, v) in params.zip(args).filter_map(|(p, l)| Some((p, l.value()?))) {
            if f.class(p) != f.class(v) {
                errors.push(Rule::V10, Place::Edge(e), |n| {
                    let (p_class, v_class) = (f.class(p), f.class(v));
                    format!("`{}` of class {v_class} is passed to `{}` of class {p_class}", n.value(v), n.value(p))
                });
            }
        }
    }
}

/// The terminators of a region with their blocks.
pub(super) fn region_terminators(f: &Function, r: crate::function::Region) -> impl Iterator<Item = Inst> + '_ {
    f.region_blocks(r).map(|b| f.terminator(b))
}
