//! The pressure profile: live units and demand at both points of every instruction, and the fat points.
//!
//! *Live units* (`max_live`) are values that are live at a point; the general file counts the stack pointer R1 besides,
//! which every kernel names, so that the number compares with registers used less the reserved pair. *Demand* is the
//! least register file that holds the instruction, see [`crate::demand`]. A *fat point* is an instruction where the
//! live units of its class are the most of the function.

use crate::demand::{min_registers, ShapeBuilder};
use crate::liveness::Liveness;
use fatpoint_ir::{Block, EntityVec, Function, Inst, PerClass, RegClass, Value};

/// Live units at the two points of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Units {
    /// Before it: everything live into it, operands included.
    pub read: u16,
    /// After it: everything live out of it, results included, dead ones too.
    pub write: u16,
}

impl Units {
    /// The larger of both.
    pub fn max(self) -> u16 {
        self.read.max(self.write)
    }
}

/// Pressure of one class.
#[derive(Clone, Debug)]
pub struct ClassProfile {
    /// The class.
    pub class: RegClass,
    /// Live units at each instruction, the stack pointer not counted.
    pub live: EntityVec<Inst, Units>,
    /// Live units at each block's entry, parameters included.
    pub entry: EntityVec<Block, u16>,
    /// Most live units anywhere; for general registers R1 is one of them.
    pub max_live: u32,
    /// Least register file that every single instruction fits in without spilling, `None` above 256.
    pub demand: Option<u32>,
}

/// A point of highest pressure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FatPoint {
    /// Its block.
    pub block: Block,
    /// The instruction.
    pub inst: Inst,
    /// Values live there, by number: before the instruction when that is the larger point, else after it.
    pub live: Vec<Value>,
    /// True when the set is the one before the instruction.
    pub before: bool,
}

/// Pressure of all classes that occur.
#[derive(Clone, Debug)]
pub struct PressureProfile {
    classes: Vec<ClassProfile>,
}

impl PressureProfile {
    /// Measures a function; linear in instructions and live-in values.
    pub fn compute(func: &Function, live: &Liveness) -> Self {
        let mut present = PerClass([false; 5]);
        func.values().for_each(|v| present[func.class(v)] = true);
        present[RegClass::R] = true;
        let classes = RegClass::ALL.into_iter().filter(|&c| present[c]).map(|c| class_profile(func, live, c)).collect();
        Self { classes }
    }

    /// Profiles of the classes that occur, general registers always.
    pub fn classes(&self) -> &[ClassProfile] {
        &self.classes
    }

    /// Profile of a class.
    pub fn class(&self, c: RegClass) -> Option<&ClassProfile> {
        self.classes.iter().find(|p| p.class == c)
    }

    /// Most live units of a class, 0 when it does not occur.
    pub fn max_live(&self, c: RegClass) -> u32 {
        self.class(c).map_or(0, |p| p.max_live)
    }
}

/// Units that the file holds beside values: the stack pointer.
fn reserved(c: RegClass) -> u32 {
    u32::from(c == RegClass::R)
}

fn class_profile(func: &Function, live: &Liveness, class: RegClass) -> ClassProfile {
    let mut p = ClassProfile {
        class,
        live: EntityVec::filled(func.num_insts(), Units::default()),
        entry: EntityVec::filled(func.num_blocks(), 0),
        max_live: reserved(class),
        demand: Some(reserved(class)),
    };
    let mut shapes = ShapeBuilder::new(func, live, class);
    let cap = |n: u32| n.min(u16::MAX as u32) as u16;
    let mine = |v: Value| func.class(v) == class;
    let mut demand = 0u32;
    let mut fits = true;
    live.for_each_live_in(func, |b, set| {
        let mut n = set.iter().filter(|&&v| mine(v)).count() as u32;
        n += func.params(b).filter(|&v| mine(v) && live.is_used(v)).count() as u32;
        p.entry[b] = cap(n);
        p.max_live = p.max_live.max(n + reserved(class));
        for i in func.block_insts(b) {
            let read = n;
            let (ended, defined, dead) = deaths(func, live, b, i, class);
            n = n - ended + defined;
            let write = n;
            n -= dead;
            p.live[i] = Units { read: cap(read), write: cap(write) };
            p.max_live = p.max_live.max(read.max(write) + reserved(class));
            let shape = shapes.shape(i, 0, 0);
            // Values through the instruction that are not its operands.
            let operands = live_operands(func, live, i, class);
            let through = read - operands;
            match min_registers(shape, through, class == RegClass::R) {
                Some(d) => demand = demand.max(d),
                None => fits = false,
            }
        }
    });
    p.demand = fits.then_some(demand.max(p.max_live));
    p
}

/// Values of the class that end at an instruction, that it defines, and of these the dead ones.
fn deaths(func: &Function, live: &Liveness, b: Block, i: Inst, class: RegClass) -> (u32, u32, u32) {
    let mut ended = 0;
    let first = func.defs(i).iter().map(|o| o.len()).sum::<usize>();
    let mut lane = first;
    let mut seen: smallset::Small = smallset::Small::default();
    for &o in func.uses(i) {
        for l in func.lanes(o) {
            if let Some(v) = l.value() {
                if live.kills(i, lane) && func.class(v) == class && seen.insert(v) {
                    ended += 1;
                }
            }
            lane += 1;
        }
    }
    for v in live.flight().at(i) {
        if func.class(v) == class && live.ends_in_flight(func, b, i, v) && seen.insert(v) {
            ended += 1;
        }
    }
    let (mut defined, mut dead) = (0, 0);
    for v in func.def_values(i) {
        if func.class(v) == class {
            defined += 1;
            dead += u32::from(!live.is_used(v));
        }
    }
    (ended, defined, dead)
}

/// Different values of the class among the operands that an instruction reads.
fn live_operands(func: &Function, _live: &Liveness, i: Inst, class: RegClass) -> u32 {
    let mut seen = smallset::Small::default();
    func.use_values(i).filter(|&v| func.class(v) == class && seen.insert(v)).count() as u32
}

/// A set of a few values: a list while it is short.
mod smallset {
    use fatpoint_ir::Value;
    use std::collections::BTreeSet;

    #[derive(Default)]
    pub struct Small {
        list: Vec<Value>,
        tree: Option<BTreeSet<Value>>,
    }

    impl Small {
        /// Adds a value; true when it is new.
        pub fn insert(&mut self, v: Value) -> bool {
            if let Some(t) = &mut self.tree {
                return t.insert(v);
            }
            if self.list.contains(&v) {
                return false;
            }
            self.list.push(v);
            if self.list.len() > 32 {
                self.tree = Some(self.list.iter().copied().collect());
            }
            true
        }
    }
}

impl ClassProfile {
    /// The first fat points in program order, at most `limit`, each with its live set.
    pub fn fat_points(&self, func: &Function, live: &Liveness, limit: usize) -> Vec<FatPoint> {
        let top = self.max_live - reserved(self.class);
        if top == 0 {
            return Vec::new();
        }
        let wanted: Vec<Inst> =
            self.live.iter().filter(|(_, u)| u.max() as u32 == top).map(|(i, _)| i).take(limit).collect();
        let mut out = Vec::new();
        let mine = |v: &Value| func.class(*v) == self.class;
        live.for_each_live_in(func, |b, set| {
            let range = func.block_range(b);
            if !wanted.iter().any(|i| range.contains(&i.0)) {
                return;
            }
            let mut now: Vec<Value> = set.iter().copied().filter(mine).collect();
            now.extend(func.params(b).filter(|v| mine(v) && live.is_used(*v)));
            for i in func.block_insts(b) {
                let hit = wanted.contains(&i);
                let before = self.live[i].read as u32 == top;
                if hit && before {
                    let mut set = now.clone();
                    set.sort_unstable();
                    out.push(FatPoint { block: b, inst: i, live: set, before: true });
                }
                let mut lane = func.defs(i).iter().map(|o| o.len()).sum::<usize>();
                for &o in func.uses(i) {
                    for l in func.lanes(o) {
                        if let Some(v) = l.value() {
                            if live.kills(i, lane) {
                                now.retain(|&x| x != v);
                            }
                        }
                        lane += 1;
                    }
                }
                for v in live.flight().at(i) {
                    if live.ends_in_flight(func, b, i, v) {
                        now.retain(|&x| x != v);
                    }
                }
                now.extend(func.def_values(i).filter(mine));
                if hit && !before {
                    let mut set = now.clone();
                    set.sort_unstable();
                    out.push(FatPoint { block: b, inst: i, live: set, before: false });
                }
                now.retain(|&v| live.is_used(v) || !func.def_values(i).any(|d| d == v));
            }
        });
        out
    }
}
