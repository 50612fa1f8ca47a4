//! Hosts: NICs (one per port), queue pairs of the flows sent, and state of the flows received.

mod blocking;
mod control;
mod failed;
mod gates;
mod hypervisor;
mod isolation;
mod link;
mod nic;
#[cfg(test)]
mod nic_tests;
mod pair;
#[cfg(test)]
mod pair_tests;
mod pairs;
mod params;
mod queue;
mod receiver;
mod records;
mod reference;
#[cfg(test)]
mod selective_tests;
mod sent;
mod soonest;
mod stack;
#[cfg(test)]
mod tests;

use incast_model::fabric::{HostId, NodeId, PortId};
use incast_model::units::Time;

use super::message::PfcFrame;
use super::out::{Note, Noted, Out};
use super::packet::{Packet, Slab};
use super::plan::Plan;
use crate::balance::State;
use crate::kernel::{Event, IdVec, Kind, LocalPort, ReceivedId, SentId, Target};
use crate::nodes::run::{ANY, NS3, has_transports};
use blocking::HostBlocking;
use hypervisor::HostHypervisor;
use isolation::HostIsolation;
use nic::Nic;
use pairs::Pairs;
use params::HostParams;
use receiver::Receiver;
use sent::SentFlows;
use soonest::Soonest;
use stack::Transports;
pub(super) use stack::{Hosts, arrived_bytes};

const PRIORITIES: usize = 8;

#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Host {
    nics: IdVec<LocalPort, Nic>,
    /// Outdated ones do nothing.
    timers: Soonest<SentId>,
    /// Time of the current event, `event`.
    now: u64,
    /// `None` with RDMA alone.
    transports: Option<Box<Transports>>,
    pub(super) flows: SentFlows,
    event: u32,
    params: HostParams,
    /// `None` with ECMP.
    balancer: Option<State>,
    slab: Slab,
    pairs: Pairs,
    receivers: IdVec<ReceivedId, Receiver>,
    hypervisor: Option<Box<HostHypervisor>>,
    pub(super) isolation: Option<Box<HostIsolation>>,
    blocking: Option<Box<HostBlocking>>,
}

impl Host {
    pub(super) fn new(plan: Plan<'_>, id: HostId) -> Self {
        let network = plan.network;
        let params = HostParams::new(network, id);
        let nics: IdVec<_, _> = network.fabric.ports_of(params.node).map(|port| Nic::new(plan, port)).collect();
        let count = nics.len();
        Self {
            nics,
            timers: Soonest::default(),
            now: 0,
            transports: Transports::new(plan, id, count),
            flows: SentFlows::new(plan, id),
            event: 0,
            balancer: network.routing.balancers.get(params.node.index()).cloned(),
            params,
            slab: Slab::new(),
            pairs: Pairs::default(),
            receivers: plan.layout.received[id].iter().map(|&flow| Receiver::new(plan, flow)).collect(),
            hypervisor: HostHypervisor::new(plan, id.0),
            isolation: HostIsolation::new(plan, count),
            blocking: HostBlocking::new(network, count),
        }
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
        if has_transports(RUN) && (self.transports.is_some() || self.params.port_rank != 0) {
            return self.run_by_event::<RUN>(plan, out, end);
        }
        loop {
            let (arrival, nic) = self.next_arrival(out);
            let own = self.timers.time().min(self.flows.start_time()).min(self.next_due().0);
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
            let (timer, start, (due, _)) = (self.timers.time(), self.flows.start_time(), self.next_due());
            let ((arrival, nic), task) = (self.next_arrival(out), self.task_time());
            let time = timer.min(start).min(due).min(arrival).min(task);
            if time >= end {
                return time;
            }
            self.now = time;
            if timer == time {
                self.fire::<RUN>(plan, out);
            } else if start == time {
                self.begin::<RUN>(plan, out);
            } else if self.params.port_rank == 0 && due == time {
                self.serve_due::<RUN>(plan, out);
            } else if arrival == time {
                self.arrival::<RUN>(plan, out, nic);
            } else if task == time {
                self.task::<RUN>(plan, out);
            } else {
                self.serve_due::<RUN>(plan, out);
            }
        }
    }

    fn task_time(&self) -> u64 {
        self.transports.as_ref().map_or(u64::MAX, |transports| transports.due.time())
    }

    fn task_nic(&self) -> LocalPort {
        self.transports.as_ref().and_then(|transports| transports.due.first()).unwrap_or(LocalPort(0))
    }

    /// Timers before starts, starts before ports.
    fn own_event<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, time: u64) {
        self.now = time;
        if self.timers.time() == time {
            self.fire::<RUN>(plan, out);
        } else if self.flows.start_time() == time {
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
        out.count::<RUN>(self.params.node, self.now, || target(self));
    }

    #[inline(always)]
    fn arrival<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort) {
        if has_transports(RUN) {
            self.event = Event::new(self.now, 0, Target::Arrival(self.nics[nic].link.wire)).target_code();
        }
        self.receive::<RUN>(plan, out, nic);
    }

    fn fire<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out) {
        let Some(own) = self.timers.pop() else { return };
        self.begin_event::<RUN>(out, |host| Target::Timer(host.flows.ids[own]));
        self.timer::<RUN>(plan, out, own);
    }

    fn task<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out) {
        self.begin_event::<RUN>(out, |host| Target::Agenda(host.task_nic().0.into()));
        self.do_tasks::<RUN>(plan, out);
    }

    #[inline(always)]
    fn serve_due<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out) {
        let (_, nic) = self.next_due();
        self.begin_event::<RUN>(out, |host| Target::Port(host.nics[nic].link.port));
        self.nics[nic].due = u64::MAX;
        self.kick::<RUN>(plan, out, nic);
    }

    fn begin<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out) {
        let (_, own) = self.flows.next_start();
        self.begin_event::<RUN>(out, |host| Target::Start(host.flows.ids[own]));
        self.begin_flow::<RUN>(plan, out, own);
    }

    fn begin_flow<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, own: SentId) {
        out.progress.moved = out.progress.moved.max(self.now);
        self.flows.take_next(plan, own);
        if !has_transports(RUN) || self.is_rdma(own) {
            self.start::<RUN>(plan, out, own);
        } else {
            self.start_transport::<RUN>(plan, out, own);
        }
    }

    pub(super) fn next(&self, out: &Out) -> Option<Event> {
        let timer = self.timers.first();
        let timer = timer.map(|own| Event::new(self.timers.time(), 0, Target::Timer(self.flows.ids[own])));
        let (start, own) = self.flows.next_start();
        let start = (start != u64::MAX).then(|| Event::new(start, 0, Target::Start(self.flows.ids[own])));
        let (due, nic) = self.next_due();
        let port = Event::new(due, self.params.port_rank, Target::Port(self.nics[nic].link.port));
        let (arrival, nic) = self.next_arrival(out);
        let arrival = Event::new(arrival, 0, Target::Arrival(self.nics[nic].link.wire));
        let task = Event::new(self.task_time(), 0, Target::Agenda(self.task_nic().0.into()));
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
            Target::Agenda(_) => self.task::<ANY>(plan, out),
            Target::Port(_) => self.serve_due::<ANY>(plan, out),
            _ => self.own_event::<ANY>(plan, out, event.time),
        }
    }

    pub(super) fn step_ns3(&mut self, plan: Plan<'_>, out: &mut Out, event: Event) {
        (self.now, self.event) = (event.time, event.target_code());
        let nic_of = |port: PortId| plan.layout.local(self.params.node, port);
        if let Target::Arrival(wire) = event.target() {
            let nic = plan.layout.ports[wire].peer_port;
            return self.receive::<NS3>(plan, out, nic);
        }
        out.count::<NS3>(self.params.node, event.time, || event.target());
        match event.target() {
            Target::Timer(flow) => self.timer::<NS3>(plan, out, plan.layout.at_src[flow]),
            Target::Start(flow) => self.begin_flow::<NS3>(plan, out, plan.layout.at_src[flow]),
            Target::Wake(port) => self.wake_reference(plan, out, nic_of(port)),
            Target::Port(port) => self.free_reference(plan, out, nic_of(port)),
            other => unreachable!("{other:?} is no event of a host"),
        }
    }

    fn receive<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort) {
        let packet = out.take::<RUN>(plan, self.params.node, self.nics[nic].line, self.now);
        out.deliver(packet.prio, packet.size.into());
        match packet.kind {
            Kind::Pfc => {
                out.counts.pfc_hops += 1;
                return self.receive_pfc::<RUN>(plan, out, nic, &packet);
            }
            Kind::Lost => return out.ledger.delivered[usize::from(packet.prio & 7)] -= u64::from(packet.size),
            _ => out.count_hop(packet.kind),
        }
        match packet.kind {
            Kind::Data => self.receive_data::<RUN>(plan, out, nic, &packet),
            Kind::Ack | Kind::Nack => self.receive_ack::<RUN>(plan, out, &packet),
            Kind::Cnp => self.receive_cnp::<RUN>(plan, out, &packet),
            Kind::Isolation => self.receive_isolation(plan, out, nic, &packet),
            _ => self.receive_transport::<RUN>(plan, out, nic, &packet),
        }
    }

    #[cold]
    fn receive_pfc<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort, packet: &Packet) {
        let frame = PfcFrame::from(packet);
        let state = &mut self.nics[nic];
        let at = plan.network.at(state.link.port, frame.prio);
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
        (self.nics[nic].link.port, self.nics[nic].link.wire)
    }

    pub(super) const fn node(&self) -> NodeId {
        self.params.node
    }

    pub(super) const fn now(&self) -> u64 {
        self.now
    }
}

#[inline(never)]
fn first_arrival(nics: &IdVec<LocalPort, Nic>, out: &Out) -> (u64, LocalPort) {
    let key = |(number, nic): (LocalPort, &Nic)| (out.wires[nic.line].first(), nic.link.wire, number);
    nics.numbered().map(key).min().map_or((u64::MAX, LocalPort(0)), |(time, _, number)| (time, number))
}

#[inline(never)]
fn first_due(nics: &IdVec<LocalPort, Nic>) -> (u64, LocalPort) {
    nics.numbered().map(|(number, nic)| (nic.due, number)).min().unwrap_or((u64::MAX, LocalPort(0)))
}
