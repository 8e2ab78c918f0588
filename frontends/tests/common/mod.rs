//! Helpers that several tests of the readers share.
#![allow(dead_code, missing_docs)] // each test uses some of them

use fatpoint_frontends::ptx::ast::{FuncId, Function, Inst, Module, SymbolRef, Variable};
use fatpoint_frontends::ptx::exec::{Access, Host};
use fatpoint_frontends::ptx::types::{Space, SpecialReg};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn ptx_files(dir: &Path) -> Vec<PathBuf> {
    let Ok(dir) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut files: Vec<_> =
        dir.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.extension().is_some_and(|e| e == "ptx")).collect();
    files.sort();
    files
}

/// The committed kernels: name and text.
pub fn kernels() -> Vec<(String, String)> {
    read(ptx_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx")))
}

/// The committed kernels and, where it is present, the large corpus beside the workspace.
pub fn all_kernels() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus/ptx");
    let files = ptx_files(&root);
    if files.is_empty() {
        println!("the large corpus is skipped: not found");
    }
    let mut all = kernels();
    all.extend(read(files));
    all
}

fn read(files: Vec<PathBuf>) -> Vec<(String, String)> {
    let name = |p: &Path| p.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().map(|p| (name(p), std::fs::read_to_string(p).unwrap())).collect()
}

pub fn kernel_ids(module: &Module) -> Vec<FuncId> {
    let has_body = |f: &Function| f.is_entry && f.body.is_some();
    (0..module.functions.len()).filter(|i| has_body(&module.functions[*i])).map(|i| FuncId(i as u32)).collect()
}

/// A mixing function with no meaning.
pub fn hash(words: &[u64]) -> u64 {
    words.iter().fold(0x9e37_79b9_7f4a_7c15, |h, w| {
        let x = (h ^ w).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^ (x >> 29)
    })
}

/// A host with byte memory, given parameters and special registers; all else is a hash.
#[derive(Default)]
pub struct MapHost {
    pub params: Vec<u8>,
    pub specials: BTreeMap<String, u64>,
    pub memory: BTreeMap<(Space, u64), u8>,
    /// Stores in order: space, address, bytes, value.
    pub stores: Vec<(Space, u64, u32, u64)>,
    pub unmodelled: Vec<String>,
    pub external: Vec<(String, Vec<u64>)>,
    pub barriers: usize,
    symbols: BTreeMap<String, u64>,
}

impl MapHost {
    pub fn new(params: &[u64]) -> Self {
        Self { params: params.iter().flat_map(|p| p.to_le_bytes()).collect(), ..Self::default() }
    }
}

impl Host for MapHost {
    fn special(&mut self, register: SpecialReg) -> u64 {
        let name = register.name();
        self.specials.get(&name).copied().unwrap_or_else(|| hash(&[register.index() as u64]) & 0xff)
    }
    fn param(&mut self, offset: u64, bytes: u32) -> u64 {
        let byte = |i: u64| {
            let given = usize::try_from(offset + i).ok().and_then(|at| self.params.get(at)).copied();
            // Not given: small 32-bit numbers, since many are loop counts.
            let small = if (offset + i) % 4 == 0 { hash(&[offset]) as u8 & 0xf } else { 0 };
            u64::from(given.unwrap_or(small)) << (8 * i)
        };
        (0..u64::from(bytes)).map(byte).sum()
    }
    fn symbol(&mut self, _: &Function, symbol: SymbolRef, variable: &Variable) -> u64 {
        let next = 0x1000 * (self.symbols.len() as u64 + 1);
        *self.symbols.entry(format!("{symbol:?}{}", variable.name)).or_insert(next)
    }
    fn load(&mut self, a: Access<'_>) -> u64 {
        let byte = |i: u64| {
            let at = a.address.wrapping_add(i);
            let stored = self.memory.get(&(a.space, at)).copied();
            u64::from(stored.unwrap_or_else(|| hash(&[a.space as u64, at]) as u8)) << (8 * i)
        };
        (0..u64::from(a.bytes)).map(byte).sum()
    }
    fn store(&mut self, a: Access<'_>, value: u64) {
        self.stores.push((a.space, a.address, a.bytes, value));
        for i in 0..u64::from(a.bytes) {
            self.memory.insert((a.space, a.address.wrapping_add(i)), (value >> (8 * i)) as u8);
        }
    }
    fn effect(&mut self, inst: &Inst, _: &[u64]) {
        self.unmodelled.push(inst.op.text().to_string());
    }
    fn unmodelled(&mut self, inst: &Inst, inputs: &[u64], index: usize, _: u32) -> u64 {
        let name: u64 = inst.op.text().bytes().map(u64::from).fold(0, |h, b| hash(&[h, b]));
        hash(&[name, hash(inputs), index as u64])
    }
    fn barrier(&mut self, _: &Inst, _: &[u64]) {
        self.barriers += 1;
    }
    fn call_external(&mut self, callee: Option<&Function>, args: &[u64]) {
        self.external.push((callee.map_or(String::new(), |f| f.name.clone()), args.to_vec()));
    }
    fn external_result(&mut self, _: Option<&Function>, index: usize, word: usize) -> u64 {
        hash(&[index as u64, word as u64])
    }
}
