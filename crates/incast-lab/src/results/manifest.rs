//! Description of a results folder: `manifest.json`.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use incast_model::echo::counted;
use incast_model::fabric::Fabric;
use incast_sim::Outcome;
use incast_sim::measure::Fingerprint;
use incast_sim::outcome::{CutOff, FlowStatus, Obstacle, QueueRef, Stop, StopReason};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::deadlocks::{DeadlockManifest, QueueManifest, path};
use super::labels::Labels;
use super::simulate::SchemeRun;
use super::warnings;
use crate::scenario::Prepared;
use crate::warning::Warning;

/// Layout version of results folders.
pub const FORMAT: u32 = 1;

/// Content of `manifest.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Layout version.
    pub format: u32,
    /// Version of incast.
    pub incast: String,
    /// Digest of incast's sources: equal digests give interchangeable results.
    #[serde(default)]
    pub build: String,
    /// Labels of this run, each a column of its tables.
    #[serde(default, rename = "columns", skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// Scenario's title.
    pub title: Option<String>,
    /// SHA-256 of `scenario.toml`.
    pub scenario_sha256: String,
    /// Folder of relative file names, from the results folder; `None` if the scenario has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario_dir: Option<PathBuf>,
    /// Seed.
    pub seed: u64,
    /// Machine of the run.
    pub machine: Machine,
    /// Wall seconds of all simulations.
    pub wall_s: f64,
    /// CPU seconds of all simulations.
    pub cpu_s: f64,
    /// Size of the fabric.
    pub fabric: FabricCounts,
    /// Number of flows.
    pub flows: u64,
    /// Payload bytes of all flows.
    pub flow_bytes: u64,
    /// Warnings of scenario, then run.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// Runs by scheme, in the scenario's order.
    pub schemes: IndexMap<String, SchemeManifest>,
    /// Files of the tables.
    pub tables: IndexMap<String, TableManifest>,
}

/// Machine that ran a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Processor model.
    pub cpu: String,
    /// Cores available to the process.
    pub cores: usize,
    /// Operating system and architecture.
    pub os: String,
}

/// Size of a fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FabricCounts {
    /// Hosts.
    pub hosts: usize,
    /// Switches.
    pub switches: usize,
    /// Full-duplex links.
    pub links: usize,
}

/// Run of one scheme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SchemeManifest {
    /// Names of congestion controls and transports.
    pub controls: Vec<String>,
    /// Reason and state at the stop.
    pub stop: StopManifest,
    /// Simulated picoseconds at the stop.
    pub end_ps: u64,
    /// Flows completed.
    pub completed: u64,
    /// Lossless packets without buffer space: above 0 the headroom failed. `counts` has the PFC watchdog's drops.
    pub lossless_drops: u64,
    /// Work by kind (simulator's `Counts`).
    pub counts: Map<String, Value>,
    /// Counters of hypervisors, if any.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub hypervisors: Map<String, Value>,
    /// Wire bytes by fate, for priorities 0 to 7; always balanced.
    pub ledger: Map<String, Value>,
    /// PFC deadlocks in order of detection, ended ones included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deadlocks: Vec<DeadlockManifest>,
    /// Digests (`measure.fingerprint`): equal for equal runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<FingerprintManifest>,
    /// Wall seconds of this simulation.
    pub wall_s: f64,
    /// CPU seconds of this simulation.
    pub cpu_s: f64,
    /// Threads of this simulation.
    #[serde(default = "one")]
    pub threads: usize,
    /// Packets per CPU second, counted per link crossed.
    pub packet_hops_per_s: f64,
}

const fn one() -> usize {
    1
}

/// Digests of a run, 16 hexadecimal digits each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FingerprintManifest {
    /// Digest of every event, in order.
    pub trajectory: String,
    /// Digest of packets that crossed links.
    pub traffic: String,
}

impl From<Fingerprint> for FingerprintManifest {
    fn from(fingerprint: Fingerprint) -> Self {
        let digits = |digest: u64| format!("{digest:016x}");
        Self { trajectory: digits(fingerprint.trajectory), traffic: digits(fingerprint.traffic) }
    }
}

/// Reason of a stop, with flows and queues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopManifest {
    /// Name of a [`StopReason`].
    pub reason: String,
    /// Flows started, not completed; without backlogged ones at the horizon.
    pub unfinished: u32,
    /// Flows not started, without cancelled ones.
    #[serde(default)]
    pub not_started: u32,
    /// Flows cancelled at their entry's end.
    #[serde(default)]
    pub cancelled: u32,
    /// Deadlock's cycle: each egress queue waits for the next, cyclically.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<QueueManifest>,
    /// Stalled run: first flows without progress.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalled: Vec<u32>,
    /// Flows cut off by link failures or `network.pause`, at most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut_off: Vec<CutOffManifest>,
    /// Text form.
    pub text: String,
}

/// Flow cut off by a link failure or `network.pause`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutOffManifest {
    /// Number of the flow.
    pub flow: u32,
    /// Obstructed packets: `data` or `acks`.
    pub what: String,
    /// Reason and place: `the link from leaf0 to spine1 is down`.
    pub why: String,
}

impl CutOffManifest {
    fn of(cut: &CutOff, fabric: &Fabric) -> Self {
        let name = |node| &fabric.node(node).name;
        let link = |port| format!("the link from {} to {}", name(fabric.port(port).node), name(fabric.neighbour(port)));
        let why = match cut.place {
            Obstacle::Down(port) => format!("{} is down", link(port)),
            Obstacle::Silent(port) => format!("{} loses all packets (gray failure)", link(port)),
            Obstacle::NoRoute(node) => format!("{} has no route", name(node)),
            Obstacle::Loop(node) => format!("the routes lead back to {}", name(node)),
            Obstacle::Expired(node) => format!("network.ttl ends their packets at {}", name(node)),
            Obstacle::Held(QueueRef { port, priority }) => {
                let by = name(fabric.neighbour(port));
                format!("{} is paused by {by} itself for priority {priority}", link(port))
            }
        };
        Self { flow: cut.flow, what: if cut.acks { "ACKs" } else { "data" }.into(), why }
    }
}

/// File of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableManifest {
    /// Rows.
    pub rows: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// SHA-256 of the file.
    pub sha256: String,
}

pub(super) fn sha256(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

pub(super) fn sha256_of_file(file: &Path) -> io::Result<String> {
    let mut digest = Sha256::new();
    io::copy(&mut io::BufReader::with_capacity(1 << 20, File::open(file)?), &mut digest)?;
    Ok(hex(&digest.finalize()))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn known(text: &str) -> String {
    if text.trim().is_empty() { "unknown".to_owned() } else { text.trim().to_owned() }
}

impl Machine {
    /// Describes this machine.
    pub fn this() -> Self {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        Self {
            cpu: known(model.map_or("", |(_, model)| model)),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        }
    }
}

/// Most flows that are cut off in a list (our choice).
const NAMED: usize = 100;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Left {
    pub(super) not_started: u32,
    /// Flows in progress without a size to complete.
    pub(super) backlogged: u32,
    pub(super) cancelled: u32,
    /// Flows of UDP with lost bytes.
    pub(super) partial: u32,
}

impl Left {
    fn of(prepared: &Prepared, outcome: &Outcome) -> Self {
        let flows = || prepared.flows.flows.iter().zip(&outcome.flows);
        let backlogged =
            flows().filter(|(flow, record)| flow.until.is_some() && record.status() == FlowStatus::Incomplete);
        Self {
            not_started: outcome.with_status(FlowStatus::NotStarted) as u32,
            backlogged: backlogged.count() as u32,
            cancelled: outcome.cancelled() as u32,
            partial: outcome.with_status(FlowStatus::Partial) as u32,
        }
    }
}

fn flows(count: u32, one: &str, many: &str) -> String {
    match count {
        0 => format!("no flow {one}"),
        1 => format!("1 flow {one}"),
        _ => format!("{} {many}", counted(count.into(), "flow")),
    }
}

impl StopManifest {
    /// A stop without counts of other flows.
    pub fn of(stop: &Stop, fabric: &Fabric) -> Self {
        Self::with(stop, Left::default(), fabric)
    }

    pub(super) fn with(stop: &Stop, left: Left, fabric: &Fabric) -> Self {
        let reason = stop.reason();
        let backlogged = if reason == StopReason::Horizon { left.backlogged } else { 0 };
        let mut found = Self {
            reason: reason.name().into(),
            unfinished: stop.unfinished().saturating_sub(left.not_started + backlogged),
            not_started: left.not_started,
            cancelled: left.cancelled,
            cycle: Vec::new(),
            stalled: Vec::new(),
            cut_off: Vec::new(),
            text: reason.meaning().into(),
        };
        let mut first = String::new();
        match stop {
            Stop::Finished if left.partial > 0 || left.cancelled > 0 => found.text = "every flow ended".into(),
            Stop::Deadlock { cycle, .. } => {
                found.cycle = cycle.iter().map(|at| QueueManifest::of(at, fabric)).collect();
                let queues = found.cycle.len();
                found.text += &format!(": {queues} paused queues wait for each other: {}", path(&found.cycle));
            }
            Stop::Stalled { flows, .. } => {
                let named: Vec<String> = flows.iter().take(5).map(u32::to_string).collect();
                first = format!(" (first: {})", named.join(", "));
                found.stalled.clone_from(flows);
            }
            _ => {}
        }
        let mut parts = Vec::new();
        let rest = left.not_started + backlogged;
        if reason != StopReason::Finished && (found.unfinished > 0 || rest == 0) {
            parts.push(flows(found.unfinished, "is incomplete", "are incomplete") + &first);
        }
        let others = [
            (left.not_started, "had not started", "had not started"),
            (backlogged, "was backlogged until then", "were backlogged until then"),
            (left.partial, "of UDP lost bytes", "of UDP lost bytes"),
            (
                left.cancelled,
                "was cancelled at the end of its workload entry",
                "were cancelled at the end of their workload entry",
            ),
        ];
        parts.extend(others.iter().filter(|(count, ..)| *count > 0).map(|&(count, one, many)| flows(count, one, many)));
        for one in parts {
            found.text += "; ";
            found.text += &one;
        }
        found
    }

    #[must_use]
    pub(super) fn cut_off(mut self, flows: &[CutOff], fabric: &Fabric) -> Self {
        self.cut_off = flows.iter().take(NAMED).map(|cut| CutOffManifest::of(cut, fabric)).collect();
        if let Some(first) = self.cut_off.first() {
            let more = match flows.len() {
                1 => String::new(),
                2 => "; so are data or ACKs of 1 more flow".to_owned(),
                many => format!("; so are data or ACKs of {} more flows", many - 1),
            };
            self.text += &format!("; {} of flow {} are cut off: {}{more}", first.what, first.flow, first.why);
        }
        self
    }
}

impl SchemeManifest {
    pub(super) fn of(run: &SchemeRun, prepared: &Prepared) -> Self {
        let outcome = &run.outcome;
        let table = |value: Result<Value, serde_json::Error>| match value {
            Ok(Value::Object(table)) => table,
            _ => Map::new(),
        };
        let setup = prepared.schemes.iter().find(|scheme| scheme.name == run.name).map(|scheme| &scheme.setup);
        let controls = setup.map(|setup| {
            let controls = setup.controls.iter().map(|one| one.control.name().to_owned());
            controls.chain(setup.transports.iter().map(|one| one.name().to_owned())).collect()
        });
        Self {
            controls: controls.unwrap_or_default(),
            stop: StopManifest::with(&outcome.stop, Left::of(prepared, outcome), &prepared.fabric)
                .cut_off(&outcome.cut_off, &prepared.fabric),
            end_ps: outcome.end.0,
            completed: outcome.flows.iter().filter(|flow| flow.finish.is_some()).count() as u64,
            lossless_drops: outcome.counts.lossless_drops,
            counts: table(serde_json::to_value(outcome.counts)),
            hypervisors: if setup.is_some_and(|setup| setup.params.hypervisor.is_some()) {
                table(serde_json::to_value(outcome.hypervisors))
            } else {
                Map::new()
            },
            ledger: table(serde_json::to_value(outcome.ledger)),
            deadlocks: outcome.deadlocks.iter().map(|one| DeadlockManifest::of(one, &prepared.fabric)).collect(),
            fingerprint: outcome.fingerprint.map(FingerprintManifest::from),
            wall_s: seconds(run.wall),
            cpu_s: seconds(run.cpu),
            threads: outcome.threads.count,
            packet_hops_per_s: (outcome.counts.packet_hops() as f64 / run.cpu.as_secs_f64().max(1e-6)).round(),
        }
    }
}

fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e3).round() / 1e3
}

impl Manifest {
    pub(super) fn of(prepared: &Prepared, runs: &[SchemeRun], scenario: &str, wall: Duration) -> Self {
        let fabric = &prepared.fabric;
        let hosts = fabric.hosts().len();
        Self {
            format: FORMAT,
            incast: env!("CARGO_PKG_VERSION").into(),
            build: crate::BUILD.into(),
            labels: Labels::default(),
            title: prepared.scenario.title.clone(),
            scenario_sha256: sha256(scenario.as_bytes()),
            scenario_dir: None,
            seed: prepared.scenario.seed,
            machine: Machine::this(),
            wall_s: seconds(wall),
            cpu_s: seconds(runs.iter().map(|run| run.cpu).sum()),
            fabric: FabricCounts { hosts, switches: fabric.nodes().len() - hosts, links: fabric.links().len() },
            flows: prepared.flows.flows.len() as u64,
            flow_bytes: prepared.flows.bytes().0,
            warnings: warnings::of_run(prepared, runs),
            schemes: runs.iter().map(|run| (run.name.clone(), SchemeManifest::of(run, prepared))).collect(),
            tables: IndexMap::new(),
        }
    }
}
