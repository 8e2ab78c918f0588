//! A plot of pressure along the program, with the occupancy cliffs as lines.
//!
//! The horizontal axis counts instructions in linear order, the vertical one live units. A cliff at `max_regs` stands at
//! `max_regs` less the reserved pair: what is below the line can be held with the warps of its label. Long programs are
//! drawn by the highest pressure of each column of the plot.

use crate::driver::PressureReport;
use crate::render::clean;
use fatpoint_ir::{Inst, RegClass};
use std::fmt::Write;

const WIDTH: u32 = 960;
const HEIGHT: u32 = 420;
const LEFT: u32 = 64;
const RIGHT: u32 = 210;
const TOP: u32 = 44;
const BOTTOM: u32 = 52;
/// Least distance of two labels.
const LINE: f64 = 14.0;

/// The plot of one class.
pub fn plot(r: &PressureReport, class: RegClass) -> String {
    let report = r.classes.iter().find(|c| c.class == class);
    let max_live = report.map_or(0, |c| c.max_live);
    // The cliffs around the pressure, and the next one above it, fit the plot.
    let reserved = r.launch.arch.reserved_regs().0;
    let cliffs: Vec<(u32, u32)> = match class {
        RegClass::R => {
            let rows = r.launch.cliffs.rows();
            let end = rows.partition_point(|row| row.max_regs.0 < max_live + reserved) + 1;
            rows.iter().take(end).map(|row| (row.max_regs.0 - reserved, row.warps_per_sm.0)).collect()
        }
        _ => Vec::new(),
    };
    let highest = cliffs.last().map_or(0, |c| c.0).max(max_live).max(1);
    let step = nice_step(highest);
    let top = highest.div_ceil(step) * step;
    let n = r.instructions.max(1) as u32;
    let (plot_w, plot_h) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    let x = |i: u32| f64::from(LEFT) + f64::from(i) * f64::from(plot_w) / f64::from(n);
    let y = |v: u32| f64::from(TOP + plot_h) - f64::from(v) * f64::from(plot_h) / f64::from(top);

    let mut s = String::new();
    let _ = writeln!(
        s,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
         height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">"
    );
    let _ = writeln!(s, "<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>");
    let title = format!(
        "{}: live {} registers, {} with {} a block",
        short(&r.name, 60),
        class.name(),
        r.launch.arch.name(),
        r.launch.threads
    );
    let _ = writeln!(s, "<text x=\"{LEFT}\" y=\"24\" font-size=\"14\">{}</text>", escape(&title));
    axes(&mut s, n, top, step, &x, &y);
    area(&mut s, r, class, plot_w, &x, &y);
    cliff_lines(&mut s, &cliffs, reserved, plot_w, &y);
    s.push_str("</svg>\n");
    s
}

fn axes(s: &mut String, n: u32, top: u32, step: u32, x: &dyn Fn(u32) -> f64, y: &dyn Fn(u32) -> f64) {
    for v in (0..=top).step_by(step as usize) {
        let at = y(v);
        let _ = writeln!(
            s,
            "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{}\" y2=\"{at:.1}\" stroke=\"#eeeeee\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{v}</text>",
            WIDTH - RIGHT,
            LEFT - 8,
            at + 4.0
        );
    }
    let step = nice_step(n);
    for i in (0..=n).step_by(step as usize) {
        let at = x(i);
        let base = HEIGHT - BOTTOM;
        let _ = writeln!(
            s,
            "<line x1=\"{at:.1}\" y1=\"{base}\" x2=\"{at:.1}\" y2=\"{}\" stroke=\"#999999\"/>\
             <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{i}</text>",
            base + 4,
            base + 18
        );
    }
    let base = HEIGHT - BOTTOM;
    let _ = writeln!(
        s,
        "<path d=\"M{LEFT},{TOP} V{base} H{}\" fill=\"none\" stroke=\"#999999\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">instruction, in linear order</text>\
         <text transform=\"translate(18,{}) rotate(-90)\" text-anchor=\"middle\">live registers a thread</text>",
        WIDTH - RIGHT,
        LEFT + (WIDTH - LEFT - RIGHT) / 2,
        HEIGHT - 12,
        TOP + (HEIGHT - TOP - BOTTOM) / 2
    );
}

/// The pressure as a filled staircase, at most one step for each pixel column.
fn area(
    s: &mut String,
    r: &PressureReport,
    class: RegClass,
    columns: u32,
    x: &dyn Fn(u32) -> f64,
    y: &dyn Fn(u32) -> f64,
) {
    let n = r.instructions as u32;
    if n == 0 {
        return;
    }
    let bucket = n.div_ceil(columns).max(1);
    let mut d = format!("M{:.1},{:.1}", x(0), y(0));
    let mut from = 0;
    while from < n {
        let to = (from + bucket).min(n);
        let live = (from..to).map(|i| u32::from(r.live[Inst(i)][class])).max().unwrap_or(0);
        let _ = write!(d, " V{:.1} H{:.1}", y(live), x(to));
        from = to;
    }
    let _ = write!(d, " V{:.1} Z", y(0));
    let _ = writeln!(s, "<path d=\"{d}\" fill=\"#c7dcf0\" stroke=\"#3b78b5\"/>");
}

/// Cliffs as dashed lines with labels at the right, moved apart where they would overlap and tied to their lines.
fn cliff_lines(s: &mut String, cliffs: &[(u32, u32)], reserved: u32, plot_w: u32, y: &dyn Fn(u32) -> f64) {
    let right = f64::from(LEFT + plot_w);
    // From the lowest line (the most warps) up: a label goes at its line or above the label before it.
    let mut places: Vec<f64> = Vec::new();
    for &(named, _) in cliffs {
        let wish = y(named);
        places.push(places.last().map_or(wish, |&below: &f64| wish.min(below - LINE)));
    }
    // What was pushed out at the top comes back down, and pushes the others.
    let mut limit = f64::from(TOP) - 4.0;
    for p in places.iter_mut().rev() {
        *p = p.max(limit);
        limit = *p + LINE;
    }
    // A label that still lies below the axis has no room: its line is drawn without it.
    let floor = f64::from(HEIGHT - 8);
    for (&(named, warps), &label) in cliffs.iter().zip(&places) {
        let at = y(named);
        let _ = writeln!(
            s,
            "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{right:.1}\" y2=\"{at:.1}\" stroke=\"#c0504d\" \
             stroke-dasharray=\"5 4\" stroke-width=\"0.8\"/>"
        );
        if label > floor {
            continue;
        }
        let _ = writeln!(
            s,
            "<path d=\"M{right:.1},{at:.1} L{:.1},{label:.1}\" fill=\"none\" stroke=\"#c0504d\" stroke-width=\"0.8\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"#a03c39\" font-size=\"11\">{warps} warps: &#8804; {} registers used</text>",
            right + 16.0,
            right + 20.0,
            label + 4.0,
            named + reserved
        );
    }
}

/// A round distance that cuts `range` in at most about eight parts.
fn nice_step(range: u32) -> u32 {
    let mut step = 1u32;
    // 1, 2, 5, 10, 20, 50, ...
    for factor in [(2, 1), (5, 2), (2, 1)].into_iter().cycle() {
        if range / step <= 8 {
            break;
        }
        step = (u64::from(step) * factor.0 / factor.1) as u32;
    }
    step
}

fn short(text: &str, width: usize) -> String {
    crate::render::fit(text, width)
}

fn escape(text: &str) -> String {
    clean(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        for (range, step) in [(1, 1), (8, 1), (9, 2), (17, 2), (18, 5), (46, 10), (250, 50), (1_000_000, 200_000)] {
            assert_eq!(nice_step(range), step, "{range}");
        }
        assert!(nice_step(u32::MAX) > 0);
    }

    #[test]
    fn markup_in_names_is_escaped() {
        assert_eq!(escape("a<b>&\"\n"), "a&lt;b&gt;&amp;&quot;?");
    }
}
