//! The text format: exact round trip, errors that point at the offending text.
//!
//! `print(parse(print(f)))` equals `print(f)`, and the function read back means the same as the one written in every
//! part: opcodes with constraints and clobbers, operands with flags and alignments, names, source lines, attributes,
//! trips, regions, layout order. Text stands in layout order; linear order is computed again.
//!
//! Grammar (`[x]` optional, `x*` any number, `x,*` any number with commas between):
//!
//! ```text
//! file      = kernel*
//! kernel    = ["allocated"] "kernel" "@" name attribute* "{" (block | region)* "}"
//! attribute = ".target" name | ".maxntid" n[,n[,n]] | ".reqntid" n[,n[,n]] | ".minnctapersm" n | ".maxnreg" n
//!           | ".smem" bytes | ".barriers" n | ".stack" bytes
//! region    = "region" "@" name ["->" "(" class[len],* ")"] ["{" block* "}"]
//! block     = name ["(" def,* ")"] [".trip" n] ":" instruction*
//! instruction = [def,* "="] ["@" operand] mnemonic argument,* trailer
//! argument  = operand | "[" operand ("+" operand)* "]" | successor
//! successor = name ["(" lane,* ")"]
//! trailer   = ["clobbers(" (reg | reg..reg),* ")"] ["extra(" (n constraint),* ")"] ["#" line]
//! def       = "%" name ":" class[len][":" align][constraints]
//! operand   = ["@"]["-"]["~" | "!"] (base | "|" base "|" | "(" base ")") [constraints]
//! base      = lane[":" align] | "{" lane,* "}" [":" align] | number | "c[" bank "][" offset "]"
//!           | "SR_.." | "SR" quoted | "$" name | "@" name
//! lane      = "%" name ["." lane] | "undef" ["[" lanes "]"]
//! constraints = "{" ("fixed" reg | "tied" definition | "early" | "flight" | "names(" (name | "-"),* ")"),* "}"
//! name      = plain | quoted, with ["'" version]
//! ```
//!
//! * A statement ends with its line. `;` and `//` begin a comment.
//! * **Names** of any characters stand in quotes with `\"`, `\\`, `\n`, `\t`, `\r`, `\u{hex}`. Plain names: letters,
//!   digits and `_`, with `$` and (not for values) `.`; mnemonics and blocks also `a::b`. The words `kernel`,
//!   `allocated`, `region`, `undef`, `clobbers`, `extra` are no plain block or mnemonic names, blocks neither begin
//!   `SR_` nor `$`.
//! * **Versions**: where several runs, blocks or regions share a name, `%x'1` is the second one called `x` in linear
//!   order, `%x'2` the next. The version is no part of the name; printing counts it afresh.
//! * **Values without a name** are called `%vN` by the number of their first lane. A definition `%vN` whose value does
//!   get number N has no name; any other is called `vN`, and written with a version where it would be mistaken.
//!   Lanes of one run that do not share a name are listed as `names(a, -, b)`.
//! * **A run** `%x` means all its lanes, `%x.2` one of them, `{%x.0, %y, undef}:4` any lanes with an alignment.
//!   An alignment left out is the usual one: the next power of two of the length, at most 4. Parameters have none.
//! * **Immediates** are 32 bits: decimal, `0x..`, or negative in two's complement; what does not fit is a wide one of
//!   64 bits. A `-` before a digit belongs to the literal: the flag on a number is `-(5)`.
//! * **Flags**: `-` negation, `|x|` absolute value, `~` (`!` on predicates) complement, `@` guard. The guard stands
//!   before the mnemonic and is the first use. `<0x20>x` states flags that have no notation of their own.
//! * **An address** `[a+b+0x10]` is consecutive operands; `a-0x10` is `a` and the literal -0x10.
//! * `extra(7 fixed R4)`: constraints of operands that the instruction does not have. `@#9`: a region that does not
//!   exist, by number. Both exist so that a wrong function can be written down; the verifier refuses it.
//! * A region is declared by `->` with its results, in the order of the regions' numbers; without `->` the blocks of a
//!   declared region go on.
//! * **Allocated form** (see [`print_allocated`]): the header also has `.local_slots n .shared_slots n`; each register
//!   operand and parameter has its location behind it, `@R4` for consecutive registers from there (`@-` for none),
//!   `@(R4, R9, -, local[2])` otherwise; an instruction is `[i12] ..` with its number in linear order; edits are lines
//!   (`copy R3 <- R5`, `swap R2, R3`, `spill local[0] <- R4`, `reload R4 <- local[0]`, `slotcopy local[1] <- local[0]`,
//!   `remat i12 (R4, -) <- (R2)`) before their instruction, or `after ..` behind it; those on an edge follow the block
//!   behind `on entry -> body (0):` with the position of the successor.
//!
//! What does not round trip: functions that the verifier refuses in other ways (a run of several classes, arguments
//! that do not match the parameters in number) are rejected by the reader, and a map from names to numbers that only a
//! builder knows is gone. Reading is linear in the text, calls itself nowhere, and bounds what a short text can ask
//! for: [`MAX_VALUES`], [`MAX_LANES`], [`MAX_CLOBBERS`], [`MAX_LOCATIONS`], [`MAX_ERRORS`].

mod alloc_parse;
mod alloc_print;
mod ast;
mod error;
mod inst;
mod lex;
mod names;
mod operand;
mod parse;
mod print;
mod resolve;

#[cfg(test)]
pub(crate) mod tests;

pub use alloc_parse::MAX_LOCATIONS;
pub use alloc_print::print_allocated;
pub use error::{TextError, MAX_ERRORS};
pub use inst::{MAX_CLOBBERS, MAX_VALUES};
pub use names::Names;
pub use print::print;
pub use resolve::MAX_LANES;

use crate::assigned::{AllocatedFunction, Edit, EditPoint, Loc};
use crate::function::{Edge, Function, Inst};
use error::{Errors, Fail, Span};
use std::fmt;

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}

/// Reads the kernels of a text.
///
/// # Errors
/// All errors found, in text order, at most [`MAX_ERRORS`] of them; a text without a kernel is an empty list.
pub fn parse(text: &str) -> Result<Vec<Function>, Vec<TextError>> {
    read(text, false, |_, r, _| Some(r.func))
}

/// Reads the kernels of an allocated text, see [`print_allocated`].
///
/// # Errors
/// As [`parse`].
pub fn parse_allocated(text: &str) -> Result<Vec<(Function, AllocatedParts)>, Vec<TextError>> {
    let mut locations_left = MAX_LOCATIONS;
    read(text, true, |k, r, errors| {
        let parts = alloc_parse::resolve_parts(k, &r, errors, &mut locations_left)?;
        Some((r.func, parts))
    })
}

/// True when the first word of the text says that it is in allocated form.
pub fn is_allocated(text: &str) -> bool {
    let mut c = lex::Cursor::new(text);
    c.blank();
    c.eat_word("allocated")
}

fn read<T>(
    text: &str,
    allocated: bool,
    mut finish: impl FnMut(&ast::KernelAst<'_>, resolve::Resolved, &mut Errors) -> Option<T>,
) -> Result<Vec<T>, Vec<TextError>> {
    let mut p = parse::Parser::new(text, allocated);
    if u32::try_from(text.len()).is_err() {
        p.errors.push(Fail::new(Span::default(), "the text has 4 GiB or more"));
        return Err(p.errors.locate(text));
    }
    let mut lanes_left = MAX_LANES;
    let mut out = Vec::new();
    while let Some(k) = p.kernel() {
        if let Some(r) = resolve::resolve(&k, &mut p.errors, &mut lanes_left) {
            out.extend(finish(&k, r, &mut p.errors));
        }
    }
    if p.errors.is_empty() {
        Ok(out)
    } else {
        Err(p.errors.locate(text))
    }
}

/// An [`AllocatedFunction`] without the function that it borrows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllocatedParts {
    /// See [`AllocatedFunction::order`].
    pub order: Option<Vec<Inst>>,
    /// See [`AllocatedFunction::locs`].
    pub locs: Vec<Loc>,
    /// See [`AllocatedFunction::param_locs`].
    pub param_locs: Vec<Loc>,
    /// See [`AllocatedFunction::edits`].
    pub edits: Vec<(EditPoint, Edit)>,
    /// See [`AllocatedFunction::edge_edits`].
    pub edge_edits: Vec<(Edge, Edit)>,
    /// See [`AllocatedFunction::local_slots`].
    pub local_slots: u32,
    /// See [`AllocatedFunction::shared_slots`].
    pub shared_slots: u32,
}

impl AllocatedParts {
    /// The parts of an allocation.
    pub fn of(a: &AllocatedFunction<'_>) -> Self {
        Self {
            order: a.order.clone(),
            locs: a.locs.clone(),
            param_locs: a.param_locs.clone(),
            edits: a.edits.clone(),
            edge_edits: a.edge_edits.clone(),
            local_slots: a.local_slots,
            shared_slots: a.shared_slots,
        }
    }

    /// The allocation of `func`, the function that the parts came with.
    ///
    /// # Panics
    /// If `func` is another function, with other numbers of operand or parameter lanes.
    pub fn attach<'f>(&self, func: &'f Function) -> AllocatedFunction<'f> {
        let mut a = AllocatedFunction::empty(func);
        assert_eq!(a.locs.len(), self.locs.len(), "the parts belong to this function: one location an operand lane");
        assert_eq!(a.param_locs.len(), self.param_locs.len(), "one location a parameter unit");
        a.order.clone_from(&self.order);
        a.locs.clone_from(&self.locs);
        a.param_locs.clone_from(&self.param_locs);
        a.edits.clone_from(&self.edits);
        a.edge_edits.clone_from(&self.edge_edits);
        a.local_slots = self.local_slots;
        a.shared_slots = self.shared_slots;
        a
    }
}
