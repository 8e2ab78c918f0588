//! A GPU register-allocation research testbed.
//!
//! fatpoint reads a kernel (PTX or its own SSA text), shows where register pressure peaks (the *fat point*), which
//! register counts buy another resident warp (the *occupancy cliffs*), allocates registers for the count worth chasing,
//! proves the result correct and recomputes the occupancy it really reaches.
//!
//! This crate is the facade over the parts and the pipeline that joins them:
//!
//! * [`ir`] the SSA IR, its text, the interpreter; [`frontends`] readers
//! * [`targets`] architectures, occupancy, cliffs, launch bounds
//! * [`pressure`] liveness and pressure, [`allocator`] the allocator, [`checker`] what proves its results
//! * [`driver`] the pipeline, one readable function for each verb
//! * [`cli`] the command, [`render`] what it prints
//!
//! ```
//! use fatpoint::driver::{self, AllocOptions};
//!
//! let text = "kernel @k .target sm_80 {\nentry:\n  %x: R = MOV 1\n  STG.E [%x], %x\n  EXIT\n}\n";
//! let source = driver::Source::new("k.fp", text);
//! let input = driver::read(&source).map_err(|errors| errors[0].message.clone())?;
//! let kernels = driver::kernels(&input, None).map_err(|e| e.message)?;
//! let kernel = kernels[0].as_ref().map_err(|r| r.name.clone())?;
//! let report = driver::alloc(kernel, &AllocOptions::default()).map_err(|f| f.to_string())?;
//! assert_eq!((report.figures.used.0, report.figures.spill_store_bytes.0), (4, 0));
//! assert_eq!(report.occupancy.warps_per_sm.0, 64);
//! # Ok::<(), String>(())
//! ```

pub use fatpoint_allocator as allocator;
pub use fatpoint_checker as checker;
pub use fatpoint_frontends as frontends;
pub use fatpoint_ir as ir;
pub use fatpoint_pressure as pressure;
pub use fatpoint_targets as targets;

pub mod cli;
pub mod driver;
pub mod render;
