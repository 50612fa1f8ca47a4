//! Memory calls of a program: served ones become a [`Call`]; `None`: left to the C library or the kernel. Obligations and
//! results are in the manual pages.

use std::sync::atomic::{AtomicBool, Ordering};

use libc::c_int;

use crate::desk::{self, Call};
use crate::region::DONTNEED_LOCKED;
use crate::space::PAGE;
use crate::sys;

/// Unserved mappings: at a given address, or not in swappable 4 KiB pages.
#[cfg(target_arch = "x86_64")]
const OTHER: c_int = EVERYWHERE | libc::MAP_32BIT;
#[cfg(not(target_arch = "x86_64"))]
const OTHER: c_int = EVERYWHERE;
const EVERYWHERE: c_int = libc::MAP_FIXED
    | libc::MAP_FIXED_NOREPLACE
    | libc::MAP_STACK
    | libc::MAP_GROWSDOWN
    | libc::MAP_HUGETLB
    | libc::MAP_LOCKED;

/// madvise(2): forked processes get zeros.
const WIPEONFORK: c_int = 18;

/// Result of a C function, or an error number.
pub(crate) type Answer = Result<usize, c_int>;

pub(crate) fn has(address: usize) -> bool {
    desk::has(address)
}

/// Allocates at a multiple of `align`, zeroed if `empty`.
pub(crate) fn allocate(bytes: usize, align: usize, empty: bool) -> Option<usize> {
    if !desk::serves(bytes) {
        return None;
    }
    let align = align.div_ceil(PAGE).max(1) as u32;
    let again = if empty || align > 1 { None } else { desk::count(bytes).and_then(desk::unshelve) };
    again.map(desk::address).or_else(|| wanted(bytes, |count| Call::Allocate { count, align }))
}

/// posix_memalign; `None`: errors are the C library's.
pub(crate) fn aligned(bytes: usize, align: usize) -> Option<usize> {
    let is_possible = align.is_power_of_two() && align.is_multiple_of(size_of::<usize>());
    if is_possible { allocate(bytes, align, false) } else { None }
}

pub(crate) fn freed(address: usize) -> Option<usize> {
    has(address).then(|| {
        free(address);
        0
    })
}

pub(crate) fn free(address: usize) {
    if let Some(first) = desk::shelve(desk::page(address)) {
        desk::ask(Call::Free { first });
    }
}

pub(crate) fn resize(address: usize, bytes: usize) -> Option<usize> {
    let first = desk::page(address);
    wanted(bytes, |count| Call::Resize { first, count })
}

pub(crate) fn size(address: usize) -> usize {
    desk::size(desk::page(address)) as usize * PAGE
}

/// mmap(2).
pub(crate) fn map(address: usize, bytes: usize, protection: c_int, flags: c_int) -> Option<Answer> {
    let ours = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let is_ours = flags & (ours | libc::MAP_SHARED) == ours && protection & libc::PROT_EXEC == 0;
    if flags & libc::MAP_FIXED != 0 && desk::has(address) {
        let Some(pages) = desk::extent(address, bytes).filter(|_| address.is_multiple_of(PAGE)) else {
            return Some(Err(libc::EINVAL));
        };
        if is_ours && flags & OTHER == libc::MAP_FIXED {
            let mapped = desk::ask(Call::MapAt { pages, protection: protection as u32 });
            return Some(mapped.map(|_| address).ok_or(libc::ENOMEM));
        }
        return None;
    }
    if !is_ours || flags & OTHER != 0 || !desk::serves(bytes) {
        return None;
    }
    wanted(bytes, |count| Call::Map { count, protection: protection as u32 }).map(Ok)
}

/// Gives up pages that a new mapping by the kernel has replaced.
pub(crate) fn mapped(address: usize, bytes: usize) {
    if let Some(pages) = desk::has(address).then(|| desk::extent(address, bytes)).flatten() {
        desk::ask(Call::HandOver { pages });
    }
}

/// munmap(2).
pub(crate) fn unmap(address: usize, bytes: usize) -> Option<Answer> {
    let pages = range(address, bytes)?;
    Some(pages.map(|pages| {
        desk::ask(Call::Unmap { pages });
        0
    }))
}

/// mremap(2).
pub(crate) fn remap(address: usize, bytes: usize, new_bytes: usize, flags: c_int) -> Option<Answer> {
    let pages = range(address, bytes)?;
    Some(pages.and_then(|pages| {
        // MREMAP_FIXED and MREMAP_DONTUNMAP are not served: mremap may fail.
        if flags & !libc::MREMAP_MAYMOVE != 0 || new_bytes == 0 {
            return Err(libc::EINVAL);
        }
        let moves = flags & libc::MREMAP_MAYMOVE != 0;
        match desk::count(new_bytes).and_then(|count| desk::ask(Call::Remap { pages, count, moves })) {
            Some(first) => Ok(desk::address(first)),
            None if moves => move_out(address, bytes, new_bytes),
            None => Err(libc::ENOMEM),
        }
    }))
}

/// Moves pages out of the region, which lacks space or cannot move some.
fn move_out(address: usize, bytes: usize, new_bytes: usize) -> Answer {
    let new = sys::copied(address, bytes.min(new_bytes), new_bytes).map_err(|_| libc::ENOMEM)?;
    desk::unserved(new_bytes);
    unmap(address, bytes).unwrap_or(Ok(0)).map(|_| new)
}

/// madvise(2).
pub(crate) fn advise(address: usize, bytes: usize, advice: c_int) -> Option<Answer> {
    let pages = range(address, bytes)?;
    match advice {
        libc::MADV_DONTNEED | libc::MADV_FREE | DONTNEED_LOCKED => Some(pages.and_then(|pages| {
            let locked = advice == DONTNEED_LOCKED;
            desk::ask(Call::Discard { pages, locked }).map(|_| 0).ok_or(libc::EINVAL)
        })),
        // A forked process would have zeros that its handler does not expect. Linux before 4.14 also refuses this.
        WIPEONFORK => Some(Err(libc::EINVAL)),
        // No effect: pages are single, the policy ours.
        libc::MADV_HUGEPAGE
        | libc::MADV_NOHUGEPAGE
        | libc::MADV_MERGEABLE
        | libc::MADV_UNMERGEABLE
        | libc::MADV_COLD
        | libc::MADV_PAGEOUT => Some(pages.map(|_| 0)),
        _ => None,
    }
}

/// Pages of a range; `None` outside the region, an error if not a range of its pages.
fn range(address: usize, bytes: usize) -> Option<Result<crate::space::Extent, c_int>> {
    desk::has(address).then(|| {
        let pages = desk::extent(address, bytes).filter(|pages| address.is_multiple_of(PAGE) && pages.count > 0);
        pages.ok_or(libc::EINVAL)
    })
}

/// Requests `bytes`; counts them if the region lacks them.
fn wanted(bytes: usize, call: impl FnOnce(u32) -> Call) -> Option<usize> {
    let first = desk::count(bytes).and_then(|count| desk::ask(call(count)));
    if first.is_none() {
        desk::unserved(bytes);
    }
    first.map(desk::address)
}

/// Refused call (it would fail silently): reports the reason once on standard error.
#[derive(Debug)]
pub(crate) struct Refusal {
    why: &'static str,
    error: c_int,
    reported: AtomicBool,
}

impl Refusal {
    const fn new(why: &'static str, error: c_int) -> Self {
        Self { why, error, reported: AtomicBool::new(false) }
    }

    pub(crate) fn tell(&self) -> c_int {
        if !self.reported.swap(true, Ordering::Relaxed) {
            let _ = rustix::io::write(rustix::stdio::stderr(), self.why.as_bytes());
        }
        self.error
    }
}

/// Only fork makes served processes with their own memory.
static CLONE: Refusal = Refusal::new(
    "incast: this program makes a process by clone without CLONE_VM, which would not see its remote memory; fork is served. clone \
fails with ENOSYS.\n",
    libc::ENOSYS,
);
/// A device would write into pages evicted meanwhile, or owned by others. File systems without `O_DIRECT` return this error
/// too.
static DIRECT: Refusal = Refusal::new(
    "incast: this program asks for O_DIRECT, by which devices write past the page table into memory that may be sent away \
meanwhile: that fails with EINVAL, as on a file system without it.\n",
    libc::EINVAL,
);
/// All remote memory and the store would be local.
static LOCKS: Refusal = Refusal::new(
    "incast: this program locks all its memory (mlockall), of which a part is to be remote: that fails with EPERM, as for a user \
who may not. mlock of a part is served.\n",
    libc::EPERM,
);

pub(crate) fn clones(flags: c_int) -> Option<&'static Refusal> {
    (flags & libc::CLONE_VM == 0 && desk::serves(usize::MAX)).then_some(&CLONE)
}

pub(crate) fn locks_all() -> Option<&'static Refusal> {
    desk::serves(usize::MAX).then_some(&LOCKS)
}

pub(crate) fn opens(flags: c_int) -> Option<&'static Refusal> {
    (flags & libc::O_DIRECT != 0 && desk::serves(usize::MAX)).then_some(&DIRECT)
}

/// Refuses to set O_DIRECT, except if already set: for a pipe it means packets.
pub(crate) fn controls(command: c_int, argument: usize, flags: impl FnOnce() -> c_int) -> Option<&'static Refusal> {
    if command == libc::F_SETFL { opens(argument as c_int).filter(|_| flags() & libc::O_DIRECT == 0) } else { None }
}
