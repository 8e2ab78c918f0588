//! From PTX to the IR: SSA construction and a light selection.
//!
//! Stages, each one file: [`layout`] (where variables are, which functions a kernel reaches) → [`cfg`] (blocks,
//! dominators) → [`ssa`] with [`select`] (SSA on 32-bit units, each PTX instruction becomes what the machine would run,
//! roughly) → [`emit`] (dead code, legal operands, the IR). `docs/ptx-selection.md` lists what becomes of each family.
//!
//! The result estimates what a compiler's register allocator would see; it is no code generator: addresses of local and
//! shared memory are offsets, generic addresses equal those of the space they point into, expansions of division and the
//! like are one instruction with the temporaries that the real one needs.

mod cfg;
mod emit;
mod flights;
mod joins;
mod layout;
mod mid;
mod select;
mod ssa;

use super::ast::{FuncId, Module, SymbolRef};
use super::error::{Note, PtxError};
use super::exec::models;
use cfg::Cfg;
use fatpoint_ir::{Function, RegClass};
use layout::{Layout, Reach};
use mid::MRegion;
use ssa::{units_of, Lower, MAX_PARAM_WORDS};

/// What of the target decides how PTX is lowered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LowerOptions {
    /// Offset of the first kernel parameter in constant bank 0, bytes.
    pub param_base: u32,
    /// Offset of `%ntid.x` in constant bank 0, bytes; `y` and `z` follow in steps of 4.
    pub ntid_offset: u32,
}

/// A kernel as IR.
#[derive(Clone, Debug)]
pub struct LoweredKernel {
    /// The program, canonical and not yet verified.
    pub func: Function,
    /// What was not understood or approximated, and how it was treated.
    pub notes: Vec<Note>,
    /// PTX instructions of the kernel and of the functions that it brings in.
    pub ptx_instructions: u32,
    /// Those of them whose result the interpreter computes as PTX does.
    pub modelled: u32,
}

/// A kernel that could not be lowered.
#[derive(Clone, Debug)]
pub struct LowerFailure {
    /// Its name.
    pub name: String,
    /// Why.
    pub errors: Vec<PtxError>,
}

/// Lowers every kernel of the module, in order.
pub fn lower(module: &Module, options: &LowerOptions) -> Vec<Result<LoweredKernel, LowerFailure>> {
    kernels(module).map(|k| lower_kernel(module, k, options, false)).collect()
}

/// As [`lower`], with the *origin* of each instruction in place of its line: [`origin`] of the PTX statement that it
/// comes from. For comparing runs of both forms.
pub fn lower_with_origins(module: &Module, options: &LowerOptions) -> Vec<Result<LoweredKernel, LowerFailure>> {
    kernels(module).map(|k| lower_kernel(module, k, options, true)).collect()
}

/// Number of a statement: function and index in its body.
#[must_use]
pub fn origin(function: FuncId, stmt: usize) -> u32 {
    (function.0 << 20 | stmt as u32) + 1
}

/// Offset of a variable of shared, local or constant memory in its space, as lowering `kernel` lays it out. `function` is
/// the one that names it.
#[must_use]
pub fn variable_offset(module: &Module, kernel: FuncId, function: FuncId, symbol: SymbolRef) -> Option<u32> {
    Layout::new(module, &Reach::new(module, kernel).functions).ok()?.offset(function, symbol)
}

fn kernels(module: &Module) -> impl Iterator<Item = FuncId> + '_ {
    module.functions.iter().enumerate().filter(|f| f.1.is_entry && f.1.body.is_some()).map(|f| FuncId(f.0 as u32))
}

fn lower_kernel(
    module: &Module,
    kernel: FuncId,
    options: &LowerOptions,
    trace: bool,
) -> Result<LoweredKernel, LowerFailure> {
    let f = &module.functions[kernel.index()];
    let failed = |errors| LowerFailure { name: f.name.clone(), errors };
    let error = |message: String| {
        let (span, line) = (f.span, f.line);
        vec![PtxError { message, span, line, column: 1, hint: None }]
    };
    let reach = Reach::new(module, kernel);
    let layout = Layout::new(module, &reach.functions).map_err(|(v, bytes)| {
        failed(error(format!("variable `{}` ends at byte {bytes} of its space, which has 32-bit addresses", v.name)))
    })?;
    let (shared, frame) = (layout.shared, layout.frame);
    let mut l = Lower::new(module, kernel, *options, trace, layout);
    l.regions.push(MRegion { name: f.name.clone(), params: Vec::new(), results: Vec::new() });
    // Regions first: calls need to know them.
    for &id in reach.functions.iter().skip(1).filter(|id| !reach.recursive.contains(id)) {
        let g = &module.functions[id.index()];
        if let Some(p) = g.params.iter().chain(&g.returns).find(|p| p.bytes > 4 * MAX_PARAM_WORDS) {
            let message = format!("`{}` of `{}` has {} bytes, more than registers can hold", p.name, g.name, p.bytes);
            return Err(failed(vec![PtxError { message, span: p.span, line: g.line, column: 1, hint: None }]));
        }
        let shape = |p: &super::ast::Param| -> (RegClass, u32) {
            match p.reg {
                Some(r) => (if g.reg(r).is_pred() { RegClass::P } else { RegClass::R }, units_of(g, r)),
                None => (RegClass::R, p.bytes.div_ceil(4) as u32),
            }
        };
        let params = g.params.iter().map(shape).flat_map(|(c, n)| (0..n).map(move |_| (c, 1))).collect();
        let results = g.returns.iter().map(shape).filter(|r| r.1 > 0).collect();
        l.region_of.insert(id, l.regions.len());
        l.regions.push(MRegion { name: g.name.clone(), params, results });
    }
    let mut cfgs: Vec<(usize, Cfg)> = Vec::new();
    let mut order = Vec::new();
    for &id in &reach.functions {
        let region = if id == kernel { Some(0) } else { l.region_of.get(&id).copied() };
        let Some(region) = region else { continue };
        let (base, cfg) = l.function(id, region);
        let mut reachable: Vec<usize> = cfg.rpo.iter().map(|&b| base + b as usize).collect();
        // Laid out as the text has them.
        reachable.sort_unstable();
        order.push(reachable);
        cfgs.push((base, cfg));
    }
    if !l.errors.is_empty() {
        return Err(failed(std::mem::take(&mut l.errors)));
    }
    if let Some(line) = l.wait_for_fragments(&cfgs) {
        let message =
            "fragments of a warp-group product are in flight around a loop: a wait is added before it goes round";
        l.notes.push(Note { message: message.into(), span: f.span, line });
    }
    l.remove_trivial_joins(&cfgs);
    let mut func = match emit::emit(&l, &f.name, &order, !trace) {
        Ok(done) => done.func,
        Err(e) => return Err(failed(error(format!("`{}` has no canonical form: {e}", f.name)))),
    };
    let d = &f.directives;
    let a = &mut func.attrs;
    (a.maxntid, a.reqntid, a.minnctapersm, a.maxnreg) = (d.maxntid, d.reqntid, d.minnctapersm, d.maxnreg);
    (a.static_smem, a.stack_frame, a.barriers) = (shared, frame, l.barriers);
    a.target = module.target.first().cloned();
    let lowered = reach.functions.iter().map(|id| &module.functions[id.index()]);
    let insts = lowered.flat_map(|g| g.insts());
    let (mut ptx_instructions, mut modelled) = (0, 0);
    for i in insts {
        ptx_instructions += 1;
        modelled += u32::from(models(i));
    }
    Ok(LoweredKernel { func, notes: l.notes, ptx_instructions, modelled })
}
