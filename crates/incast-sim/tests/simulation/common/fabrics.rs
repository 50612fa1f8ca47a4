//! Small fabrics. Hosts are h0, h1, …, switches s0, s1, …

use incast_model::fabric::{Fabric, FabricBuilder, NodeId};
use incast_model::units::{Rate, Time};

/// Rate and one-way delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cable(pub(crate) Rate, pub(crate) Time);

impl Cable {
    pub(crate) const fn new(gbps: u64, ns: u64) -> Self {
        Self(Rate::gbps(gbps), Time::ns(ns))
    }
}

fn hosts(builder: &mut FabricBuilder, count: usize) -> Vec<NodeId> {
    (0..count).map(|host| builder.host(format!("h{host}"))).collect()
}

fn switches(builder: &mut FabricBuilder, count: usize) -> Vec<NodeId> {
    (0..count).map(|switch| builder.switch(format!("s{switch}"), 1)).collect()
}

fn link(builder: &mut FabricBuilder, a: NodeId, b: NodeId, cable: Cable) {
    builder.link(a, b, cable.0, cable.1);
}

pub(crate) fn star(cables: &[Cable]) -> Fabric {
    let mut builder = FabricBuilder::new();
    let hosts = hosts(&mut builder, cables.len());
    let hub = builder.switch("s0", 1);
    for (host, cable) in hosts.into_iter().zip(cables) {
        link(&mut builder, host, hub, *cable);
    }
    builder.finish().unwrap()
}

pub(crate) fn chain(cables: &[Cable]) -> Fabric {
    let mut builder = FabricBuilder::new();
    let ends = hosts(&mut builder, 2);
    let row = switches(&mut builder, cables.len() - 1);
    let nodes: Vec<NodeId> = [ends[0]].into_iter().chain(row).chain([ends[1]]).collect();
    for (pair, cable) in nodes.windows(2).zip(cables) {
        link(&mut builder, pair[0], pair[1], *cable);
    }
    builder.finish().unwrap()
}

pub(crate) fn two_switches(senders: &[Cable], core: Cable, receivers: &[Cable]) -> Fabric {
    let mut builder = FabricBuilder::new();
    let hosts = hosts(&mut builder, senders.len() + receivers.len());
    let ends = switches(&mut builder, 2);
    for (index, (host, cable)) in hosts.into_iter().zip(senders.iter().chain(receivers)).enumerate() {
        link(&mut builder, host, ends[usize::from(index >= senders.len())], *cable);
    }
    link(&mut builder, ends[0], ends[1], core);
    builder.finish().unwrap()
}

pub(crate) fn dumbbell(pairs: usize, edge: Cable, core: Cable) -> Fabric {
    two_switches(&vec![edge; pairs], core, &vec![edge; pairs])
}

/// h(2k) and h(2k + 1) on s(k).
pub(crate) fn parking_lot(links: usize, cable: Cable) -> Fabric {
    let mut builder = FabricBuilder::new();
    let hosts = hosts(&mut builder, 2 * (links + 1));
    let row = switches(&mut builder, links + 1);
    for (index, host) in hosts.into_iter().enumerate() {
        link(&mut builder, host, row[index / 2], cable);
    }
    for pair in row.windows(2) {
        link(&mut builder, pair[0], pair[1], cable);
    }
    builder.finish().unwrap()
}

/// h(k) on s(k).
pub(crate) fn ring(size: usize, cable: Cable) -> Fabric {
    let mut builder = FabricBuilder::new();
    let hosts = hosts(&mut builder, size);
    let ring = switches(&mut builder, size);
    for (host, switch) in hosts.into_iter().zip(&ring) {
        link(&mut builder, host, *switch, cable);
    }
    for (index, switch) in ring.iter().enumerate() {
        link(&mut builder, *switch, ring[(index + 1) % size], cable);
    }
    builder.finish().unwrap()
}

/// Leaves come before spines.
pub(crate) fn leaf_spine(leaves: usize, per_leaf: usize, spines: usize, edge: Cable, core: Cable) -> Fabric {
    let mut builder = FabricBuilder::new();
    let hosts = hosts(&mut builder, leaves * per_leaf);
    let nodes = switches(&mut builder, leaves + spines);
    for (index, host) in hosts.into_iter().enumerate() {
        link(&mut builder, host, nodes[index / per_leaf], edge);
    }
    for leaf in &nodes[..leaves] {
        for spine in &nodes[leaves..] {
            link(&mut builder, *leaf, *spine, core);
        }
    }
    builder.finish().unwrap()
}

/// Tagger's testbed: h0 to h15, four on each of t0 to t3. Pods: t0, t1, l0, l1 and t2, t3, l2, l3; spines: s0, s1.
pub(crate) fn testbed(cable: Cable) -> Fabric {
    let mut builder = FabricBuilder::new();
    let hosts = hosts(&mut builder, 16);
    let mut tier = |prefix: &str, tier: u8, count: usize| -> Vec<NodeId> {
        (0..count).map(|switch| builder.switch(format!("{prefix}{switch}"), tier)).collect()
    };
    let (tors, leaves, spines) = (tier("t", 1, 4), tier("l", 2, 4), tier("s", 3, 2));
    for (index, host) in hosts.into_iter().enumerate() {
        link(&mut builder, host, tors[index / 4], cable);
    }
    for (index, &tor) in tors.iter().enumerate() {
        let pod = index / 2 * 2;
        leaves[pod..pod + 2].iter().for_each(|&leaf| link(&mut builder, tor, leaf, cable));
    }
    for &leaf in &leaves {
        spines.iter().for_each(|&spine| link(&mut builder, leaf, spine, cable));
    }
    builder.finish().unwrap()
}
