//! Runs a scenario file and prints its slowdowns: `cargo run --release --example run scenarios/incast16.toml results/one`.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::PathBuf;

use incast_lab::Loaded;
use incast_lab::results::{Finished, Ideal, RunOptions, SlowdownOptions, run, slowdown_bins};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(scenario), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("give a scenario file and a folder for the results".into());
    };
    let prepared = Loaded::from_path(&scenario, &[])?.prepare()?;
    let mut progress = |progress: &incast_lab::results::RunProgress| {
        let done: u64 = progress.schemes.iter().map(|scheme| scheme.progress.flows_done).sum();
        eprint!("\r{done} flows done after {:.1} s ", progress.elapsed.as_secs_f64());
        ControlFlow::Continue(())
    };
    let report = run(&prepared, &out, RunOptions::default(), &mut progress)?;
    eprintln!();
    for (name, scheme) in &report.manifest.schemes {
        println!("{name}: {} ({:.2} M packet-hops a second)", scheme.stop.text, scheme.packet_hops_per_s / 1e6);
    }
    let flows = Finished::of_runs(&prepared.flows, &report.runs, Ideal::Reference);
    println!("\n{}", slowdown_bins(&flows, &SlowdownOptions::default()));
    Ok(())
}
