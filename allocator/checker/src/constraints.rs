//! What machine and opcode ask of locations, instruction by instruction, with no regard to what they hold.
//!
//! Rules for the operands of an instruction, and of a repeated one:
//! 1. a lane with a value is in a register of the value's class; an undefined lane may have no location;
//! 2. the lanes of a run are consecutive registers, the first a multiple of the alignment;
//! 3. numbers are below the file's limit, general registers also within the budget. A lane without a location within
//!    a run counts too: the machine names the whole run;
//! 4. the stack pointer takes no value, unless it is freed or the opcode fixes the operand there;
//! 5. fixed operands sit in their register, tied uses in their definition's, an early-clobber definition over no use
//!    but those tied to it; definition lanes are distinct.
//!
//! For edits: registers as above; copies within a class, or conversions between `P` and `R`, `UP` and `UR`; swaps
//! within a class; only general registers go to and come from slots (the machine has no other loads and stores).

use crate::error::{CheckErrorKind as Kind, Errors, Site};
use crate::places::{file_limit, Places, MAX_LOCAL_SLOTS, MAX_SHARED_SLOTS, NOWHERE};
use crate::CheckOptions;
use fatpoint_ir::assigned::{AllocatedFunction, Edit, Loc, SlotSpace};
use fatpoint_ir::{Constraint, EntityId, Inst, PerClass, PhysReg, RegClass, STACK_POINTER};

/// True when a copy between these classes exists for values of class `value`: within a class, or the conversion of a
/// predicate to and from a general register of its width (SEL, ISETP).
pub(crate) fn can_hold(place: RegClass, value: RegClass) -> bool {
    place == value || matches!((place, value), (RegClass::R, RegClass::P) | (RegClass::UR, RegClass::UP))
}

/// True when a copy from one class to another exists at all.
pub(crate) fn can_copy(from: RegClass, to: RegClass) -> bool {
    can_hold(from, to) || can_hold(to, from)
}

/// Checks every location and keeps the highest register named in each class.
pub(crate) struct Constraints<'c, 'a> {
    alloc: &'a AllocatedFunction<'a>,
    errors: &'c mut Errors<'a>,
    /// Highest general register that the budget allows.
    top: u32,
    free_r1: bool,
    /// Highest register named in each class.
    pub(crate) highest: PerClass<Option<u16>>,
    /// Which definition lane of the current instruction is in a register.
    stamp: Vec<(u32, u32)>,
    round: u32,
}

impl<'c, 'a> Constraints<'c, 'a> {
    pub(crate) fn new(alloc: &'a AllocatedFunction<'a>, opts: &CheckOptions, errors: &'c mut Errors<'a>) -> Self {
        // A budget of T allows R0 to R(T - 3): the machine keeps two, and counting starts at 0.
        let top = opts.budget.map_or(u32::MAX, |t| t.get());
        Self {
            alloc,
            errors,
            top,
            free_r1: opts.free_r1,
            highest: PerClass::default(),
            stamp: vec![(0, 0); crate::places::NUM_REGS as usize],
            round: 0,
        }
    }

    /// Everything: instructions, parameters, edits.
    pub(crate) fn check(&mut self) {
        let f = self.alloc.func;
        for i in f.insts() {
            self.operands(i, self.alloc.inst_locs(i), false, Site::Inst(i));
        }
        for b in f.blocks() {
            for (v, &l) in f.params(b).zip(self.alloc.block_param_locs(b)) {
                self.param(Site::Block(b), v, l);
            }
        }
        for (n, (_, e)) in self.alloc.edits.iter().enumerate() {
            self.edit(e, Site::Edit(n as u32));
        }
        for (n, (_, e)) in self.alloc.edge_edits.iter().enumerate() {
            self.edit(e, Site::EdgeEdit(n as u32));
        }
    }

    /// Limits, budget and reservation of one register that something names.
    fn register(&mut self, r: PhysReg, written: bool, site: Site) {
        let limit = file_limit(r.class);
        if r.num >= limit {
            let what = || format!("{r} does not exist, the last one is {}{}", r.class, limit - 1);
            self.errors.push(Kind::FileLimit, site, what);
            return;
        }
        let h = &mut self.highest[r.class];
        *h = Some(h.map_or(r.num, |n| n.max(r.num)));
        if r.class == RegClass::R && r.num as u32 + 3 > self.top {
            let top = self.top;
            let what = || match top.checked_sub(3) {
                Some(last) => format!("{r} is above the budget of {top}, which ends at R{last}"),
                None => format!("{r} is above the budget of {top}, which has no register"),
            };
            self.errors.push(Kind::Budget, site, what);
        }
        if r == STACK_POINTER && written && !self.free_r1 {
            self.errors.push(Kind::Reserved, site, || format!("{r} is the stack pointer and takes no value"));
        }
    }

    fn slot(&mut self, l: Loc, site: Site) {
        let Some((space, index)) = l.as_slot() else {
            self.errors.push(Kind::Location, site, || format!("{l} is no slot"));
            return;
        };
        let (frame, most) = match space {
            SlotSpace::Local => (self.alloc.local_slots, MAX_LOCAL_SLOTS),
            SlotSpace::Shared => (self.alloc.shared_slots, MAX_SHARED_SLOTS),
        };
        if index >= frame.min(most) {
            let what = || match frame <= most {
                true => format!("{l} is outside the frame of {frame} slots"),
                false => format!("{l} is outside what a machine has, {most} slots"),
            };
            self.errors.push(Kind::FileLimit, site, what);
        }
    }

    fn param(&mut self, site: Site, v: fatpoint_ir::Value, l: Loc) {
        if l.is_none() {
            return;
        }
        let class = self.alloc.func.class(v);
        let name = || self.alloc.func.value_name(v);
        match l.as_reg() {
            Some(r) => {
                if !can_hold(r.class, class) {
                    self.errors.push(Kind::Class, site, || format!("parameter {} of class {class} is in {r}", name()));
                }
                self.register(r, true, site);
            }
            None => {
                if !can_hold(RegClass::R, class) {
                    self.errors.push(Kind::Class, site, || format!("parameter {} of class {class} is in {l}", name()));
                }
                self.slot(l, site);
            }
        }
    }

    fn edit(&mut self, e: &Edit, site: Site) {
        match e {
            Edit::Copy { from, to } => {
                if !can_copy(from.class, to.class) {
                    let what = || format!("there is no copy from class {} to class {}", from.class, to.class);
                    self.errors.push(Kind::Conversion, site, what);
                }
                self.register(*from, false, site);
                self.register(*to, true, site);
            }
            Edit::Swap { a, b } => {
                if a.class != b.class {
                    self.errors.push(Kind::Conversion, site, || "a swap stays within a class".into());
                }
                self.register(*a, true, site);
                self.register(*b, true, site);
            }
            Edit::Spill { from, to } => {
                self.memory(*from, site);
                self.register(*from, false, site);
                self.slot(*to, site);
            }
            Edit::Reload { from, to } => {
                self.memory(*to, site);
                self.slot(*from, site);
                self.register(*to, true, site);
            }
            Edit::SlotCopy { from, to } => {
                self.slot(*from, site);
                self.slot(*to, site);
            }
            Edit::Remat { inst, from, to } => {
                let to = to.iter().map(|r| r.map_or(Loc::NONE, Loc::reg));
                let locs: Vec<Loc> = to.chain(from.iter().copied()).collect();
                self.repeatable(*inst, site);
                self.operands(*inst, &locs, true, site);
            }
        }
    }

    fn memory(&mut self, r: PhysReg, site: Site) {
        if r.class != RegClass::R {
            let what = || format!("only general registers go to memory, {r} must become one first");
            self.errors.push(Kind::Conversion, site, what);
        }
    }

    fn repeatable(&mut self, i: Inst, site: Site) {
        use fatpoint_ir::{Effect, Flight, OpKind};
        let (f, sig) = (self.alloc.func, self.alloc.func.sig(i));
        let p = &sig.props;
        let why = if !p.repeatable() || p.ordered || p.barrier || p.kind != OpKind::Normal {
            "it must not be repeated"
        } else if p.convergent {
            "its result depends on the threads that run it together"
        } else if !(p.effect == Effect::Pure || p.effect == Effect::Read && p.immutable) {
            "it touches memory that may change"
        } else if p.flight != Flight::No || sig.constraints.iter().any(|c| c.1 == Constraint::InFlight) {
            "it works on in the background"
        } else if f.uses(i).iter().any(|o| o.is_guard()) {
            "it has a guard"
        } else {
            return;
        };
        self.errors.push(Kind::Remat, site, || format!("{i} `{}` cannot be repeated: {why}", sig.mnemonic));
    }

    /// Rules 1 to 5 for the lanes `locs` of an instruction; a repeated one may drop definition lanes.
    fn operands(&mut self, i: Inst, locs: &[Loc], repeated: bool, site: Site) {
        let f = self.alloc.func;
        let (operands, num_defs) = (f.operands(i), f.num_defs(i));
        let sig = f.sig(i);
        let mut at = 0;
        for (k, &o) in operands.iter().enumerate() {
            if o.is_empty() {
                continue;
            }
            let fixed = match sig.constraints.is_empty() {
                true => None,
                // A use tied to a fixed result is fixed as well.
                false => sig.fixed(k).or_else(|| sig.tied(k).and_then(|d| sig.fixed(d))),
            };
            self.run(i, k, &locs[at..at + o.len()], k < num_defs, repeated, fixed, site);
            at += o.len();
        }
        self.distinct_defs(i, locs, site);
        if !sig.constraints.is_empty() {
            self.opcode_constraints(i, locs, site);
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn run(
        &mut self,
        i: Inst,
        k: usize,
        locs: &[Loc],
        is_def: bool,
        repeated: bool,
        fixed: Option<PhysReg>,
        site: Site,
    ) {
        let f = self.alloc.func;
        let o = f.operands(i)[k];
        // Class and number of lane 0, from the first lane that has a register.
        let mut base: Option<(RegClass, i32)> = None;
        for (lane, &l) in locs.iter().enumerate() {
            let value = f.lane(o, lane).value();
            let name = || value.map_or("undefined".into(), |v| f.value_name(v));
            if l.is_none() {
                if value.is_some() && !(repeated && is_def) {
                    let what = || format!("lane {lane} of operand {k}, {}, has no register", name());
                    self.errors.push(Kind::Location, site, what);
                }
                continue;
            }
            let Some(r) = l.as_reg() else {
                let what = || format!("lane {lane} of operand {k}, {}, is in {l}, which is no register", name());
                self.errors.push(Kind::Location, site, what);
                continue;
            };
            if let Some(class) = value.map(|v| f.class(v)).filter(|&c| c != r.class) {
                self.errors.push(Kind::Class, site, || format!("{} of class {class} is in {r}", name()));
            }
            let own = fixed.is_some_and(|x| x.class == r.class && x.num as usize + lane == r.num as usize);
            self.register(r, (is_def || value.is_some()) && !own, site);
            let this = (r.class, r.num as i32 - lane as i32);
            match base {
                None => base = Some(this),
                Some(b) if b != this => {
                    let what = || format!("operand {k} is no run of consecutive registers: lane {lane} is in {r}");
                    self.errors.push(Kind::Run, site, what);
                    return;
                }
                Some(_) => {}
            }
        }
        let Some((class, first)) = base else { return };
        if first < 0 {
            self.errors.push(Kind::Run, site, || format!("operand {k} would start before {class}0"));
            return;
        }
        if first as u32 % o.align() != 0 {
            let what = || format!("operand {k} starts at {class}{first}, which is no multiple of {}", o.align());
            self.errors.push(Kind::Alignment, site, what);
        }
        // The machine names the last lane of a run even when nothing is in it.
        if locs[o.len() - 1].is_none() {
            self.register(PhysReg::new(class, first as u16 + o.len() as u16 - 1), is_def, site);
        }
        if let Some(x) = fixed {
            if (x.class, x.num as i32) != (class, first) {
                let what = || format!("operand {k} must be in {x} and is in {class}{first}");
                self.errors.push(Kind::Fixed, site, what);
            }
        }
    }

    fn distinct_defs(&mut self, i: Inst, locs: &[Loc], site: Site) {
        self.round += 1;
        let f = self.alloc.func;
        for (k, (v, &l)) in f.def_values(i).zip(locs).enumerate() {
            let Some(p) = l.as_reg().map(Places::register).filter(|&p| p != NOWHERE) else { continue };
            let s = &mut self.stamp[p as usize];
            if s.0 == self.round {
                let other = fatpoint_ir::Value::new(v.index() - k + s.1 as usize);
                let what = || format!("{} and {} are both written to {l}", f.value_name(other), f.value_name(v));
                self.errors.push(Kind::Overlap, site, what);
            }
            *s = (self.round, k as u32);
        }
    }

    fn opcode_constraints(&mut self, i: Inst, locs: &[Loc], site: Site) {
        let f = self.alloc.func;
        let (operands, num_defs, sig) = (f.operands(i), f.num_defs(i), f.sig(i));
        let mut start = Vec::with_capacity(operands.len() + 1);
        let mut at = 0;
        for o in operands {
            start.push(at);
            at += o.len();
        }
        start.push(at);
        let lanes = |k: usize| &locs[start[k]..start[k + 1]];
        for &(k, c) in sig.constraints.iter() {
            let k = k as usize;
            match c {
                Constraint::Tied(d) if k < operands.len() && (d as usize) < num_defs => {
                    let (u, d) = (lanes(k), lanes(d as usize));
                    if u.len() != d.len() || u.iter().zip(d).any(|(u, d)| u != d && !u.is_none()) {
                        let what = || format!("operand {k} is in {u:?} and must be where the result is, {d:?}");
                        self.errors.push(Kind::Tied, site, what);
                    }
                }
                Constraint::EarlyClobber if k < num_defs => {
                    for (u, &operand) in operands.iter().enumerate().skip(num_defs) {
                        if sig.tied(u) == Some(k) {
                            continue;
                        }
                        let over = |(lane, l): (usize, &Loc)| {
                            f.lane(operand, lane).value().filter(|_| !l.is_none() && lanes(k).contains(l))
                        };
                        if let Some(v) = lanes(u).iter().enumerate().find_map(over) {
                            let (v, d) = (f.value_name(v), lanes(k));
                            let what = || format!("the result in {d:?} is written before {v} is read from there");
                            self.errors.push(Kind::EarlyClobber, site, what);
                        }
                    }
                }
                // Fixed registers are seen to with the run, flight by its own pass.
                _ => {}
            }
        }
    }
}
