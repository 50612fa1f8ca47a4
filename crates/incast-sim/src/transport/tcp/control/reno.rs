//! Reno's window (RFC 5681, sections 3.1 and 3.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Acked, Window, WindowParams};

/// Parameters of Reno: none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenoParams {}

impl WindowParams for RenoParams {
    type State = Reno;

    fn start(&self) -> Reno {
        Reno::default()
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Reno {
    /// Since the window last grew.
    acked: u64,
}

impl Window for Reno {
    fn avoid_congestion(&mut self, acked: &Acked) -> u64 {
        self.acked += acked.bytes;
        if self.acked < acked.cwnd {
            return acked.cwnd;
        }
        self.acked -= acked.cwnd;
        acked.cwnd + acked.mss
    }

    fn after_loss(&mut self, _cwnd: u64, flight: u64, mss: u64) -> u64 {
        self.acked = 0;
        (flight / 2).max(2 * mss)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::segment_of;
    use super::*;

    #[test]
    fn a_segment_more_per_window() {
        let (mut reno, mut cwnd) = (Reno::default(), 4 * 1460);
        let windows: Vec<u64> = (0..10)
            .map(|_| {
                cwnd = reno.avoid_congestion(&segment_of(cwnd));
                cwnd / 1460
            })
            .collect();
        assert_eq!(windows, [4, 4, 4, 5, 5, 5, 5, 5, 6, 6]);
        assert_eq!((reno.after_loss(0, 20_000, 1460), reno.after_loss(0, 2000, 1460)), (10_000, 2920));
    }
}
