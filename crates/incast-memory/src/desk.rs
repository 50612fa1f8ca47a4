//! Where a program's threads ask the handler for memory: one at a time, by a page fault of a page that is there for it.
//!
//! The handler alone owns the state, and no thread of the program holds a lock that it needs: such a thread could fault itself, if
//! its stack lies in the region, and would wait for ever.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::thread::futex;

use crate::heap::Call;
use crate::space::Extent;
use crate::sys;

/// Bytes of a page.
pub(crate) const PAGE: usize = 4096;

/// The page whose faults are calls.
pub(crate) const BELL: u32 = 0;

/// Where the region begins; 0 as long as there is none.
static BASE: AtomicUsize = AtomicUsize::new(0);
/// How many bytes it has.
static BYTES: AtomicUsize = AtomicUsize::new(0);
/// Allocations from so many bytes on are served.
static THRESHOLD: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Bytes that there was no room for.
static UNSERVED: AtomicU64 = AtomicU64::new(0);
/// Whose turn it is to ask.
static TURN: Turn = Turn(AtomicU32::new(0));
/// What is asked, and the answer.
static SLIP: Mutex<(Call, Option<u32>)> = Mutex::new((NOTHING, None));
const NOTHING: Call = Call::Fork { stack: Call::ELSEWHERE };
/// How many pages allocations have, by their first.
static SIZES: OnceLock<&'static [AtomicU32]> = OnceLock::new();
/// The last allocations that were freed, which are still open and hold what they held: programs that free and allocate again and
/// again need not ask each time, as with the C library's heap. Each has its first page and, from bit 32 on, how many; 0 is none.
/// Without a lock, which a process that is forked could inherit closed.
static SHELF: [AtomicU64; 8] = [const { AtomicU64::new(0) }; 8];
/// The place of the shelf that is next.
static NEXT: AtomicUsize = AtomicUsize::new(0);
/// The largest allocation that is put on the shelf, in pages: with all its places 8 MiB. Both are our choice.
const SHELVED: u32 = 256;

/// Whether somebody has the turn: 0 nobody, 1 somebody, 2 and others wait for it. A lock that a process which was forked can release.
struct Turn(AtomicU32);

impl Turn {
    fn take(&self) {
        if self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            while self.0.swap(2, Ordering::Acquire) != 0 {
                // Woken, or no longer 2: look again.
                let _ = futex::wait(&self.0, futex::Flags::PRIVATE, 2, None);
            }
        }
    }

    fn leave(&self) {
        if self.0.swap(0, Ordering::Release) == 2 {
            let _ = futex::wake(&self.0, futex::Flags::PRIVATE, 1);
        }
    }
}

/// Begins to serve.
pub(crate) fn open(base: usize, bytes: usize, threshold: usize, sizes: &'static [AtomicU32]) {
    let _ = SIZES.set(sizes);
    BYTES.store(bytes, Ordering::Relaxed);
    THRESHOLD.store(threshold, Ordering::Relaxed);
    BASE.store(base, Ordering::Release);
}

/// Whether memory of so many bytes is served.
pub(crate) fn serves(bytes: usize) -> bool {
    bytes >= THRESHOLD.load(Ordering::Relaxed) && BASE.load(Ordering::Acquire) != 0
}

/// Whether an address lies in the region.
pub(crate) fn has(address: usize) -> bool {
    address.wrapping_sub(BASE.load(Ordering::Acquire)) < BYTES.load(Ordering::Relaxed)
}

/// The page of an address of the region.
pub(crate) fn page(address: usize) -> u32 {
    ((address - BASE.load(Ordering::Relaxed)) / PAGE) as u32
}

/// Where a page begins.
pub(crate) fn address(page: u32) -> usize {
    BASE.load(Ordering::Relaxed) + page as usize * PAGE
}

/// How many pages so many bytes need; `None` if the region could not have so many.
pub(crate) fn count(bytes: usize) -> Option<u32> {
    (bytes <= BYTES.load(Ordering::Relaxed)).then(|| bytes.div_ceil(PAGE) as u32)
}

/// The pages of a range of addresses that begins in the region; `None` if it is longer than the region.
pub(crate) fn extent(address: usize, bytes: usize) -> Option<Extent> {
    let (first, count) = (page(address), count(bytes)?);
    (first as usize + count as usize <= BYTES.load(Ordering::Relaxed) / PAGE).then(|| Extent::new(first, count))
}

/// How many pages the allocation has that begins with this one; 0 if none does.
pub(crate) fn size(first: u32) -> u32 {
    SIZES.get().map_or(0, |sizes| sizes[first as usize].load(Ordering::Relaxed))
}

/// Puts an allocation on the shelf; gives one that has to be given back in its place.
pub(crate) fn shelve(first: u32) -> Option<u32> {
    let count = size(first);
    if count == 0 || count > SHELVED {
        return Some(first);
    }
    let new = u64::from(first) | u64::from(count) << 32;
    // Freed twice: as ever that is the program's mistake, which is not to become two owners of the same memory.
    if SHELF.iter().any(|place| place.load(Ordering::Relaxed) == new) {
        return None;
    }
    let place = &SHELF[NEXT.fetch_add(1, Ordering::Relaxed) % SHELF.len()];
    let before = place.swap(new, Ordering::AcqRel);
    (before != 0).then_some(before as u32)
}

/// Takes an allocation of so many pages from the shelf.
pub(crate) fn unshelve(count: u32) -> Option<u32> {
    SHELF.iter().find_map(|place| {
        let found = place.load(Ordering::Relaxed);
        let fits = found >> 32 == u64::from(count) && count != 0;
        let taken = fits && place.compare_exchange(found, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        taken.then_some(found as u32)
    })
}

/// Memory of so many bytes was wanted, and there was no room.
pub(crate) fn unserved(bytes: usize) {
    UNSERVED.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// Bytes that there was no room for.
pub(crate) fn unserved_bytes() -> u64 {
    UNSERVED.load(Ordering::Relaxed)
}

/// Asks the handler, and waits for its answer.
pub(crate) fn ask(call: Call) -> Option<u32> {
    TURN.take();
    *slip() = (call, None);
    sys::ring();
    let answer = slip().1;
    TURN.leave();
    answer
}

/// Of the handler, who was asked: what, and the place for the answer.
pub(crate) fn slip() -> std::sync::MutexGuard<'static, (Call, Option<u32>)> {
    SLIP.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process is about to fork: asks the handler to rest, and keeps the turn.
pub(crate) fn rest() {
    TURN.take();
    let here = 0_u8;
    let here = (&raw const here).addr();
    *slip() = (Call::Fork { stack: if has(here) { page(here) } else { Call::ELSEWHERE } }, None);
    sys::ring();
}

/// The process has forked.
pub(crate) fn go_on() {
    TURN.leave();
}
