//! Available memory, to refuse large requests before allocation.

use std::fmt;
use std::path::Path;

/// If the system reports none: a large workstation (our choice).
const ASSUMED: u64 = 64_000_000_000;

/// Available memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// Bytes.
    pub bytes: u64,
    /// Cause of the limit, for messages.
    pub limit: &'static str,
}

impl Memory {
    /// No limit, for tests and after a check.
    pub const UNLIMITED: Self = Self { bytes: u64::MAX, limit: "not limited" };

    /// Least of the machine's available memory (with swap) and the remainders of the control group (container) and of `ulimit
    /// -v`; 64 GB without any report, as outside Linux.
    pub fn available() -> Self {
        Self::on(Path::new("/"))
    }

    fn on(root: &Path) -> Self {
        let read = |file: &str| std::fs::read_to_string(root.join(file)).ok();
        let machine = read("proc/meminfo").and_then(|text| of_machine(&text));
        let group = of_group(root, &read("proc/self/cgroup").unwrap_or_default());
        let space = read("proc/self/limits").and_then(|text| address_space(&text));
        let used = || read("proc/self/status").and_then(|text| kilobytes(&text, "VmSize:")).unwrap_or(0);
        let limits = [
            (machine, "available on this machine"),
            (group, "left in this container or control group"),
            (space.map(|limit| limit.saturating_sub(used())), "left of the address space (ulimit -v)"),
        ];
        let known = limits.into_iter().filter_map(|(bytes, limit)| Some(Self { bytes: bytes?, limit }));
        let least = known.min_by_key(|memory| memory.bytes);
        least.unwrap_or(Self { bytes: ASSUMED, limit: "assumed: the system does not say how much is available" })
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} are {}", amount(self.bytes as f64), self.limit)
    }
}

/// Formats bytes in a readable unit.
pub fn amount(bytes: f64) -> String {
    match bytes {
        b if b >= 1e12 => format!("{:.1} TB", b / 1e12),
        b if b >= 1e9 => format!("{:.1} GB", b / 1e9),
        b if b >= 1e6 => format!("{:.0} MB", b / 1e6),
        b if b >= 1e3 => format!("{:.0} kB", b / 1e3),
        b => format!("{b:.0} B"),
    }
}

/// In bytes, of a table such as `MemFree:  12 kB`.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

fn of_machine(text: &str) -> Option<u64> {
    Some(kilobytes(text, "MemAvailable:")? + kilobytes(text, "SwapFree:").unwrap_or(0))
}

fn address_space(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Least remainder of the control group (version 2, or memory controller of version 1) and its ancestors. `groups`: text of
/// `/proc/self/cgroup`.
fn of_group(root: &Path, groups: &str) -> Option<u64> {
    let left = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, group) = (parts.next()?, parts.next()?, parts.next()?);
        let (base, limit, usage) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max", "memory.current"),
            list if list.split(',').any(|one| one == "memory") => {
                ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => return None,
        };
        let base = root.join(base);
        // In a container the path may be the host's and absent.
        let own = base.join(group.trim_start_matches('/'));
        let above = own.ancestors().take_while(|folder| folder.starts_with(&base));
        above.filter_map(|folder| of_folder(folder, limit, usage)).min()
    });
    left.min()
}

/// File pages count as free: the system drops them first.
fn of_folder(folder: &Path, limit: &str, usage: &str) -> Option<u64> {
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).ok();
    // "max": no limit.
    let limit: u64 = read(limit)?.trim().parse().ok()?;
    let used: u64 = read(usage)?.trim().parse().ok()?;
    let statistics = read("memory.stat").unwrap_or_default();
    let pages = |name: &str| -> u64 {
        let found = statistics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        found.unwrap_or(0)
    };
    Some(limit.saturating_sub(used.saturating_sub(pages("inactive_file ") + pages("active_file "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, file: &str, text: &str) {
        let file = root.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    #[test]
    fn the_least_limit_counts() {
        let root = tempfile::tempdir().unwrap();
        let memory = || Memory::on(root.path());
        assert_eq!(memory().bytes, ASSUMED);
        write(root.path(), "proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    8000 kB\nSwapFree: 1000 kB\n");
        assert_eq!(memory(), Memory { bytes: 9000 * 1024, limit: "available on this machine" });
        write(root.path(), "proc/self/status", "VmPeak: 9 kB\nVmSize:\t    1000 kB\n");
        let unlimited = "Max address space         unlimited            unlimited            bytes\n";
        write(root.path(), "proc/self/limits", unlimited);
        assert_eq!(memory().bytes, 9000 * 1024);
        write(
            root.path(),
            "proc/self/limits",
            "Max address space         3072000              unlimited            bytes\n",
        );
        let left = memory();
        assert_eq!(left.bytes, 2000 * 1024);
        assert!(left.to_string().starts_with("2 MB are left of the address space"), "{left}");
    }

    #[test]
    fn control_groups_count_with_those_above_them() {
        let root = tempfile::tempdir().unwrap();
        let left = |groups: &str| of_group(root.path(), groups);
        assert_eq!(left("0::/\n"), None);
        write(root.path(), "sys/fs/cgroup/a/memory.max", "5000\n");
        write(root.path(), "sys/fs/cgroup/a/memory.current", "3000\n");
        write(root.path(), "sys/fs/cgroup/a/memory.stat", "anon 2000\nactive_file 600\ninactive_file 400\n");
        write(root.path(), "sys/fs/cgroup/a/b/memory.max", "max\n");
        write(root.path(), "sys/fs/cgroup/a/b/memory.current", "1000\n");
        assert_eq!(left("0::/a/b\n"), Some(3000));
        assert_eq!(left("0::/not/here\n"), None);
        write(root.path(), "sys/fs/cgroup/memory/memory.limit_in_bytes", "900\n");
        write(root.path(), "sys/fs/cgroup/memory/memory.usage_in_bytes", "200\n");
        assert_eq!(left("7:cpu:/x\n4:memory,hugetlb:/docker/x\n0::/a/b\n"), Some(700));
    }

    #[test]
    fn this_machine_has_some() {
        assert!(Memory::available().bytes > 1 << 20);
        assert_eq!([0.0, 1.5e3, 2.5e8, 3.2e9, 4e12].map(amount), ["0 B", "2 kB", "250 MB", "3.2 GB", "4.0 TB"]);
    }
}
