//! Path of a packet through a switch: route, admission to the buffer, queue, port.

use incast_model::fabric::PortId;
use incast_model::units::Time;

use super::{Hooks, Switch};
use crate::balance::backlog;
use crate::kernel::{Event, Kind, Line, LocalPort, Target};
use crate::nodes::out::{Dropped, Out};
use crate::nodes::packet::Packet;
use crate::nodes::plan::{Plan, Route};
use crate::nodes::run::{NS3, has_extras, has_transports};
use crate::outcome::DropReason;
use crate::plan::Network;
use crate::switch::{Ingress, Storage};

impl<G: Hooks> Switch<G> {
    #[inline]
    pub(super) fn receive<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, line: Line) {
        self.clock.line = line;
        let packet = out.take::<RUN>(plan, self.node, line, self.clock.now);
        if matches!(packet.kind, Kind::Pfc | Kind::Lost) {
            if packet.kind == Kind::Lost {
                return out.progress.live -= 1;
            }
            out.counts.pfc_hops += 1;
            return self.receive_pfc::<RUN>(plan, out, packet.in_port, &packet);
        }
        out.count_hop(packet.kind);
        if has_extras(RUN) && self.settings.guarded {
            return G::receive::<RUN>(self, plan, out, &packet);
        }
        let port = self.egress(plan, &packet);
        if packet.hops >= self.settings.ttl {
            return self.drop_packet(plan, out, port, &packet, DropReason::Ttl);
        }
        let Some(port) = port else { return self.drop_packet(plan, out, None, &packet, DropReason::NoRoute) };
        self.forward::<RUN>(plan, out, port, &packet);
    }

    /// `None` without a route.
    #[inline(always)]
    pub(in crate::nodes) fn egress(&mut self, plan: Plan<'_>, packet: &Packet) -> Option<LocalPort> {
        let port = match plan.route(self.node, packet) {
            Route::Port(port) => port,
            Route::Several(hops) => self.balance(plan, hops, packet)?,
            Route::None => return None,
        };
        Some(LocalPort((port.0 - self.first_port.0) as u16))
    }

    #[inline(never)]
    fn balance(&mut self, plan: Plan<'_>, hops: &[PortId], packet: &Packet) -> Option<PortId> {
        let backlog = |port: PortId| {
            let port = &self.ports[plan.layout.local(self.node, port)];
            backlog((self.clock.now, port.busy_until), port.queued, plan.network.rates[usize::from(port.rate)])
        };
        let packet = (self.clock.now, self.node, packet.dst, packet.flow, !packet.kind.is_forward());
        Some(plan.network.routing.balance(self.balancer.as_mut()?, hops, packet, backlog))
    }

    /// Buffer bytes of a packet: whole cells, if the buffer has cells.
    #[inline(always)]
    pub(super) fn occupied<const RUN: u8>(&self, size: u32) -> u32 {
        if has_extras(RUN) { self.buffer.occupied(size) } else { size }
    }

    /// True if a packet for an idle port needs no buffer.
    #[inline(always)]
    fn passes<const RUN: u8>(&self, in_port: LocalPort, in_prio: u8, size: u32) -> bool {
        if has_transports(RUN) && !has_extras(RUN) && self.settings.storage != Storage::Shared {
            return self.buffer.passes(&Ingress::default(), size);
        }
        let size = self.occupied::<RUN>(size);
        self.buffer.passes(&self.ports[in_port].lanes[usize::from(in_prio)].ingress, size)
    }

    #[inline(always)]
    pub(in crate::nodes) fn forward<const RUN: u8>(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        port: LocalPort,
        packet: &Packet,
    ) {
        let (size, prio, in_port) = (u32::from(packet.size), packet.prio & 7, packet.in_port);
        // A new tag changes only the priority with which it leaves.
        let in_prio = packet.in_prio & 7;
        let egress = &self.ports[port];
        if egress.waiting == 0
            && egress.paused & 1 << prio == 0
            && (prio == 0 || self.passes::<RUN>(in_port, in_prio, size))
            && self.is_idle::<RUN>(out, port)
        {
            if RUN == NS3 && prio != 0 {
                self.ports[port].last_served = prio;
            }
            self.transmit::<RUN>(plan, out, port, packet, packet.flags);
            return;
        }
        let egress = &self.ports[port];
        if has_extras(RUN) && egress.down {
            return self.drop_packet(plan, out, Some(port), packet, DropReason::LinkDown);
        }
        let queued = egress.lanes[usize::from(prio)].queue.bytes;
        if has_transports(RUN) && prio != 0 && self.settings.storage != Storage::Shared {
            self.store::<RUN>(plan, out, port, packet);
            return self.serve_or_wait::<RUN>(plan, out, port);
        }
        let mut flags = packet.flags;
        if prio != 0 {
            let size = self.occupied::<RUN>(size);
            let ingress = &mut self.ports[in_port].lanes[usize::from(in_prio)].ingress;
            let stored = if self.settings.lossless & 1 << in_prio != 0 {
                // A packet that became lossy here also needs space in its lossy queue.
                let fits = self.settings.lossless & 1 << prio != 0 || self.buffer.has_lossy_room(size, queued);
                fits && self.buffer.admit_lossless(ingress, size)
            } else {
                self.buffer.admit_lossy(ingress, size, queued)
            };
            if !stored {
                return self.drop_packet(plan, out, Some(port), packet, DropReason::Buffer);
            }
            if self.settings.lossless & 1 << in_prio != 0 && self.buffer.wants_xoff(ingress) {
                let culprit = self.culprit((in_port, in_prio), (port, prio), packet);
                self.send_pfc::<RUN>(plan, out, in_port, in_prio, true, culprit);
            }
            if self.settings.mark_at_enqueue {
                flags |= self.mark::<RUN>(out, port, packet, queued);
            }
        }
        self.enqueue::<RUN>(out, port, packet, flags);
        self.serve_or_wait::<RUN>(plan, out, port);
    }

    #[cold]
    pub(in crate::nodes) fn drop_packet(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        port: Option<LocalPort>,
        packet: &Packet,
        reason: DropReason,
    ) {
        let ingress = self.ports.get(packet.in_port).map(|port| port.number);
        // A frame has no ingress port here, unless it arrives now.
        let own = matches!(packet.kind, Kind::Pfc | Kind::Isolation);
        let wire = out.inward.get(self.clock.line);
        let event = wire.map_or(0, |&wire| Event::new(self.clock.now, 0, Target::Arrival(wire)).target_code());
        let egress = port.map(|port| self.ports[port].number);
        let ingress = ingress.filter(|_| !own || egress.is_none());
        out.drop(plan.network, packet, Dropped { reason, ingress, egress, now: self.clock.now, event });
        out.progress.live -= 1;
    }

    pub(in crate::nodes) fn new_tag(&self, network: &Network, port: LocalPort, packet: &Packet) -> u8 {
        let Some(tagging) = &network.switches.tagging else { return packet.prio };
        let (input, output) = (self.ports[packet.in_port].number, self.ports[port].number);
        tagging.rewritten(&network.fabric, Time(self.clock.now), packet.prio, input, output)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::kernel::LocalPort;
    use incast_model::flow::Flow;
    use incast_model::units::{Bytes, Time};

    use crate::network::FailureParams;
    use crate::nodes::bench::Frame::{Data, Lost, Xoff};
    use crate::nodes::bench::{Bench, flow};
    use crate::outcome::DropReason;
    use crate::plan::Network;
    use crate::setup::Setup;

    #[test]
    fn a_packet_leaves_by_the_port_towards_its_destination() {
        let mut bench = Bench::switch(&[flow(0, 2, 1), flow(0, 3, 1)], |_| {});
        bench.put(0, &[(1000, Data(0, 0)), (1100, Data(1, 0))]);
        bench.run(2000);
        // Idle ports: 100 ns after the last bit.
        assert_eq!([bench.sent(2), bench.sent(3)], [[(1100, Data(0, 0))], [(1200, Data(1, 0))]]);
        assert_eq!([bench.sent(0), bench.sent(1)], [[], []]);
        assert_eq!((bench.counts().data_hops, bench.drops()), (2, vec![]));
    }

    #[test]
    fn the_last_switch_of_the_time_to_live_drops() {
        for (ttl, sent, dropped) in
            [(2, vec![(200, Data(0, 0))], vec![]), (1, vec![], vec![(100, DropReason::Ttl, Some(0), Some(2))])]
        {
            let mut bench = Bench::switch(&[flow(0, 2, 1)], |_| {});
            bench.at_switch(|switch, _, _| switch.settings.ttl = ttl);
            bench.put(0, &[(100, Data(0, 0))]);
            bench.run(1000);
            assert_eq!((bench.sent(2), bench.drops()), (sent, dropped));
        }
    }

    /// The failure, at 1 ms, makes failures possible before.
    fn failing(setup: &mut Setup) {
        let link = Some(["h2".into(), "s0".into()]);
        setup.params.network.failure = vec![FailureParams { link, at: Time::ms(1), ..FailureParams::default() }];
    }

    #[test]
    fn a_packet_without_a_route_is_dropped() {
        let mut bench = Bench::switch(&[flow(0, 2, 1), flow(0, 3, 1)], failing);
        let port = bench.port(2);
        let network = Arc::get_mut(&mut bench.nodes.network).expect("no thread runs");
        let Network { routing, faults, fabric, .. } = network;
        let faults = faults.as_mut().expect("the run has failures");
        faults.learn(&[(fabric.port(port).link, true)]);
        routing.reroute(faults.routes(fabric, Time::ZERO));
        bench.put(0, &[(100, Data(0, 0)), (200, Data(1, 0))]);
        bench.run(1000);
        assert_eq!(bench.drops(), [(100, DropReason::NoRoute, Some(0), None)]);
        assert_eq!([bench.sent(2), bench.sent(3)], [vec![], vec![(300, Data(1, 0))]]);
    }

    #[test]
    fn a_packet_for_a_dead_link_is_dropped() {
        let mut bench = Bench::switch(&[flow(0, 2, 1), flow(0, 3, 1)], failing);
        bench.at_switch(|switch, plan, _| switch.fail(plan.network, LocalPort(2), 50_000));
        bench.put(0, &[(100, Data(0, 0)), (200, Data(1, 0))]);
        bench.run(1000);
        assert_eq!(bench.drops(), [(100, DropReason::LinkDown, Some(0), Some(2))]);
        assert_eq!([bench.sent(2), bench.sent(3)], [vec![], vec![(300, Data(1, 0))]]);
    }

    #[test]
    fn a_lost_packet_vanishes() {
        let mut bench = Bench::switch(&[flow(0, 2, 2)], |_| {});
        bench.put(0, &[(100, Lost(0, 0)), (200, Data(0, 1))]);
        bench.run(1000);
        assert_eq!((bench.sent(2), bench.counts().data_hops), (vec![(300, Data(0, 1))], 1));
    }

    /// With alpha 1, a lossy queue has at most the free bytes.
    #[test]
    fn a_lossy_queue_takes_at_most_the_free_buffer() {
        let mut bench = Bench::switch(&[Flow { priority: 1, ..flow(0, 2, 7) }], |setup| {
            let switch = &mut setup.params.switch;
            (switch.pfc, switch.buffer) = (false, Bytes(6250));
        });
        bench.put(2, &[(0, Xoff(1, 0))]);
        bench.put(0, &[0, 1, 2, 3].map(|number| (100 * (number + 1), Data(0, number))));
        bench.run(1000);
        // Buffer of 6250 B: packets 2 to 4 find 1250, 2500 and 3750 B queued and 5000, 3750 and 2500 B free. The third fits
        // exactly.
        assert_eq!(bench.drops(), [(400, DropReason::Buffer, Some(0), Some(2))]);
        assert_eq!(bench.counts().lossless_drops, 0);
    }
}
