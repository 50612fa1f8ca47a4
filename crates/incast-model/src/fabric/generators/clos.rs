use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Check;
use super::folded::{Folded, Links, TopOrder};
use super::{GeneratorError, delay_1us, no_oversubscription, rate_100g};
use crate::fabric::Fabric;
use crate::range::{above, delay, least};
use crate::units::{Rate, Time};

/// Folded Clos network (Clos, 1953; Greenberg et al., VL2, SIGCOMM 2009) of switches with equally many ports. Switches
/// are `leaf0`, …, `spine0`, … and, with three tiers, `core0`, …; host `h` is on leaf `h / (hosts of a leaf)`.
///
/// A leaf has d ports to hosts and u ports up, with d · `host_rate` = `leaf_oversubscription` · u · `fabric_rate`; a
/// spine likewise between leaves and cores. Two tiers: u spines, each joined to every leaf; radix²/2 hosts without
/// oversubscription. Three tiers: a pod has u spines and as many leaves as a spine has ports down; spine j of every pod
/// reaches the same cores, each core every pod; radix³/4 hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clos {
    /// Tiers of switches: 2 or 3.
    #[schemars(transform = least(2).most(3))]
    pub tiers: u32,
    /// Ports of each switch, 2 to 1024.
    #[schemars(transform = least(2).most(MAX_RADIX))]
    pub radix: u32,
    /// Pods (three tiers) or leaves (two tiers), 1 to `radix`. Default: `radix`. With fewer, top switches have unused
    /// ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<u32>,
    /// Rate of a leaf's host links over that of its uplinks, more than 0. Default 1 (our choice).
    #[serde(default = "no_oversubscription")]
    #[schemars(transform = above(0))]
    pub leaf_oversubscription: f64,
    /// Rate of a spine's links to leaves over that of its links to cores, more than 0; three tiers only. Default 1 (our
    /// choice).
    #[serde(default = "no_oversubscription")]
    #[schemars(transform = above(0))]
    pub spine_oversubscription: f64,
    /// Rate of the hosts' links. Default 100Gbps (our choice).
    #[serde(default = "rate_100g")]
    #[schemars(transform = above("0bps"))]
    pub host_rate: Rate,
    /// Rate of the links between leaves and spines. Default 100Gbps (our choice).
    #[serde(default = "rate_100g")]
    #[schemars(transform = above("0bps"))]
    pub fabric_rate: Rate,
    /// Rate of the links between spines and cores; three tiers only. Default: `fabric_rate`.
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
    /// One-way propagation delay of the links between spines and cores, up to 1 s; three tiers only. Default: `delay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = delay())]
    pub core_delay: Option<Time>,
}

const CHECK: Check = Check("clos");
const MAX_RADIX: u32 = 1024;

impl Clos {
    /// Spec without oversubscription, with default links.
    pub const fn new(tiers: u32, radix: u32) -> Self {
        Self {
            tiers,
            radix,
            pods: None,
            leaf_oversubscription: no_oversubscription(),
            spine_oversubscription: no_oversubscription(),
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
        CHECK.ranges(self)?;
        let pods = self.pods.unwrap_or(self.radix);
        CHECK.within("pods", pods, 1, self.radix)?;
        let links = self.links()?;
        let leaf = self.split("leaf_oversubscription", self.leaf_oversubscription, links[0].rate, links[1].rate)?;
        let tree = Folded {
            names: ["leaf", "spine", "core"],
            pods: 1,
            bottoms: pods,
            hosts_per_bottom: leaf.down,
            middles: leaf.up,
            tops_per_middle: 0,
            order: TopOrder::Blocks,
            bundles: [1, 1],
            links,
        };
        if self.tiers == 2 {
            return tree.build(CHECK);
        }
        let spine = self.split("spine_oversubscription", self.spine_oversubscription, links[1].rate, links[2].rate)?;
        Folded { pods, bottoms: spine.down, tops_per_middle: spine.up, ..tree }.build(CHECK)
    }

    fn links(&self) -> Result<[Links; 3], GeneratorError> {
        if self.tiers == 2 {
            let unused = |field, value| Err(CHECK.error(field, value, "omitted: two tiers have no cores"));
            if self.spine_oversubscription != no_oversubscription() {
                return unused("spine_oversubscription", self.spine_oversubscription.to_string());
            }
            if let Some(rate) = self.core_rate {
                return unused("core_rate", rate.to_string());
            }
            if let Some(delay) = self.core_delay {
                return unused("core_delay", delay.to_string());
            }
        }
        Ok([
            Links { rate: self.host_rate, delay: self.host_delay.unwrap_or(self.delay) },
            Links { rate: self.fabric_rate, delay: self.delay },
            Links { rate: self.core_rate.unwrap_or(self.fabric_rate), delay: self.core_delay.unwrap_or(self.delay) },
        ])
    }

    fn split(&self, field: &str, ratio: f64, down: Rate, up: Rate) -> Result<Split, GeneratorError> {
        if let Some(split) = Split::of(self.radix, ratio, down, up) {
            return Ok(split);
        }
        let possible = |radix: &u32| Split::of(*radix, ratio, down, up).is_some();
        let below = (2..self.radix).rev().find(possible);
        let above = (self.radix + 1..=MAX_RADIX).find(possible);
        let nearest: Vec<String> = [below, above].into_iter().flatten().map(|radix| radix.to_string()).collect();
        let ports = format!("{} ports cannot be split so between {down} down and {up} up", self.radix);
        Err(CHECK.error(
            field,
            ratio,
            match nearest.is_empty() {
                true => format!("another ratio: {ports}, nor any other number up to {MAX_RADIX}"),
                false => format!("another ratio, or a radix of {}: {ports}", nearest.join(" or ")),
            },
        ))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Split {
    down: u32,
    up: u32,
}

impl Split {
    /// The only split with this ratio of rates, to 9 digits (1.333333333).
    fn of(radix: u32, ratio: f64, down_rate: Rate, up_rate: Rate) -> Option<Self> {
        (1..radix).map(|up| Self { down: radix - up, up }).find(|split| {
            let down = f64::from(split.down) * down_rate.0 as f64;
            let wanted = f64::from(split.up) * up_rate.0 as f64 * ratio;
            (down - wanted).abs() <= 1e-9 * wanted
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_split_by_rate() {
        let split = |radix, ratio, down, up| {
            Split::of(radix, ratio, Rate::gbps(down), Rate::gbps(up)).map(|split| (split.down, split.up))
        };
        assert_eq!(split(64, 1.0, 100, 100), Some((32, 32)));
        assert_eq!(split(64, 3.0, 100, 100), Some((48, 16)));
        assert_eq!(split(40, 1.5, 100, 100), Some((24, 16)));
        assert_eq!(split(40, 1.0, 100, 400), Some((32, 8)));
        assert_eq!(split(7, 1.333333333, 100, 100), Some((4, 3)));
        assert_eq!(split(63, 1.0, 100, 100), None);
    }
}
