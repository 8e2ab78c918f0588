//! Cases by number: published ones, and those where a simpler formula goes wrong.

use fatpoint_targets::{
    cliffs, max_regs_for_blocks, occupancy, Arch, Blocks, Bytes, Limiter, NextStep, Occupancy, OccupancyError, Ratio,
    Regs, Request, Threads, Warps,
};

fn arch(name: &str) -> &'static Arch {
    Arch::find(name).unwrap()
}

fn occ(name: &str, threads: u32, regs: u32) -> Occupancy {
    occupancy(arch(name), &Request::new(Threads(threads), Regs(regs))).unwrap()
}

fn blocks_with_smem(name: &str, threads: u32, regs: u32, smem: u32) -> u32 {
    let request = Request { dynamic_smem: Bytes(smem), ..Request::new(Threads(threads), Regs(regs)) };
    occupancy(arch(name), &request).unwrap().blocks_per_sm.0
}

fn rows(name: &str, threads: u32) -> Vec<(u32, u32)> {
    let table = cliffs(arch(name), Threads(threads), Bytes(0), Bytes(0), 1).unwrap();
    table.rows().iter().map(|r| (r.max_regs.0, r.warps_per_sm.0)).collect()
}

#[test]
fn warps_by_registers_on_a_64_warp_sm() {
    let expected =
        [(24, 64), (32, 64), (33, 48), (40, 48), (48, 40), (64, 32), (96, 20), (128, 16), (168, 12), (255, 8)];
    for (regs, warps) in expected {
        assert_eq!(occ("sm_80", 128, regs).warps_per_sm, Warps(warps), "{regs} registers");
    }
}

#[test]
fn only_eleven_register_counts_matter() {
    let all = [
        (32, 64),
        (40, 48),
        (48, 40),
        (56, 36),
        (64, 32),
        (72, 28),
        (80, 24),
        (96, 20),
        (128, 16),
        (168, 12),
        (255, 8),
    ];
    assert_eq!(rows("sm_80", 128), all);
    // The first cliff is at the warp limit of the SM: 40 -> 41 with 48 warps, 64 -> 65 with 32.
    assert_eq!(rows("sm_89", 128), all[1..]);
    assert_eq!(rows("sm_75", 128), all[4..]);
}

#[test]
fn registers_that_allow_no_block() {
    let o = occ("sm_80", 1024, 65);
    assert_eq!((o.blocks_per_sm, o.slack_regs), (Blocks(0), Regs(0)));
    assert_eq!(o.next_step, Some(NextStep { regs: Regs(64), warps_per_sm: Warps(32) }));
    // 17 warps of 112 registers would fit the file; 20, as the per-block check counts, do not.
    assert_eq!(occ("sm_80", 544, 112).blocks_per_sm, Blocks(0));
}

#[test]
fn where_a_simpler_formula_fails() {
    // Bytes that the system reserves for each block.
    assert_eq!(blocks_with_smem("sm_86", 128, 32, 51_200), 1);
    assert_eq!(blocks_with_smem("sm_90", 256, 32, 57_856), 3);
    // Rounding of shared memory.
    assert_eq!(blocks_with_smem("sm_75", 64, 32, 21_800), 2);
    assert_eq!(blocks_with_smem("sm_70", 96, 46, 19_457), 4);
    // One byte over what a block may have.
    assert_eq!(blocks_with_smem("sm_80", 256, 32, 166_912), 1);
    assert_eq!(blocks_with_smem("sm_80", 256, 32, 166_913), 0);
    // Too many threads, too many registers.
    let o = occ("sm_80", 1025, 12);
    assert_eq!(o.blocks_per_sm, Blocks(0));
    assert!(o.binding().contains(Limiter::Warps));
    assert_eq!(occ("sm_86", 1, 257).blocks_per_sm, Blocks(0));
    // Named barriers.
    let request = Request { barriers: 16, ..Request::new(Threads(128), Regs(18)) };
    let o = occupancy(arch("sm_90"), &request).unwrap();
    assert_eq!(o.blocks_per_sm, Blocks(4));
    assert_eq!(o.binding().to_string(), "barriers");
    // No registers, no shared memory: no limit from them.
    let o = occ("sm_70", 128, 0);
    assert_eq!((o.limits.registers, o.limits.shared_memory), (None, None));
}

/// The header marks warps before it looks at barriers, which are lower.
#[test]
fn limiters_keep_the_quirk_and_binding_does_not() {
    let request = Request { barriers: 16, ..Request::new(Threads(256), Regs(18)) };
    let o = occupancy(arch("sm_90"), &request).unwrap();
    assert_eq!((o.blocks_per_sm, o.limits.warps), (Blocks(4), Some(Blocks(8))));
    assert_eq!(o.limiters.to_string(), "warps, barriers");
    assert_eq!(o.binding().to_string(), "barriers");
    assert_eq!(o.next_step, None);
}

#[test]
fn ratios() {
    let o = occ("sm_86", 256, 64);
    assert_eq!(o.warps_per_sm, Warps(32));
    assert_eq!(o.ratio(), Ratio { num: 32, den: 48 });
    assert_eq!(o.warps_per_scheduler(), Ratio { num: 32, den: 4 });
}

#[test]
fn slack_and_next_step() {
    // 33 registers cost what 40 do; 32 is the next step.
    let o = occ("sm_80", 256, 33);
    assert_eq!(o.slack_regs, Regs(7));
    assert_eq!(o.next_step, Some(NextStep { regs: Regs(32), warps_per_sm: Warps(64) }));
    // Nothing above full occupancy, and 32 registers are free.
    let o = occ("sm_80", 256, 20);
    assert_eq!((o.next_step, o.slack_regs), (None, Regs(12)));
    // Registers bind together with warps: fewer registers alone do not help.
    assert_eq!(occ("sm_80", 256, 32).next_step, None);
    // Seven warps a block: the step is a block.
    let o = occ("sm_80", 224, 92);
    assert_eq!(o.next_step, Some(NextStep { regs: Regs(80), warps_per_sm: Warps(21) }));
}

/// 92 registers: a block of 7 warps fits 3 times by dividing the file, and 2 times in truth.
#[test]
fn odd_warps_per_block_lose_a_block() {
    let o = occ("sm_80", 224, 92);
    assert_eq!((o.blocks_per_sm, o.warps_per_sm), (Blocks(2), Warps(14)));
    assert_eq!(occ("sm_80", 128, 92).warps_per_sm, Warps(20));
    assert_eq!(occ("sm_80", 160, 92).warps_per_sm, Warps(20));
}

/// 41 and 43 registers are the same allocation: a tuner that ignores the unit sees a change.
#[test]
fn counts_in_one_unit_are_equal() {
    for regs in [41, 43] {
        let o = occ("sm_80", 128, regs);
        assert_eq!(o.allocated_regs_per_thread, Regs(48));
        assert_eq!(o.blocks_per_sm, Blocks(10));
    }
}

#[test]
fn a_minimum_of_blocks_gives_the_ceiling() {
    assert_eq!(occ("sm_90", 128, 69).blocks_per_sm, Blocks(7));
    let ceiling = max_regs_for_blocks(arch("sm_90"), Threads(128), Blocks(12));
    assert_eq!(ceiling, Regs(40));
    assert_eq!(occ("sm_90", 128, 40).blocks_per_sm, Blocks(12));
}

#[test]
fn a_register_more_or_less_on_sm_120() {
    for (regs, blocks) in [(40, 12), (48, 10), (53, 9)] {
        assert_eq!(occ("sm_120", 128, regs).blocks_per_sm, Blocks(blocks));
    }
}

#[test]
fn two_registers_more_lose_a_third_of_the_warps() {
    assert_eq!(occ("sm_80", 32, 168).warps_per_sm, Warps(12));
    assert_eq!(occ("sm_80", 32, 170).warps_per_sm, Warps(8));
}

/// From 36, three registers less change nothing; four do.
#[test]
fn savings_above_the_cliff_are_worthless() {
    assert_eq!(occ("sm_80", 128, 36).warps_per_sm, Warps(48));
    assert_eq!(occ("sm_80", 128, 33).warps_per_sm, Warps(48));
    let step = occ("sm_80", 128, 36).next_step.unwrap();
    assert_eq!((step.regs, step.warps_per_sm), (Regs(32), Warps(64)));
}

#[test]
fn growth_from_39_to_57_costs_a_third_of_the_warps() {
    assert_eq!(occ("sm_80", 128, 39).warps_per_sm, Warps(48));
    assert_eq!(occ("sm_80", 128, 57).warps_per_sm, Warps(32));
}

#[test]
fn unknown_shared_memory_is_said_only_when_it_matters() {
    let o = occ("sm_88", 128, 40);
    assert_eq!((o.warps_per_sm, o.limits.shared_memory), (Warps(48), None));
    let request = Request { static_smem: Bytes(16), ..Request::new(Threads(128), Regs(40)) };
    let error = occupancy(arch("sm_88"), &request).unwrap_err();
    assert!(matches!(error, OccupancyError::UnknownSharedMemory { .. }));
    assert!(error.to_string().contains("sm_88") && error.to_string().contains("16 bytes"));
    let table = cliffs(arch("sm_88"), Threads(128), Bytes(0), Bytes(1), 1);
    assert!(matches!(table, Err(OccupancyError::UnknownSharedMemory { .. })));
}

#[test]
fn a_block_has_threads() {
    let request = Request::new(Threads(0), Regs(40));
    assert_eq!(occupancy(arch("sm_80"), &request), Err(OccupancyError::NoThreads));
}

#[test]
fn rows_are_found_by_registers_and_by_warps() {
    let table = cliffs(arch("sm_80"), Threads(512), Bytes(0), Bytes(0), 1).unwrap();
    let found: Vec<(u32, u32)> = table.rows().iter().map(|r| (r.max_regs.0, r.blocks_per_sm.0)).collect();
    assert_eq!(found, [(32, 4), (40, 3), (64, 2), (128, 1)]);
    assert_eq!(table.row_of(Regs(33)).unwrap().max_regs, Regs(40));
    assert_eq!(table.row_of(Regs(129)), None);
    assert_eq!(table.next_up(Regs(129)).unwrap().max_regs, Regs(128));
    assert_eq!(table.next_up(Regs(33)).unwrap().max_regs, Regs(32));
    assert_eq!(table.next_up(Regs(32)), None);
    assert_eq!(table.row_with_warps(Warps(33)).unwrap().max_regs, Regs(40));
    assert_eq!(table.row_with_warps(Warps(0)).unwrap().max_regs, Regs(128));
    assert_eq!(table.row_with_warps(Warps(65)), None);
    // A block that never fits has no rows.
    let table = cliffs(arch("sm_80"), Threads(1025), Bytes(0), Bytes(0), 1).unwrap();
    assert!(table.rows().is_empty());
}
