//! Nodes with work, by window: one bit per node for each of the next [`SLOTS`] windows, and the window of the first later work of
//! each node.

use crate::kernel::{Id, IdVec, Member};

const SLOTS: usize = 1 << u8::BITS;

/// Next windows in which most packets arrive.
const NEAR: u64 = 4;

/// Enough for each number of lists.
const SLOT_BITS: u32 = 6;

/// End of the window in which the last packet of a port arrives, and its list.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Woken(u64);

impl Woken {
    #[inline]
    const fn new(until: u64, slot: u64) -> Self {
        Self((until << SLOT_BITS) | slot)
    }

    /// Packets before this time arrive in the same window.
    #[inline]
    pub(super) const fn until(self) -> u64 {
        self.0 >> SLOT_BITS
    }

    #[inline]
    pub(super) const fn slot(self) -> usize {
        self.0 as usize & ((1 << SLOT_BITS) - 1)
    }
}

#[derive(Debug)]
pub(super) struct Calendar {
    /// Length of a window; window n begins at n times this.
    lookahead: u64,
    /// Lists of arrivals, for as many windows; a power of two.
    lists: u64,
    /// Window that begins at `end`.
    next: u64,
    /// End of the current window; no node is woken before.
    end: u64,
    /// Words of 64 nodes per slot.
    words: usize,
    bits: Vec<u64>,
    /// By slot: 1 if a bit is set there.
    any: [u64; SLOTS / 64],
    /// Window of the node's first later work, and of the first of all; `u64::MAX` without any.
    later: IdVec<Member, u64>,
    first_later: u64,
}

impl Calendar {
    pub(super) fn new(nodes: usize, lookahead: u64, lists: usize) -> Self {
        assert!(lists.is_power_of_two() && lists <= 1 << SLOT_BITS && lists <= SLOTS);
        let words = nodes.div_ceil(64);
        Self {
            lookahead,
            lists: lists as u64,
            next: 0,
            end: 0,
            words,
            bits: vec![0; words * SLOTS],
            any: [0; SLOTS / 64],
            later: vec![u64::MAX; nodes].into(),
            first_later: u64::MAX,
        }
    }

    pub(super) fn wake(&mut self, node: Member, time: u64) {
        let window = time / self.lookahead;
        if window - self.next < SLOTS as u64 {
            self.set(node, window);
        } else if window < self.later[node] {
            self.later[node] = window;
            self.first_later = self.first_later.min(window);
        }
    }

    #[inline]
    pub(super) fn set(&mut self, node: Member, window: u64) {
        let slot = window as usize % SLOTS;
        let bits = &mut self.bits[slot * self.words + node.index() / 64];
        if *bits == 0 {
            self.any[slot / 64] |= 1 << (slot % 64);
        }
        *bits |= 1 << (node.0 % 64);
    }

    /// Window in which a packet wakes its receiver: the last one with a list at the latest.
    #[inline]
    pub(super) fn of_packet(&self, time: u64) -> (u64, Woken) {
        debug_assert!(time >= self.end, "packets arrive in later windows");
        let (mut window, mut until) = (self.next, self.end + self.lookahead);
        // Comparisons find near windows faster than a division.
        for _ in 0..NEAR {
            if time < until {
                return (window, Woken::new(until, window & (self.lists - 1)));
            }
            (window, until) = (window + 1, until + self.lookahead);
        }
        self.of_late_packet(time)
    }

    #[cold]
    fn of_late_packet(&self, time: u64) -> (u64, Woken) {
        let window = (time / self.lookahead).min(self.next + self.lists - 1);
        let until = (window + 1) * self.lookahead;
        (window, Woken::new(if time < until { until } else { 0 }, window & (self.lists - 1)))
    }

    /// For a packet; returns the slot. Most packets of other partitions arrive in the next window.
    #[inline]
    pub(super) fn wake_soon(&mut self, node: Member, time: u64) -> usize {
        debug_assert!(time >= self.end, "packets arrive in later windows");
        if time >= self.end + self.lookahead {
            let (window, woken) = self.of_packet(time);
            self.set(node, window);
            return woken.slot();
        }
        self.set(node, self.next);
        (self.next & (self.lists - 1)) as usize
    }

    /// Current window modulo the number of lists.
    #[inline]
    pub(super) const fn current(&self) -> usize {
        (self.next.wrapping_sub(1) & (self.lists - 1)) as usize
    }

    /// Windows before the next one with work; `None` if no work is left.
    pub(super) fn ahead(&self) -> Option<u64> {
        let slot = self.next as usize % SLOTS;
        let (word, bit) = (slot / 64, slot as u32 % 64);
        // The first word again at last, for its bits below.
        let soon = (0..=self.any.len()).find_map(|step| {
            let bits = self.any[(word + step) % self.any.len()];
            let bits = if step == 0 { bits >> bit << bit } else { bits };
            let ahead = (64 * step as u32 + bits.trailing_zeros()).wrapping_sub(bit);
            (bits != 0 && ahead < SLOTS as u32).then_some(u64::from(ahead))
        });
        let later = (self.first_later != u64::MAX).then(|| self.first_later - self.next);
        soon.into_iter().chain(later).min()
    }

    /// Windows before that of [`Calendar::of_packet`].
    pub(super) fn ahead_of_packet(&self, time: u64) -> u64 {
        ((time - self.end) / self.lookahead).min(self.lists - 1)
    }

    /// Begin and end of a later window.
    pub(super) const fn window(&self, ahead: u64) -> (u64, u64) {
        let begin = self.end + ahead * self.lookahead;
        (begin, begin + self.lookahead)
    }

    /// Passes over `ahead` windows without work. Lists the nodes of the next one in order.
    pub(super) fn advance(&mut self, ahead: u64, list: &mut Vec<Member>) {
        let window = self.next + ahead;
        (self.next, self.end) = (window + 1, self.window(ahead).1);
        if self.first_later <= window {
            self.take_later(window);
        }
        let slot = window as usize % SLOTS;
        self.any[slot / 64] &= !(1 << (slot % 64));
        list.clear();
        for word in 0..self.words {
            let mut bits = std::mem::take(&mut self.bits[slot * self.words + word]);
            while bits != 0 {
                list.push(Member(word as u32 * 64 + bits.trailing_zeros()));
                bits &= bits - 1;
            }
        }
    }

    /// Passes over windows without work, up to `end`.
    pub(super) fn pass(&mut self, end: u64) {
        let ahead = (end - self.end) / self.lookahead;
        debug_assert!(self.ahead().is_none_or(|next| next >= ahead), "windows with work are not passed over");
        (self.next, self.end) = (self.next + ahead, end);
    }

    /// Sets the bits of later work from this window on.
    #[cold]
    fn take_later(&mut self, window: u64) {
        self.first_later = u64::MAX;
        for node in self.later.ids() {
            let later = self.later[node];
            if later < window + SLOTS as u64 {
                self.set(node, later);
                self.later[node] = u64::MAX;
            } else {
                self.first_later = self.first_later.min(later);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_wakes_its_receiver_in_its_window_or_in_the_last_with_a_list() {
        let mut calendar = Calendar::new(1, 100, 8);
        // Windows of 100 ps from 0 on: until the end of the window, later packets are in the same list.
        let mut wake = |time| {
            let (window, woken) = calendar.of_packet(time);
            calendar.set(Member(0), window);
            woken
        };
        let woken = [0, 99, 100, 799].map(&mut wake);
        assert_eq!(woken.map(|woken| (woken.until(), woken.slot())), [(100, 0), (100, 0), (200, 1), (800, 7)]);
        // The eighth window is the last with a list.
        let late = wake(800);
        assert_eq!((late.until(), late.slot()), (0, 7));
        let mut awake = Vec::new();
        let mut lists = Vec::new();
        while let Some(ahead) = calendar.ahead() {
            let (begin, _) = calendar.window(ahead);
            calendar.advance(ahead, &mut awake);
            lists.push((begin, calendar.current()));
        }
        assert_eq!(lists, [(0, 0), (100, 1), (700, 7)]);
        // The next windows begin at 800 ps.
        assert_eq!([800, 899, 900, 99_999].map(|time| calendar.ahead_of_packet(time)), [0, 0, 1, 7]);
    }

    #[test]
    fn nodes_are_woken_in_the_window_of_their_event() {
        let mut calendar = Calendar::new(130, 100, 8);
        let mut awake = Vec::new();
        for (node, time) in [(129, 0), (3, 99), (64, 100), (5, 250), (7, 100 * 1000)] {
            calendar.wake(Member(node), time);
        }
        let mut seen = Vec::new();
        while let Some(ahead) = calendar.ahead() {
            let (begin, end) = calendar.window(ahead);
            calendar.advance(ahead, &mut awake);
            assert_eq!(end, begin + 100);
            seen.push((begin, awake.clone()));
        }
        assert_eq!(seen[..3], [(0, vec![Member(3), Member(129)]), (100, vec![Member(64)]), (200, vec![Member(5)])]);
        assert_eq!(seen.last(), Some(&(100 * 1000, vec![Member(7)])));
    }

    #[test]
    fn later_work_wakes_a_node_at_its_first_time() {
        let mut calendar = Calendar::new(2, 100, 8);
        let (timer, sender) = (Member(0), Member(1));
        let mut seen = Vec::new();
        let mut awake = Vec::new();
        calendar.wake(sender, 0);
        while let Some(ahead) = calendar.ahead() {
            let (begin, _) = calendar.window(ahead);
            calendar.advance(ahead, &mut awake);
            seen.push((begin, awake.clone()));
            if begin < 1_000 {
                calendar.wake(sender, begin + 100);
                // Each packet sets the timer to a later time.
                calendar.wake(timer, begin + 100_000_050);
            } else if awake == [timer] && begin < 100_001_000 {
                calendar.wake(timer, 100_001_000);
            }
        }
        assert_eq!(seen.len(), 13, "no window without work");
        let end = [(1_000, vec![sender]), (100_000_000, vec![timer]), (100_001_000, vec![timer])];
        assert_eq!(seen[10..], end);
    }

    #[test]
    fn later_work_of_several_nodes_is_found_in_order() {
        let mut calendar = Calendar::new(200, 10, 8);
        let time = |node: u32| 10_000 + 700 * u64::from(node * 37 % 200);
        (0..200).for_each(|node| calendar.wake(Member(node), time(node)));
        let mut awake = Vec::new();
        let mut found = Vec::new();
        while let Some(ahead) = calendar.ahead() {
            let (begin, end) = calendar.window(ahead);
            calendar.advance(ahead, &mut awake);
            assert!(awake.iter().all(|node| (begin..end).contains(&time(node.0))));
            found.append(&mut awake);
        }
        assert_eq!(found.len(), 200);
        assert!(found.is_sorted_by_key(|node| time(node.0)));
    }
}
