use std::sync::Arc;

use incast_model::fabric::{HostId, NodeId, PortId};
use incast_model::routing::Routes;

use super::error::ElpError;
use super::towards::{Hop, Towards};
use crate::bits::{ones, set};
use crate::wiring::Wiring;

#[derive(Debug)]
pub(crate) struct Routed<'r> {
    pub(crate) routes: &'r Routes,
    /// Hosts that share all next hops but the last.
    pub(crate) classes: Vec<Vec<HostId>>,
    /// Ports of switches to single-linked hosts, a bit each, if up.
    pub(crate) sources: Arc<[u64]>,
}

impl<'r> Routed<'r> {
    pub(crate) fn new(wiring: &Wiring<'_>, routes: &'r Routes) -> Self {
        let hosts = wiring.fabric().hosts();
        let mut classes: Vec<Vec<HostId>> = Vec::new();
        let mut sources = vec![0; wiring.spans()];
        for (host, &node) in (0..).map(HostId).zip(hosts) {
            let class = routes.class(host);
            classes.resize(classes.len().max(class + 1), Vec::new());
            classes[class].push(host);
            let mut ports = wiring.of(node).map(|port| wiring.peer(port));
            if let (false, Some(port)) = (wiring.is_routed(node), ports.next()) {
                let switch = wiring.node(port);
                // The link is down.
                if !wiring.is_host(switch) && routes.next_hops(switch, host).contains(&port) {
                    set(&mut sources[wiring.span(switch)], wiring.local(port));
                }
            }
        }
        classes.retain(|class| !class.is_empty());
        Self { routes, classes, sources: sources.into() }
    }

    pub(crate) fn hops(&self, wiring: &Wiring<'_>, node: NodeId, class: usize) -> Vec<PortId> {
        let hosts = &self.classes[class];
        let first = self.routes.next_hops(node, hosts[0]);
        let delivers = first.iter().any(|&port| wiring.is_host(wiring.far(port)));
        if !delivers {
            return first.to_vec();
        }
        let mut all: Vec<PortId> = hosts.iter().flat_map(|&host| self.routes.next_hops(node, host)).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    pub(crate) fn towards(&self, wiring: &Wiring<'_>, class: usize, towards: &mut Towards) -> Result<(), ElpError> {
        let order = self.order(wiring, class)?;
        towards.clear();
        towards.come_from(&self.sources);
        for node in order {
            let hops = self.hops(wiring, node, class);
            towards.push(node, hops.into_iter().map(|port| Hop::new(wiring, port)));
        }
        Ok(())
    }

    /// Ingress ports where packets enter; one per switch for single-linked hosts.
    pub(crate) fn sources(&self, wiring: &Wiring<'_>, class: usize) -> Vec<PortId> {
        let nodes = (0..wiring.nodes() as u32).map(NodeId).filter(|&node| self.is_source(wiring, node, class));
        nodes
            .flat_map(|node| match wiring.is_host(node) {
                true => self.hops(wiring, node, class).into_iter().map(|port| wiring.peer(port)).collect::<Vec<_>>(),
                false => {
                    ones(&self.sources[wiring.span(node)]).next().map(|at| wiring.port(node, at)).into_iter().collect()
                }
            })
            .filter(|&port| !wiring.is_host(wiring.node(port)))
            .collect()
    }

    /// Single-linked hosts count at their switches.
    pub(crate) fn is_source(&self, wiring: &Wiring<'_>, node: NodeId, class: usize) -> bool {
        let itself = |host: &HostId| wiring.fabric().hosts()[host.index()] == node;
        match wiring.is_host(node) {
            true => wiring.is_routed(node) && !self.classes[class].iter().any(itself),
            false => self.sources[wiring.span(node)].iter().any(|&word| word != 0),
        }
    }

    /// Before their successors: depth first, without recursion.
    fn order(&self, wiring: &Wiring<'_>, class: usize) -> Result<Vec<NodeId>, ElpError> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            Unseen,
            OnTheWay,
            Done,
        }
        let mut marks = vec![Mark::Unseen; wiring.nodes()];
        let mut done = Vec::new();
        let sources = (0..wiring.nodes() as u32).map(NodeId).filter(|&node| self.is_source(wiring, node, class));
        for source in sources {
            let mut way: Vec<(NodeId, usize)> = Vec::new();
            if marks[source.index()] == Mark::Unseen {
                marks[source.index()] = Mark::OnTheWay;
                way.push((source, 0));
            }
            while let Some((node, next)) = way.last_mut() {
                let hops = self.routes.next_hops(*node, self.classes[class][0]);
                let Some(&hop) = hops.get(*next) else {
                    marks[node.index()] = Mark::Done;
                    done.push(*node);
                    way.pop();
                    continue;
                };
                *next += 1;
                let far = wiring.far(hop);
                if wiring.is_host(far) {
                    continue;
                }
                match marks[far.index()] {
                    Mark::Unseen => {
                        marks[far.index()] = Mark::OnTheWay;
                        way.push((far, 0));
                    }
                    Mark::OnTheWay => return Err(self.routing_loop(wiring, class, &way, far)),
                    Mark::Done => {}
                }
            }
        }
        done.reverse();
        Ok(done)
    }

    fn routing_loop(&self, wiring: &Wiring<'_>, class: usize, way: &[(NodeId, usize)], again: NodeId) -> ElpError {
        let begin = way.iter().position(|&(node, _)| node == again).unwrap_or_default();
        let nodes = way[begin..].iter().map(|&(node, _)| node).chain([again]);
        let nodes: Vec<&str> = nodes.map(|node| wiring.name(node)).collect();
        let destination = wiring.fabric().hosts()[self.classes[class][0].index()];
        ElpError::RoutingLoop { destination: wiring.name(destination).into(), nodes: nodes.join(" → ") }
    }
}
