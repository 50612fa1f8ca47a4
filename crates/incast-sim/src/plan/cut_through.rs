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
        let out = if of_flow {
            Some(self.path_port(packet.flow, packet.back, usize::from(packet.hops) + 1))
        } else {
            self.routing.hops(self.fabric.neighbour(port), packet.dst).first().copied()
        };
        let rate = |port| self.rates[usize::from(self.ports[port].rate)];
        out.is_some_and(|out| rate(out) > rate(port))
    }
}
