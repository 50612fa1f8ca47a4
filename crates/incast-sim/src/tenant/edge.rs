//! Guarantees at the receiver's link only (EyeQ, NSDI 2013).
//!
//! Receiving VMs share their server's link in proportion to their guarantees. A VM sends one rate to all its senders and adapts
//! it until its received traffic equals its share. Senders ignore congestion inside the network.

use super::{EdgeOnlyParams, Hypervisor, Hypervisors};
use crate::kernel::Kind;
use crate::network::Network;
use crate::transport::{Job, Stack};

/// Minimum rate for senders, as a fraction of the VM's share (our choice).
const LEAST: f64 = 1e-3;

impl Network {
    /// Counts bytes received by a VM.
    pub(super) fn meter(&mut self, host: u32, bytes: u64) {
        let now = self.now;
        let vm = &mut self.hypers().vms[host as usize];
        vm.metered += bytes;
        vm.last_heard = now;
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
        let Hypervisor::EdgeOnly(params) = hypervisors.params.clone() else { return };
        hypervisors.counts.allocations += 1;
        let may = hypervisors.may_receive(host, &params, now);
        // Answers of its own destinations are not limited.
        let data = |pair: &u32| hypervisors.pairs[*pair as usize].carries_data;
        let senders: Vec<u32> = hypervisors.vms[host as usize].receives.iter().copied().filter(data).collect();
        let vm = &mut hypervisors.vms[host as usize];
        let seconds = (now - std::mem::replace(&mut vm.divided_at, now)) as f64 * 1e-12;
        let came = std::mem::take(&mut vm.metered) as f64 * 8.0 / seconds;
        let reported = if vm.reported_rate.is_finite() { vm.reported_rate } else { may };
        vm.reported_rate = (reported * (1.0 - params.gain * (came - may) / may)).clamp(LEAST * may, vm.line);
        let (rate, nic, awake) = (vm.reported_rate, vm.nic, vm.awake);
        for &pair in &senders {
            self.tell(pair, Kind::Rate, [0, rate.to_bits()], false);
        }
        if awake {
            self.plan(nic, now + until_next(&params, senders.len(), may), Job::Meter(host));
        }
    }

    pub(super) fn receive_rate(&mut self, pair: u32, rate: f64) {
        let (now, packet) = (self.now, self.full_packet());
        let hypervisors = self.hypers();
        hypervisors.pairs[pair as usize].send.allocator.limit = rate;
        hypervisors.set_limit(pair, now, packet);
        self.plan_release(pair);
    }
}

impl Hypervisors {
    /// Share of the server's link among recent receivers, in bit/s.
    fn may_receive(&self, host: u32, params: &EdgeOnlyParams, now: u64) -> f64 {
        let vm = &self.vms[host as usize];
        let heard = |last: u64| last > 0 && now - last < params.idle_timeout.0;
        let neighbours = self.servers[&vm.server].iter().map(|&other| &self.vms[other as usize]);
        let all: f64 = neighbours.filter(|vm| heard(vm.last_heard)).map(|vm| vm.receive).sum();
        (1.0 - params.headroom) * vm.line * vm.receive / all.max(vm.receive)
    }
}

/// Time to the next measurement in ps: at least a period, and at least `feedback_every` received bytes per message. A rate that
/// changed before all senders received it would oscillate.
fn until_next(params: &EdgeOnlyParams, senders: usize, may: f64) -> u64 {
    let bits = (8 * params.feedback_every.0 * senders as u64) as f64;
    params.period.0.max((bits / may * 1e12) as u64)
}
