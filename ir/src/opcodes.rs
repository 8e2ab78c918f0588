//! The table of opcodes: what each mnemonic does, on every architecture.
//!
//! Keyed by the *base* mnemonic (up to the first dot); modifiers matter where the base says so. The bases are those of
//! SASS for sm_75 to sm_121 and the names that readers of higher forms make (their exact semantics stand at the head of
//! [`crate::semantics`]). Rules, in the order they are applied:
//! 1. control: `jump br brx EXIT exit_if RET call`;
//! 2. arithmetic without memory is pure; its cost of repetition is in issue slots: 1 for the simple units, 2 for
//!    64-bit floats and wide multiplies, 4 for the transcendental and conversion unit, 16 for a software division;
//! 3. what exchanges data among the threads of a warp is convergent and never repeated, even where it touches no memory;
//! 4. loads and stores take their space from the base. A load with the modifier `CONSTANT` or `NC`, and every constant
//!    bank load, is immutable and may be repeated; no other load may. `VOLATILE`, `STRONG` and `MMIO` make an access
//!    ordered. Alias class 0 is the memory of a space that anybody may write, class [`IMMUTABLE_ALIAS`] the part that
//!    nobody writes while the kernel runs;
//! 5. barriers, fences and waits for asynchronous copies order all memory;
//! 6. anything else is [`OpProps::UNKNOWN`]. `BRA`, `BRX`, `JMP`, `JMX`, `KILL` and their like are absent on purpose:
//!    a reader turns them into terminators of the IR, and one that does not must not pass for an ordinary instruction.
//!
//! A table by mnemonic does not see operands, so two things must stand in the mnemonic:
//! * reading a special register that changes (see [`special_is_volatile`]) is `S2R.VOLATILE`, `CS2R.VOLATILE`,
//!   `S2UR.VOLATILE`; without the modifier they are pure and may be repeated;
//! * a wait for warp-group matrix operations ends in the number of groups that may still run: `WGWAIT.1`,
//!   `WARPGROUP.DEPBAR.LE.1`. Without a number it counts as waiting for nothing, which is safe.

use crate::op::{Effect, Flight, OpKind, OpProps, Space};

/// Alias class of memory that nobody writes while the kernel runs.
pub const IMMUTABLE_ALIAS: u8 = 1;

/// Cost of repeating an immutable load from global memory, in issue slots.
const REMAT_LOAD: u8 = 8;

/// True for a special register whose value changes while the kernel runs: clocks, timers, performance counters.
/// Accepts SASS (`SR_CLOCKLO`) and PTX (`%clock64`) names.
pub fn special_is_volatile(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let bare = upper.trim_start_matches('%').trim_start_matches("SR_");
    bare.contains("CLOCK") || bare.contains("TIMER") || bare.starts_with("PM")
}

/// Properties of a mnemonic with modifiers; [`OpProps::UNKNOWN`] when the table does not know it.
pub fn props(mnemonic: &str) -> OpProps {
    let mut parts = mnemonic.split('.');
    let base = parts.next().unwrap_or("");
    let has = |m: &str| mnemonic.split('.').skip(1).any(|x| x == m);
    if let Some(p) = control(base) {
        return p;
    }
    if let Some(cost) = pure_cost(base) {
        if has("VOLATILE") && matches!(base, "S2R" | "S2UR" | "CS2R") {
            return OpProps { ordered: true, ..never(Effect::Pure, Space::Other) };
        }
        return OpProps { remat: Some(cost), ..OpProps::PURE };
    }
    if let Some(p) = warp_wide(base, mnemonic) {
        return p;
    }
    if let Some(p) = memory(base, &has) {
        let ordered = has("VOLATILE") || has("STRONG") || has("MMIO");
        return OpProps { ordered: p.ordered || ordered, remat: if ordered { None } else { p.remat }, ..p };
    }
    synchronization(base).unwrap_or(OpProps::UNKNOWN)
}

/// Known, not repeatable.
const fn never(effect: Effect, space: Space) -> OpProps {
    OpProps { effect, space, remat: None, ..OpProps::PURE }
}

fn control(base: &str) -> Option<OpProps> {
    let end = never(Effect::Pure, Space::None);
    let kind = match base {
        "jump" => OpKind::Jump,
        "br" => OpKind::Branch,
        "brx" => OpKind::Switch,
        "EXIT" => OpKind::Exit,
        "exit_if" => OpKind::ExitIf,
        "RET" => OpKind::Return,
        "call" => {
            return Some(OpProps { kind: OpKind::Call, ..never(Effect::ReadWrite, Space::Other) });
        }
        _ => return None,
    };
    Some(OpProps { kind, ..end })
}

/// Cost of repeating a pure operation, `None` when the base is none.
fn pure_cost(base: &str) -> Option<u8> {
    Some(match base {
        // Integer, logic, moves, comparisons, selection.
        "MOV" | "MOV32I" | "IADD" | "IADD3" | "IADD32I" | "ISUB" | "ISCADD" | "ISCADD32I" | "IMAD" | "IMUL"
        | "IMUL32I" | "INEG" | "IABS" | "IMNMX" | "IDP" | "IDP4A" | "LEA" | "LOP" | "LOP3" | "LOP32I" | "SHF"
        | "SHL" | "SHR" | "BFE" | "BFI" | "BMSK" | "BREV" | "SGXT" | "PRMT" | "SEL" | "ISETP" | "CLZ" | "VABSDIFF"
        | "VABSDIFF4" | "VIADD" | "VIADDMNMX" | "VIMNMX" | "VIMNMX3" | "VHMNMX" | "I2IP" | "LEPC" | "GETLMEMBASE" => 1,
        "PLOP" | "PLOP3" | "PMOV" | "PSETP" | "CSETP" | "CSMTEST" | "P2R" | "R2P" | "FCHK" => 1,
        // Names for halves and widenings of integers.
        "I2I" | "ADD" | "SUB" | "MUL" | "MULHI" | "MAD" | "MIN" | "MAX" | "NEG" | "ABS" | "SAD" => 1,
        // 32-bit and packed 16-bit floats.
        "FADD" | "FADD32I" | "FADD2" | "FFMA" | "FFMA32I" | "FFMA2" | "FMUL" | "FMUL32I" | "FMUL2" | "FMNMX"
        | "FMNMX3" | "FSEL" | "FSET" | "FSETP" | "FNEG" | "FABS" | "FHADD" | "FHFMA" | "FCOPYSIGN" | "FTESTP" => 1,
        "HADD2" | "HADD2_32I" | "HFMA2" | "HFMA2_32I" | "HMUL2" | "HMUL2_32I" | "HMNMX2" | "HSET2" | "HSETP2"
        | "HADD" | "HFMA" | "HMUL" | "HMNMX" | "HSETP" | "HNEG" | "HABS" => 1,
        // 64-bit floats.
        "DADD" | "DFMA" | "DMUL" | "DSETP" | "DMNMX" | "DNEG" | "DABS" | "DSEL" | "DCOPYSIGN" => 2,
        // The transcendental and conversion unit.
        "MUFU" | "F2F" | "F2I" | "I2F" | "I2FP" | "F2IP" | "F2FP" | "FRND" | "POPC" | "FLO" | "BFIND" => 4,
        // Expansions of several instructions.
        "IDIV" | "IREM" | "FDIV" | "FSQRT" | "FRCP" | "FRSQRT" | "FSIN" | "FCOS" | "FEX2" | "FLG2" | "FTANH"
        | "DDIV" | "DSQRT" | "DRCP" | "DRSQRT" | "FNS" => 16,
        // Special registers and moves between the files.
        "S2R" | "S2UR" | "B2R" => 8,
        "CS2R" => 1,
        "UMOV" | "UIADD3" | "UIADD" | "UIMAD" | "UIMNMX" | "UIABS" | "ULOP" | "ULOP3" | "ULOP32I" | "USHF" | "USHL"
        | "USHR" | "ULEA" | "UCLEA" | "USEL" | "UISETP" | "UPLOP3" | "UPSETP" | "UPRMT" | "USGXT" | "UBMSK"
        | "UBREV" | "ULEPC" | "UP2UR" | "UR2UP" | "UVIADD" | "UVIMNMX" | "UVIADDMNMX" | "UVIMNMX3" | "UFADD"
        | "UFFMA" | "UFMUL" | "UFMNMX" | "UFSEL" | "UFSET" | "UFSETP" | "UI2IP" | "UIDP" => 1,
        "UFLO" | "UPOPC" | "UF2F" | "UF2FP" | "UF2I" | "UF2IP" | "UFRND" | "UI2F" | "UI2FP" | "UI2I" | "UMUFU" => 4,
        _ => return None,
    })
}

/// What exchanges data among the threads of a warp, or is run by all of them together.
fn warp_wide(base: &str, mnemonic: &str) -> Option<OpProps> {
    let pure = OpProps { convergent: true, ..never(Effect::Pure, Space::None) };
    Some(match base {
        "SHFL" | "VOTE" | "VOTEU" | "UVOTE" | "VOTE_VTG" | "MATCH" | "REDUX" | "CREDUX" | "ACTIVEMASK" | "ELECT"
        | "R2UR" | "FSWZADD" | "MOVM" => pure,
        "HMMA" | "IMMA" | "BMMA" | "DMMA" | "QMMA" | "OMMA" => pure,
        // Warp-group matrix operations read shared memory through descriptors and run on after they are issued.
        "HGMMA" | "IGMMA" | "QGMMA" | "BGMMA" => {
            OpProps { convergent: true, ordered: true, flight: Flight::Starts, ..never(Effect::Read, Space::Shared) }
        }
        "WGCOMMIT" => OpProps { ordered: true, flight: Flight::Commits, ..pure },
        "WGFENCE" | "WARPGROUPSET" => OpProps { ordered: true, barrier: true, ..pure },
        "WGWAIT" => wait(mnemonic),
        "WARPGROUP" if mnemonic.split('.').any(|m| m == "DEPBAR") => wait(mnemonic),
        "WARPGROUP" => OpProps { ordered: true, barrier: true, ..pure },
        "LDSM" => OpProps { convergent: true, ..never(Effect::Read, Space::Shared) },
        "STSM" => OpProps { convergent: true, ..never(Effect::Write, Space::Shared) },
        // Tensor memory and its matrix operations (sm_100): asynchronous, ordered among themselves.
        "LDTM" => OpProps { convergent: true, ordered: true, ..never(Effect::Read, Space::Tensor) },
        "STTM" => OpProps { convergent: true, ordered: true, ..never(Effect::Write, Space::Tensor) },
        _ => return None,
    })
}

fn wait(mnemonic: &str) -> OpProps {
    let n = mnemonic.rsplit('.').next().and_then(|m| m.parse::<u8>().ok()).unwrap_or(u8::MAX);
    OpProps {
        convergent: true,
        ordered: true,
        barrier: true,
        flight: Flight::Waits(n),
        ..never(Effect::Pure, Space::Other)
    }
}

fn memory(base: &str, has: &dyn Fn(&str) -> bool) -> Option<OpProps> {
    let read = |space| never(Effect::Read, space);
    let write = |space| never(Effect::Write, space);
    let both = |space| never(Effect::ReadWrite, space);
    let fixed = |space, cost| OpProps { immutable: true, alias: IMMUTABLE_ALIAS, remat: Some(cost), ..read(space) };
    Some(match base {
        "LDG" | "LD" if has("CONSTANT") || has("NC") => fixed(Space::Global, REMAT_LOAD),
        "LDG" => read(Space::Global),
        "LDS" => read(Space::Shared),
        "LDL" => read(Space::Local),
        "LD" => read(Space::Generic),
        "LDC" => fixed(Space::Const, 4),
        "LDCU" | "ULDC" => fixed(Space::Const, 2),
        "STG" => write(Space::Global),
        "STS" => write(Space::Shared),
        "STL" => write(Space::Local),
        "ST" => write(Space::Generic),
        "ATOMG" | "RED" | "REDG" | "LDGMC" | "REDGMC" | "UREDGR" | "USTGR" => both(Space::Global),
        "ATOM" => both(Space::Generic),
        "ATOMS" | "REDS" | "REDAS" | "STAS" | "ARRIVES" | "UMEMSETS" | "ATOMCAS" => both(Space::Shared),
        // Reads global memory and writes shared memory.
        "LDGSTS" => both(Space::Generic),
        "TEX" | "TLD" | "TLD4" | "TXD" | "TMML" | "TXA" | "TXQ" | "TXF" | "TEXS" | "TLDS" | "TLD4S" => {
            OpProps { immutable: true, alias: IMMUTABLE_ALIAS, ..read(Space::Texture) }
        }
        "SUQ" | "SUQUERY" => OpProps { immutable: true, alias: IMMUTABLE_ALIAS, ..read(Space::Texture) },
        "SULD" => read(Space::Texture),
        "SUST" => write(Space::Texture),
        "SUATOM" | "SURED" => both(Space::Texture),
        "QSPC" => OpProps { remat: Some(4), ..OpProps::PURE },
        // Cache control: prefetches and invalidations.
        "CCTL" | "CCTLL" | "CCTLT" => OpProps { ordered: true, barrier: has("IVALL"), ..both(Space::Global) },
        "UBLKPF" | "UTMAPF" | "UTMACCTL" => OpProps { ordered: true, ..read(Space::Global) },
        _ => return None,
    })
}

fn synchronization(base: &str) -> Option<OpProps> {
    let effect = OpProps { ordered: true, ..never(Effect::ReadWrite, Space::Other) };
    let all = OpProps { barrier: true, ..effect };
    Some(match base {
        "NOP" | "NANOSLEEP" | "PMTRIG" | "BPT" => {
            OpProps { ordered: base != "NOP", ..never(Effect::Pure, Space::None) }
        }
        "BAR" | "WARPSYNC" | "UCGABAR_ARV" | "UCGABAR_WAIT" => OpProps { convergent: true, ..all },
        "MEMBAR" | "FENCE" | "ERRBAR" | "CGAERRBAR" | "DEPBAR" | "LDGDEPBAR" | "ACQBULK" | "ACQSHMINIT" | "PREEXIT" => {
            all
        }
        // Convergence: which threads run together is hidden state, memory is not touched.
        "BSSY" | "BSYNC" | "BREAK" | "BMOV" | "YIELD" | "ENDCOLLECTIVE" | "R2B" => {
            OpProps { convergent: true, ordered: true, ..never(Effect::Pure, Space::Other) }
        }
        // Transaction barriers in shared memory and bulk copies that signal them.
        "SYNCS" | "SYNCSU" => OpProps { space: Space::Shared, ..all },
        "UBLKCP" | "UBLKRED" | "UTMALDG" | "UTMASTG" | "UTMAREDG" | "UTMACMDFLUSH" | "UGETNEXTWORKID" => all,
        "UTCBAR" | "UTCCP" | "UTCHMMA" | "UTCIMMA" | "UTCQMMA" | "UTCOMMA" | "UTCMXQMMA" | "UTCSHIFT"
        | "UTCATOMSWS" | "UVIRTCOUNT" => OpProps { convergent: true, ..all },
        "USETMAXREG" | "SETMAXREG" | "SETCTAID" | "SETLMEMBASE" => OpProps { convergent: true, ..all },
        // A call that leaves the function: fixed operands and clobbers stand in the signature.
        "CALL" => OpProps { convergent: true, ..all },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn loads_and_stores() {
        let p = props("LDG.E.64.CONSTANT");
        assert!(p.immutable && p.remat == Some(REMAT_LOAD) && p.space == Space::Global && p.alias == IMMUTABLE_ALIAS);
        let p = props("LDG.E.128");
        assert!(!p.immutable && p.remat.is_none() && !p.ordered && p.effect == Effect::Read);
        assert!(props("LDG.E.STRONG.SYS").ordered && props("STG.E.VOLATILE").ordered);
        assert_eq!(props("LDG.E.CONSTANT.STRONG.SYS").remat, None);
        assert_eq!((props("LDC.64").space, props("ULDC.64").remat), (Space::Const, Some(2)));
        assert_eq!((props("LDGSTS.E.BYPASS.128").effect, props("LDS.U.128").space), (Effect::ReadWrite, Space::Shared));
    }

    #[test]
    fn order_and_convergence() {
        for m in
            ["SHFL.BFLY", "VOTE.ANY", "MATCH.ALL", "REDUX.SUM", "ELECT", "HMMA.16816.F32", "LDSM.16.M88.4", "BAR.SYNC"]
        {
            assert!(props(m).convergent && props(m).remat.is_none() && props(m).known, "{m}");
        }
        for m in ["BAR.SYNC", "MEMBAR.SC.GPU", "FENCE.VIEW.ASYNC.S", "ERRBAR", "CCTL.IVALL", "DEPBAR.LE"] {
            assert!(props(m).barrier, "{m}");
        }
        assert!(props("CS2R.VOLATILE").ordered && props("CS2R.VOLATILE").remat.is_none());
        assert!(!props("CS2R").ordered && props("S2R").repeatable());
        assert_eq!(props("HGMMA.64x64x16.F32").flight, Flight::Starts);
        assert_eq!(props("WGWAIT.1").flight, Flight::Waits(1));
        assert_eq!(props("WARPGROUP.DEPBAR.LE").flight, Flight::Waits(u8::MAX));
        assert_eq!(props("WGCOMMIT").flight, Flight::Commits);
    }

    #[test]
    fn what_is_not_known_is_never_pure() {
        for m in ["BRA", "BRX", "KILL", "FROBNICATE.U32", "", "fadd"] {
            assert_eq!(props(m), OpProps::UNKNOWN, "{m}");
        }
        assert!(
            special_is_volatile("SR_CLOCKLO") && special_is_volatile("%globaltimer") && special_is_volatile("SR_PM0")
        );
        assert!(!special_is_volatile("SR_TID.X") && !special_is_volatile("SRZ") && !special_is_volatile("%ntid.x"));
    }

    /// Bases that a SASS reader turns into control flow.
    const DELIBERATE: &[&str] = &["BRA", "BRX"];

    /// The base mnemonic of a line of a listing, if the line holds an instruction.
    fn base_of(line: &str) -> Option<&str> {
        let mut rest = line.trim_start();
        if rest.starts_with("/*") {
            rest = rest[rest.find("*/")? + 2..].trim_start();
        }
        if !rest.contains(';') || rest.starts_with('.') || rest.starts_with("//") {
            return None;
        }
        if rest.starts_with('@') {
            rest = rest[rest.find(char::is_whitespace)?..].trim_start();
        }
        let end =
            rest.find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')).unwrap_or(rest.len());
        (end > 0 && rest.starts_with(|c: char| c.is_ascii_uppercase())).then(|| &rest[..end])
    }

    #[test]
    fn every_base_of_the_listings_is_known() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
        if !corpus.is_dir() {
            println!("skipped: no corpus beside the workspace");
            return;
        }
        let dirs = ["sass", "listings/sm_75", "listings/sm_80", "listings/sm_90"];
        let mut seen = std::collections::BTreeSet::new();
        let mut files = 0;
        for entry in dirs.iter().flat_map(|d| std::fs::read_dir(corpus.join(d)).into_iter().flatten()) {
            let path = entry.expect("readable folder").path();
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            files += 1;
            seen.extend(text.lines().filter_map(base_of).map(str::to_string));
        }
        assert!(files > 200 && seen.len() > 120, "{files} files, {} bases", seen.len());
        let lost: Vec<_> = seen.iter().filter(|b| !props(b).known && !DELIBERATE.contains(&b.as_str())).collect();
        assert!(lost.is_empty(), "not in the table: {lost:?}");
    }
}
