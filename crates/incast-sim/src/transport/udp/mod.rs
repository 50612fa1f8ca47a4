//! UDP: packets at a constant rate, whatever becomes of them. There are no acknowledgements, and nothing is sent again.
//!
//! A flow has ended when its last packet has left the sender; what it has delivered is counted as its receiver sees it.

use incast_model::units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::segments::Segment;
use super::{ByFlow, Job, Transport, TransportParams};
use crate::congestion::BadParameter;
use crate::network::Network;
use crate::switch::SwitchParams;

/// Parameters of UDP.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UdpParams {
    /// Rate of a flow on the wire. Default none: that of the sender's link, for a VM of its server's link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
}

impl TransportParams for UdpParams {
    const SUMMARY: &'static str = "UDP: a constant rate, without recovery";
    const PROFILES: &'static [(&'static str, &'static str)] = &[("line-rate", "the rate of the sender's link")];

    fn profile(name: &str) -> Option<Self> {
        (name == "line-rate").then(Self::default)
    }

    fn check(&self) -> Result<(), BadParameter> {
        let rate = self.rate.unwrap_or(Rate::gbps(1));
        BadParameter::unless(rate > Rate::ZERO, "rate", rate, "more than 0bps")
    }

    fn switch(&self) -> SwitchParams {
        SwitchParams { lossless: Vec::new(), ..SwitchParams::default() }
    }

    fn patience(&self) -> Time {
        Time::ZERO
    }
}

/// A flow under way.
#[derive(Debug, Clone, Copy)]
struct Source {
    /// First byte not sent yet.
    next: u64,
    /// Time between two full packets, in ps.
    gap: u64,
    /// When the next packet is due, in ps.
    due: u64,
}

/// All flows of UDP.
#[derive(Debug, Default)]
pub(super) struct Udp {
    /// By number of the setup's transports; those of others are the defaults.
    params: Vec<UdpParams>,
    sources: ByFlow<Source>,
    /// Flows that have sent all they had, of which packets may still be on their way.
    late: Vec<Late>,
}

/// A flow that has ended at its sender.
#[derive(Debug, Clone, Copy)]
struct Late {
    flow: u32,
    /// What had come when it was last sampled, and when that last changed, in ps.
    come: u64,
    changed: u64,
}

/// A flow of which nothing has come for so long is not sampled any more, in ps (our choice: five times as
/// long as a limiter holds packets by default).
const QUIET: u64 = 1_000_000_000_000;

impl Udp {
    pub(super) fn new(transports: &[Transport], flows: usize) -> Self {
        if !transports.iter().any(|one| matches!(one, Transport::Udp(_))) {
            return Self::default();
        }
        let params = |one: &Transport| match one {
            Transport::Udp(params) => params.clone(),
            _ => UdpParams::default(),
        };
        Self { params: transports.iter().map(params).collect(), sources: ByFlow::new(flows), late: Vec::new() }
    }

    /// Flows under way.
    pub(super) fn flows(&self) -> impl Iterator<Item = u32> {
        self.sources.iter().map(|(flow, _)| flow)
    }
}

impl Network {
    /// Flows that have ended at their senders, with what has come of them: for time series.
    pub(crate) fn late_udp(&mut self) -> Vec<(u32, u64)> {
        let (now, records) = (self.now, &self.flow_records);
        let late = &mut self.transports.udp.late;
        late.retain_mut(|one| {
            let come = records[one.flow as usize].acked;
            if std::mem::replace(&mut one.come, come) != come {
                one.changed = now;
            }
            now - one.changed < QUIET
        });
        late.iter().map(|one| (one.flow, one.come)).collect()
    }

    pub(super) fn start_udp(&mut self, flow: u32, params: u8) {
        let full = self.config.packets.mss.0 + self.config.packets.segment_header.0;
        let rate = self.transports.udp.params[usize::from(params)].rate;
        let port = incast_model::fabric::PortId(self.transports.ports[flow as usize]);
        let rate = rate.map_or_else(|| crate::tenant::line(&self.fabric, port), |rate| rate.0);
        let gap = self.pacing_gap(full, rate);
        self.transports.udp.sources.insert(flow, Source { next: 0, gap, due: self.now });
        self.send_udp(flow);
    }

    /// The next packet of a flow is due, if it has not ended meanwhile.
    pub(super) fn send_udp(&mut self, flow: u32) {
        let port = self.transports.ports[flow as usize];
        let packets = self.packets_of(flow);
        let Some(source) = self.transports.udp.sources.get(flow).copied() else { return };
        if source.due > self.now || !self.has_room_or_sleeps(flow) {
            return;
        }
        let segment = Segment { seq: source.next, len: packets.len(source.next), again: false };
        let next = segment.seq + segment.len;
        let due = self.now + source.gap;
        if let Some(source) = self.transports.udp.sources.get_mut(flow) {
            (source.next, source.due) = (next, due);
        }
        let packet = self.make_segment(flow, segment);
        self.send(port, packet);
        if next >= packets.size {
            return self.end_udp(flow);
        }
        self.plan(self.ports[port as usize].owner, due, Job::Blast(flow));
    }

    /// The limiter of a flow's pair has room again. What would have been sent meanwhile was refused, and is not sent later.
    pub(crate) fn go_on_udp(&mut self, flow: u32) {
        let packets = self.packets_of(flow);
        let Some(source) = self.transports.udp.sources.get_mut(flow) else { return };
        let left = (packets.size - source.next).div_ceil(packets.mss);
        let missed = (self.now - source.due).div_ceil(source.gap).min(left);
        source.due += missed * source.gap;
        source.next += missed * packets.mss;
        let (due, over) = (source.due, source.next >= packets.size);
        self.count_refused(flow, missed);
        if over {
            return self.end_udp(flow);
        }
        let port = self.transports.ports[flow as usize];
        self.plan(self.ports[port as usize].owner, due, Job::Blast(flow));
    }

    /// A flow has sent all it had, or its time is over.
    pub(super) fn end_udp(&mut self, flow: u32) {
        if self.transports.udp.sources.get(flow).is_some() {
            self.transports.udp.sources.remove(flow);
            if self.recorder.params.sample_every.is_some() {
                let come = self.flow_records[flow as usize].acked;
                self.transports.udp.late.push(Late { flow, come, changed: self.now });
            }
            self.end_in_room(flow);
        }
    }

    pub(super) fn udp_segment(&mut self, id: u32) {
        let packet = self.pool[id];
        let record = &mut self.flow_records[packet.flow as usize];
        record.acked += u64::from(packet.payload);
        self.bytes_acked += u64::from(packet.payload);
        if record.acked == self.flows.flows[packet.flow as usize].size.0 {
            self.deliver(packet.flow);
        }
    }
}
