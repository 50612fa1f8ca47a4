//! A row of Tagger's table on Jellyfish, with time and memory.
//!
//! `cargo run --release -p incast-deadlock --example jellyfish -- SWITCHES PORTS [SEED [CONVENTION]]`; conventions:
//! `incast_deadlock::table::CONVENTIONS`, default F.

use std::process::ExitCode;
use std::time::Instant;

use incast_deadlock::table::{CONVENTIONS, Convention, PUBLISHED, Row};

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
    let mut laps = Vec::new();
    let row = convention.row(switches, ports, seed, &mut |part| {
        let before = std::mem::replace(&mut last, Instant::now());
        laps.push(format!("{part} {:.1}", (last - before).as_secs_f64()));
    })?;
    println!("convention switches ports diameter classes total most verified");
    let held = if row.verified { "yes" } else { "NO" };
    let Row { convention, diameter, classes, total, most, verified, .. } = row;
    println!("{convention} {switches} {ports} {diameter} {classes} {total} {most} {held}");
    for row in PUBLISHED.iter().filter(|row| (row.switches, row.ports) == (switches, ports)) {
        println!("published {switches} {ports} {} {} {} {}", row.diameter, row.classes, row.total, row.most);
    }
    println!(
        "{:.1} s: {}{}",
        begin.elapsed().as_secs_f64(),
        laps.join(", "),
        peak_memory().map(|mib| format!("; {mib} MiB at most")).unwrap_or_default()
    );
    if verified { Ok(()) } else { Err("the rules do not hold".into()) }
}

/// In MiB, from Linux.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok().map(|kib: u64| kib / 1024)
}
