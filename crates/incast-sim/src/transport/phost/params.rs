//! Parameters of pHost.
//!
//! YAPS in the sources below is the simulator of pHost's authors (NetSys/simulator at commit 8e9cf04, `ext/capabilityflow.cpp`,
//! `ext/capabilityhost.cpp`, `py/run_experiments.py`; "capability" is its word for token). A packet time is that of a full
//! packet at the host's link.

use incast_model::units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::congestion::BadParameter;
use crate::switch::{QueueParams, SchedulerParams, SwitchParams};
use crate::transport::TransportParams;

/// In which order a host serves flows, as a source those with tokens, as a receiver those that want some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhostOrder {
    /// The flow with fewest packets left first (CoNEXT 2015, section 3; YAPS).
    #[default]
    Srpt,
    /// The flow that started first.
    Fifo,
    /// Labels in turn, within a label the flow with fewest packets left (CoNEXT 2015, section 3: tenants).
    LabelFair,
}

/// What a receiver that hears of new flows keeps its pacer from giving out tokens for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhostHold {
    /// The free tokens of all of them (our choice: so much data is on its way).
    #[default]
    All,
    /// Those of the last one, even if it has none (YAPS).
    Last,
}

/// Parameters of pHost; the same for all its flows. Where `switch` says nothing, every port has a buffer of 36864 B (YAPS: 36 kB)
/// with strict priorities, and drops what does not fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PhostParams {
    /// Packets that a flow may send without being asked. Default 8 (YAPS `capability_initial`).
    pub free_tokens: u32,
    /// Flows of more packets have free tokens too, not only those of as many or fewer. Default false (YAPS); the text of
    /// CoNEXT 2015, section 3, gives them to all flows.
    pub free_tokens_long: bool,
    /// How long a token may be used after it has come, in packet times. Default 1.5 (YAPS `capability_timeout`).
    pub token_life: f64,
    /// How long a receiver waits for the data of all tokens before it gives out others for what is missing, in packet times.
    /// Default 9 (YAPS `capability_resend_timeout`).
    pub reissue_after: f64,
    /// Tokens without data after which a receiver passes a source over. Default 8 (YAPS `capability_window`).
    pub window: u32,
    /// For how long, in packet times. Default 25 (YAPS `capability_window_timeout`; 15 at 10 Gb/s).
    pub downgrade_for: f64,
    /// A source that hears nothing announces its flow again after this time, then after twice as long, and so on. Default 9.5us
    /// (`retx_timeout` of YAPS, which nothing reads there; what it is for is our choice).
    pub retry: Time,
    /// In which order flows are served. Default srpt (YAPS).
    pub order: PhostOrder,
    /// What free tokens keep a receiver from giving out others for. Default all (our choice).
    pub hold: PhostHold,
    /// Priority of announcements, tokens and acknowledgements, 1 to 7. Default 7 (our choice: the first to be served).
    pub control_priority: u8,
    /// Priority of the data of short flows, 1 to 7; absent: that of their flow, as long flows have. Default 6 (our choice: above
    /// long ones; CoNEXT 2015, section 3).
    pub short_priority: Option<u8>,
    /// Flows of at most so many packets are short. Default 8 (our choice: those that have free tokens for all they send).
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
    /// Free tokens of a flow of so many packets.
    pub(super) fn free(&self, packets: u64) -> u64 {
        let most = u64::from(self.free_tokens);
        if packets <= most || self.free_tokens_long { packets.min(most) } else { 0 }
    }

    /// Priority of the data of a flow of so many packets, whose own is `of_flow`.
    pub(super) fn data_priority(&self, packets: u64, of_flow: u8) -> u8 {
        if packets <= u64::from(self.short_packets) { self.short_priority.unwrap_or(of_flow) } else { of_flow }
    }
}

impl TransportParams for PhostParams {
    const SUMMARY: &'static str = "pHost (CoNEXT 2015): receivers give out tokens, one packet each";
    const PROFILES: &'static [(&'static str, &'static str)] = &[
        (
            "disaggregation",
            "8 free tokens for flows of at most 8 packets (the resource disaggregation study; YAPS at 40 Gb/s)",
        ),
        ("yaps", "YAPS at 40 Gb/s: the same, all data in one priority, its rule for holding back"),
        ("yaps-10g", "YAPS at 10 Gb/s: the same, sources are passed over for 15 packet times"),
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

    fn check(&self) -> Result<(), BadParameter> {
        let times = "more than 0 packet times, at most 1e6";
        for (field, value) in [
            ("token_life", self.token_life),
            ("reissue_after", self.reissue_after),
            ("downgrade_for", self.downgrade_for),
        ] {
            BadParameter::unless(value > 0.0 && value <= 1e6, field, value, times)?;
        }
        BadParameter::unless(self.free_tokens <= 1 << 20, "free_tokens", self.free_tokens, "0 to 1048576")?;
        BadParameter::unless(
            self.window > 0,
            "window",
            self.window,
            "1 token or more: with none nothing is ever sent",
        )?;
        BadParameter::unless(self.retry > Time::ZERO, "retry", self.retry, "more than 0s")?;
        let priorities = [("control_priority", Some(self.control_priority)), ("short_priority", self.short_priority)];
        priorities.into_iter().try_for_each(|(field, priority)| {
            let priority = priority.unwrap_or(1);
            BadParameter::unless((1..8).contains(&priority), field, priority, "1 to 7 (0 carries PFC frames)")
        })
    }

    fn priorities(&self) -> u8 {
        1 << self.control_priority | self.short_priority.map_or(0, |short| 1 << short)
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
