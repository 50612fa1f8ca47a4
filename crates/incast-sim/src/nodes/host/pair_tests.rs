//! Sending side of queue pairs: start, window, acknowledgements, losses, end.

use incast_model::flow::Flow;
use incast_model::units::{Bytes, Time};

use crate::congestion::WindowMode;
use crate::nodes::bench::Frame::{self, Ack, Cnp, Data, Nack, Xoff, Xon};
use crate::nodes::bench::{Bench, flow};
use crate::setup::Setup;

/// Window of three packets, and a timeout of 10 us.
fn three_in_flight(setup: &mut Setup) {
    setup.controls[0].window = WindowMode::Fixed;
    setup.params.rdma.window = Some(Bytes(3000));
    setup.params.rdma.rto = Some(Time::us(10));
}

fn sender(packets: u64, arrivals: &[(u64, Frame)]) -> Bench {
    let mut bench = Bench::host(0, &[flow(0, 1, packets)], three_in_flight);
    bench.put(0, arrivals);
    bench
}

/// Back to back from `begin` on.
fn burst(begin: u64, numbers: std::ops::Range<u64>) -> Vec<(u64, Frame)> {
    (1..).map(|place| begin + 100 * place).zip(numbers.map(|number| Data(0, number))).collect()
}

#[test]
fn the_first_packet_begins_when_the_flow_starts() {
    let later = Flow { start: Time::ns(500), size: Bytes(2500), ..flow(0, 1, 3) };
    let mut bench = Bench::host(0, &[later], |_| {});
    bench.run(5000);
    // 2500 B: two full packets, and one of 500 B and 250 B of headers, 60 ns.
    assert_eq!(bench.sent(0), [(600, Data(0, 0)), (700, Data(0, 1)), (760, Data(0, 2))]);
    let record = bench.record(0);
    assert_eq!((record.start, record.packets, record.finish), (Some(Time::ns(500)), 3, None));
}

#[test]
fn a_window_limits_the_bytes_in_flight() {
    let mut bench = sender(9, &[(2000, Ack(0, 1)), (3000, Ack(0, 3))]);
    bench.run(5000);
    assert_eq!(bench.sent(0), [burst(0, 0..3), burst(2000, 3..4), burst(3000, 4..6)].concat());
    assert_eq!(bench.record(0).acked, 3000);
}

#[test]
fn an_old_acknowledgement_changes_nothing() {
    let mut bench = sender(9, &[(2000, Ack(0, 2)), (3000, Ack(0, 1)), (4000, Ack(0, 2))]);
    bench.run(5000);
    assert_eq!(bench.sent(0), [burst(0, 0..3), burst(2000, 3..5)].concat());
    assert_eq!((bench.record(0).acked, bench.out().progress.acked), (2000, 2000));
}

#[test]
fn a_nack_goes_back_to_the_packet_expected() {
    let mut bench = sender(9, &[(2000, Nack(0, 1))]);
    bench.run(5000);
    // Packets 1 and 2 again, and one that the acknowledgement of packet 0 allows.
    assert_eq!(bench.sent(0), [burst(0, 0..3), burst(2000, 1..4)].concat());
    let record = bench.record(0);
    assert_eq!((record.nacks, record.retransmitted, record.packets, record.acked), (1, 2, 6, 1000));
}

#[test]
fn a_timeout_goes_back_to_the_first_packet_not_acknowledged() {
    let mut bench = sender(9, &[(4000, Ack(0, 1))]);
    bench.run(20_000);
    // 10 us after the acknowledgement, packets 1 to 3 are sent again.
    assert_eq!(bench.sent(0), [burst(0, 0..3), burst(4000, 3..4), burst(14_000, 1..4)].concat());
    bench.run(30_000);
    assert_eq!(bench.sent(0), burst(24_000, 1..4), "10 us after packet 1");
    let record = bench.record(0);
    assert_eq!((record.timeouts, record.retransmitted), (2, 6));
}

#[test]
fn nothing_in_flight_causes_no_timeout() {
    // A pause keeps the fourth packet from 250 ns to 30 us; the others are acknowledged.
    let mut bench = sender(4, &[(250, Xoff(3, 0)), (400, Ack(0, 3)), (30_000, Xon(3))]);
    bench.run(39_999);
    assert_eq!(bench.sent(0), [burst(0, 0..3), burst(30_000, 3..4)].concat());
    assert_eq!(bench.record(0).timeouts, 0);
}

#[test]
fn an_acknowledgement_skips_packets_that_were_to_be_sent_again() {
    // After the timeout of 10 us, packet 0 is under way again when all three turn out to have arrived.
    let mut bench = sender(9, &[(10_050, Ack(0, 3))]);
    bench.run(15_000);
    assert_eq!(bench.sent(0), [burst(0, 0..3), burst(10_000, 0..1), burst(10_100, 3..6)].concat());
}

#[test]
fn a_flow_ends_when_its_last_byte_is_acknowledged() {
    let mut bench =
        sender(3, &[(400, Ack(0, 2)), (500, Ack(0, 3)), (600, Ack(0, 3)), (700, Nack(0, 1)), (800, Cnp(0))]);
    bench.run(500);
    assert_eq!((bench.record(0).finish, bench.out().progress.done), (None, 0));
    bench.run(50_000);
    let record = bench.record(0);
    assert_eq!((record.finish, bench.out().progress.done), (Some(Time::ns(500)), 1));
    // Later packets of the flow change nothing.
    assert_eq!((record.acked, record.nacks, record.marks, bench.out().progress.acked), (3000, 0, 0, 3000));
    assert_eq!(bench.sent(0), burst(0, 0..3));
}

#[test]
fn a_flow_leaves_its_place_to_the_next() {
    let next = Flow { start: Time::ns(1000), ..flow(0, 2, 2) };
    let mut bench = Bench::host(0, &[flow(0, 1, 2), next], three_in_flight);
    bench.put(0, &[(500, Ack(0, 2)), (1500, Ack(0, 2)), (1600, Ack(1, 2))]);
    bench.run(5000);
    assert_eq!(bench.sent(0), [burst(0, 0..2), vec![(1100, Data(1, 0)), (1200, Data(1, 1))]].concat());
    assert_eq!((bench.record(1).acked, bench.record(1).finish), (2000, Some(Time::ns(1600))));
    assert_eq!(bench.host_under_test().pairs.all().len(), 1);
}
