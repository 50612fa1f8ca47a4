//! Switch ports with their own buffers, as in servers of VMs: drop-tail, or in pFabric's order.

use super::{Hooks, Switch};
use crate::kernel::{LocalPort, PacketId};
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::outcome::DropReason;
use crate::switch::{RANKED_QUEUE, Storage, rank};

impl<G: Hooks> Switch<G> {
    #[inline(never)]
    pub(super) fn store<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, port: LocalPort, packet: &Packet) {
        let size = u64::from(packet.size);
        let fits = |switch: &Self, limit: u32| u64::from(switch.ports[port].queued) + size <= u64::from(limit);
        match self.settings.storage {
            Storage::Ranked(limit) => {
                let rank = rank(packet.kind, packet.flags, packet.word, packet.prio);
                while !fits(self, limit) {
                    let Some(place) = self.ranked[port].evict_above(rank) else {
                        return self.drop_packet(plan, out, Some(port), packet, DropReason::Buffer);
                    };
                    // The stored packet keeps what it carries.
                    let aside = out.carried.set_aside();
                    let evicted = self.take_ranked::<RUN>(out, port, place);
                    out.carried.take_back(aside);
                    self.drop_packet(plan, out, Some(port), &evicted, DropReason::Buffer);
                }
                let queued = self.ports[port].queued;
                let mark = if self.settings.mark_at_enqueue { self.mark::<RUN>(out, port, packet, queued) } else { 0 };
                self.enqueue_ranked::<RUN>(out, port, packet, packet.flags | mark, rank);
            }
            Storage::Own(limit) if !fits(self, limit) => {
                self.drop_packet(plan, out, Some(port), packet, DropReason::Buffer);
            }
            _ => {
                let queued = self.ports[port].lanes[usize::from(packet.prio & 7)].queue.bytes;
                let mark = if self.settings.mark_at_enqueue { self.mark::<RUN>(out, port, packet, queued) } else { 0 };
                if self.ranked.is_empty() {
                    return self.enqueue::<RUN>(out, port, packet, packet.flags | mark);
                }
                let rank = rank(packet.kind, packet.flags, packet.word, packet.prio);
                self.enqueue_ranked::<RUN>(out, port, packet, packet.flags | mark, rank);
            }
        }
    }

    #[inline(always)]
    fn enqueue_ranked<const RUN: u8>(&mut self, out: &mut Out, port: LocalPort, packet: &Packet, flags: u8, rank: u64) {
        let place = self.slab.insert::<RUN>(packet, flags, &mut out.carried);
        self.ranked[port].push(rank, packet.flow, place);
        let state = &mut self.ports[port];
        let queue = &mut state.lanes[usize::from(packet.prio & 7)].queue;
        queue.bytes += u32::from(packet.size);
        queue.peak = queue.peak.max(queue.bytes);
        state.waiting |= 1 << RANKED_QUEUE;
        state.queued += u32::from(packet.size);
        self.note_length::<RUN>(port);
    }

    /// The packet is already out of its queue.
    #[inline(always)]
    fn take_ranked<const RUN: u8>(&mut self, out: &mut Out, port: LocalPort, place: PacketId) -> Packet {
        let (packet, _) = self.slab.remove::<RUN>(place, &mut out.carried);
        let state = &mut self.ports[port];
        state.lanes[usize::from(packet.prio & 7)].queue.bytes -= u32::from(packet.size);
        state.queued -= u32::from(packet.size);
        if self.ranked[port].is_empty() {
            state.waiting &= !(1 << RANKED_QUEUE);
        }
        self.note_length::<RUN>(port);
        packet
    }

    #[inline(always)]
    pub(super) fn dequeue_ranked<const RUN: u8>(&mut self, out: &mut Out, port: LocalPort) -> Packet {
        let place = self.ranked[port].pop().expect("a queue that waits has packets");
        self.take_ranked::<RUN>(out, port, place)
    }
}

#[cfg(test)]
mod tests {
    use incast_model::units::Bytes;

    use crate::nodes::bench::Frame::{Data, Segment};
    use crate::nodes::bench::{Bench, flow};
    use crate::outcome::DropReason;
    use crate::switch::QueueParams;

    #[test]
    fn a_packet_that_does_not_fit_is_dropped() {
        // Two packets, besides the one being sent.
        let limit = Bytes(2500);
        let mut bench = Bench::switch(&[flow(0, 2, 5)], |setup| {
            setup.params.switch.queues = QueueParams::DropTail { limit };
        });
        bench.put(0, &[0, 1, 2, 3].map(|number| (number, Data(0, number))));
        bench.put(0, &[(100, Data(0, 4))]);
        bench.run(1000);
        assert_eq!(bench.drops(), [(3, DropReason::Buffer, Some(0), Some(2))]);
        assert_eq!(bench.counts().lossless_drops, 0, "there is no PFC");
        let sent = [(100, Data(0, 0)), (200, Data(0, 1)), (300, Data(0, 2)), (400, Data(0, 4))];
        assert_eq!(bench.sent(2), sent);
    }

    #[test]
    fn the_flow_with_most_left_loses_a_packet_and_the_one_with_least_left_goes_first() {
        let limit = Bytes(2500);
        let flows: Vec<_> = (0..5).map(|_| flow(0, 2, 1)).collect();
        let mut bench = Bench::switch(&flows, |setup| {
            setup.params.switch.queues = QueueParams::Pfabric { limit };
        });
        let arrivals = [Segment(0, 9000), Segment(1, 7000), Segment(2, 8000), Segment(3, 5000), Segment(4, 8000)];
        bench.put(0, &[0, 1, 2, 3, 4].map(|at| (at as u64, arrivals[at])));
        bench.run(1000);
        // Flow 0 is being sent. Flow 3 evicts flow 2; flow 4 has more left than any that waits.
        let lost = |time, flow| (time, DropReason::Buffer, Some(flow), Some(2));
        assert_eq!(bench.drops(), [lost(3, 2), lost(4, 4)]);
        assert_eq!(bench.sent(2), [(100, Segment(0, 9000)), (200, Segment(3, 5000)), (300, Segment(1, 7000))]);
    }
}
