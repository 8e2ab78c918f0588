//! Integer arithmetic of 16, 32 and 64 bits, with carry, with 24 bits, division.

use super::super::super::ast::Inst;
use super::super::super::types::ScalarType;
use super::super::mid::*;
use super::wide::{halves, halves2};
use super::{upper, Lower};
use fatpoint_ir::RegClass;

/// Units that the expansions of division work in, measured on real code: `docs/ptx-selection.md`.
const SCRATCH_DIV32: u32 = 4;
const SCRATCH_DIV64: u32 = 14;
/// Division by a constant is a high product and a shift.
const SCRATCH_DIV_CONST: u32 = 2;

impl Lower<'_> {
    /// Everything that adds, multiplies or divides.
    pub(super) fn arithmetic(&mut self, inst: &Inst) -> bool {
        let Some(ty) = inst.op.ty() else { return false };
        let int = matches!(ty.bits(), 8 | 16 | 32 | 64) && ty.is_integer() && inst.op.types().len() == 1;
        let packed = ty.name().contains('x') || ty.name().ends_with("x4");
        if ty.is_float() || inst.op.types().len() > 1 || packed {
            return self.float(inst, ty);
        }
        if !int {
            return false;
        }
        match inst.op.opcode() {
            "mul24" | "mad24" => self.product24(inst, ty),
            "sad" => {
                let n = inst.operands.len();
                let u: Vec<Opnd> = (1..n).map(|k| Opnd::run(&self.source(&inst.operands[k], Some(ty)))).collect();
                let name = format!("SAD{}", upper(&[ty.name()]));
                let r = self.emit_run(&name, ty.bits().div_ceil(32), u);
                self.write(&inst.operands[0], &r);
                true
            }
            "copysign" => false,
            _ if inst.op.has("sat") => self.saturated(inst, ty),
            _ => match ty.bits() {
                64 => self.int64(inst, ty),
                32 => self.int32(inst, ty),
                _ => self.int16(inst, ty),
            },
        }
    }

    /// `a + b`, constants folded.
    pub(super) fn add32(&mut self, a: Src, b: Src) -> Src {
        match (a, b) {
            (Src::Imm(x), Src::Imm(y)) => Src::Imm(x.wrapping_add(y)),
            (s, Src::Imm(0)) | (Src::Imm(0), s) => s,
            _ => {
                let (a, b) = if a.is_constant() { (b, a) } else { (a, b) };
                self.emit1("IADD", vec![Opnd::unit(a), Opnd::unit(b)])
            }
        }
    }

    /// The product that nothing was added to yet and the shift that defines a unit, as `(a, b)` of `a · b`.
    fn product32(&self, s: Src) -> Option<(Src, Src)> {
        let (inst, _) = self.def_of(s)?;
        let unit = |k: usize| inst.uses.get(k).and_then(Self::plain_unit);
        match self.name(inst) {
            "IMAD" if unit(2) == Some(Src::ZERO) => Some((unit(0)?, unit(1)?)),
            _ => None,
        }
    }

    fn int32(&mut self, inst: &Inst, ty: ScalarType) -> bool {
        let ops = &inst.operands;
        let signed = ty.is_signed();
        let s: Vec<Src> = (1..ops.len()).map(|k| self.one(&ops[k], Some(ty))).collect();
        let cc = inst.op.has("cc");
        let high = inst.op.has("hi");
        let sign = if signed { "" } else { ".U32" };
        let opcode = inst.op.opcode();
        let value = match (opcode, &s[..]) {
            ("add", &[a, b]) if !cc => {
                // A product that one of them is takes the other in.
                match (self.product32(a), self.product32(b)) {
                    (Some((x, y)), _) if !matches!(b, Src::Imm(_)) => {
                        self.emit1("IMAD", vec![Opnd::unit(x), Opnd::unit(y), Opnd::unit(b)])
                    }
                    (_, Some((x, y))) if !matches!(a, Src::Imm(_)) => {
                        self.emit1("IMAD", vec![Opnd::unit(x), Opnd::unit(y), Opnd::unit(a)])
                    }
                    _ => self.add32(a, b),
                }
            }
            ("sub", &[a, b]) if !cc => match b {
                Src::Imm(x) => self.add32(a, Src::Imm(x.wrapping_neg())),
                _ => self.emit1("ISUB", vec![Opnd::unit(a), Opnd::unit(b)]),
            },
            ("mul", &[a, b]) if inst.op.has("wide") => {
                let r = self.mad_wide(a, b, [Src::ZERO; 2], signed);
                self.write_extended(&ops[0], &r, if signed { ScalarType::S64 } else { ScalarType::U64 });
                return true;
            }
            ("mad", &[a, b, _]) if inst.op.has("wide") => {
                let c = self.two(&ops[3], Some(if signed { ScalarType::S64 } else { ScalarType::U64 }));
                let r = self.mad_wide(a, b, c, signed);
                self.write(&ops[0], &r);
                return true;
            }
            ("mul", &[a, b]) => {
                let (a, b) = if a.is_constant() { (b, a) } else { (a, b) };
                let name = if high { format!("IMAD.HI{sign}") } else { "IMAD".into() };
                match (a, b) {
                    (Src::Imm(x), Src::Imm(y)) if !high => Src::Imm(x.wrapping_mul(y)),
                    _ => self.emit1(&name, vec![Opnd::unit(a), Opnd::unit(b), Opnd::unit(Src::ZERO)]),
                }
            }
            ("mad", &[a, b, c]) if !cc => {
                let (a, b) = if a.is_constant() { (b, a) } else { (a, b) };
                let name = if high { format!("IMAD.HI{sign}") } else { "IMAD".into() };
                self.emit1(&name, vec![Opnd::unit(a), Opnd::unit(b), Opnd::unit(c)])
            }
            ("add" | "addc" | "sub" | "subc" | "mad" | "madc", _) => {
                let half = if high { format!("HI{sign}") } else { "LO".into() };
                let carry = self.carry();
                let (r, out) = self.carried(opcode, &half, &s, carry, cc);
                self.write_carry(out);
                self.write_extended(&ops[0], &[r], ty);
                return true;
            }
            ("neg", &[a]) => match a {
                Src::Imm(x) => Src::Imm(x.wrapping_neg()),
                _ => self.emit1("INEG", vec![Opnd::unit(a)]),
            },
            ("abs", &[a]) => self.emit1("IABS", vec![Opnd::unit(a)]),
            ("min" | "max", &[a, b, ..]) => {
                let name = format!("IMNMX.{}{sign}", opcode.to_ascii_uppercase());
                let mut r = self.ordered(&name, a, b);
                if let Some(&c) = s.get(2) {
                    r = self.ordered(&name, r, c);
                }
                if inst.op.has("relu") {
                    r = self.ordered("IMNMX.MAX", r, Src::ZERO);
                }
                r
            }
            ("div" | "rem", &[a, b]) => {
                let base = if opcode == "div" { "IDIV" } else { "IREM" };
                let name = format!("{base}.{}", if signed { "S32" } else { "U32" });
                let r = self.emit1(&name, vec![Opnd::unit(a), Opnd::unit(b)]);
                self.scratch(if b.is_constant() { SCRATCH_DIV_CONST } else { SCRATCH_DIV32 });
                r
            }
            _ => return false,
        };
        self.write_extended(&ops[0], &[value], ty);
        true
    }

    /// A commutative operation of two sources.
    fn ordered(&mut self, name: &str, a: Src, b: Src) -> Src {
        let (a, b) = if a.is_constant() { (b, a) } else { (a, b) };
        self.emit1(name, vec![Opnd::unit(a), Opnd::unit(b)])
    }

    /// An operation on the carry flag: `.CC` writes it, `.X` reads it. Gives the result and the new flag.
    fn carried(&mut self, opcode: &str, half: &str, s: &[Src], carry: Src, cc: bool) -> (Src, Option<Src>) {
        let reads = matches!(opcode, "addc" | "subc" | "madc");
        let suffix = match (reads, cc) {
            (false, _) => "CC",
            (true, false) => "X",
            (true, true) => "XCC",
        };
        let base = match opcode {
            "add" | "addc" => "IADD".to_string(),
            "sub" | "subc" => "ISUB".to_string(),
            _ => format!("IMAD.{half}"),
        };
        let mut uses: Vec<Opnd> = s.iter().map(|&x| Opnd::unit(x)).collect();
        if reads {
            uses.push(Opnd::pred(carry, false));
        }
        let name = format!("{base}.{suffix}");
        if !cc && reads {
            return (self.emit1(&name, uses), None);
        }
        let v = self.emit(&name, &[(RegClass::R, 1), (RegClass::P, 1)], uses);
        (Src::Val(v[0]), Some(Src::Val(v[1])))
    }

    fn carry(&self) -> Src {
        self.state[self.vars.carry as usize]
    }

    fn write_carry(&mut self, carry: Option<Src>) {
        if let Some(s) = carry {
            self.writes.push((self.vars.carry, s));
        }
    }

    fn int64(&mut self, inst: &Inst, ty: ScalarType) -> bool {
        let ops = &inst.operands;
        let signed = ty.is_signed();
        let s: Vec<[Src; 2]> = (1..ops.len()).map(|k| self.two(&ops[k], Some(ty))).collect();
        let opcode = inst.op.opcode();
        let cc = inst.op.has("cc");
        let t = if signed { "S64" } else { "U64" };
        let value = match (opcode, &s[..]) {
            ("add" | "sub", &[a, b]) if !cc => {
                if opcode == "add" {
                    self.add64(a, b)
                } else {
                    self.sub64(a, b)
                }
            }
            ("add" | "addc" | "sub" | "subc", &[a, b]) => {
                let carry = self.carry();
                let (low, middle) = self.carried(opcode, "", &[a[0], b[0]], carry, true);
                let then = if opcode.starts_with("add") { "addc" } else { "subc" };
                let (high, out) = self.carried(then, "", &[a[1], b[1]], middle.unwrap_or(Src::ZERO), cc);
                self.write_carry(out);
                [low, high]
            }
            ("mul", &[a, b]) if inst.op.has("hi") => self.emit_halves(&format!("IMUL.HI.{t}"), halves2(a, b)),
            ("mul", &[a, b]) => self.mul64(a, b),
            ("mad", &[a, b, c]) if !cc => {
                let p = if inst.op.has("hi") {
                    self.emit_halves(&format!("IMUL.HI.{t}"), halves2(a, b))
                } else {
                    self.mul64(a, b)
                };
                self.add64(p, c)
            }
            ("neg", &[a]) => self.emit_halves("INEG.64", halves(a)),
            ("abs", &[a]) => self.emit_halves("IABS.64", halves(a)),
            ("min" | "max", &[a, b]) => {
                let name = format!("IMNMX.{}.{t}", opcode.to_ascii_uppercase());
                self.emit_halves(&name, halves2(a, b))
            }
            ("div" | "rem", &[a, b]) => {
                let base = if opcode == "div" { "IDIV" } else { "IREM" };
                let r = self.emit_halves(&format!("{base}.{t}"), halves2(a, b));
                self.scratch(SCRATCH_DIV64);
                r
            }
            _ => return false,
        };
        self.write_extended(&ops[0], &value, ty);
        true
    }

    fn int16(&mut self, inst: &Inst, ty: ScalarType) -> bool {
        let ops = &inst.operands;
        let opcode = inst.op.opcode();
        let signed = ty.is_signed();
        let s: Vec<Src> = (1..ops.len()).map(|k| self.one(&ops[k], Some(ty))).collect();
        if inst.op.has("wide") {
            let wide: Vec<Src> = s.iter().take(2).map(|&x| self.extend(x, ty.bits(), signed)).collect();
            let c = s.get(2).map_or(Src::ZERO, |_| Src::ZERO);
            let c = if opcode == "mad" { self.one(&ops[3], Some(ScalarType::B32)) } else { c };
            let r = self.emit1("IMAD", vec![Opnd::unit(wide[0]), Opnd::unit(wide[1]), Opnd::unit(c)]);
            self.write_extended(&ops[0], &[r], if signed { ScalarType::S32 } else { ScalarType::U32 });
            return true;
        }
        if ty.bits() < 16 || inst.op.has("cc") {
            return false;
        }
        let base = match opcode {
            "mul" if inst.op.has("hi") => "MULHI",
            "mad" if inst.op.has("hi") => return false,
            "add" => "ADD",
            "sub" => "SUB",
            "mul" => "MUL",
            "mad" => "MAD",
            "min" => "MIN",
            "max" => "MAX",
            "neg" => "NEG",
            "abs" => "ABS",
            "div" => "IDIV",
            "rem" => "IREM",
            _ => return false,
        };
        let name = format!("{base}.{}", if signed { "S16" } else { "U16" });
        let uses = s.iter().map(|&x| Opnd::unit(x)).collect();
        let r = self.emit1(&name, uses);
        if matches!(opcode, "div" | "rem") {
            self.scratch(SCRATCH_DIV32);
        }
        self.write_extended(&ops[0], &[r], ty);
        true
    }

    /// Saturated sums: a sum, and the bounds where it overflowed; kept as one operation.
    fn saturated(&mut self, inst: &Inst, ty: ScalarType) -> bool {
        let ops = &inst.operands;
        let uses: Vec<Opnd> = (1..ops.len()).map(|k| Opnd::run(&self.source(&ops[k], Some(ty)))).collect();
        let mut name = match inst.op.opcode() {
            "add" => "IADD".to_string(),
            "sub" => "ISUB".to_string(),
            "mad" => "IMAD".to_string(),
            _ => return false,
        };
        name += if inst.op.has("hi") { ".HI.SAT" } else { ".SAT" };
        let r = self.emit_run(&name, ty.bits().div_ceil(32), uses);
        self.scratch(2);
        self.write(&ops[0], &r);
        true
    }

    fn product24(&mut self, inst: &Inst, ty: ScalarType) -> bool {
        let ops = &inst.operands;
        let uses: Vec<Opnd> = (1..ops.len()).map(|k| Opnd::unit(self.one(&ops[k], Some(ty)))).collect();
        let half = if inst.op.has("hi") { ".HI" } else { "" };
        let base = if uses.len() == 3 { "IMAD" } else { "IMUL" };
        let r = self.emit1(&format!("{base}.24{half}{}", upper(&[ty.name()])), uses);
        self.write(&ops[0], &[r]);
        true
    }
}
