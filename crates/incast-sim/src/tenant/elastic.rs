//! ElasticSwitch and Seawall: timers of VMs, and messages between hypervisors.

use super::partition::{Share, Want, partition};
use super::{ElasticSwitchParams, Hypervisor, Hypervisors};
use crate::kernel::{Kind, flag};
use crate::network::Network;
use crate::transport::{Job, Stack};

impl Network {
    /// Bytes of a full packet with the gap behind it.
    pub(crate) fn full_packet(&self) -> u64 {
        self.config.packets.mss.0 + self.config.packets.segment_header.0 + self.config.packets.gap.0
    }

    pub(super) fn hypers(&mut self) -> &mut Hypervisors {
        self.hypervisors.as_mut().expect("asked by one of them")
    }

    pub(super) fn wake_sender(&mut self, pair: u32) {
        let now = self.now;
        let hypervisors = self.hypers();
        let one = &mut hypervisors.pairs[pair as usize];
        if one.send.active || hypervisors.rules.params.rate().is_none() {
            one.send.active = true;
            return;
        }
        let src = one.src;
        let vm = &mut hypervisors.vms[src as usize];
        vm.sends.push(pair);
        one.send.wake(&hypervisors.rules, now, vm.send / vm.sends.len() as f64);
        self.wake_vm(src);
    }

    pub(super) fn wake_receiver(&mut self, pair: u32) {
        let now = self.now;
        let hypervisors = self.hypers();
        let one = &mut hypervisors.pairs[pair as usize];
        if one.receive.active || matches!(hypervisors.rules.params, Hypervisor::Reservation(_)) {
            return;
        }
        one.receive.wake(now);
        let dst = one.dst;
        let reports = matches!(hypervisors.rules.params, Hypervisor::EdgeOnly(_));
        hypervisors.vms[dst as usize].receives.push(pair);
        self.wake_vm(dst);
        if reports {
            self.tell_new_sender(pair, dst);
        }
    }

    /// Starts a VM's timers for a new pair.
    fn wake_vm(&mut self, host: u32) {
        let now = self.now;
        let hypervisors = self.hypers();
        let vm = &mut hypervisors.vms[host as usize];
        let (nic, jobs) = (vm.nic, vm.wake(&hypervisors.rules, host, now));
        for (time, job) in jobs {
            self.plan(nic, time, job);
        }
    }

    /// Ends a period of rate allocation: new limits, congestion reports.
    pub(crate) fn allocate_rates(&mut self, host: u32) {
        let now = self.now;
        self.drop_idle(host);
        let hypervisors = self.hypers();
        let vm = &hypervisors.vms[host as usize];
        let (sends, receives) = (vm.sends.clone(), vm.receives.clone());
        for &pair in &sends {
            let send = &mut hypervisors.pairs[pair as usize].send;
            let title = vm.title(&hypervisors.rules.params, send.guarantee);
            hypervisors.counts.allocations += 1;
            send.allocate(&hypervisors.rules, &title, now);
        }
        for pair in sends {
            self.plan_release(pair);
        }
        for pair in receives {
            if let Some(report) = self.hypers().pairs[pair as usize].receive.report() {
                self.tell(pair, Kind::Feedback, report, false);
            }
        }
        let hypervisors = self.hypers();
        let rate = hypervisors.rules.params.rate().expect("planned by these alone");
        let vm = &hypervisors.vms[host as usize];
        if vm.awake {
            let (nic, next) = (vm.nic, vm.next_strike(now, rate.period.0));
            self.plan(nic, next, Job::Allocate(host));
        }
    }

    /// Ends activity of idle pairs and VMs.
    pub(super) fn drop_idle(&mut self, host: u32) {
        let now = self.now;
        let hypervisors = self.hypers();
        let patience = hypervisors.rules.params.idle_timeout().0;
        let (vm, pairs) = (&mut hypervisors.vms[host as usize], &mut hypervisors.pairs);
        vm.sends.retain(|&pair| pairs[pair as usize].send.stays_active(now, patience));
        vm.receives.retain(|&pair| pairs[pair as usize].receive.stays_active(now, patience));
        vm.awake = !vm.sends.is_empty() || !vm.receives.is_empty();
    }

    /// Ends a period of guarantee partitioning.
    pub(crate) fn divide(&mut self, host: u32) {
        let now = self.now;
        let hypervisors = self.hypers();
        let Hypervisor::ElasticSwitch(params) = hypervisors.rules.params.clone() else { return };
        let vm = &mut hypervisors.vms[host as usize];
        let (since, seconds) = vm.end_period(now);
        for &pair in &vm.sends {
            hypervisors.pairs[pair as usize].send.measure(&params, since, seconds);
        }
        for &pair in &vm.receives {
            hypervisors.pairs[pair as usize].receive.measure(&params, since, seconds);
        }
        self.partition_both(host, &params);
        let vm = &self.hypers().vms[host as usize];
        if vm.awake {
            let (nic, next) = (vm.nic, vm.next_strike(now, params.partition_period.0));
            self.plan(nic, next, Job::Divide(host));
        }
    }

    /// Divides a guarantee early, for new pairs.
    pub(crate) fn divide_soon(&mut self, host: u32) {
        let hypervisors = self.hypers();
        hypervisors.vms[host as usize].soon = false;
        if let Hypervisor::ElasticSwitch(params) = hypervisors.rules.params.clone() {
            self.partition_both(host, &params);
        }
    }

    fn partition_both(&mut self, host: u32, params: &ElasticSwitchParams) {
        let now = self.now;
        let hypervisors = self.hypers();
        hypervisors.counts.partitions += 1;
        let vm = &hypervisors.vms[host as usize];
        let (sends, hose) = (vm.sends.clone(), vm.send);
        let wants: Vec<Want> = sends.iter().map(|&pair| hypervisors.pairs[pair as usize].send.want()).collect();
        let equal = hose / sends.len() as f64;
        for (pair, share) in sends.into_iter().zip(partition(hose, params.floor, &wants)) {
            let hypervisors = self.hypers();
            let waits = hypervisors.pairs[pair as usize].send.take_share(&hypervisors.rules, now, share, equal);
            self.tell(pair, Kind::Offer, [share.offer.to_bits(), 0], waits);
            self.plan_release(pair);
        }
        self.partition_received(host, params.floor);
    }

    fn partition_received(&mut self, host: u32, floor: f64) {
        let hypervisors = self.hypers();
        let vm = &hypervisors.vms[host as usize];
        let receives = vm.receives.clone();
        let wants: Vec<Want> = receives.iter().map(|&pair| hypervisors.pairs[pair as usize].receive.want()).collect();
        let shares: Vec<Share> = partition(vm.receive, floor, &wants);
        for (pair, share) in receives.into_iter().zip(shares) {
            self.tell(pair, Kind::Share, [share.offer.to_bits(), share.share.to_bits()], false);
        }
    }

    pub(crate) fn receive_message(&mut self, id: u32) {
        let (packet, now) = (self.pool[id], self.now);
        let pair = self.hypers().pair_of_message(packet.flow, packet.kind.is_forward(), packet.dst);
        if packet.kind == Kind::Offer {
            self.wake_receiver(pair);
        }
        let hypervisors = self.hypers();
        let (one, rules) = (&mut hypervisors.pairs[pair as usize], &hypervisors.rules);
        let [first, second] = [packet.seq, packet.stamp].map(f64::from_bits);
        match packet.kind {
            Kind::Offer => one.receive.hear_offer(first, packet.flags & flag::ECHO != 0),
            Kind::Share if one.send.active => {
                one.send.hear_share(rules, now, first, second);
                self.plan_release(pair);
            }
            Kind::Feedback => one.send.hear_reports(packet.seq),
            Kind::Rate => {
                one.send.hear_rate(rules, now, second);
                self.plan_release(pair);
            }
            _ => {}
        }
        self.pool.release(id);
    }
}
