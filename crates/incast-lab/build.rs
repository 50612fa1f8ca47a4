//! Names the build by a digest of library versions and all sources that outcomes depend on.

use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest, Sha256};

/// Missing sources (in a packaged crate) add nothing.
const SOURCES: [&str; 6] = [
    "../incast-model/src",
    "../incast-model/data",
    "../incast-sim/src",
    "../incast-lab/src",
    "../../Cargo.lock",
    "build.rs",
];
const DIGITS: usize = 12;

fn main() -> io::Result<()> {
    let mut files = Vec::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
        collect(Path::new(source), &mut files)?;
    }
    files.sort();
    let mut digest = Sha256::new();
    for file in files {
        let content = fs::read(&file)?;
        digest.update(file.to_string_lossy().as_bytes());
        digest.update((content.len() as u64).to_le_bytes());
        digest.update(content);
    }
    let name: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=INCAST_BUILD={}", &name[..DIGITS]);
    Ok(())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_file() {
        files.push(path.to_owned());
    } else if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    }
    Ok(())
}
