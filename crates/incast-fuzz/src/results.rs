//! Results folders with one foreign file.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;

use incast_lab::Loaded;
use incast_lab::results::{
    Finished, Ideal, Manifest, Results, RunOptions, SlowdownOptions, TABLES, run, slowdown_bins, slowdown_text,
};
use sha2::{Digest, Sha256};

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

fn write(folder: &Path, replaced: &str, bytes: &[u8]) {
    for (name, content) in FILES.iter() {
        let content = if name == replaced { bytes } else { content };
        fs::write(folder.join(name), content).expect("a file in the temporary folder");
    }
}

fn read(folder: &Path) {
    let Ok(results) = Results::open(folder) else { return };
    for table in TABLES {
        if let Ok(reader) = results.table(table.name) {
            reader.for_each(drop);
        }
    }
    let _ = results.scenario();
    results.verify();
    if let Ok(flows) = Finished::of_results(&results, Ideal::Hpcc) {
        let _ = slowdown_bins(&flows, &SlowdownOptions::default()).to_string();
        let _ = slowdown_text(&flows, &SlowdownOptions::default());
    }
}

pub(crate) fn manifest(bytes: &[u8]) {
    let folder = folder::folder();
    write(folder.path(), "manifest.json", bytes);
    read(folder.path());
}

/// The manifest has the sum and size of the foreign table.
pub(crate) fn table(bytes: &[u8]) {
    let folder = folder::folder();
    write(folder.path(), "flows.parquet", bytes);
    let (_, manifest) = FILES.iter().find(|(name, _)| name == "manifest.json").expect("a manifest");
    let mut manifest: Manifest = serde_json::from_slice(manifest).expect("a valid manifest");
    let flows = &mut manifest.tables["flows"];
    flows.bytes = bytes.len() as u64;
    flows.sha256 = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let text = serde_json::to_vec(&manifest).expect("a manifest is JSON");
    fs::write(folder.path().join("manifest.json"), text).expect("a file in the temporary folder");
    read(folder.path());
}
