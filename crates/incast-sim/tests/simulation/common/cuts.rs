//! Outcomes do not depend on the cut of the fabric, on threads, or on the length of windows.

use std::time::Duration;

use incast_sim::outcome::{Counts, Threads};
use incast_sim::{Cut, Outcome, Simulation};

/// Numbers of threads. On one, partitions run one after another, which is faster with few nodes: most runs do.
const THREADS: [usize; 16] = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 8];
const SHORTER: [u64; 5] = [1, 2, 3, 5, 7];

/// `run` runs the simulation again after a change.
pub(crate) fn same(outcome: &Outcome, run: impl Fn(&dyn Fn(Simulation) -> Simulation) -> Outcome + Sync) {
    // Other runs have other cuts, threads and windows, or none.
    let draw = incast_model::rng::mix(outcome.counts.events ^ outcome.end.0 << 20);
    let among = |draw: u64, count: usize| (draw % count as u64) as usize;
    if !draw.is_multiple_of(4) {
        return; // the suite would take twice as long
    }
    let draw = draw >> 2;
    let cuts = [Cut::Nodes, Cut::Into(2), Cut::Into(5), Cut::Random(3, draw)];
    let cut = cuts[among(draw, cuts.len())];
    let threads = THREADS[among(draw >> 8, THREADS.len())];
    let shorter = SHORTER[among(draw >> 16, SHORTER.len())];
    let change = |simulation: Simulation| simulation.cut(cut, threads).shorter_windows(shorter);
    let other = run(&change);
    assert_eq!(
        text(outcome, shorter),
        text(&other, shorter),
        "{cut:?}, {threads} threads, windows shorter by {shorter}"
    );
}

/// Without the peak of packets if it was taken at other times.
fn text(outcome: &Outcome, shorter: u64) -> String {
    let peak_packets = if shorter == 1 { outcome.counts.peak_packets } else { 0 };
    let counts = Counts { peak_packets, ..outcome.counts };
    let threads = Threads { count: 1, others_cpu: Duration::ZERO, sequential: 0 };
    format!("{:?}", Outcome { counts, threads, ..outcome.clone() })
}
