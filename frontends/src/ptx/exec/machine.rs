//! The interpreter's state and steps.

use super::super::ast::{AddressBase, Call, FuncId, Function, Inst, Module, Operand, Part, RegId, Stmt, SymbolRef};
use super::super::mnemonic::Mnemonic;
use super::super::roles::{roles, Role, Roles};
use super::super::types::{ScalarType, Space};
use super::calls::{write_bytes, Layout};
use super::eval::{evaluate, is_modelled};
use super::semantics::{extend, mask};
use super::{Access, Host, Outcome, Run};
use std::collections::BTreeMap;

/// Function `n` has the address `FUNCTION_BASE + 16 n`.
pub(super) const FUNCTION_BASE: u64 = 0xfc00_0000_0000_0000;

pub(super) fn is_control(opcode: &str) -> bool {
    matches!(opcode, "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt")
}

pub(super) fn is_barrier(op: &Mnemonic) -> bool {
    matches!(op.opcode(), "bar" | "barrier" | "membar" | "fence") && !op.has("red")
}

/// Loads and stores of registers of at most 64 bits, whatever their cache and ordering modifiers.
pub(super) fn is_plain_memory(op: &Mnemonic) -> bool {
    let plain = matches!(op.opcode(), "ld" | "ldu" | "st") && !op.has("async") && !op.has("bulk");
    plain && op.types().len() == 1 && matches!(op.ty().map_or(0, ScalarType::bits), 8 | 16 | 32 | 64)
}

/// One activation.
pub(super) struct Frame<'m> {
    pub(super) id: FuncId,
    pub(super) function: &'m Function,
    body: &'m [Stmt],
    /// Index of the next statement.
    pub(super) at: usize,
    pub(super) regs: Vec<u64>,
    /// Bytes of `.param` memory that were written.
    pub(super) memory: BTreeMap<u64, u8>,
    /// The call that this activation has made and waits for.
    pub(super) call: Option<&'m Call>,
}

pub(super) struct Machine<'m, 'h, H: Host> {
    pub(super) module: &'m Module,
    pub(super) host: &'h mut H,
    /// First slot of each register of each function: vector registers have a slot for each lane.
    pub(super) slots: Vec<Vec<u32>>,
    pub(super) layouts: Vec<Layout>,
    pub(super) frames: Vec<Frame<'m>>,
    carry: bool,
}

pub(super) enum Step {
    Next,
    Jump(usize),
    Stop(Outcome),
    Return,
}

/// Runs one thread of a kernel of `module` for at most `fuel` instructions.
///
/// A function without a body ends at once.
pub fn run<H: Host>(module: &Module, kernel: FuncId, host: &mut H, fuel: u64) -> Run {
    let slots = |f: &Function| {
        let mut next = 0;
        let mut out: Vec<u32> = Vec::with_capacity(f.regs.len() + 1);
        for reg in &f.regs {
            out.push(next);
            next += u32::from(reg.lanes);
        }
        out.push(next);
        out
    };
    let mut machine = Machine {
        module,
        host,
        slots: module.functions.iter().map(slots).collect(),
        layouts: module.functions.iter().map(Layout::of).collect(),
        frames: Vec::new(),
        carry: false,
    };
    if !machine.enter(kernel) {
        return Run { outcome: Outcome::Exit, steps: 0 };
    }
    let mut steps = 0;
    let outcome = loop {
        let frame = machine.frames.last_mut().expect("the loop ends with the last activation");
        let step = match frame.body.get(frame.at) {
            None => Step::Return,
            Some(Stmt::Inst(inst)) => {
                if steps == fuel {
                    break Outcome::OutOfFuel;
                }
                steps += 1;
                machine.step(inst)
            }
            Some(_) => Step::Next,
        };
        let frame = machine.frames.last_mut().expect("a step does not leave the activation");
        match step {
            Step::Next => frame.at += 1,
            Step::Jump(to) => frame.at = to,
            Step::Stop(outcome) => break outcome,
            Step::Return => {
                if machine.leave() {
                    break Outcome::Exit;
                }
            }
        }
    };
    Run { outcome, steps }
}

impl<'m, H: Host> Machine<'m, '_, H> {
    pub(super) fn frame(&self) -> &Frame<'m> {
        self.frames.last().expect("an activation is running")
    }

    pub(super) fn frame_mut(&mut self) -> &mut Frame<'m> {
        self.frames.last_mut().expect("an activation is running")
    }

    /// Starts an activation; false if the function has no body.
    pub(super) fn enter(&mut self, id: FuncId) -> bool {
        let Some(function) = self.module.functions.get(id.index()) else { return false };
        let Some(body) = &function.body else { return false };
        let count = self.slots[id.index()].last().copied().unwrap_or(0) as usize;
        self.frames.push(Frame {
            id,
            function,
            body,
            at: 0,
            regs: vec![0; count],
            memory: BTreeMap::new(),
            call: None,
        });
        true
    }

    fn slot(&self, reg: RegId) -> usize {
        self.slots[self.frame().id.index()][reg.index()] as usize
    }

    pub(super) fn reg(&self, reg: RegId) -> u64 {
        self.frame().regs[self.slot(reg)]
    }

    /// Writes a value of type `ty`, extended or cut to the register's declared width.
    pub(super) fn write_lane(&mut self, reg: RegId, lane: usize, value: u64, ty: Option<ScalarType>) {
        let declared = self.frame().function.reg(reg);
        let (bits, lanes) = (declared.bits().min(64), usize::from(declared.lanes));
        let value = match ty {
            Some(t) if t.bits() < bits => extend(value, t.bits(), bits, t.is_signed()),
            _ => value & mask(bits),
        };
        if lane < lanes {
            let slot = self.slot(reg) + lane;
            self.frame_mut().regs[slot] = value;
        }
    }

    pub(super) fn address_of(&mut self, symbol: SymbolRef) -> u64 {
        let (id, function) = (self.frame().id.index(), self.frame().function);
        let layout = &self.layouts[id];
        match symbol {
            SymbolRef::Function(f) => FUNCTION_BASE + 16 * u64::from(f.0),
            SymbolRef::Param(n) => function.params[n as usize].offset,
            SymbolRef::Return(n) => layout.returns.wrapping_add(function.returns[n as usize].offset),
            SymbolRef::Local(v) => match &function.variables[v.index()] {
                var if var.space == Space::Param => layout.locals[v.index()],
                var => self.host.symbol(function, symbol, var),
            },
            SymbolRef::Module(v) => {
                let module = self.module;
                self.host.symbol(function, symbol, &module.variables[v.index()])
            }
        }
    }

    fn address(&mut self, base: AddressBase, offset: i64) -> u64 {
        let start = match base {
            AddressBase::Reg(r) => self.reg(r),
            AddressBase::Symbol(s) => self.address_of(s),
            AddressBase::Absolute => 0,
        };
        start.wrapping_add(offset as u64)
    }

    /// The value of a source operand, cut to the type's width. A vector is packed, first element lowest.
    pub(super) fn value(&mut self, operand: &Operand, ty: Option<ScalarType>) -> u64 {
        let bits = ty.map_or(64, ScalarType::bits);
        let value = match operand {
            Operand::Reg(r) => self.reg(*r),
            Operand::NotPred(r) => self.reg(*r) ^ 1,
            Operand::RegPart { reg, part: Part::Lane(n), .. } => self.lane(*reg, usize::from(*n)),
            Operand::RegPart { reg, .. } => self.reg(*reg),
            Operand::Imm(imm) => {
                let value = imm.bits_for(ty);
                // Any nonzero integer is true.
                return if ty == Some(ScalarType::Pred) { u64::from(imm.bits != 0) } else { value };
            }
            Operand::Special(s) => self.host.special(*s),
            Operand::Symbol { symbol, offset } => self.address_of(*symbol).wrapping_add(*offset as u64),
            Operand::Address { base, offset } => self.address(*base, *offset),
            Operand::Vector(lanes) => {
                let each = (bits / lanes.len().max(1) as u32).max(1);
                let mut packed = 0;
                for (i, lane) in lanes.iter().enumerate() {
                    let lane = self.value(lane, None) & mask(each);
                    packed |= lane.checked_shl(each * i as u32).unwrap_or(0);
                }
                packed
            }
            Operand::Pair(_) | Operand::Texture(_) | Operand::Sink | Operand::Label(_) | Operand::Table(_) => 0,
        };
        value & mask(bits)
    }

    fn lane(&self, reg: RegId, lane: usize) -> u64 {
        let lanes = usize::from(self.frame().function.reg(reg).lanes);
        if lane < lanes {
            self.frame().regs[self.slot(reg) + lane]
        } else {
            0
        }
    }

    /// Writes the result of a modelled instruction; a vector destination is unpacked.
    pub(super) fn write(&mut self, operand: &Operand, ty: Option<ScalarType>, value: u64, second: u64) {
        match operand {
            Operand::Reg(r) => self.write_lane(*r, 0, value, ty),
            Operand::RegPart { reg, part: Part::Lane(n), .. } => self.write_lane(*reg, usize::from(*n), value, ty),
            Operand::Pair(pair) => {
                self.write(&pair[0], ty, value, 0);
                self.write(&pair[1], Some(ScalarType::Pred), second, 0);
            }
            Operand::Vector(lanes) => {
                let each = (ty.map_or(64, ScalarType::bits) / lanes.len().max(1) as u32).max(1);
                for (i, lane) in lanes.iter().enumerate() {
                    let part = value.checked_shr(each * i as u32).unwrap_or(0) & mask(each);
                    self.write(lane, None, part, 0);
                }
            }
            _ => {}
        }
    }

    fn step(&mut self, inst: &'m Inst) -> Step {
        if let Some(guard) = inst.guard {
            if (self.reg(guard.reg) & 1 == 1) == guard.negated {
                return Step::Next;
            }
        }
        if let Some(call) = &inst.call {
            return self.call(call);
        }
        let frame = self.frame();
        let function = frame.function;
        let op = &inst.op;
        match (op.opcode(), inst.operands.as_slice()) {
            ("bra", [Operand::Label(label)]) => return Step::Jump(function.labels[label.index()].stmt as usize),
            ("brx", [index, Operand::Table(table)]) => {
                let index = self.value(index, Some(ScalarType::U32));
                let labels = &function.tables[table.index()].labels;
                return match labels.get(index as usize) {
                    Some(label) => Step::Jump(function.labels[label.index()].stmt as usize),
                    None => Step::Stop(Outcome::BranchIndex { index, entries: labels.len() }),
                };
            }
            ("ret", _) => return Step::Return,
            ("exit", _) => return Step::Stop(Outcome::Exit),
            ("trap" | "brkpt", _) => return Step::Stop(Outcome::Trap),
            _ => {}
        }
        let roles = roles(inst, function);
        if is_barrier(op) {
            let inputs = self.inputs(inst, &roles);
            self.host.barrier(inst, &inputs);
        } else if is_plain_memory(op) {
            self.memory(inst, &roles);
        } else if is_modelled(op) {
            self.evaluate(inst, &roles);
        } else {
            self.unmodelled(inst, &roles);
        }
        Step::Next
    }

    fn evaluate(&mut self, inst: &Inst, roles: &Roles) {
        let sources = roles.operands.iter().zip(&inst.operands).skip(1);
        let inputs: Vec<u64> = sources.map(|(role, operand)| self.value(operand, role.ty)).collect();
        let result = evaluate(&inst.op, &inputs, self.carry).expect("the mnemonic is modelled");
        if let Some(carry) = result.carry {
            self.carry = carry;
        }
        if let (Some(role), Some(to)) = (roles.operands.first(), inst.operands.first()) {
            self.write(to, role.ty, result.value, result.second);
        }
    }

    /// `ld`, `ldu`, `st`, one access for each element.
    fn memory(&mut self, inst: &Inst, roles: &Roles) {
        let op = &inst.op;
        let ty = op.ty();
        let bytes = ty.map_or(0, ScalarType::bytes);
        let is_store = op.opcode() == "st";
        let (address, data) = if is_store { (0, 1) } else { (1, 0) };
        let (Some(address), Some(data)) = (inst.operands.get(address), inst.operands.get(data)) else { return };
        let start = self.value(address, None);
        let immutable = op.has("nc") || op.space() == Space::Const || op.opcode() == "ldu";
        let lanes = roles.operands.get(usize::from(is_store)).map_or(1, |r| usize::from(r.lanes));
        for lane in 0..lanes {
            let address = start.wrapping_add(lane as u64 * u64::from(bytes));
            let access = Access { space: op.space(), address, bytes, immutable, inst };
            let element = match data {
                Operand::Vector(elements) => &elements[lane],
                other => other,
            };
            if is_store {
                let value = match element {
                    Operand::Reg(r) if lanes > 1 && !matches!(data, Operand::Vector(_)) => self.lane(*r, lane),
                    _ => self.value(element, ty),
                };
                self.store(access, value & mask(8 * bytes));
            } else {
                let value = self.load(access) & mask(8 * bytes);
                match element {
                    Operand::Reg(r) if !matches!(data, Operand::Vector(_)) => self.write_lane(*r, lane, value, ty),
                    _ => self.write(element, ty, value, 0),
                }
            }
        }
    }

    fn load(&mut self, access: Access<'_>) -> u64 {
        if access.space != Space::Param {
            return self.host.load(access);
        }
        let frame = self.frame();
        let kernel_params = frame.function.params.last().map_or(0, |p| p.offset + p.bytes);
        if frame.function.is_entry && access.address < kernel_params {
            return self.host.param(access.address, access.bytes);
        }
        let byte = |i: u32| {
            let at = access.address.wrapping_add(u64::from(i));
            u64::from(frame.memory.get(&at).copied().unwrap_or(0)) << (8 * i)
        };
        (0..access.bytes).map(byte).sum()
    }

    fn store(&mut self, access: Access<'_>, value: u64) {
        if access.space != Space::Param {
            return self.host.store(access, value);
        }
        write_bytes(&mut self.frame_mut().memory, access.address, value, access.bytes);
    }

    /// The values of all operands that are read, see [`Host::effect`].
    fn inputs(&mut self, inst: &Inst, roles: &Roles) -> Vec<u64> {
        let mut out = Vec::new();
        for (role, operand) in roles.operands.iter().zip(&inst.operands) {
            if role.role != Role::Def {
                self.push_inputs(operand, role.ty, &mut out);
            }
        }
        out
    }

    fn push_inputs(&mut self, operand: &Operand, ty: Option<ScalarType>, out: &mut Vec<u64>) {
        match operand {
            Operand::Vector(lanes) => lanes.iter().for_each(|o| self.push_inputs(o, ty, out)),
            Operand::Pair(pair) => pair.iter().for_each(|o| self.push_inputs(o, ty, out)),
            Operand::Texture(t) => {
                for base in [Some(t.handle), t.sampler].into_iter().flatten() {
                    let value = self.address(base, 0);
                    out.push(value);
                }
                t.coords.iter().for_each(|o| self.push_inputs(o, None, out));
            }
            Operand::Sink | Operand::Label(_) | Operand::Table(_) => {}
            Operand::Address { .. } => {
                let value = self.value(operand, None);
                out.push(value);
            }
            Operand::Reg(r) if self.frame().function.reg(*r).lanes > 1 => {
                let slot = self.slot(*r);
                let lanes = usize::from(self.frame().function.reg(*r).lanes);
                out.extend_from_slice(&self.frame().regs[slot..slot + lanes]);
            }
            _ => {
                let value = self.value(operand, ty);
                out.push(value);
            }
        }
    }

    fn unmodelled(&mut self, inst: &Inst, roles: &Roles) {
        let inputs = self.inputs(inst, roles);
        self.host.effect(inst, &inputs);
        let mut index = 0;
        for (role, operand) in roles.operands.iter().zip(&inst.operands) {
            if matches!(role.role, Role::Def | Role::Both) {
                self.define(operand, inst, &inputs, &mut index);
            }
        }
    }

    fn define(&mut self, operand: &Operand, inst: &Inst, inputs: &[u64], index: &mut usize) {
        let mut targets: Vec<(RegId, usize)> = Vec::new();
        let function = self.frame().function;
        match operand {
            Operand::RegPart { reg, part: Part::Lane(n), .. } => targets.push((*reg, usize::from(*n))),
            _ => operand.for_each_reg(&mut |r| {
                targets.extend((0..usize::from(function.reg(r).lanes)).map(|lane| (r, lane)));
            }),
        }
        for (reg, lane) in targets {
            let bits = function.reg(reg).bits();
            let value = self.host.unmodelled(inst, inputs, *index, bits);
            self.write_lane(reg, lane, value, None);
            *index += 1;
        }
    }
}
