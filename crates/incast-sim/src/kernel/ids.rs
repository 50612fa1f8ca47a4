//! Numbers of ports, wires, packets and queue pairs.

use incast_model::fabric::{HostId, NodeId, PortId};

use super::id_vec::{ids, indices};

ids! {
    /// Port of a node.
    LocalPort(u16),
    /// Wire, in the order of the layout.
    Line(u32),
    /// Place of a packet that a node stores.
    PacketId(u32),
    /// Queue pair of a host.
    PairId(u32),
}

indices!(HostId, NodeId, PortId);
