//! Parameters of Fastpass.
//!
//! YAPS in the sources below is the simulator of pHost's authors (NetSys/simulator at commit 8e9cf04, `ext/fastpasshost.cpp`,
//! `ext/fastpassflow.cpp`, `run/params.cpp`): an arbiter that computes in no time at all.

use incast_model::units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::congestion::BadParameter;
use crate::switch::{QueueParams, SchedulerParams, SwitchParams};
use crate::transport::TransportParams;

/// When the slots of a schedule begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FastpassAlign {
    /// With the epoch that they are of, on all hosts at once, by synchronised clocks (SIGCOMM 2014, section 5).
    #[default]
    Epoch,
    /// When the schedule has come, if that is earlier (YAPS): hosts near the arbiter begin before others.
    Asap,
}

/// Whose packets the arbiter places first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FastpassOrder {
    /// Those of the flow with fewest packets left (YAPS).
    #[default]
    Srpt,
    /// Those of the flow that was last given a slot longest ago (SIGCOMM 2014, section 3: max-min fairness).
    LeastRecent,
}

/// Which of several equal ways packets take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FastpassPaths {
    /// As `network.load_balancing` says (YAPS, which sprays).
    #[default]
    Balanced,
    /// As the arbiter says, so that no link has more packets of a slot than it carries in that time (SIGCOMM 2014, section 4).
    /// Needs two tiers of switches: every one with hosts joined to all others by the same switches, once each.
    Allocated,
}

/// Parameters of Fastpass; the same for all its flows. Where `switch` says nothing, every port has a buffer of 36864 B (YAPS:
/// 36 kB) with strict priorities, and drops what does not fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FastpassParams {
    /// The host that the arbiter runs on, by name; it sends and receives nothing else. Default none (it has to
    /// be given; a scenario's `service` can add one to any fabric).
    pub arbiter: String,
    /// Packets that a host can send in an epoch. Default 8 (YAPS); the public code of the arbiter has 16.
    pub epoch_packets: u32,
    /// How much longer an epoch is than its packets, in packet times. Default 0.5 (YAPS).
    pub epoch_slack: f64,
    /// When slots begin. Default epoch (SIGCOMM 2014).
    pub align: FastpassAlign,
    /// How long after the last packet of a request a host waits before it asks for what is not acknowledged; absent: an epoch
    /// (YAPS). Default none.
    pub retry: Option<Time>,
    /// A host that has asked, and got no slot for so many epochs, asks again, then after twice as long, and so on. Default 4 (our
    /// choice; in YAPS a lost request or schedule is lost for ever).
    pub patience: u32,
    /// Whose packets come first. Default srpt (YAPS).
    pub order: FastpassOrder,
    /// Which of several equal ways packets take. Default balanced (YAPS).
    pub paths: FastpassPaths,
    /// Time that the arbiter takes for an epoch. Default 0s (YAPS: it computes in no time).
    pub processing: Time,
    /// Time that it takes on top for every request of that epoch. Default 0s (YAPS). The public code serves 2.2 Tb/s on 8 cores.
    pub processing_per_request: Time,
    /// The last packet of a flow is as long as any. Default false (our choice; YAPS does so).
    pub pad_last: bool,
    /// Priority of requests, schedules and acknowledgements, 1 to 7. Default 7 (YAPS: above data).
    pub control_priority: u8,
}

impl Default for FastpassParams {
    fn default() -> Self {
        Self {
            arbiter: String::new(),
            epoch_packets: 8,
            epoch_slack: 0.5,
            align: FastpassAlign::Epoch,
            retry: None,
            patience: 4,
            order: FastpassOrder::Srpt,
            paths: FastpassPaths::Balanced,
            processing: Time::ZERO,
            processing_per_request: Time::ZERO,
            pad_last: false,
            control_priority: 7,
        }
    }
}

impl TransportParams for FastpassParams {
    const SUMMARY: &'static str = "Fastpass (SIGCOMM 2014): an arbiter says who sends when";
    const PROFILES: &'static [(&'static str, &'static str)] = &[
        (
            "optimistic",
            "epochs of 8 packets that begin everywhere at once; the arbiter computes in no time (after YAPS)",
        ),
        ("yaps", "the same, hosts begin when they hear of it and pad last packets (YAPS, ext/fastpasshost.cpp)"),
        (
            "limited",
            "an arbiter that allocates paths, least recently served first (SIGCOMM 2014, sections 3 and 4), and takes 1 us for an \
             epoch and 10 ns for a request (our choice)",
        ),
    ];

    fn profile(name: &str) -> Option<Self> {
        match name {
            "optimistic" => Some(Self::default()),
            "yaps" => Some(Self { align: FastpassAlign::Asap, pad_last: true, ..Self::default() }),
            "limited" => Some(Self {
                order: FastpassOrder::LeastRecent,
                paths: FastpassPaths::Allocated,
                processing: Time::us(1),
                processing_per_request: Time::ns(10),
                ..Self::default()
            }),
            _ => None,
        }
    }

    fn check(&self) -> Result<(), BadParameter> {
        let named = !self.arbiter.is_empty();
        BadParameter::unless(named, "arbiter", "\"\"", "the name of the host that the arbiter runs on")?;
        let slots = (1..=64).contains(&self.epoch_packets);
        BadParameter::unless(slots, "epoch_packets", self.epoch_packets, "1 to 64 packets")?;
        let slack = (0.0..=1000.0).contains(&self.epoch_slack);
        BadParameter::unless(slack, "epoch_slack", self.epoch_slack, "0 to 1000 packet times")?;
        BadParameter::unless(self.retry != Some(Time::ZERO), "retry", Time::ZERO, "more than 0s, or \"none\"")?;
        BadParameter::unless(self.patience > 0, "patience", self.patience, "1 epoch or more")?;
        let priority = (1..8).contains(&self.control_priority);
        let allowed = "1 to 7 (0 carries PFC frames)";
        BadParameter::unless(priority, "control_priority", self.control_priority, allowed)
    }

    fn priorities(&self) -> u8 {
        1 << self.control_priority
    }

    fn patience(&self) -> Time {
        self.retry.unwrap_or_default() * 4 + Time::ms(1) * u64::from(self.patience)
    }

    fn switch(&self) -> SwitchParams {
        SwitchParams {
            queues: QueueParams::DropTail { limit: Bytes(36_864) },
            scheduler: SchedulerParams::StrictPriority,
            ..SwitchParams::default()
        }
    }
}
