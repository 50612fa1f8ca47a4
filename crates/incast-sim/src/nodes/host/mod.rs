//! A host with one port: its NIC, the queue pairs of the flows that it sends, and what it knows of those that it receives.

mod nic;
mod pair;
mod receiver;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use incast_model::fabric::{HostId, NodeId};
use incast_model::units::Time;

use super::out::{Note, Noted, Out};
use super::packet::{Packet, Records, Slab, Stamp};
use super::plan::{Plan, PortPlan};
use crate::congestion::{FlowContext, IntRecord, MAX_INT_RECORDS};
use crate::host::selective::{Repeat, Rules};
use crate::host::{PacketParams, RdmaParams};
use crate::kernel::{Event, Kind, NONE, Target, flag};
use crate::network::{Network, Queue};
use nic::Nic;
use pair::{Pair, Progress};
use receiver::Receiver;

/// Priorities of a port.
const PRIORITIES: usize = 8;

/// A host.
#[derive(Debug)]
pub(super) struct Host {
    node: u32,
    id: HostId,
    /// Number of its port in the fabric, and of the wire that ends there.
    port: u32,
    wire: u32,
    plan: PortPlan,
    /// Until when the node at the far end is known to be awake, in ps.
    woken: u64,
    /// Rate of its port in bit/s.
    rate: u64,
    context: FlowContext,
    packets: PacketParams,
    rdma: RdmaParams,
    /// In runs with selective repeat.
    rules: Option<Rules>,
    /// Most bytes of a flow in flight without a window.
    in_flight: u64,
    /// End of the current transmission, in ps.
    busy_until: u64,
    /// Wire bytes sent.
    tx_bytes: u64,
    /// Bytes queued, all priorities.
    queued: u32,
    /// Priorities with queued packets, and those paused by the far end, one bit each.
    waiting: u8,
    paused: u8,
    /// Egress queues of ACKs, CNPs and PFC frames by priority; data waits in its queue pair.
    queues: [Queue; PRIORITIES],
    /// Their packets.
    slab: Slab,
    nic: Nic,
    pairs: Vec<Pair>,
    /// By pair; empty without selective repeat.
    repeats: Vec<Repeat>,
    /// Unused places of `pairs`.
    free: Vec<u32>,
    /// The flows that it sends, in order, with their pairs ([`NONE`] before the start and after the end) and progress.
    flows: Vec<u32>,
    pair_of: Vec<u32>,
    progress: Vec<Progress>,
    /// The next flow that starts.
    next_start: usize,
    /// Flows that it receives, in order.
    receivers: Vec<Receiver>,
    /// Timers of own flows: time, number of the flow. Those that no longer hold do nothing.
    timers: BinaryHeap<Reverse<(u64, u32)>>,
    /// INT records of the packet that is handled.
    records: Records,
    /// Time of the event that is handled, in ps.
    now: u64,
}

impl Host {
    /// The host at a node of a network that has not run.
    pub(super) fn new(plan: Plan<'_>, id: HostId) -> Self {
        let network = plan.network;
        let node = network.fabric.hosts()[id.index()];
        let port = network.fabric.ports_of(node).next().map_or(0, |port| port.0);
        let state = &network.ports[port as usize];
        let flows = plan.layout.sent[id.index()].clone();
        let received = &plan.layout.received[id.index()];
        Self {
            node: node.0,
            id,
            port,
            wire: state.peer,
            plan: plan.layout.ports[port as usize],
            woken: 0,
            rate: network.rates[usize::from(state.rate)],
            context: network.contexts[state.owner as usize],
            packets: network.config.packets,
            rdma: network.config.rdma.clone(),
            rules: network.selective.is_some().then(|| Rules::new(&network.config)),
            in_flight: network.config.in_flight,
            busy_until: 0,
            tx_bytes: 0,
            queued: 0,
            waiting: 0,
            paused: 0,
            queues: [Queue::EMPTY; PRIORITIES],
            slab: Slab::new(plan.layout.records),
            nic: Nic::new(network.scheduler.rule),
            pairs: Vec::new(),
            repeats: Vec::new(),
            free: Vec::new(),
            pair_of: vec![NONE; flows.len()],
            progress: vec![Progress::default(); flows.len()],
            flows,
            next_start: 0,
            receivers: received.iter().map(|&flow| Receiver::new(plan, flow)).collect(),
            timers: BinaryHeap::new(),
            records: [IntRecord::default(); MAX_INT_RECORDS],
            now: 0,
        }
    }

    /// Start of the next flow in ps; [`u64::MAX`] if there is none.
    fn start_time(&self, plan: Plan<'_>) -> u64 {
        self.flows.get(self.next_start).map_or(u64::MAX, |&flow| plan.network.flows.flows[flow as usize].start.0)
    }

    fn timer_time(&self) -> u64 {
        self.timers.peek().map_or(u64::MAX, |Reverse((time, _))| *time)
    }

    /// Handles all that happens before `end`; time of the next event that is known, in ps.
    pub(super) fn run(&mut self, plan: Plan<'_>, out: &mut Out, end: u64) -> u64 {
        loop {
            let arrival = out.wires[self.wire as usize].first();
            let own = self.timer_time().min(self.start_time(plan)).min(self.nic.due);
            if arrival < own {
                if arrival >= end {
                    return arrival;
                }
                self.now = arrival;
                self.receive(plan, out);
            } else {
                if own >= end {
                    return own;
                }
                self.own_event(plan, out, own);
            }
        }
    }

    /// Handles the event of its own that is due at `time`: timers come before starts, and these before the port.
    fn own_event(&mut self, plan: Plan<'_>, out: &mut Out, time: u64) {
        self.now = time;
        out.counts.events += 1;
        if self.timer_time() == time {
            if let Some(Reverse((_, flow))) = self.timers.pop() {
                self.timer(out, flow);
            }
        } else if self.start_time(plan) == time {
            out.moved = out.moved.max(time);
            self.next_start += 1;
            self.start(plan, out, self.next_start as u32 - 1);
        } else {
            self.nic.due = u64::MAX;
            self.kick(out);
        }
    }

    /// The next event.
    pub(super) fn next(&self, plan: Plan<'_>, out: &Out) -> Option<Event> {
        let timer = self
            .timers
            .peek()
            .map(|Reverse((time, own))| Event::new(*time, 0, Target::Timer(self.flows[*own as usize])));
        let start =
            self.flows.get(self.next_start).map(|&flow| Event::new(self.start_time(plan), 0, Target::Start(flow)));
        let port = Event::new(self.nic.due, 0, Target::Port(self.port));
        let arrival = Event::new(out.wires[self.wire as usize].first(), 0, Target::Arrival(self.wire));
        let known = [port, arrival].into_iter().filter(|event| event.time != u64::MAX);
        timer.into_iter().chain(start).chain(known).min()
    }

    /// Handles the next event alone.
    pub(super) fn step(&mut self, plan: Plan<'_>, out: &mut Out, event: Event) {
        match event.target() {
            Target::Arrival(_) => {
                self.now = event.time;
                self.receive(plan, out);
            }
            _ => self.own_event(plan, out, event.time),
        }
    }

    /// The first packet of its wire arrives.
    fn receive(&mut self, plan: Plan<'_>, out: &mut Out) {
        let packet = out.wires[self.wire as usize].pop(&mut self.records);
        out.counts.events += 1;
        out.moved = out.moved.max(self.now);
        out.delivered[usize::from(packet.prio & 7)] += u64::from(packet.size);
        out.live -= 1;
        match packet.kind {
            Kind::Data => {
                out.counts.data_hops += 1;
                self.receive_data(out, &packet);
            }
            Kind::Pfc => {
                out.counts.pfc_hops += 1;
                self.receive_pfc(plan, out, &packet);
            }
            kind => {
                out.counts.ack_hops += 1;
                if kind == Kind::Cnp { self.receive_cnp(out, &packet) } else { self.receive_ack(plan, out, &packet) }
            }
        }
    }

    #[cold]
    fn receive_pfc(&mut self, plan: Plan<'_>, out: &mut Out, frame: &Packet) {
        let bit = 1 << frame.in_prio;
        let at = plan.network.at(self.port, frame.in_prio);
        let note = |note| Noted { time: Time(self.now), event: 0, note };
        if frame.flags & flag::XOFF != 0 {
            if self.paused & bit == 0 {
                self.paused |= bit;
                out.notes.push(note(Note::Pause { at, bytes: frame.seq, culprit: frame.stamp as u32 }));
            }
            return;
        }
        if self.paused & bit != 0 {
            self.paused &= !bit;
            out.notes.push(note(Note::Resume { at }));
        }
        self.kick(out);
    }

    /// Queues a control packet, with the records of the packet that is handled.
    fn enqueue(&mut self, packet: Packet) {
        let (prio, size) = (packet.prio & 7, u32::from(packet.size));
        let place = self.slab.insert(&packet, packet.flags, &self.records);
        let queue = &mut self.queues[usize::from(prio)];
        queue.bytes += size;
        queue.peak = queue.peak.max(queue.bytes);
        let tail = std::mem::replace(&mut queue.tail, place);
        if queue.head == NONE {
            queue.head = place;
            self.waiting |= 1 << prio;
        } else {
            self.slab.link(tail, place);
        }
        self.queued += size;
    }

    /// Puts a packet on the wire out of the idle port.
    #[inline(always)]
    fn transmit(&mut self, out: &mut Out, packet: &Packet) {
        let size = u64::from(packet.size);
        let sent = self.now + size * self.plan.ps_per_byte;
        let queue = &mut self.queues[usize::from(packet.prio & 7)];
        queue.tx_bytes += size;
        queue.tx_packets += 1;
        self.busy_until = sent;
        self.tx_bytes += size;
        let stamp = Stamp { flags: packet.flags, record: None };
        out.send((self.port, &self.plan, &mut self.woken), sent, packet, stamp, &self.records);
    }

    /// Writes its state into the network's, with the packets of its queues.
    pub(super) fn export(&self, plan: &super::plan::Layout, network: &mut Network) {
        let state = &mut network.ports[self.port as usize];
        (state.busy_until, state.tx_bytes, state.queued) = (self.busy_until, self.tx_bytes, self.queued);
        (state.waiting, state.paused) = (self.waiting, self.paused);
        for (prio, queue) in (0u8..).zip(&self.queues) {
            let packets = self.slab.list(queue.head);
            let (head, tail) = network.list_of(packets.map(|packet| super::books::packet(packet, NONE)));
            let at = network.at(self.port, prio);
            network.queues[at] = Queue { head, tail, ..*queue };
        }
        self.export_pairs(network);
        for (receiver, &flow) in self.receivers.iter().zip(&plan.received[self.id.index()]) {
            let record = &mut network.flow_records[flow as usize];
            (record.delivered, record.discarded) = (receiver.delivered, receiver.discarded);
        }
    }

    /// Its port, and the priorities that are paused there.
    pub(super) const fn pauses(&self) -> (u32, u8) {
        (self.port, self.paused)
    }

    /// Its node.
    pub(super) const fn node(&self) -> NodeId {
        NodeId(self.node)
    }

    /// Time of the last event that was handled, in ps.
    pub(super) const fn now(&self) -> u64 {
        self.now
    }
}
