//! What happens, for the `incast` that started the program: a ring of records in memory that both see.

use std::sync::atomic::{AtomicU64, Ordering};

/// Words before the records, one page of 8 bytes each.
pub(crate) const HEADER: usize = 512;
/// Words of a record.
pub(crate) const RECORD: usize = 4;

/// Places in the header. Python's `incast.memory.ring` has the same list.
#[derive(Debug, Clone, Copy)]
#[repr(usize)]
pub(crate) enum Word {
    /// Records that were written.
    Written,
    /// Records that were read: of the reader.
    Read,
    /// When recording began, as CLOCK_MONOTONIC has it, in nanoseconds.
    Start,
    /// Pages accessed for the first time.
    First,
    /// Pages that came from remote memory.
    Fetched,
    /// Pages that were sent there.
    Sent,
    /// Pages that left without being sent.
    Dropped,
    /// Pages mapped again before they became remote.
    MappedAgain,
    /// First writes to pages fetched to be read.
    Guarded,
    /// Pages with a content now.
    Footprint,
    /// The most of these so far.
    Peak,
    /// Pages that cannot become remote.
    Pinned,
    /// Pages that may be local now.
    Limit,
    /// The handler's processor time so far, in nanoseconds.
    Processor,
    /// Calls for memory that were served.
    Calls,
    /// Bytes of large allocations that the region had no room for.
    Unserved,
    /// Time spent waiting for the reader to make room, in nanoseconds.
    Stalled,
    /// Records that were not written because the reader was gone.
    Lost,
}

/// A record: a fetch, or a page sent away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    /// When the fault was seen or the page sent, as CLOCK_MONOTONIC has it, in nanoseconds.
    pub(crate) time: u64,
    pub(crate) page: u32,
    /// The thread that waited, as gettid has it; 0 if none did.
    pub(crate) thread: u32,
    /// 0 a fetch to read, 1 a fetch to write, 2 a page sent.
    pub(crate) kind: u8,
    /// The delay that was asked for, in nanoseconds.
    pub(crate) asked: u32,
    /// The delay that it became.
    pub(crate) achieved: u32,
    /// What the instrument took beside, from when the fault was seen, in nanoseconds.
    pub(crate) software: u32,
}

/// A ring of records.
#[derive(Debug)]
pub(crate) struct Ring {
    words: &'static [AtomicU64],
    capacity: u64,
    written: u64,
}

impl Ring {
    /// An empty ring: [`HEADER`] words and then a whole number of records.
    pub(crate) fn new(words: &'static [AtomicU64]) -> Self {
        Self { words, capacity: ((words.len() - HEADER) / RECORD) as u64, written: 0 }
    }

    /// Sets a word of the header.
    pub(crate) fn set(&self, word: Word, value: u64) {
        self.words[word as usize].store(value, Ordering::Relaxed);
    }

    /// Whether there is no room for a record.
    pub(crate) fn is_full(&self) -> bool {
        self.written - self.words[Word::Read as usize].load(Ordering::Acquire) >= self.capacity
    }

    /// Writes a record, for which there is room.
    pub(crate) fn write(&mut self, record: Record) {
        let at = HEADER + (self.written % self.capacity) as usize * RECORD;
        let words = [
            record.time,
            u64::from(record.page) | u64::from(record.thread) << 32,
            u64::from(record.kind) | u64::from(record.asked) << 32,
            u64::from(record.achieved) | u64::from(record.software) << 32,
        ];
        for (place, word) in self.words[at..at + RECORD].iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
        self.written += 1;
        self.words[Word::Written as usize].store(self.written, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_round() {
        let words: &'static [AtomicU64] = Box::leak((0..HEADER + 2 * RECORD).map(|_| AtomicU64::new(0)).collect());
        let mut ring = Ring::new(words);
        let record = |page| Record { time: 7, page, thread: 3, kind: 1, asked: 4, achieved: 5, software: 6 };
        ring.write(record(1));
        assert!(!ring.is_full());
        ring.write(record(2));
        assert!(ring.is_full());
        words[Word::Read as usize].store(1, Ordering::Relaxed);
        assert!(!ring.is_full());
        ring.write(record(9));
        let read: Vec<u64> = words[HEADER..].iter().map(|word| word.load(Ordering::Relaxed)).collect();
        assert_eq!(read[..4], [7, 3 << 32 | 9, 4 << 32 | 1, 6 << 32 | 5]);
        assert_eq!(read[5], 3 << 32 | 2);
        assert_eq!(words[Word::Written as usize].load(Ordering::Relaxed), 3);
    }
}
