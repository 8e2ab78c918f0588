//! Atomic operations and reductions.

use super::super::super::ast::{AddressBase, Inst, Operand};
use super::super::super::types::{ScalarType, Space};
use super::super::mid::*;
use super::{upper, Lower};

impl Lower<'_> {
    /// `atom`, `red`.
    pub(super) fn atomic(&mut self, inst: &Inst) -> bool {
        let op = &inst.op;
        if op.has("async") {
            return false;
        }
        let Some(ty) = op.ty() else { return false };
        let at = usize::from(op.opcode() == "atom");
        let (base, offset) = match inst.operands.get(at) {
            Some(Operand::Address { base, offset }) => (*base, *offset),
            Some(Operand::Symbol { symbol, offset }) => (AddressBase::Symbol(*symbol), *offset),
            _ => return false,
        };
        let space = op.space();
        let red = op.opcode() == "red";
        let name = match (space, red) {
            (Space::Global, false) => "ATOMG.E",
            (Space::Global, true) => "REDG.E",
            (Space::Shared | Space::SharedCluster, _) => "ATOMS",
            _ => "ATOM.E",
        };
        let what: Vec<&str> = op
            .mods()
            .filter(|m| {
                let bits = ScalarType::from_name(m)
                    .is_some_and(|t| t.is_integer() && t.class() == super::super::super::types::TypeClass::Bits);
                !bits
                    && !matches!(*m, "global" | "shared" | "shared::cta" | "shared::cluster")
                    && ScalarType::from_name(m).is_none_or(|t| !matches!(t, ScalarType::U32))
            })
            .collect();
        let words = (ty.bits() * u32::from(op.lanes())).div_ceil(32);
        let size = match words {
            2 => ".64",
            4 => ".128",
            _ => "",
        };
        let name = format!("{name}{}{size}", upper(&what));
        let mut uses = self.address(base, offset, space);
        for o in inst.operands.iter().skip(at + 1) {
            let u = match o {
                Operand::Vector(_) => self.elements(o, ty),
                _ => self.source(o, Some(ty)).to_vec(),
            };
            uses.push(Opnd::run(&u));
        }
        // A reduction in shared or generic memory is the atomic operation, its result not wanted.
        if red && name.starts_with("REDG") {
            self.emit(&name, &[], uses);
            return true;
        }
        let r = self.emit_run(&name, words, uses);
        if !red {
            match &inst.operands[0] {
                Operand::Vector(v) if ty.bits() < 32 => {
                    let v = v.clone();
                    self.unpack(&v, ty.bits() * v.len() as u32, &r);
                }
                to => self.write(to, &r),
            }
        }
        true
    }
}
