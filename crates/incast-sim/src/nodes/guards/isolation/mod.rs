//! Congestion isolation (IEEE 802.1Qcz): flows that congest an egress port leave it by a queue of their own, so that others do
//! not wait behind them, here or, through PFC, upstream (docs/design/isolation.md).
//!
//! To keep order, isolated packets wait until earlier ones of their flow have left other queues, and a flow is released only
//! when no packet is left.
use crate::kernel::FlowId;

mod find;
mod message;
mod sweep;
mod table;
#[cfg(test)]
mod tests;

use incast_model::fabric::NodeId;
use incast_model::rng::Stream;

pub(in crate::nodes) use sweep::records_in_order;
pub(in crate::nodes) use table::Table;

use super::{Guard, Guards};
use crate::guards::isolation::Thresholds;
use crate::kernel::{IdVec, Kind, LocalPort, NONE, PacketId};
use crate::nodes::map::Map;
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::nodes::switch::Switch;
use crate::outcome::{DropReason, IsolatedBy};
use crate::switch::{IsolationParams, MarkedFlows};

#[derive(Debug)]
pub(in crate::nodes) struct Isolation {
    params: IsolationParams,
    /// A server of VMs isolates nothing.
    serves_vms: bool,
    /// Priorities from which flows are isolated, as bits.
    monitored: u8,
    /// Queue length of a port in bytes up to which no flow is found.
    calm: u32,
    thresholds: IdVec<LocalPort, Thresholds>,
    table: Table,
    /// With counters: bytes of each flow.
    counters: IdVec<LocalPort, [Map<FlowId, u32>; 8]>,
    draws: Stream,
    /// Entry of the packet handled now.
    noted: u32,
}

/// Packets that fill queues: the only ones isolated.
#[inline]
const fn is_data(kind: Kind) -> bool {
    matches!(kind, Kind::Data | Kind::Segment)
}

impl Guard for Isolation {
    const WATCHES_QUEUES: bool = true;

    fn new(plan: Plan<'_>, node: NodeId) -> Option<Self> {
        let all = plan.network.switches.isolation.as_ref()?;
        let ports = || plan.network.fabric.ports_of(node);
        let count = ports().len();
        let serves_vms = ports().any(|port| plan.network.ports[port].at_server);
        Some(Self {
            params: all.params,
            serves_vms,
            monitored: all.monitored,
            calm: all.calm,
            thresholds: ports().map(|port| all.thresholds[port.index()]).collect(),
            table: Table::new(count),
            counters: vec![Default::default(); if all.params.counts_flows() { count } else { 0 }].into(),
            draws: all.draws[node.index()].clone(),
            noted: NONE,
        })
    }

    fn markable(&self) -> u8 {
        match self.params.mark {
            MarkedFlows::All => u8::MAX,
            MarkedFlows::Isolated => 1 << self.params.queue,
        }
    }

    fn routed(
        switch: &mut Switch<Guards>,
        plan: Plan<'_>,
        out: &mut Out,
        port: LocalPort,
        packet: &mut Packet,
    ) -> Option<DropReason> {
        let queued = switch.ports[port].queued;
        let isolation = switch.guards.isolation.as_mut().filter(|isolation| !isolation.serves_vms)?;
        isolation.noted = NONE;
        let queue = isolation.params.queue;
        let isolated = packet.prio == queue;
        // Most packets find short queues and nothing isolated.
        let any = !isolation.table.is_empty_at(port);
        let calm = !any && queued <= isolation.calm;
        if !isolated && (calm || isolation.monitored & 1 << packet.prio == 0) || !is_data(packet.kind) {
            return None;
        }
        let slot = match any.then(|| isolation.table.find(port, packet.flow)).flatten() {
            Some(slot) if !isolated && switch.can_release(slot) => {
                switch.end_isolation(plan, out, slot);
                None
            }
            None if isolated => switch.isolate(plan, out, (port, packet.flow), IsolatedBy::Class, None),
            slot => slot,
        };
        match slot {
            Some(slot) => switch.pass_isolated(plan, out, slot, packet),
            None => switch.find_congesting(plan, out, port, packet),
        }
        None
    }

    fn queued(switch: &mut Switch<Guards>, port: LocalPort, place: PacketId) {
        let Some(isolation) = &switch.guards.isolation else { return };
        switch.slab.set_note(place, isolation.noted);
        switch.count(port, place, true);
    }

    fn dequeued(switch: &mut Switch<Guards>, port: LocalPort, place: PacketId) {
        switch.count(port, place, false);
    }

    /// Removes the isolated queue if its first packet would overtake another of its flow.
    fn eligible(switch: &Switch<Guards>, port: LocalPort, eligible: u8) -> u8 {
        let Some(isolation) = &switch.guards.isolation else { return eligible };
        let queue = isolation.params.queue;
        if eligible & 1 << queue == 0 || !isolation.table.is_unsettled(port) {
            return eligible;
        }
        let head = switch.ports[port].lanes[usize::from(queue & 7)].queue.head;
        let (flow, note) = (switch.slab.get(head).flow, switch.slab.note(head));
        let waits = isolation.table.noted(port, flow, note.into()).is_some_and(|slot| isolation.table[slot].ahead > 0);
        if waits { eligible & !(1 << queue) } else { eligible }
    }
}

impl Isolation {
    fn is_congested(&mut self, port: LocalPort, queued: u32) -> bool {
        self.thresholds[port].pick(self.params.detection, queued, &mut self.draws)
    }
}

impl Switch<Guards> {
    fn isolation(&mut self) -> &mut Isolation {
        self.guards.isolation.as_mut().expect("the run isolates flows")
    }

    fn pass_isolated(&mut self, plan: Plan<'_>, out: &mut Out, slot: u32, packet: &mut Packet) {
        let now = self.now();
        let isolation = self.isolation();
        isolation.noted = slot;
        let queue = isolation.params.queue;
        let entry = &mut isolation.table[slot];
        entry.packets += 1;
        entry.bytes += u64::from(packet.size);
        if packet.prio == queue {
            entry.quiet_since = now;
        } else {
            let (old, size) = (std::mem::replace(&mut packet.prio, queue), i64::from(packet.size));
            out.ledger.retag(old, queue, size);
        }
        self.tell_upstream(plan, out, slot, packet);
    }

    /// `came`: entered a queue; otherwise left.
    fn count(&mut self, port: LocalPort, place: PacketId, came: bool) {
        let now = self.now();
        let (&Packet { kind, flow, prio, size, .. }, note) = (self.slab.get(place), self.slab.note(place));
        let isolation = self.isolation();
        if !is_data(kind) || isolation.serves_vms {
            return;
        }
        let slot = isolation.table.noted(port, flow, note.into());
        if prio == isolation.params.queue {
            let entry = &mut isolation.table[slot.expect("packets in the isolated queue are of isolated flows")];
            if came {
                entry.held += 1;
            } else {
                entry.held -= 1;
                entry.quiet_since = now;
            }
        } else if isolation.monitored & 1 << prio != 0 {
            if let Some(slot) = slot {
                isolation.table.count_ahead(slot, came);
            }
            if let Some(counters) = isolation.counters.get_mut(port) {
                let counters = &mut counters[usize::from(prio & 7)];
                let bytes = counters.entry(flow).or_default();
                *bytes = if came { *bytes + u32::from(size) } else { *bytes - u32::from(size) };
                if *bytes == 0 {
                    counters.remove(&flow);
                }
            }
        }
    }
}
