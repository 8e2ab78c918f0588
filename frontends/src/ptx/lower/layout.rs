//! Where variables of a kernel are: shared memory, the local frame, the constant bank; and which functions it reaches.
//!
//! Shared variables that the kernel or a function it calls names are laid out in order of first mention, with their
//! alignment; what has no size (`extern .shared a[]`) starts where the others end, as the launch puts it. Local arrays
//! are laid out likewise from 0: their addresses count from the start of the frame, and a real program adds the stack
//! pointer, which costs no further register. Constant variables of the file are in bank 3, in order.

use super::super::ast::{AddressBase, CallTarget, FuncId, Inst, Module, Operand, Stmt, SymbolRef, Variable};
use super::super::types::Space;
use std::collections::HashMap;

/// Offsets of variables.
#[derive(Default)]
pub(super) struct Layout {
    at: HashMap<(u32, SymbolRef), u32>,
    /// Static shared memory, bytes.
    pub(super) shared: u32,
    /// Local frame, bytes.
    pub(super) frame: u32,
}

/// The functions with bodies that a kernel calls by name, itself first; and those that (also) call themselves.
pub(super) struct Reach {
    pub(super) functions: Vec<FuncId>,
    pub(super) recursive: Vec<FuncId>,
}

impl Reach {
    pub(super) fn new(module: &Module, kernel: FuncId) -> Self {
        let mut out = Reach { functions: vec![kernel], recursive: Vec::new() };
        let mut next = 0;
        while next < out.functions.len() {
            for callee in callees(module, out.functions[next]) {
                if !out.functions.contains(&callee) {
                    out.functions.push(callee);
                }
            }
            next += 1;
        }
        for &f in &out.functions {
            let mut seen = callees(module, f);
            let mut k = 0;
            while k < seen.len() {
                for c in callees(module, seen[k]) {
                    if !seen.contains(&c) {
                        seen.push(c);
                    }
                }
                k += 1;
            }
            if seen.contains(&f) {
                out.recursive.push(f);
            }
        }
        out
    }
}

fn callees(module: &Module, f: FuncId) -> Vec<FuncId> {
    let mut out = Vec::new();
    for inst in module.functions[f.index()].insts() {
        if let Some(CallTarget::Function(id)) = inst.call.as_ref().map(|c| c.target) {
            if module.functions[id.index()].body.is_some() && !out.contains(&id) {
                out.push(id);
            }
        }
    }
    out
}

fn align_up(x: u64, align: u32) -> u64 {
    let a = u64::from(align.max(1));
    x.div_ceil(a).saturating_mul(a)
}

fn symbols(inst: &Inst, visit: &mut impl FnMut(SymbolRef)) {
    fn operand(o: &Operand, visit: &mut impl FnMut(SymbolRef)) {
        match o {
            Operand::Symbol { symbol, .. } | Operand::Address { base: AddressBase::Symbol(symbol), .. } => {
                visit(*symbol)
            }
            Operand::Vector(v) => v.iter().for_each(|o| operand(o, visit)),
            Operand::Pair(p) => p.iter().for_each(|o| operand(o, visit)),
            _ => {}
        }
    }
    inst.operands.iter().for_each(|o| operand(o, visit));
    if let Some(c) = &inst.call {
        c.args.iter().for_each(|o| operand(o, visit));
    }
}

impl Layout {
    /// Lays out the variables that these functions name.
    ///
    /// # Errors
    /// The first variable that does not fit into 32 bits of its space, and its size.
    pub(super) fn new(module: &Module, functions: &[FuncId]) -> Result<Self, (Variable, u64)> {
        let mut out = Layout::default();
        let mut open = Vec::new();
        let mut constant = 0u64;
        for (k, v) in module.variables.iter().enumerate().filter(|x| x.1.space == Space::Const) {
            let at = align_up(constant, v.align);
            constant = at.saturating_add(v.bytes);
            let at = u32::try_from(at).map_err(|_| (v.clone(), constant))?;
            out.at.insert((u32::MAX, SymbolRef::Module(super::super::ast::VarId(k as u32))), at);
        }
        let (mut shared, mut frame) = (0u64, 0u64);
        for &id in functions {
            let f = &module.functions[id.index()];
            for inst in f.body.iter().flatten().filter_map(|s| if let Stmt::Inst(i) = s { Some(i) } else { None }) {
                let mut failed = None;
                symbols(inst, &mut |s| {
                    let (owner, v) = match s {
                        SymbolRef::Module(v) => (u32::MAX, &module.variables[v.index()]),
                        SymbolRef::Local(v) => (id.0, &f.variables[v.index()]),
                        _ => return,
                    };
                    if !matches!(v.space, Space::Shared | Space::SharedCluster | Space::Local)
                        || out.at.contains_key(&(owner, s))
                    {
                        return;
                    }
                    if v.is_unsized {
                        out.at.insert((owner, s), 0);
                        open.push((owner, s, v.align));
                        return;
                    }
                    let end = if v.space == Space::Local { &mut frame } else { &mut shared };
                    let at = align_up(*end, v.align);
                    *end = at.saturating_add(v.bytes);
                    match u32::try_from(*end) {
                        Ok(_) => drop(out.at.insert((owner, s), at as u32)),
                        Err(_) => failed = Some((v.clone(), *end)),
                    }
                });
                if let Some(e) = failed {
                    return Err(e);
                }
            }
        }
        for (owner, s, align) in open {
            let at = align_up(shared, align.max(16));
            out.at.insert((owner, s), at.min(u64::from(u32::MAX)) as u32);
        }
        out.shared = shared as u32;
        out.frame = align_up(frame, 8).min(u64::from(u32::MAX)) as u32;
        Ok(out)
    }

    /// Offset of a variable in its space; `None` for one of global memory.
    pub(super) fn offset(&self, f: FuncId, s: SymbolRef) -> Option<u32> {
        let owner = if matches!(s, SymbolRef::Module(_)) { u32::MAX } else { f.0 };
        self.at.get(&(owner, s)).copied()
    }
}
