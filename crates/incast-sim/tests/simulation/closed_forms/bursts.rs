use incast_model::units::{Bytes, Rate, Time};
use incast_sim::Outcome;
use incast_sim::switch::{Alpha, Headroom, PfcMode};

use crate::common::{Bench, Cable, check, dumbbell, exact, port, record, star, within};

fn burst(senders: usize) -> (Outcome, u64) {
    let cable = Cable::new(40, 200);
    let flows = (0..senders as u32).map(|src| (src, senders as u32 + src, 8 * 1452, Time::ZERO));
    let bench = Bench::new(dumbbell(senders, cable, cable)).flows(flows).with(|params| {
        params.packets.payload = Bytes(1452);
        params.switch.lossless = vec![];
        params.switch.reserve = Bytes(0);
        params.switch.buffer = Bytes(36_864);
        params.switch.lossy_alpha = 16.0;
    });
    let outcome = bench.run();
    let peak = record(&outcome, port(&bench.fabric(), "s0", "s1"), 3).peak_queue;
    (outcome, peak)
}

/// Input k C, output C: the queue peaks at `(k-1) s`. A buffer of 36 864 B holds k = 4 bursts of 12 000 B, not 5: of 32 packets
/// to queue, 24 fit (threshold: 16 times the free buffer).
#[test]
fn f1_v5_v6_incast_peak() {
    let (outcome, peak) = burst(4);
    exact("F1 V5", "peak queue of 4 x 12 000 B, B", 36_000, peak);
    exact("F1 V5", "drops with 36 864 B", 0, outcome.counts.drops);
    let (outcome, peak) = burst(5);
    exact("V6", "peak queue of 5 x 12 000 B, B", 36_000, peak);
    let last_of_burst = Time(8 * 300_000 + 200_000);
    let first = outcome.drops.iter().filter(|drop| drop.time <= last_of_burst).count();
    exact("V6", "drops of the burst", 8, first);
}

/// The last ACK comes after `8 k s / C` plus the round trip.
#[test]
fn f1_incast_completion() {
    for senders in [2u32, 7, 30] {
        let cable = Cable::new(100, 1000);
        let cables = vec![cable; senders as usize + 1];
        let flows = (1..=senders).map(|src| (src, 0, 100_000, Time::ZERO));
        let outcome = Bench::new(star(&cables)).flows(flows).run();
        let wire = Rate::gbps(100).time_for(u64::from(senders) * 100 * 1048).0;
        let way = Rate::gbps(100).time_for(1048 + 2 * 60).0 + 4_000_000;
        let last = outcome.flows.iter().map(|flow| flow.finish.unwrap().0).max().unwrap();
        exact("F1", &format!("{senders} x 100 kB to one, last ACK, ps"), wire + way, last);
    }
}

/// Burst of s bytes at a C into C: queue `(a-1) C t / 8 = s (1 - 1/a)`, to a packet.
#[test]
fn f2_fast_into_slow() {
    for (fast, slow) in [(100, 40), (400, 100), (100, 10)] {
        let cables = [Cable::new(fast, 500), Cable::new(slow, 500)];
        let bench = Bench::new(star(&cables)).flow(0, 1, 500_000, Time::ZERO);
        let peak = record(&bench.run(), port(&bench.fabric(), "s0", "h1"), 3).peak_queue as f64;
        let expected = 524_000.0 * (1.0 - slow as f64 / fast as f64);
        check("F2", &format!("524 kB at {fast}G into {slow}G, peak B"), format!("{expected} ± 1048"), peak, {
            (peak - expected).abs() <= 1048.0
        });
    }
}

/// n equally congested queues with thresholds of alpha times the free buffer hold `alpha B / (1 + n alpha)` each (Choudhury and
/// Hahne, ToN 1998).
#[test]
fn f3_dynamic_threshold_of_lossy_queues() {
    for alpha in [0.5, 1.0, 2.0] {
        for queues in [1u32, 3, 6] {
            let senders = 3 * queues;
            let cables = vec![Cable::new(100, 1000); (senders + queues) as usize];
            let buffer = 1_000_000;
            let flows = (0..senders).map(|src| (src, senders + src % queues, 1_000_000, Time::ZERO));
            let bench = Bench::new(star(&cables)).flows(flows).with(|params| {
                params.switch.lossless = vec![];
                params.switch.reserve = Bytes(0);
                params.switch.buffer = Bytes(buffer);
                params.switch.lossy_alpha = alpha;
                params.horizon = Some(Time::us(80));
            });
            let outcome = bench.run();
            let expected = alpha * buffer as f64 / (1.0 + f64::from(queues) * alpha);
            for queue in 0..queues {
                let link = port(&bench.fabric(), "s0", &format!("h{}", senders + queue));
                let peak = record(&outcome, link, 3).peak_queue as f64;
                let what = format!("alpha {alpha}, queue {} of {queues}, peak B", queue + 1);
                check("F3", &what, format!("{expected:.0} ± 2096"), peak, (peak - expected).abs() <= 2096.0);
            }
        }
    }
}

/// n equally loaded ingress queues of alpha 1/8 pause at `S = B' n alpha / (1 + n alpha)` together; B': buffer less headrooms
/// and reserves. 17 ports of 100 Gb/s and 1 us, 32 MiB, headrooms of 3 C d: B' = 32 847 300 B.
#[test]
fn s1_pause_threshold() {
    for (senders, of_buffer) in [(2u32, 0.2), (16, 2.0 / 3.0)] {
        let cables = [Cable::new(100, 1000); 17];
        let size = 60_000_000 / u64::from(senders);
        let flows = (1..=senders).map(|src| (src, 0, size, Time::ZERO));
        let bench = Bench::new(star(&cables)).flows(flows).with(|params| {
            params.switch.headroom = Headroom::ThreeDelays;
            params.switch.pfc_mode = PfcMode::Dynamic { alpha: Alpha::Value(0.125) };
            params.horizon = Some(Time::ms(2));
        });
        let outcome = bench.run();
        let shared = 33_554_432.0 - 17.0 * (37_500.0 + 4096.0);
        let expected = shared * of_buffer / f64::from(senders);
        for src in 1..=senders {
            let host = port(&bench.fabric(), &format!("h{src}"), "s0");
            let first = outcome.pauses.iter().find(|pause| pause.port == host).expect("every sender is paused");
            let held = first.ingress_bytes as f64 - 4096.0;
            if src < 3 {
                within("S1", &format!("{senders} senders, shared bytes of {src} at XOFF"), expected, held, 0.001);
            }
            assert!((held / expected - 1.0).abs() < 0.001, "sender {src}");
        }
        exact("B6", "drops", 0, outcome.counts.drops);
    }
}
