//! From a mnemonic to the operation it names; the table itself stands at the head of [`crate::semantics`].

use super::integer::{Cc, PrmtMode};

/// A bitwise function of two inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Logic {
    /// Both.
    And,
    /// Either.
    Or,
    /// One of them.
    Xor,
}

impl Logic {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "AND" => Logic::And,
            "OR" => Logic::Or,
            "XOR" => Logic::Xor,
            _ => return None,
        })
    }
}

/// A two-operand or one-operand 16-bit operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Half {
    Add,
    Sub,
    Mul,
    MulHigh,
    Mad,
    Min,
    Max,
    Shl,
    Shr,
    Div,
    Rem,
    Neg,
    Abs,
}

/// The product that a carry operation adds to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Product {
    /// None: plain addition.
    None,
    /// Low half.
    Low,
    /// High half, signed or not.
    High {
        /// Signed inputs.
        signed: bool,
    },
}

/// What a mnemonic computes. `bits` is 32 or 64 where both exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Meaning {
    Move,
    Add {
        bits: u32,
        subtract: bool,
    },
    Add3,
    MulAdd,
    MulAddHigh {
        signed: bool,
    },
    MulAddWide {
        signed: bool,
    },
    Mul64,
    MulHigh64 {
        signed: bool,
    },
    Carry {
        product: Product,
        subtract: bool,
        carry_in: bool,
        carry_out: bool,
    },
    ShiftAdd,
    ShiftLeft {
        bits: u32,
    },
    ShiftRight {
        bits: u32,
        signed: bool,
    },
    Funnel {
        left: bool,
        wrap: bool,
        bits: u32,
        signed: bool,
        high: bool,
    },
    Logic(Logic),
    Logic3,
    FieldExtract {
        bits: u32,
        signed: bool,
    },
    FieldInsert {
        bits: u32,
    },
    Permute(PrmtMode),
    Popcount {
        bits: u32,
    },
    FindMsb {
        bits: u32,
        signed: bool,
        shift: bool,
    },
    Reverse {
        bits: u32,
    },
    LeadingZeros {
        bits: u32,
    },
    MinMax {
        bits: u32,
        signed: bool,
        max: Option<bool>,
    },
    Abs {
        bits: u32,
    },
    Neg {
        bits: u32,
    },
    Select,
    Compare {
        cc: Cc,
        bits: u32,
        signed: bool,
        combine: Logic,
    },
    PredLogic(Logic),
    PredTable,
    PredMove {
        negate: bool,
    },
    Extend {
        bits: u32,
        signed: bool,
    },
    Half {
        op: Half,
        signed: bool,
    },
    Divide {
        bits: u32,
        signed: bool,
        remainder: bool,
    },
    SignFlip,
    SignClear,
    /// No modelled meaning: an uninterpreted function.
    Opaque,
}

/// Width and sign of an integer type among the modifiers: `U32`, `S64`, `64`, ...
fn integer_type(mods: &[&str], signed_by_default: bool) -> Option<(u32, bool)> {
    let mut found = None;
    for m in mods {
        let t = match *m {
            "U16" => (16, false),
            "S16" => (16, true),
            "U32" => (32, false),
            "S32" => (32, true),
            "U64" => (64, false),
            "S64" => (64, true),
            "64" => (64, signed_by_default),
            _ => continue,
        };
        if found.replace(t).is_some() {
            return None;
        }
    }
    Some(found.unwrap_or((32, signed_by_default)))
}

/// True when every modifier is allowed.
fn only(mods: &[&str], allowed: &[&str]) -> bool {
    mods.iter().all(|m| allowed.contains(m))
}

/// Bases of the uniform data path that mean what the base without the `U` means.
const UNIFORM: &[&str] = &[
    "UMOV", "UIADD3", "UIMAD", "ULOP3", "ULOP", "USHF", "USHL", "USHR", "ULEA", "USEL", "UISETP", "UPLOP3", "UPRMT",
    "UPOPC", "UFLO", "UBREV", "UIMNMX", "UIABS",
];

impl Meaning {
    /// The meaning of a full mnemonic. A modifier that the table does not list makes it opaque.
    pub fn of(mnemonic: &str) -> Meaning {
        let mut parts = mnemonic.split('.');
        let base = parts.next().unwrap_or("");
        let mods: Vec<&str> = parts.collect();
        let base = if UNIFORM.contains(&base) { &base[1..] } else { base };
        Self::parse(base, &mods).unwrap_or(Meaning::Opaque)
    }

    /// True when source negation and absolute value act on the sign bit.
    pub fn is_float(mnemonic: &str) -> bool {
        let base = mnemonic.split('.').next().unwrap_or("");
        !matches!(base, "FLO" | "FNS" | "FENCE" | "DEPBAR" | "HGMMA")
            && (base.starts_with(['F', 'D', 'H'])
                || base.starts_with("MUFU")
                || base.starts_with("UF") && base != "UFLO")
    }

    fn parse(base: &str, mods: &[&str]) -> Option<Meaning> {
        if let Some(m) = Self::parse_half(base, mods) {
            return Some(m);
        }
        let full = |signed| integer_type(mods, signed);
        let wide = |signed| full(signed).filter(|t| t.0 >= 32);
        const TYPES: &[&str] = &["U32", "S32", "U64", "S64", "64"];
        Some(match base {
            "MOV" | "S2R" | "S2UR" | "CS2R" | "R2UR" if only(mods, &["U32", "32", "64", "VOLATILE"]) => Meaning::Move,
            "IADD" | "VIADD" | "ISUB" => {
                let subtract = base == "ISUB";
                let x = |m| mods.contains(&m);
                match mods {
                    [] | ["32"] => Meaning::Add { bits: 32, subtract },
                    ["64"] => Meaning::Add { bits: 64, subtract },
                    [_] if x("CC") || x("X") || x("XCC") => {
                        Self::carry(Product::None, subtract, mods[0]).expect("one of the three")
                    }
                    _ => return None,
                }
            }
            "IADD3" if mods.is_empty() => Meaning::Add3,
            "IMAD" => Self::parse_imad(mods)?,
            "IMUL" => match mods {
                ["64"] => Meaning::Mul64,
                ["HI", "U64"] => Meaning::MulHigh64 { signed: false },
                ["HI", "S64"] => Meaning::MulHigh64 { signed: true },
                _ => return None,
            },
            "LEA" if mods.is_empty() => Meaning::ShiftAdd,
            "SHL" if only(mods, TYPES) => Meaning::ShiftLeft { bits: wide(false)?.0 },
            "SHR" if only(mods, TYPES) => {
                let (bits, signed) = wide(true)?;
                Meaning::ShiftRight { bits, signed }
            }
            "SHF" => Self::parse_funnel(mods)?,
            "LOP" if mods.len() == 1 => Meaning::Logic(Logic::from_name(mods[0])?),
            "LOP3" if mods == ["LUT"] => Meaning::Logic3,
            "BFE" if only(mods, TYPES) => {
                let (bits, signed) = wide(true)?;
                Meaning::FieldExtract { bits, signed }
            }
            "BFI" if only(mods, &["64", "32"]) => Meaning::FieldInsert { bits: wide(false)?.0 },
            "PRMT" => Meaning::Permute(match mods {
                [] => PrmtMode::Generic,
                ["F4E"] => PrmtMode::Forward,
                ["B4E"] => PrmtMode::Backward,
                ["RC8"] => PrmtMode::Replicate8,
                ["ECL"] => PrmtMode::EdgeLeft,
                ["ECR"] => PrmtMode::EdgeRight,
                ["RC16"] => PrmtMode::Replicate16,
                _ => return None,
            }),
            "POPC" if only(mods, &["64", "32"]) => Meaning::Popcount { bits: wide(false)?.0 },
            "FLO" if only(mods, &["U32", "S32", "U64", "S64", "64", "SH"]) => {
                let (bits, signed) = wide(false)?;
                Meaning::FindMsb { bits, signed, shift: mods.contains(&"SH") }
            }
            "BREV" if only(mods, &["64", "32"]) => Meaning::Reverse { bits: wide(false)?.0 },
            "CLZ" if only(mods, &["64", "32"]) => Meaning::LeadingZeros { bits: wide(false)?.0 },
            "IMNMX" | "VIMNMX" if only(mods, &["MIN", "MAX", "U32", "S32", "U64", "S64"]) => {
                let (bits, signed) = wide(true)?;
                let max = match (mods.contains(&"MIN"), mods.contains(&"MAX")) {
                    (false, false) => None,
                    (true, true) => return None,
                    (_, max) => Some(max),
                };
                Meaning::MinMax { bits, signed, max }
            }
            "IABS" if only(mods, &["64", "32"]) => Meaning::Abs { bits: wide(true)?.0 },
            "INEG" if only(mods, &["64", "32"]) => Meaning::Neg { bits: wide(true)?.0 },
            "SEL" | "FSEL" if only(mods, &["64"]) => Meaning::Select,
            "ISETP" => {
                let (cc, rest) = mods.split_first()?;
                if !only(rest, &["U32", "S32", "U64", "S64", "64", "AND", "OR", "XOR"]) {
                    return None;
                }
                let (bits, signed) = wide(true)?;
                let combine = rest.iter().find_map(|m| Logic::from_name(m)).unwrap_or(Logic::And);
                Meaning::Compare { cc: Cc::from_name(cc)?, bits, signed, combine }
            }
            "PLOP" => match mods {
                ["NOT"] => Meaning::PredMove { negate: true },
                [op] => Meaning::PredLogic(Logic::from_name(op)?),
                _ => return None,
            },
            "PLOP3" if mods == ["LUT"] => Meaning::PredTable,
            "PMOV" if mods.is_empty() => Meaning::PredMove { negate: false },
            "I2I" => {
                let (bits, signed) = match mods {
                    ["U8"] => (8, false),
                    ["S8"] => (8, true),
                    ["U16"] => (16, false),
                    ["S16"] => (16, true),
                    _ => return None,
                };
                Meaning::Extend { bits, signed }
            }
            "IDIV" | "IREM" if only(mods, TYPES) => {
                let (bits, signed) = wide(true)?;
                Meaning::Divide { bits, signed, remainder: base == "IREM" }
            }
            "FNEG" | "DNEG" if mods.is_empty() => Meaning::SignFlip,
            "FABS" | "DABS" if mods.is_empty() => Meaning::SignClear,
            _ => return None,
        })
    }

    fn carry(product: Product, subtract: bool, modifier: &str) -> Option<Meaning> {
        let (carry_in, carry_out) = match modifier {
            "CC" => (false, true),
            "X" => (true, false),
            "XCC" => (true, true),
            _ => return None,
        };
        Some(Meaning::Carry { product, subtract, carry_in, carry_out })
    }

    fn parse_imad(mods: &[&str]) -> Option<Meaning> {
        let signed = !mods.contains(&"U32");
        let rest: Vec<&str> = mods.iter().copied().filter(|m| *m != "U32" && *m != "S32").collect();
        Some(match rest[..] {
            [] | ["MOV"] | ["SHL"] | ["IADD"] | ["LO"] => Meaning::MulAdd,
            ["HI"] => Meaning::MulAddHigh { signed },
            ["WIDE"] => Meaning::MulAddWide { signed },
            ["LO", m] => Self::carry(Product::Low, false, m)?,
            ["HI", m] => Self::carry(Product::High { signed }, false, m)?,
            _ => return None,
        })
    }

    fn parse_funnel(mods: &[&str]) -> Option<Meaning> {
        let (dir, rest) = mods.split_first()?;
        let left = match *dir {
            "L" => true,
            "R" => false,
            _ => return None,
        };
        if !only(rest, &["W", "C", "U32", "S32", "U64", "S64", "HI"]) {
            return None;
        }
        let wrap = rest.contains(&"W");
        let typed = rest.iter().any(|m| matches!(*m, "U32" | "S32" | "U64" | "S64"));
        let (bits, signed) = integer_type(rest, false)?;
        let high = if typed { rest.contains(&"HI") } else { left };
        Some(Meaning::Funnel { left, wrap, bits, signed, high })
    }

    fn parse_half(base: &str, mods: &[&str]) -> Option<Meaning> {
        let signed = match mods {
            ["U16"] => false,
            ["S16"] => true,
            _ => return None,
        };
        let op = match base {
            "ADD" => Half::Add,
            "SUB" => Half::Sub,
            "MUL" => Half::Mul,
            "MULHI" => Half::MulHigh,
            "MAD" => Half::Mad,
            "MIN" => Half::Min,
            "MAX" => Half::Max,
            "SHL" => Half::Shl,
            "SHR" => Half::Shr,
            "IDIV" => Half::Div,
            "IREM" => Half::Rem,
            "NEG" => Half::Neg,
            "ABS" => Half::Abs,
            _ => return None,
        };
        Some(Meaning::Half { op, signed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sass_and_own_names_meet() {
        let f = |left, wrap, bits, signed, high| Meaning::Funnel { left, wrap, bits, signed, high };
        assert_eq!(Meaning::of("SHF.L.W.U32.HI"), f(true, true, 32, false, true));
        assert_eq!(Meaning::of("SHF.L.W"), f(true, true, 32, false, true));
        assert_eq!(Meaning::of("SHF.R.C"), f(false, false, 32, false, false));
        assert_eq!(Meaning::of("SHF.R.S32.HI"), f(false, false, 32, true, true));
        assert_eq!(Meaning::of("USHF.L.U64.HI"), f(true, false, 64, false, true));
        assert_eq!(Meaning::of("IMAD.MOV.U32"), Meaning::MulAdd);
        assert_eq!(Meaning::of("IMAD.WIDE.U32"), Meaning::MulAddWide { signed: false });
        assert_eq!(Meaning::of("UISETP.GE.U32.AND"), Meaning::of("ISETP.GE.U32.AND"));
        let hi = Product::High { signed: false };
        let carry = Meaning::Carry { product: hi, subtract: false, carry_in: true, carry_out: true };
        assert_eq!(Meaning::of("IMAD.HI.U32.XCC"), carry);
    }

    #[test]
    fn what_is_not_listed_is_opaque() {
        for m in ["IADD3.X", "IMAD.X", "ISETP.GE.AND.EX", "LEA.HI.X", "FADD", "SHF", "LOP3", "PRMT.X", "", "VIADD.16x2"]
        {
            assert_eq!(Meaning::of(m), Meaning::Opaque, "{m}");
        }
        for (m, float) in [("FADD", true), ("DFMA", true), ("HFMA2.MMA", true), ("MUFU.RCP", true), ("FLO.U32", false)]
        {
            assert_eq!(Meaning::is_float(m), float, "{m}");
        }
    }
}
