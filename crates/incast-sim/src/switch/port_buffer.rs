//! A buffer of each port's own, in place of one that all ports share: drop-tail, or in pFabric's order.
//!
//! The same at switches and at the ports of hosts. The packet being sent has left the buffer.

use incast_model::fabric::PortId;

use super::params::QueueParams;
use crate::kernel::{Kind, NONE, Packet, flag};
use crate::network::Network;
use crate::outcome::DropReason;

/// The priority under which a port's pFabric queue waits: it is one queue, whatever the priorities of its packets.
pub(super) const RANKED_QUEUE: u8 = 1;

/// How ports store packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    /// As the shared buffer of their switch lets them.
    Shared,
    /// In so many bytes of their own, in queues by priority.
    Own(u32),
    /// In so many bytes of their own, by rank.
    Ranked(u32),
}

impl Storage {
    pub(crate) fn new(params: &QueueParams) -> Self {
        let bytes = |limit: u64| limit.min(u64::from(u32::MAX)) as u32;
        match params {
            QueueParams::Shared => Self::Shared,
            QueueParams::DropTail { limit } => Self::Own(bytes(limit.0)),
            QueueParams::Pfabric { limit } => Self::Ranked(bytes(limit.0)),
        }
    }

    /// The same order without a limit.
    pub(crate) const fn without_limit(self) -> Self {
        match self {
            Self::Ranked(_) => Self::Ranked(u32::MAX),
            Self::Shared | Self::Own(_) => Self::Own(u32::MAX),
        }
    }
}

/// One packet of a pFabric queue.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The lower the sooner.
    rank: u64,
    flow: u32,
    id: u32,
}

/// A port's packets in order of arrival (pFabric, SIGCOMM 2013, section 4.1). A queue holds a few dozen packets, and all that is
/// looked at lies side by side, so that going through it is as fast as anything.
#[derive(Debug, Clone, Default)]
pub(crate) struct RankedQueue(Vec<Entry>);

impl RankedQueue {
    fn push(&mut self, entry: Entry) {
        self.0.push(entry);
    }

    /// Takes out the first packet of the flow that has the packet of lowest rank (the first such): within a flow packets stay
    /// in order, and early ones with a higher rank are not left behind.
    fn pop(&mut self) -> Option<u32> {
        let best = self.0.iter().min_by_key(|entry| entry.rank)?.flow;
        let first = self.0.iter().position(|entry| entry.flow == best)?;
        Some(self.0.remove(first).id)
    }

    /// Takes out the packet of highest rank, of several the one that came last, if it ranks above `rank`.
    fn evict_above(&mut self, rank: u64) -> Option<u32> {
        let worst = self.0.iter().enumerate().max_by_key(|(_, entry)| entry.rank)?;
        let (at, above) = (worst.0, worst.1.rank > rank);
        above.then(|| self.0.remove(at).id)
    }

    /// Its packets.
    pub(crate) fn packets(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().map(|entry| entry.id)
    }
}

/// A packet's rank: what is left of a pFabric flow, in bytes; 0 of whatever is not data; in between, data of others by its
/// priority.
fn rank(packet: &Packet) -> u64 {
    match packet.kind {
        Kind::Segment if packet.flags & flag::RANKED != 0 => 8 + packet.stamp,
        Kind::Segment | Kind::Data => 8 - u64::from(packet.prio),
        _ => 0,
    }
}

impl Network {
    /// Stores a packet in the own buffer of the port that it leaves by, at most `limit` bytes. Whatever is dropped for it is
    /// counted at `in_port`; where the packet comes from its own host there is none.
    pub(crate) fn store(&mut self, out: u32, id: u32, in_port: Option<u32>) {
        let storage = if in_port.is_some() { self.config.storage } else { self.config.host_storage };
        let size = u32::from(self.pool[id].size);
        let queued = self.ports[out as usize].queued;
        let storage = if self.ports[out as usize].at_server { Storage::Own(self.config.server_queue) } else { storage };
        match storage {
            Storage::Shared => self.enqueue(out, id),
            Storage::Own(limit) if u64::from(queued) + u64::from(size) > u64::from(limit) => self.overflow(out, id),
            Storage::Own(_) => {
                if self.config.mark_at_enqueue && in_port.is_some() {
                    let queued = self.queues[self.at(out, self.pool[id].prio)].bytes;
                    self.mark(out, id, queued);
                }
                self.enqueue(out, id);
            }
            Storage::Ranked(limit) => {
                let rank = rank(&self.pool[id]);
                while u64::from(self.ports[out as usize].queued) + u64::from(size) > u64::from(limit) {
                    let Some(worst) = self.ranked[out as usize].evict_above(rank) else {
                        return self.overflow(out, id);
                    };
                    self.leave_ranked(out, worst);
                    self.overflow(out, worst);
                }
                if self.config.mark_at_enqueue && in_port.is_some() {
                    self.mark(out, id, self.ports[out as usize].queued);
                }
                self.enqueue(out, id);
            }
        }
    }

    /// A packet has found no room in the buffer of `out`, or lost its place there.
    #[cold]
    fn overflow(&mut self, out: u32, id: u32) {
        let state = &self.ports[out as usize];
        let in_port = (!state.at_host).then(|| self.pool[id].in_port);
        if in_port.is_none() {
            self.left_host(id);
        }
        let node = self.fabric.port(PortId(out)).node;
        self.count_drop(id, DropReason::Buffer, node, in_port, Some(out));
        self.pool.release(id);
    }

    /// Puts a packet into a port's pFabric queue.
    pub(crate) fn enqueue_ranked(&mut self, port: u32, id: u32) {
        let packet = &mut self.pool[id];
        packet.next = NONE;
        let (rank, flow, size, prio) = (rank(packet), packet.flow, u32::from(packet.size), packet.prio);
        self.ranked[port as usize].push(Entry { rank, flow, id });
        let at = self.at(port, prio);
        let queue = &mut self.queues[at];
        queue.bytes += size;
        queue.peak = queue.peak.max(queue.bytes);
        let state = &mut self.ports[port as usize];
        state.waiting |= 1 << RANKED_QUEUE;
        state.queued += size;
        self.note_queue(port);
    }

    /// Takes the next packet of a port's pFabric queue, which is not empty.
    pub(crate) fn dequeue_ranked(&mut self, port: u32) -> u32 {
        let id = self.ranked[port as usize].pop().expect("a queue that waits has packets");
        self.leave_ranked(port, id);
        id
    }

    /// The first packet queued at a port under a priority.
    pub(crate) fn first_queued(&self, port: u32, prio: u8) -> Option<u32> {
        if self.config.ranked && prio != 0 {
            return self.ranked[port as usize].packets().next();
        }
        Some(self.queues[self.at(port, prio)].head).filter(|&id| id != NONE)
    }

    /// The books of a port that a packet of its pFabric queue has left.
    fn leave_ranked(&mut self, port: u32, id: u32) {
        let (size, prio) = (u32::from(self.pool[id].size), self.pool[id].prio);
        let at = self.at(port, prio);
        self.queues[at].bytes -= size;
        let state = &mut self.ports[port as usize];
        state.queued -= size;
        if self.ranked[port as usize].0.is_empty() {
            state.waiting &= !(1 << RANKED_QUEUE);
        }
        self.note_queue(port);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(packets: &[(u64, u32)]) -> RankedQueue {
        let entry = |(id, &(rank, flow)): (usize, &(u64, u32))| Entry { rank, flow, id: id as u32 };
        RankedQueue(packets.iter().enumerate().map(entry).collect())
    }

    #[test]
    fn the_flow_with_least_left_sends_its_first_packet() {
        let mut of_three = queue(&[(5, 0), (6, 1), (4, 2)]);
        assert_eq!([of_three.pop(), of_three.pop(), of_three.pop(), of_three.pop()], [Some(2), Some(0), Some(1), None]);
        // Flow 0 came with 9 and then 8 left, flow 1 with 8.5: flow 0 has least, and its first packet goes first.
        let mut overtaken = queue(&[(18, 0), (17, 1), (16, 0)]);
        assert_eq!([overtaken.pop(), overtaken.pop(), overtaken.pop()], [Some(0), Some(2), Some(1)]);
    }

    #[test]
    fn the_flow_with_most_left_loses_its_last_packet() {
        let mut full = queue(&[(5, 0), (7, 1), (6, 2), (7, 1), (4, 3)]);
        assert_eq!(full.evict_above(7), None, "of equals the last to come, here the one that finds no room");
        assert_eq!([full.evict_above(6), full.evict_above(4), full.evict_above(4)], [Some(3), Some(1), Some(2)]);
        assert_eq!(full.packets().collect::<Vec<_>>(), [0, 4]);
        assert_eq!((full.evict_above(0), full.evict_above(0), full.evict_above(0)), (Some(0), Some(4), None));
    }

    #[test]
    fn ranks_are_by_what_is_left_and_then_by_priority() {
        let segment = Packet { kind: Kind::Segment, prio: 3, stamp: 1, ..Packet::EMPTY };
        let ranks = [
            Packet { kind: Kind::SegmentAck, ..segment },
            Packet { kind: Kind::Data, prio: 7, ..segment },
            segment,
            Packet { flags: flag::RANKED, ..segment },
            Packet { flags: flag::RANKED, stamp: 146_000, ..segment },
        ]
        .map(|packet| rank(&packet));
        assert_eq!(ranks, [0, 1, 5, 9, 146_008]);
    }
}
