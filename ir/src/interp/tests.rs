//! Tests of both machines; here what several of them build on.

use super::*;
use crate::assigned::{Edit, EditPoint, Loc, Side, SlotSpace};
use crate::builder::{Def, FunctionBuilder};
use crate::class::{PhysReg, RegClass};
use crate::entity::EntityId;
use crate::function::{Block, Value};
use crate::op::{Constraint, Space};
use crate::operand::{Lane, Operand, OperandFlags};

mod calls;
mod places;
mod undefined;
mod values;
mod warp;

const R: RegClass = RegClass::R;
const P: RegClass = RegClass::P;

fn v(d: Def) -> Operand {
    Operand::value(d.first)
}
fn lane(d: Def) -> Lane {
    Lane(d.first)
}
fn addr(o: Operand) -> Operand {
    o.with_flags(OperandFlags::ADDR.with(OperandFlags::ADDR_START))
}
fn offset(bytes: u32) -> Operand {
    Operand::imm(bytes).with_flags(OperandFlags::ADDR)
}
fn reg(n: u16) -> Loc {
    Loc::reg(PhysReg::r(n))
}

/// Builder with one-line instructions.
struct B(FunctionBuilder);

impl B {
    fn new() -> Self {
        Self(FunctionBuilder::new("k"))
    }
    fn one(&mut self, op: &str, class: RegClass, uses: &[Operand]) -> Def {
        let op = self.0.op(op);
        self.0.inst1(op, class, 1, uses)
    }
    fn none(&mut self, op: &str, uses: &[Operand]) {
        let op = self.0.op(op);
        self.0.inst(op, &[], uses);
    }
    fn block(&mut self, name: &str) -> Block {
        self.0.block(name)
    }
    fn done(self) -> Function {
        self.0.finish().expect("a function")
    }
}

/// A counted loop with a load, a float operation and a store at the end:
/// values 0 base, 1 n, 2 zero, 3 seed, 4 i, 5 acc (parameters), 6 x, 7 acc2, 8 i2, 9 p.
fn sum_loop() -> Function {
    let mut b = B::new();
    let (entry, head, exit) = (b.block("entry"), b.block("head"), b.block("exit"));
    b.0.switch_to(entry);
    let base = b.one("MOV", R, &[Operand::constant(0, 0x160)]);
    let n = b.one("LOP.AND", R, &[Operand::constant(0, 0x168), Operand::imm(7)]);
    let zero = b.one("MOV", R, &[Operand::imm(0)]);
    let tid = b.0.special("SR_TID.X");
    let start = b.one("S2R", R, &[tid]);
    b.0.jump(head, &[lane(zero), lane(start)]);
    let i = b.0.param(head, R, 1);
    let acc = b.0.param(head, R, 1);
    b.0.switch_to(head);
    let x = b.one("LDG.E", R, &[addr(v(base)), v(i).with_flags(OperandFlags::ADDR), offset(16)]);
    let acc2 = b.one("FFMA", R, &[v(x), v(acc), v(acc)]);
    let i2 = b.one("IADD", R, &[v(i), Operand::imm(1)]);
    let p = b.one("ISETP.LT", P, &[v(i2), v(n)]);
    b.0.branch(v(p), (head, &[lane(i2), lane(acc2)]), (exit, &[]));
    b.0.switch_to(exit);
    b.none("STG.E", &[addr(v(base)), v(acc2)]);
    b.0.exit();
    b.done()
}

/// Every value in a register of its own, parameters copied on edges through a second set of registers.
fn naive(f: &Function) -> AllocatedFunction<'_> {
    let mut a = AllocatedFunction::empty(f);
    let count = f.num_values() as u16;
    let home = |x: Value| PhysReg::new(f.class(x), 2 + x.0 as u16);
    for i in f.insts() {
        let lanes: Vec<Loc> = f
            .operands(i)
            .iter()
            .flat_map(|&o| f.lanes(o))
            .map(|l| l.value().map_or(Loc::NONE, |x| Loc::reg(home(x))))
            .collect();
        a.inst_locs_mut(i).copy_from_slice(&lanes);
    }
    for b in f.blocks() {
        for (k, p) in f.params(b).enumerate() {
            a.block_param_locs_mut(b)[k] = Loc::reg(home(p));
        }
    }
    for e in f.edges() {
        let pairs: Vec<_> = f
            .params(f.edge(e).to)
            .zip(f.edge_args(e))
            .filter_map(|(p, l)| l.value().map(|x| (home(p), home(x))))
            .collect();
        let spare = |r: PhysReg| PhysReg::new(r.class, r.num + count);
        for &(p, x) in &pairs {
            a.edge_edits.push((e, Edit::Copy { from: x, to: spare(p) }));
        }
        for &(p, _) in &pairs {
            a.edge_edits.push((e, Edit::Copy { from: spare(p), to: p }));
        }
    }
    // Arguments of calls must be where the callee finds them, and results where the caller does.
    for i in f.insts() {
        let Some(callee) = f.callee(i) else { continue };
        let entry = f.region(callee).entry;
        let defs: usize = f.defs(i).iter().map(|o| o.len()).sum();
        let args = a.inst_locs(i)[defs..].to_vec();
        let params = a.block_param_locs(entry).to_vec();
        for (k, (&from, &to)) in args.iter().zip(&params).enumerate() {
            let (from, to) = (from.as_reg().unwrap(), to.as_reg().unwrap());
            a.edits.push((EditPoint { pos: i.0, side: Side::Before }, Edit::Copy { from, to }));
            a.inst_locs_mut(i)[defs + k] = Loc::reg(to);
        }
        let ret = f.region_blocks(callee).map(|b| f.terminator(b)).find(|&t| f.sig(t).base() == "RET").unwrap();
        let results = a.inst_locs(ret).to_vec();
        for (k, &from) in results.iter().enumerate() {
            let to = a.inst_locs(i)[k].as_reg().unwrap();
            a.inst_locs_mut(i)[k] = from;
            let copy = Edit::Copy { from: from.as_reg().unwrap(), to };
            a.edits.push((EditPoint { pos: i.0, side: Side::After }, copy));
        }
    }
    a.edits.sort_by_key(|e| e.0);
    a
}

fn same(a: &AllocatedFunction<'_>) -> Summary {
    match compare_seeds(a, 0..12) {
        Ok(s) => s,
        Err((seed, m)) => panic!("seed {seed}: {}", m.describe(a.func)),
    }
}

fn differs(a: &AllocatedFunction<'_>) -> Mismatch {
    match compare_seeds(a, 0..12) {
        Ok(s) => panic!("no difference: {s:?}"),
        Err((_, m)) => {
            assert!(!m.describe(a.func).is_empty());
            m
        }
    }
}

/// The loop in six registers: i in R4, acc in R5 all the way, no copies but the first two.
fn tight(f: &Function) -> AllocatedFunction<'_> {
    let mut a = AllocatedFunction::empty(f);
    // 0 base, 1 n, 2 zero, 3 start, 4 i, 5 acc, 6 x, 7 acc2, 8 i2, 9 p.
    let home = [2, 3, 4, 5, 4, 5, 6, 5, 4, 0];
    let at = |x: Value| if x.0 == 9 { Loc::reg(PhysReg::p(0)) } else { reg(home[x.index()]) };
    for i in f.insts() {
        let lanes: Vec<Loc> = f.operands(i).iter().flat_map(|&o| f.lanes(o)).map(|l| at(l.value().unwrap())).collect();
        a.inst_locs_mut(i).copy_from_slice(&lanes);
    }
    a.block_param_locs_mut(Block(1)).copy_from_slice(&[reg(4), reg(5)]);
    a
}

/// Position of the instruction with this mnemonic.
fn find(f: &Function, mnemonic: &str) -> Inst {
    f.insts().find(|&i| &*f.sig(i).mnemonic == mnemonic).expect("it is there")
}
