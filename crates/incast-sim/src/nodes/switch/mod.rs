//! Order of stages, as in the HPCC authors' ns-3 (`switch-node.cc`). Arrival: route, admission, accounting, pause check, queue,
//! port. Departure: queue, accounting, ECN, resume check, INT, wire.

mod clock;
mod contents;
mod ecn;
mod failed;
mod hooks;
mod own_buffer;
mod pfc;
mod pipeline;
mod port;
mod queues;
mod settings;
mod telemetry;

use incast_model::fabric::{NodeId, PortId};
use incast_model::rng::{self, Stream};

use super::out::Out;
use super::packet::Slab;
use super::plan::{LINK_BITS, Plan};
use super::run::{ANY, NS3, has_telemetry};
use crate::balance::State;
use crate::kernel::{Event, IdVec, Line, LocalPort, Member, Target, prefetch};
use crate::measure::Lengths;
use crate::plan::Sending;
use crate::switch::{Buffer, RankedQueue};
use clock::{Clock, low_bits, sort};
pub(super) use hooks::Hooks;
use port::{Pauses, Port};
use settings::Settings;
use telemetry::Telemetry;

/// Least number of ports of a fabric for which windows begin with prefetches. Our choice: with 960 ports (320 hosts) these gain
/// nothing, with 6,144 (1,024 hosts) they do (benches/RESULTS.md).
const MANY_PORTS: usize = 1 << 12;

#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Switch<G> {
    pub(super) ports: IdVec<LocalPort, Port>,
    pub(super) clock: Clock,
    pub(super) node: NodeId,
    /// First port of this switch, and first wire that ends here.
    first_port: PortId,
    first_line: Line,
    pub(super) settings: Settings,
    pub(super) slab: Slab,
    pub(super) buffer: Buffer,
    rng: Stream,
    /// Empty without pFabric queues.
    pub(super) ranked: IdVec<LocalPort, RankedQueue>,
    /// Empty without deficit round robin.
    deficits: IdVec<LocalPort, [u32; 8]>,
    /// `None` with ECMP.
    pub(super) balancer: Option<State>,
    pub(super) guards: G,
    /// Empty without guards.
    pub(super) pauses: IdVec<LocalPort, [Pauses; 8]>,
    telemetry: Option<Box<Telemetry>>,
    /// Extra times in a server of VMs; empty without jitter.
    jitters: IdVec<LocalPort, Option<Sending>>,
    pub(super) lengths: Lengths,
}

impl<G: Hooks> Switch<G> {
    pub(super) fn new(plan: Plan<'_>, node: NodeId) -> Self {
        let network = plan.network;
        let numbers = || network.fabric.ports_of(node);
        let guards = G::new(plan, node);
        let telemetry = Telemetry::new(network, numbers().len());
        let serves_vms = numbers().any(|port| network.ports[port].at_server);
        let jitter = network.jitter.as_ref().filter(|_| serves_vms);
        let ports_if = |holds: bool| if holds { numbers().len() } else { 0 };
        Self {
            ports: numbers().map(|port| Port::new(plan, port)).collect(),
            clock: Clock::new(),
            node,
            first_port: plan.layout.first_port[node],
            first_line: plan.layout.line(node, 0),
            settings: Settings::new(network, &guards, telemetry.is_some(), serves_vms),
            slab: Slab::new(),
            buffer: network.switches.buffers[node.index()].clone().expect("the node is a switch"),
            rng: rng::stream(network.config.seed, "ecn", node.0.into()),
            ranked: vec![RankedQueue::default(); ports_if(network.config.queues.ranked)].into(),
            deficits: vec![[0; 8]; ports_if(network.switches.rule.is_drr())].into(),
            balancer: network.routing.balancers.get(node.index()).cloned(),
            pauses: vec![Default::default(); ports_if(!guards.is_empty())].into(),
            guards,
            telemetry,
            jitters: jitter.map_or_else(IdVec::new, |jitter| numbers().map(|port| jitter.of_port(port)).collect()),
            lengths: Lengths::new(&network.measure, numbers().len()),
        }
    }

    /// Returns the time of the next known event. `own`: this node.
    pub(super) fn run<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, own: Member, end: u64) -> u64 {
        let mut arrivals = std::mem::take(&mut self.clock.arrivals);
        out.take_inbox(own, &mut arrivals);
        self.clock.later.take_before(end, &mut arrivals);
        sort(&mut arrivals);
        if plan.layout.ports.len() >= MANY_PORTS {
            self.prefetch::<RUN>(plan, out, &arrivals);
        }
        let mut handled = 0;
        for key in &arrivals {
            let time = key >> LINK_BITS;
            if time >= end {
                break;
            }
            handled += 1;
            self.serve_until::<RUN>(plan, out, time + 1 - self.settings.port_rank);
            self.clock.now = time;
            self.receive::<RUN>(plan, out, Line(self.first_line.0 + u32::from(low_bits(*key))));
        }
        self.serve_until::<RUN>(plan, out, end);
        if handled < arrivals.len() {
            self.clock.later.put(&arrivals[handled..]);
        }
        arrivals.clear();
        self.clock.arrivals = arrivals;
        self.clock.later.next().min(self.clock.next_free())
    }

    /// Begins to load what the arrivals of a window need: misses of several packets overlap.
    #[inline(never)]
    fn prefetch<const RUN: u8>(&self, plan: Plan<'_>, out: &Out, arrivals: &[u64]) {
        for port in self.ports.iter() {
            prefetch(port);
            if has_telemetry(RUN) {
                prefetch(&port.tx_bytes);
            }
        }
        let wire = |key: &u64| &out.wires[plan.layout.line(self.node, low_bits(*key).into())];
        arrivals.iter().for_each(|key| prefetch(wire(key)));
        arrivals.iter().for_each(|key| wire(key).prefetch_first());
    }

    /// Forgets the arrivals before `end`, which came event by event.
    pub(super) fn pass(&mut self, plan: Plan<'_>, out: &mut Out, end: u64) {
        let mut arrivals = std::mem::take(&mut self.clock.arrivals);
        out.take_inbox(plan.layout.spots[self.node].member, &mut arrivals);
        self.clock.later.put(&arrivals);
        arrivals.clear();
        self.clock.later.forget_before(end);
        self.clock.arrivals = arrivals;
    }

    pub(super) fn next(&self, plan: Plan<'_>, out: &Out) -> Option<Event> {
        let (rank, number) = (self.settings.port_rank, |port| Target::Port(self.ports[port].number));
        let free = self.clock.next_port().map(|(time, port)| Event::new(time, rank, number(port)));
        // Lines are in the order of the ports that send into them, as events are.
        let lines = plan.layout.lines(self.node, self.ports.len());
        let arrival = lines.map(|line| (out.wires[line].first(), line)).min_by_key(|&(time, _)| time);
        let arrival = arrival.filter(|&(time, _)| time != u64::MAX);
        let arrival = arrival.map(|(time, line)| Event::new(time, 0, Target::Arrival(out.inward[line])));
        free.into_iter().chain(arrival).min()
    }

    pub(super) fn step(&mut self, plan: Plan<'_>, out: &mut Out, event: Event) {
        match event.target() {
            Target::Arrival(wire) => self.arrival::<ANY>(plan, out, event.time, wire),
            _ => self.serve_next::<ANY>(plan, out),
        }
    }

    #[inline(always)]
    fn arrival<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, now: u64, wire: PortId) {
        self.clock.now = now;
        self.receive::<RUN>(plan, out, plan.layout.ports[wire].line);
    }

    pub(super) fn step_ns3(&mut self, plan: Plan<'_>, out: &mut Out, event: Event) {
        match event.target() {
            Target::Arrival(wire) => self.arrival::<NS3>(plan, out, event.time, wire),
            Target::Port(number) => {
                self.clock.now = event.time;
                out.count::<NS3>(self.node, event.time, || event.target());
                let port = plan.layout.local(self.node, number);
                self.ports[port].pending = false;
                self.serve::<NS3>(plan, out, port);
            }
            other => unreachable!("{other:?} is no event of a switch"),
        }
    }

    pub(super) const fn is_guarded(&self) -> bool {
        self.settings.guarded
    }

    pub(super) const fn now(&self) -> u64 {
        self.clock.now
    }

    #[inline(always)]
    fn serve_until<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, end: u64) {
        while self.clock.next_free() < end {
            self.serve_next::<RUN>(plan, out);
        }
    }

    #[inline(never)]
    fn serve_next<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out) {
        let Some(port) = self.clock.free_port() else { return };
        out.count::<RUN>(self.node, self.clock.now, || Target::Port(self.ports[port].number));
        self.ports[port].pending = false;
        self.serve::<RUN>(plan, out, port);
    }
}

#[cfg(test)]
mod tests {
    use crate::nodes::bench::Bench;
    use crate::nodes::bench::Frame::{Data, Xoff, Xon};
    use crate::nodes::bench::flow;

    #[test]
    fn windows_do_not_change_departures() {
        let sent = [1, 37, 100, 5000].map(|window| {
            let mut bench = Bench::switch(&[flow(0, 2, 9), flow(1, 2, 9)], |_| {});
            bench.put(0, &[0, 1, 2, 3].map(|number| (100 * number, Data(0, number))));
            bench.put(1, &[0, 1, 2, 3].map(|number| (110 * number, Data(1, number))));
            bench.put(2, &[(250, Xoff(3, 0)), (1000, Xon(3))]);
            (0..=5000).step_by(window).for_each(|end| bench.run(end));
            bench.sent(2)
        });
        // Three packets before the pause; the last of eight ends 500 ns after it.
        assert_eq!((sent[0].len(), sent[0][2].0, sent[0][7].0), (8, 300, 1500));
        assert!(sent.iter().all(|other| *other == sent[0]));
    }
}
