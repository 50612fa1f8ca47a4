//! Congestion window, in bytes.

use super::TcpParams;
use super::control::{Acked, State, Window};

#[derive(Debug)]
pub(super) struct Cwnd {
    bytes: u64,
    ssthresh: u64,
    mss: u64,
    most: u64,
    abc_limit: u64,
    control: State,
    /// Marks count again beyond this acknowledged byte.
    reduced_until: u64,
    /// Until the receiver knows that marks reduced the window.
    reports_reduction: bool,
}

impl Cwnd {
    pub(super) fn new(params: &TcpParams, mss: u64) -> Self {
        Self {
            bytes: u64::from(params.init_cwnd) * mss,
            ssthresh: u64::MAX,
            mss,
            most: params.max_cwnd.map_or(u64::MAX, |most| u64::from(most) * mss),
            abc_limit: u64::from(params.abc_limit) * mss,
            control: params.control.start(),
            reduced_until: 0,
            reports_reduction: false,
        }
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn take_report(&mut self) -> bool {
        std::mem::take(&mut self.reports_reduction)
    }

    pub(super) fn observe(&mut self, acked: &Acked) {
        self.control.observe(acked);
    }

    pub(super) fn grow(&mut self, acked: &Acked) {
        self.bytes = if self.bytes < self.ssthresh {
            self.bytes + acked.bytes.min(self.abc_limit)
        } else {
            self.control.avoid_congestion(acked)
        };
        self.bytes = self.bytes.min(self.most);
    }

    /// Once per window of data.
    pub(super) fn react_to_marks(&mut self, acked: &Acked) {
        if acked.una <= self.reduced_until {
            return;
        }
        self.ssthresh = self.control.after_marks(self.bytes, acked.high - acked.una, acked.mss);
        self.bytes = self.ssthresh.min(self.most);
        self.reduced_until = acked.high;
        self.reports_reduction = true;
    }

    pub(super) fn enter_recovery(&mut self, una: u64, high: u64, has_sack: bool) {
        self.ssthresh = self.control.after_loss(self.bytes, high - una, self.mss);
        self.reduced_until = high;
        self.bytes = if has_sack { self.ssthresh } else { self.ssthresh + 3 * self.mss };
        self.bytes = self.bytes.min(self.most);
    }

    /// A segment has left the network.
    pub(super) const fn inflate(&mut self) {
        self.bytes += self.mss;
    }

    pub(super) const fn deflate(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes) + if bytes >= self.mss { self.mss } else { 0 };
    }

    /// Avoids a burst: without SACK the window may far exceed the bytes in flight (RFC 6582, section 3.2, step 3).
    pub(super) fn end_recovery(&mut self, flight: u64, has_sack: bool) {
        let mss = self.mss;
        self.bytes = if has_sack { self.ssthresh } else { self.ssthresh.min(flight.max(mss) + mss) };
    }

    /// `again`: a resent segment is lost too, which does not count (RFC 5681, section 3.1).
    pub(super) fn on_timeout(&mut self, una: u64, high: u64, again: bool) {
        if !again {
            self.ssthresh = self.control.after_loss(self.bytes, high - una, self.mss);
        }
        self.control.on_timeout();
        self.bytes = self.mss;
        self.reduced_until = high;
    }
}
