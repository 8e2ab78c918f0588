//! Small rewrites that need no memory of the program beyond the definition of a source.

use super::super::mid::*;
use super::Lower;
use fatpoint_ir::OperandFlags;

impl Lower<'_> {
    /// The unguarded instruction that defines a source, and which of its lanes it is.
    pub(super) fn def_of(&self, s: Src) -> Option<(&MInst, u32)> {
        let From::Inst(i, lane) = self.vals[s.val()?.0 as usize].from else { return None };
        let inst = &self.insts[i as usize];
        inst.guard.is_none().then_some((inst, lane))
    }

    /// Name of a mnemonic.
    pub(super) fn name(&self, inst: &MInst) -> &str {
        &self.ops[inst.op as usize].0
    }

    /// The unit of a source operand that is one unit without modifiers.
    pub(super) fn plain_unit(o: &Opnd) -> Option<Src> {
        match &o.kind {
            Kind::Lanes { lanes, .. } if lanes.len() == 1 && o.flags == OperandFlags::NONE => Some(lanes[0]),
            _ => None,
        }
    }

    /// True when all bits from `bits` on are known to be zero.
    pub(super) fn known_narrow(&self, s: Src, bits: u32) -> bool {
        let limit = 1u64 << bits;
        if let Src::Imm(x) = s {
            return u64::from(x) < limit;
        }
        let Some((inst, _)) = self.def_of(s) else { return false };
        let name = self.name(inst);
        let imm = |k: usize| match inst.uses.get(k).map(|o| &o.kind) {
            Some(Kind::Lanes { lanes, .. }) => match lanes[0] {
                Src::Imm(x) => Some(x),
                _ => None,
            },
            _ => None,
        };
        let load = name.starts_with("LD") && !name.contains(".S8") && !name.contains(".S16");
        match name {
            "LOP.AND" => (0..2).any(|k| imm(k).is_some_and(|x| u64::from(x) < limit)),
            "SHR.U32" => imm(1).is_some_and(|n| n.saturating_add(bits) >= 32),
            "BFE.U32" => imm(2).is_some_and(|n| n <= bits),
            "I2I.U8" => bits >= 8,
            "I2I.U16" => bits >= 16,
            _ if load && name.contains(".U8") => bits >= 8,
            _ if load && name.contains(".U16") => bits >= 16,
            _ if name.ends_with(".U16") || name.ends_with(".S16") => {
                let base = name.split('.').next().unwrap_or("");
                let half =
                    ["ADD", "SUB", "MUL", "MULHI", "MAD", "MIN", "MAX", "SHL", "SHR", "NEG", "ABS", "IDIV", "IREM"];
                bits >= 16 && half.contains(&base)
            }
            _ => false,
        }
    }

    /// The low bits of a unit as a 32-bit number.
    pub(super) fn extend(&mut self, s: Src, bits: u32, signed: bool) -> Src {
        if bits >= 32 {
            return s;
        }
        if let Src::Imm(x) = s {
            let cut = x << (32 - bits);
            return Src::Imm(if signed { (cut as i32 >> (32 - bits)) as u32 } else { cut >> (32 - bits) });
        }
        if !signed && self.known_narrow(s, bits) {
            return s;
        }
        match (bits, signed) {
            (8, false) => self.emit1("I2I.U8", vec![Opnd::unit(s)]),
            (8, true) => self.emit1("I2I.S8", vec![Opnd::unit(s)]),
            (16, false) => self.emit1("I2I.U16", vec![Opnd::unit(s)]),
            (16, true) => self.emit1("I2I.S16", vec![Opnd::unit(s)]),
            _ => {
                let name = if signed { "BFE.S32" } else { "BFE.U32" };
                self.emit1(name, vec![Opnd::unit(s), Opnd::literal(0), Opnd::literal(u64::from(bits))])
            }
        }
    }

    /// All ones if the unit is negative, else zero.
    pub(super) fn sign_of(&mut self, s: Src) -> Src {
        match s {
            Src::Imm(x) => Src::Imm(((x as i32) >> 31) as u32),
            _ if self.known_narrow(s, 31) => Src::ZERO,
            _ => self.emit1("SHR.S32", vec![Opnd::unit(s), Opnd::literal(31)]),
        }
    }

    /// Not `s`.
    pub(super) fn pred_not(&mut self, s: Src) -> Src {
        match s {
            Src::Imm(x) => Src::Imm(x & 1 ^ 1),
            _ => self.emit_pred("PLOP.NOT", vec![Opnd::pred(s, false)]),
        }
    }

    /// Predicate `a` where `p` holds, else `b`.
    pub(super) fn pred_select(&mut self, a: Src, b: Src, p: Src, negated: bool) -> Src {
        // Bit 4p + 2a + b of the table.
        let table = Opnd::literal(0xca);
        let (a, b) = if negated { (b, a) } else { (a, b) };
        self.emit_pred("PLOP3.LUT", vec![Opnd::pred(p, false), Opnd::pred(a, false), Opnd::pred(b, false), table])
    }

    /// Unit `a` where `p` holds, else `b`.
    pub(super) fn sel(&mut self, a: Src, b: Src, p: Src, negated: bool) -> Src {
        if a == b {
            return a;
        }
        // The second source may be a constant.
        let (a, b, negated) = if a.is_constant() && !b.is_constant() { (b, a, !negated) } else { (a, b, negated) };
        self.emit1("SEL", vec![Opnd::unit(a), Opnd::unit(b), Opnd::pred(p, negated)])
    }

    /// A source of a 32-bit float operation: a negation or absolute value that defines it becomes a modifier.
    pub(super) fn float32(&self, s: Src, negate: bool) -> Opnd {
        let (mut s, mut neg, mut abs) = (s, negate, false);
        while let Some((inst, _)) = self.def_of(s) {
            let (name, Some(inner)) = (self.name(inst), inst.uses.first().and_then(Self::plain_unit)) else { break };
            match name {
                "FNEG" => neg ^= !abs,
                "FABS" => abs = true,
                _ => break,
            }
            s = inner;
        }
        Self::with_sign(Opnd::unit(s), neg, abs)
    }

    /// A source of a 64-bit float operation, modifiers folded likewise.
    pub(super) fn float64(&self, s: [Src; 2], negate: bool) -> Opnd {
        let (mut s, mut neg, mut abs) = (s, negate, false);
        while let Some((inst, 0)) = self.def_of(s[0]) {
            let name = self.name(inst);
            if !matches!(name, "DNEG" | "DABS")
                || self.def_of(s[1]).is_none_or(|d| !std::ptr::eq(d.0, inst) || d.1 != 1)
            {
                break;
            }
            let Some(Kind::Lanes { lanes, .. }) = inst.uses.first().map(|o| &o.kind) else { break };
            match name {
                "DNEG" => neg ^= !abs,
                _ => abs = true,
            }
            s = [lanes[0], lanes[1]];
        }
        Self::with_sign(Opnd::run(&s), neg, abs)
    }

    fn with_sign(o: Opnd, neg: bool, abs: bool) -> Opnd {
        let o = if abs { o.with(OperandFlags::ABS) } else { o };
        if neg {
            o.with(OperandFlags::NEG)
        } else {
            o
        }
    }
}
