use std::path::{Path, PathBuf};

use super::manifest::sha256;
use super::tests::written;
use super::*;

struct Folder {
    _temporary: tempfile::TempDir,
    run: PathBuf,
}

impl Folder {
    fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        written(temporary.path());
        Self { run: temporary.path().join("run"), _temporary: temporary }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.run.join(name)
    }

    fn replace(&self, name: &str, old: &str, new: &str) {
        let text = std::fs::read_to_string(self.file(name)).unwrap();
        assert!(text.contains(old), "{text}");
        std::fs::write(self.file(name), text.replacen(old, new, 1)).unwrap();
    }

    fn refusal(&self) -> String {
        Results::open(&self.run).unwrap_err().to_string()
    }

    /// Found by `verify` and by reading the table.
    fn damage(&self, table: &str) -> String {
        let results = Results::open(&self.run).unwrap();
        let [damage] = &results.verify()[..] else { panic!("{:?}", results.verify()) };
        assert_eq!(read_table(&self.run, table).unwrap_err().to_string(), damage.to_string());
        damage.to_string()
    }
}

fn rows(folder: &Path, table: &str) -> Result<usize, ResultsError> {
    read_table(folder, table).map(|table| table.num_rows())
}

#[test]
fn damaged_files_are_named() {
    let folder = Folder::new();
    let missing = Results::open(&folder.file("gone")).unwrap_err().to_string();
    assert!(missing.ends_with("there is no such folder"), "{missing}");
    let flows = folder.file("flows.parquet");
    let content = std::fs::read(&flows).unwrap();

    std::fs::write(&flows, &content[..content.len() / 2]).unwrap();
    let expected = format!("it has {} bytes, the manifest says {}", content.len() / 2, content.len());
    assert_eq!(folder.refusal(), format!("{} is damaged: {expected}", flows.display()));
    std::fs::remove_file(folder.file("ports.parquet")).unwrap();
    std::fs::create_dir(folder.file("ports.parquet")).unwrap();
    std::fs::remove_file(folder.file("queues.parquet")).unwrap();
    let whole = folder.refusal();
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(lines.len(), 3, "{whole}");
    assert!(lines[1].ends_with("ports.parquet is damaged: it is not a file"), "{whole}");
    assert!(lines[2].ends_with("queues.parquet is damaged: the file is missing"), "{whole}");
    let unchecked = Results::open_unchecked(&folder.run).unwrap();
    assert_eq!(unchecked.verify().len(), 3);
    assert_eq!(Results::open(&folder.run).unwrap_err().exit_code(), 2);
}

#[test]
fn changed_contents_are_found() {
    let folder = Folder::new();
    let flows = folder.file("flows.parquet");
    let mut changed = std::fs::read(&flows).unwrap();
    changed[100] ^= 4;
    std::fs::write(&flows, &changed).unwrap();
    let changed = "its SHA-256 is not the manifest's: it was changed after the run";
    assert_eq!(folder.damage("flows"), format!("{} is damaged: {changed}", flows.display()));
    assert_eq!(rows(&folder.run, "ports").unwrap(), 4, "other tables can be read");

    let folder = Folder::new();
    folder.replace("manifest.json", "\"rows\": 10,", "\"rows\": 99999999,");
    let expected = "flows.parquet is damaged: it has 10 rows, the manifest says 99999999";
    assert!(folder.refusal().ends_with(expected), "{}", folder.refusal());
    let [damage] = &Results::open_unchecked(&folder.run).unwrap().verify()[..] else { panic!() };
    assert!(damage.to_string().ends_with(expected), "{damage}");

    let folder = Folder::new();
    folder.replace("scenario.toml", "seed = 1", "seed = 2");
    let [damage] = &Results::open(&folder.run).unwrap().verify()[..] else { panic!() };
    assert!(damage.file.ends_with("scenario.toml"), "{damage}");
}

#[test]
fn damaged_manifests_are_named() {
    let folder = Folder::new();
    folder.replace("manifest.json", "\"format\": 1", "\"format\": 9");
    let newer = "its layout is version 9, this incast reads version 1: update incast";
    assert!(folder.refusal().ends_with(newer), "{}", folder.refusal());
    let manifest = folder.file("manifest.json");
    std::fs::write(&manifest, &std::fs::read(&manifest).unwrap()[..50]).unwrap();
    assert!(folder.refusal().contains("manifest.json is damaged"), "{}", folder.refusal());
    std::fs::remove_file(&manifest).unwrap();
    assert!(folder.refusal().contains("is not a results folder: manifest.json cannot be read"), "{}", folder.refusal());
}

#[test]
fn unknown_tables_have_a_nearest_name() {
    let folder = Folder::new();
    let error = rows(&folder.run, "flow").unwrap_err().to_string();
    assert!(error.ends_with("did you mean `flows`?"), "{error}");
    let error = rows(&folder.run, "waits").unwrap_err().to_string();
    assert!(error.starts_with("there is no table `waits` (tables: flows, messages, ports,"), "{error}");
}

/// A flipped bit with a corrected digest reaches the Parquet library, which panics on some.
#[test]
fn no_flipped_bit_panics() {
    const POSITIONS: usize = 200;
    let folder = Folder::new();
    let (file, manifest) = (folder.file("ports.parquet"), folder.file("manifest.json"));
    let (whole, text) = (std::fs::read(&file).unwrap(), std::fs::read_to_string(&manifest).unwrap());
    let mut refused = 0;
    for step in 0..POSITIONS {
        let (position, bit) = (step * whole.len() / POSITIONS, step % 8);
        let mut flipped = whole.clone();
        flipped[position] ^= 1 << bit;
        std::fs::write(&file, &flipped).unwrap();
        assert!(matches!(rows(&folder.run, "ports"), Err(ResultsError::Damaged(_))), "byte {position}, bit {bit}");
        std::fs::write(&manifest, text.replace(&sha256(&whole), &sha256(&flipped))).unwrap();
        match rows(&folder.run, "ports") {
            Ok(_) => {}
            Err(ResultsError::Damaged(_) | ResultsError::Older { .. }) => refused += 1,
            Err(other) => panic!("byte {position}, bit {bit}: {other}"),
        }
        std::fs::write(&manifest, &text).unwrap();
    }
    assert!(refused > POSITIONS / 4, "{refused}");
}
