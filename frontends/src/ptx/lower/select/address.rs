//! Addresses: `[base + constant]` with chains of constant sums folded, symbols at their places.

use super::super::super::ast::{AddressBase, SymbolRef};
use super::super::super::types::Space;
use super::super::mid::*;
use super::Lower;
use fatpoint_ir::{OperandFlags, RegClass};

/// Offsets that fit into an instruction: 24 bits with sign.
const MAX_OFFSET: u64 = (1 << 23) - 1;

/// Sums that are looked through for one address.
const MAX_CHAIN: usize = 64;

impl Lower<'_> {
    /// Address of a symbol plus an offset, both halves.
    pub(super) fn symbol_address(&mut self, symbol: SymbolRef, offset: i64) -> [Src; 2] {
        let known = match symbol {
            SymbolRef::Param(n) if self.is_kernel() => self.f.params.get(n as usize).map(|p| p.offset as i64),
            _ => self.layout.offset(self.f_id, symbol).map(i64::from),
        };
        if let Some(at) = known {
            return pair(at.wrapping_add(offset) as u64);
        }
        let name = match symbol {
            SymbolRef::Module(v) => self.module.variables[v.index()].name.clone(),
            SymbolRef::Function(f) => self.module.functions[f.index()].name.clone(),
            SymbolRef::Local(v) => self.f.variables[v.index()].name.clone(),
            SymbolRef::Param(_) | SymbolRef::Return(_) => {
                let (span, line) = (self.f.span, self.f.line);
                self.error(
                    span,
                    line,
                    format!("`{}` takes the address of a parameter of its own", self.f.name),
                    "parameters of device functions are kept in registers: copy it to a .local variable",
                );
                return [Src::ZERO; 2];
            }
        };
        let u = self.emit_run("MOV.64", 2, vec![Opnd::new(Kind::Symbol(name))]);
        self.add64([u[0], u[1]], pair(offset as u64))
    }

    /// The value of an address, both halves.
    pub(super) fn address_value(&mut self, base: AddressBase, offset: i64) -> [Src; 2] {
        match base {
            AddressBase::Absolute => pair(offset as u64),
            AddressBase::Symbol(s) => self.symbol_address(s, offset),
            AddressBase::Reg(r) => {
                let u = self.reg(r);
                let hi = u.get(1).copied().unwrap_or(Src::ZERO);
                if u.len() < 2 {
                    let lo = self.add32(u[0], Src::Imm(offset as u32));
                    return [lo, Src::ZERO];
                }
                self.add64([u[0], hi], pair(offset as u64))
            }
        }
    }

    /// Takes constant sums off a 64-bit base.
    fn peel64(&self, mut a: [Src; 2], mut offset: i64) -> ([Src; 2], i64) {
        for _ in 0..MAX_CHAIN {
            let Some(inst) = self.wide_def(a).filter(|i| self.name(i) == "IADD.64") else { break };
            let unit = |k: usize| inst.uses.get(k).and_then(Self::plain_unit);
            let (Some(lo), Some(hi), Some(Src::Imm(x)), Some(Src::Imm(y))) = (unit(0), unit(1), unit(2), unit(3))
            else {
                break;
            };
            let next = offset.wrapping_add((u64::from(x) | u64::from(y) << 32) as i64);
            if next.unsigned_abs() > MAX_OFFSET {
                break;
            }
            (a, offset) = ([lo, hi], next);
        }
        (a, offset)
    }

    /// Takes constant sums off a 32-bit base.
    fn peel32(&self, mut a: Src, mut offset: i64) -> (Src, i64) {
        for _ in 0..MAX_CHAIN {
            let Some((inst, _)) = self.def_of(a).filter(|d| self.name(d.0) == "IADD") else { break };
            let unit = |k: usize| inst.uses.get(k).and_then(Self::plain_unit);
            let (Some(base), Some(Src::Imm(x))) = (unit(0), unit(1)) else { break };
            let next = i64::from((offset as i32).wrapping_add(x as i32));
            if next.unsigned_abs() > MAX_OFFSET {
                break;
            }
            (a, offset) = (base, next);
        }
        (a, offset)
    }

    /// The operands of an address in a space.
    pub(super) fn address(&mut self, base: AddressBase, offset: i64, space: Space) -> Vec<Opnd> {
        let narrow = matches!(
            space,
            Space::Shared | Space::SharedCluster | Space::Local | Space::Const | Space::Param | Space::Tensor
        );
        let (mut base, mut offset) = match base {
            AddressBase::Reg(r) => {
                let u = self.reg(r);
                let hi = u.get(1).copied();
                match (narrow, hi) {
                    (false, Some(hi)) => (vec![u[0], hi], offset),
                    _ => (vec![u[0]], offset),
                }
            }
            AddressBase::Symbol(s) => {
                let a = self.symbol_address(s, offset);
                (a.to_vec(), 0)
            }
            AddressBase::Absolute => (Vec::new(), offset),
        };
        // A constant base is part of the offset.
        if let Some(x) = imm64(&base) {
            offset = offset.wrapping_add(x as i64);
            base.clear();
        }
        if narrow {
            base.truncate(1);
            offset = i64::from(offset as i32);
        }
        match base[..] {
            [lo, hi] => {
                let (a, o) = self.peel64([lo, hi], offset);
                (base, offset) = (a.to_vec(), o);
            }
            [lo] => {
                let (a, o) = self.peel32(lo, offset);
                (base, offset) = (vec![a], o);
            }
            _ => {}
        }
        if offset != i64::from(offset as i32) {
            // No instruction has such an offset: the sum takes registers.
            let whole = match base[..] {
                [lo, hi] => self.add64([lo, hi], pair(offset as u64)),
                _ => pair(offset as u64),
            };
            (base, offset) = (whole.to_vec(), 0);
        }
        let mut out = Vec::new();
        if !base.is_empty() {
            out.push(Opnd::new(Kind::Lanes {
                align: fatpoint_ir::default_align(base.len()),
                lanes: base.into(),
                class: RegClass::R,
            }));
        }
        match space {
            Space::Const => out.push(Opnd::new(Kind::Bank(3, 0))),
            Space::Param => out.push(Opnd::new(Kind::Bank(0, self.options.param_base))),
            _ => {}
        }
        if offset != 0 || out.is_empty() {
            out.push(Opnd::literal(u64::from(offset as u32)));
        }
        for (k, o) in out.iter_mut().enumerate() {
            let flags = if k == 0 { OperandFlags::ADDR.with(OperandFlags::ADDR_START) } else { OperandFlags::ADDR };
            *o = std::mem::replace(o, Opnd::literal(0)).with(flags);
        }
        out
    }
}
