//! Selective repeat as in IRN (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018, section 3.1).
//!
//! NACKs report the byte expected and the packet received. In *recovery* the sender resends the first unacknowledged packet and
//! those that arrived packets have overtaken, until everything sent before is acknowledged.

mod bitmap;

use bitmap::Bitmap;

use crate::host::{PacketParams, REACH, RdmaParams};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    payload: u64,
    /// In ps, [`u64::MAX`] for none.
    rto: u64,
    rto_low: u64,
    rto_low_packets: u64,
    /// A packet counts as lost when more packets have overtaken it.
    reorder_window: u64,
}

impl Rules {
    pub(crate) fn new(packets: &PacketParams, rdma: &RdmaParams, reorder_window: u64) -> Self {
        Self {
            payload: packets.payload.0,
            rto: rdma.rto.map_or(u64::MAX, |rto| rto.0),
            rto_low: rdma.rto_low.0,
            rto_low_packets: rdma.rto_low_packets.into(),
            reorder_window,
        }
    }

    /// The short timeout applies if no NACK may report a loss: few packets in flight, or a gap and no more in flight than may
    /// overtake.
    fn timeout(&self, in_flight: u64, gap: bool) -> u64 {
        let silent = self.rto_low_packets + if gap { self.reorder_window } else { 0 };
        let few = in_flight <= silent * self.payload;
        if few && self.rto != u64::MAX { self.rto_low } else { self.rto }
    }
}

/// First unacknowledged byte; first byte never sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flight {
    pub(crate) una: u64,
    pub(crate) high: u64,
}

/// Effect of an ACK or NACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Heard {
    /// Byte to send.
    pub(crate) next: u64,
    /// Expiry in ps.
    pub(crate) timeout: u64,
    /// True for a NACK beyond the reordering window.
    pub(crate) lost: bool,
}

/// Packets are numbered from 0.
#[derive(Debug, Default)]
pub(crate) struct Repeat {
    /// From the first unacknowledged on.
    come: Bitmap,
    /// Missing packets before it are lost.
    lost_before: u64,
    /// Packets before it were resent since the last timeout, or need not be. Outlives a recovery, to avoid third transmissions.
    cursor: u64,
    /// One past the newest packet reported by a NACK.
    reported: u64,
    /// In recovery, which ends when bytes up to this one are acknowledged.
    until: Option<u64>,
    /// Start of the timeout, in ps.
    since: u64,
}

impl Repeat {
    /// Packet to resend; `una`: first unacknowledged packet.
    fn lost(&self, una: u64) -> Option<u64> {
        self.until?;
        let packet = self.come.first_missing(self.cursor.max(una));
        (packet < self.lost_before).then_some(packet)
    }

    /// True if a packet sent after the first unacknowledged one arrived.
    const fn has_gap(&self, una: u64) -> bool {
        self.reported > una
    }

    /// Records a packet at byte `seq`. Returns the next byte to send and the timeout's expiry in ps.
    pub(crate) fn sent(&mut self, rules: &Rules, now: u64, flight: Flight, (seq, again): (u64, bool)) -> (u64, u64) {
        let (payload, una) = (rules.payload, flight.una / rules.payload);
        if again {
            self.cursor = seq / payload + 1;
        }
        let next = self.lost(una).map_or(flight.high, |packet| packet * payload);
        if seq == flight.una {
            self.since = now;
        }
        let timeout = rules.timeout(flight.high - flight.una, self.has_gap(una));
        (next, self.since.saturating_add(timeout))
    }

    /// Handles an ACK or, with `came`, a NACK; `advanced`: the first unacknowledged byte moved. `timeout`: expiry in ps.
    pub(crate) fn heard(
        &mut self,
        rules: &Rules,
        now: u64,
        flight: Flight,
        (came, advanced, timeout): (Option<u64>, bool, u64),
    ) -> Heard {
        let (payload, una) = (rules.payload, flight.una / rules.payload);
        self.come.forget_before(una);
        if self.until.is_some_and(|until| flight.una >= until) {
            self.until = None;
        }
        if let Some(came) = came {
            if came >= una {
                self.come.insert(came);
                self.reported = self.reported.max(came + 1);
            }
            self.lost_before = self.lost_before.max(came.saturating_sub(rules.reorder_window));
            if una < self.lost_before {
                self.until.get_or_insert(flight.high);
            }
        }
        let next = self.lost(una).map_or(flight.high, |packet| packet * payload);
        let lost = came.is_some() && una < self.lost_before;
        if advanced {
            self.since = now;
        }
        // The timeout restarts only when the requested packet is sent.
        if timeout == u64::MAX && !advanced {
            return Heard { next, timeout, lost };
        }
        let in_flight = flight.high - flight.una;
        let timeout = self.since.saturating_add(rules.timeout(in_flight, self.has_gap(una)));
        Heard { next, timeout: if in_flight == 0 { u64::MAX } else { timeout }, lost }
    }

    /// Handles the timeout: all in flight is lost (in IRN's paper the first packet, so a lost tail takes a timeout per packet).
    /// With a reordering window, packets sent after the last that arrived may be late: only a gap is lost, if there is one.
    pub(crate) fn recover(&mut self, rules: &Rules, flight: Flight) {
        let gap = rules.reorder_window > 0 && self.has_gap(flight.una / rules.payload);
        let all = flight.high.div_ceil(rules.payload);
        self.lost_before = if gap { self.lost_before.max(self.reported) } else { all };
        self.until = Some(flight.high);
        self.cursor = 0;
    }
}

/// Packet that arrived instead of the expected one.
pub(crate) const fn came(nack: bool, seq: u64, ahead: u16, payload: u64) -> Option<u64> {
    if nack { Some(seq / payload + ahead as u64) } else { None }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Arrived before.
    Duplicate,
    /// Too far beyond the expected packet.
    TooFar,
    /// Beyond the expected packet; `again`: it arrived before.
    Beyond { again: bool },
    /// `next` byte expected; `filled`: packets beyond were waiting.
    Expected { next: u64, filled: bool },
}

#[derive(Debug, Default)]
pub(crate) struct Arrived(Option<Box<Bitmap>>);

impl Arrived {
    /// `expected`: next byte of `size`.
    pub(crate) fn take(&mut self, seq: u64, expected: u64, (payload, size): (u64, u64)) -> Taken {
        if seq < expected {
            return Taken::Duplicate;
        }
        let (number, first) = (seq / payload, expected.div_ceil(payload));
        if number > first {
            if number - first > REACH {
                return Taken::TooFar;
            }
            let arrived = self.0.get_or_insert_default();
            arrived.forget_before(first);
            return Taken::Beyond { again: !arrived.insert(number) };
        }
        let end = match &mut self.0 {
            Some(arrived) => {
                arrived.forget_before(number);
                arrived.first_missing(number + 1)
            }
            None => number + 1,
        };
        let next = (end * payload).min(size);
        if next == size {
            self.0 = None;
        }
        Taken::Expected { next, filled: end > number + 1 }
    }
}
