//! Packets in hypervisors: the limiter at the sender, the counters at the receiver.

use super::PairSample;
use crate::kernel::{Kind, Packet, flag};
use crate::network::Network;
use crate::transport::{Job, Stack, TransportHost};
use incast_model::units::Time;

impl Network {
    /// Wire bytes with the gap, as limiters count.
    fn weight_of(&self, packet: &Packet) -> u64 {
        u64::from(packet.size) + self.config.packets.gap.0
    }

    fn pair_of(&self, packet: &Packet) -> u32 {
        let hypervisors = self.hypervisors.as_ref().expect("only runs with hypervisors ask");
        hypervisors.pair_of(packet.flow, packet.kind.is_forward())
    }

    /// Sends, queues or drops a VM's packet.
    pub(crate) fn pass_limiter(&mut self, id: u32) {
        let (packet, now) = (self.pool[id], self.now);
        let (pair, bytes) = (self.pair_of(&packet), self.weight_of(&packet));
        self.wake_sender(pair);
        let hypervisors = self.hypervisors.as_mut().expect("asked above");
        let one = &mut hypervisors.pairs[pair as usize];
        one.send.last = now;
        if one.send.passes(now, bytes) {
            return self.let_go(pair, id);
        }
        if !one.send.queue(&hypervisors.rules, bytes) {
            self.left_host(id);
            return self.pool.release(id);
        }
        one.queue.push_back(id);
        self.plan_release(pair);
    }

    pub(super) fn plan_release(&mut self, pair: u32) {
        let one = &self.hypervisors.as_ref().expect("asked by one").pairs[pair as usize];
        let Some(&head) = one.queue.front() else { return };
        let (now, bytes) = (self.now, self.weight_of(&self.pool[head]));
        let hypervisors = self.hypers();
        let one = &mut hypervisors.pairs[pair as usize];
        if let Some(time) = one.send.next_release(now, bytes) {
            let nic = hypervisors.vms[one.src as usize].nic;
            self.plan(nic, time, Job::Release(pair));
        }
    }

    pub(crate) fn release_pair(&mut self, pair: u32) {
        let now = self.now;
        self.hypers().pairs[pair as usize].send.begin_release(now);
        while let Some(&id) = self.hypers().pairs[pair as usize].queue.front() {
            let bytes = self.weight_of(&self.pool[id]);
            let one = &mut self.hypers().pairs[pair as usize];
            if !one.send.release(now, bytes) {
                break;
            }
            one.queue.pop_front();
            self.let_go(pair, id);
        }
        self.plan_release(pair);
        self.wake_sources(pair);
    }

    fn let_go(&mut self, pair: u32, id: u32) {
        let (packet, now) = (self.pool[id], self.now);
        let bytes = self.weight_of(&packet);
        let hypervisors = self.hypervisors.as_mut().expect("asked by one");
        let one = &mut hypervisors.pairs[pair as usize];
        let number = one.send.depart(now, bytes);
        let port = hypervisors.vms[one.src as usize].port;
        self.pool.set_ticket(id, number);
        if hypervisors.rules.uses_marks() {
            self.pool[id].flags &= !flag::NOT_ECT;
        }
        self.send_out(port, id);
    }

    /// Resumes flows that wait for space in the limiter's queue.
    fn wake_sources(&mut self, pair: u32) {
        let hypervisors = self.hypervisors.as_mut().expect("asked by one");
        let one = &mut hypervisors.pairs[pair as usize].send;
        if one.asleep.is_empty() || !one.has_space(&hypervisors.rules) {
            return;
        }
        for flow in std::mem::take(&mut one.asleep) {
            self.resume_endpoint(flow);
        }
    }

    /// Returns true if the limiter has space for an uncontrolled flow; otherwise notes the flow, which is resumed later.
    pub(crate) fn has_room_or_sleeps(&mut self, flow: u32) -> bool {
        let Some(hypervisors) = &mut self.hypervisors else { return true };
        let pair = hypervisors.pair_of(flow, true);
        let one = &mut hypervisors.pairs[pair as usize].send;
        if one.has_space(&hypervisors.rules) {
            return true;
        }
        one.asleep.push(flow);
        false
    }

    /// Counts packets of a flow refused before their creation.
    pub(crate) fn count_refused(&mut self, flow: u32, packets: u64) {
        if let Some(hypervisors) = &mut self.hypervisors {
            let pair = hypervisors.pair_of(flow, true);
            let one = &mut hypervisors.pairs[pair as usize].send;
            one.refused += packets;
            // The flow had data to send all the time.
            one.last = self.now;
        }
    }

    /// Counts a packet that arrived at a VM, and removes its mark.
    pub(crate) fn count_arrival(&mut self, id: u32) {
        let packet = self.pool[id];
        let (pair, bytes) = (self.pair_of(&packet), self.weight_of(&packet));
        let (number, now) = (self.pool.ticket(id), self.now);
        self.wake_receiver(pair);
        let hypervisors = self.hypervisors.as_mut().expect("asked above");
        let one = &mut hypervisors.pairs[pair as usize];
        self.pool[id].flags = one.receive.hear(&hypervisors.rules, (now, bytes), number, packet.flags);
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

    /// Samples all active pairs.
    pub(crate) fn sample_pairs(&mut self) {
        let Some(hypervisors) = &self.hypervisors else { return };
        let active = (0u32..).zip(&hypervisors.pairs).filter(|(_, one)| one.send.active);
        let samples = active.map(|(pair, one)| PairSample {
            time: Time(self.now),
            pair,
            guarantee: one.send.guarantee as u64,
            limit: one.send.shaper.rate(),
            sent: one.send.sent,
            received: one.receive.received,
            waiting: one.send.shaper.packets,
        });
        self.recorder.pairs.extend(samples);
    }
}
