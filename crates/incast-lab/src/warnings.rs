//! Warnings about allowed parameters that do not go together or have no effect.

use std::cell::LazyCell;

use incast_model::fabric::Fabric;
use incast_model::fabric::generators::FabricSpec;
use incast_model::flow::Flow;
use incast_model::units::{Bytes, Rate, Time, ceil3};
use incast_model::workload::{OfferedLoad, overload, warnings as workload_warnings};
use incast_sim::congestion::{Control, MAX_INT_RECORDS, SwiftParams, Telemetry};
use incast_sim::host::{PacketParams, Recovery};
use incast_sim::switch::{EcnParams, FlowDetection, MarkedFlows, QueueParams};
use incast_sim::{Carrier, Setup};

use crate::scenario::{Prepared, PreparedScheme, marking, without_effect};
use crate::warning::{Warning, joined, setting};

mod buffers;
mod feedback;
mod increases;
mod lasting;
#[cfg(test)]
mod testing;
mod thresholds;
mod times;
mod windows;

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
    if let FabricSpec::Ns3(file) = &scenario.fabric {
        found.extend(file.unread(base_dir).map(|notice| Warning::new("fabric.ns3.topology", notice.remark())));
    }
    found.extend(lasting::found(prepared));
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
    for wrong in &scheme.rule_warnings {
        warn("switch.tagging.rules", wrong.clone());
    }
    let with_int = flows_of(setup, |control| control.telemetry() == Telemetry::Int);
    let switches = with_int.map(&links).max().unwrap_or(0).saturating_sub(1);
    let records = u64::from(params.packets.int_records);
    if switches > records {
        let message = format!(
            "packets hold {records} INT records, the longest path has {switches} switches: the last records overwrite the \
             first; write `int_records = {}`",
            switches.min(MAX_INT_RECORDS as u64)
        );
        warn("packets.int_records", message);
    }
    if let Some(reason) = spares_nobody(fabric, setup) {
        warn("switch.isolation.mark", format!("has no effect: {reason}"));
    }
    if let Some((control, wanted)) = other_marking(prepared, scheme) {
        let message = format!(
            "switches have one ECN setting, {}; the default of {control} is {}: to choose it, write `ecn = {{ kmin = \"{}\", kmax = \
             \"{}\", pmax = {:?} }}`",
            marking(&params.ecn),
            marking(&wanted),
            wanted.kmin,
            wanted.kmax,
            wanted.pmax
        );
        warn("ecn", message);
    }
    if let Some((target, base)) = target_below_base(setup, fabric, &links) {
        let message = format!(
            "Swift's target on the longest path, {target:#}, does not exceed its base RTT, {base:#}: no flow reaches full rate; \
             write {}",
            setting("base_target", sufficient_target(base))
        );
        warn("control.swift.base_target", message);
    }
    for (field, message) in increases::unscaled(prepared, scheme) {
        warn(&field, message);
    }
    let rdma_flows = !setup.controls.is_empty();
    if rdma_flows && params.network.load_balancing.reorders() && params.rdma.recovery == Recovery::GoBackN {
        let message = format!(
            "`{}` reorders packets of a flow; go-back-N treats them as lost and retransmits; write {}",
            params.network.load_balancing.name(),
            setting("rdma.recovery", "selective-repeat")
        );
        warn("network.load_balancing", message);
    }
    let compares = flows_of(setup, |control| matches!(control.telemetry(), Telemetry::Int)).next().is_some();
    if params.network.load_balancing.reorders() && compares {
        let message = format!(
            "under `{}` the INT records of a flow's packets come from different links, which HPCC treats as one link; write {}",
            params.network.load_balancing.name(),
            setting("load_balancing", "ecmp")
        );
        warn("network.load_balancing", message);
    }
    if rdma_flows && !params.network.failure.is_empty() && params.rdma.rto.is_none() {
        let message = "without a timeout, flows that lose their last packets in a failure never complete; write";
        warn("rdma.rto", format!("{message} {}", setting("rto", times::DEFAULT_RTO)));
    }
    if params.rdma.acks_ignore_pause {
        warn(
            "rdma.acks_ignore_pause",
            "ACKs sent into a paused priority can overflow the headroom; write `acks_ignore_pause = false`".into(),
        );
    }
    if let Some((name, other)) = foreign_queues(setup) {
        let message = format!(
            "{name} needs {}, not {}; write {}",
            queues(&other),
            queues(&params.switch.queues),
            queues_setting(&other)
        );
        warn("switch.queues", message);
    }
    if params.packets.payload.0 < 64 {
        warn(
            "packets.payload",
            format!(
                "packets of {:#} are far smaller than in any network; write {}",
                params.packets.payload,
                setting("payload", PacketParams::default().payload)
            ),
        );
    }
    let its = ["switch", "lossless"];
    let chosen = [&its[..], &["scheme", scheme.name.as_str(), "switch", "lossless"]];
    let chosen = chosen.iter().any(|keys| prepared.given.written(keys).is_some());
    found.extend(thresholds::found(fabric, setup, chosen));
    found.extend(buffers::found(prepared, setup));
    found.extend(feedback::found(fabric, setup));
    found.extend(times::found(fabric, setup));
    found.extend(windows::found(fabric, setup));
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
    let (base, _) = setup.params.longest_rtt(fabric, setup.params.packets.payload);
    (target <= base).then_some((target, base))
}

/// Default if that suffices; otherwise the base RTT, to which the links' part is added.
fn sufficient_target(base: Time) -> Time {
    let usual = SwiftParams::default().base_target;
    if usual > base { usual } else { Time(ceil3(base.0)) }
}

/// Marking only isolated flows equals marking all.
fn spares_nobody(fabric: &Fabric, setup: &Setup) -> Option<String> {
    let (isolation, ecn) = (&setup.params.switch.isolation, &setup.params.ecn);
    if !isolation.enabled || isolation.mark != MarkedFlows::Isolated {
        return None;
    }
    if !ecn.enabled {
        return Some("ecn.enabled is false; write `ecn.enabled = true`".into());
    }
    // With a full table, or a lossy priority, flows stay unisolated at any queue length.
    let paused = setup.params.switch.paused_priorities();
    if isolation.table.is_some() || setup.flows.flows.iter().any(|flow| paused & 1 << flow.priority == 0) {
        return None;
    }
    let FlowDetection::Marks { kmin: first, kmax: always, .. } = isolation.detection else {
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
             is isolated; write {}",
            Bytes(kmin),
            Bytes(always),
            setting("ecn.kmin", Bytes(scaled(first.0, ecn.per_rate, Rate::gbps(100))))
        )
    })
}

fn kmin(ecn: &EcnParams, rate: Rate) -> u64 {
    ecn.at(rate).kmin.0
}

/// A number for `from`, in proportion for `to`.
fn scaled(number: u64, to: Rate, from: Rate) -> u64 {
    let product = u128::from(number) * u128::from(to.0) / u128::from(from.0.max(1));
    u64::try_from(product).unwrap_or(u64::MAX)
}

/// Transport and the kind of queue that it needs.
fn foreign_queues(setup: &Setup) -> Option<(&'static str, QueueParams)> {
    let ranked = |queues: &QueueParams| matches!(queues, QueueParams::Pfabric { .. });
    let wants = setup.transports.iter().map(|one| (one.name(), one.switch().queues));
    let mut wants = wants.filter(|(name, _)| *name == "pfabric");
    wants.find(|(_, wanted)| ranked(wanted) != ranked(&setup.params.switch.queues))
}

fn queues_setting(queues: &QueueParams) -> String {
    match queues {
        QueueParams::Shared => setting("queues", "shared"),
        QueueParams::DropTail { limit } => setting("queues.drop-tail.limit", limit),
        QueueParams::Pfabric { limit } => setting("queues.pfabric.limit", limit),
    }
}

fn queues(queues: &QueueParams) -> String {
    match queues {
        QueueParams::Shared => "one buffer for all ports".into(),
        QueueParams::DropTail { limit } => format!("{limit:#} per port, drop-tail"),
        QueueParams::Pfabric { limit } => format!("{limit:#} per port, in pFabric's order"),
    }
}
