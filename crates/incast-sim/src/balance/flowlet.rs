//! Flowlet switching with random choices: LetFlow (Vanini et al., "Let It Flow", NSDI 2017).
//!
//! A packet later than the gap after its flow's last one begins a flowlet. Flows with equal hash table entries count as one, as
//! in hardware.

use incast_model::range::{above, least};
use incast_model::rng::Stream;
use incast_model::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BalanceParams, Balancer, Choice, Scale};

/// Flowlet switching.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FlowletParams {
    /// Gap between packets that starts a new flowlet. Default 100us (ConWeave's ns-3 for 100 Gb/s, SIGCOMM 2023;
    /// LetFlow, NSDI 2017: 500 us at 10 Gb/s). Flows stay in order if it exceeds the difference of the paths.
    #[schemars(transform = above("0s"))]
    pub gap: Time,
    /// Entries of each switch's flowlet table, 1 to 1048576. Default 65536 (our choice: collisions are rare).
    #[schemars(transform = least(1).most(1 << 20))]
    pub entries: u32,
}

impl Default for FlowletParams {
    fn default() -> Self {
        Self { gap: Time::us(100), entries: 1 << 16 }
    }
}

/// Without a table at hosts: every flow is a new flowlet.
#[derive(Debug, Clone)]
pub(crate) struct Flowlet {
    gap: u64,
    stream: Stream,
    /// In ps.
    last: Vec<u64>,
    /// Egress port plus one; 0: none yet.
    port: Vec<u32>,
}

impl BalanceParams for FlowletParams {
    const REORDERS: bool = false;
    type State = Flowlet;

    fn start(&self, scale: &Scale) -> Flowlet {
        let entries = if scale.is_switch { self.entries as usize } else { 0 };
        let (last, port) = (vec![0; entries], vec![0; entries]);
        Flowlet { gap: self.gap.0, stream: scale.stream("flowlet"), last, port }
    }
}

impl Balancer for Flowlet {
    fn choose(&mut self, choice: &impl Choice) -> usize {
        if self.last.is_empty() {
            return choice.random(&mut self.stream);
        }
        let at = choice.hash() as usize % self.last.len();
        let before = std::mem::replace(&mut self.last[at], choice.now());
        // A port that is no next hop (rerouted, other destination) begins a flowlet.
        let kept = choice.hops().iter().position(|hop| hop.0 + 1 == self.port[at]);
        let hop = match kept {
            Some(hop) if choice.now() - before <= self.gap => hop,
            _ => choice.random(&mut self.stream),
        };
        self.port[at] = choice.hops()[hop].0 + 1;
        hop
    }
}

#[cfg(test)]
mod tests {
    use incast_model::range;

    use super::super::testing::{Leaf, chi_square};
    use super::*;

    fn flowlets(gap: u64, entries: u32, leaf: &Leaf) -> Flowlet {
        FlowletParams { gap: Time(gap), entries }.start(&leaf.scale(1))
    }

    #[test]
    fn a_gap_begins_a_flowlet_exactly_when_it_is_longer() {
        let leaf = Leaf::new(64);
        let mut state = flowlets(1000, 1 << 16, &leaf);
        let mut now = 5;
        let first = leaf.choose(&mut state, now, 1);
        for _ in 0..50 {
            now += 1000; // equal to the gap
            assert_eq!(leaf.choose(&mut state, now, 1), first);
        }
        let mut counts = vec![0u64; 64];
        for _ in 0..6400 {
            now += 1001;
            counts[leaf.choose(&mut state, now, 1)] += 1;
        }
        assert!(chi_square(&counts) < 104.0, "{counts:?}"); // 63 degrees of freedom
    }

    #[test]
    fn flows_do_not_disturb_each_other_but_where_they_share_an_entry() {
        let leaf = Leaf::new(8);
        let mut state = flowlets(1000, 1 << 16, &leaf);
        let first: Vec<_> = (0..20).map(|sport| leaf.choose(&mut state, 0, sport)).collect();
        assert!(first.iter().any(|&hop| hop != first[0]));
        let again: Vec<_> = (0..20).map(|sport| leaf.choose(&mut state, 900, sport)).collect();
        assert_eq!(first, again);
        let mut shared = flowlets(1000, 1, &leaf);
        let first = leaf.choose(&mut shared, 0, 1);
        assert!((2..40).all(|sport| leaf.choose(&mut shared, u64::from(sport), sport) == first));
    }

    #[test]
    fn a_way_that_is_gone_is_not_kept() {
        let mut leaf = Leaf::new(8);
        let mut state = flowlets(1000, 16, &leaf);
        let first = leaf.choose(&mut state, 0, 1);
        let gone = leaf.hops.remove(first);
        let next = leaf.choose(&mut state, 1, 1);
        assert_ne!(leaf.hops[next], gone);
        assert_eq!(leaf.choose(&mut state, 2, 1), next);
    }

    #[test]
    fn parameters_are_checked() {
        assert!(range::check(&FlowletParams::default()).is_ok());
        assert_eq!(range::check(&FlowletParams { gap: Time::ZERO, ..Default::default() }).unwrap_err().field, "gap");
        assert_eq!(range::check(&FlowletParams { entries: 0, ..Default::default() }).unwrap_err().field, "entries");
    }
}
