//! Switch ports with their own buffers, as in servers of VMs: drop-tail, or in pFabric's order.

use super::{Hooks, Switch};
use crate::kernel::{LocalPort, PacketId};
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::outcome::DropReason;
use crate::switch::{RANKED_QUEUE, Storage, rank};

impl<G: Hooks> Switch<G> {
    /// Stores a packet in the buffer of a port, or drops packets that do not fit.
    #[inline(never)]
    pub(super) fn store<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, port: LocalPort, packet: &Packet) {
        let size = u64::from(packet.size);
        let fits = |switch: &Self, limit: u32| u64::from(switch.ports[port].queued) + size <= u64::from(limit);
        match self.storage {
            Storage::Ranked(limit) => {
                let rank = rank(packet.kind, packet.flags, packet.stamp, packet.prio);
                while !fits(self, limit) {
                    let Some(place) = self.ranked[port].evict_above(rank) else {
                        return self.drop_packet(plan, out, Some(port), packet, DropReason::Buffer);
                    };
                    // The packet that is stored keeps what it carries.
                    let ranges = std::mem::take(&mut self.carried.ranges);
                    let evicted = self.take_ranked::<RUN>(port, place);
                    self.carried.ranges = ranges;
                    self.drop_packet(plan, out, Some(port), &evicted, DropReason::Buffer);
                }
                let queued = self.ports[port].queued;
                let mark = if self.mark_at_enqueue { self.mark::<RUN>(out, port, packet, queued) } else { 0 };
                self.enqueue_ranked::<RUN>(port, packet, packet.flags | mark, rank);
            }
            Storage::Own(limit) if !fits(self, limit) => {
                self.drop_packet(plan, out, Some(port), packet, DropReason::Buffer);
            }
            _ => {
                let queued = self.ports[port].lanes[usize::from(packet.prio & 7)].queue.bytes;
                let mark = if self.mark_at_enqueue { self.mark::<RUN>(out, port, packet, queued) } else { 0 };
                if self.ranked.is_empty() {
                    return self.enqueue::<RUN>(port, packet, packet.flags | mark);
                }
                let rank = rank(packet.kind, packet.flags, packet.stamp, packet.prio);
                self.enqueue_ranked::<RUN>(port, packet, packet.flags | mark, rank);
            }
        }
    }

    fn enqueue_ranked<const RUN: u8>(&mut self, port: LocalPort, packet: &Packet, flags: u8, rank: u64) {
        let place = self.slab.insert::<RUN>(packet, flags, &mut self.carried);
        self.ranked[port].push(rank, packet.flow, place);
        let state = &mut self.ports[port];
        let queue = &mut state.lanes[usize::from(packet.prio & 7)].queue;
        queue.bytes += u32::from(packet.size);
        queue.peak = queue.peak.max(queue.bytes);
        state.waiting |= 1 << RANKED_QUEUE;
        state.queued += u32::from(packet.size);
        self.note_length::<RUN>(port);
    }

    /// Removes a packet, already out of its queue.
    fn take_ranked<const RUN: u8>(&mut self, port: LocalPort, place: PacketId) -> Packet {
        let (packet, _) = self.slab.remove::<RUN>(place, &mut self.carried);
        let state = &mut self.ports[port];
        state.lanes[usize::from(packet.prio & 7)].queue.bytes -= u32::from(packet.size);
        state.queued -= u32::from(packet.size);
        if self.ranked[port].is_empty() {
            state.waiting &= !(1 << RANKED_QUEUE);
        }
        self.note_length::<RUN>(port);
        packet
    }

    #[inline(never)]
    pub(super) fn dequeue_ranked<const RUN: u8>(&mut self, port: LocalPort) -> Packet {
        let place = self.ranked[port].pop().expect("a queue that waits has packets");
        self.take_ranked::<RUN>(port, place)
    }
}
