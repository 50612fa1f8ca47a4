use std::collections::BTreeMap;

use serde::Serialize;

use super::graph::{Fabric, Link, NodeKind};
use crate::units::{Bytes, Rate, Time};

/// Links of one rate and delay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkSummary {
    /// Rate per direction.
    pub rate: Rate,
    /// One-way delay.
    pub delay: Time,
    /// Number of links.
    pub links: usize,
}

/// Switches of one tier.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TierSummary {
    /// Number; 1 is next to the hosts.
    pub tier: u8,
    /// Number of switches.
    pub switches: usize,
    /// Total rate to lower tiers and hosts.
    pub down: Rate,
    /// Total rate to higher tiers.
    pub up: Rate,
    /// Total rate within the tier.
    pub across: Rate,
    /// `down / up`: 1 is non-blocking; none without links up.
    pub oversubscription: Option<f64>,
}

/// Key figures of a fabric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Number of hosts.
    pub hosts: usize,
    /// Switches by tier, lowest first.
    pub tiers: Vec<TierSummary>,
    /// Links by rate and delay, fastest first.
    pub links: Vec<LinkSummary>,
    /// Largest base RTT.
    pub max_base_rtt: Time,
    /// Largest bandwidth-delay product: all flows' window in the HPCC evaluation.
    pub max_bdp: Bytes,
    /// Half of the smallest capacity between neighbouring tiers: the rate, each way, between halves of a symmetric tree's
    /// hosts. None if links join nodes of one tier (dumbbell, ring) or hosts have several links.
    pub bisection: Option<Rate>,
}

impl Summary {
    /// Summary for `payload` bytes per packet (1000 in the HPCC evaluation).
    pub fn new(fabric: &Fabric, payload: Bytes) -> Self {
        let (max_base_rtt, max_bdp) = fabric.longest_rtt(payload);
        Self {
            hosts: fabric.hosts().len(),
            tiers: tiers(fabric),
            links: links(fabric),
            max_base_rtt,
            max_bdp,
            bisection: bisection(fabric),
        }
    }

    /// Number of switches.
    pub fn switches(&self) -> usize {
        self.tiers.iter().map(|tier| tier.switches).sum()
    }
}

fn plus(sum: &mut Rate, rate: Rate) {
    *sum = Rate(sum.0.saturating_add(rate.0));
}

/// Lower tier, upper tier and rate of every link but those to hosts of services.
fn levels(fabric: &Fabric) -> impl Iterator<Item = (u8, u8, Rate)> + '_ {
    let services = &fabric.hosts()[fabric.hosts().len() - fabric.services()..];
    let ends = |link: &Link| [link.a, link.b].map(|port| fabric.port(port).node);
    let others = fabric.links().iter().filter(move |link| !ends(link).iter().any(|node| services.contains(node)));
    others.map(move |link| {
        let [a, b] = ends(link).map(|node| fabric.node(node).tier);
        (a.min(b), a.max(b), link.rate)
    })
}

fn tiers(fabric: &Fabric) -> Vec<TierSummary> {
    let mut tiers: BTreeMap<u8, TierSummary> = BTreeMap::new();
    for node in fabric.nodes().iter().filter(|node| node.kind == NodeKind::Switch) {
        let (tier, none) = (node.tier, Rate::ZERO);
        let fresh = TierSummary { tier, switches: 0, down: none, up: none, across: none, oversubscription: None };
        tiers.entry(tier).or_insert(fresh).switches += 1;
    }
    for (low, high, rate) in levels(fabric) {
        if low == high {
            tiers.entry(low).and_modify(|tier| plus(&mut tier.across, rate));
        } else {
            tiers.entry(low).and_modify(|tier| plus(&mut tier.up, rate));
            tiers.entry(high).and_modify(|tier| plus(&mut tier.down, rate));
        }
    }
    for tier in tiers.values_mut().filter(|tier| tier.up > Rate::ZERO) {
        tier.oversubscription = Some(tier.down.0 as f64 / tier.up.0 as f64);
    }
    tiers.into_values().collect()
}

fn links(fabric: &Fabric) -> Vec<LinkSummary> {
    let mut kinds: BTreeMap<(Rate, Time), usize> = BTreeMap::new();
    for link in fabric.links() {
        *kinds.entry((link.rate, link.delay)).or_default() += 1;
    }
    kinds.into_iter().rev().map(|((rate, delay), links)| LinkSummary { rate, delay, links }).collect()
}

fn bisection(fabric: &Fabric) -> Option<Rate> {
    if fabric.hosts().iter().any(|&host| fabric.ports_of(host).len() > 1) {
        return None;
    }
    let mut between: BTreeMap<u8, Rate> = BTreeMap::new();
    for (low, high, rate) in levels(fabric) {
        if low == high {
            return None;
        }
        for level in low..high {
            plus(between.entry(level).or_insert(Rate::ZERO), rate);
        }
    }
    between.into_values().min().map(|thinnest| Rate(thinnest.0 / 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::Service;
    use crate::fabric::generators::{Dumbbell, FatTree, HpccFatTree, LeafSpine};

    fn summary(fabric: Fabric) -> Summary {
        Summary::new(&fabric, Bytes(1000))
    }

    #[test]
    fn of_the_hpcc_tree() {
        let sum = summary(HpccFatTree::default().build().unwrap());
        assert_eq!((sum.hosts, sum.switches()), (320, 56));
        assert_eq!(sum.tiers.iter().map(|tier| tier.switches).collect::<Vec<_>>(), [20, 20, 16]);
        assert_eq!(
            sum.tiers.iter().map(|tier| tier.oversubscription).collect::<Vec<_>>(),
            [Some(1.0), Some(1.0), None]
        );
        assert_eq!(
            sum.links.iter().map(|kind| (kind.rate.0, kind.links)).collect::<Vec<_>>(),
            [(400_000_000_000, 160), (100_000_000_000, 320)]
        );
        assert_eq!((sum.max_base_rtt, sum.max_bdp), (Time::ns(12_240), Bytes(153_000)));
        assert_eq!(sum.bisection, Some(Rate::gbps(16_000)));
    }

    #[test]
    fn oversubscribed_and_flat() {
        let sum = summary(LeafSpine::new(4, 2, 8).build().unwrap());
        assert_eq!(sum.tiers[0].oversubscription, Some(4.0));
        assert_eq!(sum.bisection, Some(Rate::gbps(400)));
        let sum = summary(Dumbbell::new(2, 2).build().unwrap());
        assert_eq!((sum.tiers[0].across, sum.tiers[0].oversubscription), (Rate::gbps(100), None));
        assert_eq!(sum.bisection, None);
    }

    #[test]
    fn services_do_not_count_as_load() {
        let fabric = LeafSpine::new(4, 2, 8).build().unwrap();
        let (rate, delay) = (Some(Rate::gbps(1)), Some(Time::us(1)));
        let service = |at: &str| Service { name: format!("at-{at}"), at: at.into(), rate, delay };
        let with = fabric.with_services(&["leaf0", "spine0"].map(service)).unwrap();
        let (plain, with) = (summary(fabric), summary(with));
        assert_eq!((with.hosts, with.tiers, with.bisection), (plain.hosts + 2, plain.tiers, plain.bisection));
    }

    #[test]
    fn of_a_thousand_hosts() {
        let sum = summary(FatTree::new(16).build().unwrap());
        assert_eq!((sum.hosts, sum.switches()), (1024, 320));
        // 6 links of 1 us and 80 ns.
        assert_eq!((sum.max_base_rtt, sum.max_bdp), (Time::ns(12_480), Bytes(156_000)));
    }
}
