//! Writing the allocated form: instructions in the order they run, a location behind every register operand, edits as
//! lines of their own.

use super::names::push;
use super::print::Printer;
use crate::assigned::{AllocatedFunction, Edit, EditPoint, Loc, Side};
use crate::class::RegClass;
use crate::function::Block;

/// An allocation as text.
///
/// The order must keep every instruction in its block, else the text says so in a comment and does not read back.
/// An explicit order that equals the input's own is not told from none.
pub fn print_allocated(a: &AllocatedFunction<'_>) -> String {
    let mut p = Printer::new(a.func);
    p.header("allocated kernel");
    for (word, n) in [(".local_slots", a.local_slots), (".shared_slots", a.shared_slots)] {
        if n != 0 {
            push(&mut p.out, format_args!(" {word} {n}"));
        }
    }
    p.out.push_str(" {\n");
    p.out.push_str("; highest registers:");
    for class in RegClass::ALL {
        if let Some(n) = a.highest(class) {
            push(&mut p.out, format_args!(" {class}{n}"));
        }
    }
    p.out.push('\n');
    let f = a.func;
    let insts = f.num_insts() as u32;
    for b in f.blocks() {
        if f.block_range(b).any(|pos| !f.block_range(b).contains(&a.inst_at(pos).0)) {
            push(
                &mut p.out,
                format_args!("; invalid: the order takes instructions out of block {}\n", p.names.block(b)),
            );
        }
    }
    for (point, _) in a.edits.iter().filter(|(point, _)| point.pos >= insts) {
        push(&mut p.out, format_args!("; invalid: an edit at position {}, which does not exist\n", point.pos));
    }
    p.sections(|p, b| print_block(p, a, b));
    p.out.push_str("}\n");
    p.out
}

fn print_block(p: &mut Printer<'_>, a: &AllocatedFunction<'_>, b: Block) {
    p.block_head(b, Some(a.block_param_locs(b)));
    for pos in a.func.block_range(b) {
        for (_, e) in a.edits_at(EditPoint { pos, side: Side::Before }) {
            p.out.push_str("  ");
            print_edit(p, e);
        }
        let i = a.inst_at(pos);
        push(&mut p.out, format_args!("  [{i}] "));
        p.instruction(i, Some(a.inst_locs(i)));
        p.out.push('\n');
        for (_, e) in a.edits_at(EditPoint { pos, side: Side::After }) {
            p.out.push_str("  after ");
            print_edit(p, e);
        }
    }
    for (succ, edge) in a.func.succ_edges(b).enumerate() {
        let edits = a.edits_on(edge);
        if edits.is_empty() {
            continue;
        }
        p.out.push_str("  on ");
        p.names.write_block(&mut p.out, b);
        p.out.push_str(" -> ");
        p.names.write_block(&mut p.out, a.func.edge(edge).to);
        push(&mut p.out, format_args!(" ({succ}):\n"));
        for (_, e) in edits {
            p.out.push_str("    ");
            print_edit(p, e);
        }
    }
}

fn print_edit(p: &mut Printer<'_>, e: &Edit) {
    match e {
        Edit::Copy { from, to } => push(&mut p.out, format_args!("copy {to} <- {from}")),
        Edit::Swap { a, b } => push(&mut p.out, format_args!("swap {a}, {b}")),
        Edit::Spill { from, to } => push(&mut p.out, format_args!("spill {to} <- {from}")),
        Edit::Reload { from, to } => push(&mut p.out, format_args!("reload {to} <- {from}")),
        Edit::SlotCopy { from, to } => push(&mut p.out, format_args!("slotcopy {to} <- {from}")),
        Edit::Remat { inst, from, to } => {
            push(&mut p.out, format_args!("remat {inst} "));
            p.location_list(to.iter().map(|r| r.map_or(Loc::NONE, Loc::reg)));
            p.out.push_str(" <- ");
            p.location_list(from.iter().copied());
        }
    }
    p.out.push('\n');
}
