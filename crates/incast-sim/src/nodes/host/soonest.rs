use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Items by time.
#[derive(Debug)]
pub(super) struct Soonest<T> {
    /// Time of the first item in ps; [`u64::MAX`] without any. A host reads it after each event.
    time: u64,
    items: BinaryHeap<Reverse<(u64, T)>>,
}

impl<T: Ord> Default for Soonest<T> {
    fn default() -> Self {
        Self { time: u64::MAX, items: BinaryHeap::new() }
    }
}

impl<T: Ord + Copy> Soonest<T> {
    #[inline(always)]
    pub(super) const fn time(&self) -> u64 {
        self.time
    }

    pub(super) fn first(&self) -> Option<T> {
        self.items.peek().map(|&Reverse((_, item))| item)
    }

    #[inline]
    pub(super) fn push(&mut self, time: u64, item: T) {
        self.items.push(Reverse((time, item)));
        self.time = self.time.min(time);
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        let Reverse((_, item)) = self.items.pop()?;
        self.time = self.items.peek().map_or(u64::MAX, |&Reverse((time, _))| time);
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_time_is_known() {
        let mut items = Soonest::default();
        assert_eq!((items.time(), items.pop()), (u64::MAX, None));
        [(30, 1), (10, 2), (20, 3), (10, 1)].into_iter().for_each(|(time, item)| items.push(time, item));
        let taken = std::iter::from_fn(|| Some((items.time(), items.first()?, items.pop()?)));
        assert!(taken.eq([(10, 1, 1), (10, 2, 2), (20, 3, 3), (30, 1, 1)]));
    }
}
