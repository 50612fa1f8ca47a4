//! Parameters of pFabric's hosts.
//!
//! YAPS: NetSys/simulator at commit 8e9cf04, `ext/pfabricflow.cpp`, `py/run_experiments.py`.

use incast_model::field::FieldError;
use incast_model::range::{above, least};
use incast_model::units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::switch::{QueueParams, SwitchParams};
use crate::transport::TransportParams;

/// Parameters of pFabric. By default every port has a pFabric queue of 36864 B (two bandwidth-delay products of 18 kB
/// at 10 Gb/s: SIGCOMM 2013, section 5; YAPS).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PfabricParams {
    /// Initial window in packets. Default 12 (SIGCOMM 2013, section 5: the bandwidth-delay product at 10 Gb/s).
    #[schemars(transform = least(1))]
    pub init_cwnd: u32,
    /// Maximum packets in flight, at least `init_cwnd`; `"none"`: no limit. Default 24 (our choice: twice the
    /// bandwidth-delay product, as a port holds; without a limit, as in SIGCOMM 2013, packets time out in the host's own
    /// queue).
    pub max_cwnd: Option<u32>,
    /// Retransmission timeout, constant. Default 45us (SIGCOMM 2013, section 5: about three round trips).
    #[schemars(transform = above("0s"))]
    pub rto: Time,
    /// Timeouts in a row before a flow sends probes, one per timeout until an answer; `"none"`: no probes. Default 5
    /// (SIGCOMM 2013, section 4.2).
    #[schemars(transform = least(1).or_none())]
    pub probe_after: Option<u32>,
}

impl Default for PfabricParams {
    fn default() -> Self {
        Self { init_cwnd: 12, max_cwnd: Some(24), rto: Time::us(45), probe_after: Some(5) }
    }
}

impl TransportParams for PfabricParams {
    const SUMMARY: &'static str = "pFabric (SIGCOMM 2013): queues by remaining flow size, a window, a short timeout";
    const PROFILES: &'static [(&'static str, &'static str)] = &[
        (
            "paper",
            "initial window 12 packets, 45 us, probes after 5 timeouts (SIGCOMM 2013, section 5, for 10 Gb/s); at most 24 (our choice)",
        ),
        (
            "disaggregation",
            "the resource disaggregation study: initial window 2 packets, 45 us; at most 15 and no probes (our choice)",
        ),
        ("yaps", "YAPS at 40 Gb/s: initial window 12 packets, at most 15, 45 us, no probes (py/run_experiments.py)"),
        ("yaps-10g", "YAPS at 10 Gb/s: initial window 11 packets, at most 14, 45.2 us, no probes (py/experiment.py)"),
        (
            "yaps-10g-small",
            "the same for ports of 6200 B (with this limit of switch.queues): initial window 3 packets, at most 6, 9.5 us",
        ),
    ];

    fn profile(name: &str) -> Option<Self> {
        let of = |init_cwnd, max_cwnd, rto| {
            Some(Self { init_cwnd, max_cwnd: Some(max_cwnd), rto: Time::ns(rto), probe_after: None })
        };
        match name {
            "paper" => Some(Self::default()),
            "disaggregation" => of(2, 15, 45_000),
            "yaps" => of(12, 15, 45_000),
            "yaps-10g" => of(11, 14, 45_200),
            "yaps-10g-small" => of(3, 6, 9_500),
            _ => None,
        }
    }

    fn check(&self) -> Result<(), FieldError> {
        let most = self.max_cwnd.unwrap_or(u32::MAX);
        FieldError::unless(most >= self.init_cwnd, "max_cwnd", most, "no fewer packets than init_cwnd, or \"none\"")
    }

    fn timeout(&self) -> Option<(&'static str, Time)> {
        Some(("rto", self.rto))
    }

    fn in_flight(&self) -> Option<(&'static str, u32)> {
        self.max_cwnd.map(|most| ("max_cwnd", most))
    }

    fn patience(&self) -> Time {
        self.rto * 4
    }

    fn switch(&self) -> SwitchParams {
        SwitchParams { queues: QueueParams::Pfabric { limit: Bytes(36_864) }, ..SwitchParams::default() }
    }
}
