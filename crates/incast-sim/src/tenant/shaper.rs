//! The rate limiter of a pair: a token bucket with a queue before it.
//!
//! Tokens are kept as a time: when the bucket would be full again. So nothing has to be counted between packets, and all is exact.

use crate::kernel::NONE;

/// Picoseconds that so many bytes take at a rate in bit/s, rounded up.
pub(super) fn time_for(bytes: u64, rate: u64) -> u64 {
    (u128::from(bytes) * 8_000_000_000_000).div_ceil(u128::from(rate)) as u64
}

/// A pair's limiter. The packets of its queue are threaded through the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shaper {
    /// First and last packet that wait.
    pub(super) head: u32,
    pub(super) tail: u32,
    /// How many wait.
    pub(super) packets: u32,
    /// How many bytes these have on the wire.
    pub(super) bytes: u64,
    /// In bit/s; `None`: no limit.
    rate: Option<u64>,
    /// What the bucket holds, as picoseconds at the rate.
    depth: u64,
    /// When the bucket is full, in ps.
    full_at: u64,
    /// When the event that lets packets go is due; [`u64::MAX`] for none.
    pub(super) due: u64,
}

impl Default for Shaper {
    fn default() -> Self {
        Self { head: NONE, tail: NONE, packets: 0, bytes: 0, rate: None, depth: 0, full_at: 0, due: u64::MAX }
    }
}

impl Shaper {
    /// The limit in bit/s; `None`: none.
    pub(super) const fn rate(&self) -> Option<u64> {
        self.rate
    }

    /// Sets the limit, and a bucket of so many bytes. What has been sent on credit is paid back in bytes, not in time.
    pub(super) fn set(&mut self, now: u64, rate: Option<u64>, burst: u64) {
        if let (Some(old), Some(new)) = (self.rate, rate) {
            let owed = u128::from(self.full_at.saturating_sub(now));
            self.full_at = now + (owed * u128::from(old)).div_ceil(u128::from(new)) as u64;
        } else {
            self.full_at = now;
        }
        self.rate = rate;
        self.depth = rate.map_or(0, |rate| time_for(burst, rate));
    }

    /// When a packet of so many bytes may go; a bucket smaller than a packet lets it go when it is full.
    pub(super) fn goes_at(&self, bytes: u64) -> u64 {
        let Some(rate) = self.rate else { return 0 };
        let cost = time_for(bytes, rate);
        self.full_at.saturating_sub(self.depth.saturating_sub(cost))
    }

    /// A packet of so many bytes goes.
    pub(super) fn take(&mut self, now: u64, bytes: u64) {
        if let Some(rate) = self.rate {
            self.full_at = self.full_at.max(now) + time_for(bytes, rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBPS: u64 = 1_000_000;
    const US: u64 = 1_000_000;

    /// When packets of 1250 B go that are all there at 0; 10 us each at 1 Gb/s.
    fn sent(shaper: &mut Shaper, count: usize) -> Vec<u64> {
        let mut now = 0;
        (0..count)
            .map(|_| {
                now = shaper.goes_at(1250).max(now);
                shaper.take(now, 1250);
                now / US
            })
            .collect()
    }

    #[test]
    fn a_burst_goes_at_once_and_then_the_rate_holds() {
        let mut shaper = Shaper::default();
        shaper.set(0, Some(1000 * MBPS), 3750);
        assert_eq!(sent(&mut shaper, 6), [0, 0, 0, 10, 20, 30]);
        // A bucket smaller than a packet.
        let mut shaper = Shaper::default();
        shaper.set(0, Some(1000 * MBPS), 100);
        assert_eq!(sent(&mut shaper, 3), [0, 10, 20]);
    }

    #[test]
    fn a_new_rate_holds_at_once() {
        let mut shaper = Shaper::default();
        shaper.set(0, Some(1000 * MBPS), 1250);
        sent(&mut shaper, 2);
        // 10 us, 1250 B, are owed at 10 us; at a tenth of the rate that is 100 us.
        shaper.set(10 * US, Some(100 * MBPS), 1250);
        assert_eq!(shaper.goes_at(1250), 110 * US);
        shaper.set(10 * US, None, 0);
        assert_eq!(shaper.goes_at(1250), 0);
    }
}
