//! Every congestion control in four scenarios, and its fingerprints in a fifth (`snapshots/controls/NAME.txt`).
//!
//! *slowdown*: mean ratio to the exact ideal time; *Jain*: fairness of throughputs; *peak q*: longest switch queue.
//!
//! `INSTA_UPDATE=always` accepts new tables.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use incast_model::fabric::{Fabric, NodeKind};
use incast_model::units::{Bytes, Time};
use incast_sim::Arithmetic;
use incast_sim::congestion::{Control, ControlInfo, WindowMode};
use incast_sim::host::CnpMode;
use incast_sim::measure::Fingerprint;
use incast_sim::outcome::{Outcome, PortRecord, Stop};
use similar::TextDiff;

use crate::common::{Bench, Cable, drawn, dumbbell, jain, star};

const CABLE: Cable = Cable::new(100, 1000);

#[derive(Debug, Clone, Copy)]
struct Row {
    control: &'static str,
    profile: &'static str,
    window: WindowMode,
    cnp: CnpMode,
}

/// Every profile with the control's window, the first with the others, and DCQCN's paper with marks as packets.
fn rows(info: &ControlInfo) -> Vec<Row> {
    let row = |profile, window| Row { control: info.name, profile, window, cnp: CnpMode::Echo };
    let mut rows: Vec<Row> = info.profiles.iter().map(|(profile, _)| row(profile, info.window)).collect();
    let others = [WindowMode::Off, WindowMode::Fixed, WindowMode::Rate].into_iter().filter(|mode| *mode != info.window);
    rows.extend(others.map(|window| row(info.profiles[0].0, window)));
    if info.name == "dcqcn" {
        rows.push(Row { cnp: CnpMode::Packet, ..row("paper", info.window) });
    }
    rows
}

/// (source, destination, size, start)
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

fn run(row: Row, (_, fabric, flows): &Scenario) -> (Outcome, u64) {
    let bench = Bench::new(fabric.clone()).control(row.control, row.profile).window(row.window);
    let bench = bench.flows(flows.iter().copied()).with(|params| {
        params.rdma.cnp = row.cnp;
        params.switch.buffer = Bytes(4 << 20);
    });
    let outcome = bench.run();
    let at_switch = |port: &&PortRecord| fabric.node(fabric.port(port.port).node).kind == NodeKind::Switch;
    let peak = outcome.ports.iter().filter(at_switch).map(|port| port.peak_queue).max().unwrap();
    (outcome, peak)
}

fn line(table: &mut String, row: Row, scenario: &Scenario) {
    let (outcome, peak) = run(row, scenario);
    assert_eq!(outcome.stop, Stop::Finished, "{row:?} in {}", scenario.0);
    let cnp = if row.cnp == CnpMode::Packet { ", CNPs" } else { "" };
    let name = format!("{}, {:?}{cnp}", row.profile, row.window).to_lowercase();
    let fct: Vec<f64> = outcome.flows.iter().map(|f| f.fct().unwrap().seconds() * 1e6).collect();
    let slow: Vec<f64> = fct.iter().zip(&outcome.flows).map(|(fct, f)| fct / (f.ideal_exact.seconds() * 1e6)).collect();
    let throughput: Vec<f64> = fct.iter().zip(&outcome.flows).map(|(fct, flow)| flow.acked as f64 / fct).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (least, most) = fct.iter().fold((f64::MAX, 0.0f64), |(least, most), x| (least.min(*x), most.max(*x)));
    let peak = peak as f64 / 1e3;
    let counts = outcome.counts;
    writeln!(
        table,
        "{name:<24} {:<8} {least:>9.3} {:>9.3} {most:>9.3} {:>9.4} {:>7.4} {peak:>9.3} {:>6} {:>6} {:>5}",
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

fn fingerprints(table: &mut String, name: &str, profile: &str, arithmetic: Arithmetic) {
    let control = Control::named(name, profile).expect("a listed profile");
    let outcome = drawn(&control, 1, |params| params.arithmetic = arithmetic);
    let Fingerprint { trajectory, traffic } = outcome.fingerprint.expect("as asked for");
    let (counts, end) = (outcome.counts, outcome.end.0);
    let name = format!("{profile}, {arithmetic:?}").to_lowercase();
    writeln!(
        table,
        "{name:<24} {:>8} {:>7} {:>6} {:>6} {end:>12}   {trajectory:016x}  {traffic:016x}",
        counts.events,
        counts.packet_hops(),
        counts.marks,
        counts.pauses,
    )
    .expect("a String takes all");
}

fn tables(info: &ControlInfo, scenarios: &[Scenario]) -> String {
    let mut table = String::from(
        "profile, window          scenario   min FCT  mean FCT   max FCT  slowdown    Jain    peak q  marks pauses drops\n\
         \u{20}                                      us        us        us  vs ideal                kB\n",
    );
    for row in rows(info) {
        scenarios.iter().for_each(|scenario| line(&mut table, row, scenario));
    }
    table += "\nprofile, time              events    hops  marks pauses       end/ps   trajectory        traffic\n";
    for (profile, _) in info.profiles {
        fingerprints(&mut table, info.name, profile, Arithmetic::Exact);
        fingerprints(&mut table, info.name, profile, Arithmetic::Ns3);
    }
    table
}

fn compare(name: &str, tables: &str) -> Option<String> {
    let file = format!("tests/simulation/snapshots/controls/{name}.txt");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
    let old = fs::read_to_string(&path).unwrap_or_default();
    if old == tables {
        return None;
    }
    if env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(&path, tables).expect("the file can be written");
        return None;
    }
    Some(TextDiff::from_lines(&*old, tables).unified_diff().context_radius(0).header(&file, "this run").to_string())
}

#[test]
fn controls() {
    let scenarios = scenarios();
    let differing: Vec<String> =
        Control::catalogue().iter().filter_map(|info| compare(info.name, &tables(info, &scenarios))).collect();
    assert!(differing.is_empty(), "to accept: INSTA_UPDATE=always\n\n{}", differing.join("\n"));
}
