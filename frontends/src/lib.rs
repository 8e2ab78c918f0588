//! Readers of fatpoint: PTX and SASS text into the IR.

pub mod ptx;
