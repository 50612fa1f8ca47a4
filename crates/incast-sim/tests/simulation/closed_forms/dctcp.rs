//! DCTCP's sawtooth (Alizadeh et al., SIGCOMM 2010, section 3.3), for rates with windows that follow them.
//!
//! N synchronised flows, each growing by w per round trip, are marked from windows W* on, `N W* = C RTT + K`, and react a round
//! trip later, at W* + w. A window shrinks by `D = (W* + w) alpha / 2` and grows again in D / w round trips: the queue swings
//! by N D and peaks at K + N w. With a slow filter, alpha is the marked share of packets: one round trip in T. Two effects are
//! added:
//!
//! - The round trip after a cut has no increase: T = D / w + 1.
//! - For larger gains g, alpha decays until the next cut to `F g (1-g)^(T-1) / (1 - (1-g)^T)`, not F / T. F, the marked share
//!   of the marked round trip, is 1 with marks on arrival; marks on leaving last only for the round trip without the queue.
//!
//! A window is BDP times rate over line rate: `w = BDP AI / C`; the queue counts 1048 B per 1000 B of payload.

use incast_model::units::{Bytes, Rate, Time};
use incast_sim::congestion::{Control, DctcpParams};
use incast_sim::switch::{EcnThreshold, MarkAt};

use crate::common::{Bench, Cable, check, port, star, within};

const LINE: f64 = 100e9;
/// 10 us one way.
const CABLE: Cable = Cable::new(100, 10_000);
/// In bytes; above C RTT / 7 the link stays busy.
const K: f64 = 200_000.0;
const WIRE: f64 = 1.048;
/// Packet and ACK once on each link.
const RTT: f64 = 4.0 * 10e-6 + 2.0 * (1048.0 + 60.0) * 8.0 / LINE;
/// The payload once per link.
const BASE: f64 = 4.0 * 10e-6 + 2.0 * 1000.0 * 8.0 / LINE;
/// Additive increase in bit/s.
const AI: f64 = 615e6;

type Variant = (f64, MarkAt);

/// Swing and peak of the queue in bytes, period in s.
fn sawtooth(n: f64, (g, mark_at): Variant) -> (f64, f64, f64) {
    let step = BASE * LINE / 8.0 * AI / LINE;
    let marked = (RTT * LINE / 8.0 + K) / WIRE / n;
    let queued = RTT + K * 8.0 / LINE;
    let share = if mark_at == MarkAt::Enqueue { 1.0 } else { RTT / queued };
    let swing = |period: f64| {
        let kept = (1.0 - g).powf(period);
        (marked + step) / 2.0 * share * g * kept / (1.0 - g) / (1.0 - kept)
    };
    let (mut low, mut high) = (1.0, 1000.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if swing(middle) / step + 1.0 > middle { low = middle } else { high = middle }
    }
    (n * swing(low) * WIRE, K + n * step * WIRE, low * queued)
}

/// Queue each us, and the link's load.
fn queue(n: u32, (g, mark_at): Variant) -> (Vec<f64>, f64) {
    let from = Time::us((4.0 / g * 60.0) as u64);
    let until = from + Time::ms(25);
    let flows = (1..=n).map(|src| (src, 0, 5_000_000_000, Time::ZERO));
    let control = Control::Dctcp(DctcpParams { g, ..DctcpParams::default() });
    let bench = Bench::new(star(&vec![CABLE; n as usize + 1])).flows(flows).controlled(control);
    let bench = bench.with(|params| {
        let kmin = Bytes(K as u64);
        params.ecn.by_rate.push(EcnThreshold { rate: Rate::gbps(100), kmin, kmax: kmin, pmax: 1.0 });
        params.ecn.mark_at = mark_at;
        params.measure.sample_from = from;
        params.measure.sample_every = Some(Time::us(1));
        params.horizon = Some(until);
    });
    let outcome = bench.run();
    let link = port(&bench.fabric(), "s0", "h0");
    let samples: Vec<_> = outcome.queues.iter().filter(|sample| sample.port == link).skip(1).collect();
    let bits = samples.iter().map(|sample| 8.0 * sample.tx_bytes as f64).sum::<f64>();
    (samples.iter().map(|sample| sample.bytes as f64).collect(), bits / (until - from).seconds() / LINE)
}

/// Mean peak, trough and samples between peaks; troughs are at least `swing` / 2 lower.
fn peaks(queue: &[f64], swing: f64) -> (f64, f64, f64) {
    let (mut tops, mut bottoms): (Vec<(usize, f64)>, Vec<f64>) = (Vec::new(), Vec::new());
    let (mut rising, mut best) = (true, (0, queue[0]));
    for (at, &now) in queue.iter().enumerate() {
        let beyond = if rising { now > best.1 } else { now < best.1 };
        if beyond {
            best = (at, now);
        } else if (now - best.1).abs() > swing / 2.0 {
            if rising {
                tops.push(best)
            } else {
                bottoms.push(best.1)
            }
            (rising, best) = (!rising, (at, now));
        }
    }
    let mean = |values: &mut dyn ExactSizeIterator<Item = f64>| {
        let count = values.len() as f64;
        values.sum::<f64>() / count
    };
    let tops = &tops[1..tops.len() - 1];
    let period = (tops[tops.len() - 1].0 - tops[0].0) as f64 / (tops.len() - 1) as f64;
    (mean(&mut tops.iter().map(|top| top.1)), mean(&mut bottoms[1..].iter().copied()), period)
}

/// Largest tolerance for the swing: late cuts deepen the fall (8 flows: 18 %).
fn check_sawtooth(variant: Variant) {
    for n in [2u32, 4, 8] {
        let (swing, peak, period) = sawtooth(f64::from(n), variant);
        let (queue, load) = queue(n, variant);
        let (top, bottom, between) = peaks(&queue, swing);
        within("E2", &format!("swing of the queue of {n}, B"), swing, top - bottom, 0.2);
        within("E2", &format!("peak of the queue of {n}, B"), peak, top, 0.06);
        within("E2", &format!("period of {n}, us"), period * 1e6, between, 0.05);
        check("E2", &format!("load of the link, {n} flows"), "> 0.9999", load, load > 0.9999);
    }
}

#[test]
fn e2_sawtooth_of_the_paper() {
    check_sawtooth((1.0 / 256.0, MarkAt::Enqueue));
}

#[test]
fn e2_sawtooth_by_default() {
    check_sawtooth((1.0 / 16.0, MarkAt::Dequeue));
}
