//! Fingerprints of every example scenario under each scheme, for the first 2 ms, the same on every machine.
//!
//! To accept a new table, run with `INSTA_UPDATE=always` and commit it. The first number changes with any event, the
//! second only if a packet on some wire does (`incast_sim::measure::Fingerprint`).

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;

use incast_lab::Loaded;
use incast_lab::results::{FingerprintManifest, StopManifest};
use incast_model::units::Time;
use incast_sim::{Outcome, Setup, Simulation};

const CUT: Time = Time::ms(2);

fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder).expect("the scenarios' folder").map(|entry| entry.expect("readable").path());
    let mut files: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|extension| extension == "toml")).collect();
    files.sort();
    files
}

fn run(mut setup: Setup) -> Outcome {
    setup.params.measure.fingerprint = true;
    // Cuts the run only: the flows exist already.
    setup.params.horizon = Some(setup.params.horizon.map_or(CUT, |horizon| horizon.min(CUT)));
    setup.checked().and_then(Simulation::new).expect("a valid setup").run(&mut |_| ControlFlow::Continue(()))
}

#[test]
fn of_the_examples() {
    let mut table = String::from(
        "scenario         scheme                  events      hops      end/ps stopped   trajectory       traffic\n",
    );
    for file in scenarios() {
        let prepared =
            Loaded::from_path(&file, &[]).and_then(|loaded| loaded.prepare()).unwrap_or_else(|found| panic!("{found}"));
        let outcomes: Vec<Outcome> = thread::scope(|scope| {
            let running: Vec<_> =
                prepared.schemes.iter().map(|scheme| scope.spawn(|| run(Setup::clone(&scheme.setup)))).collect();
            running.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let name = file.file_stem().expect("a name").to_string_lossy();
        for (scheme, outcome) in prepared.schemes.iter().zip(&outcomes) {
            let stop = StopManifest::of(&outcome.stop, &prepared.fabric).reason;
            let print = FingerprintManifest::from(outcome.fingerprint.expect("as asked for"));
            let (counts, end, scheme) = (outcome.counts, outcome.end.0, &scheme.name);
            let (events, hops) = (counts.events, counts.packet_hops());
            let FingerprintManifest { trajectory, traffic } = print;
            writeln!(
                table,
                "{name:<16} {scheme:<18} {events:>11} {hops:>9} {end:>11} {stop:<9} {trajectory} {traffic}"
            )
            .expect("a String takes all");
        }
    }
    insta::assert_snapshot!(table);
}
