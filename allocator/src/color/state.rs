//! Which value each register holds.

use fatpoint_ir::{EntityId, EntityVec, Function, PerClass, PhysReg, RegClass, Value};
use fatpoint_pressure::RegSet;

/// A value and its register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Held {
    /// The value.
    pub value: Value,
    /// Its register.
    pub reg: PhysReg,
}

/// Registers and values, both ways. A value has at most one register.
pub struct State {
    reg: EntityVec<Value, u16>,
    holder: PerClass<Vec<Value>>,
    free: PerClass<RegSet>,
}

/// In [`State::reg`]: class in the upper byte.
const NONE: u16 = u16::MAX;

impl State {
    /// Everything free.
    pub fn new(func: &Function, universe: PerClass<RegSet>) -> Self {
        Self {
            reg: EntityVec::filled(func.num_values(), NONE),
            holder: PerClass(std::array::from_fn(
                |c| if c == 0 || c == 2 { vec![Value::NONE; 256] } else { Vec::new() },
            )),
            free: universe,
        }
    }

    /// The register of a value.
    #[inline]
    pub fn reg(&self, v: Value) -> Option<PhysReg> {
        let r = self.reg[v];
        if r == NONE {
            return None;
        }
        Some(PhysReg { class: if r >> 8 == 0 { RegClass::R } else { RegClass::P }, num: r & 0xff })
    }

    /// The value in a register.
    #[inline]
    pub fn holder(&self, r: PhysReg) -> Option<Value> {
        self.holder[r.class][r.num as usize].some()
    }

    /// Registers that hold nothing.
    #[inline]
    pub fn free_set(&self, c: RegClass) -> RegSet {
        self.free[c]
    }

    /// Puts a value, which has no register, into a free one.
    pub fn put(&mut self, v: Value, r: PhysReg) {
        debug_assert!(self.reg[v] == NONE, "{v} is in {} already", self.reg[v]);
        debug_assert!(self.free[r.class].contains(r.num as u32), "{r} is taken by {:?}", self.holder(r));
        self.reg[v] = r.num | if r.class == RegClass::R { 0 } else { 1 << 8 };
        self.holder[r.class][r.num as usize] = v;
        self.free[r.class].remove(r.num as u32);
    }

    /// Takes a value out of its register, if it has one.
    pub fn free(&mut self, v: Value) {
        if let Some(r) = self.reg(v) {
            self.reg[v] = NONE;
            self.holder[r.class][r.num as usize] = Value::NONE;
            self.free[r.class].insert(r.num as u32);
        }
    }

    /// Everything held in a class, by register.
    pub fn held(&self, c: RegClass) -> impl Iterator<Item = Held> + '_ {
        self.holder[c]
            .iter()
            .enumerate()
            .filter(|(_, v)| !v.is_none())
            .map(move |(n, &value)| Held { value, reg: PhysReg::new(c, n as u16) })
    }

    /// Everything held, general registers first.
    pub fn snapshot(&self) -> Vec<Held> {
        self.held(RegClass::R).chain(self.held(RegClass::P)).collect()
    }

    /// Empties it.
    pub fn clear(&mut self) {
        for h in self.snapshot() {
            self.free(h.value);
        }
    }
}
