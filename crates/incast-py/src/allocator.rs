//! Allocator of the core. Out of memory, the process ends with exit code 3 and a message (on Unix); the standard library's
//! SIGABRT looks like a bug.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

#[derive(Debug)]
pub(crate) struct Allocator;

// SAFETY: every call goes to the system's allocator with the caller's arguments.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        there(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        there(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        there(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn there(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        exhausted(size);
    }
    memory
}

/// Ends the process without allocating, and without exit handlers, which might allocate.
#[cfg(unix)]
#[cold]
fn exhausted(size: usize) {
    use std::io::Write;

    let mut text = [0; 160];
    let mut rest = &mut text[..];
    let _ = writeln!(rest, "error: out of memory: {size} more bytes were asked for; use fewer flows, hosts or threads");
    let left = rest.len();
    // SAFETY: the text outlives the call; `_exit` needs nothing.
    unsafe {
        libc::write(2, text.as_ptr().cast(), text.len() - left);
        libc::_exit(3)
    }
}

/// Returns: the standard library aborts.
#[cfg(not(unix))]
fn exhausted(_: usize) {}
