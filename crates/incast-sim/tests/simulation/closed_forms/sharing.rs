use incast_model::units::{Rate, Time};
use incast_sim::congestion::{Control, HpccParams};
use incast_sim::{Outcome, Params};

use crate::common::{Bench, Cable, check, jain, leaf_spine, parking_lot, port, record, star, two_switches, within};

/// `ai` of 400 Mb/s converges in hundreds of round trips, 50 Mb/s in thousands.
fn hpcc(eta: f64, ai: u64) -> Control {
    Control::Hpcc(HpccParams { eta, ai: Rate::mbps(ai), ..HpccParams::default() })
}

fn two_samples(params: &mut Params) {
    params.measure.sample_from = Time::ms(3);
    params.measure.sample_every = Some(Time::ms(2));
    params.horizon = Some(Time::ms(5) + Time(1));
}

/// In Gb/s on the wire.
fn rates(outcome: &Outcome, flows: usize) -> Vec<f64> {
    let acked = |flow: usize, time: Time| {
        let sample = outcome.rates.iter().find(|sample| sample.flow == flow as u32 && sample.time == time);
        sample.expect("an active flow").acked as f64
    };
    (0..flows).map(|flow| (acked(flow, Time::ms(5)) - acked(flow, Time::ms(3))) * 1.09 * 8.0 / 2e-3 / 1e9).collect()
}

/// Water-filling: C/n each.
#[test]
fn d1_one_link() {
    for n in [2u32, 4, 8] {
        let cables = vec![Cable::new(100, 1000); n as usize + 1];
        let flows = (1..=n).map(|src| (src, 0, 80_000_000, Time::ns(100 * u64::from(src))));
        let outcome = Bench::new(star(&cables)).controlled(hpcc(0.95, 400)).flows(flows).with(two_samples).run();
        let rates = rates(&outcome, n as usize);
        for rate in &rates {
            within("D1", &format!("{n} flows on one link of 100G, Gb/s"), 100.0 / f64::from(n), *rate, 0.1);
        }
        check("D1", &format!("{n} flows, Jain's index"), "> 0.99", jain(&rates), jain(&rates) > 0.99);
    }
}

/// One flow over all three links.
fn parking(ai: u64, crossed: &[(u32, u32)]) -> Vec<f64> {
    let pairs = [(0, 6)].into_iter().chain(crossed.iter().copied());
    let flows = pairs.map(|(src, dst)| (src, dst, 80_000_000, Time::ZERO));
    let bench = Bench::new(parking_lot(3, Cable::new(100, 1000))).controlled(hpcc(0.95, ai)).flows(flows);
    rates(&bench.with(two_samples).run(), 1 + crossed.len())
}

/// Max-min: C/2 each.
///
/// HPCC achieves it on one shared link only: it uses the largest of its hops' noisy utilisations. At the fixed point `R (1 -
/// eta/U) = AI`, this costs more the smaller AI is: with three shared links, the long flow gets 19.1 Gb/s at AI 50 Mb/s, 26.0
/// at 400 and 48.3 at 2400, which still satisfies `N AI <= (1 - eta) C`.
#[test]
fn d1_v7_parking_lot() {
    for ai in [50, 400] {
        for rate in parking(ai, &[(3, 4)]) {
            within("D1 V7", &format!("parking lot, one link shared, AI {ai}M, Gb/s"), 47.5, rate, 0.1);
        }
    }
    let mut last = 0.0;
    for ai in [50, 400, 2400] {
        let rates = parking(ai, &[(1, 2), (3, 4), (5, 7)]);
        let long = rates[0];
        check("V7", &format!("long flow's share grows, AI {ai}M, Gb/s"), format!("> {last:.1}"), long, long > last);
        last = long;
        for (flow, rate) in rates.into_iter().enumerate().filter(|_| ai == 2400) {
            let over = if flow == 0 { "3 links".into() } else { format!("link {flow}") };
            within("D1 V7", &format!("parking lot of 100G, flow over {over}, Gb/s"), 50.0, rate, 0.1);
        }
    }
}

/// A receiver's link limits one flow to 25G.
#[test]
fn d1_unequal_needs() {
    let cable = Cable::new(100, 1000);
    let fabric = two_switches(&[cable; 2], cable, &[cable, Cable::new(25, 1000)]);
    let flows = [(0, 2, 80_000_000, Time::ZERO), (1, 3, 80_000_000, Time::ZERO)];
    let outcome = Bench::new(fabric).controlled(hpcc(0.95, 400)).flows(flows).with(two_samples).run();
    let rates = rates(&outcome, 2);
    within("D1", "flow to a receiver of 100G, Gb/s", 75.0, rates[0], 0.1);
    within("D1", "flow to a receiver of 25G, Gb/s", 25.0, rates[1], 0.1);
}

/// Chi-square at 1 %, and none beyond `m/p + 2 sqrt(2 (m/p) ln p)` of m flows over p equal paths.
#[test]
fn d4_ecmp_balance() {
    // 99 % quantiles of chi-square, p - 1 degrees of freedom.
    for (paths, quantile) in [(2usize, 6.635), (3, 9.210), (8, 18.475)] {
        for seed in 0..3 {
            let fabric = leaf_spine(2, 16, paths, Cable::new(100, 100), Cable::new(100, 100));
            let flows = (0..6000u32).map(|k| (k % 16, 16 + k / 16 % 16, 100, Time::ns(100 * u64::from(k))));
            let bench = Bench::new(fabric).flows(flows).with(|params| params.seed = seed);
            let outcome = bench.run();
            let used = |to: usize| record(&outcome, port(&bench.fabric(), "s0", &format!("s{}", 2 + to)), 3).tx_packets;
            let used: Vec<f64> = (0..paths).map(|to| used(to) as f64).collect();
            assert_eq!(used.iter().sum::<f64>(), 6000.0);
            let mean = 6000.0 / paths as f64;
            let chi: f64 = used.iter().map(|count| (count - mean).powi(2) / mean).sum();
            let what = format!("chi-square of 6000 flows over {paths} paths, seed {seed}");
            check("D4", &what, format!("< {quantile}"), chi, chi < quantile);
            let bound = mean + 2.0 * (2.0 * mean * (paths as f64).ln()).sqrt();
            let most = used.iter().fold(0.0f64, |a, b| a.max(*b));
            check("D4", "most flows on a path", format!("< {bound:.0}"), most, most < bound);
        }
    }
}
