use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::backlog::{Amounts, MessageSize};
use super::collective::{Begin, Measure, send};
use super::entry::{Collector, Entry, Pattern};
use super::ranks::Ranks;
use super::ring::one;
use crate::entry::EntryError;
use crate::fabric::HostId;
use crate::flow::{Iteration, Operation, StepFlow};
use crate::range::least;
use crate::units::{Bytes, Time};

/// All-to-all: every rank sends `size` to every other, rank i to i + 1 first, then to i + 2, … (linear shift), so that
/// with a window ranks receive as much as they send.
///
/// On an idle non-blocking fabric it takes `(n - 1) 8 size / C` and a latency; with a window of 1, one RTT more per
/// message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllToAll {
    /// Size of each message, at least 1 B; or `backlogged`, without a window and one iteration.
    pub size: MessageSize,
    /// Messages of a rank in flight, at least 1; the next starts with the last ACK of one. Default: all at the same
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = least(1))]
    pub window: Option<u32>,
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

impl Pattern for AllToAll {
    fn generate(&self, entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError> {
        let ranks = Ranks::place(self.ranks.as_ref(), "ranks", 2, entry)?;
        let size = match self.size {
            MessageSize::Fixed(Bytes(0)) => return Err(entry.refuse("size", self.size, "a size of at least 1B")),
            MessageSize::Fixed(Bytes(size)) => size,
            MessageSize::Backlogged => return self.backlogged(&ranks, entry, out),
        };
        let n = ranks.len();
        let window = self.window.map_or(n - 1, |window| (window as usize).min(n - 1));
        let messages = f64::from(self.iterations) * n as f64 * (n - 1) as f64;
        let gates = if self.window.is_some() { messages } else { f64::from(self.iterations - 1) * n as f64 };
        entry.expect("iterations", self.iterations, messages, gates)?;
        let mut before = vec![Vec::new(); n];
        let measure = Measure::new(Operation::AllToAll, size.saturating_mul(n as u64));
        let collective = out.collective();
        for iteration in 0..self.iterations {
            let mut ended = vec![Vec::with_capacity(2 * n); n];
            let round = out.round(entry);
            for rank in 0..n {
                let to = |shift: usize| (rank + shift) % n;
                let message = |shift| (ranks[to(shift)], size);
                let delay = if before[rank].is_empty() { Time::ZERO } else { self.compute };
                let begin = Begin { waits: &before[rank], delay, round };
                let first = send(entry, out, ranks[rank], (1..=window).map(message), &begin)?;
                let mut flows: Vec<u32> = (first..).take(window).collect();
                for shift in window + 1..n {
                    let earlier = [flows[shift - 1 - window]];
                    let begin = Begin { waits: &earlier, delay: Time::ZERO, round: None };
                    flows.push(send(entry, out, ranks[rank], std::iter::once(message(shift)), &begin)?);
                }
                for (shift, flow) in (1..).zip(flows) {
                    out.step(StepFlow { flow, step: shift as u32 - 1, rank: rank as u32 });
                    ended[rank].push(flow);
                    ended[to(shift)].push(flow);
                }
            }
            before = ended;
            let one = measure.iteration(iteration, n, self.compute);
            out.iteration(Iteration { collective, ..one });
        }
        Ok(())
    }
}

impl AllToAll {
    fn backlogged(&self, ranks: &[HostId], entry: &Entry<'_>, out: &mut Collector) -> Result<(), EntryError> {
        if self.window.is_some() || self.iterations > 1 {
            return Err(entry.refuse("size", self.size, "a size, with a window or several iterations"));
        }
        let amounts = Amounts::backlogged(entry, &entry.field("size"))?;
        let n = ranks.len();
        entry.expect("ranks", format!("{n} hosts"), n as f64 * (n - 1) as f64, 0.0)?;
        for (rank, shift) in (0..n).flat_map(|rank| (1..n).map(move |shift| (rank, shift))) {
            out.push(amounts.flow(entry, ranks[rank], ranks[(rank + shift) % n], 0.0, entry.start))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::collective::tests::{depths, sent};
    use super::super::testing::{flows, pattern, refused, star};
    use crate::flow::FlowSet;
    use crate::units::{Rate, Time};

    fn all_to_all(hosts: u32, rest: &str) -> FlowSet {
        let json = format!(r#"{{"size": "10kB"{rest}}}"#);
        flows(&star(hosts, Rate::gbps(100)), &pattern("all_to_all", &json), 1)
    }

    #[test]
    fn every_pair_once() {
        for rest in ["", r#", "window": 2"#, r#", "window": 100"#] {
            let set = all_to_all(9, rest);
            let mut pairs: Vec<_> = set.flows.iter().map(|flow| (flow.src.0, flow.dst.0)).collect();
            pairs.sort_unstable();
            pairs.dedup();
            assert_eq!((pairs.len(), set.flows.len()), (72, 72), "{rest}");
            assert!(sent(&set, 9).iter().all(|&bytes| bytes == 80_000));
        }
    }

    #[test]
    fn a_window_shifts_receivers() {
        let set = all_to_all(9, r#", "window": 1"#);
        let depths = depths(&set);
        assert_eq!(*depths.iter().max().unwrap(), 7);
        for step in 0..8 {
            let now = || set.flows.iter().zip(&depths).filter(move |(_, depth)| **depth == step);
            let mut receivers: Vec<_> = now().map(|(flow, _)| flow.dst.0).collect();
            receivers.sort_unstable();
            assert_eq!(receivers, (0..9).collect::<Vec<_>>());
        }
        assert!(
            set.gates
                .iter()
                .all(|gate| { set.flows[gate.waits_for[0] as usize].src == set.flows[gate.starts[0] as usize].src })
        );
        assert_eq!(depths.len(), 72);
        assert_eq!(all_to_all(9, "").gates.len(), 0);
    }

    #[test]
    fn iterations() {
        let set = all_to_all(4, r#", "iterations": 3, "compute": "2us""#);
        assert_eq!((set.flows.len(), set.gates.len()), (36, 8));
        assert!(set.gates.iter().all(|gate| gate.waits_for.len() == 6 && gate.starts.len() == 3));
        assert!(set.gates.iter().all(|gate| gate.delay == Time::us(2)));
        depths(&set);
    }

    #[test]
    fn bad_fields_are_named() {
        let why = |json: &str| refused(&star(4, Rate::gbps(100)), &pattern("all_to_all", json));
        assert_eq!(why(r#"{"size": 0}"#), "workload[0].all_to_all.size = 0B: must be a size of at least 1B");
        assert!(why(r#"{"size": 1, "window": 0}"#).ends_with("window = 0: must be 1 or more"));
        assert!(why(r#"{"size": 1, "iterations": 0}"#).ends_with("iterations = 0: must be 1 or more"));
    }
}
