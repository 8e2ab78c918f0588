//! Values of options that several verbs read.

use clap::Args;
use fatpoint_ir::RegClass;
use fatpoint_targets::launch_bounds::RegCountFlag;
use fatpoint_targets::{Arch, Bytes};

/// An architecture by name.
pub(super) fn arch(name: &str) -> Result<&'static Arch, String> {
    Arch::find(name).map_err(|e| format!("{e}; `fatpoint archs` lists all"))
}

/// The value of `-maxrregcount`.
pub(super) fn reg_count_flag(s: &str) -> Result<RegCountFlag, String> {
    match s {
        "archmin" => Ok(RegCountFlag::ArchMin),
        "archmax" => Ok(RegCountFlag::ArchMax),
        _ => s.parse().map(RegCountFlag::Count).map_err(|_| "expected a number, archmin or archmax".into()),
    }
}

/// A register class by name.
pub(super) fn class(s: &str) -> Result<RegClass, String> {
    RegClass::from_name(s).ok_or_else(|| "expected R, UR, P, UP or B".into())
}

/// `x[,y[,z]]`, what is missing is 1.
pub(super) fn dims(s: &str) -> Result<[u32; 3], String> {
    let mut out = [1u32; 3];
    let parts: Vec<&str> = s.split(',').collect();
    if parts.len() > 3 {
        return Err("expected x, x,y or x,y,z".into());
    }
    for (place, part) in out.iter_mut().zip(&parts) {
        *place = part.trim().parse().map_err(|_| format!("'{part}' is not a number of threads"))?;
    }
    Ok(out)
}

/// Bytes, also with the suffix K or KiB, M or MiB.
pub(super) fn bytes(s: &str) -> Result<Bytes, String> {
    let digits = s.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &s[digits.len()..] {
        "" | "B" => 1,
        "K" | "KiB" => 1024,
        "M" | "MiB" => 1024 * 1024,
        other => return Err(format!("unknown unit '{other}': expected B, KiB or MiB")),
    };
    let n: u32 = digits.parse().map_err(|_| "expected a number of bytes".to_string())?;
    n.checked_mul(unit).map(Bytes).ok_or_else(|| "4 GiB or more".into())
}

/// Shared memory and barriers of a block.
#[derive(Args, Debug)]
pub(super) struct BlockArgs {
    /// Architecture
    #[arg(long, value_parser = arch)]
    pub arch: &'static Arch,
    /// Threads a block
    #[arg(long, value_name = "N")]
    pub threads: u32,
    /// Static shared memory a block, in bytes or as 48K
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "0")]
    pub smem: Bytes,
    /// Shared memory given at launch
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "0")]
    pub dynamic_smem: Bytes,
    /// Named barriers a block
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub barriers: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read() {
        assert_eq!(dims("256"), Ok([256, 1, 1]));
        assert_eq!(dims("16,8,2"), Ok([16, 8, 2]));
        assert!(dims("").is_err() && dims("1,2,3,4").is_err() && dims("x").is_err());
        assert_eq!(bytes("48K"), Ok(Bytes(49152)));
        assert_eq!(bytes("100"), Ok(Bytes(100)));
        assert!(bytes("4096M").is_err() && bytes("K").is_err() && bytes("1G").is_err());
        assert_eq!(reg_count_flag("-1"), Ok(RegCountFlag::Count(-1)));
        assert!(class("r").is_err());
    }
}
