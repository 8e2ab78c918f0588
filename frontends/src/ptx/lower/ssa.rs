//! SSA construction on 32-bit units, with selection on the way.
//!
//! A *variable* is one unit of a register, the carry flag, or one word of `.param` memory of a call. Joins get a
//! parameter for a variable where two of its definitions meet (Cytron et al., "Efficiently Computing Static Single
//! Assignment Form", 1991), only for variables that are read before they are written in some block; then blocks are
//! visited down the dominator tree, each instruction selected with what its variables hold. Joins are placed before
//! selection, and not on demand (Braun et al. 2013), so that selection in a loop sees a value that the loop does not
//! change as what it is: a constant stays foldable there.

use super::super::ast::{FuncId, Function, Inst, Module, Operand, Param, RegId, Stmt, SymbolRef};
use super::super::error::{Note, PtxError, Span};
use super::super::roles::defs_and_uses;
use super::super::types::Space;
use super::cfg::{Cfg, End};
use super::layout::Layout;
use super::mid::*;
use super::LowerOptions;
use fatpoint_ir::opcodes::props;
use fatpoint_ir::{OpProps, RegClass};
use std::collections::{BTreeSet, HashMap};

/// A variable: see the head of the file.
pub(super) type Var = u32;

/// Where the variables of one function are.
#[derive(Default)]
pub(super) struct Vars {
    regs: Vec<Var>,
    pub(super) carry: Var,
    locals: Vec<Option<(Var, u32)>>,
    params: Vec<Var>,
    returns: Vec<Var>,
    classes: Vec<RegClass>,
    /// Register and unit within it, of variables that are registers.
    owner: Vec<(u32, u8)>,
}

/// Largest `.param` variable that is kept in registers, in words.
pub(super) const MAX_PARAM_WORDS: u64 = 64;

/// Units of a register.
pub(super) fn units_of(f: &Function, r: RegId) -> u32 {
    let d = f.reg(r);
    if d.is_pred() {
        u32::from(d.lanes)
    } else {
        d.bits().div_ceil(32).max(1) * u32::from(d.lanes)
    }
}

fn words(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}

impl Vars {
    fn new(f: &Function, is_kernel: bool) -> Self {
        let mut v = Vars::default();
        for (k, d) in f.regs.iter().enumerate() {
            v.regs.push(v.classes.len() as u32);
            let class = if d.is_pred() { RegClass::P } else { RegClass::R };
            for u in 0..units_of(f, RegId(k as u32)) {
                v.classes.push(class);
                v.owner.push((k as u32, u as u8));
            }
        }
        v.carry = v.push(RegClass::P, 1);
        for x in &f.variables {
            let n = words(x.bytes);
            let at = (x.space == Space::Param && n <= MAX_PARAM_WORDS).then(|| (v.push(RegClass::R, n), n as u32));
            v.locals.push(at);
        }
        if !is_kernel {
            for p in &f.params {
                let at = v.push(RegClass::R, if p.is_reg { 0 } else { words(p.bytes) });
                v.params.push(at);
            }
            for p in &f.returns {
                let at = v.push(RegClass::R, if p.is_reg { 0 } else { words(p.bytes) });
                v.returns.push(at);
            }
        }
        v
    }

    fn push(&mut self, class: RegClass, n: u64) -> Var {
        let at = self.classes.len() as u32;
        for _ in 0..n {
            self.classes.push(class);
            self.owner.push((u32::MAX, 0));
        }
        at
    }

    /// First variable of a register.
    pub(super) fn reg(&self, r: RegId) -> Var {
        self.regs[r.index()]
    }

    pub(super) fn class(&self, v: Var) -> RegClass {
        self.classes[v as usize]
    }

    /// The variable that holds the first word of a `.param` symbol, and how many words there are.
    pub(super) fn param_symbol(&self, f: &Function, s: SymbolRef) -> Option<(Var, u32)> {
        match s {
            SymbolRef::Local(v) => self.locals[v.index()],
            SymbolRef::Param(n) => Some((*self.params.get(n as usize)?, words(f.params[n as usize].bytes) as u32)),
            SymbolRef::Return(n) => Some((*self.returns.get(n as usize)?, words(f.returns[n as usize].bytes) as u32)),
            _ => None,
        }
    }
}

/// State of lowering one kernel.
pub(super) struct Lower<'m> {
    pub(super) module: &'m Module,
    pub(super) options: LowerOptions,
    /// Number instructions instead of giving their lines.
    trace: bool,
    pub(super) ops: Vec<(String, OpProps)>,
    op_ids: HashMap<String, u32>,
    pub(super) insts: Vec<MInst>,
    pub(super) vals: Vec<ValInfo>,
    pub(super) blocks: Vec<MBlock>,
    pub(super) regions: Vec<MRegion>,
    pub(super) region_of: HashMap<FuncId, usize>,
    pub(super) names: Vec<String>,
    pub(super) forward: Vec<Option<Src>>,
    pub(super) layout: Layout,
    pub(super) notes: Vec<Note>,
    pub(super) errors: Vec<PtxError>,
    noted: BTreeSet<String>,
    /// Named barriers that are used: number of the highest + 1, and whether a number is not known.
    pub(super) barriers: u32,
    /// The function that is being lowered.
    pub(super) f: &'m Function,
    pub(super) f_id: FuncId,
    pub(super) vars: Vars,
    pub(super) state: Vec<Src>,
    undo: Vec<(Var, Src)>,
    name_base: u32,
    pub(super) block: usize,
    /// Line of the instruction that is being lowered, or its number where that is asked for.
    pub(super) line: u32,
    pub(super) writes: Vec<(Var, Src)>,
}

impl<'m> Lower<'m> {
    pub(super) fn new(module: &'m Module, kernel: FuncId, options: LowerOptions, trace: bool, layout: Layout) -> Self {
        let f = &module.functions[kernel.index()];
        Self {
            module,
            options,
            trace,
            ops: Vec::new(),
            op_ids: HashMap::new(),
            insts: Vec::new(),
            vals: Vec::new(),
            blocks: Vec::new(),
            regions: Vec::new(),
            region_of: HashMap::new(),
            names: Vec::new(),
            forward: Vec::new(),
            layout,
            notes: Vec::new(),
            errors: Vec::new(),
            noted: BTreeSet::new(),
            barriers: 0,
            f,
            f_id: kernel,
            vars: Vars::default(),
            state: Vec::new(),
            undo: Vec::new(),
            name_base: 0,
            block: 0,
            line: 0,
            writes: Vec::new(),
        }
    }

    pub(super) fn is_kernel(&self) -> bool {
        self.f.is_entry
    }

    pub(super) fn op(&mut self, name: &str) -> u32 {
        if let Some(&k) = self.op_ids.get(name) {
            return k;
        }
        let k = self.ops.len() as u32;
        self.ops.push((name.to_string(), props(name)));
        self.op_ids.insert(name.to_string(), k);
        k
    }

    /// Says something once for each kind of thing.
    pub(super) fn note(&mut self, inst: &Inst, message: String) {
        if self.noted.insert(message.clone()) {
            self.notes.push(Note { message, span: inst.span, line: inst.line });
        }
    }

    pub(super) fn error(&mut self, span: Span, line: u32, message: String, hint: &str) {
        if self.errors.len() < 20 {
            let hint = (!hint.is_empty()).then(|| hint.to_string());
            self.errors.push(PtxError { message, span, line, column: 1, hint });
        }
    }

    pub(super) fn set(&mut self, v: Var, s: Src) {
        let old = std::mem::replace(&mut self.state[v as usize], s);
        self.undo.push((v, old));
    }

    fn new_val(&mut self, class: RegClass, from: From, name: u32) -> Val {
        let v = Val(self.vals.len() as u32);
        self.vals.push(ValInfo { class, from, block: self.block as u32, name });
        self.forward.push(None);
        v
    }

    /// The values of a definition that is being made, of instruction `inst`, whose lanes start at `lane`.
    pub(super) fn def_vals(&mut self, class: RegClass, len: u32, inst: u32, lane: u32) -> Val {
        let first = Val(self.vals.len() as u32);
        for k in 0..len {
            self.new_val(class, From::Inst(inst, lane + k), u32::MAX);
        }
        first
    }

    /// Lowers a function into the region of that number.
    pub(super) fn function(&mut self, id: FuncId, region: usize) -> (usize, Cfg) {
        let module = self.module;
        let f = &module.functions[id.index()];
        (self.f, self.f_id) = (f, id);
        self.vars = Vars::new(f, f.is_entry);
        self.state = vec![Src::Undef; self.vars.classes.len()];
        self.undo.clear();
        self.name_base = self.names.len() as u32;
        self.names.extend(f.regs.iter().map(|r| r.name.trim_start_matches('%').to_string()));
        // `.param` memory starts as zero.
        let carry = self.vars.carry as usize;
        self.state[carry..].fill(Src::ZERO);
        let cfg = Cfg::new(f, f.is_entry);
        let base = self.blocks.len();
        for b in &cfg.blocks {
            self.blocks.push(MBlock {
                name: if region == 0 { b.name.clone() } else { format!("{}_{}", f.name, b.name) },
                region,
                params: Vec::new(),
                insts: Vec::new(),
                term: MTerm::Exit,
                succs: Vec::new(),
                line: 0,
            });
        }
        self.block = base;
        if !f.is_entry {
            self.entry_params();
        }
        let joins = self.place_joins(&cfg, base);
        self.visit(&cfg, base, &joins);
        for &stmt in cfg.unreachable.iter().take(1) {
            if let Some(Stmt::Inst(inst)) = f.body.as_ref().and_then(|b| b.get(stmt as usize)) {
                let n = cfg.unreachable.len();
                self.note(inst, format!("{n} instructions of `{}` cannot be reached and are left out", f.name));
            }
        }
        (base, cfg)
    }

    fn entry_params(&mut self) {
        let f = self.f;
        for (k, p) in f.params.iter().enumerate() {
            let (first, n) = match p.reg {
                Some(r) => (self.vars.reg(r), units_of(f, r)),
                None => (self.vars.params[k], words(p.bytes) as u32),
            };
            for u in 0..n {
                let class = self.vars.class(first + u);
                let v = self.new_val(class, From::Param(self.block as u32), u32::MAX);
                self.blocks[self.block].params.push(v);
                self.state[(first + u) as usize] = Src::Val(v);
            }
        }
    }

    /// Calls `visit` with every variable that an instruction writes.
    fn for_each_written(&self, inst: &Inst, mut visit: impl FnMut(Var)) {
        let f = self.f;
        for r in defs_and_uses(inst, f).defs {
            let first = self.vars.reg(r);
            (0..units_of(f, r)).for_each(|u| visit(first + u));
        }
        if inst.op.has("cc") {
            visit(self.vars.carry);
        }
        let symbols = match &inst.call {
            Some(c) => c.returns.iter().collect(),
            None if inst.op.opcode() == "st" && inst.op.space() == Space::Param => {
                inst.operands.iter().take(1).collect()
            }
            None => Vec::new(),
        };
        for o in symbols {
            let symbol = match o {
                Operand::Symbol { symbol, .. } => *symbol,
                Operand::Address { base: super::super::ast::AddressBase::Symbol(s), .. } => *s,
                _ => continue,
            };
            if let Some((first, n)) = self.vars.param_symbol(f, symbol) {
                (0..n).for_each(|u| visit(first + u));
            }
        }
    }

    /// Where variables meet: for each block its joins.
    fn place_joins(&mut self, cfg: &Cfg, base: usize) -> Vec<Vec<(Var, Val)>> {
        let f = self.f;
        let body = f.body.as_deref().unwrap_or(&[]);
        let n = self.vars.classes.len();
        let first_param = self.vars.carry as usize;
        // Variables that some block reads before it writes them; `.param` words and the carry always.
        let mut across = vec![false; n];
        across[first_param..].fill(true);
        let mut defs: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut written_in = vec![u32::MAX; n];
        for &b in &cfg.rpo {
            let block = &cfg.blocks[b as usize];
            let mut use_reg = |r: RegId, written_in: &[u32]| {
                let first = self.vars.reg(r);
                for u in 0..units_of(f, r) {
                    let v = (first + u) as usize;
                    across[v] |= written_in[v] != b;
                }
            };
            for &s in &block.stmts {
                let Stmt::Inst(inst) = &body[s as usize] else { continue };
                let du = defs_and_uses(inst, f);
                du.uses.iter().for_each(|&r| use_reg(r, &written_in));
                if inst.guard.is_some() && !block.guards_hold {
                    du.defs.iter().for_each(|&r| use_reg(r, &written_in));
                }
                self.for_each_written(inst, |v| {
                    if written_in[v as usize] != b {
                        written_in[v as usize] = b;
                        defs[v as usize].push(b);
                    }
                });
            }
            match &block.end {
                End::Branch { pred, .. } | End::ExitIf { pred, .. } => use_reg(*pred, &written_in),
                End::Switch(s, _) => {
                    if let Stmt::Inst(inst) = &body[*s as usize] {
                        defs_and_uses(inst, f).uses.iter().for_each(|&r| use_reg(r, &written_in));
                    }
                }
                End::Return => {
                    f.returns.iter().filter_map(|p| p.reg).for_each(|r| use_reg(r, &written_in));
                }
                End::Jump(_) | End::Exit => {}
            }
        }
        let mut joins: Vec<Vec<(Var, Val)>> = vec![Vec::new(); cfg.blocks.len()];
        let mut mark = vec![u32::MAX; cfg.blocks.len()];
        let mut at = Vec::new();
        for v in 0..n {
            if !across[v] || defs[v].is_empty() {
                continue;
            }
            cfg.joins(&defs[v], &mut mark, v as u32, &mut at);
            for &b in &at {
                self.block = base + b as usize;
                let val = self.new_val(self.vars.classes[v], From::Param(self.block as u32), self.name_of(v as u32));
                joins[b as usize].push((v as u32, val));
                self.blocks[base + b as usize].params.push(val);
            }
        }
        joins
    }

    /// Name of the register behind a variable.
    pub(super) fn name_of(&self, v: Var) -> u32 {
        match self.vars.owner[v as usize] {
            (u32::MAX, _) => u32::MAX,
            (r, _) => self.name_base + r,
        }
    }

    fn visit(&mut self, cfg: &Cfg, base: usize, joins: &[Vec<(Var, Val)>]) {
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); cfg.blocks.len()];
        for &b in cfg.rpo.iter().skip(1).rev() {
            children[cfg.idom[b as usize] as usize].push(b);
        }
        // A block, or the length of the undo log to go back to.
        enum Task {
            Enter(u32),
            Back(usize),
        }
        let mut stack = vec![Task::Enter(0)];
        while let Some(task) = stack.pop() {
            match task {
                Task::Back(to) => {
                    while self.undo.len() > to {
                        let (v, s) = self.undo.pop().expect("longer than `to`");
                        self.state[v as usize] = s;
                    }
                }
                Task::Enter(b) => {
                    stack.push(Task::Back(self.undo.len()));
                    self.enter(cfg, base, joins, b);
                    stack.extend(children[b as usize].iter().map(|&c| Task::Enter(c)));
                }
            }
        }
    }

    fn enter(&mut self, cfg: &Cfg, base: usize, joins: &[Vec<(Var, Val)>], b: u32) {
        let f = self.f;
        let body = f.body.as_deref().unwrap_or(&[]);
        self.block = base + b as usize;
        for &(v, val) in &joins[b as usize] {
            self.set(v, Src::Val(val));
        }
        let block = &cfg.blocks[b as usize];
        for &s in &block.stmts {
            let Stmt::Inst(inst) = &body[s as usize] else { continue };
            self.set_line(inst, s);
            self.instruction(inst, block.guards_hold);
        }
        let of = |s: u32| match &body[s as usize] {
            Stmt::Inst(i) => i,
            _ => unreachable!("a block ends in an instruction"),
        };
        let term = match &block.end {
            End::Jump(_) => MTerm::Jump,
            End::Branch { pred, negated, stmt, .. } => {
                self.set_line(of(*stmt), *stmt);
                MTerm::Branch(self.state[self.vars.reg(*pred) as usize], *negated)
            }
            End::ExitIf { pred, negated, stmt, .. } => {
                self.set_line(of(*stmt), *stmt);
                MTerm::ExitIf(self.state[self.vars.reg(*pred) as usize], *negated)
            }
            End::Switch(stmt, _) => {
                let inst = of(*stmt);
                self.set_line(inst, *stmt);
                MTerm::Switch(self.source(&inst.operands[0], None)[0])
            }
            End::Exit => MTerm::Exit,
            End::Return => {
                let results = f.returns.iter().enumerate().map(|(k, p)| self.result(k, p)).collect();
                MTerm::Return(results)
            }
        };
        let succs = block.end.successors();
        let args = succs
            .iter()
            .map(|&t| {
                let args = joins[t as usize].iter().map(|&(v, _)| self.state[v as usize]).collect();
                (base + t as usize, args)
            })
            .collect();
        let line = self.line;
        let mb = &mut self.blocks[base + b as usize];
        (mb.term, mb.succs, mb.line) = (term, args, line);
    }

    fn result(&self, k: usize, p: &Param) -> (RegClass, Units) {
        let (first, n) = match p.reg {
            Some(r) => (self.vars.reg(r), units_of(self.f, r)),
            None => (self.vars.returns[k], words(p.bytes) as u32),
        };
        (self.vars.class(first), (first..first + n).map(|v| self.state[v as usize]).collect())
    }

    fn set_line(&mut self, inst: &Inst, stmt: u32) {
        self.line = match self.trace {
            false => inst.line,
            true => super::origin(self.f_id, stmt as usize),
        };
    }
}
