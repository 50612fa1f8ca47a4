//! What hosts send: a list of flows in order of start.

use std::ops::Range;

use crate::fabric::{HostId, NodeId};
use crate::units::{Bytes, Time};

/// One message from one host to another, or the part of it that one queue pair sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// Sender.
    pub src: HostId,
    /// Receiver; never the sender.
    pub dst: HostId,
    /// Payload, at least one byte.
    pub size: Bytes,
    /// When the application hands the message to its NIC; not before its [`Gate`] has opened, if it has one.
    pub start: Time,
    /// Traffic class of its data packets, 1 to 7.
    pub priority: u8,
    /// Index into [`FlowSet::labels`].
    pub label: u16,
    /// UDP source port: the entropy that ECMP hashes.
    pub sport: u16,
    /// UDP destination port.
    pub dport: u16,
    /// Index into [`FlowSet::paths`] for a flow whose path is given; its ACKs come back the same way.
    pub path: Option<u32>,
    /// A flow without a size of its own: its sender has something to send until then. Its `size` is a bound that it cannot
    /// reach.
    pub until: Option<Time>,
}

/// Flows that start when others have ended, as in closed loops and collectives.
///
/// A flow that it waits for has ended when its last byte is at its receiver; or, if all that the gate starts is sent by the
/// very host that sent it, when that host has the ACK of the last byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// The flows that must end; indices into [`FlowSet::flows`], at least one, none twice.
    pub waits_for: Vec<u32>,
    /// Time between the last of these ends and the start of what waits: computing, thinking.
    pub delay: Time,
    /// The flows that start then; each behind this gate alone.
    pub starts: Vec<u32>,
    /// The round that opening it begins, an index into [`FlowSet::rounds`]. If that is cancelled, the gate never opens.
    pub round: Option<u32>,
}

/// The flows of one run, sorted by start (ties keep their order), with the names of their labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlowSet {
    /// Sorted by start.
    pub flows: Vec<Flow>,
    /// Names that group flows in results, such as `background` and `incast`.
    pub labels: Vec<String>,
    /// Explicit paths: every node from the sending to the receiving host.
    pub paths: Vec<Vec<NodeId>>,
    /// What does not start by the clock alone. No flow waits for itself, over whatever gates.
    pub gates: Vec<Gate>,
    /// The end of each round: the iterations, requests and the like that begin as a whole, or not at all, because their entry
    /// ends. The first of a round's gates that has nothing to wait for decides: if it would open (after its delay) before
    /// this time, all of them open, whenever that is; if not, the round is cancelled. What is behind a gate that never
    /// opens does not start, nor what waits for that.
    pub rounds: Vec<Time>,
    /// Where messages are split over several queue pairs: the first flow of each. The flows of a message follow each other
    /// and start together. Empty where every flow is a message.
    pub messages: Vec<u32>,
}

impl FlowSet {
    /// Total payload of the flows that have a size of their own.
    pub fn bytes(&self) -> Bytes {
        self.flows.iter().filter(|flow| flow.until.is_none()).map(|flow| flow.size).sum()
    }

    /// The flows of each message, in order.
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
