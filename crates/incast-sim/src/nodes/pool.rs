//! Packets of nodes in the form of the network's pool.

use super::packet::Packet;
use crate::kernel::{self, NONE};
use crate::network::Network;
use crate::switch::RankedQueue;

/// `in_port` is a port of the fabric.
pub(super) fn packet(packet: &Packet, in_port: u32) -> kernel::Packet {
    kernel::Packet {
        seq: packet.seq,
        stamp: packet.stamp,
        flow: packet.flow,
        dst: packet.dst,
        in_port,
        size: packet.size,
        payload: packet.payload,
        kind: packet.kind,
        prio: packet.prio,
        in_prio: packet.in_prio,
        flags: packet.flags,
        hops: packet.hops,
        ..kernel::Packet::EMPTY
    }
}

impl Network {
    /// Stores packets in the pool. Returns the first and the last.
    pub(super) fn list_of(&mut self, packets: impl Iterator<Item = kernel::Packet>) -> (u32, u32) {
        let (mut head, mut tail) = (NONE, NONE);
        for packet in packets {
            let id = self.pool.alloc(packet);
            if head == NONE {
                head = id;
            } else {
                self.pool[tail].next = id;
            }
            tail = id;
        }
        (head, tail)
    }
}

impl Network {
    /// Fills the pFabric queue of a port; only the set of its packets is read afterwards.
    pub(super) fn export_ranked(&mut self, port: u32, packets: impl Iterator<Item = kernel::Packet>) {
        let mut queue = RankedQueue::default();
        for packet in packets {
            queue.push(0, packet.flow, self.pool.alloc(packet));
        }
        self.ranked[port as usize] = queue;
    }
}
