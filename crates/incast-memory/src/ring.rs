//! Ring of records in memory shared with `incast`.

use std::sync::atomic::{AtomicU64, Ordering};

/// Words of 8 bytes before the records: one page.
pub(crate) const HEADER: usize = 512;
pub(crate) const RECORD: usize = 4;

/// Header words, as in Python's `incast.memory.protocol`; page counts: see [`crate::pager::Counts`].
#[derive(Debug, Clone, Copy)]
#[repr(usize)]
pub(crate) enum Word {
    Written,
    /// Records read; set by the reader.
    Read,
    /// CLOCK_MONOTONIC at the start of recording, in ns.
    Start,
    First,
    Fetched,
    Sent,
    Dropped,
    MappedAgain,
    Guarded,
    Footprint,
    Peak,
    Pinned,
    Limit,
    /// Processor time of the handler, in ns.
    Processor,
    /// Calls answered by the handler.
    Calls,
    /// Bytes of large requests that the region lacked.
    Unserved,
    /// Waiting time for the reader of a full ring, in ns.
    Stalled,
    /// Records dropped for lack of a reader.
    Lost,
}

/// Page fetch, or transfer to remote memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    /// CLOCK_MONOTONIC of fault or transfer, in ns.
    pub(crate) time: u64,
    pub(crate) page: u32,
    /// Waiting thread (gettid(2)); 0 if none.
    pub(crate) thread: u32,
    /// 0: fetch to read, 1: fetch to write, 2: page sent.
    pub(crate) kind: u8,
    /// Requested delay in ns.
    pub(crate) asked: u32,
    /// Achieved delay in ns.
    pub(crate) achieved: u32,
    /// Instrument's time from fault to mapping, without the delay, in ns.
    pub(crate) software: u32,
}

#[derive(Debug)]
pub(crate) struct Ring {
    words: &'static [AtomicU64],
    capacity: u64,
    written: u64,
}

impl Ring {
    /// `words`: the header, then whole records.
    pub(crate) fn new(words: &'static [AtomicU64]) -> Self {
        Self { words, capacity: ((words.len() - HEADER) / RECORD) as u64, written: 0 }
    }

    pub(crate) fn set(&self, word: Word, value: u64) {
        self.words[word as usize].store(value, Ordering::Relaxed);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.written - self.words[Word::Read as usize].load(Ordering::Acquire) >= self.capacity
    }

    /// Writes a record; the ring must not be full.
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
