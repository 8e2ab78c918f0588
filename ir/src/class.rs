//! Register classes and physical registers.
//!
//! A value is one unit of one class. The seven classes of the texts that speak of predicate, uniform and accumulator
//! files map onto these five; the accumulators of sm_75 to sm_90 are general registers.

use std::fmt;
use std::ops::{Index, IndexMut};

/// The file that a value lives in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum RegClass {
    /// 32-bit general register of a thread.
    R = 0,
    /// 32-bit uniform register, one for the warp.
    UR = 1,
    /// One-bit predicate of a thread.
    P = 2,
    /// One-bit uniform predicate, one for the warp.
    UP = 3,
    /// Convergence barrier, one for the warp.
    B = 4,
}

impl RegClass {
    /// All classes, in the order of their numbers.
    pub const ALL: [RegClass; 5] = [RegClass::R, RegClass::UR, RegClass::P, RegClass::UP, RegClass::B];

    /// The class with this number, if there is one.
    pub fn from_index(i: usize) -> Option<Self> {
        Self::ALL.get(i).copied()
    }

    /// The prefix of its registers in text: `R`, `UR`, `P`, `UP`, `B`.
    pub fn name(self) -> &'static str {
        match self {
            RegClass::R => "R",
            RegClass::UR => "UR",
            RegClass::P => "P",
            RegClass::UP => "UP",
            RegClass::B => "B",
        }
    }

    /// The class with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.name() == name)
    }

    /// True for the files that a whole warp shares (`UR`, `UP`, `B`).
    pub fn is_warp_wide(self) -> bool {
        matches!(self, RegClass::UR | RegClass::UP | RegClass::B)
    }

    /// True for one-bit values.
    pub fn is_predicate(self) -> bool {
        matches!(self, RegClass::P | RegClass::UP)
    }
}

impl fmt::Display for RegClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One item per register class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PerClass<T>(pub [T; 5]);

impl<T> Index<RegClass> for PerClass<T> {
    type Output = T;
    fn index(&self, c: RegClass) -> &T {
        &self.0[c as usize]
    }
}

impl<T> IndexMut<RegClass> for PerClass<T> {
    fn index_mut(&mut self, c: RegClass) -> &mut T {
        &mut self.0[c as usize]
    }
}

/// One physical register: a class and a number within its file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhysReg {
    /// The file.
    pub class: RegClass,
    /// The number in the file, from 0.
    pub num: u16,
}

impl PhysReg {
    /// Register `num` of `class`.
    pub const fn new(class: RegClass, num: u16) -> Self {
        Self { class, num }
    }
    /// General register `num`.
    pub const fn r(num: u16) -> Self {
        Self::new(RegClass::R, num)
    }
    /// Predicate register `num`.
    pub const fn p(num: u16) -> Self {
        Self::new(RegClass::P, num)
    }
}

impl fmt::Display for PhysReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.class, self.num)
    }
}

impl fmt::Debug for PhysReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The stack pointer of the machine's ABI, reserved in every kernel.
pub const STACK_POINTER: PhysReg = PhysReg::r(1);
