//! Short names for making functions and allocations by hand.
#![allow(dead_code)]

use fatpoint_checker::{check, CheckErrorKind, CheckOptions, CheckReport};
use fatpoint_ir::assigned::{AllocatedFunction, Edit, EditPoint, Loc, Side, SlotSpace};
use fatpoint_ir::builder::{Def, FunctionBuilder};
use fatpoint_ir::{Block, Function, Inst, Operand, PhysReg, RegClass};

pub fn r(n: u16) -> Loc {
    Loc::reg(PhysReg::r(n))
}
pub fn p(n: u16) -> Loc {
    Loc::reg(PhysReg::p(n))
}
pub fn local(n: u32) -> Loc {
    Loc::slot(SlotSpace::Local, n)
}
pub fn shared(n: u32) -> Loc {
    Loc::slot(SlotSpace::Shared, n)
}
pub fn reg(l: Loc) -> PhysReg {
    l.as_reg().expect("a register")
}
pub fn copy(from: Loc, to: Loc) -> Edit {
    Edit::Copy { from: reg(from), to: reg(to) }
}
pub fn spill(from: Loc, to: Loc) -> Edit {
    Edit::Spill { from: reg(from), to }
}
pub fn reload(from: Loc, to: Loc) -> Edit {
    Edit::Reload { from, to: reg(to) }
}
pub fn before(pos: u32) -> EditPoint {
    EditPoint { pos, side: Side::Before }
}
pub fn after(pos: u32) -> EditPoint {
    EditPoint { pos, side: Side::After }
}
pub fn use_of(d: Def) -> Operand {
    Operand::run(d.first, d.len, d.align)
}

/// A named value made by `mnemonic`.
pub fn def(b: &mut FunctionBuilder, name: &str, mnemonic: &str, class: RegClass, len: usize, uses: &[Operand]) -> Def {
    let op = b.op(mnemonic);
    let d = b.inst1(op, class, len, uses);
    b.set_name(d, name);
    d
}
/// `%name = MOV imm`.
pub fn mov(b: &mut FunctionBuilder, name: &str) -> Def {
    def(b, name, "MOV", RegClass::R, 1, &[Operand::imm(1)])
}
/// `STG uses`: something that reads.
pub fn store(b: &mut FunctionBuilder, uses: &[Operand]) {
    let op = b.op("STG");
    b.inst(op, &[], uses);
}

/// Sets the locations of the lanes of an instruction.
pub fn at(a: &mut AllocatedFunction<'_>, i: u32, locs: &[Loc]) {
    a.inst_locs_mut(Inst(i)).copy_from_slice(locs);
}
/// Sets the locations of the parameters of a block.
pub fn params_at(a: &mut AllocatedFunction<'_>, b: Block, locs: &[Loc]) {
    a.block_param_locs_mut(b).copy_from_slice(locs);
}
/// The block with a name.
pub fn block(f: &Function, name: &str) -> Block {
    f.blocks().find(|&b| f.block_name(b) == name).expect("the block is there")
}

/// The report of an allocation that must be right.
#[track_caller]
pub fn right(a: &AllocatedFunction<'_>) -> CheckReport {
    right_with(a, &CheckOptions::default())
}
#[track_caller]
pub fn right_with(a: &AllocatedFunction<'_>, opts: &CheckOptions) -> CheckReport {
    match check(a, opts) {
        Ok(r) => r,
        Err(e) => panic!("refused: {}", e.iter().map(|e| e.to_string()).collect::<Vec<_>>().join("\n")),
    }
}
/// The message of an allocation whose only faults are of one kind.
#[track_caller]
pub fn wrong(a: &AllocatedFunction<'_>, kind: CheckErrorKind) -> String {
    wrong_with(a, kind, &CheckOptions::default())
}
#[track_caller]
pub fn wrong_with(a: &AllocatedFunction<'_>, kind: CheckErrorKind, opts: &CheckOptions) -> String {
    let errors = check(a, opts).expect_err("accepted");
    assert!(errors.iter().all(|e| e.kind == kind), "{errors:#?}");
    errors[0].to_string()
}
/// `a` after `change`.
pub fn with<'f>(a: &AllocatedFunction<'f>, change: impl FnOnce(&mut AllocatedFunction<'f>)) -> AllocatedFunction<'f> {
    let mut b = a.clone();
    change(&mut b);
    b
}
