//! Utilisation under HPCC over PINT.
//!
//! A switch rounds a utilisation x to a power of the base b, with mean x (Ben Basat et al., SIGCOMM 2020, section 4.3). A
//! sender divides by the decoded value: a steady rate solves x = eta up to `(b-1)/(2 sqrt b)`, the spread of one rounding: 2.4
//! % for b = 1.05.

use incast_model::units::{Rate, Time};
use incast_sim::congestion::{Control, HpccPintParams};

use crate::common::{Bench, Cable, chain, check, jain, port, star, within};

const CABLE: Cable = Cable::new(100, 1000);

fn pint(eta: f64, log_base: f64) -> Control {
    Control::HpccPint(HpccPintParams { eta, log_base, ai: Rate::mbps(50), ..HpccPintParams::default() })
}

/// Load, mean queue in bytes, and bytes acknowledged per flow.
fn steady(bench: Bench, n: u32, from: &str, to: &str) -> (f64, f64, Vec<f64>) {
    let (begin, every, until) = (Time::ms(1), Time::us(2), Time::ms(5));
    let bench = bench.with(|params| {
        params.measure.sample_from = begin;
        params.measure.sample_every = Some(every);
        params.horizon = Some(until);
    });
    let outcome = bench.run();
    let link = port(&bench.fabric(), from, to);
    let samples: Vec<_> = outcome.queues.iter().filter(|sample| sample.port == link).skip(1).collect();
    let bits = samples.iter().map(|sample| 8.0 * sample.tx_bytes as f64).sum::<f64>();
    let queue = samples.iter().map(|sample| sample.bytes as f64).sum::<f64>() / samples.len() as f64;
    let acked = |flow| {
        let mut of_flow = outcome.rates.iter().filter(move |sample| sample.flow == flow).map(|sample| sample.acked);
        let first = of_flow.next().expect("a sample");
        (of_flow.next_back().expect("another") - first) as f64
    };
    (bits / (samples.len() as f64 * every.seconds() * 1e11), queue, (0..n).map(acked).collect())
}

/// The link carries eta C + N AI.
#[test]
fn e5_p3_p4_utilisation() {
    for (n, eta, base) in [(1u32, 0.95, 1.05), (1, 0.99, 1.05), (2, 0.95, 1.05), (8, 0.95, 1.05), (8, 0.95, 1.01)] {
        let flows = (1..=n).map(|src| (src, 0, 200_000_000, Time::ZERO));
        let bench = Bench::new(star(&vec![CABLE; n as usize + 1])).controlled(pint(eta, base)).flows(flows);
        let (load, queue, shares) = steady(bench, n, "s0", "h0");
        within("E5 P3", &format!("load of {n} flows, eta {eta}, base {base}"), eta + f64::from(n) * 5e-4, load, 0.02);
        check("P4", &format!("mean queue of {n} flows, B"), "< 5200 (W/10)", queue, queue < 5200.0);
        check("P4", &format!("Jain's index of {n} flows"), "> 0.95", jain(&shares), jain(&shares) > 0.95);
    }
}

/// Load at which divisions balance, `E[1 / decoded] = 1 / eta`, for the largest of `k` independent roundings to a power of
/// `base`.
fn balance(k: f64, eta: f64, base: f64) -> f64 {
    let low = base.powf(((512.0 * eta).ln() / base.ln()).floor()) / 512.0;
    let high = low * base;
    let all_low = (1.0 / eta - 1.0 / high) / (1.0 / low - 1.0 / high);
    low + (high - low) * (1.0 - all_low.powf(1.0 / k))
}

/// The mean of the largest rounded value exceeds the load by less than a step of the base.
#[test]
fn p1_the_largest_of_several_roundings() {
    for (links, base) in [(2usize, 1.05), (3, 1.05), (5, 1.05), (5, 1.1)] {
        let bench = Bench::new(chain(&vec![CABLE; links])).controlled(pint(0.95, base));
        let next = if links == 2 { "h1" } else { "s1" };
        let (load, ..) = steady(bench.flow(0, 1, 200_000_000, Time::ZERO), 1, "s0", next);
        let switches = links - 1;
        let expected = balance(switches as f64, 0.95, base);
        within("P1", &format!("load, {switches} switches, base {base}, eta 0.95"), expected, load, 0.01);
    }
}
