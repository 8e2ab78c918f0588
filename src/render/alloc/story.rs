//! One kernel on one screen: pressure, cliffs, the choice, the result and what limits it.

use super::{waves, Entry, Grid};
use crate::driver::{AllocReport, CheckLevel};
use crate::render::occupancy::{decimal, next_step_line, words};
use crate::render::style::Style;
use crate::render::{bounds, clean, cliffs, count, paragraph};
use fatpoint_allocator::analysis::PREDICATES;
use fatpoint_targets::launch_bounds::Rule;
use fatpoint_targets::{CliffRow, Limiter, Regs, WARP_SIZE};
use std::fmt::Write;

/// Rows of the cliff table above and below the chosen one.
const AROUND: usize = 3;

/// The story of an allocation.
pub fn story(entry: &Entry<'_>, grid: Option<Grid>, style: Style) -> String {
    let r = entry.report;
    let mut s = String::new();
    let _ = writeln!(s, "{}  ({})", style.bold(&clean(&r.name)), clean(entry.source));
    head(&mut s, r);
    pressure(&mut s, r);
    cliff_rows(&mut s, r);
    result(&mut s, r, grid, style);
    s
}

fn head(s: &mut String, r: &AllocReport) {
    let l = &r.launch;
    let text = format!(
        "{}, {} a block ({}, {}), {}",
        l.arch.name(),
        l.threads,
        l.threads.warps(),
        l.threads_from.name(),
        count(r.instructions, "instruction", "instructions")
    );
    paragraph(s, "  machine     ", &text);
    if l.ceiling.rule != Rule::Unbounded {
        paragraph(s, "  ceiling     ", &format!("{} ({})", l.ceiling.ceiling, bounds::rule(l.ceiling.rule)));
    }
}

fn pressure(s: &mut String, r: &AllocReport) {
    let mut text = format!("max live {} (R1 included)", Regs(r.max_live));
    if let Some(f) = &r.fat_point {
        let line = if f.line == 0 { String::new() } else { format!(", line {}", f.line) };
        let _ = write!(text, ", fat point at {} {} in {}{line}", f.inst, clean(&f.instruction), clean(&f.block));
    }
    paragraph(s, "  pressure    ", &text);
    if r.max_live_predicates > PREDICATES {
        let text = format!(
            "{} predicates live at once in a file of {PREDICATES}: the others go through general registers",
            r.max_live_predicates
        );
        paragraph(s, "              ", &text);
    }
    let need = match r.no_spill {
        Some(n) => format!("{n} are needed to spill nothing (max live, alignment, the reserved pair)"),
        None => "every register count spills".into(),
    };
    paragraph(s, "  demand      ", &need);
}

fn cliff_rows(s: &mut String, r: &AllocReport) {
    let l = &r.launch;
    let smem = l.static_smem + l.dynamic_smem;
    let _ = writeln!(s, "\n  cliffs of {} a block with {smem} of shared memory", l.threads);
    let rows = l.cliffs.rows();
    if rows.is_empty() {
        s.push_str("    none: no block is resident at any register count\n");
        return;
    }
    let at = |regs: Regs| rows.partition_point(|row| row.max_regs < regs).min(rows.len() - 1);
    let (chosen, used) = (at(r.choice.budget), at(r.figures.used));
    let from = chosen.min(used).saturating_sub(AROUND);
    let to = (chosen.max(used) + AROUND + 1).min(rows.len());
    let mark = |k: usize| {
        let mut marks = Vec::new();
        if k == chosen {
            marks.push(format!("<- budget {}", r.choice.budget.0));
        }
        if k == used {
            marks.push(format!("<- used {}", r.figures.used.0));
        }
        marks.join(" ")
    };
    let shown: Vec<(&CliffRow, String)> = (from..to).map(|k| (&rows[k], mark(k))).collect();
    s.push_str(&cliffs::rows(shown.into_iter(), 4));
    if to < rows.len() {
        let _ = writeln!(s, "    ({} with fewer warps)", count(rows.len() - to, "more row", "more rows"));
    }
    s.push('\n');
}

fn result(s: &mut String, r: &AllocReport, grid: Option<Grid>, style: Style) {
    let (o, f) = (&r.occupancy, &r.figures);
    paragraph(s, "  budget      ", &format!("{}, {}", r.choice.budget, r.choice.why));
    let per_warp = u64::from(o.allocated_regs_per_thread.0) * u64::from(WARP_SIZE);
    let text = format!(
        "named {} (R0 to R{}), used {}, allocated {} a thread x {WARP_SIZE} = {per_warp} a warp, {} a block",
        f.named.0,
        f.named.0.saturating_sub(1),
        f.used.0,
        o.allocated_regs_per_thread.0,
        o.allocated_regs_per_block.0
    );
    paragraph(s, "  registers   ", &text);
    let part = |l: Limiter| match o.limits.get(l) {
        Some(b) => format!("{} by {}", b.0, words(l)),
        None => format!("any by {}", words(l)),
    };
    let binding: Vec<&str> = o.binding().iter().map(words).collect();
    let text = format!("{} an SM, limited by {}", o.blocks_per_sm, binding.join(" and "));
    paragraph(s, "  blocks      ", &text);
    paragraph(s, "              ", &Limiter::ALL.map(part).join(", "));
    let text = format!(
        "{} of {} an SM ({:.1} %), {} a scheduler",
        o.warps_per_sm.0,
        o.max_warps_per_sm,
        o.ratio().to_f64() * 100.0,
        decimal(o.warps_per_scheduler().to_f64())
    );
    paragraph(s, "  warps       ", &style.bold(&text));
    if let Some(g) = grid {
        let text = match waves(g, r) {
            Some((n, exact)) => format!(
                "{} ({exact:.2}) of a grid of {} blocks on {} SMs",
                count(n as usize, "wave", "waves"),
                g.blocks,
                g.sms
            ),
            None => "none: no block is resident".into(),
        };
        paragraph(s, "  waves       ", &text);
    }
    paragraph(s, "  spills      ", &spills(r));
    paragraph(s, "  moves       ", &moves(r));
    paragraph(s, "  check       ", &check(r));
    paragraph(s, "  next step   ", &next_step_line(&r.launch.request(f.used), o));
}

fn spills(r: &AllocReport) -> String {
    let f = &r.figures;
    let mut text = format!("{} stored, {} loaded", f.spill_store_bytes, f.spill_load_bytes);
    if f.spills() {
        let _ = write!(text, "; {} with loops counted", count(f.weighted_spill_cost as usize, "access", "accesses"));
    }
    let to_r = f.by_place.to_r_stores + f.by_place.to_r_loads;
    if to_r > 0 {
        let _ = write!(text, "; {} between predicates and registers", count(to_r as usize, "move", "moves"));
    }
    text
}

fn moves(r: &AllocReport) -> String {
    let f = &r.figures;
    format!("{}, {}", count(f.copies as usize, "copy", "copies"), count(f.swaps as usize, "swap", "swaps"))
}

/// What was proved, in words.
fn check(r: &AllocReport) -> String {
    match (r.check, &r.proof.runs) {
        (CheckLevel::None, _) => "none: nothing was proved (--check none)".into(),
        (_, None) => "ok: every use reads its value, and the figures were counted again".into(),
        (_, Some(runs)) => {
            let mut text = format!(
                "ok: every use reads its value, and {} of {} agree",
                count(runs.events, "event", "events"),
                count(runs.seeds, "run", "runs")
            );
            if runs.wildcards > 0 {
                let _ = write!(text, " ({} undefined in the input)", runs.wildcards);
            }
            if !runs.never_reached.is_empty() {
                let n = runs.never_reached.len();
                let _ = write!(text, "; no run reached {}", count(n, "instruction", "instructions"));
            }
            text
        }
    }
}
