//! How many blocks of a kernel an SM holds at once, exactly as NVIDIA's occupancy header computes
//! it for compute capabilities 7.0 to 12.1.
//!
//! With `w` warps per block, each resource gives a limit of blocks:
//!
//! ```text
//! warps          0 if the block has more threads than a block may, else max_warps / w
//! registers      see `register_term`
//! blocks         max_blocks
//! shared memory  smem_per_sm / up(static + dynamic + reserved, granularity), 0 if over the limit
//! barriers       barrier_slots / barriers, from compute capability 9.0 on
//! ```
//!
//! and the least one wins. Assumed, as the header does by default: the largest carveout of
//! shared memory, a block that opts in to as much of it as it asks for, no partitioned global
//! caching (it does not exist here).
//!
//! [`Occupancy::limiters`] keeps a quirk of the header: it marks warps, registers, shared memory
//! and blocks before it looks at barriers and does not clear them where barriers turn out lower.
//! [`Occupancy::binding`] is the set that really binds.

use std::fmt;

use crate::arch::Arch;
use crate::register_term::{blocks_by_registers, max_regs_for_blocks, regs_per_warp};
use crate::units::{Blocks, Bytes, Ratio, Regs, Threads, Warps, WARP_SIZE};

/// What one block of a kernel asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// Threads per block, at least one.
    pub threads: Threads,
    /// Registers per thread as the assembler reports them, reserved ones included.
    pub regs: Regs,
    /// Shared memory declared in the kernel, per block.
    pub static_smem: Bytes,
    /// Shared memory given at launch, per block.
    pub dynamic_smem: Bytes,
    /// Named barriers per block.
    pub barriers: u32,
}

impl Request {
    /// A block without shared memory and with one barrier (CUDA's default).
    pub const fn new(threads: Threads, regs: Regs) -> Self {
        Self { threads, regs, static_smem: Bytes(0), dynamic_smem: Bytes(0), barriers: 1 }
    }
}

/// A resource that limits occupancy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limiter {
    /// The register file.
    Registers,
    /// Resident warps, or the number of threads a block may have.
    Warps,
    /// Resident blocks.
    Blocks,
    /// Shared memory.
    SharedMemory,
    /// Named barriers.
    Barriers,
}

impl Limiter {
    /// All of them, in the order in which they are printed.
    pub const ALL: [Limiter; 5] =
        [Limiter::Registers, Limiter::Warps, Limiter::Blocks, Limiter::SharedMemory, Limiter::Barriers];

    /// Name in reports: `registers`, `warps`, `blocks`, `shared_memory`, `barriers`.
    pub const fn name(self) -> &'static str {
        match self {
            Limiter::Registers => "registers",
            Limiter::Warps => "warps",
            Limiter::Blocks => "blocks",
            Limiter::SharedMemory => "shared_memory",
            Limiter::Barriers => "barriers",
        }
    }
}

impl fmt::Display for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of [`Limiter`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Limiters(u8);

impl Limiters {
    /// Adds one.
    pub fn insert(&mut self, limiter: Limiter) {
        self.0 |= 1 << limiter as u8;
    }

    /// Whether it is in the set.
    pub const fn contains(self, limiter: Limiter) -> bool {
        self.0 & (1 << limiter as u8) != 0
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, in the order of [`Limiter::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Limiter> {
        Limiter::ALL.into_iter().filter(move |l| self.contains(*l))
    }
}

impl FromIterator<Limiter> for Limiters {
    fn from_iter<I: IntoIterator<Item = Limiter>>(limiters: I) -> Self {
        let mut set = Self::default();
        limiters.into_iter().for_each(|l| set.insert(l));
        set
    }
}

impl fmt::Display for Limiters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, limiter) in self.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{limiter}")?;
        }
        Ok(())
    }
}

/// Resident blocks that each resource alone would allow; `None` = it sets no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// By the register file; `None` for a kernel without registers.
    pub registers: Option<Blocks>,
    /// By warps, or zero for a block with too many threads.
    pub warps: Option<Blocks>,
    /// By resident blocks.
    pub blocks: Option<Blocks>,
    /// By shared memory. `None` for a block that takes none; also where the size of the SM's
    /// memory is not known and the block asks for none (only the reserved bytes remain, which no
    /// architecture is short of).
    pub shared_memory: Option<Blocks>,
    /// By named barriers; `None` before compute capability 9.0 and for a block without any.
    pub barriers: Option<Blocks>,
}

impl Limits {
    /// The limit that `limiter` sets.
    pub const fn get(&self, limiter: Limiter) -> Option<Blocks> {
        match limiter {
            Limiter::Registers => self.registers,
            Limiter::Warps => self.warps,
            Limiter::Blocks => self.blocks,
            Limiter::SharedMemory => self.shared_memory,
            Limiter::Barriers => self.barriers,
        }
    }

    /// The least limit of all resources but `without`. There always is one: blocks and warps are
    /// limited on every machine.
    fn least(&self, without: Limiter) -> Blocks {
        let others = Limiter::ALL.into_iter().filter(|l| *l != without);
        others.filter_map(|l| self.get(l)).min().expect("blocks and warps have limits")
    }

    fn equal_to(&self, blocks: Blocks) -> impl Iterator<Item = Limiter> + '_ {
        Limiter::ALL.into_iter().filter(move |l| self.get(*l) == Some(blocks))
    }
}

/// Fewer registers, more warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NextStep {
    /// The largest register count that gives more warps than the present one.
    pub regs: Regs,
    /// The warps it gives.
    pub warps_per_sm: Warps,
}

/// What an SM holds of a kernel, and why not more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Occupancy {
    /// Resident blocks; zero if the kernel cannot launch.
    pub blocks_per_sm: Blocks,
    /// Resident warps.
    pub warps_per_sm: Warps,
    /// Limit of resident warps of the architecture.
    pub max_warps_per_sm: Warps,
    /// Warps of one block.
    pub warps_per_block: Warps,
    /// Sub-partitions, i.e. warp schedulers, of an SM.
    pub schedulers: u32,
    /// Blocks by each resource alone.
    pub limits: Limits,
    /// What limits, as the header marks it (see the module's head); never empty.
    pub limiters: Limiters,
    /// Registers that each thread takes after rounding to the allocation unit. Saturates.
    pub allocated_regs_per_thread: Regs,
    /// Registers that a block takes, all threads together. Saturates.
    pub allocated_regs_per_block: Regs,
    /// Shared memory that a block takes, reserved bytes and rounding included. Saturates.
    pub allocated_smem_per_block: Bytes,
    /// The next cliff down. `None` if registers do not bind, or no count gives more.
    pub next_step: Option<NextStep>,
    /// Registers that each thread could use in addition without losing a warp. Zero if nothing
    /// is resident.
    pub slack_regs: Regs,
}

impl Occupancy {
    /// Resident warps over the limit of the architecture.
    pub fn ratio(&self) -> Ratio {
        Ratio { num: self.warps_per_sm.0.into(), den: self.max_warps_per_sm.0.into() }
    }

    /// Resident warps for each scheduler, on average.
    pub fn warps_per_scheduler(&self) -> Ratio {
        Ratio { num: self.warps_per_sm.0.into(), den: self.schedulers.into() }
    }

    /// The resources whose limit equals the resident blocks: those that really bind.
    pub fn binding(&self) -> Limiters {
        self.limits.equal_to(self.blocks_per_sm).collect()
    }
}

/// Why there is no occupancy to report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OccupancyError {
    /// A block of no threads.
    #[error("a block has no threads; give at least 1 thread per block")]
    NoThreads,
    /// Shared memory is asked for on an architecture whose amount is not known.
    #[error(
        "the shared memory of {arch} is not known, so the occupancy of a block that uses \
         {requested} of it cannot be computed"
    )]
    UnknownSharedMemory {
        /// Name of the architecture.
        arch: String,
        /// Static and dynamic bytes of the block.
        requested: Bytes,
    },
}

/// The occupancy of `req` on `arch`. A request beyond the architecture (too many threads,
/// registers or bytes) is not an error: no block fits, and the limiters say why.
///
/// # Errors
/// [`OccupancyError::NoThreads`]; [`OccupancyError::UnknownSharedMemory`].
pub fn occupancy(arch: &Arch, req: &Request) -> Result<Occupancy, OccupancyError> {
    let mut limits = limits_without_registers(arch, req)?;
    let warps = req.threads.warps();
    limits.registers = blocks_by_registers(arch, warps, req.regs);

    let without_barriers = limits.least(Limiter::Barriers);
    let blocks = limits.barriers.map_or(without_barriers, |b| b.min(without_barriers));
    let mut limiters: Limiters = limits.equal_to(without_barriers).filter(|l| *l != Limiter::Barriers).collect();
    if limits.barriers == Some(blocks) {
        limiters.insert(Limiter::Barriers);
    }

    let rw = regs_per_warp(arch, req.regs);
    Ok(Occupancy {
        blocks_per_sm: blocks,
        // At most max_warps_per_sm: the warp limit is max_warps_per_sm / warps.
        warps_per_sm: Warps(blocks.0 * warps.0),
        max_warps_per_sm: arch.max_warps_per_sm(),
        warps_per_block: warps,
        schedulers: arch.sub_partitions(),
        limits,
        limiters,
        allocated_regs_per_thread: Regs(saturate(rw / u64::from(WARP_SIZE))),
        allocated_regs_per_block: Regs(saturate(rw.saturating_mul(u64::from(warps.0)))),
        allocated_smem_per_block: Bytes(saturate(allocated_smem(arch, req))),
        next_step: next_step(arch, req, &limits, blocks),
        slack_regs: if blocks.0 == 0 { Regs(0) } else { max_regs_for_blocks(arch, req.threads, blocks) - req.regs },
    })
}

/// All limits but that of registers, which is left unlimited.
fn limits_without_registers(arch: &Arch, req: &Request) -> Result<Limits, OccupancyError> {
    let warps = req.threads.warps();
    if warps.0 == 0 {
        return Err(OccupancyError::NoThreads);
    }
    let by_warps = if req.threads > arch.max_threads_per_block() { 0 } else { arch.max_warps_per_sm().0 / warps.0 };
    Ok(Limits {
        registers: None,
        warps: Some(Blocks(by_warps)),
        blocks: Some(arch.max_blocks_per_sm()),
        shared_memory: blocks_by_shared_memory(arch, req)?,
        barriers: arch.barrier_slots_per_sm().and_then(|slots| slots.checked_div(req.barriers)).map(Blocks),
    })
}

/// Blocks by every resource but registers: what the fewest registers could reach at most.
/// `req.regs` is not read.
pub(crate) fn blocks_without_registers(arch: &Arch, req: &Request) -> Result<Blocks, OccupancyError> {
    Ok(limits_without_registers(arch, req)?.least(Limiter::Registers))
}

/// Bytes that a block takes of the SM's shared memory.
fn allocated_smem(arch: &Arch, req: &Request) -> u64 {
    let granularity = u64::from(arch.smem_alloc_granularity().0);
    let reserved = u64::from(arch.reserved_smem_per_block().0);
    (u64::from(req.static_smem.0) + u64::from(req.dynamic_smem.0) + reserved).next_multiple_of(granularity)
}

/// The shared-memory term.
fn blocks_by_shared_memory(arch: &Arch, req: &Request) -> Result<Option<Blocks>, OccupancyError> {
    let requested = u64::from(req.static_smem.0) + u64::from(req.dynamic_smem.0);
    let (Some(smem_per_sm), Some(optin)) = (arch.smem_per_sm(), arch.smem_per_block_optin()) else {
        if requested == 0 {
            return Ok(None);
        }
        return Err(OccupancyError::UnknownSharedMemory {
            arch: arch.name().to_owned(),
            requested: Bytes(saturate(requested)),
        });
    };
    let reserved = arch.reserved_smem_per_block();
    let default = arch.smem_per_block_default();
    // The header compares with the reserved bytes included, and so do we.
    let opts_in = requested + u64::from(reserved.0) > u64::from(default.0);
    let limit = u64::from(if opts_in { optin } else { default }.0) + u64::from(reserved.0);
    let allocated = allocated_smem(arch, req);
    Ok(if allocated > limit {
        Some(Blocks(0))
    } else {
        u64::from(smem_per_sm.0).checked_div(allocated).map(|b| Blocks(saturate(b)))
    })
}

/// The next cliff down: nothing but registers may stand in the way of one more block.
fn next_step(arch: &Arch, req: &Request, limits: &Limits, blocks: Blocks) -> Option<NextStep> {
    let reachable = limits.least(Limiter::Registers);
    if reachable <= blocks {
        return None;
    }
    let regs = max_regs_for_blocks(arch, req.threads, blocks + Blocks(1));
    if regs.0 == 0 {
        return None;
    }
    let warps = req.threads.warps();
    let by_registers = blocks_by_registers(arch, warps, regs).unwrap_or(reachable);
    Some(NextStep { regs, warps_per_sm: Warps(by_registers.min(reachable).0 * warps.0) })
}

fn saturate(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
