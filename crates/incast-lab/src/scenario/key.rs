use std::path::{Path, PathBuf};

use incast_model::input;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{Loaded, Scenario};
use crate::diagnostic::Diagnostic;
use crate::tree::FILES;

impl Loaded {
    /// SHA-256 of the scenario (without its threads), its files and the build: equal keys give equal results.
    pub fn key(&self) -> Result<String, Diagnostic> {
        let mut digest = Sha256::new();
        let mut add = |content: &[u8]| {
            digest.update((content.len() as u64).to_le_bytes());
            digest.update(content);
        };
        add(crate::BUILD.as_bytes());
        let mut scenario = self.scenario().clone();
        scenario.simulation.threads = None;
        add(scenario.to_toml().as_bytes());
        for file in self.files() {
            let content = input::read(&file, input::LARGE)
                .map_err(|error| Diagnostic::new("", format!("cannot read {}: {error}", file.display())))?;
            add(&content);
        }
        Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Files of fabric, tenants, workload and tagging rules, in the scenario's order.
    pub fn files(&self) -> Vec<PathBuf> {
        self.scenario().files(self.base_dir())
    }
}

impl Scenario {
    pub(crate) fn files(&self, base_dir: &Path) -> Vec<PathBuf> {
        let tree = serde_json::to_value(self).expect("a scenario has no key that JSON lacks");
        let mut found = Vec::new();
        for section in ["fabric", "tenant", "workload", "switch", "scheme"] {
            collect(&tree[section], base_dir, &mut found);
        }
        found
    }
}

fn collect(value: &Value, base: &Path, found: &mut Vec<PathBuf>) {
    match value {
        Value::Object(table) => {
            for (name, value) in table {
                match value {
                    Value::String(file) if FILES.contains(&name.as_str()) => found.push(base.join(file)),
                    other => collect(other, base, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, base, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(text: &str, base: &Path) -> Loaded {
        Loaded::from_text("s.toml", text, base, &[]).unwrap()
    }

    const HEAD: &str = "fabric.star = { hosts = 4 }\nscheme.a.control = \"hpcc\"\n";

    #[test]
    fn every_kind_of_file_counts() {
        let text = "[fabric.ns3]\ntopology = \"t.txt\"\n[[workload]]\nns3 = { flows = \"f.txt\" }\n\
                    [[workload]]\ntrace = { file = \"t.csv\" }\n[[workload]]\nhtsim = { file = \"c.cm\" }\n\
                    [[workload]]\npoisson = { load = 0.3, sizes = { file = \"sizes.txt\" }, duration = \"1ms\" }\n\
                    [scheme.a]\ncontrol = \"hpcc\"\n";
        let names: Vec<PathBuf> = loaded(text, Path::new("")).files();
        assert_eq!(names, ["t.txt", "f.txt", "t.csv", "c.cm", "sizes.txt"].map(PathBuf::from));
    }

    #[test]
    fn keys_differ_where_results_may() {
        let folder = tempfile::tempdir().unwrap();
        let trace = format!("{HEAD}[[workload]]\ntrace = {{ file = \"t.csv\" }}\n");
        let write = |text: &str| std::fs::write(folder.path().join("t.csv"), text).unwrap();
        write("one");
        let first = loaded(&trace, folder.path()).key().unwrap();
        assert_eq!(first, loaded(&trace, folder.path()).key().unwrap());
        assert_eq!(first.len(), 64);
        assert_ne!(first, loaded(&format!("seed = 2\n{trace}"), folder.path()).key().unwrap());
        write("two");
        assert_ne!(first, loaded(&trace, folder.path()).key().unwrap());
        std::fs::remove_file(folder.path().join("t.csv")).unwrap();
        assert!(loaded(&trace, folder.path()).key().unwrap_err().message.contains("cannot read"));
    }
}
