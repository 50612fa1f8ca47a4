mod descriptions;
mod direct;
mod flow;
mod rails;
mod trees;

use std::collections::HashSet;

use super::*;
use crate::fabric::generators::{parse_topology, write_topology};
use crate::fabric::{Fabric, HostId, NodeId, write_dot};
use crate::routing::{NextHopOrder, Routes};

fn check(fabric: &Fabric) {
    let mut next = 0;
    for node in (0..fabric.nodes().len() as u32).map(NodeId) {
        for (local, id) in fabric.ports_of(node).enumerate() {
            let port = fabric.port(id);
            assert_eq!((id.0, port.node, port.local as usize), (next, node, local));
            assert_eq!(fabric.port(port.peer).peer, id);
            assert_eq!((fabric.rate(id), fabric.delay(id)), (fabric.rate(port.peer), fabric.delay(port.peer)));
            next += 1;
        }
    }
    assert!(fabric.hosts().iter().enumerate().all(|(host, node)| node.index() == host));
    let names: HashSet<&str> = fabric.nodes().iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names.len(), fabric.nodes().len());
    let back = parse_topology(&write_topology(fabric), "t.txt").unwrap().fabric().unwrap();
    assert_eq!((back.links(), back.ports(), back.hosts()), (fabric.links(), fabric.ports(), fabric.hosts()));
    assert_eq!(write_dot(fabric).matches(" -- ").count(), fabric.links().len());
}

fn check_single(fabric: &Fabric) {
    check(fabric);
    assert!(fabric.hosts().iter().all(|&host| fabric.ports_of(host).len() == 1));
}

fn named(fabric: &Fabric, prefix: &str) -> Vec<NodeId> {
    let number = |name: &str| name.strip_prefix(prefix).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
    (0..fabric.nodes().len() as u32).map(NodeId).filter(|&id| number(&fabric.node(id).name)).collect()
}

fn degrees(fabric: &Fabric, prefix: &str) -> Vec<usize> {
    let mut degrees: Vec<usize> = named(fabric, prefix).into_iter().map(|node| fabric.ports_of(node).len()).collect();
    degrees.sort_unstable();
    degrees.dedup();
    degrees
}

struct Ways<'a> {
    fabric: &'a Fabric,
    routes: Routes,
}

impl<'a> Ways<'a> {
    fn new(fabric: &'a Fabric) -> Self {
        Self { fabric, routes: Routes::shortest(fabric, NextHopOrder::Port) }
    }

    fn paths(&self, from: u32, to: u32) -> usize {
        self.paths_from(self.fabric.hosts()[from as usize], HostId(to))
    }

    fn paths_from(&self, from: NodeId, to: HostId) -> usize {
        if self.fabric.hosts()[to.index()] == from {
            return 1;
        }
        let hops = self.routes.next_hops(from, to).iter();
        hops.map(|&port| self.paths_from(self.fabric.neighbour(port), to)).sum()
    }

    fn first(&self, from: u32, to: u32) -> Vec<&str> {
        let (mut node, end) = (self.fabric.hosts()[from as usize], self.fabric.hosts()[to as usize]);
        let mut names = vec![self.fabric.node(node).name.as_str()];
        while node != end {
            node = self.fabric.neighbour(self.routes.next_hops(node, HostId(to))[0]);
            names.push(&self.fabric.node(node).name);
        }
        names
    }

    fn links(&self, from: u32, to: u32) -> usize {
        self.first(from, to).len() - 1
    }

    fn diameter(&self) -> usize {
        let hosts = self.fabric.hosts().len() as u32;
        (0..hosts).flat_map(|a| (0..hosts).map(move |b| self.links(a, b))).max().unwrap()
    }
}
