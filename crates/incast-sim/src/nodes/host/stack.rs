//! Stack of one host, for transports other than RDMA.

use incast_model::fabric::{HostId, PortId};
use incast_model::flow::Flow;
use incast_model::units::Time;

use super::Host;
use super::soonest::Soonest;
use crate::host::PacketParams;
use crate::kernel::{FlowId, IdVec, Kind, LocalPort, Range, ReceivedId, SentId, Word, flag};
use crate::nodes::out::{Effect, Out};
use crate::nodes::packet::{AtDst, Extent, Packet};
use crate::nodes::plan::Plan;
use crate::nodes::run::has_extras;
use crate::transport::{Agenda, Endpoints, Incoming, Job, Matching, Outgoing, Path, Stack, Timers, To, TransportHost};

#[derive(Debug)]
pub(super) struct Transports {
    pub(super) endpoints: Endpoints,
    nics: IdVec<SentId, LocalPort>,
    timers: Timers,
    agendas: IdVec<LocalPort, Agenda>,
    /// For each backlogged flow whose workload entry has ended: bytes acknowledged at that time.
    ended: Vec<(SentId, u64)>,
    /// NICs. Outdated ones do nothing.
    pub(super) due: Soonest<LocalPort>,
}

impl Transports {
    pub(super) fn new(plan: Plan<'_>, host: HostId, nics: usize) -> Option<Box<Self>> {
        let (sent, received) = (&plan.layout.sent[host], &plan.layout.received[host]);
        let endpoints = plan.network.hosts.transports.of_flows.endpoints(
            (nics, plan.network.config.queues.host_storage),
            sent,
            received,
        )?;
        let mut transports = Self {
            endpoints,
            nics: vec![LocalPort(0); sent.len()].into(),
            timers: Timers::new(sent.len()),
            agendas: (0..nics).map(|_| Agenda::default()).collect(),
            ended: Vec::new(),
            due: Soonest::default(),
        };
        if let Some((arbiter, packet)) = plan.network.arbiter() {
            let here = (arbiter == host.0).then_some((LocalPort(0), &*plan.network.fabric));
            transports.endpoints.place_arbiter(arbiter, packet, here);
        }
        Some(Box::new(transports))
    }

    fn plan(&mut self, nic: LocalPort, time: u64, job: Job) {
        if self.agendas[nic].plan(time, job) {
            self.due.push(time, nic);
        }
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
    pub(super) fn is_rdma(&self, own: SentId) -> bool {
        self.transports.as_ref().is_none_or(|transports| transports.endpoints.is_rdma(own))
    }

    #[cold]
    pub(super) fn start_transport<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, own: SentId) {
        let nic = self.first_nic(plan, self.flows.ids[own]);
        self.transports().nics[own] = nic;
        self.flows.progress[own].start = Some(Time(self.now));
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
            at_host: packet.at_dst.at_host(),
            nic,
            seq: packet.seq,
            word: packet.word,
            payload: packet.payload(),
            prio: packet.prio,
            flags: packet.flags,
            own_path: packet.own_path().is_some(),
            ranges: &ranges,
        });
    }

    #[inline(never)]
    pub(super) fn transport_timer<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, own: SentId) {
        let now = self.now;
        match self.transports().timers.expires(own, now) {
            Ok(true) => Work::<RUN> { host: self, plan, out }.time_endpoint(own),
            Ok(false) => {}
            Err(later) => self.timers.push(later, own),
        }
    }

    #[inline(never)]
    pub(super) fn do_tasks<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out) {
        let now = self.now;
        let Some(nic) = self.transports().due.pop() else { return };
        if !self.transports().agendas[nic].is_due(now) {
            return;
        }
        while let Some(job) = self.transports().agendas[nic].pop(now) {
            if let Job::Stop(own) = job
                && !self.transports().endpoints.may_end_at_start(own)
            {
                let acked = self.flows.progress[own].acked;
                self.transports().ended.push((own, acked));
            }
            let mut work = Work::<RUN> { host: self, plan, out };
            if !work.do_endpoint_job(nic, job) {
                work.do_hypervisor_job(job);
            }
        }
        if let Some(time) = self.transports().agendas[nic].next() {
            self.transports().due.push(time, nic);
        }
    }

    /// A turn given by another host.
    pub(in crate::nodes) fn take_turn(&mut self, own: SentId, time: u64) {
        let transports = self.transports();
        let nic = transports.nics[own];
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
    #[inline(always)]
    pub(super) fn left<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, packet: &Packet) {
        if matches!(packet.kind, Kind::Segment | Kind::Syn) {
            let own = plan.layout.at_src[packet.flow];
            if self.transports().endpoints.is_busy(own) {
                out.effects.push(Effect::Left(own));
            } else {
                Work::<RUN> { host: self, plan, out }.left_queue(own);
            }
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

    pub(super) fn transport_completes_before(&self, plan: Plan<'_>, out: &Out, own: SentId, end: u64) -> bool {
        let Some(transports) = &self.transports else { return false };
        let flow = plan.network.flow(self.flows.ids[own]);
        let stops = flow.until.is_some_and(|until| until.0 < end);
        if flow.until.is_some() && !stops {
            return false;
        }
        if self.flows.progress[own].start.is_none() {
            return flow.start.0 < end && (stops || transports.endpoints.may_end_at_start(own));
        }
        let wires = self.nics.iter().map(|nic| &out.wires[nic.line]);
        let arriving = wires.flat_map(|wire| wire.packets().take_while(|(time, _)| *time < end));
        let number = self.flows.ids[own];
        let own_acks = arriving.filter(|(_, packet)| packet.kind == Kind::SegmentAck && packet.flow == number);
        stops || transports.endpoints.may_end(own, end, own_acks.map(|(_, packet)| packet.seq))
    }

    /// Under way; windows in bytes.
    pub(super) fn transport_flows(&self) -> impl Iterator<Item = (SentId, u64)> {
        self.transports.iter().flat_map(|transports| transports.endpoints.flows())
    }

    /// Flows ended at their sender that may have packets in flight, with their bytes arrived.
    pub(in crate::nodes) fn late(all: &mut impl Hosts, host: HostId, plan: Plan<'_>, now: u64) -> Vec<(FlowId, u64)> {
        let Some(mut transports) = all.host_mut(host).transports.take() else { return Vec::new() };
        let bytes = |own: SentId| arrived_bytes(all, plan, all.host(host).flows.ids[own]);
        let late = transports.endpoints.late(now, &bytes);
        let late = late.into_iter().map(|own| (all.host(host).flows.ids[own], bytes(own))).collect();
        all.host_mut(host).transports = Some(transports);
        late
    }

    pub(in crate::nodes) fn acked_by_end(&self) -> impl Iterator<Item = (u32, u64)> {
        let ended = self.transports.iter().flat_map(|transports| &transports.ended);
        ended.map(|&(own, acked)| (self.flows.ids[own].0, acked))
    }

    pub(super) fn transport_nic(&self, own: SentId) -> LocalPort {
        self.transports.as_ref().map_or(LocalPort(0), |transports| transports.nics[own])
    }

    pub(super) fn transport_rate(&self, own: SentId) -> u64 {
        let own_rate = self.transports.as_ref().and_then(|transports| transports.endpoints.rate(own));
        own_rate.unwrap_or(self.nics[self.transport_nic(own)].link.rate)
    }
}

/// Hosts of a run.
pub(in crate::nodes) trait Hosts {
    fn host(&self, host: HostId) -> &Host;
    fn host_mut(&mut self, host: HostId) -> &mut Host;
}

/// Counted by the receiver, without acknowledgements.
pub(in crate::nodes) fn arrived_bytes(all: &impl Hosts, plan: Plan<'_>, flow: FlowId) -> u64 {
    let dst = plan.network.flow(flow).dst;
    all.host(dst).receivers[plan.layout.at_dst[flow]].arrived_bytes
}

impl<const RUN: u8> Work<'_, RUN> {
    #[inline(always)]
    fn packet_of(&self, to: To, packet: Outgoing) -> Packet {
        let Plan { layout, network } = self.plan;
        let (flow, dst, at_dst) = match to {
            To::Receiver(own) => {
                let flow = self.flow_of(own);
                (flow, network.flow(flow).dst.0, layout.at_dst[flow].into())
            }
            To::Sender(own, _) => {
                let flow = layout.received[self.host.params.id][own];
                (flow, network.flow(flow).src.0, layout.at_src[flow].into())
            }
            To::Host(host, flow, _) => (flow, host, AtDst::NONE),
        };
        let (path, word) = match packet.path {
            Path::OfFlow if network.flow(flow).path.is_some() => (flag::PATH, packet.word),
            Path::OfFlow | Path::Any => (0, packet.word),
            Path::Number(number) => (flag::PATH | flag::OWN_PATH, Word::with_path(number)),
        };
        Packet {
            seq: packet.seq,
            word,
            flow,
            dst,
            at_dst,
            size: packet.size,
            extent: Extent::payload(packet.payload.into()),
            kind: packet.kind,
            prio: packet.prio,
            flags: packet.flags | path,
            ..Packet::EMPTY
        }
    }

    /// Past any hypervisor.
    #[inline(always)]
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
        &self.host.params.packets
    }

    fn sent(&self, own: SentId) -> &Flow {
        self.flow(self.flow_of(own))
    }

    fn received(&self, own: ReceivedId) -> &Flow {
        self.flow(self.plan.layout.received[self.host.params.id][own])
    }

    fn flow(&self, flow: FlowId) -> &Flow {
        self.plan.network.flow(flow)
    }

    fn number_of(&self, flow: FlowId) -> SentId {
        self.plan.layout.at_src[flow]
    }

    fn flow_of(&self, own: SentId) -> FlowId {
        self.host.flows.ids[own]
    }

    fn nic_of(&self, own: SentId) -> LocalPort {
        self.of().nics[own]
    }

    fn wire_time(&self, nic: LocalPort, bytes: u64) -> u64 {
        self.plan.network.wire_time(self.host.nics[nic].link.port, bytes)
    }

    fn busy_time(&self, nic: LocalPort, bytes: u64) -> u64 {
        self.plan.network.busy_time(self.host.nics[nic].link.port, bytes)
    }

    fn line(&self, nic: LocalPort) -> u64 {
        crate::tenant::line(&self.plan.network.fabric, self.host.nics[nic].link.port)
    }

    fn time_to_last_link(&self, own: SentId) -> u64 {
        self.plan.network.time_to_last_link(self.flow_of(own))
    }

    fn host_of(&self, _nic: LocalPort) -> u32 {
        self.host.params.id.0
    }

    fn port(&self, nic: LocalPort) -> PortId {
        self.host.nics[nic].link.port
    }

    fn matching(&mut self) -> &mut Matching {
        self.out.matching.as_mut().expect("the run has the ideal scheduler")
    }

    fn give_turn(&mut self, flow: FlowId, time: u64) {
        if self.flow(flow).src == self.host.params.id {
            self.plan(self.nic_of(self.number_of(flow)), time, Job::Turn);
        } else {
            self.out.shared.turns.push((flow, time));
        }
    }

    fn send_with(&mut self, to: To, packet: Outgoing, ranges: Vec<Range>) {
        let nic = match to {
            To::Receiver(own) => self.nic_of(own),
            To::Sender(_, nic) | To::Host(_, _, nic) => nic,
        };
        let packet = Packet { records: u8::from(!ranges.is_empty()), ..self.packet_of(to, packet) };
        let in_order = matches!(self.out.effects.last(), None | Some(Effect::Left(..)));
        if !has_extras(RUN) && in_order && !self.of().endpoints.are_pulled() {
            self.out.progress.live += 1;
            return self.send_out(nic, &packet, ranges);
        }
        self.out.effects.push(Effect::Send(nic, packet, ranges));
    }

    fn kick(&mut self, nic: LocalPort) {
        self.out.effects.push(Effect::Kick(nic));
    }

    fn may_send(&mut self, own: SentId) -> bool {
        self.has_space_or_sleeps(own)
    }

    fn count_refused(&mut self, own: SentId, packets: u64) {
        self.count_unmade(own, packets);
    }

    fn timer(&self, own: SentId) -> u64 {
        self.of().timers.deadline(own)
    }

    #[inline]
    fn set_timer(&mut self, own: SentId, deadline: u64) {
        if self.host.transports().timers.set(own, deadline) {
            self.host.timers.push(deadline, own);
        }
    }

    fn plan(&mut self, nic: LocalPort, time: u64, job: Job) {
        self.host.transports().plan(nic, time, job);
    }

    fn waits(&self, own: SentId, first: Option<u64>) -> bool {
        let flow = self.flow_of(own);
        let of_flow = |packet: &&Packet| packet.flow == flow && matches!(packet.kind, Kind::Segment | Kind::Syn);
        let mut all = self.host.packets().chain(self.host.limited_packets()).filter(of_flow);
        all.any(|packet| first.is_none_or(|first| packet.seq == first))
    }

    fn watch_queue(&mut self, own: SentId) {
        self.host.transports().endpoints.watch(own);
    }

    fn unwatch_queue(&mut self, own: SentId) {
        self.host.transports().endpoints.unwatch(own);
    }

    fn count_packet(&mut self, own: SentId, again: bool) {
        let progress = &mut self.host.flows.progress[own];
        progress.packets += 1;
        progress.retransmitted += u64::from(again);
    }

    fn count_mark(&mut self, own: SentId) {
        self.host.flows.progress[own].marks += 1;
    }

    fn count_timeout(&mut self, own: SentId) {
        self.host.flows.progress[own].timeouts += 1;
    }

    fn acknowledge(&mut self, own: SentId, bytes: u64) {
        let progress = &mut self.host.flows.progress[own];
        self.out.progress.acked += bytes.saturating_sub(progress.acked);
        progress.acked = progress.acked.max(bytes);
    }

    fn end(&mut self, own: SentId) {
        self.host.flows.progress[own].finish = Some(Time(self.host.now));
        self.set_timer(own, u64::MAX);
        self.unwatch_queue(own);
        self.out.progress.done += 1;
        self.host.flows.pass_acked(self.plan, self.out, self.host.now, own);
    }

    fn deliver_sent(&mut self, own: SentId) {
        let progress = &mut self.host.flows.progress[own];
        progress.delivered = progress.delivered.or(Some(Time(self.host.now)));
        if self.sent(own).until.is_some() {
            self.host.flows.pass_sent_delivered(self.plan, self.out, self.host.now, own);
        }
    }

    fn count_discarded(&mut self, own: ReceivedId) {
        self.host.receivers[own].discarded += 1;
    }

    fn deliver(&mut self, own: ReceivedId) {
        let receiver = &mut self.host.receivers[own];
        if receiver.delivered.is_none() {
            receiver.delivered = Some(Time(self.host.now));
            let host = (self.host.params.id, self.host.now);
            self.host.flows.pass_delivered(self.plan, self.out, host, own);
        }
    }

    fn is_delivered(&self, own: ReceivedId) -> bool {
        self.host.receivers[own].delivered.is_some()
    }

    fn count_arrived(&mut self, own: ReceivedId, bytes: u64) -> u64 {
        let receiver = &mut self.host.receivers[own];
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

    fn horizon(&self) -> Option<Time> {
        self.plan.network.horizon
    }

    #[inline]
    fn flush(&mut self) {
        if !self.out.effects.is_empty() {
            self.apply_effects();
        }
    }
}

impl<const RUN: u8> Work<'_, RUN> {
    #[inline(never)]
    fn apply_effects(&mut self) {
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
                Effect::Left(own) => self.left_queue(own),
            }
        }
        self.out.effects = effects;
    }
}
