//! Buffers of single ports of switches and hosts: drop-tail, or in pFabric's order. The packet being sent does not count.

use incast_model::fabric::PortId;

use super::params::QueueParams;
use super::ranked::{RANKED_QUEUE, rank};
use crate::kernel::NONE;
use crate::network::Network;
use crate::outcome::DropReason;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    Shared,
    /// Bytes per port, in queues by priority.
    Own(u32),
    /// Bytes per port, in a queue by rank.
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

    pub(crate) const fn without_limit(self) -> Self {
        match self {
            Self::Ranked(_) => Self::Ranked(u32::MAX),
            Self::Shared | Self::Own(_) => Self::Own(u32::MAX),
        }
    }
}

impl Network {
    /// Stores or drops a packet at its egress port; `in_port` is `None` at its own host.
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
                let packet = &self.pool[id];
                let rank = rank(packet.kind, packet.flags, packet.stamp, packet.prio);
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

    /// Drops a packet that does not fit, or is evicted.
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

    pub(crate) fn enqueue_ranked(&mut self, port: u32, id: u32) {
        let packet = &mut self.pool[id];
        packet.next = NONE;
        let rank = rank(packet.kind, packet.flags, packet.stamp, packet.prio);
        let (flow, size, prio) = (packet.flow, u32::from(packet.size), packet.prio);
        self.ranked[port as usize].push(rank, flow, id);
        let at = self.at(port, prio);
        let queue = &mut self.queues[at];
        queue.bytes += size;
        queue.peak = queue.peak.max(queue.bytes);
        let state = &mut self.ports[port as usize];
        state.waiting |= 1 << RANKED_QUEUE;
        state.queued += size;
        self.note_queue(port);
    }

    /// Next packet of a pFabric queue that is not empty.
    pub(crate) fn dequeue_ranked(&mut self, port: u32) -> u32 {
        let id = self.ranked[port as usize].pop().expect("a queue that waits has packets");
        self.leave_ranked(port, id);
        id
    }

    pub(crate) fn first_queued(&self, port: u32, prio: u8) -> Option<u32> {
        if self.config.ranked && prio != 0 {
            return self.ranked[port as usize].packets().next();
        }
        Some(self.queues[self.at(port, prio)].head).filter(|&id| id != NONE)
    }

    fn leave_ranked(&mut self, port: u32, id: u32) {
        let (size, prio) = (u32::from(self.pool[id].size), self.pool[id].prio);
        let at = self.at(port, prio);
        self.queues[at].bytes -= size;
        let state = &mut self.ports[port as usize];
        state.queued -= size;
        if self.ranked[port as usize].is_empty() {
            state.waiting &= !(1 << RANKED_QUEUE);
        }
        self.note_queue(port);
    }
}
