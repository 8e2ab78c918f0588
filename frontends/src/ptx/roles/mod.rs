//! What each operand of an instruction is for: defined, used, an address; its type and its width.
//!
//! The facts are rows of one table ([the row language](self)), found once for each distinct mnemonic. The width
//! of a register operand is the register's declared width, since PTX allows `ld.b8` into a `.b32` register;
//! where PTX does not allow a mismatch, [`check`] reports it.
//!
//! An opcode that the table lacks gets a conservative default: the first operand is a definition if it can be
//! one (register, vector, pair or `_`), every other register is a use, every address is read and written.
//! The result then carries a note, and the parser puts it among [`Module::notes`](super::ast::Module::notes).

mod rule;
mod table;

pub use rule::{rule_for, RuleId};

use super::ast::{AddressBase, Function, Inst, Operand, RegId};
use super::mnemonic::Mnemonic;
use super::types::{ScalarType, Space};
use rule::{Slot, SlotRole};
use smallvec::SmallVec;

/// What an address operand does to the memory it names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemAccess {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads and writes (atomics, barriers in memory).
    ReadWrite,
    /// Moves no data to or from the thread (prefetch, query).
    None,
}

/// What an instruction does with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Every register in the operand is defined.
    Def,
    /// Every register in the operand is used. A predicate use has type [`ScalarType::Pred`].
    Use,
    /// Defined, and the old value is used.
    Both,
    /// An address; its register is used.
    Address {
        /// State space.
        space: Space,
        /// What happens there.
        access: MemAccess,
        /// Bytes that one thread moves; 0 where the operand's form does not say.
        bytes: u32,
    },
    /// `[handle, {coordinates}]`; every register in it is used.
    Texture,
    /// An immediate that selects a behavior.
    Immediate,
    /// A label or a table of labels.
    Target,
}

/// Role, type and width of one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandRole {
    /// What it is for. In a pair `d|p` both halves have this role.
    pub role: Role,
    /// The type that the instruction gives one lane; `None` where only the registers say.
    pub ty: Option<ScalarType>,
    /// Width of one lane in bits: declared width for registers, else the type's. 1 for predicates.
    pub bits: u32,
    /// Lanes: elements of a vector operand, else 1.
    pub lanes: u16,
}

/// The roles of all operands of one instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Roles {
    /// One for each operand, in order. Empty for `call`, see [`super::ast::Call`].
    pub operands: SmallVec<[OperandRole; 4]>,
    /// Set if the opcode is not in the table and the conservative default was taken.
    pub note: Option<String>,
}

/// The roles of an instruction's operands.
#[must_use]
pub fn roles(inst: &Inst, function: &Function) -> Roles {
    if inst.call.is_some() {
        return Roles { operands: SmallVec::new(), note: None };
    }
    let n = inst.operands.len();
    let fits = |id: RuleId| {
        let (least, most) = rule::rule(id).counts();
        n >= least && most.is_none_or(|m| n <= m)
    };
    match inst.op.rule().filter(|id| fits(*id)) {
        Some(id) => Roles {
            operands: rule::rule(id)
                .assign(n)
                .zip(&inst.operands)
                .map(|(slot, operand)| resolve(slot, operand, &inst.op, function))
                .collect(),
            note: None,
        },
        None => Roles {
            operands: inst.operands.iter().enumerate().map(|(i, o)| default_role(i, o, function)).collect(),
            note: Some(unknown_note(&inst.op)),
        },
    }
}

/// What is said of a mnemonic that the table lacks.
#[must_use]
pub fn unknown_note(op: &Mnemonic) -> String {
    format!(
        "`{}` is not a known instruction: its first operand is taken as written, the others as read, memory as both",
        op.text()
    )
}

fn shape(operand: &Operand, ty: Option<ScalarType>, function: &Function) -> (u32, u16) {
    let of_type = ty.map_or(32, ScalarType::bits);
    match operand {
        Operand::Reg(r) | Operand::NotPred(r) => (function.reg(*r).bits(), function.reg(*r).lanes),
        Operand::RegPart { reg, .. } => (function.reg(*reg).bits(), 1),
        Operand::Pair(pair) => shape(&pair[0], ty, function),
        Operand::Vector(lanes) => {
            let declared = lanes.iter().filter_map(|o| match o {
                Operand::Reg(r) => Some(function.reg(*r).bits()),
                _ => None,
            });
            (declared.max().unwrap_or(of_type), lanes.len() as u16)
        }
        Operand::Special(s) if ty.is_none() => (s.bits(), 1),
        Operand::Address { base: AddressBase::Reg(r), .. } => (function.reg(*r).bits(), 1),
        Operand::Address { .. } | Operand::Symbol { .. } => (64, 1),
        _ => (of_type, 1),
    }
}

fn resolve(slot: &Slot, operand: &Operand, op: &Mnemonic, function: &Function) -> OperandRole {
    let ty = slot.ty.scalar(op);
    let (bits, lanes) = shape(operand, ty, function);
    let address = |access, space| Role::Address {
        space,
        access,
        bytes: ty.map_or(0, |t| t.bytes() * u32::from(slot.ty.lanes(op))),
    };
    let role = match (slot.role, operand) {
        (SlotRole::Address(access, space), _) => address(access, space.of(op)),
        // `any` slots of matrix instructions take a register or an address of tensor or shared memory.
        (SlotRole::Use, Operand::Address { .. }) => {
            let space = if op.opcode() == "tcgen05" { Space::Tensor } else { op.space() };
            address(MemAccess::Read, space)
        }
        (_, Operand::Texture(_)) | (SlotRole::Texture, _) => Role::Texture,
        (SlotRole::Def, Operand::RegPart { .. }) | (SlotRole::Both, _) => Role::Both,
        (SlotRole::Def, _) => Role::Def,
        (SlotRole::Use, _) => Role::Use,
        (SlotRole::Immediate, Operand::Imm(_)) => Role::Immediate,
        (SlotRole::Immediate, _) => Role::Use,
        (SlotRole::Label | SlotRole::Table, _) => Role::Target,
    };
    OperandRole { role, ty, bits, lanes }
}

fn default_role(index: usize, operand: &Operand, function: &Function) -> OperandRole {
    let (bits, lanes) = shape(operand, None, function);
    let role = match operand {
        Operand::Reg(_) | Operand::Vector(_) | Operand::Pair(_) | Operand::Sink if index == 0 => Role::Def,
        Operand::RegPart { .. } if index == 0 => Role::Both,
        Operand::Address { .. } => Role::Address { space: Space::Generic, access: MemAccess::ReadWrite, bytes: 0 },
        Operand::Texture(_) => Role::Texture,
        Operand::Label(_) | Operand::Table(_) => Role::Target,
        _ => Role::Use,
    };
    OperandRole { role, ty: None, bits, lanes }
}

/// Registers that an instruction defines and uses, each list in operand order, repeats kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefsUses {
    /// Defined registers. With a guard they keep their old value where the guard is false.
    pub defs: SmallVec<[RegId; 8]>,
    /// Used registers, the guard first.
    pub uses: SmallVec<[RegId; 8]>,
}

/// The registers that an instruction defines and uses, of calls too.
#[must_use]
pub fn defs_and_uses(inst: &Inst, function: &Function) -> DefsUses {
    let mut out = DefsUses::default();
    out.uses.extend(inst.guard.map(|g| g.reg));
    if let Some(call) = &inst.call {
        call.returns.iter().for_each(|o| o.for_each_reg(&mut |r| out.defs.push(r)));
        if let super::ast::CallTarget::Register(r) = call.target {
            out.uses.push(r);
        }
        call.args.iter().for_each(|o| o.for_each_reg(&mut |r| out.uses.push(r)));
        return out;
    }
    for (role, operand) in roles(inst, function).operands.iter().zip(&inst.operands) {
        operand.for_each_reg(&mut |r| {
            if matches!(role.role, Role::Def | Role::Both) {
                out.defs.push(r);
            }
            if role.role != Role::Def {
                out.uses.push(r);
            }
        });
    }
    out
}

/// A violation of the table: which operand (`None` for the count) and what is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Index of the operand; `None` if their number is wrong.
    pub operand: Option<usize>,
    /// What is wrong.
    pub message: String,
}

/// Checks operand count, operand kinds, vector lengths and, where PTX demands it, register widths.
///
/// # Errors
/// The first violation, in operand order.
pub fn check(inst: &Inst, function: &Function) -> Result<(), Violation> {
    let op = &inst.op;
    let Some(rule) = op.rule().map(rule::rule) else { return Ok(()) };
    let (least, most) = rule.counts();
    let n = inst.operands.len();
    if n < least || most.is_some_and(|m| n > m) {
        let expected = match most {
            Some(m) if m == least => format!("{least}"),
            Some(m) => format!("{least} to {m}"),
            None => format!("at least {least}"),
        };
        let message = format!("`{}` takes {expected} operands, here are {n}", op.text());
        return Err(Violation { operand: None, message });
    }
    for (i, (slot, operand)) in rule.assign(n).zip(&inst.operands).enumerate() {
        if let Err(message) = check_operand(slot, operand, rule.strict, op, function) {
            let message = format!("operand {} of `{}` {message}", i + 1, op.text());
            return Err(Violation { operand: Some(i), message });
        }
    }
    Ok(())
}

fn check_operand(slot: &Slot, operand: &Operand, strict: bool, op: &Mnemonic, f: &Function) -> Result<(), String> {
    use Operand as O;
    let ok = match slot.role {
        SlotRole::Def | SlotRole::Both => match operand {
            O::Reg(_) | O::RegPart { .. } | O::Sink | O::Vector(_) => true,
            O::Pair(_) => slot.pair,
            _ => false,
        },
        SlotRole::Use => !matches!(operand, O::Pair(_) | O::Label(_) | O::Table(_) | O::Texture(_)),
        // `a[4]` without brackets around it names an address, too.
        SlotRole::Address(..) => matches!(operand, O::Address { .. } | O::Symbol { .. }),
        SlotRole::Texture => matches!(operand, O::Texture(_) | O::Address { .. }),
        SlotRole::Immediate => matches!(operand, O::Imm(_) | O::Reg(_) | O::Vector(_)),
        SlotRole::Label => matches!(operand, O::Label(_)),
        SlotRole::Table => matches!(operand, O::Table(_)),
    };
    if !ok {
        let wanted = match slot.role {
            SlotRole::Def | SlotRole::Both => "must be a register, a vector of registers or `_`",
            SlotRole::Use => "must be a value",
            SlotRole::Address(..) => "must be an address in brackets",
            SlotRole::Texture => "must be `[handle, {coordinates}]`",
            SlotRole::Immediate => "must be an immediate",
            SlotRole::Label => "must be a label",
            SlotRole::Table => "must be a table of branch targets",
        };
        return Err(wanted.into());
    }
    let Some(ty) = slot.ty.scalar(op).filter(|_| !matches!(slot.role, SlotRole::Address(..))) else {
        return Ok(());
    };
    let first = match operand {
        O::Pair(pair) => {
            if let O::Reg(p) = &pair[1] {
                if !f.reg(*p).is_pred() {
                    return Err("must have a predicate after `|`".into());
                }
            }
            &pair[0]
        }
        other => other,
    };
    if let O::Vector(lanes) = first {
        return check_vector(lanes, slot, strict, ty, op, f);
    }
    let (O::Reg(r) | O::NotPred(r)) = first else { return Ok(()) };
    let reg = f.reg(*r);
    if reg.is_pred() != (ty == ScalarType::Pred) {
        let name = &reg.name;
        return Err(if reg.is_pred() {
            format!("is the predicate {name}, a {ty} value is expected")
        } else {
            format!("is {name} of type {}, a predicate is expected", reg.ty)
        });
    }
    let vector = matches!(slot.ty, rule::TypeSpec::Modifier { vector: true, .. });
    if vector && reg.lanes != slot.ty.lanes(op) && ty.bits() * u32::from(slot.ty.lanes(op)) != reg.bits() {
        return Err(format!("must be a vector of {} elements", slot.ty.lanes(op)));
    }
    if strict && reg.lanes == 1 && reg.bits() != ty.bits() {
        return Err(format!("is {} of type {}, {} bits are expected", reg.name, reg.ty, ty.bits()));
    }
    Ok(())
}

/// A memory form fixes the number of elements (`.v4`); a `mov` fixes their total width.
fn check_vector(
    lanes: &[Operand],
    slot: &Slot,
    strict: bool,
    ty: ScalarType,
    op: &Mnemonic,
    f: &Function,
) -> Result<(), String> {
    if matches!(slot.ty, rule::TypeSpec::Modifier { vector: true, .. }) {
        let n = usize::from(slot.ty.lanes(op));
        return if lanes.len() == n { Ok(()) } else { Err(format!("has {} elements, {n} are expected", lanes.len())) };
    }
    if strict {
        let width = |o: &Operand| if let Operand::Reg(r) = o { Some(f.reg(*r).bits()) } else { None };
        let each = lanes.iter().find_map(width);
        let total = each.map(|w| w * lanes.len() as u32);
        if total.is_some_and(|t| t != ty.bits()) || lanes.iter().any(|o| width(o).is_some_and(|w| Some(w) != each)) {
            return Err(format!("must have elements of one width, {} bits in all", ty.bits()));
        }
    }
    Ok(())
}
