use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry::{Collector, Entry};
use super::law::{SizeLaw, lognormal};
use super::window::Window;
use crate::entry::EntryError;
use crate::fabric::HostId;
use crate::range::above;
use crate::rng::{Stream, unit};
use crate::units::Time;

/// Bytes that a load counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadOf {
    /// Payload only, as in the HPCC evaluation: 70 % load is more than 70 % of the wire.
    #[default]
    Payload,
    /// Payload and headers.
    Wire,
}

/// Distribution of the gaps between the flows of a host; the load sets the mean.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalLaw {
    /// Exponential gaps.
    #[default]
    Poisson,
    /// Lognormal gaps: burstier, as measured in datacenters (Benson, Akella, Maltz, IMC 2010, sec. 5).
    Lognormal(LognormalArrivals),
}

/// Parameters of lognormal gaps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LognormalArrivals {
    /// Standard deviation of the natural logarithm of a gap, more than 0 and at most 5; common are 1 and 2:
    /// coefficients of variation 1.3 and 7.3.
    #[schemars(transform = above(0).most(5))]
    pub sigma: f64,
}

/// In ps, for `load` of `bit_per_s` with flows of `bytes` on average.
pub(super) fn mean_gap(bytes: f64, load: f64, bit_per_s: f64) -> f64 {
    bytes * 8.0 / (load * bit_per_s) * 1e12
}

/// Stationary renewal process: independent gaps, rounded to ps. An ordinary first gap would begin bursty processes with a burst
/// (Cox, "Renewal Theory", 1962, section 4.1: half of the squared coefficient of variation less 1, 26 flows at sigma 2).
#[derive(Debug)]
pub(super) struct Arrivals {
    begun: bool,
    now: u64,
    end: u64,
    mean: f64,
    law: ArrivalLaw,
}

impl Arrivals {
    /// Poisson; `mean` gap in ps.
    pub(super) fn new(window: Window, mean: f64) -> Self {
        Self { begun: false, now: window.start.0, end: window.end.0, mean, law: ArrivalLaw::Poisson }
    }

    pub(super) fn with(self, law: ArrivalLaw) -> Self {
        Self { law, ..self }
    }

    /// `None` at the end of the window.
    pub(super) fn next(&mut self, rng: &mut Stream) -> Option<Time> {
        let u = unit(rng);
        let gap = match self.law {
            // libm, not std: bit-identical on every machine.
            ArrivalLaw::Poisson => -libm::log(1.0 - u) * self.mean,
            ArrivalLaw::Lognormal(LognormalArrivals { sigma }) if self.begun => lognormal(self.mean, sigma, u),
            // The gap around the window's begin is length-biased: its mean logarithm is larger by sigma². The low half of the
            // draw selects the elapsed part.
            ArrivalLaw::Lognormal(LognormalArrivals { sigma }) => {
                let left = u * f64::from(1u32 << 26);
                lognormal(self.mean, sigma, u) * libm::exp(sigma * sigma) * (left - left.floor())
            }
        };
        self.begun = true;
        self.now = self.now.saturating_add(gap.round() as u64);
        (self.now < self.end).then_some(Time(self.now))
    }
}

/// From its own stream, with equally many draws per flow: a host's k-th flow keeps size and destination at any load.
pub(super) fn open_loop(
    entry: &Entry<'_>,
    out: &mut Collector,
    src: HostId,
    mut arrivals: Arrivals,
    sizes: &SizeLaw,
    mut to: impl FnMut(&mut Stream) -> HostId,
) -> Result<(), EntryError> {
    let mut rng = entry.stream("arrivals", src.0.into());
    while let Some(start) = arrivals.next(&mut rng) {
        let size = sizes.sample(unit(&mut rng));
        let dst = to(&mut rng);
        out.push(entry.flow(src, dst, size, start))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;

    fn gaps(n: usize, mean: f64, law: ArrivalLaw) -> Vec<f64> {
        let mut rng = stream(5, "test/arrivals", 0);
        let mut arrivals = Arrivals::new(Window { start: Time::ZERO, end: Time::MAX }, mean).with(law);
        let mut last = 0;
        let mut next = || {
            let now = arrivals.next(&mut rng).unwrap().0;
            (now - std::mem::replace(&mut last, now)) as f64
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn gaps_are_exponential() {
        let gaps = gaps(1_000_000, 1e8, ArrivalLaw::Poisson);
        let mean = gaps.iter().sum::<f64>() / 1e6;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / 1e6;
        assert!((mean / 1e8 - 1.0).abs() < 0.005, "mean {mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.01, "coefficient of variation {}", variance.sqrt() / mean);
        let beyond = gaps.iter().filter(|&&gap| gap > 1e8).count() as f64 / 1e6;
        assert!((beyond - (-1f64).exp()).abs() < 0.002, "{beyond}");
    }

    #[test]
    fn lognormal_gaps_keep_the_mean_and_are_burstier() {
        let law = ArrivalLaw::Lognormal(LognormalArrivals { sigma: 1.0 });
        let gaps = gaps(1_000_000, 1e8, law);
        let mean = gaps.iter().sum::<f64>() / 1e6;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / 1e6;
        assert!((mean / 1e8 - 1.0).abs() < 0.01, "mean {mean}");
        // sqrt(e^(sigma^2) - 1).
        assert!((variance.sqrt() / mean - 1.311).abs() < 0.04, "coefficient of variation {}", variance.sqrt() / mean);
        let below = gaps.iter().filter(|&&gap| gap < 1e8 * (-0.5f64).exp()).count() as f64 / 1e6;
        assert!((below - 0.5).abs() < 0.002, "median: {below}");
    }

    #[test]
    fn arrivals_stay_within_the_window() {
        let window = Window { start: Time::us(5), end: Time::us(7) };
        let mut rng = stream(5, "test/arrivals", 1);
        let mut arrivals = Arrivals::new(window, 1e4);
        let times: Vec<Time> = std::iter::from_fn(|| arrivals.next(&mut rng)).collect();
        assert!(times.iter().all(|&t| t >= window.start && t < window.end) && times.is_sorted());
        assert!((150..250).contains(&times.len()), "{}", times.len());
    }

    #[test]
    fn gap_of_a_load() {
        // Web search at 30 % of 100 Gb/s (HPCC).
        assert!((mean_gap(1_711_250.0, 0.3, 100e9) / 1e6 - 456.333).abs() < 0.001);
        assert!((mean_gap(120_420.75, 0.7, 100e9) / 1e6 - 13.762).abs() < 0.001);
    }
}
