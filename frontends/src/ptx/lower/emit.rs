//! From the middle form to the IR: what is dead goes, constants go where the machine takes them, the rest into
//! registers right before its use.
//!
//! An instruction is kept when it has an effect, or when something that is kept reads it; joins likewise. Which sources
//! may be constants follows the machine: one for most operations and not the first source, several for operations whose
//! further sources are shift amounts, field positions or masks, none for data of stores and fragments. Zero is a
//! register of its own and may stand anywhere but in addresses and in runs.

use super::mid::*;
use super::ssa::Lower;
use fatpoint_ir::builder::{BuildError, Def, Finished, FunctionBuilder};
use fatpoint_ir::{
    Block, Constraint, Effect, EntityId, Lane, OpProps, Operand, OperandFlags, PhysReg, RegClass, Region, Value,
};
use smallvec::SmallVec;

/// General registers that a call through the ABI destroys.
const ABI_CLOBBERS: &[(u8, u8)] = &[(0, 0), (3, 15), (32, 35), (40, 43), (48, 51), (56, 59)];
/// Predicates that it destroys: all.
const ABI_PREDICATES: u8 = 7;

/// Which sources of an operation may be constants: from the first such source on, at most so many.
fn constant_slots(name: &str, props: &OpProps) -> (usize, usize) {
    let base = name.split('.').next().unwrap_or("");
    let wide = name.ends_with("64") && !name.starts_with("MUFU") && !name.starts_with("MOV");
    match base {
        "MOV" | "MUFU" | "F2F" | "F2I" | "I2F" | "FRND" | "I2I" | "POPC" | "FLO" | "BREV" | "CLZ" | "IABS" | "INEG"
        | "FNEG" | "FABS" | "DNEG" | "DABS" | "FRCP" | "FSQRT" | "DRCP" | "DSQRT" => (0, 2),
        "IADD" | "ISUB" | "IMNMX" | "ISETP" | "IMUL" | "IDIV" | "IREM" if wide => (2, 2),
        "ISETP" if name.contains("64") => (2, 2),
        "SHL" | "SHR" if wide => (2, 1),
        "BFE" | "BFI" | "PRMT" | "LOP3" | "SHFL" | "VOTE" | "REDUX" | "MATCH" | "BAR" | "ELECT" | "BMSK" | "SGXT"
        | "F2FP" => (1, 4),
        _ if props.effect != Effect::Pure || props.convergent || !props.known => (usize::MAX, 0),
        _ => (1, 1),
    }
}

/// Sources with constraints, by their number.
type Marked = SmallVec<[(usize, Opnd); 2]>;

struct Emit<'a, 'm> {
    l: &'a Lower<'m>,
    b: FunctionBuilder,
    /// First value of the run that a value is in, and its place there; none if it is not kept.
    place: Vec<Option<Value>>,
    live_inst: Vec<bool>,
    live_val: Vec<bool>,
    regions: Vec<Region>,
    blocks: Vec<Block>,
    set_names: bool,
}

/// Marks what is kept.
fn mark(l: &Lower<'_>) -> (Vec<bool>, Vec<bool>) {
    let mut inst = vec![false; l.insts.len()];
    let mut val = vec![false; l.vals.len()];
    let mut work: Vec<Src> = Vec::new();
    let mut incoming: Vec<Vec<(usize, usize)>> = vec![Vec::new(); l.blocks.len()];
    for (b, block) in l.blocks.iter().enumerate() {
        for (k, (t, _)) in block.succs.iter().enumerate() {
            incoming[*t].push((b, k));
        }
        match &block.term {
            MTerm::Branch(s, _) | MTerm::Switch(s) | MTerm::ExitIf(s, _) => work.push(*s),
            MTerm::Return(runs) => runs.iter().for_each(|(_, u)| work.extend(u)),
            MTerm::Jump | MTerm::Exit => {}
        }
    }
    fn reads(i: &MInst, work: &mut Vec<Src>) {
        for o in &i.uses {
            if let Kind::Lanes { lanes, .. } = &o.kind {
                work.extend(lanes);
            }
        }
        i.defs.iter().filter_map(|d| d.old.as_ref()).for_each(|u| work.extend(u));
        work.extend(i.guard.map(|g| g.0));
    }
    for block in &l.blocks {
        for &k in &block.insts {
            let p = &l.ops[l.insts[k as usize].op as usize].1;
            let removable =
                p.known && !p.ordered && !p.barrier && !p.convergent && matches!(p.effect, Effect::Pure | Effect::Read);
            if !removable {
                inst[k as usize] = true;
                reads(&l.insts[k as usize], &mut work);
            }
        }
    }
    while let Some(s) = work.pop() {
        let Src::Val(v) = l.resolve(s) else { continue };
        if std::mem::replace(&mut val[v.0 as usize], true) {
            continue;
        }
        match l.vals[v.0 as usize].from {
            From::Inst(k, _) => {
                if !std::mem::replace(&mut inst[k as usize], true) {
                    reads(&l.insts[k as usize], &mut work);
                }
            }
            From::Param(b) => {
                let k = l.blocks[b as usize].params.iter().position(|&p| p == v);
                // Parameters of a region's entry have no edges into them.
                for &(from, edge) in &incoming[b as usize] {
                    if let Some(k) = k {
                        work.push(l.blocks[from].succs[edge].1[k]);
                    }
                }
            }
        }
    }
    (inst, val)
}

impl Emit<'_, '_> {
    fn lane(&mut self, s: Src, class: RegClass) -> Lane {
        match self.l.resolve(s) {
            Src::Val(v) => Lane(self.place[v.0 as usize].expect("what is read is kept")),
            Src::Undef => Lane::UNDEF,
            Src::Imm(x) if class == RegClass::P => {
                let op = self.b.op("PMOV");
                Lane(self.b.inst1(op, RegClass::P, 1, &[Operand::imm(x & 1)]).first)
            }
            Src::Imm(x) => {
                let op = self.b.op("MOV");
                Lane(self.b.inst1(op, RegClass::R, 1, &[Operand::imm(x)]).first)
            }
            Src::Const(at) => {
                let op = self.b.op("MOV");
                Lane(self.b.inst1(op, RegClass::R, 1, &[Operand::constant(at >> 16, at & 0xffff)]).first)
            }
        }
    }

    /// A run as a constant, if it is one and an instruction can hold it.
    fn constant(&mut self, lanes: &[Src], float: bool) -> Option<Operand> {
        let r: SmallVec<[Src; 4]> = lanes.iter().map(|&s| self.l.resolve(s)).collect();
        match r[..] {
            [Src::Imm(x)] => Some(Operand::imm(x)),
            [Src::Const(at)] => Some(Operand::constant(at >> 16, at & 0xffff)),
            // A double keeps its high half in the instruction only.
            [Src::Imm(lo), Src::Imm(hi)] if !float || lo == 0 => {
                Some(self.b.imm64(u64::from(lo) | u64::from(hi) << 32))
            }
            [Src::Const(lo), Src::Const(hi)] if hi == lo + 4 && lo % 8 == 0 => {
                Some(Operand::constant(lo >> 16, lo & 0xffff))
            }
            _ => None,
        }
    }

    /// Which sources stay constants: of those that may, the widest, since they would take most registers.
    fn choose_constants(&mut self, inst: &MInst, from: usize, allowed: usize, float: bool) -> SmallVec<[usize; 4]> {
        let mut found: SmallVec<[(usize, usize); 4]> = SmallVec::new();
        for (k, o) in inst.uses.iter().enumerate().skip(from) {
            let Kind::Lanes { lanes, class: RegClass::R, .. } = &o.kind else { continue };
            let zero = lanes.iter().all(|&s| self.l.resolve(s) == Src::ZERO);
            if !zero && !o.flags.has(OperandFlags::ADDR) && self.constant(lanes, float).is_some() {
                found.push((lanes.len(), k));
            }
        }
        found.sort_by_key(|&(n, k)| (std::cmp::Reverse(n), k));
        found.truncate(allowed);
        found.into_iter().map(|f| f.1).collect()
    }

    /// The sources of an instruction as legal operands.
    fn uses(&mut self, inst: &MInst, name: &str, props: &OpProps) -> (SmallVec<[Operand; 4]>, Marked) {
        let (from, allowed) = constant_slots(name, props);
        let chosen = self.choose_constants(inst, from, allowed, name.starts_with('D'));
        let float = name.starts_with('D') && !name.starts_with("DEPBAR");
        let store = matches!(props.effect, Effect::Write);
        let matrix = name.split('.').next().unwrap_or("").ends_with("MMA");
        let mut out: SmallVec<[Operand; 4]> = SmallVec::new();
        let mut marked = SmallVec::new();
        for (k, o) in inst.uses.iter().enumerate() {
            let operand = match &o.kind {
                Kind::Literal(x) => self.b.imm64(*x),
                Kind::Bank(bank, at) => Operand::constant(*bank, *at),
                Kind::Special(s) => self.b.special(s),
                Kind::Symbol(s) => self.b.symbol_operand(s),
                Kind::Region(r) => Operand::region(self.regions[*r]),
                Kind::Lanes { lanes, align, class } => {
                    let address = o.flags.has(OperandFlags::ADDR);
                    let zero = lanes.iter().all(|&s| self.l.resolve(s) == Src::ZERO);
                    let rz = zero && (lanes.len() <= 2 || lanes.len() <= 4 && (store || matrix));
                    let plain = *class == RegClass::R
                        && !address
                        && o.fixed.is_none()
                        && o.tied.is_none()
                        && !o.in_flight
                        && name != "call";
                    let constant = match plain {
                        true if rz && (props.known || lanes.len() == 1) => Some(Operand::imm(0)),
                        true if chosen.contains(&k) => self.constant(lanes, float),
                        _ => None,
                    };
                    match constant {
                        Some(c) => c,
                        None => {
                            let lanes: SmallVec<[Lane; 4]> = lanes.iter().map(|&s| self.lane(s, *class)).collect();
                            let undef = lanes.iter().all(|l| l.value().is_none());
                            if undef && *class == RegClass::P {
                                // An undefined predicate: any will do.
                                Operand::undef(1, 1)
                            } else {
                                self.b.lanes(&lanes, *align)
                            }
                        }
                    }
                }
            };
            if o.fixed.is_some() || o.tied.is_some() || o.in_flight {
                marked.push((k, o.clone()));
            }
            out.push(operand.with_flags(o.flags));
        }
        (out, marked)
    }

    fn inst(&mut self, id: u32) {
        let l = self.l;
        let inst = &l.insts[id as usize];
        let (name, props) = &l.ops[inst.op as usize];
        self.b.set_line(inst.line);
        let mut constraints: Vec<(u16, Constraint)> = Vec::new();
        let defs: SmallVec<[Def; 4]> = inst
            .defs
            .iter()
            .map(|d| Def {
                first: self.place[d.first.0 as usize].expect("definitions of what is kept"),
                len: d.len as usize,
                align: d.align,
            })
            .collect();
        for (k, d) in inst.defs.iter().enumerate() {
            if d.early {
                constraints.push((k as u16, Constraint::EarlyClobber));
            }
            if d.in_flight {
                constraints.push((k as u16, Constraint::InFlight));
            }
            if let Some(r) = d.fixed {
                constraints.push((k as u16, Constraint::Fixed(PhysReg::new(RegClass::R, r.into()))));
            }
        }
        let (mut uses, marked) = self.uses(inst, name, props);
        let n = inst.defs.len();
        let guard = inst.guard.map(|g| (l.resolve(g.0), g.1));
        let guarded = usize::from(guard.is_some());
        for (k, o) in marked {
            let at = (n + guarded + k) as u16;
            if let Some(r) = o.fixed {
                constraints.push((at, Constraint::Fixed(PhysReg::new(RegClass::R, r.into()))));
            }
            if let Some(d) = o.tied {
                constraints.push((at, Constraint::Tied(d)));
            }
            if o.in_flight {
                constraints.push((at, Constraint::InFlight));
            }
        }
        if let Some((p, negated)) = guard {
            let lane = self.lane(p, RegClass::P);
            let flags = if negated { OperandFlags::GUARD.with(OperandFlags::NOT) } else { OperandFlags::GUARD };
            uses.insert(0, self.b.lanes(&[lane], 1).with_flags(flags));
            for (k, d) in inst.defs.iter().enumerate() {
                // An accumulator is tied to its old value as it is.
                if inst.uses.iter().any(|o| o.tied == Some(k as u16)) {
                    continue;
                }
                let class = l.vals[d.first.0 as usize].class;
                let lanes: SmallVec<[Lane; 4]> = match &d.old {
                    Some(old) => old.iter().map(|&s| self.lane(s, class)).collect(),
                    None => (0..d.len).map(|_| Lane::UNDEF).collect(),
                };
                constraints.push(((n + uses.len()) as u16, Constraint::Tied(k as u16)));
                uses.push(self.b.lanes(&lanes, d.align));
            }
        }
        let mut clobbers = Vec::new();
        if inst.abi_clobbers {
            let results: Vec<u8> = inst.defs.iter().filter_map(|d| d.fixed).collect();
            for &(a, z) in ABI_CLOBBERS {
                clobbers.extend((a..=z).filter(|r| !results.contains(r)).map(|r| PhysReg::new(RegClass::R, r.into())));
            }
            clobbers.extend((0..ABI_PREDICATES).map(|p| PhysReg::new(RegClass::P, p.into())));
        }
        let op = self.b.op_with(name, &constraints, &clobbers);
        self.b.inst(op, &defs, &uses);
    }

    /// Names the values of a run after their register.
    fn name(&mut self, first: Val, def: Def) {
        if !self.set_names {
            return;
        }
        let names = |k: u32| self.l.vals[(first.0 + k) as usize].name;
        let n = names(0);
        if n == u32::MAX || (0..def.len as u32).any(|k| names(k) != n && names(k) != u32::MAX) {
            return;
        }
        self.b.set_name(def, &self.l.names[n as usize]);
    }

    fn terminator(&mut self, b: usize) {
        let l = self.l;
        let block = &l.blocks[b];
        self.b.set_line(block.line);
        let succs: Vec<(Block, Vec<Lane>)> = block
            .succs
            .iter()
            .map(|(t, args)| {
                let skip = l.blocks[*t].params.len() - args.len();
                let kept: Vec<(Src, RegClass)> = l.blocks[*t].params[skip..]
                    .iter()
                    .zip(args)
                    .filter(|(p, _)| self.live_val[p.0 as usize] && l.forward[p.0 as usize].is_none())
                    .map(|(p, &s)| (s, l.vals[p.0 as usize].class))
                    .collect();
                (self.blocks[*t], kept.into_iter().map(|(s, c)| self.lane(s, c)).collect())
            })
            .collect();
        let refs: Vec<(Block, &[Lane])> = succs.iter().map(|s| (s.0, s.1.as_slice())).collect();
        match &block.term {
            MTerm::Jump => self.b.jump(refs[0].0, refs[0].1),
            MTerm::Branch(p, negated) | MTerm::ExitIf(p, negated) => {
                let flags = if *negated { OperandFlags::NOT } else { OperandFlags::NONE };
                let lane = self.lane(*p, RegClass::P);
                let o = self.b.lanes(&[lane], 1).with_flags(flags);
                let name = if matches!(block.term, MTerm::ExitIf(..)) { "exit_if" } else { "br" };
                let op = self.b.op(name);
                self.b.terminate(op, &[o], &refs);
            }
            MTerm::Switch(s) => {
                let lane = self.lane(*s, RegClass::R);
                let o = self.b.lanes(&[lane], 1);
                let op = self.b.op("brx");
                self.b.terminate(op, &[o], &refs);
            }
            MTerm::Exit => self.b.exit(),
            MTerm::Return(runs) => {
                let mut uses = Vec::new();
                for (class, u) in runs.iter().filter(|r| !r.1.is_empty()) {
                    let lanes: Vec<Lane> = u.iter().map(|&s| self.lane(s, *class)).collect();
                    uses.push(self.b.lanes(&lanes, 1));
                }
                let op = self.b.op("RET");
                self.b.terminate(op, &uses, &[]);
            }
        }
    }
}

/// Builds the function; joins of one value are removed already.
pub(super) fn emit(
    l: &Lower<'_>,
    name: &str,
    reachable: &[Vec<usize>],
    set_names: bool,
) -> Result<Finished, BuildError> {
    let (live_inst, live_val) = mark(l);
    let mut b = FunctionBuilder::new(name);
    let regions: Vec<Region> = l
        .regions
        .iter()
        .enumerate()
        .map(|(k, r)| {
            if k == 0 {
                return Region(0);
            }
            let results: Vec<(RegClass, u16)> = r.results.iter().map(|&(c, n)| (c, n as u16)).collect();
            b.region(&r.name, &results)
        })
        .collect();
    let mut blocks = vec![Block::NONE; l.blocks.len()];
    let order: Vec<usize> = reachable.iter().flatten().copied().collect();
    for &k in &order {
        blocks[k] = b.block_in(regions[l.blocks[k].region], &l.blocks[k].name);
    }
    let mut e = Emit { l, b, place: vec![None; l.vals.len()], live_inst, live_val, regions, blocks, set_names };
    for &k in &order {
        let entry = l.blocks[k].region > 0 && reachable.iter().any(|r| r.first() == Some(&k));
        for &p in &l.blocks[k].params {
            let joined = l.forward[p.0 as usize].is_some();
            if joined || !(entry || e.live_val[p.0 as usize]) {
                continue;
            }
            let def = e.b.param(e.blocks[k], l.vals[p.0 as usize].class, 1);
            e.place[p.0 as usize] = Some(def.first);
            e.name(p, def);
        }
        for &i in &l.blocks[k].insts {
            if !e.live_inst[i as usize] {
                continue;
            }
            for d in &l.insts[i as usize].defs {
                let def = e.b.fresh(l.vals[d.first.0 as usize].class, d.len as usize);
                (0..d.len).for_each(|j| e.place[(d.first.0 + j) as usize] = Some(Value(def.first.0 + j)));
                e.name(d.first, def);
            }
        }
    }
    for &k in &order {
        e.b.switch_to(e.blocks[k]);
        for &i in &l.blocks[k].insts {
            if e.live_inst[i as usize] {
                e.inst(i);
            }
        }
        e.terminator(k);
    }
    e.b.finish_mapped()
}
