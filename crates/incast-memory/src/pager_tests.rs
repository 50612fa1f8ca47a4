//! Policy over simulated memory.

use super::*;

/// Memory with one number per page.
#[derive(Debug)]
struct Played {
    mapped: Vec<Option<(u64, bool)>>,
    store: Vec<u64>,
    locked: Vec<u32>,
    full: bool,
}

impl Memory for Played {
    fn zero(&mut self, page: u32, _: bool) -> bool {
        !self.full && {
            assert_eq!(self.mapped[page as usize].replace((0, false)), None);
            true
        }
    }

    fn fill(&mut self, page: u32, guard: bool) -> bool {
        !self.full && {
            let copy = (self.store[page as usize], guard);
            assert_eq!(self.mapped[page as usize].replace(copy), None, "page {page} is mapped already");
            true
        }
    }

    fn is_there(&self, pages: Extent) -> bool {
        pages.pages().all(|page| self.mapped[page as usize].is_some())
    }

    fn guard(&mut self, pages: Extent) -> bool {
        self.mapped[pages.first as usize..pages.end() as usize].iter_mut().flatten().for_each(|found| found.1 = true);
        true
    }

    fn unguard(&mut self, page: u32) {
        self.mapped[page as usize].as_mut().unwrap().1 = false;
    }

    fn save(&mut self, pages: Extent) -> bool {
        pages.pages().for_each(|page| self.store[page as usize] = self.mapped[page as usize].unwrap().0);
        true
    }

    fn is_empty(&self, page: u32) -> bool {
        self.store[page as usize] == 0
    }

    fn unmap(&mut self, pages: Extent, locked: bool) -> bool {
        // madvise(2): pages before the first locked one are unmapped.
        for page in pages.pages() {
            if !locked && self.locked.contains(&page) {
                return false;
            }
            self.mapped[page as usize] = None;
        }
        true
    }

    fn forget(&mut self, pages: Extent) {
        for page in pages.pages() {
            self.store[page as usize] = 0;
        }
    }

    fn carry(&mut self, from: Extent, to: u32) {
        for (page, other) in from.pages().zip(to..) {
            self.store[other as usize] = std::mem::take(&mut self.store[page as usize]);
        }
    }

    fn wake(&mut self, _: u32) {}
}

const PAGES: usize = 512;

fn pager(policy: Policy, limit: Limit) -> Pager<Played> {
    let memory = Played { mapped: vec![None; PAGES], store: vec![0; PAGES], locked: Vec::new(), full: false };
    let pages = Box::leak(vec![0; PAGES].into_boxed_slice());
    let links = Box::leak(vec![Link::default(); PAGES].into_boxed_slice());
    Pager::new(memory, (pages, links), policy, limit)
}

impl Pager<Played> {
    fn access(&mut self, page: u32, write: bool) -> &mut u64 {
        while self.memory.mapped[page as usize].is_none_or(|(_, guarded)| write && guarded) {
            if self.memory.mapped[page as usize].is_some() {
                self.write(page);
            } else if self.fault(page, write) == Fault::Fetch {
                self.arrive(page, write);
            }
        }
        &mut self.memory.mapped[page as usize].as_mut().unwrap().0
    }

    fn trimmed(&mut self) -> Vec<u32> {
        let (mut sent, mut gone) = (Vec::new(), [0; BATCH]);
        if self.is_over() {
            while let Some(count) = self.trim(&mut gone) {
                sent.extend_from_slice(&gone[..count]);
            }
        }
        sent
    }

    fn touch(&mut self, pages: impl IntoIterator<Item = u32>, write: bool) -> Vec<u32> {
        let mut sent = Vec::new();
        for page in pages {
            let content = self.access(page, write);
            *content += u64::from(write);
            sent.extend(self.trimmed());
        }
        sent
    }
}

#[test]
fn oldest_go_first_and_come_back_as_fetches() {
    let mut pager = pager(Policy::Fifo, Limit::Pages(100));
    assert_eq!(pager.touch(0..100, true), []);
    assert_eq!(pager.touch([0], false), [], "an access does not change the order");
    assert_eq!(pager.touch([100, 101], true), [0, 1, 2, 3, 4, 5, 6], "one too many, and a sixteenth of the limit");
    assert_eq!((pager.counts().fetched, pager.local()), (0, 95), "first accesses are no fetches");
    assert_eq!(pager.touch([0], false), []);
    assert_eq!((pager.counts().fetched, pager.local()), (1, 96));
}

#[test]
fn clean_pages_are_not_sent_again() {
    let mut pager = pager(Policy::Fifo, Limit::Pages(64));
    let sent = pager.touch(0..128, true);
    assert_eq!(sent, (0..sent.len() as u32).collect::<Vec<_>>());
    let rest = pager.touch(0..60, false);
    assert!(rest.iter().all(|page| *page >= sent.len() as u32), "those that were only written");
    let dropped = pager.counts().dropped;
    assert_eq!(pager.touch(70..128, false).iter().filter(|page| **page < 60).count(), 0, "those that were read");
    assert!(pager.counts().dropped > dropped);
    assert_eq!(pager.touch([0], true), []);
    assert!(pager.touch(128..192, true).contains(&0), "written after it was fetched");
}

#[test]
fn a_written_page_after_a_read_is_noticed() {
    let mut pager = pager(Policy::Fifo, Limit::Pages(64));
    pager.touch(0..65, true);
    pager.touch([0], false);
    assert_eq!(pager.counts().guarded, 0);
    pager.touch([0], true);
    assert_eq!(pager.counts().guarded, 1);
    pager.touch([0], true);
    assert_eq!(pager.counts().guarded, 1);
}

#[test]
fn pages_never_written_are_forgotten() {
    let mut pager = pager(Policy::Fifo, Limit::Pages(64));
    assert_eq!(pager.touch(0..128, false), []);
    assert_eq!(pager.counts().footprint, pager.local());
    assert_eq!((pager.counts().peak, pager.counts().written), (65, 0));
}

#[test]
fn recently_used_pages_stay_under_lru() {
    let often = |policy| {
        let mut pager = pager(policy, Limit::Pages(100));
        pager.touch(0..400, true);
        for round in 0..20 {
            pager.touch((0..40).flat_map(|page| [page, 100 + (round * 40 + page) % 300]), false);
        }
        pager.counts()
    };
    let (fifo, lru) = (often(Policy::Fifo), often(Policy::Lru));
    assert_eq!(fifo.mapped_again, 0);
    assert!(lru.mapped_again > 0);
    assert!(lru.fetched < fifo.fetched, "{lru:?} {fifo:?}");
}

#[test]
fn what_fits_stays_under_lru() {
    let mut pager = pager(Policy::Lru, Limit::Pages(100));
    assert_eq!(pager.touch((0..100).chain(0..100), true), []);
    assert_eq!((pager.counts().fetched, pager.local()), (0, 100));
    assert!(pager.counts().mapped_again > 0, "as pages stand aside");
    assert_eq!(pager.touch([100], true).len(), 7, "one too many, and a sixteenth of the limit");
}

#[test]
fn the_limit_follows_the_largest_footprint() {
    let mut pager = pager(Policy::Fifo, Limit::Share(250_000));
    assert_eq!(pager.limit(), LEAST);
    pager.touch(0..400, true);
    assert_eq!(pager.limit(), 100);
    assert!((94..=100).contains(&pager.local()));
    assert!(pager.discard(Extent::new(0, 300), false));
    assert_eq!((pager.limit(), pager.counts().footprint), (100, 100));
}

#[test]
fn locked_pages_stay() {
    let mut pager = pager(Policy::Fifo, Limit::Pages(64));
    pager.memory.locked = (20..30).collect();
    let sent = pager.touch(0..90, true);
    assert!(!sent.is_empty() && sent.iter().all(|page| !(20..30).contains(page)), "{sent:?}");
    assert_eq!((pager.counts().pinned, pager.limit()), (10, 64 + 10), "as many as an instruction may need go on");
    assert_eq!((*pager.access(3, false), *pager.access(23, false)), (1, 1));
    assert!(!pager.discard(Extent::new(23, 1), false) && pager.discard(Extent::new(29, 1), true));
    assert_eq!((*pager.access(23, false), *pager.access(29, false)), (1, 0), "as they were, but for that");
    pager.memory.locked.clear();
    assert!(pager.discard(Extent::new(0, 90), false));
    assert_eq!((pager.counts().pinned, pager.local(), pager.counts().footprint), (0, 0, 0));
}

#[test]
fn a_page_given_up_while_it_is_fetched_is_empty() {
    let mut pager = pager(Policy::Fifo, Limit::Pages(64));
    pager.touch(0..65, true);
    assert_eq!(pager.fault(0, false), Fault::Fetch);
    assert_eq!(pager.fault(0, true), Fault::Served, "a second thread waits for the same page");
    assert!(pager.discard(Extent::new(0, 1), false));
    pager.arrive(0, false);
    assert_eq!(*pager.access(0, false), 0);
}

#[test]
fn a_page_that_cannot_be_mapped_stays_where_it_is() {
    for policy in [Policy::Fifo, Policy::Lru] {
        let mut pager = pager(policy, Limit::Pages(64));
        pager.touch(0..65, true);
        let before = (pager.counts(), pager.local());
        pager.memory.full = true;
        // A page from the store, a new one, and with LRU an unmapped local one.
        assert_eq!((pager.fault(0, false), pager.fault(100, true)), (Fault::Fetch, Fault::Served));
        pager.arrive(0, false);
        let aside = pager.aside.oldest();
        assert_eq!(aside.is_some(), policy == Policy::Lru);
        assert!(aside.is_none_or(|page| pager.fault(page, false) == Fault::Served));
        assert_eq!((pager.counts(), pager.local()), before);
        pager.memory.full = false;
        assert_eq!((*pager.access(0, false), *pager.access(100, false)), (1, 0));
        assert!(aside.is_none_or(|page| *pager.access(page, false) == 1));
    }
}

fn ends(what: impl FnOnce(&mut Pager<Played>)) -> bool {
    let mut pager = pager(Policy::Fifo, Limit::Pages(64));
    pager.touch(0..64, true);
    pager.memory.mapped[9] = None;
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| what(&mut pager)));
    done.is_err_and(|why| why.downcast_ref::<crate::ended::Ended>().is_some_and(|ended| ended.0 == GONE))
}

#[test]
fn a_page_that_is_gone_is_neither_read_nor_waited_for() {
    assert!(ends(|pager| assert!(pager.touch(64..80, true).is_empty())));
    assert!(ends(|pager| assert_eq!(pager.fault(9, false), Fault::Served)));
    assert!(!ends(|pager| assert!(pager.touch(0..9, true).is_empty())));
}

#[test]
fn what_is_held_needs_no_fault() {
    let mut pager = pager(Policy::Lru, Limit::Pages(64));
    pager.touch(0..65, true);
    pager.touch([0], false);
    assert_eq!(pager.fault(1, false), Fault::Fetch);
    for page in 0..70 {
        if pager.hold(page) {
            pager.arrive(page, true);
        }
    }
    assert!(pager.memory.mapped[..70].iter().all(|page| page.is_some_and(|(_, guarded)| !guarded)));
    assert_eq!(*pager.access(1, false), 1);
}

/// Every page reads as written after random operations.
fn holds_what_was_written(policy: Policy, limit: Limit, seed: u64) {
    use rand::RngExt;
    let mut rng = <rand_pcg::Pcg32 as rand::SeedableRng>::seed_from_u64(seed);
    let mut pager = pager(policy, limit);
    let mut right = vec![0; PAGES];
    let mut fetched = 0;
    for step in 1..40_000 {
        let page = rng.random_range(0..PAGES as u32);
        match rng.random_range(0..1000) {
            0..400 => {
                *pager.access(page, true) = step;
                right[page as usize] = step;
            }
            400..990 => assert_eq!(*pager.access(page, false), right[page as usize], "page {page} at step {step}"),
            990..996 => {
                let extent = Extent::new(page, rng.random_range(1..20u32).min(PAGES as u32 - page));
                assert!(pager.discard(extent, false));
                extent.pages().for_each(|page| right[page as usize] = 0);
            }
            996..999 => {
                let half = PAGES as u32 / 2;
                let count = rng.random_range(1..20u32).min(half - page % half);
                let (from, to) = (Extent::new(page, count), (page + half) % PAGES as u32);
                assert!(pager.discard(Extent::new(to, count), false));
                assert!(pager.shift(from, to));
                for at in 0..count {
                    right[(to + at) as usize] = std::mem::take(&mut right[(page + at) as usize]);
                }
            }
            _ => {
                pager.memory.mapped.iter_mut().flatten().for_each(|(_, guarded)| *guarded = false);
                fetched += pager.counts().fetched;
                pager.forked();
            }
        }
        pager.trimmed();
        assert!(pager.local() <= pager.limit());
        let held = pager.memory.mapped.iter().flatten().count() + pager.aside.len();
        assert_eq!(held as u64, pager.local());
    }
    fetched += pager.counts().fetched;
    assert!(fetched > 5_000, "only {fetched} fetches");
}

#[test]
fn nothing_is_lost_under_fifo() {
    for seed in 0..3 {
        holds_what_was_written(Policy::Fifo, Limit::Pages(70), seed);
        holds_what_was_written(Policy::Fifo, Limit::Share(300_000), seed);
    }
}

#[test]
fn nothing_is_lost_under_lru() {
    for seed in 0..3 {
        holds_what_was_written(Policy::Lru, Limit::Pages(70), seed);
        holds_what_was_written(Policy::Lru, Limit::Share(300_000), seed);
    }
}
