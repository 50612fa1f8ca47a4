//! Nodes with work, by window: one bit per node for each of the next [`SLOTS`] windows. Later work wakes a node in one of these
//! windows, with nothing to do yet.

use crate::kernel::{Id, IdVec, Member};

const SLOTS: usize = 1 << u8::BITS;
const LAST: u64 = SLOTS as u64 - 1;

/// Windows for which switches keep lists of arrivals; a power of two.
pub(super) const INBOXES: usize = 8;

const SLOT_BITS: u32 = INBOXES.trailing_zeros();

/// End, and number modulo [`INBOXES`] of the window in which the last packet of a port arrives.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Woken(u64);

impl Woken {
    /// Packets before this time arrive in the same window.
    #[inline]
    pub(super) const fn until(self) -> u64 {
        self.0 >> SLOT_BITS
    }

    #[inline]
    pub(super) const fn slot(self) -> usize {
        self.0 as usize & (INBOXES - 1)
    }
}

#[derive(Debug)]
pub(super) struct Calendar {
    /// Length of a window.
    lookahead: u64,
    /// Slot of the window that begins at `end`.
    slot: u8,
    /// End of the current window; no node is woken before.
    end: u64,
    /// Words of 64 nodes per slot.
    words: usize,
    bits: Vec<u64>,
    /// By slot: 1 if a bit is set there.
    any: [u64; SLOTS / 64],
    /// End of the window in which later work last woke the node.
    later: IdVec<Member, u64>,
}

impl Calendar {
    pub(super) fn new(nodes: usize, lookahead: u64) -> Self {
        let words = nodes.div_ceil(64);
        let later = vec![0; nodes].into();
        Self { lookahead, slot: 0, end: 0, words, bits: vec![0; words * SLOTS], any: [0; SLOTS / 64], later }
    }

    pub(super) fn wake(&mut self, node: Member, time: u64) {
        let ahead = (time - self.end) / self.lookahead;
        if ahead < LAST {
            self.set(node, ahead as u8);
        } else if self.later[node] <= self.end {
            // Once in all windows: a wake-up in each would bring another one for ever.
            self.later[node] = self.window(LAST as u8).1;
            self.set(node, LAST as u8);
        }
    }

    #[inline]
    fn set(&mut self, node: Member, ahead: u8) {
        let slot = usize::from(self.slot.wrapping_add(ahead));
        let bits = &mut self.bits[slot * self.words + node.index() / 64];
        if *bits == 0 {
            self.any[slot / 64] |= 1 << (slot % 64);
        }
        *bits |= 1 << (node.0 % 64);
    }

    /// Wakes a node in the last window with a list at the latest.
    #[inline(never)]
    pub(super) fn wake_for_packet(&mut self, node: Member, time: u64) -> Woken {
        debug_assert!(time >= self.end, "packets arrive in later windows");
        let (mut ahead, mut until) = (0, self.end + self.lookahead);
        while time >= until && usize::from(ahead) < INBOXES - 1 {
            (ahead, until) = (ahead + 1, until + self.lookahead);
        }
        self.set(node, ahead);
        let until = if time < until { until } else { 0 };
        Woken((until << SLOT_BITS) | (u64::from(self.slot.wrapping_add(ahead)) % INBOXES as u64))
    }

    /// As [`Calendar::wake_for_packet`]; returns the slot. Most packets of other partitions arrive in the next window.
    #[inline]
    pub(super) fn wake_soon(&mut self, node: Member, time: u64) -> usize {
        debug_assert!(time >= self.end, "packets arrive in later windows");
        if time >= self.end + self.lookahead {
            return self.wake_for_packet(node, time).slot();
        }
        self.set(node, 0);
        usize::from(self.slot) % INBOXES
    }

    /// Current window modulo [`INBOXES`].
    #[inline]
    pub(super) const fn current(&self) -> usize {
        (self.slot.wrapping_sub(1) as usize) % INBOXES
    }

    /// Windows before the next one with work; `None` if no work is left.
    pub(super) fn ahead(&self) -> Option<u8> {
        let (word, bit) = (usize::from(self.slot) / 64, u32::from(self.slot) % 64);
        // The first word again at last, for its bits below.
        (0..=self.any.len()).find_map(|step| {
            let bits = self.any[(word + step) % self.any.len()];
            let bits = if step == 0 { bits >> bit << bit } else { bits };
            let ahead = (64 * step as u32 + bits.trailing_zeros()).wrapping_sub(bit);
            (bits != 0 && ahead < SLOTS as u32).then_some(ahead as u8)
        })
    }

    /// Windows before the one in which [`Calendar::wake_for_packet`] wakes a node.
    pub(super) fn ahead_of_packet(&self, time: u64) -> u8 {
        ((time - self.end) / self.lookahead).min(INBOXES as u64 - 1) as u8
    }

    /// Passes over all windows before that of `time`, and forgets who has work.
    pub(super) fn pass_to(&mut self, time: u64) {
        self.bits.fill(0);
        self.any = [0; SLOTS / 64];
        self.later = vec![0; self.later.len()].into();
        self.end += (time - self.end) / self.lookahead * self.lookahead;
    }

    /// Begin and end of a later window.
    pub(super) const fn window(&self, ahead: u8) -> (u64, u64) {
        let begin = self.end + ahead as u64 * self.lookahead;
        (begin, begin + self.lookahead)
    }

    /// Passes over `ahead` windows without work. Lists the nodes of the next one in order.
    pub(super) fn advance(&mut self, ahead: u8, list: &mut Vec<Member>) {
        let slot = usize::from(self.slot.wrapping_add(ahead));
        self.any[slot / 64] &= !(1 << (slot % 64));
        self.slot = self.slot.wrapping_add(ahead).wrapping_add(1);
        self.end += (u64::from(ahead) + 1) * self.lookahead;
        list.clear();
        for word in 0..self.words {
            let mut bits = std::mem::take(&mut self.bits[slot * self.words + word]);
            while bits != 0 {
                list.push(Member(word as u32 * 64 + bits.trailing_zeros()));
                bits &= bits - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_wakes_its_receiver_in_its_window_or_in_the_last_with_a_list() {
        let mut calendar = Calendar::new(1, 100);
        // Windows of 100 ps from 0 on: until the end of the window, later packets are in the same list.
        let woken = [0, 99, 100, 799].map(|time| calendar.wake_for_packet(Member(0), time));
        assert_eq!(woken.map(|woken| (woken.until(), woken.slot())), [(100, 0), (100, 0), (200, 1), (800, 7)]);
        // The eighth window is the last with a list.
        let late = calendar.wake_for_packet(Member(0), 800);
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
        let mut calendar = Calendar::new(130, 100);
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
            if awake == [Member(7)] && end < 100 * 1000 {
                calendar.wake(Member(7), 100 * 1000); // nothing to do yet
            }
        }
        assert_eq!(seen[..3], [(0, vec![Member(3), Member(129)]), (100, vec![Member(64)]), (200, vec![Member(5)])]);
        assert_eq!(seen.last(), Some(&(100 * 1000, vec![Member(7)])));
    }

    #[test]
    fn nodes_are_woken_again_after_windows_are_passed_over() {
        let mut calendar = Calendar::new(2, 100);
        calendar.wake(Member(0), 100_000);
        calendar.pass_to(20_050);
        assert_eq!((calendar.ahead(), calendar.window(0)), (None, (20_000, 20_100)));
        calendar.wake(Member(0), 100_000);
        calendar.wake(Member(1), 20_050);
        let mut awake = Vec::new();
        calendar.advance(calendar.ahead().unwrap(), &mut awake);
        assert_eq!(awake, [Member(1)]);
        assert_eq!(calendar.ahead(), Some(LAST as u8 - 1), "later work wakes its node in the last window");
    }

    #[test]
    fn later_work_wakes_a_node_once_in_all_windows() {
        let mut calendar = Calendar::new(1, 100);
        let (node, last) = (Member(0), 100_000_000);
        (0..50).for_each(|window| calendar.wake(node, 100 * window));
        let mut windows = 0;
        while let Some(ahead) = calendar.ahead() {
            let (_, end) = calendar.window(ahead);
            calendar.advance(ahead, &mut Vec::new());
            windows += 1;
            if end <= last {
                calendar.wake(node, last);
            }
        }
        assert_eq!(windows, 50 + last / 100 / SLOTS as u64 + 1);
    }
}
