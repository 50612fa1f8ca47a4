use incast_model::units::{Bytes, Rate, Time};
use incast_sim::Arithmetic;
use incast_sim::outcome::{Outcome, Stop};

use crate::common::{Bench, Cable, digest, exact, star};

const CABLE: Cable = Cable::new(100, 1000);

fn hosts(count: usize) -> Bench {
    Bench::new(star(&vec![CABLE; count]))
}

/// n packets of 1048 B, one more on the second link.
fn delivered(packets: u64) -> Time {
    Time((packets + 1) * Rate::gbps(100).time_for(1048).0) + Time::us(2)
}

fn acked(packets: u64) -> Time {
    delivered(packets) + Rate::gbps(100).time_for(60) * 2 + Time::us(2)
}

fn start(outcome: &Outcome, flow: usize) -> Time {
    outcome.flows[flow].start.expect("a flow that started")
}

#[test]
fn w1_ends_as_seen_by_who_goes_on() {
    let bench = hosts(3).flow(0, 1, 10_000, Time::ZERO).flow(1, 2, 1000, Time::ZERO).flow(0, 2, 1000, Time::ZERO);
    let outcome = bench.gate(&[0], Time::ZERO, &[1]).gate(&[0], Time::ns(5), &[2]).run();
    exact("W1", "last byte at the receiver", delivered(10), outcome.flows[0].delivered.unwrap());
    exact("W1", "ACK of the last byte at the sender", acked(10), outcome.flows[0].finish.unwrap());
    exact("W1", "start of what the receiver sends", delivered(10), start(&outcome, 1));
    exact("W1", "start of what the sender sends, 5 ns later", acked(10) + Time::ns(5), start(&outcome, 2));
    exact("W1", "its completion time counts from there", acked(1), outcome.flows[2].fct().unwrap());
    assert_eq!(outcome.stop, Stop::Finished);

    let bench = hosts(3).flow(0, 1, 10_000, Time::ZERO).flow(1, 2, 1000, Time::ZERO).flow(0, 2, 1000, Time::ZERO);
    let outcome = bench.gate(&[0], Time::us(1), &[1, 2]).run();
    exact(
        "W1",
        "start of both behind one gate",
        delivered(10) + Time::us(1),
        start(&outcome, 1).max(start(&outcome, 2)),
    );
    assert_eq!(start(&outcome, 1), start(&outcome, 2));
}

#[test]
fn w2_waits_for_all_and_for_its_own_start() {
    let late = delivered(30) + Time::us(9);
    let bench = hosts(5)
        .flows([(0, 1, 30_000, Time::ZERO), (2, 3, 5_000, Time::ZERO), (4, 0, 1000, Time::ZERO), (4, 1, 1000, late)])
        .gate(&[0, 1], Time::ns(700), &[2, 3]);
    let outcome = bench.run();
    exact("W2", "start behind the longer of two", delivered(30) + Time::ns(700), start(&outcome, 2));
    exact("W2", "start at its own time", late, start(&outcome, 3));
}

#[test]
fn w3_a_chain_of_flows() {
    let ring = |arithmetic| {
        let flows = (0..24u32).map(|hop| (hop % 6, (hop + 1) % 6, 3000, Time::ZERO));
        let bench = hosts(6).flows(flows).with(|params| {
            params.arithmetic = arithmetic;
            params.rdma.rto = None;
        });
        (1..24).fold(bench, |bench, hop| bench.gate(&[hop - 1], Time::ns(100), &[hop]))
    };
    let outcome = ring(Arithmetic::Exact).run();
    let hop = delivered(3) + Time::ns(100);
    (0..24).for_each(|at| assert_eq!(start(&outcome, at), hop * at as u64, "hop {at}"));
    exact("W3", "end of 24 hops", hop * 23 + acked(3), outcome.end);
    assert!(digest(&outcome) == digest(&ring(Arithmetic::Exact).run()), "the same again");
    let ns3 = ring(Arithmetic::Ns3).run();
    assert_eq!(ns3.stop, Stop::Finished);
    // ns-3 truncates each of a hop's 4 serialisations.
    assert!(
        (1..24).all(|at| start(&ns3, at) <= hop * at as u64 && start(&ns3, at) + Time::ns(5 * 24) > hop * at as u64)
    );
}

#[test]
fn w4_what_does_not_start() {
    let bench = hosts(3).flow(0, 1, 10_000, Time::ZERO).flow(1, 2, 1000, Time::ZERO).gate(&[0], Time::ms(50), &[1]);
    let short = bench.clone().with(|params| params.horizon = Some(Time::ms(10))).run();
    assert_eq!(short.stop, Stop::Horizon { unfinished: 1 });
    assert_eq!((short.flows[1].start, short.flows[1].delivered, short.flows[1].finish), (None, None, None));
    assert_eq!((short.flows[1].packets, short.flows[1].fct()), (0, None));

    let flows = [(0, 1, 1000), (1, 4, 50_000), (2, 4, 50_000), (3, 4, 50_000), (0, 1, 1000), (4, 0, 1)];
    let bench = hosts(5).control("dcqcn", "vendor").flows(flows.map(|(src, dst, size)| (src, dst, size, Time::ZERO)));
    let outcome = bench.gate(&[0], Time::ms(50), &[4]).gate(&[1, 2, 3], Time::ZERO, &[5]).with(|params| {
        params.rdma.rto = None;
        params.switch.lossless = vec![];
        params.switch.reserve = Bytes(0);
        params.switch.buffer = Bytes(20_000);
    });
    let outcome = outcome.run();
    exact("W4", "start after 50 ms", outcome.flows[0].finish.unwrap() + Time::ms(50), start(&outcome, 4));
    let Stop::Stalled { flows, unfinished } = outcome.stop else { panic!("{:?}", outcome.stop) };
    assert!(!flows.is_empty() && flows.iter().all(|flow| (1..4).contains(flow)), "{flows:?}");
    assert_eq!(unfinished as usize, flows.len() + 1);
}

#[test]
fn w5_gates_that_cannot_work_are_refused() {
    let bench = hosts(2).flow(0, 1, 1000, Time::ZERO).flow(1, 0, 1000, Time::ZERO);
    let why = |bench: &Bench| bench.refused();
    assert_eq!(
        why(&bench.clone().gate(&[0], Time::ZERO, &[1]).gate(&[1], Time::ZERO, &[0])),
        "workload: flows depend on each other in a cycle and would never start: 0 waits for 1 waits for 0"
    );
    assert_eq!(why(&bench.gate(&[2], Time::ZERO, &[1])), "workload: gate 0 names flow 2; there are 2, from 0");
}

/// No request begins at `end` or later; an answer due then still comes.
#[test]
fn w6_a_loop_ends() {
    let period = (delivered(1) + Time::us(1)) * 2;
    let until = |end: Time| {
        let ways = (0..12).map(|at| if at % 2 == 0 { (0, 1, 1000, Time::ZERO) } else { (1, 0, 1000, Time::ZERO) });
        let bench = hosts(2).flows(ways);
        (1..12).fold(bench, |bench, at| {
            let bench = bench.gate(&[at - 1], Time::us(1), &[at]);
            if at % 2 == 0 { bench.round(end, at as usize - 1..at as usize) } else { bench }
        })
    };
    let rounds = |end: Time| {
        let outcome = until(end).run();
        assert_eq!(outcome.stop, Stop::Finished);
        let begun = outcome.flows.iter().filter(|flow| flow.start.is_some()).count();
        let last = period * (begun as u64 / 2 - 1) + delivered(1) + Time::us(1) + acked(1);
        exact("W6", "end of the run: the last answer's ACK, no waiting for the end", last, outcome.end);
        (0..begun).step_by(2).for_each(|at| assert_eq!(start(&outcome, at), period * (at as u64 / 2)));
        assert!(outcome.flows[..begun].iter().all(|flow| flow.finish.is_some() && !flow.cancelled));
        assert!(outcome.flows[begun..].iter().all(|flow| flow.start.is_none() && flow.cancelled));
        assert_eq!(outcome.cancelled(), 12 - begun);
        begun / 2
    };
    assert_eq!(rounds(period * 3), 3, "the fourth would begin at the end");
    assert_eq!(rounds(period * 3 + Time(1)), 4);
    assert_eq!(rounds(Time(1)), 1);
    assert_eq!(rounds(Time::MAX), 6);
    let short = until(period * 3).with(|params| params.horizon = Some(period * 2 + Time(1))).run();
    assert_eq!(short.stop, Stop::Horizon { unfinished: 9 }, "that a round ends is not known before its time");
}

#[test]
fn w7_a_round_is_not_cut() {
    let until = |end: Time| {
        let flows = [(0, 1, 1000), (1, 0, 9000), (1, 2, 1000), (0, 2, 1000), (2, 0, 1000)];
        let bench = hosts(3).flows(flows.map(|(src, dst, size)| (src, dst, size, Time::ZERO)));
        let bench = bench.gate(&[0], Time::us(3), &[2]).gate(&[1], Time::us(3), &[3]).round(end, 0..2);
        bench.gate(&[2, 3], Time::ZERO, &[4]).run()
    };
    let open = until(Time::MAX);
    let [early, late] = [2, 3].map(|flow| start(&open, flow));
    assert!(early < late);
    for end in [early + Time(1), late, late + Time(1)] {
        let outcome = until(end);
        assert!(digest(&outcome) == digest(&open), "begun before {end}");
    }
    let none = until(early);
    assert_eq!((none.stop.clone(), none.cancelled()), (Stop::Finished, 3));
    exact("W7", "end of what began before", open.flows[1].finish.unwrap(), none.end);
}
