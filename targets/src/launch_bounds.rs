//! From a kernel's launch bounds to the register ceiling of its compilation, by the rules of
//! ptxas 13.0 as measured, warnings included.
//!
//! With `nt` the product of `.maxntid` or `.reqntid` and `B` the value of `.minnctapersm`:
//!
//! ```text
//! threads hold    nt given, and its whole warps fit an SM
//! bounds hold     threads hold, B given and at most max_blocks, B times the warps fit an SM
//! ceiling = min(cap(nt, B), maxnreg)   if the bounds hold and .maxnreg is given
//!           cap(nt, B)                 if the bounds hold
//!           maxnreg                    if given: it switches the cap by threads off
//!           cap(nt, 1)                 if the threads hold
//!           maxrregcount               if given: directives beat it, without a warning
//!           255                        otherwise
//! ```
//!
//! `cap` is [`max_regs_for_blocks`]. A request that does not fit the machine is dropped with a
//! warning, as ptxas does, not refused: so `.maxnreg 128` with `.maxntid 1024` is accepted, and
//! such a kernel cannot launch.
//!
//! The ceiling is an upper bound. For a thread count alone ptxas *aims* at one of
//! [`register_targets`]; which one has no closed rule, and none is made up here.
//!
//! Not covered: the command-line forms of the bounds (`-maxntid`, `-minnctapersm`) and
//! `-override-directive-values`.

use std::fmt;

use crate::arch::Arch;
use crate::register_term::max_regs_for_blocks;
use crate::units::{Blocks, Regs, Threads, WARP_SIZE};

/// The launch bounds of one kernel, as its directives and the command line state them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LaunchBounds {
    /// `.maxntid x, y, z` (1 for a dimension not given).
    pub maxntid: Option<[u32; 3]>,
    /// `.reqntid x, y, z`; not together with `.maxntid`.
    pub reqntid: Option<[u32; 3]>,
    /// `.minnctapersm`: blocks that shall fit an SM.
    pub minnctapersm: Option<u32>,
    /// `.maxnreg`: registers per thread at most.
    pub maxnreg: Option<u32>,
    /// `-maxrregcount` of the command line.
    pub maxrregcount: Option<RegCountFlag>,
}

/// The value of `-maxrregcount`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegCountFlag {
    /// A number; what is out of range is ignored or raised.
    Count(i64),
    /// The keyword `archmin`: 32 registers.
    ArchMin,
    /// The keyword `archmax`: all registers a thread can have.
    ArchMax,
}

/// Which rule set the ceiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Threads and blocks per SM; the lesser of that and `.maxnreg`.
    BoundsAndMaxnreg,
    /// Threads and blocks per SM.
    Bounds,
    /// `.maxnreg` alone.
    Maxnreg,
    /// Threads alone: one block shall fit.
    Threads,
    /// `-maxrregcount`.
    Flag,
    /// Nothing applies: the registers a thread can have.
    Unbounded,
}

impl Rule {
    /// A short name, as printed.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::BoundsAndMaxnreg => "bounds_and_maxnreg",
            Rule::Bounds => "bounds",
            Rule::Maxnreg => "maxnreg",
            Rule::Threads => "threads",
            Rule::Flag => "maxrregcount",
            Rule::Unbounded => "unbounded",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A request that was changed or dropped. Display tells what and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Warning {
    /// `-maxrregcount` is negative or above what a thread can have.
    #[error("-maxrregcount {given} is ignored: it is not in 0..={max}")]
    FlagTooBigIgnored {
        /// As given.
        given: i64,
        /// What a thread can have.
        max: u32,
    },
    /// `-maxrregcount` is below the least cap.
    #[error("-maxrregcount {given} is raised to the lower bound of {raised_to}")]
    FlagRaisedToLowerBound {
        /// As given.
        given: i64,
        /// The least cap.
        raised_to: Regs,
    },
    /// `.maxnreg` is above what a thread can have.
    #[error(".maxnreg {given} is ignored: a thread has at most {max}")]
    MaxnregTooBigIgnored {
        /// As given.
        given: u32,
        /// What a thread can have.
        max: Regs,
    },
    /// `.maxnreg` is below the least cap.
    #[error(".maxnreg {given} is raised to the lower bound of {raised_to}")]
    MaxnregRaisedToLowerBound {
        /// As given.
        given: u32,
        /// The least cap.
        raised_to: Regs,
    },
    /// The least cap of the architecture is not known; that of all others was used.
    #[error("the lower bound of register caps is not known here; {assumed} is assumed")]
    LowerBoundAssumed {
        /// The cap used.
        assumed: Regs,
    },
    /// `.minnctapersm` above the blocks of an SM.
    #[error(".minnctapersm {given} is out of range and ignored: an SM holds at most {max}")]
    MinnctapersmOutOfRangeIgnored {
        /// As given.
        given: u32,
        /// The limit.
        max: Blocks,
    },
    /// `.minnctapersm` without a thread count.
    #[error(".minnctapersm {given} is ignored: neither .maxntid nor .reqntid is given")]
    MinnctapersmWithoutNtidIgnored {
        /// As given.
        given: u32,
    },
    /// The blocks asked for have more threads, in whole warps, than an SM.
    #[error(
        ".minnctapersm {blocks} is ignored: {blocks} times {threads} in whole warps exceeds the \
         {max} of an SM"
    )]
    ThreadsPerSmOutOfRangeMinnctapersmIgnored {
        /// Blocks asked for.
        blocks: u32,
        /// Threads per block.
        threads: Threads,
        /// The limit.
        max: Threads,
    },
    /// One block has more threads, in whole warps, than an SM.
    #[error(
        ".maxntid or .reqntid, and .minnctapersm, are ignored: {threads} in whole warps exceed \
         the {max} of an SM"
    )]
    ThreadsPerSmOutOfRangeBothIgnored {
        /// Threads per block. Saturates.
        threads: Threads,
        /// The limit.
        max: Threads,
    },
}

impl Warning {
    /// A stable name for scripts.
    pub const fn kind(&self) -> &'static str {
        match self {
            Warning::FlagTooBigIgnored { .. } => "flag_too_big_ignored",
            Warning::FlagRaisedToLowerBound { .. } => "flag_raised_to_lower_bound",
            Warning::MaxnregTooBigIgnored { .. } => "maxnreg_too_big_ignored",
            Warning::MaxnregRaisedToLowerBound { .. } => "maxnreg_raised_to_lower_bound",
            Warning::LowerBoundAssumed { .. } => "lower_bound_assumed",
            Warning::MinnctapersmOutOfRangeIgnored { .. } => "minnctapersm_out_of_range_ignored",
            Warning::MinnctapersmWithoutNtidIgnored { .. } => "minnctapersm_without_ntid_ignored",
            Warning::ThreadsPerSmOutOfRangeMinnctapersmIgnored { .. } => {
                "threads_per_sm_out_of_range_minnctapersm_ignored"
            }
            Warning::ThreadsPerSmOutOfRangeBothIgnored { .. } => "threads_per_sm_out_of_range_both_ignored",
        }
    }
}

/// Launch bounds that do not assemble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum LaunchBoundsError {
    /// `.maxntid` and `.reqntid` on one kernel.
    #[error("conflicting directives: .maxntid and .reqntid cannot both be given")]
    MaxntidAndReqntid,
    /// A value that must be positive is zero.
    #[error("{directive} must be positive")]
    NotPositive {
        /// The directive.
        directive: &'static str,
    },
}

impl LaunchBoundsError {
    /// A stable name for scripts.
    pub fn kind(&self) -> &'static str {
        match self {
            LaunchBoundsError::MaxntidAndReqntid => "maxntid_and_reqntid_conflict",
            LaunchBoundsError::NotPositive { directive } => match *directive {
                MAXNTID => "non_positive_maxntid",
                REQNTID => "non_positive_reqntid",
                MINNCTAPERSM => "non_positive_minnctapersm",
                _ => "non_positive_maxnreg",
            },
        }
    }
}

const MAXNTID: &str = ".maxntid";
const REQNTID: &str = ".reqntid";
const MINNCTAPERSM: &str = ".minnctapersm";
const MAXNREG: &str = ".maxnreg";

/// The register ceiling of a kernel, and how it came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ceiling {
    /// Registers per thread at most, reserved ones included.
    pub ceiling: Regs,
    /// The rule that set it.
    pub rule: Rule,
    /// Threads per block, if given and not dropped.
    pub threads: Option<Threads>,
    /// Blocks per SM, if given and not dropped.
    pub min_blocks: Option<Blocks>,
    /// `.maxnreg` after clamping, if given.
    pub maxnreg: Option<Regs>,
    /// `-maxrregcount` after clamping, if it was not ignored as out of range. It may still be
    /// beaten by a directive: see [`rule`](Self::rule).
    pub maxrregcount: Option<Regs>,
    /// What was changed or dropped, register caps first.
    pub warnings: Vec<Warning>,
}

/// The register ceiling that `bounds` set on `arch`.
///
/// # Errors
/// [`LaunchBoundsError`] for directives that do not assemble.
pub fn launch_bounds(arch: &Arch, bounds: &LaunchBounds) -> Result<Ceiling, LaunchBoundsError> {
    let given_threads = threads_per_block(bounds)?;
    if bounds.minnctapersm == Some(0) {
        return Err(LaunchBoundsError::NotPositive { directive: MINNCTAPERSM });
    }
    if bounds.maxnreg == Some(0) {
        return Err(LaunchBoundsError::NotPositive { directive: MAXNREG });
    }

    let mut warnings = Vec::new();
    let maxrregcount = bounds.maxrregcount.and_then(|f| clamp_flag(arch, f, &mut warnings));
    let maxnreg = bounds.maxnreg.map(|n| clamp_maxnreg(arch, n, &mut warnings));
    let (threads, min_blocks) = accept(arch, given_threads, bounds.minnctapersm, &mut warnings);

    let cap = |t, b| max_regs_for_blocks(arch, t, b);
    let (ceiling, rule) = match (threads, min_blocks, maxnreg, maxrregcount) {
        (Some(t), Some(b), Some(n), _) => (cap(t, b).min(n), Rule::BoundsAndMaxnreg),
        (Some(t), Some(b), None, _) => (cap(t, b), Rule::Bounds),
        (_, _, Some(n), _) => (n, Rule::Maxnreg),
        (Some(t), None, None, _) => (cap(t, Blocks(1)), Rule::Threads),
        (None, _, None, Some(f)) => (f, Rule::Flag),
        (None, _, None, None) => (arch.max_regs_per_thread(), Rule::Unbounded),
    };
    Ok(Ceiling { ceiling, rule, threads, min_blocks, maxnreg, maxrregcount, warnings })
}

/// `nt`: the product of the one thread count that is given. Saturates.
fn threads_per_block(bounds: &LaunchBounds) -> Result<Option<Threads>, LaunchBoundsError> {
    let (dims, directive) = match (bounds.maxntid, bounds.reqntid) {
        (Some(_), Some(_)) => return Err(LaunchBoundsError::MaxntidAndReqntid),
        (Some(dims), None) => (dims, MAXNTID),
        (None, Some(dims)) => (dims, REQNTID),
        (None, None) => return Ok(None),
    };
    if dims.contains(&0) {
        return Err(LaunchBoundsError::NotPositive { directive });
    }
    Ok(Some(Threads(dims.into_iter().fold(1u32, u32::saturating_mul))))
}

/// The least register cap. Where it is not known, what every measured architecture has.
fn lower_bound(arch: &Arch, warnings: &mut Vec<Warning>) -> Regs {
    arch.reg_count_lower_clamp().unwrap_or_else(|| {
        let assumed = Regs(24).min(arch.max_regs_per_thread());
        let warning = Warning::LowerBoundAssumed { assumed };
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
        assumed
    })
}

fn clamp_flag(arch: &Arch, flag: RegCountFlag, warnings: &mut Vec<Warning>) -> Option<Regs> {
    let max = arch.max_regs_per_thread();
    let given = match flag {
        RegCountFlag::Count(n) => n,
        RegCountFlag::ArchMin => return Some(Regs(32).min(max)),
        RegCountFlag::ArchMax => return Some(max),
    };
    let count = match u32::try_from(given).map(Regs) {
        Ok(count) if count <= max => count,
        _ => {
            warnings.push(Warning::FlagTooBigIgnored { given, max: max.0 });
            return None;
        }
    };
    let raised_to = lower_bound(arch, warnings);
    if count < raised_to {
        warnings.push(Warning::FlagRaisedToLowerBound { given, raised_to });
    }
    Some(count.max(raised_to))
}

/// Too large a `.maxnreg` counts as the largest possible: although ptxas says "ignored", it still
/// switches the cap by threads off.
fn clamp_maxnreg(arch: &Arch, given: u32, warnings: &mut Vec<Warning>) -> Regs {
    let max = arch.max_regs_per_thread();
    if Regs(given) > max {
        warnings.push(Warning::MaxnregTooBigIgnored { given, max });
        return max;
    }
    let raised_to = lower_bound(arch, warnings);
    if Regs(given) < raised_to {
        warnings.push(Warning::MaxnregRaisedToLowerBound { given, raised_to });
    }
    Regs(given).max(raised_to)
}

/// The thread count and the block count that are not dropped.
fn accept(
    arch: &Arch,
    threads: Option<Threads>,
    min_blocks: Option<u32>,
    warnings: &mut Vec<Warning>,
) -> (Option<Threads>, Option<Blocks>) {
    let Some(threads) = threads else {
        if let Some(given) = min_blocks {
            warnings.push(Warning::MinnctapersmWithoutNtidIgnored { given });
        }
        return (None, None);
    };
    // The range of .minnctapersm is tested before anything that involves the threads.
    let max_blocks = arch.max_blocks_per_sm();
    let min_blocks = min_blocks.filter(|&given| {
        let in_range = Blocks(given) <= max_blocks;
        if !in_range {
            warnings.push(Warning::MinnctapersmOutOfRangeIgnored { given, max: max_blocks });
        }
        in_range
    });
    let max = arch.max_threads_per_sm();
    let in_whole_warps = u64::from(threads.warps().0) * u64::from(WARP_SIZE);
    if in_whole_warps > u64::from(max.0) {
        warnings.push(Warning::ThreadsPerSmOutOfRangeBothIgnored { threads, max });
        return (None, None);
    }
    let Some(blocks) = min_blocks else {
        return (Some(threads), None);
    };
    // Both factors fit 32 bits.
    if in_whole_warps * u64::from(blocks) > u64::from(max.0) {
        warnings.push(Warning::ThreadsPerSmOutOfRangeMinnctapersmIgnored { blocks, threads, max });
        return (Some(threads), None);
    }
    (Some(threads), Some(Blocks(blocks)))
}

/// One register target of a kernel with a known thread count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterTarget {
    /// Blocks that shall be resident.
    pub blocks_per_sm: Blocks,
    /// The largest register count that lets them.
    pub max_regs: Regs,
}

/// The targets that a compiler may choose from when only the thread count is given: `cap(threads,
/// b)` for every `b` from 1 to what blocks and threads of an SM allow. Several `b` can share one
/// count. Empty for zero threads or more than an SM holds.
pub fn register_targets(arch: &Arch, threads: Threads) -> Vec<RegisterTarget> {
    let by_warps = arch.max_warps_per_sm().0.checked_div(threads.warps().0).unwrap_or(0);
    (1..=by_warps.min(arch.max_blocks_per_sm().0))
        .map(|b| RegisterTarget { blocks_per_sm: Blocks(b), max_regs: max_regs_for_blocks(arch, threads, Blocks(b)) })
        .collect()
}
