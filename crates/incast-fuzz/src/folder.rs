use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// Memory file system, where there is one.
const MEMORY: &str = "/dev/shm";

/// Temporary folder, removed when dropped.
pub(crate) fn folder() -> TempDir {
    let made = if Path::new(MEMORY).is_dir() { tempfile::tempdir_in(MEMORY) } else { tempfile::tempdir() };
    made.expect("a temporary folder")
}

/// Temporary folder with files.
pub(crate) fn with(files: &[(&str, &[u8])]) -> TempDir {
    let folder = folder();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).expect("a file in the temporary folder");
    }
    folder
}
