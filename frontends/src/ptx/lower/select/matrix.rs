//! Matrix instructions: fragments are aligned runs.

use super::super::super::ast::{AddressBase, Inst, Operand};
use super::super::super::types::{ScalarType, Space};
use super::super::mid::*;
use super::memory::base_names;
use super::{upper, Lower};
use fatpoint_ir::RegClass;

/// Alignment of a warp-group accumulator.
const ACCUMULATOR_ALIGN: u32 = 8;
/// Units of one instruction's fragment; a `wmma` fragment is several.
const FRAGMENT: usize = 4;

impl Lower<'_> {
    /// `mma`, `wmma`, `wgmma`, `ldmatrix`, `stmatrix`, `movmatrix`.
    pub(super) fn matrix(&mut self, inst: &Inst) -> bool {
        let op = &inst.op;
        let ops = &inst.operands;
        let mods: Vec<&str> = op.mods().collect();
        match op.opcode() {
            "mma" => {
                let types = op.types();
                // D, A, B, C: the type of A names the unit.
                let name = format!("{}{}", unit(types.get(1).copied()), shape(&mods, types));
                let uses: Vec<Opnd> = (1..ops.len()).map(|k| self.fragment(&ops[k])).collect();
                let n = self.width(&ops[0]) as u32;
                let r = self.emit_run(&name, n, uses);
                self.write(&ops[0], &r);
                true
            }
            "wmma" => self.wmma(inst, &mods),
            "wgmma" => self.wgmma(inst, &mods),
            "ldmatrix" => {
                let Operand::Address { base, offset } = ops[1] else { return false };
                let n = self.width(&ops[0]) as u32;
                let shown: Vec<&str> = mods
                    .iter()
                    .copied()
                    .filter(|m| !matches!(*m, "sync" | "aligned" | "shared" | "shared::cta"))
                    .collect();
                let a = self.address(base, offset, Space::Shared);
                let r = self.emit_run(&format!("LDSM{}", upper(&shown)), n, a);
                self.write(&ops[0], &r);
                true
            }
            "stmatrix" => {
                let Operand::Address { base, offset } = ops[0] else { return false };
                let shown: Vec<&str> = mods
                    .iter()
                    .copied()
                    .filter(|m| !matches!(*m, "sync" | "aligned" | "shared" | "shared::cta"))
                    .collect();
                let mut uses = self.address(base, offset, Space::Shared);
                uses.push(self.fragment(&ops[1]));
                self.emit(&format!("STSM{}", upper(&shown)), &[], uses);
                true
            }
            "movmatrix" => {
                let s = self.one(&ops[1], None);
                let r = self.emit1("MOVM.16.MT88", vec![Opnd::unit(s)]);
                self.write(&ops[0], &[r]);
                true
            }
            _ => false,
        }
    }

    fn fragment(&mut self, o: &Operand) -> Opnd {
        let u = self.source(o, Some(ScalarType::B32));
        Opnd::run(&u)
    }

    /// The runs of a fragment of several instructions.
    fn fragments(&mut self, o: &Operand) -> Vec<Opnd> {
        let u = self.source(o, Some(ScalarType::B32));
        u.chunks(FRAGMENT).map(Opnd::run).collect()
    }

    fn wmma(&mut self, inst: &Inst, mods: &[&str]) -> bool {
        let ops = &inst.operands;
        let space = inst.op.space();
        let shown: Vec<&str> = mods
            .iter()
            .copied()
            .filter(|m| !matches!(*m, "sync" | "aligned" | "global" | "shared" | "shared::cta"))
            .collect();
        let spans = |n: usize| -> Vec<(RegClass, u32)> {
            let mut left = n;
            let mut out = Vec::new();
            while left > 0 {
                let k = left.min(FRAGMENT);
                out.push((RegClass::R, k as u32));
                left -= k;
            }
            out
        };
        let place = |o: &Operand| match o {
            Operand::Address { base, offset } => Some((*base, *offset)),
            Operand::Symbol { symbol, offset } => Some((AddressBase::Symbol(*symbol), *offset)),
            _ => None,
        };
        let (load, store) = base_names(space);
        if inst.op.has("load") {
            let Some((base, offset)) = place(&ops[1]) else { return false };
            let mut uses = self.address(base, offset, space);
            uses.extend(ops.iter().skip(2).map(|o| Opnd::unit(self.one(o, Some(ScalarType::B32)))));
            let n = self.width(&ops[0]);
            let made = self.emit(&format!("{load}.WMMA{}", upper(&shown)), &spans(n), uses);
            let units: Units = (0..n).map(|k| Src::Val(Val(made[k / FRAGMENT].0 + (k % FRAGMENT) as u32))).collect();
            self.write(&ops[0], &units);
            return true;
        }
        if inst.op.has("store") {
            let Some((base, offset)) = place(&ops[0]) else { return false };
            let mut uses = self.address(base, offset, space);
            uses.extend(self.fragments(&ops[1]));
            uses.extend(ops.iter().skip(2).map(|o| Opnd::unit(self.one(o, Some(ScalarType::B32)))));
            self.emit(&format!("{store}.WMMA{}", upper(&shown)), &[], uses);
            return true;
        }
        let uses: Vec<Opnd> = ops[1..].iter().flat_map(|o| self.fragments(o)).collect();
        let n = self.width(&ops[0]);
        let base = unit(inst.op.types().get(1).copied().or(inst.op.ty()));
        let made = self.emit(&format!("{base}.WMMA{}", upper(&shown)), &spans(n), uses);
        let units: Units = (0..n).map(|k| Src::Val(Val(made[k / FRAGMENT].0 + (k % FRAGMENT) as u32))).collect();
        self.write(&ops[0], &units);
        true
    }

    fn wgmma(&mut self, inst: &Inst, mods: &[&str]) -> bool {
        let ops = &inst.operands;
        if inst.op.has("fence") {
            self.emit("WGFENCE", &[], vec![]);
            return true;
        }
        if inst.op.has("commit_group") {
            self.emit("WGCOMMIT", &[], vec![]);
            return true;
        }
        if inst.op.has("wait_group") {
            let n = match self.one(&ops[0], Some(ScalarType::B32)) {
                Src::Imm(n) => n,
                _ => 0,
            };
            self.emit(&format!("WGWAIT.{n}"), &[], vec![]);
            return true;
        }
        if !inst.op.has("mma_async") {
            return false;
        }
        let shown: Vec<&str> =
            mods.iter().copied().filter(|m| !matches!(*m, "mma_async" | "sync" | "aligned" | "sp")).collect();
        let sparse = if inst.op.has("sp") { ".SP" } else { "" };
        let base = match inst.op.types().get(1) {
            Some(t) if t.bits() == 8 && t.is_float() => "QGMMA",
            Some(t) if t.is_integer() && t.bits() == 1 => "BGMMA",
            Some(t) if t.is_integer() => "IGMMA",
            _ => "HGMMA",
        };
        let old = self.source(&ops[0], Some(ScalarType::B32));
        let n = old.len() as u32;
        let mut uses = Vec::new();
        let mut acc = Opnd::new(Kind::Lanes {
            lanes: old,
            align: ACCUMULATOR_ALIGN.min(n.next_power_of_two()),
            class: RegClass::R,
        });
        (acc.tied, acc.in_flight) = (Some(0), true);
        uses.push(acc);
        for (k, o) in ops.iter().enumerate().skip(1) {
            let pred = matches!(o, Operand::Reg(r) if self.f.reg(*r).is_pred()) || matches!(o, Operand::NotPred(_));
            if pred {
                uses.push(self.pred_operand(o));
                continue;
            }
            // Fragments of A are read while the operation runs; descriptors when it starts.
            let fragment = k == 1 && matches!(o, Operand::Vector(_));
            let u = self.source(o, Some(if matches!(o, Operand::Reg(_)) { ScalarType::B64 } else { ScalarType::B32 }));
            let mut x = if u.iter().all(|s| matches!(s, Src::Imm(_))) && !fragment {
                Opnd::literal(imm64(&u).unwrap_or(0))
            } else {
                Opnd::run(&u)
            };
            x.in_flight = fragment;
            uses.push(x);
        }
        let made = self.emit(&format!("{base}{}{sparse}", upper(&shown)), &[(RegClass::R, n)], uses);
        let id = self.insts.len() - 1;
        let d = &mut self.insts[id].defs[0];
        (d.align, d.in_flight) = (ACCUMULATOR_ALIGN.min(n.next_power_of_two()), true);
        let units: Units = (0..n).map(|k| Src::Val(Val(made[0].0 + k))).collect();
        self.write(&ops[0], &units);
        true
    }
}

/// The matrix unit for sources of a type.
fn unit(t: Option<ScalarType>) -> &'static str {
    match t {
        Some(ScalarType::F64) => "DMMA",
        Some(t) if t.is_float() && t.bits() <= 8 => "QMMA",
        Some(t) if t.is_integer() && t.bits() == 1 => "BMMA",
        Some(t) if t.is_integer() && t.bits() <= 8 => "IMMA",
        _ => "HMMA",
    }
}

/// Shape and types as the machine writes them: `m16n8k16` is `.16816`.
fn shape(mods: &[&str], types: &[ScalarType]) -> String {
    let size = mods.iter().find(|m| m.starts_with('m') && m.contains('n') && m.contains('k'));
    let digits: String = size.map_or(String::new(), |m| m.chars().filter(char::is_ascii_digit).collect());
    let rest: Vec<&str> = mods
        .iter()
        .copied()
        .filter(|m| {
            !matches!(*m, "sync" | "aligned" | "row" | "col")
                && Some(m) != size.as_ref().map(|s| *s as &str).as_ref()
                && ScalarType::from_name(m).is_none()
        })
        .collect();
    let types: Vec<&str> = types.iter().map(|t| t.name()).collect();
    format!(".{digits}{}{}", upper(&types), upper(&rest))
}
