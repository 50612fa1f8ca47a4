//! Small cases give the completion times of the HPCC authors' ns-3 (commit 9f4be2a), to the nanosecond, for the rest of
//! the family: HPCC-PINT, TIMELY and DCTCP. Their random numbers included: ECN's, and PINT's, which are C's `rand()`.

mod support;

use support::small::{self, cases};

fn check(number: usize) {
    let case = &cases()[number];
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
