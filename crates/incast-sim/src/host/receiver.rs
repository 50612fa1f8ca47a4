//! Receiving side of queue pairs. For selective repeat see [`super::selective`].

use incast_model::units::Time;

use crate::host::CnpMode;
use crate::host::gates::End;
use crate::kernel::{Kind, Packet, flag};
use crate::network::Network;

/// State of a flow at its receiver.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Receiver {
    /// Next byte expected.
    pub(super) expected: u64,
    /// Byte expected at the last NACK.
    nacked: u64,
    /// Earliest time of another NACK for the same byte, in ps.
    next_nack: u64,
    /// Earliest time of the next CNP, in ps.
    next_cnp: u64,
    /// Packets since the last ACK.
    pub(super) unanswered: u32,
}

impl Network {
    #[inline]
    pub(crate) fn receive(&mut self, port: u32, id: u32) {
        let packet = &self.pool[id];
        let (kind, prio, size) = (packet.kind, packet.prio, packet.size);
        self.ledger.delivered[usize::from(prio)] += u64::from(size);
        match kind {
            Kind::Data => return self.receive_data(port, id),
            Kind::Ack | Kind::Nack => self.receive_ack(id),
            Kind::Cnp => self.receive_cnp(id),
            Kind::Isolation => return self.receive_isolation(port, id),
            Kind::Pfc | Kind::Lost => unreachable!("these are taken off the link"),
            Kind::Offer | Kind::Share | Kind::Feedback | Kind::Rate => return self.receive_message(id),
            _ => {
                if self.hypervisors.is_some() {
                    self.count_arrival(id);
                }
                return self.receive_in_endpoint(port, id);
            }
        }
        self.pool.release(id);
    }

    fn receive_data(&mut self, port: u32, id: u32) {
        let packet = self.pool[id];
        if packet.flags & flag::CE != 0 && self.config.rdma.cnp == CnpMode::Packet {
            self.notify(port, &packet);
        }
        let answer = if self.selective.is_some() { self.answer_selectively(id) } else { self.answer(&packet) };
        match answer {
            Some((kind, seq)) => self.send_answer(port, id, kind, seq),
            None => self.pool.release(id),
        }
    }

    /// Kind, and next byte expected.
    #[inline]
    fn answer(&mut self, packet: &Packet) -> Option<(Kind, u64)> {
        let rdma = &self.config.rdma;
        let receiver = &mut self.receivers[packet.flow as usize];
        if packet.seq == receiver.expected {
            receiver.expected += u64::from(packet.payload);
            receiver.unanswered += 1;
            let expected = receiver.expected;
            let whole = expected >= self.flows.flows[packet.flow as usize].size.0;
            if receiver.unanswered < rdma.ack_every && !whole {
                return None;
            }
            receiver.unanswered = 0;
            if whole {
                self.deliver(packet.flow);
            }
            return Some((Kind::Ack, expected));
        }
        self.flow_records[packet.flow as usize].discarded += 1;
        if packet.seq > receiver.expected {
            // A gap: go back, but not too often for the same byte.
            if self.now < receiver.next_nack && receiver.nacked == receiver.expected {
                return None;
            }
            receiver.next_nack = self.now + rdma.nack_interval.0;
            receiver.nacked = receiver.expected;
            return Some((Kind::Nack, receiver.expected));
        }
        // A duplicate. If senders have timeouts, the ACK may have been lost and is repeated; ns-3 sends nothing.
        rdma.rto.map(|_| (Kind::Ack, receiver.expected))
    }

    /// Records the arrival of the last byte. (In `ns3` arithmetic it can arrive again after the flow has ended.)
    pub(crate) fn deliver(&mut self, flow: u32) {
        let record = &mut self.flow_records[flow as usize];
        if record.delivered.is_none() {
            record.delivered = Some(Time(self.now));
            self.pass_gates(flow, End::Delivered);
        }
    }

    /// Queues a data packet as its own answer: INT records and the time stamp stay.
    fn send_answer(&mut self, port: u32, id: u32, kind: Kind, seq: u64) {
        let packets = &self.config.packets;
        let packet = &mut self.pool[id];
        // Priority of the data at its sender: tags may have changed it on the way.
        let usual = self.flows.flows[packet.flow as usize].priority;
        let size = (packets.ack.0 + packets.telemetry(packet.flags)).max(packets.min_ack.0);
        let echo = packet.flags & flag::CE != 0 && self.config.rdma.cnp == CnpMode::Echo;
        packet.kind = kind;
        // Packets between the expected one and the one that arrived: only selective repeat reads it.
        let ahead = if kind == Kind::Nack { (packet.seq - seq) / packets.payload.0 } else { 0 };
        packet.payload = ahead as u16;
        packet.seq = seq;
        packet.size = size as u16;
        packet.hops = 0;
        packet.prio = self.config.rdma.ack_priority.unwrap_or(usual);
        packet.flags = packet.flags & flag::PATH | if echo { flag::ECHO } else { 0 };
        std::mem::swap(&mut packet.src, &mut packet.dst);
        self.ledger.injected[usize::from(packet.prio)] += size;
        self.enqueue(port, id);
        self.kick_nic(port);
    }

    /// Sends a CNP for a marked packet, at most one per flow and `cnp_interval`.
    fn notify(&mut self, port: u32, packet: &Packet) {
        let rdma = &self.config.rdma;
        let receiver = &mut self.receivers[packet.flow as usize];
        if self.now < receiver.next_cnp {
            return;
        }
        receiver.next_cnp = self.now + rdma.cnp_interval.0;
        let prio = rdma.cnp_priority;
        let size = self.config.packets.cnp.0;
        self.ledger.injected[usize::from(prio)] += size;
        let id = self.pool.alloc(Packet {
            stamp: packet.stamp,
            flow: packet.flow,
            src: packet.dst,
            dst: packet.src,
            size: size as u16,
            kind: Kind::Cnp,
            prio,
            flags: packet.flags & flag::PATH,
            ..Packet::EMPTY
        });
        self.enqueue(port, id);
        self.kick_nic(port);
    }

    /// In the HPCC authors' ns-3 the receiver's state dies with the flow at its sender.
    pub(crate) fn forget_receiver(&mut self, flow: u32) {
        self.receivers[flow as usize] = Receiver::default();
    }
}
