//! Congestion isolation at one switch: detection, order, messages, release.

use incast_model::units::{Bytes, Time};

use crate::nodes::bench::Frame::{self, Data, Isolate, Release, Xoff, Xon};
use crate::nodes::bench::{Bench, flow};
use crate::outcome::{FoundIn, IsolatedBy, IsolationRecord};
use crate::switch::{FlowDetection, IsolationParams};

const MARKS: FlowDetection = FlowDetection::Marks { kmin: Bytes(2500), kmax: Bytes(2500), pmax: 1.0 };
const COUNTERS: FlowDetection = FlowDetection::Counters { above: Bytes(2500), flows: 1 };

/// Flows 0 and 1 from h0 and h1 to h2. A flow is found above 2500 B and isolated under priority 2; from two isolated packets
/// on, one message per microsecond. Released after 50 us; messages hold for 200 us.
fn switch(change: impl FnOnce(&mut IsolationParams)) -> Bench {
    Bench::switch(&[flow(0, 2, 20), flow(1, 2, 20)], |setup| {
        let params = &mut setup.params.switch;
        params.lossless = vec![2, 3];
        params.isolation = IsolationParams {
            enabled: true,
            detection: MARKS,
            message_above: Bytes(1250),
            message_every: Time::us(1),
            message: Bytes(125),
            release_below: Bytes(2500),
            ..IsolationParams::default()
        };
        change(&mut params.isolation);
    })
}

/// h2 pauses priorities 2 and 3 from 0 on.
fn paused(change: impl FnOnce(&mut IsolationParams)) -> Bench {
    let mut bench = switch(change);
    bench.put(2, &[(0, Xoff(2, 0)), (0, Xoff(3, 0))]);
    bench
}

/// One per 100 ns.
fn packets(flow: u32, begin: u64, count: u64) -> Vec<(u64, Frame)> {
    (0..count).map(|number| (begin + 100 * number, Data(flow, number))).collect()
}

fn records(bench: &mut Bench) -> Vec<IsolationRecord> {
    bench.at_switch(|switch, _, _| super::records_in_order(switch.isolation_table().into_iter()))
}

/// `time` in ns.
fn sweep(bench: &mut Bench, time: u64) {
    bench.run(time);
    bench.nodes.books.now = 1000 * time;
    bench.nodes.sweep_isolated();
}

#[test]
fn a_packet_that_finds_a_long_queue_isolates_its_flow() {
    let mut bench = paused(|_| {});
    bench.put(0, &packets(0, 1000, 6));
    bench.run(3000);
    // They find 0, 1250, 2500 and 3750 B: the fourth is the first above 2500 B. It stays; the two behind it are isolated.
    let found =
        FoundIn { flow_bytes: 3750, queue_bytes: 3750, queue_flows: 1, pause_ago: Some(Time::ZERO), root: None };
    let record = IsolationRecord {
        port: bench.port(2),
        flow: 0,
        by: IsolatedBy::Marks,
        begin: Time::ns(1300),
        end: None,
        packets: 2,
        bytes: 2500,
        messages: 1,
        found: Some(found),
    };
    assert_eq!(records(&mut bench), [record]);
    assert_eq!(bench.out().ledger.retagged, [0, 0, 2500, -2500, 0, 0, 0, 0]);
}

#[test]
fn counters_isolate_the_flow_with_most_bytes() {
    let mut bench = paused(|params| params.detection = COUNTERS);
    bench.put(1, &packets(1, 900, 1));
    bench.put(0, &packets(0, 1000, 2));
    bench.put(1, &[(1500, Data(1, 1)), (1600, Data(1, 2))]);
    bench.put(0, &[(1700, Data(0, 2))]);
    bench.run(3000);
    // At 1500 ns flow 0 has 2500 of 3750 B queued; at 1600 ns it is isolated already.
    let found: Vec<_> = records(&mut bench).iter().map(|one| (one.begin.0 / 1000, one.flow, one.by)).collect();
    assert_eq!(found, [(1500, 0, IsolatedBy::Counters)]);
    assert_eq!(bench.out().ledger.retagged, [0, 0, 1250, -1250, 0, 0, 0, 0]);
}

#[test]
fn isolated_packets_do_not_overtake_earlier_ones_of_their_flow() {
    let mut bench = paused(|_| {});
    bench.put(0, &packets(0, 1000, 6));
    // The isolated queue may send from 3000 ns on, the other one from 4000 ns on.
    bench.put(2, &[(3000, Xon(2)), (4000, Xon(3))]);
    bench.run(3900);
    assert_eq!(bench.sent(2), []);
    bench.run(9000);
    let sent: Vec<_> = bench.packets(2).iter().map(|sent| (sent.end, sent.frame, sent.prio)).collect();
    let prios = [3, 3, 3, 3, 2, 2];
    let expected = (0..6).map(|number| (4100 + 100 * number, Data(0, number), prios[number as usize]));
    assert!(sent.into_iter().eq(expected));
}

#[test]
fn packets_of_other_flows_do_not_wait_for_isolated_ones() {
    let mut bench = paused(|params| params.detection = COUNTERS);
    bench.put(0, &packets(0, 1000, 6));
    bench.put(2, &[(3000, Xon(3))]);
    bench.put(1, &[(5000, Data(1, 0))]);
    bench.run(9000);
    let sent = bench.sent(2);
    assert_eq!(sent[3..], [(3400, Data(0, 3)), (5100, Data(1, 0))], "packets 4 and 5 of flow 0 stay paused");
}

#[test]
fn messages_upstream_begin_above_their_threshold_and_keep_their_interval() {
    let mut bench = paused(|_| {});
    bench.put(0, &packets(0, 1000, 20));
    bench.run(9000);
    // Packet 5, at 1500 ns, is the second isolated one; packet 15 comes 1 us later. A message takes 10 ns.
    assert_eq!(bench.sent(0), [(1510, Isolate(0)), (2510, Isolate(0))]);
    assert_eq!([bench.sent(1), bench.sent(3)], [vec![], vec![]]);
    assert_eq!((bench.counts().isolation_messages, records(&mut bench)[0].messages), (2, 2));
}

#[test]
fn a_flow_is_released_after_its_hold_time_and_upstream_is_notified() {
    let mut bench = paused(|_| {});
    bench.put(0, &packets(0, 1000, 6));
    bench.put(2, &[(4000, Xon(2)), (4000, Xon(3))]);
    sweep(&mut bench, 4450);
    // Last packet: 4500 ns.
    sweep(&mut bench, 54_499);
    assert_eq!(records(&mut bench)[0].end, None);
    sweep(&mut bench, 54_500);
    let ended = &records(&mut bench)[0];
    assert_eq!((ended.end, ended.messages), (Some(Time::ns(54_500)), 2));
    bench.put(0, &[(60_000, Data(0, 6))]);
    bench.run(70_000);
    assert_eq!(bench.sent(0), [(1510, Isolate(0)), (54_510, Release(0))]);
    assert_eq!(bench.packets(2).last().map(|sent| sent.prio), Some(3));
}

#[test]
fn a_message_isolates_a_flow_where_it_arrives_until_it_is_old_or_withdrawn() {
    // The message holds for 200 us. When it is withdrawn, at 60 us, the hold time of 50 us is over.
    for (withdrawn, last, end) in [(false, 200_000, 200_001), (true, 59_999, 60_001)] {
        let mut bench = switch(|_| {});
        bench.put(2, &[(0, Isolate(0))]);
        if withdrawn {
            bench.put(2, &[(60_000, Release(0))]);
        }
        bench.put(0, &[(500, Data(0, 0))]);
        bench.put(1, &[(700, Data(1, 0))]);
        bench.run(1000);
        let sent: Vec<_> = bench.packets(2).iter().map(|sent| (sent.end, sent.frame, sent.prio)).collect();
        assert_eq!(sent, [(600, Data(0, 0), 2), (800, Data(1, 0), 3)]);
        for time in [last, end] {
            sweep(&mut bench, time);
            let record = records(&mut bench)[0];
            assert_eq!((record.by, record.end), (IsolatedBy::Message, (time == end).then_some(Time::ns(end))));
        }
    }
}

#[test]
fn a_flow_that_arrives_isolated_stays_isolated() {
    let mut bench = switch(|_| {});
    bench.put_under(0, 1000, Data(0, 0), 2);
    bench.run(2000);
    assert_eq!(bench.packets(2)[0].prio, 2);
    let record = records(&mut bench)[0];
    assert_eq!((record.by, record.begin, record.packets, record.found), (IsolatedBy::Class, Time::ns(1000), 1, None));
}

#[test]
fn a_full_table_refuses_a_flow_unless_its_oldest_has_no_packets() {
    let mut bench = paused(|params| params.table = Some(1));
    bench.put(0, &packets(0, 1000, 6));
    bench.put(1, &packets(1, 2000, 1));
    bench.run(3000);
    assert_eq!((records(&mut bench).len(), bench.counts().isolations_refused), (1, 1));
    bench.put(2, &[(4000, Xon(2)), (4000, Xon(3)), (5000, Xoff(3, 0))]);
    bench.put(1, &(1..6).map(|number| (6000 + 100 * number, Data(1, number))).collect::<Vec<_>>());
    bench.run(9000);
    // Packet 4 of flow 1 finds 3750 B; flow 0 has left.
    let [first, second] = records(&mut bench).try_into().expect("two records");
    assert_eq!((first.flow, first.end), (0, Some(Time::ns(6400))));
    assert_eq!((second.flow, second.begin), (1, Time::ns(6400)));
}
