use std::collections::{HashMap, VecDeque};

use incast_deadlock::Wiring;
use incast_deadlock::dependency::Dependencies;
use incast_deadlock::elp::{Elp, PathSet, ShortestPaths};
use incast_deadlock::rules::Rules;
use incast_deadlock::tagging::{Greedy, Tagging};
use incast_deadlock::verify::verify;
use incast_model::fabric::generators::{BCube, FatTree, Jellyfish, RailOptimized};
use incast_model::fabric::{Fabric, NodeId, PortId};
use proptest::prelude::*;

use crate::common::fabrics;

fn distances(fabric: &Fabric, from: NodeId) -> HashMap<NodeId, usize> {
    let mut found = HashMap::from([(from, 0)]);
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        if at != from && fabric.host_of(at).is_some() {
            continue;
        }
        for next in fabric.ports_of(at).map(|port| fabric.neighbour(port)) {
            if !found.contains_key(&next) {
                found.insert(next, found[&at] + 1);
                queue.push_back(next);
            }
        }
    }
    found
}

fn nodes(fabric: &Fabric, path: &[PortId]) -> Vec<NodeId> {
    let first = fabric.port(path[0]).node;
    [first].into_iter().chain(path.iter().map(|&port| fabric.neighbour(port))).collect()
}

fn check(fabric: &Fabric, each: u32, seed: u64) -> Result<(), TestCaseError> {
    let wiring = Wiring::new(fabric);
    let paths = PathSet::random_shortest(&wiring, each, seed);
    prop_assert_eq!(&paths, &PathSet::random_shortest(&wiring, each, seed));
    prop_assume!(!paths.is_empty());
    let mut of_pairs: HashMap<(NodeId, NodeId), Vec<&[PortId]>> = HashMap::new();
    for path in paths.iter() {
        let nodes = nodes(fabric, path);
        let (from, to) = (nodes[0], nodes[nodes.len() - 1]);
        prop_assert!(path.iter().zip(&nodes).all(|(&port, &node)| fabric.port(port).node == node));
        prop_assert_eq!(distances(fabric, from)[&to], path.len());
        of_pairs.entry((from, to)).or_default().push(path);
    }
    for drawn in of_pairs.values_mut() {
        prop_assert!(drawn.len() <= each as usize);
        let count = drawn.len();
        drawn.sort_unstable();
        drawn.dedup();
        prop_assert_eq!(drawn.len(), count);
    }
    let elp = Elp::Paths(paths);
    let hops = elp.hops(&wiring).unwrap();
    let all = Elp::Shortest(ShortestPaths::default()).hops(&wiring).unwrap();
    prop_assert_eq!(hops.layers().len(), all.layers().len());
    for (layer, all) in hops.layers().iter().zip(all.layers()) {
        let mut beyond = layer.clone();
        beyond.subtract(all);
        prop_assert!(beyond.is_empty());
    }
    let tagged = Tagging::Greedy(Greedy::default()).rules(&wiring, &elp).unwrap();
    prop_assert!(tagged.verification.holds() && tagged.verification.walked.paths > 0);
    Ok(())
}

proptest! {
    #[test]
    fn they_are_shortest_paths_and_can_be_tagged(fabric in fabrics(), each in 1..5u32, seed in 0..9u64) {
        check(&fabric, each, seed)?;
    }
}

#[test]
fn on_generated_fabrics_too() {
    for fabric in [
        Jellyfish::new(20, 8, 4).build().unwrap(),
        BCube::new(3, 1).build().unwrap(),
        FatTree::new(4).build().unwrap(),
        RailOptimized::new(2, 2).build().unwrap(),
        RailOptimized { nvlink: None, ..RailOptimized::new(2, 2) }.build().unwrap(),
    ] {
        check(&fabric, 1, 1).unwrap();
        check(&fabric, 3, 2).unwrap();
    }
}

#[test]
fn seeds_draw_other_paths_and_more_paths_are_more() {
    let fabric = FatTree::new(4).build().unwrap();
    let wiring = Wiring::new(&fabric);
    let drawn = |each, seed| PathSet::random_shortest(&wiring, each, seed);
    assert!(drawn(1, 1) != drawn(1, 2));
    // 8 edge switches with hosts, each with a path within.
    assert_eq!(drawn(1, 1).len(), 8 * 7 + 8);
    assert!(drawn(2, 1).len() > drawn(1, 1).len());
    // 4 shortest paths between pods, 2 within one.
    assert_eq!(drawn(200, 1).len(), 8 * (6 * 4 + 2) + 8);
    let hops = |paths| Elp::Paths(paths).hops(&wiring).unwrap();
    assert!(hops(drawn(200, 1)) == Elp::Shortest(ShortestPaths::default()).hops(&wiring).unwrap());
}

#[test]
fn who_closes_a_cycle_is_told_by_an_example() {
    let fabric = Jellyfish::new(20, 8, 4).build().unwrap();
    let wiring = Wiring::new(&fabric);
    let elp = Elp::Paths(PathSet::random_shortest(&wiring, 4, 1));
    let report = Dependencies::of_paths(&wiring, &elp).unwrap().report(&wiring, 1, Some(&elp)).unwrap();
    let users = &report.components[0].cycles[0].users;
    assert!(users.iter().all(|users| users.paths >= Some(1) && users.place.is_none() && users.example.is_some()));
    let text = report.to_string();
    assert!(text.contains(" paths, such as h") || text.contains("one path: h"), "{text}");
}

#[test]
fn every_host_is_walked() {
    let fabric = Jellyfish::new(10, 8, 4).build().unwrap();
    let wiring = Wiring::new(&fabric);
    let elp = Elp::Paths(PathSet::random_shortest(&wiring, 1, 1));
    let rules = Tagging::Greedy(Greedy::default()).rules(&wiring, &elp).unwrap().rules;
    let host = |port: PortId| fabric.host_of(fabric.neighbour(port)).is_some();
    let without = |at_end: bool| {
        let all: Vec<_> =
            rules.turns().flat_map(|(tag, new, turns)| turns.iter().map(move |turn| (tag, new, turn))).collect();
        let end = |(input, output): (PortId, PortId)| if at_end { output } else { input };
        let ports = all.iter().map(|&(_, _, turn)| end(turn)).filter(|&port| host(port));
        let left_out = ports.max().unwrap();
        let mut rest = Rules::new(&wiring);
        for (tag, new, (input, output)) in all {
            if end((input, output)) != left_out {
                rest.insert(tag, input, output, new).unwrap();
            }
        }
        verify(&wiring, &rest, &elp).unwrap()
    };
    for at_end in [false, true] {
        let found = without(at_end);
        assert!(found.deadlock_free() && !found.complete());
        let named: &[String] = &found.lossy_named[0].path.0;
        assert!(if at_end { named.last() } else { named.first() }.unwrap().starts_with('h'), "{named:?}");
    }
}
