//! Packets in hypervisors: the limiter at the sender, the counters at the receiver.

use super::{Hypervisor, PairSample, Window};
use crate::kernel::{Kind, NONE, Packet, flag};
use crate::network::Network;
use crate::transport::{Job, Stack, TransportHost};
use incast_model::units::Time;

/// Packets that may wait without a limit of time (our choice).
const ALWAYS: u32 = 4;

impl Window {
    fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
    }
}

impl Network {
    /// Wire bytes with the gap, as limiters count.
    fn weight_of(&self, packet: &Packet) -> u64 {
        u64::from(packet.size) + self.config.packets.gap.0
    }

    fn pair_of(&self, packet: &Packet) -> u32 {
        let hypervisors = self.hypervisors.as_ref().expect("only runs with hypervisors ask");
        hypervisors.pairs_of[packet.flow as usize][usize::from(!packet.kind.is_forward())]
    }

    /// Sends, queues or drops a VM's packet.
    pub(crate) fn pass_limiter(&mut self, id: u32) {
        let (packet, now) = (self.pool[id], self.now);
        let (pair, bytes) = (self.pair_of(&packet), self.weight_of(&packet));
        self.wake_sender(pair);
        let hypervisors = self.hypervisors.as_mut().expect("asked above");
        let one = &mut hypervisors.pairs[pair as usize];
        one.send.last = now;
        if one.shaper.packets == 0 && one.shaper.goes_at(bytes) <= now {
            return self.let_go(pair, id);
        }
        (one.send.divided.waited, one.send.period.waited) = (true, true);
        if !has_room(&hypervisors.params, one) {
            one.count.refused += 1;
            self.left_host(id);
            return self.pool.release(id);
        }
        let shaper = &mut one.shaper;
        shaper.packets += 1;
        shaper.bytes += bytes;
        let tail = std::mem::replace(&mut shaper.tail, id);
        if shaper.head == NONE {
            shaper.head = id;
        } else {
            self.pool[tail].next = id;
        }
        self.pool[id].next = NONE;
        self.plan_release(pair);
    }

    pub(super) fn plan_release(&mut self, pair: u32) {
        let one = &self.hypervisors.as_ref().expect("asked by one").pairs[pair as usize];
        let (head, src, due) = (one.shaper.head, one.src, one.shaper.due);
        if head == NONE {
            return;
        }
        let time = one.shaper.goes_at(self.weight_of(&self.pool[head])).max(self.now);
        if time < due {
            let hypervisors = self.hypervisors.as_mut().expect("asked by one");
            hypervisors.pairs[pair as usize].shaper.due = time;
            let nic = hypervisors.vms[src as usize].nic;
            self.plan(nic, time, Job::Release(pair));
        }
    }

    pub(crate) fn release_pair(&mut self, pair: u32) {
        let now = self.now;
        let due = &mut self.hypervisors.as_mut().expect("on its agenda").pairs[pair as usize].shaper.due;
        if *due <= now {
            *due = u64::MAX;
        }
        loop {
            let shaper = self.hypervisors.as_ref().expect("on its agenda").pairs[pair as usize].shaper;
            let id = shaper.head;
            if id == NONE {
                break;
            }
            let bytes = self.weight_of(&self.pool[id]);
            if shaper.goes_at(bytes) > now {
                break;
            }
            let next = self.pool[id].next;
            let shaper = &mut self.hypervisors.as_mut().expect("on its agenda").pairs[pair as usize].shaper;
            shaper.head = next;
            shaper.tail = if next == NONE { NONE } else { shaper.tail };
            shaper.packets -= 1;
            shaper.bytes -= bytes;
            self.let_go(pair, id);
        }
        self.plan_release(pair);
        self.wake_sources(pair);
    }

    fn let_go(&mut self, pair: u32, id: u32) {
        let (packet, now) = (self.pool[id], self.now);
        let bytes = self.weight_of(&packet);
        let hypervisors = self.hypervisors.as_mut().expect("asked by one");
        let marks = hypervisors.uses_marks();
        let one = &mut hypervisors.pairs[pair as usize];
        one.shaper.take(now, bytes);
        one.send.divided.add(bytes);
        one.send.period.add(bytes);
        one.count.sent += bytes;
        let number = one.send.next;
        one.send.next = number.wrapping_add(1);
        let port = hypervisors.vms[one.src as usize].port;
        self.pool.set_ticket(id, number);
        if marks {
            self.pool[id].flags &= !flag::NOT_ECT;
        }
        self.send_out(port, id);
    }

    /// Resumes flows that wait for space in the limiter's queue.
    fn wake_sources(&mut self, pair: u32) {
        let hypervisors = self.hypervisors.as_mut().expect("asked by one");
        let one = &mut hypervisors.pairs[pair as usize];
        if one.asleep.is_empty() || !has_room(&hypervisors.params, one) {
            return;
        }
        for flow in std::mem::take(&mut one.asleep) {
            self.resume_endpoint(flow);
        }
    }

    /// Returns true if the limiter has space for an uncontrolled flow; otherwise notes the flow, which is resumed later.
    pub(crate) fn has_room_or_sleeps(&mut self, flow: u32) -> bool {
        let Some(hypervisors) = &mut self.hypervisors else { return true };
        let pair = hypervisors.pairs_of[flow as usize][0];
        let one = &mut hypervisors.pairs[pair as usize];
        if has_room(&hypervisors.params, one) {
            return true;
        }
        one.asleep.push(flow);
        false
    }

    /// Counts packets of a flow refused before their creation.
    pub(crate) fn count_refused(&mut self, flow: u32, packets: u64) {
        if let Some(hypervisors) = &mut self.hypervisors {
            let pair = hypervisors.pairs_of[flow as usize][0];
            let one = &mut hypervisors.pairs[pair as usize];
            one.count.refused += packets;
            // The flow had data to send all the time.
            one.send.last = self.now;
        }
    }

    /// Counts a packet that arrived at a VM, and removes its mark.
    pub(crate) fn count_arrival(&mut self, id: u32) {
        let packet = self.pool[id];
        let (pair, bytes) = (self.pair_of(&packet), self.weight_of(&packet));
        let number = self.pool.ticket(id);
        self.wake_receiver(pair);
        let hypervisors = self.hypervisors.as_mut().expect("asked above");
        let marks = hypervisors.uses_marks();
        let patience = hypervisors.params.rate().map_or(1, |rate| rate.reordering);
        let one = &mut hypervisors.pairs[pair as usize];
        one.receive.last = self.now;
        one.receive.bytes += bytes;
        one.receive.gaps.hear(number, patience);
        one.count.lost = one.receive.gaps.lost;
        one.count.received += bytes;
        if marks && packet.flags & flag::CE != 0 {
            one.count.marked += 1;
            self.pool[id].flags &= !flag::CE;
        }
        let dst = one.dst;
        self.meter(dst, bytes);
    }

    /// A task of a hypervisor is due.
    pub(crate) fn do_hypervisor_job(&mut self, job: Job) {
        match job {
            Job::Release(pair) => self.release_pair(pair),
            Job::Allocate(host) => self.allocate_rates(host),
            Job::Divide(host) => self.divide(host),
            Job::DivideSoon(host) => self.divide_soon(host),
            Job::Meter(host) => self.look_at_meter(host),
            _ => unreachable!("endpoints do all others"),
        }
    }

    /// Sends a message between the hypervisors of a pair.
    pub(super) fn tell(&mut self, pair: u32, kind: Kind, [first, second]: [u64; 2], bit: bool) {
        let bytes = self.config.packets.control.0 + self.config.packets.gap.0;
        let hypervisors = self.hypervisors.as_mut().expect("asked by one");
        hypervisors.counts.messages += 1;
        hypervisors.counts.message_bytes += bytes;
        let one = &hypervisors.pairs[pair as usize];
        let ends = if kind.is_forward() { [one.src, one.dst] } else { [one.dst, one.src] };
        let (flow, port) = (one.flow, hypervisors.vms[ends[0] as usize].port);
        let prio = self.flows.flows[flow as usize].priority;
        let mut packet = self.make_control(flow, kind, ends, prio);
        packet.seq = first;
        packet.stamp = second;
        packet.flags |= if bit { flag::ECHO } else { 0 };
        let id = self.pool.alloc(packet);
        self.send_out(port, id);
    }

    /// Pair of a message.
    pub(super) fn pair_of_message(&self, packet: &Packet) -> u32 {
        let hypervisors = self.hypervisors.as_ref().expect("only these send messages");
        let src = if packet.kind.is_forward() { packet.src } else { packet.dst };
        let both = hypervisors.pairs_of[packet.flow as usize];
        both[usize::from(hypervisors.pairs[both[0] as usize].src != src)]
    }

    /// Samples all active pairs.
    pub(crate) fn sample_pairs(&mut self) {
        let Some(hypervisors) = &self.hypervisors else { return };
        let active = (0u32..).zip(&hypervisors.pairs).filter(|(_, one)| one.send.active);
        let samples = active.map(|(pair, one)| PairSample {
            time: Time(self.now),
            pair,
            guarantee: one.send.guarantee as u64,
            limit: one.shaper.rate(),
            sent: one.count.sent,
            received: one.count.received,
            waiting: one.shaper.packets,
        });
        self.recorder.pairs.extend(samples);
    }
}

/// Returns true if another packet may wait for the limiter.
fn has_room(params: &Hypervisor, pair: &super::Pair) -> bool {
    let (limits, shaper) = (params.shaper(), &pair.shaper);
    let waits = shaper.rate().map_or(0, |rate| super::shaper::time_for(shaper.bytes, rate));
    shaper.packets < ALWAYS.min(limits.packets) || shaper.packets < limits.packets && waits < limits.delay.0
}
