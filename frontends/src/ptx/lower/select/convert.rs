//! `cvt`: integers by extension, mostly without an instruction; floats as one operation of the conversion unit.

use super::super::super::ast::Inst;
use super::super::super::types::ScalarType;
use super::super::mid::*;
use super::{upper, Lower};

fn plain(t: ScalarType) -> bool {
    t.is_integer() && matches!(t.bits(), 8 | 16 | 32 | 64) && !t.name().contains('x')
}

impl Lower<'_> {
    /// `cvt`.
    pub(super) fn convert(&mut self, inst: &Inst) -> bool {
        let ops = &inst.operands;
        match *inst.op.types() {
            [to, from] if plain(to) && plain(from) && !inst.op.has("pack") && !inst.op.has("sat") => {
                let s = self.source(&ops[1], Some(from));
                let wide = to.bits() == 64;
                let units: Units = match (from.bits(), wide) {
                    (64, true) => s,
                    (64, false) => [s[0]].as_slice().into(),
                    (n, _) => {
                        // To the narrower of both widths, then on from there.
                        let needs = to.bits() > n || self.declared_bits(&ops[0]).is_some_and(|d| d > to.bits());
                        let low = if needs { self.extend(s[0], n, from.is_signed()) } else { s[0] };
                        if wide {
                            let high = if from.is_signed() { self.sign_of(low) } else { Src::ZERO };
                            [low, high].as_slice().into()
                        } else {
                            [low].as_slice().into()
                        }
                    }
                };
                self.write_extended(&ops[0], &units, to);
                true
            }
            [to, from] => {
                let mods: Vec<&str> =
                    inst.op.mods().filter(|m| ScalarType::from_name(m).is_none() && *m != "rn").collect();
                let base = match (to.is_float(), from.is_float()) {
                    (true, true)
                        if inst.op.has("rni") || inst.op.has("rzi") || inst.op.has("rmi") || inst.op.has("rpi") =>
                    {
                        "FRND"
                    }
                    (true, true) if to.name().contains('x') || from.name().contains('x') => "F2FP",
                    (true, true) => "F2F",
                    (true, false) => "I2F",
                    (false, true) => "F2I",
                    (false, false) => "I2I",
                };
                let name = format!("{base}{}{}", upper(&[to.name(), from.name()]), upper(&mods));
                let uses: Vec<Opnd> = (1..ops.len())
                    .map(|k| {
                        let ty = if k == 1 || ops.len() == 3 { Some(from) } else { None };
                        let s = self.source(&ops[k], ty);
                        match (s.len(), from) {
                            (1, ScalarType::F32) => self.float32(s[0], false),
                            (2, ScalarType::F64) => self.float64([s[0], s[1]], false),
                            (1, t) if t.is_integer() && t.bits() < 32 => {
                                Opnd::unit(self.extend(s[0], t.bits(), t.is_signed()))
                            }
                            _ => Opnd::run(&s),
                        }
                    })
                    .collect();
                let n = self.width(&ops[0]).max(1) as u32;
                let r = self.emit_run(&name, n, uses);
                self.write(&ops[0], &r);
                true
            }
            [to, from, ..] => {
                let mods: Vec<&str> = inst.op.mods().collect();
                let uses: Vec<Opnd> = (1..ops.len()).map(|k| Opnd::run(&self.source(&ops[k], Some(from)))).collect();
                let base = if to.is_float() { "F2FP" } else { "I2IP" };
                let r = self.emit_run(&format!("{base}{}", upper(&mods)), self.width(&ops[0]).max(1) as u32, uses);
                self.write(&ops[0], &r);
                true
            }
            _ => false,
        }
    }
}
