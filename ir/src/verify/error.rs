//! Errors of the verifier: rule, place, message, with the names that the text format gives.

use crate::entity::EntityId;
use crate::function::{Block, Edge, Function, Inst, Line, Region, Value};
use crate::text::Names;
use std::fmt;
use thiserror::Error;

/// Errors kept for one function; those beyond are counted.
pub const MAX_ERRORS: usize = 100;

/// A rule at the head of [`crate::verify`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Rule {
    V1 = 1,
    V2,
    V3,
    V4,
    V5,
    V6,
    V7,
    V8,
    V9,
    V10,
    V11,
    V12,
    V13,
    V14,
    V15,
    V16,
    V17,
    V18,
    /// No rule: the last error says how many were left out.
    More,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::More => f.write_str("more"),
            r => write!(f, "V{}", *r as u8),
        }
    }
}

/// Where a rule is broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The function as a whole.
    Function,
    /// A region.
    Region(Region),
    /// A block.
    Block(Block),
    /// An edge.
    Edge(Edge),
    /// An instruction.
    Inst(Inst),
    /// A value.
    Value(Value),
}

/// A broken rule.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{rule}: {at}: {message}")]
pub struct VerifyError {
    /// The rule.
    pub rule: Rule,
    /// Where.
    pub place: Place,
    /// The place in words, with the names of the text format where the numbering allows to tell them.
    pub at: String,
    /// Source line of the instruction, 0 when not known.
    pub line: Line,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
}

/// Errors so far.
pub(super) struct Errors<'f> {
    f: &'f Function,
    list: Vec<VerifyError>,
    left_out: usize,
    /// Numbers can be trusted, so that names can be told.
    named: bool,
    names: Option<Names<'f>>,
}

impl<'f> Errors<'f> {
    pub fn new(f: &'f Function) -> Self {
        Self { f, list: Vec::new(), left_out: 0, named: false, names: None }
    }

    /// Rules V1 to V5 hold: from now on errors have names.
    pub fn numbering_holds(&mut self) {
        self.named = true;
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Number of errors so far.
    pub fn count(&self) -> usize {
        self.list.len() + self.left_out
    }

    /// Adds an error that speaks of numbers.
    pub fn raw(&mut self, rule: Rule, place: Place, message: impl FnOnce() -> String) {
        if self.list.len() >= MAX_ERRORS {
            self.left_out += 1;
            return;
        }
        let at = match place {
            Place::Function => "the function".into(),
            Place::Region(r) => r.to_string(),
            Place::Block(b) => b.to_string(),
            Place::Edge(e) => e.to_string(),
            Place::Inst(i) => i.to_string(),
            Place::Value(v) => v.to_string(),
        };
        self.list.push(VerifyError { rule, place, at, line: 0, message: message() });
    }

    /// Adds an error that speaks of names; the numbering holds.
    pub fn push(&mut self, rule: Rule, place: Place, message: impl FnOnce(&Names<'f>) -> String) {
        if self.list.len() >= MAX_ERRORS {
            self.left_out += 1;
            return;
        }
        debug_assert!(self.named, "names need the numbering");
        let f = self.f;
        let names = self.names.get_or_insert_with(|| Names::new(f));
        let mut line = 0;
        let at = match place {
            Place::Function => format!("kernel `{}`", f.name),
            Place::Region(r) => format!("region `{}`", names.region(r)),
            Place::Block(b) => format!("block `{}`", names.block(b)),
            Place::Edge(e) => {
                let d = f.edge(e);
                let nth = e.0 - f.block(d.from).first_edge;
                format!("edge {nth} of block `{}`, to `{}`", names.block(d.from), names.block(d.to))
            }
            Place::Inst(i) => {
                line = f.line(i);
                let mut at = format!("{i} `{}` in block `{}`", f.sig(i).mnemonic, names.block(f.block_of(i)));
                if line != 0 {
                    at.push_str(&format!(", line {line}"));
                }
                at
            }
            Place::Value(v) => format!("value `{}`", names.value(v)),
        };
        self.list.push(VerifyError { rule, place, at, line, message: message(names) });
    }

    /// All errors, the number of those left out as the last.
    pub fn finish(mut self) -> Vec<VerifyError> {
        if self.left_out > 0 {
            self.list.push(VerifyError {
                rule: Rule::More,
                place: Place::Function,
                at: "the function".into(),
                line: 0,
                message: format!("{} more errors are not shown", self.left_out),
            });
        }
        self.list
    }
}

/// True when the identifier is below `n`.
pub(super) fn within<K: EntityId>(id: K, n: usize) -> bool {
    id.index() < n
}
