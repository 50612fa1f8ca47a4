//! Flows of a host in order of service: labels in turn, a label's flows by a key.

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place<I> {
    label: u16,
    key: u64,
    flow: I,
}

/// In reverse order: the list is short and changes near its end.
#[derive(Debug, Default)]
pub(super) struct Queue<I> {
    flows: Vec<Place<I>>,
    turn: u16,
}

impl<I: Copy + Ord> Queue<I> {
    pub(super) fn insert(&mut self, label: u16, key: u64, flow: I) -> Place<I> {
        let place = Place { label, key, flow };
        let at = self.flows.partition_point(|other| *other > place);
        self.flows.insert(at, place);
        place
    }

    pub(super) fn remove(&mut self, place: Place<I>) {
        if let Some(at) = self.find(place) {
            self.flows.remove(at);
        }
    }

    pub(super) fn change(&mut self, place: Place<I>, key: u64) -> Place<I> {
        let new = Place { key, ..place };
        let Some(mut at) = self.find(place) else { return self.insert(new.label, new.key, new.flow) };
        while at + 1 < self.flows.len() && self.flows[at + 1] > new {
            self.flows[at] = self.flows[at + 1];
            at += 1;
        }
        while at > 0 && self.flows[at - 1] < new {
            self.flows[at] = self.flows[at - 1];
            at -= 1;
        }
        self.flows[at] = new;
        new
    }

    fn find(&self, place: Place<I>) -> Option<usize> {
        if self.flows.last() == Some(&place) {
            return Some(self.flows.len() - 1);
        }
        self.flows.binary_search_by(|other| place.cmp(other)).ok()
    }

    fn split(&self) -> (&[Place<I>], &[Place<I>]) {
        let before = match self.flows.first() {
            Some(last) if last.label < self.turn => 0,
            _ => self.flows.partition_point(|place| place.label >= self.turn),
        };
        let (from_turn, before_turn) = self.flows.split_at(before);
        (before_turn, from_turn)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = I> + '_ {
        let (before, from) = self.split();
        from.iter().rev().chain(before.iter().rev()).map(|place| place.flow)
    }

    fn front(&self) -> Option<Place<I>> {
        let (before, from) = self.split();
        from.last().or(before.last()).copied()
    }

    pub(super) fn first(&self) -> Option<I> {
        self.front().map(|place| place.flow)
    }

    pub(super) fn served(&mut self) {
        self.turn = self.front().map_or(0, |place| place.label.wrapping_add(1));
    }

    pub(super) fn served_label(&mut self, label: u16) {
        self.turn = label.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_take_turns() {
        let mut queue = Queue::default();
        let places = [(1, 9, 0), (1, 5, 1), (4, 7, 2)].map(|(label, key, flow)| queue.insert(label, key, flow));
        assert_eq!(queue.iter().collect::<Vec<_>>(), [1, 0, 2]);
        queue.served();
        assert_eq!(queue.iter().collect::<Vec<_>>(), [2, 1, 0]);
        queue.served();
        assert_eq!(queue.first(), Some(1));
        queue.served_label(1);
        queue.remove(places[2]);
        assert_eq!(queue.first(), Some(1));
        queue.remove(places[1]);
        queue.remove(places[0]);
        queue.served();
        assert_eq!(queue.first(), None);
    }

    #[test]
    fn keys_change_places() {
        let mut queue = Queue::default();
        let mut places =
            [3, 5, 7, 7].iter().zip(0..).map(|(&key, flow)| queue.insert(0, key, flow)).collect::<Vec<_>>();
        for (flow, key, order) in
            [(1, 8, [0, 2, 3, 1]), (3, 1, [3, 0, 2, 1]), (3, 0, [3, 0, 2, 1]), (0, 7, [3, 0, 2, 1])]
        {
            places[flow] = queue.change(places[flow], key);
            assert_eq!(queue.iter().collect::<Vec<_>>(), order, "{flow} {key}");
        }
        places.into_iter().for_each(|place| queue.remove(place));
        assert_eq!(queue.first(), None);
    }
}
