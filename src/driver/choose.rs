//! Which register count to allocate for, and why.
//!
//! `auto` takes the highest-occupancy row of the cliff table that needs no spill: between two cliffs a register more or
//! less changes nothing, so the whole row is free to use. Where no row is free of spills it takes the largest count
//! that the launch allows, which spills least.

use super::launch::Launch;
use fatpoint_targets::{Regs, Warps};

/// The budget as a user asks for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BudgetRequest {
    /// The most warps without spills.
    #[default]
    Auto,
    /// The least count without spills.
    Min,
    /// The least feasible count, with spills.
    Floor,
    /// This count.
    Registers(u32),
    /// The largest count that keeps these warps.
    Warps(u32),
}

impl std::fmt::Display for BudgetRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BudgetRequest::Auto => f.write_str("auto"),
            BudgetRequest::Min => f.write_str("min"),
            BudgetRequest::Floor => f.write_str("floor"),
            BudgetRequest::Registers(n) => write!(f, "{n}"),
            BudgetRequest::Warps(w) => write!(f, "warps:{w}"),
        }
    }
}

impl std::str::FromStr for BudgetRequest {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "auto" => return Ok(BudgetRequest::Auto),
            "min" => return Ok(BudgetRequest::Min),
            "floor" => return Ok(BudgetRequest::Floor),
            _ => {}
        }
        if let Some(w) = s.strip_prefix("warps:") {
            return match w.parse() {
                Ok(0) | Err(_) => Err(format!("'{w}' is not a number of warps, 1 or more")),
                Ok(w) => Ok(BudgetRequest::Warps(w)),
            };
        }
        match s.parse::<u32>() {
            Ok(n @ 1..=255) => Ok(BudgetRequest::Registers(n)),
            Ok(_) => Err("a thread has 1 to 255 registers".into()),
            Err(_) => Err("expected auto, min, floor, a number of registers, or warps:W".into()),
        }
    }
}

/// A register count and the reason for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Registers that the allocation may use, reserved pair included.
    pub budget: Regs,
    /// Why, in words that follow "budget N: ".
    pub why: String,
}

/// The choice of `auto` for a kernel that spills nothing from `no_spill` registers on (`None`: it always spills).
pub(super) fn auto(launch: &Launch, no_spill: Option<u32>) -> Choice {
    let ceiling = launch.ceiling.ceiling;
    let within = no_spill.map(Regs).filter(|&n| n <= ceiling);
    let row = within.and_then(|n| launch.cliffs.rows().iter().find(|r| r.max_regs >= n));
    if let (Some(row), Some(need)) = (row, within) {
        let budget = row.max_regs.min(ceiling);
        let cap = if budget < row.max_regs { ", cut to the ceiling" } else { "" };
        let why = format!("auto, the most warps ({}) without spills, which takes {need}{cap}", row.warps_per_sm.0);
        return Choice { budget, why };
    }
    let last = launch.cliffs.rows().last().map(|r| r.max_regs);
    let budget = last.map_or(ceiling, |m| m.min(ceiling));
    let need = match no_spill {
        Some(n) => format!("{} would be needed to spill nothing", Regs(n)),
        None => "no count is free of spills".to_string(),
    };
    let limit = match last {
        None => "no block fits an SM at any count, so the ceiling",
        Some(m) if m < ceiling => "the most that lets a block launch",
        Some(_) => "the ceiling",
    };
    Choice { budget, why: format!("auto, {limit}; {need}") }
}

/// The largest count that keeps `warps` resident.
///
/// # Errors
/// No count does; the text says how many warps can be had.
pub(super) fn warps(launch: &Launch, warps: u32) -> Result<Choice, String> {
    let Some(row) = launch.cliffs.row_with_warps(Warps(warps)) else {
        let most = launch.cliffs.rows().first().map_or(Warps(0), |r| r.warps_per_sm);
        return Err(format!(
            "no register count keeps {} resident: with {} a block at most {most} fit an SM of {}",
            Warps(warps),
            launch.threads,
            launch.arch.name()
        ));
    };
    let budget = row.max_regs.min(launch.ceiling.ceiling);
    let cap = if budget < row.max_regs { ", cut to the ceiling" } else { "" };
    Ok(Choice { budget, why: format!("the most registers that keep {}{cap}", row.warps_per_sm) })
}

#[cfg(test)]
mod tests {
    use super::super::launch::{launch, LaunchOptions};
    use super::*;
    use fatpoint_ir::KernelAttrs;
    use fatpoint_targets::{Arch, Threads};

    fn on(arch: &str, threads: u32, attrs: KernelAttrs) -> Launch {
        let arch = Some(Arch::find(arch).unwrap());
        launch(&attrs, &LaunchOptions { arch, threads: Some(Threads(threads)), ..Default::default() }).unwrap()
    }

    #[test]
    fn auto_takes_the_cliff_above_the_need() {
        let l = on("sm_80", 128, KernelAttrs::default());
        for (need, budget) in [(4, 32), (32, 32), (33, 40), (41, 48), (200, 255), (255, 255)] {
            assert_eq!(auto(&l, Some(need)).budget, Regs(budget), "need {need}");
        }
        assert_eq!(auto(&l, None).budget, Regs(255));
    }

    #[test]
    fn auto_respects_the_ceiling_and_the_launch() {
        let attrs = KernelAttrs { maxnreg: Some(36), ..KernelAttrs::default() };
        let l = on("sm_80", 128, attrs);
        assert_eq!(auto(&l, Some(33)).budget, Regs(36));
        assert_eq!(auto(&l, Some(50)).budget, Regs(36));
        // Blocks of 1024 threads have 64 registers each, whatever a thread could name.
        assert_eq!(auto(&on("sm_80", 1024, KernelAttrs::default()), Some(100)).budget, Regs(64));
    }

    #[test]
    fn warps_are_the_inverse() {
        let l = on("sm_80", 128, KernelAttrs::default());
        assert_eq!(warps(&l, 64).unwrap().budget, Regs(32));
        assert_eq!(warps(&l, 45).unwrap().budget, Regs(40));
        assert!(warps(&l, 65).unwrap_err().contains("at most 64 warps"));
    }

    #[test]
    fn budgets_are_read() {
        for s in ["auto", "min", "floor", "40", "warps:12"] {
            assert_eq!(s.parse::<BudgetRequest>().unwrap().to_string(), s);
        }
        for s in ["", "0", "256", "-1", "warps:", "warps:0", "warps:x", "maximum"] {
            assert!(s.parse::<BudgetRequest>().is_err(), "{s}");
        }
    }
}
