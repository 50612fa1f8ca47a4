//! Ports, cycles and paths in the names that an operator knows.

use std::fmt;

use incast_model::fabric::{NodeId, PortId};
use serde::{Deserialize, Serialize};

use crate::tagging::Tag;
use crate::wiring::Wiring;

/// A turn at a switch: packets come in by one port and leave by another. Ports are numbered from 0 within a switch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Turn {
    /// The switch.
    pub switch: String,
    /// Its ingress port.
    pub in_port: u32,
    /// The node that sends to that port.
    pub from: String,
    /// Its egress port.
    pub out_port: u32,
    /// The node that this leads to.
    pub to: String,
    /// The tag with which packets come in, where there are tags.
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

/// A cyclic buffer dependency: the packets of each turn wait for room at the ingress port of the next, those of the last
/// for room at that of the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cycle {
    /// Its turns; `to` of each is `switch` of the next.
    pub turns: Vec<Turn>,
}

impl Cycle {
    /// Of ingress ports with their tags, each with the egress port to the next.
    pub(crate) fn new(wiring: &Wiring<'_>, turns: impl IntoIterator<Item = (Option<Tag>, PortId, PortId)>) -> Self {
        Self { turns: turns.into_iter().map(|(tag, input, output)| Turn::new(wiring, tag, input, output)).collect() }
    }
}

impl fmt::Display for Cycle {
    /// The ingress ports in order, the first once more at the end: `leaf1 port 3 → spine2 port 1 → … → leaf1 port 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, turn) in self.turns.iter().chain(self.turns.first()).enumerate() {
            let arrow = if at == 0 { "" } else { " → " };
            write!(f, "{arrow}{} port {}", turn.switch, turn.in_port)?;
            turn.tag.map_or(Ok(()), |tag| write!(f, " tag {tag}"))?;
        }
        Ok(())
    }
}

/// A path by the names of its nodes, both hosts included.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NamedPath(pub Vec<String>);

impl NamedPath {
    /// From the egress ports of all its nodes but the last.
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
