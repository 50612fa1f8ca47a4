//! CUBIC's window (RFC 9438).

use incast_model::range::above;
use incast_model::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Acked, Window, WindowParams};

/// Parameters of CUBIC.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CubicParams {
    /// Growth of the window, in segments per cubic second. Default 0.4 (RFC 9438, section 5).
    #[schemars(transform = above(0).most(1e6))]
    pub c: f64,
    /// Factor on the window after a loss. Default 0.7 (RFC 9438, section 4.6).
    #[schemars(transform = above(0).below(1))]
    pub beta: f64,
    /// If true, a flow that loses below its last peak aims lower, to leave capacity to others. Default true (RFC 9438,
    /// section 4.7).
    pub fast_convergence: bool,
}

impl Default for CubicParams {
    fn default() -> Self {
        Self { c: 0.4, beta: 0.7, fast_convergence: true }
    }
}

impl WindowParams for CubicParams {
    type State = Cubic;

    fn start(&self) -> Cubic {
        Cubic { params: self.clone(), epoch: None, peak: 0.0, k: 0.0, estimate: 0.0, fraction: 0.0 }
    }
}

/// Windows in segments.
#[derive(Debug, Clone)]
pub(crate) struct Cubic {
    params: CubicParams,
    /// Start of growth after the last loss; `None` before an ACK follows.
    epoch: Option<Time>,
    /// Window at which the cubic function is flat.
    peak: f64,
    /// Seconds from `epoch` to `peak`.
    k: f64,
    /// Window of Reno with this `beta`.
    estimate: f64,
    fraction: f64,
}

impl Cubic {
    fn begin(&mut self, now: Time, cwnd: f64) {
        self.epoch = Some(now);
        self.estimate = cwnd;
        if cwnd < self.peak {
            self.k = libm::cbrt((self.peak - cwnd) / self.params.c);
        } else {
            (self.k, self.peak) = (0.0, cwnd);
        }
    }

    fn at(&self, seconds: f64) -> f64 {
        let from_peak = seconds - self.k;
        self.params.c * from_peak * from_peak * from_peak + self.peak
    }
}

impl Window for Cubic {
    fn avoid_congestion(&mut self, acked: &Acked) -> u64 {
        let mss = acked.mss as f64;
        let cwnd = acked.cwnd as f64 / mss;
        if self.epoch.is_none() {
            self.begin(acked.now, cwnd);
        }
        let since = acked.now.saturating_sub(self.epoch.unwrap_or_default());
        let seconds = |time: Time| time.0 as f64 * 1e-12;
        let segments = acked.bytes as f64 / mss;
        // Reno-friendly region (section 4.3): alpha for Reno's mean window up to the peak, 1 beyond.
        let beta = self.params.beta;
        let alpha = if self.estimate < self.peak { 3.0 * (1.0 - beta) / (1.0 + beta) } else { 1.0 };
        self.estimate += alpha * segments / cwnd;
        let grown = if self.at(seconds(since)) < self.estimate {
            self.estimate.max(cwnd)
        } else {
            // Toward the window one round trip later, by at most half per round trip (sections 4.4, 4.5).
            let target = self.at(seconds(since + acked.srtt)).clamp(cwnd, 1.5 * cwnd);
            cwnd + (target - cwnd) * segments / cwnd
        };
        let bytes = grown * mss + self.fraction;
        self.fraction = bytes - bytes.floor();
        (bytes as u64).max(acked.cwnd)
    }

    fn after_loss(&mut self, cwnd: u64, _flight: u64, mss: u64) -> u64 {
        let (before, beta) = (cwnd as f64 / mss as f64, self.params.beta);
        let lower = self.params.fast_convergence && before < self.peak;
        self.peak = if lower { before * (1.0 + beta) / 2.0 } else { before };
        self.epoch = None;
        self.fraction = 0.0;
        ((cwnd as f64 * beta) as u64).max(2 * mss)
    }

    fn on_timeout(&mut self) {
        self.epoch = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::segment_of;
    use super::*;

    /// Per round trip, after a loss at `peak` segments.
    fn grow(cubic: &mut Cubic, peak: u64, rtt: Time, rounds: u64) -> Vec<f64> {
        let mut cwnd = cubic.after_loss(peak * 1460, peak * 1460, 1460);
        let mut windows = vec![cwnd as f64 / 1460.0];
        for round in 0..rounds {
            for _ in 0..cwnd / 1460 {
                let now = Time(rtt.0 * round);
                cwnd = cubic.avoid_congestion(&super::Acked { now, srtt: rtt, ..segment_of(cwnd) });
            }
            windows.push(cwnd as f64 / 1460.0);
        }
        windows
    }

    #[test]
    fn comes_back_to_its_peak_after_k_seconds() {
        let mut cubic = CubicParams::default().start();
        // K = cbrt(1000 * 0.3 / 0.4) = 9.086 s: 91 round trips of 100 ms (Reno: 300).
        let windows = grow(&mut cubic, 1000, Time::ms(100), 120);
        assert!((windows[0] - 700.0).abs() < 1e-3);
        assert!((windows[91] - 1000.0).abs() < 2.0, "{}", windows[91]);
        // C (t - K)^3: flat about the peak.
        let expected = 1000.0 - 0.4 * (9.086_f64 - 2.0).powi(3);
        assert!((windows[20] - expected).abs() < 0.02 * expected, "{} for {expected}", windows[20]);
        assert!(windows[120] > 1005.0);
    }

    #[test]
    fn is_reno_where_round_trips_are_short() {
        let mut cubic = CubicParams::default().start();
        // 0.529 segments per round trip until the peak (section 4.3), 1 beyond.
        let windows = grow(&mut cubic, 40, Time::us(100), 60);
        assert!((windows[10] - windows[0] - 5.29).abs() < 0.4, "{} from {}", windows[10], windows[0]);
        let beyond = windows[60] - windows[50];
        assert!((beyond - 10.0).abs() < 1.0, "{beyond}");
    }

    #[test]
    fn makes_room_when_it_loses_below_its_peak() {
        let mut cubic = CubicParams::default().start();
        assert_eq!(cubic.after_loss(146_000, 0, 1460), 102_200);
        assert_eq!(cubic.peak, 100.0);
        cubic.after_loss(80 * 1460, 0, 1460);
        assert!((cubic.peak - 68.0).abs() < 1e-9);
        assert_eq!(cubic.after_loss(1460, 0, 1460), 2920);
    }
}
