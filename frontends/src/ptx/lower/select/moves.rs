//! Moves, which mostly are no instruction: a register is another name of what it was copied from.

use super::super::super::ast::{Inst, Operand};
use super::super::super::types::{ScalarType, SpecialReg};
use super::super::mid::*;
use super::Lower;
use fatpoint_ir::opcodes::special_is_volatile;

impl Lower<'_> {
    /// `mov`, `cvta`: pack, unpack, rename.
    pub(super) fn mov(&mut self, inst: &Inst) -> bool {
        let [to, from] = inst.operands.as_slice() else { return false };
        let ty = inst.op.ty();
        let bits = ty.map_or(32, ScalarType::bits);
        let words = match from {
            Operand::Vector(v) => self.pack(v, bits),
            _ => self.source(from, ty),
        };
        match to {
            Operand::Vector(v) => self.unpack(v, bits, &words),
            _ => {
                let mut words = words;
                // `mov.u64` of a 32-bit special register, and registers wider than the type.
                let n = self.width(to).max(1);
                words.resize(n, Src::ZERO);
                self.write(to, &words);
            }
        }
        true
    }

    /// Elements of `bits / n` bits as words.
    pub(super) fn pack(&mut self, v: &[Operand], bits: u32) -> Units {
        let each = bits / v.len().max(1) as u32;
        let ty = match each {
            64 => ScalarType::B64,
            8 => ScalarType::B8,
            16 => ScalarType::B16,
            _ => ScalarType::B32,
        };
        if each >= 32 {
            return v.iter().flat_map(|o| self.source(o, Some(ty))).collect();
        }
        let parts: Vec<Src> = v.iter().map(|o| self.one(o, Some(ty))).collect();
        self.pack_narrow(&parts, each)
    }

    /// Elements of 8 or 16 bits as words.
    pub(super) fn pack_narrow(&mut self, parts: &[Src], each: u32) -> Units {
        let per_word = (32 / each.clamp(1, 32)) as usize;
        parts
            .chunks(per_word)
            .map(|c| {
                if c.iter().all(|s| matches!(s, Src::Imm(_))) {
                    let mask = ((1u64 << each) - 1) as u32;
                    let word = c.iter().enumerate().fold(0, |w, (k, s)| match s {
                        Src::Imm(x) => w | (x & mask) << (each * k as u32),
                        _ => w,
                    });
                    return Src::Imm(word);
                }
                match (each, c) {
                    (16, [a, b]) => self.halves_of_word(*a, *b),
                    (8, [a, b, c, d]) => {
                        let lo = self.emit1("PRMT", vec![Opnd::unit(*a), Opnd::unit(*b), Opnd::literal(0x40)]);
                        let hi = self.emit1("PRMT", vec![Opnd::unit(*c), Opnd::unit(*d), Opnd::literal(0x40)]);
                        self.halves_of_word(lo, hi)
                    }
                    (8, [a, b]) => self.emit1("PRMT", vec![Opnd::unit(*a), Opnd::unit(*b), Opnd::literal(0x40)]),
                    _ => c[0],
                }
            })
            .collect()
    }

    /// The low halves of two units as one word. The two halves of one word are that word.
    fn halves_of_word(&mut self, a: Src, b: Src) -> Src {
        if let Some((inst, _)) = self.def_of(b) {
            let whole = inst.uses.first().and_then(Self::plain_unit);
            if self.name(inst) == "SHR.U32" && inst.uses[1].kind == Kind::Literal(16) && whole == Some(a) {
                return a;
            }
        }
        // In hexadecimal byte numbers, lowest last: b1 b0 a1 a0.
        self.emit1("PRMT", vec![Opnd::unit(a), Opnd::unit(b), Opnd::literal(0x5410)])
    }

    /// Words into elements of `bits / n` bits. The lowest element of a word is the word itself: the bits above it mean
    /// nothing.
    pub(super) fn unpack(&mut self, v: &[Operand], bits: u32, words: &[Src]) {
        let each = (bits / v.len().max(1) as u32).max(1);
        for (k, o) in v.iter().enumerate() {
            if matches!(o, Operand::Sink) {
                continue;
            }
            let at = each * k as u32;
            let word = |n: u32| words.get(n as usize).copied().unwrap_or(Src::ZERO);
            if each >= 32 {
                let units: Units = (0..each / 32).map(|u| word(at / 32 + u)).collect();
                self.write(o, &units);
                continue;
            }
            let (w, shift) = (word(at / 32), at % 32);
            let part = match (w, shift) {
                (_, 0) => w,
                (Src::Imm(x), _) => Src::Imm(x >> shift),
                _ => self.emit1("SHR.U32", vec![Opnd::unit(w), Opnd::literal(u64::from(shift))]),
            };
            self.write(o, &[part]);
        }
    }

    /// A special register.
    pub(super) fn special(&mut self, s: SpecialReg) -> Units {
        let name = s.name();
        if s.bits() == 128 {
            let component = |c: &str| SpecialReg::from_name(&format!("{name}.{c}"));
            return ["x", "y", "z", "w"]
                .iter()
                .flat_map(|c| component(c).map_or([Src::ZERO].as_slice().into(), |s| self.special(s)))
                .collect();
        }
        let one = |s: Src| -> Units { [s].as_slice().into() };
        let block_size = ["%ntid.x", "%ntid.y", "%ntid.z"].iter().position(|n| *n == name);
        if let Some(k) = block_size {
            return one(bank_word(0, self.options.ntid_offset + 4 * k as u32));
        }
        if name == "WARP_SZ" {
            return one(Src::Imm(32));
        }
        if name.ends_with(".w") {
            return one(Src::ZERO);
        }
        let sr = format!("SR_{}", name.trim_start_matches('%').to_ascii_uppercase());
        let volatile = s.is_volatile() || special_is_volatile(&sr);
        let suffix = if volatile { ".VOLATILE" } else { "" };
        let from = vec![Opnd::new(Kind::Special(sr))];
        match s.bits() {
            64 => self.emit_run(&format!("CS2R.64{suffix}"), 2, from),
            1 => {
                let r = self.emit1(&format!("S2R{suffix}"), from);
                one(self.emit_pred("ISETP.NE.U32", vec![Opnd::unit(r), Opnd::unit(Src::ZERO)]))
            }
            _ => one(self.emit1(&format!("S2R{suffix}"), from)),
        }
    }
}
