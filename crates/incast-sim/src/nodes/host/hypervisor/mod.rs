//! Hypervisor of a VM: the limiter in front of its port, counters of what arrives, timers, and messages to other hypervisors.
//! The rules are those of [`crate::tenant`].

mod limiter;
mod periods;

use std::collections::VecDeque;

use super::Host;
use super::stack::Work;
use crate::kernel::{Kind, Range, flag};
use crate::network::Network;
use crate::nodes::Nodes;
use crate::nodes::packet::Packet;
use crate::nodes::plan::Plan;
use crate::outcome::HypervisorCounts;
use crate::tenant::{Hypervisors, Receiving, Rules, Sending, Vm};
use crate::transport::Job;

#[derive(Debug)]
pub(super) struct HostHypervisor {
    vm: Vm,
    /// Pairs that the VM sends, and pairs that it receives.
    sends: Vec<Outward>,
    receives: Vec<Inward>,
    counts: HypervisorCounts,
}

#[derive(Debug)]
struct Outward {
    /// Number of the pair in the run.
    pair: u32,
    half: Sending,
    /// Packets at the limiter.
    queue: VecDeque<(Packet, Vec<Range>)>,
}

#[derive(Debug)]
struct Inward {
    pair: u32,
    half: Receiving,
}

impl HostHypervisor {
    /// `None` if the run has no hypervisors.
    pub(super) fn new(plan: Plan<'_>, host: u32) -> Option<Box<Self>> {
        let all = plan.network.hypervisors.as_ref()?;
        let pairs = || (0u32..).zip(&all.pairs);
        let sends = pairs().filter(|(_, one)| one.src == host);
        let receives = pairs().filter(|(_, one)| one.dst == host);
        Some(Box::new(Self {
            vm: all.vms[host as usize].clone(),
            sends: sends.map(|(pair, one)| Outward { pair, half: one.send.clone(), queue: VecDeque::new() }).collect(),
            receives: receives.map(|(pair, one)| Inward { pair, half: one.receive.clone() }).collect(),
            counts: HypervisorCounts::default(),
        }))
    }
}

impl Host {
    fn export_hypervisor(&self, all: &mut Hypervisors) {
        let Some(own) = &self.hypervisor else { return };
        for one in &own.sends {
            all.pairs[one.pair as usize].send.clone_from(&one.half);
        }
        for one in &own.receives {
            all.pairs[one.pair as usize].receive.clone_from(&one.half);
        }
        all.counts.messages += own.counts.messages;
        all.counts.message_bytes += own.counts.message_bytes;
        all.counts.allocations += own.counts.allocations;
        all.counts.partitions += own.counts.partitions;
    }
}

impl Nodes {
    /// Exports both halves of all pairs of VMs, and the counters of hypervisors.
    pub(in crate::nodes) fn export_hypervisors(&self, network: &mut Network) {
        if let Some(all) = &mut network.hypervisors {
            all.counts = HypervisorCounts::default();
            self.hosts.iter().for_each(|host| host.export_hypervisor(all));
        }
    }
}

/// Only runs with hypervisors call these.
impl<'a> Work<'a> {
    /// Pairs and rules; their states are in the hosts.
    fn all(&self) -> &'a Hypervisors {
        self.plan.network.hypervisors.as_ref().expect("the run has hypervisors")
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

    /// Pair of a packet that a flow sends or receives here.
    fn pair_of(&self, packet: &Packet) -> u32 {
        self.all().pair_of(packet.flow, packet.kind.is_forward())
    }

    /// Wire bytes with the gap, as limiters count.
    fn weight_of(&self, packet: &Packet) -> u64 {
        u64::from(packet.size) + self.host.packets.gap.0
    }

    /// A task of the hypervisor is due.
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

    /// Handles a packet that arrives at the VM. Returns it as the transport gets it; `None` if it is a message.
    pub(super) fn pass_hypervisor(&mut self, packet: &Packet) -> Option<Packet> {
        match packet.kind {
            Kind::Offer | Kind::Share | Kind::Feedback | Kind::Rate => {
                self.receive_message(packet);
                None
            }
            _ => Some(self.count_arrival(packet)),
        }
    }

    /// Sends a message between the hypervisors of a pair.
    fn tell(&mut self, pair: u32, kind: Kind, [seq, stamp]: [u64; 2], bit: bool) {
        let one = &self.all().pairs[pair as usize];
        let packet = Packet {
            seq,
            stamp,
            flow: one.flow,
            dst: if kind.is_forward() { one.dst } else { one.src },
            size: self.host.packets.control.0 as u16,
            kind,
            prio: self.plan.network.flows.flows[one.flow as usize].priority,
            flags: flag::NOT_ECT | if bit { flag::ECHO } else { 0 },
            ..Packet::EMPTY
        };
        let bytes = self.host.packets.control.0 + self.host.packets.gap.0;
        let counts = &mut self.hypervisor().counts;
        counts.messages += 1;
        counts.message_bytes += bytes;
        self.out.live += 1;
        self.send_out(0, &packet, Vec::new());
    }

    fn receive_message(&mut self, packet: &Packet) {
        let (rules, now) = (self.rules(), self.host.now);
        let pair = self.all().pair_of_message(packet.flow, packet.kind.is_forward(), packet.dst);
        let [first, second] = [packet.seq, packet.stamp].map(f64::from_bits);
        if packet.kind == Kind::Offer {
            self.wake_receiver(pair);
            return self.inward(pair).half.hear_offer(first, packet.flags & flag::ECHO != 0);
        }
        let half = &mut self.outward(pair).half;
        match packet.kind {
            Kind::Share if half.active => half.hear_share(rules, now, first, second),
            Kind::Feedback => return half.hear_reports(packet.seq),
            Kind::Rate => half.hear_rate(rules, now, second),
            _ => return,
        }
        self.plan_release(pair);
    }
}
