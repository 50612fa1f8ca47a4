use incast_model::fabric::PortId;

use crate::congestion::FlowContext;
use crate::nodes::calendar::Woken;
use crate::nodes::out::Out;
use crate::nodes::packet::{Packet, Stamp};
use crate::nodes::plan::{Plan, PortPlan};
use crate::nodes::run::{NS3, has_extras};
use crate::plan::Sending;

#[derive(Debug)]
#[repr(C)]
pub(super) struct Link {
    plan: PortPlan,
    woken: Woken,
    /// Port here, and at the far end.
    pub(super) port: PortId,
    pub(super) wire: PortId,
    pub(super) rate: u64,
    /// Extra times, with jitter.
    jitter: Option<Box<Sending>>,
    pub(super) context: FlowContext,
}

impl Link {
    pub(super) fn new(plan: Plan<'_>, port: PortId) -> Self {
        let network = plan.network;
        let state = &network.ports[port];
        Self {
            plan: plan.layout.ports[port],
            woken: Woken::default(),
            port,
            wire: state.peer,
            rate: network.rates[usize::from(state.rate)],
            jitter: network.jitter.as_ref().and_then(|jitter| jitter.of_port(port)).map(Box::new),
            context: network.context(port),
        }
    }

    /// Returns the end of the transmission and its gap.
    #[inline(always)]
    pub(super) fn send<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, now: u64, packet: &Packet) -> u64 {
        let (sent, free) = plan.ends::<RUN>(self.port, &self.plan, now, packet.size.into());
        let stamp = Stamp { flags: packet.flags, in_prio: packet.prio, record: None };
        let seen = plan.seen::<RUN>(self.port, &self.plan, packet, (now, sent));
        let seen = self
            .jitter
            .as_mut()
            .filter(|_| has_extras(RUN))
            .map_or(seen, |jitter| jitter.delayed(seen + self.plan.delay) - self.plan.delay);
        if RUN == NS3 {
            out.ns3().transmit(self.port);
        }
        out.send::<RUN>((&self.plan, &mut self.woken), seen, packet, stamp);
        free
    }
}
