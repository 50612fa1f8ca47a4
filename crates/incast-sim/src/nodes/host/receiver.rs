//! Receiving side of queue pairs.

use incast_model::units::Time;

use super::Host;
use crate::host::CnpMode;
use crate::host::selective::{Arrived, Taken};
use crate::kernel::{FlowId, Kind, LocalPort, ReceivedId, SentId, flag};
use crate::nodes::out::Out;
use crate::nodes::packet::{Extent, Packet};
use crate::nodes::plan::Plan;
use crate::nodes::run::has_extras;

#[derive(Debug)]
pub(super) struct Receiver {
    expected: u64,
    size: u64,
    nacked: u64,
    next_nack: u64,
    next_cnp: u64,
    unanswered: u32,
    src: u32,
    at_src: SentId,
    prio: u8,
    pub(super) delivered: Option<Time>,
    /// Bytes, with a transport without acknowledgements.
    pub(super) arrived_bytes: u64,
    /// Packets beyond the expected one (selective repeat).
    arrived: Arrived,
    pub(super) discarded: u32,
}

impl Receiver {
    pub(super) fn new(plan: Plan<'_>, flow: FlowId) -> Self {
        let spec = plan.network.flow(flow);
        Self {
            expected: 0,
            size: spec.size.0,
            nacked: 0,
            next_nack: 0,
            next_cnp: 0,
            unanswered: 0,
            src: spec.src.0,
            at_src: plan.layout.at_src[flow],
            prio: spec.priority,
            delivered: None,
            arrived_bytes: 0,
            arrived: Arrived::default(),
            discarded: 0,
        }
    }
}

impl Host {
    pub(super) fn receive_data<const RUN: u8>(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        nic: LocalPort,
        packet: &Packet,
    ) {
        if packet.flags & flag::CE != 0 && self.params.rdma.cnp == CnpMode::Packet {
            self.notify::<RUN>(plan, out, nic, packet);
        }
        let before = self.receivers[packet.received_flow()].delivered;
        let answer = if has_extras(RUN) && self.params.rules.is_some() {
            self.answer_selectively(packet)
        } else {
            self.answer(packet)
        };
        if self.flows.has_gates() && self.receivers[packet.received_flow()].delivered != before {
            self.flows.pass_delivered(plan, out, (self.params.id, self.now), packet.received_flow());
        }
        if let Some((kind, seq)) = answer {
            self.send_answer::<RUN>(plan, out, nic, packet, (kind, seq));
        }
    }

    #[inline]
    fn answer(&mut self, packet: &Packet) -> Option<(Kind, u64)> {
        let rdma = &self.params.rdma;
        let receiver = &mut self.receivers[packet.received_flow()];
        if packet.seq == receiver.expected {
            receiver.expected += packet.payload();
            receiver.unanswered += 1;
            let whole = receiver.expected >= receiver.size;
            if receiver.unanswered < rdma.ack_every && !whole {
                return None;
            }
            receiver.unanswered = 0;
            if whole && receiver.delivered.is_none() {
                receiver.delivered = Some(Time(self.now));
            }
            return Some((Kind::Ack, receiver.expected));
        }
        receiver.discarded += 1;
        if packet.seq > receiver.expected {
            // Go back, but not too often for the same byte.
            if self.now < receiver.next_nack && receiver.nacked == receiver.expected {
                return None;
            }
            receiver.next_nack = self.now + rdma.nack_interval.0;
            receiver.nacked = receiver.expected;
            return Some((Kind::Nack, receiver.expected));
        }
        // A duplicate. With timeouts, its ACK may have been lost and is repeated; ns-3 sends nothing.
        rdma.rto.map(|_| (Kind::Ack, receiver.expected))
    }

    fn answer_selectively(&mut self, packet: &Packet) -> Option<(Kind, u64)> {
        let rdma = &self.params.rdma;
        let receiver = &mut self.receivers[packet.received_flow()];
        let Receiver { expected, size, .. } = *receiver;
        let (next, filled) = match receiver.arrived.take(packet.seq, expected, (self.params.packets.payload.0, size)) {
            Taken::Duplicate => {
                // Repeats a possibly lost ACK.
                receiver.discarded += 1;
                return rdma.rto.map(|_| (Kind::Ack, expected));
            }
            Taken::TooFar => {
                receiver.discarded += 1;
                return None;
            }
            Taken::Beyond { again } => {
                receiver.discarded += u32::from(again);
                return Some((Kind::Nack, expected));
            }
            Taken::Expected { next, filled } => (next, filled),
        };
        receiver.expected = next;
        receiver.unanswered += 1;
        if receiver.unanswered < rdma.ack_every && !filled && next != size {
            return None;
        }
        receiver.unanswered = 0;
        if next == size && receiver.delivered.is_none() {
            receiver.delivered = Some(Time(self.now));
        }
        Some((Kind::Ack, next))
    }

    pub(in crate::nodes) fn forget_received(&mut self, own: ReceivedId) {
        let receiver = &mut self.receivers[own];
        (receiver.expected, receiver.nacked, receiver.next_nack, receiver.next_cnp) = (0, 0, 0, 0);
        receiver.unanswered = 0;
    }

    fn send_answer<const RUN: u8>(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        nic: LocalPort,
        packet: &Packet,
        (kind, seq): (Kind, u64),
    ) {
        let receiver = &self.receivers[packet.received_flow()];
        let size = (self.params.packets.ack.0 + self.params.packets.telemetry(packet.flags))
            .max(self.params.packets.min_ack.0);
        let echo = packet.flags & flag::CE != 0 && self.params.rdma.cnp == CnpMode::Echo;
        let ahead = if kind == Kind::Nack { (packet.seq - seq) / self.params.packets.payload.0 } else { 0 };
        let answer = Packet {
            seq,
            dst: receiver.src,
            at_dst: receiver.at_src.into(),
            size: size as u16,
            extent: Extent::gap(ahead),
            kind,
            prio: self.params.rdma.ack_priority.unwrap_or(receiver.prio),
            in_prio: 0,
            flags: packet.flags & flag::PATH | if echo { flag::ECHO } else { 0 },
            hops: 0,
            ..*packet
        };
        self.send_control::<RUN>(plan, out, nic, answer);
    }

    /// At most one CNP per flow and `cnp_interval`.
    fn notify<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort, packet: &Packet) {
        let receiver = &mut self.receivers[packet.received_flow()];
        if self.now < receiver.next_cnp {
            return;
        }
        receiver.next_cnp = self.now + self.params.rdma.cnp_interval.0;
        let size = self.params.packets.cnp.0;
        let notification = Packet {
            word: packet.word,
            flow: packet.flow,
            dst: receiver.src,
            at_dst: receiver.at_src.into(),
            size: size as u16,
            kind: Kind::Cnp,
            prio: self.params.rdma.cnp_priority,
            flags: packet.flags & flag::PATH,
            ..Packet::EMPTY
        };
        self.send_control::<RUN>(plan, out, nic, notification);
    }

    #[inline(always)]
    fn send_control<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort, packet: Packet) {
        out.inject(packet.prio, packet.size.into());
        if !self.send_at_once::<RUN>(plan, out, nic, &packet) {
            self.enqueue::<RUN>(out, nic, &packet);
            self.kick::<RUN>(plan, out, nic);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use incast_model::flow::Gate;
    use incast_model::units::Time;

    use crate::host::{CnpMode, End};
    use crate::kernel::FlowId;
    use crate::nodes::bench::Frame::{self, Ack, Cnp, Data, Nack};
    use crate::nodes::bench::{Bench, flow};
    use crate::setup::Setup;

    /// Packets from h0 arrive at h1. Returns h1 and its packets.
    fn receiver(change: impl FnOnce(&mut Setup), arrivals: &[(u64, Frame)]) -> (Bench, Vec<(u64, Frame)>) {
        let mut bench = Bench::host(1, &[flow(0, 1, 4)], change);
        bench.put(0, arrivals);
        bench.run(1_000_000);
        let sent = bench.sent(0);
        (bench, sent)
    }

    const IN_ORDER: [(u64, Frame); 4] =
        [(1000, Data(0, 0)), (1100, Data(0, 1)), (1200, Data(0, 2)), (1300, Data(0, 3))];

    #[test]
    fn data_in_order_is_acknowledged() {
        let (bench, sent) = receiver(|_| {}, &IN_ORDER);
        assert_eq!(sent, [(1010, Ack(0, 1)), (1110, Ack(0, 2)), (1210, Ack(0, 3)), (1310, Ack(0, 4))]);
        assert_eq!((bench.record(0).delivered, bench.record(0).discarded), (Some(Time::ns(1300)), 0));
    }

    #[test]
    fn a_duplicate_at_the_same_instant_ends_no_flow_again() {
        let gate = Gate { waits_for: vec![0], starts: vec![1], delay: Time::ZERO, round: None };
        let mut bench = Bench::host(1, &[flow(0, 1, 4), flow(2, 3, 1)], |setup| {
            Arc::make_mut(&mut setup.flows).gates.push(gate);
        });
        bench.put(0, &IN_ORDER);
        bench.put(0, &[(1300, Data(0, 3))]);
        bench.run(2000);
        assert_eq!(bench.out().shared.ends, [(1_300_000, FlowId(0), End::Delivered)]);
    }

    #[test]
    fn fewer_acknowledgements_still_include_the_last() {
        for (every, expected) in
            [(2, [(1110, Ack(0, 2)), (1310, Ack(0, 4))]), (3, [(1210, Ack(0, 3)), (1310, Ack(0, 4))])]
        {
            let (_, sent) = receiver(|setup| setup.params.rdma.ack_every = every, &IN_ORDER);
            assert_eq!(sent, expected);
        }
    }

    #[test]
    fn a_gap_is_reported_once_per_interval_and_missing_packet() {
        let interval = |setup: &mut Setup| setup.params.rdma.nack_interval = Time::ns(500);
        let arrivals = [
            (1000, Data(0, 1)),
            (1100, Data(0, 2)),
            (1499, Data(0, 1)),
            (1500, Data(0, 1)),
            (1600, Data(0, 0)),
            (1700, Data(0, 2)), // another packet is missing
            (1800, Data(0, 3)),
        ];
        let (bench, sent) = receiver(interval, &arrivals);
        let expected = [(1010, Nack(0, 0)), (1510, Nack(0, 0)), (1610, Ack(0, 1)), (1710, Nack(0, 1))];
        assert_eq!(sent, expected);
        assert_eq!((bench.record(0).discarded, bench.record(0).delivered), (6, None));
    }

    #[test]
    fn a_duplicate_is_acknowledged_again_if_senders_have_timeouts() {
        let arrivals = [IN_ORDER[0], (1050, Data(0, 0))];
        let (bench, sent) = receiver(|_| {}, &arrivals);
        assert_eq!(sent, [(1010, Ack(0, 1)), (1060, Ack(0, 1))]);
        assert_eq!(bench.record(0).discarded, 1);
        let (_, sent) = receiver(|setup| setup.params.rdma.rto = None, &arrivals);
        assert_eq!(sent, [(1010, Ack(0, 1))]);
    }

    #[test]
    fn an_acknowledgement_echoes_the_mark_of_its_packet_and_has_its_own_priority() {
        let mut bench = Bench::host(1, &[flow(0, 1, 4)], |setup| setup.params.rdma.ack_priority = Some(5));
        bench.put_marked(0, 1000, Data(0, 0));
        bench.put(0, &[(1100, Data(0, 1))]);
        bench.run(5000);
        let sent: Vec<_> = bench.packets(0).iter().map(|one| (one.frame, one.echo, one.marked, one.prio)).collect();
        assert_eq!(sent, [(Ack(0, 1), true, false, 5), (Ack(0, 2), false, false, 5)]);
    }

    #[test]
    fn marks_give_a_cnp_per_interval() {
        let mut bench = Bench::host(1, &[flow(0, 1, 4)], |setup| {
            (setup.params.rdma.cnp, setup.params.rdma.cnp_interval) = (CnpMode::Packet, Time::us(50));
        });
        for (time, number) in [(1000, 0), (50_999, 1), (51_000, 2)] {
            bench.put_marked(0, time, Data(0, number));
        }
        bench.put(0, &[(200_000, Data(0, 3))]);
        bench.run(300_000);
        let sent: Vec<_> = bench.packets(0).iter().map(|one| (one.end, one.frame, one.echo, one.prio)).collect();
        let expected = [
            (1010, Cnp(0), false, 7),
            (1020, Ack(0, 1), false, 3),
            (51_009, Ack(0, 2), false, 3),
            (51_019, Cnp(0), false, 7),
            (51_029, Ack(0, 3), false, 3),
            (200_010, Ack(0, 4), false, 3), // without a mark
        ];
        assert_eq!(sent, expected);
    }
}
