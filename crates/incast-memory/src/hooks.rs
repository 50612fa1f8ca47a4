//! C functions that programs get from here (tests: the C library's). They follow their manual pages, with memory of the region
//! or by the function that the program would have without them. "The caller's" is an obligation of the caller in the manual
//! page.
//!
//! This library never calls them: [`crate::sys`] makes the system calls.

use std::alloc::{GlobalAlloc, Layout};
use std::marker::PhantomData;
use std::ptr::{null_mut, with_exposed_provenance, with_exposed_provenance_mut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use libc::{c_char, c_int, c_uint, c_void, size_t};

use crate::program::{self, Answer, Refusal};
use crate::start;

type Any = *mut c_void;
type Path = *const c_char;
type Handler = Option<unsafe extern "C" fn()>;

unsafe extern "C" {
    safe fn __libc_malloc(bytes: size_t) -> Any;
    safe fn __libc_calloc(count: size_t, bytes: size_t) -> Any;
    safe fn __libc_memalign(align: size_t, bytes: size_t) -> Any;
    fn __libc_realloc(memory: Any, bytes: size_t) -> Any;
    fn __libc_free(memory: Any);
}

/// This library allocates by the C library: a `malloc` of the program may precede ours.
#[global_allocator]
static OWN: Own = Own;
struct Own;

// SAFETY: the functions do what their manual pages say.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        __libc_memalign(layout.align(), layout.size()).cast()
    }

    unsafe fn dealloc(&self, memory: *mut u8, _: Layout) {
        // SAFETY: it is from `alloc`.
        unsafe { __libc_free(memory.cast()) }
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = {
    extern "C" fn start() {
        find();
        at_fork();
        start::start();
    }
    start
};

/// Registers fork handlers once, before all others: they run last before a fork (others may need served memory) and first after
/// it.
fn at_fork() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if !DONE.swap(true, Ordering::Relaxed) {
        let [before, parent, child]: [Handler; 3] =
            [Some(start::before_fork), Some(start::in_parent), Some(start::in_child)];
        // SAFETY: the functions always exist. If registration lacks memory, the first fork shows it: its process has no region.
        unsafe { REGISTER.get()(before, parent, child, null_mut()) };
    }
}

/// Function that the program would have without this library, by 0-terminated name; looked up once.
struct Real<F>(&'static str, AtomicUsize, PhantomData<F>);

impl<F: Copy> Real<F> {
    /// # Safety
    ///
    /// `F` is the pointer type of this existing function. The name ends in 0.
    const unsafe fn new(name: &'static str) -> Self {
        const { assert!(size_of::<F>() == size_of::<usize>()) };
        Self(name, AtomicUsize::new(0), PhantomData)
    }

    fn address(&self) -> usize {
        if self.1.load(Ordering::Relaxed) == 0 {
            // SAFETY: the name ends in 0.
            let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.0.as_ptr().cast()) };
            self.1.store(found.expose_provenance(), Ordering::Relaxed);
        }
        self.1.load(Ordering::Relaxed)
    }

    fn get(&self) -> F {
        let address = with_exposed_provenance::<c_void>(self.address());
        // SAFETY: a pointer of the type given to `new`.
        unsafe { std::mem::transmute_copy(&address) }
    }
}

/// Returns whether the program has its own allocator (jemalloc, tcmalloc), linked or preloaded. It then serves all: its
/// functions do not know our memory. Mappings for its arenas are served.
fn has_allocator() -> bool {
    MALLOC.address() != (__libc_malloc as *const c_void).expose_provenance()
}

fn pointer(address: usize) -> Any {
    with_exposed_provenance_mut(address)
}

fn served(answer: impl FnOnce() -> Option<usize>) -> Option<Any> {
    if has_allocator() { None } else { answer().map(pointer) }
}

/// C result: -1 on errors.
fn given(answer: Answer) -> usize {
    answer.unwrap_or_else(|error| {
        // SAFETY: each thread has its own.
        unsafe { *libc::__errno_location() = error };
        usize::MAX
    })
}

fn number(answer: Answer) -> c_int {
    given(answer) as c_int
}

fn refused(refusal: Option<&Refusal>) -> Option<c_int> {
    refusal.map(|refusal| number(Err(refusal.tell())))
}

/// realloc; `None` if the memory stays the C library's.
///
/// # Safety
///
/// As for realloc.
unsafe fn reallocate(memory: Any, bytes: size_t) -> Option<Any> {
    let address = memory.addr();
    let is_served = program::has(address);
    if is_served && bytes == 0 {
        program::free(address);
        return Some(null_mut());
    }
    let new = if is_served {
        // An allocation of the region stays there, however small. If space or moving fails, the C library takes over.
        match program::resize(address, bytes) {
            Some(resized) => return Some(pointer(resized)),
            None => __libc_malloc(bytes),
        }
    } else {
        pointer(program::allocate(bytes, 1, false)?)
    };
    if !new.is_null() && !memory.is_null() {
        // SAFETY: the caller has the old memory, of that length; nobody has the new.
        unsafe {
            let before = if is_served { program::size(address) } else { USABLE.get()(memory) };
            std::ptr::copy_nonoverlapping(memory.cast::<u8>(), new.cast::<u8>(), before.min(bytes));
            if is_served { program::free(address) } else { __libc_free(memory) }
        }
    }
    Some(new)
}

fn flags_of(file: c_int) -> c_int {
    // SAFETY: it changes nothing.
    unsafe { FCNTL.get()(file, libc::F_GETFL, null_mut()) }
}

/// C functions: this library's answer, or that of the program's function without it, which `then` receives. Lookups need
/// allocator functions: those of the C library are linked directly, after `or`. Variable arguments are declared in full.
macro_rules! hooks {
    (@ $real:ident) => { $real.get() };
    (@ $real:ident $libc:ident) => { if has_allocator() { $real.get() } else { $libc } };
    ($($real:ident $(or $libc:ident)?: $name:ident($($argument:ident: $kind:ty),*) -> $result:ty = $ours:expr $(, then $then:expr)?;)*) => { $(
        static $real: Real<unsafe extern "C" fn($($kind),*) -> $result> =
            // SAFETY: the type is that of the manual page.
            unsafe { Real::new(concat!(stringify!($name), "\0")) };

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $kind),*) -> $result {
            let ours: Option<$result> = $ours;
            if let Some(answer) = ours {
                return answer;
            }
            let real: unsafe extern "C" fn($($kind),*) -> $result = hooks!(@ $real $($libc)?);
            // SAFETY: the caller's.
            let answer = unsafe { real($($argument),*) };
            $($then(answer);)?
            answer
        }
    )*

        /// Looks up all functions: a later call may be where lookups are impossible (signal handler).
        fn find() {
            $($real.address();)*
        }
    };
}

hooks! {
    MALLOC or __libc_malloc: malloc(bytes: size_t) -> Any = served(|| program::allocate(bytes, 1, false));
    CALLOC or __libc_calloc: calloc(count: size_t, bytes: size_t) -> Any =
        served(|| program::allocate(count.checked_mul(bytes)?, 1, true));
    MEMALIGN or __libc_memalign: memalign(align: size_t, bytes: size_t) -> Any =
        served(|| program::allocate(bytes, align, false));
    ALIGNED or __libc_memalign: aligned_alloc(align: size_t, bytes: size_t) -> Any =
        served(|| program::allocate(bytes, align, false));
    POSIX_MEMALIGN: posix_memalign(memory: *mut Any, align: size_t, bytes: size_t) -> c_int =
        served(|| program::aligned(bytes, align)).map(|new| {
            // SAFETY: the caller has a place for it.
            unsafe { *memory = new };
            0
        });
    REALLOC or __libc_realloc: realloc(memory: Any, bytes: size_t) -> Any =
        // SAFETY: the caller's.
        if has_allocator() { None } else { unsafe { reallocate(memory, bytes) } };
    FREE or __libc_free: free(memory: Any) -> () = served(|| program::freed(memory.addr())).map(|_| ());
    USABLE: malloc_usable_size(memory: Any) -> size_t =
        served(|| program::has(memory.addr()).then_some(0)).map(|_| program::size(memory.addr()));

    MMAP: mmap(address: Any, bytes: size_t, protection: c_int, flags: c_int, file: c_int, offset: i64) -> Any =
        program::map(address.addr(), bytes, protection, flags).map(|answer| pointer(given(answer))),
        then |memory: Any| program::mapped(memory.addr(), bytes);
    MMAP64: mmap64(address: Any, bytes: size_t, protection: c_int, flags: c_int, file: c_int, offset: i64) -> Any =
        program::map(address.addr(), bytes, protection, flags).map(|answer| pointer(given(answer))),
        then |memory: Any| program::mapped(memory.addr(), bytes);
    MREMAP: mremap(address: Any, bytes: size_t, new_bytes: size_t, flags: c_int, to: Any) -> Any =
        program::remap(address.addr(), bytes, new_bytes, flags).map(|answer| pointer(given(answer))),
        then |memory: Any| program::mapped(memory.addr(), new_bytes);
    MUNMAP: munmap(address: Any, bytes: size_t) -> c_int = program::unmap(address.addr(), bytes).map(number);
    MADVISE: madvise(address: Any, bytes: size_t, advice: c_int) -> c_int =
        program::advise(address.addr(), bytes, advice).map(number);

    // Called by pthread_atfork, part of each program and library.
    REGISTER: __register_atfork(before: Handler, parent: Handler, child: Handler, library: Any) -> c_int = {
        at_fork();
        None
    };
    CLONE: clone(run: *const c_void, stack: Any, flags: c_int, argument: Any, parent: Any, tls: Any, child: Any) -> c_int =
        refused(program::clones(flags));

    MLOCKALL: mlockall(flags: c_int) -> c_int = refused(program::locks_all());
    OPEN: open(path: Path, flags: c_int, mode: c_uint) -> c_int = refused(program::opens(flags));
    OPEN64: open64(path: Path, flags: c_int, mode: c_uint) -> c_int = refused(program::opens(flags));
    OPEN_2: __open_2(path: Path, flags: c_int) -> c_int = refused(program::opens(flags));
    OPEN64_2: __open64_2(path: Path, flags: c_int) -> c_int = refused(program::opens(flags));
    OPENAT: openat(folder: c_int, path: Path, flags: c_int, mode: c_uint) -> c_int = refused(program::opens(flags));
    OPENAT64: openat64(folder: c_int, path: Path, flags: c_int, mode: c_uint) -> c_int = refused(program::opens(flags));
    OPENAT_2: __openat_2(folder: c_int, path: Path, flags: c_int) -> c_int = refused(program::opens(flags));
    OPENAT64_2: __openat64_2(folder: c_int, path: Path, flags: c_int) -> c_int = refused(program::opens(flags));
    FCNTL: fcntl(file: c_int, command: c_int, argument: Any) -> c_int =
        refused(program::controls(command, argument.addr(), || flags_of(file)));
    FCNTL64: fcntl64(file: c_int, command: c_int, argument: Any) -> c_int =
        refused(program::controls(command, argument.addr(), || flags_of(file)));
}
