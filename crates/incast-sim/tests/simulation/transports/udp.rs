//! UDP completes by arrivals: no ACK tells its sender.

use incast_model::units::{Bytes, Rate, Time};
use incast_sim::outcome::{FlowStatus, Outcome, Stop};
use incast_sim::switch::QueueParams;
use incast_sim::transport::{Transport, UdpParams};

use super::{named, racks};
use crate::common::{Bench, Cable, digest, star};

fn run(bench: &Bench) -> Outcome {
    let outcome = bench.run();
    assert_eq!(digest(&outcome), digest(&bench.run_event_by_event()));
    outcome
}

#[test]
fn a_flow_completes_when_its_last_byte_arrives() {
    let bench = Bench::new(racks(2)).transport(named("udp", "line-rate"));
    let outcome = run(&bench.flow(0, 1, 1, Time::ns(1)).flow(2, 7, 14_600, Time::ns(1)));
    // 41 B over two links of 40 Gb/s and 200 ns, from 1 ns on.
    let [short, long] = &outcome.flows[..] else { unreachable!() };
    assert_eq!(short.finish, Some(Time(1000 + 2 * (41 * 200 + 200_000))));
    // 10 packets of 1,500 B: all on the first link, the last one on two links of 80 Gb/s and on the last link.
    assert_eq!(long.fct(), Some(Time(10 * 300_000 + 2 * 150_000 + 300_000 + 4 * 200_000)));
    for flow in &outcome.flows {
        assert_eq!((flow.fct(), flow.delivered), (Some(flow.ideal_exact), flow.finish));
    }
    assert_eq!((outcome.end, &outcome.stop), (long.finish.unwrap(), &Stop::Finished));
}

#[test]
fn alone_a_flow_has_the_time_of_its_own_rate() {
    let udp = Transport::Udp(UdpParams { rate: Some(Rate::gbps(2)) });
    let outcome = run(&Bench::new(racks(2)).transport(udp).flow(2, 7, 14_600, Time::ns(1)));
    assert_eq!(outcome.flows[0].fct(), Some(outcome.flows[0].ideal_exact));
    assert!(outcome.flows[0].ideal_exact > Time(9 * 6_000_000));
}

#[test]
fn a_flow_that_loses_bytes_has_no_completion_time() {
    let bench = Bench::new(racks(1)).transport(named("udp", "line-rate"));
    let bench = bench.with(|params| params.switch.queues = QueueParams::DropTail { limit: Bytes(15_000) });
    let outcome = run(&bench.flows((1..4).map(|src| (src, 0, 146_000, Time::ZERO))));
    let lost = outcome.flows.iter().filter(|flow| flow.status() == FlowStatus::Partial);
    for flow in lost.clone() {
        assert!(flow.finish.is_none() && flow.fct().is_none() && flow.delivered.is_none(), "{flow:?}");
        assert!((1..146_000).contains(&flow.acked), "{flow:?}");
    }
    // Three senders at the rate of the receiver's link; one of them can find space for each packet.
    assert!((2..=3).contains(&lost.count()));
    assert_eq!(outcome.stop, Stop::Finished);
    assert_eq!(outcome.ledger.in_flight, [0; 8], "the run goes on until no packet is left");
}

/// Two flows of 10 packets, 1.2 us each at 10 Gb/s, that their source sends at 40 Gb/s.
#[test]
fn a_flow_with_packets_in_flight_at_the_horizon_is_incomplete() {
    let transport = Transport::Udp(UdpParams { rate: Some(Rate::gbps(40)) });
    let bench = Bench::new(star(&[Cable::new(10, 200); 3])).transport(transport);
    let bench = bench.flows((0..2).map(|src| (src, 2, 14_600, Time::ZERO)));
    let until = |horizon: Time| bench.clone().with(|params| params.horizon = Some(horizon)).run();
    // All packets are in queues by 3 us; the receiver has two by 6 us.
    let cut = until(Time::us(6));
    assert_eq!(cut.stop, Stop::Horizon { unfinished: 2 });
    assert!(cut.flows.iter().all(|flow| flow.status() == FlowStatus::Incomplete), "{:?}", cut.flows);
    assert_eq!(until(Time::us(100)).stop, Stop::Finished);
}

#[test]
fn samples_have_the_rate_of_the_flow() {
    let transport = Transport::Udp(UdpParams { rate: Some(Rate::gbps(1)) });
    let bench = Bench::new(racks(1)).transport(transport).flow(0, 1, 14_600, Time::ZERO);
    let outcome = run(&bench.with(|params| params.measure.sample_every = Some(Time::us(10))));
    let sending = outcome.rates.iter().filter(|sample| sample.rate > 0);
    assert!(sending.clone().count() > 5 && sending.clone().all(|sample| sample.rate == 1_000_000_000));
}

#[test]
fn the_last_sample_of_a_flow_has_all_its_bytes() {
    let long = [(0, 1, 14_600, Time::ZERO), (2, 3, 1_460_000, Time::ZERO)];
    let transport = Transport::Udp(UdpParams { rate: Some(Rate::gbps(1)) });
    let bench = Bench::new(racks(1)).transport(transport).flows(long);
    let outcome = run(&bench.with(|params| params.measure.sample_every = Some(Time::us(10))));
    let of_first: Vec<u64> =
        outcome.rates.iter().filter(|sample| sample.flow == 0).map(|sample| sample.acked).collect();
    // 10 packets of 12 us each.
    assert!((12..=14).contains(&of_first.len()), "{of_first:?}");
    assert_eq!(of_first.iter().filter(|&&acked| acked == 14_600).count(), 1, "{of_first:?}");
}
