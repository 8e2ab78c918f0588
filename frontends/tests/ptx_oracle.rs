//! The oracle of the PTX reader: a naive interpreter over mutable PTX registers against the IR's interpreter.
//!
//! The IR runs first and is recorded, each instruction with the PTX statement that it comes from. Then the PTX runs;
//! its loads, and the instructions that it has no meaning for (floating point, matrices, atomics), answer what the IR's
//! got at the same occurrence of the same statement. Compared are the address of every load and address and data of
//! every store, at every occurrence; by these every modelled instruction before them, and by the occurrences every
//! branch.

use fatpoint_frontends::ptx::ast::{FuncId, Function, Inst, Module, Stmt, SymbolRef, Variable};
use fatpoint_frontends::ptx::exec::{self, Access, Host, Outcome};
use fatpoint_frontends::ptx::lower::{lower_with_origins, origin, variable_offset};
use fatpoint_frontends::ptx::types::{Space, SpecialReg};
use fatpoint_frontends::ptx::{self, LowerOptions};
use fatpoint_ir::interp::{interpret_recorded, seed, Executed, InterpOptions, Stop};
use fatpoint_ir::opcodes::special_is_volatile;
use fatpoint_ir::semantics::{Meaning, Word};
use fatpoint_ir::{Effect, Function as IrFunction};
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};

const OPTIONS: LowerOptions = LowerOptions { param_base: 0x160, ntid_offset: 0 };

/// What an IR instruction is to the oracle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Role {
    /// A load or store.
    Memory,
    /// An instruction without a model.
    Opaque,
}

fn role(ir: &IrFunction, e: fatpoint_ir::Inst, plain_memory: &HashSet<u32>) -> Option<Role> {
    let sig = ir.sig(e);
    let base = sig.base();
    if base == "CALL" || base == "STL" && !plain_memory.contains(&ir.line(e)) {
        return None;
    }
    if sig.props.effect != Effect::Pure && plain_memory.contains(&ir.line(e)) {
        return Some(Role::Memory);
    }
    (Meaning::of(&sig.mnemonic) == Meaning::Opaque).then_some(Role::Opaque)
}

struct Replay<'a> {
    seed: u64,
    module: &'a Module,
    kernel: FuncId,
    /// Statement of each instruction.
    origins: HashMap<*const Inst, u32>,
    log: HashMap<(u32, Role), VecDeque<&'a Executed>>,
    /// What the IR has at all: the rest was found dead.
    has: HashSet<(u32, Role)>,
    /// Statements that some instruction of the IR comes from.
    any: HashSet<u32>,
    finished: bool,
    /// The vector access that is under way: its record, and elements to come.
    current: Option<(&'a Executed, u32)>,
    results: Vec<Word>,
    next_result: usize,
    clocks: u32,
    stopped: Option<&'static str>,
    wrong: Option<String>,
    compared: u64,
}

impl<'a> Replay<'a> {
    fn next(&mut self, inst: &Inst, role: Role) -> Option<&'a Executed> {
        let key = (self.origins[&std::ptr::from_ref(inst)], role);
        while let Some(e) = self.log.get_mut(&key).and_then(VecDeque::pop_front) {
            if e.ran {
                return Some(e);
            }
        }
        if self.has.contains(&key) {
            if self.finished {
                self.fail(inst, "runs more often than in the IR".into());
            } else {
                self.stopped.get_or_insert("the IR ran out of fuel");
            }
        }
        None
    }

    fn fail(&mut self, inst: &Inst, what: String) {
        if self.stopped.is_none() && self.wrong.is_none() {
            self.wrong = Some(format!("line {}: `{}`: {what}", inst.line, inst.op.text()));
        }
    }

    /// The record behind an access, and the offset of the accessed element in it.
    fn access(&mut self, a: &Access<'_>) -> Option<(&'a Executed, usize)> {
        let (e, left) = match self.current.take() {
            Some(c) => c,
            None => (self.next(a.inst, Role::Memory)?, u32::from(a.inst.op.lanes())),
        };
        if left > 1 {
            self.current = Some((e, left - 1));
        }
        let narrow = matches!(a.space, Space::Shared | Space::SharedCluster | Space::Local | Space::Const);
        let mask = if narrow { u64::from(u32::MAX) } else { u64::MAX };
        let (theirs, ours) = (e.addresses.first().copied().unwrap_or(0) & mask, a.address & mask);
        self.compared += 1;
        let offset = ours.wrapping_sub(theirs) & mask;
        let expected = u64::from(u32::from(a.inst.op.lanes()) - left) * u64::from(a.bytes);
        if offset != expected {
            self.fail(a.inst, format!("the address is {ours:#x}, in the IR {:#x}", theirs + expected));
            return None;
        }
        Some((e, offset as usize))
    }
}

/// Bytes of words from an offset, and which of their bits are defined.
fn bytes(words: &[Word], offset: usize, n: u32) -> (u64, u64) {
    let (mut x, mut defined) = (0, 0);
    for k in 0..n as usize {
        let at = offset + k;
        let w = words.get(at / 4).copied().unwrap_or(Word::new(0));
        let shift = 8 * (at % 4);
        x |= u64::from(w.bits >> shift & 0xff) << (8 * k);
        defined |= u64::from(!w.taint >> shift & 0xff) << (8 * k);
    }
    (x, defined)
}

fn constant(seed: u64, bank: u32, at: u64, n: u32) -> u64 {
    let word = |k: u64| Word::new(seed::constant_word(seed, bank, (at & !3) + 4 * k));
    bytes(&[word(0), word(1), word(2)], (at & 3) as usize, n).0
}

impl Host for Replay<'_> {
    fn special(&mut self, register: SpecialReg) -> u64 {
        let name = register.name();
        if let Some(k) = ["%ntid.x", "%ntid.y", "%ntid.z"].iter().position(|n| *n == name) {
            return constant(self.seed, 0, u64::from(OPTIONS.ntid_offset) + 4 * k as u64, 4);
        }
        if name == "WARP_SZ" {
            return 32;
        }
        if name.ends_with(".w") {
            return 0;
        }
        let sr = format!("SR_{}", name.trim_start_matches('%').to_uppercase());
        let word = |high: bool, clocks: u32| {
            u64::from(if special_is_volatile(&sr) {
                seed::volatile_special(self.seed, &sr, 0, clocks, high)
            } else {
                seed::special(self.seed, &sr, 0, high)
            })
        };
        if special_is_volatile(&sr) {
            self.clocks += 1;
        }
        let high = if register.bits() > 32 { word(true, self.clocks) << 32 } else { 0 };
        word(false, self.clocks) | high
    }

    fn param(&mut self, offset: u64, n: u32) -> u64 {
        constant(self.seed, 0, u64::from(OPTIONS.param_base) + offset, n)
    }

    fn symbol(&mut self, function: &Function, symbol: SymbolRef, variable: &Variable) -> u64 {
        let f = self.module.functions.iter().position(|f| std::ptr::eq(f, function)).expect("a function of the module");
        match variable_offset(self.module, self.kernel, FuncId(f as u32), symbol) {
            Some(at) => u64::from(at),
            None => seed::symbol_address(self.seed, &variable.name),
        }
    }

    fn load(&mut self, a: Access<'_>) -> u64 {
        let constant_space = a.space == Space::Const;
        match self.access(&a) {
            Some((e, offset)) => bytes(&e.results, offset, a.bytes).0,
            None if constant_space => constant(self.seed, 3, a.address, a.bytes),
            None => 0,
        }
    }

    fn store(&mut self, a: Access<'_>, value: u64) {
        let Some((e, offset)) = self.access(&a) else { return };
        let (theirs, defined) = bytes(&e.stored, offset, a.bytes);
        if (theirs ^ value) & defined != 0 {
            self.fail(a.inst, format!("it stores {value:#x}, in the IR {theirs:#x}"));
        }
    }

    fn effect(&mut self, inst: &Inst, _: &[u64]) {
        self.results = self.next(inst, Role::Opaque).map(|e| e.results.clone()).unwrap_or_default();
        self.next_result = 0;
        let key = (self.origins[&std::ptr::from_ref(inst)], Role::Opaque);
        let gives = !inst.operands.is_empty() && exec_defines(inst);
        // Modelled here and not there, or no instruction at all.
        if gives && !self.has.contains(&key) && self.live_elsewhere(key.0) {
            self.stopped.get_or_insert("an instruction is modelled in the IR alone");
        }
    }

    fn unmodelled(&mut self, _: &Inst, _: &[u64], _: usize, bits: u32) -> u64 {
        let n = bits.div_ceil(32).max(1) as usize;
        let w = bytes(&self.results, 4 * self.next_result, 4 * (n.min(2)) as u32).0;
        self.next_result += n;
        if bits >= 64 {
            w
        } else {
            w & ((1 << bits) - 1)
        }
    }

    fn barrier(&mut self, _: &Inst, _: &[u64]) {}

    fn call_external(&mut self, _: Option<&Function>, _: &[u64]) {
        self.stopped.get_or_insert("a call leaves the file");
    }

    fn external_result(&mut self, _: Option<&Function>, _: usize, _: usize) -> u64 {
        0
    }
}

fn exec_defines(inst: &Inst) -> bool {
    !matches!(inst.op.opcode(), "st" | "red" | "bar" | "cp" | "prefetch" | "fence" | "membar" | "wgmma" | "tcgen05")
}

impl Replay<'_> {
    /// True when some instruction of the IR comes from the statement.
    fn live_elsewhere(&self, origin: u32) -> bool {
        self.any.contains(&origin)
    }
}

/// How one kernel fared under one seed.
#[derive(Default, Debug)]
struct Tally {
    runs: u32,
    whole: u32,
    compared: u64,
    stops: std::collections::BTreeMap<&'static str, u32>,
}

/// Compares one kernel of a module; the first disagreement is an error.
fn compare(module: &Module, kernel: FuncId, ir: &IrFunction, seed: u64, tally: &mut Tally) -> Result<(), String> {
    let options = InterpOptions { seed, lanes: 1, fuel: 30_000, alias_mod16: false };
    let run = interpret_recorded(ir, &options);
    let mut origins = HashMap::new();
    let mut plain = HashSet::new();
    for (f, function) in module.functions.iter().enumerate() {
        for (k, s) in function.body.iter().flatten().enumerate() {
            if let Stmt::Inst(i) = s {
                let o = origin(FuncId(f as u32), k);
                origins.insert(std::ptr::from_ref(i), o);
                if matches!(i.op.opcode(), "ld" | "ldu" | "st") && exec::models(i) {
                    plain.insert(o);
                }
            }
        }
    }
    let (mut log, mut has, mut any) = (HashMap::<_, VecDeque<_>>::new(), HashSet::new(), HashSet::new());
    for i in ir.insts() {
        any.insert(ir.line(i));
        if let Some(r) = role(ir, i, &plain) {
            has.insert((ir.line(i), r));
        }
    }
    for e in &run.record {
        if let Some(r) = role(ir, e.inst, &plain) {
            log.entry((ir.line(e.inst), r)).or_default().push_back(e);
        }
    }
    let finished = run.stop == Stop::Finished;
    let mut host = Replay {
        seed,
        module,
        kernel,
        origins,
        log,
        has,
        any,
        finished,
        current: None,
        results: Vec::new(),
        next_result: 0,
        clocks: 0,
        stopped: None,
        wrong: None,
        compared: 0,
    };
    let done = exec::run(module, kernel, &mut host, 60_000);
    tally.runs += 1;
    tally.compared += host.compared;
    if let Some(w) = host.wrong {
        return Err(w);
    }
    if let Some(s) = host.stopped {
        *tally.stops.entry(s).or_default() += 1;
        return Ok(());
    }
    match (finished, done.outcome) {
        (true, Outcome::Exit | Outcome::Trap) => {
            // What the IR stored, the PTX stored too.
            let left = host.log.iter().filter(|(k, q)| k.1 == Role::Memory && q.iter().any(|e| e.ran));
            if let Some((k, _)) = left.min_by_key(|x| x.0 .0) {
                return Err(format!("statement {} ran more often in the IR", k.0 - 1));
            }
            tally.whole += 1;
        }
        (false, Outcome::OutOfFuel) | (false, _) => *tally.stops.entry("the IR ran out of fuel").or_default() += 1,
        (true, Outcome::OutOfFuel) => return Err("the PTX runs longer than the IR".into()),
        // An index past the table: the IR takes the last entry.
        (true, _) => *tally.stops.entry("a branch index past its table").or_default() += 1,
    }
    Ok(())
}

fn compare_text(text: &str, seeds: std::ops::Range<u64>, tally: &mut Tally) -> Result<(), String> {
    let module = ptx::parse(text).map_err(|e| e[0].to_string())?;
    let lowered = lower_with_origins(&module, &OPTIONS);
    let ids =
        module.functions.iter().enumerate().filter(|f| f.1.is_entry && f.1.body.is_some()).map(|f| FuncId(f.0 as u32));
    for (id, k) in ids.zip(lowered) {
        let k = k.map_err(|e| format!("{}: {}", e.name, e.errors[0]))?;
        for seed in seeds.clone() {
            let name = &module.functions[id.index()].name;
            compare(&module, id, &k.func, seed, tally).map_err(|e| format!("{name}, seed {seed}: {e}"))?;
        }
    }
    Ok(())
}

fn corpus() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let dirs = [root.join("tests/corpus/ptx"), root.join("../shared/corpus/ptx")];
    let mut files: Vec<PathBuf> = Vec::new();
    for d in dirs.iter().filter(|d| d.is_dir()) {
        files.extend(std::fs::read_dir(d).expect("a folder").map(|e| e.expect("an entry").path()));
    }
    files.retain(|f| f.extension().is_some_and(|e| e == "ptx"));
    files.sort();
    let mut seen = HashSet::new();
    files.retain(|f| seen.insert(f.file_name().map(std::ffi::OsStr::to_os_string)));
    files
}

#[test]
fn the_ir_of_every_corpus_kernel_does_what_its_ptx_does() {
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    let files = corpus();
    for path in &files {
        let text = std::fs::read_to_string(path).expect("readable");
        if let Err(e) = compare_text(&text, 0..3, &mut tally) {
            wrong.push(format!("{}: {e}", path.file_name().expect("a file").to_string_lossy()));
        }
    }
    println!("{} files: {tally:?}", files.len());
    assert!(wrong.is_empty(), "{} files differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(files.is_empty() || tally.compared > 1000 && tally.whole * 3 > tally.runs, "{tally:?}");
}
