//! Free pages of the region.

pub(crate) const PAGE: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct Extent {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Extent {
    pub(crate) const fn new(first: u32, count: u32) -> Self {
        Self { first, count }
    }

    pub(crate) const fn end(self) -> u32 {
        self.first + self.count
    }

    pub(crate) const fn pages(self) -> std::ops::Range<u32> {
        self.first..self.end()
    }
}

/// Free pages as sorted ranges. The table size is fixed: freed ranges beyond it are lost, which costs addresses, not memory.
#[derive(Debug)]
pub(crate) struct Space {
    free: &'static mut [Extent],
    len: usize,
}

impl Space {
    /// All `pages` are free; `table` holds free ranges.
    pub(crate) fn new(table: &'static mut [Extent], pages: u32) -> Self {
        table[0] = Extent::new(0, pages);
        Self { free: table, len: 1 }
    }

    /// Takes the first `count` contiguous free pages at a multiple of `align`.
    pub(crate) fn take(&mut self, count: u32, align: u32) -> Option<u32> {
        let fits = |free: &Extent| {
            let first = free.first.checked_next_multiple_of(align)?;
            (first.checked_add(count)? <= free.end()).then_some(first)
        };
        let (at, first) = self.free[..self.len].iter().enumerate().find_map(|(at, free)| Some((at, fits(free)?)))?;
        self.carve(at, Extent::new(first, count));
        Some(first)
    }

    pub(crate) fn take_at(&mut self, wanted: Extent) -> bool {
        let at = self.free[..self.len].partition_point(|free| free.end() <= wanted.first);
        let fits =
            self.free[..self.len].get(at).is_some_and(|free| free.first <= wanted.first && wanted.end() <= free.end());
        if fits {
            self.carve(at, wanted);
        }
        fits
    }

    pub(crate) fn has(&self, page: u32) -> bool {
        let at = self.free[..self.len].partition_point(|free| free.end() <= page);
        self.free[..self.len].get(at).is_some_and(|free| free.first <= page)
    }

    /// Takes the free pages of `wanted`.
    pub(crate) fn claim(&mut self, wanted: Extent) {
        let end_before = |free: &Extent| free.end() <= wanted.first;
        while let Some(free) = self.free[..self.len].get(self.free[..self.len].partition_point(end_before)) {
            let (first, end) = (free.first.max(wanted.first), free.end().min(wanted.end()));
            if first >= end {
                break;
            }
            self.take_at(Extent::new(first, end - first));
        }
    }

    /// Frees pages; some may be free already.
    pub(crate) fn give(&mut self, pages: Extent) {
        let at = self.free[..self.len].partition_point(|free| free.end() < pages.first);
        let mut joined = pages;
        let mut last = at;
        while let Some(free) = self.free[..self.len].get(last).filter(|free| free.first <= joined.end()) {
            let (first, end) = (joined.first.min(free.first), joined.end().max(free.end()));
            joined = Extent::new(first, end - first);
            last += 1;
        }
        if last > at {
            self.free[at] = joined;
            self.close(at + 1, last - at - 1);
        } else {
            self.insert(at, joined);
        }
    }

    fn carve(&mut self, at: usize, part: Extent) {
        let whole = self.free[at];
        let (head, tail) = (part.first - whole.first, whole.end() - part.end());
        match (head, tail) {
            (0, 0) => self.close(at, 1),
            (0, _) => self.free[at] = Extent::new(part.end(), tail),
            (_, 0) => self.free[at] = Extent::new(whole.first, head),
            _ => {
                self.free[at] = Extent::new(whole.first, head);
                self.insert(at + 1, Extent::new(part.end(), tail));
            }
        }
    }

    fn insert(&mut self, at: usize, extent: Extent) {
        if self.len < self.free.len() {
            self.free.copy_within(at..self.len, at + 1);
            self.free[at] = extent;
            self.len += 1;
        }
    }

    fn close(&mut self, at: usize, count: usize) {
        self.free.copy_within(at + count..self.len, at);
        self.len -= count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(pages: u32) -> Space {
        Space::new(Box::leak(vec![Extent::default(); 64].into_boxed_slice()), pages)
    }

    #[test]
    fn takes_the_first_that_fits() {
        let mut space = space(100);
        assert_eq!(space.take(10, 1), Some(0));
        assert_eq!(space.take(10, 8), Some(16));
        assert_eq!(space.take(6, 1), Some(10));
        assert_eq!(space.take(90, 1), None);
        assert_eq!(space.take(74, 1), Some(26));
        assert_eq!(space.take(1, 1), None);
    }

    #[test]
    fn joins_what_is_given_back() {
        let mut space = space(30);
        assert_eq!(space.take(30, 1), Some(0));
        for first in [0, 20, 10] {
            space.give(Extent::new(first, 10));
        }
        assert_eq!((space.len, space.free[0]), (1, Extent::new(0, 30)));
        space.give(Extent::new(5, 10));
        assert_eq!((space.len, space.free[0]), (1, Extent::new(0, 30)), "twice does nothing");
    }

    #[test]
    fn takes_given_places() {
        let mut space = space(30);
        assert_eq!(space.take(10, 1), Some(0));
        assert!(!space.take_at(Extent::new(8, 4)));
        assert!(space.take_at(Extent::new(12, 4)));
        assert!(!space.take_at(Extent::new(10, 4)));
        assert!(space.take_at(Extent::new(10, 2)));
        assert!(!space.take_at(Extent::new(28, 4)));
        assert_eq!([9, 10, 11, 12, 13, 16].map(|page| space.has(page)), [false, false, false, false, false, true]);
        assert_eq!(space.take(14, 1), Some(16));
    }

    #[test]
    fn claims_what_is_free() {
        let mut space = space(30);
        assert!(space.take_at(Extent::new(5, 5)) && space.take_at(Extent::new(15, 5)));
        space.claim(Extent::new(3, 20));
        assert_eq!(space.free[..space.len], [Extent::new(0, 3), Extent::new(23, 7)]);
        space.claim(Extent::new(3, 20));
        assert_eq!(space.free[..space.len], [Extent::new(0, 3), Extent::new(23, 7)]);
    }

    #[test]
    fn agrees_with_a_table_of_pages() {
        use rand::RngExt;
        let mut rng = <rand_pcg::Pcg32 as rand::SeedableRng>::seed_from_u64(1);
        let mut space = space(200);
        let mut used = [false; 200];
        for _ in 0..20_000 {
            if rng.random::<bool>() {
                let count = rng.random_range(1..12u32);
                if let Some(first) = space.take(count, 1) {
                    for page in first..first + count {
                        assert!(!std::mem::replace(&mut used[page as usize], true), "page {page} was free");
                    }
                } else {
                    let free = |start: usize| used[start..].iter().take(count as usize).filter(|used| !**used).count();
                    assert!((0..200).all(|start| free(start) < count as usize), "{count} pages were free");
                }
            } else {
                let first = rng.random_range(0..200u32);
                let count = rng.random_range(1..12u32).min(200 - first);
                space.give(Extent::new(first, count));
                used[first as usize..(first + count) as usize].fill(false);
            }
        }
    }
}
