//! Guarantees at the receiver's link alone (EyeQ, NSDI 2013).
//!
//! A VM may receive its part of its server's link: in proportion to its guarantee among the VMs of the server that are receiving.
//! It tells all who send to it one rate, and moves that rate until what comes is what it may have. Who sends heeds nothing else, so
//! nobody notices what happens farther inside.

use super::{EdgeOnlyParams, Hypervisor, Hypervisors};
use crate::kernel::Kind;
use crate::network::Network;
use crate::transport::{Job, Stack};

/// No VM tells its senders less than this share of what it may receive (our choice).
const LEAST: f64 = 1e-3;

impl Network {
    /// Bytes have come to a VM.
    pub(super) fn meter(&mut self, host: u32, bytes: u64) {
        let now = self.now;
        let vm = &mut self.hypers().vms[host as usize];
        vm.metered += bytes;
        vm.last_heard = now;
    }

    /// A new sender hears the rate at once, if there is one yet.
    pub(super) fn tell_new_sender(&mut self, pair: u32, host: u32) {
        let hypervisors = self.hypers();
        let rate = hypervisors.vms[host as usize].told_rate;
        if rate.is_finite() && hypervisors.pairs[pair as usize].carries_data {
            self.tell(pair, Kind::Told, [0, rate.to_bits()], false);
        }
    }

    /// A period is over: the rate that a VM tells follows what it received, and all that send to it are told.
    pub(crate) fn look_at_meter(&mut self, host: u32) {
        let now = self.now;
        self.drop_idle(host);
        let hypervisors = self.hypers();
        let Hypervisor::EdgeOnly(params) = hypervisors.params.clone() else { return };
        hypervisors.counts.allocations += 1;
        let may = hypervisors.may_receive(host, &params, now);
        // Answers of those that it sends to are not what a VM holds back.
        let data = |pair: &u32| hypervisors.pairs[*pair as usize].carries_data;
        let senders: Vec<u32> = hypervisors.vms[host as usize].receives.iter().copied().filter(data).collect();
        let vm = &mut hypervisors.vms[host as usize];
        let seconds = (now - std::mem::replace(&mut vm.divided_at, now)) as f64 * 1e-12;
        let came = std::mem::take(&mut vm.metered) as f64 * 8.0 / seconds;
        let told = if vm.told_rate.is_finite() { vm.told_rate } else { may };
        vm.told_rate = (told * (1.0 - params.gain * (came - may) / may)).clamp(LEAST * may, vm.line);
        let (rate, nic, awake) = (vm.told_rate, vm.nic, vm.awake);
        for &pair in &senders {
            self.tell(pair, Kind::Told, [0, rate.to_bits()], false);
        }
        if awake {
            self.plan(nic, now + until_next(&params, senders.len(), may), Job::Meter(host));
        }
    }

    /// A receiver has told its rate.
    pub(super) fn hear_rate(&mut self, pair: u32, rate: f64) {
        let (now, packet) = (self.now, self.full_packet());
        let hypervisors = self.hypers();
        hypervisors.pairs[pair as usize].send.allocator.limit = rate;
        hypervisors.set_limit(pair, now, packet);
        self.plan_release(pair);
    }
}

impl Hypervisors {
    /// What a VM may receive, in bit/s: its part of its server's link among those that have received lately.
    fn may_receive(&self, host: u32, params: &EdgeOnlyParams, now: u64) -> f64 {
        let vm = &self.vms[host as usize];
        let heard = |last: u64| last > 0 && now - last < params.idle_timeout.0;
        let neighbours = self.servers[&vm.server].iter().map(|&other| &self.vms[other as usize]);
        let all: f64 = neighbours.filter(|vm| heard(vm.last_heard)).map(|vm| vm.receive).sum();
        (1.0 - params.headroom) * vm.line * vm.receive / all.max(vm.receive)
    }
}

/// Time to the next look in ps: a period, or longer if telling all senders more often than once for so many bytes would take that.
/// A rate that moved before all had heard of it would swing.
fn until_next(params: &EdgeOnlyParams, senders: usize, may: f64) -> u64 {
    let bits = (8 * params.feedback_every.0 * senders as u64) as f64;
    params.period.0.max((bits / may * 1e12) as u64)
}
