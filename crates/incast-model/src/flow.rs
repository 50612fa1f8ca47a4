//! Flows that hosts send, sorted by start.

use std::ops::Range;

use crate::fabric::{HostId, NodeId};
use crate::units::{Bytes, Time};

/// Latest simulated time, an hour and more: the simulator's keys of events have 52 bits for picoseconds.
pub const MAX_TIME: Time = Time::ms(4_000_000);

/// Most flows of a run: the simulator's events have 25 bits for a flow.
pub const MAX_FLOWS: u32 = (1 << 25) - 1;

/// Message between two hosts, or a queue pair's part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// Sender.
    pub src: HostId,
    /// Receiver, not the sender.
    pub dst: HostId,
    /// Payload, at least 1 B.
    pub size: Bytes,
    /// Time when the application posts the message to its NIC, unless a [`Gate`] delays it.
    pub start: Time,
    /// Traffic class, 1 to 7.
    pub priority: u8,
    /// Index into [`FlowSet::labels`].
    pub label: u16,
    /// UDP source port: ECMP's entropy.
    pub sport: u16,
    /// UDP destination port.
    pub dport: u16,
    /// Index into [`FlowSet::paths`]; ACKs return on the same path.
    pub path: Option<u32>,
    /// End of a backlogged flow, which sends until then and never reaches `size`.
    pub until: Option<Time>,
}

/// Flows that start when others have ended, as in closed loops and collectives.
///
/// A flow ends when its receiver has the last byte; if its sender sends all flows that the gate starts, when that sender has
/// the last byte's ACK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// Distinct indices into [`FlowSet::flows`], at least one.
    pub waits_for: Vec<u32>,
    /// Time from the last end to the starts, for computing or thinking.
    pub delay: Time,
    /// Flows that start then, by this gate only.
    pub starts: Vec<u32>,
    /// Round that the gate begins (index into [`FlowSet::rounds`]). If it is cancelled, the gate never opens.
    pub round: Option<u32>,
}

/// Operation of a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Every rank ends with the sum of all data.
    AllReduce,
    /// Every rank ends with a part of the sum.
    ReduceScatter,
    /// Every rank ends with the data of all.
    AllGather,
    /// Every rank sends a part of its data to each rank.
    AllToAll,
}

impl Operation {
    /// Names and meanings, by number.
    pub const NAMES: &[(&str, &str)] = &[
        ("all-reduce", "every rank ends with the sum of all data"),
        ("reduce-scatter", "every rank ends with a part of the sum"),
        ("all-gather", "every rank ends with the data of all"),
        ("all-to-all", "every rank sends a part of its data to each rank"),
    ];

    /// Bus bandwidth divided by algorithm bandwidth, for `ranks` ranks (nccl-tests, doc/PERFORMANCE.md): data that a rank must
    /// send, as a multiple of its size.
    pub fn bus_factor(self, ranks: u32) -> f64 {
        let others = f64::from(ranks.saturating_sub(1)) / f64::from(ranks.max(1));
        if self == Self::AllReduce { 2.0 * others } else { others }
    }
}

/// One iteration of a collective.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Iteration {
    /// Number of the collective: of its workload entry and tenant, from 0.
    pub collective: u32,
    /// Number of the iteration, from 0.
    pub number: u32,
    /// Operation.
    pub operation: Operation,
    /// Number of ranks, at least 2.
    pub ranks: u32,
    /// Data of a rank, with the part that it keeps: nccl-tests' size. Summed over the iteration's operations.
    pub size: Bytes,
    /// Compute time of a rank before the iteration; 0 before the first.
    pub compute_before: Time,
    /// Compute time within the iteration, between its first and its last message.
    pub compute_within: Time,
    /// Its flows, at least one, in order of their numbers.
    pub flows: Vec<StepFlow>,
}

/// Flow of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepFlow {
    /// Index into [`FlowSet::flows`].
    pub flow: u32,
    /// Step of the iteration, from 0.
    pub step: u32,
    /// Rank of the sender, from 0.
    pub rank: u32,
}

/// Flows of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlowSet {
    /// Flows, sorted by start; ties keep their order.
    pub flows: Vec<Flow>,
    /// Names that group flows in results.
    pub labels: Vec<String>,
    /// Explicit paths: every node from sender to receiver.
    pub paths: Vec<Vec<NodeId>>,
    /// Gates without cycles.
    pub gates: Vec<Gate>,
    /// End of each round (iteration, request). The round's first gate without pending flows decides: if it would open (after
    /// its delay) before the end, all gates of the round open, at any time; otherwise none. Flows behind a shut gate, and flows
    /// that wait for them, never start.
    pub rounds: Vec<Time>,
    /// Iterations of collectives, by collective and number.
    pub iterations: Vec<Iteration>,
    /// First flow of each message: its flows are consecutive and start together. Empty if every flow is a message.
    pub messages: Vec<u32>,
}

impl FlowSet {
    /// Payload, without backlogged flows.
    pub fn bytes(&self) -> Bytes {
        self.flows.iter().filter(|flow| flow.until.is_none()).map(|flow| flow.size).sum()
    }

    /// Flows of each message.
    pub fn messages(&self) -> impl Iterator<Item = Range<u32>> {
        let flows = self.flows.len() as u32;
        let count = if self.messages.is_empty() { flows } else { self.messages.len() as u32 };
        let first = move |message: u32| match self.messages.get(message as usize) {
            Some(&first) => first,
            None if self.messages.is_empty() => message,
            None => flows,
        };
        (0..count).map(move |message| first(message)..first(message + 1))
    }
}
