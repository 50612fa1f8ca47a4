use crate::kernel::Range;

/// Disjoint, sorted, non-empty byte ranges; touching ones are joined.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<Range>);

impl Ranges {
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        let first = self.0.partition_point(|&(_, stop)| stop < start);
        let last = first + self.0[first..].partition_point(|&(begin, _)| begin <= end);
        if first == last {
            self.0.insert(first, (start, end));
            return end - start;
        }
        let known: u64 =
            self.0[first..last].iter().map(|(begin, stop)| stop.min(&end).saturating_sub(*begin.max(&start))).sum();
        self.0[first] = (start.min(self.0[first].0), end.max(self.0[last - 1].1));
        self.0.drain(first + 1..last);
        end - start - known
    }

    pub(crate) fn forget_before(&mut self, end: u64) {
        let gone = self.0.partition_point(|&(_, stop)| stop <= end);
        self.0.drain(..gone);
        if let Some(first) = self.0.first_mut() {
            first.0 = first.0.max(end);
        }
    }

    pub(crate) fn first_missing(&self, from: u64) -> u64 {
        let next = self.0.partition_point(|&(_, stop)| stop <= from);
        match self.0.get(next) {
            Some(&(begin, stop)) if begin <= from => stop,
            _ => from,
        }
    }

    pub(crate) fn first_present(&self, from: u64) -> Option<u64> {
        let next = self.0.partition_point(|&(_, stop)| stop <= from);
        self.0.get(next).map(|&(begin, _)| begin.max(from))
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().map(|(begin, stop)| stop - begin).sum()
    }

    pub(crate) fn bytes_from(&self, from: u64) -> u64 {
        self.0.iter().map(|(begin, stop)| stop.saturating_sub(*begin.max(&from))).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn as_slice(&self) -> &[Range] {
        &self.0
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn touching_ranges_are_one() {
        let mut set = Ranges::default();
        assert_eq!([set.insert(10, 20), set.insert(30, 40), set.insert(20, 30)], [10, 10, 10]);
        assert_eq!(set.as_slice(), [(10, 40)]);
        assert_eq!((set.insert(5, 45), set.insert(5, 45), set.insert(7, 7)), (10, 0, 0));
        set.forget_before(12);
        assert_eq!((set.as_slice(), set.bytes(), set.bytes_from(40)), (&[(12, 45)][..], 33, 5));
        assert_eq!((set.first_missing(3), set.first_missing(12), set.first_missing(44)), (3, 45, 45));
        assert_eq!((set.first_present(3), set.first_present(44), set.first_present(45)), (Some(12), Some(44), None));
        set.clear();
        assert!(set.is_empty());
    }

    proptest! {
        #[test]
        fn as_a_list_of_bytes(steps in prop::collection::vec((0u64..40, 0u64..12, prop::bool::weighted(0.2)), 1..60)) {
            let (mut set, mut bytes) = (Ranges::default(), [false; 64]);
            for (start, length, forget) in steps {
                if forget {
                    set.forget_before(start);
                    bytes[..start as usize].fill(false);
                } else {
                    let new = bytes[start as usize..(start + length) as usize].iter().filter(|has| !**has).count();
                    bytes[start as usize..(start + length) as usize].fill(true);
                    prop_assert_eq!(set.insert(start, start + length), new as u64);
                }
                prop_assert_eq!(set.bytes(), bytes.iter().filter(|has| **has).count() as u64);
                prop_assert!(set.as_slice().windows(2).all(|pair| pair[0].1 < pair[1].0));
                for from in 0..64 {
                    let missing = (from..64).find(|&at| !bytes[at]).unwrap_or(64);
                    prop_assert_eq!(set.first_missing(from as u64), missing as u64);
                    let present = (from..64).find(|&at| bytes[at]).map(|at| at as u64);
                    prop_assert_eq!(set.first_present(from as u64), present);
                    prop_assert_eq!(set.bytes_from(from as u64), bytes[from..].iter().filter(|has| **has).count() as u64);
                }
            }
        }
    }
}
