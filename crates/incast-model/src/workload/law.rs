use super::cdf::SizeCdf;
use super::normal;

/// Distribution of flow sizes. Draws are whole bytes, at least 1, rounded down unless sizes count packets.
#[derive(Debug, Clone, PartialEq)]
pub enum SizeLaw {
    /// Piecewise-linear curve.
    Cdf(SizeCdf),
    /// Curve with draws of whole packets, rounded to nearest.
    Packets {
        /// In bytes.
        cdf: SizeCdf,
        /// In bytes.
        packet: u64,
    },
    /// Lognormal law.
    Lognormal {
        /// Mean size in bytes.
        mean: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// `location + scale / shape × ((1 - u)^-shape - 1)`; exponential for shape 0.
    GeneralizedPareto {
        /// Smallest size in bytes.
        location: f64,
        /// Scale in bytes.
        scale: f64,
        /// Shape below 1; larger ones have heavier tails.
        shape: f64,
    },
    /// Density falls with the power `alpha + 1` of the size, `min` to `max`.
    BoundedPareto {
        /// Smallest size in bytes.
        min: f64,
        /// Largest size in bytes.
        max: f64,
        /// Exponent of the tail.
        alpha: f64,
    },
}

impl From<SizeCdf> for SizeLaw {
    fn from(cdf: SizeCdf) -> Self {
        Self::Cdf(cdf)
    }
}

impl SizeLaw {
    /// Mean in bytes before rounding; curves are interpolated linearly.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Cdf(cdf) | Self::Packets { cdf, .. } => cdf.mean(),
            Self::Lognormal { mean, .. } => *mean,
            Self::GeneralizedPareto { location, scale, shape } => location + scale / (1.0 - shape),
            &Self::BoundedPareto { min, max, alpha } => {
                let ratio = min / max;
                let kept = 1.0 - libm::pow(ratio, alpha);
                if alpha == 1.0 {
                    return min * libm::log(max / min) / kept;
                }
                alpha / (alpha - 1.0) * min * (1.0 - libm::pow(ratio, alpha - 1.0)) / kept
            }
        }
    }

    /// `p`-quantile (0 to 1) in bytes, before rounding.
    pub fn quantile(&self, p: f64) -> f64 {
        match self {
            Self::Cdf(cdf) | Self::Packets { cdf, .. } => cdf.quantile(p),
            Self::Lognormal { mean, sigma } => lognormal(*mean, *sigma, p),
            &Self::GeneralizedPareto { location, scale, shape } => {
                let log = libm::log1p(-p);
                let excess = if shape == 0.0 { -log } else { libm::expm1(-shape * log) / shape };
                location + scale * excess
            }
            &Self::BoundedPareto { min, max, alpha } => {
                min * libm::pow(1.0 - p * (1.0 - libm::pow(min / max, alpha)), -1.0 / alpha)
            }
        }
    }

    /// Size for a uniform `u` in [0, 1).
    pub fn sample(&self, u: f64) -> u64 {
        let size = self.quantile(u);
        match self {
            Self::Packets { packet, .. } => (size / *packet as f64 + 0.5) as u64 * packet,
            _ => size as u64,
        }
        .max(1)
    }

    /// Curve, if any.
    pub fn cdf(&self) -> Option<&SizeCdf> {
        match self {
            Self::Cdf(cdf) | Self::Packets { cdf, .. } => Some(cdf),
            _ => None,
        }
    }
}

/// `p`-quantile; the logarithm has mean `ln mean - sigma²/2`, standard deviation `sigma`.
pub(super) fn lognormal(mean: f64, sigma: f64, p: f64) -> f64 {
    mean * libm::exp(sigma * normal::quantile(p) - sigma * sigma / 2.0)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::rng::{stream, unit};

    /// Largest distance between `n` draws' distribution and the law; a draw of k represents sizes that round to k.
    pub(in crate::workload) fn ks_distance(law: &SizeLaw, n: usize, seed: u64) -> f64 {
        let mut rng = stream(seed, "test/sizes", 0);
        let mut draws: Vec<u64> = (0..n).map(|_| law.sample(unit(&mut rng))).collect();
        draws.sort_unstable();
        let (down, up) = match law {
            SizeLaw::Packets { packet, .. } => (*packet as f64 / 2.0, *packet as f64 / 2.0),
            _ => (0.0, 1.0),
        };
        let below = |bytes: f64| share_below(law, bytes);
        let mut worst = 0.0f64;
        for group in draws.chunk_by(|a, b| a == b) {
            let through = draws.partition_point(|&x| x <= group[0]);
            let before = through - group.len();
            // The law at 1 B includes sizes rounded up to it.
            let law_before = if group[0] == 1 { 0.0 } else { below(group[0] as f64 - down) };
            worst = worst.max((before as f64 / n as f64 - law_before).abs());
            worst = worst.max((through as f64 / n as f64 - below(group[0] as f64 + up)).abs());
        }
        worst
    }

    fn share_below(law: &SizeLaw, bytes: f64) -> f64 {
        if let Some(cdf) = law.cdf() {
            return cdf.cdf(bytes.next_down());
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if law.quantile(middle) < bytes { low = middle } else { high = middle }
        }
        low
    }

    fn realised(law: &SizeLaw) -> f64 {
        let mut rng = stream(9, "test/law", 0);
        (0..1_000_000).map(|_| law.sample(unit(&mut rng)) as f64).sum::<f64>() / 1e6
    }

    #[test]
    fn formulas_have_their_mean_and_their_curve() {
        let laws = [
            SizeLaw::Lognormal { mean: 20_000.0, sigma: 1.0 },
            SizeLaw::GeneralizedPareto { location: 0.0, scale: 30_000.0, shape: 0.0 },
            SizeLaw::GeneralizedPareto { location: 15.0, scale: 214.476, shape: 0.348_238 },
            SizeLaw::BoundedPareto { min: 1e3, max: 1e6, alpha: 1.2 },
            SizeLaw::BoundedPareto { min: 1e3, max: 1e6, alpha: 1.0 },
        ];
        for law in laws {
            assert!((realised(&law) / law.mean() - 1.0).abs() < 0.01, "{law:?}: {} for {}", realised(&law), law.mean());
            let d = ks_distance(&law, 200_000, 5);
            assert!(d < 0.005, "{law:?}: {d}");
        }
    }

    #[test]
    fn known_quantiles() {
        let lognormal = SizeLaw::Lognormal { mean: 1000.0, sigma: 2.0 };
        assert!((lognormal.quantile(0.5) - 1000.0 * libm::exp(-2.0)).abs() < 1e-9);
        let pareto = SizeLaw::BoundedPareto { min: 100.0, max: 1e4, alpha: 1.5 };
        assert_eq!((pareto.quantile(0.0).round(), pareto.quantile(1.0).round()), (100.0, 1e4));
        // At location scale/shape the law is the classical (1 - u)^-shape.
        let tail = SizeLaw::GeneralizedPareto { location: 200.0, scale: 100.0, shape: 0.5 };
        assert!((tail.quantile(0.75) - 400.0).abs() < 1e-9);
    }

    #[test]
    fn packets_are_whole() {
        let cdf = SizeCdf::from_percent(&[(1460.0, 0.0), (2920.0, 100.0)]).unwrap();
        let law = SizeLaw::Packets { cdf, packet: 1460 };
        assert_eq!([0.0, 0.49, 0.5, 0.99].map(|u| law.sample(u)), [1460, 1460, 2920, 2920]);
    }
}
