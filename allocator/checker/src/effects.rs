//! Order of effects: what a new instruction order must not swap, besides definitions and uses.
//!
//! Operands need no rule here: that a value is defined before it is used shows in the locations. Of two instructions of
//! a block, the order must stay when
//! * both touch one memory space and one of them writes (generic memory overlaps global, shared and local; effects on
//!   unknown state overlap everything; alias classes are not told apart; memory that nobody writes does not count);
//! * one is ordered, a barrier or a call, and the other has any effect or is convergent;
//! * both are convergent;
//! * the first waits for operands in flight, and the second reads a value that may have been in flight.
//!
//! All pairs are seen in one walk over the input order: per kind, only the latest new position so far matters.

use crate::error::{CheckErrorKind as Kind, Errors, Site};
use fatpoint_ir::assigned::AllocatedFunction;
use fatpoint_ir::{Constraint, Effect, EntityId, EntitySet, Flight, Function, Inst, OpKind, OpProps, Space, Value};

/// Memory spaces as bits.
fn space_bits(space: Space) -> u32 {
    let bit = |s: Space| 1u32 << s as u32;
    match space {
        Space::None => 0,
        Space::Generic => bit(Space::Global) | bit(Space::Shared) | bit(Space::Local),
        Space::Other => u32::MAX >> (31 - Space::Other as u32),
        s => bit(s),
    }
}

/// The instruction with the latest new position so far.
#[derive(Clone, Copy, Default)]
struct Latest {
    /// New position + 1; 0 for none.
    pos: u32,
    inst: u32,
}

impl Latest {
    fn see(&mut self, pos: u32, inst: Inst) {
        if pos + 1 > self.pos {
            *self = Latest { pos: pos + 1, inst: inst.0 };
        }
    }
}

#[derive(Default)]
struct Seen {
    read: [Latest; 9],
    write: [Latest; 9],
    ordered: Latest,
    any: Latest,
    convergent: Latest,
    wait: Latest,
}

/// Checks the rules above; nothing to do without an order.
pub(crate) fn check(alloc: &AllocatedFunction<'_>, errors: &mut Errors<'_>) {
    let (f, Some(order)) = (alloc.func, &alloc.order) else { return };
    let mut new_pos = vec![0u32; order.len()];
    for (pos, i) in order.iter().enumerate() {
        new_pos[i.index()] = pos as u32;
    }
    let in_flight = values_in_flight(f);
    for b in f.blocks() {
        let mut seen = Seen::default();
        for i in f.block_insts(b) {
            let p = new_pos[i.index()];
            let reads_flight = in_flight.as_ref().is_some_and(|set| f.use_values(i).any(|v| set.contains(v)));
            if let Some(other) = seen.add(&f.sig(i).props, p, i, reads_flight) {
                errors.push(Kind::Effects, Site::Inst(i), || {
                    format!("it runs before {other} `{}`, which it must follow", f.sig(other).mnemonic)
                });
            }
        }
    }
}

impl Seen {
    /// Adds the next instruction of the input; one that it must follow and does not, if there is any.
    fn add(&mut self, p: &OpProps, pos: u32, i: Inst, reads_flight: bool) -> Option<Inst> {
        let touches = p.effect != Effect::Pure && !p.immutable;
        let reads = touches && p.effect != Effect::Write;
        let writes = touches && p.effect != Effect::Read;
        let ordered = p.ordered || p.barrier || p.kind == OpKind::Call || p.flight != Flight::No;
        let mut bound = Latest::default();
        let mut after = |l: Latest| bound = if l.pos > bound.pos { l } else { bound };
        for s in 0..9 {
            if space_bits(p.space) >> s & 1 == 1 {
                if reads || writes {
                    after(self.write[s]);
                }
                if writes {
                    after(self.read[s]);
                }
            }
        }
        let effect = touches || ordered || p.convergent;
        if effect {
            after(self.ordered);
        }
        if ordered {
            after(self.any);
        }
        if p.convergent {
            after(self.convergent);
        }
        if reads_flight {
            after(self.wait);
        }
        for s in 0..9 {
            if space_bits(p.space) >> s & 1 == 1 {
                if reads {
                    self.read[s].see(pos, i);
                }
                if writes {
                    self.write[s].see(pos, i);
                }
            }
        }
        if effect {
            self.any.see(pos, i);
        }
        if ordered {
            self.ordered.see(pos, i);
        }
        if p.convergent {
            self.convergent.see(pos, i);
        }
        if matches!(p.flight, Flight::Waits(_)) {
            self.wait.see(pos, i);
        }
        (bound.pos > pos + 1).then_some(Inst(bound.inst))
    }
}

/// Values that an instruction leaves in flight, and the parameters that take them on; `None` when there are none.
fn values_in_flight(f: &Function) -> Option<EntitySet<Value>> {
    let starts = |c: &(u16, Constraint)| c.1 == Constraint::InFlight;
    if !f.ops().iter().any(|(_, s)| s.constraints.iter().any(starts)) {
        return None;
    }
    let mut set = EntitySet::with_capacity(f.num_values());
    for i in f.insts() {
        for (k, &o) in f.defs(i).iter().enumerate().filter(|&(k, _)| f.sig(i).in_flight(k)) {
            debug_assert!(k < f.num_defs(i));
            f.lanes(o).filter_map(|l| l.value()).for_each(|v| {
                set.insert(v);
            });
        }
    }
    // Parameters only ever join, so this ends after as many rounds as the longest chain of them.
    loop {
        let mut grew = false;
        for e in f.edges() {
            for (param, arg) in f.params(f.edge(e).to).zip(f.edge_args(e)) {
                if arg.value().is_some_and(|a| set.contains(a)) {
                    grew |= set.insert(param);
                }
            }
        }
        if !grew {
            return Some(set);
        }
    }
}
