//! Every example scenario is valid, small enough for what it says of itself, and read back as written.

use std::path::{Path, PathBuf};

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
        assert!(show.estimate.cpu_seconds < 40.0, "{}: {show}", file.display());
        assert!(loaded.scenario().title.is_some(), "{}", file.display());
        let again = Loaded::from_text("merged", &show.scenario, loaded.base_dir(), &[])
            .unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(again.prepare().unwrap_or_else(|found| panic!("{found}")).flows, prepared.flows);
        assert_eq!(again.scenario().to_toml(), show.scenario);
        println!("{}\n{show}\n", file.display());
    }
}
