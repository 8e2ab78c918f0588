//! Random valid SSA by construction, for benches, studies and fuzzing.
//!
//! A pool of live values is kept at a target size nearly everywhere, which is harsher than real code: each instruction
//! takes 1 to 3 operands (30, 50, 20 %), about one in ten only stores, one value dies in each, mostly one of the eight
//! youngest. Blocks come in segments of about a dozen instructions that end in loops (nested to three, carrying four
//! values), diamonds (joining one to three values), or go on. Blocks are made in their final order, so a function costs
//! time linear in its instructions.

use crate::builder::{Def, FunctionBuilder};
use crate::class::RegClass;
use crate::function::{Block, Function, Value};
use crate::op::OpId;
use crate::operand::{Lane, Operand, OperandFlags};

/// Control flow of a generated function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One long block.
    Straight,
    /// Loops one after another and nested.
    Loops,
    /// Two-way branches that join.
    Diamonds,
    /// Loops and diamonds.
    Mixed,
}

/// What to generate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GenOptions {
    /// Same seed and options, same function.
    pub seed: u64,
    /// Instructions, about.
    pub insts: usize,
    /// Values live at once, about; at least 2.
    pub live: usize,
    /// Control flow.
    pub shape: Shape,
    /// Percentage of results that are aligned pairs.
    pub pairs: u32,
    /// Percentage of results that are aligned quads.
    pub quads: u32,
}

impl Default for GenOptions {
    fn default() -> Self {
        Self { seed: 42, insts: 1000, live: 48, shape: Shape::Mixed, pairs: 0, quads: 0 }
    }
}

/// A small deterministic random source (splitmix64).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Starts at a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// A number below `n`; 0 for `n` = 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }
    /// True in `percent` of all cases.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.bits() % 100 < percent as u64
    }
}

struct Gen {
    b: FunctionBuilder,
    r: Rng,
    o: GenOptions,
    pool: Vec<Value>,
    /// Values of the pool below this index may not die here: an outer block still needs them.
    fixed: usize,
    made: usize,
    blocks: usize,
    load: OpId,
    store: OpId,
    wide_store: [OpId; 2],
    compare: OpId,
    arith: [OpId; 3],
    wide_load: [OpId; 2],
}

/// Generates a function.
pub fn generate(o: &GenOptions) -> Function {
    let mut b = FunctionBuilder::new("generated");
    let load = b.op("LDG.E");
    let store = b.op("STG.E");
    let wide_store = [b.op("STG.E.64"), b.op("STG.E.128")];
    let compare = b.op("ISETP.LT");
    let arith = [b.op("MUFU.EX2"), b.op("FADD"), b.op("FFMA")];
    let wide_load = [b.op("LDG.E.64"), b.op("LDG.E.128")];
    let mut g = Gen {
        b,
        r: Rng::new(o.seed),
        o: GenOptions { live: o.live.max(2), ..*o },
        pool: Vec::new(),
        fixed: 0,
        made: 0,
        blocks: 0,
        load,
        store,
        wide_store,
        compare,
        arith,
        wide_load,
    };
    let entry = g.block();
    g.b.switch_to(entry);
    g.fill();
    while g.made < o.insts {
        g.part(0);
    }
    g.drain();
    g.b.exit();
    g.b.finish().expect("a generated function is well formed")
}

fn address(o: Operand) -> Operand {
    o.with_flags(OperandFlags::ADDR.with(OperandFlags::ADDR_START))
}

impl Gen {
    fn block(&mut self) -> Block {
        self.blocks += 1;
        self.b.block(&format!("b{}", self.blocks - 1))
    }

    fn add(&mut self, d: Def) {
        self.pool.extend((0..d.len as u32).map(|k| Value(d.first.0 + k)));
        self.made += 1;
    }

    /// Loads until the pool has its size.
    fn fill(&mut self) {
        while self.pool.len() < self.o.live {
            let at = address(Operand::imm(self.pool.len() as u32 * 4));
            let d = self.b.inst1(self.load, RegClass::R, 1, &[at]);
            self.add(d);
        }
    }

    /// Takes a value that may die: mostly a young one.
    fn dying(&mut self) -> Option<Value> {
        let n = self.pool.len();
        if n <= self.fixed {
            return None;
        }
        let young = (n - self.fixed).min(8);
        let k = if self.r.chance(60) { n - 1 - self.r.below(young) } else { self.fixed + self.r.below(n - self.fixed) };
        Some(self.pool.swap_remove(k))
    }

    fn any(&mut self) -> Value {
        let k = self.r.below(self.pool.len());
        self.pool[k]
    }

    fn inst(&mut self) {
        let roll = self.r.below(100) as u32;
        let n = 1 + usize::from(roll >= 30) + usize::from(roll >= 80);
        let mut uses: Vec<Operand> = Vec::with_capacity(3);
        if self.pool.len() >= self.o.live {
            if let Some(v) = self.dying() {
                uses.push(Operand::value(v));
            }
        }
        while uses.len() < n {
            let v = self.any();
            uses.push(Operand::value(v));
        }
        if self.r.chance(10) {
            let a = address(uses[0]);
            let v = *uses.get(1).unwrap_or(&uses[0]);
            self.b.inst(self.store, &[], &[a, v]);
            self.made += 1;
            return;
        }
        let roll = self.r.below(100) as u32;
        let wide = usize::from(roll < self.o.pairs + self.o.quads) + usize::from(roll < self.o.quads);
        if wide > 0 {
            // A wide load, and the use of a run that is still together.
            let len = 2 << (wide - 1);
            let a = address(uses[0]);
            let d = self.b.inst1(self.wide_load[wide - 1], RegClass::R, len, &[a]);
            let run = self.b.run(d);
            let base = self.any();
            self.b.inst(self.wide_store[wide - 1], &[], &[address(Operand::value(base)), run]);
            self.made += 1;
            self.add(d);
            while self.pool.len() > self.o.live + 4 && self.pool.len() > self.fixed {
                self.dying();
            }
        } else {
            let d = self.b.inst1(self.arith[n - 1], RegClass::R, 1, &uses);
            self.add(d);
        }
    }

    fn segment(&mut self) {
        let n = 9 + self.r.below(9);
        for _ in 0..n {
            self.inst();
        }
        self.fill();
    }

    fn condition(&mut self) -> Operand {
        let (x, y) = (self.any(), self.any());
        let p = self.b.inst1(self.compare, RegClass::P, 1, &[Operand::value(x), Operand::value(y)]);
        self.made += 1;
        Operand::value(p.first)
    }

    fn part(&mut self, depth: u32) {
        self.segment();
        let (loops, diamonds) = match self.o.shape {
            Shape::Straight => (false, false),
            Shape::Loops => (true, false),
            Shape::Diamonds => (false, true),
            Shape::Mixed => (true, true),
        };
        if loops && depth < 3 && (!diamonds || self.r.chance(50)) {
            self.make_loop(depth);
        } else if diamonds {
            self.diamond();
        }
    }

    fn make_loop(&mut self, depth: u32) {
        let carried = 4.min(self.pool.len() - self.fixed);
        let init: Vec<Lane> = (0..carried).filter_map(|_| self.dying()).map(Lane).collect();
        let head = self.block();
        self.b.jump(head, &init);
        let params: Vec<Value> = (0..init.len()).map(|_| self.b.param(head, RegClass::R, 1).first).collect();
        self.b.switch_to(head);
        let outer = self.fixed;
        // What is live around the loop stays live through it, a few aside that the body works on.
        self.fixed = self.pool.len();
        self.pool.extend(&params);
        let parts = 1 + self.r.below(2);
        for _ in 0..parts {
            self.part(depth + 1);
        }
        let p = self.condition();
        let own = self.pool.len() - self.fixed;
        let next: Vec<Lane> = (0..params.len())
            .map(|k| self.pool.get(self.fixed + k % own.max(1)).map_or(Lane::UNDEF, |&v| Lane(v)))
            .collect();
        let exit = self.block();
        self.b.branch(p, (head, &next), (exit, &[]));
        self.b.switch_to(exit);
        self.fixed = outer;
        self.fill();
    }

    fn diamond(&mut self) {
        let p = self.condition();
        let (left, right) = (self.block(), self.block());
        self.b.branch(p, (left, &[]), (right, &[]));
        let joins = 1 + self.r.below(3);
        let before = self.pool.clone();
        let outer = self.fixed;
        let mut args: Vec<Vec<Lane>> = Vec::new();
        let mut ends = Vec::new();
        for side in [left, right] {
            self.b.switch_to(side);
            self.pool = before.clone();
            self.fixed = before.len();
            for _ in 0..4 + self.r.below(5) {
                self.inst();
            }
            let from = before.len().min(self.pool.len());
            let own: Vec<Value> = self.pool[from..].to_vec();
            args.push((0..joins).map(|k| own.get(k).or(before.last()).map_or(Lane::UNDEF, |&v| Lane(v))).collect());
            ends.push(self.b.current());
        }
        let join = self.block();
        for (end, a) in ends.into_iter().zip(&args) {
            self.b.switch_to(end);
            self.b.jump(join, a);
        }
        let params: Vec<Value> = (0..joins).map(|_| self.b.param(join, RegClass::R, 1).first).collect();
        self.b.switch_to(join);
        self.pool = before;
        self.fixed = outer;
        self.pool.extend(params);
        while self.pool.len() > self.o.live && self.pool.len() > self.fixed {
            self.dying();
        }
    }

    /// Uses what is left, so that nothing is dead.
    fn drain(&mut self) {
        while let Some(v) = self.pool.pop() {
            let at = address(Operand::imm(self.pool.len() as u32 * 4));
            self.b.inst(self.store, &[], &[at, Operand::value(v)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_determinism() {
        for shape in [Shape::Straight, Shape::Loops, Shape::Diamonds, Shape::Mixed] {
            let o = GenOptions { shape, insts: 2000, pairs: 15, quads: 5, ..GenOptions::default() };
            let f = generate(&o);
            assert!(f.num_insts() >= 2000 && f.num_insts() < 3500, "{shape:?}: {}", f.num_insts());
            assert_eq!(f.num_values(), generate(&o).num_values());
            assert_eq!(f.num_blocks() == 1, shape == Shape::Straight);
        }
        // The smallest there is.
        for live in 0..3 {
            let f = generate(&GenOptions { live, insts: 100, ..GenOptions::default() });
            assert!(f.num_insts() >= 100);
        }
    }
}
