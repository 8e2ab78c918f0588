//! Every answer of NVIDIA's occupancy header in the reference data, field by field.

mod common;

use fatpoint_targets::{occupancy, Arch, Blocks, Bytes, Limiter, Regs, Request, Threads};

const HEADER: &str = "arch,threads,regs,static_smem,dyn_smem,barriers,blocks_per_sm,warps_per_sm,\
                      limits,lim_regs,lim_warps,lim_blocks,lim_smem,alloc_regs_per_block,\
                      alloc_smem_per_block";

#[test]
fn all_rows_agree() {
    let text = common::gunzip("occupancy_vectors.csv.gz");
    let mut count = 0;
    let mut barrier_bound = 0;
    for row in common::rows(&text, HEADER) {
        let arch = Arch::find(row[0]).unwrap();
        let number = |i: usize| row[i].parse::<u32>().unwrap();
        let limit = |i: usize| match row[i] {
            "-1" => None,
            n => Some(Blocks(n.parse().unwrap())),
        };
        let request = Request {
            threads: Threads(number(1)),
            regs: Regs(number(2)),
            static_smem: Bytes(number(3)),
            dynamic_smem: Bytes(number(4)),
            barriers: number(5),
        };
        let got = occupancy(arch, &request).unwrap();
        let letters: String = [
            (Limiter::Warps, 'W'),
            (Limiter::Registers, 'R'),
            (Limiter::SharedMemory, 'S'),
            (Limiter::Blocks, 'B'),
            (Limiter::Barriers, 'b'),
        ]
        .iter()
        .filter(|(limiter, _)| got.limiters.contains(*limiter))
        .map(|(_, letter)| letter)
        .collect();
        assert_eq!(
            (got.blocks_per_sm.0, got.warps_per_sm.0, letters.as_str()),
            (number(6), number(7), row[8]),
            "{row:?}"
        );
        assert_eq!(
            (got.limits.registers, got.limits.warps, got.limits.blocks, got.limits.shared_memory),
            (limit(9), limit(10), limit(11), limit(12)),
            "{row:?}"
        );
        assert_eq!(
            (got.allocated_regs_per_block.0, got.allocated_smem_per_block.0),
            (number(13), number(14)),
            "{row:?}"
        );
        assert!(!got.binding().is_empty());
        barrier_bound += u32::from(got.binding().iter().eq([Limiter::Barriers]));
        count += 1;
    }
    assert_eq!(count, 25_728);
    // The barrier term decides alone in some rows, so it is tested.
    assert!(barrier_bound > 0);
}
