use std::cmp::Ordering;

use super::order::NextHopOrder;
use crate::fabric::{Fabric, NodeId, NodeKind, PortId};

/// Port with a link that is up.
pub(super) struct End {
    pub(super) port: PortId,
    pub(super) neighbour: NodeId,
    /// Number of the neighbour's end.
    pub(super) back: u32,
    /// The neighbour's tier, compared with the node's.
    pub(super) tier: Ordering,
}

/// Links that are up, with the ends of each node side by side: searches read them once for 64 destinations.
pub(super) struct Links {
    /// By node: its first end; then the number of ends.
    first: Vec<u32>,
    /// By node; those of a node in the order of next hops.
    ends: Vec<End>,
    switches: Vec<bool>,
}

impl Links {
    /// Without links of the first `alone` nodes: hosts that no search needs to reach.
    pub(super) fn new(fabric: &Fabric, order: NextHopOrder, up: &dyn Fn(PortId) -> bool, alone: usize) -> Self {
        let nodes = || (0..fabric.nodes().len() as u32).map(NodeId);
        let searched = |node: NodeId| node.index() >= alone;
        let (mut first, mut ports) = (vec![0], Vec::new());
        let mut number = vec![0; fabric.ports().len()];
        for node in nodes() {
            let begin = ports.len();
            let links = |port: &PortId| searched(node) && searched(fabric.neighbour(*port)) && up(*port);
            ports.extend(fabric.ports_of(node).filter(links));
            order.sort(fabric, &mut ports[begin..]);
            (begin..).zip(&ports[begin..]).for_each(|(end, port)| number[port.index()] = end as u32);
            first.push(ports.len() as u32);
        }
        let tier = |node: NodeId| fabric.node(node).tier;
        let end = |port: PortId| {
            let neighbour = fabric.neighbour(port);
            let back = number[fabric.port(port).peer.index()];
            End { port, neighbour, back, tier: tier(neighbour).cmp(&tier(fabric.port(port).node)) }
        };
        let ends = ports.into_iter().map(end).collect();
        Self { first, ends, switches: fabric.nodes().iter().map(|node| node.kind == NodeKind::Switch).collect() }
    }

    pub(super) const fn nodes(&self) -> usize {
        self.switches.len()
    }

    pub(super) const fn ends(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn is_switch(&self, node: NodeId) -> bool {
        self.switches[node.index()]
    }

    /// Numbers of a node's ends.
    pub(super) fn range(&self, node: NodeId) -> std::ops::Range<usize> {
        self.first[node.index()] as usize..self.first[node.index() + 1] as usize
    }

    pub(super) fn of(&self, node: NodeId) -> &[End] {
        &self.ends[self.range(node)]
    }
}
