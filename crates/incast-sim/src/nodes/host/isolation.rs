//! Hosts that react to isolation messages: they send the flow's RDMA data under the priority of isolated flows.

use super::Host;
use crate::kernel::{Event, FlowId, Kind, LocalPort, PairId, Target, flag};
use crate::nodes::guards::Table;
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::outcome::IsolatedBy;
use crate::switch::{IsolationAtHosts, IsolationParams};

#[derive(Debug)]
pub(in crate::nodes) struct HostIsolation {
    params: IsolationParams,
    table: Table,
}

impl HostIsolation {
    /// `None` without isolation.
    pub(in crate::nodes) fn new(plan: Plan<'_>, nics: usize) -> Option<Box<Self>> {
        let params = plan.network.switches.isolation.as_ref()?.params;
        Some(Box::new(Self { params, table: Table::new(nics) }))
    }

    pub(in crate::nodes) const fn queue(&self) -> u8 {
        self.params.queue
    }
}

impl Host {
    /// The message is about data that leaves by its NIC.
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
    fn isolate(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort, flow: FlowId) -> Option<u32> {
        let now = self.now();
        let isolation = self.isolation.as_ref()?;
        let places = || isolation.table.places(nic);
        if isolation.params.table.is_some_and(|most| places().count() >= most as usize) {
            // The oldest makes place: it has no packets here.
            let Some(oldest) = places().next() else {
                out.counts.isolations_refused += 1;
                return None;
            };
            self.end_isolation(plan, out, oldest);
        }
        let (port, wire) = self.port_and_wire(nic);
        let order = Event::new(now, 0, Target::Arrival(wire)).target_code();
        let table = &mut self.isolation.as_mut()?.table;
        out.shared.isolated = out.shared.isolated.min(now);
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

    pub(in crate::nodes) fn isolation_table(&self) -> Option<&Table> {
        self.isolation.as_ref().map(|isolation| &isolation.table)
    }
}

#[cfg(test)]
mod tests {
    use crate::nodes::bench::Frame::{Isolate, Release};
    use crate::nodes::bench::{Bench, flow};
    use crate::switch::IsolationAtHosts;

    #[test]
    fn a_message_moves_a_flow_to_the_isolated_priority_if_the_host_obeys() {
        for (hosts, prios) in [(IsolationAtHosts::Ignore, [3; 4]), (IsolationAtHosts::Isolate, [3, 3, 2, 2])] {
            let mut bench = Bench::host(0, &[flow(0, 1, 4)], |setup| {
                let switch = &mut setup.params.switch;
                switch.lossless = vec![2, 3];
                (switch.isolation.enabled, switch.isolation.hosts) = (true, hosts);
            });
            bench.put(0, &[(150, Isolate(0)), (250, Release(0))]);
            bench.run(5000);
            let sent: Vec<u8> = bench.packets(0).iter().map(|sent| sent.prio).collect();
            assert_eq!((&sent[..], bench.counts().isolation_messages_to_hosts), (&prios[..], 2));
            // The request is withdrawn, so the next sweep releases the flow.
            assert_eq!(bench.host_under_test().has_isolated(), hosts == IsolationAtHosts::Isolate);
            bench.at_host(|host, plan, out| host.sweep_isolated(plan, out, 5_000_000));
            assert!(!bench.host_under_test().has_isolated());
        }
    }
}
