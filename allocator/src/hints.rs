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
}

impl Hints {
    /// Finds the nearest later wide operand of each value in linear order, and the parameter it is passed to.
    pub fn compute(func: &Function) -> Self {
        let mut wide = EntityVec::filled(func.num_values(), u32::MAX);
        let mut uses = Vec::new();
        let mut param = EntityVec::filled(func.num_values(), Value::NONE);
        for b in func.blocks().rev() {
            for e in func.succ_edges(b) {
                for (p, a) in func.params(func.edge(e).to).zip(func.edge_args(e)) {
                    if let Some(v) = a.value() {
                        param[v] = p;
                    }
                }
            }
            for i in func.block_insts(b).rev() {
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
        Self { wide, uses, param }
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

    /// Lanes of a wide use, with their positions, other than the value's own.
    pub fn partners<'a>(func: &'a Function, w: &WideUse) -> impl Iterator<Item = (usize, Value)> + 'a {
        let own = w.lane as usize;
        func.lanes(w.operand)
            .enumerate()
            .filter(move |&(k, _)| k != own)
            .filter_map(|(k, l): (usize, Lane)| l.value().map(|v| (k, v)))
    }
}
