use incast_model::fabric::generators::{CustomFabric, CustomLink, Hosts};
use incast_model::fabric::{Fabric, FabricBuilder, LinkId, NodeId, PortId};
use incast_model::units::{Rate, Time};
use proptest::prelude::*;

/// Hosts begin with an `H`.
pub(crate) fn fabric(hosts: &[&str], switches: &[&str], links: &[(&str, &str)]) -> Fabric {
    let link =
        |&(a, b): &(&str, &str)| CustomLink { a: a.into(), b: b.into(), rate: Rate::gbps(40), delay: Time::us(1) };
    let custom = CustomFabric {
        hosts: Hosts::Names(hosts.iter().map(|&name| name.into()).collect()),
        switches: switches.iter().map(|&name| name.into()).collect(),
        links: links.iter().map(link).collect(),
    };
    custom.build().unwrap()
}

/// Tagger's evaluation: 16 servers, 4 ToRs, 4 leaves, 2 spines. Pod 1 is T1, T2, L1, L2.
pub(crate) fn testbed() -> Fabric {
    let hosts: Vec<String> = (1..=16).map(|h| format!("H{h}")).collect();
    let tors: Vec<String> = (0..16).map(|h| format!("T{}", h / 4 + 1)).collect();
    let mut links: Vec<(&str, &str)> =
        hosts.iter().zip(&tors).map(|(host, tor)| (host.as_str(), tor.as_str())).collect();
    for (tors, leaves) in [(["T1", "T2"], ["L1", "L2"]), (["T3", "T4"], ["L3", "L4"])] {
        links.extend(tors.iter().flat_map(|&tor| leaves.map(|leaf| (tor, leaf))));
    }
    links.extend(["L1", "L2", "L3", "L4"].iter().flat_map(|&leaf| ["S1", "S2"].map(|spine| (leaf, spine))));
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    fabric(&hosts, &["T1", "T2", "T3", "T4", "L1", "L2", "L3", "L4", "S1", "S2"], &links)
}

pub(crate) fn node(fabric: &Fabric, name: &str) -> NodeId {
    NodeId(fabric.nodes().iter().position(|node| node.name == name).unwrap() as u32)
}

pub(crate) fn port(fabric: &Fabric, a: &str, b: &str) -> PortId {
    fabric.ports_of(node(fabric, a)).find(|&port| fabric.neighbour(port) == node(fabric, b)).unwrap()
}

pub(crate) fn link(fabric: &Fabric, a: &str, b: &str) -> LinkId {
    fabric.port(port(fabric, a, b)).link
}

/// A tree of switches with added, perhaps parallel, links; hosts with one or two.
pub(crate) fn fabrics() -> impl Strategy<Value = Fabric> {
    let switches = proptest::collection::vec(any::<prop::sample::Index>(), 0..7);
    let extra = proptest::collection::vec(any::<[prop::sample::Index; 2]>(), 0..8);
    let hosts = proptest::collection::vec((any::<[prop::sample::Index; 2]>(), any::<bool>()), 2..8);
    (switches, extra, hosts).prop_filter_map("a fabric", |(switches, extra, hosts)| {
        let mut builder = FabricBuilder::new();
        let (rate, delay) = (Rate::gbps(100), Time::us(1));
        let host_nodes: Vec<NodeId> = (0..hosts.len()).map(|h| builder.host(format!("h{h}"))).collect();
        let nodes: Vec<NodeId> = (0..=switches.len()).map(|s| builder.switch(format!("s{s}"), 1)).collect();
        for (at, parent) in switches.iter().enumerate() {
            builder.link(nodes[at + 1], nodes[parent.index(at + 1)], rate, delay);
        }
        for pair in &extra {
            let [a, b] = pair.map(|end| nodes[end.index(nodes.len())]);
            if a != b {
                builder.link(a, b, rate, delay);
            }
        }
        for (&host, (ends, both)) in host_nodes.iter().zip(&hosts) {
            builder.link(host, nodes[ends[0].index(nodes.len())], rate, delay);
            if *both {
                builder.link(host, nodes[ends[1].index(nodes.len())], rate, delay);
            }
        }
        builder.finish().ok()
    })
}
