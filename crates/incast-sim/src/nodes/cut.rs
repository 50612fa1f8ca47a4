//! Cut of a fabric into partitions. Results do not depend on it.

use incast_model::fabric::{NodeId, NodeKind};

use crate::kernel::IdVec;
use crate::plan::Network;

/// Partitions of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// One partition.
    Whole,
    /// At most this number of partitions, of similar numbers of ports. A host is with its first switch.
    Into(usize),
    /// One partition for each node.
    Nodes,
    /// This number of partitions, by a hash of the node and the second number. Partitions without nodes are left out.
    Random(u32, u64),
}

impl Cut {
    /// By node, from 0 without gaps.
    pub(super) fn partitions(self, network: &Network) -> IdVec<NodeId, u32> {
        let nodes = (0..network.fabric.nodes().len() as u32).map(NodeId);
        let cut = match self {
            Self::Whole => nodes.map(|_| 0).collect(),
            Self::Into(count) => clusters(network, count),
            Self::Nodes => nodes.map(|node| node.0).collect(),
            Self::Random(count, seed) => nodes.map(|node| of_hash(node, seed) % count.max(1)).collect(),
        };
        without_gaps(cut)
    }
}

fn of_hash(node: NodeId, seed: u64) -> u32 {
    (incast_model::rng::mix(seed ^ incast_model::rng::mix(u64::from(node.0))) >> 32) as u32
}

/// Switches with their hosts, in order of the switches, divided by the number of ports.
fn clusters(network: &Network, count: usize) -> IdVec<NodeId, u32> {
    let fabric = &network.fabric;
    let nodes = || (0..fabric.nodes().len() as u32).map(NodeId);
    let is_switch = |node: NodeId| fabric.node(node).kind == NodeKind::Switch;
    let switch_of = |node: NodeId| {
        let mut peers = fabric.ports_of(node).map(|port| fabric.neighbour(port));
        if is_switch(node) { node } else { peers.find(|&peer| is_switch(peer)).unwrap_or(node) }
    };
    let mut weights: IdVec<NodeId, usize> = vec![0; fabric.nodes().len()].into();
    for node in nodes() {
        weights[switch_of(node)] += fabric.ports_of(node).count();
    }
    let whole: usize = weights.iter().sum();
    let mut before = 0;
    let of_switch: IdVec<NodeId, u32> = weights
        .iter()
        .map(|&weight| {
            // By the middle of the cluster, so that each part has its share of ports.
            let middle = before + weight / 2;
            before += weight;
            (middle * count.max(1) / whole.max(1)) as u32
        })
        .collect();
    nodes().map(|node| of_switch[switch_of(node)]).collect()
}

fn without_gaps(cut: IdVec<NodeId, u32>) -> IdVec<NodeId, u32> {
    let mut used: Vec<u32> = cut.iter().copied().collect();
    used.sort_unstable();
    used.dedup();
    cut.iter().map(|partition| used.partition_point(|one| one < partition) as u32).collect()
}
