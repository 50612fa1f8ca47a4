use std::fmt;

use incast_model::fabric::{NodeId, PortId};
use serde::{Deserialize, Serialize};

use crate::tag::Tag;
use crate::wiring::Wiring;

/// Turn at a switch; port numbers begin at 0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Turn {
    /// Switch.
    pub switch: String,
    /// Ingress port.
    pub in_port: u32,
    /// Node before the ingress port.
    pub from: String,
    /// Egress port.
    pub out_port: u32,
    /// Node after the egress port.
    pub to: String,
    /// Tag of arriving packets, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<Tag>,
}

impl Turn {
    pub(crate) fn new(wiring: &Wiring<'_>, tag: Option<Tag>, input: PortId, output: PortId) -> Self {
        let name = |node: NodeId| wiring.name(node).to_owned();
        Self {
            switch: name(wiring.node(input)),
            in_port: wiring.local(input) as u32,
            from: name(wiring.far(input)),
            out_port: wiring.local(output) as u32,
            to: name(wiring.far(output)),
            tag,
        }
    }
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: in port {} from {}, out port {} to {}",
            self.switch, self.in_port, self.from, self.out_port, self.to
        )?;
        self.tag.map_or(Ok(()), |tag| write!(f, ", tag {tag}"))
    }
}

/// Cyclic buffer dependency: packets of each turn wait for the next ingress port, cyclically.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cycle {
    /// Turns; `to` of each is `switch` of the next.
    pub turns: Vec<Turn>,
}

impl Cycle {
    /// Each egress port leads to the next ingress port.
    pub(crate) fn new(wiring: &Wiring<'_>, turns: impl IntoIterator<Item = (Option<Tag>, PortId, PortId)>) -> Self {
        Self { turns: turns.into_iter().map(|(tag, input, output)| Turn::new(wiring, tag, input, output)).collect() }
    }
}

impl fmt::Display for Cycle {
    /// Ingress ports: `leaf1 port 3 → spine2 port 1 → … → leaf1 port 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, turn) in self.turns.iter().chain(self.turns.first()).enumerate() {
            let arrow = if at == 0 { "" } else { " → " };
            write!(f, "{arrow}{} port {}", turn.switch, turn.in_port)?;
            turn.tag.map_or(Ok(()), |tag| write!(f, " tag {tag}"))?;
        }
        Ok(())
    }
}

/// A path's nodes, both hosts included.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NamedPath(pub Vec<String>);

impl NamedPath {
    pub(crate) fn new(wiring: &Wiring<'_>, path: &[PortId]) -> Self {
        let first = path.first().map(|&port| wiring.node(port));
        let nodes = first.into_iter().chain(path.iter().map(|&port| wiring.far(port)));
        Self(nodes.map(|node| wiring.name(node).to_owned()).collect())
    }
}

impl fmt::Display for NamedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" → "))
    }
}
