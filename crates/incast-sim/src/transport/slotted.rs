//! Sender of a flow in assigned slots (YAPS, `ext/fastpassflow.cpp`).

use super::segments::{Packets, Segment};
use super::{Incoming, Ranges, Reassembly, Stack, To};
use crate::kernel::{IdVec, Kind, ReceivedId};

#[derive(Debug)]
pub(super) struct Slotted {
    packets: Packets,
    acked: Ranges,
    sent: Ranges,
    cursor: u64,
    /// Requested packets without a slot.
    due: u64,
    pub(super) tries: u32,
}

impl Slotted {
    pub(super) fn new(packets: Packets) -> Self {
        Self { packets, acked: Ranges::default(), sent: Ranges::default(), cursor: 0, due: 0, tries: 0 }
    }

    pub(super) fn missing(&self) -> u64 {
        let acked: u64 =
            self.acked.as_slice().iter().map(|(start, end)| (end - start).div_ceil(self.packets.mss)).sum();
        self.packets.count() - acked
    }

    pub(super) fn ask(&mut self) -> u64 {
        self.due = self.missing();
        self.due
    }

    /// Cyclic; true if all requested slots are used.
    pub(super) fn use_slot(&mut self) -> (Segment, bool) {
        let ahead = self.acked.first_missing(self.cursor);
        let seq = if ahead < self.packets.size { ahead } else { self.acked.first_missing(0) };
        let len = self.packets.len(seq);
        self.cursor = seq + len;
        self.tries = 0;
        self.due = self.due.saturating_sub(1);
        let again = self.sent.insert(seq, seq + len) == 0;
        (Segment { seq, len, again }, self.due == 0)
    }

    pub(super) fn on_ack(&mut self, seq: u64) -> bool {
        self.acked.insert(seq, seq + self.packets.len(seq));
        self.acked.first_missing(0) == self.packets.size
    }

    pub(super) fn acked(&self) -> u64 {
        self.acked.first_missing(0)
    }
}

/// ACKs carry the packet's own sequence number, and this priority.
pub(super) fn acknowledge_each(
    receivers: &mut IdVec<ReceivedId, Reassembly>,
    stack: &mut impl Stack,
    packet: &Incoming<'_>,
    priority: u8,
) {
    let own = packet.received_flow();
    let receiver = &mut receivers[own];
    let new = receiver.take(packet.seq, packet.payload);
    let whole = receiver.next() == stack.received(own).size.0;
    stack.count_duplicate(own, new);
    if whole {
        stack.deliver(own);
    }
    let answer = stack.answer(packet, Kind::SegmentAck, packet.seq, priority, false);
    stack.send(To::Sender(own, packet.nic), answer);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_go_round_what_is_not_acknowledged() {
        let mut sender = Slotted::new(Packets { size: 2500, mss: 1000 });
        assert_eq!(sender.ask(), 3);
        let slot = |sender: &mut Slotted| {
            let (segment, last) = sender.use_slot();
            (segment.seq, segment.len, segment.again, last)
        };
        assert_eq!(slot(&mut sender), (0, 1000, false, false));
        assert_eq!(slot(&mut sender), (1000, 1000, false, false));
        assert_eq!(slot(&mut sender), (2000, 500, false, true));
        assert!(!sender.on_ack(1000) && !sender.on_ack(2000));
        assert_eq!((sender.ask(), sender.acked()), (1, 0));
        assert_eq!(slot(&mut sender), (0, 1000, true, true));
        assert!(sender.on_ack(0));
        assert_eq!(sender.acked(), 2500);
    }
}
