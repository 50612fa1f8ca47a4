//! Stack of all hosts, for their transports: flows have one number, that of the run.

use incast_model::fabric::{HostId, PortId};
use incast_model::flow::Flow;
use incast_model::units::Time;

use super::PacketParams;
use super::gates::End;
use crate::kernel::{Event, Kind, Packet, Range, Target, flag};
use crate::network::Network;
use crate::transport::{
    Agenda, Endpoints, Incoming, Job, Matching, Outgoing, Path, Stack, Timers, To, Transport, TransportHost,
};

#[derive(Debug, Default)]
pub(crate) struct Transports {
    pub(crate) endpoints: Endpoints,
    arbiter: Option<HostId>,
    /// By flow: NIC of its sender.
    pub(crate) nics: Vec<u32>,
    timers: Timers,
    /// By NIC.
    agendas: Vec<Agenda>,
    matching: Matching,
    /// Applied once a handler is done.
    outbox: Vec<Effect>,
    /// Ranges of the current packet.
    ranges: Vec<Range>,
}

#[derive(Debug, Clone, Copy)]
enum Effect {
    /// Port, and place of the packet in the pool.
    Send(u32, u32),
    Kick(u32),
}

impl Network {
    pub(crate) fn add_transports(&mut self, transports: Vec<Transport>) {
        let nics = self.nics.len();
        self.transports.agendas = (0..nics).map(|_| Agenda::default()).collect();
        let count = self.flows.flows.len();
        self.transports.nics = vec![0; count];
        if transports.is_empty() {
            return;
        }
        let arbiter = |one: &Transport| one.arbiter(&self.fabric, &self.flows).ok().flatten();
        self.transports.arbiter = transports.iter().find_map(arbiter);
        self.transports.endpoints = Endpoints::new(transports, &self.carriers, &self.flows, nics);
        self.transports.timers = Timers::new(count);
        if let Some((host, packet)) = self.arbiter() {
            let port = self.first_port_of(host);
            let here = Some((self.ports[port as usize].owner, &*self.fabric));
            self.transports.endpoints.place_arbiter(host, packet, here);
        }
    }

    fn first_port_of(&self, host: u32) -> u32 {
        let node = self.fabric.hosts()[host as usize];
        self.fabric.ports_of(node).next().expect("hosts have a port").0
    }

    /// Host of the arbiter, and time of a full packet there in ps.
    pub(crate) fn arbiter(&self) -> Option<(u32, u64)> {
        let host = self.transports.arbiter?.0;
        Some((host, self.wire_time(self.first_port_of(host), self.full_size())))
    }

    pub(crate) fn start_in_endpoint(&mut self, flow: u32) {
        let port = self.first_port(flow);
        self.transports.nics[flow as usize] = self.ports[port as usize].owner;
        self.flow_records[flow as usize].start = Some(Time(self.now));
        self.start_endpoint(flow);
    }

    #[inline]
    pub(crate) fn receive_in_endpoint(&mut self, port: u32, id: u32) {
        let mut ranges = std::mem::take(&mut self.transports.ranges);
        ranges.clear();
        ranges.extend_from_slice(self.pool.ranges(id));
        let packet = self.pool[id];
        self.pool.release(id);
        self.give_endpoint(&Incoming {
            kind: packet.kind,
            flow: packet.flow,
            own: packet.flow,
            nic: self.ports[port as usize].owner,
            seq: packet.seq,
            stamp: packet.stamp,
            payload: packet.payload.into(),
            prio: packet.prio,
            flags: packet.flags,
            own_path: packet.pint != 0,
            ranges: &ranges,
        });
        self.transports.ranges = ranges;
    }

    /// Reports that a packet has left the queue of the host that made it.
    #[inline]
    pub(crate) fn left_host(&mut self, id: u32) {
        let packet = &self.pool[id];
        self.left_queue(packet.kind, packet.flow);
    }

    pub(crate) fn endpoint_timer(&mut self, flow: u32) {
        match self.transports.timers.expires(flow, self.now) {
            Ok(true) => self.time_endpoint(flow),
            Ok(false) => {}
            Err(later) => self.events.push(Event::new(later, 0, Target::Timer(flow))),
        }
    }

    #[inline(never)]
    pub(crate) fn keep_agenda(&mut self, nic: u32) {
        if !self.transports.agendas[nic as usize].is_due(self.now) {
            return;
        }
        while let Some(job) = self.transports.agendas[nic as usize].pop(self.now) {
            if !self.do_endpoint_job(nic, job) {
                self.do_hypervisor_job(job);
            }
        }
        if let Some(time) = self.transports.agendas[nic as usize].next() {
            self.events.push(Event::new(time, 0, Target::Agenda(nic)));
        }
    }

    /// Next packet of a transport from which idle NICs pull packets.
    pub(crate) fn pull(&mut self, port: u32) -> Option<u32> {
        let state = &self.ports[port as usize];
        let (flow, packet) = self.pull_endpoint(state.owner, state.paused)?;
        let packet = self.packet_of(To::Receiver(flow), packet);
        self.ledger.injected[usize::from(packet.prio)] += u64::from(packet.size);
        Some(self.pool.alloc(packet))
    }

    pub(crate) fn source_port(&self, flow: u32) -> u32 {
        self.nics[self.transports.nics[flow as usize] as usize].port
    }

    pub(crate) fn is_under_way(&self, flow: u32) -> bool {
        let record = &self.flow_records[flow as usize];
        record.start.is_some() && record.finish.is_none()
    }

    /// Queues a packet at its host's port, past any hypervisor.
    pub(crate) fn send_out(&mut self, port: u32, id: u32) {
        let packet = &self.pool[id];
        self.ledger.injected[usize::from(packet.prio)] += u64::from(packet.size);
        self.store(port, id, None);
        self.kick_nic(port);
    }

    /// Makes a control packet about a flow, from host `src` to `dst`.
    pub(crate) fn make_control(&self, flow: u32, kind: Kind, [src, dst]: [u32; 2], prio: u8) -> Packet {
        let size = self.config.packets.control.0 as u16;
        Packet { flow, src, dst, size, kind, prio, flags: flag::NOT_ECT, ..Packet::EMPTY }
    }

    fn packet_of(&self, to: To, packet: Outgoing) -> Packet {
        let (flow, src, dst) = match to {
            To::Receiver(flow) => (flow, self.flow(flow).src.0, self.flow(flow).dst.0),
            To::Sender(flow, _) => (flow, self.flow(flow).dst.0, self.flow(flow).src.0),
            To::Host(host, flow, nic) => (flow, self.host_of(nic), host),
        };
        let (given, pint) = match packet.path {
            Path::OfFlow => (self.flow(flow).path.is_some(), 0),
            Path::Any => (false, 0),
            Path::Number(number) => (true, number),
        };
        Packet {
            seq: packet.seq,
            stamp: packet.stamp,
            flow,
            src,
            dst,
            size: packet.size,
            payload: packet.payload,
            kind: packet.kind,
            prio: packet.prio,
            flags: packet.flags | if given { flag::PATH } else { 0 },
            pint,
            ..Packet::EMPTY
        }
    }
}

impl Stack for Network {
    fn now(&self) -> u64 {
        self.now
    }

    fn sizes(&self) -> &PacketParams {
        &self.config.packets
    }

    fn sent(&self, own: u32) -> &Flow {
        &self.flows.flows[own as usize]
    }

    fn received(&self, own: u32) -> &Flow {
        &self.flows.flows[own as usize]
    }

    fn flow(&self, flow: u32) -> &Flow {
        &self.flows.flows[flow as usize]
    }

    fn number_of(&self, flow: u32) -> u32 {
        flow
    }

    fn flow_of(&self, own: u32) -> u32 {
        own
    }

    fn nic_of(&self, own: u32) -> u32 {
        self.transports.nics[own as usize]
    }

    fn wire_time(&self, nic: u32, bytes: u64) -> u64 {
        self.wire_time(self.nics[nic as usize].port, bytes)
    }

    fn busy_time(&self, nic: u32, bytes: u64) -> u64 {
        self.busy_time(self.nics[nic as usize].port, bytes)
    }

    fn line(&self, nic: u32) -> u64 {
        crate::tenant::line(&self.fabric, PortId(self.nics[nic as usize].port))
    }

    fn time_to_last_link(&self, own: u32) -> u64 {
        self.time_to_last_link(own)
    }

    fn host_of(&self, nic: u32) -> u32 {
        let node = self.fabric.port(PortId(self.nics[nic as usize].port)).node;
        self.fabric.host_of(node).expect("NICs belong to hosts").0
    }

    fn port(&self, nic: u32) -> u32 {
        self.nics[nic as usize].port
    }

    fn matching(&mut self) -> &mut Matching {
        &mut self.transports.matching
    }

    fn give_turn(&mut self, flow: u32, time: u64) {
        self.plan(self.transports.nics[flow as usize], time, Job::Turn);
    }

    fn send(&mut self, to: To, packet: Outgoing, ranges: impl IntoIterator<Item = Range>) {
        let nic = match to {
            To::Receiver(flow) => self.transports.nics[flow as usize],
            To::Sender(_, nic) | To::Host(_, _, nic) => nic,
        };
        let packet = self.packet_of(to, packet);
        let id = self.pool.alloc(packet);
        self.pool.set_ranges(id, ranges);
        self.transports.outbox.push(Effect::Send(self.nics[nic as usize].port, id));
    }

    fn kick(&mut self, nic: u32) {
        self.transports.outbox.push(Effect::Kick(self.nics[nic as usize].port));
    }

    fn may_send(&mut self, own: u32) -> bool {
        self.has_room_or_sleeps(own)
    }

    fn count_refused(&mut self, own: u32, packets: u64) {
        self.count_refused(own, packets);
    }

    fn timer(&self, own: u32) -> u64 {
        self.transports.timers.deadline(own)
    }

    #[inline]
    fn set_timer(&mut self, own: u32, deadline: u64) {
        if self.transports.timers.set(own, deadline) {
            self.events.push(Event::new(deadline, 0, Target::Timer(own)));
        }
    }

    fn plan(&mut self, nic: u32, time: u64, job: Job) {
        if self.transports.agendas[nic as usize].plan(time, job) {
            self.events.push(Event::new(time, 0, Target::Agenda(nic)));
        }
    }

    fn count_packet(&mut self, own: u32, again: bool) {
        let record = &mut self.flow_records[own as usize];
        record.packets += 1;
        record.retransmitted += u64::from(again);
    }

    fn count_mark(&mut self, own: u32) {
        self.flow_records[own as usize].marks += 1;
    }

    fn count_timeout(&mut self, own: u32) {
        self.flow_records[own as usize].timeouts += 1;
    }

    fn acknowledge(&mut self, own: u32, bytes: u64) {
        let record = &mut self.flow_records[own as usize];
        self.bytes_acked += bytes.saturating_sub(record.acked);
        record.acked = record.acked.max(bytes);
    }

    fn end(&mut self, own: u32) {
        self.flow_records[own as usize].finish = Some(Time(self.now));
        self.set_timer(own, u64::MAX);
        self.flows_done += 1;
        self.pass_gates(own, End::Acked);
    }

    fn deliver_sent(&mut self, own: u32) {
        self.deliver(own);
    }

    fn count_discarded(&mut self, own: u32) {
        self.flow_records[own as usize].discarded += 1;
    }

    fn deliver(&mut self, own: u32) {
        self.deliver(own);
    }

    fn is_delivered(&self, own: u32) -> bool {
        self.flow_records[own as usize].delivered.is_some()
    }

    fn count_arrived(&mut self, own: u32, bytes: u64) -> u64 {
        let record = &mut self.flow_records[own as usize];
        record.acked += bytes;
        self.bytes_acked += bytes;
        record.acked
    }

    fn samples(&self) -> bool {
        self.recorder.params.sample_every.is_some()
    }
}

impl TransportHost for Network {
    fn endpoints(&mut self) -> &mut Endpoints {
        &mut self.transports.endpoints
    }

    fn flush(&mut self) {
        let mut outbox = std::mem::take(&mut self.transports.outbox);
        for effect in outbox.drain(..) {
            match effect {
                Effect::Send(_, id) if self.hypervisors.is_some() => self.pass_limiter(id),
                Effect::Send(port, id) => self.send_out(port, id),
                Effect::Kick(port) => self.kick_nic(port),
            }
        }
        self.transports.outbox = outbox;
    }
}
