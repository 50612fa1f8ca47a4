//! DCQCN (Zhu et al., SIGCOMM 2015), as in the paper, in Mellanox NICs and in the HPCC authors' ns-3.

use incast_model::range::above;
use incast_model::units::{Bytes, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ack, ControlParams, Controller, FlowContext, Input, WindowMode};

/// Reaction-point algorithm: the NIC vendor's, or the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DcqcnVariant {
    /// Cuts on a fixed grid of `decrease_interval`, alpha on a fixed grid of `alpha_interval`, no byte counter (HPCC
    /// authors' ns-3, `rdma-hw.cc`, functions ending in Mlx).
    Vendor,
    /// Immediate cuts, at most one per `decrease_interval`; increases by timer and by byte counter (SIGCOMM 2015, fig.
    /// 7).
    Paper,
}

/// Parameters of DCQCN. NS3 is the HPCC authors' simulator (`run.py` at commit 9f4be2a); rates are for 100 Gb/s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DcqcnParams {
    /// Reaction-point algorithm. Default vendor (the HPCC evaluation).
    pub variant: DcqcnVariant,
    /// Gain g of alpha's filter. Default 1/256 (SIGCOMM 2015, section 5; NS3).
    #[schemars(transform = above(0).most(1))]
    pub g: f64,
    /// Period of alpha's filter. Default 1us (NS3 `ALPHA_RESUME_INTERVAL`).
    #[schemars(transform = above("0s"))]
    pub alpha_interval: Time,
    /// Minimum time between cuts. Default 4us (NS3 `RATE_DECREASE_INTERVAL`; in the paper the CNP interval N).
    #[schemars(transform = above("0s"))]
    pub decrease_interval: Time,
    /// Time between increases. Default 300us (NS3 `RP_TIMER`).
    #[schemars(transform = above("0s"))]
    pub increase_interval: Time,
    /// Bytes between increases; `paper` variant only. Default 10MB (SIGCOMM 2015, section 5).
    #[schemars(transform = above("0B"))]
    pub byte_counter: Bytes,
    /// Increases that only recover the target rate. Default 1 (NS3 `FAST_RECOVERY_TIMES`).
    pub fast_recovery: u32,
    /// Additive increase of the target. Default 20Mbps (NS3: 5·bandwidth/25).
    pub ai: Rate,
    /// Hyper increase: later increases of the target. Default 200Mbps (NS3: 50·bandwidth/25; `paper`: our reading).
    pub hai: Rate,
    /// Minimum rate. Default 1Gbps (NS3 `run.py`; `paper`: our reading).
    #[schemars(transform = above("0bps"))]
    pub min_rate: Rate,
    /// If true, every cut lowers the target, also a cut that follows another without an increase; `vendor` variant
    /// only. Default false (NS3 `CLAMP_TARGET_RATE`).
    pub clamp_target: bool,
}

impl Default for DcqcnParams {
    fn default() -> Self {
        Self {
            variant: DcqcnVariant::Vendor,
            g: 1.0 / 256.0,
            alpha_interval: Time::us(1),
            decrease_interval: Time::us(4),
            increase_interval: Time::us(300),
            byte_counter: Bytes(10_000_000),
            fast_recovery: 1,
            ai: Rate::mbps(20),
            hai: Rate::mbps(200),
            min_rate: Rate::gbps(1),
            clamp_target: false,
        }
    }
}

impl ControlParams for DcqcnParams {
    const SUMMARY: &'static str = "DCQCN (SIGCOMM 2015): rate cuts on ECN marks, timed recovery";
    const PROFILES: &'static [(&'static str, &'static str)] = &[
        (
            "vendor",
            "as in the HPCC evaluation: alpha 1 us, cuts 4 us, increases 300 us (authors' ns-3, run.py `dcqcn`)",
        ),
        ("hpcc-paper", "vendor rules at 50 us, 50 us, 55 us (authors' ns-3, run.py `dcqcn_paper`)"),
        ("paper", "the reaction point of SIGCOMM 2015 with its parameters for 40 Gb/s"),
    ];
    const IGNORES: &'static [Input] = &[Input::BaseRtt, Input::Bdp];
    const INCREASES: &'static [&'static str] = &["ai", "hai"];
    const WINDOW: WindowMode = WindowMode::Off;
    type State = Dcqcn;

    fn profile(name: &str) -> Option<Self> {
        match name {
            "vendor" => Some(Self::default()),
            "hpcc-paper" => Some(Self {
                alpha_interval: Time::us(50),
                decrease_interval: Time::us(50),
                increase_interval: Time::us(55),
                ..Self::default()
            }),
            "paper" => Some(Self {
                variant: DcqcnVariant::Paper,
                alpha_interval: Time::us(55),
                decrease_interval: Time::us(50),
                increase_interval: Time::us(55),
                fast_recovery: 5,
                ai: Rate::mbps(40),
                hai: Rate::mbps(400),
                min_rate: Rate::mbps(40),
                ..Self::default()
            }),
            _ => None,
        }
    }

    fn start(&self, flow: &FlowContext) -> Dcqcn {
        Dcqcn {
            line: flow.line.0,
            rate: flow.line.0,
            target: flow.line.0,
            alpha: 1.0,
            marked_for_alpha: false,
            next_alpha: Time::MAX,
            next_increase: Time::MAX,
            next_cut: Time::MAX,
            cut_grid: Time::MAX,
            timer_steps: 0,
            byte_steps: 0,
            bytes: 0,
            ack_before_alpha: flow.ack_age > self.alpha_interval,
            ack_before_cut: flow.ack_age > self.decrease_interval,
            params: self.clone(),
        }
    }
}

/// Rates are integers, cut and halved as in the authors' ns-3.
#[derive(Debug, Clone)]
pub struct Dcqcn {
    params: DcqcnParams,
    line: u64,
    rate: u64,
    target: u64,
    alpha: f64,
    /// Since alpha's last move.
    marked_for_alpha: bool,
    /// [`Time::MAX`] before the first mark. Moves are applied when alpha is used.
    next_alpha: Time,
    next_increase: Time,
    /// [`Time::MAX`] without a mark since the last cut.
    next_cut: Time,
    /// Vendor: a point of the grid of cuts. Paper: earliest next cut.
    cut_grid: Time,
    timer_steps: u32,
    byte_steps: u32,
    bytes: u64,
    /// A mark in the nanosecond of alpha's move counts for it.
    ack_before_alpha: bool,
    /// A mark in the nanosecond of a point of the grid of cuts counts for it.
    ack_before_cut: bool,
}

impl Controller for Dcqcn {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        if ack.marked {
            self.on_cnp(ack.now);
        }
    }

    fn on_cnp(&mut self, now: Time) {
        match self.params.variant {
            DcqcnVariant::Vendor => self.vendor_mark(now),
            DcqcnVariant::Paper => self.paper_cnp(now),
        }
    }

    fn on_timer(&mut self, now: Time) {
        // An increase and a cut may be due together: ns-3 begins with the one that it scheduled earlier.
        if self.next_cut <= now && self.params.increase_interval <= self.params.decrease_interval {
            self.vendor_cut(now);
        }
        if self.next_increase <= now {
            self.next_increase = now + self.params.increase_interval;
            self.timer_steps += 1;
            match self.params.variant {
                DcqcnVariant::Vendor => self.vendor_increase(),
                DcqcnVariant::Paper => self.paper_increase(),
            }
        }
        if self.next_cut <= now {
            self.vendor_cut(now);
        }
    }

    fn on_sent(&mut self, bytes: u64, _now: Time) {
        if self.params.variant == DcqcnVariant::Paper && self.next_increase != Time::MAX {
            self.bytes += bytes;
            if self.bytes >= self.params.byte_counter.0 {
                self.bytes -= self.params.byte_counter.0;
                self.byte_steps += 1;
                self.paper_increase();
            }
        }
    }

    fn rate(&self) -> u64 {
        self.rate
    }

    fn next_timer(&self) -> Time {
        self.next_increase.min(self.next_cut)
    }
}

impl Dcqcn {
    fn cut_rate(&mut self) {
        let cut = self.rate as f64 * (1.0 - self.alpha / 2.0);
        self.rate = (cut as u64).max(self.params.min_rate.0);
    }

    /// `inclusive`: with moves at `now`.
    fn advance_alpha(&mut self, now: Time, inclusive: bool) {
        while self.next_alpha < now || (inclusive && self.next_alpha == now) {
            self.alpha *= 1.0 - self.params.g;
            if std::mem::take(&mut self.marked_for_alpha) {
                self.alpha += self.params.g;
            }
            self.next_alpha += self.params.alpha_interval;
        }
    }

    fn vendor_mark(&mut self, now: Time) {
        if self.next_alpha == Time::MAX {
            self.alpha = 1.0;
            self.target = self.rate;
            self.next_alpha = now + self.params.alpha_interval;
            // After alpha's move (`rdma-hw.cc`, CheckRateDecreaseMlx).
            self.cut_grid = now + self.params.decrease_interval + Time::ns(1);
        } else {
            self.advance_alpha(now, !self.ack_before_alpha);
            self.marked_for_alpha = true;
            let interval = self.params.decrease_interval;
            if self.ack_before_cut && self.cut_grid == now + interval {
                return; // the cut of this nanosecond used the mark
            }
            if self.cut_grid <= now {
                let since = now.0 - self.cut_grid.0;
                let passed = if self.ack_before_cut { since.div_ceil(interval.0) } else { since / interval.0 + 1 };
                self.cut_grid += interval * passed;
            }
        }
        self.next_cut = self.cut_grid;
    }

    fn vendor_cut(&mut self, now: Time) {
        self.advance_alpha(now, true);
        if self.params.clamp_target || self.timer_steps > 0 {
            self.target = self.rate;
        }
        self.cut_rate();
        self.timer_steps = 0;
        self.next_cut = Time::MAX;
        self.cut_grid = now + self.params.decrease_interval;
        self.next_increase = now + self.params.increase_interval;
    }

    fn vendor_increase(&mut self) {
        let step = match self.timer_steps - 1 {
            stage if stage < self.params.fast_recovery => 0,
            stage if stage == self.params.fast_recovery => self.params.ai.0,
            _ => self.params.hai.0,
        };
        self.raise(step);
    }

    fn raise(&mut self, step: u64) {
        self.target = (self.target + step).min(self.line);
        self.rate = self.rate / 2 + self.target / 2;
    }

    fn paper_cnp(&mut self, now: Time) {
        if self.cut_grid != Time::MAX && now < self.cut_grid {
            return; // return; // one CNP per interval
        }
        self.advance_alpha(now, true);
        self.target = self.rate;
        self.cut_rate();
        self.alpha = (1.0 - self.params.g) * self.alpha + self.params.g;
        (self.timer_steps, self.byte_steps, self.bytes) = (0, 0, 0);
        self.cut_grid = now + self.params.decrease_interval;
        self.next_alpha = now + self.params.alpha_interval;
        self.next_increase = now + self.params.increase_interval;
    }

    /// Fast recovery, then additive, then hyper increase (section 3.2, after QCN).
    fn paper_increase(&mut self) {
        let f = self.params.fast_recovery;
        let step = if self.timer_steps.max(self.byte_steps) < f {
            0
        } else if self.timer_steps.min(self.byte_steps) > f {
            self.params.hai.0 * u64::from(self.timer_steps.min(self.byte_steps) - f)
        } else {
            self.params.ai.0
        };
        self.raise(step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::IntFormat;

    fn start(params: DcqcnParams, ack_age: Time) -> Dcqcn {
        params.start(&FlowContext {
            line: Rate::gbps(100),
            base_rtt: Time::us(4),
            bdp: 52_000,
            mtu: 1000,
            tick: 1e-12,
            rtt_ticks: 4_160_000,
            int: IntFormat::Exact,
            ack_age,
        })
    }

    /// `marks` in ns; us and Gb/s after each timer.
    fn trace(mut cc: Dcqcn, marks: &[u64], until: Time) -> Vec<(f64, f64)> {
        let mut marks = marks.iter().map(|&ns| Time::ns(ns)).peekable();
        let mut out = Vec::new();
        loop {
            let timer = cc.next_timer();
            if let Some(mark) = marks.next_if(|&mark| mark < timer) {
                cc.on_cnp(mark);
            } else if timer <= until {
                cc.on_timer(timer);
                out.push((timer.seconds() * 1e6, cc.rate as f64 / 1e9));
            } else {
                return out;
            }
        }
    }

    fn assert_trace(got: &[(f64, f64)], want: &[(f64, f64)]) {
        assert_eq!(got.len(), want.len(), "{got:?}");
        for (g, w) in got.iter().zip(want) {
            assert!((g.0 - w.0).abs() < 1e-9 && (g.1 - w.1).abs() < 1e-6, "{g:?} for {w:?}");
        }
    }

    #[test]
    fn one_mark_by_hand() {
        let want = [
            (4.001, 50.776684),
            (304.001, 75.388342),
            (604.001, 87.694171),
            (904.001, 93.847086),
            (1204.001, 96.923543),
            (1504.001, 98.461771),
        ];
        assert_trace(&trace(start(DcqcnParams::default(), Time::ZERO), &[0], Time::us(1600)), &want);
    }

    #[test]
    fn consecutive_cuts_keep_the_target() {
        let want = [
            (4.001, 50.386822),
            (8.001, 25.678993),
            (12.001, 13.232804),
            (312.001, 56.616402),
            (612.001, 78.308201),
            (912.001, 89.154101),
        ];
        let got = trace(start(DcqcnParams::default(), Time::ZERO), &[0, 2500, 3500, 5500, 9500], Time::us(1000));
        assert_trace(&got, &want);
    }

    #[test]
    fn alpha_halves_in_177_periods() {
        let mut cc = start(DcqcnParams::default(), Time::ZERO);
        cc.on_cnp(Time::ZERO);
        cc.on_timer(cc.next_timer());
        cc.advance_alpha(Time::us(177), true);
        assert!((cc.alpha - (255.0f64 / 256.0).powi(177)).abs() < 1e-12);
        assert!((cc.alpha - 0.5).abs() < 0.001);
    }

    #[test]
    fn a_mark_in_the_nanosecond_of_alphas_move() {
        let alpha_after = |ack_age| {
            let mut cc = start(DcqcnParams::default(), ack_age);
            cc.on_cnp(Time::ZERO);
            cc.on_cnp(Time::us(1));
            cc.advance_alpha(Time::us(1), true);
            cc.alpha
        };
        assert_eq!(alpha_after(Time::ZERO), 255.0 / 256.0);
        assert_eq!(alpha_after(Time::ns(1004)), 1.0);
    }

    #[test]
    fn paper_variant_by_hand() {
        let mut cc = start(DcqcnParams::profile("paper").unwrap(), Time::ZERO);
        cc.on_cnp(Time::us(10));
        assert_eq!((cc.rate, cc.target), (50_000_000_000, 100_000_000_000));
        cc.on_cnp(Time::us(30));
        assert_eq!(cc.rate, 50_000_000_000);
        for (us, rate) in [(65, 75_000_000_000), (120, 87_500_000_000), (175, 93_750_000_000u64)] {
            assert_eq!(cc.next_timer(), Time::us(us));
            cc.on_timer(Time::us(us));
            assert_eq!(cc.rate, rate);
        }
        // alpha: 1, after the cut (1-g)·1 + g = 1, then moves at 65, 120, 175, 230 us
        cc.on_cnp(Time::us(231));
        let alpha = (255.0f64 / 256.0).powi(4);
        assert_eq!(cc.rate, (93_750_000_000.0 * (1.0 - alpha / 2.0)) as u64);
        assert_eq!(cc.target, 93_750_000_000);
    }

    #[test]
    fn byte_counter_counts_in_the_paper_variant() {
        let mut cc =
            start(DcqcnParams { byte_counter: Bytes(3000), ..DcqcnParams::profile("paper").unwrap() }, Time::ZERO);
        cc.on_sent(1048, Time::us(1));
        cc.on_cnp(Time::us(2));
        for _ in 0..3 {
            cc.on_sent(1048, Time::us(3));
        }
        assert_eq!(cc.rate, 75_000_000_000);
    }
}
