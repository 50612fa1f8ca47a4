//! Load balancing: choice among equal next hops. `balancers!` lists the rules; all but ECMP run only with several next hops.

mod adaptive;
mod flowlet;
mod spray;

use std::ops::Range;

use incast_model::fabric::PortId;
use incast_model::rng::{Stream, stream};
use rand::Rng;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

pub use adaptive::AdaptiveParams;
pub use flowlet::FlowletParams;
pub use spray::{SprayOrder, SprayParams};

/// Time in ps until a port of `rate` bit/s, busy until `busy_until`, has sent `queued` bytes.
pub(crate) fn backlog((now, busy_until): (u64, u64), queued: u32, rate: u64) -> u64 {
    busy_until.saturating_sub(now).saturating_add(u64::from(queued) * 8_000_000_000_000 / rate)
}

pub(crate) trait BalanceParams {
    /// If true, flows can be reordered even without losses and long queues.
    const REORDERS: bool;
    type State: Balancer;

    fn start(&self, scale: &Scale) -> Self::State;
}

#[derive(Debug, Clone)]
pub(crate) struct Scale {
    pub(crate) node: u32,
    pub(crate) is_switch: bool,
    pub(crate) groups: Range<usize>,
    pub(crate) seed: u64,
}

impl Scale {
    fn stream(&self, purpose: &str) -> Stream {
        stream(self.seed, purpose, self.node.into())
    }
}

/// A flow's choice of a host port counts as data.
pub(crate) trait Choice {
    /// At least two.
    fn hops(&self) -> &[PortId];
    /// In ps.
    fn now(&self) -> u64;
    /// If false: ACK, NACK or CNP.
    fn is_data(&self) -> bool;
    fn group(&self) -> usize;
    /// ECMP's hash.
    fn hash(&self) -> u32;
    /// Time in ps to send a port's queue.
    fn backlog(&self, port: PortId) -> u64;

    fn ecmp(&self) -> usize {
        self.hash() as usize % self.hops().len()
    }

    fn random(&self, rng: &mut Stream) -> usize {
        (((rng.next_u64() >> 32) * self.hops().len() as u64) >> 32) as usize
    }
}

pub(crate) trait Balancer {
    fn choose(&mut self, choice: &impl Choice) -> usize;
    fn is_ecmp(&self, _data: bool) -> bool {
        false
    }
    fn rerouted(&mut self, _groups: Range<usize>) {}
}

macro_rules! balancers {
    ($($(#[$doc:meta])* $name:literal, $summary:literal => $variant:ident($params:ident)),+ $(,)?) => {
        /// Load balancing: choice among equal next hops.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        pub enum Balance {
            /// Hash of the flow's addresses and ports.
            #[default]
            #[serde(rename = "ecmp")]
            Ecmp,
            $($(#[$doc])* #[serde(rename = $name)] $variant($params)),+
        }

        impl Balance {
            /// Name and summary of each rule.
            pub const CATALOGUE: &'static [(&'static str, &'static str)] = &[
                ("ecmp", "hash of the flow's addresses and ports (RFC 2992)"),
                $(($name, $summary)),+
            ];

            /// Name.
            pub const fn name(&self) -> &'static str {
                match self { Self::Ecmp => "ecmp", $(Self::$variant(_) => $name),+ }
            }
            /// If true, flows can be reordered even without losses and long queues.
            pub const fn reorders(&self) -> bool {
                match self { Self::Ecmp => false, $(Self::$variant(_) => $params::REORDERS),+ }
            }
            /// Schema of a rule's parameters; `None`: unknown name or no parameters.
            pub fn parameters(name: &str) -> Option<Schema> {
                match name { $($name => Some(schemars::schema_for!($params)),)+ _ => None }
            }
            pub(crate) fn start(&self, scale: &Scale) -> State {
                match self { Self::Ecmp => State::Ecmp, $(Self::$variant(params) => State::$variant(params.start(scale))),+ }
            }
        }

        impl JsonSchema for Balance {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                "LoadBalancing".into()
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let names: Vec<&str> = Self::CATALOGUE.iter().map(|(name, _)| *name).collect();
                schemars::json_schema!({
                    "description": "Load balancing: choice among equal next hops",
                    "anyOf": [
                        { "type": "string", "enum": names, "description": "with all defaults" },
                        $({
                            "description": $summary,
                            "type": "object",
                            "properties": { $name: generator.subschema_for::<$params>() },
                            "required": [$name],
                            "additionalProperties": false,
                        }),+
                    ],
                })
            }
        }

        #[derive(Debug, Clone)]
        pub(crate) enum State {
            Ecmp,
            $($variant(<$params as BalanceParams>::State)),+
        }

        impl Balancer for State {
            #[inline]
            fn choose(&mut self, choice: &impl Choice) -> usize {
                match self { Self::Ecmp => choice.ecmp(), $(Self::$variant(state) => state.choose(choice)),+ }
            }
            fn is_ecmp(&self, data: bool) -> bool {
                match self { Self::Ecmp => true, $(Self::$variant(state) => state.is_ecmp(data)),+ }
            }
            fn rerouted(&mut self, groups: Range<usize>) {
                match self { Self::Ecmp => {}, $(Self::$variant(state) => state.rerouted(groups)),+ }
            }
        }
    };
}

balancers! {
    /// Every packet, at random or round robin.
    "spray", "every packet, at random or round robin (Dixit et al., INFOCOM 2013)" => Spray(SprayParams),
    /// Every flowlet at random.
    "flowlet", "every flowlet at random (LetFlow: Vanini et al., NSDI 2017)" => Flowlet(FlowletParams),
    /// Every packet to the shortest of a few queues.
    "adaptive", "every packet to the shortest of a few queues (DRILL: Ghorbani et al., SIGCOMM 2017)" => Adaptive(AdaptiveParams),
}

#[cfg(test)]
pub(crate) mod testing {

    use incast_model::routing::{EcmpHash, FlowKey};

    use super::*;

    /// Next hops to another leaf; backlogs in ps.
    pub(crate) struct Leaf {
        pub(crate) hops: Vec<PortId>,
        pub(crate) backlogs: Vec<u64>,
    }

    impl Leaf {
        pub(crate) fn new(spines: u32) -> Self {
            Self { hops: (1..=spines).map(PortId).collect(), backlogs: vec![0; spines as usize + 1] }
        }

        pub(crate) fn scale(&self, seed: u64) -> Scale {
            Scale { node: 2, is_switch: true, groups: 0..12, seed }
        }

        pub(crate) fn choose(&self, state: &mut impl Balancer, now: u64, sport: u16) -> usize {
            self.ask(state, now, sport, true)
        }

        pub(crate) fn choose_for_ack(&self, state: &mut impl Balancer, now: u64, sport: u16) -> usize {
            self.ask(state, now, sport, false)
        }

        fn ask(&self, state: &mut impl Balancer, now: u64, sport: u16, data: bool) -> usize {
            state.choose(&Asked { leaf: self, now, sport, data })
        }

        pub(crate) fn ecmp(&self, sport: u16) -> usize {
            self.choose(&mut State::Ecmp, 0, sport)
        }
    }

    struct Asked<'a> {
        leaf: &'a Leaf,
        now: u64,
        sport: u16,
        data: bool,
    }

    impl Choice for Asked<'_> {
        fn hops(&self) -> &[PortId] {
            &self.leaf.hops
        }

        fn now(&self) -> u64 {
            self.now
        }

        fn is_data(&self) -> bool {
            self.data
        }

        fn group(&self) -> usize {
            7
        }

        fn hash(&self) -> u32 {
            let hash = EcmpHash::Mix64;
            hash.hash_prepared(hash.prepare(FlowKey::new(0, 1, self.sport, 100)), hash.salt(2, 1))
        }

        fn backlog(&self, port: PortId) -> u64 {
            self.leaf.backlogs[port.index()]
        }
    }

    /// Even draws stay below the 99.9 % quantile: about n + 3.1 sqrt(2 n) for n degrees of freedom.
    pub(crate) fn chi_square(counts: &[u64]) -> f64 {
        let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        counts.iter().map(|&count| (count as f64 - expected) * (count as f64 - expected) / expected).sum()
    }

    #[test]
    fn ecmp_spreads_flows_evenly_and_keeps_each_together() {
        let leaf = Leaf::new(8);
        let mut ecmp = State::Ecmp;
        let mut counts = [0u64; 8];
        for sport in 0..40_000 {
            let hop = leaf.choose(&mut ecmp, 0, sport);
            assert_eq!(hop, leaf.choose(&mut ecmp, 99, sport));
            counts[hop] += 1;
        }
        assert!(chi_square(&counts) < 24.3, "{counts:?}"); // 7 degrees of freedom
    }

    #[test]
    fn the_catalogue_has_every_rule() {
        assert_eq!(Balance::default().name(), "ecmp");
        for (name, summary) in Balance::CATALOGUE {
            assert!(!summary.is_empty());
            assert_eq!(Balance::parameters(name).is_some(), *name != "ecmp", "{name}");
        }
    }
}
