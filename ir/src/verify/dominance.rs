//! V18: definitions dominate uses. The rules of control flow hold.

use super::error::{Errors, Place, Rule};
use crate::dom::DomTree;
use crate::entity::{EntityId, EntityVec};
use crate::function::{Block, Function, Inst, Value, ValueDef};

/// Checks the rule.
pub(super) fn check(f: &Function, errors: &mut Errors<'_>) {
    let dom = DomTree::compute(f);
    let mut home = EntityVec::filled(f.num_values(), Block::NONE);
    for b in f.blocks() {
        f.params(b).for_each(|v| home[v] = b);
        for i in f.block_insts(b) {
            f.def_values(i).for_each(|v| home[v] = b);
        }
    }
    for b in f.blocks() {
        for i in f.block_insts(b) {
            for v in f.use_values(i) {
                let before = if home[v] == b { defined_before(f, v, i) } else { dom.dominates(home[v], b) };
                if !before {
                    errors.push(Rule::V18, Place::Inst(i), |n| {
                        format!("it uses `{}`, which {}", n.value(v), where_defined(f, n, home[v], b))
                    });
                }
            }
        }
        for e in f.succ_edges(b) {
            for v in f.edge_args(e).iter().filter_map(|l| l.value()) {
                if !dom.dominates(home[v], b) {
                    errors.push(Rule::V18, Place::Edge(e), |n| {
                        format!("it passes `{}`, which {}", n.value(v), where_defined(f, n, home[v], b))
                    });
                }
            }
        }
    }
}

/// True when a value of the instruction's own block is there before the instruction.
#[inline]
fn defined_before(f: &Function, v: Value, i: Inst) -> bool {
    match f.def(v) {
        ValueDef::Inst(d) => d < i,
        ValueDef::Param(_) => true,
    }
}

fn where_defined(f: &Function, n: &crate::text::Names<'_>, home: Block, b: Block) -> String {
    if home == b {
        "is defined later in the block".into()
    } else if f.block(home).region != f.block(b).region {
        format!("belongs to region `{}`", n.region(f.block(home).region))
    } else {
        format!("is defined in block `{}`, which not all paths pass", n.block(home))
    }
}
