//! Nodes with work, by window: one bit per node for each of the next [`SLOTS`] windows. A node with later work is woken in the
//! last of these windows, and finds nothing to do yet.

const SLOTS: u64 = 256;

#[derive(Debug)]
pub(super) struct Calendar {
    /// Length of a window in ps.
    lookahead: u64,
    /// Slot of the window that begins at `end`.
    slot: u64,
    /// End of the current window in ps; no node is woken before.
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

    /// Wakes a node at a time. Returns the end of that window: work before it needs no further call.
    pub(super) fn wake(&mut self, node: u32, time: u64) -> u64 {
        let ahead = ((time - self.end) / self.lookahead).min(SLOTS - 1);
        let slot = ((self.slot + ahead) % SLOTS) as usize;
        self.any[slot] = true;
        self.bits[slot * self.words + node as usize / 64] |= 1 << (node % 64);
        self.end + (ahead + 1) * self.lookahead
    }

    /// Begins the next window with work and lists its nodes in order. Returns its begin and end, or `None` if no work is left.
    pub(super) fn advance(&mut self, list: &mut Vec<u32>) -> Option<(u64, u64)> {
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
                list.push(word as u32 * 64 + bits.trailing_zeros());
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
    fn nodes_are_woken_in_the_window_of_their_event() {
        let mut calendar = Calendar::new(130, 100);
        let mut awake = Vec::new();
        for (node, time) in [(129, 0), (3, 99), (64, 100), (5, 250), (7, 100 * 1000)] {
            calendar.wake(node, time);
        }
        let mut seen = Vec::new();
        while let Some((begin, end)) = calendar.advance(&mut awake) {
            assert_eq!(end, begin + 100);
            seen.push((begin, awake.clone()));
            if awake == [7] && end < 100 * 1000 {
                calendar.wake(7, 100 * 1000); // as a node does that has nothing to do yet
            }
        }
        assert_eq!(seen[..3], [(0, vec![3, 129]), (100, vec![64]), (200, vec![5])]);
        assert_eq!(seen.last(), Some(&(100 * 1000, vec![7])));
    }
}
