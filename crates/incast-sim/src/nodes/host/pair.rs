//! Sending side of queue pairs.

use incast_model::fabric::PortId;
use incast_model::units::Time;

use super::Host;
use super::control::Controlled;
use crate::balance::backlog;
use crate::congestion::{Ack, Controller};
use crate::host::PacketParams;
use crate::host::selective::{Flight, came};
use crate::kernel::{FlowId, Kind, LocalPort, PairId, ReceivedId, SentId, Word, flag};
use crate::measure::RateSample;
use crate::nodes::out::Out;
use crate::nodes::packet::{Extent, Packet};
use crate::nodes::plan::{Plan, Route};
use crate::nodes::run::{ANY, NS3, has_extras};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairState {
    Idle,
    Paced,
    Ready,
}

/// Flow at its sender, from start to end.
#[derive(Debug)]
pub(super) struct Pair {
    /// [`FlowId::NONE`] in an unused place.
    pub(super) flow: FlowId,
    at_src: SentId,
    at_dst: ReceivedId,
    dst: u32,
    pub(super) prio: u8,
    pub(super) state: PairState,
    pub(super) nic: LocalPort,
    /// [`flag`] bits of its data packets.
    flags: u8,
    pub(super) stream: Stream,
    pub(super) next_avail: u64,
    /// Earliest time to send, if ready or paced.
    pub(super) placed_at: u64,
    timer: u64,
    timeout: u64,
    pub(super) control: Controlled,
}

impl Pair {
    /// In `ns3` arithmetic `next` can be behind `una`: the difference wraps and a window binds, as in ns-3.
    #[inline]
    pub(super) fn may_send(&self) -> bool {
        let Stream { size, next, una, .. } = self.stream;
        next < size && next.wrapping_sub(una) < self.control.window
    }

    pub(super) fn next_size(&self, packets: &PacketParams) -> u64 {
        packets.data_size(packets.payload.0.min(self.stream.size - self.stream.next), self.flags)
    }
}

/// Positions in the bytes of a flow.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Stream {
    pub(super) size: u64,
    pub(super) next: u64,
    pub(super) una: u64,
    pub(super) high: u64,
}

impl Stream {
    const fn flight(&self) -> Flight {
        Flight { una: self.una, high: self.high }
    }

    /// Returns the first byte, and true for a retransmission.
    #[inline]
    fn send(&mut self, payload: u64) -> (u64, bool) {
        let (seq, again) = (self.next, self.next < self.high);
        self.next += payload;
        self.high = self.high.max(self.next);
        (seq, again)
    }
}

impl Host {
    pub(super) fn start<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, own: SentId) {
        let network = plan.network;
        let flow = self.flows.ids[own];
        let spec = network.flow(flow);
        let control = &network.hosts.controls[plan.control(flow)];
        let nic = self.first_nic(plan, flow);
        let hops = network.records[flow].hops;
        let pair = Pair {
            flow,
            at_src: own,
            at_dst: plan.layout.at_dst[flow],
            dst: spec.dst.0,
            prio: spec.priority,
            state: PairState::Idle,
            nic,
            flags: control.flags | if spec.path.is_some() { flag::PATH } else { 0 },
            stream: Stream { size: spec.size.0, next: 0, una: 0, high: 0 },
            next_avail: 0,
            placed_at: 0,
            timer: u64::MAX,
            timeout: u64::MAX,
            control: Controlled::new(control, &self.nics[nic].link.context, hops),
        };
        let place = self.pairs.insert(pair, self.params.rules.is_some());
        self.flows.pair_of[own] = place;
        self.flows.progress[own].start = Some(Time(self.now));
        self.apply_control::<RUN>(out, place);
        if RUN == NS3 {
            self.nics[nic].reference.add(own);
        } else {
            self.place(place);
        }
        self.kick::<RUN>(plan, out, nic);
    }

    /// The first NIC without a route.
    pub(super) fn first_nic(&mut self, plan: Plan<'_>, flow: FlowId) -> LocalPort {
        if self.nics.len() == 1 {
            return LocalPort(0);
        }
        let spec = plan.network.flow(flow);
        let flags = if spec.path.is_some() { flag::PATH } else { 0 };
        let port = match plan.route(self.params.node, &Packet { flow, dst: spec.dst.0, flags, ..Packet::EMPTY }) {
            Route::Port(port) => Some(port),
            Route::Several(hops) => self.balance(plan, hops, (flow, spec.dst.0)),
            Route::None => None,
        };
        port.map_or(LocalPort(0), |port| plan.layout.local(self.params.node, port))
    }

    fn balance(&mut self, plan: Plan<'_>, hops: &[PortId], (flow, dst): (FlowId, u32)) -> Option<PortId> {
        let backlog = |port: PortId| {
            let nic = &self.nics[plan.layout.local(self.params.node, port)];
            backlog((self.now, nic.busy_until), nic.queued, nic.link.rate)
        };
        let packet = (self.now, self.params.node, dst, flow, false);
        Some(plan.network.routing.balance(self.balancer.as_mut()?, hops, packet, backlog))
    }

    pub(super) fn send_data<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, place: PairId) {
        let rto = self.params.rto();
        let pair = &mut self.pairs[place];
        let payload = self.params.packets.payload.0.min(pair.stream.size - pair.stream.next);
        let size = self.params.packets.data_size(payload, pair.flags);
        let packet = Packet {
            seq: pair.stream.next,
            word: Word::sent_at(self.now),
            flow: pair.flow,
            dst: pair.dst,
            at_dst: pair.at_dst.into(),
            size: size as u16,
            extent: Extent::payload(payload),
            kind: Kind::Data,
            prio: pair.prio,
            flags: pair.flags,
            ..Packet::EMPTY
        };
        let progress = &mut self.flows.progress[pair.at_src];
        progress.packets += 1;
        let (seq, again) = pair.stream.send(payload);
        progress.retransmitted += u64::from(again);
        pair.control.last_size = size;
        let (number, rate) = (pair.nic, pair.control.rate);
        if let Some(rules) = self.params.rules.as_ref().filter(|_| has_extras(RUN)) {
            let (pair, repeat) = self.pairs.with_repeat(place);
            let flight = pair.stream.flight();
            (pair.stream.next, pair.timeout) = repeat.sent(rules, self.now, flight, (seq, again));
        } else if pair.timeout == u64::MAX {
            pair.timeout = self.now.saturating_add(rto);
        }
        out.inject(packet.prio, size);
        let nic = &mut self.nics[number];
        nic.transmit::<RUN>(plan, out, self.now, &packet);
        let line = (rate == nic.link.rate).then_some(nic.busy_until);
        let next = line.unwrap_or_else(|| self.now + self.params.pacing_gap::<RUN>(size, rate));
        let pair = &mut self.pairs[place];
        pair.next_avail = next;
        pair.control.cc.on_sent(size, Time(self.now));
        if has_extras(RUN) && pair.stream.next >= self.params.demotion.0 {
            self.demote(place);
        }
        self.apply_control::<RUN>(out, place);
    }

    pub(super) fn receive_ack<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, packet: &Packet) {
        let own = packet.sent_flow();
        let place = self.flows.pair_of[own];
        if place == PairId::NONE {
            return; // of a flow that has completed
        }
        // ns-3 draws for every ACK (HandleAckHpPint).
        let draw = if RUN == NS3 { out.ns3().rand.as_mut().map(|rand| rand.next() as u16) } else { None };
        let nack = packet.kind == Kind::Nack;
        let rto = self.params.rto();
        let pair = &mut self.pairs[place];
        let progress = &mut self.flows.progress[own];
        progress.nacks += u32::from(nack);
        progress.marks += u64::from(packet.flags & flag::ECHO != 0);
        let advanced = packet.seq > pair.stream.una;
        if advanced {
            out.progress.acked += packet.seq - pair.stream.una;
            progress.acked = packet.seq;
            pair.stream.una = packet.seq;
            if RUN != NS3 {
                // ns-3 resends acknowledged bytes after it went back.
                pair.stream.next = pair.stream.next.max(pair.stream.una);
            }
            pair.timeout = self.now.saturating_add(rto);
        }
        let nic = pair.nic;
        let done = pair.stream.una >= pair.stream.size;
        if RUN == NS3 {
            self.react_in_ns3(plan, out, place, (packet, draw));
        }
        if done {
            self.complete::<RUN>(plan, out, place);
        } else if RUN != NS3 {
            let pair = &mut self.pairs[place];
            let (next, lost) = if let Some(rules) = self.params.rules.as_ref().filter(|_| has_extras(RUN)) {
                let came = came(nack, packet.seq, packet.gap(), self.params.packets.payload.0);
                let (pair, repeat) = self.pairs.with_repeat(place);
                let flight = pair.stream.flight();
                let heard = repeat.heard(rules, self.now, flight, (came, advanced, pair.timeout));
                (pair.stream.next, pair.timeout) = (heard.next, heard.timeout);
                (pair.stream.high, heard.lost)
            } else {
                if nack {
                    pair.stream.next = pair.stream.una;
                }
                if pair.stream.next == pair.stream.una {
                    pair.timeout = u64::MAX;
                }
                (pair.stream.next, nack)
            };
            self.react::<RUN>(plan, out, place, (packet, None), (next, lost));
            self.place(place);
        }
        self.kick::<RUN>(plan, out, nic);
    }

    /// The last ACK counts too, and can move the NIC's wake-up. `draw`: see [`Ack::draw`].
    fn react_in_ns3(&mut self, plan: Plan<'_>, out: &mut Out, place: PairId, (packet, draw): (&Packet, Option<u16>)) {
        let pair = &mut self.pairs[place];
        if packet.kind == Kind::Nack && pair.stream.una < pair.stream.size {
            pair.stream.next = pair.stream.una;
        }
        if pair.stream.next == pair.stream.una {
            pair.timeout = u64::MAX;
        }
        let next = pair.stream.next;
        self.react::<NS3>(plan, out, place, (packet, draw), (next, packet.kind == Kind::Nack));
        if self.pairs[place].control.cc.has_set_rate() {
            self.hasten_reference(out, place);
        }
    }

    /// Next byte to be sent; if true, the packet reports a loss.
    fn react<const RUN: u8>(
        &mut self,
        plan: Plan<'_>,
        out: &mut Out,
        place: PairId,
        (packet, draw): (&Packet, Option<u16>),
        (next, lost): (u64, bool),
    ) {
        let pair = &mut self.pairs[place];
        let int = out.carried.records(packet.records);
        pair.control.cc.on_ack(&Ack {
            now: Time(self.now),
            seq: packet.seq,
            next,
            marked: packet.flags & flag::ECHO != 0,
            lost,
            rtt: Time(packet.word.since(self.now)),
            int,
            pint: int.first().map_or(0, |record| record.pint()),
            draw,
            flow: &self.nics[pair.nic].link.context,
            rates: &plan.network.rates,
        });
        self.apply_control::<RUN>(out, place);
    }

    pub(super) fn receive_cnp<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, packet: &Packet) {
        let own = packet.sent_flow();
        let place = self.flows.pair_of[own];
        if place != PairId::NONE {
            self.flows.progress[own].marks += 1;
            let pair = &mut self.pairs[place];
            pair.control.cc.on_cnp(Time(self.now));
            let nic = pair.nic;
            self.apply_control::<RUN>(out, place);
            if RUN != NS3 {
                self.place(place);
            }
            self.kick::<RUN>(plan, out, nic);
        }
    }

    pub(super) fn timer<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, own: SentId) {
        if !self.is_rdma(own) {
            return self.transport_timer::<RUN>(plan, out, own);
        }
        let place = self.flows.pair_of[own];
        if place == PairId::NONE || self.pairs[place].timer != self.now {
            return;
        }
        let now = Time(self.now);
        let pair = &mut self.pairs[place];
        let nic = pair.nic;
        pair.timer = u64::MAX;
        if pair.control.cc.next_timer() <= now {
            pair.control.cc.on_timer(now);
        }
        if pair.timeout <= self.now {
            pair.stream.next = pair.stream.una;
            pair.timeout = u64::MAX;
            pair.control.cc.on_timeout(now);
            self.flows.progress[own].timeouts += 1;
            let flight = pair.stream.flight();
            if let Some(rules) = &self.params.rules {
                let (_, repeat) = self.pairs.with_repeat(place);
                repeat.recover(rules, flight);
            }
        }
        self.apply_control::<RUN>(out, place);
        // In ns-3, a control's timer does not wake the NIC.
        if RUN != NS3 {
            self.place(place);
            self.kick::<RUN>(plan, out, nic);
        }
    }

    /// Does nothing if its switch has isolated it.
    #[cold]
    fn demote(&mut self, place: PairId) {
        let pair = &mut self.pairs[place];
        if self.isolation.as_ref().is_none_or(|isolation| isolation.queue() != pair.prio) {
            pair.prio = self.params.demotion.1;
        }
    }

    pub(in crate::nodes) fn pair_of(&self, plan: Plan<'_>, flow: FlowId) -> PairId {
        self.flows.pair_of[plan.layout.at_src[flow]]
    }

    /// Returns data to the priority of its class.
    pub(in crate::nodes) fn send_as_usual(&mut self, plan: Plan<'_>, out: &mut Out, flow: FlowId) {
        let place = self.pair_of(plan, flow);
        if place != PairId::NONE {
            let (limit, elephants) = self.params.demotion;
            let demoted = self.pairs[place].stream.high >= limit;
            let usual = plan.network.flow(flow).priority;
            self.send_under(plan, out, flow, if demoted { elephants } else { usual });
        }
    }

    pub(in crate::nodes) fn send_under(&mut self, plan: Plan<'_>, out: &mut Out, flow: FlowId, prio: u8) {
        let place = self.pair_of(plan, flow);
        if place == PairId::NONE || self.pairs[place].prio == prio {
            return;
        }
        self.take_from_turns(plan.network, place);
        let pair = &mut self.pairs[place];
        pair.prio = prio;
        let nic = pair.nic;
        self.place(place);
        self.kick::<ANY>(plan, out, nic);
    }

    #[inline]
    fn apply_control<const RUN: u8>(&mut self, out: &mut Out, place: PairId) {
        let pair = &mut self.pairs[place];
        let (rate, own_window, timer) = pair.control.cc.answers();
        if rate != pair.control.rate || own_window != pair.control.own_window {
            let context = &self.nics[pair.nic].link.context;
            let shift = pair.control.adopt::<RUN>(&self.params, context, (rate, own_window));
            pair.next_avail = pair.next_avail.saturating_add_signed(shift);
        }
        // A timeout that becomes shorter, as fewer packets are in flight, may be over already.
        let wanted = timer.0.min(pair.timeout).max(self.now);
        if wanted < pair.timer {
            pair.timer = wanted;
            if RUN == NS3 {
                out.ns3().set_timer(pair.flow, wanted);
            } else {
                self.timers.push(wanted, pair.at_src);
            }
        }
    }

    fn complete<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, place: PairId) {
        if self.pairs[place].state == PairState::Ready {
            self.end_pair_wait(plan.network, place);
        }
        let pair = &mut self.pairs[place];
        if RUN == NS3 {
            out.ns3().completed = Some(pair.flow);
        }
        pair.flow = FlowId::NONE;
        let own = pair.at_src;
        self.flows.pair_of[own] = PairId::NONE;
        if pair.state != PairState::Ready {
            self.pairs.release(place);
        } // else ready, as after an early timeout: free when its turn comes
        self.flows.progress[own].finish = Some(Time(self.now));
        out.progress.done += 1;
        self.flows.pass_acked(plan, out, self.now, own);
    }

    /// True if the flow is under way and, with RDMA, all its bytes have been sent.
    pub(in crate::nodes) fn awaits_completion(&self, own: SentId) -> bool {
        if !self.is_rdma(own) {
            return true;
        }
        let place = self.flows.pair_of[own];
        place != PairId::NONE && self.pairs[place].stream.high == self.pairs[place].stream.size
    }

    /// True if completed, or if an ACK of its last byte arrives before `end`.
    pub(in crate::nodes) fn completes_before(&self, plan: Plan<'_>, out: &Out, own: SentId, end: u64) -> bool {
        if self.flows.progress[own].finish.is_some() {
            return true;
        }
        if !self.is_rdma(own) {
            return self.transport_completes_before(plan, out, own, end);
        }
        self.awaits_completion(own) && {
            let size = self.pairs[self.flows.pair_of[own]].stream.size;
            let wires = self.nics.iter().map(|nic| &out.wires[nic.line]);
            let arriving = wires.flat_map(|wire| wire.packets().take_while(|(time, _)| *time < end));
            let mut acks = arriving.filter(|(_, packet)| matches!(packet.kind, Kind::Ack | Kind::Nack));
            acks.any(|(_, packet)| packet.sent_flow() == own && packet.seq >= size)
        }
    }

    pub(in crate::nodes) fn samples(&self, time: Time) -> impl Iterator<Item = RateSample> {
        let pairs = self.pairs.under_way().map(move |pair| RateSample {
            time,
            flow: pair.flow.0,
            rate: pair.control.rate,
            window: pair.control.window,
            acked: pair.stream.una,
        });
        // Other transports send at the speed of the link, UDP perhaps at its own.
        pairs.chain(self.transport_flows().map(move |(own, window)| RateSample {
            time,
            flow: self.flows.ids[own].0,
            rate: self.transport_rate(own),
            window,
            acked: self.flows.progress[own].acked,
        }))
    }

    /// True if a flow waits only for its pacing.
    pub(in crate::nodes) fn is_paced(&self) -> bool {
        self.pairs.under_way().any(|pair| pair.may_send() && pair.next_avail > self.now)
    }
}
