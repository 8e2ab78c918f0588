//! Operands in flight: which values the machine still reads or writes when a wait is reached.
//!
//! Input: any function. Output: for each waiting instruction the values whose flight may end there, as extra uses that
//! keep them in place until the wait. A value leaves the set early when a later in-flight operation takes its registers
//! over through a tie (an accumulator chain). On an edge a value that is an argument flies on as the parameter; one that
//! does not dominate the target and is no argument is dropped: it has no name there, and the checker, which follows
//! registers, has the last word. Forward dataflow with union; only blocks that flights reach are visited again.

use fatpoint_ir::dom::DomTree;
use fatpoint_ir::{Block, Edge, EntityId, Flight, Function, Inst, Value};

/// Extra uses of values in flight at waiting instructions, sorted by instruction, and what flies at block entries.
#[derive(Clone, Debug, Default)]
pub struct FlightUses {
    uses: Vec<(Inst, Value)>,
    entry: Vec<Groups>,
}

/// Groups of values in flight, oldest first; the last one is still open.
pub type Groups = Vec<Vec<Value>>;

impl FlightUses {
    /// Finds all flights; cheap when no opcode starts one.
    pub fn compute(func: &Function, dom: &DomTree) -> Self {
        if !func.ops().iter().any(|(_, s)| s.props.flight == Flight::Starts && !s.constraints.is_empty()) {
            return Self::default();
        }
        let mut entry: Vec<Groups> = vec![Groups::new(); func.num_blocks()];
        let mut uses = Vec::new();
        let mut dirty = vec![true; func.num_blocks()];
        let mut again = true;
        while again {
            again = false;
            for b in func.blocks() {
                if !std::mem::take(&mut dirty[b.index()]) {
                    continue;
                }
                let mut state = entry[b.index()].clone();
                for i in func.block_insts(b) {
                    step(func, i, &mut state, &mut uses);
                }
                for e in func.succ_edges(b) {
                    let s = func.edge(e).to;
                    if merge(&mut entry[s.index()], &across(func, dom, e, &state)) {
                        dirty[s.index()] = true;
                        again = true;
                    }
                }
            }
        }
        uses.sort_unstable();
        uses.dedup();
        Self { uses, entry }
    }

    /// Groups in flight at the entry of a block.
    pub fn at_entry(&self, b: Block) -> Groups {
        self.entry.get(b.index()).cloned().unwrap_or_default()
    }

    /// Passes an instruction: what flies after it.
    pub fn advance(func: &Function, i: Inst, state: &mut Groups) {
        step(func, i, state, &mut Vec::new());
    }

    /// Values whose flight may end at this instruction.
    pub fn at(&self, i: Inst) -> impl Iterator<Item = Value> + '_ {
        let s = self.uses.partition_point(|u| u.0 < i);
        self.uses[s..].iter().take_while(move |u| u.0 == i).map(|u| u.1)
    }

    /// True when nothing flies.
    pub fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// All pairs of waiting instruction and value.
    pub fn iter(&self) -> impl Iterator<Item = (Inst, Value)> + '_ {
        self.uses.iter().copied()
    }
}

fn step(func: &Function, i: Inst, state: &mut Groups, uses: &mut Vec<(Inst, Value)>) {
    let sig = func.sig(i);
    match sig.props.flight {
        Flight::No => {}
        Flight::Commits => {
            // A commit of nothing is a group as well: it ages what is in flight.
            if !state.is_empty() {
                state.push(Vec::new());
            }
        }
        Flight::Waits(left) => {
            // The open group counts as one that is still to be committed: it is waited for as well, to be safe.
            let closed = state.len().saturating_sub(1);
            let done = if left == 0 { state.len() } else { closed.saturating_sub(left as usize) };
            for g in state.drain(..done) {
                uses.extend(g.into_iter().map(|v| (i, v)));
            }
        }
        Flight::Starts => {
            if state.is_empty() {
                state.push(Vec::new());
            }
            let defs = func.num_defs(i);
            for (k, &o) in func.operands(i).iter().enumerate() {
                if k >= defs && sig.tied(k).is_some() {
                    for v in func.lanes(o).filter_map(|l| l.value()) {
                        state.iter_mut().for_each(|g| g.retain(|&x| x != v));
                    }
                } else if sig.in_flight(k) {
                    let open = state.last_mut().expect("pushed above");
                    open.extend(func.lanes(o).filter_map(|l| l.value()));
                    open.sort_unstable();
                    open.dedup();
                }
            }
        }
    }
}

/// Ages past this are one.
const MAX_GROUPS: usize = 16;

/// The state as the target of an edge names it.
fn across(func: &Function, dom: &DomTree, e: Edge, state: &Groups) -> Groups {
    let to = func.edge(e).to;
    let mut out: Groups = state.clone();
    for g in &mut out {
        let mut named = Vec::with_capacity(g.len());
        for &v in g.iter() {
            let before = named.len();
            for (p, a) in func.params(to).zip(func.edge_args(e)) {
                if a.value() == Some(v) {
                    named.push(p);
                }
            }
            // At the entry of its own block, the name is for the value to come.
            let home = func.def_block(v);
            if named.len() == before && home != to && dom.dominates(home, to) {
                named.push(v);
            }
        }
        named.sort_unstable();
        named.dedup();
        *g = named;
    }
    while out.len() > MAX_GROUPS {
        let old = out.remove(0);
        out[0].extend(old);
        out[0].sort_unstable();
        out[0].dedup();
    }
    out
}

/// Union by age counted from the youngest group; true when `into` grew.
fn merge(into: &mut Groups, from: &Groups) -> bool {
    let mut grew = false;
    while into.len() < from.len() {
        into.insert(0, Vec::new());
        grew = true;
    }
    let shift = into.len() - from.len();
    for (k, g) in from.iter().enumerate() {
        for &v in g {
            if let Err(at) = into[shift + k].binary_search(&v) {
                into[shift + k].insert(at, v);
                grew = true;
            }
        }
    }
    grew
}
