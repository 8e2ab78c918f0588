//! Selection: what each PTX instruction becomes.
//!
//! One function for each family, in the files below; `docs/ptx-selection.md` is the table of all of them. Here are
//! the parts that they share: reading sources as units, making instructions, writing results, guards.
//!
//! A register of fewer than 32 bits is one unit whose upper bits mean nothing unless [`Lower::known_narrow`] says that
//! they are zero; who needs them extends first.

mod address;
mod atomic;
mod calls;
mod convert;
mod float;
mod fold;
mod integer;
mod logic;
mod matrix;
mod memory;
mod moves;
mod other;
mod wide;

use super::super::ast::{Inst, Operand, Part, RegId};
use super::super::roles::{roles, unknown_note};
use super::super::types::ScalarType;
use super::mid::*;
use super::ssa::{units_of, Lower, Var};
use fatpoint_ir::{Effect, RegClass};

/// Most elements of a vector operand: no instruction has more.
const MAX_ELEMENTS: usize = 128;

/// An optional rounding or other modifier in upper case, with its dot.
pub(super) fn upper(mods: &[&str]) -> String {
    mods.iter().fold(String::new(), |s, m| s + "." + &m.to_ascii_uppercase().replace("::", "_"))
}

impl Lower<'_> {
    /// Selects one instruction.
    pub(super) fn instruction(&mut self, inst: &Inst, guard_holds: bool) {
        self.writes.clear();
        let first = self.insts.len();
        let long = |o: &Operand| matches!(o, Operand::Vector(v) if v.is_empty() || v.len() > MAX_ELEMENTS);
        if inst.operands.iter().any(long) {
            let message = format!("a vector has 1 to {MAX_ELEMENTS} elements");
            return self.error(inst.span, inst.line, message, "");
        }
        if inst.call.is_some() {
            self.call(inst);
        } else {
            self.select(inst);
        }
        let guard = inst.guard.filter(|_| !guard_holds).map(|g| (self.state[self.vars.reg(g.reg) as usize], g.negated));
        match guard {
            None => self.write_all(),
            Some((Src::Imm(x), negated)) if (x & 1 == 1) != negated => self.write_all(),
            Some((p, negated)) => self.apply_guard(first, p, negated),
        }
    }

    fn write_all(&mut self) {
        let writes = std::mem::take(&mut self.writes);
        for &(v, s) in &writes {
            self.commit(v, s);
        }
        self.writes = writes;
    }

    fn commit(&mut self, v: Var, s: Src) {
        if let Src::Val(x) = s {
            if self.vals[x.0 as usize].name == u32::MAX {
                self.vals[x.0 as usize].name = self.name_of(v);
            }
        }
        self.set(v, s);
    }

    /// Makes what was selected since instruction `first` depend on a guard.
    fn apply_guard(&mut self, first: usize, p: Src, negated: bool) {
        let writes = std::mem::take(&mut self.writes);
        // What the guarded definitions keep when the guard is false.
        let old_of = |this: &Self, x: Val| {
            let mut at = writes.iter().filter(|w| w.1 == Src::Val(x));
            match (at.next(), at.next()) {
                (Some(w), None) => Some(this.state[w.0 as usize]),
                _ => None,
            }
        };
        let mut guarded: Vec<Val> = Vec::new();
        for k in first..self.insts.len() {
            let op = self.insts[k].op as usize;
            let props = self.ops[op].1;
            let must = props.effect != Effect::Pure || props.convergent || props.ordered || !props.known;
            let values = |d: &MDef| (d.first.0..d.first.0 + d.len).map(Val);
            let all: Vec<Val> = self.insts[k].defs.iter().flat_map(values).collect();
            // A pure instruction takes the guard when all that it gives is a result that nothing here reads.
            let mut read: Vec<Val> = Vec::new();
            for i in &self.insts[k + 1..] {
                for o in &i.uses {
                    if let Kind::Lanes { lanes, .. } = &o.kind {
                        read.extend(lanes.iter().filter_map(|s| s.val()));
                    }
                }
            }
            let kept = |this: &Self, v: Val| old_of(this, v).filter(|_| !read.contains(&v));
            let final_one = !all.is_empty() && all.iter().all(|&v| kept(self, v).is_some());
            if !must && !final_one {
                continue;
            }
            for d in 0..self.insts[k].defs.len() {
                let def = self.insts[k].defs[d].clone();
                let old: Units = values(&def).map(|v| kept(self, v).unwrap_or(Src::Undef)).collect();
                guarded.extend(values(&def).filter(|&v| kept(self, v).is_some()));
                self.insts[k].defs[d].old = Some(old);
            }
            self.insts[k].guard = Some((p, negated));
        }
        for &(v, s) in &writes {
            let s = match s {
                Src::Val(x) if guarded.contains(&x) => s,
                _ => self.choose(v, s, p, negated),
            };
            self.commit(v, s);
        }
        self.writes = writes;
    }

    /// `s` where the guard holds, else what the variable holds.
    fn choose(&mut self, v: Var, s: Src, p: Src, negated: bool) -> Src {
        let old = self.state[v as usize];
        if old == Src::Undef || old == s {
            return s;
        }
        if self.vars.class(v) == RegClass::P {
            return self.pred_select(s, old, p, negated);
        }
        self.sel(s, old, p, negated)
    }

    /// The units that an operand stands for; of a 64-bit one low first.
    pub(super) fn source(&mut self, o: &Operand, ty: Option<ScalarType>) -> Units {
        let bits = ty.map_or(32, ScalarType::bits);
        let literal = |x: u64, bits: u32| -> Units {
            match bits {
                0..=32 => [Src::Imm(x as u32)].as_slice().into(),
                33..=64 => pair(x).as_slice().into(),
                _ => {
                    let mut u: Units = pair(x).as_slice().into();
                    u.resize(bits.div_ceil(32) as usize, Src::ZERO);
                    u
                }
            }
        };
        match o {
            Operand::Reg(r) => self.reg(*r),
            Operand::NotPred(r) => {
                let s = self.reg(*r)[0];
                [self.pred_not(s)].as_slice().into()
            }
            Operand::RegPart { reg, part: Part::Lane(n), .. } => {
                let d = self.f.reg(*reg);
                let each = if d.is_pred() { 1 } else { d.bits().div_ceil(32).max(1) as usize };
                let n = usize::from(*n).min(usize::from(d.lanes.max(1)) - 1);
                self.reg(*reg)[n * each..(n + 1) * each].into()
            }
            Operand::RegPart { reg, .. } => self.reg(*reg),
            Operand::Imm(i) if ty == Some(ScalarType::Pred) => [Src::Imm(u32::from(i.bits != 0))].as_slice().into(),
            Operand::Imm(i) => literal(i.bits_for(ty), bits),
            Operand::Special(s) => self.special(*s),
            Operand::Symbol { symbol, offset } => {
                let a = self.symbol_address(*symbol, *offset);
                a[..if bits > 32 { 2 } else { 1 }].into()
            }
            Operand::Address { base, offset } => {
                let a = self.address_value(*base, *offset);
                a.as_slice().into()
            }
            Operand::Vector(v) => v.iter().flat_map(|o| self.source(o, None)).collect(),
            Operand::Pair(_) | Operand::Texture(_) | Operand::Sink | Operand::Label(_) | Operand::Table(_) => {
                literal(0, bits)
            }
        }
    }

    /// Units of a register.
    pub(super) fn reg(&self, r: RegId) -> Units {
        let first = self.vars.reg(r) as usize;
        self.state[first..first + units_of(self.f, r) as usize].into()
    }

    /// The one unit of an operand of at most 32 bits.
    pub(super) fn one(&mut self, o: &Operand, ty: Option<ScalarType>) -> Src {
        self.source(o, ty)[0]
    }

    /// Low and high unit of an operand of 64 bits.
    pub(super) fn two(&mut self, o: &Operand, ty: Option<ScalarType>) -> [Src; 2] {
        let u = self.source(o, ty);
        [u[0], u.get(1).copied().unwrap_or(Src::ZERO)]
    }

    /// The predicate of an operand, for use as one: `!%p` costs no instruction.
    pub(super) fn pred_operand(&mut self, o: &Operand) -> Opnd {
        match o {
            Operand::NotPred(r) => {
                let s = self.reg(*r)[0];
                Opnd::pred(s, true)
            }
            _ => {
                let s = self.source(o, Some(ScalarType::Pred))[0];
                Opnd::pred(s, false)
            }
        }
    }

    /// Makes an instruction with definitions of these classes and widths; gives the first value of each.
    pub(in super::super) fn emit(&mut self, name: &str, defs: &[(RegClass, u32)], uses: Vec<Opnd>) -> Vec<Val> {
        let op = self.op(name);
        let id = self.insts.len() as u32;
        let mut lane = 0;
        let mut made = Vec::with_capacity(defs.len());
        let mut list = smallvec::SmallVec::new();
        for &(class, len) in defs {
            let first = self.def_vals(class, len, id, lane);
            lane += len;
            made.push(first);
            let align = if class == RegClass::R { fatpoint_ir::default_align(len as usize) } else { 1 };
            list.push(MDef { first, len, align, early: false, in_flight: false, fixed: None, old: None });
        }
        self.insts.push(MInst { op, guard: None, defs: list, uses: uses.into(), abi_clobbers: false, line: self.line });
        self.blocks[self.block].insts.push(id);
        made
    }

    /// An instruction with one result of one unit.
    pub(super) fn emit1(&mut self, name: &str, uses: Vec<Opnd>) -> Src {
        Src::Val(self.emit(name, &[(RegClass::R, 1)], uses)[0])
    }

    /// An instruction with one run as its result.
    pub(super) fn emit_run(&mut self, name: &str, len: u32, uses: Vec<Opnd>) -> Units {
        let first = self.emit(name, &[(RegClass::R, len)], uses)[0];
        (first.0..first.0 + len).map(|k| Src::Val(Val(k))).collect()
    }

    /// An instruction with two separate results: the halves of a 64-bit one, or two words.
    pub(super) fn emit_halves(&mut self, name: &str, uses: Vec<Opnd>) -> [Src; 2] {
        let v = self.emit(name, &[(RegClass::R, 1), (RegClass::R, 1)], uses);
        [Src::Val(v[0]), Src::Val(v[1])]
    }

    /// An instruction with one predicate as its result.
    pub(super) fn emit_pred(&mut self, name: &str, uses: Vec<Opnd>) -> Src {
        Src::Val(self.emit(name, &[(RegClass::P, 1)], uses)[0])
    }

    /// Gives the last instruction `n` units to work in, apart from its sources.
    pub(super) fn scratch(&mut self, n: u32) {
        let id = self.insts.len() as u32 - 1;
        let lane = self.insts[id as usize].defs.iter().map(|d| d.len).sum::<u32>();
        for k in 0..n {
            let first = self.def_vals(RegClass::R, 1, id, lane + k);
            let def = MDef { first, len: 1, align: 1, early: true, in_flight: false, fixed: None, old: None };
            self.insts[id as usize].defs.push(def);
        }
    }

    /// Writes the units of a destination operand.
    pub(super) fn write(&mut self, o: &Operand, units: &[Src]) {
        match o {
            Operand::Reg(r) => {
                let first = self.vars.reg(*r);
                for (k, &s) in units.iter().enumerate().take(units_of(self.f, *r) as usize) {
                    self.writes.push((first + k as u32, s));
                }
            }
            Operand::RegPart { reg, part: Part::Lane(n), .. } => {
                let d = self.f.reg(*reg);
                let each = if d.is_pred() { 1 } else { d.bits().div_ceil(32).max(1) };
                let first = self.vars.reg(*reg) + u32::from(*n).min(u32::from(d.lanes.max(1)) - 1) * each;
                for (k, &s) in units.iter().enumerate().take(each as usize) {
                    self.writes.push((first + k as u32, s));
                }
            }
            Operand::RegPart { reg, .. } => self.write(&Operand::Reg(*reg), units),
            Operand::Vector(v) => {
                let mut at = 0;
                for o in v.iter() {
                    let n = self.width(o);
                    let end = (at + n).min(units.len());
                    self.write(o, &units[at.min(end)..end]);
                    at += n;
                }
            }
            Operand::Pair(p) => self.write(&p[0], units),
            _ => {}
        }
    }

    /// Units of a destination operand; of `_` one.
    pub(super) fn width(&self, o: &Operand) -> usize {
        match o {
            Operand::Reg(r) => units_of(self.f, *r) as usize,
            Operand::RegPart { reg, .. } => {
                let d = self.f.reg(*reg);
                d.bits().div_ceil(32).max(1) as usize
            }
            Operand::Vector(v) => v.iter().map(|o| self.width(o)).sum(),
            Operand::Pair(p) => self.width(&p[0]),
            _ => 1,
        }
    }

    /// Declared width in bits of a register operand; `None` for anything else.
    pub(super) fn declared_bits(&self, o: &Operand) -> Option<u32> {
        match o {
            Operand::Reg(r) => Some(self.f.reg(*r).bits()),
            Operand::RegPart { reg, .. } => Some(self.f.reg(*reg).bits()),
            _ => None,
        }
    }

    /// Writes a result of integer type `ty` into a register that may be wider, extended as PTX says.
    pub(super) fn write_extended(&mut self, o: &Operand, value: &[Src], ty: ScalarType) {
        let Some(bits) = self.declared_bits(o) else { return self.write(o, value) };
        if bits <= ty.bits().max(1) || ty == ScalarType::Pred || bits < 32 && ty.bits() >= bits {
            return self.write(o, value);
        }
        let low = if ty.bits() < 32 { self.extend(value[0], ty.bits(), ty.is_signed()) } else { value[0] };
        if bits <= 32 {
            return self.write(o, &[low]);
        }
        let mut units: Units = [low].as_slice().into();
        units.extend(value.iter().skip(1).copied());
        while (units.len() as u32) * 32 < bits {
            let top = *units.last().expect("at least one");
            let next = if ty.is_signed() { self.sign_of(top) } else { Src::ZERO };
            units.push(next);
        }
        self.write(o, &units);
    }

    fn select(&mut self, inst: &Inst) {
        // A form without a rule has any number of operands; one with a rule has those that the rule counts.
        if inst.op.rule().is_none() {
            return self.unknown(inst);
        }
        let done = match inst.op.opcode() {
            "mov" | "cvta" => self.mov(inst),
            "ld" | "ldu" | "st" => self.memory(inst),
            "cvt" => self.convert(inst),
            "selp" | "slct" => self.selection(inst),
            "setp" | "set" => self.comparison(inst),
            "and" | "or" | "xor" | "not" | "cnot" | "lop3" => self.logical(inst),
            "shl" | "shr" | "shf" => self.shift(inst),
            "bfe" | "bfi" | "bfind" | "brev" | "popc" | "clz" | "prmt" | "bmsk" | "szext" | "fns" => self.bits(inst),
            "add" | "sub" | "mul" | "mad" | "fma" | "addc" | "subc" | "madc" | "mul24" | "mad24" | "neg" | "abs"
            | "min" | "max" | "div" | "rem" | "sad" | "copysign" => self.arithmetic(inst),
            "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "ex2" | "lg2" | "tanh" | "testp" => self.transcendental(inst),
            "atom" | "red" => self.atomic(inst),
            "mma" | "wmma" | "wgmma" | "ldmatrix" | "stmatrix" | "movmatrix" => self.matrix(inst),
            _ => false,
        };
        if !done && !self.other(inst) {
            self.unknown(inst);
        }
    }

    /// Keeps an instruction that nothing is known of: side effects, all operands as they stand.
    fn unknown(&mut self, inst: &Inst) {
        let note = roles(inst, self.f).note.unwrap_or_else(|| unknown_note(&inst.op));
        self.note(inst, note);
        let name = format!("PTX.{}", inst.op.text().to_ascii_uppercase().replace("::", "_"));
        self.generic(inst, &name);
    }
}
