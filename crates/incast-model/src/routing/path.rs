use super::{EcmpHash, FlowKey, Routes};
use crate::fabric::{Fabric, HostId, NodeId, PortId};

/// Sending ports of a flow's path, from `src` on.
///
/// Of n equal-cost next hops, a node picks number `hash mod n`. ACKs follow the reversed key, perhaps on another path.
pub fn path(
    fabric: &Fabric,
    routes: &Routes,
    (hash, seed): (EcmpHash, u64),
    key: FlowKey,
    src: HostId,
    dst: HostId,
) -> Vec<PortId> {
    let (mut node, end) = (fabric.hosts()[src.index()], fabric.hosts()[dst.index()]);
    let mut ports = Vec::new();
    while node != end {
        let hops = routes.next_hops(node, dst);
        let port = match hops {
            [only] => *only,
            _ => hops[hash.hash(key, node.0, seed) as usize % hops.len()],
        };
        ports.push(port);
        node = fabric.neighbour(port);
    }
    ports
}

/// Nodes of a path, both ends included.
pub fn nodes_of(fabric: &Fabric, path: &[PortId]) -> Vec<NodeId> {
    let first = path.first().map(|&port| fabric.port(port).node);
    first.into_iter().chain(path.iter().map(|&port| fabric.neighbour(port))).collect()
}
