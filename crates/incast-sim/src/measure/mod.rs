//! Optional records, without effect on a run.

mod fingerprint;
mod histogram;
mod waits;

use incast_model::fabric::PortId;
use incast_model::range::above;
use incast_model::units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use fingerprint::Fingerprint;
pub(crate) use fingerprint::{OnWire, Prints};
pub(crate) use histogram::Lengths;
pub use waits::Waits;

/// Ideal completion time of a flow: slowdown = completion time / ideal time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ideal {
    /// HPCC evaluation: base RTT plus payload and basic headers at the slowest link; exact if schemes of the scenario or
    /// sweep have other transports than RDMA.
    #[default]
    Hpcc,
    /// The flow alone on its path, in its real packets: slowdowns are 1 or more.
    Exact,
}

/// Recorded data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MeasureParams {
    /// Sampling period of the time series of queues and rates. Default none: no time series.
    #[schemars(transform = above("0s").or_none())]
    pub sample_every: Option<Time>,
    /// Start of sampling. Default 0ps (start of the run).
    pub sample_from: Time,
    /// End of sampling, after `sample_from`. Default none: end of the run.
    pub sample_until: Option<Time>,
    /// If true, records time-weighted queue-length histograms of every switch port. Default false (our choice).
    pub queue_histogram: bool,
    /// Width of a histogram bin. Default 1kB (as the queue monitor of NS3).
    #[schemars(transform = above("0B"))]
    pub histogram_bin: Bytes,
    /// If true, records the intervals of pauses; counters are always kept. Default true (our choice).
    pub pauses: bool,
    /// If true, records the queueing delay of each flow, its part due to PFC, and its part as a victim (table `waits`).
    /// Default false (our choice).
    pub blocking: bool,
    /// Time between checks for PFC deadlocks; with 0 s one check at the end. Checks do not change a run. Default 100us
    /// (our choice).
    pub deadlock_every: Time,
    /// Maximum number of recorded drops; counters are always kept. Default 100000 (our choice).
    pub max_drops: u64,
    /// If true, computes fingerprints: equal for runs with equal events and packets. Default false (our choice).
    pub fingerprint: bool,
    /// Ideal completion time of slowdowns. Default hpcc (the HPCC evaluation).
    pub ideal: Ideal,
}

impl Default for MeasureParams {
    fn default() -> Self {
        Self {
            sample_every: None,
            sample_from: Time::ZERO,
            sample_until: None,
            queue_histogram: false,
            histogram_bin: Bytes(1000),
            pauses: true,
            blocking: false,
            deadlock_every: Time::us(100),
            max_drops: 100_000,
            fingerprint: false,
            ideal: Ideal::Hpcc,
        }
    }
}

/// Queue length of a switch port at one time; omitted if nothing is queued or was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueSample {
    /// Time.
    pub time: Time,
    /// Port.
    pub port: PortId,
    /// Bytes queued, all priorities.
    pub bytes: u64,
    /// Wire bytes sent since the last sample.
    pub tx_bytes: u64,
}

/// Rate and window of an active flow at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateSample {
    /// Time.
    pub time: Time,
    /// Flow.
    pub flow: u32,
    /// Allowed rate in bit/s.
    pub rate: u64,
    /// Allowed window in bytes; `u64::MAX` without one.
    pub window: u64,
    /// Payload acknowledged, in bytes.
    pub acked: u64,
}

/// Times at each queue length of a switch port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueHistogram {
    /// Port.
    pub port: PortId,
    /// Picoseconds with a queue in [k·bin, (k+1)·bin), by k.
    pub time_in_bin: Vec<u64>,
}
