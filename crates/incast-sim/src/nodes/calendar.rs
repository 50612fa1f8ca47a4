//! Nodes with work, by window: one bit per node for each of the next [`SLOTS`] windows. Later work wakes a node in the last of
//! these windows, with nothing to do yet.

use incast_model::fabric::NodeId;

const SLOTS: u64 = 256;

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
    slot: u64,
    /// End of the current window; no node is woken before.
    end: u64,
    /// Words of 64 nodes per slot.
    words: usize,
    bits: Vec<u64>,
    /// By slot: true if a bit is set.
    any: Vec<bool>,
}

impl Calendar {
    pub(super) fn new(nodes: usize, lookahead: u64) -> Self {
        let words = nodes.div_ceil(64);
        let slots = SLOTS as usize;
        Self { lookahead, slot: 0, end: 0, words, bits: vec![0; words * slots], any: vec![false; slots] }
    }

    pub(super) fn wake(&mut self, node: NodeId, time: u64) {
        self.set(node, ((time - self.end) / self.lookahead).min(SLOTS - 1));
    }

    #[inline]
    fn set(&mut self, node: NodeId, ahead: u64) {
        let slot = ((self.slot + ahead) % SLOTS) as usize;
        self.any[slot] = true;
        self.bits[slot * self.words + node.index() / 64] |= 1 << (node.0 % 64);
    }

    /// Wakes a node in the last window with a list at the latest.
    #[inline(never)]
    pub(super) fn wake_for_packet(&mut self, node: NodeId, time: u64) -> Woken {
        let ahead = (time - self.end) / self.lookahead;
        let last = INBOXES as u64 - 1;
        self.set(node, ahead.min(last));
        let until = if ahead > last { 0 } else { self.end + (ahead + 1) * self.lookahead };
        Woken((until << SLOT_BITS) | ((self.slot + ahead.min(last)) % INBOXES as u64))
    }

    /// Current window modulo [`INBOXES`].
    #[inline]
    pub(super) const fn current(&self) -> usize {
        self.slot.wrapping_sub(1) as usize & (INBOXES - 1)
    }

    /// Next window with work. Lists its nodes in order and returns its begin and end, or `None` if no work is left.
    pub(super) fn advance(&mut self, list: &mut Vec<NodeId>) -> Option<(u64, u64)> {
        let ahead = (0..SLOTS).find(|ahead| self.any[((self.slot + ahead) % SLOTS) as usize])?;
        let slot = ((self.slot + ahead) % SLOTS) as usize;
        self.any[slot] = false;
        self.slot = (self.slot + ahead + 1) % SLOTS;
        let begin = self.end + ahead * self.lookahead;
        self.end = begin + self.lookahead;
        list.clear();
        for word in 0..self.words {
            let mut bits = std::mem::take(&mut self.bits[slot * self.words + word]);
            while bits != 0 {
                list.push(NodeId(word as u32 * 64 + bits.trailing_zeros()));
                bits &= bits - 1;
            }
        }
        Some((begin, self.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_wakes_its_receiver_in_its_window_or_in_the_last_with_a_list() {
        let mut calendar = Calendar::new(1, 100);
        // Windows of 100 ps from 0 on: until the end of the window, later packets are in the same list.
        let woken = [0, 99, 100, 799].map(|time| calendar.wake_for_packet(NodeId(0), time));
        assert_eq!(woken.map(|woken| (woken.until(), woken.slot())), [(100, 0), (100, 0), (200, 1), (800, 7)]);
        // The eighth window is the last with a list.
        let late = calendar.wake_for_packet(NodeId(0), 800);
        assert_eq!((late.until(), late.slot()), (0, 7));
        let mut awake = Vec::new();
        let mut lists = Vec::new();
        while let Some((begin, _)) = calendar.advance(&mut awake) {
            lists.push((begin, calendar.current()));
        }
        assert_eq!(lists, [(0, 0), (100, 1), (700, 7)]);
    }

    #[test]
    fn nodes_are_woken_in_the_window_of_their_event() {
        let mut calendar = Calendar::new(130, 100);
        let mut awake = Vec::new();
        for (node, time) in [(129, 0), (3, 99), (64, 100), (5, 250), (7, 100 * 1000)] {
            calendar.wake(NodeId(node), time);
        }
        let mut seen = Vec::new();
        while let Some((begin, end)) = calendar.advance(&mut awake) {
            assert_eq!(end, begin + 100);
            seen.push((begin, awake.clone()));
            if awake == [NodeId(7)] && end < 100 * 1000 {
                calendar.wake(NodeId(7), 100 * 1000); // nothing to do yet
            }
        }
        assert_eq!(seen[..3], [(0, vec![NodeId(3), NodeId(129)]), (100, vec![NodeId(64)]), (200, vec![NodeId(5)])]);
        assert_eq!(seen.last(), Some(&(100 * 1000, vec![NodeId(7)])));
    }
}
