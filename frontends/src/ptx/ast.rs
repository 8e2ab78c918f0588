//! What a PTX file says, names resolved: a generic grammar of mnemonics, modifiers and operands.
//!
//! Invariants that [`super::parse`](fn@super::parse) establishes:
//! * Every register, label, variable, parameter and function that an instruction names is an id here.
//!   Scopes are gone: the same name in two `{ }` scopes is two ids.
//! * Register ids are dense in the order in which registers are first named (`%r<10000>` declares ten
//!   thousand registers, only those that occur get an id; a register declared alone always gets one).
//! * Labels are dense in the order of their definition, and each is defined by exactly one [`Stmt::Label`].
//! * Operands of known opcodes have the counts that the property table allows.
//!
//! Nothing borrows the text; spans are byte ranges into it.

use super::error::{Note, Span};
use super::mnemonic::Mnemonic;
use super::types::{ScalarType, Space, SpecialReg};
use smallvec::SmallVec;
use std::sync::Arc;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
        pub struct $name(pub u32);
        impl $name {
            /// Index into the vector that the id belongs to.
            #[must_use]
            pub fn index(self) -> usize { self.0 as usize }
        }
    )*};
}

ids! {
    /// A register of one function: index into [`Function::regs`].
    RegId;
    /// A label of one function: index into [`Function::labels`].
    LabelId;
    /// A variable: index into [`Module::variables`] or [`Function::variables`].
    VarId;
    /// A function: index into [`Module::functions`].
    FuncId;
    /// A table of branch or call targets: index into [`Function::tables`].
    TableId;
    /// A call prototype: index into [`Function::prototypes`].
    ProtoId;
}

/// One PTX file.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// `.version`, e.g. `"8.7"`; empty if the file has none.
    pub version: String,
    /// `.target`, all of it, e.g. `["sm_90a", "debug"]`.
    pub target: Vec<String>,
    /// `.address_size` in bits; 64 if the file does not say.
    pub address_size: u32,
    /// Variables at file scope.
    pub variables: Vec<Variable>,
    /// Functions and kernels, in the order in which they are first declared; a declaration and its
    /// definition are one entry.
    pub functions: Vec<Function>,
    /// `.file` entries: index and name.
    pub files: Vec<(u32, String)>,
    /// `.alias` pairs: the new function name and the function it stands for.
    pub aliases: Vec<(String, String)>,
    /// What was read but not understood (unknown directives and opcodes), each kind once.
    pub notes: Vec<Note>,
}

impl Module {
    /// The kernels (`.entry` with a body), in order.
    pub fn kernels(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|f| f.is_entry && f.body.is_some())
    }

    /// The function of that name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|f| f.name == name)
    }
}

/// Visibility written before a variable or function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Linkage {
    /// None written: local to the file.
    #[default]
    Internal,
    /// `.extern`
    Extern,
    /// `.visible`
    Visible,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
}

/// A variable of memory: at file scope, in a function body, or in a scope of it (`.param` call slots).
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// State space.
    pub space: Space,
    /// Element type.
    pub ty: ScalarType,
    /// Vector length of the element (`.v4 .f32`), else 1.
    pub lanes: u16,
    /// Alignment in bytes: as written, else the natural one of the element.
    pub align: u32,
    /// Size in bytes; 0 if it is an unsized array (`a[]`).
    pub bytes: u64,
    /// Whether the outermost dimension is open (`a[]`).
    pub is_unsized: bool,
    /// The initializer's text, if there is one.
    pub init: Option<Span>,
    /// Visibility.
    pub linkage: Linkage,
    /// Where its name stands.
    pub span: Span,
}

/// What `.ptr` says about a parameter that is a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PointerInfo {
    /// The space it points into; [`Space::Generic`] if none is written.
    pub space: Space,
    /// Alignment of what it points to, in bytes, if written.
    pub align: Option<u32>,
}

/// A parameter or return parameter of a function or kernel.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name; empty for `_` in a prototype.
    pub name: String,
    /// Element type.
    pub ty: ScalarType,
    /// Alignment in bytes.
    pub align: u32,
    /// Size in bytes (0 for an unsized last parameter).
    pub bytes: u64,
    /// Offset in bytes from the start of the parameter block (parameters and return parameters apart).
    pub offset: u64,
    /// `.ptr` information.
    pub pointer: Option<PointerInfo>,
    /// The register it lives in, for `.reg` parameters of a function with a body.
    pub reg: Option<RegId>,
    /// Whether it is declared `.reg` rather than `.param`.
    pub is_reg: bool,
    /// Where its name stands.
    pub span: Span,
}

/// Performance and linking directives of a function.
#[derive(Clone, Debug, Default)]
pub struct Directives {
    /// `.maxntid`, missing dimensions are 1.
    pub maxntid: Option<[u32; 3]>,
    /// `.reqntid`, missing dimensions are 1.
    pub reqntid: Option<[u32; 3]>,
    /// `.minnctapersm`
    pub minnctapersm: Option<u32>,
    /// `.maxnreg`
    pub maxnreg: Option<u32>,
    /// `.maxclusterrank`
    pub maxclusterrank: Option<u32>,
    /// `.reqnctapercluster`
    pub reqnctapercluster: Option<[u32; 3]>,
    /// Any other, in order: name without its dot, and its arguments as text.
    pub other: Vec<(String, String)>,
}

/// A register of a function.
#[derive(Clone, Debug)]
pub struct RegDecl {
    /// Its name as written, with its percent sign if it has one.
    pub name: Box<str>,
    /// Declared type of one lane.
    pub ty: ScalarType,
    /// Vector length of a `.v2`/`.v4` register, else 1.
    pub lanes: u16,
}

impl RegDecl {
    /// Width in bits of one lane; 1 for a predicate.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.ty.bits()
    }

    /// Whether it is a predicate.
    #[must_use]
    pub fn is_pred(&self) -> bool {
        self.ty == ScalarType::Pred
    }
}

/// A label of a function.
#[derive(Clone, Debug)]
pub struct Label {
    /// Its name; two scopes may use one name.
    pub name: Box<str>,
    /// Index of its [`Stmt::Label`] in the body.
    pub stmt: u32,
}

/// `T: .branchtargets A, B;` or `T: .calltargets f, g;`.
#[derive(Clone, Debug)]
pub struct TargetTable {
    /// Its name.
    pub name: String,
    /// Branch targets, in order (empty for a call table).
    pub labels: Vec<LabelId>,
    /// Call targets, in order (empty for a branch table).
    pub functions: Vec<FuncId>,
}

/// `P: .callprototype (ret) _ (params);`.
#[derive(Clone, Debug)]
pub struct Prototype {
    /// Its name.
    pub name: String,
    /// Return parameters.
    pub returns: Vec<Param>,
    /// Parameters.
    pub params: Vec<Param>,
}

/// A function or kernel.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Whether it is a kernel (`.entry`).
    pub is_entry: bool,
    /// Visibility.
    pub linkage: Linkage,
    /// Return parameters.
    pub returns: Vec<Param>,
    /// Parameters.
    pub params: Vec<Param>,
    /// Performance directives.
    pub directives: Directives,
    /// Registers.
    pub regs: Vec<RegDecl>,
    /// Variables of the body and of its scopes.
    pub variables: Vec<Variable>,
    /// Labels.
    pub labels: Vec<Label>,
    /// Tables of branch and call targets.
    pub tables: Vec<TargetTable>,
    /// Call prototypes.
    pub prototypes: Vec<Prototype>,
    /// The statements; `None` for a declaration.
    pub body: Option<Vec<Stmt>>,
    /// Where its name stands.
    pub span: Span,
    /// Line of its name.
    pub line: u32,
}

impl Function {
    /// The declaration of a register.
    #[must_use]
    pub fn reg(&self, id: RegId) -> &RegDecl {
        &self.regs[id.index()]
    }

    /// The instructions of the body, in order.
    pub fn insts(&self) -> impl Iterator<Item = &Inst> {
        self.body.iter().flatten().filter_map(|s| match s {
            Stmt::Inst(inst) => Some(inst),
            _ => None,
        })
    }
}

/// A position in a source file, from `.loc`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceLoc {
    /// File number of `.file`.
    pub file: u32,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
}

/// A statement of a body.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// A label is defined here.
    Label(LabelId),
    /// An instruction.
    Inst(Inst),
    /// `.loc`: instructions from here on come from that source position.
    Loc(SourceLoc),
    /// `.pragma`, its strings without quotes.
    Pragma(Vec<String>),
}

/// `@%p` or `@!%p`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    /// The predicate.
    pub reg: RegId,
    /// Whether the instruction runs when it is false.
    pub negated: bool,
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Inst {
    /// Guard predicate.
    pub guard: Option<Guard>,
    /// Opcode and modifiers.
    pub op: Arc<Mnemonic>,
    /// Operands in text order; empty for `call`, see [`Inst::call`].
    pub operands: SmallVec<[Operand; 4]>,
    /// What a `call` says.
    pub call: Option<Box<Call>>,
    /// The instruction with its guard, without the semicolon.
    pub span: Span,
    /// Line of its mnemonic, from 1.
    pub line: u32,
    /// Source position from the last `.loc` before it.
    pub source_loc: Option<SourceLoc>,
}

impl Inst {
    /// The opcode, e.g. `ld`.
    #[must_use]
    pub fn opcode(&self) -> &str {
        self.op.opcode()
    }
}

/// The target of a `call`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallTarget {
    /// A function of the file.
    Function(FuncId),
    /// The function whose address the register holds.
    Register(RegId),
}

/// `call (returns), target, (args), prototype-or-table;`.
#[derive(Clone, Debug)]
pub struct Call {
    /// Where results go: `.param` variables as [`Operand::Symbol`], or registers, or `_`.
    pub returns: Vec<Operand>,
    /// What is called.
    pub target: CallTarget,
    /// Arguments: `.param` variables, registers or immediates.
    pub args: Vec<Operand>,
    /// Prototype of an indirect call.
    pub prototype: Option<ProtoId>,
    /// Table of possible targets of an indirect call.
    pub targets: Option<TableId>,
}

/// How an immediate was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImmKind {
    /// An integer: 64-bit two's complement.
    Int,
    /// `0f…`: the low 32 bits are an `f32`.
    F32,
    /// `0d…` or a decimal with a point: an `f64`.
    F64,
}

/// An immediate operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Imm {
    /// The bits, see [`ImmKind`].
    pub bits: u64,
    /// How it was written.
    pub kind: ImmKind,
}

impl Imm {
    /// The bits that an instruction of type `ty` sees, cut to the type's width. A floating literal is
    /// rounded to the instruction's floating type (`f32`, `f64`); other types take the bits as they are.
    #[must_use]
    pub fn bits_for(self, ty: Option<ScalarType>) -> u64 {
        let bits = match (self.kind, ty) {
            (ImmKind::F64, Some(ScalarType::F32)) => u64::from((f64::from_bits(self.bits) as f32).to_bits()),
            (ImmKind::F32, Some(ScalarType::F64)) => f64::from(f32::from_bits(self.bits as u32)).to_bits(),
            _ => self.bits,
        };
        match ty.map(ScalarType::bits) {
            Some(n @ 1..=63) => bits & ((1 << n) - 1),
            _ => bits,
        }
    }
}

/// A named thing with an address, or a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum SymbolRef {
    /// A variable of the file.
    Module(VarId),
    /// A variable of the function.
    Local(VarId),
    /// Parameter number `n` of the function that names it.
    Param(u32),
    /// Return parameter number `n` of the function that names it.
    Return(u32),
    /// A function.
    Function(FuncId),
}

/// What an address starts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressBase {
    /// The value of a register.
    Reg(RegId),
    /// The address of a symbol.
    Symbol(SymbolRef),
    /// Nothing: the offset is the address.
    Absolute,
}

/// Which part of a register an operand names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// All of it (`-%r1` of the video instructions).
    Whole,
    /// Component of a vector register: 0 is `.x` or `.r`.
    Lane(u8),
    /// `.b0` to `.b3`, or several of them as in `.b3210`: the digits, lowest lane first.
    Bytes(u8, [u8; 4]),
    /// `.h0`, `.h1`, `.h10`, …: the digits, lowest lane first.
    Halves(u8, [u8; 2]),
}

/// The operand of texture, surface and tensor-map instructions: `[handle, {coordinates}]`,
/// `[texture, sampler, {coordinates}]`.
#[derive(Clone, Debug)]
pub struct Texture {
    /// Texture, surface or tensor map.
    pub handle: AddressBase,
    /// Sampler, if given apart.
    pub sampler: Option<AddressBase>,
    /// Coordinates: registers, immediates or `_`; a lone scalar is one coordinate.
    pub coords: Vec<Operand>,
}

/// One operand.
#[derive(Clone, Debug)]
pub enum Operand {
    /// A register.
    Reg(RegId),
    /// `!%p`
    NotPred(RegId),
    /// A part of a register, or a negated one, in vector-register and video forms.
    RegPart {
        /// The register.
        reg: RegId,
        /// Which part.
        part: Part,
        /// `-%r1`
        negated: bool,
    },
    /// `d|p`: two destinations, the second a predicate; each is a register, vector or `_`.
    Pair(Box<[Operand; 2]>),
    /// An immediate.
    Imm(Imm),
    /// A special register.
    Special(SpecialReg),
    /// The address of a symbol plus an offset in bytes; in a call, the symbol itself.
    Symbol {
        /// The symbol.
        symbol: SymbolRef,
        /// Offset in bytes.
        offset: i64,
    },
    /// `{a, b, …}`
    Vector(Box<[Operand]>),
    /// `[base+offset]`
    Address {
        /// Where it starts.
        base: AddressBase,
        /// Offset in bytes.
        offset: i64,
    },
    /// `[handle, {coordinates}]`
    Texture(Box<Texture>),
    /// `_`
    Sink,
    /// A branch target.
    Label(LabelId),
    /// A table of branch targets.
    Table(TableId),
}

impl Operand {
    /// Calls `f` with every register in the operand, in text order.
    pub fn for_each_reg(&self, f: &mut impl FnMut(RegId)) {
        match self {
            Self::Reg(r) | Self::NotPred(r) | Self::RegPart { reg: r, .. } => f(*r),
            Self::Address { base: AddressBase::Reg(r), .. } => f(*r),
            Self::Pair(pair) => pair.iter().for_each(|o| o.for_each_reg(f)),
            Self::Vector(lanes) => lanes.iter().for_each(|o| o.for_each_reg(f)),
            Self::Texture(t) => {
                for base in [Some(t.handle), t.sampler].into_iter().flatten() {
                    if let AddressBase::Reg(r) = base {
                        f(r);
                    }
                }
                t.coords.iter().for_each(|o| o.for_each_reg(f));
            }
            _ => {}
        }
    }
}
