//! TIMELY (Mittal et al., SIGCOMM 2015, section 4), as in the HPCC authors' ns-3.

use incast_model::field::FieldError;
use incast_model::range::above;
use incast_model::units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ack, ControlParams, Controller, FlowContext, Input, Telemetry, WindowMode};

/// Parameters of TIMELY. NS3 is the HPCC authors' simulator (`rdma-hw.cc`, `run.py` at commit 9f4be2a); rates are for
/// 100 Gb/s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimelyParams {
    /// Weight of the newest difference in the filtered gradient. Default 0.875 (Zhu et al., CoNEXT 2016; NS3).
    #[schemars(transform = above(0).most(1))]
    pub alpha: f64,
    /// Multiplicative decrease factor. Default 0.8 (SIGCOMM 2015; NS3).
    #[schemars(transform = above(0).most(1))]
    pub beta: f64,
    /// Round-trip time below which the rate rises, whatever the link rate. Default 50us (SIGCOMM 2015; NS3).
    pub t_low: Time,
    /// Round-trip time above which the rate falls. Default 500us (SIGCOMM 2015; NS3).
    pub t_high: Time,
    /// Round-trip time that normalises the gradient. Default 20us (SIGCOMM 2015; NS3).
    #[schemars(transform = above("0s"))]
    pub min_rtt: Time,
    /// Additive increase. Default 100Mbps (NS3: 10·bandwidth/10; the paper: 10 Mb/s).
    pub ai: Rate,
    /// Hyper increase, from the fifth increase in a row on. Default 500Mbps (NS3: 50·bandwidth/10; the paper: 5 `ai`).
    pub hai: Rate,
    /// Increases in a row before `hai`. Default 5 (SIGCOMM 2015; NS3).
    pub hai_after: u32,
    /// Minimum rate. Default 1Gbps (NS3 `run.py`).
    #[schemars(transform = above("0bps"))]
    pub min_rate: Rate,
}

impl Default for TimelyParams {
    fn default() -> Self {
        Self {
            alpha: 0.875,
            beta: 0.8,
            t_low: Time::us(50),
            t_high: Time::us(500),
            min_rtt: Time::us(20),
            ai: Rate::mbps(100),
            hai: Rate::mbps(500),
            hai_after: 5,
            min_rate: Rate::gbps(1),
        }
    }
}

impl ControlParams for TimelyParams {
    const SUMMARY: &'static str = "TIMELY (SIGCOMM 2015): rate from round-trip times and their gradient";
    const PROFILES: &'static [(&'static str, &'static str)] = &[
        ("ns3", "the HPCC evaluation at 100 Gb/s: AI 100 Mb/s, HAI 500 Mb/s (authors' ns-3, run.py)"),
        ("paper", "AI 10 Mb/s, HAI 50 Mb/s (SIGCOMM 2015, section 5)"),
    ];
    const TELEMETRY: Telemetry = Telemetry::Timestamp;
    const IGNORES: &'static [Input] = &[Input::Marks, Input::BaseRtt, Input::Bdp];
    const INCREASES: &'static [&'static str] = &["ai", "hai"];
    const WINDOW: WindowMode = WindowMode::Off;
    type State = Timely;

    fn profile(name: &str) -> Option<Self> {
        match name {
            "ns3" => Some(Self::default()),
            "paper" => Some(Self { ai: Rate::mbps(10), hai: Rate::mbps(50), ..Self::default() }),
            _ => None,
        }
    }

    fn check(&self) -> Result<(), FieldError> {
        FieldError::unless(self.t_low < self.t_high, "t_low", self.t_low, "below t_high")
    }

    fn start(&self, flow: &FlowContext) -> Timely {
        Timely { params: self.clone(), rtts: RttFilter::new(flow), line: flow.line.0, rate: flow.line.0, stage: 0 }
    }
}

#[derive(Debug, Clone)]
pub(super) struct RttFilter {
    /// In ps.
    tick: u64,
    last_update: u64,
    /// In ticks.
    last_rtt: f64,
    /// Filtered, in ticks.
    difference: f64,
}

impl RttFilter {
    pub(super) fn new(flow: &FlowContext) -> Self {
        let tick = (flow.base_rtt.0 / flow.rtt_ticks.max(1)).max(1);
        Self { tick, last_update: 0, last_rtt: 0.0, difference: 0.0 }
    }

    pub(super) fn in_ticks(&self, time: Time) -> f64 {
        (time.0 / self.tick) as f64
    }

    /// RTT in ticks and filtered difference over `min_rtt`, if an ACK begins a round trip after the first. `alpha`: weight of
    /// the newest difference.
    pub(super) fn sample(&mut self, ack: &Ack<'_>, alpha: f64, min_rtt: Time) -> Option<(f64, f64)> {
        if ack.seq <= self.last_update {
            return None;
        }
        let first = self.last_update == 0;
        let rtt = self.in_ticks(ack.rtt);
        if !first {
            self.difference = (1.0 - alpha) * self.difference + alpha * (rtt - self.last_rtt);
        }
        if first || ack.next > self.last_update {
            self.last_update = ack.next;
            self.last_rtt = rtt;
        }
        (!first).then(|| (rtt, self.difference / self.in_ticks(min_rtt)))
    }
}

#[derive(Debug, Clone)]
pub struct Timely {
    params: TimelyParams,
    rtts: RttFilter,
    line: u64,
    rate: u64,
    /// Increases in a row.
    stage: u32,
}

impl Controller for Timely {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        if let Some((rtt, gradient)) = self.rtts.sample(ack, self.params.alpha, self.params.min_rtt) {
            self.react(rtt, gradient);
        }
    }

    fn rate(&self) -> u64 {
        self.rate
    }
}

impl Timely {
    fn react(&mut self, rtt: f64, gradient: f64) {
        let p = &self.params;
        let t_high = self.rtts.in_ticks(p.t_high);
        if rtt < self.rtts.in_ticks(p.t_low) {
            self.increase();
        } else if rtt > t_high {
            self.decrease(1.0 - p.beta * (1.0 - t_high / rtt));
        } else if gradient <= 0.0 {
            self.increase();
        } else {
            self.decrease((1.0 - p.beta * gradient).max(0.0));
        }
    }

    fn increase(&mut self) {
        let step = if self.stage < self.params.hai_after { self.params.ai } else { self.params.hai };
        self.rate = (self.rate + step.0).min(self.line);
        self.stage += 1;
    }

    fn decrease(&mut self, factor: f64) {
        self.rate = ((self.rate as f64 * factor) as u64).max(self.params.min_rate.0);
        self.stage = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, flow};

    /// In Gb/s, with one sample per round trip.
    fn rates(cc: &mut Timely, rtts_us: &[u64]) -> Vec<f64> {
        let flow = flow();
        let sample = |(round, us): (usize, &u64)| {
            let seq = 1000 * (round as u64 + 1);
            cc.on_ack(&Ack { rtt: Time::us(*us), ..ack(&flow, seq, seq + 999) });
            cc.rate as f64 / 1e9
        };
        rtts_us.iter().enumerate().map(sample).collect()
    }

    #[test]
    fn follows_the_equations() {
        let mut cc = TimelyParams::default().start(&flow());
        cc.rate = 40_000_000_000;
        let rtts = [30, 40, 60, 80, 80, 70, 70, 600, 600, 300, 100, 45, 45, 45, 45, 45];
        let by_hand = [
            40.0, 40.1, 10.275625, 2.127375, 1.916508, 2.016508, 2.116508, 1.834307, 1.589732, 1.689732, 1.789732,
            1.889732, 1.989732, 2.089732, 2.589732, 3.089732,
        ];
        for (got, want) in rates(&mut cc, &rtts).iter().zip(by_hand) {
            assert!((got - want).abs() < 1e-6, "{got} for {want}");
        }
    }

    #[test]
    fn far_above_the_high_threshold_the_factor_is_exact() {
        // 1000 us against 500 us: 1 - 0.8 (1 - 0.5) = 0.6 per round trip.
        let mut cc = TimelyParams::default().start(&flow());
        let got = rates(&mut cc, &[1000, 1000, 1000]);
        assert_eq!(got, [100.0, 60.0, 36.0]);
    }

    #[test]
    fn one_sample_a_round_trip() {
        let mut cc = TimelyParams::default().start(&flow());
        for seq in 1..50 {
            cc.on_ack(&Ack { rtt: Time::us(900), ..ack(&flow(), seq, 100) });
        }
        assert_eq!(cc.rate, 100_000_000_000);
    }
}
