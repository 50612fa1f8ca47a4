//! Replacement policy over any [`Memory`].

use crate::ended::ended_unless;
use crate::list::{Link, List};
use crate::space::Extent;

/// Least limit beyond pinned pages: an instruction may need several pages at once. Our choice.
const LEAST: u64 = 64;

/// Most pages per eviction: neighbours cost little more than one page (Linux: SWAP_CLUSTER_MAX).
pub(crate) const BATCH: usize = 32;
/// Most pages per move. Our choice.
const MOVED: usize = 512;
const GONE: &str = "the program has given memory back by a system call of its own, past the C library: what it reads from now on \
could be wrong, so it was ended";
/// Largest eviction: the limit divided by this, so that the limit is nearly used. Our choice.
const PART: u64 = 16;

/// Operations on pages, numbered from the region's start, and on their copies in the store.
pub(crate) trait Memory {
    /// Maps an empty writable page, ready for a first write if `write`, and wakes waiting threads. False: not mapped.
    fn zero(&mut self, page: u32, write: bool) -> bool;
    /// Maps a page's copy, without [`Memory::wake`]; if `guard`, writes fault. False: not mapped.
    fn fill(&mut self, page: u32, guard: bool) -> bool;
    /// Makes writes fault, so that content cannot change; false on failure.
    fn guard(&mut self, pages: Extent) -> bool;
    /// Allows writes, and wakes waiting threads.
    fn unguard(&mut self, page: u32);
    /// Returns whether all pages are mapped: the program can unmap them by unseen system calls.
    fn is_there(&self, pages: Extent) -> bool;
    /// Copies mapped pages to the store; false if unreadable. For a missing page the handler would wait for itself.
    fn save(&mut self, pages: Extent) -> bool;
    /// Returns whether a page's copy is all zeros.
    fn is_empty(&self, page: u32) -> bool;
    /// Unmaps pages, locked ones only if `locked`; false if some stay.
    fn unmap(&mut self, pages: Extent, locked: bool) -> bool;
    fn forget(&mut self, pages: Extent);
    fn carry(&mut self, from: Extent, to: u32);
    /// Makes waiting threads retry.
    fn wake(&mut self, page: u32);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// No content: reads as zeros.
    Fresh,
    Mapped,
    /// Local, but unmapped to notice the next access; content in the store.
    Aside,
    Remote,
    Fetching,
    /// Local for good: locked or unreadable.
    Pinned,
    /// The program has mapped something else here.
    Foreign,
}

#[derive(Debug, Clone, Copy)]
struct Page(u8);

impl Page {
    /// Local content is newer than remote content.
    const DIRTY: u8 = 8;
    /// Remote memory has content; the store has its copy.
    const STORED: u8 = 16;

    const fn new(place: Place, flags: u8) -> Self {
        Self(place as u8 | flags)
    }

    const fn place(self) -> Place {
        match self.0 & 7 {
            0 => Place::Fresh,
            1 => Place::Mapped,
            2 => Place::Aside,
            3 => Place::Remote,
            4 => Place::Fetching,
            5 => Place::Pinned,
            _ => Place::Foreign,
        }
    }

    const fn flags(self) -> u8 {
        self.0 & (Self::DIRTY | Self::STORED)
    }

    const fn is(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Millionths of the largest footprint so far.
    Share(u64),
    Pages(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    Fifo,
    /// Approximate LRU: unmaps a page for as long as replacing a quarter of local memory takes; an access meanwhile maps it
    /// again at little cost (segmented FIFO; Turner & Levy, "Segmented FIFO page replacement", SIGMETRICS 1981; the quarter is
    /// our choice).
    Lru,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Served,
    /// Remote: after the fetch, [`Pager::arrive`] and then [`Memory::wake`] are due.
    Fetch,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Pages accessed for the first time.
    pub(crate) first: u64,
    pub(crate) fetched: u64,
    /// Pages sent to remote memory.
    pub(crate) written: u64,
    /// Pages evicted without sending: remote content was current.
    pub(crate) dropped: u64,
    /// Pages mapped again before becoming remote.
    pub(crate) mapped_again: u64,
    /// First writes to pages fetched to be read.
    pub(crate) guarded: u64,
    /// Pages with content, local or remote.
    pub(crate) footprint: u64,
    pub(crate) peak: u64,
    pub(crate) pinned: u64,
}

#[derive(Debug)]
pub(crate) struct Pager<M> {
    pub(crate) memory: M,
    pages: &'static mut [u8],
    links: &'static mut [Link],
    mapped: List,
    aside: List,
    policy: Policy,
    limit: Limit,
    counts: Counts,
}

impl<M: Memory> Pager<M> {
    /// The tables have an element per page, all 0.
    pub(crate) fn new(
        memory: M,
        (pages, links): (&'static mut [u8], &'static mut [Link]),
        policy: Policy,
        limit: Limit,
    ) -> Self {
        let counts = Counts::default();
        Self { memory, pages, links, mapped: List::EMPTY, aside: List::EMPTY, policy, limit, counts }
    }

    pub(crate) const fn counts(&self) -> Counts {
        self.counts
    }

    pub(crate) fn local(&self) -> u64 {
        (self.mapped.len() + self.aside.len()) as u64 + self.counts.pinned
    }

    pub(crate) fn limit(&self) -> u64 {
        let limit = match self.limit {
            Limit::Share(millionths) => (self.counts.peak * millionths).div_ceil(1_000_000),
            Limit::Pages(pages) => pages,
        };
        limit.max(LEAST + self.counts.pinned)
    }

    pub(crate) fn fault(&mut self, page: u32, write: bool) -> Fault {
        let found = self.get(page);
        match found.place() {
            // If mapping fails, nothing changes; the thread is awake and faults again.
            Place::Fresh => {
                if self.memory.zero(page, write) {
                    self.counts.first += 1;
                    self.counts.footprint += 1;
                    self.counts.peak = self.counts.peak.max(self.counts.footprint);
                    self.map(page, Page::DIRTY);
                }
            }
            Place::Aside => {
                let dirty = if write { Page::DIRTY } else { 0 };
                let flags = found.flags() | dirty;
                if self.memory.fill(page, flags & Page::DIRTY == 0) {
                    self.memory.wake(page);
                    self.aside.remove(self.links, page);
                    self.counts.mapped_again += 1;
                    self.map(page, flags);
                }
            }
            Place::Remote => {
                self.set(page, Place::Fetching, found.flags());
                return Fault::Fetch;
            }
            Place::Fetching => {}
            Place::Mapped | Place::Pinned => {
                ended_unless(self.memory.is_there(Extent::new(page, 1)), GONE);
                self.memory.wake(page);
            }
            Place::Foreign => self.memory.wake(page),
        }
        Fault::Served
    }

    pub(crate) fn write(&mut self, page: u32) {
        let found = self.get(page);
        if found.place() == Place::Mapped {
            if !found.is(Page::DIRTY) {
                self.counts.guarded += 1;
            }
            self.set(page, Place::Mapped, found.flags() | Page::DIRTY);
            self.memory.unguard(page);
        } else {
            self.memory.wake(page);
        }
    }

    /// Maps a fetched page; the caller then wakes waiting threads.
    pub(crate) fn arrive(&mut self, page: u32, write: bool) {
        let found = self.get(page);
        if found.place() != Place::Fetching {
            // Given up meanwhile.
        } else if self.memory.fill(page, !write) {
            self.counts.fetched += 1;
            self.map(page, if write { found.flags() | Page::DIRTY } else { found.flags() });
        } else {
            self.set(page, Place::Remote, found.flags());
        }
    }

    /// Makes a page writable without a fault until the next [`Pager::trim`]. True: it needs a fetch, [`Pager::arrive`] with
    /// `write`, then [`Memory::wake`].
    pub(crate) fn hold(&mut self, page: u32) -> bool {
        match self.get(page).place() {
            Place::Fresh | Place::Aside | Place::Remote => self.fault(page, true) == Fault::Fetch,
            Place::Fetching => {
                self.arrive(page, true);
                self.memory.wake(page);
                false
            }
            Place::Mapped => {
                self.write(page);
                false
            }
            Place::Pinned | Place::Foreign => false,
        }
    }

    /// True: [`Pager::trim`] is due until `None`.
    pub(crate) fn is_over(&self) -> bool {
        let limit = self.limit();
        self.local() > limit || (self.policy == Policy::Lru && self.mapped.len() as u64 > limit - limit / 4)
    }

    /// Evicts pages, some more than necessary so that this is rare. Returns how many were sent, the first ones in `sent`;
    /// `None` if few enough are local.
    pub(crate) fn trim(&mut self, sent: &mut [u32; BATCH]) -> Option<usize> {
        let limit = self.limit();
        let together = (limit / PART).min(BATCH as u64);
        if self.policy == Policy::Lru {
            let most = limit - limit / 4 - together;
            while self.mapped.len() as u64 > most {
                self.set_aside(self.mapped.len() - most as usize);
            }
        }
        if self.local() <= limit || self.mapped.len() + self.aside.len() == 0 {
            return None;
        }
        let over = (self.local() + together - limit).min(BATCH as u64) as usize;
        if self.aside.len() == 0 {
            self.set_aside(over);
        }
        let mut count = 0;
        for _ in 0..over {
            let Some(page) = self.aside.oldest() else { break };
            self.aside.remove(self.links, page);
            if self.leave(page) {
                sent[count] = page;
                count += 1;
            }
        }
        Some(count)
    }

    /// Unmaps and empties pages. False, with nothing forgotten: some are locked and `locked` is false.
    pub(crate) fn discard(&mut self, extent: Extent, locked: bool) -> bool {
        let is_mapped = |page| matches!(self.get(page).place(), Place::Mapped | Place::Pinned);
        let done = !extent.pages().any(is_mapped) || self.memory.unmap(extent, locked);
        if done {
            self.forget(extent);
        }
        done
    }

    /// Forgets content and foreign state of pages; the caller removes mappings.
    pub(crate) fn forget(&mut self, extent: Extent) {
        let mut stored = false;
        for page in extent.pages() {
            let found = self.get(page);
            match found.place() {
                Place::Mapped => self.mapped.remove(self.links, page),
                Place::Aside => self.aside.remove(self.links, page),
                Place::Pinned => self.counts.pinned -= 1,
                Place::Fresh | Place::Foreign | Place::Remote | Place::Fetching => {}
            }
            stored |= found.is(Page::STORED) || found.place() == Place::Aside;
            self.counts.footprint -= u64::from(!matches!(found.place(), Place::Fresh | Place::Foreign));
            self.set(page, Place::Fresh, 0);
        }
        if stored {
            self.memory.forget(extent);
        }
    }

    /// Moves content to empty pages from `to`; false, with nothing moved, if some are pinned or foreign.
    pub(crate) fn shift(&mut self, from: Extent, to: u32) -> bool {
        let mut next = from.first;
        while next < from.end() {
            let run = self.alike(Extent::new(next, (from.end() - next).min(MOVED as u32)));
            if self.get(next).place() == Place::Mapped {
                run.pages().for_each(|page| self.mapped.remove(self.links, page));
                self.unmap(run);
            }
            next = run.end();
        }
        if from.pages().any(|page| matches!(self.get(page).place(), Place::Pinned | Place::Foreign)) {
            return false;
        }
        let mut next = from.first;
        while next < from.end() {
            let run = self.alike(Extent::new(next, (from.end() - next).min(MOVED as u32)));
            let first = to + (next - from.first);
            let found = self.get(next);
            // Threads waiting at the old place retry, and find none.
            let place = if found.place() == Place::Fetching { Place::Remote } else { found.place() };
            if place != Place::Fresh {
                self.memory.carry(run, first);
            }
            for (page, other) in run.pages().zip(first..) {
                if place == Place::Aside {
                    self.aside.remove(self.links, page);
                    self.aside.push(self.links, other);
                }
                self.set(page, Place::Fresh, 0);
                self.set(other, place, found.flags());
            }
            next = run.end();
        }
        true
    }

    /// Leading pages in the same state.
    fn alike(&self, extent: Extent) -> Extent {
        let state = self.pages[extent.first as usize];
        let count = extent.pages().take_while(|page| self.pages[*page as usize] == state).count();
        Extent::new(extent.first, count as u32)
    }

    pub(crate) fn has_foreign(&self, extent: Extent) -> bool {
        extent.pages().any(|page| self.get(page).place() == Place::Foreign)
    }

    /// Marks pages mapped to something else.
    pub(crate) fn hand_over(&mut self, extent: Extent) {
        self.forget(extent);
        for page in extent.pages() {
            self.set(page, Place::Foreign, 0);
        }
    }

    /// After a fork: pages are not guarded, so mapped ones are dirty; event counts restart.
    pub(crate) fn forked(&mut self) {
        let Counts { footprint, peak, pinned, .. } = self.counts;
        self.counts = Counts { footprint, peak, pinned, ..Counts::default() };
        let mut at = self.mapped.oldest();
        while let Some(page) = at {
            self.pages[page as usize] |= Page::DIRTY;
            at = self.mapped.behind(self.links, page);
        }
    }

    /// Cancels the fetch of a gone thread.
    pub(crate) fn give_up(&mut self, page: u32) {
        let found = self.get(page);
        if found.place() == Place::Fetching {
            self.set(page, Place::Remote, found.flags());
        }
    }

    fn map(&mut self, page: u32, flags: u8) {
        self.set(page, Place::Mapped, flags);
        self.mapped.push(self.links, page);
    }

    /// Unmaps the oldest pages, at most [`BATCH`]; content stays local.
    fn set_aside(&mut self, count: usize) {
        let mut chosen = [0; BATCH];
        let count = count.min(BATCH).min(self.mapped.len());
        for place in &mut chosen[..count] {
            let page = self.mapped.oldest().expect("the list is as long as it says");
            self.mapped.remove(self.links, page);
            *place = page;
        }
        let chosen = &mut chosen[..count];
        chosen.sort_unstable();
        let alike = |a: &u32, b: &u32| a + 1 == *b && self.get(*a).is(Page::DIRTY) == self.get(*b).is(Page::DIRTY);
        let mut runs = [Extent::default(); BATCH];
        let mut len = 0;
        for run in chosen.chunk_by(alike) {
            runs[len] = Extent::new(run[0], run.len() as u32);
            len += 1;
        }
        for run in &runs[..len] {
            self.unmap(*run);
        }
    }

    /// Saves and unmaps unlisted mapped pages, all dirty or all clean; pins them on failure.
    fn unmap(&mut self, run: Extent) {
        let dirty = self.get(run.first).is(Page::DIRTY);
        if dirty && !(self.memory.guard(run) && self.save(run)) {
            self.one_by_one(run, Self::unmap);
        } else {
            self.let_go(run);
        }
    }

    fn save(&mut self, run: Extent) -> bool {
        ended_unless(self.memory.is_there(run), GONE);
        self.memory.save(run)
    }

    /// Unmaps saved pages. On failure some may be unmapped: they must not be saved again.
    fn let_go(&mut self, run: Extent) {
        if !self.memory.unmap(run, false) {
            return self.one_by_one(run, Self::let_go);
        }
        for page in run.pages() {
            let flags = self.get(page).flags();
            self.set(page, Place::Aside, flags);
            self.aside.push(self.links, page);
        }
    }

    /// Repeats a failed operation per page; pins a page that fails alone.
    fn one_by_one(&mut self, run: Extent, what: impl Fn(&mut Self, Extent)) {
        if run.count > 1 {
            return run.pages().for_each(|page| what(self, Extent::new(page, 1)));
        }
        let flags = self.get(run.first).flags();
        self.memory.unguard(run.first);
        self.set(run.first, Place::Pinned, flags | Page::DIRTY);
        self.counts.pinned += 1;
    }

    /// Evicts a saved page; true if it was sent.
    fn leave(&mut self, page: u32) -> bool {
        let found = self.get(page);
        if !found.is(Page::STORED) && self.memory.is_empty(page) {
            self.memory.forget(Extent::new(page, 1));
            self.counts.footprint -= 1;
            self.set(page, Place::Fresh, 0);
            return false;
        }
        self.set(page, Place::Remote, Page::STORED);
        let dirty = found.is(Page::DIRTY);
        self.counts.written += u64::from(dirty);
        self.counts.dropped += u64::from(!dirty);
        dirty
    }

    fn get(&self, page: u32) -> Page {
        Page(self.pages[page as usize])
    }

    fn set(&mut self, page: u32, place: Place, flags: u8) {
        self.pages[page as usize] = Page::new(place, flags).0;
    }
}

#[cfg(test)]
#[path = "pager_tests.rs"]
mod tests;
