use std::collections::HashMap;

use crate::fabric::{Fabric, Groups, NodeId};
use crate::units::Rate;

/// Hosts joined by switches up to a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cut {
    /// Such as `h3.1`, `h3`, `leaf0`, `agg0 to agg1`.
    pub(super) name: String,
    /// Joining switches' tier: 0 for a VM, 1 for a server.
    pub(super) tier: u8,
    pub(super) capacity: Rate,
    /// Maximal cuts inside.
    pub(super) within: Vec<usize>,
}

/// Lower tiers first; any two cuts are nested or disjoint.
#[derive(Debug, Clone)]
pub(super) struct Cuts {
    pub(super) cuts: Vec<Cut>,
    /// By host, from its own outwards.
    pub(super) of_host: Vec<Vec<usize>>,
    pub(super) top: Vec<usize>,
}

/// Links within a tier: cuts by tier do not determine the capacity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} and {} are both in tier {tier} and joined by a link: guarantees need links from tier to tier (or \
     between two halves)", .ends[0], .ends[1]
)]
pub struct NoTree {
    /// Tier.
    pub tier: u8,
    /// Nodes of the link.
    pub ends: [String; 2],
}

impl Cuts {
    pub(super) fn new(fabric: &Fabric) -> Result<Self, NoTree> {
        check(fabric)?;
        let highest = fabric.nodes().iter().map(|node| node.tier).max().unwrap_or(0);
        let mut all = Self { cuts: Vec::new(), of_host: vec![Vec::new(); fabric.endpoints().len()], top: Vec::new() };
        let mut inner = Vec::new();
        for tier in 0..=highest {
            all.add_tier(fabric, tier, &mut inner);
        }
        all.top = (0..all.cuts.len()).filter(|&cut| !inner[cut]).collect();
        Ok(all)
    }

    /// `inner` marks cuts inside another.
    fn add_tier(&mut self, fabric: &Fabric, tier: u8, inner: &mut Vec<bool>) {
        let groups = Groups::new(fabric, tier);
        let mut capacity = vec![0u64; fabric.nodes().len()];
        for link in fabric.links() {
            let [a, b] = [link.a, link.b].map(|port| groups.of(fabric.port(port).node));
            if a != b {
                for side in [a, b] {
                    capacity[side as usize] = capacity[side as usize].saturating_add(link.rate.0);
                }
            }
        }
        let names = names(fabric, &groups, tier);
        let mut found: HashMap<u32, usize> = HashMap::new();
        for (host, &node) in fabric.endpoints().iter().enumerate() {
            let group = groups.of(node);
            // Without links the group is the whole fabric; without this tier's switches the cut exists one tier below.
            let (capacity, Some(name)) = (Rate(capacity[group as usize]), names.get(&group)) else { continue };
            if capacity == Rate::ZERO {
                continue;
            }
            let number = *found.entry(group).or_insert_with(|| {
                self.cuts.push(Cut { name: name.clone(), tier, capacity, within: Vec::new() });
                inner.push(false);
                self.cuts.len() - 1
            });
            if let Some(&within) = self.of_host[host].last()
                && !std::mem::replace(&mut inner[within], true)
            {
                self.cuts[number].within.push(within);
            }
            self.of_host[host].push(number);
        }
    }
}

/// Links within a tier only join two halves of a fabric.
fn check(fabric: &Fabric) -> Result<(), NoTree> {
    let highest = fabric.nodes().iter().map(|node| node.tier).max().unwrap_or(0);
    let groups = Groups::new(fabric, highest);
    let mut halves: Vec<u32> = fabric.endpoints().iter().map(|&node| groups.of(node)).collect();
    halves.sort_unstable();
    halves.dedup();
    for link in fabric.links() {
        let ends = [link.a, link.b].map(|port| fabric.port(port).node);
        let [a, b] = ends.map(|node| fabric.node(node).tier);
        if a == b && (a != highest || halves.len() > 2) {
            return Err(NoTree { tier: a, ends: ends.map(|node| fabric.node(node).name.clone()) });
        }
    }
    Ok(())
}

/// First node of each group in a tier, and the last of several.
fn names(fabric: &Fabric, groups: &Groups, tier: u8) -> HashMap<u32, String> {
    let mut ends: HashMap<u32, [NodeId; 2]> = HashMap::new();
    for node in (0..fabric.nodes().len() as u32).map(NodeId).filter(|&node| fabric.node(node).tier == tier) {
        ends.entry(groups.of(node)).or_insert([node, node])[1] = node;
    }
    let name = |node: NodeId| &fabric.node(node).name;
    let named = ends.into_iter().map(|(group, [first, last])| match first == last {
        true => (group, name(first).clone()),
        false => (group, format!("{} to {}", name(first), name(last))),
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::Vms;
    use crate::fabric::generators::{Dumbbell, FatTree, Jellyfish, LeafSpine};

    fn cuts(plain: &Fabric, slots: u32) -> Cuts {
        Cuts::new(&plain.with_vms(&Vms::new(slots)).unwrap()).unwrap()
    }

    fn named<'a>(cuts: &'a Cuts, name: &str) -> &'a Cut {
        cuts.cuts.iter().find(|cut| cut.name == name).unwrap()
    }

    #[test]
    fn vms_servers_and_racks_of_a_tree() {
        let all = cuts(&LeafSpine::new(3, 2, 2).build().unwrap(), 4);
        let count = |tier| all.cuts.iter().filter(|cut| cut.tier == tier).count();
        assert_eq!([count(0), count(1), count(2), count(3)], [24, 6, 3, 0]);
        let facts = |name| (named(&all, name).tier, named(&all, name).capacity, named(&all, name).within.len());
        assert_eq!(facts("h1.2"), (0, Rate::gbps(10), 0));
        assert_eq!(facts("h1"), (1, Rate::gbps(100), 4));
        assert_eq!(facts("leaf0"), (2, Rate::gbps(200), 2), "both uplinks");
        let of = |host: usize| all.of_host[host].iter().map(|&cut| all.cuts[cut].name.as_str()).collect::<Vec<_>>();
        assert_eq!(of(9), ["h2.1", "h2", "leaf1"]);
        assert_eq!(all.top.len(), 3);
    }

    #[test]
    fn pods_and_halves() {
        let all = cuts(&FatTree::new(4).build().unwrap(), 1);
        let pod = named(&all, "agg0 to agg1");
        assert_eq!((pod.tier, pod.capacity, pod.within.len(), all.top.len()), (3, Rate::gbps(400), 2, 4));
        let all = cuts(&Dumbbell::new(2, 3).build().unwrap(), 1);
        let capacities: Vec<_> = all.top.iter().map(|&top| all.cuts[top].capacity).collect();
        assert_eq!(capacities, [Rate::gbps(100); 2], "the link in the middle");
    }

    #[test]
    fn graphs_without_tiers_are_refused() {
        let jellyfish = r#"{"switches": 8, "ports": 6, "network_ports": 4}"#;
        let jellyfish: Jellyfish = serde_json::from_str(jellyfish).unwrap();
        let fabric = jellyfish.build().unwrap().with_vms(&Vms::new(1)).unwrap();
        let why = Cuts::new(&fabric).unwrap_err().to_string();
        assert!(
            why.contains(" are both in tier 2 and joined by a link: guarantees need links from tier to tier"),
            "{why}"
        );
    }
}
