//! Queueing delays in a switch, and roots of its pauses: definitions in `measure/waits.rs`.

use incast_model::fabric::{NodeId, PortId};
use incast_model::units::Time;

use super::{Guard, Guards};
use crate::kernel::{Id, IdVec, LocalPort, PacketId};
use crate::measure::Waits;
use crate::nodes::blocking::Delays;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::nodes::switch::Switch;
use crate::plan::Network;

#[derive(Debug)]
pub(in crate::nodes) struct Blocking {
    delays: Delays,
    /// Time at which the packet was queued.
    since: IdVec<PacketId, u64>,
    ports: usize,
    /// Bytes queued, by ingress port and priority, then egress port and priority.
    held: Vec<u32>,
    /// Time paused since the queue was last empty, without an open pause.
    kept: IdVec<LocalPort, [u64; 8]>,
}

impl Guard for Blocking {
    const WATCHES_QUEUES: bool = true;

    fn new(plan: Plan<'_>, node: NodeId) -> Option<Self> {
        let network = plan.network;
        let ports = network.fabric.ports_of(node).len();
        network.measure.blocking.then(|| Self {
            delays: Delays::default(),
            since: IdVec::new(),
            ports,
            held: vec![0; 64 * ports * ports],
            kept: vec![[0; 8]; ports].into(),
        })
    }

    fn queued(switch: &mut Switch<Guards>, port: LocalPort, place: PacketId) {
        let (now, packet) = (switch.now(), switch.slab.get(place));
        let Some(blocking) = switch.guards.blocking.as_mut().filter(|_| packet.prio != 0) else { return };
        blocking.since.extend_to(place, || 0);
        blocking.since[place] = now;
        *blocking.held(port, packet) += u32::from(packet.size);
    }

    fn dequeued(switch: &mut Switch<Guards>, port: LocalPort, place: PacketId) {
        let (now, packet) = (switch.now(), switch.slab.get(place));
        let Some(blocking) = switch.guards.blocking.as_mut().filter(|_| packet.prio != 0) else { return };
        let prio = usize::from(packet.prio & 7);
        *blocking.held(port, packet) -= u32::from(packet.size);
        if switch.ports[port].lanes[prio].queue.bytes == 0 {
            blocking.kept[port][prio] = 0;
        }
        blocking.end_wait(now, place, packet);
    }

    fn resumed(switch: &mut Switch<Guards>, network: &Network, port: LocalPort, prio: u8) {
        let (now, prio, number) = (switch.now(), usize::from(prio & 7), switch.ports[port].number);
        let (pauses, queue) = (switch.pauses[port][prio], switch.ports[port].lanes[prio].queue);
        let (Some(since), Some(blocking)) = (pauses.since, switch.guards.blocking.as_mut()) else { return };
        if queue.bytes > 0 {
            blocking.kept[port][prio] += now - since;
        }
        for place in switch.slab.places(queue.head) {
            let packet = switch.slab.get(place);
            if packet.is_measured() {
                let blocked = Time(now - since.max(blocking.since[place]));
                let waits = blocking.delays.of(packet.flow);
                waits.blocked += blocked;
                if pauses.root.is_some_and(|root| !network.packet_goes_by(root, number, packet)) {
                    waits.victim += blocked;
                }
            }
        }
    }

    /// Port with the largest part of the bytes that cause the pause, or the root behind it.
    fn root(switch: &Switch<Guards>, network: &Network, input: LocalPort, prio: u8) -> Option<PortId> {
        let blocking = switch.guards.blocking.as_ref()?;
        let mut most = (0, None);
        for output in switch.ports.ids() {
            let counts = &blocking.held[blocking.place(input, prio, output)..][..8];
            let bytes: u32 = counts.iter().sum();
            if bytes > most.0 {
                let largest = (1..8).max_by_key(|&prio| counts[prio]).unwrap_or(usize::from(prio));
                most = (bytes, Some((output, largest)));
            }
        }
        most.1.map(|(output, largest)| switch.root_behind(network, output, largest))
    }
}

impl Blocking {
    /// Begin of an egress port's eight counts in `held`.
    fn place(&self, input: LocalPort, prio: u8, output: LocalPort) -> usize {
        8 * ((8 * input.index() + usize::from(prio & 7)) * self.ports + output.index())
    }

    /// Bytes from a packet's ingress queue in its egress queue.
    fn held(&mut self, port: LocalPort, packet: &Packet) -> &mut u32 {
        let place = self.place(packet.in_port, packet.in_prio, port);
        &mut self.held[place + usize::from(packet.prio & 7)]
    }

    fn end_wait(&mut self, now: u64, place: PacketId, packet: &Packet) {
        if packet.is_measured() {
            self.delays.of(packet.flow).waited += Time(now - self.since[place]);
        }
    }
}

impl Switch<Guards> {
    /// Port that made an egress queue long.
    fn root_behind(&self, network: &Network, port: LocalPort, prio: usize) -> PortId {
        let (state, pauses) = (&self.ports[port], self.pauses[port][prio]);
        let open = pauses.since.map_or(0, |since| self.now() - since);
        let kept = open + self.guards.blocking.as_ref().map_or(0, |blocking| blocking.kept[port][prio]);
        let bytes = u128::from(kept) * u128::from(network.rates[usize::from(state.rate)]) / 8_000_000_000_000;
        if bytes == 0 || 2 * bytes < u128::from(state.lanes[prio].queue.bytes) {
            return state.number;
        }
        pauses.root.unwrap_or(state.number)
    }

    /// Adds open pauses and waits at the end of the run.
    pub(in crate::nodes) fn close_waits(&mut self, network: &Network, now: u64, all: &mut [Waits]) {
        self.begin_action(now);
        for port in self.ports.ids() {
            for prio in 1..8 {
                Blocking::resumed(self, network, port, prio);
                let head = self.ports[port].lanes[usize::from(prio)].queue.head;
                let Some(blocking) = &mut self.guards.blocking else { return };
                for place in self.slab.places(head) {
                    blocking.end_wait(now, place, self.slab.get(place));
                }
            }
        }
        if let Some(blocking) = &self.guards.blocking {
            blocking.delays.add_to(all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::bench::Frame::{Data, Xoff, Xon};
    use crate::nodes::bench::{Bench, flow};

    /// Packets from h0 to h2 arrive at 1000 and 2000 ns; h2 pauses them from 500 ns to 3000 ns.
    fn paused(root: Option<usize>) -> Bench {
        let mut bench = Bench::switch(&[flow(0, 2, 2)], |setup| setup.params.measure.blocking = true);
        match root {
            Some(root) => bench.put_xoff(2, 500, 3, bench.port(root)),
            None => bench.put(2, &[(500, Xoff(3, 0))]),
        }
        bench.put(2, &[(3000, Xon(3))]);
        bench.put(0, &[(1000, Data(0, 0)), (2000, Data(0, 1))]);
        bench
    }

    /// Delays in ns until `end`: in queues, paused, paused as a victim.
    fn delays(mut bench: Bench, end: u64) -> [u64; 3] {
        bench.run(end);
        let mut all = [Waits::default()];
        bench.at_switch(|switch, plan, _| switch.close_waits(plan.network, 1000 * end, &mut all));
        [all[0].waited, all[0].blocked, all[0].victim].map(|time| time.0 / 1000)
    }

    #[test]
    fn packets_wait_until_they_leave_and_are_blocked_while_their_queue_is_paused() {
        // 2000 ns and 1100 ns in the queue, all but the last 100 ns under the pause.
        assert_eq!(delays(paused(None), 9000), [3100, 3000, 0]);
        // At 2500 ns both still wait.
        assert_eq!(delays(paused(None), 2500), [2000, 2000, 0]);
    }

    #[test]
    fn packets_are_victims_of_roots_off_their_path() {
        assert_eq!(delays(paused(Some(3)), 9000), [3100, 3000, 3000]);
        assert_eq!(delays(paused(Some(2)), 9000), [3100, 3000, 0]);
    }

    fn root(bench: &mut Bench) -> Option<PortId> {
        bench.at_switch(|switch, plan, _| Blocking::root(switch, plan.network, LocalPort(0), 3))
    }

    #[test]
    fn the_root_of_a_pause_is_the_congested_port_or_the_root_behind_it() {
        let mut bench = paused(Some(3));
        bench.run(900);
        assert_eq!(root(&mut bench), None, "nothing has come from h0");
        // From 500 ns to 2500 ns the port could have sent 25,000 B: the pause made the queue of 2500 B long.
        bench.run(2500);
        assert_eq!(root(&mut bench), Some(bench.port(3)));
        // Two hosts make it long without a pause.
        let mut bench = Bench::switch(&[flow(0, 2, 9), flow(1, 2, 9)], |setup| setup.params.measure.blocking = true);
        for number in 0..9 {
            bench.put(0, &[(100 * number, Data(0, number))]);
            bench.put(1, &[(100 * number, Data(1, number))]);
        }
        bench.run(900);
        assert_eq!(root(&mut bench), Some(bench.port(2)));
    }
    #[test]
    fn pauses_before_the_queue_was_last_empty_do_not_make_it_long() {
        let mut bench = Bench::switch(&[flow(0, 2, 9), flow(1, 2, 8)], |setup| setup.params.measure.blocking = true);
        bench.put_xoff(2, 500, 3, bench.port(3));
        bench.put(2, &[(3000, Xon(3))]);
        bench.put(0, &[(1000, Data(0, 8))]);
        bench.run(4000);
        for number in 0..8 {
            bench.put(0, &[(4000 + 100 * number, Data(0, number))]);
            bench.put(1, &[(4000 + 100 * number, Data(1, number))]);
        }
        bench.run(4900);
        assert_eq!(root(&mut bench), Some(bench.port(2)));
    }
}
