//! The pipeline of `pressure`: kernel → liveness → profile → fat points, each live value with its next use.
//!
//! Counts of general registers include R1, the stack pointer, at every point: so they compare with registers used less
//! the reserved pair.

use super::alloc::at;
use super::diagnostic::Diagnostic;
use super::launch::{launch, Launch, LaunchOptions};
use super::read::Kernel;
use fatpoint_ir::dom::DomTree;
use fatpoint_ir::loops::LoopForest;
use fatpoint_ir::{Block, EntityVec, Function, Inst, PerClass, RegClass, Value, ValueDef};
use fatpoint_pressure::next_use::{LOOP_EXIT, NEVER};
use fatpoint_pressure::{DistanceMap, FatPoint, Liveness, NextUse, PressureProfile};

/// Options of `pressure`.
#[derive(Clone, Copy, Debug)]
pub struct PressureOptions {
    /// The launch, for the cliffs.
    pub launch: LaunchOptions,
    /// One class in place of all that occur.
    pub class: Option<RegClass>,
    /// Fat points described, the first in program order.
    pub fat_points: usize,
}

/// Pressure of one class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassReport {
    /// The class.
    pub class: RegClass,
    /// Most live units at a point.
    pub max_live: u32,
    /// Least register file in which every instruction fits without spills; `None` above 256.
    pub demand: Option<u32>,
    /// Number of instructions at which `max_live` is reached.
    pub num_fat_points: usize,
    /// The first of them.
    pub fat_points: Vec<FatReport>,
}

/// One fat point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FatReport {
    /// Name of its block.
    pub block: String,
    /// The instruction.
    pub inst: Inst,
    /// Its text, short, with its line.
    pub instruction: String,
    /// Its source line, 0 when not known.
    pub line: u32,
    /// Live units, R1 included for general registers.
    pub live: u32,
    /// True when they are live before the instruction, false for after it.
    pub before: bool,
    /// What is live, in order of definition.
    pub values: Vec<LiveValue>,
}

/// Lanes of one run that are live together and used next at the same place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LiveValue {
    /// The run as text writes it; `%x.2` or `%x.0..1` where not all lanes are meant.
    pub name: String,
    /// Number of lanes.
    pub units: u32,
    /// Where it is defined: an instruction, or the block that it is a parameter of.
    pub def: String,
    /// Line of the definition, 0 when not known.
    pub def_line: u32,
    /// The next use in program order, if there is one.
    pub next_use: Option<Inst>,
    /// Line of that use, 0 when not known.
    pub next_line: u32,
    /// Instructions up to the nearest use on any path, loops not counted; `None` when nothing uses it again.
    pub distance: Option<u32>,
    /// Loops that the path to it leaves.
    pub loops_left: u32,
}

/// Pressure of one block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockPressure {
    /// Its name.
    pub name: String,
    /// Its first instruction and the end.
    pub insts: std::ops::Range<u32>,
    /// Loops around it.
    pub depth: u32,
    /// Live units at its entry, by class.
    pub entry: PerClass<u32>,
    /// Most live units in it, by class.
    pub max: PerClass<u32>,
}

/// Pressure of one kernel.
#[derive(Clone, Debug)]
pub struct PressureReport {
    /// The kernel.
    pub name: String,
    /// Instructions of the IR, terminators included.
    pub instructions: usize,
    /// The launch.
    pub launch: Launch,
    /// The classes, general registers first.
    pub classes: Vec<ClassReport>,
    /// The blocks in linear order.
    pub blocks: Vec<BlockPressure>,
    /// Live units at each instruction, the larger of before and after it.
    pub live: EntityVec<Inst, PerClass<u16>>,
    /// Source line of each instruction.
    pub lines: EntityVec<Inst, u32>,
}

/// Measures one kernel.
///
/// # Errors
/// A launch that makes no sense.
pub fn pressure(kernel: &Kernel, options: &PressureOptions) -> Result<PressureReport, Diagnostic> {
    let func = &kernel.func;
    let launch = launch(&func.attrs, &options.launch)?;
    let dom = DomTree::compute(func);
    let loops = LoopForest::compute(func);
    let live = Liveness::compute(func, &dom, &loops);
    let profile = PressureProfile::compute(func, &live);
    let uses = Uses { func, loops: &loops, next: NextUse::compute(func, &loops) };

    let mut by_inst = EntityVec::filled(func.num_insts(), PerClass([0u16; 5]));
    let mut classes = Vec::new();
    for p in profile.classes().iter().filter(|p| options.class.is_none_or(|c| c == p.class)) {
        let own = u16::from(p.class == RegClass::R);
        for i in func.insts() {
            by_inst[i][p.class] = p.live[i].max().saturating_add(own);
        }
        let top = p.max_live;
        let fat = p.fat_points(func, &live, options.fat_points);
        classes.push(ClassReport {
            class: p.class,
            max_live: top,
            demand: p.demand,
            num_fat_points: by_inst
                .iter()
                .filter(|(_, l)| top > u32::from(own) && u32::from(l[p.class]) == top)
                .count(),
            fat_points: fat.iter().map(|f| uses.describe(f, top)).collect(),
        });
    }
    let blocks = func
        .blocks()
        .map(|b| {
            let (mut entry, mut max) = (PerClass([0u32; 5]), PerClass([0u32; 5]));
            for p in profile.classes() {
                entry[p.class] = u32::from(p.entry[b]) + u32::from(p.class == RegClass::R);
                let most = func.block_insts(b).map(|i| u32::from(by_inst[i][p.class])).max();
                max[p.class] = most.unwrap_or(0).max(entry[p.class]);
            }
            let name = func.block_name(b).to_string();
            BlockPressure { name, insts: func.block_range(b), depth: loops.depth(b), entry, max }
        })
        .collect();
    Ok(PressureReport {
        name: func.name.clone(),
        instructions: func.num_insts(),
        launch,
        classes,
        blocks,
        live: by_inst,
        lines: EntityVec::from_vec(func.insts().map(|i| func.line(i)).collect()),
    })
}

/// Finds next uses.
struct Uses<'a> {
    func: &'a Function,
    loops: &'a LoopForest,
    next: NextUse,
}

/// A next use: where, and how far.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Next {
    inst: Option<Inst>,
    distance: u32,
}

impl Uses<'_> {
    fn describe(&self, fat: &FatPoint, live: u32) -> FatReport {
        let func = self.func;
        let next = self.next_uses(fat);
        let mut values: Vec<LiveValue> = Vec::new();
        let mut k = 0;
        while k < fat.live.len() {
            let v = fat.live[k];
            let (run, _) = func.def_operand(v);
            let mut end = k + 1;
            while fat.live.get(end).is_some_and(|w| {
                w.0 == fat.live[end - 1].0 + 1 && w.0 < run.payload() + run.len() as u32 && next[end] == next[k]
            }) {
                end += 1;
            }
            values.push(self.live_value(&fat.live[k..end], next[k]));
            k = end;
        }
        FatReport {
            block: func.block_name(fat.block).to_string(),
            inst: fat.inst,
            instruction: at(func, fat.inst),
            line: func.line(fat.inst),
            live,
            before: fat.before,
            values,
        }
    }

    fn live_value(&self, lanes: &[Value], next: Next) -> LiveValue {
        let func = self.func;
        let (first, last) = (lanes[0], lanes[lanes.len() - 1]);
        let (run, lane) = func.def_operand(first);
        let name = func.value_name(first);
        let name = if run.len() == 1 || lanes.len() == 1 {
            name
        } else {
            let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
            if lanes.len() == run.len() {
                stem.to_string()
            } else {
                format!("{stem}.{lane}..{}", lane + (last.0 - first.0) as usize)
            }
        };
        let (def, def_line) = match func.def(first) {
            ValueDef::Inst(i) => (at(func, i), func.line(i)),
            ValueDef::Param(b) => {
                let line = func.block_insts(b).next().map_or(0, |i| func.line(i));
                (format!("parameter of {}", func.block_name(b)), line)
            }
        };
        // Distances carry the loops left in steps of LOOP_EXIT.
        let (distance, loops_left) = match next.distance {
            NEVER => (None, 0),
            d if self.loops.is_empty() => (Some(d), 0),
            d => (Some(d % LOOP_EXIT), d / LOOP_EXIT),
        };
        LiveValue {
            name,
            units: lanes.len() as u32,
            def,
            def_line,
            next_use: next.inst,
            next_line: next.inst.map_or(0, |i| func.line(i)),
            distance,
            loops_left,
        }
    }

    /// The next use of each live value of a fat point, by its place in the list.
    fn next_uses(&self, fat: &FatPoint) -> Vec<Next> {
        let func = self.func;
        let range = func.block_range(fat.block);
        let mut found = vec![Next { inst: None, distance: NEVER }; fat.live.len()];
        let place = |v: Value| fat.live.binary_search(&v).ok();
        let start = if fat.before { fat.inst.0 } else { fat.inst.0 + 1 };
        for i in (start..range.end).map(Inst) {
            for k in func.use_values(i).filter_map(place) {
                if found[k].distance == NEVER {
                    found[k] = Next { inst: Some(i), distance: i.0 - fat.inst.0 };
                }
            }
        }
        let mut exit = DistanceMap::new(func);
        self.next.at_exit(func, self.loops, fat.block, &mut exit);
        for (k, &v) in fat.live.iter().enumerate() {
            if found[k].distance == NEVER && exit.get(v) != NEVER {
                found[k].distance = exit.get(v).saturating_add(range.end - fat.inst.0).min(NEVER - 1);
            }
        }
        // Where that use is: in program order after the block, then, round the loop, before it.
        let mut missing = found.iter().filter(|n| n.inst.is_none() && n.distance != NEVER).count();
        let last = func.num_blocks() as u32;
        for (turn, b) in (fat.block.0..last).chain(0..=fat.block.0).map(Block).enumerate() {
            if missing == 0 {
                break;
            }
            let mut see = |i: Inst, v: Value| {
                if let Some(n) = place(v).map(|k| &mut found[k]) {
                    if n.inst.is_none() && n.distance != NEVER {
                        n.inst = Some(i);
                        missing -= 1;
                    }
                }
            };
            // The rest of its own block was searched above; round the loop it is entered again.
            if turn > 0 {
                for i in func.block_insts(b) {
                    func.use_values(i).for_each(|v| see(i, v));
                }
            }
            for e in func.succ_edges(b) {
                func.edge_args(e).iter().filter_map(|l| l.value()).for_each(|v| see(func.terminator(b), v));
            }
        }
        found
    }
}
