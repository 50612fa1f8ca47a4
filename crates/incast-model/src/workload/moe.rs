use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::collective::{Collective, Measure, Message, Step, Waits, at_least_a_byte_each, split};
use super::entry::{Collector, Entry, Pattern};
use super::ranks::Ranks;
use super::ring::one;
use crate::entry::EntryError;
use crate::flow::Operation;
use crate::range::least;
use crate::rng::pick;
use crate::units::{Bytes, Time};

/// Mixture of experts: in each layer every rank sends its tokens to the ranks of their experts (dispatch), these
/// compute, and send as much back (combine). Tokens for a rank's own experts stay there.
///
/// A rank starts a phase when all its messages of the phase before have ended. One all-to-all each way per layer, as in
/// GShard (Lepikhin et al., ICLR 2021, sec. 3).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoeAllToAll {
    /// Tokens of one rank in one layer, with those for its own experts; at least 1 B per rank.
    pub size: Bytes,
    /// Number of layers, at least 1.
    #[schemars(transform = least(1))]
    pub layers: u32,
    /// Popularity of the ranks. Default uniform.
    #[serde(default)]
    pub skew: Skew,
    /// Computing time of the experts between dispatch and combine. Default 0.
    #[serde(default)]
    pub expert: Time,
    /// Computing time of a rank between combine and the next dispatch, such as attention. Default 0.
    #[serde(default)]
    pub compute: Time,
    /// Hosts of the ranks, at least 2. Default: all hosts, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Ranks>,
    /// Iterations over all layers, at least 1, one after the other. Default 1.
    #[serde(default = "one")]
    #[schemars(transform = least(1))]
    pub iterations: u32,
}

/// Popularity of the experts.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Skew {
    /// Equal.
    #[default]
    Uniform,
    /// Zipf law with this exponent, more than 0 and at most 10: the k-th most popular rank of a layer gets a share
    /// proportional to k^-exponent. Ranks are drawn for each layer.
    Zipf(f64),
}

impl Pattern for MoeAllToAll {
    fn generate(&self, entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError> {
        let ranks = Ranks::place(self.ranks.as_ref(), "ranks", 2, entry)?;
        let n = ranks.len();
        at_least_a_byte_each(entry, self.size, n as u64)?;
        if let Skew::Zipf(exponent) = self.skew
            && !(exponent > 0.0 && exponent <= 10.0)
        {
            return Err(entry.refuse("skew.zipf", exponent, "more than 0 and at most 10"));
        }
        let Some(layers) = self.layers.checked_mul(self.iterations) else {
            return Err(entry.refuse("iterations", self.iterations, "at most 4294967295 layers in all"));
        };
        let waits = Waits { all: false, own: true };
        let (iterations, compute, round) = (layers, self.compute, self.layers);
        let size = (2.0 * n as f64 * (n - 1) as f64, 2.0 * n as f64);
        let collective = Collective { ranks: &ranks, iterations, compute, waits, round, size, measure: self.measure() };
        collective.add(entry, out, |layer| {
            let shares = split(self.size.0, &self.weights(entry, n, layer));
            vec![self.layer(&shares)]
        })
    }
}

impl MoeAllToAll {
    /// Dispatch and combine of every layer; ranks send `(n - 1) / n` of the size in each on average, however skewed.
    fn measure(&self) -> Measure {
        let layers = u64::from(self.layers);
        let times = |time: Time, count: u64| Time(time.0.saturating_mul(count));
        let compute_within = times(self.expert, layers) + times(self.compute, layers.saturating_sub(1));
        let size = self.size.0.saturating_mul(2).saturating_mul(layers);
        Measure { compute_within, ..Measure::new(Operation::AllToAll, size) }
    }

    fn weights(&self, entry: &Entry<'_>, n: usize, layer: u32) -> Vec<f64> {
        let Skew::Zipf(exponent) = self.skew else { return vec![1.0; n] };
        let mut weights: Vec<f64> = (1..=n).map(|k| libm::pow(k as f64, -exponent)).collect();
        let mut rng = entry.stream("experts", layer.into());
        for last in (1..n).rev() {
            weights.swap(last, pick(&mut rng, last + 1));
        }
        weights
    }

    /// Dispatch and combine: each rank sends `shares[k]` to rank k, next ranks first.
    fn layer(&self, shares: &[u64]) -> Vec<Step> {
        let n = shares.len();
        let pairs = || (0..n).flat_map(|from| (1..n).map(move |shift| (from, (from + shift) % n)));
        let to = |share: fn(usize, usize) -> usize| {
            let message = |(from, to)| Message { from, to, bytes: shares[share(from, to)] };
            pairs().map(message).filter(|message| message.bytes > 0).collect()
        };
        vec![
            Step { messages: to(|_, to| to), delay: Time::ZERO },
            Step { messages: to(|from, _| from), delay: self.expert },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::collective::tests::{depths, sent};
    use super::super::testing::{flows, pattern, refused, star};
    use crate::flow::FlowSet;
    use crate::units::{Rate, Time};

    fn moe(hosts: u32, rest: &str) -> FlowSet {
        let json = format!(r#"{{"size": "1000003B"{rest}}}"#);
        flows(&star(hosts, Rate::gbps(100)), &pattern("moe_all_to_all", &json), 1)
    }

    #[test]
    fn layers_of_dispatch_and_combine() {
        let set = moe(8, r#", "layers": 3, "expert": "7us", "compute": "9us""#);
        assert_eq!(set.flows.len(), 3 * 2 * 56);
        let depths = depths(&set);
        for phase in 0..6 {
            assert_eq!(depths.iter().filter(|&&depth| depth == phase).count(), 56);
        }
        assert_eq!(set.gates.len(), 5 * 8);
        let delays = |delay| set.gates.iter().filter(|gate| gate.delay == delay).count();
        assert_eq!((delays(Time::us(7)), delays(Time::us(9))), (24, 16));
        let experts = set.gates.iter().filter(|gate| gate.delay == Time::us(7));
        assert!(experts.clone().all(|gate| gate.waits_for.len() == 14 && gate.starts.len() == 7));
    }

    #[test]
    fn shares_add_up_and_come_back() {
        for skew in ["", r#", "skew": {"zipf": 1.2}"#] {
            let set = moe(8, &format!(r#", "layers": 1{skew}"#));
            let depths = depths(&set);
            let mut there = vec![0; 8];
            let mut back = vec![0; 8];
            for (flow, depth) in set.flows.iter().zip(depths) {
                if depth == 0 { there[flow.src.index()] += flow.size.0 } else { back[flow.dst.index()] += flow.size.0 }
            }
            assert_eq!(there, back);
            assert_eq!(there.iter().sum::<u64>(), 7 * 1_000_003);
        }
        let set = moe(8, r#", "layers": 1"#);
        assert!(sent(&set, 8).iter().all(|&bytes| bytes.abs_diff(2 * 875_003) <= 7));
    }

    #[test]
    fn zipf_skews_and_layers_differ() {
        let set = moe(16, r#", "layers": 2, "skew": {"zipf": 1.0}"#);
        let depths = depths(&set);
        let hottest = |phase| {
            let mut sums = [0u64; 16];
            let now = set.flows.iter().zip(&depths).filter(|(_, depth)| **depth == phase);
            now.for_each(|(flow, _)| sums[flow.dst.index()] += flow.size.0);
            let most = *sums.iter().max().unwrap();
            // 1 of the harmonic number 3.38, from each of 15.
            assert!((most as f64 / (15.0 * 1_000_003.0 / 3.3807) - 1.0).abs() < 0.001, "{most}");
            sums.iter().position(|&sum| sum == most)
        };
        assert_ne!(hottest(0), hottest(2));
    }

    #[test]
    fn an_end_calls_off_all_layers_of_an_iteration() {
        let mut spec = pattern("moe_all_to_all", r#"{"size": 800, "layers": 3, "iterations": 2, "compute": "9us"}"#);
        spec.end = Some(Time::ms(1));
        let set = flows(&star(4, Rate::gbps(100)), &spec, 1);
        let begins: Vec<u32> = set.gates.iter().filter_map(|gate| gate.round).collect();
        assert_eq!(begins, [1; 4], "each rank's first layer of the second");
        let first = set.gates.iter().find(|gate| gate.round.is_some()).unwrap();
        assert_eq!(depths(&set)[first.starts[0] as usize], 6);
    }

    #[test]
    fn memory_is_quadratic_in_ranks() {
        let set = moe(64, r#", "layers": 2"#);
        let entries: usize = set.gates.iter().map(|gate| gate.waits_for.len() + gate.starts.len()).sum();
        assert!(entries < 2 * 2 * 64 * 64 * 4, "{entries}");
    }

    #[test]
    fn bad_fields_are_named() {
        let why = |json: &str| refused(&star(8, Rate::gbps(100)), &pattern("moe_all_to_all", json));
        assert_eq!(why(r#"{"size": 8, "layers": 0}"#), "workload[0].moe_all_to_all.layers = 0: must be 1 or more");
        assert!(why(r#"{"size": 7, "layers": 1}"#).contains("size = 7B: must be at least 8B, a byte for each"));
        assert_eq!(
            why(r#"{"size": 8, "layers": 1, "skew": {"zipf": -1}}"#),
            "workload[0].moe_all_to_all.skew.zipf = -1: must be more than 0 and at most 10"
        );
    }
}
