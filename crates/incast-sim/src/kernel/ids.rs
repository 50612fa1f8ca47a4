//! Numbers of ports, wires, packets, queue pairs and flows.

use super::id_vec::ids;

ids! {
    /// Port of a node.
    LocalPort(u16),
    /// Wire, in the order of the layout.
    Line(u32),
    /// Place of a packet that a node stores.
    PacketId(u32),
    /// Queue pair of a host.
    PairId(u32),
    /// Flow among those that a host sends.
    SentFlow(u32),
    /// Flow among those that a host receives.
    ReceivedFlow(u32),
}
