//! Parameters of pHost.
//!
//! YAPS: NetSys/simulator at commit 8e9cf04, `ext/capabilityflow.cpp`, `ext/capabilityhost.cpp`, `py/run_experiments.py`
//! ("capability": token). A packet time is a full packet's at the host's link.

use incast_model::range::{above, least, priority};
use incast_model::units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::switch::{QueueParams, SchedulerParams, SwitchParams};
use crate::transport::TransportParams;

/// Order in which a host serves flows: those with tokens as a source, those that need some as a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhostOrder {
    /// Fewest packets left first (CoNEXT 2015, section 3; YAPS).
    #[default]
    Srpt,
    /// First started first.
    Fifo,
    /// Labels in turn, within a label the fewest packets left (CoNEXT 2015, section 3: tenants).
    LabelFair,
}

/// Free tokens of new flows that delay a receiver's own tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhostHold {
    /// Those of all new flows (our choice: so much data is in flight).
    #[default]
    All,
    /// Those of the last new flow, even if none (YAPS).
    Last,
}

/// Parameters of pHost; the same for all its flows. By default every port has a buffer of 36864 B (YAPS: 36 kB) with
/// strict priorities, and drops packets that do not fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PhostParams {
    /// Free tokens: packets that a flow can send without tokens of the receiver. Default 8 (YAPS `capability_initial`).
    #[schemars(transform = least(0).most(1 << 20))]
    pub free_tokens: u32,
    /// If true, flows of more packets have free tokens too. Default false (YAPS; CoNEXT 2015, section 3: all flows).
    pub free_tokens_long: bool,
    /// Lifetime of a token after its arrival, in packet times. Default 1.5 (YAPS `capability_timeout`).
    #[schemars(transform = above(0).most(1e6))]
    pub token_life: f64,
    /// Time without the data of all tokens before a receiver issues new tokens for missing packets, in packet times.
    /// Default 9 (YAPS `capability_resend_timeout`).
    #[schemars(transform = above(0).most(1e6))]
    pub reissue_after: f64,
    /// Tokens without data after which a receiver downgrades a source. Default 8 (YAPS `capability_window`).
    #[schemars(transform = least(1))]
    pub window: u32,
    /// Time of a downgrade, in packet times; data that arrives meanwhile does not end it unless another token is due.
    /// Default 25 (YAPS `capability_window_timeout`).
    #[schemars(transform = above(0).most(1e6))]
    pub downgrade_for: f64,
    /// Time without an answer before a source repeats its announcement, doubled each time. Default 9.5us (YAPS
    /// `retx_timeout`, which nothing reads there; its use is our choice).
    #[schemars(transform = above("0s"))]
    pub retry: Time,
    /// Order of flows. Default srpt (YAPS).
    pub order: PhostOrder,
    /// Free tokens that delay a receiver's own tokens. Default all (our choice).
    pub hold: PhostHold,
    /// Priority of announcements, tokens and acknowledgements, 1 to 7. Default 7 (our choice: served first).
    #[schemars(transform = priority())]
    pub control_priority: u8,
    /// Priority of the data of short flows, 1 to 7; `"none"`: the flow's own. Default 6 (our choice: above long ones;
    /// CoNEXT 2015, section 3).
    #[schemars(transform = priority())]
    pub short_priority: Option<u8>,
    /// Packets of the largest short flow. Default 8 (our choice: all sent with free tokens).
    pub short_packets: u32,
}

impl Default for PhostParams {
    fn default() -> Self {
        Self {
            free_tokens: 8,
            free_tokens_long: false,
            token_life: 1.5,
            reissue_after: 9.0,
            window: 8,
            downgrade_for: 25.0,
            retry: Time::ns(9500),
            order: PhostOrder::Srpt,
            hold: PhostHold::All,
            control_priority: 7,
            short_priority: Some(6),
            short_packets: 8,
        }
    }
}

impl PhostParams {
    pub(super) fn free(&self, packets: u64) -> u64 {
        let most = u64::from(self.free_tokens);
        if packets <= most || self.free_tokens_long { packets.min(most) } else { 0 }
    }

    pub(super) fn data_priority(&self, packets: u64, of_flow: u8) -> u8 {
        if packets <= u64::from(self.short_packets) { self.short_priority.unwrap_or(of_flow) } else { of_flow }
    }
}

impl TransportParams for PhostParams {
    const SUMMARY: &'static str = "pHost (CoNEXT 2015): receivers send tokens, one per packet";
    const PROFILES: &'static [(&'static str, &'static str)] = &[
        (
            "disaggregation",
            "8 free tokens for flows of at most 8 packets (the resource disaggregation study; YAPS at 40 Gb/s)",
        ),
        ("yaps", "YAPS at 40 Gb/s: all data in one priority, its rule for delaying tokens"),
        ("yaps-10g", "YAPS at 10 Gb/s: the same, downgrades of 15 packet times"),
        ("paper", "free tokens for every flow (CoNEXT 2015, section 3)"),
    ];

    fn profile(name: &str) -> Option<Self> {
        let yaps = Self { hold: PhostHold::Last, short_priority: None, ..Self::default() };
        match name {
            "disaggregation" => Some(Self::default()),
            "yaps" => Some(yaps),
            "yaps-10g" => Some(Self { downgrade_for: 15.0, ..yaps }),
            "paper" => Some(Self { free_tokens_long: true, ..Self::default() }),
            _ => None,
        }
    }

    fn priorities(&self) -> u8 {
        1 << self.control_priority | self.short_priority.map_or(0, |short| 1 << short)
    }

    fn timeout(&self) -> Option<(&'static str, Time)> {
        Some(("retry", self.retry))
    }

    fn in_flight(&self) -> Option<(&'static str, u32)> {
        Some(("window", self.window))
    }

    fn patience(&self) -> Time {
        self.retry * 256
    }

    fn switch(&self) -> SwitchParams {
        SwitchParams {
            queues: QueueParams::DropTail { limit: Bytes(36_864) },
            scheduler: SchedulerParams::StrictPriority,
            ..SwitchParams::default()
        }
    }
}
