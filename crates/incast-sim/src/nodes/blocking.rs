//! Queueing delays of flows at one node (`measure.blocking`). Guards measure at switches, [`super::host`] at hosts.

use incast_model::fabric::PortId;

use super::map::Map;
use super::packet::Packet;
use crate::kernel::{FlowId, Id, Kind};
use crate::measure::Waits;
use crate::plan::Network;

#[derive(Debug, Default)]
pub(super) struct Delays(Map<FlowId, Waits>);

impl Delays {
    pub(super) fn of(&mut self, flow: FlowId) -> &mut Waits {
        self.0.entry(flow).or_default()
    }

    pub(super) fn add_to(&self, all: &mut [Waits]) {
        for (&flow, &waits) in &self.0 {
            all[flow.index()] += waits;
        }
    }
}

impl Packet {
    /// Only data of flows is measured.
    pub(super) const fn is_measured(&self) -> bool {
        matches!(self.kind, Kind::Data | Kind::Segment) && self.prio != 0
    }
}

impl Network {
    /// True if `root` is on the path from `port` on.
    pub(super) fn packet_goes_by(&self, root: PortId, port: PortId, packet: &Packet) -> bool {
        self.goes_by(root, port, packet.flow, packet.own_path())
    }
}
