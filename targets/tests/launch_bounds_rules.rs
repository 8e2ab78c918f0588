//! The rules of launch bounds, one by one.

use fatpoint_targets::launch_bounds::{register_targets, RegCountFlag, Rule, Warning};
use fatpoint_targets::{launch_bounds, Arch, Blocks, Ceiling, LaunchBounds, LaunchBoundsError, Regs, Threads};

const NONE: LaunchBounds =
    LaunchBounds { maxntid: None, reqntid: None, minnctapersm: None, maxnreg: None, maxrregcount: None };

fn sm_80(bounds: LaunchBounds) -> Ceiling {
    launch_bounds(Arch::find("sm_80").unwrap(), &bounds).unwrap()
}

fn ceiling(bounds: LaunchBounds) -> (u32, Rule) {
    let got = sm_80(bounds);
    (got.ceiling.0, got.rule)
}

fn flag(count: i64) -> Option<RegCountFlag> {
    Some(RegCountFlag::Count(count))
}

#[test]
fn directives_beat_the_flag_in_silence() {
    for count in [32, 128] {
        let got = sm_80(LaunchBounds {
            maxntid: Some([256, 1, 1]),
            minnctapersm: Some(4),
            maxrregcount: flag(count),
            ..NONE
        });
        assert_eq!((got.ceiling, got.rule), (Regs(64), Rule::Bounds));
        assert!(got.warnings.is_empty());
    }
    let bounds = LaunchBounds { maxnreg: Some(128), maxrregcount: flag(64), ..NONE };
    assert_eq!(ceiling(bounds), (128, Rule::Maxnreg));
    assert_eq!(ceiling(LaunchBounds { maxrregcount: flag(64), ..NONE }), (64, Rule::Flag));
    assert_eq!(ceiling(NONE), (255, Rule::Unbounded));
}

#[test]
fn maxnreg_and_bounds_combine_by_the_lesser() {
    for (maxnreg, expected) in [(128, 64), (32, 32)] {
        let bounds = LaunchBounds { maxntid: Some([16, 4, 4]), minnctapersm: Some(4), maxnreg: Some(maxnreg), ..NONE };
        assert_eq!(ceiling(bounds), (expected, Rule::BoundsAndMaxnreg));
    }
}

#[test]
fn maxnreg_replaces_the_cap_by_threads_alone() {
    let threads = LaunchBounds { maxntid: Some([1024, 1, 1]), ..NONE };
    assert_eq!(ceiling(threads), (64, Rule::Threads));
    assert_eq!(ceiling(LaunchBounds { maxnreg: Some(128), ..threads }), (128, Rule::Maxnreg));
    // Even one that is "ignored".
    let got = sm_80(LaunchBounds { maxnreg: Some(256), ..threads });
    assert_eq!((got.ceiling, got.rule), (Regs(255), Rule::Maxnreg));
    assert_eq!(got.warnings, [Warning::MaxnregTooBigIgnored { given: 256, max: Regs(255) }]);
}

#[test]
fn two_blocks_of_256_have_128_registers() {
    let bounds = LaunchBounds { maxntid: Some([256, 1, 1]), minnctapersm: Some(2), ..NONE };
    assert_eq!(ceiling(bounds), (128, Rule::Bounds));
    // More threads than a block may have are not checked, only those of an SM.
    assert_eq!(ceiling(LaunchBounds { maxntid: Some([2048, 1, 1]), ..NONE }), (32, Rule::Threads));
}

#[test]
fn thread_counts_beyond_the_sm_are_dropped_and_the_flag_returns() {
    let got = sm_80(LaunchBounds {
        reqntid: Some([u32::MAX, u32::MAX, 2]),
        minnctapersm: Some(2),
        maxrregcount: flag(40),
        ..NONE
    });
    assert_eq!((got.ceiling, got.rule, got.threads), (Regs(40), Rule::Flag, None));
    assert_eq!(got.warnings[0].kind(), "threads_per_sm_out_of_range_both_ignored");
}

#[test]
fn out_of_range_flags() {
    for count in [-1, 256, i64::MIN, i64::MAX] {
        let got = sm_80(LaunchBounds { maxrregcount: flag(count), ..NONE });
        assert_eq!((got.ceiling, got.rule), (Regs(255), Rule::Unbounded));
        assert_eq!(got.warnings[0].kind(), "flag_too_big_ignored");
    }
    let got = sm_80(LaunchBounds { maxrregcount: flag(0), ..NONE });
    assert_eq!(got.ceiling, Regs(24));
    assert_eq!(got.warnings[0].to_string(), "-maxrregcount 0 is raised to the lower bound of 24 registers");
}

#[test]
fn an_unknown_lower_bound_is_said_to_be_assumed() {
    let bounds = LaunchBounds { maxnreg: Some(10), maxrregcount: flag(10), ..NONE };
    let got = launch_bounds(Arch::find("sm_70").unwrap(), &bounds).unwrap();
    assert_eq!(got.ceiling, Regs(24));
    let kinds: Vec<&str> = got.warnings.iter().map(Warning::kind).collect();
    assert_eq!(kinds, ["lower_bound_assumed", "flag_raised_to_lower_bound", "maxnreg_raised_to_lower_bound"]);
}

#[test]
fn directives_that_do_not_assemble() {
    let arch = Arch::find("sm_80").unwrap();
    let error = |bounds| launch_bounds(arch, &bounds).unwrap_err();
    let both = LaunchBounds { maxntid: Some([1; 3]), reqntid: Some([1; 3]), ..NONE };
    assert_eq!(error(both), LaunchBoundsError::MaxntidAndReqntid);
    let zero = error(LaunchBounds { maxntid: Some([32, 0, 1]), ..NONE });
    assert_eq!(zero.to_string(), ".maxntid must be positive");
    let zero = error(LaunchBounds { maxnreg: Some(0), ..NONE });
    assert_eq!((zero.kind(), zero.to_string().as_str()), ("non_positive_maxnreg", ".maxnreg must be positive"));
}

#[test]
fn targets_of_a_thread_count() {
    let arch = Arch::find("sm_80").unwrap();
    let targets = register_targets(arch, Threads(256));
    let regs: Vec<u32> = targets.iter().map(|t| t.max_regs.0).collect();
    assert_eq!(regs, [255, 128, 80, 64, 48, 40, 32, 32]);
    assert_eq!(targets[7].blocks_per_sm, Blocks(8));
    assert!(register_targets(arch, Threads(0)).is_empty());
    assert!(register_targets(arch, Threads(2049)).is_empty());
}
