//! Control flow of one PTX function: basic blocks from its statements, dominators and dominance frontiers.
//!
//! Blocks are numbered in text order; block 0 is the entry and has no predecessor. A guarded instruction that cannot
//! carry its guard itself (a call, a return inside a function, a trap, an indexed branch) gets a block of its own that
//! the guard branches to. Blocks that no path reaches are dropped and counted.
//!
//! Dominators by Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm", 2001), frontiers as there.

use super::super::ast::{Function, Inst, LabelId, Operand, RegId, Stmt};

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// Goes on at a block.
    Jump(u32),
    /// To the first where the predicate (inverted if `negated`) holds, else to the second.
    Branch {
        /// The predicate.
        pred: RegId,
        /// Whether it is inverted.
        negated: bool,
        /// Where to when it holds.
        taken: u32,
        /// Where to when not.
        other: u32,
        /// Statement of the branch.
        stmt: u32,
    },
    /// `brx.idx`: statement and targets.
    Switch(u32, Vec<u32>),
    /// The thread ends where the predicate holds; else to the block.
    ExitIf {
        /// The predicate.
        pred: RegId,
        /// Whether it is inverted.
        negated: bool,
        /// Where to when it does not end.
        next: u32,
        /// Statement of the exit.
        stmt: u32,
    },
    /// The thread ends; the statement is a trap if there is one to be said.
    Exit,
    /// Returns from the function.
    Return,
}

impl End {
    pub(super) fn successors(&self) -> Vec<u32> {
        match self {
            End::Jump(b) => vec![*b],
            End::Branch { taken, other, .. } => vec![*taken, *other],
            End::Switch(_, to) => to.clone(),
            End::ExitIf { next, .. } => vec![*next],
            End::Exit | End::Return => Vec::new(),
        }
    }
}

/// A basic block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Name for the reader: its label, or one made up.
    pub(super) name: String,
    /// Statements of its instructions, without the one that ends it.
    pub(super) stmts: Vec<u32>,
    /// The guards of its instructions are known to hold: the branch to it tested them.
    pub(super) guards_hold: bool,
    /// How it ends.
    pub(super) end: End,
}

/// Control flow of one function.
pub(super) struct Cfg {
    pub(super) blocks: Vec<Block>,
    /// Reachable blocks in reverse post-order.
    pub(super) rpo: Vec<u32>,
    /// Immediate dominator; the block itself for the entry, `u32::MAX` for what cannot be reached.
    pub(super) idom: Vec<u32>,
    /// Instructions that cannot be reached.
    pub(super) unreachable: Vec<u32>,
    frontier: Vec<Vec<u32>>,
    depth: Vec<u32>,
}

struct Splitter<'f> {
    f: &'f Function,
    is_kernel: bool,
    blocks: Vec<Block>,
    block_of_label: Vec<u32>,
    taken_names: u32,
}

impl Splitter<'_> {
    fn push(&mut self, name: Option<String>) -> u32 {
        let id = self.blocks.len() as u32;
        let name = name.unwrap_or_else(|| {
            self.taken_names += 1;
            format!("b{}", self.taken_names)
        });
        self.blocks.push(Block { name, stmts: Vec::new(), guards_hold: false, end: End::Return });
        id
    }

    fn label(&self, l: LabelId) -> u32 {
        self.block_of_label[l.index()]
    }

    /// How an instruction ends its block, its guard left aside.
    fn end_of(&self, at: u32, inst: &Inst) -> Option<End> {
        Some(match (inst.op.opcode(), inst.operands.as_slice()) {
            ("bra", [Operand::Label(l)]) => End::Jump(self.label(*l)),
            ("brx", [_, Operand::Table(t)]) => {
                let labels = &self.f.tables[t.index()].labels;
                End::Switch(at, labels.iter().map(|l| self.label(*l)).collect())
            }
            ("ret", _) if self.is_kernel => End::Exit,
            ("ret", _) => End::Return,
            ("exit" | "trap" | "brkpt", _) => End::Exit,
            _ => return None,
        })
    }
}

/// True for instructions that stay in the block that they end: a trap is an instruction, then the thread ends.
fn is_trap(inst: &Inst) -> bool {
    matches!(inst.op.opcode(), "trap" | "brkpt")
}

impl Cfg {
    /// Splits the body of a function into blocks.
    pub(super) fn new(f: &Function, is_kernel: bool) -> Self {
        let body = f.body.as_deref().unwrap_or(&[]);
        let mut s =
            Splitter { f, is_kernel, blocks: Vec::new(), block_of_label: vec![0; f.labels.len()], taken_names: 0 };
        // Labels first: a block for each run of them.
        s.push(Some("entry".into()));
        let mut starts = vec![0u32; body.len() + 1];
        let mut k = 0;
        while k < body.len() {
            if let Stmt::Label(first) = body[k] {
                let b = s.push(Some(f.labels[first.index()].name.trim_start_matches('$').to_string()));
                starts[k] = b;
                while let Some(Stmt::Label(l)) = body.get(k) {
                    s.block_of_label[l.index()] = b;
                    k += 1;
                    // Between two labels there may be positions only.
                    while matches!(body.get(k), Some(Stmt::Loc(_) | Stmt::Pragma(_)))
                        && body[k..]
                            .iter()
                            .find(|x| !matches!(x, Stmt::Loc(_) | Stmt::Pragma(_)))
                            .is_some_and(|x| matches!(x, Stmt::Label(_)))
                    {
                        k += 1;
                    }
                }
            } else {
                k += 1;
            }
        }
        let mut at = 0u32;
        let mut open = true;
        for (k, stmt) in body.iter().enumerate() {
            if starts[k] != 0 {
                if open {
                    s.blocks[at as usize].end = End::Jump(starts[k]);
                }
                at = starts[k];
                open = true;
            }
            let Stmt::Inst(inst) = stmt else { continue };
            if !open {
                at = s.push(None);
                open = true;
            }
            let stmt = k as u32;
            let end = s.end_of(stmt, inst);
            let Some(guard) = inst.guard else {
                match end {
                    Some(end) => {
                        if is_trap(inst) {
                            s.blocks[at as usize].stmts.push(stmt);
                        }
                        s.blocks[at as usize].end = end;
                        open = false;
                    }
                    None => s.blocks[at as usize].stmts.push(stmt),
                }
                continue;
            };
            let (pred, negated) = (guard.reg, guard.negated);
            match end {
                Some(End::Jump(taken)) => {
                    let other = s.push(None);
                    s.blocks[at as usize].end = End::Branch { pred, negated, taken, other, stmt };
                    at = other;
                }
                Some(End::Exit) if is_kernel && !is_trap(inst) => {
                    let next = s.push(None);
                    s.blocks[at as usize].end = End::ExitIf { pred, negated, next, stmt };
                    at = next;
                }
                Some(end) => {
                    let taken = s.push(None);
                    let other = s.push(None);
                    s.blocks[at as usize].end = End::Branch { pred, negated, taken, other, stmt };
                    s.blocks[taken as usize].guards_hold = true;
                    if is_trap(inst) {
                        s.blocks[taken as usize].stmts.push(stmt);
                    }
                    s.blocks[taken as usize].end = end;
                    at = other;
                }
                None if inst.call.is_some() => {
                    let taken = s.push(None);
                    let other = s.push(None);
                    s.blocks[at as usize].end = End::Branch { pred, negated, taken, other, stmt };
                    s.blocks[taken as usize].guards_hold = true;
                    s.blocks[taken as usize].stmts.push(stmt);
                    s.blocks[taken as usize].end = End::Jump(other);
                    at = other;
                }
                None => s.blocks[at as usize].stmts.push(stmt),
            }
        }
        if open {
            // Running past the end returns.
            s.blocks[at as usize].end = if is_kernel { End::Exit } else { End::Return };
        }
        // A label at the very end starts a block that nothing filled: it returns, too.
        for b in &mut s.blocks {
            if is_kernel && b.end == End::Return {
                b.end = End::Exit;
            }
        }
        Self::finish(s.blocks)
    }

    fn finish(blocks: Vec<Block>) -> Self {
        let n = blocks.len();
        let mut rpo = Vec::with_capacity(n);
        let mut state = vec![0u8; n];
        let mut stack: Vec<(u32, Vec<u32>)> = vec![(0, blocks[0].end.successors())];
        state[0] = 1;
        while let Some((b, succs)) = stack.last_mut() {
            // The last successor first, so that the first one follows its block in the order.
            match succs.pop() {
                Some(t) if state[t as usize] == 0 => {
                    state[t as usize] = 1;
                    stack.push((t, blocks[t as usize].end.successors()));
                }
                Some(_) => {}
                None => {
                    rpo.push(*b);
                    stack.pop();
                }
            }
        }
        rpo.reverse();
        let mut preds = vec![Vec::new(); n];
        for &b in &rpo {
            for t in blocks[b as usize].end.successors() {
                preds[t as usize].push(b);
            }
        }
        let mut order = vec![u32::MAX; n];
        rpo.iter().enumerate().for_each(|(k, &b)| order[b as usize] = k as u32);
        let idom = dominators(&rpo, &order, &preds);
        let mut depth = vec![0; n];
        for &b in rpo.iter().skip(1) {
            depth[b as usize] = depth[idom[b as usize] as usize] + 1;
        }
        let mut frontier: Vec<Vec<u32>> = vec![Vec::new(); n];
        for &b in &rpo {
            if preds[b as usize].len() < 2 {
                continue;
            }
            for &p in &preds[b as usize] {
                let mut runner = p;
                while runner != idom[b as usize] {
                    if frontier[runner as usize].last() != Some(&b) {
                        frontier[runner as usize].push(b);
                    }
                    runner = idom[runner as usize];
                }
            }
        }
        let unreachable = (0..n).filter(|&b| idom[b] == u32::MAX).flat_map(|b| blocks[b].stmts.clone()).collect();
        Self { blocks, rpo, idom, unreachable, frontier, depth }
    }

    /// True when `a` is on every path from the entry to `b`.
    pub(super) fn dominates(&self, a: u32, mut b: u32) -> bool {
        while self.depth[b as usize] > self.depth[a as usize] {
            b = self.idom[b as usize];
        }
        a == b
    }

    /// Blocks where values of a variable that is written in `defs` meet.
    pub(super) fn joins(&self, defs: &[u32], mark: &mut [u32], stamp: u32, out: &mut Vec<u32>) {
        out.clear();
        let mut work: Vec<u32> = defs.to_vec();
        while let Some(b) = work.pop() {
            for &f in &self.frontier[b as usize] {
                if mark[f as usize] != stamp {
                    mark[f as usize] = stamp;
                    out.push(f);
                    work.push(f);
                }
            }
        }
        out.sort_unstable();
    }
}

fn dominators(rpo: &[u32], order: &[u32], preds: &[Vec<u32>]) -> Vec<u32> {
    let mut idom = vec![u32::MAX; order.len()];
    idom[rpo[0] as usize] = rpo[0];
    let mut changed = true;
    while changed {
        changed = false;
        for &b in &rpo[1..] {
            let mut new = u32::MAX;
            for &p in &preds[b as usize] {
                if idom[p as usize] == u32::MAX {
                    continue;
                }
                if new == u32::MAX {
                    new = p;
                    continue;
                }
                let (mut x, mut y) = (p, new);
                while x != y {
                    while order[x as usize] > order[y as usize] {
                        x = idom[x as usize];
                    }
                    while order[y as usize] > order[x as usize] {
                        y = idom[y as usize];
                    }
                }
                new = x;
            }
            if idom[b as usize] != new {
                idom[b as usize] = new;
                changed = true;
            }
        }
    }
    idom
}
