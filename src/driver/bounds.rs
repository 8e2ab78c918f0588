//! Launch bounds with the command-line forms of the assembler, and what can never launch.
//!
//! The rules of the directives are those of [`mod@fatpoint_targets::launch_bounds`]; here the options are merged in, as
//! measured on ptxas 13.0: a directive beats the same option, a missing half is taken from the option, an option
//! `-minnctapersm` without any thread count is dropped silently, and `-maxrregcount` beats the other options (with a
//! warning). With the directives overridden the options win: by measurement for `-maxrregcount`, by the
//! documentation of the option for the other two.

use fatpoint_targets::launch_bounds::{register_targets, RegisterTarget, Warning};
use fatpoint_targets::{
    launch_bounds, occupancy, Arch, Ceiling, LaunchBounds, LaunchBoundsError, Regs, Request, Threads,
};

/// A remark with a stable name for scripts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remark {
    /// The name.
    pub kind: &'static str,
    /// One sentence without a full stop.
    pub message: String,
}

impl Remark {
    /// A remark.
    pub fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl From<&Warning> for Remark {
    fn from(w: &Warning) -> Self {
        Self::new(w.kind(), w.to_string())
    }
}

/// Directives and options.
#[derive(Clone, Copy, Default, Debug)]
pub struct BoundsRequest {
    /// Directives, and `-maxrregcount`.
    pub directives: LaunchBounds,
    /// `-maxntid` of the command line, all threads of a block.
    pub cli_maxntid: Option<u32>,
    /// `-minnctapersm` of the command line.
    pub cli_minnctapersm: Option<u32>,
    /// `-override-directive-values`.
    pub override_directives: bool,
}

/// The ceiling and how it came about.
#[derive(Clone, Debug)]
pub struct BoundsReport {
    /// The bounds after merging.
    pub merged: LaunchBounds,
    /// The ceiling.
    pub ceiling: Ceiling,
    /// What a compiler may aim at below it; empty without a thread count.
    pub targets: Vec<RegisterTarget>,
    /// What was dropped, changed or cannot work.
    pub remarks: Vec<Remark>,
}

/// The register ceiling of a request.
///
/// # Errors
/// Bounds that do not assemble.
pub fn bounds(arch: &Arch, request: &BoundsRequest) -> Result<BoundsReport, LaunchBoundsError> {
    // Directives that do not assemble are refused, even where an option overrides them.
    launch_bounds(arch, &request.directives)?;
    let mut remarks = Vec::new();
    let merged = merge(request, &mut remarks);
    let ceiling = launch_bounds(arch, &merged)?;
    let targets = ceiling.threads.map(|t| register_targets(arch, t)).unwrap_or_default();
    remarks.extend(ceiling.warnings.iter().map(Remark::from));
    remarks.extend(never_launches(arch, &merged, &ceiling));
    Ok(BoundsReport { merged, ceiling, targets, remarks })
}

fn merge(request: &BoundsRequest, remarks: &mut Vec<Remark>) -> LaunchBounds {
    let mut b = request.directives;
    let (mut maxntid, mut minnctapersm) = (request.cli_maxntid, request.cli_minnctapersm);
    if b.maxrregcount.is_some() && (maxntid.is_some() || minnctapersm.is_some()) {
        remarks.push(Remark::new(
            "conflicting_options",
            "conflicting options: -maxntid and -minnctapersm of the command line are ignored beside -maxrregcount",
        ));
        (maxntid, minnctapersm) = (None, None);
    }
    if request.override_directives && b.maxrregcount.is_some() {
        let any = b.maxntid.is_some() || b.reqntid.is_some() || b.minnctapersm.is_some() || b.maxnreg.is_some();
        if any {
            remarks.push(Remark::new("directives_overridden", "the directives are overridden by -maxrregcount"));
        }
        return LaunchBounds { maxrregcount: b.maxrregcount, ..LaunchBounds::default() };
    }
    let stated = b.maxntid.is_some() || b.reqntid.is_some();
    if let Some(n) = maxntid {
        if !stated || request.override_directives {
            if stated {
                remarks.push(Remark::new("directives_overridden", "the thread count is overridden by -maxntid"));
            }
            b.reqntid = None;
            b.maxntid = Some([n, 1, 1]);
        }
    }
    if let Some(n) = minnctapersm {
        let known = b.maxntid.is_some() || b.reqntid.is_some();
        if known && (b.minnctapersm.is_none() || request.override_directives) {
            if b.minnctapersm.is_some() {
                remarks.push(Remark::new(
                    "directives_overridden",
                    ".minnctapersm is overridden by -minnctapersm of the command line",
                ));
            }
            b.minnctapersm = Some(n);
        }
    }
    b
}

/// The remark that a block of all threads declared is never resident at the ceiling: the assembler accepts
/// `.maxnreg 128` with `.maxntid 1024`, and a kernel that uses so many registers cannot launch.
pub fn never_launches(arch: &Arch, bounds: &LaunchBounds, ceiling: &Ceiling) -> Option<Remark> {
    let dims = bounds.reqntid.or(bounds.maxntid)?;
    let threads = Threads(dims.into_iter().fold(1, u32::saturating_mul));
    let fits = |regs: Regs| occupancy(arch, &Request::new(threads, regs)).is_ok_and(|o| o.blocks_per_sm.0 > 0);
    if fits(ceiling.ceiling) {
        return None;
    }
    let least = arch.reserved_regs() + Regs(1);
    let message = if !fits(least) {
        format!("a block of {threads} never launches on {}: at most {} fit", arch.name(), arch.max_threads_per_block())
    } else {
        let product = u64::from(ceiling.ceiling.0) * u64::from(threads.warps().0) * 32;
        format!(
            "the bounds allow {}, and a block of {threads} cannot launch with so many: {} x {} is {product}, above \
             the {} of an SM",
            ceiling.ceiling,
            ceiling.ceiling.0,
            threads.warps().0 * 32,
            arch.registers_per_sm()
        )
    };
    Some(Remark::new("cannot_launch", message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fatpoint_targets::launch_bounds::{RegCountFlag, Rule};

    fn report(request: BoundsRequest) -> BoundsReport {
        bounds(Arch::find("sm_80").unwrap(), &request).unwrap()
    }

    #[test]
    fn a_missing_half_is_taken_from_the_command_line() {
        let directives = LaunchBounds { maxntid: Some([256, 1, 1]), ..Default::default() };
        let r = report(BoundsRequest { directives, cli_minnctapersm: Some(4), ..Default::default() });
        assert_eq!((r.ceiling.ceiling, r.ceiling.rule), (Regs(64), Rule::Bounds));
        // The directive wins over the option.
        let directives = LaunchBounds { minnctapersm: Some(2), ..directives };
        let r = report(BoundsRequest { directives, cli_minnctapersm: Some(4), ..Default::default() });
        assert_eq!(r.ceiling.ceiling, Regs(128));
        // Alone it is dropped without a word.
        let r = report(BoundsRequest { cli_minnctapersm: Some(4), ..Default::default() });
        assert_eq!((r.ceiling.ceiling, r.remarks.len()), (Regs(255), 0));
    }

    #[test]
    fn the_flag_beats_options_and_with_override_directives() {
        let flag = Some(RegCountFlag::Count(40));
        let directives = LaunchBounds { maxrregcount: flag, ..Default::default() };
        let r = report(BoundsRequest { directives, cli_maxntid: Some(1024), ..Default::default() });
        assert_eq!((r.ceiling.ceiling, r.remarks[0].kind), (Regs(40), "conflicting_options"));
        let directives = LaunchBounds { maxntid: Some([1024, 1, 1]), maxrregcount: flag, ..Default::default() };
        assert_eq!(report(BoundsRequest { directives, ..Default::default() }).ceiling.ceiling, Regs(64));
        let r = report(BoundsRequest { directives, override_directives: true, ..Default::default() });
        assert_eq!((r.ceiling.ceiling, r.ceiling.rule), (Regs(40), Rule::Flag));
    }

    #[test]
    fn a_register_count_that_no_block_can_have() {
        let directives = LaunchBounds { maxntid: Some([1024, 1, 1]), maxnreg: Some(128), ..Default::default() };
        let r = report(BoundsRequest { directives, ..Default::default() });
        assert_eq!(r.ceiling.ceiling, Regs(128));
        let last = r.remarks.last().unwrap();
        assert_eq!(last.kind, "cannot_launch");
        assert!(last.message.contains("128 x 1024 is 131072"), "{}", last.message);
        let directives = LaunchBounds { maxntid: Some([2048, 1, 1]), ..Default::default() };
        let r = report(BoundsRequest { directives, ..Default::default() });
        assert!(r.remarks.last().unwrap().message.contains("never launches"));
    }
}
