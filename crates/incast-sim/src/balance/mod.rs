//! Load balancing: which of several equal next hops a packet takes.
//!
//! ECMP is what happens without more: a hash of the flow's addresses and ports. Each other rule is a file of its own here,
//! chosen by one line in `balancers!`; it is asked only where there is a choice, and only in runs that name it.

mod adaptive;
mod flowlet;
mod spray;

use incast_model::fabric::{NodeId, NodeKind, PortId};
use incast_model::rng::{Stream, stream};
use incast_model::routing::{EcmpHash, EcmpKey};
use rand::Rng;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

pub use adaptive::AdaptiveParams;
pub use flowlet::FlowletParams;
pub use spray::{SprayOrder, SprayParams};

use crate::congestion::BadParameter;
use crate::network::Port;

/// The parameters of a rule: what a scenario says of it.
pub(crate) trait BalanceParams {
    /// Whether packets of one flow can overtake each other even where nothing is lost and nobody waits long.
    const REORDERS: bool;
    /// The state of all switches and hosts.
    type State: Balancer;

    /// The first parameter out of range, if any.
    fn check(&self) -> Result<(), BadParameter>;
    /// The state at the start of a run.
    fn start(&self, scale: &Scale<'_>) -> Self::State;
}

/// What a rule's state is sized and seeded by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale<'a> {
    pub(crate) fabric: &'a incast_model::fabric::Fabric,
    /// Groups of next hops.
    pub(crate) groups: usize,
    pub(crate) seed: u64,
}

impl Scale<'_> {
    /// A random stream for each node.
    fn streams(&self, purpose: &str) -> Vec<Stream> {
        (0..self.fabric.nodes().len() as u64).map(|node| stream(self.seed, purpose, node)).collect()
    }

    fn is_switch(&self, node: u32) -> bool {
        self.fabric.node(NodeId(node)).kind == NodeKind::Switch
    }
}

/// A packet that can go several ways. A flow that chooses the port of its host is asked for like a packet of data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice<'a> {
    /// Picoseconds.
    pub(crate) now: u64,
    pub(crate) node: u32,
    /// Data; not an ACK, NACK or CNP.
    pub(crate) data: bool,
    /// The next hops, at least two.
    pub(crate) hops: &'a [PortId],
    /// Number of this group of next hops.
    pub(crate) group: usize,
    pub(crate) hash: EcmpHash,
    pub(crate) key: EcmpKey,
    pub(crate) salt: u64,
    /// All ports.
    pub(crate) ports: &'a [Port],
    /// Rates of ports in bit/s.
    pub(crate) rates: &'a [u64],
}

impl Choice<'_> {
    /// The flow's hash at this node.
    fn flow_hash(&self) -> u32 {
        self.hash.hash_prepared(self.key, self.salt)
    }

    /// What ECMP would choose.
    fn ecmp(&self) -> usize {
        self.flow_hash() as usize % self.hops.len()
    }

    /// Any of them, all alike.
    fn random(&self, rng: &mut Stream) -> usize {
        (((rng.next_u64() >> 32) * self.hops.len() as u64) >> 32) as usize
    }
}

/// The state of a rule.
pub(crate) trait Balancer {
    /// Which of the next hops, by its place among them.
    fn choose(&mut self, choice: &Choice<'_>) -> usize;
    /// Whether it leaves data (or ACKs, NACKs and CNPs) to ECMP.
    fn is_ecmp(&self, _data: bool) -> bool {
        false
    }
    /// Routes have changed; there are so many groups now, and they mean other next hops.
    fn rerouted(&mut self, _groups: usize) {}
}

macro_rules! balancers {
    ($($(#[$doc:meta])* $name:literal, $summary:literal => $variant:ident($params:ident)),+ $(,)?) => {
        /// Load balancing: choice among equal next hops.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        pub enum Balance {
            /// By a hash of its flow's addresses and ports, the same for all its packets.
            #[default]
            #[serde(rename = "ecmp")]
            Ecmp,
            $($(#[$doc])* #[serde(rename = $name)] $variant($params)),+
        }

        impl Balance {
            /// Names of all rules, with what they are.
            pub const CATALOGUE: &'static [(&'static str, &'static str)] = &[
                ("ecmp", "hash of the flow's addresses and ports (RFC 2992)"),
                $(($name, $summary)),+
            ];

            /// Its name.
            pub const fn name(&self) -> &'static str {
                match self { Self::Ecmp => "ecmp", $(Self::$variant(_) => $name),+ }
            }
            /// Whether packets of one flow can overtake each other even where nothing is lost and nobody waits long.
            pub const fn reorders(&self) -> bool {
                match self { Self::Ecmp => false, $(Self::$variant(_) => $params::REORDERS),+ }
            }
            /// The first parameter out of range, if any.
            pub fn check(&self) -> Result<(), BadParameter> {
                match self { Self::Ecmp => Ok(()), $(Self::$variant(params) => params.check()),+ }
            }
            /// JSON schema of the parameters of a rule; `None` for one without, or without such a name.
            pub fn parameters(name: &str) -> Option<Schema> {
                match name { $($name => Some(schemars::schema_for!($params)),)+ _ => None }
            }
            pub(crate) fn start(&self, scale: &Scale<'_>) -> State {
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

        /// The state of a rule at all nodes, dispatched statically.
        #[derive(Debug)]
        pub(crate) enum State {
            Ecmp,
            $($variant(<$params as BalanceParams>::State)),+
        }

        impl Balancer for State {
            fn choose(&mut self, choice: &Choice<'_>) -> usize {
                match self { Self::Ecmp => choice.ecmp(), $(Self::$variant(state) => state.choose(choice)),+ }
            }
            fn is_ecmp(&self, data: bool) -> bool {
                match self { Self::Ecmp => true, $(Self::$variant(state) => state.is_ecmp(data)),+ }
            }
            fn rerouted(&mut self, groups: usize) {
                match self { Self::Ecmp => {}, $(Self::$variant(state) => state.rerouted(groups)),+ }
            }
        }
    };
}

balancers! {
    /// Every packet, at random or round robin.
    "spray", "every packet, at random or round robin (Dixit et al., INFOCOM 2013)" => Spray(SprayParams),
    /// Every flowlet at random: packets of a flow without a gap stay together.
    "flowlet", "every flowlet at random (LetFlow: Vanini et al., NSDI 2017)" => Flowlet(FlowletParams),
    /// Every packet to the shortest of a few queues.
    "adaptive", "every packet to the shortest of a few queues (DRILL: Ghorbani et al., SIGCOMM 2017)" => Adaptive(AdaptiveParams),
}

#[cfg(test)]
pub(crate) mod testing {
    //! A switch with a choice, for unit tests.

    use incast_model::fabric::generators::LeafSpine;
    use incast_model::routing::FlowKey;

    use super::*;
    use crate::kernel::NONE;

    /// The next hops of a leaf towards another one.
    pub(crate) struct Leaf {
        fabric: incast_model::fabric::Fabric,
        pub(crate) node: u32,
        pub(crate) hops: Vec<PortId>,
        pub(crate) ports: Vec<Port>,
    }

    impl Leaf {
        pub(crate) fn new(spines: u32) -> Self {
            let fabric = LeafSpine::new(2, spines, 1).build().unwrap();
            let hops: Vec<PortId> = fabric.ports_of(NodeId(2)).skip(1).collect();
            let idle = Port {
                busy_until: 0,
                delay: 0,
                tx_bytes: 0,
                flight_head: NONE,
                flight_tail: NONE,
                queued: 0,
                ps_per_byte: 80,
                peer: 0,
                owner: 0,
                peer_owner: 0,
                waiting: 0,
                paused: 0,
                last_served: 0,
                rate: 0,
                at_host: false,
                far: crate::network::Far::Switch,
                pending: false,
                down: false,
                at_server: false,
                noted: false,
                cut: u16::MAX,
            };
            Self { ports: vec![idle; fabric.ports().len()], fabric, node: 2, hops }
        }

        pub(crate) fn scale(&self, seed: u64) -> Scale<'_> {
            Scale { fabric: &self.fabric, groups: 12, seed }
        }

        /// A data packet of the flow with this source port.
        pub(crate) fn packet(&self, now: u64, sport: u16) -> Choice<'_> {
            Choice {
                now,
                node: self.node,
                data: true,
                hops: &self.hops,
                group: 7,
                hash: EcmpHash::Mix64,
                key: EcmpHash::Mix64.prepare(FlowKey::new(0, 1, sport, 100)),
                salt: EcmpHash::Mix64.salt(self.node, 1),
                ports: &self.ports,
                rates: &[100_000_000_000],
            }
        }

        pub(crate) fn ack(&self, now: u64, sport: u16) -> Choice<'_> {
            Choice { data: false, ..self.packet(now, sport) }
        }
    }

    /// Draws are even if chi-square stays below the 99.9 % quantile: about n + 3.1 * sqrt(2 n) for n degrees of freedom.
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
            let hop = ecmp.choose(&leaf.packet(0, sport));
            assert_eq!(hop, ecmp.choose(&leaf.packet(99, sport)));
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
