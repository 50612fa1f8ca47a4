//! The program's calls: which pages it has, and what they are then.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::desk::BELL;
use crate::pager::{Memory, Pager};
use crate::space::{Extent, Space};

/// What a program asks of its memory, in pages of the region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// Pages for an allocation, the first at a multiple of `align`: the first one.
    Allocate { count: u32, align: u32 },
    /// An allocation is given back.
    Free { first: u32 },
    /// An allocation becomes larger or smaller: the first of its pages then.
    Resize { first: u32, count: u32 },
    /// Pages with this protection: the first one.
    Map { count: u32, protection: u32 },
    /// Empty pages with this protection in place of these.
    MapAt { pages: Extent, protection: u32 },
    /// The program has mapped something else at these.
    HandOver { pages: Extent },
    /// Pages are given back.
    Unmap { pages: Extent },
    /// Pages become more or fewer, and may move if `moves`: the first of them then.
    Remap { pages: Extent, count: u32, moves: bool },
    /// Pages are to read as zeros; not possible for those that are locked, unless `locked`.
    Discard { pages: Extent, locked: bool },
    /// The process is about to fork, by a thread whose stack is at this page; [`Call::ELSEWHERE`] if that is not of the region.
    Fork { stack: u32 },
}

impl Call {
    /// No page of the region.
    pub(crate) const ELSEWHERE: u32 = u32::MAX;
}

/// Pages below and above that of a thread's stack pointer that it may need while it forks: in the new process nobody serves its
/// stack until there is a handler. Our choice; the C library and this one need a few.
const STACK: (u32, u32) = (32, 16);

/// What a [`Heap`] does to the region beside what a [`Pager`] does.
pub(crate) trait Ground: Memory {
    /// Gives pages a protection, of `PROT_READ` and its like; false if there is no memory for it.
    fn protect(&mut self, pages: Extent, protection: u32) -> bool;
    /// Lets nobody access pages.
    fn close(&mut self, pages: Extent);
    /// Makes pages ours again that something else was mapped at; nobody may access them.
    fn renew(&mut self, pages: Extent);
}

/// Readable and writable: `PROT_READ | PROT_WRITE`.
const USUAL: u32 = 3;

/// Whose pages are whose.
#[derive(Debug)]
pub(crate) struct Heap<M> {
    pub(crate) pager: Pager<M>,
    space: Space,
    /// Of each page that an allocation begins with, how many it has; of others 0. Threads of the program read it.
    sizes: &'static [AtomicU32],
}

impl<M: Ground> Heap<M> {
    /// All pages of `space` are free.
    pub(crate) const fn new(pager: Pager<M>, space: Space, sizes: &'static [AtomicU32]) -> Self {
        Self { pager, space, sizes }
    }

    /// Does what is asked; what comes back is said at each [`Call`], `None` if it is not possible.
    pub(crate) fn answer(&mut self, call: Call) -> Option<u32> {
        match call {
            Call::Allocate { count, align } => {
                let first = self.take(count, align, USUAL)?;
                self.sizes[first as usize].store(count, Ordering::Relaxed);
                Some(first)
            }
            Call::Free { first } => {
                let count = self.sizes[first as usize].swap(0, Ordering::Relaxed);
                self.give(Extent::new(first, count));
                Some(first)
            }
            Call::Resize { first, count } => {
                let before = self.sizes[first as usize].load(Ordering::Relaxed);
                let now = self.resize(Extent::new(first, before), count, true)?;
                self.sizes[first as usize].store(0, Ordering::Relaxed);
                self.sizes[now as usize].store(count, Ordering::Relaxed);
                Some(now)
            }
            Call::Map { count, protection } => self.take(count, 1, protection),
            Call::MapAt { pages, protection } => {
                self.empty(pages);
                self.pager.memory.protect(pages, protection).then_some(pages.first)
            }
            Call::HandOver { pages } => {
                self.space.claim(pages);
                self.pager.hand_over(pages);
                Some(pages.first)
            }
            Call::Unmap { pages } => {
                self.give(pages);
                Some(pages.first)
            }
            Call::Remap { pages, count, moves } => self.resize(pages, count, moves),
            // As the kernel does it: those before the first that is locked are emptied.
            Call::Discard { pages, locked } => {
                let done = self.pager.discard(pages, locked)
                    || pages.pages().all(|page| self.pager.discard(Extent::new(page, 1), locked));
                done.then_some(pages.first)
            }
            Call::Fork { .. } => Some(0),
        }
    }

    /// Pages that a thread whose stack is at this page may need while it forks.
    pub(crate) fn around(&self, stack: u32) -> impl Iterator<Item = u32> + use<M> {
        let (below, above) = STACK;
        let pages = stack.saturating_sub(below).max(BELL + 1)..stack.saturating_add(above).min(self.sizes.len() as u32);
        if stack == Call::ELSEWHERE { 0..0 } else { pages }
    }

    /// Has a page there that a thread that forks may need, see [`Pager::hold`].
    pub(crate) fn hold(&mut self, page: u32) -> bool {
        !self.space.has(page) && self.pager.hold(page)
    }

    fn take(&mut self, count: u32, align: u32, protection: u32) -> Option<u32> {
        let first = self.space.take(count, align)?;
        let pages = Extent::new(first, count);
        if self.pager.memory.protect(pages, protection) {
            return Some(first);
        }
        self.space.give(pages);
        None
    }

    /// Gives pages back: nobody can access them then, as if they were unmapped.
    fn give(&mut self, pages: Extent) {
        self.empty(pages);
        self.pager.memory.close(pages);
        self.space.give(pages);
    }

    /// Makes pages the program's, and empty: some may have been free, as a place can be named that nobody handed out.
    fn empty(&mut self, pages: Extent) {
        self.space.claim(pages);
        // Locked pages cannot be emptied, and go with their lock.
        if self.pager.has_foreign(pages) || !self.pager.discard(pages, false) {
            self.pager.forget(pages);
            self.pager.memory.renew(pages);
        }
    }

    /// Gives `pages` another length, elsewhere if there is no room behind them and they may move. Those that come to it, and all if
    /// they move, can be read and written: mremap of pages with another protection is the one thing that is not as it would be.
    fn resize(&mut self, pages: Extent, count: u32, moves: bool) -> Option<u32> {
        if count <= pages.count {
            let rest = Extent::new(pages.first + count, pages.count - count);
            if rest.count > 0 {
                self.give(rest);
            }
            return Some(pages.first);
        }
        let more = Extent::new(pages.end(), count - pages.count);
        if self.space.take_at(more) {
            if self.pager.memory.protect(more, USUAL) {
                return Some(pages.first);
            }
            self.space.give(more);
        }
        if !moves {
            return None;
        }
        let first = self.take(count, 1, USUAL)?;
        if self.pager.shift(pages, first) {
            self.give(pages);
            return Some(first);
        }
        self.give(Extent::new(first, count));
        None
    }
}

#[cfg(test)]
#[path = "heap_tests.rs"]
mod tests;
