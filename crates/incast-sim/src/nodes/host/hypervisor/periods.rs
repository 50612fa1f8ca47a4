//! Timers of a VM: guarantee partitioning, rate allocation, measurement of received traffic.

use super::Work;
use crate::kernel::LocalPort;
use crate::nodes::message::Message;
use crate::tenant::{ElasticSwitchParams, Hypervisor, Share, partition};
use crate::transport::{Job, Stack};

impl<const RUN: u8> Work<'_, RUN> {
    pub(super) fn wake_sender(&mut self, pair: u32) {
        let (rules, now) = (self.rules(), self.host.now);
        let half = &mut self.outward(pair).half;
        if half.active || rules.params.rate().is_none() {
            half.active = true;
            return;
        }
        let vm = &mut self.hypervisor().vm;
        vm.sends.push(pair);
        let equal = vm.send / vm.sends.len() as f64;
        self.outward(pair).half.wake(rules, now, equal);
        self.wake_vm();
    }

    pub(super) fn wake_receiver(&mut self, pair: u32) {
        let (rules, now) = (self.rules(), self.host.now);
        let half = &mut self.inward(pair).half;
        if half.active || matches!(rules.params, Hypervisor::Reservation(_)) {
            return;
        }
        half.wake(now);
        self.hypervisor().vm.receives.push(pair);
        self.wake_vm();
        if matches!(rules.params, Hypervisor::EdgeOnly(_)) {
            self.tell_new_sender(pair);
        }
    }

    fn wake_vm(&mut self) {
        let (rules, host, now) = (self.rules(), self.host.params.id.0, self.host.now);
        for (time, job) in self.hypervisor().vm.wake(rules, host, now) {
            self.plan(LocalPort(0), time, job);
        }
    }

    /// Only while the VM's timers run.
    fn plan_next(&mut self, period: u64, job: Job) {
        let now = self.host.now;
        let vm = &self.hypervisor().vm;
        if vm.awake {
            let next = vm.next_strike(now, period);
            self.plan(LocalPort(0), next, job);
        }
    }

    /// New limits, congestion reports.
    pub(super) fn allocate_rates(&mut self) {
        let (all, rules, now) = (self.all(), self.rules(), self.host.now);
        self.drop_idle();
        let own = self.hypervisor();
        let (sends, receives) = (own.vm.sends.clone(), own.vm.receives.clone());
        for &pair in &sends {
            let half = &mut own.sends[all.pairs[pair as usize].at_src as usize].half;
            half.allocate(rules, &own.vm.title(&rules.params, half.shares.guarantee), now);
            own.counts.allocations += 1;
        }
        for pair in sends {
            self.plan_release(pair);
        }
        for pair in receives {
            if let Some(events) = self.inward(pair).half.report() {
                self.tell(pair, Message::Feedback { events });
            }
        }
        if let Some(rate) = rules.params.rate() {
            self.plan_next(rate.period.0, Job::Allocate(self.host.params.id.0));
        }
    }

    fn drop_idle(&mut self) {
        let (all, now) = (self.all(), self.host.now);
        let patience = all.rules.params.idle_timeout().0;
        let super::HostHypervisor { vm, sends, receives, .. } = self.hypervisor();
        let pairs = &all.pairs;
        vm.sends.retain(|&pair| sends[pairs[pair as usize].at_src as usize].half.stays_active(now, patience));
        vm.receives.retain(|&pair| receives[pairs[pair as usize].at_dst as usize].half.stays_active(now, patience));
        vm.awake = !vm.sends.is_empty() || !vm.receives.is_empty();
    }

    pub(super) fn divide(&mut self) {
        let (all, now) = (self.all(), self.host.now);
        let Hypervisor::ElasticSwitch(params) = &all.rules.params else { return };
        let own = self.hypervisor();
        let (since, seconds) = own.vm.end_period(now);
        for &pair in &own.vm.sends {
            own.sends[all.pairs[pair as usize].at_src as usize].half.measure(params, since, seconds);
        }
        for &pair in &own.vm.receives {
            own.receives[all.pairs[pair as usize].at_dst as usize].half.measure(params, since, seconds);
        }
        self.partition_both(params);
        self.plan_next(params.partition_period.0, Job::Divide(self.host.params.id.0));
    }

    /// Divides the guarantee for new pairs.
    pub(super) fn divide_soon(&mut self) {
        self.hypervisor().vm.soon = false;
        if let Hypervisor::ElasticSwitch(params) = &self.rules().params {
            self.partition_both(params);
        }
    }

    fn partition_both(&mut self, params: &ElasticSwitchParams) {
        let (rules, now) = (self.rules(), self.host.now);
        let own = self.hypervisor();
        own.counts.partitions += 1;
        let (sends, hose) = (own.vm.sends.clone(), own.vm.send);
        let wants: Vec<_> = sends.iter().map(|&pair| self.outward(pair).half.want()).collect();
        let equal = hose / sends.len() as f64;
        for (pair, share) in sends.into_iter().zip(partition(hose, params.floor, &wants)) {
            let waits = self.outward(pair).half.take_share(rules, now, share, equal);
            self.tell(pair, Message::Offer { offer: share.offer, waits });
            self.plan_release(pair);
        }
        let vm = &self.hypervisor().vm;
        let (receives, hose) = (vm.receives.clone(), vm.receive);
        let wants: Vec<_> = receives.iter().map(|&pair| self.inward(pair).half.want()).collect();
        for (pair, Share { share, offer }) in receives.into_iter().zip(partition(hose, params.floor, &wants)) {
            self.tell(pair, Message::Share { offer, share });
        }
    }

    pub(super) fn meter(&mut self, bytes: u64) {
        self.hypervisor().vm.metered += bytes;
        let (host, now) = (self.host.params.id.index(), self.host.now);
        if let Some(heard) = self.out.shared.heard.get_mut(host) {
            *heard = now;
        }
    }

    fn tell_new_sender(&mut self, pair: u32) {
        let rate = self.hypervisor().vm.reported_rate;
        if rate.is_finite() && self.all().pairs[pair as usize].carries_data {
            self.tell(pair, Message::Rate(rate));
        }
    }

    /// Adapts the VM's rate and sends it to all senders.
    pub(super) fn look_at_meter(&mut self) {
        let (all, now) = (self.all(), self.host.now);
        self.drop_idle();
        let Hypervisor::EdgeOnly(params) = &all.rules.params else { return };
        let server = self.hypervisor().vm.server;
        let hoses = all.recent_hoses(server, params, &self.out.shared.heard, now);
        let own = self.hypervisor();
        own.counts.allocations += 1;
        // Answers of its own destinations are not limited.
        let data = |pair: &u32| all.pairs[*pair as usize].carries_data;
        let senders: Vec<u32> = own.vm.receives.iter().copied().filter(data).collect();
        let (rate, next) = own.vm.adapt(params, now, hoses, senders.len());
        let awake = own.vm.awake;
        for pair in senders {
            self.tell(pair, Message::Rate(rate));
        }
        if awake {
            self.plan(LocalPort(0), next, Job::Meter(self.host.params.id.0));
        }
    }
}
