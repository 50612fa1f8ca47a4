//! Writes the state of nodes back into the network, for the deadlock search and the end of the run.

use super::guards::records_in_order;
use super::out::{Note, Noted};
use super::{Nodes, pool};
use crate::kernel::{self, NONE, Pool};
use crate::network::Network;
use crate::outcome::DropReason;

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
        self.export_hypervisors(network);
        network.pool = Pool::new(0, false);
        for switch in &self.switches {
            switch.export(network);
            switch.export_storms(network);
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
            let (head, tail) = network.list_of(
                wire.packets().map(|(_, one)| kernel::Packet { hops: one.hops - 1, ..pool::packet(one, NONE) }),
            );
            (network.ports[port].flight_head, network.ports[port].flight_tail) = (head, tail);
        }
        let tables = self.switches.iter().filter_map(|switch| switch.isolation_table());
        network.isolations =
            records_in_order(tables.chain(self.hosts.iter().filter_map(|host| host.isolation_table())));
        let (out, ledger) = (&self.out, &mut network.ledger);
        (ledger.injected, ledger.delivered, ledger.dropped) = (out.injected, out.delivered, out.dropped);
        ledger.retagged = out.retagged;
        network.counts = out.counts;
        network.recorder.prints.clone_from(&out.prints);
        (network.flows_done, network.bytes_acked) = (out.done, out.acked);
    }
}
