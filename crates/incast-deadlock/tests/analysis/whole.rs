//! Cyclic dependencies across tags, under rules that change.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use incast_deadlock::dependency::Dependencies;
use incast_deadlock::rules::Rules;
use incast_deadlock::tagging::ClosScheme;
use incast_deadlock::verify::{Circularity, meets_conditions};
use incast_deadlock::{Tag, Wiring};
use incast_model::fabric::{Fabric, PortId};
use proptest::prelude::*;

use crate::common::{fabrics, port, testbed};

type Buffer = (u8, PortId);

fn waits(fabric: &Fabric, sets: &[Rules], classes: u8) -> BTreeMap<Buffer, BTreeSet<Buffer>> {
    let host = |port: PortId| fabric.host_of(fabric.neighbour(port)).is_some();
    let at_host = |port: PortId| fabric.host_of(fabric.port(port).node).is_some();
    let all = (0..fabric.ports().len() as u32).map(PortId).filter(|&port| host(port) && !at_host(port));
    let mut left: Vec<Buffer> = all.flat_map(|port| (1..=classes).map(move |tag| (tag, port))).collect();
    let mut found = BTreeMap::new();
    while let Some((tag, input)) = left.pop() {
        if found.contains_key(&(tag, input)) {
            continue;
        }
        let outputs = fabric.ports_of(fabric.port(input).node).filter(|&output| !host(output));
        let next = outputs.flat_map(|output| {
            let new = sets.iter().filter_map(move |rules| rules.new_tag(Tag(tag), input, output));
            new.map(move |new| (new.0, fabric.port(output).peer))
        });
        let next: BTreeSet<Buffer> = next.collect();
        left.extend(&next);
        found.insert((tag, input), next);
    }
    found
}

fn shortest(waits: &BTreeMap<Buffer, BTreeSet<Buffer>>) -> Option<usize> {
    let back = |&start: &Buffer| {
        let mut queue = VecDeque::from([(start, 0)]);
        let mut seen = BTreeSet::new();
        while let Some((at, length)) = queue.pop_front() {
            for &next in &waits[&at] {
                if next == start {
                    return Some(length + 1);
                }
                if seen.insert(next) {
                    queue.push_back((next, length + 1));
                }
            }
        }
        None
    };
    waits.keys().filter_map(back).min()
}

/// Set of rules, ingress port, egress port, tag and new tag.
type Choice = (bool, prop::sample::Index, prop::sample::Index, u8, u8);

/// The first rule for the same packets counts.
fn rules(fabric: &Fabric, choices: &[Choice]) -> [Rules; 2] {
    let wiring = Wiring::new(fabric);
    let mut sets = [Rules::new(&wiring), Rules::new(&wiring)];
    let of_switch = |port: &PortId| fabric.host_of(fabric.port(*port).node).is_none();
    let ports: Vec<PortId> = (0..fabric.ports().len() as u32).map(PortId).filter(of_switch).collect();
    for (set, input, output, tag, new) in choices {
        let input = ports[input.index(ports.len())];
        let outputs: Vec<PortId> = fabric.ports_of(fabric.port(input).node).collect();
        let _ = sets[usize::from(*set)].insert(Tag(*tag), input, outputs[output.index(outputs.len())], Tag(*new));
    }
    sets
}

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    let index = any::<prop::sample::Index>;
    proptest::collection::vec((any::<bool>(), index(), index(), 1..4u8, 1..4u8), 0..250)
}

proptest! {
    #[test]
    fn the_verdict_is_that_of_a_search_by_brute_force(fabric in fabrics(), choices in choices(), classes in 1..3u8) {
        let wiring = Wiring::new(&fabric);
        let sets = rules(&fabric, &choices);
        for sets in [&sets[..1], &sets[1..], &sets[..]] {
            let found = Circularity::new(&wiring, &sets.iter().collect::<Vec<_>>(), classes);
            let waits = waits(&fabric, sets, classes);
            prop_assert_eq!(found.buffers, waits.len());
            prop_assert_eq!(found.dependencies, waits.values().map(BTreeSet::len).sum::<usize>());
            prop_assert_eq!(found.cycle.as_ref().map(|cycle| cycle.turns.len()), shortest(&waits));
            prop_assert_eq!(found.deadlock_free(), found.cycle.is_none());
            if let [rules] = sets && meets_conditions(&wiring, rules) {
                prop_assert!(found.deadlock_free() && found.falling == 0);
            }
            let Some(cycle) = found.cycle else { continue };
            for (turn, next) in cycle.turns.iter().zip(cycle.turns.iter().cycle().skip(1)) {
                prop_assert_eq!(Some(turn.new_tag), next.turn.tag);
                prop_assert_eq!((&turn.turn.to, &turn.turn.switch), (&next.turn.switch, &next.turn.from));
                let node = crate::common::node(&fabric, &turn.turn.switch);
                let [input, output] = [turn.turn.in_port, turn.turn.out_port]
                    .map(|local| fabric.ports_of(node).nth(local as usize).unwrap());
                let has = |at: &usize| sets[*at].new_tag(turn.turn.tag.unwrap(), input, output) == Some(turn.new_tag);
                prop_assert_eq!(&(0..sets.len()).filter(has).collect::<Vec<_>>(), &turn.of);
                prop_assert!(!turn.of.is_empty());
            }
        }
    }
}

#[test]
fn opposite_changes_of_two_users_are_circular_across_tags() {
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    let counting = ClosScheme { bounces: 1, classes: 2 }.rules(&wiring).unwrap();
    let mut swapped = Rules::new(&wiring);
    for (tag, new, turns) in counting.turns().filter(|(tag, _, _)| tag.0 <= 2) {
        for (input, output) in turns.iter() {
            let new = if tag == new { tag } else { Tag(3 - tag.0) };
            swapped.insert(tag, input, output, new).unwrap();
        }
    }
    let of = |rules: &Rules, classes| Circularity::new(&wiring, &[rules], classes);
    let found = of(&swapped, 2);
    let cycle = found.cycle.unwrap();
    assert_eq!((cycle.turns.len(), found.falling > 0, meets_conditions(&wiring, &swapped)), (4, true, false));
    assert!(cycle.to_string().contains(" tag 1 → ") && cycle.to_string().contains(" tag 2 → "), "{cycle}");
    assert!(Dependencies::of_rules(&swapped).cyclic(&wiring));
    let found = of(&counting, 2);
    assert!(found.deadlock_free() && found.falling == 0 && meets_conditions(&wiring, &counting));
}

#[test]
fn what_no_packet_comes_to_does_not_count() {
    let fabric = testbed();
    let wiring = Wiring::new(&fabric);
    let mut rules = ClosScheme::new(1).rules(&wiring).unwrap();
    let turn = |a, b, c| (port(&fabric, b, a), port(&fabric, b, c));
    let cycle = ["T1", "L1", "T2", "L2"];
    for at in 0..4 {
        let (input, output) = turn(cycle[at], cycle[(at + 1) % 4], cycle[(at + 2) % 4]);
        rules.insert(Tag(7), input, output, Tag(7)).unwrap();
    }
    let found = Circularity::new(&wiring, &[&rules], 1);
    assert!(found.deadlock_free() && found.unused >= 4 && !meets_conditions(&wiring, &rules));
    let (input, output) = turn("H1", "T1", "L1");
    let mut led = Rules::new(&wiring);
    led.insert(Tag(1), input, output, Tag(7)).unwrap();
    let both = Circularity::new(&wiring, &[&rules, &led], 1);
    let cycle = both.cycle.unwrap();
    assert_eq!((cycle.turns.len(), &cycle.turns[0].of[..]), (4, &[0][..]));
}
