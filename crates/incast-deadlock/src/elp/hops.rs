//! Which turns packets make at which hop: what Algorithms 1 and 2 start from.

use incast_model::fabric::PortId;

use super::error::ElpError;
use super::paths::PathSet;
use super::routed::Routed;
use super::shortest::{Scratch, targets};
use super::towards::Towards;
use super::{Elp, ShortestPaths};
use crate::threads::spread;
use crate::turns::{TurnSet, ones, set};
use crate::wiring::{Ports, Wiring};

/// The turns of a set of paths by hop: hop 0 is the switch that a packet enters the fabric by.
///
/// This is the graph of Algorithm 1 (Hu et al., CoNEXT 2017), before any tag is merged: a vertex is an ingress port at a
/// hop, an edge a turn at that hop. Paths are not kept; a set of 10^8 paths takes no more room than its turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hops {
    layers: Vec<TurnSet>,
}

impl Hops {
    /// The turns at each hop. There are as many hops as the longest path has switches.
    pub fn layers(&self) -> &[TurnSet] {
        &self.layers
    }

    /// All turns, at whatever hop.
    pub fn turns(&self, wiring: &Wiring<'_>) -> TurnSet {
        let mut all = TurnSet::new(wiring);
        self.layers.iter().for_each(|layer| all.union(layer));
        all
    }
}

impl Elp<'_> {
    /// The turns at each hop.
    pub fn hops(&self, wiring: &Wiring<'_>) -> Result<Hops, ElpError> {
        let mut layers = match self {
            Self::Paths(paths) => of_paths(wiring, paths),
            Self::Shortest(shortest) => of_shortest(wiring, shortest),
            Self::UpDown(up_down) => up_down.hops(wiring)?,
            Self::Routes(routes) => of_routes(wiring, &Routed::new(wiring, routes))?,
        };
        while layers.last().is_some_and(TurnSet::is_empty) {
            layers.pop();
        }
        Ok(Hops { layers })
    }
}

fn of_paths(wiring: &Wiring<'_>, paths: &PathSet) -> Vec<TurnSet> {
    let mut layers = Vec::new();
    for path in paths.iter() {
        for (hop, pair) in path.windows(2).enumerate() {
            if layers.len() <= hop {
                layers.push(TurnSet::new(wiring));
            }
            layers[hop].insert(wiring.peer(pair[0]), pair[1]);
        }
    }
    layers
}

fn of_shortest(wiring: &Wiring<'_>, paths: &ShortestPaths) -> Vec<TurnSet> {
    let targets = targets(wiring);
    let start = || (Scratch::new(wiring), Collector::new(wiring));
    let parts = spread(targets.len(), start, |(scratch, collector), at| {
        paths.towards(wiring, targets[at], scratch, &mut |towards| collector.add(wiring, towards));
    });
    merge(parts.into_iter().map(|(_, collector)| collector.layers))
}

fn of_routes(wiring: &Wiring<'_>, routed: &Routed<'_>) -> Result<Vec<TurnSet>, ElpError> {
    let (mut collector, mut towards) = (Collector::new(wiring), Towards::default());
    for class in 0..routed.classes.len() {
        routed.towards(wiring, class, &mut towards)?;
        collector.add(wiring, &towards);
    }
    Ok(collector.layers)
}

fn merge(parts: impl Iterator<Item = Vec<TurnSet>>) -> Vec<TurnSet> {
    let mut all: Vec<TurnSet> = Vec::new();
    for part in parts {
        for (hop, layer) in part.into_iter().enumerate() {
            match all.get_mut(hop) {
                Some(sum) => sum.union(&layer),
                None => all.push(layer),
            }
        }
    }
    all
}

/// Follows all packets to a destination at once, hop by hop.
struct Collector<'w, 'f> {
    wiring: &'w Wiring<'f>,
    layers: Vec<TurnSet>,
    /// By hop: the ingress ports at which packets to the destination are then, a bit each.
    at: Vec<Vec<u64>>,
    /// By node: one more than the last hop at which packets are there.
    hops: Vec<usize>,
}

impl<'w, 'f> Collector<'w, 'f> {
    fn new(wiring: &'w Wiring<'f>) -> Self {
        Self { wiring, layers: Vec::new(), at: Vec::new(), hops: vec![0; wiring.nodes()] }
    }

    fn add(&mut self, ports: &Ports, towards: &Towards) {
        for (node, next) in towards.iter() {
            if ports.is_host(node) {
                next.iter().for_each(|&port| self.arrive(ports, port, 0));
                continue;
            }
            self.inject(ports, towards.injecting(ports, node), node);
            for hop in 0..self.hops[node.index()] {
                // Nodes are farthest first, so no packet comes to this one any more.
                let mut inputs = std::mem::take(&mut self.at[hop]);
                let arrived = &mut inputs[ports.span(node)];
                if arrived.iter().any(|&word| word != 0) {
                    for &port in next {
                        let row = self.layer(hop).row_mut(port);
                        row.iter_mut().zip(&*arrived).for_each(|(word, arrived)| *word |= arrived);
                        self.arrive(ports, port, hop + 1);
                    }
                    arrived.fill(0);
                }
                self.at[hop] = inputs;
            }
            self.hops[node.index()] = 0;
        }
    }

    fn layer(&mut self, hop: usize) -> &mut TurnSet {
        while self.layers.len() <= hop {
            self.layers.push(TurnSet::new(self.wiring));
        }
        &mut self.layers[hop]
    }

    /// Packets that left by a port are at its far end, at hop `hop`.
    fn arrive(&mut self, ports: &Ports, port: PortId, hop: usize) {
        let input = ports.peer(port);
        let node = ports.node(input);
        if !ports.is_host(node) {
            self.make_room(ports, hop);
            set(&mut self.at[hop][ports.span(node)], ports.local(input));
            self.hops[node.index()] = self.hops[node.index()].max(hop + 1);
        }
    }

    fn inject(&mut self, ports: &Ports, hosts: &[u64], node: incast_model::fabric::NodeId) {
        if ones(hosts).next().is_some() {
            self.make_room(ports, 0);
            self.at[0][ports.span(node)].iter_mut().zip(hosts).for_each(|(word, hosts)| *word |= hosts);
            self.hops[node.index()] = self.hops[node.index()].max(1);
        }
    }

    fn make_room(&mut self, ports: &Ports, hop: usize) {
        while self.at.len() <= hop {
            self.at.push(vec![0; ports.spans()]);
        }
    }
}
