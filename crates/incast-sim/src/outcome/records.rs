//! Records of flows, ports and events.

use incast_model::fabric::{LinkId, NodeId, PortId};
use incast_model::units::Time;

use super::{DropReason, QueueRef};

/// Flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlowRecord {
    /// Last byte's ACK at the sender, with UDP the last byte's arrival; `None`: not completed.
    pub finish: Option<Time>,
    /// Last byte at the receiver; `None`: not delivered.
    pub delivered: Option<Time>,
    /// Start, by the flow set or after other flows; `None`: not started.
    pub start: Option<Time>,
    /// Payload acknowledged, in bytes.
    pub acked: u64,
    /// Data packets sent, including retransmissions.
    pub packets: u64,
    /// Data packets retransmitted.
    pub retransmitted: u64,
    /// Data packets discarded by the receiver: duplicates and (go-back-N) out of order.
    pub discarded: u32,
    /// NACKs received by the sender.
    pub nacks: u32,
    /// Retransmission timeouts; with Fastpass repeated requests, with pHost repeated announcements.
    pub timeouts: u32,
    /// ACKs with an ECN echo, or CNPs, received.
    pub marks: u64,
    /// Ideal FCT of the HPCC authors' ns-3 (`third.cc`): base RTT (one payload per hop) plus payload and basic headers at the
    /// slowest link. As [`Self::ideal_exact`] for messages over several queue pairs.
    pub ideal_hpcc: Time,
    /// Exact ideal FCT: alone, packets back to back, until the last ACK, with UDP the last byte. No run is faster. For queue pairs of
    /// a message: that of its bytes at their NIC, which they share; in no run do all end sooner.
    pub ideal_exact: Time,
    /// Links on the path.
    pub hops: u8,
    /// If true, UDP sent all bytes, some were lost, and none is in flight.
    pub partial: bool,
    /// If true, its round, or one that it waits for, was over ([`incast_model::flow::FlowSet::rounds`]).
    pub cancelled: bool,
}

impl FlowRecord {
    /// Flow completion time, `finish` - `start`.
    pub fn fct(&self) -> Option<Time> {
        Some(self.finish?.saturating_sub(self.start?))
    }

    /// Status at the stop.
    pub const fn status(&self) -> FlowStatus {
        match (self.finish, self.start) {
            (Some(_), _) => FlowStatus::Completed,
            (None, Some(_)) if self.partial => FlowStatus::Partial,
            (None, Some(_)) => FlowStatus::Incomplete,
            (None, None) if self.cancelled => FlowStatus::Cancelled,
            (None, None) => FlowStatus::NotStarted,
        }
    }
}

named! {
    /// Status of a flow at the stop.
    pub enum FlowStatus {
        Completed: "completed", "the last byte was acknowledged, with UDP has arrived";
        Incomplete: "incomplete", "started; the run stopped first";
        Partial: "partial", "sent by UDP; some bytes were lost, and none was in flight at the stop";
        NotStarted: "not-started", "the run stopped before its start";
        Cancelled: "cancelled", "not started, as the `end` of its workload entry had passed";
    }
}

/// Counters of a port's egress queue and ingress, by priority.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortRecord {
    /// Port.
    pub port: PortId,
    /// Priority.
    pub priority: u8,
    /// Wire bytes sent.
    pub tx_bytes: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Packets marked on departure.
    pub marks: u64,
    /// Packets dropped on arrival.
    pub drops: u64,
    /// Packets lost with the link.
    pub lost: u64,
    /// Maximum queue length in bytes.
    pub peak_queue: u64,
    /// Maximum ingress bytes, with headroom.
    pub peak_ingress: u64,
    /// Maximum headroom in bytes.
    pub peak_headroom: u64,
    /// XOFF frames sent.
    pub xoff_sent: u64,
    /// XON frames sent.
    pub xon_sent: u64,
    /// XOFF frames received.
    pub xoff_received: u64,
    /// Time paused.
    pub paused: Time,
}

/// Pause of an egress queue by the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PauseRecord {
    /// Port.
    pub port: PortId,
    /// Priority.
    pub priority: u8,
    /// XOFF took effect.
    pub start: Time,
    /// XON took effect; `None`: not before the stop.
    pub end: Option<Time>,
    /// The peer's ingress bytes of this port and priority at the XOFF.
    pub ingress_bytes: u64,
    /// Peer's egress queue of the packet that crossed the threshold; for `network.pause`, the sender of the XOFF.
    pub culprit: QueueRef,
}

/// PFC deadlock, until a watchdog or a link failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadlockRecord {
    /// A shortest cycle; each queue waits for the next, cyclically.
    pub cycle: Vec<StuckQueue>,
    /// Pause of the cycle's last queue.
    pub closed: Time,
    /// Check that found it.
    pub seen: Time,
    /// First check that no longer found it; `None`: lasted to the stop.
    pub ended: Option<Time>,
    /// Maximum of stuck switch queues of all deadlocks, in a cycle or waiting for one.
    pub stuck_queues: u32,
    /// Maximum bytes in stuck queues.
    pub stuck_bytes: u64,
    /// Maximum of host ports paused by stuck queues.
    pub stuck_hosts: u32,
}

/// Queue of a deadlock's cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StuckQueue {
    /// Queue.
    pub queue: QueueRef,
    /// Begin of the pause.
    pub since: Time,
    /// Bytes at discovery.
    pub bytes: u64,
}

/// PFC storm, during which the watchdog ignores a queue's pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storm {
    /// Port.
    pub port: PortId,
    /// Priority.
    pub priority: u8,
    /// Detection.
    pub begin: Time,
    /// End; `None`: not before the stop.
    pub end: Option<Time>,
}

/// Isolation of a flow at a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IsolationRecord {
    /// Port of a switch, or of a host that isolates.
    pub port: PortId,
    /// Flow.
    pub flow: u32,
    /// Cause.
    pub by: IsolatedBy,
    /// Begin.
    pub begin: Time,
    /// End; `None`: not before the stop.
    pub end: Option<Time>,
    /// Packets sent from the isolated queue, or past it while empty; 0 at hosts.
    pub packets: u64,
    /// Wire bytes of `packets`.
    pub bytes: u64,
    /// Messages sent about the flow.
    pub messages: u32,
    /// Congested queue; `None`: found elsewhere.
    pub found: Option<FoundIn>,
}

/// Congested queue before the packet that triggered isolation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundIn {
    /// The flow's wire bytes.
    pub flow_bytes: u64,
    /// All wire bytes.
    pub queue_bytes: u64,
    /// Flows with data.
    pub queue_flows: u32,
    /// Time since the queue's last pause; 0: paused, `None`: never paused.
    pub pause_ago: Option<Time>,
    /// Root of that pause ([`crate::measure::Waits`]), and true if on the flow's path; `None`: not measured, or
    /// `network.pause`.
    pub root: Option<(PortId, bool)>,
}

named! {
    /// Cause.
    pub enum IsolatedBy {
        Marks: "marks", "picked at this port by ECN's marking function";
        Counters: "counters", "among the flows with the most bytes in this port's queue";
        Message: "message", "message from the next switch";
        Class: "class", "arrived isolated";
    }
}

/// Dropped packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DropRecord {
    /// Time.
    pub time: Time,
    /// Switch or host.
    pub node: NodeId,
    /// Cause.
    pub reason: DropReason,
    /// Ingress; `None`: the node's own packet.
    pub ingress: Option<PortId>,
    /// Egress; `None`: unknown.
    pub egress: Option<PortId>,
    /// Priority.
    pub priority: u8,
    /// Flow; `None`: PFC frame or congestion isolation message.
    pub flow: Option<u32>,
    /// Wire bytes.
    pub bytes: u32,
    /// If true, the priority was lossless: a drop for lack of space is a failure of the headroom.
    pub lossless: bool,
}

named! {
    /// Kind of a link's change.
    pub enum LinkChange {
        Down: "down", "failure";
        Up: "up", "repair";
        Silent: "silent", "gray failure";
        Clean: "clean", "gray failure ended";
        Withdrawn: "withdrawn", "routes avoid it";
        Restored: "restored", "routes use it";
    }
}

/// Change of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkRecord {
    /// Time.
    pub time: Time,
    /// Link.
    pub link: LinkId,
    /// Change.
    pub change: LinkChange,
}

/// Flow blocked by failures or by `network.pause`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutOff {
    /// Flow.
    pub flow: u32,
    /// If true, ACKs are blocked; otherwise data.
    pub acks: bool,
    /// Obstacle.
    pub place: Obstacle,
}

/// Obstacle to a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// Link of this port down.
    Down(PortId),
    /// Link of this port silently loses everything.
    Silent(PortId),
    /// No route at this node.
    NoRoute(NodeId),
    /// All routes lead back to this node.
    Loop(NodeId),
    /// Time to live ends at this node.
    Expired(NodeId),
    /// Queue paused by the far end for `network.pause`.
    Held(QueueRef),
}
