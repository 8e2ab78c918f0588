//! Which mnemonics have a modelled value, and that value: from mnemonic and input bits to result bits.
//!
//! No memory, no control flow, no registers: those are the machine's. Whether a mnemonic is modelled depends
//! on the mnemonic alone.

use super::super::mnemonic::Mnemonic;
use super::super::types::ScalarType;
use super::semantics as sem;

/// The result of a modelled instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Evaluated {
    /// Value of the destination, of the destination type's width.
    pub value: u64,
    /// Value of the second destination of `p|q`.
    pub second: u64,
    /// The new carry flag, if the instruction sets it.
    pub carry: Option<bool>,
}

fn just(value: u64) -> Option<Evaluated> {
    Some(Evaluated { value, second: 0, carry: None })
}

/// A scalar integer or untyped type of 8 to 64 bits.
fn plain(ty: ScalarType) -> bool {
    use ScalarType as T;
    matches!(ty, T::B8 | T::B16 | T::B32 | T::B64 | T::U8 | T::U16 | T::U32 | T::U64 | T::S8 | T::S16 | T::S32 | T::S64)
}

/// Whether [`evaluate`] gives a value for this mnemonic.
#[must_use]
pub fn is_modelled(op: &Mnemonic) -> bool {
    evaluate(op, &[0; 8], false).is_some()
}

/// The value of a modelled instruction; `None` if it is not modelled.
///
/// `inputs` are the source operands in order, each of its type's width; missing ones count as 0. A carry
/// is used by `addc`, `subc`, `madc`.
#[must_use]
pub fn evaluate(op: &Mnemonic, inputs: &[u64], carry: bool) -> Option<Evaluated> {
    let input = |i: usize| inputs.get(i).copied().unwrap_or(0);
    let (a, b, c, d) = (input(0), input(1), input(2), input(3));
    let ty = op.ty()?;
    let bits = ty.bits();
    let one_type = op.types().len() == 1;
    match op.opcode() {
        "mov" | "cvta" if one_type && bits <= 64 => return just(a),
        "selp" if one_type && bits <= 64 => return just(if c & 1 == 1 { a } else { b }),
        "cvt" => return convert(op, a),
        "neg" | "abs" | "copysign" if ty.is_float() => return float_sign(op, ty, a, b),
        "setp" => return compare(op, ty, a, b, c),
        "and" | "or" | "xor" | "not" if ty == ScalarType::Pred => return just(logic(op.opcode(), a, b) & 1),
        _ => {}
    }
    if !one_type || !plain(ty) {
        return None;
    }
    let is_signed = ty.is_signed();
    let with_carry =
        |(value, out): (u64, bool)| Some(Evaluated { value, second: 0, carry: op.has("cc").then_some(out) });
    match op.opcode() {
        "add" | "sub" if op.has("sat") => {
            (ty == ScalarType::S32).then(|| sem::add_saturated(a, b, bits, op.opcode() == "sub")).and_then(just)
        }
        "add" => with_carry(sem::add_carry(a, b, false, bits)),
        "addc" => with_carry(sem::add_carry(a, b, carry, bits)),
        "sub" => with_carry(sem::sub_borrow(a, b, false, bits)),
        "subc" => with_carry(sem::sub_borrow(a, b, carry, bits)),
        "mul" | "mad" | "madc" => multiply(op, ty, [a, b, c], carry),
        "div" => just(sem::div(a, b, bits, is_signed)),
        "rem" => just(sem::rem(a, b, bits, is_signed)),
        "neg" => just(sem::neg(a, bits)),
        "abs" => just(sem::abs(a, bits)),
        "min" | "max" => {
            let pick = |a, b| sem::min_max(a, b, bits, is_signed, op.opcode() == "max");
            let value = if inputs.len() == 3 { pick(pick(a, b), c) } else { pick(a, b) };
            just(if op.has("relu") && sem::signed(value, bits) < 0 { 0 } else { value })
        }
        "and" | "or" | "xor" | "not" => just(logic(op.opcode(), a, b) & sem::mask(bits)),
        "cnot" => just(u64::from(a & sem::mask(bits) == 0)),
        "shl" => just(sem::shl(a, b, bits)),
        "shr" => just(sem::shr(a, b, bits, is_signed)),
        "shf" => just(sem::funnel_shift(a, b, c, op.has("l"), op.has("wrap"))),
        "bfe" => just(sem::bfe(a, b, c, bits, is_signed)),
        "bfi" => just(sem::bfi(a, b, c, d, bits)),
        "prmt" => just(sem::prmt(a, b, c, prmt_mode(op))),
        // `lop3.or.b32 d|p` also sets a predicate: not modelled.
        "lop3" if !op.has("or") && !op.has("and") && !op.has("xor") => just(sem::lop3(a, b, c, d)),
        "popc" => just(u64::from((a & sem::mask(bits)).count_ones())),
        "clz" => just(sem::clz(a, bits)),
        "brev" => just(sem::brev(a, bits)),
        "bfind" => just(sem::bfind(a, bits, is_signed, op.has("shiftamt"))),
        _ => None,
    }
}

fn logic(name: &str, a: u64, b: u64) -> u64 {
    match name {
        "and" => a & b,
        "or" => a | b,
        "xor" => a ^ b,
        _ => !a,
    }
}

fn multiply(op: &Mnemonic, ty: ScalarType, [a, b, c]: [u64; 3], carry: bool) -> Option<Evaluated> {
    let (bits, is_signed) = (ty.bits(), ty.is_signed());
    let wide = op.has("wide");
    if wide && bits > 32 {
        return None;
    }
    let product = if wide {
        sem::mul_wide(a, b, bits, is_signed)
    } else if op.has("hi") {
        sem::mul_high(a, b, bits, is_signed)
    } else {
        sem::mul_low(a, b, bits)
    };
    if op.opcode() == "mul" {
        return just(product);
    }
    if op.has("sat") {
        return (op.has("hi") && ty == ScalarType::S32).then(|| sem::mad_high_saturated(a, b, c, bits)).and_then(just);
    }
    let carry_in = op.opcode() == "madc" && carry;
    let (value, out) = sem::add_carry(product, c, carry_in, if wide { 2 * bits } else { bits });
    Some(Evaluated { value, second: 0, carry: op.has("cc").then_some(out) })
}

fn convert(op: &Mnemonic, a: u64) -> Option<Evaluated> {
    let &[to, from] = op.types() else { return None };
    if !plain(to) || !plain(from) || op.has("pack") {
        return None;
    }
    just(sem::convert(a, (from.bits(), from.is_signed()), (to.bits(), to.is_signed()), op.has("sat")))
}

fn float_sign(op: &Mnemonic, ty: ScalarType, a: u64, b: u64) -> Option<Evaluated> {
    use ScalarType as T;
    // Flushing subnormal inputs is more than a sign operation.
    if op.has("ftz") || op.types().len() != 1 {
        return None;
    }
    let lane = match ty {
        T::F16 | T::Bf16 | T::F16x2 | T::Bf16x2 => 16,
        T::F32 => 32,
        T::F64 => 64,
        _ => return None,
    };
    let signs = sem::sign_bits(ty.bits(), lane);
    just(match op.opcode() {
        "neg" => a ^ signs,
        "abs" => a & !signs,
        // The sign of the first on the magnitude of the second.
        _ => (a & signs) | (b & !signs),
    })
}

fn compare(op: &Mnemonic, ty: ScalarType, a: u64, b: u64, c: u64) -> Option<Evaluated> {
    if op.types().len() != 1 || !plain(ty) {
        return None;
    }
    let mut mods = op.mods();
    let name = mods.next()?;
    // `lo`, `ls`, `hi`, `hs` compare unsigned whatever the type says.
    let is_signed = ty.is_signed() && !matches!(name, "lo" | "ls" | "hi" | "hs");
    let holds = sem::compare(name, a, b, ty.bits(), is_signed)?;
    let combine = |v: bool| {
        let (v, c) = (u64::from(v), c & 1);
        match op.mods().nth(1) {
            Some("and") => v & c,
            Some("or") => v | c,
            Some("xor") => v ^ c,
            _ => v,
        }
    };
    Some(Evaluated { value: combine(holds), second: combine(!holds), carry: None })
}

fn prmt_mode(op: &Mnemonic) -> sem::PrmtMode {
    use sem::PrmtMode as M;
    op.mods()
        .find_map(|m| {
            Some(match m {
                "f4e" => M::Forward,
                "b4e" => M::Backward,
                "rc8" => M::Replicate8,
                "ecl" => M::EdgeLeft,
                "ecr" => M::EdgeRight,
                "rc16" => M::Replicate16,
                _ => return None,
            })
        })
        .unwrap_or(M::Generic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(op: &str, inputs: &[u64]) -> u64 {
        evaluate(&Mnemonic::new(op), inputs, false).unwrap_or_else(|| panic!("{op}")).value
    }

    #[test]
    fn modifiers_choose_the_operation() {
        assert_eq!(eval("mul.wide.s32", &[0xffff_ffff, 8]), (-8i64) as u64);
        assert_eq!(eval("mad.wide.u32", &[0xffff_ffff, 8, 8]), 0x8_0000_0000);
        assert_eq!(eval("mad.lo.s32", &[3, 4, 5]), 17);
        assert_eq!(eval("mad.hi.u32", &[1 << 31, 4, 5]), 7);
        assert_eq!(eval("cvt.s32.s8", &[0xff]), 0xffff_ffff);
        assert_eq!(eval("cvt.sat.u8.s32", &[999]), 255);
        assert_eq!(eval("neg.f32", &[0x3f80_0000]), 0xbf80_0000);
        assert_eq!(eval("abs.f16x2", &[0xbc00_bc00]), 0x3c00_3c00);
        assert_eq!(eval("copysign.f32", &[0x8000_0000, 0x3f80_0000]), 0xbf80_0000);
        assert_eq!(eval("not.pred", &[1]), 0);
        assert_eq!(eval("cnot.b32", &[0]), 1);
        assert_eq!(eval("selp.f32", &[1, 2, 0]), 2);
        assert_eq!(eval("max.relu.s32", &[0xffff_ffff, 0xffff_fffe]), 0);
        assert_eq!(eval("setp.hi.s32", &[0xffff_ffff, 1]), 1);
        assert_eq!(eval("bfi.b64", &[1, 0, 63, 1]), 1 << 63);
        assert_eq!(eval("add.sat.s32", &[0x7fff_ffff, 9]), 0x7fff_ffff);
    }

    #[test]
    fn predicates_come_in_pairs() {
        let r = evaluate(&Mnemonic::new("setp.lt.and.s32"), &[1, 2, 0], false).unwrap();
        assert_eq!((r.value, r.second), (0, 0));
        let r = evaluate(&Mnemonic::new("setp.lt.or.s32"), &[1, 2, 0], false).unwrap();
        assert_eq!((r.value, r.second), (1, 0));
        let r = evaluate(&Mnemonic::new("setp.lt.xor.s32"), &[1, 2, 1], false).unwrap();
        assert_eq!((r.value, r.second), (0, 1));
    }

    #[test]
    fn carry_runs_through_a_chain() {
        // 128-bit product by words: (2^64 - 1)^2 = 2^128 - 2^65 + 1, low 96 bits checked.
        let m = 0xffff_ffff;
        let step = |op: &str, inputs: &[u64], carry| evaluate(&Mnemonic::new(op), inputs, carry).unwrap();
        let lo = step("mul.lo.u32", &[m, m], false).value;
        let hi = step("mul.hi.u32", &[m, m], false).value;
        let w1 = step("mad.lo.cc.u32", &[m, m, hi], false);
        assert_eq!((lo, w1.value, w1.carry), (1, 0xffff_ffff, Some(false)));
        let w2 = step("madc.hi.u32", &[m, m, 0], w1.carry.unwrap());
        assert_eq!((w2.value, w2.carry), (0xffff_fffe, None));
        let w1b = step("mad.lo.cc.u32", &[m, m, w1.value], false);
        assert_eq!((w1b.value, w1b.carry), (0, Some(true)));
        assert_eq!(step("madc.hi.cc.u32", &[m, m, w2.value], true).value, 0xffff_fffd);
        assert_eq!(step("addc.cc.u32", &[m, 0], true), Evaluated { value: 0, second: 0, carry: Some(true) });
        assert_eq!(step("subc.u32", &[0, 0], true).value, m);
    }

    #[test]
    fn what_is_not_modelled_says_so() {
        for op in [
            "add.f32",
            "fma.rn.f64",
            "cvt.rn.f32.s32",
            "add.u16x2",
            "neg.ftz.f32",
            "setp.lt.f32",
            "lop3.or.b32",
            "dp4a.s32.s32",
            "atom.add.u32",
            "mov.b128",
            "min.f32",
            "set.eq.u32.s32",
            "cvt.pack.sat.u8.s32.b32",
        ] {
            assert!(!is_modelled(&Mnemonic::new(op)), "{op}");
        }
    }
}
