//! Exports a fabric for other programs.

use std::io;
use std::path::{Path, PathBuf};

use incast_model::fabric::generators::{topology_notices, write_topology};
use incast_model::fabric::{Fabric, Link, Node, NodeKind, write_dot};
use incast_model::foreign::{Notice, Severity};
use serde_json::{Value, json};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::scenario::Loaded;
use crate::text_file;

/// Format of an exported fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FabricForm {
    /// Graphviz drawing.
    Dot,
    /// Topology file of the HPCC authors' ns-3; no names and tiers.
    Ns3,
}

/// A fabric as text.
#[derive(Debug, Clone)]
pub struct FabricExport {
    /// File to write.
    pub file: PathBuf,
    /// Content.
    pub text: String,
    /// Parts that its readers interpret differently.
    pub notices: Vec<Notice>,
}

impl FabricExport {
    /// Replaces existing files only if `overwrite`.
    pub fn write(&self, overwrite: bool) -> io::Result<()> {
        text_file::write(&self.file, &self.text, overwrite)
    }
}

/// Exports a scenario's fabric, for file `out`.
pub fn export_fabric(loaded: &Loaded, form: FabricForm, out: &Path) -> Result<FabricExport, Diagnostics> {
    let fabric = loaded.scenario().build_fabric(loaded.base_dir()).map_err(|found| loaded.locate(found))?;
    let (text, notices) = match form {
        FabricForm::Dot => (write_dot(&fabric), Vec::new()),
        FabricForm::Ns3 => ns3(&fabric, out)?,
    };
    Ok(FabricExport { file: out.to_owned(), text, notices })
}

/// Nodes and links for drawings: `{"nodes": [[name, tier, is host], …], "links": [[node, port, node, port], …]}`; nodes by
/// index, ports numbered within their node.
pub fn fabric_json(loaded: &Loaded) -> Result<Value, Diagnostics> {
    let fabric = loaded.scenario().build_fabric(loaded.base_dir()).map_err(|found| loaded.locate(found))?;
    let node = |node: &Node| json!([node.name, node.tier, node.kind == NodeKind::Host]);
    let link = |link: &Link| {
        let [a, b] = [link.a, link.b].map(|port| fabric.port(port));
        json!([a.node.0, a.local, b.node.0, b.local])
    };
    let nodes: Vec<Value> = fabric.nodes().iter().map(node).collect();
    let links: Vec<Value> = fabric.links().iter().map(link).collect();
    Ok(json!({ "nodes": nodes, "links": links }))
}

fn ns3(fabric: &Fabric, out: &Path) -> Result<(String, Vec<Notice>), Diagnostics> {
    let notices = topology_notices(fabric, &out.display().to_string());
    let errors = notices.iter().filter(|notice| notice.severity == Severity::Error);
    Diagnostics::check(
        errors.map(|notice| Diagnostic::new("fabric", format!("not as an ns-3 topology: {}", notice.text))).collect(),
    )?;
    Ok((write_topology(fabric), notices))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(fabric: &str) -> Loaded {
        let rest = "[[workload]]\nincast = { fan_in = 2, size = \"1kB\" }\n[scheme.A]\ncontrol = \"dcqcn\"\n";
        Loaded::from_text("s.toml", &format!("{fabric}\n{rest}"), Path::new("."), &[]).unwrap()
    }

    #[test]
    fn fabrics_become_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("fabric.dot");
        let star = loaded("fabric.star.hosts = 3");
        let export = export_fabric(&star, FabricForm::Dot, &file).unwrap();
        export.write(false).unwrap();
        assert_eq!(export.write(false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        export.write(true).unwrap();
        assert!(std::fs::read_to_string(&file).unwrap().contains("\"s0\" -- \"h2\" [label=\"100Gbps\""));
        let export = export_fabric(&star, FabricForm::Ns3, &file).unwrap();
        assert_eq!(
            fabric_json(&star).unwrap(),
            json!({
                "nodes": [["h0", 0, true], ["h1", 0, true], ["h2", 0, true], ["s0", 1, false]],
                "links": [[0, 0, 3, 0], [1, 0, 3, 1], [2, 0, 3, 2]],
            })
        );
        assert!(export.text.starts_with("4 1 3\n3\n0 3 100Gbps 1000ns 0.000000\n") && export.notices.is_empty());
    }

    #[test]
    fn what_ns3_does_otherwise_is_said() {
        let twice = loaded("fabric.leaf_spine = { leaves = 2, spines = 1, hosts_per_leaf = 2, uplinks_per_pair = 2 }");
        let export = export_fabric(&twice, FabricForm::Ns3, Path::new("t.txt")).unwrap();
        assert!(export.notices[0].to_string().starts_with("t.txt:8: warning: parallel to the link of line 7"));
        let large = export_fabric(&loaded("fabric.star.hosts = 70000"), FabricForm::Ns3, Path::new("t.txt"));
        let why = large.unwrap_err().to_string();
        assert!(why.contains("not as an ns-3 topology: 70001 nodes; allowed: at most 65536"), "{why}");
        let wrong = export_fabric(&loaded("fabric.fat_tree = { k = 5 }"), FabricForm::Dot, Path::new("f.dot"));
        let why = wrong.unwrap_err().to_string();
        assert!(why.contains("fabric.fat_tree.k") && why.contains("s.toml:1:"), "{why}");
    }
}
