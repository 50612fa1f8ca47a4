//! Sender of a TCP flow (RFC 5681; NewReno of RFC 6582; with SACK RFC 6675).

use incast_model::units::Time;

use super::TcpParams;
use super::control::Acked;
use super::cwnd::Cwnd;
use super::losses::Losses;
use super::rtt::Rtt;
use crate::kernel::Range;
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
    next: u64,
    /// First byte never sent.
    high: u64,
    cwnd: Cwnd,
    /// Recovery, or the phase after a timeout, lasts until bytes up to here are acknowledged.
    recover: u64,
    duplicates: u32,
    losses: Losses,
    rtt: Rtt,
    has_sack: bool,
    listens: bool,
    dupacks: Option<u32>,
}

impl Sender {
    pub(super) fn new(params: &TcpParams, packets: Packets) -> Self {
        Self {
            cwnd: Cwnd::new(params, packets.mss),
            packets,
            phase: if params.handshake { Phase::Handshake } else { Phase::Open },
            una: 0,
            next: 0,
            high: 0,
            recover: 0,
            duplicates: 0,
            losses: Losses::default(),
            rtt: Rtt::new(params),
            has_sack: params.sack,
            listens: params.listens(),
            dupacks: params.dupacks,
        }
    }

    pub(super) fn stop(&mut self) {
        self.packets.size = self.high;
    }

    /// Perhaps not for the last time.
    pub(super) const fn has_sent_all(&self) -> bool {
        self.high == self.packets.size
    }

    pub(super) const fn is_done(&self) -> bool {
        self.una == self.packets.size
    }

    /// First byte not acknowledged.
    pub(super) const fn una(&self) -> u64 {
        self.una
    }

    /// Also beyond gaps.
    pub(super) fn come(&self) -> u64 {
        self.una + self.losses.sacked.bytes()
    }

    pub(super) fn timeout(&self) -> u64 {
        self.rtt.timeout()
    }

    pub(super) const fn cwnd(&self) -> u64 {
        self.cwnd.bytes()
    }

    pub(super) fn reports_reduction(&mut self) -> bool {
        self.cwnd.take_report()
    }

    fn in_flight(&self) -> u64 {
        self.next - self.una - self.losses.not_in_flight(self.next)
    }

    pub(super) fn next_segment(&mut self) -> Option<Segment> {
        if self.phase == Phase::Handshake {
            return None;
        }
        if let Some(seq) = self.losses.first() {
            let len = self.packets.len(seq);
            if !self.losses.ignores_window() && self.in_flight() + len > self.cwnd() {
                return None;
            }
            self.losses.resend_before(seq + len);
            return Some(Segment { seq, len, again: true });
        }
        if self.next < self.high {
            self.next = self.losses.sacked.first_missing(self.next);
        }
        if self.next >= self.packets.size {
            return None;
        }
        let (seq, len) = (self.next, self.packets.len(self.next));
        if self.in_flight() + len > self.cwnd() {
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
            self.losses.sacked.insert(start.max(self.una), end);
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
        self.next = self.next.max(self.una);
        self.losses.acknowledge(self.una);
        self.rtt.measure(heard.rtt);
        self.rtt.relax();
        let acked = Acked {
            now: heard.now,
            bytes,
            una: self.una,
            high: self.high,
            marked: heard.marked,
            cwnd: self.cwnd(),
            mss: self.packets.mss,
            srtt: self.rtt.smoothed(),
        };
        self.cwnd.observe(&acked);
        match self.phase {
            Phase::Recovery if self.una >= self.recover => self.end_recovery(),
            Phase::Recovery => self.partial(bytes),
            _ => {
                self.duplicates = 0;
                if self.phase == Phase::Loss && self.una >= self.recover {
                    self.phase = Phase::Open;
                }
                if heard.marked && self.listens && self.phase == Phase::Open {
                    self.cwnd.react_to_marks(&acked);
                } else {
                    self.cwnd.grow(&acked);
                }
            }
        }
    }

    fn duplicate(&mut self) {
        let Some(dupacks) = self.dupacks else { return };
        match self.phase {
            Phase::Open => {
                self.duplicates += 1;
                self.losses.judge(self.una, self.packets.mss, dupacks);
                // Segments sent twice are answered twice: no loss (RFC 6582, section 3.2).
                let fresh = self.una > self.recover || self.recover == 0;
                if self.duplicates >= dupacks && fresh || !self.losses.is_empty() {
                    self.enter_recovery();
                }
            }
            Phase::Recovery if self.has_sack => self.losses.judge(self.una, self.packets.mss, dupacks),
            Phase::Recovery => self.cwnd.inflate(),
            Phase::Handshake | Phase::Loss => {}
        }
    }

    fn enter_recovery(&mut self) {
        self.phase = Phase::Recovery;
        self.recover = self.high;
        self.cwnd.enter_recovery(self.una, self.high, self.has_sack);
        self.losses.lose_first(self.una, &self.packets);
    }

    /// The next segment is lost too (RFC 6582, section 3.2, step 3), unless resent.
    fn partial(&mut self, bytes: u64) {
        if !self.losses.is_judged(self.una) || !self.has_sack {
            self.losses.lose_first(self.una, &self.packets);
        }
        if self.has_sack {
            self.losses.judge(self.una, self.packets.mss, self.dupacks.unwrap_or(u32::MAX));
        } else {
            self.cwnd.deflate(bytes);
        }
    }

    fn end_recovery(&mut self) {
        self.cwnd.end_recovery(self.high - self.una, self.has_sack);
        self.phase = Phase::Open;
        self.duplicates = 0;
        self.losses.forget(self.una);
    }

    pub(super) fn on_timeout(&mut self) {
        self.rtt.back_off();
        if self.phase == Phase::Handshake {
            return;
        }
        let again = self.phase == Phase::Loss && self.una < self.recover;
        self.cwnd.on_timeout(self.una, self.high, again);
        self.phase = Phase::Loss;
        self.recover = self.high;
        self.next = self.una;
        self.duplicates = 0;
        self.losses.forget(self.una);
    }
}
