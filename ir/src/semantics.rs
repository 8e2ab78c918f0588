//! What instructions compute: the table that readers, the interpreter and other executors share.
//!
//! All on 32-bit units; a predicate is one bit. Sources are listed as they follow the guard; a source may carry NEG,
//! ABS, NOT, applied in the order ABS, NEG, NOT. On an integer operation NEG is two's complement and NOT inverts every
//! bit; on a float operation (base starts with `F`, `D`, `H`, `MUFU` or `UF`, apart from `FLO`, `FNS`) NEG flips and ABS
//! clears bit 31 of the operand's last word, so of a pair's high half. NOT on a predicate inverts it.
//!
//! **64-bit sources** are one operand of two lanes (or a wide immediate), or two operands of one word, low half first.
//! When there are just as many operands as 64-bit sources, each is taken whole: a constant-bank operand as the 64 bits
//! there, an immediate and a single register zero-extended. Flags of a 64-bit source stand on its first operand. A
//! 64-bit result is one definition of two lanes or two of one.
//!
//! | mnemonic | sources | result |
//! |---|---|---|
//! | `MOV` (`UMOV`, `S2R`, `S2UR`, `CS2R`, `R2UR`), also `.64` | a | a, lane by lane |
//! | `IADD` (`VIADD`), `ISUB` | a, b | a ± b |
//! | `IADD3` | a, b, c | a + b + c |
//! | `IMAD` (also `.LO .MOV .SHL .IADD`, `.U32`) | a, b, c | low 32 of a·b + c |
//! | `IMAD.HI[.U32]` | a, b, c | high 32 of a·b, + c; a two-lane c is added before taking the high half |
//! | `IMAD.WIDE[.U32]` | a, b, c (64) | 64 bits of a·b + c |
//! | `IADD.CC`, `ISUB.CC` | a, b | r, carry (borrow) out P |
//! | `IADD.X`, `ISUB.X` | a, b, P | a + b + P, a − b − P |
//! | `IADD.XCC`, `ISUB.XCC` | a, b, P | both |
//! | `IMAD.LO.{CC,X,XCC}`, `IMAD.HI[.U32].{CC,X,XCC}` | a, b, c[, P] | the half of a·b, + c, with carries of that addition |
//! | `IADD.64`, `ISUB.64`, `IMUL.64`, `IMUL.HI.{U64,S64}` | a, b (64) | 64 bits |
//! | `LEA` | a, b, n | (a << n) + b |
//! | `SHL[.64]`, `SHR[.U32 .S32 .U64 .S64]` (signed unless said) | a, n | n ≥ width gives 0 or copies of the sign |
//! | `SHF.{L,R}[.W .C]` | **lo, n, hi** (machine order) | L: high, R: low 32 of hi:lo shifted; n mod 32 with `.W`, else at most 32 |
//! | `SHF.{L,R}[.W].{U32,S32,U64,S64}[.HI]` | lo, n, hi | hi:lo shifted, high word with `.HI`, else low; n mod, or at most, 32 or 64 |
//! | `LOP.{AND,OR,XOR}` | a, b | bitwise |
//! | `LOP3.LUT` | a, b, c, table | bit of table at 4a+2b+c |
//! | `BFE.{U32,S32,U64,S64}` | a, pos, len | as PTX `bfe`; pos and len mod 256 |
//! | `BFI[.64]` | a, b, pos, len | a into b, as PTX `bfi` |
//! | `PRMT[.F4E .B4E .RC8 .ECL .ECR .RC16]` | a, b, selector | bytes of b:a |
//! | `POPC BREV CLZ` `[.64]` | a | POPC and CLZ give one word |
//! | `FLO.{U32,S32,U64,S64}[.SH]` | a | highest bit that is no sign copy, or the shift to the top; all ones if none; one word |
//! | `IMNMX.{MIN,MAX}[.U32 .S64 .U64]`; `IMNMX`, `VIMNMX` | a, b; a, b, P | the smaller where P holds |
//! | `IABS[.64]`, `INEG[.64]` | a | |
//! | `SEL`, `FSEL`, `SEL.64` | a, b, P | a where P holds, else b |
//! | `ISETP.cc[.U32 .S64 .U64][.AND .OR .XOR]` | a, b[, P] | P0 = (a cc b) op P; a second definition is (not (a cc b)) op P |
//! | `PLOP.{AND,OR,XOR}`, `PLOP.NOT`, `PMOV` | p, q; p; p | |
//! | `PLOP3.LUT` | p, q, r, table[, table] | table bit at 4p+2q+r, one definition a table |
//! | `I2I.{U8,S8,U16,S16}` | a | low bits of a, extended to 32 |
//! | `ADD SUB MUL MULHI MAD MIN MAX SHL SHR IDIV IREM NEG ABS` + `.U16` or `.S16` | a, b (MAD: c) | on the low 16 bits, result zero-extended; SHL, SHR take a 32-bit amount |
//! | `IDIV`, `IREM` `[.S32 .U32 .S64 .U64]` | a, b | x/0 all ones, x%0 = x, MIN/−1 = MIN; further definitions are scratch: hashes of all |
//! | `FNEG FABS`, `DNEG DABS` | a (D: 64) | sign of the last word flipped, cleared |
//!
//! Uniform forms (`UIADD3`, ...) mean the same. **Everything else is uninterpreted**, and so is a listed mnemonic with a
//! modifier or an operand shape that the table does not list: result lane k is [`Uninterpreted::word`]`(k)`, k counted
//! over all definitions, of the operation that took each source operand's words in order (after modifiers; a predicate
//! is one word; an immediate or constant is one word, two for bases that start with `D`; a special register and the
//! address of a symbol are one word).
//! Loads, stores and atomics are the interpreter's business, see [`crate::interp`].
//!
//! Undefined bits: moves, logic, selection and byte permutation follow them bit by bit; any undefined bit into any other
//! operation makes every result bit undefined.

mod eval;
mod inputs;
pub mod integer;
mod meaning;
mod word;

pub use eval::eval;
pub use inputs::{DefShape, Inputs, Source, SourceKind};
pub use meaning::{Half, Logic, Meaning, Product};
pub use word::{absorb, hash_str, mix, Uninterpreted, Word};

/// The operation of an opcode, ready to evaluate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// What it computes.
    pub meaning: Meaning,
    /// Whether source modifiers act on the sign bit.
    pub float: bool,
    /// Whether immediates and constants are 64 bits wide in its uninterpreted form.
    pub wide: bool,
    /// Hash of the full mnemonic.
    pub name: u64,
}

impl Operation {
    /// The operation that a full mnemonic names.
    pub fn new(mnemonic: &str) -> Self {
        Self {
            meaning: Meaning::of(mnemonic),
            float: Meaning::is_float(mnemonic),
            wide: mnemonic.starts_with('D') && Meaning::is_float(mnemonic),
            name: hash_str(mnemonic),
        }
    }
}
