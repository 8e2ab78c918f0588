//! What the checker reports: a kind to match on, a site to point at, and a sentence that names the value, the location
//! and what the location holds instead.
//!
//! Errors are collected, not first-fail, up to [`crate::CheckOptions::max_errors`].

use fatpoint_ir::assigned::{AllocatedFunction, EditPoint, Side};
use fatpoint_ir::{Block, Edge, EntityId, Inst, Value};
use std::fmt;

/// What is wrong with an allocation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum CheckErrorKind {
    /// The tables do not have the size that the function asks for, so nothing else was checked.
    Shape,
    /// The order is not a permutation of each block's instructions with the terminator last.
    Order,
    /// The order swaps two instructions whose effects must keep their order.
    Effects,
    /// An edit at a point or edge that does not exist, out of sort order, or after a terminator.
    EditPoint,
    /// An operand lane without a register, an edit between places of the wrong kind, two parameters in one place.
    Location,
    /// A register of another class than its value.
    Class,
    /// A register number that its file does not have, or a slot outside the frame.
    FileLimit,
    /// A general register above the budget.
    Budget,
    /// The stack pointer is written or allocated.
    Reserved,
    /// Lanes of a run that are not consecutive.
    Run,
    /// A run whose first register is no multiple of its alignment.
    Alignment,
    /// An operand that is not in its fixed register.
    Fixed,
    /// A use that is not in the registers of the definition it is tied to.
    Tied,
    /// An early-clobber definition over a use.
    EarlyClobber,
    /// Two definition lanes of one instruction in one place.
    Overlap,
    /// A use whose location does not hold its value.
    Value,
    /// A parameter whose location does not hold its argument at the end of an edge.
    Parameter,
    /// A copy between classes of something that is no predicate, or between classes without a conversion.
    Conversion,
    /// A rematerialization of what must not be repeated, or from locations that do not hold its inputs.
    Remat,
    /// An edit or a write on a register that the machine still uses.
    InFlight,
    /// A call whose arguments or results are not where the region has them, or recursion.
    Call,
}

/// What an error points at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Site {
    /// The allocation as a whole.
    Function,
    /// A block's entry.
    Block(Block),
    /// An instruction.
    Inst(Inst),
    /// An edit at an instruction: index into [`AllocatedFunction::edits`].
    Edit(u32),
    /// An edge.
    Edge(Edge),
    /// An edit on an edge: index into [`AllocatedFunction::edge_edits`].
    EdgeEdit(u32),
}

/// One fault of an allocation.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct CheckError {
    /// What is wrong.
    pub kind: CheckErrorKind,
    /// Where.
    pub site: Site,
    /// One sentence that starts with the place and names value, location and what the location holds.
    pub message: String,
}

/// Collects errors up to a cap; further ones are counted by [`Errors::full`] alone.
pub(crate) struct Errors<'a> {
    alloc: &'a AllocatedFunction<'a>,
    list: Vec<CheckError>,
    cap: usize,
}

impl<'a> Errors<'a> {
    pub(crate) fn new(alloc: &'a AllocatedFunction<'a>, cap: usize) -> Self {
        Self { alloc, list: Vec::new(), cap: cap.max(1) }
    }

    /// True when no more errors are taken.
    pub(crate) fn full(&self) -> bool {
        self.list.len() >= self.cap
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn push(&mut self, kind: CheckErrorKind, site: Site, what: impl FnOnce() -> String) {
        if !self.full() {
            let message = format!("{}: {}", SiteName(self.alloc, site), what());
            self.list.push(CheckError { kind, site, message });
        }
    }

    /// Number of errors so far.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Drops the errors from `at` on that `keep` refuses.
    pub(crate) fn retain_from(&mut self, at: usize, keep: impl Fn(&CheckError) -> bool) {
        let tail = self.list.split_off(at);
        self.list.extend(tail.into_iter().filter(keep));
    }

    pub(crate) fn into_list(self) -> Vec<CheckError> {
        self.list
    }
}

/// A site in words.
struct SiteName<'a>(&'a AllocatedFunction<'a>, Site);

impl SiteName<'_> {
    fn inst(&self, f: &mut fmt::Formatter<'_>, i: Inst) -> fmt::Result {
        let func = self.0.func;
        let (name, block) = (&func.sig(i).mnemonic, func.block_name(func.block_of(i)));
        write!(f, "{i} `{name}` in block `{block}`")?;
        match func.line(i) {
            0 => Ok(()),
            n => write!(f, " (line {n})"),
        }
    }
    fn edge(&self, f: &mut fmt::Formatter<'_>, e: Edge) -> fmt::Result {
        let (func, d) = (self.0.func, self.0.func.edge(e));
        write!(f, "edge {e} from `{}` to `{}`", func.block_name(d.from), func.block_name(d.to))
    }
}

impl fmt::Display for SiteName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let func = self.0.func;
        match self.1 {
            Site::Function => write!(f, "`{}`", func.name),
            Site::Block(b) => write!(f, "block `{}`", func.block_name(b)),
            Site::Inst(i) => self.inst(f, i),
            Site::Edge(e) => self.edge(f, e),
            Site::Edit(n) => {
                let (EditPoint { pos, side }, edit) = &self.0.edits[n as usize];
                let side = if *side == Side::Before { "before" } else { "after" };
                write!(f, "edit {n} ({}) {side} ", EditName(edit))?;
                if (*pos as usize) < func.num_insts() {
                    let i = self.0.inst_at(*pos);
                    if i.index() < func.num_insts() {
                        return self.inst(f, i);
                    }
                }
                write!(f, "position {pos}")
            }
            Site::EdgeEdit(n) => {
                let (e, edit) = &self.0.edge_edits[n as usize];
                write!(f, "edit {n} ({}) on ", EditName(edit))?;
                if e.index() < func.num_edges() {
                    self.edge(f, *e)
                } else {
                    write!(f, "edge {e}")
                }
            }
        }
    }
}

/// An edit in words.
struct EditName<'a>(&'a fatpoint_ir::assigned::Edit);

impl fmt::Display for EditName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fatpoint_ir::assigned::Edit::*;
        match self.0 {
            Copy { from, to } => write!(f, "copy {from} to {to}"),
            Swap { a, b } => write!(f, "swap {a} and {b}"),
            Spill { from, to } => write!(f, "spill {from} to {to}"),
            Reload { from, to } => write!(f, "reload {from} to {to}"),
            SlotCopy { from, to } => write!(f, "copy slot {from} to {to}"),
            Remat { inst, .. } => write!(f, "repeat {inst}"),
        }
    }
}

/// `%a and %b and 3 more`: the first few values of a list, for messages.
pub(crate) fn name_values(alloc: &AllocatedFunction<'_>, values: &[Value]) -> String {
    const SHOWN: usize = 4;
    let mut names: Vec<String> = values.iter().take(SHOWN).map(|&v| alloc.func.value_name(v)).collect();
    if values.len() > SHOWN {
        names.push(format!("{} more", values.len() - SHOWN));
    }
    names.join(" and ")
}
