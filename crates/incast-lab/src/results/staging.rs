//! A folder that appears whole or not at all: written under a hidden name, then renamed.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::error::ResultsError;
use super::owner::{Fate, LOCK, Owner, claim};

/// To lock a new folder before others remove it as a leftover.
const ATTEMPTS: usize = 16;

/// Removed if dropped before [`Staging::commit`].
#[derive(Debug)]
pub(super) struct Staging {
    target: PathBuf,
    overwrite: bool,
    token: String,
    partial: PathBuf,
    lock: Option<File>,
    /// Permissions that the finished folder gets.
    usual: Permissions,
    parents: Parents,
    committed: bool,
}

/// Made for a results folder, innermost first; removed on drop.
#[derive(Debug, Default)]
struct Parents(Vec<PathBuf>);

impl Drop for Parents {
    fn drop(&mut self) {
        for parent in &self.0 {
            // Fails if others have written into it.
            let _ = fs::remove_dir(parent);
        }
    }
}

fn sibling(target: &Path, purpose: &str, token: &str) -> PathBuf {
    let mut name = prefix(target, purpose);
    name.push(token);
    target.with_file_name(name)
}

fn prefix(target: &Path, purpose: &str) -> OsString {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(format!(".{purpose}-"));
    name
}

/// True also for a dangling link.
fn is_there(target: &Path) -> bool {
    fs::symlink_metadata(target).is_ok()
}

fn refuse(target: &Path, overwrite: bool) -> Result<(), ResultsError> {
    let results = target.join("manifest.json").is_file();
    if !is_there(target) || (overwrite && results) {
        return Ok(());
    }
    Err(ResultsError::Exists { folder: target.to_owned(), results })
}

impl Staging {
    /// If `overwrite`, [`Staging::commit`] replaces results at `target`.
    pub(super) fn begin(target: &Path, overwrite: bool) -> Result<Self, ResultsError> {
        Self::begin_as(&Owner::this(), target, overwrite)
    }

    fn begin_as(owner: &Owner, target: &Path, overwrite: bool) -> Result<Self, ResultsError> {
        if target.file_name().is_none() {
            return Err(ResultsError::write(target, "a results folder needs a name"));
        }
        let busy = clean(target, owner);
        refuse(target, overwrite)?;
        if busy {
            return Err(ResultsError::Busy { folder: target.to_owned() });
        }
        let mut parents = Parents::default();
        let above = target.ancestors().skip(1).filter(|parent| *parent != Path::new(""));
        let missing: Vec<PathBuf> = above.take_while(|parent| !parent.exists()).map(Path::to_owned).collect();
        for parent in missing.into_iter().rev() {
            fs::create_dir(&parent).map_err(|error| ResultsError::write(&parent, error))?;
            parents.0.insert(0, parent);
        }
        let (token, partial, lock) = make(owner, target).map_err(|error| ResultsError::write(target, error))?;
        let (target, lock) = (target.to_owned(), Some(lock));
        let mut staging = Self {
            target,
            overwrite,
            token,
            partial,
            lock,
            usual: Permissions::from_mode(0o700),
            parents,
            committed: false,
        };
        staging.hide().map_err(|error| ResultsError::write(&staging.target, error))?;
        Ok(staging)
    }

    /// Others do not read unfinished results.
    fn hide(&mut self) -> io::Result<()> {
        let private = std::mem::replace(&mut self.usual, fs::metadata(&self.partial)?.permissions());
        fs::set_permissions(&self.partial, private)
    }

    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// For messages.
    pub(super) fn shown(&self, name: &str) -> PathBuf {
        self.target.join(name)
    }

    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        File::create_new(self.partial.join(name))
    }

    pub(super) fn write(&self, name: &str, content: &[u8]) -> Result<(), ResultsError> {
        let write = || {
            let mut file = self.create(name)?;
            io::Write::write_all(&mut file, content)?;
            file.sync_all()
        };
        write().map_err(|error| ResultsError::write(&self.shown(name), error))
    }

    pub(super) fn commit(mut self) -> Result<(), ResultsError> {
        let fail = |error: io::Error| ResultsError::write(&self.target, error);
        fs::set_permissions(&self.partial, self.usual.clone()).map_err(fail)?;
        sync(&self.partial).map_err(fail)?;
        // Others may have made the target meanwhile.
        refuse(&self.target, self.overwrite)?;
        let replaced = is_there(&self.target).then(|| sibling(&self.target, "old", &self.token));
        if let Some(old) = &replaced {
            fs::rename(&self.target, old).map_err(fail)?;
        }
        if let Err(error) = fs::rename(&self.partial, &self.target) {
            if let Some(old) = &replaced {
                // Otherwise the next run finds the hidden folder.
                let _ = fs::rename(old, &self.target);
            }
            return Err(fail(error));
        }
        self.committed = true;
        self.parents.0.clear();
        // Others need the lock until the folder is in place.
        let _ = fs::remove_file(self.target.join(LOCK));
        if let Some(parent) = self.target.parent().filter(|parent| *parent != Path::new("")) {
            sync(parent).map_err(fail)?;
        }
        if let Some(old) = replaced {
            fs::remove_dir_all(&old).map_err(|error| ResultsError::write(&old, error))?;
        }
        Ok(())
    }
}

fn make(owner: &Owner, target: &Path) -> io::Result<(String, PathBuf, File)> {
    for _ in 0..ATTEMPTS {
        let token = owner.token();
        let partial = sibling(target, "partial", &token);
        match fs::create_dir(&partial) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            other => other?,
        }
        match claim(&partial) {
            Ok(Some(lock)) => return Ok((token, partial, lock)),
            Ok(None) => {}
            Err(error) => {
                let _ = fs::remove_dir_all(&partial);
                return Err(error);
            }
        }
    }
    Err(io::Error::other("another program removes its hidden folder"))
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.committed {
            // Best effort: the next run removes the rest.
            remove(&self.partial, self.lock.take());
        }
    }
}

fn remove(folder: &Path, lock: Option<File>) {
    let _ = fs::remove_dir_all(folder);
    if lock.is_some() {
        // NFS keeps an open file, and with it the folder.
        drop(lock);
        let _ = fs::remove_dir_all(folder);
    }
}

fn sync(folder: &Path) -> io::Result<()> {
    // Not every system opens folders as files; elsewhere, a crash must not lose the rename.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Removes leftovers of dead runs, and restores results they set aside. True if another run writes `target`.
fn clean(target: &Path, this: &Owner) -> bool {
    let parent = match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let Ok(entries) = fs::read_dir(parent) else { return false };
    let names: Vec<OsString> = entries.flatten().map(|entry| entry.file_name()).collect();
    let tokens = |purpose| {
        let prefix = prefix(target, purpose);
        names.iter().filter_map(move |name| {
            let token = name.to_str()?.strip_prefix(prefix.to_str()?)?;
            Some((Owner::of_token(token)?, token))
        })
    };
    // First: the `partial` folder's lock, removed below, shows if the owner is dead.
    for (owner, token) in tokens("old") {
        let old = sibling(target, "old", token);
        if let Fate::Dead(_lock) = owner.fate(&sibling(target, "partial", token), this) {
            if is_there(target) {
                let _ = fs::remove_dir_all(old);
            } else {
                let _ = fs::rename(old, target);
            }
        }
    }
    let mut busy = false;
    for (owner, token) in tokens("partial") {
        let partial = sibling(target, "partial", token);
        match owner.fate(&partial, this) {
            Fate::Dead(lock) => remove(&partial, lock),
            Fate::Alive => busy = true,
            Fate::Unknown => {}
        }
    }
    busy
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
        let mode = |folder: &Path| fs::metadata(folder).unwrap().permissions().mode() & 0o777;
        let usual = mode(target.parent().unwrap());
        assert_eq!(mode(&staging.partial), 0o700);
        drop(staging);
        assert_eq!(listing(folder.path()), [""; 0]);
        let staging = Staging::begin(&target, false).unwrap();
        staging.write("manifest.json", b"{}").unwrap();
        staging.commit().unwrap();
        assert_eq!(listing(&target), ["manifest.json"]);
        assert_eq!(mode(&target), usual);
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
    fn what_appears_during_a_run_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        for (overwrite, file) in [(false, "manifest.json"), (true, "precious")] {
            let target = folder.path().join(file);
            let staging = Staging::begin(&target, overwrite).unwrap();
            fs::create_dir(&target).unwrap();
            fs::write(target.join(file), "mine").unwrap();
            assert!(matches!(staging.commit(), Err(ResultsError::Exists { .. })));
            assert_eq!(listing(&target), [file]);
        }
        assert_eq!(listing(folder.path()), ["manifest.json", "precious"]);
    }

    #[test]
    fn one_run_at_a_time_writes_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("run");
        let first = Staging::begin(&target, false).unwrap();
        // Same process number in another container, and on another machine with the same disk and locks.
        let this = Owner::this();
        let others = [Owner { namespace: 1, ..this }, Owner { host: !this.host, boot: !this.boot, ..this }];
        for owner in [this, others[0], others[1]] {
            let error = Staging::begin_as(&owner, &target, true).unwrap_err();
            assert!(error.to_string().starts_with("another run is writing "), "{error}");
            assert_eq!(error.exit_code(), 2);
        }
        first.write("manifest.json", b"{}").unwrap();
        first.commit().unwrap();
        assert_eq!(listing(folder.path()), ["run"]);
        assert_eq!(listing(&target), ["manifest.json"]);
    }

    /// `locks` adds an unheld lock file.
    fn leave(target: &Path, purpose: &str, owner: &Owner, locks: bool) -> String {
        let folder = sibling(target, purpose, &owner.token());
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(if purpose == "old" { "manifest.json" } else { "flows.parquet" }), "kept").unwrap();
        if locks {
            fs::write(folder.join(LOCK), "").unwrap();
        }
        folder.file_name().unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn leftovers_of_dead_processes_are_removed() {
        let this = Owner::this();
        let container = |process| Owner { namespace: 1, process, ..this };
        let renamed = Owner { host: !this.host, ..container(1) };
        let before_reboot = Owner { boot: !this.boot, ..this };
        let machine = Owner { host: !this.host, boot: !this.boot, ..this };
        // Linux process numbers stop at 2^22.
        let dead = i32::MAX as u32;
        for (owner, locks, goes) in [
            (Owner { process: dead, ..this }, true, true),
            (Owner { process: dead, ..this }, false, true),
            // Another process has this number now.
            (this, true, true),
            (this, false, false),
            // Process 1 of a killed container; then without locks.
            (container(1), true, true),
            (container(dead), false, false),
            (renamed, true, true),
            (renamed, false, false),
            (before_reboot, true, true),
            (before_reboot, false, false),
            (Owner { process: dead, ..machine }, true, false),
            (Owner { process: dead, ..machine }, false, false),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let target = folder.path().join("run");
            let left = leave(&target, "partial", &owner, locks);
            drop(Staging::begin(&target, false).unwrap());
            let expected: &[String] = if goes { &[] } else { &[left] };
            assert_eq!(listing(folder.path()), expected, "{owner:?}, locks: {locks}");
        }
    }

    #[test]
    fn a_killed_process_1_does_not_stop_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("run");
        let one = Owner { process: 1, ..Owner::this() };
        leave(&target, "partial", &one, true);
        let left = leave(&target, "partial", &one, false);
        // Process 1 lives: without locks its folder stays.
        let staging = Staging::begin_as(&one, &target, false).unwrap();
        assert_eq!(listing(folder.path()).len(), 2);
        staging.write("manifest.json", b"{}").unwrap();
        staging.commit().unwrap();
        assert_eq!(listing(folder.path()), [left.as_str(), "run"]);
    }

    #[test]
    fn results_that_were_set_aside_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("run");
        let killed = Owner { namespace: 1, ..Owner::this() };
        let token = killed.token();
        for (purpose, file) in [("partial", LOCK), ("old", "manifest.json")] {
            let left = sibling(&target, purpose, &token);
            fs::create_dir(&left).unwrap();
            fs::write(left.join(file), "").unwrap();
        }
        let other = leave(&folder.path().join("other"), "partial", &killed, true);
        assert!(matches!(Staging::begin(&target, false), Err(ResultsError::Exists { results: true, .. })));
        assert_eq!(listing(folder.path()), [other.as_str(), "run"]);
        // Results at the target replace those set aside.
        leave(&target, "old", &Owner { process: i32::MAX as u32, ..Owner::this() }, false);
        assert!(Staging::begin(&target, false).is_err());
        assert_eq!(listing(folder.path()), [other.as_str(), "run"]);
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
