//! Sending side of queue pairs.

use std::cmp::Reverse;

use incast_model::fabric::PortId;
use incast_model::units::Time;

use super::Host;
use crate::balance::backlog;
use crate::congestion::{Ack, Controller, State, WindowMode};
use crate::host::PacketParams;
use crate::host::selective::{Flight, Repeat, came};
use crate::kernel::{Kind, LocalPort, NONE, PairId, flag};
use crate::measure::RateSample;
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::plan::{Plan, Route};
use crate::nodes::run::{ANY, NS3, has_extras};
use crate::ns3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairState {
    Idle,
    Paced,
    Ready,
}

/// Flow at its sender, from start to end.
#[derive(Debug)]
pub(super) struct Pair {
    /// [`NONE`] in an unused place.
    pub(super) flow: u32,
    /// Own number here, and at the receiver.
    at_src: u32,
    at_dst: u32,
    dst: u32,
    pub(super) prio: u8,
    pub(super) state: PairState,
    pub(super) nic: LocalPort,
    /// [`flag`] bits of its data packets.
    flags: u8,
    pub(super) moves_next_send: bool,
    mode: WindowMode,
    pub(super) size: u64,
    pub(super) next: u64,
    pub(super) una: u64,
    pub(super) high: u64,
    pub(super) next_avail: u64,
    /// Earliest time to send, if ready or paced.
    pub(super) placed_at: u64,
    last_size: u64,
    rate: u64,
    window: u64,
    own_window: u64,
    timer: u64,
    timeout: u64,
    cc: State,
}

impl Pair {
    /// In `ns3` arithmetic `next` can be behind `una`: the difference wraps and a window binds, as in ns-3.
    #[inline]
    pub(super) fn may_send(&self) -> bool {
        self.next < self.size && self.next.wrapping_sub(self.una) < self.window
    }
}

impl Pair {
    pub(super) fn next_size(&self, packets: &PacketParams) -> u64 {
        packets.data_size(packets.payload.0.min(self.size - self.next), self.flags)
    }

    const fn flight(&self) -> Flight {
        Flight { una: self.una, high: self.high }
    }
}

/// As in [`crate::outcome::FlowRecord`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Progress {
    pub(super) start: Option<Time>,
    pub(super) finish: Option<Time>,
    /// Arrival of the last byte of a flow without a size.
    pub(super) delivered: Option<Time>,
    pub(super) acked: u64,
    pub(super) packets: u64,
    pub(super) retransmitted: u64,
    pub(super) marks: u64,
    pub(super) nacks: u32,
    pub(super) timeouts: u32,
}

impl Host {
    pub(super) fn start<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, own: u32) {
        let network = plan.network;
        let flow = self.flows[own as usize];
        let spec = &network.flows.flows[flow as usize];
        let control = &network.hosts.controls[plan.control(flow)];
        let nic = self.first_nic(plan, flow);
        let mut cc = control.control.start(&self.nics[nic].context);
        cc.on_path(network.records[flow as usize].hops);
        let pair = Pair {
            flow,
            at_src: own,
            at_dst: plan.layout.at_dst[flow as usize],
            dst: spec.dst.0,
            prio: spec.priority,
            state: PairState::Idle,
            nic,
            flags: control.flags | if spec.path.is_some() { flag::PATH } else { 0 },
            moves_next_send: control.moves_next_send,
            mode: control.window,
            size: spec.size.0,
            next: 0,
            una: 0,
            high: 0,
            next_avail: 0,
            placed_at: 0,
            last_size: 0,
            rate: 0,
            window: 0,
            own_window: 0,
            timer: u64::MAX,
            timeout: u64::MAX,
            cc,
        };
        let place = match self.free.pop() {
            Some(place) => {
                self.pairs[place] = pair;
                place
            }
            None => self.pairs.push(pair),
        };
        if self.rules.is_some() {
            self.repeats.extend_to(place, Repeat::default);
            self.repeats[place] = Repeat::default();
        }
        self.pair_of[own as usize] = place;
        self.progress[own as usize].start = Some(Time(self.now));
        self.apply_control::<RUN>(out, place);
        if RUN == NS3 {
            self.nics[nic].reference.add(own);
        } else {
            self.place(place);
        }
        self.kick::<RUN>(plan, out, nic);
    }

    /// The first NIC without a route.
    pub(super) fn first_nic(&mut self, plan: Plan<'_>, flow: u32) -> LocalPort {
        if self.nics.len() == 1 {
            return LocalPort(0);
        }
        let spec = &plan.network.flows.flows[flow as usize];
        let flags = if spec.path.is_some() { flag::PATH } else { 0 };
        let port = match plan.route(self.node, &Packet { flow, dst: spec.dst.0, flags, ..Packet::EMPTY }) {
            Route::Port(port) => Some(port),
            Route::Several(hops) => self.balance(plan, hops, (flow, spec.dst.0)),
            Route::None => None,
        };
        port.map_or(LocalPort(0), |port| plan.layout.local(self.node, port))
    }

    fn balance(&mut self, plan: Plan<'_>, hops: &[PortId], (flow, dst): (u32, u32)) -> Option<PortId> {
        let backlog = |port: PortId| {
            let nic = &self.nics[plan.layout.local(self.node, port)];
            backlog((self.now, nic.busy_until), nic.queued, nic.rate)
        };
        let packet = (self.now, self.node, dst, flow, false);
        Some(plan.network.routing.balance(self.balancer.as_mut()?, hops, packet, &backlog))
    }

    /// Time between starts of packets at `rate` (bit/s).
    #[inline]
    fn pacing_gap<const RUN: u8>(&self, bytes: u64, rate: u64) -> u64 {
        if RUN == NS3 {
            return ns3::serialisation(bytes, rate);
        }
        ((bytes + self.packets.gap.0) * 8_000_000_000_000).div_ceil(rate)
    }

    pub(super) fn send_data<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, place: PairId) {
        let rto = self.rto();
        let pair = &mut self.pairs[place];
        let payload = self.packets.payload.0.min(pair.size - pair.next);
        let size = self.packets.data_size(payload, pair.flags);
        let packet = Packet {
            seq: pair.next,
            stamp: self.now,
            flow: pair.flow,
            dst: pair.dst,
            at_dst: pair.at_dst,
            size: size as u16,
            payload: payload as u16,
            kind: Kind::Data,
            prio: pair.prio,
            flags: pair.flags,
            ..Packet::EMPTY
        };
        let progress = &mut self.progress[pair.at_src as usize];
        progress.packets += 1;
        let (seq, again) = (pair.next, pair.next < pair.high);
        progress.retransmitted += u64::from(again);
        pair.next += payload;
        pair.high = pair.high.max(pair.next);
        pair.last_size = size;
        let rate = pair.rate;
        if let Some(rules) = self.rules.as_ref().filter(|_| has_extras(RUN)) {
            let (repeat, flight) = (&mut self.repeats[place], pair.flight());
            (pair.next, pair.timeout) = repeat.sent(rules, self.now, flight, (seq, again));
        } else if pair.timeout == u64::MAX {
            pair.timeout = self.now.saturating_add(rto);
        }
        out.inject(packet.prio, size);
        let nic = &mut self.nics[pair.nic];
        nic.transmit::<RUN>(plan, out, self.now, &packet);
        let line = (rate == nic.rate).then_some(nic.busy_until);
        let next = line.unwrap_or_else(|| self.now + self.pacing_gap::<RUN>(size, rate));
        let pair = &mut self.pairs[place];
        pair.next_avail = next;
        pair.cc.on_sent(size, Time(self.now));
        if has_extras(RUN) && pair.next >= self.demotion.0 {
            self.demote(place);
        }
        self.apply_control::<RUN>(out, place);
    }

    #[inline]
    fn rto(&self) -> u64 {
        self.rdma.rto.map_or(u64::MAX, |rto| rto.0)
    }

    pub(super) fn receive_ack<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, packet: &Packet) {
        let place = self.pair_of[packet.own_flow() as usize];
        if place == PairId::NONE {
            return; // of a flow that has completed
        }
        if RUN == NS3
            && let Some(rand) = &mut out.ns3().rand
        {
            rand.next(); // ns-3 draws for every ACK
        }
        let nack = packet.kind == Kind::Nack;
        let rto = self.rto();
        let pair = &mut self.pairs[place];
        let progress = &mut self.progress[packet.own_flow() as usize];
        progress.nacks += u32::from(nack);
        progress.marks += u64::from(packet.flags & flag::ECHO != 0);
        let first = pair.una == 0;
        let advanced = packet.seq > pair.una;
        if advanced {
            out.progress.acked += packet.seq - pair.una;
            progress.acked = packet.seq;
            pair.una = packet.seq;
            if RUN != NS3 {
                // ns-3 resends acknowledged bytes after it went back.
                pair.next = pair.next.max(pair.una);
            }
            pair.timeout = self.now.saturating_add(rto);
        }
        let nic = pair.nic;
        let done = pair.una >= pair.size;
        if RUN == NS3 {
            self.react_in_ns3(plan, out, place, packet, first);
        }
        if done {
            self.complete::<RUN>(plan, out, place);
        } else if RUN != NS3 {
            let pair = &mut self.pairs[place];
            let next = if let Some(rules) = self.rules.as_ref().filter(|_| has_extras(RUN)) {
                let came = came(nack, packet.seq, packet.gap(), self.packets.payload.0);
                let (repeat, flight) = (&mut self.repeats[place], pair.flight());
                (pair.next, pair.timeout) = repeat.heard(rules, self.now, flight, (came, advanced, pair.timeout));
                pair.high
            } else {
                if nack {
                    pair.next = pair.una;
                }
                if pair.next == pair.una {
                    pair.timeout = u64::MAX;
                }
                pair.next
            };
            self.react::<RUN>(plan, out, place, packet, next);
            self.place(place);
        }
        self.kick::<RUN>(plan, out, nic);
    }

    /// The last ACK counts too, and can move the NIC's wake-up. The `first` ACK changes no rate in ns-3, not even to the same
    /// one.
    fn react_in_ns3(&mut self, plan: Plan<'_>, out: &mut Out, place: PairId, packet: &Packet, first: bool) {
        let pair = &mut self.pairs[place];
        if packet.kind == Kind::Nack && pair.una < pair.size {
            pair.next = pair.una;
        }
        if pair.next == pair.una {
            pair.timeout = u64::MAX;
        }
        let next = pair.next;
        self.react::<NS3>(plan, out, place, packet, next);
        if !first {
            self.hasten_reference(out, place);
        }
    }

    fn react<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, place: PairId, packet: &Packet, next: u64) {
        let pair = &mut self.pairs[place];
        let records = usize::from(packet.records).min(plan.layout.records);
        pair.cc.on_ack(&Ack {
            now: Time(self.now),
            seq: packet.seq,
            next,
            marked: packet.flags & flag::ECHO != 0,
            nack: packet.kind == Kind::Nack,
            rtt: Time(self.now - packet.stamp),
            int: &out.carried.records[..records],
            pint: if packet.records == 0 { 0 } else { out.carried.records[0].pint() },
            flow: &self.nics[pair.nic].context,
            rates: &plan.network.rates,
        });
        self.apply_control::<RUN>(out, place);
    }

    pub(super) fn receive_cnp<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, packet: &Packet) {
        let place = self.pair_of[packet.own_flow() as usize];
        if place != PairId::NONE {
            self.progress[packet.own_flow() as usize].marks += 1;
            let pair = &mut self.pairs[place];
            pair.cc.on_cnp(Time(self.now));
            let nic = pair.nic;
            self.apply_control::<RUN>(out, place);
            if RUN != NS3 {
                self.place(place);
            }
            self.kick::<RUN>(plan, out, nic);
        }
    }

    pub(super) fn timer<const RUN: u8>(&mut self, plan: Plan<'_>, out: &mut Out, own: u32) {
        if !self.is_rdma(own) {
            return self.transport_timer::<RUN>(plan, out, own);
        }
        let place = self.pair_of[own as usize];
        if place == PairId::NONE || self.pairs[place].timer != self.now {
            return;
        }
        let now = Time(self.now);
        let pair = &mut self.pairs[place];
        pair.timer = u64::MAX;
        if pair.cc.next_timer() <= now {
            pair.cc.on_timer(now);
        }
        if pair.timeout <= self.now {
            pair.next = pair.una;
            pair.timeout = u64::MAX;
            pair.cc.on_timeout(now);
            self.progress[own as usize].timeouts += 1;
            if let Some(rules) = &self.rules {
                self.repeats[place].recover(rules, pair.flight());
            }
        }
        let nic = pair.nic;
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
            pair.prio = self.demotion.1;
        }
    }

    pub(in crate::nodes) fn pair_of(&self, plan: Plan<'_>, flow: u32) -> PairId {
        self.pair_of[plan.layout.at_src[flow as usize] as usize]
    }

    /// Returns data to the priority of its class.
    pub(in crate::nodes) fn send_as_usual(&mut self, plan: Plan<'_>, out: &mut Out, flow: u32) {
        let place = self.pair_of(plan, flow);
        if place != PairId::NONE {
            let (limit, elephants) = self.demotion;
            let demoted = self.pairs[place].high >= limit;
            let usual = plan.network.flows.flows[flow as usize].priority;
            self.send_under(plan, out, flow, if demoted { elephants } else { usual });
        }
    }

    pub(in crate::nodes) fn send_under(&mut self, plan: Plan<'_>, out: &mut Out, flow: u32, prio: u8) {
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
        let pair = &self.pairs[place];
        let (rate, own_window, timer) = pair.cc.answers();
        if rate != pair.rate || own_window != pair.own_window {
            let context = &self.nics[pair.nic].context;
            let window = match pair.mode {
                WindowMode::Off => self.in_flight,
                WindowMode::Fixed => context.bdp,
                WindowMode::Rate => (u128::from(context.bdp) * u128::from(rate) / u128::from(context.line.0)) as u64,
            };
            let shift = if pair.moves_next_send && rate != pair.rate && pair.last_size > 0 {
                self.pacing_gap::<RUN>(pair.last_size, rate) as i64
                    - self.pacing_gap::<RUN>(pair.last_size, pair.rate) as i64
            } else {
                0
            };
            let answered = match self.rdma.ack_every {
                1 => 1,
                packets => u64::from(packets) * context.mtu,
            };
            let pair = &mut self.pairs[place];
            pair.rate = rate;
            pair.own_window = own_window;
            pair.window = window.min(own_window).max(answered);
            pair.next_avail = pair.next_avail.saturating_add_signed(shift);
        }
        let pair = &mut self.pairs[place];
        let wanted = timer.0.min(pair.timeout);
        if wanted < pair.timer {
            pair.timer = wanted;
            let time = wanted.max(self.now);
            if RUN == NS3 {
                out.ns3().set_timer(pair.flow, time);
            } else {
                self.timers.push(Reverse((time, pair.at_src)));
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
        pair.flow = NONE;
        let own = pair.at_src as usize;
        self.pair_of[own] = PairId::NONE;
        if pair.state != PairState::Ready {
            self.free.push(place);
        } // else ready, as after an early timeout: free when its turn comes
        self.progress[own].finish = Some(Time(self.now));
        out.progress.done += 1;
        self.pass_gates(plan, out, true, own as u32);
    }

    /// True if completed, or if an ACK of its last byte arrives before `end`.
    pub(in crate::nodes) fn completes_before(&self, plan: Plan<'_>, out: &Out, own: u32, end: u64) -> bool {
        if self.progress[own as usize].finish.is_some() {
            return true;
        }
        if !self.is_rdma(own) {
            return self.transport_completes_before(plan, out, own, end);
        }
        let place = self.pair_of[own as usize];
        place != PairId::NONE && {
            let size = self.pairs[place].size;
            let wires = self.nics.iter().map(|nic| &out.wires[nic.line]);
            let arriving = wires.flat_map(|wire| wire.packets().take_while(|(time, _)| *time < end));
            let mut acks = arriving.filter(|(_, packet)| matches!(packet.kind, Kind::Ack | Kind::Nack));
            acks.any(|(_, packet)| packet.own_flow() == own && packet.seq >= size)
        }
    }

    pub(in crate::nodes) fn samples(&self, time: Time) -> impl Iterator<Item = RateSample> {
        let live = self.pairs.iter().filter(|pair| pair.flow != NONE);
        let pairs = live.map(move |pair| RateSample {
            time,
            flow: pair.flow,
            rate: pair.rate,
            window: pair.window,
            acked: pair.una,
        });
        // Other transports send at the speed of the link.
        pairs.chain(self.transport_flows().map(move |(own, window)| RateSample {
            time,
            flow: self.flows[own as usize],
            rate: self.transport_rate(own),
            window,
            acked: self.progress[own as usize].acked,
        }))
    }

    /// True if a flow waits only for its pacing.
    pub(in crate::nodes) fn is_paced(&self) -> bool {
        self.pairs.iter().any(|pair| pair.flow != NONE && pair.may_send() && pair.next_avail > self.now)
    }

    pub(in crate::nodes) fn has_starts(&self) -> bool {
        self.next_start < self.flows.len() || self.gates.as_ref().is_some_and(|gates| !gates.coming.is_empty())
    }
}
