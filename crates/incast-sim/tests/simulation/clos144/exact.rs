//! Lone flows and small contention, to the nanosecond.
//!
//! Times are YAPS's or, if "reordered", those of a program that keeps the order of simultaneous events. YAPS also waits a
//! picosecond before each packet of pHost and of the ideal scheduler.
//!
//! Flows named first go first: later ones start a picosecond later, or a seed selects the spines.

use incast_sim::Params;
use incast_sim::transport::{PfabricParams, TcpParams, Transport, TransportParams};

use super::{Case, flows, named, params, run};

const X: (u32, u32) = (0, 143);
const X50: (u32, u32) = (50, 143);
const RACK50: (u32, u32) = (50, 55);
const TWO: [Case; 2] = [(0, 143, 20, 0), (20, 143, 30, 0)];
const FOUR: [Case; 4] = [(0, 143, 20, 0), (0, 100, 50, 0), (20, 143, 5, 500), (40, 143, 100, 1000)];

/// Times in us.
fn compare(gbps: u64, transport: &Transport, seed: u64, cases: &[(&[Case], &[f64])]) {
    let mut wrong = Vec::new();
    for (case, expected) in cases {
        let params = Params { seed, ..params(transport) };
        let outcome = run(gbps, flows(case), transport.clone(), params);
        for ((flow, record), expected) in case.iter().zip(&outcome.flows).zip(*expected) {
            let fct = record.fct().unwrap().0 as f64 * 1e-6;
            let picoseconds = case.iter().map(|(.., packets, _)| *packets as f64).sum::<f64>() * 1.1e-6;
            if (fct - expected).abs() > 0.001 + picoseconds {
                wrong.push(format!("{gbps}G {} {flow:?}: {fct} us, expected {expected}", transport.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn alone(gbps: u64, transport: &Transport, (src, dst): (u32, u32), expected: &[(u64, f64)]) {
    for &(packets, fct) in expected {
        compare(gbps, transport, 1, &[(&[(src, dst, packets, 0)], &[fct])]);
    }
}

#[test]
fn pfabric() {
    let yaps = named("pfabric", "yaps");
    // Reordered: YAPS has 32.064 and 3002.064 for the last two.
    alone(40, &yaps, X, &[(1, 1.932), (10, 4.632), (100, 31.632), (10_000, 3001.632)]);
    alone(40, &yaps, X50, &[(1, 1.932), (10, 4.632), (100, 31.632)]);
    alone(40, &yaps, RACK50, &[(1, 1.124), (10, 3.824), (100, 30.824)]);
    alone(10, &yaps, X, &[(1, 2.928), (10, 13.728), (100, 121.728), (10_000, 12_001.728)]);
    alone(10, &yaps, X50, &[(1, 2.928), (10, 13.728), (100, 121.728)]);
    // Reordered: YAPS has 17.664 for the second of two, 9.140 and 23.664 in four.
    compare(40, &yaps, 2, &[(&TWO, &[7.632, 16.632]), (&FOUR, &[9.132, 22.632, 3.232, 38.132])]);
}

#[test]
fn a_window_without_handshake() {
    let Transport::Tcp(tcp) = named("tcp", "yaps") else { unreachable!() };
    let window = Transport::Tcp(TcpParams { handshake: false, init_cwnd: 6, ..tcp });
    // Reordered: YAPS has 5.064 and 32.064.
    alone(40, &window, X, &[(1, 1.932), (10, 4.764), (100, 31.764)]);
}

#[test]
fn tcp() {
    let yaps = named("tcp", "yaps");
    alone(40, &yaps, X, &[(1, 3.572), (10, 9.968), (100, 36.968), (10_000, 3006.968)]);
    alone(40, &yaps, X50, &[(1, 3.572), (10, 9.968), (100, 36.968)]);
    alone(40, &yaps, RACK50, &[(1, 1.956), (10, 6.004), (100, 33.004)]);
    alone(10, &yaps, X, &[(1, 4.688), (10, 17.744), (100, 125.744), (10_000, 12_005.744)]);
    // Reordered: YAPS has 17.936 for the first of two.
    compare(40, &yaps, 6, &[(&TWO, &[15.836, 20.336]), (&FOUR, &[18.536, 26.336, 8.436, 40.936])]);
}

#[test]
fn phost() {
    let yaps = named("phost", "yaps");
    alone(40, &yaps, X, &[(1, 1.940), (10, 6.272), (100, 33.272), (10_000, 3003.282)]);
    alone(40, &yaps, X50, &[(1, 1.940), (10, 6.272), (100, 33.272)]);
    alone(40, &yaps, RACK50, &[(1, 1.132), (10, 4.656), (100, 31.656)]);
    alone(10, &named("phost", "yaps-10g"), X, &[(1, 2.960), (10, 15.488), (100, 123.488), (10_000, 12_003.498)]);
    // Reordered: YAPS has 9.572 for the first of two.
    compare(40, &yaps, 1, &[(&TWO, &[9.272, 18.272]), (&FOUR, &[9.872, 36.880, 3.448, 38.872])]);
}

/// A long flow's tokens expire while its source is busy (docs/design/transports.md, "pHost").
#[test]
fn phost_busy_source() {
    let yaps = named("phost", "yaps");
    let pages = |long, short| -> Vec<Case> {
        let pages = (1..10).map(|k| (20, short, 3, 20_000 * k));
        std::iter::once((20, long, 685, 0)).chain(pages).collect()
    };
    // YAPS alone: 1.008 times the ideal.
    alone(40, &yaps, (20, 40), &[(685, 208.773)]);
    let shorts = [2.780, 2.580, 2.680, 2.780, 2.580, 2.680, 2.780, 2.580, 2.680];
    compare(40, &yaps, 1, &[(&pages(40, 80), &[&[281.373][..], &shorts].concat())]);
    let shorts = [1.764, 1.872, 1.980, 1.788, 1.896, 2.004, 1.812, 1.920, 2.029];
    compare(40, &yaps, 1, &[(&pages(24, 28), &[&[217.357][..], &shorts].concat())]);
}

#[test]
fn fastpass() {
    let yaps = named("fastpass", "yaps");
    alone(40, &yaps, X, &[(1, 4.898), (10, 7.767), (100, 36.454), (10_000, 3192.079)]);
    alone(40, &yaps, X50, &[(1, 5.302), (10, 8.171), (100, 36.858)]);
    alone(40, &yaps, RACK50, &[(1, 4.494), (10, 7.363), (100, 36.050)]);
    alone(10, &yaps, X50, &[(1, 14.008), (10, 25.483), (100, 140.233)]);
    compare(40, &yaps, 1, &[(&TWO, &[10.954, 20.921]), (&FOUR, &[12.566, 26.892, 6.366, 43.827])]);
}

#[test]
fn ideal() {
    let yaps = named("ideal", "yaps");
    alone(40, &yaps, X, &[(1, 1.932), (10, 4.632), (100, 31.632), (10_000, 3001.642)]);
    alone(40, &yaps, RACK50, &[(1, 1.124), (10, 3.824), (100, 30.824)]);
    alone(10, &yaps, X50, &[(1, 2.928), (10, 13.728), (100, 121.728)]);
    compare(40, &yaps, 2, &[(&TWO, &[7.632, 16.632]), (&FOUR, &[9.132, 22.632, 3.232, 38.132])]);
}

#[test]
fn ideal_times() {
    let yaps = named("pfabric", "yaps");
    for (gbps, case, expected) in [
        (40, (0, 143, 1, 0), 1.932),
        (40, (0, 143, 7, 0), 3.732),
        (40, (50, 55, 10, 0), 3.824),
        (10, (0, 143, 100, 0), 121.728),
    ] {
        let outcome = run(gbps, flows(&[case]), yaps.clone(), params(&yaps));
        let ideal = outcome.flows[0].ideal_exact.0 as f64 * 1e-6;
        assert!((ideal - expected).abs() < 1e-9, "{case:?}: {ideal} for {expected}");
        assert!(outcome.flows[0].fct() >= Some(outcome.flows[0].ideal_exact));
    }
    let two = Transport::Pfabric(PfabricParams::profile("disaggregation").unwrap());
    let outcome = run(40, flows(&[(0, 143, 3, 0)]), two.clone(), params(&two));
    assert!(outcome.flows[0].fct() > Some(outcome.flows[0].ideal_exact));
}
