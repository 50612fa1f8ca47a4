//! Congestion isolation in the switch (IEEE 802.1Qcz): flows that congest an egress port leave it by a queue of their own, so
//! that others do not wait behind them, here or, through PFC, upstream.
//!
//! Isolation is per flow and egress port. Packets take the priority of isolated flows and keep it on the wire: the next switch
//! counts them under that priority, pauses it alone, and isolates them as well. Messages ([`message`]) ask upstream switches to
//! isolate. Order is kept: isolated packets wait until earlier ones of their flow have left the other queues
//! ([`Network::in_order`]), and a flow is released only when no packet is left.

mod check;
mod message;
mod params;
mod table;

use incast_model::fabric::PortId;
use incast_model::rng::{self, Stream, unit};
use incast_model::units::{Bytes, Rate, Time};

pub use params::{FlowDetection, IsolationAtHosts, IsolationParams, MarkedFlows};
pub(crate) use table::{Map, Table};

use super::SwitchParams;
use crate::kernel::{Event, Kind, NONE, Packet, Target, periodic};
use crate::network::Network;
use crate::outcome::{FoundIn, IsolatedBy, IsolationRecord};

/// In bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thresholds {
    /// Queue length up to which no flow is found.
    pub(crate) from: u32,
    /// Queue length above which a flow is always found.
    pub(crate) always: u32,
    pub(crate) message: u32,
    pub(crate) release: u32,
}

#[derive(Debug)]
pub(crate) struct Isolation {
    pub(crate) params: IsolationParams,
    /// Lossless priorities from which flows are isolated, as bits.
    pub(crate) monitored: u8,
    /// Least `from`, for all queues of a port together.
    pub(crate) calm: u32,
    /// By port.
    pub(crate) thresholds: Vec<Thresholds>,
    table: Table,
    /// By queue ([`Network::at`]): bytes of each flow, with counters.
    counters: Vec<Map<u32, u32>>,
    /// By switch.
    pub(crate) draws: Vec<Stream>,
    sweeping: bool,
}

fn scaled(threshold: Bytes, rate: u64) -> u32 {
    let scaled = u128::from(threshold.0) * u128::from(rate) / u128::from(Rate::gbps(100).0);
    scaled.min(u128::from(u32::MAX)) as u32
}

impl Isolation {
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

    pub(crate) fn into_records(self) -> Vec<IsolationRecord> {
        self.table.records().into_iter().map(|(_, record)| record).collect()
    }

    pub(crate) const fn queue(&self) -> u8 {
        self.params.queue
    }

    #[inline]
    pub(crate) fn marks_only_others(&self, prio: u8) -> bool {
        self.params.mark == MarkedFlows::Isolated && prio != self.params.queue
    }

    /// True if a packet that finds `queued` bytes starts isolation; with marks, at random between the thresholds.
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

/// True for packets that fill queues: the only ones isolated.
#[inline]
const fn is_data(kind: Kind) -> bool {
    matches!(kind, Kind::Data | Kind::Segment)
}

impl Network {
    /// Gives a packet the priority of isolated flows if its flow is isolated at `output`; otherwise looks for flows to isolate.
    #[inline]
    pub(crate) fn isolate_packet(&mut self, switch: u32, input: u32, output: u32, id: u32) {
        let (packet, port) = (&self.pool[id], &self.ports[output as usize]);
        let (flow, prio, size) = (packet.flow, packet.prio, u32::from(packet.size));
        let Some(isolation) = &self.isolation else { return };
        let queue = isolation.params.queue;
        let isolated = prio == queue;
        // Most packets find short queues and nothing isolated, as the port alone shows.
        let calm = !port.noted && port.queued <= isolation.calm;
        if !isolated && (calm || isolation.monitored & 1 << prio == 0) || port.at_server || !is_data(packet.kind) {
            return;
        }
        let slot = match port.noted.then(|| isolation.table.find(output, flow)).flatten() {
            Some(slot) if !isolated && self.may_let_go(slot) => {
                self.end_isolation(slot);
                None
            }
            Some(slot) => Some(slot),
            None if isolated => self.isolate(output, flow, IsolatedBy::Class, None),
            None => None,
        };
        let Some(slot) = slot else { return self.find_congesting(switch, output, id) };
        // Free while a packet is on no wire; saves a lookup when the packet enters its queue and when it leaves.
        self.pool[id].next_rank = slot.into();
        if !isolated {
            self.move_to_isolated(id, queue);
        }
        let now = self.now;
        if let Some(isolation) = &mut self.isolation {
            let entry = &mut isolation.table[slot];
            entry.packets += 1;
            entry.bytes += u64::from(size);
            if isolated {
                entry.quiet_since = now;
            }
        }
        self.tell_upstream(slot, input, size);
    }

    fn move_to_isolated(&mut self, id: u32, queue: u8) {
        let packet = &mut self.pool[id];
        let (old, size) = (std::mem::replace(&mut packet.prio, queue), i64::from(packet.size));
        self.ledger.retagged[usize::from(old)] -= size;
        self.ledger.retagged[usize::from(queue)] += size;
    }

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

    /// Isolates a flow at a port; `found`: priority of the queue in which it was found, if any. `None` if the port's table is
    /// full.
    fn isolate(&mut self, port: u32, flow: u32, by: IsolatedBy, found: Option<u8>) -> Option<u32> {
        if by != IsolatedBy::Class && !self.make_place(port) {
            self.counts.isolations_refused += 1;
            return None;
        }
        let now = self.now;
        let found = found.map(|prio| self.find_in(port, prio, flow));
        let slot = self.isolation.as_mut()?.table.insert((port, PortId(port), flow), (by, found), (now, 0));
        let ahead = self.note_packets_ahead(port, flow, slot);
        self.isolation.as_mut()?.table.set_ahead(slot, ahead);
        self.ports[port as usize].noted = true;
        self.sweep_later();
        Some(slot)
    }

    /// State of the queue in which a flow is found, and of the pause behind it: shows wrong picks. Nothing in a run reads it.
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

    /// True if a port's table has a place, if need be by the release of its oldest flow without packets.
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

    /// Notes the flow's entry in its packets in other queues; returns their number.
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

    /// Counts a packet that has entered (true) or is leaving a switch queue.
    #[inline]
    pub(crate) fn count_isolated(&mut self, port: u32, id: u32, came: bool) {
        if self.ports[port as usize].at_server {
            return;
        }
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

    /// Removes the isolated queue from `eligible` if its first packet would overtake another of its flow.
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

    fn end_isolation(&mut self, slot: u32) {
        let now = self.now;
        let Some(isolation) = &mut self.isolation else { return };
        let (port, flow) = (isolation.table[slot].port, isolation.table[slot].flow);
        let notified = isolation.table.remove(slot, now);
        self.ports[port as usize].noted = self.config.notes_queues || !isolation.table.is_empty_at(port);
        if self.ports[port as usize].at_host {
            self.send_as_usual(flow);
        }
        for (input, _) in notified {
            self.send_isolation(input, flow, false);
        }
    }

    fn sweep_later(&mut self) {
        let now = self.now;
        let Some(isolation) = &mut self.isolation else { return };
        if !isolation.sweeping && !isolation.table.is_empty() {
            isolation.sweeping = true;
            let time = now.saturating_add(isolation.params.hold.0.max(1));
            self.events.push(Event::new(time, 0, Target::Periodic(periodic::ISOLATION)));
        }
    }

    /// Releases flows: those that send nothing would stay in the tables.
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

    /// None up to kmin, all above kmax, linear between, within four standard deviations.
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
