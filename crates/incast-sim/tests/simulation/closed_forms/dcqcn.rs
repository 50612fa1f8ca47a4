use incast_model::units::{Bytes, Rate, Time};
use incast_sim::congestion::WindowMode;
use incast_sim::switch::{EcnThreshold, MarkAt};
use incast_sim::{Outcome, Params};

use crate::common::{Bench, Cable, check, star, within};

const G: f64 = 1.0 / 256.0;

/// Marks only the first packet of a long flow h1 to h5. Of five packets that arrive together at a port of twice their rate,
/// h1's leaves three waiting, above the threshold.
fn one_mark(set: impl FnOnce(&mut Params)) -> Outcome {
    let edge = Cable::new(100, 1000);
    let bench = Bench::new(star(&[edge, edge, edge, edge, edge, Cable::new(200, 1000)])).control("dcqcn", "vendor");
    let bench = bench.flows(
        [(0, 5, 1000), (1, 5, 30_000_000), (2, 5, 1000), (3, 5, 1000), (4, 5, 1000)]
            .map(|(src, dst, size)| (src, dst, size, Time::ZERO)),
    );
    let step = EcnThreshold { rate: Rate::gbps(200), kmin: Bytes(3000), kmax: Bytes(3000), pmax: 1.0 };
    bench.with(|params| params.ecn.by_rate.push(step)).with(set).run()
}

/// First echo's return: its packet on both links behind h0's, its ACK on both.
fn echo() -> Time {
    let (edge, fast) = (Rate::gbps(100), Rate::gbps(200));
    let there = edge.time_for(1048).0 + 2 * fast.time_for(1048).0 + 2_000_000;
    let ack = fast.time_for(60).0 + edge.time_for(60).0 + 2_000_000;
    Time(there + ack)
}

/// An echo at 4.001 us cuts the rate by alpha/2 after four updates of alpha; every 300 us it rises half way to the target, at
/// most the line rate.
#[test]
fn q2_q7_cut_and_recovery() {
    let alpha = (1.0 - G).powi(4);
    let mut rate = 100.0 * (1.0 - alpha / 2.0);
    let rates_from = |from: Time| {
        let outcome = one_mark(|params| {
            params.measure.sample_from = from;
            params.measure.sample_every = Some(Time::us(300));
            params.horizon = Some(Time::us(1600));
        });
        assert_eq!((outcome.counts.marks, outcome.flows[1].marks), (1, 1), "one mark, one echo");
        let of_long = outcome.rates.iter().filter(|sample| sample.flow == 1);
        of_long.map(|sample| sample.rate as f64 / 1e9).collect::<Vec<f64>>()
    };
    let cut = echo() + Time::ns(4001);
    let (before, after) = (rates_from(cut - Time(1)), rates_from(cut));
    within("Q2", "first cut, rate after it, Gb/s", 50.776684, after[0], 1e-8);
    let mut last = 100.0;
    for step in 0..6 {
        let what = format!("{} us after the echo, Gb/s", 4 + 300 * step);
        within("Q7", &format!("1 ps before {what}"), last, before[step], 1e-8);
        within("Q7", &what, rate, after[step], 1e-8);
        last = rate;
        rate = (rate + 100.0) / 2.0;
    }
}

/// alpha after n us without echoes is `(1 - g)^n`: a second congestion after 177 us cuts half as much. Its echoes lift alpha by
/// at most g per us; the cut comes at most 4 us later.
#[test]
fn q1_alpha_decays() {
    let edge = Cable::new(100, 1000);
    let starts = [Time::us(10), Time::us(10 + 177)];
    let bursts = starts.into_iter().flat_map(|start| (1..9).map(move |src| (src, 9, 2000, start)));
    let bench =
        Bench::new(star(&[edge; 10])).control("dcqcn", "vendor").flow(0, 9, 10_000_000, Time::ZERO).flows(bursts);
    let step = EcnThreshold { rate: Rate::gbps(100), kmin: Bytes(9000), kmax: Bytes(9000), pmax: 1.0 };
    let outcome = bench
        .with(|params| {
            params.ecn.by_rate.push(step);
            params.ecn.mark_at = MarkAt::Enqueue;
            params.measure.sample_every = Some(Time::ns(100));
            params.horizon = Some(Time::us(250));
        })
        .run();
    let rates: Vec<u64> = outcome.rates.iter().filter(|sample| sample.flow == 0).map(|sample| sample.rate).collect();
    let cuts: Vec<f64> =
        rates.windows(2).map(|pair| pair[1] as f64 / pair[0] as f64).filter(|ratio| *ratio < 1.0).collect();
    let alphas: Vec<f64> = cuts.iter().map(|ratio| 2.0 * (1.0 - ratio)).collect();
    let second = *alphas.iter().find(|alpha| **alpha < 0.8).expect("a cut by the second congestion");
    let expected = (1.0 - G).powi(177);
    let tolerance = 8.0 * G;
    check("Q1", "alpha at the cut after 177 us", format!("{expected:.3} ± {tolerance:.3}"), second, {
        (second - expected).abs() < tolerance
    });
    check("Q2", "alpha at the first cut", "0.984 to 1", alphas[0], (0.98..=1.0).contains(&alphas[0]));
}

#[test]
fn q5_window_saves_pauses() {
    let pauses = |window: WindowMode| {
        let flows = (1..33).map(|src| (src, 0, 1_000_000, Time::ZERO));
        let bench =
            Bench::new(star(&[Cable::new(100, 1000); 33])).control("dcqcn", "vendor").window(window).flows(flows);
        let outcome = bench.with(|params| params.switch.buffer = Bytes(8 << 20)).run();
        assert_eq!(outcome.counts.drops, 0);
        outcome.counts.pauses
    };
    let (without, with) = (pauses(WindowMode::Off), pauses(WindowMode::Rate));
    check("Q5", "pauses of 32 to 1 without window", "> 0", without as f64, without > 0);
    check("Q5", "pauses with a window that follows the rate", "< a tenth", with as f64, 10 * with < without);
}
