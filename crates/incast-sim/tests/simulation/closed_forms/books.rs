use incast_model::units::{Rate, Time};
use incast_sim::Outcome;
use incast_sim::outcome::{PortRecord, Stop};

use crate::common::{Bench, Cable, check, digest, exact, leaf_spine, star};

fn busy(lossless: bool) -> Bench {
    let fabric = leaf_spine(2, 4, 2, Cable::new(100, 1000), Cable::new(100, 1000));
    let incast = (1..8).map(|src| (src, 0, 300_000 + 1000 * u64::from(src) + 7, Time::us(1)));
    let ring = (0..8).map(|src| (src, (src + 3) % 8, 200_000, Time::ns(300 * u64::from(src))));
    let bench = Bench::new(fabric).flows(incast.chain(ring)).with(|params| {
        params.switch.buffer.0 = 1 << 20;
        if !lossless {
            params.switch.lossless = vec![];
            params.switch.buffer.0 = 600_000;
        }
    });
    bench.control("dcqcn", "vendor")
}

/// `injected = delivered + dropped + in flight` by priority; bytes in = out + dropped + queued by switch.
#[test]
fn b1_bytes() {
    let mut looks = 0;
    for lossless in [true, false] {
        for us in (2..200).step_by(11) {
            let bench = busy(lossless).with(|params| params.horizon = Some(Time::us(us)));
            let outcome = bench.run();
            assert_eq!(outcome.ledger.unbalanced().count(), 0, "{:?}", outcome.ledger);
            let fabric = bench.fabric();
            let priority = 3;
            let sent = |port| {
                let found = outcome.ports.iter().find(|record| record.port == port && record.priority == priority);
                found.map_or(0, |record| record.tx_bytes)
            };
            let (mut into, mut out) = (0, 0);
            for switch in fabric.switches() {
                into += fabric.ports_of(switch).map(|port| sent(fabric.port(port).peer)).sum::<u64>();
                out += fabric.ports_of(switch).map(sent).sum::<u64>();
            }
            let lost = outcome.ledger.dropped[3];
            let kept = outcome.ledger.in_flight[3];
            assert!(into >= out + lost && into <= out + lost + kept, "{into} in, {out} out, {lost} lost, {kept} kept");
            looks += 1;
        }
    }
    check("B1", "books balanced at so many instants", 36, looks as f64, looks == 36);
}

#[test]
fn b2_b6_flows() {
    let lossless = busy(true).run();
    exact("B6", "drops under PFC", 0, lossless.counts.drops);
    check("B6", "pauses in that run, so that it says something", "> 0", lossless.counts.pauses as f64, {
        lossless.counts.pauses > 0
    });
    let lossy = busy(false).run();
    check("B2", "drops without PFC, so that it says something", "> 0", lossy.counts.drops as f64, {
        lossy.counts.drops > 0
    });
    for outcome in [&lossless, &lossy] {
        assert_eq!(outcome.stop, Stop::Finished);
        for (flow, spec) in outcome.flows.iter().zip(busy(true).sorted().flows) {
            assert_eq!(flow.acked, spec.size.0);
            assert_eq!(flow.packets - flow.retransmitted, spec.size.0.div_ceil(1000));
            assert!(flow.fct().unwrap() >= flow.ideal_exact, "B5: {spec:?} beats its ideal");
        }
        let lost = outcome.drops.iter().filter(|drop| drop.bytes != 60).count() as u64;
        assert!(lost <= sent_again(outcome), "{lost} data packets lost");
    }
    exact("B2", "packets sent again under PFC", 0, sent_again(&lossless));
}

fn sent_again(outcome: &Outcome) -> u64 {
    outcome.flows.iter().map(|flow| flow.retransmitted).sum()
}

#[test]
fn b4_utilisation() {
    let mut most = 0.0f64;
    for us in [20, 50, 100, 150] {
        let bench = busy(true).with(|params| params.horizon = Some(Time::us(us)));
        let outcome = bench.run();
        let fabric = bench.fabric();
        for (index, _) in fabric.ports().iter().enumerate() {
            let of = |record: &&PortRecord| record.port.index() == index;
            let records = outcome.ports.iter().filter(of);
            let bytes: u64 = records.map(|record| record.tx_bytes).sum();
            let time = Rate::gbps(100).time_for(bytes.saturating_sub(1048));
            most = most.max(time.0 as f64 / outcome.end.0 as f64);
        }
    }
    check("B4", "largest utilisation of a port", "<= 1", most, most <= 1.0 && most > 0.8);
}

#[test]
fn a7_determinism() {
    let bench = busy(true).with(|params| {
        params.ecn.kmin.0 = 20_000;
        params.ecn.kmax.0 = 200_000;
    });
    let first = digest(&bench.run());
    let different = (0..3).filter(|_| digest(&bench.run()) != first).count();
    exact("A7", "runs that differ from the first, of 3", 0, different);
    assert!(first != digest(&bench.clone().with(|params| params.seed = 1).run()), "another seed");
    let watched = bench.with(|params| {
        params.measure.sample_every = Some(Time::ns(700));
        params.measure.queue_histogram = true;
    });
    let outcome = watched.run();
    assert!(!outcome.queues.is_empty() && !outcome.rates.is_empty() && !outcome.histograms.is_empty());
    let events = outcome.counts.events;
    let mut unwatched = outcome;
    unwatched.counts.events = watched.clone().with(|params| params.measure.sample_every = None).run().counts.events;
    assert!(events > unwatched.counts.events, "samples are events");
    assert!(first == digest(&unwatched), "watching changes nothing");
}

#[test]
fn p_events_per_hop() {
    let edge = Cable::new(100, 1000);
    for (name, profile) in [("unlimited", "default"), ("dcqcn", "vendor"), ("hpcc", "ns3")] {
        let flows = (1..9).map(|src| (src, 0, 500_000, Time::ZERO));
        let outcome = Bench::new(star(&[edge; 9])).control(name, profile).flows(flows).run();
        let ratio = outcome.counts.events as f64 / outcome.counts.packet_hops() as f64;
        check("W", &format!("events per packet and link, {name}"), "<= 3", ratio, ratio <= 3.0);
    }
}
