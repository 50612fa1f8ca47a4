//! 2000 flows between random hosts at load 0.6: mean slowdowns (YAPS hosts start spraying at a random spine) by size against
//! YAPS, of one run per transport and three seeds here.

use std::fmt::Write;

use incast_model::units::Time;
use incast_sim::Params;

use super::{flow_set, named, params, run};

const FLOWS: &str = include_str!("../facts/clos144_all_to_all.csv");
const FASTPASS: &str = include_str!("../facts/clos144_all_to_all_fastpass.csv");

const SEEDS: u64 = 3;

const CLASSES: [(&str, u64, u64); 4] =
    [("all", 0, u64::MAX), ("short", 0, 100 << 10), ("medium", 100 << 10, 10 << 20), ("long", 10 << 20, u64::MAX)];

/// Source, destination, bytes, start in ps.
type Sent = (u32, u32, u64, u64);

/// Times in ns.
fn read(text: &str, column: &str) -> (Vec<Sent>, Vec<f64>) {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let column = lines.next().unwrap().split(',').position(|name| name == column).unwrap();
    let row = |line: &str| {
        let cells: Vec<u64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        ((cells[0] as u32, cells[1] as u32, 1460 * cells[2], cells[3]), cells[column] as f64)
    };
    lines.map(row).unzip()
}

fn figures(slowdowns: &[f64]) -> [f64; 3] {
    let mut sorted = slowdowns.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |fraction: f64| sorted[(fraction * sorted.len() as f64) as usize];
    [sorted.iter().sum::<f64>() / sorted.len() as f64, at(0.5), at(0.99)]
}

fn by_class(flows: &[Sent], ideal: &[f64], fct: &[f64]) -> Vec<(usize, [f64; 3])> {
    let of = |&(_, from, to): &(&str, u64, u64)| {
        let chosen = (0..flows.len()).filter(|&index| (from..to).contains(&flows[index].2));
        let slowdowns: Vec<f64> = chosen.map(|index| fct[index] / ideal[index]).collect();
        (slowdowns.len(), figures(&slowdowns))
    };
    CLASSES.iter().map(of).collect()
}

/// 5 % for means and medians, `tail` for 99th percentiles.
fn compare(name: &str, profile: &str, text: &str, tail: f64) -> String {
    let (flows, theirs) = read(text, &format!("fct_{name}_ns"));
    let transport = named(name, profile);
    let runs: Vec<_> = (1..=SEEDS)
        .map(|seed| {
            let outcome = run(40, flow_set(&flows), transport.clone(), Params { seed, ..params(&transport) });
            let ideal: Vec<f64> = outcome.flows.iter().map(|flow| ns(flow.ideal_exact)).collect();
            let fct: Vec<f64> = outcome.flows.iter().map(|flow| ns(flow.fct().unwrap())).collect();
            (by_class(&flows, &ideal, &fct), by_class(&flows, &ideal, &theirs))
        })
        .collect();
    let (mut table, mut far) = (String::new(), Vec::new());
    for (at, (class, ..)) in CLASSES.into_iter().enumerate() {
        let (count, yaps) = runs[0].1[at];
        write!(table, "{class:7}{count:6}").unwrap();
        for (figure, what) in ["mean", "p50", "p99"].into_iter().enumerate() {
            let ours = || runs.iter().map(|(ours, _)| ours[at].1[figure] / yaps[figure] - 1.0);
            let off = ours().sum::<f64>() / SEEDS as f64;
            let [least, most] = [ours().fold(f64::MAX, f64::min), ours().fold(f64::MIN, f64::max)].map(|of| 100.0 * of);
            write!(table, "   {what} {:8.3} {:+6.1} % ({least:+.1} to {most:+.1})", yaps[figure], 100.0 * off).unwrap();
            if off.abs() > if what == "p99" { tail } else { 0.05 } {
                far.push(format!("{what} of {class} flows"));
            }
        }
        table.push('\n');
    }
    assert!(far.is_empty(), "{name}: {far:?}\n{table}");
    table
}

fn ns(time: Time) -> f64 {
    time.0 as f64 / 1e3
}

#[test]
fn pfabric() {
    insta::assert_snapshot!(compare("pfabric", "yaps", FLOWS, 0.05));
}

/// YAPS sprays by sender: tails of short flows are 5 % longer here.
#[test]
fn phost() {
    insta::assert_snapshot!(compare("phost", "yaps", FLOWS, 0.08));
}

#[test]
fn fastpass() {
    insta::assert_snapshot!(compare("fastpass", "yaps", FASTPASS, 0.05));
}

/// p99 of long flows is the slowest of 72; that of all rests on 20.
#[test]
fn tcp() {
    insta::assert_snapshot!(compare("tcp", "yaps", FLOWS, 0.15));
}

#[test]
fn ideal() {
    insta::assert_snapshot!(compare("ideal", "paced", FLOWS, 0.05));
}
