use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::links::Links;
use super::paths::Paths;
use super::search::{Search, TOGETHER, Targets};
use crate::fabric::{NodeId, PortId};
use crate::rng::mix;

/// First and number of a list's hops.
pub(super) type Group = (u32, u32);

/// Next hops of all nodes towards all destinations. Equal lists of a node are stored once.
pub(super) struct Table {
    /// By row, then destination.
    pub(super) groups: Vec<Group>,
    pub(super) hops: Vec<PortId>,
}

/// Which of a node's ends are next hops.
type Key = u128;

/// Lists of a node.
#[derive(Clone, Default)]
struct Row {
    known: HashMap<Key, Group, FixedState>,
    last: (Key, Group),
}

impl Table {
    /// Rows begin with node `without`.
    pub(super) fn new(links: &Links, targets: &[NodeId], without: usize, paths: Paths) -> Self {
        let nodes = || (without..links.nodes()).map(|node| NodeId(node as u32));
        let mut groups = vec![(0, 0); nodes().len() * targets.len()];
        let mut hops = Vec::new();
        let mut rows = vec![Row::default(); nodes().len()];
        let mut search = Search::new(links);
        let mut keys = [0; TOGETHER];
        for (block, some) in targets.chunks(TOGETHER).enumerate() {
            match paths {
                Paths::Shortest => search.shortest(some),
                Paths::UpDown => search.up_down(some),
            }
            for (number, (node, row)) in nodes().zip(&mut rows).enumerate() {
                let towards = search.towards(node);
                let cells = &mut groups[number * targets.len() + block * TOGETHER..][..some.len()];
                find_keys(towards, &mut keys);
                for (target, (cell, &key)) in cells.iter_mut().zip(&keys).enumerate() {
                    if row.last.0 != key {
                        let ends = links.of(node).iter().zip(towards);
                        let leads = ends.filter(|(_, targets)| targets.has(target));
                        row.last = (key, row.group(key, leads.map(|(end, _)| end.port), &mut hops));
                    }
                    *cell = row.last.1;
                }
            }
        }
        Self { groups, hops }
    }
}

impl Row {
    fn group(&mut self, key: Key, ports: impl Iterator<Item = PortId>, hops: &mut Vec<PortId>) -> Group {
        *self.known.entry(key).or_insert_with(|| {
            let first = hops.len() as u32;
            hops.extend(ports);
            (first, hops.len() as u32 - first)
        })
    }
}

/// By destination. `towards`: destinations by end.
fn find_keys(towards: &[Targets], keys: &mut [Key; TOGETHER]) {
    keys.fill(0);
    for (end, targets) in towards.iter().enumerate() {
        // For more ends, XOR of random numbers: of 10^5 lists, two have equal keys with a probability below 10^-28.
        let bit = if towards.len() <= 128 {
            1 << end
        } else {
            let number = mix(end as u64);
            u128::from(number) << 64 | u128::from(mix(!number))
        };
        targets.each(|target| keys[target] ^= bit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::generators::{LeafSpine, RailOptimized};
    use crate::fabric::{Fabric, FabricBuilder, HostId, LinkId, NodeKind};
    use crate::routing::{NextHopOrder, Routes};
    use crate::units::{Rate, Time};

    const FAR: usize = usize::MAX;

    fn nodes(fabric: &Fabric) -> Vec<NodeId> {
        (0..fabric.nodes().len() as u32).map(NodeId).collect()
    }

    /// Hops to `target` over links that `leads` accepts, by relaxation.
    fn hops(fabric: &Fabric, target: NodeId, start: Vec<usize>, leads: &dyn Fn(NodeId, PortId) -> bool) -> Vec<usize> {
        let mut hops = start;
        let forwards = |node: NodeId| node == target || fabric.node(node).kind == NodeKind::Switch;
        loop {
            let mut changed = false;
            for node in nodes(fabric) {
                for port in fabric.ports_of(node).filter(|&port| leads(node, port)) {
                    let ahead = hops[fabric.neighbour(port).index()];
                    if forwards(fabric.neighbour(port)) && ahead != FAR && ahead + 1 < hops[node.index()] {
                        hops[node.index()] = ahead + 1;
                        changed = true;
                    }
                }
            }
            if !changed {
                return hops;
            }
        }
    }

    /// Compares with next hops of each destination by itself.
    fn compare(fabric: &Fabric, up: &dyn Fn(LinkId) -> bool) {
        let tier = |node: NodeId| fabric.node(node).tier;
        let up_port = |port: PortId| up(fabric.port(port).link);
        for paths in [Paths::Shortest, Paths::UpDown] {
            let routes = Routes::along(fabric, paths, NextHopOrder::Port, up, &[]);
            for (dst, &target) in fabric.hosts().iter().enumerate() {
                let mut none = vec![FAR; fabric.nodes().len()];
                none[target.index()] = 0;
                let falls = |node, port| up_port(port) && tier(fabric.neighbour(port)) < tier(node);
                let rises = |node, port| up_port(port) && tier(fabric.neighbour(port)) > tier(node);
                let any = |_, port| up_port(port);
                let down = hops(fabric, target, none.clone(), &falls);
                let all = match paths {
                    Paths::Shortest => hops(fabric, target, none, &any),
                    Paths::UpDown => {
                        hops(fabric, target, down.clone(), &|node, port| down[node.index()] == FAR && rises(node, port))
                    }
                };
                for node in nodes(fabric).into_iter().filter(|&node| node != target) {
                    let leads = |&port: &PortId| {
                        let (next, ahead) = (fabric.neighbour(port), all[fabric.neighbour(port).index()]);
                        let allowed = match paths {
                            Paths::Shortest => up_port(port),
                            Paths::UpDown if down[node.index()] != FAR => {
                                falls(node, port) && down[next.index()] != FAR
                            }
                            Paths::UpDown => rises(node, port),
                        };
                        let forwards = next == target || fabric.node(next).kind == NodeKind::Switch;
                        allowed && forwards && ahead != FAR && ahead + 1 == all[node.index()]
                    };
                    let expected: Vec<PortId> = fabric.ports_of(node).filter(leads).collect();
                    let found = routes.next_hops(node, HostId(dst as u32));
                    assert_eq!(found, expected, "{paths:?}, {node:?} to {target:?}");
                }
            }
        }
    }

    /// Switches in a ring with chords, hosts with one to three links, some of them to hosts.
    fn random(seed: u64) -> Fabric {
        let mut builder = FabricBuilder::new();
        let draw = |number: u64, below: usize| (mix(seed ^ mix(number)) % below as u64) as usize;
        let switches: Vec<NodeId> =
            (0..9).map(|number| builder.switch(format!("s{number}"), 1 + draw(1000 + number, 3) as u8)).collect();
        let hosts: Vec<NodeId> = (0..70).map(|number| builder.host(format!("h{number}"))).collect();
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
    fn searches_at_once_find_the_next_hops_of_each_by_itself() {
        for seed in 0..10 {
            let fabric = random(seed);
            compare(&fabric, &|_| true);
            let down = |number: u64| (mix(seed ^ mix(number)) % fabric.links().len() as u64) as u32;
            let down = [down(1), down(2), down(3)].map(LinkId);
            compare(&fabric, &|link| !down.contains(&link));
        }
    }

    #[test]
    fn many_ports_and_destinations() {
        compare(&LeafSpine::new(3, 70, 2).build().unwrap(), &|_| true);
        compare(&LeafSpine::new(70, 2, 1).build().unwrap(), &|link| link.0 % 7 != 0);
        compare(&LeafSpine::new(2, 130, 1).build().unwrap(), &|link| link.0 % 5 != 0);
        let mut rails = RailOptimized::new(10, 4);
        rails.servers_per_pod = Some(5);
        compare(&rails.build().unwrap(), &|_| true);
    }
}
