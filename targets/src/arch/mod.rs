//! The architectures that are known, and how to describe one that is not.
//!
//! One data file per generation; a number without a source does not compile. A name with the
//! suffix `a` or `f` ("sm_90a", "sm_120f") is a target with more instructions and the same
//! limits, so it is an alias.

mod ada;
mod ampere;
mod blackwell;
mod hopper;
mod spec;
mod turing;
mod volta;

use std::borrow::Cow;

pub use spec::{ArchSpec, ComputeCapability, Constant, InvalidArch, Source, Sourced};

use crate::units::{Bytes, Regs};

/// A product built on an architecture: the number of SMs is its own, not the architecture's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Market name.
    pub name: &'static str,
    /// Number of SMs.
    pub sms: u32,
    /// Source of the number.
    pub source: Source,
}

/// One architecture whose numbers were checked (see [`ArchSpec::validate`]). Every field of
/// [`ArchSpec`] has a getter of the same name here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arch {
    name: Cow<'static, str>,
    aliases: &'static [&'static str],
    spec: ArchSpec,
    smem_carveouts: &'static [Bytes],
    products: &'static [Product],
}

/// Every known architecture, oldest first.
static KNOWN: [Arch; 14] = [
    volta::SM_70,
    volta::SM_72,
    turing::SM_75,
    ampere::SM_80,
    ampere::SM_86,
    ampere::SM_87,
    ampere::SM_88,
    ada::SM_89,
    hopper::SM_90,
    blackwell::SM_100,
    blackwell::SM_103,
    blackwell::SM_110,
    blackwell::SM_120,
    blackwell::SM_121,
];

/// No architecture has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown architecture '{name}'; did you mean '{nearest}'?")]
pub struct UnknownArch {
    /// The name as asked for.
    pub name: String,
    /// The known name nearest to it.
    pub nearest: &'static str,
}

impl Arch {
    /// Every known architecture, oldest first.
    pub fn all() -> &'static [Arch] {
        &KNOWN
    }

    /// The known architecture of this name or alias ("sm_80", "sm_90a").
    ///
    /// # Errors
    /// [`UnknownArch`], with the nearest known name.
    pub fn find(name: &str) -> Result<&'static Arch, UnknownArch> {
        KNOWN
            .iter()
            .find(|a| a.name == name || a.aliases.contains(&name))
            .ok_or_else(|| UnknownArch { name: name.to_owned(), nearest: nearest_name(name) })
    }

    /// A machine that is not in the table.
    ///
    /// # Errors
    /// [`InvalidArch`] if the numbers break a rule of [`ArchSpec::validate`].
    pub fn custom(name: impl Into<String>, spec: ArchSpec) -> Result<Arch, InvalidArch> {
        spec.validate()?;
        Ok(Arch { name: Cow::Owned(name.into()), aliases: &[], spec, smem_carveouts: &[], products: &[] })
    }

    /// Canonical name, e.g. "sm_90".
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Other names with the same limits, e.g. "sm_90a".
    pub const fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }

    /// The numbers with their sources; the start for a variant of this machine.
    pub const fn spec(&self) -> &ArchSpec {
        &self.spec
    }

    /// Capacities of shared memory that an SM can be set to, ascending (source: header). Empty
    /// for a custom machine.
    pub const fn smem_carveouts(&self) -> &'static [Bytes] {
        self.smem_carveouts
    }

    /// Some products of this architecture. Recalled product data, for examples and defaults.
    pub const fn products(&self) -> &'static [Product] {
        self.products
    }

    /// Registers of each thread that instructions may name under a budget of `budget`: `R0` up to
    /// `R(n-1)`. Zero where the budget has no room for the [reserved ones](Self::reserved_regs).
    pub fn nameable_regs(&self, budget: Regs) -> Regs {
        budget - self.reserved_regs()
    }
}

/// The known name (aliases included) with the least edit distance; ties go to the name whose
/// number is nearer, then to the older architecture.
fn nearest_name(asked: &str) -> &'static str {
    let number = |s: &str| {
        let digits: String = s.chars().filter(char::is_ascii_digit).take(6).collect();
        digits.parse::<u32>().ok()
    };
    let asked_number = number(asked);
    // Longer texts resemble nothing; cutting them bounds the work.
    let asked: Vec<char> = asked.chars().take(32).collect();
    let names = KNOWN.iter().flat_map(|a| match &a.name {
        Cow::Borrowed(name) => std::iter::once(*name).chain(a.aliases.iter().copied()),
        Cow::Owned(_) => unreachable!("known names are literals"),
    });
    names
        .min_by_key(|name| {
            let gap = match (asked_number, number(name)) {
                (Some(a), Some(b)) => a.abs_diff(b),
                _ => u32::MAX,
            };
            (edit_distance(&asked, name), gap)
        })
        .expect("the table is not empty")
}

/// Levenshtein distance.
fn edit_distance(a: &[char], b: &str) -> usize {
    let mut row: Vec<usize> = (0..=a.len()).collect();
    for (i, cb) in b.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, ca) in a.iter().enumerate() {
            let substituted = diagonal + usize::from(*ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[a.len()]
}

/// Constructors for the data files.
mod data {
    use super::{Product, Source, Sourced};
    use crate::units::Bytes;

    /// From NVIDIA's occupancy header.
    pub(super) const fn header<T: Copy>(value: T) -> Sourced<T> {
        Sourced { value, source: Source::Header }
    }

    /// From NVIDIA's public documentation.
    pub(super) const fn documented<T: Copy>(value: T) -> Sourced<T> {
        Sourced { value, source: Source::Documentation }
    }

    /// Measured with ptxas or nvdisasm.
    pub(super) const fn measured<T: Copy>(value: T) -> Sourced<T> {
        Sourced { value, source: Source::Measured }
    }

    /// Recalled or inferred.
    pub(super) const fn uncertain<T: Copy>(value: T) -> Sourced<T> {
        Sourced { value, source: Source::Uncertain }
    }

    /// `n` KiB.
    pub(super) const fn kb(n: u32) -> Bytes {
        Bytes(n * 1024)
    }

    /// A product whose SM count is public.
    pub(super) const fn product(name: &'static str, sms: u32) -> Product {
        Product { name, sms, source: Source::Documentation }
    }

    /// A product whose SM count is recalled.
    pub(super) const fn recalled_product(name: &'static str, sms: u32) -> Product {
        Product { name, sms, source: Source::Uncertain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_architecture_is_valid() {
        for arch in Arch::all() {
            assert_eq!(arch.spec().validate(), Ok(()), "{}", arch.name());
            let cc = arch.compute_capability();
            assert_eq!(arch.name(), format!("sm_{}{}", cc.major, cc.minor));
            assert_eq!(arch.smem_carveouts().last().copied(), {
                // The carveouts of sm_88 are the header's default for 8.x; its SM is not known.
                arch.smem_per_sm().or(Some(Bytes(100 * 1024)))
            });
            assert!(arch.smem_carveouts().is_sorted());
        }
        assert!(Arch::all().is_sorted_by_key(Arch::compute_capability));
    }

    #[test]
    fn aliases_have_the_same_limits() {
        for (alias, name) in [("sm_90a", "sm_90"), ("sm_100f", "sm_100"), ("sm_121a", "sm_121")] {
            assert_eq!(Arch::find(alias).unwrap().name(), name);
        }
        for arch in Arch::all() {
            assert!(std::ptr::eq(Arch::find(arch.name()).unwrap(), arch));
            for alias in arch.aliases() {
                assert!(std::ptr::eq(Arch::find(alias).unwrap(), arch));
            }
        }
    }

    #[test]
    fn an_unknown_name_gets_the_nearest() {
        for (asked, nearest) in [
            ("sm_85", "sm_86"),
            ("sm80", "sm_80"),
            ("SM_80", "sm_80"),
            ("90", "sm_90"),
            ("sm_80a", "sm_80"),
            ("sm_91", "sm_90"),
            ("sm_90b", "sm_90"),
            ("sm_101", "sm_100"),
            ("compute_75", "sm_75"),
        ] {
            let error = Arch::find(asked).unwrap_err();
            assert_eq!(error.nearest, nearest, "for {asked}");
        }
        assert_eq!(Arch::find("sm_85").unwrap_err().to_string(), "unknown architecture 'sm_85'; did you mean 'sm_86'?");
        assert!(Arch::find("").is_err());
        assert!(Arch::find(&"sm_".repeat(100_000)).is_err());
    }

    #[test]
    fn a_broken_description_lists_every_problem() {
        let mut spec = *Arch::find("sm_80").unwrap().spec();
        spec.sub_partitions = Sourced::given(0);
        spec.reg_alloc_unit_per_warp = Sourced::given(Regs(100));
        spec.smem_alloc_granularity = Sourced::given(Bytes(0));
        let error = Arch::custom("mine", spec).unwrap_err();
        assert_eq!(error.problems.len(), 3);
        for field in ["sub_partitions", "reg_alloc_unit_per_warp", "smem_alloc_granularity"] {
            assert!(error.to_string().contains(field), "{error}");
        }
    }

    #[test]
    fn constants_are_listed_with_units_and_sources() {
        let constants = Arch::find("sm_88").unwrap().spec().constants();
        let find = |name: &str| constants.iter().find(|c| c.name == name).unwrap();
        assert_eq!(find("max_warps_per_sm").value.as_deref(), Some("48 warps"));
        assert_eq!(find("max_warps_per_sm").source, Source::Measured);
        assert_eq!(find("smem_per_sm").value, None);
        assert_eq!(find("compute_capability").value.as_deref(), Some("8.8"));
    }

    #[test]
    fn the_reserved_pair_is_not_nameable() {
        let arch = Arch::find("sm_80").unwrap();
        // A cap of 255 gives R0..R252.
        assert_eq!(arch.nameable_regs(Regs(255)), Regs(253));
        assert_eq!(arch.nameable_regs(Regs(1)), Regs(0));
    }
}
