//! PFC at a switch: its own pauses and those of its peers.

use incast_model::fabric::PortId;
use incast_model::units::Time;

use super::{Hooks, Switch};
use crate::kernel::LocalPort;
use crate::nodes::message::PfcFrame;
use crate::nodes::out::{Note, Noted, Out};
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::nodes::run::{ANY, NS3, has_extras};
use crate::outcome::QueueRef;
use crate::plan::Network;

/// First packets of a queue, by which its ingress ports are estimated (our choice): all would take longer than sending them.
const SAMPLE: usize = 16;

impl<G: Hooks> Switch<G> {
    /// `culprit`: egress port and priority that caused the frame.
    #[cold]
    pub(super) fn send_pfc<const RUN: u8>(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        port: LocalPort,
        prio: u8,
        xoff: bool,
        culprit: (LocalPort, u8),
    ) {
        let culprit = QueueRef { port: self.ports[culprit.0].number, priority: culprit.1 };
        let measures = has_extras(RUN) && self.settings.guarded && xoff;
        let root = if measures { G::root(self, plan.network, port, prio) } else { None };
        let ingress = &mut self.ports[port].lanes[usize::from(prio)].ingress;
        ingress.paused = xoff;
        ingress.xoffs += u32::from(xoff);
        out.counts.pauses += u64::from(xoff);
        out.inject(0, u64::from(self.settings.pfc_size));
        if RUN == NS3 {
            out.ns3().draws.skip();
        }
        let bytes = u64::from(ingress.bytes + ingress.headroom);
        let frame = PfcFrame { prio, xoff, bytes, culprit, root }.packet(self.settings.pfc_size);
        self.enqueue::<RUN>(out, port, &frame, frame.flags);
        self.serve_or_wait::<RUN>(plan, out, port);
    }

    /// Egress port, of the fullest and that of the packet that arrives now, with more bytes of an ingress queue, and the priority
    /// that most of these have. `last`: queue of the packet.
    #[cold]
    pub(super) fn culprit(&self, input: (LocalPort, u8), last: (LocalPort, u8), packet: &Packet) -> (LocalPort, u8) {
        let fullest = self.fullest_port(last.0);
        let (own, others) = (self.held(input, last.0).0 + u64::from(packet.size), self.held(input, fullest));
        if fullest == last.0 || others.0 <= own { last } else { (fullest, others.1) }
    }

    fn fullest_port(&self, otherwise: LocalPort) -> LocalPort {
        self.ports.ids().max_by_key(|&port| self.ports[port].queued).unwrap_or(otherwise)
    }

    /// Fullest egress port, and the priority there that most bytes of an ingress queue have.
    fn fullest(&self, input: (LocalPort, u8)) -> (LocalPort, u8) {
        let port = self.fullest_port(input.0);
        (port, self.held(input, port).1)
    }

    /// Bytes of an ingress queue in an egress port, estimated by the first packets of each queue, and the priority with most of them.
    fn held(&self, input: (LocalPort, u8), output: LocalPort) -> (u64, u8) {
        let (mut sum, mut most) = (0, (0, input.1));
        for (prio, lane) in (0u8..).zip(&self.ports[output].lanes).skip(1).filter(|(_, lane)| lane.queue.bytes > 0) {
            let (mut own, mut all) = (0, 0);
            for packet in self.slab.list(lane.queue.head).take(SAMPLE) {
                all += u64::from(packet.size);
                own += if (packet.in_port, packet.in_prio & 7) == input { u64::from(packet.size) } else { 0 };
            }
            let bytes = u64::from(lane.queue.bytes) * own / all.max(1);
            sum += bytes;
            most = most.max((bytes, prio));
        }
        (sum, most.1)
    }

    #[cold]
    pub(super) fn receive_pfc<const RUN: u8>(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        port: LocalPort,
        packet: &Packet,
    ) {
        out.deliver(0, packet.size.into());
        let frame = PfcFrame::from(packet);
        if has_extras(RUN) && self.settings.guarded && G::voids(self, port, frame.prio, frame.xoff) {
            return;
        }
        let state = &mut self.ports[port];
        let at = plan.network.at(state.number, frame.prio);
        if let Some(note) = Note::of_frame(&frame, at, &mut state.paused) {
            match frame.xoff {
                true => self.begin_pause(port, frame.prio, frame.root),
                false => self.end_pause(plan.network, port, frame.prio),
            }
            out.notes.push(Noted { time: Time(self.clock.now), event: 0, note });
        }
        if !frame.xoff {
            self.serve_or_wait::<RUN>(plan, out, port);
        }
    }

    pub(super) fn begin_pause(&mut self, port: LocalPort, prio: u8, root: Option<PortId>) {
        let Some(pauses) = self.pauses.get_mut(port) else { return };
        let pauses = &mut pauses[usize::from(prio & 7)];
        (pauses.since, pauses.root) = (Some(self.clock.now), root);
    }

    pub(in crate::nodes) fn end_pause(&mut self, network: &Network, port: LocalPort, prio: u8) {
        if self.pauses.is_empty() {
            return;
        }
        G::resumed(self, network, port, prio);
        let pauses = &mut self.pauses[port][usize::from(prio & 7)];
        (pauses.since, pauses.ended) = (None, Some(self.clock.now));
    }

    /// Begins or ends a PFC storm.
    pub(in crate::nodes) fn hold(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        (port, now): (LocalPort, u64),
        prio: u8,
        holds: bool,
    ) {
        self.begin_action(now);
        let ingress = &mut self.ports[port].lanes[usize::from(prio)].ingress;
        ingress.held = holds;
        if holds {
            return self.pause_held(plan, out, port, prio);
        }
        // A switch above its threshold sends XON later.
        if self.buffer.wants_xon(ingress) {
            self.send_pfc::<ANY>(plan, out, port, prio, false, (port, prio));
        }
    }

    /// After a repair: the peer has forgotten its pauses.
    pub(in crate::nodes) fn pause_anew(&mut self, plan: Plan<'_>, out: &mut Out, port: LocalPort) {
        for prio in 1..8 {
            let ingress = &self.ports[port].lanes[usize::from(prio)].ingress;
            if ingress.held {
                self.pause_held(plan, out, port, prio);
            } else if self.settings.lossless & 1 << prio != 0 && ingress.bytes > 0 && self.buffer.wants_xoff(ingress) {
                let culprit = self.fullest((port, prio));
                self.send_pfc::<ANY>(plan, out, port, prio, true, culprit);
            }
        }
    }

    fn pause_held(&mut self, plan: Plan<'_>, out: &mut Out, port: LocalPort, prio: u8) {
        if !self.ports[port].lanes[usize::from(prio)].ingress.paused && !self.ports[port].down {
            self.send_pfc::<ANY>(plan, out, port, prio, true, (port, prio));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::kernel::LocalPort;
    use incast_model::flow::Flow;
    use incast_model::units::Bytes;

    use crate::nodes::bench::Frame::{Data, Xoff, Xon};
    use crate::nodes::bench::{Bench, flow};
    use crate::setup::Setup;
    use crate::switch::{Headroom, PfcMode};

    /// XOFF at 2500 B; headroom for two packets.
    fn static_thresholds(setup: &mut Setup, resume_offset: u64) {
        let switch = &mut setup.params.switch;
        switch.pfc_mode = PfcMode::Static { xoff: Bytes(2500) };
        (switch.resume_offset, switch.headroom) = (Bytes(resume_offset), Headroom::Bytes(Bytes(2500)));
    }

    /// Data from h0 to h2 arrives at 1000, 1100, … ns, while h2 pauses its queue.
    fn paused(packets: u64, resume_offset: u64) -> Bench {
        let flows = [flow(0, 2, packets), Flow { priority: 1, ..flow(1, 0, 1) }];
        let mut bench = Bench::switch(&flows, |setup| static_thresholds(setup, resume_offset));
        bench.put(2, &[(0, Xoff(3, 0))]);
        let arrivals: Vec<_> = (0..packets).map(|number| (1000 + 100 * number, Data(0, number))).collect();
        bench.put(0, &arrivals);
        bench
    }

    #[test]
    fn xoff_follows_the_packet_that_brings_the_ingress_to_its_threshold() {
        let mut bench = paused(3, 0);
        bench.run(5000);
        // The second packet, at 1100 ns, makes it 2500 B. The frame takes 10 ns.
        let sent = bench.packets(0);
        assert_eq!((sent.len(), sent[0].end, sent[0].frame, sent[0].prio), (1, 1110, Xoff(3, 2500), 0));
        assert_eq!(sent[0].word.culprit(), (bench.port(2), 3), "the only port with packets");
        let ingress = bench.at_switch(|switch, _, _| *switch.ports[LocalPort(0)].ingress(3));
        assert_eq!((ingress.paused, ingress.xoffs, bench.counts().pauses), (true, 1, 1));
    }

    #[test]
    fn the_culprit_is_the_fullest_port_if_it_holds_most_of_the_ingress_queue() {
        let flows = [flow(0, 2, 2), flow(0, 3, 1), flow(1, 3, 9)];
        let mut bench = Bench::switch(&flows, |setup| {
            static_thresholds(setup, 0);
            setup.params.switch.pfc_mode = PfcMode::Static { xoff: Bytes(3750) };
        });
        bench.put(2, &[(0, Xoff(3, 0))]);
        bench.put(0, &[(1000, Data(0, 0)), (1100, Data(0, 1)), (1200, Data(1, 0))]);
        // Packets from h1 to h3 do not count.
        bench.put(1, &[(1150, Data(2, 0)), (1151, Data(2, 1))]);
        bench.run(1300);
        let sent = bench.packets(0);
        assert_eq!((sent[0].frame, sent[0].word.culprit()), (Xoff(3, 3750), (bench.port(2), 3)));
    }

    #[test]
    fn xon_follows_the_packet_that_leaves_few_enough_bytes() {
        // From 5000 ns on a packet leaves every 100 ns: the first leaves 1250 B, which with 1250 B are not above 2500 B.
        for (resume_offset, xon) in [(1250, 5010), (1251, 5110)] {
            let mut bench = paused(2, resume_offset);
            bench.put(2, &[(5000, Xon(3))]);
            bench.run(9000);
            assert_eq!(bench.sent(0), [(1110, Xoff(3, 2500)), (xon, Xon(3))]);
            assert_eq!(bench.sent(2), [(5100, Data(0, 0)), (5200, Data(0, 1))]);
        }
    }

    #[test]
    fn no_xon_at_the_fill_that_sends_xoff() {
        let mut bench = paused(3, 0);
        bench.put(2, &[(5000, Xon(3))]);
        bench.run(9000);
        // The first departure leaves the threshold, 2500 B.
        assert_eq!(bench.sent(0), [(1110, Xoff(3, 2500)), (5110, Xon(3))]);
    }

    #[test]
    fn cells_bring_the_ingress_to_its_threshold_earlier() {
        // Packets of 1250 B occupy 1 cell of 2500 B: XOFF at 2500 B follows the first packet, at 1000 ns.
        for (cell, time) in [(2500, 1010), (625, 1110)] {
            let mut bench = Bench::switch(&[flow(0, 2, 2)], |setup| {
                static_thresholds(setup, 0);
                setup.params.switch.cell = Some(Bytes(cell));
            });
            bench.put(2, &[(0, Xoff(3, 0)), (5000, Xon(3))]);
            bench.put(0, &[(1000, Data(0, 0)), (1100, Data(0, 1))]);
            bench.run(4000);
            assert_eq!(bench.sent(0), [(time, Xoff(3, 2500))], "cells of {cell} B");
            assert!(bench.at_switch(|switch, _, _| switch.balances()));
            bench.run(9000);
            assert!(bench.at_switch(|switch, _, _| switch.balances()), "the buffer is empty again");
        }
    }

    #[test]
    fn headroom_takes_packets_after_xoff_until_it_is_full() {
        let mut bench = paused(5, 0);
        bench.run(5000);
        // Two packets below the threshold, two in the headroom.
        assert_eq!((bench.drops().len(), bench.counts().lossless_drops), (1, 1));
        bench.put(2, &[(5000, Xon(3))]);
        bench.run(9000);
        let ends = [5100, 5200, 5300, 5400];
        assert!(bench.sent(2).into_iter().eq(ends.into_iter().zip((0..4).map(|number| Data(0, number)))));
    }

    #[test]
    fn xoff_stops_one_queue_after_the_packet_in_transmission_and_xon_releases_it() {
        let mut bench = Bench::switch(&[flow(0, 2, 4), Flow { priority: 1, ..flow(1, 2, 1) }], |_| {});
        bench.put(2, &[(1050, Xoff(3, 7777)), (1060, Xoff(3, 8888)), (3000, Xon(3))]);
        bench.put(0, &[(1000, Data(0, 0)), (1090, Data(0, 1))]);
        bench.put(1, &[(2000, Data(1, 0))]);
        bench.run(5000);
        assert_eq!(bench.sent(2), [(1100, Data(0, 0)), (2100, Data(1, 0)), (3100, Data(0, 1))]);
        assert_eq!(bench.pauses(), [(1050, Xoff(3, 7777)), (3000, Xon(3))], "the second frame changes nothing");
        assert_eq!((bench.counts().pfc_hops, bench.counts().pauses), (3, 0));
    }

    #[test]
    fn no_pause_stops_pfc_frames() {
        let mut bench = paused(2, 1250);
        bench.put(0, &[(2000, Xoff(0, 0)), (2000, Xoff(3, 0))]);
        bench.put(2, &[(5000, Xon(3))]);
        // The XON of 5000 ns waits for a packet sent until 5050 ns.
        bench.put(1, &[(4950, Data(1, 0))]);
        bench.run(9000);
        assert_eq!(bench.sent(0), [(1110, Xoff(3, 2500)), (5050, Data(1, 0)), (5060, Xon(3))]);
    }

    #[test]
    fn a_storm_holds_a_priority_to_its_end_and_while_the_threshold_asks_for_it() {
        // Storm from 500 ns to 3000 ns. One packet, gone within the storm, is below the threshold less the offset; two are
        // above it until one leaves.
        for (packets, leaves, xon) in [(1, 2000, 3010), (2, 5000, 5010)] {
            let mut bench = paused(packets, 1250);
            bench.put(2, &[(leaves, Xon(3))]);
            for (time, holds) in [(500, true), (3000, false)] {
                bench.run(time);
                bench.at_switch(|switch, plan, out| switch.hold(plan, out, (LocalPort(0), 1000 * time), 3, holds));
            }
            bench.run(9000);
            assert_eq!(bench.sent(0), [(510, Xoff(3, 0)), (xon, Xon(3))]);
        }
    }
}
