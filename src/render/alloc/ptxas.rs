//! Lines in the form of `ptxas -v`, so that scripts that read those read these; the first line says whose they are.

use super::Entry;
use crate::render::clean;
use std::fmt::Write;

/// The lines of all kernels.
pub fn lines(entries: &[Entry<'_>]) -> String {
    let mut s = String::from("fatpoint info    : allocation by fatpoint, not by ptxas\n");
    for e in entries {
        let (r, f) = (e.report, &e.report.figures);
        let name = clean(&r.name);
        let _ = writeln!(s, "ptxas info    : Compiling entry function '{name}' for '{}'", r.launch.arch.name());
        let _ = writeln!(s, "ptxas info    : Function properties for {name}");
        let _ = writeln!(
            s,
            "    {} bytes stack frame, {} bytes spill stores, {} bytes spill loads",
            u64::from(r.stack_frame) + 4 * u64::from(f.local_slots),
            f.spill_store_bytes.0,
            f.spill_load_bytes.0
        );
        let _ = write!(s, "ptxas info    : Used {} registers, used {} barriers", f.used.0, r.launch.barriers);
        if r.launch.static_smem.0 > 0 {
            let _ = write!(s, ", {} bytes smem", r.launch.static_smem.0);
        }
        s.push('\n');
    }
    s
}
