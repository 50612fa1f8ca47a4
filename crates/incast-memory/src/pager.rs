//! Which pages are local: the policy, over any [`Memory`].

use crate::ended::ended_unless;
use crate::list::{Link, List};
use crate::space::Extent;

/// Pages that can come and go at least, whatever the share: an instruction may need several at once, and all of them must be there
/// together. Our choice.
const LEAST: u64 = 64;

/// Pages that leave together at most: neighbours cost little more than one (as many as Linux reclaims together, SWAP_CLUSTER_MAX).
pub(crate) const BATCH: usize = 32;
/// Pages that are moved together at most. Our choice.
const MOVED: usize = 512;
/// What is said before the process ends because a page is gone.
const GONE: &str = "the program has given memory back by a system call of its own, past the C library: what it reads from now on \
could be wrong, so it was ended";
/// Part of the local pages that leave together: so many that the limit is nearly used. Our choice.
const PART: u64 = 16;

/// What the policy does to pages of a program and to their copies in the store. Page numbers count from the start of the region.
pub(crate) trait Memory {
    /// Maps an empty page that can be written, at little cost at once if `write`, and wakes who waits for it; false if it is not
    /// there then.
    fn zero(&mut self, page: u32, write: bool) -> bool;
    /// Maps the copy of a page, for [`Memory::wake`] then; `guard`: writes to it fault. False if it is not there then.
    fn fill(&mut self, page: u32, guard: bool) -> bool;
    /// Makes writes to mapped pages fault from now on: what they hold stands still then. False if it does not.
    fn guard(&mut self, pages: Extent) -> bool;
    /// Lets a page be written again, and wakes who waits for it.
    fn unguard(&mut self, page: u32);
    /// Whether all of these pages are mapped: the program can undo that by system calls that are not seen.
    fn is_there(&self, pages: Extent) -> bool;
    /// Copies mapped pages into the store; false if they cannot be read. Of one that is not there the handler would wait for itself.
    fn save(&mut self, pages: Extent) -> bool;
    /// Whether the copy of a page holds zeros only.
    fn is_empty(&self, page: u32) -> bool;
    /// Unmaps pages, those that are locked only if `locked`; false if some have to stay.
    fn unmap(&mut self, pages: Extent, locked: bool) -> bool;
    /// Empties the copies of pages.
    fn forget(&mut self, pages: Extent);
    /// Moves the copies of pages.
    fn carry(&mut self, from: Extent, to: u32);
    /// Has who waits for a page look again.
    fn wake(&mut self, page: u32);
}

/// Where a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Nowhere: never written, it reads as zeros.
    Fresh,
    /// Local.
    Mapped,
    /// Local too, but with the next access to be noticed: its content is in the store.
    Aside,
    /// In the store.
    Remote,
    /// On its way from there.
    Fetching,
    /// Local for good: it is locked, or could not be read.
    Pinned,
    /// Not ours: the program has mapped something else here.
    Foreign,
}

/// A page: its place, and two things to know of it.
#[derive(Debug, Clone, Copy)]
struct Page(u8);

impl Page {
    /// The local content is newer than that of the remote memory.
    const DIRTY: u8 = 8;
    /// The remote memory has a content, and the store a copy of it.
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

/// How many pages may be local.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// A share of the largest footprint so far, in millionths: memory that was there once stays.
    Share(u64),
    /// So many pages.
    Pages(u64),
}

/// Which pages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// That which came first.
    Fifo,
    /// An approximation of least recently used: a page first loses its mapping for as long as a quarter of the local memory takes
    /// to be renewed, and is mapped again at little cost if it is accessed meanwhile (segmented FIFO; Turner & Levy, "Segmented FIFO
    /// page replacement", SIGMETRICS 1981. The quarter is our choice).
    Lru,
}

/// What a fault was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is served.
    Served,
    /// The page has to come from remote memory: [`Pager::arrive`] when it is there, and [`Memory::wake`].
    Fetch,
}

/// What happened so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Pages that were accessed for the first time.
    pub(crate) first: u64,
    /// Pages that came from remote memory.
    pub(crate) fetched: u64,
    /// Pages that were sent to remote memory.
    pub(crate) written: u64,
    /// Pages whose remote content was still right, so that nothing was sent.
    pub(crate) dropped: u64,
    /// Pages that were mapped again before they became remote.
    pub(crate) mapped_again: u64,
    /// First writes to pages that had been fetched to be read.
    pub(crate) guarded: u64,
    /// Pages with a content now, wherever.
    pub(crate) footprint: u64,
    /// The most of these at a time.
    pub(crate) peak: u64,
    /// Pages that cannot become remote.
    pub(crate) pinned: u64,
}

/// The policy.
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
    /// No page has a content; the tables have an element for each page, all of them 0.
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

    /// Pages that are local now.
    pub(crate) fn local(&self) -> u64 {
        (self.mapped.len() + self.aside.len()) as u64 + self.counts.pinned
    }

    /// Pages that may be local now.
    pub(crate) fn limit(&self) -> u64 {
        let limit = match self.limit {
            Limit::Share(millionths) => (self.counts.peak * millionths).div_ceil(1_000_000),
            Limit::Pages(pages) => pages,
        };
        limit.max(LEAST + self.counts.pinned)
    }

    /// A thread waits for a page that is not mapped.
    pub(crate) fn fault(&mut self, page: u32, write: bool) -> Fault {
        let found = self.get(page);
        match found.place() {
            // Where a page cannot be mapped all stays as it is, and the thread, which is awake then, faults again.
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
            // It comes anyway.
            Place::Fetching => {}
            // Another thread's fault brought it.
            Place::Mapped | Place::Pinned => {
                ended_unless(self.memory.is_there(Extent::new(page, 1)), GONE);
                self.memory.wake(page);
            }
            Place::Foreign => self.memory.wake(page),
        }
        Fault::Served
    }

    /// A thread waits to write to a page that is guarded.
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

    /// A page that was fetched is here; who waits for it is to be woken then.
    pub(crate) fn arrive(&mut self, page: u32, write: bool) {
        let found = self.get(page);
        if found.place() != Place::Fetching {
            // It was given up meanwhile.
        } else if self.memory.fill(page, !write) {
            self.counts.fetched += 1;
            self.map(page, if write { found.flags() | Page::DIRTY } else { found.flags() });
        } else {
            self.set(page, Place::Remote, found.flags());
        }
    }

    /// Has a page there that can be written without a fault, until the next [`Pager::trim`]; true if it is to be fetched for that:
    /// [`Pager::arrive`] to write then, and [`Memory::wake`].
    pub(crate) fn hold(&mut self, page: u32) -> bool {
        match self.get(page).place() {
            Place::Fresh | Place::Aside | Place::Remote => self.fault(page, true) == Fault::Fetch,
            // A thread waits for it, for whom it comes early.
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

    /// Whether more pages are local than may be: then [`Pager::trim`] until it gives nothing.
    pub(crate) fn is_over(&self) -> bool {
        let limit = self.limit();
        self.local() > limit || (self.policy == Policy::Lru && self.mapped.len() as u64 > limit - limit / 4)
    }

    /// Sends some pages away; gives those that had to be sent to remote memory, at the beginning of `sent`, or nothing if few enough
    /// are local: a few less than may be, so that this is not for one page at a time.
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

    /// Unmaps pages and forgets what they hold: they read as zeros. False, with nothing forgotten, if some are locked, unless `locked`.
    pub(crate) fn discard(&mut self, extent: Extent, locked: bool) -> bool {
        let is_mapped = |page| matches!(self.get(page).place(), Place::Mapped | Place::Pinned);
        let done = !extent.pages().any(is_mapped) || self.memory.unmap(extent, locked);
        if done {
            self.forget(extent);
        }
        done
    }

    /// Forgets what pages hold, and that they were somebody else's: what was mapped of them is not any more.
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

    /// Moves what pages hold to others, which hold nothing; false, with nothing moved, if some could not be read.
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
            // Who waits for a page at its old place looks again, and finds none.
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

    /// The first of these pages and those behind it that are in the same state.
    fn alike(&self, extent: Extent) -> Extent {
        let state = self.pages[extent.first as usize];
        let count = extent.pages().take_while(|page| self.pages[*page as usize] == state).count();
        Extent::new(extent.first, count as u32)
    }

    /// Whether one of these pages is not ours.
    pub(crate) fn has_foreign(&self, extent: Extent) -> bool {
        extent.pages().any(|page| self.get(page).place() == Place::Foreign)
    }

    /// Forgets what pages held, and that they were ours: something else is mapped there.
    pub(crate) fn hand_over(&mut self, extent: Extent) {
        self.forget(extent);
        for page in extent.pages() {
            self.set(page, Place::Foreign, 0);
        }
    }

    /// What a process that was forked has to see otherwise: its pages are no longer guarded, and what happened before is not its own.
    pub(crate) fn forked(&mut self) {
        let Counts { footprint, peak, pinned, .. } = self.counts;
        self.counts = Counts { footprint, peak, pinned, ..Counts::default() };
        let mut at = self.mapped.oldest();
        while let Some(page) = at {
            self.pages[page as usize] |= Page::DIRTY;
            at = self.mapped.behind(self.links, page);
        }
    }

    /// A page that was being fetched for a thread that is gone.
    pub(crate) fn give_up(&mut self, page: u32) {
        let found = self.get(page);
        if found.place() == Place::Fetching {
            self.set(page, Place::Remote, found.flags());
        }
    }

    /// Makes a page local that was mapped just now.
    fn map(&mut self, page: u32, flags: u8) {
        self.set(page, Place::Mapped, flags);
        self.mapped.push(self.links, page);
    }

    /// Unmaps the oldest pages, so many of them or [`BATCH`], and keeps their content local.
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

    /// Takes mapped pages, all dirty or none, from the program, with their content in the store; those for which that is not possible are
    /// pinned. They are in no list.
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

    /// Unmaps pages whose content is in the store. Where that fails for some it may have been done for others: these must not be read
    /// again.
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

    /// Does for each page what is not possible for all; a page for which it is not possible alone is pinned.
    fn one_by_one(&mut self, run: Extent, what: impl Fn(&mut Self, Extent)) {
        if run.count > 1 {
            return run.pages().for_each(|page| what(self, Extent::new(page, 1)));
        }
        let flags = self.get(run.first).flags();
        self.memory.unguard(run.first);
        self.set(run.first, Place::Pinned, flags | Page::DIRTY);
        self.counts.pinned += 1;
    }

    /// A page whose content is in the store is local no more; true if that had to be sent.
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
