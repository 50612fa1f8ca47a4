//! A scheduler that knows of every flow at once and costs nothing: what the others are held against.
//!
//! Whenever a flow starts, or has sent all it has, every host is told anew whom to send to: flows with fewest packets to send
//! first, no host twice. Only data and its acknowledgements cross the fabric. A host that takes over a receiver from one farther
//! away waits until its packets do not meet those under way; and hosts leave some time between packets, in which acknowledgements
//! pass and queues become empty again.
//!
//! After YAPS (`ext/ideal.cpp`), where acknowledged packets are counted, here those sent; and where hosts neither wait nor leave
//! time. That fills the buffers of receivers' ports for good: its losses are hidden by duplicates that it counts as new.

use incast_model::units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ByFlow, Job, Reassembly, Slotted, Transport, TransportParams};
use crate::congestion::BadParameter;
use crate::kernel::{Kind, NONE};
use crate::network::Network;
use crate::switch::{QueueParams, SchedulerParams, SwitchParams};

/// Parameters of the ideal scheduler; the same for all its flows. By default every port has a buffer of 36864 B with
/// strict priorities (YAPS: 36 kB).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IdealParams {
    /// Time after a flow's last packet before unacknowledged packets are sent again. Default 45us (YAPS).
    pub rto: Time,
    /// Priority of acknowledgements, 1 to 7. Default 7 (YAPS: above data).
    pub control_priority: u8,
    /// Gap between two packets of a host, as a share of a full packet's time, 0 to 1. Default 0.03125 (our choice: an
    /// acknowledgement takes 0.027; with 0, as in YAPS, data and acknowledgements overload a link).
    pub slack: f64,
}

impl Default for IdealParams {
    fn default() -> Self {
        Self { rto: Time::us(45), control_priority: 7, slack: 0.03125 }
    }
}

impl TransportParams for IdealParams {
    const SUMMARY: &'static str = "Ideal scheduler for comparison: knows every flow immediately, at no cost";
    const PROFILES: &'static [(&'static str, &'static str)] = &[
        ("paced", "hosts leave 3 % of the time for acknowledgements"),
        ("yaps", "as in YAPS: hosts send without a gap"),
    ];

    fn profile(name: &str) -> Option<Self> {
        match name {
            "paced" => Some(Self::default()),
            "yaps" => Some(Self { slack: 0.0, ..Self::default() }),
            _ => None,
        }
    }

    fn check(&self) -> Result<(), BadParameter> {
        BadParameter::unless(self.rto > Time::ZERO, "rto", self.rto, "more than 0s")?;
        let priority = (1..8).contains(&self.control_priority);
        let allowed = "1 to 7 (0 carries PFC frames)";
        BadParameter::unless(priority, "control_priority", self.control_priority, allowed)?;
        BadParameter::unless((0.0..=1.0).contains(&self.slack), "slack", self.slack, "0 to 1")
    }

    fn priorities(&self) -> u8 {
        1 << self.control_priority
    }

    fn patience(&self) -> Time {
        self.rto * 4
    }

    fn switch(&self) -> SwitchParams {
        SwitchParams {
            queues: QueueParams::DropTail { limit: Bytes(36_864) },
            scheduler: SchedulerParams::StrictPriority,
            ..SwitchParams::default()
        }
    }
}

/// All flows of the ideal scheduler.
#[derive(Debug, Default)]
pub(super) struct Ideal {
    params: IdealParams,
    senders: ByFlow<Slotted>,
    /// By flow.
    receivers: Vec<Reassembly>,
    /// Flows that have packets to send.
    waiting: Vec<u32>,
    /// By host: the flow that it sends, or [`NONE`].
    turn_of: Vec<u32>,
    /// By NIC: when it may send again, in ps.
    free_at: Vec<u64>,
    /// By host: when the link to it is free of all that was sent to it, in ps.
    taken_until: Vec<u64>,
    /// By flow: time from its sender's port to the last link, in ps.
    away: Vec<u64>,
}

impl Ideal {
    pub(super) fn new(transports: &[Transport], flows: usize, nics: usize) -> Self {
        let found = transports.iter().find_map(|one| match one {
            Transport::Ideal(params) => Some(params.clone()),
            _ => None,
        });
        let Some(params) = found else { return Self::default() };
        Self {
            params,
            senders: ByFlow::new(flows),
            receivers: vec![Reassembly::default(); flows],
            waiting: Vec::new(),
            turn_of: Vec::new(),
            free_at: vec![0; nics],
            taken_until: Vec::new(),
            away: vec![0; flows],
        }
    }
}

impl Ideal {
    /// Flows under way.
    pub(super) fn flows(&self) -> impl Iterator<Item = u32> {
        self.senders.iter().map(|(flow, _)| flow)
    }
}

impl Network {
    pub(super) fn start_ideal(&mut self, flow: u32) {
        let packets = self.packets_of(flow);
        let mut sender = Slotted::new(packets);
        sender.ask();
        let [out, _] = self.walk(flow);
        let full = self.config.packets.mss.0 + self.config.packets.segment_header.0;
        let away = (0..out.len() - 1).map(|at| self.passed_on(&out, at, full)).sum();
        let room = &mut self.transports.ideal;
        room.taken_until.resize(self.fabric.hosts().len(), 0);
        room.away[flow as usize] = away;
        room.senders.insert(flow, sender);
        room.waiting.push(flow);
        self.match_hosts();
    }

    /// Tells every host whom to send to.
    fn match_hosts(&mut self) {
        let hosts = self.fabric.hosts().len();
        let room = &mut self.transports.ideal;
        let senders = &room.senders;
        room.waiting.sort_by_key(|&flow| (senders.get(flow).map_or(0, Slotted::due), flow));
        let before = std::mem::replace(&mut room.turn_of, vec![NONE; hosts]);
        let mut receives = vec![false; hosts];
        let mut turns = Vec::new();
        for &flow in &room.waiting {
            let spec = &self.flows.flows[flow as usize];
            let (src, dst) = (spec.src.index(), spec.dst.index());
            if room.turn_of[src] == NONE && !receives[dst] {
                (room.turn_of[src], receives[dst]) = (flow, true);
                // A flow that goes on has its next packet on the agenda: nobody else has sent to its receiver.
                if before.get(src) != Some(&flow) {
                    turns.push(flow);
                }
            }
        }
        for flow in turns {
            let nic = self.ports[self.transports.ports[flow as usize] as usize].owner;
            let time = self.ideal_time(flow, nic).max(self.now);
            self.plan(nic, time, Job::Turn);
        }
    }

    /// When a flow may send its next packet: its host has sent the last one, and the packet will find the last link free.
    fn ideal_time(&self, flow: u32, nic: u32) -> u64 {
        let room = &self.transports.ideal;
        let dst = self.flows.flows[flow as usize].dst.index();
        room.free_at[nic as usize].max(room.taken_until[dst].saturating_sub(room.away[flow as usize]))
    }

    /// A host may send a packet.
    pub(super) fn ideal_turn(&mut self, nic: u32) {
        let port = self.nics[nic as usize].port;
        let host = self.fabric.host_of(self.fabric.port(incast_model::fabric::PortId(port)).node);
        let host = host.expect("NICs belong to hosts").index();
        let full = self.busy_time(port, self.config.packets.mss.0 + self.config.packets.segment_header.0);
        let packet_time = full + (full as f64 * self.transports.ideal.params.slack) as u64;
        let flow = self.transports.ideal.turn_of[host];
        if flow == NONE || self.ideal_time(flow, nic) > self.now {
            return;
        }
        let room = &mut self.transports.ideal;
        let dst = self.flows.flows[flow as usize].dst.index();
        room.free_at[nic as usize] = self.now + packet_time;
        room.taken_until[dst] = self.now + room.away[flow as usize] + packet_time;
        let sender = room.senders.get_mut(flow).expect("flows that send are under way");
        let (segment, last) = sender.use_slot();
        let rto = room.params.rto.0;
        let packet = self.make_segment(flow, segment);
        self.send(self.transports.ports[flow as usize], packet);
        if last {
            self.transports.ideal.waiting.retain(|&waiting| waiting != flow);
            self.set_timer(flow, self.now + rto);
            self.match_hosts();
        }
        self.plan(nic, self.now + packet_time, Job::Turn);
    }

    pub(super) fn ideal_segment(&mut self, port: u32, id: u32) {
        let packet = self.pool[id];
        let room = &mut self.transports.ideal;
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

    pub(super) fn ideal_ack(&mut self, id: u32) {
        let packet = self.pool[id];
        let Some(sender) = self.transports.ideal.senders.get_mut(packet.flow) else { return };
        if !sender.on_ack(packet.seq) {
            let acked = sender.acked();
            return self.acknowledge(packet.flow, acked);
        }
        // Its last packets may be on their way a second time, or about to be.
        let room = &mut self.transports.ideal;
        room.senders.remove(packet.flow);
        let waits = room.waiting.contains(&packet.flow);
        room.waiting.retain(|&waiting| waiting != packet.flow);
        self.finish_in_room(packet.flow);
        if waits {
            self.match_hosts();
        }
    }

    /// Some packets of a flow are not acknowledged long after they were sent.
    pub(super) fn ideal_timer(&mut self, flow: u32) {
        let room = &mut self.transports.ideal;
        let Some(sender) = room.senders.get_mut(flow) else { return };
        sender.ask();
        room.waiting.push(flow);
        self.flow_records[flow as usize].timeouts += 1;
        self.match_hosts();
    }
}
