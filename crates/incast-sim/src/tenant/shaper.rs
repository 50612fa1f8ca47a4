//! Rate limiter of a pair: a token bucket, without its queue.
//!
//! State is the time of a full bucket: exact, without work between packets.

/// In ps, rounded up.
pub(super) fn time_for(bytes: u64, rate: u64) -> u64 {
    (u128::from(bytes) * 8_000_000_000_000).div_ceil(u128::from(rate)) as u64
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shaper {
    pub(crate) packets: u32,
    /// Wire bytes with gaps.
    pub(super) bytes: u64,
    rate: Option<u64>,
    /// Bucket size, in ps at the rate.
    depth: u64,
    /// In ps.
    full_at: u64,
    /// Next release; [`u64::MAX`]: none.
    pub(super) due: u64,
}

impl Default for Shaper {
    fn default() -> Self {
        Self { packets: 0, bytes: 0, rate: None, depth: 0, full_at: 0, due: u64::MAX }
    }
}

impl Shaper {
    pub(crate) const fn rate(&self) -> Option<u64> {
        self.rate
    }

    /// Tokens (within the new bucket of `burst` bytes) and debts persist, to avoid a burst or pause.
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

    /// A bucket smaller than the packet must be full.
    pub(super) fn goes_at(&self, bytes: u64) -> u64 {
        let Some(rate) = self.rate else { return 0 };
        let cost = time_for(bytes, rate);
        self.full_at.saturating_sub(self.depth.saturating_sub(cost))
    }

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

    /// In us, of packets of 1250 B (10 us at 1 Gb/s) queued at 0.
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
        let mut shaper = Shaper::default();
        shaper.set(0, Some(1000 * MBPS), 100);
        assert_eq!(sent(&mut shaper, 3), [0, 10, 20]);
    }

    #[test]
    fn a_new_rate_holds_at_once() {
        let mut shaper = Shaper::default();
        shaper.set(0, Some(1000 * MBPS), 1250);
        sent(&mut shaper, 2);
        // At 10 us a debt of 1250 B is left: 100 us at a tenth of the rate.
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
        // The bucket shrinks with the rate and grows again; it stays empty.
        shaper.set(20 * US, Some(500 * MBPS), 6250);
        assert_eq!(shaper.goes_at(1250), 40 * US);
        shaper.set(20 * US, Some(1000 * MBPS), 12_500);
        assert_eq!(shaper.goes_at(1250), 30 * US);
        let mut full = Shaper::default();
        full.set(0, Some(1000 * MBPS), 12_500);
        full.set(0, Some(1000 * MBPS), 2500);
        assert_eq!(sent(&mut full, 3), [0, 0, 10]);
    }
}
