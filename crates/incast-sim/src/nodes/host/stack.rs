//! Stack of one host, for transports other than RDMA.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use incast_model::fabric::PortId;
use incast_model::flow::Flow;
use incast_model::units::Time;

use super::Host;
use crate::host::PacketParams;
use crate::kernel::{IdVec, Kind, LocalPort, Range, flag};
use crate::nodes::out::{Effect, Out};
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::nodes::run::has_extras;
use crate::transport::{
    Agenda, Endpoints, Incoming, Job, Matching, Outgoing, Path, Scope, Stack, Timers, To, TransportHost,
};

#[derive(Debug)]
pub(super) struct Transports {
    pub(super) endpoints: Endpoints,
    /// By flow sent.
    nics: Vec<LocalPort>,
    timers: Timers,
    agendas: IdVec<LocalPort, Agenda>,
    /// Time, NIC. Outdated ones do nothing.
    due: BinaryHeap<Reverse<(u64, LocalPort)>>,
}

impl Transports {
    pub(super) fn new(plan: Plan<'_>, host: u32, nics: usize) -> Option<Box<Self>> {
        let (sent, received) = (&plan.layout.sent[host as usize], &plan.layout.received[host as usize]);
        let scope = Scope { sent: sent.len(), received: received.len(), nics };
        let endpoints = plan.network.hosts.transports.endpoints.of_host(scope, sent, received)?;
        let mut transports = Self {
            endpoints,
            nics: vec![LocalPort(0); sent.len()],
            timers: Timers::new(sent.len()),
            agendas: (0..nics).map(|_| Agenda::default()).collect(),
            due: BinaryHeap::new(),
        };
        if let Some((arbiter, packet)) = plan.network.arbiter() {
            let here = (arbiter == host).then_some((LocalPort(0), &*plan.network.fabric));
            transports.endpoints.place_arbiter(arbiter, packet, here);
        }
        Some(Box::new(transports))
    }

    fn plan(&mut self, nic: LocalPort, time: u64, job: Job) {
        if self.agendas[nic].plan(time, job) {
            self.due.push(Reverse((time, nic)));
        }
    }

    #[inline]
    pub(super) fn next_task(&self) -> (u64, LocalPort) {
        self.due.peek().map_or((u64::MAX, LocalPort(0)), |&Reverse(next)| next)
    }
}

pub(super) struct Work<'a, const RUN: u8> {
    pub(super) host: &'a mut Host,
    pub(super) plan: Plan<'a>,
    pub(super) out: &'a mut Out,
}

impl Host {
    /// Panics in runs with RDMA alone.
    pub(super) fn transports(&mut self) -> &mut Transports {
        self.transports.as_mut().expect("the run has transports")
    }

    #[inline]
    pub(super) fn is_rdma(&self, own: u32) -> bool {
        self.transports.as_ref().is_none_or(|transports| transports.endpoints.is_rdma(own))
    }

    #[cold]
    pub(super) fn start_transport<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, own: u32) {
        let nic = self.first_nic(plan, self.flows[own as usize]);
        self.transports().nics[own as usize] = nic;
        self.progress[own as usize].start = Some(Time(self.now));
        Work::<RUN> { host: self, plan, out }.start_endpoint(own);
    }

    #[inline(never)]
    pub(super) fn receive_transport<const RUN: u8>(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        nic: LocalPort,
        packet: &Packet,
    ) {
        let ranges = if packet.records == 0 { Vec::new() } else { std::mem::take(&mut out.carried.ranges) };
        let mut work = Work::<RUN> { host: self, plan, out };
        let counted;
        let packet = if has_extras(RUN) && work.host.hypervisor.is_some() {
            let Some(passed) = work.pass_hypervisor(packet) else { return };
            counted = passed;
            &counted
        } else {
            packet
        };
        work.give_endpoint(&Incoming {
            kind: packet.kind,
            flow: packet.flow,
            own: packet.own_flow(),
            nic,
            seq: packet.seq,
            stamp: packet.stamp,
            payload: packet.payload.into(),
            prio: packet.prio,
            flags: packet.flags,
            own_path: packet.own_path().is_some(),
            ranges: &ranges,
        });
    }

    #[inline(never)]
    pub(super) fn transport_timer<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, own: u32) {
        let now = self.now;
        match self.transports().timers.expires(own, now) {
            Ok(true) => Work::<RUN> { host: self, plan, out }.time_endpoint(own),
            Ok(false) => {}
            Err(later) => self.timers.push(Reverse((later, own))),
        }
    }

    #[inline(never)]
    pub(super) fn do_tasks<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out) {
        let now = self.now;
        let Some(Reverse((_, nic))) = self.transports().due.pop() else { return };
        if !self.transports().agendas[nic].is_due(now) {
            return;
        }
        while let Some(job) = self.transports().agendas[nic].pop(now) {
            let mut work = Work::<RUN> { host: self, plan, out };
            if !work.do_endpoint_job(nic, job) {
                work.do_hypervisor_job(job);
            }
        }
        if let Some(time) = self.transports().agendas[nic].next() {
            self.transports().due.push(Reverse((time, nic)));
        }
    }

    /// A turn given by another host.
    pub(in crate::nodes) fn take_turn(&mut self, own: u32, time: u64) {
        let transports = self.transports();
        let nic = transports.nics[own as usize];
        transports.plan(nic, time, Job::Turn);
    }

    /// As [`Self::left`]; the packet keeps its ranges.
    #[inline(always)]
    pub(super) fn leave<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, packet: &Packet) {
        if self.transports().endpoints.watch_queues() {
            let ranges = std::mem::take(&mut out.carried.ranges);
            self.left::<RUN>(plan, out, packet);
            out.carried.ranges = ranges;
        }
    }

    /// Reports that a packet of this host has left its queue or was dropped there.
    pub(super) fn left<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, packet: &Packet) {
        if matches!(packet.kind, Kind::Segment | Kind::Syn) {
            let own = plan.layout.at_src[packet.flow as usize];
            Work::<RUN> { host: self, plan, out }.left_queue(packet.kind, own);
        }
    }

    #[inline]
    pub(super) fn may_pull(&self, nic: LocalPort) -> bool {
        self.transports.as_ref().is_some_and(|transports| transports.endpoints.may_pull(nic))
    }

    /// False if the transport has none for the idle NIC.
    pub(super) fn send_pulled<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort) -> bool {
        if !self.may_pull(nic) {
            return false;
        }
        let paused = self.nics[nic].paused;
        let mut work = Work::<RUN> { host: self, plan, out };
        let Some((own, packet)) = work.pull_endpoint(nic, paused) else { return false };
        let packet = work.packet_of(To::Receiver(own), packet);
        out.inject(packet.prio, packet.size.into());
        self.nics[nic].transmit::<RUN>(plan, out, self.now, &packet);
        true
    }

    pub(super) fn transport_completes_before(&self, plan: Plan<'_>, out: &Out, own: u32, end: u64) -> bool {
        let Some(transports) = &self.transports else { return false };
        let flow = &plan.network.flows.flows[self.flows[own as usize] as usize];
        let stops = flow.until.is_some_and(|until| until.0 < end);
        if self.progress[own as usize].start.is_none() {
            return flow.start.0 < end && (stops || transports.endpoints.may_end_at_start(own));
        }
        let wires = self.nics.iter().map(|nic| &out.wires[nic.line]);
        let arriving = wires.flat_map(|wire| wire.packets().take_while(|(time, _)| *time < end));
        let number = self.flows[own as usize];
        let own_acks = arriving.filter(|(_, packet)| packet.kind == Kind::SegmentAck && packet.flow == number);
        let acks: Vec<u64> = own_acks.map(|(_, packet)| packet.seq).collect();
        stops || transports.endpoints.may_end(own, end, &acks)
    }

    /// Under way; windows in bytes.
    pub(super) fn transport_flows(&self) -> impl Iterator<Item = (u32, u64)> {
        self.transports.iter().flat_map(|transports| transports.endpoints.flows())
    }

    /// Flows ended at their sender that may have packets in flight, with their bytes arrived.
    pub(in crate::nodes) fn late(hosts: &mut [Self], place: usize, plan: Plan<'_>, now: u64) -> Vec<(u32, u64)> {
        let Some(mut transports) = hosts[place].transports.take() else { return Vec::new() };
        let bytes = |own: u32| arrived_bytes(hosts, plan, hosts[place].flows[own as usize]);
        let late = transports.endpoints.late(now, &bytes);
        let late = late.into_iter().map(|own| (hosts[place].flows[own as usize], bytes(own))).collect();
        hosts[place].transports = Some(transports);
        late
    }

    pub(super) fn transport_nic(&self, own: u32) -> LocalPort {
        self.transports.as_ref().map_or(LocalPort(0), |transports| transports.nics[own as usize])
    }

    pub(super) fn transport_rate(&self, own: u32) -> u64 {
        self.nics[self.transport_nic(own)].rate
    }
}

/// Counted by the receiver, without acknowledgements.
pub(in crate::nodes) fn arrived_bytes(hosts: &[Host], plan: Plan<'_>, flow: u32) -> u64 {
    let dst = plan.network.flows.flows[flow as usize].dst;
    hosts[dst.index()].receivers[plan.layout.at_dst[flow as usize] as usize].arrived_bytes
}

impl<const RUN: u8> Work<'_, RUN> {
    fn packet_of(&self, to: To, packet: Outgoing) -> Packet {
        let layout = self.plan.layout;
        let flows = &self.plan.network.flows.flows;
        let (flow, dst, at_dst) = match to {
            To::Receiver(own) => {
                let flow = self.flow_of(own);
                (flow, flows[flow as usize].dst.0, layout.at_dst[flow as usize])
            }
            To::Sender(own, _) => {
                let flow = layout.received[self.host.id.index()][own as usize];
                (flow, flows[flow as usize].src.0, layout.at_src[flow as usize])
            }
            To::Host(host, flow, _) => (flow, host, 0),
        };
        let (path, stamp) = match packet.path {
            Path::OfFlow if flows[flow as usize].path.is_some() => (flag::PATH, packet.stamp),
            Path::OfFlow | Path::Any => (0, packet.stamp),
            Path::Number(number) => (flag::PATH | flag::OWN_PATH, number.into()),
        };
        Packet {
            seq: packet.seq,
            stamp,
            flow,
            dst,
            at_dst,
            size: packet.size,
            payload: packet.payload,
            kind: packet.kind,
            prio: packet.prio,
            flags: packet.flags | path,
            ..Packet::EMPTY
        }
    }

    /// Past any hypervisor.
    pub(super) fn send_out(&mut self, nic: LocalPort, packet: &Packet, ranges: Vec<Range>) {
        self.out.ledger.injected[usize::from(packet.prio & 7)] += u64::from(packet.size);
        if packet.records != 0 {
            self.out.carried.ranges = ranges;
        }
        if !self.host.send_at_once::<RUN>(self.plan, self.out, nic, packet) {
            self.host.store::<RUN>(self.plan, self.out, nic, packet);
            self.host.kick::<RUN>(self.plan, self.out, nic);
        }
    }

    fn of(&self) -> &Transports {
        self.host.transports.as_ref().expect("the run has transports")
    }
}

impl<const RUN: u8> Stack for Work<'_, RUN> {
    fn now(&self) -> u64 {
        self.host.now
    }

    fn sizes(&self) -> &PacketParams {
        &self.host.packets
    }

    fn sent(&self, own: u32) -> &Flow {
        self.flow(self.flow_of(own))
    }

    fn received(&self, own: u32) -> &Flow {
        self.flow(self.plan.layout.received[self.host.id.index()][own as usize])
    }

    fn flow(&self, flow: u32) -> &Flow {
        &self.plan.network.flows.flows[flow as usize]
    }

    fn number_of(&self, flow: u32) -> u32 {
        self.plan.layout.at_src[flow as usize]
    }

    fn flow_of(&self, own: u32) -> u32 {
        self.host.flows[own as usize]
    }

    fn nic_of(&self, own: u32) -> LocalPort {
        self.of().nics[own as usize]
    }

    fn wire_time(&self, nic: LocalPort, bytes: u64) -> u64 {
        self.plan.network.wire_time(self.host.nics[nic].port, bytes)
    }

    fn busy_time(&self, nic: LocalPort, bytes: u64) -> u64 {
        self.plan.network.busy_time(self.host.nics[nic].port, bytes)
    }

    fn line(&self, nic: LocalPort) -> u64 {
        crate::tenant::line(&self.plan.network.fabric, self.host.nics[nic].port)
    }

    fn time_to_last_link(&self, own: u32) -> u64 {
        self.plan.network.time_to_last_link(self.flow_of(own))
    }

    fn host_of(&self, _nic: LocalPort) -> u32 {
        self.host.id.0
    }

    fn port(&self, nic: LocalPort) -> PortId {
        self.host.nics[nic].port
    }

    fn matching(&mut self) -> &mut Matching {
        self.out.matching.as_mut().expect("the run has the ideal scheduler")
    }

    fn give_turn(&mut self, flow: u32, time: u64) {
        if self.flow(flow).src == self.host.id {
            self.plan(self.nic_of(self.number_of(flow)), time, Job::Turn);
        } else {
            self.out.shared.turns.push((flow, time));
        }
    }

    fn send(&mut self, to: To, packet: Outgoing, ranges: impl IntoIterator<Item = Range>) {
        let nic = match to {
            To::Receiver(own) => self.nic_of(own),
            To::Sender(_, nic) | To::Host(_, _, nic) => nic,
        };
        let ranges: Vec<Range> = ranges.into_iter().collect();
        let packet = Packet { records: u8::from(!ranges.is_empty()), ..self.packet_of(to, packet) };
        self.out.effects.push(Effect::Send(nic, packet, ranges));
    }

    fn kick(&mut self, nic: LocalPort) {
        self.out.effects.push(Effect::Kick(nic));
    }

    fn may_send(&mut self, own: u32) -> bool {
        self.has_space_or_sleeps(own)
    }

    fn count_refused(&mut self, own: u32, packets: u64) {
        self.count_unmade(own, packets);
    }

    fn timer(&self, own: u32) -> u64 {
        self.of().timers.deadline(own)
    }

    #[inline]
    fn set_timer(&mut self, own: u32, deadline: u64) {
        if self.host.transports().timers.set(own, deadline) {
            self.host.timers.push(Reverse((deadline, own)));
        }
    }

    fn plan(&mut self, nic: LocalPort, time: u64, job: Job) {
        self.host.transports().plan(nic, time, job);
    }

    fn count_packet(&mut self, own: u32, again: bool) {
        let progress = &mut self.host.progress[own as usize];
        progress.packets += 1;
        progress.retransmitted += u64::from(again);
    }

    fn count_mark(&mut self, own: u32) {
        self.host.progress[own as usize].marks += 1;
    }

    fn count_timeout(&mut self, own: u32) {
        self.host.progress[own as usize].timeouts += 1;
    }

    fn acknowledge(&mut self, own: u32, bytes: u64) {
        let progress = &mut self.host.progress[own as usize];
        self.out.progress.acked += bytes.saturating_sub(progress.acked);
        progress.acked = progress.acked.max(bytes);
    }

    fn end(&mut self, own: u32) {
        self.host.progress[own as usize].finish = Some(Time(self.host.now));
        self.set_timer(own, u64::MAX);
        self.out.progress.done += 1;
        self.host.pass_gates(self.plan, self.out, true, own);
    }

    fn deliver_sent(&mut self, own: u32) {
        let progress = &mut self.host.progress[own as usize];
        progress.delivered = progress.delivered.or(Some(Time(self.host.now)));
        if self.sent(own).until.is_some() {
            self.host.pass_delivered(self.plan, self.out, own);
        }
    }

    fn count_discarded(&mut self, own: u32) {
        self.host.receivers[own as usize].discarded += 1;
    }

    fn deliver(&mut self, own: u32) {
        let receiver = &mut self.host.receivers[own as usize];
        if receiver.delivered.is_none() {
            receiver.delivered = Some(Time(self.host.now));
            self.host.pass_gates(self.plan, self.out, false, own);
        }
    }

    fn is_delivered(&self, own: u32) -> bool {
        self.host.receivers[own as usize].delivered.is_some()
    }

    fn count_arrived(&mut self, own: u32, bytes: u64) -> u64 {
        let receiver = &mut self.host.receivers[own as usize];
        receiver.arrived_bytes += bytes;
        self.out.progress.acked += bytes;
        receiver.arrived_bytes
    }

    fn samples(&self) -> bool {
        self.plan.network.measure.sample_every.is_some()
    }
}

impl<const RUN: u8> TransportHost for Work<'_, RUN> {
    fn endpoints(&mut self) -> &mut Endpoints {
        &mut self.host.transports().endpoints
    }

    fn flush(&mut self) {
        let mut effects = std::mem::take(&mut self.out.effects);
        for effect in effects.drain(..) {
            match effect {
                Effect::Send(nic, packet, ranges) => {
                    self.out.progress.live += 1;
                    if has_extras(RUN) && self.host.hypervisor.is_some() {
                        self.pass_limiter(packet, ranges);
                    } else {
                        self.send_out(nic, &packet, ranges);
                    }
                }
                Effect::Kick(nic) => self.host.kick::<RUN>(self.plan, self.out, nic),
            }
        }
        self.out.effects = effects;
    }
}
