use std::collections::VecDeque;

use crate::fabric::{Fabric, FabricBuilder, NodeId, NodeKind, PortId};
use crate::units::{Rate, Time};

/// Maximum flow (Edmonds and Karp); other hosts do not forward.
pub(super) fn between(fabric: &Fabric, from: &[NodeId], to: &[NodeId]) -> Rate {
    let mut left: Vec<u64> = (0..fabric.ports().len() as u32).map(|port| fabric.rate(PortId(port)).0).collect();
    let mut total = 0;
    while let Some(path) = augmenting(fabric, from, to, &left) {
        let most = path.iter().map(|port| left[port.index()]).min().unwrap();
        for port in path {
            left[port.index()] -= most;
            left[fabric.port(port).peer.index()] += most;
        }
        total += most;
    }
    Rate(total)
}

fn augmenting(fabric: &Fabric, from: &[NodeId], to: &[NodeId], left: &[u64]) -> Option<Vec<PortId>> {
    let mut by: Vec<Option<PortId>> = vec![None; fabric.nodes().len()];
    let mut seen = vec![false; fabric.nodes().len()];
    let mut queue: VecDeque<NodeId> = from.iter().copied().collect();
    from.iter().for_each(|node| seen[node.index()] = true);
    while let Some(node) = queue.pop_front() {
        if to.contains(&node) {
            let step = |port: &PortId| by[fabric.port(*port).node.index()];
            return Some(std::iter::successors(by[node.index()], step).collect());
        }
        if fabric.node(node).kind == NodeKind::Host && !from.contains(&node) {
            continue;
        }
        for port in fabric.ports_of(node).filter(|port| left[port.index()] > 0) {
            let next = fabric.neighbour(port);
            if !std::mem::replace(&mut seen[next.index()], true) {
                by[next.index()] = Some(port);
                queue.push_back(next);
            }
        }
    }
    None
}

pub(super) fn halves(fabric: &Fabric) -> Rate {
    let (first, second) = fabric.hosts().split_at(fabric.hosts().len() / 2);
    between(fabric, first, second)
}

#[test]
fn flows_are_maximal() {
    let mut builder = FabricBuilder::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| builder.host(name));
    let [s, t, u] = ["s", "t", "u"].map(|name| builder.switch(name, 1));
    for (one, other, gbps) in [(a, s, 100), (b, t, 100), (s, t, 10), (s, u, 5), (u, t, 7), (s, c, 50), (c, t, 50)] {
        builder.link(one, other, Rate::gbps(gbps), Time::ZERO);
    }
    let fabric = builder.finish().unwrap();
    assert_eq!(between(&fabric, &[a], &[b]), Rate::gbps(15));
    assert_eq!(between(&fabric, &[b], &[a]), Rate::gbps(15));
    assert_eq!(between(&fabric, &[a, c], &[b]), Rate::gbps(65));
}
