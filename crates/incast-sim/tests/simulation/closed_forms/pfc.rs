use incast_model::units::{Bytes, Time};
use incast_sim::Outcome;
use incast_sim::host::PacketParams;
use incast_sim::switch::{Headroom, PfcMode};

use crate::common::{Bench, Cable, check, exact, fct, jain, port, record, star, two_switches, within};

fn most_headroom(outcome: &Outcome) -> u64 {
    outcome.ports.iter().map(|record| record.peak_headroom).max().unwrap()
}

/// Two hosts send to a third over 40 m (0.2 us).
fn blast(headroom: Headroom, sizes: &[u64]) -> Outcome {
    let mut bench = Bench::new(star(&[Cable::new(40, 200); 3])).with(|params| {
        params.packets = PacketParams {
            payload: Bytes(1452),
            ack: Bytes(46),
            int_base: Bytes(0),
            int_records: 0,
            ..PacketParams::default()
        };
        params.switch.headroom = headroom;
        params.switch.pfc_mode = PfcMode::Static { xoff: Bytes(20_000) };
        params.horizon = Some(Time::ms(4));
    });
    for (index, &size) in sizes.iter().enumerate() {
        let start = Time::ns(77 * index as u64);
        bench = bench.flow(0, 2, size, start).flow(1, 2, size, start);
        bench = bench.flow(2, 0, size / 2, start).flow(2, 1, size / 2, start);
    }
    bench.run()
}

/// `H = 2 C d + 3 MTU + PFC frame`: 2000 + 4500 + 64 = 6564 B.
#[test]
fn g1_v9_headroom() {
    // Every phase against the pause frames.
    let sizes: Vec<u64> = (0..40).map(|k| 100_000 + 137 * k).collect();
    let given = blast(Headroom::Bytes(Bytes(6564)), &sizes);
    exact("G1 V9", "drops with 6564 B", 0, given.counts.drops);
    let computed = blast(Headroom::Computed, &sizes);
    exact("G1", "drops with the computed headroom", 0, computed.counts.drops);
    let used = most_headroom(&computed) as f64;
    check("G1 S5", "most headroom used, B", "<= 6564, > 5000", used, used <= 6564.0 && used > 5000.0);
    let less = blast(Headroom::Bytes(Bytes(6564 * 8 / 10)), &sizes);
    check("G1", "drops with 20 % less", "> 0", less.counts.drops as f64, less.counts.drops > 0);
    let little = blast(Headroom::Bytes(Bytes(4000)), &sizes);
    check("G1 V9", "drops with 4000 B", "> 0", little.counts.drops as f64, little.counts.drops > 0);
}

#[test]
fn g2_s2_pause_ratio() {
    let cable = Cable::new(100, 1000);
    let flows = [(0, 2, 40_000_000, Time::ZERO), (1, 2, 40_000_000, Time::ZERO)];
    let bench = Bench::new(star(&[cable; 3])).flows(flows).with(|params| {
        params.switch.pfc_mode = PfcMode::Static { xoff: Bytes(50_000) };
        params.horizon = Some(Time::ms(3));
    });
    let outcome = bench.run();
    let fabric = bench.fabric();
    for host in ["h0", "h1"] {
        let paused = record(&outcome, port(&fabric, host, "s0"), 3).paused.seconds() / outcome.end.seconds();
        within("G2", &format!("share of time that {host} is paused"), 0.5, paused, 0.02);
    }
    let link = record(&outcome, port(&fabric, "s0", "h2"), 3);
    within("S2", "receiver's link, share of 100G", 1.0, link.tx_bytes as f64 * 8.0 / 1e11 / 3e-3, 0.001);
    exact("S2", "drops", 0, outcome.counts.drops);
    let shares: Vec<f64> = outcome.flows.iter().map(|flow| flow.acked as f64).collect();
    check("S2", "Jain's index of the two senders", "> 0.999", jain(&shares), jain(&shares) > 0.999);
}

/// Filled at C and drained at C/4, XON an offset below XOFF; tau: from decision to effect. The queue swings by `offset + C
/// tau`, at 3/4 C up and 1/4 C down: a cycle takes `(offset + C tau) (4/3 + 4) 8 / C`.
#[test]
fn g3_hysteresis() {
    for packets in [2u64, 10, 50] {
        let bench = Bench::new(star(&[Cable::new(100, 500), Cable::new(25, 500)])).with(|params| {
            params.switch.pfc_mode = PfcMode::Static { xoff: Bytes(100_000) };
            params.switch.resume_offset = Bytes(packets * 1048);
            params.horizon = Some(Time::ms(2));
        });
        let bench = bench.flow(0, 1, 40_000_000, Time::ZERO);
        let outcome = bench.run();
        let switch = record(&outcome, port(&bench.fabric(), "s0", "h0"), 3);
        assert!(switch.xoff_sent - switch.xon_sent <= 1, "pause and resume alternate");
        // Frame, half a packet until the sender obeys, data back.
        let tau = 64.0 * 0.08e-9 + 2.0 * 500e-9 + 0.5 * 1048.0 * 0.08e-9;
        let swing = packets as f64 * 1048.0 + 12.5e9 * tau;
        let cycle = swing * (4.0 / 3.0 + 4.0) / 12.5e9;
        let filling = 104_096.0 * 4.0 / 3.0 / 12.5e9;
        let expected = (2e-3 - filling) / cycle;
        within(
            "G3",
            &format!("pauses in 2 ms, XON {packets} packets below XOFF"),
            expected,
            switch.xoff_sent as f64,
            0.05,
        );
        exact("G3", "drops", 0, outcome.counts.drops);
    }
}

/// In Gb/s; one of four flows to h2 shares s0-s1.
fn victim(priority: u8) -> f64 {
    let cable = Cable::new(100, 1000);
    let fabric = two_switches(&[cable; 2], cable, &[cable; 5]);
    let mut bench = Bench::new(fabric).with(|params| {
        params.switch.buffer = Bytes(2 << 20);
        params.switch.lossless = vec![3, 4];
    });
    bench = bench.flow_of(priority, 0, 3, 10_000_000, Time::ZERO);
    bench = bench.flow(1, 2, 20_000_000, Time::ZERO);
    for src in 4..7 {
        bench = bench.flow(src, 2, 20_000_000, Time::ZERO);
    }
    let outcome = bench.run();
    10_000_000.0 * 1.048 * 8.0 / fct(&outcome, 0).seconds() / 1e9
}

/// Max-min gives the victim 75 of 100 Gb/s. In one class, PFC leaves it about the blocked flow's 25 Gb/s; in its own, at least
/// half.
#[test]
fn g4_s3_victim() {
    let (same, other) = (victim(3), victim(4));
    check("G4 S3", "victim in the paused class, Gb/s", "< 40 (max-min 75)", same, same < 40.0);
    check("S3", "victim in another class, Gb/s", ">= 49", other, other >= 49.0);
}
