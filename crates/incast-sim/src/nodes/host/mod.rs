//! Hosts: NICs (one per port), queue pairs of the flows sent, and state of the flows received.

mod blocking;
mod failed;
mod gates;
mod hypervisor;
mod isolation;
mod nic;
#[cfg(test)]
mod nic_tests;
mod pair;
#[cfg(test)]
mod pair_tests;
mod queue;
mod receiver;
mod records;
mod reference;
#[cfg(test)]
mod selective_tests;
mod stack;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use incast_model::fabric::{HostId, NodeId, PortId};
use incast_model::units::Time;

use super::out::{Note, Noted, Out};
use super::packet::{Packet, PfcFrame, Slab};
use super::plan::Plan;
use crate::balance::State;
use crate::host::selective::{Repeat, Rules};
use crate::host::{End, PacketParams, RdmaParams};
use crate::kernel::{Event, IdVec, Kind, LocalPort, PairId, Target};
use crate::nodes::run::{ANY, NS3, has_transports};
use crate::switch::Storage;
use blocking::HostBlocking;
use gates::Gates;
use hypervisor::HostHypervisor;
use isolation::HostIsolation;
use nic::Nic;
use pair::{Pair, Progress};
use receiver::Receiver;
use stack::Transports;
pub(super) use stack::arrived_bytes;

const PRIORITIES: usize = 8;

/// Several fields are copies from [`crate::plan::Config`].
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Host {
    nics: IdVec<LocalPort, Nic>,
    /// Time, own number. Outdated ones do nothing.
    timers: BinaryHeap<Reverse<(u64, u32)>>,
    /// Time of `next_start`.
    next_clock: u64,
    /// Current event: time, class, number.
    now: u64,
    gates: Option<Box<Gates>>,
    /// `None` with RDMA alone.
    transports: Option<Box<Transports>>,
    port_rank: u64,
    event: u32,
    node: NodeId,
    ranks: bool,
    mixed: bool,
    /// Bytes of a packet that fits into an empty port.
    least_buffer: u32,
    id: HostId,
    /// `None` with ECMP.
    balancer: Option<State>,
    packets: PacketParams,
    rdma: RdmaParams,
    /// `None` without selective repeat.
    rules: Option<Rules>,
    /// Bytes after which a flow is an elephant, and elephants' priority.
    demotion: (u64, u8),
    in_flight: u64,
    slab: Slab,
    pairs: IdVec<PairId, Pair>,
    /// Empty without selective repeat.
    repeats: IdVec<PairId, Repeat>,
    /// Unused places of `pairs`.
    free: Vec<PairId>,
    /// By flow sent; the pair is [`PairId::NONE`] before the start and after the end.
    flows: Vec<u32>,
    pair_of: Vec<PairId>,
    progress: Vec<Progress>,
    /// Next flow that starts by the clock alone.
    next_start: usize,
    /// By flow received.
    receivers: Vec<Receiver>,
    /// `None` without hypervisors.
    hypervisor: Option<Box<HostHypervisor>>,
    /// `None` without isolation.
    pub(super) isolation: Option<Box<HostIsolation>>,
    /// `None` if not measured.
    blocking: Option<Box<HostBlocking>>,
}

impl Host {
    pub(super) fn new(plan: Plan<'_>, id: HostId) -> Self {
        let network = plan.network;
        let node = network.fabric.hosts()[id.index()];
        let flows = plan.layout.sent[id.index()].clone();
        let received = &plan.layout.received[id.index()];
        let mut host = Self {
            node,
            id,
            nics: network.fabric.ports_of(node).map(|port| Nic::new(plan, port)).collect(),
            balancer: network.routing.balancers.get(node.index()).cloned(),
            packets: network.config.packets,
            rdma: network.config.host.rdma.clone(),
            rules: network.config.host.selective.then(|| {
                Rules::new(&network.config.packets, &network.config.host.rdma, network.config.host.reorder_window)
            }),
            demotion: (network.config.host.demotion, network.config.host.elephants),
            in_flight: network.config.host.in_flight,
            least_buffer: match network.config.queues.host_storage {
                Storage::Ranked(limit) | Storage::Own(limit) => limit,
                Storage::Shared => u32::MAX,
            },
            slab: Slab::new(plan.layout.records),
            pairs: IdVec::new(),
            repeats: IdVec::new(),
            free: Vec::new(),
            pair_of: vec![PairId::NONE; flows.len()],
            progress: vec![Progress::default(); flows.len()],
            flows,
            next_start: 0,
            next_clock: u64::MAX,
            gates: Gates::new(plan, id),
            receivers: received.iter().map(|&flow| Receiver::new(plan, flow)).collect(),
            timers: BinaryHeap::new(),
            transports: Transports::new(plan, id.0, network.fabric.ports_of(node).len()),
            hypervisor: HostHypervisor::new(plan, id.0),
            isolation: HostIsolation::new(plan, network.fabric.ports_of(node).len()),
            blocking: HostBlocking::new(network, network.fabric.ports_of(node).len()),
            ranks: network.config.queues.ranked,
            port_rank: network.config.queues.port_rank,
            mixed: network.config.mixed,
            now: 0,
            event: 0,
        };
        host.find_start(plan, 0);
        host
    }

    fn find_start(&mut self, plan: Plan<'_>, first: usize) {
        self.next_start = first;
        while self.gates.as_ref().is_some_and(|gates| gates.held.get(self.next_start) == Some(&true)) {
            self.next_start += 1;
        }
        let next = self.flows.get(self.next_start);
        self.next_clock = next.map_or(u64::MAX, |&flow| plan.network.flows.flows[flow as usize].start.0);
    }

    fn next_start(&self) -> (u64, u32) {
        let by_clock = (self.next_clock, self.next_start as u32);
        match self.gates.as_ref().and_then(|gates| gates.coming.peek()) {
            Some(&Reverse(behind_gate)) => by_clock.min(behind_gate),
            None => by_clock,
        }
    }

    #[inline(always)]
    fn start_time(&self) -> u64 {
        if self.gates.is_some() { self.next_start().0 } else { self.next_clock }
    }

    /// `sent`: acknowledged; otherwise arrived here.
    fn pass_gates(&mut self, plan: Plan<'_>, out: &mut Out, sent: bool, flow: u32) {
        if let Some(gates) = &mut self.gates {
            if plan.layout.gates.is_empty() {
                let lists = if sent { &plan.layout.sent } else { &plan.layout.received };
                let end = if sent { End::Acked } else { End::Delivered };
                out.shared.ends.push((self.now, lists[self.id.index()][flow as usize], end));
                return;
            }
            let earliest = |own: u32| plan.network.flows.flows[self.flows[own as usize] as usize].start.0;
            if sent { gates.acked(flow, self.now, earliest) } else { gates.delivered(flow, self.now, earliest) }
        }
    }

    /// All bytes of a flow without a size have arrived, as its sender knows.
    #[cold]
    fn pass_delivered(&self, plan: Plan<'_>, out: &mut Out, own: u32) {
        if self.gates.is_some() && plan.layout.gates.is_empty() {
            out.shared.ends.push((self.now, self.flows[own as usize], End::Delivered));
        }
    }

    fn timer_time(&self) -> u64 {
        self.timers.peek().map_or(u64::MAX, |Reverse((time, _))| *time)
    }

    /// Time and port; the lowest wire first.
    #[inline(always)]
    fn next_arrival(&self, out: &Out) -> (u64, LocalPort) {
        match self.nics.as_slice() {
            [only] => (out.wires[only.line].first(), LocalPort(0)),
            _ => first_arrival(&self.nics, out),
        }
    }

    #[inline(always)]
    fn next_due(&self) -> (u64, LocalPort) {
        match self.nics.as_slice() {
            [only] => (only.due, LocalPort(0)),
            _ => first_due(&self.nics),
        }
    }

    /// Returns the time of the next known event.
    pub(super) fn run<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, end: u64) -> u64 {
        if has_transports(RUN) && (self.transports.is_some() || self.port_rank != 0) {
            return self.run_by_event::<RUN>(plan, out, end);
        }
        loop {
            let (arrival, nic) = self.next_arrival(out);
            let own = self.timer_time().min(self.start_time()).min(self.next_due().0);
            if arrival < own {
                if arrival >= end {
                    return arrival;
                }
                self.now = arrival;
                self.receive::<RUN>(plan, out, nic);
            } else {
                if own >= end {
                    return own;
                }
                self.own_event::<RUN>(plan, out, own);
            }
        }
    }

    /// For transports, with more kinds of events, and pFabric queues, with another order.
    fn run_by_event<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, end: u64) -> u64 {
        loop {
            let (timer, start, (due, _)) = (self.timer_time(), self.start_time(), self.next_due());
            let ((arrival, nic), (task, task_nic)) = (self.next_arrival(out), self.next_task());
            let time = timer.min(start).min(due).min(arrival).min(task);
            if time >= end {
                return time;
            }
            self.now = time;
            if timer == time {
                self.fire::<RUN>(plan, out);
            } else if start == time {
                self.begin::<RUN>(plan, out);
            } else if due == time && self.port_rank == 0 {
                self.serve_due::<RUN>(plan, out);
            } else if arrival == time {
                self.arrival::<RUN>(plan, out, nic);
            } else if task == time {
                self.task::<RUN>(plan, out, task_nic);
            } else {
                self.serve_due::<RUN>(plan, out);
            }
        }
    }

    fn next_task(&self) -> (u64, LocalPort) {
        self.transports.as_ref().map_or((u64::MAX, LocalPort(0)), |transports| transports.next_task())
    }

    /// Timers before starts, starts before ports.
    fn own_event<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, time: u64) {
        self.now = time;
        if self.timer_time() == time {
            self.fire::<RUN>(plan, out);
        } else if self.start_time() == time {
            self.begin::<RUN>(plan, out);
        } else {
            self.serve_due::<RUN>(plan, out);
        }
    }

    /// `target` is computed only if read.
    #[inline(always)]
    fn begin_event<const RUN: u8>(&mut self, out: &mut Out, target: impl Fn(&Self) -> Target) {
        if has_transports(RUN) {
            self.event = Event::new(self.now, 0, target(self)).target_code();
        }
        out.count::<RUN>(self.node, self.now, || target(self));
    }

    #[inline(always)]
    fn arrival<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort) {
        if has_transports(RUN) {
            self.event = Event::new(self.now, 0, Target::Arrival(self.nics[nic].wire)).target_code();
        }
        self.receive::<RUN>(plan, out, nic);
    }

    fn fire<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out) {
        let Some(Reverse((_, own))) = self.timers.pop() else { return };
        self.begin_event::<RUN>(out, |host| Target::Timer(host.flows[own as usize]));
        self.timer::<RUN>(plan, out, own);
    }

    fn task<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort) {
        self.begin_event::<RUN>(out, |_| Target::Agenda(nic.0.into()));
        self.do_tasks::<RUN>(plan, out);
    }

    #[inline(always)]
    fn serve_due<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out) {
        let (_, nic) = self.next_due();
        self.begin_event::<RUN>(out, |host| Target::Port(host.nics[nic].port));
        self.nics[nic].due = u64::MAX;
        self.kick::<RUN>(plan, out, nic);
    }

    fn begin<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out) {
        let (_, own) = self.next_start();
        self.begin_event::<RUN>(out, |host| Target::Start(host.flows[own as usize]));
        self.begin_flow::<RUN>(plan, out, own);
    }

    fn begin_flow<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, own: u32) {
        out.progress.moved = out.progress.moved.max(self.now);
        match &mut self.gates {
            Some(gates) if gates.held[own as usize] => drop(gates.coming.pop()),
            _ => self.find_start(plan, self.next_start + 1),
        }
        if !has_transports(RUN) || self.is_rdma(own) {
            self.start::<RUN>(plan, out, own);
        } else {
            self.start_transport::<RUN>(plan, out, own);
        }
    }

    /// Behind an opened gate.
    pub(super) fn open(&mut self, own: u32, time: u64) {
        if let Some(gates) = &mut self.gates {
            gates.coming.push(Reverse((time, own)));
        }
    }

    pub(super) fn next(&self, out: &Out) -> Option<Event> {
        let timer = self
            .timers
            .peek()
            .map(|Reverse((time, own))| Event::new(*time, 0, Target::Timer(self.flows[*own as usize])));
        let (start, own) = self.next_start();
        let start = (start != u64::MAX).then(|| Event::new(start, 0, Target::Start(self.flows[own as usize])));
        let (due, nic) = self.next_due();
        let port = Event::new(due, self.port_rank, Target::Port(self.nics[nic].port));
        let (arrival, nic) = self.next_arrival(out);
        let arrival = Event::new(arrival, 0, Target::Arrival(self.nics[nic].wire));
        let (task, nic) = self.next_task();
        let task = Event::new(task, 0, Target::Agenda(nic.0.into()));
        let known = [port, arrival, task].into_iter().filter(|event| event.time != u64::MAX);
        timer.into_iter().chain(start).chain(known).min()
    }

    pub(super) fn step(&mut self, plan: Plan<'_>, out: &mut Out, event: Event) {
        self.now = event.time;
        match event.target() {
            Target::Arrival(_) => {
                let (_, nic) = self.next_arrival(out);
                self.arrival::<ANY>(plan, out, nic);
            }
            Target::Agenda(nic) => self.task::<ANY>(plan, out, LocalPort(nic as u16)),
            Target::Port(_) => self.serve_due::<ANY>(plan, out),
            _ => self.own_event::<ANY>(plan, out, event.time),
        }
    }

    pub(super) fn step_ns3(&mut self, plan: Plan<'_>, out: &mut Out, event: Event) {
        (self.now, self.event) = (event.time, event.target_code());
        let nic_of = |port: PortId| plan.layout.local(self.node, port);
        if let Target::Arrival(wire) = event.target() {
            let nic = plan.layout.ports[wire].peer_port;
            return self.receive::<NS3>(plan, out, nic);
        }
        out.count::<NS3>(self.node, event.time, || event.target());
        match event.target() {
            Target::Timer(flow) => self.timer::<NS3>(plan, out, plan.layout.at_src[flow as usize]),
            Target::Start(flow) => self.begin_flow::<NS3>(plan, out, plan.layout.at_src[flow as usize]),
            Target::Wake(port) => self.wake_reference(plan, out, nic_of(port)),
            Target::Port(port) => self.free_reference(plan, out, nic_of(port)),
            other => unreachable!("{other:?} is no event of a host"),
        }
    }

    fn receive<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort) {
        let packet = out.take::<RUN>(plan, self.node, self.nics[nic].line, self.now);
        out.deliver(packet.prio, packet.size.into());
        match packet.kind {
            Kind::Data => {
                out.counts.data_hops += 1;
                self.receive_data::<RUN>(plan, out, nic, &packet);
            }
            Kind::Segment => {
                out.counts.data_hops += 1;
                self.receive_transport::<RUN>(plan, out, nic, &packet);
            }
            Kind::Pfc => {
                out.counts.pfc_hops += 1;
                self.receive_pfc::<RUN>(plan, out, nic, &packet);
            }
            Kind::Lost => out.ledger.delivered[usize::from(packet.prio & 7)] -= u64::from(packet.size),
            kind => {
                out.counts.ack_hops += 1;
                match kind {
                    Kind::Ack | Kind::Nack => self.receive_ack::<RUN>(plan, out, &packet),
                    Kind::Cnp => self.receive_cnp::<RUN>(plan, out, &packet),
                    Kind::Isolation => self.receive_isolation(plan, out, nic, &packet),
                    _ => self.receive_transport::<RUN>(plan, out, nic, &packet),
                }
            }
        }
    }

    #[cold]
    fn receive_pfc<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort, packet: &Packet) {
        let frame = PfcFrame::from(packet);
        let state = &mut self.nics[nic];
        let at = plan.network.at(state.port, frame.prio);
        if let Some(note) = Note::of_frame(&frame, at, &mut state.paused) {
            match frame.xoff {
                true => self.begin_pause(nic, frame.prio, frame.root),
                false => self.end_pause(plan.network, nic, frame.prio),
            }
            out.notes.push(Noted { time: Time(self.now), event: 0, note });
        }
        if !frame.xoff {
            self.kick::<RUN>(plan, out, nic);
        }
    }

    /// Port in the fabric, and wire that ends there.
    pub(super) fn port_and_wire(&self, nic: LocalPort) -> (PortId, PortId) {
        (self.nics[nic].port, self.nics[nic].wire)
    }

    pub(super) const fn node(&self) -> NodeId {
        self.node
    }

    pub(super) const fn now(&self) -> u64 {
        self.now
    }
}

#[inline(never)]
fn first_arrival(nics: &IdVec<LocalPort, Nic>, out: &Out) -> (u64, LocalPort) {
    let key = |(number, nic): (LocalPort, &Nic)| (out.wires[nic.line].first(), nic.wire, number);
    nics.numbered().map(key).min().map_or((u64::MAX, LocalPort(0)), |(time, _, number)| (time, number))
}

#[inline(never)]
fn first_due(nics: &IdVec<LocalPort, Nic>) -> (u64, LocalPort) {
    nics.numbered().map(|(number, nic)| (nic.due, number)).min().unwrap_or((u64::MAX, LocalPort(0)))
}
