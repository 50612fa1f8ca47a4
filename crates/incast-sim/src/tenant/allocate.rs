//! Rate Allocation: a pair's limit between its guarantee and the network's capacity (ElasticSwitch, SIGCOMM 2013, section 5).
//!
//! The paper gives only constants of Seawall's law. Ours has its shape: fast then slow growth below the limit at the last
//! congestion, slow then fast beyond. Hold-Increase delays this growth: its clock starts when the hold ends.

use super::params::{PERIOD, RateParams};

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Seen {
    pub(super) congested: u64,
    /// Packets waited, or 4/5 of the limit were used.
    pub(super) limited: bool,
}

/// Bounds in bit/s, and weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Title {
    pub(super) guarantee: f64,
    /// Above the guarantee.
    pub(super) weight: f64,
    pub(super) line: f64,
}

/// In bit/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Allocator {
    pub(super) limit: f64,
    /// At the last congestion.
    goal: f64,
    /// Losses, decaying.
    history: f64,
    /// Last congestion, or end of the hold; in ps.
    grows_since: u64,
}

impl Allocator {
    pub(super) const fn new(limit: f64, now: u64) -> Self {
        Self { limit, goal: limit, history: 0.0, grows_since: now }
    }

    pub(super) fn tick(&mut self, params: &RateParams, title: &Title, now: u64, seen: Seen) {
        let periods = params.period.0 as f64 / PERIOD.0 as f64;
        let kept = libm::pow(params.forget, title.weight * periods);
        self.history = self.history * kept + seen.congested as f64;
        if seen.congested > 0 {
            self.goal = self.limit;
            self.limit = ((1.0 - params.decrease) * self.limit).max(title.guarantee);
            self.grows_since = now;
            return;
        }
        if params.hold_increase && self.history > params.hold_above {
            self.grows_since = now;
        } else if seen.limited {
            self.limit = (self.limit + periods * self.growth(params, title, now)).min(title.line);
        }
    }

    /// Per [`PERIOD`].
    fn growth(&self, params: &RateParams, title: &Title, now: u64) -> f64 {
        let step = title.weight * params.step.0 as f64;
        let scaled = (now - self.grows_since) as f64 * 1e-12 / params.time_scale;
        let time = scaled.min(params.longest);
        let growth = if self.limit < self.goal {
            let left = 1.0 - time.min(0.9);
            (params.recovery * (self.goal - self.limit) * left * left * left).max(step)
        } else {
            step * (1.0 + time * time * time)
        };
        if !params.rate_caution {
            return growth;
        }
        let above = (self.limit - title.guarantee) / title.guarantee;
        growth * (1.0 - params.caution * above).max(params.min_growth)
    }

    pub(super) fn raise(&mut self, guarantee: f64) {
        self.limit = self.limit.max(guarantee);
    }
}

#[cfg(test)]
mod tests {
    use incast_model::units::Time;

    use super::*;

    const PERIOD: u64 = super::PERIOD.0;
    const MBPS: f64 = 1e6;

    fn title(guarantee: f64) -> Title {
        Title { guarantee: guarantee * MBPS, weight: guarantee / 450.0, line: 1000.0 * MBPS }
    }

    #[test]
    fn a_congestion_event_takes_two_fifths_but_not_the_guarantee() {
        let params = RateParams::default();
        let hit = Seen { congested: 2, limited: true };
        let mut pair = Allocator::new(900.0 * MBPS, 0);
        pair.tick(&params, &title(450.0), PERIOD, hit);
        assert_eq!(pair.limit, 540.0 * MBPS);
        pair.tick(&params, &title(450.0), 2 * PERIOD, hit);
        assert_eq!(pair.limit, 450.0 * MBPS);
    }

    /// Periods until a pair grows again after three losses.
    fn held(guarantee: f64) -> u32 {
        let params = RateParams::default();
        let mut pair = Allocator::new(600.0 * MBPS, 0);
        pair.tick(&params, &title(guarantee), PERIOD, Seen { congested: 3, limited: true });
        let after = pair.limit;
        let mut periods = 0;
        while pair.limit == after {
            periods += 1;
            let now = PERIOD * u64::from(periods + 1);
            pair.tick(&params, &title(guarantee), now, Seen { congested: 0, limited: true });
        }
        periods - 1
    }

    #[test]
    fn a_pair_waits_the_longer_the_smaller_its_guarantee() {
        // ln 3 / -ln 0.75 = 3.8 periods at 450 Mb/s, ten times as many at 45 Mb/s.
        assert_eq!(held(450.0), 3);
        assert_eq!(held(45.0), 38);
    }

    #[test]
    fn a_pair_returns_after_a_hold() {
        // Limit 547 Mb/s, guarantee 56.25 Mb/s; 17 and 16 losses, then none.
        let (params, title) = (RateParams::default(), title(56.25));
        let mut pair = Allocator::new(547.0 * MBPS, 0);
        let mut limits = vec![];
        for period in 1..=400 {
            let congested = [17, 16].get(period - 1).copied().unwrap_or(0);
            pair.tick(&params, &title, PERIOD * period as u64, Seen { congested, limited: true });
            limits.push(pair.limit / MBPS);
        }
        // 0.6 x 0.6 x 547 = 196.9. 16 + 17 x 0.75^0.125 = 32.4 losses remembered: ln 32.4 / (0.125 ln 4/3) = 96.7 periods of hold.
        assert!((limits[1] - 196.92).abs() < 0.01 && limits[1..98].iter().all(|limit| *limit == limits[1]));
        assert!(limits[98] > limits[97]);
        // The first step: 0.75 (1 - 0.01)^3 of the 131.3 Mb/s up to the limit at the second cut, 328.2 Mb/s, times 0.3
        // (Rate-Caution).
        let first = limits[98] - limits[97];
        assert!((first - 0.75 * 0.99_f64.powi(3) * 131.28 * 0.3).abs() < 0.01, "{first}");
        // Within half a second of growth at the limit, less 5 %.
        assert!(limits[98 + 33] > 0.95 * 328.2, "{}", limits[98 + 33]);
    }

    #[test]
    fn the_period_changes_no_rate_of_growth() {
        let grown = [5, 15, 30].map(|ms| {
            let params = RateParams { period: Time::ms(ms), ..RateParams::default() };
            let mut pair = Allocator::new(450.0 * MBPS, 0);
            for period in 1..=1200 / ms {
                let now = Time::ms(period * ms).0;
                pair.tick(&params, &title(450.0), now, Seen { congested: 0, limited: true });
            }
            pair.limit / MBPS
        });
        // About 80 steps of 0.5 Mb/s (1 + x^3) in 1.2 s; x up to 0.8, on average x^3 = 0.128; Rate-Caution takes 2.5 %.
        assert!(grown.iter().all(|limit| (limit - 494.0).abs() < 1.0), "{grown:?}");
    }

    #[test]
    fn a_pair_alone_reaches_the_line() {
        // 4.1 s from 450 Mb/s to 1 Gb/s: 0.5 Mb/s (1 + x^3), x = t / 1.5 s, per 15 ms, times the factor of Rate-Caution.
        let mut pair = Allocator::new(450.0 * MBPS, 0);
        let periods = (1..).take_while(|&period| {
            let seen = Seen { congested: 0, limited: true };
            pair.tick(&RateParams::default(), &title(450.0), PERIOD * period, seen);
            pair.limit < 1000.0 * MBPS
        });
        let seconds = periods.count() as f64 * 0.015;
        assert!((3.9..4.3).contains(&seconds), "{seconds}");
    }

    #[test]
    fn a_pair_that_does_not_use_its_limit_keeps_it() {
        let mut pair = Allocator::new(450.0 * MBPS, 0);
        pair.tick(&RateParams::default(), &title(450.0), PERIOD, Seen::default());
        assert_eq!(pair.limit, 450.0 * MBPS);
        pair.raise(500.0 * MBPS);
        assert_eq!(pair.limit, 500.0 * MBPS);
    }
}
