use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::collective::{Collective, Measure, Message, Step, Waits, at_least_a_byte_each, parts};
use super::entry::{Collector, Entry, Pattern};
use super::ranks::Ranks;
use super::ring::one;
use crate::entry::EntryError;
use crate::flow::Operation;
use crate::range::least;
use crate::units::{Bytes, Time};

/// All-reduce over a tree, or by exchange with ever farther ranks (Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeAllReduce {
    /// Data of each rank, at least 1 B per piece.
    pub size: Bytes,
    /// Algorithm. Default binomial_tree.
    #[serde(default)]
    pub algorithm: TreeAlgorithm,
    /// Chunks of the data, at least 1, reduced independently: the tiers of a tree work at the same time. Default 1.
    #[serde(default = "one")]
    #[schemars(transform = least(1))]
    pub chunks: u32,
    /// Hosts of the ranks, at least 2; a power of two for the recursive algorithms. Default: all hosts, in order.
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

/// Algorithms of a tree all-reduce (Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TreeAlgorithm {
    /// Reduce to rank 0 and broadcast from it, each in ceil(log2 n) steps of the full size; a rank sends to one other
    /// at a time.
    #[default]
    BinomialTree,
    /// Rank i reduces to (i - 1) / 2, and sums return the same way; a rank sends to both children at the same time.
    BinaryTree,
    /// log2 n steps; in step k rank i exchanges the full size with rank i xor 2^k.
    RecursiveDoubling,
    /// Reduce-scatter in log2 n steps of halved size, all-gather in as many of doubled size: each rank sends `2 (n - 1)
    /// / n` of the size (Rabenseifner). The first step pairs ranks `n / 2` apart, each further one half as far.
    HalvingDoubling,
}

impl Pattern for TreeAllReduce {
    fn generate(&self, entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError> {
        let ranks = Ranks::place(self.ranks.as_ref(), "ranks", 2, entry)?;
        let chunks = u64::from(self.chunks);
        let n = ranks.len();
        let recursive = matches!(self.algorithm, TreeAlgorithm::RecursiveDoubling | TreeAlgorithm::HalvingDoubling);
        if recursive && !n.is_power_of_two() {
            return Err(entry.refuse("ranks", format!("{n} hosts"), "a power of two for this algorithm"));
        }
        let halved = self.algorithm == TreeAlgorithm::HalvingDoubling;
        let bytes = at_least_a_byte_each(entry, self.size, chunks * if halved { n as u64 } else { 1 })?;
        let own = self.algorithm == TreeAlgorithm::BinomialTree;
        let waits = Waits { all: true, own };
        let of_chunk = match self.algorithm {
            TreeAlgorithm::BinomialTree | TreeAlgorithm::BinaryTree => 2 * (n - 1),
            TreeAlgorithm::RecursiveDoubling => n * n.ilog2() as usize,
            TreeAlgorithm::HalvingDoubling => 2 * n * n.ilog2() as usize,
        };
        let messages = chunks as f64 * of_chunk as f64;
        let measure = Measure::new(Operation::AllReduce, bytes);
        let (iterations, compute, size) = (self.iterations, self.compute, (messages, messages));
        let collective = Collective { ranks: &ranks, iterations, compute, waits, round: 1, size, measure };
        let steps = |bytes| match self.algorithm {
            TreeAlgorithm::BinomialTree => binomial(n, bytes),
            TreeAlgorithm::BinaryTree => binary(n, bytes),
            TreeAlgorithm::RecursiveDoubling => doubling(n, bytes),
            TreeAlgorithm::HalvingDoubling => halving_doubling(n, bytes),
        };
        collective.add(entry, out, |_| parts(bytes, chunks).map(steps).collect())
    }
}

fn step(messages: impl Iterator<Item = Message>) -> Step {
    let mut messages: Vec<Message> = messages.collect();
    messages.sort_by_key(|message| message.from);
    Step { messages, delay: Time::ZERO }
}

fn there_and_back(up: Vec<Step>) -> Vec<Step> {
    let turned = |message: &Message| Message { from: message.to, to: message.from, ..*message };
    let down: Vec<Step> = up.iter().rev().map(|one| step(one.messages.iter().map(turned))).collect();
    up.into_iter().chain(down).collect()
}

fn binomial(n: usize, bytes: u64) -> Vec<Step> {
    let distances = std::iter::successors(Some(1), |distance| Some(distance * 2)).take_while(|&distance| distance < n);
    let up = distances.map(|distance| {
        let senders = (distance..n).step_by(2 * distance);
        step(senders.map(|from| Message { from, to: from - distance, bytes }))
    });
    there_and_back(up.collect())
}

fn binary(n: usize, bytes: u64) -> Vec<Step> {
    // Ranks of depth d are 2^d - 1 up to 2^(d + 1) - 2.
    let depth = |rank: usize| (rank + 1).ilog2();
    let up = (1..=depth(n - 1)).rev().map(|tier| {
        let senders = (1..n).filter(|&rank| depth(rank) == tier);
        step(senders.map(|from| Message { from, to: (from - 1) / 2, bytes }))
    });
    there_and_back(up.collect())
}

fn doubling(n: usize, bytes: u64) -> Vec<Step> {
    (0..n.ilog2()).map(|k| step((0..n).map(|from| Message { from, to: from ^ (1 << k), bytes }))).collect()
}

/// In step k of the first half a rank sends the half of its range without itself.
fn halving_doubling(n: usize, bytes: u64) -> Vec<Step> {
    let edges: Vec<u64> = std::iter::once(0)
        .chain(parts(bytes, n as u64).scan(0, |sum, part| {
            *sum += part;
            Some(*sum)
        }))
        .collect();
    let halve = |distance: usize| {
        let message = move |from: usize| {
            let to = from ^ distance;
            // As many segments as the distance, in its own block.
            let first = to / distance * distance;
            (from, to, first)
        };
        step((0..n).map(message).map(|(from, to, first)| Message {
            from,
            to,
            bytes: edges[first + distance] - edges[first],
        }))
    };
    let distances: Vec<usize> = (0..n.ilog2()).rev().map(|k| 1 << k).collect();
    there_and_back(distances.into_iter().map(halve).collect())
}

#[cfg(test)]
mod tests {
    use super::super::collective::tests::{depths, sent};
    use super::super::testing::{flows, pattern, refused, star};
    use crate::flow::FlowSet;
    use crate::units::Rate;

    fn tree(hosts: u32, algorithm: &str, rest: &str) -> FlowSet {
        let json = format!(r#"{{"size": "1000001B", "algorithm": "{algorithm}"{rest}}}"#);
        flows(&star(hosts, Rate::gbps(100)), &pattern("tree_all_reduce", &json), 1)
    }

    #[test]
    fn trees_send_the_size_up_and_down_every_edge() {
        for algorithm in ["binomial_tree", "binary_tree"] {
            for n in [2, 3, 5, 8, 16, 21] {
                let set = tree(n, algorithm, "");
                assert_eq!(set.flows.len(), 2 * (n as usize - 1), "{algorithm} {n}");
                assert!(set.flows.iter().all(|flow| flow.size.0 == 1_000_001));
                depths(&set);
            }
        }
        assert_eq!(*depths(&tree(16, "binomial_tree", "")).iter().max().unwrap(), 2 * 4 - 1);
        assert_eq!(*depths(&tree(15, "binary_tree", "")).iter().max().unwrap(), 2 * 3 - 1);
        let set = tree(5, "binomial_tree", "");
        let from_root = set.gates.iter().find(|gate| set.flows[gate.starts[0] as usize].src.0 == 0).unwrap();
        assert_eq!(from_root.waits_for.len(), 3);
    }

    #[test]
    fn exchanges_take_log_n_steps() {
        let set = tree(16, "recursive_doubling", "");
        assert_eq!((set.flows.len(), *depths(&set).iter().max().unwrap()), (64, 3));
        assert!(sent(&set, 16).iter().all(|&bytes| bytes == 4 * 1_000_001));
        let set = tree(16, "halving_doubling", "");
        assert_eq!((set.flows.len(), *depths(&set).iter().max().unwrap()), (128, 7));
        assert_eq!(set.bytes().0, 2 * 15 * 1_000_001);
        assert!(sent(&set, 16).iter().all(|&bytes| bytes.abs_diff(2 * 1_000_001 * 15 / 16) <= 4));
        let largest = set.flows.iter().map(|flow| flow.size.0).max().unwrap();
        assert_eq!(largest, 500_001);
    }

    #[test]
    fn chunks_and_iterations() {
        let set = tree(8, "binary_tree", r#", "chunks": 4, "iterations": 2, "compute": "1us""#);
        assert_eq!(set.bytes().0, 2 * 14 * 1_000_001);
        assert_eq!(set.flows.len(), 2 * 4 * 14);
        depths(&set);
    }

    #[test]
    fn bad_fields_are_named() {
        let why = |json: &str| refused(&star(6, Rate::gbps(100)), &pattern("tree_all_reduce", json));
        assert_eq!(
            why(r#"{"size": "1MB", "algorithm": "recursive_doubling"}"#),
            "workload[0].tree_all_reduce.ranks = 6 hosts: must be a power of two for this algorithm"
        );
        assert!(why(r#"{"size": 0}"#).ends_with("size = 0B: must be at least 1B, a byte for each of its pieces"));
    }
}
