//! Parameters of Fastpass.
//!
//! YAPS: NetSys/simulator at commit 8e9cf04, `ext/fastpasshost.cpp`, `ext/fastpassflow.cpp`, `run/params.cpp`; its arbiter
//! computes in no time.

use incast_model::field::FieldError;
use incast_model::range::{above, least, priority};
use incast_model::units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::switch::{QueueParams, SchedulerParams, SwitchParams};
use crate::transport::TransportParams;

/// Start of a schedule's slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FastpassAlign {
    /// With their epoch, on all hosts at the same time, by synchronised clocks (SIGCOMM 2014, section 5).
    #[default]
    Epoch,
    /// With the arrival of the schedule, if earlier (YAPS): hosts near the arbiter start first.
    Asap,
}

/// Order in which the arbiter serves flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FastpassOrder {
    /// Fewest packets left first (YAPS).
    #[default]
    Srpt,
    /// Least recently served first (SIGCOMM 2014, section 3: max-min fairness).
    LeastRecent,
}

/// Choice among equal paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FastpassPaths {
    /// By `network.load_balancing` (YAPS, which sprays).
    #[default]
    Balanced,
    /// By the arbiter, so that no link is overbooked in a slot (SIGCOMM 2014, section 4). Needs two tiers: every switch
    /// with hosts joined to all others by the same switches, once each.
    Allocated,
}

/// Parameters of Fastpass; the same for all its flows. By default every port has a buffer of 36864 B (YAPS: 36 kB) with
/// strict priorities, and drops packets that do not fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FastpassParams {
    /// Host of the arbiter, by name, without other traffic; required. Default none (`service` can add one).
    pub arbiter: String,
    /// Packets of a host per epoch, 1 to 64. Default 8 (YAPS; the arbiter's public code: 16).
    #[schemars(transform = least(1).most(64))]
    pub epoch_packets: u32,
    /// Length of an epoch beyond its packets, in packet times, 0 to 1000. Default 0.5 (YAPS).
    #[schemars(transform = least(0).most(1000))]
    pub epoch_slack: f64,
    /// Start of slots. Default epoch (SIGCOMM 2014).
    pub align: FastpassAlign,
    /// Time after a request's last packet before a host asks again for unacknowledged ones; `"none"`: an epoch (YAPS).
    /// Default none.
    #[schemars(transform = above("0s").or_none())]
    pub retry: Option<Time>,
    /// Epochs without a slot before a host repeats its request, doubled each time. Default 4 (our choice; in YAPS a
    /// lost request or schedule is lost for ever).
    #[schemars(transform = least(1))]
    pub patience: u32,
    /// Order of flows. Default srpt (YAPS).
    pub order: FastpassOrder,
    /// Choice among equal paths. Default balanced (YAPS).
    pub paths: FastpassPaths,
    /// Computing time of the arbiter per epoch. Default 0s (YAPS).
    pub processing: Time,
    /// Additional computing time per request of the epoch. Default 0s (YAPS); the public code serves 2.2 Tb/s on 8
    /// cores.
    pub processing_per_request: Time,
    /// If true, the last packet of a flow has full size. Default false (our choice; YAPS pads).
    pub pad_last: bool,
    /// Priority of requests, schedules and acknowledgements, 1 to 7. Default 7 (YAPS: above data).
    #[schemars(transform = priority())]
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
    const SUMMARY: &'static str = "Fastpass (SIGCOMM 2014): an arbiter assigns time slots";
    const PROFILES: &'static [(&'static str, &'static str)] = &[
        (
            "optimistic",
            "epochs of 8 packets that start on all hosts at the same time; the arbiter computes in no time (after YAPS)",
        ),
        ("yaps", "the same, hosts start when the schedule arrives and pad last packets (YAPS, ext/fastpasshost.cpp)"),
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

    fn check(&self) -> Result<(), FieldError> {
        if self.arbiter.is_empty() {
            return Err(
                FieldError::new("arbiter", "`arbiter` is missing").allowed("the name of the host that it runs on")
            );
        }
        Ok(())
    }

    fn priorities(&self) -> u8 {
        1 << self.control_priority
    }

    fn timeout(&self) -> Option<(&'static str, Time)> {
        self.retry.map(|retry| ("retry", retry))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arbiter_is_required() {
        let error = FastpassParams::default().check().unwrap_err().to_string();
        assert_eq!(error, "arbiter: `arbiter` is missing (allowed: the name of the host that it runs on)");
        assert_eq!(FastpassParams { arbiter: "h0".into(), ..FastpassParams::default() }.check(), Ok(()));
    }
}
