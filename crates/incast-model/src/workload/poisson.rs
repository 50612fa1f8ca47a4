use std::path::Path;
use std::slice::Chunks;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arrivals::{ArrivalLaw, Arrivals, LoadOf, mean_gap, open_loop};
use super::entry::{Collector, Entry, Pattern};
use super::hosts::HostSet;
use super::locality::{Destinations, LoadAt, Locality};
use super::offer::{Dial, Offer, Parts};
use super::sizes::SizeSpec;
use crate::entry::EntryError;
use crate::fabric::HostId;
use crate::units::Time;

/// Open-loop flows: every host starts flows to random other hosts at random times.
///
/// Gaps have the mean `8 mean_size / (load × rate)`, with the rate of the host's own links; they are exponential by
/// default. This is the traffic of the HPCC evaluation (Li et al., SIGCOMM 2019, sec. 5.1), except that the last flow
/// of each host is kept, which the authors' script leaves out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// Offered traffic as a fraction of the rate of the sending host's link, or of the links of `load_at`; more than 0,
    /// such as 0.3 for 30 %. More than 1 is allowed, with a warning.
    pub load: f64,
    /// Links that `load` is a fraction of. Above hosts, only crossing traffic and links above hosts that take part
    /// count. Default host.
    #[serde(default, skip_serializing_if = "is_host")]
    pub load_at: LoadAt,
    /// Bytes that `load` counts. Default payload (the HPCC evaluation).
    #[serde(default)]
    pub load_of: LoadOf,
    /// Wire bytes per byte of payload, at least 1, with `load_of = "wire"`. Default: 1.048 (the HPCC evaluation: 48 B
    /// of headers on 1000 B).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<f64>,
    /// Distribution of the gaps between the flows of a host. Default poisson.
    #[serde(default, skip_serializing_if = "is_poisson")]
    pub arrivals: ArrivalLaw,
    /// Flow sizes.
    pub sizes: SizeSpec,
    /// Shares of the flows that stay within the rack and the pod. Default: uniform destinations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locality: Option<Locality>,
    /// Interval after the entry's start in which flows start. Default: until the entry's `end`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// Hosts that send and receive, such as `"0-15"`. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostSet>,
    /// Hosts per region, by number, at least 2: flows stay within the region of their sender. The last region may be
    /// smaller. Default: one region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<u32>,
}

fn is_host(at: &LoadAt) -> bool {
    *at == LoadAt::Host
}

fn is_poisson(law: &ArrivalLaw) -> bool {
    *law == ArrivalLaw::Poisson
}

/// 48 B of headers on 1000 B.
const OVERHEAD: f64 = 1.048;

impl Pattern for Poisson {
    fn generate(&self, entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError> {
        let load = entry.load(self.load)? / self.overhead(entry)?;
        let sizes = self.sizes.law(&entry.field("sizes"), entry.base_dir)?;
        let arrivals = self.arrivals;
        let window = entry.window(self.duration)?;
        let hosts = entry.pairs_of(self.hosts.as_ref())?;
        let regions = self.regions(entry, &hosts)?;
        let mut expected = 0.0;
        for region in regions.clone() {
            let to = Destinations::new(entry.members, region, self.locality, &entry.field("locality"))?;
            let load = to.host_load(load, self.load_at, &entry.field("load_at"))?;
            let gaps: Vec<f64> =
                region.iter().map(|&host| mean_gap(sizes.mean(), load, entry.capacity(host))).collect();
            expected += gaps.iter().map(|gap| window.length() / gap).sum::<f64>();
            entry.expect("duration", window.end - window.start, expected, 0.0)?;
            for (own, (&src, &gap)) in region.iter().zip(&gaps).enumerate() {
                let arrivals = Arrivals::new(window, gap).with(arrivals);
                open_loop(entry, out, src, arrivals, &sizes, |rng| to.draw(own, rng))?;
            }
        }
        Ok(())
    }

    fn mean_size(&self, base_dir: &Path) -> Option<f64> {
        Some(self.sizes.law("sizes", base_dir).ok()?.mean())
    }

    fn offer(&self, entry: &Entry<'_>) -> Result<Option<Offer>, EntryError> {
        let hosts = entry.pairs_of(self.hosts.as_ref())?;
        let mut parts = Parts::default();
        for region in self.regions(entry, &hosts)? {
            let to = Destinations::new(entry.members, region, self.locality, &entry.field("locality"))?;
            let load = to.host_load(self.load, self.load_at, &entry.field("load_at"))? / self.overhead(entry)?;
            let rates: Vec<f64> = region.iter().map(|&host| load * entry.capacity(host)).collect();
            to.parts(&rates, &mut parts);
        }
        Ok(Some(Offer { window: entry.window(self.duration)?, dial: Some(Dial::Load(self.load)), parts }))
    }
}

impl Poisson {
    fn regions<'a>(&self, entry: &Entry<'_>, hosts: &'a [HostId]) -> Result<Chunks<'a, HostId>, EntryError> {
        let size = match self.region {
            None => hosts.len(),
            Some(_) if self.load_at != LoadAt::Host => {
                return Err(entry.refuse("load_at", "a load of links above hosts", "host, with regions"));
            }
            Some(region) => region as usize,
        };
        if size < 2 || hosts.len() % size == 1 {
            let allowed =
                format!("at least 2, and so that none of the {} hosts is left alone in the last", hosts.len());
            return Err(entry.refuse("region", size, allowed));
        }
        Ok(hosts.chunks(size))
    }

    /// Converts a load to payload.
    fn overhead(&self, entry: &Entry<'_>) -> Result<f64, EntryError> {
        match (self.load_of, self.overhead) {
            (LoadOf::Payload, None) => Ok(1.0),
            (LoadOf::Payload, Some(given)) => {
                Err(entry.refuse("overhead", given, "omitted, or load_of set to \"wire\""))
            }
            (LoadOf::Wire, None) => Ok(OVERHEAD),
            (LoadOf::Wire, Some(given)) if given.is_finite() && given >= 1.0 => Ok(given),
            (LoadOf::Wire, Some(given)) => Err(entry.refuse("overhead", given, "at least 1, such as 1.048")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{flows, pattern, refused, star};
    use crate::units::{Rate, Time};

    #[test]
    fn offers_the_load_that_was_asked_for() {
        // The root mean square size is 2.5 times the mean in web search, 5.7 times in Hadoop: sums of 0.7 and 4.6 million flows
        // have standard errors of 0.3 %.
        let fabric = star(64, Rate::gbps(100));
        for (load, sizes, seeds) in [(0.3, "websearch", 50), (0.7, "fb_hadoop", 10)] {
            let spec = pattern("poisson", &format!(r#"{{"load": {load}, "sizes": "{sizes}", "duration": "100ms"}}"#));
            let bytes: u64 = (0..seeds).map(|seed| flows(&fabric, &spec, seed).bytes().0).sum();
            let offered = bytes as f64 * 8.0 / (seeds as f64 * 0.1 * 64.0 * 100e9);
            assert!((offered / load - 1.0).abs() < 0.01, "{sizes}: {offered} for {load}");
        }
    }

    #[test]
    fn rates_follow_the_link_and_the_definition_of_load() {
        let count = |gbps, extra: &str| {
            let spec = format!(r#"{{"load": 0.5, "sizes": "1kB", "duration": "1ms"{extra}}}"#);
            flows(&star(8, Rate::gbps(gbps)), &pattern("poisson", &spec), 1).flows.len() as f64
        };
        // 0.5 of 100 Gb/s, 8000 bit a flow.
        let payload = count(100, "");
        assert!((payload / 50_000.0 - 1.0).abs() < 0.02, "{payload}");
        assert!((count(25, "") / 12_500.0 - 1.0).abs() < 0.03);
        let wire = count(100, r#", "load_of": "wire", "overhead": 1.25"#);
        assert!((wire / 40_000.0 - 1.0).abs() < 0.02, "{wire}");
        let wire = count(100, r#", "load_of": "wire""#);
        assert!((wire / 47_710.0 - 1.0).abs() < 0.02, "{wire}");
    }

    #[test]
    fn destinations_are_uniform_over_the_others_of_the_set() {
        let fabric = star(16, Rate::gbps(100));
        let spec = pattern("poisson", r#"{"load": 0.5, "sizes": "1kB", "duration": "2ms", "hosts": "4-7, 12"}"#);
        let set = flows(&fabric, &spec, 1);
        let mut counts = [[0u32; 16]; 16];
        for flow in &set.flows {
            counts[flow.src.index()][flow.dst.index()] += 1;
        }
        let chosen = [4, 5, 6, 7, 12];
        for (src, row) in counts.iter().enumerate() {
            for (dst, &count) in row.iter().enumerate() {
                let expected = chosen.contains(&src) && chosen.contains(&dst) && src != dst;
                // Five standard deviations are 280.
                assert_eq!(count > 0, expected, "{src} to {dst}: {count}");
                assert!(!expected || count.abs_diff(3125) < 280, "{src} to {dst}: {count}");
            }
        }
    }

    #[test]
    fn flows_stay_in_their_region() {
        let fabric = star(16, Rate::gbps(100));
        let json = |extra: &str| format!(r#"{{"load": 0.5, "sizes": "1kB", "duration": "2ms"{extra}}}"#);
        let spec = pattern("poisson", &json(r#", "region": 6"#));
        let set = flows(&fabric, &spec, 1);
        let mut counts = [[0u32; 16]; 16];
        for flow in &set.flows {
            counts[flow.src.index()][flow.dst.index()] += 1;
        }
        for (src, row) in counts.iter().enumerate() {
            for (dst, &count) in row.iter().enumerate() {
                assert_eq!(count > 0, src != dst && src / 6 == dst / 6, "{src} to {dst}: {count}");
            }
        }
        let plain = flows(&fabric, &pattern("poisson", &json("")), 1);
        assert!((set.flows.len() as f64 / plain.flows.len() as f64 - 1.0).abs() < 0.01);
        assert_eq!(flows(&fabric, &pattern("poisson", &json(r#", "region": 16"#)), 1).flows, plain.flows);
        for (region, hosts) in [(1, 16), (0, 16), (5, 16), (15, 16)] {
            let spec = pattern("poisson", &json(&format!(r#", "region": {region}"#)));
            let expected =
                format!("workload[0].poisson.region = {region}: must be at least 2, and so that none of the {hosts}");
            assert!(refused(&fabric, &spec).starts_with(&expected), "{}", refused(&fabric, &spec));
        }
        let tiers = pattern("poisson", &json(r#", "region": 4, "load_at": "core""#));
        assert!(refused(&fabric, &tiers).contains("host, with regions"));
    }

    #[test]
    fn sizes_and_destinations_do_not_depend_on_the_load() {
        let fabric = star(4, Rate::gbps(100));
        let of_host_2 = |load: f64| {
            let spec = format!(r#"{{"load": {load}, "sizes": "fb_hadoop", "duration": "5ms"}}"#);
            let set = flows(&fabric, &pattern("poisson", &spec), 3);
            set.flows.iter().filter(|f| f.src.0 == 2).map(|f| (f.size, f.dst)).take(100).collect::<Vec<_>>()
        };
        assert_eq!(of_host_2(0.3), of_host_2(0.6));
    }

    #[test]
    fn lognormal_arrivals_change_times_only() {
        let fabric = star(16, Rate::gbps(100));
        let json = |extra| format!(r#"{{"load": 0.5, "sizes": "fb_hadoop", "duration": "20ms"{extra}}}"#);
        let bursty = pattern("poisson", &json(r#", "arrivals": {"lognormal": {"sigma": 1}}"#));
        let (even, bursty) = (flows(&fabric, &pattern("poisson", &json("")), 2), flows(&fabric, &bursty, 2));
        let of_host = |set: &crate::flow::FlowSet| {
            set.flows.iter().filter(|f| f.src.0 == 3).map(|f| (f.size, f.dst)).take(100).collect::<Vec<_>>()
        };
        assert_eq!(of_host(&even), of_host(&bursty));
        assert!((bursty.flows.len() as f64 / even.flows.len() as f64 - 1.0).abs() < 0.05);
    }

    #[test]
    fn starts_lie_in_the_window() {
        let mut spec = pattern("poisson", r#"{"load": 0.5, "sizes": "1kB", "duration": "100us"}"#);
        spec.start = Time::ms(2);
        let set = flows(&star(4, Rate::gbps(100)), &spec, 1);
        assert!(!set.flows.is_empty());
        assert!(set.flows.iter().all(|f| f.start >= Time::ms(2) && f.start < Time::us(2100)));
    }

    #[test]
    fn bad_fields_are_named() {
        let why = |json: &str| refused(&star(8, Rate::gbps(100)), &pattern("poisson", json));
        assert_eq!(
            why(r#"{"load": 0, "sizes": "1kB", "duration": "1ms"}"#),
            "workload[0].poisson.load = 0: must be a fraction of the link rate, more than 0, such as 0.3"
        );
        assert!(
            why(r#"{"load": -0.3, "sizes": "1kB", "duration": "1ms"}"#).starts_with("workload[0].poisson.load = -0.3")
        );
        assert_eq!(
            why(r#"{"load": 0.3, "sizes": "1kB", "duration": "0s"}"#),
            "workload[0].poisson.duration = 0ps: must be a time of more than 0, such as \"10ms\""
        );
        assert_eq!(
            why(r#"{"load": 0.3, "sizes": "1kB", "duration": "1ms", "hosts": "0-8"}"#),
            "workload[0].poisson.hosts = \"0-8\": must be hosts of this fabric, 0 to 7"
        );
        assert_eq!(
            why(r#"{"load": 0.3, "sizes": "1kB", "duration": "1ms", "hosts": 3}"#),
            "workload[0].poisson.hosts = 1 host: must be at least 2 hosts"
        );
        assert_eq!(
            why(r#"{"load": 0.3, "sizes": 1, "duration": "1ms", "arrivals": {"lognormal": {"sigma": 0}}}"#),
            "workload[0].poisson.arrivals.lognormal.sigma = 0: must be above 0, at most 5"
        );
        assert_eq!(
            why(r#"{"load": 0.3, "sizes": 1}"#),
            "workload[0].poisson.duration: `duration` is required (allowed: a time of more than 0, such as \"10ms\", or the entry's `end`)"
        );
        assert_eq!(
            why(r#"{"load": 0.3, "sizes": 0, "duration": "1ms"}"#),
            "workload[0].poisson.sizes = 0B: must be a size of at least 1B"
        );
        assert_eq!(
            why(r#"{"load": 0.3, "sizes": 1, "duration": "1ms", "overhead": 1.1}"#),
            "workload[0].poisson.overhead = 1.1: must be omitted, or load_of set to \"wire\""
        );
        assert_eq!(
            why(r#"{"load": 0.3, "sizes": 1, "duration": "1ms", "load_of": "wire", "overhead": 0.9}"#),
            "workload[0].poisson.overhead = 0.9: must be at least 1, such as 1.048"
        );
        assert_eq!(
            why(r#"{"load": 0.5, "sizes": "1B", "duration": "1s"}"#),
            "workload[0].poisson.duration = 1s: must be small enough for 33554431 flows; this asks for about 5.000e10"
        );
    }
}
