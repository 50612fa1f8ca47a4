//! Scenario summary before a run.

use std::collections::BTreeSet;
use std::fmt;

use incast_model::echo::counted;
use incast_model::fabric::{Fabric, HostId, PortId, Summary};
use incast_model::flow::{Flow, FlowSet};
use incast_model::gates::never_start;
use incast_model::routing::Paths;
use incast_model::units::{Bytes, Time};
use incast_model::workload::{OfferedLoad, WorkloadSpec};
use incast_sim::balance::Balance;
use incast_sim::host::Recovery;
use incast_sim::network::PauseParams;
use incast_sim::switch::EcnParams;
use incast_sim::tenant::Hypervisor;
use incast_sim::{Setup, Uncut};
use serde::Serialize;

use crate::scenario::{Patch, Prepared, Scenario, marking, tagging};
use crate::warning::Warning;

mod buffers;
mod classes;
mod estimate;
mod offered;
mod sources;
#[cfg(test)]
mod tests;
mod vms;

pub use buffers::{BufferShow, PortShow, SwitchShow};
pub use estimate::Estimate;
pub use sources::Setting;
pub use vms::{AdmissionShow, CutShow, TenantShow, VmsShow};

/// Summary of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Show {
    /// Scenario as TOML with defaults.
    pub scenario: String,
    /// Fabric in numbers.
    pub fabric: Summary,
    /// VMs and tenants; `None` without VMs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vms: Option<VmsShow>,
    /// Flows by label.
    pub labels: Vec<LabelShow>,
    /// Expected load of links, from entries with rate or load.
    pub offered: Vec<OfferedLoad>,
    /// Traffic with synthetic stand-ins for unpublished measurements.
    pub synthetic: Vec<String>,
    /// Schemes to simulate; none without a workload.
    pub schemes: Vec<SchemeShow>,
    /// Buffers of switches and thresholds of ports, of schemes with equal ones.
    pub buffers: Vec<BufferShow>,
    /// Estimate of the run; `None` without a workload.
    pub estimate: Option<Estimate>,
    /// Warnings with their parameters.
    pub warnings: Vec<Warning>,
}

/// Numbers of one label's flows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabelShow {
    /// Label.
    pub label: String,
    /// Number of flows.
    pub flows: usize,
    /// Payload of flows with a size.
    pub bytes: Bytes,
    /// Flows with an end but no size (always have data).
    pub backlogged: usize,
    /// Start of the first flow.
    pub first: Time,
    /// Start of the last flow.
    pub last: Time,
    /// Flows that wait for others' ends.
    pub waiting: usize,
    /// Flows that never start if their entry ends first.
    pub may_be_cancelled: usize,
    /// Payload from the first to the last start time, without the last one's, as a fraction of all hosts' (with VMs: servers') NIC
    /// rates; `None`: one start time,
    /// dependencies, or backlogged flows.
    pub load: Option<f64>,
}

/// A scheme to simulate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SchemeShow {
    /// Name.
    pub name: String,
    /// Controls with windows: `dcqcn, window rate`.
    pub controls: Vec<String>,
    /// Hypervisor in a line, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<String>,
    /// ECN settings and their sources.
    pub ecn: String,
    /// Non-default network settings: `load balancing spray`, ….
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<String>,
    /// Reason for which one thread simulates it; `None`: several can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_thread: Option<String>,
}

/// Typical packet-hops per second of a server's core.
pub const TYPICAL_RATE: f64 = 8e6;

/// Summarises a scenario for a core of `packet_hops_per_s` (default [`TYPICAL_RATE`]).
pub fn show(prepared: &Prepared, packet_hops_per_s: f64) -> Show {
    if prepared.stand_ins.workload {
        return of_fabric(prepared);
    }
    let scenario = &prepared.scenario;
    let (fabric, flows) = (&prepared.fabric, &prepared.flows);
    let routes = prepared.routes();
    let links = |flow: &Flow| prepared.links(&routes, flow);
    let offered = prepared.loads(|| &routes);
    Show {
        scenario: scenario.to_toml(),
        fabric: Summary::new(fabric, scenario.packets.payload),
        vms: VmsShow::new(prepared),
        labels: labels(fabric, flows),
        offered: offered.clone(),
        synthetic: synthetic(&scenario.workload),
        schemes: prepared
            .schemes
            .iter()
            .map(|scheme| SchemeShow {
                name: scheme.name.clone(),
                controls: carriers(&scheme.setup),
                hypervisor: scheme.setup.params.hypervisor.as_ref().map(behind),
                ecn: format!("{} ({})", marking(&scheme.setup.params.ecn), marking_source(scenario, &scheme.name)),
                network: network(&scheme.setup),
                one_thread: Uncut::of(&scheme.setup).map(|reason| reason.to_string()),
            })
            .collect(),
        buffers: buffers::of_schemes(prepared),
        estimate: Some(Estimate::new(prepared, &routes, links, packet_hops_per_s)),
        warnings: prepared.warnings_with(links, || offered).to_vec(),
    }
}

/// Summarises a scenario without a workload.
fn of_fabric(prepared: &Prepared) -> Show {
    let scenario = &prepared.scenario;
    Show {
        scenario: scenario.toml_without(prepared.stand_ins),
        fabric: Summary::new(&prepared.fabric, scenario.packets.payload),
        vms: VmsShow::new(prepared),
        labels: Vec::new(),
        offered: Vec::new(),
        synthetic: Vec::new(),
        schemes: Vec::new(),
        buffers: buffers::of_schemes(prepared),
        estimate: None,
        warnings: Vec::new(),
    }
}

/// Notes about entries with synthetic stand-ins for unpublished measurements.
pub fn synthetic(workload: &[WorkloadSpec]) -> Vec<String> {
    let application = |entry: &WorkloadSpec| entry.disaggregated.as_ref().and_then(|one| one.application);
    let described = |(index, entry)| {
        let name = serde_json::to_value(application(entry)?).ok()?;
        let name = name.as_str()?.to_owned();
        Some(format!("workload[{index}]: {name}: shares, sizes and gaps of flows are modelled, not measured"))
    };
    workload.iter().enumerate().filter_map(described).collect()
}

fn carriers(setup: &Setup) -> Vec<String> {
    let controls =
        setup.controls.iter().map(|one| format!("{}, window {}", one.control.name(), window_name(one.window)));
    controls.chain(setup.transports.iter().map(|one| one.name().to_owned())).collect()
}

/// Most specific first.
fn marking_source(scenario: &Scenario, name: &str) -> String {
    let Some(scheme) = scenario.scheme.get(name) else { return String::new() };
    let keys = |patch: &Patch<EcnParams>| patch.given().keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let mut parts = Vec::new();
    if !scheme.ecn.is_empty() {
        parts.push(format!("{}: scheme", keys(&scheme.ecn)));
    }
    if !scenario.ecn.is_empty() {
        parts.push(format!("{}: [ecn]", keys(&scenario.ecn)));
    }
    let rest = match scheme.wanted_ecn() {
        Some(_) => match scheme.hypervisor.as_ref().filter(|one| one.ecn().is_some()) {
            Some(hypervisor) => format!("default of {}", hypervisor.name()),
            None => format!("default of {}", scheme.carrier()),
        },
        None => "default".into(),
    };
    parts.push(if parts.is_empty() { rest } else { format!("rest: {rest}") });
    parts.join("; ")
}

fn behind(hypervisor: &Hypervisor) -> String {
    let periods = hypervisor.periods().into_iter().map(|(field, time)| format!("{field} {time:#}"));
    let marks = hypervisor.ecn().map(|_| "reacts to ECN marks".to_owned());
    std::iter::once(hypervisor.name().to_owned()).chain(periods).chain(marks).collect::<Vec<_>>().join(", ")
}

fn network(setup: &Setup) -> Vec<String> {
    let params = &setup.params.network;
    let mut said = Vec::new();
    if params.routing != Paths::Shortest {
        said.push(format!("{} routing", params.routing.name()));
    }
    if params.load_balancing != Balance::Ecmp {
        said.push(format!("load balancing {}", params.load_balancing.name()));
    }
    let rdma = &setup.params.rdma;
    if rdma.recovery == Recovery::SelectiveRepeat && !setup.controls.is_empty() {
        let payload = setup.params.packets.payload;
        let bdp = setup.params.longest_rtt(&setup.fabric, payload).1;
        let window = rdma.reorder_packets(&params.load_balancing, bdp, payload);
        let source = if rdma.reorder_window.is_some() { "" } else { " (default)" };
        said.push(format!("selective repeat, reordering window {}{source}", counted(window.into(), "packet")));
    }
    if !params.route.is_empty() {
        said.push(counted(params.route.len() as u64, "given route"));
    }
    if !params.failure.is_empty() {
        let failures = counted(params.failure.len() as u64, "failure");
        let follows = params.reroute_after.map_or("no rerouting".into(), |after| format!("rerouting after {after:#}"));
        said.push(format!("{failures}, {follows}"));
    }
    if let [first, rest @ ..] = &params.pause[..] {
        let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
        let storms = counted(params.pause.len() as u64, "PFC storm");
        said.push(format!("{storms}: {}{more}", storm(first)));
    }
    said.extend(tagging::summary(&setup.params, setup.tags.as_deref()));
    said.extend(classes::summary(&setup.params));
    let guards = setup.params.switch.guards().filter(|(_, guard)| guard.enabled());
    said.extend(guards.filter_map(|(_, guard)| guard.summary()));
    said
}

fn storm(pause: &PauseParams) -> String {
    let peer = pause.peer.as_ref().map_or_else(String::new, |peer| format!(" to {peer}"));
    let time = match pause.until {
        Some(until) if pause.random.is_some() => format!("at random from {:#} to {until:#}", pause.from),
        Some(until) => format!("{:#} to {until:#}", pause.from),
        None => format!("from {:#} on", pause.from),
    };
    format!("{}{peer}, priority {}, {time}", pause.at, pause.priority)
}

fn window_name(window: incast_sim::congestion::WindowMode) -> String {
    match serde_json::to_value(window) {
        Ok(serde_json::Value::String(name)) => name,
        _ => format!("{window:?}"),
    }
}

fn labels(fabric: &Fabric, flows: &FlowSet) -> Vec<LabelShow> {
    // VMs of a server share its NIC.
    let capacity: f64 = match fabric.servers() {
        [] => {
            let hosts = (0..fabric.endpoints().len() as u32).map(HostId);
            hosts.flat_map(|host| fabric.network_ports(host)).map(|port| rate(fabric, port)).sum()
        }
        servers => servers.iter().flat_map(|&server| fabric.nic_ports(server)).map(|port| rate(fabric, port)).sum(),
    };
    let none = || vec![false; flows.flows.len()];
    let waits = never_start(&flows.gates, |_| true, none());
    let may_not = never_start(&flows.gates, |gate| gate.round.is_some(), none());
    let of_label = |(index, label): (usize, &String)| {
        let mine = || flows.flows.iter().filter(move |flow| usize::from(flow.label) == index);
        let (first, last) = (mine().map(|flow| flow.start).min()?, mine().map(|flow| flow.start).max()?);
        let backlogged = mine().filter(|flow| flow.until.is_some()).count();
        let bytes: Bytes = mine().filter(|flow| flow.until.is_none()).map(|flow| flow.size).sum();
        let span = last.saturating_sub(first).seconds();
        let here = |(flow, wanted): &(&Flow, &bool)| usize::from(flow.label) == index && **wanted;
        let count = |wanted: &[bool]| flows.flows.iter().zip(wanted).filter(here).count();
        let (waiting, may_be_cancelled) = (count(&waits), count(&may_not));
        let load = (span > 0.0 && waiting == 0 && backlogged == 0).then(|| {
            // Between n start times are n - 1 intervals.
            let times = mine().map(|flow| flow.start).collect::<BTreeSet<_>>().len() as f64;
            bytes.0 as f64 * 8.0 * (times - 1.0) / times / span / capacity
        });
        let (label, flows) = (label.clone(), mine().count());
        Some(LabelShow { label, flows, bytes, backlogged, first, last, waiting, may_be_cancelled, load })
    };
    flows.labels.iter().enumerate().filter_map(of_label).collect()
}

fn rate(fabric: &Fabric, port: PortId) -> f64 {
    fabric.rate(port).0 as f64
}

fn payload(bytes: Bytes) -> String {
    let megabytes = bytes.0 as f64 / 1e6;
    if megabytes < 1e3 { format!("{megabytes:.3} MB") } else { format!("{:.3} GB", megabytes / 1e3) }
}

impl fmt::Display for Show {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fabric = &self.fabric;
        let switches = counted(fabric.switches() as u64, "switch");
        match &self.vms {
            None => write!(f, "fabric     {}, {switches}", counted(fabric.hosts as u64, "host"))?,
            Some(vms) => {
                let switches = counted((fabric.switches() - vms.servers) as u64, "switch");
                write!(f, "fabric     {}, {switches}", counted(vms.servers as u64, "server"))?;
            }
        }
        for kind in &fabric.links {
            write!(f, ", {} of {:#} and {:#}", counted(kind.links as u64, "link"), kind.rate, kind.delay)?;
        }
        write!(
            f,
            "\n           longest base RTT {:#}, largest bandwidth-delay product {:#}",
            fabric.max_base_rtt, fabric.max_bdp
        )?;
        if let Some(bisection) = fabric.bisection {
            write!(f, ", bisection {bisection:#} each way")?;
        }
        for tier in &fabric.tiers {
            if let Some(ratio) = tier.oversubscription.filter(|ratio| *ratio > 1.0) {
                write!(f, "\n           tier {}: oversubscribed {ratio:.2} to 1", tier.tier)?;
            }
        }
        if let Some(vms) = &self.vms {
            write!(f, "{vms}")?;
        }
        for label in &self.labels {
            write!(
                f,
                "\nflows      {}: {}, {}",
                label.label,
                counted(label.flows as u64, "flow"),
                payload(label.bytes)
            )?;
            if label.backlogged > 0 {
                write!(f, ", {} backlogged", label.backlogged)?;
            }
            match label.load {
                Some(load) => {
                    let (from, to) = (label.first.seconds() * 1e3, label.last.seconds() * 1e3);
                    write!(
                        f,
                        ", starts from {from:.3} to {to:.3} ms, load {:.1} % of all {}' rate",
                        load * 100.0,
                        if self.vms.is_some() { "servers" } else { "hosts" }
                    )?;
                }
                None if label.waiting > 0 => {
                    write!(f, ", {} with dependencies", label.waiting)?;
                    if label.may_be_cancelled > 0 {
                        write!(f, " ({} cancelled if not started by the entry's end)", label.may_be_cancelled)?;
                    }
                }
                None if label.first == label.last => write!(f, ", all start at {:#}", label.first)?,
                None => write!(f, ", start from {:#} to {:#}", label.first, label.last)?,
            }
        }
        write!(f, "{}", offered::Lines(&self.offered))?;
        for text in &self.synthetic {
            write!(f, "\nsynthetic  {text}")?;
        }
        for scheme in &self.schemes {
            write!(f, "\nscheme     {}: {}", scheme.name, scheme.controls.join("; "))?;
            if let Some(hypervisor) = &scheme.hypervisor {
                write!(f, "\n           hypervisor: {hypervisor}")?;
            }
            write!(f, "\n           ECN: {}", scheme.ecn)?;
            if !scheme.network.is_empty() {
                write!(f, "\n           {}", scheme.network.join("; "))?;
            }
            if let Some(reason) = &scheme.one_thread {
                write!(f, "\n           one thread: {reason}")?;
            }
        }
        // Without schemes one stands in for all.
        let schemes = self.buffers.iter().map(|buffers| buffers.schemes.len()).sum();
        self.buffers.iter().try_for_each(|buffers| buffers.write(f, schemes))?;
        if let Some(estimate) = &self.estimate {
            write!(f, "{estimate}")?;
        }
        for warning in &self.warnings {
            write!(f, "\nwarning    {}", warning.summary(self.schemes.len()))?;
        }
        Ok(())
    }
}
