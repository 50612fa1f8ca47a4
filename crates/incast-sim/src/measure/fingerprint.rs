//! Fingerprints, after OMNeT++'s: digests that distinguish changes inside a node from changes of results.

use incast_model::rng::mix;

use crate::kernel::{Event, FlowId, Kind, flag};

/// Digests of a run: equal for equal runs, on every machine and in every build; for others with probability 2^-64.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// Time and target of every event but samples, in order at each node.
    pub trajectory: u64,
    /// Time, link and contents (flow, kind, sequence number, bytes, priority, ECN, pause or resume) of every packet at the end
    /// of a link, in any order.
    pub traffic: u64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct OnWire {
    pub(crate) kind: Kind,
    pub(crate) flow: FlowId,
    pub(crate) seq: u64,
    pub(crate) size: u16,
    pub(crate) prio: u8,
    pub(crate) in_prio: u8,
    pub(crate) flags: u8,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Prints {
    /// By node; last: the whole network.
    trajectories: Vec<u64>,
    traffic: u64,
}

impl Prints {
    pub(crate) fn new(nodes: usize) -> Self {
        Self { trajectories: vec![0; nodes + 1], traffic: 0 }
    }

    /// `NONE` as node: the whole network.
    pub(crate) fn event(&mut self, node: u32, event: Event) {
        let last = self.trajectories.len() - 1;
        let trajectory = &mut self.trajectories[last.min(node as usize)];
        *trajectory = mix(mix(*trajectory ^ event.time) ^ u64::from(event.target_code()));
    }

    /// Packet sent by `port`.
    pub(crate) fn arrival(&mut self, time: u64, port: u32, packet: OnWire) {
        let (prio, seq) = match packet.kind {
            Kind::Pfc => (packet.in_prio, 0), // no sequence number
            _ => (packet.prio, packet.seq),
        };
        let visible = packet.flags & (flag::CE | flag::ECHO | flag::XOFF);
        let header =
            u64::from(packet.size) << 24 | u64::from(prio) << 16 | u64::from(visible) << 8 | packet.kind as u64;
        let place = u64::from(port) << 32 | u64::from(packet.flow.0);
        let digest = [place, seq, header].iter().fold(mix(time), |digest, &word| mix(digest ^ word));
        self.traffic = self.traffic.wrapping_add(digest);
    }

    /// Adds the events and packets of other nodes.
    pub(crate) fn add(&mut self, others: &Self) {
        for (own, other) in self.trajectories.iter_mut().zip(&others.trajectories) {
            *own = own.wrapping_add(*other); // one of the two is 0: a node has no event elsewhere
        }
        self.traffic = self.traffic.wrapping_add(others.traffic);
    }

    pub(crate) fn digest(&self) -> Fingerprint {
        let of_node = |(node, &trajectory): (u64, &u64)| mix(trajectory ^ mix(node));
        let trajectory = (0..).zip(&self.trajectories).map(of_node).fold(0, u64::wrapping_add);
        Fingerprint { trajectory, traffic: self.traffic }
    }
}

#[cfg(test)]
mod tests {
    use incast_model::fabric::PortId;

    use super::*;
    use crate::kernel::{NONE, Target};

    fn of_events(events: &[Event]) -> u64 {
        let mut prints = Prints::new(2);
        events.iter().for_each(|&event| prints.event(0, event));
        prints.digest().trajectory
    }

    fn of_packets(packets: &[(u64, u32, OnWire)]) -> u64 {
        let mut prints = Prints::new(0);
        packets.iter().for_each(|(time, port, packet)| prints.arrival(*time, *port, *packet));
        prints.digest().traffic
    }

    #[test]
    fn trajectories_differ_by_order_time_and_target() {
        let (a, b) = (Event::new(1, 0, Target::Port(PortId(3))), Event::new(1, 0, Target::Arrival(PortId(3))));
        let base = of_events(&[a, b]);
        assert_eq!(of_events(&[a, b]), base);
        let later = Event::new(2, 0, Target::Arrival(PortId(3)));
        let elsewhere = Event::new(1, 0, Target::Arrival(PortId(4)));
        for other in [&[b, a][..], &[a], &[a, b, b], &[a, later], &[a, elsewhere], &[]] {
            assert_ne!(of_events(other), base);
        }
        let of_nodes = |events: &[(u32, Event)]| {
            let mut prints = Prints::new(2);
            events.iter().for_each(|&(node, event)| prints.event(node, event));
            prints.digest().trajectory
        };
        assert_eq!(of_nodes(&[(0, a), (1, b)]), of_nodes(&[(1, b), (0, a)]));
        assert_ne!(of_nodes(&[(0, a), (1, b)]), of_nodes(&[(0, b), (1, a)]));
        assert_ne!(of_nodes(&[(0, a), (NONE, b)]), of_nodes(&[(0, a), (1, b)]));
        // Only orders events: fingerprints do not depend on the arithmetic.
        assert_eq!(of_events(&[a, Event::new(1, 9, Target::Arrival(PortId(3)))]), base);
    }

    #[test]
    fn traffic_differs_by_what_is_on_the_wire() {
        let packet = OnWire { kind: Kind::Data, flow: FlowId(7), seq: 1000, size: 1048, prio: 3, in_prio: 0, flags: 0 };
        let base = of_packets(&[(5, 1, packet), (6, 2, packet)]);
        assert_eq!(of_packets(&[(6, 2, packet), (5, 1, packet)]), base, "in any order");
        let changed = [
            OnWire { flow: FlowId(8), ..packet },
            OnWire { seq: 2000, ..packet },
            OnWire { size: 1000, ..packet },
            OnWire { prio: 4, ..packet },
            OnWire { kind: Kind::Ack, ..packet },
            OnWire { flags: flag::CE, ..packet },
        ];
        for other in changed {
            assert_ne!(of_packets(&[(5, 1, packet), (6, 2, other)]), base);
        }
        assert_ne!(of_packets(&[(5, 1, packet), (7, 2, packet)]), base);
        assert_ne!(of_packets(&[(5, 1, packet), (6, 3, packet)]), base);
        assert_ne!(of_packets(&[(5, 1, packet)]), base);
        let ingress = OnWire { in_prio: 1, ..packet };
        assert_eq!(of_packets(&[(5, 1, ingress), (6, 2, packet)]), base, "in PFC frames alone it is on the wire");
        let pause = |flags, in_prio| OnWire { kind: Kind::Pfc, flags, in_prio, ..packet };
        let of_pause = |flags, in_prio| of_packets(&[(5, 1, pause(flags, in_prio))]);
        assert_ne!(of_pause(flag::XOFF, 3), of_pause(0, 3));
        assert_ne!(of_pause(flag::XOFF, 3), of_pause(flag::XOFF, 4));
    }
}
