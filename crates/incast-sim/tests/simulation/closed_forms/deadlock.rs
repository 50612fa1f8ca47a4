use incast_model::fabric::generators::Star;
use incast_model::units::{Bytes, Rate, Time};
use incast_sim::Outcome;
use incast_sim::outcome::Stop;
use incast_sim::switch::{MarkAt, PfcMode};

use crate::common::{Bench, Cable, check, exact, port, ring};

const SIZE: usize = 3;

/// Flow k from h(k) over s(k), s(k+1), s(k+2) to h(k+2).
fn around(flows: usize, rto: Option<Time>, sample_every: Option<Time>) -> (Bench, Outcome) {
    let mut bench = Bench::new(ring(SIZE, Cable::new(100, 1000))).with(|params| {
        params.switch.pfc_mode = PfcMode::Static { xoff: Bytes(30_000) };
        params.rdma.rto = rto;
        params.measure.sample_every = sample_every;
    });
    let name = |k: usize| format!("s{}", k % SIZE);
    for k in 0..flows {
        let (first, second, third) = (name(k), name(k + 1), name(k + 2));
        let dst = ((k + 2) % SIZE) as u32;
        bench = bench.flow(k as u32, dst, 5_000_000, Time::ZERO).via(&[&first, &second, &third]);
    }
    let outcome = bench.run();
    (bench, outcome)
}

#[test]
fn g5_s4_ring_deadlocks() {
    for (rto, sampling) in [(None, None), (Some(Time::ms(4)), None), (None, Some(Time::us(10)))] {
        let (bench, outcome) = around(SIZE, rto, sampling);
        let Stop::Deadlock { cycle, unfinished } = &outcome.stop else { panic!("{:?}", outcome.stop) };
        exact("G5 S4", "flows that a deadlock of 3 leaves unfinished", 3, *unfinished);
        let fabric = bench.fabric();
        let clockwise: Vec<_> =
            (0..SIZE).map(|k| port(&fabric, &format!("s{k}"), &format!("s{}", (k + 1) % SIZE))).collect();
        let first = clockwise.iter().position(|&port| port == cycle[0].port).expect("a clockwise port");
        let named: Vec<_> = cycle.iter().map(|queue| queue.port).collect();
        let expected: Vec<_> = (0..SIZE).map(|k| clockwise[(first + k) % SIZE]).collect();
        assert_eq!(named, expected, "each waits for the next");
        assert!(cycle.iter().all(|queue| queue.priority == 3));
        let stuck = outcome.pauses.iter().filter(|pause| pause.end.is_none()).map(|pause| pause.start).max().unwrap();
        check(
            "G5 S4",
            "when the last pause of the cycle began, us",
            "< 1000",
            stuck.seconds() * 1e6,
            stuck < Time::ms(1),
        );
        assert_eq!(outcome.ledger.unbalanced().count(), 0);
        assert_eq!(outcome.counts.drops, 0);
    }
}

#[test]
fn g5_s4_without_one_flow() {
    let (_, outcome) = around(SIZE - 1, None, None);
    check(
        "G5 S4",
        "pauses of two flows around the ring",
        "> 0",
        outcome.counts.pauses as f64,
        outcome.counts.pauses > 0,
    );
    assert_eq!(outcome.stop, Stop::Finished);
    exact("G5 S4", "drops", 0, outcome.counts.drops);
}

#[test]
fn slow_wires_are_not_stuck() {
    let fabric = Star { rate: Rate(100_000), ..Star::new(3) }.build().unwrap();
    let bench = Bench::new(fabric).control("dcqcn", "vendor").with(|params| {
        params.rdma.rto = None;
        params.ecn.mark_at = MarkAt::Enqueue;
        (params.ecn.kmin, params.ecn.kmax) = (Bytes(0), Bytes(0));
    });
    let outcome = bench.flow(0, 2, 5000, Time::ZERO).flow(1, 2, 5000, Time::ZERO).run();
    assert!(outcome.counts.marks > 0);
    assert_eq!(outcome.stop, Stop::Finished);
}
