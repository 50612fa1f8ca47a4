//! One row of the table of Tagger's classes and rules on Jellyfish, with the time and the memory that it took.
//!
//! `cargo run --release -p incast-deadlock --example jellyfish -- SWITCHES PORTS [SEED [CONVENTION]]`; conventions are those
//! of `incast_deadlock::table::CONVENTIONS`, F if none is named. The seed draws the graph, the trees and random orders.

use std::process::ExitCode;
use std::time::Instant;

use incast_deadlock::Wiring;
use incast_deadlock::table::{CONVENTIONS, Convention, PUBLISHED};
use incast_deadlock::verify::verify;
use incast_model::fabric::generators::Jellyfish;

fn main() -> ExitCode {
    match arguments() {
        Some((switches, ports, seed, convention)) => row(switches, ports, seed, convention),
        None => {
            let names = CONVENTIONS.map(|convention| convention.name).join(", ");
            eprintln!("jellyfish SWITCHES PORTS [SEED [CONVENTION]]; conventions: {names}");
            Err("no row without these".into())
        }
    }
    .map_or_else(
        |error: Box<dyn std::error::Error>| {
            eprintln!("{error}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

fn arguments() -> Option<(u32, u32, u64, Convention)> {
    let mut arguments = std::env::args().skip(1);
    let (switches, ports) = (arguments.next()?.parse().ok()?, arguments.next()?.parse().ok()?);
    let seed = arguments.next().map_or(Some(1), |seed| seed.parse().ok())?;
    Some((switches, ports, seed, Convention::by_name(&arguments.next().unwrap_or("F".into()))?))
}

fn row(switches: u32, ports: u32, seed: u64, convention: Convention) -> Result<(), Box<dyn std::error::Error>> {
    let begin = Instant::now();
    let mut last = begin;
    let mut lap = || {
        let (before, now) = (last, Instant::now());
        last = now;
        (now - before).as_secs_f64()
    };
    let fabric = Jellyfish { seed, ..Jellyfish::new(switches, ports, ports / 2) }.build()?;
    let wiring = Wiring::new(&fabric);
    let graph = lap();
    let elp = convention.paths(seed);
    let hops = elp.hops(&wiring)?;
    let trees = lap();
    let placement = convention.greedy(seed).place(&hops)?;
    let greedy = lap();
    let (transitions, rules) = (placement.transitions(), placement.rules());
    let count = convention.count(&transitions, &rules);
    let counted = lap();
    let verified = verify(&wiring, &rules, &elp)?;
    let verification = lap();

    // Nodes on the longest path from server to server: its switches, and the two.
    let diameter = hops.layers().len() + 2;
    println!("convention switches ports diameter classes total most verified");
    let held = if verified.holds() { "yes" } else { "NO" };
    println!(
        "{} {switches} {ports} {diameter} {} {} {} {held}",
        convention.name,
        rules.tags(),
        count.total,
        count.most
    );
    for row in PUBLISHED.iter().filter(|row| (row.switches, row.ports) == (switches, ports)) {
        println!("published {switches} {ports} {} {} {} {}", row.diameter, row.classes, row.total, row.most);
    }
    println!(
        "{:.1} s: graph {graph:.1}, trees {trees:.1}, greedy {greedy:.1}, rules {counted:.1}, verification {verification:.1}{}",
        begin.elapsed().as_secs_f64(),
        peak_memory().map(|mib| format!("; {mib} MiB at most")).unwrap_or_default()
    );
    if verified.holds() { Ok(()) } else { Err(format!("{verified:?}").into()) }
}

/// What the process has had in memory at most, as Linux says.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok().map(|kib: u64| kib / 1024)
}
