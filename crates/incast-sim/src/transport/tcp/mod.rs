//! TCP for datacenters (RFC 9293, 5681, 6582, 2018, 6675, 6298, 3168), with a choice of congestion controls.
use crate::kernel::{IdVec, Kind, LocalPort, Range, ReceivedId, SentId, Word, flag};

mod control;
mod cwnd;
mod losses;
mod params;
mod receiver;
mod rtt;
mod sender;
#[cfg(test)]
mod tests;

use incast_model::units::Time;

pub use control::{CubicParams, RenoParams, SlowStartParams, TcpControl, TcpDctcpParams};
pub use params::TcpParams;
use receiver::{Answer, Receiver};
use sender::{Heard, Phase, Sender};

use super::stack::{Incoming, Stack, To};
use super::{ByFlow, Endpoint, Job, Scope};

#[derive(Debug)]
pub(crate) struct Tcp {
    params: TcpParams,
    senders: ByFlow<SentId, Sender>,
    receivers: IdVec<ReceivedId, Receiver>,
}

impl Endpoint for Tcp {
    type Params = TcpParams;

    const KEEPS_PRIORITY: bool = true;

    fn new(params: &TcpParams, scope: Scope) -> Self {
        let receivers = vec![Receiver::default(); scope.received].into();
        Self { params: params.clone(), senders: ByFlow::new(scope.sent), receivers }
    }

    fn start(&mut self, stack: &mut impl Stack, own: SentId) {
        let sender = Sender::new(&self.params, stack.packets_sent(own));
        let shakes_hands = sender.phase == Phase::Handshake;
        self.senders.insert(own, sender);
        if shakes_hands {
            self.send_syn(stack, own);
        } else {
            self.pump(stack, own);
        }
    }

    fn receive(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        match packet.kind {
            Kind::Segment => self.receive_segment(stack, packet),
            Kind::SegmentAck => self.receive_ack(stack, packet),
            Kind::Syn => {
                let answer = stack.answer(packet, Kind::SynAck, 0, packet.prio, false);
                stack.send(To::Sender(packet.received_flow(), packet.nic), answer);
            }
            _ => self.receive_syn_ack(stack, packet),
        }
    }

    /// Does not resend a segment still in the host's queue (as Linux, `skb_still_in_host_queue`).
    fn timer(&mut self, stack: &mut impl Stack, own: SentId) {
        let Some(sender) = self.senders.get_mut(own) else { return };
        if stack.waits(own, Some(sender.una())) {
            return stack.watch_queue(own);
        }
        sender.on_timeout();
        let in_handshake = sender.phase == Phase::Handshake;
        stack.count_timeout(own);
        if in_handshake {
            return self.send_syn(stack, own);
        }
        self.arm(stack, own);
        self.pump(stack, own);
    }

    fn task(&mut self, stack: &mut impl Stack, _nic: LocalPort, job: Job) {
        let Job::DelayedAck(own) = job else { return };
        let receiver = &mut self.receivers[own];
        if receiver.due == stack.now()
            && let Some(answer) = receiver.answer()
        {
            let nic = receiver.nic;
            self.send_ack(stack, (own, nic), answer);
        }
    }

    /// Restarts the timer if it expired meanwhile.
    fn left_host(&mut self, stack: &mut impl Stack, own: SentId) {
        stack.unwatch_queue(own);
        if stack.timer(own) == u64::MAX {
            self.arm(stack, own);
        }
    }

    fn stop(&mut self, stack: &mut impl Stack, own: SentId) {
        if let Some(sender) = self.senders.get_mut(own) {
            sender.stop();
            if sender.is_done() {
                self.end(stack, own);
            }
        }
    }

    fn may_end(&self, own: SentId, _end: u64, mut acks: impl Iterator<Item = u64>) -> bool {
        let ends = |sender: &Sender| sender.has_sent_all() && acks.any(|next| next >= sender.packets.size);
        self.senders.get(own).is_none_or(ends)
    }

    fn flows(&self) -> impl Iterator<Item = (SentId, u64)> {
        self.senders.iter().map(|(own, sender)| (own, sender.cwnd()))
    }
}

impl Tcp {
    fn send_syn(&mut self, stack: &mut impl Stack, own: SentId) {
        let mut packet = stack.control(Kind::Syn, stack.sent(own).priority);
        packet.word = Word::sent_at(stack.now());
        self.arm(stack, own);
        stack.send(To::Receiver(own), packet);
    }

    fn arm(&self, stack: &mut impl Stack, own: SentId) {
        if let Some(sender) = self.senders.get(own) {
            stack.set_timer(own, stack.now().saturating_add(sender.timeout()));
        }
    }

    fn receive_syn_ack(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        let own = packet.sent_flow();
        let Some(sender) = self.senders.get_mut(own) else { return };
        if sender.phase == Phase::Handshake {
            sender.on_syn_ack(packet.word.since(stack.now()));
            stack.set_timer(own, u64::MAX);
            self.pump(stack, own);
        }
    }

    fn pump(&mut self, stack: &mut impl Stack, own: SentId) {
        let listens = self.params.listens();
        let Some(sender) = self.senders.get_mut(own) else { return };
        while let Some(segment) = sender.next_segment() {
            let reduced = !segment.again && sender.reports_reduction();
            let mut packet = stack.segment(own, segment);
            packet.word = Word::sent_at(stack.now());
            if listens {
                packet.flags &= !flag::NOT_ECT;
                packet.flags |= if reduced { flag::CWR } else { 0 };
            }
            if stack.timer(own) == u64::MAX {
                stack.set_timer(own, stack.now().saturating_add(sender.timeout()));
            }
            stack.send(To::Receiver(own), packet);
        }
    }

    fn receive_segment(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        let (own, nic) = (packet.received_flow(), packet.nic);
        let size = stack.received(own).size.0;
        let receiver = &mut self.receivers[own];
        receiver.nic = nic;
        let verdict = receiver.take(packet, size, &self.params);
        let whole = receiver.next() == size;
        let waits = verdict.answer.is_none() && receiver.begins_to_wait();
        if waits && let Some(delay) = self.params.delayed_ack {
            receiver.due = stack.now() + delay.0;
            stack.plan(nic, receiver.due, Job::DelayedAck(own));
        }
        stack.count_duplicate(own, verdict.new);
        if whole {
            stack.deliver(own);
        }
        if let Some(answer) = verdict.first {
            self.send_ack(stack, (own, nic), answer);
        }
        if let Some(answer) = verdict.answer {
            let mut ack = stack.answer(packet, Kind::SegmentAck, answer.next, packet.prio, answer.echo);
            ack.word = answer.word;
            stack.send_with(To::Sender(own, nic), ack, self.blocks(own));
        }
    }

    fn send_ack(&self, stack: &mut impl Stack, (own, nic): (ReceivedId, LocalPort), answer: Answer) {
        let mut ack = stack.control(Kind::SegmentAck, stack.received(own).priority);
        ack.seq = answer.next;
        ack.word = answer.word;
        ack.flags |= if answer.echo { flag::ECHO } else { 0 };
        stack.send_with(To::Sender(own, nic), ack, self.blocks(own));
    }

    fn blocks(&self, own: ReceivedId) -> Vec<Range> {
        if self.params.sack { self.receivers[own].blocks(self.params.sack_blocks) } else { Vec::new() }
    }

    fn receive_ack(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        let own = packet.sent_flow();
        let Some(sender) = self.senders.get_mut(own) else { return };
        let heard = Heard {
            now: Time(stack.now()),
            next: packet.seq,
            beyond: packet.ranges,
            rtt: packet.word.since(stack.now()),
            marked: packet.flags & flag::ECHO != 0,
        };
        if heard.marked {
            stack.count_mark(own);
        }
        let advanced = sender.on_ack(&heard);
        let goes_on = advanced || sender.counts_duplicates();
        if sender.is_done() {
            return self.end(stack, own);
        }
        stack.acknowledge(own, sender.come());
        if advanced {
            self.arm(stack, own);
        }
        if goes_on {
            self.pump(stack, own);
        }
    }

    fn end(&mut self, stack: &mut impl Stack, own: SentId) {
        if let Some(sender) = self.senders.get(own) {
            let size = sender.packets.size;
            self.senders.remove(own);
            stack.acknowledge(own, size);
            stack.deliver_sent(own);
            stack.end(own);
        }
    }
}
