//! Every example scenario is valid, takes less than 40 s of estimated CPU time, and reads back as written.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use incast_lab::results::{self, Results, ResultsError, RunOptions};
use incast_lab::show::TYPICAL_RATE;
use incast_lab::{Loaded, show};

fn all() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder).expect("the scenarios' folder").map(|entry| entry.expect("readable").path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "toml")).collect()
}

#[test]
fn examples_are_valid_and_small() {
    assert!(all().len() >= 4);
    for file in all() {
        let loaded = Loaded::from_path(&file, &[]).unwrap_or_else(|found| panic!("{found}"));
        let prepared = loaded.prepare().unwrap_or_else(|found| panic!("{found}"));
        let show = show(&prepared, TYPICAL_RATE);
        assert!(show.estimate.unwrap().cpu_seconds < 40.0, "{}: {show}", file.display());
        assert!(loaded.scenario().title.is_some(), "{}", file.display());
        let again = Loaded::from_text("merged", &show.scenario, loaded.base_dir(), &[])
            .unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(again.prepare().unwrap_or_else(|found| panic!("{found}")).flows, prepared.flows);
        assert_eq!(again.scenario().to_toml(), show.scenario);
        println!("{}\n{show}\n", file.display());
    }
}

#[test]
fn runs_are_whole_and_the_same_every_time() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/incast16.toml");
    let prepared =
        Loaded::from_path(&file, &[]).and_then(|loaded| loaded.prepare()).unwrap_or_else(|found| panic!("{found}"));
    let run = |name: &str, threads: usize| {
        let options = RunOptions { threads: Some(threads), ..RunOptions::default() };
        let out = folder.path().join(name);
        results::run(&prepared, &out, options, &mut |_| ControlFlow::Continue(()))
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let (one, three) = (run("one", 1).manifest, run("three", 3).manifest);
    assert_eq!(one.tables, three.tables);
    for (name, scheme) in &one.schemes {
        assert_eq!((scheme.stop.reason.as_str(), scheme.completed), ("finished", 16), "{name}");
    }
    let results = Results::open(&folder.path().join("one")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(results.verify(), []);
    assert!(one.tables["queues"].rows > 100 && one.tables["rates"].rows > 100 && one.tables["histograms"].rows > 10);
    // Results hold the scenario that ran.
    let again = results.scenario().and_then(|loaded| loaded.prepare()).unwrap_or_else(|found| panic!("{found}"));
    let options = RunOptions::default();
    let again = results::run(&again, &folder.path().join("again"), options, &mut |_| ControlFlow::Continue(()));
    assert_eq!(again.unwrap_or_else(|error| panic!("{error}")).manifest.tables, one.tables);
}

#[test]
fn the_simulators_own_limits_are_located() {
    // Only the simulator knows how many switches a path has.
    let text = "[fabric.fat_tree]\nk = 4\n[[workload]]\nincast = { fan_in = 15, size = \"1kB\" }\n[scheme.A]\ncontrol = \"hpcc\"\n\
                packets.int_records = 1\n";
    let loaded = Loaded::from_text("s.toml", text, Path::new("."), &[]).unwrap_or_else(|found| panic!("{found}"));
    let prepared = loaded.prepare().unwrap_or_else(|found| panic!("{found}"));
    match results::simulate(&prepared, None, &mut |_| ControlFlow::Continue(())) {
        Err(ResultsError::Setup(found)) => {
            let text = loaded.locate(found).to_string();
            assert!(text.contains("--> s.toml:7:23 (scheme.A.packets.int_records)"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}
