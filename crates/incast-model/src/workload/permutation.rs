use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arrivals::{Arrivals, mean_gap, open_loop};
use super::backlog::Amounts;
use super::entry::{Collector, Entry, Pattern};
use super::hosts::HostSet;
use super::offer::{Dial, Offer, Parts};
use super::sizes::SizeSpec;
use crate::entry::EntryError;
use crate::fabric::HostId;
use crate::rng::{Stream, pick, unit};
use crate::units::Time;

/// Random permutation in which no host sends to itself, all equally likely; or, with `stride`, each host to the one
/// that many further on.
///
/// One flow per host at the entry's start, or, with `load`, Poisson flows to the same destination for `duration`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permutation {
    /// Size of each flow, drawn if it is a distribution; `backlogged` without a load.
    pub size: SizeSpec,
    /// Load of Poisson flows, more than 0: payload as a fraction of the sending host's link rate. Default: one flow per
    /// host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// Interval after the entry's start in which flows start; required with `load`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// Offset: host i of n sends to host i + stride mod n; no multiple of n. Default: random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<u32>,
    /// Hosts that take part, at least 2. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostSet>,
}

impl Pattern for Permutation {
    fn generate(&self, entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError> {
        let pairs = self.pairs(entry)?;
        let Some(load) = self.load else {
            if let Some(duration) = self.duration {
                return Err(entry.refuse("duration", duration, "omitted: there is no load"));
            }
            let amounts = Amounts::new(entry, &entry.field("size"), &self.size)?;
            for (src, dst) in pairs {
                let u = unit(&mut entry.stream("arrivals", src.0.into()));
                out.push(amounts.flow(entry, src, dst, u, entry.start))?;
            }
            return Ok(());
        };
        let sizes = self.size.law(&entry.field("size"), entry.base_dir)?;
        let load = entry.load(load)?;
        let window = entry.window(self.duration)?;
        let gap = |host| mean_gap(sizes.mean(), load, entry.capacity(host));
        entry.expect("load", load, pairs.iter().map(|&(src, _)| window.length() / gap(src)).sum(), 0.0)?;
        for (src, dst) in pairs {
            open_loop(entry, out, src, Arrivals::new(window, gap(src)), &sizes, |_| dst)?;
        }
        Ok(())
    }

    fn mean_size(&self, base_dir: &Path) -> Option<f64> {
        self.load.and_then(|_| Some(self.size.law("size", base_dir).ok()?.mean()))
    }

    fn offer(&self, entry: &Entry<'_>) -> Result<Option<Offer>, EntryError> {
        let Some(load) = self.load else { return Ok(None) };
        let pairs = self.pairs(entry)?.into_iter().map(|(src, dst)| (src, dst, load * entry.capacity(src)));
        let parts = Parts::pairs(pairs);
        Ok(Some(Offer { window: entry.window(self.duration)?, dial: Some(Dial::Load(load)), parts }))
    }
}

impl Permutation {
    fn pairs(&self, entry: &Entry<'_>) -> Result<Vec<(HostId, HostId)>, EntryError> {
        let hosts = entry.pairs_of(self.hosts.as_ref())?;
        let n = hosts.len();
        let to = match self.stride.map(|stride| stride as usize % n) {
            None => derangement(n, &mut entry.stream("pairs", 0)),
            Some(0) => {
                let stride = self.stride.unwrap_or_default();
                return Err(entry.refuse("stride", stride, format!("no multiple of the number of hosts, {n}")));
            }
            Some(stride) => (0..n).map(|from| (from + stride) % n).collect(),
        };
        Ok(hosts.iter().zip(to).map(|(&src, to)| (src, hosts[to])).collect())
    }
}

/// Shuffles until no point is fixed (e times on average): derangements are equally likely. `n` is at least 2.
fn derangement(n: usize, rng: &mut Stream) -> Vec<usize> {
    let mut to: Vec<usize> = (0..n).collect();
    loop {
        for last in (1..n).rev() {
            to.swap(last, pick(rng, last + 1));
        }
        if to.iter().enumerate().all(|(from, &to)| from != to) {
            return to;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::testing::{flows, pattern, refused, star};
    use super::*;
    use crate::rng::stream;
    use crate::units::Rate;

    proptest! {
        #[test]
        fn no_host_sends_to_itself(n in 2usize..200, seed: u64) {
            let mut to = derangement(n, &mut stream(seed, "test", 0));
            prop_assert!(to.iter().enumerate().all(|(from, &to)| from != to));
            to.sort_unstable();
            prop_assert_eq!(to, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn all_derangements_are_equally_likely() {
        let mut counts: BTreeMap<Vec<usize>, u32> = BTreeMap::new();
        let mut rng = stream(1, "test", 0);
        for _ in 0..9000 {
            *counts.entry(derangement(4, &mut rng)).or_default() += 1;
        }
        // 9 derangements, 1000 each, standard deviation 30.
        assert_eq!(counts.len(), 9);
        assert!(counts.values().all(|count| count.abs_diff(1000) < 150), "{counts:?}");
    }

    #[test]
    fn one_flow_a_host() {
        let set = flows(&star(16, Rate::gbps(100)), &pattern("permutation", r#"{"size": "2MB"}"#), 1);
        let count = |of: fn(&crate::flow::Flow) -> u32| {
            let mut hosts: Vec<u32> = set.flows.iter().map(of).collect();
            hosts.sort_unstable();
            hosts
        };
        assert_eq!(count(|f| f.src.0), (0..16).collect::<Vec<_>>());
        assert_eq!(count(|f| f.dst.0), (0..16).collect::<Vec<_>>());
        assert!(set.flows.iter().all(|f| f.start == Time::ZERO && f.src != f.dst));
    }

    #[test]
    fn strides_go_round() {
        let spec = pattern("permutation", r#"{"size": 1, "stride": 3, "hosts": "2-6"}"#);
        let set = flows(&star(8, Rate::gbps(100)), &spec, 1);
        let pairs: Vec<_> = set.flows.iter().map(|f| (f.src.0, f.dst.0)).collect();
        assert_eq!(pairs, [(2, 5), (3, 6), (4, 2), (5, 3), (6, 4)]);
        assert_eq!(
            refused(&star(8, Rate::gbps(100)), &pattern("permutation", r#"{"size": 1, "stride": 16}"#)),
            "workload[0].permutation.stride = 16: must be no multiple of the number of hosts, 8"
        );
    }

    #[test]
    fn repeated_with_a_load() {
        let json = r#"{"size": "10kB", "load": 0.8, "duration": "10ms"}"#;
        let set = flows(&star(16, Rate::gbps(100)), &pattern("permutation", json), 1);
        let offered = set.bytes().0 as f64 * 8.0 / (0.01 * 16.0 * 100e9);
        assert!((offered / 0.8 - 1.0).abs() < 0.01, "{offered}");
        let pairs: BTreeMap<u32, u32> = set.flows.iter().map(|f| (f.src.0, f.dst.0)).collect();
        assert!(set.flows.iter().all(|f| pairs[&f.src.0] == f.dst.0), "destinations stay");
    }

    #[test]
    fn bad_fields_are_named() {
        let why = |json: &str| refused(&star(8, Rate::gbps(100)), &pattern("permutation", json));
        assert_eq!(
            why(r#"{"size": "1kB", "duration": "1ms"}"#),
            "workload[0].permutation.duration = 1ms: must be omitted: there is no load"
        );
        assert_eq!(
            why(r#"{"size": "1kB", "load": 0.5}"#),
            "workload[0].permutation.duration: `duration` is required (allowed: a time of more than 0, such as \"10ms\", or \
             the entry's `end`)"
        );
        assert!(why(r#"{"size": "1kB", "load": -1, "duration": "1ms"}"#).contains("permutation.load = -1:"));
        assert!(why(r#"{"size": "0kB"}"#).contains("permutation.size = 0B:"));
        assert!(why(r#"{"size": "1kB", "hosts": "7"}"#).contains("must be at least 2 hosts"));
        assert!(why(r#"{"size": 1, "load": 1, "duration": "1s"}"#).contains("33554431 flows"));
    }
}
