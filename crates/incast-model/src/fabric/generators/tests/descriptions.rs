use std::path::Path;

use proptest::prelude::*;

use super::super::*;
use crate::fabric::{Fabric, NodeKind};

fn build(json: &str) -> Result<Fabric, String> {
    let spec: FabricSpec = serde_json::from_str(json).map_err(|error| error.to_string())?;
    spec.build(Path::new("no/such/folder")).map_err(|error| error.to_string())
}

fn wrong(json: &str) -> String {
    build(json).expect_err(json)
}

#[test]
fn limits_are_explained() {
    assert_eq!(wrong(r#"{"star": {"hosts": 1}}"#), "star.hosts = 1: must be 2 or more");
    assert_eq!(wrong(r#"{"star": {"hosts": 2, "rate": "0Gbps"}}"#), r#"star.rate = 0bps: must be more than 0bps"#);
    assert_eq!(wrong(r#"{"dumbbell": {"left": 0, "right": 1}}"#), "dumbbell.left = 0: must be 1 or more");
    assert_eq!(wrong(r#"{"fat_tree": {"k": 5}}"#), "fat_tree.k = 5: must be an even number from 2 to 128");
    assert_eq!(wrong(r#"{"hpcc_fat_tree": {"delay": "2s"}}"#), "hpcc_fat_tree.delay = 2s: must be at most 1s");
    let huge = wrong(r#"{"leaf_spine": {"leaves": 2, "spines": 4294967295, "hosts_per_leaf": 4294967295}}"#);
    assert_eq!(
        huge,
        "leaf_spine: leaf_spine makes 12884901887 nodes and 17179869180 links; allowed: at most 1048576 nodes and 8388608 links"
    );
    let huge = r#"{"leaf_spine":
        {"leaves": 4294967295, "spines": 4294967295, "hosts_per_leaf": 4294967295, "uplinks_per_pair": 4294967295}}"#;
    assert!(wrong(huge).starts_with("leaf_spine: leaf_spine makes 18446744073709551615 nodes"), "{}", wrong(huge));
    assert!(wrong(r#"{"leaf_spine": {"leaves": 1, "spines": 1, "hosts_per_leaf": 1}}"#).contains("at least 2 hosts"));
    assert!(wrong(r#"{"star": {"hosts": 2, "speed": "1Gbps"}}"#).contains("unknown field `speed`"));
    assert!(wrong(r#"{"htsim": {"topology": "t.topo"}}"#).starts_with("no/such/folder/t.topo: "));
    assert!(wrong(r#"{"torus": {}}"#).contains("unknown variant `torus`"));
    assert!(wrong(r#"{"ns3": {"topology": "t.txt"}}"#).starts_with("no/such/folder/t.txt: "));
}

#[test]
fn limits_name_the_nearest_valid_values() {
    let clos = |fields: &str| wrong(&format!(r#"{{"clos": {{{fields}}}}}"#));
    assert_eq!(clos(r#""tiers": 4, "radix": 8"#), "clos.tiers = 4: must be 2 to 3");
    assert_eq!(clos(r#""tiers": 2, "radix": 8, "pods": 9"#), "clos.pods = 9: must be 1 to 8");
    assert_eq!(
        clos(r#""tiers": 2, "radix": 63"#),
        "clos.leaf_oversubscription = 1: must be another ratio, or a radix of 62 or 64: 63 ports cannot be split so between \
         100Gbps down and 100Gbps up"
    );
    assert_eq!(
        clos(r#""tiers": 3, "radix": 64, "spine_oversubscription": 2"#),
        "clos.spine_oversubscription = 2: must be another ratio, or a radix of 63 or 66: 64 ports cannot be split so \
         between 100Gbps down and 100Gbps up"
    );
    assert!(clos(r#""tiers": 2, "radix": 64, "leaf_oversubscription": 0.0001"#).ends_with(
        "another ratio: 64 ports cannot be split so between 100Gbps down and 100Gbps up, nor any other \
                number up to 1024"
    ));
    assert!(clos(r#""tiers": 2, "radix": 64, "leaf_oversubscription": -1"#).contains("must be more than 0"));
    assert_eq!(
        clos(r#""tiers": 2, "radix": 8, "core_rate": "1Tbps""#),
        "clos.core_rate = 1Tbps: must be omitted: two tiers have no cores"
    );
    assert_eq!(clos(r#""tiers": 3, "radix": 8, "core_delay": "2s""#), "clos.core_delay = 2s: must be at most 1s");
    assert_eq!(clos(r#""tiers": 3, "radix": 8, "delay": "2s""#), "clos.delay = 2s: must be at most 1s");
    assert!(
        clos(r#""tiers": 3, "radix": 1024"#).starts_with("clos: clos makes 26"),
        "{}",
        clos(r#""tiers": 3, "radix": 1024"#)
    );
    assert_eq!(
        wrong(r#"{"fat_tree": {"k": 4, "hosts_per_edge": 0}}"#),
        "fat_tree.hosts_per_edge = 0: must be 1 to 4096"
    );
    assert_eq!(
        wrong(r#"{"jellyfish": {"switches": 10, "ports": 12, "network_ports": 10}}"#),
        "jellyfish.network_ports = 10: must be 1 to 9"
    );
    assert_eq!(
        wrong(r#"{"jellyfish": {"switches": 10, "ports": 12, "network_ports": 6, "hosts_per_switch": 7}}"#),
        "jellyfish.hosts_per_switch = 7: must be 1 to 6"
    );
    assert_eq!(wrong(r#"{"bcube": {"n": 1, "k": 2}}"#), "bcube.n = 1: must be 2 to 1024");
    assert!(wrong(r#"{"bcube": {"n": 1024, "k": 8}}"#).starts_with("bcube: bcube makes 18446744073709551615 nodes"));
    assert_eq!(
        wrong(r#"{"bcube": {"n": 2, "k": 2, "internal_rate": "0bps"}}"#),
        r#"bcube.internal_rate = 0bps: must be more than 0bps"#
    );
    assert_eq!(
        wrong(r#"{"dragonfly": {"p": 2, "a": 4, "h": 2, "groups": 10}}"#),
        "dragonfly.groups = 10: must be 2 to 9"
    );
    assert!(wrong(r#"{"dragonfly": {"p": 2, "a": 1024, "h": 1024}}"#).starts_with("dragonfly: dragonfly makes 3"));
    assert!(wrong(r#"{"dragonfly": {"p": 2, "a": 4, "h": 2, "arrangement": "palm"}}"#).contains("palmtree"));
    assert_eq!(
        wrong(r#"{"rail_optimized": {"servers": 1, "gpus_per_server": 2000, "spines": 1}}"#),
        "rail_optimized.gpus_per_server = 2000: must be 1 to 1024"
    );
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
    assert_eq!(custom(r#"["a", ""]"#, "[]", ""), "custom.hosts[1] = empty: must be a name");
    assert_eq!(custom("1", "[]", ""), "custom.hosts = 1: must be 2 to 1048576 hosts");
    assert!(custom("2.5", "[]", "").contains("a number of hosts or a list of their names"));
    assert_eq!(
        custom("2", r#"["leaf"]"#, r#"{"a": "h0", "b": "leaf", "rate": "0bps"}"#),
        r#"custom.links[0].rate = 0bps: must be more than 0bps"#
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
