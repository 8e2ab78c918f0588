//! Random programs with long live ranges on any control flow: values are used wherever their definitions dominate, a few
//! go through block parameters. Wide runs, undefined lanes, guards, dead results, operations in flight.

use fatpoint_ir::builder::{Def, FunctionBuilder};
use fatpoint_ir::dom::DomTree;
use fatpoint_ir::gen::Rng;
use fatpoint_ir::{Block, Constraint, EntityId, Function, Lane, Operand, OperandFlags, RegClass, Value};

/// What a random program contains.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub seed: u64,
    /// Blocks, those that nothing reaches included.
    pub blocks: usize,
    /// Instructions of a block at most.
    pub insts: usize,
    /// No edge leads back.
    pub acyclic: bool,
    /// Percentage of instructions that start, commit or wait for operations in flight.
    pub flight: u32,
}

/// Control flow alone: blocks that are reached, in linear order.
fn skeleton(s: Shape, r: &mut Rng) -> Function {
    let mut b = FunctionBuilder::new("skeleton");
    let n = s.blocks.max(2);
    let blocks: Vec<Block> = (0..n).map(|k| b.block(&format!("b{k}"))).collect();
    for (k, &from) in blocks.iter().enumerate() {
        let low = if s.acyclic { k + 1 } else { 1 };
        b.switch_to(from);
        let count = match r.below(10) {
            _ if low >= n => 0,
            0 if k > 0 => 0,
            0..=3 => 1,
            4..=7 => 2,
            _ => 3,
        };
        let targets: Vec<(Block, &[Lane])> = (0..count)
            .map(|j| match j == 0 && k + 1 < n && r.chance(80) {
                true => (blocks[k + 1], &[][..]),
                false => (blocks[low + r.below(n - low)], &[][..]),
            })
            .collect();
        let op = b.op(["EXIT", "jump", "br", "brx"][count]);
        let uses = if count >= 2 { vec![Operand::undef(1, 1)] } else { vec![] };
        b.terminate(op, &uses, &targets);
    }
    b.prune_unreachable();
    b.finish().expect("what is left is reached")
}

struct Gen {
    b: FunctionBuilder,
    r: Rng,
    /// Values that may be used here, by class R or P.
    here: [Vec<Value>; 2],
}

impl Gen {
    fn add(&mut self, d: Def, class: RegClass) {
        let list = &mut self.here[usize::from(class == RegClass::P)];
        list.extend((0..d.len as u32).map(|k| Value(d.first.0 + k)));
    }

    /// Mostly young values, so that old ones are left alone for a while.
    fn lane(&mut self, class: RegClass) -> Lane {
        let list = &self.here[usize::from(class == RegClass::P)];
        if list.is_empty() || self.r.chance(8) {
            return Lane::UNDEF;
        }
        let young = if self.r.chance(50) { list.len().min(6) } else { list.len() };
        let k = list.len() - 1 - self.r.below(young);
        Lane(list[k])
    }

    fn run(&mut self, class: RegClass, len: usize) -> Operand {
        let lanes: Vec<Lane> = (0..len).map(|_| self.lane(class)).collect();
        self.b.lanes(&lanes, len as u32)
    }

    fn inst(&mut self, flight: u32) {
        if self.r.chance(flight) {
            return self.flight();
        }
        match self.r.below(6) {
            0 | 1 => {
                let uses: Vec<Operand> = (0..self.r.below(4)).map(|_| self.run(RegClass::R, 1)).collect();
                let op = self.b.op("FFMA");
                let d = self.b.inst1(op, RegClass::R, 1, &uses);
                self.add(d, RegClass::R);
            }
            2 => {
                let (x, y) = (self.run(RegClass::R, 1), self.run(RegClass::R, 1));
                let op = self.b.op("ISETP.LT");
                let d = self.b.inst1(op, RegClass::P, 1, &[x, y]);
                self.add(d, RegClass::P);
            }
            3 => {
                let len = [2, 4][self.r.below(2)];
                let at = self.run(RegClass::R, 1).with_flags(OperandFlags::ADDR.with(OperandFlags::ADDR_START));
                let op = self.b.op("LDG.E.128");
                let d = self.b.inst1(op, RegClass::R, len, &[at]);
                self.add(d, RegClass::R);
            }
            4 => {
                let len = [1, 2, 4][self.r.below(3)];
                let (x, y) = (self.run(RegClass::R, len), self.run(RegClass::R, 1));
                let op = self.b.op("STS");
                self.b.inst(op, &[], &[x, y]);
            }
            _ => {
                let guard = self.run(RegClass::P, 1).with_flags(OperandFlags::GUARD);
                let (x, old) = (self.run(RegClass::R, 1), self.run(RegClass::R, 2));
                let op = self.b.op_with("MOV.64", &[(3, Constraint::Tied(0))], &[]);
                let d = self.b.inst1(op, RegClass::R, 2, &[guard, x, old]);
                self.add(d, RegClass::R);
            }
        }
    }

    fn flight(&mut self) {
        match self.r.below(4) {
            0 | 1 => {
                // An accumulator and a fragment that stay busy.
                let (a, acc) = (self.run(RegClass::R, 2), self.run(RegClass::R, 2));
                let flying = [(0, Constraint::InFlight), (1, Constraint::InFlight), (2, Constraint::InFlight)];
                let tie = [(2, Constraint::Tied(0))];
                let op = self.b.op_with("HGMMA.64x8x16.F32", &[&flying[..], &tie[..]].concat(), &[]);
                let d = self.b.inst1(op, RegClass::R, 2, &[a, acc]);
                self.add(d, RegClass::R);
            }
            2 => {
                let op = self.b.op("WGCOMMIT");
                self.b.inst(op, &[], &[]);
            }
            _ => {
                let n = self.r.below(3);
                let op = self.b.op(&format!("WGWAIT.{n}"));
                self.b.inst(op, &[], &[]);
            }
        }
    }
}

/// A random program.
pub fn program(s: Shape) -> Function {
    let mut r = Rng::new(s.seed);
    let cfg = skeleton(s, &mut r);
    let dom = DomTree::compute(&cfg);
    let mut g = Gen { b: FunctionBuilder::new("random"), r, here: Default::default() };
    let blocks: Vec<Block> = cfg.blocks().map(|b| g.b.block(cfg.block_name(b))).collect();
    let mut params: Vec<Vec<(Value, RegClass)>> = Vec::new();
    for b in cfg.blocks() {
        let n = if b.index() == 0 { 0 } else { g.r.below(4) };
        let classes: Vec<RegClass> = (0..n).map(|_| if g.r.chance(20) { RegClass::P } else { RegClass::R }).collect();
        params.push(classes.iter().map(|&c| (g.b.param(blocks[b.index()], c, 1).first, c)).collect());
    }
    // What can be used at the end of each block, for the blocks that it dominates.
    let mut at_end: Vec<[Vec<Value>; 2]> = vec![Default::default(); blocks.len()];
    for b in cfg.blocks() {
        g.here = dom.idom(b).map_or(Default::default(), |d| at_end[d.index()].clone());
        for &(v, c) in &params[b.index()] {
            g.here[usize::from(c == RegClass::P)].push(v);
        }
        g.b.switch_to(blocks[b.index()]);
        for _ in 0..g.r.below(s.insts + 1) {
            g.inst(s.flight);
        }
        let args: Vec<(Block, Vec<Lane>)> = cfg
            .succs(b)
            .map(|to| (blocks[to.index()], params[to.index()].iter().map(|&(_, c)| g.lane(c)).collect()))
            .collect();
        let uses = match args.len() {
            0 | 1 => vec![],
            2 => vec![g.run(RegClass::P, 1)],
            _ => vec![g.run(RegClass::R, 1)],
        };
        let op = g.b.op(["EXIT", "jump", "br", "brx"][args.len()]);
        let succs: Vec<(Block, &[Lane])> = args.iter().map(|(to, l)| (*to, l.as_slice())).collect();
        g.b.terminate(op, &uses, &succs);
        at_end[b.index()] = g.here.clone();
    }
    let f = g.b.finish().expect("the program is valid by construction");
    assert_eq!(fatpoint_ir::verify::check(&f), []);
    f
}
