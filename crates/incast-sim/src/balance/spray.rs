//! Packet spraying: a next hop per packet (Dixit et al., "On the Impact of Packet Spraying in Data Center Networks", INFOCOM
//! 2013).

use std::ops::Range;

use incast_model::rng::{Stream, mix};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BalanceParams, Balancer, Choice, Scale};

/// Order of next hops under packet spraying.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SprayOrder {
    /// Random, with a stream per switch (Dixit et al., INFOCOM 2013: random packet spraying).
    #[default]
    Random,
    /// Round robin for each switch and destination, from a random start; hosts behind one switch are one destination.
    RoundRobin,
}

/// Packet spraying.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SprayParams {
    /// Order of next hops. Default random (Dixit et al., INFOCOM 2013).
    pub order: SprayOrder,
    /// If true, ACKs, NACKs and CNPs are sprayed too; otherwise they use ECMP. Default false (our choice: controls see
    /// them in order).
    pub acks: bool,
}

/// Random stream, or last next hop by group.
#[derive(Debug, Clone)]
pub(crate) struct Spray {
    order: SprayOrder,
    acks: bool,
    stream: Stream,
    turns: Vec<u32>,
    seed: u64,
}

impl BalanceParams for SprayParams {
    const REORDERS: bool = true;
    type State = Spray;

    fn start(&self, scale: &Scale) -> Spray {
        let (order, acks) = (self.order, self.acks);
        let mut state = Spray { order, acks, stream: scale.stream("spray"), turns: Vec::new(), seed: scale.seed };
        state.rerouted(scale.groups.clone());
        state
    }
}

impl Balancer for Spray {
    #[inline]
    fn choose(&mut self, choice: &impl Choice) -> usize {
        if self.is_ecmp(choice.is_data()) {
            return choice.ecmp();
        }
        match self.order {
            SprayOrder::Random => choice.random(&mut self.stream),
            SprayOrder::RoundRobin => {
                let turn = &mut self.turns[choice.group()];
                let (next, hops) = (*turn + 1, choice.hops().len() as u32);
                // The first turn is any number. A division would take longer than the rest.
                *turn = if next < hops { next } else { next % hops };
                *turn as usize
            }
        }
    }

    fn is_ecmp(&self, data: bool) -> bool {
        !data && !self.acks
    }

    fn rerouted(&mut self, groups: Range<usize>) {
        if self.order == SprayOrder::RoundRobin {
            self.turns = groups.map(|group| (mix(self.seed ^ mix(group as u64)) >> 40) as u32).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Leaf, chi_square};
    use super::*;

    #[test]
    fn turns_are_equal_within_one_packet() {
        let leaf = Leaf::new(5);
        let mut spray = SprayParams { order: SprayOrder::RoundRobin, acks: false }.start(&leaf.scale(3));
        let mut counts = [0u64; 5];
        for packet in 0..1003 {
            counts[leaf.choose(&mut spray, packet, (packet % 7) as u16)] += 1;
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
        }
    }

    #[test]
    fn random_packets_are_even_and_repeat_by_seed() {
        let leaf = Leaf::new(8);
        let draw = |seed| {
            let mut spray = SprayParams::default().start(&leaf.scale(seed));
            (0..80_000).map(|_| leaf.choose(&mut spray, 0, 1)).collect::<Vec<_>>()
        };
        let hops = draw(1);
        let mut counts = [0u64; 8];
        hops.iter().for_each(|&hop| counts[hop] += 1);
        assert!(chi_square(&counts) < 24.3, "{counts:?}");
        assert_eq!(hops, draw(1));
        assert_ne!(hops, draw(2));
    }

    #[test]
    fn acks_stay_together_unless_told_otherwise() {
        let leaf = Leaf::new(8);
        let ways = |acks| {
            let mut spray = SprayParams { acks, ..SprayParams::default() }.start(&leaf.scale(1));
            let mut ways: Vec<_> = (0..100).map(|_| leaf.choose_for_ack(&mut spray, 0, 1)).collect();
            ways.sort_unstable();
            ways.dedup();
            ways
        };
        assert_eq!(ways(false), [leaf.ecmp(1)]);
        assert_eq!(ways(true).len(), 8);
    }
}
