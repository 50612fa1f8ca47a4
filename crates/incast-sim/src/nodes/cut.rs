//! Cut of a fabric into partitions. Results do not depend on it.

use std::cmp::Reverse;

use incast_model::fabric::{Fabric, NodeId, NodeKind};

use crate::kernel::IdVec;
use crate::plan::Network;

/// Partitions of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// One partition.
    Whole,
    /// At most this number of partitions, of similar capacity. A host is with its first switch.
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

/// Partitions of similar capacity (the sum of the rates of their ports), with few links between them.
///
/// Switches with hosts are divided in their order, which the generators of fabrics give to neighbours. Then come their
/// neighbours, and so on: each to the partition with which it shares most capacity, among those with space for it.
fn clusters(network: &Network, count: usize) -> IdVec<NodeId, u32> {
    let clusters = Clusters::new(&network.fabric);
    let (order, edge) = clusters.by_distance();
    let weigh = |nodes: &[NodeId]| nodes.iter().map(|&node| clusters.weights[node]).sum::<u64>();
    let (edges, space) = (weigh(&order[..edge]).max(1), weigh(&order) / count.max(1) as u64);
    let mut loads = vec![0; count.max(1)];
    let mut cut: IdVec<NodeId, Option<u32>> = vec![None; clusters.heads.len()].into();
    let mut before = 0;
    for (number, &node) in order.iter().enumerate() {
        let weight = clusters.weights[node];
        let chosen = if number < edge {
            // By the middle, so that each partition has its share.
            (u128::from(before + weight / 2) * loads.len() as u128 / u128::from(edges)) as usize
        } else {
            clusters.nearest(node, &cut, &loads, space)
        };
        before += weight;
        loads[chosen] += weight;
        cut[node] = Some(chosen as u32);
    }
    clusters.heads.iter().map(|&head| cut[head].expect("the graph is connected")).collect()
}

/// Switches with their hosts.
struct Clusters<'a> {
    fabric: &'a Fabric,
    /// By node: its switch; the first of several switches of a host; itself without one.
    heads: IdVec<NodeId, NodeId>,
    /// By head: capacity of the cluster in bit/s.
    weights: IdVec<NodeId, u64>,
}

impl<'a> Clusters<'a> {
    fn new(fabric: &'a Fabric) -> Self {
        let nodes = || (0..fabric.nodes().len() as u32).map(NodeId);
        let is_switch = |node: NodeId| fabric.node(node).kind == NodeKind::Switch;
        let first_switch =
            |node| fabric.ports_of(node).map(|port| fabric.neighbour(port)).find(|&peer| is_switch(peer));
        let head = |node| if is_switch(node) { node } else { first_switch(node).unwrap_or(node) };
        let heads: IdVec<NodeId, NodeId> = nodes().map(head).collect();
        let mut weights: IdVec<NodeId, u64> = vec![0; heads.len()].into();
        for node in nodes() {
            weights[heads[node]] += fabric.ports_of(node).map(|port| fabric.rate(port).0).sum::<u64>();
        }
        Self { fabric, heads, weights }
    }

    fn neighbours(&self, node: NodeId) -> impl Iterator<Item = (NodeId, u64)> {
        self.fabric.ports_of(node).map(|port| (self.heads[self.fabric.neighbour(port)], self.fabric.rate(port).0))
    }

    /// Heads by distance from those with hosts, and the number of these.
    fn by_distance(&self) -> (Vec<NodeId>, usize) {
        let mut seen: IdVec<NodeId, bool> = vec![false; self.heads.len()].into();
        for &host in self.fabric.hosts() {
            seen[self.heads[host]] = true;
        }
        let mut order: Vec<NodeId> = self.heads.ids().filter(|&node| seen[node]).collect();
        let edge = order.len();
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            for (peer, _) in self.neighbours(node) {
                if !std::mem::replace(&mut seen[peer], true) {
                    order.push(peer);
                }
            }
            next += 1;
        }
        (order, edge)
    }

    /// The partition that shares most capacity with a switch, among those with space for it; the least full of equals.
    fn nearest(&self, node: NodeId, cut: &IdVec<NodeId, Option<u32>>, loads: &[u64], space: u64) -> usize {
        let mut shared = vec![0; loads.len()];
        for (peer, rate) in self.neighbours(node) {
            if let Some(partition) = cut[peer] {
                shared[partition as usize] += rate;
            }
        }
        let fits = |one: usize| loads[one] + self.weights[node] / 2 <= space;
        let best = (0..loads.len()).max_by_key(|&one| (fits(one), shared[one], Reverse(loads[one]), Reverse(one)));
        best.expect("there is a partition")
    }
}

fn without_gaps(cut: IdVec<NodeId, u32>) -> IdVec<NodeId, u32> {
    let mut used: Vec<u32> = cut.iter().copied().collect();
    used.sort_unstable();
    used.dedup();
    cut.iter().map(|partition| used.partition_point(|one| one < partition) as u32).collect()
}
