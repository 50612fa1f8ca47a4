use std::cmp::Ordering;

use super::search::{Search, Targets};
use crate::fabric::NodeId;

impl Search<'_> {
    /// The shortest path down, or else by the higher neighbours with the fewest hops left. By the tables alone, packets never go
    /// up again after down. Links within a tier are unused.
    pub(super) fn up_down(&mut self, targets: &[NodeId]) {
        self.begin(targets);
        // Nodes with a path down, by its hops: fewer than tiers.
        let mut down: Vec<Vec<(NodeId, Targets)>> = Vec::new();
        while !self.front.nodes.is_empty() {
            down.push(self.front.nodes.iter().map(|&node| (node, self.front.of(node))).collect());
            self.step(|end| end.tier == Ordering::Greater);
        }
        let mut levels = down.into_iter();
        loop {
            let level = levels.next();
            if level.is_none() && self.front.nodes.is_empty() {
                break;
            }
            level.into_iter().flatten().for_each(|(node, targets)| self.front.add(node, &targets));
            self.step(|end| end.tier == Ordering::Less);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use crate::fabric::generators::{Clos, FatTree, HpccFatTree, LeafSpine};
    use crate::fabric::{Fabric, FabricBuilder, HostId, LinkId, NodeId, NodeKind, PortId};
    use crate::routing::{NextHopOrder, Paths, Routes};
    use crate::units::{Rate, Time};

    /// Tagger's testbed: T1 T2 under L1 L2, T3 T4 under L3 L4, these under S1 S2; four hosts per T.
    fn testbed() -> Fabric {
        let mut builder = FabricBuilder::new();
        let hosts: Vec<NodeId> = (1..=16).map(|host| builder.host(format!("H{host}"))).collect();
        let mut tier = |prefix: &str, tier: u8, count: usize| -> Vec<NodeId> {
            (1..=count).map(|switch| builder.switch(format!("{prefix}{switch}"), tier)).collect()
        };
        let (tors, leaves, spines) = (tier("T", 1, 4), tier("L", 2, 4), tier("S", 3, 2));
        let mut joined: Vec<(NodeId, NodeId)> =
            hosts.iter().enumerate().map(|(at, &host)| (host, tors[at / 4])).collect();
        for (at, &tor) in tors.iter().enumerate() {
            joined.extend(leaves[at / 2 * 2..][..2].iter().map(|&leaf| (tor, leaf)));
        }
        joined.extend(leaves.iter().flat_map(|&leaf| spines.iter().map(move |&spine| (leaf, spine))));
        for (a, b) in joined {
            builder.link(a, b, Rate::gbps(40), Time::us(1));
        }
        builder.finish().unwrap()
    }

    fn named(fabric: &Fabric, name: &str) -> NodeId {
        NodeId(fabric.nodes().iter().position(|node| node.name == name).unwrap() as u32)
    }

    fn link(fabric: &Fabric, a: &str, b: &str) -> LinkId {
        let (a, b) = (named(fabric, a), named(fabric, b));
        fabric.port(fabric.ports_of(a).find(|&port| fabric.neighbour(port) == b).unwrap()).link
    }

    fn without(fabric: &Fabric, paths: Paths, down: &[LinkId]) -> Routes {
        Routes::along(fabric, paths, NextHopOrder::Port, &|link| !down.contains(&link), &[])
    }

    fn hosts(fabric: &Fabric) -> impl Iterator<Item = HostId> + use<> {
        (0..fabric.hosts().len() as u32).map(HostId)
    }

    #[test]
    fn with_all_links_up_folded_clos_fabrics_have_their_shortest_paths() {
        let fabrics = [
            LeafSpine::new(4, 3, 2).build().unwrap(),
            FatTree::new(4).build().unwrap(),
            Clos::new(3, 4).build().unwrap(),
            HpccFatTree::default().build().unwrap(),
            testbed(),
        ];
        for fabric in &fabrics {
            for order in [NextHopOrder::Port, NextHopOrder::NeighbourDescending] {
                let shortest = Routes::shortest(fabric, order);
                let routes = Routes::along(fabric, Paths::UpDown, order, &|_| true, &[]);
                assert_eq!((routes.paths(), shortest.paths()), (Paths::UpDown, Paths::Shortest));
                let reached = reached(fabric, &shortest);
                for (node, dst) in reached {
                    assert_eq!(routes.next_hops(node, dst), shortest.next_hops(node, dst), "{node:?} {dst:?}");
                }
            }
        }
    }

    fn reached(fabric: &Fabric, routes: &Routes) -> BTreeSet<(NodeId, HostId)> {
        let mut seen = BTreeSet::new();
        let mut ahead: Vec<(NodeId, HostId)> =
            hosts(fabric).flat_map(|dst| fabric.hosts().iter().map(move |&src| (src, dst))).collect();
        while let Some((node, dst)) = ahead.pop() {
            if node != fabric.hosts()[dst.index()] && seen.insert((node, dst)) {
                ahead.extend(routes.next_hops(node, dst).iter().map(|&port| (fabric.neighbour(port), dst)));
            }
        }
        seen
    }

    #[test]
    fn where_the_shortest_way_bounces_up_down_goes_round_or_not_at_all() {
        let fabric = testbed();
        let down = [("L4", "S1"), ("L4", "S2"), ("L3", "T4")].map(|(a, b)| link(&fabric, a, b));
        let via = |paths, at: &str, dst: u32| {
            let routes = without(&fabric, paths, &down);
            let hops: Vec<String> = routes
                .next_hops(named(&fabric, at), HostId(dst))
                .iter()
                .map(|&port| fabric.node(fabric.neighbour(port)).name.clone())
                .collect();
            hops.join(" ")
        };
        // H13's T4 has only L4, above T3 and T4: down L3 to T3, and up again.
        assert_eq!(
            ["L1", "S1", "L3", "T3", "L4"].map(|at| via(Paths::Shortest, at, 12)),
            ["S1 S2", "L3", "T3", "L4", "T4"]
        );
        assert_eq!(["L1", "S1", "L3", "T3", "L4"].map(|at| via(Paths::UpDown, at, 12)), ["", "", "", "L4", "T4"]);
        let routes = without(&fabric, Paths::UpDown, &down);
        assert_eq!(routes.links_between(&fabric, HostId(0), HostId(12)), None);
        assert_eq!(routes.links_between(&fabric, HostId(12), HostId(0)), None);
        assert_eq!(routes.links_between(&fabric, HostId(8), HostId(12)), Some(4));
        assert_eq!(without(&fabric, Paths::Shortest, &down).links_between(&fabric, HostId(0), HostId(12)), Some(8));
        assert_eq!(routes.links_between(&fabric, HostId(0), HostId(8)), Some(6));
    }

    #[test]
    fn a_way_down_is_taken_even_where_one_up_is_shorter() {
        // a has a long path down to the host's switch t, by b and c, and a short one up, by s.
        let mut builder = FabricBuilder::new();
        let ends = [builder.host("h0"), builder.host("h1")];
        let switches = [("t", 1), ("c", 2), ("b", 3), ("a", 4), ("s", 5), ("u", 3)];
        let [t, c, b, a, s, u] = switches.map(|(name, tier)| builder.switch(name, tier));
        for (x, y) in [(ends[0], t), (ends[1], a), (t, c), (c, b), (b, a), (a, s), (s, t), (a, u)] {
            builder.link(x, y, Rate::gbps(10), Time::us(1));
        }
        let fabric = builder.finish().unwrap();
        let next = |paths, at| {
            let routes = without(&fabric, paths, &[]);
            routes.next_hops(at, HostId(0)).iter().map(|&port| fabric.neighbour(port)).collect::<Vec<_>>()
        };
        assert_eq!((next(Paths::Shortest, a), next(Paths::UpDown, a)), (vec![s], vec![b]));
        assert_eq!(next(Paths::UpDown, u), [a]);
    }

    #[test]
    fn links_between_equal_tiers_lead_nowhere() {
        let mut builder = FabricBuilder::new();
        let ends = [builder.host("h0"), builder.host("h1")];
        let row = [builder.switch("s0", 1), builder.switch("s1", 1)];
        for (x, y) in [(ends[0], row[0]), (ends[1], row[1]), (row[0], row[1])] {
            builder.link(x, y, Rate::gbps(10), Time::us(1));
        }
        let fabric = builder.finish().unwrap();
        assert_eq!(without(&fabric, Paths::UpDown, &[]).unconnected(&fabric), Some((HostId(0), HostId(1))));
        assert_eq!(without(&fabric, Paths::Shortest, &[]).unconnected(&fabric), None);
        assert_eq!(without(&testbed(), Paths::UpDown, &[]).unconnected(&testbed()), None);
    }

    fn fabric() -> impl Strategy<Value = Fabric> {
        let regular = prop::sample::select(vec![0usize, 1, 2]);
        let grown = (
            prop::collection::vec((1u8..5, prop::collection::vec(any::<prop::sample::Index>(), 1..4)), 2..12),
            prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 1..3), 2..8),
        );
        (0usize..2, regular, grown).prop_map(|(kind, regular, (switches, ends))| {
            if kind == 0 {
                return match regular {
                    0 => testbed(),
                    1 => FatTree::new(4).build().unwrap(),
                    _ => LeafSpine::new(3, 3, 2).build().unwrap(),
                };
            }
            let mut builder = FabricBuilder::new();
            let hosts: Vec<NodeId> = (0..ends.len()).map(|host| builder.host(format!("h{host}"))).collect();
            let nodes: Vec<NodeId> =
                switches.iter().enumerate().map(|(at, (tier, _))| builder.switch(format!("s{at}"), *tier)).collect();
            let mut join = |a: NodeId, b: NodeId| {
                builder.link(a, b, Rate::gbps(10), Time::us(1));
            };
            for (at, (_, joined)) in switches.iter().enumerate().skip(1) {
                joined.iter().for_each(|index| join(nodes[at], nodes[index.index(at)]));
            }
            for (host, joined) in hosts.iter().zip(&ends) {
                joined.iter().for_each(|index| join(*host, nodes[index.index(nodes.len())]));
            }
            builder.finish().unwrap()
        })
    }

    fn goes(fabric: &Fabric, up: &dyn Fn(PortId) -> bool, src: NodeId, dst: NodeId) -> bool {
        let tier = |node: NodeId| fabric.node(node).tier;
        let mut seen = BTreeSet::new();
        let mut ahead = vec![(src, false)];
        while let Some((node, fallen)) = ahead.pop() {
            if node == dst {
                return true;
            }
            if !seen.insert((node, fallen)) || (fabric.node(node).kind == NodeKind::Host && node != src) {
                continue;
            }
            for port in fabric.ports_of(node).filter(|&port| up(port)) {
                let next = fabric.neighbour(port);
                if tier(next) < tier(node) {
                    ahead.push((next, true));
                } else if tier(next) > tier(node) && !fallen {
                    ahead.push((next, false));
                }
            }
        }
        false
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn tables_are_valley_free_and_complete(
            fabric in fabric(),
            failed in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let down: BTreeSet<LinkId> = failed.iter().map(|index| LinkId(index.index(fabric.links().len()) as u32)).collect();
            let down: Vec<LinkId> = down.into_iter().collect();
            let routes = without(&fabric, Paths::UpDown, &down);
            let up = |port: PortId| !down.contains(&fabric.port(port).link);
            let tier = |node: NodeId| fabric.node(node).tier;
            for dst in hosts(&fabric) {
                let end = fabric.hosts()[dst.index()];
                for &src in fabric.hosts().iter().filter(|&&src| src != end) {
                    let first = routes.next_hops(src, dst).iter().filter(|&&port| up(port));
                    let mut ahead: Vec<(NodeId, bool)> = first.map(|&port| (fabric.neighbour(port), false)).collect();
                    let (mut ends, mut lost, mut steps) = (false, false, 0);
                    while let Some((node, fallen)) = ahead.pop() {
                        steps += 1;
                        prop_assert!(steps < 100_000, "a loop");
                        if node == end {
                            ends = true;
                            continue;
                        }
                        let hops = routes.next_hops(node, dst);
                        prop_assert!(!hops.is_empty() || !fallen, "lost at {}", fabric.node(node).name);
                        lost |= hops.is_empty();
                        for &port in hops {
                            let next = fabric.neighbour(port);
                            let falls = tier(next) < tier(node);
                            prop_assert!(up(port) && (falls || (tier(next) > tier(node) && !fallen)));
                            ahead.push((next, falls));
                        }
                    }
                    let goes = goes(&fabric, &up, src, end);
                    prop_assert_eq!((ends, ends && lost), (goes, false), "{:?} to {:?}", src, end);
                }
            }
        }
    }
}
