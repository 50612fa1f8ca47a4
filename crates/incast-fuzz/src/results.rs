//! Results folders with one foreign file.

use std::fs;
use std::ops::ControlFlow;
use std::sync::LazyLock;

use incast_lab::Loaded;
use incast_lab::results::{
    Finished, Ideal, Manifest, Results, RunOptions, SlowdownOptions, TABLES, run, slowdown_bins, slowdown_text,
};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::folder;

const SCENARIO: &str = "[fabric.star]\nhosts = 3\n[[workload]]\nlabel = \"a\"\n\
                        incast = { fan_in = 2, size = \"20kB\", receiver = 0 }\n[scheme.A]\ncontrol = \"dcqcn\"\n";

/// Files of a small run.
static FILES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let folder = folder::folder();
    let out = folder.path().join("r");
    let loaded = Loaded::from_text("s", SCENARIO, folder.path(), &[]).expect("a valid scenario");
    let options = RunOptions { threads: Some(1), ..RunOptions::default() };
    let prepared = loaded.prepare().expect("a valid scenario");
    run(&prepared, &out, options, &mut |_| ControlFlow::Continue(())).expect("a run");
    let files = fs::read_dir(&out).expect("results").flatten();
    files.map(|file| (file.file_name().to_string_lossy().into(), fs::read(file.path()).expect("a file"))).collect()
});

thread_local! {
    static FOLDER: TempDir = {
        let folder = folder::folder();
        for (name, content) in FILES.iter() {
            fs::write(folder.path().join(name), content).expect("a file in the temporary folder");
        }
        folder
    };
}

fn original(name: &str) -> &'static [u8] {
    &FILES.iter().find(|(known, _)| name == known).expect("a file of a run").1
}

/// Opens the run with other files in place of two.
fn with_files(manifest: &[u8], flows: &[u8], read: impl FnOnce(&Results)) {
    FOLDER.with(|folder| {
        for (name, content) in [("manifest.json", manifest), ("flows.parquet", flows)] {
            fs::write(folder.path().join(name), content).expect("a file in the temporary folder");
        }
        if let Ok(results) = Results::open(folder.path()) {
            read(&results);
        }
    });
}

fn read_table(results: &Results, name: &str) {
    if let Ok(reader) = results.table(name) {
        reader.for_each(drop);
    }
}

fn read_flows(results: &Results) {
    results.verify();
    if let Ok(flows) = Finished::of_results(results, Ideal::Hpcc) {
        let _ = slowdown_bins(&flows, &SlowdownOptions::default()).to_string();
        let _ = slowdown_text(&flows, &SlowdownOptions::default());
    }
}

/// A foreign manifest.
pub fn manifest(bytes: &[u8]) {
    with_files(bytes, original("flows.parquet"), |results| {
        TABLES.iter().for_each(|table| read_table(results, table.name));
        let _ = results.scenario();
        read_flows(results);
    });
}

/// A foreign table, with its sum and size in the manifest. The manifest lists no other, which would only cost time.
pub fn table(bytes: &[u8]) {
    let mut manifest: Manifest = serde_json::from_slice(original("manifest.json")).expect("a valid manifest");
    manifest.tables.retain(|name, _| name == "flows");
    let flows = &mut manifest.tables["flows"];
    flows.bytes = bytes.len() as u64;
    flows.sha256 = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    with_files(&serde_json::to_vec(&manifest).expect("a manifest is JSON"), bytes, |results| {
        read_table(results, "flows");
        read_flows(results);
    });
}
