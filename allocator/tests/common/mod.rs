//! Random programs on any control flow: every block takes all variables as parameters and passes them all on, so that
//! any graph, irreducible ones too, gives valid SSA. Harsher on edges than real code.

use fatpoint_ir::assigned::AllocatedFunction;
use fatpoint_ir::builder::{Def, FunctionBuilder};
pub use fatpoint_ir::gen::Rng;
use fatpoint_ir::interp::{compare, interpret, interpret_allocated, Comparison, InterpOptions, Mismatch, Stop};
use fatpoint_ir::{Constraint, Function, Lane, Operand, OperandFlags, PhysReg, RegClass, Value};

/// What a random program contains.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub seed: u64,
    pub blocks: usize,
    pub vars: usize,
    pub preds: usize,
    pub insts: usize,
    pub fancy: bool,
}

struct Gen {
    b: FunctionBuilder,
    r: Rng,
    vars: Vec<Lane>,
    preds: Vec<Lane>,
}

impl Gen {
    fn var(&mut self) -> Lane {
        let k = self.r.below(self.vars.len());
        self.vars[k]
    }
    fn operand(&mut self) -> Operand {
        match self.var().value() {
            Some(v) => Operand::value(v),
            None => Operand::imm(7),
        }
    }
    fn wide(&mut self, len: usize, align: u32) -> Operand {
        let lanes: Vec<Lane> = (0..len).map(|_| self.var()).collect();
        self.b.lanes(&lanes, align)
    }
    fn assign(&mut self, d: Def) {
        for k in 0..d.len {
            let at = self.r.below(self.vars.len());
            self.vars[at] = Lane(Value(d.first.0 + k as u32));
        }
    }
    fn pred(&mut self) -> Option<Value> {
        if self.preds.is_empty() {
            return None;
        }
        let k = self.r.below(self.preds.len());
        self.preds[k].value()
    }

    fn inst(&mut self, fancy: bool) {
        let kind = self.r.below(if fancy { 14 } else { 6 });
        match kind {
            0 | 1 => {
                let n = 1 + self.r.below(3);
                let uses: Vec<Operand> = (0..n).map(|_| self.operand()).collect();
                let op = self.b.op(["MUFU.EX2", "FADD", "FFMA"][n - 1]);
                let d = self.b.inst1(op, RegClass::R, 1, &uses);
                self.assign(d);
            }
            2 => {
                let op = self.b.op("STG.E");
                let (a, v) = (self.operand(), self.operand());
                let a = a.with_flags(OperandFlags::ADDR.with(OperandFlags::ADDR_START));
                self.b.inst(op, &[], &[a, v]);
            }
            3 => {
                if !self.preds.is_empty() {
                    let op = self.b.op("ISETP.LT");
                    let (x, y) = (self.operand(), self.operand());
                    let d = self.b.inst1(op, RegClass::P, 1, &[x, y]);
                    let k = self.r.below(self.preds.len());
                    self.preds[k] = Lane(d.first);
                }
            }
            4 => {
                if let Some(p) = self.pred() {
                    let op = self.b.op("SEL");
                    let (x, y) = (self.operand(), self.operand());
                    let d = self.b.inst1(op, RegClass::R, 1, &[x, y, Operand::value(p)]);
                    self.assign(d);
                }
            }
            5 => {
                if let Some(p) = self.pred() {
                    let old = self.var();
                    let old = self.b.lanes(&[old], 1);
                    let op = self.b.op_with("FADD", &[(4, Constraint::Tied(0))], &[]);
                    let (x, y) = (self.operand(), self.operand());
                    let d = self.b.inst1(
                        op,
                        RegClass::R,
                        1,
                        &[Operand::value(p).with_flags(OperandFlags::GUARD), x, y, old],
                    );
                    self.assign(d);
                }
            }
            6 | 7 => {
                let len = [2, 4, 3, 8][self.r.below(4)];
                let op = self.b.op("LDG.E.128");
                let a = self.operand().with_flags(OperandFlags::ADDR.with(OperandFlags::ADDR_START));
                let d = self.b.inst1(op, RegClass::R, len, &[a]);
                self.assign(d);
            }
            8 | 9 => {
                let (len, align) = [(2, 2), (4, 4), (3, 4), (2, 1)][self.r.below(4)];
                let w = self.wide(len, align);
                let op = self.b.op("STG.E.128");
                let a = self.operand().with_flags(OperandFlags::ADDR.with(OperandFlags::ADDR_START));
                self.b.inst(op, &[], &[a, w]);
            }
            10 => {
                // Accumulator: D = A * B + C with C tied to D.
                let len = [1, 2, 4][self.r.below(3)];
                let align = len as u32;
                let (a, bb, c) = (self.wide(2, 2), self.operand(), self.wide(len, align));
                let op = self.b.op_with("HMMA.16816.F32", &[(3, Constraint::Tied(0))], &[]);
                let d = self.b.inst1(op, RegClass::R, len, &[a, bb, c]);
                self.assign(d);
            }
            11 => {
                let len = [1, 2, 4][self.r.below(3)];
                let op = self.b.op_with("MUFU.SIN", &[(0, Constraint::EarlyClobber)], &[]);
                let u = self.operand();
                let d = self.b.inst1(op, RegClass::R, len, &[u]);
                self.assign(d);
            }
            12 => {
                let clobbers: Vec<PhysReg> =
                    (0..6).filter(|&n| n != 1).map(PhysReg::r).chain([PhysReg::p(0), PhysReg::p(1)]).collect();
                let op = self.b.op_with(
                    "CALL.ABI",
                    &[(0, Constraint::Fixed(PhysReg::r(4))), (1, Constraint::Fixed(PhysReg::r(4)))],
                    &clobbers,
                );
                let u = self.wide(2, 2);
                let d = self.b.inst1(op, RegClass::R, 1, &[u]);
                self.assign(d);
            }
            _ => {
                let lanes = [self.var(), Lane::UNDEF, self.var(), self.var()];
                let w = self.b.lanes(&lanes, 4);
                let op = self.b.op("STS.128");
                self.b.inst(
                    op,
                    &[],
                    &[Operand::imm(64).with_flags(OperandFlags::ADDR.with(OperandFlags::ADDR_START)), w],
                );
            }
        }
    }
}

/// A random program.
pub fn program(s: Shape) -> Function {
    let mut g = Gen { b: FunctionBuilder::new("random"), r: Rng::new(s.seed), vars: Vec::new(), preds: Vec::new() };
    let entry = g.b.block("entry");
    g.b.switch_to(entry);
    let blocks: Vec<_> = (0..s.blocks).map(|k| g.b.block(&format!("b{k}"))).collect();
    for k in 0..s.vars {
        let op = g.b.op("LDG.E");
        let a = Operand::imm(64 + k as u32 * 4).with_flags(OperandFlags::ADDR.with(OperandFlags::ADDR_START));
        let d = g.b.inst1(op, RegClass::R, 1, &[a]);
        g.vars.push(Lane(d.first));
    }
    for _ in 0..s.preds {
        let op = g.b.op("ISETP.LT");
        let (x, y) = (g.operand(), g.operand());
        let d = g.b.inst1(op, RegClass::P, 1, &[x, y]);
        g.preds.push(Lane(d.first));
    }
    let pass = |g: &mut Gen| -> Vec<Lane> {
        let mut out: Vec<Lane> = g.vars.iter().chain(&g.preds).copied().collect();
        for l in &mut out {
            if g.r.chance(2) {
                *l = Lane::UNDEF;
            }
        }
        out
    };
    let args = pass(&mut g);
    g.b.jump(blocks[0], &args);
    for k in 0..s.blocks {
        let b = blocks[k];
        g.vars = (0..s.vars).map(|_| Lane(g.b.param(b, RegClass::R, 1).first)).collect();
        g.preds = (0..s.preds).map(|_| Lane(g.b.param(b, RegClass::P, 1).first)).collect();
        g.b.switch_to(b);
        for _ in 0..g.r.below(s.insts) {
            g.inst(s.fancy);
        }
        if k + 1 == s.blocks {
            g.b.exit();
            continue;
        }
        let (a, c) = (pass(&mut g), pass(&mut g));
        match g.pred().filter(|_| g.r.chance(70)) {
            Some(p) => {
                // One way forward, the other anywhere: loops, irreducible ones, and self loops come up by themselves.
                let other = blocks[g.r.below(s.blocks)];
                g.b.branch(Operand::value(p), (blocks[k + 1], &a), (other, &c));
            }
            None => g.b.jump(blocks[k + 1], &a),
        }
    }
    g.b.finish().expect("the program is valid by construction")
}

/// Runs an allocation beside its input for a while: loops of random programs seldom end.
pub fn differs(alloc: &AllocatedFunction<'_>, seed: u64) -> Result<Comparison, Mismatch> {
    let options = InterpOptions { fuel: 1500, ..InterpOptions::for_seed(seed) };
    let input = interpret(alloc.func, &options);
    let fuel = if matches!(input.stop, Stop::UndefinedControl(_)) { input.executed } else { options.fuel };
    compare(&input, &interpret_allocated(alloc, &InterpOptions { fuel, ..options }))
}
