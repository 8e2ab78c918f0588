//! How entities are called in text: quotes, versions, numbers for what has no name.
//!
//! A name that several runs (blocks, regions) share is told apart by a version that is no part of the name: the first
//! in linear order is `%x`, the next ones `%x'1`, `%x'2`. A run without a name is called by the number of its first
//! value, `%v12`; a run whose name happens to look like that and would be taken for it always has a version.

use super::lex::{is_plain, NameKind};
use crate::entity::{EntityId, EntityVec};
use crate::function::{Block, Function, Region, Symbol, Value};
use crate::operand::Operand;
use std::fmt::Write;

/// Writes a name, in quotes where it needs them.
pub(super) fn write_name(out: &mut String, kind: NameKind, name: &str) {
    if is_plain(kind, name) {
        out.push_str(name);
    } else {
        write_quoted(out, name);
    }
}

/// Writes a name in quotes.
pub(super) fn write_quoted(out: &mut String, name: &str) {
    out.push('"');
    for c in name.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => push(out, format_args!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Formats into a string, which cannot fail.
pub(super) fn push(out: &mut String, args: std::fmt::Arguments<'_>) {
    out.write_fmt(args).expect("writing to a string does not fail");
}

/// Writes a decimal number; faster than the formatting machinery.
pub(super) fn push_u32(out: &mut String, mut n: u32) {
    let mut digits = [0u8; 10];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    digits[at..].iter().for_each(|&d| out.push(d as char));
}

/// The number in a name of the form that values without a name are given.
pub(super) fn auto_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix('v')?;
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    if !plain {
        return None;
    }
    digits.parse().ok()
}

/// A run as it is defined: one definition operand or parameter.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub first: Value,
    pub len: u32,
    /// The name that all lanes share, if they do.
    pub name: Symbol,
    /// True when the lanes have different names.
    pub mixed: bool,
    pub version: u32,
}

/// What the values, blocks and regions of a function are called in its text: unique, unlike plain names.
pub struct Names<'f> {
    f: &'f Function,
    runs: Vec<Run>,
    run_of: EntityVec<Value, u32>,
    block_versions: EntityVec<Block, u32>,
    region_versions: EntityVec<Region, u32>,
}

impl<'f> Names<'f> {
    /// Works out the names of a function, in time linear in its size.
    pub fn new(f: &'f Function) -> Self {
        let mut names = Self {
            f,
            runs: Vec::new(),
            run_of: EntityVec::filled(f.num_values(), 0),
            block_versions: EntityVec::new(),
            region_versions: EntityVec::new(),
        };
        for b in f.blocks() {
            f.param_operands(b).iter().for_each(|&o| names.add_run(o));
            for i in f.block_insts(b) {
                f.defs(i).iter().for_each(|&o| names.add_run(o));
            }
        }
        names.count_versions();
        let mut seen = vec![0u32; f.symbols.len()];
        for b in f.blocks() {
            let n = &mut seen[f.block(b).name.index()];
            names.block_versions.push(*n);
            *n += 1;
        }
        // The kernel goes by its own name, which its region's symbol repeats.
        seen.fill(0);
        for r in f.regions() {
            let s = f.region(r).name;
            if r == Region(0) {
                names.region_versions.push(0);
                if let Some(k) = f.symbols.iter().position(|s| **s == *f.name) {
                    seen[k] = 1;
                }
            } else {
                names.region_versions.push(seen[s.index()]);
                seen[s.index()] += 1;
            }
        }
        names
    }

    fn add_run(&mut self, o: Operand) {
        let first = Value(o.payload());
        let name_of = |k: usize| self.f.names.get(Value(first.0 + k as u32)).copied().unwrap_or(Symbol::NONE);
        let name = name_of(0);
        let mixed = (1..o.len()).any(|k| name_of(k) != name);
        let id = self.runs.len() as u32;
        for k in 0..o.len() as u32 {
            self.run_of[Value(first.0 + k)] = id;
        }
        let name = if mixed { Symbol::NONE } else { name };
        self.runs.push(Run { first, len: o.len() as u32, name, mixed, version: 0 });
    }

    fn count_versions(&mut self) {
        let mut next = vec![0u32; self.f.symbols.len()];
        for (k, s) in self.f.symbols.iter().enumerate() {
            // `%v7` bare would be taken for "no name" when run 7 has none, or is this very run.
            let taken = |v: u32| {
                let run = self.run_of.get(Value(v)).map(|&r| self.runs[r as usize]);
                run.is_some_and(|r| r.first.0 == v && (r.name.is_none() || r.name.index() == k))
            };
            next[k] = auto_number(s).is_some_and(taken) as u32;
        }
        for r in &mut self.runs {
            if !r.name.is_none() {
                r.version = next[r.name.index()];
                next[r.name.index()] += 1;
            }
        }
    }

    /// The run that a value is a lane of, and its lane.
    pub(super) fn run(&self, v: Value) -> (&Run, u32) {
        let r = &self.runs[self.run_of[v] as usize];
        (r, v.0 - r.first.0)
    }

    /// Writes the run's name with its `%`.
    pub(super) fn write_run(&self, out: &mut String, r: &Run) {
        out.push('%');
        match r.name.some() {
            None => {
                out.push('v');
                push_u32(out, r.first.0);
            }
            Some(s) => {
                write_name(out, NameKind::Value, self.f.symbol(s));
                write_version(out, r.version);
            }
        }
    }

    /// Writes one value: `%x`, or `%x.2` for a lane of a wider run.
    pub(super) fn write_value(&self, out: &mut String, v: Value) {
        let (r, lane) = self.run(v);
        self.write_run(out, r);
        if r.len > 1 {
            out.push('.');
            push_u32(out, lane);
        }
    }

    /// Writes a block's name.
    pub(super) fn write_block(&self, out: &mut String, b: Block) {
        write_name(out, NameKind::Block, self.f.block_name(b));
        write_version(out, self.block_versions[b]);
    }

    /// Writes a region with its `@`; one that does not exist by its number.
    pub(super) fn write_region(&self, out: &mut String, r: Region) {
        out.push('@');
        match self.region_versions.get(r) {
            None => {
                out.push('#');
                push_u32(out, r.0);
            }
            Some(&version) => {
                let name = if r == Region(0) { &self.f.name } else { self.f.symbol(self.f.region(r).name) };
                write_name(out, NameKind::Global, name);
                write_version(out, version);
            }
        }
    }

    /// A value as the text writes it.
    pub fn value(&self, v: Value) -> String {
        let mut s = String::new();
        self.write_value(&mut s, v);
        s
    }

    /// A region as the text writes it, with its `@`.
    pub fn region(&self, r: Region) -> String {
        let mut s = String::new();
        self.write_region(&mut s, r);
        s
    }

    /// A block as the text writes it.
    pub fn block(&self, b: Block) -> String {
        let mut s = String::new();
        self.write_block(&mut s, b);
        s
    }
}

fn write_version(out: &mut String, version: u32) {
    if version != 0 {
        out.push('\'');
        push_u32(out, version);
    }
}
