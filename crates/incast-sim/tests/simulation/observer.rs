use std::ops::ControlFlow;

use incast_model::units::Time;
use incast_sim::outcome::Stop;

use crate::common::{Bench, Cable, star};

#[test]
fn a_run_without_events_can_be_interrupted() {
    let bench = Bench::new(star(&[Cable::new(100, 1000); 3])).flow(0, 1, 5000, Time::ms(3_000_000));
    let outcome = bench.simulation().run(&mut |_| ControlFlow::Break(()));
    assert!(matches!(outcome.stop, Stop::Interrupted { .. }), "{:?}", outcome.stop);
    assert_eq!(outcome.counts.events, 0);
}
