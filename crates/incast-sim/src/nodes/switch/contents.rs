//! Contents of a switch.

use super::{Hooks, Switch};
use crate::kernel::{IdVec, LocalPort};
use crate::nodes::packet::Packet;
use crate::switch::Storage;

impl<G: Hooks> Switch<G> {
    pub(in crate::nodes) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let lanes = self.ports.iter().flat_map(|port| &port.lanes);
        let lists = lanes.flat_map(|lane| self.slab.list(lane.queue.head));
        let ranked = self.ranked.iter().flat_map(|queue| queue.packets());
        lists.chain(ranked.map(|place| self.slab.get(place)))
    }

    /// Ingress port and priority, and buffer bytes, of queued packets.
    pub(in crate::nodes) fn held_in(
        &self,
        port: LocalPort,
        priority: u8,
    ) -> impl Iterator<Item = (LocalPort, u8, u32)> {
        let packets = self.slab.list(self.ports[port].lanes[usize::from(priority)].queue.head);
        packets.map(|packet| (packet.in_port, packet.in_prio, self.buffer.occupied(packet.size.into())))
    }

    /// True if a shared buffer's counters equal the buffer bytes of queued packets.
    pub(in crate::nodes) fn balances(&self) -> bool {
        if self.settings.storage != Storage::Shared {
            return true;
        }
        let mut held = IdVec::<LocalPort, _>::from(vec![[0u64; 8]; self.ports.len()]);
        let queues = self.ports.ids().flat_map(|port| (1..8).map(move |priority| (port, priority)));
        for (port, priority, bytes) in queues.flat_map(|(port, priority)| self.held_in(port, priority)) {
            held[port][usize::from(priority & 7)] += u64::from(bytes);
        }
        let counted =
            self.ports.iter().map(|port| port.lanes.map(|lane| u64::from(lane.ingress.bytes + lane.ingress.headroom)));
        counted.eq(held)
    }
}
