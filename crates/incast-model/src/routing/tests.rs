//! Facts from the HPCC authors' ns-3 (commit 9f4be2a).

use super::{EcmpHash, FixedHops, FlowKey, NextHopOrder, Routes, nodes_of, path};
use crate::fabric::generators::{HpccFatTree, LeafSpine};
use crate::fabric::{Fabric, HostId, LinkId, NodeId};

/// Source, destination, their ports, switches of the data path, of the ACK path.
type Fact = (u32, u32, u16, u16, &'static [u32], &'static [u32]);

/// 320-server tree under web search.
const TREE: &[Fact] = &[
    (21, 23, 10000, 100, &[321], &[321]),
    (207, 241, 10000, 100, &[332, 354, 335], &[335, 354, 332]),
    (190, 167, 10000, 100, &[331, 351, 330], &[330, 350, 331]),
    (294, 275, 10000, 100, &[338, 359, 337], &[337, 357, 338]),
    (81, 266, 10000, 100, &[325, 347, 375, 359, 336], &[336, 356, 360, 344, 325]),
    (239, 189, 10000, 100, &[334, 355, 374, 351, 331], &[331, 350, 370, 354, 334]),
    (69, 229, 10000, 100, &[324, 344, 362, 352, 334], &[334, 355, 375, 347, 324]),
    (303, 185, 10000, 100, &[338, 359, 373, 351, 331], &[331, 348, 363, 356, 338]),
    (16, 86, 10000, 100, &[321, 340, 362, 344, 325], &[325, 345, 366, 341, 321]),
    (72, 207, 10000, 100, &[324, 347, 375, 355, 332], &[332, 354, 369, 346, 324]),
    (296, 181, 10000, 100, &[338, 357, 367, 349, 331], &[331, 349, 366, 357, 338]),
    (200, 89, 10000, 100, &[332, 353, 366, 345, 325], &[325, 346, 368, 354, 332]),
    (215, 1, 10000, 100, &[333, 353, 365, 341, 320], &[320, 342, 370, 354, 333]),
    (41, 122, 10000, 100, &[322, 343, 374, 347, 327], &[327, 344, 363, 340, 322]),
    (111, 309, 10001, 100, &[326, 344, 361, 356, 339], &[339, 358, 370, 346, 326]),
    (258, 135, 10001, 100, &[336, 356, 360, 348, 328], &[328, 351, 373, 359, 336]),
];

/// 8 leaves of 16 hosts and 8 spines, under background traffic and incasts.
const LEAF_SPINE: &[Fact] = &[
    (63, 52, 10000, 200, &[131], &[131]),
    (71, 26, 10000, 100, &[132, 136, 129], &[129, 140, 132]),
    (89, 20, 10000, 200, &[133, 138, 129], &[129, 137, 133]),
    (6, 34, 10000, 100, &[128, 143, 130], &[130, 139, 128]),
    (2, 65, 10000, 200, &[128, 136, 132], &[132, 142, 128]),
    (113, 33, 10000, 200, &[135, 138, 130], &[130, 142, 135]),
    (12, 92, 10000, 100, &[128, 142, 133], &[133, 140, 128]),
    (61, 81, 10001, 200, &[131, 139, 133], &[133, 143, 131]),
    (46, 18, 10001, 100, &[130, 138, 129], &[129, 139, 130]),
    (16, 124, 10001, 100, &[129, 137, 135], &[135, 138, 129]),
];

fn walk(fabric: &Fabric, facts: &[Fact]) {
    let routes = Routes::shortest(fabric, NextHopOrder::NeighbourDescending);
    let switches = |key, src, dst| {
        let ports = path(fabric, &routes, (EcmpHash::Murmur3, 0), key, HostId(src), HostId(dst));
        let nodes: Vec<u32> = nodes_of(fabric, &ports).iter().map(|node| node.0).collect();
        assert_eq!((nodes[0], nodes[nodes.len() - 1]), (src, dst));
        nodes[1..nodes.len() - 1].to_vec()
    };
    for &(src, dst, sport, dport, data, ack) in facts {
        let key = FlowKey::new(src, dst, sport, dport);
        assert_eq!(switches(key, src, dst), data, "data of {src} to {dst}");
        assert_eq!(switches(key.reversed(), dst, src), ack, "ACKs of {src} to {dst}");
    }
}

#[test]
fn flows_of_the_tree_go_where_the_authors_went() {
    walk(&HpccFatTree::default().build().unwrap(), TREE);
}

#[test]
fn flows_of_the_leaf_spine_go_where_the_authors_went() {
    walk(&LeafSpine::new(8, 8, 16).build().unwrap(), LEAF_SPINE);
}

#[test]
fn next_hops_are_in_the_authors_order() {
    let fabric = HpccFatTree::default().build().unwrap();
    let hops = |order, node, dst| {
        let routes = Routes::shortest(&fabric, order);
        let ports = routes.next_hops(NodeId(node), HostId(dst)).to_vec();
        ports.into_iter().map(|port| fabric.neighbour(port).0).collect::<Vec<_>>()
    };
    let authors = |node, dst| hops(NextHopOrder::NeighbourDescending, node, dst);
    assert_eq!(authors(320, 0), [0]);
    assert_eq!(authors(320, 17), [343, 342, 341, 340]);
    assert_eq!(authors(343, 0), [320]);
    assert_eq!(authors(343, 100), [375, 374, 373, 372]);
    assert_eq!(authors(345, 319), [367, 366, 365, 364]);
    assert_eq!(authors(360, 100), [344]);
    assert_eq!(hops(NextHopOrder::Port, 345, 319), [364, 365, 366, 367]);
}

#[test]
fn every_hash_gives_a_shortest_path() {
    let fabric = HpccFatTree::default().build().unwrap();
    let routes = Routes::shortest(&fabric, NextHopOrder::Port);
    for seed in 0..20 {
        let key = FlowKey::new(0, 319, 10_000, 100);
        let ports = path(&fabric, &routes, (EcmpHash::Mix64, seed), key, HostId(0), HostId(319));
        assert_eq!(ports.len(), 6);
    }
    assert_eq!(path(&fabric, &routes, (EcmpHash::Mix64, 0), FlowKey::new(3, 3, 1, 1), HostId(3), HostId(3)), []);
}

#[test]
fn links_that_are_not_up_are_passed_by() {
    let fabric = LeafSpine::new(2, 2, 2).build().unwrap();
    let node = |name: &str| NodeId(fabric.nodes().iter().position(|node| node.name == name).unwrap() as u32);
    let link = |a: &str, b: &str| {
        let port = fabric.ports_of(node(a)).find(|&port| fabric.neighbour(port) == node(b)).unwrap();
        fabric.port(port).link
    };
    let (src, dst) = (HostId(0), HostId(3));
    let without = |down: &[LinkId]| Routes::around(&fabric, NextHopOrder::Port, &|link| !down.contains(&link), &[]);
    let via = |routes: &Routes, at: &str| {
        let ports = routes.next_hops(node(at), dst).iter();
        ports.map(|&port| fabric.node(fabric.neighbour(port)).name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(via(&without(&[]), "leaf0"), ["spine0", "spine1"]);
    let one = without(&[link("leaf0", "spine1")]);
    assert_eq!(via(&one, "leaf0"), ["spine0"]);
    assert_eq!(one.links_between(&fabric, src, dst), Some(4));
    // spine1 has no downward path.
    assert_eq!(via(&without(&[link("leaf1", "spine1")]), "leaf0"), ["spine0"]);
    let cut = without(&[link("leaf0", "spine0"), link("leaf0", "spine1")]);
    assert_eq!((via(&cut, "leaf0").len(), cut.links_between(&fabric, src, dst)), (0, None));
    assert_eq!(cut.links_between(&fabric, src, HostId(1)), Some(2));
    let host_link = fabric.port(fabric.ports_of(fabric.hosts()[3]).next().unwrap()).link;
    let alone = without(&[host_link]);
    assert_eq!((via(&alone, "leaf0").len(), via(&alone, "leaf1").len()), (0, 0));
    assert_eq!(alone.links_between(&fabric, src, HostId(2)), Some(4));
}

#[test]
fn fixed_next_hops_hold_for_one_host() {
    let fabric = LeafSpine::new(2, 4, 2).build().unwrap();
    let node = |name: &str| NodeId(fabric.nodes().iter().position(|node| node.name == name).unwrap() as u32);
    let leaf = node("leaf0");
    let shortest = Routes::shortest(&fabric, NextHopOrder::Port);
    let all = shortest.next_hops(leaf, HostId(3)).to_vec();
    let fixed = [FixedHops { node: leaf, dst: HostId(3), ports: vec![all[2]] }];
    let routes = Routes::around(&fabric, NextHopOrder::Port, &|_| true, &fixed);
    assert_eq!(routes.next_hops(leaf, HostId(3)), [all[2]]);
    for other in 0..3 {
        assert_eq!(routes.next_hops(leaf, HostId(other)), shortest.next_hops(leaf, HostId(other)), "host {other}");
    }
    assert_eq!(routes.next_hops(node("leaf1"), HostId(3)), shortest.next_hops(node("leaf1"), HostId(3)));
    assert_ne!(routes.class(HostId(3)), routes.class(HostId(2)));
    let dead = fabric.port(all[2]).link;
    let routes = Routes::around(&fabric, NextHopOrder::Port, &|link| link != dead, &fixed);
    assert_eq!(routes.next_hops(leaf, HostId(3)), [all[0], all[1], all[3]]);
    let backwards = [FixedHops { node: leaf, dst: HostId(3), ports: vec![all[0], all[3]] }];
    let routes = Routes::around(&fabric, NextHopOrder::NeighbourDescending, &|_| true, &backwards);
    assert_eq!(routes.next_hops(leaf, HostId(3)), [all[3], all[0]]);
}

#[test]
fn hosts_of_one_switch_are_one_class() {
    let fabric = LeafSpine::new(2, 2, 2).build().unwrap();
    let classes = |routes: &Routes| (0..4).map(|host| routes.class(HostId(host))).collect::<Vec<_>>();
    let shortest = Routes::shortest(&fabric, NextHopOrder::Port);
    assert_eq!(classes(&shortest), [0, 0, 1, 1]);
    let leaf = fabric.neighbour(fabric.ports_of(fabric.hosts()[0]).next().unwrap());
    let ports = shortest.next_hops(leaf, HostId(3)).to_vec();
    let fixed = [FixedHops { node: leaf, dst: HostId(3), ports }];
    assert_eq!(classes(&Routes::around(&fabric, NextHopOrder::Port, &|_| true, &fixed)), [0, 0, 1, 2]);
}
