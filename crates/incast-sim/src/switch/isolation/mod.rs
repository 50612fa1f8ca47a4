//! Congestion isolation in the switch (IEEE 802.1Qcz): flows that congest an egress port leave it by a queue of their own, so that
//! others do not wait behind them, here or, by PFC, at the switches before.
//!
//! A flow is isolated at one egress port at a time. Its packets take the priority of isolated flows there and keep it on the wire:
//! the next switch counts them under that priority, pauses it alone, and isolates them in its turn. What the switch before should
//! do is said in a message ([`message`]). Order is kept both ways: packets in the isolated queue wait until those of the same flow
//! have left the other queues ([`Network::in_order`]), and a flow is let go only when none is left behind.

mod check;
mod message;
mod params;
mod table;

use incast_model::fabric::PortId;
use incast_model::rng::{self, Stream, unit};
use incast_model::units::{Bytes, Rate, Time};

pub use params::{FlowDetection, IsolationAtHosts, IsolationParams, MarkedFlows};
use table::{Map, Table};

use super::SwitchParams;
use crate::kernel::{Event, Kind, NONE, Packet, Target, chore};
use crate::network::Network;
use crate::outcome::{FoundIn, IsolatedBy, IsolationRecord};

/// Thresholds of one port in bytes.
#[derive(Debug, Clone, Copy)]
struct Thresholds {
    /// No flow is found up to this length of a queue.
    from: u32,
    /// One is found always above this.
    always: u32,
    message: u32,
    release: u32,
}

/// Congestion isolation at work.
#[derive(Debug)]
pub(crate) struct Isolation {
    params: IsolationParams,
    /// Lossless priorities from which flows are isolated, one bit each.
    monitored: u8,
    /// No flow is found at a port that has no more than this in all its queues: the least of all `from`.
    calm: u32,
    /// By port.
    thresholds: Vec<Thresholds>,
    table: Table,
    /// With counters, by queue ([`Network::at`]): bytes of each flow there.
    counters: Vec<Map<u32, u32>>,
    /// By switch: which flows marks pick.
    draws: Vec<Stream>,
    /// Whether the tables will be looked through.
    sweeping: bool,
}

/// A threshold of a port of `rate`.
fn scaled(threshold: Bytes, rate: u64) -> u32 {
    let scaled = u128::from(threshold.0) * u128::from(rate) / u128::from(Rate::gbps(100).0);
    scaled.min(u128::from(u32::MAX)) as u32
}

impl Isolation {
    /// Empty tables for ports of these rates, and for so many switches.
    pub(crate) fn new(switch: &SwitchParams, rates: &[u64], switches: usize, seed: u64) -> Self {
        let params = switch.isolation;
        let (from, always) = match params.detection {
            FlowDetection::Marks { kmin, kmax, .. } => (kmin, kmax),
            FlowDetection::Counters { above, .. } => (above, above),
        };
        let of_port = |&rate: &u64| Thresholds {
            from: scaled(from, rate),
            always: scaled(always, rate),
            message: scaled(params.message_above, rate),
            release: scaled(params.release_below, rate),
        };
        let thresholds: Vec<Thresholds> = rates.iter().map(of_port).collect();
        Self {
            params,
            monitored: switch.paused_priorities() & !(1 << params.queue),
            calm: thresholds.iter().map(|port| port.from).min().unwrap_or(0),
            thresholds,
            table: Table::new(rates.len()),
            counters: vec![Map::default(); if params.counts_flows() { 8 * rates.len() } else { 0 }],
            draws: (0..switches as u64).map(|switch| rng::stream(seed, "isolation", switch)).collect(),
            sweeping: false,
        }
    }

    /// What was isolated, in order of its begin.
    pub(crate) fn into_records(self) -> Vec<IsolationRecord> {
        self.table.into_records()
    }

    /// The priority of isolated flows.
    pub(crate) const fn queue(&self) -> u8 {
        self.params.queue
    }

    /// Whether ECN does not mark what leaves under `prio`.
    #[inline]
    pub(crate) fn marks_only_others(&self, prio: u8) -> bool {
        self.params.mark == MarkedFlows::Isolated && prio != self.params.queue
    }

    /// By the packet that comes for a queue of this length, whether a flow is to be found; with marks its own.
    #[inline]
    fn is_congested(&mut self, switch: u32, port: u32, queued: u32) -> bool {
        let Thresholds { from, always, .. } = self.thresholds[port as usize];
        if queued <= from {
            return false;
        }
        let FlowDetection::Marks { pmax, .. } = self.params.detection else { return true };
        queued > always
            || unit(&mut self.draws[switch as usize]) < pmax * f64::from(queued - from) / f64::from(always - from)
    }
}

/// Whether packets of this kind are isolated: those that fill queues.
#[inline]
const fn is_data(kind: Kind) -> bool {
    matches!(kind, Kind::Data | Kind::Segment)
}

impl Network {
    /// Gives a packet that came by `input` and leaves by `output` the priority of isolated flows, if its flow is isolated there; finds
    /// flows to isolate by it, if not.
    #[inline]
    pub(crate) fn set_apart(&mut self, switch: u32, input: u32, output: u32, id: u32) {
        let (packet, port) = (&self.pool[id], &self.ports[output as usize]);
        let (flow, prio, size) = (packet.flow, packet.prio, u32::from(packet.size));
        let Some(isolation) = &self.isolation else { return };
        let queue = isolation.params.queue;
        let apart = prio == queue;
        // Most packets find nothing isolated and queues that are short, which the port alone says.
        let calm = !port.noted && port.queued <= isolation.calm;
        if !apart && (calm || isolation.monitored & 1 << prio == 0) || port.at_server || !is_data(packet.kind) {
            return;
        }
        let slot = match port.noted.then(|| isolation.table.find(output, flow)).flatten() {
            Some(slot) if !apart && self.may_let_go(slot) => {
                self.end_isolation(slot);
                None
            }
            Some(slot) => Some(slot),
            None if apart => self.isolate(output, flow, IsolatedBy::Class, None),
            None => None,
        };
        let Some(slot) = slot else { return self.find_congesting(switch, output, id) };
        // Free while a packet is on no wire: spares the lookup when it comes into its queue and leaves it.
        self.pool[id].next_rank = slot.into();
        if !apart {
            self.move_apart(id, queue);
        }
        let now = self.now;
        if let Some(isolation) = &mut self.isolation {
            let entry = &mut isolation.table[slot];
            entry.packets += 1;
            entry.bytes += u64::from(size);
            if apart {
                entry.quiet_since = now;
            }
        }
        self.tell_upstream(slot, input, size);
    }

    fn move_apart(&mut self, id: u32, queue: u8) {
        let packet = &mut self.pool[id];
        let (old, size) = (std::mem::replace(&mut packet.prio, queue), i64::from(packet.size));
        self.ledger.retagged[usize::from(old)] -= size;
        self.ledger.retagged[usize::from(queue)] += size;
    }

    /// A packet of a flow that is not isolated comes for its queue: if that is congested, some flow is isolated from now on.
    fn find_congesting(&mut self, switch: u32, port: u32, id: u32) {
        let prio = self.pool[id].prio;
        let at = self.at(port, prio);
        let (flow, queued) = (self.pool[id].flow, self.queues[at].bytes);
        let Some(isolation) = &mut self.isolation else { return };
        if !isolation.is_congested(switch, port, queued) {
            return;
        }
        match isolation.params.detection {
            FlowDetection::Marks { .. } => {
                if let Some(slot) = self.isolate(port, flow, IsolatedBy::Marks, Some(prio)) {
                    self.pool[id].next_rank = slot.into();
                }
            }
            FlowDetection::Counters { flows, .. } => {
                let mut largest: Vec<(u32, u32)> =
                    isolation.counters[at].iter().map(|(&flow, &bytes)| (bytes, flow)).collect();
                largest.sort_unstable_by_key(|&(bytes, flow)| (std::cmp::Reverse(bytes), flow));
                for (_, one) in largest.into_iter().take(flows as usize) {
                    let isolation = self.isolation.as_ref().expect("as above");
                    if isolation.table.find(port, one).is_none() {
                        let slot = self.isolate(port, one, IsolatedBy::Counters, Some(prio));
                        if let Some(slot) = slot.filter(|_| one == flow) {
                            self.pool[id].next_rank = slot.into();
                        }
                    }
                }
            }
        }
    }

    /// Isolates a flow at a port, found in the queue of a priority if it was found here; `None` if there is no place for it in the
    /// port's table.
    fn isolate(&mut self, port: u32, flow: u32, by: IsolatedBy, found: Option<u8>) -> Option<u32> {
        if by != IsolatedBy::Class && !self.make_place(port) {
            self.counts.isolations_refused += 1;
            return None;
        }
        let now = self.now;
        let found = found.map(|prio| self.find_in(port, prio, flow));
        let slot = self.isolation.as_mut()?.table.insert((port, flow), (by, found), now);
        let ahead = self.note_packets_ahead(port, flow, slot);
        self.isolation.as_mut()?.table.set_ahead(slot, ahead);
        self.ports[port as usize].noted = true;
        self.sweep_later();
        Some(slot)
    }

    /// What a queue that a flow is found in holds, and whether it is long on account of a pause: what tells a wrong pick. Nothing in a
    /// run reads it.
    fn find_in(&self, port: u32, prio: u8, flow: u32) -> FoundIn {
        let at = self.at(port, prio);
        let (mut flows, mut flow_bytes) = (Vec::new(), 0);
        let mut id = self.queues[at].head;
        while id != NONE {
            let packet = &self.pool[id];
            if is_data(packet.kind) {
                flows.push(packet.flow);
                flow_bytes += if packet.flow == flow { u64::from(packet.size) } else { 0 };
            }
            id = packet.next;
        }
        flows.sort_unstable();
        flows.dedup();
        let pause_ago = self.recorder.pause_ago(at, Time(self.now));
        let root = pause_ago.map_or(NONE, |_| self.root_of_pause(port, prio));
        FoundIn {
            flow_bytes,
            queue_bytes: self.queues[at].bytes.into(),
            queue_flows: flows.len() as u32,
            pause_ago,
            root: (root != NONE).then(|| (PortId(root), self.flow_goes_by(root, port, flow))),
        }
    }

    /// Whether a port's table has a place, if need be that of the oldest entry without a packet.
    fn make_place(&mut self, port: u32) -> bool {
        let Some(isolation) = &self.isolation else { return false };
        let table = &isolation.table;
        let Some(most) = isolation.params.table else { return true };
        if table.places(port).count() < most as usize {
            return true;
        }
        let empty = |&slot: &u32| table[slot].ahead == 0 && table[slot].held == 0;
        let Some(oldest) = table.places(port).find(empty) else { return false };
        self.end_isolation(oldest);
        true
    }

    /// Packets of a flow in the queues of a port that are not the isolated one, each with a note now of the flow's entry.
    fn note_packets_ahead(&mut self, port: u32, flow: u32, slot: u32) -> u32 {
        let Some(isolation) = &self.isolation else { return 0 };
        let mut found = 0;
        for prio in (0..8).filter(|prio| isolation.monitored & 1 << prio != 0) {
            let mut id = self.queues[self.at(port, prio)].head;
            while id != NONE {
                let packet = &mut self.pool[id];
                if packet.flow == flow && is_data(packet.kind) {
                    packet.next_rank = slot.into();
                    found += 1;
                }
                id = packet.next;
            }
        }
        found
    }

    /// Keeps count of a packet that has come into (true) or is leaving a queue of a switch.
    #[inline]
    pub(crate) fn count_apart(&mut self, port: u32, id: u32, came: bool) {
        let packet = &self.pool[id];
        let (flow, prio, size) = (packet.flow, packet.prio, u32::from(packet.size));
        let (kind, note, at, now) = (packet.kind, packet.next_rank, self.at(port, prio), self.now);
        let Some(isolation) = &mut self.isolation else { return };
        if !is_data(kind) {
            return;
        }
        let slot = isolation.table.noted(port, flow, note);
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
            if let Some(counters) = isolation.counters.get_mut(at) {
                let bytes = counters.entry(flow).or_default();
                *bytes = if came { *bytes + size } else { *bytes - size };
                if *bytes == 0 {
                    counters.remove(&flow);
                }
            }
        }
    }

    /// Of the queues of a port that may be served, those whose first packet would not overtake another of its flow.
    #[inline(never)]
    pub(crate) fn in_order(&self, port: u32, eligible: u8) -> u8 {
        match &self.isolation {
            Some(isolation) if isolation.table.is_unsettled(port) => {
                let queue = isolation.params.queue;
                let first = || &self.pool[self.queues[self.at(port, queue)].head];
                let noted = |first: &Packet| isolation.table.noted(port, first.flow, first.next_rank);
                let waits =
                    eligible & 1 << queue != 0 && noted(first()).is_some_and(|slot| isolation.table[slot].ahead > 0);
                if waits { eligible & !(1 << queue) } else { eligible }
            }
            _ => eligible,
        }
    }

    /// Whether a flow need not be isolated any more.
    fn may_let_go(&self, slot: u32) -> bool {
        let Some(isolation) = &self.isolation else { return false };
        let (entry, params) = (&isolation.table[slot], &isolation.params);
        let since = |time: u64| self.now - time;
        if entry.asked.is_some_and(|asked| since(asked) <= params.age.0) {
            return false;
        }
        if self.ports[entry.port as usize].at_host {
            return true;
        }
        entry.held == 0
            && entry.ahead == 0
            && since(entry.quiet_since) >= params.hold.0
            && self.monitored_bytes(entry.port) < isolation.thresholds[entry.port as usize].release
    }

    fn monitored_bytes(&self, port: u32) -> u32 {
        let Some(isolation) = &self.isolation else { return 0 };
        let monitored = (0..8).filter(|prio| isolation.monitored & 1 << prio != 0);
        monitored.map(|prio| self.queues[self.at(port, prio)].bytes).sum()
    }

    /// A flow is not isolated any more; those who were told so are told.
    fn end_isolation(&mut self, slot: u32) {
        let now = self.now;
        let Some(isolation) = &mut self.isolation else { return };
        let (port, flow) = (isolation.table[slot].port, isolation.table[slot].flow);
        let told = isolation.table.remove(slot, now);
        self.ports[port as usize].noted = self.config.notes_queues || !isolation.table.is_empty_at(port);
        if self.ports[port as usize].at_host {
            self.send_as_usual(flow);
        }
        for (input, _) in told {
            self.send_isolation(input, flow, false);
        }
    }

    /// Asks for a look through the tables, if none is to come.
    fn sweep_later(&mut self) {
        let now = self.now;
        let Some(isolation) = &mut self.isolation else { return };
        if !isolation.sweeping && !isolation.table.is_empty() {
            isolation.sweeping = true;
            let time = now.saturating_add(isolation.params.hold.0.max(1));
            self.events.push(Event::new(time, 0, Target::Chore(chore::ISOLATION)));
        }
    }

    /// A look through the tables: flows that send nothing would stay in them.
    #[inline(never)]
    pub(crate) fn sweep_isolated(&mut self) {
        let Some(isolation) = &mut self.isolation else { return };
        isolation.sweeping = false;
        for slot in isolation.table.slots() {
            if self.may_let_go(slot) {
                self.end_isolation(slot);
            }
        }
        self.sweep_later();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of packets that find a queue of some length, so many pick their flow as the ramp says: none up to kmin, all above kmax, and
    /// between them a share in proportion, here within four standard deviations of that of so many draws.
    #[test]
    fn marks_pick_by_a_ramp() {
        let (kmin, kmax, pmax) = (Bytes(100_000), Bytes(400_000), 0.2);
        let detection = FlowDetection::Marks { kmin, kmax, pmax };
        let switch = SwitchParams {
            isolation: IsolationParams { enabled: true, detection, ..IsolationParams::default() },
            ..SwitchParams::default()
        };
        let draws = 200_000;
        for (rate, times) in [(100, 1), (400, 4)] {
            let mut isolation = Isolation::new(&switch, &[Rate::gbps(rate).0], 1, 7);
            let mut share = |queued: u32| {
                let picked = (0..draws).filter(|_| isolation.is_congested(0, 0, queued * times)).count();
                picked as f64 / f64::from(draws)
            };
            assert_eq!([0, 50_000, 100_000].map(&mut share), [0.0; 3]);
            assert_eq!([400_001, 1_000_000].map(&mut share), [1.0; 2]);
            for queued in [101_000, 130_000, 200_000, 300_000, 399_000, 400_000] {
                let expected = pmax * f64::from(queued - 100_000) / 300_000.0;
                let deviation = (expected * (1.0 - expected) / f64::from(draws)).sqrt();
                let found = share(queued);
                assert!((found - expected).abs() < 4.0 * deviation, "{queued} B: {found}, not {expected}");
            }
        }
    }
}
