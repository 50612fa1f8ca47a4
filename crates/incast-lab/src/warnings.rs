//! Warnings about allowed parameters that do not go together or have no effect.

use std::cell::LazyCell;

use incast_model::fabric::{BaseRtts, Fabric, NodeId};
use incast_model::flow::Flow;
use incast_model::units::{Bytes, Rate, Time};
use incast_model::workload::{OfferedLoad, overload, warnings as workload_warnings};
use incast_sim::BufferPlan;
use incast_sim::congestion::{Control, Input, Telemetry};
use incast_sim::host::Recovery;
use incast_sim::switch::{EcnParams, FlowDetection, MarkedFlows, PfcMode, QueueParams};
use incast_sim::transport::Transport;
use incast_sim::{Carrier, Setup};

use crate::scenario::{Prepared, PreparedScheme, marking, without_effect};
use crate::warning::{Warning, joined};

mod increases;

impl Prepared {
    /// Warnings to check before trusting results, merged for schemes.
    pub fn warnings(&self) -> &[Warning] {
        // Few rules need routes, which are slow on large fabrics.
        let routes = LazyCell::new(|| self.routes());
        let links = |flow: &Flow| self.links(&routes, flow);
        self.warnings_with(links, || self.loads(|| &*routes))
    }

    /// `links`: links on a flow's path.
    pub(crate) fn warnings_with(
        &self,
        links: impl Fn(&Flow) -> u64,
        offered: impl FnOnce() -> Vec<OfferedLoad>,
    ) -> &[Warning] {
        self.found.get_or_init(|| of_scenario(self, links, &offered()))
    }
}

fn of_scenario(prepared: &Prepared, links: impl Fn(&Flow) -> u64, offered: &[OfferedLoad]) -> Vec<Warning> {
    let Prepared { scenario, base_dir, fabric, flows, .. } = prepared;
    let of_workload = workload_warnings(&scenario.workload, fabric, base_dir, flows, scenario.simulation.horizon);
    let of_workload = overload(offered).into_iter().chain(of_workload);
    let mut found: Vec<Warning> = of_workload.map(|warning| Warning::new(warning.field, warning.message)).collect();
    found.extend(joined(prepared.schemes.iter().flat_map(|scheme| {
        of_scheme(prepared, scheme, &links).into_iter().map(|warning| (scheme.name.as_str(), warning))
    })));
    for warning in &mut found {
        warning.line = prepared.given.place(&warning.field);
    }
    found.extend(without_effect(prepared));
    found.dedup();
    found
}

fn of_scheme(prepared: &Prepared, scheme: &PreparedScheme, links: impl Fn(&Flow) -> u64) -> Vec<Warning> {
    let (fabric, setup, params) = (&*prepared.fabric, &scheme.setup, &scheme.setup.params);
    let mut found = Vec::new();
    let mut warn = |field: &str, message: String| {
        found.push(Warning::new(field, message));
    };
    if let Some(cycle) = &scheme.cyclic_rules {
        warn("switch.tagging.rules", cycle.clone());
    }
    let with_int = flows_of(setup, |control| control.telemetry() == Telemetry::Int);
    let switches = with_int.map(&links).max().unwrap_or(0).saturating_sub(1);
    let records = u64::from(params.packets.int_records);
    if switches > records {
        let message = format!(
            "packets hold {records} INT records, the longest path has {switches} switches: the last records overwrite the first"
        );
        warn("packets.int_records", message);
    }
    if params.ecn.enabled
        && let Some((switch, kmin, xoff)) = ecn_above_pfc(fabric, setup)
    {
        let message = format!(
            "Kmin of a port of {} is {:#}, but PFC pauses a single sender at {:#}: PFC acts before ECN",
            fabric.node(switch).name,
            Bytes(kmin),
            Bytes(xoff)
        );
        warn("ecn.kmin", message);
    }
    if let Some((switch, xoff)) = never_resumes_early(fabric, setup) {
        let message = format!(
            "{:#} exceeds the largest XOFF threshold of a port of {}, {:#}: a paused queue resumes only when it is empty",
            params.switch.resume_offset,
            fabric.node(switch).name,
            Bytes(xoff)
        );
        warn("switch.resume_offset", message);
    }
    if let Some(reason) = spares_nobody(fabric, setup) {
        warn("switch.isolation.mark", format!("has no effect: {reason}"));
    }
    if let Some((control, wanted)) = other_marking(prepared, scheme) {
        let message = format!(
            "switches have one ECN setting, {}; the default of {control} is {}",
            marking(&params.ecn),
            marking(&wanted)
        );
        warn("ecn", message);
    }
    if let Some((target, base)) = target_below_base(setup, fabric, &links) {
        let message = format!(
            "Swift's target on the longest path, {target:#}, does not exceed its base RTT, {base:#}: no flow reaches full rate"
        );
        warn("control.swift.base_target", message);
    }
    for (field, message) in increases::unscaled(prepared, scheme) {
        warn(&field, message);
    }
    let rdma_flows = !setup.controls.is_empty();
    if rdma_flows && params.network.load_balancing.reorders() && params.rdma.recovery == Recovery::GoBackN {
        let message = format!(
            "`{}` reorders packets of a flow; go-back-N treats them as lost and retransmits: set rdma.recovery = \"selective-repeat\"",
            params.network.load_balancing.name()
        );
        warn("network.load_balancing", message);
    }
    let compares = flows_of(setup, |control| matches!(control.telemetry(), Telemetry::Int)).next().is_some();
    if params.network.load_balancing.reorders() && compares {
        let message = format!(
            "under `{}` the INT records of a flow's packets come from different links; HPCC treats them as one link",
            params.network.load_balancing.name()
        );
        warn("network.load_balancing", message);
    }
    if rdma_flows && !params.network.failure.is_empty() && params.rdma.rto.is_none() {
        let message = "without a timeout, flows that lose their last packets in a failure never complete";
        warn("rdma.rto", message.into());
    }
    if params.rdma.acks_ignore_pause {
        warn("rdma.acks_ignore_pause", "ACKs sent into a paused priority can overflow the headroom".into());
    }
    let rdma = &params.rdma;
    let longest = BaseRtts::new(fabric, params.packets.payload).max().0;
    if rdma.recovery == Recovery::SelectiveRepeat && rdma.rto.is_some() && rdma.rto_low <= longest {
        let message = format!(
            "{:#} does not exceed the longest base RTT, {longest:#}: packets are retransmitted that are not lost",
            rdma.rto_low
        );
        warn("rdma.rto_low", message);
    }
    for (field, timeout, longest) in timeouts(setup, fabric) {
        let message = format!(
            "{timeout:#} does not exceed the longest base RTT, {longest:#}: packets are retransmitted that are not lost"
        );
        warn(&field, message);
    }
    for (field, period, longest) in periods(setup, fabric) {
        let message = format!(
            "{period:#} does not exceed the longest base RTT, {longest:#}: hypervisors act before feedback arrives"
        );
        warn(&field, message);
    }
    if let Some((name, other)) = foreign_queues(setup) {
        let message = format!("{name} needs {}, not {}", queues(&other), queues(&params.switch.queues));
        warn("switch.queues", message);
    }
    if params.packets.payload.0 < 64 {
        warn("packets.payload", format!("packets of {:#} are far smaller than in any network", params.packets.payload));
    }
    found
}

fn flows_of(setup: &Setup, is: impl Fn(&Control) -> bool) -> impl Iterator<Item = &Flow> {
    let carrier = |carrier: &Carrier| match *carrier {
        Carrier::Rdma(index) => is(&setup.controls[index].control),
        Carrier::Transport(_) => false,
    };
    let wanted: Vec<bool> = setup.carriers.iter().map(carrier).collect();
    setup.flows.flows.iter().filter(move |flow| wanted[usize::from(flow.label)])
}

/// If nothing sets `ecn`.
fn other_marking(prepared: &Prepared, scheme: &PreparedScheme) -> Option<(&'static str, EcnParams)> {
    let said = prepared.scenario.scheme.get(&scheme.name)?;
    if !said.ecn.is_empty() || !prepared.scenario.ecn.is_empty() {
        return None;
    }
    let controls = scheme.setup.controls.iter().filter_map(|one| Some((one.control.name(), one.control.ecn()?)));
    let transports = scheme.setup.transports.iter().filter_map(|one| Some((one.name(), one.ecn()?)));
    controls.chain(transports).find(|(_, wanted)| *wanted != scheme.setup.params.ecn)
}

/// Swift's target without flow scaling on its longest path, if at most the largest base RTT; that RTT.
fn target_below_base(setup: &Setup, fabric: &Fabric, links: impl Fn(&Flow) -> u64) -> Option<(Time, Time)> {
    let targets = setup.controls.iter().filter_map(|one| match &one.control {
        Control::Swift(swift) => Some((swift.base_target, swift.hop_scale)),
        _ => None,
    });
    let longest = flows_of(setup, |control| matches!(control, Control::Swift(_))).map(links).max()?;
    let target = targets.map(|(base, per_hop)| base + per_hop * longest).min()?;
    let (base, _) = BaseRtts::new(fabric, setup.params.packets.payload).max();
    (target <= base).then_some((target, base))
}

/// Switch where Kmin exceeds the XOFF threshold of a single ingress queue that fills a port, and both; `None` if no paused flow
/// reacts to marks.
fn ecn_above_pfc(fabric: &Fabric, setup: &Setup) -> Option<(NodeId, u64, u64)> {
    let params = &setup.params;
    let paused = params.switch.paused_priorities();
    let mut listening = flows_of(setup, |control| !control.ignores(Input::Marks));
    if !listening.any(|flow| paused & 1 << flow.priority != 0) {
        return None;
    }
    let largest = params.packets.largest(&setup.carriers);
    fabric.switches().find_map(|switch| {
        let plan = BufferPlan::new(fabric, params, largest, switch).ok()?;
        let thresholds =
            |rate: Rate| (kmin(&params.ecn, rate), params.switch.reserve.0 + plan.lone_xoff(fabric, params, rate));
        let mut ports = fabric.ports_of(switch).map(|port| thresholds(fabric.rate(port)));
        ports.find(|(kmin, xoff)| kmin > xoff).map(|(kmin, xoff)| (switch, kmin, xoff))
    })
}

/// Switch with a port that resumes only with an empty queue, and its largest dynamic XOFF threshold, which the offset exceeds.
fn never_resumes_early(fabric: &Fabric, setup: &Setup) -> Option<(NodeId, u64)> {
    let params = &setup.params;
    if params.switch.paused_priorities() == 0 || !matches!(params.switch.pfc_mode, PfcMode::Dynamic { .. }) {
        return None;
    }
    let largest = params.packets.largest(&setup.carriers);
    fabric.switches().find_map(|switch| {
        let plan = BufferPlan::new(fabric, params, largest, switch).ok()?;
        let mut xoffs = fabric.ports_of(switch).map(|port| plan.largest_xoff(fabric, params, fabric.rate(port)));
        xoffs.find(|&xoff| params.switch.resume_offset.0 > xoff).map(|xoff| (switch, xoff))
    })
}

/// Marking only isolated flows equals marking all.
fn spares_nobody(fabric: &Fabric, setup: &Setup) -> Option<String> {
    let (isolation, ecn) = (&setup.params.switch.isolation, &setup.params.ecn);
    if !isolation.enabled || isolation.mark != MarkedFlows::Isolated {
        return None;
    }
    if !ecn.enabled {
        return Some("ecn.enabled is false".into());
    }
    // With a full table, or a lossy priority, flows stay unisolated at any queue length.
    let paused = setup.params.switch.paused_priorities();
    if isolation.table.is_some() || setup.flows.flows.iter().any(|flow| paused & 1 << flow.priority == 0) {
        return None;
    }
    let FlowDetection::Marks { kmax: always, .. } = isolation.detection else {
        return None; // counters isolate the largest flows, and others stay
    };
    let of_port = |rate: Rate| {
        let always = u128::from(always.0) * u128::from(rate.0) / u128::from(Rate::gbps(100).0);
        (kmin(ecn, rate), always as u64)
    };
    let mut ports = fabric.switches().flat_map(|switch| fabric.ports_of(switch)).map(|port| of_port(fabric.rate(port)));
    let (kmin, always) = ports.next()?;
    (kmin >= always && ports.all(|(kmin, always)| kmin >= always)).then(|| {
        format!(
            "ECN marks queues above {:#} (ecn.kmin), but every flow in a queue above {:#} (switch.isolation.detection.marks.kmax) \
             is isolated; set ecn.kmin below that",
            Bytes(kmin),
            Bytes(always)
        )
    })
}

fn kmin(ecn: &EcnParams, rate: Rate) -> u64 {
    ecn.at(rate).kmin.0
}

/// Timeouts of at most a full segment's round trip on the longest path; that round trip.
fn timeouts(setup: &Setup, fabric: &Fabric) -> Vec<(String, Time, Time)> {
    let packets = &setup.params.packets;
    let longest = BaseRtts::new(fabric, Bytes(packets.mss.0 + packets.segment_header.0)).max().0;
    let of_transport = |transport: &Transport| {
        let (field, timeout) = transport.timeout()?;
        (timeout <= longest).then(|| (format!("transport.{}.{field}", transport.name()), timeout, longest))
    };
    setup.transports.iter().filter_map(of_transport).collect()
}

/// Periods of at most that round trip; that round trip.
fn periods(setup: &Setup, fabric: &Fabric) -> Vec<(String, Time, Time)> {
    let packets = &setup.params.packets;
    let longest = BaseRtts::new(fabric, Bytes(packets.mss.0 + packets.segment_header.0)).max().0;
    let Some(hypervisor) = &setup.params.hypervisor else { return Vec::new() };
    let short = hypervisor.periods().into_iter().filter(|(_, period)| *period <= longest);
    short.map(|(field, period)| (format!("hypervisor.{}.{field}", hypervisor.name()), period, longest)).collect()
}

/// Transport and the kind of queue that it needs.
fn foreign_queues(setup: &Setup) -> Option<(&'static str, QueueParams)> {
    let ranked = |queues: &QueueParams| matches!(queues, QueueParams::Pfabric { .. });
    let wants = setup.transports.iter().map(|one| (one.name(), one.switch().queues));
    let mut wants = wants.filter(|(name, _)| *name == "pfabric");
    wants.find(|(_, wanted)| ranked(wanted) != ranked(&setup.params.switch.queues))
}

fn queues(queues: &QueueParams) -> String {
    match queues {
        QueueParams::Shared => "one buffer for all ports".into(),
        QueueParams::DropTail { limit } => format!("{limit:#} per port, drop-tail"),
        QueueParams::Pfabric { limit } => format!("{limit:#} per port, in pFabric's order"),
    }
}
