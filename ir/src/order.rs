//! Linear order and the nest of loops, by repeated strongly connected components (Bourdoncle 1993, "Efficient chaotic
//! iteration strategies with widenings": a weak topological order).
//!
//! The components of the graph are laid out in topological order; a component with a cycle is a loop, laid out
//! contiguously, and is decomposed again after the edges into its headers are cut. A loop with one header is a natural
//! loop; with several it is irreducible and stands as one pseudo-loop. Either way a value that is live into any block of
//! a loop and defined outside of it is live through the whole loop, which is what range liveness rests on.
//! Dominators come before what they dominate, since every cut edge enters a header of a component that the dominator
//! either belongs to as sole root or lies outside of.
//!
//! Departure from the paper: all headers of an irreducible component are cut at once rather than one.

use crate::entity_id;

entity_id!(
    /// A loop of the nest; outer loops have smaller numbers than the loops inside them.
    LoopId,
    "loop"
);

/// A graph as successor lists in one array.
pub struct Graph<'a> {
    /// `succ[start[n]..start[n + 1]]` are the successors of node `n`.
    pub start: &'a [u32],
    /// All successor lists, one after another.
    pub succ: &'a [u32],
}

impl Graph<'_> {
    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }
    /// True when the graph has no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Successors of a node.
    pub fn succs(&self, n: u32) -> &[u32] {
        &self.succ[self.start[n as usize] as usize..self.start[n as usize + 1] as usize]
    }
}

/// One loop of the nest, as positions in the order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderLoop {
    /// First position.
    pub first: u32,
    /// One past the last position.
    pub end: u32,
    /// The loop around it.
    pub parent: LoopId,
    /// 1 for an outermost loop.
    pub depth: u32,
    /// Nodes entered from outside the loop: one for a natural loop, more for an irreducible region.
    pub headers: Vec<u32>,
}

/// A linear order of the nodes that can be reached, and its loops.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LinearOrder {
    /// Nodes in order.
    pub order: Vec<u32>,
    /// Loops, outer before inner, by first position.
    pub loops: Vec<OrderLoop>,
}

enum Work {
    Node(u32),
    Component(Vec<u32>),
    End(usize),
}

/// Orders what can be reached from `entry`.
pub fn linear_order(graph: &Graph<'_>, entry: u32) -> LinearOrder {
    let n = graph.len();
    let mut out = LinearOrder::default();
    let mut scratch = Tarjan::new(n);
    // Subgraph of each node: nodes of one component under work share a number.
    let mut member = vec![0u32; n];
    let mut next_member = 0u32;
    let mut header_mark = vec![false; n];
    let mut preds_outside = vec![false; n];

    let mut work: Vec<Work> = Vec::new();
    let mut loop_stack: Vec<usize> = Vec::new();
    let top = scratch.components(graph, &[entry], &member, 0, &header_mark);
    // Which node a loop is entered by needs predecessors: gathered once per component below.
    push_components(&mut work, top, graph);
    while let Some(item) = work.pop() {
        match item {
            Work::Node(b) => out.order.push(b),
            Work::End(l) => {
                out.loops[l].end = out.order.len() as u32;
                loop_stack.pop();
            }
            Work::Component(nodes) => {
                next_member += 1;
                let outer = member[nodes[0] as usize];
                for &b in &nodes {
                    member[b as usize] = next_member;
                }
                let headers = find_headers(graph, &nodes, entry, &member, next_member, &mut preds_outside, &scratch);
                let parent = loop_stack.last().copied();
                let l = out.loops.len();
                out.loops.push(OrderLoop {
                    first: out.order.len() as u32,
                    end: 0,
                    parent: parent.map_or(LoopId(u32::MAX), |p| LoopId(p as u32)),
                    depth: loop_stack.len() as u32 + 1,
                    headers: headers.clone(),
                });
                loop_stack.push(l);
                for &h in &headers {
                    header_mark[h as usize] = true;
                }
                let inner = scratch.components(graph, &headers, &member, next_member, &header_mark);
                for &h in &headers {
                    header_mark[h as usize] = false;
                }
                debug_assert_eq!(inner.iter().map(Vec::len).sum::<usize>(), nodes.len());
                let _ = outer;
                work.push(Work::End(l));
                // The cut headers may still sit in an inner cycle only through cut edges: then they are trivial here.
                push_inner(&mut work, inner, graph, &headers);
            }
        }
    }
    out
}

/// Pushes components so that the first one is popped first. `comps` come in reverse topological order.
fn push_components(work: &mut Vec<Work>, comps: Vec<Vec<u32>>, graph: &Graph<'_>) {
    for c in comps {
        if c.len() == 1 && !graph.succs(c[0]).contains(&c[0]) {
            work.push(Work::Node(c[0]));
        } else {
            work.push(Work::Component(c));
        }
    }
}

/// As [`push_components`], inside a loop: a header's self edge belongs to the loop around it.
fn push_inner(work: &mut Vec<Work>, comps: Vec<Vec<u32>>, graph: &Graph<'_>, headers: &[u32]) {
    for c in comps {
        if c.len() == 1 && (headers.contains(&c[0]) || !graph.succs(c[0]).contains(&c[0])) {
            work.push(Work::Node(c[0]));
        } else {
            work.push(Work::Component(c));
        }
    }
}

/// Nodes of a component with a predecessor outside of it (or the entry), in the order of the list. When inner
/// components are examined, only edges inside the graph that can be reached count.
fn find_headers(
    graph: &Graph<'_>,
    nodes: &[u32],
    entry: u32,
    member: &[u32],
    id: u32,
    mark: &mut [bool],
    scratch: &Tarjan,
) -> Vec<u32> {
    for &b in nodes {
        mark[b as usize] = b == entry;
    }
    for &b in nodes {
        for &p in scratch.preds.of(b) {
            if member[p as usize] != id && scratch.reached[p as usize] {
                mark[b as usize] = true;
            }
        }
    }
    let _ = graph;
    let mut h: Vec<u32> = nodes.iter().copied().filter(|&b| mark[b as usize]).collect();
    h.sort_unstable();
    h
}

/// Predecessor lists, built once.
struct Preds {
    start: Vec<u32>,
    list: Vec<u32>,
}

impl Preds {
    fn of(&self, b: u32) -> &[u32] {
        &self.list[self.start[b as usize] as usize..self.start[b as usize + 1] as usize]
    }
}

/// Iterative Tarjan over a subgraph, with its arrays kept between runs.
struct Tarjan {
    index: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    reached: Vec<bool>,
    preds: Preds,
    built: bool,
}

impl Tarjan {
    fn new(n: usize) -> Self {
        Self {
            index: vec![0; n],
            low: vec![0; n],
            on_stack: vec![false; n],
            reached: vec![false; n],
            preds: Preds { start: vec![0; n + 1], list: Vec::new() },
            built: false,
        }
    }

    fn build_preds(&mut self, graph: &Graph<'_>) {
        let n = graph.len();
        for &s in graph.succ {
            self.preds.start[s as usize + 1] += 1;
        }
        for i in 0..n {
            self.preds.start[i + 1] += self.preds.start[i];
        }
        let mut at = self.preds.start.clone();
        self.preds.list = vec![0; graph.succ.len()];
        for b in 0..n as u32 {
            for &s in graph.succs(b) {
                self.preds.list[at[s as usize] as usize] = b;
                at[s as usize] += 1;
            }
        }
        self.built = true;
    }

    /// Components of the nodes with `member == id` that are reached from `roots` without entering a marked header, in
    /// reverse topological order.
    fn components(&mut self, graph: &Graph<'_>, roots: &[u32], member: &[u32], id: u32, cut: &[bool]) -> Vec<Vec<u32>> {
        if !self.built {
            self.build_preds(graph);
        }
        let mut out = Vec::new();
        let mut stack: Vec<u32> = Vec::new();
        // (node, next successor from the back): later successors first, so that reversed emission keeps text order.
        let mut calls: Vec<(u32, u32)> = Vec::new();
        let mut visited: Vec<u32> = Vec::new();
        let mut counter = 0;
        for &root in roots.iter().rev() {
            if self.index[root as usize] != 0 {
                continue;
            }
            calls.push((root, graph.succs(root).len() as u32));
            counter += 1;
            self.enter(root, counter, &mut stack, &mut visited);
            while let Some(&mut (b, ref mut left)) = calls.last_mut() {
                if *left > 0 {
                    *left -= 1;
                    let s = graph.succs(b)[*left as usize];
                    if member[s as usize] != id || cut[s as usize] {
                        continue;
                    }
                    if self.index[s as usize] == 0 {
                        counter += 1;
                        self.enter(s, counter, &mut stack, &mut visited);
                        calls.push((s, graph.succs(s).len() as u32));
                    } else if self.on_stack[s as usize] {
                        self.low[b as usize] = self.low[b as usize].min(self.index[s as usize]);
                    }
                    continue;
                }
                calls.pop();
                if let Some(&(p, _)) = calls.last() {
                    self.low[p as usize] = self.low[p as usize].min(self.low[b as usize]);
                }
                if self.low[b as usize] == self.index[b as usize] {
                    let at = stack.iter().rposition(|&x| x == b).expect("the root of a component is on the stack");
                    let comp: Vec<u32> = stack.drain(at..).collect();
                    for &x in &comp {
                        self.on_stack[x as usize] = false;
                    }
                    out.push(comp);
                }
            }
        }
        for b in visited {
            self.index[b as usize] = 0;
        }
        out
    }

    fn enter(&mut self, b: u32, counter: u32, stack: &mut Vec<u32>, visited: &mut Vec<u32>) {
        self.index[b as usize] = counter;
        self.low[b as usize] = counter;
        self.on_stack[b as usize] = true;
        self.reached[b as usize] = true;
        stack.push(b);
        visited.push(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(n: usize, edges: &[(u32, u32)]) -> LinearOrder {
        let mut start = vec![0u32; n + 1];
        for &(a, _) in edges {
            start[a as usize + 1] += 1;
        }
        for i in 0..n {
            start[i + 1] += start[i];
        }
        let mut sorted = edges.to_vec();
        sorted.sort_by_key(|e| e.0);
        let succ: Vec<u32> = sorted.iter().map(|e| e.1).collect();
        linear_order(&Graph { start: &start, succ: &succ }, 0)
    }

    #[test]
    fn diamond_keeps_text_order() {
        assert_eq!(run(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]).order, [0, 1, 2, 3]);
    }

    #[test]
    fn nested_loops_are_contiguous() {
        // 0 -> 1(h) -> 2(h) -> 3 -> 2, 3 -> 4 -> 1, 4 -> 5; the exit is listed first in 4.
        let o = run(6, &[(0, 1), (1, 2), (2, 3), (3, 2), (3, 4), (4, 5), (4, 1)]);
        assert_eq!(o.order, [0, 1, 2, 3, 4, 5]);
        let spans: Vec<_> = o.loops.iter().map(|l| (l.first, l.end, l.depth, l.headers.clone())).collect();
        assert_eq!(spans, [(1, 5, 1, vec![1]), (2, 4, 2, vec![2])]);
        assert_eq!(o.loops[1].parent, LoopId(0));
    }

    #[test]
    fn irreducible_region_is_one_loop_with_two_headers() {
        let o = run(4, &[(0, 1), (0, 2), (1, 2), (2, 1), (2, 3)]);
        assert_eq!(o.loops.len(), 1);
        assert_eq!(o.loops[0].headers, [1, 2]);
        assert_eq!((o.loops[0].first, o.loops[0].end), (1, 3));
    }

    #[test]
    fn self_loop_and_entry_loop() {
        let o = run(2, &[(0, 0), (0, 1)]);
        assert_eq!(o.loops.len(), 1);
        assert_eq!((o.loops[0].first, o.loops[0].end, o.loops[0].headers.clone()), (0, 1, vec![0]));
    }

    #[test]
    fn unreachable_nodes_are_left_out() {
        let o = run(3, &[(0, 1), (2, 1)]);
        assert_eq!(o.order, [0, 1]);
        assert!(o.loops.is_empty());
    }

    #[test]
    fn long_chain_and_deep_nest_do_not_overflow_the_stack() {
        let n = 200_000u32;
        let chain: Vec<(u32, u32)> = (0..n - 1).map(|i| (i, i + 1)).collect();
        assert_eq!(run(n as usize, &chain).order.len(), n as usize);
        // A ladder of back edges to ever earlier blocks: a nest 500 deep.
        let d = 500u32;
        let mut e: Vec<(u32, u32)> = (0..2 * d).map(|i| (i, i + 1)).collect();
        e.extend((0..d).map(|i| (2 * d - i, i)));
        let o = run(2 * d as usize + 1, &e);
        assert_eq!(o.loops.len(), d as usize);
        assert_eq!(o.loops.iter().map(|l| l.depth).max(), Some(d));
    }
}
