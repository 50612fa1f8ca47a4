//! Selective repeat as in IRN (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018, section 3.1).
//!
//! The receiver keeps what comes out of order and answers each such packet with a NACK: the byte it expects, and which
//! packet came instead. The sender remembers what has come and sends again only what is lost: in *recovery*, the first
//! packet that is not acknowledged, and every other that has been overtaken by one that came. A recovery ends when all that
//! had been sent before it is acknowledged. What it knows lies in tables that only runs with selective repeat have.

mod bitmap;
#[cfg(test)]
mod tests;

use bitmap::Bitmap;

use crate::kernel::Kind;
use crate::network::{Config, Network};

/// How many packets beyond the expected one a receiver keeps: what the 16 bits of a NACK can tell.
const REACH: u64 = u16::MAX as u64;

/// Tables of selective repeat.
#[derive(Debug)]
pub(crate) struct Selective {
    /// By sender.
    senders: Vec<Repeat>,
    /// By flow: what its receiver has beyond the expected packet, once anything.
    arrived: Vec<Option<Box<Bitmap>>>,
}

/// What a sender knows beyond what is acknowledged. Packets are numbered from 0.
#[derive(Debug, Default)]
struct Repeat {
    /// Packets that have come, from the first unacknowledged on.
    come: Bitmap,
    /// Of the packets before this one, those that have not come are lost.
    lost_before: u64,
    /// Packets before this one have been sent again since the last timeout, or need not be. (A recovery can end when packets
    /// beyond it have been sent again already: the next one does not send them a third time.)
    cursor: u64,
    /// The packets before this one are the last that came, and all that are older.
    reported: u64,
    /// In recovery: it ends when all before this byte is acknowledged, which was the first never sent when it began.
    until: Option<u64>,
    /// From when the retransmission timeout counts.
    since: u64,
}

impl Repeat {
    /// The packet to be sent again, if one is; `una` is the first unacknowledged packet.
    fn lost(&self, una: u64) -> Option<u64> {
        self.until?;
        let packet = self.come.first_missing(self.cursor.max(una));
        (packet < self.lost_before).then_some(packet)
    }

    /// Whether a packet has come that was sent after the first unacknowledged one.
    const fn has_gap(&self, una: u64) -> bool {
        self.reported > una
    }
}

impl Config {
    /// The retransmission timeout with so many bytes in flight. The short one applies where no NACK may tell of a loss: with few
    /// packets in flight, and where there is a gap with no more packets in flight than may overtake.
    fn timeout(&self, in_flight: u64, gap: bool) -> u64 {
        let silent = u64::from(self.rdma.rto_low_packets) + if gap { self.reorder_window } else { 0 };
        let few = in_flight <= silent * self.packets.payload.0;
        if few && self.rto != u64::MAX { self.rdma.rto_low.0 } else { self.rto }
    }
}

impl Selective {
    pub(crate) fn new(flows: usize) -> Self {
        Self { senders: Vec::new(), arrived: std::iter::repeat_with(|| None).take(flows).collect() }
    }

    /// A sender begins with a flow.
    pub(crate) fn begin(&mut self, sender: u32) {
        let sender = sender as usize;
        if sender >= self.senders.len() {
            self.senders.resize_with(sender + 1, Repeat::default);
        }
        self.senders[sender] = Repeat::default();
    }
}

impl Network {
    /// A sender has sent the packet that begins with byte `seq`, for the first time or again.
    pub(crate) fn sent_selectively(&mut self, sender: u32, seq: u64, again: bool) {
        let Some(selective) = &mut self.selective else { return };
        let (repeat, qp) = (&mut selective.senders[sender as usize], &mut self.senders[sender as usize]);
        let payload = self.config.packets.payload.0;
        if again {
            repeat.cursor = seq / payload + 1;
        }
        qp.next = repeat.lost(qp.una / payload).map_or(qp.high, |packet| packet * payload);
        if seq == qp.una {
            repeat.since = self.now;
        }
        let gap = repeat.has_gap(qp.una / payload);
        qp.timeout = repeat.since.saturating_add(self.config.timeout(qp.high - qp.una, gap));
    }

    /// A sender has heard of the packets before its first unacknowledged one, which has moved if `advanced`; with a NACK
    /// also of one beyond it. Returns the first byte never sent.
    pub(crate) fn heard_selectively(&mut self, sender: u32, id: u32, advanced: bool) -> u64 {
        let (packet, qp) = (&self.pool[id], &mut self.senders[sender as usize]);
        let Some(selective) = &mut self.selective else { return qp.high };
        let repeat = &mut selective.senders[sender as usize];
        let payload = self.config.packets.payload.0;
        let una = qp.una / payload;
        repeat.come.forget_before(una);
        if repeat.until.is_some_and(|until| qp.una >= until) {
            repeat.until = None;
        }
        if packet.kind == Kind::Nack {
            let came = packet.seq / payload + u64::from(packet.payload);
            if came >= una {
                repeat.come.insert(came);
                repeat.reported = repeat.reported.max(came + 1);
            }
            repeat.lost_before = repeat.lost_before.max(came.saturating_sub(self.config.reorder_window));
            if una < repeat.lost_before {
                repeat.until.get_or_insert(qp.high);
            }
        }
        qp.next = repeat.lost(una).map_or(qp.high, |packet| packet * payload);
        if advanced {
            repeat.since = self.now;
        }
        // A timeout has no date until the packet that it asked for has been sent.
        if qp.timeout != u64::MAX || advanced {
            let in_flight = qp.high - qp.una;
            let timeout = repeat.since.saturating_add(self.config.timeout(in_flight, repeat.has_gap(una)));
            qp.timeout = if in_flight == 0 { u64::MAX } else { timeout };
        }
        qp.high
    }

    /// A sender has heard nothing for the timeout: all in flight that has not come is lost. (IRN's paper calls only the first
    /// packet lost then, and the others when one after them has come: a lost tail takes a timeout for each packet.) With a
    /// reordering window, packets sent after the last that came may only be late: if there is a gap, those in it are lost.
    pub(crate) fn recover_selectively(&mut self, sender: u32) {
        let Some(selective) = &mut self.selective else { return };
        let (repeat, qp) = (&mut selective.senders[sender as usize], &self.senders[sender as usize]);
        let payload = self.config.packets.payload.0;
        let gap = self.config.reorder_window > 0 && repeat.has_gap(qp.una / payload);
        repeat.lost_before = if gap { repeat.lost_before.max(repeat.reported) } else { qp.high.div_ceil(payload) };
        repeat.until = Some(qp.high);
        repeat.cursor = 0;
    }

    /// What a data packet is answered with, if with anything.
    pub(crate) fn answer_selectively(&mut self, id: u32) -> Option<(Kind, u64)> {
        let packet = &self.pool[id];
        let (rdma, payload) = (&self.config.rdma, self.config.packets.payload.0);
        let flow = packet.flow as usize;
        let receiver = &mut self.receivers[flow];
        let arrived = &mut self.selective.as_mut()?.arrived[flow];
        let record = &mut self.flow_records[flow];
        if packet.seq < receiver.expected {
            // A duplicate. The ACK may have been lost, so it is said again.
            record.discarded += 1;
            return rdma.rto.map(|_| (Kind::Ack, receiver.expected));
        }
        let (number, expected) = (packet.seq / payload, receiver.expected.div_ceil(payload));
        if number > expected {
            if number - expected > REACH {
                record.discarded += 1;
                return None;
            }
            let arrived = arrived.get_or_insert_default();
            arrived.forget_before(expected);
            // One that is there already is said again too: the NACK may have been lost.
            record.discarded += u32::from(!arrived.insert(number));
            return Some((Kind::Nack, receiver.expected));
        }
        let end = match arrived {
            Some(arrived) => {
                arrived.forget_before(number);
                arrived.first_missing(number + 1)
            }
            None => number + 1,
        };
        let size = self.flows.flows[flow].size.0;
        receiver.expected = (end * payload).min(size);
        let (expected, filled, whole) = (receiver.expected, end > number + 1, receiver.expected == size);
        receiver.unanswered += 1;
        if receiver.unanswered < rdma.ack_every && !filled && !whole {
            return None;
        }
        receiver.unanswered = 0;
        if whole {
            *arrived = None;
            self.deliver(flow as u32);
        }
        Some((Kind::Ack, expected))
    }
}
