//! Fastpass (Perry et al., "Fastpass: A Centralized 'Zero-Queue' Datacenter Network", SIGCOMM 2014), in the form in which its
//! rivals compare with it (YAPS, `ext/fastpass*.cpp`): an arbiter on a host of the fabric fills the slots of one epoch after
//! another, and everything that it hears and says crosses the fabric.

mod arbiter;
mod params;
mod paths;

use std::collections::VecDeque;

use arbiter::Arbiter;
use incast_model::fabric::{Fabric, HostId};
pub use params::{FastpassAlign, FastpassOrder, FastpassParams, FastpassPaths};
use paths::Ways;

use super::{ByFlow, Job, Reassembly, Slotted, Transport};
use crate::kernel::{Kind, flag};
use crate::network::Network;

/// Requests in a row after which a host does not wait any longer for a slot than it did: 2^6 times its patience.
const MOST_DOUBLINGS: u32 = 6;

/// All flows of Fastpass.
#[derive(Debug, Default)]
pub(super) struct Fastpass {
    params: FastpassParams,
    /// The arbiter's number among hosts, its port, and that port's NIC.
    host: u32,
    port: u32,
    nic: u32,
    arbiter: Arbiter,
    /// Length of an epoch in ps.
    epoch: u64,
    /// Whether an epoch is on the arbiter's agenda.
    awake: bool,
    /// Schedules that the arbiter has yet to finish, in order, and when it is done with them.
    computed: VecDeque<u32>,
    busy_until: u64,
    senders: ByFlow<Slotted>,
    /// By flow.
    receivers: Vec<Reassembly>,
}

impl Fastpass {
    pub(super) fn new(transports: &[Transport], flows: usize) -> Self {
        let found = transports.iter().find_map(|one| match one {
            Transport::Fastpass(params) => Some(params.clone()),
            _ => None,
        });
        let Some(params) = found else { return Self::default() };
        Self { params, senders: ByFlow::new(flows), receivers: vec![Reassembly::default(); flows], ..Self::default() }
    }
}

impl FastpassParams {
    /// Whether the fabric has the ways that an arbiter could give out, if this one does.
    pub(super) fn fits(&self, fabric: &Fabric) -> bool {
        self.paths == FastpassPaths::Balanced || Ways::new(fabric).is_ok()
    }
}

impl Fastpass {
    /// Flows under way.
    pub(super) fn flows(&self) -> impl Iterator<Item = u32> {
        self.senders.iter().map(|(flow, _)| flow)
    }
}

impl Network {
    /// Puts the arbiter, if there is one, where it belongs.
    pub(crate) fn place_arbiter(&mut self, transports: &[Transport]) {
        let arbiter = |one: &Transport| one.arbiter(&self.fabric, &self.flows).ok().flatten();
        let Some(HostId(host)) = transports.iter().find_map(arbiter) else { return };
        let port = self.fabric.ports_of(self.fabric.hosts()[host as usize]).next().expect("hosts are plugged in").0;
        let nic = self.ports[port as usize].owner;
        let packet = self.wire_time(port, self.config.packets.mss.0 + self.config.packets.segment_header.0);
        let hosts = self.fabric.hosts().len();
        let room = &mut self.transports.fastpass;
        let packets = f64::from(room.params.epoch_packets) + room.params.epoch_slack;
        room.epoch = (packet as f64 * packets).round() as u64;
        (room.host, room.port, room.nic) = (host, port, nic);
        room.arbiter = Arbiter::new(room.params.order, hosts);
        if room.params.paths == FastpassPaths::Allocated {
            room.arbiter.ways = Ways::new(&self.fabric).ok();
        }
    }

    pub(super) fn start_fastpass(&mut self, flow: u32) {
        let packets = self.packets_of(flow);
        self.transports.fastpass.senders.insert(flow, Slotted::new(packets));
        self.ask_arbiter(flow);
    }

    /// Asks for slots for all packets that are not acknowledged, and again if that brings none for a while.
    fn ask_arbiter(&mut self, flow: u32) {
        let room = &mut self.transports.fastpass;
        let Some(sender) = room.senders.get_mut(flow) else { return };
        let (left, reminds) = (sender.ask(), sender.tries > 0);
        let patience = (u64::from(room.params.patience) * room.epoch) << sender.tries.min(MOST_DOUBLINGS);
        sender.tries += 1;
        self.set_timer(flow, self.now + patience);
        self.send_request(flow, left, reminds);
    }

    /// `reminds`: the last request has brought no slot.
    fn send_request(&mut self, flow: u32, left: u64, reminds: bool) {
        let room = &self.transports.fastpass;
        let hosts = [self.flows.flows[flow as usize].src.0, room.host];
        let mut packet = self.make_control(flow, Kind::Request, hosts, room.params.control_priority, 0);
        packet.seq = left;
        packet.stamp = reminds.into();
        self.send(self.transports.ports[flow as usize], packet);
    }

    /// A request has reached the arbiter.
    pub(super) fn fastpass_request(&mut self, id: u32) {
        let packet = self.pool[id];
        let spec = &self.flows.flows[packet.flow as usize];
        let room = &mut self.transports.fastpass;
        let reminds = (packet.stamp > 0).then_some(self.now / room.epoch);
        room.arbiter.request(packet.flow, (spec.src.0, spec.dst.0), packet.seq, reminds);
        if !room.awake && !room.arbiter.is_idle() {
            room.awake = true;
            let next = self.now.div_ceil(room.epoch) * room.epoch;
            self.plan(self.transports.fastpass.nic, next, Job::Epoch);
        }
    }

    /// An epoch begins: the arbiter fills the next one.
    pub(super) fn fastpass_epoch(&mut self, nic: u32) {
        let room = &mut self.transports.fastpass;
        debug_assert_eq!(nic, room.nic);
        let (params, arbiter) = (&room.params, &mut room.arbiter);
        let computing = params.processing.0 + params.processing_per_request.0 * arbiter.requests;
        room.busy_until = room.busy_until.max(self.now) + computing;
        let done = room.busy_until;
        let schedules = arbiter.fill(params.epoch_packets, self.now / room.epoch);
        let (begin, prio, port, host) = (self.now + room.epoch, params.control_priority, room.port, room.host);
        room.awake = !arbiter.is_idle();
        if room.awake {
            self.plan(nic, begin, Job::Epoch);
        }
        for (src, slots) in schedules {
            let flow = slots[0].1 as u32; // the low half: the rest is the way
            let mut packet = self.make_control(flow, Kind::Schedule, [host, src], prio, 0);
            packet.stamp = begin;
            let id = self.pool.alloc(packet);
            self.pool.set_ranges(id, slots);
            if done == self.now {
                self.send_made(port, id);
            } else {
                self.transports.fastpass.computed.push_back(id);
                self.plan(nic, done, Job::Computed);
            }
        }
    }

    /// The arbiter has computed a schedule.
    pub(super) fn fastpass_computed(&mut self) {
        let room = &mut self.transports.fastpass;
        if let Some(id) = room.computed.pop_front() {
            let port = room.port;
            self.send_made(port, id);
        }
    }

    /// A schedule has reached a host.
    pub(super) fn fastpass_schedule(&mut self, port: u32, id: u32) {
        let room = &self.transports.fastpass;
        let begin = match room.params.align {
            FastpassAlign::Epoch => self.pool[id].stamp,
            FastpassAlign::Asap => self.pool[id].stamp.min(self.now),
        };
        let (slots, epoch) = (u64::from(room.params.epoch_packets), room.epoch);
        let nic = self.ports[port as usize].owner;
        let given: Vec<(u64, u64)> = self.pool.ranges(id).to_vec();
        for (slot, flow) in given {
            let time = begin + slot * epoch / slots;
            let way = (flow >> 32) as u16;
            self.plan(nic, time.max(self.now), Job::Slot(flow as u32, way));
        }
    }

    /// A slot of a flow has come. Its packet takes the way of this number, from 1 on, or any (0).
    pub(super) fn fastpass_slot(&mut self, flow: u32, way: u16) {
        let room = &mut self.transports.fastpass;
        let retry = room.params.retry.map_or(room.epoch, |retry| retry.0);
        let patience = u64::from(room.params.patience) * room.epoch;
        let pads = room.params.pad_last;
        // A flow that has ended meanwhile wastes its slot.
        let Some(sender) = room.senders.get_mut(flow) else { return };
        let (segment, last) = sender.use_slot();
        self.set_timer(flow, self.now + if last { retry } else { patience });
        let mut packet = self.make_segment(flow, segment);
        if way > 0 {
            packet.flags |= flag::PATH;
            packet.pint = way;
        }
        if pads {
            packet.size = (self.config.packets.mss.0 + self.config.packets.segment_header.0) as u16;
        }
        self.send(self.transports.ports[flow as usize], packet);
    }

    pub(super) fn fastpass_segment(&mut self, port: u32, id: u32) {
        let packet = self.pool[id];
        let room = &mut self.transports.fastpass;
        let (receiver, prio) = (&mut room.receivers[packet.flow as usize], room.params.control_priority);
        let new = receiver.take(packet.seq, packet.payload.into());
        let whole = receiver.next() == self.flows.flows[packet.flow as usize].size.0;
        self.count_duplicate(packet.flow, new);
        if whole {
            self.deliver(packet.flow);
        }
        self.turn_back(id, Kind::SegmentAck, packet.seq, prio, false);
        self.send_made(port, id);
    }

    pub(super) fn fastpass_ack(&mut self, id: u32) {
        let packet = self.pool[id];
        let Some(sender) = self.transports.fastpass.senders.get_mut(packet.flow) else { return };
        if sender.on_ack(packet.seq) {
            self.transports.fastpass.senders.remove(packet.flow);
            self.finish_in_room(packet.flow);
            return self.send_request(packet.flow, 0, false);
        }
        let acked = sender.acked();
        self.acknowledge(packet.flow, acked);
    }

    /// A flow has had no slot for too long, or its last packets are not all acknowledged.
    pub(super) fn fastpass_timer(&mut self, flow: u32) {
        self.flow_records[flow as usize].timeouts += 1;
        self.ask_arbiter(flow);
    }
}
