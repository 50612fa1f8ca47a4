//! ElasticSwitch and Seawall: timers of VMs, and messages between hypervisors.

use super::allocate::{Allocator, Seen, Title};
use super::partition::{Share, Want, partition};
use super::{ElasticSwitchParams, Hypervisor, Hypervisors, WeightMode, Window};
use crate::kernel::{Kind, flag};
use crate::network::Network;
use crate::transport::{Job, Stack};

/// Share of its limit from which a pair counts as limited (our choice).
const BOUND_FROM: f64 = 0.8;

impl Hypervisors {
    fn title(&self, pair: u32) -> Title {
        let one = &self.pairs[pair as usize];
        let vm = &self.vms[one.src as usize];
        match &self.params {
            Hypervisor::ElasticSwitch(params) => {
                let (guarantee, of) = (one.send.guarantee, params.weight_of.0 as f64);
                let weight = match params.weight {
                    WeightMode::Proportional => guarantee / of,
                    WeightMode::Literal => of / guarantee,
                };
                Title { guarantee, weight, line: vm.line }
            }
            Hypervisor::Seawall(params) => Title {
                guarantee: params.min_rate.0 as f64,
                weight: params.weight / vm.sends.len().max(1) as f64,
                line: vm.line,
            },
            Hypervisor::Reservation(_) | Hypervisor::EdgeOnly(_) => {
                unreachable!("only hypervisors that look for limits ask")
            }
        }
    }

    pub(super) fn set_limit(&mut self, pair: u32, now: u64, packet: u64) {
        let burst = self.params.shaper().burst;
        let one = &mut self.pairs[pair as usize];
        let rate = (one.send.allocator.limit as u64).max(1);
        let bytes = (u128::from(rate) * u128::from(burst.0) / 8_000_000_000_000) as u64;
        one.shaper.set(now, Some(rate), bytes.max(2 * packet));
    }
}

impl Network {
    /// Bytes of a full packet with the gap behind it.
    pub(crate) fn full_packet(&self) -> u64 {
        self.config.packets.mss.0 + self.config.packets.segment_header.0 + self.config.packets.gap.0
    }

    pub(super) fn hypers(&mut self) -> &mut Hypervisors {
        self.hypervisors.as_mut().expect("asked by one of them")
    }

    pub(super) fn wake_sender(&mut self, pair: u32) {
        let (now, packet) = (self.now, self.full_packet());
        let hypervisors = self.hypers();
        if hypervisors.pairs[pair as usize].send.active || hypervisors.params.rate().is_none() {
            hypervisors.pairs[pair as usize].send.active = true;
            return;
        }
        let src = hypervisors.pairs[pair as usize].src;
        let vm = &mut hypervisors.vms[src as usize];
        vm.sends.push(pair);
        let equal = vm.send / vm.sends.len() as f64;
        let one = &mut hypervisors.pairs[pair as usize].send;
        (one.active, one.since, one.handled) = (true, now, one.reports);
        (one.divided, one.period) = (Window::default(), Window::default());
        (one.demand, one.mine, one.theirs, one.offer) = (f64::INFINITY, equal, f64::INFINITY, f64::INFINITY);
        one.guarantee = equal;
        let begin = match &hypervisors.params {
            Hypervisor::Seawall(params) => params.min_rate.0 as f64,
            _ => equal,
        };
        hypervisors.pairs[pair as usize].send.allocator = Allocator::new(begin, now);
        hypervisors.set_limit(pair, now, packet);
        self.wake_vm(src);
    }

    pub(super) fn wake_receiver(&mut self, pair: u32) {
        let now = self.now;
        let hypervisors = self.hypers();
        let one = &mut hypervisors.pairs[pair as usize];
        if one.receive.active || matches!(hypervisors.params, Hypervisor::Reservation(_)) {
            return;
        }
        (one.receive.active, one.receive.since, one.receive.last) = (true, now, now);
        (one.receive.bytes, one.receive.limited) = (0, false);
        (one.receive.demand, one.receive.offer) = (f64::INFINITY, f64::INFINITY);
        let dst = one.dst;
        let reports = matches!(hypervisors.params, Hypervisor::EdgeOnly(_));
        hypervisors.vms[dst as usize].receives.push(pair);
        self.wake_vm(dst);
        if reports {
            self.tell_new_sender(pair, dst);
        }
    }

    /// Starts a VM's timers for a new pair; ElasticSwitch divides its guarantee soon.
    fn wake_vm(&mut self, host: u32) {
        let now = self.now;
        let hypervisors = self.hypers();
        let params = hypervisors.params.clone();
        let vm = &mut hypervisors.vms[host as usize];
        let (nic, phase, starts) = (vm.nic, vm.phase, !std::mem::replace(&mut vm.awake, true));
        if starts {
            vm.divided_at = now;
        }
        let mut jobs: Vec<(u64, Job)> = Vec::new();
        match &params {
            Hypervisor::ElasticSwitch(params) => {
                if !std::mem::replace(&mut vm.soon, true) {
                    jobs.push((now + params.new_pair_delay.0, Job::DivideSoon(host)));
                }
                if starts {
                    jobs.push((next_strike(now, params.partition_period.0, phase), Job::Divide(host)));
                    jobs.push((next_strike(now, params.rate.period.0, phase), Job::Allocate(host)));
                }
            }
            Hypervisor::Seawall(params) if starts => {
                jobs.push((next_strike(now, params.rate.period.0, phase), Job::Allocate(host)));
            }
            Hypervisor::EdgeOnly(params) if starts => {
                jobs.push((next_strike(now, params.period.0, phase), Job::Meter(host)));
            }
            _ => {}
        }
        for (time, job) in jobs {
            self.plan(nic, time, job);
        }
    }

    /// Ends a period of rate allocation: new limits, congestion reports.
    pub(crate) fn allocate_rates(&mut self, host: u32) {
        let (now, packet) = (self.now, self.full_packet());
        self.drop_idle(host);
        let hypervisors = self.hypers();
        let rate = hypervisors.params.rate().expect("planned by these alone").clone();
        let vm = &hypervisors.vms[host as usize];
        let (nic, phase, sends, receives) = (vm.nic, vm.phase, vm.sends.clone(), vm.receives.clone());
        for &pair in &sends {
            let title = hypervisors.title(pair);
            hypervisors.counts.allocations += 1;
            let one = &mut hypervisors.pairs[pair as usize].send;
            let used = one.period.bytes as f64 * 8e12 / rate.period.0 as f64;
            let limited = one.period.waited || used >= BOUND_FROM * one.allocator.limit;
            let seen = Seen { congested: one.reports - one.handled, limited };
            (one.handled, one.period) = (one.reports, Window::default());
            one.allocator.tick(&rate, &title, now, seen);
            hypervisors.set_limit(pair, now, packet);
        }
        for pair in sends {
            self.plan_release(pair);
        }
        for pair in receives {
            let one = &mut self.hypers().pairs[pair as usize];
            let congested = one.count.lost + one.count.marked;
            if congested > one.receive.reports {
                one.receive.reports = congested;
                let received = one.count.received;
                self.tell(pair, Kind::Feedback, [congested, received], false);
            }
        }
        if self.hypers().vms[host as usize].awake {
            self.plan(nic, next_strike(now, rate.period.0, phase), Job::Allocate(host));
        }
    }

    /// Ends activity of idle pairs and VMs.
    pub(super) fn drop_idle(&mut self, host: u32) {
        let now = self.now;
        let hypervisors = self.hypers();
        let patience = hypervisors.params.idle_timeout().0;
        let mut vm = std::mem::take(&mut hypervisors.vms[host as usize].sends);
        vm.retain(|&pair| {
            let one = &mut hypervisors.pairs[pair as usize];
            one.send.active = one.shaper.packets > 0 || now - one.send.last < patience;
            one.send.active
        });
        let mut receives = std::mem::take(&mut hypervisors.vms[host as usize].receives);
        receives.retain(|&pair| {
            let one = &mut hypervisors.pairs[pair as usize].receive;
            one.active = now - one.last < patience;
            one.active
        });
        let of_host = &mut hypervisors.vms[host as usize];
        of_host.awake = !vm.is_empty() || !receives.is_empty();
        (of_host.sends, of_host.receives) = (vm, receives);
    }

    /// Ends a period of guarantee partitioning.
    pub(crate) fn divide(&mut self, host: u32) {
        let now = self.now;
        let hypervisors = self.hypers();
        let Hypervisor::ElasticSwitch(params) = hypervisors.params.clone() else { return };
        let vm = &mut hypervisors.vms[host as usize];
        let seconds = (now - vm.divided_at) as f64 * 1e-12;
        let (nic, phase, since) = (vm.nic, vm.phase, std::mem::replace(&mut vm.divided_at, now));
        for pair in vm.sends.clone() {
            hypervisors.pairs[pair as usize].measure_sender(&params, since, seconds);
        }
        for pair in hypervisors.vms[host as usize].receives.clone() {
            hypervisors.pairs[pair as usize].measure_receiver(&params, since, seconds);
        }
        self.partition_both(host, &params);
        if self.hypers().vms[host as usize].awake {
            self.plan(nic, next_strike(now, params.partition_period.0, phase), Job::Divide(host));
        }
    }

    /// Divides a guarantee early, for new pairs.
    pub(crate) fn divide_soon(&mut self, host: u32) {
        let hypervisors = self.hypers();
        hypervisors.vms[host as usize].soon = false;
        if let Hypervisor::ElasticSwitch(params) = hypervisors.params.clone() {
            self.partition_both(host, &params);
        }
    }

    fn partition_both(&mut self, host: u32, params: &ElasticSwitchParams) {
        let packet = self.full_packet();
        let now = self.now;
        let hypervisors = self.hypers();
        hypervisors.counts.partitions += 1;
        let (sends, send) = (hypervisors.vms[host as usize].sends.clone(), hypervisors.vms[host as usize].send);
        let want = |pair: &u32| {
            let one = &hypervisors.pairs[*pair as usize].send;
            Want { demand: one.demand, offer: one.offer }
        };
        let shares = if sends.is_empty() {
            Vec::new()
        } else {
            partition(send, params.floor, &sends.iter().map(want).collect::<Vec<_>>())
        };
        for (&pair, share) in sends.iter().zip(shares) {
            let count = sends.len() as f64;
            let hypervisors = self.hypers();
            let one = &mut hypervisors.pairs[pair as usize].send;
            one.mine = share.share;
            // Before the other end's first message: at most an equal part.
            let theirs = if one.theirs.is_finite() { one.theirs } else { send / count };
            one.guarantee = one.mine.min(theirs);
            one.allocator.raise(one.guarantee);
            let limited = one.demand == f64::INFINITY;
            hypervisors.set_limit(pair, now, packet);
            self.tell(pair, Kind::Offer, [share.offer.to_bits(), 0], limited);
            self.plan_release(pair);
        }
        self.partition_received(host, params.floor);
    }

    fn partition_received(&mut self, host: u32, floor: f64) {
        let hypervisors = self.hypers();
        let vm = &hypervisors.vms[host as usize];
        let receives = vm.receives.clone();
        if receives.is_empty() {
            return;
        }
        let want = |pair: &u32| {
            let one = &hypervisors.pairs[*pair as usize].receive;
            Want { demand: if one.limited { f64::INFINITY } else { one.demand }, offer: one.offer }
        };
        let shares: Vec<Share> = partition(vm.receive, floor, &receives.iter().map(want).collect::<Vec<_>>());
        for (pair, share) in receives.into_iter().zip(shares) {
            self.tell(pair, Kind::Share, [share.offer.to_bits(), share.share.to_bits()], false);
        }
    }

    pub(crate) fn receive_message(&mut self, id: u32) {
        let (packet, now, full) = (self.pool[id], self.now, self.full_packet());
        let pair = self.pair_of_message(&packet);
        if packet.kind == Kind::Offer {
            self.wake_receiver(pair);
        }
        let hypervisors = self.hypers();
        let one = &mut hypervisors.pairs[pair as usize];
        match packet.kind {
            Kind::Offer => {
                one.receive.offer = f64::from_bits(packet.seq);
                one.receive.limited = packet.flags & flag::ECHO != 0;
            }
            Kind::Share if one.send.active => {
                one.send.offer = f64::from_bits(packet.seq);
                let first = !one.send.theirs.is_finite();
                one.send.theirs = f64::from_bits(packet.stamp);
                one.send.guarantee = one.send.mine.min(one.send.theirs);
                if first {
                    // The first limit was a guess: it must not persist until congestion ends it.
                    one.send.allocator = Allocator::new(one.send.guarantee, now);
                } else {
                    one.send.allocator.raise(one.send.guarantee);
                }
                hypervisors.set_limit(pair, now, full);
                self.plan_release(pair);
            }
            Kind::Feedback => one.send.reports = one.send.reports.max(packet.seq),
            Kind::Rate => self.receive_rate(pair, f64::from_bits(packet.stamp)),
            _ => {}
        }
        self.pool.release(id);
    }
}

impl super::Pair {
    fn measure_sender(&mut self, params: &ElasticSwitchParams, since: u64, seconds: f64) {
        let one = &mut self.send;
        let window = std::mem::take(&mut one.divided);
        let unknown = window.waited || one.since > since || seconds <= 0.0;
        one.demand = if unknown { f64::INFINITY } else { window.bytes as f64 * 8.0 / seconds * (1.0 + params.slack) };
    }

    fn measure_receiver(&mut self, params: &ElasticSwitchParams, since: u64, seconds: f64) {
        let one = &mut self.receive;
        let bytes = std::mem::take(&mut one.bytes);
        let unknown = one.since > since || seconds <= 0.0;
        one.demand = if unknown { f64::INFINITY } else { bytes as f64 * 8.0 / seconds * (1.0 + params.slack) };
    }
}

/// Next end of a period, in the host's phase.
fn next_strike(now: u64, period: u64, phase: f64) -> u64 {
    let offset = (period as f64 * phase) as u64;
    let past = (now + period - offset) / period;
    past * period + offset
}
