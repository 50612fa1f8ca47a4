//! Parameters of ECN marking.

use incast_model::range::{above, least};
use incast_model::units::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time of the marking decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkAt {
    /// When the packet leaves, by the queue behind it (NS3).
    #[default]
    Dequeue,
    /// When the packet arrives, by the queue before it (RED as in RFC 3168, without averaging).
    Enqueue,
}

/// ECN marking by the instantaneous length of the egress queue: none up to kmin, with a probability that rises to pmax
/// at kmax, always above; a step if kmin = kmax. Only priorities above 0 are marked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EcnParams {
    /// If true, switches mark. Default true (NS3).
    pub enabled: bool,
    /// Kmin: queue length up to which no packet is marked, at a port of `per_rate`; at most `kmax`. Default 400kB at
    /// 100 Gb/s (NS3 `run.py`: 100 kB per 25 Gb/s).
    pub kmin: Bytes,
    /// Kmax: queue length above which every packet is marked, at a port of `per_rate`. Default 1600kB at 100 Gb/s (NS3
    /// `run.py`).
    pub kmax: Bytes,
    /// Pmax: marking probability at Kmax, 0 to 1. Default 0.2 (NS3 `run.py`).
    #[schemars(transform = least(0).most(1))]
    pub pmax: f64,
    /// Port rate of these thresholds, which scale with the rate. Default 100Gbps (the HPCC evaluation's hosts).
    #[schemars(transform = above("0bps"))]
    pub per_rate: Rate,
    /// Exact thresholds for ports of given rates; they do not scale. Default none.
    pub by_rate: Vec<EcnThreshold>,
    /// Time of the marking decision. Default dequeue (NS3).
    pub mark_at: MarkAt,
}

impl Default for EcnParams {
    fn default() -> Self {
        Self { kmin: Bytes(400_000), kmax: Bytes(1_600_000), pmax: 0.2, ..Self::step(Bytes(0)) }
    }
}

impl EcnParams {
    /// Marks every packet above the threshold at ports of 100 Gb/s (DCTCP, SIGCOMM 2010, section 3.1).
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

    /// Thresholds of ports of a rate, as if marking were enabled.
    pub fn at(&self, rate: Rate) -> EcnThreshold {
        if let Some(exact) = self.by_rate.iter().find(|entry| entry.rate == rate) {
            return *exact;
        }
        let scaled = |threshold: Bytes| {
            let bytes = u128::from(threshold.0) * u128::from(rate.0) / u128::from(self.per_rate.0);
            Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
        };
        EcnThreshold { rate, kmin: scaled(self.kmin), kmax: scaled(self.kmax), pmax: self.pmax }
    }
}

/// ECN thresholds of ports of one rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EcnThreshold {
    /// Ports of exactly this rate.
    pub rate: Rate,
    /// Queue length up to which no packet is marked.
    pub kmin: Bytes,
    /// Queue length above which every packet is marked.
    pub kmax: Bytes,
    /// Marking probability at `kmax`, 0 to 1.
    #[schemars(transform = least(0).most(1))]
    pub pmax: f64,
}
