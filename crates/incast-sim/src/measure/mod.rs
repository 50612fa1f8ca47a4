//! What is recorded beside flows and counters. Nothing here changes what happens.

mod blocking;
mod fingerprint;
mod recorder;

use incast_model::fabric::PortId;
use incast_model::units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use blocking::Blocking;
pub use blocking::Waits;
pub use fingerprint::Fingerprint;
pub(crate) use recorder::Recorder;

/// What to record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MeasureParams {
    /// Period of the queue and rate time series. Default none: none is kept.
    pub sample_every: Option<Time>,
    /// Sampling starts here. Default 0ps (the begin).
    pub sample_from: Time,
    /// Sampling ends here. Default none: with the run.
    pub sample_until: Option<Time>,
    /// Keep time-weighted histograms of the queue length of every switch port. Default false (our choice).
    pub queue_histogram: bool,
    /// Width of a histogram bin. Default 1kB (as the queue monitor of NS3).
    pub histogram_bin: Bytes,
    /// Keep the intervals during which queues were paused (they are counted in any case). Default true (our choice).
    pub pauses: bool,
    /// Keep how long data of each flow waited in switches, how long of that because of PFC, and how long of that because of flows that
    /// leave the next switch by another port. Default false (our choice).
    pub blocking: bool,
    /// Time between two looks for deadlocks of PFC; 0s: one at the end. Looks do not change a run. Default 100us (our choice).
    pub deadlock_every: Time,
    /// Keep at most so many dropped packets (they are counted in any case). Default 100000 (our choice).
    pub max_drops: u64,
    /// Compute fingerprints: two numbers that are equal where two runs are equal, event by event and packet by packet. Default
    /// false (our choice).
    pub fingerprint: bool,
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
        }
    }
}

/// Length of one switch egress port's queues at one time; written only where it is not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueSample {
    /// When.
    pub time: Time,
    /// The port.
    pub port: PortId,
    /// Bytes queued, all priorities.
    pub bytes: u64,
    /// Wire bytes sent since the last sample of this port's series.
    pub tx_bytes: u64,
}

/// Rate and window of one active flow at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateSample {
    /// When.
    pub time: Time,
    /// The flow.
    pub flow: u32,
    /// Sending rate allowed by its control, in bit/s.
    pub rate: u64,
    /// Window allowed by its control, in bytes; `u64::MAX` if it has none.
    pub window: u64,
    /// Payload acknowledged so far, in bytes.
    pub acked: u64,
}

/// How long a switch port's queue had which length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueHistogram {
    /// The port.
    pub port: PortId,
    /// Picoseconds spent with a queue in [k·bin, (k+1)·bin), by k.
    pub time_in_bin: Vec<u64>,
}
