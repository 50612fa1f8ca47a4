//! Parameters of the switch, each with its unit, default and source.
//!
//! NS3 in the sources below is the HPCC authors' ns-3 (`switch-mmu.cc`, `third.cc`, `run.py` at commit 9f4be2a), YAPS the
//! simulator of pHost's authors (NetSys/simulator at commit 8e9cf04).

use incast_model::units::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IsolationParams, TaggingParams, WatchdogParams};

/// Forwarding, buffer, PFC and scheduling of every switch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SwitchParams {
    /// When a packet that has come is sent on. Default store-and-forward (NS3).
    pub forwarding: Forwarding,
    /// With cut-through: the bytes at the head of a packet that a switch must have before it sends the packet on. Default 40B
    /// (YAPS: its IP and TCP headers).
    pub cut_through_header: Bytes,
    /// Where packets wait, and what happens to those that find no room. Default shared: in one buffer, as everything below
    /// says (NS3).
    pub queues: QueueParams,
    /// Packet buffer of a switch, shared by its ports. Default 33554432B = 32 MiB (NS3 `run.py`: 16·bandwidth/50 MiB at
    /// 100 Gb/s).
    pub buffer: Bytes,
    /// Buffer guaranteed to each ingress port and priority. Default 4096B (NS3 `switch-mmu.cc`).
    pub reserve: Bytes,
    /// Priorities that PFC makes lossless, 1 to 7; with tagging, in the order of tags. Default [3] (the priority of all data in
    /// the HPCC evaluation).
    pub lossless: Vec<u8>,
    /// Whether lossless priorities are paused at all; without, they are dropped like any other. Default
    /// true (the HPCC evaluation).
    pub pfc: bool,
    /// How the XOFF threshold of an ingress queue is found. Default dynamic, with a share by rate (NS3 `third.cc`).
    pub pfc_mode: PfcMode,
    /// XON is sent when an ingress queue is this far below its threshold. Default 3072B (NS3 `resume_offset`).
    pub resume_offset: Bytes,
    /// Buffer set aside per ingress port for what arrives after XOFF. Default computed (our choice; NS3 has three-delays).
    pub headroom: Headroom,
    /// A lossy egress queue may hold this multiple of the free buffer (Choudhury and Hahne, ToN 1998). Default 1 (our
    /// choice: half of the buffer for a single queue).
    pub lossy_alpha: f64,
    /// Order in which queues of a port are served. Default round-robin (NS3 `broadcom-egress-queue.cc`).
    pub scheduler: SchedulerParams,
    /// Tags and rules against deadlocks (Tagger). Default none (the HPCC evaluation).
    pub tagging: TaggingParams,
    /// The PFC watchdog. Default none (the HPCC evaluation).
    pub watchdog: WatchdogParams,
    /// Congestion isolation (IEEE 802.1Qcz). Default none (the HPCC evaluation).
    pub isolation: IsolationParams,
}

impl Default for SwitchParams {
    fn default() -> Self {
        Self {
            forwarding: Forwarding::default(),
            cut_through_header: Bytes(40),
            queues: QueueParams::default(),
            buffer: Bytes(32 << 20),
            reserve: Bytes(4096),
            lossless: vec![3],
            pfc: true,
            pfc_mode: PfcMode::Dynamic { alpha: Alpha::ByRate },
            resume_offset: Bytes(3072),
            headroom: Headroom::Computed,
            lossy_alpha: 1.0,
            scheduler: SchedulerParams::RoundRobin,
            tagging: TaggingParams::default(),
            watchdog: WatchdogParams::default(),
            isolation: IsolationParams::default(),
        }
    }
}

impl SwitchParams {
    /// Priorities whose packets are looked at closely on their way through a switch, as bits.
    pub(crate) fn looked_at_closely(&self) -> u8 {
        if self.tagging.enabled || self.watchdog.enabled {
            return u8::MAX;
        }
        // Messages about isolation have priority 0.
        if self.isolation.enabled { self.paused_priorities() | 1 << self.isolation.queue | 1 } else { 0 }
    }

    /// The priorities that PFC pauses, as bits; none where it is off, or where ports have buffers of their own.
    pub fn paused_priorities(&self) -> u8 {
        if self.pfc && self.queues == QueueParams::Shared {
            self.lossless.iter().fold(0, |mask, prio| mask | 1 << prio)
        } else {
            0
        }
    }
}

/// When a switch sends on a packet that has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forwarding {
    /// When its last bit is there.
    #[default]
    StoreAndForward,
    /// When its header is there. Towards a link faster than the one it comes by, when its last bit is there: else that link
    /// would run out of bits in the middle of the packet.
    CutThrough,
    /// When its header is there, towards whatever link, as if its bits came at the speed they leave at (YAPS). For comparing
    /// with that simulator only.
    CutThroughUnderrun,
}

/// Where packets wait at a switch, and which of them is dropped when there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueParams {
    /// In a buffer that all ports share, with PFC for lossless priorities.
    #[default]
    Shared,
    /// In a buffer of each egress port, whatever the priority; a packet that does not fit is dropped. No PFC.
    DropTail {
        /// The buffer, without the packet being sent.
        limit: Bytes,
    },
    /// In a buffer of each egress port, in order of what is left of their flows (pFabric, SIGCOMM 2013, section 4.1): while
    /// the buffer is too full the packet of the flow with most left is dropped; next goes the first packet of the flow with
    /// least left. Data of transports other than pFabric ranks by its priority, before all of pFabric's; everything that is
    /// not data goes first. No PFC, no scheduler.
    Pfabric {
        /// The buffer, without the packet being sent.
        limit: Bytes,
    },
}

impl QueueParams {
    /// The buffer of each port; `None` where they share one.
    pub const fn limit(&self) -> Option<Bytes> {
        match self {
            Self::Shared => None,
            Self::DropTail { limit } | Self::Pfabric { limit } => Some(*limit),
        }
    }
}

/// How the XOFF threshold of an ingress queue is found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PfcMode {
    /// A share of the free shared buffer: XOFF above alpha · (buffer − headrooms − reserves − shared bytes in use).
    Dynamic {
        /// The share, above 0 and at most 16; switches have 1/128 to 8.
        alpha: Alpha,
    },
    /// A fixed number of bytes above the reserve.
    Static {
        /// XOFF at this many bytes, less than the buffer.
        xoff: Bytes,
    },
}

/// The share of the free buffer that one ingress queue may take.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = super::plain::or_number)]
pub enum Alpha {
    /// 1/8 for a port of the hosts' rate, doubled for each doubling of the rate, at most 1 (NS3 `third.cc`: shift 3,
    /// one less per doubling).
    ByRate,
    /// The same for every port.
    Value(f64),
}

/// Buffer set aside per ingress port and lossless priority for what arrives after XOFF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = super::plain::or_size)]
pub enum Headroom {
    /// 2·rate·delay + 2 full packets + the packet that triggers + one pause frame: nothing lossless is dropped.
    Computed,
    /// 3·rate·delay and nothing else (NS3 `third.cc`); too small below about 0.4 us at 100 Gb/s.
    ThreeDelays,
    /// Given.
    Bytes(Bytes),
}

/// Order in which the eight queues of a port are served. Priority 0 carries PFC frames and CNPs, is served first and is
/// never paused, under each of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SchedulerParams {
    /// One packet from each waiting queue in turn (NS3 `broadcom-egress-queue.cc`).
    RoundRobin,
    /// The highest waiting priority number first.
    StrictPriority,
    /// Deficit round robin (Shreedhar and Varghese, SIGCOMM 1995). A paused queue keeps its deficit and earns nothing.
    Drr {
        /// Bytes earned per round by priorities 0 to 7 (that of 0 is not used).
        quanta: [u32; 8],
        /// Priorities that go before the rounds, the highest first. Default none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        strict: Vec<u8>,
    },
}

/// Where an ECN mark is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkAt {
    /// When the packet leaves, by what it leaves behind (NS3).
    #[default]
    Dequeue,
    /// When the packet arrives, by what it finds (RED as in RFC 3168, without averaging).
    Enqueue,
}

/// ECN marking by the instantaneous length of the egress queue: none up to kmin, with a probability that rises to pmax
/// at kmax, always above. A step: kmin = kmax. Only priorities above 0 are marked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EcnParams {
    /// Whether switches mark. Default true (NS3).
    pub enabled: bool,
    /// No mark up to this queue, at a port of `per_rate`. Default 400 kB at 100 Gb/s (NS3 `run.py`: 100 kB per 25 Gb/s).
    pub kmin: Bytes,
    /// Always a mark above this queue, at a port of `per_rate`. Default 1600 kB at 100 Gb/s (NS3 `run.py`).
    pub kmax: Bytes,
    /// Marking probability at kmax. Default 0.2 (NS3 `run.py`).
    pub pmax: f64,
    /// Thresholds above are for ports of this rate and scale with the port's rate. Default 100Gbps (the
    /// HPCC evaluation's hosts).
    pub per_rate: Rate,
    /// Exact thresholds for ports of given rates; these do not scale. Default none.
    pub by_rate: Vec<EcnThreshold>,
    /// Where the mark is decided. Default dequeue, on leaving (NS3).
    pub mark_at: MarkAt,
}

impl Default for EcnParams {
    fn default() -> Self {
        Self { kmin: Bytes(400_000), kmax: Bytes(1_600_000), pmax: 0.2, ..Self::step(Bytes(0)) }
    }
}

impl EcnParams {
    /// Marks every packet above one threshold, at a port of 100 Gb/s, and none below (DCTCP, SIGCOMM 2010, section 3.1).
    pub const fn step(threshold: Bytes) -> Self {
        Self {
            enabled: true,
            kmin: threshold,
            kmax: threshold,
            pmax: 1.0,
            per_rate: Rate::gbps(100),
            by_rate: Vec::new(),
            mark_at: MarkAt::Dequeue,
        }
    }
}

/// ECN thresholds of ports of one rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EcnThreshold {
    /// Ports of exactly this rate.
    pub rate: Rate,
    /// No mark up to this queue.
    pub kmin: Bytes,
    /// Always a mark above this queue.
    pub kmax: Bytes,
    /// Marking probability at kmax, 0 to 1.
    pub pmax: f64,
}
