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
use std::collections::HashMap;

/// What a name in a function stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named {
    Reg(RegId),
    Symbol(SymbolRef),
}

#[derive(Clone, Copy, Debug)]
struct Range {
    count: u64,
    ty: ScalarType,
    lanes: u16,
}

#[derive(Debug, Default)]
struct Scope<'t> {
    parent: usize,
    names: HashMap<&'t str, Named>,
    ranges: HashMap<&'t str, Range>,
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
}

/// Splits `%r12` into prefix and number, at each place where digits can start, longest number first.
fn splits(name: &str) -> impl Iterator<Item = (&str, u64)> {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).take(18).count();
    (1..=digits).rev().filter_map(move |n| {
        let (prefix, number) = name.split_at(name.len() - n);
        let ok = !prefix.is_empty() && (number == "0" || !number.starts_with('0'));
        ok.then(|| number.parse().ok().map(|v| (prefix, v))).flatten()
    })
}

impl<'t> Body<'t> {
    pub(super) fn start(&mut self, function: Function) {
        *self = Self { function: Some(function), scopes: vec![Scope::default()], ..Self::default() };
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
        let mut scope = self.scope;
        loop {
            let s = &self.scopes[scope];
            if let Some(named) = s.names.get(name) {
                return Some(*named);
            }
            if !s.ranges.is_empty() {
                if let Some(range) = covering(s, name) {
                    let id = self.new_reg(name, range.ty, range.lanes);
                    self.scopes[scope].names.insert(name, Named::Reg(id));
                    return Some(Named::Reg(id));
                }
            }
            if scope == 0 {
                return None;
            }
            scope = self.scopes[scope].parent;
        }
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
        if taken || scope.ranges.contains_key(prefix) {
            return Err(());
        }
        scope.ranges.insert(prefix, Range { count, ty, lanes });
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

fn covering(scope: &Scope<'_>, name: &str) -> Option<Range> {
    splits(name).find_map(|(prefix, n)| scope.ranges.get(prefix).copied().filter(|r| n < r.count))
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
