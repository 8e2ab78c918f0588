//! The pipeline of `alloc`: kernel → launch → analysis → register count → allocation → proof → occupancy.
//!
//! What is reported of a result is what the checker counted; with the check switched off it is what the driver counted,
//! and the report says that nothing was proved.

use super::bounds::Remark;
use super::check::{prove, CheckLevel, Proof};
use super::choose::{self, BudgetRequest, Choice};
use super::diagnostic::Diagnostic;
use super::figures::Figures;
use super::launch::{launch, Launch, LaunchOptions};
use super::read::Kernel;
use fatpoint_allocator::{
    allocate, budget::explain, floor, least_without_spills, no_spill_budget, text::describe, AllocError, Analysis,
    Options,
};
use fatpoint_ir::assigned::AllocatedFunction;
use fatpoint_ir::text::{print, print_allocated};
use fatpoint_ir::{Function, Inst, RegClass};
use fatpoint_targets::{occupancy, Occupancy, Regs};
use std::fmt;
use std::time::{Duration, Instant};

/// Which text of the program goes into the report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emit {
    /// The allocated program.
    Text,
    /// The program as it was read.
    Ir,
}

/// Options of `alloc`.
#[derive(Clone, Copy, Default, Debug)]
pub struct AllocOptions {
    /// The launch.
    pub launch: LaunchOptions,
    /// How many registers.
    pub budget: BudgetRequest,
    /// How much is proved.
    pub check: CheckLevel,
    /// First seed of the interpreter comparison.
    pub seed: u64,
    /// A text of the program, if wanted.
    pub emit: Option<Emit>,
}

/// Where pressure is highest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FatPlace {
    /// Name of the block.
    pub block: String,
    /// The instruction.
    pub inst: Inst,
    /// Its text, short.
    pub instruction: String,
    /// Its source line, 0 when not known.
    pub line: u32,
    /// Live general registers there, R1 included.
    pub live: u32,
}

/// One allocation, proved and priced.
#[derive(Clone, Debug)]
pub struct AllocReport {
    /// The kernel.
    pub name: String,
    /// Instructions of the IR, terminators included.
    pub instructions: usize,
    /// Bytes of local memory that the kernel itself declares, spill slots not counted.
    pub stack_frame: u32,
    /// The launch.
    pub launch: Launch,
    /// Most live general registers at a point, R1 included.
    pub max_live: u32,
    /// Most live predicates at a point.
    pub max_live_predicates: u32,
    /// The first point of highest pressure.
    pub fat_point: Option<FatPlace>,
    /// Least budget without spills by demand; `None` when every count spills.
    pub no_spill: Option<Regs>,
    /// The budget and why.
    pub choice: Choice,
    /// What the result costs.
    pub figures: Figures,
    /// What an SM holds of it.
    pub occupancy: Occupancy,
    /// What was proved.
    pub proof: Proof,
    /// The level that was asked for.
    pub check: CheckLevel,
    /// The text asked for with [`AllocOptions::emit`].
    pub text: Option<String>,
    /// Time of the stages, in order.
    pub timings: Vec<(&'static str, Duration)>,
}

/// Why a kernel has no result.
#[derive(Clone, Debug)]
pub enum Failure {
    /// Its directives or its form do not allow an allocation.
    Input(Diagnostic),
    /// No allocation within the registers asked for.
    Infeasible(String),
    /// The allocation does not pass its check: a fault of the allocator, all of it.
    Check(Vec<String>),
}

impl Failure {
    /// The failure as a diagnostic.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            Failure::Input(d) => d.clone(),
            _ => Diagnostic::error(self.to_string()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(d) => f.write_str(&d.message),
            Failure::Infeasible(m) => f.write_str(m),
            Failure::Check(errors) => {
                let first: Vec<&str> = errors.iter().take(3).map(String::as_str).collect();
                write!(f, "the allocation fails its check: {}", first.join("; "))?;
                match errors.len() - first.len() {
                    0 => Ok(()),
                    n => write!(f, "; and {n} more"),
                }
            }
        }
    }
}

/// Allocates one kernel.
///
/// # Errors
/// See [`Failure`].
pub fn alloc(kernel: &Kernel, options: &AllocOptions) -> Result<AllocReport, Failure> {
    let mut clock = Clock::new();
    let func = &kernel.func;
    let mut launch = launch(&func.attrs, &options.launch).map_err(Failure::Input)?;
    let analysis = Analysis::new(func).map_err(refused)?;
    clock.lap("analysis");
    let settings = Options::default();
    let no_spill = no_spill_budget(&analysis, &settings);
    clock.lap("demand");
    let (choice, result) = allocate_for(&analysis, &settings, &launch, no_spill, options.budget)?;
    clock.lap("allocation");
    let figures = Figures::count(&result, &analysis.loops);
    let proof =
        prove(&result, Some(choice.budget), Some(&figures), options.check, options.seed).map_err(Failure::Check)?;
    clock.lap("check");
    let used = proof.report.as_ref().map_or(figures.used, |r| r.used);
    let occupancy =
        occupancy(launch.arch, &launch.request(used)).map_err(|e| Failure::Input(Diagnostic::error(e.to_string())))?;
    remark(&mut launch, &choice, used, &occupancy);
    let text = options.emit.map(|e| match e {
        Emit::Text => print_allocated(&result),
        Emit::Ir => print(func),
    });
    Ok(AllocReport {
        name: func.name.clone(),
        instructions: func.num_insts(),
        stack_frame: func.attrs.stack_frame,
        max_live: analysis.profile.max_live(RegClass::R),
        max_live_predicates: analysis.profile.max_live(RegClass::P),
        fat_point: fat_place(&analysis),
        no_spill: no_spill.map(Regs),
        launch,
        choice,
        figures,
        occupancy,
        proof,
        check: options.check,
        text,
        timings: clock.laps,
    })
}

/// Says what of the result contradicts the launch.
fn remark(launch: &mut Launch, choice: &Choice, used: Regs, o: &Occupancy) {
    let ceiling = launch.ceiling.ceiling;
    if choice.budget > ceiling {
        let message = format!("the budget of {} is above the {ceiling} that the launch bounds allow", choice.budget);
        launch.remarks.push(Remark::new("budget_above_ceiling", message));
    }
    if o.blocks_per_sm.0 == 0 && !launch.cliffs.rows().is_empty() {
        let message = format!("with {used} no block of {} is resident: the kernel cannot launch", launch.threads);
        launch.remarks.push(Remark::new("cannot_launch", message));
    }
}

/// Settles the budget and allocates within it.
fn allocate_for<'a>(
    a: &'a Analysis<'a>,
    settings: &Options,
    launch: &Launch,
    no_spill: Option<u32>,
    request: BudgetRequest,
) -> Result<(Choice, AllocatedFunction<'a>), Failure> {
    let within = |choice: Choice| match allocate(a, choice.budget.0, settings) {
        Ok(result) => Ok((choice, result)),
        Err(attempt) => Err(refused(explain(a, choice.budget.0, attempt, settings))),
    };
    match request {
        BudgetRequest::Auto => {
            let choice = choose::auto(launch, no_spill);
            let planned = no_spill.is_some_and(|n| Regs(n) <= choice.budget);
            let (choice, result) = within(choice)?;
            if !planned || !fatpoint_allocator::spills(&result) {
                return Ok((choice, result));
            }
            // The demand of the points fits, and yet an edge has to go through memory: ask what really suffices.
            match least_without_spills(a, settings).map_err(refused)? {
                Some((need, _)) => within(choose::auto(launch, Some(need))),
                None => Ok((choice, result)),
            }
        }
        BudgetRequest::Min => match least_without_spills(a, settings).map_err(refused)? {
            Some((n, result)) => Ok((Choice { budget: Regs(n), why: "min, the least without spills".into() }, result)),
            None => Err(Failure::Infeasible("even 255 registers spill: there is no least count without spills".into())),
        },
        BudgetRequest::Floor => {
            let (f, result) = floor(a, settings).map_err(refused)?;
            let why = format!("floor, {} needs them with everything else spilled", at(a.func, f.inst));
            Ok((Choice { budget: Regs(f.budget), why }, result))
        }
        BudgetRequest::Registers(n) => within(Choice { budget: Regs(n), why: "as asked for".into() }),
        BudgetRequest::Warps(w) => within(choose::warps(launch, w).map_err(Failure::Infeasible)?),
    }
}

/// An instruction as messages name it: text and source line, or its number where the line is not known.
pub(super) fn at(func: &Function, i: Inst) -> String {
    match func.line(i) {
        0 => format!("{} ({i} in {})", describe(func, i), func.block_name(func.block_of(i))),
        line => format!("{} (line {line})", describe(func, i)),
    }
}

/// The allocator's refusal in words, without a line where none is known.
fn refused(e: AllocError) -> Failure {
    let place = |inst: Inst, line: u32| if line == 0 { inst.to_string() } else { format!("line {line}") };
    match e {
        AllocError::Infeasible { budget, floor, inst, instruction, line } => Failure::Infeasible(format!(
            "{} are not enough: the floor is {floor}, set by {instruction} ({})",
            Regs(budget),
            place(inst, line)
        )),
        AllocError::NoPlace { budget, inst, instruction, line } => Failure::Infeasible(format!(
            "{} are not enough at {instruction} ({}): values that may not move leave no aligned place",
            Regs(budget),
            place(inst, line)
        )),
        e @ (AllocError::Class { .. } | AllocError::Recursion(_)) => Failure::Input(Diagnostic::error(e.to_string())),
    }
}

fn fat_place(a: &Analysis<'_>) -> Option<FatPlace> {
    let profile = a.profile.class(RegClass::R)?;
    // The live set is not asked for here, so the first point is found by the counts alone.
    let top = profile.live.iter().map(|(_, u)| u.max()).max()?;
    let (inst, _) = profile.live.iter().find(|(_, u)| u.max() == top)?;
    Some(FatPlace {
        block: a.func.block_name(a.func.block_of(inst)).to_string(),
        inst,
        instruction: describe(a.func, inst),
        line: a.func.line(inst),
        live: profile.max_live,
    })
}

/// Laps of the stages.
struct Clock {
    last: Instant,
    laps: Vec<(&'static str, Duration)>,
}

impl Clock {
    fn new() -> Self {
        Self { last: Instant::now(), laps: Vec::new() }
    }

    fn lap(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.laps.push((stage, now - self.last));
        self.last = now;
    }
}
