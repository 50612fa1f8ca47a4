//! Links by name (`--fail`).

use incast_model::fabric::{Fabric, LinkId, NodeId, NodeKind, PortId};
use incast_model::nearest::nearest;

use crate::diagnostic::{Diagnostic, Diagnostics};

pub(super) fn links(fabric: &Fabric, names: &[String]) -> Result<Vec<LinkId>, Diagnostics> {
    let mut found: Vec<LinkId> = Vec::new();
    for name in names {
        let link = link(fabric, name)?;
        if found.contains(&link) {
            let twice = Diagnostic::new("--fail", format!("`{name}`: this link is named before"));
            return Err(twice
                .allowed("each link once; of parallel links each by its port, such as leaf0:2-spine1")
                .into());
        }
        found.push(link);
    }
    Ok(found)
}

type End = (NodeId, Option<usize>);

/// Default: the first of parallel links.
fn link(fabric: &Fabric, name: &str) -> Result<LinkId, Diagnostics> {
    let wrong = |what: String| Diagnostic::new("--fail", format!("`{name}`: {what}"));
    // Names may contain dashes.
    let splits: Vec<[&str; 2]> = name.match_indices('-').map(|(at, _)| [&name[..at], &name[at + 1..]]).collect();
    let ends = splits.iter().map(|split| split.map(|text| end(fabric, text)));
    let best = ends.zip(&splits).max_by_key(|(ends, _)| ends.iter().flatten().count());
    let Some((ends, texts)) = best else {
        let found = Diagnostic::new("--fail", format!("`{name}` is no link"));
        return Err(found.allowed("its two ends joined by a dash, such as leaf0-spine1").into());
    };
    let [a, b] = match ends {
        [Some(a), Some(b)] => [a, b],
        [a, b] => {
            let (text, other) = if a.is_none() { (texts[0], b) } else { (texts[1], a) };
            let node =
                text.rsplit_once(':').filter(|(_, port)| port.parse::<u32>().is_ok()).map_or(text, |(node, _)| node);
            let near = other.map(|(other, _)| switches_next_to(fabric, other)).unwrap_or_default();
            let nearest = nearest(node, near.iter().copied()).or_else(|| nearest(node, switches(fabric)));
            let nearest = nearest.map(str::to_owned);
            return Err(Diagnostic { nearest, ..wrong(format!("the fabric has no node `{node}`")) }.into());
        }
    };
    let node = |end: End| fabric.node(end.0);
    if let Some(host) = [a, b].into_iter().find(|&end| node(end).kind == NodeKind::Host) {
        let why = "only links between switches can fail here: a host has a single link";
        return Err(wrong(format!("{} is a host; {why}", node(host).name)).into());
    }
    let joining: Vec<PortId> = fabric.ports_of(a.0).filter(|&port| fabric.neighbour(port) == b.0).collect();
    let [name_a, name_b] = [a, b].map(|end| &node(end).name);
    if joining.is_empty() {
        let near = switches_next_to(fabric, a.0).join(", ");
        let found = wrong(format!("no link joins {name_a} and {name_b}"));
        return Err(found.allowed(format!("{name_a} and a switch next to it: {near}")).into());
    }
    for ((_, given), is_a, from, to) in [(a, true, name_a, name_b), (b, false, name_b, name_a)] {
        let side = |port: PortId| if is_a { port } else { fabric.port(port).peer };
        let ports: Vec<usize> = joining.iter().map(|&port| fabric.port(side(port)).local as usize).collect();
        if let Some(port) = given.filter(|port| !ports.contains(port)) {
            let allowed: Vec<String> = ports.iter().map(usize::to_string).collect();
            let found = wrong(format!("port {port} of {from} does not lead to {to}"));
            return Err(found.allowed(format!("ports of {from} to {to}: {}", allowed.join(", "))).into());
        }
    }
    let local = |port: PortId| fabric.port(port).local as usize;
    let is_it = |&port: &PortId| {
        a.1.is_none_or(|given| given == local(port)) && b.1.is_none_or(|given| given == local(fabric.port(port).peer))
    };
    let found = joining.into_iter().find(is_it).ok_or_else(|| wrong("the two ports are not of one link".into()))?;
    Ok(fabric.port(found).link)
}

/// Port after a colon, unless the name has the colon.
fn end(fabric: &Fabric, text: &str) -> Option<End> {
    let node = |name: &str| fabric.nodes().iter().position(|node| node.name == name).map(|at| NodeId(at as u32));
    if let Some(node) = node(text) {
        return Some((node, None));
    }
    let (name, port) = text.rsplit_once(':')?;
    Some((node(name)?, Some(port.parse().ok()?)))
}

fn switches(fabric: &Fabric) -> impl Iterator<Item = &str> {
    fabric.nodes().iter().filter(|node| node.kind == NodeKind::Switch).map(|node| node.name.as_str())
}

fn switches_next_to(fabric: &Fabric, of: NodeId) -> Vec<&str> {
    let near = fabric.ports_of(of).map(|port| fabric.node(fabric.neighbour(port)));
    let mut names: Vec<&str> =
        near.filter(|node| node.kind == NodeKind::Switch).map(|node| node.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
