use crate::kernel::NONE;

#[derive(Debug)]
pub(super) struct ByFlow<T> {
    /// By flow: index into `table`, or [`NONE`].
    place: Vec<u32>,
    table: Vec<(u32, T)>,
    free: Vec<u32>,
}

impl<T> Default for ByFlow<T> {
    fn default() -> Self {
        Self { place: Vec::new(), table: Vec::new(), free: Vec::new() }
    }
}

impl<T> ByFlow<T> {
    pub(super) fn new(flows: usize) -> Self {
        Self { place: vec![NONE; flows], ..Self::default() }
    }

    #[inline]
    pub(super) fn get(&self, flow: u32) -> Option<&T> {
        self.table.get(*self.place.get(flow as usize)? as usize).map(|(_, value)| value)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, flow: u32) -> Option<&mut T> {
        self.table.get_mut(*self.place.get(flow as usize)? as usize).map(|(_, value)| value)
    }

    pub(super) fn insert(&mut self, flow: u32, value: T) {
        debug_assert_eq!(self.place[flow as usize], NONE);
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
        self.place[flow as usize] = place;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let has = |(at, entry): &(u32, &(u32, T))| self.place[entry.0 as usize] == *at;
        (0..).zip(&self.table).filter(has).map(|(_, (flow, value))| (*flow, value))
    }

    pub(super) fn remove(&mut self, flow: u32) {
        let place = std::mem::replace(&mut self.place[flow as usize], NONE);
        if place != NONE {
            self.free.push(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_used_again() {
        let mut table = ByFlow::new(4);
        table.insert(1, 'a');
        table.insert(3, 'b');
        table.remove(1);
        table.remove(1);
        table.insert(0, 'c');
        *table.get_mut(3).unwrap() = 'd';
        assert_eq!([0, 1, 2, 3].map(|flow| table.get(flow).copied()), [Some('c'), None, None, Some('d')]);
        assert_eq!((table.table.len(), table.get(9)), (2, None));
        assert_eq!(table.iter().map(|(flow, _)| flow).collect::<Vec<_>>(), [0, 3]);
    }
}
