//! What a run finds outside the program: special registers, constant banks, addresses, memory that nothing wrote.
//!
//! Pure functions of the seed, so that another executor can start from the same world. One seed in four is *small*: its
//! constant words are below 32, so that loops bounded by parameters end early and addresses collide.

use crate::op::Space;
use crate::semantics::{absorb, hash_str, mix};

/// True for a seed whose constants are small numbers.
pub const fn is_small(seed: u64) -> bool {
    seed % 4 == 1
}

const fn hash3(seed: u64, domain: u64, a: u64, b: u64) -> u64 {
    mix(absorb(absorb(absorb(seed, domain), a), b))
}

/// The aligned 32-bit word of a constant bank at a byte offset (rounded down to a multiple of 4).
pub const fn constant_word(seed: u64, bank: u32, offset: u64) -> u32 {
    let w = hash3(seed, 1, bank as u64, offset / 4) as u32;
    if is_small(seed) {
        w & 31
    } else {
        w
    }
}

/// The word at `4 * word` bytes in memory that nothing wrote. Generic addresses see global memory; memory that is only
/// read (`LDG.CONSTANT`) is global memory too.
pub const fn untouched_word(seed: u64, space: Space, word: u64) -> u32 {
    let space = match space {
        Space::Generic => Space::Global,
        s => s,
    };
    hash3(seed, 2, space as u64, word) as u32
}

/// Address of a variable or function by name: a multiple of 256 below 16 MiB.
pub fn symbol_address(seed: u64, name: &str) -> u64 {
    (hash3(seed, 3, hash_str(name), 0) & 0xffff) << 8
}

/// A special register as a thread sees it; `high` is the second word of a 64-bit read. Names are SASS (`SR_TID.X`) or
/// PTX (`%tid.x`), in any case; `SRZ` is zero. Thread and lane numbers count threads, grid and block sizes are small,
/// everything else is the same for all threads.
pub fn special(seed: u64, name: &str, thread: u32, high: bool) -> u32 {
    let upper = name.to_ascii_uppercase();
    let bare = upper.trim_start_matches('%').trim_start_matches("SR_");
    let h = |extra: u64| hash3(seed, 4, hash_str(bare), extra) as u32;
    if high || bare == "SRZ" {
        return if bare == "SRZ" { 0 } else { h(1) };
    }
    let per_thread = ["LTMASK", "LEMASK", "GTMASK", "GEMASK", "EQMASK"];
    match bare {
        "LANEID" => thread,
        "TID.X" | "TID" => h(0) % 8 * 32 + thread,
        _ if bare.starts_with("TID.") => h(0) % 4,
        _ if bare.contains("NTID") || bare.contains("NCTAID") => 1 + h(0) % 64,
        _ if bare.starts_with("LANEMASK") || per_thread.contains(&bare) => h(2 + thread as u64),
        _ if bare.contains("CTAID") || bare.contains("WARPID") => h(0) % 64,
        _ if is_small(seed) => h(0) & 31,
        _ => h(0),
    }
}

/// The `count`-th value that a thread reads from a special register that changes (a clock).
pub fn volatile_special(seed: u64, name: &str, thread: u32, count: u32, high: bool) -> u32 {
    hash3(seed, 5, hash_str(name), (thread as u64) << 33 | (count as u64) << 1 | high as u64) as u32
}

/// Word `index` of the parameters of the entry block of the kernel.
pub const fn entry_param(seed: u64, index: u32, thread: u32) -> u32 {
    hash3(seed, 6, index as u64, thread as u64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_is_a_function_of_the_seed() {
        assert_ne!(constant_word(2, 0, 0x160), constant_word(3, 0, 0x160));
        assert_ne!(constant_word(2, 0, 0x160), constant_word(2, 0, 0x164));
        assert_eq!(constant_word(2, 0, 0x160), constant_word(2, 0, 0x163));
        assert!((0..400).all(|k| constant_word(5, 0, 4 * k) < 32));
        assert_eq!(untouched_word(7, Space::Generic, 9), untouched_word(7, Space::Global, 9));
        assert_ne!(untouched_word(7, Space::Shared, 9), untouched_word(7, Space::Global, 9));
        assert_eq!(special(7, "SR_TID.X", 3, false), special(7, "%tid.x", 0, false) + 3);
        assert_eq!((special(7, "SRZ", 1, false), special(7, "SR_LANEID", 1, false)), (0, 1));
        assert_eq!(symbol_address(1, "table") % 256, 0);
    }
}
