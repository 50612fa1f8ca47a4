use incast_model::fabric::{NodeId, PortId};

use super::error::ElpError;
use super::paths::PathSet;
use super::towards::{Hop, Towards};
use super::{Destinations, Elp};
use crate::bits::{ones, set};
use crate::threads::spread;
use crate::turns::TurnSet;
use crate::wiring::{Ports, Wiring};

/// Turns of paths by hop; hop 0 is a packet's first switch.
///
/// The graph of Algorithm 1 (Hu et al., CoNEXT 2017) before merging tags: vertices are ingress ports at a hop, edges turns.
/// Paths are not stored: memory depends on turns only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hops {
    layers: Vec<TurnSet>,
}

impl Hops {
    /// Turns at each hop; one hop per switch on the longest path.
    pub fn layers(&self) -> &[TurnSet] {
        &self.layers
    }

    /// Turns of all hops.
    pub fn turns(&self, wiring: &Wiring<'_>) -> TurnSet {
        let mut all = TurnSet::new(wiring);
        self.layers.iter().for_each(|layer| all.union(layer));
        all
    }
}

impl Elp<'_> {
    /// Turns at each hop.
    pub fn hops(&self, wiring: &Wiring<'_>) -> Result<Hops, ElpError> {
        let mut layers = match self {
            Self::Paths(paths) => of_paths(wiring, paths),
            Self::UpDown(up_down) => up_down.hops(wiring)?,
            Self::Shortest(_) | Self::Routes(_) => of_destinations(wiring, &Destinations::new(wiring, self))?,
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
        let [entries, exits] = paths.ends(wiring, path);
        for (hop, pair) in path.windows(2).enumerate() {
            if layers.len() <= hop {
                layers.push(TurnSet::new(wiring));
            }
            let inputs = if hop == 0 { &entries } else { &vec![wiring.peer(pair[0])] };
            let outputs = if hop + 2 == path.len() { &exits } else { &vec![pair[1]] };
            for &output in outputs {
                inputs.iter().for_each(|&input| {
                    layers[hop].insert(input, output);
                });
            }
        }
    }
    layers
}

fn of_destinations(wiring: &Wiring<'_>, destinations: &Destinations<'_, '_>) -> Result<Vec<TurnSet>, ElpError> {
    let start = || (destinations.tables(), Collector::new(wiring), Ok(()));
    let parts = spread("destinations", destinations.len(), start, |(tables, collector, result), at| {
        if result.is_ok() {
            *result = destinations.each(at, tables, &mut |towards| collector.add(towards));
        }
    });
    let mut all = Vec::new();
    for (_, collector, result) in parts {
        result?;
        merge(&mut all, collector.finish());
    }
    Ok(all)
}

fn merge(all: &mut Vec<TurnSet>, part: Vec<TurnSet>) {
    for (hop, layer) in part.into_iter().enumerate() {
        match all.get_mut(hop) {
            Some(sum) => sum.union(&layer),
            None => all.push(layer),
        }
    }
}

struct Collector<'w, 'f> {
    wiring: &'w Wiring<'f>,
    layers: Vec<TurnSet>,
    /// Egress ports of all single-linked hosts of a switch at hop 0, a bit each; compact until the end, as they are most turns.
    entries: Vec<u64>,
    /// By hop: a bit per ingress port.
    at: Vec<Vec<u64>>,
    /// By node: last hop with packets, plus one.
    hops: Vec<u32>,
}

impl<'w, 'f> Collector<'w, 'f> {
    fn new(wiring: &'w Wiring<'f>) -> Self {
        let entries = vec![0; wiring.spans()];
        Self { wiring, layers: Vec::new(), entries, at: Vec::new(), hops: vec![0; wiring.nodes()] }
    }

    fn add(&mut self, towards: &Towards) {
        let ports: &Ports = self.wiring;
        for (node, next) in towards.iter() {
            if ports.is_host(node) {
                next.iter().for_each(|hop| self.arrive(hop, 0));
                continue;
            }
            let hosts = towards.injecting(ports, node);
            if hosts.iter().any(|&word| word != 0) {
                self.enter(node, hosts, next);
            }
            for hop in 0..std::mem::take(&mut self.hops[node.index()]) as usize {
                self.pass(node, hop, next);
            }
        }
    }

    fn enter(&mut self, node: NodeId, hosts: &[u64], next: &[Hop]) {
        let ports: &Ports = self.wiring;
        for hop in next {
            if std::ptr::eq(hosts, ports.single_hosts(node)) {
                set(&mut self.entries[ports.span(node)], ports.local_at(node, hop.port));
            } else {
                self.turn(0, hosts, hop.port);
            }
            self.arrive(hop, 1);
        }
    }

    fn pass(&mut self, node: NodeId, hop: usize, next: &[Hop]) {
        let mut inputs = std::mem::take(&mut self.at[hop]);
        let arrived = &mut inputs[self.wiring.span(node)];
        if arrived.iter().any(|&word| word != 0) {
            for to in next {
                self.turn(hop, arrived, to.port);
                self.arrive(to, hop + 1);
            }
            arrived.fill(0);
        }
        self.at[hop] = inputs;
    }

    #[inline]
    fn turn(&mut self, hop: usize, inputs: &[u64], output: PortId) {
        while self.layers.len() <= hop {
            self.layers.push(TurnSet::new(self.wiring));
        }
        let row = self.layers[hop].row_mut(output);
        row.iter_mut().zip(inputs).for_each(|(word, inputs)| *word |= inputs);
    }

    #[inline]
    fn arrive(&mut self, &Hop { input, far, .. }: &Hop, hop: usize) {
        let ports: &Ports = self.wiring;
        if !ports.is_host(far) {
            while self.at.len() <= hop {
                self.at.push(vec![0; ports.spans()]);
            }
            set(&mut self.at[hop][ports.span(far)], ports.local_at(far, input));
            let hops = &mut self.hops[far.index()];
            *hops = (*hops).max(hop as u32 + 1);
        }
    }

    fn finish(mut self) -> Vec<TurnSet> {
        let ports: &Ports = self.wiring;
        for switch in ports.switches() {
            let entered: Vec<usize> = ones(&self.entries[ports.span(switch)]).collect();
            entered.into_iter().for_each(|local| self.turn(0, ports.single_hosts(switch), ports.port(switch, local)));
        }
        self.layers
    }
}
