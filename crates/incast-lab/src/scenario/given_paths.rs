//! Explicit paths of flows.

use std::collections::BTreeMap;

use incast_deadlock::Wiring;
use incast_deadlock::elp::PathSet;
use incast_model::fabric::{Fabric, NodeId, PortId};
use incast_model::flow::FlowSet;

/// Explicit paths (number, true if backwards) with their first flow.
pub(crate) type GivenPaths = BTreeMap<(u32, bool), usize>;

/// As the deadlock analysis reads them.
pub(crate) fn path_set(wiring: &Wiring<'_>, flows: &FlowSet, paths: &GivenPaths) -> PathSet {
    let mut set = PathSet::new();
    for (&(path, back), flow) in paths {
        let mut nodes = flows.paths[path as usize].clone();
        if back {
            nodes.reverse();
        }
        let place = if back { format!("answers to flow {flow}") } else { format!("flow {flow}") };
        set.push_ports(wiring, place, &ports_by(wiring.fabric(), &nodes));
    }
    set
}

/// Takes the first of parallel links, as the simulator does.
fn ports_by(fabric: &Fabric, nodes: &[NodeId]) -> Vec<PortId> {
    let port = |pair: &[NodeId]| fabric.ports_of(pair[0]).find(|&port| fabric.neighbour(port) == pair[1]);
    nodes.windows(2).filter_map(port).collect()
}
