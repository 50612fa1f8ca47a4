//! Process that writes an unfinished folder: its name, and a lock that ends with it.
//!
//! The lock is the kernel's (`flock`): other containers see it, and a killed process loses it. File systems may lack locks or
//! keep them to one machine, so the name also has machine, PID namespace and process.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, test_kill_process};
use sha2::{Digest, Sha256};

pub(super) const LOCK: &str = ".lock";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) host: u32,
    /// Digest of the boot ID, shared by a machine's containers; 0: unknown (not Linux).
    pub(super) boot: u32,
    /// 0 if unknown.
    pub(super) namespace: u64,
    pub(super) process: u32,
}

#[derive(Debug)]
enum Lock {
    Held,
    Free(File),
    /// No lock file, or a file system without locks.
    Unknown,
}

impl Owner {
    pub(super) fn this() -> Self {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let namespace = fs::read_link("/proc/self/ns/pid").ok();
        let number = namespace.as_deref().and_then(Path::to_str).and_then(|link| {
            let digits = link.strip_prefix("pid:[")?.strip_suffix(']')?;
            digits.parse().ok()
        });
        Self {
            host: digest(&host_name()),
            boot: if boot.is_empty() { 0 } else { digest(boot.trim()) },
            namespace: number.unwrap_or(0),
            process: std::process::id(),
        }
    }

    pub(super) fn token(&self) -> String {
        let random = RandomState::new().hash_one(self.process) as u32;
        format!("{:08x}{:08x}-{}-{}-{random:08x}", self.host, self.boot, self.namespace, self.process)
    }

    pub(super) fn of_token(token: &str) -> Option<Self> {
        let parts: Vec<&str> = token.split('-').collect();
        let [machine, namespace, process, _] = parts[..] else { return None };
        let hex = |range| u32::from_str_radix(machine.get(range)?, 16).ok();
        Some(Self {
            host: hex(0..8)?,
            boot: hex(8..16)?,
            namespace: namespace.parse().ok()?,
            process: process.parse().ok()?,
        })
    }

    pub(super) fn fate(&self, folder: &Path, this: &Self) -> Fate {
        match lock(&folder.join(LOCK)) {
            Lock::Held => Fate::Alive,
            // This kernel grants the lock, or did before a reboot. Other machines' locks may be invisible.
            Lock::Free(file) if self.host == this.host || self.is_of_kernel(this) => Fate::Dead(Some(file)),
            Lock::Free(_) => Fate::Unknown,
            Lock::Unknown => {
                let near = self.host == this.host && self.boot == this.boot && self.namespace == this.namespace;
                if near && ended(self.process) { Fate::Dead(None) } else { Fate::Unknown }
            }
        }
    }

    const fn is_of_kernel(&self, other: &Self) -> bool {
        self.boot != 0 && self.boot == other.boot
    }
}

#[derive(Debug)]
pub(super) enum Fate {
    Alive,
    /// Dropping releases the lock, if any.
    Dead(Option<File>),
    Unknown,
}

/// `None` if another process removed the folder first.
pub(super) fn claim(folder: &Path) -> io::Result<Option<File>> {
    let path = folder.join(LOCK);
    let file = match OpenOptions::new().write(true).create_new(true).open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    // Without locks, the folder's name protects it.
    if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(rustix::io::Errno::WOULDBLOCK) {
        return Ok(None);
    }
    let inode = |data: fs::Metadata| (data.dev(), data.ino());
    let (locked, there) = (file.metadata().map(inode)?, fs::metadata(&path).map(inode));
    Ok(there.is_ok_and(|there| there == locked).then_some(file))
}

fn lock(path: &Path) -> Lock {
    // NFS locks exclusively only files open for writing.
    let Ok(file) = OpenOptions::new().write(true).open(path) else { return Lock::Unknown };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Lock::Free(file),
        Err(rustix::io::Errno::WOULDBLOCK) => Lock::Held,
        Err(_) => Lock::Unknown,
    }
}

fn ended(process: u32) -> bool {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

/// Only its digest is kept. Empty if unknown: then the lock alone tells who writes.
fn host_name() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}

fn digest(text: &str) -> u32 {
    let bytes = Sha256::digest(text.as_bytes());
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_their_owner() {
        let this = Owner::this();
        assert_eq!(Owner::of_token(&this.token()), Some(this));
        assert_ne!(this.token(), this.token());
        for other in ["", "12-0", "zzzzzzzzzzzzzzzz-1-2-3", "0123456789abcdef-1-2-3-4", "0123-1-2-3"] {
            assert_eq!(Owner::of_token(other), None, "{other}");
        }
    }

    #[test]
    fn a_claim_ends_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let this = Owner::this();
        let file = claim(folder.path()).unwrap().unwrap();
        assert!(matches!(this.fate(folder.path(), &this), Fate::Alive));
        drop(file);
        assert!(matches!(this.fate(folder.path(), &this), Fate::Dead(Some(_))));
        assert!(claim(&folder.path().join("gone")).unwrap().is_none());
    }

    #[test]
    fn processes_end() {
        assert!(!ended(std::process::id()) && !ended(1) && !ended(0) && !ended(u32::MAX));
        assert!(ended(i32::MAX as u32), "Linux stops at 2^22");
    }
}
