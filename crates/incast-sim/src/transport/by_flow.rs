use crate::kernel::{Id, IdVec, NONE};

#[derive(Debug)]
pub(super) struct ByFlow<I, T> {
    /// Index into `table`, or [`NONE`].
    place: IdVec<I, u32>,
    table: Vec<(I, T)>,
    free: Vec<u32>,
}

impl<I: Id, T> ByFlow<I, T> {
    pub(super) fn new(flows: usize) -> Self {
        Self { place: vec![NONE; flows].into(), table: Vec::new(), free: Vec::new() }
    }

    #[inline]
    pub(super) fn get(&self, flow: I) -> Option<&T> {
        self.table.get(*self.place.get(flow)? as usize).map(|(_, value)| value)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, flow: I) -> Option<&mut T> {
        self.table.get_mut(*self.place.get(flow)? as usize).map(|(_, value)| value)
    }

    pub(super) fn insert(&mut self, flow: I, value: T) {
        debug_assert_eq!(self.place[flow], NONE);
        let place = match self.free.pop() {
            Some(free) => {
                self.table[free as usize] = (flow, value);
                free
            }
            None => {
                self.table.push((flow, value));
                self.table.len() as u32 - 1
            }
        };
        self.place[flow] = place;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        let has = |(at, entry): &(u32, &(I, T))| self.place[entry.0] == *at;
        (0..).zip(&self.table).filter(has).map(|(_, (flow, value))| (*flow, value))
    }

    pub(super) fn remove(&mut self, flow: I) {
        let place = std::mem::replace(&mut self.place[flow], NONE);
        if place != NONE {
            self.free.push(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::SentId;

    #[test]
    fn places_are_used_again() {
        let mut table = ByFlow::new(4);
        table.insert(SentId(1), 'a');
        table.insert(SentId(3), 'b');
        table.remove(SentId(1));
        table.remove(SentId(1));
        table.insert(SentId(0), 'c');
        *table.get_mut(SentId(3)).unwrap() = 'd';
        assert_eq!([0, 1, 2, 3].map(|flow| table.get(SentId(flow)).copied()), [Some('c'), None, None, Some('d')]);
        assert_eq!((table.table.len(), table.get(SentId(9))), (2, None));
        assert_eq!(table.iter().map(|(flow, _)| flow).collect::<Vec<_>>(), [SentId(0), SentId(3)]);
    }
}
