//! Segments that arrived beyond a gap, and lost ones (RFC 6675).

use crate::transport::Ranges;
use crate::transport::segments::Packets;

#[derive(Debug, Default)]
pub(super) struct Losses {
    /// Arrived beyond the first unacknowledged byte.
    pub(super) sacked: Ranges,
    /// Not yet resent in this recovery.
    lost: Ranges,
    /// Missing bytes before it are lost.
    judged: u64,
    /// The next lost segment ignores the window.
    at_once: bool,
}

impl Losses {
    pub(super) fn is_empty(&self) -> bool {
        self.lost.is_empty()
    }

    pub(super) fn first(&self) -> Option<u64> {
        self.lost.as_slice().first().map(|&(seq, _)| seq)
    }

    pub(super) fn not_in_flight(&self, next: u64) -> u64 {
        self.sacked.bytes() - self.sacked.bytes_from(next) + self.lost.bytes()
    }

    pub(super) const fn ignores_window(&self) -> bool {
        self.at_once
    }

    pub(super) fn resend_before(&mut self, end: u64) {
        self.at_once = false;
        self.lost.forget_before(end);
    }

    pub(super) fn acknowledge(&mut self, una: u64) {
        self.sacked.forget_before(una);
        self.lost.forget_before(una);
    }

    pub(super) const fn is_judged(&self, seq: u64) -> bool {
        seq < self.judged
    }

    /// RFC 6675, section 4 (IsLost): `dupacks` segments beyond are needed.
    pub(super) fn judge(&mut self, una: u64, mss: u64, dupacks: u32) {
        let mut segments = 0;
        let Some(&(before, _)) = self.sacked.as_slice().iter().rev().find(|(start, end)| {
            segments += (end - start).div_ceil(mss);
            segments >= u64::from(dupacks)
        }) else {
            return;
        };
        let mut seq = self.sacked.first_missing(self.judged.max(una));
        while seq < before {
            let end = self.sacked.first_present(seq).unwrap_or(before).min(before);
            self.lost.insert(seq, end);
            seq = self.sacked.first_missing(end);
        }
        self.judged = self.judged.max(before);
    }

    pub(super) fn lose_first(&mut self, una: u64, packets: &Packets) {
        let end = una + packets.len(una);
        self.lost.insert(una, end);
        self.judged = self.judged.max(end);
        self.at_once = true;
    }

    pub(super) fn forget(&mut self, una: u64) {
        self.lost.clear();
        self.judged = una;
        self.at_once = false;
    }
}
