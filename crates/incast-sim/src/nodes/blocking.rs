//! Queueing delays of flows (`measure.blocking`): sums of a node, and their end with the run. Guards measure at switches,
//! [`super::host`] at hosts.

use super::map::Map;
use super::packet::Packet;
use crate::kernel::Kind;
use crate::measure::Waits;
use crate::plan::Network;
use incast_model::fabric::PortId;

/// Queueing delays at one node by flow.
#[derive(Debug, Default)]
pub(super) struct Delays(Map<u32, Waits>);

impl Delays {
    pub(super) fn of(&mut self, flow: u32) -> &mut Waits {
        self.0.entry(flow).or_default()
    }

    /// Adds them to those of other nodes.
    pub(super) fn add_to(&self, all: &mut [Waits]) {
        for (&flow, &waits) in &self.0 {
            all[flow as usize] += waits;
        }
    }
}

impl Packet {
    /// Returns true for data of flows: the only packets measured.
    pub(super) const fn is_measured(&self) -> bool {
        matches!(self.kind, Kind::Data | Kind::Segment) && self.prio != 0
    }
}

impl Network {
    /// Returns true if `root` is on the packet's path from `port` on.
    pub(super) fn packet_goes_by(&self, root: PortId, port: PortId, packet: &Packet) -> bool {
        self.goes_by(root, port, packet.flow, packet.own_path())
    }
}
