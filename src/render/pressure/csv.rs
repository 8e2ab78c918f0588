//! One record for each instruction.

use crate::driver::PressureReport;
use crate::render::csv::record;
use fatpoint_ir::{EntityId, Inst};

/// Records with a header; lines that are not known are empty, as are counts of classes that were not asked for.
pub fn to_csv(reports: &[PressureReport]) -> String {
    let mut out = String::new();
    record(&mut out, &["kernel", "block", "inst", "line", "R", "UR", "P", "UP", "B"]);
    for r in reports {
        for b in &r.blocks {
            for i in b.insts.clone().map(Inst) {
                let line = r.lines[i];
                let mut row = vec![
                    r.name.clone(),
                    b.name.clone(),
                    i.index().to_string(),
                    if line == 0 { String::new() } else { line.to_string() },
                ];
                for class in fatpoint_ir::RegClass::ALL {
                    let asked = r.classes.iter().any(|c| c.class == class);
                    row.push(if asked { r.live[i][class].to_string() } else { String::new() });
                }
                record(&mut out, &row);
            }
        }
    }
    out
}
