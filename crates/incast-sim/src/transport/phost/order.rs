//! Flows of a host in the order in which it serves them: tags in turn, within a tag by a key. Where there are no tags to take turns,
//! all flows have one.

use std::collections::{BTreeMap, BTreeSet};

/// Where a flow stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    tag: u16,
    key: u64,
    flow: u32,
}

/// Flows by tag, key and number.
#[derive(Debug, Default)]
pub(super) struct Queue {
    tags: BTreeMap<u16, BTreeSet<(u64, u32)>>,
    /// The first tag in turn.
    turn: u16,
}

impl Queue {
    pub(super) fn insert(&mut self, tag: u16, key: u64, flow: u32) -> Place {
        self.tags.entry(tag).or_default().insert((key, flow));
        Place { tag, key, flow }
    }

    pub(super) fn remove(&mut self, place: Place) {
        if let Some(flows) = self.tags.get_mut(&place.tag) {
            flows.remove(&(place.key, place.flow));
            if flows.is_empty() {
                self.tags.remove(&place.tag);
            }
        }
    }

    /// All flows, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let tags = self.tags.range(self.turn..).chain(self.tags.range(..self.turn));
        tags.flat_map(|(_, flows)| flows.iter().map(|&(_, flow)| flow))
    }

    /// The first flow.
    pub(super) fn first(&self) -> Option<u32> {
        self.iter().next()
    }

    /// The first flow has been served: it is the next tag's turn.
    pub(super) fn served(&mut self) {
        let first = self.tags.range(self.turn..).next().or_else(|| self.tags.iter().next());
        self.turn = first.map_or(0, |(tag, _)| tag.wrapping_add(1));
    }

    /// The flow with this tag has been served.
    pub(super) fn served_tag(&mut self, tag: u16) {
        self.turn = tag.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_take_turns() {
        let mut queue = Queue::default();
        let places = [(1, 9, 0), (1, 5, 1), (4, 7, 2)].map(|(tag, key, flow)| queue.insert(tag, key, flow));
        assert_eq!(queue.iter().collect::<Vec<_>>(), [1, 0, 2]);
        queue.served();
        assert_eq!(queue.iter().collect::<Vec<_>>(), [2, 1, 0]);
        queue.served();
        assert_eq!(queue.first(), Some(1));
        queue.served_tag(1);
        queue.remove(places[2]);
        assert_eq!(queue.first(), Some(1));
        queue.remove(places[1]);
        queue.remove(places[0]);
        queue.served();
        assert_eq!(queue.first(), None);
    }
}
