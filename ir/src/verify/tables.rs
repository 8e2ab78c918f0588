//! V1 to V5: the numbering. Nothing here trusts an index before it is checked, and later rules trust all of them.

use super::error::{within, Errors, Place, Rule};
use crate::entity::EntityId;
use crate::function::{Block, Edge, Function, Inst, Symbol, Value, ValueDef, PARAM_BIT};
use crate::operand::{Operand, OperandKind};

/// Checks the rules; with an error, nothing else can be checked.
pub(super) fn check(f: &Function, errors: &mut Errors<'_>) {
    indices(f, errors);
    if errors.is_empty() {
        blocks(f, errors);
        edges(f, errors);
        regions(f, errors);
    }
    if errors.is_empty() {
        values(f, errors);
    }
}

/// True when `n` items from `first` are among `len`.
fn span(first: u32, n: usize, len: usize) -> bool {
    first as usize + n <= len
}

fn symbol(f: &Function, s: Symbol) -> bool {
    within(s, f.symbols.len())
}

/// V1.
fn indices(f: &Function, errors: &mut Errors<'_>) {
    let mut table = |what: &str, found: usize, want: usize| {
        if found != want {
            errors.raw(Rule::V1, Place::Function, || format!("there are {found} {what}, not {want}"));
        }
    };
    table("source lines", f.lines.len(), f.insts.len());
    table("starts of predecessor lists", f.pred_start.len(), f.blocks.len() + 1);
    table("predecessors", f.preds.len(), f.edges.len());
    table("blocks of the layout", f.layout.len(), f.blocks.len());
    if !f.names.is_empty() {
        table("names of values", f.names.len(), f.values.len());
    }
    if f.blocks.is_empty() || f.regions.is_empty() {
        errors.raw(Rule::V1, Place::Function, || "there is no block or no region".into());
    }
    if f.values.len().max(f.insts.len()).max(f.blocks.len()) >= PARAM_BIT as usize {
        errors.raw(Rule::V1, Place::Function, || "there are too many values, instructions or blocks".into());
    }
    for (v, &s) in f.names.iter() {
        if !s.is_none() && !symbol(f, s) {
            errors.raw(Rule::V1, Place::Value(v), || format!("its name {s} does not exist"));
        }
    }
    for (k, l) in f.lanes.iter().enumerate() {
        if l.value().is_some_and(|v| !within(v, f.values.len())) {
            errors.raw(Rule::V1, Place::Function, || format!("lane {k} of the pool is {l:?}, which does not exist"));
        }
    }
    for (k, &o) in f.operands.iter().enumerate() {
        if let Some(why) = operand(f, o) {
            errors.raw(Rule::V1, Place::Function, || format!("operand {k} of the arena: {why}"));
        }
    }
    let operands = f.operands.len();
    for (i, d) in f.insts.iter() {
        if d.op.index() >= f.ops.len() {
            errors.raw(Rule::V1, Place::Inst(i), || format!("its opcode {} does not exist", d.op));
        }
        if !span(d.first_operand, d.num_operands as usize, operands) || d.num_defs > d.num_operands {
            errors.raw(Rule::V1, Place::Inst(i), || {
                format!("{} operands from {}, of which {} definitions", d.num_operands, d.first_operand, d.num_defs)
            });
        }
    }
    for (b, d) in f.blocks.iter() {
        if !symbol(f, d.name) {
            errors.raw(Rule::V1, Place::Block(b), || format!("its name {} does not exist", d.name));
        }
        if !span(d.first_param_operand, d.num_param_operands as usize, operands) {
            errors.raw(Rule::V1, Place::Block(b), || "its parameters are not in the arena".into());
        }
    }
    for (e, d) in f.edges.iter() {
        if !within(d.from, f.blocks.len()) || !within(d.to, f.blocks.len()) {
            errors.raw(Rule::V1, Place::Edge(e), || format!("it leads from {} to {}", d.from, d.to));
        }
        if !span(d.first_arg, d.num_args as usize, f.lanes.len()) {
            errors.raw(Rule::V1, Place::Edge(e), || "its arguments are not in the pool".into());
        }
    }
    for (r, d) in f.regions.iter() {
        if !symbol(f, d.name) || !within(d.entry, f.blocks.len()) {
            errors.raw(Rule::V1, Place::Region(r), || "its name or its entry does not exist".into());
        }
    }
}

/// What an operand word refers to and is not there.
fn operand(f: &Function, o: Operand) -> Option<String> {
    let ok = match o.kind() {
        OperandKind::Run => span(o.payload(), o.len(), f.values.len()),
        OperandKind::Lanes => span(o.payload(), o.len(), f.lanes.len()),
        OperandKind::WideImm => (o.payload() as usize) < f.wide_imms.len(),
        OperandKind::Special | OperandKind::Symbol => symbol(f, Symbol(o.payload())),
        // Whether a region exists is V17: a text can name one that does not.
        OperandKind::Undef | OperandKind::Imm | OperandKind::Const | OperandKind::Region => true,
    };
    if !ok {
        return Some(format!("{o:?} refers to what does not exist"));
    }
    (!o.is_register() && !o.is_empty()).then(|| format!("{o:?} is no register and has lanes"))
}

/// V2.
fn blocks(f: &Function, errors: &mut Errors<'_>) {
    let mut next = 0;
    for (b, d) in f.blocks.iter() {
        if d.first_inst != next || d.end_inst <= d.first_inst || d.end_inst as usize > f.insts.len() {
            errors.raw(Rule::V2, Place::Block(b), || {
                format!("it has the instructions {}..{}, but {next} is next", d.first_inst, d.end_inst)
            });
        }
        next = d.end_inst;
    }
    if errors.is_empty() && next as usize != f.insts.len() {
        errors.raw(Rule::V2, Place::Inst(Inst(next)), || "it belongs to no block".into());
    }
    let mut seen = vec![false; f.blocks.len()];
    for &b in &f.layout {
        if !within(b, seen.len()) || std::mem::replace(&mut seen[b.index()], true) {
            errors.raw(Rule::V2, Place::Block(b), || "it does not stand once in the layout".into());
        }
    }
}

/// V3.
fn edges(f: &Function, errors: &mut Errors<'_>) {
    let mut next = 0;
    for (b, d) in f.blocks.iter() {
        let sound = d.first_edge == next && d.end_edge >= next && d.end_edge as usize <= f.edges.len();
        if !sound || (d.first_edge..d.end_edge).any(|e| f.edges[Edge(e)].from != b) {
            errors.raw(Rule::V3, Place::Block(b), || {
                format!("it has the edges {}..{}, but {next} is next, or they are another's", d.first_edge, d.end_edge)
            });
        }
        next = d.end_edge;
    }
    if next as usize != f.edges.len() {
        errors.raw(Rule::V3, Place::Function, || format!("{next} of {} edges belong to blocks", f.edges.len()));
    }
    // Lists of predecessors: counted, then walked by edge number.
    let n = f.blocks.len();
    let mut start = vec![0u32; n + 1];
    for d in f.edges.values() {
        start[d.to.index() + 1] += 1;
    }
    for k in 0..n {
        start[k + 1] += start[k];
    }
    if start != f.pred_start {
        errors.raw(Rule::V3, Place::Function, || "the predecessor lists do not begin where the edges say".into());
        return;
    }
    for (e, d) in f.edges.iter() {
        let at = &mut start[d.to.index()];
        if f.preds[*at as usize] != e {
            errors.raw(Rule::V3, Place::Edge(e), || format!("it is not in its place among those into {}", d.to));
        }
        *at += 1;
    }
}

/// V4.
fn regions(f: &Function, errors: &mut Errors<'_>) {
    let mut next = 0;
    for (r, d) in f.regions.iter() {
        if d.entry.0 != next || d.end_block <= next || d.end_block as usize > f.blocks.len() {
            errors.raw(Rule::V4, Place::Region(r), || {
                format!("it has the blocks {}..{}, but {next} is next", d.entry.0, d.end_block)
            });
            return;
        }
        for b in (next..d.end_block).map(Block).filter(|&b| f.blocks[b].region != r) {
            errors.raw(Rule::V4, Place::Block(b), || format!("it says that it is of {}, not {r}", f.blocks[b].region));
        }
        next = d.end_block;
    }
    if next as usize != f.blocks.len() {
        errors.raw(Rule::V4, Place::Block(Block(next)), || "it belongs to no region".into());
    }
    if !errors.is_empty() {
        return;
    }
    let mut seen = vec![false; f.regions.len()];
    for &b in &f.layout {
        let r = f.blocks[b].region;
        if !std::mem::replace(&mut seen[r.index()], true) && f.regions[r].entry != b {
            errors.raw(Rule::V4, Place::Block(b), || format!("the layout has it before the entry of its region {r}"));
        }
    }
}

/// V5.
fn values(f: &Function, errors: &mut Errors<'_>) {
    let mut next = 0u32;
    let define = |o: Operand, def: ValueDef, next: &mut u32| -> bool {
        let ok = o.kind() == OperandKind::Run
            && o.payload() == *next
            && (0..o.len() as u32).all(|k| f.def(Value(*next + k)) == def);
        *next += o.len() as u32;
        ok
    };
    for (b, d) in f.blocks.iter() {
        let first = next;
        for &o in f.param_operands(b) {
            if !define(o, ValueDef::Param(b), &mut next) {
                errors.raw(Rule::V5, Place::Block(b), || format!("its parameter {o:?} is not numbered in order"));
            }
        }
        if d.num_params != next.wrapping_sub(first) || d.num_params > 0 && d.first_param.0 != first {
            errors.raw(Rule::V5, Place::Block(b), || {
                format!("it has {} parameters from {}, by its operands {first}..{next}", d.num_params, d.first_param)
            });
        }
        for i in f.block_insts(b) {
            let first = next;
            for &o in f.defs(i) {
                if !define(o, ValueDef::Inst(i), &mut next) {
                    errors.raw(Rule::V5, Place::Inst(i), || format!("its definition {o:?} is not numbered in order"));
                }
            }
            if next != first && f.insts[i].first_value.0 != first {
                let found = f.insts[i].first_value;
                errors.raw(Rule::V5, Place::Inst(i), || format!("its first value is v{first}, not {found}"));
            }
        }
    }
    if errors.is_empty() && next as usize != f.values.len() {
        errors.raw(Rule::V5, Place::Value(Value(next)), || "nothing defines it".into());
    }
}
