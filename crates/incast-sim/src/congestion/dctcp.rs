//! DCTCP on RDMA hosts: a rate, cut by the marked share of each round trip (Alizadeh et al., SIGCOMM 2010, section 3; HPCC
//! authors' ns-3, `rdma-hw.cc`, HandleAckDctcp).

use incast_model::range::above;
use incast_model::units::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ack, ControlParams, Controller, FlowContext, Input, WindowMode};
use crate::marking::EcnParams;

/// Parameters of DCTCP. NS3 is the HPCC authors' simulator (`run.py` at commit 9f4be2a); rates are for 100 Gb/s. By
/// default switches mark by a step: every packet that leaves more than 300 kB at 100 Gb/s behind (30 kB per 10 Gb/s in
/// NS3).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DctcpParams {
    /// Gain g of the filter of the marked share. Default 1/16 (SIGCOMM 2010, section 3.3; NS3).
    #[schemars(transform = above(0).most(1))]
    pub g: f64,
    /// Additive increase per round trip. Default 615Mbps (NS3 `DCTCP_RATE_AI`: a packet of 1000 B per 13 us).
    pub ai: Rate,
    /// Minimum rate. Default 1Gbps (NS3 `run.py`).
    #[schemars(transform = above("0bps"))]
    pub min_rate: Rate,
}

impl Default for DctcpParams {
    fn default() -> Self {
        Self { g: 0.0625, ai: Rate::mbps(615), min_rate: Rate::gbps(1) }
    }
}

impl ControlParams for DctcpParams {
    const SUMMARY: &'static str =
        "DCTCP (SIGCOMM 2010) on RDMA hosts: rate cuts by the marked share of each round trip";
    const PROFILES: &'static [(&'static str, &'static str)] =
        &[("ns3", "the HPCC evaluation at 100 Gb/s: g 1/16, AI 615 Mb/s (authors' ns-3, run.py)")];
    const IGNORES: &'static [Input] = &[Input::BaseRtt, Input::Bdp];
    const WINDOW: WindowMode = WindowMode::Rate;
    const ECN: Option<EcnParams> = Some(EcnParams::step(Bytes(300_000)));
    type State = Dctcp;

    fn profile(name: &str) -> Option<Self> {
        (name == "ns3").then(Self::default)
    }

    fn start(&self, flow: &FlowContext) -> Dctcp {
        Dctcp {
            params: self.clone(),
            line: flow.line.0,
            rate: flow.line.0,
            mtu: flow.mtu,
            alpha: 1.0,
            marked: 0,
            batch: 0,
            last_update: 0,
            reduced_until: None,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Dctcp {
    params: DctcpParams,
    line: u64,
    rate: u64,
    mtu: u64,
    alpha: f64,
    marked: u64,
    batch: u64,
    /// Byte that ends a round trip.
    last_update: u64,
    /// No increases up to this byte after a cut.
    reduced_until: Option<u64>,
}

impl Controller for Dctcp {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.marked += u64::from(ack.marked);
        let new_round = ack.seq > self.last_update;
        if new_round {
            self.end_round(ack);
        }
        if self.reduced_until.is_some_and(|end| ack.seq > end) {
            self.reduced_until = None;
        }
        if ack.marked && self.reduced_until.is_none() {
            let cut = self.rate as f64 * (1.0 - self.alpha / 2.0);
            self.rate = (cut as u64).max(self.params.min_rate.0);
            self.reduced_until = Some(ack.next);
        }
        if new_round && self.reduced_until.is_none() {
            self.rate = (self.rate + self.params.ai.0).min(self.line);
        }
    }

    fn rate(&self) -> u64 {
        self.rate
    }
}

impl Dctcp {
    fn end_round(&mut self, ack: &Ack<'_>) {
        if self.last_update == 0 {
            self.batch = ack.next / self.mtu + 1;
        } else {
            let share = (self.marked as f64 / self.batch as f64).min(1.0);
            self.alpha = (1.0 - self.params.g) * self.alpha + self.params.g * share;
            self.marked = 0;
            self.batch = ack.next.saturating_sub(ack.seq) / self.mtu + 1;
        }
        self.last_update = ack.next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{ack, flow};

    #[test]
    fn follows_the_equations() {
        let flow = flow();
        let mut cc = DctcpParams::default().start(&flow);
        // (acknowledged, marked, next byte), then (alpha, Gb/s, within a reduced window), by hand.
        for ((seq, marked, next), (alpha, rate, reduced)) in [
            ((1000, false, 154_000), (1.0, 100.0, false)),
            ((100_000, true, 250_000), (1.0, 50.0, true)),
            ((154_000, true, 300_000), (1.0, 50.0, true)),
            ((155_000, false, 301_000), (0.938306, 50.0, true)),
            ((250_001, false, 400_000), (0.938306, 50.0, false)),
            ((301_000, false, 402_000), (0.938306, 50.0, false)),
            ((302_000, false, 452_000), (0.879662, 50.615, false)),
            ((452_000, true, 600_000), (0.879662, 28.352946, true)),
            ((452_001, false, 601_000), (0.825097, 28.352946, true)),
            ((601_000, false, 700_000), (0.825097, 28.352946, false)),
            ((700_001, false, 800_000), (0.773529, 28.967946, false)),
        ] {
            cc.on_ack(&Ack { marked, ..ack(&flow, seq, next) });
            assert!((cc.alpha - alpha).abs() < 1e-6, "{seq}: alpha {} for {alpha}", cc.alpha);
            assert!((cc.rate as f64 / 1e9 - rate).abs() < 1e-6, "{seq}: {} for {rate}", cc.rate);
            assert_eq!(cc.reduced_until.is_some(), reduced, "{seq}");
        }
    }
}
