//! Round-trip times and the timeout (RFC 6298).

use incast_model::units::Time;

use super::TcpParams;

/// Times in ps.
#[derive(Debug, Clone)]
pub(super) struct Rtt {
    /// `None` before the first measurement.
    smoothed: Option<u64>,
    variation: u64,
    /// Since new bytes were acknowledged.
    doublings: u32,
    fixed: Option<u64>,
    first: u64,
    least: u64,
    most: u64,
    backs_off: bool,
}

impl Rtt {
    pub(super) fn new(params: &TcpParams) -> Self {
        Self {
            smoothed: None,
            variation: 0,
            doublings: 0,
            fixed: params.rto.map(|rto| rto.0),
            first: params.rto_init.0,
            least: params.rto_min.0,
            most: params.rto_max.0,
            backs_off: params.backoff,
        }
    }

    /// Section 2; the clock's granularity is 1 ps.
    pub(super) fn measure(&mut self, rtt: u64) {
        match self.smoothed {
            None => (self.smoothed, self.variation) = (Some(rtt), rtt / 2),
            Some(smoothed) => {
                self.variation = (3 * self.variation + smoothed.abs_diff(rtt)) / 4;
                self.smoothed = Some((7 * smoothed + rtt) / 8);
            }
        }
    }

    pub(super) fn relax(&mut self) {
        self.doublings = 0;
    }

    /// Section 5.5.
    pub(super) fn back_off(&mut self) {
        self.doublings += u32::from(self.backs_off);
    }

    pub(super) fn smoothed(&self) -> Time {
        Time(self.smoothed.unwrap_or(0))
    }

    pub(super) fn timeout(&self) -> u64 {
        let measured = self.smoothed.map(|smoothed| (smoothed + (4 * self.variation).max(1)).max(self.least));
        let base = self.fixed.or(measured).unwrap_or(self.first);
        let doubled = u128::from(base) << self.doublings.min(63);
        doubled.min(self.most.into()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_follows_the_round_trips() {
        let params = TcpParams { rto_min: Time::us(1), ..TcpParams::default() };
        let mut rtt = Rtt::new(&params);
        assert_eq!(rtt.timeout(), Time::ms(1000).0);
        rtt.measure(Time::us(100).0);
        assert_eq!(rtt.timeout(), Time::us(300).0, "R + 4 R/2");
        rtt.measure(Time::us(180).0);
        // Variation 3/4 of 50 us and 1/4 of 80 us; smoothed 7/8 of 100 us and 1/8 of 180 us.
        assert_eq!(rtt.timeout(), Time::us(110).0 + 4 * Time::ns(57_500).0);
        (0..400).for_each(|_| rtt.measure(Time::us(100).0));
        assert!(rtt.timeout() < Time::us(101).0);
        rtt.back_off();
        rtt.back_off();
        assert!((Time::us(400).0..Time::us(404).0).contains(&rtt.timeout()));
        (0..90).for_each(|_| rtt.back_off());
        assert_eq!(rtt.timeout(), Time::ms(60_000).0);
        rtt.relax();
        assert!(rtt.timeout() < Time::us(101).0);
    }

    #[test]
    fn a_fixed_timeout_is_fixed() {
        let mut rtt = Rtt::new(&TcpParams { rto: Some(Time::us(45)), backoff: false, ..TcpParams::default() });
        rtt.measure(Time::ms(7).0);
        rtt.back_off();
        assert_eq!(rtt.timeout(), Time::us(45).0);
    }
}
