//! `make miri` runs this: it has to be small.

use incast_model::units::Time;
use incast_sim::Cut;

use crate::common::{Bench, Cable, digest, star};

#[test]
fn threads_change_nothing() {
    let bench = Bench::new(star(&[Cable::new(100, 1000); 3])).flows((1..3).map(|src| (src, 0, 1500, Time::ZERO)));
    let (alone, shared) = (bench.run_on(Cut::Whole, 1), bench.run_on(Cut::Nodes, 3));
    assert_eq!((alone.threads.count, shared.threads.count), (1, 3));
    assert_eq!(digest(&shared), digest(&alone));
}
