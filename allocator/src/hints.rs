//! Hints: where a value would like to be.
//!
//! A value that is a lane of a later wide operand wants a register from which that run can be built in place, beside the
//! lanes that are placed already (the look-ahead of NAK's allocator). A value that an edge passes to a parameter wants
//! the parameter's register, and the other way round. A hint is only a preference.

use fatpoint_ir::{EntityId, EntityVec, Function, Inst, Lane, Operand, Value};

/// The next wide operand that a value is a lane of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WideUse {
    /// The operand.
    pub operand: Operand,
    /// The lane.
    pub lane: u16,
    /// The instruction.
    pub inst: Inst,
}

/// All hints of a function.
#[derive(Clone, Debug)]
pub struct Hints {
    /// Index into `uses`, or `u32::MAX`.
    wide: EntityVec<Value, u32>,
    uses: Vec<WideUse>,
    param: EntityVec<Value, Value>,
    goal: EntityVec<Value, Value>,
}

impl Hints {
    /// Finds the nearest later wide operand of each value in linear order, and the parameter it is passed to.
    pub fn compute(func: &Function) -> Self {
        let mut wide = EntityVec::filled(func.num_values(), u32::MAX);
        let mut uses = Vec::new();
        let mut param = EntityVec::filled(func.num_values(), Value::NONE);
        let mut goal = EntityVec::filled(func.num_values(), Value::NONE);
        for b in func.blocks().rev() {
            for e in func.succ_edges(b) {
                for (p, a) in func.params(func.edge(e).to).zip(func.edge_args(e)) {
                    if let Some(v) = a.value() {
                        param[v] = p;
                    }
                }
            }
            for i in func.block_insts(b).rev() {
                tied_goals(func, i, &param, &mut goal);
                for &o in func.uses(i) {
                    if o.len() < 2 {
                        continue;
                    }
                    for (k, l) in func.lanes(o).enumerate() {
                        if let Some(v) = l.value() {
                            wide[v] = uses.len() as u32;
                            uses.push(WideUse { operand: o, lane: k as u16, inst: i });
                        }
                    }
                }
            }
        }
        Self { wide, uses, param, goal }
    }

    /// The nearest wide operand (in linear order) that the value is a lane of.
    #[inline]
    pub fn wide_use(&self, v: Value) -> Option<WideUse> {
        let k = self.wide[v];
        (k != u32::MAX).then(|| self.uses[k as usize])
    }

    /// A parameter that the value is passed to.
    #[inline]
    pub fn param(&self, v: Value) -> Option<Value> {
        self.param[v].some()
    }

    /// The parameter that a chain of tied operands carries the value to, in place.
    #[inline]
    pub fn goal(&self, v: Value) -> Option<Value> {
        self.goal[v].some()
    }

    /// Lanes of a wide use, with their positions, other than the value's own.
    pub fn partners<'a>(func: &'a Function, w: &WideUse) -> impl Iterator<Item = (usize, Value)> + 'a {
        let own = w.lane as usize;
        func.lanes(w.operand)
            .enumerate()
            .filter(move |&(k, _)| k != own)
            .filter_map(|(k, l): (usize, Lane)| l.value().map(|v| (k, v)))
    }
}

/// What a tied operand becomes is passed to a parameter, or tied on: so the operand wants that parameter's register.
fn tied_goals(func: &Function, i: Inst, param: &EntityVec<Value, Value>, goal: &mut EntityVec<Value, Value>) {
    let sig = func.sig(i);
    if sig.constraints.is_empty() {
        return;
    }
    let operands = func.operands(i);
    for k in func.num_defs(i)..operands.len() {
        let Some(d) = sig.tied(k) else { continue };
        for (u, x) in func.lanes(operands[k]).zip(func.lanes(operands[d])) {
            let (Some(u), Some(x)) = (u.value(), x.value()) else { continue };
            goal[u] = if goal[x].is_none() { param[x] } else { goal[x] };
        }
    }
}
