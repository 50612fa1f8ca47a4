//! Everything unsafe, and nothing else: the memory that is served in [`region`], the functions of the C library that programs get from
//! here in `hooks`, and what both need. In three files, as each is about another interface: userfaultfd, the C library, the process.
//!
//! What holds throughout: addresses of pages are made from page numbers below the number of the region's pages, so that no call here
//! touches memory that is not the region, its store or its tables; these are mapped once and never unmapped. Only the handler's
//! thread has the [`Region`].

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::{null_mut, with_exposed_provenance_mut};
use std::sync::atomic::{AtomicU32, AtomicU64};

use libc::{c_int, c_void};

use crate::desk::PAGE;
use crate::list::Link;
use crate::space::Extent;

#[cfg(not(test))]
mod hooks;
mod region;

pub(crate) use region::Region;

/// madvise(2): empties locked memory, too.
pub(crate) const DONTNEED_LOCKED: c_int = 24;

/// Types that may be all zeros.
pub(crate) trait Plain: 'static {}
impl Plain for u8 {}
impl Plain for AtomicU32 {}
impl Plain for Link {}
impl Plain for Extent {}

/// New private memory of zeros. What of it is never touched costs nothing.
fn map(bytes: usize, protection: c_int) -> Result<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping at a place of the kernel's choice touches nothing that exists.
    let address = unsafe { real_mmap(null_mut(), bytes, protection, flags, -1, 0) };
    if address == libc::MAP_FAILED { Err(Error::last_os_error()) } else { Ok(address.expose_provenance()) }
}

/// A table of zeros that stays for ever.
pub(crate) fn table<T: Plain>(len: usize) -> Result<&'static mut [T]> {
    let address = map(len * size_of::<T>(), libc::PROT_READ | libc::PROT_WRITE)?;
    // SAFETY: a new mapping of that size, which begins at a page, is never unmapped, and zeros are a `T` as `Plain` says.
    Ok(unsafe { std::slice::from_raw_parts_mut(with_exposed_provenance_mut(address), len) })
}

/// Maps a file of so many words that others map too.
pub(crate) fn share(file: &OwnedFd, words: usize) -> Result<&'static [AtomicU64]> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at a place of the kernel's choice touches nothing that exists.
    let address = unsafe { real_mmap(null_mut(), words * 8, protection, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    if address == libc::MAP_FAILED {
        return Err(Error::last_os_error());
    }
    // SAFETY: the mapping has that size, is never unmapped, and whoever else has it uses it by whole words as well.
    Ok(unsafe { std::slice::from_raw_parts(address.cast::<AtomicU64>(), words) })
}

/// Faults at a page that the handler answers as a call.
pub(crate) fn ring(address: usize) {
    let bell = with_exposed_provenance_mut::<c_void>(address);
    // SAFETY: the page holds nothing. It is the region's first, which is readable.
    unsafe {
        real_madvise(bell, PAGE, libc::MADV_DONTNEED);
        bell.cast::<u8>().read_volatile();
    }
}

/// Whether processes that are forked inherit the region: only such as have a handler. Without one they would read zeros where pages are
/// remote; so they fault.
pub(crate) fn fork_with_region(base: usize, bytes: usize, inherit: bool) {
    let advice = if inherit { libc::MADV_DOFORK } else { libc::MADV_DONTFORK };
    // SAFETY: it changes nothing that this process has.
    unsafe { real_madvise(with_exposed_provenance_mut(base), bytes, advice) };
}

/// Starts a thread that gets no signals, with nothing but the C library: in a process that was just forked the program's allocator may
/// be locked, and a thread of Rust's would need it. The C library takes the stack of the handler that the process does not have any
/// more, and allocates nothing.
pub(crate) fn spawn<F: FnOnce() + Send + 'static>(run: F) -> Result<()> {
    extern "C" fn begin<F: FnOnce()>(run: *mut c_void) -> *mut c_void {
        // SAFETY: what `spawn` made of a box, for this thread alone.
        let run = unsafe { Box::from_raw(run.cast::<F>()) };
        run();
        null_mut()
    }
    let run = Box::into_raw(Box::new(run));
    // SAFETY: sets of signals and attributes may be all zeros until they are initialised, and are this function's own. The thread has
    // `run`; if there is none, this function has it still.
    let error = unsafe {
        let (mut all, mut before, mut attributes) = (std::mem::zeroed(), std::mem::zeroed(), std::mem::zeroed());
        let mut thread = 0;
        libc::sigfillset(&raw mut all);
        libc::pthread_attr_init(&raw mut attributes);
        libc::pthread_attr_setstacksize(&raw mut attributes, 1 << 18);
        libc::pthread_attr_setdetachstate(&raw mut attributes, libc::PTHREAD_CREATE_DETACHED);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let error = libc::pthread_create(&raw mut thread, &raw const attributes, begin::<F>, run.cast());
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, null_mut());
        libc::pthread_attr_destroy(&raw mut attributes);
        error
    };
    if error == 0 {
        return Ok(());
    }
    // SAFETY: no thread has it.
    drop(unsafe { Box::from_raw(run) });
    Err(Error::from_raw_os_error(error))
}

/// Gives this thread files of its own, none: what it opens is not the program's, and what the program closes not its.
pub(crate) fn leave_files() -> Result<()> {
    // CLOSE_RANGE_UNSHARE
    const UNSHARE: u32 = 2;
    // SAFETY: this thread has no files that it uses, and other threads keep theirs.
    match unsafe { libc::syscall(libc::SYS_close_range, 0_u32, u32::MAX, UNSHARE) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// Ends the process now.
pub(crate) fn exit(code: c_int) -> ! {
    // SAFETY: it runs nothing of the program's.
    unsafe { libc::_exit(code) }
}

/// mmap as the kernel has it.
unsafe fn real_mmap(
    address: *mut c_void,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: the caller's.
    unsafe {
        with_exposed_provenance_mut(
            libc::syscall(libc::SYS_mmap, address, bytes, protection, flags, file, offset) as usize
        )
    }
}

/// madvise as the kernel has it.
unsafe fn real_madvise(address: *mut c_void, bytes: usize, advice: c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe { libc::syscall(libc::SYS_madvise, address, bytes, advice) as c_int }
}
