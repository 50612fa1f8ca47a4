use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::graph::{Fabric, NodeId, NodeKind};

/// Graphviz drawing: one rank per tier, hosts (ellipses) below switches (boxes).
pub fn write_dot(fabric: &Fabric) -> String {
    let mut text = String::from("graph fabric {\n  ranksep=1.5;\n  node [shape=box];\n");
    let mut tiers: BTreeMap<u8, Vec<NodeId>> = BTreeMap::new();
    for id in (0..fabric.nodes().len() as u32).map(NodeId) {
        tiers.entry(fabric.node(id).tier).or_default().push(id);
    }
    for (_, nodes) in tiers.iter().rev() {
        text.push_str("  { rank=same;");
        for &id in nodes {
            let node = fabric.node(id);
            text.push(' ');
            text.push_str(&quoted(&node.name));
            text.push_str(if node.kind == NodeKind::Host { " [shape=ellipse];" } else { ";" });
        }
        text.push_str(" }\n");
    }
    for link in fabric.links() {
        let [a, b] = [link.a, link.b].map(|port| fabric.node(fabric.port(port).node));
        // Graphviz puts the first end above the second.
        let (high, low) = if a.tier >= b.tier { (a, b) } else { (b, a) };
        let _ = writeln!(
            text,
            "  {} -- {} [label=\"{}\", tooltip=\"{}\"];",
            quoted(&high.name),
            quoted(&low.name),
            link.rate,
            link.delay
        );
    }
    text + "}\n"
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::FabricBuilder;
    use crate::units::{Rate, Time};

    #[test]
    fn tiers_are_ranks_and_names_are_quoted() {
        let mut builder = FabricBuilder::new();
        let (a, b) = (builder.host("a"), builder.host(r#"b "two" \"#));
        let leaf = builder.switch("leaf 0", 1);
        builder.link(a, leaf, Rate::gbps(100), Time::us(1));
        builder.link(leaf, b, Rate::gbps(40), Time::ns(1500));
        builder.link(leaf, b, Rate::gbps(40), Time::ns(1500));
        let expected = r#"graph fabric {
  ranksep=1.5;
  node [shape=box];
  { rank=same; "leaf 0"; }
  { rank=same; "a" [shape=ellipse]; "b \"two\" \\" [shape=ellipse]; }
  "leaf 0" -- "a" [label="100Gbps", tooltip="1us"];
  "leaf 0" -- "b \"two\" \\" [label="40Gbps", tooltip="1.5us"];
  "leaf 0" -- "b \"two\" \\" [label="40Gbps", tooltip="1.5us"];
}
"#;
        assert_eq!(write_dot(&builder.finish().unwrap()), expected);
    }
}
