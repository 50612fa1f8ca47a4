//! Patched TIMELY: one fixed point, at which flows share equally (Zhu et al., CoNEXT 2016).
//!
//! TIMELY's gradient alone can be 0 at any rates. The patch adds the RTT's distance to a reference. Each round trip,
//! `rate = (1 - w) AI + rate (1 - w beta (rtt - ref) / ref)`, with w from 0 to 1 for gradients from -1/4 to 1/4. At the fixed
//! point w is 1/2 and `rtt = ref (1 + N AI / (beta C))`.

use incast_model::field::FieldError;
use incast_model::range::above;
use incast_model::units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::timely::RttFilter;
use super::{Ack, ControlParams, Controller, FlowContext, Input, Telemetry, WindowMode};

/// Parameters of patched TIMELY; where the patch changes nothing they are those of `timely`, for 100 Gb/s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimelyPatchedParams {
    /// Weight of the newest difference in the filtered gradient. Default 0.875 (CoNEXT 2016).
    #[schemars(transform = above(0).most(1))]
    pub alpha: f64,
    /// Gain of the distance to the reference. Default 0.008 (CoNEXT 2016).
    #[schemars(transform = above(0).most(1))]
    pub beta: f64,
    /// Multiplicative decrease factor above `t_high`. Default 0.8 (SIGCOMM 2015).
    #[schemars(transform = above(0).most(1))]
    pub beta_high: f64,
    /// Round-trip time below which the rate rises. Default 50us (SIGCOMM 2015).
    pub t_low: Time,
    /// Round-trip time above which the rate falls as in TIMELY. Default 500us (SIGCOMM 2015).
    pub t_high: Time,
    /// Reference round-trip time. Default 50us (CoNEXT 2016: `t_low`).
    #[schemars(transform = above("0s"))]
    pub rtt_ref: Time,
    /// Round-trip time that normalises the gradient. Default 20us (SIGCOMM 2015).
    #[schemars(transform = above("0s"))]
    pub min_rtt: Time,
    /// Additive increase. Default 100Mbps (CoNEXT 2016: 10 Mb/s at 10 Gb/s, scaled for the same fixed points).
    pub ai: Rate,
    /// Minimum rate. Default 1Gbps (NS3 `run.py`, as for `timely`).
    #[schemars(transform = above("0bps"))]
    pub min_rate: Rate,
}

impl Default for TimelyPatchedParams {
    fn default() -> Self {
        Self {
            alpha: 0.875,
            beta: 0.008,
            beta_high: 0.8,
            t_low: Time::us(50),
            t_high: Time::us(500),
            rtt_ref: Time::us(50),
            min_rtt: Time::us(20),
            ai: Rate::mbps(100),
            min_rate: Rate::gbps(1),
        }
    }
}

impl ControlParams for TimelyPatchedParams {
    const SUMMARY: &'static str = "Patched TIMELY (CoNEXT 2016): TIMELY with one fixed point, equal for all flows";
    const PROFILES: &'static [(&'static str, &'static str)] = &[
        ("scaled", "CoNEXT 2016 with its additive increase scaled from 10 to 100 Gb/s: AI 100 Mb/s"),
        ("paper", "CoNEXT 2016 as it is, for 10 Gb/s: AI 10 Mb/s, minimum rate 10 Mb/s (our choice)"),
    ];
    const TELEMETRY: Telemetry = Telemetry::Timestamp;
    const IGNORES: &'static [Input] = &[Input::Marks, Input::BaseRtt, Input::Bdp];
    const INCREASES: &'static [&'static str] = &["ai"];
    const WINDOW: WindowMode = WindowMode::Off;
    type State = TimelyPatched;

    fn profile(name: &str) -> Option<Self> {
        match name {
            "scaled" => Some(Self::default()),
            "paper" => Some(Self { ai: Rate::mbps(10), min_rate: Rate::mbps(10), ..Self::default() }),
            _ => None,
        }
    }

    fn check(&self) -> Result<(), FieldError> {
        FieldError::unless(self.t_low < self.t_high, "t_low", self.t_low, "below t_high")
    }

    fn start(&self, flow: &FlowContext) -> TimelyPatched {
        TimelyPatched { params: self.clone(), rtts: RttFilter::new(flow), line: flow.line.0, rate: flow.line.0 }
    }
}

#[derive(Debug, Clone)]
pub struct TimelyPatched {
    params: TimelyPatchedParams,
    rtts: RttFilter,
    line: u64,
    rate: u64,
}

impl Controller for TimelyPatched {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        if let Some((rtt, gradient)) = self.rtts.sample(ack, self.params.alpha, self.params.min_rtt) {
            let rate = self.next_rate(rtt, gradient);
            self.rate = (rate.max(0.0) as u64).clamp(self.params.min_rate.0.min(self.line), self.line);
        }
    }

    fn rate(&self) -> u64 {
        self.rate
    }
}

impl TimelyPatched {
    /// In bit/s; `rtt` in ticks.
    fn next_rate(&self, rtt: f64, gradient: f64) -> f64 {
        let p = &self.params;
        let (rate, ai) = (self.rate as f64, p.ai.0 as f64);
        let [t_low, t_high, reference] = [p.t_low, p.t_high, p.rtt_ref].map(|time| self.rtts.in_ticks(time));
        if rtt < t_low {
            rate + ai
        } else if rtt > t_high {
            rate * (1.0 - p.beta_high * (1.0 - t_high / rtt))
        } else {
            let weight = weight(gradient);
            (1.0 - weight) * ai + rate * (1.0 - p.beta * weight * (rtt - reference) / reference)
        }
    }
}

fn weight(gradient: f64) -> f64 {
    (2.0 * gradient + 0.5).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, flow};

    /// In Gb/s, with one sample (us) per round trip.
    fn rates(cc: &mut TimelyPatched, rtts: &[u64]) -> Vec<f64> {
        let flow = flow();
        let sample = |(round, us): (usize, &u64)| {
            let seq = 1000 * (round as u64 + 1);
            cc.on_ack(&Ack { rtt: Time::us(*us), ..ack(&flow, seq, seq + 999) });
            cc.rate as f64 / 1e9
        };
        rtts.iter().enumerate().map(sample).collect()
    }

    #[test]
    fn follows_the_equations() {
        let mut cc = TimelyPatchedParams::default().start(&flow());
        cc.rate = 40_000_000_000;
        // By hand. Gradients: -, 0.4375 (+10 us), 0.492 (+10), 0.061 (+0), -0.430 (-10), -0.054 (+0); then above t_high: 1 -
        // 0.8 (1 - 500/1000), and below t_low.
        let got = rates(&mut cc, &[40, 50, 60, 60, 50, 50, 1000, 40]);
        let second = 40.0 + 0.0; // weight 1 at the reference: no change
        let third = second * (1.0 - 0.008 * 0.2); // weight 1, 20 % above
        let weight = 2.0 * 0.061_523_437_5 + 0.5;
        let fourth = (1.0 - weight) * 0.1 + third * (1.0 - 0.008 * weight * 0.2);
        let fifth = fourth + 0.1; // weight 0
        let weight = 2.0 * -0.053_726_196_289_062_5 + 0.5;
        let sixth = fifth + (1.0 - weight) * 0.1; // at the reference again
        let want = [40.0, second, third, fourth, fifth, sixth, sixth * 0.6, sixth * 0.6 + 0.1];
        for (got, want) in got.iter().zip(want) {
            assert!((got - want).abs() < 1e-6, "{got} for {want}");
        }
    }

    #[test]
    fn rests_at_its_fixed_point() {
        // 4 flows at 100 Gb/s: 25 Gb/s each, rtt 50 us (1 + 4 0.1 / (0.008 100)) = 75 us.
        let mut cc = TimelyPatchedParams::default().start(&flow());
        cc.rate = 25_000_000_000;
        assert!(rates(&mut cc, &[75; 50]).iter().all(|rate| (rate - 25.0).abs() < 1e-6));
    }
}
