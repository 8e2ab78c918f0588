//! Sets of values in four bytes each.
//!
//! Nearly every location holds no value or one, so a set is a number: 0 is empty, `v + 1` is `{v}`, larger ones stand
//! for a sorted list in a pool. Larger sets arise only where a block parameter is in one place with its argument, so
//! the pool stays small and needs no hashing; two numbers may then stand for equal lists.

use fatpoint_ir::{EntityId, Value};

/// Number of a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Set(u32);

impl Set {
    pub(crate) const EMPTY: Set = Set(0);
    /// `{v}`.
    #[inline]
    pub(crate) fn one(v: Value) -> Set {
        Set(v.0 + 1)
    }
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The pool of lists.
pub(crate) struct Sets {
    num_values: u32,
    lists: Vec<(u32, u32)>,
    items: Vec<Value>,
    /// `{v}` for each value, so that every set can be read as a slice.
    ones: Vec<Value>,
}

impl Sets {
    pub(crate) fn new(num_values: usize) -> Self {
        let ones = (0..num_values).map(Value::new).collect();
        Self { num_values: num_values as u32, lists: Vec::new(), items: Vec::new(), ones }
    }

    /// The members, rising.
    #[inline]
    pub(crate) fn members(&self, s: Set) -> &[Value] {
        match s.0 {
            0 => &[],
            n if n <= self.num_values => std::slice::from_ref(&self.ones[n as usize - 1]),
            n => {
                let (start, len) = self.lists[(n - self.num_values - 1) as usize];
                &self.items[start as usize..(start + len) as usize]
            }
        }
    }

    /// True when `v` is a member.
    #[inline]
    pub(crate) fn has(&self, s: Set, v: Value) -> bool {
        s == Set::one(v) || (s.0 > self.num_values && self.members(s).binary_search(&v).is_ok())
    }

    /// The set of a sorted list without repetitions; `hint` is returned when it is the same.
    pub(crate) fn make(&mut self, list: &[Value], hint: Set) -> Set {
        match *list {
            [] => Set::EMPTY,
            [v] => Set::one(v),
            _ if self.members(hint) == list => hint,
            _ => {
                let start = self.items.len() as u32;
                self.items.extend_from_slice(list);
                self.lists.push((start, list.len() as u32));
                Set(self.num_values + self.lists.len() as u32)
            }
        }
    }

    /// The members that `keep` accepts.
    pub(crate) fn filter(&mut self, s: Set, keep: impl Fn(Value) -> bool) -> Set {
        if s.0 <= self.num_values {
            return if s.is_empty() || keep(Value(s.0 - 1)) { s } else { Set::EMPTY };
        }
        let list: Vec<Value> = self.members(s).iter().copied().filter(|&v| keep(v)).collect();
        self.make(&list, s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_every_size() {
        let mut s = Sets::new(10);
        let (a, b) = (Value(3), Value(9));
        let two = s.make(&[a, b], Set::EMPTY);
        assert_eq!(s.make(&[a, b], two), two);
        assert!(s.has(two, a) && s.has(two, b) && !s.has(two, Value(4)) && !s.has(Set::EMPTY, a));
        assert_eq!(s.members(two), [a, b]);
        assert_eq!(s.filter(two, |v| v == b), Set::one(b));
        assert_eq!(s.filter(two, |_| false), Set::EMPTY);
        assert_eq!(s.filter(Set::one(a), |v| v == b), Set::EMPTY);
        assert_eq!(s.members(Set::one(b)), [b]);
    }
}
