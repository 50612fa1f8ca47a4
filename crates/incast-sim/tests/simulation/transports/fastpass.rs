use incast_model::units::Time;
use incast_sim::transport::{FastpassParams, FastpassPaths, Transport, TransportParams};

use super::{named, racks, sprayed};
use crate::common::{Bench, check, fct, within};

fn permutation(transport: Transport) -> Bench {
    let flows = (0..12).map(|src| (src, (src + 5) % 12, 2_000_000, Time::ZERO));
    sprayed(Bench::new(racks(3)).transport(transport).flows(flows))
}

#[test]
fn f1_a_permutation_is_at_line_rate_but_for_the_slack() {
    let outcome = permutation(named("fastpass", "optimistic")).run();
    for flow in 0..12 {
        let slowdown = fct(&outcome, flow).0 as f64 / outcome.flows[flow].ideal_exact.0 as f64;
        within("F1", "slowdown of 2 MB in a permutation", 8.5 / 8.0, slowdown, 0.02);
    }
    assert_eq!(outcome.counts.drops, 0);
    let data = outcome.ports.iter().filter(|port| port.priority == 3);
    let peak = data.map(|port| port.peak_queue).max().unwrap();
    check("F1", "longest queue of data, packets", "at most 4", peak as f64 / 1500.0, peak <= 6000);
}

#[test]
fn f1_allocated_paths_have_no_queues() {
    let Transport::Fastpass(params) = named("fastpass", "optimistic") else { unreachable!() };
    let outcome = permutation(Transport::Fastpass(FastpassParams { paths: FastpassPaths::Allocated, ..params })).run();
    let peak = outcome.ports.iter().filter(|port| port.priority == 3).map(|port| port.peak_queue).max().unwrap();
    check("F1", "longest queue of data with paths, packets", "at most 2", peak as f64 / 1500.0, peak <= 3000);
    let slowest = (0..12).map(|flow| fct(&outcome, flow)).max().unwrap();
    within("F1", "slowdown of the slowest", 8.5 / 8.0, slowest.0 as f64 / outcome.flows[0].ideal_exact.0 as f64, 0.02);
}

/// One packet per slot, an eighth of an epoch.
#[test]
fn f2_an_incast_completes_in_order_of_size() {
    let flows = (1..8u64).map(|src| (src as u32, 0, src * 20 * 1460, Time::ZERO));
    let outcome = Bench::new(racks(3)).transport(named("fastpass", "optimistic")).flows(flows).run();
    let ends: Vec<f64> = (0..7).map(|flow| fct(&outcome, flow).0 as f64 * 1e-6).collect();
    assert!(ends.is_sorted(), "{ends:?}");
    let slots = 20.0 * (1..8).sum::<u64>() as f64;
    within("F2", "the last is done after, us", slots * 2.55 / 8.0 + 2.0 * 2.55 + 2.0, ends[6], 0.03);
}

/// The arbiter takes two epochs of 2.55 us to schedule one.
#[test]
fn f3_a_slow_arbiter_is_the_bottleneck() {
    let slow = FastpassParams { processing: Time::ns(5100), ..FastpassParams::profile("optimistic").unwrap() };
    let slow = Transport::Fastpass(FastpassParams { arbiter: "arbiter".into(), ..slow });
    let [fast, slow] =
        [named("fastpass", "optimistic"), slow].map(|transport| fct(&permutation(transport).run(), 0).0 as f64);
    within("F3", "time with an arbiter at half the speed of epochs", 2.0 * fast, slow, 0.03);
}

#[test]
fn f4_few_packets_are_sent_twice() {
    let outcome = permutation(named("fastpass", "yaps")).run();
    let sent: u64 = outcome.flows.iter().map(|flow| flow.packets).sum();
    let again: u64 = outcome.flows.iter().map(|flow| flow.retransmitted).sum();
    check("F4", "share of packets sent twice", "below 1 %", again as f64 / sent as f64, again * 100 < sent);
}
