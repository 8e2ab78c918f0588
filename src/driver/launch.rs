//! How a kernel will be launched: architecture, threads, register ceiling, and what speaks against it.
//!
//! Each comes from the first of: the command line, the kernel's own directives, a default that reports name as such.

use super::bounds::{never_launches, Remark};
use super::diagnostic::Diagnostic;
use fatpoint_ir::KernelAttrs;
use fatpoint_targets::launch_bounds::RegCountFlag;
use fatpoint_targets::{
    cliffs, launch_bounds, Arch, Bytes, Ceiling, CliffTable, LaunchBounds, OccupancyError, Regs, Request, Threads,
};

/// Architecture of a kernel that names none.
pub const DEFAULT_ARCH: &str = "sm_80";
/// Threads per block of a kernel that states none.
pub const DEFAULT_THREADS: Threads = Threads(256);

/// What the command line says about the launch.
#[derive(Clone, Copy, Default, Debug)]
pub struct LaunchOptions {
    /// Architecture in place of the file's.
    pub arch: Option<&'static Arch>,
    /// Threads per block in place of the kernel's.
    pub threads: Option<Threads>,
    /// `-maxrregcount`.
    pub maxrregcount: Option<RegCountFlag>,
    /// Shared memory given at launch, per block.
    pub dynamic_smem: Bytes,
}

/// Where the thread count comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadsFrom {
    /// The command line.
    Option,
    /// `.reqntid`.
    Reqntid,
    /// `.maxntid`.
    Maxntid,
    /// Nothing says; see [`DEFAULT_THREADS`].
    Default,
}

impl ThreadsFrom {
    /// Words for reports.
    pub const fn name(self) -> &'static str {
        match self {
            ThreadsFrom::Option => "--threads",
            ThreadsFrom::Reqntid => ".reqntid",
            ThreadsFrom::Maxntid => ".maxntid",
            ThreadsFrom::Default => "assumed",
        }
    }
}

/// A kernel's launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The machine.
    pub arch: &'static Arch,
    /// Threads per block.
    pub threads: Threads,
    /// Where they come from.
    pub threads_from: ThreadsFrom,
    /// Registers that the launch bounds allow.
    pub ceiling: Ceiling,
    /// Every cliff of this launch, whatever the ceiling.
    pub cliffs: CliffTable,
    /// Shared memory that the kernel declares.
    pub static_smem: Bytes,
    /// Shared memory given at launch.
    pub dynamic_smem: Bytes,
    /// Named barriers of a block.
    pub barriers: u32,
    /// What was dropped, or cannot work.
    pub remarks: Vec<Remark>,
}

impl Launch {
    /// The request for a register count.
    pub fn request(&self, regs: Regs) -> Request {
        Request {
            threads: self.threads,
            regs,
            static_smem: self.static_smem,
            dynamic_smem: self.dynamic_smem,
            barriers: self.barriers,
        }
    }
}

/// The architecture to use: as asked for, else what the file names, else [`DEFAULT_ARCH`].
///
/// # Errors
/// The file names one that is not known.
pub fn find_arch(asked: Option<&'static Arch>, target: Option<&str>) -> Result<&'static Arch, Diagnostic> {
    match (asked, target) {
        (Some(arch), _) => Ok(arch),
        (None, Some(name)) => Arch::find(name).map_err(|e| {
            Diagnostic::error(e.to_string()).hint("the file names it as its target; --arch chooses another")
        }),
        (None, None) => Ok(Arch::find(DEFAULT_ARCH).expect("the default architecture is known")),
    }
}

fn product(dims: [u32; 3]) -> Threads {
    Threads(dims.into_iter().fold(1, u32::saturating_mul))
}

/// The launch of a kernel with these attributes.
///
/// # Errors
/// An unknown target, directives that do not assemble, an occupancy that cannot be computed.
pub fn launch(attrs: &KernelAttrs, options: &LaunchOptions) -> Result<Launch, Diagnostic> {
    let arch = find_arch(options.arch, attrs.target.as_deref())?;
    let bounds = LaunchBounds {
        maxntid: attrs.maxntid,
        reqntid: attrs.reqntid,
        minnctapersm: attrs.minnctapersm,
        maxnreg: attrs.maxnreg,
        maxrregcount: options.maxrregcount,
    };
    let ceiling = launch_bounds(arch, &bounds).map_err(|e| Diagnostic::error(e.to_string()))?;
    let (threads, threads_from) = match (options.threads, attrs.reqntid, attrs.maxntid) {
        (Some(t), _, _) => (t, ThreadsFrom::Option),
        (None, Some(d), _) => (product(d), ThreadsFrom::Reqntid),
        (None, None, Some(d)) => (product(d), ThreadsFrom::Maxntid),
        (None, None, None) => (DEFAULT_THREADS, ThreadsFrom::Default),
    };
    let (static_smem, dynamic_smem) = (Bytes(attrs.static_smem), options.dynamic_smem);
    let table = cliffs(arch, threads, static_smem, dynamic_smem, attrs.barriers)
        .map_err(|e: OccupancyError| Diagnostic::error(e.to_string()))?;

    let mut remarks: Vec<Remark> = ceiling.warnings.iter().map(Remark::from).collect();
    remarks.extend(never_launches(arch, &bounds, &ceiling));
    if let (Some(t), Some(d)) = (options.threads, attrs.reqntid.or(attrs.maxntid)) {
        let declared = product(d);
        if t > declared || (attrs.reqntid.is_some() && t != declared) {
            let directive = if attrs.reqntid.is_some() { ".reqntid" } else { ".maxntid" };
            remarks.push(Remark::new(
                "threads_beyond_directive",
                format!("--threads {} contradicts {directive}: the kernel declares {declared} a block", t.0),
            ));
        }
    }
    let older = |name: &str| Arch::find(name).ok().filter(|a| a.compute_capability() > arch.compute_capability());
    if let Some(own) = attrs.target.as_deref().and_then(older) {
        remarks.push(Remark::new(
            "arch_below_target",
            format!("the kernel is written for {}, and {} may lack its instructions", own.name(), arch.name()),
        ));
    }
    if table.rows().is_empty() {
        remarks.push(Remark::new(
            "no_block_fits",
            format!("no block of {threads} is resident on {} at any register count", arch.name()),
        ));
    }
    Ok(Launch {
        arch,
        threads,
        threads_from,
        ceiling,
        cliffs: table,
        static_smem,
        dynamic_smem,
        barriers: attrs.barriers,
        remarks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attrs() -> KernelAttrs {
        KernelAttrs::default()
    }

    #[test]
    fn threads_come_from_the_first_that_states_them() {
        let o = LaunchOptions::default();
        let l = launch(&attrs(), &o).unwrap();
        assert_eq!((l.threads, l.threads_from, l.arch.name()), (Threads(256), ThreadsFrom::Default, "sm_80"));
        let both = |reqntid, maxntid| KernelAttrs { reqntid, maxntid, ..attrs() };
        let l = launch(&both(None, Some([64, 2, 1])), &o).unwrap();
        assert_eq!((l.threads, l.threads_from), (Threads(128), ThreadsFrom::Maxntid));
        let l = launch(&both(Some([96, 1, 1]), None), &o).unwrap();
        assert_eq!((l.threads, l.threads_from), (Threads(96), ThreadsFrom::Reqntid));
        let l = launch(&both(Some([96, 1, 1]), None), &LaunchOptions { threads: Some(Threads(32)), ..o }).unwrap();
        assert_eq!((l.threads, l.threads_from), (Threads(32), ThreadsFrom::Option));
        assert_eq!(l.remarks[0].kind, "threads_beyond_directive");
    }

    #[test]
    fn a_launch_that_can_never_run_is_remarked() {
        let a = KernelAttrs { maxntid: Some([1024, 1, 1]), maxnreg: Some(128), ..attrs() };
        let l = launch(&a, &LaunchOptions::default()).unwrap();
        assert_eq!(l.ceiling.ceiling, Regs(128));
        assert_eq!(l.remarks.iter().map(|r| r.kind).collect::<Vec<_>>(), ["cannot_launch"]);
    }

    #[test]
    fn an_unknown_target_is_an_error_unless_another_is_asked_for() {
        let a = KernelAttrs { target: Some("sm_52".into()), ..attrs() };
        assert!(launch(&a, &LaunchOptions::default()).unwrap_err().hint.unwrap().contains("--arch"));
        let o = LaunchOptions { arch: Some(Arch::find("sm_80").unwrap()), ..LaunchOptions::default() };
        assert!(launch(&a, &o).is_ok());
    }
}
