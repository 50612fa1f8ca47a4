//! Sender of a TCP flow (RFC 5681; NewReno of RFC 6582; with SACK RFC 6675).

use incast_model::units::Time;

use super::TcpParams;
use super::control::{self, Acked, Window};
use super::rtt::Rtt;
use crate::kernel::Range;
use crate::transport::Ranges;
use crate::transport::segments::{Packets, Segment};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Handshake,
    Open,
    Recovery,
    /// Resends from the first unacknowledged byte.
    Loss,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Heard<'a> {
    pub(super) now: Time,
    pub(super) next: u64,
    pub(super) beyond: &'a [Range],
    /// In ps, of the answered segment.
    pub(super) rtt: u64,
    pub(super) marked: bool,
}

/// Windows and positions in bytes.
#[derive(Debug)]
pub(super) struct Sender {
    pub(super) packets: Packets,
    pub(super) phase: Phase,
    /// First unacknowledged byte.
    una: u64,
    /// Packets put into the host's queue, and out of it.
    given: u64,
    left: u64,
    /// `given` when the first unacknowledged segment was last resent; 0: never.
    first_again: u64,
    next: u64,
    /// First byte never sent.
    high: u64,
    cwnd: u64,
    ssthresh: u64,
    /// Recovery, or the phase after a timeout, lasts until bytes up to here are acknowledged.
    recover: u64,
    duplicates: u32,
    /// Arrived beyond `una`.
    sacked: Ranges,
    /// Not yet resent in this recovery.
    lost: Ranges,
    /// Missing bytes before it are lost.
    judged: u64,
    /// The next lost segment ignores the window.
    at_once: bool,
    rtt: Rtt,
    control: control::State,
    /// Marks count again beyond this acknowledged byte.
    reduced_until: u64,
    /// Until the receiver knows that marks reduced the window.
    pub(super) reports_reduction: bool,
    has_sack: bool,
    listens: bool,
    dupacks: Option<u32>,
    most: u64,
    abc_limit: u64,
}

impl Sender {
    pub(super) fn new(params: &TcpParams, packets: Packets) -> Self {
        let mss = packets.mss;
        Self {
            packets,
            phase: if params.handshake { Phase::Handshake } else { Phase::Open },
            una: 0,
            given: 0,
            left: 0,
            first_again: 0,
            next: 0,
            high: 0,
            cwnd: u64::from(params.init_cwnd) * mss,
            ssthresh: u64::MAX,
            recover: 0,
            duplicates: 0,
            sacked: Ranges::default(),
            lost: Ranges::default(),
            judged: 0,
            at_once: false,
            rtt: Rtt::new(params),
            control: params.control.start(),
            reduced_until: 0,
            reports_reduction: false,
            has_sack: params.sack,
            listens: params.listens(),
            dupacks: params.dupacks,
            most: params.max_cwnd.map_or(u64::MAX, |most| u64::from(most) * mss),
            abc_limit: u64::from(params.abc_limit) * mss,
        }
    }

    pub(super) fn stop(&mut self) {
        self.packets.size = self.high;
    }

    /// `None`: a handshake packet.
    pub(super) fn give(&mut self, segment: Option<Segment>) {
        self.given += 1;
        if segment.is_some_and(|segment| segment.again && segment.seq == self.una) {
            self.first_again = self.given;
        }
    }

    pub(super) fn leave(&mut self) {
        self.left += 1;
    }

    /// True if the timer's segment, the first unacknowledged, is in the host's queue. If it was not resent, all segments first
    /// sent since are behind it; segments resent since count as before it: a timeout too soon is better than none.
    pub(super) fn first_waits(&self) -> bool {
        let since = (self.next - self.una).div_ceil(self.packets.mss).max(1);
        let number = if self.first_again > 0 { self.first_again } else { (self.given + 1).saturating_sub(since) };
        self.left < number
    }

    pub(super) const fn is_done(&self) -> bool {
        self.una == self.packets.size
    }

    /// Also beyond gaps.
    pub(super) fn come(&self) -> u64 {
        self.una + self.sacked.bytes()
    }

    pub(super) fn timeout(&self) -> u64 {
        self.rtt.timeout()
    }

    pub(super) const fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn in_flight(&self) -> u64 {
        let come = self.sacked.bytes() - self.sacked.bytes_from(self.next);
        self.next - self.una - come - self.lost.bytes()
    }

    pub(super) fn next_segment(&mut self) -> Option<Segment> {
        if self.phase == Phase::Handshake {
            return None;
        }
        if let Some(&(seq, _)) = self.lost.as_slice().first() {
            let len = self.packets.len(seq);
            if !self.at_once && self.in_flight() + len > self.cwnd {
                return None;
            }
            self.at_once = false;
            self.lost.forget_before(seq + len);
            return Some(Segment { seq, len, again: true });
        }
        if self.next < self.high {
            self.next = self.sacked.first_missing(self.next);
        }
        if self.next >= self.packets.size {
            return None;
        }
        let (seq, len) = (self.next, self.packets.len(self.next));
        if self.in_flight() + len > self.cwnd {
            return None;
        }
        self.next = seq + len;
        let again = seq < self.high;
        self.high = self.high.max(self.next);
        Some(Segment { seq, len, again })
    }

    /// `rtt` in ps.
    pub(super) fn on_syn_ack(&mut self, rtt: u64) {
        self.rtt.measure(rtt);
        self.rtt.relax();
        self.phase = Phase::Open;
    }

    /// True if the timer restarts.
    pub(super) fn on_ack(&mut self, heard: &Heard<'_>) -> bool {
        for &(start, end) in heard.beyond {
            self.sacked.insert(start.max(self.una), end);
        }
        if heard.next > self.una {
            self.advance(heard);
            return true;
        }
        if heard.next == self.una && self.high > self.una {
            self.duplicate();
        }
        false
    }

    pub(super) const fn counts_duplicates(&self) -> bool {
        self.dupacks.is_some()
    }

    fn advance(&mut self, heard: &Heard<'_>) {
        let bytes = heard.next - self.una;
        self.una = heard.next;
        self.first_again = 0;
        self.next = self.next.max(self.una);
        self.sacked.forget_before(self.una);
        self.lost.forget_before(self.una);
        self.rtt.measure(heard.rtt);
        self.rtt.relax();
        let acked = Acked {
            now: heard.now,
            bytes,
            una: self.una,
            high: self.high,
            marked: heard.marked,
            cwnd: self.cwnd,
            mss: self.packets.mss,
            srtt: self.rtt.smoothed(),
        };
        self.control.observe(&acked);
        match self.phase {
            Phase::Recovery if self.una >= self.recover => self.end_recovery(),
            Phase::Recovery => self.partial(bytes),
            _ => {
                self.duplicates = 0;
                if self.phase == Phase::Loss && self.una >= self.recover {
                    self.phase = Phase::Open;
                }
                if heard.marked && self.listens && self.phase == Phase::Open {
                    self.react_to_marks(&acked);
                } else {
                    self.grow(&acked);
                }
            }
        }
    }

    fn grow(&mut self, acked: &Acked) {
        self.cwnd = if self.cwnd < self.ssthresh {
            self.cwnd + acked.bytes.min(self.abc_limit)
        } else {
            self.control.avoid_congestion(acked)
        };
        self.cwnd = self.cwnd.min(self.most);
    }

    /// Once per window of data.
    fn react_to_marks(&mut self, acked: &Acked) {
        if self.una <= self.reduced_until {
            return;
        }
        self.ssthresh = self.control.after_marks(self.cwnd, acked.high - acked.una, acked.mss);
        self.cwnd = self.ssthresh.min(self.most);
        self.reduced_until = self.high;
        self.reports_reduction = true;
    }

    fn duplicate(&mut self) {
        let Some(dupacks) = self.dupacks else { return };
        match self.phase {
            Phase::Open => {
                self.duplicates += 1;
                self.judge(dupacks);
                // Segments sent twice are answered twice: no loss (RFC 6582, section 3.2).
                let fresh = self.una > self.recover || self.recover == 0;
                if self.duplicates >= dupacks && fresh || !self.lost.is_empty() {
                    self.enter_recovery();
                }
            }
            Phase::Recovery if self.has_sack => self.judge(dupacks),
            // A segment has left the network.
            Phase::Recovery => self.cwnd += self.packets.mss,
            Phase::Handshake | Phase::Loss => {}
        }
    }

    /// RFC 6675, section 4 (IsLost): `dupacks` segments beyond are needed.
    fn judge(&mut self, dupacks: u32) {
        let mut segments = 0;
        let Some(&(before, _)) = self.sacked.as_slice().iter().rev().find(|(start, end)| {
            segments += (end - start).div_ceil(self.packets.mss);
            segments >= u64::from(dupacks)
        }) else {
            return;
        };
        let mut seq = self.sacked.first_missing(self.judged.max(self.una));
        while seq < before {
            let end = self.sacked.first_present(seq).unwrap_or(before).min(before);
            self.lost.insert(seq, end);
            seq = self.sacked.first_missing(end);
        }
        self.judged = self.judged.max(before);
    }

    fn enter_recovery(&mut self) {
        let (mss, flight) = (self.packets.mss, self.high - self.una);
        self.ssthresh = self.control.after_loss(self.cwnd, flight, mss);
        self.phase = Phase::Recovery;
        self.recover = self.high;
        self.reduced_until = self.high;
        self.lose_first();
        self.cwnd = if self.has_sack { self.ssthresh } else { self.ssthresh + 3 * mss };
        self.cwnd = self.cwnd.min(self.most);
    }

    fn lose_first(&mut self) {
        let end = self.una + self.packets.len(self.una);
        self.lost.insert(self.una, end);
        self.judged = self.judged.max(end);
        self.at_once = true;
    }

    /// The next segment is lost too (RFC 6582, section 3.2, step 3), unless resent.
    fn partial(&mut self, bytes: u64) {
        if self.una >= self.judged || !self.has_sack {
            self.lose_first();
        }
        if self.has_sack {
            self.judge(self.dupacks.unwrap_or(u32::MAX));
        } else {
            let mss = self.packets.mss;
            self.cwnd = self.cwnd.saturating_sub(bytes) + if bytes >= mss { mss } else { 0 };
        }
    }

    fn end_recovery(&mut self) {
        let (mss, flight) = (self.packets.mss, self.high - self.una);
        // Avoids a burst: without SACK the window may far exceed the bytes in flight (RFC 6582, section 3.2, step 3).
        self.cwnd = if self.has_sack { self.ssthresh } else { self.ssthresh.min(flight.max(mss) + mss) };
        self.phase = Phase::Open;
        self.duplicates = 0;
        self.forget_losses();
    }

    fn forget_losses(&mut self) {
        self.lost.clear();
        self.judged = self.una;
        self.at_once = false;
    }

    pub(super) fn on_timeout(&mut self) {
        self.rtt.back_off();
        if self.phase == Phase::Handshake {
            return;
        }
        let (mss, flight) = (self.packets.mss, self.high - self.una);
        // Not again if a resent segment is lost too (RFC 5681, section 3.1).
        if self.phase != Phase::Loss || self.una >= self.recover {
            self.ssthresh = self.control.after_loss(self.cwnd, flight, mss);
        }
        self.control.on_timeout();
        self.phase = Phase::Loss;
        self.cwnd = mss;
        self.recover = self.high;
        self.reduced_until = self.high;
        self.next = self.una;
        self.duplicates = 0;
        self.forget_losses();
    }
}
