//! The three-tier k-ary fat tree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Check;
use super::{GeneratorError, delay_1us, rate_100g};
use crate::fabric::{Fabric, FabricBuilder};
use crate::units::{Rate, Time};

/// The k-ary fat tree of Al-Fares, Loukissas and Vahdat (SIGCOMM 2008): k pods of k/2 edge and k/2 aggregation
/// switches, (k/2)² cores, k³/4 hosts. Host `h` is on edge switch `h / (k/2)`; switches are `edge0`, …, `agg0`, …,
/// `core0`, ….
///
/// Aggregation switch j of every pod reaches cores j·k/2 to (j+1)·k/2 − 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Ports of each switch: even, 2 to 128 (16 hosts for 4, 1,024 for 16, 8,192 for 32).
    pub k: u32,
    /// Rate of the hosts' links; default 100Gbps (our choice).
    #[serde(default = "rate_100g")]
    pub host_rate: Rate,
    /// Rate of the links between switches; default 100Gbps (our choice). No oversubscription where it equals `host_rate`.
    #[serde(default = "rate_100g")]
    pub fabric_rate: Rate,
    /// One-way propagation delay of every link, up to 1s; default 1us (our choice).
    #[serde(default = "delay_1us")]
    pub delay: Time,
}

impl FatTree {
    /// All links at 100 Gb/s and 1 us.
    pub const fn new(k: u32) -> Self {
        Self { k, host_rate: rate_100g(), fabric_rate: rate_100g(), delay: delay_1us() }
    }

    /// The fabric.
    pub fn build(&self) -> Result<Fabric, GeneratorError> {
        let check = Check("fat_tree");
        if !self.k.is_multiple_of(2) || !(2..=128).contains(&self.k) {
            return Err(check.error("k", self.k, "an even number from 2 to 128"));
        }
        check.rate("host_rate", self.host_rate)?;
        check.rate("fabric_rate", self.fabric_rate)?;
        check.delay("delay", self.delay)?;
        let half = self.k as usize / 2;
        let per_tier = self.k as usize * half;
        let mut builder = FabricBuilder::new();
        let hosts: Vec<_> = (0..per_tier * half).map(|h| builder.host(format!("h{h}"))).collect();
        let edges: Vec<_> = (0..per_tier).map(|e| builder.switch(format!("edge{e}"), 1)).collect();
        let aggs: Vec<_> = (0..per_tier).map(|a| builder.switch(format!("agg{a}"), 2)).collect();
        let cores: Vec<_> = (0..half * half).map(|c| builder.switch(format!("core{c}"), 3)).collect();
        for (h, &host) in hosts.iter().enumerate() {
            builder.link(host, edges[h / half], self.host_rate, self.delay);
        }
        for (e, &edge) in edges.iter().enumerate() {
            let pod = e / half;
            for &agg in &aggs[pod * half..(pod + 1) * half] {
                builder.link(edge, agg, self.fabric_rate, self.delay);
            }
        }
        for (a, &agg) in aggs.iter().enumerate() {
            let group = a % half;
            for &core in &cores[group * half..(group + 1) * half] {
                builder.link(agg, core, self.fabric_rate, self.delay);
            }
        }
        Ok(builder.finish()?)
    }
}
