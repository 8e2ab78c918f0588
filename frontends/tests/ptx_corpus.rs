//! The PTX reader over a large corpus of real kernels, where that is present beside the workspace:
//! everything parses, and every instruction has a row in the property table.

use fatpoint_frontends::ptx::{parse, roles::roles};
use std::path::{Path, PathBuf};

fn corpus() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus/ptx");
    let Ok(dir) = std::fs::read_dir(&root) else {
        println!("skipped: no corpus at {}", root.display());
        return Vec::new();
    };
    let mut files: Vec<_> =
        dir.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.extension().is_some_and(|e| e == "ptx")).collect();
    files.sort();
    files
}

#[test]
fn every_file_parses_and_every_instruction_has_roles() {
    let mut problems = Vec::new();
    for path in corpus() {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
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
