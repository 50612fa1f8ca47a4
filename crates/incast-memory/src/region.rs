//! Served memory (the region), and its store, which represents the other host.

use std::io::Result;
use std::ops::Range;
use std::os::fd::OwnedFd;

use libc::c_int;
use rustix::fs::{Mode, OFlags, open};

use crate::desk;
use crate::faults;
use crate::heap::Ground;
use crate::pager::Memory;
use crate::space::{Extent, PAGE};
use crate::sys::{self, Served};

/// madvise(2): also empties locked memory.
pub(crate) const DONTNEED_LOCKED: c_int = 24;

#[derive(Debug)]
pub(crate) struct Region {
    served: Served,
    views: Views,
    store: &'static mut [u8],
}

/// Views in /proc: mapped pages, and content even without access. None without permission for self-inspection (prctl's
/// `PR_SET_DUMPABLE`, as after a change of user).
#[derive(Debug)]
struct Views {
    pagemap: Option<OwnedFd>,
    memory: Option<OwnedFd>,
}

impl Views {
    fn open() -> Self {
        let view = |path| open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok();
        Self { pagemap: view(c"/proc/self/pagemap"), memory: view(c"/proc/self/mem") }
    }
}

/// Bits in /proc/self/pagemap: page in memory or in swap (proc_pid_pagemap(5)).
const THERE: u64 = 0b11 << 62;

impl Region {
    /// Makes a region without access; only its first page is readable.
    pub(crate) fn new(pages: u32) -> Result<Self> {
        let served = Served::new(pages)?;
        let store = sys::table(pages as usize * PAGE)?;
        sys::keep_single(store);
        let region = Self { served, views: Views::open(), store };
        region.settle(Extent::new(0, pages));
        region.register(Extent::new(0, pages))?;
        region.served.protect(Extent::new(desk::BELL, 1), libc::PROT_READ);
        Ok(region)
    }

    pub(crate) fn connect(&mut self) -> Result<()> {
        self.served.connect()?;
        // Not closed: the old numbers belong to other files here.
        std::mem::forget(std::mem::replace(&mut self.views, Views::open()));
        self.register(Extent::new(0, self.served.pages()))
    }

    pub(crate) const fn faults(&self) -> &OwnedFd {
        self.served.faults()
    }

    pub(crate) fn base(&self) -> usize {
        self.served.place(Extent::default())[0]
    }

    fn register(&self, pages: Extent) -> Result<()> {
        self.served.call(faults::REGISTER, pages, faults::MISSING_AND_GUARDED)
    }

    /// Advice for new pages: single 4 KiB pages, not inherited without a handler (see [`sys::inherit`]).
    fn settle(&self, pages: Extent) {
        for advice in [libc::MADV_NOHUGEPAGE, libc::MADV_DONTFORK] {
            self.served.advise(pages, advice);
        }
    }

    /// Returns whether a map or unguard call left a page mapped. An error wakes waiting threads, which retry.
    fn brought(&self, page: u32, done: Result<()>) -> bool {
        let Err(error) = done else { return true };
        let _ = self.served.call(faults::WAKE, Extent::new(page, 1), 0);
        error.raw_os_error() == Some(libc::EEXIST)
    }

    fn copied(&self, page: u32) -> &[u8] {
        &self.store[copies(Extent::new(page, 1))]
    }
}

const fn copies(pages: Extent) -> Range<usize> {
    pages.first as usize * PAGE..(pages.first as usize + pages.count as usize) * PAGE
}

impl Memory for Region {
    fn zero(&mut self, page: u32, write: bool) -> bool {
        self.brought(
            page,
            if write {
                // Not the shared zero page: it would need a copy, and a notice to other cores.
                self.served.copy(page, self.copied(desk::BELL), 0)
            } else {
                self.served.call(faults::ZEROPAGE, Extent::new(page, 1), 0)
            },
        )
    }

    fn fill(&mut self, page: u32, guard: bool) -> bool {
        let mode = faults::SILENT | if guard { faults::GUARDED } else { 0 };
        self.brought(page, self.served.copy(page, self.copied(page), mode))
    }

    fn guard(&mut self, pages: Extent) -> bool {
        self.served.call(faults::WRITEPROTECT, pages, 1).is_ok()
    }

    fn unguard(&mut self, page: u32) {
        self.brought(page, self.served.call(faults::WRITEPROTECT, Extent::new(page, 1), 0));
    }

    fn is_there(&self, pages: Extent) -> bool {
        const SEEN: usize = 64;
        let Some(pagemap) = &self.views.pagemap else { return true };
        pages.pages().step_by(SEEN).all(|first| {
            let count = SEEN.min((pages.end() - first) as usize);
            let mut entries = [[0; 8]; SEEN];
            let [address, _] = self.served.place(Extent::new(first, count as u32));
            let read = rustix::io::pread(pagemap, entries[..count].as_flattened_mut(), (address / PAGE * 8) as u64);
            // Unreadable entries count as mapped.
            read != Ok(count * 8) || entries[..count].iter().all(|entry| u64::from_ne_bytes(*entry) & THERE != 0)
        })
    }

    fn save(&mut self, pages: Extent) -> bool {
        let [address, bytes] = self.served.place(pages);
        let to = &mut self.store[copies(pages)];
        if sys::read(address, to) == bytes {
            return true;
        }
        // /proc/self/mem also shows pages without access (PROT_NONE), which the program may open again.
        let Some(memory) = &self.views.memory else { return false };
        rustix::io::pread(memory, to, address as u64) == Ok(bytes)
    }

    fn is_empty(&self, page: u32) -> bool {
        self.copied(page).as_chunks::<8>().0.iter().all(|word| u64::from_ne_bytes(*word) == 0)
    }

    fn unmap(&mut self, pages: Extent, locked: bool) -> bool {
        // The program gave up these pages, or the store has their content.
        self.served.advise(pages, if locked { DONTNEED_LOCKED } else { libc::MADV_DONTNEED })
    }

    fn forget(&mut self, pages: Extent) {
        sys::empty(&mut self.store[copies(pages)]);
    }

    fn carry(&mut self, from: Extent, to: u32) {
        self.store.copy_within(copies(from), copies(Extent::new(to, 0)).start);
        self.forget(from);
    }

    fn wake(&mut self, page: u32) {
        let _ = self.served.call(faults::WAKE, Extent::new(page, 1), 0);
    }
}

impl Ground for Region {
    fn protect(&mut self, pages: Extent, protection: u32) -> bool {
        self.served.protect(pages, protection as c_int)
    }

    fn close(&mut self, pages: Extent) {
        // Otherwise a lock would remain.
        self.served.unlock(pages);
        self.served.protect(pages, libc::PROT_NONE);
    }

    fn renew(&mut self, pages: Extent) {
        self.served.renew(pages);
        self.settle(pages);
        self.register(pages).expect("what was registered before can be again");
    }
}

#[cfg(test)]
#[path = "region_tests.rs"]
mod tests;
