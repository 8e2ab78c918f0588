//! Floating point: one operation each; what takes several instructions in a real program takes their scratch units.

use super::super::super::ast::Inst;
use super::super::super::types::ScalarType;
use super::super::mid::*;
use super::{upper, Lower};

/// Units that expansions work in, measured on real code: `docs/ptx-selection.md`.
const SCRATCH_DIV_F64: u32 = 14;
const SCRATCH_ROOT_F64: u32 = 12;
const SCRATCH_DIV_F32: u32 = 7;
const SCRATCH_ROOT_F32: u32 = 4;

impl Lower<'_> {
    /// Sums, products, extremes, quotients of floats and of packed numbers.
    pub(super) fn float(&mut self, inst: &Inst, ty: ScalarType) -> bool {
        let ops = &inst.operands;
        let opcode = inst.op.opcode();
        let mixed = inst.op.types().len() > 1;
        if matches!(opcode, "neg" | "abs" | "copysign") && !inst.op.has("ftz") && !mixed {
            return self.sign(inst, ty);
        }
        if !matches!(opcode, "add" | "sub" | "mul" | "fma" | "mad" | "min" | "max" | "div" | "neg" | "abs") {
            return false;
        }
        let mods: Vec<&str> =
            inst.op.mods().filter(|m| ScalarType::from_name(m).is_none() && !matches!(*m, "rn" | "lo")).collect();
        let half = ty.is_float() && ty.bits() <= 32 && ty != ScalarType::F32;
        let letter = match ty {
            ScalarType::F64 => "D",
            _ if half => "H",
            _ if !ty.is_float() => "VI",
            _ => "F",
        };
        let base = match (opcode, letter) {
            ("min" | "max", "VI") => "VIMNMX".to_string(),
            (_, "VI") => "VIADD".to_string(),
            ("add" | "sub", _) => format!("{letter}ADD"),
            ("mul", _) => format!("{letter}MUL"),
            ("fma" | "mad", _) => format!("{letter}FMA"),
            ("min" | "max", _) => format!("{letter}MNMX"),
            ("neg", _) => format!("{letter}NEG"),
            ("abs", _) => format!("{letter}ABS"),
            _ => format!("{letter}DIV"),
        };
        let two = if (half || ty == ScalarType::F32x2) && !matches!(opcode, "div" | "neg" | "abs") { "2" } else { "" };
        let which = if matches!(opcode, "min" | "max") { upper(&[opcode]) } else { String::new() };
        let shown = match ty {
            ScalarType::F32 | ScalarType::F64 | ScalarType::F32x2 if !mixed => String::new(),
            _ if mixed => upper(&inst.op.types().iter().map(|t| t.name()).collect::<Vec<_>>()),
            _ => upper(&[ty.name()]),
        };
        let name = format!("{base}{two}{which}{shown}{}", upper(&mods));
        let mut uses = Vec::new();
        for k in 1..ops.len() {
            let negate = opcode == "sub" && k == 2;
            // In mixed forms only the first sources have the narrow type.
            let ty_k =
                if mixed && (ops.len() == 3 && k == 2 || k == 3) { inst.op.types().first().copied() } else { Some(ty) };
            let s = self.source(&ops[k], ty_k);
            let o = match (ty, s.len()) {
                (ScalarType::F64, 2) => self.float64([s[0], s[1]], negate),
                (ScalarType::F32, 1) => self.float32(s[0], negate),
                // Halves and pairs have signs of their own: a minus is part of the name.
                _ => Opnd::run(&s),
            };
            uses.push(o);
        }
        let flipped = opcode == "sub" && !matches!(ty, ScalarType::F64 | ScalarType::F32);
        let name = if flipped { format!("{name}.NEG_B") } else { name };
        // A constant goes where the machine takes one: not first.
        if uses.len() >= 2 && opcode != "div" && !flipped && is_constant(&uses[0]) && !is_constant(&uses[1]) {
            uses.swap(0, 1);
        }
        let n = self.width(&ops[0]).max(1) as u32;
        let r = self.emit_run(&name, n, uses);
        if opcode == "div" {
            let exact = inst.op.mods().any(|m| matches!(m, "rn" | "rz" | "rm" | "rp"));
            self.scratch(match (ty, exact) {
                (ScalarType::F64, _) => SCRATCH_DIV_F64,
                (_, true) => SCRATCH_DIV_F32,
                // A reciprocal and a product.
                _ => 1,
            });
        }
        self.write(&ops[0], &r);
        true
    }

    /// `neg`, `abs`, `copysign`: operations on sign bits.
    fn sign(&mut self, inst: &Inst, ty: ScalarType) -> bool {
        let ops = &inst.operands;
        let opcode = inst.op.opcode();
        let a = self.source(&ops[1], Some(ty));
        if opcode == "copysign" {
            // The sign of the first on the magnitude of the second: the table of (a & m) | (b & ~m).
            let b = self.source(&ops[2], Some(ty));
            let top = a.len() - 1;
            let uses = vec![Opnd::unit(a[top]), Opnd::unit(b[top]), Opnd::unit(Src::Imm(1 << 31)), Opnd::literal(0xe4)];
            let mut r = b.clone();
            r[top] = self.emit1("LOP3.LUT", uses);
            self.write(&ops[0], &r);
            return true;
        }
        match ty {
            ScalarType::F32 => {
                let name = if opcode == "neg" { "FNEG" } else { "FABS" };
                let r = self.emit1(name, vec![Opnd::unit(a[0])]);
                self.write(&ops[0], &[r]);
            }
            ScalarType::F64 => {
                let name = if opcode == "neg" { "DNEG" } else { "DABS" };
                // Two units that live apart: only the high one changes, but users see a pair.
                let r = self.emit(name, &[(fatpoint_ir::RegClass::R, 2)], vec![Opnd::run(&a)]);
                let r: Units = (0..2).map(|k| Src::Val(Val(r[0].0 + k))).collect();
                self.write(&ops[0], &r);
            }
            ScalarType::F16 | ScalarType::Bf16 | ScalarType::F16x2 | ScalarType::Bf16x2 => {
                let m = if ty.bits() == 32 { 0x8000_8000 } else { 0x8000 };
                let r = if opcode == "neg" {
                    self.bitwise("xor", a[0], Src::Imm(m))
                } else {
                    self.bitwise("and", a[0], Src::Imm(!m))
                };
                self.write(&ops[0], &[r]);
            }
            _ => return false,
        }
        true
    }

    /// The unit of special functions.
    pub(super) fn transcendental(&mut self, inst: &Inst) -> bool {
        let Some(ty) = inst.op.ty() else { return false };
        let ops = &inst.operands;
        let opcode = inst.op.opcode();
        let s = self.source(&ops[1], Some(ty));
        let wide = ty == ScalarType::F64;
        let source = match (ty, s.len()) {
            (ScalarType::F64, 2) => self.float64([s[0], s[1]], false),
            (ScalarType::F32, 1) => self.float32(s[0], false),
            _ => Opnd::run(&s),
        };
        let mods: Vec<&str> = inst.op.mods().filter(|m| !matches!(*m, "f32" | "f64" | "approx" | "rn")).collect();
        if opcode == "testp" {
            let name = format!("{}TESTP{}", if wide { "D" } else { "F" }, upper(&mods));
            let name = if wide { name.replacen("DTESTP", "FTESTP.F64", 1) } else { name };
            let p = self.emit_pred(&name, vec![source]);
            self.write(&ops[0], &[p]);
            return true;
        }
        let exact = inst.op.mods().any(|m| matches!(m, "rn" | "rz" | "rm" | "rp"));
        let name = match (opcode, exact, wide) {
            ("rcp" | "sqrt", true, false) => format!("F{}", opcode.to_ascii_uppercase()),
            ("rcp" | "sqrt", true, true) => format!("D{}", opcode.to_ascii_uppercase()),
            (_, _, true) => format!("MUFU.{}64", opcode.to_ascii_uppercase()),
            _ => format!("MUFU.{}", opcode.to_ascii_uppercase()),
        };
        let name = format!("{name}{}", upper(&mods));
        let r = self.emit_run(&name, self.width(&ops[0]).max(1) as u32, vec![source]);
        match (exact, wide) {
            (true, true) => self.scratch(SCRATCH_ROOT_F64),
            (true, false) => self.scratch(SCRATCH_ROOT_F32),
            _ => {}
        }
        self.write(&ops[0], &r);
        true
    }
}

fn is_constant(o: &Opnd) -> bool {
    matches!(&o.kind, Kind::Lanes { lanes, .. } if lanes.iter().all(|l| l.is_constant()))
}
