//! What a results folder says of itself: `manifest.json`.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use incast_model::fabric::Fabric;
use incast_sim::Outcome;
use incast_sim::measure::Fingerprint;
use incast_sim::outcome::{CutOff, FlowStatus, Obstacle, QueueRef, Stop};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::deadlocks::{DeadlockManifest, path};
use super::labels::Labels;
use super::simulate::SchemeRun;
use super::warnings;
use crate::scenario::Prepared;
use crate::warnings::Warning;

/// Version of the layout of results folders.
pub const FORMAT: u32 = 1;

/// What a results folder says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the folder's layout.
    pub format: u32,
    /// Version of incast that wrote it.
    pub incast: String,
    /// Digest of the sources of that version: equal where results can stand for each other.
    #[serde(default)]
    pub build: String,
    /// What sets this run apart from others that it is compared with; its tables have a column for each.
    #[serde(default, rename = "columns", skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// The scenario's title, if it has one.
    pub title: Option<String>,
    /// SHA-256 of `scenario.toml`.
    pub scenario_sha256: String,
    /// The folder that the scenario's relative files start at.
    pub scenario_dir: PathBuf,
    /// The scenario's seed.
    pub seed: u64,
    /// The machine that ran it.
    pub machine: Machine,
    /// Wall time of all simulations together, in seconds.
    pub wall_s: f64,
    /// CPU time of all simulations together, in seconds.
    pub cpu_s: f64,
    /// Hosts, switches and links of the fabric.
    pub fabric: FabricCounts,
    /// Number of flows.
    pub flows: u64,
    /// Payload of all flows, in bytes.
    pub flow_bytes: u64,
    /// Warnings, to check before the results are trusted: those of the scenario, then those that only the run showed.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// Each scheme's run, in the scenario's order.
    pub schemes: IndexMap<String, SchemeManifest>,
    /// Each table's file.
    pub tables: IndexMap<String, TableManifest>,
}

/// The machine that ran a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name.
    pub host: String,
    /// Model of its processor.
    pub cpu: String,
    /// Cores that the process could use.
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

/// What a manifest says of one scheme's run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SchemeManifest {
    /// Names of the congestion controls in use.
    pub controls: Vec<String>,
    /// Why the run stopped, and who is concerned.
    pub stop: StopManifest,
    /// Simulated time at the stop, in picoseconds.
    pub end_ps: u64,
    /// Flows completed.
    pub completed: u64,
    /// Packets of lossless priorities that found no room: more than 0 is a failure of the headroom. What a PFC watchdog dropped
    /// is not among them: `watchdog_drops`, `watchdog_lossless_drops` and `watchdog_bytes` in `counts`.
    pub lossless_drops: u64,
    /// Work done, by kind (see the simulator's `Counts`).
    pub counts: Map<String, Value>,
    /// What hypervisors did: messages between them and their bytes, limits found, guarantees divided. Only where there are any.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub hypervisors: Map<String, Value>,
    /// Wire bytes by fate, for priorities 0 to 7; always balanced.
    pub ledger: Map<String, Value>,
    /// Deadlocks of PFC, in order of their discovery, also those that a watchdog ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deadlocks: Vec<DeadlockManifest>,
    /// Digests of the run, where `measure.fingerprint` asks for them: equal where two runs are equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<FingerprintManifest>,
    /// Wall time of this simulation, in seconds.
    pub wall_s: f64,
    /// CPU time of this simulation, in seconds.
    pub cpu_s: f64,
    /// Packets, counted once per link crossed, for each second of CPU time.
    pub packet_hops_per_s: f64,
}

/// Digests of a run, as 16 hexadecimal digits each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FingerprintManifest {
    /// Of every event, in order.
    pub trajectory: String,
    /// Of every packet that reached the end of a link.
    pub traffic: String,
}

impl From<Fingerprint> for FingerprintManifest {
    fn from(fingerprint: Fingerprint) -> Self {
        let digits = |digest: u64| format!("{digest:016x}");
        Self { trajectory: digits(fingerprint.trajectory), traffic: digits(fingerprint.traffic) }
    }
}

/// Why a run stopped, and who is concerned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopManifest {
    /// `finished`, `horizon`, `budget`, `deadlock`, `stalled` or `interrupted`.
    pub reason: String,
    /// Flows that had started and not completed.
    pub unfinished: u32,
    /// Flows that had not started when the run stopped, without those cancelled.
    #[serde(default)]
    pub not_started: u32,
    /// Flows that were not to start, because their entry's end had come.
    #[serde(default)]
    pub cancelled: u32,
    /// Of a deadlock: the egress queues that wait on each other, each for the next, the last for the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<QueueManifest>,
    /// Of a stalled run: the first flows without progress.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalled: Vec<u32>,
    /// Flows that failures of links, or pauses that nodes send by themselves, kept from completing (at most 100), each with
    /// where.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut_off: Vec<CutOffManifest>,
    /// The same in a sentence.
    pub text: String,
}

/// An egress queue, by names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueManifest {
    /// Number of its port, over the whole fabric.
    pub port: u32,
    /// Name of the node it belongs to.
    pub node: String,
    /// Name of the node it leads to.
    pub peer: String,
    /// Its priority.
    pub priority: u8,
}

/// A flow that failures of links, or pauses that nodes send by themselves, kept from completing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutOffManifest {
    /// Number of the flow.
    pub flow: u32,
    /// `data` or `acks`: what did not come through.
    pub what: String,
    /// Why and where, such as `the link from leaf0 to spine1 is down`.
    pub why: String,
}

impl QueueManifest {
    pub(super) fn of(queue: &QueueRef, fabric: &Fabric) -> Self {
        let name = |node| fabric.node(node).name.clone();
        let (port, from, to) = (queue.port, fabric.port(queue.port).node, fabric.neighbour(queue.port));
        Self { port: port.0, node: name(from), peer: name(to), priority: queue.priority }
    }
}

impl CutOffManifest {
    fn of(cut: &CutOff, fabric: &Fabric) -> Self {
        let name = |node| &fabric.node(node).name;
        let link = |port| format!("the link from {} to {}", name(fabric.port(port).node), name(fabric.neighbour(port)));
        let why = match cut.place {
            Obstacle::Down(port) => format!("{} is down", link(port)),
            Obstacle::Silent(port) => format!("{} loses all packets (gray failure)", link(port)),
            Obstacle::NoRoute(node) => format!("{} has no route", name(node)),
            Obstacle::Held(QueueRef { port, priority }) => {
                let by = name(fabric.neighbour(port));
                format!("{} is paused by {by} itself for priority {priority}", link(port))
            }
        };
        Self { flow: cut.flow, what: if cut.acks { "acks" } else { "data" }.into(), why }
    }
}

/// A table's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableManifest {
    /// Its rows.
    pub rows: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// SHA-256 of the file.
    pub sha256: String,
}

/// SHA-256 in hexadecimal.
pub(super) fn sha256(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

/// SHA-256 of a file in hexadecimal.
pub(super) fn sha256_of_file(file: &Path) -> io::Result<String> {
    let mut digest = Sha256::new();
    io::copy(&mut io::BufReader::with_capacity(1 << 20, File::open(file)?), &mut digest)?;
    Ok(hex(&digest.finalize()))
}

/// Lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Name of this machine, or of this container.
pub(super) fn host_name() -> String {
    known(&std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default())
}

/// A text of the operating system, or `unknown`.
fn known(text: &str) -> String {
    if text.trim().is_empty() { "unknown".to_owned() } else { text.trim().to_owned() }
}

impl Machine {
    /// This one.
    pub fn this() -> Self {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        Self {
            host: host_name(),
            cpu: known(model.map_or("", |(_, model)| model)),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        }
    }
}

/// Flows of a run that did not complete for reasons of their own.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Left {
    /// Flows that had not started when the run stopped.
    pub(super) not_started: u32,
    /// Flows without a size that had not ended when the run stopped: nothing of them is incomplete.
    pub(super) backlogged: u32,
    /// Flows that were not to start, because their entry's end had come.
    pub(super) cancelled: u32,
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
        }
    }
}

/// A number of flows with what happened to them, in the singular or plural.
fn flows(count: u32, one: &str, many: &str) -> String {
    match count {
        0 => format!("no flow {one}"),
        1 => format!("1 flow {one}"),
        _ => format!("{count} flows {many}"),
    }
}

impl StopManifest {
    /// Of a run on a fabric.
    pub fn of(stop: &Stop, fabric: &Fabric) -> Self {
        Self::with(stop, Left::default(), fabric)
    }

    /// The same, with the flows that did not complete for reasons of their own.
    pub(super) fn with(stop: &Stop, left: Left, fabric: &Fabric) -> Self {
        let (reason, unfinished, why) = match stop {
            Stop::Finished => ("finished", 0, "every flow completed".to_owned()),
            Stop::Horizon { unfinished } => ("horizon", *unfinished, "stopped at the horizon".into()),
            Stop::Budget { unfinished } => ("budget", *unfinished, "stopped after simulation.max_events".into()),
            Stop::Interrupted { unfinished } => ("interrupted", *unfinished, "interrupted".into()),
            Stop::Deadlock { unfinished, .. } => ("deadlock", *unfinished, "deadlock".into()),
            Stop::Stalled { unfinished, .. } => ("stalled", *unfinished, "stalled: no packet can move".into()),
        };
        let backlogged = if matches!(stop, Stop::Horizon { .. }) { left.backlogged } else { 0 };
        let mut found = Self {
            reason: reason.into(),
            unfinished: unfinished.saturating_sub(left.not_started + backlogged),
            not_started: left.not_started,
            cancelled: left.cancelled,
            cycle: Vec::new(),
            stalled: Vec::new(),
            cut_off: Vec::new(),
            text: why,
        };
        let mut first = String::new();
        match stop {
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
        let mut told = Vec::new();
        let rest = left.not_started + backlogged;
        if *stop != Stop::Finished && (found.unfinished > 0 || rest == 0) {
            told.push(flows(found.unfinished, "is incomplete", "are incomplete") + &first);
        }
        let others = [
            (left.not_started, "had not started", "had not started"),
            (backlogged, "was backlogged until then", "were backlogged until then"),
            (
                left.cancelled,
                "was cancelled at the end of its workload entry",
                "were cancelled at the end of their workload entry",
            ),
        ];
        told.extend(others.iter().filter(|(count, ..)| *count > 0).map(|&(count, one, many)| flows(count, one, many)));
        for one in told {
            found.text += "; ";
            found.text += &one;
        }
        found
    }

    /// With the flows that failures, or pauses that nodes send by themselves, kept from completing.
    #[must_use]
    pub(super) fn cut_off(mut self, flows: &[CutOff], fabric: &Fabric) -> Self {
        self.cut_off = flows.iter().map(|cut| CutOffManifest::of(cut, fabric)).collect();
        if let Some(first) = self.cut_off.first() {
            let more = match self.cut_off.len() {
                1 => String::new(),
                many => format!(" (so are {} more)", many - 1),
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
            packet_hops_per_s: (outcome.counts.packet_hops() as f64 / run.cpu.as_secs_f64().max(1e-6)).round(),
        }
    }
}

/// To the millisecond: more is noise.
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
            // Where it cannot be made absolute it is no longer there, and what is known is as good as anything.
            scenario_dir: std::path::absolute(&prepared.base_dir).unwrap_or_else(|_| prepared.base_dir.clone()),
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
