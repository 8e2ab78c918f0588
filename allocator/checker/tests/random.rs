//! Random functions under an allocator that cannot go wrong: every value has a register of its own. The checker must
//! accept each, and refuse it after one change that must break it.

mod common;

use common::*;
use fatpoint_checker::{check, CheckErrorKind as Kind, CheckOptions};
use fatpoint_ir::assigned::{AllocatedFunction, Edit, Loc};
use fatpoint_ir::builder::{Def, FunctionBuilder};
use fatpoint_ir::{EntityId, Function, Lane, Operand, PhysReg, RegClass, Value, ValueDef};
use proptest::prelude::*;

/// One step of a random function; numbers pick among the values so far.
#[derive(Clone, Debug)]
enum Step {
    /// A run of values computed from two others.
    Compute { len: usize, a: usize, b: usize },
    /// Two ways that meet again: each makes a value, the meeting block takes both, or one and an undefined one.
    Diamond { a: usize, left: bool, right: bool },
    /// A loop with one value that goes round.
    Loop { a: usize, other: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let compute = (1usize..=4, any::<usize>(), any::<usize>()).prop_map(|(len, a, b)| Step::Compute { len, a, b });
    let diamond =
        (any::<usize>(), any::<bool>(), any::<bool>()).prop_map(|(a, left, right)| Step::Diamond { a, left, right });
    let round = (any::<usize>(), any::<usize>()).prop_map(|(a, other)| Step::Loop { a, other });
    prop::collection::vec(prop_oneof![4 => compute, 1 => diamond, 1 => round], 0..24)
}

fn build(steps: &[Step]) -> Function {
    let mut b = FunctionBuilder::new("k");
    let entry = b.block("entry");
    b.switch_to(entry);
    let first = mov(&mut b, "first");
    let mut live: Vec<Value> = vec![first.first];
    let (add, setp) = (b.op("IADD3"), b.op("ISETP"));
    let lanes_of = |d: Def| (0..d.len as u32).map(move |k| Value(d.first.0 + k));
    for (n, step) in steps.iter().enumerate() {
        match *step {
            Step::Compute { len, a, b: c } => {
                let pick = |k: usize| live[k % live.len()];
                let uses = [Operand::value(pick(a)), Operand::value(pick(c))];
                let d = b.inst1(add, RegClass::R, len, &uses);
                store(&mut b, &[use_of(d)]);
                live.extend(lanes_of(d));
            }
            Step::Diamond { a, left, right } => {
                let names = [format!("left{n}"), format!("right{n}"), format!("join{n}")];
                let [l, r, j] = [0, 1, 2].map(|k| b.block(&names[k]));
                let x = Operand::value(live[a % live.len()]);
                let c = b.inst1(setp, RegClass::P, 1, &[x]);
                b.branch(use_of(c), (l, &[]), (r, &[]));
                for (side, defined) in [(l, left || !right), (r, right)] {
                    b.switch_to(side);
                    let v = b.inst1(add, RegClass::R, 1, &[x, x]);
                    b.jump(j, &[if defined { Lane(v.first) } else { Lane::UNDEF }]);
                }
                b.switch_to(j);
                let p = b.param(j, RegClass::R, 1);
                live.push(p.first);
            }
            Step::Loop { a, other } => {
                let (body, out) = (b.block(&format!("body{n}")), b.block(&format!("out{n}")));
                let (x, y) = (live[a % live.len()], live[other % live.len()]);
                b.jump(body, &[Lane(x)]);
                b.switch_to(body);
                let p = b.param(body, RegClass::R, 1);
                let v = b.inst1(add, RegClass::R, 1, &[use_of(p), Operand::value(y)]);
                let c = b.inst1(setp, RegClass::P, 1, &[use_of(v)]);
                b.branch(use_of(c), (body, &[Lane(v.first)]), (out, &[]));
                b.switch_to(out);
                live.push(p.first);
            }
        }
    }
    let all: Vec<Operand> = live.iter().map(|&v| Operand::value(v)).collect();
    store(&mut b, &all);
    b.exit();
    b.finish().unwrap()
}

/// Every value its own register, from R2 up; predicates, which are read at once, all in P0.
fn own_registers(f: &Function) -> (AllocatedFunction<'_>, u16) {
    let mut place = vec![Loc::NONE; f.num_values()];
    let mut next = 2u32;
    for v in f.values() {
        let (o, lane) = f.def_operand(v);
        place[v.index()] = match (f.class(v), f.def(v)) {
            (RegClass::P, _) => p(0),
            (_, def) => {
                if lane == 0 && matches!(def, ValueDef::Inst(_)) {
                    next = next.next_multiple_of(o.align());
                }
                next += 1;
                r(next as u16 - 1)
            }
        };
    }
    let mut a = AllocatedFunction::empty(f);
    for i in f.insts() {
        let lanes = f.operands(i).iter().flat_map(|&o| f.lanes(o));
        let locs: Vec<Loc> = lanes.map(|l| l.value().map_or(Loc::NONE, |v| place[v.index()])).collect();
        at(&mut a, i.0, &locs);
    }
    for b in f.blocks() {
        let locs: Vec<Loc> = f.params(b).map(|v| place[v.index()]).collect();
        params_at(&mut a, b, &locs);
    }
    for e in f.edges() {
        for (param, arg) in f.params(f.edge(e).to).zip(f.edge_args(e)) {
            if let Some(v) = arg.value() {
                a.edge_edits.push((e, copy(place[v.index()], place[param.index()])));
            }
        }
    }
    (a, next as u16)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn every_value_in_its_own_register_is_right(steps in steps()) {
        let f = build(&steps);
        let (a, next) = own_registers(&f);
        prop_assume!(next <= 250);
        let report = check(&a, &CheckOptions::default());
        prop_assert!(report.is_ok(), "{:#?}", report);
        prop_assert_eq!(report.unwrap().used.get(), next as u32 + 2);
    }

    #[test]
    fn one_change_is_found(steps in steps(), pick in any::<usize>(), how in 0..4) {
        let f = build(&steps);
        let (mut a, next) = own_registers(&f);
        prop_assume!(next <= 250);
        let nobody = r(next);
        let expected = match how {
            // A lane is read from a register that nobody else names.
            0 => {
                let uses: Vec<usize> = f
                    .insts()
                    .flat_map(|i| (a.lane_start[i.index()] as usize..a.lane_start[i.index() + 1] as usize).skip(f.def_values(i).len()))
                    .filter(|&k| a.locs[k].as_reg().is_some_and(|r| r.class == RegClass::R))
                    .collect();
                a.locs[uses[pick % uses.len()]] = nobody;
                Kind::Value
            }
            // A copy on an edge is left out.
            1 => {
                prop_assume!(!a.edge_edits.is_empty());
                a.edge_edits.remove(pick % a.edge_edits.len());
                Kind::Parameter
            }
            // A copy on an edge goes astray.
            2 => {
                prop_assume!(!a.edge_edits.is_empty());
                let k = pick % a.edge_edits.len();
                if let Edit::Copy { to, .. } = &mut a.edge_edits[k].1 {
                    *to = PhysReg::r(next);
                }
                Kind::Parameter
            }
            // The first value, which all lives through to the end, is overwritten somewhere on the way.
            _ => {
                let pos = 1 + (pick % (f.num_insts() - 2)) as u32;
                a.edits = vec![(before(pos), copy(nobody, r(2)))];
                Kind::Value
            }
        };
        let errors = check(&a, &CheckOptions::default()).expect_err("accepted");
        prop_assert!(errors.iter().any(|e| e.kind == expected), "{:#?}", errors);
    }
}
