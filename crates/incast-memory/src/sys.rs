//! All unsafe code except [`crate::hooks`], in small items that safe code uses. Safety rests on two facts:
//!
//! - **Pages of the program** ([`Served`]) are used by address: no Rust reference points to their content. Ranges are checked
//!   against the region.
//! - **Memory of this library** ([`table`], [`share`]) is mapped once, is nobody else's, and is never unmapped while
//!   referenced.
//!
//! "The caller's" is an obligation of the caller in the manual page. The C functions of [`crate::hooks`] are never called here:
//! [`kernel`] makes the system call.

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{null_mut, with_exposed_provenance, with_exposed_provenance_mut};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use libc::{c_int, c_long, c_void, iovec};
use rustix::fs::{Mode, OFlags, open};

use crate::faults;
use crate::list::Link;
use crate::space::{Extent, PAGE};

/// System call without the C library's wrapper; `usize::MAX` on failure.
///
/// # Safety
///
/// As in the call's manual page.
unsafe fn kernel(number: c_long, [a, b, c, d, e, f]: [usize; 6]) -> usize {
    // SAFETY: the caller's.
    unsafe { libc::syscall(number, a, b, c, d, e, f) as usize }
}

// Memory of this library.

/// Types of which any bytes, zeros included, are a value.
///
/// # Safety
///
/// As stated.
pub(crate) unsafe trait Plain: 'static {}
// SAFETY: integers.
unsafe impl Plain for u8 {}
// SAFETY: an integer.
unsafe impl Plain for AtomicU32 {}
// SAFETY: two integers.
unsafe impl Plain for Link {}
// SAFETY: two integers.
unsafe impl Plain for Extent {}

fn map(bytes: usize, protection: c_int, file: Option<&OwnedFd>) -> Result<usize> {
    let private = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let (flags, file) = file.map_or((private, -1), |file| (libc::MAP_SHARED, file.as_raw_fd()));
    // SAFETY: a new mapping at an address that the kernel chooses touches nothing that exists.
    match unsafe { kernel(libc::SYS_mmap, [0, bytes, protection as usize, flags as usize, file as usize, 0]) } {
        usize::MAX => Err(Error::last_os_error()),
        address => Ok(address),
    }
}

/// Makes a table of zeros. Untouched parts cost nothing.
pub(crate) fn table<T: Plain>(len: usize) -> Result<&'static mut [T]> {
    let address = map(len * size_of::<T>(), libc::PROT_READ | libc::PROT_WRITE, None)?;
    // SAFETY: a new, page-aligned mapping of that size; zeros are values (`Plain`).
    Ok(unsafe { std::slice::from_raw_parts_mut(with_exposed_provenance_mut(address), len) })
}

pub(crate) fn share(file: &OwnedFd, words: usize) -> Result<&'static [AtomicU64]> {
    let address = map(words * 8, libc::PROT_READ | libc::PROT_WRITE, Some(file))?;
    // SAFETY: the mapping has that size and is never unmapped; others also use it by whole words.
    Ok(unsafe { std::slice::from_raw_parts(with_exposed_provenance(address), words) })
}

/// Zeroes whole pages of a table; frees their memory.
pub(crate) fn empty(pages: &mut [u8]) {
    advise_own(pages, libc::MADV_DONTNEED);
}

/// Prevents huge pages.
pub(crate) fn keep_single(pages: &mut [u8]) {
    advise_own(pages, libc::MADV_NOHUGEPAGE);
}

fn advise_own(pages: &mut [u8], advice: c_int) {
    let [address, bytes] = [pages.as_ptr().addr(), pages.len()];
    assert!(address.is_multiple_of(PAGE) && bytes.is_multiple_of(PAGE), "no whole pages");
    // SAFETY: whole pages, the caller's alone; any bytes are valid afterwards.
    unsafe { kernel(libc::SYS_madvise, [address, bytes, advice as usize, 0, 0, 0]) };
}

/// Reads memory that others may write or unmap meanwhile; returns the bytes read, 0 if none.
pub(crate) fn read(address: usize, into: &mut [u8]) -> usize {
    let from = iovec { iov_base: with_exposed_provenance_mut(address), iov_len: into.len() };
    let to = iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // SAFETY: the kernel reads, and reports failure; `into` is the caller's, of that length. The id is this thread's: if the
    // first thread has ended, its id gives access to nothing.
    let bytes = unsafe { libc::process_vm_readv(libc::gettid(), &raw const to, 1, &raw const from, 1, 0) };
    bytes.max(0) as usize
}

/// Allocates memory for the program, beginning with a copy of `count` bytes.
pub(crate) fn copied(address: usize, count: usize, bytes: usize) -> Result<usize> {
    let new = table::<u8>(bytes)?;
    let mut done = 0;
    while done < count {
        let more = read(address + done, &mut new[done..count]);
        if more == 0 {
            // SAFETY: nobody else has it.
            unsafe { kernel(libc::SYS_munmap, [new.as_ptr().addr(), bytes, 0, 0, 0, 0]) };
            return Err(Error::from_raw_os_error(libc::EFAULT));
        }
        done += more;
    }
    Ok(new.as_mut_ptr().expose_provenance())
}

// Memory of the program.

/// Address and bytes of the region.
static PLACE: OnceLock<[usize; 2]> = OnceLock::new();

/// Region: pages for the program, and their fault file. Never unmapped.
#[derive(Debug)]
pub(crate) struct Served {
    faults: OwnedFd,
    base: usize,
    pages: u32,
}

impl Served {
    /// Makes the region of this process, without access.
    pub(crate) fn new(pages: u32) -> Result<Self> {
        let bytes = pages as usize * PAGE;
        let base = map(bytes, libc::PROT_NONE, None)?;
        let _ = PLACE.set([base, bytes]);
        Ok(Self { faults: open_faults()?, base, pages })
    }

    /// Opens a new fault file after a fork.
    pub(crate) fn connect(&mut self) -> Result<()> {
        // Not closed: the old number belongs to another file here.
        std::mem::forget(std::mem::replace(&mut self.faults, open_faults()?));
        Ok(())
    }

    pub(crate) const fn faults(&self) -> &OwnedFd {
        &self.faults
    }

    pub(crate) const fn pages(&self) -> u32 {
        self.pages
    }

    /// Address and bytes of pages; panics outside the region.
    pub(crate) fn place(&self, pages: Extent) -> [usize; 2] {
        let is_here = u64::from(pages.first) + u64::from(pages.count) <= u64::from(self.pages);
        assert!(is_here, "{pages:?} of {}", self.pages);
        [self.base + pages.first as usize * PAGE, pages.count as usize * PAGE]
    }

    pub(crate) fn advise(&self, pages: Extent, advice: c_int) -> bool {
        self.change(libc::SYS_madvise, pages, advice)
    }

    pub(crate) fn protect(&self, pages: Extent, protection: c_int) -> bool {
        self.change(libc::SYS_mprotect, pages, protection)
    }

    pub(crate) fn unlock(&self, pages: Extent) {
        self.change(libc::SYS_munlock, pages, 0);
    }

    fn change(&self, number: c_long, pages: Extent, how: c_int) -> bool {
        let [address, bytes] = self.place(pages);
        // SAFETY: pages of the region; nothing in Rust refers to their content.
        unsafe { kernel(number, [address, bytes, how as usize, 0, 0, 0]) == 0 }
    }

    pub(crate) fn renew(&self, pages: Extent) {
        let ([address, bytes], none) = (self.place(pages), libc::PROT_NONE as usize);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
        // SAFETY: pages of the region; nothing in Rust refers to them.
        unsafe { kernel(libc::SYS_mmap, [address, bytes, none, flags as usize, usize::MAX, 0]) };
    }

    pub(crate) fn call(&self, number: faults::Number, pages: Extent, mode: u64) -> Result<()> {
        let [address, bytes] = self.place(pages);
        ioctl(&self.faults, number, [address as u64, bytes as u64, mode, 0, 0])
    }

    pub(crate) fn copy(&self, page: u32, from: &[u8], mode: u64) -> Result<()> {
        let [address, bytes] = self.place(Extent::new(page, 1));
        assert_eq!(from.len(), bytes);
        ioctl(&self.faults, faults::COPY, [address as u64, from.as_ptr().addr() as u64, bytes as u64, mode, 0])
    }
}

/// userfaultfd call; its pages must be the region's.
fn ioctl(faults: &OwnedFd, number: faults::Number, mut argument: [u64; 5]) -> Result<()> {
    assert!(number.bytes() <= size_of_val(&argument));
    loop {
        // SAFETY: the argument is at least as long as the number says. Only the region changes; nothing in Rust refers to it.
        if unsafe { libc::ioctl(faults.as_raw_fd(), number.0, argument.as_mut_ptr()) } == 0 {
            return Ok(());
        }
        let error = Error::last_os_error();
        // EAGAIN: the program's memory map was changing.
        if error.raw_os_error() != Some(libc::EAGAIN) {
            return Err(error);
        }
    }
}

/// Opens the device if permitted, else makes the system call.
fn open_faults() -> Result<OwnedFd> {
    let device = open(c"/dev/userfaultfd", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    let flags = libc::O_CLOEXEC | libc::O_NONBLOCK;
    let number = match &device {
        // SAFETY: it takes flags, and gives a new file.
        Ok(device) => unsafe { libc::ioctl(device.as_raw_fd(), faults::NEW.0, flags) },
        // SAFETY: the same.
        Err(_) => unsafe { kernel(libc::SYS_userfaultfd, [flags as usize, 0, 0, 0, 0, 0]) as c_int },
    };
    if number < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: it is new, so nobody else's.
    let file = unsafe { OwnedFd::from_raw_fd(number) };
    ioctl(&file, faults::API, [faults::VERSION, faults::FEATURES, 0, 0, 0])?;
    Ok(file)
}

/// Rings the doorbell: faults at the first page.
pub(crate) fn ring() {
    let Some([base, _]) = PLACE.get() else { return };
    let bell = with_exposed_provenance::<u8>(*base);
    // SAFETY: the page holds nothing, and is readable while there is a handler.
    unsafe {
        kernel(libc::SYS_madvise, [*base, PAGE, libc::MADV_DONTNEED as usize, 0, 0, 0]);
        bell.read_volatile();
    }
}

/// Sets whether forked processes inherit the region. Without a handler they would read zeros in remote pages: they must fault.
pub(crate) fn inherit(yes: bool) {
    let Some([base, bytes]) = PLACE.get() else { return };
    let advice = if yes { libc::MADV_DOFORK } else { libc::MADV_DONTFORK };
    // SAFETY: it changes nothing of this process.
    unsafe { kernel(libc::SYS_madvise, [*base, *bytes, advice as usize, 0, 0, 0]) };
}

// Threads and processes.

/// Starts a thread without signals, by the C library alone: in a forked process the program's allocator, which std needs, may
/// be locked. The C library reuses the stack of the parent's handler and allocates nothing.
pub(crate) fn spawn<F: FnOnce() + Send + 'static>(run: F) -> Result<()> {
    extern "C" fn begin<F: FnOnce()>(run: *mut c_void) -> *mut c_void {
        // SAFETY: `spawn` made it from a box, for this thread alone.
        let run = unsafe { Box::from_raw(run.cast::<F>()) };
        run();
        null_mut()
    }
    let run = Box::into_raw(Box::new(run));
    // SAFETY: signal sets and attributes may be zeros until initialised, and are this function's own. The thread owns `run`;
    // without a thread, this function does.
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

/// Removes this endless thread from glibc's private thread count (since 2.34): a process ends with its last counted thread
/// (pthread_exit(3)). Without such a count, processes stay.
pub(crate) fn uncount() {
    // Found when the first process begins: a search in a forked process could need memory.
    static COUNT: OnceLock<usize> = OnceLock::new();
    let address = *COUNT.get_or_init(|| {
        // SAFETY: the name ends in 0.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__nptl_nthreads".as_ptr()).expose_provenance() }
    });
    if address != 0 {
        // SAFETY: a variable of the C library, of this size, which it also changes atomically.
        let count = unsafe { AtomicU32::from_ptr(with_exposed_provenance_mut(address)) };
        // This thread and its waiting creator count; otherwise the variable is something else.
        let _ = count.fetch_update(Relaxed, Relaxed, |count| (count > 1).then(|| count - 1));
    }
}

/// Gives this thread its own empty file table: thread and program cannot use or close each other's files.
pub(crate) fn leave_files() -> Result<()> {
    // CLOSE_RANGE_UNSHARE
    const UNSHARE: usize = 2;
    // SAFETY: this thread uses no files; other threads keep theirs.
    match unsafe { kernel(libc::SYS_close_range, [0, u32::MAX as usize, UNSHARE, 0, 0, 0]) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

pub(crate) fn exit(code: c_int) -> ! {
    // SAFETY: it runs no program code.
    unsafe { libc::_exit(code) }
}
