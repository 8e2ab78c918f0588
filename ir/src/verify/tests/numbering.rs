//! V1 to V5, broken field by field.

use super::*;
use crate::entity::EntityId;
use crate::function::{Block, Edge, Inst, Region, Symbol, Value};
use crate::op::OpId;
use crate::operand::{Lane, Operand};

/// Breaks the good function with each of these, one at a time.
#[track_caller]
fn each(rule: Rule, changes: &[&dyn Fn(&mut Function)]) {
    for (k, change) in changes.iter().enumerate() {
        let mut f = good();
        change(&mut f);
        let errors = check(&f);
        assert!(!errors.is_empty() && errors.iter().all(|e| e.rule == rule), "change {k}: {errors:#?}");
    }
}

#[test]
fn v1_indices() {
    each(
        Rule::V1,
        &[
            &|f| {
                f.lines.push(0);
            },
            &|f| f.pred_start.push(0),
            &|f| {
                f.preds.pop();
            },
            &|f| {
                f.layout.pop();
            },
            &|f| {
                f.names.push(Symbol::NONE);
            },
            &|f| f.names[Value(0)] = Symbol(999),
            &|f| f.lanes[0] = Lane(Value(999)),
            &|f| f.operands[0] = Operand::value(Value(999)),
            &|f| f.operands[0] = Operand::lanes(999, 2, 2),
            &|f| f.operands[0] = Operand::wide_imm(7),
            &|f| f.operands[0] = Operand::special(999),
            &|f| f.insts[Inst(0)].op = OpId(999),
            &|f| f.insts[Inst(0)].first_operand = u32::MAX,
            &|f| f.insts[Inst(0)].num_defs = 99,
            &|f| f.blocks[Block(0)].name = Symbol::NONE,
            &|f| f.blocks[Block(1)].num_param_operands = 999,
            &|f| f.edges[Edge(0)].to = Block::NONE,
            &|f| f.edges[Edge(0)].num_args = 999,
            &|f| f.regions[Region(1)].entry = Block(999),
            &|f| f.blocks = crate::entity::EntityVec::new(),
        ],
    );
}

#[test]
fn v2_blocks() {
    each(
        Rule::V2,
        &[
            &|f| f.blocks[Block(1)].first_inst += 1,
            &|f| f.blocks[Block(0)].end_inst = 0,
            &|f| f.blocks[Block(6)].end_inst -= 1,
            &|f| f.blocks[Block(6)].end_inst += 1,
            &|f| f.layout[0] = Block(1),
            &|f| f.layout[0] = Block(99),
        ],
    );
}

#[test]
fn v3_edges() {
    each(
        Rule::V3,
        &[
            &|f| f.blocks[Block(1)].first_edge += 1,
            &|f| f.edges[Edge(0)].from = Block(1),
            &|f| f.preds.swap(0, 1),
            &|f| f.pred_start[1] += 1,
            &|f| f.blocks[Block(5)].end_edge = 99,
        ],
    );
}

#[test]
fn v4_regions() {
    each(
        Rule::V4,
        &[
            &|f| f.regions[Region(1)].entry.0 += 1,
            &|f| f.regions[Region(0)].end_block -= 1,
            &|f| f.regions[Region(1)].end_block -= 1,
            &|f| f.regions[Region(1)].end_block += 1,
            &|f| f.blocks[Block(2)].region = Region(1),
            &|f| f.blocks[Block(2)].region = Region(9),
            &|f| f.layout.swap(0, 1),
        ],
    );
}

#[test]
fn v5_values() {
    let defs = |f: &Function, i: u32| f.insts[Inst(i)].first_operand as usize;
    each(
        Rule::V5,
        &[
            // A second definition of the same value, in two ways; a definition that is no run of values.
            &|f| {
                let (a, b) = (defs(f, 0), defs(f, 2));
                f.operands[b] = f.operands[a];
            },
            &|f| f.values[Value(3)].def = 1,
            &|f| {
                let a = defs(f, 0);
                f.operands[a] = Operand::undef(1, 1);
            },
            &|f| f.insts[Inst(2)].first_value.0 += 1,
            &|f| f.blocks[Block(1)].first_param.0 += 1,
            &|f| f.blocks[Block(1)].num_params -= 1,
            &|f| {
                let last = *f.values.as_slice().last().unwrap();
                f.values.push(last);
                f.names.push(Symbol::NONE);
            },
        ],
    );
}
