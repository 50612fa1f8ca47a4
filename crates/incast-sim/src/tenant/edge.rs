//! Guarantees at the receiver's link alone (EyeQ, NSDI 2013).
//!
//! A VM may receive its part of its server's link: in proportion to its guarantee among the VMs of the server that are receiving.
//! It tells all who send to it one rate, and moves that rate until what comes is what it may have. Who sends heeds nothing else, so
//! nobody notices what happens farther inside.

use super::Hypervisor;
use crate::kernel::Kind;
use crate::network::Network;
use crate::transport::Job;

/// No VM tells its senders less than this share of what it may receive.
const LEAST: f64 = 1e-3;

impl Network {
    /// Bytes of a pair have come: its sender is told the rate every so often.
    pub(super) fn meter(&mut self, pair: u32, host: u32, bytes: u64) {
        let now = self.now;
        let hypervisors = self.hypervisors.as_mut().expect("asked by one of them");
        let Hypervisor::EdgeOnly(params) = &hypervisors.params else { return };
        let vm = &mut hypervisors.vms[host as usize];
        vm.metered += bytes;
        vm.last_heard = now;
        let one = &mut hypervisors.pairs[pair as usize];
        // Answers of those that it sends to are not what a VM holds back.
        if one.carries_data && one.receive.untold >= params.told_every.0 && vm.told_rate.is_finite() {
            one.receive.untold = 0;
            let rate = vm.told_rate;
            self.tell(pair, Kind::Told, [0, rate.to_bits()], false);
        }
    }

    /// A period is over: the rate that a VM tells follows what it received.
    pub(crate) fn look_at_meter(&mut self, host: u32) {
        let now = self.now;
        self.drop_idle(host);
        let hypervisors = self.hypervisors.as_mut().expect("asked by one of them");
        let Hypervisor::EdgeOnly(params) = hypervisors.params.clone() else { return };
        hypervisors.counts.allocations += 1;
        let server = hypervisors.vms[host as usize].server;
        let heard = |last: u64| last > 0 && now - last < params.idle_timeout.0;
        let others: f64 = hypervisors.servers[&server]
            .iter()
            .map(|&other| &hypervisors.vms[other as usize])
            .filter(|vm| heard(vm.last_heard))
            .map(|vm| vm.receive)
            .sum();
        let vm = &mut hypervisors.vms[host as usize];
        let may = (1.0 - params.headroom) * vm.line * vm.receive / others.max(vm.receive);
        let came = std::mem::take(&mut vm.metered) as f64 * 8e12 / params.period.0 as f64;
        let told = if vm.told_rate.is_finite() { vm.told_rate } else { may };
        vm.told_rate = (told * (1.0 - params.gain * (came - may) / may)).clamp(LEAST * may, vm.line);
        if vm.awake {
            let (nic, time) = (vm.nic, now + params.period.0);
            self.plan(nic, time, Job::Meter(host));
        }
    }

    /// A receiver has told its rate.
    pub(super) fn hear_rate(&mut self, pair: u32, rate: f64) {
        let (now, packet) = (self.now, self.full_packet());
        let hypervisors = self.hypervisors.as_mut().expect("asked by one of them");
        hypervisors.pairs[pair as usize].send.allocator.limit = rate;
        hypervisors.set_limit(pair, now, packet);
        self.plan_release(pair);
    }
}
