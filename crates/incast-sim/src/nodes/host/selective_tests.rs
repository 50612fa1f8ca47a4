//! Selective repeat: retransmissions after each loss, and the end of the flow to the picosecond.

use std::sync::Arc;

use incast_model::fabric::generators::Star;
use incast_model::fabric::{HostId, NodeKind};
use incast_model::flow::{Flow, FlowSet};
use incast_model::rng::mix;
use incast_model::units::{Bytes, Rate, Time};
use proptest::prelude::*;

use crate::balance::{Balance, SprayParams};
use crate::congestion::{Control, WindowMode};
use crate::host::{RdmaParams, Recovery};
use crate::kernel::{Kind, Target};
use crate::nodes::host::Hosts;
use crate::nodes::out::Out;
use crate::nodes::packet::Packet;
use crate::nodes::{Cut, Nodes};
use crate::outcome::FlowRecord;
use crate::plan::Network;
use crate::progress::Halt;
use crate::setup::{ControlSetup, Params, Setup};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Goes,
    Lost,
    /// Changes places with the one behind.
    Overtaken,
}

/// Two hosts on a switch, 100 Gb/s and 1 us a link.
struct Case {
    size: u64,
    params: Params,
}

struct Ran {
    record: FlowRecord,
    lost: u64,
    in_flight: u64,
}

const RTO: Time = Time::us(320);
const RTO_LOW: Time = Time::us(100);

impl Case {
    fn packets(count: u64) -> Self {
        let mut params = Params::default();
        params.rdma.recovery = Recovery::SelectiveRepeat;
        params.rdma.rto = Some(RTO);
        params.rdma.rto_low = RTO_LOW;
        Self { size: 1000 * count, params }
    }

    fn with(mut self, set: impl FnOnce(&mut Params)) -> Self {
        set(&mut self.params);
        self
    }

    fn network(&self) -> Network {
        let flow = Flow {
            src: HostId(0),
            dst: HostId(1),
            size: Bytes(self.size),
            start: Time::ZERO,
            priority: 3,
            label: 0,
            sport: 1,
            dport: 2,
            path: None,
            until: None,
        };
        let control = Control::named("unlimited", "default").expect("a control");
        let setup = Setup {
            fabric: Arc::new(Star::new(2).build().expect("a fabric")),
            flows: Arc::new(FlowSet { flows: vec![flow], labels: vec!["flow".into()], ..FlowSet::default() }),
            controls: vec![ControlSetup { control, window: WindowMode::Off }],
            transports: Vec::new(),
            carriers: vec![crate::Carrier::Rdma(0)],
            tenancy: None,
            tags: None,
            params: self.params.clone(),
        };
        setup.checked().and_then(|setup| Network::new(setup.into_inner())).expect("a network")
    }

    /// `fate`: for each packet that leaves a host.
    fn run(&self, mut fate: impl FnMut(&Packet) -> Fate) -> Ran {
        let mut nodes = Nodes::new(self.network(), Cut::Whole);
        let (mut lost, mut in_flight) = (0, 0);
        while let Some((event, node)) = nodes.next_event() {
            let at_switch = nodes.network.fabric.node(node).kind == NodeKind::Switch;
            if let (Target::Arrival(port), true) = (event.target(), at_switch) {
                let Out { wires, carried, .. } = &mut nodes.partitions.whole().out;
                let wire = &mut wires[nodes.layout.ports[port].line];
                match fate(wire.front()) {
                    Fate::Goes => {}
                    Fate::Overtaken => wire.swap_front(),
                    Fate::Lost => {
                        lost += u64::from(wire.front().kind == Kind::Data);
                        wire.lose_front(carried);
                    }
                }
            }
            nodes.step_node(node, event);
            let flying =
                nodes.partitions.host(HostId(0)).pairs.all().iter().map(|pair| pair.stream.high - pair.stream.una);
            in_flight = flying.max().unwrap_or(0).max(in_flight);
        }
        let record = nodes.outcome(Halt::Finished).flows[0];
        let count = self.size.div_ceil(self.params.packets.payload.0);
        assert_eq!(record.packets, count + record.retransmitted, "new packets are sent once");
        assert_eq!(record.packets, count + u64::from(record.discarded) + lost, "every packet is kept once");
        assert_eq!(record.acked, self.size);
        assert!(record.delivered.is_some() && record.delivered < record.finish);
        Ran { record, lost, in_flight }
    }
}

/// Loses data packets, each as often as listed.
fn without(numbers: &[u64]) -> impl FnMut(&Packet) -> Fate {
    let mut left = numbers.to_vec();
    move |packet| {
        let at = left.iter().position(|&number| packet.kind == Kind::Data && packet.seq == 1000 * number);
        at.map_or(Fate::Goes, |at| {
            left.swap_remove(at);
            Fate::Lost
        })
    }
}

/// Loses the ACK of everything before a packet, once.
fn without_ack(number: u64) -> impl FnMut(&Packet) -> Fate {
    let mut left = 1;
    move |packet| {
        let hit = left > 0 && packet.kind == Kind::Ack && packet.seq == 1000 * number;
        left -= i32::from(hit);
        if hit { Fate::Lost } else { Fate::Goes }
    }
}

/// From the start of `packets` back to back until the last answer.
fn answered(packets: u64) -> Time {
    let rate = Rate::gbps(100);
    rate.time_for(1048) * (packets + 1) + rate.time_for(60) * 2 + Time::us(4)
}

/// Finish, packets sent again, NACKs, timeouts, discarded.
fn facts(ran: &Ran) -> (Time, u64, u32, u32, u32) {
    let FlowRecord { finish, retransmitted, nacks, timeouts, discarded, .. } = ran.record;
    (finish.expect("a finished flow"), retransmitted, nacks, timeouts, discarded)
}

#[test]
fn nothing_lost() {
    let ran = Case::packets(10).run(without(&[]));
    assert_eq!(facts(&ran), (answered(10), 0, 0, 0, 0));
}

/// The NACK of packet 4 resends packet 3; later packets have been kept.
#[test]
fn one_loss() {
    let ran = Case::packets(10).run(without(&[3]));
    assert_eq!(facts(&ran), (answered(5) + answered(1), 1, 6, 0, 0));
}

/// The NACK of packet 7 reports the loss of 6; one recovery for both.
#[test]
fn two_losses() {
    let ran = Case::packets(10).run(without(&[3, 6]));
    assert_eq!(facts(&ran), (answered(8) + answered(1), 2, 5, 0, 0));
    let ran = Case::packets(10).run(without(&[3, 4]));
    let second = Rate::gbps(100).time_for(1048);
    assert_eq!(facts(&ran), (answered(6) + answered(1) + second, 2, 5, 0, 0), "back to back");
}

/// No NACK reports a lost retransmission: the timeout counts from its sending.
#[test]
fn a_lost_retransmission() {
    let ran = Case::packets(10).run(without(&[3, 3]));
    assert_eq!(facts(&ran), (answered(5) + RTO + answered(1), 2, 6, 1, 0));
}

#[test]
fn a_lost_ack() {
    let ran = Case::packets(10).run(without_ack(4));
    assert_eq!(facts(&ran), (answered(10), 0, 0, 0, 0));
}

/// For its sender one packet is in flight: the short timeout, from the last ACK.
#[test]
fn the_last_ack() {
    let ran = Case::packets(10).run(without_ack(10));
    assert_eq!(facts(&ran), (answered(9) + RTO_LOW + answered(1), 1, 0, 1, 1));
}

#[test]
fn the_last_packet() {
    let ran = Case::packets(10).run(without(&[9]));
    assert_eq!(facts(&ran), (answered(9) + RTO_LOW + answered(1), 1, 0, 1, 0));
    let ran = Case::packets(1).run(without(&[0]));
    assert_eq!(facts(&ran), (RTO_LOW + answered(1), 1, 0, 1, 0));
    let ran = Case::packets(10).with(|params| params.rdma.rto_low_packets = 0).run(without(&[9]));
    assert_eq!(facts(&ran), (answered(9) + RTO + answered(1), 1, 0, 1, 0));
}

#[test]
fn a_tail() {
    let ran = Case::packets(10).run(without(&[5, 6, 7, 8, 9]));
    assert_eq!(facts(&ran), (answered(5) + RTO + answered(5), 5, 0, 1, 0));
    let ran = Case::packets(10).run(without(&[7, 8, 9]));
    assert_eq!(facts(&ran), (answered(7) + RTO_LOW + answered(3), 3, 0, 1, 0));
}

/// Lost for IRN, but not with a reordering window, which detects losses later.
/// Four packets have the long timeout. With a gap, and a window of one packet, they have the short one, which is over when the
/// NACK of packet 1 comes.
#[test]
fn a_short_timeout_that_is_over() {
    let case = Case::packets(4).with(|params| {
        (params.rdma.rto_low, params.rdma.reorder_window) = (Time::ns(4200), Some(1));
    });
    assert_eq!(facts(&case.run(without(&[0]))), (answered(2) + answered(1), 1, 3, 1, 0));
}

#[test]
fn a_reorder_window() {
    let overtaken = || {
        let mut once = without(&[3]);
        move |packet: &Packet| if once(packet) == Fate::Lost { Fate::Overtaken } else { Fate::Goes }
    };
    let ran = Case::packets(10).run(overtaken());
    assert_eq!((ran.record.retransmitted, ran.record.nacks, ran.record.discarded), (1, 1, 1));
    let patient = || Case::packets(10).with(|params| params.rdma.reorder_window = Some(2));
    let ran = patient().run(overtaken());
    assert_eq!(facts(&ran), (answered(10), 0, 1, 0, 0));
    let ran = patient().run(without(&[3]));
    assert_eq!(facts(&ran), (answered(7) + answered(1), 1, 6, 0, 0), "when packet 6 has come");
}

/// No later packets report a loss. Because of the gap the short timeout applies, and only the gap is resent.
#[test]
fn a_gap_near_the_end() {
    let patient = || Case::packets(20).with(|params| params.rdma.reorder_window = Some(6));
    let ran = patient().run(without(&[12]));
    assert_eq!(facts(&ran), (answered(20) + answered(1), 1, 7, 0, 0), "the seventh packet after it tells");
    let ran = patient().run(without(&[14]));
    assert_eq!(facts(&ran), (answered(14) + RTO_LOW + answered(1), 1, 5, 1, 0));
    let ran = patient().with(|params| params.rdma.rto = None).run(without(&[12]));
    assert_eq!(facts(&ran).3, 0, "timeouts are off");
}

/// 0 without reordering, else the packets that a sender bound by the bandwidth-delay product can send after a packet: the last
/// packet of a round trip reports every loss within a long flow.
#[test]
fn the_default_window() {
    let spray = Balance::Spray(SprayParams::default());
    let window = |balance, given| {
        RdmaParams { reorder_window: given, ..RdmaParams::default() }.reorder_packets(
            balance,
            Bytes(98_100),
            Bytes(1000),
        )
    };
    assert_eq!((window(&Balance::Ecmp, None), window(&spray, None)), (0, 97));
    assert_eq!((window(&Balance::Ecmp, Some(7)), window(&spray, Some(0))), (7, 0));
    let tiny = RdmaParams::default().reorder_packets(&spray, Bytes(900), Bytes(1000));
    let huge = RdmaParams::default().reorder_packets(&spray, Bytes(1 << 40), Bytes(1000));
    assert_eq!((tiny, huge), (0, 32_767));
    let ran = Case::packets(400).with(|params| params.network.load_balancing = spray.clone()).run(without(&[20, 150]));
    assert_eq!((ran.record.retransmitted, ran.record.timeouts), (2, 0));
}

/// Bytes in flight may exceed the bound, the bandwidth-delay product, by less than a packet.
#[test]
fn the_bound() {
    let bdp = |ran: &Ran| ran.in_flight;
    let bound = bdp(&Case::packets(400).run(without(&[20])));
    // Two links of 1 us and 100 Gb/s: 4 us and a payload a link.
    let expected = 12_500 * 4 + 2 * 1000;
    assert!((expected..expected + 1000).contains(&bound), "{bound}");
    let free = Case::packets(400).with(|params| params.rdma.bdp_bound = false);
    assert!(bdp(&free.run(without(&[20]))) > expected + 1000);
}

/// An ACK for every fourth packet, and immediately when a gap is filled.
#[test]
fn fewer_acks() {
    let ran = Case::packets(10).with(|params| params.rdma.ack_every = 4).run(without(&[5]));
    assert_eq!(facts(&ran), (answered(7) + answered(1), 1, 4, 0, 0));
}

#[test]
fn no_third_time() {
    let ran = Case::packets(55).run(without(&[0, 50, 52]));
    assert_eq!((ran.record.retransmitted, ran.lost), (3, 3));
}

proptest! {
    #[test]
    fn any_losses(count in 1u64..150, window in 0u32..4, permille in 0u64..400, seed: u64, ack_every in 1u32..4) {
        let mut draws = 0;
        let ran = Case::packets(count)
            .with(|params| {
                params.rdma.reorder_window = Some(window);
                params.rdma.ack_every = ack_every;
            })
            .run(|packet| {
                draws += 1;
                let draw = mix(seed ^ mix(draws)) % 1000;
                if draw < permille {
                    Fate::Lost
                } else if packet.kind == Kind::Data && draw < permille + 100 {
                    Fate::Overtaken
                } else {
                    Fate::Goes
                }
            });
        prop_assert!(ran.record.finish >= Some(ran.record.ideal_exact));
    }

    #[test]
    fn no_more_is_sent_again_than_by_go_back_n(count in 1u64..100, lost in prop::collection::btree_set(0u64..100, 0..12)) {
        let lost: Vec<u64> = lost.into_iter().filter(|&number| number < count).collect();
        let repeat = Case::packets(count).run(without(&lost));
        prop_assert_eq!(repeat.record.retransmitted, repeat.lost, "only what is lost");
        let back = Case::packets(count).with(|params| params.rdma.recovery = Recovery::GoBackN).run(without(&lost));
        prop_assert!(repeat.record.retransmitted <= back.record.retransmitted);
    }
}
