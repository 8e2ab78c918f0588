//! Calls. A function whose body is in the file is a subroutine region, its `.param` memory the words that it takes and
//! gives. Everything else follows the fixed ABI: arguments from R4 on, 64-bit ones aligned, at most to R15 and the rest
//! on the stack; results from R4; caller-saved registers destroyed.

use super::super::super::ast::{AddressBase, CallTarget, Inst, Operand, Param};
use super::super::super::types::ScalarType;
use super::super::mid::*;
use super::super::ssa::{units_of, MAX_PARAM_WORDS};
use super::Lower;
use fatpoint_ir::{OperandFlags, RegClass};

const FIRST_ARGUMENT: u8 = 4;
const LAST_ARGUMENT: u8 = 15;

impl Lower<'_> {
    /// `ld.param` and `st.param` of a call's memory: the words are variables.
    pub(super) fn call_slot(
        &mut self,
        inst: &Inst,
        base: AddressBase,
        offset: i64,
        ty: ScalarType,
        data: usize,
    ) -> bool {
        let at = match base {
            AddressBase::Symbol(s) => self.vars.param_symbol(self.f, s),
            _ => None,
        };
        let bytes = i64::from(ty.bytes()) * i64::from(inst.op.lanes());
        let Some((first, _)) = at.filter(|a| offset >= 0 && offset.saturating_add(bytes) <= 4 * i64::from(a.1)) else {
            self.error(
                inst.span,
                inst.line,
                format!("`{}` reaches `.param` memory of a call in a way that registers cannot hold", inst.op.text()),
                "use offsets that are known and inside of a parameter of at most 256 bytes",
            );
            return true;
        };
        let word = |k: u32| first + k;
        let (each, offset) = (ty.bits(), offset as u32);
        if inst.op.opcode() == "st" {
            let parts = self.elements(&inst.operands[data], ty);
            for (k, &s) in parts.iter().enumerate() {
                if each >= 32 && offset % 4 == 0 {
                    self.writes.push((word(offset / 4 + k as u32), s));
                    continue;
                }
                let bit = 8 * offset + each.min(32) * k as u32;
                let v = word(bit / 32);
                let old = self.writes.iter().rev().find(|w| w.0 == v).map_or(self.state[v as usize], |w| w.1);
                let uses = vec![
                    Opnd::unit(s),
                    Opnd::unit(old),
                    Opnd::literal(u64::from(bit % 32)),
                    Opnd::literal(u64::from(each)),
                ];
                let merged = if old == Src::ZERO && bit % 32 == 0 {
                    self.extend(s, each, false)
                } else {
                    self.emit1("BFI", uses)
                };
                self.writes.retain(|w| w.0 != v);
                self.writes.push((v, merged));
            }
            return true;
        }
        let to = &inst.operands[data];
        let elements: Vec<Operand> = match to {
            Operand::Vector(v) => v.to_vec(),
            o => vec![o.clone()],
        };
        for (k, o) in elements.iter().enumerate() {
            let bit = 8 * offset + each * k as u32;
            if each >= 32 {
                let n = each / 32;
                let u: Units = (0..n).map(|j| self.state[word(bit / 32 + j) as usize]).collect();
                self.write_extended(o, &u, ty);
                continue;
            }
            let w = self.state[word(bit / 32) as usize];
            let part = if bit % 32 == 0 {
                w
            } else {
                self.emit1("SHR.U32", vec![Opnd::unit(w), Opnd::literal(u64::from(bit % 32))])
            };
            self.write_extended(o, &[part], ty);
        }
        true
    }

    /// `call`.
    pub(super) fn call(&mut self, inst: &Inst) {
        let Some(call) = inst.call.clone() else { return };
        let module = self.module;
        let region = match call.target {
            CallTarget::Function(id) => self.region_of.get(&id).copied(),
            CallTarget::Register(_) => None,
        };
        let (params, returns): (&[Param], &[Param]) = match (call.target, call.prototype) {
            (CallTarget::Function(id), _) => {
                (&module.functions[id.index()].params, &module.functions[id.index()].returns)
            }
            (_, Some(p)) => (&self.f.prototypes[p.index()].params, &self.f.prototypes[p.index()].returns),
            _ => (&[], &[]),
        };
        if let Some(p) = params.iter().chain(returns).find(|p| p.bytes > 4 * MAX_PARAM_WORDS) {
            let message = format!("a parameter of {} bytes is more than registers can hold", p.bytes);
            return self.error(inst.span, inst.line, message, "pass a pointer to it");
        }
        let args: Vec<Units> = call.args.iter().enumerate().map(|(k, o)| self.argument(o, params.get(k))).collect();
        match region {
            Some(r) => self.region_call(&call.returns, r, &args),
            None => self.abi_call(inst, &call.returns, call.target, &args, returns),
        }
    }

    /// The words of an argument.
    fn argument(&mut self, o: &Operand, p: Option<&Param>) -> Units {
        if let Operand::Symbol { symbol, .. } = o {
            if let Some((first, n)) = self.vars.param_symbol(self.f, *symbol) {
                return (first..first + n).map(|v| self.state[v as usize]).collect();
            }
        }
        let mut u = self.source(o, p.map(|p| p.ty));
        if let Some(p) = p.filter(|p| !p.is_reg || p.reg.is_none()) {
            u.resize((p.bytes.max(1)).div_ceil(4) as usize, Src::ZERO);
        }
        u
    }

    /// Where results go: variables for the words of each.
    fn result_vars(&self, o: &Operand) -> Vec<u32> {
        match o {
            Operand::Symbol { symbol, .. } => match self.vars.param_symbol(self.f, *symbol) {
                Some((first, n)) => (first..first + n).collect(),
                None => Vec::new(),
            },
            Operand::Reg(r) => {
                let first = self.vars.reg(*r);
                (first..first + units_of(self.f, *r)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn region_call(&mut self, returns: &[Operand], region: usize, args: &[Units]) {
        let r = self.regions[region].clone();
        let mut uses = vec![Opnd::new(Kind::Region(region))];
        // Parameters of the entry are single units.
        let mut flat = args.iter().flatten().copied();
        for &(class, _) in &r.params {
            let s = flat.next().unwrap_or(Src::Undef);
            uses.push(if class == RegClass::P { Opnd::pred(s, false) } else { Opnd::unit(s) });
        }
        let made = self.emit("call", &r.results, uses);
        // Values that come from a region sit where its results do: runs without alignment of their own.
        let id = self.insts.len() - 1;
        self.insts[id].defs.iter_mut().for_each(|d| d.align = 1);
        for (k, o) in returns.iter().enumerate() {
            let Some(&(_, len)) = r.results.get(k) else { continue };
            for (j, v) in self.result_vars(o).into_iter().take(len as usize).enumerate() {
                self.writes.push((v, Src::Val(Val(made[k].0 + j as u32))));
            }
        }
    }

    fn abi_call(&mut self, inst: &Inst, returns: &[Operand], target: CallTarget, args: &[Units], results: &[Param]) {
        let mut uses = Vec::new();
        match target {
            CallTarget::Function(id) => {
                let f = &self.module.functions[id.index()];
                let name = f.name.clone();
                let why = if f.body.is_some() { "calls itself and" } else { "has no body here and" };
                self.note(inst, format!("`{name}` {why} is called by the fixed ABI"));
                uses.push(Opnd::new(Kind::Symbol(name)));
            }
            CallTarget::Register(r) => {
                self.note(inst, "a call through a register follows the fixed ABI".into());
                let u = self.reg(r);
                uses.push(Opnd::run(&u));
            }
        }
        let mut next = FIRST_ARGUMENT;
        let mut stacked = 0u32;
        for a in args {
            let align = if a.len() >= 2 { 2 } else { 1 };
            let at = next.div_ceil(align) * align;
            if usize::from(at) + a.len() > usize::from(LAST_ARGUMENT) + 1 {
                for &s in a {
                    let flags = OperandFlags::ADDR.with(OperandFlags::ADDR_START);
                    let to = u64::from(self.layout.frame + 4 * stacked);
                    self.emit("STL", &[], vec![Opnd::literal(to).with(flags), Opnd::unit(s)]);
                    stacked += 1;
                }
                continue;
            }
            for (k, &s) in a.iter().enumerate() {
                let mut o = Opnd::unit(s);
                o.fixed = Some(at + k as u8);
                uses.push(o);
            }
            next = at + a.len() as u8;
        }
        let n: Vec<u32> = results.iter().map(|p| (p.bytes.max(1)).div_ceil(4) as u32).collect();
        let words: u32 = n.iter().sum::<u32>().min(u32::from(LAST_ARGUMENT - FIRST_ARGUMENT) + 1);
        let defs: Vec<(RegClass, u32)> = (0..words).map(|_| (RegClass::R, 1)).collect();
        let made = self.emit("CALL.ABI", &defs, uses);
        let id = self.insts.len() - 1;
        self.insts[id].abi_clobbers = true;
        for (k, d) in self.insts[id].defs.iter_mut().enumerate() {
            d.fixed = Some(FIRST_ARGUMENT + k as u8);
        }
        let mut at = 0;
        for (k, o) in returns.iter().enumerate() {
            let count = n.get(k).copied().unwrap_or(0);
            for (j, v) in self.result_vars(o).into_iter().take(count as usize).enumerate() {
                if let Some(&x) = made.get(at + j) {
                    self.writes.push((v, Src::Val(x)));
                }
            }
            at += count as usize;
        }
    }
}
