use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Check;
use super::folded::{Folded, Links, TopOrder};
use super::{GeneratorError, delay_1us, one, rate_100g};
use crate::fabric::Fabric;
use crate::range::{above, delay, least};
use crate::units::{Rate, Time};

/// Two tiers: hosts on leaves, every leaf joined to every spine. Host `h` is on leaf `h / hosts_per_leaf`; switches are
/// `leaf0`, …, `spine0`, ….
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeafSpine {
    /// Number of leaf switches, 1 or more.
    #[schemars(transform = least(1))]
    pub leaves: u32,
    /// Number of spine switches, 1 or more.
    #[schemars(transform = least(1))]
    pub spines: u32,
    /// Hosts on each leaf, 1 or more; at least 2 in all.
    #[schemars(transform = least(1))]
    pub hosts_per_leaf: u32,
    /// Rate of the hosts' links. Default 100Gbps (our choice).
    #[serde(default = "rate_100g")]
    #[schemars(transform = above("0bps"))]
    pub host_rate: Rate,
    /// Rate of each link between leaf and spine. Default 100Gbps (our choice).
    #[serde(default = "rate_100g")]
    #[schemars(transform = above("0bps"))]
    pub uplink_rate: Rate,
    /// Parallel links between each leaf and each spine, 1 or more. Default 1 (our choice).
    #[serde(default = "one")]
    #[schemars(transform = least(1))]
    pub uplinks_per_pair: u32,
    /// One-way propagation delay of every link, up to 1 s. Default 1us (our choice).
    #[serde(default = "delay_1us")]
    #[schemars(transform = delay())]
    pub delay: Time,
    /// One-way propagation delay of the links between leaves and spines, up to 1 s. Default: `delay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = delay())]
    pub uplink_delay: Option<Time>,
}

impl LeafSpine {
    /// Spec with one default uplink per pair.
    pub const fn new(leaves: u32, spines: u32, hosts_per_leaf: u32) -> Self {
        Self {
            leaves,
            spines,
            hosts_per_leaf,
            host_rate: rate_100g(),
            uplink_rate: rate_100g(),
            uplinks_per_pair: 1,
            delay: delay_1us(),
            uplink_delay: None,
        }
    }

    /// Builds the fabric.
    pub fn build(&self) -> Result<Fabric, GeneratorError> {
        let check = Check("leaf_spine");
        check.ranges(self)?;
        let host = Links { rate: self.host_rate, delay: self.delay };
        let uplink = Links { rate: self.uplink_rate, delay: self.uplink_delay.unwrap_or(self.delay) };
        Folded {
            names: ["leaf", "spine", ""],
            pods: 1,
            bottoms: self.leaves,
            hosts_per_bottom: self.hosts_per_leaf,
            middles: self.spines,
            tops_per_middle: 0,
            order: TopOrder::Blocks,
            bundles: [self.uplinks_per_pair, 1],
            links: [host, uplink, uplink],
        }
        .build(check)
    }
}
