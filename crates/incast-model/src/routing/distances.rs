use crate::fabric::{Fabric, NodeId, NodeKind, PortId};

/// Hops over `up` links and switches.
pub(super) fn distances(fabric: &Fabric, target: NodeId, up: &dyn Fn(PortId) -> bool) -> Vec<u32> {
    let mut distance = vec![u32::MAX; fabric.nodes().len()];
    distance[target.index()] = 0;
    let mut frontier = vec![target];
    while !frontier.is_empty() {
        let mut next = Vec::new();
        for node in frontier {
            if fabric.node(node).kind == NodeKind::Host && node != target {
                continue;
            }
            for port in fabric.ports_of(node).filter(|&port| up(port)) {
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

/// Ports to a node one hop closer to `target`.
pub(super) fn closer(
    fabric: &Fabric,
    node: NodeId,
    target: NodeId,
    distance: &[u32],
    up: &dyn Fn(PortId) -> bool,
) -> Vec<PortId> {
    fabric
        .ports_of(node)
        .filter(|&port| up(port))
        .filter(|&port| {
            let neighbour = fabric.neighbour(port);
            let forwards = fabric.node(neighbour).kind == NodeKind::Switch || neighbour == target;
            forwards
                && distance[neighbour.index()] != u32::MAX
                && distance[neighbour.index()] + 1 == distance[node.index()]
        })
        .collect()
}
