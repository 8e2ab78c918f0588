//! What is known at a block's entry: the values that each location holds.
//!
//! Sparse, since most locations hold nothing: non-empty sets by rising place, and the values that are undefined on
//! every path so far and so may be said to be *anywhere*. The meet is the intersection, place by place: a value is held
//! where both sides hold it, one side by its list or because the value is anywhere there.

use crate::places::Place;
use crate::sets::{Set, Sets};
use fatpoint_ir::Value;

/// Knowledge at one block entry.
#[derive(Clone, Default, Debug)]
pub(crate) struct State {
    /// Places that hold something, rising.
    pub(crate) held: Vec<(Place, Set)>,
    /// Values held in every place, rising.
    pub(crate) anywhere: Vec<Value>,
}

impl State {
    /// Intersects with `new`; true when something got lost.
    pub(crate) fn meet(&mut self, new: &State, sets: &mut Sets) -> bool {
        if self.anywhere.is_empty() && new.anywhere.is_empty() {
            return self.meet_held(new, sets);
        }
        let mut list = Vec::new();
        let mut held = Vec::with_capacity(self.held.len());
        let mut changed = false;
        let (mut a, mut b) = (self.held.iter().copied().peekable(), new.held.iter().copied().peekable());
        loop {
            let p = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) => x.0.min(y.0),
                (Some(x), None) => x.0,
                (None, Some(y)) => y.0,
                (None, None) => break,
            };
            let sa = a.next_if(|x| x.0 == p).map_or(Set::EMPTY, |x| x.1);
            let sb = b.next_if(|x| x.0 == p).map_or(Set::EMPTY, |x| x.1);
            list.clear();
            let in_b = |v: &&Value| sets.has(sb, **v) || new.anywhere.binary_search(v).is_ok();
            list.extend(sets.members(sa).iter().filter(in_b));
            let in_a = |v: &&Value| !sets.has(sa, **v) && self.anywhere.binary_search(v).is_ok();
            list.extend(sets.members(sb).iter().filter(in_a));
            list.sort_unstable();
            let s = sets.make(&list, sa);
            changed |= s != sa;
            if !s.is_empty() {
                held.push((p, s));
            }
        }
        let before = self.anywhere.len();
        self.anywhere.retain(|v| new.anywhere.binary_search(v).is_ok());
        self.held = held;
        changed || self.anywhere.len() != before
    }

    fn meet_held(&mut self, new: &State, sets: &mut Sets) -> bool {
        let mut changed = false;
        let mut at = 0;
        self.held.retain_mut(|(p, s)| {
            while new.held.get(at).is_some_and(|x| x.0 < *p) {
                at += 1;
            }
            let other = new.held.get(at).filter(|x| x.0 == *p).map_or(Set::EMPTY, |x| x.1);
            if other != *s {
                let list: Vec<Value> = sets.members(*s).iter().copied().filter(|&v| sets.has(other, v)).collect();
                let common = sets.make(&list, *s);
                changed |= common != *s;
                *s = common;
            }
            !s.is_empty()
        });
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meet_is_the_intersection_place_by_place() {
        let (mut sets, v) = (Sets::new(10), Value);
        let two = sets.make(&[v(1), v(2)], Set::EMPTY);
        let mut s = State { held: vec![(0, two), (1, Set::one(v(3))), (4, Set::one(v(4)))], anywhere: vec![] };
        let t = State { held: vec![(0, Set::one(v(2))), (2, Set::one(v(3))), (4, Set::one(v(4)))], anywhere: vec![] };
        assert!(s.meet(&t, &mut sets));
        assert_eq!(s.held, [(0, Set::one(v(2))), (4, Set::one(v(4)))]);
        assert!(!s.meet(&t, &mut sets));
    }

    #[test]
    fn what_is_anywhere_is_held_where_the_other_side_has_it() {
        let (mut sets, v) = (Sets::new(10), Value);
        let mut s = State { held: vec![(0, Set::one(v(1)))], anywhere: vec![v(7), v(8)] };
        let t = State { held: vec![(0, Set::one(v(7))), (5, Set::one(v(7)))], anywhere: vec![v(1), v(8)] };
        assert!(s.meet(&t, &mut sets));
        assert_eq!(
            s.held.iter().map(|x| (x.0, sets.members(x.1).to_vec())).collect::<Vec<_>>(),
            [(0, vec![v(1), v(7)]), (5, vec![v(7)])]
        );
        assert_eq!(s.anywhere, [v(8)]);
        let before = s.clone();
        assert!(!s.meet(&before, &mut sets));
    }
}
