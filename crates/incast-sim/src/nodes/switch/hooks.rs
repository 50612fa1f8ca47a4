//! Seam between the pipeline and its guards.

use incast_model::fabric::{NodeId, PortId};

use super::Switch;
use crate::kernel::{LocalPort, PacketId};
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::plan::Network;

/// Work on packets besides forwarding. Stages are those of `nodes/guards`; state is in [`Switch::guards`].
pub(in crate::nodes) trait Hooks: Sized {
    fn new(plan: Plan<'_>, node: NodeId) -> Self;
    /// If true, no other function is called.
    fn is_empty(&self) -> bool;
    fn watches_queues(&self) -> bool;
    fn markable(&self) -> u8;
    fn rewrites_on_the_wire(&self) -> bool;
    /// Handles an arrived packet, in place of [`Switch`].
    fn receive<const RUN: u8>(switch: &mut Switch<Self>, plan: Plan<'_>, out: &mut Out, packet: &Packet);
    fn queued(switch: &mut Switch<Self>, port: LocalPort, place: PacketId);
    fn dequeued(switch: &mut Switch<Self>, port: LocalPort, place: PacketId);
    fn eligible(switch: &Switch<Self>, port: LocalPort, eligible: u8) -> u8;
    fn voids(switch: &mut Switch<Self>, port: LocalPort, prio: u8, xoff: bool) -> bool;
    fn link_down(switch: &mut Switch<Self>, port: LocalPort);
    fn resumed(switch: &mut Switch<Self>, network: &Network, port: LocalPort, prio: u8);
    fn root(switch: &Switch<Self>, network: &Network, port: LocalPort, prio: u8) -> Option<PortId>;
}
