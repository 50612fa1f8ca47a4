//! Sending half of a pair. Rates in bit/s, times in ps.

use super::allocate::{Allocator, Seen, Title};
use super::partition::{Share, Want};
use super::shaper::{Shaper, time_for};
use super::shares::Shares;
use super::{ElasticSwitchParams, Hypervisor, Rules};
use crate::kernel::SentId;

/// Packets that may always wait (our choice).
const ALWAYS: u32 = 4;

/// Share of its limit that a limited pair uses (our choice).
const BOUND_FROM: f64 = 0.8;

#[derive(Debug, Clone)]
pub(crate) struct Sending {
    pub(crate) active: bool,
    since: u64,
    pub(crate) last: u64,
    next: u32,
    divided: Window,
    period: Window,
    pub(crate) shares: Shares,
    allocator: Allocator,
    pub(crate) shaper: Shaper,
    pub(crate) asleep: Vec<SentId>,
    reports: Reports,
    pub(crate) sent: u64,
    pub(crate) refused: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Window {
    bytes: u64,
    waited: bool,
}

/// Lost and marked packets reported by the receiver.
#[derive(Debug, Clone, Copy, Default)]
struct Reports {
    heard: u64,
    handled: u64,
}

impl Reports {
    const fn handle(&mut self) -> u64 {
        let new = self.heard - self.handled;
        self.handled = self.heard;
        new
    }
}

impl Default for Sending {
    fn default() -> Self {
        Self {
            active: false,
            since: 0,
            last: 0,
            next: 0,
            divided: Window::default(),
            period: Window::default(),
            shares: Shares::default(),
            allocator: Allocator::new(0.0, 0),
            shaper: Shaper::default(),
            asleep: Vec::new(),
            reports: Reports::default(),
            sent: 0,
            refused: 0,
        }
    }
}

impl Sending {
    pub(crate) fn has_space(&self, rules: &Rules) -> bool {
        let (limits, shaper) = (rules.params.shaper(), &self.shaper);
        let waits = shaper.rate().map_or(0, |rate| time_for(shaper.bytes, rate));
        shaper.packets < ALWAYS.min(limits.packets) || shaper.packets < limits.packets && waits < limits.delay.0
    }

    pub(crate) fn passes(&self, now: u64, bytes: u64) -> bool {
        self.shaper.packets == 0 && self.shaper.goes_at(bytes) <= now
    }

    pub(crate) fn queue(&mut self, rules: &Rules, bytes: u64) -> bool {
        (self.divided.waited, self.period.waited) = (true, true);
        let fits = self.has_space(rules);
        if fits {
            self.shaper.packets += 1;
            self.shaper.bytes += bytes;
        } else {
            self.refused += 1;
        }
        fits
    }

    /// `None` if its task is planned. `bytes`: the first waiting packet's.
    pub(crate) fn next_release(&mut self, now: u64, bytes: u64) -> Option<u64> {
        let time = self.shaper.goes_at(bytes).max(now);
        (time < self.shaper.due).then(|| {
            self.shaper.due = time;
            time
        })
    }

    pub(crate) const fn begin_release(&mut self, now: u64) {
        if self.shaper.due <= now {
            self.shaper.due = u64::MAX;
        }
    }

    pub(crate) fn release(&mut self, now: u64, bytes: u64) -> bool {
        let goes = self.shaper.goes_at(bytes) <= now;
        if goes {
            self.shaper.packets -= 1;
            self.shaper.bytes -= bytes;
        }
        goes
    }

    pub(crate) fn depart(&mut self, now: u64, bytes: u64) -> u32 {
        self.shaper.take(now, bytes);
        self.divided.bytes += bytes;
        self.period.bytes += bytes;
        self.sent += bytes;
        let number = self.next;
        self.next = number.wrapping_add(1);
        number
    }

    fn set_limit(&mut self, rules: &Rules, now: u64) {
        let burst = rules.params.shaper().burst;
        let rate = (self.allocator.limit as u64).max(1);
        let bytes = (u128::from(rate) * u128::from(burst.0) / 8_000_000_000_000) as u64;
        self.shaper.set(now, Some(rate), bytes.max(2 * rules.packet));
    }

    /// `equal`: equal part of the hose.
    pub(crate) fn wake(&mut self, rules: &Rules, now: u64, equal: f64) {
        (self.active, self.since) = (true, now);
        self.reports.handle();
        (self.divided, self.period) = (Window::default(), Window::default());
        self.shares = Shares::begin(equal);
        let begin = match &rules.params {
            Hypervisor::Seawall(params) => params.min_rate.0 as f64,
            _ => equal,
        };
        self.allocator = Allocator::new(begin, now);
        self.set_limit(rules, now);
    }

    /// Ends activity after `patience` without a packet.
    pub(crate) const fn stays_active(&mut self, now: u64, patience: u64) -> bool {
        self.active = self.shaper.packets > 0 || now - self.last < patience;
        self.active
    }

    pub(super) fn reserve(&mut self, rules: &Rules, rate: f64) {
        self.shares.guarantee = rate;
        self.allocator.limit = rate;
        self.set_limit(rules, 0);
    }

    pub(crate) fn hear_rate(&mut self, rules: &Rules, now: u64, rate: f64) {
        self.allocator.limit = rate;
        self.set_limit(rules, now);
    }

    pub(crate) fn hear_reports(&mut self, reports: u64) {
        self.reports.heard = self.reports.heard.max(reports);
    }

    pub(crate) fn hear_share(&mut self, rules: &Rules, now: u64, offer: f64, theirs: f64) {
        if self.shares.hear(offer, theirs) {
            // The first limit was a guess: it must not persist until congestion.
            self.allocator = Allocator::new(self.shares.guarantee, now);
        } else {
            self.allocator.raise(self.shares.guarantee);
        }
        self.set_limit(rules, now);
    }

    pub(crate) fn allocate(&mut self, rules: &Rules, title: &Title, now: u64) {
        let Some(rate) = rules.params.rate() else { return };
        let used = self.period.bytes as f64 * 8e12 / rate.period.0 as f64;
        let limited = self.period.waited || used >= BOUND_FROM * self.allocator.limit;
        let seen = Seen { congested: self.reports.handle(), limited };
        self.period = Window::default();
        self.allocator.tick(rate, title, now, seen);
        self.set_limit(rules, now);
    }

    pub(crate) fn measure(&mut self, params: &ElasticSwitchParams, since: u64, seconds: f64) {
        let window = std::mem::take(&mut self.divided);
        let unknown = window.waited || self.since > since || seconds <= 0.0;
        let demand = || window.bytes as f64 * 8.0 / seconds * (1.0 + params.slack);
        self.shares.demand = if unknown { f64::INFINITY } else { demand() };
    }

    pub(crate) const fn want(&self) -> Want {
        self.shares.want()
    }

    /// `equal`: equal part of the sender's hose. True if packets wait.
    pub(crate) fn take_share(&mut self, rules: &Rules, now: u64, share: Share, equal: f64) -> bool {
        self.shares.take(share.share, equal);
        self.allocator.raise(self.shares.guarantee);
        self.set_limit(rules, now);
        self.shares.demand == f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tenant::{ReservationParams, ShaperParams};

    const US: u64 = 1_000_000;

    /// 1 Gb/s, a bucket and a queue of two packets of 1250 B.
    fn limited(params: Hypervisor) -> (Rules, Sending) {
        let rules = Rules { params, packet: 1250 };
        let mut half = Sending::default();
        half.hear_rate(&rules, 0, 1e9);
        (rules, half)
    }

    fn short() -> ShaperParams {
        ShaperParams { packets: 2, burst: incast_model::units::Time::ZERO, ..ShaperParams::default() }
    }

    #[test]
    fn packets_beyond_the_bucket_wait_and_those_beyond_the_queue_are_refused() {
        let (rules, mut half) = limited(Hypervisor::Reservation(ReservationParams { shaper: short() }));
        let numbers: Vec<u32> = (0..2).map(|_| half.depart(0, 1250)).collect();
        assert_eq!((numbers, half.passes(0, 1250)), (vec![0, 1], false));
        assert_eq!([1250; 3].map(|bytes| half.queue(&rules, bytes)), [true, true, false]);
        assert_eq!((half.refused, half.has_space(&rules)), (1, false));
        assert_eq!((half.next_release(0, 1250), half.next_release(0, 1250)), (Some(10 * US), None), "one task");
        half.begin_release(10 * US);
        assert!(half.release(10 * US, 1250) && half.has_space(&rules));
        assert_eq!(half.depart(10 * US, 1250), 2);
        assert!(!half.release(10 * US, 1250));
        assert_eq!((half.next_release(10 * US, 1250), half.sent), (Some(20 * US), 3750));
        assert!(half.stays_active(u64::MAX, 1), "a packet waits");
    }

    #[test]
    fn a_guarantee_is_the_smaller_of_both_shares() {
        let (rules, mut half) = limited(Hypervisor::ElasticSwitch(ElasticSwitchParams::default()));
        half.wake(&rules, 0, 4e8);
        assert_eq!((half.shares.guarantee, half.shaper.rate()), (4e8, Some(400_000_000)));
        let waits = half.take_share(&rules, 0, Share { share: 6e8, offer: 7e8 }, 3e8);
        assert_eq!((half.shares.guarantee, waits), (3e8, true), "an equal part until the receiver answers");
        half.hear_share(&rules, 0, 5e8, 2e8);
        assert_eq!(
            (half.shares.guarantee, half.shaper.rate()),
            (2e8, Some(200_000_000)),
            "the first limit was a guess"
        );
        half.hear_share(&rules, 0, 5e8, 1e8);
        assert_eq!((half.shares.guarantee, half.shaper.rate()), (1e8, Some(200_000_000)), "later ones are raised only");
        assert_eq!(half.want(), Want { demand: f64::INFINITY, offer: 5e8 });
    }
}
