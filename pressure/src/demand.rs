//! Demand: what one instruction asks of a register file, at the two points where it reads and where it writes.
//!
//! The one definition that analysis, spilling, floor and placement share. A [`Shape`] lists the runs that an instruction
//! needs side by side (wide operands, fixed registers) with the lanes that each holds at the two points, and counts the
//! rest as single units; values that merely live through it are single units too, since a parallel copy before the
//! instruction may put them anywhere. [`pack`] places a shape in a set of registers; [`min_registers`] is the least file
//! that holds it.
//!
//! What constraints force on top of live units (the *isolation* of each operand): a tied use whose value lives on needs a
//! second copy; a value in two runs, or twice in one, needs a register for each; an early-clobber definition is there
//! while operands are read; a fixed run sits where it must; and R1, the stack pointer, breaks the first slot.
//!
//! Packing puts fixed runs first, then what lives at both points, widest alignment first from the bottom, then pure reads
//! and pure writes from the top, where they overlap each other. With power-of-two alignments this wastes no more than the
//! hole that R1 leaves; it is exact for one run of each kind and may ask for a register or two more than needed where
//! several kinds of runs with dead lanes meet.

use crate::liveness::Liveness;
use crate::regset::RegSet;
use fatpoint_ir::{Function, Inst, Lane, OpKind, Operand, PerClass, PhysReg, RegClass, Value};

/// A run of registers that an instruction needs side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunItem {
    /// Lanes.
    pub len: u32,
    /// Alignment of the first.
    pub align: u32,
    /// Lanes (from 0) that hold something when operands are read.
    pub read: RegSet,
    /// Lanes that hold something when results are written.
    pub write: RegSet,
    /// Register of the first lane, when it is fixed.
    pub fixed: Option<u32>,
    /// Operands (definitions counted first) that sit in this run; a tied use and its definition share one.
    pub operands: Vec<u16>,
}

/// What an instruction needs of one file; see the head of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Runs of two or more lanes, and fixed single registers.
    pub runs: Vec<RunItem>,
    /// Registers destroyed at the write point.
    pub clobbers: RegSet,
    /// Single units held at both points: surviving operands, tied ones, early-clobber results.
    pub both: u32,
    /// Single units held while reading alone: operands that end here.
    pub read: u32,
    /// Single units held while writing alone: results.
    pub write: u32,
}

impl Shape {
    /// Empties it, keeping its room.
    fn clear(&mut self) {
        self.runs.clear();
        self.clobbers = RegSet::EMPTY;
        (self.both, self.read, self.write) = (0, 0, 0);
    }

    /// Units held while operands are read.
    pub fn read_units(&self) -> u32 {
        self.both + self.read + self.runs.iter().map(|r| r.read.count()).sum::<u32>()
    }
    /// Units held while results are written, clobbered registers not counted.
    pub fn write_units(&self) -> u32 {
        self.both + self.write + self.runs.iter().map(|r| r.write.count()).sum::<u32>()
    }
}

/// How a subroutine region is called: decided when the region is allocated, before its callers.
#[derive(Clone, Debug, Default)]
pub struct CallInfo {
    /// First register of each parameter run of the region's entry.
    pub params: Vec<PhysReg>,
    /// First register of each result run.
    pub results: Vec<PhysReg>,
    /// Every register that the region writes, its callees included.
    pub clobbers: PerClass<RegSet>,
}

/// The register that an operand is fixed to, by its opcode or by the region called or returned from.
pub fn fixed_register(func: &Function, calls: &[CallInfo], i: Inst, k: usize) -> Option<PhysReg> {
    let sig = func.sig(i);
    if let Some(r) = sig.fixed(k) {
        return Some(r);
    }
    let defs = func.num_defs(i);
    match sig.props.kind {
        OpKind::Call => {
            let info = calls.get(func.callee(i)?.0 as usize)?;
            if k < defs {
                info.results.get(k).copied()
            } else {
                info.params.get((k - defs).checked_sub(1)?).copied()
            }
        }
        OpKind::Return => {
            let region = func.block(func.block_of(i)).region;
            calls.get(region.0 as usize)?.results.get(k - defs).copied()
        }
        _ => None,
    }
}

/// Registers of a class that an instruction destroys besides its results.
pub fn clobbered(func: &Function, calls: &[CallInfo], i: Inst, class: RegClass) -> RegSet {
    let sig = func.sig(i);
    let mut s: RegSet = sig.clobbers.iter().filter(|r| r.class == class).map(|r| r.num as u32).collect();
    if sig.props.kind == OpKind::Call {
        if let Some(info) = func.callee(i).and_then(|r| calls.get(r.0 as usize)) {
            s = s.or(info.clobbers[class]);
        }
    }
    s
}

/// A lane mask of `n` lanes.
fn all(n: usize) -> RegSet {
    RegSet::below(n as u32)
}

/// Builds shapes of one class; holds scratch that is used again.
pub struct ShapeBuilder<'a> {
    func: &'a Function,
    live: &'a Liveness,
    calls: &'a [CallInfo],
    class: RegClass,
    shape: Shape,
    /// Values of operands seen so far, with where they are: (value, survives, has a place of its own that survives).
    values: Vec<(Value, bool, bool)>,
}

impl<'a> ShapeBuilder<'a> {
    /// For values of `class`.
    pub fn new(func: &'a Function, live: &'a Liveness, class: RegClass) -> Self {
        Self { func, live, calls: &[], class, shape: Shape::default(), values: Vec::new() }
    }

    /// Takes calls of subroutine regions as these say; without, a call clobbers nothing and fixes nothing.
    pub fn with_calls(mut self, calls: &'a [CallInfo]) -> Self {
        self.calls = calls;
        self
    }

    /// True when the value is one that this builder counts.
    fn mine(&self, v: Value) -> bool {
        self.func.class(v) == self.class
    }

    fn operand_is_mine(&self, o: Operand) -> bool {
        o.is_register() && self.func.lanes(o).filter_map(Lane::value).next().is_some_and(|v| self.mine(v))
    }

    /// The shape of an instruction. `extra_read` and `extra_write` are single units that come in beside the operands (a
    /// spilled predicate kept in this file).
    pub fn shape(&mut self, i: Inst, extra_read: u32, extra_write: u32) -> &Shape {
        self.shape.clear();
        self.values.clear();
        let func = self.func;
        let sig = func.sig(i);
        let ops = func.operands(i);
        let defs = func.num_defs(i);
        self.shape.read = extra_read;
        self.shape.write = extra_write;
        self.shape.clobbers = clobbered(func, self.calls, i, self.class);
        let plain = sig.constraints.is_empty() && !matches!(sig.props.kind, OpKind::Call | OpKind::Return);
        let calls = self.calls;
        let fixed_at = |k: usize| if plain { None } else { fixed_register(func, calls, i, k).map(|r| r.num as u32) };

        // Results first: which registers are overwritten decides where operands survive.
        let mut lost = self.shape.clobbers;
        for (k, &o) in ops[..defs].iter().enumerate() {
            if !self.operand_is_mine(o) {
                continue;
            }
            let early = !plain && sig.early_clobber(k);
            let fixed = fixed_at(k);
            let tied = if plain { None } else { (defs..ops.len()).find(|&u| sig.tied(u) == Some(k)) };
            if let Some(f) = fixed {
                lost = lost.or(RegSet::span(f, o.len() as u32));
            }
            if o.len() == 1 && fixed.is_none() {
                match (tied, early) {
                    (Some(u), _) if self.func.lane(ops[u], 0).value().is_none() => self.shape.write += 1,
                    (Some(_), _) | (None, true) => self.shape.both += 1,
                    (None, false) => self.shape.write += 1,
                }
                continue;
            }
            let mut operands = vec![k as u16];
            let mut read = if early { all(o.len()) } else { RegSet::EMPTY };
            if let Some(u) = tied {
                operands.push(u as u16);
                for lane in 0..o.len() {
                    if func.lane(ops[u], lane).value().is_some() {
                        read.insert(lane as u32);
                    }
                }
            }
            let fixed = fixed.or_else(|| tied.and_then(fixed_at));
            let align = tied.map_or(o.align(), |u| o.align().max(ops[u].align()));
            self.shape.runs.push(RunItem { len: o.len() as u32, align, read, write: all(o.len()), fixed, operands });
        }
        // Tied uses: their values need another place when they live on.
        let mut lane = ops[..defs].iter().map(|o| o.len()).sum::<usize>();
        let first_use_lane = lane;
        if !plain {
            for (k, &o) in ops.iter().enumerate().skip(defs) {
                if sig.tied(k).is_some() {
                    for l in 0..o.len() {
                        if let Some(v) = func.lane(o, l).value().filter(|&v| self.mine(v)) {
                            self.note(v, !self.live.kills(i, lane + l), false);
                        }
                    }
                }
                lane += o.len();
            }
        }
        // Wide and fixed uses.
        lane = first_use_lane;
        for (k, &o) in ops.iter().enumerate().skip(defs) {
            let start = lane;
            lane += o.len();
            if !self.operand_is_mine(o) || (!plain && sig.tied(k).is_some()) {
                continue;
            }
            let fixed = fixed_at(k);
            if o.len() == 1 && fixed.is_none() {
                continue;
            }
            if fixed.is_none() && self.same_run(ops, defs, k, o) {
                continue;
            }
            let (mut read, mut write) = (RegSet::EMPTY, RegSet::EMPTY);
            for l in 0..o.len() {
                if let Some(v) = func.lane(o, l).value() {
                    read.insert(l as u32);
                    let survives = !self.live.kills(i, start + l);
                    let stays = fixed.is_none_or(|f| !lost.contains(f + l as u32));
                    if self.note(v, survives, stays) && survives && stays {
                        write.insert(l as u32);
                    }
                }
            }
            self.shape.runs.push(RunItem {
                len: o.len() as u32,
                align: o.align(),
                read,
                write,
                fixed,
                operands: vec![k as u16],
            });
        }
        // Single uses.
        lane = first_use_lane;
        for (k, &o) in ops.iter().enumerate().skip(defs) {
            let start = lane;
            lane += o.len();
            if o.len() != 1 || !self.operand_is_mine(o) || (!plain && (sig.tied(k).is_some() || fixed_at(k).is_some()))
            {
                continue;
            }
            let Some(v) = func.lane(o, 0).value() else { continue };
            if self.values.iter().any(|x| x.0 == v) {
                continue;
            }
            let survives = !self.live.kills(i, start);
            self.values.push((v, survives, true));
            if survives {
                self.shape.both += 1;
            } else {
                self.shape.read += 1;
            }
        }
        // Survivors whose every register is overwritten.
        self.shape.both += self.values.iter().filter(|x| x.1 && !x.2).count() as u32;
        &self.shape
    }

    /// Records a lane; true when it is the first one whose register its value can survive in.
    fn note(&mut self, v: Value, survives: bool, stays: bool) -> bool {
        match self.values.iter_mut().find(|x| x.0 == v) {
            Some(x) => {
                let first = stays && !x.2;
                x.2 |= stays;
                first
            }
            None => {
                self.values.push((v, survives, stays));
                stays
            }
        }
    }

    /// True when an earlier use operand, or a tied one, has the same lanes: it reads the same registers.
    fn same_run(&self, ops: &[Operand], defs: usize, k: usize, o: Operand) -> bool {
        ops[defs..].iter().enumerate().any(|(u, &p)| {
            let u = u + defs;
            u < k
                && p.len() == o.len()
                && p.align() >= o.align()
                && self.func.lanes(p).eq(self.func.lanes(o))
                && self.shape.runs.iter().any(|r| r.operands.contains(&(u as u16)) && r.fixed.is_none())
        })
    }
}

/// Registers of a file of `n`: all but the stack pointer when `reserve_r1` is set.
pub fn universe(n: u32, reserve_r1: bool) -> RegSet {
    let mut s = RegSet::below(n);
    if reserve_r1 {
        s.remove(1);
    }
    s
}

/// Places a shape and `through` more single units that live through, in `regs`. Returns the first register of each run,
/// in the order of the shape's runs, or `None` when they do not fit. Runs listed in `busy` registers are impossible.
pub fn pack(shape: &Shape, through: u32, regs: RegSet) -> Option<Vec<u32>> {
    let mut bases = vec![u32::MAX; shape.runs.len()];
    let mut read = RegSet::EMPTY;
    let mut write = shape.clobbers;
    for (k, r) in shape.runs.iter().enumerate() {
        if let Some(f) = r.fixed {
            let (a, b) = (r.read.shifted(f), r.write.shifted(f));
            // A fixed result may be what clobbers its register.
            if f + r.len > 256 || !a.and(read).is_empty() || !regs.contains(f) || !regs.contains(f + r.len - 1) {
                return None;
            }
            read = read.or(a);
            write = write.or(b);
            bases[k] = f;
        }
    }
    let mut order: Vec<usize> = (0..shape.runs.len()).filter(|&k| shape.runs[k].fixed.is_none()).collect();
    let both = |r: &RunItem| !r.read.is_empty() && !r.write.is_empty();
    order.sort_by_key(|&k| {
        let r = &shape.runs[k];
        (!both(r), std::cmp::Reverse(r.align), std::cmp::Reverse(r.len), k)
    });
    for k in order {
        let r = &shape.runs[k];
        let fits = |base: u32| {
            regs.contains(base + r.len - 1)
                && RegSet::span(base, r.len).without(regs).is_empty()
                && r.read.shifted(base).and(read).is_empty()
                && r.write.shifted(base).and(write).is_empty()
        };
        let last = 256u32.checked_sub(r.len)? / r.align;
        let base = if both(r) {
            (0..=last).map(|x| x * r.align).find(|&b| fits(b))
        } else {
            (0..=last).rev().map(|x| x * r.align).find(|&b| fits(b))
        }?;
        read = read.or(r.read.shifted(base));
        write = write.or(r.write.shifted(base));
        bases[k] = base;
    }
    let (free_read, free_write) = (regs.without(read).count(), regs.without(write).count());
    let free_both = regs.without(read.or(write)).count();
    let both_units = shape.both + through;
    let fits =
        both_units <= free_both && both_units + shape.read <= free_read && both_units + shape.write <= free_write;
    fits.then_some(bases)
}

/// The least number of registers of a file (numbered from 0, R1 counted when reserved) that holds the shape and
/// `through` units, or `None` when 256 do not.
pub fn min_registers(shape: &Shape, through: u32, reserve_r1: bool) -> Option<u32> {
    let units = shape.read_units().max(shape.write_units()) + through;
    // R1 is one of the registers as soon as there is more than one.
    let least = units + u32::from(reserve_r1 && units > 1);
    if shape.runs.is_empty() && shape.clobbers.is_empty() {
        return (least <= 256).then_some(least);
    }
    (least..=256).find(|&n| pack(shape, through, universe(n, reserve_r1)).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(len: u32, align: u32, read: bool, write: bool) -> RunItem {
        let m = RegSet::below(len);
        let e = RegSet::EMPTY;
        RunItem {
            len,
            align,
            read: if read { m } else { e },
            write: if write { m } else { e },
            fixed: None,
            operands: vec![],
        }
    }

    #[test]
    fn singles_count_the_larger_point_and_r1() {
        let s = Shape { both: 2, read: 3, write: 1, ..Shape::default() };
        assert_eq!(min_registers(&s, 0, true), Some(6));
        assert_eq!(min_registers(&s, 4, false), Some(9));
        assert_eq!(min_registers(&Shape { write: 1, ..Shape::default() }, 0, true), Some(1));
    }

    #[test]
    fn r1_breaks_the_first_pair_and_quad() {
        let pair = Shape { runs: vec![run(2, 2, true, false)], ..Shape::default() };
        assert_eq!(min_registers(&pair, 0, true), Some(4));
        assert_eq!(min_registers(&pair, 0, false), Some(2));
        let quad = Shape { runs: vec![run(4, 4, true, true)], ..Shape::default() };
        assert_eq!(min_registers(&quad, 0, true), Some(8));
        // R0, R2 and R3 are left for three single units.
        assert_eq!(min_registers(&quad, 3, true), Some(8));
        assert_eq!(min_registers(&quad, 4, true), Some(9));
    }

    #[test]
    fn results_overlap_operands_that_end() {
        let s = Shape { runs: vec![run(4, 4, true, false), run(4, 4, false, true)], ..Shape::default() };
        assert_eq!(min_registers(&s, 0, true), Some(8));
        let early = Shape { runs: vec![run(4, 4, true, false), run(4, 4, true, true)], ..Shape::default() };
        assert_eq!(min_registers(&early, 0, true), Some(12));
    }

    #[test]
    fn clobbers_keep_through_values_out() {
        let s = Shape { clobbers: RegSet::below(4), ..Shape::default() };
        assert_eq!(min_registers(&s, 2, true), Some(6));
    }
}
