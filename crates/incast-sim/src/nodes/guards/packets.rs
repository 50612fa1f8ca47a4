//! Guards that see arriving packets alone ([`PacketGuard`]).

use incast_model::fabric::NodeId;
use incast_model::units::{Bytes, Time};

use super::{Guard, Guards};
use crate::guards::{Arrival, PacketGuard};
use crate::kernel::{Id, LocalPort};
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::nodes::switch::Switch;
use crate::outcome::DropReason;

/// With the cause of drops, named as the guard.
#[derive(Debug)]
pub(in crate::nodes) struct PacketGuards(Vec<(Box<dyn PacketGuard>, DropReason)>);

impl Guard for PacketGuards {
    fn new(plan: Plan<'_>, node: NodeId) -> Option<Self> {
        let ports = plan.network.fabric.ports_of(node).len();
        let started =
            plan.network.switches.params.guards().filter(|(_, guard)| guard.enabled()).filter_map(|(name, guard)| {
                let reason = DropReason::ALL.iter().find(|reason| reason.name() == name);
                Some((guard.start(ports)?, *reason.expect("the list has a cause of drops for each guard of packets")))
            });
        let started: Vec<_> = started.collect();
        (!started.is_empty()).then_some(Self(started))
    }

    fn routed(
        switch: &mut Switch<Guards>,
        _plan: Plan<'_>,
        _out: &mut Out,
        port: LocalPort,
        packet: &mut Packet,
    ) -> Option<DropReason> {
        let arrival = Arrival {
            now: Time(switch.now()),
            ingress: packet.in_port.index(),
            egress: port.index(),
            priority: packet.in_prio,
            size: Bytes(packet.size.into()),
        };
        let Self(guards) = &mut **switch.guards.packets.as_mut()?;
        guards.iter_mut().find_map(|(guard, reason)| guard.drops(&arrival).then_some(*reason))
    }
}
