//! Names of one function: registers, variables and parameters by scope, labels resolved at the end.
//!
//! Registers and variables must be declared before use, so they resolve at once: innermost scope first.
//! `%r<100>` is kept as a range (prefix and count); a register gets its id when it is first named.
//! Labels may be used before they stand, and an inner scope may still define a name that an outer scope has,
//! so their uses are recorded with their scope and resolved when the function is complete.

use super::super::ast::{Function, Label, LabelId, Operand, RegDecl, RegId, Stmt, SymbolRef, TableId, VarId};
use super::super::lex::Token;
use super::super::types::ScalarType;
use super::{Parsed, Parser};
use foldhash::HashMap;

/// What a name in a function stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named {
    Reg(RegId),
    Symbol(SymbolRef),
}

#[derive(Debug)]
struct Range {
    count: u64,
    ty: ScalarType,
    lanes: u16,
    /// Ids by number, [`UNNAMED`] for those not named yet; grows as registers are named.
    ids: Vec<u32>,
}

const UNNAMED: u32 = u32::MAX;

/// The ranges of one scope. There are a handful, so a search beats hashing; with more the index is used.
#[derive(Debug, Default)]
struct Ranges<'t> {
    list: Vec<(&'t str, Range)>,
    index: HashMap<&'t str, usize>,
}

impl<'t> Ranges<'t> {
    fn find(&self, prefix: &str) -> Option<usize> {
        if self.list.len() <= 12 {
            self.list.iter().position(|(p, _)| *p == prefix)
        } else {
            self.index.get(prefix).copied()
        }
    }

    fn insert(&mut self, prefix: &'t str, range: Range) {
        self.index.insert(prefix, self.list.len());
        self.list.push((prefix, range));
    }
}

#[derive(Debug, Default)]
struct Scope<'t> {
    parent: usize,
    names: HashMap<&'t str, Named>,
    ranges: Ranges<'t>,
    /// Ids of registers of ranges whose number is too large for a table.
    beyond: HashMap<&'t str, u32>,
    /// Registers declared alone, by prefix: the numbers behind it.
    numbered: HashMap<&'t str, Vec<u64>>,
    labels: HashMap<&'t str, LabelId>,
    tables: HashMap<&'t str, TableId>,
    prototypes: HashMap<&'t str, u32>,
}

/// Where a label or table use stands in the function.
#[derive(Clone, Copy, Debug)]
pub(super) enum Use {
    /// Operand of the statement: a label.
    Branch { stmt: usize, operand: usize },
    /// Operand of the statement: a table of labels.
    Table { stmt: usize, operand: usize },
    /// Entry of a table.
    Entry { table: usize, entry: usize },
}

#[derive(Debug)]
struct Fixup<'t> {
    at: Use,
    scope: usize,
    name: &'t str,
    token: Token,
}

/// The function being read.
#[derive(Debug, Default)]
pub(super) struct Body<'t> {
    pub(super) function: Option<Function>,
    scopes: Vec<Scope<'t>>,
    /// Current scope.
    pub(super) scope: usize,
    /// Open braces below the function's own.
    pub(super) depth: usize,
    fixups: Vec<Fixup<'t>>,
    /// Entries by which the id tables of ranges may still grow, so that `%r4000000000` costs nothing; registers
    /// beyond are found by name.
    table_budget: usize,
}

/// Splits `%r12` into prefix and number, at each place where digits can start, longest number first.
fn splits(name: &str) -> impl Iterator<Item = (&str, u64)> {
    let bytes = name.as_bytes();
    let mut start = bytes.len();
    while start > 1 && bytes.len() - start < 18 && bytes[start - 1].is_ascii_digit() {
        start -= 1;
    }
    (start..bytes.len()).filter_map(move |at| {
        if bytes[at] == b'0' && at + 1 < bytes.len() {
            return None;
        }
        let number = bytes[at..].iter().fold(0, |n, b| 10 * n + u64::from(b - b'0'));
        Some((&name[..at], number))
    })
}

impl<'t> Body<'t> {
    /// Starts a function; `budget` bounds the memory of id tables, see [`Body::table_budget`].
    pub(super) fn start(&mut self, function: Function, budget: usize) {
        *self =
            Self { function: Some(function), scopes: vec![Scope::default()], table_budget: budget, ..Self::default() };
    }

    pub(super) fn f(&mut self) -> &mut Function {
        self.function.as_mut().expect("a body is only read inside a function")
    }

    pub(super) fn function(&self) -> &Function {
        self.function.as_ref().expect("a body is only read inside a function")
    }

    pub(super) fn open(&mut self) {
        self.scopes.push(Scope { parent: self.scope, ..Scope::default() });
        self.scope = self.scopes.len() - 1;
        self.depth += 1;
    }

    pub(super) fn close(&mut self) {
        self.scope = self.scopes[self.scope].parent;
        self.depth -= 1;
    }

    fn chain(&self) -> impl Iterator<Item = usize> + '_ {
        self.chain_from(self.scope)
    }

    fn chain_from(&self, scope: usize) -> impl Iterator<Item = usize> + '_ {
        // Scope 0 is its own parent.
        std::iter::successors(Some(scope), |s| (*s != 0).then(|| self.scopes[*s].parent))
    }

    /// Finds a register, variable or parameter by its exact name.
    pub(super) fn lookup(&mut self, name: &'t str) -> Option<Named> {
        let mut at = self.scope;
        loop {
            // A name is in a range or in `names`, never in both; most registers are in a range.
            let scope = &self.scopes[at];
            if !scope.ranges.list.is_empty() {
                if let Some((range, n)) = covering(scope, name) {
                    return Some(Named::Reg(self.numbered_reg(at, name, range, n)));
                }
            }
            if let Some(named) = scope.names.get(name) {
                return Some(*named);
            }
            if at == 0 {
                return None;
            }
            at = scope.parent;
        }
    }

    /// Register `n` of a range, made when it is first named.
    fn numbered_reg(&mut self, at: usize, name: &'t str, range: usize, n: u64) -> RegId {
        let next = self.function().regs.len() as u32;
        let Scope { ranges, beyond, .. } = &mut self.scopes[at];
        let range = &mut ranges.list[range].1;
        let index = n as usize;
        let grow = (index + 1).saturating_sub(range.ids.len());
        let id = if grow <= self.table_budget {
            self.table_budget -= grow;
            if grow > 0 {
                range.ids.resize(index + 1, UNNAMED);
            }
            &mut range.ids[index]
        } else {
            beyond.entry(name).or_insert(UNNAMED)
        };
        if *id != UNNAMED {
            return RegId(*id);
        }
        *id = next;
        let (ty, lanes) = (range.ty, range.lanes);
        self.new_reg(name, ty, lanes)
    }

    fn new_reg(&mut self, name: &str, ty: ScalarType, lanes: u16) -> RegId {
        let f = self.f();
        f.regs.push(RegDecl { name: name.into(), ty, lanes });
        RegId(f.regs.len() as u32 - 1)
    }

    /// Declares one register in the current scope; `Err` if the name is taken there.
    pub(super) fn declare_reg(&mut self, name: &'t str, ty: ScalarType, lanes: u16) -> Result<RegId, ()> {
        let scope = &self.scopes[self.scope];
        if scope.names.contains_key(name) || covering(scope, name).is_some() {
            return Err(());
        }
        let id = self.new_reg(name, ty, lanes);
        let scope = &mut self.scopes[self.scope];
        scope.names.insert(name, Named::Reg(id));
        if let Some((prefix, number)) = splits(name).next() {
            scope.numbered.entry(prefix).or_default().push(number);
        }
        Ok(id)
    }

    /// Declares `prefix<count>` in the current scope; `Err` if it overlaps what is there.
    pub(super) fn declare_range(&mut self, prefix: &'t str, count: u64, ty: ScalarType, lanes: u16) -> Result<(), ()> {
        let scope = &mut self.scopes[self.scope];
        let taken = scope.numbered.get(prefix).is_some_and(|numbers| numbers.iter().any(|n| *n < count));
        if taken || scope.ranges.find(prefix).is_some() {
            return Err(());
        }
        scope.ranges.insert(prefix, Range { count, ty, lanes, ids: Vec::new() });
        Ok(())
    }

    /// Declares a variable or parameter name in the current scope; `Err` if the name is taken there.
    pub(super) fn declare_symbol(&mut self, name: &'t str, symbol: SymbolRef) -> Result<(), ()> {
        let scope = &mut self.scopes[self.scope];
        if scope.names.contains_key(name) || covering(scope, name).is_some() {
            return Err(());
        }
        scope.names.insert(name, Named::Symbol(symbol));
        Ok(())
    }

    /// The id that the next variable will have.
    pub(super) fn next_variable(&self) -> VarId {
        VarId(self.function().variables.len() as u32)
    }

    /// Defines a label before the next statement; `Err` if the current scope has it.
    pub(super) fn define_label(&mut self, name: &'t str, stmt: usize) -> Result<LabelId, ()> {
        let f = self.f();
        let id = LabelId(f.labels.len() as u32);
        f.labels.push(Label { name: name.into(), stmt: stmt as u32 });
        match self.scopes[self.scope].labels.insert(name, id) {
            None => Ok(id),
            Some(_) => Err(()),
        }
    }

    /// Defines a table of targets; `Err` if the current scope has it.
    pub(super) fn define_table(&mut self, name: &'t str, id: TableId) -> Result<(), ()> {
        match self.scopes[self.scope].tables.insert(name, id) {
            None => Ok(()),
            Some(_) => Err(()),
        }
    }

    /// Defines a call prototype; `Err` if the current scope has it.
    pub(super) fn define_prototype(&mut self, name: &'t str, id: u32) -> Result<(), ()> {
        match self.scopes[self.scope].prototypes.insert(name, id) {
            None => Ok(()),
            Some(_) => Err(()),
        }
    }

    pub(super) fn table(&self, name: &str) -> Option<TableId> {
        self.chain().find_map(|s| self.scopes[s].tables.get(name).copied())
    }

    pub(super) fn prototype(&self, name: &str) -> Option<u32> {
        self.chain().find_map(|s| self.scopes[s].prototypes.get(name).copied())
    }

    /// Records a use of a label or table, to be resolved by [`Parser::resolve_labels`].
    pub(super) fn use_label(&mut self, at: Use, name: &'t str, token: Token) {
        let scope = self.scope;
        self.fixups.push(Fixup { at, scope, name, token });
    }

    fn resolve(&self, fixup: &Fixup<'t>) -> Option<u32> {
        self.chain_from(fixup.scope).find_map(|s| match fixup.at {
            Use::Table { .. } => self.scopes[s].tables.get(fixup.name).map(|t| t.0),
            _ => self.scopes[s].labels.get(fixup.name).map(|l| l.0),
        })
    }
}

/// The range of the scope that a name belongs to, and the name's number in it.
fn covering(scope: &Scope<'_>, name: &str) -> Option<(usize, u64)> {
    splits(name).find_map(|(prefix, n)| {
        let range = scope.ranges.find(prefix)?;
        (n < scope.ranges.list[range].1.count).then_some((range, n))
    })
}

impl Parser<'_> {
    /// Fills in the labels of all branches and tables, at the end of a body.
    pub(super) fn resolve_labels(&mut self) -> Parsed<()> {
        let fixups = std::mem::take(&mut self.body.fixups);
        for fixup in &fixups {
            let Some(id) = self.body.resolve(fixup) else {
                let kind = if matches!(fixup.at, Use::Table { .. }) { "branch table" } else { "label" };
                let message = format!("undeclared {kind} `{}`", fixup.name);
                self.error_at(fixup.token, message, None);
                if self.errors.len() >= super::MAX_ERRORS {
                    return Err(super::Stop::Fatal);
                }
                continue;
            };
            let f = self.body.f();
            let body = f.body.as_mut().expect("labels are resolved in a body");
            match fixup.at {
                Use::Entry { table, entry } => f.tables[table].labels[entry] = LabelId(id),
                Use::Branch { stmt, operand } | Use::Table { stmt, operand } => {
                    // An instruction that failed its checks is not in the body.
                    if let Some(Stmt::Inst(inst)) = body.get_mut(stmt) {
                        match inst.operands.get_mut(operand) {
                            Some(o @ Operand::Label(_)) => *o = Operand::Label(LabelId(id)),
                            Some(o @ Operand::Table(_)) => *o = Operand::Table(TableId(id)),
                            _ => {}
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::splits;

    #[test]
    fn names_split_at_every_digit() {
        let all = |n| splits(n).collect::<Vec<_>>();
        assert_eq!(all("%r12"), [("%r", 12), ("%r1", 2)]);
        assert_eq!(all("%r10"), [("%r", 10), ("%r1", 0)]);
        assert_eq!(all("%r01"), [("%r0", 1)]);
        assert!(all("%tid").is_empty() && all("%tid.x").is_empty() && all("7").is_empty());
    }
}
