//! Liveness by ranges against plain dataflow over bitsets, and flights against all paths.

mod common;

use common::{program, Shape};
use fatpoint_ir::dom::DomTree;
use fatpoint_ir::gen::{generate, GenOptions, Shape as GenShape};
use fatpoint_ir::loops::LoopForest;
use fatpoint_ir::{Block, EntityId, EntitySet, Flight, Function, Inst, Value, ValueDef};
use fatpoint_pressure::flight::FlightUses;
use fatpoint_pressure::Liveness;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The textbook: sets at block borders, repeated until nothing changes.
struct Dataflow {
    live_in: Vec<EntitySet<Value>>,
    live_out: Vec<EntitySet<Value>>,
}

/// What is needed behind the terminator of a block: what its successors need, and arguments.
fn at_end(f: &Function, b: Block, live_out: &EntitySet<Value>) -> EntitySet<Value> {
    let mut live = live_out.clone();
    for e in f.succ_edges(b) {
        f.edge_args(e).iter().filter_map(|l| l.value()).for_each(|v| {
            live.insert(v);
        });
    }
    live
}

/// From behind an instruction to before it.
fn before(f: &Function, flight: &FlightUses, i: Inst, live: &mut EntitySet<Value>) {
    f.def_values(i).for_each(|v| {
        live.remove(v);
    });
    f.use_values(i).chain(flight.at(i)).for_each(|v| {
        live.insert(v);
    });
}

impl Dataflow {
    fn compute(f: &Function, flight: &FlightUses) -> Self {
        let empty = || vec![EntitySet::with_capacity(f.num_values()); f.num_blocks()];
        let (mut live_in, mut live_out) = (empty(), empty());
        let mut again = true;
        while again {
            again = false;
            for b in f.blocks().rev() {
                let mut out: EntitySet<Value> = EntitySet::with_capacity(f.num_values());
                for s in f.succs(b) {
                    live_in[s.index()].iter().for_each(|v| {
                        out.insert(v);
                    });
                }
                let mut live = at_end(f, b, &out);
                f.block_insts(b).rev().for_each(|i| before(f, flight, i, &mut live));
                f.params(b).for_each(|v| {
                    live.remove(v);
                });
                again |= live != live_in[b.index()] || out != live_out[b.index()];
                live_in[b.index()] = live;
                live_out[b.index()] = out;
            }
        }
        Self { live_in, live_out }
    }
}

/// Everything that [`Liveness`] says, against the dataflow.
fn compare(f: &Function) -> Result<LoopForest, TestCaseError> {
    let dom = DomTree::compute(f);
    let loops = LoopForest::compute(f);
    let live = Liveness::compute(f, &dom, &loops);
    let plain = Dataflow::compute(f, live.flight());
    for v in f.values() {
        let ranges = live.ranges(v);
        prop_assert!(ranges.iter().all(|r| r.first <= r.last));
        prop_assert!(ranges.windows(2).all(|w| w[0].last.0 + 1 < w[1].first.0), "{v}: {ranges:?} are not apart");
        for b in f.blocks() {
            let want = plain.live_in[b.index()].contains(v);
            prop_assert_eq!(ranges.iter().any(|r| r.first <= b && b <= r.last), want, "{} into {}", v, b);
            prop_assert_eq!(live.live_in(b, v), want);
            prop_assert_eq!(live.live_out(f, b, v), plain.live_out[b.index()].contains(v), "{} out of {}", v, b);
        }
    }
    let mut visited = Vec::new();
    let mut wrong = None;
    live.for_each_live_in(f, |b, list| {
        visited.push(b);
        let sorted: BTreeSet<Value> = list.iter().copied().collect();
        if sorted.len() != list.len() || !sorted.iter().copied().eq(plain.live_in[b.index()].iter()) {
            wrong.get_or_insert((b, list.to_vec()));
        }
    });
    prop_assert_eq!(wrong, None);
    prop_assert!(visited.into_iter().eq(f.blocks()));

    let mut used = EntitySet::with_capacity(f.num_values());
    let mut last_need: Vec<u32> = f
        .values()
        .map(|v| match f.def(v) {
            ValueDef::Inst(i) => i.0,
            ValueDef::Param(b) => f.block_range(b).start,
        })
        .collect();
    for b in f.blocks() {
        let mut after = at_end(f, b, &plain.live_out[b.index()]);
        for v in after.iter() {
            used.insert(v);
            last_need[v.index()] = last_need[v.index()].max(f.terminator(b).0);
        }
        for i in f.block_insts(b).rev() {
            let operands: BTreeSet<Value> = f.use_values(i).collect();
            let waits: BTreeSet<Value> = live.flight().at(i).collect();
            for &v in operands.union(&waits) {
                used.insert(v);
                last_need[v.index()] = last_need[v.index()].max(i.0);
            }
            let mut lane = f.def_values(i).len();
            for &o in f.uses(i) {
                for l in f.lanes(o) {
                    let want = l.value().is_some_and(|v| !after.contains(v) && !waits.contains(&v));
                    prop_assert_eq!(live.kills(i, lane), want, "lane {} of {}", lane, i);
                    lane += 1;
                }
            }
            for &v in &waits {
                let want = !after.contains(v) && !operands.contains(&v);
                prop_assert_eq!(live.ends_in_flight(f, b, i, v), want, "{} at {}", v, i);
            }
            before(f, live.flight(), i, &mut after);
        }
    }
    for v in f.values() {
        prop_assert_eq!(live.is_used(v), used.contains(v), "{}", v);
        prop_assert_eq!(live.last_need(v), last_need[v.index()], "{}", v);
    }
    Ok(loops)
}

/// Groups in flight on one path, oldest first, and what no commit has closed.
#[derive(Clone, Default)]
struct Machine {
    closed: Vec<BTreeSet<Value>>,
    open: BTreeSet<Value>,
}

impl Machine {
    fn run(&mut self, f: &Function, i: Inst, done: &mut BTreeSet<(Inst, Value)>) {
        let sig = f.sig(i);
        match sig.props.flight {
            Flight::No => {}
            Flight::Commits => self.closed.push(std::mem::take(&mut self.open)),
            Flight::Waits(left) => {
                let keep = (left as usize).min(self.closed.len());
                let ended = self.closed.len() - keep;
                done.extend(self.closed.drain(..ended).flatten().map(|v| (i, v)));
                // What is not committed is waited for when nothing may be left, to be safe.
                if left == 0 {
                    done.extend(std::mem::take(&mut self.open).into_iter().map(|v| (i, v)));
                }
            }
            Flight::Starts => {
                for (k, &o) in f.operands(i).iter().enumerate() {
                    for v in f.lanes(o).filter_map(|l| l.value()) {
                        if k >= f.num_defs(i) && sig.tied(k).is_some() {
                            self.all(|set| {
                                set.remove(&v);
                            });
                        } else if sig.in_flight(k) {
                            self.open.insert(v);
                        }
                    }
                }
            }
        }
    }

    fn all(&mut self, f: impl FnMut(&mut BTreeSet<Value>)) {
        self.closed.iter_mut().chain([&mut self.open]).for_each(f);
    }

    /// Values by the names that the target of an edge has for them.
    fn cross(&mut self, f: &Function, dom: &DomTree, e: fatpoint_ir::Edge) {
        let to = f.edge(e).to;
        self.all(|set| {
            let old = std::mem::take(set);
            for v in old {
                let taken: Vec<Value> =
                    f.params(to).zip(f.edge_args(e)).filter(|(_, a)| a.value() == Some(v)).map(|t| t.0).collect();
                if taken.is_empty() && f.def_block(v) != to && dom.dominates(f.def_block(v), to) {
                    set.insert(v);
                }
                set.extend(taken);
            }
        });
    }
}

/// Flights on all paths of a function without loops.
fn all_paths(f: &Function, dom: &DomTree) -> BTreeSet<(Inst, Value)> {
    let mut done = BTreeSet::new();
    let mut work = vec![(f.entry(), Machine::default())];
    while let Some((b, mut m)) = work.pop() {
        f.block_insts(b).for_each(|i| m.run(f, i, &mut done));
        for e in f.succ_edges(b) {
            let mut next = m.clone();
            next.cross(f, dom, e);
            work.push((f.edge(e).to, next));
        }
    }
    done
}

/// Flights on one random walk.
fn one_path(f: &Function, dom: &DomTree, mut bits: u64) -> BTreeSet<(Inst, Value)> {
    let mut done = BTreeSet::new();
    let (mut b, mut m) = (f.entry(), Machine::default());
    for _ in 0..40 {
        f.block_insts(b).for_each(|i| m.run(f, i, &mut done));
        let edges = f.succ_edges(b);
        let n = edges.len() as u64;
        if n == 0 {
            break;
        }
        let e = f.succ_edges(b).nth((bits % n) as usize).expect("below their number");
        bits = bits.rotate_right(7).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        m.cross(f, dom, e);
        b = f.edge(e).to;
    }
    done
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_control_flow(seed in any::<u64>(), blocks in 2..24usize, insts in 0..10usize) {
        compare(&program(Shape { seed, blocks, insts, acyclic: false, flight: 0 }))?;
    }

    #[test]
    fn with_values_in_flight(seed in any::<u64>(), blocks in 2..14usize, flight in 20..80u32) {
        compare(&program(Shape { seed, blocks, insts: 8, acyclic: false, flight }))?;
    }

    #[test]
    fn flights_are_those_of_all_paths(seed in any::<u64>(), blocks in 2..9usize, flight in 30..100u32) {
        let f = program(Shape { seed, blocks, insts: 6, acyclic: true, flight });
        let dom = DomTree::compute(&f);
        let found: BTreeSet<(Inst, Value)> = FlightUses::compute(&f, &dom).iter().collect();
        prop_assert_eq!(found, all_paths(&f, &dom), "{}", f);
    }

    #[test]
    fn flights_around_loops_are_found(seed in any::<u64>(), walk in any::<u64>(), blocks in 2..10usize) {
        let f = program(Shape { seed, blocks, insts: 6, acyclic: false, flight: 70 });
        let dom = DomTree::compute(&f);
        let found: BTreeSet<(Inst, Value)> = FlightUses::compute(&f, &dom).iter().collect();
        let lost: Vec<_> = one_path(&f, &dom, walk).into_iter().filter(|x| !found.contains(x)).collect();
        prop_assert_eq!(lost, vec![], "{}", f);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_functions(
        seed in any::<u64>(),
        insts in 0..500usize,
        live in 2..50usize,
        shape in prop::sample::select(vec![GenShape::Straight, GenShape::Loops, GenShape::Diamonds, GenShape::Mixed]),
        wide in 0..30u32,
    ) {
        compare(&generate(&GenOptions { seed, insts, live, shape, pairs: wide, quads: wide }))?;
    }
}

/// The random programs have what makes ranges hard.
#[test]
fn programs_are_varied() {
    let (mut irreducible, mut nested, mut self_loops, mut several, mut flights) = (0, 0, 0, 0, 0);
    for seed in 0..400 {
        let f = program(Shape { seed, blocks: 4 + seed as usize % 16, insts: 6, acyclic: false, flight: 15 });
        let loops = compare(&f).expect("liveness is right");
        let dom = DomTree::compute(&f);
        let live = Liveness::compute(&f, &dom, &loops);
        irreducible += loops.ids().filter(|&l| loops.is_irreducible(l)).count();
        nested += f.blocks().filter(|&b| loops.depth(b) > 1).count();
        self_loops += f.edges().filter(|&e| f.edge(e).from == f.edge(e).to).count();
        several += f.values().filter(|&v| live.ranges(v).len() > 1).count();
        flights += live.flight().iter().count();
    }
    for n in [irreducible, nested, self_loops, several, flights] {
        assert!(n > 100, "{irreducible} {nested} {self_loops} {several} {flights}");
    }
}
