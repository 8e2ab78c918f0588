//! The PTX reader over real kernels: everything parses, every instruction has a row in the property
//! table, and every kernel runs in the interpreter.

mod common;

use fatpoint_frontends::ptx::exec::{coverage, run, Outcome};
use fatpoint_frontends::ptx::{parse, roles::roles};

#[test]
fn every_file_parses_and_every_instruction_has_roles() {
    let mut problems = Vec::new();
    for (name, text) in common::all_kernels() {
        match parse(&text) {
            Err(errors) => problems.extend(errors.iter().take(2).map(|e| format!("{name}:{e}"))),
            Ok(module) => {
                problems.extend(module.notes.iter().map(|n| format!("{name}:{n}")));
                if module.kernels().count() == 0 {
                    problems.push(format!("{name}: no kernel"));
                }
                for f in &module.functions {
                    for inst in f.insts() {
                        let roles = roles(inst, f);
                        if let Some(note) = roles.note {
                            problems.push(format!("{name}:{}: {note}", inst.line));
                        }
                        assert!(inst.call.is_some() || roles.operands.len() == inst.operands.len());
                    }
                }
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems[..problems.len().min(40)].join("\n"));
}

#[test]
fn every_kernel_runs() {
    let (mut modelled, mut total, mut exits, mut runs) = (0, 0, 0, 0);
    for (_, text) in common::all_kernels() {
        let module = parse(&text).unwrap();
        let c = coverage(&module);
        modelled += c.modelled;
        total += c.total;
        for id in common::kernel_ids(&module) {
            let mut host = common::MapHost::default();
            let first = run(&module, id, &mut host, 20_000);
            assert!(first.steps > 0);
            let mut again = common::MapHost::default();
            assert_eq!(run(&module, id, &mut again, 20_000), first, "a run must be repeatable");
            assert_eq!(host.stores, again.stores);
            runs += 1;
            exits += usize::from(first.outcome == Outcome::Exit);
        }
    }
    println!("{runs} kernels run, {exits} to their end; {modelled} of {total} instructions modelled");
    assert!(exits * 2 > runs, "most kernels should end within the fuel: {exits} of {runs}");
}
