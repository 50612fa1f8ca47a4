//! The fabric: hosts and switches joined by full-duplex links, with ports in a stable order.

mod graph;

pub use graph::{Fabric, FabricBuilder, FabricError, HostId, Link, LinkId, Node, NodeId, NodeKind, Port, PortId};
