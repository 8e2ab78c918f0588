//! Tests of the text format: grammar with expected text, errors with their place, round trips, hostile input.

mod allocated;
pub(crate) mod arbitrary;
mod errors;
mod grammar;
mod hostile;
mod roundtrip;
mod same;
