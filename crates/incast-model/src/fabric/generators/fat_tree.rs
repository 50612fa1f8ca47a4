use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Check;
use super::folded::{Folded, Links, TopOrder};
use super::{GeneratorError, delay_1us, rate_100g};
use crate::fabric::Fabric;
use crate::range::{above, delay, least};
use crate::units::{Rate, Time};

/// k-ary fat tree (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008): k pods of k/2 edge and k/2 aggregation switches,
/// (k/2)² cores, k³/4 hosts. Host `h` is on edge switch `h / (k/2)`; switches are `edge0`, …, `agg0`, …, `core0`, ….
///
/// Aggregation switch j of every pod reaches cores j·k/2 to (j+1)·k/2 − 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Ports of each switch, even, 2 to 128 (16 hosts for 4, 1,024 for 16, 8,192 for 32).
    pub k: u32,
    /// Hosts on each edge switch, 1 to 4096; more than k/2 oversubscribe the edge and add ports to it (as in htsim).
    /// Default: k/2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = least(1).most(4096))]
    pub hosts_per_edge: Option<u32>,
    /// Rate of the hosts' links. Default 100Gbps (our choice).
    #[serde(default = "rate_100g")]
    #[schemars(transform = above("0bps"))]
    pub host_rate: Rate,
    /// Rate of the links between switches; no oversubscription if equal to `host_rate`. Default 100Gbps (our choice).
    #[serde(default = "rate_100g")]
    #[schemars(transform = above("0bps"))]
    pub fabric_rate: Rate,
    /// Rate of the links between aggregation and core. Default: `fabric_rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above("0bps"))]
    pub core_rate: Option<Rate>,
    /// One-way propagation delay of every link without its own, up to 1 s. Default 1us (our choice).
    #[serde(default = "delay_1us")]
    #[schemars(transform = delay())]
    pub delay: Time,
    /// One-way propagation delay of the hosts' links, up to 1 s. Default: `delay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = delay())]
    pub host_delay: Option<Time>,
    /// One-way propagation delay of the links between aggregation and core, up to 1 s. Default: `delay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = delay())]
    pub core_delay: Option<Time>,
}

impl FatTree {
    /// Spec with default links.
    pub const fn new(k: u32) -> Self {
        Self {
            k,
            hosts_per_edge: None,
            host_rate: rate_100g(),
            fabric_rate: rate_100g(),
            core_rate: None,
            delay: delay_1us(),
            host_delay: None,
            core_delay: None,
        }
    }

    /// Builds the fabric.
    pub fn build(&self) -> Result<Fabric, GeneratorError> {
        let check = Check("fat_tree");
        check.ranges(self)?;
        if !self.k.is_multiple_of(2) || !(2..=128).contains(&self.k) {
            return Err(check.error("k", self.k, "an even number from 2 to 128"));
        }
        let half = self.k / 2;
        let hosts_per_edge = self.hosts_per_edge.unwrap_or(half);
        Folded {
            names: ["edge", "agg", "core"],
            pods: self.k,
            bottoms: half,
            hosts_per_bottom: hosts_per_edge,
            middles: half,
            tops_per_middle: half,
            order: TopOrder::Blocks,
            bundles: [1, 1],
            links: [
                Links { rate: self.host_rate, delay: self.host_delay.unwrap_or(self.delay) },
                Links { rate: self.fabric_rate, delay: self.delay },
                Links {
                    rate: self.core_rate.unwrap_or(self.fabric_rate),
                    delay: self.core_delay.unwrap_or(self.delay),
                },
            ],
        }
        .build(check)
    }
}
