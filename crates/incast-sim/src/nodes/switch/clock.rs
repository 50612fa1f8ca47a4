use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::kernel::{Line, LocalPort};
use crate::nodes::plan::LINK_BITS;

#[derive(Debug)]
#[repr(C)]
pub(in crate::nodes) struct Clock {
    /// Ports that become free: time and port in one number, soonest last.
    free_at: Vec<u64>,
    pub(super) now: u64,
    /// Wire of the current arrival; too high during actions.
    pub(in crate::nodes) line: Line,
    /// Arrivals of the current window, as in [`Out::inboxes`](crate::nodes::out::Out::inboxes); empty between windows.
    pub(super) arrivals: Vec<u64>,
    /// In later windows, on long links.
    pub(super) later: Later,
}

/// Arrivals known before their windows have lists.
#[derive(Debug, Default)]
pub(super) struct Later(BinaryHeap<Reverse<u64>>);

impl Later {
    pub(super) fn next(&self) -> u64 {
        self.0.peek().map_or(u64::MAX, |Reverse(key)| key >> LINK_BITS)
    }

    /// Moves the arrivals before `end` into a list.
    #[inline]
    pub(super) fn take_before(&mut self, end: u64, arrivals: &mut Vec<u64>) {
        while self.next() < end {
            arrivals.extend(self.0.pop().map(|Reverse(key)| key));
        }
    }

    pub(super) fn put(&mut self, arrivals: &[u64]) {
        self.0.extend(arrivals.iter().copied().map(Reverse));
    }

    pub(super) fn forget_before(&mut self, end: u64) {
        while self.next() < end {
            self.0.pop();
        }
    }
}

impl Clock {
    pub(super) const fn new() -> Self {
        Self { free_at: Vec::new(), now: 0, line: Line::NONE, arrivals: Vec::new(), later: Later(BinaryHeap::new()) }
    }

    pub(super) const fn begin_action(&mut self, now: u64) {
        self.now = now;
        self.line = Line::NONE;
    }

    #[inline(always)]
    pub(super) fn wake(&mut self, port: LocalPort, time: u64) {
        let key = time << LINK_BITS | u64::from(port.0);
        // Most transmissions end last: few entries move.
        let mut place = self.free_at.len();
        self.free_at.push(key);
        while place > 0 && self.free_at[place - 1] < key {
            self.free_at[place] = self.free_at[place - 1];
            place -= 1;
        }
        self.free_at[place] = key;
    }

    #[inline(always)]
    pub(super) fn next_free(&self) -> u64 {
        self.free_at.last().map_or(u64::MAX, |key| key >> LINK_BITS)
    }

    pub(super) fn next_port(&self) -> Option<(u64, LocalPort)> {
        self.free_at.last().map(|&key| (key >> LINK_BITS, LocalPort(low_bits(key))))
    }

    #[inline(always)]
    pub(super) fn free_port(&mut self) -> Option<LocalPort> {
        let key = self.free_at.pop()?;
        self.now = key >> LINK_BITS;
        Some(LocalPort(low_bits(key)))
    }
}

/// Short lists, of most windows with short links, are sorted without branches: their order is hard to predict.
#[inline(always)]
pub(super) fn sort(keys: &mut [u64]) {
    match keys {
        [] | [_] => {}
        [a, b] => order(a, b),
        [a, b, c] => {
            order(a, b);
            order(b, c);
            order(a, b);
        }
        [a, b, c, d] => {
            order(a, b);
            order(c, d);
            order(a, c);
            order(b, d);
            order(b, c);
        }
        few if few.len() <= 8 => sort_eight(few),
        _ => sort_many(keys),
    }
}

/// Sorts up to eight keys by Batcher's odd-even merge sort ("Sorting Networks and Their Applications", AFIPS 1968).
#[inline(never)]
fn sort_eight(keys: &mut [u64]) {
    let mut all = [u64::MAX; 8];
    all[..keys.len()].copy_from_slice(keys);
    let [a, b, c, d, e, f, g, h] = &mut all;
    order(a, b);
    order(c, d);
    order(e, f);
    order(g, h);
    order(a, c);
    order(b, d);
    order(e, g);
    order(f, h);
    order(b, c);
    order(f, g);
    order(a, e);
    order(b, f);
    order(c, g);
    order(d, h);
    order(c, e);
    order(d, f);
    order(b, c);
    order(d, e);
    order(f, g);
    let count = keys.len();
    keys.copy_from_slice(&all[..count]);
}

#[inline(always)]
fn order(first: &mut u64, second: &mut u64) {
    (*first, *second) = ((*first).min(*second), (*first).max(*second));
}

#[inline(never)]
fn sort_many(keys: &mut [u64]) {
    keys.sort_unstable();
}

/// Port or link in a key.
#[inline(always)]
pub(super) const fn low_bits(key: u64) -> u16 {
    key as u16 & ((1 << LINK_BITS) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network that sorts all lists of zeros and ones sorts every list (Knuth, The Art of Computer Programming 3, section
    /// 5.3.4).
    #[test]
    fn lists_of_any_length_are_sorted() {
        for count in 0..=9 {
            for bits in 0..1u64 << count {
                let mut keys: Vec<u64> = (0..count).map(|bit| bits >> bit & 1).collect();
                sort(&mut keys);
                assert!(keys.is_sorted(), "{bits:b} of {count}");
                assert_eq!(keys.iter().sum::<u64>(), u64::from(bits.count_ones()));
            }
        }
    }
}
