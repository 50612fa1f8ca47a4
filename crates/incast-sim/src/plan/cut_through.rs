//! Cut-through (docs/design/transports.md): arrival events are those of headers. Before a faster link a packet waits for its
//! last bit, at most one per wire.

use incast_model::fabric::PortId;

use super::Network;
use crate::kernel::{FlowId, flag};

/// [`super::Port::cut`] if the far end needs whole packets.
pub(crate) const WHOLE_PACKETS: u16 = u16::MAX;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Forwarded {
    pub(crate) flow: FlowId,
    pub(crate) dst: u32,
    /// Towards the sender of the flow.
    pub(crate) back: bool,
    pub(crate) flags: u8,
    pub(crate) hops: u8,
}

impl Network {
    /// True if a packet leaves the far end of `port` by a faster link (the first of several next hops).
    pub(crate) fn speeds_up(&self, port: PortId, packet: Forwarded) -> bool {
        let of_flow = packet.flags & flag::PATH != 0 && self.flow(packet.flow).path.is_some();
        if of_flow {
            return self.is_faster(self.path_port(packet.flow, packet.back, usize::from(packet.hops) + 1), port);
        }
        self.speeds_up_on_route(port, packet.dst)
    }

    /// As [`Network::speeds_up`], of a packet that follows the routes towards `dst`.
    #[inline]
    pub(crate) fn speeds_up_on_route(&self, port: PortId, dst: u32) -> bool {
        let out = self.routing.hops(self.fabric.neighbour(port), dst).first();
        out.is_some_and(|&out| self.is_faster(out, port))
    }

    #[inline]
    fn is_faster(&self, one: PortId, other: PortId) -> bool {
        let index = |port| self.ports[port].rate;
        index(one) != index(other) && self.rates[usize::from(index(one))] > self.rates[usize::from(index(other))]
    }
}
