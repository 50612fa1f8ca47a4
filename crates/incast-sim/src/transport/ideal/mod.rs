//! Ideal scheduler: knows every flow immediately, at no cost.
//!
//! When a flow starts or has sent all packets, senders and receivers are matched, flows with fewest packets first. Only data
//! and ACKs cross the fabric.
//!
//! After YAPS (`ext/ideal.cpp`), with differences (docs/design/transports.md).

use incast_model::range::{above, least, priority};
use incast_model::units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::slotted::acknowledge_each;
use super::stack::{Incoming, Stack, To};
use super::{ByFlow, Endpoint, Job, Reassembly, Scope, Slotted, TransportParams};
use crate::kernel::{IdVec, Kind, LocalPort, ReceivedId, SentId};
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

#[derive(Debug)]
pub(crate) struct Ideal {
    params: IdealParams,
    senders: ByFlow<SentId, Slotted>,
    receivers: IdVec<ReceivedId, Reassembly>,
}

impl Endpoint for Ideal {
    type Params = IdealParams;

    fn new(params: &IdealParams, scope: Scope) -> Self {
        Self {
            params: params.clone(),
            senders: ByFlow::new(scope.sent),
            receivers: vec![Reassembly::default(); scope.received].into(),
        }
    }

    fn start(&mut self, stack: &mut impl Stack, own: SentId) {
        let mut sender = Slotted::new(stack.packets_sent(own));
        let packets = sender.ask();
        self.senders.insert(own, sender);
        let (hosts, port) = ((stack.sent(own).src.0, stack.sent(own).dst.0), stack.port(stack.nic_of(own)));
        let (flow, away) = (stack.flow_of(own), stack.time_to_last_link(own));
        stack.matching().start(flow, hosts, port, away);
        stack.matching().wait(flow, packets);
        choose(stack);
    }

    fn receive(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        match packet.kind {
            Kind::Segment => acknowledge_each(&mut self.receivers, stack, packet, self.params.control_priority),
            _ => self.receive_ack(stack, packet),
        }
    }

    /// Schedules packets still unacknowledged long after the last was sent.
    fn timer(&mut self, stack: &mut impl Stack, own: SentId) {
        let Some(sender) = self.senders.get_mut(own) else { return };
        let flow = stack.flow_of(own);
        stack.matching().wait(flow, sender.ask());
        stack.count_timeout(own);
        choose(stack);
    }

    fn task(&mut self, stack: &mut impl Stack, nic: LocalPort, _job: Job) {
        let now = stack.now();
        let full = stack.busy_time(nic, stack.full_size());
        let packet_time = full + (full as f64 * self.params.slack) as u64;
        let host = stack.host_of(nic);
        let Some(flow) = stack.matching().turn(host, now) else { return };
        let own = stack.number_of(flow);
        stack.matching().send(flow, now, packet_time);
        let sender = self.senders.get_mut(own).expect("flows that send are under way");
        let (segment, last) = sender.use_slot();
        let packet = stack.segment(own, segment);
        stack.send(To::Receiver(own), packet);
        if last {
            stack.matching().leave(flow);
            stack.set_timer(own, now + self.params.rto.0);
            choose(stack);
        }
        stack.plan(nic, now + packet_time, Job::Turn);
    }

    fn may_end(&self, own: SentId, _end: u64, acks: impl Iterator<Item = u64>) -> bool {
        self.senders.get(own).is_none_or(|sender| acks.count() as u64 >= sender.missing())
    }

    fn flows(&self) -> impl Iterator<Item = (SentId, u64)> {
        self.senders.iter().map(|(own, _)| (own, u64::MAX))
    }
}

impl Ideal {
    fn receive_ack(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        let own = packet.sent_flow();
        let Some(sender) = self.senders.get_mut(own) else { return };
        if !sender.on_ack(packet.seq) {
            return stack.acknowledge(own, sender.acked());
        }
        // Its last packets may be queued or in flight again.
        self.senders.remove(own);
        let waited = stack.matching().leave(packet.flow);
        stack.finish(own);
        if waited {
            choose(stack);
        }
    }
}

fn choose(stack: &mut impl Stack) {
    let now = stack.now();
    for (flow, time) in stack.matching().choose(now) {
        stack.give_turn(flow, time);
    }
}
