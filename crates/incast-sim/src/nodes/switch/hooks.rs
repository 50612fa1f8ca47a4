//! Seam between the pipeline and its guards.

use super::Switch;
use crate::kernel::{LocalPort, PacketId};
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::plan::Network;
use incast_model::fabric::{NodeId, PortId};

/// What a switch does with packets besides forwarding them. Implementations find their state in [`Switch::guards`].
pub(in crate::nodes) trait Hooks: Sized {
    fn new(plan: Plan<'_>, node: NodeId) -> Self;
    /// If true, no other function is called.
    fn is_empty(&self) -> bool;
    /// If true, `queued`, `dequeued` and `eligible` are called.
    fn watches_queues(&self) -> bool;
    /// Bit mask of the priorities in which ECN marks packets.
    fn markable(&self) -> u8;
    /// If true, packets get the priority of their new tag on the wire.
    fn rewrites_on_the_wire(&self) -> bool;
    /// Handles an arrived packet, in place of [`Switch`].
    fn receive<const RUN: u8>(switch: &mut Switch<Self>, plan: Plan<'_>, out: &mut Out, packet: &Packet);
    /// A packet is in a queue, at a place of the slab.
    fn queued(switch: &mut Switch<Self>, port: LocalPort, place: PacketId);
    /// A packet has left its queue, not yet the switch.
    fn dequeued(switch: &mut Switch<Self>, port: LocalPort, place: PacketId);
    /// Priorities that may send at a port, of those not paused.
    fn eligible(switch: &Switch<Self>, port: LocalPort, eligible: u8) -> u8;
    /// A PFC frame has arrived. True: it has no effect.
    fn voids(switch: &mut Switch<Self>, port: LocalPort, prio: u8, xoff: bool) -> bool;
    /// The link of a port has failed.
    fn link_down(switch: &mut Switch<Self>, port: LocalPort);
    /// A pause of a queue ends, and is still noted.
    fn resumed(switch: &mut Switch<Self>, network: &Network, port: LocalPort, prio: u8);
    /// Congested port that causes a pause of the peer of a port, if known.
    fn root(switch: &Switch<Self>, network: &Network, port: LocalPort, prio: u8) -> Option<PortId>;
}
