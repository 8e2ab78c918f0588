//! Short texts of instructions for messages.

use fatpoint_ir::{Function, Inst};

/// An instruction as a message names it: its mnemonic, and the first result when there is one.
pub fn describe(func: &Function, i: Inst) -> String {
    match func.def_values(i).next() {
        Some(v) => {
            let name = func.value_name(v);
            let name = name.split('.').next().unwrap_or(&name).to_string();
            format!("`{name} = {}`", func.sig(i).mnemonic)
        }
        None => format!("`{}`", func.sig(i).mnemonic),
    }
}
