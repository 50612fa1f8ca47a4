//! Numbers of ports, wires, packets, queue pairs and flows.

use incast_model::fabric::{HostId, NodeId, PortId};

use super::id_vec::{ids, indices};

ids! {
    /// Port of a node.
    LocalPort(u16),
    /// Wire among those that end in a partition.
    Line(u32),
    /// Node in its partition.
    Member(u32),
    /// Place of a packet that a node stores.
    PacketId(u32),
    /// INT records of a packet.
    BlockId(u32),
    /// Queue pair of a host.
    PairId(u32),
    /// Flow in the run.
    FlowId(u32),
    /// Flow among those that its sender sends.
    SentId(u32),
    /// Flow among those that its receiver receives.
    ReceivedId(u32),
}

indices!(HostId, NodeId, PortId);
