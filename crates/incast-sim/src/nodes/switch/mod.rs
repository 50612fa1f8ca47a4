//! Order of stages, as in the HPCC authors' ns-3 (`switch-node.cc`). Arrival: route, admission, accounting, pause check, queue,
//! port. Departure: queue, accounting, ECN, resume check, INT, wire.

mod contents;
mod ecn;
mod failed;
mod hooks;
mod own_buffer;
mod pfc;
mod pipeline;
mod port;
mod queues;
mod telemetry;

use incast_model::fabric::{NodeId, PortId};
use incast_model::rng::{self, Stream};

use super::out::Out;
use super::packet::Slab;
use super::plan::{LINK_BITS, Plan};
use super::run::{ANY, NS3};
use crate::balance::State;
use crate::kernel::{Event, IdVec, Line, LocalPort, Target};
use crate::measure::LengthHistogram;
use crate::plan::Sending;
use crate::switch::{Buffer, RankedQueue, Rule, Storage};
pub(super) use hooks::Hooks;
use port::{Pauses, Port};
use telemetry::Telemetry;

/// Several fields are copies from [`crate::plan::Config`].
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Switch<G> {
    pub(super) ports: IdVec<LocalPort, Port>,
    /// Ports that become free: time and port in one number, soonest last.
    free_at: Vec<u64>,
    pub(super) now: u64,
    /// Wire of the current arrival; too high during actions.
    pub(super) line: Line,
    pub(super) node: NodeId,
    /// Known arrivals, as in [`Out::inboxes`].
    arrivals: Vec<u64>,
    pub(super) slab: Slab,
    /// Packets pass guards; these change tags on the wire; these watch queues.
    guarded: bool,
    late_tags: bool,
    pub(super) watches_queues: bool,
    /// As [`Hooks::markable`].
    markable: u8,
    pub(super) lossless: u8,
    pub(super) mark_at_enqueue: bool,
    pub(super) ttl: u8,
    stamps: bool,
    pub(super) storage: Storage,
    rule: Rule,
    port_rank: u64,
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
    pfc_size: u16,
    /// Extra times in a server of VMs; empty without jitter.
    jitters: IdVec<LocalPort, Option<Sending>>,
    /// Empty if not measured; width of bins in bytes.
    pub(super) histograms: IdVec<LocalPort, LengthHistogram>,
    bin: u64,
}

impl<G: Hooks> Switch<G> {
    pub(super) fn new(plan: Plan<'_>, node: NodeId) -> Self {
        let network = plan.network;
        let numbers = || network.fabric.ports_of(node);
        let (config, measured) = (&network.config, &network.measure);
        let guards = G::new(plan, node);
        let telemetry = Telemetry::new(network, numbers().len());
        let serves_vms = numbers().any(|port| network.ports[port].at_server);
        let jitter = network.jitter.as_ref().filter(|_| serves_vms);
        let late_tags = guards.rewrites_on_the_wire();
        let stamps = telemetry.is_some() || late_tags;
        Self {
            node,
            buffer: network.switches.buffers[node.index()].clone().expect("the node is a switch"),
            rng: rng::stream(config.seed, "ecn", node.0.into()),
            ports: numbers().map(|port| Port::new(plan, port)).collect(),
            slab: Slab::new(plan.layout.records),
            free_at: Vec::new(),
            arrivals: Vec::new(),
            now: 0,
            line: Line::NONE,
            rule: network.switches.rule,
            storage: if serves_vms { Storage::Own(config.queues.server) } else { config.queues.storage },
            ranked: if config.queues.ranked {
                vec![RankedQueue::default(); numbers().len()].into()
            } else {
                IdVec::new()
            },
            port_rank: config.queues.port_rank,
            deficits: if network.switches.rule.is_drr() { vec![[0; 8]; numbers().len()].into() } else { IdVec::new() },
            balancer: network.routing.balancers.get(node.index()).cloned(),
            lossless: config.queues.lossless,
            guarded: !guards.is_empty(),
            late_tags,
            watches_queues: guards.watches_queues(),
            markable: guards.markable(),
            pauses: if guards.is_empty() { IdVec::new() } else { vec![Default::default(); numbers().len()].into() },
            guards,
            mark_at_enqueue: config.switch.mark_at_enqueue,
            ttl: config.switch.ttl,
            telemetry,
            stamps,
            pfc_size: config.packets.pfc.0 as u16,
            jitters: jitter.map_or_else(IdVec::new, |jitter| numbers().map(|port| jitter.of_port(port)).collect()),
            histograms: if measured.queue_histogram {
                vec![Default::default(); numbers().len()].into()
            } else {
                IdVec::new()
            },
            bin: measured.histogram_bin.0,
        }
    }

    /// Returns the time of the next known event.
    pub(super) fn run<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, end: u64) -> u64 {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        out.take_inbox(self.node, &mut arrivals);
        arrivals.sort_unstable();
        let mut handled = 0;
        for key in &arrivals {
            let time = key >> LINK_BITS;
            if time >= end {
                break;
            }
            handled += 1;
            self.serve_until::<RUN>(plan, out, time + 1 - self.port_rank);
            self.now = time;
            self.receive::<RUN>(plan, out, plan.layout.line(self.node, low_bits(*key).into()));
        }
        self.serve_until::<RUN>(plan, out, end);
        arrivals.drain(..handled);
        let next = arrivals.first().map_or(u64::MAX, |key| key >> LINK_BITS);
        self.arrivals = arrivals;
        next.min(self.next_free())
    }

    /// Forgets the arrivals before `end`, which came event by event.
    pub(super) fn pass(&mut self, out: &mut Out, end: u64) {
        out.take_inbox(self.node, &mut self.arrivals);
        self.arrivals.retain(|key| key >> LINK_BITS >= end);
    }

    pub(super) fn next(&self, plan: Plan<'_>, out: &Out) -> Option<Event> {
        let free = self.free_at.last().map(|key| {
            let port = &self.ports[LocalPort(low_bits(*key))];
            Event::new(key >> LINK_BITS, self.port_rank, Target::Port(port.number))
        });
        let arrivals = plan
            .layout
            .lines(self.node)
            .map(|line| Event::new(out.wires[line].first(), 0, Target::Arrival(plan.layout.inward[line])));
        free.into_iter().chain(arrivals.filter(|event| event.time != u64::MAX)).min()
    }

    pub(super) fn step(&mut self, plan: Plan<'_>, out: &mut Out, event: Event) {
        match event.target() {
            Target::Arrival(wire) => self.arrival::<ANY>(plan, out, event.time, wire),
            _ => self.serve_next::<ANY>(plan, out),
        }
    }

    #[inline(always)]
    fn arrival<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, now: u64, wire: PortId) {
        self.now = now;
        self.receive::<RUN>(plan, out, plan.layout.ports[wire].line);
    }

    pub(super) fn step_ns3(&mut self, plan: Plan<'_>, out: &mut Out, event: Event) {
        match event.target() {
            Target::Arrival(wire) => self.arrival::<NS3>(plan, out, event.time, wire),
            Target::Port(number) => {
                self.now = event.time;
                out.count::<NS3>(self.node, event.time, || event.target());
                let port = plan.layout.local(self.node, number);
                self.ports[port].pending = false;
                self.serve::<NS3>(plan, out, port);
            }
            other => unreachable!("{other:?} is no event of a switch"),
        }
    }

    pub(super) const fn is_guarded(&self) -> bool {
        self.guarded
    }

    pub(super) const fn now(&self) -> u64 {
        self.now
    }

    fn next_free(&self) -> u64 {
        self.free_at.last().map_or(u64::MAX, |key| key >> LINK_BITS)
    }

    #[inline(always)]
    fn serve_until<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, end: u64) {
        while self.next_free() < end {
            self.serve_next::<RUN>(plan, out);
        }
    }

    #[inline(never)]
    fn serve_next<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out) {
        let Some(key) = self.free_at.pop() else { return };
        self.now = key >> LINK_BITS;
        let port = LocalPort(low_bits(key));
        out.count::<RUN>(self.node, self.now, || Target::Port(self.ports[port].number));
        self.ports[port].pending = false;
        self.serve::<RUN>(plan, out, port);
    }
}

/// Port or link in a key.
#[inline(always)]
const fn low_bits(key: u64) -> u16 {
    key as u16 & ((1 << LINK_BITS) - 1)
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
