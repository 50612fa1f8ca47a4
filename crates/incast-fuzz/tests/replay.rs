//! Replays the corpora without libFuzzer.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use incast_fuzz::{TARGETS, Target};

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

fn replay(name: &str, target: Target) -> Vec<PathBuf> {
    let inputs = files(&corpora().join(name));
    assert!(!inputs.is_empty(), "{name} has no corpus");
    let fails = |file: &PathBuf| {
        let bytes = fs::read(file).unwrap();
        catch_unwind(|| target(&bytes)).is_err()
    };
    inputs.into_iter().filter(fails).collect()
}

#[test]
fn corpora_have_no_findings() {
    let found: Vec<PathBuf> = TARGETS.into_iter().flat_map(|(name, target)| replay(name, target)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn every_corpus_has_a_target() {
    let names: Vec<String> =
        files(&corpora()).iter().map(|folder| folder.file_name().unwrap().to_string_lossy().into_owned()).collect();
    let mut targets: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    targets.sort_unstable();
    assert_eq!(names, targets);
}
