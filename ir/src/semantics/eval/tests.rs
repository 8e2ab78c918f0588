use super::*;

/// Arguments of a test: words, pairs, immediates, predicates.
#[derive(Clone, Copy)]
enum A {
    W(u32),
    L(u64),
    I(u32),
    P(bool),
    C(u64),
    Neg(u32),
    Not(u32),
    Undef(u32),
    UndefP,
}

fn run_words(name: &str, args: &[A], defs: &[(u32, bool)]) -> Vec<Word> {
    let mut inputs = Inputs::default();
    let n = Word::new;
    let long = |x: u64| [n(x as u32), n((x >> 32) as u32)];
    for &a in args {
        let none = OperandFlags::NONE;
        match a {
            A::W(x) => inputs.push(SourceKind::Register, none, [n(x)]),
            A::L(x) => inputs.push(SourceKind::Register, none, long(x)),
            A::I(x) => inputs.push(SourceKind::Immediate, none, [n(x), n(0)]),
            A::P(p) => inputs.push(SourceKind::Predicate, none, [Word::flag(p)]),
            A::C(x) => inputs.push(SourceKind::Constant, none, long(x)),
            A::Neg(x) => inputs.push(SourceKind::Register, OperandFlags::NEG, [n(x)]),
            A::Not(x) => inputs.push(SourceKind::Register, OperandFlags::NOT, [n(x)]),
            A::Undef(x) => inputs.push(SourceKind::Register, none, [n(x).tainted()]),
            A::UndefP => inputs.push(SourceKind::Predicate, none, [Word { bits: 1, taint: 1 }]),
        }
    }
    let defs: Vec<DefShape> = defs.iter().map(|&(lanes, predicate)| DefShape { lanes, predicate }).collect();
    let mut out = Vec::new();
    eval(&Operation::new(name), &inputs, &defs, &mut out);
    out
}

fn one(name: &str, args: &[A]) -> u32 {
    let w = run_words(name, args, &[(1, false)]);
    assert_eq!((w.len(), w[0].taint), (1, 0), "{name}");
    w[0].bits
}

fn two(name: &str, args: &[A]) -> u64 {
    let pair = run_words(name, args, &[(2, false)]);
    let halves = run_words(name, args, &[(1, false), (1, false)]);
    assert_eq!(pair, halves, "{name}");
    pair[0].bits as u64 | (pair[1].bits as u64) << 32
}

fn flags(name: &str, args: &[A], k: usize) -> Vec<bool> {
    run_words(name, args, &vec![(1, true); k]).iter().map(|w| w.truth()).collect()
}

use A::*;

#[test]
fn additions_and_products() {
    assert_eq!(one("IADD", &[W(5), Neg(7)]), -2i32 as u32);
    assert_eq!(one("ISUB", &[W(5), I(7)]), -2i32 as u32);
    assert_eq!(one("IADD3", &[W(u32::MAX), W(2), Neg(1)]), 0);
    assert_eq!(one("UIADD3", &[W(1), W(2), C(3)]), 6);
    assert_eq!(one("IMAD", &[W(7), I(6), W(1)]), 43);
    assert_eq!(one("IMAD.MOV.U32", &[I(0), I(0), W(9)]), 9);
    assert_eq!(one("IMAD.HI.U32", &[W(u32::MAX), W(u32::MAX), W(1)]), u32::MAX);
    assert_eq!(one("IMAD.HI", &[W(u32::MAX), W(u32::MAX), L(u64::MAX)]), 0);
    assert_eq!(two("IMAD.WIDE", &[W(-3i32 as u32), I(4), L(20)]), 8);
    assert_eq!(two("IMAD.WIDE.U32", &[W(u32::MAX), I(2), I(0)]), 0x1_ffff_fffe);
    assert_eq!(two("IMAD.WIDE", &[W(1), I(4), C(0x7f00_0000_0010)]), 0x7f00_0000_0014);
    assert_eq!(two("IADD.64", &[W(u32::MAX), W(0), I(1), I(0)]), 1 << 32);
    assert_eq!(two("IADD.64", &[L(u32::MAX as u64), I(1)]), 1 << 32);
    assert_eq!(two("ISUB.64", &[L(0), W(1), W(0)]), u64::MAX);
    assert_eq!(two("IMUL.64", &[L(1 << 33), L(3)]), 3 << 33);
    assert_eq!(two("IMUL.HI.U64", &[L(u64::MAX), L(u64::MAX)]), u64::MAX - 1);
    assert_eq!(one("LEA", &[W(3), W(100), I(4)]), 148);
}

#[test]
fn carries() {
    let carry = |name: &str, args: &[A]| {
        let w = run_words(name, args, &[(1, false), (1, true)]);
        (w[0].bits, w[1].truth())
    };
    assert_eq!(carry("IADD.CC", &[W(u32::MAX), W(1)]), (0, true));
    assert_eq!(one("IADD.X", &[W(1), W(2), P(true)]), 4);
    assert_eq!(carry("IADD.XCC", &[W(u32::MAX), W(0), P(true)]), (0, true));
    assert_eq!(carry("ISUB.CC", &[W(0), W(1)]), (u32::MAX, true));
    assert_eq!(one("ISUB.X", &[W(5), W(1), P(true)]), 3);
    assert_eq!(carry("IMAD.LO.CC", &[W(0x8000_0000), W(1), W(0x8000_0000)]), (0, true));
    assert_eq!(one("IMAD.HI.U32.X", &[W(u32::MAX), W(2), W(5), P(true)]), 7);
    assert_eq!(carry("IMAD.HI.U32.XCC", &[W(u32::MAX), W(2), W(u32::MAX), P(false)]), (0, true));
}

#[test]
fn shifts_logic_and_bits() {
    assert_eq!((one("SHL", &[W(1), W(32)]), one("SHR.S32", &[W(1 << 31), I(99)])), (0, u32::MAX));
    assert_eq!((one("SHR.U32", &[W(1 << 31), I(31)]), one("SHF.L.W", &[W(1 << 31), I(33), W(0)])), (1, 1));
    assert_eq!(one("SHF.L.C", &[W(7), I(40), W(1)]), 7);
    assert_eq!(one("SHF.R.W", &[W(0), I(4), W(0xf)]), 0xf000_0000);
    assert_eq!(one("SHF.R.U32.HI", &[I(0), I(4), W(0xf0)]), 0xf);
    assert_eq!(one("SHF.L.U32", &[W(3), I(4), I(0)]), 0x30);
    assert_eq!(one("SHF.L.U64.HI", &[W(1 << 31), I(1), W(1)]), 3);
    assert_eq!(one("SHF.R.S32.HI", &[I(0), I(0x1f), W(1 << 31)]), u32::MAX);
    assert_eq!(two("SHL.64", &[W(1), W(0), I(40)]), 1 << 40);
    assert_eq!(two("SHR.S64", &[L(1 << 63), I(63)]), u64::MAX);
    assert_eq!(two("SHR.U64", &[W(0), W(1), I(32)]), 1);
    assert_eq!((one("LOP.AND", &[W(12), Not(4)]), one("LOP.XOR", &[W(5), I(1)])), (8, 4));
    assert_eq!(one("LOP3.LUT", &[W(0b1100), W(0b1010), W(0b0001), I(0xea)]), 0b1001);
    assert_eq!((one("BFE.S32", &[W(0x80), I(7), I(1)]), one("BFI", &[W(3), W(0), I(4), I(2)])), (u32::MAX, 0x30));
    assert_eq!(two("BFE.U64", &[L(0xff << 40), I(40), I(4)]), 0xf);
    assert_eq!(one("PRMT", &[W(0x1122_3344), W(0), I(0x0123)]), 0x4433_2211);
    assert_eq!((one("POPC", &[W(0xff)]), one("POPC.64", &[W(1), W(1)]), one("CLZ", &[W(0)])), (8, 2, 32));
    assert_eq!(
        (one("CLZ.64", &[L(1)]), one("FLO.U32.SH", &[W(1)]), one("FLO.S32", &[W(u32::MAX)])),
        (63, 31, u32::MAX)
    );
    assert_eq!((one("BREV", &[W(1)]), two("BREV.64", &[L(1)])), (1 << 31, 1 << 63));
    assert_eq!((one("I2I.S8", &[W(0x180)]), one("I2I.U16", &[W(0x1_8000)])), (0xffff_ff80, 0x8000));
}

#[test]
fn comparisons_and_choice() {
    assert_eq!(flags("ISETP.LT", &[W(u32::MAX), W(0)], 1), [true]);
    assert_eq!(flags("ISETP.LT.U32", &[W(u32::MAX), W(0)], 2), [false, true]);
    assert_eq!(flags("ISETP.GE.AND", &[W(3), W(2), P(false)], 2), [false, false]);
    assert_eq!(flags("ISETP.EQ.XOR", &[W(3), W(3), P(true)], 2), [false, true]);
    assert_eq!(flags("ISETP.GT.S64", &[W(0), W(1), W(u32::MAX), W(0)], 1), [true]);
    assert_eq!(flags("ISETP.LT.U64.OR", &[L(2), L(1), P(true)], 1), [true]);
    assert_eq!(flags("PLOP.OR", &[P(false), P(true)], 1), [true]);
    assert_eq!(flags("PLOP.NOT", &[P(true)], 1), [false]);
    assert_eq!(flags("PLOP3.LUT", &[P(true), P(false), P(true), I(1 << 5), I(0xdf)], 2), [true, false]);
    assert_eq!((one("SEL", &[W(1), W(2), P(true)]), one("SEL", &[W(1), W(2), P(false)])), (1, 2));
    assert_eq!(
        (one("IMNMX.MAX", &[W(u32::MAX), W(1)]), one("IMNMX.U32", &[W(u32::MAX), W(1), P(false)])),
        (1, u32::MAX)
    );
    assert_eq!(two("IMNMX.MIN.S64", &[L(u64::MAX), L(1)]), u64::MAX);
    assert_eq!((one("IABS", &[W(-4i32 as u32)]), two("INEG.64", &[L(1)])), (4, u64::MAX));
    assert_eq!((one("IDIV.U32", &[W(7), W(0)]), one("IREM.S32", &[Neg(7), W(2)])), (u32::MAX, u32::MAX));
    assert_eq!(two("IDIV.S64", &[W(-9i32 as u32), W(u32::MAX), I(2), I(0)]), -4i64 as u64);
    assert_eq!((one("ADD.U16", &[W(0xffff), W(2)]), one("SHR.S16", &[W(0x8000), I(20)])), (1, 0xffff));
    assert_eq!((one("MAD.U16", &[W(0x100), W(0x100), W(5)]), one("ABS.S16", &[W(0xffff)])), (5, 1));
    assert_eq!((one("FNEG", &[W(1)]), two("DABS", &[L(u64::MAX)])), (0x8000_0001, u64::MAX >> 1));
}

#[test]
fn float_modifiers_touch_the_sign_alone() {
    let plain = one("FADD", &[W(0x8000_0001), W(3)]);
    assert_eq!(plain, one("FADD", &[Neg(1), W(3)]));
    assert_ne!(plain, one("FADD", &[W(1), W(3)]));
    // A wrong shape is uninterpreted, not wrong: three sources of an addition of two.
    let odd = run_words("IADD", &[W(1), W(2), W(3)], &[(1, false)]);
    assert_ne!(odd[0].bits, 6);
}

#[test]
fn undefined_bits_are_followed() {
    let taint = |name: &str, args: &[A], predicate| run_words(name, args, &[(1, predicate)])[0].taint;
    assert_eq!(taint("LOP.AND", &[Undef(5), W(0xf0)], false), 0xf0);
    assert_eq!(taint("LOP.OR", &[Undef(5), W(0xf0)], false), !0xf0);
    assert_eq!(taint("IADD", &[Undef(5), W(1)], false), u32::MAX);
    assert_eq!(taint("PLOP.OR", &[UndefP, P(true)], true), 0);
    assert_eq!(taint("PLOP.AND", &[UndefP, P(true)], true), 1);
    assert_eq!(taint("ISETP.EQ.AND", &[Undef(5), W(1), P(false)], true), 0);
    assert_eq!(taint("SEL", &[Undef(5), W(1), P(false)], false), 0);
    assert_eq!(taint("SEL", &[W(5), W(1), UndefP], false), 4);
    assert_eq!(taint("FADD", &[Undef(5), W(1)], false), u32::MAX);
    assert_eq!(taint("PRMT", &[W(5), Undef(1), I(0x0004)], false), 0xff);
    assert_eq!(taint("LOP3.LUT", &[Undef(5), W(0), W(1), I(0xc0)], false), 0);
}
