//! The canonical form: refuse what has none, lay the blocks out in linear order, renumber everything.

use super::{consecutive, BuildError, Finished, FunctionBuilder, RawRegion};
use crate::entity::{EntityId, EntityVec};
use crate::function::*;
use crate::operand::{Lane, Operand, OperandKind};
use crate::order::{linear_order, Graph};

impl FunctionBuilder {
    fn check(&self) -> Result<(), BuildError> {
        if self.blocks.is_empty() {
            return Err(BuildError::NoBlock);
        }
        for RawRegion { name, entry, .. } in &self.regions {
            if entry.is_none() {
                return Err(BuildError::EmptyRegion(self.symbols[name.index()].to_string()));
            }
        }
        if let Some(v) = self.redefined {
            return Err(BuildError::Redefined(self.value_name(v)));
        }
        for (b, data) in self.blocks.iter() {
            if !data.terminated || data.insts.is_empty() {
                return Err(BuildError::Unterminated(self.block_name(b)));
            }
            let inner = &data.insts[..data.insts.len() - 1];
            let kind = |i: u32| self.ops.get(self.insts[i as usize].op).props.kind;
            if data.overrun || inner.iter().any(|&i| kind(i).is_terminator()) {
                return Err(BuildError::AfterTerminator(self.block_name(b)));
            }
            let last = *data.insts.last().expect("checked above");
            let sig = self.ops.get(self.insts[last as usize].op);
            if !sig.props.kind.is_terminator() {
                return Err(BuildError::Unterminated(self.block_name(b)));
            }
            let ok = match sig.props.kind.successors() {
                Some(n) => data.succs.len() == n,
                None => !data.succs.is_empty(),
            };
            if !ok {
                return Err(BuildError::Successors {
                    block: self.block_name(b),
                    mnemonic: sig.mnemonic.to_string(),
                    found: data.succs.len(),
                    expected: sig.props.kind.successors().map_or("at least 1".into(), |n| n.to_string()),
                });
            }
            for &(to, _, _) in &data.succs {
                if self.blocks[to].region != data.region {
                    return Err(BuildError::CrossRegion { from: self.block_name(b), to: self.block_name(to) });
                }
            }
        }
        Ok(())
    }

    /// Blocks in linear order, region by region.
    fn order(&self) -> Result<Vec<Block>, BuildError> {
        let n = self.blocks.len();
        let mut start = vec![0u32; n + 1];
        let mut succ = Vec::new();
        for (b, d) in self.blocks.iter() {
            succ.extend(d.succs.iter().map(|s| s.0 .0));
            start[b.index() + 1] = succ.len() as u32;
        }
        let graph = Graph { start: &start, succ: &succ };
        let mut order = Vec::with_capacity(n);
        for RawRegion { entry, .. } in &self.regions {
            let entry = entry.expect("checked before");
            order.extend(linear_order(&graph, entry.0).order.into_iter().map(Block));
        }
        if order.len() != n {
            let mut seen = vec![false; n];
            order.iter().for_each(|b| seen[b.index()] = true);
            let lost = self.blocks.ids().filter(|b| !seen[b.index()]).map(|b| self.block_name(b)).collect();
            return Err(BuildError::Unreachable(lost));
        }
        Ok(order)
    }

    /// Takes out the blocks that no path from their region's entry reaches and returns their names.
    pub fn prune_unreachable(&mut self) -> Vec<String> {
        let mut seen = vec![false; self.blocks.len()];
        let mut work: Vec<Block> = self.regions.iter().filter_map(|r| r.entry).collect();
        work.iter().for_each(|b| seen[b.index()] = true);
        while let Some(b) = work.pop() {
            for &(to, _, _) in &self.blocks[b].succs {
                if !std::mem::replace(&mut seen[to.index()], true) {
                    work.push(to);
                }
            }
        }
        if seen.iter().all(|&s| s) {
            return Vec::new();
        }
        let mut lost = Vec::new();
        let mut map = vec![Block::NONE; seen.len()];
        let mut kept = EntityVec::new();
        for (b, d) in self.blocks.iter() {
            if seen[b.index()] {
                map[b.index()] = kept.push(d.clone());
            } else {
                lost.push(self.block_name(b));
            }
        }
        for d in kept.as_mut_slice() {
            for s in &mut d.succs {
                s.0 = map[s.0.index()];
            }
        }
        for r in &mut self.regions {
            r.entry = r.entry.map(|b| map[b.index()]);
        }
        self.blocks = kept;
        lost
    }

    /// The canonical function.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn finish(self) -> Result<Function, BuildError> {
        self.finish_mapped().map(|f| f.func)
    }

    /// The canonical function, with the maps from the builder's numbers to its own.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn finish_mapped(mut self) -> Result<Finished, BuildError> {
        self.check()?;
        let order = self.order()?;
        let mut block_map = EntityVec::filled(self.blocks.len(), Block::NONE);
        for (i, &b) in order.iter().enumerate() {
            block_map[b] = Block::new(i);
        }
        let value_map = self.number_values(&order);
        let mut out = Function {
            name: std::mem::take(&mut self.name),
            attrs: std::mem::take(&mut self.attrs),
            ops: std::mem::take(&mut self.ops),
            insts: EntityVec::with_capacity(self.insts.len()),
            lines: EntityVec::with_capacity(self.insts.len()),
            operands: Vec::with_capacity(self.operands.len()),
            lanes: Vec::new(),
            wide_imms: std::mem::take(&mut self.wide_imms),
            values: EntityVec::with_capacity(self.values.len()),
            names: EntityVec::new(),
            blocks: EntityVec::with_capacity(order.len()),
            edges: EntityVec::new(),
            pred_start: Vec::new(),
            preds: Vec::new(),
            regions: EntityVec::new(),
            layout: block_map.values().copied().collect(),
            symbols: std::mem::take(&mut self.symbols),
        };
        let mut cx = Renumber { values: &value_map, old_lanes: &self.lanes, undefined: None };
        for &b in &order {
            emit_block(&mut out, &self, b, &block_map, &mut cx);
        }
        if let Some(v) = cx.undefined {
            let name = match self.values[v].name.some() {
                Some(s) => format!("%{}", out.symbols[s.index()]),
                None => format!("%v{}", v.0),
            };
            return Err(BuildError::Undefined(name));
        }
        if self.named {
            out.names = EntityVec::filled(out.values.len(), Symbol::NONE);
            for (old, &new) in value_map.iter() {
                if !new.is_none() {
                    out.names[new] = self.values[old].name;
                }
            }
        }
        link_preds(&mut out);
        for RawRegion { name, entry, results } in &self.regions {
            let entry = block_map[entry.expect("checked before")];
            let region = Region::new(out.regions.len());
            let end = (entry.index()..out.blocks.len())
                .find(|&b| out.blocks[Block::new(b)].region != region)
                .unwrap_or(out.blocks.len());
            out.regions.push(RegionData { name: *name, entry, end_block: end as u32, results: results.clone() });
        }
        Ok(Finished { func: out, values: value_map, blocks: block_map })
    }

    /// Final numbers of all defined values, in linear order.
    fn number_values(&self, order: &[Block]) -> EntityVec<Value, Value> {
        let mut map = EntityVec::filled(self.values.len(), Value::NONE);
        let mut next = 0u32;
        let mut number = |o: &Operand| {
            for k in 0..o.len() as u32 {
                map[Value(o.payload() + k)] = Value(next);
                next += 1;
            }
        };
        for &b in order {
            let d = &self.blocks[b];
            d.params.iter().for_each(&mut number);
            for &i in &d.insts {
                let inst = &self.insts[i as usize];
                let s = inst.first_operand as usize;
                self.operands[s..s + inst.num_defs as usize].iter().for_each(&mut number);
            }
        }
        map
    }
}

struct Renumber<'a> {
    values: &'a EntityVec<Value, Value>,
    old_lanes: &'a [Lane],
    undefined: Option<Value>,
}

impl Renumber<'_> {
    fn lane(&mut self, l: Lane) -> Lane {
        match l.value() {
            None => l,
            Some(v) => {
                let new = self.values[v];
                if new.is_none() && self.undefined.is_none() {
                    self.undefined = Some(v);
                }
                Lane(new)
            }
        }
    }

    fn operand(&mut self, o: Operand, lanes: &mut Vec<Lane>) -> Operand {
        match o.kind() {
            OperandKind::Run if o.len() == 1 => o.with_payload(self.lane(Lane(Value(o.payload()))).0 .0),
            OperandKind::Run | OperandKind::Lanes => {
                let start = lanes.len();
                for k in 0..o.len() {
                    let old = match o.kind() {
                        OperandKind::Run => Lane(Value(o.payload() + k as u32)),
                        _ => self.old_lanes[o.payload() as usize + k],
                    };
                    let new = self.lane(old);
                    lanes.push(new);
                }
                let fixed = match consecutive(&lanes[start..]) {
                    Some(first) => {
                        lanes.truncate(start);
                        Operand::run(first, o.len(), o.align())
                    }
                    None => Operand::lanes(start as u32, o.len(), o.align()),
                };
                fixed.set_flags(o.flags())
            }
            _ => o,
        }
    }
}

fn emit_block(
    out: &mut Function,
    raw: &FunctionBuilder,
    b: Block,
    block_map: &EntityVec<Block, Block>,
    cx: &mut Renumber<'_>,
) {
    let d = &raw.blocks[b];
    let id = Block::new(out.blocks.len());
    let first_param = Value::new(out.values.len());
    let first_param_operand = out.operands.len() as u32;
    for &p in &d.params {
        let o = cx.operand(p, &mut out.lanes);
        out.operands.push(o);
        for k in 0..p.len() as u32 {
            let class = raw.values[Value(p.payload() + k)].class;
            out.values.push(ValueData { class, def: id.0 | PARAM_BIT });
        }
    }
    let num_params = out.values.len() as u32 - first_param.0;
    let first_inst = out.insts.len() as u32;
    for &i in &d.insts {
        let r = raw.insts[i as usize];
        let inst = Inst::new(out.insts.len());
        let first_operand = out.operands.len() as u32;
        let first_value = Value::new(out.values.len());
        let words = &raw.operands[r.first_operand as usize..r.first_operand as usize + r.num_operands as usize];
        for (k, &w) in words.iter().enumerate() {
            let o = cx.operand(w, &mut out.lanes);
            out.operands.push(o);
            if k < r.num_defs as usize {
                for lane in 0..w.len() as u32 {
                    let class = raw.values[Value(w.payload() + lane)].class;
                    out.values.push(ValueData { class, def: inst.0 });
                }
            }
        }
        out.insts.push(InstData {
            op: r.op,
            first_operand,
            first_value,
            num_operands: r.num_operands,
            num_defs: r.num_defs,
        });
        out.lines.push(r.line);
    }
    let first_edge = out.edges.len() as u32;
    for &(to, start, len) in &d.succs {
        let first_arg = out.lanes.len() as u32;
        for k in 0..len {
            let l = cx.lane(raw.lanes[(start + k) as usize]);
            out.lanes.push(l);
        }
        out.edges.push(EdgeData { from: id, to: block_map[to], first_arg, num_args: len });
    }
    out.blocks.push(BlockData {
        name: d.name,
        region: d.region,
        trip: d.trip,
        first_param_operand,
        num_param_operands: d.params.len() as u32,
        first_param,
        num_params,
        first_inst,
        end_inst: out.insts.len() as u32,
        first_edge,
        end_edge: out.edges.len() as u32,
    });
}

fn link_preds(out: &mut Function) {
    let n = out.blocks.len();
    let mut start = vec![0u32; n + 1];
    for e in out.edges.values() {
        start[e.to.index() + 1] += 1;
    }
    for i in 0..n {
        start[i + 1] += start[i];
    }
    let mut at = start.clone();
    let mut preds = vec![Edge::NONE; out.edges.len()];
    for (id, e) in out.edges.iter() {
        preds[at[e.to.index()] as usize] = id;
        at[e.to.index()] += 1;
    }
    out.pred_start = start;
    out.preds = preds;
}
