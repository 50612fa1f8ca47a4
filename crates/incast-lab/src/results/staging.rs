//! A folder that appears whole or not at all: written beside its place under a hidden name, then renamed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::error::ResultsError;

/// A results folder in the making; dropped without [`Staging::commit`], it leaves nothing.
#[derive(Debug)]
pub(super) struct Staging {
    target: PathBuf,
    partial: PathBuf,
    /// Parent folders that were made for it, innermost first.
    made: Vec<PathBuf>,
    committed: bool,
}

/// The hidden sibling of `target` for a purpose, owned by this process.
fn sibling(target: &Path, purpose: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let mut name = prefix(target, purpose);
    name.push(format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    target.with_file_name(name)
}

fn prefix(target: &Path, purpose: &str) -> OsString {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(format!(".{purpose}-"));
    name
}

impl Staging {
    /// Begins a folder that will be `target`. A results folder there is replaced at the end if `overwrite`.
    pub(super) fn begin(target: &Path, overwrite: bool) -> Result<Self, ResultsError> {
        if target.file_name().is_none() {
            return Err(ResultsError::write(target, "a results folder needs a name"));
        }
        clean(target);
        if fs::symlink_metadata(target).is_ok() {
            let results = target.join("manifest.json").is_file();
            if !(overwrite && results) {
                return Err(ResultsError::Exists { folder: target.to_owned(), results });
            }
        }
        let mut staging =
            Self { target: target.to_owned(), partial: sibling(target, "partial"), made: Vec::new(), committed: false };
        let parents = target.ancestors().skip(1).filter(|parent| *parent != Path::new(""));
        let missing: Vec<PathBuf> = parents.take_while(|parent| !parent.exists()).map(Path::to_owned).collect();
        for parent in missing.into_iter().rev() {
            fs::create_dir(&parent).map_err(|error| ResultsError::write(&parent, error))?;
            staging.made.insert(0, parent);
        }
        fs::create_dir(&staging.partial).map_err(|error| ResultsError::write(target, error))?;
        Ok(staging)
    }

    /// Path that a file has in the finished folder, for messages.
    pub(super) fn shown(&self, name: &str) -> PathBuf {
        self.target.join(name)
    }

    /// A new file in the folder.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        File::create_new(self.partial.join(name))
    }

    /// Writes a whole file.
    pub(super) fn write(&self, name: &str, content: &[u8]) -> Result<(), ResultsError> {
        let write = || {
            let mut file = self.create(name)?;
            io::Write::write_all(&mut file, content)?;
            file.sync_all()
        };
        write().map_err(|error| ResultsError::write(&self.shown(name), error))
    }

    /// Puts the folder in its place.
    pub(super) fn commit(mut self) -> Result<(), ResultsError> {
        let fail = |error: io::Error| ResultsError::write(&self.target, error);
        sync(&self.partial).map_err(fail)?;
        let replaced = self.target.exists().then(|| sibling(&self.target, "old"));
        if let Some(old) = &replaced {
            fs::rename(&self.target, old).map_err(fail)?;
        }
        if let Err(error) = fs::rename(&self.partial, &self.target) {
            if let Some(old) = &replaced {
                // If even this fails, the next run finds it under its hidden name.
                let _ = fs::rename(old, &self.target);
            }
            return Err(fail(error));
        }
        self.committed = true;
        if let Some(parent) = self.target.parent().filter(|parent| *parent != Path::new("")) {
            sync(parent).map_err(fail)?;
        }
        if let Some(old) = replaced {
            fs::remove_dir_all(&old).map_err(|error| ResultsError::write(&old, error))?;
        }
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.committed {
            // Best effort: what cannot be removed now is removed by the next run.
            let _ = fs::remove_dir_all(&self.partial);
            for parent in &self.made {
                let _ = fs::remove_dir(parent);
            }
        }
    }
}

fn sync(folder: &Path) -> io::Result<()> {
    // Folders cannot be opened as files everywhere; where they can, a crash must not lose the rename.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Removes what runs that are no longer there left beside `target`; a folder set aside by one of them comes back.
fn clean(target: &Path) {
    let parent = match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        for purpose in ["partial", "old"] {
            let prefix = prefix(target, purpose);
            let rest = name.to_str().zip(prefix.to_str()).and_then(|(name, prefix)| name.strip_prefix(prefix));
            let process = rest.and_then(|rest| rest.split('-').next()).and_then(|id| id.parse().ok());
            if !process.is_some_and(is_dead) {
                continue;
            }
            if purpose == "old" && !target.exists() {
                let _ = fs::rename(entry.path(), target);
            } else {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// Whether a process is known to have ended.
fn is_dead(process: u32) -> bool {
    let all = Path::new("/proc");
    all.join("self").exists() && !all.join(process.to_string()).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("deep/er/run");
        let staging = Staging::begin(&target, false).unwrap();
        staging.write("manifest.json", b"{}").unwrap();
        assert!(!target.exists());
        drop(staging);
        assert_eq!(listing(folder.path()), [""; 0]);
        let staging = Staging::begin(&target, false).unwrap();
        staging.write("manifest.json", b"{}").unwrap();
        staging.commit().unwrap();
        assert_eq!(listing(&target), ["manifest.json"]);
        assert_eq!(listing(target.parent().unwrap()), ["run"]);
    }

    #[test]
    fn only_results_are_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("run");
        fs::create_dir(&target).unwrap();
        let error = Staging::begin(&target, true).unwrap_err();
        assert!(error.to_string().contains("is never overwritten"), "{error}");
        fs::write(target.join("manifest.json"), "old").unwrap();
        let error = Staging::begin(&target, false).unwrap_err();
        assert!(error.to_string().ends_with("or allow overwriting"), "{error}");
        let staging = Staging::begin(&target, true).unwrap();
        staging.write("manifest.json", b"new").unwrap();
        assert_eq!(fs::read(target.join("manifest.json")).unwrap(), b"old");
        staging.commit().unwrap();
        assert_eq!(fs::read(target.join("manifest.json")).unwrap(), b"new");
        assert_eq!(listing(folder.path()), ["run"]);
    }

    #[test]
    fn leftovers_of_dead_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("run");
        // No process has this number: Linux stops at 2^22.
        for name in [".run.partial-4294967295-0", ".run.old-4294967294-3", ".other.partial-4294967295-0"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let mine = format!(".run.partial-{}-77", std::process::id());
        fs::create_dir(folder.path().join(&mine)).unwrap();
        fs::write(folder.path().join(".run.old-4294967294-3/manifest.json"), "kept").unwrap();
        // The set-aside folder comes back, so there is something to refuse.
        assert!(matches!(Staging::begin(&target, false), Err(ResultsError::Exists { results: true, .. })));
        assert_eq!(listing(folder.path()), [".other.partial-4294967295-0", mine.as_str(), "run"]);
    }

    #[test]
    fn unwritable_places_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let error = Staging::begin(&folder.path().join("file/run"), false).unwrap_err();
        assert_eq!(error.exit_code(), 3);
        assert!(error.to_string().starts_with("cannot write "), "{error}");
        assert_eq!(listing(folder.path()), ["file"]);
        assert!(Staging::begin(Path::new("/"), false).is_err());
    }
}
