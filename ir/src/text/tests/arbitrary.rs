//! Functions with everything the format can say, from a seed. They need not make sense: no rule of dominance, class or
//! arity of an opcode holds, only what the builder demands.

use crate::assigned::{AllocatedFunction, Edit, EditPoint, Loc, Side, SlotSpace};
use crate::builder::{Def, FunctionBuilder};
use crate::class::{PhysReg, RegClass};
use crate::entity::EntityId;
use crate::function::{Block, Edge, Function, Inst, Region, Value};
pub use crate::gen::Rng;
use crate::op::{Constraint, OpId};
use crate::operand::{default_align, Lane, Operand, OperandFlags};

const NAMES: [&str; 22] = [
    "x",
    "x",
    "acc",
    "v0",
    "v1",
    "v2",
    "v7",
    "v007",
    "a.b",
    "",
    "odd name",
    "größe",
    "q\"uote",
    "back\\slash",
    "new\nline",
    "nul\0",
    "SR_X",
    "undef",
    "kernel",
    "0",
    "$d",
    "c",
];
const MNEMONICS: [&str; 10] =
    ["MOV", "IMAD.WIDE.U32", "LDG.E.128", "ld.shared::cluster.u32", "region", "odd op", "", "c", "extra", "call"];
const LETTERS: [RegClass; 5] = RegClass::ALL;

impl Rng {
    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    pub(super) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
    fn reg(&mut self) -> PhysReg {
        let num = if self.one_in(20) { 65535 } else { self.below(12) as u16 };
        PhysReg::new(self.pick(&LETTERS), num)
    }
    fn loc(&mut self) -> Loc {
        match self.below(8) {
            0 => Loc::NONE,
            1 => Loc::slot(SlotSpace::Local, self.below(9) as u32),
            2 => Loc::slot(SlotSpace::Shared, (1 << 29) - 1),
            _ => Loc::reg(self.reg()),
        }
    }
}

struct Gen {
    r: Rng,
    b: FunctionBuilder,
    /// Runs that the blocks will define, by class.
    runs: Vec<(Def, RegClass)>,
    widths: Vec<usize>,
    regions: usize,
}

/// A function made from a seed.
pub fn function(seed: u64) -> Function {
    let mut r = Rng::new(seed);
    let name = r.pick(&NAMES);
    let mut g = Gen { b: FunctionBuilder::new(name), r, runs: Vec::new(), widths: Vec::new(), regions: 1 };
    g.attributes();
    let regions = if g.r.one_in(2) { 0 } else { g.r.below(4) };
    for _ in 0..regions {
        let n = g.r.below(3);
        let results: Vec<_> = (0..n).map(|_| (g.r.pick(&LETTERS), g.r.below(5) as u16)).collect();
        let name = g.r.pick(&NAMES);
        g.b.region(name, &results);
        g.regions += 1;
    }
    // Blocks of the regions in any layout, every region with one at least.
    let mut homes: Vec<usize> = (0..g.regions).collect();
    homes.extend((0..g.r.below(8)).map(|_| 0));
    for _ in 0..g.r.below(3) {
        let region = g.r.below(g.regions);
        homes.push(region);
    }
    for i in (1..homes.len()).rev() {
        let j = g.r.below(i + 1);
        homes.swap(i, j);
    }
    let blocks: Vec<(Block, usize)> = homes
        .iter()
        .map(|&h| {
            let name = g.r.pick(&NAMES);
            (g.b.block_in(Region::new(h), name), h)
        })
        .collect();
    // All definitions first, so that uses may stand anywhere.
    let plan: Vec<(Vec<Def>, Vec<Vec<Def>>)> = blocks
        .iter()
        .map(|_| {
            let params: Vec<Def> = (0..g.r.below(3)).map(|_| g.run()).collect();
            let insts = (0..g.r.below(5)).map(|_| (0..g.r.below(3)).map(|_| g.run()).collect()).collect();
            g.widths.push(params.iter().map(|d| d.len).sum());
            (params, insts)
        })
        .collect();
    for (at, (params, insts)) in plan.iter().enumerate() {
        g.block(&blocks, at, params, insts);
    }
    g.b.finish().expect("every block is reached and ends")
}

impl Gen {
    fn attributes(&mut self) {
        let n = |r: &mut Rng| r.one_in(2).then(|| r.below(1 << 20) as u32);
        self.b.attrs.maxntid = n(&mut self.r).map(|x| [x, 1, 0]);
        self.b.attrs.reqntid = n(&mut self.r).map(|x| [1, x, u32::MAX]);
        self.b.attrs.minnctapersm = n(&mut self.r);
        self.b.attrs.maxnreg = n(&mut self.r);
        self.b.attrs.static_smem = n(&mut self.r).unwrap_or(0);
        self.b.attrs.barriers = n(&mut self.r).unwrap_or(0);
        self.b.attrs.stack_frame = n(&mut self.r).unwrap_or(0);
        self.b.attrs.target =
            self.r.one_in(2).then(|| self.r.pick(&["sm_80", "", "odd one", ".x", "kernel"]).to_string());
    }

    fn run(&mut self) -> Def {
        let class = self.r.pick(&LETTERS);
        let len = if self.r.one_in(3) { 1 + self.r.below(9) } else { 1 };
        let mut d = self.b.fresh(class, len);
        if self.r.one_in(4) {
            d.align = 1 << self.r.below(8);
        }
        if self.r.one_in(2) {
            let name = self.r.pick(&NAMES);
            self.b.set_name(d, name);
        }
        if self.r.one_in(12) {
            let lane = self.r.below(len) as u32;
            let name = self.r.pick(&NAMES);
            self.b.set_name(Def { first: Value(d.first.0 + lane), len: 1, align: 1 }, name);
        }
        self.runs.push((d, class));
        d
    }

    fn lane(&mut self, class: Option<RegClass>) -> Lane {
        if self.r.one_in(5) || self.runs.is_empty() {
            return Lane::UNDEF;
        }
        let (d, c) = self.runs[self.r.below(self.runs.len())];
        match class {
            Some(want) if want != c => Lane::UNDEF,
            _ => Lane(Value(d.first.0 + self.r.below(d.len) as u32)),
        }
    }

    fn operand(&mut self) -> Operand {
        let align = |r: &mut Rng, len| if r.one_in(4) { 1 << r.below(8) } else { default_align(len) };
        let any_run = !self.runs.is_empty();
        match self.r.below(14) {
            0..=3 if any_run => {
                let (d, _) = self.runs[self.r.below(self.runs.len())];
                Operand::run(d.first, d.len, align(&mut self.r, d.len))
            }
            4 if any_run => {
                let (d, _) = self.runs[self.r.below(self.runs.len())];
                let from = self.r.below(d.len);
                let len = 1 + self.r.below(d.len - from);
                Operand::run(Value(d.first.0 + from as u32), len, align(&mut self.r, len))
            }
            5 | 6 => {
                let class = self.r.pick(&LETTERS);
                let n = 1 + self.r.below(5);
                let lanes: Vec<Lane> = (0..n).map(|_| self.lane(Some(class))).collect();
                let align = align(&mut self.r, n);
                self.b.lanes(&lanes, align)
            }
            7 => {
                let n = self.r.pick(&[0, 1, 2, 64, 512]);
                Operand::undef(n, align(&mut self.r, n))
            }
            8 => {
                let name = self.r.pick(&["SR_TID.X", "SR_", "clock", "", "SR_ X", "SR"]);
                self.b.special(name)
            }
            9 => {
                let name = self.r.pick(&NAMES);
                self.b.symbol_operand(name)
            }
            10 => Operand::region(Region(self.r.below(self.regions + 2) as u32)),
            11 => Operand::constant(self.r.below(4096) as u32, self.r.below(1 << 20) as u32),
            12 => {
                let bits = self.r.bits() >> self.r.below(64);
                self.b.imm64(bits)
            }
            _ => Operand::imm(self.r.pick(&[0, 1, 5, u32::MAX, 4096, 4097, 1 << 31, -4096i32 as u32, -4097i32 as u32])),
        }
    }

    fn uses(&mut self) -> Vec<Operand> {
        let mut list = Vec::new();
        if self.r.one_in(4) {
            list.push(self.operand().with_flags(OperandFlags::GUARD));
        }
        for _ in 0..self.r.below(4) {
            let flags = match self.r.below(12) {
                0 => OperandFlags(self.r.bits() as u8),
                1 => OperandFlags(self.r.bits() as u8 & 15),
                2 => OperandFlags(1 << self.r.below(3)),
                3..=5 => OperandFlags(16 + 32 + if self.r.one_in(3) { self.r.bits() as u8 & 15 } else { 0 }),
                _ => OperandFlags::NONE,
            };
            let o = self.operand().with_flags(flags);
            list.push(o);
            while flags.has(OperandFlags(16)) && self.r.one_in(2) {
                let o = self.operand().with_flags(OperandFlags(16 | (flags.0 & 1)));
                list.push(o);
            }
        }
        list
    }

    fn op(&mut self, mnemonic: &str) -> OpId {
        let mut constraints = Vec::new();
        let mut clobbers = Vec::new();
        while self.r.one_in(2) {
            let index = if self.r.one_in(9) { 65535 } else { self.r.below(4) as u16 };
            let c = match self.r.below(4) {
                0 => Constraint::Fixed(self.r.reg()),
                1 => Constraint::Tied(self.r.below(3) as u16),
                2 => Constraint::EarlyClobber,
                _ => Constraint::InFlight,
            };
            constraints.push((index, c));
        }
        if self.r.one_in(4) {
            clobbers.extend((0..self.r.below(12)).map(|_| self.r.reg()));
        }
        self.b.op_with(mnemonic, &constraints, &clobbers)
    }

    fn block(&mut self, blocks: &[(Block, usize)], at: usize, params: &[Def], insts: &[Vec<Def>]) {
        let (id, home) = blocks[at];
        self.b.switch_to(id);
        if self.r.one_in(4) {
            let trip = self.r.below(100) as u32;
            self.b.set_trip(id, trip);
        }
        params.iter().for_each(|&p| self.b.param_def(id, p));
        for defs in insts {
            if self.r.one_in(3) {
                let line = self.r.below(50) as u32;
                self.b.set_line(line);
            }
            let mnemonic = self.r.pick(&MNEMONICS);
            let (op, uses) = (self.op(mnemonic), self.uses());
            self.b.inst(op, defs, &uses);
        }
        // The next block of the same region is always a successor, so that everything is reached.
        let mine: Vec<usize> = (0..blocks.len()).filter(|&k| blocks[k].1 == home).collect();
        let next = mine.iter().copied().find(|&k| k > at);
        let (mnemonic, count) = match (next, self.r.below(4)) {
            (None, 0) => ("RET", 0),
            (None, 1) => ("EXIT", 0),
            (_, 0) => ("jump", 1),
            (_, 1) => ("exit_if", 1),
            (_, 2) => ("br", 2),
            _ => ("brx", 1 + self.r.below(4)),
        };
        let chosen: Vec<usize> = (0..count)
            .map(|k| match next {
                Some(n) if k == 0 => n,
                _ => self.r.pick(&mine),
            })
            .collect();
        let args: Vec<(Block, Vec<Lane>)> = chosen
            .iter()
            .map(|&to| {
                let whole = self.runs.iter().map(|r| r.0).find(|d| d.len == self.widths[to]);
                let lanes = match whole {
                    Some(d) if self.r.one_in(2) => (0..d.len as u32).map(|k| Lane(Value(d.first.0 + k))).collect(),
                    _ => (0..self.widths[to]).map(|_| self.lane(None)).collect(),
                };
                (blocks[to].0, lanes)
            })
            .collect();
        let succs: Vec<(Block, &[Lane])> = args.iter().map(|(b, l)| (*b, l.as_slice())).collect();
        let (op, uses) = (self.op(mnemonic), self.uses());
        self.b.terminate(op, &uses, &succs);
    }
}

fn edit(r: &mut Rng, insts: usize) -> Edit {
    match r.below(6) {
        0 => Edit::Copy { from: r.reg(), to: r.reg() },
        1 => Edit::Swap { a: r.reg(), b: r.reg() },
        2 => Edit::Spill { from: r.reg(), to: r.loc() },
        3 => Edit::Reload { from: r.loc(), to: r.reg() },
        4 => Edit::SlotCopy { from: r.loc(), to: r.loc() },
        _ => Edit::Remat {
            inst: Inst::new(r.below(insts)),
            from: (0..r.below(3)).map(|_| r.loc()).collect(),
            to: (0..r.below(3)).map(|_| r.one_in(2).then(|| r.reg())).collect(),
        },
    }
}

/// An allocation of a function, with any locations and edits.
pub fn allocation(f: &Function, seed: u64) -> AllocatedFunction<'_> {
    let mut r = Rng::new(seed);
    let mut a = AllocatedFunction::empty(f);
    for i in f.insts() {
        let mut at = 0;
        for o in f.operands(i) {
            let run = &mut a.inst_locs_mut(i)[at..at + o.len()];
            let first = r.reg();
            match r.below(4) {
                0 => run.iter_mut().for_each(|l| *l = r.loc()),
                1 => run.fill(r.loc()),
                _ if first.num as usize + o.len() < 65536 => run.iter_mut().enumerate().for_each(|(k, l)| {
                    *l = Loc::reg(PhysReg::new(first.class, first.num + k as u16));
                }),
                _ => {}
            }
            at += o.len();
        }
    }
    a.param_locs.iter_mut().for_each(|l| *l = r.loc());
    let n = f.num_insts();
    let points = (0..r.below(2 * n)).map(|_| EditPoint { pos: 0, side: Side::Before });
    let mut points: Vec<EditPoint> = points.collect();
    for p in &mut points {
        *p = EditPoint { pos: r.below(n) as u32, side: if r.one_in(2) { Side::Before } else { Side::After } };
    }
    points.sort();
    a.edits = points.into_iter().map(|p| (p, edit(&mut r, n))).collect();
    if f.num_edges() > 0 {
        let mut edges: Vec<Edge> = (0..r.below(6)).map(|_| Edge::new(r.below(f.num_edges()))).collect();
        edges.sort();
        a.edge_edits = edges.into_iter().map(|e| (e, edit(&mut r, n))).collect();
    }
    if r.one_in(2) {
        let mut order: Vec<Inst> = f.insts().collect();
        for b in f.blocks() {
            let range = f.block_range(b);
            let part = &mut order[range.start as usize..range.end as usize - 1];
            for i in (1..part.len()).rev() {
                part.swap(i, r.below(i + 1));
            }
        }
        let same = order.iter().enumerate().all(|(k, i)| i.index() == k);
        a.order = (!same).then_some(order);
    }
    a.local_slots = r.below(3) as u32;
    a.shared_slots = r.below(3) as u32;
    a
}
