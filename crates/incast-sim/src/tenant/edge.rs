//! Guarantees at the receiver's link only (EyeQ, NSDI 2013).
//!
//! Receiving VMs share their server's link in proportion to their guarantees. A VM sends one rate to all its senders and adapts
//! it until its received traffic equals its share. Senders ignore congestion inside the network.

use super::Hypervisor;
use crate::kernel::Kind;
use crate::network::Network;
use crate::transport::{Job, Stack};

impl Network {
    /// Counts bytes received by a VM.
    pub(super) fn meter(&mut self, host: u32, bytes: u64) {
        let now = self.now;
        let hypervisors = self.hypers();
        hypervisors.vms[host as usize].metered += bytes;
        hypervisors.heard[host as usize] = now;
    }

    /// Sends the present rate to a new sender.
    pub(super) fn tell_new_sender(&mut self, pair: u32, host: u32) {
        let hypervisors = self.hypers();
        let rate = hypervisors.vms[host as usize].reported_rate;
        if rate.is_finite() && hypervisors.pairs[pair as usize].carries_data {
            self.tell(pair, Kind::Rate, [0, rate.to_bits()], false);
        }
    }

    /// Ends a period: adapts a VM's rate and sends it to all senders.
    pub(crate) fn look_at_meter(&mut self, host: u32) {
        let now = self.now;
        self.drop_idle(host);
        let hypervisors = self.hypers();
        let Hypervisor::EdgeOnly(params) = hypervisors.rules.params.clone() else { return };
        hypervisors.counts.allocations += 1;
        let all = hypervisors.recent_hoses(hypervisors.vms[host as usize].server, &params, &hypervisors.heard, now);
        // Answers of its own destinations are not limited.
        let data = |pair: &u32| hypervisors.pairs[*pair as usize].carries_data;
        let vm = &mut hypervisors.vms[host as usize];
        let senders: Vec<u32> = vm.receives.iter().copied().filter(data).collect();
        let (rate, next) = vm.adapt(&params, now, all, senders.len());
        let (nic, awake) = (vm.nic, vm.awake);
        for pair in senders {
            self.tell(pair, Kind::Rate, [0, rate.to_bits()], false);
        }
        if awake {
            self.plan(nic, next, Job::Meter(host));
        }
    }
}
