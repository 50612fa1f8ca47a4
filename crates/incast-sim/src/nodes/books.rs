//! Writes the state of nodes back into the network, for the deadlock search and the end of the run.

use super::Nodes;
use super::guards::records_in_order;
use super::host::Host;
use super::out::{Note, Noted};
use super::packet::Packet;
use super::switch::Switch;
use crate::kernel::{self, NONE, Pool};
use crate::network::Network;
use crate::outcome::DropReason;
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

impl Nodes {
    pub(super) fn record(&mut self, network: &mut Network) {
        self.out.notes.sort_by_key(|noted| (noted.time, noted.event));
        for Noted { time, note, .. } in self.out.notes.drain(..) {
            let recorder = &mut network.recorder;
            match note {
                Note::Pause { at, bytes, culprit } => recorder.pause(at, time, bytes, culprit),
                Note::Resume { at } => recorder.resume(at, time),
                Note::Drop { at, record } => recorder.drop_packet(at, record.reason == DropReason::LinkDown, record),
            }
        }
    }

    /// Exports which priorities are paused, have packets, or pause the peer.
    pub(super) fn export_pauses(&self, network: &mut Network) {
        for port in self.switches.iter().flat_map(|switch| &switch.ports) {
            let state = &mut network.ports[port.number as usize];
            (state.waiting, state.paused, state.flight_head) = (port.waiting, port.paused, NONE);
            for prio in 1..8u8 {
                let at = network.at(port.number, prio);
                network.ingress[at].paused = port.lanes[usize::from(prio)].ingress.paused;
            }
        }
        for (port, paused) in self.hosts.iter().flat_map(|host| host.pauses()) {
            let state = &mut network.ports[port as usize];
            (state.paused, state.flight_head) = (paused, NONE);
        }
    }

    pub(super) fn export(&mut self, network: &mut Network) {
        self.record(network);
        network.pool = Pool::new(0, false);
        for switch in &self.switches {
            switch.export(network);
        }
        for host in &self.hosts {
            host.export_pairs(network);
        }
        for host in &self.hosts {
            host.export(&self.layout, network);
            host.export_holds(network);
        }
        for (port, plan) in (0usize..).zip(&self.layout.ports) {
            let wire = &self.out.wires[plan.line as usize];
            let (head, tail) = network
                .list_of(wire.packets().map(|(_, one)| kernel::Packet { hops: one.hops - 1, ..packet(one, NONE) }));
            (network.ports[port].flight_head, network.ports[port].flight_tail) = (head, tail);
        }
        let tables = self.switches.iter().filter_map(Switch::isolation_table);
        network.isolations = records_in_order(tables.chain(self.hosts.iter().filter_map(Host::isolation_table)));
        let (out, ledger) = (&self.out, &mut network.ledger);
        (ledger.injected, ledger.delivered, ledger.dropped) = (out.injected, out.delivered, out.dropped);
        ledger.retagged = out.retagged;
        network.counts = out.counts;
        network.recorder.prints.clone_from(&out.prints);
        (network.flows_done, network.bytes_acked) = (out.done, out.acked);
    }
}
