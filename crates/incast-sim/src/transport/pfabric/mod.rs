//! pFabric (Alizadeh et al., "pFabric: Minimal Near-Optimal Datacenter Transport", SIGCOMM 2013).
//!
//! Packets carry their flow's remaining bytes; queues keep the most urgent
//! ([`QueueParams::Pfabric`](crate::switch::QueueParams)). Hosts send a window immediately; only a short fixed timeout detects
//! losses. ACKs list all byte ranges beyond the first gap.

mod params;
mod sender;

pub use params::PfabricParams;
use sender::Sender;

use super::stack::{Incoming, Stack, To};
use super::{ByFlow, Endpoint, Reassembly, Scope};
use crate::kernel::{IdVec, Kind, ReceivedId, SentId, Word, flag};

#[derive(Debug)]
pub(crate) struct Pfabric {
    params: PfabricParams,
    senders: ByFlow<SentId, Sender>,
    receivers: IdVec<ReceivedId, Reassembly>,
    /// True if the host's queue has no limit: flows can wait there longer than their timeout.
    unlimited: bool,
}

impl Endpoint for Pfabric {
    type Params = PfabricParams;

    fn new(params: &PfabricParams, scope: Scope) -> Self {
        let receivers = vec![Reassembly::default(); scope.received].into();
        Self { params: params.clone(), senders: ByFlow::new(scope.sent), receivers, unlimited: scope.unlimited }
    }

    fn start(&mut self, stack: &mut impl Stack, own: SentId) {
        self.senders.insert(own, Sender::new(&self.params, stack.packets_sent(own)));
        self.pump(stack, own);
    }

    fn receive(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        match packet.kind {
            Kind::SegmentAck => self.receive_ack(stack, packet),
            _ => self.receive_segment(stack, packet),
        }
    }

    /// Resends nothing while packets of the flow are in a queue without a limit, as TCP does: there, copies would delay other
    /// flows beyond their timeouts, without end.
    fn timer(&mut self, stack: &mut impl Stack, own: SentId) {
        let Some(sender) = self.senders.get_mut(own) else { return };
        if self.unlimited && stack.waits(own, None) {
            return stack.watch_queue(own);
        }
        let probe = sender.on_timeout();
        let (rto, left, una) = (sender.rto(), sender.left(), sender.una());
        stack.count_timeout(own);
        if probe {
            let mut packet = stack.control(Kind::Probe, stack.sent(own).priority);
            packet.seq = una;
            packet.word = Word::with_left(left);
            stack.send(To::Receiver(own), packet);
        } else {
            self.pump(stack, own);
        }
        stack.set_timer(own, stack.now() + rto);
    }

    /// Restarts the timer if it expired meanwhile.
    fn left_host(&mut self, stack: &mut impl Stack, own: SentId) {
        let Some(sender) = self.senders.get_mut(own) else { return };
        if stack.waits(own, None) {
            return;
        }
        stack.unwatch_queue(own);
        if stack.timer(own) == u64::MAX {
            stack.set_timer(own, stack.now() + sender.rto());
        }
    }

    fn may_end(&self, own: SentId, _end: u64, mut acks: impl Iterator<Item = u64>) -> bool {
        let ends = |sender: &Sender| sender.has_sent_all() && acks.any(|next| next >= sender.size());
        self.senders.get(own).is_none_or(ends)
    }

    fn flows(&self) -> impl Iterator<Item = (SentId, u64)> {
        self.senders.iter().map(|(own, sender)| (own, sender.window()))
    }
}

impl Pfabric {
    fn pump(&mut self, stack: &mut impl Stack, own: SentId) {
        let Some(sender) = self.senders.get_mut(own) else { return };
        while let Some(segment) = sender.next_segment() {
            let mut packet = stack.segment(own, segment);
            packet.word = Word::with_left(sender.left());
            packet.flags |= flag::RANKED;
            if stack.timer(own) == u64::MAX {
                stack.set_timer(own, stack.now() + sender.rto());
            }
            stack.send(To::Receiver(own), packet);
        }
    }

    fn receive_segment(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        let own = packet.received_flow();
        let receiver = &mut self.receivers[own];
        let new = receiver.take(packet.seq, packet.payload);
        if packet.kind == Kind::Segment {
            stack.count_duplicate(own, new);
        }
        if receiver.next() == stack.received(own).size.0 {
            stack.deliver(own);
        }
        let answer = stack.answer(packet, Kind::SegmentAck, receiver.next(), packet.prio, false);
        stack.send_with(To::Sender(own, packet.nic), answer, receiver.beyond().to_vec());
    }

    fn receive_ack(&mut self, stack: &mut impl Stack, packet: &Incoming<'_>) {
        let own = packet.sent_flow();
        let Some(sender) = self.senders.get_mut(own) else { return };
        let goes_on = sender.on_ack(packet.seq, packet.ranges);
        if sender.is_done() {
            self.senders.remove(own);
            return stack.finish(own);
        }
        if goes_on {
            let rto = sender.rto();
            stack.acknowledge(own, packet.seq);
            self.pump(stack, own);
            stack.set_timer(own, stack.now() + rto);
        }
    }
}
