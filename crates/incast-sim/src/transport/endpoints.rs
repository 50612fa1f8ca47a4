use incast_model::fabric::Fabric;
use incast_model::flow::{Flow, FlowSet};
use incast_model::units::Time;

use super::{AnyEndpoint, Incoming, Job, Outgoing, Scope, Stack, Transport};
use crate::host::Carrier;
use crate::kernel::{FlowId, IdVec, Kind, LocalPort, ReceivedId, SentId};
use crate::switch::Storage;

/// RDMA has queue pairs.
const RDMA: u8 = u8::MAX;

#[derive(Debug)]
struct Slot {
    endpoint: Option<Box<AnyEndpoint>>,
    acknowledges: bool,
}

/// Empty in runs of RDMA alone.
#[derive(Debug, Default)]
pub(crate) struct FlowTransports {
    transports: Vec<Transport>,
    of_flow: IdVec<FlowId, u8>,
    /// If true, a flow ends by arrivals that its sender does not hear of.
    pub(crate) ends_by_arrivals: bool,
}

#[derive(Debug)]
pub(crate) struct Endpoints {
    slots: Vec<Slot>,
    sent: IdVec<SentId, u8>,
    received: IdVec<ReceivedId, u8>,
    pulled: Option<u8>,
    arbitrated: Option<u8>,
    ideal: Option<u8>,
    /// Flows with a call of their sender for each packet that leaves the host's queue.
    watched: Vec<SentId>,
}

impl FlowTransports {
    pub(crate) fn new(transports: Vec<Transport>, carriers: &[Carrier], set: &FlowSet) -> Self {
        // Equal transports share an endpoint: some have one state for all flows of a host.
        let first = |index: usize| transports.iter().position(|one| *one == transports[index]).unwrap_or(index);
        let endpoint = |flow: &Flow| match carriers[usize::from(flow.label)] {
            Carrier::Rdma(_) => RDMA,
            Carrier::Transport(index) => first(index) as u8,
        };
        let of_flow: IdVec<FlowId, u8> = set.flows.iter().map(endpoint).collect();
        let unheard = |index: &u8| transports.get(usize::from(*index)).is_some_and(|one| !one.acknowledges());
        // A flow with an `end` ends at that time.
        let ends_by_arrivals =
            set.flows.iter().zip(&of_flow).any(|(flow, index)| flow.until.is_none() && unheard(index));
        Self { transports, of_flow, ends_by_arrivals }
    }

    pub(crate) fn endpoints(
        &self,
        (nics, storage): (usize, Storage),
        sent: &IdVec<SentId, FlowId>,
        received: &IdVec<ReceivedId, FlowId>,
    ) -> Option<Endpoints> {
        if self.is_empty() {
            return None;
        }
        let scope = Scope { sent: sent.len(), received: received.len(), nics, unlimited: !storage.has_limit() };
        let of_flow = |&flow: &FlowId| self.of_flow[flow];
        let (sent, received) = (sent.iter().map(of_flow).collect(), received.iter().map(of_flow).collect());
        Some(Endpoints::new(&self.transports, scope, sent, received))
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.transports.is_empty()
    }

    pub(crate) fn is_ideal(&self) -> bool {
        self.transports.iter().any(|one| matches!(one, Transport::Ideal(_)))
    }

    /// True if samples need the bytes that receivers counted.
    pub(crate) fn receivers_count(&self) -> bool {
        self.transports.iter().any(|one| !one.reports_arrivals())
    }

    pub(crate) fn acknowledges(&self, flow: FlowId) -> bool {
        let transport = self.of_flow.get(flow).and_then(|&index| self.transports.get(usize::from(index)));
        transport.is_none_or(Transport::acknowledges)
    }

    /// Rate in bit/s above which a flow never sends; infinite if its transport sets none.
    pub(crate) fn most(&self, flow: FlowId) -> f64 {
        match self.of_flow.get(flow).and_then(|&index| self.transports.get(usize::from(index))) {
            Some(Transport::Udp(params)) => params.rate.map_or(f64::INFINITY, |rate| rate.0 as f64),
            _ => f64::INFINITY,
        }
    }

    pub(crate) fn is_rdma(&self, flow: FlowId) -> bool {
        self.of_flow.get(flow).is_none_or(|&index| index == RDMA)
    }

    pub(crate) fn keeps_priority(&self, flow: FlowId) -> bool {
        let index = self.of_flow.get(flow).map(|&index| usize::from(index));
        index.and_then(|index| self.transports.get(index)).is_none_or(Transport::keeps_priority)
    }
}

impl Endpoints {
    fn new(transports: &[Transport], scope: Scope, sent: IdVec<SentId, u8>, received: IdVec<ReceivedId, u8>) -> Self {
        let slot = |transport: &Transport| {
            let endpoint = AnyEndpoint::new(transport, scope);
            Slot { endpoint: Some(Box::new(endpoint)), acknowledges: transport.acknowledges() }
        };
        let place = |kind: fn(&Transport) -> bool| transports.iter().position(kind).map(|place| place as u8);
        let slots: Vec<Slot> = transports.iter().map(slot).collect();
        Self {
            slots,
            watched: Vec::new(),
            sent,
            received,
            pulled: place(|one| matches!(one, Transport::Phost(_))),
            arbitrated: place(|one| matches!(one, Transport::Fastpass(_))),
            ideal: place(|one| matches!(one, Transport::Ideal(_))),
        }
    }

    /// True if idle NICs call an endpoint.
    #[inline]
    pub(crate) const fn are_pulled(&self) -> bool {
        self.pulled.is_some()
    }

    /// True while a handler of the flow's sender runs.
    pub(crate) fn is_busy(&self, own: SentId) -> bool {
        self.slots[usize::from(self.sent[own])].endpoint.is_none()
    }

    #[inline]
    pub(crate) const fn watch_queues(&self) -> bool {
        !self.watched.is_empty()
    }

    pub(crate) fn watches(&self, own: SentId) -> bool {
        self.watched.contains(&own)
    }

    pub(crate) fn watch(&mut self, own: SentId) {
        if !self.watches(own) {
            self.watched.push(own);
        }
    }

    pub(crate) fn unwatch(&mut self, own: SentId) {
        self.watched.retain(|&other| other != own);
    }

    pub(crate) fn may_end_at_start(&self, own: SentId) -> bool {
        !self.slots[usize::from(self.sent[own])].acknowledges
    }

    /// `packet`: a full packet's time in ps; `here`: NIC and fabric.
    pub(crate) fn place_arbiter(&mut self, host: u32, packet: u64, here: Option<(LocalPort, &Fabric)>) {
        let slot = self.arbitrated.and_then(|index| self.slots[usize::from(index)].endpoint.as_deref_mut());
        if let Some(AnyEndpoint::Fastpass(fastpass)) = slot {
            fastpass.place(host, packet, here);
        }
    }

    #[inline]
    pub(crate) fn is_rdma(&self, own: SentId) -> bool {
        self.sent.get(own).is_none_or(|&index| index == RDMA)
    }

    #[inline]
    pub(crate) fn may_pull(&self, nic: LocalPort) -> bool {
        let endpoint = self.pulled.and_then(|index| self.slots[usize::from(index)].endpoint.as_deref());
        endpoint.is_some_and(|endpoint| endpoint.may_pull(nic))
    }

    pub(crate) fn may_end(&self, own: SentId, end: u64, acks: impl Iterator<Item = u64>) -> bool {
        let slot = &self.slots[usize::from(self.sent[own])];
        slot.endpoint.as_deref().is_none_or(|endpoint| endpoint.may_end(own, end, acks))
    }

    pub(crate) fn flows(&self) -> impl Iterator<Item = (SentId, u64)> {
        self.slots.iter().filter_map(|slot| slot.endpoint.as_deref()).flat_map(AnyEndpoint::flows)
    }

    pub(crate) fn rate(&self, own: SentId) -> Option<u64> {
        self.slots[usize::from(self.sent[own])].endpoint.as_deref()?.rate()
    }

    pub(crate) fn late(&mut self, now: u64, arrived: &dyn Fn(SentId) -> u64) -> Vec<SentId> {
        let all = self.slots.iter_mut().filter_map(|slot| slot.endpoint.as_deref_mut());
        all.flat_map(|endpoint| endpoint.late(now, arrived)).collect()
    }

    fn of_packet(&self, packet: &Incoming<'_>) -> u8 {
        match packet.kind {
            Kind::Request | Kind::Schedule => self.arbitrated.unwrap_or(RDMA),
            kind if kind.is_forward() => self.received[packet.received_flow()],
            _ => self.sent[packet.sent_flow()],
        }
    }

    /// `None`: hypervisors.
    fn of_job(&self, job: Job) -> Option<u8> {
        match job {
            Job::DelayedAck(own) => Some(self.received[own]),
            Job::Slot(own, _) | Job::Burst(own) | Job::Stop(own) => Some(self.sent[own]),
            Job::Token => self.pulled,
            Job::Epoch | Job::Computed => self.arbitrated,
            Job::Turn => self.ideal,
            _ => None,
        }
    }
}

pub(crate) trait TransportHost: Stack + Sized {
    fn endpoints(&mut self) -> &mut Endpoints;

    fn flush(&mut self);

    fn horizon(&self) -> Option<Time>;

    fn with<R>(&mut self, index: u8, work: impl FnOnce(&mut AnyEndpoint, &mut Self) -> R) -> R {
        let mut endpoint =
            self.endpoints().slots[usize::from(index)].endpoint.take().expect("an endpoint does not call itself");
        let result = work(&mut endpoint, self);
        self.endpoints().slots[usize::from(index)].endpoint = Some(endpoint);
        result
    }

    fn start_endpoint(&mut self, own: SentId) {
        // A flow that has data to send at the horizon does not end there.
        if let Some(until) = self.sent(own).until.filter(|&until| self.horizon().is_none_or(|horizon| until < horizon))
        {
            self.plan(self.nic_of(own), until.0.max(self.now()), Job::Stop(own));
        }
        let index = self.endpoints().sent[own];
        self.with(index, |endpoint, host| endpoint.start(host, own));
        self.flush();
    }

    fn give_endpoint(&mut self, packet: &Incoming<'_>) {
        let index = self.endpoints().of_packet(packet);
        self.with(index, |endpoint, host| endpoint.receive(host, packet));
        self.flush();
    }

    fn time_endpoint(&mut self, own: SentId) {
        let index = self.endpoints().sent[own];
        self.with(index, |endpoint, host| endpoint.timer(host, own));
        self.flush();
    }

    fn do_endpoint_job(&mut self, nic: LocalPort, job: Job) -> bool {
        let Some(index) = self.endpoints().of_job(job) else { return false };
        self.with(index, |endpoint, host| match job {
            Job::Stop(own) => endpoint.stop(host, own),
            _ => endpoint.task(host, nic, job),
        });
        self.flush();
        true
    }

    fn resume_endpoint(&mut self, own: SentId) {
        let index = self.endpoints().sent[own];
        self.with(index, |endpoint, host| endpoint.resume(host, own));
        self.flush();
    }

    fn left_queue(&mut self, own: SentId) {
        if self.endpoints().watches(own) {
            let index = self.endpoints().sent[own];
            self.with(index, |endpoint, host| endpoint.left_host(host, own));
        }
    }

    fn pull_endpoint(&mut self, nic: LocalPort, paused: u8) -> Option<(SentId, Outgoing)> {
        let index = self.endpoints().pulled?;
        self.with(index, |endpoint, host| endpoint.pull(host, nic, paused))
    }
}
