//! What a run leaves behind.

use incast_model::fabric::{LinkId, NodeId, PortId};
use incast_model::units::Time;
use serde::{Deserialize, Serialize};

use crate::measure::{Fingerprint, QueueHistogram, QueueSample, RateSample, Waits};
use crate::tenant::{HypervisorCounts, PairRecord, PairSample};

/// Everything measured in one run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Why the run stopped.
    pub stop: Stop,
    /// Simulated time at the stop.
    pub end: Time,
    /// Work done.
    pub counts: Counts,
    /// Bytes by fate; always balanced.
    pub ledger: Ledger,
    /// One record per flow, in order of the flow set.
    pub flows: Vec<FlowRecord>,
    /// One record per port and used priority.
    pub ports: Vec<PortRecord>,
    /// Intervals during which a port's priority was paused.
    pub pauses: Vec<PauseRecord>,
    /// Packets dropped (the first [`crate::measure::MeasureParams::max_drops`]; all are counted in `ports`).
    pub drops: Vec<DropRecord>,
    /// What happened to links, in order.
    pub links: Vec<LinkRecord>,
    /// Deadlocks of PFC, in order of their discovery.
    pub deadlocks: Vec<DeadlockRecord>,
    /// Queues that the PFC watchdog freed, in order.
    pub storms: Vec<Storm>,
    /// Flows isolated at ports, in order of their begin.
    pub isolations: Vec<IsolationRecord>,
    /// How long data of each flow waited, if asked for; else empty.
    pub waits: Vec<Waits>,
    /// Flows that could not complete as things stood at the stop, because of failures (at most 100).
    pub cut_off: Vec<CutOff>,
    /// Queue lengths over time, if asked for.
    pub queues: Vec<QueueSample>,
    /// Flow rates over time, if asked for.
    pub rates: Vec<RateSample>,
    /// Pairs of VMs, in runs with a layer between VMs and the network.
    pub pairs: Vec<PairRecord>,
    /// The same over time, if asked for.
    pub pair_samples: Vec<PairSample>,
    /// What that layer did.
    pub hypervisors: HypervisorCounts,
    /// Time-weighted queue lengths of switch ports, if asked for.
    pub histograms: Vec<QueueHistogram>,
    /// Digests of the run, if asked for.
    pub fingerprint: Option<Fingerprint>,
}

/// Why a run stopped, and who is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// Every flow completed that was not cancelled.
    Finished,
    /// The horizon came first; so many flows were unfinished.
    Horizon {
        /// Flows not completed.
        unfinished: u32,
    },
    /// The event budget was used up.
    Budget {
        /// Flows not completed.
        unfinished: u32,
    },
    /// Paused queues wait on each other in a cycle, for ever.
    Deadlock {
        /// The egress queues of the cycle, each waiting for the next, the last for the first.
        cycle: Vec<QueueRef>,
        /// Flows not completed.
        unfinished: u32,
    },
    /// Nothing is left to happen, or nothing has moved for the stall time, yet flows are unfinished without a deadlock.
    Stalled {
        /// The first of those that have started (at most 100); others wait for them.
        flows: Vec<u32>,
        /// How many.
        unfinished: u32,
    },
    /// The caller asked to stop.
    Interrupted {
        /// Flows not completed.
        unfinished: u32,
    },
}

/// An egress queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueRef {
    /// Its port.
    pub port: PortId,
    /// Its priority.
    pub priority: u8,
}

/// Work done by a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Events handled.
    pub events: u64,
    /// Data packets, counted once per link crossed.
    pub data_hops: u64,
    /// ACKs, NACKs, CNPs and congestion isolation messages, counted once per link crossed.
    pub ack_hops: u64,
    /// PFC frames, counted once per link crossed (they cross one).
    pub pfc_hops: u64,
    /// Packets marked by ECN.
    pub marks: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Of these, packets of a lossless priority that found no room: failures of the headroom.
    pub lossless_drops: u64,
    /// Of the packets dropped, those lost because a link was down.
    pub link_down_drops: u64,
    /// Those lost by a failure that nobody noticed.
    pub silent_drops: u64,
    /// Those for whose destination a switch knew no way.
    pub no_route_drops: u64,
    /// Those that had crossed as many switches as `network.ttl` allows.
    pub ttl_drops: u64,
    /// Those dropped because the PFC watchdog saw a storm.
    pub watchdog_drops: u64,
    /// Of these, packets of a lossless priority: lost as the watchdog was asked to, so not in `lossless_drops`.
    pub watchdog_lossless_drops: u64,
    /// Wire bytes that the PFC watchdog dropped.
    pub watchdog_bytes: u64,
    /// Times that a packet's tag was changed, by Tagger's rules.
    pub retagged: u64,
    /// Of these, packets that became lossy.
    pub made_lossy: u64,
    /// XOFF frames sent.
    pub pauses: u64,
    /// Congestion isolation messages sent.
    pub isolation_messages: u64,
    /// Of these, messages that came to hosts.
    pub isolation_messages_to_hosts: u64,
    /// Times that a flow was not isolated because its port's table had no place.
    pub isolations_refused: u64,
    /// Most packets that existed at once; where the run went in windows, at the end of one.
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
    /// Made by hosts and (PFC frames) by switches.
    pub injected: [u64; 8],
    /// Come from other priorities, by Tagger's rules or isolation, less those gone to others.
    #[serde(default)]
    pub retagged: [i64; 8],
    /// Consumed by the node they were for.
    pub delivered: [u64; 8],
    /// Dropped by a switch, or lost on a link.
    pub dropped: [u64; 8],
    /// Queued or on a wire when the run stopped.
    pub in_flight: [u64; 8],
}

impl Ledger {
    /// Priorities whose books do not balance.
    pub fn unbalanced(&self) -> impl Iterator<Item = usize> + '_ {
        let come = |p: usize| self.injected[p].checked_add_signed(self.retagged[p]);
        (0..8).filter(move |&p| come(p) != Some(self.delivered[p] + self.dropped[p] + self.in_flight[p]))
    }
}

/// What became of one flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlowRecord {
    /// When its sender had the ACK of its last byte; `None` if it did not complete.
    pub finish: Option<Time>,
    /// When the last byte reached its receiver; `None` if it did not.
    pub delivered: Option<Time>,
    /// When it started: as the flow set says, or later behind a gate; `None` if it did not come to that.
    pub start: Option<Time>,
    /// Payload acknowledged, in bytes.
    pub acked: u64,
    /// Data packets sent, retransmissions included.
    pub packets: u64,
    /// Data packets sent again.
    pub retransmitted: u64,
    /// Data packets that its receiver did not keep: duplicates and, with go-back-N, those out of order.
    pub discarded: u32,
    /// NACKs received by the sender.
    pub nacks: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// ACKs that echoed an ECN mark, or CNPs received.
    pub marks: u64,
    /// The reference simulator's ideal: base RTT of the pair (payload serialised once per hop) plus payload and basic
    /// headers at the slowest link (`third.cc`).
    pub ideal_hpcc: Time,
    /// The exact ideal: the flow alone on its path, sent back to back at line rate in its real packets, until the ACK of
    /// the last byte is back. No run is faster.
    pub ideal_exact: Time,
    /// Links on its path.
    pub hops: u8,
    /// Whether it was not to start: the end of its round, or of one that it waits for, had come
    /// ([`incast_model::flow::FlowSet::rounds`]).
    pub cancelled: bool,
}

impl FlowRecord {
    /// Flow completion time: from its start until its sender had the ACK of its last byte.
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
    /// Its sender had the ACK of its last byte.
    Completed,
    /// It had started, and the run stopped first.
    Incomplete,
    /// The run stopped before its start.
    NotStarted,
    /// It was not to start: the end of its round, or of one that it waits for, had come.
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

    /// Number of flows that were cancelled.
    pub fn cancelled(&self) -> usize {
        self.with_status(FlowStatus::Cancelled)
    }
}

/// Counters of one egress queue and of the ingress side of the same port and priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortRecord {
    /// The port.
    pub port: PortId,
    /// The priority.
    pub priority: u8,
    /// Wire bytes sent.
    pub tx_bytes: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Packets marked on leaving.
    pub marks: u64,
    /// Packets dropped on arrival at this port: no room, no route, or lost silently.
    pub drops: u64,
    /// Packets lost because this port's link was down: queued for it, on its wire, or come for it.
    pub lost: u64,
    /// Longest queue, in bytes.
    pub peak_queue: u64,
    /// Most buffer held by packets that arrived here (ingress), headroom included, in bytes.
    pub peak_ingress: u64,
    /// Most headroom used, in bytes.
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
    /// The paused egress port.
    pub port: PortId,
    /// The paused priority.
    pub priority: u8,
    /// When the XOFF frame took effect.
    pub start: Time,
    /// When the XON frame took effect; `None` if the run ended first.
    pub end: Option<Time>,
    /// Ingress bytes held at the peer for this port and priority when it sent the XOFF (its cause).
    pub ingress_bytes: u64,
    /// Egress port, in the peer, of the packet that crossed the XOFF threshold; for a pause of `network.pause` the peer's port
    /// that sent it.
    pub culprit_port: PortId,
}

/// A deadlock of PFC: egress queues of switches that wait on each other and will never send again, unless a watchdog or the
/// failure of a link ends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadlockRecord {
    /// A shortest cycle of queues, each waiting for the next, the last for the first.
    pub cycle: Vec<StuckQueue>,
    /// When it closed: the last of its queues was paused.
    pub closed: Time,
    /// When it was first seen.
    pub seen: Time,
    /// When it was first seen to be no more; `None` if it was there at the end.
    pub ended: Option<Time>,
    /// Most queues of switches that were stuck at one time: those that wait for each other and those that wait for them, of
    /// all deadlocks there were then.
    pub stuck_queues: u32,
    /// Most bytes in these.
    pub stuck_bytes: u64,
    /// Most ports of hosts that these kept paused.
    pub stuck_hosts: u32,
}

/// A queue of a deadlock's cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StuckQueue {
    /// Which.
    pub queue: QueueRef,
    /// Since when it is paused.
    pub since: Time,
    /// Bytes in it when the deadlock was first seen.
    pub bytes: u64,
}

/// A time during which the PFC watchdog did not let a queue be paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storm {
    /// The port of the queue.
    pub port: PortId,
    /// Its priority.
    pub priority: u8,
    /// When the watchdog found that it had been paused for too long.
    pub begin: Time,
    /// When it let it be paused again; `None` if the run ended before.
    pub end: Option<Time>,
}

/// A flow that was isolated at an egress port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IsolationRecord {
    /// The port: a switch's, or a host's where hosts isolate.
    pub port: PortId,
    /// The flow.
    pub flow: u32,
    /// Why.
    pub by: IsolatedBy,
    /// Since when.
    pub begin: Time,
    /// Until when; `None` if the run ended before.
    pub end: Option<Time>,
    /// Packets that left by the isolated queue, or went by it while nothing waited; none are counted at hosts.
    pub packets: u64,
    /// Their wire bytes.
    pub bytes: u64,
    /// Messages about the flow that the port sent.
    pub messages: u32,
    /// The queue that it was found in; `None` where it was not found at this port.
    pub found: Option<FoundIn>,
}

/// A queue that a flow was found in which congests it, as it was then, before the packet that it was found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundIn {
    /// Wire bytes of the flow there.
    pub flow_bytes: u64,
    /// Those of all flows.
    pub queue_bytes: u64,
    /// Flows with data there.
    pub queue_flows: u32,
    /// How long ago the next node last paused it: 0 if it was paused; `None` if it never was.
    pub pause_ago: Option<Time>,
    /// The root of that pause ([`crate::measure::Waits`]), and whether the flow's way goes there; `None` where it is not measured, or
    /// the next node paused of its own accord.
    pub root: Option<(PortId, bool)>,
}

/// Why a flow was isolated at a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IsolatedBy {
    /// It was picked as ECN picks packets.
    Marks,
    /// It was one of those with most bytes in the queue.
    Counters,
    /// The next switch said so.
    Message,
    /// Its packets came with the priority of isolated flows.
    Class,
}

impl IsolatedBy {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Marks, Self::Counters, Self::Message, Self::Class];

    /// As results name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Marks => "marks",
            Self::Counters => "counters",
            Self::Message => "message",
            Self::Class => "class",
        }
    }
}

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropReason {
    /// The switch had no room for it.
    Buffer,
    /// The link it was on, or was to leave by, was down.
    LinkDown,
    /// A failure that nobody noticed lost it.
    Silent,
    /// The switch knew no way to its destination.
    NoRoute,
    /// It had crossed as many switches as it may.
    Ttl,
    /// The PFC watchdog saw a storm where it was, or was to leave or had come in by.
    Watchdog,
}

impl DropReason {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Buffer, Self::LinkDown, Self::Silent, Self::NoRoute, Self::Ttl, Self::Watchdog];

    /// As results name it.
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
    /// When.
    pub time: Time,
    /// The switch or host.
    pub node: NodeId,
    /// Why.
    pub reason: DropReason,
    /// The port it arrived at; none for what the node itself sent.
    pub ingress: Option<PortId>,
    /// The port it left by or would have left by; none where it was not known.
    pub egress: Option<PortId>,
    /// Its priority.
    pub priority: u8,
    /// Its flow; none for PFC frames.
    pub flow: Option<u32>,
    /// Its wire bytes.
    pub bytes: u32,
    /// Whether its priority was lossless: if there was no room for it, this is a failure of the headroom, not of the flow.
    pub lossless: bool,
}

/// What happens to a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkChange {
    /// It goes down.
    Down,
    /// It comes up.
    Up,
    /// It begins to lose packets silently, or another fraction of them.
    Silent,
    /// It ceases to lose packets.
    Clean,
    /// Routes go round it from now on.
    Withdrawn,
    /// Routes use it again.
    Restored,
}

impl LinkChange {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Down, Self::Up, Self::Silent, Self::Clean, Self::Withdrawn, Self::Restored];

    /// As results name it.
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

/// Something that happened to a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkRecord {
    /// When.
    pub time: Time,
    /// The link.
    pub link: LinkId,
    /// What.
    pub change: LinkChange,
}

/// A flow that failures, or pauses that nodes send by themselves, keep from completing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutOff {
    /// The flow.
    pub flow: u32,
    /// Whether it is its ACKs that do not come through; if not, its data.
    pub acks: bool,
    /// Where.
    pub place: Obstacle,
}

/// Where packets of a flow do not come through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// The link of this port is down.
    Down(PortId),
    /// The link of this port loses everything, and nobody knows.
    Silent(PortId),
    /// This node knows no way to the destination.
    NoRoute(NodeId),
    /// The far end of this queue's link pauses it by itself (`network.pause`).
    Held(QueueRef),
}
