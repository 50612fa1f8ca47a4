//! The study's traces (Gao et al., "Network Requirements for Resource Disaggregation", OSDI 2016) are not public. All figures
//! here are ours, shaped by known facts: 4 KB pages; word count has the largest share of long flows, sorting longer flows than
//! graph processing, memcached more memory accesses than sorting; CPU-to-CPU sizes follow public measurements.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Bytes;
use crate::workload::arrivals::{ArrivalLaw, LognormalArrivals};
use crate::workload::cdf::SizeCdf;
use crate::workload::law::SizeLaw;
use crate::workload::tables::SizeTable;

/// Synthetic application, shaped after the one of this name: shares of flows to memory, disks and other CPUs (network).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Application {
    /// Hadoop word count: 60 % memory, 25 % disk (64 kB to 1 MB), 15 % network (Facebook Hadoop); very bursty.
    Wordcount,
    /// Hadoop sort: 80 %, 12 % (64 kB to 1 MB), 8 % (Facebook Hadoop); very bursty.
    Terasort,
    /// GraphLab collaborative filtering: 94 %, 1 % (16 to 256 kB), 5 % (web search, a tenth as large); bursty.
    Graphlab,
    /// memcached under YCSB: 97 %, none, 3 % (Facebook ETC); Poisson.
    Memcached,
    /// Spark SQL, Big Data Benchmark: 85 %, 10 % (64 kB to 1 MB), 5 % (Facebook Hadoop); very bursty.
    Bdb,
    /// HERD under YCSB: 98 %, none, 2 % of 64 B; Poisson.
    Herd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Memory,
    Disk,
    Network,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::Memory, Self::Disk, Self::Network];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Disk => "disk",
            Self::Network => "network",
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Mix {
    /// By [`Kind`]; the sum is 1.
    pub(super) shares: [f64; 3],
    disk: Option<[u64; 2]>,
    network: Network,
    /// Gaps of a pair of blades.
    pub(super) arrivals: ArrivalLaw,
}

#[derive(Debug, Clone)]
enum Network {
    Table(&'static str),
    /// A tenth as large.
    Tenth(&'static str),
    Fixed(u64),
}

impl Application {
    pub(super) const fn mix(self) -> Mix {
        const KB: u64 = 1000;
        const BLOCKS: Option<[u64; 2]> = Some([64 * KB, 1024 * KB]);
        const fn bursty(sigma: f64) -> ArrivalLaw {
            ArrivalLaw::Lognormal(LognormalArrivals { sigma })
        }
        let (shares, disk, network, arrivals) = match self {
            Self::Wordcount => ([0.60, 0.25, 0.15], BLOCKS, Network::Table("fb_hadoop"), bursty(2.0)),
            Self::Terasort => ([0.80, 0.12, 0.08], BLOCKS, Network::Table("fb_hadoop"), bursty(2.0)),
            Self::Graphlab => ([0.94, 0.01, 0.05], Some([16 * KB, 256 * KB]), Network::Tenth("websearch"), bursty(1.5)),
            Self::Memcached => ([0.97, 0.0, 0.03], None, Network::Table("fb_etc_homa"), ArrivalLaw::Poisson),
            Self::Bdb => ([0.85, 0.10, 0.05], BLOCKS, Network::Table("fb_hadoop"), bursty(2.0)),
            Self::Herd => ([0.98, 0.0, 0.02], None, Network::Fixed(64), ArrivalLaw::Poisson),
        };
        Mix { shares, disk, network, arrivals }
    }
}

impl Mix {
    pub(super) fn sizes(&self, kind: Kind, page: Bytes) -> SizeLaw {
        let table = |name| SizeTable::named(name).expect("a table of this name").law();
        match (kind, &self.network) {
            (Kind::Memory, _) => SizeCdf::fixed(page.0).into(),
            (Kind::Disk, _) => self.disk.map_or_else(|| SizeCdf::fixed(1).into(), |[min, max]| doublings(min, max)),
            (Kind::Network, Network::Table(name)) => table(name),
            (Kind::Network, Network::Tenth(name)) => tenth(&table(name)),
            (Kind::Network, Network::Fixed(bytes)) => SizeCdf::fixed(*bytes).into(),
        }
    }
}

/// Equally likely doublings.
fn doublings(min: u64, max: u64) -> SizeLaw {
    let steps = (max / min).ilog2();
    let point = |step: u32| ((min << step) as f64, 100.0 * f64::from(step) / f64::from(steps));
    SizeCdf::of_table(&(0..=steps).map(point).collect::<Vec<_>>()).into()
}

fn tenth(law: &SizeLaw) -> SizeLaw {
    let points = law.cdf().expect("a table is a curve").points();
    SizeCdf::of_table(&points.map(|(bytes, share)| (bytes / 10.0, 100.0 * share)).collect::<Vec<_>>()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Application; 6] = [
        Application::Wordcount,
        Application::Terasort,
        Application::Graphlab,
        Application::Memcached,
        Application::Bdb,
        Application::Herd,
    ];

    #[test]
    fn shares_are_whole_and_sizes_exist() {
        for application in ALL {
            let mix = application.mix();
            assert!((mix.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{application:?}");
            for kind in Kind::ALL {
                assert!(mix.sizes(kind, Bytes(4096)).mean() >= 1.0);
            }
            assert_eq!(mix.shares[1] > 0.0, mix.disk.is_some(), "{application:?}");
        }
    }

    /// From a draft of the study, on network-level performance.
    #[test]
    fn mixes_have_the_order_that_is_known() {
        let long = |application: Application| 1.0 - application.mix().shares[0];
        assert!(ALL.iter().all(|&other| long(Application::Wordcount) >= long(other)));
        let mean = |application: Application| {
            let mix = application.mix();
            Kind::ALL
                .iter()
                .zip(mix.shares)
                .map(|(&kind, share)| share * mix.sizes(kind, Bytes(4096)).mean())
                .sum::<f64>()
        };
        assert!(mean(Application::Terasort) > mean(Application::Graphlab));
        assert!(Application::Memcached.mix().shares[0] > Application::Terasort.mix().shares[0]);
    }

    #[test]
    fn doublings_are_equally_likely() {
        let law = doublings(64_000, 1_024_000);
        assert_eq!([0.0, 0.25, 0.5, 1.0].map(|p| law.quantile(p)), [64e3, 128e3, 256e3, 1024e3]);
        let tenth = tenth(&SizeTable::named("websearch").unwrap().law());
        assert!((tenth.mean() - 171_125.0).abs() < 1.0);
    }
}
