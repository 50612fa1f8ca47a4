//! Every control in four scenarios, as one table: a change of any algorithm shows up as a changed row.
//!
//! 100 Gb/s and 1 us everywhere, switches of 4 MiB. To accept a new table, run with `INSTA_UPDATE=always` and commit it.

#[allow(dead_code, unused_imports, reason = "each test program uses a part of it")]
mod common;

use std::fmt::Write;

use incast_model::fabric::{Fabric, NodeKind};
use incast_model::units::{Bytes, Time};
use incast_sim::congestion::WindowMode;
use incast_sim::host::CnpMode;
use incast_sim::outcome::{Outcome, PortRecord, Stop};

use common::{Bench, Cable, dumbbell, jain, star};

const CABLE: Cable = Cable::new(100, 1000);

/// What a row says, the control, its profile, another window than its own, and how marks come back.
type Row = (&'static str, &'static str, &'static str, Option<WindowMode>, CnpMode);

const CONTROLS: [Row; 12] = [
    ("unlimited, fixed window", "unlimited", "default", Some(WindowMode::Fixed), CnpMode::Echo),
    ("dcqcn vendor", "dcqcn", "vendor", None, CnpMode::Echo),
    ("dcqcn vendor +w", "dcqcn", "vendor", Some(WindowMode::Rate), CnpMode::Echo),
    ("dcqcn hpcc-paper", "dcqcn", "hpcc-paper", None, CnpMode::Echo),
    ("dcqcn paper, CNP packets", "dcqcn", "paper", None, CnpMode::Packet),
    ("hpcc reference", "hpcc", "reference", None, CnpMode::Echo),
    ("hpcc key-results", "hpcc", "key-results", None, CnpMode::Echo),
    ("hpcc paper", "hpcc", "paper", None, CnpMode::Echo),
    ("hpcc_pint reference", "hpcc_pint", "reference", None, CnpMode::Echo),
    ("timely reference", "timely", "reference", None, CnpMode::Echo),
    ("timely reference +w", "timely", "reference", Some(WindowMode::Rate), CnpMode::Echo),
    ("dctcp reference, RED", "dctcp", "reference", None, CnpMode::Echo),
];

/// A scenario: its name, fabric, and flows as (source, destination, size, start).
type Scenario = (&'static str, Fabric, Vec<(u32, u32, u64, Time)>);

fn scenarios() -> [Scenario; 4] {
    let to_one =
        |n: u32, size| (star(&vec![CABLE; n as usize + 1]), (1..=n).map(|k| (k, 0, size, Time::ZERO)).collect());
    let (one, two, sixteen) = (to_one(1, 1_000_000), to_one(2, 1_000_000), to_one(16, 500_000));
    let joining = (0..4).map(|k| (k, 4 + k, 5_000_000, Time::us(100 * u64::from(k)))).collect();
    [
        ("one flow", one.0, one.1),
        ("2 to 1", two.0, two.1),
        ("16 to 1", sixteen.0, sixteen.1),
        ("4 join", dumbbell(4, CABLE, CABLE), joining),
    ]
}

/// The run of a row, and the longest queue at a switch.
fn run((_, control, profile, window, cnp): Row, (_, fabric, flows): &Scenario) -> (Outcome, u64) {
    let bench = Bench::new(fabric.clone()).control(control, profile).flows(flows.iter().copied()).with(|params| {
        params.rdma.cnp = cnp;
        params.switch.buffer = Bytes(4 << 20);
    });
    let outcome = match window {
        Some(window) => bench.window(window).run(),
        None => bench.run(),
    };
    let at_switch = |port: &&PortRecord| fabric.node(fabric.port(port.port).node).kind == NodeKind::Switch;
    let peak = outcome.ports.iter().filter(at_switch).map(|port| port.peak_queue).max().unwrap();
    (outcome, peak)
}

fn line(table: &mut String, control: Row, scenario: &Scenario) {
    let (outcome, peak) = run(control, scenario);
    assert_eq!(outcome.stop, Stop::Finished, "{} in {}", control.0, scenario.0);
    let fct: Vec<f64> = outcome.flows.iter().map(|f| f.fct().unwrap().seconds() * 1e6).collect();
    let slow: Vec<f64> = fct.iter().zip(&outcome.flows).map(|(fct, f)| fct / (f.ideal_exact.seconds() * 1e6)).collect();
    let throughput: Vec<f64> = fct.iter().zip(&outcome.flows).map(|(fct, flow)| flow.acked as f64 / fct).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (least, most) = fct.iter().fold((f64::MAX, 0.0f64), |(least, most), x| (least.min(*x), most.max(*x)));
    let peak = peak as f64 / 1e3;
    let counts = outcome.counts;
    writeln!(
        table,
        "{:<24} {:<8} {least:>9.3} {:>9.3} {most:>9.3} {:>9.4} {:>7.4} {peak:>9.3} {:>6} {:>6} {:>5}",
        control.0,
        scenario.0,
        mean(&fct),
        mean(&slow),
        jain(&throughput),
        counts.marks,
        counts.pauses,
        counts.drops,
    )
    .unwrap();
}

#[test]
fn controls() {
    let mut table = String::from(
        "control                  scenario   min FCT  mean FCT   max FCT  slowdown    Jain    peak q  marks pauses drops\n\
         \u{20}                                      us        us        us  vs ideal                kB\n",
    );
    for control in CONTROLS {
        for scenario in &scenarios() {
            line(&mut table, control, scenario);
        }
    }
    insta::assert_snapshot!(table);
}
