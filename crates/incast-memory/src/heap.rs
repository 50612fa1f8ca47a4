//! Page allocation: carries out the program's calls.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::desk::{BELL, Call};
use crate::pager::{Memory, Pager};
use crate::space::{Extent, Space};

/// Pages below and above its stack pointer that a forking thread may need: nothing serves the new process's stack before the
/// handler starts. Our choice; the C library and this one need a few.
const STACK: (u32, u32) = (32, 16);

/// Region operations of a [`Heap`] beyond those of a [`Pager`].
pub(crate) trait Ground: Memory {
    /// Sets a protection (`PROT_READ`, …); false if memory is lacking.
    fn protect(&mut self, pages: Extent, protection: u32) -> bool;
    /// Denies access.
    fn close(&mut self, pages: Extent);
    /// Replaces mappings by served pages without access.
    fn renew(&mut self, pages: Extent);
}

/// `PROT_READ | PROT_WRITE`.
const USUAL: u32 = 3;

#[derive(Debug)]
pub(crate) struct Heap<M> {
    pub(crate) pager: Pager<M>,
    space: Space,
    /// Pages of each allocation at its first page, else 0; program threads read it.
    sizes: &'static [AtomicU32],
}

impl<M: Ground> Heap<M> {
    pub(crate) const fn new(pager: Pager<M>, space: Space, sizes: &'static [AtomicU32]) -> Self {
        Self { pager, space, sizes }
    }

    /// `None` if the call is impossible.
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
            // Like the kernel: empties pages before the first locked one.
            Call::Discard { pages, locked } => {
                let done = self.pager.discard(pages, locked)
                    || pages.pages().all(|page| self.pager.discard(Extent::new(page, 1), locked));
                done.then_some(pages.first)
            }
            Call::Fork { .. } => Some(0),
        }
    }

    /// Pages that a fork may need, for a stack pointer in page `stack`.
    pub(crate) fn around(&self, stack: u32) -> impl Iterator<Item = u32> + use<M> {
        let (below, above) = STACK;
        let pages = stack.saturating_sub(below).max(BELL + 1)..stack.saturating_add(above).min(self.sizes.len() as u32);
        if stack == Call::ELSEWHERE { 0..0 } else { pages }
    }

    /// Prepares an allocated page for a fork: see [`Pager::hold`].
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

    /// Frees pages and denies access, like unmapping.
    fn give(&mut self, pages: Extent) {
        self.empty(pages);
        self.pager.memory.close(pages);
        self.space.give(pages);
    }

    /// Claims and empties pages. Some may be free: a program can name any address.
    fn empty(&mut self, pages: Extent) {
        self.space.claim(pages);
        // Locked pages cannot be discarded: new pages replace them and their lock.
        if self.pager.has_foreign(pages) || !self.pager.discard(pages, false) {
            self.pager.forget(pages);
            self.pager.memory.renew(pages);
        }
    }

    /// Resizes `pages`; moves them if `moves` and the following pages are in use. Added pages, and all moved ones, become
    /// readable and writable: mremap differs only for pages with another protection.
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
