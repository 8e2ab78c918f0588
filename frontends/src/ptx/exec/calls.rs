//! Calls: where parameters stand in `.param` memory, how they get into an activation and results out of it.

use super::super::ast::{Call, CallTarget, FuncId, Function, Operand, Param, SymbolRef};
use super::super::types::Space;
use super::machine::{Machine, Step, FUNCTION_BASE};
use super::semantics::mask;
use super::{Host, Outcome, MAX_CALL_DEPTH};
use std::collections::BTreeMap;

/// Words of an external call's result that the host is asked for.
const MAX_RESULT_WORDS: u64 = 64;

/// Alignments are powers of two; sizes in a hostile file may be near the end of the range.
fn align_up(value: u64, align: u32) -> u64 {
    let below = u64::from(align.max(1)) - 1;
    value.saturating_add(below) & !below
}

/// Where the symbols of `.param` memory of one function stand, relative to its activation.
pub(super) struct Layout {
    pub(super) returns: u64,
    pub(super) locals: Vec<u64>,
}

impl Layout {
    pub(super) fn of(f: &Function) -> Self {
        let after = |params: &[Param], from: u64| {
            params.last().map_or(from, |p| align_up(from.saturating_add(p.offset).saturating_add(p.bytes), 16))
        };
        let returns = after(&f.params, 0);
        let mut next = after(&f.returns, returns);
        let mut locals = Vec::with_capacity(f.variables.len());
        for v in &f.variables {
            if v.space == Space::Param {
                next = align_up(next, v.align);
                locals.push(next);
                next = next.saturating_add(v.bytes);
            } else {
                locals.push(0);
            }
        }
        Self { returns, locals }
    }
}

impl<'m, H: Host> Machine<'m, '_, H> {
    pub(super) fn call(&mut self, call: &'m Call) -> Step {
        let target = match call.target {
            CallTarget::Function(id) => Some(id),
            CallTarget::Register(r) => {
                let address = self.reg(r);
                let n = address.wrapping_sub(FUNCTION_BASE);
                let known = n % 16 == 0 && n / 16 < self.module.functions.len() as u64;
                known.then_some(FuncId((n / 16) as u32))
            }
        };
        let module = self.module;
        let callee = target.map(|id| &module.functions[id.index()]);
        let Some(id) = target.filter(|_| callee.is_some_and(|f| f.body.is_some())) else {
            self.call_external(call, callee);
            return Step::Next;
        };
        if self.frames.len() >= MAX_CALL_DEPTH {
            return Step::Stop(Outcome::CallDepth);
        }
        // Arguments by bytes: the caller's slots become the callee's parameters.
        let callee = &module.functions[id.index()];
        let mut memory = BTreeMap::new();
        let mut regs = Vec::new();
        for (param, arg) in callee.params.iter().zip(&call.args) {
            match (arg, param.reg) {
                (_, Some(reg)) => regs.push((reg, self.argument(arg))),
                (Operand::Symbol { symbol, offset }, None) => {
                    let from = self.address_of(*symbol).wrapping_add(*offset as u64);
                    copy_bytes(&self.frame().memory, from, &mut memory, param.offset, param.bytes);
                }
                (_, None) => {
                    let value = self.argument(arg);
                    write_bytes(&mut memory, param.offset, value, param.bytes.min(8) as u32);
                }
            }
        }
        // The caller goes on behind the call.
        let frame = self.frame_mut();
        frame.call = Some(call);
        self.enter(id);
        self.frame_mut().memory = memory;
        for (reg, value) in regs {
            self.write_lane(reg, 0, value, None);
        }
        Step::Jump(0)
    }

    /// An argument's low 64 bits: of a slot of `.param` memory its first eight bytes.
    fn argument(&mut self, arg: &Operand) -> u64 {
        match arg {
            Operand::Symbol { symbol, offset } => {
                let from = self.address_of(*symbol).wrapping_add(*offset as u64);
                read_bytes(&self.frame().memory, from, 8)
            }
            other => self.value(other, None),
        }
    }

    fn call_external(&mut self, call: &Call, callee: Option<&Function>) {
        let args: Vec<u64> = call.args.iter().map(|a| self.argument(a)).collect();
        self.host.call_external(callee, &args);
        for (index, to) in call.returns.iter().enumerate() {
            match to {
                Operand::Symbol { symbol, offset } => {
                    let at = self.address_of(*symbol).wrapping_add(*offset as u64);
                    let bytes = match symbol {
                        SymbolRef::Local(v) => self.frame().function.variables[v.index()].bytes,
                        _ => 8,
                    };
                    for word in 0..bytes.div_ceil(8).min(MAX_RESULT_WORDS) {
                        let value = self.host.external_result(callee, index, word as usize);
                        let left = (bytes - 8 * word).min(8) as u32;
                        write_bytes(&mut self.frame_mut().memory, at.wrapping_add(8 * word), value, left);
                    }
                }
                other => {
                    let value = self.host.external_result(callee, index, 0);
                    self.write(other, None, value, 0);
                }
            }
        }
    }

    /// Ends the running activation and hands its results to the caller; true if it was the kernel.
    pub(super) fn leave(&mut self) -> bool {
        let done = self.frames.pop().expect("an activation is running");
        if self.frames.is_empty() {
            return true;
        }
        let call = self.frame_mut().call.take().expect("the caller waits in a call");
        let base = self.layouts[done.id.index()].returns;
        for (param, to) in done.function.returns.iter().zip(&call.returns) {
            let from = base.wrapping_add(param.offset);
            let value = match param.reg {
                Some(reg) => done.regs[self.slots[done.id.index()][reg.index()] as usize],
                None => read_bytes(&done.memory, from, 8),
            };
            match to {
                Operand::Symbol { symbol, offset } => {
                    let at = self.address_of(*symbol).wrapping_add(*offset as u64);
                    let memory = &mut self.frame_mut().memory;
                    match param.reg {
                        Some(_) => write_bytes(memory, at, value, param.bytes.min(8) as u32),
                        None => copy_bytes(&done.memory, from, memory, at, param.bytes),
                    }
                }
                other => self.write(other, None, value & mask(param.bytes.min(8) as u32 * 8), 0),
            }
        }
        self.frame_mut().at += 1;
        false
    }
}

pub(super) fn write_bytes(memory: &mut BTreeMap<u64, u8>, at: u64, value: u64, bytes: u32) {
    for i in 0..bytes {
        memory.insert(at.wrapping_add(u64::from(i)), (value >> (8 * i)) as u8);
    }
}

fn read_bytes(memory: &BTreeMap<u64, u8>, at: u64, bytes: u32) -> u64 {
    let byte = |i: u32| u64::from(memory.get(&at.wrapping_add(u64::from(i))).copied().unwrap_or(0)) << (8 * i);
    (0..bytes).map(byte).sum()
}

/// Copies the bytes that were written among `bytes` from `from`; the others of the target become unwritten.
fn copy_bytes(from: &BTreeMap<u64, u8>, start: u64, to: &mut BTreeMap<u64, u8>, target: u64, bytes: u64) {
    let end = start.saturating_add(bytes);
    let stale: Vec<u64> = to.range(target..target.saturating_add(bytes)).map(|(at, _)| *at).collect();
    for at in stale {
        to.remove(&at);
    }
    for (at, byte) in from.range(start..end) {
        to.insert(target.wrapping_add(at - start), *byte);
    }
}
