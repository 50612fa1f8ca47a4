use std::sync::Arc;

use crate::support::{Scheme, fct_ps, flow, ns3_params, run};
use incast_model::fabric::generators::Star;
use incast_sim::Params;

const PACKETS: u64 = 78;

/// In ps; HPCC paces the first flow at 95 % of line rate.
fn second_of_two(params: Params) -> u64 {
    let fabric = Arc::new(Star::new(3).build().expect("a valid star"));
    let flows = [flow(0, 1, 8_000_000, 0, 10_000, 100), flow(0, 2, PACKETS * 1000, 300_000, 10_000, 100)];
    fct_ps(&run(&fabric, &flows, Scheme::Hpcc95, params).flows[1])
}

#[test]
fn a_paced_flow_keeps_its_turn() {
    // Packets of 1090 B (87.2 ns) alternate with the other flow's: start of the last, 1087.2 ns twice there and 1007.04 ns
    // twice back. Either flow may be first.
    let last_start = (2 * PACKETS - 1) * 87_200;
    let expected = last_start + 2 * 1_087_200 + 2 * 1_007_040;
    let got = second_of_two(Params::default());
    assert!(got.abs_diff(expected) <= 2 * 87_200, "{got} ps, expected about {expected} ps");
    // The reference truncates 87.2 ns.
    let reference = second_of_two(ns3_params());
    assert!(got.abs_diff(reference) < got / 50, "{got} ps, in the reference's arithmetic {reference} ps");
}
