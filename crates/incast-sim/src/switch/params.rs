//! Parameters of the switch.
//!
//! NS3: the HPCC authors' ns-3 (`switch-mmu.cc`, `third.cc`, `run.py` at commit 9f4be2a). YAPS: the simulator of pHost's
//! authors (NetSys/simulator at commit 8e9cf04).

use incast_model::range::{above, least, most, priority};
use incast_model::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::by_rate::PortProfile;
use super::plain::{Alpha, Headroom};
use crate::guards::{GuardParams, for_each_guard};

/// Declares [`SwitchParams`], with the tables of guards at the end.
macro_rules! switch_params {
    ($(#[doc = $doc:literal] $guard:ident: $params:ident $(, drops $cause:ident $texts:tt)?;)+) => {
        /// Forwarding, buffer, PFC and scheduling of every switch.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct SwitchParams {
            /// Forwarding mode. Default store-and-forward (NS3).
            pub forwarding: Forwarding,
            /// Bytes of a packet that a cut-through switch needs before it forwards, 1 B to 4096 B. Default 40B (YAPS: its IP
            /// and TCP headers).
            #[schemars(transform = least("1B").most("4096B"))]
            pub cut_through_header: Bytes,
            /// Packet queues and drops. Default shared (NS3).
            pub queues: QueueParams,
            /// Packet buffer of a switch, shared by its ports, at most 2 GiB. Default 33554432B = 32 MiB (NS3 `run.py`:
            /// 16·bandwidth/50 MiB at 100 Gb/s).
            #[schemars(transform = above("0B").most("2GiB"))]
            pub buffer: Bytes,
            /// Size of a buffer cell, 16 B to 4096 B: a packet occupies whole cells in reserve, shared buffer and headroom. PFC
            /// thresholds and counters count the bytes of cells; queue lengths, ECN and drops of lossy queues count packets'
            /// bytes. Default none (exact bytes; NS3). SONiC: 96 B to 256 B (Spectrum); 208 B (a 100 Gb/s chip's tables).
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(transform = least("16B").most("4096B"))]
            pub cell: Option<Bytes>,
            /// Buffer guaranteed to each ingress port and priority; the buffer sets one per port aside (NS3). Default 4096B (NS3
            /// `switch-mmu.cc`).
            #[schemars(transform = most("16MiB"))]
            pub reserve: Bytes,
            /// Lossless priorities (PFC), 1 to 7; with tagging, in the order of tags. Default [3] (all data in the HPCC
            /// evaluation); with isolation also its queue.
            #[schemars(transform = priority())]
            pub lossless: Vec<u8>,
            /// If true, PFC pauses lossless priorities; otherwise they drop like any other. Default true (the HPCC evaluation).
            pub pfc: bool,
            /// XOFF threshold of an ingress queue. Default dynamic, by rate (NS3 `third.cc`).
            pub pfc_mode: PfcMode,
            /// Distance of an ingress queue's XON below its XOFF threshold. At most a static threshold; 0 acts as 1B. Default
            /// 3072B (NS3 `resume_offset`).
            pub resume_offset: Bytes,
            /// Buffer per ingress port for packets after XOFF. Default computed (our choice; NS3: three-delays).
            pub headroom: Headroom,
            /// Headroom and alpha of ports by rate and delay. Default none.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            pub by_rate: Vec<PortProfile>,
            /// Maximum lossy egress queue as a multiple of the free buffer (Choudhury and Hahne, ToN 1998). Default 1 (our
            /// choice: half of the buffer for a single queue).
            #[schemars(transform = above(0).most(16))]
            pub lossy_alpha: f64,
            /// Order in which queues of a port are served. Default round-robin (NS3 `broadcom-egress-queue.cc`).
            pub scheduler: SchedulerParams,
            /// Unit of INT counters in `ns3` arithmetic: this times 128 B sent and 80 B queued, 1 to 10,000. Default the hosts'
            /// rate over 25 Gb/s, at least 1 (NS3 `run.py`, `INT_MULTI`).
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(transform = least(1).most(10_000))]
            pub int_multiplier: Option<u32>,
            $(#[doc = $doc] pub $guard: crate::guards::$params,)+
        }

        impl Default for SwitchParams {
            fn default() -> Self {
                Self {
                    forwarding: Forwarding::default(),
                    cut_through_header: Bytes(40),
                    queues: QueueParams::default(),
                    buffer: Bytes(32 << 20),
                    cell: None,
                    reserve: Bytes(4096),
                    lossless: vec![3],
                    pfc: true,
                    pfc_mode: PfcMode::Dynamic { alpha: Alpha::ByRate },
                    resume_offset: Bytes(3072),
                    headroom: Headroom::Computed,
                    by_rate: Vec::new(),
                    lossy_alpha: 1.0,
                    scheduler: SchedulerParams::RoundRobin,
                    int_multiplier: None,
                    $($guard: crate::guards::$params::default(),)+
                }
            }
        }

        impl SwitchParams {
            /// Guards, with their names.
            pub fn guards(&self) -> impl Iterator<Item = (&'static str, &dyn GuardParams)> {
                [$((stringify!($guard), &self.$guard as &dyn GuardParams),)+].into_iter()
            }
        }
    };
}

for_each_guard!(switch_params);

impl SwitchParams {
    /// Makes the queue of enabled isolation lossless, unless all priorities are lossy.
    #[must_use]
    pub fn with_isolated_lossless(mut self) -> Self {
        let queue = self.isolation.queue;
        if self.isolation.enabled && !self.lossless.is_empty() && !self.lossless.contains(&queue) {
            self.lossless.push(queue);
            self.lossless.sort_unstable();
        }
        self
    }

    /// Priorities that PFC pauses, as bits; none without PFC or without a shared buffer.
    pub fn paused_priorities(&self) -> u8 {
        if self.pfc && self.queues == QueueParams::Shared {
            self.lossless.iter().fold(0, |mask, prio| mask | 1 << prio)
        } else {
            0
        }
    }
}

/// Time at which a switch forwards a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forwarding {
    /// After the last bit.
    #[default]
    StoreAndForward,
    /// After the header; towards a faster link after the last bit, as that link would run empty within the packet.
    CutThrough,
    /// After the header, towards any link, as if bits arrived at the speed of departure (YAPS). For comparison with
    /// that simulator only.
    CutThroughUnderrun,
}

/// Packet queues of a switch, and the packets dropped when they are full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueParams {
    /// One buffer for all ports, with PFC for lossless priorities.
    #[default]
    Shared,
    /// One buffer per egress port for all priorities; packets that do not fit are dropped. No PFC.
    DropTail {
        /// Buffer, without the packet being sent.
        #[schemars(transform = above("0B").most("2GiB"))]
        limit: Bytes,
    },
    /// One buffer per egress port, by remaining flow size (pFabric, SIGCOMM 2013, section 4.1): drops from the flow
    /// with most left, sends the first packet of the flow with least left. Data of other transports goes before, by
    /// priority; packets without data go first. No PFC, no scheduler.
    Pfabric {
        /// Buffer, without the packet being sent.
        #[schemars(transform = above("0B").most("2GiB"))]
        limit: Bytes,
    },
}

impl QueueParams {
    /// Buffer of each port; `None` if ports share one.
    pub const fn limit(&self) -> Option<Bytes> {
        match self {
            Self::Shared => None,
            Self::DropTail { limit } | Self::Pfabric { limit } => Some(*limit),
        }
    }
}

/// XOFF threshold of an ingress queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PfcMode {
    /// Share of the free shared buffer: XOFF above alpha · (buffer − headrooms − reserves − shared bytes in use).
    Dynamic {
        /// Share alpha, more than 0 and at most 16; switches have 1/128 to 8.
        alpha: Alpha,
    },
    /// Fixed number of bytes above the reserve.
    Static {
        /// Bytes at which XOFF is sent, less than the buffer.
        #[schemars(transform = above("0B"))]
        xoff: Bytes,
    },
}

/// Order in which the eight queues of a port are served. Priority 0 carries PFC frames and isolation messages, is always
/// served first and never paused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SchedulerParams {
    /// One packet from each waiting queue in turn (NS3 `broadcom-egress-queue.cc`).
    RoundRobin,
    /// Highest waiting priority number first.
    StrictPriority,
    /// Deficit round robin (Shreedhar and Varghese, SIGCOMM 1995). A paused queue keeps its deficit and earns nothing.
    Drr {
        /// Bytes per round of priorities 0 to 7; that of 0 is not used.
        quanta: [u32; 8],
        /// Priorities served before the rounds, highest first. Default none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schemars(transform = priority().note("0 goes before all others anyway"))]
        strict: Vec<u8>,
    },
}
