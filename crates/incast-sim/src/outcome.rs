//! Results of a run.

use incast_model::fabric::{LinkId, NodeId, PortId};
use incast_model::units::Time;
use serde::{Deserialize, Serialize};

use crate::measure::{Fingerprint, QueueHistogram, QueueSample, RateSample, Waits};
use crate::tenant::{HypervisorCounts, PairRecord, PairSample};

/// Results of a run. Optional records are empty unless requested.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Reason of the stop.
    pub stop: Stop,
    /// Simulated time of the stop.
    pub end: Time,
    /// Counters.
    pub counts: Counts,
    /// Bytes by fate; always balanced.
    pub ledger: Ledger,
    /// Flows, in order of the flow set.
    pub flows: Vec<FlowRecord>,
    /// Used priorities of ports.
    pub ports: Vec<PortRecord>,
    /// Pauses by PFC.
    pub pauses: Vec<PauseRecord>,
    /// Dropped packets (the first [`crate::measure::MeasureParams::max_drops`]; `ports` counts all).
    pub drops: Vec<DropRecord>,
    /// Changes of links, in order.
    pub links: Vec<LinkRecord>,
    /// PFC deadlocks, in order of discovery.
    pub deadlocks: Vec<DeadlockRecord>,
    /// PFC storms, in order.
    pub storms: Vec<Storm>,
    /// Isolations of flows, in order.
    pub isolations: Vec<IsolationRecord>,
    /// Queueing delays by flow; optional.
    pub waits: Vec<Waits>,
    /// Flows blocked by failures at the stop (at most 100).
    pub cut_off: Vec<CutOff>,
    /// Queue lengths over time; optional.
    pub queues: Vec<QueueSample>,
    /// Flow rates over time; optional.
    pub rates: Vec<RateSample>,
    /// Pairs of VMs, with hypervisors.
    pub pairs: Vec<PairRecord>,
    /// Pairs of VMs over time; optional.
    pub pair_samples: Vec<PairSample>,
    /// Hypervisors' counters.
    pub hypervisors: HypervisorCounts,
    /// Time-weighted queue lengths of switch ports; optional.
    pub histograms: Vec<QueueHistogram>,
    /// Digests of the run; optional.
    pub fingerprint: Option<Fingerprint>,
}

/// Reason of a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// Every flow completed or was cancelled.
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
        /// Queues, each waiting for the next, the last for the first.
        cycle: Vec<QueueRef>,
        /// Flows not completed.
        unfinished: u32,
    },
    /// Without a deadlock, no event is left or nothing moved for the stall time.
    Stalled {
        /// First unfinished flows that have started (at most 100); others wait for them.
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

/// Counters of a run; hops count packets once per link crossed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Events handled.
    pub events: u64,
    /// Data packets.
    pub data_hops: u64,
    /// ACKs, NACKs, CNPs, congestion isolation messages.
    pub ack_hops: u64,
    /// PFC frames.
    pub pfc_hops: u64,
    /// ECN marks.
    pub marks: u64,
    /// Dropped packets.
    pub drops: u64,
    /// Lossless packets without buffer space: failures of the headroom.
    pub lossless_drops: u64,
    /// Losses by links that were down.
    pub link_down_drops: u64,
    /// Losses by gray failures.
    pub silent_drops: u64,
    /// Drops without a route to the destination.
    pub no_route_drops: u64,
    /// Drops by `network.ttl`.
    pub ttl_drops: u64,
    /// Drops by the PFC watchdog.
    pub watchdog_drops: u64,
    /// Lossless drops by the PFC watchdog, as configured: not in `lossless_drops`.
    pub watchdog_lossless_drops: u64,
    /// Wire bytes dropped by the PFC watchdog.
    pub watchdog_bytes: u64,
    /// Tags changed by Tagger's rules.
    pub retagged: u64,
    /// Tags changed to a lossy priority.
    pub made_lossy: u64,
    /// XOFF frames sent.
    pub pauses: u64,
    /// Congestion isolation messages sent.
    pub isolation_messages: u64,
    /// Congestion isolation messages received by hosts.
    pub isolation_messages_to_hosts: u64,
    /// Isolations refused by a full table.
    pub isolations_refused: u64,
    /// Maximum number of packets at one time; with windows, at the end of one.
    pub peak_packets: u64,
}

impl Counts {
    /// Adds a drop.
    pub(crate) fn count_drop(&mut self, record: &DropRecord) {
        self.drops += 1;
        match record.reason {
            DropReason::Buffer => self.lossless_drops += u64::from(record.lossless),
            DropReason::LinkDown => self.link_down_drops += 1,
            DropReason::Silent => self.silent_drops += 1,
            DropReason::NoRoute => self.no_route_drops += 1,
            DropReason::Ttl => self.ttl_drops += 1,
            DropReason::Watchdog => {
                self.watchdog_drops += 1;
                self.watchdog_lossless_drops += u64::from(record.lossless);
                self.watchdog_bytes += u64::from(record.bytes);
            }
        }
    }

    /// Packets of every kind.
    pub const fn packet_hops(&self) -> u64 {
        self.data_hops + self.ack_hops + self.pfc_hops
    }
}

/// Wire bytes by priority: `injected + retagged = delivered + dropped + in_flight` in every entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Created by hosts, or (PFC frames) by switches.
    pub injected: [u64; 8],
    /// Bytes from other priorities less bytes to others, by Tagger's rules or isolation.
    #[serde(default)]
    pub retagged: [i64; 8],
    /// Consumed at the destination.
    pub delivered: [u64; 8],
    /// Dropped, or lost on a link.
    pub dropped: [u64; 8],
    /// In queues or on wires at the stop.
    pub in_flight: [u64; 8],
}

impl Ledger {
    /// Priorities that violate the equation.
    pub fn unbalanced(&self) -> impl Iterator<Item = usize> + '_ {
        let come = |p: usize| self.injected[p].checked_add_signed(self.retagged[p]);
        (0..8).filter(move |&p| come(p) != Some(self.delivered[p] + self.dropped[p] + self.in_flight[p]))
    }
}

/// Result of a flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlowRecord {
    /// Arrival of the last byte's ACK at the sender; `None` if not completed.
    pub finish: Option<Time>,
    /// Arrival of the last byte at the receiver; `None` if not delivered.
    pub delivered: Option<Time>,
    /// Start, by the flow set or after the flows that it waited for; `None` if not started.
    pub start: Option<Time>,
    /// Payload acknowledged, in bytes.
    pub acked: u64,
    /// Data packets sent, with retransmissions.
    pub packets: u64,
    /// Data packets retransmitted.
    pub retransmitted: u64,
    /// Data packets discarded by the receiver: duplicates and, with go-back-N, packets out of order.
    pub discarded: u32,
    /// NACKs received by the sender.
    pub nacks: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// ACKs with an ECN echo, or CNPs received.
    pub marks: u64,
    /// Ideal FCT of the HPCC authors' ns-3 (`third.cc`): the pair's base RTT (payload serialised once per hop) plus payload and
    /// basic headers at the slowest link.
    pub ideal_hpcc: Time,
    /// Exact ideal FCT: alone on its path, in its real packets back to back at line rate, until the ACK of the last byte. No
    /// run is faster.
    pub ideal_exact: Time,
    /// Links on the path.
    pub hops: u8,
    /// If true, the flow was not to start: its round, or one that it waits for, was over
    /// ([`incast_model::flow::FlowSet::rounds`]).
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
            (None, Some(_)) => FlowStatus::Incomplete,
            (None, None) if self.cancelled => FlowStatus::Cancelled,
            (None, None) => FlowStatus::NotStarted,
        }
    }
}

/// Status of a flow at the stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowStatus {
    /// The last byte was acknowledged.
    Completed,
    /// Started, not completed.
    Incomplete,
    /// Not started.
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
    /// Number of flows with a status.
    pub fn with_status(&self, status: FlowStatus) -> usize {
        self.flows.iter().filter(|flow| flow.status() == status).count()
    }

    /// Number of cancelled flows.
    pub fn cancelled(&self) -> usize {
        self.with_status(FlowStatus::Cancelled)
    }
}

/// Counters of an egress queue, and of the same port's ingress of the same priority.
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
    /// Packets dropped on arrival.
    pub drops: u64,
    /// Packets lost while the link was down: queued, on the wire, or bound for the port.
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
    /// Time at which the XOFF frame took effect.
    pub start: Time,
    /// Time at which the XON frame took effect; `None` if the run ended first.
    pub end: Option<Time>,
    /// The pause's cause: the peer's ingress bytes of this port and priority at the XOFF.
    pub ingress_bytes: u64,
    /// Egress port, at the peer, of the packet that crossed the XOFF threshold; for `network.pause`, the peer's port that sent
    /// the XOFF.
    pub culprit_port: PortId,
}

/// PFC deadlock: switches' egress queues that wait for each other for ever, unless a watchdog or a link failure frees them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadlockRecord {
    /// A shortest cycle, each queue waiting for the next, the last for the first.
    pub cycle: Vec<StuckQueue>,
    /// Begin: pause of the cycle's last queue.
    pub closed: Time,
    /// Time of the check that found it.
    pub seen: Time,
    /// Time of the first check that no longer found it; `None` if it lasted to the stop.
    pub ended: Option<Time>,
    /// Maximum number of stuck switch queues: in a cycle or waiting for one, of all deadlocks at a time.
    pub stuck_queues: u32,
    /// Maximum bytes in stuck queues.
    pub stuck_bytes: u64,
    /// Maximum number of host ports paused by stuck queues.
    pub stuck_hosts: u32,
}

/// Queue in a deadlock's cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StuckQueue {
    /// Queue.
    pub queue: QueueRef,
    /// Begin of the pause.
    pub since: Time,
    /// Bytes when the deadlock was found.
    pub bytes: u64,
}

/// PFC storm: the watchdog ignores a queue's pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storm {
    /// Port.
    pub port: PortId,
    /// Priority.
    pub priority: u8,
    /// Time of detection.
    pub begin: Time,
    /// End; `None` if the run ended first.
    pub end: Option<Time>,
}

/// Isolation of a flow at a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IsolationRecord {
    /// Port of a switch, or of a host if hosts isolate.
    pub port: PortId,
    /// Flow.
    pub flow: u32,
    /// Cause.
    pub by: IsolatedBy,
    /// Begin.
    pub begin: Time,
    /// End; `None` if the run ended first.
    pub end: Option<Time>,
    /// Packets sent from the isolated queue, or past it while it was empty; 0 at hosts.
    pub packets: u64,
    /// Wire bytes of `packets`.
    pub bytes: u64,
    /// Messages sent about the flow.
    pub messages: u32,
    /// Congested queue of the flow; `None` if not found at this port.
    pub found: Option<FoundIn>,
}

/// Congested queue just before the packet that triggered isolation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundIn {
    /// Wire bytes of the flow.
    pub flow_bytes: u64,
    /// Wire bytes of all flows.
    pub queue_bytes: u64,
    /// Flows with data in the queue.
    pub queue_flows: u32,
    /// Time since the queue's last pause; 0 if paused, `None` if never paused.
    pub pause_ago: Option<Time>,
    /// Root of that pause ([`crate::measure::Waits`]), and true if it is on the flow's path; `None` if not measured, or for
    /// `network.pause`.
    pub root: Option<(PortId, bool)>,
}

/// Cause of an isolation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IsolatedBy {
    /// Picked by ECN's marking function.
    Marks,
    /// Among the flows with the most bytes in the queue.
    Counters,
    /// Message of the next switch.
    Message,
    /// Packets with the priority of isolated flows.
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
    /// No buffer space.
    Buffer,
    /// Link down: the packet was on it, or bound for it.
    LinkDown,
    /// Gray failure.
    Silent,
    /// No route to the destination.
    NoRoute,
    /// `network.ttl` exceeded.
    Ttl,
    /// PFC storm at the packet's queue, egress or ingress.
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

    /// Description in results.
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

/// Dropped packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DropRecord {
    /// Time.
    pub time: Time,
    /// Switch or host.
    pub node: NodeId,
    /// Cause.
    pub reason: DropReason,
    /// Ingress; `None` for the node's own packets.
    pub ingress: Option<PortId>,
    /// Egress; `None` if not known.
    pub egress: Option<PortId>,
    /// Priority.
    pub priority: u8,
    /// Flow; `None` for PFC frames and congestion isolation messages.
    pub flow: Option<u32>,
    /// Wire bytes.
    pub bytes: u32,
    /// If true, the priority was lossless; a drop for lack of buffer space is then a failure of the headroom.
    pub lossless: bool,
}

/// Change of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkChange {
    /// Failure.
    Down,
    /// Repair.
    Up,
    /// Begin of silent losses, or a new fraction of them.
    Silent,
    /// End of silent losses.
    Clean,
    /// Routes avoid the link.
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
    /// Link of this port silently loses all packets.
    Silent(PortId),
    /// No route to the destination at this node.
    NoRoute(NodeId),
    /// Queue paused by the far end for `network.pause`.
    Held(QueueRef),
}
