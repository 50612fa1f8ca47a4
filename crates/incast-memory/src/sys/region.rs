//! The memory that is served.

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::with_exposed_provenance_mut;

use libc::{c_int, c_void};
use rustix::fs::{Mode, OFlags, open};

use super::{map, real_madvise, real_mmap};
use crate::desk::{self, PAGE};
use crate::faults;
use crate::heap::Ground;
use crate::pager::Memory;
use crate::space::Extent;

/// The memory that is served: the region, the store behind it, and the file of its faults.
#[derive(Debug)]
pub(crate) struct Region {
    faults: OwnedFd,
    views: Views,
    base: usize,
    store: usize,
    pages: u32,
}

/// What the kernel shows of this process: whether pages are there, and what they hold even if they are closed. Of a process that may
/// not see itself (prctl's `PR_SET_DUMPABLE`, as after a change of user) there is neither.
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

/// What /proc/self/pagemap says of a page that is there, in memory or in the machine's own swap (proc_pid_pagemap(5)).
const THERE: u64 = 0b11 << 62;

impl Region {
    /// A new region, closed to everybody but for its first page.
    pub(crate) fn new(pages: u32) -> Result<Self> {
        let bytes = pages as usize * PAGE;
        let base = map(bytes, libc::PROT_NONE)?;
        let store = map(bytes, libc::PROT_READ | libc::PROT_WRITE)?;
        let mut region = Self { faults: open_faults()?, views: Views::open(), base, store, pages };
        region.advise_store(Extent::new(0, pages), libc::MADV_NOHUGEPAGE);
        region.settle(Extent::new(0, pages));
        region.register(Extent::new(0, pages))?;
        region.protect(Extent::new(desk::BELL, 1), libc::PROT_READ as u32);
        Ok(region)
    }

    /// After a fork: serves the pages that were inherited.
    pub(crate) fn connect(&mut self) -> Result<()> {
        // The files that were inherited are not: their numbers are other files' here.
        std::mem::forget(std::mem::replace(&mut self.faults, open_faults()?));
        std::mem::forget(std::mem::replace(&mut self.views, Views::open()));
        self.register(Extent::new(0, self.pages))
    }

    /// The file of its page faults.
    pub(crate) const fn faults(&self) -> &OwnedFd {
        &self.faults
    }

    pub(crate) const fn base(&self) -> usize {
        self.base
    }

    fn register(&self, pages: Extent) -> Result<()> {
        let mut argument = [self.address(pages), bytes(pages), faults::MISSING_AND_GUARDED, 0];
        self.call(faults::REGISTER, &mut argument)
    }

    /// What is said once of pages that were just mapped: single pages of 4 KiB, and none for processes that are forked unless
    /// they have a handler (see [`fork_with_region`]).
    fn settle(&self, pages: Extent) {
        for advice in [libc::MADV_NOHUGEPAGE, libc::MADV_DONTFORK] {
            self.advise(pages, advice);
        }
    }

    /// Advice on pages of the region that drops nothing but what the program has given up or the store has.
    fn advise(&self, pages: Extent, advice: c_int) -> bool {
        // SAFETY: the pages are the region's, to which nothing in Rust refers, and are given up if at all as said above.
        unsafe { real_madvise(self.pointer(pages), bytes(pages) as usize, advice) == 0 }
    }

    /// Advice on pages of the store; of what it drops nothing is needed.
    fn advise_store(&mut self, pages: Extent, advice: c_int) {
        // SAFETY: the pages are the store's, to which nothing refers as this has the region for itself.
        unsafe { real_madvise(self.copy(pages), bytes(pages) as usize, advice) };
    }

    /// Does what maps a page and wakes who waits; whether it is there then. If it is not, whoever waits is awake, and sees that.
    fn bring<const N: usize>(&self, number: u64, mut argument: [u64; N], page: u32) -> bool {
        let Err(error) = self.call(number, &mut argument) else { return true };
        let _ = self.call(faults::WAKE, &mut [self.address(Extent::new(page, 1)), PAGE as u64]);
        error.raw_os_error() == Some(libc::EEXIST)
    }

    fn call<const N: usize>(&self, number: u64, argument: &mut [u64; N]) -> Result<()> {
        loop {
            // SAFETY: `argument` is as long as `number` says. What changes is pages of the region, whose content nothing in Rust
            // ever refers to.
            let failed = unsafe { libc::ioctl(self.faults.as_raw_fd(), number, argument.as_mut_ptr()) } != 0;
            match Error::last_os_error() {
                _ if !failed => return Ok(()),
                // The program's map of memory was being changed.
                error if error.raw_os_error() == Some(libc::EAGAIN) => {}
                error => return Err(error),
            }
        }
    }

    const fn address(&self, pages: Extent) -> u64 {
        (self.base + pages.first as usize * PAGE) as u64
    }

    fn pointer(&self, pages: Extent) -> *mut c_void {
        with_exposed_provenance_mut(self.base + pages.first as usize * PAGE)
    }

    fn copy(&self, pages: Extent) -> *mut c_void {
        with_exposed_provenance_mut(self.store + pages.first as usize * PAGE)
    }

    /// The copy of a page. Only `save`, `forget` and `carry` change it, and these have `&mut self`.
    fn copied(&self, page: u32) -> &[u64; PAGE / 8] {
        // SAFETY: the store is mapped, and aligned to pages.
        unsafe { &*self.copy(Extent::new(page, 1)).cast() }
    }
}

/// How many bytes pages have.
const fn bytes(pages: Extent) -> u64 {
    pages.count as u64 * PAGE as u64
}

/// The file of a process's page faults: by the device if that may be opened, or else by the system call.
fn open_faults() -> Result<OwnedFd> {
    let device = rustix::fs::open(c"/dev/userfaultfd", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    let flags = libc::O_CLOEXEC | libc::O_NONBLOCK;
    let number = match &device {
        // SAFETY: it takes flags, and gives a new file.
        Ok(device) => unsafe { libc::ioctl(device.as_raw_fd(), faults::NEW, flags) },
        // SAFETY: the same.
        Err(_) => unsafe { libc::syscall(libc::SYS_userfaultfd, flags) as c_int },
    };
    if number < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: it is new, so nobody else's.
    let file = unsafe { OwnedFd::from_raw_fd(number) };
    let mut argument = [faults::VERSION, faults::FEATURES, 0];
    // SAFETY: the argument is as long as the number says.
    match unsafe { libc::ioctl(number, faults::API, argument.as_mut_ptr()) } {
        0 => Ok(file),
        _ => Err(Error::last_os_error()),
    }
}

impl Memory for Region {
    fn zero(&mut self, page: u32, write: bool) -> bool {
        let to = self.address(Extent::new(page, 1));
        if write {
            // A page of its own now: the one that all share would have to be copied, and other cores told.
            let empty = self.copy(Extent::new(desk::BELL, 1)).addr() as u64;
            self.bring(faults::COPY, [to, empty, PAGE as u64, 0, 0], page)
        } else {
            self.bring(faults::ZEROPAGE, [to, PAGE as u64, 0, 0], page)
        }
    }

    fn fill(&mut self, page: u32, guard: bool) -> bool {
        let (to, from) = (self.address(Extent::new(page, 1)), self.copy(Extent::new(page, 1)).addr() as u64);
        let mode = if guard { faults::GUARDED } else { 0 };
        self.bring(faults::COPY, [to, from, PAGE as u64, mode, 0], page)
    }

    fn guard(&mut self, pages: Extent) -> bool {
        self.call(faults::WRITEPROTECT, &mut [self.address(pages), bytes(pages), 1]).is_ok()
    }

    fn unguard(&mut self, page: u32) {
        self.bring(faults::WRITEPROTECT, [self.address(Extent::new(page, 1)), PAGE as u64, 0], page);
    }

    fn is_there(&self, pages: Extent) -> bool {
        // Of so many pages at a time.
        const SEEN: usize = 64;
        let Some(pagemap) = &self.views.pagemap else { return true };
        pages.pages().step_by(SEEN).all(|first| {
            let count = SEEN.min((pages.end() - first) as usize);
            let mut entries = [[0; 8]; SEEN];
            let at = self.address(Extent::new(first, 1)) / PAGE as u64 * 8;
            let read = rustix::io::pread(pagemap, entries[..count].as_flattened_mut(), at);
            // What cannot be seen is left to what follows.
            read != Ok(count * 8) || entries[..count].iter().all(|entry| u64::from_ne_bytes(*entry) & THERE != 0)
        })
    }

    fn save(&mut self, pages: Extent) -> bool {
        let vector = |base| libc::iovec { iov_base: base, iov_len: bytes(pages) as usize };
        let (from, to) = (vector(self.pointer(pages)), vector(self.copy(pages)));
        // SAFETY: it writes to the copies only, to which nothing refers now; what cannot be read is an error.
        let read = unsafe { libc::process_vm_readv(libc::getpid(), &raw const to, 1, &raw const from, 1, 0) };
        if read == bytes(pages) as isize {
            return true;
        }
        // Pages that the program has closed (PROT_NONE), and may open again.
        let Some(memory) = &self.views.memory else { return false };
        // SAFETY: nothing refers to these pages of the store, as this has the region for itself.
        let to = unsafe { std::slice::from_raw_parts_mut(self.copy(pages).cast::<u8>(), bytes(pages) as usize) };
        rustix::io::pread(memory, &mut *to, self.address(pages)) == Ok(to.len())
    }

    fn is_empty(&self, page: u32) -> bool {
        self.copied(page).iter().all(|word| *word == 0)
    }

    fn unmap(&mut self, pages: Extent, locked: bool) -> bool {
        // The program's pages are given up when it has given them up itself, or when their content is in the store.
        self.advise(pages, if locked { super::DONTNEED_LOCKED } else { libc::MADV_DONTNEED })
    }

    fn forget(&mut self, pages: Extent) {
        // The store reads as zeros after that.
        self.advise_store(pages, libc::MADV_DONTNEED);
    }

    fn carry(&mut self, from: Extent, to: u32) {
        let to = Extent::new(to, from.count);
        // SAFETY: two ranges of the store, to which nothing refers now.
        unsafe { std::ptr::copy(self.copy(from).cast::<u8>(), self.copy(to).cast::<u8>(), bytes(from) as usize) };
        self.forget(from);
    }

    fn wake(&mut self, page: u32) {
        let _ = self.call(faults::WAKE, &mut [self.address(Extent::new(page, 1)), PAGE as u64]);
    }
}

impl Ground for Region {
    fn protect(&mut self, pages: Extent, protection: u32) -> bool {
        // SAFETY: the program asked for it, or has given the pages back.
        unsafe { libc::mprotect(self.pointer(pages), bytes(pages) as usize, protection as c_int) == 0 }
    }

    fn close(&mut self, pages: Extent) {
        // SAFETY: the program has given them back. They may be locked, and would stay then.
        unsafe { libc::munlock(self.pointer(pages), bytes(pages) as usize) };
        self.protect(pages, libc::PROT_NONE as u32);
    }

    fn renew(&mut self, pages: Extent) {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
        // SAFETY: what is there belongs to the region, and the program has given it up.
        unsafe { real_mmap(self.pointer(pages), bytes(pages) as usize, libc::PROT_NONE, flags, -1, 0) };
        self.settle(pages);
        self.register(pages).expect("what was registered before can be again");
    }
}
