//! Everything unsafe: the system calls behind [`Region`], a few more, and the functions of the C library that programs get from here.
//!
//! What holds throughout: addresses of pages are made from page numbers below [`Region::pages`], so that no call here touches
//! memory that is not the region, its store or its tables; these are mapped once and never unmapped. Only the handler's thread has
//! the [`Region`].

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{null_mut, with_exposed_provenance_mut};
use std::sync::atomic::AtomicU64;

use libc::{c_int, c_void};
use rustix::fs::{Mode, OFlags};

use crate::desk::{self, PAGE};
use crate::faults;
use crate::heap::Ground;
use crate::list::Link;
use crate::pager::Memory;
use crate::space::Extent;

/// Types that may be all zeros.
pub(crate) trait Plain: 'static {}
impl Plain for u8 {}
impl Plain for u32 {}
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

/// The memory that is served: the region, the store behind it, and the file of its faults.
#[derive(Debug)]
pub(crate) struct Region {
    faults: OwnedFd,
    base: usize,
    store: usize,
    pages: u32,
}

impl Region {
    /// A new region, closed to everybody but for its first page.
    pub(crate) fn new(pages: u32) -> Result<Self> {
        let bytes = pages as usize * PAGE;
        let base = map(bytes, libc::PROT_NONE)?;
        let store = map(bytes, libc::PROT_READ | libc::PROT_WRITE)?;
        let mut region = Self { faults: open_faults()?, base, store, pages };
        region.settle(Extent::new(0, pages));
        region.register(Extent::new(0, pages))?;
        region.protect(Extent::new(desk::BELL, 1), libc::PROT_READ as u32);
        Ok(region)
    }

    /// After a fork: serves the pages that were inherited.
    pub(crate) fn connect(&mut self) -> Result<()> {
        // The file that was inherited is not: its number is another file's here.
        std::mem::forget(std::mem::replace(&mut self.faults, open_faults()?));
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
            // SAFETY: neither changes what the region holds.
            unsafe { real_madvise(self.pointer(pages), bytes(pages) as usize, advice) };
        }
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

    /// Does a call that wakes who waits, if it succeeds. If not, the page is there already or closed: they see that themselves.
    fn call_or_wake<const N: usize>(&self, number: u64, mut argument: [u64; N], page: u32) {
        if self.call(number, &mut argument).is_err() {
            let _ = self.call(faults::WAKE, &mut [self.address(Extent::new(page, 1)), PAGE as u64]);
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
    fn zero(&mut self, page: u32, write: bool) {
        let to = self.address(Extent::new(page, 1));
        if write {
            // A page of its own now: the one that all share would have to be copied, and other cores told.
            let empty = self.copy(Extent::new(desk::BELL, 1)).addr() as u64;
            self.call_or_wake(faults::COPY, [to, empty, PAGE as u64, 0, 0], page);
        } else {
            self.call_or_wake(faults::ZEROPAGE, [to, PAGE as u64, 0, 0], page);
        }
    }

    fn fill(&mut self, page: u32, guard: bool) {
        let (to, from) = (self.address(Extent::new(page, 1)), self.copy(Extent::new(page, 1)).addr() as u64);
        let mode = if guard { faults::GUARDED } else { 0 };
        self.call_or_wake(faults::COPY, [to, from, PAGE as u64, mode, 0], page);
    }

    fn guard(&mut self, pages: Extent) -> bool {
        self.call(faults::WRITEPROTECT, &mut [self.address(pages), bytes(pages), 1]).is_ok()
    }

    fn unguard(&mut self, page: u32) {
        self.call_or_wake(faults::WRITEPROTECT, [self.address(Extent::new(page, 1)), PAGE as u64, 0], page);
    }

    fn save(&mut self, pages: Extent) -> bool {
        let vector = |base| libc::iovec { iov_base: base, iov_len: bytes(pages) as usize };
        let (from, to) = (vector(self.pointer(pages)), vector(self.copy(pages)));
        // SAFETY: it writes to the copies only, to which nothing refers now; what cannot be read is an error.
        let read = unsafe { libc::process_vm_readv(libc::getpid(), &raw const to, 1, &raw const from, 1, 0) };
        read == bytes(pages) as isize
    }

    fn is_empty(&self, page: u32) -> bool {
        self.copied(page).iter().all(|word| *word == 0)
    }

    fn unmap(&mut self, pages: Extent) -> bool {
        // SAFETY: the program's pages are given up when it has given them up itself, or when their content is in the store.
        unsafe { real_madvise(self.pointer(pages), bytes(pages) as usize, libc::MADV_DONTNEED) == 0 }
    }

    fn forget(&mut self, pages: Extent) {
        // SAFETY: nothing refers to the store now; it reads as zeros after that.
        unsafe { real_madvise(self.copy(pages), bytes(pages) as usize, libc::MADV_DONTNEED) };
    }

    fn carry(&mut self, from: u32, to: u32) {
        let (from, to) = (Extent::new(from, 1), Extent::new(to, 1));
        // SAFETY: two pages of the store, which are not the same one.
        unsafe { std::ptr::copy_nonoverlapping(self.copy(from).cast::<u8>(), self.copy(to).cast::<u8>(), PAGE) };
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

/// Starts a thread that gets no signals.
pub(crate) fn spawn(run: impl FnOnce() + Send + 'static) -> Result<()> {
    // SAFETY: sets of signals may be all zeros, and are this function's own.
    unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let started = std::thread::Builder::new().name("incast-memory".into()).stack_size(1 << 18).spawn(run);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, null_mut());
        started.map(drop)
    }
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

/// Has functions called around forks.
pub(crate) fn at_fork(before: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    // SAFETY: functions that are always there; libc says they are unsafe as any function of C.
    let before: unsafe extern "C" fn() = before;
    let (parent, child): (unsafe extern "C" fn(), unsafe extern "C" fn()) = (parent, child);
    unsafe { libc::pthread_atfork(Some(before), Some(parent), Some(child)) };
}

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

unsafe fn real_madvise(address: *mut c_void, bytes: usize, advice: c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe { libc::syscall(libc::SYS_madvise, address, bytes, advice) as c_int }
}

/// The functions that programs get from here in place of the C library's. Tests of this library have them from there.
///
/// SAFETY, of all of them: they do what the manual page of each says, with memory of the region or by the C library's own function. A
/// caller that keeps to that page gets memory that nobody else has.
#[cfg(not(test))]
mod hooks {
    use super::*;
    use crate::program::{self, Answer};
    use libc::{c_char, size_t};
    use std::alloc::{GlobalAlloc, Layout};
    use std::sync::atomic::{AtomicUsize, Ordering};

    unsafe extern "C" {
        fn __libc_malloc(bytes: size_t) -> *mut c_void;
        fn __libc_calloc(count: size_t, bytes: size_t) -> *mut c_void;
        fn __libc_realloc(memory: *mut c_void, bytes: size_t) -> *mut c_void;
        fn __libc_memalign(align: size_t, bytes: size_t) -> *mut c_void;
        fn __libc_free(memory: *mut c_void);
    }

    /// What this library itself allocates, always the C library's: the program may have a `malloc` of its own, that comes before ours.
    #[global_allocator]
    static OWN: Own = Own;
    struct Own;

    // SAFETY: these do what is asked, as their manual pages say.
    unsafe impl GlobalAlloc for Own {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            unsafe { __libc_memalign(layout.align(), layout.size()).cast() }
        }

        unsafe fn dealloc(&self, memory: *mut u8, _: Layout) {
            unsafe { __libc_free(memory.cast()) }
        }
    }

    /// Runs when the library is loaded.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static START: extern "C" fn() = {
        extern "C" fn start() {
            crate::start::start();
        }
        start
    };

    /// A function of the C library, found once.
    struct Real(&'static std::ffi::CStr, AtomicUsize);

    impl Real {
        fn find(&self) -> *const c_void {
            if self.1.load(Ordering::Relaxed) == 0 {
                // SAFETY: a name that ends in 0.
                let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.0.as_ptr().cast::<c_char>()) };
                self.1.store(found.expose_provenance(), Ordering::Relaxed);
            }
            std::ptr::with_exposed_provenance(self.1.load(Ordering::Relaxed))
        }
    }

    fn pointer(address: usize) -> *mut c_void {
        with_exposed_provenance_mut(address)
    }

    fn fail(error: c_int) {
        // SAFETY: each thread has its own.
        unsafe { *libc::__errno_location() = error };
    }

    /// What a function gives that has -1 for an error.
    fn given(answer: Answer) -> usize {
        answer.unwrap_or_else(|error| {
            fail(error);
            usize::MAX
        })
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn malloc(bytes: size_t) -> *mut c_void {
        // SAFETY: as above, here and in all that follow.
        program::allocate(bytes, 1).map_or_else(|| unsafe { __libc_malloc(bytes) }, pointer)
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn calloc(count: size_t, bytes: size_t) -> *mut c_void {
        let total = count.checked_mul(bytes);
        // Pages of the region are empty when they are given.
        let served = total.and_then(|total| program::allocate(total, 1));
        served.map_or_else(|| unsafe { __libc_calloc(count, bytes) }, pointer)
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn realloc(memory: *mut c_void, bytes: size_t) -> *mut c_void {
        let address = memory.addr();
        let usable = |size: usize| size.min(bytes);
        if program::has(address) {
            if bytes == 0 {
                program::free(address);
                return null_mut();
            }
            // An allocation of the region stays there even if it is small now.
            let resized = program::resize(address, bytes);
            if resized.is_none() {
                fail(libc::ENOMEM);
            }
            return resized.map_or(null_mut(), pointer);
        }
        match program::allocate(bytes, 1).map(pointer) {
            Some(new) if !memory.is_null() => unsafe {
                let count = usable(malloc_usable_size(memory));
                std::ptr::copy_nonoverlapping(memory.cast::<u8>(), new.cast::<u8>(), count);
                __libc_free(memory);
                new
            },
            Some(new) => new,
            None => unsafe { __libc_realloc(memory, bytes) },
        }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn free(memory: *mut c_void) {
        if program::has(memory.addr()) {
            program::free(memory.addr());
        } else {
            unsafe { __libc_free(memory) };
        }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn malloc_usable_size(memory: *mut c_void) -> size_t {
        static REAL: Real = Real(c"malloc_usable_size", AtomicUsize::new(0));
        if program::has(memory.addr()) {
            return program::size(memory.addr());
        }
        let real: unsafe extern "C" fn(*mut c_void) -> size_t = unsafe { std::mem::transmute(REAL.find()) };
        unsafe { real(memory) }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn memalign(align: size_t, bytes: size_t) -> *mut c_void {
        program::allocate(bytes, align).map_or_else(|| unsafe { __libc_memalign(align, bytes) }, pointer)
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn aligned_alloc(align: size_t, bytes: size_t) -> *mut c_void {
        unsafe { memalign(align, bytes) }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn posix_memalign(memory: *mut *mut c_void, align: size_t, bytes: size_t) -> c_int {
        if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
            return libc::EINVAL;
        }
        let new = unsafe { memalign(align, bytes) };
        if new.is_null() {
            return libc::ENOMEM;
        }
        unsafe { *memory = new };
        0
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn mmap(
        address: *mut c_void,
        bytes: size_t,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void {
        match program::map(address.addr(), bytes, protection, flags) {
            Some(answer) => pointer(given(answer)),
            None => {
                let memory = unsafe { real_mmap(address, bytes, protection, flags, file, offset) };
                program::mapped(memory.addr(), bytes);
                memory
            }
        }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn mmap64(
        address: *mut c_void,
        bytes: size_t,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void {
        unsafe { mmap(address, bytes, protection, flags, file, offset) }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn munmap(address: *mut c_void, bytes: size_t) -> c_int {
        match program::unmap(address.addr(), bytes) {
            Some(answer) => given(answer) as c_int,
            None => unsafe { libc::syscall(libc::SYS_munmap, address, bytes) as c_int },
        }
    }

    /// Of C's variable arguments this has the one that there may be.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn mremap(
        address: *mut c_void,
        bytes: size_t,
        new_bytes: size_t,
        flags: c_int,
        to: *mut c_void,
    ) -> *mut c_void {
        match program::remap(address.addr(), bytes, new_bytes, flags) {
            Some(answer) => pointer(given(answer)),
            None => {
                let memory = unsafe { libc::syscall(libc::SYS_mremap, address, bytes, new_bytes, flags, to) } as usize;
                program::mapped(memory, new_bytes);
                pointer(memory)
            }
        }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn madvise(address: *mut c_void, bytes: size_t, advice: c_int) -> c_int {
        match program::advise(address.addr(), bytes, advice) {
            Some(answer) => given(answer) as c_int,
            None => unsafe { real_madvise(address, bytes, advice) },
        }
    }

    /// Processes that have their own memory are made by fork, which this library knows of. Of C's variable arguments this has those
    /// that there may be.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn clone(
        run: *const c_void,
        stack: *mut c_void,
        flags: c_int,
        argument: *mut c_void,
        parent: *mut c_void,
        tls: *mut c_void,
        child: *mut c_void,
    ) -> c_int {
        static REAL: Real = Real(c"clone", AtomicUsize::new(0));
        if flags & libc::CLONE_VM == 0 && desk::serves(usize::MAX) {
            const WHY: &[u8] = b"incast: this program makes a process by clone without CLONE_VM, which would not see its remote memory; \
fork is served. clone fails with ENOSYS.\n";
            let _ = rustix::io::write(rustix::stdio::stderr(), WHY);
            fail(libc::ENOSYS);
            return -1;
        }
        type Clone = unsafe extern "C" fn(
            *const c_void,
            *mut c_void,
            c_int,
            *mut c_void,
            *mut c_void,
            *mut c_void,
            *mut c_void,
        ) -> c_int;
        let real: Clone = unsafe { std::mem::transmute(REAL.find()) };
        unsafe { real(run, stack, flags, argument, parent, tls, child) }
    }
}
