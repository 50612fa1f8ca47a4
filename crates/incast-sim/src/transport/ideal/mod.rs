//! Ideal scheduler, which knows every flow immediately, at no cost: the standard of comparison.
//!
//! Whenever a flow starts or has sent all its packets, senders and receivers are matched: flows with fewest packets to send
//! first, one per host and direction. Only data and acknowledgements cross the fabric. A host that takes over a receiver from a
//! farther host waits until its packets do not meet those in flight. Gaps between packets let acknowledgements pass and queues
//! drain.
//!
//! After YAPS (`ext/ideal.cpp`), which counts acknowledged packets, not sent ones, and has neither wait nor gap: buffers of
//! receivers' ports stay full, and duplicates that it counts as new hide its losses.

use incast_model::range::{above, least, priority};
use incast_model::units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::slotted::acknowledge_each;
use super::stack::{Incoming, Stack, To};
use super::{ByFlow, Endpoint, Job, Reassembly, Scope, Slotted, TransportParams};
use crate::kernel::{Kind, NONE};
use crate::switch::{QueueParams, SchedulerParams, SwitchParams};

/// Parameters of the ideal scheduler; the same for all its flows. By default every port has a buffer of 36864 B with
/// strict priorities (YAPS: 36 kB).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IdealParams {
    /// Time after a flow's last packet before unacknowledged packets are sent again. Default 45us (YAPS).
    #[schemars(transform = above("0s"))]
    pub rto: Time,
    /// Priority of acknowledgements, 1 to 7. Default 7 (YAPS: above data).
    #[schemars(transform = priority())]
    pub control_priority: u8,
    /// Gap between two packets of a host, as a share of a full packet's time, 0 to 1. Default 0.03125 (our choice: an
    /// acknowledgement takes 0.027; with 0, as in YAPS, data and acknowledgements overload a link).
    #[schemars(transform = least(0).most(1))]
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

    fn priorities(&self) -> u8 {
        1 << self.control_priority
    }

    fn timeout(&self) -> Option<(&'static str, Time)> {
        Some(("rto", self.rto))
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

/// State for the whole fabric.
#[derive(Debug)]
pub(crate) struct Ideal {
    params: IdealParams,
    senders: ByFlow<Slotted>,
    /// By flow received.
    receivers: Vec<Reassembly>,
    waiting: Vec<u32>,
    /// By host: flow that it sends, or [`NONE`].
    turn_of: Vec<u32>,
    /// By NIC: earliest time of its next packet, in ps.
    free_at: Vec<u64>,
    /// By host: time at which the link to it is free of all packets sent to it, in ps.
    taken_until: Vec<u64>,
    /// By flow: time from its sender's port to the last link, in ps.
    away: Vec<u64>,
}

impl Endpoint for Ideal {
    type Params = IdealParams;

    fn new(params: &IdealParams, scope: Scope) -> Self {
        Self {
            params: params.clone(),
            senders: ByFlow::new(scope.sent),
            receivers: vec![Reassembly::default(); scope.received],
            waiting: Vec::new(),
            turn_of: Vec::new(),
            free_at: vec![0; scope.nics],
            taken_until: Vec::new(),
            away: vec![0; scope.sent],
        }
    }

    fn start(&mut self, stack: &mut impl Stack, own: u32) {
        let mut sender = Slotted::new(stack.packets_sent(own));
        sender.ask();
        self.taken_until.resize(stack.hosts(), 0);
        self.away[own as usize] = stack.time_to_last_link(own);
        self.senders.insert(own, sender);
        self.waiting.push(own);
        self.match_hosts(stack);
    }

    fn receive(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        match packet.kind {
            Kind::Segment => acknowledge_each(&mut self.receivers, stack, packet, self.params.control_priority),
            _ => self.receive_ack(stack, packet),
        }
    }

    /// Schedules packets that are unacknowledged long after the last one was sent.
    fn timer(&mut self, stack: &mut impl Stack, own: u32) {
        let Some(sender) = self.senders.get_mut(own) else { return };
        sender.ask();
        self.waiting.push(own);
        stack.count_timeout(own);
        self.match_hosts(stack);
    }

    fn task(&mut self, stack: &mut impl Stack, nic: u32, _job: Job) {
        let now = stack.now();
        let full = stack.busy_time(nic, stack.full_size());
        let packet_time = full + (full as f64 * self.params.slack) as u64;
        let own = self.turn_of[stack.host_of(nic) as usize];
        if own == NONE || self.next_time(stack, own, nic) > now {
            return;
        }
        let dst = stack.sent(own).dst.index();
        self.free_at[nic as usize] = now + packet_time;
        self.taken_until[dst] = now + self.away[own as usize] + packet_time;
        let sender = self.senders.get_mut(own).expect("flows that send are under way");
        let (segment, last) = sender.use_slot();
        let packet = stack.segment(own, segment);
        stack.send(To::Receiver(own), packet, []);
        if last {
            self.waiting.retain(|&waiting| waiting != own);
            stack.set_timer(own, now + self.params.rto.0);
            self.match_hosts(stack);
        }
        stack.plan(nic, now + packet_time, Job::Turn);
    }

    fn may_end(&self, own: u32, _end: u64, acks: &[u64]) -> bool {
        self.senders.get(own).is_none_or(|sender| acks.len() as u64 >= sender.missing())
    }

    fn flows(&self) -> impl Iterator<Item = (u32, u64)> {
        self.senders.iter().map(|(own, _)| (own, u64::MAX))
    }
}

impl Ideal {
    /// Chooses the flow that each host sends.
    fn match_hosts(&mut self, stack: &mut impl Stack) {
        let hosts = stack.hosts();
        let senders = &self.senders;
        self.waiting.sort_by_key(|&own| (senders.get(own).map_or(0, Slotted::due), own));
        let before = std::mem::replace(&mut self.turn_of, vec![NONE; hosts]);
        let mut receives = vec![false; hosts];
        let mut turns = Vec::new();
        for &own in &self.waiting {
            let flow = stack.sent(own);
            let (src, dst) = (flow.src.index(), flow.dst.index());
            if self.turn_of[src] == NONE && !receives[dst] {
                (self.turn_of[src], receives[dst]) = (own, true);
                // A flow that continues has its next packet planned: no other host has sent to its receiver.
                if before.get(src) != Some(&own) {
                    turns.push(own);
                }
            }
        }
        for own in turns {
            let nic = stack.nic_of(own);
            let time = self.next_time(stack, own, nic).max(stack.now());
            stack.plan(nic, time, Job::Turn);
        }
    }

    /// Earliest time at which the flow's host has sent its last packet and the next one finds the last link free.
    fn next_time(&self, stack: &impl Stack, own: u32, nic: u32) -> u64 {
        let dst = stack.sent(own).dst.index();
        self.free_at[nic as usize].max(self.taken_until[dst].saturating_sub(self.away[own as usize]))
    }

    fn receive_ack(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        let own = packet.own;
        let Some(sender) = self.senders.get_mut(own) else { return };
        if !sender.on_ack(packet.seq) {
            return stack.acknowledge(own, sender.acked());
        }
        // The flow's last packets may be in flight a second time, or about to be.
        self.senders.remove(own);
        let waits = self.waiting.contains(&own);
        self.waiting.retain(|&waiting| waiting != own);
        stack.finish(own);
        if waits {
            self.match_hosts(stack);
        }
    }
}
