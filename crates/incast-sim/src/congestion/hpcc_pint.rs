//! HPCC over PINT (Ben Basat et al., SIGCOMM 2020; HPCC authors' ns-3, `rdma-hw.cc`, HandleAckHpPint): ACKs return the path's
//! largest filtered utilisation, as a power of a base.

use incast_model::range::{above, least};
use incast_model::rng::mix;
use incast_model::units::Rate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hpcc::next_rate;
use super::{Ack, ControlParams, Controller, FlowContext, Input, Telemetry, WindowMode};

/// Units of utilisation: 1/512, from 1/512 to 512 (NS3 `pint.cc`).
pub(crate) const UNITS: f64 = 512.0;

/// Parameters of HPCC-PINT. NS3 is the HPCC authors' simulator (`run.py`, `pint.cc` at commit 9f4be2a).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HpccPintParams {
    /// Target utilisation. Default 0.95 (NS3 `U_TARGET`).
    #[schemars(transform = above(0).most(4))]
    pub eta: f64,
    /// Additive steps before a forced multiplicative one. Default 0 (NS3 `MI_THRESH`).
    pub max_stage: u32,
    /// Additive increase, as a rate. Default 50Mbps (NS3 README, `--hpai 50`).
    pub ai: Rate,
    /// Minimum rate. Default 1Gbps (NS3 `run.py`).
    #[schemars(transform = above("0bps"))]
    pub min_rate: Rate,
    /// Base of the logarithm that encodes utilisations, (1 + error)^2; equal for all controls of a run. Default 1.05
    /// (NS3 README: 8 bits).
    #[schemars(transform = least(1.0002).most(2))]
    pub log_base: f64,
    /// Share of the ACKs that are used. Default 1 (NS3 `PINT_PROB`).
    #[schemars(transform = above(0).most(1))]
    pub probability: f64,
}

impl Default for HpccPintParams {
    fn default() -> Self {
        Self { eta: 0.95, max_stage: 0, ai: Rate::mbps(50), min_rate: Rate::gbps(1), log_base: 1.05, probability: 1.0 }
    }
}

impl ControlParams for HpccPintParams {
    const SUMMARY: &'static str = "HPCC-PINT (SIGCOMM 2020): HPCC with one or two bytes of telemetry per packet";
    const PROFILES: &'static [(&'static str, &'static str)] = &[
        ("ns3", "the HPCC evaluation: eta 0.95, base 1.05, every ACK, AI 50 Mb/s (authors' ns-3, README)"),
        ("key-results", "as ns3 with eta 0.99 (the authors' key-results page)"),
    ];
    const TELEMETRY: Telemetry = Telemetry::Pint;
    const MOVES_NEXT_SEND: bool = true;
    const IGNORES: &'static [Input] = &[Input::Marks, Input::Bdp];
    const INCREASES: &'static [&'static str] = &["ai"];
    const WINDOW: WindowMode = WindowMode::Rate;
    type State = HpccPint;

    fn profile(name: &str) -> Option<Self> {
        match name {
            "ns3" => Some(Self::default()),
            "key-results" => Some(Self { eta: 0.99, ..Self::default() }),
            _ => None,
        }
    }

    fn start(&self, flow: &FlowContext) -> HpccPint {
        HpccPint {
            line: flow.line.0,
            rate: flow.line.0,
            reference: flow.line.0,
            stage: 0,
            last_update: 0,
            set: false,
            params: self.clone(),
        }
    }
}

#[derive(Debug, Clone)]
pub struct HpccPint {
    params: HpccPintParams,
    line: u64,
    rate: u64,
    reference: u64,
    stage: u32,
    last_update: u64,
    /// If true, the last ACK set the rate.
    set: bool,
}

impl Controller for HpccPint {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.set = false;
        if self.params.probability < 1.0 && !self.uses(ack) {
            return;
        }
        if self.last_update == 0 {
            self.last_update = ack.next;
            return;
        }
        let new_round = ack.seq > self.last_update;
        let utilisation = libm::pow(self.params.log_base, f64::from(ack.pint)) / UNITS;
        let ratio = utilisation / self.params.eta;
        let (rate, stage) = next_rate((self.reference, self.stage), ratio, self.params.ai, self.params.max_stage);
        self.rate = rate.max(self.params.min_rate.0).min(self.line);
        self.set = true;
        if new_round {
            self.reference = self.rate;
            self.stage = stage;
            self.last_update = self.last_update.max(ack.next);
        }
    }

    fn rate(&self) -> u64 {
        self.rate
    }

    fn has_set_rate(&self) -> bool {
        self.set
    }
}

impl HpccPint {
    /// By a hash, as switches select packets; in `ns3` arithmetic by a draw.
    fn uses(&self, ack: &Ack<'_>) -> bool {
        match ack.draw {
            Some(draw) => u32::from(draw) < (65_536.0 * self.params.probability) as u32,
            None => (mix(ack.seq) >> 11) as f64 / (1u64 << 53) as f64 <= self.params.probability,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{self, flow};

    fn ack(flow: &FlowContext, seq: u64, pint: u16) -> Ack<'_> {
        Ack { pint, ..testing::ack(flow, seq, seq + 100_000) }
    }

    #[test]
    fn divides_by_the_decoded_utilisation() {
        let flow = flow();
        let mut cc = HpccPintParams::default().start(&flow);
        cc.on_ack(&ack(&flow, 1000, 200));
        assert_eq!(cc.rate, 100_000_000_000, "the first ACK is only remembered");
        // 1.05^128 / 512 = 1.0068: rate 100 · 0.95 / 1.0068 + 0.05 Gb/s, in the same round trip.
        cc.on_ack(&ack(&flow, 2000, 128));
        let expected = 95.0 / (libm::pow(1.05, 128.0) / 512.0) + 0.05;
        assert!((cc.rate as f64 / 1e9 - expected).abs() < 1e-6);
        assert_eq!(cc.reference, 100_000_000_000);
        cc.on_ack(&ack(&flow, 101_001, 128));
        assert_eq!(cc.reference, cc.rate);
    }

    #[test]
    fn uses_the_share_asked_for() {
        let params = HpccPintParams { probability: 1.0 / 16.0, ..Default::default() };
        let flow = flow();
        let cc = params.start(&flow);
        let used = (0..16_000u64).filter(|n| cc.uses(&ack(&flow, n * 1000, 1))).count();
        assert!((900..=1100).contains(&used), "{used}");
        // SetPintSmplThresh of the authors' ns-3: 4,096 of 65,536.
        assert_eq!([4095, 4096].map(|draw| cc.uses(&Ack { draw: Some(draw), ..ack(&flow, 1, 1) })), [true, false]);
    }
}
