//! A chart of the blocks, and the fat points with what is live there.

use crate::driver::{ClassReport, FatReport, LiveValue, PressureReport};
use crate::render::style::Style;
use crate::render::table::{Align, Table};
use crate::render::{clean, count, fit};
use fatpoint_ir::RegClass;
use std::fmt::Write;

/// Blocks in the chart; with more, those of least pressure are left out.
const MAX_BLOCKS: usize = 40;
/// Live values listed for one fat point.
const MAX_VALUES: usize = 16;
/// Columns of the longest bar.
const BAR: usize = 48;

/// The text of one kernel.
pub fn text(r: &PressureReport, source: &str, style: Style) -> String {
    let mut s = String::new();
    let _ = writeln!(
        s,
        "{}  ({}), {} in {}",
        style.bold(&clean(&r.name)),
        clean(source),
        count(r.instructions, "instruction", "instructions"),
        count(r.blocks.len(), "block", "blocks")
    );
    if r.classes.is_empty() {
        s.push_str("\nno value is of this class\n");
    }
    for c in &r.classes {
        s.push('\n');
        class(&mut s, r, c, style);
    }
    s
}

/// A class in words.
fn words(c: RegClass) -> &'static str {
    match c {
        RegClass::R => "general registers (R), R1 included",
        RegClass::UR => "uniform registers (UR)",
        RegClass::P => "predicates (P)",
        RegClass::UP => "uniform predicates (UP)",
        RegClass::B => "convergence barriers (B)",
    }
}

fn class(s: &mut String, r: &PressureReport, c: &ClassReport, style: Style) {
    let demand = c.demand.map_or("more than any file has".into(), |d| d.to_string());
    let _ = writeln!(
        s,
        "{}: max live {} at {}, demand {demand}",
        words(c.class),
        style.bold(&c.max_live.to_string()),
        count(c.num_fat_points, "point", "points")
    );
    chart(s, r, c, style);
    for f in &c.fat_points {
        fat_point(s, f, style);
    }
    let more = c.num_fat_points - c.fat_points.len();
    if more > 0 && !c.fat_points.is_empty() {
        let _ = writeln!(s, "  ({} as fat)", count(more, "more point", "more points"));
    }
}

fn chart(s: &mut String, r: &PressureReport, c: &ClassReport, style: Style) {
    let mut shown: Vec<usize> = (0..r.blocks.len()).collect();
    if shown.len() > MAX_BLOCKS {
        shown.sort_by_key(|&b| (std::cmp::Reverse(r.blocks[b].max[c.class]), b));
        shown.truncate(MAX_BLOCKS);
        shown.sort_unstable();
    }
    let name = shown.iter().map(|&b| clean(&r.blocks[b].name).chars().count()).max().unwrap_or(0).clamp(5, 24);
    let _ = writeln!(s, "  {:<name$}  loops  insts  live", "block");
    for &b in &shown {
        let block = &r.blocks[b];
        let live = block.max[c.class];
        let len = if c.max_live == 0 { 0 } else { (live as usize * BAR).div_ceil(c.max_live as usize) };
        let bar = "#".repeat(len);
        let fat = live == c.max_live && c.num_fat_points > 0;
        let insts = block.insts.end - block.insts.start;
        let bar = if fat { style.red(&bar) } else { bar };
        let line = format!("  {:<name$}  {:>5}  {insts:>5}  {live:>4}  {bar}", fit(&block.name, name), block.depth);
        let _ = writeln!(s, "{}", line.trim_end());
    }
    if shown.len() < r.blocks.len() {
        let n = r.blocks.len() - shown.len();
        let _ = writeln!(s, "  ({} of less pressure; --format csv lists all)", count(n, "more block", "more blocks"));
    }
}

fn fat_point(s: &mut String, f: &FatReport, style: Style) {
    let side = if f.before { "before" } else { "after" };
    let place = fit(&format!("{} {}", f.inst, f.instruction), 60);
    let _ = writeln!(s, "\n  {} {side} {place} in {}", style.bold("fat point"), fit(&f.block, 24));
    let columns = [
        ("live", Align::Left),
        ("units", Align::Right),
        ("defined by", Align::Left),
        ("next use", Align::Left),
        ("distance", Align::Right),
    ];
    let mut t = Table::new(4, &columns);
    // Farthest first: what is not needed for long is what could make room.
    let mut order: Vec<&LiveValue> = f.values.iter().collect();
    order.sort_by_key(|v| std::cmp::Reverse((v.loops_left, v.distance.unwrap_or(u32::MAX))));
    for v in order.iter().take(MAX_VALUES) {
        let next = match (v.next_use, v.next_line) {
            (None, _) => "none".to_string(),
            (Some(i), 0) => i.to_string(),
            (Some(i), line) => format!("{i}, line {line}"),
        };
        let distance = match (v.distance, v.loops_left) {
            (None, _) => "-".to_string(),
            (Some(d), 0) => d.to_string(),
            (Some(d), n) => format!("{d} and {}", count(n as usize, "loop", "loops")),
        };
        t.row([fit(&v.name, 20), v.units.to_string(), fit(&v.def, 36), next, distance]);
    }
    s.push_str(&t.print());
    if order.len() > MAX_VALUES {
        let _ = writeln!(s, "    ({} nearer; --json lists all)", count(order.len() - MAX_VALUES, "more", "more"));
    }
}
