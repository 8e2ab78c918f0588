//! Spilling: which values are in registers where, for a file of a given size.
//!
//! Input: the analyses and the number of general registers. Output: a [`SpillPlan`] under which every instruction's
//! shape fits and every block's entry does. The method is Braun and Hack 2009 (MIN of Belady on SSA, over the whole
//! function): blocks in linear order; a loop header keeps what the loop uses by next use, then what lives through while
//! the loop's peak leaves room; other blocks keep what all predecessors hold, then what some do, by next use; within a
//! block the value with the farthest next use gives way.
//!
//! Departures: values keep their identity (a reload puts the same value back into some register), so nothing is renamed
//! and SSA needs no repair; a spilled value is stored once, right after its definition, so a slot is valid from there
//! on; a parameter that is not in a register at its block's entry is a memory parameter, whose arguments are stored on
//! the edges unless they share its slot. Whole instructions' shapes (alignment, ties, clobbers) decide what fits, not a
//! plain count.

use crate::analysis::Analysis;
use fatpoint_ir::{Block, EntityId, EntitySet, EntityVec, Inst, RegClass, Region, Value};
use fatpoint_pressure::next_use::NEVER;
use fatpoint_pressure::{pack, universe, CallInfo, DistanceMap, Shape, ShapeBuilder};

/// What happens to a value just before an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Action {
    /// It leaves its register.
    Evict(Value),
    /// It comes back from its slot.
    Reload(Value),
}

/// Where values are, block by block.
#[derive(Clone, Debug)]
pub struct SpillPlan {
    /// Values in registers at each block's entry, parameters included; `None` when nothing is spilled.
    pub entry: Option<EntityVec<Block, Vec<Value>>>,
    /// Evictions and reloads, by instruction; evictions first.
    pub actions: Vec<(Inst, Action)>,
    /// Values with a slot.
    pub spilled: EntitySet<Value>,
    /// Parameters that arrive in memory.
    pub memory_param: EntitySet<Value>,
}

impl SpillPlan {
    /// The plan that spills nothing.
    pub fn none() -> Self {
        Self {
            entry: None,
            actions: Vec::new(),
            spilled: EntitySet::with_capacity(0),
            memory_param: EntitySet::with_capacity(0),
        }
    }

    /// Actions before an instruction.
    pub fn actions_at(&self, i: Inst) -> &[(Inst, Action)] {
        let s = self.actions.partition_point(|x| x.0 < i);
        let n = self.actions[s..].partition_point(|x| x.0 == i);
        &self.actions[s..s + n]
    }
}

/// The instruction whose operands do not fit even with everything else spilled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DoesNotFit(pub Inst);

/// True when a shape and `through` units fit into a file of `k` registers of which R1 is reserved.
pub(crate) fn fits(shape: &Shape, through: u32, k: u32, reserve_r1: bool) -> bool {
    let room = k.saturating_sub(u32::from(reserve_r1 && k > 1));
    if shape.read_units() + through > room || shape.write_units() + through > room {
        return false;
    }
    (shape.runs.is_empty() && shape.clobbers.is_empty()) || pack(shape, through, universe(k, reserve_r1)).is_some()
}

/// General-register units that a value takes beside its class's own: 1 for a predicate kept in a general register.
pub(crate) fn in_r(a: &Analysis<'_>, v: Value) -> bool {
    a.func.class(v) == RegClass::R || a.predicates.contains(v)
}

/// Single units that spilled predicates add to the shape of an instruction: (operands that end, results).
pub(crate) fn predicate_units(a: &Analysis<'_>, i: Inst) -> (u32, u32) {
    if !a.predicates.any() {
        return (0, 0);
    }
    let mut ended: Vec<Value> = Vec::new();
    let mut lane = a.func.defs(i).iter().map(|o| o.len()).sum::<usize>();
    for &o in a.func.uses(i) {
        for l in a.func.lanes(o) {
            if let Some(v) = l.value() {
                if a.predicates.contains(v) && a.live.kills(i, lane) && !ended.contains(&v) {
                    ended.push(v);
                }
            }
            lane += 1;
        }
    }
    let results = a.func.def_values(i).filter(|&v| a.predicates.contains(v) && a.live.is_used(v)).count();
    (ended.len() as u32, results as u32)
}

struct Spiller<'a> {
    a: &'a Analysis<'a>,
    k: u32,
    room: u32,
    reserve_r1: bool,
    /// Values in registers now, and where each stands in the list.
    held: Vec<Value>,
    at: EntityVec<Value, u32>,
    /// Next use of each held value as an absolute position of the block at hand, or beyond it.
    next: EntityVec<Value, u32>,
    exit: EntityVec<Block, Vec<Value>>,
    plan: SpillPlan,
    entry: EntityVec<Block, Vec<Value>>,
    dist: DistanceMap,
    /// Most live units in each block.
    peak: Vec<u32>,
}

/// Plans spilling in one region for `k` general registers.
///
/// # Errors
/// [`DoesNotFit`] names the first instruction that does not fit with everything else spilled.
pub fn plan(
    a: &Analysis<'_>,
    calls: &[CallInfo],
    region: Region,
    k: u32,
    reserve_r1: bool,
) -> Result<SpillPlan, DoesNotFit> {
    let func = a.func;
    let profile = a.profile.class(RegClass::R).expect("general registers are always profiled");
    let peak = func
        .blocks()
        .map(|b| {
            let at = func.block_insts(b).map(|i| profile.live[i].max()).max().unwrap_or(0);
            at.max(profile.entry[b]) as u32
        })
        .collect();
    let n = func.num_values();
    let mut s = Spiller {
        a,
        k,
        room: k.saturating_sub(u32::from(reserve_r1 && k > 1)),
        reserve_r1,
        held: Vec::new(),
        at: EntityVec::filled(n, u32::MAX),
        next: EntityVec::filled(n, NEVER),
        exit: EntityVec::filled(func.num_blocks(), Vec::new()),
        plan: SpillPlan {
            entry: None,
            actions: Vec::new(),
            spilled: EntitySet::with_capacity(n),
            memory_param: EntitySet::with_capacity(n),
        },
        entry: EntityVec::filled(func.num_blocks(), Vec::new()),
        dist: DistanceMap::new(func),
        peak,
    };
    let mut shapes = ShapeBuilder::new(func, &a.live, RegClass::R).with_calls(calls);
    for b in func.region_blocks(region) {
        s.block(b, &mut shapes)?;
    }
    s.couple(region);
    s.plan.entry = Some(s.entry);
    Ok(s.plan)
}

impl Spiller<'_> {
    fn hold(&mut self, v: Value, next: u32) {
        if self.at[v] == u32::MAX {
            self.at[v] = self.held.len() as u32;
            self.held.push(v);
        }
        self.next[v] = next;
    }

    fn drop_value(&mut self, v: Value) {
        let k = self.at[v];
        if k != u32::MAX {
            self.at[v] = u32::MAX;
            self.held.swap_remove(k as usize);
            if let Some(&moved) = self.held.get(k as usize) {
                self.at[moved] = k;
            }
        }
    }

    fn clear(&mut self) {
        for v in std::mem::take(&mut self.held) {
            self.at[v] = u32::MAX;
        }
    }

    fn is_held(&self, v: Value) -> bool {
        self.at[v] != u32::MAX
    }

    fn block(&mut self, b: Block, shapes: &mut ShapeBuilder<'_>) -> Result<(), DoesNotFit> {
        let a = self.a;
        let func = a.func;
        let chosen = self.choose_entry(b);
        self.clear();
        let range = func.block_range(b);
        for &(v, d) in &chosen {
            self.hold(v, range.start.saturating_add(d));
        }
        self.entry[b] = self.held.clone();
        self.entry[b].sort_unstable();
        for p in func.params(b) {
            if in_r(a, p) && a.live.is_used(p) && !self.is_held(p) {
                self.plan.memory_param.insert(p);
                self.plan.spilled.insert(p);
            }
        }
        // Next use after each operand lane, and after each definition: one backward pass over the block.
        a.next_use().at_exit(func, &a.loops, b, &mut self.dist);
        let len = range.end - range.start;
        let mut after: Vec<u32> = Vec::new();
        let mut local: std::collections::BTreeMap<Value, u32> = std::collections::BTreeMap::new();
        for i in func.block_insts(b).rev() {
            let start = after.len();
            let look = |v: Value, local: &std::collections::BTreeMap<Value, u32>, dist: &DistanceMap| {
                local.get(&v).copied().unwrap_or_else(|| match dist.get(v) {
                    NEVER => NEVER,
                    d => range.start.saturating_add(len).saturating_add(d).min(NEVER - 1),
                })
            };
            for v in func.def_values(i) {
                after.push(look(v, &local, &self.dist));
            }
            for v in func.use_values(i) {
                after.push(look(v, &local, &self.dist));
            }
            for v in func.use_values(i) {
                local.insert(v, i.0);
            }
            after[start..].reverse();
        }
        after.reverse();
        let mut cursor = 0;
        let mut groups = a.live.flight().at_entry(b);
        for i in func.block_insts(b) {
            let defs = func.def_values(i).len();
            let uses = func.use_values(i).count();
            self.inst(i, &after[cursor..cursor + defs + uses], shapes, &groups)?;
            cursor += defs + uses;
            fatpoint_pressure::flight::FlightUses::advance(func, i, &mut groups);
            for v in a.live.flight().at(i) {
                if a.live.ends_in_flight(func, b, i, v) {
                    self.drop_value(v);
                }
            }
        }
        self.exit[b] = self.held.clone();
        self.exit[b].sort_unstable();
        Ok(())
    }

    fn inst(
        &mut self,
        i: Inst,
        after: &[u32],
        shapes: &mut ShapeBuilder<'_>,
        groups: &fatpoint_pressure::flight::Groups,
    ) -> Result<(), DoesNotFit> {
        let a = self.a;
        let func = a.func;
        let defs = func.def_values(i).len();
        let mut operands: Vec<Value> = Vec::new();
        for v in func.use_values(i) {
            if in_r(a, v) && !operands.contains(&v) {
                operands.push(v);
                if !self.is_held(v) {
                    self.plan.actions.push((i, Action::Reload(v)));
                    self.plan.spilled.insert(v);
                    self.hold(v, i.0);
                }
            }
        }
        let (ended, results) = predicate_units(a, i);
        let shape = shapes.shape(i, ended, results);
        // Operands that the shape counts; spilled predicates that live on count as living through.
        let counted = operands.iter().filter(|&&v| func.class(v) == RegClass::R).count() as u32 + ended;
        let first_action = self.plan.actions.len();
        loop {
            let through = self.held.len() as u32 - counted;
            if fits(shape, through, self.k, self.reserve_r1) {
                break;
            }
            let pick = self
                .held
                .iter()
                .copied()
                .filter(|v| !operands.contains(v) && !groups.iter().any(|g| g.contains(v)))
                .max_by_key(|&v| (self.next[v], std::cmp::Reverse(v)));
            let Some(v) = pick else { return Err(DoesNotFit(i)) };
            self.drop_value(v);
            self.plan.actions.push((i, Action::Evict(v)));
        }
        // Evictions make the room that reloads take.
        let from = self.plan.actions[..first_action].partition_point(|x| x.0 < i);
        self.plan.actions[from..].sort_unstable();
        let mut lane = func.defs(i).iter().map(|o| o.len()).sum::<usize>();
        let mut k = defs;
        for &o in func.uses(i) {
            for l in func.lanes(o) {
                if let Some(v) = l.value() {
                    if a.live.kills(i, lane) {
                        self.drop_value(v);
                    } else if self.is_held(v) {
                        self.next[v] = after[k];
                    }
                    k += 1;
                }
                lane += 1;
            }
        }
        for (k, v) in func.def_values(i).enumerate() {
            if in_r(a, v) && a.live.is_used(v) {
                self.hold(v, after[k]);
            }
        }
        Ok(())
    }

    /// Values in registers at a block's entry, with their distances from it.
    fn choose_entry(&mut self, b: Block) -> Vec<(Value, u32)> {
        let a = self.a;
        let func = a.func;
        let next = a.next_use();
        let mut live: Vec<(Value, u32)> =
            next.at_entry(b).iter().copied().filter(|&(v, _)| in_r(a, v) && a.live.live_in(b, v)).collect();
        let params: Vec<(Value, u32)> =
            func.params(b).filter(|&p| in_r(a, p) && a.live.is_used(p)).map(|p| (p, next.param_distance(p))).collect();
        let room = self.room as usize;
        let by_distance = |x: &(Value, u32)| (x.1, x.0);
        let flying: Vec<Value> = a.live.flight().at_entry(b).into_iter().flatten().collect();
        let header = func.pred_edges(b).iter().any(|&e| func.edge(e).from >= b);
        let mut out: Vec<(Value, u32)> = Vec::with_capacity(room);
        if header {
            let l = a.loops.innermost(b);
            let peak = l.map_or(self.peak[b.index()], |l| {
                let (first, last) = a.loops.span(l);
                (first.0..=last.0).map(|x| self.peak[x as usize]).max().unwrap_or(0)
            });
            let near = |d: u32| d < fatpoint_pressure::next_use::LOOP_EXIT;
            let through = live.iter().filter(|x| !near(x.1)).count();
            let mut used: Vec<(Value, u32)> = live.iter().copied().filter(|x| near(x.1)).chain(params).collect();
            used.sort_by_key(by_distance);
            live.retain(|x| !near(x.1));
            live.sort_by_key(by_distance);
            out.extend(used.into_iter().take(room));
            let busy = (peak as usize).saturating_sub(through);
            let free = room.saturating_sub(busy.max(out.len()));
            out.extend(live.into_iter().take(free));
        } else {
            // How many predecessors hold each value at their end.
            let preds: Vec<Block> = func.preds(b).collect();
            let held_in = |v: Value, p: &Block| self.exit[*p].binary_search(&v).is_ok();
            let count = |v: Value| preds.iter().filter(|p| held_in(v, p)).count();
            let mut ranked: Vec<(bool, u32, Value)> = Vec::new();
            for &(v, d) in &live {
                let c = count(v);
                if c > 0 || preds.is_empty() {
                    ranked.push((c < preds.len(), d, v));
                }
            }
            for &(p, d) in &params {
                let at = func.params(b).position(|x| x == p).expect("a parameter of the block");
                let c = func
                    .pred_edges(b)
                    .iter()
                    .filter(|&&e| match func.edge_args(e)[at].value() {
                        Some(v) => held_in(v, &func.edge(e).from),
                        None => true,
                    })
                    .count();
                ranked.push((c < preds.len(), d, p));
            }
            ranked.sort_unstable();
            out.extend(ranked.into_iter().take(room).map(|(_, d, v)| (v, d)));
        }
        for v in flying {
            if in_r(a, v) && a.live.live_in(b, v) && !out.iter().any(|x| x.0 == v) {
                if out.len() == room {
                    if let Some(k) =
                        out.iter().rposition(|x| !a.live.flight().at_entry(b).iter().any(|g| g.contains(&x.0)))
                    {
                        out.remove(k);
                    }
                }
                out.push((v, next.entry_distance(b, v)));
            }
        }
        out
    }

    /// Finds what edges must reload or store: those values need slots.
    fn couple(&mut self, region: Region) {
        let a = self.a;
        let func = a.func;
        let mut params = EntitySet::<Value>::with_capacity(func.num_values());
        for b in func.region_blocks(region) {
            func.params(b).for_each(|p| {
                params.insert(p);
            });
        }
        for e in func.edges() {
            let d = func.edge(e);
            if func.block(d.from).region != region {
                continue;
            }
            let out = &self.exit[d.from];
            for &v in &self.entry[d.to] {
                let own = params.contains(v) && func.def(v) == fatpoint_ir::ValueDef::Param(d.to);
                if !own && out.binary_search(&v).is_err() {
                    self.plan.spilled.insert(v);
                }
            }
            for (p, l) in func.params(d.to).zip(func.edge_args(e)) {
                if !a.live.is_used(p) {
                    continue;
                }
                if let Some(v) = l.value() {
                    if in_r(a, v) && out.binary_search(&v).is_err() {
                        self.plan.spilled.insert(v);
                    }
                }
            }
        }
    }
}
