//! What a program's calls for memory mean: those that are served become a [`Call`], the others are left to the C library.
//!
//! Addresses are plain numbers here; what the C library promises of each function is what its manual page says.

use std::sync::atomic::{AtomicBool, Ordering};

use libc::c_int;

use crate::desk::{self, PAGE};
use crate::heap::Call;
use crate::region::DONTNEED_LOCKED;
use crate::sys;

/// Mappings that are not served: at a place that the caller names, or of another kind than pages of 4 KiB that may be swapped.
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

/// madvise(2): a process that is forked gets memory of zeros.
const WIPEONFORK: c_int = 18;

/// A call's result: what the C function gives, or the number of an error.
pub(crate) type Answer = Result<usize, c_int>;

/// Whether an address is of the region.
pub(crate) fn has(address: usize) -> bool {
    desk::has(address)
}

/// Memory of so many bytes at a multiple of `align`, of zeros if `empty`; `None` if the C library has to give it.
pub(crate) fn allocate(bytes: usize, align: usize, empty: bool) -> Option<usize> {
    if !desk::serves(bytes) {
        return None;
    }
    let align = align.div_ceil(PAGE).max(1) as u32;
    let again = if empty || align > 1 { None } else { desk::count(bytes).and_then(desk::unshelve) };
    again.map(desk::address).or_else(|| wanted(bytes, |count| Call::Allocate { count, align }))
}

/// Memory that begins at such a multiple as posix_memalign takes; `None` if the C library has to give it, or an error.
pub(crate) fn aligned(bytes: usize, align: usize) -> Option<usize> {
    let is_possible = align.is_power_of_two() && align.is_multiple_of(size_of::<usize>());
    if is_possible { allocate(bytes, align, false) } else { None }
}

/// Gives an allocation back if it is of the region; `None` if it is not.
pub(crate) fn freed(address: usize) -> Option<usize> {
    has(address).then(|| {
        free(address);
        0
    })
}

/// Gives an allocation of the region back.
pub(crate) fn free(address: usize) {
    if let Some(first) = desk::shelve(desk::page(address)) {
        desk::ask(Call::Free { first });
    }
}

/// Gives an allocation of the region another size; `None` if there is no memory.
pub(crate) fn resize(address: usize, bytes: usize) -> Option<usize> {
    let first = desk::page(address);
    wanted(bytes, |count| Call::Resize { first, count })
}

/// How many bytes an allocation of the region has.
pub(crate) fn size(address: usize) -> usize {
    desk::size(desk::page(address)) as usize * PAGE
}

/// mmap; `None` if the kernel is to do it.
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

/// The kernel has mapped something for the program: in place of pages of the region, perhaps. They are not ours then.
pub(crate) fn mapped(address: usize, bytes: usize) {
    if let Some(pages) = desk::has(address).then(|| desk::extent(address, bytes)).flatten() {
        desk::ask(Call::HandOver { pages });
    }
}

/// munmap; `None` if the kernel is to do it.
pub(crate) fn unmap(address: usize, bytes: usize) -> Option<Answer> {
    let pages = range(address, bytes)?;
    Some(pages.map(|pages| {
        desk::ask(Call::Unmap { pages });
        0
    }))
}

/// mremap; `None` if the kernel is to do it.
pub(crate) fn remap(address: usize, bytes: usize, new_bytes: usize, flags: c_int) -> Option<Answer> {
    let pages = range(address, bytes)?;
    Some(pages.and_then(|pages| {
        // To a place that is named, or so that both remain: not served, and nobody is hurt by an error that mremap may give.
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

/// Moves pages of the region to memory that is not served, as the region has no room for them or some cannot be moved.
fn move_out(address: usize, bytes: usize, new_bytes: usize) -> Answer {
    let new = sys::copied(address, bytes.min(new_bytes), new_bytes).map_err(|_| libc::ENOMEM)?;
    desk::unserved(new_bytes);
    unmap(address, bytes).unwrap_or(Ok(0)).map(|_| new)
}

/// madvise; `None` if the kernel is to do it.
pub(crate) fn advise(address: usize, bytes: usize, advice: c_int) -> Option<Answer> {
    let pages = range(address, bytes)?;
    match advice {
        libc::MADV_DONTNEED | libc::MADV_FREE | DONTNEED_LOCKED => Some(pages.and_then(|pages| {
            let locked = advice == DONTNEED_LOCKED;
            desk::ask(Call::Discard { pages, locked }).map(|_| 0).ok_or(libc::EINVAL)
        })),
        // What a process that is forked has of it would be zeros without the handler's knowing: as on a Linux before it had this.
        WIPEONFORK => Some(Err(libc::EINVAL)),
        // Pages are single and the policy is ours, so that these have no effect.
        libc::MADV_HUGEPAGE
        | libc::MADV_NOHUGEPAGE
        | libc::MADV_MERGEABLE
        | libc::MADV_UNMERGEABLE
        | libc::MADV_COLD
        | libc::MADV_PAGEOUT => Some(pages.map(|_| 0)),
        _ => None,
    }
}

/// The pages of a range that begins in the region, `None` if it does not; an error if it is no range of pages.
fn range(address: usize, bytes: usize) -> Option<Result<crate::space::Extent, c_int>> {
    desk::has(address).then(|| {
        let pages = desk::extent(address, bytes).filter(|pages| address.is_multiple_of(PAGE) && pages.count > 0);
        pages.ok_or(libc::EINVAL)
    })
}

/// Asks for so many bytes; notes if there is no room.
fn wanted(bytes: usize, call: impl FnOnce(u32) -> Call) -> Option<usize> {
    let first = desk::count(bytes).and_then(|count| desk::ask(call(count)));
    if first.is_none() {
        desk::unserved(bytes);
    }
    first.map(desk::address)
}

/// Something that is not done as it would go wrong unnoticed: it fails, and standard error says why the first time.
#[derive(Debug)]
pub(crate) struct Refusal {
    why: &'static str,
    error: c_int,
    told: AtomicBool,
}

impl Refusal {
    const fn new(why: &'static str, error: c_int) -> Self {
        Self { why, error, told: AtomicBool::new(false) }
    }

    /// Says why; gives the number of the error.
    pub(crate) fn tell(&self) -> c_int {
        if !self.told.swap(true, Ordering::Relaxed) {
            let _ = rustix::io::write(rustix::stdio::stderr(), self.why.as_bytes());
        }
        self.error
    }
}

/// Processes that have their own memory are made by fork, which this library knows of.
static CLONE: Refusal = Refusal::new(
    "incast: this program makes a process by clone without CLONE_VM, which would not see its remote memory; fork is served. clone \
fails with ENOSYS.\n",
    libc::ENOSYS,
);
/// A device would write into pages that were sent away meanwhile, or are by now another's. File systems without `O_DIRECT` have this
/// error as well.
static DIRECT: Refusal = Refusal::new(
    "incast: this program asks for O_DIRECT, by which devices write past the page table into memory that may be sent away \
meanwhile: that fails with EINVAL, as on a file system without it.\n",
    libc::EINVAL,
);
/// It would make all remote memory local, the store with it.
static LOCKS: Refusal = Refusal::new(
    "incast: this program locks all its memory (mlockall), of which a part is to be remote: that fails with EPERM, as for a user \
who may not. mlock of a part is served.\n",
    libc::EPERM,
);

/// clone(2): why it fails, if it does.
pub(crate) fn clones(flags: c_int) -> Option<&'static Refusal> {
    (flags & libc::CLONE_VM == 0 && desk::serves(usize::MAX)).then_some(&CLONE)
}

/// mlockall(2): why it fails, if it does.
pub(crate) fn locks_all() -> Option<&'static Refusal> {
    desk::serves(usize::MAX).then_some(&LOCKS)
}

/// open(2): why it fails, if it does.
pub(crate) fn opens(flags: c_int) -> Option<&'static Refusal> {
    (flags & libc::O_DIRECT != 0 && desk::serves(usize::MAX)).then_some(&DIRECT)
}

/// fcntl(2): why it fails, if it does. A file that has the flag already keeps it: as a pipe it means something else, packets.
pub(crate) fn controls(command: c_int, argument: usize, flags: impl FnOnce() -> c_int) -> Option<&'static Refusal> {
    if command == libc::F_SETFL { opens(argument as c_int).filter(|_| flags() & libc::O_DIRECT == 0) } else { None }
}
