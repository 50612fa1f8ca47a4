//! Turns, pauses and pacing at a NIC.

use incast_model::flow::Flow;
use incast_model::units::Bytes;

use crate::nodes::bench::Frame::{self, Ack, Cnp, Data, Xoff, Xon};
use crate::nodes::bench::{Bench, control, flow};
use crate::setup::Setup;
use crate::switch::SchedulerParams;

/// Sent by h0 before 5000 ns.
fn sent(flows: &[Flow], change: impl FnOnce(&mut Setup), arrivals: &[(u64, Frame)]) -> Vec<(u64, Frame)> {
    let mut bench = Bench::host(0, flows, change);
    bench.put(0, arrivals);
    bench.run(5000);
    bench.sent(0)
}

#[test]
fn queue_pairs_take_turns() {
    let order = [Data(0, 0), Data(1, 0), Data(2, 0), Data(0, 1), Data(1, 1), Data(2, 1), Data(1, 2)];
    let sent = sent(&[flow(0, 1, 2), flow(0, 2, 3), flow(0, 3, 2)], |_| {}, &[]);
    assert!(sent.into_iter().eq((1..).map(|number| 100 * number).zip(order)));
}

#[test]
fn the_highest_priority_of_data_goes_first() {
    let flows = [1, 5, 3].map(|priority| Flow { priority, ..flow(0, 1, 2) });
    let strict = |setup: &mut Setup| setup.params.switch.scheduler = SchedulerParams::StrictPriority;
    let sent = sent(&flows, strict, &[]).into_iter().map(|(_, frame)| frame);
    // Flow 0 is the first to start.
    assert!(sent.eq([Data(0, 0), Data(1, 0), Data(1, 1), Data(2, 0), Data(2, 1), Data(0, 1)]));
}

#[test]
fn acknowledgements_go_before_data() {
    let sent = sent(&[flow(0, 1, 3), flow(1, 0, 1)], |_| {}, &[(150, Data(1, 0))]);
    assert_eq!(sent, [(100, Data(0, 0)), (200, Data(0, 1)), (210, Ack(1, 1)), (310, Data(0, 2))]);
}

#[test]
fn a_pause_stops_data_of_its_priority_after_the_packet_in_transmission() {
    let flows = [flow(0, 1, 3), Flow { priority: 5, ..flow(0, 2, 3) }];
    let mut bench = Bench::host(0, &flows, |_| {});
    bench.put(0, &[(150, Xoff(5, 7777)), (160, Xoff(5, 8888)), (1000, Xon(5))]);
    bench.run(5000);
    let sent = [(100, Data(0, 0)), (200, Data(1, 0)), (300, Data(0, 1)), (400, Data(0, 2))];
    assert_eq!(bench.sent(0), [&sent[..], &[(1100, Data(1, 1)), (1200, Data(1, 2))]].concat());
    assert_eq!(bench.pauses(), [(150, Xoff(5, 7777)), (1000, Xon(5))], "the second frame changes nothing");
}

#[test]
fn a_pause_stops_acknowledgements_unless_they_ignore_it() {
    let arrivals = [(50, Xoff(3, 0)), (500, Data(1, 0)), (1000, Xon(3))];
    for (ignore, end) in [(false, 1010), (true, 510)] {
        let sent =
            sent(&[flow(0, 1, 1), flow(1, 0, 1)], |setup| setup.params.rdma.acks_ignore_pause = ignore, &arrivals);
        assert_eq!(sent, [(100, Data(0, 0)), (end, Ack(1, 1))]);
    }
}

#[test]
fn a_packet_begins_before_a_pause_of_the_same_time() {
    let sent = sent(&[flow(0, 1, 3)], |_| {}, &[(100, Xoff(3, 0))]);
    assert_eq!(sent, [(100, Data(0, 0)), (200, Data(0, 1))]);
}

#[test]
fn a_gap_follows_each_packet() {
    // 125 B at 100 Gb/s: 10 ns.
    let sent = sent(&[flow(0, 1, 3)], |setup| setup.params.packets.gap = Bytes(125), &[]);
    assert_eq!(sent, [(100, Data(0, 0)), (210, Data(0, 1)), (320, Data(0, 2))]);
}

#[test]
fn a_rate_below_that_of_the_line_paces_the_starts_of_packets() {
    let dcqcn = |setup: &mut Setup| setup.controls = vec![control("dcqcn", "paper")];
    // The first CNP halves the rate (alpha is 1): from the packet that begins at 200 ns on, one per 200 ns.
    let paced = sent(&[flow(0, 1, 6)], dcqcn, &[(150, Cnp(0))]);
    let ends = [100, 200, 300, 500, 700, 900];
    assert!(paced.into_iter().eq(ends.into_iter().zip((0..6).map(|number| Data(0, number)))));
    // Others send in between.
    let shared = sent(&[flow(0, 1, 3), flow(0, 2, 3)], dcqcn, &[(50, Cnp(0))]);
    let ends = [
        (100, Data(0, 0)),
        (200, Data(1, 0)),
        (300, Data(0, 1)),
        (400, Data(1, 1)),
        (500, Data(0, 2)),
        (600, Data(1, 2)),
    ];
    assert_eq!(shared, ends);
    let alone = sent(&[flow(0, 1, 4), flow(0, 2, 2)], dcqcn, &[(50, Cnp(0)), (50, Cnp(1))]);
    let ends = [
        (100, Data(0, 0)),
        (200, Data(1, 0)),
        (300, Data(0, 1)),
        (400, Data(1, 1)),
        (500, Data(0, 2)),
        (700, Data(0, 3)),
    ];
    assert_eq!(alone, ends);
}
