use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Check;
use super::{GeneratorError, delay_1us, rate_100g};
use crate::fabric::{Fabric, FabricBuilder};
use crate::range::{above, delay, least};
use crate::units::{Rate, Time};

/// Dragonfly (Kim, Dally, Scott and Abts, ISCA 2008): groups of `a` routers, all joined to each other; each router has
/// `p` hosts and `h` links to other groups. Host `i` is on router `i / p`; router r of group G is `g{G}r{r}`.
///
/// A group has a·h ports to other groups, numbered by router. With the most groups, a·h + 1, one link joins any two;
/// with fewer, as many per pair as there are ports for. Remaining ports join groups at distance 1, 2, … around the ring
/// of groups; at most one port of a group stays unused.
///
/// Balanced for a = 2·p = 2·h (section 3.1). Routes are shortest in links, sometimes shorter than the dragonfly's
/// minimal ones: two global links in a row instead of local, global, local.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dragonfly {
    /// Hosts on each router, 1 to 1024.
    #[schemars(transform = least(1).most(1024))]
    pub p: u32,
    /// Routers in each group, 1 to 1024.
    #[schemars(transform = least(1).most(1024))]
    pub a: u32,
    /// Links to other groups on each router, 1 to 1024.
    #[schemars(transform = least(1).most(1024))]
    pub h: u32,
    /// Number of groups, 2 to a·h + 1. Default: a·h + 1 (as in the paper).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u32>,
    /// Arrangement of the links between groups. Default consecutive (our choice).
    #[serde(default)]
    pub arrangement: GlobalArrangement,
    /// Rate of the hosts' links. Default 100Gbps (our choice).
    #[serde(default = "rate_100g")]
    #[schemars(transform = above("0bps"))]
    pub host_rate: Rate,
    /// Rate of the links within a group. Default 100Gbps (our choice).
    #[serde(default = "rate_100g")]
    #[schemars(transform = above("0bps"))]
    pub local_rate: Rate,
    /// Rate of the links between groups. Default 100Gbps (our choice).
    #[serde(default = "rate_100g")]
    #[schemars(transform = above("0bps"))]
    pub global_rate: Rate,
    /// One-way propagation delay of the links of hosts and within a group, up to 1 s. Default 1us (our choice).
    #[serde(default = "delay_1us")]
    #[schemars(transform = delay())]
    pub delay: Time,
    /// One-way propagation delay of the links between groups, up to 1 s. Default 1us (our choice).
    #[serde(default = "delay_1us")]
    #[schemars(transform = delay())]
    pub global_delay: Time,
}

/// Arrangement of a dragonfly's links between groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GlobalArrangement {
    /// Ports lead to the other groups in order of their numbers (Kim et al., figure 5; "absolute" in Hastings et al.,
    /// CLUSTER 2015).
    #[default]
    Consecutive,
    /// Port q of group i leads to group i − q − 1, around the ring (Camarero, Vallejo and Beivide, TACO 2014; mirrored
    /// "relative" of Hastings et al.).
    Palmtree,
}

impl Dragonfly {
    /// Spec with the most groups and default links.
    pub const fn new(p: u32, a: u32, h: u32) -> Self {
        Self {
            p,
            a,
            h,
            groups: None,
            arrangement: GlobalArrangement::Consecutive,
            host_rate: rate_100g(),
            local_rate: rate_100g(),
            global_rate: rate_100g(),
            delay: delay_1us(),
            global_delay: delay_1us(),
        }
    }

    /// Builds the fabric.
    pub fn build(&self) -> Result<Fabric, GeneratorError> {
        let check = Check("dragonfly");
        check.ranges(self)?;
        let most = self.a * self.h + 1;
        let groups = self.groups.unwrap_or(most);
        check.within("groups", groups, 2, most)?;
        let [p, a, h, g] = [self.p, self.a, self.h, groups].map(u64::from);
        check.size(g * a * (p + 1), g * (a * p + a * (a - 1) / 2 + a * h / 2))?;
        let mut builder = FabricBuilder::new();
        let hosts: Vec<_> = (0..g * a * p).map(|h| builder.host(format!("h{h}"))).collect();
        let names = (0..g).flat_map(|group| (0..a).map(move |router| format!("g{group}r{router}")));
        let routers: Vec<_> = names.map(|name| builder.switch(name, 1)).collect();
        for (i, &host) in hosts.iter().enumerate() {
            builder.link(host, routers[i / self.p as usize], self.host_rate, self.delay);
        }
        for group in routers.chunks(self.a as usize) {
            for (i, &router) in group.iter().enumerate() {
                for &other in &group[i + 1..] {
                    builder.link(router, other, self.local_rate, self.delay);
                }
            }
        }
        let router = |(group, port): (u32, u32)| routers[(group * self.a + port / self.h) as usize];
        for (one, other) in self.globals(groups) {
            builder.link(router(one), router(other), self.global_rate, self.global_delay);
        }
        Ok(builder.finish()?)
    }

    /// Both ends (group, port) of links between groups, in order of the first.
    fn globals(&self, groups: u32) -> Vec<((u32, u32), (u32, u32))> {
        let (ports, others) = (self.a * self.h, groups - 1);
        let rounds = ports / others;
        let rest = rest(groups, ports % others);
        let mut links = Vec::new();
        for group in 0..groups {
            for port in 0..rounds * others {
                let (round, place) = (port / others, port % others);
                let (other, back) = match self.arrangement {
                    GlobalArrangement::Consecutive if place < group => (place, group - 1),
                    GlobalArrangement::Consecutive => (place + 1, group),
                    GlobalArrangement::Palmtree => ((group + groups - place - 1) % groups, others - 1 - place),
                };
                if group < other {
                    links.push(((group, port), (other, round * others + back)));
                }
            }
            for (place, &distance) in (rounds * others..).zip(&rest) {
                let other = (group + distance) % groups;
                // Distances come in pairs that sum to the number of groups, or one is half of it.
                let back = rest.iter().position(|&back| back == groups - distance).expect("distances come in pairs");
                if group < other {
                    links.push(((group, place), (other, rounds * others + back as u32)));
                }
            }
        }
        links
    }
}

/// Distances around the ring of groups if a group has fewer `ports` than other groups.
fn rest(groups: u32, ports: u32) -> Vec<u32> {
    let mut distances: Vec<u32> = (1..=ports / 2).flat_map(|distance| [distance, groups - distance]).collect();
    if !ports.is_multiple_of(2) && groups.is_multiple_of(2) {
        distances.push(groups / 2);
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(spec: &Dragonfly, groups: u32) -> Vec<u32> {
        let mut ports: Vec<(u32, u32)> = spec
            .globals(groups)
            .into_iter()
            .filter(|(one, _)| one.0 == 0)
            .map(|((_, port), (other, _))| (port, other))
            .collect();
        ports.sort_unstable();
        ports.into_iter().map(|(_, group)| group).collect()
    }

    #[test]
    fn arrangements_are_the_published_ones() {
        let mut spec = Dragonfly::new(1, 4, 2);
        assert_eq!(reached(&spec, 9), [1, 2, 3, 4, 5, 6, 7, 8]);
        spec.arrangement = GlobalArrangement::Palmtree;
        assert_eq!(reached(&spec, 9), [8, 7, 6, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn ports_are_used_once_and_evenly() {
        for (a, h) in [(1, 1), (2, 1), (4, 2), (3, 3), (5, 2)] {
            for groups in 2..=a * h + 1 {
                for arrangement in [GlobalArrangement::Consecutive, GlobalArrangement::Palmtree] {
                    let spec = Dragonfly { arrangement, ..Dragonfly::new(1, a, h) };
                    let mut ports = vec![0u32; (groups * a * h) as usize];
                    let mut pairs = vec![0u32; (groups * groups) as usize];
                    for (one, other) in spec.globals(groups) {
                        assert_ne!(one.0, other.0);
                        for (group, port) in [one, other] {
                            ports[(group * a * h + port) as usize] += 1;
                        }
                        pairs[(one.0 * groups + other.0) as usize] += 1;
                    }
                    let unused = ports.iter().filter(|&&used| used == 0).count() as u32;
                    assert!(ports.iter().all(|&used| used <= 1) && unused <= groups, "{spec:?}");
                    let every = a * h / (groups - 1);
                    let joined = (0..groups).flat_map(|i| (i + 1..groups).map(move |j| (i, j)));
                    for (i, j) in joined {
                        assert!((every..=every + 1).contains(&pairs[(i * groups + j) as usize]), "{i} {j} {spec:?}");
                    }
                }
            }
        }
    }
}
