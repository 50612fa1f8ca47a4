//! Named flow-size distributions: published points, each with where they come from.

use super::cdf::SizeCdf;

/// A published flow-size distribution with a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeTable {
    /// What a scenario writes.
    pub name: &'static str,
    /// What was measured, in one line.
    pub description: &'static str,
    /// The measurement, and the file that the points come from.
    pub source: &'static str,
    /// Bytes and cumulative percent.
    points: &'static [(f64, f64)],
}

impl SizeTable {
    /// The table of this name, if there is one.
    pub fn named(name: &str) -> Option<&'static Self> {
        TABLES.iter().find(|table| table.name == name)
    }

    /// All tables, by name.
    pub fn all() -> &'static [Self] {
        TABLES
    }

    /// Its distribution.
    pub fn distribution(&self) -> SizeCdf {
        SizeCdf::of_table(self.points)
    }
}

/// To add a table: one entry here; the tests and the catalogue find it.
///
/// The same name stands for different curves in different simulators (means of "Hadoop" range from 0.12 to 3.4 MB), so
/// each entry names the very file its points come from.
const TABLES: &[SizeTable] = &[
    SizeTable {
        name: "fb_hadoop",
        description: "Hadoop cluster at Facebook: 60 % of the flows within 1 kB, 10 % above 120 kB, up to 10 MB",
        source: "Roy et al., SIGCOMM 2015; points of repository alibaba-edu/High-Precision-Congestion-Control, \
                 commit 9f4be2a, traffic_gen/FbHdp_distribution.txt",
        points: &[
            (0.0, 0.0),
            (100.0, 1.0),
            (200.0, 2.0),
            (300.0, 5.0),
            (350.0, 15.0),
            (400.0, 20.0),
            (500.0, 30.0),
            (600.0, 40.0),
            (700.0, 50.0),
            (1_000.0, 60.0),
            (2_000.0, 67.0),
            (7_000.0, 70.0),
            (30_000.0, 72.0),
            (50_000.0, 82.0),
            (80_000.0, 87.0),
            (120_000.0, 90.0),
            (300_000.0, 95.0),
            (1_000_000.0, 97.5),
            (2_000_000.0, 99.0),
            (10_000_000.0, 100.0),
        ],
    },
    SizeTable {
        name: "websearch",
        description: "Web-search cluster: half of the flows within 73 kB, 30 % above 1 MB, up to 30 MB",
        source: "Alizadeh et al. (DCTCP), SIGCOMM 2010; points of repository \
                 alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a, traffic_gen/WebSearch_distribution.txt",
        points: &[
            (0.0, 0.0),
            (10_000.0, 15.0),
            (20_000.0, 20.0),
            (30_000.0, 30.0),
            (50_000.0, 40.0),
            (80_000.0, 53.0),
            (200_000.0, 60.0),
            (1_000_000.0, 70.0),
            (2_000_000.0, 80.0),
            (5_000_000.0, 90.0),
            (10_000_000.0, 97.0),
            (30_000_000.0, 100.0),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::super::cdf::tests::ks_distance;
    use super::*;
    use crate::rng::{stream, unit};

    fn table(name: &str) -> SizeCdf {
        SizeTable::named(name).unwrap().distribution()
    }

    #[test]
    fn every_table_is_a_cdf_and_the_names_are_sorted() {
        for table in TABLES {
            assert!(SizeCdf::from_percent(table.points).is_ok(), "{}", table.name);
        }
        assert!(TABLES.is_sorted_by(|a, b| a.name < b.name));
    }

    #[test]
    fn means_are_the_published_ones() {
        assert_eq!(table("websearch").mean().round(), 1_711_250.0);
        // The trapezoid sum is 120,420.75 B; published figures round it.
        assert_eq!(table("fb_hadoop").mean().round(), 120_421.0);
    }

    #[test]
    fn a_million_draws_follow_the_curve() {
        for name in ["websearch", "fb_hadoop"] {
            let d = ks_distance(&table(name), 1_000_000, 11);
            assert!(d < 0.002, "{name}: {d}");
        }
    }

    #[test]
    fn realised_means_are_within_a_percent() {
        for name in ["websearch", "fb_hadoop"] {
            let cdf = table(name);
            let mut rng = stream(7, "test/mean", 0);
            let n = 1_000_000;
            let mean = (0..n).map(|_| cdf.sample(unit(&mut rng)) as f64).sum::<f64>() / f64::from(n);
            assert!((mean / cdf.mean() - 1.0).abs() < 0.01, "{name}: {mean}");
        }
    }

    #[test]
    fn upper_edges_of_twenty_equal_bins() {
        // The x axis of slowdown plots with 5 % of the flows a bin; exact where the curve has a corner.
        let websearch = [
            3_333.0,
            6_667.0,
            10e3,
            20e3,
            25e3,
            30e3,
            40e3,
            50e3,
            61_538.0,
            73_077.0,
            114_286.0,
            200e3,
            600e3,
            1e6,
            1.5e6,
            2e6,
            3.5e6,
            5e6,
            8_571_429.0,
            30e6,
        ];
        let hadoop = [
            300.0, 325.0, 350.0, 400.0, 450.0, 500.0, 550.0, 600.0, 650.0, 700.0, 850.0, 1000.0, 1714.0, 7000.0, 36e3,
            46e3, 68e3, 120e3, 300e3, 10e6,
        ];
        for (name, edges) in [("websearch", websearch), ("fb_hadoop", hadoop)] {
            let cdf = table(name);
            for (bin, edge) in edges.into_iter().enumerate() {
                let p = (bin + 1) as f64 / 20.0;
                assert!((cdf.quantile(p) - edge).abs() < 0.51, "{name} {p}: {}", cdf.quantile(p));
                assert!((cdf.cdf(edge) - p).abs() < 1e-4, "{name} {edge}: {}", cdf.cdf(edge));
            }
        }
    }
}
