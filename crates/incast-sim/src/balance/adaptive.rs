//! DRILL(d, m) (Ghorbani et al., "DRILL: Micro Load Balancing for Low-latency Data Center Networks", SIGCOMM 2017): shortest of
//! a few local queues, per packet.

use std::ops::Range;

use incast_model::range::least;
use incast_model::rng::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BalanceParams, Balancer, Choice, Scale};
use crate::kernel::NONE;

/// Each packet to the shortest of a few queues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AdaptiveParams {
    /// Ports sampled at random for each packet, 1 to 65535; all if as many as next hops. Default 2 (DRILL, SIGCOMM
    /// 2017, section 3: DRILL(2, 1)).
    #[schemars(transform = least(1).most(65535))]
    pub samples: u16,
    /// If true, also considers the best port of the last packet to the same destination. Default true (DRILL).
    pub memory: bool,
    /// If true, ACKs, NACKs and CNPs choose too; otherwise they use ECMP. Default false (our choice: controls see them
    /// in order).
    pub acks: bool,
}

impl Default for AdaptiveParams {
    fn default() -> Self {
        Self { samples: 2, memory: true, acks: false }
    }
}

/// Random stream, and best port by group of next hops.
#[derive(Debug, Clone)]
pub(crate) struct Adaptive {
    params: AdaptiveParams,
    stream: Stream,
    best: Vec<u32>,
}

impl BalanceParams for AdaptiveParams {
    const REORDERS: bool = true;
    type State = Adaptive;

    fn start(&self, scale: &Scale) -> Adaptive {
        let best = vec![NONE; if self.memory { scale.groups.len() } else { 0 }];
        Adaptive { params: self.clone(), stream: scale.stream("adaptive"), best }
    }
}

impl Balancer for Adaptive {
    fn choose(&mut self, choice: &impl Choice) -> usize {
        if self.is_ecmp(choice.is_data()) {
            return choice.ecmp();
        }
        let rng = &mut self.stream;
        let backlog = |hop: usize| choice.backlog(choice.hops()[hop]);
        // Ties go to the first sample, a random one.
        let start = choice.random(rng);
        let count = choice.hops().len();
        let mut best = (backlog(start), start);
        let all = usize::from(self.params.samples) >= count;
        for sample in 1..if all { count } else { usize::from(self.params.samples) } {
            let hop = if all { (start + sample) % count } else { choice.random(rng) };
            let length = backlog(hop);
            if length < best.0 {
                best = (length, hop);
            }
        }
        if let Some(kept) = self.best.get_mut(choice.group()) {
            if let Some(hop) = choice.hops().iter().position(|hop| hop.0 == *kept)
                && backlog(hop) < best.0
            {
                best.1 = hop;
            }
            *kept = choice.hops()[best.1].0;
        }
        best.1
    }

    fn is_ecmp(&self, data: bool) -> bool {
        !data && !self.params.acks
    }

    fn rerouted(&mut self, groups: Range<usize>) {
        if self.params.memory {
            self.best = vec![NONE; groups.len()];
        }
    }
}

#[cfg(test)]
mod tests {
    use incast_model::range;

    use super::super::testing::{Leaf, chi_square};
    use super::*;

    fn start(samples: u16, memory: bool, leaf: &Leaf) -> Adaptive {
        AdaptiveParams { samples, memory, acks: false }.start(&leaf.scale(1))
    }

    #[test]
    fn the_shortest_queue_wins_if_all_are_seen() {
        let mut leaf = Leaf::new(4);
        leaf.backlogs = vec![0, 240_000, 160_000, 80_000, 160_000];
        let mut state = start(4, false, &leaf);
        assert!((0..50).all(|_| leaf.choose(&mut state, 0, 1) == 2));
        leaf.backlogs[3] = 160_001;
        let two: Vec<_> = (0..50).map(|_| leaf.choose(&mut state, 0, 1)).collect();
        assert!(two.iter().all(|hop| [1, 3].contains(hop)) && two.contains(&1) && two.contains(&3));
        // A dead port never finishes sending.
        leaf.backlogs = vec![0, u64::MAX, u64::MAX, 160_001, u64::MAX];
        assert!((0..50).all(|_| leaf.choose(&mut state, 0, 1) == 2));
    }

    #[test]
    fn memory_finds_the_shortest_and_keeps_it() {
        let mut leaf = Leaf::new(16);
        leaf.backlogs.fill(400_000);
        leaf.backlogs[10] = 0;
        let mut with = start(1, true, &leaf);
        let found = (0..400).position(|_| leaf.choose(&mut with, 0, 1) == 9).expect("one draw in 16 finds it");
        assert!((0..100).all(|_| leaf.choose(&mut with, 0, 1) == 9), "kept since draw {found}");
        let mut without = start(1, false, &leaf);
        assert!((0..100).any(|_| leaf.choose(&mut without, 0, 1) != 9));
    }

    #[test]
    fn empty_queues_are_used_alike() {
        let leaf = Leaf::new(8);
        let mut state = start(2, true, &leaf);
        let mut counts = [0u64; 8];
        (0..8000).for_each(|_| counts[leaf.choose(&mut state, 0, 1)] += 1);
        assert!(chi_square(&counts) < 24.3, "{counts:?}");
        assert_eq!(leaf.choose_for_ack(&mut state, 0, 1), leaf.ecmp(1));
    }

    #[test]
    fn parameters_are_checked() {
        assert!(range::check(&AdaptiveParams::default()).is_ok());
        assert_eq!(range::check(&AdaptiveParams { samples: 0, ..Default::default() }).unwrap_err().field, "samples");
    }
}
