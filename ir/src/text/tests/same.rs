//! What a function means, part by part, without printing it: the oracle of the round trips. Numbers of opcodes,
//! symbols and pool positions are replaced by what they stand for.

use crate::entity::EntityId;
use crate::function::Function;
use crate::operand::Operand;

fn operand(f: &Function, o: Operand) -> String {
    let lanes: Vec<_> = f.lanes(o).collect();
    let rest = (f.imm(o), f.operand_symbol(o), f.operand_region(o));
    let bank = matches!(o.kind(), crate::operand::OperandKind::Const).then(|| o.const_ref());
    format!(
        "{:?} len {} align {} {:?} {:02x} {lanes:?} {rest:?} {bank:?}",
        o.kind(),
        o.len(),
        o.align(),
        o.flags(),
        o.flags().0
    )
}

/// One line for each part of the function.
pub fn meaning(f: &Function) -> Vec<String> {
    let mut out = vec![format!("{} {:?} layout {:?}", f.name, f.attrs, f.layout())];
    for r in f.regions() {
        let d = f.region(r);
        let blocks: Vec<_> = f.region_blocks(r).collect();
        out.push(format!("{r} {:?} {:?} {blocks:?} {:?}", f.symbol(d.name), d.entry, d.results));
    }
    for b in f.blocks() {
        let d = f.block(b);
        let params: Vec<_> = f.param_operands(b).iter().map(|&o| operand(f, o)).collect();
        let values: Vec<_> = f.params(b).collect();
        let preds = f.pred_edges(b);
        out.push(format!("{b} {:?} {} {:?} {params:?} {values:?} {preds:?}", f.block_name(b), d.region, d.trip));
        for i in f.block_insts(b) {
            let s = f.sig(i);
            let words: Vec<_> = f.operands(i).iter().map(|&o| operand(f, o)).collect();
            let values: Vec<_> = f.def_values(i).collect();
            out.push(format!(
                "{i} {:?} {:?} {:?} {:?} defs {} {values:?} {words:?} line {}",
                s.mnemonic,
                s.props,
                s.constraints,
                s.clobbers,
                f.num_defs(i),
                f.line(i)
            ));
        }
        for e in f.succ_edges(b) {
            out.push(format!("{e} {:?} -> {:?} {:?}", f.edge(e).from, f.edge(e).to, f.edge_args(e)));
        }
    }
    out.extend(f.values().map(|v| format!("{v} {} {:?} {:?}", f.class(v), f.def(v), f.run_name(v))));
    assert_eq!(f.values().len(), f.num_values());
    assert!(f.values().all(|v| v.index() < f.num_values()));
    out
}

/// Fails with the first part that differs.
pub fn assert_same(a: &Function, b: &Function) {
    let (x, y) = (meaning(a), meaning(b));
    for (x, y) in x.iter().zip(&y) {
        assert_eq!(x, y);
    }
    assert_eq!(x.len(), y.len());
}
