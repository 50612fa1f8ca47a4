//! Results of a run.

use incast_model::fabric::{LinkId, NodeId, PortId};
use incast_model::units::Time;
use serde::{Deserialize, Serialize};

use crate::measure::{Fingerprint, QueueHistogram, QueueSample, RateSample, Waits};
use crate::tenant::{HypervisorCounts, PairRecord, PairSample};

/// Everything measured in one run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Reason of the stop.
    pub stop: Stop,
    /// Simulated time at the stop.
    pub end: Time,
    /// Counters of events and packets.
    pub counts: Counts,
    /// Bytes by fate; always balanced.
    pub ledger: Ledger,
    /// Flows, in order of the flow set.
    pub flows: Vec<FlowRecord>,
    /// Ports, by used priority.
    pub ports: Vec<PortRecord>,
    /// Intervals during which a port's priority was paused.
    pub pauses: Vec<PauseRecord>,
    /// Dropped packets (the first [`crate::measure::MeasureParams::max_drops`]; `ports` counts all).
    pub drops: Vec<DropRecord>,
    /// Changes of links, in order.
    pub links: Vec<LinkRecord>,
    /// PFC deadlocks, in order of discovery.
    pub deadlocks: Vec<DeadlockRecord>,
    /// PFC storms that the watchdog detected, in order.
    pub storms: Vec<Storm>,
    /// Flows isolated at ports, in order of their begin.
    pub isolations: Vec<IsolationRecord>,
    /// Queueing delay of each flow; empty unless requested.
    pub waits: Vec<Waits>,
    /// Flows that failures kept from completing at the stop (at most 100).
    pub cut_off: Vec<CutOff>,
    /// Queue lengths over time; empty unless requested.
    pub queues: Vec<QueueSample>,
    /// Flow rates over time; empty unless requested.
    pub rates: Vec<RateSample>,
    /// Pairs of VMs, in runs with hypervisors.
    pub pairs: Vec<PairRecord>,
    /// Pairs of VMs over time; empty unless requested.
    pub pair_samples: Vec<PairSample>,
    /// Counters of hypervisors.
    pub hypervisors: HypervisorCounts,
    /// Time-weighted queue lengths of switch ports; empty unless requested.
    pub histograms: Vec<QueueHistogram>,
    /// Digests of the run, if requested.
    pub fingerprint: Option<Fingerprint>,
}

/// Reason why a run stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// Every flow completed that was not cancelled.
    Finished,
    /// The horizon passed.
    Horizon {
        /// Flows not completed.
        unfinished: u32,
    },
    /// The event budget was spent.
    Budget {
        /// Flows not completed.
        unfinished: u32,
    },
    /// Paused queues wait for each other in a cycle, for ever.
    Deadlock {
        /// Egress queues, each waiting for the next, the last for the first.
        cycle: Vec<QueueRef>,
        /// Flows not completed.
        unfinished: u32,
    },
    /// No event is left, or nothing moved for the stall time; flows are unfinished without a deadlock.
    Stalled {
        /// The first unfinished flows that have started (at most 100); others wait for them.
        flows: Vec<u32>,
        /// Flows not completed.
        unfinished: u32,
    },
    /// The caller stopped the run.
    Interrupted {
        /// Flows not completed.
        unfinished: u32,
    },
}

/// An egress queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueRef {
    /// Port.
    pub port: PortId,
    /// Priority.
    pub priority: u8,
}

/// Counters of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Events handled.
    pub events: u64,
    /// Data packets, counted once per link crossed.
    pub data_hops: u64,
    /// ACKs, NACKs, CNPs and congestion isolation messages, counted once per link crossed.
    pub ack_hops: u64,
    /// PFC frames; each crosses one link.
    pub pfc_hops: u64,
    /// Packets marked by ECN.
    pub marks: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Lossless packets dropped because no buffer space was left: failures of the headroom.
    pub lossless_drops: u64,
    /// Packets lost because a link was down.
    pub link_down_drops: u64,
    /// Packets lost by a gray failure.
    pub silent_drops: u64,
    /// Packets dropped at a switch without a route to the destination.
    pub no_route_drops: u64,
    /// Packets dropped by `network.ttl`.
    pub ttl_drops: u64,
    /// Packets that the PFC watchdog dropped.
    pub watchdog_drops: u64,
    /// Lossless packets that the PFC watchdog dropped, as configured: not in `lossless_drops`.
    pub watchdog_lossless_drops: u64,
    /// Wire bytes that the PFC watchdog dropped.
    pub watchdog_bytes: u64,
    /// Changes of a packet's tag by Tagger's rules.
    pub retagged: u64,
    /// Changes of a tag that made a packet lossy.
    pub made_lossy: u64,
    /// XOFF frames sent.
    pub pauses: u64,
    /// Congestion isolation messages sent.
    pub isolation_messages: u64,
    /// Congestion isolation messages that reached hosts.
    pub isolation_messages_to_hosts: u64,
    /// Isolations refused because the port's table was full.
    pub isolations_refused: u64,
    /// Maximum number of packets that existed at one time; with windows, at the end of one.
    pub peak_packets: u64,
}

impl Counts {
    /// Packets of every kind, counted once per link crossed.
    pub const fn packet_hops(&self) -> u64 {
        self.data_hops + self.ack_hops + self.pfc_hops
    }
}

/// Wire bytes by priority and fate: `injected + retagged = delivered + dropped + in_flight` in every entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Created by hosts, and (PFC frames) by switches.
    pub injected: [u64; 8],
    /// Net change by Tagger's rules or isolation: bytes from other priorities less bytes to others.
    #[serde(default)]
    pub retagged: [i64; 8],
    /// Consumed by the destination node.
    pub delivered: [u64; 8],
    /// Dropped by a switch, or lost on a link.
    pub dropped: [u64; 8],
    /// Queued or on a wire when the run stopped.
    pub in_flight: [u64; 8],
}

impl Ledger {
    /// Returns the priorities whose equation does not hold.
    pub fn unbalanced(&self) -> impl Iterator<Item = usize> + '_ {
        let come = |p: usize| self.injected[p].checked_add_signed(self.retagged[p]);
        (0..8).filter(move |&p| come(p) != Some(self.delivered[p] + self.dropped[p] + self.in_flight[p]))
    }
}

/// Result of one flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlowRecord {
    /// Arrival of the ACK of the last byte at the sender; `None` if the flow did not complete.
    pub finish: Option<Time>,
    /// Arrival of the last byte at the receiver; `None` if it did not arrive.
    pub delivered: Option<Time>,
    /// Start: the flow set's, or later if the flow waited for others; `None` if the flow did not start.
    pub start: Option<Time>,
    /// Payload acknowledged, in bytes.
    pub acked: u64,
    /// Data packets sent, retransmissions included.
    pub packets: u64,
    /// Data packets retransmitted.
    pub retransmitted: u64,
    /// Data packets that the receiver discarded: duplicates and, with go-back-N, packets out of order.
    pub discarded: u32,
    /// NACKs received by the sender.
    pub nacks: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// ACKs with an ECN echo, or CNPs received.
    pub marks: u64,
    /// Ideal FCT of the HPCC authors' ns-3: base RTT of the pair (payload serialised once per hop) plus payload and basic
    /// headers at the slowest link (`third.cc`).
    pub ideal_hpcc: Time,
    /// Exact ideal FCT: the flow alone on its path, sent back to back at line rate in its real packets, until the ACK of the
    /// last byte is back. No run is faster.
    pub ideal_exact: Time,
    /// Links on the path.
    pub hops: u8,
    /// If true, the flow was not to start: the end of its round, or of one that it waits for, had passed
    /// ([`incast_model::flow::FlowSet::rounds`]).
    pub cancelled: bool,
}

impl FlowRecord {
    /// Flow completion time: from the start to the ACK of the last byte at the sender.
    pub fn fct(&self) -> Option<Time> {
        Some(self.finish?.saturating_sub(self.start?))
    }

    /// Status at the end of the run.
    pub const fn status(&self) -> FlowStatus {
        match (self.finish, self.start) {
            (Some(_), _) => FlowStatus::Completed,
            (None, Some(_)) => FlowStatus::Incomplete,
            (None, None) if self.cancelled => FlowStatus::Cancelled,
            (None, None) => FlowStatus::NotStarted,
        }
    }
}

/// Status of a flow at the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowStatus {
    /// The sender received the ACK of the last byte.
    Completed,
    /// The run stopped after the start.
    Incomplete,
    /// The run stopped before the start.
    NotStarted,
    /// See [`FlowRecord::cancelled`].
    Cancelled,
}

impl FlowStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Completed, Self::Incomplete, Self::NotStarted, Self::Cancelled];

    /// Name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Incomplete => "incomplete",
            Self::NotStarted => "not-started",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Outcome {
    /// Counts the flows with a status.
    pub fn with_status(&self, status: FlowStatus) -> usize {
        self.flows.iter().filter(|flow| flow.status() == status).count()
    }

    /// Counts the cancelled flows.
    pub fn cancelled(&self) -> usize {
        self.with_status(FlowStatus::Cancelled)
    }
}

/// Counters of one egress queue, and of the ingress side of the same port and priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Packets dropped on arrival at this port.
    pub drops: u64,
    /// Packets lost because this port's link was down: queued, on the wire, or bound for the port.
    pub lost: u64,
    /// Maximum queue length, in bytes.
    pub peak_queue: u64,
    /// Maximum ingress bytes in the buffer, headroom included.
    pub peak_ingress: u64,
    /// Maximum headroom used, in bytes.
    pub peak_headroom: u64,
    /// XOFF frames sent to the peer.
    pub xoff_sent: u64,
    /// XON frames sent to the peer.
    pub xon_sent: u64,
    /// XOFF frames received.
    pub xoff_received: u64,
    /// Total time paused.
    pub paused: Time,
}

/// One interval during which an egress queue was paused by its peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PauseRecord {
    /// Paused egress port.
    pub port: PortId,
    /// Paused priority.
    pub priority: u8,
    /// Time at which the XOFF frame took effect.
    pub start: Time,
    /// Time at which the XON frame took effect; `None` if the run ended first.
    pub end: Option<Time>,
    /// Ingress bytes of this port and priority at the peer when it sent the XOFF (the cause).
    pub ingress_bytes: u64,
    /// Egress port, in the peer, of the packet that crossed the XOFF threshold; for a pause by `network.pause`, the peer's port
    /// that sent it.
    pub culprit_port: PortId,
}

/// A PFC deadlock: switches' egress queues that wait for each other and never send again, unless a watchdog or a link failure
/// ends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadlockRecord {
    /// A shortest cycle of queues, each waiting for the next, the last for the first.
    pub cycle: Vec<StuckQueue>,
    /// Begin: pause of the last of its queues.
    pub closed: Time,
    /// Time of the check that found it.
    pub seen: Time,
    /// Time of the first check that no longer found it; `None` if it lasted to the end.
    pub ended: Option<Time>,
    /// Maximum number of stuck switch queues at one time: in cycles, or waiting for one, of all deadlocks at that time.
    pub stuck_queues: u32,
    /// Maximum bytes in stuck switch queues.
    pub stuck_bytes: u64,
    /// Maximum number of host ports that stuck queues kept paused.
    pub stuck_hosts: u32,
}

/// A queue of a deadlock's cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StuckQueue {
    /// Queue.
    pub queue: QueueRef,
    /// Begin of its pause.
    pub since: Time,
    /// Bytes in the queue when the deadlock was found.
    pub bytes: u64,
}

/// Interval during which the PFC watchdog ignored pauses of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storm {
    /// Port.
    pub port: PortId,
    /// Priority.
    pub priority: u8,
    /// Detection: the queue had been paused for too long.
    pub begin: Time,
    /// Restoration; `None` if the run ended first.
    pub end: Option<Time>,
}

/// Isolation of a flow at an egress port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IsolationRecord {
    /// Port of a switch, or of a host where hosts isolate.
    pub port: PortId,
    /// Flow.
    pub flow: u32,
    /// Cause.
    pub by: IsolatedBy,
    /// Begin.
    pub begin: Time,
    /// End; `None` if the run ended first.
    pub end: Option<Time>,
    /// Packets that left from the isolated queue, or bypassed it while nothing waited; 0 at hosts.
    pub packets: u64,
    /// Wire bytes of `packets`.
    pub bytes: u64,
    /// Messages about the flow that the port sent.
    pub messages: u32,
    /// Congested queue in which the port found the flow; `None` if the flow was not found at this port.
    pub found: Option<FoundIn>,
}

/// State of the congested queue just before the packet that triggered isolation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundIn {
    /// Wire bytes of the flow.
    pub flow_bytes: u64,
    /// Wire bytes of all flows.
    pub queue_bytes: u64,
    /// Flows with data there.
    pub queue_flows: u32,
    /// Time since the next node's last pause of the queue: 0 if paused; `None` if never paused.
    pub pause_ago: Option<Time>,
    /// Root of that pause ([`crate::measure::Waits`]), and true if the flow's path leads there; `None` if not measured, or if
    /// the next node paused by itself (`network.pause`).
    pub root: Option<(PortId, bool)>,
}

/// Cause of an isolation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IsolatedBy {
    /// ECN's marking function picked one of its packets.
    Marks,
    /// It was one of the flows with the most bytes in the queue.
    Counters,
    /// The next switch sent a message.
    Message,
    /// Its packets arrived with the priority of isolated flows.
    Class,
}

impl IsolatedBy {
    /// All causes.
    pub const ALL: [Self; 4] = [Self::Marks, Self::Counters, Self::Message, Self::Class];

    /// Name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Marks => "marks",
            Self::Counters => "counters",
            Self::Message => "message",
            Self::Class => "class",
        }
    }
}

/// Cause of a packet drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropReason {
    /// No buffer space at the switch.
    Buffer,
    /// A link down: the packet was on it, or bound for it.
    LinkDown,
    /// A gray failure.
    Silent,
    /// No route to the destination.
    NoRoute,
    /// `network.ttl` switches crossed.
    Ttl,
    /// A PFC storm at the packet's queue, egress or ingress.
    Watchdog,
}

impl DropReason {
    /// All causes.
    pub const ALL: [Self; 6] = [Self::Buffer, Self::LinkDown, Self::Silent, Self::NoRoute, Self::Ttl, Self::Watchdog];

    /// Name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Buffer => "buffer",
            Self::LinkDown => "link-down",
            Self::Silent => "silent",
            Self::NoRoute => "no-route",
            Self::Ttl => "ttl",
            Self::Watchdog => "watchdog",
        }
    }

    /// Meaning, for the description of results.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Buffer => "no buffer space",
            Self::LinkDown => "link down",
            Self::Silent => "gray failure",
            Self::NoRoute => "no route to the destination",
            Self::Ttl => "time to live exceeded",
            Self::Watchdog => "PFC watchdog",
        }
    }
}

/// One dropped packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DropRecord {
    /// Time.
    pub time: Time,
    /// Switch or host.
    pub node: NodeId,
    /// Cause.
    pub reason: DropReason,
    /// Port of arrival; `None` for packets of the node itself.
    pub ingress: Option<PortId>,
    /// Port of departure; `None` if not known.
    pub egress: Option<PortId>,
    /// Priority.
    pub priority: u8,
    /// Flow; `None` for PFC frames and congestion isolation messages.
    pub flow: Option<u32>,
    /// Wire bytes.
    pub bytes: u32,
    /// If true, the priority was lossless: without buffer space a failure of the headroom, not of the flow.
    pub lossless: bool,
}

/// Change of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkChange {
    /// The link fails.
    Down,
    /// The link is repaired.
    Up,
    /// The link begins to lose packets silently, or loses another fraction.
    Silent,
    /// Silent losses end.
    Clean,
    /// Routes avoid the link from now on.
    Withdrawn,
    /// Routes use it again.
    Restored,
}

impl LinkChange {
    /// All changes.
    pub const ALL: [Self; 6] = [Self::Down, Self::Up, Self::Silent, Self::Clean, Self::Withdrawn, Self::Restored];

    /// Name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Up => "up",
            Self::Silent => "silent",
            Self::Clean => "clean",
            Self::Withdrawn => "withdrawn",
            Self::Restored => "restored",
        }
    }
}

/// Change of a link at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkRecord {
    /// Time.
    pub time: Time,
    /// Link.
    pub link: LinkId,
    /// Change.
    pub change: LinkChange,
}

/// A flow that failures, or pauses by `network.pause`, keep from completing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutOff {
    /// Flow.
    pub flow: u32,
    /// If true, ACKs are blocked; otherwise data.
    pub acks: bool,
    /// First obstacle found.
    pub place: Obstacle,
}

/// Obstacle to a flow's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// This port's link is down.
    Down(PortId),
    /// This port's link silently loses all packets.
    Silent(PortId),
    /// This node has no route to the destination.
    NoRoute(NodeId),
    /// The far end of this queue's link pauses the queue by itself (`network.pause`).
    Held(QueueRef),
}
