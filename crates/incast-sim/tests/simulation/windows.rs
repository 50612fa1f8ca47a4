use incast_model::units::{Bytes, Time};
use incast_sim::congestion::{Control, WindowMode};
use incast_sim::outcome::{Outcome, Stop};

use crate::common::{Bench, Cable, star};

const SENDERS: u32 = 12;
const SIZE: u64 = 200_000;

/// Packets of 12 windows of 40 kB, one PFC frame per sender's link.
const BOUND: u64 = SENDERS as u64 * (40 + 1);

fn incast(control: &str, profile: &str, window: WindowMode) -> Bench {
    let bench = Bench::new(star(&[Cable::new(100, 1000); SENDERS as usize + 1]));
    let bench = bench.control(control, profile).window(window).with(|params| {
        params.rdma.window = Some(Bytes(40_000));
        params.measure.sample_every = Some(Time::us(1));
    });
    bench.flows((1..=SENDERS).map(|src| (src, 0, SIZE, Time::ZERO)))
}

fn every_incast(mut check: impl FnMut(&str, WindowMode, &Outcome)) {
    for info in Control::catalogue() {
        for (profile, _) in info.profiles {
            for window in [WindowMode::Off, WindowMode::Fixed, WindowMode::Rate] {
                let outcome = incast(info.name, profile, window).run();
                check(&format!("{} {profile} {window:?}", info.name), window, &outcome);
            }
        }
    }
}

#[test]
fn every_control_ends_an_incast_under_every_window() {
    every_incast(|name, _, outcome| {
        assert_eq!(outcome.stop, Stop::Finished, "{name}");
        assert!(outcome.flows.iter().all(|flow| flow.acked == SIZE && flow.retransmitted == 0), "{name}");
        assert_eq!((outcome.counts.drops, outcome.ledger.unbalanced().count()), (0, 0), "{name}");
    });
}

#[test]
fn windows_bound_what_is_in_flight() {
    every_incast(|name, window, outcome| {
        if window != WindowMode::Off {
            let most = outcome.counts.peak_packets;
            assert!(most <= BOUND, "{name}: {most} packets, {BOUND} at most");
            assert_eq!(outcome.rates.iter().find(|sample| sample.window > 40_000), None, "{name}");
        }
    });
}

#[test]
fn without_a_window_there_is_more() {
    let bench = incast("unlimited", "default", WindowMode::Off);
    assert!(bench.run().counts.peak_packets > 3 * BOUND);
}
