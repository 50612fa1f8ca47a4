//! Receiving half of a pair. Rates in bit/s.

use super::gaps::Gaps;
use super::partition::Want;
use super::{ElasticSwitchParams, Rules};
use crate::kernel::flag;

#[derive(Debug, Clone)]
pub(crate) struct Receiving {
    pub(crate) active: bool,
    since: u64,
    last: u64,
    gaps: Gaps,
    bytes: u64,
    demand: f64,
    /// Packets wait at the sender's limiter.
    limited: bool,
    /// Infinite while unknown.
    offer: f64,
    /// Congestion events reported so far.
    reports: u64,
    /// Lost and marked packets at the last report.
    lost_before: u64,
    marked_before: u64,
    pub(crate) received: u64,
    pub(crate) marked: u64,
}

impl Default for Receiving {
    fn default() -> Self {
        Self {
            active: false,
            since: 0,
            last: 0,
            gaps: Gaps::default(),
            bytes: 0,
            demand: f64::INFINITY,
            limited: false,
            offer: f64::INFINITY,
            reports: 0,
            lost_before: 0,
            marked_before: 0,
            received: 0,
            marked: 0,
        }
    }
}

impl Receiving {
    pub(crate) const fn lost(&self) -> u64 {
        self.gaps.lost
    }

    pub(crate) const fn wake(&mut self, now: u64) {
        (self.active, self.since, self.last) = (true, now, now);
        (self.bytes, self.limited) = (0, false);
        (self.demand, self.offer) = (f64::INFINITY, f64::INFINITY);
    }

    /// Ends activity after `patience` without a packet.
    pub(crate) const fn stays_active(&mut self, now: u64, patience: u64) -> bool {
        self.active = now - self.last < patience;
        self.active
    }

    /// Returns the flags without the mark.
    pub(crate) fn hear(&mut self, rules: &Rules, (now, bytes): (u64, u64), number: u32, flags: u8) -> u8 {
        self.last = now;
        self.bytes += bytes;
        self.gaps.hear(number, rules.params.rate().map_or(1, |rate| rate.reordering));
        self.received += bytes;
        if !rules.uses_marks() || flags & flag::CE == 0 {
            return flags;
        }
        self.marked += 1;
        flags & !flag::CE
    }

    pub(crate) const fn hear_offer(&mut self, offer: f64, limited: bool) {
        (self.offer, self.limited) = (offer, limited);
    }

    /// Congestion events so far. Each lost packet is an event; marks since the last report are one together,
    /// as they only signal a queue.
    pub(crate) fn report(&mut self) -> Option<u64> {
        let events = self.lost() - self.lost_before + u64::from(self.marked > self.marked_before);
        if events == 0 {
            return None;
        }
        (self.lost_before, self.marked_before) = (self.lost(), self.marked);
        self.reports += events;
        Some(self.reports)
    }

    /// Period of `seconds` since `since` (ps).
    pub(crate) fn measure(&mut self, params: &ElasticSwitchParams, since: u64, seconds: f64) {
        let bytes = std::mem::take(&mut self.bytes);
        let unknown = self.since > since || seconds <= 0.0;
        self.demand = if unknown { f64::INFINITY } else { bytes as f64 * 8.0 / seconds * (1.0 + params.slack) };
    }

    pub(crate) const fn want(&self) -> Want {
        Want { demand: if self.limited { f64::INFINITY } else { self.demand }, offer: self.offer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tenant::{Detection, Hypervisor, RateParams, SeawallParams};

    fn rules(detection: Detection) -> Rules {
        let rate = RateParams { detection, reordering: 1, ..RateParams::default() };
        Rules { params: Hypervisor::Seawall(SeawallParams { rate, ..SeawallParams::default() }), packet: 1250 }
    }

    #[test]
    fn losses_are_reported_once() {
        let (rules, mut half) = (rules(Detection::Losses), Receiving::default());
        for number in [0, 1, 3] {
            assert_eq!(half.hear(&rules, (5, 1000), number, flag::CE), flag::CE, "marks are for others");
        }
        assert_eq!((half.report(), half.report()), (Some(1), None));
        assert!(half.stays_active(7, 3) && !half.stays_active(8, 3));
    }

    #[test]
    fn marks_are_taken_off_and_reported() {
        let (rules, mut half) = (rules(Detection::Ecn), Receiving::default());
        for number in 0..3 {
            assert_eq!(half.hear(&rules, (0, 1000), number, flag::CE | flag::ECHO), flag::ECHO);
        }
        assert_eq!((half.report(), half.marked, half.lost()), (Some(1), 3, 0));
        // Packet 3 is missing, packets 4 and 5 are marked: two events.
        for number in [4, 5] {
            half.hear(&rules, (0, 1000), number, flag::CE);
        }
        assert_eq!((half.report(), half.report()), (Some(3), None));
    }
}
