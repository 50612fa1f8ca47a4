//! Flows that congest a port: found, isolated, released.

use incast_model::units::Time;

use super::super::Guards;
use super::is_data;
use crate::kernel::{Event, FlowId, LocalPort, Target};
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::nodes::switch::Switch;
use crate::outcome::{FoundIn, IsolatedBy};
use crate::plan::Network;
use crate::switch::FlowDetection;

impl Switch<Guards> {
    /// Isolates the packet's flow, or the largest in its queue, if the queue is long.
    pub(super) fn find_congesting(&mut self, plan: Plan<'_>, out: &mut Out, port: LocalPort, packet: &Packet) {
        let (prio, flow) = (packet.prio, packet.flow);
        let queued = self.ports[port].lanes[usize::from(prio & 7)].queue.bytes;
        let isolation = self.isolation();
        if !isolation.is_congested(port, queued) {
            return;
        }
        match isolation.params.detection {
            FlowDetection::Marks { .. } => {
                if let Some(slot) = self.isolate(plan, out, (port, flow), IsolatedBy::Marks, Some(prio)) {
                    self.isolation().noted = slot;
                }
            }
            FlowDetection::Counters { flows, .. } => {
                let counters = &isolation.counters[port][usize::from(prio & 7)];
                let mut largest: Vec<(u32, FlowId)> = counters.iter().map(|(&flow, &bytes)| (bytes, flow)).collect();
                largest.sort_unstable_by_key(|&(bytes, flow)| (std::cmp::Reverse(bytes), flow));
                for (_, one) in largest.into_iter().take(flows as usize) {
                    if self.isolation().table.find(port, one).is_none() {
                        let slot = self.isolate(plan, out, (port, one), IsolatedBy::Counters, Some(prio));
                        if let Some(slot) = slot.filter(|_| one == flow) {
                            self.isolation().noted = slot;
                        }
                    }
                }
            }
        }
    }

    /// `found`: priority of the queue in which it was found. `None` if the port's table is full.
    pub(super) fn isolate(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        (port, flow): (LocalPort, FlowId),
        by: IsolatedBy,
        found: Option<u8>,
    ) -> Option<u32> {
        if by != IsolatedBy::Class && !self.make_place(plan, out, port) {
            out.counts.isolations_refused += 1;
            return None;
        }
        let now = self.now();
        let found = found.map(|prio| self.find_in(plan.network, port, prio, flow));
        let number = self.ports[port].number;
        let wire = out.inward[self.clock.line];
        let order = Event::new(now, 0, Target::Arrival(wire)).target_code();
        let slot = self.isolation().table.insert((port, number, flow), (by, found), (now, order));
        let ahead = self.note_packets_ahead(port, flow, slot);
        self.isolation().table.set_ahead(slot, ahead);
        out.shared.isolated = out.shared.isolated.min(now);
        Some(slot)
    }

    /// State of the queue and of the pause behind it: shows wrong picks. Nothing in a run reads it.
    fn find_in(&self, network: &Network, port: LocalPort, prio: u8, flow: FlowId) -> FoundIn {
        let queue = &self.ports[port].lanes[usize::from(prio & 7)].queue;
        let data = || self.slab.list(queue.head).filter(|packet| is_data(packet.kind));
        let mut flows: Vec<FlowId> = data().map(|packet| packet.flow).collect();
        flows.sort_unstable();
        flows.dedup();
        let (pauses, number) = (self.pauses[port][usize::from(prio & 7)], self.ports[port].number);
        FoundIn {
            flow_bytes: data().filter(|packet| packet.flow == flow).map(|packet| u64::from(packet.size)).sum(),
            queue_bytes: queue.bytes.into(),
            queue_flows: flows.len() as u32,
            pause_ago: match pauses.since {
                Some(_) => Some(Time::ZERO),
                None => pauses.ended.map(|ended| Time(self.now() - ended)),
            },
            root: pauses.root.map(|root| (root, network.flow_goes_by(root, number, flow))),
        }
    }

    /// True if a port's table has a place, if need be by release of its oldest flow without packets.
    fn make_place(&mut self, plan: Plan<'_>, out: &mut Out, port: LocalPort) -> bool {
        let isolation = self.isolation();
        let table = &isolation.table;
        let Some(most) = isolation.params.table else { return true };
        if table.places(port).count() < most as usize {
            return true;
        }
        let empty = |&slot: &u32| table[slot].ahead == 0 && table[slot].held == 0;
        let Some(oldest) = table.places(port).find(empty) else { return false };
        self.end_isolation(plan, out, oldest);
        true
    }

    /// Notes the flow's entry in its packets in other queues; returns their number.
    fn note_packets_ahead(&mut self, port: LocalPort, flow: FlowId, slot: u32) -> u32 {
        let monitored = self.isolation().monitored;
        let mut found = 0;
        for prio in (0..8).filter(|prio| monitored & 1 << prio != 0) {
            let head = self.ports[port].lanes[prio].queue.head;
            found += self.slab.note_list(head, slot, |packet| packet.flow == flow && is_data(packet.kind));
        }
        found
    }

    pub(super) fn can_release(&self, slot: u32) -> bool {
        let Some(isolation) = &self.guards.isolation else { return false };
        let (entry, params) = (&isolation.table[slot], &isolation.params);
        let since = |time: u64| self.now() - time;
        if entry.asked.is_some_and(|asked| since(asked) <= params.age.0) {
            return false;
        }
        let lanes = &self.ports[entry.port].lanes;
        let monitored = (0..8).filter(|prio| isolation.monitored & 1 << prio != 0);
        entry.held == 0
            && entry.ahead == 0
            && since(entry.quiet_since) >= params.hold.0
            && monitored.map(|prio| lanes[prio].queue.bytes).sum::<u32>() < isolation.thresholds[entry.port].release
    }

    pub(super) fn end_isolation(&mut self, plan: Plan<'_>, out: &mut Out, slot: u32) {
        let now = self.now();
        let isolation = self.isolation();
        let flow = isolation.table[slot].flow;
        for (input, _) in isolation.table.remove(slot, now) {
            let sent = self.send_isolation(plan, out, input, flow, false);
            self.isolation().table.record_mut(slot).messages += u32::from(sent);
        }
    }
}
