//! Integer operations of any width up to 64 bits, on bits in the low end of a `u64`.
//!
//! Inputs are taken modulo their width, results have zeros above it. What machines leave open is fixed: `x / 0` has all
//! bits set, `x % 0` is `x`, the smallest number divided by -1 is itself with remainder 0; shift amounts saturate.

/// The low `bits` bits set.
pub const fn mask(bits: u32) -> u64 {
    if bits >= 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    }
}

/// The value as a number of its type.
pub const fn number(x: u64, bits: u32, signed: bool) -> i128 {
    let unused = 64 - bits;
    if signed {
        (((x << unused) as i64) >> unused) as i128
    } else {
        (x & mask(bits)) as i128
    }
}

/// Sum with carry in, and carry out.
pub const fn add_carry(a: u64, b: u64, carry: bool, bits: u32) -> (u64, bool) {
    let sum = (a & mask(bits)) as u128 + (b & mask(bits)) as u128 + carry as u128;
    (sum as u64 & mask(bits), sum >> bits != 0)
}

/// `a - b - borrow`, and borrow out.
pub const fn sub_borrow(a: u64, b: u64, borrow: bool, bits: u32) -> (u64, bool) {
    let (a, b) = ((a & mask(bits)) as u128, (b & mask(bits)) as u128 + borrow as u128);
    (a.wrapping_sub(b) as u64 & mask(bits), a < b)
}

/// High half of the product.
pub const fn mul_high(a: u64, b: u64, bits: u32, signed: bool) -> u64 {
    if signed {
        ((number(a, bits, true) * number(b, bits, true)) >> bits) as u64 & mask(bits)
    } else {
        (((a & mask(bits)) as u128 * (b & mask(bits)) as u128) >> bits) as u64 & mask(bits)
    }
}

/// Product of two 32-bit numbers.
pub const fn mul_wide(a: u64, b: u64, signed: bool) -> u64 {
    (number(a, 32, signed) * number(b, 32, signed)) as u64
}

/// Quotient, rounded to zero.
pub const fn div(a: u64, b: u64, bits: u32, signed: bool) -> u64 {
    match number(b, bits, signed) {
        0 => mask(bits),
        d => (number(a, bits, signed) / d) as u64 & mask(bits),
    }
}

/// Remainder, with the sign of `a`.
pub const fn rem(a: u64, b: u64, bits: u32, signed: bool) -> u64 {
    match number(b, bits, signed) {
        0 => a & mask(bits),
        d => (number(a, bits, signed) % d) as u64 & mask(bits),
    }
}

/// Absolute value; the smallest number stays itself.
pub const fn abs(a: u64, bits: u32) -> u64 {
    number(a, bits, true).unsigned_abs() as u64 & mask(bits)
}

/// Smaller or larger of two numbers.
pub const fn min_max(a: u64, b: u64, bits: u32, signed: bool, max: bool) -> u64 {
    let first = (number(a, bits, signed) < number(b, bits, signed)) != max;
    (if first { a } else { b }) & mask(bits)
}

/// Left shift; 0 from the width on.
pub const fn shl(a: u64, amount: u32, bits: u32) -> u64 {
    if amount >= bits {
        0
    } else {
        a << amount & mask(bits)
    }
}

/// Right shift; only zeros or copies of the sign from the width on.
pub const fn shr(a: u64, amount: u32, bits: u32, signed: bool) -> u64 {
    let n = if amount > bits { bits } else { amount };
    (number(a, bits, signed) >> n) as u64 & mask(bits)
}

/// Bit field extract: `len` bits from `pos`, each modulo 256; past the top come zeros, or the sign of the field.
pub const fn bfe(a: u64, pos: u32, len: u32, bits: u32, signed: bool) -> u64 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    if len == 0 {
        return 0;
    }
    let top = if pos + len - 1 < bits - 1 { pos + len - 1 } else { bits - 1 };
    let sign = signed && a >> top & 1 != 0;
    let field = if pos >= bits { 0 } else { (a & mask(bits)) >> pos & mask(len) };
    let have = if pos >= bits { 0 } else { top - pos + 1 };
    if sign {
        (field | !mask(have)) & mask(bits)
    } else {
        field
    }
}

/// Bit field insert: the low `len` bits of `field` into `base` at `pos`.
pub const fn bfi(field: u64, base: u64, pos: u32, len: u32, bits: u32) -> u64 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    if pos >= bits {
        return base & mask(bits);
    }
    let hole = mask(len) << pos;
    (base & !hole | field << pos & hole) & mask(bits)
}

/// Position of the highest bit that is not a copy of the sign, or how far to shift it to the top; all ones when there is
/// none.
pub const fn find_msb(a: u64, bits: u32, signed: bool, shift: bool) -> u32 {
    let a = a & mask(bits);
    let a = if signed && a >> (bits - 1) & 1 != 0 { !a & mask(bits) } else { a };
    if a == 0 {
        return u32::MAX;
    }
    let pos = 63 - a.leading_zeros();
    if shift {
        bits - 1 - pos
    } else {
        pos
    }
}

/// Any function of three bits, by its truth table, on each bit.
pub const fn lop3(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let mut out = 0;
    let mut row = 0;
    while row < 8 {
        if table >> row & 1 != 0 {
            let x = if row & 4 != 0 { a } else { !a };
            let y = if row & 2 != 0 { b } else { !b };
            let z = if row & 1 != 0 { c } else { !c };
            out |= x & y & z;
        }
        row += 1;
    }
    out
}

/// How a byte permutation reads its selector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrmtMode {
    /// Four selectors of four bits, the top bit of each replicates the sign.
    Generic,
    /// `F4E`: forward 4 extract.
    Forward,
    /// `B4E`: backward 4 extract.
    Backward,
    /// `RC8`: replicate 8 bits.
    Replicate8,
    /// `ECL`: edge clamp left.
    EdgeLeft,
    /// `ECR`: edge clamp right.
    EdgeRight,
    /// `RC16`: replicate 16 bits.
    Replicate16,
}

/// For each of the four result bytes, the source byte of `b:a` (0 to 7) and whether its sign is replicated.
pub const fn prmt_source(selector: u32, mode: PrmtMode, byte: u32) -> (u32, bool) {
    let n = selector & 3;
    let s = match mode {
        PrmtMode::Generic => selector >> (4 * byte) & 15,
        PrmtMode::Forward => n + byte,
        PrmtMode::Backward => (n + 8 - byte) & 7,
        PrmtMode::Replicate8 => n,
        PrmtMode::EdgeLeft => {
            if n > byte {
                n
            } else {
                byte
            }
        }
        PrmtMode::EdgeRight => {
            if n < byte {
                n
            } else {
                byte
            }
        }
        PrmtMode::Replicate16 => 2 * (n & 1) + (byte & 1),
    };
    (s & 7, s & 8 != 0)
}

/// Bytes of `b:a` by selector.
pub const fn prmt(a: u32, b: u32, selector: u32, mode: PrmtMode) -> u32 {
    let source = (b as u64) << 32 | a as u64;
    let mut out = 0;
    let mut i = 0;
    while i < 4 {
        let (from, sign) = prmt_source(selector, mode, i);
        let byte = (source >> (8 * from)) as u32 & 0xff;
        let byte = if sign { (byte >> 7) * 0xff } else { byte };
        out |= byte << (8 * i);
        i += 1;
    }
    out
}

/// An integer comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cc {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

impl Cc {
    /// The comparison with this SASS name (`EQ`, `NE`, `LT`, `LE`, `GT`, `GE`).
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "EQ" => Cc::Eq,
            "NE" => Cc::Ne,
            "LT" => Cc::Lt,
            "LE" => Cc::Le,
            "GT" => Cc::Gt,
            "GE" => Cc::Ge,
            _ => return None,
        })
    }
    /// Whether `a` and `b` compare so.
    pub const fn holds(self, a: u64, b: u64, bits: u32, signed: bool) -> bool {
        let (a, b) = (number(a, bits, signed), number(b, bits, signed));
        match self {
            Cc::Eq => a == b,
            Cc::Ne => a != b,
            Cc::Lt => a < b,
            Cc::Le => a <= b,
            Cc::Gt => a > b,
            Cc::Ge => a >= b,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_and_products() {
        assert_eq!(add_carry(0xffff_ffff, 1, false, 32), (0, true));
        assert_eq!(add_carry(u64::MAX, u64::MAX, true, 64), (u64::MAX, true));
        assert_eq!(sub_borrow(0, 1, false, 32), (0xffff_ffff, true));
        assert_eq!(sub_borrow(5, 0xffff_ffff, true, 32), (5, true));
        assert_eq!(mul_high(0xffff_ffff, 0xffff_ffff, 32, false), 0xffff_fffe);
        assert_eq!(mul_high(0xffff_ffff, 0xffff_ffff, 32, true), 0);
        assert_eq!(mul_high(u64::MAX, u64::MAX, 64, false), u64::MAX - 1);
        assert_eq!(mul_high(1 << 63, 1 << 63, 64, true), 1 << 62);
        assert_eq!(mul_wide(0xffff_ffff, 4, true), (-4i64) as u64);
        assert_eq!(mul_wide(0xffff_ffff, 4, false), 0x3_ffff_fffc);
    }

    #[test]
    fn division_at_its_edges() {
        assert_eq!((div(7, 0, 32, false), rem(7, 0, 32, true)), (0xffff_ffff, 7));
        assert_eq!(
            (div(0x8000_0000, 0xffff_ffff, 32, true), rem(0x8000_0000, 0xffff_ffff, 32, true)),
            (0x8000_0000, 0)
        );
        assert_eq!((div(1 << 63, u64::MAX, 64, true), div(-7i64 as u64, 2, 64, true)), (1 << 63, -3i64 as u64));
        assert_eq!((rem(-7i64 as u64, 2, 64, true), div(u64::MAX, 10, 64, false)), (u64::MAX, u64::MAX / 10));
    }

    #[test]
    fn shifts_and_fields() {
        assert_eq!((shl(1, 31, 32), shl(1, 32, 32), shl(1, 63, 64), shl(1, 400, 64)), (1 << 31, 0, 1 << 63, 0));
        assert_eq!((shr(1 << 31, 40, 32, true), shr(1 << 31, 40, 32, false)), (0xffff_ffff, 0));
        assert_eq!(shr(1 << 63, 63, 64, true), u64::MAX);
        assert_eq!((bfe(0x1234_5678, 8, 8, 32, false), bfe(0x0000_8000, 8, 8, 32, true)), (0x56, 0xffff_ff80));
        assert_eq!((bfe(0x8000_0000, 28, 10, 32, true), bfe(0x8000_0000, 28, 10, 32, false)), (0xffff_fff8, 8));
        assert_eq!((bfe(0x8000_0000, 40, 3, 32, true), bfe(5, 0, 0, 32, true)), (0xffff_ffff, 0));
        assert_eq!((bfi(0xff, 0, 4, 8, 32), bfi(0, 0xffff_ffff, 28, 10, 32)), (0xff0, 0x0fff_ffff));
        assert_eq!((bfi(1, 7, 32, 1, 32), bfi(3, 0, 63, 2, 64)), (7, 1 << 63));
    }

    #[test]
    fn bits() {
        assert_eq!((find_msb(0x10, 32, false, false), find_msb(0x10, 32, false, true)), (4, 27));
        assert_eq!((find_msb(0, 32, false, false), find_msb(u64::MAX, 64, true, false)), (u32::MAX, u32::MAX));
        assert_eq!((find_msb(0xffff_fffe, 32, true, false), find_msb(1 << 40, 64, false, true)), (0, 23));
        assert_eq!(lop3(0xf0, 0xcc, 0xaa, 0xca) & 0xff, (0xf0 & 0xcc) | (!0xf0 & 0xaa) & 0xff);
        assert_eq!(prmt(0x3322_1100, 0x7766_5544, 0x7410, PrmtMode::Generic), 0x7744_1100);
        assert_eq!(prmt(0x0000_0080, 0, 0x0008, PrmtMode::Generic), 0x8080_80ff);
        assert_eq!(prmt(0x3322_1100, 0x7766_5544, 2, PrmtMode::Forward), 0x5544_3322);
        assert_eq!(prmt(0x3322_1100, 0x7766_5544, 1, PrmtMode::Replicate16), 0x3322_3322);
        assert_eq!(abs(0x8000_0000, 32), 0x8000_0000);
        assert_eq!(min_max(0xffff_ffff, 1, 32, true, true), 1);
        assert!(Cc::Lt.holds(0xffff_ffff, 1, 32, true) && !Cc::Lt.holds(0xffff_ffff, 1, 32, false));
    }
}
