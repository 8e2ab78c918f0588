//! Typed indices and the vectors and sets that they index.
//!
//! Everything in the IR is named by a `u32` newtype and stored in a plain vector, so that hot paths never hash
//! and an identifier costs four bytes. `u32::MAX` is reserved to mean "none" (see [`EntityId::NONE`]).

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A 32-bit identifier that indexes an [`EntityVec`].
pub trait EntityId: Copy + Eq + Ord + fmt::Debug {
    /// The reserved "no such entity" identifier.
    const NONE: Self;
    /// Makes an identifier from a position.
    ///
    /// # Panics
    /// If `index` does not fit into 32 bits less the reserved value.
    fn new(index: usize) -> Self;
    /// The position this identifier stands for.
    fn index(self) -> usize;
}

/// Declares a `u32` newtype that implements [`EntityId`] and prints with a prefix.
#[macro_export]
macro_rules! entity_id {
    ($(#[$meta:meta])* $name:ident, $prefix:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $crate::entity::EntityId for $name {
            const NONE: Self = Self(u32::MAX);
            #[inline]
            fn new(index: usize) -> Self {
                assert!(index < u32::MAX as usize, concat!("too many ", stringify!($name), " entities"));
                Self(index as u32)
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        #[allow(dead_code)]
        impl $name {
            /// True when this is the reserved "none" identifier.
            #[inline]
            pub fn is_none(self) -> bool {
                self.0 == u32::MAX
            }
            /// `None` for the reserved identifier, else `Some(self)`.
            #[inline]
            pub fn some(self) -> Option<Self> {
                if self.is_none() { None } else { Some(self) }
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                if self.is_none() { write!(f, concat!($prefix, "-none")) } else { write!(f, concat!($prefix, "{}"), self.0) }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(self, f)
            }
        }
    };
}

/// A vector indexed by an entity identifier.
#[derive(Clone, PartialEq, Eq)]
pub struct EntityVec<K, V> {
    items: Vec<V>,
    key: PhantomData<K>,
}

impl<K: EntityId, V> EntityVec<K, V> {
    /// An empty vector.
    pub fn new() -> Self {
        Self { items: Vec::new(), key: PhantomData }
    }
    /// An empty vector with room for `n` items.
    pub fn with_capacity(n: usize) -> Self {
        Self { items: Vec::with_capacity(n), key: PhantomData }
    }
    /// Wraps a plain vector.
    pub fn from_vec(items: Vec<V>) -> Self {
        Self { items, key: PhantomData }
    }
    /// `n` copies of `value`.
    pub fn filled(n: usize, value: V) -> Self
    where
        V: Clone,
    {
        Self { items: vec![value; n], key: PhantomData }
    }
    /// Appends an item and returns its identifier.
    pub fn push(&mut self, value: V) -> K {
        let id = K::new(self.items.len());
        self.items.push(value);
        id
    }
    /// Number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }
    /// True when there is no item.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
    /// All identifiers in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator + Clone + use<K, V> {
        (0..self.items.len()).map(K::new)
    }
    /// Identifier and item, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &V)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(i, v)| (K::new(i), v))
    }
    /// The items in order.
    pub fn values(&self) -> std::slice::Iter<'_, V> {
        self.items.iter()
    }
    /// The items as a slice.
    pub fn as_slice(&self) -> &[V] {
        &self.items
    }
    /// The items as a mutable slice.
    pub fn as_mut_slice(&mut self) -> &mut [V] {
        &mut self.items
    }
    /// The item of `id`, if there is one.
    pub fn get(&self, id: K) -> Option<&V> {
        self.items.get(id.index())
    }
}

impl<K: EntityId, V> Default for EntityVec<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: EntityId, V> Index<K> for EntityVec<K, V> {
    type Output = V;
    #[inline]
    fn index(&self, id: K) -> &V {
        &self.items[id.index()]
    }
}

impl<K: EntityId, V> IndexMut<K> for EntityVec<K, V> {
    #[inline]
    fn index_mut(&mut self, id: K) -> &mut V {
        &mut self.items[id.index()]
    }
}

impl<K: EntityId, V: fmt::Debug> fmt::Debug for EntityVec<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// A dense set of entities, one bit each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntitySet<K> {
    words: Vec<u64>,
    key: PhantomData<K>,
}

impl<K: EntityId> EntitySet<K> {
    /// An empty set with room for `n` entities without growing.
    pub fn with_capacity(n: usize) -> Self {
        Self { words: vec![0; n.div_ceil(64)], key: PhantomData }
    }
    /// Adds `id`; true when it was not there before.
    pub fn insert(&mut self, id: K) -> bool {
        let (w, b) = (id.index() / 64, id.index() % 64);
        if w >= self.words.len() {
            self.words.resize(w + 1, 0);
        }
        let fresh = self.words[w] & (1 << b) == 0;
        self.words[w] |= 1 << b;
        fresh
    }
    /// Takes `id` out; true when it was there.
    pub fn remove(&mut self, id: K) -> bool {
        let (w, b) = (id.index() / 64, id.index() % 64);
        if w >= self.words.len() {
            return false;
        }
        let had = self.words[w] & (1 << b) != 0;
        self.words[w] &= !(1 << b);
        had
    }
    /// True when `id` is in the set.
    #[inline]
    pub fn contains(&self, id: K) -> bool {
        let (w, b) = (id.index() / 64, id.index() % 64);
        self.words.get(w).is_some_and(|x| x & (1 << b) != 0)
    }
    /// Empties the set, keeping its room.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }
    /// The members in rising order.
    pub fn iter(&self) -> impl Iterator<Item = K> + '_ {
        self.words.iter().enumerate().flat_map(|(w, &bits)| {
            let mut rest = bits;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let b = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                Some(K::new(w * 64 + b))
            })
        })
    }
    /// Number of members.
    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    entity_id!(
        /// A test entity.
        Thing,
        "t"
    );

    #[test]
    fn set_iterates_in_order_and_counts() {
        let mut s = EntitySet::<Thing>::with_capacity(10);
        for i in [200u32, 3, 64, 3, 0] {
            s.insert(Thing(i));
        }
        assert_eq!(s.iter().map(|t| t.0).collect::<Vec<_>>(), [0, 3, 64, 200]);
        assert_eq!(s.count(), 4);
        assert!(s.remove(Thing(64)) && !s.remove(Thing(64)) && !s.contains(Thing(64)));
        assert!(!s.contains(Thing(100_000)));
    }

    #[test]
    fn vec_is_indexed_by_id() {
        let mut v = EntityVec::<Thing, &str>::new();
        let a = v.push("a");
        let b = v.push("b");
        assert_eq!((v[a], v[b], v.len()), ("a", "b", 2));
        assert_eq!(format!("{a} {:?}", Thing::NONE), "t0 t-none");
    }
}
