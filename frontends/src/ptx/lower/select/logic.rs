//! Bits: logic, shifts, fields, permutation, comparison and selection.

use super::super::super::ast::{Inst, Operand};
use super::super::super::types::ScalarType;
use super::super::mid::*;
use super::wide::{halves, halves2};
use super::{upper, Lower};
use fatpoint_ir::RegClass;

impl Lower<'_> {
    /// `and`, `or`, `xor`, `not`, `cnot`, `lop3`.
    pub(super) fn logical(&mut self, inst: &Inst) -> bool {
        let Some(ty) = inst.op.ty() else { return false };
        let ops = &inst.operands;
        let opcode = inst.op.opcode();
        if opcode == "lop3" {
            return self.lop3(inst);
        }
        if ty == ScalarType::Pred {
            let value = match opcode {
                "not" => {
                    let s = self.one(&ops[1], Some(ty));
                    self.pred_not(s)
                }
                "and" | "or" | "xor" => {
                    let (a, b) = (self.pred_operand(&ops[1]), self.pred_operand(&ops[2]));
                    self.emit_pred(&format!("PLOP.{}", opcode.to_ascii_uppercase()), vec![a, b])
                }
                _ => return false,
            };
            self.write(&ops[0], &[value]);
            return true;
        }
        let a = self.source(&ops[1], Some(ty));
        if opcode == "cnot" {
            let p = match a[..] {
                [lo, hi] => self.emit_pred("ISETP.EQ.U64", halves2([lo, hi], [Src::ZERO; 2])),
                _ => {
                    let lo = self.extend(a[0], ty.bits(), false);
                    self.emit_pred("ISETP.EQ.U32", vec![Opnd::unit(lo), Opnd::unit(Src::ZERO)])
                }
            };
            let one = self.sel(Src::Imm(1), Src::ZERO, p, false);
            let mut r: Units = [one].as_slice().into();
            r.resize(a.len(), Src::ZERO);
            self.write(&ops[0], &r);
            return true;
        }
        let b: Units = match opcode {
            "not" => a.iter().map(|_| Src::Imm(u32::MAX)).collect(),
            _ => self.source(&ops[2], Some(ty)),
        };
        let name = if opcode == "not" { "xor" } else { opcode };
        let r: Units = (0..a.len()).map(|k| self.bitwise(name, a[k], b.get(k).copied().unwrap_or(Src::ZERO))).collect();
        self.write_extended(&ops[0], &r, ty);
        true
    }

    /// One unit of a bitwise operation.
    pub(super) fn bitwise(&mut self, name: &str, a: Src, b: Src) -> Src {
        let (a, b) = if a.is_constant() { (b, a) } else { (a, b) };
        match (name, a, b) {
            (_, Src::Imm(x), Src::Imm(y)) => Src::Imm(match name {
                "and" => x & y,
                "or" => x | y,
                _ => x ^ y,
            }),
            ("and", _, Src::Imm(0)) => Src::ZERO,
            ("and", _, Src::Imm(u32::MAX)) | ("or" | "xor", _, Src::Imm(0)) => a,
            ("or", _, Src::Imm(u32::MAX)) => b,
            _ => self.emit1(&format!("LOP.{}", name.to_ascii_uppercase()), vec![Opnd::unit(a), Opnd::unit(b)]),
        }
    }

    fn lop3(&mut self, inst: &Inst) -> bool {
        let ops = &inst.operands;
        if ops.len() < 5 {
            return false;
        }
        let s: Vec<Src> = (1..4).map(|k| self.one(&ops[k], Some(ScalarType::B32))).collect();
        let table = self.one(&ops[4], Some(ScalarType::B32));
        let Src::Imm(table) = table else { return false };
        let mut uses: Vec<Opnd> = s.iter().map(|&x| Opnd::unit(x)).collect();
        uses.push(Opnd::literal(u64::from(table)));
        let value = self.emit1("LOP3.LUT", uses);
        if let (Operand::Pair(pair), Some(c)) = (&ops[0], ops.get(5)) {
            // The second destination is whether any bit is set, combined with a predicate.
            let name = ["and", "or", "xor"].iter().find(|m| inst.op.has(m)).unwrap_or(&"or");
            let c = self.pred_operand(c);
            let p = self.emit_pred("ISETP.NE.U32", vec![Opnd::unit(value), Opnd::unit(Src::ZERO)]);
            let q = self.emit_pred(&format!("PLOP.{}", name.to_ascii_uppercase()), vec![Opnd::pred(p, false), c]);
            self.write(&pair[1], &[q]);
        }
        self.write(&ops[0], &[value]);
        true
    }

    /// `shl`, `shr`, `shf`.
    pub(super) fn shift(&mut self, inst: &Inst) -> bool {
        let Some(ty) = inst.op.ty() else { return false };
        let ops = &inst.operands;
        let opcode = inst.op.opcode();
        if opcode == "shf" {
            let (a, b) = (self.one(&ops[1], Some(ty)), self.one(&ops[2], Some(ty)));
            let n = self.one(&ops[3], Some(ScalarType::U32));
            let side = if inst.op.has("l") { "L" } else { "R" };
            let wrap = if inst.op.has("wrap") { ".W" } else { "" };
            let r = self.emit1(&format!("SHF.{side}{wrap}"), vec![Opnd::unit(a), Opnd::unit(n), Opnd::unit(b)]);
            self.write(&ops[0], &[r]);
            return true;
        }
        let n = self.one(&ops[2], Some(ScalarType::U32));
        let signed = ty.is_signed();
        match ty.bits() {
            64 => {
                let a = self.two(&ops[1], Some(ty));
                let r = if opcode == "shl" { self.shl64(a, n) } else { self.shr64(a, n, signed) };
                self.write_extended(&ops[0], &r, ty);
            }
            32 => {
                let a = self.one(&ops[1], Some(ty));
                let r = match (opcode, a, n) {
                    ("shl", _, Src::Imm(n)) => self.shl32(a, n),
                    ("shl", ..) => self.emit1("SHL", vec![Opnd::unit(a), Opnd::unit(n)]),
                    (_, _, Src::Imm(0)) => a,
                    (_, _, Src::Imm(n)) => {
                        let name = if signed { "SHR.S32" } else { "SHR.U32" };
                        self.emit1(name, vec![Opnd::unit(a), Opnd::literal(u64::from(n))])
                    }
                    _ => {
                        let name = if signed { "SHR.S32" } else { "SHR.U32" };
                        self.emit1(name, vec![Opnd::unit(a), Opnd::unit(n)])
                    }
                };
                self.write_extended(&ops[0], &[r], ty);
            }
            16 => {
                let a = self.one(&ops[1], Some(ty));
                let name = format!("{}.{}", opcode.to_ascii_uppercase(), if signed { "S16" } else { "U16" });
                let r = self.emit1(&name, vec![Opnd::unit(a), Opnd::unit(n)]);
                self.write_extended(&ops[0], &[r], ty);
            }
            _ => return false,
        }
        true
    }

    /// Fields, counts and permutation.
    pub(super) fn bits(&mut self, inst: &Inst) -> bool {
        let Some(ty) = inst.op.ty() else { return false };
        let ops = &inst.operands;
        let b32 = Some(ScalarType::B32);
        let wide = ty.bits() == 64;
        let long = if wide { ".64" } else { "" };
        let sign = match (ty.is_signed(), wide) {
            (true, false) => "S32",
            (false, false) => "U32",
            (true, true) => "S64",
            (false, true) => "U64",
        };
        let words = |this: &mut Self, k: usize| -> Vec<Opnd> {
            if wide {
                halves(this.two(&ops[k], Some(ty)))
            } else {
                vec![Opnd::unit(this.one(&ops[k], Some(ty)))]
            }
        };
        let (name, uses, two): (String, Vec<Opnd>, bool) = match inst.op.opcode() {
            "bfe" => {
                let mut u = words(self, 1);
                u.extend([2, 3].map(|k| Opnd::unit(self.one(&ops[k], b32))));
                (format!("BFE.{sign}"), u, wide)
            }
            "bfi" => {
                let mut u = words(self, 1);
                u.extend(words(self, 2));
                u.extend([3, 4].map(|k| Opnd::unit(self.one(&ops[k], b32))));
                (format!("BFI{long}"), u, wide)
            }
            "bfind" => {
                let shift = if inst.op.has("shiftamt") { ".SH" } else { "" };
                (format!("FLO.{sign}{shift}"), words(self, 1), false)
            }
            "brev" => (format!("BREV{long}"), words(self, 1), wide),
            "popc" => (format!("POPC{long}"), words(self, 1), false),
            "clz" => (format!("CLZ{long}"), words(self, 1), false),
            "prmt" => {
                let mode = ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"].iter().find(|m| inst.op.has(m));
                let u = (1..4).map(|k| Opnd::unit(self.one(&ops[k], b32))).collect();
                (format!("PRMT{}", mode.map_or(String::new(), |m| upper(&[m]))), u, false)
            }
            "bmsk" | "szext" | "fns" => {
                let u = (1..ops.len()).map(|k| Opnd::unit(self.one(&ops[k], b32))).collect();
                let base = match inst.op.opcode() {
                    "bmsk" => "BMSK",
                    "szext" => "SGXT",
                    _ => "FNS",
                };
                let mods: Vec<&str> = inst.op.mods().collect();
                (format!("{base}{}", upper(&mods)), u, false)
            }
            _ => return false,
        };
        if two {
            let r = self.emit_halves(&name, uses);
            self.write(&ops[0], &r);
        } else {
            let r = self.emit1(&name, uses);
            self.write(&ops[0], &[r]);
        }
        true
    }

    /// `selp`, `slct`.
    pub(super) fn selection(&mut self, inst: &Inst) -> bool {
        let Some(&ty) = inst.op.types().first() else { return false };
        let ops = &inst.operands;
        let (a, b) = (self.source(&ops[1], Some(ty)), self.source(&ops[2], Some(ty)));
        let (p, negated) = match (inst.op.opcode(), &ops[3]) {
            ("selp", Operand::NotPred(r)) => (self.reg(*r)[0], true),
            ("selp", o) => (self.one(o, Some(ScalarType::Pred)), false),
            (_, o) => {
                let c = self.one(o, inst.op.ty());
                let name = if inst.op.ty() == Some(ScalarType::F32) { "FSETP.GE" } else { "ISETP.GE" };
                (self.emit_pred(name, vec![Opnd::unit(c), Opnd::unit(Src::ZERO)]), false)
            }
        };
        let r: Units = a.iter().zip(&b).map(|(&x, &y)| self.sel(x, y, p, negated)).collect();
        self.write(&ops[0], &r);
        true
    }

    /// `setp`, `set`.
    pub(super) fn comparison(&mut self, inst: &Inst) -> bool {
        let Some(ty) = inst.op.ty() else { return false };
        let ops = &inst.operands;
        let mods: Vec<&str> = inst.op.mods().collect();
        let Some(&cc) = mods.first() else { return false };
        let (cc, unsigned) = match cc {
            "lo" => ("lt", true),
            "ls" => ("le", true),
            "hi" => ("gt", true),
            "hs" => ("ge", true),
            other => (other, false),
        };
        let combine = ["and", "or", "xor"].iter().find(|m| mods.contains(m));
        let signed = ty.is_signed() && !unsigned;
        let ftz = if inst.op.has("ftz") { ".FTZ" } else { "" };
        let mut name = String::new();
        let mut uses = match ty {
            ScalarType::F32 => {
                name += &format!("FSETP.{}{ftz}", cc.to_ascii_uppercase());
                let (a, b) = (self.one(&ops[1], Some(ty)), self.one(&ops[2], Some(ty)));
                vec![self.float32(a, false), self.float32(b, false)]
            }
            ScalarType::F64 => {
                name += &format!("DSETP.{}", cc.to_ascii_uppercase());
                let (a, b) = (self.two(&ops[1], Some(ty)), self.two(&ops[2], Some(ty)));
                vec![self.float64(a, false), self.float64(b, false)]
            }
            _ if ty.is_float() => {
                name += &format!("HSETP2.{}{ftz}{}", cc.to_ascii_uppercase(), upper(&[ty.name()]));
                (1..3).map(|k| Opnd::unit(self.one(&ops[k], Some(ty)))).collect()
            }
            _ if ty.bits() == 64 => {
                name += &format!("ISETP.{}.{}", cc.to_ascii_uppercase(), if signed { "S64" } else { "U64" });
                let (a, b) = (self.two(&ops[1], Some(ty)), self.two(&ops[2], Some(ty)));
                halves2(a, b)
            }
            _ => {
                name += &format!("ISETP.{}{}", cc.to_ascii_uppercase(), if signed { "" } else { ".U32" });
                (1..3)
                    .map(|k| {
                        let s = self.one(&ops[k], Some(ty));
                        Opnd::unit(self.extend(s, ty.bits(), ty.is_signed()))
                    })
                    .collect()
            }
        };
        if let Some(m) = combine {
            name += &format!(".{}", m.to_ascii_uppercase());
            let Some(c) = ops.get(3) else { return false };
            uses.push(self.pred_operand(c));
        }
        if inst.op.opcode() == "set" {
            let p = self.emit_pred(&name, uses);
            let yes = match inst.op.types().first() {
                Some(ScalarType::F32) => 0x3f80_0000,
                Some(ScalarType::F16) => 0x3c00,
                Some(ScalarType::Bf16) => 0x3f80,
                Some(ScalarType::F16x2) => 0x3c00_3c00,
                Some(ScalarType::Bf16x2) => 0x3f80_3f80,
                _ => u32::MAX,
            };
            let r = self.sel(Src::Imm(yes), Src::ZERO, p, false);
            self.write(&ops[0], &[r]);
            return true;
        }
        match &ops[0] {
            Operand::Pair(pair) => {
                let v = self.emit(&name, &[(RegClass::P, 1), (RegClass::P, 1)], uses);
                self.write(&pair[0], &[Src::Val(v[0])]);
                self.write(&pair[1], &[Src::Val(v[1])]);
            }
            to => {
                let p = self.emit_pred(&name, uses);
                self.write(to, &[p]);
            }
        }
        true
    }
}
