//! Buffer dependencies of all shortest paths on a Jellyfish, and a shortest cycle.
//!
//! `cargo run --release -p incast-deadlock --example dependencies -- SWITCHES PORTS [SEED]`; half of the ports lead to
//! switches.

use std::process::ExitCode;

use incast_deadlock::Wiring;
use incast_deadlock::dependency::Dependencies;
use incast_deadlock::elp::{Elp, ShortestPaths};
use incast_model::fabric::generators::Jellyfish;

fn main() -> ExitCode {
    let Some((switches, ports, seed)) = arguments() else {
        eprintln!("dependencies SWITCHES PORTS [SEED]");
        return ExitCode::FAILURE;
    };
    match check(switches, ports, seed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn arguments() -> Option<(u32, u32, u64)> {
    let mut arguments = std::env::args().skip(1);
    let (switches, ports) = (arguments.next()?.parse().ok()?, arguments.next()?.parse().ok()?);
    Some((switches, ports, arguments.next().map_or(Some(1), |seed| seed.parse().ok())?))
}

fn check(switches: u32, ports: u32, seed: u64) -> Result<(), Box<dyn std::error::Error>> {
    let fabric = Jellyfish { seed, ..Jellyfish::new(switches, ports, ports / 2) }.build()?;
    let wiring = Wiring::new(&fabric);
    let paths = Elp::Shortest(ShortestPaths::default());
    let report = Dependencies::of_paths(&wiring, &paths)?.report(&wiring, 1, Some(&paths))?;
    println!("buffers dependencies components");
    println!("{} {} {}", report.buffers, report.dependencies, report.components.len());
    Ok(())
}
