//! VM at its hypervisor. Rates in bit/s.

use super::allocate::Title;
use super::{EdgeOnlyParams, Hypervisor, Rules, WeightMode};
use crate::transport::Job;

/// Minimum rate for senders, as a fraction of the VM's share (our choice).
const LEAST: f64 = 1e-3;

#[derive(Debug, Clone)]
pub(crate) struct Vm {
    pub(crate) send: f64,
    pub(crate) receive: f64,
    line: f64,
    pub(crate) server: u32,
    pub(crate) sends: Vec<u32>,
    pub(crate) receives: Vec<u32>,
    /// Periods' phase in [0, 1): hypervisors are not synchronised.
    phase: f64,
    pub(crate) awake: bool,
    /// Last full division (`edge_only`: measurement).
    divided_at: u64,
    pub(crate) soon: bool,
    /// `edge_only`: rate for senders.
    pub(crate) reported_rate: f64,
    pub(crate) metered: u64,
}

impl Vm {
    pub(super) const fn new(server: u32, hoses: [f64; 2], line: f64, phase: f64) -> Self {
        Self {
            send: hoses[0],
            receive: hoses[1],
            line,
            server,
            sends: Vec::new(),
            receives: Vec::new(),
            phase,
            awake: false,
            divided_at: 0,
            soon: false,
            reported_rate: f64::INFINITY,
            metered: 0,
        }
    }

    pub(super) const fn at_most(&self, rate: f64) -> f64 {
        rate.min(self.line)
    }

    /// Starts timers for a new pair; ElasticSwitch divides soon. Returns new tasks, times in ps.
    pub(crate) fn wake(&mut self, rules: &Rules, host: u32, now: u64) -> Vec<(u64, Job)> {
        let starts = !std::mem::replace(&mut self.awake, true);
        if starts {
            self.divided_at = now;
        }
        let mut jobs: Vec<(u64, Job)> = Vec::new();
        match &rules.params {
            Hypervisor::ElasticSwitch(params) => {
                if !std::mem::replace(&mut self.soon, true) {
                    jobs.push((now + params.new_pair_delay.0, Job::DivideSoon(host)));
                }
                if starts {
                    jobs.push((self.next_strike(now, params.partition_period.0), Job::Divide(host)));
                    jobs.push((self.next_strike(now, params.rate.period.0), Job::Allocate(host)));
                }
            }
            Hypervisor::Seawall(params) if starts => {
                jobs.push((self.next_strike(now, params.rate.period.0), Job::Allocate(host)));
            }
            Hypervisor::EdgeOnly(params) if starts => {
                jobs.push((self.next_strike(now, params.period.0), Job::Meter(host)));
            }
            _ => {}
        }
        jobs
    }

    /// In the host's phase.
    pub(crate) fn next_strike(&self, now: u64, period: u64) -> u64 {
        let offset = (period as f64 * self.phase) as u64;
        let past = (now + period - offset) / period;
        past * period + offset
    }

    pub(crate) fn title(&self, params: &Hypervisor, guarantee: f64) -> Title {
        match params {
            Hypervisor::ElasticSwitch(params) => {
                let of = params.weight_of.0 as f64;
                let weight = match params.weight {
                    WeightMode::Proportional => guarantee / of,
                    WeightMode::Literal => of / guarantee,
                };
                Title { guarantee, weight, line: self.line }
            }
            Hypervisor::Seawall(params) => Title {
                guarantee: params.min_rate.0 as f64,
                weight: params.weight / self.sends.len().max(1) as f64,
                line: self.line,
            },
            Hypervisor::Reservation(_) | Hypervisor::EdgeOnly(_) => {
                unreachable!("only hypervisors that look for limits ask")
            }
        }
    }

    /// Returns its begin in ps and length in s.
    pub(crate) const fn end_period(&mut self, now: u64) -> (u64, f64) {
        let since = std::mem::replace(&mut self.divided_at, now);
        (since, (now - since) as f64 * 1e-12)
    }

    /// `all`: hoses of the server's VMs that received recently.
    fn may_receive(&self, params: &EdgeOnlyParams, all: f64) -> f64 {
        (1.0 - params.headroom) * self.line * self.receive / all.max(self.receive)
    }

    pub(crate) fn adapt(&mut self, params: &EdgeOnlyParams, now: u64, all: f64, senders: usize) -> (f64, u64) {
        let may = self.may_receive(params, all);
        let (_, seconds) = self.end_period(now);
        let came = std::mem::take(&mut self.metered) as f64 * 8.0 / seconds;
        let reported = if self.reported_rate.is_finite() { self.reported_rate } else { may };
        self.reported_rate = (reported * (1.0 - params.gain * (came - may) / may)).clamp(LEAST * may, self.line);
        (self.reported_rate, now + until_next(params, senders, may))
    }
}

/// In ps: at least a period, and `feedback_every` received bytes per message. Faster changes would oscillate.
fn until_next(params: &EdgeOnlyParams, senders: usize, may: f64) -> u64 {
    let bits = (8 * params.feedback_every.0 * senders as u64) as f64;
    params.period.0.max((bits / may * 1e12) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tenant::ElasticSwitchParams;

    const MS: u64 = 1_000_000_000;

    #[test]
    fn timers_start_with_the_first_pair_in_the_phase_of_the_vm() {
        let rules = Rules { params: Hypervisor::ElasticSwitch(ElasticSwitchParams::default()), packet: 1250 };
        let mut vm = Vm::new(0, [1e8; 2], 1e9, 0.5);
        let soon = (11 * MS, Job::DivideSoon(7));
        let jobs = vm.wake(&rules, 7, 10 * MS);
        assert_eq!(jobs, [soon, (30 * MS, Job::Divide(7)), (22 * MS + MS / 2, Job::Allocate(7))]);
        assert!(vm.wake(&rules, 7, 10 * MS).is_empty(), "one division for all new pairs");
        vm.soon = false;
        assert_eq!(vm.wake(&rules, 7, 10 * MS), [soon]);
        assert_eq!(vm.next_strike(30 * MS, 60 * MS), 90 * MS);
        assert_eq!(vm.end_period(70 * MS), (10 * MS, 0.06));
    }

    #[test]
    fn a_receiver_adapts_the_rate_of_its_senders_to_its_share() {
        let params = EdgeOnlyParams { headroom: 0.0, gain: 0.5, ..EdgeOnlyParams::default() };
        let mut vm = Vm::new(0, [1e8; 2], 1e9, 0.0);
        // 375 of a share of 500 Mb/s came: 500 (1 + 0.5 * 125 / 500). Then 1000: 562.5 (1 - 0.5 * 500 / 500).
        vm.metered = 46_875;
        assert_eq!(vm.adapt(&params, MS, 2e8, 1), (562.5e6, MS + 200_000_000));
        vm.metered = 125_000;
        assert_eq!(vm.adapt(&params, 2 * MS, 2e8, 10).0, 281.25e6);
        assert_eq!(vm.reported_rate, 281.25e6);
    }
}
