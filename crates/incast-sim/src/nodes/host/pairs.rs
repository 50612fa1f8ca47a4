use std::ops::{Index, IndexMut};

use super::pair::Pair;
use crate::host::selective::Repeat;
use crate::kernel::{FlowId, IdVec, PairId};

#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Pairs {
    all: IdVec<PairId, Pair>,
    /// Empty without selective repeat.
    repeats: IdVec<PairId, Repeat>,
    /// Unused places.
    free: Vec<PairId>,
}

impl Pairs {
    pub(super) fn insert(&mut self, pair: Pair, selective: bool) -> PairId {
        let place = match self.free.pop() {
            Some(place) => {
                self.all[place] = pair;
                place
            }
            None => self.all.push(pair),
        };
        if selective {
            self.repeats.extend_to(place, Repeat::default);
            self.repeats[place] = Repeat::default();
        }
        place
    }

    pub(super) fn release(&mut self, place: PairId) {
        self.free.push(place);
    }

    pub(super) fn get(&self, place: PairId) -> Option<&Pair> {
        self.all.get(place)
    }

    #[inline]
    pub(super) fn with_repeat(&mut self, place: PairId) -> (&mut Pair, &mut Repeat) {
        (&mut self.all[place], &mut self.repeats[place])
    }

    pub(super) fn under_way(&self) -> impl Iterator<Item = &Pair> {
        self.all.iter().filter(|pair| pair.flow != FlowId::NONE)
    }

    #[cfg(test)]
    pub(super) fn all(&self) -> &[Pair] {
        self.all.as_slice()
    }
}

impl Index<PairId> for Pairs {
    type Output = Pair;

    #[inline(always)]
    fn index(&self, place: PairId) -> &Pair {
        &self.all[place]
    }
}

impl IndexMut<PairId> for Pairs {
    #[inline(always)]
    fn index_mut(&mut self, place: PairId) -> &mut Pair {
        &mut self.all[place]
    }
}
