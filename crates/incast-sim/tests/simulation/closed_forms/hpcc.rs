//! HPCC on a star of 100 Gb/s and 1 us: T = 4.16 us, W = 52 000 B.

use incast_model::units::{Rate, Time};
use incast_sim::Outcome;
use incast_sim::congestion::{Control, HpccParams};

use crate::common::{Bench, Cable, check, fct, port, record, star, within};

const CABLE: Cable = Cable::new(100, 1000);
const T: f64 = 4.16;
const W: f64 = 52_000.0;

fn hpcc(eta: f64, ai: u64) -> Control {
    Control::Hpcc(HpccParams { eta, ai: Rate::mbps(ai), ..HpccParams::default() })
}

fn long(n: u32, control: Control, [from, every, until]: [Time; 3]) -> (Bench, Outcome) {
    let flows = (1..=n).map(|src| (src, 0, 200_000_000, Time::ZERO));
    let bench = Bench::new(star(&vec![CABLE; n as usize + 1])).controlled(control).flows(flows).with(|params| {
        params.measure.sample_from = from;
        params.measure.sample_every = Some(every);
        params.horizon = Some(until);
    });
    let outcome = bench.run();
    (bench, outcome)
}

/// Load, mean and largest queue of h0's link.
fn link_load(bench: &Bench, outcome: &Outcome, every: Time) -> (f64, f64, f64) {
    let link = port(&bench.fabric(), "s0", "h0");
    let samples: Vec<_> = outcome.queues.iter().filter(|sample| sample.port == link).skip(1).collect();
    let bits = samples.iter().map(|sample| sample.tx_bytes * 8).sum::<u64>() as f64;
    let load = bits / (samples.len() as f64 * every.seconds() * 1e11);
    let mean = samples.iter().map(|sample| sample.bytes as f64).sum::<f64>() / samples.len() as f64;
    let most = samples.iter().map(|sample| sample.bytes).max().unwrap() as f64;
    (load, mean, most)
}

/// The link carries eta C + AI; payload is 1000 of 1090 wire bytes.
#[test]
fn e5_h1_one_flow() {
    for eta in [0.95, 0.99] {
        let every = Time::us(1);
        let (bench, outcome) = long(1, hpcc(eta, 50), [Time::us(200), every, Time::us(1200)]);
        let (load, _, most) = link_load(&bench, &outcome, every);
        within("E5 H1", &format!("load of the link, eta {eta}"), eta + 0.0005, load, 0.02);
        check("H1", "largest queue, B", "<= 1090", most, most <= 1090.0);
        let at = |time| outcome.rates.iter().find(|sample| sample.time == time).unwrap().acked as f64;
        let goodput = (at(Time::us(1200)) - at(Time::us(200))) * 8.0 / 1e-3 / 1e9;
        within("H1", &format!("goodput, eta {eta}, Gb/s"), (eta * 100.0 + 0.05) / 1.09, goodput, 0.02);
    }
}

/// (eta C)/N + AI per flow while `N AI <= (1 - eta) C`, with almost no queue.
#[test]
fn e5_h2_several_flows() {
    for (n, eta, ai) in [(2u32, 0.95, 50), (8, 0.95, 50), (8, 0.95, 500), (4, 0.99, 50)] {
        let every = Time::us(2);
        let (bench, outcome) = long(n, hpcc(eta, ai), [Time::ms(1), every, Time::ms(3)]);
        let (load, mean, _) = link_load(&bench, &outcome, every);
        let what = format!("load of {n} flows, eta {eta}, AI {ai}M");
        within("E5 H2", &what, eta + f64::from(n) * ai as f64 / 1e5, load, 0.02);
        check("H2", "mean queue, B", "< 5200 (W/10)", mean, mean < W / 10.0);
    }
}

/// eta = 1.5: the link is full, with a standing queue of `(eta - 1) C T`.
#[test]
fn e5_h3_standing_queue() {
    for n in [2u32, 4] {
        let every = Time::us(1);
        let (bench, outcome) = long(n, hpcc(1.5, 50), [Time::ms(1), every, Time::ms(3)]);
        let (load, mean, _) = link_load(&bench, &outcome, every);
        within("E5 H3", &format!("load of {n} flows, eta 1.5"), 1.0, load, 0.001);
        within("E5 H3", &format!("mean queue of {n} flows, in C T"), 0.5, mean / W, 0.1);
    }
}

/// The queue peaks at about (N - 1) windows of wire bytes. First reactions divide rates by about N/eta: the queue is gone
/// within 2 T plus the time to drain the peak. (Not 3 T: until the first window is acknowledged, rates start from the line
/// rate.)
#[test]
fn h4_incast() {
    let every = Time::ns(200);
    let (bench, outcome) = long(16, hpcc(0.95, 50), [Time::ZERO, every, Time::us(300)]);
    let link = port(&bench.fabric(), "s0", "h0");
    let peak = record(&outcome, link, 3).peak_queue as f64;
    within("H4", "peak queue, in windows of wire bytes", 15.0, peak / (W * 1.09), 0.1);
    let after = Time(((2.0 * (T + peak * 8.0 / 1e5)) * 1e6) as u64);
    let late = outcome.queues.iter().filter(|sample| sample.port == link && sample.time > after);
    let most = late.map(|sample| sample.bytes).max().unwrap() as f64;
    let what = format!("largest queue after 2 round trips, {:.0} us, B", after.seconds() * 1e6);
    check("H4", &what, format!("< {:.0} (W/4)", W / 4.0), most, most < W / 4.0);
    let early = outcome.rates.iter().filter(|sample| sample.time < Time::us(30));
    let least = early.map(|sample| sample.rate).min().unwrap() as f64 / 1e9;
    within("H4", "least rate in the first 30 us, Gb/s", 95.0 / 16.0, least, 0.1);
}

/// maxStage 0 restores eta C within a few round trips, maxStage 5 in up to 6 times as many.
#[test]
fn h5_survivor() {
    let back = |max_stage: u32| {
        let control = Control::Hpcc(HpccParams { max_stage, ..HpccParams::default() });
        let flows = [(1, 0, 50_000_000, Time::ZERO), (2, 0, 3_000_000, Time::ZERO)];
        let bench = Bench::new(star(&[CABLE; 3])).controlled(control).flows(flows).with(|params| {
            params.measure.sample_every = Some(Time::ns(100));
            params.horizon = Some(Time::ms(1));
        });
        let outcome = bench.run();
        let left = fct(&outcome, 1);
        let after = |sample: &&incast_sim::measure::RateSample| sample.flow == 0 && sample.time > left;
        let high = outcome.rates.iter().filter(after).find(|sample| sample.rate > 90_000_000_000).unwrap();
        (high.time - left).seconds() * 1e6 / T
    };
    let (zero, five) = (back(0), back(5));
    check("H5", "round trips until 90G, maxStage 0", "<= 3", zero, zero <= 3.0);
    check("H5", "round trips until 90G, maxStage 5", "<= 3 + 6", five, five <= 9.0 && five > zero);
}

#[test]
fn h9_header_cost() {
    let bytes = |name: &str, profile: &str| {
        let bench = Bench::new(star(&[CABLE; 2])).control(name, profile).flow(0, 1, 1_000_000, Time::ZERO);
        let outcome = bench.run();
        let of = |from: &str, to: &str| record(&outcome, port(&bench.fabric(), from, to), 3).tx_bytes as f64 / 1000.0;
        (of("h0", "s0"), of("h1", "s0"))
    };
    let (with, without) = (bytes("hpcc", "ns3"), bytes("dcqcn", "vendor"));
    within("H9", "wire bytes per 1000 B of payload with INT", 1090.0, with.0, 1e-9);
    within("H9", "wire bytes per 1000 B of payload without", 1048.0, without.0, 1e-9);
    within("H9", "ACK bytes with INT", 88.0, with.1, 1e-9);
    within("H9", "ACK bytes without", 60.0, without.1, 1e-9);
}
