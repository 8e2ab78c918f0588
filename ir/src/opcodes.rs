//! The table of opcodes: what each mnemonic does, on every architecture.

use crate::op::{Effect, OpKind, OpProps, Space};

/// Properties of a mnemonic with modifiers; [`OpProps::UNKNOWN`] when the table does not know it.
pub fn props(mnemonic: &str) -> OpProps {
    let base = mnemonic.split('.').next().unwrap_or("");
    let end = OpProps { remat: None, effect: Effect::Pure, space: Space::None, ..OpProps::PURE };
    match base {
        "jump" => OpProps { kind: OpKind::Jump, ..end },
        "br" => OpProps { kind: OpKind::Branch, ..end },
        "brx" => OpProps { kind: OpKind::Switch, ..end },
        "EXIT" => OpProps { kind: OpKind::Exit, ..end },
        "exit_if" => OpProps { kind: OpKind::ExitIf, ..end },
        "RET" => OpProps { kind: OpKind::Return, ..end },
        "call" => OpProps { kind: OpKind::Call, effect: Effect::ReadWrite, space: Space::Other, ..end },
        _ => OpProps::UNKNOWN,
    }
}
