//! V6 to V10 and V18.

use super::*;
use crate::builder::FunctionBuilder;
use crate::class::RegClass;
use crate::function::{Block, Edge, Inst, Region, Value};
use crate::operand::Lane;

#[test]
fn v6_terminators() {
    // The builder refuses these: opcodes are exchanged afterwards.
    let op_of = |f: &Function, mnemonic: &str| {
        f.ops().iter().find(|(_, s)| &*s.mnemonic == mnemonic).map(|(id, _)| id).expect("the opcode is there")
    };
    for (block, mnemonic, why) in [
        (3, "MOV", "ends in an instruction that is no terminator"),
        (2, "jump", "takes no operand"),
        (1, "exit_if", "takes 1 successors, the block has 2"),
        (3, "brx", "at least 1 successor"),
        (0, "br", "takes 2 successors, the block has 1"),
    ] {
        let mut f = good();
        let t = f.terminator(Block(block));
        f.insts[t].op = op_of(&f, mnemonic);
        let e = breaks(Rule::V6, &f);
        assert!(e.iter().any(|e| e.message.contains(why)), "{e:#?}");
    }
    let mut f = good();
    f.insts[Inst(5)].op = op_of(&f, "EXIT");
    assert!(check(&f).iter().any(|e| e.rule == Rule::V6 && e.message.contains("middle of a block")));
    for (from, to) in [
        ("br !%p, head", "br !%a, head"),
        ("br !%p, head", "br !5, head"),
        ("exit_if %p, last", "exit_if %p, %p, last"),
        ("brx %x, first2", "brx %y, first2"),
        ("  EXIT", "  EXIT %a"),
    ] {
        breaks(Rule::V6, &with(from, to));
    }
}

#[test]
fn v7_edges_stay_in_their_region() {
    let mut f = good();
    // `first2: jump third` goes to the kernel's `last`, which takes one argument: the edge's own list is left empty.
    let e = f.succ_edges(Block(5)).next().unwrap();
    assert_eq!(f.edge(e).to, Block(6));
    f.edges[e].to = Block(2);
    relink(&mut f);
    let errors = breaks(Rule::V7, &f);
    assert!(errors[0].to_string().contains("which only a call enters"), "{}", errors[0]);
}

#[test]
fn v8_the_entry() {
    breaks(Rule::V8, &parse("kernel @k {\ne:\n jump e\n}\n"));
    breaks(Rule::V8, &parse("kernel @k {\ne(%x: R):\n STG.E [%x], %x\n EXIT\n}\n"));
    // The entry of a region has parameters, and may head a loop.
    let text =
        "kernel @k {\ne:\n call @s, 1\n EXIT\nregion @s -> () {\nf(%x: R):\n br undef, f(%x), g\ng:\n RET\n}\n}\n";
    let f = parse(&text.replace("call @s, 1", "call @s, undef"));
    assert_eq!(check(&f), []);
}

#[test]
fn v9_linear_order() {
    // A diamond and a loop; blocks 1 and 2 are the sides, 3 the join, 4 heads a loop with 5.
    let text = "kernel @k {\ne:\n br undef, l, r\nl:\n jump j\nr:\n jump j\nj:\n jump h\nh:\n br undef, b, x\nb:\n jump h\nx:\n EXIT\n}\n";
    let f = parse(text);
    assert_eq!(check(&f), []);
    assert_eq!(f.block_name(Block(4)), "h");
    // An edge to an earlier block that heads no loop around its source.
    let mut g = f.clone();
    g.edges[Edge(2)].to = Block(2); // l -> r
    g.edges[Edge(3)].to = Block(3);
    relink(&mut g);
    assert_eq!(check(&g), [], "another good order");
    let mut g = f.clone();
    g.edges[Edge(0)].to = Block(2);
    g.edges[Edge(1)].to = Block(3);
    g.edges[Edge(3)].to = Block(1); // e -> r -> l -> j
    relink(&mut g);
    let errors = breaks(Rule::V9, &g);
    assert_eq!(errors.len(), 1);
    assert!(errors[0].message.contains("heads no loop"), "{}", errors[0]);
    // A block that nothing reaches.
    let mut g = f.clone();
    g.edges[Edge(0)].to = Block(2);
    relink(&mut g);
    let errors = breaks(Rule::V9, &g);
    assert_eq!((errors.len(), errors[0].place), (1, Place::Block(Block(1))));
    // A loop that is not contiguous: h -> x, x is the body, b the exit in between.
    let mut g = f.clone();
    let (b, x) = (g.insts[g.terminator(Block(5))], g.insts[g.terminator(Block(6))]);
    let (tb, tx) = (g.terminator(Block(5)), g.terminator(Block(6)));
    (g.insts[tb], g.insts[tx]) = (x, b);
    let back = g.blocks[Block(5)].first_edge;
    g.blocks[Block(5)].end_edge = back;
    g.blocks[Block(6)].first_edge = back;
    g.blocks[Block(6)].end_edge = back + 1;
    g.edges[Edge(back)].from = Block(6);
    relink(&mut g);
    let errors = breaks(Rule::V9, &g);
    assert!(errors[0].message.contains("not contiguous"), "{}", errors[0]);
}

#[test]
fn v10_arguments() {
    let mut f = good();
    let e = f.succ_edges(Block(0)).next().unwrap();
    f.edges[e].num_args -= 1;
    assert!(breaks(Rule::V10, &f)[0].message.contains("2 arguments for 3 parameters"));
    let e = breaks(Rule::V10, &with("jump head(%a, %w)", "jump head(%p, %w)"));
    assert_eq!(e[0].message, "`%p` of class P is passed to `%i` of class R");
    assert_eq!(e[0].at, "edge 0 of block `entry`, to `head`");
}

#[test]
fn v18_dominance() {
    for (from, to) in [
        // Later in the block, on another path, in another region, itself.
        ("%u: R = MOV %s.1", "%u: R = MOV %u"),
        ("%w: R2 = IMAD.WIDE %a", "%w: R2 = IMAD.WIDE %u"),
        ("%old: R = MOV 0", "%old: R = MOV %t"),
        ("RET %y", "RET %w"),
        ("last(undef)", "last(%x)"),
        ("jump head(%a, %w)", "jump head(%t, %w)"),
        ("jump head(%a, %w)", "jump head(%i, %w)"),
    ] {
        breaks(Rule::V18, &with(from, to));
    }
    // An argument of a block to itself, and a value of the loop behind it, are fine.
    assert_eq!(check(&with("last(undef)", "last(%t)")), []);
}

#[test]
fn dominance_waits_for_control_flow() {
    // A block that nothing reaches has no dominators: nothing but V9 is reported, and nothing panics.
    let mut b = FunctionBuilder::new("k");
    let (e, x) = (b.block("e"), b.block("x"));
    let op = b.op("MOV");
    b.switch_to(e);
    let v = b.fresh(RegClass::R, 1);
    b.jump(x, &[Lane(v.first)]);
    let p = b.param(x, RegClass::R, 1);
    b.switch_to(x);
    b.inst(op, &[v], &[crate::operand::Operand::value(p.first)]);
    b.exit();
    let mut f = b.finish().unwrap();
    breaks(Rule::V18, &f);
    f.blocks[Block(0)].end_edge = 0;
    f.blocks[Block(1)].first_edge = 0;
    f.blocks[Block(1)].end_edge = 1;
    f.edges[Edge(0)].from = Block(1);
    let rules: Vec<Rule> = check(&f).iter().map(|e| e.rule).collect();
    assert_eq!(rules, [Rule::V6, Rule::V6, Rule::V9]);
    assert_eq!((f.def_block(Value(0)), f.regions().len()), (Block(1), 1));
    assert_eq!(f.region(Region(0)).entry, Block(0));
}
