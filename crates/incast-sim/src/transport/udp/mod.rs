//! UDP: packets at a constant rate, without ACKs or retransmissions.
//!
//! A flow ends at its sender when its last packet has left. It completes when its last byte has arrived: the receiver counts
//! bytes.

use incast_model::range::above;
use incast_model::units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::segments::{Packets, Segment};
use super::stack::{Incoming, Stack, To};
use super::{ByFlow, Endpoint, Job, Scope, TransportParams};
use crate::kernel::{LocalPort, SentId};
use crate::switch::SwitchParams;

/// Parameters of UDP.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UdpParams {
    /// Rate of a flow on the wire. Default none: that of the sender's link, for a VM of its server's link.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above("0bps"))]
    pub rate: Option<Rate>,
}

impl TransportParams for UdpParams {
    const SUMMARY: &'static str = "UDP: a constant rate, without recovery";
    const PROFILES: &'static [(&'static str, &'static str)] = &[("line-rate", "the rate of the sender's link")];

    fn profile(name: &str) -> Option<Self> {
        (name == "line-rate").then(Self::default)
    }

    fn switch(&self) -> SwitchParams {
        SwitchParams { lossless: Vec::new(), ..SwitchParams::default() }
    }

    fn patience(&self) -> Time {
        Time::ZERO
    }
}

#[derive(Debug, Clone, Copy)]
struct Source {
    packets: Packets,
    next: u64,
    /// In ps, between two full packets.
    gap: u64,
    /// In ps.
    due: u64,
}

#[derive(Debug)]
pub(crate) struct Udp {
    params: UdpParams,
    sources: ByFlow<SentId, Source>,
    /// Flows that sent all, with packets perhaps in flight.
    late: Vec<Late>,
}

#[derive(Debug, Clone, Copy)]
struct Late {
    own: SentId,
    sent: u64,
    /// Bytes by the last sample (`None` before the first), and time of their last change in ps.
    arrived: Option<u64>,
    changed: u64,
}

/// In ps without arrivals until a flow is no longer sampled (our choice: five times the default delay of limiters).
const QUIET: u64 = 1_000_000_000_000;

impl Endpoint for Udp {
    type Params = UdpParams;

    const KEEPS_PRIORITY: bool = true;
    const ACKNOWLEDGES: bool = false;
    const REPORTS_ARRIVALS: bool = false;

    fn new(params: &UdpParams, scope: Scope) -> Self {
        Self { params: params.clone(), sources: ByFlow::new(scope.sent), late: Vec::new() }
    }

    fn start(&mut self, stack: &mut impl Stack, own: SentId) {
        let full = stack.full_size();
        let rate = self.params.rate.map_or_else(|| stack.line(stack.nic_of(own)), |rate| rate.0);
        let gap = ((full + stack.sizes().gap.0) * 8_000_000_000_000).div_ceil(rate);
        let source = Source { packets: stack.packets_sent(own), next: 0, gap, due: stack.now() };
        self.sources.insert(own, source);
        self.send(stack, own);
    }

    fn receive(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        let own = packet.received_flow();
        if stack.count_arrived(own, packet.payload) == stack.received(own).size.0 {
            stack.deliver(own);
        }
    }

    fn task(&mut self, stack: &mut impl Stack, _nic: LocalPort, job: Job) {
        if let Job::Burst(own) = job {
            self.send(stack, own);
        }
    }

    fn stop(&mut self, stack: &mut impl Stack, own: SentId) {
        if let Some(source) = self.sources.get(own) {
            let sent = source.next.min(source.packets.size);
            self.sources.remove(own);
            if stack.samples() {
                self.late.push(Late { own, sent, arrived: None, changed: stack.now() });
            }
            stack.end(own);
        }
    }

    /// Packets of the held-back time are refused.
    fn resume(&mut self, stack: &mut impl Stack, own: SentId) {
        let Some(source) = self.sources.get_mut(own) else { return };
        let packets = source.packets;
        let left = (packets.size - source.next).div_ceil(packets.mss);
        let missed = (stack.now() - source.due).div_ceil(source.gap).min(left);
        source.due += missed * source.gap;
        source.next += missed * packets.mss;
        let (due, over) = (source.due, source.next >= packets.size);
        stack.count_refused(own, missed);
        if over {
            return self.stop(stack, own);
        }
        stack.plan(stack.nic_of(own), due, Job::Burst(own));
    }

    fn may_end(&self, own: SentId, end: u64, _acks: impl Iterator<Item = u64>) -> bool {
        self.sources.get(own).is_none_or(|source| {
            let left = (source.packets.size - source.next).div_ceil(source.packets.mss);
            source.due.saturating_add(left.saturating_sub(1).saturating_mul(source.gap)) < end
        })
    }

    fn flows(&self) -> impl Iterator<Item = (SentId, u64)> {
        self.sources.iter().map(|(own, _)| (own, u64::MAX))
    }

    fn rate(&self) -> Option<u64> {
        self.params.rate.map(|rate| rate.0)
    }

    fn late(&mut self, now: u64, arrived: &dyn Fn(SentId) -> u64) -> Vec<SentId> {
        // The last sample has all bytes.
        self.late.retain(|one| one.arrived.is_none_or(|arrived| arrived < one.sent));
        self.late.retain_mut(|one| {
            let arrived = Some(arrived(one.own));
            if std::mem::replace(&mut one.arrived, arrived) != arrived {
                one.changed = now;
            }
            now - one.changed < QUIET
        });
        self.late.iter().map(|one| one.own).collect()
    }
}

impl Udp {
    fn send(&mut self, stack: &mut impl Stack, own: SentId) {
        let Some(source) = self.sources.get_mut(own) else { return };
        let (packets, now) = (source.packets, stack.now());
        if source.due > now || !stack.may_send(own) {
            return;
        }
        let segment = Segment { seq: source.next, len: packets.len(source.next), again: false };
        source.next = segment.seq + segment.len;
        source.due = now + source.gap;
        let (due, over) = (source.due, source.next >= packets.size);
        let packet = stack.segment(own, segment);
        stack.send(To::Receiver(own), packet);
        if over {
            return self.stop(stack, own);
        }
        stack.plan(stack.nic_of(own), due, Job::Burst(own));
    }
}
