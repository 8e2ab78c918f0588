//! What must verify does; what need not is judged without a panic.

use super::*;
use crate::class::RegClass;
use crate::entity::EntityId;
use crate::function::{Block, Edge, Inst, Region, Symbol, Value};
use crate::gen::{generate, GenOptions, Rng, Shape};
use crate::interp::{interpret, InterpOptions};
use crate::loops::LoopForest;
use crate::op::OpId;
use crate::operand::{Lane, Operand, OperandFlags};
use crate::text::tests::arbitrary;
use proptest::prelude::*;

fn options() -> impl Strategy<Value = GenOptions> {
    let shape = prop::sample::select(vec![Shape::Straight, Shape::Loops, Shape::Diamonds, Shape::Mixed]);
    (any::<u64>(), 0..600usize, 1..60usize, shape, 0..40u32, 0..40u32)
        .prop_map(|(seed, insts, live, shape, pairs, quads)| GenOptions { seed, insts, live, shape, pairs, quads })
}

/// Changes one entry of one table to something else, likely or not.
fn corrupt(f: &mut Function, r: &mut Rng) {
    let edge_of = |r: &mut Rng, n: usize| [0, 1, n / 2, n.saturating_sub(1), n, n + 1, u32::MAX as usize][r.below(7)];
    let any = |r: &mut Rng, n: usize| if r.chance(60) { r.below(n) as u32 } else { edge_of(r, n) as u32 };
    let counts = [f.values.len(), f.insts.len(), f.blocks.len(), f.edges.len(), f.operands.len(), f.lanes.len()];
    let [values, insts, blocks, edges, operands, lanes] = counts;
    let i = Inst::new(r.below(insts));
    let b = Block::new(r.below(blocks));
    let e = Edge::new(r.below(edges));
    let region = Region::new(r.below(f.regions.len()));
    let o = r.below(operands);
    match r.below(37) {
        0 => f.insts[i].op = OpId(any(r, f.ops.len())),
        1 => f.insts[i].first_operand = any(r, operands),
        2 => f.insts[i].first_value = Value(any(r, values)),
        3 => f.insts[i].num_operands = any(r, 6) as u16,
        4 => f.insts[i].num_defs = any(r, 3) as u16,
        5 => f.values[Value::new(r.below(values))].def = any(r, insts),
        6 => f.values[Value::new(r.below(values))].class = RegClass::ALL[r.below(5)],
        7 => f.blocks[b].name = Symbol(any(r, f.symbols.len())),
        8 => f.blocks[b].region = Region(any(r, 2)),
        9 => f.blocks[b].first_param_operand = any(r, operands),
        10 => f.blocks[b].num_param_operands = any(r, 4),
        11 => f.blocks[b].first_param = Value(any(r, values)),
        12 => f.blocks[b].num_params = any(r, 4),
        13 => f.blocks[b].first_inst = any(r, insts),
        14 => f.blocks[b].end_inst = any(r, insts),
        15 => f.blocks[b].first_edge = any(r, edges),
        16 => f.blocks[b].end_edge = any(r, edges),
        17 => f.edges[e].from = Block(any(r, blocks)),
        18 => f.edges[e].to = Block(any(r, blocks)),
        19 => f.edges[e].first_arg = any(r, lanes),
        20 => f.edges[e].num_args = any(r, 4),
        21 => f.regions[region].entry = Block(any(r, blocks)),
        22 => f.regions[region].end_block = any(r, blocks),
        23 => f.regions[region].results = vec![(RegClass::ALL[r.below(5)], any(r, 3) as u16)],
        24 => f.lanes[r.below(lanes)] = Lane(Value(any(r, values))),
        25 => f.operands[o] = f.operands[o].with_payload(any(r, values)),
        26 => f.operands[o] = f.operands[o].set_flags(OperandFlags(r.bits() as u8)),
        27 => f.operands[o] = Operand::lanes(any(r, lanes), r.below(4), 1),
        28 => f.operands[o] = Operand::wide_imm(any(r, 2)),
        29 => f.operands[o] = Operand::undef(r.below(3), 1),
        30 => f.pred_start[r.below(blocks + 1)] = any(r, edges),
        31 => f.preds[r.below(edges)] = Edge(any(r, edges)),
        32 => f.layout[r.below(blocks)] = Block(any(r, blocks)),
        33..=35 => {
            f.edges[e].to = Block(r.below(blocks) as u32);
            if f.edges.values().all(|e| e.to.index() < blocks) {
                relink(f);
            }
        }
        _ => f.names[Value::new(r.below(values))] = Symbol(any(r, f.symbols.len())),
    }
}

/// What verifies can be worked on: a wrong table shows as an error of the verifier, never as a panic, there or later.
#[test]
fn corrupt_tables_never_panic() {
    let (mut refused, mut kept) = (0, 0);
    let mut by_rule = [0; 20];
    for seed in 0..12_000 {
        let mut r = Rng::new(seed);
        let mut f = good();
        for _ in 0..1 + r.below(2) {
            corrupt(&mut f, &mut r);
        }
        let errors = check(&f);
        errors.iter().for_each(|e| by_rule[e.rule as usize] += 1);
        if !errors.is_empty() {
            refused += 1;
            continue;
        }
        kept += 1;
        LoopForest::compute(&f);
        interpret(&f, &InterpOptions { fuel: 300, ..InterpOptions::for_seed(seed) });
        assert_eq!(check(&parse(&f.to_string())), [], "seed {seed}");
    }
    assert!(refused > 6_000 && kept > 600, "{refused} {kept}");
    // Clocks and the forms of literals aside, all rules are broken by such a change.
    let silent: Vec<usize> = (1..=18).filter(|&k| by_rule[k] == 0 && k != Rule::V12 as usize).collect();
    assert_eq!(silent, [], "{by_rule:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn generated_functions_verify(o in options()) {
        let f = generate(&o);
        prop_assert_eq!(check(&f), []);
        // And so does what the text format makes of them.
        let again = parse(&f.to_string());
        prop_assert_eq!(check(&again), []);
    }

    /// Functions of any content: their numbering is right, since a builder made it, and the text format changes nothing.
    #[test]
    fn any_content_is_judged(seed in any::<u64>()) {
        let f = arbitrary::function(seed);
        let errors = check(&f);
        let numbering = errors.iter().find(|e| e.rule <= Rule::V5);
        prop_assert_eq!(numbering, None);
        let again = check(&parse(&f.to_string()));
        prop_assert_eq!(errors, again);
    }
}
