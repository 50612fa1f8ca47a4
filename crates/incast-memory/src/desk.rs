//! Requests of the program's threads to the handler, one at a time, by a fault at the doorbell page.
//!
//! The handler alone owns the state. No program thread holds a lock that the handler needs: with its stack in the region, a
//! fault while holding it would deadlock.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::thread::futex;

use crate::space::{Extent, PAGE};
use crate::sys;

pub(crate) const BELL: u32 = 0;

/// Request, in pages of the region. Answer: first page of the result, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// Allocates pages at a multiple of `align`.
    Allocate { count: u32, align: u32 },
    /// Frees an allocation.
    Free { first: u32 },
    /// Resizes an allocation.
    Resize { first: u32, count: u32 },
    /// Maps new pages.
    Map { count: u32, protection: u32 },
    /// Replaces pages by empty ones.
    MapAt { pages: Extent, protection: u32 },
    /// The program has mapped something else here.
    HandOver { pages: Extent },
    /// Frees pages.
    Unmap { pages: Extent },
    /// Resizes a range, which may move if `moves`.
    Remap { pages: Extent, count: u32, moves: bool },
    /// Makes pages read as zeros; fails for locked ones unless `locked`.
    Discard { pages: Extent, locked: bool },
    /// The thread with its stack pointer in page `stack` forks; [`Call::ELSEWHERE`]: stack outside the region.
    Fork { stack: u32 },
}

impl Call {
    pub(crate) const ELSEWHERE: u32 = u32::MAX;
}

/// Address of the region; 0 before [`open`].
static BASE: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);
static THRESHOLD: AtomicUsize = AtomicUsize::new(usize::MAX);
static UNSERVED: AtomicU64 = AtomicU64::new(0);
static TURN: Turn = Turn(AtomicU32::new(0));
/// Request slot: call and answer.
static SLIP: Mutex<(Call, Option<u32>)> = Mutex::new((NOTHING, None));
const NOTHING: Call = Call::Fork { stack: Call::ELSEWHERE };
/// Pages of each allocation, by its first page.
static SIZES: OnceLock<&'static [AtomicU32]> = OnceLock::new();
/// Cache of freed allocations, with content: repeated allocation needs no request (like the C library's heap). Entry: first
/// page, number of pages from bit 32; 0: empty. No lock: a forked process could inherit it locked.
static SHELF: [AtomicU64; 8] = [const { AtomicU64::new(0) }; 8];
static NEXT: AtomicUsize = AtomicUsize::new(0);
/// Largest cached allocation in pages (8 MiB in all). Size and number are our choice.
const SHELVED: u32 = 256;

/// Lock of requests: 0 free, 1 held, 2 held and awaited. A forked process can release it.
struct Turn(AtomicU32);

impl Turn {
    fn take(&self) {
        if self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            while self.0.swap(2, Ordering::Acquire) != 0 {
                // Woken, or no longer 2: retry.
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

pub(crate) fn open(base: usize, bytes: usize, threshold: usize, sizes: &'static [AtomicU32]) {
    let _ = SIZES.set(sizes);
    BYTES.store(bytes, Ordering::Relaxed);
    THRESHOLD.store(threshold, Ordering::Relaxed);
    BASE.store(base, Ordering::Release);
}

/// Returns whether allocations of `bytes` are served (`usize::MAX`: any).
pub(crate) fn serves(bytes: usize) -> bool {
    bytes >= THRESHOLD.load(Ordering::Relaxed) && BASE.load(Ordering::Acquire) != 0
}

pub(crate) fn has(address: usize) -> bool {
    address.wrapping_sub(BASE.load(Ordering::Acquire)) < BYTES.load(Ordering::Relaxed)
}

pub(crate) fn page(address: usize) -> u32 {
    ((address - BASE.load(Ordering::Relaxed)) / PAGE) as u32
}

pub(crate) fn address(page: u32) -> usize {
    BASE.load(Ordering::Relaxed) + page as usize * PAGE
}

/// `None` if the region is smaller.
pub(crate) fn count(bytes: usize) -> Option<u32> {
    (bytes <= BYTES.load(Ordering::Relaxed)).then(|| bytes.div_ceil(PAGE) as u32)
}

/// Pages of a range that begins in the region; `None` if it ends outside.
pub(crate) fn extent(address: usize, bytes: usize) -> Option<Extent> {
    let (first, count) = (page(address), count(bytes)?);
    (first as usize + count as usize <= BYTES.load(Ordering::Relaxed) / PAGE).then(|| Extent::new(first, count))
}

/// Pages of the allocation at `first`; 0 if none.
pub(crate) fn size(first: u32) -> u32 {
    SIZES.get().map_or(0, |sizes| sizes[first as usize].load(Ordering::Relaxed))
}

/// Caches an allocation; returns one to free instead: the replaced one, or itself if not cacheable.
pub(crate) fn shelve(first: u32) -> Option<u32> {
    let count = size(first);
    if count == 0 || count > SHELVED {
        return Some(first);
    }
    let new = u64::from(first) | u64::from(count) << 32;
    // A double free must not give memory two owners.
    if SHELF.iter().any(|place| place.load(Ordering::Relaxed) == new) {
        return None;
    }
    let place = &SHELF[NEXT.fetch_add(1, Ordering::Relaxed) % SHELF.len()];
    let before = place.swap(new, Ordering::AcqRel);
    (before != 0).then_some(before as u32)
}

pub(crate) fn unshelve(count: u32) -> Option<u32> {
    SHELF.iter().find_map(|place| {
        let found = place.load(Ordering::Relaxed);
        let fits = found >> 32 == u64::from(count) && count != 0;
        let taken = fits && place.compare_exchange(found, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        taken.then_some(found as u32)
    })
}

/// Counts bytes that the region lacked.
pub(crate) fn unserved(bytes: usize) {
    UNSERVED.fetch_add(bytes as u64, Ordering::Relaxed);
}

pub(crate) fn unserved_bytes() -> u64 {
    UNSERVED.load(Ordering::Relaxed)
}

pub(crate) fn ask(call: Call) -> Option<u32> {
    TURN.take();
    *slip() = (call, None);
    sys::ring();
    let answer = slip().1;
    TURN.leave();
    answer
}

pub(crate) fn slip() -> std::sync::MutexGuard<'static, (Call, Option<u32>)> {
    SLIP.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Before a fork: pauses the handler; keeps the lock of requests.
pub(crate) fn rest() {
    TURN.take();
    let here = 0_u8;
    let here = (&raw const here).addr();
    *slip() = (Call::Fork { stack: if has(here) { page(here) } else { Call::ELSEWHERE } }, None);
    sys::ring();
}

pub(crate) fn go_on() {
    TURN.leave();
}
