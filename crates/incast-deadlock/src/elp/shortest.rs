use incast_model::fabric::NodeId;
use incast_model::rng::{Stream, stream};
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::towards::{Hop, Towards};
use crate::bits::ones;
use crate::wiring::Ports;

/// Shortest paths between all hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ShortestPaths {
    /// Choice among shortest paths; default all.
    pub choice: Choice,
    /// Roots of trees; default switches. `host` changes only random trees.
    pub roots: Roots,
    /// Seed of random trees; default 1 (our choice).
    pub seed: u64,
    /// If true (default), includes paths within a switch. They are on no cycle, but need rules if hosts' packets have their own
    /// tag.
    pub within_switch: bool,
}

impl Default for ShortestPaths {
    fn default() -> Self {
        Self { choice: Choice::All, roots: Roots::Switch, seed: 1, within_switch: true }
    }
}

/// Choice among shortest paths to a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// All (ECMP).
    #[default]
    All,
    /// Breadth-first tree from the destination; ports in random order.
    FirstFound,
    /// Tree of random next hops.
    Random,
    /// Breadth-first tree from the destination; ports in order.
    FirstPort,
}

/// Root of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Roots {
    /// A switch with its single-linked hosts; hosts with several links have their own tree.
    #[default]
    Switch,
    /// A host.
    Host,
}

/// Switch with its single-linked hosts, or host with several links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target(pub(crate) NodeId);

pub(crate) fn targets(ports: &Ports) -> Vec<Target> {
    let nodes = (0..ports.nodes() as u32).map(NodeId).filter(|&node| ports.is_routed(node));
    nodes
        .filter(|&node| ports.is_host(node) || ports.single_hosts(node).iter().any(|&word| word != 0))
        .map(Target)
        .collect()
}

impl ShortestPaths {
    pub(crate) fn towards(&self, ports: &Ports, target: Target, scratch: &mut Scratch, each: &mut dyn FnMut(&Towards)) {
        scratch.search.run(ports, target.0);
        let root = |host: NodeId| stream(self.seed, "tree", u64::from(host.0));
        let Scratch { search, trees, towards } = scratch;
        let deliveries: Vec<Hop> = match ports.is_host(target.0) {
            true => Vec::new(),
            false => {
                ones(ports.single_hosts(target.0)).map(|local| Hop::new(ports, ports.port(target.0, local))).collect()
            }
        };
        let alike = matches!(self.choice, Choice::All | Choice::FirstPort);
        if self.roots == Roots::Switch || ports.is_host(target.0) {
            self.one((search, trees), &mut root(target.0), &deliveries, towards);
            each(towards);
            return;
        }
        for (at, delivery) in deliveries.iter().enumerate() {
            if at == 0 || !alike {
                self.one((search, trees), &mut root(delivery.far), &[*delivery], towards);
            } else {
                towards.set_last(*delivery);
            }
            each(towards);
        }
    }

    fn one(&self, (search, trees): (&Search, &mut Trees), rng: &mut Stream, deliveries: &[Hop], towards: &mut Towards) {
        towards.clear();
        match self.choice {
            Choice::All => search.iter().rev().for_each(|(node, hops)| towards.push(node, hops.iter().copied())),
            Choice::Random => search.iter().rev().for_each(|(node, hops)| {
                towards.push(node, [hops[below(hops.len(), rng)]]);
            }),
            Choice::FirstFound => trees.first_found(search, Some(rng), towards),
            Choice::FirstPort => trees.first_found(search, None, towards),
        }
        if !deliveries.is_empty() {
            towards.push(search.target, deliveries.iter().copied());
            if !self.within_switch {
                towards.mute_last();
            }
        }
    }
}

pub(crate) fn below(bound: usize, rng: &mut impl Rng) -> usize {
    (((rng.next_u64() >> 32) * bound as u64) >> 32) as usize
}

#[derive(Debug)]
pub(crate) struct Scratch {
    search: Search,
    trees: Trees,
    towards: Towards,
}

impl Scratch {
    pub(crate) fn new(ports: &Ports) -> Self {
        Self { search: Search::new(ports), trees: Trees::new(ports), towards: Towards::default() }
    }
}

/// All ports one hop closer to a target.
#[derive(Debug)]
struct Search {
    target: NodeId,
    /// By node; `u32::MAX`: unreachable.
    distance: Vec<u32>,
    /// Nearest first, without the target.
    order: Vec<NodeId>,
    first: Vec<u32>,
    hops: Vec<Hop>,
}

impl Search {
    fn new(ports: &Ports) -> Self {
        let distance = vec![u32::MAX; ports.nodes()];
        let (order, first, hops) = Default::default();
        Self { target: NodeId(0), distance, order, first, hops }
    }

    fn run(&mut self, ports: &Ports, target: NodeId) {
        self.order.iter().for_each(|node| self.distance[node.index()] = u32::MAX);
        self.distance[self.target.index()] = u32::MAX;
        self.target = target;
        self.distance[target.index()] = 0;
        self.order.clear();
        self.order.push(target);
        let mut next = 0;
        while let Some(&node) = self.order.get(next) {
            next += 1;
            if ports.is_host(node) && node != target {
                continue;
            }
            let distance = self.distance[node.index()] + 1;
            for &port in ports.trunks(node) {
                let far = ports.far(port);
                if self.distance[far.index()] == u32::MAX {
                    self.distance[far.index()] = distance;
                    self.order.push(far);
                }
            }
        }
        self.order.remove(0);
        self.find_hops(ports);
    }

    fn find_hops(&mut self, ports: &Ports) {
        self.hops.clear();
        self.first.clear();
        self.first.push(0);
        for &node in &self.order {
            let distance = self.distance[node.index()];
            let closer = |far: NodeId| {
                self.distance[far.index()].wrapping_add(1) == distance && (!ports.is_host(far) || far == self.target)
            };
            let hops = ports.trunks(node).iter().map(|&port| Hop::new(ports, port));
            self.hops.extend(hops.filter(|hop| closer(hop.far)));
            self.first.push(self.hops.len() as u32);
        }
    }

    fn iter(&self) -> impl DoubleEndedIterator<Item = (NodeId, &[Hop])> {
        self.order
            .iter()
            .enumerate()
            .map(|(at, &node)| (node, &self.hops[self.first[at] as usize..self.first[at + 1] as usize]))
    }
}

#[derive(Debug)]
struct Trees {
    /// By node.
    place: Vec<u32>,
    level: Vec<(u64, NodeId)>,
    chosen: Vec<Hop>,
}

impl Trees {
    fn new(ports: &Ports) -> Self {
        Self { place: vec![0; ports.nodes()], level: Vec::new(), chosen: Vec::new() }
    }

    /// Breadth-first search with ports in random order or by number.
    ///
    /// Only its place in the queue makes a node a parent: one [`Search`] serves all trees, and a tree does not visit every
    /// port.
    fn first_found(&mut self, search: &Search, mut rng: Option<&mut Stream>, towards: &mut Towards) {
        self.chosen.clear();
        self.place[search.target.index()] = 0;
        let farthest = search.order.last().map_or(0, |node| search.distance[node.index()]);
        let (mut at, mut next) = (0, 1);
        for distance in 1..=farthest {
            self.level.clear();
            while let Some(&node) = search.order.get(at).filter(|node| search.distance[node.index()] == distance) {
                let hop = self.parent(search, at, rng.as_deref_mut());
                self.chosen.push(hop);
                at += 1;
                // Places in the last level are never read.
                if distance < farthest {
                    let tie = rng.as_deref_mut().map_or(hop.input.0, |rng| (rng.next_u64() >> 32) as u32);
                    self.level.push((u64::from(self.place[hop.far.index()]) << 32 | u64::from(tie), node));
                }
            }
            self.level.sort_unstable();
            for &(_, node) in &self.level {
                self.place[node.index()] = next;
                next += 1;
            }
        }
        let chosen = search.order.iter().zip(&self.chosen).rev();
        chosen.for_each(|(&node, &hop)| towards.push(node, [hop]));
    }

    /// Of parallel links a random one, or that with the parent's lowest port.
    fn parent(&self, search: &Search, at: usize, rng: Option<&mut Stream>) -> Hop {
        let hops = &search.hops[search.first[at] as usize..search.first[at + 1] as usize];
        let place = |hop: &Hop| self.place[hop.far.index()];
        let parent = hops.iter().min_by_key(|&hop| place(hop)).expect("a node that was reached has a next hop").far;
        let mut parallel = hops.iter().copied().filter(|hop| hop.far == parent);
        match rng {
            Some(rng) => {
                let count = parallel.clone().count();
                let chosen = if count == 1 { 0 } else { below(count, rng) };
                parallel.nth(chosen)
            }
            None => parallel.min_by_key(|hop| hop.input),
        }
        .expect("the parent is among them")
    }
}
