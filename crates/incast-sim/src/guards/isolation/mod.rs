//! Parameters and thresholds of congestion isolation (IEEE 802.1Qcz); its stages are in `nodes/guards/isolation`.

mod params;

use incast_model::fabric::{Fabric, Node, NodeKind};
use incast_model::rng::{self, Stream, unit};
use incast_model::units::{Bytes, Rate};

pub use params::{FlowDetection, IsolationAtHosts, IsolationParams, MarkedFlows};

/// In bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thresholds {
    /// No isolation up to this queue length.
    pub(crate) from: u32,
    /// Packets above this queue length always isolate their flow.
    pub(crate) always: u32,
    pub(crate) message: u32,
    pub(crate) release: u32,
}

#[derive(Debug)]
pub(crate) struct Isolation {
    pub(crate) params: IsolationParams,
    /// As bits.
    pub(crate) monitored: u8,
    /// Least `from` of all ports' queues together.
    pub(crate) calm: u32,
    pub(crate) thresholds: Vec<Thresholds>,
    /// Hosts have that of the first switch.
    pub(crate) draws: Vec<Stream>,
}

pub(crate) fn scaled(threshold: Bytes, rate: u64) -> u32 {
    let scaled = u128::from(threshold.0) * u128::from(rate) / u128::from(Rate::gbps(100).0);
    scaled.min(u128::from(u32::MAX)) as u32
}

impl Thresholds {
    fn new(params: &IsolationParams, rate: u64) -> Self {
        let (from, always) = match params.detection {
            FlowDetection::Marks { kmin, kmax, .. } => (kmin, kmax),
            FlowDetection::Counters { above, .. } => (above, above),
        };
        Self {
            from: scaled(from, rate),
            always: scaled(always, rate),
            message: scaled(params.message_above, rate),
            release: scaled(params.release_below, rate),
        }
    }

    /// `queued`: bytes before the packet. With marks, random between the thresholds.
    pub(crate) fn pick(&self, detection: FlowDetection, queued: u32, draws: &mut Stream) -> bool {
        let Self { from, always, .. } = *self;
        if queued <= from {
            return false;
        }
        let FlowDetection::Marks { pmax, .. } = detection else { return true };
        queued > always || unit(draws) < pmax * f64::from(queued - from) / f64::from(always - from)
    }
}

impl Isolation {
    /// `paused`: priorities under PFC, as bits; `rates` in bit/s.
    pub(crate) fn new(params: IsolationParams, paused: u8, rates: &[u64], fabric: &Fabric, seed: u64) -> Self {
        let mut switches = 0..;
        let mut draws_of = |node: &Node| {
            let number = if node.kind == NodeKind::Switch { switches.next() } else { None };
            rng::stream(seed, "isolation", number.unwrap_or(0))
        };
        let draws = fabric.nodes().iter().map(&mut draws_of).collect();
        let thresholds: Vec<Thresholds> = rates.iter().map(|&rate| Thresholds::new(&params, rate)).collect();
        Self {
            params,
            monitored: paused & !(1 << params.queue),
            calm: thresholds.iter().map(|port| port.from).min().unwrap_or(0),
            thresholds,
            draws,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Within four standard deviations.
    #[test]
    fn marks_pick_by_a_ramp() {
        let (kmin, kmax, pmax) = (Bytes(100_000), Bytes(400_000), 0.2);
        let detection = FlowDetection::Marks { kmin, kmax, pmax };
        let params = IsolationParams { detection, ..IsolationParams::default() };
        let mut stream = rng::stream(7, "isolation", 0);
        let draws = 200_000;
        for (rate, times) in [(100, 1), (400, 4)] {
            let thresholds = Thresholds::new(&params, Rate::gbps(rate).0);
            let mut share = |queued: u32| {
                let picked = (0..draws).filter(|_| thresholds.pick(detection, queued * times, &mut stream)).count();
                picked as f64 / f64::from(draws)
            };
            assert_eq!([0, 50_000, 100_000].map(&mut share), [0.0; 3]);
            assert_eq!([400_001, 1_000_000].map(&mut share), [1.0; 2]);
            for queued in [101_000, 130_000, 200_000, 300_000, 399_000, 400_000] {
                let expected = pmax * f64::from(queued - 100_000) / 300_000.0;
                let deviation = (expected * (1.0 - expected) / f64::from(draws)).sqrt();
                let found = share(queued);
                assert!((found - expected).abs() < 4.0 * deviation, "{queued} B: {found}, not {expected}");
            }
        }
    }
}
