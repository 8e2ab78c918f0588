//! PTX scalar types, state spaces and special registers, as data.
//!
//! Widths are in bits. A type names its interpretation (`s32`, `f32`) as well as its width;
//! registers only have a width and a predicate flag, so most users ask for [`ScalarType::bits`].
//! Packed types (`f16x2`) count as one lane of their full width: that is how PTX registers hold them.

use std::fmt;

/// How the bits of a [`ScalarType`] are interpreted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum TypeClass {
    /// Untyped bits (`b32`).
    Bits,
    /// Unsigned integer.
    Unsigned,
    /// Signed integer (two's complement).
    Signed,
    /// Floating point, packed or not, including the 8-, 6- and 4-bit formats.
    Float,
    /// One-bit predicate.
    Pred,
    /// Opaque texture, sampler or surface reference.
    Opaque,
}

macro_rules! scalar_types {
    ($($variant:ident $name:literal $bits:literal $class:ident;)*) => {
        /// A PTX fundamental, packed or opaque type, as it is spelled in modifiers (`.s32`).
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[allow(missing_docs)] // each variant is its PTX spelling
        pub enum ScalarType { $($variant,)* }

        impl ScalarType {
            /// Parses the spelling without the leading dot; `None` if it is not a type.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
            /// The PTX spelling, without the dot.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
            /// Width in bits of one value.
            #[must_use]
            pub fn bits(self) -> u32 {
                match self { $(Self::$variant => $bits,)* }
            }
            /// Interpretation of the bits.
            #[must_use]
            pub fn class(self) -> TypeClass {
                match self { $(Self::$variant => TypeClass::$class,)* }
            }
        }
    };
}

scalar_types! {
    Pred "pred" 1 Pred;
    B1 "b1" 1 Bits; B4 "b4" 4 Bits; B8 "b8" 8 Bits; B16 "b16" 16 Bits; B32 "b32" 32 Bits; B64 "b64" 64 Bits;
    B128 "b128" 128 Bits; B1024 "b1024" 1024 Bits;
    U4 "u4" 4 Unsigned; U8 "u8" 8 Unsigned; U16 "u16" 16 Unsigned; U32 "u32" 32 Unsigned; U64 "u64" 64 Unsigned;
    S4 "s4" 4 Signed; S8 "s8" 8 Signed; S16 "s16" 16 Signed; S32 "s32" 32 Signed; S64 "s64" 64 Signed;
    U16x2 "u16x2" 32 Unsigned; S16x2 "s16x2" 32 Signed; U8x4 "u8x4" 32 Unsigned; S8x4 "s8x4" 32 Signed;
    F16 "f16" 16 Float; F16x2 "f16x2" 32 Float; Bf16 "bf16" 16 Float; Bf16x2 "bf16x2" 32 Float;
    Tf32 "tf32" 32 Float; F32 "f32" 32 Float; F32x2 "f32x2" 64 Float; F64 "f64" 64 Float;
    E4m3 "e4m3" 8 Float; E5m2 "e5m2" 8 Float; E3m2 "e3m2" 8 Float; E2m3 "e2m3" 8 Float; E2m1 "e2m1" 4 Float;
    Ue8m0 "ue8m0" 8 Float; Ue4m3 "ue4m3" 8 Float;
    E4m3x2 "e4m3x2" 16 Float; E5m2x2 "e5m2x2" 16 Float; E3m2x2 "e3m2x2" 16 Float; E2m3x2 "e2m3x2" 16 Float;
    E2m1x2 "e2m1x2" 8 Float; Ue8m0x2 "ue8m0x2" 16 Float; S2f6x2 "s2f6x2" 16 Float;
    E4m3x4 "e4m3x4" 32 Float; E5m2x4 "e5m2x4" 32 Float; E3m2x4 "e3m2x4" 32 Float; E2m3x4 "e2m3x4" 32 Float;
    E2m1x4 "e2m1x4" 16 Float;
    Texref "texref" 64 Opaque; Samplerref "samplerref" 64 Opaque; Surfref "surfref" 64 Opaque;
}

impl ScalarType {
    /// Bytes that one value takes in memory (predicates and sub-byte types: one byte).
    #[must_use]
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Whether a narrower value of this type is sign-extended into a wider register.
    #[must_use]
    pub fn is_signed(self) -> bool {
        self.class() == TypeClass::Signed
    }

    /// Whether it is an integer or untyped-bits type (predicates excluded).
    #[must_use]
    pub fn is_integer(self) -> bool {
        matches!(self.class(), TypeClass::Bits | TypeClass::Unsigned | TypeClass::Signed)
    }

    /// Whether it is a floating type, packed or not.
    #[must_use]
    pub fn is_float(self) -> bool {
        self.class() == TypeClass::Float
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.name())
    }
}

/// A state space of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Space {
    /// No space named: a generic address.
    Generic,
    /// `.global`
    Global,
    /// `.shared` and `.shared::cta`: this block's shared memory.
    Shared,
    /// `.shared::cluster`: shared memory of any block of the cluster.
    SharedCluster,
    /// `.local`
    Local,
    /// `.const`
    Const,
    /// `.param`, kernel parameters and call slots alike.
    Param,
    /// Tensor memory of `tcgen05`.
    Tensor,
    /// `.tex` (deprecated texture space).
    Texture,
}

impl Space {
    /// Parses a space modifier without its dot (`shared::cta`).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "global" => Self::Global,
            "shared" | "shared::cta" => Self::Shared,
            "shared::cluster" => Self::SharedCluster,
            "local" => Self::Local,
            "const" => Self::Const,
            "param" | "param::entry" | "param::func" => Self::Param,
            "tex" => Self::Texture,
            _ => return None,
        })
    }

    /// The PTX spelling, without the dot; `generic` and `tensor` for the two that have none.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::Global => "global",
            Self::Shared => "shared",
            Self::SharedCluster => "shared::cluster",
            Self::Local => "local",
            Self::Const => "const",
            Self::Param => "param",
            Self::Tensor => "tensor",
            Self::Texture => "tex",
        }
    }
}

/// A read-only special register such as `%tid.x`: an index into the table of all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct SpecialReg(u16);

/// Every special register of PTX ISA 9.0 with a fixed name, with its width in bits
/// (128 for the whole four-component vectors). Numbered families are in [`FAMILIES`].
const SPECIALS: &[(&str, u32)] = &[
    ("%tid.x", 32),
    ("%tid.y", 32),
    ("%tid.z", 32),
    ("%tid.w", 32),
    ("%tid", 128),
    ("%ntid.x", 32),
    ("%ntid.y", 32),
    ("%ntid.z", 32),
    ("%ntid.w", 32),
    ("%ntid", 128),
    ("%ctaid.x", 32),
    ("%ctaid.y", 32),
    ("%ctaid.z", 32),
    ("%ctaid.w", 32),
    ("%ctaid", 128),
    ("%nctaid.x", 32),
    ("%nctaid.y", 32),
    ("%nctaid.z", 32),
    ("%nctaid.w", 32),
    ("%nctaid", 128),
    ("%clusterid.x", 32),
    ("%clusterid.y", 32),
    ("%clusterid.z", 32),
    ("%clusterid.w", 32),
    ("%clusterid", 128),
    ("%nclusterid.x", 32),
    ("%nclusterid.y", 32),
    ("%nclusterid.z", 32),
    ("%nclusterid.w", 32),
    ("%nclusterid", 128),
    ("%cluster_ctaid.x", 32),
    ("%cluster_ctaid.y", 32),
    ("%cluster_ctaid.z", 32),
    ("%cluster_ctaid.w", 32),
    ("%cluster_ctaid", 128),
    ("%cluster_nctaid.x", 32),
    ("%cluster_nctaid.y", 32),
    ("%cluster_nctaid.z", 32),
    ("%cluster_nctaid.w", 32),
    ("%cluster_nctaid", 128),
    ("%cluster_ctarank", 32),
    ("%cluster_nctarank", 32),
    ("%is_explicit_cluster", 1),
    ("%laneid", 32),
    ("%warpid", 32),
    ("%nwarpid", 32),
    ("%smid", 32),
    ("%nsmid", 32),
    ("%gridid", 64),
    ("%lanemask_eq", 32),
    ("%lanemask_le", 32),
    ("%lanemask_lt", 32),
    ("%lanemask_ge", 32),
    ("%lanemask_gt", 32),
    ("%clock", 32),
    ("%clock_hi", 32),
    ("%clock64", 64),
    ("%globaltimer", 64),
    ("%globaltimer_lo", 32),
    ("%globaltimer_hi", 32),
    ("%reserved_smem_offset_begin", 32),
    ("%reserved_smem_offset_end", 32),
    ("%reserved_smem_offset_cap", 32),
    ("%total_smem_size", 32),
    ("%aggr_smem_size", 32),
    ("%dynamic_smem_size", 32),
    ("%current_graph_exec", 64),
    ("WARP_SZ", 32),
];

/// Numbered families: prefix, how many, width of each in bits, suffix.
const FAMILIES: &[(&str, u16, u32, &str)] =
    &[("%envreg", 32, 32, ""), ("%pm", 8, 32, ""), ("%pm", 8, 64, "_64"), ("%reserved_smem_offset_", 2, 32, "")];

impl SpecialReg {
    /// Looks a special register up by its full name (`%tid.x`). `WARP_SZ` counts as one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some(i) = SPECIALS.iter().position(|(n, _)| *n == name) {
            return Some(Self(i as u16));
        }
        let mut base = SPECIALS.len() as u16;
        for &(prefix, count, _, suffix) in FAMILIES {
            let number = name.strip_prefix(prefix).and_then(|r| r.strip_suffix(suffix));
            if let Some(n) = number.filter(|n| *n == "0" || !n.starts_with('0')).and_then(|n| n.parse::<u16>().ok()) {
                if n < count {
                    return Some(Self(base + n));
                }
            }
            base += count;
        }
        None
    }

    fn family(self) -> (&'static str, u16, u32, &'static str) {
        let mut n = self.0 - SPECIALS.len() as u16;
        for &(prefix, count, bits, suffix) in FAMILIES {
            if n < count {
                return (prefix, n, bits, suffix);
            }
            n -= count;
        }
        unreachable!("a SpecialReg is only made from the tables")
    }

    /// Its name with the percent sign.
    #[must_use]
    pub fn name(self) -> String {
        match SPECIALS.get(usize::from(self.0)) {
            Some((name, _)) => (*name).to_string(),
            None => {
                let (prefix, n, _, suffix) = self.family();
                format!("{prefix}{n}{suffix}")
            }
        }
    }

    /// Its width in bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        match SPECIALS.get(usize::from(self.0)) {
            Some((_, bits)) => *bits,
            None => self.family().2,
        }
    }

    /// A dense index, stable within one build: for tables keyed by special register.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Whether two reads of it in one thread may differ (clocks, timers, performance counters).
    /// Such a read is ordered and may not be repeated.
    #[must_use]
    pub fn is_volatile(self) -> bool {
        let name = self.name();
        ["%clock", "%globaltimer", "%pm", "%warpid", "%smid"].iter().any(|p| name.starts_with(p))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for name in ["b8", "s32", "f16x2", "e2m1x2", "pred", "b128", "texref"] {
            assert_eq!(ScalarType::from_name(name).unwrap().name(), name);
        }
        assert_eq!(ScalarType::from_name("v4"), None);
        assert_eq!(ScalarType::E2m1x2.bytes(), 1);
        assert_eq!(ScalarType::F32x2.bits(), 64);
        for (name, bits) in SPECIALS {
            let reg = SpecialReg::from_name(name).unwrap();
            assert_eq!((reg.name().as_str(), reg.bits()), (*name, *bits));
        }
        for (name, bits) in [("%envreg31", 32), ("%pm7", 32), ("%pm3_64", 64), ("%reserved_smem_offset_1", 32)] {
            let reg = SpecialReg::from_name(name).unwrap();
            assert_eq!((reg.name().as_str(), reg.bits()), (name, bits));
        }
        for name in ["%envreg32", "%envreg01", "%tid.q", "%pm8", "%r1"] {
            assert_eq!(SpecialReg::from_name(name), None, "{name}");
        }
        assert!(SpecialReg::from_name("%clock64").unwrap().is_volatile());
        assert!(!SpecialReg::from_name("%tid.x").unwrap().is_volatile());
    }
}
