//! Numbers of ports, wires, packets and queue pairs.

use incast_model::fabric::{HostId, NodeId, PortId};

use super::id_vec::{Id, ids};

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

/// Numbers of the fabric.
macro_rules! ids_of_the_fabric {
    ($($name:ident),+) => {$(
        impl Id for $name {
            #[inline(always)]
            fn new(number: usize) -> Self {
                Self(number.try_into().expect("the number fits"))
            }

            #[inline(always)]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}

ids_of_the_fabric!(HostId, NodeId, PortId);
