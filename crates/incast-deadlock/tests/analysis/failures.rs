//! Cyclic dependencies under failures, against a separate search that follows every packet to every host.

use std::collections::{HashMap, HashSet, VecDeque};

use incast_deadlock::Wiring;
use incast_deadlock::dependency::{Dependencies, Failures, Rerouting};
use incast_deadlock::elp::{Elp, ShortestPaths};
use incast_model::fabric::{Fabric, LinkId, NodeId, NodeKind, PortId};
use incast_model::routing::{NextHopOrder, Routes};
use proptest::prelude::*;

use crate::common::fabrics;

type Turns = HashSet<(PortId, PortId)>;

fn is_host(fabric: &Fabric, node: NodeId) -> bool {
    fabric.node(node).kind == NodeKind::Host
}

fn far(fabric: &Fabric, port: PortId) -> (PortId, NodeId) {
    (fabric.port(port).peer, fabric.neighbour(port))
}

fn next_hops(fabric: &Fabric, dst: NodeId) -> HashMap<NodeId, Vec<PortId>> {
    let mut distance = HashMap::from([(dst, 0)]);
    let mut queue = VecDeque::from([dst]);
    while let Some(node) = queue.pop_front() {
        if is_host(fabric, node) && node != dst {
            continue;
        }
        for port in fabric.ports_of(node) {
            let next = fabric.neighbour(port);
            if !distance.contains_key(&next) {
                distance.insert(next, distance[&node] + 1);
                queue.push_back(next);
            }
        }
    }
    let nodes = (0..fabric.nodes().len() as u32).map(NodeId).filter(|node| *node != dst);
    let closer = |node: NodeId| {
        let good = |port: &PortId| {
            let next = fabric.neighbour(*port);
            let forwards = !is_host(fabric, next) || next == dst;
            forwards && distance[&next] + 1 == distance[&node]
        };
        fabric.ports_of(node).filter(good).collect()
    };
    nodes.map(|node| (node, closer(node))).collect()
}

type Packet = (PortId, u8);

fn turns(fabric: &Fabric, down: &[LinkId], detours: u8) -> Turns {
    let mut all = Turns::new();
    let up = |port: PortId| !down.contains(&fabric.port(port).link);
    for &dst in fabric.hosts() {
        let hops = next_hops(fabric, dst);
        let sources = fabric.hosts().iter().filter(|host| **host != dst).flat_map(|host| &hops[host]);
        let sources: Vec<PortId> = sources.map(|&port| far(fabric, port).0).collect();
        let (mut seen, mut way) = (HashSet::new(), sources.clone());
        while let Some(input) = way.pop() {
            let node = fabric.port(input).node;
            if is_host(fabric, node) || !seen.insert(input) {
                continue;
            }
            for &output in &hops[&node] {
                if up(input) && up(output) {
                    all.insert((input, output));
                }
                way.push(far(fabric, output).0);
            }
        }
        let mut moves: Vec<(Packet, PortId, Packet)> = Vec::new();
        let mut way: Vec<Packet> = sources.iter().map(|&port| (port, 0)).collect();
        let mut seen: HashSet<Packet> = HashSet::new();
        while let Some((input, made)) = way.pop() {
            let node = fabric.port(input).node;
            if is_host(fabric, node) || !seen.insert((input, made)) {
                continue;
            }
            let left: Vec<PortId> = hops[&node].iter().copied().filter(|&port| up(port)).collect();
            let outputs: Vec<(PortId, u8)> = if !left.is_empty() {
                left.into_iter().map(|port| (port, made)).collect()
            } else if made < detours {
                let other = |&port: &PortId| port != input && up(port) && !is_host(fabric, fabric.neighbour(port));
                fabric.ports_of(node).filter(other).map(|port| (port, made + 1)).collect()
            } else {
                Vec::new()
            };
            for (output, made_then) in outputs {
                let to = (far(fabric, output).0, made_then);
                moves.push(((input, made), output, to));
                way.push(to);
            }
        }
        let mut good: HashSet<Packet> = HashSet::new();
        loop {
            let ends = |to: &Packet| fabric.port(to.0).node == dst || good.contains(to);
            let more: Vec<_> = moves.iter().filter(|(from, _, to)| ends(to) && !good.contains(from)).collect();
            if more.is_empty() {
                break;
            }
            let more: Vec<_> = more.into_iter().map(|(from, ..)| *from).collect();
            good.extend(more);
        }
        for ((input, _), output, to) in moves {
            if fabric.port(to.0).node == dst || good.contains(&to) {
                all.insert((input, output));
            }
        }
    }
    all
}

fn cyclic(fabric: &Fabric, turns: &Turns) -> bool {
    let mut edges: HashSet<(PortId, PortId)> = turns
        .iter()
        .map(|&(input, output)| (input, far(fabric, output)))
        .filter(|(_, (_, node))| !is_host(fabric, *node))
        .map(|(input, (next, _))| (input, next))
        .collect();
    loop {
        let waiting: HashSet<PortId> = edges.iter().map(|(input, _)| *input).collect();
        let before = edges.len();
        edges.retain(|(_, next)| waiting.contains(next));
        if edges.len() == before {
            return before > 0;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn failures_are_counted_as_by_following_every_packet(fabric in fabrics(), detours in 1..3u8) {
        let wiring = Wiring::new(&fabric);
        let routes = Routes::shortest(&fabric, NextHopOrder::Port);
        let between = |link: &LinkId| {
            [fabric.link(*link).a, fabric.link(*link).b].iter().all(|&port| !is_host(&fabric, fabric.port(port).node))
        };
        let links: Vec<LinkId> = (0..fabric.links().len() as u32).map(LinkId).filter(between).collect();
        let rerouting = Rerouting::Local { bounces: detours };
        let single: Vec<Vec<LinkId>> = links.iter().map(|&link| vec![link]).collect();
        let pairs = links.iter().enumerate().flat_map(|(at, &a)| links[at + 1..].iter().map(move |&b| vec![a, b]));
        for (failures, sets) in [(Failures::Single, single), (Failures::Double, pairs.collect())] {
            let report = Dependencies::under_failures(&wiring, &routes, &failures, rerouting, 0).unwrap();
            let expected = sets.iter().filter(|down| cyclic(&fabric, &turns(&fabric, down, detours))).count();
            prop_assert_eq!((report.sets, report.cyclic), (sets.len(), expected));
            prop_assert_eq!(report.cyclic_before, cyclic(&fabric, &turns(&fabric, &[], detours)));
        }
    }

    #[test]
    fn plain_routes_are_all_shortest_paths(fabric in fabrics()) {
        let wiring = Wiring::new(&fabric);
        let routes = Routes::shortest(&fabric, NextHopOrder::Port);
        let of_routes = Dependencies::turns_on(&wiring, &Elp::Routes(&routes)).unwrap();
        let shortest = Dependencies::turns_on(&wiring, &Elp::Shortest(ShortestPaths::default())).unwrap();
        let to_switches = |turns: &incast_deadlock::TurnSet| -> Turns {
            turns.iter().filter(|&(_, output)| !is_host(&fabric, fabric.neighbour(output))).collect()
        };
        prop_assert_eq!(to_switches(&of_routes), to_switches(&shortest));
    }
}

#[test]
fn paths_keep_off_links_that_are_down() {
    let fabric = crate::common::testbed();
    let down = [crate::common::link(&fabric, "T1", "L1")];
    let wiring = Wiring::without(&fabric, &down);
    let ports = [fabric.link(down[0]).a, fabric.link(down[0]).b];
    for elp in [
        Elp::Shortest(ShortestPaths::default()),
        Elp::UpDown(incast_deadlock::elp::UpDown { bounces: 1 }),
        Elp::Paths(incast_deadlock::elp::PathSet::random_shortest(&wiring, 2, 1)),
    ] {
        let turns = Dependencies::turns_on(&wiring, &elp).unwrap();
        assert!(!turns.is_empty());
        assert!(turns.iter().all(|(input, output)| !ports.contains(&input) && !ports.contains(&output)), "{elp:?}");
    }
    let taken = incast_deadlock::elp::PathSet::parse(&wiring, "H1 T1 L1 T2 H5").unwrap_err();
    assert_eq!(taken.to_string(), "line 1: the link between T1 and L1 is down");
}
