//! Loads and stores. Parameters and constants at known places are operands and no instruction; elements narrower than a
//! word travel as words and are taken apart.

use super::super::super::ast::{AddressBase, Inst, Operand, SymbolRef};
use super::super::super::types::{ScalarType, Space};
use super::super::mid::*;
use super::Lower;

/// The load and store of a space.
pub(super) fn base_names(space: Space) -> (&'static str, &'static str) {
    match space {
        Space::Global => ("LDG.E", "STG.E"),
        Space::Shared | Space::SharedCluster => ("LDS", "STS"),
        Space::Local => ("LDL", "STL"),
        Space::Const | Space::Param => ("LDC", "STC"),
        _ => ("LD.E", "ST.E"),
    }
}

fn size_suffix(bytes: u32) -> &'static str {
    match bytes {
        8 => ".64",
        16 => ".128",
        32 => ".256",
        _ => "",
    }
}

impl Lower<'_> {
    /// `ld`, `ldu`, `st`.
    pub(super) fn memory(&mut self, inst: &Inst) -> bool {
        let op = &inst.op;
        if op.has("async") || op.has("bulk") || op.types().len() != 1 {
            return false;
        }
        let Some(ty) = op.ty() else { return false };
        let (address, data) = if op.opcode() == "st" { (0, 1) } else { (1, 0) };
        let (base, offset) = match inst.operands.get(address) {
            Some(Operand::Address { base, offset }) => (*base, *offset),
            Some(Operand::Symbol { symbol, offset }) => (AddressBase::Symbol(*symbol), *offset),
            _ => return false,
        };
        if op.opcode() != "st" && self.constant_load(inst, base, offset, ty) {
            return true;
        }
        if op.space() == Space::Param && !(self.is_kernel() && self.is_kernel_param(base)) {
            return self.call_slot(inst, base, offset, ty, data);
        }
        let mut mods = String::new();
        let strong = ["volatile", "relaxed", "acquire", "release", "mmio"].iter().any(|m| op.has(m));
        if strong {
            let scope = ["cta", "cluster", "gpu", "sys"].iter().find(|m| op.has(m)).unwrap_or(&"sys");
            mods += &format!(".STRONG.{}", scope.to_ascii_uppercase());
        } else if op.has("nc") || op.opcode() == "ldu" {
            mods += ".CONSTANT";
        }
        let (load, store) = base_names(op.space());
        let lanes = u32::from(op.lanes());
        let bits = ty.bits() * lanes;
        let extra: Vec<Opnd> =
            inst.operands.iter().skip(2).map(|o| Opnd::run(&self.source(o, Some(ScalarType::B64)))).collect();
        let mut address = self.address(base, offset, op.space());
        if op.opcode() == "st" {
            let parts = self.elements(&inst.operands[data], ty);
            let (words, narrow) = match ty.bits() {
                8 | 16 if lanes == 1 => (parts, true),
                8 | 16 => (self.pack_narrow(&parts, ty.bits()).to_vec(), bits < 32),
                _ => (parts, false),
            };
            let name = match (narrow, bits) {
                (true, 8) => format!("{store}.U8{mods}"),
                (true, _) => format!("{store}.U16{mods}"),
                _ => format!("{store}{}{mods}", size_suffix(bits / 8)),
            };
            address.push(Opnd::run(&words));
            address.extend(extra);
            self.emit(&name, &[], address);
            return true;
        }
        address.extend(extra);
        if bits < 32 {
            let sign = if ty.is_signed() && lanes == 1 { 'S' } else { 'U' };
            let v = self.emit1(&format!("{load}.{sign}{bits}{mods}"), address);
            if lanes > 1 {
                self.unpack_memory(&inst.operands[data], ty, &[v]);
                return true;
            }
            // The value is there with 32 bits; registers of 64 take more.
            let to = &inst.operands[data];
            let full = if ty.is_signed() { ScalarType::S32 } else { ScalarType::U32 };
            let element = if let Operand::Vector(v) = to { &v[0] } else { to };
            if self.declared_bits(element).is_some_and(|b| b > 32) {
                self.write_extended(element, &[v], full);
            } else {
                self.write(element, &[v]);
            }
            return true;
        }
        let words = self.emit_run(&format!("{load}{}{mods}", size_suffix(bits / 8)), bits / 32, address);
        self.unpack_memory(&inst.operands[data], ty, &words);
        true
    }

    /// Elements of a vector or scalar data operand, by word, or by element where those are narrower.
    pub(super) fn elements(&mut self, o: &Operand, ty: ScalarType) -> Vec<Src> {
        let cut = ty.bits().div_ceil(32) as usize;
        match o {
            Operand::Vector(v) => v.iter().flat_map(|o| self.source(o, Some(ty)).into_iter().take(cut)).collect(),
            Operand::Reg(r) if self.f.reg(*r).lanes > 1 => self.reg(*r).to_vec(),
            _ => {
                let mut u = self.source(o, Some(ty)).to_vec();
                u.truncate(cut);
                u
            }
        }
    }

    /// Writes loaded words to the elements of a data operand.
    fn unpack_memory(&mut self, to: &Operand, ty: ScalarType, words: &[Src]) {
        let elements: Vec<&Operand> = match to {
            Operand::Vector(v) => v.iter().collect(),
            o => vec![o],
        };
        let each = ty.bits();
        if let [Operand::Reg(r)] = elements[..] {
            if self.f.reg(*r).lanes > 1 {
                return self.write(elements[0], words);
            }
        }
        for (k, o) in elements.into_iter().enumerate() {
            if matches!(o, Operand::Sink) {
                continue;
            }
            if each >= 32 {
                let n = (each / 32) as usize;
                self.write_extended(o, &words[k * n..(k + 1) * n], ty);
                continue;
            }
            let at = each * k as u32;
            let (w, shift) = (words[(at / 32) as usize], at % 32);
            let wide = self.declared_bits(o).is_some_and(|b| b > each);
            let part = match (wide, shift) {
                (false, 0) => w,
                (false, _) => self.emit1("SHR.U32", vec![Opnd::unit(w), Opnd::literal(u64::from(shift))]),
                _ if shift + each == 32 => {
                    let name = if ty.is_signed() { "SHR.S32" } else { "SHR.U32" };
                    self.emit1(name, vec![Opnd::unit(w), Opnd::literal(u64::from(shift))])
                }
                _ => {
                    let name = if ty.is_signed() { "BFE.S32" } else { "BFE.U32" };
                    let field = [shift, each].map(|n| Opnd::literal(u64::from(n)));
                    let [pos, len] = field;
                    self.emit1(name, vec![Opnd::unit(w), pos, len])
                }
            };
            if wide {
                self.write_extended(o, &[part], if ty.is_signed() { ScalarType::S32 } else { ScalarType::U32 });
            } else {
                self.write(o, &[part]);
            }
        }
    }

    fn is_kernel_param(&self, base: AddressBase) -> bool {
        !matches!(base, AddressBase::Symbol(SymbolRef::Local(_)))
    }

    /// Loads of parameters and constants at known places: the words of the constant bank themselves.
    fn constant_load(&mut self, inst: &Inst, base: AddressBase, offset: i64, ty: ScalarType) -> bool {
        let (bank, at) = match (inst.op.space(), base) {
            (Space::Param, AddressBase::Symbol(SymbolRef::Param(n))) if self.is_kernel() => {
                let Some(p) = self.f.params.get(n as usize) else { return false };
                (0, i64::from(self.options.param_base).saturating_add(p.offset as i64).saturating_add(offset))
            }
            (Space::Const, AddressBase::Symbol(s)) => {
                let Some(at) = self.layout.offset(self.f_id, s) else { return false };
                (3, i64::from(at).saturating_add(offset))
            }
            _ => return false,
        };
        let lanes = u32::from(inst.op.lanes());
        let (each, to) = (ty.bits(), &inst.operands[0]);
        let Ok(at) = u32::try_from(at) else { return false };
        // A bank has 64 KiB, and an operand names an aligned word.
        if u64::from(at) + u64::from(lanes * each / 8) > 1 << 16 {
            return false;
        }
        if each < 32 || at % 4 != 0 {
            let elements: Vec<Operand> = match to {
                Operand::Vector(v) => v.to_vec(),
                o => vec![o.clone()],
            };
            for (k, o) in elements.iter().enumerate() {
                let here = at + k as u32 * each / 8;
                let name = match (each, ty.is_signed()) {
                    (8, true) => "LDC.S8",
                    (8, false) => "LDC.U8",
                    (16, true) => "LDC.S16",
                    (16, false) => "LDC.U16",
                    (64, _) => "LDC.64",
                    _ => "LDC",
                };
                let flags = fatpoint_ir::OperandFlags::ADDR.with(fatpoint_ir::OperandFlags::ADDR_START);
                let v = self.emit_run(name, each.div_ceil(32), vec![Opnd::new(Kind::Bank(bank, here)).with(flags)]);
                let full = match (each < 32, ty.is_signed()) {
                    (true, true) => ScalarType::S32,
                    (true, false) => ScalarType::U32,
                    _ => ty,
                };
                if self.declared_bits(o).is_some_and(|b| b > 32) {
                    self.write_extended(o, &v, full);
                } else {
                    self.write(o, &v);
                }
            }
            return true;
        }
        let words: Vec<Src> = (0..lanes * each / 32).map(|k| bank_word(bank, at + 4 * k)).collect();
        self.unpack_memory(to, ty, &words);
        true
    }
}
