//! Hosts that react to isolation messages: they send the flow's RDMA data under the priority of isolated flows.

use super::Host;
use crate::kernel::{Event, Kind, LocalPort, PairId, Target, flag};
use crate::nodes::guards::Table;
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::outcome::IsolatedBy;
use crate::switch::{IsolationAtHosts, IsolationParams};

/// State of one host; ports are its NICs, from 0.
#[derive(Debug)]
pub(in crate::nodes) struct HostIsolation {
    params: IsolationParams,
    table: Table,
}

impl HostIsolation {
    /// `None` if the run isolates no flows.
    pub(in crate::nodes) fn new(plan: Plan<'_>, nics: usize) -> Option<Box<Self>> {
        let params = plan.network.isolation.as_ref()?.params;
        Some(Box::new(Self { params, table: Table::new(nics) }))
    }

    pub(in crate::nodes) const fn queue(&self) -> u8 {
        self.params.queue
    }
}

impl Host {
    /// Handles a message about data that leaves by its NIC.
    pub(in crate::nodes) fn receive_isolation(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        nic: LocalPort,
        message: &Packet,
    ) {
        debug_assert_eq!(message.kind, Kind::Isolation);
        out.counts.isolation_messages_to_hosts += 1;
        let (flow, now) = (message.flow, self.now());
        let Some(isolation) = &mut self.isolation else { return };
        if isolation.params.hosts == IsolationAtHosts::Ignore {
            return;
        }
        let known = isolation.table.find(nic, flow);
        if message.flags & flag::XOFF == 0 {
            if let Some(slot) = known {
                isolation.table[slot].asked = None;
            }
            return;
        }
        if self.pair_of(plan, flow) == PairId::NONE {
            return; // completed, or not RDMA
        }
        let Some(slot) = known.or_else(|| self.isolate(plan, out, nic, flow)) else { return };
        let Some(isolation) = &mut self.isolation else { return };
        isolation.table[slot].asked = Some(now);
        let queue = isolation.params.queue;
        self.send_under(plan, out, flow, queue);
    }

    /// `None` if the NIC's table is full.
    fn isolate(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort, flow: u32) -> Option<u32> {
        let now = self.now();
        let isolation = self.isolation.as_ref()?;
        let places = || isolation.table.places(nic);
        if isolation.params.table.is_some_and(|most| places().count() >= most as usize) {
            // The oldest makes place, as it has no packets here.
            let Some(oldest) = places().next() else {
                out.counts.isolations_refused += 1;
                return None;
            };
            self.end_isolation(plan, out, oldest);
        }
        let (port, wire) = self.port_and_wire(nic);
        let order = Event::new(now, 0, Target::Arrival(wire)).target_code();
        let table = &mut self.isolation.as_mut()?.table;
        out.isolated = out.isolated.min(now);
        Some(table.insert((nic, port, flow), (IsolatedBy::Message, None), (now, order)))
    }

    fn end_isolation(&mut self, plan: Plan<'_>, out: &mut Out, slot: u32) {
        let now = self.now();
        let Some(isolation) = &mut self.isolation else { return };
        let flow = isolation.table[slot].flow;
        isolation.table.remove(slot, now);
        self.send_as_usual(plan, out, flow);
    }

    pub(in crate::nodes) fn sweep_isolated(&mut self, plan: Plan<'_>, out: &mut Out, now: u64) {
        if !self.has_isolated() {
            return;
        }
        self.begin_action(now);
        for slot in self.isolation.as_ref().map_or_else(Vec::new, |isolation| isolation.table.slots()) {
            let Some(isolation) = &self.isolation else { return };
            if isolation.table[slot].asked.is_none_or(|asked| now - asked > isolation.params.age.0) {
                self.end_isolation(plan, out, slot);
            }
        }
    }

    pub(in crate::nodes) fn has_isolated(&self) -> bool {
        self.isolation.as_ref().is_some_and(|isolation| !isolation.table.is_empty())
    }

    /// Table of isolated flows, if the run isolates any.
    pub(in crate::nodes) fn isolation_table(&self) -> Option<&Table> {
        self.isolation.as_ref().map(|isolation| &isolation.table)
    }
}
