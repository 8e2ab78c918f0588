//! Register pressure of a function: liveness, demand, profile, fat points.
//!
//! * [`liveness`] which values are live where, as block ranges in linear order
//! * [`flight`] values that asynchronous operations keep busy until a wait
//! * [`demand`] what one instruction asks of a register file: the definition shared with the allocator
//! * [`profile`] live units and demand at every point, and the fat points
//! * [`next_use`] how far away the next use of a value is

pub mod demand;
pub mod flight;
pub mod liveness;
pub mod next_use;
pub mod profile;
pub mod regset;

pub use demand::{clobbered, fixed_register, min_registers, pack, universe, CallInfo, RunItem, Shape, ShapeBuilder};
pub use liveness::{BlockRange, Liveness};
pub use next_use::{DistanceMap, NextUse};
pub use profile::{ClassProfile, FatPoint, PressureProfile, Units};
pub use regset::RegSet;
