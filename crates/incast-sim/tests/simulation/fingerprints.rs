use incast_model::units::Time;
use incast_sim::congestion::Control;

use crate::common::drawn;

#[test]
fn only_what_happens_counts() {
    let control = Control::named("dcqcn", "vendor").expect("a listed profile");
    let base = drawn(&control, 1, |_| {}).fingerprint;
    let measured = drawn(&control, 1, |params| {
        params.measure.sample_every = Some(Time::ns(700));
        params.measure.queue_histogram = true;
        params.measure.pauses = false;
        params.measure.max_drops = 0;
    });
    assert!(!measured.queues.is_empty() && !measured.histograms.is_empty());
    assert_eq!(measured.fingerprint, base);
    let (base, other) = (base.expect("as asked for"), drawn(&control, 2, |_| {}).fingerprint.expect("as asked for"));
    assert!(other.trajectory != base.trajectory && other.traffic != base.traffic);
    assert_eq!(drawn(&control, 1, |params| params.measure.fingerprint = false).fingerprint, None);
}
