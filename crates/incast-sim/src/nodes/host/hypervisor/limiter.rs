//! Packets in a hypervisor: the limiter at the sender, the counters at the receiver.

use super::Work;
use crate::kernel::{LocalPort, Range, SentId, flag};
use crate::nodes::packet::{AtDst, Packet};
use crate::transport::{Job, Stack, TransportHost};

impl<const RUN: u8> Work<'_, RUN> {
    pub(in crate::nodes::host) fn pass_limiter(&mut self, packet: Packet, ranges: Vec<Range>) {
        let (pair, bytes) = (self.pair_of(&packet), self.weight_of(&packet));
        let (rules, now) = (self.rules(), self.host.now);
        self.wake_sender(pair);
        let one = self.outward(pair);
        one.half.last = now;
        if one.half.passes(now, bytes) {
            return self.let_go(pair, packet, ranges);
        }
        if !one.half.queue(rules, bytes) {
            self.host.left::<RUN>(self.plan, self.out, &packet);
            self.out.progress.live -= 1;
            return;
        }
        one.queue.push_back((packet, ranges));
        self.plan_release(pair);
    }

    pub(super) fn plan_release(&mut self, pair: u32) {
        let now = self.host.now;
        let Some(packet) = self.outward(pair).queue.front().map(|(packet, _)| *packet) else { return };
        let bytes = self.weight_of(&packet);
        if let Some(time) = self.outward(pair).half.next_release(now, bytes) {
            self.plan(LocalPort(0), time, Job::Release(pair));
        }
    }

    pub(super) fn release_pair(&mut self, pair: u32) {
        let now = self.host.now;
        self.outward(pair).half.begin_release(now);
        while let Some((packet, _)) = self.outward(pair).queue.front() {
            let bytes = u64::from(packet.size) + self.host.params.packets.gap.0;
            let one = self.outward(pair);
            if !one.half.release(now, bytes) {
                break;
            }
            if let Some((packet, ranges)) = one.queue.pop_front() {
                self.let_go(pair, packet, ranges);
            }
        }
        self.plan_release(pair);
        self.wake_sources(pair);
    }

    fn let_go(&mut self, pair: u32, packet: Packet, ranges: Vec<Range>) {
        let (now, bytes) = (self.host.now, self.weight_of(&packet));
        let marks = if self.rules().uses_marks() { flag::NOT_ECT } else { 0 };
        let number = self.outward(pair).half.depart(now, bytes);
        self.send_out(
            LocalPort(0),
            &Packet { at_dst: AtDst::number_in_pair(number), flags: packet.flags & !marks, ..packet },
            ranges,
        );
    }

    fn wake_sources(&mut self, pair: u32) {
        let rules = self.rules();
        let half = &mut self.outward(pair).half;
        if half.asleep.is_empty() || !half.has_space(rules) {
            return;
        }
        for own in std::mem::take(&mut half.asleep) {
            self.resume_endpoint(own);
        }
    }

    /// True if an uncontrolled flow has space; otherwise it is resumed later.
    pub(in crate::nodes::host) fn has_space_or_sleeps(&mut self, own: SentId) -> bool {
        if self.host.hypervisor.is_none() {
            return true;
        }
        let (pair, rules) = (self.all().pair_of(self.flow_of(own), true), self.rules());
        let half = &mut self.outward(pair).half;
        let fits = half.has_space(rules);
        if !fits {
            half.asleep.push(own);
        }
        fits
    }

    /// Packets refused before their creation.
    pub(in crate::nodes::host) fn count_unmade(&mut self, own: SentId, packets: u64) {
        if self.host.hypervisor.is_some() {
            let (pair, now) = (self.all().pair_of(self.flow_of(own), true), self.host.now);
            let half = &mut self.outward(pair).half;
            half.refused += packets;
            // The flow had data to send all the time.
            half.last = now;
        }
    }

    /// Returns the packet without its mark, with the flow's own number.
    pub(super) fn count_arrival(&mut self, packet: &Packet) -> Packet {
        let (pair, bytes) = (self.pair_of(packet), self.weight_of(packet));
        let (rules, now) = (self.rules(), self.host.now);
        self.wake_receiver(pair);
        let flags = self.inward(pair).half.hear(rules, (now, bytes), packet.number_in_pair(), packet.flags);
        self.meter(bytes);
        let (layout, flow) = (self.plan.layout, packet.flow);
        let forward = packet.kind.is_forward();
        let at_dst = if forward { layout.at_dst[flow].into() } else { layout.at_src[flow].into() };
        Packet { at_dst, flags, ..*packet }
    }
}
