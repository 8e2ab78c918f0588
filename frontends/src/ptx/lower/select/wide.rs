//! 64-bit integers: two units that live and die apart, and the products that fuse with a sum.

use super::super::mid::*;
use super::Lower;

/// Both halves as operands of one unit.
pub(super) fn halves(a: [Src; 2]) -> Vec<Opnd> {
    vec![Opnd::unit(a[0]), Opnd::unit(a[1])]
}

/// Both halves of two sources.
pub(super) fn halves2(a: [Src; 2], b: [Src; 2]) -> Vec<Opnd> {
    let mut v = halves(a);
    v.extend(halves(b));
    v
}

fn constant(a: [Src; 2]) -> bool {
    a[0].is_constant() && a[1].is_constant()
}

impl Lower<'_> {
    /// The definition that gives both units, as its lanes 0 and 1.
    pub(super) fn wide_def(&self, a: [Src; 2]) -> Option<&MInst> {
        let (lo, 0) = self.def_of(a[0])? else { return None };
        let (hi, 1) = self.def_of(a[1])? else { return None };
        std::ptr::eq(lo, hi).then_some(lo)
    }

    /// Factors and signedness of a product that nothing is added to yet.
    fn product(&self, a: [Src; 2]) -> Option<(&'static str, Opnd, Opnd)> {
        let inst = self.wide_def(a)?;
        let name = match self.name(inst) {
            "IMAD.WIDE" => "IMAD.WIDE",
            "IMAD.WIDE.U32" => "IMAD.WIDE.U32",
            _ => return None,
        };
        let zero = matches!(&inst.uses[2].kind, Kind::Lanes { lanes, .. } if lanes.iter().all(|&l| l == Src::ZERO));
        zero.then(|| (name, inst.uses[0].clone(), inst.uses[1].clone()))
    }

    /// `a · b` in 64 bits, plus `c`.
    pub(super) fn mad_wide(&mut self, a: Src, b: Src, c: [Src; 2], signed: bool) -> [Src; 2] {
        let (a, b) = if a.is_constant() { (b, a) } else { (a, b) };
        let name = if signed { "IMAD.WIDE" } else { "IMAD.WIDE.U32" };
        let u = self.emit_run(name, 2, vec![Opnd::unit(a), Opnd::unit(b), Opnd::run(&c)]);
        [u[0], u[1]]
    }

    /// The 32-bit source of a widened unit, and whether it was sign-extended.
    pub(super) fn widened(&self, a: [Src; 2]) -> Option<(Src, bool)> {
        if a[1] == Src::ZERO && !a[0].is_constant() {
            return Some((a[0], false));
        }
        let (inst, _) = self.def_of(a[1])?;
        let sign = self.name(inst) == "SHR.S32"
            && inst.uses.first().and_then(Self::plain_unit) == Some(a[0])
            && inst.uses[1].kind == Kind::Literal(31);
        sign.then_some((a[0], true))
    }

    /// `a + b`; a product that one of them is takes the other in.
    pub(super) fn add64(&mut self, a: [Src; 2], b: [Src; 2]) -> [Src; 2] {
        if let (Some(x), Some(y)) = (imm64(&a), imm64(&b)) {
            return pair(x.wrapping_add(y));
        }
        if imm64(&b) == Some(0) {
            return a;
        }
        if imm64(&a) == Some(0) {
            return b;
        }
        // Not a constant of the instruction: that would need a register for it, while the sum needs none.
        for (p, other) in [(a, b), (b, a)] {
            if imm64(&other).is_none() {
                if let Some((name, x, y)) = self.product(p) {
                    let u = self.emit_run(name, 2, vec![x, y, Opnd::run(&other)]);
                    return [u[0], u[1]];
                }
            }
        }
        let (a, b) = if constant(a) { (b, a) } else { (a, b) };
        self.emit_halves("IADD.64", halves2(a, b))
    }

    /// `a − b`.
    pub(super) fn sub64(&mut self, a: [Src; 2], b: [Src; 2]) -> [Src; 2] {
        if let Some(y) = imm64(&b) {
            return self.add64(a, pair(y.wrapping_neg()));
        }
        self.emit_halves("ISUB.64", halves2(a, b))
    }

    /// Low 64 bits of `a · b`.
    pub(super) fn mul64(&mut self, a: [Src; 2], b: [Src; 2]) -> [Src; 2] {
        let (a, b) = if constant(a) { (b, a) } else { (a, b) };
        if let Some(p) = self.narrow_product(a, b) {
            return p;
        }
        self.emit_halves("IMUL.64", halves2(a, b))
    }

    /// A product of two numbers of 32 bits each.
    fn narrow_product(&mut self, a: [Src; 2], b: [Src; 2]) -> Option<[Src; 2]> {
        let (x, signed) = self.widened(a)?;
        let y = match imm64(&b) {
            Some(k) if signed && k as i64 == i64::from(k as i32) => Src::Imm(k as u32),
            Some(k) if !signed && k <= u64::from(u32::MAX) => Src::Imm(k as u32),
            Some(_) => return None,
            None => self.widened(b).filter(|w| w.1 == signed)?.0,
        };
        Some(self.mad_wide(x, y, [Src::ZERO; 2], signed))
    }

    /// `a << n`.
    pub(super) fn shl64(&mut self, a: [Src; 2], n: Src) -> [Src; 2] {
        let Src::Imm(n) = n else {
            return self.emit_halves("SHL.64", vec![Opnd::unit(a[0]), Opnd::unit(a[1]), Opnd::unit(n)]);
        };
        match n {
            0 => a,
            1..=31 => {
                if let Some(x) = imm64(&a) {
                    return pair(x << n);
                }
                // A widened index times a power of two: what adds a base to it fuses.
                if n < 31 {
                    if let Some((x, signed)) = self.widened(a) {
                        return self.mad_wide(x, Src::Imm(1 << n), [Src::ZERO; 2], signed);
                    }
                }
                let n = u64::from(n);
                let hi = self.emit1("SHF.L.U64.HI", vec![Opnd::unit(a[0]), Opnd::literal(n), Opnd::unit(a[1])]);
                [self.shl32(a[0], n as u32), hi]
            }
            32..=63 => [Src::ZERO, self.shl32(a[0], n - 32)],
            _ => [Src::ZERO; 2],
        }
    }

    pub(super) fn shl32(&mut self, a: Src, n: u32) -> Src {
        match (a, n) {
            (_, 0) => a,
            (_, 32..) => Src::ZERO,
            (Src::Imm(x), _) => Src::Imm(x << n),
            _ => self.emit1("SHL", vec![Opnd::unit(a), Opnd::literal(u64::from(n))]),
        }
    }

    fn shr32(&mut self, a: Src, n: u32, signed: bool) -> Src {
        match (a, n, signed) {
            (_, 0, _) => a,
            (_, 32.., false) => Src::ZERO,
            (_, 32.., true) => self.sign_of(a),
            (Src::Imm(x), _, false) => Src::Imm(x >> n),
            (Src::Imm(x), _, true) => Src::Imm((x as i32 >> n) as u32),
            _ => {
                let name = if signed { "SHR.S32" } else { "SHR.U32" };
                self.emit1(name, vec![Opnd::unit(a), Opnd::literal(u64::from(n))])
            }
        }
    }

    /// `a >> n`.
    pub(super) fn shr64(&mut self, a: [Src; 2], n: Src, signed: bool) -> [Src; 2] {
        let Src::Imm(n) = n else {
            let name = if signed { "SHR.S64" } else { "SHR.U64" };
            return self.emit_halves(name, vec![Opnd::unit(a[0]), Opnd::unit(a[1]), Opnd::unit(n)]);
        };
        match n {
            0 => a,
            1..=31 => {
                let lo = vec![Opnd::unit(a[0]), Opnd::literal(u64::from(n)), Opnd::unit(a[1])];
                [self.emit1("SHF.R.U64", lo), self.shr32(a[1], n, signed)]
            }
            32..=63 => {
                let lo = self.shr32(a[1], n - 32, signed);
                [lo, if signed { self.sign_of(a[1]) } else { Src::ZERO }]
            }
            _ => {
                let s = if signed { self.sign_of(a[1]) } else { Src::ZERO };
                [s, s]
            }
        }
    }
}
