//! What a manifest says of deadlocks of PFC.

use incast_model::fabric::Fabric;
use incast_model::units::Time;
use incast_sim::outcome::DeadlockRecord;
use serde::{Deserialize, Serialize};

use super::manifest::QueueManifest;

/// A deadlock of PFC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadlockManifest {
    /// When its cycle closed, in picoseconds: the last of its queues was paused.
    pub closed_ps: u64,
    /// When it was first seen, in picoseconds.
    pub detected_ps: u64,
    /// When it was first seen to be no more, in picoseconds; missing if it was there at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ps: Option<u64>,
    /// The queues that wait on each other, each for the next, the last for the first.
    pub cycle: Vec<QueueManifest>,
    /// Most queues of switches that were stuck at one time.
    pub stuck_queues: u32,
    /// Most ports of hosts that these kept paused.
    pub stuck_hosts: u32,
    /// The same in a sentence.
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

/// In milliseconds, to the nanosecond.
fn rounded(time: Time) -> String {
    let text = format!("{:.6}", time.0 as f64 / 1e9);
    format!("{} ms", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The queues of a cycle, each by the link that it leads to; with priorities where these differ.
pub(super) fn path(cycle: &[QueueManifest]) -> String {
    let several = cycle.windows(2).any(|pair| pair[0].priority != pair[1].priority);
    let link = |at: &QueueManifest| match several {
        true => format!("{}->{} (priority {})", at.node, at.peer, at.priority),
        false => format!("{}->{}", at.node, at.peer),
    };
    cycle.iter().map(link).collect::<Vec<_>>().join(", ")
}
