//! Random programs, all budgets: every allocation passes the checker and agrees with its input under the interpreter.

mod common;

use common::{differs, program, Shape};
use fatpoint_allocator::{allocate, floor, least_without_spills, used_registers, Analysis, Options};
use fatpoint_checker::{check, CheckOptions};
use fatpoint_ir::assigned::AllocatedFunction;
use fatpoint_targets::Regs;

fn run(s: Shape) {
    let func = program(s);
    let a = Analysis::new(&func).unwrap_or_else(|e| panic!("{s:?}: {e}"));
    let options = Options::default();
    let (f, at_floor) = floor(&a, &options).unwrap_or_else(|e| panic!("{s:?}: {e}"));
    let min = least_without_spills(&a, &options).unwrap_or_else(|e| panic!("{s:?}: {e}")).map(|x| x.0);
    let compare = |alloc: &AllocatedFunction<'_>| {
        for seed in 0..2 {
            if let Err(m) = differs(alloc, seed) {
                eprintln!("{}", fatpoint_ir::text::print_allocated(alloc));
                panic!("{s:?}, interpreter seed {seed}: {}", m.describe(alloc.func));
            }
        }
    };
    let test = |budget: u32, alloc: &AllocatedFunction<'_>| {
        let opts = CheckOptions { budget: Some(Regs(budget)), ..CheckOptions::default() };
        match check(alloc, &opts) {
            Ok(report) => {
                assert_eq!(report.used.get(), used_registers(alloc), "{s:?} at {budget}");
                compare(alloc);
                report
            }
            Err(errors) => {
                for e in errors.iter().take(5) {
                    eprintln!("{e}");
                }
                eprintln!("{}", fatpoint_ir::text::print_allocated(alloc));
                panic!("{s:?} at {budget}: {} errors", errors.len());
            }
        }
    };
    test(f.budget, &at_floor);
    let mut budgets = vec![f.budget + 1, f.budget + 3, f.budget + 8, 255];
    if let Some(m) = min {
        budgets.push(m);
    }
    for b in budgets {
        let alloc = allocate(&a, b, &options).unwrap_or_else(|e| panic!("{s:?} at {b}: {e:?} (floor {})", f.budget));
        let report = test(b, &alloc);
        if min == Some(b) || b == 255 && min.is_some() {
            assert_eq!(
                (report.spill_store_bytes + report.spill_load_bytes).get(),
                0,
                "{s:?} spills at {b}, min {min:?}"
            );
        }
    }
    if f.budget > 4 {
        assert!(allocate(&a, f.budget - 1, &options).is_err(), "{s:?}: one below the floor works");
    }
}

#[test]
fn plain_programs() {
    for seed in 0..100 {
        run(Shape {
            seed,
            blocks: 1 + seed as usize % 9,
            vars: 3 + seed as usize % 20,
            preds: 2,
            insts: 14,
            fancy: false,
        });
    }
}

#[test]
fn wide_tied_fixed_and_clobbering_programs() {
    for seed in 1000..1150 {
        run(Shape {
            seed,
            blocks: 1 + seed as usize % 7,
            vars: 4 + seed as usize % 30,
            preds: 3,
            insts: 12,
            fancy: true,
        });
    }
}

#[test]
fn many_predicates() {
    for seed in 2000..2060 {
        run(Shape {
            seed,
            blocks: 1 + seed as usize % 6,
            vars: 5,
            preds: 4 + seed as usize % 12,
            insts: 16,
            fancy: seed % 2 == 0,
        });
    }
}
