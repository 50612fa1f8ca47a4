//! pHost (Gao et al., "pHost: Distributed Near-Optimal Datacenter Transport Over Commodity Network Fabric", CoNEXT 2015).
//!
//! A receiver issues at most one token per packet time to announced flows, for one packet soon. Short flows begin with free
//! tokens. An idle port sends for one of its flows with tokens. One ACK ends a flow.

mod order;
mod params;
mod receiver;
mod source;

use crate::kernel::{IdVec, Kind, LocalPort, ReceivedId, SentId, Word};
pub use params::{PhostHold, PhostOrder, PhostParams};
use receiver::{Inbound, Pacer, Times};
use source::{Holders, Source, Token};

use super::stack::{Incoming, Outgoing, Stack, To};
use super::{ByFlow, Endpoint, Job, Scope};

/// Announcements in a row until the waiting time stays at 2^6 times `retry`.
const MOST_DOUBLINGS: u32 = 6;

#[derive(Debug)]
pub(crate) struct Phost {
    params: PhostParams,
    sources: ByFlow<SentId, Source>,
    inbound: ByFlow<ReceivedId, Inbound>,
    holders: IdVec<LocalPort, Holders>,
    pacers: IdVec<LocalPort, Pacer>,
}

impl Endpoint for Phost {
    type Params = PhostParams;

    const REPORTS_ARRIVALS: bool = false;

    fn new(params: &PhostParams, scope: Scope) -> Self {
        Self {
            params: params.clone(),
            sources: ByFlow::new(scope.sent),
            inbound: ByFlow::new(scope.received),
            holders: (0..scope.nics).map(|_| Holders::default()).collect(),
            pacers: (0..scope.nics).map(|_| Pacer::default()).collect(),
        }
    }

    fn start(&mut self, stack: &mut impl Stack, own: SentId) {
        let packets = stack.packets_sent(own);
        let times = self.times(stack, stack.nic_of(own));
        let (count, free) = (packets.count(), self.params.free(packets.count()));
        let mut source = Source::new(packets);
        let expiry = stack.now() + free * times.packet + (self.params.token_life * times.packet as f64) as u64;
        for number in 0..free {
            source.add(Token { expiry, seq: number * packets.mss, number: number as u32 });
        }
        self.sources.insert(own, source);
        if free > 0 {
            self.hold_token(stack, own, count);
        }
        self.announce(stack, own);
    }

    fn receive(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        match packet.kind {
            Kind::Rts => {
                self.learn_of(stack, packet);
                self.confirm(stack, packet);
            }
            Kind::Token => self.receive_token(stack, packet),
            Kind::Segment => self.receive_segment(stack, packet),
            _ => self.receive_ack(stack, packet),
        }
    }

    fn timer(&mut self, stack: &mut impl Stack, own: SentId) {
        if let Some(source) = self.sources.get_mut(own) {
            source.tries += 1;
            stack.count_timeout(own);
            self.announce(stack, own);
        }
    }

    fn task(&mut self, stack: &mut impl Stack, nic: LocalPort, _job: Job) {
        let times = self.times(stack, nic);
        let pacer = &mut self.pacers[nic];
        if pacer.due != stack.now() {
            return;
        }
        let granted = pacer.tick(&mut self.inbound, stack.now(), &self.params, &times);
        if pacer.due != u64::MAX {
            stack.plan(nic, pacer.due, Job::Token);
        }
        if let Some(grant) = granted {
            let mut packet = stack.control(Kind::Token, self.params.control_priority);
            packet.seq = grant.seq;
            packet.word = Word::with_token(grant.number as u32, grant.left);
            stack.send(To::Sender(grant.flow, nic), packet);
        }
    }

    fn pull(&mut self, stack: &mut impl Stack, nic: LocalPort, paused: u8) -> Option<(SentId, Outgoing)> {
        let holders = &mut self.holders[nic];
        loop {
            let own = holders.first()?;
            let source = self.sources.get_mut(own).expect("flows that hold tokens are under way");
            let prio = self.params.data_priority(source.packets.count(), stack.sent(own).priority);
            if paused & 1 << prio != 0 {
                return None;
            }
            let Some((segment, number)) = source.next_packet(stack.now()) else {
                holders.take_out(source);
                continue;
            };
            holders.served();
            let sent_all = source.has_sent_all();
            let mut packet = stack.segment(own, segment);
            packet.word = Word::with_token(number, 0);
            packet.prio = prio;
            if sent_all {
                self.wait_for_answer(stack, own);
            }
            return Some((own, packet));
        }
    }

    fn may_pull(&self, nic: LocalPort) -> bool {
        self.holders[nic].first().is_some()
    }

    fn may_end(&self, own: SentId, _end: u64, mut acks: impl Iterator<Item = u64>) -> bool {
        self.sources.get(own).is_none() || acks.next().is_some()
    }

    fn flows(&self) -> impl Iterator<Item = (SentId, u64)> {
        self.sources.iter().map(|(own, _)| (own, u64::MAX))
    }
}

impl Phost {
    fn times(&self, stack: &impl Stack, nic: LocalPort) -> Times {
        let packet = stack.wire_time(nic, stack.full_size());
        let times = |number: f64| (packet as f64 * number).round() as u64;
        Times { packet, reissue: times(self.params.reissue_after), pass_over: times(self.params.downgrade_for) }
    }

    fn announce(&mut self, stack: &mut impl Stack, own: SentId) {
        self.wait_for_answer(stack, own);
        let packet = stack.control(Kind::Rts, self.params.control_priority);
        stack.send(To::Receiver(own), packet);
    }

    fn wait_for_answer(&self, stack: &mut impl Stack, own: SentId) {
        if let Some(source) = self.sources.get(own) {
            let patience = self.params.retry.0 << source.tries.min(MOST_DOUBLINGS);
            stack.set_timer(own, stack.now() + patience);
        }
    }

    /// `left`: packets missing at the receiver.
    fn hold_token(&mut self, stack: &impl Stack, own: SentId, left: u64) {
        let label = stack.sent(own).label;
        let Some(source) = self.sources.get_mut(own) else { return };
        source.left = left;
        let (label, key) = match self.params.order {
            PhostOrder::Srpt => (0, left),
            PhostOrder::Fifo => (0, 0),
            PhostOrder::LabelFair => (label, left),
        };
        self.holders[stack.nic_of(own)].put(own, label, source, key);
    }

    fn receive_token(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        let own = packet.sent_flow();
        let Some(source) = self.sources.get_mut(own) else { return };
        let nic = stack.nic_of(own);
        let (number, left) = (packet.word.token(), packet.word.packets_left());
        let packet_time = stack.wire_time(nic, stack.full_size());
        let expiry = stack.now() + (self.params.token_life * packet_time as f64) as u64;
        source.tries = 0;
        source.add(Token { expiry, seq: packet.seq, number });
        self.hold_token(stack, own, left);
        stack.set_timer(own, u64::MAX);
        stack.kick(nic);
    }

    fn learn_of(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        let (own, nic) = (packet.received_flow(), packet.nic);
        if stack.is_delivered(own) || self.inbound.get(own).is_some() {
            return;
        }
        let (times, packets, label) = (self.times(stack, nic), stack.packets_received(own), stack.received(own).label);
        let pacer = &mut self.pacers[nic];
        let known = (&self.params, &times);
        if let Some(time) = pacer.announce(&mut self.inbound, (own, label), packets, stack.now(), known) {
            stack.plan(nic, time, Job::Token);
        }
    }

    fn confirm(&self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        let own = packet.received_flow();
        if stack.is_delivered(own) {
            let answer = stack.control(Kind::SegmentAck, self.params.control_priority);
            stack.send(To::Sender(own, packet.nic), answer);
        }
    }

    fn receive_segment(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        let own = packet.received_flow();
        self.learn_of(stack, packet);
        let Some(inbound) = self.inbound.get_mut(own) else {
            stack.count_discarded(own);
            return self.confirm(stack, packet);
        };
        let new = inbound.take(packet.seq, packet.payload, packet.word.token().into());
        let whole = inbound.is_whole();
        if new {
            self.pacers[packet.nic].update(inbound, self.params.order);
        }
        stack.count_duplicate(own, new.into());
        stack.count_arrived(own, if new { packet.payload } else { 0 });
        if whole {
            self.inbound.remove(own);
            stack.deliver(own);
            self.confirm(stack, packet);
        }
    }

    fn receive_ack(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        let own = packet.sent_flow();
        let Some(source) = self.sources.get_mut(own) else { return };
        self.holders[stack.nic_of(own)].take_out(source);
        self.sources.remove(own);
        stack.end(own);
    }
}
