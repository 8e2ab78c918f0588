//! What must hold for every architecture, also for machines that do not exist.

use fatpoint_targets::arch::Sourced;
use fatpoint_targets::{
    cliffs, max_regs_for_blocks, occupancy, waves, Arch, ArchSpec, Blocks, Bytes, CliffTable, NextStep, Occupancy,
    Regs, Request, Threads, Warps,
};
use proptest::prelude::*;

/// A known architecture, or one with other limits.
fn machine() -> impl Strategy<Value = Arch> {
    let known = (0..Arch::all().len()).prop_map(|i| Arch::all()[i].clone());
    prop_oneof![known, made_up()]
}

fn made_up() -> impl Strategy<Value = Arch> {
    let warps = (1u32..130, 1u32..40, 1u32..2000);
    let file = (1u32..9, 0u32..20_000, 0u32..140_000, 1u32..20, 1u32..300, 0u32..3);
    let smem = (0u32..300_000, 0u32..60_000, 0u32..60_000, 0u32..2000, 1u32..1000);
    (warps, file, smem, proptest::option::of(0u32..100)).prop_map(
        |(
            (warps, blocks, threads),
            (partitions, share, per_block, unit, max_regs, beyond),
            (per_sm, default, more, reserved, granularity),
            slots,
        )| {
            let base = *Arch::find("sm_80").unwrap().spec();
            let spec = ArchSpec {
                max_warps_per_sm: Sourced::given(Warps(warps)),
                max_threads_per_sm: Sourced::given(Threads(32 * warps)),
                max_blocks_per_sm: Sourced::given(Blocks(blocks)),
                max_threads_per_block: Sourced::given(Threads(threads)),
                sub_partitions: Sourced::given(partitions),
                registers_per_sm: Sourced::given(Regs(partitions * share)),
                registers_per_block: Sourced::given(Regs(per_block)),
                reg_alloc_unit_per_warp: Sourced::given(Regs(32 * unit)),
                max_regs_per_thread: Sourced::given(Regs(max_regs)),
                max_regs_accepted: Sourced::given(Regs(max_regs + beyond)),
                reserved_regs: Sourced::given(Regs(0)),
                reg_count_lower_clamp: Sourced::given(None),
                smem_per_sm: Sourced::given(Some(Bytes(per_sm))),
                smem_per_block_default: Sourced::given(Bytes(default)),
                smem_per_block_optin: Sourced::given(Some(Bytes(default + more))),
                reserved_smem_per_block: Sourced::given(Bytes(reserved)),
                smem_alloc_granularity: Sourced::given(Bytes(granularity)),
                barrier_slots_per_sm: Sourced::given(slots),
                ..base
            };
            Arch::custom("made up", spec).unwrap()
        },
    )
}

#[derive(Clone, Debug)]
struct Kernel {
    threads: Threads,
    static_smem: Bytes,
    dynamic_smem: Bytes,
    barriers: u32,
}

/// A launch without its register count. Shared memory is often none, since `sm_88` has no other.
fn kernel() -> impl Strategy<Value = Kernel> {
    let smem = prop_oneof![Just(0), Just(0), 0u32..70_000];
    (1u32..1100, smem.clone(), smem, 0u32..17).prop_map(|(threads, fixed, dynamic, barriers)| Kernel {
        threads: Threads(threads),
        static_smem: Bytes(fixed),
        dynamic_smem: Bytes(dynamic),
        barriers,
    })
}

fn at(arch: &Arch, k: &Kernel, regs: u32) -> Option<Occupancy> {
    let request = Request {
        threads: k.threads,
        regs: Regs(regs),
        static_smem: k.static_smem,
        dynamic_smem: k.dynamic_smem,
        barriers: k.barriers,
    };
    occupancy(arch, &request).ok()
}

fn table(arch: &Arch, k: &Kernel) -> CliffTable {
    cliffs(arch, k.threads, k.static_smem, k.dynamic_smem, k.barriers).unwrap()
}

/// The table by trying every register count.
fn brute_force(arch: &Arch, k: &Kernel) -> Vec<(Regs, Blocks, Warps)> {
    let mut rows: Vec<(Regs, Blocks, Warps)> = Vec::new();
    for regs in 1..=arch.max_regs_per_thread().0 {
        let o = at(arch, k, regs).unwrap();
        if o.blocks_per_sm.0 == 0 {
            continue;
        }
        match rows.last_mut() {
            Some(last) if last.1 == o.blocks_per_sm => last.0 = Regs(regs),
            _ => rows.push((Regs(regs), o.blocks_per_sm, o.warps_per_sm)),
        }
    }
    rows
}

/// Cliff table, occupancy, slack and next step of one kernel at every register count.
fn check_staircase(arch: &Arch, k: &Kernel) {
    let table = table(arch, k);
    let rows: Vec<_> = table.rows().iter().map(|r| (r.max_regs, r.blocks_per_sm, r.warps_per_sm)).collect();
    assert_eq!(rows, brute_force(arch, k), "{} {k:?}", arch.name());
    assert!(rows.windows(2).all(|w| w[0].0 < w[1].0 && w[0].2 > w[1].2));

    let mut before = u32::MAX;
    for regs in 1..=arch.max_regs_per_thread().0 + 5 {
        let o = at(arch, k, regs).unwrap();
        assert!(o.warps_per_sm.0 <= before, "more registers, more warps");
        before = o.warps_per_sm.0;
        let context = format!("{} {k:?} {regs} registers", arch.name());
        if regs <= arch.max_regs_per_thread().0 {
            match table.row_of(Regs(regs)) {
                None => assert_eq!(o.blocks_per_sm, Blocks(0), "{context}"),
                Some(row) => {
                    assert_eq!(row.warps_per_sm, o.warps_per_sm, "{context}");
                    assert_eq!(row.occupancy, o.ratio(), "{context}");
                    let cliff = row.max_regs.0;
                    assert!(cliff >= regs, "{context}");
                    assert_eq!(cliff - regs, o.slack_regs.0, "{context}");
                    let there = at(arch, k, cliff).unwrap();
                    assert_eq!(there.warps_per_sm, o.warps_per_sm, "{context}");
                    if cliff < arch.max_regs_per_thread().0 {
                        let beyond = at(arch, k, cliff + 1).unwrap();
                        assert!(beyond.warps_per_sm < o.warps_per_sm, "{context}");
                    }
                }
            }
        }
        // The table ends at the registers a thread can have, so only up to there do the two agree
        // by definition.
        if regs <= arch.max_regs_per_thread().0 {
            let next =
                table.next_up(Regs(regs)).map(|row| NextStep { regs: row.max_regs, warps_per_sm: row.warps_per_sm });
            assert_eq!(o.next_step, next, "{context}");
        }
        if let Some(step) = o.next_step {
            assert!(step.regs.0 < regs && step.warps_per_sm > o.warps_per_sm, "{context}");
            assert_eq!(at(arch, k, step.regs.0).unwrap().warps_per_sm, step.warps_per_sm);
        }
    }
}

/// Every known architecture and every block size that can launch.
#[test]
fn the_staircase_of_every_block_size() {
    for arch in Arch::all() {
        for threads in (1..=33).chain((1..=32).flat_map(|w| [32 * w - 1, 32 * w])) {
            let kernel =
                Kernel { threads: Threads(threads), static_smem: Bytes(0), dynamic_smem: Bytes(0), barriers: 1 };
            check_staircase(arch, &kernel);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cliffs_are_the_inverse_of_occupancy(arch in machine(), kernel in kernel()) {
        if at(&arch, &kernel, 1).is_some() {
            check_staircase(&arch, &kernel);
        } else {
            prop_assert_eq!(arch.smem_per_sm(), None);
        }
    }

    /// `max_regs_for_blocks` gives at least so many blocks by registers, and one more does not.
    #[test]
    fn the_cap_is_the_inverse_of_the_register_term(
        arch in machine(),
        threads in 1u32..1100,
        blocks in 1u32..40,
    ) {
        let kernel = Kernel {
            threads: Threads(threads),
            static_smem: Bytes(0),
            dynamic_smem: Bytes(0),
            barriers: 0,
        };
        let by_registers = |regs| at(&arch, &kernel, regs).unwrap().limits.registers;
        let cap = max_regs_for_blocks(&arch, Threads(threads), Blocks(blocks));
        prop_assert!(cap <= arch.max_regs_per_thread());
        if cap.0 > 0 {
            prop_assert!(by_registers(cap.0).unwrap() >= Blocks(blocks));
        }
        if cap < arch.max_regs_per_thread() {
            prop_assert!(by_registers(cap.0 + 1).unwrap() < Blocks(blocks));
        }
    }

    /// No input overflows or panics (debug builds check arithmetic), and no answer is beyond the
    /// machine.
    #[test]
    fn any_request_is_answered(
        arch in machine(),
        threads in extreme(),
        regs in extreme(),
        fixed in extreme(),
        dynamic in extreme(),
        barriers in extreme(),
        grid in any::<u64>(),
        sms in extreme(),
    ) {
        let request = Request {
            threads: Threads(threads),
            regs: Regs(regs),
            static_smem: Bytes(fixed),
            dynamic_smem: Bytes(dynamic),
            barriers,
        };
        let answer = occupancy(&arch, &request);
        let table = cliffs(&arch, Threads(threads), Bytes(fixed), Bytes(dynamic), barriers);
        max_regs_for_blocks(&arch, Threads(threads), Blocks(sms));
        match answer {
            Ok(o) => {
                prop_assert!(o.warps_per_sm <= o.max_warps_per_sm);
                prop_assert!(o.blocks_per_sm <= arch.max_blocks_per_sm());
                prop_assert!(!o.limiters.is_empty() && !o.binding().is_empty());
                prop_assert!(table.is_ok());
                prop_assert_eq!(
                    waves(grid, sms, o.blocks_per_sm).is_none(),
                    sms == 0 || o.blocks_per_sm.0 == 0
                );
            }
            Err(error) => {
                prop_assert!(threads == 0 || arch.smem_per_sm().is_none());
                prop_assert_eq!(table, Err(error));
            }
        }
    }

    /// An `Arch` exists only if its numbers pass, whatever they are, and then nothing panics.
    #[test]
    fn a_machine_is_rejected_or_works(
        numbers in proptest::collection::vec(extreme(), 14),
        threads in extreme(),
        regs in extreme(),
    ) {
        let base = *Arch::find("sm_90").unwrap().spec();
        let spec = ArchSpec {
            max_warps_per_sm: Sourced::given(Warps(numbers[0] / 32)),
            max_threads_per_sm: Sourced::given(Threads(numbers[0] / 32 * 32)),
            max_blocks_per_sm: Sourced::given(Blocks(numbers[1])),
            max_threads_per_block: Sourced::given(Threads(numbers[2])),
            sub_partitions: Sourced::given(numbers[3]),
            registers_per_sm: Sourced::given(Regs(numbers[4])),
            registers_per_block: Sourced::given(Regs(numbers[5])),
            reg_alloc_unit_per_warp: Sourced::given(Regs(numbers[6] / 32 * 32)),
            max_regs_per_thread: Sourced::given(Regs(numbers[7])),
            max_regs_accepted: Sourced::given(Regs(numbers[7].max(numbers[8]))),
            smem_per_sm: Sourced::given(Some(Bytes(numbers[9]))),
            smem_per_block_default: Sourced::given(Bytes(numbers[10])),
            smem_per_block_optin: Sourced::given(Some(Bytes(numbers[10].max(numbers[11])))),
            reserved_smem_per_block: Sourced::given(Bytes(numbers[12])),
            smem_alloc_granularity: Sourced::given(Bytes(numbers[13])),
            reg_count_lower_clamp: Sourced::given(None),
            ..base
        };
        if let Ok(arch) = Arch::custom("any", spec) {
            let _ = occupancy(&arch, &Request::new(Threads(threads), Regs(regs)));
            let _ = cliffs(&arch, Threads(threads), Bytes(0), Bytes(0), 1);
        }
    }
}

/// Any number, with the ends and the usual range more often.
fn extreme() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        0u32..2048,
        0u32..4,
        (u32::MAX - 40)..=u32::MAX,
        Just(1 << 31),
        (0u32..17).prop_map(|n| 1 << n)
    ]
}
