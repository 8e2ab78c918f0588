//! Evaluation of one instruction's results from its inputs; the table stands at the head of [`crate::semantics`].

use super::inputs::{
    modify_float, modify_integer, modify_long, modify_predicate, spread, DefShape, Inputs, SourceKind,
};
use super::integer as int;
use super::meaning::{Half, Logic, Meaning, Product};
use super::word::Word;
use super::Operation;
use crate::operand::OperandFlags;

fn logic(op: Logic, a: Word, b: Word) -> Word {
    let taint = a.taint | b.taint;
    match op {
        Logic::And => Word { bits: a.bits & b.bits, taint: taint & (a.taint | a.bits) & (b.taint | b.bits) },
        Logic::Or => Word { bits: a.bits | b.bits, taint: taint & (a.taint | !a.bits) & (b.taint | !b.bits) },
        Logic::Xor => Word { bits: a.bits ^ b.bits, taint },
    }
}

/// A three-input table, with a result bit defined when no undefined input bit can change it.
fn table3(a: Word, b: Word, c: Word, table: u32) -> Word {
    let bits = int::lop3(a.bits, b.bits, c.bits, table);
    let mut taint = 0;
    if a.taint | b.taint | c.taint != 0 {
        for flips in 1..8u32 {
            let flip = |w: Word, bit: u32| if flips & bit != 0 { w.bits ^ w.taint } else { w.bits };
            taint |= bits ^ int::lop3(flip(a, 4), flip(b, 2), flip(c, 1), table);
        }
    }
    Word { bits, taint }
}

fn select(p: Word, a: Word, b: Word) -> Word {
    let taken = if p.truth() { a } else { b };
    let taint = if p.truth_tainted() { a.taint | b.taint | (a.bits ^ b.bits) } else { taken.taint };
    Word { bits: taken.bits, taint }
}

/// Reads modelled operands; every method answers `None` when the shape is not the table's.
struct Reader<'a> {
    inputs: &'a Inputs,
    float: bool,
    taint: u32,
}

impl Reader<'_> {
    fn modify(&self, w: Word, flags: OperandFlags) -> Word {
        if self.float {
            modify_float(w, flags)
        } else {
            modify_integer(w, flags)
        }
    }
    /// One word with its own taint.
    fn word(&self, i: usize) -> Option<Word> {
        let s = self.inputs.sources.get(i)?;
        let fits = match s.kind {
            SourceKind::Register => s.words == 1,
            SourceKind::Predicate | SourceKind::Wide => false,
            _ => true,
        };
        fits.then(|| self.modify(self.inputs.raw(i)[0], s.flags))
    }
    /// One word; its taint is gathered.
    fn int(&mut self, i: usize) -> Option<u32> {
        let w = self.word(i)?;
        self.taint |= w.taint;
        Some(w.bits)
    }
    fn predicate(&self, i: usize) -> Option<Word> {
        let s = self.inputs.sources.get(i)?;
        matches!(s.kind, SourceKind::Predicate | SourceKind::Immediate)
            .then(|| modify_predicate(self.inputs.raw(i)[0], s.flags))
    }
    fn is_predicate(&self, i: usize) -> bool {
        self.inputs.sources.get(i).is_some_and(|s| s.kind == SourceKind::Predicate)
    }
    /// `N` values of 32 or 64 bits from the operands `from..to`; they must use up all of them.
    fn values<const N: usize>(&mut self, from: usize, to: usize, bits: u32) -> Option<[u64; N]> {
        let mut out = [0; N];
        let mut i = from;
        let whole = to.checked_sub(from)? == N;
        for x in &mut out {
            if bits == 32 {
                *x = self.int(i)? as u64;
                i += 1;
                continue;
            }
            let s = *self.inputs.sources.get(i)?;
            let words = self.inputs.raw(i);
            let (lo, hi) = match s.kind {
                SourceKind::Predicate => return None,
                SourceKind::Register if words.len() > 2 => return None,
                SourceKind::Register if words.len() == 1 && whole => (words[0], Word::new(0)),
                SourceKind::Register if words.len() == 2 => (words[0], words[1]),
                SourceKind::Wide => (words[0], words[1]),
                _ if whole => (words[0], words[1]),
                _ => {
                    i += 1;
                    let high = *self.inputs.sources.get(i)?;
                    let one = match high.kind {
                        SourceKind::Register => high.words == 1,
                        SourceKind::Predicate | SourceKind::Wide => false,
                        _ => true,
                    };
                    if i >= to || !one {
                        return None;
                    }
                    (words[0], self.inputs.raw(i)[0])
                }
            };
            self.taint |= lo.taint | hi.taint;
            *x = modify_long(lo.bits as u64 | (hi.bits as u64) << 32, s.flags);
            i += 1;
        }
        (i == to).then_some(out)
    }
}

/// Puts the results of an instruction into `out`: all lanes of all definitions in order.
pub fn eval(op: &Operation, inputs: &Inputs, defs: &[DefShape], out: &mut Vec<Word>) {
    out.clear();
    let lanes: u32 = defs.iter().map(|d| d.lanes).sum();
    // Scratch definitions follow the result of an expansion.
    let scratch = matches!(op.meaning, Meaning::Divide { .. } | Meaning::Half { op: Half::Div | Half::Rem, .. });
    let results = if scratch { result_defs(op, defs) } else { defs };
    if op.meaning != Meaning::Opaque && modelled(op, inputs, results, out).is_some() {
        let known = out.len();
        if known == lanes as usize {
            return;
        }
        if scratch && known < lanes as usize {
            let (hash, taint) = inputs.uninterpreted(op);
            out.extend((known as u32..lanes).map(|lane| Word { bits: hash.word(lane), taint }));
            return;
        }
    }
    out.clear();
    let (hash, taint) = inputs.uninterpreted(op);
    let mut lane = 0;
    for d in defs {
        for _ in 0..d.lanes {
            let w = hash.word(lane);
            out.push(if d.predicate { Word { bits: w & 1, taint: taint & 1 } } else { Word { bits: w, taint } });
            lane += 1;
        }
    }
}

/// The definitions that hold the result of a division: as many as its width needs, scratch units left out.
fn result_defs<'a>(op: &Operation, defs: &'a [DefShape]) -> &'a [DefShape] {
    let words = match op.meaning {
        Meaning::Divide { bits: 64, .. } => 2,
        _ => 1,
    };
    let mut n = 0;
    let mut lanes = 0;
    while n < defs.len() && lanes < words {
        lanes += defs[n].lanes;
        n += 1;
    }
    &defs[..n]
}

/// The results of a modelled operation, `None` when the shape of operands or results is not the table's.
fn modelled(op: &Operation, inputs: &Inputs, defs: &[DefShape], out: &mut Vec<Word>) -> Option<()> {
    let n = inputs.len();
    let mut r = Reader { inputs, float: op.float, taint: 0 };
    let flags = |k: usize| defs.len() == k && defs.iter().all(|d| d.predicate && d.lanes == 1);
    let data = defs.iter().all(|d| !d.predicate);
    match op.meaning {
        Meaning::Compare { cc, bits, signed, combine } => {
            if !(flags(1) || flags(2)) {
                return None;
            }
            let tail = (n > 2 && r.is_predicate(n - 1)) as usize;
            let [a, b] = r.values(0, n - tail, bits)?;
            let holds = cc.holds(a, b, bits, signed);
            for k in 0..defs.len() {
                let w = Word { bits: (holds != (k == 1)) as u32, taint: r.taint.min(1) };
                out.push(if tail == 1 { logic(combine, w, r.predicate(n - 1)?) } else { w });
            }
            return Some(());
        }
        Meaning::PredLogic(op) if n == 2 && flags(1) => {
            out.push(logic(op, r.predicate(0)?, r.predicate(1)?));
            return Some(());
        }
        Meaning::PredMove { negate } if n == 1 && flags(1) => {
            let w = r.predicate(0)?;
            out.push(Word { bits: w.bits ^ negate as u32, taint: w.taint });
            return Some(());
        }
        Meaning::PredTable if n == 3 + defs.len() && flags(defs.len()) => {
            let (a, b, c) = (r.predicate(0)?, r.predicate(1)?, r.predicate(2)?);
            for k in 0..defs.len() {
                let table = r.int(3 + k)?;
                let w = table3(a, b, c, table);
                out.push(Word { bits: w.bits & 1, taint: w.taint & 1 });
            }
            return Some(());
        }
        Meaning::Carry { product, subtract, carry_in, carry_out } => {
            let arity = 2 + (product != Product::None) as usize;
            if n != arity + carry_in as usize
                || defs.len() != 1 + carry_out as usize
                || defs[0] != (DefShape { lanes: 1, predicate: false })
                || carry_out && defs[1] != (DefShape { lanes: 1, predicate: true })
            {
                return None;
            }
            let (x, y) = match product {
                Product::None => (r.int(0)? as u64, r.int(1)? as u64),
                Product::Low => ((r.int(0)?.wrapping_mul(r.int(1)?)) as u64, r.int(2)? as u64),
                Product::High { signed } => {
                    (int::mul_high(r.int(0)? as u64, r.int(1)? as u64, 32, signed), r.int(2)? as u64)
                }
            };
            let carry = if carry_in { r.predicate(arity)? } else { Word::new(0) };
            r.taint |= carry.taint;
            let (sum, over) = if subtract {
                int::sub_borrow(x, y, carry.truth(), 32)
            } else {
                int::add_carry(x, y, carry.truth(), 32)
            };
            let taint = spread(r.taint);
            out.push(Word { bits: sum as u32, taint });
            if carry_out {
                out.push(Word { bits: over as u32, taint: taint & 1 });
            }
            return Some(());
        }
        // Exact bit by bit.
        Meaning::Move if n == 1 && data => {
            let lanes: usize = defs.iter().map(|d| d.lanes as usize).sum();
            let s = inputs.sources[0];
            let words = inputs.raw(0);
            if words.len() < lanes || s.kind == SourceKind::Predicate || lanes == 0 {
                return None;
            }
            if lanes == 1 {
                out.push(modify_integer(words[0], s.flags));
            } else if s.flags == OperandFlags::NONE {
                out.extend_from_slice(&words[..lanes]);
            } else {
                return None;
            }
            return Some(());
        }
        Meaning::Logic(op) if n == 2 && data => {
            out.push(logic(op, r.word(0)?, r.word(1)?));
            return Some(());
        }
        Meaning::Logic3 if n == 4 && data => {
            let table = r.int(3)?;
            let w = table3(r.word(0)?, r.word(1)?, r.word(2)?, table);
            out.push(Word { bits: w.bits, taint: w.taint | spread(r.taint) });
            return Some(());
        }
        Meaning::Select if n >= 3 && data => {
            let p = r.predicate(n - 1)?;
            let lanes: usize = defs.iter().map(|d| d.lanes as usize).sum();
            if lanes == 1 && n == 3 {
                out.push(select(p, r.word(0)?, r.word(1)?));
                return Some(());
            }
            let [a, b] = r.values(0, n - 1, 64)?;
            let half = |x: u64, k: u32| Word { bits: (x >> k) as u32, taint: spread(r.taint) };
            out.push(select(p, half(a, 0), half(b, 0)));
            out.push(select(p, half(a, 32), half(b, 32)));
            return Some(());
        }
        Meaning::Permute(mode) if n == 3 && data => {
            let (a, b, s) = (r.word(0)?, r.word(1)?, r.word(2)?);
            let taint = int::prmt(a.taint, b.taint, s.bits, mode) | spread(s.taint);
            out.push(Word { bits: int::prmt(a.bits, b.bits, s.bits, mode), taint });
            return Some(());
        }
        _ => {}
    }
    if !data {
        return None;
    }
    let (value, bits) = integer_result(op.meaning, &mut r, n)?;
    let taint = spread(r.taint);
    out.push(Word { bits: value as u32, taint });
    if bits == 64 {
        out.push(Word { bits: (value >> 32) as u32, taint });
    }
    Some(())
}

/// Value and width of the operations with one integer result whose undefined bits are not followed one by one.
fn integer_result(meaning: Meaning, r: &mut Reader<'_>, n: usize) -> Option<(u64, u32)> {
    let word = |x: u32| Some((x as u64, 32));
    match meaning {
        Meaning::Add { bits, subtract } => {
            let [a, b] = r.values(0, n, bits)?;
            let x = if subtract { a.wrapping_sub(b) } else { a.wrapping_add(b) };
            Some((x & int::mask(bits), bits))
        }
        Meaning::Add3 => {
            let [a, b, c] = r.values(0, n, 32)?;
            word((a + b + c) as u32)
        }
        Meaning::MulAdd => {
            let [a, b, c] = r.values(0, n, 32)?;
            word((a as u32).wrapping_mul(b as u32).wrapping_add(c as u32))
        }
        Meaning::MulAddHigh { signed } if n >= 3 => {
            let [a, b] = r.values(0, 2, 32)?;
            if r.word(2).is_some() && n == 3 {
                return word((int::mul_high(a, b, 32, signed) as u32).wrapping_add(r.int(2)?));
            }
            let [c] = r.values(2, n, 64)?;
            word((int::mul_wide(a, b, signed).wrapping_add(c) >> 32) as u32)
        }
        Meaning::MulAddWide { signed } if n >= 3 => {
            let [a, b] = r.values(0, 2, 32)?;
            let [c] = r.values(2, n, 64)?;
            Some((int::mul_wide(a, b, signed).wrapping_add(c), 64))
        }
        Meaning::Mul64 => {
            let [a, b] = r.values(0, n, 64)?;
            Some((a.wrapping_mul(b), 64))
        }
        Meaning::MulHigh64 { signed } => {
            let [a, b] = r.values(0, n, 64)?;
            Some((int::mul_high(a, b, 64, signed), 64))
        }
        Meaning::ShiftAdd => {
            let [a, b, s] = r.values(0, n, 32)?;
            word((int::shl(a, s as u32, 32) as u32).wrapping_add(b as u32))
        }
        Meaning::ShiftLeft { bits } if n >= 2 => {
            let [a] = r.values(0, n - 1, bits)?;
            Some((int::shl(a, r.int(n - 1)?, bits), bits))
        }
        Meaning::ShiftRight { bits, signed } if n >= 2 => {
            let [a] = r.values(0, n - 1, bits)?;
            Some((int::shr(a, r.int(n - 1)?, bits, signed), bits))
        }
        Meaning::Funnel { left, wrap, bits, signed, high } => {
            let [lo, s, hi] = r.values(0, n, 32)?;
            let s = if wrap { s as u32 & (bits - 1) } else { (s as u32).min(bits) };
            let both = hi << 32 | lo;
            let x = if left { int::shl(both, s, 64) } else { int::shr(both, s, 64, signed) };
            word(if high { (x >> 32) as u32 } else { x as u32 })
        }
        Meaning::FieldExtract { bits, signed } if n >= 3 => {
            let [a] = r.values(0, n - 2, bits)?;
            Some((int::bfe(a, r.int(n - 2)?, r.int(n - 1)?, bits, signed), bits))
        }
        Meaning::FieldInsert { bits } if n >= 4 => {
            let [a, b] = r.values(0, n - 2, bits)?;
            Some((int::bfi(a, b, r.int(n - 2)?, r.int(n - 1)?, bits), bits))
        }
        Meaning::Popcount { bits } => {
            let [a] = r.values(0, n, bits)?;
            word(a.count_ones())
        }
        Meaning::FindMsb { bits, signed, shift } => {
            let [a] = r.values(0, n, bits)?;
            word(int::find_msb(a, bits, signed, shift))
        }
        Meaning::Reverse { bits } => {
            let [a] = r.values(0, n, bits)?;
            Some((a.reverse_bits() >> (64 - bits), bits))
        }
        Meaning::LeadingZeros { bits } => {
            let [a] = r.values(0, n, bits)?;
            word(a.leading_zeros() - (64 - bits))
        }
        Meaning::MinMax { bits, signed, max } => {
            let (max, end) = match max {
                Some(max) => (max, n),
                None => {
                    let end = n.checked_sub(1)?;
                    let p = r.predicate(end)?;
                    r.taint |= p.taint;
                    (!p.truth(), end)
                }
            };
            let [a, b] = r.values(0, end, bits)?;
            Some((int::min_max(a, b, bits, signed, max), bits))
        }
        Meaning::Abs { bits } => {
            let [a] = r.values(0, n, bits)?;
            Some((int::abs(a, bits), bits))
        }
        Meaning::Neg { bits } => {
            let [a] = r.values(0, n, bits)?;
            Some((a.wrapping_neg() & int::mask(bits), bits))
        }
        Meaning::Extend { bits, signed } => {
            let [a] = r.values(0, n, 32)?;
            word(int::number(a, bits, signed) as u32)
        }
        Meaning::Divide { bits, signed, remainder } => {
            let [a, b] = r.values(0, n, bits)?;
            let f = if remainder { int::rem } else { int::div };
            Some((f(a, b, bits, signed), bits))
        }
        Meaning::Half { op, signed } => half(op, signed, r, n),
        Meaning::SignFlip | Meaning::SignClear => {
            let bits = if r.word(0).is_some() && n == 1 { 32 } else { 64 };
            let a = if bits == 32 { r.int(0)? as u64 } else { r.values::<1>(0, n, 64)?[0] };
            let sign = 1u64 << (bits - 1);
            Some((if meaning == Meaning::SignFlip { a ^ sign } else { a & !sign }, bits))
        }
        _ => None,
    }
}

fn half(op: Half, signed: bool, r: &mut Reader<'_>, n: usize) -> Option<(u64, u32)> {
    let x = match op {
        Half::Neg | Half::Abs => {
            let [a] = r.values(0, n, 32)?;
            if op == Half::Neg {
                a.wrapping_neg()
            } else {
                int::abs(a, 16)
            }
        }
        Half::Mad => {
            let [a, b, c] = r.values(0, n, 32)?;
            a.wrapping_mul(b).wrapping_add(c)
        }
        _ => {
            let [a, b] = r.values(0, n, 32)?;
            match op {
                Half::Add => a.wrapping_add(b),
                Half::Sub => a.wrapping_sub(b),
                Half::Mul => a.wrapping_mul(b),
                Half::MulHigh => int::mul_high(a, b, 16, signed),
                Half::Min => int::min_max(a, b, 16, signed, false),
                Half::Max => int::min_max(a, b, 16, signed, true),
                Half::Shl => int::shl(a, b as u32, 16),
                Half::Shr => int::shr(a, b as u32, 16, signed),
                Half::Div => int::div(a, b, 16, signed),
                _ => int::rem(a, b, 16, signed),
            }
        }
    };
    Some((x & 0xffff, 32))
}

#[cfg(test)]
mod tests;
