//! Properties of every generated fabric, and of the description as a scenario writes it.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::fabric::{Fabric, HostId, NodeId, NodeKind};
use crate::routing::{NextHopOrder, Routes};

/// Number of equal-cost paths between two hosts.
fn paths(fabric: &Fabric, routes: &Routes, from: NodeId, to: HostId) -> usize {
    if fabric.hosts()[to.index()] == from {
        return 1;
    }
    routes.next_hops(from, to).iter().map(|&port| paths(fabric, routes, fabric.neighbour(port), to)).sum()
}

/// Ports mirror each other, in number and rate; hosts come first and have one link.
fn check_ports(fabric: &Fabric) {
    let mut next = 0;
    for node in (0..fabric.nodes().len() as u32).map(NodeId) {
        for (local, id) in fabric.ports_of(node).enumerate() {
            let port = fabric.port(id);
            assert_eq!((id.0, port.node, port.local as usize), (next, node, local));
            assert_eq!(fabric.port(port.peer).peer, id);
            assert_eq!((fabric.rate(id), fabric.delay(id)), (fabric.rate(port.peer), fabric.delay(port.peer)));
            next += 1;
        }
    }
    for (host, &node) in fabric.hosts().iter().enumerate() {
        assert_eq!((node.index(), fabric.ports_of(node).len()), (host, 1));
    }
}

/// Degrees of the switches of a tier, without repetition.
fn degrees(fabric: &Fabric, tier: u8) -> Vec<usize> {
    let of_tier = fabric.switches().filter(|&switch| fabric.node(switch).tier == tier);
    let mut degrees: Vec<usize> = of_tier.map(|switch| fabric.ports_of(switch).len()).collect();
    degrees.sort_unstable();
    degrees.dedup();
    degrees
}

proptest! {
    #[test]
    fn stars_and_dumbbells(left in 1u32..20, right in 1u32..20) {
        let star = Star::new(left + right).build().unwrap();
        check_ports(&star);
        prop_assert_eq!(degrees(&star, 1), [(left + right) as usize]);
        let dumbbell = Dumbbell::new(left, right).build().unwrap();
        check_ports(&dumbbell);
        prop_assert_eq!(dumbbell.hosts().len(), (left + right) as usize);
        let ports = dumbbell.switches().map(|switch| dumbbell.ports_of(switch).len() as u32).collect::<Vec<_>>();
        prop_assert_eq!(ports, [left + 1, right + 1]);
    }

    #[test]
    fn leaf_spines(leaves in 2u32..6, spines in 1u32..6, hosts in 1u32..6, parallel in 1u32..4) {
        let mut spec = LeafSpine::new(leaves, spines, hosts);
        spec.uplinks_per_pair = parallel;
        let fabric = spec.build().unwrap();
        check_ports(&fabric);
        prop_assert_eq!(fabric.hosts().len() as u32, leaves * hosts);
        prop_assert_eq!(degrees(&fabric, 1), [(hosts + spines * parallel) as usize]);
        prop_assert_eq!(degrees(&fabric, 2), [(leaves * parallel) as usize]);
        let routes = Routes::shortest(&fabric, NextHopOrder::Port);
        let far = HostId(leaves * hosts - 1);
        prop_assert_eq!(paths(&fabric, &routes, NodeId(0), far) as u32, spines * parallel * parallel);
    }

    #[test]
    fn fat_trees(half in 1u32..6) {
        let fabric = FatTree::new(2 * half).build().unwrap();
        check_ports(&fabric);
        let hosts = 2 * half * half * half;
        prop_assert_eq!(fabric.hosts().len() as u32, hosts);
        prop_assert_eq!(fabric.links().len() as u32, 3 * hosts);
        prop_assert_eq!(fabric.switches().count() as u32, 5 * half * half);
        for tier in 1..=3 {
            prop_assert_eq!(degrees(&fabric, tier), [2 * half as usize]);
        }
        let routes = Routes::shortest(&fabric, NextHopOrder::Port);
        prop_assert_eq!(paths(&fabric, &routes, NodeId(0), HostId(hosts - 1)) as u32, half * half);
        if half > 1 {
            prop_assert_eq!(paths(&fabric, &routes, NodeId(0), HostId(1)), 1);
            prop_assert_eq!(paths(&fabric, &routes, NodeId(0), HostId(half)) as u32, half);
        }
    }
}

#[test]
fn the_hpcc_tree_has_four_and_sixteen_paths() {
    let fabric = HpccFatTree::default().build().unwrap();
    check_ports(&fabric);
    let routes = Routes::shortest(&fabric, NextHopOrder::Port);
    let count = |to| paths(&fabric, &routes, NodeId(0), HostId(to));
    assert_eq!((count(1), count(16), count(64), count(319)), (1, 4, 16, 16));
    assert_eq!((degrees(&fabric, 1), degrees(&fabric, 2), degrees(&fabric, 3)), (vec![20], vec![8], vec![5]));
}

fn build(json: &str) -> Result<Fabric, String> {
    let spec: FabricSpec = serde_json::from_str(json).map_err(|error| error.to_string())?;
    spec.build(Path::new("no/such/folder")).map_err(|error| error.to_string())
}

fn wrong(json: &str) -> String {
    build(json).expect_err(json)
}

#[test]
fn limits_are_explained() {
    assert_eq!(wrong(r#"{"star": {"hosts": 1}}"#), "star.hosts is 1; allowed: 2 or more");
    assert_eq!(
        wrong(r#"{"star": {"hosts": 2, "rate": "0Gbps"}}"#),
        r#"star.rate is 0bps; allowed: more than 0bps, such as "100Gbps""#
    );
    assert_eq!(wrong(r#"{"dumbbell": {"left": 0, "right": 1}}"#), "dumbbell.left is 0; allowed: 1 or more");
    assert_eq!(wrong(r#"{"fat_tree": {"k": 5}}"#), "fat_tree.k is 5; allowed: an even number from 2 to 128");
    assert_eq!(wrong(r#"{"hpcc_fat_tree": {"delay": "2s"}}"#), "hpcc_fat_tree.delay is 2s; allowed: 0ps to 1s");
    let huge = wrong(r#"{"leaf_spine": {"leaves": 2, "spines": 4294967295, "hosts_per_leaf": 4294967295}}"#);
    assert_eq!(
        huge,
        "leaf_spine makes 12884901887 nodes and 17179869180 links; allowed: at most 1048576 nodes and 8388608 links"
    );
    let huge = r#"{"leaf_spine":
        {"leaves": 4294967295, "spines": 4294967295, "hosts_per_leaf": 4294967295, "uplinks_per_pair": 4294967295}}"#;
    assert!(wrong(huge).starts_with("leaf_spine makes 18446744073709551615 nodes"), "{}", wrong(huge));
    assert!(wrong(r#"{"leaf_spine": {"leaves": 1, "spines": 1, "hosts_per_leaf": 1}}"#).contains("at least 2 hosts"));
    assert!(wrong(r#"{"star": {"hosts": 2, "speed": "1Gbps"}}"#).contains("unknown field `speed`"));
    assert!(wrong(r#"{"torus": {}}"#).contains("unknown variant `torus`"));
    assert!(wrong(r#"{"ns3": {"topology": "t.txt"}}"#).starts_with("no/such/folder/t.txt: "));
}

#[test]
fn custom_fabrics_are_built_by_name() {
    let fabric = build(
        r#"{"custom": {"hosts": 2, "switches": ["s", "t"], "links": [
            {"a": "h0", "b": "s"}, {"a": "s", "b": "t", "rate": "40Gbps", "delay": "5us"}, {"a": "t", "b": "h1"}]}}"#,
    )
    .unwrap();
    assert_eq!(fabric.nodes().iter().map(|node| node.tier).collect::<Vec<_>>(), [0, 0, 1, 1]);
    assert_eq!((fabric.links()[1].rate, fabric.links()[1].delay), (Rate::gbps(40), Time::us(5)));
    let named = r#"{"custom": {"hosts": ["gpu", "disk"], "links": [{"a": "gpu", "b": "disk"}]}}"#;
    let named = build(named).unwrap();
    assert_eq!((named.nodes()[1].name.as_str(), named.nodes()[1].kind), ("disk", NodeKind::Host));
}

#[test]
fn custom_fabrics_are_checked() {
    let custom = |hosts: &str, switches: &str, links: &str| {
        wrong(&format!(r#"{{"custom": {{"hosts": {hosts}, "switches": {switches}, "links": [{links}]}}}}"#))
    };
    let link = r#"{"a": "leaf", "b": "h1"}"#;
    assert_eq!(
        custom("2", r#"["leaf"]"#, r#"{"a": "h0", "b": "laef"}"#),
        "custom.links[0].b: there is no node `laef`; did you mean `leaf`?"
    );
    assert_eq!(custom("2", r#"["leaf"]"#, link), "h0 has no link");
    assert_eq!(
        custom("2", r#"["leaf", "h1"]"#, link),
        "custom.switches[1]: the name `h1` is taken already; names of hosts and switches are unique"
    );
    assert_eq!(custom(r#"["a", ""]"#, "[]", ""), "custom.hosts[1] is empty; allowed: a name");
    assert_eq!(custom("1", "[]", ""), "custom.hosts is 1; allowed: 2 to 1048576 hosts");
    assert!(custom("2.5", "[]", "").contains("a number of hosts or a list of their names"));
    assert_eq!(
        custom("2", r#"["leaf"]"#, r#"{"a": "h0", "b": "leaf", "rate": "0bps"}"#),
        r#"custom.links[0].rate is 0bps; allowed: more than 0bps, such as "100Gbps""#
    );
}

#[test]
fn every_generator_is_listed_and_documented() {
    let schema = serde_json::to_value(schemars::schema_for!(FabricSpec)).unwrap();
    let variants: Vec<&str> =
        schema["oneOf"].as_array().unwrap().iter().map(|variant| variant["required"][0].as_str().unwrap()).collect();
    assert_eq!(variants, GENERATORS.iter().map(|&(name, _)| name).collect::<Vec<_>>());
    assert_eq!(FabricSpec::HpccFatTree(HpccFatTree::default()).name(), "hpcc_fat_tree");
    assert_eq!(schema["$defs"]["LeafSpine"]["properties"]["delay"]["default"], "1us");
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        for (field, property) in definition["properties"].as_object().into_iter().flatten() {
            assert!(property["description"].is_string(), "{name}.{field}");
        }
    }
}

proptest! {
    #[test]
    fn written_descriptions_are_read_back(leaves in 1u32..9, gbps in 1u64..900, ns in 0u64..5000) {
        let mut spec = LeafSpine::new(leaves, 2, 2);
        (spec.host_rate, spec.delay) = (Rate::gbps(gbps), Time::ns(ns));
        let spec = FabricSpec::LeafSpine(spec);
        let text = serde_json::to_string(&spec).unwrap();
        prop_assert_eq!(serde_json::from_str::<FabricSpec>(&text).unwrap(), spec);
    }
}
