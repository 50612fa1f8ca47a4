//! Turns at switches: packets from one link leave by another. A deadlock needs a cycle of turns.

use std::collections::BTreeMap;

use incast_model::fabric::{Fabric, HostId, NodeId, NodeKind, PortId};
use incast_model::routing::Routes;

/// Most pairs of a switch and a class of destinations for which turns are found (our choice): some tenths of a second.
const MOST: usize = 1 << 22;

/// False if packets that follow the routes cannot wait for each other in a circle. True also if the fabric is too large to know.
pub(crate) fn may_wait_in_a_circle(fabric: &Fabric, routes: &Routes) -> bool {
    let switches: Vec<NodeId> = switches(fabric).collect();
    let mut one_of_class = BTreeMap::new();
    for host in (0..fabric.hosts().len() as u32).map(HostId) {
        one_of_class.entry(routes.class(host)).or_insert(host);
    }
    if switches.len() * one_of_class.len() > MOST {
        return true;
    }
    let mut turns = Turns::new(fabric);
    for &dst in one_of_class.values() {
        for &switch in &switches {
            for &from in routes.next_hops(switch, dst) {
                let next = fabric.neighbour(from);
                if fabric.node(next).kind == NodeKind::Switch {
                    routes.next_hops(next, dst).iter().for_each(|&to| turns.add(from, fabric.port(to).local as usize));
                }
            }
        }
    }
    turns.have_cycle(fabric)
}

fn switches(fabric: &Fabric) -> impl Iterator<Item = NodeId> {
    let nodes = (0..fabric.nodes().len() as u32).map(NodeId);
    nodes.filter(|&node| fabric.node(node).kind == NodeKind::Switch)
}

/// By egress port, and so by link in one direction: ports by which its packets leave the far end, as bits.
struct Turns {
    words: usize,
    bits: Vec<u64>,
}

impl Turns {
    fn new(fabric: &Fabric) -> Self {
        let most = switches(fabric).map(|switch| fabric.ports_of(switch).len()).max().unwrap_or(0);
        let words = most.div_ceil(64);
        Self { words, bits: vec![0; words * fabric.ports().len()] }
    }

    fn add(&mut self, from: PortId, to: usize) {
        self.bits[from.index() * self.words + to / 64] |= 1 << (to % 64);
    }

    fn next(&self, fabric: &Fabric, from: PortId) -> impl Iterator<Item = PortId> {
        let row = &self.bits[from.index() * self.words..][..self.words];
        let first = fabric.ports_of(fabric.neighbour(from)).next().map_or(0, |port| port.0);
        let ports = (0u32..)
            .zip(row)
            .flat_map(|(word, &bits)| (0..64).filter(move |bit| bits >> bit & 1 != 0).map(move |bit| 64 * word + bit));
        ports.map(move |local| PortId(first + local))
    }

    /// Takes away links to which no other turns; a cycle is left over.
    fn have_cycle(&self, fabric: &Fabric) -> bool {
        let links = || (0..fabric.ports().len() as u32).map(PortId);
        let mut before = vec![0u32; fabric.ports().len()];
        links().flat_map(|link| self.next(fabric, link)).for_each(|to| before[to.index()] += 1);
        let mut free: Vec<PortId> = links().filter(|link| before[link.index()] == 0).collect();
        let mut left = before.len();
        while let Some(link) = free.pop() {
            left -= 1;
            for to in self.next(fabric, link) {
                before[to.index()] -= 1;
                if before[to.index()] == 0 {
                    free.push(to);
                }
            }
        }
        left > 0
    }
}

#[cfg(test)]
mod tests {
    use incast_model::fabric::FabricBuilder;
    use incast_model::fabric::generators::{FatTree, LeafSpine};
    use incast_model::routing::{NextHopOrder, Paths};
    use incast_model::units::{Rate, Time};

    use super::*;

    fn may(fabric: &Fabric) -> bool {
        may_wait_in_a_circle(fabric, &Routes::of(fabric, Paths::Shortest, NextHopOrder::default()))
    }

    fn ring(switches: usize) -> Fabric {
        let mut builder = FabricBuilder::new();
        let nodes: Vec<_> = (0..switches).map(|number| builder.switch(format!("s{number}"), 1)).collect();
        for (number, &node) in nodes.iter().enumerate() {
            let host = builder.host(format!("h{number}"));
            builder.link(host, node, Rate::gbps(100), Time::us(1));
            builder.link(node, nodes[(number + 1) % switches], Rate::gbps(100), Time::us(1));
        }
        builder.finish().expect("a fabric")
    }

    #[test]
    fn trees_have_no_cycle_of_turns() {
        assert!(!may(&LeafSpine::new(3, 2, 4).build().expect("a fabric")));
        assert!(!may(&FatTree::new(4).build().expect("a fabric")));
    }

    #[test]
    fn rings_have_one_if_paths_have_two_links_of_the_ring() {
        assert_eq!([3, 4, 5].map(|switches| may(&ring(switches))), [false, true, true]);
    }
}
