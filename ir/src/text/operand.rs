//! Reading operands: values and runs, immediates, constants, addresses; with flags, alignment, constraints, locations.
//!
//! Nothing here calls itself: an operand has at most one level of bars, parentheses and braces.

use super::ast::*;
use super::error::{Fail, Parsed, Span};
use super::lex::NameKind;
use super::parse::Parser;
use crate::assigned::{Loc, SlotSpace};
use crate::class::{PhysReg, RegClass};
use crate::op::Constraint;
use crate::operand::{Operand, OperandFlags};

/// Largest lane count, as text counts.
const MAX_LANES: u64 = Operand::MAX_LANES as u64;

impl<'t> Parser<'t> {
    /// A register class with a lane count behind it, as `R`, `R2`, `UP`.
    pub(super) fn class_len(&mut self, max: u64) -> Parsed<(RegClass, u16)> {
        let start = self.c.pos;
        let letters = self.class_letters();
        let class = RegClass::from_name(&self.c.text[start..start + letters]);
        let next = self.c.peek_at(letters);
        let Some(class) = class.filter(|_| !next.is_ascii_alphabetic() && next != b'_') else {
            return Err(self.c.expected("a register class").hint("the classes are R, UR, P, UP and B"));
        };
        self.c.pos += letters;
        if !next.is_ascii_digit() {
            return Ok((class, 1));
        }
        Ok((class, self.c.number_to("a number of lanes", max)? as u16))
    }

    fn class_letters(&self) -> usize {
        self.c.bytes[self.c.pos..].iter().take(3).take_while(|b| b.is_ascii_uppercase()).count()
    }

    /// A physical register, as `R4`.
    pub(super) fn register(&mut self) -> Parsed<PhysReg> {
        let start = self.c.pos;
        let letters = self.class_letters();
        match RegClass::from_name(&self.c.text[start..start + letters]) {
            Some(class) if self.c.peek_at(letters).is_ascii_digit() => {
                self.c.pos += letters;
                let num = self.c.number_to("a register number", u16::MAX as u64)? as u16;
                Ok(PhysReg { class, num })
            }
            _ => Err(self.c.expected("a register like `R4`")),
        }
    }

    /// A register, a slot like `local[3]`, or `-`.
    pub(super) fn location(&mut self) -> Parsed<Loc> {
        if self.c.eat(b'-') {
            return Ok(Loc::NONE);
        }
        for (word, space) in [("local", SlotSpace::Local), ("shared", SlotSpace::Shared)] {
            if self.c.eat_word(word) {
                self.c.expect(b'[', "`[`")?;
                let index = self.c.number_to("a slot number", (1 << 29) - 1)? as u32;
                self.c.space();
                if !self.c.eat(b']') {
                    return Err(self.c.expected("`]`"));
                }
                return Ok(Loc::slot(space, index));
            }
        }
        Ok(Loc::reg(self.register().map_err(|f| {
            if f.message.starts_with("expected") {
                self.c.expected("a location like `R4`, `local[3]` or `-`")
            } else {
                f
            }
        })?))
    }

    /// `@R4` or `@(R4, -, local[0])` behind a register operand of an allocated text.
    pub(super) fn locations(&mut self) -> Parsed<u32> {
        if !self.allocated {
            return Ok(NO);
        }
        if !self.c.eat(b'@') {
            return Err(self.c.expected("the location of the operand").hint("like `@R4` or `@(R4, R9)`"));
        }
        let locs = if self.c.eat_token(b'(') {
            let start = self.k.loc_items.len();
            if !self.c.eat(b')') {
                loop {
                    let l = self.location()?;
                    self.k.loc_items.push(l);
                    if !self.c.eat_token(b',') {
                        break;
                    }
                }
                self.c.space();
                if !self.c.eat(b')') {
                    return Err(self.c.expected("`,` or `)`"));
                }
            }
            LocsAst::Each(Part::new(start, self.k.loc_items.len()))
        } else {
            LocsAst::From(self.location()?)
        };
        self.k.locs.push(locs);
        Ok(self.k.locs.len() as u32 - 1)
    }

    /// `:8`, when it is there; 0 otherwise.
    pub(super) fn alignment(&mut self) -> Parsed<u8> {
        if self.c.peek() != b':' {
            return Ok(0);
        }
        self.c.pos += 1;
        let start = self.c.pos;
        let n = self.c.number("an alignment")?;
        if !n.is_power_of_two() || n > 128 {
            let span = self.c.span_from(start);
            return Err(Fail::new(span, format!("alignment {n} is not a power of two up to 128")));
        }
        Ok(n as u8)
    }

    /// `{fixed R4, tied 0, early, flight, names(a, -)}`; constraints go to the current instruction's list.
    pub(super) fn constraints(&mut self, index: u16, mut names: Option<&mut Option<Part>>) -> Parsed<()> {
        if self.c.peek() != b'{' {
            return Ok(());
        }
        self.c.pos += 1;
        loop {
            self.c.space();
            if self.c.eat_word("names") {
                let Some(slot) = names.as_deref_mut() else {
                    return Err(Fail::new(self.c.token(), "only a definition names its lanes"));
                };
                *slot = Some(self.lane_names()?);
            } else {
                let c = self.constraint()?;
                self.constraints.push((index, c));
            }
            if !self.c.eat_token(b',') {
                break;
            }
        }
        self.c.space();
        if self.c.eat(b'}') {
            Ok(())
        } else {
            Err(self.c.expected("`,` or `}`"))
        }
    }

    pub(super) fn constraint(&mut self) -> Parsed<Constraint> {
        if self.c.eat_word("early") {
            Ok(Constraint::EarlyClobber)
        } else if self.c.eat_word("flight") {
            Ok(Constraint::InFlight)
        } else if self.c.eat_word("tied") {
            self.c.space();
            Ok(Constraint::Tied(self.c.number_to("a definition", u16::MAX as u64)? as u16))
        } else if self.c.eat_word("fixed") {
            self.c.space();
            Ok(Constraint::Fixed(self.register()?))
        } else {
            let e = self.c.expected("a constraint");
            Err(e.hint("constraints are `fixed R4`, `tied 0`, `early` and `flight`"))
        }
    }

    fn lane_names(&mut self) -> Parsed<Part> {
        let start = self.k.lane_names.len();
        self.c.expect(b'(', "`(`")?;
        loop {
            let name = match self.c.eat(b'-') {
                true => None,
                false => Some(self.c.name(NameKind::Value, "a name")?),
            };
            self.k.lane_names.push(name);
            if !self.c.eat_token(b',') {
                break;
            }
        }
        self.c.expect(b')', "`,` or `)`")?;
        Ok(Part::new(start, self.k.lane_names.len()))
    }

    /// `%name`, `%name'2`: the interned run.
    pub(super) fn value_label(&mut self) -> Parsed<LabelId> {
        if !self.c.eat(b'%') {
            return Err(self.c.expected("a value like `%x`"));
        }
        let name = self.c.name(NameKind::Value, "the name of a value")?;
        let version = self.c.version()?;
        Ok(self.k.values.intern(name, version))
    }

    /// A value with an optional lane, or undefined lanes.
    pub(super) fn lane(&mut self) -> Parsed<LaneAst> {
        let start = self.c.pos;
        if self.c.peek() == b'%' {
            let label = self.value_label()?;
            let mut lane = NO;
            if self.c.eat(b'.') {
                lane = self.c.number_to("a lane", MAX_LANES - 1)? as u32;
            }
            return Ok(LaneAst { label, lane, span: self.c.span_from(start) });
        }
        if self.c.eat_word("undef") {
            let n = self.undef_lanes()?;
            return Ok(LaneAst { label: NO, lane: n as u32, span: self.c.span_from(start) });
        }
        Err(self.c.expected("a value or `undef`"))
    }

    fn undef_lanes(&mut self) -> Parsed<u16> {
        if !self.c.eat(b'[') {
            return Ok(1);
        }
        let n = self.c.number_to("a number of lanes", MAX_LANES)? as u16;
        if !self.c.eat(b']') {
            return Err(self.c.expected("`]`"));
        }
        Ok(n)
    }

    /// True when a region's name begins here rather than a guarded operand.
    fn at_region(&self) -> bool {
        let b = self.c.peek_at(1);
        self.c.peek() == b'@' && (b.is_ascii_alphabetic() || matches!(b, b'_' | b'.' | b'$' | b'"' | b'#'))
    }

    /// One operand with flags and constraints, number `index` of its instruction; `extra` are flags of its place.
    pub(super) fn operand(&mut self, index: usize, extra: OperandFlags) -> Parsed<()> {
        let start = self.c.pos;
        let mut flags = extra;
        if self.c.eat(b'<') {
            flags = OperandFlags(self.c.number_to("operand flags", 255)? as u8);
            if !self.c.eat(b'>') {
                return Err(self.c.expected("`>`"));
            }
        } else {
            loop {
                let flag = match self.c.peek() {
                    b'@' if !self.at_region() => OperandFlags::GUARD,
                    b'-' if !self.c.peek_at(1).is_ascii_digit() => OperandFlags::NEG,
                    b'~' | b'!' => OperandFlags::NOT,
                    _ => break,
                };
                if flags.has(flag) {
                    let span = Span::new(self.c.pos, self.c.pos + 1);
                    return Err(Fail::new(span, format!("`{}` stands twice", self.c.peek() as char)));
                }
                flags = flags.with(flag);
                self.c.pos += 1;
            }
        }
        let bars = self.c.eat(b'|');
        if bars {
            flags = flags.with(OperandFlags::ABS);
        }
        let mut o = if self.c.eat(b'(') {
            let o = self.base()?;
            if !self.c.eat(b')') {
                return Err(self.c.expected("`)`"));
            }
            o
        } else {
            self.base()?
        };
        if bars && !self.c.eat(b'|') {
            return Err(self.c.expected("the closing `|`"));
        }
        let Ok(index) = u16::try_from(index) else {
            return Err(Fail::new(self.c.span_from(start), "an instruction has at most 65535 operands"));
        };
        o.span = self.c.span_from(start);
        self.constraints(index, None)?;
        o.flags = flags.0;
        self.k.operands.push(o);
        Ok(())
    }

    /// `[a+b+0x10]`; operands from number `index` on. Gives the number of components.
    pub(super) fn address(&mut self, index: usize) -> Parsed<usize> {
        self.c.expect(b'[', "`[`")?;
        let mut n = 0;
        let mut place = OperandFlags::ADDR.with(OperandFlags::ADDR_START);
        loop {
            self.operand(index + n, place)?;
            n += 1;
            place = OperandFlags::ADDR;
            self.c.space();
            if !self.c.eat_token(b'+') && self.c.peek() != b'-' {
                break;
            }
        }
        if self.c.eat(b']') {
            Ok(n)
        } else {
            Err(self.c.expected("`+`, `-` or `]`"))
        }
    }

    /// An operand without flags and constraints.
    fn base(&mut self) -> Parsed<OperandAst> {
        let mut o = OperandAst { what: What::Imm(0), flags: 0, align: 0, loc: NO, span: Span::default() };
        let at_const = self.c.peek() == b'c' && self.c.peek_at(1) == b'[';
        match self.c.peek() {
            b'%' => {
                let l = self.lane()?;
                o.what = What::Value { label: l.label, lane: l.lane };
            }
            b'{' => o.what = What::Lanes(self.braced_lanes()?),
            b'u' if self.c.eat_word("undef") => {
                let n = self.undef_lanes()?;
                o.what = What::Undef(n);
                o.align = self.alignment()?;
                if n > 0 {
                    o.loc = self.locations()?;
                }
                return Ok(o);
            }
            b'0'..=b'9' => {
                o.what = What::Imm(self.c.number("a number")?);
                return Ok(o);
            }
            b'-' => {
                o.what = What::Imm(self.negative()?);
                return Ok(o);
            }
            b'c' if at_const => {
                o.what = self.constant()?;
                return Ok(o);
            }
            b'$' => {
                self.c.pos += 1;
                let name = self.c.name(NameKind::Variable, "the name of a variable")?;
                self.k.strings.push(name);
                o.what = What::Variable(self.k.strings.len() as u32 - 1);
                return Ok(o);
            }
            b'S' if self.c.bytes[self.c.pos..].starts_with(b"SR") && matches!(self.c.peek_at(2), b'_' | b'"') => {
                self.c.pos += if self.c.peek_at(2) == b'"' { 2 } else { 0 };
                let name = self.c.name(NameKind::Special, "a special register")?;
                self.k.strings.push(name);
                o.what = What::Special(self.k.strings.len() as u32 - 1);
                return Ok(o);
            }
            b'@' => {
                self.c.pos += 1;
                o.what = if self.c.eat(b'#') {
                    What::RegionNumber(self.c.number_u32("a region number")?)
                } else {
                    What::Region(self.region_label()?)
                };
                return Ok(o);
            }
            _ => return Err(self.c.expected("an operand")),
        }
        o.align = self.alignment()?;
        o.loc = self.locations()?;
        Ok(o)
    }

    /// The name of a region behind its `@`.
    pub(super) fn region_label(&mut self) -> Parsed<LabelId> {
        let name = self.c.name(NameKind::Global, "the name of a region")?;
        let version = self.c.version()?;
        Ok(self.k.region_labels.intern(name, version))
    }

    fn braced_lanes(&mut self) -> Parsed<Part> {
        let start = self.k.lanes.len();
        self.c.expect(b'{', "`{`")?;
        loop {
            let l = self.lane()?;
            self.k.lanes.push(l);
            if !self.c.eat_token(b',') {
                break;
            }
        }
        self.c.space();
        if !self.c.eat(b'}') {
            return Err(self.c.expected("`,` or `}`"));
        }
        Ok(Part::new(start, self.k.lanes.len()))
    }

    /// A negative literal: two's complement in 32 bits where it fits, else in 64.
    fn negative(&mut self) -> Parsed<u64> {
        let start = self.c.pos;
        self.c.pos += 1;
        let n = self.c.number("a number")?;
        if n <= 1 << 31 {
            Ok((n as u32).wrapping_neg() as u64)
        } else if n <= 1 << 63 {
            Ok(n.wrapping_neg())
        } else {
            Err(Fail::new(self.c.span_from(start), "the number does not fit into 64 bits"))
        }
    }

    /// `c[bank][offset]`.
    fn constant(&mut self) -> Parsed<What> {
        self.c.pos += 1;
        let mut part = |what: &str, max: u64| -> Parsed<u32> {
            if !self.c.eat(b'[') {
                return Err(self.c.expected("`[`"));
            }
            let n = self.c.number_to(what, max)? as u32;
            if !self.c.eat(b']') {
                return Err(self.c.expected("`]`"));
            }
            Ok(n)
        };
        let bank = part("a constant bank", 4095)?;
        let offset = part("a constant offset", (1 << 20) - 1)?;
        Ok(What::Const(bank, offset))
    }
}
