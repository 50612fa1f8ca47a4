//! State of a host at the end of a run, and for searches over the network.

use incast_model::fabric::PortId;

use super::Host;
use crate::kernel::{FlowId, IdVec, LocalPort, PairId, SentId};
use crate::nodes::lane::Lane;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Layout;
use crate::outcome::FlowRecord;
use crate::switch::Ingress;

impl Host {
    /// Adds to the senders' records.
    pub(in crate::nodes) fn record_received(&self, layout: &Layout, records: &mut IdVec<FlowId, FlowRecord>) {
        for (receiver, &flow) in self.receivers.iter().zip(&layout.received[self.params.id]) {
            let record = &mut records[flow];
            (record.delivered, record.discarded) = (receiver.delivered.or(record.delivered), receiver.discarded);
            record.acked += receiver.arrived_bytes;
        }
    }

    /// Flows sent, and their ports.
    pub(in crate::nodes) fn under_way(&self) -> impl Iterator<Item = (FlowId, PortId)> {
        self.flows.under_way().map(|own| (self.flows.ids[own], self.nics[self.nic_of(own)].link.port))
    }

    fn nic_of(&self, own: SentId) -> LocalPort {
        match self.flows.pair_of[own] {
            PairId::NONE => self.transport_nic(own),
            place => self.pairs[place].nic,
        }
    }

    /// Paused priorities, without ports with dead links.
    pub(in crate::nodes) fn pauses(&self) -> impl Iterator<Item = (PortId, u8)> {
        self.nics.iter().filter(|nic| !nic.down).map(|nic| (nic.link.port, nic.paused))
    }

    pub(in crate::nodes) fn is_paused(&self, nic: LocalPort, priority: u8) -> bool {
        self.nics[nic].paused & 1 << priority != 0
    }

    /// Queue, and pauses that the port sent.
    pub(in crate::nodes) fn lane(&self, nic: LocalPort, priority: u8) -> Lane {
        let (nic, priority) = (&self.nics[nic], usize::from(priority));
        let hold = nic.holds.get(priority).copied().unwrap_or_default();
        let ingress = Ingress { paused: hold.paused, xoffs: hold.xoffs, ..Ingress::default() };
        Lane { queue: nic.stored.queues[priority], ingress }
    }

    /// Packets that wait in rate limiters, before the host's queues.
    pub(in crate::nodes) fn limited_packets(&self) -> impl Iterator<Item = &Packet> {
        self.hypervisor.iter().flat_map(|hypervisor| hypervisor.limited())
    }

    pub(in crate::nodes) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.nics.iter().flat_map(|nic| nic.stored.places(&self.slab)).map(|place| self.slab.get(place))
    }
}
