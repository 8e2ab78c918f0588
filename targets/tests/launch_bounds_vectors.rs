//! Every run of the real assembler in the reference data: ceiling, errors and warnings.

mod common;

use fatpoint_targets::launch_bounds::{register_targets, RegCountFlag, Rule};
use fatpoint_targets::{launch_bounds, occupancy, Arch, Blocks, LaunchBounds, Regs, Request, Threads};

const HEADER: &str = "arch,maxntid,minnctapersm,reqntid,maxnreg,maxrregcount_flag,registers_used,\
                      spill_store_bytes,spill_load_bytes,warning_kind,maxreg_count_attr";

fn number(text: &str) -> Option<u32> {
    (!text.is_empty()).then(|| text.parse().unwrap())
}

fn bounds(row: &[&str]) -> LaunchBounds {
    LaunchBounds {
        maxntid: number(row[1]).map(|n| [n, 1, 1]),
        minnctapersm: number(row[2]),
        reqntid: number(row[3]).map(|n| [n, 1, 1]),
        maxnreg: number(row[4]),
        maxrregcount: match row[5] {
            "" => None,
            "archmin" => Some(RegCountFlag::ArchMin),
            "archmax" => Some(RegCountFlag::ArchMax),
            n => Some(RegCountFlag::Count(n.parse().unwrap())),
        },
    }
}

#[test]
fn all_rows_agree() {
    let text = common::gunzip("launch_bounds_vectors.csv.gz");
    let (mut good, mut bad) = (0, 0);
    for row in common::rows(&text, HEADER) {
        let arch = Arch::find(row[0]).unwrap();
        let expected_kinds = row[9];
        let got = match launch_bounds(arch, &bounds(&row)) {
            Err(error) => {
                assert_eq!(format!("error_{}", error.kind()), expected_kinds, "{row:?}");
                bad += 1;
                continue;
            }
            Ok(got) => got,
        };
        let kinds: Vec<&str> = got.warnings.iter().map(|w| w.kind()).collect();
        let kinds = if kinds.is_empty() { "none".to_owned() } else { kinds.join("+") };
        assert_eq!(kinds, expected_kinds, "{row:?}");
        assert_eq!(got.ceiling.0, number(row[10]).unwrap(), "{row:?}");

        // The kernel wants more registers than there are, so it uses the whole ceiling; under a
        // thread count alone, one of the targets.
        let used = Regs(number(row[6]).unwrap());
        if got.rule == Rule::Threads {
            let targets = register_targets(arch, got.threads.unwrap());
            assert!(targets.iter().any(|t| t.max_regs == used), "{row:?}");
        } else {
            assert_eq!(got.ceiling, used, "{row:?}");
        }
        good += 1;
    }
    assert_eq!((good, bad), (8797, 70));
}

/// On every architecture, thread count and accepted block count: the ceiling gives the blocks, one
/// more register does not.
#[test]
fn the_ceiling_gives_the_blocks_asked_for() {
    for arch in Arch::all() {
        for threads in 1..=1024 {
            for blocks in 1..=arch.max_blocks_per_sm().0 {
                let bounds = LaunchBounds {
                    maxntid: Some([threads, 1, 1]),
                    minnctapersm: Some(blocks),
                    ..LaunchBounds::default()
                };
                let got = launch_bounds(arch, &bounds).unwrap();
                if got.rule != Rule::Bounds {
                    assert!(!got.warnings.is_empty());
                    continue;
                }
                let at = |regs| {
                    // Barriers have no part in launch bounds.
                    let request = Request { barriers: 0, ..Request::new(Threads(threads), Regs(regs)) };
                    occupancy(arch, &request).unwrap().blocks_per_sm
                };
                assert!(at(got.ceiling.0) >= Blocks(blocks));
                assert!(got.ceiling == Regs(255) || at(got.ceiling.0 + 1) < Blocks(blocks));
            }
        }
    }
}
