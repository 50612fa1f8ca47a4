//! Shortest paths in hops, all of them.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fabric::{Fabric, HostId, NodeId, NodeKind, PortId};

/// In which order equal-cost next hops are numbered; the hash picks an index into this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NextHopOrder {
    /// By port number.
    #[default]
    Port,
    /// By neighbour's node id, highest first: what the HPCC authors' ns-3 does on Linux, where it iterates over pointers.
    NeighbourDescending,
}

/// The equal-cost next hops of every node towards every host.
///
/// Hosts behind the same single switch share their routes, so a table of 72 switches and 1,152 hosts stays in cache.
#[derive(Debug, Clone)]
pub struct Routes {
    classes: usize,
    class_of_host: Vec<u32>,
    /// For the switch a single-homed host hangs on: the port to that host.
    last_hop: Vec<(NodeId, PortId)>,
    /// `groups[node * classes + class]` is a range of `hops`.
    groups: Vec<(u32, u32)>,
    hops: Vec<PortId>,
}

impl Routes {
    /// All shortest paths between hosts; hosts never forward.
    pub fn shortest(fabric: &Fabric, order: NextHopOrder) -> Self {
        let mut class_of_target: HashMap<NodeId, u32> = HashMap::new();
        let mut targets = Vec::new();
        let mut class_of_host = Vec::new();
        let mut last_hop = Vec::new();
        for &host in fabric.hosts() {
            let mut ports = fabric.ports_of(host);
            let first = ports.next().expect("a finished fabric has no unplugged node");
            let single = ports.next().is_none() && fabric.node(fabric.neighbour(first)).kind == NodeKind::Switch;
            let target = if single { fabric.neighbour(first) } else { host };
            let class = *class_of_target.entry(target).or_insert_with(|| {
                targets.push(target);
                targets.len() as u32 - 1
            });
            class_of_host.push(class);
            last_hop.push(if single { (target, fabric.port(first).peer) } else { (host, first) });
        }
        let nodes = fabric.nodes().len();
        let mut routes = Self {
            classes: targets.len(),
            class_of_host,
            last_hop,
            groups: vec![(0, 0); nodes * targets.len()],
            hops: Vec::new(),
        };
        let mut known: HashMap<Vec<PortId>, (u32, u32)> = HashMap::new();
        for (class, &target) in targets.iter().enumerate() {
            let distance = distances(fabric, target);
            for node in (0..nodes as u32).map(NodeId).filter(|&node| node != target) {
                let hops = closer(fabric, node, target, &distance, order);
                routes.groups[node.index() * routes.classes + class] = *known.entry(hops).or_insert_with_key(|hops| {
                    routes.hops.extend_from_slice(hops);
                    (routes.hops.len() as u32 - hops.len() as u32, hops.len() as u32)
                });
            }
        }
        routes
    }

    /// The ports of `node` that lie on a shortest path to `dst`, in the order that the hash indexes.
    #[inline]
    pub fn next_hops(&self, node: NodeId, dst: HostId) -> &[PortId] {
        let last = &self.last_hop[dst.index()];
        if last.0 == node {
            return std::slice::from_ref(&last.1);
        }
        let (first, count) = self.groups[node.index() * self.classes + self.class_of_host[dst.index()] as usize];
        &self.hops[first as usize..(first + count) as usize]
    }
}

/// Hops from every node to `target`, over switches only.
fn distances(fabric: &Fabric, target: NodeId) -> Vec<u32> {
    let mut distance = vec![u32::MAX; fabric.nodes().len()];
    distance[target.index()] = 0;
    let mut frontier = vec![target];
    while !frontier.is_empty() {
        let mut next = Vec::new();
        for node in frontier {
            if fabric.node(node).kind == NodeKind::Host && node != target {
                continue;
            }
            for port in fabric.ports_of(node) {
                let neighbour = fabric.neighbour(port);
                if distance[neighbour.index()] == u32::MAX {
                    distance[neighbour.index()] = distance[node.index()] + 1;
                    next.push(neighbour);
                }
            }
        }
        frontier = next;
    }
    distance
}

/// The ports of `node` whose far end is one hop closer to `target`.
fn closer(fabric: &Fabric, node: NodeId, target: NodeId, distance: &[u32], order: NextHopOrder) -> Vec<PortId> {
    let mut hops: Vec<PortId> = fabric
        .ports_of(node)
        .filter(|&port| {
            let neighbour = fabric.neighbour(port);
            let forwards = fabric.node(neighbour).kind == NodeKind::Switch || neighbour == target;
            forwards
                && distance[neighbour.index()] != u32::MAX
                && distance[neighbour.index()] + 1 == distance[node.index()]
        })
        .collect();
    if order == NextHopOrder::NeighbourDescending {
        hops.sort_by_key(|&port| (std::cmp::Reverse(fabric.neighbour(port)), port));
    }
    hops
}
