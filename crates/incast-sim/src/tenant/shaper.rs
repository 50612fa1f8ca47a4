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

    /// Sets the limit, and a bucket of so many bytes. The tokens that are there stay, as far as the bucket holds them; so does what is
    /// owed. A bucket that was empty is still empty: with each change of the limit there would be a burst or a pause otherwise.
    pub(super) fn set(&mut self, now: u64, rate: Option<u64>, burst: u64) {
        let depth = rate.map_or(0, |rate| time_for(burst, rate));
        self.full_at = match (self.rate, rate) {
            (Some(old), Some(new)) => {
                let owed = self.full_at.saturating_sub(now);
                let tokens = i128::from(self.depth) - i128::from(owed);
                let tokens = tokens * i128::from(old) / i128::from(new);
                now + (i128::from(depth) - tokens).max(0) as u64
            }
            _ => now,
        };
        (self.rate, self.depth) = (rate, depth);
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

    #[test]
    fn a_new_rate_is_neither_a_burst_nor_a_pause() {
        let mut shaper = Shaper::default();
        shaper.set(0, Some(1000 * MBPS), 12_500);
        assert_eq!(sent(&mut shaper, 12)[10..], [10, 20], "the bucket is empty");
        // Its depth in bytes falls with the rate and rises again; it stays empty.
        shaper.set(20 * US, Some(500 * MBPS), 6250);
        assert_eq!(shaper.goes_at(1250), 40 * US);
        shaper.set(20 * US, Some(1000 * MBPS), 12_500);
        assert_eq!(shaper.goes_at(1250), 30 * US);
        // A full one holds no more than it can.
        let mut full = Shaper::default();
        full.set(0, Some(1000 * MBPS), 12_500);
        full.set(0, Some(1000 * MBPS), 2500);
        assert_eq!(sent(&mut full, 3), [0, 0, 10]);
    }
}
