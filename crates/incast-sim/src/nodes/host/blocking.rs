//! Time of flows under a pause at their host: definitions in `measure/waits.rs`.

use incast_model::fabric::PortId;
use std::cmp::Reverse;

use incast_model::units::Time;

use super::pair::PairState;
use super::{Host, PRIORITIES};
use crate::kernel::{FlowId, IdVec, LocalPort, PacketId, PairId};
use crate::measure::Waits;
use crate::nodes::blocking::Delays;
use crate::plan::Network;

#[derive(Debug, Clone, Copy)]
struct Pause {
    since: u64,
    root: Option<PortId>,
}

#[derive(Debug)]
pub(super) struct HostBlocking {
    delays: Delays,
    /// Time at which the packet was queued.
    since: IdVec<PacketId, u64>,
    pauses: IdVec<LocalPort, [Option<Pause>; PRIORITIES]>,
}

impl HostBlocking {
    /// `None` if queueing delays are not measured.
    pub(super) fn new(network: &Network, nics: usize) -> Option<Box<Self>> {
        network.measure.blocking.then(|| {
            let pauses = vec![[None; PRIORITIES]; nics].into();
            Box::new(Self { delays: Delays::default(), since: IdVec::new(), pauses })
        })
    }

    pub(super) fn queued(&mut self, place: PacketId, now: u64) {
        self.since.extend_to(place, || 0);
        self.since[place] = now;
    }
}

impl Host {
    pub(super) fn begin_pause(&mut self, nic: LocalPort, prio: u8, root: Option<PortId>) {
        if let Some(blocking) = &mut self.blocking {
            blocking.pauses[nic][usize::from(prio & 7)] = Some(Pause { since: self.now, root });
        }
    }

    /// Adds the pause to flows that only the pause held.
    pub(super) fn end_pause(&mut self, network: &Network, nic: LocalPort, prio: u8) {
        let Some(blocking) = &mut self.blocking else { return };
        let Some(pause) = blocking.pauses[nic][usize::from(prio & 7)].take() else { return };
        let held = self.held_pairs(nic, prio).into_iter().chain(self.held_in_queue(nic, prio));
        for (flow, from) in held.collect::<Vec<_>>() {
            self.note_held(network, nic, pause, flow, from);
        }
    }

    /// Called before the pair changes its priority or ends.
    pub(super) fn end_pair_wait(&mut self, network: &Network, place: PairId) {
        let Some(blocking) = &self.blocking else { return };
        let pair = &self.pairs[place];
        let (nic, flow, from) = (pair.nic, pair.flow, pair.placed_at);
        if let Some(pause) = blocking.pauses[nic][usize::from(pair.prio & 7)].filter(|_| from <= self.now) {
            self.note_held(network, nic, pause, flow, from);
        }
    }

    /// Adds the pause from `from` until now.
    fn note_held(&mut self, network: &Network, nic: LocalPort, pause: Pause, flow: FlowId, from: u64) {
        let port = self.nics[nic].link.port;
        let victim = pause.root.is_some_and(|root| !network.flow_goes_by(root, port, flow));
        let held = Time(self.now.saturating_sub(from.max(pause.since)));
        let Some(blocking) = &mut self.blocking else { return };
        let waits = blocking.delays.of(flow);
        waits.host_blocked += held;
        if victim {
            waits.host_victim += held;
        }
    }

    /// Flows that only a pause keeps from sending, and since when.
    fn held_pairs(&self, nic: LocalPort, prio: u8) -> Vec<(FlowId, u64)> {
        let state = &self.nics[nic];
        let ready = state.data.turns[usize::from(prio & 7)].iter().filter(|&(flow, place)| {
            let pair = &self.pairs[place];
            pair.flow == flow && pair.state == PairState::Ready
        });
        // Due, but nothing has happened at the port since.
        let due = state.data.paced.iter().filter_map(|&Reverse((time, flow, place))| {
            let pair = &self.pairs[place];
            let is_paced = pair.flow == flow && pair.state == PairState::Paced && pair.placed_at == time;
            (is_paced && time <= self.now && pair.prio == prio).then_some((flow, place))
        });
        let pairs = ready.chain(due).map(|(flow, place)| (flow, &self.pairs[place]));
        let held = pairs.filter(|(_, pair)| pair.may_send() && pair.next_avail <= self.now);
        let mut held: Vec<(FlowId, u64)> = held.map(|(flow, pair)| (flow, pair.placed_at)).collect();
        // The heap can have an entry twice.
        held.sort_unstable();
        held.dedup();
        held
    }

    /// Flows of other transports, and since when.
    fn held_in_queue(&self, nic: LocalPort, prio: u8) -> Vec<(FlowId, u64)> {
        let mut held: Vec<(FlowId, u64)> = Vec::new();
        let Some(blocking) = &self.blocking else { return held };
        for place in self.slab.places(self.nics[nic].stored.queues[usize::from(prio & 7)].head) {
            let packet = self.slab.get(place);
            if packet.is_measured() && held.iter().all(|(flow, _)| *flow != packet.flow) {
                held.push((packet.flow, blocking.since[place]));
            }
        }
        held
    }

    pub(in crate::nodes) fn close_waits(&mut self, network: &Network, now: u64, all: &mut [Waits]) {
        self.begin_action(now);
        for nic in self.nics.ids() {
            (1..8).for_each(|prio| self.end_pause(network, nic, prio));
        }
        if let Some(blocking) = &self.blocking {
            blocking.delays.add_to(all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::bench::Frame::{Xoff, Xon};
    use crate::nodes::bench::{Bench, flow};

    /// Paused from 250 ns to 1000 ns. Returns delays in ns, all and as a victim.
    fn delays(root: Option<u32>, end: u64) -> [u64; 2] {
        let mut bench = Bench::host(0, &[flow(0, 1, 5)], |setup| setup.params.measure.blocking = true);
        let ports = &bench.nodes.network.fabric.ports();
        let to = |host: u32| ports.iter().find(|port| ports[port.peer.index()].node.0 == host).expect("a port").peer;
        match root.map(|host| ports[to(host).index()].peer) {
            Some(root) => bench.put_xoff(0, 250, 3, root),
            None => bench.put(0, &[(250, Xoff(3, 0))]),
        }
        bench.put(0, &[(1000, Xon(3))]);
        bench.run(end);
        let mut all = [Waits::default()];
        bench.at_host(|host, plan, _| host.close_waits(plan.network, 1000 * end, &mut all));
        [all[0].host_blocked, all[0].host_victim].map(|time| time.0 / 1000)
    }

    #[test]
    fn a_flow_is_blocked_from_the_end_of_its_last_packet_to_the_end_of_the_pause() {
        // The third packet is sent until 300 ns.
        assert_eq!(delays(None, 9000), [700, 0]);
        assert_eq!(delays(None, 600), [300, 0], "the pause is not over");
    }

    #[test]
    fn a_flow_is_a_victim_of_a_root_off_its_path() {
        // Ports of the switch to h1, on the path, and to h2.
        assert_eq!([delays(Some(1), 9000), delays(Some(2), 9000)], [[700, 0], [700, 700]]);
    }
}
