//! Guards of a switch. Each has a file here and a line in `guards!`; the pipeline calls their stages ([`Guard`]) in the order
//! of the list. Guards that see packets alone share one line (`packets.rs`).

mod blocking;
mod isolation;
mod packets;
mod tags;
mod watchdog;

pub(super) use isolation::{Table, records_in_order};

use blocking::Blocking;
use incast_model::fabric::{NodeId, PortId};
use isolation::Isolation;
use packets::PacketGuards;
use tags::Tags;
use watchdog::Watchdog;

use super::out::Out;
use super::packet::Packet;
use super::plan::Plan;
use super::switch::{Hooks, Switch};
use crate::kernel::{Kind, LocalPort, PacketId};
use crate::outcome::DropReason;
use crate::plan::Network;

/// Stages of a guard, which finds its state in the switch.
pub(super) trait Guard: Sized {
    /// If true, `queued`, `dequeued` and `eligible` are called.
    const WATCHES_QUEUES: bool = false;

    /// `None` if the run has no such guard.
    fn new(plan: Plan<'_>, node: NodeId) -> Option<Self>;

    /// Priorities in which ECN marks packets, as bits.
    fn markable(&self) -> u8 {
        u8::MAX
    }

    /// If true, new tags change the priority on the wire.
    fn rewrites_on_the_wire(&self) -> bool {
        false
    }

    /// A packet has arrived, without a route yet.
    fn arrived(_switch: &mut Switch<Guards>, _out: &mut Out, _packet: &mut Packet) {}

    /// A packet is to leave by a port, under a priority that can change here. `Some`: drops it.
    fn routed(
        _switch: &mut Switch<Guards>,
        _plan: Plan<'_>,
        _out: &mut Out,
        _port: LocalPort,
        _packet: &mut Packet,
    ) -> Option<DropReason> {
        None
    }

    /// A packet is in a queue.
    fn queued(_switch: &mut Switch<Guards>, _port: LocalPort, _place: PacketId) {}

    /// A packet has left its queue, not yet the switch.
    fn dequeued(_switch: &mut Switch<Guards>, _port: LocalPort, _place: PacketId) {}

    /// Priorities that may send, of those not paused.
    fn eligible(_switch: &Switch<Guards>, _port: LocalPort, eligible: u8) -> u8 {
        eligible
    }

    /// A PFC frame has arrived. True: it has no effect.
    fn voids(_switch: &mut Switch<Guards>, _port: LocalPort, _prio: u8, _xoff: bool) -> bool {
        false
    }

    fn link_down(_switch: &mut Switch<Guards>, _port: LocalPort) {}

    /// A pause ends, and is still noted.
    fn resumed(_switch: &mut Switch<Guards>, _network: &Network, _port: LocalPort, _prio: u8) {}

    /// Congested port that causes a pause of the peer, if known.
    fn root(_switch: &Switch<Guards>, _network: &Network, _port: LocalPort, _prio: u8) -> Option<PortId> {
        None
    }
}

macro_rules! guards {
    ($($field:ident: $guard:ident),+ $(,)?) => {
        #[derive(Debug)]
        pub(super) struct Guards {
            $($field: Option<Box<$guard>>,)+
        }

        impl Hooks for Guards {
            fn new(plan: Plan<'_>, node: NodeId) -> Self {
                Self { $($field: $guard::new(plan, node).map(Box::new),)+ }
            }

            fn is_empty(&self) -> bool {
                true $(&& self.$field.is_none())+
            }

            fn receive<const RUN: u8>(switch: &mut Switch<Self>, plan: Plan<'_>, out: &mut Out, packet: &Packet) {
                switch.receive_guarded::<RUN>(plan, out, packet);
            }

            #[inline(never)]
            fn queued(switch: &mut Switch<Self>, port: LocalPort, place: PacketId) {
                $(if switch.guards.$field.is_some() {
                    $guard::queued(switch, port, place);
                })+
            }

            #[inline(never)]
            fn dequeued(switch: &mut Switch<Self>, port: LocalPort, place: PacketId) {
                $(if switch.guards.$field.is_some() {
                    $guard::dequeued(switch, port, place);
                })+
            }

            #[inline(never)]
            fn eligible(switch: &Switch<Self>, port: LocalPort, mut eligible: u8) -> u8 {
                $(if switch.guards.$field.is_some() {
                    eligible = $guard::eligible(switch, port, eligible);
                })+
                eligible
            }

            fn voids(switch: &mut Switch<Self>, port: LocalPort, prio: u8, xoff: bool) -> bool {
                $(if switch.guards.$field.is_some() && $guard::voids(switch, port, prio, xoff) {
                    return true;
                })+
                false
            }

            fn link_down(switch: &mut Switch<Self>, port: LocalPort) {
                $(if switch.guards.$field.is_some() {
                    $guard::link_down(switch, port);
                })+
            }

            fn resumed(switch: &mut Switch<Self>, network: &Network, port: LocalPort, prio: u8) {
                $(if switch.guards.$field.is_some() {
                    $guard::resumed(switch, network, port, prio);
                })+
            }

            fn root(switch: &Switch<Self>, network: &Network, port: LocalPort, prio: u8) -> Option<PortId> {
                $(if switch.guards.$field.is_some()
                    && let Some(root) = $guard::root(switch, network, port, prio)
                {
                    return Some(root);
                })+
                None
            }

            fn watches_queues(&self) -> bool {
                false $(|| self.$field.is_some() && $guard::WATCHES_QUEUES)+
            }

            fn markable(&self) -> u8 {
                u8::MAX $(& self.$field.as_ref().map_or(u8::MAX, |guard| guard.markable()))+
            }

            fn rewrites_on_the_wire(&self) -> bool {
                false $(|| self.$field.as_ref().is_some_and(|guard| guard.rewrites_on_the_wire()))+
            }
        }

        impl Switch<Guards> {
            fn guard_arrival(&mut self, out: &mut Out, packet: &mut Packet) {
                $(if self.guards.$field.is_some() {
                    $guard::arrived(self, out, packet);
                })+
            }

            fn guard_route(&mut self, plan: Plan<'_>, out: &mut Out, port: LocalPort, packet: &mut Packet) -> Option<DropReason> {
                $(if self.guards.$field.is_some()
                    && let Some(reason) = $guard::routed(self, plan, out, port, packet)
                {
                    return Some(reason);
                })+
                None
            }
        }
    };
}

guards! {
    tags: Tags,
    isolation: Isolation,
    watchdog: Watchdog,
    packets: PacketGuards,
    blocking: Blocking,
}

impl Switch<Guards> {
    /// Other switches do the same without guards, faster.
    #[inline(never)]
    pub(super) fn receive_guarded<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, packet: &Packet) {
        if packet.kind == Kind::Isolation {
            return self.receive_isolation(plan, out, packet);
        }
        let mut packet = *packet;
        self.guard_arrival(out, &mut packet);
        let port = self.egress(plan, &packet);
        if packet.hops >= self.settings.ttl {
            return self.drop_packet(plan, out, port, &packet, DropReason::Ttl);
        }
        let Some(port) = port else { return self.drop_packet(plan, out, None, &packet, DropReason::NoRoute) };
        match self.guard_route(plan, out, port, &mut packet) {
            Some(reason) => self.drop_packet(plan, out, Some(port), &packet, reason),
            None => self.forward::<RUN>(plan, out, port, &packet),
        }
    }
}
