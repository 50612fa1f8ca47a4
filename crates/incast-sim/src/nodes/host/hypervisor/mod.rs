//! Hypervisor of a VM: limiter in front of its port, counters of arrivals, timers, messages. Rules: [`crate::tenant`].

mod limiter;
mod periods;

use std::collections::VecDeque;

use incast_model::fabric::HostId;
use incast_model::units::Time;

use super::stack::Work;
use crate::kernel::{LocalPort, Range};
use crate::nodes::Nodes;
use crate::nodes::host::Hosts;
use crate::nodes::message::Message;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::outcome::HypervisorCounts;
use crate::tenant::{Hypervisors, Pair, PairCount, PairRecord, PairSample, Receiving, Rules, Sending, Vm};
use crate::transport::Job;

#[derive(Debug)]
pub(super) struct HostHypervisor {
    vm: Vm,
    /// Pairs that the VM sends, and receives.
    sends: Vec<Outward>,
    receives: Vec<Inward>,
    counts: HypervisorCounts,
}

#[derive(Debug)]
struct Outward {
    half: Sending,
    queue: VecDeque<(Packet, Vec<Range>)>,
}

#[derive(Debug)]
struct Inward {
    half: Receiving,
}

impl HostHypervisor {
    /// Packets that wait in rate limiters.
    pub(super) fn limited(&self) -> impl Iterator<Item = &Packet> {
        self.sends.iter().flat_map(|pair| &pair.queue).map(|(packet, _)| packet)
    }

    /// `None` without hypervisors.
    pub(super) fn new(plan: Plan<'_>, host: u32) -> Option<Box<Self>> {
        let all = plan.network.hosts.hypervisors.as_ref()?;
        let sends = all.pairs.iter().filter(|one| one.src == host);
        let receives = all.pairs.iter().filter(|one| one.dst == host);
        Some(Box::new(Self {
            vm: all.vms[host as usize].clone(),
            sends: sends.map(|one| Outward { half: one.send.clone(), queue: VecDeque::new() }).collect(),
            receives: receives.map(|one| Inward { half: one.receive.clone() }).collect(),
            counts: HypervisorCounts::default(),
        }))
    }
}

impl Nodes {
    fn pairs(&self) -> impl Iterator<Item = (&Pair, &Sending, &Receiving)> {
        let pairs = self.network.hosts.hypervisors.iter().flat_map(|all| &all.pairs);
        let own = |host: u32| self.partitions.host(HostId(host)).hypervisor.as_ref().expect("each VM has a hypervisor");
        pairs.map(move |pair| {
            let (send, receive) =
                (&own(pair.src).sends[pair.at_src as usize], &own(pair.dst).receives[pair.at_dst as usize]);
            (pair, &send.half, &receive.half)
        })
    }

    pub(in crate::nodes) fn sample_pairs(&mut self, time: Time) {
        let Some(all) = &self.network.hosts.hypervisors else { return };
        let numbered = (0u32..).zip(self.pairs()).filter(|(_, (_, send, _))| send.active);
        let sample = |(number, (_, send, receive))| PairSample::new(time, number, &all.rules, (send, receive));
        let samples: Vec<PairSample> = numbered.map(sample).collect();
        self.books.recorder.pairs.extend(samples);
    }

    pub(in crate::nodes) fn pair_records(&self) -> (Vec<PairRecord>, HypervisorCounts) {
        let record = |(pair, send, receive): (&Pair, &Sending, &Receiving)| PairRecord {
            src: pair.src,
            dst: pair.dst,
            count: PairCount::new(send, receive),
        };
        let mut counts = HypervisorCounts::default();
        for own in self.partitions.hosts().filter_map(|host| host.hypervisor.as_ref()) {
            counts.messages += own.counts.messages;
            counts.message_bytes += own.counts.message_bytes;
            counts.allocations += own.counts.allocations;
            counts.partitions += own.counts.partitions;
        }
        (self.pairs().map(record).collect(), counts)
    }
}

/// Only for runs with hypervisors.
impl<'a, const RUN: u8> Work<'a, RUN> {
    /// Pairs and rules, without state.
    fn all(&self) -> &'a Hypervisors {
        self.plan.network.hosts.hypervisors.as_ref().expect("the run has hypervisors")
    }

    fn rules(&self) -> &'a Rules {
        &self.all().rules
    }

    fn hypervisor(&mut self) -> &mut HostHypervisor {
        self.host.hypervisor.as_mut().expect("the run has hypervisors")
    }

    fn outward(&mut self, pair: u32) -> &mut Outward {
        let at = self.all().pairs[pair as usize].at_src;
        &mut self.hypervisor().sends[at as usize]
    }

    fn inward(&mut self, pair: u32) -> &mut Inward {
        let at = self.all().pairs[pair as usize].at_dst;
        &mut self.hypervisor().receives[at as usize]
    }

    fn pair_of(&self, packet: &Packet) -> u32 {
        self.all().pair_of(packet.flow, packet.kind.is_forward())
    }

    /// Wire bytes with the gap.
    fn weight_of(&self, packet: &Packet) -> u64 {
        u64::from(packet.size) + self.host.params.packets.gap.0
    }

    pub(super) fn do_hypervisor_job(&mut self, job: Job) {
        match job {
            Job::Release(pair) => self.release_pair(pair),
            Job::Allocate(_) => self.allocate_rates(),
            Job::Divide(_) => self.divide(),
            Job::DivideSoon(_) => self.divide_soon(),
            Job::Meter(_) => self.look_at_meter(),
            _ => unreachable!("endpoints do all others"),
        }
    }

    /// `None` if the packet is a message of hypervisors.
    pub(super) fn pass_hypervisor(&mut self, packet: &Packet) -> Option<Packet> {
        let Some(message) = Message::of(packet) else { return Some(self.count_arrival(packet)) };
        self.receive_message(packet, message);
        None
    }

    fn tell(&mut self, pair: u32, message: Message) {
        let one = &self.all().pairs[pair as usize];
        let packet = message.packet();
        let packet = Packet {
            flow: one.flow,
            dst: if packet.kind.is_forward() { one.dst } else { one.src },
            size: self.host.params.packets.control.0 as u16,
            prio: self.plan.network.flow(one.flow).priority,
            ..packet
        };
        let bytes = self.host.params.packets.control.0 + self.host.params.packets.gap.0;
        let counts = &mut self.hypervisor().counts;
        counts.messages += 1;
        counts.message_bytes += bytes;
        self.out.progress.live += 1;
        self.send_out(LocalPort(0), &packet, Vec::new());
    }

    fn receive_message(&mut self, packet: &Packet, message: Message) {
        let (rules, now) = (self.rules(), self.host.now);
        let pair = self.all().pair_of_message(packet.flow, packet.kind.is_forward(), packet.dst);
        if let Message::Offer { offer, waits } = message {
            self.wake_receiver(pair);
            return self.inward(pair).half.hear_offer(offer, waits);
        }
        let half = &mut self.outward(pair).half;
        match message {
            Message::Share { offer, share } if half.active => half.hear_share(rules, now, offer, share),
            Message::Feedback { events } => return half.hear_reports(events),
            Message::Rate(rate) => half.hear_rate(rules, now, rate),
            Message::Offer { .. } | Message::Share { .. } => return,
        }
        self.plan_release(pair);
    }
}
