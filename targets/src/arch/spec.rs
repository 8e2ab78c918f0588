//! The numbers that describe one architecture, each with its source, and the rules that make a
//! set of numbers a machine.
//!
//! [`ArchSpec`] is plain data that anyone may build; only [`Arch::custom`](super::Arch::custom)
//! turns it into an [`Arch`](super::Arch), after [`ArchSpec::validate`]. What holds of an `Arch`
//! (no zero divisor, whole sub-partitions) is therefore checked once and relied on everywhere.

use std::fmt;

use crate::units::{Blocks, Bytes, Regs, Threads, Warps, WARP_SIZE};

/// Where a number comes from, and so how far to trust it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// NVIDIA's occupancy header (`cuda_occupancy.h`, CUDA 13.0).
    Header,
    /// NVIDIA's public documentation.
    Documentation,
    /// Measured: from the behavior or the output of ptxas 13.0.88 and nvdisasm 13.2.
    Measured,
    /// Recalled or inferred, not verified.
    Uncertain,
    /// Given by the user who described the machine.
    Given,
}

impl Source {
    /// A short name, as printed.
    pub const fn name(self) -> &'static str {
        match self {
            Source::Header => "header",
            Source::Documentation => "documentation",
            Source::Measured => "measured",
            Source::Uncertain => "uncertain",
            Source::Given => "given",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A value and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Its source.
    pub source: Source,
}

impl<T> Sourced<T> {
    /// A value of a machine that a user describes.
    pub const fn given(value: T) -> Self {
        Self { value, source: Source::Given }
    }
}

/// Compute capability, `major.minor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputeCapability {
    /// Major number, e.g. 8.
    pub major: u32,
    /// Minor number, e.g. 6.
    pub minor: u32,
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// One line of [`ArchSpec::constants`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Field name in [`ArchSpec`].
    pub name: &'static str,
    /// The value with its unit; `None` where it does not exist or is unknown.
    pub value: Option<String>,
    /// Its source.
    pub source: Source,
}

/// How a field is printed: an absent or unknown value has no text.
trait Printed {
    fn printed(&self) -> Option<String>;
}

macro_rules! printed_by_display {
    ($($ty:ty),*) => { $(impl Printed for $ty {
        fn printed(&self) -> Option<String> {
            Some(self.to_string())
        }
    })* };
}
printed_by_display!(u32, Blocks, Bytes, Regs, Threads, Warps, ComputeCapability);

impl<T: Printed> Printed for Option<T> {
    fn printed(&self) -> Option<String> {
        self.as_ref().and_then(Printed::printed)
    }
}

/// Declares the fields once: as data with a source in `ArchSpec`, as a plain getter of `Arch`,
/// and as a line of `constants()`.
macro_rules! arch_fields {
    ($($(#[$doc:meta])* $field:ident: $ty:ty,)*) => {
        /// The numbers of one architecture, each with its source. [`Arch`](super::Arch) has a
        /// getter of the same name for each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct ArchSpec {
            $($(#[$doc])* pub $field: Sourced<$ty>,)*
        }

        impl ArchSpec {
            /// Every number with its name and source, in the order of the fields.
            pub fn constants(&self) -> Vec<Constant> {
                vec![$(Constant {
                    name: stringify!($field),
                    value: self.$field.value.printed(),
                    source: self.$field.source,
                },)*]
            }
        }

        impl super::Arch {
            $($(#[$doc])* pub const fn $field(&self) -> $ty {
                self.spec().$field.value
            })*
        }
    };
}

arch_fields! {
    /// Compute capability.
    compute_capability: ComputeCapability,
    /// Limit of resident warps on an SM.
    max_warps_per_sm: Warps,
    /// Limit of resident threads on an SM.
    max_threads_per_sm: Threads,
    /// Limit of resident blocks on an SM.
    max_blocks_per_sm: Blocks,
    /// Limit of threads in a block.
    max_threads_per_block: Threads,
    /// 32-bit registers of an SM, all sub-partitions together.
    registers_per_sm: Regs,
    /// 32-bit registers that one block may take.
    registers_per_block: Regs,
    /// Largest register count of a thread that an encoding can name and a compiler produces.
    max_regs_per_thread: Regs,
    /// Largest register count of a thread for which the residency rule gives any block (one more
    /// than [`max_regs_per_thread`](Self::max_regs_per_thread) on all known machines).
    max_regs_accepted: Regs,
    /// Registers are handed to a warp in multiples of this: 256 is 8 registers a thread.
    reg_alloc_unit_per_warp: Regs,
    /// Registers of each thread that the count includes and no instruction names.
    reserved_regs: Regs,
    /// Least register cap that the assembler accepts: a smaller `.maxnreg` or `-maxrregcount` is
    /// raised to it. `None` where not known.
    reg_count_lower_clamp: Option<Regs>,
    /// Processing blocks of an SM, each with its scheduler and its share of the register file.
    sub_partitions: u32,
    /// Shared memory of an SM at the largest carveout. `None` where not known.
    smem_per_sm: Option<Bytes>,
    /// Shared memory that a block may use without opting in.
    smem_per_block_default: Bytes,
    /// Shared memory that a block may use after opting in. `None` where not known.
    smem_per_block_optin: Option<Bytes>,
    /// Shared memory that the system takes for each resident block.
    reserved_smem_per_block: Bytes,
    /// Shared memory is handed to a block in multiples of this.
    smem_alloc_granularity: Bytes,
    /// Named barriers that the resident blocks of an SM share. `None` where residency does not
    /// depend on barriers (before compute capability 9.0).
    barrier_slots_per_sm: Option<u32>,
    /// Named barriers that one block can address.
    barriers_per_block: u32,
    /// "Virtual resources" of an SM that the residency header counts from compute capability
    /// 10.0 on. `None` before. No kernel attribute known here uses them, so
    /// [`occupancy`](crate::occupancy()) has no such term.
    virtual_resources_per_sm: Option<u32>,
    /// General registers that an instruction can name: `R0..R254` (`R255` is the zero register).
    general_registers: u32,
    /// Uniform registers of a warp that an instruction can name (the zero register not counted).
    uniform_registers: u32,
    /// Predicate registers of a thread (the true predicate not counted).
    predicates: u32,
    /// Uniform predicates of a warp (the true predicate not counted).
    uniform_predicates: u32,
    /// Convergence barrier registers of a warp, `B0..B15`.
    barrier_registers: u32,
    /// Where kernel parameters start in constant bank 0.
    param_base: Bytes,
    /// Where the block dimensions (`ntid.x`, `.y`, `.z`, four bytes each) start in constant bank 0.
    ntid_offset: Bytes,
    /// Where the initial stack pointer is in constant bank 0.
    stack_base_offset: Bytes,
}

/// Why a set of numbers is not a machine. All reasons, not the first alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a usable architecture: {}", problems.join("; "))]
pub struct InvalidArch {
    /// Each names the field and what it must be. Never empty.
    pub problems: Vec<String>,
}

impl ArchSpec {
    /// Checks what the occupancy rules rely on.
    ///
    /// # Errors
    /// [`InvalidArch`] with every rule that does not hold.
    pub fn validate(&self) -> Result<(), InvalidArch> {
        let mut problems = Vec::new();
        let mut rule = |holds: bool, problem: &str| {
            if !holds {
                problems.push(problem.to_owned());
            }
        };
        let warps = self.max_warps_per_sm.value.0;
        let threads = self.max_threads_per_sm.value.0;
        let partitions = self.sub_partitions.value;
        let regs = self.registers_per_sm.value.0;
        let unit = self.reg_alloc_unit_per_warp.value.0;
        let per_thread = self.max_regs_per_thread.value;

        rule(warps > 0, "max_warps_per_sm must be at least 1");
        rule(
            u64::from(threads) == u64::from(warps) * u64::from(WARP_SIZE),
            "max_threads_per_sm must be 32 times max_warps_per_sm",
        );
        rule(self.max_blocks_per_sm.value.0 > 0, "max_blocks_per_sm must be at least 1");
        rule(self.max_threads_per_block.value.0 > 0, "max_threads_per_block must be at least 1");
        rule(
            partitions > 0 && regs.checked_rem(partitions) == Some(0),
            "sub_partitions must be at least 1 and divide registers_per_sm",
        );
        rule(unit > 0 && unit % WARP_SIZE == 0, "reg_alloc_unit_per_warp must be a positive multiple of 32");
        rule(per_thread.0 > 0, "max_regs_per_thread must be at least 1");
        rule(per_thread <= self.max_regs_accepted.value, "max_regs_per_thread must not be above max_regs_accepted");
        rule(self.reserved_regs.value < per_thread, "reserved_regs must be below max_regs_per_thread");
        rule(
            self.reg_count_lower_clamp.value.is_none_or(|c| c <= per_thread),
            "reg_count_lower_clamp must not be above max_regs_per_thread",
        );
        rule(self.smem_alloc_granularity.value.0 > 0, "smem_alloc_granularity must be at least 1");
        rule(
            self.smem_per_block_optin.value.is_none_or(|o| o >= self.smem_per_block_default.value),
            "smem_per_block_optin must not be below smem_per_block_default",
        );
        rule(
            self.smem_per_sm.value.is_some() == self.smem_per_block_optin.value.is_some(),
            "smem_per_sm and smem_per_block_optin must both be known or both be unknown",
        );
        if problems.is_empty() {
            Ok(())
        } else {
            Err(InvalidArch { problems })
        }
    }
}
