//! What the verifier said.

use super::{clean, count, json, FailureJson};
use serde::Serialize;

/// A kernel that was accepted.
#[derive(Serialize, Clone, Debug)]
pub struct VerifiedJson {
    /// Its name.
    pub name: String,
    /// Where it came from.
    pub source: String,
    /// Instructions, terminators included.
    pub instructions: usize,
    /// Blocks.
    pub blocks: usize,
    /// Values: register units of all classes.
    pub values: usize,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    kernels: &'a [VerifiedJson],
    failures: &'a [FailureJson],
}

/// The JSON document of `verify`.
pub fn document(kernels: &[VerifiedJson], failures: &[FailureJson]) -> String {
    json(&Document { schema: "fatpoint.verify/1", kernels, failures })
}

/// A line for each kernel that was accepted.
pub fn text(kernels: &[VerifiedJson]) -> String {
    let line = |k: &VerifiedJson| {
        format!(
            "{}  ({}): ok, {}, {}, {}\n",
            clean(&k.name),
            clean(&k.source),
            count(k.instructions, "instruction", "instructions"),
            count(k.blocks, "block", "blocks"),
            count(k.values, "value", "values")
        )
    };
    kernels.iter().map(line).collect()
}
