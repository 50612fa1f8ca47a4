use incast_model::fabric::Fabric;
use incast_model::units::Time;
use incast_sim::outcome::{DeadlockRecord, QueueRef};
use serde::{Deserialize, Serialize};

/// PFC deadlock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadlockManifest {
    /// Time when the cycle closed (its last queue paused), in ps.
    pub closed_ps: u64,
    /// Time of detection, in ps.
    pub detected_ps: u64,
    /// First check without the deadlock, in ps; missing if it lasted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ps: Option<u64>,
    /// Cycle: each queue waits for the next, cyclically.
    pub cycle: Vec<QueueManifest>,
    /// Largest number of stuck switch queues.
    pub stuck_queues: u32,
    /// Largest number of host ports that stuck queues paused.
    pub stuck_hosts: u32,
    /// Text form.
    pub text: String,
}

impl DeadlockManifest {
    pub(super) fn of(record: &DeadlockRecord, fabric: &Fabric) -> Self {
        let cycle: Vec<QueueManifest> =
            record.cycle.iter().map(|stuck| QueueManifest::of(&stuck.queue, fabric)).collect();
        let ended = record.ended.map(|ended| format!(", until {}", rounded(ended))).unwrap_or_default();
        let plural = |count: u32, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let text = format!(
            "deadlock from {} on{ended}: {} wait for each other: {}; {} of switches and {} of hosts were stuck",
            rounded(record.closed),
            plural(cycle.len() as u32, "paused queue"),
            path(&cycle),
            plural(record.stuck_queues, "queue"),
            plural(record.stuck_hosts, "port"),
        );
        Self {
            closed_ps: record.closed.0,
            detected_ps: record.seen.0,
            ended_ps: record.ended.map(|ended| ended.0),
            stuck_queues: record.stuck_queues,
            stuck_hosts: record.stuck_hosts,
            cycle,
            text,
        }
    }
}

/// An egress queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueManifest {
    /// Port number in the fabric.
    pub port: u32,
    /// Name of its node.
    pub node: String,
    /// Name of the node at the other end.
    pub peer: String,
    /// Priority.
    pub priority: u8,
}

impl QueueManifest {
    pub(super) fn of(queue: &QueueRef, fabric: &Fabric) -> Self {
        let name = |node| fabric.node(node).name.clone();
        let (port, from, to) = (queue.port, fabric.port(queue.port).node, fabric.neighbour(queue.port));
        Self { port: port.0, node: name(from), peer: name(to), priority: queue.priority }
    }
}

fn rounded(time: Time) -> String {
    let text = format!("{:.6}", time.0 as f64 / 1e9);
    format!("{} ms", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Shows priorities if they differ.
pub(super) fn path(cycle: &[QueueManifest]) -> String {
    let several = cycle.windows(2).any(|pair| pair[0].priority != pair[1].priority);
    let link = |at: &QueueManifest| match several {
        true => format!("{} to {} (priority {})", at.node, at.peer, at.priority),
        false => format!("{} to {}", at.node, at.peer),
    };
    cycle.iter().map(link).collect::<Vec<_>>().join(", ")
}
