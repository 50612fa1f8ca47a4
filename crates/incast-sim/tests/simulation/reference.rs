//! Small cases match the HPCC authors' ns-3: completion times to the nanosecond, random numbers (C's `rand()`).

use crate::support::small::{self, Case, cases};
use crate::support::{assert_hosts_first, links};
use incast_model::units::{Rate, Time};

fn check(number: usize) {
    let case = &cases()[number];
    small::check(case, &case.reference);
    small::check(case, case.family);
}

#[test]
fn one_flow() {
    check(0);
}

#[test]
fn one_packet() {
    check(1);
}

#[test]
fn two_to_one() {
    check(2);
}

#[test]
fn sixteen_to_one() {
    check(3);
}

#[test]
fn dumbbell() {
    check(4);
}

#[test]
fn fabrics_are_numbered_alike() {
    let at_100g = |ends: Vec<(u32, u32)>| -> Vec<_> {
        ends.into_iter().map(|(a, b)| (a, b, Rate::gbps(100), Time::us(1))).collect()
    };
    let check = |case: &Case, hosts: u32, ends: Vec<(u32, u32)>| {
        assert_hosts_first(&case.fabric(), hosts);
        assert_eq!(links(&case.fabric()), at_100g(ends), "{}", case.name);
    };
    let star = |hosts: u32| (0..hosts).map(|host| (host, hosts)).collect();
    let [one, packet, two, sixteen, dumbbell] = cases();
    check(&one, 2, star(2));
    check(&packet, 2, star(2));
    check(&two, 3, star(3));
    check(&sixteen, 17, star(17));
    check(&dumbbell, 8, vec![(0, 8), (1, 8), (2, 8), (3, 8), (4, 9), (5, 9), (6, 9), (7, 9), (8, 9)]);
}
