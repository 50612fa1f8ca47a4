//! The functions that programs get from here in place of the C library's. Tests of this library have them from there.
//!
//! What holds of all of them: they do what the manual page of each says, with memory of the region or by the C library's own function.
//! A caller that keeps to that page gets memory that nobody else has.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr::{null_mut, with_exposed_provenance, with_exposed_provenance_mut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use libc::{c_char, c_int, c_uint, c_void, size_t};

use super::{map, real_madvise, real_mmap};
use crate::program::{self, Answer};
use crate::start;

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
        // SAFETY: of any size and alignment.
        unsafe { __libc_memalign(layout.align(), layout.size()).cast() }
    }

    unsafe fn dealloc(&self, memory: *mut u8, _: Layout) {
        // SAFETY: it is from `alloc`.
        unsafe { __libc_free(memory.cast()) }
    }
}

/// Runs when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = {
    extern "C" fn start() {
        at_fork();
        start::start();
    }
    start
};

/// The function of this name that the program would have without this library, of type `F`; found once.
struct Real<F>(&'static CStr, AtomicUsize, PhantomData<F>);

impl<F: Copy> Real<F> {
    /// # Safety
    ///
    /// `F` is the type of a pointer to the function of this name, which there is.
    const unsafe fn new(name: &'static CStr) -> Self {
        Self(name, AtomicUsize::new(0), PhantomData)
    }

    fn address(&self) -> usize {
        if self.1.load(Ordering::Relaxed) == 0 {
            // SAFETY: a name that ends in 0.
            let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.0.as_ptr().cast::<c_char>()) };
            self.1.store(found.expose_provenance(), Ordering::Relaxed);
        }
        self.1.load(Ordering::Relaxed)
    }

    fn get(&self) -> F {
        const { assert!(size_of::<F>() == size_of::<usize>()) };
        let address = with_exposed_provenance::<c_void>(self.address());
        // SAFETY: a pointer of the type that `new` was told.
        unsafe { std::mem::transmute_copy(&address) }
    }
}

/// Functions that the program would have without this library.
macro_rules! real {
    ($($name:ident = $symbol:literal: $kind:ty;)*) => { $(
        // SAFETY: the type is that of the manual page, as Rust has it.
        static $name: Real<$kind> = unsafe { Real::new($symbol) };
    )* };
}

real! {
    MALLOC = c"malloc": unsafe extern "C" fn(size_t) -> *mut c_void;
    CALLOC = c"calloc": unsafe extern "C" fn(size_t, size_t) -> *mut c_void;
    REALLOC = c"realloc": unsafe extern "C" fn(*mut c_void, size_t) -> *mut c_void;
    FREE = c"free": unsafe extern "C" fn(*mut c_void);
    USABLE = c"malloc_usable_size": unsafe extern "C" fn(*mut c_void) -> size_t;
    MEMALIGN = c"memalign": unsafe extern "C" fn(size_t, size_t) -> *mut c_void;
    ALIGNED = c"aligned_alloc": unsafe extern "C" fn(size_t, size_t) -> *mut c_void;
    POSIX_MEMALIGN = c"posix_memalign": unsafe extern "C" fn(*mut *mut c_void, size_t, size_t) -> c_int;
    CLONE = c"clone": unsafe extern "C" fn(*const c_void, Any, c_int, Any, Any, Any, Any) -> c_int;
    REGISTER = c"__register_atfork": unsafe extern "C" fn(Option<Handler>, Option<Handler>, Option<Handler>, *mut c_void) -> c_int;
    MLOCKALL = c"mlockall": unsafe extern "C" fn(c_int) -> c_int;
    OPEN = c"open": unsafe extern "C" fn(*const c_char, c_int, c_uint) -> c_int;
    OPEN64 = c"open64": unsafe extern "C" fn(*const c_char, c_int, c_uint) -> c_int;
    OPEN_2 = c"__open_2": unsafe extern "C" fn(*const c_char, c_int) -> c_int;
    OPEN64_2 = c"__open64_2": unsafe extern "C" fn(*const c_char, c_int) -> c_int;
    OPENAT = c"openat": unsafe extern "C" fn(c_int, *const c_char, c_int, c_uint) -> c_int;
    OPENAT64 = c"openat64": unsafe extern "C" fn(c_int, *const c_char, c_int, c_uint) -> c_int;
    OPENAT_2 = c"__openat_2": unsafe extern "C" fn(c_int, *const c_char, c_int) -> c_int;
    OPENAT64_2 = c"__openat64_2": unsafe extern "C" fn(c_int, *const c_char, c_int) -> c_int;
    FCNTL = c"fcntl": unsafe extern "C" fn(c_int, c_int, *mut c_void) -> c_int;
    FCNTL64 = c"fcntl64": unsafe extern "C" fn(c_int, c_int, *mut c_void) -> c_int;
}
type Handler = unsafe extern "C" fn();

/// Whether the program has another allocator than the C library's, in a library that is linked or preloaded (jemalloc, tcmalloc): then
/// all is its own, since it would be given back memory that it knows nothing of, by functions that are only its. What it maps for its
/// arenas is served.
fn has_allocator() -> bool {
    MALLOC.address() != (__libc_malloc as *const c_void).expose_provenance()
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

// Memory.

#[unsafe(no_mangle)]
unsafe extern "C" fn malloc(bytes: size_t) -> *mut c_void {
    if has_allocator() {
        // SAFETY: the caller's.
        return unsafe { MALLOC.get()(bytes) };
    }
    // SAFETY: the caller's.
    program::allocate(bytes, 1, false).map_or_else(|| unsafe { __libc_malloc(bytes) }, pointer)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn calloc(count: size_t, bytes: size_t) -> *mut c_void {
    if has_allocator() {
        // SAFETY: the caller's.
        return unsafe { CALLOC.get()(count, bytes) };
    }
    let total = count.checked_mul(bytes);
    let served = total.and_then(|total| program::allocate(total, 1, true));
    // SAFETY: the caller's.
    served.map_or_else(|| unsafe { __libc_calloc(count, bytes) }, pointer)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(memory: *mut c_void, bytes: size_t) -> *mut c_void {
    if has_allocator() {
        // SAFETY: the caller's.
        return unsafe { REALLOC.get()(memory, bytes) };
    }
    let address = memory.addr();
    if program::has(address) {
        if bytes == 0 {
            program::free(address);
            return null_mut();
        }
        // An allocation of the region stays there even if it is small now.
        if let Some(resized) = program::resize(address, bytes) {
            return pointer(resized);
        }
        // The region has no room for it, or pages of it cannot be moved.
        // SAFETY: the caller has the old one, which is as long as it says, and nobody the new one.
        return unsafe {
            let new = __libc_malloc(bytes);
            if !new.is_null() {
                std::ptr::copy_nonoverlapping(memory.cast::<u8>(), new.cast::<u8>(), program::size(address).min(bytes));
                program::free(address);
            }
            new
        };
    }
    match program::allocate(bytes, 1, false).map(pointer) {
        // SAFETY: the caller has the old one, which is as long as it says, and nobody the new one.
        Some(new) if !memory.is_null() => unsafe {
            let count = USABLE.get()(memory).min(bytes);
            std::ptr::copy_nonoverlapping(memory.cast::<u8>(), new.cast::<u8>(), count);
            __libc_free(memory);
            new
        },
        Some(new) => new,
        // SAFETY: the caller's.
        None => unsafe { __libc_realloc(memory, bytes) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(memory: *mut c_void) {
    if has_allocator() {
        // SAFETY: the caller's.
        unsafe { FREE.get()(memory) }
    } else if program::has(memory.addr()) {
        program::free(memory.addr());
    } else {
        // SAFETY: the caller's.
        unsafe { __libc_free(memory) }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn malloc_usable_size(memory: *mut c_void) -> size_t {
    if !has_allocator() && program::has(memory.addr()) {
        return program::size(memory.addr());
    }
    // SAFETY: the caller's.
    unsafe { USABLE.get()(memory) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memalign(align: size_t, bytes: size_t) -> *mut c_void {
    if has_allocator() {
        // SAFETY: the caller's.
        return unsafe { MEMALIGN.get()(align, bytes) };
    }
    // SAFETY: the caller's.
    program::allocate(bytes, align, false).map_or_else(|| unsafe { __libc_memalign(align, bytes) }, pointer)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn aligned_alloc(align: size_t, bytes: size_t) -> *mut c_void {
    if has_allocator() {
        // SAFETY: the caller's.
        return unsafe { ALIGNED.get()(align, bytes) };
    }
    // SAFETY: the caller's.
    unsafe { memalign(align, bytes) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(memory: *mut *mut c_void, align: size_t, bytes: size_t) -> c_int {
    if has_allocator() {
        // SAFETY: the caller's.
        return unsafe { POSIX_MEMALIGN.get()(memory, align, bytes) };
    }
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    // SAFETY: the caller's.
    let new = unsafe { memalign(align, bytes) };
    if new.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller has a place for it.
    unsafe { *memory = new };
    0
}

// Mappings.

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
            // SAFETY: the caller's.
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
    // SAFETY: the caller's.
    unsafe { mmap(address, bytes, protection, flags, file, offset) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(address: *mut c_void, bytes: size_t) -> c_int {
    match program::unmap(address.addr(), bytes) {
        Some(answer) => given(answer) as c_int,
        // SAFETY: the caller's.
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
        Some(Err(libc::ENOMEM)) if flags & libc::MREMAP_MAYMOVE != 0 => {
            pointer(given(move_out(address, bytes, new_bytes)))
        }
        Some(answer) => pointer(given(answer)),
        None => {
            // SAFETY: the caller's.
            let memory = unsafe { libc::syscall(libc::SYS_mremap, address, bytes, new_bytes, flags, to) } as usize;
            program::mapped(memory, new_bytes);
            pointer(memory)
        }
    }
}

/// Moves pages of the region to memory that is not served, as the region has no room for them or some cannot be moved.
fn move_out(address: *mut c_void, bytes: usize, new_bytes: usize) -> Answer {
    let new = map(new_bytes, libc::PROT_READ | libc::PROT_WRITE).map_err(|_| libc::ENOMEM)?;
    let mut done = 0;
    while done < bytes.min(new_bytes) {
        let vector = |base: usize| libc::iovec { iov_base: pointer(base + done), iov_len: bytes.min(new_bytes) - done };
        let (from, to) = (vector(address.addr()), vector(new));
        // SAFETY: it writes to memory that is new; what cannot be read is an error. In parts if it is much.
        let read = unsafe { libc::process_vm_readv(libc::getpid(), &raw const to, 1, &raw const from, 1, 0) };
        if read <= 0 {
            // SAFETY: nobody has it.
            unsafe { libc::syscall(libc::SYS_munmap, new, new_bytes) };
            return Err(libc::ENOMEM);
        }
        done += read as usize;
    }
    program::unserved(new_bytes);
    program::unmap(address.addr(), bytes).unwrap_or(Ok(0)).map(|_| new)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn madvise(address: *mut c_void, bytes: size_t, advice: c_int) -> c_int {
    match program::advise(address.addr(), bytes, advice) {
        Some(answer) => given(answer) as c_int,
        // SAFETY: the caller's.
        None => unsafe { real_madvise(address, bytes, advice) },
    }
}

// Processes.

/// What pthread_atfork calls, which is a part of each program and library. Ours come before all others: so they run last before a fork,
/// when others have done what may need memory that is served, and first after it.
#[unsafe(no_mangle)]
unsafe extern "C" fn __register_atfork(
    before: Option<Handler>,
    parent: Option<Handler>,
    child: Option<Handler>,
    library: *mut c_void,
) -> c_int {
    at_fork();
    // SAFETY: the caller's.
    unsafe { REGISTER.get()(before, parent, child, library) }
}

/// Has functions called around forks: once.
fn at_fork() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if !DONE.swap(true, Ordering::Relaxed) {
        // SAFETY: functions that are always there. Where there is no memory for it the first fork says so: its process has no region.
        unsafe { REGISTER.get()(Some(start::before_fork), Some(start::in_parent), Some(start::in_child), null_mut()) };
    }
}

// What may be refused. Of C's variable arguments these have those that there may be.

/// Functions that are the program's own, unless there is a refusal.
macro_rules! own {
    ($($name:ident($($argument:ident: $kind:ty),*) $real:ident, unless $refusal:expr;)*) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $kind),*) -> c_int {
            match $refusal {
                Some(refusal) => given(Err(refusal.tell())) as c_int,
                // SAFETY: the caller's.
                None => unsafe { $real.get()($($argument),*) },
            }
        }
    )* };
}

/// The flags of a file of the program's.
fn flags_of(file: c_int) -> c_int {
    // SAFETY: it changes nothing.
    unsafe { FCNTL.get()(file, libc::F_GETFL, null_mut()) }
}

type Any = *mut c_void;
own! {
    clone(run: *const c_void, stack: Any, flags: c_int, argument: Any, parent: Any, tls: Any, child: Any) CLONE,
        unless program::clones(flags);
    mlockall(flags: c_int) MLOCKALL, unless program::locks_all();
    open(path: *const c_char, flags: c_int, mode: c_uint) OPEN, unless program::opens(flags);
    open64(path: *const c_char, flags: c_int, mode: c_uint) OPEN64, unless program::opens(flags);
    __open_2(path: *const c_char, flags: c_int) OPEN_2, unless program::opens(flags);
    __open64_2(path: *const c_char, flags: c_int) OPEN64_2, unless program::opens(flags);
    openat(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint) OPENAT, unless program::opens(flags);
    openat64(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint) OPENAT64, unless program::opens(flags);
    __openat_2(folder: c_int, path: *const c_char, flags: c_int) OPENAT_2, unless program::opens(flags);
    __openat64_2(folder: c_int, path: *const c_char, flags: c_int) OPENAT64_2, unless program::opens(flags);
    fcntl(file: c_int, command: c_int, argument: Any) FCNTL,
        unless program::controls(command, argument.addr(), || flags_of(file));
    fcntl64(file: c_int, command: c_int, argument: Any) FCNTL64,
        unless program::controls(command, argument.addr(), || flags_of(file));
}
