use std::ops::ControlFlow;

use incast_model::units::{Rate, Time};
use incast_sim::outcome::Stop;

use crate::common::{Bench, Cable, digest, star};

#[test]
fn a_run_can_be_interrupted() {
    let bench = Bench::new(star(&[Cable::new(100, 1000); 3])).flow(0, 1, 50_000_000, Time::ZERO);
    let outcome = bench.simulation().run(&mut |_| ControlFlow::Break(()));
    assert!(matches!(outcome.stop, Stop::Interrupted { .. }), "{:?}", outcome.stop);
    assert!(outcome.counts.events > 0);
}

#[test]
fn idle_time_takes_no_computing_time() {
    // Windows of 1 ps: 1,000 s have 10^15.
    let late = Time::ms(1_000_000);
    let bench = Bench::new(star(&[Cable(Rate::gbps(100), Time(1)); 3])).control("hpcc", "ns3");
    let bench = bench.flow(0, 1, 3000, Time::ZERO).flow(1, 2, 3000, late);
    let outcome = bench.run();
    assert!(outcome.end > late && outcome.stop == Stop::Finished);
    assert_eq!(digest(&outcome), digest(&bench.run_event_by_event()));
    let cut = bench.with(|params| params.horizon = Some(Time::us(20)));
    let outcome = cut.run();
    assert_eq!((outcome.end, outcome.stop.unfinished()), (Time::us(20), 1));
    assert_eq!(digest(&outcome), digest(&cut.run_event_by_event()));
}
