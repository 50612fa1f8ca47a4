//! Numbers of things as types, and vectors that only numbers of their type index.
//!
//! Indexing is checked in debug builds, which all tests use, and not in release builds: the checks were 6 % of all instructions
//! (benches/RESULTS.md). It is the only unchecked access of the crate.
#![allow(unsafe_code, reason = "see `IdVec::at`")]

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// Number of a thing, from 0: the index into vectors of its kind.
pub(crate) trait Id: Copy {
    /// Panics if `number` does not fit.
    fn new(number: usize) -> Self;

    fn index(self) -> usize;
}

/// Makes types of numbers indices.
macro_rules! indices {
    ($($name:ident),+) => {$(
        impl $crate::kernel::Id for $name {
            #[inline(always)]
            fn new(number: usize) -> Self {
                Self(number.try_into().expect("the number fits"))
            }

            #[inline(always)]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}

pub(crate) use indices;

/// Declares types of numbers: name and integer type. `NONE` is the number of no thing.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($int:ty),)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub(crate) struct $name(pub(crate) $int);

        impl $name {
            #[allow(dead_code, reason = "not all have one")]
            pub(crate) const NONE: Self = Self(<$int>::MAX);
        }

        $crate::kernel::indices!($name);
    )+};
}

pub(super) use ids;

/// Vector of `T`, indexed by `I` alone.
pub(crate) struct IdVec<I, T> {
    items: Vec<T>,
    index: PhantomData<fn(I)>,
}

impl<I, T> IdVec<I, T> {
    pub(crate) const fn new() -> Self {
        Self { items: Vec::new(), index: PhantomData }
    }

    pub(crate) const fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        &self.items
    }
}

impl<I: Id, T> IdVec<I, T> {
    /// Appends an item. Returns its number.
    pub(crate) fn push(&mut self, item: T) -> I {
        let number = I::new(self.items.len());
        self.items.push(item);
        number
    }

    /// Item with a number, which must be one of this vector.
    ///
    /// Numbers have no arithmetic. They come from this vector (`push`, `ids`, `numbered`), or from the plan of the run, which
    /// counts the ports, wires and flows for which the vectors of that run are made. Vectors never shrink, so a number stays
    /// good. `NONE` stands for no item and is compared before use.
    #[inline(always)]
    fn at(&self, number: I) -> &T {
        debug_assert!(number.index() < self.items.len(), "{} of {}", number.index(), self.items.len());
        // SAFETY: the number is one of this vector, as above.
        unsafe { self.items.get_unchecked(number.index()) }
    }

    /// As [`IdVec::at`].
    #[inline(always)]
    fn at_mut(&mut self, number: I) -> &mut T {
        debug_assert!(number.index() < self.items.len(), "{} of {}", number.index(), self.items.len());
        // SAFETY: as in `at`.
        unsafe { self.items.get_unchecked_mut(number.index()) }
    }

    #[inline]
    pub(crate) fn get(&self, number: I) -> Option<&T> {
        self.items.get(number.index())
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: I) -> Option<&mut T> {
        self.items.get_mut(number.index())
    }

    /// Numbers of all items.
    pub(crate) fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::new)
    }

    /// All items with their numbers.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (I, &T)> {
        self.ids().zip(&self.items)
    }

    /// Makes room for the items up to a number.
    pub(crate) fn extend_to(&mut self, number: I, item: impl FnMut() -> T) {
        if self.items.len() <= number.index() {
            self.items.resize_with(number.index() + 1, item);
        }
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, number: I) -> &T {
        self.at(number)
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, number: I) -> &mut T {
        self.at_mut(number)
    }
}

impl<I, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I, T: Clone> Clone for IdVec<I, T> {
    fn clone(&self) -> Self {
        self.items.clone().into()
    }
}

impl<I, T: std::fmt::Debug> std::fmt::Debug for IdVec<I, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.items.fmt(f)
    }
}

impl<I, T> From<Vec<T>> for IdVec<I, T> {
    fn from(items: Vec<T>) -> Self {
        Self { items, index: PhantomData }
    }
}

impl<I, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<A: IntoIterator<Item = T>>(items: A) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<I, T> IntoIterator for IdVec<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, I, T> IntoIterator for &'a IdVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut IdVec<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter_mut()
    }
}
