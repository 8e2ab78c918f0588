//! Time per instruction of the stages and of the whole, at three sizes: growth should be near linear.
//!
//! `cargo bench --bench pipeline`; the throughput that criterion prints is instructions a second.

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion, Throughput};
use fatpoint_allocator::{allocate, no_spill_budget, Analysis, Options};
use fatpoint_checker::{check, CheckOptions};
use fatpoint_ir::dom::DomTree;
use fatpoint_ir::gen::{generate, GenOptions};
use fatpoint_ir::loops::LoopForest;
use fatpoint_pressure::Liveness;
use std::hint::black_box;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

fn stages(c: &mut Criterion) {
    for insts in SIZES {
        let f = generate(&GenOptions { insts, pairs: 10, quads: 3, ..GenOptions::default() });
        let n = Throughput::Elements(f.num_insts() as u64);
        let mut group = c.benchmark_group("stages");
        group.sample_size(10).throughput(n);
        group.bench_with_input(BenchmarkId::new("liveness", insts), &f, |b, f| {
            b.iter(|| {
                let dom = DomTree::compute(f);
                let loops = LoopForest::compute(f);
                black_box(Liveness::compute(f, &dom, &loops))
            });
        });
        let a = Analysis::new(&f).expect("general registers and predicates alone");
        let o = Options::default();
        group.bench_with_input(BenchmarkId::new("coloring", insts), &a, |b, a| {
            b.iter(|| black_box(allocate(a, 255, &o).expect("fits")));
        });
        let tight = no_spill_budget(&a, &o).expect("fits") * 3 / 4;
        group.bench_with_input(BenchmarkId::new("spilling and coloring", insts), &a, |b, a| {
            b.iter(|| black_box(allocate(a, tight, &o).expect("fits with spills")));
        });
        let done = allocate(&a, 255, &o).expect("fits");
        group.bench_with_input(BenchmarkId::new("check", insts), &done, |b, done| {
            b.iter(|| black_box(check(done, &CheckOptions::default()).expect("correct")));
        });
        group.bench_with_input(BenchmarkId::new("end to end", insts), &f, |b, f| {
            b.iter(|| {
                let a = Analysis::new(f).expect("general registers and predicates alone");
                let out = allocate(&a, 255, &o).expect("fits");
                black_box(check(&out, &CheckOptions::default()).expect("correct").used)
            });
        });
        group.finish();
    }
}

criterion_group!(benches, stages);
criterion_main!(benches);
