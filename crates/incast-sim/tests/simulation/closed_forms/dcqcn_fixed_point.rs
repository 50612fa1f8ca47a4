//! Fixed point of DCQCN: its paper's reaction point at 40 Gb/s, RED marks of 5 kB, 200 kB, 1 %.
//!
//! The fluid model (Zhu et al., SIGCOMM 2015; CoNEXT 2016) has equal CNP probabilities in every interval of 50 us. Real CNPs
//! are at least 50 us apart: gain and loss balance at a marking probability 27 % to 33 % higher.

use incast_model::rng::{stream, unit};
use incast_model::units::{Bytes, Rate, Time};
use incast_sim::switch::EcnThreshold;

use crate::common::{Bench, Cable, check, jain, port, star, within};

const LINE: f64 = 40e9;
/// Bits of a packet.
const PACKET: f64 = 8.0 * 1048.0;
/// Least time between CNPs, in s.
const SPACING: f64 = 50e-6;
/// Timer of alpha and of increase, in s.
const TIMER: f64 = 55e-6;
/// Byte counter, in bits.
const COUNTER: f64 = 80e6;
const AI: f64 = 40e6;
const HAI: f64 = 400e6;
const FAST: u32 = 5;
const G: f64 = 1.0 / 256.0;

/// Marking probability in the fluid model: the root of `alpha hit / SPACING = gap (b + t)` with `alpha = 1 - (1-p)^(TIMER r)`;
/// `r` in packets per second, `counter` in packets.
fn fluid(rate: f64) -> f64 {
    let (r, counter, f) = (rate / PACKET, COUNTER / PACKET, f64::from(FAST));
    bisect(|p| {
        let q = 1.0 - p;
        let hit = 1.0 - q.powf(SPACING * r);
        let (b, t) = (p / (q.powf(-counter) - 1.0), p / (q.powf(-TIMER * r) - 1.0));
        let gap = SPACING * AI / PACKET * r * (q.powf(f * counter) * b + q.powf(f * TIMER * r) * t) / hit;
        (1.0 - q.powf(TIMER * r)) / SPACING * hit > gap * (b + t)
    })
}

/// Marking probability of a lone reaction point.
fn balance(rate: f64, spacing: f64) -> f64 {
    bisect(|p| (0..4).map(|seed| mean_rate(p, rate, spacing, seed)).sum::<f64>() / 4.0 < rate)
}

fn bisect(enough: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (1e-5f64, 0.1f64);
    for _ in 0..16 {
        let middle = (low * high).sqrt();
        if enough(middle) { high = middle } else { low = middle }
    }
    (low * high).sqrt()
}

/// Mean over 2 s, at marking probability `p`; constant between events.
fn mean_rate(p: f64, start: f64, spacing: f64, seed: u64) -> f64 {
    let mut rng = stream(seed, "test/marks", 0);
    let (mut rate, mut target, mut alpha) = (start, start, 1.0 - (1.0 - p).powf(TIMER * start / PACKET));
    let (mut now, mut sent) = (0.0, 0.0);
    while now < 2.0 {
        let mut unmarked = (1.0 - unit(&mut rng)).ln() / (1.0 - p).ln();
        let blind = now + spacing;
        let (mut timer, mut steps, mut counted) = (now + TIMER, (0u32, 0u32), 0.0);
        loop {
            let full = now + (COUNTER - counted) / rate;
            let next = timer.min(full);
            let looking = now.max(blind).min(next);
            let cnp = looking + unmarked * PACKET / rate;
            let until = next.min(cnp);
            sent += rate * (until - now);
            counted += rate * (until - now);
            now = until;
            if cnp < next {
                break;
            }
            unmarked -= (next - looking) * rate / PACKET;
            if next == timer {
                alpha *= 1.0 - G;
                steps.0 += 1;
                timer += TIMER;
            } else {
                steps.1 += 1;
                counted = 0.0;
            }
            let (most, least) = (steps.0.max(steps.1), steps.0.min(steps.1));
            let hyper = if least > FAST { HAI * f64::from(least - FAST) } else { AI };
            target = (target + if most < FAST { 0.0 } else { hyper }).min(LINE);
            rate = (rate + target) / 2.0;
        }
        target = rate;
        rate *= 1.0 - alpha / 2.0;
        alpha = (1.0 - G) * alpha + G;
    }
    sent / now
}

/// Rates in Gb/s of wire bytes; mean queue in bytes.
fn simulated(n: u32) -> (Vec<f64>, f64) {
    let (from, until) = (Time::ms(100), Time::ms(500));
    let flows = (1..=n).map(|src| (src, 0, 5_000_000_000, Time::us(u64::from(src))));
    let bench = Bench::new(star(&vec![Cable::new(40, 1000); n as usize + 1])).flows(flows).control("dcqcn", "paper");
    let bench = bench.with(|params| {
        let red = EcnThreshold { rate: Rate::gbps(40), kmin: Bytes(5000), kmax: Bytes(200_000), pmax: 0.01 };
        params.ecn.by_rate.push(red);
        params.measure.sample_from = from;
        params.measure.sample_every = Some(Time::us(20));
        params.horizon = Some(until);
    });
    let outcome = bench.run();
    let link = port(&bench.fabric(), "s0", "h0");
    let queue: Vec<f64> = outcome.queues.iter().filter(|s| s.port == link).map(|s| s.bytes as f64).collect();
    let rate = |flow: u32| {
        let mut acked = outcome.rates.iter().filter(|sample| sample.flow == flow).map(|sample| sample.acked);
        let first = acked.next().unwrap();
        (acked.next_back().unwrap() - first) as f64 * 1.048 * 8.0 / 1e9 / (until - from).seconds()
    };
    ((0..n).map(rate).collect(), queue.iter().sum::<f64>() / queue.len() as f64)
}

fn red_queue(p: f64) -> f64 {
    5000.0 + p * 195_000.0 / 0.01
}

#[test]
fn e3_q3_q4_fixed_point() {
    let mut last = 0.0;
    for n in [2u32, 4, 8] {
        let fair = LINE / f64::from(n);
        within(
            "E3",
            &format!("queue of {n}, no CNP spacing, B"),
            red_queue(fluid(fair)),
            red_queue(balance(fair, 0.0)),
            0.1,
        );
        let (rates, queue) = simulated(n);
        within("E3", &format!("queue of {n} flows, B"), red_queue(balance(fair, SPACING)), queue, 0.1);
        for rate in &rates {
            within("E3", &format!("rate of one of {n}, Gb/s"), fair / 1e9, *rate, 0.05);
        }
        check("Q3", &format!("Jain's index of {n} flows"), "> 0.95", jain(&rates), jain(&rates) > 0.95);
        check("Q4", &format!("queue of {n} flows grows with N, B"), format!("> {last:.0}"), queue, queue > last);
        last = queue;
    }
}
