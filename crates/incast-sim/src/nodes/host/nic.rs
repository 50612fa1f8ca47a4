//! NICs, with the rules of `host/nic.rs`.

use incast_model::fabric::PortId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::failed::Hold;
use super::pair::PairState;
use super::reference::ReferenceNic;
use super::{Host, PRIORITIES};
use crate::congestion::FlowContext;
use crate::host::{RdmaParams, Turns};
use crate::kernel::{FlowId, Line, LocalPort, PairId};
use crate::nodes::calendar::Woken;
use crate::nodes::lane::Queue;
use crate::nodes::out::Out;
use crate::nodes::packet::{Packet, Stamp};
use crate::nodes::plan::{Plan, PortPlan};
use crate::nodes::run::{NS3, has_extras, has_transports};
use crate::plan::{Network, Sending};
use crate::switch::{RANKED_QUEUE, RankedQueue, Rule, Served};

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
    plan: PortPlan,
    woken: Woken,
    /// Port in the fabric, and number and place of the wire that ends there.
    pub(super) port: PortId,
    pub(super) wire: PortId,
    pub(super) rate: u64,
    /// Extra times, with jitter.
    jitter: Option<Box<Sending>>,
    pub(super) context: FlowContext,
    /// Empty before the first PFC storm.
    pub(super) holds: Vec<Hold>,
    pair_served: bool,
    /// ACKs and CNPs of RDMA, whose data waits in queue pairs; all packets of other transports.
    pub(super) queues: [Queue; PRIORITIES],
    /// In place of all queues but priority 0.
    pub(super) ranked: RankedQueue,
    rule: Rule,
    pub(super) turns: [Turns; PRIORITIES],
    /// Turns of data, and priority of the last control packet.
    served: Served,
    /// Outdated entries are skipped.
    pub(super) paced: BinaryHeap<Reverse<(u64, FlowId, PairId)>>,
    /// In place of turns and `due` in `ns3` arithmetic.
    pub(super) reference: ReferenceNic,
}

impl Nic {
    pub(super) fn new(plan: Plan<'_>, port: PortId) -> Self {
        let network = plan.network;
        let state = &network.ports[port];
        Self {
            port,
            wire: state.peer,
            line: plan.layout.ports[state.peer].line,
            plan: plan.layout.ports[port],
            jitter: network.jitter.as_ref().and_then(|jitter| jitter.of_port(port)).map(Box::new),
            woken: Woken::default(),
            rate: network.rates[usize::from(state.rate)],
            context: network.context(port),
            busy_until: 0,
            queued: 0,
            waiting: 0,
            paused: 0,
            down: false,
            holds: Vec::new(),
            pair_served: false,
            queues: [Queue::EMPTY; PRIORITIES],
            ranked: RankedQueue::default(),
            rule: network.rule,
            turns: Default::default(),
            ready: 0,
            served: Served::default(),
            last_control: 0,
            paced: BinaryHeap::new(),
            due: u64::MAX,
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
        let size = u64::from(packet.size);
        let (sent, free) = plan.ends::<RUN>(self.port, &self.plan, now, size);
        let queue = &mut self.queues[usize::from(packet.prio & 7)];
        queue.tx_bytes += size;
        queue.tx_packets += 1;
        self.busy_until = free;
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
    }
}

impl Host {
    #[inline]
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
        } else if let Some(&Reverse((time, ..))) = state.paced.peek() {
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
        let queue = &mut state.queues[usize::from(prio)];
        queue.peak = queue.peak.max(size);
        state.last_control = class;
        self.leave::<RUN>(plan, out, packet);
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
        let state = &mut self.nics[nic];
        state.pair_served = !state.pair_served;
        state.pair_served
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
        self.nics[nic].turns[prio].served(self.pairs[pair].flow);
        Some(pair)
    }

    #[inline]
    fn choose(&mut self, nic: LocalPort, eligible: u8) -> u8 {
        let state = &mut self.nics[nic];
        if !state.rule.is_drr() {
            return state.rule.choose_simply(eligible, &mut state.served.last);
        }
        let (rule, waiting, mut served) = (state.rule, state.ready, state.served);
        let prio = rule.choose_drr(eligible, waiting, &mut served, |prio| self.ready_size(nic, prio));
        self.nics[nic].served = served;
        prio
    }

    fn ready_size(&self, nic: LocalPort, prio: u8) -> u32 {
        let Some(first) = self.nics[nic].turns[usize::from(prio)].first() else { return 0 };
        self.pairs[first].next_size(&self.params.packets) as u32
    }

    fn drop_bound(&mut self, nic: LocalPort, prio: usize) {
        while let Some(place) = self.nics[nic].turns[prio].first() {
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
        let state = &mut self.nics[nic];
        let place = state.turns[prio].pop()?;
        if state.turns[prio].is_empty() {
            state.ready &= !(1 << prio);
        }
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
        let nic = &mut self.nics[pair.nic];
        nic.turns[prio].remove(flow);
        if nic.turns[prio].is_empty() {
            nic.ready &= !(1 << prio);
        }
    }

    fn release_paced(&mut self, nic: LocalPort) {
        while let Some(&Reverse((time, flow, place))) = self.nics[nic].paced.peek()
            && time <= self.now
        {
            self.nics[nic].paced.pop();
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
                nic.paced.push(Reverse((time, flow, place)));
            }
            return;
        }
        pair.state = PairState::Ready;
        pair.placed_at = time.max(self.now);
        nic.turns[prio].push(flow, place);
        nic.ready |= 1 << prio;
    }
}
