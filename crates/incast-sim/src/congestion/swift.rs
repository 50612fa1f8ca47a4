//! Swift: a window that holds the fabric's delay at a target (Kumar et al., SIGCOMM 2020, section 3).
//!
//! There is no endpoint window (docs/design/controls.md). Losses appear as NACKs (fast recovery) and timeouts.

use incast_model::field::FieldError;
use incast_model::range::{above, least};
use incast_model::units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ack, ControlParams, Controller, FlowContext, Input, Telemetry, WindowMode};

/// Parameters of Swift. Windows are in packets. HTSIM is Broadcom's csg-htsim (`swift.cpp` at commit 841d9e7), PRIOPLUS
/// the ns-3 of PrioPlus (github.com/blueroaring/PrioPlus, `rocev2-swift.cc` at commit 0ef098f): the paper does not give
/// the value of each parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SwiftParams {
    /// Target round-trip time of a large window, without links. Default 25us (PRIOPLUS).
    #[schemars(transform = above("0s"))]
    pub base_target: Time,
    /// Addition to the target per link of the path. Default 2us (our choice: a link's round trip of 2·1 us; HTSIM means
    /// 1/6.55 of its base, but loses the length of its routes).
    pub hop_scale: Time,
    /// Maximum addition to the target for a small window, so that many flows do not aim at one point. Default 100us
    /// (PRIOPLUS, after the paper's figure 5: 4 base targets; HTSIM: 5).
    pub fs_range: Time,
    /// Window in packets up to which all of `fs_range` is added. Default 0.1 (HTSIM, PRIOPLUS).
    #[schemars(transform = above(0).most(1e6))]
    pub fs_min_cwnd: f64,
    /// Window in packets from which on nothing is added. Default 100 (HTSIM).
    #[schemars(transform = above(0).most(1e6))]
    pub fs_max_cwnd: f64,
    /// Additive increase per round trip, in packets. Default 1 (HTSIM).
    #[schemars(transform = above(0).most(1e6))]
    pub ai: f64,
    /// Cut of the window per relative excess over the target. Default 0.8 (HTSIM, PRIOPLUS).
    #[schemars(transform = above(0).most(1))]
    pub beta: f64,
    /// Maximum cut of the window. Default 0.5 (HTSIM; PRIOPLUS: 0.4).
    #[schemars(transform = above(0).below(1))]
    pub max_mdf: f64,
    /// Minimum window in packets; below 1, a packet is sent every 1/window round trips. Default 0.01 (our choice); 10
    /// bytes in HTSIM.
    #[schemars(transform = least(0.001).most(1))]
    pub min_cwnd: f64,
    /// Maximum window in packets. Default 10000 (our choice: ten times HTSIM's).
    #[schemars(transform = least(1).most(1e6))]
    pub max_cwnd: f64,
    /// First window in packets. Default none (our choice: the bandwidth-delay product, as other controls start at line
    /// rate).
    #[schemars(transform = above(0).most(1e6))]
    pub initial_cwnd: Option<f64>,
    /// Timeouts in a row that reset the window to `min_cwnd`. Default 5 (HTSIM).
    #[schemars(transform = least(1))]
    pub reset_after: u32,
}

impl Default for SwiftParams {
    fn default() -> Self {
        Self {
            base_target: Time::us(25),
            hop_scale: Time::us(2),
            fs_range: Time::us(100),
            fs_min_cwnd: 0.1,
            fs_max_cwnd: 100.0,
            ai: 1.0,
            beta: 0.8,
            max_mdf: 0.5,
            min_cwnd: 0.01,
            max_cwnd: 10_000.0,
            initial_cwnd: None,
            reset_after: 5,
        }
    }
}

impl ControlParams for SwiftParams {
    const SUMMARY: &'static str = "Swift (SIGCOMM 2020): a window that keeps the round-trip time at a target";
    const PROFILES: &'static [(&'static str, &'static str)] = &[
        ("paper", "SIGCOMM 2020: targets of 25 us, 2 us per link, up to 100 us more for small windows"),
        ("htsim", "csg-htsim's parameters: 20 us and no hops, first window 15 packets (swift.cpp, main_swift.cpp)"),
    ];
    const TELEMETRY: Telemetry = Telemetry::Timestamp;
    const MOVES_NEXT_SEND: bool = true;
    const IGNORES: &'static [Input] = &[Input::Marks, Input::BaseRtt];
    const WINDOW: WindowMode = WindowMode::Off;
    type State = Swift;

    fn profile(name: &str) -> Option<Self> {
        match name {
            "paper" => Some(Self::default()),
            "htsim" => Some(Self {
                base_target: Time::us(20),
                hop_scale: Time::ZERO,
                min_cwnd: 1.0 / 150.0,
                max_cwnd: 1000.0,
                initial_cwnd: Some(15.0),
                ..Self::default()
            }),
            _ => None,
        }
    }

    fn check(&self) -> Result<(), FieldError> {
        FieldError::unless(self.fs_min_cwnd < self.fs_max_cwnd, "fs_min_cwnd", self.fs_min_cwnd, "below fs_max_cwnd")
    }

    fn start(&self, flow: &FlowContext) -> Swift {
        let root = |cwnd: f64| 1.0 / cwnd.sqrt();
        let alpha = self.fs_range.0 as f64 / (root(self.fs_min_cwnd) - root(self.fs_max_cwnd));
        let first = self.initial_cwnd.unwrap_or(flow.bdp as f64 / flow.mtu as f64);
        let mut state = Swift {
            fixed_target: self.base_target.0,
            alpha,
            offset: alpha * root(self.fs_max_cwnd),
            mtu: flow.mtu,
            line: flow.line,
            packet: flow.mtu,
            cwnd: first.clamp(self.min_cwnd, self.max_cwnd),
            window: 0,
            rate: 0,
            rtt: 0,
            una: 0,
            last_decrease: None,
            timeouts: 0,
            params: self.clone(),
        };
        state.take_over();
        state
    }
}

#[derive(Debug, Clone)]
pub struct Swift {
    params: SwiftParams,
    /// For a large window, in ps.
    fixed_target: u64,
    /// Flow scaling: alpha/sqrt(cwnd) - offset, in ps.
    alpha: f64,
    offset: f64,
    mtu: u64,
    line: Rate,
    /// Last packet in wire bytes, for pacing.
    packet: u64,
    /// In packets.
    cwnd: f64,
    /// In bytes: whole packets, at least one.
    window: u64,
    /// Line rate, or pace of a window below 1, in bit/s.
    rate: u64,
    /// Smoothed, in ps; 0 before the first sample.
    rtt: u64,
    una: u64,
    last_decrease: Option<Time>,
    timeouts: u32,
}

impl Controller for Swift {
    fn on_path(&mut self, links: u8) {
        self.fixed_target += self.params.hop_scale.0 * u64::from(links);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.timeouts = 0;
        let may_decrease = self.may_decrease(ack.now);
        self.smooth(ack.rtt.0);
        let acked = ack.seq.saturating_sub(self.una) as f64 / self.mtu as f64;
        self.una = self.una.max(ack.seq);
        if ack.lost {
            if may_decrease {
                self.decrease(1.0 - self.params.max_mdf, ack.now);
            }
        } else if self.below_target(ack.rtt.0) {
            self.cwnd += self.params.ai * acked / self.cwnd.max(1.0);
        } else if may_decrease {
            let excess = (ack.rtt.0 as f64 - self.target()) / ack.rtt.0 as f64;
            self.decrease((1.0 - self.params.beta * excess).max(1.0 - self.params.max_mdf), ack.now);
        }
        self.take_over();
    }

    fn on_timeout(&mut self, now: Time) {
        self.timeouts += 1;
        if self.timeouts >= self.params.reset_after {
            self.decrease(0.0, now);
        } else if self.may_decrease(now) {
            self.decrease(1.0 - self.params.max_mdf, now);
        }
        self.take_over();
    }

    fn on_sent(&mut self, bytes: u64, _: Time) {
        self.packet = bytes;
    }

    fn rate(&self) -> u64 {
        self.rate
    }

    fn window(&self) -> u64 {
        self.window
    }
}

impl Swift {
    fn may_decrease(&self, now: Time) -> bool {
        self.last_decrease.is_none_or(|last| (now - last).0 >= self.rtt)
    }

    /// As TCP (RFC 6298) and HTSIM.
    fn smooth(&mut self, rtt: u64) {
        self.rtt = if self.rtt == 0 { rtt } else { self.rtt - self.rtt / 8 + rtt / 8 };
    }

    /// Avoids the square root: most delays are below the target's fixed part.
    fn below_target(&self, delay: u64) -> bool {
        delay < self.fixed_target || (delay as f64) < self.target()
    }

    fn target(&self) -> f64 {
        let scaled = self.alpha / self.cwnd.sqrt() - self.offset;
        self.fixed_target as f64 + scaled.clamp(0.0, self.params.fs_range.0 as f64)
    }

    fn decrease(&mut self, factor: f64, now: Time) {
        self.cwnd = (self.cwnd * factor).max(self.params.min_cwnd);
        self.last_decrease = Some(now);
    }

    fn take_over(&mut self) {
        self.cwnd = self.cwnd.clamp(self.params.min_cwnd, self.params.max_cwnd);
        if self.cwnd >= 1.0 {
            self.window = self.cwnd as u64 * self.mtu;
            self.rate = self.line.0;
        } else {
            // One packet every rtt/cwnd.
            self.window = self.mtu;
            let paced = self.packet as f64 * 8e12 * self.cwnd / self.rtt.max(1) as f64;
            self.rate = (paced as u64).clamp(1, self.line.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, flow};

    /// 6 links, window of `cwnd` packets, fixed target of 37 us.
    fn start(cwnd: f64) -> Swift {
        let mut cc = SwiftParams { initial_cwnd: Some(cwnd), ..SwiftParams::default() }.start(&flow());
        cc.on_path(6);
        cc.on_sent(1056, Time::ZERO);
        cc
    }

    /// Times in us.
    fn hear(cc: &mut Swift, now: u64, rtt: u64, lost: bool) -> f64 {
        let (flow, seq) = (flow(), cc.una + 1000);
        cc.on_ack(&Ack { now: Time::us(now), rtt: Time::us(rtt), lost, ..ack(&flow, seq, seq + 1000) });
        cc.cwnd
    }

    #[test]
    fn small_windows_have_later_targets() {
        // alpha = 100 us / (1/sqrt(0.1) - 1/sqrt(100)) = 32.6550 us, offset 3.2655 us.
        for (cwnd, us) in [(0.01, 137.0), (0.1, 137.0), (1.0, 66.389_5), (4.0, 50.062), (100.0, 37.0), (500.0, 37.0)] {
            let target = start(cwnd).target() / 1e6;
            assert!((target - us).abs() < 1e-3, "{target} for {us} us at {cwnd}");
        }
    }

    #[test]
    fn one_packet_a_round_trip_below_the_target() {
        let mut cc = start(100.0);
        for _ in 0..100 {
            hear(&mut cc, 0, 36, false);
        }
        assert!((cc.cwnd - 101.0).abs() < 0.01, "{}", cc.cwnd);
        assert_eq!((cc.window(), cc.rate()), (100_000, 100_000_000_000), "whole packets at line rate");
        assert_eq!(hear(&mut start(0.5), 0, 36, false), 1.5, "a packet per packet where less than one is under way");
    }

    #[test]
    fn one_cut_a_round_trip_above_it() {
        let mut cc = start(200.0);
        // 74 us is twice the target: 1 - 0.8 · 0.5. Next cut after 74 us.
        assert_eq!(hear(&mut cc, 100, 74, false), 120.0);
        assert_eq!(hear(&mut cc, 173, 74, false), 120.0);
        assert_eq!(hear(&mut cc, 174, 74, false), 120.0 * 0.6);
        // Ten times the target: at most one half.
        assert_eq!(hear(&mut start(200.0), 0, 370, false), 100.0);
        assert!((hear(&mut start(200.0), 0, 38, false) - 200.0 * (1.0 - 0.8 / 38.0)).abs() < 1e-9);
    }

    #[test]
    fn paces_below_one_packet() {
        let mut cc = start(1.0);
        assert_eq!(hear(&mut cc, 0, 400, false), 0.5);
        // 1056 B every 400 us / 0.5.
        assert_eq!((cc.window(), cc.rate()), (1000, 10_560_000));
        for n in 1..20 {
            hear(&mut cc, 400 * n, 400, false);
        }
        assert_eq!(cc.cwnd, 0.01);
        assert_eq!(cc.rate(), 211_200);
    }

    #[test]
    fn losses_halve_and_timeouts_in_a_row_reset() {
        let mut cc = start(64.0);
        assert_eq!(hear(&mut cc, 0, 30, true), 32.0);
        assert_eq!(hear(&mut cc, 20, 30, true), 32.0, "within a round trip");
        for (n, cwnd) in [(1, 16.0), (2, 8.0), (3, 4.0), (4, 2.0), (5, 0.01), (6, 0.01)] {
            cc.on_timeout(Time::ms(n));
            assert_eq!(cc.cwnd, cwnd);
        }
        assert_eq!(hear(&mut cc, 7000, 30, false), 1.01, "an ACK ends the row");
        cc.on_timeout(Time::ms(8));
        assert_eq!(cc.cwnd, 0.505);
    }
}
