use std::collections::HashMap;

use incast_model::fabric::{NodeId, PortId};
use incast_model::nearest::nearest;

use super::error::PathError;
use crate::bits::ones;
use crate::wiring::{Ports, Wiring};

/// Paths between hosts. Paths of nodes or names are checked: adjacent nodes, hosts only at the ends, no repeated ingress port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathSet {
    /// By path, plus one: begin of its ports.
    first: Vec<u32>,
    /// Egress ports, the sending host's first.
    ports: Vec<PortId>,
    /// By path; empty for a drawn path.
    places: Vec<String>,
    /// Hosts at the ends represent all single-linked hosts of their switches.
    shared: bool,
}

impl Default for PathSet {
    fn default() -> Self {
        Self::new()
    }
}

impl PathSet {
    /// Empty set.
    pub fn new() -> Self {
        Self { first: vec![0], ports: Vec::new(), places: Vec::new(), shared: false }
    }

    pub(super) fn shared() -> Self {
        Self { shared: true, ..Self::new() }
    }

    /// Number of paths.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// True if empty.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Egress ports of a path, the sending host's first.
    pub fn path(&self, at: usize) -> &[PortId] {
        &self.ports[self.first[at] as usize..self.first[at + 1] as usize]
    }

    /// `line 7` of a file, `paths[3]` of a list; empty if random.
    pub fn place(&self, at: usize) -> &str {
        &self.places[at]
    }

    /// All paths.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[PortId]> {
        (0..self.len()).map(|at| self.path(at))
    }

    /// Ingress ports at the first switch, egress ports at the last.
    pub(crate) fn ends(&self, ports: &Ports, path: &[PortId]) -> [Vec<PortId>; 2] {
        [ports.peer(path[0]), path[path.len() - 1]].map(|port| match self.shared && !ports.is_routed(ports.far(port)) {
            true => {
                let switch = ports.node(port);
                ones(ports.single_hosts(switch)).map(|local| ports.port(switch, local)).collect()
            }
            false => vec![port],
        })
    }

    /// Adds a path by nodes, hosts included, over the first parallel link that is up.
    pub fn push_nodes(&mut self, wiring: &Wiring<'_>, nodes: &[NodeId]) -> Result<(), PathError> {
        let place = format!("paths[{}]", self.len());
        let nodes: Vec<(NodeId, Option<u32>)> = nodes.iter().map(|&node| (node, None)).collect();
        self.push(wiring, place, &nodes)
    }

    /// Adds a path by egress ports, the sending host's first, even with a loop; `place`: origin.
    ///
    /// # Panics
    /// If a port does not lead to the node of the next.
    pub fn push_ports(&mut self, wiring: &Wiring<'_>, place: String, path: &[PortId]) {
        let joined = path.windows(2).all(|pair| wiring.far(pair[0]) == wiring.node(pair[1]));
        assert!(joined, "{path:?} is no path");
        self.ports.extend(path);
        self.close(place);
    }

    /// Paths from names. `leaf0:7` leaves `leaf0` by port 7; without a port, by the first parallel link that is up.
    pub fn from_names<P, S>(wiring: &Wiring<'_>, paths: impl IntoIterator<Item = P>) -> Result<Self, PathError>
    where
        P: IntoIterator<Item = S>,
        S: AsRef<str>,
    {
        let names = Names::new(wiring);
        let mut set = Self::new();
        for (at, path) in paths.into_iter().enumerate() {
            let place = format!("paths[{at}]");
            let nodes = path.into_iter().map(|name| names.find(&place, name.as_ref()));
            let nodes: Vec<_> = nodes.collect::<Result<_, _>>()?;
            set.push(wiring, place, &nodes)?;
        }
        Ok(set)
    }

    /// Parses a file: a path per line, names between spaces or arrows (`→`, `->`), ports as in [`PathSet::from_names`], `#`
    /// comments.
    pub fn parse(wiring: &Wiring<'_>, text: &str) -> Result<Self, PathError> {
        let names = Names::new(wiring);
        let mut set = Self::new();
        for (line, content) in (1..).zip(text.lines()) {
            let place = format!("line {line}");
            let content = content.split('#').next().unwrap_or_default();
            let words = content.split_whitespace().filter(|word| !matches!(*word, "→" | "->"));
            let nodes: Vec<_> = words.map(|word| names.find(&place, word)).collect::<Result<_, _>>()?;
            if !nodes.is_empty() {
                set.push(wiring, place, &nodes)?;
            }
        }
        Ok(set)
    }

    fn push(&mut self, wiring: &Wiring<'_>, place: String, nodes: &[(NodeId, Option<u32>)]) -> Result<(), PathError> {
        if nodes.len() < 3 {
            return Err(PathError::TooShort { place, nodes: nodes.len() });
        }
        let ends = [("first", nodes[0].0), ("last", nodes[nodes.len() - 1].0)];
        if let Some((end, node)) = ends.into_iter().find(|&(_, node)| !wiring.is_host(node)) {
            return Err(PathError::EndsAtSwitch { place, end, node: wiring.name(node).into() });
        }
        if let Some(&(node, _)) = nodes[1..nodes.len() - 1].iter().find(|&&(node, _)| wiring.is_host(node)) {
            return Err(PathError::HostForwards { place, node: wiring.name(node).into() });
        }
        if let (node, Some(port)) = nodes[nodes.len() - 1] {
            return Err(PathError::PortAtEnd { place, node: wiring.name(node).into(), port });
        }
        let mut ports: Vec<PortId> = Vec::with_capacity(nodes.len() - 1);
        for pair in nodes.windows(2) {
            let port = egress(wiring, &place, pair[0], pair[1].0)?;
            if ports.contains(&port) {
                let (node, port) = (wiring.far(port), wiring.local(wiring.peer(port)));
                return Err(PathError::Repeated { place, node: wiring.name(node).into(), port: port as u32 });
            }
            ports.push(port);
        }
        self.ports.extend(ports);
        self.close(place);
        Ok(())
    }

    pub(super) fn extend(&mut self, path: Vec<PortId>) {
        self.ports.extend(path);
        self.close(String::new());
    }

    fn close(&mut self, place: String) {
        self.first.push(self.ports.len() as u32);
        self.places.push(place);
    }
}

fn egress(
    wiring: &Wiring<'_>,
    place: &str,
    (node, given): (NodeId, Option<u32>),
    next: NodeId,
) -> Result<PortId, PathError> {
    let name = |node: NodeId| wiring.name(node).to_owned();
    let place = || place.to_owned();
    let Some(local) = given else {
        let mut joining = wiring.of(node).filter(|&port| wiring.far(port) == next).peekable();
        let (place, a, b) = (place(), name(node), name(next));
        if joining.peek().is_none() {
            return Err(PathError::NotJoined { place, a, b, neighbours: neighbours(wiring, node) });
        }
        return joining.find(|&port| wiring.is_up(port)).ok_or(PathError::Down { place, a, b });
    };
    if local as usize >= wiring.degree(node) {
        return Err(PathError::NoPort { place: place(), node: name(node), port: local, ports: wiring.degree(node) });
    }
    let port = wiring.port(node, local as usize);
    if wiring.far(port) != next {
        return Err(PathError::PortLeadsElsewhere {
            place: place(),
            node: name(node),
            port: local,
            to: name(wiring.far(port)),
            next: name(next),
        });
    }
    if !wiring.is_up(port) {
        return Err(PathError::Down { place: place(), a: format!("{}:{local}", name(node)), b: name(next) });
    }
    Ok(port)
}

fn neighbours(ports: &Wiring<'_>, of: NodeId) -> String {
    let mut names: Vec<&str> = ports.of(of).map(|port| ports.name(ports.far(port))).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

struct Names<'w, 'f> {
    wiring: &'w Wiring<'f>,
    nodes: HashMap<&'f str, NodeId>,
}

impl<'w, 'f> Names<'w, 'f> {
    fn new(wiring: &'w Wiring<'f>) -> Self {
        let nodes = (0..).map(NodeId).zip(wiring.fabric().nodes()).map(|(id, node)| (node.name.as_str(), id)).collect();
        Self { wiring, nodes }
    }

    /// Names may contain colons.
    fn find(&self, place: &str, word: &str) -> Result<(NodeId, Option<u32>), PathError> {
        if let Some(&node) = self.nodes.get(word) {
            return Ok((node, None));
        }
        let (name, port) = word.rsplit_once(':').unwrap_or((word, ""));
        if let (Some(&node), Ok(port)) = (self.nodes.get(name), port.parse()) {
            return Ok((node, Some(port)));
        }
        let nodes = self.wiring.fabric().nodes().iter().map(|node| node.name.as_str());
        Err(PathError::UnknownNode {
            place: place.into(),
            name: word.into(),
            nearest: nearest(name, nodes).map(str::to_owned),
        })
    }
}
