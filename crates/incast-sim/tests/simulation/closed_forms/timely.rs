//! TIMELY (Mittal et al., SIGCOMM 2015, section 4) has no fixed point: at constant round-trip times every rate rises (Zhu et
//! al., CoNEXT 2016, section 4).

use incast_model::units::{Rate, Time};
use incast_sim::Outcome;
use incast_sim::congestion::{Control, TimelyParams};
use incast_sim::measure::QueueSample;

use crate::common::{Bench, Cable, check, port, star, within};

const CABLE: Cable = Cable::new(100, 1000);
/// 1000 B of payload, 48 B of headers, 8 B of time stamp.
const PACKET: f64 = 8.0 * 1056.0;
const ACK: f64 = 8.0 * 60.0;
/// Shared link, in bit/us.
const LINE: f64 = 1e5;

/// Without the first sample.
fn run(cables: &[Cable], params: &TimelyParams, [from, every, until]: [Time; 3]) -> (Vec<QueueSample>, Outcome) {
    let flows = (1..cables.len() as u32).map(|src| (src, 0, 2_000_000_000, Time::us(u64::from(src))));
    let bench = Bench::new(star(cables)).flows(flows).controlled(Control::Timely(params.clone())).with(|params| {
        params.measure.sample_from = from;
        params.measure.sample_every = Some(every);
        params.horizon = Some(until);
    });
    let outcome = bench.run();
    let link = port(&bench.fabric(), "s0", "h0");
    (outcome.queues.iter().filter(|sample| sample.port == link).skip(1).copied().collect(), outcome)
}

/// Utilisation; mean and largest queue, in us.
fn link(samples: &[QueueSample], [from, every, until]: [Time; 3]) -> (f64, f64, f64) {
    let bits: f64 = samples.iter().map(|sample| 8.0 * sample.tx_bytes as f64).sum();
    let queued = |sample: &QueueSample| 8.0 * sample.bytes as f64 / LINE;
    let time = (until - from).seconds();
    let mean = samples.iter().map(queued).sum::<f64>() * every.seconds() / time;
    (bits / (time * LINE * 1e6), mean, samples.iter().map(queued).fold(0.0, f64::max))
}

/// As `link`, for a lone flow with a link of twice the rate. A round ends with the sample of its first packet: half a packet's
/// time into the round on average, behind the previous rates' queue.
fn recursion(params: &TimelyParams, [from, until]: [f64; 2]) -> (f64, f64, f64) {
    let us = |time: Time| time.seconds() * 1e6;
    let mbps = |rate: Rate| rate.0 as f64 / 1e6;
    let base = 4.0 + 1.5 * (PACKET + ACK) / LINE;
    let (mut now, mut rate, mut queue, mut stage) = (0.0, 2.0 * LINE, 0.0, 0);
    let (mut last, mut difference): (Option<f64>, f64) = (None, 0.0);
    let (mut used, mut area, mut most) = (0.0, 0.0, 0.0f64);
    while now < until {
        let rtt = base + queue / LINE;
        let span = rtt + PACKET / rate / 2.0;
        let (before, grown) = (queue, (rate - LINE) * span);
        queue = f64::max(0.0, queue + grown);
        if now > from {
            used += if queue > 0.0 { LINE * span } else { before + rate * span };
            // A triangle if it empties, otherwise a trapezium.
            let full = if queue > 0.0 || before == 0.0 { span } else { before / (LINE - rate) };
            area += (before + queue) / 2.0 * full;
            most = most.max(queue / LINE);
        }
        now += span;
        let Some(previous) = last.replace(rtt) else { continue };
        difference = (1.0 - params.alpha) * difference + params.alpha * (rtt - previous);
        let gradient = difference / us(params.min_rtt);
        let factor = if rtt < us(params.t_low) {
            None
        } else if rtt > us(params.t_high) {
            Some(1.0 - params.beta * (1.0 - us(params.t_high) / rtt))
        } else {
            (gradient > 0.0).then(|| f64::max(0.0, 1.0 - params.beta * gradient))
        };
        match factor {
            None => {
                rate += if stage < params.hai_after { mbps(params.ai) } else { mbps(params.hai) };
                rate = rate.min(2.0 * LINE);
                stage += 1;
            }
            Some(factor) => (rate, stage) = (f64::max(rate * factor, mbps(params.min_rate)), 0),
        }
    }
    (used / LINE / (until - from), area / LINE / (until - from), most)
}

#[test]
fn e4_oscillation_of_one_flow() {
    let reference = TimelyParams::default();
    let variants = [
        ("reference", reference.clone()),
        ("AI / 10", TimelyParams { ai: Rate::mbps(10), hai: Rate::mbps(50), ..reference.clone() }),
        ("T_low 100 us", TimelyParams { t_low: Time::us(100), ..reference.clone() }),
        ("beta 0.4", TimelyParams { beta: 0.4, ..reference }),
    ];
    for (name, params) in variants {
        let times = [Time::ms(5), Time::us(1), Time::ms(45)];
        let (load, mean, most) = recursion(&params, [5e3, 45e3]);
        let (samples, _) = run(&[CABLE, Cable::new(200, 1000)], &params, times);
        let (load_found, mean_found, most_found) = link(&samples, times);
        within("E4", &format!("load of the link, {name}"), load, load_found, 0.02);
        within("E4", &format!("mean queue, {name}, us"), mean, mean_found, 0.1);
        within("E4", &format!("largest queue, {name}, us"), most, most_found, 0.15);
    }
}

#[test]
fn e4_several_flows() {
    for n in [2usize, 4, 8, 16] {
        let times = [Time::ms(20), Time::us(10), Time::ms(100)];
        let (samples, outcome) = run(&vec![CABLE; n + 1], &TimelyParams::default(), times);
        let (load, _, most) = link(&samples, times);
        let sum = outcome.rates.iter().map(|sample| sample.rate as f64).sum::<f64>() / 1e6;
        let rates = sum / (outcome.rates.len() / n) as f64 / LINE;
        check("E4", &format!("load of the link, {n} flows"), "> 0.8", load, load > 0.8);
        check("E4", &format!("largest queue of {n}, us"), "< 495", most, most < 495.0);
        within("E4", &format!("sum of the rates of {n}, of the link's load"), load, rates, 0.02);
    }
}

/// Below T_low, after the fifth increase: 500 Mb/s per round trip.
#[test]
fn e4_increase_below_the_lower_threshold() {
    let flows = [(1, 0, 500_000_000, Time::ZERO), (2, 0, 30_000_000, Time::ZERO)];
    let bench = Bench::new(star(&[CABLE; 3])).flows(flows).control("timely", "ns3").with(|params| {
        params.measure.sample_every = Some(Time::ns(100));
        params.measure.sample_from = Time::ms(5);
        params.horizon = Some(Time::ms(6));
    });
    let outcome = bench.run();
    let left = outcome.flows[1].finish.expect("a completed flow");
    let after = || outcome.rates.iter().filter(|sample| sample.flow == 0 && sample.time > left);
    let at = |gbps: u64| after().find(|sample| sample.rate >= gbps * 1_000_000_000).expect("it rises to this rate");
    let (low, high) = (at(75), at(95));
    let steps = (high.rate - low.rate) as f64 / 5e8;
    let packet = PACKET / ((low.rate + high.rate) as f64 / 2e6);
    let expected = 4.0 + 2.0 * (PACKET + ACK) / LINE + packet / 2.0;
    within("E4", "time of a step of 500 Mb/s, us", expected, (high.time - low.time).seconds() * 1e6 / steps, 0.005);
}
