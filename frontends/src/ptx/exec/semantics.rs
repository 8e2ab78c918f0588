//! The meaning of PTX's integer, bit and predicate operations as plain functions on bits.
//!
//! A value of `bits` width sits in the low bits of a `u64`; inputs are taken modulo their width and results
//! come back with the bits above it zero. What PTX leaves unspecified is fixed here, so that two
//! interpreters that use these functions agree: `x / 0` has all bits set and `x % 0` is `x`.

/// The low `bits` bits set; all 64 for 64 and more.
#[must_use]
pub fn mask(bits: u32) -> u64 {
    if bits >= 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    }
}

/// The value as a signed number.
#[must_use]
pub fn signed(value: u64, bits: u32) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    ((value << unused) as i64) >> unused
}

fn wide(value: u64, bits: u32, is_signed: bool) -> i128 {
    if is_signed {
        i128::from(signed(value, bits))
    } else {
        i128::from(value & mask(bits))
    }
}

/// Extends a value from one width to another, then cuts it to the new width.
#[must_use]
pub fn extend(value: u64, from: u32, to: u32, is_signed: bool) -> u64 {
    wide(value, from, is_signed) as u64 & mask(to)
}

/// Sum with carry in; the second result is the carry out.
#[must_use]
pub fn add_carry(a: u64, b: u64, carry: bool, bits: u32) -> (u64, bool) {
    let sum = u128::from(a & mask(bits)) + u128::from(b & mask(bits)) + u128::from(carry);
    (sum as u64 & mask(bits), sum >> bits != 0)
}

/// `a - b - borrow`; the second result is the borrow out.
#[must_use]
pub fn sub_borrow(a: u64, b: u64, borrow: bool, bits: u32) -> (u64, bool) {
    let (a, b) = (u128::from(a & mask(bits)), u128::from(b & mask(bits)) + u128::from(borrow));
    (a.wrapping_sub(b) as u64 & mask(bits), a < b)
}

/// `add.sat.s32` and `sub.sat.s32`: `a` plus or minus `b`, clamped to the signed range.
#[must_use]
pub fn add_saturated(a: u64, b: u64, bits: u32, subtract: bool) -> u64 {
    let (a, b) = (wide(a, bits, true), wide(b, bits, true));
    saturate(if subtract { a - b } else { a + b }, bits, true)
}

/// Clamps to the range of the type.
fn saturate(value: i128, bits: u32, is_signed: bool) -> u64 {
    let (low, high) =
        if is_signed { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
    value.clamp(low, high) as u64 & mask(bits)
}

/// The low half of the product.
#[must_use]
pub fn mul_low(a: u64, b: u64, bits: u32) -> u64 {
    a.wrapping_mul(b) & mask(bits)
}

/// The high half of the product.
#[must_use]
pub fn mul_high(a: u64, b: u64, bits: u32, is_signed: bool) -> u64 {
    // The product of two 64-bit unsigned numbers needs all of u128.
    if is_signed {
        ((wide(a, bits, true) * wide(b, bits, true)) >> bits) as u64 & mask(bits)
    } else {
        ((u128::from(a & mask(bits)) * u128::from(b & mask(bits))) >> bits) as u64 & mask(bits)
    }
}

/// The whole product, twice as wide as the inputs (at most 32 bits each).
#[must_use]
pub fn mul_wide(a: u64, b: u64, bits: u32, is_signed: bool) -> u64 {
    (wide(a, bits, is_signed) * wide(b, bits, is_signed)) as u64 & mask(2 * bits)
}

/// `mad.hi.sat.s32`: high half of the product plus `c`, clamped.
#[must_use]
pub fn mad_high_saturated(a: u64, b: u64, c: u64, bits: u32) -> u64 {
    let high = (wide(a, bits, true) * wide(b, bits, true)) >> bits;
    saturate(high + wide(c, bits, true), bits, true)
}

/// The quotient, rounded to zero; all bits set if `b` is zero; the smallest number by -1 wraps to itself.
#[must_use]
pub fn div(a: u64, b: u64, bits: u32, is_signed: bool) -> u64 {
    match wide(b, bits, is_signed) {
        0 => mask(bits),
        b => (wide(a, bits, is_signed) / b) as u64 & mask(bits),
    }
}

/// The remainder, with the sign of `a`; `a` if `b` is zero.
#[must_use]
pub fn rem(a: u64, b: u64, bits: u32, is_signed: bool) -> u64 {
    match wide(b, bits, is_signed) {
        0 => a & mask(bits),
        b => (wide(a, bits, is_signed) % b) as u64 & mask(bits),
    }
}

/// The negative, wrapping.
#[must_use]
pub fn neg(a: u64, bits: u32) -> u64 {
    a.wrapping_neg() & mask(bits)
}

/// The absolute value of a signed number; the smallest number stays itself.
#[must_use]
pub fn abs(a: u64, bits: u32) -> u64 {
    signed(a, bits).unsigned_abs() & mask(bits)
}

/// The smaller or larger of two numbers.
#[must_use]
pub fn min_max(a: u64, b: u64, bits: u32, is_signed: bool, max: bool) -> u64 {
    let first = (wide(a, bits, is_signed) < wide(b, bits, is_signed)) != max;
    (if first { a } else { b }) & mask(bits)
}

/// Left shift; 0 once the amount (32 bits, unsigned) reaches the width.
#[must_use]
pub fn shl(a: u64, amount: u64, bits: u32) -> u64 {
    let n = amount & mask(32);
    if n >= u64::from(bits) {
        0
    } else {
        (a << n) & mask(bits)
    }
}

/// Right shift; the amount (32 bits, unsigned) is clamped to the width, so only sign bits or zeros stay.
#[must_use]
pub fn shr(a: u64, amount: u64, bits: u32, is_signed: bool) -> u64 {
    let n = (amount & mask(32)).min(u64::from(bits));
    (wide(a, bits, is_signed) >> n) as u64 & mask(bits)
}

/// Funnel shift of the 64 bits `high:low`; `left` gives the upper, else the lower 32 bits. `wrap` takes the
/// amount modulo 32, else it is clamped to 32.
#[must_use]
pub fn funnel_shift(low: u64, high: u64, amount: u64, left: bool, wrap: bool) -> u64 {
    let n = if wrap { amount & 31 } else { (amount & mask(32)).min(32) };
    let both = ((high & mask(32)) << 32) | (low & mask(32));
    (if left { (both << n) >> 32 } else { both >> n }) & mask(32)
}

/// Bit field extract; position and length are the low 8 bits of theirs. Past the top come sign bits.
#[must_use]
pub fn bfe(a: u64, position: u64, length: u64, bits: u32, is_signed: bool) -> u64 {
    let (pos, len) = ((position & 0xff) as u32, (length & 0xff) as u32);
    let bit = |i: u32| (a >> i) & 1;
    let sign = if is_signed && len > 0 { bit((pos + len - 1).min(bits - 1)) } else { 0 };
    (0..bits).map(|i| if i < len && pos + i < bits { bit(pos + i) << i } else { sign << i }).sum()
}

/// Bit field insert: the low `length` bits of `field` into `base` at `position`.
#[must_use]
pub fn bfi(field: u64, base: u64, position: u64, length: u64, bits: u32) -> u64 {
    let (pos, len) = ((position & 0xff) as u32, (length & 0xff) as u32);
    if pos >= bits {
        return base & mask(bits);
    }
    let hole = mask(len) << pos;
    ((base & !hole) | ((field << pos) & hole)) & mask(bits)
}

/// The mode of [`prmt`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrmtMode {
    /// Four selectors of four bits, the top one replicating the sign.
    Generic,
    /// `.f4e`: forward 4 extract.
    Forward,
    /// `.b4e`: backward 4 extract.
    Backward,
    /// `.rc8`: replicate 8 bits.
    Replicate8,
    /// `.ecl`: edge clamp left.
    EdgeLeft,
    /// `.ecr`: edge clamp right.
    EdgeRight,
    /// `.rc16`: replicate 16 bits.
    Replicate16,
}

/// Permutes the eight bytes of `b:a` into four.
#[must_use]
pub fn prmt(a: u64, b: u64, selector: u64, mode: PrmtMode) -> u64 {
    let bytes = ((b & mask(32)) << 32) | (a & mask(32));
    let n = selector & 3;
    let pick = |i: u64| -> u64 {
        // i: result byte, 0 the lowest.
        let nibble = match mode {
            PrmtMode::Generic => (selector >> (4 * i)) & 0xf,
            PrmtMode::Forward => n + i,
            PrmtMode::Backward => (n + 8 - i) & 7,
            PrmtMode::Replicate8 => n,
            PrmtMode::EdgeLeft => n.max(i),
            PrmtMode::EdgeRight => n.min(i),
            PrmtMode::Replicate16 => 2 * (n & 1) + (i & 1),
        };
        let byte = (bytes >> (8 * (nibble & 7))) & 0xff;
        if nibble & 8 != 0 {
            0xff * (byte >> 7)
        } else {
            byte
        }
    };
    (0..4).map(|i| pick(i) << (8 * i)).sum()
}

/// Any function of three bits, given by its truth table, on each bit.
#[must_use]
pub fn lop3(a: u64, b: u64, c: u64, table: u64) -> u64 {
    let (a, b, c) = (a & mask(32), b & mask(32), c & mask(32));
    let mut out = 0;
    for row in 0..8 {
        if (table >> row) & 1 == 1 {
            let pick = |v: u64, bit: u64| if row & bit != 0 { v } else { !v };
            out |= pick(a, 4) & pick(b, 2) & pick(c, 1);
        }
    }
    out & mask(32)
}

/// The number of leading zeros.
#[must_use]
pub fn clz(a: u64, bits: u32) -> u64 {
    u64::from((a & mask(bits)).leading_zeros() - (64 - bits))
}

/// The bits in reverse order.
#[must_use]
pub fn brev(a: u64, bits: u32) -> u64 {
    (a & mask(bits)).reverse_bits() >> (64 - bits)
}

/// Position of the highest bit that is not a sign bit; `0xffffffff` if there is none. `shift_amount` gives how far
/// to shift it to the top instead.
#[must_use]
pub fn bfind(a: u64, bits: u32, is_signed: bool, shift_amount: bool) -> u64 {
    let a = a & mask(bits);
    let a = if is_signed && signed(a, bits) < 0 { !a & mask(bits) } else { a };
    match a.checked_ilog2() {
        None => mask(32),
        Some(n) if shift_amount => u64::from(bits - 1 - n),
        Some(n) => u64::from(n),
    }
}

/// Converts between integer types, wrapping or saturating; the result has the target's width.
#[must_use]
pub fn convert(a: u64, from: (u32, bool), to: (u32, bool), saturating: bool) -> u64 {
    let value = wide(a, from.0, from.1);
    if saturating {
        saturate(value, to.0, to.1)
    } else {
        value as u64 & mask(to.0)
    }
}

/// An integer comparison by its PTX name (`lt`, `hs`, …); `None` if there is no such comparison of integers.
#[must_use]
pub fn compare(name: &str, a: u64, b: u64, bits: u32, is_signed: bool) -> Option<bool> {
    let (a, b) = (wide(a, bits, is_signed), wide(b, bits, is_signed));
    Some(match name {
        "eq" => a == b,
        "ne" => a != b,
        "lt" | "lo" => a < b,
        "le" | "ls" => a <= b,
        "gt" | "hi" => a > b,
        "ge" | "hs" => a >= b,
        _ => return None,
    })
}

/// The sign bits of a packed value: one per `lane` bits.
#[must_use]
pub fn sign_bits(bits: u32, lane: u32) -> u64 {
    (0..bits / lane).map(|i| 1 << (i * lane + lane - 1)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_chain() {
        // (2^32 - 1) + 1 with a carry into the next word: 0x1_0000_0000 in two words.
        assert_eq!(add_carry(0xffff_ffff, 1, false, 32), (0, true));
        assert_eq!(add_carry(0, 0, true, 32), (1, false));
        assert_eq!(add_carry(u64::MAX, u64::MAX, true, 64), (u64::MAX, true));
        assert_eq!(sub_borrow(0, 1, false, 32), (0xffff_ffff, true));
        assert_eq!(sub_borrow(5, 5, true, 32), (0xffff_ffff, true));
        assert_eq!(sub_borrow(5, 0xffff_ffff, true, 32), (5, true));
        assert_eq!(sub_borrow(7, 5, true, 64), (1, false));
    }

    #[test]
    fn products() {
        assert_eq!(mul_high(0xffff_ffff, 0xffff_ffff, 32, false), 0xffff_fffe);
        assert_eq!(mul_high(0xffff_ffff, 0xffff_ffff, 32, true), 0); // -1 * -1 = 1
        assert_eq!(mul_high(0xffff_ffff, 2, 32, true), 0xffff_ffff); // -2
        assert_eq!(mul_high(u64::MAX, u64::MAX, 64, false), u64::MAX - 1);
        assert_eq!(mul_high(1 << 63, 1 << 63, 64, true), 1 << 62);
        assert_eq!(mul_wide(0xffff_ffff, 4, 32, true), (-4i64) as u64);
        assert_eq!(mul_wide(0xffff_ffff, 4, 32, false), 0x3_ffff_fffc);
        assert_eq!(mul_wide(0xffff, 0xffff, 16, true), 1);
        assert_eq!(mul_low(0xffff_ffff, 0xffff_ffff, 32), 1);
        assert_eq!(mad_high_saturated(0x7fff_ffff, 0x7fff_ffff, 0x7fff_ffff, 32), 0x7fff_ffff);
    }

    #[test]
    fn division() {
        assert_eq!(div(7, 0, 32, false), 0xffff_ffff);
        assert_eq!(div(7, 0, 32, true), 0xffff_ffff);
        assert_eq!(rem(7, 0, 32, true), 7);
        assert_eq!(div(0x8000_0000, 0xffff_ffff, 32, true), 0x8000_0000);
        assert_eq!(rem(0x8000_0000, 0xffff_ffff, 32, true), 0);
        assert_eq!(div(0xffff_fff9, 2, 32, true), 0xffff_fffd); // -7 / 2 = -3
        assert_eq!(rem(0xffff_fff9, 2, 32, true), 0xffff_ffff); // -7 % 2 = -1
        assert_eq!(div(1 << 63, u64::MAX, 64, true), 1 << 63);
        assert_eq!(div(u64::MAX, 3, 64, false), u64::MAX / 3);
    }

    #[test]
    fn sign_and_order() {
        assert_eq!(neg(1, 32), 0xffff_ffff);
        assert_eq!(abs(0x8000_0000, 32), 0x8000_0000);
        assert_eq!(abs(0xffff_ffff, 32), 1);
        assert_eq!(min_max(0xffff_ffff, 1, 32, true, false), 0xffff_ffff);
        assert_eq!(min_max(0xffff_ffff, 1, 32, false, false), 1);
        assert_eq!(min_max(0xffff_ffff, 1, 32, true, true), 1);
        assert_eq!(min_max(3, 3, 32, true, true), 3);
        assert_eq!(compare("lt", 0xffff_ffff, 0, 32, true), Some(true));
        assert_eq!(compare("lo", 0xffff_ffff, 0, 32, false), Some(false));
        assert_eq!(compare("hs", 0xffff, 1, 16, false), Some(true));
        assert_eq!(compare("ltu", 0, 0, 32, false), None);
        assert_eq!(add_saturated(0x7fff_ffff, 1, 32, false), 0x7fff_ffff);
        assert_eq!(add_saturated(0x8000_0000, 1, 32, true), 0x8000_0000);
    }

    #[test]
    fn shifts_clamp() {
        assert_eq!(shl(1, 31, 32), 0x8000_0000);
        assert_eq!(shl(1, 32, 32), 0);
        assert_eq!(shl(1, 0xffff_ffff, 64), 0);
        assert_eq!(shl(3, 15, 16), 0x8000);
        assert_eq!(shr(0x8000_0000, 40, 32, true), 0xffff_ffff);
        assert_eq!(shr(0x8000_0000, 32, 32, false), 0);
        assert_eq!(shr(0x8000_0000, 4, 32, true), 0xf800_0000);
        assert_eq!(shr(1 << 63, 64, 64, true), u64::MAX);
        assert_eq!(funnel_shift(0x1234_5678, 0x9abc_def0, 8, true, true), 0xbcde_f012);
        assert_eq!(funnel_shift(0x1234_5678, 0x9abc_def0, 8, false, true), 0xf012_3456);
        assert_eq!(funnel_shift(1, 2, 32, true, true), 2); // wraps to 0
        assert_eq!(funnel_shift(1, 2, 99, true, false), 1); // clamps to 32
        assert_eq!(funnel_shift(1, 2, 99, false, false), 2);
    }

    #[test]
    fn fields() {
        assert_eq!(bfe(0xabcd_1234, 8, 8, 32, false), 0x12);
        assert_eq!(bfe(0x0000_8000, 12, 4, 32, true), 0xffff_fff8);
        assert_eq!(bfe(0xffff_ffff, 4, 0, 32, true), 0);
        assert_eq!(bfe(0x8000_0000, 31, 8, 32, true), 0xffff_ffff);
        assert_eq!(bfe(0x8000_0000, 40, 8, 32, true), 0xffff_ffff);
        assert_eq!(bfe(0x8000_0000, 40, 8, 32, false), 0);
        assert_eq!(bfe(u64::MAX, 60, 255, 64, false), 0xf);
        assert_eq!(bfi(0xff, 0, 4, 8, 32), 0xff0);
        assert_eq!(bfi(0xff, 0x1234_5678, 28, 8, 32), 0xf234_5678);
        assert_eq!(bfi(0xff, 0x1234_5678, 32, 8, 32), 0x1234_5678);
        assert_eq!(bfi(0, u64::MAX, 0, 64, 64), 0);
        assert_eq!(bfi(7, 1, 4, 0, 32), 1);
    }

    #[test]
    fn permutes() {
        let (a, b) = (0x0302_0100, 0x0706_0504);
        assert_eq!(prmt(a, b, 0x7531, PrmtMode::Generic), 0x0705_0301);
        assert_eq!(prmt(0x80, 0, 0x1118, PrmtMode::Generic), 0x0000_00ff);
        assert_eq!(prmt(a, b, 0x7770, PrmtMode::Generic), 0x0707_0700);
        assert_eq!(prmt(a, b, 1, PrmtMode::Forward), 0x0403_0201);
        assert_eq!(prmt(a, b, 0, PrmtMode::Backward), 0x0506_0700);
        assert_eq!(prmt(a, b, 3, PrmtMode::Backward), 0x0001_0203);
        assert_eq!(prmt(a, b, 2, PrmtMode::Replicate8), 0x0202_0202);
        assert_eq!(prmt(a, b, 1, PrmtMode::EdgeLeft), 0x0302_0101);
        assert_eq!(prmt(a, b, 2, PrmtMode::EdgeRight), 0x0202_0100);
        assert_eq!(prmt(a, b, 3, PrmtMode::Replicate16), 0x0302_0302);
    }

    #[test]
    fn bit_counting() {
        assert_eq!(lop3(0xf0, 0xcc, 0xaa, 0x96), 0xf0 ^ 0xcc ^ 0xaa);
        assert_eq!(lop3(0xf0, 0xcc, 0xaa, 0xe8), (0xf0 & 0xcc) | (0xf0 & 0xaa) | (0xcc & 0xaa));
        assert_eq!(lop3(0, 0, 0, 1), 0xffff_ffff);
        assert_eq!((clz(0, 32), clz(1, 32), clz(0, 64), clz(1 << 63, 64)), (32, 31, 64, 0));
        assert_eq!((brev(1, 32), brev(1, 64)), (0x8000_0000, 1 << 63));
        assert_eq!(bfind(0, 32, false, false), 0xffff_ffff);
        assert_eq!(bfind(0xffff_ffff, 32, true, false), 0xffff_ffff);
        assert_eq!(bfind(0x10, 32, false, false), 4);
        assert_eq!(bfind(0x10, 32, false, true), 27);
        assert_eq!(bfind(0xffff_fff0, 32, true, false), 3);
        assert_eq!(bfind(0, 64, false, true), 0xffff_ffff);
    }

    #[test]
    fn conversions() {
        assert_eq!(convert(0x80, (8, true), (32, true), false), 0xffff_ff80); // cvt.s32.s8
        assert_eq!(convert(0x1_80, (8, true), (32, true), false), 0xffff_ff80);
        assert_eq!(convert(0x80, (8, false), (32, true), false), 0x80);
        assert_eq!(convert(300, (32, true), (8, false), true), 255);
        assert_eq!(convert(0xffff_ffff, (32, true), (8, false), true), 0);
        assert_eq!(convert(0xffff_ff00, (32, true), (8, true), true), 0x80);
        assert_eq!(convert(0xffff_ffff, (32, true), (64, true), false), u64::MAX);
        assert_eq!(convert(u64::MAX, (64, false), (32, true), true), 0x7fff_ffff);
        assert_eq!(sign_bits(32, 16), 0x8000_8000);
        assert_eq!(sign_bits(64, 64), 1 << 63);
        assert_eq!((mask(0), mask(32), mask(64)), (0, 0xffff_ffff, u64::MAX));
        assert_eq!((signed(0x80, 8), signed(u64::MAX, 64)), (-128, -1));
    }
}
