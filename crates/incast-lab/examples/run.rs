//! Runs a scenario file and prints its slowdowns: `cargo run --release --example run scenarios/incast16.toml results/one`.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use incast_lab::results::{
    Finished, Ideal, ResultsError, RunOptions, RunProgress, SlowdownOptions, run, slowdown_bins,
};
use incast_lab::{Diagnostics, Loaded};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(file), Some(out)) = (arguments.next(), arguments.next()) else {
        eprintln!("give a scenario file and a folder for the results");
        return ExitCode::from(2);
    };
    let error = match Loaded::from_path(&file, &[]) {
        // Points the simulator's errors at the scenario's text.
        Ok(loaded) => match simulate(&loaded, &out) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(ResultsError::Setup(found)) => ResultsError::Setup(loaded.locate(found)),
            Err(other) => other,
        },
        Err(found) => ResultsError::Setup(found),
    };
    eprintln!("{error}");
    ExitCode::from(error.exit_code())
}

fn simulate(loaded: &Loaded, out: &Path) -> Result<(), ResultsError> {
    let prepared = loaded.prepare().map_err(|found: Diagnostics| ResultsError::Setup(found))?;
    let mut progress = |progress: &RunProgress| {
        let done: u64 = progress.schemes.iter().map(|scheme| scheme.progress.flows_done).sum();
        eprint!("\r{done} flows done after {:.1} s ", progress.elapsed.as_secs_f64());
        ControlFlow::Continue(())
    };
    let report = run(&prepared, out, RunOptions::default(), &mut progress)?;
    eprintln!();
    for (name, scheme) in &report.manifest.schemes {
        println!("{name}: {} ({:.2} M packet-hops a second)", scheme.stop.text, scheme.packet_hops_per_s / 1e6);
    }
    let flows = Finished::of_runs(&prepared.flows, &report.runs, Ideal::Hpcc);
    println!("\n{}", slowdown_bins(&flows, &SlowdownOptions::default()));
    Ok(())
}
