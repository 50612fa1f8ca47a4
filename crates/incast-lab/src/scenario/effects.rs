//! Rules for warning about parameters without effect.
//!
//! Tests compare [`RULES`] with the schema (a row per parameter; guards have none:
//! [`GuardParams`](incast_sim::switch::GuardParams) says if they need PFC), and run a scenario per condition.

use incast_sim::congestion::{Input, Telemetry};
use incast_sim::host::Recovery;

use super::facts::{Facts, Verdict, unless};

#[derive(Debug, Clone, Copy)]
pub(super) enum When {
    /// Always, or unknown before the run.
    Always,
    If(fn(&Facts<'_>) -> Verdict),
}

use When::{Always, If};

/// All parameters of the sections, and others that can be without effect. `control.NAME.*`: all of a control.
pub(super) const RULES: &[(&str, When)] = &[
    ("seed", If(|facts| facts.random())),
    ("workload.priority", If(|facts| facts.own_priority())),
    ("vms.slots", Always),
    ("vms.rate", Always),
    ("vms.delay", Always),
    ("vms.queue", Always),
    ("vms.headroom", If(|facts| facts.guarantees())),
    ("vms.admission", If(|facts| facts.guarantees())),
    ("tenant.name", Always),
    ("tenant.vms", Always),
    ("tenant.guarantee", Always),
    ("tenant.count", Always),
    ("tenant.fill", Always),
    ("tenant.mappers", If(|facts| facts.mappers())),
    ("tenant.placement", Always),
    ("network.routing", Always),
    ("network.hash", If(|facts| facts.several_paths())),
    ("network.next_hop_order", If(|facts| facts.several_paths())),
    ("network.load_balancing", If(|facts| facts.several_paths())),
    ("network.route", Always),
    ("network.ttl", Always),
    ("network.failure", Always),
    ("network.pause", Always),
    ("network.reroute_after", If(|facts| facts.failures())),
    ("network.hold_time", If(|facts| facts.failures())),
    ("switch.forwarding", If(|facts| facts.switches())),
    ("switch.cut_through_header", If(|facts| facts.cuts_through())),
    ("switch.queues", If(|facts| facts.switches())),
    ("switch.buffer", If(|facts| facts.shares_buffers())),
    ("switch.cell", If(|facts| facts.shares_buffers())),
    ("switch.reserve", If(|facts| facts.shares_buffers())),
    ("switch.lossless", If(|facts| facts.lossless_priorities())),
    ("switch.pfc", If(|facts| facts.shares_buffers())),
    ("switch.pfc_mode", If(|facts| facts.pauses())),
    ("switch.resume_offset", If(|facts| facts.pauses())),
    ("switch.headroom", If(|facts| facts.headroom())),
    ("switch.by_rate", If(|facts| facts.profiles_by_rate())),
    ("switch.lossy_alpha", If(|facts| facts.lossy_traffic())),
    ("switch.scheduler", If(|facts| facts.several_priorities())),
    ("switch.int_multiplier", If(|facts| facts.int_units())),
    ("ecn.enabled", If(|facts| facts.marks_are_read())),
    ("ecn.kmin", If(|facts| facts.scaled_thresholds())),
    ("ecn.kmax", If(|facts| facts.scaled_thresholds())),
    ("ecn.pmax", If(|facts| facts.slope())),
    ("ecn.per_rate", If(|facts| facts.scaled_thresholds())),
    ("ecn.by_rate", If(|facts| facts.thresholds_by_rate())),
    ("ecn.mark_at", If(|facts| facts.marks())),
    ("packets.payload", If(|facts| facts.rdma())),
    ("packets.data_header", If(|facts| facts.rdma())),
    ("packets.ack", If(|facts| facts.acks_unpadded())),
    ("packets.min_ack", If(|facts| facts.acks_padded())),
    ("packets.cnp", If(|facts| facts.cnps())),
    ("packets.pfc", If(|facts| facts.pauses())),
    ("packets.timestamp", If(|facts| facts.carries(Telemetry::Timestamp, "no control here measures round trips"))),
    ("packets.pint", If(|facts| facts.carries(Telemetry::Pint, "no control here uses PINT"))),
    ("packets.int_base", If(|facts| facts.int())),
    ("packets.int_record", If(|facts| facts.int())),
    ("packets.int_records", If(|facts| facts.int())),
    ("packets.mss", If(|facts| facts.other_transports())),
    ("packets.segment_header", If(|facts| facts.other_transports())),
    ("packets.control", If(|facts| facts.other_transports())),
    ("packets.gap", Always),
    ("host.jitter", Always),
    ("host.nic_queue", If(|facts| facts.nic_queue())),
    ("host.classes", If(|facts| facts.classes())),
    ("rdma.ack_every", If(|facts| facts.rdma())),
    ("rdma.ack_priority", If(|facts| facts.rdma())),
    ("rdma.acks_ignore_pause", If(|facts| facts.acks_are_paused())),
    ("rdma.recovery", If(|facts| facts.rdma())),
    (
        "rdma.nack_interval",
        If(|facts| {
            facts.recovers(
                Recovery::GoBackN,
                "selective-repeat sends NACKs immediately; write `rdma.recovery = \"go-back-n\"`",
            )
        }),
    ),
    ("rdma.rto", If(|facts| facts.rdma())),
    ("rdma.rto_low", If(|facts| facts.low_timeout())),
    ("rdma.rto_low_packets", If(|facts| facts.low_timeout())),
    ("rdma.bdp_bound", If(|facts| facts.selective())),
    ("rdma.reorder_window", If(|facts| facts.selective())),
    ("rdma.cnp", If(|facts| facts.marks())),
    ("rdma.cnp_interval", If(|facts| facts.cnps())),
    ("rdma.cnp_priority", If(|facts| facts.cnps())),
    ("rdma.base_rtt", If(|facts| facts.looked_at(Input::BaseRtt, "no control here uses the base round-trip time"))),
    ("rdma.window", If(|facts| facts.windows())),
    ("measure.sample_every", Always),
    ("measure.sample_from", If(|facts| facts.samples())),
    ("measure.sample_until", If(|facts| facts.samples())),
    ("measure.queue_histogram", If(|facts| facts.switches())),
    ("measure.histogram_bin", If(|facts| facts.histogram())),
    ("measure.pauses", If(|facts| facts.pauses())),
    ("measure.blocking", If(|facts| facts.shares_buffers())),
    ("measure.deadlock_every", If(|facts| facts.pauses())),
    ("measure.max_drops", Always),
    ("measure.fingerprint", Always),
    ("measure.ideal", Always),
    ("simulation.arithmetic", Always),
    ("simulation.horizon", Always),
    ("simulation.max_events", Always),
    ("simulation.threads", Always),
    ("scheme.window", If(|facts| facts.scheme_window())),
    ("control.dcqcn.*", If(|facts| facts.marked())),
    (
        "control.dcqcn.byte_counter",
        If(|facts| facts.dcqcn(true, "the vendor variant has no byte counter; write `variant = \"paper\"`")),
    ),
    (
        "control.dcqcn.clamp_target",
        If(|facts| facts.dcqcn(false, "only the vendor variant clamps its target; write `variant = \"vendor\"`")),
    ),
    ("control.dctcp.*", If(|facts| facts.marked())),
    ("transport.tcp.rto_min", If(|facts| facts.measures_timeouts())),
    ("transport.tcp.rto_init", If(|facts| facts.measures_timeouts())),
    ("transport.tcp.sack_blocks", If(|facts| facts.tcp(|tcp| tcp.sack, "sack is false; write `sack = true`"))),
    (
        "transport.tcp.ack_every",
        If(|facts| {
            facts.tcp(|tcp| tcp.delayed_ack.is_some(), "delayed_ack is \"none\"; write `delayed_ack = \"40ms\"`")
        }),
    ),
    ("transport.tcp.ecn", If(|facts| facts.marked())),
    (
        "hypervisor.rate.forget",
        If(|facts| {
            facts.rates_found(|rate| rate.hold_increase, "hold_increase is false; write `hold_increase = true`")
        }),
    ),
    (
        "hypervisor.rate.hold_above",
        If(|facts| {
            facts.rates_found(|rate| rate.hold_increase, "hold_increase is false; write `hold_increase = true`")
        }),
    ),
    (
        "hypervisor.rate.caution",
        If(|facts| facts.rates_found(|rate| rate.rate_caution, "rate_caution is false; write `rate_caution = true`")),
    ),
    (
        "hypervisor.rate.min_growth",
        If(|facts| facts.rates_found(|rate| rate.rate_caution, "rate_caution is false; write `rate_caution = true`")),
    ),
];

impl Facts<'_> {
    /// `name` as in [`RULES`], or `switch` and a guard's.
    pub(super) fn verdict(&self, name: &str) -> Verdict {
        let is_named = |guard: &str| name.strip_prefix("switch.") == Some(guard);
        if let Some((_, guard)) = self.params().switch.guards().find(|(guard, _)| is_named(guard)) {
            unless(guard.enabled(), "its table has `enabled = false`; write `enabled = true`")?;
            return if guard.needs_pfc() { self.pauses() } else { self.switches() };
        }
        let group = name.rsplit_once('.').map(|(group, _)| format!("{group}.*")).unwrap_or_default();
        RULES.iter().filter(|(rule, _)| *rule == name || *rule == group).try_for_each(|(_, when)| match when {
            Always => Ok(()),
            If(holds) => holds(self),
        })
    }
}
