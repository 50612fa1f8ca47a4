//! Dispatch of packets at a host: each kind reaches its handler.

use std::sync::Arc;

use incast_model::fabric::FabricBuilder;
use incast_model::flow::Flow;
use incast_model::units::{Rate, Time};

use crate::host::Carrier;
use crate::nodes::bench::Frame::{self, Ack, Cnp, Data, Isolate, Lost, Nack, Segment, Xoff, Xon};
use crate::nodes::bench::{Bench, flow};
use crate::setup::Setup;
use crate::transport::{Transport, UdpParams};

/// Flows with label 1 are of UDP, with a packet every 200 ns.
fn with_udp(setup: &mut Setup) {
    Arc::make_mut(&mut setup.flows).labels.push("udp".into());
    setup.transports = vec![Transport::Udp(UdpParams { rate: Some(Rate::gbps(50)) })];
    setup.carriers.push(Carrier::Transport(0));
}

/// h0 sends flow 0 until 300 ns, receives flow 1 by RDMA and, at 1000 ns, flow 2 by UDP.
fn host(arrival: Frame) -> Bench {
    let udp = Flow { label: 1, ..flow(2, 0, 1) };
    let mut bench = Bench::host(0, &[flow(0, 1, 3), flow(1, 0, 3), udp], with_udp);
    bench.run(1000);
    assert_eq!(bench.sent(0), [(100, Data(0, 0)), (200, Data(0, 1)), (300, Data(0, 2))]);
    bench.put(0, &[(1000, arrival)]);
    bench.run(2000);
    bench
}

/// Data, control and PFC frames received; wire bytes delivered by priorities 3 and 0.
fn received(bench: &Bench) -> (u64, u64, u64, u64, u64) {
    let (counts, delivered) = (bench.counts(), bench.out().ledger.delivered);
    (counts.data_hops, counts.ack_hops, counts.pfc_hops, delivered[3], delivered[0])
}

#[test]
fn data_reaches_its_receiver() {
    let mut bench = host(Data(1, 0));
    assert_eq!(received(&bench), (1, 0, 0, 1250, 0));
    assert_eq!(bench.sent(0), [(1010, Ack(1, 1))]);
}

#[test]
fn answers_reach_the_queue_pair() {
    let mut bench = host(Ack(0, 1));
    assert_eq!((received(&bench), bench.record(0).acked), ((0, 1, 0, 125, 0), 1000));
    assert_eq!(bench.sent(0), []);
    let mut bench = host(Nack(0, 2));
    assert_eq!((received(&bench), bench.record(0).nacks), ((0, 1, 0, 125, 0), 1));
    assert_eq!(bench.sent(0), [(1100, Data(0, 2))]);
    let bench = host(Cnp(0));
    assert_eq!((received(&bench), bench.record(0).marks), ((0, 1, 0, 125, 0), 1));
}

#[test]
fn pfc_frames_reach_the_port() {
    let bench = host(Xoff(3, 5000));
    assert_eq!((received(&bench), bench.pauses()), ((0, 0, 1, 0, 125), vec![(1000, Xoff(3, 5000))]));
    let bench = host(Xon(3));
    assert_eq!((received(&bench), bench.pauses()), ((0, 0, 1, 0, 125), vec![]), "nothing was paused");
}

#[test]
fn isolation_messages_reach_the_host() {
    let bench = host(Isolate(0));
    assert_eq!((received(&bench), bench.counts().isolation_messages_to_hosts), ((0, 1, 0, 0, 125), 1));
}

#[test]
fn segments_reach_their_transport() {
    let mut bench = host(Segment(2, 0));
    assert_eq!(received(&bench), (1, 0, 0, 1250, 0));
    let record = bench.record(2);
    assert_eq!((record.acked, record.delivered), (1000, Some(Time::ns(1000))));
    assert_eq!(bench.sent(0), [], "UDP does not acknowledge");
}

#[test]
fn lost_packets_vanish() {
    let mut bench = host(Lost(1, 0));
    let live = bench.out().progress.live;
    assert_eq!((received(&bench), live), ((0, 0, 0, 0, 0), 3), "three packets of flow 0 are on the wire");
    assert_eq!(bench.sent(0), []);
}

#[test]
fn a_transport_sends_by_its_own_timer() {
    let udp = Flow { label: 1, start: Time::ns(40), ..flow(0, 1, 3) };
    let mut bench = Bench::host(0, &[udp], with_udp);
    bench.run(5000);
    let sent: Vec<(u64, u8)> = bench.packets(0).iter().map(|sent| (sent.end, sent.prio)).collect();
    // A packet of 1250 B at 50 Gb/s: 200 ns.
    assert_eq!(sent, [(140, 3), (340, 3), (540, 3)]);
    assert_eq!(
        (bench.record(0).finish, bench.out().progress.done),
        (Some(Time::ns(440)), 1),
        "when the last one begins"
    );
}

#[test]
fn a_transport_sends_by_the_nic_towards_the_receiver() {
    let mut builder = FabricBuilder::new();
    let [h0, h1, h2] = ["h0", "h1", "h2"].map(|name| builder.host(name));
    let [s0, s1] = ["s0", "s1"].map(|name| builder.switch(name, 1));
    for (one, other) in [(h0, s0), (h0, s1), (h1, s0), (h2, s1), (s0, s1)] {
        builder.link(one, other, Rate::gbps(100), Time::us(1));
    }
    let fabric = Arc::new(builder.finish().expect("a fabric"));
    let flows = [Flow { label: 1, ..flow(0, 2, 2) }, Flow { label: 1, ..flow(0, 1, 1) }];
    let mut bench = Bench::host(0, &flows, |setup| {
        with_udp(setup);
        setup.fabric = fabric;
    });
    bench.run(5000);
    let mut ends = |nic| bench.packets(nic).iter().map(|sent| sent.end).collect::<Vec<_>>();
    assert_eq!([ends(0), ends(1)], [vec![100], vec![100, 300]]);
}
