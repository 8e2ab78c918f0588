//! Each rule broken alone, and what must verify does.

mod flow;
mod instructions;
mod numbering;
mod valid;

use super::*;
use crate::entity::EntityId;
use crate::text;

/// A loop, a diamond of it, a call, a run, a guard: everything the rules speak of.
const GOOD: &str = r#"kernel @k {
entry:
  %a: R, %q: R4 = LDG.E.128 [$table+0x10]
  %w: R2 = IMAD.WIDE %a, 0x123456789, -c[0][0x160]
  %p: P = ISETP.LT %a, -5
  jump head(%a, %w)
head(%i: R, %s: R2):
  %old: R = MOV 0
  %t: R = @!%p FADD -|%i|, ~%q.2, %old{tied 0}
  %r: R2 = call @sub, %t, {%i, undef}
  STG.E.64 [%w+%a-0x8], {%t, %i}
  br !%p, head(%t, %r), tail
tail:
  %u: R = MOV %s.1
  exit_if %p, last(undef)
last(%z: R):
  STG.E [%w], %z  #7
  EXIT
region @sub -> (R2) {
first(%x: R, %y: R2):
  brx %x, first2, first2, third
first2:
  jump third
third:
  RET %y
}
}
"#;

fn parse(text: &str) -> Function {
    let mut all = text::parse(text).unwrap_or_else(|e| panic!("{e:#?}"));
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn good() -> Function {
    parse(GOOD)
}

/// The function breaks this rule and no other; gives the errors.
#[track_caller]
fn breaks(rule: Rule, f: &Function) -> Vec<VerifyError> {
    let errors = check(f);
    assert!(!errors.is_empty(), "{rule} is kept");
    assert!(errors.iter().all(|e| e.rule == rule), "{rule} alone is broken: {errors:#?}");
    assert!(verify(f.clone()).is_err());
    errors
}

/// The good function with a part of its text replaced.
#[track_caller]
fn with(from: &str, to: &str) -> Function {
    assert_eq!(GOOD.matches(from).count(), 1, "`{from}` stands once");
    parse(&GOOD.replace(from, to))
}

/// Makes the lists of predecessors again.
fn relink(f: &mut Function) {
    let mut lists = vec![Vec::new(); f.num_blocks()];
    for (e, d) in f.edges.iter() {
        lists[d.to.index()].push(e);
    }
    f.pred_start = vec![0];
    for l in &lists {
        f.pred_start.push(f.pred_start.last().unwrap() + l.len() as u32);
    }
    f.preds = lists.concat();
}

#[test]
fn the_good_function_verifies() {
    let v = verify(good()).unwrap_or_else(|e| panic!("{e:#?}"));
    assert_eq!(v.num_blocks(), 7);
    assert_eq!(v.as_ref().name, "k");
    assert_eq!(v.clone().into_inner().num_edges(), 8);
}

#[test]
fn errors_have_names_lines_and_a_cap() {
    let e = breaks(Rule::V18, &with("STG.E [%w], %z  #7", "STG.E [%w], %y  #7"));
    assert_eq!(
        e[0].to_string(),
        "V18: i11 `STG.E` in block `last`, line 7: it uses `%y.0`, which belongs to region `@sub`"
    );
    assert_eq!((e[0].line, e[0].place, e.len()), (7, Place::Inst(crate::function::Inst(11)), 2));
    let bad = "  MOV -SR_TID.X\n".repeat(250);
    let e = check(&parse(&format!("kernel @k {{\ne:\n{bad}  EXIT\n}}\n")));
    assert_eq!(e.len(), MAX_ERRORS + 1);
    assert!(e[..MAX_ERRORS].iter().all(|e| e.rule == Rule::V13));
    assert_eq!((e[MAX_ERRORS].rule, &*e[MAX_ERRORS].message), (Rule::More, "150 more errors are not shown"));
}
