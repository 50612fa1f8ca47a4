/// Flow sizes drawn by inverse transform from a piecewise-linear cumulative distribution function (CDF).
///
/// Two points of equal size are a jump; a first point above 0 is an atom. Draws are rounded down to whole bytes, at least 1, as
/// in the HPCC authors' traffic generator (repository alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a,
/// `traffic_gen/custom_rand.py`).
#[derive(Debug, Clone, PartialEq)]
pub struct SizeCdf {
    points: Vec<Point>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    bytes: f64,
    /// 0 to 1.
    cdf: f64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PointError {
    /// From 0.
    pub(super) point: usize,
    pub(super) part: Part,
    pub(super) allowed: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Bytes,
    /// Cumulative.
    Percent,
}

impl SizeCdf {
    /// (bytes, cumulative percent): neither falls, percentages end at 100.
    pub(super) fn from_percent(points: &[(f64, f64)]) -> Result<Self, PointError> {
        let error = |point, part, allowed: &str| Err(PointError { point, part, allowed: allowed.into() });
        let mut last = (0.0, 0.0);
        for (number, &(bytes, percent)) in points.iter().enumerate() {
            if !bytes.is_finite() || bytes < 0.0 {
                return error(number, Part::Bytes, "a size of 0 B or more");
            }
            if bytes < last.0 {
                return error(number, Part::Bytes, &format!("at least the size before it, {} B", last.0));
            }
            if !(0.0..=100.0).contains(&percent) {
                return error(number, Part::Percent, "a cumulative percentage, 0 to 100");
            }
            if percent < last.1 {
                return error(number, Part::Percent, &format!("at least the percentage before it, {}", last.1));
            }
            last = (bytes, percent);
        }
        let end = points.len().saturating_sub(1);
        if last.1 != 100.0 {
            return error(end, Part::Percent, "100 (percent) at the last point");
        }
        if last.0 < 1.0 {
            return error(end, Part::Bytes, "at least 1 B at the last point");
        }
        Ok(Self::of_table(points))
    }

    /// Tests check a table's points.
    pub(super) fn of_table(points: &[(f64, f64)]) -> Self {
        Self { points: points.iter().map(|&(bytes, percent)| Point { bytes, cdf: percent / 100.0 }).collect() }
    }

    pub(super) fn fixed(bytes: u64) -> Self {
        Self { points: vec![Point { bytes: bytes as f64, cdf: 1.0 }] }
    }

    pub(super) fn uniform(min: u64, max: u64) -> Self {
        Self { points: vec![Point { bytes: min as f64, cdf: 0.0 }, Point { bytes: max as f64, cdf: 1.0 }] }
    }

    pub(super) fn scaled(mut self, unit: u64) -> Self {
        self.points.iter_mut().for_each(|point| point.bytes *= unit as f64);
        self
    }

    /// Mean in bytes under linear interpolation, for the arrival rate of a load.
    pub fn mean(&self) -> f64 {
        let first = self.points[0];
        let pieces = self.points.windows(2).map(|p| (p[1].cdf - p[0].cdf) * (p[0].bytes + p[1].bytes) / 2.0);
        first.bytes * first.cdf + pieces.sum::<f64>()
    }

    /// Mean in bytes of generators that draw only corners' sizes.
    pub fn step_mean(&self) -> f64 {
        let first = self.points[0];
        let steps = self.points.windows(2).map(|p| (p[1].cdf - p[0].cdf) * p[1].bytes);
        first.bytes * first.cdf + steps.sum::<f64>()
    }

    /// `p`-quantile (0 to 1) in bytes, before rounding.
    pub fn quantile(&self, p: f64) -> f64 {
        let next = self.points.partition_point(|point| point.cdf < p);
        match next {
            0 => self.points[0].bytes,
            n if n == self.points.len() => self.points[n - 1].bytes,
            n => {
                let (a, b) = (self.points[n - 1], self.points[n]);
                a.bytes + (b.bytes - a.bytes) * (p - a.cdf) / (b.cdf - a.cdf)
            }
        }
    }

    /// Share of flows up to `bytes`, before rounding.
    pub fn cdf(&self, bytes: f64) -> f64 {
        let next = self.points.partition_point(|point| point.bytes <= bytes);
        match next {
            0 => 0.0,
            n if n == self.points.len() => 1.0,
            n => {
                let (a, b) = (self.points[n - 1], self.points[n]);
                a.cdf + (b.cdf - a.cdf) * (bytes - a.bytes) / (b.bytes - a.bytes)
            }
        }
    }

    /// Size for a uniform `u` in [0, 1): whole bytes, at least 1.
    pub fn sample(&self, u: f64) -> u64 {
        (self.quantile(u) as u64).max(1)
    }

    /// Corners: bytes and cumulative probability, 0 to 1.
    pub fn points(&self) -> impl ExactSizeIterator<Item = (f64, f64)> + '_ {
        self.points.iter().map(|point| (point.bytes, point.cdf))
    }
}

#[cfg(test)]
mod tests {
    use super::super::law::tests::ks_distance;
    use super::*;

    #[test]
    fn jumps_and_first_atoms_have_their_probability() {
        let cdf = SizeCdf::from_percent(&[(100.0, 25.0), (200.0, 50.0), (200.0, 90.0), (1000.0, 100.0)]).unwrap();
        for (u, bytes) in [(0.0, 100), (0.25, 100), (0.375, 150), (0.5, 200), (0.7, 200), (0.9, 200)] {
            assert_eq!(cdf.sample(u), bytes, "u = {u}");
        }
        assert!((cdf.quantile(0.95) - 600.0).abs() < 1e-9);
        for (bytes, share) in [(99.0, 0.0), (100.0, 0.25), (150.0, 0.375), (200.0, 0.9), (600.0, 0.95), (1000.0, 1.0)] {
            assert!((cdf.cdf(bytes) - share).abs() < 1e-12, "{bytes} B");
        }
        let mean = 0.25 * 100.0 + 0.25 * 150.0 + 0.4 * 200.0 + 0.1 * 600.0;
        assert!((cdf.mean() - mean).abs() < 1e-9);
        let d = ks_distance(&cdf.clone().into(), 1_000_000, 3);
        assert!(d < 0.002, "{d}");
    }

    #[test]
    fn every_flow_has_at_least_one_byte() {
        let cdf = SizeCdf::from_percent(&[(0.0, 0.0), (4.0, 100.0)]).unwrap();
        assert_eq!([0.0, 0.2, 0.3, 0.5, 0.99].map(|u| cdf.sample(u)), [1, 1, 1, 2, 3]);
        assert!(ks_distance(&cdf.clone().into(), 1_000_000, 1) < 0.002);
    }

    #[test]
    fn a_step_without_probability_is_never_drawn() {
        let cdf = SizeCdf::from_percent(&[(0.0, 0.0), (10.0, 50.0), (1000.0, 50.0), (2000.0, 100.0)]).unwrap();
        assert_eq!(cdf.sample(0.5), 10);
        assert!(cdf.sample(0.5001) >= 1000);
        assert_eq!(cdf.cdf(500.0), 0.5);
    }

    #[test]
    fn fixed_and_uniform() {
        assert_eq!(SizeCdf::fixed(500_000).sample(0.7), 500_000);
        assert_eq!(SizeCdf::fixed(500_000).mean(), 500_000.0);
        let uniform = SizeCdf::uniform(1000, 3000);
        assert_eq!(uniform.mean(), 2000.0);
        assert_eq!(uniform.sample(0.25), 1500);
        assert!(ks_distance(&uniform.into(), 1_000_000, 5) < 0.002);
    }

    #[test]
    fn bad_curves_name_the_point_and_the_number() {
        let why = |points: &[(f64, f64)]| {
            let error = SizeCdf::from_percent(points).unwrap_err();
            (error.point, error.part, error.allowed)
        };
        assert_eq!(why(&[]), (0, Part::Percent, "100 (percent) at the last point".into()));
        assert_eq!(why(&[(0.0, 0.0), (10.0, 99.0)]), (1, Part::Percent, "100 (percent) at the last point".into()));
        assert_eq!(why(&[(0.0, 0.0), (0.0, 100.0)]), (1, Part::Bytes, "at least 1 B at the last point".into()));
        assert_eq!(why(&[(20.0, 0.0), (10.0, 100.0)]), (1, Part::Bytes, "at least the size before it, 20 B".into()));
        assert_eq!(
            why(&[(1.0, 60.0), (2.0, 50.0), (3.0, 100.0)]),
            (1, Part::Percent, "at least the percentage before it, 60".into())
        );
        assert_eq!(why(&[(1.0, 101.0)]).1, Part::Percent);
        assert_eq!(why(&[(1.0, f64::NAN)]).1, Part::Percent);
        assert_eq!(why(&[(-1.0, 100.0)]).1, Part::Bytes);
    }
}
