use incast_model::fabric::{Fabric, NodeId, PortId};
use incast_model::field::FieldError;
use incast_model::nearest::nearest;

pub(super) fn node(fabric: &Fabric, field: &str, name: &str) -> Result<NodeId, FieldError> {
    let found = fabric.nodes().iter().position(|node| node.name == name);
    found.map(|at| NodeId(at as u32)).ok_or_else(|| FieldError {
        nearest: nearest(name, fabric.nodes().iter().map(|node| node.name.as_str())).map(str::to_owned),
        ..FieldError::new(field, format!("there is no node `{name}`"))
    })
}

pub(super) fn joining(fabric: &Fabric, a: NodeId, b: NodeId) -> Vec<PortId> {
    fabric.ports_of(a).filter(|&port| fabric.neighbour(port) == b).collect()
}

pub(super) fn neighbours(fabric: &Fabric, of: NodeId) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in fabric.ports_of(of).map(|port| &*fabric.node(fabric.neighbour(port)).name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}
