//! Contents of a switch.

use super::{Hooks, Switch};
use crate::kernel::{IdVec, LocalPort};
use crate::nodes::packet::Packet;
use crate::outcome::QueueRef;
use crate::switch::Storage;

impl<G: Hooks> Switch<G> {
    pub(in crate::nodes) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let lanes = self.ports.iter().flat_map(|port| &port.lanes);
        let lists = lanes.flat_map(|lane| self.slab.list(lane.queue.head));
        let ranked = self.ranked.iter().flat_map(|queue| queue.packets());
        lists.chain(ranked.map(|place| self.slab.get(place)))
    }

    fn list(&self, port: LocalPort, priority: u8) -> impl Iterator<Item = &Packet> {
        self.slab.list(self.ports[port].lanes[usize::from(priority)].queue.head)
    }

    /// Buffer bytes of each queue, by ingress counter, in order. Reads the queues side by side: each packet of a long queue is
    /// a cache miss, and misses of several queues overlap.
    pub(in crate::nodes) fn held_in(&self, queues: &[(LocalPort, u8)]) -> Vec<Vec<(QueueRef, u32)>> {
        let mut held = vec![IdVec::<LocalPort, _>::from(vec![[0u32; 8]; self.ports.len()]); queues.len()];
        let mut lists: Vec<_> =
            queues.iter().map(|&(port, priority)| self.list(port, priority)).zip(&mut held).collect();
        while !lists.is_empty() {
            lists.retain_mut(|(list, held)| {
                let Some(packet) = list.next() else { return false };
                held[packet.in_port][usize::from(packet.in_prio & 7)] += self.buffer.occupied(packet.size.into());
                true
            });
        }
        let of_port = |(port, bytes): (LocalPort, &[u32; 8])| {
            let queue = |priority| QueueRef { port: self.ports[port].number, priority };
            (0..8).map(queue).zip(*bytes).filter(|(_, bytes)| *bytes != 0).collect::<Vec<_>>()
        };
        held.iter().map(|held| held.numbered().flat_map(of_port).collect()).collect()
    }

    /// True if a shared buffer's counters equal the buffer bytes of queued packets.
    pub(in crate::nodes) fn balances(&self) -> bool {
        if self.settings.storage != Storage::Shared {
            return true;
        }
        let mut held = IdVec::<LocalPort, _>::from(vec![[0u64; 8]; self.ports.len()]);
        let queues = self.ports.ids().flat_map(|port| (1..8).map(move |priority| (port, priority)));
        for packet in queues.flat_map(|(port, priority)| self.list(port, priority)) {
            let bytes = self.buffer.occupied(packet.size.into());
            held[packet.in_port][usize::from(packet.in_prio & 7)] += u64::from(bytes);
        }
        let counted =
            self.ports.iter().map(|port| port.lanes.map(|lane| u64::from(lane.ingress.bytes + lane.ingress.headroom)));
        counted.eq(held)
    }
}
