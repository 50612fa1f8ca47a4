use std::collections::VecDeque;

use incast_model::units::{Bytes, Time};
use incast_sim::congestion::{Control, SwiftParams, TimelyPatchedParams};

use crate::common::{Bench, Cable, chain, check, exact, fct, jain, port, star, within};

/// 12.5 bytes per ns.
const CABLE: Cable = Cable::new(100, 1000);
/// Wire bytes with time stamp.
const PACKET: f64 = 1056.0;
const ACK: f64 = 60.0;
/// In us: 4 us of wire, a packet and an ACK serialised twice.
const BASE: f64 = 4.0 + 2.0 * (PACKET + ACK) * 8.0 / 1e5;

/// Wire rates in Gb/s, mean queueing delay in us.
fn greedy(n: u32, control: Control, apart: Time, [from, until]: [Time; 2]) -> (Vec<f64>, f64) {
    let hosts = n.min(100);
    let flows = (0..n).map(|flow| (1 + flow % hosts, 0, 5_000_000_000, apart * u64::from(flow)));
    let bench = Bench::new(star(&vec![CABLE; hosts as usize + 1])).controlled(control).flows(flows).with(|params| {
        params.measure.sample_from = from;
        params.measure.sample_every = Some(Time::us(100));
        params.horizon = Some(until);
    });
    let outcome = bench.run();
    let link = port(&bench.fabric(), "s0", "h0");
    let bytes = outcome.queues.iter().filter(|sample| sample.port == link).map(|sample| sample.bytes).sum::<u64>();
    let samples = (until - from).0 / Time::us(100).0 + 1;
    let mut acked = vec![(u64::MAX, 0); n as usize];
    for sample in &outcome.rates {
        let (first, last) = &mut acked[sample.flow as usize];
        (*first, *last) = (sample.acked.min(*first), sample.acked);
    }
    let gbps = PACKET / 1000.0 * 8.0 / 1e9 / (until - from).seconds();
    let rates = acked.iter().map(|(first, last)| (last - first) as f64 * gbps).collect();
    (rates, bytes as f64 / samples as f64 / 12_500.0)
}

/// Swift's window (packets) at which the round-trip time equals its target (us): path and queue hold `n cwnd` packets.
fn swift_fixed_point(n: f64, params: &SwiftParams, links: f64) -> (f64, f64) {
    let us = |time: Time| time.seconds() * 1e6;
    let (low, high) = (params.fs_min_cwnd.powf(-0.5), params.fs_max_cwnd.powf(-0.5));
    let target = |cwnd: f64| {
        let share = ((cwnd.powf(-0.5) - high) / (low - high)).clamp(0.0, 1.0);
        us(params.base_target) + links * us(params.hop_scale) + us(params.fs_range) * share
    };
    // Bytes of all windows beyond the target at full rate.
    let excess = |cwnd: f64| n * cwnd * PACKET - target(cwnd) * 12_500.0;
    let (mut least, mut most) = (1e-3, 1e4);
    for _ in 0..100 {
        let middle = f64::sqrt(least * most);
        if excess(middle) > 0.0 { most = middle } else { least = middle }
    }
    (least, target(least))
}

/// Target less base round-trip time. (2 flows still converge.)
#[test]
fn e6_swift() {
    let params = SwiftParams::default();
    for (n, from, until) in [(2u32, 20, 40), (8, 20, 60), (64, 20, 60), (500, 40, 80)] {
        let (rates, delay) = greedy(n, Control::Swift(params.clone()), Time::us(2), [Time::ms(from), Time::ms(until)]);
        let (cwnd, target) = swift_fixed_point(f64::from(n), &params, 2.0);
        let name = |what: &str| format!("{what} of {n}, windows of {cwnd:.2} packets");
        within("E6", &name("queueing delay, us"), target - BASE, delay, 0.2);
        within("E6", &name("load of the link, Gb/s"), 100.0, rates.iter().sum(), 0.02);
        let index = jain(&rates);
        check("E6", &name("Jain's index"), "> 0.95", index, index > 0.95);
    }
}

/// Above the target: an ACK below it adds a whole packet to a window of half a packet.
#[test]
fn e6_swift_incast() {
    let params = SwiftParams::default();
    let (cwnd, target) = swift_fixed_point(2000.0, &params, 2.0);
    let run = |[from, until]: [u64; 2]| {
        greedy(2000, Control::Swift(params.clone()), Time::ZERO, [Time::ms(from), Time::ms(until)])
    };
    let (_, first) = run([0, 1]);
    check("E6", "delay in the first ms, us", "> 10 targets", first, first > 10.0 * target);
    let (rates, later) = run([40, 140]);
    let name = format!("delay after 40 ms, windows of {cwnd:.2} packets, us");
    check("E6", &name, "1 to 1.4 of the target", later, later > target - BASE && later < 1.4 * (target - BASE));
    within("E6", "load of the link, Gb/s", 100.0, rates.iter().sum(), 0.001);
    check("E6", "Jain's index of 2000", "> 0.95", jain(&rates), jain(&rates) > 0.95);
}

/// Equal rates, and a round-trip time of `ref (1 + N AI / (beta C))`.
#[test]
fn e7_patched_timely() {
    let params = TimelyPatchedParams::default();
    for n in [2u32, 4, 10] {
        let control = Control::TimelyPatched(params.clone());
        let (rates, delay) = greedy(n, control, Time::us(200), [Time::ms(150), Time::ms(250)]);
        let share = f64::from(n) * params.ai.0 as f64 / (params.beta * 1e11);
        let rtt = params.rtt_ref.seconds() * 1e6 * (1.0 + share);
        within("E7", &format!("queueing delay of {n}, us"), rtt - BASE, delay, 0.1);
        for rate in &rates {
            within("E7", &format!("rate of one of {n}, Gb/s"), 100.0 / f64::from(n), *rate, 0.05);
        }
    }
}

/// Completion time in ps of `packets` of 1500 B at 100 Gb/s. ACKs arrive 12.7392 us after their packets start: each adds its
/// share of a packet to the window, at first 15.
fn alone(packets: u64, whole: bool) -> u64 {
    let mut cwnd = 15.0 * 1500.0;
    let (mut sent, mut free, mut now) = (0u64, 0u64, 0u64);
    let mut acks = VecDeque::new();
    for acked in 0.. {
        while sent < packets && ((acked * 1500) as f64 + cwnd) >= ((sent + 1) * 1500) as f64 {
            let start = free.max(now);
            free = start + 120_000;
            sent += 1;
            acks.push_back(start + 12_739_200);
        }
        let Some(next) = acks.pop_front() else { break };
        now = next;
        cwnd += 1500.0 * 1500.0 / cwnd;
        cwnd = if whole { cwnd.floor() } else { cwnd };
    }
    now
}

/// Fat tree of 128 hosts, six links of 1 us. csg-htsim (commit 4fe5d85, `htsim_swift -nodes 128 -mtu 1500 -cwnd 15 -flowsize
/// N`) sends one packet more than requested: 12.8592 us for 1, 523.507 us for 1334, if windows are whole bytes.
#[test]
fn e6_swift_alone_as_in_htsim() {
    exact("E6", "htsim, 2 packets, ns", 12_859, alone(2, true) / 1000);
    exact("E6", "htsim, 1335 packets, ns", 523_507, alone(1335, true) / 1000);
    let fabric = chain(&[CABLE; 6]);
    for packets in [2, 16, 100, 1335] {
        let bench = Bench::new(fabric.clone()).control("swift", "htsim").flow(0, 1, packets * 1491, Time::ZERO);
        let outcome = bench
            .with(|params| {
                // 8 B of time stamp and the smallest header.
                params.packets.payload = Bytes(1491);
                params.packets.data_header = Bytes(1);
                params.packets.ack = Bytes(32);
                params.packets.min_ack = Bytes(40);
            })
            .run();
        exact("E6", &format!("{packets} packets, ps"), alone(packets, false), fct(&outcome, 0).0);
    }
    within("E6", "1335 packets, us", 523.507, alone(1335, false) as f64 / 1e6, 0.0025);
}
