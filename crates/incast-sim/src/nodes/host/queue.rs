use super::{Host, PRIORITIES};
use crate::kernel::{Kind, LocalPort, PacketId};
use crate::nodes::lane::Queue;
use crate::nodes::out::{Dropped, Out};
use crate::nodes::packet::{Packet, Slab};
use crate::nodes::plan::Plan;
use crate::nodes::run::{NS3, has_extras, has_transports};
use crate::outcome::DropReason;
use crate::switch::{RANKED_QUEUE, RankedQueue, Storage, rank};

/// Queue of all ACKs and NACKs in `ns3` arithmetic, whatever their priority: its pause holds all of them (`qbb-net-device.cc`,
/// RdmaEgressQueue::ack_q_idx).
const NS3_ACKS: u8 = 3;

/// Waiting packets; RDMA's data waits in queue pairs.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Stored {
    pub(super) queues: [Queue; PRIORITIES],
    /// In place of all queues but priority 0.
    ranked: RankedQueue,
}

impl Default for Stored {
    fn default() -> Self {
        Self { queues: [Queue::EMPTY; PRIORITIES], ranked: RankedQueue::default() }
    }
}

impl Stored {
    pub(super) fn places<'a>(&'a self, slab: &'a Slab) -> impl Iterator<Item = PacketId> + 'a {
        self.queues.iter().flat_map(|queue| slab.places(queue.head)).chain(self.ranked.packets())
    }

    fn first(&self, ranked: bool, prio: u8) -> Option<PacketId> {
        match ranked {
            true => self.ranked.packets().next(),
            false => Some(self.queues[usize::from(prio & 7)].head).filter(|&place| place != PacketId::NONE),
        }
    }
}

impl Host {
    pub(super) fn store<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort, packet: &Packet) {
        let size = u64::from(packet.size);
        let fits = |host: &Self, limit: u32| u64::from(host.nics[nic].queued) + size <= u64::from(limit);
        match plan.network.config.queues.host_storage {
            Storage::Ranked(limit) => {
                let rank = rank(packet.kind, packet.flags, packet.word, packet.prio);
                while !fits(self, limit) {
                    let Some(place) = self.nics[nic].stored.ranked.evict_above(rank) else {
                        return self.overflow::<RUN>(plan, out, nic, packet);
                    };
                    let aside = out.carried.set_aside();
                    let evicted = self.take_ranked::<RUN>(out, nic, place);
                    out.carried.take_back(aside);
                    self.overflow::<RUN>(plan, out, nic, &evicted);
                }
                self.enqueue::<RUN>(out, nic, packet);
            }
            Storage::Own(limit) if !fits(self, limit) => self.overflow::<RUN>(plan, out, nic, packet),
            _ => self.enqueue::<RUN>(out, nic, packet),
        }
    }

    #[inline(always)]
    pub(super) fn enqueue<const RUN: u8>(&mut self, out: &mut Out, nic: LocalPort, packet: &Packet) {
        let (prio, size) = (if RUN == NS3 { NS3_ACKS } else { packet.prio & 7 }, u32::from(packet.size));
        let place = self.slab.insert::<RUN>(packet, packet.flags, &mut out.carried);
        if has_extras(RUN)
            && let Some(blocking) = &mut self.blocking
        {
            blocking.queued(place, self.now);
        }
        let nic = &mut self.nics[nic];
        let queue = &mut nic.stored.queues[usize::from(prio)];
        queue.bytes += size;
        queue.peak = queue.peak.max(queue.bytes);
        nic.queued += size;
        if has_transports(RUN) && self.params.ranks && prio != 0 {
            let rank = rank(packet.kind, packet.flags, packet.word, packet.prio);
            nic.stored.ranked.push(rank, packet.flow, place);
            nic.waiting |= 1 << RANKED_QUEUE;
            return;
        }
        let tail = std::mem::replace(&mut queue.tail, place);
        if queue.head == PacketId::NONE {
            queue.head = place;
            nic.waiting |= 1 << prio;
        } else {
            self.slab.link(tail, place);
        }
    }

    #[inline(always)]
    pub(super) fn dequeue<const RUN: u8>(&mut self, out: &mut Out, nic: LocalPort, prio: u8) -> Packet {
        if has_transports(RUN) && self.params.ranks && prio != 0 {
            let place = self.nics[nic].stored.ranked.pop().expect("a queue that waits has packets");
            return self.take_ranked::<RUN>(out, nic, place);
        }
        let nic = &mut self.nics[nic];
        let queue = &mut nic.stored.queues[usize::from(prio & 7)];
        let (packet, next) = self.slab.remove::<RUN>(queue.head, &mut out.carried);
        queue.head = next;
        queue.bytes -= u32::from(packet.size);
        if queue.head == PacketId::NONE {
            nic.waiting &= !(1 << prio);
        }
        nic.queued -= u32::from(packet.size);
        packet
    }

    /// The packet is already out of its queue.
    #[inline(always)]
    fn take_ranked<const RUN: u8>(&mut self, out: &mut Out, nic: LocalPort, place: PacketId) -> Packet {
        let (packet, _) = self.slab.remove::<RUN>(place, &mut out.carried);
        let nic = &mut self.nics[nic];
        nic.stored.queues[usize::from(packet.prio & 7)].bytes -= u32::from(packet.size);
        nic.queued -= u32::from(packet.size);
        if nic.stored.ranked.is_empty() {
            nic.waiting &= !(1 << RANKED_QUEUE);
        }
        packet
    }

    pub(super) fn begins_with_data(&self, nic: LocalPort, prio: u8) -> bool {
        let first = self.nics[nic].stored.first(self.params.ranks && prio != 0, prio);
        first.is_some_and(|place| self.slab.get(place).kind == Kind::Segment)
    }

    #[cold]
    fn overflow<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort, packet: &Packet) {
        self.left::<RUN>(plan, out, packet);
        let (reason, egress) = (DropReason::Buffer, Some(self.nics[nic].link.port));
        out.drop(plan.network, packet, Dropped { reason, ingress: None, egress, now: self.now, event: self.event });
        out.progress.live -= 1;
    }
}
