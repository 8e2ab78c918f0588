//! Shape of an allocation: what everything else rests on, so that no later step can index out of bounds.
//!
//! Rules: the tables have one entry per lane and parameter unit; the order is a permutation of each block's own
//! instructions with the terminator last; edits are sorted, at points and edges that exist, and none follows a
//! terminator (edge edits do that); a repeated instruction exists and has a location for each of its lanes.

use crate::error::{CheckErrorKind as Kind, Errors, Site};
use fatpoint_ir::assigned::{AllocatedFunction, Edit, Side};
use fatpoint_ir::{EntityId, Inst};

/// Checks the rules above; with an error, nothing else can be checked.
pub(crate) fn check(alloc: &AllocatedFunction<'_>, errors: &mut Errors<'_>) {
    tables(alloc, errors);
    if errors.is_empty() {
        order(alloc, errors);
    }
    if errors.is_empty() {
        edits(alloc, errors);
    }
}

fn tables(alloc: &AllocatedFunction<'_>, errors: &mut Errors<'_>) {
    let f = alloc.func;
    let starts = |starts: &[u32], lens: &mut dyn Iterator<Item = usize>, total: usize| {
        let mut at = 0usize;
        let mut n = 0;
        for (k, len) in lens.enumerate() {
            if starts.get(k).map(|&s| s as usize) != Some(at) {
                return false;
            }
            at += len;
            n = k + 1;
        }
        starts.len() == n + 1 && starts[n] as usize == at && total == at
    };
    if !starts(&alloc.lane_start, &mut f.insts().map(|i| f.num_lanes(i)), alloc.locs.len()) {
        errors.push(Kind::Shape, Site::Function, || "locations are not one for each operand lane".into());
    }
    if !starts(&alloc.param_start, &mut f.blocks().map(|b| f.params(b).len()), alloc.param_locs.len()) {
        errors.push(Kind::Shape, Site::Function, || "locations are not one for each block parameter".into());
    }
    if let Some(o) = alloc.order.as_ref().filter(|o| o.len() != f.num_insts()) {
        errors.push(Kind::Shape, Site::Function, || {
            format!("the order has {} instructions, the function {}", o.len(), f.num_insts())
        });
    }
}

fn order(alloc: &AllocatedFunction<'_>, errors: &mut Errors<'_>) {
    let (f, Some(order)) = (alloc.func, &alloc.order) else { return };
    let mut seen = vec![false; order.len()];
    for b in f.blocks() {
        let range = f.block_range(b);
        for pos in range.clone() {
            let i = order[pos as usize];
            if !range.contains(&i.0) {
                errors.push(Kind::Order, Site::Block(b), || format!("position {pos} runs {i} of another block"));
            } else if std::mem::replace(&mut seen[i.index()], true) {
                errors.push(Kind::Order, Site::Block(b), || format!("{i} runs twice, again at position {pos}"));
            }
        }
        if order[range.end as usize - 1] != f.terminator(b) {
            errors.push(Kind::Order, Site::Block(b), || "the terminator does not run last".into());
        }
    }
}

fn edits(alloc: &AllocatedFunction<'_>, errors: &mut Errors<'_>) {
    let f = alloc.func;
    for (n, (point, edit)) in alloc.edits.iter().enumerate() {
        let site = Site::Edit(n as u32);
        if point.pos as usize >= f.num_insts() {
            errors.push(Kind::EditPoint, site, || format!("there are only {} positions", f.num_insts()));
        } else if point.side == Side::After && f.kind(alloc.inst_at(point.pos)).is_terminator() {
            errors.push(Kind::EditPoint, site, || "nothing runs after a terminator but the edits of its edges".into());
        }
        if n > 0 && alloc.edits[n - 1].0 > *point {
            errors.push(Kind::EditPoint, site, || "edits are not sorted by point".into());
        }
        remat_shape(alloc, edit, site, errors);
    }
    for (n, (edge, edit)) in alloc.edge_edits.iter().enumerate() {
        let site = Site::EdgeEdit(n as u32);
        if edge.index() >= f.num_edges() {
            errors.push(Kind::EditPoint, site, || format!("there are only {} edges", f.num_edges()));
        }
        if n > 0 && alloc.edge_edits[n - 1].0 > *edge {
            errors.push(Kind::EditPoint, site, || "edits are not sorted by edge".into());
        }
        remat_shape(alloc, edit, site, errors);
    }
}

fn remat_shape(alloc: &AllocatedFunction<'_>, edit: &Edit, site: Site, errors: &mut Errors<'_>) {
    let Edit::Remat { inst, from, to } = edit else { return };
    let f = alloc.func;
    if inst.index() >= f.num_insts() {
        errors.push(Kind::Remat, site, || format!("there are only {} instructions", f.num_insts()));
        return;
    }
    let (defs, uses) = (num_def_lanes(alloc, *inst), f.num_lanes(*inst) - num_def_lanes(alloc, *inst));
    if (to.len(), from.len()) != (defs, uses) {
        errors.push(Kind::Remat, site, || {
            let (t, u) = (to.len(), from.len());
            format!("{inst} has {defs} definition and {uses} use lanes, the edit has places for {t} and {u}")
        });
    }
}

/// Number of definition lanes of an instruction.
pub(crate) fn num_def_lanes(alloc: &AllocatedFunction<'_>, i: Inst) -> usize {
    alloc.func.defs(i).iter().map(|o| o.len()).sum()
}
