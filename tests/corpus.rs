//! Every kernel of the corpus at every budget: read, verified, allocated, checked, and run before and after.
//!
//! The corpus in the tree, and a larger one beside the checkout where there is one. A budget below the floor must be
//! refused; at the floor allocation must succeed, one below it must not.

use fatpoint_allocator::{allocate, floor, least_without_spills, used_registers, Analysis, Options};
use fatpoint_checker::{check, CheckOptions};
use fatpoint_frontends::ptx::{self, LowerOptions};
use fatpoint_ir::assigned::AllocatedFunction;
use fatpoint_ir::interp::compare_seeds;
use fatpoint_ir::verify::verify;
use fatpoint_targets::{Arch, Regs};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

const BUDGETS: [u32; 5] = [255, 128, 64, 40, 32];
const SEEDS: std::ops::Range<u64> = 0..2;

#[derive(Default, Debug)]
struct Tally {
    files: usize,
    kernels: usize,
    allocations: usize,
    infeasible: usize,
    wrong: Vec<String>,
}

fn corpus() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<PathBuf> = Vec::new();
    for dir in ["tests/corpus/ptx", "../shared/corpus/ptx"] {
        let Ok(entries) = std::fs::read_dir(root.join(dir)) else {
            println!("skipped: no folder {dir}");
            continue;
        };
        files
            .extend(entries.map(|e| e.expect("an entry").path()).filter(|p| p.extension().is_some_and(|e| e == "ptx")));
    }
    files.sort_by_key(|p| p.file_name().map(std::ffi::OsStr::to_os_string));
    files.dedup_by_key(|p| p.file_name().map(std::ffi::OsStr::to_os_string));
    files
}

fn proves(alloc: &AllocatedFunction<'_>, budget: u32) -> Result<(), String> {
    let options = CheckOptions { budget: Some(Regs(budget)), ..CheckOptions::default() };
    let report = check(alloc, &options).map_err(|e| format!("{} errors: {}", e.len(), e[0]))?;
    let used = used_registers(alloc);
    if report.used.get() != used || used > budget {
        return Err(format!("the checker counts {} registers, the allocator {used}", report.used.get()));
    }
    compare_seeds(alloc, SEEDS).map_err(|(seed, m)| format!("seed {seed}: {}", m.describe(alloc.func)))?;
    Ok(())
}

fn file(path: &Path, t: &mut Tally) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let module = ptx::parse(&text).map_err(|e| e[0].to_string())?;
    if !module.notes.is_empty() {
        return Err(format!("not understood: {}", module.notes[0]));
    }
    let target = module.target.first().ok_or("no target")?;
    let arch = Arch::find(target).map_err(|e| e.to_string())?;
    let options = LowerOptions { param_base: arch.param_base().get(), ntid_offset: arch.ntid_offset().get() };
    t.files += 1;
    for kernel in ptx::lower(&module, &options) {
        let kernel = kernel.map_err(|e| e.errors[0].to_string())?;
        let func = verify(kernel.func).map_err(|e| format!("{} errors: {}", e.len(), e[0]))?;
        if let Some(i) = func.insts().find(|&i| !func.sig(i).props.known) {
            return Err(format!("`{}` is not a known opcode", func.sig(i).mnemonic));
        }
        t.kernels += 1;
        let a = Analysis::new(&func).map_err(|e| e.to_string())?;
        let o = Options::default();
        if let Some((budget, alloc)) = least_without_spills(&a, &o).map_err(|e| e.to_string())? {
            proves(&alloc, budget).map_err(|e| format!("min: {e}"))?;
            t.allocations += 1;
        }
        let (least, alloc) = floor(&a, &o).map_err(|e| e.to_string())?;
        proves(&alloc, least.budget).map_err(|e| format!("floor {}: {e}", least.budget))?;
        t.allocations += 1;
        if allocate(&a, least.budget - 1, &o).is_ok() {
            return Err(format!("allocates with {} registers, one below its floor", least.budget - 1));
        }
        for budget in BUDGETS {
            match allocate(&a, budget, &o) {
                Ok(alloc) => {
                    proves(&alloc, budget).map_err(|e| format!("{budget}: {e}"))?;
                    t.allocations += 1;
                }
                Err(_) if budget < least.budget => t.infeasible += 1,
                Err(e) => return Err(format!("{budget} registers: {e:?}, the floor is {}", least.budget)),
            }
        }
    }
    Ok(())
}

#[test]
fn every_kernel_at_every_budget() {
    let files = corpus();
    let (next, total) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|s| {
        for _ in 0..workers {
            s.spawn(|| {
                while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut t = Tally::default();
                    let result = file(path, &mut t);
                    let mut total = total.lock().expect("no test thread panics");
                    total.files += t.files;
                    total.kernels += t.kernels;
                    total.allocations += t.allocations;
                    total.infeasible += t.infeasible;
                    if let Err(e) = result {
                        total.wrong.push(format!("{}: {e}", path.display()));
                    }
                }
            });
        }
    });
    let mut t = total.into_inner().expect("no test thread panics");
    t.wrong.sort();
    println!(
        "{} files, {} kernels: {} allocations proved, {} budgets refused",
        t.files, t.kernels, t.allocations, t.infeasible
    );
    assert!(t.wrong.is_empty(), "{} wrong:\n{}", t.wrong.len(), t.wrong.join("\n"));
    assert!(t.kernels >= 90, "{t:?}");
}
