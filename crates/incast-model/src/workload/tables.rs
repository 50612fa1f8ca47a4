use std::path::Path;

use super::cdf::SizeCdf;
use super::cdf_file;
use super::law::SizeLaw;

/// Published flow-size distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeTable {
    /// Name in scenarios.
    pub name: &'static str,
    /// Other names.
    pub also: &'static [&'static str],
    /// Name shared by tables of the same measurement, in fact or by claim.
    pub family: &'static str,
    /// One line.
    pub description: &'static str,
    /// Measurement, and the points' file.
    pub source: &'static str,
    count: Count,
    /// File as [`SizeSpec`](super::SizeSpec) reads it.
    points: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    Bytes,
    /// Packets of some bytes; draws may be fractions of packets.
    Scaled(u64),
    /// Packets of some bytes; draws are whole packets.
    Packets(u64),
}

impl SizeTable {
    /// Table by name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TABLES.iter().find(|table| table.name == name || table.also.contains(&name))
    }

    /// All tables, by name.
    pub fn all() -> &'static [Self] {
        TABLES
    }

    /// Names that scenarios can use.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TABLES.iter().flat_map(|table| std::iter::once(table.name).chain(table.also.iter().copied()))
    }

    /// Distribution of the table.
    pub fn law(&self) -> SizeLaw {
        match self.count {
            Count::Bytes => self.curve().into(),
            Count::Scaled(unit) => self.curve().scaled(unit).into(),
            Count::Packets(packet) => SizeLaw::Packets { cdf: self.curve().scaled(packet), packet },
        }
    }

    /// Packet size in bytes to which draws are rounded.
    pub fn packet(&self) -> Option<u64> {
        match self.count {
            Count::Packets(packet) => Some(packet),
            _ => None,
        }
    }

    fn curve(&self) -> SizeCdf {
        cdf_file::parse(self.points, Path::new(self.name)).expect("tables are tested to follow the rules")
    }
}

macro_rules! points {
    ($name:literal) => {
        include_str!(concat!("../../data/sizes/", $name, ".txt"))
    };
}

/// To add a table: its points in `data/sizes` and an entry here.
///
/// Simulators use a name for different curves (means of "Hadoop" range from 0.12 to 3.4 MB), so entries name the points' exact
/// file.
const TABLES: &[SizeTable] = &[
    SizeTable {
        name: "ali_solar2022_conweave",
        also: &[],
        family: "ali_solar",
        description: "Alibaba's elastic block storage: nearly all flows of 4, 16 or 64 KiB",
        source: "Miao et al. (Solar), SIGCOMM 2022; points of repository conweave-project/conweave-ns3, commit 236a801, traffic_gen/Solar2022.txt",
        count: Count::Bytes,
        points: points!("ali_solar2022_conweave"),
    },
    SizeTable {
        name: "ali_storage2019_hpcc",
        also: &[],
        family: "ali_storage",
        description: "Storage cluster of Alibaba: 69 % of the flows within 8 kB, up to 2 MB",
        source: "named Alibaba storage, 2019, by the HPCC authors; points of repository alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a, traffic_gen/AliStorage2019.txt",
        count: Count::Bytes,
        points: points!("ali_storage2019_hpcc"),
    },
    SizeTable {
        name: "datamining_abm",
        also: &[],
        family: "datamining",
        description: "Data-mining cluster: 80 % of the flows within 10 kB, 10 % above 400 kB, up to 1 GB",
        source: "Greenberg et al. (VL2), SIGCOMM 2009; points of repository inet-tub/ns3-datacenter, commit 6ddb4a4, simulator/ns-3.39/examples/ABM/datamining.csv",
        count: Count::Bytes,
        points: points!("datamining_abm"),
    },
    SizeTable {
        name: "datamining_conweave",
        also: &[],
        family: "datamining",
        description: "Data-mining cluster in seven points: 80 % of the flows between 100 B and 10 kB, up to 1 GB",
        source: "Greenberg et al. (VL2), SIGCOMM 2009; points of repository conweave-project/conweave-ns3, commit 236a801, workloads/mining.txt",
        count: Count::Bytes,
        points: points!("datamining_conweave"),
    },
    SizeTable {
        name: "datamining_pfabric",
        also: &[],
        family: "datamining",
        description: "Data-mining cluster as in pFabric's evaluation: datamining_yaps without rounding to packets",
        source: "Greenberg et al. (VL2), SIGCOMM 2009; points of repository NetSys/simulator, commit 179b64e, py/CDF_datamining.txt, packets of 1460 B",
        count: Count::Scaled(1460),
        points: points!("datamining_yaps"),
    },
    SizeTable {
        name: "datamining_vl2_hkust",
        also: &[],
        family: "datamining",
        description: "Data-mining cluster: half of the flows within 1100 B, 2 % above 100 MB, up to 1 GB",
        source: "Greenberg et al. (VL2), SIGCOMM 2009; points of repository HKUST-SING/TrafficGenerator, commit 8e7c516, conf/VL2_CDF.txt",
        count: Count::Bytes,
        points: points!("datamining_vl2_hkust"),
    },
    SizeTable {
        name: "datamining_yaps",
        also: &[],
        family: "datamining",
        description: "Data-mining cluster as in YAPS (pFabric and pHost runs): half of the flows are one packet, 95 % of the bytes in flows above 35 MB, in whole packets of 1460 B",
        source: "Greenberg et al. (VL2), SIGCOMM 2009; points of repository NetSys/simulator, commit 179b64e, py/CDF_datamining.txt",
        count: Count::Packets(1460),
        points: points!("datamining_yaps"),
    },
    SizeTable {
        name: "fb_cachefollower_conweave",
        also: &[],
        family: "fb_cachefollower",
        description: "Cache followers at Facebook: half of the flows within 30 kB, 20 % above 2 MB, up to 3 MB",
        source: "Roy et al., SIGCOMM 2015; points of repository conweave-project/conweave-ns3, commit 236a801, workloads/cachefollower.txt",
        count: Count::Bytes,
        points: points!("fb_cachefollower_conweave"),
    },
    SizeTable {
        name: "fb_cachefollower_homa",
        also: &[],
        family: "fb_cachefollower",
        description: "Cache followers at Facebook, traffic within the cluster, in 331 points, up to 3.8 MB",
        source: "Roy et al., SIGCOMM 2015; points of repository PlatformLab/HomaSimulation, commit ab09ecb, RpcTransportDesign/OMNeT++Simulation/homatransport/sizeDistributions/Facebook_CacheFollowerDist_IntraCluster.txt",
        count: Count::Bytes,
        points: points!("fb_cachefollower_homa"),
    },
    SizeTable {
        name: "fb_etc_homa",
        also: &[],
        family: "fb_keyvalue",
        description: "Values of the key-value store ETC at Facebook: half within 27 B, 1 % above 1.8 kB; W1 of the Homa paper",
        source: "Atikoglu et al., SIGMETRICS 2012 (memcached, pool ETC); points of repository PlatformLab/HomaSimulation, commit ab09ecb, RpcTransportDesign/OMNeT++Simulation/homatransport/sizeDistributions/FacebookKeyValue_Sampled.txt",
        count: Count::Bytes,
        points: points!("fb_etc_homa"),
    },
    SizeTable {
        name: "fb_hadoop",
        also: &["fb_hadoop_hpcc"],
        family: "fb_hadoop",
        description: "Hadoop cluster at Facebook: 60 % of the flows within 1 kB, 10 % above 120 kB, up to 10 MB; the HPCC evaluation's variant",
        source: "Roy et al., SIGCOMM 2015; points of repository alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a, traffic_gen/FbHdp_distribution.txt",
        count: Count::Bytes,
        points: points!("fb_hadoop"),
    },
    SizeTable {
        name: "fb_hadoop2015_conweave",
        also: &[],
        family: "fb_hadoop",
        description: "Hadoop cluster at Facebook in 461 points; as fb_hadoop_homa but for the first point, 0 B",
        source: "Roy et al., SIGCOMM 2015; points of repository conweave-project/conweave-ns3, commit 236a801, traffic_gen/FbHdp2015.txt",
        count: Count::Bytes,
        points: points!("fb_hadoop2015_conweave"),
    },
    SizeTable {
        name: "fb_hadoop_abm",
        also: &[],
        family: "fb_hadoop",
        description: "Hadoop by name, with a curve unlike the others: half of the flows above 73 kB, 1.6 % above 98 MB",
        source: "Roy et al., SIGCOMM 2015 by name only; points of repository inet-tub/ns3-datacenter, commit 6ddb4a4, simulator/ns-3.39/examples/ABM/hadoop.csv",
        count: Count::Bytes,
        points: points!("fb_hadoop_abm"),
    },
    SizeTable {
        name: "fb_hadoop_homa",
        also: &[],
        family: "fb_hadoop",
        description: "Hadoop cluster at Facebook in 461 points, from 50 B; W4 of the Homa paper",
        source: "Roy et al., SIGCOMM 2015; points of repository PlatformLab/HomaSimulation, commit ab09ecb, RpcTransportDesign/OMNeT++Simulation/homatransport/sizeDistributions/Facebook_HadoopDist_All.txt",
        count: Count::Bytes,
        points: points!("fb_hadoop_homa"),
    },
    SizeTable {
        name: "fb_hkust",
        also: &[],
        family: "fb_keyvalue",
        description: "Small messages at Facebook: half within 75 B, 1 % above 6 kB, up to 1 MB",
        source: "named FB in that repository, without the service or a paper; points of repository HKUST-SING/TrafficGenerator, commit 8e7c516, conf/FB_CDF.txt",
        count: Count::Bytes,
        points: points!("fb_hkust"),
    },
    SizeTable {
        name: "fb_webserver_conweave",
        also: &[],
        family: "fb_webserver",
        description: "Web servers at Facebook: half of the flows within 3 kB, 10 % above 300 kB, up to 500 kB",
        source: "Roy et al., SIGCOMM 2015; points of repository conweave-project/conweave-ns3, commit 236a801, workloads/webserver.txt",
        count: Count::Bytes,
        points: points!("fb_webserver_conweave"),
    },
    SizeTable {
        name: "fb_webserver_homa",
        also: &[],
        family: "fb_webserver",
        description: "Web servers at Facebook, traffic within the cluster, in 441 points, up to 1 MB",
        source: "Roy et al., SIGCOMM 2015; points of repository PlatformLab/HomaSimulation, commit ab09ecb, RpcTransportDesign/OMNeT++Simulation/homatransport/sizeDistributions/Facebook_WebServerDist_IntraCluster.txt",
        count: Count::Bytes,
        points: points!("fb_webserver_homa"),
    },
    SizeTable {
        name: "google_allrpc_homa",
        also: &[],
        family: "google_rpc",
        description: "All RPCs of a datacenter of Google: half within 257 B, 1 % above 31 kB; 6.5 % have exactly 3 B; W3 of the Homa paper",
        source: "Montazeri et al. (Homa), SIGCOMM 2018, fig. 1; points of repository PlatformLab/HomaSimulation, commit ab09ecb, RpcTransportDesign/OMNeT++Simulation/homatransport/sizeDistributions/Google_AllRPC.txt",
        count: Count::Bytes,
        points: points!("google_allrpc_homa"),
    },
    SizeTable {
        name: "google_rpc2008_hpcc",
        also: &[],
        family: "google_rpc",
        description: "All RPCs of a datacenter of Google; as google_allrpc_homa with a first point of 0 B: 6.5 % have 1 to 3 B",
        source: "Montazeri et al. (Homa), SIGCOMM 2018, fig. 1, has the same curve; points of repository alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a, traffic_gen/GoogleRPC2008.txt",
        count: Count::Bytes,
        points: points!("google_rpc2008_hpcc"),
    },
    SizeTable {
        name: "google_searchrpc_homa",
        also: &[],
        family: "google_search",
        description: "RPCs of a search application at Google: half within 267 B, 1 % above 3 kB; W2 of the Homa paper",
        source: "Montazeri et al. (Homa), SIGCOMM 2018, fig. 1; points of repository PlatformLab/HomaSimulation, commit ab09ecb, RpcTransportDesign/OMNeT++Simulation/homatransport/sizeDistributions/Google_SearchRPC.txt",
        count: Count::Bytes,
        points: points!("google_searchrpc_homa"),
    },
    SizeTable {
        name: "imc10_yaps",
        also: &[],
        family: "imc10",
        description: "Datacenter flows of pHost's evaluation: half are one packet, up to 3 MB, in whole packets of 1460 B",
        source: "Benson, Akella, Maltz, IMC 2010; points of repository NetSys/simulator, commit 179b64e, py/CDF_aditya.txt",
        count: Count::Packets(1460),
        points: points!("imc10_yaps"),
    },
    SizeTable {
        name: "websearch",
        also: &["websearch_hpcc", "websearch_dctcp_hkust"],
        family: "websearch",
        description: "Web-search cluster: half of the flows within 73 kB, 30 % above 1 MB, up to 30 MB; the HPCC evaluation's variant",
        source: "Alizadeh et al. (DCTCP), SIGCOMM 2010; points of repository alibaba-edu/High-Precision-Congestion-Control, commit 9f4be2a, traffic_gen/WebSearch_distribution.txt (HKUST-SING/TrafficGenerator, commit 8e7c516, conf/DCTCP_CDF.txt has the same)",
        count: Count::Bytes,
        points: points!("websearch"),
    },
    SizeTable {
        name: "websearch_abm",
        also: &[],
        family: "websearch",
        description: "Web-search cluster with no flow under 2 kB, otherwise as websearch",
        source: "Alizadeh et al. (DCTCP), SIGCOMM 2010; points of repository inet-tub/ns3-datacenter, commit 6ddb4a4, simulator/ns-3.39/examples/ABM/websearch.csv",
        count: Count::Bytes,
        points: points!("websearch_abm"),
    },
    SizeTable {
        name: "websearch_conweave",
        also: &[],
        family: "websearch",
        description: "Web-search cluster: the smallest 15 % have exactly 9 kB",
        source: "Alizadeh et al. (DCTCP), SIGCOMM 2010; points of repository conweave-project/conweave-ns3, commit 236a801, workloads/search.txt",
        count: Count::Bytes,
        points: points!("websearch_conweave"),
    },
    SizeTable {
        name: "websearch_pfabric",
        also: &[],
        family: "websearch",
        description: "Web-search cluster as in pFabric's evaluation: websearch_yaps without rounding to packets",
        source: "Alizadeh et al. (DCTCP), SIGCOMM 2010; points of repository NetSys/simulator, commit 179b64e, py/CDF_dctcp.txt, packets of 1460 B",
        count: Count::Scaled(1460),
        points: points!("websearch_yaps"),
    },
    SizeTable {
        name: "websearch_yaps",
        also: &[],
        family: "websearch",
        description: "Web-search cluster as in YAPS (pFabric and pHost runs): the smallest 15 % have exactly 6 packets, in whole packets of 1460 B",
        source: "Alizadeh et al. (DCTCP), SIGCOMM 2010; points of repository NetSys/simulator, commit 179b64e, py/CDF_dctcp.txt",
        count: Count::Packets(1460),
        points: points!("websearch_yaps"),
    },
];

#[cfg(test)]
mod tests {
    use super::super::law::tests::ks_distance;
    use super::*;
    use crate::rng::{stream, unit};

    fn table(name: &str) -> SizeLaw {
        SizeTable::named(name).unwrap().law()
    }

    /// Name, points, mean, and 50, 90 and 99 % quantiles in bytes, computed from the repositories' files by a separate program.
    const FACTS: [(&str, usize, f64, [f64; 3]); 26] = [
        ("ali_solar2022_conweave", 8, 39_424.0, [16_384.0, 65_536.0, 222_822.0]),
        ("ali_storage2019_hpcc", 9, 40_870.0, [6_340.0, 31_237.0, 1_293_927.0]),
        ("datamining_abm", 17, 5_036_535.0, [975.0, 400_000.0, 100_000_000.0]),
        ("datamining_conweave", 7, 7_487_884.0, [6_288.0, 390_541.0, 100_000_000.0]),
        ("datamining_pfabric", 9, 7_470_236.0, [1_460.0, 389_820.0, 97_333_820.0]),
        ("datamining_vl2_hkust", 13, 12_658_199.0, [1_100.0, 400_000.0, 550_000_000.0]),
        ("datamining_yaps", 9, 7_470_236.0, [1_460.0, 389_820.0, 97_333_820.0]),
        ("fb_cachefollower_conweave", 23, 712_574.0, [30_000.0, 2_400_000.0, 2_940_000.0]),
        ("fb_cachefollower_homa", 331, 686_866.0, [28_270.0, 2_440_257.0, 3_058_995.0]),
        ("fb_etc_homa", 315, 185.0, [27.0, 499.0, 1_853.0]),
        ("fb_hadoop", 20, 120_421.0, [700.0, 120_000.0, 2_000_000.0]),
        ("fb_hadoop2015_conweave", 461, 121_849.0, [655.0, 119_336.0, 3_094_208.0]),
        ("fb_hadoop_abm", 17, 3_423_728.0, [72_853.0, 290_104.0, 146_000_023.0]),
        ("fb_hadoop_homa", 461, 121_849.0, [655.0, 119_336.0, 3_094_208.0]),
        ("fb_hkust", 17, 342.0, [75.0, 350.0, 6_326.0]),
        ("fb_webserver_conweave", 13, 66_121.0, [3_100.0, 300_000.0, 480_000.0]),
        ("fb_webserver_homa", 441, 62_229.0, [3_406.0, 268_075.0, 552_298.0]),
        ("google_allrpc_homa", 842, 2_890.0, [257.0, 1_716.0, 30_614.0]),
        ("google_rpc2008_hpcc", 843, 2_892.0, [257.0, 1_716.0, 30_614.0]),
        ("google_searchrpc_homa", 155, 423.0, [267.0, 501.0, 2_989.0]),
        ("imc10_yaps", 12, 195_357.0, [1_460.0, 389_820.0, 2_807_580.0]),
        ("websearch", 12, 1_711_250.0, [73_077.0, 5_000_000.0, 23_333_333.0]),
        ("websearch_abm", 16, 1_711_222.0, [73_077.0, 5_000_000.0, 23_333_333.0]),
        ("websearch_conweave", 12, 1_710_004.0, [68_571.0, 5_000_000.0, 23_333_333.0]),
        ("websearch_pfabric", 12, 1_665_831.0, [70_642.0, 4_866_180.0, 22_711_273.0]),
        ("websearch_yaps", 12, 1_665_831.0, [70_642.0, 4_866_180.0, 22_711_273.0]),
    ];

    #[test]
    fn every_table_is_a_curve_and_the_names_are_sorted() {
        for table in TABLES {
            let law = table.law();
            let curve = law.cdf().unwrap();
            assert!(curve.points().is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1), "{}", table.name);
            assert_eq!(curve.points().last().unwrap().1, 1.0, "{}", table.name);
        }
        assert!(TABLES.is_sorted_by(|a, b| a.name < b.name));
        let mut names: Vec<_> = SizeTable::names().collect();
        names.sort_unstable();
        assert!(names.is_sorted_by(|a, b| a != b) && names.contains(&"websearch_hpcc"));
    }

    #[test]
    fn means_and_percentiles_are_those_of_the_repositories() {
        assert!(TABLES.iter().map(|table| table.name).eq(FACTS.map(|fact| fact.0)));
        for (name, points, mean, percentiles) in FACTS {
            let law = table(name);
            assert_eq!(law.cdf().unwrap().points().len(), points, "{name}");
            assert!((law.mean() - mean).abs() < 0.51, "{name}: {}", law.mean());
            for (p, bytes) in [0.5, 0.9, 0.99].into_iter().zip(percentiles) {
                assert!((law.quantile(p) - bytes).abs() < 0.51, "{name} {p}: {}", law.quantile(p));
            }
        }
        let steps = |name: &str| table(name).cdf().unwrap().step_mean();
        for (name, mean) in [("websearch", 2.435e6), ("datamining_yaps", 13.8e6), ("imc10_yaps", 269e3)] {
            assert!((steps(name) / mean - 1.0).abs() < 0.004, "{name}: {}", steps(name));
        }
    }

    #[test]
    fn draws_follow_the_curve() {
        for table in TABLES {
            let d = ks_distance(&table.law(), 250_000, 11);
            assert!(d < 0.004, "{}: {d}", table.name);
        }
    }

    #[test]
    fn realised_means_are_within_a_percent() {
        for name in
            ["websearch", "websearch_yaps", "fb_hadoop", "fb_webserver_homa", "ali_storage2019_hpcc", "imc10_yaps"]
        {
            let law = table(name);
            let mut rng = stream(7, "test/mean", 0);
            let n = 1_000_000;
            let mean = (0..n).map(|_| law.sample(unit(&mut rng)) as f64).sum::<f64>() / f64::from(n);
            assert!((mean / law.mean() - 1.0).abs() < 0.01, "{name}: {mean}");
        }
    }

    #[test]
    fn packet_tables_draw_whole_packets() {
        let mut rng = stream(7, "test/packets", 0);
        for (name, least) in [("websearch_yaps", 8760), ("datamining_yaps", 1460), ("imc10_yaps", 1460)] {
            let law = table(name);
            let draws: Vec<u64> = (0..10_000).map(|_| law.sample(unit(&mut rng))).collect();
            assert!(draws.iter().all(|size| size % 1460 == 0), "{name}");
            assert_eq!(draws.iter().min(), Some(&least), "{name}");
        }
        let unrounded: Vec<u64> = (0..100).map(|_| table("websearch_pfabric").sample(unit(&mut rng))).collect();
        assert!(unrounded.iter().any(|size| size % 1460 != 0));
        // 95 % of the bytes are in flows above 35 MB (Alizadeh et al. (pFabric), SIGCOMM 2013, sec. 5.1).
        let curve = table("datamining_yaps");
        let p = curve.cdf().unwrap().cdf(35e6);
        let above = (0.99 - p) * (35e6 + 97_333_820.0) / 2.0 + 0.01 * (97_333_820.0 + 973_333_820.0) / 2.0;
        assert!((above / curve.mean() - 0.951).abs() < 0.001, "{}", above / curve.mean());
    }

    #[test]
    fn upper_edges_of_twenty_equal_bins() {
        // X axis of slowdown plots, 5 % of the flows per bin; exact at the curve's corners.
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
            let law = table(name);
            let cdf = law.cdf().unwrap();
            for (bin, edge) in edges.into_iter().enumerate() {
                let p = (bin + 1) as f64 / 20.0;
                assert!((cdf.quantile(p) - edge).abs() < 0.51, "{name} {p}: {}", cdf.quantile(p));
                assert!((cdf.cdf(edge) - p).abs() < 1e-4, "{name} {edge}: {}", cdf.cdf(edge));
            }
        }
    }
}
