use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Memory file system, where there is one.
const MEMORY: &str = "/dev/shm";

thread_local! {
    static FOLDER: TempDir = folder();
}

/// Temporary folder, removed when dropped.
pub(crate) fn folder() -> TempDir {
    let made = if Path::new(MEMORY).is_dir() { tempfile::tempdir_in(MEMORY) } else { tempfile::tempdir() };
    made.expect("a temporary folder")
}

/// The thread's temporary folder, with these files alone.
pub(crate) fn with(files: &[(&str, &[u8])]) -> PathBuf {
    let folder = FOLDER.with(|folder| folder.path().to_owned());
    for old in fs::read_dir(&folder).expect("the temporary folder").flatten() {
        fs::remove_file(old.path()).expect("a file in the temporary folder");
    }
    for (name, content) in files {
        fs::write(folder.join(name), content).expect("a file in the temporary folder");
    }
    folder
}
