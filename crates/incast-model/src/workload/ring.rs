use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::collective::{Collective, Measure, Message, Step, Waits, at_least_a_byte_each, parts};
use super::entry::{Collector, Entry, Pattern};
use super::ranks::Ranks;
use crate::entry::EntryError;
use crate::flow::Operation;
use crate::range::least;
use crate::units::{Bytes, Time};

/// Ring all-reduce in `2(n - 1)` steps: in each, every rank sends a segment, an n-th of the data, to the next rank,
/// after it has the segment of the step before.
///
/// Every rank sends `2 (n - 1) / n` of the size, in `2 (n - 1) (8 size / (n C) + latency)` on an idle fabric (Patarasuk
/// and Yuan, JPDC 69(2), 2009). Segments may differ by a byte.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RingAllReduce {
    /// Data of each rank, at least 1 B per segment and chunk.
    pub size: Bytes,
    /// Phases of the all-reduce; one phase has n - 1 steps. Default both.
    #[serde(default)]
    pub part: RingPart,
    /// Chunks of each segment, at least 1, that circulate independently, as on NCCL's channels. Default 1. With rank order
    /// `rails`, of each ring's segments.
    #[serde(default = "one")]
    #[schemars(transform = least(1))]
    pub chunks: u32,
    /// Hosts of the ranks, at least 2. Default: all hosts, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Ranks>,
    /// Iterations, at least 1, one after the other: a rank starts the next when all its messages have ended. Default 1.
    #[serde(default = "one")]
    #[schemars(transform = least(1))]
    pub iterations: u32,
    /// Computing time of a rank between iterations. Default 0.
    #[serde(default)]
    pub compute: Time,
}

/// Phases of an all-reduce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RingPart {
    /// Reduce-scatter, then all-gather.
    #[default]
    Both,
    /// Reduce-scatter: every rank ends with the sum of one segment.
    ReduceScatter,
    /// All-gather: every rank ends with every segment.
    AllGather,
}

pub(super) const fn one() -> u32 {
    1
}

impl Pattern for RingAllReduce {
    fn generate(&self, entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError> {
        let (ranks, rings) = Ranks::rings(self.ranks.as_ref(), entry)?;
        let (chunks, count) = (u64::from(self.chunks), rings.len() as u64);
        let bytes = at_least_a_byte_each(entry, self.size, count * chunks * ranks.len() as u64)?;
        let waits = Waits { all: false, own: false };
        let halves = if self.part == RingPart::Both { 2.0 } else { 1.0 };
        let messages = halves * (count * chunks) as f64 * ranks.len() as f64 * (ranks.len() - 1) as f64;
        let operation = match self.part {
            RingPart::Both => Operation::AllReduce,
            RingPart::ReduceScatter => Operation::ReduceScatter,
            RingPart::AllGather => Operation::AllGather,
        };
        let measure = Measure::new(operation, bytes);
        let (iterations, compute, size) = (self.iterations, self.compute, (messages, messages));
        let collective = Collective { ranks: &ranks, iterations, compute, waits, round: 1, size, measure };
        let shares: Vec<(&[usize], u64)> = rings.iter().map(Vec::as_slice).zip(parts(bytes, count)).collect();
        collective.add(entry, out, |_| {
            let chunked = shares.iter().flat_map(|&(ring, share)| parts(share, chunks).map(move |part| (ring, part)));
            chunked.map(|(ring, part)| self.steps(ring, part)).collect()
        })
    }
}

impl RingAllReduce {
    /// In step k place i forwards the data of step k - 1, segment i - k, and in the second half the sums, i + 1 - k.
    fn steps(&self, ring: &[usize], bytes: u64) -> Vec<Step> {
        let n = ring.len();
        let segments: Vec<u64> = parts(bytes, n as u64).collect();
        let halves: &[usize] = match self.part {
            RingPart::Both => &[0, 1],
            RingPart::ReduceScatter | RingPart::AllGather => &[0],
        };
        let step = |(half, k): (usize, usize)| {
            let message = |i: usize| {
                let bytes = segments[(i + n + half - k) % n];
                Message { from: ring[i], to: ring[(i + 1) % n], bytes }
            };
            Step { messages: (0..n).map(message).collect(), delay: Time::ZERO }
        };
        halves.iter().flat_map(|&half| (0..n - 1).map(move |k| (half, k))).map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::collective::tests::{depths, sent};
    use super::super::testing::{flows, pattern, refused, star};
    use crate::flow::{FlowSet, StepFlow};
    use crate::units::Rate;

    fn ring(hosts: u32, json: &str) -> FlowSet {
        flows(&star(hosts, Rate::gbps(100)), &pattern("ring_all_reduce", json), 1)
    }

    #[test]
    fn every_rank_sends_twice_the_size_less_two_segments() {
        for n in [2, 3, 8, 13] {
            let set = ring(n, r#"{"size": "1040000B"}"#);
            assert_eq!(set.flows.len(), (2 * (n - 1) * n) as usize);
            // 1,040,000 is a multiple of all but 3.
            let each = 2 * 1_040_000 * u64::from(n - 1) / u64::from(n);
            assert!(sent(&set, n as usize).iter().all(|&bytes| bytes.abs_diff(each) <= 1), "{n}");
            assert_eq!(set.bytes().0, 2 * 1_040_000 * u64::from(n - 1));
            let depths = depths(&set);
            for step in 0..2 * (n - 1) as usize {
                assert_eq!(depths.iter().filter(|&&depth| depth == step).count(), n as usize);
            }
        }
    }

    #[test]
    fn remainders_and_chunks_keep_the_sum() {
        let set = ring(7, r#"{"size": "1000003B", "chunks": 3}"#);
        assert_eq!(set.bytes().0, 2 * 6 * 1_000_003);
        assert_eq!(set.flows.len(), 3 * 12 * 7);
        assert_eq!(*depths(&set).iter().max().unwrap(), 11);
    }

    #[test]
    fn a_step_waits_for_the_segment_of_the_one_before() {
        let set = ring(4, r#"{"size": "10B"}"#);
        for gate in &set.gates {
            let [before, next] = [gate.waits_for[0], gate.starts[0]].map(|flow| &set.flows[flow as usize]);
            assert_eq!((before.dst, before.size), (next.src, next.size));
            assert_eq!((gate.waits_for.len(), gate.starts.len()), (1, 1));
        }
    }

    #[test]
    fn halves() {
        for part in ["reduce_scatter", "all_gather"] {
            let set = ring(5, &format!(r#"{{"size": "1MB", "part": "{part}"}}"#));
            assert_eq!((set.flows.len(), set.bytes().0), (20, 4_000_000));
        }
    }

    #[test]
    fn iterations_wait_for_all_of_the_one_before_and_compute() {
        let set = ring(4, r#"{"size": "1MB", "iterations": 3, "compute": "5us"}"#);
        assert_eq!(set.bytes().0, 3 * 6_000_000);
        assert_eq!(*depths(&set).iter().max().unwrap(), 17);
        let between: Vec<_> = set.gates.iter().filter(|gate| gate.delay.0 > 0).collect();
        assert_eq!(between.len(), 8);
        for gate in between {
            assert_eq!((gate.delay, gate.waits_for.len()), (crate::units::Time::us(5), 12));
            let host = set.flows[gate.starts[0] as usize].src;
            let own = |&flow: &u32| set.flows[flow as usize].src == host || set.flows[flow as usize].dst == host;
            assert!(gate.waits_for.iter().all(own));
        }
    }

    #[test]
    fn iterations_know_their_flows() {
        let mut spec = pattern("ring_all_reduce", r#"{"size": "1MB", "iterations": 3, "compute": "5us"}"#);
        (spec.qps, spec.end) = (2, Some(crate::units::Time::ms(1)));
        let set = flows(&star(4, Rate::gbps(100)), &spec, 1);
        let facts: Vec<_> = set.iterations.iter().map(|one| (one.collective, one.number, one.size.0)).collect();
        assert_eq!(facts, [(0, 0, 1_000_000), (0, 1, 1_000_000), (0, 2, 1_000_000)]);
        // 24 messages of two queue pairs each.
        let of_iteration = |k: u32| (48 * k..48 * (k + 1)).collect::<Vec<u32>>();
        for (k, one) in (0..).zip(&set.iterations) {
            assert_eq!(one.flows.iter().map(|one| one.flow).collect::<Vec<_>>(), of_iteration(k));
            for StepFlow { flow, step, rank } in &one.flows {
                // 8 flows in each step of 4 ranks; two queue pairs follow each other.
                assert_eq!((*step, *rank), (flow % 48 / 8, flow % 8 / 2));
                assert_eq!(set.flows[*flow as usize].src.0, *rank);
            }
        }
        let compute = set.iterations.iter().map(|one| one.compute_before);
        assert_eq!(compute.collect::<Vec<_>>(), [0, 5, 5].map(crate::units::Time::us));
    }

    #[test]
    fn an_end_calls_off_whole_iterations() {
        let mut spec = pattern("ring_all_reduce", r#"{"size": "1MB", "iterations": 3, "chunks": 2}"#);
        spec.end = Some(crate::units::Time::ms(1));
        let set = flows(&star(4, Rate::gbps(100)), &spec, 1);
        let mut begins: Vec<u32> = set.gates.iter().filter_map(|gate| gate.round).collect();
        begins.sort_unstable();
        assert_eq!(begins, [[1; 8], [2; 8]].concat());
        assert!(set.gates.iter().all(|gate| gate.round.is_some() == (gate.waits_for.len() > 1)));
        assert!(set.rounds.iter().all(|&end| end == crate::units::Time::ms(1)));
        spec.end = None;
        let open = flows(&star(4, Rate::gbps(100)), &spec, 1);
        assert_eq!((&open.flows, open.gates.len()), (&set.flows, set.gates.len()));
        assert!(open.rounds.is_empty() && open.gates.iter().all(|gate| gate.round.is_none()));
    }

    #[test]
    fn bad_fields_are_named() {
        let why = |json: &str| refused(&star(8, Rate::gbps(100)), &pattern("ring_all_reduce", json));
        assert_eq!(
            why(r#"{"size": "15B", "chunks": 2}"#),
            "workload[0].ring_all_reduce.size = 15B: must be at least 16B, a byte for each of its pieces"
        );
        assert_eq!(why(r#"{"size": "1MB", "chunks": 0}"#), "workload[0].ring_all_reduce.chunks = 0: must be 1 or more");
        assert!(why(r#"{"size": "1MB", "iterations": 0}"#).ends_with("iterations = 0: must be 1 or more"));
        assert!(why(r#"{"size": "1MB", "iterations": 4000000000}"#).contains("small enough for 33554431 flows"));
    }
}
