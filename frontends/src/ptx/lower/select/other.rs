//! Synchronization, warp-wide exchange, asynchronous copies, tensor memory, textures: one machine instruction each,
//! operands as they stand.

use super::super::super::ast::{AddressBase, Inst, Operand};
use super::super::super::roles::{roles, Role};
use super::super::super::types::{ScalarType, Space};
use super::super::mid::*;
use super::{upper, Lower};
use fatpoint_ir::RegClass;

/// Largest alignment of a run that an instruction of this file takes.
const MAX_ALIGN: u32 = 4;

/// Named barriers of a block; a number that is not known counts as all of them.
const BARRIERS: u32 = 16;

/// The machine instruction that an opcode becomes, with the modifiers that it keeps.
fn machine_name(inst: &Inst) -> Option<String> {
    let op = &inst.op;
    let has = |m: &str| op.has(m);
    let mods: Vec<&str> = op
        .mods()
        .filter(|m| {
            !matches!(*m, "sync" | "aligned" | "b32" | "b64" | "u32" | "s32" | "global" | "shared" | "shared::cta")
        })
        .collect();
    let base = match op.opcode() {
        "bar" | "barrier" if has("warp") => "WARPSYNC",
        "bar" | "barrier" if has("cluster") && has("arrive") => "UCGABAR_ARV",
        "bar" | "barrier" if has("cluster") => "UCGABAR_WAIT",
        "bar" | "barrier" if has("arrive") => "BAR.ARV",
        "bar" | "barrier" if has("red") => "BAR.RED",
        "bar" | "barrier" => "BAR.SYNC",
        "membar" => "MEMBAR",
        "fence" => "FENCE",
        "shfl" => "SHFL",
        "vote" => "VOTE",
        "match" => "MATCH",
        "activemask" => "ACTIVEMASK",
        "elect" => "ELECT",
        "redux" => "REDUX",
        "cp" => return asynchronous(inst),
        "multimem" if has("ld_reduce") => "LDGMC",
        "multimem" if has("red") => "REDGMC",
        "multimem" if has("st") => "STG.MULTIMEM",
        "mbarrier" => "SYNCS",
        "tcgen05" if has("ld") => "LDTM",
        "tcgen05" if has("st") => "STTM",
        "tcgen05" if has("mma") && has("kind::i8") => "UTCIMMA",
        "tcgen05" if has("mma") && has("kind::f8f6f4") => "UTCQMMA",
        "tcgen05" if has("mma") && op.mods().any(|m| m.starts_with("kind::mx")) => "UTCOMMA",
        "tcgen05" if has("mma") => "UTCHMMA",
        "tcgen05" if has("commit") => "UTCBAR",
        "tcgen05" if has("cp") => "UTCCP",
        "tcgen05" if has("shift") => "UTCSHIFT",
        "tcgen05" if has("alloc") || has("dealloc") || has("relinquish_alloc_permit") => "UTCATOMSWS",
        "tcgen05" => "FENCE",
        "nanosleep" => "NANOSLEEP",
        "pmevent" => "PMTRIG",
        "trap" | "brkpt" => "BPT",
        "setmaxnreg" => "USETMAXREG",
        "griddepcontrol" if has("wait") => "ACQBULK",
        "griddepcontrol" => "PREEXIT",
        "prefetch" | "prefetchu" | "applypriority" | "discard" => "CCTL",
        "tex" => "TEX",
        "tld4" => "TLD4",
        "suld" => "SULD",
        "sust" => "SUST",
        "sured" => "SURED",
        "txq" => "TXQ",
        "suq" => "SUQ",
        "dp4a" => "IDP.4A",
        "dp2a" => "IDP.2A",
        "vabsdiff4" => "VABSDIFF4",
        "vabsdiff" | "vabsdiff2" => "VABSDIFF",
        v if v.starts_with('v') && v != "vote" => {
            return Some(format!("VIADD.{}{}", v.to_ascii_uppercase(), upper(&op.mods().collect::<Vec<_>>())))
        }
        "isspacep" | "istypep" => "QSPC",
        "mapa" => "PRMT.MAPA",
        "getctarank" => "PRMT.CTARANK",
        "createpolicy" => "MOV.POLICY",
        "red" => "REDAS",
        "st" if has("async") => "STAS",
        "st" if has("bulk") => "UMEMSETS",
        "clusterlaunchcontrol" if has("try_cancel") => "UGETNEXTWORKID",
        "clusterlaunchcontrol" => "PRMT.CLC",
        "tensormap" => "UTMACCTL",
        _ => return None,
    };
    // These are the name already.
    let said = ["arrive", "red", "cluster", "warp", "ld", "st", "mma", "commit", "cp", "shift", "async"];
    let rest: Vec<&str> = mods.into_iter().filter(|m| !said.contains(m)).collect();
    Some(format!("{base}{}", upper(&rest)))
}

/// Names of `cp.*`.
fn asynchronous(inst: &Inst) -> Option<String> {
    let op = &inst.op;
    let has = |m: &str| op.has(m);
    let bulk = has("bulk");
    let to_global = op.spaces().first() == Some(&Space::Global);
    let name = match () {
        () if has("reduce") && has("tensor") => "UTMAREDG",
        () if has("reduce") => "UBLKRED",
        () if bulk && has("commit_group") => "UTMACMDFLUSH",
        () if bulk && has("wait_group") => "DEPBAR.BULK",
        () if bulk && has("prefetch") && has("tensor") => "UTMAPF",
        () if bulk && has("prefetch") => "UBLKPF",
        () if bulk && has("tensor") && to_global => "UTMASTG",
        () if bulk && has("tensor") => "UTMALDG",
        () if bulk => "UBLKCP",
        () if has("commit_group") => "LDGDEPBAR",
        () if has("wait_group") => "DEPBAR.LE",
        () if has("wait_all") => "DEPBAR",
        () if has("mbarrier") => "SYNCS.ARRIVE.ASYNC",
        () => return None,
    };
    Some(name.to_string())
}

impl Lower<'_> {
    /// Everything that keeps its operands; false if the opcode is not known.
    pub(super) fn other(&mut self, inst: &Inst) -> bool {
        let opcode = inst.op.opcode();
        if opcode == "cp"
            && inst.op.has("async")
            && inst.op.spaces().len() == 2
            && !inst.op.has("bulk")
            && !inst.op.has("mbarrier")
        {
            return self.copy_async(inst);
        }
        if matches!(opcode, "bar" | "barrier") && !inst.op.has("warp") && !inst.op.has("cluster") {
            self.count_barrier(inst);
        }
        let Some(name) = machine_name(inst) else { return false };
        self.generic(inst, &name);
        true
    }

    fn count_barrier(&mut self, inst: &Inst) {
        // `bar.red` has its result first.
        let at = usize::from(inst.op.has("red"));
        let number = match inst.operands.get(at) {
            Some(Operand::Imm(i)) => u32::try_from(i.bits).unwrap_or(BARRIERS).saturating_add(1).min(BARRIERS),
            Some(_) => {
                self.note(inst, format!("the number of a barrier is in a register: counted as all {BARRIERS}"));
                BARRIERS
            }
            None => 1,
        };
        self.barriers = self.barriers.max(number);
    }

    /// `cp.async`: shared memory takes global memory, 4, 8 or 16 bytes.
    fn copy_async(&mut self, inst: &Inst) -> bool {
        let place = |o: &Operand| match o {
            Operand::Address { base, offset } => Some((*base, *offset)),
            Operand::Symbol { symbol, offset } => Some((AddressBase::Symbol(*symbol), *offset)),
            _ => None,
        };
        let ops = &inst.operands;
        let (Some(to), Some(from)) = (place(&ops[0]), place(&ops[1])) else { return false };
        let bytes = match ops.get(2) {
            Some(Operand::Imm(i)) => i.bits,
            _ => 4,
        };
        let size = match bytes {
            8 => ".64",
            16 => ".128",
            _ => "",
        };
        let bypass = if inst.op.has("cg") { ".BYPASS" } else { "" };
        let mut uses = self.address(to.0, to.1, Space::Shared);
        uses.extend(self.address(from.0, from.1, Space::Global));
        for o in ops.iter().skip(3) {
            let pred = matches!(o, Operand::Reg(r) if self.f.reg(*r).is_pred()) || matches!(o, Operand::NotPred(_));
            let u = if pred {
                self.pred_operand(o)
            } else {
                let u = self.source(o, Some(ScalarType::B32));
                match imm64(&u) {
                    Some(x) => Opnd::literal(x),
                    None => Opnd::run(&u),
                }
            };
            uses.push(u);
        }
        self.emit(&format!("LDGSTS.E{bypass}{size}"), &[], uses);
        true
    }

    /// An instruction with its operands as they stand.
    pub(super) fn generic(&mut self, inst: &Inst, name: &str) {
        let roles = roles(inst, self.f);
        let mut defs: Vec<(RegClass, u32)> = Vec::new();
        let mut to: Vec<Operand> = Vec::new();
        let mut uses = Vec::new();
        for (role, o) in roles.operands.iter().zip(&inst.operands) {
            if matches!(role.role, Role::Def | Role::Both) {
                let parts: Vec<&Operand> = match o {
                    Operand::Pair(p) => p.iter().collect(),
                    o => vec![o],
                };
                for part in parts {
                    if let Some(d) = self.definition(part) {
                        defs.push(d);
                        to.push(part.clone());
                    }
                }
                if role.role == Role::Def {
                    continue;
                }
            }
            self.generic_use(o, role.role, role.ty, &mut uses);
        }
        let made = self.emit(name, &defs, uses);
        let id = self.insts.len() - 1;
        for d in &mut self.insts[id].defs {
            d.align = d.align.min(MAX_ALIGN);
        }
        for ((first, (_, len)), o) in made.into_iter().zip(defs).zip(&to) {
            let units: Units = (0..len).map(|k| Src::Val(Val(first.0 + k))).collect();
            // A vector of narrow elements holds one in each register.
            self.write(o, &units);
        }
    }

    /// Class and width of a definition; `None` for `_`.
    fn definition(&self, o: &Operand) -> Option<(RegClass, u32)> {
        let class = |r: super::RegId| if self.f.reg(r).is_pred() { RegClass::P } else { RegClass::R };
        match o {
            Operand::Reg(r) | Operand::RegPart { reg: r, .. } => Some((class(*r), self.width(o) as u32)),
            Operand::Vector(v) => {
                let first = v.iter().find_map(|o| if let Operand::Reg(r) = o { Some(class(*r)) } else { None });
                Some((first.unwrap_or(RegClass::R), self.width(o) as u32))
            }
            _ => None,
        }
    }

    fn generic_use(&mut self, o: &Operand, role: Role, ty: Option<ScalarType>, uses: &mut Vec<Opnd>) {
        match (role, o) {
            (Role::Address { space, .. }, Operand::Address { base, offset }) => {
                let a = self.address(*base, *offset, space);
                uses.extend(a);
            }
            (Role::Address { space, .. }, Operand::Symbol { symbol, offset }) => {
                let a = self.address(AddressBase::Symbol(*symbol), *offset, space);
                uses.extend(a);
            }
            (_, Operand::Texture(t)) => {
                for base in [Some(t.handle), t.sampler].into_iter().flatten() {
                    match base {
                        AddressBase::Reg(r) => uses.push(Opnd::run(&self.reg(r))),
                        AddressBase::Symbol(s) => {
                            let a = self.symbol_address(s, 0);
                            uses.push(Opnd::run(&a));
                        }
                        AddressBase::Absolute => {}
                    }
                }
                let coords: Units = t.coords.iter().flat_map(|o| self.source(o, Some(ScalarType::B32))).collect();
                uses.extend(coords.chunks(MAX_ALIGN as usize).map(Opnd::run));
            }
            (_, Operand::Sink | Operand::Label(_) | Operand::Table(_)) => {}
            (_, Operand::NotPred(_)) => {
                let p = self.pred_operand(o);
                uses.push(p);
            }
            (_, Operand::Reg(r)) if self.f.reg(*r).is_pred() => {
                let p = self.pred_operand(o);
                uses.push(p);
            }
            (_, Operand::Imm(i)) => uses.push(Opnd::literal(i.bits_for(ty.or(Some(ScalarType::B64))))),
            _ => {
                let u = self.source(o, ty);
                let mut x = Opnd::run(&u);
                if let Kind::Lanes { align, .. } = &mut x.kind {
                    *align = (*align).min(MAX_ALIGN);
                }
                uses.push(x);
            }
        }
    }
}
