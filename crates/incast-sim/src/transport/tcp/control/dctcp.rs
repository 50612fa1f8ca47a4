//! DCTCP's window (RFC 8257; Alizadeh et al., "Data Center TCP", SIGCOMM 2010, section 3).

use incast_model::range::{above, least};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reno::Reno;
use super::{Acked, Window, WindowParams};

/// Parameters of DCTCP's senders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TcpDctcpParams {
    /// Gain g of the filter of the marked share. Default 1/16 (RFC 8257, section 4.2).
    #[schemars(transform = above(0).most(1))]
    pub g: f64,
    /// Initial value of the filtered share. Default 1 (RFC 8257, section 3.3).
    #[schemars(transform = least(0).most(1))]
    pub alpha: f64,
}

impl Default for TcpDctcpParams {
    fn default() -> Self {
        Self { g: 0.0625, alpha: 1.0 }
    }
}

impl WindowParams for TcpDctcpParams {
    type State = Dctcp;

    fn start(&self) -> Dctcp {
        Dctcp { g: self.g, alpha: self.alpha, acked: 0, marked: 0, window_end: 0, reno: Reno::default() }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Dctcp {
    g: f64,
    alpha: f64,
    /// In this window of data.
    acked: u64,
    marked: u64,
    window_end: u64,
    reno: Reno,
}

impl Window for Dctcp {
    fn observe(&mut self, acked: &Acked) {
        self.acked += acked.bytes;
        self.marked += if acked.marked { acked.bytes } else { 0 };
        if acked.una > self.window_end {
            let share = self.marked as f64 / self.acked as f64;
            self.alpha = (1.0 - self.g) * self.alpha + self.g * share;
            (self.acked, self.marked, self.window_end) = (0, 0, acked.high);
        }
    }

    fn avoid_congestion(&mut self, acked: &Acked) -> u64 {
        self.reno.avoid_congestion(acked)
    }

    fn after_loss(&mut self, cwnd: u64, flight: u64, mss: u64) -> u64 {
        self.reno.after_loss(cwnd, flight, mss)
    }

    fn after_marks(&mut self, cwnd: u64, _flight: u64, mss: u64) -> u64 {
        ((cwnd as f64 * (1.0 - self.alpha / 2.0)) as u64).max(2 * mss)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::segment_of;
    use super::*;

    #[test]
    fn cuts_by_the_filtered_share_of_marks() {
        let mut dctcp = TcpDctcpParams::default().start();
        let cwnd = 16 * 1460;
        // The first ACK is a window of its own; then windows of 17 ACKs, a quarter marked.
        let mut una = 0;
        let mut ack = |dctcp: &mut Dctcp, marked| {
            una += 1460;
            dctcp.observe(&Acked { una, high: una + cwnd, marked, ..segment_of(cwnd) });
        };
        ack(&mut dctcp, false);
        assert!((dctcp.alpha - 0.9375).abs() < 1e-12);
        for _ in 0..17 {
            ack(&mut dctcp, false);
        }
        assert!((dctcp.alpha - 0.9375 * 0.9375).abs() < 1e-12, "{}", dctcp.alpha);
        for turn in 0..17 * 200 {
            ack(&mut dctcp, turn % 4 == 0);
        }
        assert!((dctcp.alpha - 0.25).abs() < 0.01, "{}", dctcp.alpha);
        let cut = dctcp.after_marks(100_000, 0, 1460) as f64;
        assert!((cut / 100_000.0 - 0.875).abs() < 0.01);
        assert_eq!(dctcp.after_loss(100_000, 80_000, 1460), 40_000, "a loss halves");
    }
}
