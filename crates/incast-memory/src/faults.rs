//! A process's page-fault file (linux/userfaultfd.h): call numbers and events. [`crate::sys`] makes the calls.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::space::PAGE;

/// Call number; includes the argument's size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number(pub(crate) u64);

impl Number {
    pub(crate) const fn bytes(self) -> usize {
        (self.0 >> 16 & 0x3FFF) as usize
    }
}

const fn call(direction: u64, number: u64, bytes: u64) -> Number {
    Number(direction << 30 | bytes << 16 | 0xAA << 8 | number)
}
const BOTH: u64 = 3;
const FROM_KERNEL: u64 = 2;

pub(crate) const NEW: Number = call(0, 0x00, 0);
pub(crate) const API: Number = call(BOTH, 0x3F, 24);
pub(crate) const REGISTER: Number = call(BOTH, 0x00, 32);
pub(crate) const WAKE: Number = call(FROM_KERNEL, 0x02, 16);
pub(crate) const COPY: Number = call(BOTH, 0x03, 40);
pub(crate) const ZEROPAGE: Number = call(BOTH, 0x04, 32);
pub(crate) const WRITEPROTECT: Number = call(BOTH, 0x06, 24);

pub(crate) const VERSION: u64 = 0xAA;
/// Write-protection faults; thread of each fault.
pub(crate) const FEATURES: u64 = 1 | 1 << 8;
pub(crate) const MISSING_AND_GUARDED: u64 = 1 | 2;
/// Modes of `COPY`: wake no thread; write-protect.
pub(crate) const SILENT: u64 = 1;
pub(crate) const GUARDED: u64 = 2;
const PAGEFAULT: u8 = 0x12;
const WRITE: u64 = 1;
const WP: u64 = 2;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Event {
    pub(crate) page: u32,
    pub(crate) thread: u32,
    pub(crate) write: bool,
    /// Mapped and write-protected.
    pub(crate) guarded: bool,
}

/// Reads pending faults of the region at `base`; returns their number.
pub(crate) fn read(file: &OwnedFd, base: usize, into: &mut [Event; 16]) -> usize {
    let mut messages = [[0; 32]; 16];
    let Ok(bytes) = rustix::io::read(file, messages.as_flattened_mut()) else { return 0 };
    let mut seen = 0;
    for message in messages[..bytes / 32].iter().filter(|message| message[0] == PAGEFAULT) {
        let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|byte| message[at + byte]));
        let (flags, address, thread) = (word(8), word(16) as usize, word(24) as u32);
        let page = ((address - base) / PAGE) as u32;
        into[seen] = Event { page, thread, write: flags & WRITE != 0, guarded: flags & WP != 0 };
        seen += 1;
    }
    seen
}

/// Waits at most `most` ns for a fault; returns whether one is pending.
pub(crate) fn wait(file: &OwnedFd, most: u64) -> bool {
    let most = Timespec { tv_sec: (most / 1_000_000_000) as i64, tv_nsec: (most % 1_000_000_000) as i64 };
    poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&most)).is_ok_and(|ready| ready > 0)
}
