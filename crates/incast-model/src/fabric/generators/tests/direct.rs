use std::collections::HashSet;

use proptest::prelude::*;

use super::super::*;
use super::{Ways, check_single, degrees, flow, named};
use crate::fabric::{Fabric, FabricBuilder, NodeId, NodeKind, Summary};
use crate::units::Bytes;

fn trunks(fabric: &Fabric, switch: NodeId) -> Vec<NodeId> {
    let far = fabric.ports_of(switch).map(|port| fabric.neighbour(port));
    far.filter(|&node| fabric.node(node).kind == NodeKind::Switch).collect()
}

proptest! {
    #[test]
    fn jellyfish_are_regular(switches in 4u32..60, network in 3u32..8, hosts in 1u32..4, seed in 0u64..u64::MAX) {
        prop_assume!(network < switches);
        let spec = Jellyfish { seed, ..Jellyfish::new(switches, network + hosts, network) };
        let fabric = spec.build().unwrap();
        check_single(&fabric);
        prop_assert_eq!(&spec.build().unwrap(), &fabric);
        prop_assert_eq!(fabric.hosts().len() as u32, switches * hosts);
        let mut free = 0;
        for switch in fabric.switches() {
            let others = trunks(&fabric, switch);
            free += network as usize - others.len();
            prop_assert_eq!(others.iter().collect::<HashSet<_>>().len(), others.len(), "parallel links");
        }
        prop_assert_eq!(free as u32, switches * network % 2);
    }

    #[test]
    fn dragonflies(p in 1u32..4, a in 1u32..5, h in 1u32..4, groups in 2u32..14, palmtree in any::<bool>()) {
        prop_assume!(groups <= a * h + 1);
        let arrangement = if palmtree { GlobalArrangement::Palmtree } else { GlobalArrangement::Consecutive };
        let spec = Dragonfly { groups: Some(groups), arrangement, ..Dragonfly::new(p, a, h) };
        let fabric = spec.build().unwrap();
        check_single(&fabric);
        prop_assert_eq!(fabric.hosts().len() as u32, groups * a * p);
        prop_assert_eq!(fabric.switches().count() as u32, groups * a);
        let routers: Vec<NodeId> = fabric.switches().collect();
        for (i, &router) in routers.iter().enumerate() {
            let group = i / a as usize;
            let local = |node: &NodeId| (node.index() - routers[0].index()) / a as usize == group;
            let (inside, outside): (Vec<NodeId>, Vec<NodeId>) = trunks(&fabric, router).into_iter().partition(local);
            prop_assert_eq!(inside.len() as u32, a - 1);
            prop_assert!(outside.len() as u32 <= h);
            prop_assert!(groups <= a * h || outside.len() as u32 == h);
        }
        prop_assert!(Ways::new(&fabric).diameter() <= 5);
    }
}

#[test]
fn jellyfish_differ_by_seed() {
    let mut graphs = HashSet::new();
    for seed in 0..200 {
        let fabric = Jellyfish { seed, ..Jellyfish::new(8, 6, 5) }.build().unwrap();
        assert_eq!(degrees(&fabric, "s"), [6]);
        let ends = fabric.links().iter().map(|link| (fabric.port(link.a).node, fabric.port(link.b).node));
        graphs.insert(ends.collect::<Vec<_>>());
    }
    assert!(graphs.len() > 100, "{}", graphs.len());
    let complete = Jellyfish::new(7, 7, 6).build().unwrap();
    assert_eq!(Ways::new(&complete).diameter(), 3);
    for (switches, ports, why) in [
        (3, 1, "1: must be 2 or more: such graphs of more than 2 switches are disconnected"),
        (10_001, 2, "2: must be 3 or more: such graphs of more than 10000 switches are disconnected"),
    ] {
        let refused = Jellyfish::new(switches, 4, ports).build().unwrap_err().to_string();
        assert_eq!(refused, format!("jellyfish.network_ports = {why}"));
    }
}

/// Bisection of a random r-regular graph of n nodes: nearly always at least n/2 · (r/2 − √(r·ln 2)) links (Bollobás; Jellyfish,
/// section 4.1). Paths come close to Cerf's bound, a tree of r, r·(r − 1), … nodes.
#[test]
fn jellyfish_have_the_bisection_and_the_paths_of_random_graphs() {
    for (n, r) in [(64u32, 8u32), (100, 12), (40, 24)] {
        let fabric = Jellyfish::new(n, r + 1, r).build().unwrap();
        let bound = f64::from(n) / 2.0 * (f64::from(r) / 2.0 - (f64::from(r) * std::f64::consts::LN_2).sqrt());
        let switches = named(&fabric, "s");
        let (left, right) = switches.split_at(n as usize / 2);
        let crossing = flow::between(&fabric, left, right).0 / Rate::gbps(100).0;
        assert!(crossing as f64 >= bound, "{crossing} links of {n} switches with {r}, bound {bound}");
        assert!(crossing < u64::from(n * r / 2));
        let ways = Ways::new(&fabric);
        let pairs = (0..n).flat_map(|a| (0..n).map(move |b| (a, b))).filter(|(a, b)| a != b);
        let total: usize = pairs.map(|(a, b)| ways.links(a, b) - 2).sum();
        let (mut least, mut left, mut ring) = (0, n - 1, r);
        for distance in 1.. {
            least += distance * ring.min(left);
            left -= ring.min(left);
            ring *= r - 1;
            if left == 0 {
                break;
            }
        }
        let (mean, least) = (total as f64 / f64::from(n * (n - 1)), f64::from(least) / f64::from(n - 1));
        assert!((least..least * 1.2).contains(&mean), "{mean} hops on average, {least} at least");
    }
}

/// Splits `server{i}`: one path goes through each.
fn disjoint_paths(n: u32, k: u32, from: usize, to: usize) -> u64 {
    let fabric = BCube::new(n, k).build().unwrap();
    let mut builder = FabricBuilder::new();
    let own = named(&fabric, "server");
    let mut half =
        |end: &str| -> Vec<NodeId> { own.iter().map(|node| builder.switch(format!("{end}{}", node.0), 1)).collect() };
    let (inner, outer) = (half("in"), half("out"));
    let levels: Vec<NodeId> = fabric.switches().skip(own.len()).collect();
    let levels: Vec<NodeId> = levels.iter().map(|node| builder.switch(fabric.node(*node).name.clone(), 2)).collect();
    let ends = [builder.host("from"), builder.host("to")];
    for (server, &node) in own.iter().enumerate() {
        builder.link(inner[server], outer[server], Rate(1), Time::ZERO);
        for port in trunks(&fabric, node) {
            let level = levels[port.index() - own.len() * 2];
            builder.link(outer[server], level, Rate(1), Time::ZERO);
        }
    }
    builder.link(ends[0], outer[from], Rate(1000), Time::ZERO);
    builder.link(ends[1], outer[to], Rate(1000), Time::ZERO);
    let fabric = builder.finish().unwrap();
    flow::between(&fabric, &ends[..1], &ends[1..]).0
}

#[test]
fn bcubes() {
    for (n, k) in [(2u32, 0u32), (4, 0), (2, 1), (4, 1), (3, 2), (2, 3)] {
        let fabric = BCube::new(n, k).build().unwrap();
        check_single(&fabric);
        let (servers, levels) = (n.pow(k + 1), k + 1);
        assert_eq!(fabric.hosts().len() as u32, servers);
        assert_eq!(fabric.switches().count() as u32, servers + levels * n.pow(k));
        assert_eq!(fabric.links().len() as u32, servers * (1 + levels));
        assert_eq!(degrees(&fabric, "server"), [levels as usize + 1]);
        for level in 0..levels {
            assert_eq!(degrees(&fabric, &format!("level{level}_")), [n as usize]);
            assert_eq!(named(&fabric, &format!("level{level}_")).len() as u32, n.pow(k));
        }
        let ways = Ways::new(&fabric);
        for (a, b) in (0..servers).flat_map(|a| (0..servers).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            let differing = (0..levels).filter(|&digit| a / n.pow(digit) % n != b / n.pow(digit) % n).count();
            // A switch and a server per differing digit, in any order, plus the hosts' links.
            assert_eq!(ways.links(a, b), 2 + 2 * differing);
            assert_eq!(ways.paths(a, b), (1..=differing).product::<usize>());
        }
        assert_eq!(ways.diameter() as u32, 2 + 2 * levels);
        if n.is_multiple_of(2) {
            let half = Rate::gbps(100 * u64::from(servers) / 2);
            assert_eq!(flow::halves(&fabric), half, "{n} {k}");
            assert_eq!(Summary::new(&fabric, Bytes(1000)).bisection, Some(half));
        }
    }
}

#[test]
fn servers_of_a_bcube_have_a_path_for_each_port() {
    for (n, k) in [(4, 0), (4, 1), (3, 2), (2, 3)] {
        let servers = (n as usize).pow(k + 1);
        assert_eq!(disjoint_paths(n, k, 0, servers - 1), u64::from(k) + 1, "{n} {k}");
        assert_eq!(disjoint_paths(n, k, 0, 1), u64::from(k) + 1, "{n} {k}");
    }
}

#[test]
fn dragonflies_of_the_most_groups_are_the_papers() {
    // Kim et al., figure 5.
    let fabric = Dragonfly::new(2, 4, 2).build().unwrap();
    assert_eq!((fabric.hosts().len(), fabric.switches().count()), (72, 36));
    assert_eq!(fabric.links().len(), 72 + 9 * 6 + 36);
    assert!(fabric.switches().all(|router| fabric.ports_of(router).len() == 7));
    let ways = Ways::new(&fabric);
    assert_eq!((ways.diameter(), ways.paths(0, 1), ways.paths(0, 7)), (5, 1, 1));
    assert_eq!(ways.first(0, 7), ["h0", "g0r0", "g0r3", "h7"]);
    assert_eq!(ways.first(0, 8), ["h0", "g0r0", "g1r0", "h8"]);
    let (four, five) = fabric.hosts().split_at(4 * 8);
    assert_eq!(flow::between(&fabric, four, five), Rate::gbps(2000));
}
