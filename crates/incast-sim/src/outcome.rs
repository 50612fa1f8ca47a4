//! Results of a run.

mod records;

use std::time::Duration;

use incast_model::fabric::PortId;
use incast_model::units::Time;
use serde::{Deserialize, Serialize};

pub use records::*;

pub use crate::declared::{Counter, Notice};
use crate::guards::for_each_guard;
use crate::measure::{Fingerprint, QueueHistogram, QueueSample, RateSample, Waits};
use crate::tenant::{PairRecord, PairSample};

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
    /// Numbers of the backlogged flows whose workload entry has ended, with the bytes acknowledged at that time. Sorted; without
    /// UDP, which has no ACKs.
    pub acked_by_end: Vec<(u32, u64)>,
    /// Used priorities of ports.
    pub ports: Vec<PortRecord>,
    /// Pauses by PFC.
    pub pauses: Vec<PauseRecord>,
    /// Dropped packets (the first [`crate::measure::MeasureParams::max_drops`]; `ports` counts all).
    pub drops: Vec<DropRecord>,
    /// Changes of links.
    pub links: Vec<LinkRecord>,
    /// PFC deadlocks, in order of discovery.
    pub deadlocks: Vec<DeadlockRecord>,
    /// PFC storms.
    pub storms: Vec<Storm>,
    /// Isolations of flows.
    pub isolations: Vec<IsolationRecord>,
    /// Queueing delays by flow (optional).
    pub waits: Vec<Waits>,
    /// Flows blocked by failures at the stop.
    pub cut_off: Vec<CutOff>,
    /// Queue lengths over time (optional).
    pub queues: Vec<QueueSample>,
    /// Flow rates over time (optional).
    pub rates: Vec<RateSample>,
    /// Pairs of VMs.
    pub pairs: Vec<PairRecord>,
    /// Pairs of VMs over time (optional).
    pub pair_samples: Vec<PairSample>,
    /// Counters of hypervisors.
    pub hypervisors: HypervisorCounts,
    /// Time-weighted queue lengths of switch ports (optional).
    pub histograms: Vec<QueueHistogram>,
    /// Digests (optional).
    pub fingerprint: Option<Fingerprint>,
    /// All else is the same with any threads.
    pub threads: Threads,
}

/// Threads of one simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threads {
    /// Number.
    pub count: usize,
    /// CPU time of all but the caller's.
    pub others_cpu: Duration,
    /// Events from begin to end if each partition has a thread, those in which threads wait among them; 0 unless the fabric is cut
    /// by hand and one thread runs. All events over these is the largest speed-up.
    pub sequential: u64,
}

/// Reason of a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// All flows completed or were cancelled.
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
    /// Paused queues wait for each other in a cycle.
    Deadlock {
        /// Each queue waits for the next, cyclically.
        cycle: Vec<QueueRef>,
        /// Flows not completed.
        unfinished: u32,
    },
    /// No deadlock, but no event is left or nothing moved for the stall time.
    Stalled {
        /// First 100 unfinished flows that have started; others wait for them.
        flows: Vec<u32>,
        /// Flows not completed.
        unfinished: u32,
    },
    /// Stopped by the caller.
    Interrupted {
        /// Flows not completed.
        unfinished: u32,
    },
}

named! {
    /// Kind of a stop.
    pub enum StopReason {
        Finished: "finished", "every flow completed";
        Horizon: "horizon", "stopped at the horizon";
        Budget: "budget", "stopped after simulation.max_events";
        Deadlock: "deadlock", "deadlock";
        Stalled: "stalled", "stalled: no flow can go on";
        Interrupted: "interrupted", "interrupted";
    }
}

impl StopReason {
    /// True if the run failed.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Deadlock | Self::Stalled)
    }
}

impl Stop {
    /// Kind.
    pub const fn reason(&self) -> StopReason {
        match self {
            Self::Finished => StopReason::Finished,
            Self::Horizon { .. } => StopReason::Horizon,
            Self::Budget { .. } => StopReason::Budget,
            Self::Deadlock { .. } => StopReason::Deadlock,
            Self::Stalled { .. } => StopReason::Stalled,
            Self::Interrupted { .. } => StopReason::Interrupted,
        }
    }

    /// Flows not completed.
    pub const fn unfinished(&self) -> u32 {
        match self {
            Self::Finished => 0,
            Self::Horizon { unfinished }
            | Self::Budget { unfinished }
            | Self::Deadlock { unfinished, .. }
            | Self::Stalled { unfinished, .. }
            | Self::Interrupted { unfinished } => *unfinished,
        }
    }
}

/// An egress queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueRef {
    /// Port.
    pub port: PortId,
    /// Priority.
    pub priority: u8,
}

/// Declares counters and causes of drops, with those of guards.
macro_rules! counts_and_drops {
    ($(
        #[doc = $doc:literal] $name:ident: $params:ident
        $(, drops $cause:ident($who:literal, $why:literal, $all:ident, $lossless:ident, $bytes:ident))?;
    )+) => {
        counters! {
            /// Counters of a run.
            pub struct Counts {
                events: "", Quiet, "events handled";
                data_hops: "", Quiet, "data packets, once per link crossed";
                ack_hops: "", Quiet, "ACKs, NACKs, CNPs and congestion isolation messages, once per link crossed";
                pfc_hops: "", Quiet, "PFC frames, once per link crossed";
                marks: "", Quiet, "packets marked by ECN";
                drops: "", Quiet, "packets dropped or lost";
                lossless_drops: "", Failure, "lossless packets dropped: PFC headroom exceeded";
                link_down_drops: "", Shown, "packets lost on links that were down";
                silent_drops: "", Shown, "packets lost to gray failures";
                no_route_drops: "", Shown, "packets dropped: no route to the destination";
                ttl_drops: "", Shown, "packets dropped: TTL expired";
                $($(
                    $all: "", Shown, concat!("packets dropped by the ", $who);
                    $lossless: "", Failure, concat!("lossless packets dropped by the ", $who, " (", $why, ")");
                    $bytes: "B", Quiet, concat!("wire bytes dropped by the ", $who);
                )?)+
                retagged: "", Quiet, "packets with a tag changed by Tagger's rules";
                made_lossy: "", Quiet, "packets moved to a lossy priority by Tagger's rules";
                pauses: "", Quiet, "XOFF frames sent";
                isolation_messages: "", Shown, "isolation messages (CIP) sent";
                isolation_messages_to_hosts: "", Shown, "isolation messages (CIP) received by hosts";
                isolations_refused: "", Shown, "flows not isolated: table full";
                peak_packets: "", Quiet, "packets at one time, at most; with windows, at the end of one";
            }
        }

        impl Counts {
            pub(crate) fn count_drop(&mut self, record: &DropRecord) {
                self.drops += 1;
                match record.reason {
                    DropReason::Buffer => self.lossless_drops += u64::from(record.lossless),
                    DropReason::LinkDown => self.link_down_drops += 1,
                    DropReason::Silent => self.silent_drops += 1,
                    DropReason::NoRoute => self.no_route_drops += 1,
                    DropReason::Ttl => self.ttl_drops += 1,
                    $($(DropReason::$cause => {
                        self.$all += 1;
                        self.$lossless += u64::from(record.lossless);
                        self.$bytes += u64::from(record.bytes);
                    })?)+
                }
            }
        }

        named! {
            /// Cause of a packet drop.
            pub enum DropReason {
                Buffer: "buffer", "no buffer space";
                LinkDown: "link-down", "link down";
                Silent: "silent", "gray failure";
                NoRoute: "no-route", "no route to the destination";
                Ttl: "ttl", "time to live exceeded";
                $($($cause: stringify!($name), $who;)?)+
            }
        }
    };
}

for_each_guard!(counts_and_drops);

impl Counts {
    /// Packets of every kind.
    pub const fn packet_hops(&self) -> u64 {
        self.data_hops + self.ack_hops + self.pfc_hops
    }
}

counters! {
    /// Counters of hypervisors.
    pub struct HypervisorCounts {
        messages: "", Quiet, "messages between hypervisors";
        message_bytes: "B", Quiet, "wire bytes of messages between hypervisors";
        allocations: "", Quiet, "updates of rate limits of pairs; with `edge_only`, of VMs";
        partitions: "", Quiet, "divisions of VMs' guarantees";
    }
}

/// Wire bytes by priority. Each has `injected + retagged = delivered + dropped + in_flight`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Created by hosts, or (PFC frames) by switches.
    pub injected: [u64; 8],
    /// Gained from other priorities minus lost, by Tagger's rules or isolation.
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
    pub(crate) fn retag(&mut self, old: u8, new: u8, bytes: i64) {
        self.retagged[usize::from(old & 7)] -= bytes;
        self.retagged[usize::from(new & 7)] += bytes;
    }

    /// Adds the bytes of other nodes.
    pub(crate) fn add(&mut self, other: &Self) {
        for prio in 0..8 {
            self.injected[prio] += other.injected[prio];
            self.retagged[prio] += other.retagged[prio];
            self.delivered[prio] += other.delivered[prio];
            self.dropped[prio] += other.dropped[prio];
            self.in_flight[prio] += other.in_flight[prio];
        }
    }

    /// Priorities that violate the equation.
    pub fn unbalanced(&self) -> impl Iterator<Item = usize> + '_ {
        let come = |p: usize| self.injected[p].checked_add_signed(self.retagged[p]);
        (0..8).filter(move |&p| come(p) != Some(self.delivered[p] + self.dropped[p] + self.in_flight[p]))
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
