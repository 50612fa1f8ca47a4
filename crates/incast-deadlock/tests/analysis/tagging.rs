//! Properties of tags and rules on any fabric.

use incast_deadlock::dependency::Dependencies;
use incast_deadlock::elp::{Choice, Elp, PathSet, Roots, ShortestPaths, UpDown};
use incast_deadlock::rules::Rules;
use incast_deadlock::tagging::{ClosScheme, Greedy, Injection, Order, Placement};
use incast_deadlock::verify::verify;
use incast_deadlock::{TurnSet, Wiring};
use incast_model::fabric::generators::{BCube, Clos, Dragonfly, FatTree, Jellyfish, LeafSpine, RailOptimized};
use incast_model::fabric::{Fabric, NodeId, PortId};
use incast_model::rng::{Stream, stream};
use incast_model::routing::{NextHopOrder, Routes};
use proptest::prelude::*;
use rand::Rng;

use crate::common::{fabrics, testbed};

fn walks(fabric: &Fabric, choices: &[(prop::sample::Index, Vec<prop::sample::Index>)]) -> PathSet {
    let wiring = Wiring::new(fabric);
    let mut paths = PathSet::new();
    for (start, turns) in choices {
        let host = fabric.hosts()[start.index(fabric.hosts().len())];
        let mut nodes = vec![host];
        let mut used: Vec<PortId> = Vec::new();
        for turn in turns {
            let at = nodes[nodes.len() - 1];
            let fresh: Vec<PortId> = fabric.ports_of(at).filter(|port| !used.contains(port)).collect();
            // `push_nodes` takes the first of parallel links.
            let first = |port: &PortId| {
                fabric.ports_of(at).find(|&p| fabric.neighbour(p) == fabric.neighbour(*port)) == Some(*port)
            };
            let fresh: Vec<PortId> = fresh.into_iter().filter(first).collect();
            if fresh.is_empty() {
                break;
            }
            let port = fresh[turn.index(fresh.len())];
            used.push(port);
            nodes.push(fabric.neighbour(port));
            if fabric.host_of(nodes[nodes.len() - 1]).is_some() {
                break;
            }
        }
        if nodes.len() > 2 && fabric.host_of(nodes[nodes.len() - 1]).is_some() {
            paths.push_nodes(&wiring, &nodes).unwrap();
        }
    }
    paths
}

fn walk_choices() -> impl Strategy<Value = Vec<(prop::sample::Index, Vec<prop::sample::Index>)>> {
    let walk = (any::<prop::sample::Index>(), proptest::collection::vec(any::<prop::sample::Index>(), 2..12));
    proptest::collection::vec(walk, 1..40)
}

/// The verifier and the search for cyclic dependencies share nothing.
fn check(wiring: &Wiring<'_>, rules: &Rules, elp: &Elp<'_>) -> Result<(), TestCaseError> {
    let verified = verify(wiring, rules, elp).unwrap();
    prop_assert!(verified.holds(), "{verified:?}");
    prop_assert!(!Dependencies::of_rules(rules).cyclic(wiring));
    Ok(())
}

fn greedies() -> impl Strategy<Value = Greedy> {
    let order = prop_oneof![Just(Order::Number), (0..9u64).prop_map(Order::Random)];
    let injection = prop_oneof![Just(Injection::Shared), Just(Injection::Own)];
    (order, injection).prop_map(|(order, injection)| Greedy { order, injection })
}

fn shortest_paths() -> impl Strategy<Value = ShortestPaths> {
    let choice =
        prop_oneof![Just(Choice::All), Just(Choice::FirstFound), Just(Choice::Random), Just(Choice::FirstPort)];
    let roots = prop_oneof![Just(Roots::Switch), Just(Roots::Host)];
    (choice, roots, 0..9u64, any::<bool>()).prop_map(|(choice, roots, seed, within_switch)| ShortestPaths {
        choice,
        roots,
        seed,
        within_switch,
    })
}

proptest! {
    #[test]
    fn rules_for_random_walks_hold(fabric in fabrics(), choices in walk_choices(), greedy in greedies()) {
        let wiring = Wiring::new(&fabric);
        let paths = walks(&fabric, &choices);
        prop_assume!(!paths.is_empty());
        let longest = paths.iter().map(|path| path.len() - 1).max().unwrap();
        let elp = Elp::Paths(paths);
        let hops = elp.hops(&wiring).unwrap();
        let per_hop = Placement::per_hop(&hops).unwrap();
        prop_assert_eq!(usize::from(per_hop.tags()), longest);
        prop_assert_eq!(per_hop.transitions().ambiguous(), 0);
        check(&wiring, &per_hop.rules(), &elp)?;
        let placement = greedy.place(&hops).unwrap();
        prop_assert!(usize::from(placement.tags()) <= longest + usize::from(greedy.injection == Injection::Own));
        check(&wiring, &placement.rules(), &elp)?;
    }

    #[test]
    fn rules_for_shortest_paths_hold(fabric in fabrics(), paths in shortest_paths(), greedy in greedies()) {
        let wiring = Wiring::new(&fabric);
        let elp = Elp::Shortest(paths);
        let hops = elp.hops(&wiring).unwrap();
        prop_assume!(!hops.layers().is_empty());
        check(&wiring, &Placement::per_hop(&hops).unwrap().rules(), &elp)?;
        check(&wiring, &greedy.place(&hops).unwrap().rules(), &elp)?;
    }

    #[test]
    fn the_simulators_routes_are_all_shortest_paths(fabric in fabrics()) {
        same_as_routes(&fabric);
    }
}

fn same_as_routes(fabric: &Fabric) {
    let wiring = Wiring::new(fabric);
    let all = Elp::Shortest(ShortestPaths::default()).hops(&wiring).unwrap();
    for order in [NextHopOrder::Port, NextHopOrder::NeighbourDescending] {
        let routes = Routes::shortest(fabric, order);
        assert!(Elp::Routes(&routes).hops(&wiring).unwrap() == all);
        let turns = Dependencies::of_routes(&wiring, &routes).report(&wiring, 1, None).unwrap();
        let from_hops = Dependencies::of_turns(all.turns(&wiring)).report(&wiring, 1, None).unwrap();
        assert_eq!(turns, from_hops);
    }
}

#[test]
fn the_simulators_routes_are_all_shortest_paths_on_every_kind_of_fabric() {
    for fabric in [
        testbed(),
        LeafSpine { uplinks_per_pair: 2, ..LeafSpine::new(3, 2, 2) }.build().unwrap(),
        FatTree::new(4).build().unwrap(),
        Clos::new(3, 4).build().unwrap(),
        Jellyfish::new(12, 6, 3).build().unwrap(),
        BCube::new(3, 1).build().unwrap(),
        Dragonfly::new(2, 2, 1).build().unwrap(),
        RailOptimized::new(2, 2).build().unwrap(),
        RailOptimized { nvlink: None, ..RailOptimized::new(2, 2) }.build().unwrap(),
    ] {
        same_as_routes(&fabric);
    }
}

#[test]
fn trees_are_made_of_shortest_paths() {
    let fabric = Jellyfish::new(20, 10, 5).build().unwrap();
    let wiring = Wiring::new(&fabric);
    let hops = |choice, roots, seed| {
        let paths = ShortestPaths { choice, roots, seed, within_switch: true };
        Elp::Shortest(paths).hops(&wiring).unwrap()
    };
    let all = hops(Choice::All, Roots::Switch, 1);
    let beyond = |hops: &incast_deadlock::elp::Hops| {
        let mut outside = 0;
        for (layer, all) in hops.layers().iter().zip(all.layers()) {
            let mut rest: TurnSet = layer.clone();
            rest.subtract(all);
            outside += rest.len();
        }
        outside
    };
    for choice in [Choice::FirstFound, Choice::Random, Choice::FirstPort] {
        let [one, each] = [Roots::Switch, Roots::Host].map(|roots| hops(choice, roots, 1));
        assert_eq!((beyond(&one), beyond(&each), one.layers().len()), (0, 0, all.layers().len()));
        let [one_turns, each_turns, all_turns] = [&one, &each, &all].map(|hops| hops.turns(&wiring).len());
        if choice == Choice::FirstPort {
            assert_eq!(one, each);
        } else {
            assert!(one_turns < each_turns && each_turns <= all_turns);
            assert!(one != hops(choice, Roots::Switch, 2) && one == hops(choice, Roots::Switch, 1));
        }
    }
}

fn up_down_paths(fabric: &Fabric, most: usize) -> PathSet {
    fn go(fabric: &Fabric, nodes: &mut Vec<NodeId>, bounces: usize, most: usize, all: &mut Vec<Vec<NodeId>>) {
        let at = nodes[nodes.len() - 1];
        let tier = |node: NodeId| fabric.node(node).tier;
        for next in fabric.ports_of(at).map(|port| fabric.neighbour(port)) {
            let before = nodes.len().checked_sub(2).map(|at| nodes[at]);
            let bounced = before.is_some_and(|before| tier(before) > tier(at) && tier(next) > tier(at));
            if before == Some(next) || bounces + usize::from(bounced) > most {
                continue;
            }
            nodes.push(next);
            match fabric.host_of(next) {
                Some(_) => all.push(nodes.clone()),
                None => go(fabric, nodes, bounces + usize::from(bounced), most, all),
            }
            nodes.pop();
        }
    }
    let mut all = Vec::new();
    fabric.hosts().iter().for_each(|&host| go(fabric, &mut vec![host], 0, most, &mut all));
    let wiring = Wiring::new(fabric);
    let mut paths = PathSet::new();
    // A repeated port is invalid in a file.
    all.iter().for_each(|nodes| drop(paths.push_nodes(&wiring, nodes)));
    paths
}

#[test]
fn up_down_paths_are_those_that_are_found_one_by_one() {
    let fabric = LeafSpine::new(3, 2, 1).build().unwrap();
    let wiring = Wiring::new(&fabric);
    for bounces in 0..2 {
        let elp = Elp::UpDown(UpDown { bounces: bounces as u8 });
        let one_by_one = Elp::Paths(up_down_paths(&fabric, bounces));
        let [whole, paths] = [&elp, &one_by_one].map(|elp| elp.hops(&wiring).unwrap());
        assert!(whole == paths, "{bounces} bounces");
        for order in [Order::Number, Order::Random(1), Order::Random(2)] {
            let greedy = Greedy { order, ..Greedy::default() };
            let rules = greedy.place(&whole).unwrap().rules();
            assert!(verify(&wiring, &rules, &elp).unwrap().holds());
            assert!(verify(&wiring, &rules, &one_by_one).unwrap().holds());
        }
    }
}

#[test]
fn with_the_largest_new_tag_some_packets_become_lossy() {
    let fabric = Jellyfish::new(50, 16, 8).build().unwrap();
    let wiring = Wiring::new(&fabric);
    let elp = Elp::Shortest(ShortestPaths::default());
    let hops = elp.hops(&wiring).unwrap();
    let placement = Greedy { order: Order::Random(1), ..Greedy::default() }.place(&hops).unwrap();
    let transitions = placement.transitions();
    assert!(transitions.ambiguous() > 0);
    let mut largest = Rules::new(&wiring);
    let sets: Vec<_> = transitions.turns().collect();
    for (tag, new, turns) in sets.into_iter().rev() {
        for (input, output) in turns.iter() {
            // A larger tag already has a rule.
            let _ = largest.insert(tag, input, output, new);
        }
    }
    let verified = verify(&wiring, &largest, &elp).unwrap();
    assert!(verified.deadlock_free() && verified.lossy > 0);
    let lossy = &verified.lossy_named[0];
    assert_eq!(lossy.path.0[lossy.path.0.len() - 2..], [lossy.turn.switch.clone(), lossy.turn.to.clone()]);
    assert!(verify(&wiring, &placement.rules(), &elp).unwrap().holds());
}

fn long_way(fabric: &Fabric, rng: &mut Stream) -> Vec<NodeId> {
    let below = |bound: usize, rng: &mut Stream| rng.next_u64() as usize % bound;
    let mut nodes = vec![fabric.hosts()[below(fabric.hosts().len(), rng)]];
    loop {
        let at = nodes[nodes.len() - 1];
        let near: Vec<NodeId> = fabric.ports_of(at).map(|port| fabric.neighbour(port)).collect();
        let fresh: Vec<NodeId> =
            near.iter().copied().filter(|node| fabric.host_of(*node).is_none() && !nodes.contains(node)).collect();
        if fresh.is_empty() || nodes.len() > 6 {
            let host = near.into_iter().find(|node| fabric.host_of(*node).is_some() && *node != nodes[0]);
            return nodes.into_iter().chain(host).collect();
        }
        nodes.push(fresh[below(fresh.len(), rng)]);
    }
}

/// Packets on paths given one by one may have a smaller tag than planned.
#[test]
fn packets_with_a_smaller_tag_than_planned_get_rules_of_their_own() {
    let mut needed = 0;
    for seed in 0..200 {
        let fabric = Jellyfish { seed, ..Jellyfish::new(10, 6, 4) }.build().unwrap();
        let wiring = Wiring::new(&fabric);
        let mut rng = stream(seed, "test", 0);
        let mut paths = PathSet::new();
        (0..25).for_each(|_| paths.push_nodes(&wiring, &long_way(&fabric, &mut rng)).unwrap());
        let elp = Elp::Paths(paths);
        let hops = elp.hops(&wiring).unwrap();
        let placement = Greedy { order: Order::Random(seed), ..Greedy::default() }.place(&hops).unwrap();
        let smallest = verify(&wiring, &placement.transitions().smallest(), &elp).unwrap();
        assert!(smallest.deadlock_free());
        needed += usize::from(!smallest.complete());
        assert!(verify(&wiring, &placement.rules(), &elp).unwrap().holds());
    }
    assert!(needed > 100, "{needed}");
}

#[test]
fn a_change_of_rules_can_close_a_cycle() {
    let fabric = Jellyfish::new(20, 10, 5).build().unwrap();
    let wiring = Wiring::new(&fabric);
    let hops = Elp::Shortest(ShortestPaths::default()).hops(&wiring).unwrap();
    let rules = |order| Greedy { order, ..Greedy::default() }.place(&hops).unwrap().rules();
    let (before, after) = (rules(Order::Number), rules(Order::Random(1)));
    assert!(![&before, &after].iter().any(|rules| Dependencies::of_rules(rules).cyclic(&wiring)));
    assert!(Dependencies::of_change(&before, &after).cyclic(&wiring));
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    let clos = |bounces| ClosScheme::new(bounces).rules(&wiring).unwrap();
    assert!(!Dependencies::of_change(&clos(0), &clos(1)).cyclic(&wiring));
}
