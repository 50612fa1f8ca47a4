//! Cut of a fabric into partitions. Results do not depend on it.

use std::cmp::Reverse;

use incast_model::fabric::{Fabric, NodeId, NodeKind};

use crate::kernel::IdVec;

/// Partitions of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// One partition.
    Whole,
    /// At most this number of partitions, of similar capacity. A host is with its switch, that of the fastest link.
    Into(usize),
    /// One partition for each node.
    Nodes,
    /// This number of partitions, by a hash of the node and the second number. Partitions without nodes are left out.
    Random(u32, u64),
}

impl Cut {
    /// By node, from 0 without gaps.
    pub(super) fn partitions(self, fabric: &Fabric) -> IdVec<NodeId, u32> {
        let nodes = (0..fabric.nodes().len() as u32).map(NodeId);
        let cut = match self {
            Self::Whole => nodes.map(|_| 0).collect(),
            Self::Into(count) => clusters(fabric, count),
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
/// neighbours, and so on. Each goes to a partition with space for it; of these, to the one with most capacity of common links.
fn clusters(fabric: &Fabric, count: usize) -> IdVec<NodeId, u32> {
    let clusters = Clusters::new(fabric);
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
    /// By node: itself, or a host's switch; of several, the first with the fastest link.
    heads: IdVec<NodeId, NodeId>,
    /// By head: its hosts.
    hosts: IdVec<NodeId, Vec<NodeId>>,
    /// By head: capacity of the cluster in bit/s.
    weights: IdVec<NodeId, u64>,
}

impl<'a> Clusters<'a> {
    fn new(fabric: &'a Fabric) -> Self {
        let nodes = || (0..fabric.nodes().len() as u32).map(NodeId);
        let is_switch = |node: NodeId| fabric.node(node).kind == NodeKind::Switch;
        let fastest = |node| {
            let ports = fabric.ports_of(node).filter(|&port| is_switch(fabric.neighbour(port)));
            ports.max_by_key(|&port| (fabric.rate(port), Reverse(port))).map(|port| fabric.neighbour(port))
        };
        let head = |node| if is_switch(node) { node } else { fastest(node).unwrap_or(node) };
        let heads: IdVec<NodeId, NodeId> = nodes().map(head).collect();
        let mut weights: IdVec<NodeId, u64> = vec![0; heads.len()].into();
        let mut hosts: IdVec<NodeId, Vec<NodeId>> = vec![Vec::new(); heads.len()].into();
        for node in nodes() {
            if heads[node] != node {
                hosts[heads[node]].push(node);
            }
            weights[heads[node]] += fabric.ports_of(node).map(|port| fabric.rate(port).0).sum::<u64>();
        }
        Self { fabric, heads, hosts, weights }
    }

    /// Heads at the far ends of links of a switch and its hosts, with rates.
    fn neighbours(&self, head: NodeId) -> impl Iterator<Item = (NodeId, u64)> {
        let own = std::iter::once(&head).chain(&self.hosts[head]).copied().collect::<Vec<_>>();
        let ports = own.into_iter().flat_map(|node| self.fabric.ports_of(node));
        ports.map(|port| (self.heads[self.fabric.neighbour(port)], self.fabric.rate(port).0))
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

#[cfg(test)]
mod tests {
    use incast_model::fabric::generators::{FatTree, RailOptimized};

    use super::*;

    /// By partition: names that begin with `prefix`.
    fn names(fabric: &Fabric, cut: Cut, prefix: &str) -> Vec<Vec<String>> {
        let partitions = cut.partitions(fabric);
        let mut found = vec![Vec::new(); partitions.iter().max().map_or(0, |&last| last as usize + 1)];
        for (node, &partition) in partitions.numbered() {
            let name = &fabric.node(node).name;
            if name.starts_with(prefix) {
                found[partition as usize].push(name.clone());
            }
        }
        found
    }

    #[test]
    fn a_pod_stays_together_and_cores_are_divided() {
        let fabric = FatTree::new(4).build().unwrap();
        let pods = |prefix: &str| names(&fabric, Cut::Into(2), prefix);
        for prefix in ["host", "edge", "agg", "core"] {
            let [one, other] = &pods(prefix)[..] else { panic!("two partitions") };
            assert_eq!(one.len(), other.len(), "{prefix}: {one:?}, {other:?}");
        }
        let partitions = Cut::Into(2).partitions(&fabric);
        let crossing = fabric.ports().iter().enumerate().filter(|(number, port)| {
            partitions[port.node] != partitions[fabric.neighbour(incast_model::fabric::PortId(*number as u32))]
        });
        // Half of the links between 8 aggregation and 4 core switches, seen from both ends.
        assert_eq!(crossing.count(), 16);
    }

    #[test]
    fn gpus_stay_with_their_nvlink_switch() {
        let fabric = RailOptimized::new(8, 2).build().unwrap();
        let partitions = Cut::Into(4).partitions(&fabric);
        for (number, link) in fabric.links().iter().enumerate() {
            if fabric.is_nvlink(incast_model::fabric::LinkId(number as u32)) {
                assert_eq!(partitions[fabric.port(link.a).node], partitions[fabric.port(link.b).node]);
            }
        }
    }
}
