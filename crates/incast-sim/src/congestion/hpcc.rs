//! HPCC (Li et al., SIGCOMM 2019, section 3 and algorithm 1).
//!
//! Its state is a rate (R = W/T), as in the authors' ns-3; the window follows it ([`WindowMode::Rate`]).

use incast_model::range::above;
use incast_model::units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Ack, ControlParams, Controller, FlowContext, Input, IntFormat, IntRecord, MAX_INT_RECORDS, Telemetry, WindowMode,
};

/// Parameters of HPCC. NS3 is the authors' simulator (`run.py`, `rdma-hw.cc` at commit 9f4be2a).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HpccParams {
    /// Target utilisation. Default 0.95 (SIGCOMM 2019, section 5.1).
    #[schemars(transform = above(0).most(4))]
    pub eta: f64,
    /// Additive steps before a forced multiplicative one. Default 0 (NS3 `MI_THRESH`; 5 in the paper's text).
    pub max_stage: u32,
    /// Additive increase, as a rate: W_AI / T. Default 50Mbps (NS3 README, `--hpai 50`: 80 B at T = 13 us).
    pub ai: Rate,
    /// Minimum rate. Default 1Gbps (NS3 `run.py`).
    #[schemars(transform = above("0bps"))]
    pub min_rate: Rate,
    /// If true, reacts to every ACK, from the reference of the current round trip; otherwise once per round trip.
    /// Default true (NS3 `FAST_REACT` 1).
    pub fast_react: bool,
    /// If true, ACKs between references skip hops with an empty queue. Default false (NS3 `SAMPLE_FEEDBACK`).
    pub sample_feedback: bool,
}

impl Default for HpccParams {
    fn default() -> Self {
        Self {
            eta: 0.95,
            max_stage: 0,
            ai: Rate::mbps(50),
            min_rate: Rate::gbps(1),
            fast_react: true,
            sample_feedback: false,
        }
    }
}

impl ControlParams for HpccParams {
    const SUMMARY: &'static str = "HPCC (SIGCOMM 2019): window and rate from in-band telemetry of every hop";
    const PROFILES: &'static [(&'static str, &'static str)] = &[
        ("ns3", "the HPCC evaluation: eta 0.95, maxStage 0, AI 50 Mb/s (authors' ns-3, README and run.py)"),
        ("key-results", "as ns3 with eta 0.99 (the authors' key-results page)"),
        ("paper", "as ns3 with maxStage 5 (SIGCOMM 2019, section 5.1; later called a typo by the authors)"),
    ];
    const TELEMETRY: Telemetry = Telemetry::Int;
    const MOVES_NEXT_SEND: bool = true;
    const IGNORES: &'static [Input] = &[Input::Marks];
    const INCREASES: &'static [&'static str] = &["ai"];
    const WINDOW: WindowMode = WindowMode::Rate;
    type State = Hpcc;

    fn profile(name: &str) -> Option<Self> {
        match name {
            "ns3" => Some(Self::default()),
            "key-results" => Some(Self { eta: 0.99, ..Self::default() }),
            "paper" => Some(Self { max_stage: 5, ..Self::default() }),
            _ => None,
        }
    }

    fn start(&self, flow: &FlowContext) -> Hpcc {
        Hpcc {
            params: self.clone(),
            line: flow.line.0,
            rate: flow.line.0,
            reference: flow.line.0,
            utilisation: 1.0,
            stage: 0,
            last_update: 0,
            records: 0,
            set: false,
            last: [IntRecord::default(); MAX_INT_RECORDS],
        }
    }
}

#[derive(Debug, Clone)]
pub struct Hpcc {
    params: HpccParams,
    line: u64,
    rate: u64,
    /// The paper's Wc as a rate.
    reference: u64,
    /// The paper's U.
    utilisation: f64,
    stage: u32,
    last_update: u64,
    records: usize,
    /// If true, the last ACK set the rate.
    set: bool,
    last: [IntRecord; MAX_INT_RECORDS],
}

impl Controller for Hpcc {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.set = false;
        if self.last_update == 0 {
            self.last_update = ack.next;
            self.remember(ack.int);
            return;
        }
        let new_round = ack.seq > self.last_update;
        if !new_round && !self.params.fast_react {
            return; // the next record is compared with that of the last round trip (FastReactHp)
        }
        if ack.int.len() == self.records {
            self.react(ack, new_round);
        } else {
            self.remember(ack.int);
        }
        if new_round {
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

impl Hpcc {
    fn remember(&mut self, int: &[IntRecord]) {
        self.records = int.len();
        self.last[..int.len()].copy_from_slice(int);
    }

    fn react(&mut self, ack: &Ack<'_>, new_round: bool) {
        let skip_empty = self.params.sample_feedback && !new_round;
        if self.measure(ack, skip_empty) {
            self.update(new_round);
        }
    }

    /// MeasureInflight of algorithm 1, in ns-3's order of operations for bit-identical doubles. False if all hops are skipped.
    fn measure(&mut self, ack: &Ack<'_>, skip_empty: bool) -> bool {
        let flow = ack.flow;
        let mut best = 0.0;
        let mut gap = 0;
        let mut looked = false;
        for (new, old) in ack.int.iter().zip(&mut self.last) {
            if skip_empty && new.queue == 0 {
                continue;
            }
            looked = true;
            let hop = Hop::between(old, new, flow.int);
            *old = *new;
            if hop.ticks == 0 {
                continue; // two records of one instant measure no rate
            }
            let rate = ack.rates[new.rate()] as f64;
            let seconds = hop.ticks as f64 * flow.tick;
            let sent = (hop.bytes * 8) as f64 / seconds / rate;
            let queued = hop.queue as f64 * flow.line.0 as f64 / rate / flow.bdp as f64;
            let u = sent + queued;
            if u > best {
                best = u;
                gap = hop.ticks;
            }
        }
        let whole = flow.rtt_ticks;
        let gap = gap.min(whole);
        self.utilisation = (self.utilisation * (whole - gap) as f64 + best * gap as f64) / whole as f64;
        looked
    }

    fn update(&mut self, new_round: bool) {
        let ratio = self.utilisation / self.params.eta;
        let (rate, stage) = next_rate((self.reference, self.stage), ratio, self.params.ai, self.params.max_stage);
        self.rate = rate.max(self.params.min_rate.0).min(self.line);
        self.set = true;
        if new_round {
            self.reference = self.rate;
            self.stage = stage;
        }
    }
}

/// ComputeWind of algorithm 1. `ratio`: utilisation over target. After `max_stage` additive increases the rate (bit/s) also
/// follows `ratio` upwards.
pub(super) fn next_rate((reference, stage): (u64, u32), ratio: f64, ai: Rate, max_stage: u32) -> (u64, u32) {
    if ratio >= 1.0 || stage >= max_stage {
        ((reference as f64 / ratio) as u64 + ai.0, 0)
    } else {
        (reference + ai.0, stage + 1)
    }
}

struct Hop {
    ticks: u64,
    bytes: u64,
    queue: u64,
}

impl Hop {
    fn between(old: &IntRecord, new: &IntRecord, format: IntFormat) -> Self {
        match format {
            IntFormat::Exact => Self {
                ticks: new.ticks() - old.ticks().min(new.ticks()),
                bytes: u64::from(new.tx.wrapping_sub(old.tx)),
                queue: u64::from(new.queue.min(old.queue)),
            },
            IntFormat::Quantised { multi } => Self {
                ticks: new.ticks().wrapping_sub(old.ticks()) & 0xff_ffff,
                bytes: u64::from(new.tx.wrapping_sub(old.tx) & 0xf_ffff) * u64::from(128 * multi),
                queue: u64::from(new.queue.min(old.queue)) * u64::from(80 * multi),
            },
        }
    }
}

pub(crate) fn int_record(now: Time, rate: u8, tx_bytes: u64, queue: u64, format: IntFormat) -> IntRecord {
    match format {
        IntFormat::Exact => IntRecord::new(now.0, rate, tx_bytes as u32, queue.min(u64::from(u32::MAX)) as u32),
        IntFormat::Quantised { multi } => IntRecord::new(
            (now.0 / 1000) & 0xff_ffff,
            rate,
            ((tx_bytes / (128 * u64::from(multi))) & 0xf_ffff) as u32,
            ((queue / (80 * u64::from(multi))) & 0x1_ffff) as u32,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: [u64; 1] = [100_000_000_000];

    fn context(bdp: u64, ticks: u64, tick: f64, int: IntFormat) -> FlowContext {
        FlowContext {
            line: Rate::gbps(100),
            base_rtt: Time::ns(12_240),
            bdp,
            mtu: 1000,
            tick,
            rtt_ticks: ticks,
            int,
            ack_age: Time::ZERO,
        }
    }

    fn ack<'a>(flow: &'a FlowContext, seq: u64, next: u64, int: &'a [IntRecord]) -> Ack<'a> {
        Ack {
            now: Time::ZERO,
            seq,
            next,
            marked: false,
            lost: false,
            rtt: Time::ZERO,
            int,
            pint: 0,
            draw: None,
            flow,
            rates: &RATES,
        }
    }

    type Seen = (u64, u64, u64, u32, u32);
    type After = (f64, f64, f64);

    /// (ACK, next byte, stamp in ns, bytes sent, queue), (U, rate, reference), by hand: T = 12.24 us, eta 0.95, AI 50 Mb/s,
    /// line rate 100 Gb/s.
    const BY_HAND: [(Seen, After); 9] = [
        ((1000, 154_000, 1000, 0, 0), (1.0, 100.0, 100.0)),
        ((2000, 155_000, 1087, 1090, 1090), (1.000016, 95.048448, 100.0)),
        ((100_000, 250_000, 9000, 100_000, 50_000), (1.004595, 94.615460, 100.0)),
        ((154_000, 300_000, 13_240, 153_000, 100_000), (1.116208, 85.159610, 100.0)),
        ((155_000, 301_000, 13_327, 154_090, 100_000), (1.120044, 84.868121, 84.868121)),
        ((250_000, 350_000, 21_000, 250_000, 60_000), (1.290609, 62.520268, 84.868121)),
        ((301_000, 400_000, 25_480, 306_000, 20_000), (1.232087, 65.487496, 84.868121)),
        ((302_000, 401_000, 25_600, 307_000, 0), (1.226544, 65.783239, 65.783239)),
        ((401_000, 460_000, 37_840, 440_000, 0), (0.869281, 71.941683, 65.783239)),
    ];

    fn replay(params: HpccParams, expected: impl Fn(usize) -> After) {
        let flow = context(153_000, 12_240_000, 1e-12, IntFormat::Exact);
        let mut hpcc = params.start(&flow);
        for (row, ((seq, next, ns, tx, queue), _)) in BY_HAND.iter().enumerate() {
            let record = [IntRecord::new(ns * 1000, 0, *tx, *queue)];
            hpcc.on_ack(&ack(&flow, *seq, *next, &record));
            let (u, rate, reference) = expected(row);
            assert!((hpcc.utilisation - u).abs() < 1e-6, "row {row}: U {} for {u}", hpcc.utilisation);
            assert!((hpcc.rate as f64 / 1e9 - rate).abs() < 1e-6, "row {row}: R {} for {rate}", hpcc.rate);
            assert!((hpcc.reference as f64 / 1e9 - reference).abs() < 1e-6, "row {row}: Rc {}", hpcc.reference);
        }
    }

    #[test]
    fn follows_the_equations() {
        replay(HpccParams::default(), |row| BY_HAND[row].1);
    }

    #[test]
    fn max_stage_makes_increase_additive() {
        let last = BY_HAND.len() - 1;
        replay(HpccParams { max_stage: 5, ..Default::default() }, |row| {
            if row == last { (0.869281, 65.833239, 65.783239) } else { BY_HAND[row].1 }
        });
    }

    #[test]
    fn agrees_bit_by_bit_with_the_authors_simulator() {
        // Authors' ns-3: first ACKs of one 1 MB flow through one switch, T = 4160 ns, W = 52000 B, INT_MULTI 4.
        let flow = context(52_000, 4160, 1e-9, IntFormat::Quantised { multi: 4 });
        let mut hpcc = HpccParams::default().start(&flow);
        for (seq, stamp, code, rate) in [
            (1000, 3_512_383, 0, 100_000_000_000),
            (2000, 3_512_470, 2, 95_166_151_454),
            (3000, 3_512_557, 4, 95_280_149_285u64),
        ] {
            let record = [IntRecord::new(stamp, 0, code, 0)];
            hpcc.on_ack(&ack(&flow, seq, 48_000 + seq, &record));
            assert_eq!(hpcc.rate, rate);
        }
    }

    #[test]
    fn another_path_is_not_compared() {
        let flow = context(153_000, 12_240_000, 1e-12, IntFormat::Exact);
        let mut hpcc = HpccParams::default().start(&flow);
        let one = [IntRecord::new(1_000_000, 0, 0, 0)];
        let two = [IntRecord::new(2_000_000, 0, 5000, 0), IntRecord::new(2_000_000, 0, 0, 0)];
        hpcc.on_ack(&ack(&flow, 1000, 5000, &one));
        hpcc.on_ack(&ack(&flow, 2000, 6000, &two));
        assert_eq!(hpcc.rate, 100_000_000_000);
    }

    #[test]
    fn codes_wrap() {
        let old = int_record(Time::ns(0xff_fff0), 0, (0xf_ffff) * 512, 0, IntFormat::Quantised { multi: 4 });
        let new = int_record(Time::ns(0x100_0010), 0, 0x10_0001 * 512, 400, IntFormat::Quantised { multi: 4 });
        let hop = Hop::between(&old, &new, IntFormat::Quantised { multi: 4 });
        assert_eq!((hop.ticks, hop.bytes, hop.queue), (0x20, 1024, 0));
    }
}
