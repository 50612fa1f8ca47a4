//! Egress queues: packets enter, wait for their port, and leave.

use super::{Hooks, Switch};
use crate::congestion::IntRecord;
use crate::kernel::{LocalPort, PacketId};
use crate::nodes::out::Out;
use crate::nodes::packet::{Packet, Stamp};
use crate::nodes::plan::Plan;
use crate::nodes::run::{NS3, has_extras, has_telemetry, has_transports};
use crate::switch::{Served, Storage};

impl<G: Hooks> Switch<G> {
    #[inline]
    pub(in crate::nodes) fn enqueue<const RUN: u8>(
        &mut self,
        out: &mut Out,
        port: LocalPort,
        packet: &Packet,
        flags: u8,
    ) {
        let (size, prio) = (u32::from(packet.size), packet.prio & 7);
        let place = self.slab.insert::<RUN>(packet, flags, &mut out.carried);
        if has_extras(RUN) && self.settings.watches_queues {
            G::queued(self, port, place);
        }
        let state = &mut self.ports[port];
        let queue = &mut state.lanes[usize::from(prio)].queue;
        queue.bytes += size;
        queue.peak = queue.peak.max(queue.bytes);
        let tail = std::mem::replace(&mut queue.tail, place);
        if queue.head == PacketId::NONE {
            queue.head = place;
            state.waiting |= 1 << prio;
        } else {
            self.slab.link(tail, place);
        }
        state.queued += size;
        self.note_length::<RUN>(port);
    }

    #[inline]
    pub(super) fn note_length<const RUN: u8>(&mut self, port: LocalPort) {
        if !has_extras(RUN) {
            return;
        }
        self.lengths.note(port, self.clock.now, self.ports[port].queued);
    }

    #[inline]
    pub(in crate::nodes) fn serve_or_wait<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, port: LocalPort) {
        if self.ports[port].pending {
            return;
        }
        if self.is_idle::<RUN>(out, port) {
            self.serve::<RUN>(plan, out, port);
        } else {
            self.serve_when_free::<RUN>(out, port);
        }
    }

    /// True if not transmitting. In `ns3` arithmetic, ranks decide whether a transmission that ends now has ended.
    #[inline(always)]
    pub(super) fn is_idle<const RUN: u8>(&self, out: &mut Out, port: LocalPort) -> bool {
        let state = &self.ports[port];
        if RUN == NS3 {
            return out.ns3().is_idle(state.number, state.busy_until, self.clock.now);
        }
        state.busy_until <= self.clock.now
    }

    #[inline(always)]
    fn serve_when_free<const RUN: u8>(&mut self, out: &mut Out, port: LocalPort) {
        let state = &mut self.ports[port];
        if state.waiting & (!state.paused | 1) == 0 {
            return;
        }
        state.pending = true;
        if RUN == NS3 {
            return out.ns3().serve_when_free(state.number, state.busy_until);
        }
        self.clock.wake(port, state.busy_until);
    }

    pub(super) fn serve<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, port: LocalPort) {
        let state = &mut self.ports[port];
        let mut eligible = state.waiting & (!state.paused | 1);
        if has_extras(RUN) && self.settings.watches_queues {
            eligible = G::eligible(self, port, eligible);
        }
        if eligible == 0 {
            return;
        }
        let state = &mut self.ports[port];
        let prio = match self.deficits.get_mut(port).filter(|_| has_extras(RUN)) {
            None => self.settings.rule.choose_simply(eligible, &mut state.last_served) & 7,
            Some(deficits) => {
                let mut served = Served { last: state.last_served, deficits: *deficits };
                let first = |prio| self.slab.size(state.lanes[usize::from(prio)].queue.head);
                let prio = self.settings.rule.choose_drr(eligible, state.waiting, &mut served, first);
                (state.last_served, *deficits) = (served.last, served.deficits);
                prio & 7
            }
        };
        let packet = self.dequeue::<RUN>(out, port, prio);
        let mark = if prio == 0 { 0 } else { self.depart::<RUN>(plan, out, port, &packet) };
        self.transmit::<RUN>(plan, out, port, &packet, packet.flags | mark);
        self.serve_when_free::<RUN>(out, port);
    }

    #[inline(always)]
    pub(super) fn dequeue<const RUN: u8>(&mut self, out: &mut Out, port: LocalPort, prio: u8) -> Packet {
        if has_transports(RUN) && prio != 0 && !self.ranked.is_empty() {
            return self.dequeue_ranked::<RUN>(out, port);
        }
        let state = &mut self.ports[port];
        let queue = &mut state.lanes[usize::from(prio & 7)].queue;
        let place = queue.head;
        let (packet, next) = self.slab.remove::<RUN>(place, &mut out.carried);
        queue.head = next;
        queue.bytes -= u32::from(packet.size);
        state.queued -= u32::from(packet.size);
        if next == PacketId::NONE {
            state.waiting &= !(1 << prio);
        } else {
            self.slab.prefetch(next);
        }
        self.note_length::<RUN>(port);
        if has_extras(RUN) && self.settings.watches_queues {
            G::dequeued(self, port, place);
        }
        packet
    }

    #[inline]
    fn depart<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, port: LocalPort, packet: &Packet) -> u8 {
        let left = self.ports[port].lanes[usize::from(packet.prio & 7)].queue.bytes;
        if has_transports(RUN) && self.settings.storage != Storage::Shared {
            return if self.settings.mark_at_enqueue { 0 } else { self.mark::<RUN>(out, port, packet, left) };
        }
        let (in_port, in_prio) = (packet.in_port, packet.in_prio & 7);
        let size = self.occupied::<RUN>(packet.size.into());
        let ingress = &mut self.ports[in_port].lanes[usize::from(in_prio)].ingress;
        self.buffer.release(ingress, size);
        let resume = self.buffer.wants_xon(ingress);
        let mark = if self.settings.mark_at_enqueue { 0 } else { self.mark::<RUN>(out, port, packet, left) };
        if resume {
            // The port is about to send this packet and serves the XON afterwards.
            let busy = in_port == port;
            self.ports[port].pending |= busy;
            self.send_pfc::<RUN>(plan, out, in_port, in_prio, false, (port, packet.prio & 7));
            self.ports[port].pending &= !busy;
        }
        mark
    }

    /// Sends a packet, with other flags, by an idle port.
    #[inline(always)]
    pub(super) fn transmit<const RUN: u8>(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        port: LocalPort,
        packet: &Packet,
        flags: u8,
    ) {
        let size = u64::from(packet.size);
        let (record, in_prio) = if (has_telemetry(RUN) || has_extras(RUN)) && self.settings.stamps {
            self.stamp::<RUN>(plan, out, port, packet)
        } else {
            (None, packet.prio)
        };
        let stamp = Stamp { flags, in_prio, record };
        let state = &mut self.ports[port];
        let (sent, free) = plan.ends::<RUN>(state.number, &state.plan, self.clock.now, size);
        let queue = &mut state.lanes[usize::from(packet.prio & 7)].queue;
        queue.tx_bytes += size;
        queue.tx_packets += 1;
        state.busy_until = free;
        if has_telemetry(RUN) {
            state.tx_bytes += size;
        }
        let seen = plan.seen::<RUN>(state.number, &state.plan, packet, (self.clock.now, sent));
        if RUN == NS3 {
            out.ns3().transmit(state.number);
        }
        let seen = match self.jitters.get_mut(port).filter(|_| has_extras(RUN)) {
            Some(Some(jitter)) => jitter.delayed(seen + state.plan.delay) - state.plan.delay,
            _ => seen,
        };
        out.send::<RUN>((&state.plan, &mut state.woken), seen, packet, stamp);
    }

    /// Telemetry, and the priority at the far end if tags change on the wire.
    #[inline(always)]
    fn stamp<const RUN: u8>(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        port: LocalPort,
        packet: &Packet,
    ) -> (Option<(IntRecord, u8)>, u8) {
        let mut record = None;
        if let Some(telemetry) = &mut self.telemetry {
            if RUN == NS3 {
                telemetry.exchange(&mut out.ns3().rand);
            }
            let state = &self.ports[port];
            record = telemetry.record(port, state, packet, self.clock.now, &out.carried, &mut self.rng);
            if RUN == NS3 {
                telemetry.exchange(&mut out.ns3().rand);
            }
        }
        (record, if self.settings.late_tags { self.new_tag(plan.network, port, packet) } else { packet.prio })
    }
}

#[cfg(test)]
mod tests {
    use incast_model::flow::Flow;
    use incast_model::units::Bytes;

    use crate::nodes::bench::Frame::{self, Data};
    use crate::nodes::bench::{Bench, flow, star};
    use crate::setup::Setup;
    use crate::switch::SchedulerParams;

    /// Flows from h0 to h2 of priorities 1, 3 and 5; a fourth one keeps the port busy until 100 ns.
    fn by_priority(scheduler: SchedulerParams, arrivals: &[(u64, Frame)]) -> Vec<(u64, Frame)> {
        let flows = [1, 3, 5, 1].map(|priority| Flow { priority, ..flow(0, 2, 9) });
        let mut bench = Bench::switch(&flows, |setup| setup.params.switch.scheduler = scheduler);
        bench.put(1, &[(0, Data(3, 0))]);
        bench.put(0, arrivals);
        bench.run(5000);
        let mut sent = bench.sent(2);
        assert_eq!(sent.remove(0), (100, Data(3, 0)));
        sent
    }

    #[test]
    fn packets_of_a_priority_leave_in_order_of_arrival_and_back_to_back() {
        let mut bench = Bench::switch(&[flow(0, 2, 3), flow(1, 2, 3)], |_| {});
        bench.put(0, &[0, 100, 200].map(|time| (time, Data(0, time / 100))));
        bench.put(1, &[50, 150, 250].map(|time| (time, Data(1, time / 100))));
        bench.run(2000);
        let order = [Data(0, 0), Data(1, 0), Data(0, 1), Data(1, 1), Data(0, 2), Data(1, 2)];
        let ends = [100, 200, 300, 400, 500, 600];
        assert!(bench.sent(2).into_iter().eq(ends.into_iter().zip(order)));
    }

    #[test]
    fn a_packet_takes_its_time_at_the_rate_of_the_port() {
        // 1250 B at 25 Gb/s: 400 ns.
        let mut bench = Bench::switch(&[flow(0, 2, 2)], |setup| setup.fabric = star(&[100, 100, 25]));
        bench.put(0, &[(1000, Data(0, 0)), (1100, Data(0, 1))]);
        bench.run(5000);
        assert_eq!(bench.sent(2), [(1400, Data(0, 0)), (1800, Data(0, 1))]);
    }

    #[test]
    fn ports_are_served_in_the_order_in_which_they_become_free() {
        let flows = [flow(0, 2, 2), flow(1, 3, 2), Flow { priority: 5, ..flow(1, 3, 1) }];
        // The port of h2 becomes free at 1400 ns, that of h3 100 ns after its begin, before or after the other begins.
        for begin in [990, 1010] {
            let mut bench = Bench::switch(&flows, |setup| {
                setup.fabric = star(&[100, 100, 25, 100]);
                setup.params.switch.scheduler = SchedulerParams::StrictPriority;
            });
            bench.put(0, &[(1000, Data(0, 0)), (1001, Data(0, 1))]);
            // Priority 5 arrives after 3 has begun.
            bench.put(1, &[(begin, Data(1, 0)), (begin + 1, Data(1, 1)), (begin + 150, Data(2, 0))]);
            bench.run(5000);
            assert_eq!(bench.sent(2), [(1400, Data(0, 0)), (1800, Data(0, 1))]);
            let sent = [(begin + 100, Data(1, 0)), (begin + 200, Data(1, 1)), (begin + 300, Data(2, 0))];
            assert_eq!(bench.sent(3), sent);
        }
    }

    #[test]
    fn a_gap_follows_each_packet() {
        // 125 B at 100 Gb/s: 10 ns.
        let gap = |setup: &mut Setup| setup.params.packets.gap = Bytes(125);
        let mut bench = Bench::switch(&[flow(0, 2, 3)], gap);
        bench.put(0, &[0, 1, 2].map(|number| (1000 + number, Data(0, number))));
        bench.run(5000);
        assert_eq!(bench.sent(2), [(1100, Data(0, 0)), (1210, Data(0, 1)), (1320, Data(0, 2))]);
    }

    #[test]
    fn the_highest_priority_goes_first() {
        let arrivals = [(10, Data(0, 0)), (20, Data(1, 0)), (30, Data(2, 0)), (40, Data(2, 1))];
        let sent = by_priority(SchedulerParams::StrictPriority, &arrivals);
        assert_eq!(sent, [(200, Data(2, 0)), (300, Data(2, 1)), (400, Data(1, 0)), (500, Data(0, 0))]);
    }

    #[test]
    fn priorities_take_turns() {
        let arrivals = [Data(0, 0), Data(0, 1), Data(1, 0), Data(1, 1), Data(2, 0), Data(2, 1)];
        let arrivals: Vec<(u64, Frame)> = (10..).zip(arrivals).collect();
        let order = by_priority(SchedulerParams::RoundRobin, &arrivals).into_iter().map(|(_, frame)| frame);
        // Priority 1 was served before.
        assert!(order.eq([Data(1, 0), Data(2, 0), Data(0, 0), Data(1, 1), Data(2, 1), Data(0, 1)]));
    }

    #[test]
    fn quanta_are_shares_of_bytes() {
        // Per round, priority 3 sends two packets of 1250 B, priority 5 one.
        let mut quanta = [1250; 8];
        quanta[3] = 2500;
        let arrivals = (0..4).flat_map(|number| [(10 + number, Data(1, number)), (10 + number, Data(2, number))]);
        let arrivals: Vec<(u64, Frame)> = arrivals.collect();
        let order = by_priority(SchedulerParams::Drr { quanta, strict: Vec::new() }, &arrivals);
        let flows: Vec<u32> =
            order.iter().map(|(_, frame)| if let Data(flow, _) = frame { *flow } else { 9 }).collect();
        assert_eq!(flows, [1, 1, 2, 1, 1, 2, 2, 2]);
    }

    #[test]
    fn a_port_that_becomes_free_comes_before_an_arrival_of_the_same_time() {
        let sent = by_priority(SchedulerParams::StrictPriority, &[(10, Data(0, 0)), (100, Data(2, 0))]);
        assert_eq!(sent, [(200, Data(0, 0)), (300, Data(2, 0))]);
    }
}
