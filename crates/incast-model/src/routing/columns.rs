//! Next hops of all nodes towards one destination after another.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::rc::Rc;

use super::distances::{closer, distances};
use super::order::NextHopOrder;
use super::updown::UpDownDistances;
use crate::fabric::{Fabric, NodeId, NodeKind, PortId};

/// First and number of a list's hops.
pub(super) type Group = (u32, u32);

/// Next hops towards a destination.
pub(super) struct Column {
    /// By node.
    groups: Rc<[Group]>,
    /// Nodes with other ones.
    others: Vec<(NodeId, Group)>,
}

/// Column towards a switch, and hops to it by node.
struct Base {
    groups: Rc<[Group]>,
    hops: Vec<u32>,
}

pub(super) struct Columns<'a> {
    fabric: &'a Fabric,
    order: NextHopOrder,
    up: &'a dyn Fn(PortId) -> bool,
    /// By hash of a list. Equal lists are stored once, or again on a hash collision.
    known: HashMap<u64, Group, BuildHasherDefault<DefaultHasher>>,
    hops: Vec<PortId>,
    /// By node with one port: the list of that port.
    only: Vec<Option<Group>>,
    /// By switch with hosts that have several links.
    bases: HashMap<NodeId, Rc<Base>>,
}

fn nodes(fabric: &Fabric) -> impl Iterator<Item = NodeId> + use<> {
    (0..fabric.nodes().len() as u32).map(NodeId)
}

/// Columns that are written together: rows of 512 bytes.
const TOGETHER: usize = 64;

impl<'a> Columns<'a> {
    pub(super) fn new(fabric: &'a Fabric, order: NextHopOrder, up: &'a dyn Fn(PortId) -> bool) -> Self {
        let only = vec![None; fabric.nodes().len()];
        Self { fabric, order, up, known: HashMap::default(), hops: Vec::new(), only, bases: HashMap::new() }
    }

    pub(super) fn into_hops(self) -> Vec<PortId> {
        self.hops
    }

    /// Over shortest paths.
    pub(super) fn shortest(&mut self, target: NodeId) -> Column {
        match self.switch_of(target) {
            Some(switch) => self.near(target, switch),
            None => {
                let hops = distances(self.fabric, target, self.up);
                Column { groups: self.of_distances(target, &hops), others: Vec::new() }
            }
        }
    }

    pub(super) fn up_down(&mut self, target: NodeId) -> Column {
        let distances = UpDownDistances::new(self.fabric, target, self.up);
        let (fabric, up) = (self.fabric, self.up);
        let groups = self.of_nodes(target, &|node| distances.next_hops(fabric, node, target, up));
        Column { groups, others: Vec::new() }
    }

    /// The largest neighbour of a host.
    fn switch_of(&self, target: NodeId) -> Option<NodeId> {
        let kind = |node| self.fabric.node(node).kind;
        let ports = self.fabric.ports_of(target).filter(|&port| (self.up)(port));
        let switches = ports.map(|port| self.fabric.neighbour(port)).filter(|&node| kind(node) == NodeKind::Switch);
        (kind(target) == NodeKind::Host).then(|| switches.max_by_key(|&node| self.fabric.ports_of(node).len()))?
    }

    /// As towards the switch, but where a way past it is as short. Of many hosts at the switch, each differs at few nodes.
    fn near(&mut self, target: NodeId, switch: NodeId) -> Column {
        let base = self.base(switch);
        let mut hops: Vec<u32> = base.hops.iter().map(|&hops| hops.saturating_add(1)).collect();
        hops[target.index()] = 0;
        let mut nearer = vec![target];
        let mut next = 0;
        while let Some(&node) = nearer.get(next) {
            next += 1;
            if self.fabric.node(node).kind == NodeKind::Host && node != target {
                continue;
            }
            for neighbour in self.neighbours(node) {
                if hops[neighbour.index()] > hops[node.index()] + 1 {
                    hops[neighbour.index()] = hops[node.index()] + 1;
                    nearer.push(neighbour);
                }
            }
        }
        let around = nearer.iter().flat_map(|&node| self.neighbours(node));
        let mut differ: Vec<NodeId> = around.chain(nearer.iter().copied()).filter(|&node| node != target).collect();
        differ.sort_unstable();
        differ.dedup();
        let others = differ.into_iter().map(|node| {
            let ports = closer(self.fabric, node, target, &hops, self.up);
            (node, self.group(ports))
        });
        Column { others: others.collect(), groups: base.groups.clone() }
    }

    fn base(&mut self, switch: NodeId) -> Rc<Base> {
        if let Some(base) = self.bases.get(&switch) {
            return base.clone();
        }
        let hops = distances(self.fabric, switch, self.up);
        let base = Rc::new(Base { groups: self.of_distances(switch, &hops), hops });
        self.bases.insert(switch, base.clone());
        base
    }

    fn neighbours(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        self.fabric.ports_of(node).filter(|&port| (self.up)(port)).map(|port| self.fabric.neighbour(port))
    }

    fn of_distances(&mut self, target: NodeId, hops: &[u32]) -> Rc<[Group]> {
        let (fabric, up) = (self.fabric, self.up);
        let mut group = |node: NodeId| match fabric.ports_of(node) {
            // Most nodes are such hosts.
            mut ports if ports.len() == 1 && hops[node.index()] != u32::MAX => self.only(node, ports.next()),
            _ => self.group(closer(fabric, node, target, hops, up)),
        };
        nodes(fabric).map(|node| if node == target { (0, 0) } else { group(node) }).collect()
    }

    fn only(&mut self, node: NodeId, port: Option<PortId>) -> Group {
        if let Some(known) = self.only[node.index()] {
            return known;
        }
        let group = self.group(port.into_iter().collect());
        self.only[node.index()] = Some(group);
        group
    }

    fn of_nodes(&mut self, target: NodeId, next: &dyn Fn(NodeId) -> Vec<PortId>) -> Rc<[Group]> {
        nodes(self.fabric).map(|node| if node == target { (0, 0) } else { self.group(next(node)) }).collect()
    }

    fn group(&mut self, mut ports: Vec<PortId>) -> Group {
        self.order.sort(self.fabric, &mut ports);
        let hash = self.known.hasher().hash_one(&ports);
        let same = |&(first, count): &Group| self.hops[first as usize..(first + count) as usize] == ports;
        if let Some(group) = self.known.get(&hash).copied().filter(same) {
            return group;
        }
        let group = (self.hops.len() as u32, ports.len() as u32);
        self.hops.extend_from_slice(&ports);
        self.known.insert(hash, group);
        group
    }
}

/// Groups of the nodes from `first` on by node, then target.
pub(super) fn table(
    targets: &[NodeId],
    (first, nodes): (usize, usize),
    mut column: impl FnMut(NodeId) -> Column,
) -> Vec<Group> {
    let mut groups = vec![(0, 0); nodes * targets.len()];
    for (block, some) in targets.chunks(TOGETHER).enumerate() {
        let columns: Vec<Column> = some.iter().map(|&target| column(target)).collect();
        let begin = block * TOGETHER;
        for row in 0..nodes {
            let cells = &mut groups[row * targets.len() + begin..][..columns.len()];
            cells.iter_mut().zip(&columns).for_each(|(cell, column)| *cell = column.groups[first + row]);
        }
        for (at, column) in (begin..).zip(&columns) {
            for &(node, group) in column.others.iter().filter(|(node, _)| node.index() >= first) {
                groups[(node.index() - first) * targets.len() + at] = group;
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::generators::RailOptimized;
    use crate::fabric::{FabricBuilder, LinkId};
    use crate::rng::mix;
    use crate::units::{Rate, Time};

    /// Compares with columns of the hosts' own distances. Returns the numbers of nodes that differ from the switch's column.
    fn compare(fabric: &Fabric, up: &dyn Fn(PortId) -> bool) -> Vec<usize> {
        let mut columns = Columns::new(fabric, NextHopOrder::Port, up);
        let mut differ = Vec::new();
        for &host in fabric.hosts() {
            let column = columns.shortest(host);
            let hops = distances(fabric, host, up);
            for node in (0..fabric.nodes().len() as u32).map(NodeId).filter(|&node| node != host) {
                let own = column.others.iter().find(|(other, _)| *other == node).map(|(_, group)| *group);
                let (first, count) = own.unwrap_or(column.groups[node.index()]);
                let found = &columns.hops[first as usize..(first + count) as usize];
                assert_eq!(found, closer(fabric, node, host, &hops, up), "{node:?} to {host:?}");
            }
            differ.push(column.others.len());
        }
        differ
    }

    /// Switches in a ring with chords, hosts with one to three links, some of them to hosts.
    fn random(seed: u64) -> Fabric {
        let mut builder = FabricBuilder::new();
        let draw = |number: u64, below: usize| (mix(seed ^ mix(number)) % below as u64) as usize;
        let switches: Vec<NodeId> = (0..9).map(|number| builder.switch(format!("s{number}"), 1)).collect();
        let hosts: Vec<NodeId> = (0..12).map(|number| builder.host(format!("h{number}"))).collect();
        let mut link = |a, b| {
            builder.link(a, b, Rate::gbps(100), Time::us(1));
        };
        (0..9).for_each(|at| link(switches[at], switches[(at + 1) % 9]));
        (0..4).for_each(|at| link(switches[at], switches[4 + draw(at as u64, 5)]));
        for (at, &host) in (1u64..).zip(&hosts) {
            (0..=draw(100 * at, 3) as u64).for_each(|one| link(host, switches[draw(100 * at + 1 + one, 9)]));
        }
        link(hosts[0], hosts[1]);
        builder.finish().unwrap()
    }

    #[test]
    fn hosts_with_several_links_have_the_next_hops_of_their_own_distances() {
        for seed in 0..40 {
            let fabric = random(seed);
            compare(&fabric, &|_| true);
            let down = LinkId(mix(seed) as u32 % fabric.links().len() as u32);
            compare(&fabric, &|port| fabric.port(port).link != down);
        }
    }

    #[test]
    fn few_nodes_differ_from_the_column_of_a_rail_switch() {
        let mut rails = RailOptimized::new(16, 4);
        rails.servers_per_pod = Some(8);
        // A GPU's two switches, the 7 other GPUs of its server, and their rail switches may reach it in another way.
        assert_eq!(compare(&rails.build().unwrap(), &|_| true), [16; 128]);
    }
}
