use std::collections::VecDeque;

/// Covers the packets from the smallest remembered to the largest in the set.
#[derive(Debug, Default)]
pub(crate) struct Bitmap {
    /// First bit's number, a multiple of 64.
    base: u64,
    words: VecDeque<u64>,
}

impl Bitmap {
    pub(crate) fn forget_before(&mut self, packet: u64) {
        let base = packet / 64 * 64;
        while self.base < base && self.words.pop_front().is_some() {
            self.base += 64;
        }
        self.base = self.base.max(base);
        if let Some(first) = self.words.front_mut() {
            *first &= u64::MAX << (packet.saturating_sub(self.base) % 64);
        }
    }

    /// False if the packet was in the set. It must not be forgotten.
    pub(crate) fn insert(&mut self, packet: u64) -> bool {
        let at = (packet - self.base) as usize;
        if self.words.len() <= at / 64 {
            self.words.resize(at / 64 + 1, 0);
        }
        let word = &mut self.words[at / 64];
        let bit = 1 << (at % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// First packet not in the set, from `packet`, which must not be forgotten.
    pub(crate) fn first_missing(&self, packet: u64) -> u64 {
        let at = (packet - self.base) as usize;
        let mut below = u64::MAX << (at % 64);
        for (index, word) in self.words.iter().enumerate().skip(at / 64) {
            let missing = !word & below;
            if missing != 0 {
                return self.base + 64 * index as u64 + u64::from(missing.trailing_zeros());
            }
            below = u64::MAX;
        }
        packet.max(self.base + 64 * self.words.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_a_set_of_numbers(steps in prop::collection::vec((any::<bool>(), 0u64..300), 1..200)) {
            let (mut bitmap, mut set, mut start) = (Bitmap::default(), BTreeSet::new(), 0);
            for (forget, step) in steps {
                if forget {
                    start += step / 4;
                    bitmap.forget_before(start);
                } else {
                    prop_assert_eq!(bitmap.insert(start + step), set.insert(start + step));
                }
                for from in [start, start + 1, start + step] {
                    let missing = (from..).find(|packet| !set.contains(packet)).unwrap();
                    prop_assert_eq!(bitmap.first_missing(from), missing);
                }
                prop_assert!(bitmap.words.len() <= 8, "what is forgotten takes no memory");
            }
        }
    }
}
