//! NICs, with the rules of `host/nic.rs`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use incast_model::fabric::PortId;

use super::failed::Hold;
use super::link::Link;
use super::pair::PairState;
use super::queue::Stored;
use super::reference::ReferenceNic;
use super::{Host, PRIORITIES};
use crate::host::{RdmaParams, Turns};
use crate::kernel::{FlowId, Line, LocalPort, PairId};
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::nodes::run::{NS3, has_extras, has_transports};
use crate::plan::Network;
use crate::switch::{RANKED_QUEUE, Rule, Served};

#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Nic {
    /// Next service; [`u64::MAX`]: none before something changes.
    pub(super) due: u64,
    pub(super) busy_until: u64,
    pub(super) line: Line,
    pub(super) queued: u32,
    pub(super) waiting: u8,
    pub(super) paused: u8,
    ready: u8,
    pub(super) down: bool,
    last_control: u8,
    pub(super) link: Link,
    /// Empty before the first PFC storm.
    pub(super) holds: Vec<Hold>,
    pub(super) stored: Stored,
    rule: Rule,
    pub(super) data: DataTurns,
    /// In place of turns and `due` in `ns3` arithmetic.
    pub(super) reference: ReferenceNic,
}

#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct DataTurns {
    pub(super) turns: [Turns; PRIORITIES],
    served: Served,
    /// Outdated entries are skipped.
    pub(super) paced: BinaryHeap<Reverse<(u64, FlowId, PairId)>>,
    pair_served: bool,
}

impl Nic {
    pub(super) fn new(plan: Plan<'_>, port: PortId) -> Self {
        let link = Link::new(plan, port);
        Self {
            due: u64::MAX,
            busy_until: 0,
            line: plan.layout.ports[link.wire].line,
            queued: 0,
            waiting: 0,
            paused: 0,
            ready: 0,
            down: false,
            last_control: 0,
            link,
            holds: Vec::new(),
            stored: Stored::default(),
            rule: plan.network.switches.rule,
            data: DataTurns::default(),
            reference: ReferenceNic::default(),
        }
    }

    #[inline]
    pub(super) const fn eligible_control(&self, rdma: &RdmaParams) -> u8 {
        let paused = if rdma.acks_ignore_pause { 0 } else { self.paused };
        self.waiting & (!paused | 1)
    }

    #[inline(always)]
    pub(super) fn transmit<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, now: u64, packet: &Packet) {
        let queue = &mut self.stored.queues[usize::from(packet.prio & 7)];
        queue.tx_bytes += u64::from(packet.size);
        queue.tx_packets += 1;
        self.busy_until = self.link.send::<RUN>(plan, out, now, packet);
    }

    fn pop_ready(&mut self, prio: usize) -> Option<PairId> {
        let place = self.data.turns[prio].pop()?;
        if self.data.turns[prio].is_empty() {
            self.ready &= !(1 << prio);
        }
        Some(place)
    }

    fn push_ready(&mut self, prio: usize, flow: FlowId, place: PairId) {
        self.data.turns[prio].push(flow, place);
        self.ready |= 1 << prio;
    }

    fn remove_ready(&mut self, prio: usize, flow: FlowId) {
        self.data.turns[prio].remove(flow);
        if self.data.turns[prio].is_empty() {
            self.ready &= !(1 << prio);
        }
    }

    fn take_turn_of_pairs(&mut self) -> bool {
        self.data.pair_served = !self.data.pair_served;
        self.data.pair_served
    }
}

impl Host {
    #[inline(always)]
    pub(in crate::nodes) fn kick<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort) {
        if RUN == NS3 {
            return self.kick_reference(plan, out, nic);
        }
        let state = &mut self.nics[nic];
        if state.busy_until <= self.now {
            self.serve::<RUN>(plan, out, nic);
        } else {
            state.due = state.due.min(state.busy_until);
        }
    }

    #[inline(never)]
    fn serve<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort) {
        let queued = self.nics[nic].eligible_control(&self.params.rdma);
        if has_transports(RUN)
            && self.params.mixed
            && self.is_turn_of_pairs(nic, queued)
            && self.send_of_pairs::<RUN>(plan, out, nic)
        {
            // Served.
        } else if queued != 0 {
            self.send_queued::<RUN>(plan, out, nic, queued);
        } else if !has_transports(RUN) || !self.send_pulled::<RUN>(plan, out, nic) {
            self.send_of_pairs::<RUN>(plan, out, nic);
        }
        self.plan_service::<RUN>(nic);
    }

    #[inline(always)]
    fn plan_service<const RUN: u8>(&mut self, nic: LocalPort) {
        let pulls = has_transports(RUN) && self.may_pull(nic);
        let state = &mut self.nics[nic];
        let free = state.busy_until;
        if state.eligible_control(&self.params.rdma) != 0 || state.ready & !state.paused != 0 || pulls {
            if free > self.now {
                state.due = state.due.min(free);
            }
        } else if let Some(&Reverse((time, ..))) = state.data.paced.peek() {
            state.due = state.due.min(time.max(free));
        }
    }

    /// Returns false if a queue of the idle port is not empty.
    #[inline(always)]
    pub(super) fn send_at_once<const RUN: u8>(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        nic: LocalPort,
        packet: &Packet,
    ) -> bool {
        let (prio, size) = (packet.prio & 7, u32::from(packet.size));
        let class = if self.params.ranks && prio != 0 { RANKED_QUEUE } else { prio };
        let state = &mut self.nics[nic];
        let paused = if self.params.rdma.acks_ignore_pause { 0 } else { state.paused & !1 };
        if has_extras(RUN)
            || self.params.mixed
            || state.busy_until > self.now
            || state.waiting != 0
            || paused & 1 << class != 0
            || size > self.params.least_buffer
        {
            return false;
        }
        let queue = &mut state.stored.queues[usize::from(prio)];
        queue.peak = queue.peak.max(size);
        state.last_control = class;
        if has_transports(RUN) && self.transports.is_some() {
            self.leave::<RUN>(plan, out, packet);
        }
        self.nics[nic].transmit::<RUN>(plan, out, self.now, packet);
        self.plan_service::<RUN>(nic);
        true
    }

    #[inline]
    fn send_of_pairs<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort) -> bool {
        let Some(pair) = self.next_ready(nic) else { return false };
        self.send_data::<RUN>(plan, out, pair);
        self.place(pair);
        true
    }

    pub(super) fn send_queued<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, nic: LocalPort, eligible: u8) {
        let state = &mut self.nics[nic];
        let prio = state.rule.choose_control(eligible, state.last_control);
        state.last_control = prio;
        let packet = self.dequeue::<RUN>(out, nic, prio);
        if has_transports(RUN) && self.transports.is_some() {
            self.leave::<RUN>(plan, out, &packet);
        }
        self.nics[nic].transmit::<RUN>(plan, out, self.now, &packet);
    }

    fn is_turn_of_pairs(&mut self, nic: LocalPort, queued: u8) -> bool {
        self.release_paced(nic);
        let state = &self.nics[nic];
        let ready = state.ready & !state.paused;
        if ready == 0 || (0..8).any(|prio| queued & 1 << prio != 0 && !self.begins_with_data(nic, prio)) {
            return false;
        }
        if state.rule.is_strict() && queued != 0 && ready.leading_zeros() != queued.leading_zeros() {
            return ready > queued;
        }
        self.nics[nic].take_turn_of_pairs()
    }

    #[inline]
    fn next_ready(&mut self, nic: LocalPort) -> Option<PairId> {
        self.release_paced(nic);
        let state = &self.nics[nic];
        let mut unseen = state.ready & !state.paused;
        while unseen != 0 {
            self.drop_bound(nic, unseen.trailing_zeros() as usize);
            unseen &= unseen - 1;
        }
        let state = &self.nics[nic];
        let eligible = state.ready & !state.paused;
        if eligible == 0 {
            return None;
        }
        let prio = usize::from(self.choose(nic, eligible) & 7);
        let pair = self.pop_ready(nic, prio)?;
        self.nics[nic].data.turns[prio].served(self.pairs[pair].flow);
        Some(pair)
    }

    #[inline]
    fn choose(&mut self, nic: LocalPort, eligible: u8) -> u8 {
        let state = &mut self.nics[nic];
        if !state.rule.is_drr() {
            return state.rule.choose_simply(eligible, &mut state.data.served.last);
        }
        let (rule, waiting, mut served) = (state.rule, state.ready, state.data.served);
        let prio = rule.choose_drr(eligible, waiting, &mut served, |prio| self.ready_size(nic, prio));
        self.nics[nic].data.served = served;
        prio
    }

    fn ready_size(&self, nic: LocalPort, prio: u8) -> u32 {
        let Some(first) = self.nics[nic].data.turns[usize::from(prio)].first() else { return 0 };
        self.pairs[first].next_size(&self.params.packets) as u32
    }

    fn drop_bound(&mut self, nic: LocalPort, prio: usize) {
        while let Some(place) = self.nics[nic].data.turns[prio].first() {
            let pair = &self.pairs[place];
            let live = pair.flow != FlowId::NONE;
            if live && pair.may_send() && pair.next_avail <= self.now {
                return;
            }
            self.pop_ready(nic, prio);
            if live {
                self.place(place);
            } else {
                self.pairs.release(place);
            }
        }
    }

    fn pop_ready(&mut self, nic: LocalPort, prio: usize) -> Option<PairId> {
        let place = self.nics[nic].pop_ready(prio)?;
        self.pairs[place].state = PairState::Idle;
        Some(place)
    }

    pub(super) fn take_from_turns(&mut self, network: &Network, place: PairId) {
        if self.pairs[place].state != PairState::Ready {
            return;
        }
        self.end_pair_wait(network, place);
        let pair = &mut self.pairs[place];
        pair.state = PairState::Idle;
        let (prio, flow) = (usize::from(pair.prio & 7), pair.flow);
        self.nics[pair.nic].remove_ready(prio, flow);
    }

    fn release_paced(&mut self, nic: LocalPort) {
        while let Some(&Reverse((time, flow, place))) = self.nics[nic].data.paced.peek()
            && time <= self.now
        {
            self.nics[nic].data.paced.pop();
            let pair = &mut self.pairs[place];
            if pair.flow == flow && pair.state == PairState::Paced && pair.next_avail == time {
                pair.state = PairState::Idle;
                self.place(place);
            }
        }
    }

    pub(super) fn place(&mut self, place: PairId) {
        let pair = &mut self.pairs[place];
        if pair.state == PairState::Ready {
            return;
        }
        if !pair.may_send() {
            pair.state = PairState::Idle;
            return;
        }
        let (time, flow, prio) = (pair.next_avail, pair.flow, usize::from(pair.prio & 7));
        let nic = &mut self.nics[pair.nic];
        if time > self.now.max(nic.busy_until) {
            if pair.state != PairState::Paced || pair.placed_at != time {
                pair.state = PairState::Paced;
                pair.placed_at = time;
                nic.data.paced.push(Reverse((time, flow, place)));
            }
            return;
        }
        pair.state = PairState::Ready;
        pair.placed_at = time.max(self.now);
        nic.push_ready(prio, flow, place);
    }
}
